// SPDX-License-Identifier: SHL-2.1
/// Acts of rdma_resequencer: one at a time, held until taken, and settled if no write follows.
///
///   Handshake   give_i: strobe with act_i, not while busy_o; act_valid_o/act_ready_i.
///               act_owes_i with act_ready_i: a WroteNotice answer will follow. settle_o: until
///               settle_ready_i, the act of settle_src_o has ended without a write
///   Latency     a cycle from give_i to act_valid_o, and from act_ready_i to settle_o
///   Info        act_i.info is not kept: it is the place's word, which the memory holds
///   Parameters  none
///   Not done    what an act does
module rdma_acts
  import rdma_pkg::*;
  import rdma_rx_pkg::*;
(
  input logic clk_i,
  input logic rst_ni,

  input  logic  give_i,
  input  act_t  act_i,
  output logic  busy_o,
  output logic  act_valid_o,
  input  logic  act_ready_i,
  input  logic  act_owes_i,
  output act_t  act_o,
  output logic  settle_o,
  output flow_t settle_src_o,
  input  logic  settle_ready_i
);
  logic valid_q, settle_q, taken;
  flow_t settle_src_q;
  act_t act_q;
  logic unused;

  assign taken        = valid_q && act_ready_i;
  assign act_valid_o  = valid_q;
  assign settle_o     = settle_q;
  assign settle_src_o = settle_src_q;
  assign busy_o       = valid_q || settle_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      valid_q  <= 1'b0;
      settle_q <= 1'b0;
    end else begin
      if (settle_ready_i) settle_q <= 1'b0;
      if (taken) begin
        valid_q <= 1'b0;
        if (!act_q.frame && !act_owes_i) settle_q <= 1'b1;
      end
      if (give_i) valid_q <= 1'b1;
    end
  end
  always_ff @(posedge clk_i) begin
    if (taken) settle_src_q <= act_q.src;
    if (give_i) begin
      act_q      <= act_i;
      act_q.info <= '0;
    end
  end

  always_comb begin
    act_o      = act_q;
    act_o.info = act_i.info;
  end
  assign unused = &{1'b0, act_q.info};
endmodule
