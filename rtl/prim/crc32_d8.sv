// SPDX-License-Identifier: SHL-2.1
/// One step of the Ethernet CRC-32 over one byte, as equations.
///
/// Reflected form: polynomial EDB88320, bit 0 of a byte first. Start at FFFFFFFF. The FCS on the
/// wire is `~crc`, byte [7:0] first; over a frame with its FCS the register ends at DEBB20E3.
///
///   Latency     0 cycles, combinational
///   Throughput  one byte a cycle
///   Not done    other polynomials and widths
module crc32_d8 (
  input  logic [31:0] crc_i,   // the register before this byte
  input  logic [7:0]  data_i,  // bit 0 is the first on the wire
  output logic [31:0] crc_o    // the register behind it
);
  logic [7:0] x;
  assign x = crc_i[7:0] ^ data_i;

  assign crc_o[0]  = crc_i[8] ^ x[2];
  assign crc_o[1]  = crc_i[9] ^ x[0] ^ x[3];
  assign crc_o[2]  = crc_i[10] ^ x[0] ^ x[1] ^ x[4];
  assign crc_o[3]  = crc_i[11] ^ x[1] ^ x[2] ^ x[5];
  assign crc_o[4]  = crc_i[12] ^ x[0] ^ x[2] ^ x[3] ^ x[6];
  assign crc_o[5]  = crc_i[13] ^ x[1] ^ x[3] ^ x[4] ^ x[7];
  assign crc_o[6]  = crc_i[14] ^ x[4] ^ x[5];
  assign crc_o[7]  = crc_i[15] ^ x[0] ^ x[5] ^ x[6];
  assign crc_o[8]  = crc_i[16] ^ x[1] ^ x[6] ^ x[7];
  assign crc_o[9]  = crc_i[17] ^ x[7];
  assign crc_o[10] = crc_i[18] ^ x[2];
  assign crc_o[11] = crc_i[19] ^ x[3];
  assign crc_o[12] = crc_i[20] ^ x[0] ^ x[4];
  assign crc_o[13] = crc_i[21] ^ x[0] ^ x[1] ^ x[5];
  assign crc_o[14] = crc_i[22] ^ x[1] ^ x[2] ^ x[6];
  assign crc_o[15] = crc_i[23] ^ x[2] ^ x[3] ^ x[7];
  assign crc_o[16] = crc_i[24] ^ x[0] ^ x[2] ^ x[3] ^ x[4];
  assign crc_o[17] = crc_i[25] ^ x[0] ^ x[1] ^ x[3] ^ x[4] ^ x[5];
  assign crc_o[18] = crc_i[26] ^ x[0] ^ x[1] ^ x[2] ^ x[4] ^ x[5] ^ x[6];
  assign crc_o[19] = crc_i[27] ^ x[1] ^ x[2] ^ x[3] ^ x[5] ^ x[6] ^ x[7];
  assign crc_o[20] = crc_i[28] ^ x[3] ^ x[4] ^ x[6] ^ x[7];
  assign crc_o[21] = crc_i[29] ^ x[2] ^ x[4] ^ x[5] ^ x[7];
  assign crc_o[22] = crc_i[30] ^ x[2] ^ x[3] ^ x[5] ^ x[6];
  assign crc_o[23] = crc_i[31] ^ x[3] ^ x[4] ^ x[6] ^ x[7];
  assign crc_o[24] = x[0] ^ x[2] ^ x[4] ^ x[5] ^ x[7];
  assign crc_o[25] = x[0] ^ x[1] ^ x[2] ^ x[3] ^ x[5] ^ x[6];
  assign crc_o[26] = x[0] ^ x[1] ^ x[2] ^ x[3] ^ x[4] ^ x[6] ^ x[7];
  assign crc_o[27] = x[1] ^ x[3] ^ x[4] ^ x[5] ^ x[7];
  assign crc_o[28] = x[0] ^ x[4] ^ x[5] ^ x[6];
  assign crc_o[29] = x[0] ^ x[1] ^ x[5] ^ x[6] ^ x[7];
  assign crc_o[30] = x[0] ^ x[1] ^ x[6] ^ x[7];
  assign crc_o[31] = x[1] ^ x[7];
endmodule
