// SPDX-License-Identifier: SHL-2.1
/// Takes zero bytes at a message's end out of its Ethernet CRC-32 again, as equations.
///
/// The step of the CRC over zeros is linear and can be undone. So a network of eight bytes a cycle
/// also ends after fewer: it runs over the last word filled up with zeros, then this removes them.
///
///   Latency     0 cycles, combinational
///   Parameters  Bytes 1, 2 or 4: what undo_i takes back
///   Not done    other numbers: several in a row
module crc32_undo #(
  parameter int unsigned Bytes = 1
) (
  input  logic        undo_i,
  input  logic [31:0] crc_i,  // the register behind Bytes zero bytes
  output logic [31:0] crc_o   // before them; without undo_i as crc_i
);
  if (Bytes != 1 && Bytes != 2 && Bytes != 4) begin : gen_check
    $error("crc32_undo: Bytes is %0d, legal are 1, 2 and 4", Bytes);
  end

  logic [31:0] undone;
  if (Bytes == 1) begin : gen_1
    assign undone[0]  = ^(crc_i & 32'hAB000000);
    assign undone[1]  = ^(crc_i & 32'h56000000);
    assign undone[2]  = ^(crc_i & 32'hAC000000);
    assign undone[3]  = ^(crc_i & 32'h58000000);
    assign undone[4]  = ^(crc_i & 32'hB0000000);
    assign undone[5]  = ^(crc_i & 32'h60000000);
    assign undone[6]  = ^(crc_i & 32'h6B000000);
    assign undone[7]  = ^(crc_i & 32'hD6000000);
    assign undone[8]  = ^(crc_i & 32'hAC000001);
    assign undone[9]  = ^(crc_i & 32'hF3000002);
    assign undone[10] = ^(crc_i & 32'h4D000004);
    assign undone[11] = ^(crc_i & 32'h9A000008);
    assign undone[12] = ^(crc_i & 32'h34000010);
    assign undone[13] = ^(crc_i & 32'h68000020);
    assign undone[14] = ^(crc_i & 32'hD0000040);
    assign undone[15] = ^(crc_i & 32'hA0000080);
    assign undone[16] = ^(crc_i & 32'hEB000100);
    assign undone[17] = ^(crc_i & 32'hD6000200);
    assign undone[18] = ^(crc_i & 32'hAC000400);
    assign undone[19] = ^(crc_i & 32'h58000800);
    assign undone[20] = ^(crc_i & 32'h1B001000);
    assign undone[21] = ^(crc_i & 32'h9D002000);
    assign undone[22] = ^(crc_i & 32'h91004000);
    assign undone[23] = ^(crc_i & 32'h22008000);
    assign undone[24] = ^(crc_i & 32'hEF010000);
    assign undone[25] = ^(crc_i & 32'h75020000);
    assign undone[26] = ^(crc_i & 32'hEA040000);
    assign undone[27] = ^(crc_i & 32'h7F080000);
    assign undone[28] = ^(crc_i & 32'h55100000);
    assign undone[29] = ^(crc_i & 32'hAA200000);
    assign undone[30] = ^(crc_i & 32'hFF400000);
    assign undone[31] = ^(crc_i & 32'h55800000);
  end else if (Bytes == 2) begin : gen_2
    assign undone[0]  = ^(crc_i & 32'h1AAB0000);
    assign undone[1]  = ^(crc_i & 32'h35560000);
    assign undone[2]  = ^(crc_i & 32'h6AAC0000);
    assign undone[3]  = ^(crc_i & 32'hD5580000);
    assign undone[4]  = ^(crc_i & 32'hAAB00000);
    assign undone[5]  = ^(crc_i & 32'h55600000);
    assign undone[6]  = ^(crc_i & 32'hB06B0000);
    assign undone[7]  = ^(crc_i & 32'h60D60000);
    assign undone[8]  = ^(crc_i & 32'hC1AC0000);
    assign undone[9]  = ^(crc_i & 32'h99F30000);
    assign undone[10] = ^(crc_i & 32'h294D0000);
    assign undone[11] = ^(crc_i & 32'h529A0000);
    assign undone[12] = ^(crc_i & 32'hA5340000);
    assign undone[13] = ^(crc_i & 32'h4A680000);
    assign undone[14] = ^(crc_i & 32'h94D00000);
    assign undone[15] = ^(crc_i & 32'h29A00000);
    assign undone[16] = ^(crc_i & 32'h49EB0001);
    assign undone[17] = ^(crc_i & 32'h93D60002);
    assign undone[18] = ^(crc_i & 32'h27AC0004);
    assign undone[19] = ^(crc_i & 32'h4F580008);
    assign undone[20] = ^(crc_i & 32'h841B0010);
    assign undone[21] = ^(crc_i & 32'h129D0020);
    assign undone[22] = ^(crc_i & 32'h3F910040);
    assign undone[23] = ^(crc_i & 32'h7F220080);
    assign undone[24] = ^(crc_i & 32'hE4EF0100);
    assign undone[25] = ^(crc_i & 32'hD3750200);
    assign undone[26] = ^(crc_i & 32'hA6EA0400);
    assign undone[27] = ^(crc_i & 32'h577F0800);
    assign undone[28] = ^(crc_i & 32'hB4551000);
    assign undone[29] = ^(crc_i & 32'h68AA2000);
    assign undone[30] = ^(crc_i & 32'hCBFF4000);
    assign undone[31] = ^(crc_i & 32'h8D558000);
  end else if (Bytes == 4) begin : gen_4
    assign undone[0]  = ^(crc_i & 32'hC8851AAB);
    assign undone[1]  = ^(crc_i & 32'h910A3556);
    assign undone[2]  = ^(crc_i & 32'h22146AAC);
    assign undone[3]  = ^(crc_i & 32'h4428D558);
    assign undone[4]  = ^(crc_i & 32'h8851AAB0);
    assign undone[5]  = ^(crc_i & 32'h10A35560);
    assign undone[6]  = ^(crc_i & 32'hE9C3B06B);
    assign undone[7]  = ^(crc_i & 32'hD38760D6);
    assign undone[8]  = ^(crc_i & 32'hA70EC1AC);
    assign undone[9]  = ^(crc_i & 32'h869899F3);
    assign undone[10] = ^(crc_i & 32'hC5B4294D);
    assign undone[11] = ^(crc_i & 32'h8B68529A);
    assign undone[12] = ^(crc_i & 32'h16D0A534);
    assign undone[13] = ^(crc_i & 32'h2DA14A68);
    assign undone[14] = ^(crc_i & 32'h5B4294D0);
    assign undone[15] = ^(crc_i & 32'hB68529A0);
    assign undone[16] = ^(crc_i & 32'hA58F49EB);
    assign undone[17] = ^(crc_i & 32'h4B1E93D6);
    assign undone[18] = ^(crc_i & 32'h963D27AC);
    assign undone[19] = ^(crc_i & 32'h2C7A4F58);
    assign undone[20] = ^(crc_i & 32'h9071841B);
    assign undone[21] = ^(crc_i & 32'hE866129D);
    assign undone[22] = ^(crc_i & 32'h18493F91);
    assign undone[23] = ^(crc_i & 32'h30927F22);
    assign undone[24] = ^(crc_i & 32'hA9A1E4EF);
    assign undone[25] = ^(crc_i & 32'h9BC6D375);
    assign undone[26] = ^(crc_i & 32'h378DA6EA);
    assign undone[27] = ^(crc_i & 32'hA79E577F);
    assign undone[28] = ^(crc_i & 32'h87B9B455);
    assign undone[29] = ^(crc_i & 32'h0F7368AA);
    assign undone[30] = ^(crc_i & 32'hD663CBFF);
    assign undone[31] = ^(crc_i & 32'h64428D55);
  end
  assign crc_o = undo_i ? undone : crc_i;
endmodule
