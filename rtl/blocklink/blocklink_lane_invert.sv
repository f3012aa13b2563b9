// SPDX-License-Identifier: SHL-2.1
/// Inverts words of a lane so that it sends as many ones as zeros.
///
/// A word is inverted where it would take the sum of all ones less all zeros further away from 0.
/// The header has one of each; the inversion bit counts, so a word's own sum is odd and never 0.
///
///   Handshake   ready_i: the transceiver takes code_o at this edge, and word_i is taken as well
///   Latency     1 word
///   Throughput  a word a cycle
///   Disparity   the sum is between -(Width + 1) and Width behind each word
///                                          (proved: formal/blocklink/blocklink_lane_invert.sby)
///   Parameters  Width even, 4..64
///   Not done    the sum within a word: it is up to (Width + 1) / 2 further away
module blocklink_lane_invert #(
  parameter int unsigned Width = 64
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic             ready_i,
  input  logic [1:0]       header_i,    // 01 or 10
  input  logic [Width-1:0] word_i,
  output logic [Width+2:0] code_o       // inversion bit, header, word
);
  if (Width < 4 || Width > 64 || Width % 2 != 0) begin : gen_width_check
    $error("blocklink_lane_invert: Width is %0d, legal is even, 4..64", Width);
  end
  localparam int unsigned SumWidth = $clog2(Width + 2) + 1;
  typedef logic signed [SumWidth-1:0] sum_t;

  logic [SumWidth-2:0] ones;
  sum_t excess, sum_q;
  logic invert;
  always_comb begin
    ones = '0;
    for (int unsigned i = 0; i < Width; i++) ones = ones + (SumWidth - 1)'(word_i[i]);
  end
  assign excess = sum_t'({ones, 1'b0}) - sum_t'(Width + 1);
  assign invert = sum_q != '0 && sum_q[SumWidth-1] == excess[SumWidth-1];

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      sum_q  <= -sum_t'(1);  // of the word below: half ones, and the inversion bit
      code_o <= {3'b001, {Width / 2{2'b10}}};
    end else if (ready_i) begin
      sum_q  <= invert ? sum_q - excess : sum_q + excess;
      code_o <= {invert, header_i, word_i ^ {Width{invert}}};
    end
  end
endmodule
