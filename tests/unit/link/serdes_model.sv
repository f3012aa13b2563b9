// SPDX-License-Identifier: SHL-2.1
/// One direction of a transceiver pair: bytes come at any of four places until a comma has been seen.
///
/// A comma is in K28.1, K28.5 and K28.7 and in no other symbol. The word in which one is found first
/// sets the place of its byte as byte 3, and signal_o rises. slip_i shifts what comes by a byte: from then
/// on words are wrong until the next comma.
module serdes_model
  import link_pkg::*;
#(
  parameter int unsigned Offset = 1
) (
  input  logic  clk_i,
  input  logic  rst_ni,
  input  logic  slip_i,
  input  word_t tx_i,
  output logic  signal_o,
  output word_t rx_o
);
  // Nine bits a byte, the first one on the line in the highest place.
  function automatic logic [35:0] bytes(word_t word);
    for (int unsigned i = 0; i < 4; i++) bytes[9*i+:9] = {word.k[i], word.data[8*i+:8]};
  endfunction
  function automatic word_t from_bytes(logic [35:0] value);
    for (int unsigned i = 0; i < 4; i++) {from_bytes.k[i], from_bytes.data[8*i+:8]} = value[9*i+:9];
  endfunction
  function automatic logic is_comma(logic [8:0] value);
    return value inside {9'h13C, 9'h1BC, 9'h1FC};
  endfunction

  logic [35:0] last_q, seen_q, seen;
  logic [1:0]  offset_q, place_q, place;
  logic        found, signal_q;

  // What the line makes of the words, before any alignment.
  assign seen = 36'({last_q, bytes(tx_i)} >> 9 * offset_q);

  always_comb begin
    found = 1'b0;
    place = place_q;
    for (int unsigned i = 0; i < 4; i++) begin
      if (is_comma(seen[9*i+:9])) begin
        found = 1'b1;
        place = 2'(3 - i);
      end
    end
  end

  always_ff @(posedge clk_i) begin
    last_q <= bytes(tx_i);
    seen_q <= seen;
    if (!rst_ni) begin
      offset_q <= 2'(Offset);
      place_q  <= '0;
      signal_q <= 1'b0;
    end else begin
      if (slip_i) offset_q <= offset_q + 2'd1;
      place_q  <= place;
      signal_q <= signal_q || found;
    end
  end

  // A word begins `place_q` bytes behind the begin of what was seen.
  assign rx_o     = from_bytes(36'({seen_q, seen} >> 9 * (4 - 32'(place_q))));
  assign signal_o = signal_q;
endmodule
