// SPDX-License-Identifier: SHL-2.1
/// Receive side of a 10 Gb/s MAC: frames out of a 64-bit XGMII, aligned to words, FCS checked.
///
/// A frame starts in lane 0 or 4. `late_q` says which: then the words on the wire are half a word
/// off, and a word of the frame is the upper half of the last one with the lower half of this one.
/// The first control character in a frame ends it, cleanly if that is a terminate. The last word is
/// filled up with zeros before it enters the CRC, whose end value then depends on their number.
///
///   Handshake   words are pushed, one a cycle without a gap inside a frame, never stalled. Each
///               frame gets exactly one end_valid_o, a frame without start delimiter too
///   Latency     from a word on xgmii_rxd_i to word_o 1 cycle; from the word with the terminate to
///               end_valid_o 2. Of a frame that starts in lane 4, what is in the upper lanes waits
///               1 cycle more for the rest of its word
///   Throughput  a word a cycle: line rate at every size, frames with a gap of 5 bytes or more;
///               of a shorter gap the frame before it is judged bad where its last word and the
///               next one's first would follow each other
///   Judged      end_length_o: no start delimiter, under 64 or over 1518 bytes, with a tag 1522;
///               end_fcs_o: wrong FCS or another control character than terminate. A longer frame
///               ends where it is too long
///   Tags        word_tag_o: IEEE 802.1Q, EtherType 8100. The words have the tag
///   Parameters  none
///   Not done    pause frames, link fault signalling (local and remote fault are no frames), clock
///               correction: clk_i is the clock of the XGMII
module xgmii_rx (
  input  logic        clk_i,          // 156.25 MHz
  input  logic        rst_ni,

  input  logic [63:0] xgmii_rxd_i,
  input  logic [7:0]  xgmii_rxc_i,

  output logic        word_valid_o,
  output logic        word_first_o,   // the frame's first word
  output logic        word_last_o,
  output logic        word_tag_o,     // the frame's second word, and a tag is in it
  output logic [3:0]  word_bytes_o,   // 8, in the last word 0..8; what is behind them is zero
  output logic [63:0] word_o,         // byte 0 in [7:0]; the FCS is a part of it

  output logic        end_valid_o,    // strobe
  output logic        end_length_o,
  output logic        end_fcs_o,
  output logic        idle_o
);
  localparam logic [7:0] CharStart     = 8'hFB;
  localparam logic [7:0] CharTerminate = 8'hFD;
  localparam logic [7:0] Delimiter     = 8'hD5;
  localparam logic [7:0] MinWords      = 8'd8;    // whole ones before the frame's end: 64 bytes
  localparam logic [7:0] LastWord      = 8'd189;  // of 1518 bytes, 6 are in it; of 1522, 2 in 190
  localparam logic [15:0] TypeVlan     = 16'h0081;  // its first byte in [7:0]

  // ---------------------------------------------------------------- alignment
  logic        late_q, early_start, late_start, late_start_q, late_whole_q, begun_q;
  logic [31:0] rest_q;
  logic [3:0]  rest_ctl_q, rest_ended_q;
  logic [63:0] word;
  logic [7:0]  ctl, terminate, ended;  // terminate: on the wire; ended: in the word

  assign early_start = xgmii_rxc_i[0] && xgmii_rxd_i[7:0] == CharStart;
  assign late_start  = xgmii_rxc_i[4] && xgmii_rxd_i[39:32] == CharStart;
  always_comb begin
    for (int unsigned i = 0; i < 8; i++) terminate[i] = xgmii_rxd_i[8*i+:8] == CharTerminate;
  end
  // A start counts for the words behind it: this one may have the end of the frame before.
  assign word  = late_q ? {xgmii_rxd_i[31:0], rest_q} : xgmii_rxd_i;
  assign ctl   = late_q ? {xgmii_rxc_i[3:0], rest_ctl_q} : xgmii_rxc_i;
  assign ended = late_q ? {terminate[3:0], rest_ended_q} : terminate;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      late_q       <= 1'b0;
      late_start_q <= 1'b0;
      rest_ctl_q   <= '1;
    end else begin
      if (early_start) late_q <= 1'b0;
      else if (late_start) late_q <= 1'b1;
      late_start_q <= late_start && !early_start;
      rest_ctl_q   <= xgmii_rxc_i[7:4];
    end
  end
  always_ff @(posedge clk_i) begin
    rest_q       <= xgmii_rxd_i[63:32];
    rest_ended_q <= terminate[7:4];
    late_whole_q <= xgmii_rxc_i[7:5] == '0;
    begun_q      <= early_start;
  end

  // ---------------------------------------------------------------- frames
  logic       start, start_good, inside_q, ends, too_long, first_q, tag, tagged_q;
  logic [3:0] bytes;
  logic [7:0] count_q;  // words of the frame before this one
  logic [7:0] plain;    // for each lane: no control character below it or in it

  // A start in lane 4 is whole a word later, where one in lane 0 takes its place.
  assign start = early_start || late_start_q;
  always_comb begin
    if (early_start) start_good = xgmii_rxc_i[7:1] == '0 && xgmii_rxd_i[63:56] == Delimiter;
    else start_good = late_start_q && late_whole_q && xgmii_rxc_i[3:0] == '0 &&
                      xgmii_rxd_i[31:24] == Delimiter;
  end

  always_comb begin
    logic whole;
    whole = 1'b1;
    bytes = '0;
    for (int unsigned i = 0; i < 8; i++) begin
      whole    = whole && !ctl[i];
      plain[i] = whole;
      bytes    = bytes + 4'(whole);
    end
  end
  assign ends     = ctl != '0;
  assign tag      = inside_q && count_q == 8'd1 && plain[5] && word[47:32] == TypeVlan;
  assign too_long = tagged_q ? count_q == LastWord + 8'd1 && plain[2]
                             : count_q == LastWord && plain[6];  // more than 2, 6 bytes

  // One word, and what is known of the frame that it ends.
  logic        valid_q, word_first_q, last_q, tag_q, length_q, too_long_q, clean;
  logic [3:0]  bytes_q;
  logic [63:0] word_q;
  logic [7:0]  ctl_q, ended_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      inside_q <= 1'b0;
      first_q  <= 1'b0;
      valid_q  <= 1'b0;
      last_q   <= 1'b0;
      tag_q    <= 1'b0;
      tagged_q <= 1'b0;
      count_q  <= '0;
    end else begin
      valid_q <= inside_q;
      tag_q   <= tag;
      last_q  <= (inside_q && (ends || too_long)) || (start && !start_good);
      if (start_good) begin
        inside_q <= 1'b1;
        first_q  <= 1'b1;
        tagged_q <= 1'b0;
        count_q  <= '0;
      end else if (inside_q) begin
        first_q <= 1'b0;
        count_q <= count_q + 1'b1;
        if (tag) tagged_q <= 1'b1;
        if (ends || too_long) inside_q <= 1'b0;
      end
    end
  end

  always_ff @(posedge clk_i) begin
    word_first_q <= first_q;
    bytes_q      <= bytes;
    for (int unsigned i = 0; i < 8; i++) word_q[8*i+:8] <= plain[i] ? word[8*i+:8] : 8'd0;
    length_q   <= !inside_q || count_q < MinWords || too_long;
    too_long_q <= too_long;
    ctl_q      <= ctl;
    ended_q    <= ended;
  end

  // ---------------------------------------------------------------- FCS
  logic [31:0] crc_q, crc_next;
  crc32_d64 u_crc (
    .crc_i (word_first_q ? '1 : crc_q),
    .data_i(word_q),
    .crc_o (crc_next)
  );

  // Of the control characters the first one counts, and none where the next frame follows at once.
  always_comb begin
    clean = 1'b0;
    for (int i = 7; i >= 0; i--) if (ctl_q[i]) clean = ended_q[i] && !begun_q;
  end

  // End value by the number of bytes in the last word: DEBB20E3, and as many zero bytes as fill it.
  logic [31:0] residue;
  logic [3:0]  end_bytes_q;
  always_comb begin
    unique case (end_bytes_q)
      4'd0:    residue = 32'h842A3990;
      4'd1:    residue = 32'h94784E13;
      4'd2:    residue = 32'h1C759789;
      4'd3:    residue = 32'h19F6EB51;
      4'd4:    residue = 32'h9ADD2096;
      4'd5:    residue = 32'h62932081;
      4'd6:    residue = 32'h4E3D5E5C;
      4'd7:    residue = 32'h39DD08E2;
      default: residue = 32'hDEBB20E3;
    endcase
  end

  logic end_q, end_length_q, end_error_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) end_q <= 1'b0;
    else end_q <= last_q;
  end
  always_ff @(posedge clk_i) begin
    if (valid_q) crc_q <= crc_next;
    end_bytes_q  <= bytes_q;
    end_length_q <= length_q;
    end_error_q  <= !too_long_q && !clean;
  end

  assign word_valid_o = valid_q;
  assign word_first_o = word_first_q;
  assign word_last_o  = last_q;
  assign word_tag_o   = tag_q;
  assign word_bytes_o = bytes_q;
  assign word_o       = word_q;
  assign end_valid_o  = end_q;
  assign end_length_o = end_length_q;
  assign end_fcs_o    = end_error_q || crc_q != residue;
  assign idle_o       = !inside_q && !valid_q && !last_q && !end_q && !start;
endmodule
