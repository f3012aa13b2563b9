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
  // The upper 24 bits meet the register; each output is the parity of some of the sums.
  logic [31:0] x;

  assign x = data_i ^ {crc_i, 8'h00};

  assign crc_o[0] = ^(x & 32'hE0814DD9);
  assign crc_o[1] = ^(x & 32'h2183D66B);
  assign crc_o[2] = ^(x & 32'h4307ACD6);
  assign crc_o[3] = ^(x & 32'h860F59AC);
  assign crc_o[4] = ^(x & 32'h0C1EB358);
  assign crc_o[5] = ^(x & 32'hF8BC2B69);
  assign crc_o[6] = ^(x & 32'h11F91B0B);
  assign crc_o[7] = ^(x & 32'h23F23616);
  assign crc_o[8] = ^(x & 32'hA76521F5);
  assign crc_o[9] = ^(x & 32'hAE4B0E33);
  assign crc_o[10] = ^(x & 32'h5C961C66);
  assign crc_o[11] = ^(x & 32'h59AD7515);
  assign crc_o[12] = ^(x & 32'hB35AEA2A);
  assign crc_o[13] = ^(x & 32'h66B5D454);
  assign crc_o[14] = ^(x & 32'hCD6BA8A8);
  assign crc_o[15] = ^(x & 32'h7A561C89);
  assign crc_o[16] = ^(x & 32'hF4AC3912);
  assign crc_o[17] = ^(x & 32'h09D93FFD);
  assign crc_o[18] = ^(x & 32'h13B27FFA);
  assign crc_o[19] = ^(x & 32'h2764FFF4);
  assign crc_o[20] = ^(x & 32'hAE48B231);
  assign crc_o[21] = ^(x & 32'hBC1029BB);
  assign crc_o[22] = ^(x & 32'h78205376);
  assign crc_o[23] = ^(x & 32'hF040A6EC);
endmodule
