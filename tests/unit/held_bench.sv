// SPDX-License-Identifier: SHL-2.1
/// Offers a number until it is taken; what Fault says it does wrong once.
module held_offers #(
  parameter int unsigned Fault = 0
) (
  input  logic       clk_i,
  input  logic       rst_ni,
  output logic       word_valid_o,
  input  logic       word_ready_i,
  output logic [7:0] word_o,
  output logic [7:0] word_count_o
);
  logic [7:0] age_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {age_q, word_count_o} <= '0;
    end else begin
      age_q <= age_q + 8'd1;
      if (word_valid_o && word_ready_i) word_count_o <= word_count_o + 8'd1;
    end
  end
  assign word_valid_o = !(Fault == 1 && age_q == 8'd50);
  assign word_o       = word_count_o ^ {7'd0, Fault == 2 && age_q == 8'd50};
endmodule

module held_bench #(
  parameter int unsigned Fault = 0
) (
  input  logic       clk_i,
  input  logic       rst_ni,
  input  logic       ready_i,
  output logic [7:0] count_o
);
  logic valid;
  logic [7:0] word;
  held_offers #(.Fault(Fault)) u_offers (
    .clk_i, .rst_ni, .word_valid_o(valid), .word_ready_i(ready_i), .word_o(word), .word_count_o(count_o)
  );
  logic unused;
  assign unused = ^{valid, word};
endmodule
