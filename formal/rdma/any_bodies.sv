// SPDX-License-Identifier: SHL-2.1
/// In the place of rdma_bodies: what it says is free.
module rdma_bodies
  import rdma_rx_pkg::*;
(
  input  logic  clk_i,
  input  logic  rst_ni,
  input  logic  push_i,
  input  body_t body_i,
  output logic  valid_o,
  input  logic  pop_i,
  output body_t body_o,
  output logic  many_o
);
  logic [$bits(body_t)+1:0] any, any_q;  // driven by nothing: the prover's choice
  always_ff @(posedge clk_i) any_q <= any;
  assign {valid_o, many_o, body_o} = any_q;
endmodule
