// SPDX-License-Identifier: SHL-2.1
/// CRC-24 (polynomial 328B63) of a block of 512 bits, as equations.
///
/// Not reflected: bit 511 goes first. It begins with FFFFFF, and crc_o is its complement.
///
///   Latency     0 cycles, combinational; four levels of 6-input LUTs
///   Throughput  a block a cycle
///   Not done    other polynomials and widths (link_crc24 takes a word of 32 bits a step)
module blocklink_crc24 (
  input  logic [511:0] data_i,
  output logic [23:0]  crc_o
);
  // In words of 64 bits: simulators have two thirds of the operations of a vector of 512.
  logic [63:0] w7, w6, w5, w4, w3, w2, w1, w0;
  assign {w7, w6, w5, w4, w3, w2, w1, w0} = data_i;

  assign crc_o[0] = (
    (^(w7 & 64'hECF8F1E4D89C0252)) ^ (^(w6 & 64'h63DABCD043C70FC7)) ^
    (^(w5 & 64'h48FE32DD45CDFF5C)) ^ (^(w4 & 64'hA3E107D9E2CE077E)) ^
    (^(w3 & 64'h5BF938E39C59B997)) ^ (^(w2 & 64'hCAC2807B7EB41638)) ^
    (^(w1 & 64'hD8C2099E0AE9226F)) ^ (^(w0 & 64'hDD3342F5E0814DD9))
  );
  assign crc_o[1] = ~(
    (^(w7 & 64'h3509122D69A406F6)) ^ (^(w6 & 64'hA46FC570C4491049)) ^
    (^(w5 & 64'hD9025767CE5601E5)) ^ (^(w4 & 64'hE423086A27520982)) ^
    (^(w3 & 64'hEC0B4924A4EACAB8)) ^ (^(w2 & 64'h5F47808D83DC3A49)) ^
    (^(w1 & 64'h69461AA21F3B66B0)) ^ (^(w0 & 64'h6755C71E2183D66B))
  );
  assign crc_o[2] = ~(
    (^(w7 & 64'h6A12245AD3480DED)) ^ (^(w6 & 64'h48DF8AE188922093)) ^
    (^(w5 & 64'hB204AECF9CAC03CB)) ^ (^(w4 & 64'hC84610D44EA41305)) ^
    (^(w3 & 64'hD816924949D59570)) ^ (^(w2 & 64'hBE8F011B07B87492)) ^
    (^(w1 & 64'hD28C35443E76CD60)) ^ (^(w0 & 64'hCEAB8E3C4307ACD6))
  );
  assign crc_o[3] = ~(
    (^(w7 & 64'hD42448B5A6901BDA)) ^ (^(w6 & 64'h91BF15C311244127)) ^
    (^(w5 & 64'h64095D9F39580797)) ^ (^(w4 & 64'h908C21A89D48260B)) ^
    (^(w3 & 64'hB02D249293AB2AE1)) ^ (^(w2 & 64'h7D1E02360F70E925)) ^
    (^(w1 & 64'hA5186A887CED9AC1)) ^ (^(w0 & 64'h9D571C78860F59AC))
  );
  assign crc_o[4] = ~(
    (^(w7 & 64'hA848916B4D2037B5)) ^ (^(w6 & 64'h237E2B862248824E)) ^
    (^(w5 & 64'hC812BB3E72B00F2F)) ^ (^(w4 & 64'h211843513A904C17)) ^
    (^(w3 & 64'h605A4925275655C2)) ^ (^(w2 & 64'hFA3C046C1EE1D24B)) ^
    (^(w1 & 64'h4A30D510F9DB3583)) ^ (^(w0 & 64'h3AAE38F10C1EB358))
  );
  assign crc_o[5] = ~(
    (^(w7 & 64'hBC69D33242DC6D38)) ^ (^(w6 & 64'h2526EBDC07560B5A)) ^
    (^(w5 & 64'hD8DB44A1A0ADE102)) ^ (^(w4 & 64'hE1D1817B97EE9F50)) ^
    (^(w3 & 64'h9B4DAAA9D2F51212)) ^ (^(w2 & 64'h3EBA88A34377B2AE)) ^
    (^(w1 & 64'h4CA3A3BFF95F4969)) ^ (^(w0 & 64'hA86F3317F8BC2B69))
  );
  assign crc_o[6] = ~(
    (^(w7 & 64'h942B57805D24D822)) ^ (^(w6 & 64'h29976B684D6B1972)) ^
    (^(w5 & 64'hF948BB9E04963D59)) ^ (^(w4 & 64'h6042052ECD1339DF)) ^
    (^(w3 & 64'h6D626DB039B39DB3)) ^ (^(w2 & 64'hB7B7913DF85B7364)) ^
    (^(w1 & 64'h41854EE1F857B0BC)) ^ (^(w0 & 64'h8DED24DA11F91B0B))
  );
  assign crc_o[7] = ~(
    (^(w7 & 64'h2856AF00BA49B044)) ^ (^(w6 & 64'h532ED6D09AD632E5)) ^
    (^(w5 & 64'hF291773C092C7AB2)) ^ (^(w4 & 64'hC0840A5D9A2673BE)) ^
    (^(w3 & 64'hDAC4DB6073673B67)) ^ (^(w2 & 64'h6F6F227BF0B6E6C8)) ^
    (^(w1 & 64'h830A9DC3F0AF6179)) ^ (^(w0 & 64'h1BDA49B423F23616))
  );
  assign crc_o[8] = (
    (^(w7 & 64'hBC55AFE5AC0F62DA)) ^ (^(w6 & 64'hC5871171766B6A0C)) ^
    (^(w5 & 64'hADDCDCA557950A39)) ^ (^(w4 & 64'h22E91362D682E003)) ^
    (^(w3 & 64'hEE708E237A97CF59)) ^ (^(w2 & 64'h141CC48C9FD9DBA9)) ^
    (^(w1 & 64'hDED73219EBB7E09D)) ^ (^(w0 & 64'hEA87D19DA76521F5))
  );
  assign crc_o[9] = ~(
    (^(w7 & 64'h9453AE2F8082C7E7)) ^ (^(w6 & 64'hE8D49E32AF11DBDE)) ^
    (^(w5 & 64'h13478B97EAE7EB2E)) ^ (^(w4 & 64'hE633211C4FCBC779)) ^
    (^(w3 & 64'h871824A569762725)) ^ (^(w2 & 64'hE2FB09624107A16B)) ^
    (^(w1 & 64'h656C6DADDD86E354)) ^ (^(w0 & 64'h083CE1CEAE4B0E33))
  );
  assign crc_o[10] = (
    (^(w7 & 64'h28A75C5F01058FCF)) ^ (^(w6 & 64'hD1A93C655E23B7BC)) ^
    (^(w5 & 64'h268F172FD5CFD65D)) ^ (^(w4 & 64'hCC6642389F978EF3)) ^
    (^(w3 & 64'h0E30494AD2EC4E4B)) ^ (^(w2 & 64'hC5F612C4820F42D6)) ^
    (^(w1 & 64'hCAD8DB5BBB0DC6A8)) ^ (^(w0 & 64'h1079C39D5C961C66))
  );
  assign crc_o[11] = ~(
    (^(w7 & 64'hBDB6495ADA971DCD)) ^ (^(w6 & 64'hC088C41AFF8060BF)) ^
    (^(w5 & 64'h05E01C82EE5253E7)) ^ (^(w4 & 64'h3B2D83A8DDE11A98)) ^
    (^(w3 & 64'h4799AA7639812500)) ^ (^(w2 & 64'h412EA5F27AAA9395)) ^
    (^(w1 & 64'h4D73BF297CF2AF3F)) ^ (^(w0 & 64'hFDC0C5CF59AD7515))
  );
  assign crc_o[12] = (
    (^(w7 & 64'h7B6C92B5B52E3B9B)) ^ (^(w6 & 64'h81118835FF00C17E)) ^
    (^(w5 & 64'h0BC03905DCA4A7CE)) ^ (^(w4 & 64'h765B0751BBC23530)) ^
    (^(w3 & 64'h8F3354EC73024A00)) ^ (^(w2 & 64'h825D4BE4F555272A)) ^
    (^(w1 & 64'h9AE77E52F9E55E7F)) ^ (^(w0 & 64'hFB818B9EB35AEA2A))
  );
  assign crc_o[13] = ~(
    (^(w7 & 64'hF6D9256B6A5C7737)) ^ (^(w6 & 64'h0223106BFE0182FC)) ^
    (^(w5 & 64'h1780720BB9494F9C)) ^ (^(w4 & 64'hECB60EA377846A61)) ^
    (^(w3 & 64'h1E66A9D8E6049401)) ^ (^(w2 & 64'h04BA97C9EAAA4E55)) ^
    (^(w1 & 64'h35CEFCA5F3CABCFF)) ^ (^(w0 & 64'hF703173D66B5D454))
  );
  assign crc_o[14] = (
    (^(w7 & 64'hEDB24AD6D4B8EE6E)) ^ (^(w6 & 64'h044620D7FC0305F8)) ^
    (^(w5 & 64'h2F00E41772929F39)) ^ (^(w4 & 64'hD96C1D46EF08D4C2)) ^
    (^(w3 & 64'h3CCD53B1CC092802)) ^ (^(w2 & 64'h09752F93D5549CAA)) ^
    (^(w1 & 64'h6B9DF94BE79579FF)) ^ (^(w0 & 64'hEE062E7ACD6BA8A8))
  );
  assign crc_o[15] = ~(
    (^(w7 & 64'h379C644971EDDE8E)) ^ (^(w6 & 64'h6B56FD7FBBC10437)) ^
    (^(w5 & 64'h16FFFAF3A0E8C12F)) ^ (^(w4 & 64'h11393D543CDFAEFA)) ^
    (^(w3 & 64'h22639F80044BE993)) ^ (^(w2 & 64'hD828DF5CD41D2F6C)) ^
    (^(w1 & 64'h0FF9FB09C5C3D190)) ^ (^(w0 & 64'h013F1E007A561C89))
  );
  assign crc_o[16] = ~(
    (^(w7 & 64'h6F38C892E3DBBD1C)) ^ (^(w6 & 64'hD6ADFAFF7782086E)) ^
    (^(w5 & 64'h2DFFF5E741D1825E)) ^ (^(w4 & 64'h22727AA879BF5DF4)) ^
    (^(w3 & 64'h44C73F000897D327)) ^ (^(w2 & 64'hB051BEB9A83A5ED8)) ^
    (^(w1 & 64'h1FF3F6138B87A320)) ^ (^(w0 & 64'h027E3C00F4AC3912))
  );
  assign crc_o[17] = ~(
    (^(w7 & 64'h328960C11F2B786B)) ^ (^(w6 & 64'hCE81492EACC31F1B)) ^
    (^(w5 & 64'h1301D913C66EFBE0)) ^ (^(w4 & 64'hE705F28911B0BC96)) ^
    (^(w3 & 64'hD27746E38D761FD8)) ^ (^(w2 & 64'hAA61FD082EC0AB88)) ^
    (^(w1 & 64'hE725E5B91DE6642F)) ^ (^(w0 & 64'hD9CF3AF409D93FFD))
  );
  assign crc_o[18] = (
    (^(w7 & 64'h6512C1823E56F0D7)) ^ (^(w6 & 64'h9D02925D59863E36)) ^
    (^(w5 & 64'h2603B2278CDDF7C1)) ^ (^(w4 & 64'hCE0BE5122361792D)) ^
    (^(w3 & 64'hA4EE8DC71AEC3FB1)) ^ (^(w2 & 64'h54C3FA105D815711)) ^
    (^(w1 & 64'hCE4BCB723BCCC85F)) ^ (^(w0 & 64'hB39E75E813B27FFA))
  );
  assign crc_o[19] = ~(
    (^(w7 & 64'hCA2583047CADE1AF)) ^ (^(w6 & 64'h3A0524BAB30C7C6C)) ^
    (^(w5 & 64'h4C07644F19BBEF83)) ^ (^(w4 & 64'h9C17CA2446C2F25B)) ^
    (^(w3 & 64'h49DD1B8E35D87F62)) ^ (^(w2 & 64'hA987F420BB02AE23)) ^
    (^(w1 & 64'h9C9796E4779990BF)) ^ (^(w0 & 64'h673CEBD02764FFF4))
  );
  assign crc_o[20] = ~(
    (^(w7 & 64'h78B3F7EC21C7C10C)) ^ (^(w6 & 64'h17D0F5A525DFF71F)) ^
    (^(w5 & 64'hD0F0FA4376BA205B)) ^ (^(w4 & 64'h9BCE93916F4BE3C8)) ^
    (^(w3 & 64'hC8430FFFF7E94752)) ^ (^(w2 & 64'h99CD683A08B14A7F)) ^
    (^(w1 & 64'hE1ED2456E5DA0311)) ^ (^(w0 & 64'h134A9555AE48B231))
  );
  assign crc_o[21] = ~(
    (^(w7 & 64'h1D9F1E3C9B13804A)) ^ (^(w6 & 64'h4C7B579A0878E1F8)) ^
    (^(w5 & 64'hE91FC65BA8B9BFEB)) ^ (^(w4 & 64'h947C20FB3C59C0EF)) ^
    (^(w3 & 64'hCB7F271C738B3732)) ^ (^(w2 & 64'hF958500F6FD682C7)) ^
    (^(w1 & 64'h1B184133C15D244D)) ^ (^(w0 & 64'hFBA6685EBC1029BB))
  );
  assign crc_o[22] = ~(
    (^(w7 & 64'h3B3E3C7936270094)) ^ (^(w6 & 64'h98F6AF3410F1C3F1)) ^
    (^(w5 & 64'hD23F8CB751737FD7)) ^ (^(w4 & 64'h28F841F678B381DF)) ^
    (^(w3 & 64'h96FE4E38E7166E65)) ^ (^(w2 & 64'hF2B0A01EDFAD058E)) ^
    (^(w1 & 64'h3630826782BA489B)) ^ (^(w0 & 64'hF74CD0BD78205376))
  );
  assign crc_o[23] = ~(
    (^(w7 & 64'h767C78F26C4E0129)) ^ (^(w6 & 64'h31ED5E6821E387E3)) ^
    (^(w5 & 64'hA47F196EA2E6FFAE)) ^ (^(w4 & 64'h51F083ECF16703BF)) ^
    (^(w3 & 64'h2DFC9C71CE2CDCCB)) ^ (^(w2 & 64'hE561403DBF5A0B1C)) ^
    (^(w1 & 64'h6C6104CF05749137)) ^ (^(w0 & 64'hEE99A17AF040A6EC))
  );
endmodule
