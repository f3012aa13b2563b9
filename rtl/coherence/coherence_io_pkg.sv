// SPDX-License-Identifier: SHL-2.1
/// Messages of I/O, interrupts and barriers at a coherent link: what is not about lines.
///
/// Codes and circuits are those of ECI where they are public; the place of the byte enables, and
/// the code of an IPI, are ours.
package coherence_io_pkg;
  /// What is asked for at a port of words.
  typedef enum logic [1:0] {
    IoLoad    = 2'd0,
    IoStore   = 2'd1,  // of the bytes of a mask
    IoIpi     = 2'd2,
    IoBarrier = 2'd3   // done once all older stores of lines are visible
  } io_kind_e;

  localparam logic [4:0] OpIobld  = 5'd0;   // circuit 0: load
  localparam logic [4:0] OpIobsta = 5'd3;   // circuit 0: store, a word follows
  localparam logic [4:0] OpIobrsp = 5'd0;   // circuit 1: a load's answer, a word follows
  localparam logic [4:0] OpIoback = 5'd1;   // circuit 1: a store's answer
  localparam logic [4:0] OpIpi    = 5'd1;   // circuit 12
  localparam logic [4:0] OpGsync  = 5'd24;  // circuits 6 and 7
  localparam logic [4:0] OpGsdn   = 5'd24;  // circuits 10 and 11

  /// The first word of an I/O message.
  typedef struct packed {
    logic [4:0]  opcode;
    logic [3:0]  zero_55;
    logic [4:0]  id;
    logic [1:0]  zero_48;
    logic [7:0]  mask;     // bytes of the word
    logic [39:0] address;  // of a byte
  } io_header_t;
endpackage
