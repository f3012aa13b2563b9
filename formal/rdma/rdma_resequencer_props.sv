// SPDX-License-Identifier: SHL-2.1
/// rdma_resequencer: a place is retired once, in order, and never before its packet was answered or
/// refused; it is given up as lost only while nothing of it is under way;
/// a new session finds it empty.
///
/// One place of one flow is watched; the choice is free.
module rdma_resequencer_props
  import rdma_pkg::*;
  import rdma_rx_pkg::*;
(
  input logic clk_i,
  input logic enable_i,
  input logic [31:0] lost_cycles_i,
  input logic    ask_valid_i,
  input ask_t    ask_i,
  input info_write_t info_i,
  input refuse_t refused_i,
  input logic    answer_valid_i,
  input answer_t answer_i,
  input control_ask_t control_i,
  input logic    act_ready_i,
  input logic    act_owes_i,
  input flow_t   view_src_i
);
  logic rst_ni, ready_o, clear_o, ask_ready_o, refused_ready_o, answer_ready_o, control_ready_o;
  logic frame_o, frames_o, act_valid_o, idle_o;
  logic [8:0] clear_index_o;
  verdict_t verdict_o;
  act_t act_o;
  logic [7:0] ack_o, flush_o, begin_o;
  flow_number_t number_o;
  deny_t deny_o;
  refusal_event_t refuse_o;
  flow_view_t view_o;
  flow_events_t events_o;

  rdma_resequencer #(.NumHosts(8)) dut (.*);

  // States, by number: the proof's reader knows no names of another module.
  localparam logic [1:0] StClear = 2'd0;
  localparam logic [1:0] StIdle = 2'd1;
  localparam logic [1:0] StLook = 2'd2;
  localparam logic [1:0] StDo = 2'd3;

  logic started_q = 1'b0;
  always_ff @(posedge clk_i) started_q <= 1'b1;
`ifdef COVER
  assign rst_ni = 1'b1;
`else
  assign rst_ni = started_q;
`endif

  flow_t flow_q;    // watched
  place_t place_q;
  always_ff @(posedge clk_i) begin
    flow_q  <= flow_q;
    place_q <= place_q;
  end

  // ---------------------------------------------------------------- what was seen of the place
  typedef enum logic [1:0] {
    SeenNothing,  // empty
    SeenTaken,    // a packet was accepted to be written
    SeenBody,     // its body was answered, its frame word is owed
    SeenDone      // answered for good, or refused
  } seen_e;
  seen_e seen_q;
  logic asked_q, asking_q;  // the question that the next verdict is for
  logic answer_ours, answer_now, refused_now, taken_now, spoilt_now, open_now;
  // An answer is taken one operation before it has its effect: what it said is remembered.
  assign answer_ours = answer_i.src == flow_q && answer_i.place == place_q;
  assign answer_now  = answer_valid_i && answer_ready_o && answer_ours;
  assign refused_now = refused_i.valid && refused_ready_o && refused_i.src == flow_q &&
                       refused_i.place == place_q;
  assign taken_now   = verdict_o.valid && verdict_o.verdict == VerdictOk && asked_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      asking_q <= 1'b0;
    end else if (ask_valid_i && ask_ready_o) begin
      asking_q <= 1'b1;
      asked_q  <= ask_i.src == flow_q && ask_i.seq[5:0] == place_q;
    end else if (verdict_o.valid) begin
      asking_q <= 1'b0;
    end
  end

  logic gone_now;  // the place is retired
  assign gone_now = dut.retire && dut.step.src == flow_q && dut.flow.base[5:0] == place_q;
  assign spoilt_now = answer_now && answer_i.spoilt;
  assign open_now = dut.empty_one && dut.step.src == flow_q && dut.open_place == place_q;

  logic final_answer;
  assign final_answer = answer_i.wrote == WrotePacket || answer_i.wrote == WroteFrame;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) seen_q <= SeenNothing;
    else if (gone_now || open_now) seen_q <= SeenNothing;
    else if (taken_now) seen_q <= SeenTaken;
    else if (refused_now) seen_q <= refused_i.spoilt ? SeenNothing : SeenDone;
    else if (answer_now && final_answer) seen_q <= spoilt_now ? SeenNothing : SeenDone;
    else if (answer_now && answer_i.wrote == WroteBody) seen_q <= SeenBody;
  end

  // ---------------------------------------------------------------- the environment
  always_comb begin
    assume (dut.u_places.u_states.watch_q == {flow_q, place_q[5:2]});
    if (!started_q)
      assume (!ask_valid_i && !answer_valid_i && !refused_i.valid && !control_i.valid);
    if (!started_q) assume (!act_ready_i);
    // One question at a time; the asker waits for the verdict.
    if (asking_q) assume (!ask_valid_i);
    // Answers and refusals are of packets that were taken.
    if (answer_valid_i && answer_ours) begin
      if (answer_i.wrote == WrotePacket || answer_i.wrote == WroteBody)
        assume (seen_q == SeenTaken);
      if (answer_i.wrote == WroteFrame) assume (seen_q == SeenBody);
    end
    if (refused_i.valid && refused_i.src == flow_q && refused_i.place == place_q) begin
      assume (seen_q == SeenTaken && !asking_q);
    end
    if (asking_q) assume (!refused_i.valid);
    if (act_ready_i) assume (act_valid_o);
  end

  // ---------------------------------------------------------------- what ends without a write
  // An act is settled exactly if no write of it follows, under its own flow,
  // and until that is taken.
  logic settles_q, acts_q;
  flow_t settles_src_q;
  act_t given_q, given;
  always_ff @(posedge clk_i) if (dut.give_act) given_q <= dut.act;
  always_comb begin
    given      = given_q;
    given.info = dut.act.info;  // the memory holds it meanwhile
  end
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      settles_q <= 1'b0;
      acts_q    <= 1'b0;
    end else begin
      if (act_valid_o && act_ready_i) begin
        settles_q     <= !act_o.frame && !act_owes_i;
        settles_src_q <= act_o.src;
      end else if (dut.settle && dut.idle) begin
        settles_q <= 1'b0;
      end
      if (dut.give_act) acts_q <= 1'b1;
      else if (act_ready_i) acts_q <= 1'b0;
    end
  end

  // ---------------------------------------------------------------- gaps of the watched flow
  // What the last scan saw, since when nothing was retired;
  // the highest number known at the first one.
  logic gap_q, scanned, off;
  logic [6:0] limit_q;
  assign scanned = dut.gap_step.scanned && dut.step.src == flow_q;
  assign off     = !enable_i || (dut.begin_open && dut.step.src == flow_q);
  always_ff @(posedge clk_i) begin
    if (!rst_ni || off) begin
      gap_q <= 1'b0;
    end else if (scanned && !dut.u_gaps.give_up_q[flow_q]) begin
      gap_q <= dut.gap_step.gap;
      if (!gap_q) limit_q <= dut.flow.top;
    end else if (dut.retire && dut.step.src == flow_q) begin
      gap_q <= 1'b0;
    end
  end

  // ---------------------------------------------------------------- how the memory relates to it
  logic [2:0] place_state;
  assign place_state = dut.u_places.u_states.words_q[place_q[1:0]];
  logic watched_op, op_answer, op_refused, op_take;
  assign watched_op = (dut.state_q == StLook || dut.state_q == StDo) && dut.step.src == flow_q &&
                      dut.step.place == place_q;
  assign op_answer  = watched_op && dut.step.op == OpAnswer &&
                      (dut.step.wrote == WrotePacket || dut.step.wrote == WroteFrame);
  assign op_refused = watched_op && dut.step.op == OpRefused;
  assign op_take    = watched_op && dut.step.op == OpTake;

  // The places' state as the operation under way has read it.
  logic looked;  // at the watched place
  logic by_base;
  assign by_base = dut.step.op == OpRetire || dut.step.op == OpScan;
  assign looked  = dut.step.src == flow_q && ((by_base && dut.flow.base[5:0] == place_q) ||
                                           (dut.step.op == OpTake && dut.step.place == place_q));

  always_comb begin
    if (started_q) assert (dut.u_turns.u_bodies.valid_q == dut.u_turns.u_bodies.held &&
                           dut.u_turns.u_bodies.count <= 6'(dut.u_turns.u_bodies.Depth));
    if (started_q && dut.state_q != StClear) begin
      // Never early, never twice, never over the head of one that is under way.
      if (gone_now && !dut.retire_lost) assert (seen_q == SeenDone);
      if (gone_now && dut.retire_lost) assert (seen_q == SeenNothing);
      if (taken_now) assert (seen_q == SeenNothing);
      // Retired in order: the number goes up by one, and only so.
      if (dut.retire) assert (dut.base_next == dut.flow.base + 16'd1);

      // Inductive strengthening.
      if (!op_answer && !op_refused && !taken_now) begin
        if (seen_q == SeenNothing) assert (place_state == PlaceEmpty);
        if (seen_q == SeenTaken || seen_q == SeenBody) assert (place_state == PlaceTaken);
        if (seen_q == SeenDone) begin
          assert (place_state == PlaceDone || place_state == PlaceRefused ||
                  place_state == PlaceBroken);
        end
      end
      if (op_answer || op_refused) begin
        assert (seen_q == (dut.step.spoilt ? SeenNothing : SeenDone));
        assert (place_state == PlaceTaken);
      end
      if (taken_now) assert (place_state == PlaceTaken);
      if (op_answer) assert (!(dut.step.spoilt && seen_q != SeenNothing));
      if (looked && dut.state_q == StLook) assert (dut.place_state == place_state);
      if (looked && dut.state_q == StDo) assert (dut.place_state_q == place_state);
      assert (asking_q == (verdict_o.valid || ((dut.state_q == StLook || dut.state_q == StDo) &&
                                               dut.step.op == OpTake)));
      if (op_take) assert (asked_q);
      if (dut.step.op == OpTake && dut.state_q != StIdle) assert (asked_q == watched_op);
      assert (dut.state_q <= StDo);
      if (dut.step.op == OpTake && dut.state_q != StIdle)
        assert (dut.step.place == dut.step.seq[5:0]);
    end
    if (started_q) begin
      // An act is settled exactly if no write of it follows.
      assert (dut.settle == settles_q && act_valid_o == acts_q);
      if (act_valid_o) assert (act_o == given);
      if (settles_q) assert (dut.settle_src == settles_src_q && !act_valid_o);
      // Given up is what two scans saw, and only below what was known at the first.
      if (dut.wake && dut.step.src == flow_q) assert (gap_q && dut.gap_step.gap);
      assert (dut.u_gaps.gap_q[flow_q] == gap_q);
      if (gap_q) assert (dut.u_gaps.limit_q[flow_q] == limit_q);
    end
    if (started_q) begin
      cover (taken_now);
      cover (gone_now && !dut.retire_lost && dut.info.notify);
      cover (gone_now && dut.retire_lost);
      cover (open_now && dut.end_open);
    end
    if (started_q && dut.state_q == StClear) begin
      assert (seen_q == SeenNothing && !asking_q && !verdict_o.valid);
      if ({flow_q, place_q} < dut.clear_q) assert (place_state == PlaceEmpty);
    end
  end

`ifdef COVER
  // A cover cannot wait for 512 cycles of clearing: it begins behind them, with flows as they may
  // be. One place of one flow, which nothing holds up,
  // is enough to reach a state and quicker to search.
  always_comb begin
    assume (flow_q == '0 && place_q == '1);
    assume (act_ready_i == (act_valid_o && started_q) && !act_owes_i && enable_i);
    assume (!ask_valid_i || (ask_i.src == flow_q && ask_i.seq[5:0] == place_q));
    assume (!control_i.valid || control_i.ask.src == flow_q);
    assume (!answer_valid_i || answer_ours);
    assume (!refused_i.valid || (refused_i.src == flow_q && refused_i.place == place_q));
    assume (!info_i.valid || (info_i.src == flow_q && info_i.place == place_q));
    if (!started_q) begin
      assume (dut.state_q == StIdle && seen_q == SeenNothing && place_state == PlaceEmpty);
      assume (!act_valid_o && !asking_q && !verdict_o.valid && dut.u_turns.dirty_q == '0 &&
              dut.u_gaps.give_up_q == '0);
      assume (dut.opened == '0 && dut.opening == '0 && dut.u_flows.pending_q[flow_q] == '0);
      assume (dut.u_turns.u_bodies.u_fifo.wptr_q == dut.u_turns.u_bodies.u_fifo.rptr_q &&
              !dut.settle && dut.open_place == '1);
    end
  end
`endif
endmodule
