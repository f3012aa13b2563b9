// SPDX-License-Identifier: SHL-2.1
/// Packs messages into packets (the payload of a TLP) for the CCIX interface of a PCIe hard block.
///
/// A message that finds the output free leaves alone. Those that come while a packet is being sent
/// are collected and become the next one, so packets are as long as the link is busy.
///
///   Handshake   message: valid/ready; ready_o depends on words_i. Packet: a beat a cycle while the
///               block has given a credit for it, the first word in bits 63:0, the last beat with
///               tx_last_o; a packet begins with a beat
///   Ordering    first in, first out
///   Latency     message to its first beat 1 cycle
///   Throughput  a message a cycle, a beat a cycle
///   Parameters  MaxWords 16, 32 or 64: a packet of 128, 256 or 512 bytes; MaxMessages 1..31 in a
///               packet, 1: no packing; BlockCredits 1..31, those of the block
///   Not done    packets that begin inside a beat, chained requests
module ccix_pack
  import ccix_pkg::*;
#(
  parameter int unsigned MaxWords     = 32,
  parameter int unsigned MaxMessages  = 31,
  parameter int unsigned BlockCredits = 8
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,
  input  logic                  valid_i,
  output logic                  ready_o,
  input  logic [3:0]            words_i,
  input  word_t [MostWords-1:0] message_i,
  output logic                  tx_valid_o,
  output logic                  tx_last_o,
  output logic [3:0]            tx_words_o,
  output beat_t                 tx_data_o,
  input  logic                  tx_credit_i
);
  if (!(MaxWords inside {16, 32, 64})) begin : gen_words_check
    $error("ccix_pack: MaxWords is %0d, legal is 16, 32, 64", MaxWords);
  end
  if (MaxMessages < 1 || MaxMessages > 31 || BlockCredits < 1 || BlockCredits > 31) begin : gen_most
    $error("ccix_pack: MaxMessages %0d, BlockCredits %0d, legal is 1..31", MaxMessages,
           BlockCredits);
  end
  typedef logic [6:0] count_t;  // 0..64

  word_t [MaxWords-1:0] stage_q, send_q;
  count_t staged_q, left_q, base;
  logic [4:0] messages_q, credits_q;
  logic free, take, pass, fits, put, beat;

  assign beat = left_q != '0 && credits_q != '0;
  assign free = left_q == '0 || (beat && left_q <= 7'd8);
  assign take = free && staged_q != '0;
  assign pass = free && staged_q == '0;
  assign fits = staged_q + 7'(words_i) <= 7'(MaxWords) && messages_q < 5'(MaxMessages);
  assign ready_o = free || fits;
  assign put     = valid_i && ready_o && !pass;
  assign base    = take ? '0 : staged_q;

  assign tx_valid_o = beat;
  assign tx_last_o  = left_q <= 7'd8;
  assign tx_words_o = tx_last_o ? left_q[3:0] : 4'd8;
  assign tx_data_o  = send_q[BeatWords-1:0];

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      staged_q   <= '0;
      messages_q <= '0;
      left_q     <= '0;
      credits_q  <= '0;
    end else begin
      staged_q   <= base + (put ? 7'(words_i) : '0);
      messages_q <= (take ? '0 : messages_q) + 5'(put);
      credits_q  <= credits_q + 5'(tx_credit_i) - 5'(beat);
      if (free) left_q <= take ? staged_q : valid_i ? 7'(words_i) : '0;
      else if (beat) left_q <= left_q - 7'd8;
    end
  end
  for (genvar i = 0; i < int'(MaxWords); i++) begin : gen_word
    count_t at;
    assign at = 7'(i) - base;
    always_ff @(posedge clk_i) begin
      if (put && 7'(i) >= base && at < 7'(words_i)) stage_q[i] <= message_i[at[3:0]];
      if (take) send_q[i] <= stage_q[i];
      else if (free) send_q[i] <= i < int'(MostWords) ? message_i[i % int'(MostWords)] : '0;
      else if (beat) send_q[i] <= i + 8 < int'(MaxWords) ? send_q[(i + 8) % int'(MaxWords)] : '0;
    end
  end
  prim_assert u_credits (
    .clk_i,
    .rst_ni,
    .ok_i(credits_q <= 5'(BlockCredits))
  );
endmodule
