// SPDX-License-Identifier: SHL-2.1
/// apenet_crc with any output: the proofs of this folder do not depend on it.
module apenet_crc (
  input  logic         clk_i,
  input  logic         first_i,
  input  logic         take_i,
  input  logic [127:0] data_i,
  output logic [31:0]  crc_o
);
  (* anyseq *) logic [31:0] any;
  assign crc_o = any;
  logic unused;
  assign unused = ^{clk_i, first_i, take_i, data_i};
endmodule
