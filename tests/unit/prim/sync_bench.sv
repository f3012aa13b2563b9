// SPDX-License-Identifier: SHL-2.1
/// Synchronisers of two and of four stages side by side.
module sync_bench (
  input  logic       clk_i,
  input  logic       rst_ni,
  input  logic [2:0] d_i,
  output logic [2:0] two_o, four_o,
  output logic       two_settled_o, four_settled_o,
  output logic       two_rst_no, four_rst_no
);
  sync_bits #(.Width(3), .ResetValue(3'b101)) u_two (
    .clk_i, .rst_ni, .d_i, .q_o(two_o), .settled_o(two_settled_o)
  );
  sync_bits #(.Width(3), .Stages(4), .ResetValue(3'b101)) u_four (
    .clk_i, .rst_ni, .d_i, .q_o(four_o), .settled_o(four_settled_o)
  );
  sync_reset u_two_rst (.clk_i, .rst_ni, .rst_no(two_rst_no));
  sync_reset #(.Stages(4)) u_four_rst (.clk_i, .rst_ni, .rst_no(four_rst_no));
endmodule
