// SPDX-License-Identifier: SHL-2.1
/// link_gear_tx and link_gear_rx over a line of any number of symbols: the words that come are
/// those that went, in their order, once signal_o is high; two commas with no false one between
/// them are enough for that, and a false one, of a wrong bit, moves nothing.
module link_gear_props
  import link_pkg::*;
(
  input logic       clk_i,
  input word_t      next_i,     // the word that link_port puts out next
  input logic [1:0] offset,     // of the line, in symbols; constant
  input logic       lock_i,
  input logic [1:0] spoil_i,    // a comma in the place of this symbol
  input logic       which_i
);
  logic started_q = 1'b0;
  logic rst_ni;
  logic [1:0] offset_q;
  always_ff @(posedge clk_i) begin
    started_q <= 1'b1;
    offset_q  <= offset;
  end
  assign rst_ni = started_q;
  // What the line holds at the start is of no word: no lock until it has left.
  logic [3:0] age_q;
  always_ff @(posedge clk_i) age_q <= !rst_ni ? '0 : age_q == '1 ? age_q : age_q + 1'b1;

  // Only a word's first symbol may be a K: so only there a comma.
  logic tx_clk, rx_clk;
  word_t word_q;
  always_ff @(posedge clk_i) if (!tx_clk || !rst_ni) word_q <= next_i;

  symbol_t [0:0][1:0] sent;
  link_gear_tx u_tx (.clk_i, .rst_ni, .word_clk_o(tx_clk), .word_i(word_q), .symbol_o(sent));

  // The line: pairs before, and those of now, `offset` symbols late.
  symbol_t [3:0] before_q;
  symbol_t [5:0] line;
  symbol_t [1:0] clean, heard;
  always_ff @(posedge clk_i) before_q <= line[5:2];
  assign line = {sent[0], before_q};
  always_comb begin
    unique case (offset)
      2'd0: clean = line[5:4];
      2'd1: clean = line[4:3];
      2'd2: clean = line[3:2];
      2'd3: clean = line[2:1];
    endcase
    heard = clean;
    for (int unsigned s = 0; s < 2; s++) begin
      if (spoil_i[s]) heard[s] = '{k: 1'b1, data: which_i ? SymIdle : SymAlign};
    end
  end

  word_t word;
  logic  signal;
  link_gear_rx u_rx (
    .clk_i, .rst_ni, .lock_i, .symbol_i(heard), .word_clk_o(rx_clk), .word_o(word),
    .signal_o(signal)
  );

  function automatic logic comma(symbol_t symbol);
    return symbol.k && (symbol.data == SymIdle || symbol.data == SymAlign);
  endfunction
  logic right_comma, false_comma;
  assign right_comma = (comma(clean[0]) && !spoil_i[0]) || (comma(clean[1]) && !spoil_i[1]);
  assign false_comma = spoil_i != '0;

  // The last comma was a false one; right ones in a row, and cycles since there were two.
  logic       false_q;
  logic [1:0] rights_q;
  logic [2:0] since_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni || !lock_i) begin
      false_q  <= 1'b0;
      rights_q <= '0;
      since_q  <= '0;
    end else begin
      if (false_comma) begin
        false_q <= 1'b1;
        if (rights_q != 2'd2) rights_q <= '0;
      end else if (right_comma) begin
        false_q <= 1'b0;
        if (rights_q != 2'd2) rights_q <= rights_q + 1'b1;
      end
      if (rights_q == 2'd2 && since_q != '1) since_q <= since_q + 1'b1;
    end
  end

  // Words as they went, and the place of a word's first symbol in the frames of the receive side.
  word_t [2:0] went_q;
  always_ff @(posedge clk_i) if (!tx_clk) went_q <= {went_q[1:0], word_q};
  logic [1:0] place;
  assign place = offset_q + 2'd2;
  // Cycles since a symbol was false.
  logic [3:0] clean_q;
  always_ff @(posedge clk_i) clean_q <= false_comma ? '0 : clean_q == '1 ? clean_q : clean_q + 1'b1;

  word_t expected;
  assign expected = place == 2'd1 ? went_q[2] : went_q[1];

  always_comb begin
    if (started_q) begin
      assume (offset == offset_q);
      assume (!lock_i || age_q > 4'd7);
      assume (next_i.k == 4'b1000 || next_i.k == 4'b0000);
      // Between two false commas is a right one,
      // and a symbol is not false in the cycle of a right one.
      assume (!(false_comma && (false_q || right_comma)));
      assume (spoil_i != 2'b11);
      // The two sides' word clocks: in step here; the offset takes all four places all the same.
      assert (tx_clk == rx_clk);
      assert (u_rx.seen_q == (rights_q != 2'd0 || false_q));
      assert (rights_q <= 2'd2 && (rights_q == 2'd2 || since_q == '0));
      assert (!(false_q && rights_q == 2'd1));
      if (u_rx.seen_q && !false_q) assert (u_rx.seen_place_q == place);
      if (u_rx.aligned_q) assert (u_rx.seen_q && u_rx.place_q == place);
      if (rights_q == 2'd2) assert (u_rx.aligned_q);
      if (since_q > 3'd2) assert (signal);
      if (signal && u_rx.aligned_q && !tx_clk && clean_q > 4'd8) assert (word == expected);
      cover (signal && offset == 2'd0 && clean_q == 4'd9);
      cover (signal && offset == 2'd1 && clean_q == 4'd9);
      cover (signal && offset == 2'd2 && clean_q == 4'd9);
      cover (signal && offset == 2'd3 && clean_q == 4'd9);
    end
  end
endmodule
