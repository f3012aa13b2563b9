// SPDX-License-Identifier: SHL-2.1
/// Near-data unit: carries out transactions on records of host memory under two-phase locking.
///
/// A transaction has one to four steps, each a record that it reads or updates. It takes all locks
/// in the order of its steps, shared ones for reads, then reads and updates the records in that
/// order, then releases the locks, the last first. Steps of one lock take it once, together; a lock
/// behind a larger one is tried (ccix_locks). A step that may not wait for its lock is a try too:
/// where it is refused, the transaction releases what it has and ends as aborted, with no record
/// touched. A release has an answer that nothing waits for. An update makes 33 v + id of a record's
/// first word v: the order of updates shows in it.
///
///   Handshake   task, order, req: valid/ready, stable. Answers (ans_*, rsp_*) and ends (done_*,
///               refused_*, locked_*) are strobes without ready. A slot is used again only after
///               its done_o, or its refused_o: no lock of it was granted
///   Ordering    steps of a slot in order; slots in any, chosen in turn
///   Latency     task to its first order 2 cycles; a grant to the next order or access 2; a record
///               read to its update 2; the last release, taken, to done_o 0
///   Throughput  an order and an access a cycle, of different slots
///   Parameters  Slots 2..64: transactions open at once. Posted: nothing waits for an update's
///               answer; the agent's messages and the orders must keep their order. LockWidth
///               1..16: a record's lock is so many low bits of its number. 16: a lock a record
///   Deadlock    none, if the table's other requesters too wait only for a lock that is larger than
///               all they have                           (proved: formal/ccix/ccix_update.sby)
///   Digest      of a transaction: d = 33 d + v over the records that it read, from 0
///   Not done    records longer than a line, insertions, time limits
module ccix_update
  import ccix_pkg::*;
  import svm_pkg::*;
#(
  parameter  int unsigned Slots     = 64,
  parameter  bit          Posted    = 1'b0,
  parameter  int unsigned LockWidth = 16,
  localparam int unsigned SlotWidth = $clog2(Slots),
  localparam int unsigned Steps     = 4
) (
  input  logic                     clk_i,
  input  logic                     rst_ni,
  input  logic                     task_valid_i,  // a transaction, held until task_ready_o
  output logic                     task_ready_o,  // it is taken
  input  logic [SlotWidth-1:0]     task_slot_i,   // not of an open transaction
  input  logic [31:0]              task_id_i,     // an update of value v writes 33 v + id
  input  logic [1:0]               task_last_i,   // the number of the last step
  input  update_step_t [Steps-1:0] task_steps_i,  // step 0 first; up to task_last_i
  output logic                     locked_o,      // it has all its locks
  output logic [SlotWidth-1:0]     locked_slot_o,
  output logic                     refused_o,
  output logic [SlotWidth-1:0]     refused_slot_o,
  output logic                     done_o,
  output logic [SlotWidth-1:0]     done_slot_o,
  output logic                     done_aborted_o,
  output logic [63:0]              done_digest_o,
  // To the lock table.
  output logic                     order_valid_o,
  input  logic                     order_ready_i,
  output lock_op_e                 order_op_o,
  output logic                     order_exclusive_o,
  output logic [15:0]              order_lock_o,
  output logic [SlotWidth-1:0]     order_slot_o,
  output logic [15:0]              order_fence_o,
  input  logic                     ans_valid_i,
  input  lock_status_e             ans_status_i,
  input  logic [SlotWidth-1:0]     ans_slot_i,
  input  logic [15:0]              ans_fence_i,
  // To the agent.
  output logic                     req_valid_o,
  input  logic                     req_ready_i,
  output logic                     req_write_o,
  output index_t                   req_index_o,
  output logic [7:0]               req_tag_o,
  output mask_t                    req_mask_o,
  output line_t                    req_data_o,
  input  logic                     rsp_valid_i,
  input  logic [7:0]               rsp_tag_i,
  input  line_t                    rsp_data_i,
  output logic                     fail_o  // level: an answer that no order has
);
  typedef logic [SlotWidth-1:0] slot_t;
  typedef logic [1:0] step_t;

  if (Slots < 2 || Slots > 64) begin : gen_slots_check
    $error("ccix_update: Slots is %0d, legal is 2..64", Slots);
  end

  // ---------------------------------------------------------------- slots
  logic [Slots-1:0] order_q, access_q;    // has an order, an access to send
  logic [Slots-1:0] release_q, write_q, abort_q;
  step_t step_q [Slots];
  step_t last_q [Slots];
  logic [Steps-1:0] own_q [Slots];        // steps that take a lock, exclusive ones, tries
  logic [Steps-1:0] exclusive_q [Slots];
  logic [Steps-1:0] no_wait_q [Slots];
  logic [31:0] id_q [Slots];
  update_step_t [Steps-1:0] steps_q [Slots];
  logic [15:0] fence_q [Slots][Steps];
  logic [63:0] value_q [Slots];
  logic [63:0] digest_q [Slots];

  // ---------------------------------------------------------------- what is sent
  // The choice is held while it waits: an order and an access are stable.
  slot_t order_slot_q, access_slot_q, order_next, access_next;
  logic order_held_q, access_held_q, order_go, access_go, order_free, access_free;
  logic [Slots-1:0] order_gnt, access_gnt;
  assign order_go    = order_valid_o && order_ready_i;
  assign access_go   = req_valid_o && req_ready_i;
  assign order_free  = !order_held_q || order_go;
  assign access_free = !access_held_q || access_go;
  arb_rr #(.NumReq(Slots)) u_orders (
    .clk_i, .rst_ni, .req_i(order_free ? order_q : '0), .last_i(1'b1), .gnt_o(order_gnt),
    .idx_o(order_next)
  );
  arb_rr #(.NumReq(Slots)) u_accesses (
    .clk_i, .rst_ni, .req_i(access_free ? access_q : '0), .last_i(1'b1), .gnt_o(access_gnt),
    .idx_o(access_next)
  );
  update_step_t order_step, access_step;
  assign order_step        = steps_q[order_slot_q][step_q[order_slot_q]];
  assign access_step       = steps_q[access_slot_q][step_q[access_slot_q]];
  assign order_valid_o     = order_held_q;
  assign order_slot_o      = order_slot_q;
  assign order_lock_o      = 16'(order_step.record[LockWidth-1:0]);
  assign order_exclusive_o = exclusive_q[order_slot_q][step_q[order_slot_q]];
  assign order_fence_o     = fence_q[order_slot_q][step_q[order_slot_q]];
  assign order_op_o        = release_q[order_slot_q] ? LockRelease :
                             no_wait_q[order_slot_q][step_q[order_slot_q]] ? LockTry : LockAcquire;
  assign req_valid_o       = access_held_q;
  assign req_write_o       = write_q[access_slot_q];
  assign req_index_o       = index_t'(access_step.record);
  assign req_tag_o         = {req_write_o, 7'(access_slot_q)};
  assign req_mask_o        = req_write_o ? mask_t'(8'hFF) : '1;
  assign req_data_o        = line_t'(value_q[access_slot_q]);

  // ---------------------------------------------------------------- locks of a transaction
  logic [Steps-1:0] own, exclusive, no_wait;
  step_t last_lock;
  ccix_locks #(.LockWidth(LockWidth)) u_locks (
    .last_i(task_last_i), .steps_i(task_steps_i), .own_o(own), .exclusive_o(exclusive),
    .no_wait_o(no_wait), .last_lock_o(last_lock)
  );
  // The next step that takes a lock, and the one before; the step itself where there is none.
  function automatic step_t step_above(logic [Steps-1:0] of, step_t at);
    step_above = at;
    for (int unsigned s = Steps - 1; s > 0; s--) begin
      if (of[s] && s > 32'(at)) step_above = step_t'(s);
    end
  endfunction
  function automatic step_t last_own(logic [Steps-1:0] of);
    last_own = '0;
    for (int unsigned s = 0; s < Steps; s++) if (of[s]) last_own = step_t'(s);
  endfunction
  function automatic step_t step_below(logic [Steps-1:0] of, step_t at);
    step_below = at;
    for (int unsigned s = 0; s < Steps; s++) if (of[s] && s < 32'(at)) step_below = step_t'(s);
  endfunction

  // ---------------------------------------------------------------- what comes back
  slot_t ans_slot, rsp_slot;
  step_t ans_step, ans_next, rsp_step, order_at, access_at;
  logic granted, refused, released, ans_first, ans_last, rsp_read, rsp_last, rsp_update, stray;
  logic written, written_last;
  slot_t written_slot;
  logic [63:0] value;
  assign ans_slot   = ans_slot_i;
  assign ans_step   = step_q[ans_slot];
  assign ans_first  = ans_step == '0;
  assign ans_next   = step_above(own_q[ans_slot], ans_step);
  assign ans_last   = ans_next == ans_step;
  assign granted    = ans_valid_i && ans_status_i == LockGranted;
  assign refused    = ans_valid_i && ans_status_i inside {LockBusy, LockFull};
  assign order_at   = step_q[order_slot_q];
  assign released   = order_go && release_q[order_slot_q];
  assign stray      = ans_valid_i && (ans_status_i inside {LockStale, LockRevoked} ||
                                      ((granted || refused) && release_q[ans_slot]));
  assign rsp_slot   = slot_t'(rsp_tag_i[6:0]);
  assign rsp_step   = step_q[rsp_slot];
  assign rsp_last   = rsp_step == last_q[rsp_slot];
  assign rsp_read   = rsp_valid_i && !rsp_tag_i[7];
  assign rsp_update = rsp_read && steps_q[rsp_slot][rsp_step].write;
  assign value      = rsp_data_i[0];
  // An update is over when it is answered, or when it is sent.
  assign access_at    = step_q[written_slot];
  assign written      = Posted ? access_go && req_write_o : rsp_valid_i && rsp_tag_i[7];
  assign written_slot = Posted ? access_slot_q : rsp_slot;
  assign written_last = access_at == last_q[written_slot];

  assign task_ready_o   = 1'b1;
  assign locked_o       = granted && ans_last;
  assign locked_slot_o  = ans_slot;
  assign refused_o      = refused && ans_first;
  assign refused_slot_o = ans_slot;
  assign done_o         = released && order_at == '0;
  assign done_slot_o    = order_slot_q;
  assign done_aborted_o = abort_q[order_slot_q];
  assign done_digest_o  = digest_q[order_slot_q];

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      order_q       <= '0;
      access_q      <= '0;
      order_held_q  <= 1'b0;
      access_held_q <= 1'b0;
      fail_o        <= 1'b0;
    end else begin
      order_q  <= order_q & ~order_gnt;
      access_q <= access_q & ~access_gnt;
      if (order_free) order_held_q <= order_gnt != '0;
      if (access_free) access_held_q <= access_gnt != '0;
      if (task_valid_i) order_q[task_slot_i] <= 1'b1;
      if (granted && !ans_last) order_q[ans_slot] <= 1'b1;
      if (granted && ans_last) access_q[ans_slot] <= 1'b1;
      if (refused && !ans_first) order_q[ans_slot] <= 1'b1;
      if (released && order_at != '0) order_q[order_slot_q] <= 1'b1;
      if (rsp_read) begin
        if (rsp_update || !rsp_last) access_q[rsp_slot] <= 1'b1;
        else order_q[rsp_slot] <= 1'b1;
      end
      if (written) begin
        if (!written_last) access_q[written_slot] <= 1'b1;
        else order_q[written_slot] <= 1'b1;
      end
      fail_o <= fail_o || stray;
    end
  end
  always_ff @(posedge clk_i) begin
    if (order_free) order_slot_q <= order_next;
    if (access_free) access_slot_q <= access_next;
    if (task_valid_i) begin
      step_q[task_slot_i]    <= '0;
      last_q[task_slot_i]    <= task_last_i;
      id_q[task_slot_i]      <= task_id_i;
      steps_q[task_slot_i]   <= task_steps_i;
      own_q[task_slot_i]       <= own;
      exclusive_q[task_slot_i] <= exclusive;
      no_wait_q[task_slot_i]   <= no_wait;
      digest_q[task_slot_i]  <= '0;
      release_q[task_slot_i] <= 1'b0;
      write_q[task_slot_i]   <= 1'b0;
      abort_q[task_slot_i]   <= 1'b0;
    end
    if (granted) begin
      fence_q[ans_slot][ans_step] <= ans_fence_i;
      step_q[ans_slot]            <= ans_last ? '0 : ans_next;
    end
    if (refused) begin
      step_q[ans_slot]    <= step_below(own_q[ans_slot], ans_step);
      release_q[ans_slot] <= 1'b1;
      abort_q[ans_slot]   <= 1'b1;
    end
    if (released) step_q[order_slot_q] <= step_below(own_q[order_slot_q], order_at);
    if (rsp_read) begin
      digest_q[rsp_slot] <= (digest_q[rsp_slot] << 5) + digest_q[rsp_slot] + value;
      value_q[rsp_slot]  <= (value << 5) + value + 64'(id_q[rsp_slot]);
      write_q[rsp_slot]  <= rsp_update;
      // Behind the last step the locks are released, from the last on.
      if (!rsp_update && rsp_last) begin
        release_q[rsp_slot] <= 1'b1;
        step_q[rsp_slot]    <= last_own(own_q[rsp_slot]);
      end
      if (!rsp_update && !rsp_last) step_q[rsp_slot] <= rsp_step + 1'b1;
    end
    if (written) begin
      write_q[written_slot] <= 1'b0;
      if (written_last) begin
        release_q[written_slot] <= 1'b1;
        step_q[written_slot]    <= last_own(own_q[written_slot]);
      end else begin
        step_q[written_slot] <= access_at + 1'b1;
      end
    end
  end
  prim_assert u_answers (
    .clk_i,
    .rst_ni,
    .ok_i(!stray)
  );

  logic unused;
  assign unused = ^{rsp_data_i, rsp_tag_i, access_step, order_step, last_lock};
endmodule
