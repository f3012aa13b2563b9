// SPDX-License-Identifier: SHL-2.1
/// First-word fall-through FIFO in block memory.
///
///   Handshake   valid/ready on both sides; data_o is stable until taken; ready_o and valid_o are
///               registered facts
///   Ordering    first in, first out
///   Latency     2 cycles from write to valid_o
///   Throughput  one word a cycle
///   Parameters  Width 1..1024, Depth a power of two, 4..4096
///   Not done    clear
module rdma_beat_fifo #(
  parameter int unsigned Width = 66,
  parameter int unsigned Depth = 256
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic             valid_i,
  output logic             ready_o,
  input  logic [Width-1:0] data_i,
  output logic             valid_o,
  input  logic             ready_i,
  output logic [Width-1:0] data_o
);
  if (Depth < 4 || Depth > 4096 || (Depth & (Depth - 1)) != 0) begin : gen_depth_check
    $error("rdma_beat_fifo: Depth is %0d, legal is a power of two, 4..4096", Depth);
  end

  localparam int unsigned AddrWidth = $clog2(Depth);
  // One bit more than an index: equal pointers mean empty, pointers Depth apart mean full.
  logic [AddrWidth:0] wptr_q, rptr_q;
  logic push, fetch;

  assign ready_o = wptr_q != {~rptr_q[AddrWidth], rptr_q[AddrWidth-1:0]};
  assign push    = valid_i && ready_o;
  assign fetch   = wptr_q != rptr_q && (!valid_o || ready_i);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      wptr_q  <= '0;
      rptr_q  <= '0;
      valid_o <= 1'b0;
    end else begin
      if (push) wptr_q <= wptr_q + 1'b1;
      if (fetch) rptr_q <= rptr_q + 1'b1;
      valid_o <= fetch || (valid_o && !ready_i);
    end
  end

  ram_1r1w #(
    .Width  (Width),
    .Depth  (Depth),
    .ReadOld(1'b0)
  ) u_ram (
    .clk_i,
    .we_i   (push),
    .waddr_i(wptr_q[AddrWidth-1:0]),
    .wdata_i(data_i),
    .re_i   (fetch),
    .raddr_i(rptr_q[AddrWidth-1:0]),
    .rdata_o(data_o)
  );
endmodule
