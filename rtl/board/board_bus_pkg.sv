// SPDX-License-Identifier: SHL-2.1
/// Bus map of every device: windows of 1 MiB.
package board_bus_pkg;
  localparam logic [31:0] RamBase = 32'h0000_0000;
  localparam logic [31:0] SdbBase = 32'h0010_0000;
  localparam logic [31:0] EcaBase = 32'h0020_0000;
  localparam logic [31:0] TluBase = 32'h0030_0000;
  localparam logic [31:0] CtrlBase = 32'h0040_0000;
  localparam logic [31:0] SilentBase = 32'h0050_0000;
  localparam logic [31:0] WindowMask = 32'hFFF0_0000;
  localparam logic [31:0] BusLast = 32'h005F_FFFF;
  localparam int unsigned RamBytes = 65536;
endpackage
