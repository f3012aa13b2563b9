// SPDX-License-Identifier: SHL-2.1
/// Synchronous first-word fall-through FIFO in distributed memory.
///
///   Handshake   valid/ready on both sides; data_o is stable until taken; ready_o and valid_o are
///               registered facts (no combinational path from any handshake input)
///   Ordering    first in, first out                       (proved: formal/prim/fifo.sby)
///   Latency     1 cycle from write to valid_o
///   Throughput  one word a cycle, also when full or empty on the cycle before
///   Clear       clear_i empties the FIFO at the next edge; a word offered in that cycle is lost
///   Parameters  Width 1..4096, Depth a power of two, 2..1024. WriteAhead 1: what is at data_i
///               is written while there is room, offered or not, so that valid_i has a pointer to
///               reach and no memory
///   Not done    bypass when empty, write while full, block memory (use ram_1r1w)
module fifo #(
  parameter  int unsigned Width      = 32,
  parameter  int unsigned Depth      = 16,
  parameter  bit          WriteAhead = 1'b0,
  localparam int unsigned UsageWidth = $clog2(Depth) + 1
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,
  input  logic                  clear_i,
  input  logic                  valid_i,
  output logic                  ready_o,
  input  logic [Width-1:0]      data_i,
  output logic                  valid_o,
  input  logic                  ready_i,  // takes data_o; it may wait for valid_o
  output logic [Width-1:0]      data_o,
  output logic [UsageWidth-1:0] usage_o  // words inside, 0..Depth
);
  if (Width < 1 || Width > 4096) begin : gen_width_check
    $error("fifo: Width is %0d, legal is 1..4096", Width);
  end
  if (Depth < 2 || Depth > 1024 || (Depth & (Depth - 1)) != 0) begin : gen_depth_check
    $error("fifo: Depth is %0d, legal is a power of two, 2..1024", Depth);
  end

  localparam int unsigned PtrWidth = UsageWidth - 1;

  logic [Width-1:0] mem_q [Depth];
  // One bit more than an index: equal pointers mean empty, pointers Depth apart mean full.
  logic [UsageWidth-1:0] wptr_q, rptr_q;

  assign usage_o = wptr_q - rptr_q;
  // Compared, not subtracted: both end long paths.
  assign ready_o = wptr_q != {~rptr_q[PtrWidth], rptr_q[PtrWidth-1:0]};
  assign valid_o = wptr_q != rptr_q;
  assign data_o  = mem_q[rptr_q[PtrWidth-1:0]];

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      wptr_q <= '0;
      rptr_q <= '0;
    end else if (clear_i) begin
      wptr_q <= '0;
      rptr_q <= '0;
    end else begin
      if (valid_i && ready_o) wptr_q <= wptr_q + 1'b1;
      if (valid_o && ready_i) rptr_q <= rptr_q + 1'b1;
    end
  end

  always_ff @(posedge clk_i) begin
    if ((valid_i || WriteAhead) && ready_o) mem_q[wptr_q[PtrWidth-1:0]] <= data_i;
  end
endmodule
