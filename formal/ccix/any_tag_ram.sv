// SPDX-License-Identifier: SHL-2.1
/// In the place of ram_1r1w where a proof follows one address: it keeps the word there, and reads
/// anything elsewhere.
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
  // Not driven: free. A proof assumes which address is followed.
  logic [Width-1:0] any;
  logic [AddrWidth-1:0] watch_q;
  logic [Width-1:0] held_q;
  always_ff @(posedge clk_i) begin
    watch_q <= watch_q;
    if (we_i[0] && waddr_i == watch_q) held_q <= wdata_i;
    // Written and read at once it is anything, with ReadOld 0.
    if (re_i) begin
      rdata_o <= raddr_i == watch_q && !(we_i[0] && waddr_i == watch_q) ? held_q : any;
    end
  end
  logic unused;
  assign unused = ReadOld;
endmodule
