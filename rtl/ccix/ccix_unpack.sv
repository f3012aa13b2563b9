// SPDX-License-Identifier: SHL-2.1
/// Takes messages out of the packets that a PCIe hard block delivers at its CCIX interface.
///
///   Handshake   beats come without ready, one for each credit given: Depth at the start, one for
///               each beat that leaves the buffer. Messages: no ready, a sink must follow
///   Ordering    messages as in the packets
///   Latency     a message's last beat to valid_o 2 cycles
///   Throughput  a message and a beat a cycle: answers with lines at the rate of the beats, also
///               with what fills them up
///   Length      MsgCompData is 9 words, any other kind 1. A MsgNone fills up to where a packet
///               may begin, and is dropped with the message before it
///   Parameters  Depth a power of two, 4..31: credits
///   Not done    messages that only a home receives
module ccix_unpack
  import ccix_pkg::*;
#(
  parameter int unsigned Depth = 16
) (
  input  logic       clk_i,
  input  logic       rst_ni,
  input  logic       rx_valid_i,
  input  logic [3:0] rx_words_i,
  input  beat_t      rx_data_i,
  output logic       rx_credit_o,
  output logic       valid_o,
  output header_t    header_o,
  output line_t      data_o,
  output logic       fail_o  // level: a beat without a credit
);
  if (Depth < 4 || Depth > 31 || (Depth & (Depth - 1)) != 0) begin : gen_depth_check
    $error("ccix_unpack: Depth is %0d, legal is a power of two, 4..16", Depth);
  end

  typedef struct packed {
    logic [3:0] words;
    beat_t      data;
  } entry_t;
  entry_t beat;
  logic ready, some, next;
  logic [4:0] grant_q;  // credits still to be given at the start
  fifo #(.Width($bits(entry_t)), .Depth(Depth)) u_fifo (
    .clk_i, .rst_ni, .clear_i(1'b0), .valid_i(rx_valid_i), .ready_o(ready),
    .data_i({rx_words_i, rx_data_i}), .valid_o(some), .ready_i(next), .data_o(beat), .usage_o()
  );

  // Up to 8 words of a message whose rest is missing, and a beat.
  word_t [15:0] words_q;
  logic [4:0] count_q, pop, rest;
  logic long, whole, filled;
  logic [3:0] behind;  // the kind of what follows the message
  assign header_o = words_q[0];
  assign long     = header_o.kind == MsgCompData;
  assign whole    = long ? count_q >= 5'(AnswerWords) : count_q != '0;
  assign valid_o  = whole && header_o.kind != MsgNone;
  assign data_o   = words_q[8:1];
  assign behind   = long ? words_q[9][63:60] : words_q[1][63:60];
  assign filled   = behind == MsgNone && count_q > (long ? 5'(AnswerWords) : 5'd1);
  assign pop      = !whole ? '0 : (long ? 5'(AnswerWords) : 5'd1) + 5'(filled);
  assign rest     = count_q - pop;
  assign next     = rest <= 5'd8;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      count_q     <= '0;
      grant_q     <= 5'(Depth);
      rx_credit_o <= 1'b0;
      fail_o      <= 1'b0;
    end else begin
      count_q     <= rest + (some && next ? 5'(beat.words) : '0);
      rx_credit_o <= (some && next) || grant_q != '0;
      if (!(some && next) && grant_q != '0) grant_q <= grant_q - 5'd1;
      if (rx_valid_i && !ready) fail_o <= 1'b1;
    end
  end
  prim_assert u_fits (
    .clk_i,
    .rst_ni,
    .ok_i(count_q <= 5'd16)
  );
  for (genvar i = 0; i < 16; i++) begin : gen_word
    logic [4:0] at;
    assign at = 5'(i) - rest;
    always_ff @(posedge clk_i) begin
      if (5'(i) >= rest && at < 5'd8) words_q[i] <= beat.data[at[2:0]];
      else if (5'(i) + pop < 5'd16) words_q[i] <= words_q[4'(5'(i) + pop)];
    end
  end
endmodule
