// SPDX-License-Identifier: SHL-2.1
/// rdma_pick: what is chosen may go: its flow is open, not put aside, and has what is chosen of it;
/// it is the next in turn behind the flow that was looked at last. One flow is watched, which is
/// free: requests and messages of it take turns by what was decided; it is put aside only by a look
/// without room in which nothing that it might have lacked has changed, until something has. So
/// while it may go, each other flow is looked at once at most before it.
///
/// Assumed: a look is decided or finds no room, not both.
module rdma_pick_props
  import rdma_pkg::*;
#(
  parameter int unsigned NumLinks = 2
) (
  input logic                clk_i,
  input logic                clear_i,
  input flow_t               clear_flow_i,
  input logic [MaxHosts-1:0] request_i,
  input logic [MaxHosts-1:0] message_i,
  input logic [MaxHosts-1:0] open_i,
  input logic                busy_i,
  input flow_t               looked_flow_i,
  input logic                looked_message_i,
  input logic                looked_open_i,
  input logic                looked_i,
  input logic                decided_i,
  input logic                no_room_i,
  input logic [MaxHosts-1:0] stir_i,
  input logic [NumLinks-1:0] up_i,
  input flow_t               watched
);
  logic rst_ni, any_o, message_o, aside_o, idle_o;
  flow_t flow_o;
  rdma_pick #(.NumLinks(NumLinks)) dut (.*);

  logic started_q = 1'b0;
  flow_t watched_q;
  always_ff @(posedge clk_i) begin
    started_q <= 1'b1;
    watched_q <= watched;
  end
  assign rst_ni = started_q;

  // The last look, and the distance of a flow behind it.
  logic  looks_q;  // there was one
  flow_t last_q;
  function automatic flow_t behind(flow_t flow);
    return looks_q ? flow - last_q - flow_t'(1) : flow;
  endfunction

  // The watched flow: put aside; which of its queues goes first;
  // changes since the look under way began.
  logic aside_q, message_first_q, changed_q, changes, mine, news;
  logic [NumLinks-1:0] up_q;
  assign mine    = looked_flow_i == watched;
  assign changes = up_q != up_i;
  assign news    = changes || stir_i[watched];
  always_ff @(posedge clk_i) begin
    if (!started_q) begin
      aside_q         <= 1'b0;
      message_first_q <= 1'b0;
      changed_q       <= 1'b0;
      looks_q         <= 1'b0;
      up_q            <= '0;
    end else begin
      up_q <= up_i;
      if (looked_i) {looks_q, last_q} <= {1'b1, looked_flow_i};
      changed_q <= busy_i && (changed_q || stir_i[looked_flow_i] || changes);
      if (clear_i && clear_flow_i == watched) aside_q <= 1'b0;
      else if (news) aside_q <= 1'b0;
      else if (no_room_i && mine && looked_open_i && !changed_q) aside_q <= 1'b1;
      if (clear_i && clear_flow_i == watched) message_first_q <= 1'b0;
      else if (mine && decided_i) message_first_q <= !looked_message_i;
      else if (mine && no_room_i) message_first_q <= looked_message_i;
    end
  end

  logic may;
  assign may = open_i[watched] && (request_i[watched] || message_i[watched]) && !aside_q;

  always_comb begin
    if (started_q) begin
      assume (watched == watched_q);
      assume (!(decided_i && no_room_i));
      // The choice.
      if (may) assert (any_o && behind(flow_o) <= behind(watched));
      if (any_o && flow_o == watched) begin
        assert (may);
        assert (message_o ? message_i[watched] : request_i[watched]);
        if (message_i[watched] && request_i[watched]) assert (message_o == message_first_q);
      end
      if (mine) assert (aside_o == aside_q);
      // No change waits to be seen; one that matters to a flow that is aside does.
      assert (!(aside_q && stir_i[watched]) || !idle_o);
      if (changes) assert (!idle_o);
      if (!changes && stir_i == '0) assert (idle_o);
      // What makes the above inductive.
      assert (dut.aside_q[watched] == aside_q && dut.turn_q[watched] == message_first_q);
      assert (dut.stirred_q == changed_q && dut.up_q == up_q);
      for (int unsigned i = 0; i < MaxHosts; i++) begin
        assert (dut.after_q[i] == (looks_q && flow_t'(i) > last_q));
      end
      cover (any_o && flow_o == watched && watched == flow_t'(2) && message_o && aside_o && !mine);
      cover (aside_q && news);
      cover (may && any_o && flow_o != watched && looks_q && last_q > watched);
    end
  end
endmodule
