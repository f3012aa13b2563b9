// SPDX-License-Identifier: SHL-2.1
/// block_fifo: nothing lost, nothing invented, order kept, also where words pass the memory by.
///
/// One word is watched (queue_watch). Its uppermost bit is an early one.
module block_fifo_props #(
  parameter int unsigned Width = 3,
  parameter int unsigned Depth = 4,
  localparam int unsigned CountWidth = $clog2(Depth) + 1
) (
  input logic             clk_i,
  input logic             valid_i,
  input logic [Width-1:0] data_i,
  input logic             ready_i
);
  typedef logic [CountWidth-1:0] count_t;
  logic             rst_ni, ready_o, valid_o;
  logic [Width-1:0] data_o;

  block_fifo #(.Width(Width), .Depth(Depth), .Early(1)) dut (.*);

  logic started_q = 1'b0;
  always_ff @(posedge clk_i) started_q <= 1'b1;
  assign rst_ni = started_q;

  count_t watch, written, taken, count, ahead, stored;
  logic   live, write, read;
  logic [Width-1:0] word;
  assign write  = valid_i && ready_o;
  assign read   = valid_o && ready_i;
  assign stored = dut.wptr_q - dut.rptr_q;

  queue_watch #(.Width(Width), .CountWidth(CountWidth)) u_watch (
    .clk_i, .rst_ni, .clear_i(1'b0),
    .write_i(write), .data_i, .read_i(read),
    .written_o(written), .read_o(taken), .count_o(count),
    .watch_o(watch), .ahead_o(ahead), .live_o(live), .word_o(word)
  );

  // Where the watched word is in the memory, if it is there.
  count_t place;
  assign place = dut.rptr_q + ahead - count_t'(1);

  logic stood_q;
  logic [Width-1:0] stood_data_q;
  always_ff @(posedge clk_i) begin
    stood_q      <= rst_ni && valid_o && !ready_i;
    stood_data_q <= data_o;
  end

  always_comb begin
    if (started_q) begin
      // The memory and the word at the output; the output is never empty while the memory is not.
      assert (stored <= count_t'(Depth) && count == stored + count_t'(valid_o));
      assert (valid_o || stored == '0);
      assert (ready_o == (stored != count_t'(Depth)));
      // The watched word is inside exactly while its number lies between the two counts.
      assert (live == (ahead < count));
      if (live && ahead == '0) assert (valid_o && data_o == word);
      if (stood_q) assert (valid_o && data_o == stood_data_q);
      // What makes the above inductive.
      if (live && ahead != '0) begin
        assert (dut.u_ram.mem_q[place[CountWidth-2:0]] == word[Width-2:0]);
        assert (dut.gen_early.mem_q[place[CountWidth-2:0]] == word[Width-1]);
      end
      cover (stored == count_t'(Depth) && valid_o);
      cover (read && write && live && taken == watch && stored != '0);
    end
  end
endmodule
