// SPDX-License-Identifier: SHL-2.1
/// fifo: nothing lost, nothing invented, order kept, the count true.
///
/// One word is watched, chosen by its number modulo twice the depth; as the choice is free, what
/// holds for it holds for every word.
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

  fifo #(.Width(Width), .Depth(Depth)) dut (.*);

  logic started_q = 1'b0;
  always_ff @(posedge clk_i) started_q <= 1'b1;
  assign rst_ni = started_q;

  // Never assigned another value and not initialised: any constant.
  logic [UsageWidth-1:0] watch_q;
  always_ff @(posedge clk_i) watch_q <= watch_q;

  logic [UsageWidth-1:0] written_q, read_q, ahead;
  logic                  live_q;
  logic [Width-1:0]      word_q;
  logic                  write, read;

  assign write = valid_i && ready_o;
  assign read  = valid_o && ready_i;
  assign ahead = watch_q - read_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni || clear_i) begin
      written_q <= '0;
      read_q    <= '0;
      live_q    <= 1'b0;
    end else begin
      written_q <= written_q + UsageWidth'(write);
      read_q    <= read_q + UsageWidth'(read);
      if (write && written_q == watch_q) begin
        live_q <= 1'b1;
        word_q <= data_i;
      end else if (read && read_q == watch_q) begin
        live_q <= 1'b0;
      end
    end
  end

  always_comb begin
    if (started_q) begin
      assert (usage_o == UsageWidth'(written_q - read_q));
      assert (usage_o <= UsageWidth'(Depth));
      assert (ready_o == (usage_o != UsageWidth'(Depth)));
      assert (valid_o == (usage_o != '0));
      // The watched word is inside exactly while its number lies between the two counts.
      assert (live_q == (ahead < usage_o));
      if (live_q && read_q == watch_q) assert (valid_o && data_o == word_q);
      // What makes the above inductive: where the words are.
      assert (written_q == dut.wptr_q && read_q == dut.rptr_q);
      if (live_q) assert (dut.mem_q[watch_q[UsageWidth-2:0]] == word_q);
      cover (usage_o == UsageWidth'(Depth));
      cover (read && write && live_q && read_q == watch_q);
    end
  end
endmodule
