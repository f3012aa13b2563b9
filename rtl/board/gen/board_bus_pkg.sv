// SPDX-License-Identifier: SHL-2.1
// Generated from rtl/regs/board_bus.rdl by python/isthmus/regs.py: change that, not this.
/// Bus map of every device: where each window begins, and its bytes.
// verilator lint_off UNUSEDPARAM
package board_bus_pkg;
  localparam logic [31:0] RamBase = 32'h0000_0000;
  localparam int unsigned RamBytes = 65536;
  localparam logic [31:0] SdbBase = 32'h0010_0000;
  localparam int unsigned SdbBytes = 320;
  localparam logic [31:0] EcaBase = 32'h0020_0000;
  localparam int unsigned EcaBytes = 256;
  localparam logic [31:0] TluBase = 32'h0030_0000;
  localparam int unsigned TluBytes = 256;
  localparam logic [31:0] CtrlBase = 32'h0040_0000;
  localparam int unsigned CtrlBytes = 256;
  localparam logic [31:0] SilentBase = 32'h0050_0000;
  localparam int unsigned SilentBytes = 256;
  localparam logic [31:0] BusLast = 32'h0050_00FF;
endpackage
// verilator lint_on UNUSEDPARAM
