// SPDX-License-Identifier: SHL-2.1
/// In the place of fifo where a proof depends on one value of the words' upper 8 bits, 0: it keeps
/// which words have it, and gives any others.
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
  logic [Depth-1:0] marks_q, marks;  // of the words, the oldest at bit 0; 0 where no word is
  logic push, pop;
  assign push    = valid_i && ready_o;
  assign pop     = valid_o && ready_i;
  assign data_o  = any;
  assign ready_o = usage_o != UsageWidth'(Depth);
  assign valid_o = usage_o != '0;
  always_comb begin
    assume (!valid_o || (any[Width-1-:8] == '0) == marks_q[0]);
    marks = marks_q;
    for (int unsigned i = 0; i < Depth; i++) begin
      if (push && usage_o == UsageWidth'(i)) marks[i] = data_i[Width-1-:8] == '0;
    end
    if (pop) marks = marks >> 1;
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      usage_o <= '0;
      marks_q <= '0;
    end else begin
      usage_o <= clear_i ? '0 : usage_o + UsageWidth'(push) - UsageWidth'(pop);
      marks_q <= clear_i ? '0 : marks;
    end
  end
  // For the induction: the marks are of words that are there.
  always_comb begin
    if (rst_ni) begin
      fits    : assert (usage_o <= UsageWidth'(Depth));
      nothing : assert ((marks_q >> usage_o) == '0);
    end
  end
  logic unused;
  assign unused = WriteAhead;
endmodule
