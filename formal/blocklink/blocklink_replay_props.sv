// SPDX-License-Identifier: SHL-2.1
/// Two ends of blocklink_replay, both sending, over lanes that alter blocks, lose them, and hold
/// them for any time (blocklink_replay_way, which has the properties of each way).
///
///   known   no acknowledgement of what was not sent, in either direction
///   asks    behind a bad block an end is not up, and what it makes next is a SYNC that asks
module blocklink_replay_props
  import blocklink_pkg::*;
#(
  parameter int unsigned Window = 3
) (
  input logic           clk_i,
  input logic [1:0]     some_i,
  input payload_t [1:0] made_i,
  input logic [1:0]     ready_i,
  input logic [1:0]     alter_i,
  input block_t [1:0]   altered_i,
  input logic [1:0]     lose_i,
  input logic [1:0]     arrive_i,
  input logic [1:0]     pick_i
);
  typedef logic [SeqWidth+1:0] label_t;
  logic started_q = 1'b0;
  always_ff @(posedge clk_i) started_q <= 1'b1;

  block_t [1:0] tx, rx;
  logic [1:0] rx_valid, take, got, up, bad, again, fail;
  payload_t [1:0] came;
  label_t [1:0] way_made, way_oldest, way_came;

  for (genvar e = 0; e < 2; e++) begin : gen_end
    // Patience is the least that is legal: an answer is asked for while the link works, too.
    blocklink_replay #(.Window(Window), .Patience(4)) dut (
      .clk_i, .rst_ni(started_q), .tx_block_o(tx[e]), .tx_ready_i(ready_i[e]),
      .rx_block_i(rx[e]), .rx_valid_i(rx_valid[e]), .new_some_i(some_i[e]),
      .new_take_o(take[e]), .new_i(made_i[e]), .got_o(got[e]), .got_payload_o(came[e]),
      .up_o(up[e]), .bad_o(bad[e]), .again_o(again[e]), .fail_o(fail[e])
    );
  end
  for (genvar e = 0; e < 2; e++) begin : gen_way
    seq_t slot;
    payload_t slot_kept;
    assign slot_kept = gen_end[e].dut.kept_q[slot[$clog2(Window)-1:0]];
    blocklink_replay_way #(.Window(Window)) way (
      .clk_i, .started_i(started_q), .ready_i(ready_i[e]), .alter_i(alter_i[e]),
      .altered_i(altered_i[e]), .lose_i(lose_i[e]), .arrive_i(arrive_i[e]), .pick_i(pick_i[e]),
      .tx_block_i(tx[e]), .load_i(gen_end[e].dut.load),
      .sync_i(gen_end[e].dut.choice == 2'd0), .take_i(take[e]),
      .made_i(made_i[e]), .oldest_i(gen_end[e].dut.oldest_q), .held_i(gen_end[e].dut.held_q),
      .next_i(gen_end[e].dut.next_q), .answer_i(gen_end[e].dut.answer_q),
      .acks_i(gen_end[e].dut.acks_q), .back_came_i(way_came[1-e]), .pick_slot_o(slot),
      .kept_i(slot_kept), .rx_block_o(rx[1-e]), .rx_valid_o(rx_valid[1-e]),
      .in_i(gen_end[1-e].dut.in_q), .in_valid_i(gen_end[1-e].dut.in_valid_q),
      .got_sync_i(gen_end[1-e].dut.sync), .got_data_i(gen_end[1-e].dut.data),
      .got_idle_i(gen_end[1-e].dut.idle), .got_i(got[1-e]), .got_payload_i(came[1-e]),
      .rx_i(gen_end[1-e].dut.rx_q), .pos_i(gen_end[1-e].dut.pos_q),
      .back_oldest_i(way_oldest[1-e]), .made_o(way_made[e]), .oldest_o(way_oldest[e]),
      .came_o(way_came[e]), .flying_o(), .block_o(), .number_o()
    );

    logic was_bad_q = 1'b0, asking_q = 1'b0;
    sync_t made_fields;
    assign made_fields = {tx[e].control.credit, tx[e].control.vc};
    always_ff @(posedge clk_i) begin
      was_bad_q <= started_q && bad[e];
      asking_q  <= started_q && !up[e] && gen_end[e].dut.load;
    end
    always_comb begin
      if (started_q) begin
        known : assert (!fail[e]);
        if (was_bad_q) asks : assert (!up[e]);
        if (asking_q) begin
          asked : assert (tx[e].control.kind == KindSync && made_fields.request);
        end
      end
    end
  end

  // ---------------------------------------------------------------- what can happen
  logic seen_bad_q = 1'b0, seen_again_q = 1'b0, seen_full_q = 1'b0, seen_late_q = 1'b0;
  always_ff @(posedge clk_i) begin
    if (bad[1]) seen_bad_q <= 1'b1;
    if (seen_bad_q && again[0]) seen_again_q <= 1'b1;
    if (gen_end[0].dut.held_q == seq_t'(Window)) seen_full_q <= 1'b1;
    if (gen_end[0].dut.overdue && gen_end[0].dut.ok_q) seen_late_q <= 1'b1;
  end
  always_comb begin
    started : cover (up == 2'b11 && way_came[0] == label_t'(1));
    repaired : cover (seen_again_q && got[1]);
    window_full : cover (seen_full_q && gen_end[0].dut.held_q == '0);
    late : cover (seen_late_q && up[0]);
    both_ways : cover (way_came[0] == label_t'(2) && way_came[1] == label_t'(2));
  end
endmodule
