// SPDX-License-Identifier: SHL-2.1
/// In the place of fifo where words have tags, each of which is in it once at most, and a proof
/// follows one tag: it keeps that word and its place, and gives any others. The tag is in bits
/// 43:36, as in the words of ccix_translate.
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
  // Not driven: free. A proof assumes which tag is followed.
  logic [Width-1:0] any;
  logic [7:0] watch_q;
  logic there_q, push, pop, mine;
  logic [UsageWidth-1:0] usage_q, place_q;
  logic [Width-1:0] held_q;
  always_ff @(posedge clk_i) watch_q <= watch_q;
  assign push    = valid_i && ready_o;
  assign pop     = valid_o && ready_i;
  assign mine    = there_q && place_q == '0;
  assign ready_o = usage_q != UsageWidth'(Depth);
  assign valid_o = usage_q != '0;
  assign usage_o = usage_q;
  assign data_o  = mine ? held_q : any;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      usage_q <= '0;
      there_q <= 1'b0;
    end else begin
      usage_q <= usage_q + UsageWidth'(push) - UsageWidth'(pop);
      if (push && data_i[43:36] == watch_q) begin
        there_q <= 1'b1;
        held_q  <= data_i;
        place_q <= usage_q - UsageWidth'(pop);
      end else if (pop) begin
        if (mine) there_q <= 1'b0;
        place_q <= place_q - 1'b1;
      end
    end
  end
  always_comb begin
    if (rst_ni) begin
      assume (mine || any[43:36] != watch_q);
      fits  : assert (usage_q <= UsageWidth'(Depth));
      place : assert (!there_q || (place_q < usage_q && held_q[43:36] == watch_q));
    end
  end
  logic unused;
  assign unused = WriteAhead ^ clear_i;
endmodule
