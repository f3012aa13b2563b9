// SPDX-License-Identifier: SHL-2.1
/// Packs a datagram's big-endian words into beats: its first byte goes to lane 0.
///
///   Handshake   valid/ready on both sides. A head becomes a beat that holds it, an end one that
///               holds it; the last beat of payload goes out with its last word, filled up with
///               anything
///   Latency     1 cycle from the word that completes a beat
///   Throughput  a word a cycle
///   Parameters  DataWidth 64..512, a power of two; WordWidth of the words, 32 or 64, at most half
///               of DataWidth
///   Cut         of a datagram that ends early the incomplete beat is dropped: its end is not good
///   Not done    more payload than the head says: the UDP stage does not give it
module nanet_pack
  import nanet_pkg::*;
#(
  parameter int unsigned DataWidth = 128,
  parameter int unsigned WordWidth = 32
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
  if ((WordWidth != 32 && WordWidth != 64) || WordWidth > DataWidth / 2) begin : gen_word_check
    $error("nanet_pack: WordWidth is %0d, legal are 32 and 64, at most half of DataWidth",
           WordWidth);
  end
  localparam int unsigned Words = DataWidth / WordWidth;
  localparam int unsigned WordW = $clog2(Words);
  localparam int unsigned Bytes = WordWidth / 8;

  logic take, emit, valid_q;
  logic [WordW-1:0] word_q;
  logic [13:0] left_q;  // words of the datagram
  logic [WordWidth-1:0] swapped;
  logic [15:0] len;  // of the head

  assign len        = in_i.data[15:0];
  assign in_ready_o = !valid_q || out_ready_i;
  assign take       = in_valid_i && in_ready_o;
  assign emit       = take && (in_i.kind != EntryData || word_q == '1 || left_q == 14'd1);
  always_comb begin
    for (int unsigned i = 0; i < Bytes; i++) swapped[8*i+:8] = in_i.data[WordWidth-8*(i+1)+:8];
  end

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
          EntryHead: left_q <= 14'((17'(len) + 17'(Bytes - 1)) >> $clog2(Bytes));
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
      if (in_i.kind == EntryData) out_o[WordWidth*word_q+:WordWidth] <= swapped;
      else out_o[63:0] <= in_i.data;
    end
  end
  assign out_valid_o = valid_q;
  assign idle_o      = !valid_q && word_q == '0 && left_q == '0;
endmodule
