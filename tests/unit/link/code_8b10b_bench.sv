// SPDX-License-Identifier: SHL-2.1
/// The coder of the transceivers' models, and its decoder.
module code_8b10b_bench
  import code_8b10b::*;
(
  input  logic       disparity_i,
  input  logic       k_i,
  input  logic [7:0] data_i,
  output logic [9:0] code_o,
  output logic       disparity_o,
  output logic [9:0] decoded_o     // valid, k, data of code_o
);
  encoded_t encoded;
  table_t   codes;
  initial codes = all_codes();
  assign encoded     = encode(disparity_i, k_i, data_i);
  assign code_o      = encoded.code;
  assign disparity_o = encoded.disparity;
  assign decoded_o   = codes[encoded.code];
endmodule
