// SPDX-License-Identifier: SHL-2.1
/// Flows and their windows: which packets are taken, when they are retired, which are lost.
///
/// Each flow has Window places. A packet takes the one of its number; it is done when its payload
/// is in memory or was refused; places are retired in the order of the numbers, and only then is
/// done what a packet asks for. One operation at a time: done, take, control, frame, retire, look
/// for gaps, open.
///
///   Take        ask_valid_i/ask_ready_o, ask_i; verdict_valid_o strobes with verdict_o, and for
///               VerdictOk the place is taken. info_we_i: what is to be kept of it, before it is
///               done
///   Done        answer_valid_i/answer_ready_o: a write was answered.
///               refused_valid_i/refused_ready_o: a taken packet was refused, its code is in its
///               info; with refused_void_i it was none, its place waits again
///   Control     open_i/probe, as asks: control_valid_i/control_ready_o
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
///               later packets have overtaken: deny_open_o, which only the first heeds
///   Numbers     number_o with ack_o, flush_o or begin_o: of number_src_o
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

  input  logic     ask_valid_i,
  output logic     ask_ready_o,
  input  ask_t     ask_i,
  output logic     verdict_valid_o,
  output verdict_e verdict_o,

  input logic   info_we_i,
  input flow_t  info_src_i,
  input place_t info_place_i,
  input info_t  info_i,

  input  logic   refused_valid_i,
  output logic   refused_ready_o,
  input  flow_t  refused_src_i,
  input  place_t refused_place_i,
  input  logic   refused_void_i,

  input  logic    answer_valid_i,
  output logic    answer_ready_o,
  input  answer_t answer_i,

  input  logic control_valid_i,
  output logic control_ready_o,
  input  logic control_open_i,      // else a probe
  input  ask_t control_i,

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
  output flow_t               number_src_o,
  output seq_t                number_o,
  // To rdma_ack: strobes, and what a control packet says.
  output logic                deny_o,
  output flow_t               deny_src_o,
  output session_t            deny_session_o,
  output logic                deny_open_o,   // with deny_o: it was an OPEN
  output logic                refuse_o,
  output refusal_t            refuse_refusal_o,
  input  flow_t               view_src_i,
  output seq_t                view_number_o,
  output session_t            view_session_o,
  output logic                view_open_o,

  // Strobes for counters.
  output logic retired_o,
  output logic lost_o,
  output logic opened_o,
  output logic idle_o
);
  if (NumHosts < 2 || NumHosts > MaxHosts) begin : gen_hosts_check
    $error("rdma_resequencer: NumHosts is %0d, legal is 2..%0d", NumHosts, MaxHosts);
  end

  typedef enum logic [2:0] {
    PlaceEmpty,
    PlaceTaken,
    PlaceDone,
    PlaceRefused,
    PlaceBroken   // the write failed
  } place_state_e;

  typedef enum logic [2:0] {
    OpAnswer,
    OpRefused,
    OpTake,
    OpControl,
    OpFrame,
    OpRetire,
    OpScan,
    OpOpen
  } op_e;

  typedef enum logic [1:0] {
    StClear,
    StIdle,
    StLook,
    StDo
  } state_e;

  localparam int unsigned Depth = MaxHosts * Window;
  typedef logic [6:0] near_t;  // a number modulo twice the window
  typedef logic [NumHosts-1:0] hosts_t;

  state_e state_q;
  op_e op_q, op;
  flow_t src_q, src;
  place_t place_q;
  seq_t seq_q;
  session_t session_q;
  answer_t answer_q;
  logic open_q;
  logic [8:0] clear_q;
  logic any;

  // ---------------------------------------------------------------- a flow's state
  // One entry a flow in distributed memory, read and written by the operation under way.
  (* ram_style = "distributed" *) seq_t base_q[MaxHosts];  // the number to be retired next
  (* ram_style = "distributed" *) session_t sessions_q[MaxHosts];
  (* ram_style = "distributed" *) near_t edge_q[MaxHosts];  // behind the highest number known
  (* ram_style = "distributed" *) near_t limit_q[MaxHosts];  // edge at a gap's first sight
  (* ram_style = "distributed" *) near_t pending_q[MaxHosts];  // packets, acts not done
  // A bit a flow.
  hosts_t opened_q;    // data is taken
  hosts_t opening_q;   // a session waits to be opened
  hosts_t dirty_q;     // perhaps there is a place to be retired
  hosts_t failed_q;    // a transfer failed since the last notification
  hosts_t gap_q;       // the lowest place was empty at the last tick, and something is behind it
  hosts_t give_up_q;   // empty places below the limit are lost
  hosts_t scan_q;      // to be looked at since the last tick
  hosts_t watch_q;     // edge and base may differ
  hosts_t denied_q;    // its source was notified that it is not open

  seq_t base;
  session_t session;
  near_t flow_edge, limit, pending;
  logic is_opened, is_opening;
  assign base       = base_q[src_q];
  assign session    = sessions_q[src_q];
  assign flow_edge  = edge_q[src_q];
  assign limit      = limit_q[src_q];
  assign pending    = pending_q[src_q];
  assign is_opened  = opened_q[src_q];
  assign is_opening = opening_q[src_q];

  assign view_number_o  = base_q[view_src_i];
  assign view_session_o = sessions_q[view_src_i];
  assign view_open_o    = opened_q[view_src_i];

  // ---------------------------------------------------------------- memories of the places
  logic state_we, idle, act_busy;
  logic [8:0] state_waddr, look_addr;
  place_state_e place_state_q, state_wdata;
  logic [2:0] place_bits;
  info_t info;
  place_t open_place_q;

  ram_1r1w #(
    .Width  (3),
    .Depth  (Depth),
    .ReadOld(1'b0)
  ) u_states (
    .clk_i,
    .we_i   (state_we),
    .waddr_i(state_waddr),
    .wdata_i(state_wdata),
    .re_i   (idle),
    .raddr_i(look_addr),
    .rdata_o(place_bits)
  );

  ram_1r1w #(
    .Width  ($bits(info_t)),
    .Depth  (Depth),
    .ReadOld(1'b0)
  ) u_infos (
    .clk_i,
    .we_i   (info_we_i),
    .waddr_i({info_src_i, info_place_i}),
    .wdata_i(info_i),
    .re_i   (idle && !act_busy),  // an act's word is held
    .raddr_i(look_addr),
    .rdata_o(info)
  );

  // ---------------------------------------------------------------- bodies that wait for a frame word
  localparam int unsigned Due = 2 * MaxWrites;
  typedef struct packed {
    logic   failed;
    logic   spoilt;
    flow_t  src;
    place_t place;
  } due_t;
  due_t due, due_in;
  logic due_told, due_q, due_push, due_pop, unused_due, due_in_failed_q, due_in_spoilt_q;
  logic [$clog2(Due):0] due_count;
  fifo #(
    .Width($bits(due_t)),
    .Depth(Due)
  ) u_due (
    .clk_i,
    .rst_ni,
    .clear_i(1'b0),
    .valid_i(due_push),
    .ready_o(unused_due),
    .data_i (due_in),
    .valid_o(due_told),
    .ready_i(due_pop),
    .data_o (due),
    .usage_o(due_count)
  );
  // The same as due_told, without its pointers: the lookup depends on it.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) due_q <= 1'b0;
    else due_q <= due_push || (due_told && !(due_pop && due_count == ($clog2(Due) + 1)'(1)));
  end
  assign frame_o  = due_q || (!idle && op_q == OpFrame);
  // Bodies under way are MaxWrites and two at most, and each has its place here.
  assign frames_o = due_count >= ($clog2(Due) + 1)'(MaxWrites - 2);

  // ---------------------------------------------------------------- time
  logic [31:0] ticks_q;  // down
  logic tick;
  assign tick = ticks_q == 32'd1;

  // ---------------------------------------------------------------- which operation
  logic settle_q;  // an act ended without a write
  flow_t settle_src_q;
  flow_t opening_src_q;
  assign act_busy = act_valid_o || settle_q;

  function automatic flow_t lowest(hosts_t bits);
    lowest = '0;
    for (int i = int'(NumHosts) - 1; i >= 0; i--) begin
      if (bits[i]) lowest = flow_t'(i);
    end
  endfunction
  // Flows that retire take turns. The flow whose turn it is, or that is scanned, and its lowest
  // place are known a cycle ahead; an operation that may change that costs a cycle more.
  hosts_t after_q, dirty_soon, dirty_after, dirty_next;
  logic walks, turn_q, scan_turn_q;
  logic done_packet_q;  // a packet's write or refusal has come to its end; from the third cycle on
  flow_t walk_src, walk_src_q;
  place_t walk_place_q;
  assign dirty_soon  = state_q == StDo && done_packet_q ? dirty_q | (hosts_t'(1) << src_q) :
                                                          dirty_q;
  assign dirty_after = dirty_soon & after_q;
  assign dirty_next  = dirty_after != '0 ? dirty_after : dirty_soon;
  assign walks       = dirty_soon != '0 && !(act_busy && scan_q != '0);
  assign walk_src    = lowest(walks ? dirty_next : scan_q);
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      turn_q      <= 1'b0;
      scan_turn_q <= 1'b0;
    end else if (!enable_i || (state_q == StDo &&
                               op_q inside {OpControl, OpRetire, OpScan, OpOpen})) begin
      turn_q      <= 1'b0;
      scan_turn_q <= 1'b0;
    end else begin
      turn_q      <= walks;
      scan_turn_q <= !walks && scan_q != '0 && !tick;
    end
  end
  always_ff @(posedge clk_i) begin
    walk_src_q   <= walk_src;
    walk_place_q <= base_q[walk_src][PlaceWidth-1:0];
  end

  always_comb begin
    any = 1'b1;
    op  = OpAnswer;
    src = answer_i.src;
    if (settle_q) begin
      src = settle_src_q;
    end else if (answer_valid_i) begin
      src = answer_i.src;
    end else if (refused_valid_i) begin
      op  = OpRefused;
      src = refused_src_i;
    end else if (ask_valid_i) begin
      op  = OpTake;
      src = ask_i.src;
    end else if (control_valid_i) begin
      op  = OpControl;
      src = control_i.src;
    end else if (due_q && !act_busy) begin
      op  = OpFrame;
      src = due.src;
    end else if (turn_q && !act_busy) begin
      op  = OpRetire;
      src = walk_src_q;
    end else if (scan_turn_q) begin
      op  = OpScan;
      src = walk_src_q;
    end else if (opening_q != '0) begin
      op  = OpOpen;
      src = opening_src_q;
    end else begin
      any = 1'b0;
    end
  end

  assign idle            = state_q == StIdle;
  assign answer_ready_o  = idle && !settle_q;
  // Ready does not depend on the arbitration: it is sampled only with valid.
  assign refused_ready_o = answer_ready_o && !answer_valid_i;
  assign ask_ready_o     = refused_ready_o && !refused_valid_i;
  assign control_ready_o = ask_ready_o && !ask_valid_i;
  assign due_pop         = idle && op == OpFrame && any;

  always_ff @(posedge clk_i) begin
    if (idle) begin
      op_q      <= op;
      src_q     <= src;
      open_q    <= control_open_i;
      seq_q     <= op == OpControl ? control_i.seq : ask_i.seq;
      session_q <= op == OpControl ? control_i.session : ask_i.session;
      answer_q  <= answer_i;
      if (settle_q) begin
        answer_q.wrote  <= WroteNotice;
        answer_q.failed <= 1'b0;
        answer_q.spoilt <= 1'b0;
      end
      if (op == OpRefused) answer_q.spoilt <= refused_void_i;
      unique case (op)
        OpRefused: place_q <= refused_place_i;
        OpFrame:   place_q <= due.place;
        OpTake:    place_q <= ask_i.seq[PlaceWidth-1:0];
        default:   place_q <= answer_i.place;
      endcase
      due_in_failed_q <= op == OpFrame ? due.failed : answer_i.failed;
      due_in_spoilt_q <= op == OpFrame ? due.spoilt : answer_i.spoilt;
    end
  end
  assign due_in = '{failed: due_in_failed_q, spoilt: due_in_spoilt_q, src: src_q, place: place_q};

  // The place is read with the choice: that of what asks, else the lowest of a flow that has
  // something to do. A packet's request is late: its place passes one gate, whatever synthesis
  // makes of the others.
  (* keep *) logic [8:0] other_addr;
  always_comb begin
    other_addr = {walk_src_q, walk_place_q};
    if (answer_valid_i) other_addr = {answer_i.src, answer_i.place};
    else if (refused_valid_i) other_addr = {refused_src_i, refused_place_i};
    else if (due_q && !act_busy) other_addr = {due.src, due.place};
  end
  assign look_addr = ask_valid_i && !answer_valid_i && !refused_valid_i ?
                     {ask_i.src, ask_i.seq[PlaceWidth-1:0]} : other_addr;

  // ---------------------------------------------------------------- second cycle: look
  seq_t offset_q;
  near_t known_q;      // numbers from base to the edge
  logic same_q, quiet_q, at_limit_q;
  logic notify_q, irq_q, completion_q;

  always_ff @(posedge clk_i) begin
    if (state_q == StLook) begin
      offset_q      <= seq_q - base;
      done_packet_q <= op_q == OpRefused || (op_q == OpAnswer &&
                       (answer_q.wrote == WrotePacket || answer_q.wrote == WroteFrame));
      known_q    <= flow_edge - base[6:0];
      same_q     <= session_q == session;
      quiet_q    <= pending == '0;
      at_limit_q <= limit == base[6:0];
      place_state_q <= place_state_e'(place_bits);
      notify_q      <= info.notify;
      irq_q         <= info.irq;
      completion_q  <= info.completion;
    end
  end

  // ---------------------------------------------------------------- third cycle: do
  logic now, in_window, mine, fresh, retire, retire_lost, give_act;
  logic begin_open, end_open, probe_new, deny, stale_open, empty_one;
  near_t pending_d;
  logic pending_up, pending_down;
  hosts_t one;

  assign now         = state_q == StDo;
  assign one         = hosts_t'(1) << src_q;
  assign in_window   = offset_q[15:6] == '0;
  assign mine      = is_opened && same_q;
  assign fresh       = mine && in_window && place_state_q == PlaceEmpty;
  assign due_push    = now && op_q == OpAnswer && answer_q.wrote == WroteBody;

  // Retire: what is done, or what is lost.
  logic is_done, is_broken;
  assign is_broken   = place_state_q == PlaceRefused || place_state_q == PlaceBroken;
  assign is_done     = place_state_q == PlaceDone || is_broken;
  assign retire_lost = now && op_q == OpRetire && is_opened && place_state_q == PlaceEmpty &&
                       give_up_q[src_q] && !at_limit_q;
  assign retire      = retire_lost || (now && op_q == OpRetire && is_opened && is_done);
  assign give_act    = (now && op_q == OpFrame) || retire_lost ||
                       (retire && (is_broken || notify_q || irq_q));

  // Open: empty places, one an operation, while nothing of the flow is under way.
  assign empty_one  = now && op_q == OpOpen && is_opening && quiet_q;
  assign end_open   = empty_one && open_place_q == '1;
  assign begin_open = now && op_q == OpControl && open_q && !mine;
  assign probe_new  = now && op_q == OpControl && !open_q && mine &&
                      offset_q <= seq_t'(Window) && offset_q[6:0] > known_q;
  assign stale_open   = now && op_q == OpControl && open_q && mine &&
                        !(offset_q == '0 && known_q == '0);
  assign deny         = (now && enable_i && !is_opening && !mine &&
                         ((op_q == OpTake && !denied_q[src_q]) ||
                          (op_q == OpControl && !open_q))) || stale_open;

  assign pending_up   = now && ((op_q == OpTake && fresh) || (op_q == OpRetire && give_act));
  assign pending_down = now && (done_packet_q ||
                                (op_q == OpAnswer && answer_q.wrote == WroteNotice));
  // Which operation it is says which of the two: that comes early.
  assign pending_d    = pending + (op_q == OpTake || op_q == OpRetire ? near_t'(1) : '1);

  always_comb begin
    state_we    = 1'b1;
    state_wdata = PlaceEmpty;
    if (now && op_q == OpTake && fresh) begin
      state_wdata = PlaceTaken;
    end else if (now && done_packet_q) begin
      // The place of a spoilt packet waits again, for the packet or for the end of LostCycles.
      if (answer_q.spoilt) state_wdata = PlaceEmpty;
      else if (op_q == OpRefused) state_wdata = PlaceRefused;
      else state_wdata = answer_q.failed ? PlaceBroken : PlaceDone;
    end else if (state_q != StClear && !retire && !empty_one) begin
      state_we = 1'b0;
    end
    // The operation alone says where it writes, if it does.
    state_waddr = {src_q, place_q};
    if (state_q == StClear) state_waddr = clear_q;
    else if (op_q == OpRetire) state_waddr = {src_q, base[PlaceWidth-1:0]};
    else if (op_q == OpOpen) state_waddr = {src_q, open_place_q};
  end

  seq_t base_next;
  assign base_next = base + 16'd1;

  always_ff @(posedge clk_i) begin
    // Which operation it is says what is written: that comes early.
    if (retire || begin_open) base_q[src_q] <= op_q == OpRetire ? base_next : seq_q;
    if (begin_open) sessions_q[src_q] <= session_q;
    if (now && op_q == OpTake && fresh && offset_q[6:0] >= known_q) begin
      edge_q[src_q] <= seq_q[6:0] + 7'd1;
    end else if (probe_new || begin_open) edge_q[src_q] <= seq_q[6:0];
    if (now && op_q == OpScan && !give_up_q[src_q] && !gap_q[src_q]) limit_q[src_q] <= flow_edge;
  end
  always_ff @(posedge clk_i) begin
    if (state_q == StClear || pending_up || pending_down) begin
      pending_q[state_q == StClear ? clear_q[8:6] : src_q] <= state_q == StClear ? '0 : pending_d;
    end
  end

  logic gap;
  assign gap = is_opened && place_state_q == PlaceEmpty && known_q != '0;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q       <= StClear;
      clear_q       <= '0;
      opened_q      <= '0;
      opening_q     <= '0;
      dirty_q       <= '0;
      failed_q      <= '0;
      gap_q         <= '0;
      give_up_q     <= '0;
      scan_q        <= '0;
      watch_q       <= '0;
      denied_q      <= '0;
      after_q       <= '0;
      opening_src_q <= '0;
      open_place_q  <= '0;
      ticks_q       <= '0;
      act_valid_o   <= 1'b0;
      settle_q      <= 1'b0;
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
      if (idle) settle_q <= 1'b0;

      // Acts.
      if (act_valid_o && act_ready_i) begin
        act_valid_o <= 1'b0;
        if (!act_o.frame && !act_owes_i) settle_q <= 1'b1;
      end
      if (give_act) act_valid_o <= 1'b1;

      // Flows.
      if (now) begin
        if (op_q == OpTake && fresh) watch_q <= watch_q | one;
        if (probe_new) watch_q <= watch_q | one;
        if (done_packet_q) dirty_q <= dirty_q | one;
        if (op_q == OpRetire) begin
          after_q <= ~(one | (one - 1'b1));
          if (!retire) dirty_q <= dirty_q & ~one;
          if (at_limit_q) give_up_q <= give_up_q & ~one;
          if (retire && (is_broken || retire_lost)) failed_q <= failed_q | one;
          if (retire && !retire_lost && notify_q) failed_q <= failed_q & ~one;
          if (retire) gap_q <= gap_q & ~one;
          if (retire && known_q == near_t'(1)) watch_q <= watch_q & ~one;
        end
        if (op_q == OpScan) begin
          scan_q <= scan_q & ~one;
          if (!give_up_q[src_q]) begin
            gap_q <= gap ? gap_q | one : gap_q & ~one;
            if (gap && gap_q[src_q]) begin
              give_up_q <= give_up_q | one;
              dirty_q   <= dirty_q | one;
            end
          end
          if (known_q == '0) watch_q <= watch_q & ~one;
        end
        if (begin_open) begin
          opened_q  <= opened_q & ~one;
          opening_q <= opening_q | one;
          dirty_q   <= dirty_q & ~one;
          gap_q     <= gap_q & ~one;
          give_up_q <= give_up_q & ~one;
          watch_q   <= watch_q & ~one;
          denied_q  <= denied_q & ~one;
        end
        if (op_q == OpTake && deny) denied_q <= denied_q | one;
        if (op_q == OpOpen) begin
          if (empty_one) open_place_q <= open_place_q + 1'b1;
          if (!empty_one || end_open) begin
            open_place_q  <= '0;
            opening_src_q <= opening_src_q == flow_t'(NumHosts - 1) ? '0 : opening_src_q + 1'b1;
          end
          if (end_open) begin
            opening_q <= opening_q & ~one;
            opened_q  <= opened_q | one;
            failed_q  <= failed_q & ~one;
          end
        end
      end

      if (watch_q == '0 || ticks_q[31:1] == '0) ticks_q <= lost_cycles_i;
      else ticks_q <= ticks_q - 32'd1;
      if (tick) scan_q <= opened_q & watch_q;

      if (!enable_i) begin
        opened_q  <= '0;
        opening_q <= '0;
        dirty_q   <= '0;
        gap_q     <= '0;
        give_up_q <= '0;
        scan_q    <= '0;
        watch_q   <= '0;
        denied_q  <= '0;
        open_place_q <= '0;
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (act_valid_o && act_ready_i) settle_src_q <= act_o.src;
  end

  // ---------------------------------------------------------------- out
  logic unused;
  assign unused = &{1'b0, answer_q.irq, answer_q.src, answer_q.place};
  logic act_frame_q, act_lost_q, act_failed_q, act_spoilt_q;
  logic [3:0] act_code_q;
  flow_t act_src_q;
  place_t act_place_q;
  logic [3:0] code;
  always_comb begin
    code = 4'(CodeNone);
    if (retire_lost) code = 4'(CodeLost);
    else if (place_state_q == PlaceBroken) code = 4'(CodeWrite);
    else if (place_state_q == PlaceRefused) code = info.code;
  end

  always_ff @(posedge clk_i) begin
    if (give_act) begin
      act_frame_q  <= op_q == OpFrame;
      act_lost_q   <= retire_lost;
      act_failed_q <= op_q == OpFrame ? due_in_failed_q :
                                        failed_q[src_q] || is_broken || retire_lost;
      act_spoilt_q <= due_in_spoilt_q;
      act_code_q   <= op_q == OpFrame ? '0 : code;
      act_src_q    <= src_q;
      act_place_q  <= place_q;
    end
  end
  assign act_o = '{
    frame: act_frame_q,
    lost: act_lost_q,
    failed: act_failed_q,
    spoilt: act_spoilt_q,
    code: act_code_q,
    src: act_src_q,
    place: act_place_q,
    info: info
  };

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      verdict_valid_o <= 1'b0;
      ack_o           <= '0;
      flush_o         <= '0;
      begin_o         <= '0;
      deny_o          <= 1'b0;
      refuse_o        <= 1'b0;
      retired_o       <= 1'b0;
      lost_o          <= 1'b0;
      opened_o        <= 1'b0;
    end else begin
      verdict_valid_o <= now && op_q == OpTake;
      // A window opens at once; what speaks of memory waits until it is there.
      ack_o           <= (retire && base_next[3:0] == '0) || end_open ? one : '0;
      flush_o         <= (retire && !retire_lost && completion_q) ||
                         (now && op_q == OpControl && mine && !stale_open) ? one : '0;
      begin_o         <= begin_open ? one : '0;
      deny_o          <= deny;
      refuse_o        <= retire && (is_broken || retire_lost);
      retired_o       <= retire;
      lost_o          <= retire_lost;
      opened_o        <= end_open;
    end
  end

  always_ff @(posedge clk_i) begin
    if (now) begin
      number_src_o     <= src_q;
      number_o         <= retire ? base_next : begin_open ? seq_q : base;
      deny_src_o       <= src_q;
      deny_open_o      <= op_q == OpControl && open_q;
      deny_session_o   <= session_q;
      refuse_refusal_o <= '{src: src_q, session: session, code: code,
                            tag: retire_lost ? '0 : info.tag};
      if (!mine) verdict_o <= VerdictNotOpen;
      else if (fresh) verdict_o <= VerdictOk;
      else if (in_window || offset_q[15]) verdict_o <= VerdictKnown;
      else verdict_o <= VerdictBeyond;
    end
  end

  assign ready_o       = state_q != StClear;
  assign clear_o       = state_q == StClear;
  assign clear_index_o = clear_q;
  assign idle_o        = idle && !any && !act_valid_o && !due_q && dirty_q == '0 &&
                         scan_q == '0 &&
                         (watch_q == '0 || lost_cycles_i == '0);
endmodule
