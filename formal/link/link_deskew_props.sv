// SPDX-License-Identifier: SHL-2.1
/// link_deskew: one stream on lanes of any fixed delays. What it calls aligned is one instant of
/// the stream on all lanes, and stays so while there is a signal; lanes further apart than MaxSkew
/// it never calls aligned. The first mark that it has seen on all lanes aligns them, or is late
/// where they are too far apart.
module link_deskew_props
  import link_pkg::*;
#(
  parameter int unsigned Lanes   = 3,
  parameter int unsigned MaxSkew = 2
) (
  input logic       clk_i,
  input logic       signal_i,
  input logic       step_i,    // the stream moves on
  input logic       mark_i,    // the word that is sent now is a mark
  input logic [1:0] data_i,    // if not, some data
  // Words that each lane is late; they stay.
  input logic [Lanes-1:0][2:0] delay
);
  // Delays up to two words more than may be;
  // marks are so far apart that none is taken for the next.
  localparam int unsigned Most    = MaxSkew + 2;
  localparam int unsigned Gap     = Most + MaxSkew + 2;
  localparam int unsigned History = Most + MaxSkew + 2;

  logic              rst_ni, aligned_o, late_o, lost_o;
  word_t [Lanes-1:0] lane_i, word_o;
  logic [Lanes-1:0][$clog2(MaxSkew+1)-1:0] delay_o;

  link_deskew #(.Lanes(Lanes), .MaxSkew(MaxSkew)) dut (.*);

  logic started_q = 1'b0;
  logic [Lanes-1:0][2:0] delay_q;
  logic ever_q = 1'b0;
  always_ff @(posedge clk_i) begin
    started_q <= 1'b1;
    ever_q    <= 1'b1;
    delay_q   <= delay;
  end
  assign rst_ni = started_q;

  // The stream, now and before; since_q: words since the last mark.
  word_t               source;
  word_t [History-1:0] past_q = '0;
  word_t [History:0]   stream;
  logic  [3:0]         since_q = 4'd15, since;

  word_t mark;
  assign mark   = '{k: 4'b1000, data: {SymAlign, 24'h0}};
  assign source = mark_i ? mark : word_t'({34'h0, data_i});
  assign stream = {past_q, source};
  assign since  = mark_i ? '0 : since_q;

  always_ff @(posedge clk_i) begin
    if (step_i) past_q <= stream[History-1:0];
    if (step_i) since_q <= since == '1 ? since : since + 1'b1;
  end

  for (genvar i = 0; i < Lanes; i++) begin : gen_lane
    assign lane_i[i] = stream[delay[i]];
  end

  // Words of the registers that have been filled since the start.
  logic [3:0] filled_q = '0;
  always_ff @(posedge clk_i) if (step_i && filled_q != '1) filled_q <= filled_q + 1'b1;

  // Words of the search so far, and what it was a cycle ago.
  logic [3:0] search_q = '0;
  logic       aligned_q, signal_q, step_q;
  always_ff @(posedge clk_i) begin
    if (!started_q || !signal_i || aligned_o) search_q <= '0;
    else if (step_i && search_q != '1) search_q <= search_q + 1'b1;
    aligned_q <= started_q && aligned_o;
    signal_q  <= signal_i;
    step_q    <= started_q && step_i && signal_i && !aligned_o;
  end

  logic       near, whole;
  logic [2:0] first, last;
  logic [3:0] gone;  // words since the first lane's mark, which is the newest
  assign near  = last - first <= 3'(MaxSkew);
  assign gone  = since_q - 4'(first);
  assign whole = !aligned_o && since_q > 4'(first) && search_q >= gone;
  always_comb begin
    first = delay[0];
    last  = delay[0];
    for (int unsigned i = 1; i < Lanes; i++) begin
      if (delay[i] < first) first = delay[i];
      if (delay[i] > last) last = delay[i];
    end
  end

  always_comb begin
    for (int unsigned i = 0; i < Lanes; i++) assume (delay[i] <= 3'(Most));
    if (ever_q) assume (delay == delay_q);
    assume (!mark_i || since_q >= 4'(Gap));
    // The stream is what it is said to be.
    for (int unsigned k = 0; k < History; k++) begin
      assert ((past_q[k].k == 4'b1000) == (since_q == 4'(k + 1)));
      assert (past_q[k].k == 4'b0000 || past_q[k] == mark);
      assert (past_q[k].k != 4'b0000 || past_q[k].data[31:2] == '0);
    end
    assert (since_q != '0);
    if (started_q) begin
      if (aligned_o) begin
        for (int unsigned i = 1; i < Lanes; i++) assert (word_o[i] == word_o[0]);
        assert (last - first <= 3'(MaxSkew));
        // The latest lane waits no cycle more than it must, and alignment is kept.
        for (int unsigned i = 0; i < Lanes; i++) assert (3'(dut.delay_q[i]) == last - delay[i]);
        assert (!dut.apart && !dut.doubt_q);
      end
      // Given up only with the signal, and at once.
      assert (lost_o == (aligned_q && !signal_q) && (!aligned_q || signal_q == aligned_o));
      // A mark that came in the search to its last lane: aligned, or late.
      if (near) assert (!(whole && since_q == 4'(last) + 4'd1));
      if (near && late_o) assert (search_q <= 4'(2 * MaxSkew + 1));
      if (late_o) assert (step_q);
      if (!near && whole && gone == 4'(MaxSkew + 1) && step_q) assert (late_o);
      cover (aligned_o && first == 3'd1 && last == 3'd3 && since_q == 4'd9);
      cover (late_o && last - first == 3'(MaxSkew + 1));
      // What makes the above inductive: the search.
      for (int unsigned i = 0; i < Lanes; i++) begin
        assert (dut.delay_q[i] <= 2'(MaxSkew) && delay_o[i] == dut.delay_q[i]);
        if (dut.seen_q[i] || aligned_o) assert (filled_q > 4'(dut.delay_q[i]));
        if (dut.seen_q[i]) begin
          assert (!aligned_o);
          assert (since_q > 4'(delay[i]) && since_q - 4'(delay[i]) <= 4'(dut.count_q));
          assert (4'(dut.delay_q[i]) == since_q - 4'(delay[i]) - 4'd1);
        end
      end
      if (whole && (near ? since_q <= 4'(last) : gone <= 4'(MaxSkew))) begin
        for (int unsigned i = 0; i < Lanes; i++) assert (dut.seen_q[i] == (since_q > 4'(delay[i])));
        assert (4'(dut.count_q) == gone);
      end
      if (near && dut.seen_q != '0 && !(whole && since_q <= 4'(last))) begin
        assert (search_q <= 4'(dut.count_q) + 4'(last - first));
      end
      if (dut.seen_q == '0) assert (dut.count_q == '0);
      else assert (dut.count_q <= 2'(MaxSkew) && dut.count_q != '0);
      assert (dut.seen_q != '1);
    end
  end

  // The lanes' registers hold the words before.
  for (genvar i = 0; i < Lanes; i++) begin : gen_line
    for (genvar k = 0; k <= MaxSkew; k++) begin : gen_word
      always_comb if (seen_enough(k)) assert (dut.line_q[i][k] == past_q[delay[i]+k]);
    end
  end

  function automatic logic seen_enough(int unsigned k);
    return filled_q > 4'(k);
  endfunction
endmodule
