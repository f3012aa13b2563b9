// SPDX-License-Identifier: SHL-2.1
/// Words of links to the symbols of transceivers that take two a clock, and the words' clock.
///
///   Clocks      clk_i: two symbols of each lane a cycle. word_clk_o: half of it, a flip-flop, for
///               link_port and all behind it. Stopped and low in reset
///   Handshake   none: word_i changes with word_clk_o's rising edge, and is taken at the next one.
///               So between the two clocks a path may take two cycles of clk_i less what the edge
///               needs to leave word_clk_o's tree, and is never too short
///   Order       word_i's byte 3, with the K flag, goes first: symbol_o[0] before symbol_o[1]
///   Latency     a word is at symbol_o 2 cycles of clk_i after word_i, its second half a cycle
///               later
///   Throughput  a word in two cycles of clk_i
///               (proved with link_gear_rx: formal/link/link_gear.sby)
///   Parameters  Lanes 1..8
///   Board       a clock constraint on word_clk_o; none between the two clocks
///   Not done    8b/10b coding, which the transceiver does
module link_gear_tx
  import link_pkg::*;
#(
  parameter int unsigned Lanes = 1
) (
  input  logic                       clk_i,
  input  logic                       rst_ni,
  output logic                       word_clk_o,
  input  word_t   [Lanes-1:0]        word_i,
  output symbol_t [Lanes-1:0][1:0]   symbol_o
);
  if (Lanes < 1 || Lanes > 8) begin : gen_lanes_check
    $error("link_gear_tx: Lanes is %0d, legal is 1..8", Lanes);
  end

  logic half_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) half_q <= 1'b0;
    else half_q <= !half_q;
  end
  assign word_clk_o = half_q;

  for (genvar l = 0; l < int'(Lanes); l++) begin : gen_lane
    symbol_t [1:0] late_q;
    always_ff @(posedge clk_i) begin
      // The edge with which word_clk_o rises: word_i is that of the last one.
      if (!half_q) begin
        symbol_o[l] <= '{'{word_i[l].k[2], word_i[l].data[23:16]},
                         '{word_i[l].k[3], word_i[l].data[31:24]}};
        late_q      <= '{'{word_i[l].k[0], word_i[l].data[7:0]},
                         '{word_i[l].k[1], word_i[l].data[15:8]}};
      end else begin
        symbol_o[l] <= late_q;
      end
    end
  end
endmodule
