// SPDX-License-Identifier: SHL-2.1
/// Sixty-four steps of CRC-32C (polynomial 1EDC6F41), as equations.
///
/// Not reflected: bit 63 of data_i goes first. Neither start value nor complement are in it.
///
///   Latency     0 cycles, combinational; three levels of 6-input LUTs
///   Throughput  a word of 64 bits a cycle
///   Not done    words of other widths (crc32_d64 has Ethernet's polynomial)
module blocklink_crc32c (
  input  logic [31:0] crc_i,
  input  logic [63:0] data_i,
  output logic [31:0] crc_o
);
  logic [63:0] x;
  assign x = data_i ^ {crc_i, 32'd0};

  assign crc_o[0]  = ^(x & 64'h4869EC38_DEA713F1);
  assign crc_o[1]  = ^(x & 64'h90D3D871_BD4E27E2);
  assign crc_o[2]  = ^(x & 64'h21A7B0E3_7A9C4FC4);
  assign crc_o[3]  = ^(x & 64'h434F61C6_F5389F88);
  assign crc_o[4]  = ^(x & 64'h869EC38D_EA713F10);
  assign crc_o[5]  = ^(x & 64'h0D3D871B_D4E27E20);
  assign crc_o[6]  = ^(x & 64'h5212E20F_7763EFB1);
  assign crc_o[7]  = ^(x & 64'hA425C41E_EEC7DF62);
  assign crc_o[8]  = ^(x & 64'h00226405_0328AD35);
  assign crc_o[9]  = ^(x & 64'h482D2432_D8F6499B);
  assign crc_o[10] = ^(x & 64'hD833A45D_6F4B80C7);
  assign crc_o[11] = ^(x & 64'hF80EA482_0030127F);
  assign crc_o[12] = ^(x & 64'hF01D4904_006024FE);
  assign crc_o[13] = ^(x & 64'hA8537E30_DE675A0D);
  assign crc_o[14] = ^(x & 64'h18CF1059_6269A7EB);
  assign crc_o[15] = ^(x & 64'h319E20B2_C4D34FD6);
  assign crc_o[16] = ^(x & 64'h633C4165_89A69FAC);
  assign crc_o[17] = ^(x & 64'hC67882CB_134D3F58);
  assign crc_o[18] = ^(x & 64'hC498E9AE_F83D6D41);
  assign crc_o[19] = ^(x & 64'hC1583F65_2EDDC973);
  assign crc_o[20] = ^(x & 64'hCAD992F2_831C8117);
  assign crc_o[21] = ^(x & 64'h95B325E5_0639022E);
  assign crc_o[22] = ^(x & 64'h630FA7F2_D2D517AD);
  assign crc_o[23] = ^(x & 64'h8E76A3DD_7B0D3CAB);
  assign crc_o[24] = ^(x & 64'h1CED47BA_F61A7956);
  assign crc_o[25] = ^(x & 64'h71B3634D_3293E15D);
  assign crc_o[26] = ^(x & 64'hAB0F2AA2_BB80D14B);
  assign crc_o[27] = ^(x & 64'h1E77B97D_A9A6B167);
  assign crc_o[28] = ^(x & 64'h74869EC3_8DEA713F);
  assign crc_o[29] = ^(x & 64'hE90D3D87_1BD4E27E);
  assign crc_o[30] = ^(x & 64'hD21A7B0E_37A9C4FC);
  assign crc_o[31] = ^(x & 64'hA434F61C_6F5389F8);
endmodule
