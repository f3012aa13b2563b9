// SPDX-License-Identifier: SHL-2.1
/// The bytes that a traffic generator expects and writes: 64 bytes from their number and a
/// seed.
///
/// Three rounds of Marsaglia's xorshift (13, 17, 5) of each word's number xor the seed: the second
/// round's result is the low half of the word, the third round's the high one.
///
///   Latency     0 cycles
///   Not done    pseudo-random quality: it shows a line, word or byte in a wrong place
module traffic_pattern (
  input  logic [41:0]      index_i,
  input  logic [31:0]      seed_i,
  output logic [7:0][63:0] line_o
);
  function automatic logic [31:0] round(logic [31:0] x);
    logic [31:0] y;
    y = x ^ (x << 13);
    y = y ^ (y >> 17);
    return y ^ (y << 5);
  endfunction

  for (genvar w = 0; w < 8; w++) begin : gen_word
    logic [31:0] low;
    assign low       = round(round({index_i[28:0], 3'(w)} ^ seed_i));
    assign line_o[w] = {round(low), low};
  end

  logic unused;
  assign unused = ^index_i;
endmodule
