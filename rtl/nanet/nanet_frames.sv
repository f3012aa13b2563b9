// SPDX-License-Identifier: SHL-2.1
/// Counts the frames of a port in the clock of the memory's bus: good, bad, of other use.
///
///   Handshake   strobes of eth_clk_i; judged_i with verdict_i for each frame, end_i with good_i
///               for each datagram; echo_lost_i for a datagram that was not sent back
///   Latency     as gray_counter
///   Throughput  a frame a cycle
///   Parameters  Echo 0: no datagram is sent back, and none counted
///   Not done    a count a verdict: eth_counters
module nanet_frames
  import nanet_pkg::*;
#(
  parameter bit Echo = 1'b0
) (
  input  logic                  eth_clk_i,
  input  logic                  eth_rst_ni,
  input  logic                  judged_i,
  input  eth_pkg::eth_verdict_e verdict_i,
  input  logic                  end_i,
  input  logic                  good_i,
  input  logic                  echo_lost_i,

  input  logic                  clk_i,
  input  logic                  rst_ni,
  output frames_t               frames_o
);
  logic good, bad;
  logic [3:0] strobe;
  assign good   = end_i && good_i;
  assign bad    = judged_i && verdict_i inside {eth_pkg::VerdictOverflow, eth_pkg::VerdictLength,
                                                eth_pkg::VerdictFcs, eth_pkg::VerdictIp,
                                                eth_pkg::VerdictL4};
  assign strobe = {good, bad, judged_i && !bad && !good, echo_lost_i};

  logic [3:0][15:0] counts;
  for (genvar i = 0; i < 4; i++) begin : gen_count
    if (i == 0 && !Echo) begin : gen_none
      assign counts[i] = '0;
      logic unused;
      assign unused = strobe[i];
    end else begin : gen_counter
      gray_counter u_count (
        .clk_i  (eth_clk_i),
        .rst_ni (eth_rst_ni),
        .event_i(strobe[i]),
        .rclk_i (clk_i),
        .rrst_ni(rst_ni),
        .count_o(counts[i])
      );
    end
  end
  assign frames_o = frames_t'(counts);
endmodule
