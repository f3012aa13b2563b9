// SPDX-License-Identifier: SHL-2.1
/// blocklink_pack: any one circuit's words in order, each once;
/// its credits are those of the far end's buffer. A block's words are its first places, and it is
/// some exactly if it has one; circuits that have a chunk and its credits take turns.
///
/// The circuit is free, so what holds for it holds for each. The far end: it gives back 8 words a
/// bit, at most what was sent and not given back.
module blocklink_pack_props
  import blocklink_pkg::*;
#(
  parameter int unsigned DataDepth = 40,
  parameter int unsigned RestDepth = 32
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
  blocklink_pack #(.DataDepth(DataDepth), .RestDepth(RestDepth)) dut (.*);

  logic [9:0] depth;  // of the far end's buffer
  always_comb begin
    depth = '0;
    for (int unsigned v = 0; v < NumVcs; v++)
      if (vc_q == 4'(v)) depth = 10'(depth_of(v, DataDepth, RestDepth));
  end

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
      credits : assert (dut.credit_q[vc_q] + out_there_q == depth);
      never_more : assert (dut.credit_q[vc_q] <= depth);
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

  // A block's words are its first places.
  logic first_places;
  always_comb begin
    first_places = some_o == (vc_o[0] != NoVc);
    for (int unsigned i = 0; i < BlockWords; i++) begin
      if (vc_o[i] == NoVc && words_o[i] != '0) first_places = 1'b0;
      if (i > 0 && vc_o[i] != NoVc && vc_o[i-1] == NoVc) first_places = 1'b0;
    end
    if (rst_ni) some_words : assert (first_places);
  end

  // Turns: of those that could enter, the first behind the one that was last.
  logic [NumVcs-1:0] able;
  logic [3:0] last_q, now;
  function automatic logic [3:0] behind_last(logic [3:0] vc);
    return vc > last_q ? vc - last_q - 4'd1 : vc + 4'(NumVcs - 1) - last_q;
  endfunction
  always_comb begin
    now = '0;
    for (int unsigned v = 0; v < NumVcs; v++) begin
      able[v] = valid_i[v] && dut.staged_q <= 5'(BlockWords) &&
                dut.credit_q[v] >= 10'(count_i[v]);
      if (ready_o[v]) now = 4'(v);
    end
  end
  always_ff @(posedge clk_i) begin
    if (!rst_ni) last_q <= 4'(NumVcs - 1);
    else if (ready_o != '0) last_q <= now;
  end
  always_comb begin
    if (rst_ni) begin
      one_at_most : assert ((ready_o & (ready_o - 1'b1)) == '0);
      some_enters : assert ((ready_o == '0) == (able == '0));
      enters : assert (!taken || able[vc_q]);
      if (ready_o != '0 && able[vc_q]) in_turn : assert (behind_last(now) <= behind_last(vc_q));
      // What induction needs.
      last : assert (last_q < 4'(NumVcs));
      turns : assert (dut.u_arb.after_q == NumVcs'('1) << (last_q + 4'd1));
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
    // A chunk is put over the places behind the staged words: they are empty, and no others are.
    empty = 1'b1;
    for (int unsigned i = 0; i < BlockWords + ChunkWords; i++) begin
      if (5'(i) >= dut.staged_q && (dut.stage_q[i] != '0 || dut.stage_vc_q[i] != NoVc)) begin
        empty = 1'b0;
      end
      if (5'(i) < dut.staged_q && dut.stage_vc_q[i] == NoVc) empty = 1'b0;
    end
    if (rst_ni) behind : assert (empty);
  end

  always_comb begin
    starved : cover (rst_ni && valid_i[vc_q] && dut.credit_q[vc_q] < 10'(count) && ready_o != '0);
    given_back : cover (rst_ni && back && in_q != out_q);
  end
endmodule
