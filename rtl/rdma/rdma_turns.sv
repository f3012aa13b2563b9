// SPDX-License-Identifier: SHL-2.1
/// Which operation rdma_resequencer does next: answer, refused, take, control, frame, retire, scan,
/// open, in this order.
///
///   Handshake   a request is taken with its ready, in a cycle of idle_i; ready does not depend on
///               the choice, so it is sampled only with valid. valid_o: an operation is chosen;
///               step_o holds it from the next cycle until the next choice
///   Place       place_o is that of the choice, to be read in the same cycle
///   Retire      flows take turns: those with a packet that has come to its end (done_i), and those
///               that may have lost ones (wake_i), until the lowest place is not done (stay_i)
///   Latency     a choice a cycle; retire and scan are known a cycle ahead, so they cost a cycle
///               more behind an operation that may change them
///   Parameters  NumHosts 2..8
///   Not done    what an operation does
module rdma_turns
  import rdma_pkg::*;
  import rdma_rx_pkg::*;
#(
  parameter int unsigned NumHosts = 8
) (
  input logic clk_i,
  input logic rst_ni,
  input logic enable_i,

  input logic idle_i,
  input logic do_i,         // step_o has its effect now
  input logic done_i,       // with do_i: a packet's write or refusal has come to its end
  input logic stay_i,       // with do_i: nothing to retire in this flow
  input logic wake_i,       // with do_i: something to retire
  input logic begins_i,     // with do_i: its session begins, nothing to retire

  input  logic         answer_valid_i,
  output logic         answer_ready_o,
  input  answer_t      answer_i,
  input  refuse_t      refused_i,
  output logic         refused_ready_o,
  input  logic         ask_valid_i,
  output logic         ask_ready_o,
  input  ask_t         ask_i,
  input  control_ask_t control_i,
  output logic         control_ready_o,

  input  logic                act_busy_i,    // frame and retire wait
  input  logic                settle_i,
  input  flow_t               settle_src_i,
  input  logic                tick_i,
  input  logic [NumHosts-1:0] scan_i,
  input  logic [NumHosts-1:0] opening_i,
  input  flow_t               opening_src_i,
  output flow_t               walk_src_o,
  input  place_t              walk_place_i,  // the place to be retired next of walk_src_o

  output logic       valid_o,
  output flow_step_t step_o,
  output logic [8:0] place_o,
  output logic       frame_o,   // a frame word waits, or is being made an act
  output logic       frames_o,  // frame words wait: no new message's body may be begun
  output logic       rest_o
);
  typedef logic [NumHosts-1:0] hosts_t;

  flow_op_e op;
  flow_t src;
  flow_step_t step_q;
  logic any;

  // ---------------------------------------------------------------- bodies without a frame word
  body_t body;
  logic body_valid, body_pop;
  assign body_pop = idle_i && op == OpFrame && any;
  rdma_bodies u_bodies (
    .clk_i,
    .rst_ni,
    .push_i (do_i && step_q.op == OpAnswer && step_q.wrote == WroteBody),
    .body_i ('{failed: step_q.body_failed, spoilt: step_q.body_spoilt,
               src: step_q.src, place: step_q.place}),
    .valid_o(body_valid),
    .pop_i  (body_pop),
    .body_o (body),
    .many_o (frames_o)
  );
  assign frame_o = body_valid || (!idle_i && step_q.op == OpFrame);

  // ---------------------------------------------------------------- retire and scan
  function automatic flow_t lowest(hosts_t bits);
    lowest = '0;
    for (int i = int'(NumHosts) - 1; i >= 0; i--) begin
      if (bits[i]) lowest = flow_t'(i);
    end
  endfunction
  // Flows that retire take turns. The flow whose turn it is, or that is scanned, and its lowest
  // place are known a cycle ahead; an operation that may change that costs a cycle more.
  hosts_t dirty_q;  // perhaps there is a place to be retired
  hosts_t after_q, dirty_soon, dirty_after, dirty_next, one;
  logic walks, turn_q, scan_turn_q;
  flow_t walk_src, walk_src_q;
  place_t walk_place_q;
  assign one         = hosts_t'(1) << step_q.src;
  assign dirty_soon  = done_i ? dirty_q | one : dirty_q;
  assign dirty_after = dirty_soon & after_q;
  assign dirty_next  = dirty_after != '0 ? dirty_after : dirty_soon;
  assign walks       = dirty_soon != '0 && !(act_busy_i && scan_i != '0);
  assign walk_src    = lowest(walks ? dirty_next : scan_i);
  assign walk_src_o  = walk_src;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      turn_q      <= 1'b0;
      scan_turn_q <= 1'b0;
    end else if (!enable_i || (do_i &&
                               step_q.op inside {OpControl, OpRetire, OpScan, OpOpen})) begin
      turn_q      <= 1'b0;
      scan_turn_q <= 1'b0;
    end else begin
      turn_q      <= walks;
      scan_turn_q <= !walks && scan_i != '0 && !tick_i;
    end
  end
  always_ff @(posedge clk_i) begin
    walk_src_q   <= walk_src;
    walk_place_q <= walk_place_i;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      dirty_q <= '0;
      after_q <= '0;
    end else begin
      if (done_i) dirty_q <= dirty_q | one;
      if (stay_i) dirty_q <= dirty_q & ~one;
      if (wake_i) dirty_q <= dirty_q | one;
      if (begins_i) dirty_q <= dirty_q & ~one;
      if (do_i && step_q.op == OpRetire) after_q <= ~(one | (one - 1'b1));
      if (!enable_i) dirty_q <= '0;
    end
  end

  // ---------------------------------------------------------------- the choice
  always_comb begin
    any = 1'b1;
    op  = OpAnswer;
    src = answer_i.src;
    if (settle_i) begin
      src = settle_src_i;
    end else if (answer_valid_i) begin
      src = answer_i.src;
    end else if (refused_i.valid) begin
      op  = OpRefused;
      src = refused_i.src;
    end else if (ask_valid_i) begin
      op  = OpTake;
      src = ask_i.src;
    end else if (control_i.valid) begin
      op  = OpControl;
      src = control_i.ask.src;
    end else if (body_valid && !act_busy_i) begin
      op  = OpFrame;
      src = body.src;
    end else if (turn_q && !act_busy_i) begin
      op  = OpRetire;
      src = walk_src_q;
    end else if (scan_turn_q) begin
      op  = OpScan;
      src = walk_src_q;
    end else if (opening_i != '0) begin
      op  = OpOpen;
      src = opening_src_i;
    end else begin
      any = 1'b0;
    end
  end

  assign valid_o         = any;
  assign answer_ready_o  = idle_i && !settle_i;
  assign refused_ready_o = answer_ready_o && !answer_valid_i;
  assign ask_ready_o     = refused_ready_o && !refused_i.valid;
  assign control_ready_o = ask_ready_o && !ask_valid_i;

  always_ff @(posedge clk_i) begin
    if (idle_i) begin
      step_q.op      <= op;
      step_q.src     <= src;
      step_q.open    <= control_i.open;
      step_q.seq     <= op == OpControl ? control_i.ask.seq : ask_i.seq;
      step_q.session <= op == OpControl ? control_i.ask.session : ask_i.session;
      step_q.wrote   <= settle_i ? WroteNotice : answer_i.wrote;
      step_q.failed  <= answer_i.failed && !settle_i;
      step_q.spoilt  <= answer_i.spoilt && !settle_i;
      if (op == OpRefused) step_q.spoilt <= refused_i.spoilt;
      unique case (op)
        OpRefused: step_q.place <= refused_i.place;
        OpFrame:   step_q.place <= body.place;
        OpTake:    step_q.place <= ask_i.seq[PlaceWidth-1:0];
        default:   step_q.place <= answer_i.place;
      endcase
      step_q.body_failed <= op == OpFrame ? body.failed : answer_i.failed;
      step_q.body_spoilt <= op == OpFrame ? body.spoilt : answer_i.spoilt;
    end
  end
  assign step_o = step_q;

  // The place is read with the choice: that of what asks, else the lowest of a flow that has
  // something to do. A packet's request is late: its place passes one gate, whatever synthesis
  // makes of the others.
  (* keep *) logic [8:0] other_place;
  always_comb begin
    other_place = {walk_src_q, walk_place_q};
    if (answer_valid_i) other_place = {answer_i.src, answer_i.place};
    else if (refused_i.valid) other_place = {refused_i.src, refused_i.place};
    else if (body_valid && !act_busy_i) other_place = {body.src, body.place};
  end
  assign place_o = ask_valid_i && !answer_valid_i && !refused_i.valid ?
                   {ask_i.src, ask_i.seq[PlaceWidth-1:0]} : other_place;

  assign rest_o = !any && !body_valid && dirty_q == '0;

  logic unused;
  assign unused = &{1'b0, answer_i.irq};
endmodule
