// SPDX-License-Identifier: SHL-2.1
/// CRC-8 (polynomial 07, start FF) of a control word's symbol and fields, as equations.
///
/// Not reflected: bit 23 goes first. The word carries the value as it is.
///
///   Latency     0 cycles, combinational
///   Throughput  one word a cycle
///   Not done    other polynomials and widths
module link_crc8 (
  input  logic [23:0] data_i,
  output logic [7:0]  crc_o
);
  logic [23:0] x;
  assign x = data_i ^ 24'hFF0000;

  assign crc_o[0] = x[0] ^ x[6] ^ x[7] ^ x[8] ^ x[12] ^ x[14] ^ x[16] ^ x[18] ^ x[19] ^ x[21]
      ^ x[23];
  assign crc_o[1] = x[0] ^ x[1] ^ x[6] ^ x[9] ^ x[12] ^ x[13] ^ x[14] ^ x[15] ^ x[16] ^ x[17]
      ^ x[18] ^ x[20] ^ x[21] ^ x[22] ^ x[23];
  assign crc_o[2] = x[0] ^ x[1] ^ x[2] ^ x[6] ^ x[8] ^ x[10] ^ x[12] ^ x[13] ^ x[15] ^ x[17]
      ^ x[22];
  assign crc_o[3] = x[1] ^ x[2] ^ x[3] ^ x[7] ^ x[9] ^ x[11] ^ x[13] ^ x[14] ^ x[16] ^ x[18]
      ^ x[23];
  assign crc_o[4] = x[2] ^ x[3] ^ x[4] ^ x[8] ^ x[10] ^ x[12] ^ x[14] ^ x[15] ^ x[17] ^ x[19];
  assign crc_o[5] = x[3] ^ x[4] ^ x[5] ^ x[9] ^ x[11] ^ x[13] ^ x[15] ^ x[16] ^ x[18] ^ x[20];
  assign crc_o[6] = x[4] ^ x[5] ^ x[6] ^ x[10] ^ x[12] ^ x[14] ^ x[16] ^ x[17] ^ x[19] ^ x[21];
  assign crc_o[7] = x[5] ^ x[6] ^ x[7] ^ x[11] ^ x[13] ^ x[15] ^ x[17] ^ x[18] ^ x[20] ^ x[22];
endmodule
