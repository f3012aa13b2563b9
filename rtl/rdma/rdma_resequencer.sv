// SPDX-License-Identifier: SHL-2.1
/// Flows and their windows: which packets are taken, when they are retired, which are lost.
///
/// Each flow has Window places. A packet takes the one of its number; it is done when its payload
/// is in memory or was refused; places are retired in the order of the numbers, and only then is
/// done what a packet asks for. One operation at a time: done, take, control, frame, retire, look
/// for gaps, open. rdma_turns chooses it, rdma_flows and rdma_places hold what it reads and writes,
/// rdma_gaps looks for lost packets, rdma_acts holds what is asked for.
///
///   Take        ask_valid_i/ask_ready_o, ask_i; verdict_o.valid strobes, and for VerdictOk the
///               place is taken. info_i: what is to be kept of it, before it is done
///   Done        answer_valid_i/answer_ready_o: a write was answered.
///               refused_i, until refused_ready_o: a taken packet was refused, its code is in its
///               info; with refused_i.spoilt it was none, its place waits again
///   Control     control_i, until control_ready_o: OPEN and PROBE
///   Act         act_valid_o/act_ready_i: a message's frame word, or what a retired place asks for.
///               act_owes_i with act_ready_i: a WroteNotice answer will follow
///   Order       a place is retired after every lower number of its flow; an act of a retired place
///               is offered when every lower place's payload has been answered
///   Lost        a place that is empty while a higher number is known is retired after 1 to 2
///               lost_cycles_i, as are all empty ones below what was known then; 0: never
///   Open        a new session begins when no write and no act of the flow is under way: then its
///               places are emptied and ack_o strobes. OPEN of the session that is open changes
///               nothing: with the number that it began with, and nothing received, it is a repeat.
///               Else it is a source that has started again with the same session, or a repeat that
///               later packets have overtaken: deny_o.open, which only the first heeds
///   Numbers     number_o with ack_o, flush_o or begin_o: of its flow
///   Latency     an operation takes 3 cycles, a retirement behind a retirement 4; ask to verdict 3
///               when nothing else is to be done
///   Throughput  a packet costs 3 operations: 9 cycles
///   Start       the memories are emptied in 512 cycles after reset (ready_o)
///   Parameters  NumHosts 2..8
///   Not done    what an act does, and which host is notified
module rdma_resequencer
  import rdma_pkg::*;
  import rdma_rx_pkg::*;
#(
  parameter int unsigned NumHosts = 8
) (
  input logic clk_i,
  input logic rst_ni,
  input logic enable_i,             // low: every flow is closed
  input logic [31:0] lost_cycles_i,

  output logic       ready_o,
  output logic       clear_o,       // other memories are emptied in step
  output logic [8:0] clear_index_o,

  input  logic         ask_valid_i,
  output logic         ask_ready_o,
  input  ask_t         ask_i,
  output verdict_t     verdict_o,
  input  info_write_t  info_i,
  input  refuse_t      refused_i,
  output logic         refused_ready_o,
  input  logic         answer_valid_i,
  output logic         answer_ready_o,
  input  answer_t      answer_i,
  input  control_ask_t control_i,
  output logic         control_ready_o,

  output logic frame_o,             // a frame word waits, or is being made an act
  output logic frames_o,            // frame words wait: no new message's body may be begun
  output logic act_valid_o,
  input  logic act_ready_i,
  input  logic act_owes_i,
  output act_t act_o,

  // To rdma_flush: strobes of one flow, and its next number.
  output logic [NumHosts-1:0] ack_o,
  output logic [NumHosts-1:0] flush_o,
  output logic [NumHosts-1:0] begin_o,
  output flow_number_t        number_o,
  // To rdma_ack: strobes, and what a control packet says.
  output deny_t               deny_o,
  output refusal_event_t      refuse_o,
  input  flow_t               view_src_i,
  output flow_view_t          view_o,

  output flow_events_t        events_o,  // strobes for counters
  output logic                idle_o
);
  if (NumHosts < 2 || NumHosts > MaxHosts) begin : gen_hosts_check
    $error("rdma_resequencer: NumHosts is %0d, legal is 2..%0d", NumHosts, MaxHosts);
  end

  typedef enum logic [1:0] {StClear, StIdle, StLook, StDo} state_e;
  typedef logic [NumHosts-1:0] hosts_t;

  state_e state_q;
  logic [8:0] clear_q;
  logic now, idle, any;
  assign now  = state_q == StDo;
  assign idle = state_q == StIdle;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= StClear;
      clear_q <= '0;
    end else begin
      unique case (state_q)
        StClear: begin
          clear_q <= clear_q + 9'd1;
          if (clear_q == '1) state_q <= StIdle;
        end
        StIdle:  if (any) state_q <= StLook;
        StLook:  state_q <= StDo;
        default: state_q <= StIdle;
      endcase
    end
  end

  // ---------------------------------------------------------------- first cycle: which operation
  flow_step_t step;
  logic [8:0] look_addr;
  logic act_busy, settle, tick, wake, turns_rest, gaps_rest, done_packet, stay, begin_open;
  flow_t settle_src, opening_src, walk_src;
  place_t walk_place, open_place;
  hosts_t opened, opening, scan;

  rdma_turns #(.NumHosts(NumHosts)) u_turns (
    .clk_i,
    .rst_ni,
    .enable_i,
    .idle_i       (idle),
    .do_i         (now),
    .done_i       (done_packet),
    .stay_i       (stay),
    .wake_i       (wake),
    .begins_i     (begin_open),
    .answer_valid_i,
    .answer_ready_o,
    .answer_i,
    .refused_i,
    .refused_ready_o,
    .ask_valid_i,
    .ask_ready_o,
    .ask_i,
    .control_i,
    .control_ready_o,
    .act_busy_i   (act_busy),
    .settle_i     (settle),
    .settle_src_i (settle_src),
    .tick_i       (tick),
    .scan_i       (scan),
    .opening_i    (opening),
    .opening_src_i(opening_src),
    .walk_src_o   (walk_src),
    .walk_place_i (walk_place),
    .valid_o      (any),
    .step_o       (step),
    .place_o      (look_addr),
    .frame_o,
    .frames_o,
    .rest_o       (turns_rest)
  );

  // ---------------------------------------------------------------- second cycle: look
  flow_state_t flow;
  logic at_limit, give_up, take, retire, empty_one;
  place_state_e place_state, place_state_q;
  info_t info;
  seq_t offset_q;
  near_t known_q;      // numbers from base to top
  logic same_q, quiet_q, at_limit_q, done_packet_q;
  logic notify_q, irq_q, completion_q;

  rdma_places u_places (
    .clk_i,
    .clear_i      (clear_o),
    .clear_index_i(clear_q),
    .step_i       (step),
    .base_i       (flow.base[PlaceWidth-1:0]),
    .open_place_i (open_place),
    .take_i       (take),
    .done_i       (done_packet),
    .empty_i      (retire || empty_one),
    .info_i,
    .state_re_i   (idle),
    .info_re_i    (idle && !act_busy),  // an act's word is held
    .raddr_i      (look_addr),
    .state_o      (place_state),
    .info_o       (info)
  );

  always_ff @(posedge clk_i) begin
    if (state_q == StLook) begin
      offset_q      <= step.seq - flow.base;
      done_packet_q <= step.op == OpRefused || (step.op == OpAnswer &&
                       (step.wrote == WrotePacket || step.wrote == WroteFrame));
      known_q       <= flow.top - flow.base[6:0];
      same_q        <= step.session == flow.session;
      quiet_q       <= flow.pending == '0;
      at_limit_q    <= at_limit;
      place_state_q <= place_state;
      notify_q      <= info.notify;
      irq_q         <= info.irq;
      completion_q  <= info.completion;
    end
  end

  // ---------------------------------------------------------------- third cycle: do
  logic in_window, mine, fresh, take_top, retire_lost, give_act, pending_up, pending_down;
  logic end_open, probe_new, deny, stale_open;

  // A packet's write or refusal has come to its end.
  assign done_packet = now && done_packet_q;
  assign in_window   = offset_q[15:6] == '0;
  assign mine        = flow.opened && same_q;
  assign fresh       = mine && in_window && place_state_q == PlaceEmpty;
  assign take        = now && step.op == OpTake && fresh;
  assign take_top    = take && offset_q[6:0] >= known_q;

  // Retire: what is done, or what is lost.
  logic is_done, is_broken;
  assign is_broken   = place_state_q == PlaceRefused || place_state_q == PlaceBroken;
  assign is_done     = place_state_q == PlaceDone || is_broken;
  assign retire_lost = now && step.op == OpRetire && flow.opened && place_state_q == PlaceEmpty &&
                       give_up && !at_limit_q;
  assign retire      = retire_lost || (now && step.op == OpRetire && flow.opened && is_done);
  assign stay        = now && step.op == OpRetire && !retire;
  assign give_act    = (now && step.op == OpFrame) || retire_lost ||
                       (retire && (is_broken || notify_q || irq_q));

  // Open: empty places, one an operation, while nothing of the flow is under way.
  assign empty_one  = now && step.op == OpOpen && flow.opening && quiet_q;
  assign end_open   = empty_one && open_place == '1;
  assign begin_open = now && step.op == OpControl && step.open && !mine;
  assign probe_new  = now && step.op == OpControl && !step.open && mine &&
                      offset_q <= seq_t'(Window) && offset_q[6:0] > known_q;
  assign stale_open = now && step.op == OpControl && step.open && mine &&
                      !(offset_q == '0 && known_q == '0);
  assign deny       = (now && enable_i && !flow.opening && !mine &&
                       ((step.op == OpTake && !flow.denied) ||
                        (step.op == OpControl && !step.open))) || stale_open;

  // Which operation it is says what is written: that comes early.
  seq_t base_next;
  flow_change_t change;
  assign base_next    = flow.base + 16'd1;
  assign pending_up   = take || (now && step.op == OpRetire && give_act);
  assign pending_down = done_packet ||
                        (now && step.op == OpAnswer && step.wrote == WroteNotice);
  assign change = '{
    base_we: retire || begin_open,
    base: step.op == OpRetire ? base_next : step.seq,
    top_we: take_top || probe_new || begin_open,
    top: take_top ? step.seq[6:0] + 7'd1 : step.seq[6:0],
    pending_we: pending_up || pending_down,
    pending: flow.pending + (step.op inside {OpTake, OpRetire} ? near_t'(1) : '1),
    begins: begin_open,
    session: step.session,
    opens: now && step.op == OpOpen,
    emptied: empty_one,
    ends: end_open,
    denies: step.op == OpTake && deny,
    fails: retire && (is_broken || retire_lost),
    notifies: retire && !retire_lost && notify_q
  };

  rdma_flows #(.NumHosts(NumHosts)) u_flows (
    .clk_i,
    .rst_ni,
    .enable_i,
    .clear_i      (clear_o),
    .clear_src_i  (clear_q[8:6]),
    .src_i        (step.src),
    .flow_o       (flow),
    .change_i     (change),
    .view_src_i,
    .view_o,
    .walk_src_i   (walk_src),
    .walk_place_o (walk_place),
    .opened_o     (opened),
    .opening_o    (opening),
    .opening_src_o(opening_src),
    .open_place_o (open_place)
  );

  gap_step_t gap_step;
  assign gap_step = '{
    watch: take || probe_new,
    begins: begin_open,
    walked: now && step.op == OpRetire,
    retired: retire,
    scanned: now && step.op == OpScan,
    gap: flow.opened && place_state_q == PlaceEmpty && known_q != '0,
    at_limit: at_limit_q,
    known: known_q,
    top: flow.top
  };

  rdma_gaps #(.NumHosts(NumHosts)) u_gaps (
    .clk_i,
    .rst_ni,
    .enable_i,
    .lost_cycles_i,
    .opened_i  (opened),
    .src_i     (step.src),
    .base_i    (flow.base[6:0]),
    .step_i    (gap_step),
    .give_up_o (give_up),
    .at_limit_o(at_limit),
    .wake_o    (wake),
    .tick_o    (tick),
    .scan_o    (scan),
    .rest_o    (gaps_rest)
  );

  // ---------------------------------------------------------------- out
  logic [3:0] code;
  act_t act;
  always_comb begin
    code = 4'(CodeNone);
    if (retire_lost) code = 4'(CodeLost);
    else if (place_state_q == PlaceBroken) code = 4'(CodeWrite);
    else if (place_state_q == PlaceRefused) code = info.code;
  end
  assign act = '{
    frame: step.op == OpFrame,
    lost: retire_lost,
    failed: step.op == OpFrame ? step.body_failed : flow.failed || is_broken || retire_lost,
    spoilt: step.body_spoilt,
    code: step.op == OpFrame ? '0 : code,
    src: step.src,
    place: step.place,
    info: info
  };

  rdma_acts u_acts (
    .clk_i,
    .rst_ni,
    .give_i        (give_act),
    .act_i         (act),
    .busy_o        (act_busy),
    .act_valid_o,
    .act_ready_i,
    .act_owes_i,
    .act_o,
    .settle_o      (settle),
    .settle_src_o  (settle_src),
    .settle_ready_i(idle)
  );

  hosts_t one;
  logic verdict_valid_q, deny_q, deny_open_q, refuse_q;
  session_t deny_session_q;
  verdict_e verdict_q;
  refusal_t refusal_q;
  assign one = hosts_t'(1) << step.src;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      verdict_valid_q <= 1'b0;
      ack_o           <= '0;
      flush_o         <= '0;
      begin_o         <= '0;
      deny_q          <= 1'b0;
      refuse_q        <= 1'b0;
      events_o        <= '0;
    end else begin
      verdict_valid_q <= now && step.op == OpTake;
      // A window opens at once; what speaks of memory waits until it is there.
      ack_o           <= (retire && base_next[3:0] == '0) || end_open ? one : '0;
      flush_o         <= (retire && !retire_lost && completion_q) ||
                         (now && step.op == OpControl && mine && !stale_open) ? one : '0;
      begin_o         <= begin_open ? one : '0;
      deny_q          <= deny;
      refuse_q        <= retire && (is_broken || retire_lost);
      events_o        <= '{retired: retire, lost: retire_lost, opened: end_open};
    end
  end

  always_ff @(posedge clk_i) begin
    if (now) begin
      number_o       <= '{src: step.src,
                          number: retire ? base_next : begin_open ? step.seq : flow.base};
      deny_open_q    <= step.op == OpControl && step.open;
      deny_session_q <= step.session;
      refusal_q      <= '{src: step.src, session: flow.session, code: code,
                          tag: retire_lost ? '0 : info.tag};
      if (!mine) verdict_q <= VerdictNotOpen;
      else if (fresh) verdict_q <= VerdictOk;
      else if (in_window || offset_q[15]) verdict_q <= VerdictKnown;
      else verdict_q <= VerdictBeyond;
    end
  end
  assign verdict_o = '{valid: verdict_valid_q, verdict: verdict_q};
  assign refuse_o  = '{valid: refuse_q, refusal: refusal_q};
  assign deny_o    = '{valid: deny_q, src: number_o.src, session: deny_session_q,
                       open: deny_open_q};

  assign clear_o       = state_q == StClear;
  assign ready_o       = !clear_o;
  assign clear_index_o = clear_q;
  assign idle_o        = idle && !act_valid_o && turns_rest && gaps_rest;
endmodule
