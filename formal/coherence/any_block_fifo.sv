// SPDX-License-Identifier: SHL-2.1
/// In the place of block_fifo where a proof may not depend on what is in it: it counts, and gives
/// any words.
module block_fifo #(
  parameter int unsigned Width = 66,
  parameter int unsigned Depth = 256,
  parameter int unsigned Early = 0
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic             valid_i,
  output logic             ready_o,
  input  logic [Width-1:0] data_i,
  output logic             valid_o,
  input  logic             ready_i,
  output logic [Width-1:0] data_o
);
  logic [Width-1:0] any;  // not driven: free in every cycle
  logic [$clog2(Depth)+1:0] inside_q;  // the memory's words, and one at the output
  assign data_o  = any;
  assign ready_o = 32'(inside_q) <= Depth;
  assign valid_o = inside_q != '0;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) inside_q <= '0;
    else inside_q <= inside_q + ($bits(inside_q))'(valid_i && ready_o) -
                     ($bits(inside_q))'(valid_o && ready_i);
  end
  logic unused;
  assign unused = ^{data_i, Early};
endmodule
