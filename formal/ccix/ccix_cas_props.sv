// SPDX-License-Identifier: SHL-2.1
/// ccix_cas: two orders for one line, whose lock the other side changes whenever it may: while the
/// cache is given snoops, or has not the line. What is swapped is what was compared, a writer is
/// alone, and each order has one end, with its slot and what became of it. An order that has its
/// line goes on at once; one that another stopped is tried again within Pause cycles. Accesses to
/// records pass unchanged, in order cycles none.
module ccix_cas_props
  import ccix_pkg::*;
  import svm_pkg::*;
(
  input logic        clk_i,
  input logic        order_valid_i,
  input logic [1:0]  order_op_i,
  input logic        order_exclusive_i,
  input logic [5:0]  order_slot_i,
  input logic [15:0] lock_i,       // the line's number
  input logic        req_valid_i,
  input logic        req_write_i,
  input index_t      req_index_i,
  input logic [7:0]  req_tag_i,
  input mask_t       req_mask_i,
  input line_t       req_data_i,
  input logic        req_ready_i,
  input logic        rsp_valid_i,
  input logic [7:0]  rsp_tag_i,
  input logic        steal_i,      // the other side has the line
  input logic [63:0] steal_lock_i  // and leaves this
);
  logic [15:0] line_q;
  logic rst_ni, order_ready_o, ans_valid_o, req_ready_o, rsp_valid_o, hold_snoops_o, req_valid_o;
  logic req_write_o;
  lock_status_e ans_status_o;
  logic [5:0] ans_slot_o;
  index_t req_index_o;
  logic [7:0] req_tag_o;
  mask_t req_mask_o;
  line_t req_data_o;
  lock_op_e order_op;
  logic [63:0] rsp_lock;
  assign order_op = lock_op_e'(order_op_i);
  ccix_cas #(.Entries(2), .Window(5), .Pause(2)) dut (
    .order_op_i(order_op), .order_lock_i(line_q), .rsp_lock_i(rsp_lock), .*
  );

  logic started_q = 1'b0;
  always_ff @(posedge clk_i) begin
    started_q <= 1'b1;
    line_q    <= started_q ? line_q : lock_i;
  end
  assign rst_ni = started_q;

  // ------------------------------------------------------------ the line
  // It is owned from an answer to a store; snoops that the cache was given before are over then.
  logic owned_q, ours, swap, probe, load;
  logic [63:0] lock_q;
  logic [1:0] probes_q;  // without an answer, an entry each
  logic load_q, swap_q;
  assign ours  = req_valid_o && req_tag_o[6];
  assign probe = ours && req_write_o && req_mask_o == '0;
  assign load  = ours && !req_write_o;
  assign swap  = ours && req_write_o && req_mask_o != '0;
  assign rsp_lock = lock_q;
  logic [0:0] rsp_id;
  logic mine, stolen;
  assign mine   = rsp_valid_i && rsp_tag_i[6];
  assign rsp_id = rsp_tag_i[0];
  assign stolen = steal_i && !(hold_snoops_o && owned_q);
  always_ff @(posedge clk_i) begin
    if (!started_q) begin
      owned_q  <= 1'b0;
      lock_q   <= '0;
      probes_q <= '0;
      load_q   <= 1'b0;
      swap_q   <= 1'b0;
    end else begin
      if (stolen) begin
        owned_q <= 1'b0;
        lock_q  <= steal_lock_i;
      end
      if (mine && rsp_tag_i[7] && !swap_q) owned_q <= 1'b1;
      if (req_ready_i && probe) probes_q[req_tag_o[0]] <= 1'b1;
      if (req_ready_i && load) load_q <= 1'b1;
      if (req_ready_i && swap) swap_q <= 1'b1;
      if (req_ready_i && swap) lock_q <= req_data_o[7];
      if (mine) begin
        if (swap_q && rsp_id == dut.id_q) swap_q <= 1'b0;
        else if (load_q && rsp_id == dut.id_q) load_q <= 1'b0;
        else probes_q[rsp_id] <= 1'b0;
      end
    end
  end

  // ------------------------------------------------------------ what the surroundings do
  always_comb begin
    if (!started_q) assume (!order_valid_i && !rsp_valid_i && !req_valid_i);
    else begin
      assume (!order_valid_i || order_op_i != 2'd3);
      assume (!req_tag_i[6] && rsp_tag_i[5:1] == '0);
      if (mine) begin
        if ((swap_q || load_q) && rsp_id == dut.id_q) assume (rsp_tag_i[7] == swap_q);
        else assume (probes_q[rsp_id] && rsp_tag_i[7] && !stolen);
        // A line is not taken in the cycle of its answer.
      end
      // What the other side leaves is a lock: free, a writer, or some readers.
      assume (steal_lock_i == {1'b1, 63'd0} || steal_lock_i < 64'd4);
    end
  end

  // A hit is answered in the cache's 4 cycles.
  logic [2:0] hit_q;
  always_ff @(posedge clk_i) hit_q <= started_q && (load_q || swap_q) ? hit_q + 1'b1 : '0;
  always_comb if (started_q && hit_q == 3'd3) assume (mine && rsp_id == dut.id_q);

  // ------------------------------------------------------------ the orders, by their entries
  typedef struct packed {
    lock_op_e   op;
    logic       exclusive;
    logic [5:0] slot;
  } asked_t;
  asked_t asked_q [2];
  asked_t asked;
  logic [2:0] state;  // ccix_cas: idle, probe, owned, load, read, store, written
  logic take, busy, able, choose, chosen_q, chosen_id_q;
  logic [1:0] came_q, leaves, first;
  logic [1:0][1:0] late_for_q;
  assign take   = order_valid_i && order_ready_o;
  assign choose = started_q && !hold_snoops_o && dut.next_some_q && req_ready_i;
  assign asked  = asked_q[dut.id_q];
  assign state  = 3'(dut.state_q);
  assign able   = asked.op == LockRelease || (asked.exclusive ? lock_q == '0 : !lock_q[63]);
  assign busy   = state == 3'd5 && asked.op == LockTry && !able;
  for (genvar e = 0; e < 2; e++) begin : gen_entry
    assign leaves[e] = dut.due_q[e] && asked_q[e].op == LockRelease;
  end
  assign first = came_q != '0 ? came_q : leaves != '0 ? leaves : dut.due_q;
  always_ff @(posedge clk_i) begin
    if (take) begin
      asked_q[dut.free[1]] <= '{
        op: order_op, exclusive: order_exclusive_i, slot: order_slot_i
      };
    end
    chosen_q    <= choose;
    chosen_id_q <= dut.next_id_q;
    if (!started_q) came_q <= '0;
    else begin
      if (choose) came_q[dut.next_id_q] <= 1'b0;
      // Its line has come, and it had not waited for it within the window.
      if (mine && probes_q[rsp_id] && !(state == 3'd2 && rsp_id == dut.id_q))
        came_q[rsp_id] <= 1'b1;
    end
    for (int unsigned e = 0; e < 2; e++)
      late_for_q[e] <= dut.late_q[e] ? late_for_q[e] + 1'b1 : '0;
  end

  // What might have been chosen, one to four cycles ago; for how long some one could have been.
  logic [3:0][1:0] first_q;
  logic [2:0] waited_q;
  always_ff @(posedge clk_i) begin
    first_q <= {first_q[2:0], first};
    if (!started_q || choose || hold_snoops_o || dut.due_q == '0) waited_q <= '0;
    else if (waited_q != 3'd4 || !dut.next_some_q) waited_q <= waited_q + 1'b1;
  end

  // ------------------------------------------------------------ what must hold
  // Snoops are held for a bounded time, although the cache may take nothing for ever.
  logic [5:0] held_for_q;
  logic took_q;  // the cache
  always_ff @(posedge clk_i) took_q <= req_ready_i;
  always_ff @(posedge clk_i) held_for_q <= started_q && hold_snoops_o ? held_for_q + 1'b1 : '0;
  logic [1:0] open_q;
  logic ends;
  assign ends = ans_valid_o;
  always_ff @(posedge clk_i) begin
    if (!started_q) open_q <= '0;
    else open_q <= open_q + 2'(order_valid_i && order_ready_o) - 2'(ends);
  end
  always_comb begin
    if (started_q) begin
      if (swap) begin
        assert (owned_q && hold_snoops_o && lock_q == dut.held_q);
        if (dut.now_q.op != LockRelease) begin
          assert (dut.now_q.exclusive ? lock_q == '0 : !lock_q[63]);
          assert (req_data_o[7] == (dut.now_q.exclusive ? {1'b1, 63'd0} : lock_q + 64'd1));
        end
        assert (req_mask_o == {8'hFF, 56'd0});
      end
      // No access of another between compare and swap.
      if (hold_snoops_o) assert (!req_ready_o);
      if (hold_snoops_o) assert (held_for_q <= 6'd31);
      if (hold_snoops_o && held_for_q == '0) assert (took_q);
      if (ends) assert (open_q != '0 && dut.used_q[dut.id_q]);
      if (ends && ans_status_o == LockGranted) assert (swap_q);
      assert (2'(dut.used_q[0]) + 2'(dut.used_q[1]) == open_q);
      assert (order_ready_o == (open_q != 2'd2));
      // An order ends when its lock is written; a try also when its lock is not to be had.
      assert (ends == ((swap_q && mine && rsp_id == dut.id_q) || busy));
      if (ends) begin
        assert (ans_slot_o == asked.slot);
        assert (ans_status_o == (busy ? LockBusy :
                                 asked.op == LockRelease ? LockReleased : LockGranted));
      end
      // What the cache is given: of an order its own line, with its number; else the access to a
      // record.
      assert (rsp_valid_o == (rsp_valid_i && !rsp_tag_i[6]));
      assert (req_ready_o == (req_ready_i && !hold_snoops_o));
      if (!hold_snoops_o) begin
        assert (req_valid_o == req_valid_i);
        if (req_valid_i) begin
          assert (req_write_o == req_write_i && req_tag_o == req_tag_i);
          assert (req_index_o == req_index_i);
          assert (req_mask_o == req_mask_i && req_data_o == req_data_i);
        end
      end else if (req_valid_o) begin
        assert (ours && req_index_o == index_t'(line_q));
        assert (req_tag_o == {req_write_o, 6'b100_000, dut.id_q});
        assert (req_mask_o == (load ? '1 : swap ? {8'hFF, 56'd0} : '0));
        if (swap) begin
          assert (req_data_o[6:0] == '0);
          assert (asked.op != LockRelease ||
                  req_data_o[7] == (asked.exclusive ? 64'd0 : lock_q - 64'd1));
        end
      end
    end
  end

  // ------------------------------------------------------------ inside, for induction
  // Cycles of a step so far; in the cycle before its access was taken or answered, or it may end.
  logic [2:0] was_q, step_for, step_for_q;
  logic moved_q, ends_q;
  assign step_for = state == was_q ? step_for_q + 1'b1 : '0;
  always_ff @(posedge clk_i) begin
    was_q      <= started_q ? state : 3'd0;
    step_for_q <= step_for;
    moved_q    <= started_q && ((ours && req_ready_i) || (mine && rsp_id == dut.id_q));
    ends_q     <= (state == 3'd1 && probes_q != '0) || (state == 3'd5 && !able) ||
                  dut.window_q == '0;
  end
  always_comb begin
    if (started_q) begin
      assert (state <= 3'd6);
      assert (load_q == (state == 3'd4) && swap_q == (state == 3'd6));
      for (int unsigned e = 0; e < 2; e++) begin
        // An entry is at one place.
        assert (dut.asks_q[e] == (probes_q[e] && !(state == 3'd2 && dut.id_q == 1'(e))));
        assert (dut.came_q[e] == came_q[e] && (!came_q[e] || dut.due_q[e]));
        // Tried again within the pause.
        if (dut.late_q[e])
          assert (late_for_q[e] <= 2'd1 && (dut.pause_q == '0 || late_for_q[e] == '0));
        if (dut.used_q[e]) begin
          assert (dut.leaves_q[e] == (asked_q[e].op == LockRelease) && asked_q[e].op != LockRevoke);
          assert ({dut.entry_q[e].op, dut.entry_q[e].exclusive, dut.entry_q[e].slot} == asked_q[e]);
          assert (dut.entry_q[e].lock == line_q);
        end
        assert (3'(dut.due_q[e]) + 3'(dut.late_q[e]) + 3'(probes_q[e]) +
                3'(state inside {3'd1, [3'd3:3'd6]} && dut.id_q == 1'(e)) == 3'(dut.used_q[e]));
      end
      // One that is due has its turn in the fifth cycle in which none else has. What goes first,
      // one whose line has come, else one that releases, is that of four cycles before.
      assert (waited_q <= 3'd4);
      if (choose) assert (first_q[3][dut.next_id_q]);
      // The steps of the choice.
      assert (dut.first == first && ((dut.may_q & ~first_q[0]) | (dut.pick_q & ~first_q[1])) == '0);
      assert (((dut.may_q | dut.pick_q) & ~dut.due_q) == '0 && dut.pick_q != '1);
      assert ((dut.high_q & ~dut.may_q) == '0);
      if (dut.fetch_some_q) begin
        assert (first_q[2][dut.fetch_id_q] && dut.due_q[dut.fetch_id_q]);
        assert (dut.fetch_q == dut.entry_q[dut.fetch_id_q]);
      end
      if (dut.next_some_q) begin
        assert (first_q[3][dut.next_id_q] && dut.due_q[dut.next_id_q]);
        assert (dut.next_q == dut.entry_q[dut.next_id_q]);
      end
      for (int unsigned e = 0; e < 2; e++) begin
        if ((dut.next_some_q || state == 3'd1) &&
            (dut.asks_q[e] || (state == 3'd2 && dut.id_q == 1'(e)))) assert (dut.match_q[e]);
      end
      if (state != 3'd0) assert (dut.now_q == dut.entry_q[dut.id_q]);
      if (waited_q == 3'd1) assert (dut.may_q != '0);
      if (waited_q == 3'd2) assert (dut.pick_q != '0);
      if (waited_q == 3'd3) assert (dut.fetch_some_q);
      if (waited_q == 3'd4) assert (dut.next_some_q);
      if (chosen_q) assert (state == 3'd1 && dut.id_q == chosen_id_q);
      assert (dut.pause_q <= 8'd1);
      // An access is offered until it is taken or its time is over, and the next step follows.
      assert (ours == ((state == 3'd1 && probes_q == '0) || state == 3'd3 ||
                       (state == 3'd5 && able)));
      if (moved_q && was_q inside {[3'd1:3'd6]})
        assert (state == (was_q == 3'd6 ? 3'd0 : was_q + 3'd1));
      if (!moved_q && !ends_q && was_q inside {[3'd1:3'd5]}) assert (state == was_q);
      if (state != 3'd0) assert (dut.used_q[dut.id_q]);
      // The window of each step, the cycles of a hit of the two that are answered.
      if (state inside {3'd1, 3'd2, 3'd3, 3'd5}) assert (dut.window_q + 4'(step_for) == 4'd5);
      case (state)
        3'd0: assert (held_for_q <= 6'd32);
        3'd1: assert (held_for_q + 6'(dut.window_q) == 6'd5);
        3'd2: assert (held_for_q + 6'(dut.window_q) <= 6'd11);
        3'd3: assert (held_for_q + 6'(dut.window_q) <= 6'd17);
        3'd4: assert (held_for_q <= 6'd18 + 6'(hit_q) && hit_q <= 3'd3);
        3'd5: assert (held_for_q + 6'(dut.window_q) <= 6'd27);
        default: assert (held_for_q <= 6'd28 + 6'(hit_q) && hit_q <= 3'd3);
      endcase
      if (state == 3'd2) assert (dut.used_q[dut.id_q] && probes_q[dut.id_q]);
      if (state inside {[3'd3:3'd6]}) assert (owned_q);
      if (state == 3'd5) assert (lock_q == dut.held_q);
      if (state inside {3'd5, 3'd6}) assert (dut.zero_q == (dut.held_q == '0));
      if (state == 3'd6) assert (dut.able);
      cover (ends && ans_status_o == LockGranted && lock_q == 64'd2);
      cover (ends && ans_status_o == LockBusy);
      cover (ends && ans_status_o == LockReleased && open_q == 2'd2);
      cover (state == 3'd2 && dut.window_q == '0 && !mine);
    end
  end
endmodule
