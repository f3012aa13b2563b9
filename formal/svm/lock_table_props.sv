// SPDX-License-Identifier: SHL-2.1
/// lock_table: both locks, and one arbitrary waiter. An exclusive holder is alone; a waiter is
/// granted after those before it and before those behind it; a lock with waiters is held, or handed
/// over in this cycle, and shared waiters behind a shared one follow at once. Each order's answer
/// is the one that the answers before it call for, with the lock's fence, which counts what was
/// revoked.
module lock_table_props
  import svm_pkg::*;
#(
  parameter int unsigned NumWait = 3
) (
  input logic       clk_i,
  input logic       req_valid_i,
  input logic [1:0] req_op_i,
  input logic       req_exclusive_i,
  input logic [0:0] req_lock_i,
  input logic [1:0] req_owner_i,
  input logic [0:0] req_fence_i,
  input logic       watch_i  // this waiter
);
  logic         rst_ni, req_ready_o, rsp_valid_o, rsp_exclusive_o, idle_o;
  lock_status_e rsp_status_o;
  logic [0:0]   rsp_lock_o, rsp_fence_o;
  logic [1:0]   rsp_owner_o;
  lock_op_e     req_op;
  assign req_op = lock_op_e'(req_op_i);

  lock_table #(
    .Locks(2), .NumWait(NumWait), .OwnerWidth(2), .HoldersWidth(2), .FenceWidth(1)
  ) dut (.req_op_i(req_op), .*);

  logic started_q = 1'b0;
  always_ff @(posedge clk_i) started_q <= 1'b1;
  assign rst_ni = started_q;

  // ------------------------------------------------------------ what the answers say
  logic [1:0][1:0] holders_q, waiters_q;
  logic [1:0]      exclusive_q, fence_q;
  logic [1:0][1:0] owner_q;  // of an exclusive holder
  logic            live_q, live_lock_q, live_exclusive_q;
  logic [1:0]      live_owner_q, ahead_q;
  logic            granted, queued;
  assign granted = rsp_valid_o && rsp_status_o == LockGranted;
  assign queued  = rsp_valid_o && rsp_status_o == LockQueued;
  always_ff @(posedge clk_i) begin
    if (!started_q) begin
      holders_q <= '0;
      waiters_q <= '0;
      fence_q   <= '0;
      live_q    <= 1'b0;
    end else begin
      if (granted) begin
        owner_q[rsp_lock_o]     <= rsp_owner_o;
        holders_q[rsp_lock_o]   <= holders_q[rsp_lock_o] + 1'b1;
        exclusive_q[rsp_lock_o] <= rsp_exclusive_o;
        if (waiters_q[rsp_lock_o] != '0) waiters_q[rsp_lock_o] <= waiters_q[rsp_lock_o] - 1'b1;
        if (live_q && live_lock_q == rsp_lock_o) begin
          ahead_q <= ahead_q - 1'b1;
          if (ahead_q == '0) live_q <= 1'b0;
        end
      end
      if (rsp_valid_o && rsp_status_o == LockReleased)
        holders_q[rsp_lock_o] <= holders_q[rsp_lock_o] - 1'b1;
      if (rsp_valid_o && rsp_status_o == LockRevoked) begin
        holders_q[rsp_lock_o] <= '0;
        fence_q[rsp_lock_o]   <= fence_q[rsp_lock_o] + 1'b1;
      end
      if (queued) begin
        waiters_q[rsp_lock_o] <= waiters_q[rsp_lock_o] + 1'b1;
        if (watch_i && !live_q) begin
          live_q           <= 1'b1;
          live_lock_q      <= rsp_lock_o;
          live_owner_q     <= rsp_owner_o;
          live_exclusive_q <= rsp_exclusive_o;
          ahead_q          <= waiters_q[rsp_lock_o];
        end
      end
    end
  end

  logic sweep, hand;
  assign sweep = dut.sweep_q;
  assign hand  = dut.hand_q;

  // ------------------------------------------------------------ what is asked is answered
  // An order taken is answered in the cycle behind it, or behind the hand-over that it waits for.
  logic         asked_q, asked_exclusive_q;
  lock_op_e     asked_op_q;
  logic [0:0]   asked_lock_q, asked_fence_q;
  logic [1:0]   asked_owner_q;
  logic         answers;
  assign answers = rsp_valid_o && !hand;
  always_ff @(posedge clk_i) begin
    if (!started_q) asked_q <= 1'b0;
    else asked_q <= (req_valid_i && req_ready_o) || (asked_q && hand);
    if (req_valid_i && req_ready_o) begin
      asked_op_q        <= req_op;
      asked_lock_q      <= req_lock_i;
      asked_owner_q     <= req_owner_i;
      asked_exclusive_q <= req_exclusive_i;
      asked_fence_q     <= req_fence_i;
    end
  end

  // The answer that an order must have.
  logic         held, shared_full, no_place;
  lock_status_e due;
  assign held        = holders_q[asked_lock_q] != '0;
  assign shared_full = !exclusive_q[asked_lock_q] && holders_q[asked_lock_q] == '1;
  assign no_place    = 32'(waiters_q[0]) + 32'(waiters_q[1]) == NumWait;
  always_comb begin
    unique case (asked_op_q)
      LockAcquire, LockTry: begin
        if (waiters_q[asked_lock_q] == '0 && (!held || (!exclusive_q[asked_lock_q] &&
            !asked_exclusive_q && !shared_full))) due = LockGranted;
        else if (asked_op_q == LockTry) due = LockBusy;
        else due = no_place || shared_full ? LockFull : LockQueued;
      end
      LockRelease: due = held && asked_fence_q == fence_q[asked_lock_q] ? LockReleased : LockStale;
      default: begin
        if (!held) due = LockStale;
        else if (exclusive_q[asked_lock_q] && asked_owner_q != owner_q[asked_lock_q])
          due = LockBusy;
        else due = LockRevoked;
      end
    endcase
  end

  // Cycles of the sweep.
  logic [1:0] swept_q;
  always_ff @(posedge clk_i) begin
    if (!started_q) swept_q <= '0;
    else if (swept_q != 2'd2) swept_q <= swept_q + 1'b1;
  end

  // ------------------------------------------------------------ inside, for induction
  // A lock: exclusive 1, owner 2, holders 2, held 1, one 1, full 1, waiting 1, head 2, tail 2,
  // fence 1.
  logic [2:0][0:0] slot_lock_q;
  logic [1:0][13:0] word;
  logic [1:0][2:0][1:0] chain;
  always_ff @(posedge clk_i) if (dut.push) slot_lock_q[dut.free_slot] <= rsp_lock_o;
  for (genvar l = 0; l < 2; l++) begin : gen_lock
    assign word[l]     = dut.u_locks.mem_q[l];
    assign chain[l][0] = word[l][4:3];
    assign chain[l][1] = dut.next_q[chain[l][0]];
    assign chain[l][2] = dut.next_q[chain[l][1]];
    always_comb begin
      if (started_q && sweep) begin
        assert (dut.used_q == '0 && holders_q == '0 && waiters_q == '0 && !live_q);
        assert (!dut.valid_q && !hand && !rsp_valid_o && !req_ready_o && !idle_o);
        assert (fence_q == '0 && 2'(dut.lock_q) == swept_q);
        if (dut.lock_q > 1'(l)) assert (word[l] == '0);
      end
      if (started_q && !sweep) begin
        assert (word[l][10:9] == holders_q[l] && word[l][5] == (waiters_q[l] != '0));
        assert (word[l][8] == (holders_q[l] != '0) && word[l][7] == (holders_q[l] == 2'd1));
        assert (word[l][6] == (holders_q[l] == '1));
        if (holders_q[l] != '0) assert (word[l][13] == exclusive_q[l]);
        if (holders_q[l] != '0) assert (word[l][12:11] == owner_q[l]);
        assert (word[l][0] == fence_q[l]);
        if (holders_q[l] > 2'd1) assert (!word[l][13]);
        for (int unsigned k = 0; k < NumWait; k++) begin
          if (waiters_q[l] > 2'(k)) begin
            assert (32'(chain[l][k]) < NumWait && dut.used_q[chain[l][k]]);
            assert (slot_lock_q[chain[l][k]] == 1'(l));
            for (int unsigned j = 0; j < k; j++) assert (chain[l][j] != chain[l][k]);
            if (waiters_q[l] == 2'(k + 1)) assert (word[l][2:1] == chain[l][k]);
            if (k > 0)
              assert (dut.next_exclusive_q[chain[l][k-1]] == dut.waiter_q[chain[l][k]][2]);
          end
        end
        // A free lock has no waiters.
        if (waiters_q[l] != '0 && holders_q[l] == '0) assert (hand && dut.last_lock_q == 1'(l));
      end
    end
  end

  // A lock that became free goes to its first waiter in the next cycle, and on to the next one
  // while that is shared as well.
  logic       was_hand_q, freed_q;
  logic [0:0] was_lock_q;
  always_ff @(posedge clk_i) begin
    was_hand_q <= started_q && hand;
    freed_q    <= started_q && answers && (rsp_status_o == LockRevoked ||
                  (rsp_status_o == LockReleased && holders_q[rsp_lock_o] == 2'd1));
    was_lock_q <= rsp_lock_o;
  end
  logic next_shared;  // the first waiter of that lock
  assign next_shared = !dut.waiter_q[chain[was_lock_q][0]][2];

  always_comb begin
    if (started_q) assert (sweep == (swept_q != 2'd2));
    if (started_q && !sweep) begin
      if (granted) begin
        assert (holders_q[rsp_lock_o] == '0 || (!rsp_exclusive_o && !exclusive_q[rsp_lock_o]));
        if (live_q && live_lock_q == rsp_lock_o && ahead_q == '0)
          assert (rsp_owner_o == live_owner_q && rsp_exclusive_o == live_exclusive_q);
      end
      // No order is lost, answered twice, or as another one.
      assert (answers == (asked_q && !hand));
      if (answers) begin
        assert (rsp_lock_o == asked_lock_q && rsp_owner_o == asked_owner_q);
        assert (rsp_exclusive_o == asked_exclusive_q);
        assert (rsp_status_o == due);
        // No later order passes a waiter.
        if (granted) assert (waiters_q[rsp_lock_o] == '0);
      end
      assert (idle_o == (!asked_q && !hand));
      assert (req_ready_o == !(hand && asked_q));
      if (rsp_valid_o) begin
        assert (rsp_fence_o == fence_q[rsp_lock_o] + 1'(rsp_status_o == LockRevoked));
      end
      assert (hand == (waiters_q[was_lock_q] != '0 &&
              (freed_q || (was_hand_q && !exclusive_q[was_lock_q] && next_shared &&
                           holders_q[was_lock_q] != '1))));
      // Inside.
      assert (dut.valid_q == asked_q);
      if (asked_q) assert (dut.fence_q == asked_fence_q);
      if (asked_q) assert (dut.lock_q == asked_lock_q && dut.owner_q == asked_owner_q);
      if (asked_q) assert (dut.op_q == asked_op_q && dut.exclusive_q == asked_exclusive_q);
      assert (3'(waiters_q[0]) + 3'(waiters_q[1]) ==
              3'(dut.used_q[0]) + 3'(dut.used_q[1]) + 3'(dut.used_q[2]));
      if (live_q) begin
        assert (ahead_q < waiters_q[live_lock_q]);
        assert (dut.waiter_q[chain[live_lock_q][ahead_q]] == {live_exclusive_q, live_owner_q});
      end
      // The word that is decided on, from the memory or from the order before.
      if (asked_q && dut.same_q)
        assert (dut.last_q == word[dut.lock_q] && dut.last_lock_q == dut.lock_q);
      if (asked_q && !dut.same_q) assert (dut.read == word[dut.lock_q]);
      if (asked_q && !dut.same_q && hand) assert (dut.last_lock_q != dut.lock_q);
      if (hand)
        assert (dut.last_q == word[dut.last_lock_q] && waiters_q[dut.last_lock_q] != '0);
      if (hand)
        assert (holders_q[dut.last_lock_q] == '0 || (!exclusive_q[dut.last_lock_q] &&
                !dut.first.exclusive && holders_q[dut.last_lock_q] != '1));
      cover (live_q && granted && hand && ahead_q == '0 && holders_q[rsp_lock_o] == 2'd1);
      cover (live_q && waiters_q[0] == 2'd1 && waiters_q[1] == 2'd1);
      cover (rsp_valid_o && rsp_status_o == LockRevoked && waiters_q[rsp_lock_o] == 2'd1);
      // An order of a lock behind another of it, and one that waits for a hand-over.
      cover (answers && dut.same_q && rsp_status_o == LockQueued);
      cover (hand && asked_q && dut.same_q && asked_op_q == LockRelease);
    end
  end
endmodule
