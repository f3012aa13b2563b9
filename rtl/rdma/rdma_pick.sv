// SPDX-License-Identifier: SHL-2.1
/// Chooses the queue that rdma_send looks at next.
///
/// Destinations go in turn, by look; requests and messages of one destination take turns. A
/// destination whose transfer found no room is put aside until something of its flow or of the
/// links has changed: the others go on. It is then looked at again with the same queue first.
///
///   Handshake   any_o, flow_o, message_o: the choice, used while busy_i is low. Then busy_i is
///               high with the flow_i and message_i looked at. looked_i: strobe, the look has
///               reached its data. decided_i: strobe, granted or refused; no_room_i: strobe,
///               neither
///   Latency     0 cycles from request_i, message_i and open_i to the choice; a change that stir_i
///               or up_i reports is seen at the next edge
///   Throughput  a choice a cycle
///   Fairness    between two looks at a waiting destination each other is looked at once at most
///   Parameters  NumLinks 1..4
///   Not done    weights and priorities
module rdma_pick
  import rdma_pkg::*;
#(
  parameter int unsigned NumLinks = 1
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  input  logic                clear_i,
  input  flow_t               clear_flow_i,

  input  logic [MaxHosts-1:0] request_i,     // flows with a request, or a message, that may go
  input  logic [MaxHosts-1:0] message_i,
  input  logic [MaxHosts-1:0] open_i,
  output logic                any_o,
  output flow_t               flow_o,
  output logic                message_o,

  input  logic                busy_i,
  input  flow_t               looked_flow_i,
  input  logic                looked_message_i,
  input  logic                looked_open_i, // its flow is open
  output logic                aside_o,       // looked_flow_i is put aside
  input  logic                looked_i,
  input  logic                decided_i,
  input  logic                no_room_i,

  input  logic [MaxHosts-1:0] stir_i,        // room or window of these flows has changed
  input  logic [NumLinks-1:0] up_i,
  output logic                idle_o         // no change of room or links is waiting to be seen
);
  if (NumLinks < 1 || NumLinks > 4) begin : gen_links_check
    $error("rdma_pick: NumLinks is %0d, legal is 1..4", NumLinks);
  end

  // aside_q: no room at the last look. turn_q: messages go first.
  logic [MaxHosts-1:0] aside_q, turn_q, after_q, ask, pick, prefer;
  logic [MaxHosts-1:0] first_ask, first_pick, any_pick;
  logic [NumLinks-1:0] up_q;
  logic stirred_q, same_links;
  assign same_links = up_q == up_i;
  assign ask        = (request_i | message_i) & open_i & ~aside_q;
  assign aside_o    = aside_q[looked_flow_i];

  // after_q: the destinations above the last one that was looked at; they go first.
  assign first_ask = ask & after_q;
  arb_fixed #(.NumReq(MaxHosts)) u_first (.req_i(first_ask), .gnt_o(first_pick));
  arb_fixed #(.NumReq(MaxHosts)) u_any (.req_i(ask), .gnt_o(any_pick));
  assign pick = first_ask != '0 ? first_pick : any_pick;
  always_comb begin
    flow_o = '0;
    for (int unsigned i = 0; i < MaxHosts; i++) begin
      if (pick[i]) flow_o = flow_o | flow_t'(i);
    end
  end
  assign prefer      = message_i & (~request_i | turn_q);
  assign message_o   = (prefer & pick) != '0;
  assign any_o       = ask != '0;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      aside_q   <= '0;
      turn_q    <= '0;
      after_q   <= '0;
      stirred_q <= 1'b0;
      up_q      <= '0;
    end else begin
      up_q <= up_i;
      if (looked_i) begin
        after_q <= ~((MaxHosts'(1) << looked_flow_i) |
                     ((MaxHosts'(1) << looked_flow_i) - 1'b1));
      end

      // A change after the look began may provide what it lacked.
      stirred_q <= busy_i && (stirred_q || stir_i[looked_flow_i] || !same_links);
      aside_q   <= !same_links ? '0 : aside_q & ~stir_i;
      if (no_room_i && looked_open_i && !stirred_q && !stir_i[looked_flow_i] && same_links) begin
        aside_q[looked_flow_i] <= 1'b1;
      end
      // What was put aside is looked at again before the other queue of its destination.
      if (decided_i) turn_q[looked_flow_i] <= !looked_message_i;
      else if (no_room_i) turn_q[looked_flow_i] <= looked_message_i;
      if (clear_i) begin
        aside_q[clear_flow_i] <= 1'b0;
        turn_q[clear_flow_i]  <= 1'b0;
      end
    end
  end

  assign idle_o = same_links && (aside_q & stir_i) == '0;
endmodule
