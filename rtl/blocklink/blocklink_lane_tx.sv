// SPDX-License-Identifier: SHL-2.1
/// Transmit lane: framing words, CRC-32C of each metaframe, scrambler, and inversion.
///
/// The user says what each word is; this writes the framing words themselves.
///
///   Handshake   ready_i: the transceiver takes code_o at this edge, and slot_i and word_i are
///               taken as well
///   Latency     2 words from word_i to code_o
///   Throughput  a word a cycle
///   Disparity   blocklink_lane_invert's
///   Scrambler   x^58 + x^39 + 1 beside the data; SYNC and SCRAMBLER pass unscrambled and do not
///               move it. InitState differs from lane to lane, and is not 0
///   Parameters  InitState
///   Not done    the metaframe's order (blocklink_lane_frame); the gearbox
module blocklink_lane_tx
  import blocklink_lane_pkg::*;
#(
  parameter logic [57:0] InitState = 58'h1
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        ready_i,
  input  slot_e       slot_i,
  input  logic [63:0] word_i,    // of blocks
  input  logic [1:0]  health_i,  // sent in DIAG: this end's lane has lock, all lanes are aligned
  output code_t       code_o
);
  if (InitState == '0) begin : gen_state_check
    $error("blocklink_lane_tx: InitState is 0, which scrambles nothing");
  end

  // ---------------------------------------------------------------- the word, scrambled
  state_t      state_q;
  logic [31:0] crc_q, crc_from, crc;
  logic [63:0] plain, word_q;
  logic [1:0]  header, header_q;
  logic        bare;
  assign bare     = slot_i == SlotSync || slot_i == SlotScrambler;
  assign header   = slot_i == SlotData ? HeaderData : HeaderControl;
  assign crc_from = slot_i == SlotSync ? '1 : crc_q;

  // As the check has it: the scrambler's state and the check itself count as zeros.
  always_comb begin
    unique case (slot_i)
      SlotSync:      plain = SyncWord;
      SlotScrambler: plain = {ScramblerType, 58'd0};
      SlotSkip:      plain = SkipWord;
      SlotDiag:      plain = {DiagType, 24'd0, health_i, 32'd0};
      default:       plain = word_i;
    endcase
  end
  blocklink_crc32c u_crc (.crc_i(crc_from), .data_i(plain), .crc_o(crc));

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q  <= InitState;
      crc_q    <= '1;
      word_q   <= SkipWord;
      header_q <= HeaderControl;
    end else if (ready_i) begin
      if (!bare) state_q <= after(state_q);
      crc_q    <= crc;
      header_q <= header;
      unique case (slot_i)
        SlotSync:      word_q <= plain;
        SlotScrambler: word_q <= {plain[63:58], state_q};
        SlotDiag:      word_q <= {plain[63:32], ~crc} ^ key_of(state_q);
        default:       word_q <= plain ^ key_of(state_q);
      endcase
    end
  end

  blocklink_lane_invert u_invert (
    .clk_i, .rst_ni, .ready_i, .header_i(header_q), .word_i(word_q), .code_o
  );
endmodule
