// SPDX-License-Identifier: SHL-2.1
/// Order of a metaframe: what the next word of all lanes is.
///
/// SYNC, SCRAMBLER, SKIP, words of blocks, DIAG. Where a row of words is due and there is none, all
/// lanes send a SKIP more, and the metaframe is a word longer: receivers do not count SKIPs.
///
///   Handshake   ready_i: the lanes take a word at this edge; row_take_o takes a row with it
///   Latency     0 cycles, combinational from row_valid_i
///   Throughput  MetaframeWords - 4 rows in MetaframeWords words
///   Blocks      two rows are three blocks; a metaframe begins with a whole one
///   Parameters  MetaframeWords even, 16..8192: from one SYNC to the next, with one SKIP
///   Not done    the words (blocklink_lane_tx)
module blocklink_lane_frame
  import blocklink_lane_pkg::*;
#(
  parameter int unsigned MetaframeWords = 2048
) (
  input  logic clk_i,
  input  logic rst_ni,
  input  logic ready_i,
  input  logic row_valid_i,
  output logic row_take_o,
  output logic frame_o,  // the word is one of framing: slot_o is that of every lane
  output slot_e slot_o,  // SlotData: one of blocks
  output logic odd_o,    // of those, the second of a pair of rows
  output logic added_o   // strobe: a SKIP in the place of a row
);
  localparam int unsigned IndexWidth = $clog2(MetaframeWords);
  typedef logic [IndexWidth-1:0] index_t;

  if (MetaframeWords < 16 || MetaframeWords > 8192 || MetaframeWords % 2 != 0) begin : gen_check
    $error("blocklink_lane_frame: MetaframeWords is %0d, legal is even, 16..8192", MetaframeWords);
  end

  index_t index_q;
  logic data;
  assign data = slot_o == SlotData;
  always_comb begin
    if (index_q == index_t'(0)) slot_o = SlotSync;
    else if (index_q == index_t'(1)) slot_o = SlotScrambler;
    else if (index_q == index_t'(2)) slot_o = SlotSkip;
    else if (index_q == index_t'(MetaframeWords - 1)) slot_o = SlotDiag;
    else slot_o = row_valid_i ? SlotData : SlotSkip;
  end
  assign frame_o    = !data;
  assign row_take_o = ready_i && data;
  assign odd_o      = !index_q[0];
  assign added_o    = ready_i && slot_o == SlotSkip && index_q != index_t'(2);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) index_q <= '0;
    else if (ready_i && !added_o) begin
      index_q <= index_q == index_t'(MetaframeWords - 1) ? '0 : index_q + 1'b1;
    end
  end
endmodule
