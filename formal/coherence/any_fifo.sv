// SPDX-License-Identifier: SHL-2.1
/// In the place of fifo where a proof may not depend on what is in it: it counts, and gives any
/// words.
module fifo #(
  parameter  int unsigned Width      = 32,
  parameter  int unsigned Depth      = 16,
  parameter  bit          WriteAhead = 1'b0,
  localparam int unsigned UsageWidth = $clog2(Depth) + 1
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,
  input  logic                  clear_i,
  input  logic                  valid_i,
  output logic                  ready_o,
  input  logic [Width-1:0]      data_i,
  output logic                  valid_o,
  input  logic                  ready_i,
  output logic [Width-1:0]      data_o,
  output logic [UsageWidth-1:0] usage_o
);
  logic [Width-1:0] any;  // not driven: free in every cycle
  assign data_o  = any;
  assign ready_o = usage_o != UsageWidth'(Depth);
  assign valid_o = usage_o != '0;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) usage_o <= '0;
    else usage_o <= clear_i ? '0 : usage_o + UsageWidth'(valid_i && ready_o) -
                                   UsageWidth'(valid_o && ready_i);
  end
  logic unused;
  assign unused = ^data_i ^ WriteAhead;
endmodule
