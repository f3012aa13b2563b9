// SPDX-License-Identifier: SHL-2.1
/// What a UDP-to-memory interface takes from and gives to its registers (rtl/regs/nanet.rdl).
// verilator lint_off UNUSEDPARAM
package nanet_ctrl_pkg;
  localparam int unsigned NumLists = 4;

  /// One circular list of buffers, as its host set it.
  typedef struct packed {
    logic        enable;
    logic [6:0]  buffers;    // 1..64
    logic [7:0]  datagrams;  // that make a buffer full; 0: as many as fit
    logic [31:0] flush;      // cycles from its first datagram to its event at the latest; 0: never
    logic [15:0] returned;   // buffers that the host has given back, modulo 2^16
  } list_t;

  /// One buffer.
  typedef struct packed {
    logic [57:0] base;       // address bits 63:6
    logic [23:0] bytes;
  } buffer_t;

  typedef struct packed {
    logic        enable;
    logic        irq_enable;
    logic [31:0] irq_gap;
    logic [63:0] queue_base;
    logic [3:0]  queue_size;
    logic [15:0] queue_taken;
    list_t [NumLists-1:0] lists;
    logic        table_we;     // a strobe: buffer `buffer` of list and number is set
    logic [1:0]  table_list;
    logic [5:0]  table_index;
    buffer_t     table_buffer;
  } control_t;

  /// Of one port. The first three count frames, the others datagrams; 16 bits wrap.
  typedef struct packed {
    logic [15:0] frames_good;
    logic [15:0] frames_bad;
    logic [15:0] frames_other;
    logic [15:0] overflow;
    logic [15:0] closed;
    logic [15:0] no_buffer;
    logic [15:0] too_long;
    logic [15:0] bad;
    logic [15:0] no_event;
    logic [31:0] delivered;
  } counters_t;

  typedef struct packed {
    logic        ready;         // disabled, and all of it has ended
    logic [31:0] write_errors;
    logic [15:0] written;       // events
    logic [15:0] events_lost;
    logic [NumLists-1:0][15:0] filled;
    counters_t [NumLists-1:0] counters;
  } state_t;
endpackage
// verilator lint_on UNUSEDPARAM
