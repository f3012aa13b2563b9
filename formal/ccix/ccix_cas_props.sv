// SPDX-License-Identifier: SHL-2.1
/// ccix_cas: two orders for one line, whose lock the other side changes whenever it may: while the
/// cache is given snoops, or has not the line. What is swapped is what was compared, a writer is
/// alone, and each order has one end.
module ccix_cas_props
  import ccix_pkg::*;
  import svm_pkg::*;
(
  input logic        clk_i,
  input logic        order_valid_i,
  input logic [1:0]  order_op_i,
  input logic        order_exclusive_i,
  input logic [5:0]  order_slot_i,
  input logic        req_valid_i,
  input logic        req_write_i,
  input logic [7:0]  req_tag_i,
  input logic        req_ready_i,
  input logic        rsp_valid_i,
  input logic [7:0]  rsp_tag_i,
  input logic        steal_i,      // the other side has the line
  input logic [63:0] steal_lock_i  // and leaves this
);
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
    .order_op_i(order_op), .order_lock_i(16'd0), .req_index_i('0), .req_mask_i('0),
    .req_data_i('0), .rsp_lock_i(rsp_lock), .*
  );

  logic started_q = 1'b0;
  always_ff @(posedge clk_i) started_q <= 1'b1;
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
        if (dut.now.op != LockRelease) begin
          assert (dut.now.exclusive ? lock_q == '0 : !lock_q[63]);
          assert (req_data_o[7] == (dut.now.exclusive ? {1'b1, 63'd0} : lock_q + 64'd1));
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
    end
  end

  // ------------------------------------------------------------ inside, for induction
  logic [2:0] state;
  assign state = 3'(dut.state_q);
  always_comb begin
    if (started_q) begin
      assert (dut.u_turns.owner_q == '0 && state <= 3'd6);
      assert (load_q == (state == 3'd4) && swap_q == (state == 3'd6));
      for (int unsigned e = 0; e < 2; e++) begin
        // An entry is at one place.
        assert (dut.asks_q[e] == (probes_q[e] && !(state == 3'd2 && dut.id_q == 1'(e))));
        assert (!dut.came_q[e] || dut.due_q[e]);
        assert (3'(dut.due_q[e]) + 3'(dut.late_q[e]) + 3'(probes_q[e]) +
                3'(state inside {3'd1, [3'd3:3'd6]} && dut.id_q == 1'(e)) == 3'(dut.used_q[e]));
      end
      // The window of each step that waits, the cycles of a hit of the two that are answered.
      if (state inside {3'd1, 3'd2, 3'd3, 3'd5}) assert (dut.window_q <= 4'd5);
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
      if (state == 3'd6) assert (dut.able);
      cover (ends && ans_status_o == LockGranted && lock_q == 64'd2);
      cover (ends && ans_status_o == LockBusy);
      cover (ends && ans_status_o == LockReleased && open_q == 2'd2);
      cover (state == 3'd2 && dut.window_q == '0 && !mine);
    end
  end
endmodule
