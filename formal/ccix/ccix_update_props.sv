// SPDX-License-Identifier: SHL-2.1
/// ccix_update: one arbitrary slot of two. It asks for its locks one by one in the order of its
/// steps, each once, exclusive if any of its records is updated; it waits only for one that is
/// larger than all it has. It accesses records only with all of them and before it releases any,
/// and releases each once, with the fence of its grant. What it writes is 33 v + id of what it
/// read, it ends with the digest of all that it read, and an end is reported once, as what it is.
/// An order and an access are held until taken, and one that can be sent is offered at once.
module ccix_update_props
  import ccix_pkg::*;
  import svm_pkg::*;
#(
  parameter bit          Posted    = 1'b0,
  parameter int unsigned LockWidth = 3     // records of a lock: those of these low bits
) (
  input logic        clk_i,
  input logic        task_valid_i,
  input logic [0:0]  task_slot_i,
  input logic [31:0] task_id_i,
  input logic [1:0]  task_last_i,
  input logic [71:0] task_steps_i,
  input logic        order_ready_i,
  input logic        ans_valid_i,
  input logic [2:0]  ans_status_i,
  input logic [0:0]  ans_slot_i,
  input logic [15:0] ans_fence_i,
  input logic        req_ready_i,
  input logic        rsp_valid_i,
  input logic [7:0]  rsp_tag_i,
  input logic [63:0] rsp_word_i,
  input logic [0:0]  any_slot_i
);
  logic rst_ni, task_ready_o, locked_o, refused_o, done_o, done_aborted_o, order_valid_o;
  logic order_exclusive_o, req_valid_o, req_write_o, fail_o;
  logic [0:0] locked_slot_o, refused_slot_o, done_slot_o, order_slot_o;
  logic [63:0] done_digest_o;
  lock_op_e order_op_o;
  logic [15:0] order_lock_o, order_fence_o;
  index_t req_index_o;
  logic [7:0] req_tag_o;
  mask_t req_mask_o;
  line_t req_data_o, rsp_data_i;
  lock_status_e ans_status;
  assign rsp_data_i = line_t'(rsp_word_i);
  assign ans_status = lock_status_e'(ans_status_i);
  ccix_update #(.Slots(2), .Posted(Posted), .LockWidth(LockWidth)) dut (
    .task_steps_i(task_steps_i), .ans_status_i(ans_status), .*
  );

  logic started_q = 1'b0;
  logic [0:0] slot_q;  // the watched one
  always_ff @(posedge clk_i) begin
    started_q <= 1'b1;
    if (!started_q) slot_q <= any_slot_i;
  end
  assign rst_ni = started_q;

  // ------------------------------------------------------------ what the ports say of the slot
  typedef enum logic [1:0] {Free, Locks, Works, Ends} phase_e;
  phase_e phase_q;
  logic waits_q, waits_try_q;        // an acquire or a try has no answer
  logic reads_q, writes_q;           // an access has none
  logic [3:0] held_q;                // locks, by the step that took it
  logic [2:0] step_q;                // next record
  logic [2:0] steps_q;
  update_step_t [3:0] wanted_q;
  logic [3:0][15:0] fence_q;
  logic write_q, abort_q;            // its record was read and is to be updated; a lock was refused
  logic [31:0] id_q;
  logic [63:0] value_q, digest_q;
  logic mine_task, mine_order, mine_ans, mine_req, mine_rsp, acquire, release_, grant, refuse, last;
  assign mine_task  = task_valid_i && task_slot_i == slot_q;
  assign mine_order = order_valid_o && order_ready_i && order_slot_o == slot_q;
  assign mine_ans   = ans_valid_i && ans_slot_i == slot_q;
  assign mine_req   = req_valid_o && req_ready_i && req_tag_o[0] == slot_q;
  assign mine_rsp   = rsp_valid_i && rsp_tag_i[0] == slot_q;
  assign acquire    = mine_order && order_op_o inside {LockAcquire, LockTry};
  assign release_   = mine_order && order_op_o == LockRelease;
  assign grant      = mine_ans && ans_status == LockGranted;
  assign refuse     = mine_ans && ans_status inside {LockBusy, LockFull};
  logic over;  // an access of the slot is
  assign over = (mine_rsp && !rsp_tag_i[7] && !wanted_q[step_q[1:0]].write) ||
                (Posted ? mine_req && req_write_o : mine_rsp && rsp_tag_i[7]);
  assign last = step_q + 3'd1 == steps_q;
  // The steps that take a lock, what they ask for, the next one, and the last one that has it.
  typedef logic [LockWidth-1:0] lock_t;
  lock_t [3:0] lock;
  logic [3:0] firsts, exclusive, no_wait;
  logic [1:0] next, top;
  always_comb begin
    next = '0;
    top  = '0;
    for (int s = 3; s >= 0; s--) begin
      lock[s]      = lock_t'(wanted_q[s].record);
      firsts[s]    = 3'(s) < steps_q;
      exclusive[s] = 1'b0;
      no_wait[s]   = 1'b0;
    end
    for (int s = 0; s < 4; s++) begin
      for (int t = 0; t < 4; t++) begin
        if (t < s && lock[t] == lock[s]) firsts[s] = 1'b0;
        if (t < s && lock[t] > lock[s]) no_wait[s] = 1'b1;
        if (3'(t) < steps_q && lock[t] == lock[s]) begin
          exclusive[s] = exclusive[s] || wanted_q[t].write;
          no_wait[s]   = no_wait[s] || wanted_q[t].no_wait;
        end
      end
      if (held_q[s]) top = 2'(s);
    end
    for (int s = 3; s >= 0; s--) if (firsts[s] && !held_q[s]) next = 2'(s);
  end
  logic all, one, none;  // of its locks are held
  assign all  = (held_q | (4'd1 << next)) == firsts;  // with the next one
  assign one  = held_q == 4'd1;
  assign none = held_q == '0;

  always_ff @(posedge clk_i) begin
    if (!started_q) begin
      phase_q <= Free;
      waits_q <= 1'b0;
      reads_q <= 1'b0;
      writes_q <= 1'b0;
      held_q  <= '0;
    end else begin
      if (mine_task) begin
        phase_q  <= Locks;
        wanted_q <= task_steps_i;
        steps_q  <= 3'(task_last_i) + 3'd1;
        step_q   <= '0;
        id_q     <= task_id_i;
        digest_q <= '0;
        write_q  <= 1'b0;
        abort_q  <= 1'b0;
      end
      if (acquire) waits_q <= 1'b1;
      if (grant) begin
        waits_q <= 1'b0;
        fence_q[next] <= ans_fence_i;
        held_q[next] <= 1'b1;
        if (all) phase_q <= Works;
      end
      if (refuse) begin
        waits_q <= 1'b0;
        abort_q <= 1'b1;
        phase_q <= none ? Free : Ends;
      end
      if (mine_req) begin
        reads_q  <= !req_write_o;
        writes_q <= req_write_o && !Posted;
      end
      if (mine_rsp && !(Posted && rsp_tag_i[7])) begin
        if (rsp_tag_i[7]) writes_q <= 1'b0;
        else reads_q <= 1'b0;
      end
      if (mine_rsp && !rsp_tag_i[7]) begin
        digest_q <= 64'd33 * digest_q + rsp_word_i;
        value_q  <= 64'd33 * rsp_word_i + 64'(id_q);
        write_q  <= wanted_q[step_q[1:0]].write;
      end
      if (over) begin
        write_q <= 1'b0;
        step_q <= step_q + 3'd1;
        if (last) phase_q <= Ends;
      end
      if (release_) begin
        held_q[top] <= 1'b0;
        if (one) phase_q <= Free;
      end
    end
  end

  // ------------------------------------------------------------ what the surroundings do
  always_comb begin
    if (started_q) begin
      assume (!mine_task || phase_q == Free);
      assume (!(grant || refuse) || waits_q);
      assume (!mine_ans || ans_status inside {LockGranted, LockQueued, LockBusy, LockFull,
                                              LockReleased});
      // The other slot has the same surroundings; what holds of this one holds of it.
      assume (mine_ans || !dut.stray);
      assume (!rsp_valid_i || rsp_tag_i[6:1] == '0);
      assume (!mine_rsp || (rsp_tag_i[7] ? writes_q || Posted : reads_q));
    end else begin
      assume (!task_valid_i && !ans_valid_i && !rsp_valid_i);
    end
  end

  // ------------------------------------------------------------ what must hold
  typedef struct packed {
    lock_op_e    op;
    logic        exclusive;
    logic [15:0] lock;
    logic [0:0]  slot;
    logic [15:0] fence;
  } order_t;
  typedef struct packed {
    logic        write;
    index_t      index;
    logic [7:0]  tag;
    logic [63:0] value;
  } access_t;
  order_t order_now, now_order_q;
  access_t access_now, now_access_q;
  logic order_stands_q, access_stands_q, more_orders_q, more_accesses_q;
  // A fence is that of a lock which is released.
  assign order_now  = '{
    op: order_op_o, exclusive: order_exclusive_o, lock: order_lock_o, slot: order_slot_o,
    fence: order_op_o == LockRelease ? order_fence_o : '0
  };
  assign access_now = '{
    write: req_write_o, index: req_index_o, tag: req_tag_o,
    value: req_write_o ? req_data_o[0] : '0
  };
  always_ff @(posedge clk_i) begin
    now_order_q     <= order_now;
    now_access_q    <= access_now;
    order_stands_q  <= started_q && order_valid_o && !order_ready_i && order_slot_o == slot_q;
    access_stands_q <= started_q && req_valid_o && !req_ready_i && req_tag_o[0] == slot_q;
    more_orders_q   <= started_q && dut.order_q != '0 && (!order_valid_o || order_ready_i);
    more_accesses_q <= started_q && dut.access_q != '0 && (!req_valid_o || req_ready_i);
  end
  logic has_lock, has_exclusive;  // of the record that is accessed
  always_comb begin
    has_lock      = 1'b0;
    has_exclusive = 1'b0;
    for (int unsigned s = 0; s < 4; s++) begin
      if (held_q[s] && lock[s] == lock_t'(req_index_o)) begin
        has_lock      = 1'b1;
        has_exclusive = exclusive[s];
      end
    end
  end
  logic now_order, now_req;
  assign now_order = order_valid_o && order_slot_o == slot_q;
  assign now_req   = req_valid_o && req_tag_o[0] == slot_q;
  always_comb begin
    if (started_q) begin
      if (now_order && order_op_o != LockRelease) begin
        assert (phase_q == Locks && !waits_q && held_q != firsts);
        assert (order_lock_o == 16'(lock[next]));
        assert (order_exclusive_o == exclusive[next]);
        assert ((order_op_o == LockTry) == no_wait[next]);
        // It never asks for a lock that it has, nor waits for one below.
        for (int unsigned s = 0; s < 4; s++) begin
          if (held_q[s]) assert (order_lock_o != 16'(lock[s]));
          if (held_q[s] && order_op_o == LockAcquire) assert (order_lock_o > 16'(lock[s]));
        end
      end
      if (now_order && order_op_o == LockRelease) begin
        assert (phase_q == Ends && !none && !reads_q && !writes_q);
        assert (order_lock_o == 16'(lock[top]));
        assert (order_fence_o == fence_q[top]);
      end
      if (now_req) begin
        assert (phase_q == Works && held_q == firsts && !reads_q && !writes_q);
        // Its lock is held, exclusive for an update.
        assert (has_lock && (!req_write_o || has_exclusive));
        assert (req_index_o == index_t'(wanted_q[step_q[1:0]].record));
        assert (req_write_o == write_q && req_tag_o == {write_q, 6'd0, slot_q});
        assert (!write_q || wanted_q[step_q[1:0]].write);
        assert (req_mask_o == (write_q ? mask_t'(8'hFF) : '1));
        if (write_q) assert (req_data_o == line_t'(value_q));
      end
      assert ((locked_o && locked_slot_o == slot_q) == (grant && all));
      assert ((refused_o && refused_slot_o == slot_q) == (refuse && none));
      assert ((done_o && done_slot_o == slot_q) == (release_ && one));
      if (done_o && done_slot_o == slot_q) begin
        assert (done_aborted_o == abort_q && (abort_q || done_digest_o == digest_q));
      end
      assert (task_ready_o && !fail_o);
      // What is offered is held; what can be sent is offered in the next cycle.
      if (order_stands_q) assert (order_valid_o && now_order_q == order_now);
      if (access_stands_q) assert (req_valid_o && now_access_q == access_now);
      if (more_orders_q) assert (order_valid_o);
      if (more_accesses_q) assert (req_valid_o);
    end
  end

  // ------------------------------------------------------------ inside, for induction
  logic order, access, order_waits, access_waits;
  assign order        = dut.order_held_q && dut.order_slot_q == slot_q;
  assign access       = dut.access_held_q && dut.access_slot_q == slot_q;
  assign order_waits  = dut.order_q[slot_q] || order;
  assign access_waits = dut.access_q[slot_q] || access;
  always_comb begin
    if (started_q) begin
      assert (dut.u_orders.owner_q == '0 && dut.u_accesses.owner_q == '0);
      assert (!(dut.order_q[slot_q] && order) && !(dut.access_q[slot_q] && access));
      // One thing at a time.
      assert (3'(order_waits) + 3'(access_waits) + 3'(waits_q) + 3'(reads_q) + 3'(writes_q) ==
              3'(phase_q != Free));
      if (phase_q == Free) assert (none);
      assert ((held_q & ~firsts) == '0 || phase_q == Free);
      if (phase_q != Free) begin
        assert (steps_q inside {[3'd1:3'd4]} && 3'(dut.last_q[slot_q]) + 3'd1 == steps_q);
        assert (dut.steps_q[slot_q] == wanted_q);
        assert (dut.own_q[slot_q] == firsts);
        for (int unsigned s = 0; s < 4; s++) begin
          if (firsts[s]) assert (dut.exclusive_q[slot_q][s] == exclusive[s] &&
                                 dut.no_wait_q[slot_q][s] == no_wait[s]);
          for (int unsigned t = 0; t < s; t++) begin
            if (held_q[s] && firsts[t]) assert (held_q[t]);
          end
        end
        assert (dut.id_q[slot_q] == id_q && dut.digest_q[slot_q] == digest_q);
        assert (dut.write_q[slot_q] == write_q && dut.abort_q[slot_q] == abort_q);
        if (write_q) assert (dut.value_q[slot_q] == value_q);
        assert (phase_q == Ends || !abort_q);
        for (int unsigned s = 0; s < 4; s++) begin
          if (held_q[s]) assert (dut.fence_q[slot_q][s] == fence_q[s]);
        end
      end
      if (phase_q == Locks) begin
        assert (held_q != firsts && dut.step_q[slot_q] == next && step_q == '0);
        assert (!dut.release_q[slot_q] && !access_waits && !reads_q && !writes_q &&
                !dut.write_q[slot_q]);
      end
      if (phase_q == Works) begin
        assert (held_q == firsts && step_q < steps_q && 3'(dut.step_q[slot_q]) == step_q);
        assert (!dut.release_q[slot_q] && !order_waits && !waits_q);
        if (writes_q) assert (dut.write_q[slot_q]);
        if (reads_q) assert (!dut.write_q[slot_q]);
        if (dut.write_q[slot_q]) assert (wanted_q[step_q[1:0]].write);
      end
      if (phase_q == Ends) begin
        assert (!none && dut.release_q[slot_q] && dut.step_q[slot_q] == top);
        assert (order_waits);
      end
      cover (done_o && done_slot_o == slot_q && steps_q == 3'd1 && !done_aborted_o);
      cover (done_o && done_slot_o == slot_q && done_aborted_o);
      cover (done_o && done_slot_o == slot_q && steps_q == 3'd2 && firsts == 4'd1);
    end
  end
endmodule
