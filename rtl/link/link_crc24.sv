// SPDX-License-Identifier: SHL-2.1
/// One step of a packet's CRC-24 (polynomial 328B63) over one data word, as equations.
///
/// Not reflected: bit 31 of a word goes first. Start at FFFFFF; the end of a packet carries `~crc`.
///
///   Latency     0 cycles, combinational
///   Throughput  one word a cycle
///   Not done    other polynomials and widths
module link_crc24 (
  input  logic [23:0] crc_i,
  input  logic [31:0] data_i,
  output logic [23:0] crc_o
);
  logic [31:0] x;
  assign x = data_i ^ {crc_i, 8'h00};

  assign crc_o[0] = x[0] ^ x[3] ^ x[4] ^ x[6] ^ x[7] ^ x[8] ^ x[10] ^ x[11] ^ x[14] ^ x[16]
      ^ x[23] ^ x[29] ^ x[30] ^ x[31];
  assign crc_o[1] = x[0] ^ x[1] ^ x[3] ^ x[5] ^ x[6] ^ x[9] ^ x[10] ^ x[12] ^ x[14] ^ x[15]
      ^ x[16] ^ x[17] ^ x[23] ^ x[24] ^ x[29];
  assign crc_o[2] = x[1] ^ x[2] ^ x[4] ^ x[6] ^ x[7] ^ x[10] ^ x[11] ^ x[13] ^ x[15] ^ x[16]
      ^ x[17] ^ x[18] ^ x[24] ^ x[25] ^ x[30];
  assign crc_o[3] = x[2] ^ x[3] ^ x[5] ^ x[7] ^ x[8] ^ x[11] ^ x[12] ^ x[14] ^ x[16] ^ x[17]
      ^ x[18] ^ x[19] ^ x[25] ^ x[26] ^ x[31];
  assign crc_o[4] = x[3] ^ x[4] ^ x[6] ^ x[8] ^ x[9] ^ x[12] ^ x[13] ^ x[15] ^ x[17] ^ x[18]
      ^ x[19] ^ x[20] ^ x[26] ^ x[27];
  assign crc_o[5] = x[0] ^ x[3] ^ x[5] ^ x[6] ^ x[8] ^ x[9] ^ x[11] ^ x[13] ^ x[18] ^ x[19]
      ^ x[20] ^ x[21] ^ x[23] ^ x[27] ^ x[28] ^ x[29] ^ x[30] ^ x[31];
  assign crc_o[6] = x[0] ^ x[1] ^ x[3] ^ x[8] ^ x[9] ^ x[11] ^ x[12] ^ x[16] ^ x[19] ^ x[20]
      ^ x[21] ^ x[22] ^ x[23] ^ x[24] ^ x[28];
  assign crc_o[7] = x[1] ^ x[2] ^ x[4] ^ x[9] ^ x[10] ^ x[12] ^ x[13] ^ x[17] ^ x[20] ^ x[21]
      ^ x[22] ^ x[23] ^ x[24] ^ x[25] ^ x[29];
  assign crc_o[8] = x[0] ^ x[2] ^ x[4] ^ x[5] ^ x[6] ^ x[7] ^ x[8] ^ x[13] ^ x[16] ^ x[18]
      ^ x[21] ^ x[22] ^ x[24] ^ x[25] ^ x[26] ^ x[29] ^ x[31];
  assign crc_o[9] = x[0] ^ x[1] ^ x[4] ^ x[5] ^ x[9] ^ x[10] ^ x[11] ^ x[16] ^ x[17] ^ x[19]
      ^ x[22] ^ x[25] ^ x[26] ^ x[27] ^ x[29] ^ x[31];
  assign crc_o[10] = x[1] ^ x[2] ^ x[5] ^ x[6] ^ x[10] ^ x[11] ^ x[12] ^ x[17] ^ x[18] ^ x[20]
      ^ x[23] ^ x[26] ^ x[27] ^ x[28] ^ x[30];
  assign crc_o[11] = x[0] ^ x[2] ^ x[4] ^ x[8] ^ x[10] ^ x[12] ^ x[13] ^ x[14] ^ x[16] ^ x[18]
      ^ x[19] ^ x[21] ^ x[23] ^ x[24] ^ x[27] ^ x[28] ^ x[30];
  assign crc_o[12] = x[1] ^ x[3] ^ x[5] ^ x[9] ^ x[11] ^ x[13] ^ x[14] ^ x[15] ^ x[17] ^ x[19]
      ^ x[20] ^ x[22] ^ x[24] ^ x[25] ^ x[28] ^ x[29] ^ x[31];
  assign crc_o[13] = x[2] ^ x[4] ^ x[6] ^ x[10] ^ x[12] ^ x[14] ^ x[15] ^ x[16] ^ x[18] ^ x[20]
      ^ x[21] ^ x[23] ^ x[25] ^ x[26] ^ x[29] ^ x[30];
  assign crc_o[14] = x[3] ^ x[5] ^ x[7] ^ x[11] ^ x[13] ^ x[15] ^ x[16] ^ x[17] ^ x[19] ^ x[21]
      ^ x[22] ^ x[24] ^ x[26] ^ x[27] ^ x[30] ^ x[31];
  assign crc_o[15] = x[0] ^ x[3] ^ x[7] ^ x[10] ^ x[11] ^ x[12] ^ x[17] ^ x[18] ^ x[20] ^ x[22]
      ^ x[25] ^ x[27] ^ x[28] ^ x[29] ^ x[30];
  assign crc_o[16] = x[1] ^ x[4] ^ x[8] ^ x[11] ^ x[12] ^ x[13] ^ x[18] ^ x[19] ^ x[21] ^ x[23]
      ^ x[26] ^ x[28] ^ x[29] ^ x[30] ^ x[31];
  assign crc_o[17] = x[0] ^ x[2] ^ x[3] ^ x[4] ^ x[5] ^ x[6] ^ x[7] ^ x[8] ^ x[9] ^ x[10] ^ x[11]
      ^ x[12] ^ x[13] ^ x[16] ^ x[19] ^ x[20] ^ x[22] ^ x[23] ^ x[24] ^ x[27];
  assign crc_o[18] = x[1] ^ x[3] ^ x[4] ^ x[5] ^ x[6] ^ x[7] ^ x[8] ^ x[9] ^ x[10] ^ x[11]
      ^ x[12] ^ x[13] ^ x[14] ^ x[17] ^ x[20] ^ x[21] ^ x[23] ^ x[24] ^ x[25] ^ x[28];
  assign crc_o[19] = x[2] ^ x[4] ^ x[5] ^ x[6] ^ x[7] ^ x[8] ^ x[9] ^ x[10] ^ x[11] ^ x[12]
      ^ x[13] ^ x[14] ^ x[15] ^ x[18] ^ x[21] ^ x[22] ^ x[24] ^ x[25] ^ x[26] ^ x[29];
  assign crc_o[20] = x[0] ^ x[4] ^ x[5] ^ x[9] ^ x[12] ^ x[13] ^ x[15] ^ x[19] ^ x[22] ^ x[25]
      ^ x[26] ^ x[27] ^ x[29] ^ x[31];
  assign crc_o[21] = x[0] ^ x[1] ^ x[3] ^ x[4] ^ x[5] ^ x[7] ^ x[8] ^ x[11] ^ x[13] ^ x[20]
      ^ x[26] ^ x[27] ^ x[28] ^ x[29] ^ x[31];
  assign crc_o[22] = x[1] ^ x[2] ^ x[4] ^ x[5] ^ x[6] ^ x[8] ^ x[9] ^ x[12] ^ x[14] ^ x[21]
      ^ x[27] ^ x[28] ^ x[29] ^ x[30];
  assign crc_o[23] = x[2] ^ x[3] ^ x[5] ^ x[6] ^ x[7] ^ x[9] ^ x[10] ^ x[13] ^ x[15] ^ x[22]
      ^ x[28] ^ x[29] ^ x[30] ^ x[31];
endmodule
