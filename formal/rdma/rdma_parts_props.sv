// SPDX-License-Identifier: SHL-2.1
/// rdma_parts: of any one flow, how many packets of its request were granted since its last whole
/// grant, and whether its session failed behind the first of them. Other flows' grants, refusals
/// and failures change nothing.
///
/// Assumed: a request is refused or granted, not both.
module rdma_parts_props
  import rdma_pkg::*;
  import rdma_tx_pkg::*;
(
  input logic        clk_i,
  input logic        clear_i,
  input flow_t       clear_flow_i,
  input flow_t       flow_i,
  input logic        grant_i,
  input logic        final_i,
  input logic [2:0]  packets_i,
  input logic        refused_i,
  input flow_event_t failed_i,
  input flow_t       watched
);
  logic rst_ni, torn_o;
  logic [2:0] parts_o;
  rdma_parts dut (.*);

  logic started_q = 1'b0;
  flow_t watched_q;
  always_ff @(posedge clk_i) begin
    started_q <= 1'b1;
    watched_q <= watched;
  end
  assign rst_ni = started_q;

  // The watched flow's request: a part was granted, and so many packets;
  // the session has ended since.
  logic open_q, torn_q, mine, grants, fails, opens;
  logic [2:0] granted_q;
  assign mine   = flow_i == watched;
  assign grants = grant_i && mine;
  assign fails  = failed_i.valid && failed_i.flow == watched;
  assign opens  = grants ? !final_i : open_q;
  always_ff @(posedge clk_i) begin
    if (!started_q || (refused_i && mine) || (clear_i && clear_flow_i == watched)) begin
      open_q <= 1'b0;
      torn_q <= 1'b0;
    end else begin
      open_q <= opens;
      // A failure is of a part that was granted before, or is with it.
      if (fails) torn_q <= open_q || opens;
    end
    if (grants) granted_q <= packets_i;
  end

  always_comb begin
    if (started_q) begin
      assume (watched == watched_q);
      assume (!(grant_i && refused_i));
      if (mine) assert (parts_o == (open_q ? granted_q : '0) && torn_o == torn_q);
      // What makes the above inductive.
      assert (dut.part_q[watched] == open_q && dut.torn_q[watched] == torn_q);
      if (open_q) assert (dut.count_q[watched] == granted_q);
      cover (mine && torn_o && parts_o == 3'd3);
      cover (fails && grants && !final_i);
    end
  end
endmodule
