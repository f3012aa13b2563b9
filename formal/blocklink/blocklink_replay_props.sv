// SPDX-License-Identifier: SHL-2.1
/// Two ends of blocklink_replay over lanes that alter blocks, lose them, and hold them for a time.
///
/// End 0 sends labels that count up, end 1 acknowledges in idle and SYNC blocks; what comes out at
/// end 1 is the same labels, each once and in order. Labels count modulo twice the numbers: an old
/// block cannot look like a new one. A search of bounded depth:
/// the protocol itself is checked by a model.
module blocklink_replay_props
  import blocklink_pkg::*;
#(
  parameter int unsigned Window = 2 ** SeqWidth - 1
) (
  input logic       clk_i,
  input logic       some_i,    // there is something to send
  input logic [1:0] ready_i,   // the lanes take a block
  input logic [1:0] alter_i,   // in altered form
  input logic [1:0] lose_i,    // and never hand it on
  input logic [1:0] arrive_i   // the lanes hand on the oldest block
);
  localparam int unsigned Lanes = 2;
  localparam int unsigned LabelWidth = SeqWidth + 1;
  typedef logic [LabelWidth-1:0] label_t;

  logic started_q = 1'b0;
  always_ff @(posedge clk_i) started_q <= 1'b1;

  block_t [1:0] tx, rx;
  logic [1:0] rx_valid, take, got, up, bad, again, fail;
  payload_t [1:0] made, came;
  label_t made_q [2];
  label_t came_q [2];

  for (genvar e = 0; e < 2; e++) begin : gen_end
    blocklink_replay #(.Window(Window)) dut (
      .clk_i, .rst_ni(started_q), .tx_block_o(tx[e]), .tx_ready_i(ready_i[e]),
      .rx_block_i(rx[e]), .rx_valid_i(rx_valid[e]), .new_some_i(e == 0 && some_i),
      .new_take_o(take[e]), .new_i(made[e]), .got_o(got[e]), .got_payload_o(came[e]),
      .up_o(up[e]), .bad_o(bad[e]), .again_o(again[e]), .fail_o(fail[e])
    );
    always_comb begin
      made[e]          = '0;
      made[e].words[0] = word_t'(made_q[e]);
    end
    always_ff @(posedge clk_i) begin
      if (!started_q) begin
        made_q[e] <= '0;
        came_q[e] <= '0;
      end else begin
        made_q[e] <= made_q[e] + label_t'(take[e]);
        came_q[e] <= came_q[e] + label_t'(got[e]);
      end
    end

    // Lanes from this end: places, the oldest first.
    block_t line_q [Lanes];
    logic [1:0] count_q;
    logic put, pass;
    block_t sent;
    always_comb begin
      sent = tx[e];
      if (alter_i[e]) sent.control.check[23] = ~tx[e].control.check[23];
    end
    assign pass = arrive_i[e] && count_q != '0;
    assign put  = ready_i[e] && !lose_i[e];
    assign rx[1-e]       = line_q[0];
    assign rx_valid[1-e] = pass;
    always_ff @(posedge clk_i) begin
      if (!started_q) begin
        count_q <= '0;
      end else begin
        count_q <= count_q + 2'(put) - 2'(pass);
        if (pass) line_q[0] <= line_q[1];
        if (put) line_q[count_q-2'(pass)] <= sent;
      end
    end
    always_comb begin
      assume (!(put && count_q == 2'(Lanes) && !pass));
      if (!started_q) assume (!ready_i[e]);
    end

    // ---------------------------------------------------------------- what must hold
    logic was_bad_q = 1'b0;
    always_ff @(posedge clk_i) was_bad_q <= started_q && bad[e];
    always_comb begin
      // What comes behind a bad block is not taken, and the other end is asked for it at once.
      if (was_bad_q) asks : assert (!up[e]);
      if (started_q && got[e]) begin
        once : assert (came[e].words[0] == word_t'(came_q[e]));
        sent_before : assert (came_q[e] != made_q[1-e]);
      end
      if (started_q) begin
        known : assert (!fail[e]);
        kept : assert (gen_end[e].dut.held_q <= seq_t'(Window));
        place : assert (gen_end[e].dut.next_q <= gen_end[e].dut.held_q);
      end
    end
  end

  // A block was altered, and blocks came after it was sent again.
  logic seen_bad_q = 1'b0, seen_again_q = 1'b0;
  always_ff @(posedge clk_i) begin
    if (bad[1]) seen_bad_q <= 1'b1;
    if (seen_bad_q && again[0]) seen_again_q <= 1'b1;
  end
  always_comb begin
    started : cover (up == 2'b11 && came_q[1] == label_t'(1));
    repaired : cover (seen_again_q && got[1]);
  end
endmodule
