// SPDX-License-Identifier: SHL-2.1
/// Symbols of a transceiver that gives two a clock to the words of a link, and the words' clock.
///
/// The transceiver finds the symbols in the bits; where a word begins is found here. Only a word's
/// first symbol is a comma, K28.1 or K28.5: two in the same of the four places, with none in
/// another between, set the place. One that a wrong bit has made moves nothing.
///
///   Clocks      clk_i: two symbols a cycle, recovered from the line. word_clk_o: half of it, a
///               flip-flop, for link_elastic's write side. Stopped and low in reset
///   Handshake   none: word_o and signal_o change when word_clk_o falls, half a cycle of it before
///               they are taken and half a cycle after
///   Lock        while lock_i is low no place is known and signal_o is low
///   Order       symbol_i[0] came before symbol_i[1]; the first of a word is byte 3
///   Latency     a word's last symbol at symbol_i to word_o 1 or 2 cycles of clk_i, by its place
///   Throughput  a word in two cycles of clk_i
///   Recovery    a line that slips by whole symbols: wrong words until the second comma behind it
///               (proved with link_gear_tx: formal/link/link_gear.sby)
///   Board       a clock constraint on word_clk_o; none between the two clocks
///   Not done    8b/10b decoding and bit alignment, which the transceiver does
module link_gear_rx
  import link_pkg::*;
(
  input  logic          clk_i,
  input  logic          rst_ni,
  input  logic          lock_i,
  input  symbol_t [1:0] symbol_i,
  output logic          word_clk_o,
  output word_t         word_o,
  output logic          signal_o     // word_o is the far end's
);
  typedef logic [1:0] place_t;

  function automatic logic is_comma(symbol_t symbol);
    return symbol.k && (symbol.data == SymIdle || symbol.data == SymAlign);
  endfunction

  // half_q low: the pair is symbols 0 and 1 of a frame of four, high: 2 and 3. A word is one of the
  // frames' length, `place` symbols behind a frame's first.
  logic half_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) half_q <= 1'b0;
    else half_q <= !half_q;
  end
  assign word_clk_o = half_q;

  // ---------------------------------------------------------------- where words begin
  logic   comma, seen_q, aligned_q;
  place_t here, seen_place_q, place_q;
  assign comma = is_comma(symbol_i[0]) || is_comma(symbol_i[1]);
  assign here  = {half_q, !is_comma(symbol_i[0])};

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      seen_q    <= 1'b0;
      aligned_q <= 1'b0;
    end else if (!lock_i) begin
      seen_q    <= 1'b0;
      aligned_q <= 1'b0;
    end else if (comma) begin
      seen_q    <= 1'b1;
      aligned_q <= aligned_q || (seen_q && seen_place_q == here);
    end
  end
  always_ff @(posedge clk_i) begin
    if (comma) begin
      seen_place_q <= here;
      if (seen_place_q == here) place_q <= here;
    end
  end

  // ---------------------------------------------------------------- words
  // The frame under way from its third symbol on, and that before it but for its first.
  symbol_t [4:0] last_q;
  symbol_t [6:0] window;
  symbol_t [3:0] chosen;
  assign window = {symbol_i[1], symbol_i[0], last_q};
  always_ff @(posedge clk_i) last_q <= window[6:2];

  always_comb begin
    unique case (place_q)
      2'd0:    chosen = window[6:3];
      2'd1:    chosen = window[3:0];
      2'd2:    chosen = window[4:1];
      default: chosen = window[5:2];
    endcase
  end

  always_ff @(posedge clk_i) begin
    if (half_q) begin
      for (int unsigned i = 0; i < 4; i++) begin
        word_o.k[3-i]          <= chosen[i].k;
        word_o.data[8*(3-i)+:8] <= chosen[i].data;
      end
    end
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) signal_o <= 1'b0;
    else if (half_q) signal_o <= aligned_q;
  end
endmodule
