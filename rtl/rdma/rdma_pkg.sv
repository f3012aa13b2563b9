// SPDX-License-Identifier: SHL-2.1
/// Formats of the RDMA network interface (docs/explanation/cores/rdma.md).
package rdma_pkg;
  localparam int unsigned MaxHosts       = 8;
  localparam int unsigned SlotsPerQueue  = 128;
  localparam int unsigned MessageBeats   = 256;  // of a message queue
  localparam int unsigned MaxSize        = 512;  // beats of a transfer
  localparam int unsigned PacketBeats    = 64;   // payload of a packet
  localparam int unsigned HeaderBeats    = 2;
  localparam int unsigned MaxHeaderBeats = 3;
  localparam int unsigned MaxBeats       = PacketBeats + MaxHeaderBeats;
  localparam int unsigned MaxWords       = 2 * MaxBeats;  // link_port's
  localparam int unsigned NumRegions     = 64;
  localparam int unsigned NumQueues      = 256;
  localparam int unsigned OffsetWidth    = 17;   // beats in a queue

  typedef logic [63:0] beat_t;
  typedef logic [2:0] flow_t;      // a host as a number of a flow
  typedef logic [6:0] host_t;
  typedef logic [15:0] seq_t;
  typedef logic [7:0] session_t;
  typedef logic [7:0] tag_t;       // bit 7: message

  typedef enum logic [1:0] {
    KindWrite   = 2'd0,
    KindMessage = 2'd1,
    KindControl = 2'd2,
    KindShort   = 2'd3   // a message whose header is one beat
  } kind_e;

  // First beat of a packet.
  typedef struct packed {
    logic [3:0] qid;     // KindShort; else zero
    tag_t       tag;
    logic       extended;
    logic       completion;
    logic       irq;
    logic       notify;
    logic       last;
    kind_e      kind;
    logic [6:0] beats;
    host_t      dst;
    host_t      src;
    session_t   session;
    seq_t       seq;
  } header_t;

  typedef enum logic [3:0] {
    ControlOpen    = 4'd0,
    ControlProbe   = 4'd1,
    ControlAck     = 4'd2,
    ControlRefused = 4'd3
  } control_e;

  // Second beat of a control packet.
  typedef struct packed {
    logic [31:0] zero;
    logic [11:0] more;
    tag_t        tag;
    logic [7:0]  code;   // ControlAck: bit 0 open
    control_e    control;
  } control_t;

  typedef enum logic [7:0] {
    CodeNone       = 8'd0,
    CodeDescriptor = 8'd1,
    CodeRead       = 8'd2,
    CodeKey        = 8'd3,
    CodeBounds     = 8'd4,
    CodeQueue      = 8'd5,
    CodeFull       = 8'd6,
    CodeWrite      = 8'd7,
    CodeLost       = 8'd8,
    CodeSession    = 8'd9
  } code_e;

  // Second beat of a descriptor.
  typedef struct packed {
    logic [8:0]  zero;
    logic        extended;
    logic        completion;
    logic        irq;
    logic        notify;
    logic        local_notify;
    logic        start;
    host_t       dst;
    logic [9:0]  size;
    logic [31:0] address;
  } descriptor_t;

  typedef struct packed {
    logic [31:0] immediate;
    logic [9:0]  zero;
    logic        extended;   // of a write: key and immediate follow its address
    logic        write;      // what follows is a destination address and data
    logic        completion;
    logic        irq;
    logic        notify;
    logic        local_notify;
    logic [7:0]  qid;
    logic        zero7;
    logic [6:0]  beats;
  } message_t;

  // Third beat of a region.
  typedef struct packed {
    logic [7:0]  zero_high;
    logic [23:0] nonce;
    logic [13:0] zero_low;
    logic [7:0]  qid;
    logic        to_queue;
    logic [7:0]  sources;
    logic        valid;
  } region_t;

  // Second beat of a queue's entry.
  typedef struct packed {
    logic [17:0]            zero;
    logic                   valid;
    logic [7:0]             sources;
    logic [2:0]             slot;
    logic [OffsetWidth-1:0] wrap;
    logic [OffsetWidth-1:0] head;
  } queue_t;

  typedef struct packed {
    logic [31:0] immediate;
    logic [15:0] count;
    logic        notification;
    host_t       src;
    logic [6:0]  beats;
    logic        phase;
  } frame_t;
endpackage
