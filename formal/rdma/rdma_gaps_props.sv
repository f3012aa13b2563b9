// SPDX-License-Identifier: SHL-2.1
/// rdma_gaps: a flow is given up where two scans in succession saw its gap, nothing of the gap
/// retired between, and until its limit is reached or a session begins; the limit is the highest
/// number that the first of the two knew. A period is lost_cycles_i; at its end the open flows that
/// may have a gap are to be scanned. At rest: nothing to be scanned, and no flow that will be.
///
/// One flow is watched, any.
module rdma_gaps_props
  import rdma_pkg::*;
  import rdma_rx_pkg::*;
(
  input logic        clk_i,
  input logic        enable_i,
  input logic [31:0] lost_cycles_i,
  input logic [7:0]  opened_i,
  input flow_t       src_i,
  input near_t       base_i,
  input gap_step_t   step_i
);
  logic rst_ni, give_up_o, at_limit_o, wake_o, tick_o, rest_o;
  logic [7:0] scan_o;

  rdma_gaps #(.NumHosts(8)) dut (.*);

  logic started_q = 1'b0;
  always_ff @(posedge clk_i) started_q <= 1'b1;
  assign rst_ni = started_q;

  // Flows that may have a gap: a number was known that is not received, and since then no scan has
  // found all received, nor has the last number known retired.
  logic [7:0] may_q, may;
  for (genvar f = 0; f < 8; f++) begin : gen_flow
    logic mine, all;
    assign mine = src_i == flow_t'(f);
    assign all  = (step_i.scanned && step_i.known == '0) ||
                  (step_i.walked && step_i.retired && step_i.known == near_t'(1));
    assign may[f] = enable_i &&
                    (mine ? !step_i.begins && !all && (step_i.watch || may_q[f]) : may_q[f]);
  end

  // The watched flow.
  flow_t watch_q;
  logic  seen_q, given_q, due_q;  // its last scan saw a gap; it is given up; it is to be scanned
  near_t limit_q;
  logic  mine, sees, second;
  assign mine   = src_i == watch_q;
  assign sees   = mine && step_i.scanned && !given_q;
  assign second = sees && step_i.gap && seen_q;

  logic [31:0] period_q, gone_q;  // the period that runs, and its cycles so far
  logic        ends;
  assign ends = may_q == '0 || period_q - gone_q <= 32'd1;

  always_ff @(posedge clk_i) begin
    watch_q <= watch_q;
    if (!started_q) begin
      {may_q, seen_q, given_q, due_q, period_q, gone_q} <= '0;
      limit_q <= dut.limit_q[watch_q];
    end else begin
      may_q <= may;
      if (sees && !seen_q) limit_q <= step_i.top;
      if (!enable_i || (mine && step_i.begins)) begin
        {seen_q, given_q} <= '0;
      end else begin
        if (mine && step_i.walked && step_i.retired) seen_q <= 1'b0;
        if (sees) seen_q <= step_i.gap;
        if (mine && step_i.walked && step_i.at_limit) given_q <= 1'b0;
        if (second) given_q <= 1'b1;
      end
      due_q <= enable_i && (tick_o ? opened_i[watch_q] && may_q[watch_q] :
                                     due_q && !(mine && step_i.scanned));
      period_q <= ends ? lost_cycles_i : period_q;
      gone_q   <= ends ? '0 : gone_q + 32'd1;
    end
  end

  always_comb begin
    if (!started_q) assume (step_i == '0);
    // An operation is a scan or a walk.
    assume (!(step_i.scanned && step_i.walked));
    if (started_q) begin
      if (mine) begin
        assert (give_up_o == given_q && wake_o == second);
        assert (at_limit_o == (base_i == limit_q));
      end
      assert (scan_o[watch_q] == due_q);
      assert (tick_o == (period_q - gone_q == 32'd1));
      assert (rest_o == (scan_o == '0 && (may_q == '0 || lost_cycles_i == '0)));
      // What makes the above inductive.
      assert (dut.watch_q == may_q && dut.ticks_q == period_q - gone_q);
      assert (dut.gap_q[watch_q] == seen_q && dut.give_up_q[watch_q] == given_q);
      assert (dut.limit_q[watch_q] == limit_q);
      cover (given_q && at_limit_o && mine && due_q && watch_q == 3'd6);
      cover (tick_o && gone_q == 32'd4 && may_q == 8'h12);
    end
  end
endmodule
