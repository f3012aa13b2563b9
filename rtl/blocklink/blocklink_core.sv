// SPDX-License-Identifier: SHL-2.1
/// One end of a block link: 13 virtual circuits on one side, blocks on the other.
///
/// circuits -> blocklink_pack -> blocklink_replay -> blocks;  blocks -> blocklink_replay ->
/// blocklink_depack -> circuits (docs/explanation/cores/blocklink.md)
///
///   Handshake   to send: valid/ready a circuit, chunks of blocklink_pack. Received: avail_o words
///               a circuit, oldest first, of which pop_i are taken
///   Lossless    each word once and in the order of its circuit, whatever blocks are altered or
///               vanish
///   Latency     chunk to tx_block_o 1 cycle; rx_block_i to avail_o 2 cycles
///   Throughput  7 words a block, a block a cycle
///   Parameters  DataDepth, RestDepth: words of a circuit's receive buffer, the same at both ends;
///               Window: blocks kept for replay. RoundTrip: cycles from a word at the pins to its
///               credit at the pins again, both ends' logic included; two circuits of lines (even
///               and odd) must cover it at 3 words a cycle each, and Window at a block a cycle. 0:
///               not checked
///   Not done    lanes, their coding and deskew (blocklink_lanes); reset of one end alone
module blocklink_core
  import blocklink_pkg::*;
#(
  parameter int unsigned DataDepth = 128,
  parameter int unsigned RestDepth = 32,
  parameter int unsigned Window    = 64,
  parameter int unsigned RoundTrip = 0
) (
  input  logic                           clk_i,
  input  logic                           rst_ni,
  output block_t                         tx_block_o,
  input  logic                           tx_ready_i,  // tx_block_o is sent, the next one follows
  input  block_t                         rx_block_i,
  input  logic                           rx_valid_i,  // rx_block_i came; it is never stalled
  input  logic [NumVcs-1:0]              valid_i,  // to send, a bit a circuit: held until ready_o
  output logic [NumVcs-1:0]              ready_o,  // the circuit's chunk is taken
  input  logic [NumVcs-1:0][3:0]         count_i,  // words of the chunk, 1..9
  input  word_t [NumVcs-1:0][ChunkWords-1:0] words_i,  // words_i[vc][0] is sent first
  output word_t [NumVcs-1:0][7:0]        words_o,  // received: words_o[vc][0] is the oldest
  output logic [NumVcs-1:0][3:0]         avail_o,
  input  logic [NumVcs-1:0][3:0]         pop_i,
  output logic                           up_o,  // level: both ends have answered; blocks count
  output logic                           bad_o,  // strobe: a block with a wrong check while up
  output logic                           again_o,  // strobe: a block is sent again
  output logic                           sent_o,  // strobe: a numbered block is made
  output logic [2:0]                     sent_words_o,  // words in it
  output logic                           got_o,  // strobe: a numbered block came
  output logic                           fail_o  // level: an acknowledgement of what was not sent
);
  if (RoundTrip != 0 && DataDepth < 3 * RoundTrip) begin : gen_round_trip_check
    $error("blocklink_core: DataDepth is %0d; %0d cycles of round trip need %0d", DataDepth,
           RoundTrip, 3 * RoundTrip);
  end

  payload_t sent, got;
  logic pack_some, pack_take, credit_some, take;

  blocklink_pack #(.DataDepth(DataDepth), .RestDepth(RestDepth)) u_pack (
    .clk_i, .rst_ni, .valid_i, .ready_o, .count_i, .words_i,
    .credit_valid_i(got_o), .credit_high_i(got.high), .credit_i(got.credit),
    .some_o(pack_some), .take_i(pack_take), .words_o(sent.words), .vc_o(sent.vc)
  );
  blocklink_depack #(.DataDepth(DataDepth), .RestDepth(RestDepth)) u_depack (
    .clk_i, .rst_ni, .commit_i(got_o), .vc_i(got.vc), .words_i(got.words),
    .words_o, .avail_o, .pop_i,
    .credit_some_o(credit_some), .credit_high_o(sent.high), .credit_o(sent.credit),
    .credit_take_i(take)
  );
  blocklink_replay #(.Window(Window), .RoundTrip(RoundTrip)) u_replay (
    .clk_i, .rst_ni, .tx_block_o, .tx_ready_i, .rx_block_i, .rx_valid_i,
    .new_some_i(pack_some || credit_some), .new_take_o(take), .new_i(sent),
    .got_o, .got_payload_o(got), .up_o, .bad_o, .again_o, .fail_o
  );
  assign pack_take = take;
  assign sent_o    = take;
  always_comb begin
    sent_words_o = '0;
    for (int unsigned i = 0; i < BlockWords; i++) begin
      if (sent.vc[i] != NoVc) sent_words_o = sent_words_o + 3'd1;
    end
  end
endmodule
