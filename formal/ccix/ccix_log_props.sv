// SPDX-License-Identifier: SHL-2.1
/// ccix_log behind any lease: each update, and each transaction that is complete or undone, is one
/// message with what belongs to it, in the order of the strobes. One arbitrary cycle's strobes are
/// watched. None finds the queue full.
module ccix_log_props
  import ccix_pkg::*;
(
  input logic        clk_i,
  input logic        task_valid_i,
  input logic [0:0]  task_slot_i,
  input logic [31:0] task_id_i,
  input logic        update_i,
  input logic [0:0]  update_slot_i,
  input logic [31:0] record_i,
  input logic [63:0] old_i,
  input logic [63:0] new_i,
  input logic        complete_i,
  input logic [0:0]  complete_slot_i,
  input logic        undone_i,
  input logic [0:0]  undone_slot_i,
  input logic        msg_ready_i,
  input logic        watch_i
);
  localparam int unsigned Depth = 8;
  logic rst_ni, room_o, msg_valid_o, fail_o;
  logic [3:0] msg_words_o;
  word_t [2:0] msg_o;
  log_events_t log_i;
  assign log_i = '{
    update: update_i, update_slot: 6'(update_slot_i), record: record_i, old_value: old_i,
    new_value: new_i, complete: complete_i, complete_slot: 6'(complete_slot_i), undone: undone_i,
    undone_slot: 6'(undone_slot_i)
  };
  ccix_log #(.Slots(2), .Depth(Depth)) dut (.*);
  log_message_t head;
  assign head = msg_o[0];

  logic started_q = 1'b0;
  always_ff @(posedge clk_i) started_q <= 1'b1;
  assign rst_ni = started_q;

  // ------------------------------------------------------------ what the lease does
  // While there is no room: one update and one complete transaction at most. Behind one that is
  // undone its first release is taken, in a cycle in which the unit completes none, before another
  // one is, or its slot begins anew.
  logic late_update_q, late_complete_q, late_q;
  logic [0:0] late_slot_q;
  logic [1:0] wrote_q, begun_q;
  logic [1:0][31:0] id_q;
  logic undone;
  assign undone = undone_i && wrote_q[undone_slot_i];
  always_ff @(posedge clk_i) begin
    if (!started_q) begin
      late_update_q   <= 1'b0;
      late_complete_q <= 1'b0;
      late_q          <= 1'b0;
      wrote_q         <= '0;
      begun_q         <= '0;
    end else begin
      late_update_q   <= !room_o && (late_update_q || update_i);
      late_complete_q <= !room_o && (late_complete_q || complete_i);
      late_q          <= complete_i && (undone || late_q);
      if (undone) wrote_q[undone_slot_i] <= 1'b0;
      if (update_i) wrote_q[update_slot_i] <= 1'b1;
      if (task_valid_i) wrote_q[task_slot_i] <= 1'b0;
      if (task_valid_i) begun_q[task_slot_i] <= 1'b1;
    end
    if (undone) late_slot_q <= undone_slot_i;
    if (task_valid_i) id_q[task_slot_i] <= task_id_i;
  end
  always_comb begin
    if (!started_q) assume (!task_valid_i && !update_i && !complete_i && !undone_i);
    else begin
      assume (room_o || !update_i || !late_update_q);
      assume (room_o || !complete_i || !late_complete_q);
      assume (!update_i || begun_q[update_slot_i]);
      assume (!complete_i || begun_q[complete_slot_i]);
      assume (!undone_i || !late_q);
      assume (!undone_i || !update_i || update_slot_i != undone_slot_i);
      assume (!undone_i || !task_valid_i || task_slot_i != undone_slot_i);
      assume (!late_q || !task_valid_i || task_slot_i != late_slot_q);
      assume (!late_q || !update_i || update_slot_i != late_slot_q);
    end
  end

  // ------------------------------------------------------------ one cycle's strobes
  // Cycles with strobes are counted; one is watched. Its update is the next message when those
  // before it are gone, its end the one behind it.
  logic ends, put, update_q, end_q, undone_q, live_q, sent, last;
  logic [3:0] queued_q, ahead_q;
  logic [0:0] slot_q, end_slot_q, end_slot;
  logic [31:0] record_q, end_id_q;
  logic [63:0] old_q, new_q;
  assign ends     = complete_i || undone || late_q;
  assign put      = update_i || ends;
  assign end_slot = complete_i ? complete_slot_i : late_q ? late_slot_q : undone_slot_i;
  // A message is its entry's last.
  assign last     = !(dut.first.update && dut.first.ends && msg_words_o == 4'd3);
  assign sent     = msg_valid_o && msg_ready_i;
  always_ff @(posedge clk_i) begin
    if (!started_q) begin
      queued_q <= '0;
      live_q   <= 1'b0;
    end else begin
      queued_q <= queued_q + 4'(put) - 4'(sent && last);
      if (live_q && sent && last) begin
        ahead_q <= ahead_q - 4'd1;
        if (ahead_q == '0) live_q <= 1'b0;
      end
      if (put && watch_i && !live_q) begin
        live_q  <= 1'b1;
        ahead_q <= queued_q - 4'(sent && last);
        {update_q, slot_q, record_q, old_q, new_q} <= {update_i, update_slot_i, record_i, old_i,
                                                       new_i};
        {end_q, undone_q, end_slot_q, end_id_q} <= {ends, !complete_i, end_slot, id_q[end_slot]};
      end
    end
  end
  // Of the watched one what is sent: the update, if it has one, then the end, if it has one, then
  // no more.
  logic mine, seen_q;
  assign mine = live_q && ahead_q == '0;
  always_ff @(posedge clk_i) begin
    if (!started_q || !mine) seen_q <= 1'b0;
    else if (sent) seen_q <= !last;
  end

  logic [2:0] at;
  assign at = 3'(dut.u_queue.rptr_q + ahead_q);
  always_comb begin
    if (started_q) begin
      assert (!fail_o);
      assert (msg_valid_o == (queued_q != '0));
      if (msg_valid_o) begin
        assert (head.kind == MsgLock && head.words == msg_words_o && head.mark == '1 &&
                head.zero == '0);
        assert (msg_words_o == (head.what == LogUpdate ? 4'd3 : 4'd1));
      end
      if (mine) begin
        assert (msg_valid_o);
        if (update_q && !seen_q) begin
          assert (head.what == LogUpdate && head.slot == 8'(slot_q) && head.id == record_q);
          assert (msg_o[1] == old_q && msg_o[2] == new_q && last == !end_q);
        end else begin
          assert (end_q && last && head.what == (undone_q ? LogUndone : LogComplete));
          assert (head.slot == 8'(end_slot_q) && head.id == end_id_q);
        end
      end
      // Inside, for induction.
      assert (dut.usage == queued_q);
      assert (32'(queued_q) + 32'(late_q) + 32'(wrote_q[0]) + 32'(wrote_q[1]) <=
              Depth - 3 + 2 * 32'(late_update_q) + 32'(late_complete_q));
      assert (dut.wrote_q == wrote_q && dut.late_q == late_q);
      assert ((wrote_q & ~begun_q) == '0);
      for (int unsigned n = 0; n < 2; n++) if (begun_q[n]) assert (dut.id_q[n] == id_q[n]);
      if (late_q)
        assert (begun_q[late_slot_q] && dut.late_slot_q == late_slot_q && !wrote_q[late_slot_q]);
      if (dut.second_q) assert (queued_q != '0 && dut.first.update && dut.first.ends);
      if (mine) assert (seen_q == dut.second_q);
      if (live_q) begin
        assert (ahead_q < queued_q && (update_q || end_q));
        assert (dut.u_queue.mem_q[at][196:34] == {update_q, end_q, slot_q, record_q, old_q, new_q});
        if (end_q) assert (dut.u_queue.mem_q[at][33:0] == {undone_q, end_slot_q, end_id_q});
      end
      cover (mine && seen_q && undone_q);
      cover (!room_o && late_update_q && late_complete_q);
      cover (late_q && mine && queued_q > 4'd2);
    end
  end
endmodule
