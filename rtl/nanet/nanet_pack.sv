// SPDX-License-Identifier: SHL-2.1
/// Packs a datagram's big-endian words into beats: its first byte goes to lane 0.
///
///   Handshake   valid/ready on both sides. A head becomes a beat that holds it, an end one that
///               holds it; the last beat of payload goes out with its last word, filled up with
///               anything
///   Latency     1 cycle from the word that completes a beat
///   Throughput  a word a cycle
///   Parameters  DataWidth 64..512, a power of two
///   Cut         of a datagram that ends early the incomplete beat is dropped: its end is not good
///   Not done    more payload than the head says: the UDP stage does not give it
module nanet_pack
  import nanet_pkg::*;
#(
  parameter int unsigned DataWidth = 128
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,
  input  logic                 in_valid_i,
  output logic                 in_ready_o,
  input  entry_t               in_i,
  output logic                 out_valid_o,
  input  logic                 out_ready_i,
  output entry_e               out_kind_o,
  output logic [DataWidth-1:0] out_o,
  output logic                 idle_o
);
  if (DataWidth < 64 || DataWidth > 512 || (DataWidth & (DataWidth - 1)) != 0) begin : gen_check
    $error("nanet_pack: DataWidth is %0d, legal are powers of two 64..512", DataWidth);
  end
  localparam int unsigned Words = DataWidth / 32;
  localparam int unsigned WordW = $clog2(Words);

  logic take, emit, valid_q;
  logic [WordW-1:0] word_q;
  logic [13:0] left_q;  // words of the datagram
  logic [31:0] swapped;
  logic [15:0] len;  // of the head


  assign len        = in_i.data[15:0];
  assign in_ready_o = !valid_q || out_ready_i;
  assign take       = in_valid_i && in_ready_o;
  assign emit       = take && (in_i.kind != EntryData || word_q == '1 || left_q == 14'd1);
  assign swapped    = {in_i.data[7:0], in_i.data[15:8], in_i.data[23:16], in_i.data[31:24]};

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      valid_q <= 1'b0;
      word_q  <= '0;
      left_q  <= '0;
    end else begin
      if (emit) valid_q <= 1'b1;
      else if (out_ready_i) valid_q <= 1'b0;
      if (take) begin
        unique case (in_i.kind)
          EntryHead: left_q <= 14'((17'(len) + 17'd3) >> 2);
          EntryData: left_q <= left_q - 14'd1;
          default:   left_q <= '0;
        endcase
        word_q <= in_i.kind == EntryData && !emit ? word_q + 1'b1 : '0;
      end
    end
  end
  always_ff @(posedge clk_i) begin
    if (take) begin
      out_kind_o <= in_i.kind;
      if (in_i.kind == EntryData) out_o[32*word_q+:32] <= swapped;
      else out_o[63:0] <= in_i.data;
    end
  end
  assign out_valid_o = valid_q;
  assign idle_o      = !valid_q && word_q == '0 && left_q == '0;
endmodule
