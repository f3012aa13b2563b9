// SPDX-License-Identifier: SHL-2.1
/// apenet_list: however words leave its queue, the end of a message always finds room, and no word
/// is lost. The list gets the right number of words in the queue, and of ends among them. Every
/// accepted message is counted.
///
/// Any messages: a head and data while ready_o, one end.
module apenet_list_props
  import apenet_pkg::*;
  import nanet_pkg::*;
(
  input logic         clk_i,
  input logic [63:0]  time_cycles_i,
  input logic         valid,
  input logic [1:0]   kind,
  input logic [127:0] beat_i
);
  localparam int unsigned Depth = 8;
  logic rst_ni, ready_o, idle_o, full_i, table_we_i;
  logic [5:0] table_index_i;
  list_t list_i;
  buffer_t table_i;
  message_t message_i;
  list_request_t request_o;
  list_response_t response_i;
  logic [127:0] data_o;
  logic [15:0] filled_o;
  nanet_ctrl_pkg::counters_t counters_o;
  step_t announced_o;
  assign {full_i, table_we_i, table_index_i} = '0;
  assign {list_i, table_i, response_i} = '0;

  apenet_list #(
    .DataWidth(128),
    .Depth    (Depth)
  ) dut (.*);

  logic started_q = 1'b0;
  always_ff @(posedge clk_i) started_q <= 1'b1;
  assign rst_ni = started_q;

  // One message at a time: apenet_receive (formal/apenet/apenet_receive.sby).
  logic open_q, put, take;
  logic [15:0] heads_q;
  assign message_i = '{valid: valid, kind: entry_e'(kind)};
  assign put       = started_q && valid && (ready_o || message_i.kind == EntryEnd);
  assign take      = started_q && dut.valid && dut.take;
  always_comb begin
    assume (kind <= 2'd2);
    if (valid) assume (open_q ? message_i.kind != EntryHead : message_i.kind == EntryHead);
    // A head is offered with leave alone.
    if (valid && message_i.kind == EntryHead) assume (ready_o);
  end

  logic [4:0] inside_q, ends_q;  // words, and ends among them
  always_ff @(posedge clk_i) begin
    if (!started_q) begin
      open_q   <= 1'b0;
      heads_q  <= '0;
      inside_q <= '0;
      ends_q   <= '0;
    end else begin
      if (put) open_q <= message_i.kind != EntryEnd;
      if (put && message_i.kind == EntryHead) heads_q <= heads_q + 16'd1;
      inside_q <= inside_q + 5'(put) - 5'(take);
      ends_q   <= ends_q + 5'(put && message_i.kind == EntryEnd) -
                  5'(take && dut.kind == EntryEnd);
    end
  end

  logic [4:0] stored;   // in block_fifo: its memory, and its output
  assign stored = 5'(4'(dut.u_queue.wptr_q - dut.u_queue.rptr_q)) + 5'(dut.u_queue.valid_o);
  always_comb begin
    if (started_q) begin
      assert (32'(dut.usage_q) == 32'(inside_q) && 32'(dut.ends_q) == 32'(ends_q));
      assert (inside_q <= 5'(Depth) && inside_q == stored);
      assert (dut.u_queue.valid_o || stored == '0);
      if (open_q) assert (inside_q <= 5'(Depth - 1));
      if (put) assert (dut.room);
      assert (counters_o.frames_good == heads_q);
      cover (inside_q == 5'(Depth) && !open_q);
      cover (take && dut.kind == EntryEnd && ends_q == 5'd2);
    end
  end
endmodule
