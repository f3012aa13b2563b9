// SPDX-License-Identifier: SHL-2.1
/// Memory with one write port and one registered read port, in one clock; block memory.
///
///   Handshake   none: a write is done at each edge with a lane of we_i set, a read at each edge
///               with re_i; rdata_o holds its value while re_i is low
///   Ordering    a read of the address written at the same edge returns the old word, or with
///               ReadOld 0 any word: block memories that cannot do the first (ECP5) then need no
///               logic around them
///   Latency     1 cycle from re_i to rdata_o
///   Throughput  one read and one write a cycle
///   Parameters  Width 1..1024, Depth 2..1048576, LaneWidth divides Width (8 gives byte enables)
///   Not done    reset of the contents, a second clock, error correction
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
  if (Width < 1 || Width > 1024) begin : gen_width_check
    $error("ram_1r1w: Width is %0d, legal is 1..1024", Width);
  end
  if (Depth < 2 || Depth > 1048576) begin : gen_depth_check
    $error("ram_1r1w: Depth is %0d, legal is 2..1048576", Depth);
  end
  if (LaneWidth < 1 || LaneWidth * NumLanes != Width) begin : gen_lane_check
    $error("ram_1r1w: LaneWidth %0d does not divide Width %0d", LaneWidth, Width);
  end

  logic [Width-1:0] mem_q [Depth];

`ifdef VERILATOR
  // One assignment a word. What Verilator makes of one a lane, a list of changed parts of words,
  // took a third of the time in which the coherent link is simulated.
  function automatic logic [Width-1:0] merged(logic [Width-1:0] old);
    merged = old;
    for (int unsigned lane = 0; lane < NumLanes; lane++) begin
      if (we_i[lane]) merged[lane*LaneWidth+:LaneWidth] = wdata_i[lane*LaneWidth+:LaneWidth];
    end
  endfunction
  always_ff @(posedge clk_i) begin
    if (we_i == '1) mem_q[waddr_i] <= wdata_i;
    else if (we_i != '0) mem_q[waddr_i] <= merged(mem_q[waddr_i]);
  end
`else
  // One assignment a lane: what synthesis takes for byte enables of a block memory.
  always_ff @(posedge clk_i) begin
    for (int unsigned lane = 0; lane < NumLanes; lane++) begin
      if (we_i[lane]) mem_q[waddr_i][lane*LaneWidth+:LaneWidth] <=
          wdata_i[lane*LaneWidth+:LaneWidth];
    end
  end
`endif
  always_ff @(posedge clk_i) begin
    if (re_i) begin
      rdata_o <= mem_q[raddr_i];
      for (int unsigned lane = 0; lane < NumLanes; lane++) begin
        if (!ReadOld && we_i[lane] && waddr_i == raddr_i) rdata_o[lane*LaneWidth+:LaneWidth] <= 'x;
      end
    end
  end
endmodule
