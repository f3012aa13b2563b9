// SPDX-License-Identifier: SHL-2.1
/// In the place of ram_1r1w where a proof may not depend on what is in it: each read gives any
/// word.
module ram_1r1w #(
  parameter  int unsigned Width     = 32,
  parameter  int unsigned Depth     = 1024,
  parameter  int unsigned LaneWidth = Width,
  parameter  bit          ReadOld   = 1'b1,
  localparam int unsigned NumLanes  = Width / LaneWidth,
  localparam int unsigned AddrWidth = $clog2(Depth)
) (
  input  logic                 clk_i,
  input  logic [NumLanes-1:0]  we_i,
  input  logic [AddrWidth-1:0] waddr_i,
  input  logic [Width-1:0]     wdata_i,
  input  logic                 re_i,
  input  logic [AddrWidth-1:0] raddr_i,
  output logic [Width-1:0]     rdata_o
);
  logic [Width-1:0] any;  // not driven: free in every cycle
  always_ff @(posedge clk_i) if (re_i) rdata_o <= any;
endmodule
