// SPDX-License-Identifier: SHL-2.1
/// blocklink_pack: any one circuit's words in order, each once;
/// its credits are those of the far end's buffer.
///
/// The circuit is free, so what holds for it holds for each. The far end: it gives back 8 words a
/// bit, at most what was sent and not given back.
module blocklink_pack_props
  import blocklink_pkg::*;
#(
  parameter int unsigned Depth = 16
) (
  input logic                  clk_i,
  input logic [NumVcs-1:0]     valid_i,
  input logic [NumVcs-1:0][3:0] count_i,
  input logic                  credit_valid_i,
  input logic                  credit_high_i,
  input logic [7:0]            credit_i,
  input logic                  take_i
);
  logic rst_ni = 1'b0;
  always_ff @(posedge clk_i) rst_ni <= 1'b1;

  // Never assigned another value: any circuit.
  logic [3:0] vc_q;
  always_ff @(posedge clk_i) vc_q <= vc_q;
  always_comb assume (vc_q < 4'(NumVcs));

  logic [NumVcs-1:0] ready_o;
  word_t [NumVcs-1:0][ChunkWords-1:0] words_i;
  word_t [BlockWords-1:0] words_o;
  logic [BlockWords-1:0][3:0] vc_o;
  logic some_o;
  blocklink_pack #(.DataDepth(Depth), .RestDepth(Depth)) dut (.*);

  // Its words count up; the others' are anything.
  word_t in_q, out_q;
  logic taken;
  logic [3:0] count;
  assign taken = valid_i[vc_q] && ready_o[vc_q];
  assign count = count_i[vc_q];
  for (genvar v = 0; v < int'(NumVcs); v++) begin : gen_words
    for (genvar i = 0; i < int'(ChunkWords); i++) begin : gen_word
      assign words_i[v][i] = in_q + word_t'(i);
    end
    always_comb if (valid_i[v]) assume (count_i[v] != '0 && count_i[v] <= 4'(ChunkWords));
  end

  // Words sent into the link's keeping that the far end has not given back.
  logic [9:0] out_there_q;
  logic back;
  assign back = credit_valid_i && credit_high_i == vc_q[3] && credit_i[vc_q[2:0]];
  always_comb begin
    if (back) assume (out_there_q >= 10'(CreditUnit));
    if (take_i) assume (some_o);
  end

  word_t passed;
  always_comb begin
    passed = '0;
    for (int unsigned i = 0; i < BlockWords; i++) begin
      if (vc_o[i] == vc_q) passed = passed + word_t'(1);
    end
  end
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      in_q        <= '0;
      out_q       <= '0;
      out_there_q <= '0;
    end else begin
      if (taken) in_q <= in_q + word_t'(count);
      if (take_i) out_q <= out_q + passed;
      out_there_q <= out_there_q + (taken ? 10'(count) : '0) - (back ? 10'(CreditUnit) : '0);
    end
  end

  // ---------------------------------------------------------------- what must hold
  word_t rank;
  logic ordered;
  always_comb begin
    rank    = '0;
    ordered = 1'b1;
    for (int unsigned i = 0; i < BlockWords; i++) begin
      if (vc_o[i] == vc_q) begin
        if (words_o[i] != out_q + rank) ordered = 1'b0;
        rank = rank + word_t'(1);
      end
    end
  end
  always_comb begin
    if (rst_ni) begin
      in_order : assert (ordered);
      credits : assert (dut.credit_q[vc_q] + out_there_q == 10'(Depth));
      never_more : assert (dut.credit_q[vc_q] <= 10'(Depth));
      // A circuit with a chunk and credits is refused only for the turn or the stage:
      // never for another's credits.
      if (dut.staged_q <= 5'(BlockWords) && valid_i != '0 && taken == 1'b0 && valid_i[vc_q] &&
          dut.credit_q[vc_q] >= 10'(count)) begin
        served : assert (ready_o != '0);
      end
      // Whoever takes blocks gets the stage's words without any other condition.
      if (dut.staged_q != '0) waits_for_nothing : assert (some_o);
    end
  end

  // What induction needs: the stage holds the circuit's words in order.
  word_t held;
  logic held_ordered, empty;
  always_comb begin
    held         = '0;
    held_ordered = 1'b1;
    for (int unsigned i = 0; i < BlockWords + ChunkWords; i++) begin
      if (5'(i) < dut.staged_q && dut.stage_vc_q[i] == vc_q) begin
        if (dut.stage_q[i] != out_q + held) held_ordered = 1'b0;
        held = held + word_t'(1);
      end
    end
    if (rst_ni) begin
      staged : assert (held_ordered);
      all_staged : assert (out_q + held == in_q);
      few : assert (dut.staged_q <= 5'(BlockWords + ChunkWords));
      no_owner : assert (dut.u_arb.owner_q == '0);
    end
    // A chunk is put over the places behind the staged words: they are empty.
    empty = 1'b1;
    for (int unsigned i = 0; i < BlockWords + ChunkWords; i++) begin
      if (5'(i) >= dut.staged_q && (dut.stage_q[i] != '0 || dut.stage_vc_q[i] != NoVc)) begin
        empty = 1'b0;
      end
    end
    if (rst_ni) behind : assert (empty);
  end

  always_comb begin
    starved : cover (rst_ni && valid_i[vc_q] && dut.credit_q[vc_q] < 10'(count) && ready_o != '0);
    given_back : cover (rst_ni && back && in_q != out_q);
  end
endmodule
