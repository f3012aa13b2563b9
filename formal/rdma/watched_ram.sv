// SPDX-License-Identifier: SHL-2.1
/// Stands for ram_1r1w in a proof: remembers what is written to one group of words, and reads
/// anything from all others. What holds with it holds with the memory.
///
/// watch_q is free; a proof ties it to what it looks at. GroupLog2: words in the group.
module ram_1r1w #(
  parameter  int unsigned Width     = 32,
  parameter  int unsigned Depth     = 1024,
  parameter  int unsigned LaneWidth = Width,
  parameter  bit          ReadOld   = 1'b1,
  localparam int unsigned NumLanes  = Width / LaneWidth,
  localparam int unsigned AddrWidth = $clog2(Depth),
  localparam int unsigned GroupLog2 = 2
) (
  input  logic                 clk_i,
  input  logic [NumLanes-1:0]  we_i,
  input  logic [AddrWidth-1:0] waddr_i,
  input  logic [Width-1:0]     wdata_i,
  input  logic                 re_i,
  input  logic [AddrWidth-1:0] raddr_i,
  output logic [Width-1:0]     rdata_o
);
  logic [AddrWidth-1:GroupLog2] watch_q;
  logic [Width-1:0] words_q [1 << GroupLog2];
  logic [Width-1:0] any;  // driven by nothing: the prover's choice
  always_ff @(posedge clk_i) begin
    watch_q <= watch_q;
    for (int unsigned lane = 0; lane < NumLanes; lane++) begin
      if (we_i[lane] && waddr_i[AddrWidth-1:GroupLog2] == watch_q) begin
        words_q[waddr_i[GroupLog2-1:0]][lane*LaneWidth+:LaneWidth] <=
            wdata_i[lane*LaneWidth+:LaneWidth];
      end
      if (re_i) begin
        rdata_o[lane*LaneWidth+:LaneWidth] <= raddr_i[AddrWidth-1:GroupLog2] != watch_q ||
            (!ReadOld && we_i[lane] && waddr_i == raddr_i)
            ? any[lane*LaneWidth+:LaneWidth]
            : words_q[raddr_i[GroupLog2-1:0]][lane*LaneWidth+:LaneWidth];
      end
    end
  end
endmodule
