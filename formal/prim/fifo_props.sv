// SPDX-License-Identifier: SHL-2.1
/// fifo: nothing lost, nothing invented, order kept, the count true; written ahead or not.
///
/// One word is watched (queue_watch).
module fifo_props #(
  parameter int unsigned Width = 3,
  parameter int unsigned Depth = 4,
  localparam int unsigned UsageWidth = $clog2(Depth) + 1
) (
  input logic             clk_i,
  input logic             clear_i,
  input logic             valid_i,
  input logic [Width-1:0] data_i,
  input logic             ready_i
);
  logic                  rst_ni, ready_o, valid_o;
  logic [Width-1:0]      data_o;
  logic [UsageWidth-1:0] usage_o;

`ifdef WRITE_AHEAD
  localparam bit WriteAhead = 1'b1;
`else
  localparam bit WriteAhead = 1'b0;
`endif
  fifo #(.Width(Width), .Depth(Depth), .WriteAhead(WriteAhead)) dut (.*);

  logic started_q = 1'b0;
  always_ff @(posedge clk_i) started_q <= 1'b1;
  assign rst_ni = started_q;

  logic [UsageWidth-1:0] watch, written, taken, count, ahead;
  logic                  live, write, read;
  logic [Width-1:0]      word;
  assign write = valid_i && ready_o;
  assign read  = valid_o && ready_i;

  queue_watch #(.Width(Width), .CountWidth(UsageWidth)) u_watch (
    .clk_i, .rst_ni, .clear_i,
    .write_i(write), .data_i, .read_i(read),
    .written_o(written), .read_o(taken), .count_o(count),
    .watch_o(watch), .ahead_o(ahead), .live_o(live), .word_o(word)
  );

  always_comb begin
    if (started_q) begin
      assert (usage_o == count);
      assert (usage_o <= UsageWidth'(Depth));
      assert (ready_o == (usage_o != UsageWidth'(Depth)));
      assert (valid_o == (usage_o != '0));
      // The watched word is inside exactly while its number lies between the two counts.
      assert (live == (ahead < usage_o));
      if (live && taken == watch) assert (valid_o && data_o == word);
      // What makes the above inductive: where the words are.
      assert (written == dut.wptr_q && taken == dut.rptr_q);
      if (live) assert (dut.mem_q[watch[UsageWidth-2:0]] == word);
      cover (usage_o == UsageWidth'(Depth));
      cover (read && write && live && taken == watch);
    end
  end
endmodule
