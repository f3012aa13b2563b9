// SPDX-License-Identifier: SHL-2.1
/// Memory with a write port in one clock and a registered read port in another; block memory.
///
///   Handshake   none: a write at each edge of wclk_i with we_i, a read at each edge of rclk_i with
///               re_i; rdata_o holds its value while re_i is low
///   Ordering    a read whose edge is a cycle of rclk_i behind the write's sees the word; one that
///               is nearer gets any value, and the next read is right again. A reader that
///               learns of a word through a synchronizer of two stages is late enough
///   Latency     1 cycle of rclk_i from re_i to rdata_o
///   Throughput  one read and one write a cycle
///   Parameters  Width 1..1024, Depth 2..65536
///   Not done    reset of the contents, byte enables
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
  if (Width < 1 || Width > 1024) begin : gen_width_check
    $error("ram_2clk: Width is %0d, legal is 1..1024", Width);
  end
  if (Depth < 2 || Depth > 65536) begin : gen_depth_check
    $error("ram_2clk: Depth is %0d, legal is 2..65536", Depth);
  end

  logic [Width-1:0] mem_q [Depth];

  always_ff @(posedge wclk_i) begin
    if (we_i) mem_q[waddr_i] <= wdata_i;
  end
  always_ff @(posedge rclk_i) begin
    if (re_i) rdata_o <= mem_q[raddr_i];
  end
endmodule
