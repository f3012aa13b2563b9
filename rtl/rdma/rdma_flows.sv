// SPDX-License-Identifier: SHL-2.1
/// State of each flow: its session, its numbers, what is under way, and whether it is open.
///
/// Read and written by the operation under way of rdma_resequencer.
///
///   Handshake   change_i: strobes, of flow src_i
///   Latency     flow_o, view_o, walk_place_o: combinational from src_i, view_src_i, walk_src_i;
///               changed a cycle behind change_i
///   Open        a flow of opening_o is opened by Window operations change_i.opens, each of which
///               empties the place open_place_o; flows take turns (opening_src_o)
///   Start       clear_i, clear_src_i: nothing of the flow is under way
///   Parameters  NumHosts 2..8
///   Not done    the decision what changes
module rdma_flows
  import rdma_pkg::*;
  import rdma_rx_pkg::*;
#(
  parameter int unsigned NumHosts = 8
) (
  input logic  clk_i,
  input logic  rst_ni,
  input logic  enable_i,     // low: every flow is closed
  input logic  clear_i,
  input flow_t clear_src_i,

  input  flow_t        src_i,
  output flow_state_t  flow_o,
  input  flow_change_t change_i,
  input  flow_t        view_src_i,
  output flow_view_t   view_o,
  input  flow_t        walk_src_i,
  output place_t       walk_place_o,   // the place to be retired next

  output logic [NumHosts-1:0] opened_o,
  output logic [NumHosts-1:0] opening_o,
  output flow_t               opening_src_o,
  output place_t              open_place_o
);
  typedef logic [NumHosts-1:0] hosts_t;

  // One entry a flow in distributed memory.
  (* ram_style = "distributed" *) seq_t base_q[MaxHosts];
  (* ram_style = "distributed" *) session_t sessions_q[MaxHosts];
  (* ram_style = "distributed" *) near_t top_q[MaxHosts];
  (* ram_style = "distributed" *) near_t pending_q[MaxHosts];
  // A bit a flow.
  hosts_t opened_q, opening_q, failed_q, denied_q;
  flow_t opening_src_q;
  place_t open_place_q;

  assign flow_o = '{
    base: base_q[src_i],
    session: sessions_q[src_i],
    top: top_q[src_i],
    pending: pending_q[src_i],
    opened: opened_q[src_i],
    opening: opening_q[src_i],
    failed: failed_q[src_i],
    denied: denied_q[src_i]
  };
  assign view_o = '{
    number: base_q[view_src_i],
    session: sessions_q[view_src_i],
    open: opened_q[view_src_i]
  };
  assign walk_place_o  = base_q[walk_src_i][PlaceWidth-1:0];
  assign opened_o      = opened_q;
  assign opening_o     = opening_q;
  assign opening_src_o = opening_src_q;
  assign open_place_o  = open_place_q;

  always_ff @(posedge clk_i) begin
    if (change_i.base_we) base_q[src_i] <= change_i.base;
    if (change_i.begins) sessions_q[src_i] <= change_i.session;
    if (change_i.top_we) top_q[src_i] <= change_i.top;
  end
  always_ff @(posedge clk_i) begin
    if (clear_i || change_i.pending_we) begin
      pending_q[clear_i ? clear_src_i : src_i] <= clear_i ? '0 : change_i.pending;
    end
  end

  hosts_t one;
  assign one = hosts_t'(1) << src_i;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      opened_q      <= '0;
      opening_q     <= '0;
      failed_q      <= '0;
      denied_q      <= '0;
      opening_src_q <= '0;
      open_place_q  <= '0;
    end else begin
      if (change_i.fails) failed_q <= failed_q | one;
      if (change_i.notifies) failed_q <= failed_q & ~one;
      if (change_i.begins) begin
        opened_q  <= opened_q & ~one;
        opening_q <= opening_q | one;
        denied_q  <= denied_q & ~one;
      end
      if (change_i.denies) denied_q <= denied_q | one;
      if (change_i.opens) begin
        if (change_i.emptied) open_place_q <= open_place_q + 1'b1;
        if (!change_i.emptied || change_i.ends) begin
          open_place_q  <= '0;
          opening_src_q <= opening_src_q == flow_t'(NumHosts - 1) ? '0 : opening_src_q + 1'b1;
        end
        if (change_i.ends) begin
          opening_q <= opening_q & ~one;
          opened_q  <= opened_q | one;
          failed_q  <= failed_q & ~one;
        end
      end
      if (!enable_i) begin
        opened_q     <= '0;
        opening_q    <= '0;
        denied_q     <= '0;
        open_place_q <= '0;
      end
    end
  end
endmodule
