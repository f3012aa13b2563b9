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
  // Sums that the outputs share.
  logic [31:0] x;
  logic [63:0] y;

  assign x = data_i ^ {crc_i, 8'h00};

  assign y[0] = x[4] ^ x[13];
  assign y[1] = x[3] ^ x[11];
  assign y[2] = x[5] ^ x[9];
  assign y[3] = x[10] ^ x[12];
  assign y[4] = x[29] ^ x[31];
  assign y[5] = x[6] ^ x[8];
  assign y[6] = x[28] ^ x[30];
  assign y[7] = x[2] ^ x[18];
  assign y[8] = x[16] ^ x[24];
  assign y[9] = x[19] ^ x[27];
  assign y[10] = x[21] ^ x[23];
  assign y[11] = x[17] ^ x[25];
  assign y[12] = x[20] ^ y[1];
  assign y[13] = x[7] ^ x[22];
  assign y[14] = x[0] ^ y[4];
  assign y[15] = x[26] ^ y[0];
  assign y[16] = y[2] ^ y[5];
  assign y[17] = x[29] ^ y[3];
  assign y[18] = x[1] ^ y[11];
  assign y[19] = x[14] ^ x[15];
  assign y[20] = x[28] ^ y[12];
  assign y[21] = x[0] ^ y[8];
  assign y[22] = x[25] ^ y[7];
  assign y[23] = x[8] ^ x[12];
  assign y[24] = y[0] ^ y[18];
  assign y[25] = x[27] ^ y[6];
  assign y[26] = x[22] ^ y[2];
  assign y[27] = x[5] ^ x[26];
  assign y[28] = y[14] ^ y[15];
  assign y[29] = y[17] ^ y[19];
  assign y[30] = x[7] ^ x[14];
  assign y[31] = y[6] ^ y[10];
  assign y[32] = x[15] ^ y[9];
  assign y[33] = x[21] ^ y[13];
  assign y[34] = x[4] ^ x[16];
  assign y[35] = x[19] ^ y[23];
  assign y[36] = x[11] ^ y[15];
  assign y[37] = y[10] ^ y[20];
  assign y[38] = y[9] ^ y[21];
  assign y[39] = x[6] ^ y[29];
  assign y[40] = y[3] ^ y[38];
  assign y[41] = x[6] ^ x[10];
  assign y[42] = y[12] ^ y[16];
  assign y[43] = x[18] ^ y[31];
  assign y[44] = x[15] ^ y[41];
  assign y[45] = y[18] ^ y[26];
  assign y[46] = y[1] ^ y[27];
  assign y[47] = x[9] ^ x[22];
  assign y[48] = x[10] ^ y[34];
  assign y[49] = x[11] ^ y[7];
  assign y[50] = y[0] ^ y[40];
  assign y[51] = x[5] ^ y[28];
  assign y[52] = x[20] ^ y[10];
  assign y[53] = x[24] ^ y[16];
  assign y[54] = x[1] ^ y[25];
  assign y[55] = x[17] ^ y[32];
  assign y[56] = x[1] ^ y[35];
  assign y[57] = x[3] ^ y[2];
  assign y[58] = x[31] ^ y[46];
  assign y[59] = y[8] ^ y[33];
  assign y[60] = x[17] ^ x[23];
  assign y[61] = y[9] ^ y[14];
  assign y[62] = x[13] ^ y[4];
  assign y[63] = x[2] ^ y[13];
  assign crc_o[0] = x[23] ^ x[30] ^ y[1] ^ y[5] ^ y[14] ^ y[30] ^ y[48];
  assign crc_o[1] = x[1] ^ y[21] ^ y[39] ^ y[57] ^ y[60];
  assign crc_o[2] = x[7] ^ x[30] ^ y[8] ^ y[24] ^ y[44] ^ y[49];
  assign crc_o[3] = x[16] ^ y[7] ^ y[11] ^ y[30] ^ y[35] ^ y[58];
  assign crc_o[4] = x[3] ^ x[9] ^ x[12] ^ x[18] ^ x[20] ^ y[5] ^ y[15] ^ y[55];
  assign crc_o[5] = x[13] ^ y[42] ^ y[43] ^ y[61];
  assign crc_o[6] = y[21] ^ y[37] ^ y[47] ^ y[56];
  assign crc_o[7] = x[2] ^ x[24] ^ y[17] ^ y[24] ^ y[47] ^ y[52];
  assign crc_o[8] = y[5] ^ y[22] ^ y[51] ^ y[59];
  assign crc_o[9] = x[11] ^ x[26] ^ y[45] ^ y[48] ^ y[61];
  assign crc_o[10] = x[6] ^ x[20] ^ y[3] ^ y[27] ^ y[49] ^ y[54] ^ y[60];
  assign crc_o[11] = x[8] ^ x[14] ^ y[7] ^ y[31] ^ y[50];
  assign crc_o[12] = x[19] ^ x[24] ^ y[19] ^ y[20] ^ y[45] ^ y[62];
  assign crc_o[13] = x[26] ^ x[30] ^ y[22] ^ y[34] ^ y[39] ^ y[52];
  assign crc_o[14] = x[13] ^ x[30] ^ y[55] ^ y[58] ^ y[59];
  assign crc_o[15] = x[0] ^ x[18] ^ y[11] ^ y[12] ^ y[13] ^ y[17] ^ y[25];
  assign crc_o[16] = y[4] ^ y[36] ^ y[43] ^ y[56];
  assign crc_o[17] = x[23] ^ y[42] ^ y[50] ^ y[63];
  assign crc_o[18] = y[3] ^ y[24] ^ y[30] ^ y[37] ^ y[53];
  assign crc_o[19] = y[22] ^ y[29] ^ y[33] ^ y[36] ^ y[53];
  assign crc_o[20] = x[12] ^ x[25] ^ y[26] ^ y[28] ^ y[32];
  assign crc_o[21] = x[1] ^ x[7] ^ x[8] ^ x[27] ^ y[20] ^ y[51];
  assign crc_o[22] = x[2] ^ x[4] ^ x[12] ^ x[14] ^ x[21] ^ x[29] ^ y[16] ^ y[54];
  assign crc_o[23] = y[6] ^ y[44] ^ y[57] ^ y[62] ^ y[63];
endmodule
