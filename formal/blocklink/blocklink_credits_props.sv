// SPDX-License-Identifier: SHL-2.1
/// Credits of any one circuit from end 0 to end 1 of two blocklink_core: packing, replay and
/// receive buffers together, all circuits in use in both directions, over lanes that alter blocks,
/// lose them, and hold them for any time (blocklink_replay_way).
///
///   conserved   sender's credits + words staged + words in blocks that did not come out, + words
///               in the receive buffer + words freed there and not given back + 8 for each credit
///               in blocks that did not come out yet = the buffer's depth
///   room        a block's words always fit into the buffer
///   never_more  the sender never has more credits than the buffer has places
///   recovered   with nothing staged, in flight or stored, and no credit owed, the sender has all
///               credits but the fewer than 8 that a unit holds back: whatever was lost before
///
/// The circuit is free, so what holds for it holds for each; the other direction is the same.
module blocklink_credits_props
  import blocklink_pkg::*;
#(
  parameter int unsigned Window = 3,
  parameter int unsigned Depth  = 16
) (
  input logic                                     clk_i,
  input logic [1:0][NumVcs-1:0]                   valid_i,
  input logic [1:0][NumVcs-1:0][3:0]              count_i,
  input word_t [1:0][NumVcs-1:0][ChunkWords-1:0]  words_i,
  input logic [1:0][NumVcs-1:0][3:0]              pop_i,
  input logic [1:0]                               ready_i,
  input logic [1:0]                               alter_i,
  input block_t [1:0]                             altered_i,
  input logic [1:0]                               lose_i,
  input logic [1:0]                               arrive_i
);
  typedef logic [SeqWidth+1:0] label_t;
  localparam int unsigned Slots = 2 ** $clog2(Window);
  localparam int unsigned Places = 4;
  logic started_q = 1'b0;
  always_ff @(posedge clk_i) started_q <= 1'b1;

  // Never assigned another value: any circuit.
  logic [3:0] vc_q;
  always_ff @(posedge clk_i) vc_q <= vc_q;
  always_comb assume (vc_q < 4'(NumVcs));

  block_t [1:0] tx, rx;
  logic [1:0] rx_valid;
  logic [1:0][NumVcs-1:0][3:0] avail;
  logic [1:0][NumVcs-1:0] ready;
  label_t [1:0] way_made, way_oldest, way_came;
  logic [1:0][Places-1:0] flying;
  block_t [1:0][Places-1:0] block;
  label_t [1:0][Places-1:0] number;

  for (genvar e = 0; e < 2; e++) begin : gen_end
    blocklink_core #(.DataDepth(Depth), .RestDepth(Depth), .Window(Window)) dut (
      .clk_i, .rst_ni(started_q), .tx_block_o(tx[e]), .tx_ready_i(ready_i[e]),
      .rx_block_i(rx[e]), .rx_valid_i(rx_valid[e]), .valid_i(valid_i[e]), .ready_o(ready[e]),
      .count_i(count_i[e]), .words_i(words_i[e]), .words_o(), .avail_o(avail[e]),
      .pop_i(pop_i[e]), .up_o(), .bad_o(), .again_o(), .sent_o(), .sent_words_o(), .got_o(),
      .fail_o()
    );
    for (genvar v = 0; v < int'(NumVcs); v++) begin : gen_vc
      always_comb begin
        if (valid_i[e][v]) assume (count_i[e][v] != '0 && count_i[e][v] <= 4'(ChunkWords));
        if (started_q) assume (pop_i[e][v] <= avail[e][v]);
      end
    end
  end

  // Words of the circuit in a block, and its credit.
  typedef logic [7:0] count_t;
  typedef logic [1:0] few_t;  // words of a block, or a credit
  function automatic few_t words_of(logic [6:0][3:0] vc);
    words_of = '0;
    for (int unsigned i = 0; i < BlockWords; i++) begin
      if (vc[i] == vc_q) words_of = words_of + few_t'(1);
    end
  endfunction
  function automatic logic credit_of(logic high, logic [7:0] credit);
    return high == vc_q[3] && credit[vc_q[2:0]];
  endfunction
  // What is counted of a block on each way: words on the first, a credit on the second.
  function automatic few_t counted(int e, logic high, logic [7:0] credit, logic [6:0][3:0] vc);
    return e == 0 ? words_of(vc) : few_t'(credit_of(high, credit));
  endfunction

  count_t [1:0] on_way;  // words, credits
  for (genvar e = 0; e < 2; e++) begin : gen_way
    seq_t slot;
    payload_t slot_kept, made;
    assign slot_kept = gen_end[e].dut.u_replay.kept_q[slot[$clog2(Window)-1:0]];
    assign made = gen_end[e].dut.sent;
    blocklink_replay_way #(.Window(Window)) way (
      .clk_i, .started_i(started_q), .ready_i(ready_i[e]), .alter_i(alter_i[e]),
      .altered_i(altered_i[e]), .lose_i(lose_i[e]), .arrive_i(arrive_i[e]), .pick_i(1'b0),
      .tx_block_i(tx[e]), .load_i(gen_end[e].dut.u_replay.load),
      .sync_i(gen_end[e].dut.u_replay.choice == 2'd0), .take_i(gen_end[e].dut.take),
      .made_i(made), .oldest_i(gen_end[e].dut.u_replay.oldest_q),
      .held_i(gen_end[e].dut.u_replay.held_q), .next_i(gen_end[e].dut.u_replay.next_q),
      .answer_i(gen_end[e].dut.u_replay.answer_q), .acks_i(gen_end[e].dut.u_replay.acks_q),
      .back_came_i(way_came[1-e]), .pick_slot_o(slot), .kept_i(slot_kept),
      .rx_block_o(rx[1-e]), .rx_valid_o(rx_valid[1-e]), .in_i(gen_end[1-e].dut.u_replay.in_q),
      .in_valid_i(gen_end[1-e].dut.u_replay.in_valid_q),
      .got_sync_i(gen_end[1-e].dut.u_replay.sync), .got_data_i(gen_end[1-e].dut.u_replay.data),
      .got_idle_i(gen_end[1-e].dut.u_replay.idle), .got_i(gen_end[1-e].dut.got_o),
      .got_payload_i(gen_end[1-e].dut.got), .rx_i(gen_end[1-e].dut.u_replay.rx_q),
      .pos_i(gen_end[1-e].dut.u_replay.pos_q), .back_oldest_i(way_oldest[1-e]),
      .made_o(way_made[e]), .oldest_o(way_oldest[e]), .came_o(way_came[e]),
      .flying_o(flying[e]), .block_o(block[e]), .number_o(number[e])
    );

    // What was counted of each block when it was taken, by its place in the window.
    few_t of_q [Slots];
    label_t waiting;
    assign waiting = way_made[e] - way_came[e];
    always_ff @(posedge clk_i) begin
      if (gen_end[e].dut.take) begin
        of_q[way_made[e][$clog2(Slots)-1:0]] <= counted(e, made.high, made.credit, made.vc);
      end
    end
    always_comb begin
      on_way[e] = '0;
      for (int unsigned i = 0; i < Window; i++) begin
        if (label_t'(i) < waiting) begin
          on_way[e] = on_way[e] +
                      count_t'(of_q[$clog2(Slots)'(way_came[e] + label_t'(i))]);
        end
      end
    end
    // For induction: kept blocks and those in flight that did not come out have just that.
    for (genvar i = 0; i < int'(Window); i++) begin : gen_kept
      logic [$clog2(Slots)-1:0] at;
      payload_t held;
      assign at   = $clog2(Slots)'(way_came[e] + label_t'(i));
      assign held = gen_end[e].dut.u_replay.kept_q[at];
      always_comb begin
        if (started_q && label_t'(i) < waiting) begin
          keeps : assert (counted(e, held.high, held.credit, held.vc) == of_q[at]);
        end
      end
    end
    for (genvar i = 0; i < int'(Places); i++) begin : gen_place
      control_t control;
      assign control = block[e][i].control;
      always_comb begin
        if (started_q && flying[e][i] && !control.check[23] &&
            (control.kind == KindDataLow || control.kind == KindDataHigh) &&
            label_t'(number[e][i] - way_came[e]) < waiting) begin
          flies : assert (
            counted(e, control.kind == KindDataHigh, control.credit, control.vc) ==
            of_q[number[e][i][$clog2(Slots)-1:0]]);
        end
      end
    end
  end

  // ---------------------------------------------------------------- words of the circuit, so far
  logic [NumVcs-1:0][9:0] stored_of, freed_of, credit_of_vc;
  for (genvar v = 0; v < int'(NumVcs); v++) begin : gen_of
    assign stored_of[v] = 10'(gen_end[1].dut.u_depack.gen_vc[v].u_words.stored);
    assign freed_of[v]  = gen_end[1].dut.u_depack.gen_vc[v].freed_q;
    assign credit_of_vc[v] = gen_end[0].dut.u_pack.credit_q[v];
  end
  count_t staged, stored, freed, credit, comes, leaves, returns, arrives;
  always_comb begin
    staged = '0;
    for (int unsigned i = 0; i < BlockWords + ChunkWords; i++) begin
      if (gen_end[0].dut.u_pack.stage_vc_q[i] == vc_q) staged = staged + count_t'(1);
    end
  end
  assign stored  = count_t'(stored_of[vc_q]);
  assign freed   = count_t'(freed_of[vc_q]);
  assign credit  = count_t'(credit_of_vc[vc_q]);
  assign leaves  = gen_end[0].dut.take ? count_t'(words_of(gen_way[0].made.vc)) : '0;
  assign comes   = gen_end[1].dut.got_o ? count_t'(words_of(gen_end[1].dut.got.vc)) : '0;
  assign returns = gen_end[1].dut.take ?
                   count_t'(credit_of(gen_way[1].made.high, gen_way[1].made.credit)) : '0;
  assign arrives = gen_end[0].dut.got_o ?
                   count_t'(credit_of(gen_end[0].dut.got.high, gen_end[0].dut.got.credit)) : '0;
  // Into the stage, out of it in a block, out at the far end, taken there; credits given, back.
  count_t in_q = '0, made_q = '0, came_q = '0, popped_q = '0, given_q = '0, back_q = '0;
  always_ff @(posedge clk_i) begin
    if (started_q) begin
      if (valid_i[0][vc_q] && ready[0][vc_q]) in_q <= in_q + count_t'(count_i[0][vc_q]);
      made_q   <= made_q + leaves;
      came_q   <= came_q + comes;
      popped_q <= popped_q + count_t'(pop_i[1][vc_q]);
      given_q  <= given_q + returns;
      back_q   <= back_q + arrives;
    end
  end

  // ---------------------------------------------------------------- what must hold
  count_t kept, back;  // words in the receive buffer, words whose credit is in blocks
  assign kept = came_q - popped_q;
  assign back = on_way[1] * count_t'(CreditUnit);
  always_comb begin
    if (started_q) begin
      conserved : assert (credit + staged + on_way[0] + kept + freed + back == count_t'(Depth));
      room : assert (kept + comes <= count_t'(Depth));
      really_kept : assert (stored == kept);
      never_more : assert (credit <= count_t'(Depth));
      if (staged == '0 && on_way[0] == '0 && stored == '0 && freed < count_t'(CreditUnit) &&
          on_way[1] == '0) begin
        recovered : assert (credit > count_t'(Depth - CreditUnit));
      end
      high_bits : assert (credit_of_vc[vc_q] < 10'd256 && freed_of[vc_q] < 10'd256);
      // For induction: no part is more than all.
      bounded : assert (staged <= count_t'(Depth) && on_way[0] <= count_t'(Depth) &&
                        kept <= count_t'(Depth) &&
                        freed <= count_t'(Depth) && back <= count_t'(Depth));
    end
  end

  // ---------------------------------------------------------------- what induction needs
  // Each part is what came into it less what left it. At the sending end, behind what is staged
  // there is nothing, and one chunk a cycle enters.
  logic empty;
  always_comb begin
    empty = 1'b1;
    for (int unsigned i = 0; i < BlockWords + ChunkWords; i++) begin
      if (5'(i) >= gen_end[0].dut.u_pack.staged_q &&
          gen_end[0].dut.u_pack.stage_vc_q[i] != NoVc) empty = 1'b0;
    end
    if (!started_q) begin
      pack_begins : assert ({in_q, made_q, back_q} == '0);
      part_begins : assert ({made_q, came_q, popped_q, given_q, back_q} == '0);
    end else begin
      pack_behind : assert (empty);
      pack_few : assert (gen_end[0].dut.u_pack.staged_q <= 5'(BlockWords + ChunkWords));
      pack_owner : assert (gen_end[0].dut.u_pack.u_arb.owner_q == '0);
      pack_credit : assert (credit == count_t'(Depth) - in_q + count_t'(CreditUnit) * back_q);
      pack_staged : assert (staged == in_q - made_q);
      part_words : assert (on_way[0] == made_q - came_q);
      part_stored : assert (stored[4:0] == kept[4:0]);
      part_freed : assert (freed == popped_q - count_t'(CreditUnit) * given_q);
      part_credits : assert (on_way[1] == given_q - back_q);
    end
  end

  // ---------------------------------------------------------------- what can happen
  logic seen_again_q = 1'b0, seen_back_q = 1'b0;
  always_ff @(posedge clk_i) begin
    if (gen_end[1].dut.again_o && on_way[1] != '0) seen_again_q <= 1'b1;
    if (gen_end[0].dut.got_o && on_way[1] != '0) seen_back_q <= 1'b1;
  end
  always_comb begin
    none_left : cover (started_q && credit == '0);
    given_back : cover (started_q && seen_back_q);
    given_back_again : cover (started_q && seen_again_q && seen_back_q);
  end
endmodule
