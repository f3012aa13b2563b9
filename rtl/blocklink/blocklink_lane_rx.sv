// SPDX-License-Identifier: SHL-2.1
/// Receive lane: metaframes, descrambler, check of each metaframe, SKIPs found.
///
/// Four SYNCs in a row, each where the one before it says, are metaframe lock. From then on the
/// place of SYNC is known, and a wrong bit in it changes nothing; a SYNC elsewhere moves the place.
/// Four SYNCs missing in a row, or three scrambler states that are not the descrambler's own, end
/// the lock. Places count all words but SKIPs, so that a metaframe may have any number of them.
///
///   Handshake   valid_i: a word came; locked_i: words begin where the transceiver says
///   Output      valid_o: a word that is not a SKIP, with mark_o that of a SYNC; only in lock
///   Latency     1 cycle from code_i to word_o
///   Throughput  a word a cycle
///   SKIP        a control header and half of its bits, or a wrong header and all of them: one
///               wrong bit neither makes nor hides one
///   Check       CRC-32C of all words from SYNC to DIAG, the scrambler's state and the check itself
///               as zeros; crc_bad_o a cycle behind DIAG
///   Parameters  MetaframeWords as blocklink_lane_frame
///   Not done    word lock (blocklink_lane_lock), another clock (blocklink_lane_elastic)
module blocklink_lane_rx
  import blocklink_lane_pkg::*;
#(
  parameter int unsigned MetaframeWords = 2048
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        locked_i,
  input  logic        valid_i,
  input  code_t       code_i,
  output logic        framed_o,
  output logic        valid_o,
  output logic        skip_o,      // strobe: a SKIP in the place of a word
  output logic        mark_o,
  output logic [63:0] word_o,
  output logic [1:0]  health_o,    // of the last DIAG with a right check
  output logic        sync_bad_o,  // strobe: no SYNC in its place, or one elsewhere
  output logic        crc_bad_o    // strobe
);
  if (MetaframeWords < 16 || MetaframeWords > 8192 || MetaframeWords % 2 != 0) begin : gen_check
    $error("blocklink_lane_rx: MetaframeWords is %0d, legal is even, 16..8192", MetaframeWords);
  end
  localparam int unsigned IndexWidth = $clog2(MetaframeWords);
  typedef logic [IndexWidth-1:0] index_t;
  localparam index_t Diag = index_t'(MetaframeWords - 2);  // without the SKIP

  index_t      index_q;   // of the next word: 0 SYNC, 1 SCRAMBLER; 0 as well without any SYNC yet
  state_t      state_q;
  logic [2:0]  found_q;   // SYNCs in a row, before lock
  logic        framed_q, load_q, whole_q, diag_q;
  logic [1:0]  no_sync_q, no_state_q;
  logic [31:0] crc_q, crc;

  logic [63:0] raw, plain, checked;
  logic control, invalid, sync, in_sync, in_scrambler, in_diag, skip, right_state;
  assign raw     = code_i.word ^ {64{code_i.inverted}};
  assign control = code_i.header == HeaderControl;
  assign invalid = !(^code_i.header);
  assign plain   = raw ^ key_of(state_q);

  assign sync         = control && raw == SyncWord;
  assign in_sync      = sync || (framed_q && index_q == '0);
  assign in_scrambler = !in_sync && index_q == index_t'(1);
  assign right_state  = control && raw == {ScramblerType, state_q};

  logic high, low;
  assign high = plain[63:32] == SkipWord[63:32];
  assign low  = plain[31:0] == SkipWord[31:0];
  assign skip = !in_sync && index_q > index_t'(1) &&
                ((control && (high || low)) || (invalid && high && low));
  assign in_diag = !in_sync && !skip && index_q == Diag;

  always_comb begin
    checked = plain;
    if (in_sync) checked = raw;
    else if (in_scrambler) checked = {raw[63:58], 58'd0};
    else if (in_diag) checked = {plain[63:32], 32'd0};
  end
  blocklink_crc32c u_crc (.crc_i(in_sync ? '1 : crc_q), .data_i(checked), .crc_o(crc));

  logic moved, unframe;
  assign moved   = framed_q && sync && index_q != '0;
  assign unframe = framed_q && ((in_sync && !sync && no_sync_q == 2'd3) ||
                                (in_scrambler && !load_q && !right_state && no_state_q == 2'd2));

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      index_q    <= '0;
      state_q    <= '1;
      found_q    <= '0;
      framed_q   <= 1'b0;
      load_q     <= 1'b1;
      whole_q    <= 1'b0;
      no_sync_q  <= '0;
      no_state_q <= '0;
    end else if (!locked_i || (valid_i && unframe)) begin
      index_q  <= '0;
      found_q  <= '0;
      framed_q <= 1'b0;
      load_q   <= 1'b1;
      whole_q  <= 1'b0;
    end else if (valid_i) begin
      if (in_sync) index_q <= index_t'(1);
      else if (in_diag) index_q <= '0;
      else if (index_q != '0 && !skip) index_q <= index_q + 1'b1;

      if (in_scrambler) begin
        load_q <= !framed_q;
        if (load_q) state_q <= raw[57:0];
        if (load_q || right_state) no_state_q <= '0;
        else no_state_q <= no_state_q + 1'b1;
      end else if (!in_sync && index_q != '0) begin
        state_q <= after(state_q);
      end
      if (moved) load_q <= 1'b1;

      if (in_sync) begin
        no_sync_q <= sync ? '0 : no_sync_q + 1'b1;
        whole_q   <= framed_q;
      end
      // Before lock: each SYNC where the one before it says, else from the beginning.
      if (!framed_q && (sync || index_q == '0)) begin
        if (!sync) begin
          found_q <= '0;
        end else if (index_q != '0) begin
          found_q <= 3'd1;
        end else begin
          found_q  <= found_q + 3'd1;
          framed_q <= found_q == 3'd3;
        end
      end
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      valid_o    <= 1'b0;
      skip_o     <= 1'b0;
      sync_bad_o <= 1'b0;
      diag_q     <= 1'b0;
      health_o   <= '0;
    end else begin
      valid_o    <= valid_i && framed_q && !skip;
      skip_o     <= valid_i && framed_q && skip;
      sync_bad_o <= valid_i && framed_q && ((in_sync && !sync) || moved);
      diag_q     <= valid_i && framed_q && in_diag && whole_q;
      if (diag_q && !crc_bad_o) health_o <= word_o[33:32];
    end
  end
  always_ff @(posedge clk_i) begin
    if (valid_i) begin
      crc_q  <= crc;
      mark_o <= in_sync;
      word_o <= plain;
    end
  end
  assign framed_o  = framed_q;
  assign crc_bad_o = diag_q && word_o[31:0] != ~crc_q;
endmodule
