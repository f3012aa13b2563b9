// SPDX-License-Identifier: SHL-2.1
/// rdma_turns: operations are chosen in their order, each with what asked for it, and its place is
/// read with the choice; a flow is to be retired from the end of a packet of it, or a wake-up,
/// until it has nothing to retire or its session begins; such flows take turns, and scans wait for
/// them, but not where acts do; at rest is it exactly where nothing asks and no flow is to be
/// retired.
///
/// `any_bodies` represents the bodies that wait for their frame word.
module rdma_turns_props
  import rdma_pkg::*;
  import rdma_rx_pkg::*;
(
  input logic         clk_i,
  input logic         enable_i,
  input logic         idle_i,
  input logic         do_i,
  input logic         done_i,
  input logic         stay_i,
  input logic         wake_i,
  input logic         begins_i,
  input logic         answer_valid_i,
  input answer_t      answer_i,
  input refuse_t      refused_i,
  input logic         ask_valid_i,
  input ask_t         ask_i,
  input control_ask_t control_i,
  input logic         act_busy_i,
  input logic         settle_i,
  input flow_t        settle_src_i,
  input logic         tick_i,
  input logic [7:0]   scan_i,
  input logic [7:0]   opening_i,
  input flow_t        opening_src_i,
  input place_t       walk_place_i
);
  logic rst_ni, answer_ready_o, refused_ready_o, ask_ready_o, control_ready_o;
  logic valid_o, frame_o, frames_o, rest_o;
  flow_t      walk_src_o;
  flow_step_t step_o;
  logic [8:0] place_o;

  rdma_turns #(.NumHosts(8)) dut (.*);

  logic started_q = 1'b0;
  always_ff @(posedge clk_i) started_q <= 1'b1;
  assign rst_ni = started_q;

  // ---------------------------------------------------------------- flows to be retired
  logic [7:0] dirty_q, soon;  // at the last edge; with the packet that comes to its end now
  flow_t      last_q;         // of the last operation that retired
  logic       any_last_q;     // there was one
  for (genvar f = 0; f < 8; f++) begin : gen_flow
    logic mine;
    assign mine    = step_o.src == flow_t'(f);
    assign soon[f] = dirty_q[f] || (done_i && mine);
    always_ff @(posedge clk_i) begin
      if (!started_q || !enable_i) dirty_q[f] <= 1'b0;
      else if (mine && (done_i || wake_i)) dirty_q[f] <= 1'b1;
      else if (mine && (stay_i || begins_i)) dirty_q[f] <= 1'b0;
    end
  end
  always_ff @(posedge clk_i) begin
    if (!started_q) any_last_q <= 1'b0;
    else if (do_i && step_o.op == OpRetire) {any_last_q, last_q} <= {1'b1, step_o.src};
  end
  // How far a flow is behind the last one, of those that take turns.
  function automatic logic [3:0] behind(flow_t flow);
    return any_last_q && flow <= last_q ? {1'b1, flow} : {1'b0, flow};
  endfunction

  // Of the cycle before: whose turn it is, and whether it is to be retired or scanned.
  logic   turn_q, scan_q, retires, disturbs;
  flow_t  walk_q;
  place_t walk_place_q;
  assign retires  = soon != '0 && !(act_busy_i && scan_i != '0);
  assign disturbs = do_i && step_o.op inside {OpControl, OpRetire, OpScan, OpOpen};
  always_ff @(posedge clk_i) begin
    turn_q       <= started_q && enable_i && !disturbs && retires;
    scan_q       <= started_q && enable_i && !disturbs && !retires && scan_i != '0 && !tick_i;
    walk_q       <= walk_src_o;
    walk_place_q <= walk_place_i;
  end

  // ---------------------------------------------------------------- requests
  logic     body;
  logic [7:0] asks;  // the first of them is chosen
  flow_op_e   op;
  always_comb begin
    body = dut.u_bodies.valid_o && !act_busy_i;
    asks = {opening_i != '0, scan_q, turn_q && !act_busy_i, body, control_i.valid, ask_valid_i,
            refused_i.valid, answer_valid_i || settle_i};
    unique case (asks & -asks)
      8'h02:   op = OpRefused;
      8'h04:   op = OpTake;
      8'h08:   op = OpControl;
      8'h10:   op = OpFrame;
      8'h20:   op = OpRetire;
      8'h40:   op = OpScan;
      8'h80:   op = OpOpen;
      default: op = OpAnswer;
    endcase
  end

  // What was there as the last choice was made.
  logic         chosen_q = 1'b0;
  logic         settle_q;
  flow_op_e     op_q;
  answer_t      answer_q;
  refuse_t      refused_q;
  ask_t         ask_q;
  control_ask_t control_q;
  body_t        body_q;
  flow_t        settle_src_q, opening_src_q, walked_q;
  always_ff @(posedge clk_i) begin
    if (started_q && idle_i) begin
      chosen_q  <= asks != '0;
      op_q      <= op;
      settle_q  <= settle_i;
      answer_q  <= answer_i;
      refused_q <= refused_i;
      ask_q     <= ask_i;
      control_q <= control_i;
      body_q    <= dut.u_bodies.body_o;
      walked_q  <= walk_q;
      settle_src_q  <= settle_src_i;
      opening_src_q <= opening_src_i;
    end
  end

  logic [8:0] place;  // of what asks first, of those that have one
  always_comb begin
    place = {walk_q, walk_place_q};
    if (answer_valid_i) place = {answer_i.src, answer_i.place};
    else if (refused_i.valid) place = {refused_i.src, refused_i.place};
    else if (ask_valid_i) place = {ask_i.src, ask_i.seq[5:0]};
    else if (body) place = {dut.u_bodies.body_o.src, dut.u_bodies.body_o.place};
  end

  always_comb begin
    // What an operation finds is one thing, and found as it is done.
    assume (3'(done_i) + 3'(stay_i) + 3'(wake_i) + 3'(begins_i) <= 3'(do_i));
    if (!started_q) assume (!do_i);
    if (started_q) begin
      assert (valid_o == (asks != '0));
      assert (answer_ready_o == (idle_i && !settle_i));
      assert (refused_ready_o == (answer_ready_o && !answer_valid_i));
      assert (ask_ready_o == (refused_ready_o && !refused_i.valid));
      assert (control_ready_o == (ask_ready_o && !ask_valid_i));
      if (!settle_i) assert (place_o == place);

      // The operation, with what asked for it.
      if (chosen_q) begin
        assert (step_o.op == op_q);
        unique case (op_q)
          OpAnswer: begin
            assert (step_o.src == (settle_q ? settle_src_q : answer_q.src));
            assert (step_o.wrote == (settle_q ? WroteNotice : answer_q.wrote));
            assert (step_o.failed == (!settle_q && answer_q.failed));
            assert (step_o.spoilt == (!settle_q && answer_q.spoilt));
            if (!settle_q) assert (step_o.place == answer_q.place);
            if (!settle_q) assert ({step_o.body_failed, step_o.body_spoilt} ==
                                   {answer_q.failed, answer_q.spoilt});
          end
          OpRefused: assert ({step_o.src, step_o.place, step_o.spoilt} ==
                             {refused_q.src, refused_q.place, refused_q.spoilt});
          OpTake: begin
            assert (step_o.src == ask_q.src && step_o.place == ask_q.seq[5:0]);
            assert (step_o.seq == ask_q.seq && step_o.session == ask_q.session);
          end
          OpControl: begin
            assert (step_o.src == control_q.ask.src && step_o.open == control_q.open);
            assert (step_o.seq == control_q.ask.seq);
            assert (step_o.session == control_q.ask.session);
          end
          OpFrame: begin
            assert (step_o.src == body_q.src && step_o.place == body_q.place);
            assert ({step_o.body_failed, step_o.body_spoilt} == {body_q.failed, body_q.spoilt});
          end
          OpOpen:  assert (step_o.src == opening_src_q);
          default: assert (step_o.src == walked_q);
        endcase
      end
      // Whose turn it is.
      if (retires) begin
        assert (soon[walk_src_o]);
        for (int unsigned f = 0; f < 8; f++)
          if (soon[f]) assert (behind(walk_src_o) <= behind(flow_t'(f)));
      end else if (scan_i != '0) begin
        assert (scan_i[walk_src_o] && (scan_i & ((8'd1 << walk_src_o) - 8'd1)) == '0);
      end
      // Bodies: one is pushed as its answer is done, and pulled as its frame word is chosen.
      assert (dut.u_bodies.push_i == (do_i && step_o.op == OpAnswer &&
                                      step_o.wrote == WroteBody));
      assert (dut.u_bodies.body_i == {step_o.body_failed, step_o.body_spoilt, step_o.src,
                                      step_o.place});
      assert (dut.u_bodies.pop_i == (idle_i && asks != '0 && op == OpFrame));
      assert (frames_o == dut.u_bodies.many_o);
      assert (frame_o == (dut.u_bodies.valid_o || (!idle_i && step_o.op == OpFrame)));
      assert (rest_o == (asks == '0 && !dut.u_bodies.valid_o && dirty_q == '0));
      // What makes the above inductive.
      assert (dut.dirty_q == dirty_q && dut.turn_q == turn_q && dut.scan_turn_q == scan_q);
      assert (dut.walk_src_q == walk_q && dut.walk_place_q == walk_place_q);
      for (int unsigned f = 0; f < 8; f++)
        assert (dut.after_q[f] == (any_last_q && flow_t'(f) > last_q));
      cover (chosen_q && op_q == OpRetire && walked_q == 3'd2 && last_q == 3'd5 && any_last_q);
      cover (chosen_q && op_q == OpScan && dirty_q != '0);
    end
  end
endmodule
