// SPDX-License-Identifier: SHL-2.1
/// blocklink_lane_invert: whatever words come, the ones that were sent are at most Width more, and
/// at most Width + 1 fewer, than the zeros behind each word; and each word can be had back.
///
/// Words of 4 bits: the arithmetic is the same at 64.
module blocklink_lane_invert_props #(
  localparam int unsigned       Width = 4,
  localparam logic signed [4:0] Most  = 5'sd4
) (
  input logic             clk_i,
  input logic             ready_i,
  input logic             control_i,
  input logic [Width-1:0] word_i
);
  logic started_q = 1'b0;
  always_ff @(posedge clk_i) started_q <= 1'b1;

  logic [Width+2:0] code_o;
  blocklink_lane_invert #(.Width(Width)) dut (
    .clk_i, .rst_ni(started_q), .ready_i, .header_i({control_i, !control_i}), .word_i, .code_o
  );

  // Ones less zeros of the word at the output, bit by bit, and of all that were taken.
  logic signed [4:0] own, taken_q, total;
  always_comb begin
    own = '0;
    for (int unsigned i = 0; i < Width + 3; i++) own = code_o[i] ? own + 5'sd1 : own - 5'sd1;
  end
  assign total = taken_q + own;
  logic [Width-1:0] word_q;
  logic [1:0] header_q;
  logic any_q;
  always_ff @(posedge clk_i) begin
    if (!started_q) begin
      taken_q <= '0;
      any_q   <= 1'b0;
    end else if (ready_i) begin
      taken_q  <= total;
      any_q    <= 1'b1;
      word_q   <= word_i;
      header_q <= {control_i, !control_i};
    end
  end

  always_comb begin
    if (started_q) begin
      bounded : assert (total <= Most && total >= -Most - 5'sd1);
      taken_bounded : assert (taken_q <= Most && taken_q >= -Most - 5'sd1);
      if (any_q) begin
        same : assert ((code_o[Width-1:0] ^ {Width{code_o[Width+2]}}) == word_q);
        same_header : assert (code_o[Width+1-:2] == header_q);
      end
      // Induction: the sum is the one counted here; the header has one of each.
      counted : assert (5'(dut.sum_q) == total);
      balanced : assert (^code_o[Width+1-:2]);
    end
  end
  always_comb begin
    most : cover (started_q && total == Most && any_q);
    least : cover (started_q && total == -Most - 5'sd1 && any_q);
  end
endmodule
