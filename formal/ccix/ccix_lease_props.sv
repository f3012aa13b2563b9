// SPDX-License-Identifier: SHL-2.1
/// ccix_lease: one arbitrary slot of two, behind any unit: what has an old token may be anything.
/// Nothing of a lost transaction reaches memory but the undoing of its updates, from the last; each
/// of its locks is released once; it is lost only with no lock, no update that was not undone
/// unless it was complete, and nothing under way.
/// A unit without a beat loses its token after the lease.
module ccix_lease_props
  import ccix_pkg::*;
  import svm_pkg::*;
#(
  parameter int unsigned Lease = 4
) (
  input logic        clk_i,
  input logic        join_i,
  input logic        beat_i,
  input logic        stop_i,
  input logic [1:0]  token_i,
  input logic        task_valid_i,
  input logic [0:0]  task_slot_i,
  input logic [1:0]  task_last_i,
  input logic        order_valid_i,
  input logic [1:0]  order_op_i,
  input logic [0:0]  order_slot_i,
  input logic        order_exclusive_i,
  input logic [15:0] order_lock_i,
  input logic [15:0] order_fence_i,
  input logic        order_ready_i,
  input logic        ans_valid_i,
  input logic [2:0]  ans_status_i,
  input logic [0:0]  ans_slot_i,
  input logic [15:0] ans_fence_i,
  input logic        req_valid_i,
  input logic        req_write_i,
  input logic [7:0]  req_index_i,
  input line_t       req_data_i,
  input logic [0:0]  req_slot_i,
  input logic        req_ready_i,
  input logic        rsp_valid_i,
  input logic [7:0]  rsp_tag_i,
  input logic [63:0] rsp_word_i,
  input logic [0:0]  any_slot_i
);
  logic rst_ni, joined_o, current_o, waits_o, task_ready_o, order_ready_o, ans_valid_o, req_ready_o;
  logic rsp_valid_o, order_valid_o, order_exclusive_o, req_valid_o, req_write_o, lost_o,
      lost_whole_o;
  logic stale_o, fail_o;
  logic [1:0] token_o;
  logic [0:0] order_slot_o, lost_slot_o;
  lock_op_e order_op, order_op_o;
  lock_status_e ans_status;
  logic [15:0] order_lock_o, order_fence_o;
  index_t req_index_o;
  logic [7:0] req_tag_o;
  mask_t req_mask_o;
  line_t req_data_o;
  assign order_op   = lock_op_e'(order_op_i);
  assign ans_status = lock_status_e'(ans_status_i);
  lock_order_t order, order_o;
  lock_answer_t ans;
  access_t req, req_o;
  log_events_t log_o;
  ccix_lease #(.Slots(2), .Lease(Lease), .TokenWidth(2)) dut (
    .order_i(order), .ans_i(ans), .req_i(req), .*
  );
  assign order = '{
    owner: 8'(order_slot_i), op: order_op, exclusive: order_exclusive_i, lock: order_lock_i,
    fence: order_fence_i
  };
  assign ans = '{owner: 8'(ans_slot_i), status: ans_status, fence: ans_fence_i};
  assign req = '{
    write: req_write_i, index: index_t'(req_index_i), tag: 8'(req_slot_i), mask: '0,
    data: req_data_i
  };
  assign order_slot_o = order_o.owner[0];
  assign {order_op_o, order_exclusive_o, order_lock_o, order_fence_o} =
      {order_o.op, order_o.exclusive, order_o.lock, order_o.fence};
  assign {req_write_o, req_index_o, req_tag_o, req_mask_o, req_data_o} = req_o;

  logic started_q = 1'b0;
  logic [0:0] slot_q;  // the watched one
  always_ff @(posedge clk_i) begin
    started_q <= 1'b1;
    if (!started_q) slot_q <= any_slot_i;
  end
  assign rst_ni = started_q;

  // ------------------------------------------------------------ what the ports say of the slot
  logic open_q, dead_q, whole_q, asks_q, current;
  logic [2:0] held_q, logged_q, steps_q;
  logic [4:0] flight_q;
  logic [63:0] value_q;
  logic [3:0][15:0] lock_q, fence_q;
  logic [3:0] exclusive_q;
  logic [3:0][7:0] index_q;
  logic [3:0][63:0] old_q;
  logic mine_task, mine_order, mine_req, mine_ans, mine_rsp, grant, refuse, acquire, release_,
      write, undo;
  logic ends, closes;
  assign current    = dut.owned_q && token_i == token_o;
  assign mine_task  = task_valid_i && task_ready_o && task_slot_i == slot_q;
  assign mine_order = order_valid_o && order_ready_i && order_slot_o == slot_q;
  assign mine_req   = req_valid_o && req_ready_i && req_tag_o[0] == slot_q;
  assign mine_ans   = ans_valid_i && ans_slot_i == slot_q;
  assign mine_rsp   = rsp_valid_i && rsp_tag_i[0] == slot_q;
  assign grant      = mine_ans && ans_status == LockGranted;
  assign refuse     = mine_ans && ans_status inside {LockBusy, LockFull};
  assign acquire    = mine_order && order_op_o != LockRelease;
  assign release_   = mine_order && order_op_o == LockRelease;
  assign write      = mine_req && req_write_o && !dead_q;
  assign undo       = mine_req && dead_q;
  assign ends       = dut.change;  // the token
  assign closes     = (refuse && !dead_q && held_q == '0) ||
      (release_ && !dead_q && held_q == 3'd1) ||
                      (lost_o && lost_slot_o == slot_q);
  always_ff @(posedge clk_i) begin
    if (!started_q) begin
      open_q   <= 1'b0;
      dead_q   <= 1'b0;
      whole_q  <= 1'b0;
      asks_q   <= 1'b0;
      held_q   <= '0;
      logged_q <= '0;
      flight_q <= '0;
      value_q  <= dut.value_q[any_slot_i];
    end else begin
      if (mine_task) begin
        open_q   <= 1'b1;
        whole_q  <= 1'b0;
        steps_q  <= 3'(task_last_i) + 3'd1;
        logged_q <= '0;
      end
      if (closes) open_q <= 1'b0;
      if (closes) dead_q <= 1'b0;
      else if (ends && (open_q || mine_task)) dead_q <= 1'b1;
      if (acquire) begin
        asks_q <= 1'b1;
        lock_q[held_q[1:0]] <= order_lock_o;
        exclusive_q[held_q[1:0]] <= order_exclusive_o;
      end
      if (grant || refuse) asks_q <= 1'b0;
      if (grant) fence_q[held_q[1:0]] <= ans_fence_i;
      held_q <= held_q + 3'(grant) - 3'(release_);
      if (release_ && !dead_q && held_q == steps_q) whole_q <= 1'b1;
      if (mine_rsp && !rsp_tag_i[7]) value_q <= rsp_word_i;
      if (write) begin
        index_q[logged_q[1:0]] <= 8'(req_index_o);
        old_q[logged_q[1:0]] <= value_q;
      end
      logged_q <= mine_task ? '0 : logged_q + 3'(write) - 3'(undo);
      flight_q <= flight_q + 5'(mine_req) - 5'(mine_rsp);
    end
  end

  // ------------------------------------------------------------ what is logged of it
  logic told_q, tells;
  assign tells = log_o.undone && log_o.undone_slot[0] == slot_q;
  always_ff @(posedge clk_i) begin
    if (!started_q || closes) told_q <= 1'b0;
    else if (tells) told_q <= 1'b1;
  end

  // ------------------------------------------------------------ what the surroundings do
  // A unit with the token in force is ccix_update: it does one thing at a time.
  // The other slot is like this one.
  logic unit_order, unit_req, other_ok;
  assign unit_order = order_valid_i && current && order_slot_i == slot_q;
  assign unit_req   = req_valid_i && current && req_slot_i == slot_q;
  assign other_ok   = !dut.stray;
  logic waits_order_q, waits_req_q, last_write_q;
  logic [0:0] last_order_slot_q, last_req_slot_q;
  logic [1:0] last_op_q, last_token_q;
  logic [15:0] last_lock_q, last_fence_q;
  logic [7:0] last_index_q;
  always_ff @(posedge clk_i) begin
    waits_order_q     <= started_q && order_valid_i && !order_ready_o;
    waits_req_q       <= started_q && req_valid_i && !req_ready_o;
    last_order_slot_q <= order_slot_i;
    last_op_q         <= order_op_i;
    last_lock_q       <= order_lock_i;
    last_fence_q      <= order_fence_i;
    last_req_slot_q   <= req_slot_i;
    last_write_q      <= req_write_i;
    last_index_q      <= req_index_i;
    last_token_q      <= token_i;
  end
  always_comb begin
    if (!started_q)
      assume (!join_i && !task_valid_i && !order_valid_i && !ans_valid_i && !req_valid_i &&
              !rsp_valid_i);
    else begin
      assume (other_ok);
      assume (!order_valid_i || order_op_i != 2'd3);
      assume (!ans_valid_i || ans_status inside {LockGranted, LockQueued, LockBusy, LockFull,
                                                 LockReleased});
      assume (!(grant || refuse) || asks_q);
      assume (!mine_rsp || flight_q != '0);
      assume (!mine_task || (!open_q && !dead_q && flight_q < 5'd20));
      // The ports of a unit are stable.
      if (waits_order_q && dut.order_waits_q) begin
        assume (order_valid_i && order_slot_i == last_order_slot_q && order_op_i == last_op_q);
        assume (order_lock_i == last_lock_q && order_fence_i == last_fence_q &&
                token_i == last_token_q);
      end
      if (waits_req_q && dut.req_waits_q) begin
        assume (req_valid_i && req_slot_i == last_req_slot_q && req_write_i == last_write_q);
        assume (req_index_i == last_index_q && token_i == last_token_q);
      end
      if (unit_order) begin
        assume (open_q && !dead_q && !asks_q);
        if (order_op != LockRelease) assume (held_q < steps_q && !whole_q && logged_q == '0);
        else assume (held_q != '0 && order_lock_i == lock_q[2'(held_q - 3'd1)] &&
                     order_fence_i == fence_q[2'(held_q - 3'd1)]);
      end
      if (unit_req) begin
        assume (open_q && !dead_q && !asks_q && held_q == steps_q && !whole_q && flight_q < 5'd20);
        assume (!req_write_i || logged_q < steps_q);
        assume (!unit_order);
      end
      // The other slot's unit does the same.
      if (order_valid_i && current && order_slot_i != slot_q) begin
        assume (dut.used_q[order_slot_i] && !dut.dead_q[order_slot_i] && !dut.asks_q[order_slot_i]);
        if (order_op == LockRelease) assume (dut.held_q[order_slot_i] != '0);
        else assume (dut.held_q[order_slot_i] < 3'd4);
      end
      if (req_valid_i && current && req_slot_i != slot_q)
        assume (dut.used_q[req_slot_i] && !dut.dead_q[req_slot_i] &&
                dut.logged_q[req_slot_i] < 3'd4);
      if (task_valid_i) assume (!dut.used_q[task_slot_i]);
    end
  end

  // ------------------------------------------------------------ what must hold
  logic now_order, now_req;
  logic [2:0] silent_q;
  assign now_order = order_valid_o && order_slot_o == slot_q;
  assign now_req   = req_valid_o && req_tag_o[0] == slot_q;
  always_ff @(posedge clk_i) begin
    if (!started_q || !dut.owned_q || joined_o || (beat_i && current && !dut.expired))
      silent_q <= '0;
    else if (silent_q != '1) silent_q <= silent_q + 3'd1;
  end
  always_comb begin
    if (started_q) begin
      // The fence.
      if (now_req && dead_q) begin
        assert (req_write_o && !whole_q && logged_q != '0 && !asks_q);
        assert (req_index_o == index_t'(index_q[2'(logged_q - 3'd1)]));
        assert (req_data_o[0] == old_q[2'(logged_q - 3'd1)] && req_mask_o == mask_t'(8'hFF));
      end
      if (now_order && dead_q) begin
        assert (order_op_o == LockRelease && held_q != '0 && !asks_q && flight_q == '0);
        assert (whole_q || logged_q == '0);
        assert (order_lock_o == lock_q[2'(held_q - 3'd1)] &&
                order_fence_o == fence_q[2'(held_q - 3'd1)]);
      end
      if (now_order && dead_q) assert (order_exclusive_o == exclusive_q[2'(held_q - 3'd1)]);
      // What passes is as the unit presents it, under its slot; what is undone is one word.
      if (req_valid_o && !dut.req_ours) begin
        assert (req_data_o == req_data_i && req_write_o == req_write_i);
        assert (req_index_o == index_t'(req_index_i));
        assert (req_tag_o == {req_write_i, 6'd0, req_slot_i});
        assert (req_mask_o == (req_write_i ? mask_t'(8'hFF) : '1));
      end
      if (req_valid_o && dut.req_ours) assert (req_data_o == line_t'(req_data_o[0]));
      if (order_valid_o && !dut.order_ours) begin
        assert (order_o.owner == 8'(order_slot_i) && order_op_o == order_op);
        assert (order_exclusive_o == order_exclusive_i);
        assert (order_lock_o == order_lock_i && order_fence_o == order_fence_i);
      end
      // Nothing with an old token is passed on: it is taken and refused.
      assert (current_o == current && task_ready_o == (current && !(join_i || dut.expired)));
      if (!current) begin
        assert (order_ready_o == !stop_i && req_ready_o == !stop_i);
        assert (stale_o == (!stop_i && (order_valid_i || req_valid_i)));
        assert (!order_valid_o || dut.order_ours);
        assert (!req_valid_o || dut.req_ours);
      end
      if (lost_o && lost_slot_o == slot_q) begin
        assert (dead_q && held_q == '0 && !asks_q && flight_q == '0 && (whole_q || logged_q == '0));
        assert (lost_whole_o == whole_q);
      end
      // The log: each update with the value before it; what is complete at its first release; what
      // is undone once, when it is, before a lock of it is released.
      assert ((log_o.update && log_o.update_slot[0] == slot_q) == write);
      if (write) assert (log_o.record == 32'(req_index_o) && log_o.old_value == value_q &&
                         log_o.new_value == req_data_o[0]);
      assert ((log_o.complete && log_o.complete_slot[0] == slot_q) ==
              (release_ && !dead_q && held_q == steps_q));
      if (tells)
        assert (dead_q && !whole_q && !told_q && logged_q == '0 && flight_q == '0 && !asks_q);
      if (now_order && dead_q && !whole_q) assert (told_q);
      if (tells) assert (!(log_o.complete && log_o.complete_slot[0] == slot_q));
      if (!open_q) assert (held_q == '0 && !asks_q && !dead_q);
      if (dead_q && mine_ans) assert (!ans_valid_o);
      if (dead_q && mine_rsp) assert (!rsp_valid_o);
      // The lease: the token is in force no longer than that without a beat, but for what waits.
      assert (silent_q <= 3'(Lease) || dut.expired || !dut.owned_q);
    end
  end

  // ------------------------------------------------------------ inside, for induction
  always_comb begin
    if (started_q) begin
      assert (dut.used_q[slot_q] == open_q && dut.dead_q[slot_q] == dead_q &&
              dut.asks_q[slot_q] == asks_q);
      assert (dut.value_q[slot_q] == value_q);
      assert (dut.held_q[slot_q] == held_q && dut.flight_q[slot_q] == flight_q);
      assert ((dut.used_q & dut.dead_q) == dut.dead_q);
      if (open_q) begin
        assert (dut.whole_q[slot_q] == whole_q && 3'(dut.last_q[slot_q]) + 3'd1 == steps_q);
        assert (dut.logged_q[slot_q] == logged_q && held_q <= steps_q && logged_q <= steps_q);
        assert (!asks_q || (held_q < steps_q && !whole_q && logged_q == '0));
        if (whole_q) assert (held_q != '0 && held_q < steps_q || dead_q);
        if (logged_q != '0 && !dead_q && !whole_q) assert (held_q == steps_q);
      end
      for (int unsigned s = 0; s < 4; s++) begin
        if (open_q && (held_q > 3'(s) || (asks_q && held_q == 3'(s))))
          assert (dut.lock_q[slot_q][s] == lock_q[s] &&
                  dut.exclusive_q[slot_q][s] == exclusive_q[s]);
        if (open_q && held_q > 3'(s)) assert (dut.fence_q[slot_q][s] == fence_q[s]);
        if (open_q && logged_q > 3'(s))
          assert (dut.index_q[slot_q][s] == index_t'(index_q[s]) &&
                  dut.old_q[slot_q][s] == old_q[s]);
      end
      if (2'(dut.state_q) != 2'd0 && dut.slot_q == slot_q) begin
        assert (dead_q && !asks_q);
        if (2'(dut.state_q) == 2'd1) assert (!whole_q && logged_q != '0);
        if (2'(dut.state_q) == 2'd2) assert (!whole_q && logged_q == '0);
        if (2'(dut.state_q) == 2'd3) assert (whole_q || told_q);
        if (2'(dut.state_q) == 2'd3) assert (flight_q == '0 && (whole_q || logged_q == '0));
      end
      if (told_q) assert (dead_q && !whole_q && 2'(dut.state_q) == 2'd3 && dut.slot_q == slot_q);
      if (dut.order_waits_q) assert (dut.owned_q && waits_order_q && last_token_q == token_o);
      if (dut.req_waits_q) assert (dut.owned_q && waits_req_q && last_token_q == token_o);
      assert (!dut.owned_q || dut.expired || 3'(dut.timer_q) + silent_q == 3'(Lease));
      cover (lost_o && lost_slot_o == slot_q && steps_q == 3'd1 && !lost_whole_o);
      cover (undo && mine_req);
      cover (lost_o && lost_slot_o == slot_q && lost_whole_o);
      cover (stale_o && req_valid_i && req_write_i);
      cover (tells && 2'(dut.state_q) == 2'd2);
    end
  end
endmodule
