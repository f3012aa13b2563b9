// SPDX-License-Identifier: SHL-2.1
/// In the place of ram_2clk where a proof may not depend on what is in it:
/// each read gives any word.
module ram_2clk #(
  parameter  int unsigned Width     = 72,
  parameter  int unsigned Depth     = 256,
  localparam int unsigned AddrWidth = $clog2(Depth)
) (
  input  logic                 wclk_i,
  input  logic                 we_i,
  input  logic [AddrWidth-1:0] waddr_i,
  input  logic [Width-1:0]     wdata_i,
  input  logic                 rclk_i,
  input  logic                 re_i,
  input  logic [AddrWidth-1:0] raddr_i,
  output logic [Width-1:0]     rdata_o
);
  logic [Width-1:0] any;  // not driven: free in every cycle
  always_ff @(posedge rclk_i) if (re_i) rdata_o <= any;
endmodule
