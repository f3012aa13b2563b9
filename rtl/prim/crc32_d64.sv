// SPDX-License-Identifier: SHL-2.1
/// Eight steps of the Ethernet CRC-32, over eight bytes at once, as equations.
///
/// crc32_d8 applied to data_i[7:0] first and data_i[63:56] last. Over a frame with its FCS whose
/// last word is filled up with zeros the register ends at a value that depends on their number.
///
///   Latency     0 cycles, combinational
///   Throughput  eight bytes a cycle
///   Not done    fewer bytes: the user fills up with zeros, and knows what that does
module crc32_d64 (
  input  logic [31:0] crc_i,  // the register before these bytes
  input  logic [63:0] data_i,
  output logic [31:0] crc_o  // the register behind them
);
  logic [63:0] x;
  assign x = data_i ^ {32'd0, crc_i};

  assign crc_o[0]  = ^(x & 64'h04D101DF_481B4E5A);
  assign crc_o[1]  = ^(x & 64'h09A203BE_90369CB5);
  assign crc_o[2]  = ^(x & 64'h1344077D_206D396B);
  assign crc_o[3]  = ^(x & 64'h26880EFA_40DA72D7);
  assign crc_o[4]  = ^(x & 64'h4D101DF4_81B4E5AF);
  assign crc_o[5]  = ^(x & 64'h9A203BE9_0369CB5E);
  assign crc_o[6]  = ^(x & 64'h3091760D_4EC8D8E6);
  assign crc_o[7]  = ^(x & 64'h6122EC1A_9D91B1CD);
  assign crc_o[8]  = ^(x & 64'hC245D835_3B23639A);
  assign crc_o[9]  = ^(x & 64'h805AB1B5_3E5D896E);
  assign crc_o[10] = ^(x & 64'h046462B5_34A05C86);
  assign crc_o[11] = ^(x & 64'h08C8C56A_6940B90C);
  assign crc_o[12] = ^(x & 64'h11918AD4_D2817218);
  assign crc_o[13] = ^(x & 64'h232315A9_A502E430);
  assign crc_o[14] = ^(x & 64'h46462B53_4A05C860);
  assign crc_o[15] = ^(x & 64'h8C8C56A6_940B90C0);
  assign crc_o[16] = ^(x & 64'h1DC9AC92_600C6FDA);
  assign crc_o[17] = ^(x & 64'h3B935924_C018DFB5);
  assign crc_o[18] = ^(x & 64'h7726B249_8031BF6A);
  assign crc_o[19] = ^(x & 64'hEE4D6493_00637ED5);
  assign crc_o[20] = ^(x & 64'hD84BC8F9_48DDB3F0);
  assign crc_o[21] = ^(x & 64'hB446902D_D9A029BB);
  assign crc_o[22] = ^(x & 64'h6C5C2184_FB5B1D2C);
  assign crc_o[23] = ^(x & 64'hD8B84309_F6B63A59);
  assign crc_o[24] = ^(x & 64'hB5A187CC_A5773AE8);
  assign crc_o[25] = ^(x & 64'h6F920E46_02F53B8A);
  assign crc_o[26] = ^(x & 64'hDF241C8C_05EA7715);
  assign crc_o[27] = ^(x & 64'hBA9938C7_43CFA071);
  assign crc_o[28] = ^(x & 64'h71E37051_CF840EB8);
  assign crc_o[29] = ^(x & 64'hE3C6E0A3_9F081D70);
  assign crc_o[30] = ^(x & 64'hC35CC098_760B74BB);
  assign crc_o[31] = ^(x & 64'h826880EF_A40DA72D);
endmodule
