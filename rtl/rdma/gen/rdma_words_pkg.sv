// SPDX-License-Identifier: SHL-2.1
// Generated from rtl/regs/rdma_words.rdl by python/isthmus/regs.py: change that, not this.
/// Words between a host and its RDMA network interface (docs/reference/registers.md).
// verilator lint_off UNUSEDPARAM
package rdma_words_pkg;
  // Descriptor, beat 1
  typedef struct packed {
    logic [8:0] zero_55;
    logic extended;
    logic completion;
    logic irq;
    logic notify;
    logic local_notify;
    logic start;
    logic [6:0] dst;
    logic [9:0] size;
    logic [31:0] address;
  } descriptor_t;

  // Extended descriptor, beat 2
  typedef struct packed {
    logic [31:0] key;
    logic [31:0] address;
  } descriptor_key_t;

  // Extended descriptor, beat 3
  typedef struct packed {
    logic [31:0] zero_32;
    logic [31:0] immediate;
  } descriptor_immediate_t;

  // Message header
  typedef struct packed {
    logic [31:0] immediate;
    logic [9:0] zero_22;
    logic extended;
    logic write;
    logic completion;
    logic irq;
    logic notify;
    logic local_notify;
    logic [7:0] qid;
    logic zero_7;
    logic [6:0] beats;
  } message_t;

  // Inline write key
  typedef struct packed {
    logic [31:0] immediate;
    logic [31:0] key;
  } inline_key_t;

  // Key
  typedef struct packed {
    logic [31:0] zero_32;
    logic [23:0] nonce;
    logic [7:0] region;
  } key_t;

  // Region, beat 2
  typedef struct packed {
    logic [7:0] zero_56;
    logic [23:0] nonce;
    logic [13:0] zero_18;
    logic [7:0] qid;
    logic to_queue;
    logic [7:0] sources;
    logic valid;
  } region_t;

  // Queue, beat 1
  typedef struct packed {
    logic [17:0] zero_46;
    logic valid;
    logic [7:0] sources;
    logic [2:0] slot;
    logic [16:0] wrap;
    logic [16:0] head;
  } queue_t;

  // Queue, tail
  typedef struct packed {
    logic [46:0] zero_17;
    logic [16:0] tail;
  } queue_tail_t;

  // Frame word
  typedef struct packed {
    logic [31:0] immediate;
    logic [15:0] count;
    logic notification;
    logic [6:0] src;
    logic [6:0] beats;
    logic phase;
  } frame_t;

  // Local notification
  typedef struct packed {
    logic [47:0] zero_16;
    logic [15:0] count;
  } local_t;

  // Remote notification
  typedef struct packed {
    logic failed;
    logic [14:0] count;
    logic [47:0] address;
  } notification_t;

  // Completion
  typedef struct packed {
    logic [31:0] refusals;
    logic [7:0] session;
    logic [5:0] ended;
    logic pending;
    logic open;
    logic [15:0] acknowledged;
  } completion_t;

  // Error record, beat 0
  typedef struct packed {
    logic phase;
    logic [26:0] zero_36;
    logic [11:0] more;
    logic ours;
    logic [6:0] host;
    logic message;
    logic [6:0] tag;
    logic [7:0] code;
  } record_t;

  localparam logic [7:0] CodeNone = 8'd0;
  localparam logic [7:0] CodeDescriptor = 8'd1;
  localparam logic [7:0] CodeRead = 8'd2;
  localparam logic [7:0] CodeKey = 8'd3;
  localparam logic [7:0] CodeBounds = 8'd4;
  localparam logic [7:0] CodeQueue = 8'd5;
  localparam logic [7:0] CodeFull = 8'd6;
  localparam logic [7:0] CodeWrite = 8'd7;
  localparam logic [7:0] CodeLost = 8'd8;
  localparam logic [7:0] CodeSession = 8'd9;
endpackage
// verilator lint_on UNUSEDPARAM
