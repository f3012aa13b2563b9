// SPDX-License-Identifier: SHL-2.1
/// The sending side of the flows: session, next number, acknowledged number, OPEN and PROBE.
///
/// A flow is opened when there is something to send. OPEN names the session and the number of its
/// first packet; the ACK of that number opens it. A flow whose session the far end does not know
/// fails: its session ends, the host is notified, and the next one is opened at once with the
/// number that was due.
///
///   Handshake   commit_i: the next numbers of flow_i are given; never more than Window - lag_o.
///               receive_*: strobe, a control packet that has come; not in two cycles in a row.
///               own_*: valid/ready, a control packet to send; only to a flow with control_room_i.
///               It is withdrawn, and asked for again, if that falls before it is taken: a packet
///               of the receiving half has used the space, and no host may hold up the others
///               done_*: valid/ready, the newest completion word; several may become one.
///               refused_*: strobes, for the error ring
///   Ordering    acknowledged numbers only move forward, and never past the next. Two of them: the
///               receiver has taken all before the one, which opens the window; all before the
///               other is in its memory, which the completion word says. A flow waits for an ACK
///               until that one is the next, too
///   Latency     2 cycles from receive_valid_i to moved_o, and two more to done_valid_o
///   Throughput  a control packet every 2 cycles
///   Time        a flow that waits for an ACK longer than probe_cycles_i sends PROBE or OPEN, at
///               the latest after twice that; 0 counts as 1
///   Sessions    the end of one is one record of code session, which itemises no packet:
///               refused_more_o is how many were given behind the last ACK without refusals to
///               come, 4095 at most. One that cannot be opened, because the far end has another of
///               that number (this host has restarted), is not reported: the next one is tried
///   Refusals    what a REFUSED names is itemised; what its count, or an ACK's, has beyond that was
///               lost on its way or never itemised, and is reported with code 0. A flow of which
///               the far end has more to report waits for it as for an ACK. A packet with an older
///               count, which another has overtaken, is ignored: each refusal is counted once
///   Parameters  none
///   Not done    repeating data: what the far end lost or refused is reported, not sent again
module rdma_flow_tx
  import rdma_pkg::*;
  import rdma_tx_pkg::*;
(
  input  logic                clk_i,
  input  logic                rst_ni,
  input  logic                run_i,
  input  logic                clear_i,          // once for each flow, while nothing is under way
  input  flow_t               clear_flow_i,
  input  host_t               host_id_i,
  input  session_t            first_session_i,
  input  logic [31:0]         probe_cycles_i,
  input  logic [MaxHosts-1:0] want_i,           // there is something to send

  output logic [MaxHosts-1:0] open_o,
  output logic [MaxHosts-1:0] open_next_o,      // open_o of the next cycle; not of a register
  input  flow_t               flow_i,
  output seq_t                next_o,
  output session_t            session_o,
  output logic [6:0]          lag_o,            // numbers of flow_i that are not acknowledged
  input  commit_t             commit_i,

  input  logic                receive_valid_i,
  input  header_t             receive_header_i,
  input  control_t            receive_i,
  output logic                moved_o,          // strobe: numbers of moved_flow_o were acknowledged
  output flow_t               moved_flow_o,
  output logic                failed_o,         // strobe: the session of failed_flow_o has ended
  output flow_t               failed_flow_o,
  output logic                refused_valid_o,
  output flow_t               refused_flow_o,
  output logic [7:0]          refused_code_o,
  output tag_t                refused_tag_o,
  output logic [11:0]         refused_more_o,
  output logic                ignored_o,        // strobe: a control packet spoke of nothing of ours
  output logic                probe_o,          // strobe: a time ran out

  input  logic [MaxHosts-1:0] control_room_i,
  output logic                own_valid_o,
  input  logic                own_ready_i,
  output header_t             own_header_o,
  output control_t            own_o,

  output logic                done_valid_o,
  input  logic                done_ready_i,
  output flow_t               done_flow_o,
  output beat_t               done_word_o,
  output logic                idle_o
);
  // ---------------------------------------------------------------- state of the flows
  logic [MaxHosts-1:0] opening_q, open_q, outstanding_q, pending_q;
  // Some hundred flip-flops, were they not memories.
  (* ram_style = "distributed" *) session_t session_q[MaxHosts];
  (* ram_style = "distributed" *) seq_t next_q[MaxHosts];
  (* ram_style = "distributed" *) seq_t acked_q[MaxHosts];
  (* ram_style = "distributed" *) seq_t stored_q[MaxHosts];   // in the far end's memory before this
  (* ram_style = "distributed" *) logic [31:0] refusals_q[MaxHosts];
  (* ram_style = "distributed" *) tally_t heard_q[MaxHosts];  // the far end's newest count
  // Every refusal of numbers before this one was reported.
  (* ram_style = "distributed" *) seq_t sure_q[MaxHosts];
  (* ram_style = "distributed" *) logic [5:0] ended_q[MaxHosts];  // sessions

  seq_t lag;
  assign open_o    = open_q;
  assign next_o    = next_q[flow_i];
  assign session_o = session_q[flow_i];
  assign lag       = next_q[flow_i] - acked_q[flow_i];
  assign lag_o     = lag[6:0];

  // ---------------------------------------------------------------- a control packet
  // First cycle: as it came. Second: does it speak of this session, and how far does it
  // acknowledge? Third: what follows from it.
  typedef struct packed {
    flow_t       flow;
    logic        known;   // a host that there is, the present session, and a kind for us
    logic        refused;
    logic [7:0]  code;
    tag_t        tag;
    tally_t      count;
    logic        pending;
    seq_t        seq;
    seq_t        stored;
  } event_t;

  logic     in_valid_q, event_valid_q;
  header_t  in_header_q;
  control_t in_q;
  event_t   event_q;
  seq_t     in_lag, in_step, lag_q, step_q, in_due, in_more, due_q, more_q, in_doubt, doubt_q;
  tally_t   in_untold, untold_q;
  flow_t    in_flow;
  logic     late_q;  // numbers were given while it was looked at
  packets_t late_count_q, now_count;
  assign in_flow   = in_header_q.src[2:0];
  assign in_lag    = next_q[in_flow] - acked_q[in_flow];
  assign in_step   = in_header_q.seq - acked_q[in_flow];
  assign in_doubt  = next_q[in_flow] - sure_q[in_flow];
  assign in_due    = next_q[in_flow] - stored_q[in_flow];
  assign in_more   = in_q.stored - stored_q[in_flow];
  assign in_untold = in_q.count - heard_q[in_flow];
  logic unused;
  assign unused = ^{in_header_q, in_q, lag[15:7]};

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      in_valid_q    <= 1'b0;
      event_valid_q <= 1'b0;
    end else begin
      in_valid_q    <= receive_valid_i && run_i;
      event_valid_q <= in_valid_q;
    end
  end
  always_ff @(posedge clk_i) begin
    in_header_q     <= receive_header_i;
    in_q            <= receive_i;
    lag_q           <= in_lag;
    step_q          <= in_step;
    due_q           <= in_due;
    doubt_q         <= in_doubt;
    more_q          <= in_more;
    untold_q        <= in_untold;
    late_q          <= commit_i.valid && flow_i == in_flow;
    late_count_q    <= commit_i.valid && flow_i == in_flow ? commit_i.count : '0;
    event_q.flow    <= in_flow;
    event_q.known   <= in_header_q.src[6:3] == '0 && in_header_q.session == session_q[in_flow] &&
                       (in_q.control == ControlAck || in_q.control == ControlRefused);
    event_q.refused <= in_q.control == ControlRefused;
    event_q.code    <= in_q.code;
    event_q.tag     <= in_q.tag;
    event_q.count   <= in_q.count;
    event_q.pending <= in_q.pending;
    event_q.seq     <= in_header_q.seq;
    event_q.stored  <= in_q.stored;
  end

  logic is_open, is_opening, fits, whole, known, opens, moves, stores, fails, tells, heeded;
  logic turns, item;
  logic again;  // the number of the session is taken
  assign is_open    = open_q[event_q.flow];
  assign is_opening = opening_q[event_q.flow];
  assign fits       = step_q <= lag_q;
  assign whole      = step_q == lag_q;
  assign known      = event_valid_q && event_q.known;
  assign opens      = known && is_opening && !event_q.refused && event_q.code[0] && whole;
  assign moves      = known && is_open && fits && !fails && step_q != '0;
  // A number that a later packet has overtaken lies behind, so it is a large step.
  assign stores     = known && is_open && !fails && more_q <= due_q && more_q != '0;
  // An answer to an OPEN is meant for a flow that is not open; for another one it comes too late.
  assign again      = known && is_opening && event_q.refused && event_q.code == CodeSession &&
                      event_q.tag == TagOpen;
  assign fails      = known && is_open && (event_q.refused ? event_q.code == CodeSession &&
                                                             event_q.tag != TagOpen
                                                           : !event_q.code[0]);
  assign heeded     = known && is_open && !fails && !untold_q[11];
  assign tells      = heeded && untold_q != '0;
  assign turns      = heeded && event_q.pending != pending_q[event_q.flow];
  assign item       = event_q.refused && event_q.code != CodeNone;

  always_comb begin
    open_next_o = open_q;
    if (opens) open_next_o[event_q.flow] = 1'b1;
    if (fails) open_next_o[event_q.flow] = 1'b0;
    if (clear_i) open_next_o = '0;
  end

  flow_t       set_flow;
  session_t    session_next;
  logic [31:0] refusals;
  logic [5:0]  ended;
  assign set_flow     = clear_i ? clear_flow_i : event_q.flow;
  assign session_next = session_q[event_q.flow] + 8'd1;
  assign ended        = ended_q[event_q.flow] + 6'd1;
  assign refusals     = refusals_q[event_q.flow] + 32'(untold_q);

  always_ff @(posedge clk_i) begin
    // Write address and data do not depend on the write enable, which is late.
    if (clear_i || opens || moves) acked_q[set_flow] <= clear_i ? '0 : event_q.seq;
    if (clear_i || opens || stores) begin
      stored_q[set_flow] <= clear_i ? '0 : opens ? event_q.seq : event_q.stored;
    end
    if (clear_i || fails || again) begin
      session_q[set_flow] <= clear_i ? first_session_i : session_next;
    end
    if (clear_i || fails) ended_q[set_flow] <= clear_i ? '0 : ended;
    if (clear_i || opens || (heeded && fits && !event_q.pending)) begin
      sure_q[set_flow] <= clear_i ? '0 : event_q.seq;
    end
    if (clear_i || tells) refusals_q[set_flow] <= clear_i ? '0 : refusals;
    if (opens || tells) heard_q[event_q.flow] <= event_q.count;
    if (clear_i || commit_i.valid) begin
      next_q[clear_i ? clear_flow_i : flow_i] <=
          clear_i ? '0 : next_q[flow_i] + seq_t'(commit_i.count);
    end
  end

  // ---------------------------------------------------------------- time
  // old_q: waiting since before the last tick.
  logic [31:0] timer_q;
  logic [MaxHosts-1:0] old_q, awaiting;
  logic tick;
  assign awaiting = {MaxHosts{run_i}} & (opening_q | (open_q & (outstanding_q | pending_q)));
  assign tick     = timer_q == '0 && awaiting != '0;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) timer_q <= '0;
    else if (awaiting == '0) timer_q <= '0;
    else if (tick) timer_q <= probe_cycles_i;
    else timer_q <= timer_q - 32'd1;
  end

  // --------------------------------------------------------------- what is to be sent and reported
  logic [MaxHosts-1:0] ask_q, news_q, ask_ready, own_pick, done_pick, begins;
  flow_t own_flow, own_flow_q, done_flow, done_flow_q;
  logic  own_free, own_choose, own_chosen_q, done_choose, done_chosen_q, done_load;
  logic  own_withdraw;
  logic [MaxHosts-1:0] own_back;

  assign begins    = want_i & ~opening_q & ~open_q & {MaxHosts{run_i}};
  // What is next is chosen a cycle ahead. It is not loaded in the cycle in which one is taken: the
  // take is known late.
  assign own_free    = run_i && !own_chosen_q && !own_valid_o;
  assign ask_ready   = ask_q & control_room_i & {MaxHosts{own_free}};
  assign own_choose  = ask_ready != '0;
  assign own_withdraw = own_valid_o && !control_room_i[own_flow_q];
  assign own_back     = {MaxHosts{own_withdraw}} & (MaxHosts'(1) << own_flow_q) & awaiting;
  assign done_choose = !done_chosen_q && news_q != '0;
  assign done_load   = !done_valid_o && done_chosen_q;

  arb_rr #(.NumReq(MaxHosts)) u_own (
    .clk_i,
    .rst_ni,
    .req_i (ask_ready),
    .last_i(1'b1),
    .gnt_o (own_pick),
    .idx_o (own_flow)
  );
  arb_rr #(.NumReq(MaxHosts)) u_done (
    .clk_i,
    .rst_ni,
    .req_i (news_q & {MaxHosts{!done_chosen_q}}),
    .last_i(1'b1),
    .gnt_o (done_pick),
    .idx_o (done_flow)
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      opening_q     <= '0;
      open_q        <= '0;
      outstanding_q <= '0;
      pending_q     <= '0;
      old_q         <= '0;
      ask_q         <= '0;
      news_q        <= '0;
      own_valid_o   <= 1'b0;
      own_chosen_q  <= 1'b0;
      done_valid_o  <= 1'b0;
      done_chosen_q <= 1'b0;
      probe_o       <= 1'b0;
    end else begin
      probe_o   <= tick && (old_q & awaiting) != '0;
      opening_q <= opening_q | begins;
      old_q     <= tick ? awaiting : old_q & awaiting;
      // A first OPEN goes at once, later ones and PROBE when their time has come.
      ask_q     <= ((ask_q | (old_q & awaiting & {MaxHosts{tick}})) & (opening_q | open_q) &
                    ~own_pick) | begins | own_back;
      news_q    <= news_q & ~done_pick;
      if (opens || stores || fails || tells || turns) news_q[event_q.flow] <= 1'b1;
      if (opens) begin
        opening_q[event_q.flow] <= 1'b0;
        ask_q[event_q.flow]     <= 1'b0;
      end
      if (moves || stores) old_q[event_q.flow] <= 1'b0;
      if (stores && more_q == due_q && !late_q) outstanding_q[event_q.flow] <= 1'b0;
      if (heeded) pending_q[event_q.flow] <= event_q.pending;
      if (commit_i.valid) outstanding_q[flow_i] <= 1'b1;
      if (opens) outstanding_q[event_q.flow] <= 1'b0;
      if (again) ask_q[event_q.flow] <= 1'b1;
      if (fails) begin
        opening_q[event_q.flow] <= 1'b1;
        pending_q[event_q.flow] <= 1'b0;
        old_q[event_q.flow]     <= 1'b0;
        ask_q[event_q.flow]     <= 1'b1;
      end
      if (clear_i) begin
        opening_q     <= '0;
        outstanding_q <= '0;
        pending_q     <= '0;
        ask_q         <= '0;
        news_q        <= '0;
      end
      open_q <= open_next_o;
      own_chosen_q <= own_choose && !clear_i;
      if (own_chosen_q && !clear_i) own_valid_o <= 1'b1;
      else if (own_ready_i || own_withdraw || clear_i) own_valid_o <= 1'b0;
      done_valid_o  <= done_valid_o ? !done_ready_i : done_chosen_q && !clear_i;
      done_chosen_q <= (done_choose || (done_chosen_q && !done_load)) && !clear_i;
    end
  end

  header_t header;
  control_t control;
  always_comb begin
    header         = '0;
    header.seq     = next_q[own_flow_q];
    header.session = session_q[own_flow_q];
    header.src     = host_id_i;
    header.dst     = host_t'(own_flow_q);
    header.kind    = KindControl;
    control         = '0;
    control.control = opening_q[own_flow_q] ? ControlOpen : ControlProbe;
  end
  always_ff @(posedge clk_i) begin
    if (own_chosen_q) begin
      own_header_o <= header;
      own_o        <= control;
    end
    if (own_free) own_flow_q <= own_flow;
    if (!done_chosen_q) done_flow_q <= done_flow;
    if (done_load) begin
      done_flow_o <= done_flow_q;
      done_word_o <= completion_t'{
          refusals:     refusals_q[done_flow_q],
          session:      session_q[done_flow_q],
          ended:        ended_q[done_flow_q],
          pending:      pending_q[done_flow_q],
          open:         open_q[done_flow_q],
          acknowledged: stored_q[done_flow_q]
      };
    end
  end

  // ---------------------------------------------------------------- to the others
  seq_t doubt;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      moved_o         <= 1'b0;
      failed_o        <= 1'b0;
      refused_valid_o <= 1'b0;
      ignored_o       <= 1'b0;
    end else begin
      moved_o         <= opens || moves;
      failed_o        <= fails;
      refused_valid_o <= fails || tells;
      ignored_o       <= event_valid_q && !(opens || again || moves || stores || fails || tells) &&
                         !(known && is_open && fits);
    end
  end
  always_ff @(posedge clk_i) begin
    moved_flow_o   <= event_q.flow;
    failed_flow_o  <= event_q.flow;
    refused_flow_o <= event_q.flow;
    refused_code_o <= fails ? CodeSession : item ? event_q.code : CodeNone;
    refused_tag_o  <= event_q.refused ? event_q.tag : '0;
    refused_more_o <= !fails ? untold_q - 12'(item) : doubt[15:12] != '0 ? '1 : doubt[11:0];
  end
  // Numbers that the end of a session takes with it, those given until open_o falls included.
  assign doubt     = doubt_q + 16'(late_count_q) + 16'(now_count);
  assign now_count = commit_i.valid && flow_i == event_q.flow ? commit_i.count : '0;

  assign idle_o = !in_valid_q && !event_valid_q && !receive_valid_i && awaiting == '0 &&
                  begins == '0 && !own_chosen_q && !own_valid_o && !done_valid_o &&
                  !done_chosen_q && news_q == '0 &&
                  !moved_o && !failed_o && !refused_valid_o &&
                  !ignored_o && !probe_o && timer_q == '0 && !commit_i.valid;
endmodule
