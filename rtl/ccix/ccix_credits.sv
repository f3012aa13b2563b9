// SPDX-License-Identifier: SHL-2.1
/// Credits of one kind at the sender: how many places the home's buffer has for us.
///
///   Handshake   take_i only with some_o. give_i places come back in this cycle; they count in the
///               next one
///   Contents    never below 0, never above the places given and not taken
///               (proved: formal/ccix/ccix_credits.sby)
///   Errors      more than Most places: fail_o from the next cycle on, and the count stays
///   Latency     1 cycle from give_i to some_o
///   Parameters  Most 1..255, the places of the largest home
///   Not done    a loss of credits: the layer below delivers every message
module ccix_credits #(
  parameter int unsigned Most = 128
) (
  input  logic       clk_i,
  input  logic       rst_ni,
  input  logic [7:0] give_i,
  input  logic       take_i,
  output logic       some_o,
  output logic [7:0] count_o,
  output logic       fail_o
);
  if (Most < 1 || Most > 255) begin : gen_most_check
    $error("ccix_credits: Most is %0d, legal is 1..255", Most);
  end

  logic [8:0] sum;
  assign sum    = 9'(count_o) + 9'(give_i) - 9'(take_i);
  assign some_o = count_o != '0;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      count_o <= '0;
      fail_o  <= 1'b0;
    end else if (sum > 9'(Most)) begin
      fail_o <= 1'b1;
    end else begin
      count_o <= sum[7:0];
    end
  end
  prim_assert u_has_one (
    .clk_i,
    .rst_ni,
    .ok_i(!take_i || some_o)
  );
endmodule
