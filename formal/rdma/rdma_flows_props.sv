// SPDX-License-Identifier: SHL-2.1
/// rdma_flows: a flow's state is what its own operations made it, whatever the others' did; all
/// flows are closed where the receiver is not enabled; flows that wait to be opened take turns, and
/// the places of one are emptied from the first to the last.
///
/// One flow is watched, any.
module rdma_flows_props
  import rdma_pkg::*;
  import rdma_rx_pkg::*;
(
  input logic         clk_i,
  input logic         enable_i,
  input logic         clear_i,
  input flow_t        clear_src_i,
  input flow_t        src_i,
  input flow_change_t change_i,
  input flow_t        view_src_i,
  input flow_t        walk_src_i
);
  logic rst_ni;
  flow_state_t flow_o;
  flow_view_t  view_o;
  place_t      walk_place_o, open_place_o;
  logic [7:0]  opened_o, opening_o;
  flow_t       opening_src_o;

  rdma_flows #(.NumHosts(8)) dut (.*);

  logic started_q = 1'b0;
  always_ff @(posedge clk_i) started_q <= 1'b1;
  assign rst_ni = started_q;

  flow_t       watch_q, turn_q;
  flow_state_t state_q, state;  // of the watched flow
  place_t      place_q;
  logic        mine, over;
  assign mine = src_i == watch_q;
  assign over = change_i.opens && (!change_i.emptied || change_i.ends);
  always_comb begin
    state = state_q;
    if (mine) begin
      if (change_i.base_we) state.base = change_i.base;
      if (change_i.top_we) state.top = change_i.top;
      if (change_i.pending_we && !clear_i) state.pending = change_i.pending;
      if (change_i.fails) state.failed = 1'b1;
      if (change_i.notifies) state.failed = 1'b0;
      if (change_i.begins) begin
        state.session = change_i.session;
        {state.opened, state.opening, state.denied} = 3'b010;
      end
      if (change_i.denies) state.denied = 1'b1;
      if (change_i.opens && change_i.ends)
        {state.opened, state.opening, state.failed} = 3'b100;
    end
    if (clear_i && clear_src_i == watch_q) state.pending = '0;
    if (!enable_i) {state.opened, state.opening, state.denied} = '0;
  end
  always_ff @(posedge clk_i) begin
    watch_q <= watch_q;
    if (!started_q) begin
      state_q <= '{base: dut.base_q[watch_q], session: dut.sessions_q[watch_q],
                   top: dut.top_q[watch_q], pending: dut.pending_q[watch_q], default: '0};
      turn_q  <= '0;
      place_q <= '0;
    end else begin
      state_q <= state;
      if (over) turn_q <= turn_q + 3'd1;
      if (over || !enable_i) place_q <= '0;
      else if (change_i.opens) place_q <= place_q + place_t'(1);
    end
  end

  always_comb begin
    if (!started_q) assume (change_i == '0 && !clear_i);
    if (started_q) begin
      if (mine) assert (flow_o == state_q);
      if (view_src_i == watch_q)
        assert (view_o == {state_q.base, state_q.session, state_q.opened});
      if (walk_src_i == watch_q) assert (walk_place_o == state_q.base[PlaceWidth-1:0]);
      assert (opened_o[watch_q] == state_q.opened && opening_o[watch_q] == state_q.opening);
      assert (opening_src_o == turn_q && open_place_o == place_q);
      // What makes the above inductive.
      assert (dut.base_q[watch_q] == state_q.base && dut.sessions_q[watch_q] == state_q.session);
      assert (dut.top_q[watch_q] == state_q.top && dut.pending_q[watch_q] == state_q.pending);
      assert (dut.failed_q[watch_q] == state_q.failed && dut.denied_q[watch_q] == state_q.denied);
      cover (state_q.opened && turn_q == 3'd1 && watch_q == 3'd5);
      cover (state_q.failed && state_q.denied && place_q == place_t'(2));
    end
  end
endmodule
