// SPDX-License-Identifier: SHL-2.1
/// Framing of xgmii_rx, whatever comes on the wire: words without a gap, one end for each frame.
///
///   Assumed   nothing of the wire
///   Proved    a frame's words follow each other without a gap, the first marked first and the last
///             last; a word inside is whole, and what is behind the last one's bytes is zero; at
///             most 191 words; an end comes 1 cycle after a last word, and no other but that of a
///             start without delimiter, which is judged by its length; a frame is judged by its
///             length exactly where it has less than 64 bytes or more than 1518, with a tag 1522;
///             a tag is marked in the second word, where the wire has 81 00 behind both
///             addresses, and nowhere else; one whose last word the next frame's first one follows
///             at once is judged bad, as is one that ends with another control character than
///             terminate; a frame begins behind each whole start with a delimiter, in either lane,
///             its words are those of the wire, and it ends with the first control character; idle
///             is low exactly from a start to an end
module xgmii_rx_props (
  input logic        clk_i,
  input logic [63:0] xgmii_rxd_i,
  input logic [7:0]  xgmii_rxc_i
);
  logic rst_ni;
  logic started_q = 1'b0;
  always_ff @(posedge clk_i) started_q <= 1'b1;
  assign rst_ni = started_q;

  logic        word_valid, word_first, word_last, word_tag, end_valid, end_length, end_fcs, idle;
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
    .word_tag_o  (word_tag),
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
  logic [10:0] most, most_q;  // what a frame may have; that one
  logic        tag_at, tagged_q, has_tag;  // of a tag: in this word; in one up to it; before it
  logic [7:0]  words;
  assign words = word_first ? 8'd0 : words_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      open_q   <= 1'b0;
      words_q  <= '0;
      due_q    <= 1'b0;
      length_q <= '0;
      most_q   <= 11'd1518;
    end else begin
      due_q <= word_valid && word_last;
      if (word_valid) begin
        open_q   <= !word_last;
        words_q  <= words + 8'd1;
        length_q <= {words, 3'd0} + 11'(word_bytes);
        most_q   <= most;
      end
    end
  end

  // ---------------------------------------------------------------- what the wire says
  // A word of a frame is one of the wire, or the halves of two where it started in lane 4. A word
  // of both is 8 control bits and the data.
  typedef logic [71:0] wire_t;
  wire_t at_q, before_q;  // at_q: the last one, of which the word at the pins was made
  wire_t frame_now, frame;
  logic  start0, start4, delimited, over_now, over, terminated;
  logic  late_q, late_at_q, start4_q, rest_whole_q;
  logic  inside_q, inside_at_q, bad_start_q, last_was_q, odd_end_q, begins_q;
  logic [63:0] at_data_q;
  logic [7:0]  at_ctl_q, ender;
  assign at_q   = {at_ctl_q, at_data_q};
  assign start0 = xgmii_rxc_i[0] && xgmii_rxd_i[7:0] == 8'hFB;
  assign start4 = xgmii_rxc_i[4] && xgmii_rxd_i[39:32] == 8'hFB && !start0;
  assign delimited = start0 ? xgmii_rxc_i[7:1] == '0 && xgmii_rxd_i[63:56] == 8'hD5 :
                     start4_q && rest_whole_q && xgmii_rxc_i[3:0] == '0 &&
                     xgmii_rxd_i[31:24] == 8'hD5;

  function automatic wire_t aligned(logic late, wire_t last, wire_t one);
    return late ? {one[67:64], last[71:68], one[31:0], last[63:32]} : one;
  endfunction
  function automatic logic [3:0] leading(logic [7:0] ctl);
    leading = 4'd8;
    for (int i = 7; i >= 0; i--) if (ctl[i]) leading = 4'(i);
  endfunction
  assign frame_now = aligned(late_q, at_q, {xgmii_rxc_i, xgmii_rxd_i});
  assign frame     = aligned(late_at_q, before_q, at_q);
  // Of tags; tagged_now is has_tag of the word that comes.
  logic tagged_now;
  assign tag_at     = word_valid && words == 8'd1 && leading(frame[71:64]) >= 4'd6 &&
                      frame[39:32] == 8'h81 && frame[47:40] == 8'h00;
  assign has_tag    = tagged_q && !word_first;
  assign tagged_now = word_valid && !word_last && (has_tag || tag_at);
  assign most       = has_tag || tag_at ? 11'd1522 : 11'd1518;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) tagged_q <= 1'b0;
    else if (word_valid) tagged_q <= has_tag || tag_at;
  end
  // The frame ends in this word: it is the one with the byte that is too many, or less.
  function automatic logic ends(logic [7:0] number, logic [7:0] ctl, logic with_tag);
    return ctl != '0 || (with_tag ? number == 8'd190 && leading(ctl) > 4'd2
                                  : number == 8'd189 && leading(ctl) > 4'd6);
  endfunction
  assign over_now = ends(dut.count_q, frame_now[71:64], tagged_now);
  assign over     = ends(words, frame[71:64], has_tag);
  always_comb begin
    ender = '0;
    for (int i = 7; i >= 0; i--) if (frame[64+i]) ender = frame[8*i+:8];
  end
  assign terminated = ender == 8'hFD && !begins_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {late_q, start4_q, inside_q, inside_at_q, bad_start_q, last_was_q} <= '0;
      at_ctl_q <= '1;
    end else begin
      if (start0 || start4) late_q <= start4;
      start4_q    <= start4;
      inside_q    <= delimited || (inside_q && !over_now);
      inside_at_q <= inside_q;
      bad_start_q <= (start0 || start4_q) && !delimited;
      last_was_q  <= word_last;
      at_ctl_q    <= xgmii_rxc_i;
    end
  end
  always_ff @(posedge clk_i) begin
    at_data_q    <= xgmii_rxd_i;
    before_q     <= at_q;
    late_at_q    <= late_q;
    begins_q     <= start0;
    rest_whole_q <= xgmii_rxc_i[7:5] == '0;
    odd_end_q    <= !terminated;
  end

  logic [7:0] behind, wrong;  // bytes of the word that are not the frame's and not zero; not its
  always_comb begin
    for (int unsigned i = 0; i < 8; i++) begin
      behind[i] = 4'(i) >= word_bytes && word[8*i+:8] != '0;
      wrong[i]  = 4'(i) < word_bytes && word[8*i+:8] != frame[8*i+:8];
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
        assert (words <= (has_tag ? 8'd190 : 8'd189));
        assert (word_bytes <= 4'd8);
        assert (word_last || word_bytes == 4'd8);
        assert (behind == '0);
        if (!word_last) assert (dut.inside_q && !dut.first_q && dut.count_q == words + 8'd1);
        if (word_last) begin
          assert (dut.length_q == (({words, 3'd0} + 11'(word_bytes)) < 11'd64 ||
                                   ({words, 3'd0} + 11'(word_bytes)) > most));
        end
      end
      if (dut.first_q) assert (dut.count_q == 8'd0);
      if (word_last && !word_valid) assert (dut.length_q);
      if (due_q) begin
        assert (end_valid);
        assert (end_length == (length_q < 11'd64 || length_q > most_q));
        if (word_first && word_valid) assert (end_length || end_fcs);
        if (odd_end_q && length_q <= most_q) assert (end_fcs);
      end else begin
        assert (!end_valid || end_length);
      end
      // The frame is what the wire says.
      assert (word_valid == inside_at_q);
      assert (word_last == ((inside_at_q && over) || bad_start_q));
      if (word_valid) begin
        assert (word_bytes == leading(frame[71:64]));
        assert (wrong == '0);
      end
      assert (end_valid == last_was_q);
      assert (idle == !(inside_q || word_valid || word_last || end_valid || start0 || start4_q));
      assert (word_tag == tag_at);
      // What makes the above inductive.
      if (dut.inside_q) assert (dut.tagged_q == tagged_now);
      assert (dut.late_q == late_q && dut.late_start_q == start4_q && dut.inside_q == inside_q);
      assert (dut.rest_q == at_data_q[63:32] && dut.rest_ctl_q == at_ctl_q[7:4]);
      assert (dut.late_whole_q == rest_whole_q && dut.begun_q == begins_q);
      for (int unsigned i = 0; i < 4; i++) begin
        assert (dut.rest_ended_q[i] == (at_data_q[32+8*i+:8] == 8'hFD));
      end
      if (word_valid) begin
        assert (dut.ctl_q == frame[71:64]);
        for (int unsigned i = 0; i < 8; i++) begin
          if (frame[64+i]) assert (dut.ended_q[i] == (frame[8*i+:8] == 8'hFD));
        end
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      cover (end_valid && !end_length);
      cover (word_valid && word_first && dut.late_q);
      cover (end_valid && word_valid && word_first);
      cover (word_tag && dut.late_q);
    end
  end
endmodule
