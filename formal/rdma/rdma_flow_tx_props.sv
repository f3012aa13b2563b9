// SPDX-License-Identifier: SHL-2.1
/// rdma_flow_tx: numbers and sessions of one flow, whatever control packets come; each refusal that
/// the far end counts is reported once; a far end that has more to report is waited for, and so
/// is one that does not have all in memory.
///
/// Numbers are given within the window that lag_o shows; that is proved of rdma_send. Together:
/// never more than Window numbers are given and not acknowledged.
module rdma_flow_tx_props
  import rdma_pkg::*;
  import rdma_tx_pkg::*;
(
  input logic                clk_i,
  input logic                run_i,
  input host_t               host_id_i,
  input session_t            first_session_i,
  input logic [31:0]         probe_cycles_i,
  input logic [MaxHosts-1:0] want_i,
  input flow_t               flow_i,
  input commit_t             commit_i,
  input logic                receive_valid_i,
  input header_t             receive_header_i,
  input control_t            receive_i,
  input logic [MaxHosts-1:0] control_room_i,
  input logic                own_ready_i,
  input logic                done_ready_i
);
  localparam flow_t Watch = 3'd5;

  logic rst_ni, clear_i, moved_o, failed_o, refused_valid_o, ignored_o, probe_o, own_valid_o;
  flow_t clear_flow_i, moved_flow_o, failed_flow_o, refused_flow_o, done_flow_o;
  logic [MaxHosts-1:0] open_o, open_next_o;
  seq_t next_o;
  session_t session_o;
  logic [6:0] lag_o;
  logic [7:0] refused_code_o;
  tag_t refused_tag_o;
  logic [11:0] refused_more_o;
  header_t own_header_o;
  control_t own_o;
  logic done_valid_o, idle_o;
  beat_t done_word_o;

  rdma_flow_tx dut (.*);

  // Reset, then the watched flow is cleared, then all begins.
  logic started_q = 1'b0;
  logic live_q = 1'b0;
  always_ff @(posedge clk_i) begin
    started_q <= 1'b1;
    live_q    <= started_q;
  end
  assign rst_ni       = started_q;
  assign clear_i      = started_q && !live_q;
  assign clear_flow_i = Watch;

  seq_t next, acked, lag, stored, stored_q, sure, doubt;
  session_t session;
  logic open, commit;
  assign next    = dut.next_q[Watch];
  assign acked   = dut.acked_q[Watch];
  assign stored  = dut.stored_q[Watch];
  assign sure    = dut.sure_q[Watch];
  assign doubt   = next - sure;
  assign session = dut.session_q[Watch];
  assign lag     = next - acked;
  assign open    = open_o[Watch];
  assign commit  = commit_i.valid && flow_i == Watch;

  // ---------------------------------------------------------------- a clock ago
  logic was_live_q = 1'b0;
  logic own_room_q, waiting_q;
  logic valid_q, open_q, own_valid_q, own_ready_q, done_valid_q, done_ready_q, commit_q;
  seq_t acked_q, next_q;
  session_t session_q;
  header_t own_header_q;
  control_t own_q;
  beat_t done_word_q;
  flow_t done_flow_q;
  packets_t count_q;
  logic [1:0][15:0] lag_was_q;
  // The control packet that takes effect in this cycle, as it came.
  header_t [1:0] came_header_q;
  control_t [1:0] came_q;
  logic [1:0] came_valid_q;
  always_ff @(posedge clk_i) begin
    valid_q       <= started_q && receive_valid_i;
    was_live_q    <= live_q;
    open_q        <= open;
    own_valid_q   <= live_q && own_valid_o;
    own_ready_q   <= own_ready_i;
    own_room_q    <= control_room_i[own_header_o.dst[2:0]];
    waiting_q     <= dut.awaiting[Watch];
    own_header_q  <= own_header_o;
    own_q         <= own_o;
    done_valid_q  <= live_q && done_valid_o;
    done_ready_q  <= done_ready_i;
    done_word_q   <= done_word_o;
    done_flow_q   <= done_flow_o;
    acked_q       <= acked;
    stored_q      <= stored;
    next_q        <= next;
    session_q     <= session;
    commit_q      <= commit;
    count_q       <= commit_i.count;
    came_header_q <= {came_header_q[0], receive_header_i};
    came_q        <= {came_q[0], receive_i};
    came_valid_q  <= started_q ? {came_valid_q[0], receive_valid_i && run_i} : '0;
  end

  logic here;  // it speaks of the watched flow
  assign here = came_valid_q[1] && came_header_q[1].src[2:0] == Watch;

  // What the third cycle has made of it.
  logic effect_q, effect_here_q;
  header_t effect_header_q;
  control_t effect_control_q;
  logic effect_open_q, effect_opening_q;
  session_t effect_session_q;
  always_ff @(posedge clk_i) begin
    effect_q         <= came_valid_q[1];
    effect_here_q    <= here;
    effect_header_q  <= came_header_q[1];
    effect_control_q <= came_q[1];
    effect_open_q    <= open;
    effect_opening_q <= dut.opening_q[Watch];
    effect_session_q <= session;
  end

  logic moved, renewed;
  assign moved   = acked != acked_q;
  assign renewed = session != session_q;

  // ---------------------------------------------------------------- refusals
  tally_t heard, heard_q, ahead;
  logic [31:0] refusals, refusals_q;
  logic accepted, told, more, more_q;
  assign heard    = dut.heard_q[Watch];
  assign refusals = dut.refusals_q[Watch];
  assign ahead    = effect_control_q.count - heard_q;
  // A packet of the open flow that does not end it.
  assign accepted = effect_q && effect_here_q && effect_open_q && open &&
      effect_header_q.src[6:3] == '0 &&
                    effect_header_q.session == effect_session_q &&
                    (effect_control_q.control == ControlAck ||
                     effect_control_q.control == ControlRefused);
  assign told     = was_live_q && refused_valid_o && refused_flow_o == Watch && !renewed;
  // The newest packet said that there is more to report.
  always_ff @(posedge clk_i) begin
    heard_q    <= heard;
    refusals_q <= refusals;
    more_q     <= live_q && more;
  end
  always_comb begin
    more = open && more_q;
    if (accepted && !ahead[11]) more = effect_control_q.pending;
  end

  always_comb begin
    if (started_q) begin
      if (!live_q) assume (!run_i && !commit_i.valid && !receive_valid_i);
      assume (!(valid_q && receive_valid_i));
      // rdma_segment takes a packet only where there is room.
      if (own_valid_o && !control_room_i[own_header_o.dst[2:0]]) assume (!own_ready_i);
      // rdma_send's side of the window; and it gives numbers in open flows alone.
      // As rdma_flush keeps it: an ACK opens a window only where memory is no more than some 4200
      // behind.
      assume (16'(next - stored) < 16'd16384);
      if (commit)
        assume (open && commit_i.count >= 4'd1 && 16'(lag_o) + 16'(commit_i.count) <= 16'd64);
    end
    if (live_q) begin
      // The window.
      assert (lag <= 16'd64);
      if (flow_i == Watch) assert (lag_o == lag[6:0] && next_o == next && session_o == session);
    end
    if (was_live_q) begin
      // Numbers only go forward, by what is given.
      assert (next == next_q + (commit_q ? 16'(count_q) : '0));
      // Acknowledged is only what was given, never less than before; only by an ACK or REFUSED of
      // this host and session.
      if (moved) begin
        assert (16'(acked - acked_q) <= 16'(next_q - acked_q));
        assert (effect_q && effect_here_q && effect_header_q.seq == acked);
        assert (effect_header_q.src[6:3] == '0 && effect_header_q.session == session_q);
        assert (effect_control_q.control == ControlAck ||
                effect_control_q.control == ControlRefused);
        assert (!renewed);
      end
      // In the far end's memory is what its packet says and what was given, never less than before.
      if (stored != stored_q) begin
        assert (effect_q && effect_here_q && !renewed);
        assert (effect_header_q.src[6:3] == '0 && effect_header_q.session == session_q);
        if (open_q) begin
          assert (stored == effect_control_q.stored && dut.news_q[Watch]);
          assert (16'(stored - stored_q) <= 16'(next_q - stored_q));
        end else assert (open && stored == acked);
      end
      // A far end that does not have all in its memory is asked, whatever was acknowledged.
      if (open && stored != next) assert (dut.outstanding_q[Watch]);
      // A session ends only when its far end says so, and while it is open; the next one counts up.
      // One that is not open yet is passed over, untold,
      // where the far end has another of its number.
      if (renewed && !open_q) begin
        assert (session == session_q + 8'd1 && !open && !failed_o && dut.opening_q[Watch] &&
                dut.ask_q[Watch]);
        assert (effect_q && effect_here_q && effect_header_q.session == session_q);
        assert (effect_control_q.control == ControlRefused && effect_control_q.tag == TagOpen);
      end else if (renewed) begin
        assert (session == session_q + 8'd1 && open_q && !open && failed_o && refused_valid_o);
        assert (effect_q && effect_here_q && effect_header_q.session == session_q);
        assert (refused_code_o == CodeSession && refused_flow_o == Watch && failed_flow_o == Watch);
        // All that was given and not acknowledged, what was given in the last two cycles included.
        assert (refused_more_o == (doubt[15:12] != '0 ? 12'hFFF : doubt[11:0]));
      end
      // A flow opens only on the ACK of the number that its OPEN names.
      if (open && !open_q) begin
        assert (acked == next && effect_q && effect_here_q && effect_control_q.code[0]);
        assert (effect_control_q.control == ControlAck && effect_header_q.seq == next);
        assert (effect_header_q.session == session);
      end
      if (!open && open_q) assert (renewed);
      // What a packet's count has beyond the last one is reported, and counted for the host: once,
      // and no more.
      if (accepted && ahead != '0 && !ahead[11]) assert (told && heard == effect_control_q.count);
      if (told) begin
        assert (accepted && ahead != '0 && !ahead[11] && refusals == refusals_q + 32'(ahead));
        assert (ahead == refused_more_o + tally_t'(refused_code_o != CodeNone));
        if (refused_code_o != CodeNone) begin
          assert (effect_control_q.control == ControlRefused &&
                  refused_code_o == effect_control_q.code &&
                  refused_tag_o == effect_control_q.tag);
        end
      end
      if (refusals != refusals_q && live_q) assert (told);
      // A session's counts begin with the ACK that opens it.
      if (open && !open_q) assert (heard == effect_control_q.count);
      else if (!told) assert (heard == heard_q);
      // A far end that has more to report is waited for: PROBE asks.
      if (more) assert (dut.awaiting[Watch] || !run_i);
      // And the host knows.
      if (more != more_q && open && open_q) assert (dut.news_q[Watch]);
      if (own_valid_o) assert (own_header_o.dst == host_t'(dut.own_flow_q) && !dut.own_chosen_q);
      // An offer holds until it is taken; one of a flow without room is withdrawn,
      // and asked for again.
      if (own_valid_q && !own_ready_q) begin
        assert (own_valid_o == own_room_q);
        if (own_valid_o) assert (own_header_o == own_header_q && own_o == own_q);
        else if (own_header_q.dst == host_t'(Watch) && waiting_q &&
                 (dut.opening_q[Watch] || open)) begin
          assert (dut.ask_q[Watch] || effect_q);
        end
      end
      if (done_valid_q && !done_ready_q) begin
        assert (done_valid_o && done_word_o == done_word_q && done_flow_o == done_flow_q);
      end
    end

    // Inductive strengthening.
    if (live_q) begin
      assert (!(dut.opening_q[Watch] && open));
      assert (dut.in_valid_q == came_valid_q[0] && dut.event_valid_q == came_valid_q[1]);
      assert (!(came_valid_q[0] && came_valid_q[1]) && !(effect_q && came_valid_q[1]));
      assert (came_valid_q[0] == 1'b0 || valid_q);
      if (came_valid_q[0]) begin
        assert (dut.in_header_q == came_header_q[0] && dut.in_q == came_q[0]);
      end
      if (came_valid_q[1]) begin
        assert (dut.event_q.flow == came_header_q[1].src[2:0]);
        assert (dut.event_q.seq == came_header_q[1].seq && dut.event_q.code == came_q[1].code);
        assert (dut.event_q.refused == (came_q[1].control == ControlRefused));
      end
      if (here) begin
        assert (dut.event_q.known == (came_header_q[1].src[6:3] == '0 &&
                came_header_q[1].session == session &&
                (came_q[1].control == ControlAck || came_q[1].control == ControlRefused)));
        assert (dut.step_q == 16'(dut.event_q.seq - acked));
        assert (dut.event_q.stored == came_q[1].stored &&
                dut.more_q == 16'(dut.event_q.stored - stored));
        assert (16'(next - sure - dut.doubt_q) == (dut.late_q ? 16'(dut.late_count_q) : '0));
        assert (16'(next - stored - dut.due_q) == (dut.late_q ? 16'(dut.late_count_q) : '0));
        assert (dut.lag_q <= lag && dut.lag_q <= 16'd64);
        if (!open) assert (dut.lag_q == lag || was_live_q && open_q);
      end
      assert (dut.pending_q[Watch] == more);
      if (here) begin
        assert (dut.event_q.count == came_q[1].count && dut.event_q.pending == came_q[1].pending);
        assert (dut.event_q.tag == came_q[1].tag);
        assert (dut.untold_q == tally_t'(dut.event_q.count - heard));
      end
      assert (dut.u_own.owner_q == '0 && dut.u_done.owner_q == '0);

      cover (stored != stored_q && stored != acked && was_live_q);
      cover (moved && lag == 16'd3 && acked != 16'd0);
      cover (renewed && acked != '0);
      cover (told && refused_code_o == CodeNone);
      cover (told && refused_code_o != CodeNone && refused_more_o != '0);
      cover (more && lag == '0);
      cover (open && session == first_session_i + 8'd1 && session != '0 && was_live_q);
    end
  end
endmodule
