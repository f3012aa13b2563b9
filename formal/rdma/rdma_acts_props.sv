// SPDX-License-Identifier: SHL-2.1
/// rdma_acts: each act that is given is offered from the next cycle on, unchanged but for its info,
/// until it is taken; then it is settled, with its source, until that is taken, unless it writes a
/// frame or an answer follows. busy_o from the act's offer to its end.
///
/// Assumed: an act is given only while it is not busy.
module rdma_acts_props
  import rdma_pkg::*;
  import rdma_rx_pkg::*;
(
  input logic clk_i,
  input logic give_i,
  input act_t act_i,
  input logic act_ready_i,
  input logic act_owes_i,
  input logic settle_ready_i
);
  logic  rst_ni, busy_o, act_valid_o, settle_o;
  act_t  act_o;
  flow_t settle_src_o;
  rdma_acts dut (.*);

  logic started_q = 1'b0;
  always_ff @(posedge clk_i) started_q <= 1'b1;
  assign rst_ni = started_q;

  // One act: given, taken, settled.
  typedef enum logic [1:0] {Free, Offered, Owed} where_e;
  where_e where_q;
  act_t   given_q, shown;
  always_comb begin
    shown      = given_q;
    shown.info = act_i.info;
  end
  always_ff @(posedge clk_i) begin
    if (!started_q) begin
      where_q <= Free;
    end else begin
      if (where_q == Owed && settle_ready_i) where_q <= Free;
      if (where_q == Offered && act_ready_i) where_q <= given_q.frame || act_owes_i ? Free : Owed;
      if (give_i) where_q <= Offered;
    end
    if (give_i) given_q <= act_i;
  end

  always_comb begin
    if (started_q) begin
      assume (!give_i || !busy_o);
      assert (act_valid_o == (where_q == Offered));
      assert (settle_o == (where_q == Owed));
      assert (busy_o == (where_q != Free));
      if (act_valid_o) assert (act_o == shown);
      if (settle_o) assert (settle_src_o == given_q.src);
      // What makes the above inductive.
      assert (where_q inside {Free, Offered, Owed});
      if (act_valid_o) begin
        assert ({dut.act_q.frame, dut.act_q.src} == {given_q.frame, given_q.src});
      end
      cover (settle_o && settle_ready_i && settle_src_o == flow_t'(3));
      cover (act_valid_o && act_ready_i && given_q.frame);
    end
  end
endmodule
