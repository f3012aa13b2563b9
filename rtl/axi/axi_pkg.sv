// SPDX-License-Identifier: SHL-2.1
/// Types of AXI4 masters that do not depend on the width of the bus.
// verilator lint_off UNUSEDPARAM
package axi_pkg;
  localparam logic [1:0] BurstIncr = 2'b01;

  /// A read's or a write's address channel, less its ID and handshake.
  typedef struct packed {
    logic [63:0] addr;   // aligned to the bus
    logic [7:0]  len;    // beats less one
    logic [2:0]  size;   // logarithm of a beat's bytes
    logic [1:0]  burst;
  } address_t;
endpackage
// verilator lint_on UNUSEDPARAM
