// SPDX-License-Identifier: SHL-2.1
/// Synchronous first-word fall-through FIFO in block memory.
///
///   Handshake   valid/ready on both sides; data_o is stable until taken; ready_o and valid_o are
///               registered facts
///   Ordering    first in, first out                       (proved: formal/prim/block_fifo.sby)
///   Latency     1 cycle from write to valid_o when it is empty, else as its words are taken
///   Throughput  one word a cycle
///   Parameters  Width 1..1024, Depth of the memory a power of two, 4..4096; the output holds one
///               word more; Early: so many upper bits of data_o are the outputs of flip-flops,
///               for ready_i that depends on them. They are in LUT memory: a few, 0..Width-1
///   Not done    clear, a count of what is inside
module block_fifo #(
  parameter int unsigned Width = 66,
  parameter int unsigned Depth = 256,
  parameter int unsigned Early = 0
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic             valid_i,  // a word is offered
  output logic             ready_o,
  input  logic [Width-1:0] data_i,  // taken with valid_i and ready_o
  output logic             valid_o,
  input  logic             ready_i,
  output logic [Width-1:0] data_o
);
  if (Width < 1 || Width > 1024) begin : gen_width_check
    $error("block_fifo: Width is %0d, legal is 1..1024", Width);
  end
  if (Depth < 4 || Depth > 4096 || (Depth & (Depth - 1)) != 0) begin : gen_depth_check
    $error("block_fifo: Depth is %0d, legal is a power of two, 4..4096", Depth);
  end
  if (Early >= Width) begin : gen_early_check
    $error("block_fifo: Early is %0d, legal is 0..%0d", Early, Width - 1);
  end

  localparam int unsigned AddrWidth = $clog2(Depth);
  localparam int unsigned LateWidth = Width - Early;
  // One bit more than an index: equal pointers mean empty, pointers Depth apart mean full.
  logic [AddrWidth:0] wptr_q, rptr_q;
  logic push, pass, write, fetch, none, next;
  logic passed_q;                // the word at the output went past the memory
  logic [LateWidth-1:0] pass_q, word;

  assign none    = wptr_q == rptr_q;
  assign ready_o = wptr_q != {~rptr_q[AddrWidth], rptr_q[AddrWidth-1:0]};
  assign next    = !valid_o || ready_i;
  assign pass    = valid_i && none && next;
  assign push    = valid_i && ready_o && !pass;
  // A word that passes is written too, where the next one will be: ready_i is late.
  assign write   = valid_i && ready_o;
  assign fetch   = !none && next;
  assign data_o[LateWidth-1:0] = passed_q ? pass_q : word;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      wptr_q  <= '0;
      rptr_q  <= '0;
      valid_o <= 1'b0;
    end else begin
      if (push) wptr_q <= wptr_q + 1'b1;
      if (fetch) rptr_q <= rptr_q + 1'b1;
      valid_o <= fetch || pass || (valid_o && !ready_i);
    end
  end
  always_ff @(posedge clk_i) begin
    if (next) begin
      passed_q <= none;
      pass_q   <= data_i[LateWidth-1:0];
    end
  end

  if (Early != 0) begin : gen_early
    logic [Early-1:0] mem_q [Depth];
    logic [Early-1:0] early_q;
    always_ff @(posedge clk_i) begin
      if (write) mem_q[wptr_q[AddrWidth-1:0]] <= data_i[Width-1:LateWidth];
      if (next) early_q <= none ? data_i[Width-1:LateWidth] : mem_q[rptr_q[AddrWidth-1:0]];
    end
    assign data_o[Width-1:LateWidth] = early_q;
  end

  ram_1r1w #(
    .Width  (LateWidth),
    .Depth  (Depth),
    .ReadOld(1'b0)
  ) u_ram (
    .clk_i,
    .we_i   (write),
    .waddr_i(wptr_q[AddrWidth-1:0]),
    .wdata_i(data_i[LateWidth-1:0]),
    .re_i   (fetch),
    .raddr_i(rptr_q[AddrWidth-1:0]),
    .rdata_o(word)
  );
endmodule
