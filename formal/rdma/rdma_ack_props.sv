// SPDX-License-Identifier: SHL-2.1
/// rdma_ack: nothing that is owed is lost or reported twice; a packet has its flow's state of when
/// it is made; it is held; a host with room waits for a bounded number of packets,
/// whichever hosts have none.
///
/// One host is watched, one refusal, and one kind's turns; the choices are free.
module rdma_ack_props
  import rdma_pkg::*;
  import rdma_rx_pkg::*;
(
  input logic       clk_i,
  input host_t      host_id_i,
  input logic [7:0] ack_i,
  input logic       deny_i,
  input flow_t      deny_src_i,
  input session_t   deny_session_i,
  input logic       deny_open_i,
  input logic       refuse_i,
  input refusal_t   refusal_i,
  input logic       late_i,
  input refusal_t   late_refusal_i,
  input seq_t       view_number_i,
  input seq_t       view_stored_i,
  input session_t   view_session_i,
  input logic       view_open_i,
  input logic       ctl_ready_i,
  input logic [7:0] ctl_room_i,
  input logic       track_i          // this refusal is followed
);
  localparam int unsigned Items = 4;
  logic rst_ni, ctl_valid_o, idle_o;
  flow_t view_src_o;
  header_t ctl_header_o;
  control_t ctl_o;

  rdma_ack #(.NumHosts(8), .Items(Items)) dut (.*);

  // Kinds, by number: the proof's reader knows no names of another module.
  localparam logic [1:0] TurnAck = 2'd0;
  localparam logic [1:0] TurnDeny = 2'd1;
  localparam logic [1:0] TurnItem = 2'd2;

  logic started_q = 1'b0;
  always_ff @(posedge clk_i) started_q <= 1'b1;
  assign rst_ni = started_q;

  // ---------------------------------------------------------------- what comes
  flow_t host_q;      // watched
  logic [1:0] turn_q; // the kind of which the turns are counted
  logic kept_q;       // the watched host's room falls only when it was given a packet
  logic [1:0] refused_q, late_q;  // cycles in which no other may come
  logic taken, gave_q, room_q;
  assign taken = ctl_valid_o && ctl_ready_i;
  always_ff @(posedge clk_i) begin
    host_q    <= host_q;
    turn_q    <= turn_q;
    kept_q    <= kept_q;
    refused_q <= !rst_ni ? '0 : refuse_i ? 2'd2 : refused_q - 2'(refused_q != '0);
    late_q    <= !rst_ni ? '0 : late_i ? 2'd2 : late_q - 2'(late_q != '0);
    gave_q    <= taken && ctl_header_o.dst[2:0] == host_q;
    room_q    <= rst_ni && ctl_room_i[host_q];
  end
  function automatic logic codes(refusal_t refusal);
    return refusal.code != '0 && refusal.code != 4'(CodeSession);
  endfunction
  always_comb begin
    if (!started_q) assume (ack_i == '0 && !deny_i && !refuse_i && !late_i);
    assume (turn_q <= TurnItem);
    if (refused_q != '0) assume (!refuse_i);
    if (late_q != '0) assume (!late_i);
    // A refusal has a code; that no session is open is reported by deny_i.
    assume (codes(refusal_i));
    if (kept_q && room_q && !gave_q) assume (ctl_room_i[host_q]);
  end

  // ---------------------------------------------------------------- a packet is made
  logic stood_q, made, ours, is_ack, is_deny, is_told;
  header_t header_q;
  control_t control_q;
  // The flow as it was a cycle before.
  host_t own_q;
  flow_t src_q;
  seq_t number_q;
  session_t session_q;
  logic open_q;
  logic [7:0] frees, free_q;  // which have room and no pending packet; those at the choice
  assign frees   = ctl_room_i & ~(ctl_valid_o ? 8'd1 << ctl_header_o.dst[2:0] : 8'd0);
  assign made    = ctl_valid_o && !stood_q;
  assign ours    = ctl_header_o.dst == host_t'(host_q);
  assign is_ack  = ctl_o.control == ControlAck;
  assign is_deny = ctl_o.control == ControlRefused && ctl_o.code == 8'(CodeSession);
  assign is_told = ctl_o.control == ControlRefused && !is_deny;
  always_ff @(posedge clk_i) begin
    stood_q   <= rst_ni && ctl_valid_o && !ctl_ready_i;
    header_q  <= ctl_header_o;
    control_q <= ctl_o;
    own_q     <= host_id_i;
    src_q     <= view_src_o;
    number_q  <= view_number_i;
    session_q <= view_session_i;
    open_q    <= view_open_i;
    if (dut.gnt != '0) free_q <= frees;
  end

  // What ends in this cycle, and as what kind; a packet is made of it in the next,
  // or it is dropped.
  logic ends, ends_ours;
  logic [1:0] kind;
  assign ends      = dut.send;
  assign ends_ours = dut.send && view_src_o == host_q;
  assign kind      = dut.kind_q;

  // ---------------------------------------------------------------- owed: a state, and a session
  logic ack_q, acked_q, deny_q, denied_q, seen_q, since_q, since_last_q;
  logic asked;  // or there is something to report that no other packet does
  assign asked = ack_i[host_q] || (dut.count_q && dut.count_src_q == host_q);
  session_t deny_session_q, deny_session_before_q;
  logic deny_now_q, deny_open_q;  // it answers an OPEN
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      ack_q        <= 1'b0;
      deny_q       <= 1'b0;
      seen_q       <= 1'b0;
      since_q      <= 1'b0;
      since_last_q <= 1'b0;
    end else begin
      // What came when the packet was already made is owed still.
      if (asked) ack_q <= 1'b1;
      else if (made && ours && is_ack && !acked_q) ack_q <= 1'b0;
      else if (ends_ours && kind == TurnAck && !view_open_i) ack_q <= 1'b0;
      if (deny_i && deny_src_i == host_q) deny_q <= 1'b1;
      else if (made && ours && is_deny && !denied_q) deny_q <= 1'b0;
      if (deny_i && deny_src_i == host_q) seen_q <= 1'b1;
      // An ACK is for something that came since the one before, or while that was made.
      if (made && ours && is_ack) begin
        since_last_q <= since_q;
        since_q      <= asked;
      end else if (asked) begin
        since_q <= 1'b1;
      end
    end
    acked_q  <= rst_ni && asked;
    denied_q <= rst_ni && deny_i && deny_src_i == host_q;
    if (deny_i && deny_src_i == host_q) deny_session_q <= deny_session_i;
    if (deny_i && deny_src_i == host_q) deny_now_q <= deny_open_i;
    deny_open_q <= deny_now_q;
    deny_session_before_q <= deny_session_q;
  end

  // ---------------------------------------------------------------- owed: each refusal
  // tally_q: all that have come, but for those of a session that is gone;
  // from where the dut counts.
  tally_t tally_q, counts, listed, counts_q;
  logic gone;
  assign counts = dut.counts_q[host_q];
  assign gone   = ends_ours && dut.stale && kind == TurnItem;
  always_ff @(posedge clk_i) begin
    counts_q <= counts;
    if (!rst_ni) begin
      tally_q <= counts;
    end else begin
      tally_q <= tally_q + tally_t'(refuse_i && refusal_i.src == host_q) +
                 tally_t'(late_i && late_refusal_i.src == host_q) - tally_t'(gone);
    end
  end

  // Entries of the list.
  logic [2:0] rptr, usage;
  refusal_t entry [Items];
  assign rptr  = dut.u_items.rptr_q;
  assign usage = dut.u_items.wptr_q - rptr;
  always_comb begin
    listed = '0;
    for (int unsigned i = 0; i < Items; i++) begin
      entry[i] = dut.u_items.mem_q[2'(rptr + 3'(i))];
      if (usage > 3'(i) && entry[i].src == host_q) listed = listed + tally_t'(1);
    end
  end

  // One refusal on its way.
  typedef enum logic [1:0] {
    NotYet,
    InList,
    Chosen,
    Ended     // reported, counted, or of a session that has ended
  } where_e;
  where_e where_q;
  refusal_t mine_q;
  logic [2:0] behind_q;  // entries before it
  logic pop, mine_told_q, mine_gone_q;
  assign pop = dut.item_valid && dut.item_pop;
  always_ff @(posedge clk_i) begin
    mine_told_q <= 1'b0;
    mine_gone_q <= 1'b0;
    if (!rst_ni) begin
      where_q <= NotYet;
    end else begin
      unique case (where_q)
        NotYet: if (refuse_i && track_i) begin
          mine_q   <= refusal_i;
          where_q  <= dut.item_ready ? InList : Ended;
          behind_q <= usage - 3'(pop);
        end
        InList: if (pop) begin
          if (behind_q != '0) behind_q <= behind_q - 3'd1;
          else if (dut.gnt[TurnItem]) where_q <= Chosen;
          else if (dut.turn_over) behind_q <= usage - 3'd1;
          else where_q <= Ended;
        end
        Chosen: if (ends) begin
          where_q     <= Ended;
          mine_told_q <= view_open_i && view_session_i == mine_q.session;
          mine_gone_q <= view_session_i != mine_q.session;
        end
        default: ;
      endcase
    end
  end

  // ---------------------------------------------------------------- turns
  logic [7:0] asking, after;
  logic [1:0] last_turn, turns;
  logic [2:0] last_host, hosts;
  logic [5:0] passed_q, rank;
  logic asks, by_hosts, choosing;
  always_comb begin
    unique case (turn_q)
      TurnAck:  asking = dut.ack_q & frees;
      TurnDeny: asking = dut.deny_q & frees;
      default:  asking = {8{dut.item_valid && frees[dut.item.src]}};
    endcase
    last_turn = 2'd2;
    last_host = 3'd7;
    for (int unsigned i = 0; i < 3; i++) if (dut.u_turns.after_q[i]) last_turn = last_turn - 2'd1;
    for (int unsigned i = 0; i < 8; i++) if (after[i]) last_host = last_host - 3'd1;
  end
  assign after    = dut.after_q[turn_q];
  assign by_hosts = turn_q != TurnItem;
  assign asks     = asking[host_q];
  assign turns    = turn_q > last_turn ? turn_q - last_turn - 2'd1 : turn_q + 2'd2 - last_turn;
  assign hosts    = host_q - last_host - 3'd1;
  assign rank     = 6'(turns) + (by_hosts ? 6'd3 * 6'(hosts) : '0);
  assign choosing = dut.chosen_q && kind == turn_q && by_hosts;
  // Packets chosen before the watched host's, while that could be chosen.
  always_ff @(posedge clk_i) begin
    if (!rst_ni || !asks) passed_q <= '0;
    else if (choosing && (!dut.hosts_q[host_q] || dut.host_gnt[host_q])) passed_q <= '0;
    else if (dut.gnt[turn_q] && !by_hosts) passed_q <= '0;
    else if (choosing || (dut.gnt != '0 && !dut.gnt[turn_q])) passed_q <= passed_q + 6'd1;
  end

  // How long a packet, behind one that is taken,
  // or an entry does not move although nothing outside holds it.
  logic [2:0] still_q;
  logic [1:0] stuck_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni || !dut.picked_q || ends || ctl_valid_o) still_q <= '0;
    else still_q <= still_q + 3'd1;
    if (!rst_ni || !dut.blocked || pop) stuck_q <= '0;
    else stuck_q <= stuck_q + 2'd1;
  end

  logic flies;  // chosen for the watched host
  assign flies = dut.picked_q && dut.src_q == host_q;

`ifdef PACE
  // By depth alone: no six cycles in a row in which something is counted.
  always_comb if (started_q) assert (still_q <= 3'd5);
`else
  always_comb begin
    if (started_q) begin
      // It is held until it is taken.
      if (stood_q) assert (ctl_valid_o && ctl_header_o == header_q && ctl_o == control_q);
      // It says what is true of its flow, to a host that had room and no other packet waiting for
      // it.
      if (made) begin
        assert (ctl_header_o.kind == KindControl && ctl_header_o.src == own_q);
        assert (ctl_header_o.dst == host_t'(src_q) && free_q[src_q]);
        assert ({ctl_header_o.qid, ctl_header_o.tag, ctl_header_o.extended, ctl_header_o.completion,
                 ctl_header_o.irq, ctl_header_o.notify, ctl_header_o.last,
                     ctl_header_o.beats} == '0);
        assert (ctl_o.zero == '0 && (is_ack || is_deny || is_told));
        if (is_deny) assert (ctl_o.tag == '0 || ctl_o.tag == TagOpen);
        if (ours && is_deny) assert (ctl_o.tag == (deny_open_q ? TagOpen : '0));
        if (is_deny) assert (ctl_header_o.seq == '0 && ctl_o.count == '0 && !ctl_o.pending);
        else assert (open_q && ctl_header_o.seq == number_q && ctl_header_o.session == session_q);
        if (is_ack) assert (ctl_o.code == 8'd1 && ctl_o.tag == '0);
        if (ours && is_told) assert (ctl_o.code != '0 && ctl_o.count == counts_q + tally_t'(1));
        if (ours && is_ack) assert (ctl_o.count == counts_q);
        if (ours && is_ack) assert (since_q || since_last_q);
        if (ours && is_deny) assert (seen_q && ctl_header_o.session == deny_session_before_q);
        // Its count has all that have come, or it says that there are more.
        if (ours && !is_deny) assert (ctl_o.pending == (ctl_o.count != tally_q));
      end
      // A refusal that was itemised comes as it was reported.
      if (mine_told_q) begin
        assert (made && is_told && ctl_header_o.dst == host_t'(mine_q.src));
        assert (ctl_o.code == 8'(mine_q.code) && ctl_o.tag == mine_q.tag);
      end
      if (mine_gone_q) assert (!made);
      // What is owed goes only for what is true: the flow is not open, or in another session.
      if (gone) assert (!view_open_i || view_session_i != dut.item_q.session);
      // The list holds what it can.
      assert (usage <= 3'(Items));
      // Room that only its own packets take is available when one is pending.
      if (kept_q && ctl_valid_o && ours) assert (ctl_room_i[host_q]);
      // A host that is owed something and has room is passed by few, whichever have none;
      // nothing stops.
      if (asks) assert (passed_q <= (by_hosts ? 6'd23 : 6'd2));
      if (asks && !dut.chosen_q && !dut.picked_q) assert (dut.gnt != '0);
      assert (stuck_q <= 2'd2 && (stuck_q != 2'd2 || !dut.blocked || pop));
      // All is reported when it is idle.
      if (idle_o) assert (!ctl_valid_o);
      if (idle_o && ctl_room_i[host_q]) assert (!ack_q && !deny_q && counts == tally_q);

      // Inductive strengthening.
      if (ctl_valid_o) assert (ctl_header_o.dst[6:3] == '0);
      if (dut.late_q) assert (late_q == 2'd2 || (late_q == 2'd1 && refused_q == 2'd2));
      if (stuck_q == 2'd1)
        assert (refused_q == 2'd2 || (!dut.late_q && (late_q == 2'd1 || refused_q == 2'd1)));
      if (stuck_q == 2'd2) assert (refused_q != '0 && !dut.late_q);
      for (int unsigned i = 0; i < Items; i++) if (usage > 3'(i)) assert (codes(entry[i]));
      if ((dut.chosen_q || dut.picked_q) && kind == TurnItem) assert (codes(dut.item_q));
      if (ack_q)
        assert (dut.ack_q[host_q] || (flies && kind == TurnAck) || (made && ours && is_ack));
      if (acked_q) assert (dut.ack_q[host_q]);
      if (denied_q) assert (dut.deny_q[host_q]);
      if (deny_q)
        assert (dut.deny_q[host_q] || (flies && kind == TurnDeny) || (made && ours && is_deny));
      if (dut.ack_q[host_q] || (flies && kind == TurnAck)) assert (since_q || since_last_q);
      if (flies && kind == TurnAck && dut.ack_q[host_q]) assert (since_q);
      if (made && ours && is_ack && dut.ack_q[host_q]) assert (since_q);
      if (dut.deny_q[host_q] || (flies && kind == TurnDeny)) assert (seen_q);
      if (seen_q) assert (dut.denied_q[host_q] == deny_session_q);
      if (seen_q) assert (dut.denied_open_q[host_q] == deny_now_q);
      assert (tally_q == counts + listed + tally_t'(flies && kind == TurnItem) +
              tally_t'(dut.chosen_q && kind == TurnItem && dut.hosts_q[host_q]) +
              tally_t'(dut.late_q && dut.late_src_q == host_q) +
              tally_t'(dut.count_q && dut.count_src_q == host_q));
      if (made && ours && !is_deny) assert (ctl_o.count == counts);
      assert (7'(dut.waiting_q[host_q]) == 7'(listed) + 7'(flies && kind == TurnItem) +
              7'(dut.chosen_q && kind == TurnItem && dut.hosts_q[host_q]) +
              7'(dut.count_q && dut.listed_q && dut.count_src_q == host_q));
      if (dut.count_q && !dut.listed_q && refused_q != 2'd2)
        assert (late_q != '0 || refused_q != '0);
      assert (!(dut.chosen_q && dut.picked_q));
      if (dut.chosen_q) begin
        assert (dut.hosts_q != '0 && (dut.hosts_q & ~free_q) == '0);
        if (kind == TurnItem) assert (dut.hosts_q == 8'd1 << dut.item_q.src);
        if (dut.hosts_q[host_q]) begin
          if (kind == TurnAck) assert (dut.ack_q[host_q]);
          if (kind == TurnDeny) assert (dut.deny_q[host_q]);
        end
      end
      if (dut.picked_q) assert (free_q[dut.src_q]);
      if (flies && kind == TurnItem) assert (dut.item_q.src == host_q);
      assert (dut.kind_q <= TurnItem || !(dut.chosen_q || dut.picked_q));
      if (flies || (dut.chosen_q && dut.hosts_q[host_q])) begin
        assert (!(ctl_valid_o && ours) && (ctl_room_i[host_q] || !kept_q));
      end
      if (where_q == InList) begin
        assert (behind_q < usage && dut.u_items.mem_q[2'(rptr + behind_q)] == mine_q);
      end
      if (where_q == Chosen) begin
        assert ((dut.chosen_q || dut.picked_q) && kind == TurnItem && dut.item_q == mine_q);
        if (dut.picked_q) assert (dut.src_q == mine_q.src);
      end
      assert (dut.u_turns.owner_q == '0 && !dut.u_turns.after_q[0]);
      assert (((~dut.u_turns.after_q) & ((~dut.u_turns.after_q) + 3'd1)) == '0);
      assert (((~after) & ((~after) + 8'd1)) == '0);
      if (choosing && dut.hosts_q[host_q]) begin
        assert (dut.u_turns.after_q == 3'h7 << (turn_q + 3'd1) &&
                passed_q + 6'd3 * 6'(hosts) <= 6'd23);
      end else begin
        assert (passed_q + rank <= (by_hosts ? 6'd23 : 6'd2));
      end

      cover (made && ours && is_told && !ctl_o.pending && ctl_o.count == '0);
      cover (made && ours && is_ack && ctl_o.pending);
      cover (made && ours && is_ack && counts_q != '0 && !since_q);
      cover (made && ours && is_deny);
      cover (made && ours && is_ack && ack_q && acked_q);
      cover (mine_told_q && stood_q == 1'b0 && passed_q == 6'd2);
      cover (dut.turn_over && where_q == InList && behind_q == '0);
      cover (gone && view_open_i);
    end
  end
`endif
endmodule
