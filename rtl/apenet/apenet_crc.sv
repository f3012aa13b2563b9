// SPDX-License-Identifier: SHL-2.1
/// CRC-32 of a packet, a flit of 128 bits at a time, from its header to its footer, in which the
/// place of the CRC itself holds zeros.
///
///   Handshake   take_i strobes; first_i with the first flit of a packet
///   Latency     0 cycles: crc_o is that of the flits taken and of data_i
///   Throughput  a flit a cycle
///   Parameters  none
///   Not done    parts of a flit
module apenet_crc (
  input  logic         clk_i,
  input  logic         first_i,  // data_i begins a packet
  input  logic         take_i,
  input  logic [127:0] data_i,
  output logic [31:0]  crc_o
);
  logic [31:0] crc_q, middle, crc;
  crc32_d64 u_low (
    .crc_i (first_i ? '1 : crc_q),
    .data_i(data_i[63:0]),
    .crc_o (middle)
  );
  crc32_d64 u_high (
    .crc_i (middle),
    .data_i(data_i[127:64]),
    .crc_o (crc)
  );
  always_ff @(posedge clk_i) begin
    if (take_i) crc_q <= crc;
  end
  assign crc_o = ~crc;
endmodule
