// SPDX-License-Identifier: SHL-2.1
/// Framing of xgmii_rx, whatever comes on the wire: words without a gap, one end for each frame.
///
///   Assumed   nothing of the wire
///   Proved    a frame's words follow each other without a gap, the first marked first and the last
///             last; a word inside is whole, and what is behind the last one's bytes is zero; at
///             most 190 words; an end comes 1 cycle after a last word, and no other but that of a
///             start without delimiter, which is judged by its length; a frame is judged by its
///             length exactly where it has less than 64 bytes or more than 1518; one whose last
///             word the next frame's first one follows at once is judged bad
module xgmii_rx_props (
  input logic        clk_i,
  input logic [63:0] xgmii_rxd_i,
  input logic [7:0]  xgmii_rxc_i
);
  logic rst_ni;
  logic started_q = 1'b0;
  always_ff @(posedge clk_i) started_q <= 1'b1;
  assign rst_ni = started_q;

  logic        word_valid, word_first, word_last, end_valid, end_length, end_fcs, idle;
  logic [3:0]  word_bytes;
  logic [63:0] word;

  xgmii_rx dut (
    .clk_i,
    .rst_ni,
    .xgmii_rxd_i,
    .xgmii_rxc_i,
    .word_valid_o(word_valid),
    .word_first_o(word_first),
    .word_last_o (word_last),
    .word_bytes_o(word_bytes),
    .word_o      (word),
    .end_valid_o (end_valid),
    .end_length_o(end_length),
    .end_fcs_o   (end_fcs),
    .idle_o      (idle)
  );

  // A frame as the user sees it.
  logic        open_q;     // between its first word and its last
  logic [7:0]  words_q;    // before this word
  logic        due_q;      // its last word was the word before
  logic [10:0] length_q;   // of the frame that ended in the word before
  logic [7:0]  words;
  assign words = word_first ? 8'd0 : words_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      open_q   <= 1'b0;
      words_q  <= '0;
      due_q    <= 1'b0;
      length_q <= '0;
    end else begin
      due_q <= word_valid && word_last;
      if (word_valid) begin
        open_q   <= !word_last;
        words_q  <= words + 8'd1;
        length_q <= {words, 3'd0} + 11'(word_bytes);
      end
    end
  end

  logic [7:0] behind;  // bytes of the word that are not the frame's and not zero
  always_comb begin
    for (int unsigned i = 0; i < 8; i++) begin
      behind[i] = 4'(i) >= word_bytes && word[8*i+:8] != '0;
    end
  end

  always_comb begin
    if (rst_ni) begin
      // What the module knows and what the user knows are one.
      assert (dut.inside_q || !dut.first_q);
      assert ((dut.inside_q && !dut.first_q) == (word_valid && !word_last));
      assert (!word_valid || word_first == !open_q);
      assert (!open_q || word_valid);
      if (word_valid) begin
        assert (words <= 8'd189);
        assert (word_bytes <= 4'd8);
        assert (word_last || word_bytes == 4'd8);
        assert (behind == '0);
        if (!word_last) assert (dut.inside_q && !dut.first_q && dut.count_q == words + 8'd1);
        if (word_last) begin
          assert (dut.length_q == (({words, 3'd0} + 11'(word_bytes)) < 11'd64 ||
                                   ({words, 3'd0} + 11'(word_bytes)) > 11'd1518));
        end
      end
      if (dut.first_q) assert (dut.count_q == 8'd0);
      if (word_last && !word_valid) assert (dut.length_q);
      if (due_q) begin
        assert (end_valid);
        assert (end_length == (length_q < 11'd64 || length_q > 11'd1518));
        if (word_first && word_valid) assert (end_length || end_fcs);
      end else begin
        assert (!end_valid || end_length);
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      cover (end_valid && !end_length);
      cover (word_valid && word_first && dut.late_q);
      cover (end_valid && word_valid && word_first);
    end
  end
  logic unused;
  assign unused = ^{end_fcs, idle};
endmodule
