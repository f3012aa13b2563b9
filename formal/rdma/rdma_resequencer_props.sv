// SPDX-License-Identifier: SHL-2.1
/// rdma_resequencer: a place is retired once, in order, and never before its packet was answered or refused;
/// it is given up as lost only while nothing of it is under way; a new session finds it empty.
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
  input logic    info_we_i,
  input flow_t   info_src_i,
  input place_t  info_place_i,
  input info_t   info_i,
  input logic    refused_valid_i,
  input flow_t   refused_src_i,
  input place_t  refused_place_i,
  input logic    refused_void_i,
  input logic    answer_valid_i,
  input answer_t answer_i,
  input logic    control_valid_i,
  input logic    control_open_i,
  input ask_t    control_i,
  input logic    act_ready_i,
  input logic    act_owes_i,
  input flow_t   view_src_i
);
  logic rst_ni, ready_o, clear_o, ask_ready_o, verdict_valid_o, refused_ready_o, answer_ready_o;
  logic control_ready_o, frame_o, frames_o, act_valid_o, deny_o, deny_open_o, refuse_o, view_open_o, retired_o, lost_o;
  logic opened_o, idle_o;
  logic [8:0] clear_index_o;
  verdict_e verdict_o;
  act_t act_o;
  logic [7:0] ack_o, flush_o, begin_o;
  flow_t number_src_o;
  flow_t deny_src_o;
  session_t deny_session_o, view_session_o;
  refusal_t refuse_refusal_o;
  seq_t view_number_o, number_o;

  rdma_resequencer #(.NumHosts(8)) dut (.*);

  // States, by number: the proof's reader knows no names of another module.
  localparam logic [1:0] StClear = 2'd0;
  localparam logic [1:0] StIdle = 2'd1;
  localparam logic [1:0] StLook = 2'd2;
  localparam logic [1:0] StDo = 2'd3;
  localparam logic [2:0] PlaceEmpty = 3'd0;
  localparam logic [2:0] PlaceTaken = 3'd1;
  localparam logic [2:0] PlaceDone = 3'd2;
  localparam logic [2:0] PlaceRefused = 3'd3;
  localparam logic [2:0] PlaceBroken = 3'd4;
  localparam logic [2:0] OpAnswer = 3'd0;
  localparam logic [2:0] OpRefused = 3'd1;
  localparam logic [2:0] OpTake = 3'd2;
  localparam logic [2:0] OpRetire = 3'd5;
  localparam logic [2:0] OpScan = 3'd6;

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
  assign refused_now = refused_valid_i && refused_ready_o && refused_src_i == flow_q &&
                       refused_place_i == place_q;
  assign taken_now   = verdict_valid_o && verdict_o == VerdictOk && asked_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      asking_q <= 1'b0;
    end else if (ask_valid_i && ask_ready_o) begin
      asking_q <= 1'b1;
      asked_q  <= ask_i.src == flow_q && ask_i.seq[5:0] == place_q;
    end else if (verdict_valid_o) begin
      asking_q <= 1'b0;
    end
  end

  logic gone_now;  // the place is retired
  assign gone_now = dut.retire && dut.src_q == flow_q && dut.base[5:0] == place_q;
  assign spoilt_now = answer_now && answer_i.spoilt;
  assign open_now = dut.empty_one && dut.src_q == flow_q && dut.open_place_q == place_q;

  logic final_answer;
  assign final_answer = answer_i.wrote == WrotePacket || answer_i.wrote == WroteFrame;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) seen_q <= SeenNothing;
    else if (gone_now || open_now) seen_q <= SeenNothing;
    else if (taken_now) seen_q <= SeenTaken;
    else if (refused_now) seen_q <= refused_void_i ? SeenNothing : SeenDone;
    else if (answer_now && final_answer) seen_q <= spoilt_now ? SeenNothing : SeenDone;
    else if (answer_now && answer_i.wrote == WroteBody) seen_q <= SeenBody;
  end

  // ---------------------------------------------------------------- the environment
  always_comb begin
    assume (dut.u_states.watch_q == {flow_q, place_q[5:2]});
    if (!started_q) assume (!ask_valid_i && !answer_valid_i && !refused_valid_i && !control_valid_i);
    if (!started_q) assume (!act_ready_i);
    // One question at a time; the asker waits for the verdict.
    if (asking_q) assume (!ask_valid_i);
    // Answers and refusals are of packets that were taken.
    if (answer_valid_i && answer_ours) begin
      if (answer_i.wrote == WrotePacket || answer_i.wrote == WroteBody) assume (seen_q == SeenTaken);
      if (answer_i.wrote == WroteFrame) assume (seen_q == SeenBody);
    end
    if (refused_valid_i && refused_src_i == flow_q && refused_place_i == place_q) begin
      assume (seen_q == SeenTaken && !asking_q);
    end
    if (asking_q) assume (!refused_valid_i);
    if (act_ready_i) assume (act_valid_o);
  end

  // ---------------------------------------------------------------- how the memory relates to it
  logic [2:0] place_state;
  assign place_state = dut.u_states.words_q[place_q[1:0]];
  logic watched_op, op_answer, op_refused, op_take;
  assign watched_op = (dut.state_q == StLook || dut.state_q == StDo) && dut.src_q == flow_q &&
                      dut.place_q == place_q;
  assign op_answer  = watched_op && dut.op_q == OpAnswer &&
                      (dut.answer_q.wrote == WrotePacket || dut.answer_q.wrote == WroteFrame);
  assign op_refused = watched_op && dut.op_q == OpRefused;
  assign op_take    = watched_op && dut.op_q == OpTake;

  // The places' state as the operation under way has read it.
  logic looked;  // at the watched place
  logic by_base;
  assign by_base = dut.op_q == OpRetire || dut.op_q == OpScan;
  assign looked  = dut.src_q == flow_q && ((by_base && dut.base[5:0] == place_q) ||
                                           (dut.op_q == OpTake && dut.place_q == place_q));

  always_comb begin
    if (started_q) assert (dut.due_q == dut.due_told && dut.due_count <= 6'(dut.Due));
    if (started_q && dut.state_q != StClear) begin
      // Never early, never twice, never over the head of one that is under way.
      if (gone_now && !dut.retire_lost) assert (seen_q == SeenDone);
      if (gone_now && dut.retire_lost) assert (seen_q == SeenNothing);
      if (taken_now) assert (seen_q == SeenNothing);
      // Retired in order: the number goes up by one, and only so.
      if (dut.retire) assert (dut.base_next == dut.base + 16'd1);

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
        assert (seen_q == (dut.answer_q.spoilt ? SeenNothing : SeenDone));
        assert (place_state == PlaceTaken);
      end
      if (taken_now) assert (place_state == PlaceTaken);
      if (op_answer) assert (!(dut.answer_q.spoilt && seen_q != SeenNothing));
      if (looked && dut.state_q == StLook) assert (dut.place_bits == place_state);
      if (looked && dut.state_q == StDo) assert (dut.place_state_q == place_state);
      assert (asking_q == (verdict_valid_o || ((dut.state_q == StLook || dut.state_q == StDo) &&
                                               dut.op_q == OpTake)));
      if (op_take) assert (asked_q);
      if (dut.op_q == OpTake && dut.state_q != StIdle) assert (asked_q == watched_op);
      assert (dut.state_q <= StDo);
      if (dut.op_q == OpTake && dut.state_q != StIdle) assert (dut.place_q == dut.seq_q[5:0]);
    end
    if (started_q) begin
      cover (taken_now);
      cover (gone_now && !dut.retire_lost && dut.info.notify);
      cover (gone_now && dut.retire_lost);
      cover (open_now && dut.end_open);
    end
    if (started_q && dut.state_q == StClear) begin
      assert (seen_q == SeenNothing && !asking_q && !verdict_valid_o);
      if ({flow_q, place_q} < dut.clear_q) assert (place_state == PlaceEmpty);
    end
  end

`ifdef COVER
  // A cover cannot wait for 512 cycles of clearing: it begins behind them, with flows as they may be. One
  // place of one flow, which nothing holds up, is enough to reach a state and quicker to search.
  always_comb begin
    assume (flow_q == '0 && place_q == '1);
    assume (act_ready_i == (act_valid_o && started_q) && !act_owes_i && enable_i);
    assume (!ask_valid_i || (ask_i.src == flow_q && ask_i.seq[5:0] == place_q));
    assume (!control_valid_i || control_i.src == flow_q);
    assume (!answer_valid_i || answer_ours);
    assume (!refused_valid_i || (refused_src_i == flow_q && refused_place_i == place_q));
    assume (!info_we_i || (info_src_i == flow_q && info_place_i == place_q));
    if (!started_q) begin
      assume (dut.state_q == StIdle && seen_q == SeenNothing && place_state == PlaceEmpty);
      assume (!act_valid_o && !asking_q && !verdict_valid_o && dut.dirty_q == '0 && dut.give_up_q == '0);
      assume (dut.opened_q == '0 && dut.opening_q == '0 && dut.pending_q[flow_q] == '0);
      assume (dut.u_due.wptr_q == dut.u_due.rptr_q && !dut.settle_q && dut.open_place_q == '1);
    end
  end
`endif
endmodule
