// SPDX-License-Identifier: SHL-2.1
/// Word lock: finds where a lane's words of 67 bits begin.
///
/// 64 words in a row with 01 or 10 in the header are lock. Without lock, a wrong header asks the
/// transceiver's gearbox to begin a bit later, and the next SlipWait words do not count. 16 wrong
/// headers among 64 words end the lock.
///
///   Handshake   valid_i: a word came. slip_o: strobe
///   Latency     locked_o and slip_o 1 cycle behind the word
///   Throughput  a word a cycle
///   Parameters  SlipWait 1..255, words: AMD's RXGEARBOXSLIP wants 32 cycles between two
///   Not done    the gearbox
module blocklink_lane_lock #(
  parameter int unsigned SlipWait = 32
) (
  input  logic       clk_i,
  input  logic       rst_ni,
  input  logic       valid_i,
  input  logic [1:0] header_i,
  output logic       slip_o,
  output logic       locked_o
);
  if (SlipWait < 1 || SlipWait > 255) begin : gen_wait_check
    $error("blocklink_lane_lock: SlipWait is %0d, legal is 1..255", SlipWait);
  end
  localparam logic [3:0] MostWrong = 4'd15;

  logic [5:0] words_q;
  logic [3:0] wrong_q;
  logic [7:0] wait_q;
  logic right, last;
  assign right = ^header_i;
  assign last  = words_q == '1;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      words_q  <= '0;
      wrong_q  <= '0;
      wait_q   <= '0;
      slip_o   <= 1'b0;
      locked_o <= 1'b0;
    end else begin
      slip_o <= 1'b0;
      if (valid_i && wait_q != '0) begin
        wait_q <= wait_q - 1'b1;
      end else if (valid_i && !locked_o) begin
        words_q <= right ? words_q + 1'b1 : '0;
        wrong_q <= '0;
        if (!right) begin
          slip_o <= 1'b1;
          wait_q <= 8'(SlipWait);
        end else if (last) begin
          locked_o <= 1'b1;
        end
      end else if (valid_i) begin
        words_q <= words_q + 1'b1;
        wrong_q <= last ? '0 : wrong_q + 4'(!right);
        if (!right && wrong_q == MostWrong) begin
          locked_o <= 1'b0;
          words_q  <= '0;
        end
      end
    end
  end
endmodule
