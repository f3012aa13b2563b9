// SPDX-License-Identifier: SHL-2.1
/// Bodies of messages that are in memory and wait for their frame word, in order.
///
///   Handshake   push_i: strobe; pop_i takes body_o, which is there with valid_o
///   Latency     valid_o a cycle behind push_i
///   Many        many_o: no new body may be begun; those under way have their place
///   Parameters  none: bodies under way are MaxWrites and two at most
///   Not done    the frame word
module rdma_bodies
  import rdma_rx_pkg::*;
(
  input logic clk_i,
  input logic rst_ni,

  input  logic  push_i,
  input  body_t body_i,
  output logic  valid_o,
  input  logic  pop_i,
  output body_t body_o,
  output logic  many_o
);
  localparam int unsigned Depth = 2 * MaxWrites;
  typedef logic [$clog2(Depth):0] count_t;

  logic held, valid_q, unused_ready;
  count_t count;
  fifo #(
    .Width($bits(body_t)),
    .Depth(Depth)
  ) u_fifo (
    .clk_i,
    .rst_ni,
    .clear_i(1'b0),
    .valid_i(push_i),
    .ready_o(unused_ready),
    .data_i (body_i),
    .valid_o(held),
    .ready_i(pop_i),
    .data_o (body_o),
    .usage_o(count)
  );

  // The same as held, without its pointers: the lookup of a place depends on it.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) valid_q <= 1'b0;
    else valid_q <= push_i || (held && !(pop_i && count == count_t'(1)));
  end
  assign valid_o = valid_q;

  assign many_o = count >= count_t'(MaxWrites - 2);
endmodule
