// SPDX-License-Identifier: SHL-2.1
/// A serial line and its two transceivers, twenty bits a cycle: coded, shifted by any number of
/// bits, spoiled, aligned again on commas, decoded.
///
/// What is left out: clock recovery (clk_i is both ends' here), jitter, the hard block's own state
/// machine of alignment: a comma anywhere sets where symbols begin. A code that is none comes as
/// K14.7; disparity is not checked.
module line_tx_8b10b
  import link_pkg::*;
  import code_8b10b::*;
(
  input  logic          clk_i,
  input  symbol_t [1:0] symbol_i,
  output logic [19:0]   bits_o    // bit 0 first
);
  logic disparity_q = 1'b0;
  encoded_t first, second;
  assign first  = encode(disparity_q, symbol_i[0].k, symbol_i[0].data);
  assign second = encode(first.disparity, symbol_i[1].k, symbol_i[1].data);
  always_ff @(posedge clk_i) begin
    bits_o      <= {second.code, first.code};
    disparity_q <= second.disparity;
  end
endmodule

module line_rx_8b10b
  import link_pkg::*;
  import code_8b10b::*;
(
  input  logic          clk_i,
  input  logic          align_i,   // commas are looked for
  input  logic [19:0]   bits_i,
  output symbol_t [1:0] symbol_o
);
  table_t codes;
  initial codes = all_codes();

  logic [39:0] seen;
  logic [19:0] last_q;
  logic [3:0]  place_q = '0, place;
  assign seen = {bits_i, last_q};
  // A comma is seven bits, 0011111 or 1100000 in the order of the line; the eighth follows.
  always_comb begin
    place = place_q;
    for (int unsigned i = 0; i < 20; i++) begin
      if (align_i && (seen[i+:8] == 8'h7C || seen[i+:8] == 8'h83)) place = 4'(i % 10);
    end
  end

  function automatic symbol_t decode(logic [9:0] code);
    return codes[code].valid ? '{codes[code].k, codes[code].data} : '{1'b1, 8'hEE};
  endfunction

  always_ff @(posedge clk_i) begin
    last_q  <= bits_i;
    place_q <= place;
    for (int unsigned s = 0; s < 2; s++) symbol_o[s] <= decode(seen[32'(place)+10*s+:10]);
  end
endmodule

module line_8b10b
  import link_pkg::*;
#(
  parameter int unsigned Offset = 0
) (
  input  logic          clk_i,
  input  logic          rst_ni,
  input  logic          slip_i,    // from now on a bit later
  input  logic [19:0]   spoil_i,
  input  symbol_t [1:0] symbol_i,
  output symbol_t [1:0] symbol_o
);
  logic [19:0] bits, last_q;
  logic [39:0] both;
  logic [4:0]  offset_q;
  line_tx_8b10b u_tx (.clk_i, .symbol_i, .bits_o(bits));
  always_ff @(posedge clk_i) begin
    last_q <= bits;
    if (!rst_ni) offset_q <= 5'(Offset);
    else if (slip_i) offset_q <= offset_q == 5'd19 ? '0 : offset_q + 1'b1;
  end
  assign both = {bits, last_q};
  line_rx_8b10b u_rx (
    .clk_i, .align_i(1'b1), .bits_i(20'(both >> (20 - 32'(offset_q))) ^ spoil_i), .symbol_o
  );
endmodule
