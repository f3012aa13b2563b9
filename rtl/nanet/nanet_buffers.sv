// SPDX-License-Identifier: SHL-2.1
/// A list's table of buffers, and which of them are free: given back by the host, or given up for
/// it.
///
///   Handshake   strobes: filled_i, a buffer of datagrams_i datagrams is announced as buffer
///               index_i; give_up_i, the oldest one is filled again and is then free
///   Count       list_i.returned is the host's, modulo 2^16. With policy oldest it counts when it
///               changes: one that stays behind what was given up gives nothing back, however
///               often the numbers begin anew
///   Latency     index_i to buffer_o 1 cycle; free_o is a register: exact after filled_i;
///               list_i.returned reaches it in 2 cycles
///   Throughput  one a cycle
///   Parameters  none
///   Not done    the circle's order, its numbers
module nanet_buffers
  import nanet_pkg::*;
(
  input  logic        clk_i,
  input  logic        rst_ni,
  input  list_t       list_i,
  input  logic        table_we_i,
  input  logic [5:0]  table_index_i,
  input  buffer_t     table_i,
  input  logic [15:0] count_i,       // buffers announced, modulo 2^16
  input  logic [5:0]  index_i,       // of the next one
  input  logic        filled_i,
  input  logic [15:0] datagrams_i,
  input  logic        give_up_i,
  output buffer_t     buffer_o,
  output logic        free_o,        // of the buffers, one is not filled, or is given back
  output logic [15:0] overwritten_o  // datagrams in buffers that were given up
);
  logic [15:0] back_q;             // buffers given back, by the host or for it
  logic [15:0] seen_q;             // the host's count that was looked at
  logic [15:0] used, last_used;    // filled and not given back; so many, and one is free
  logic [15:0] counts[MaxBuffers]; // datagrams of each announced buffer
  logic oldest, take;

  assign oldest    = policy_e'(list_i.policy) == PolicyOldest && list_i.enable;
  assign take      = !oldest || list_i.returned != seen_q;
  assign used      = count_i - back_q;
  assign last_used = 16'(list_i.buffers) - 16'd1;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      back_q        <= '0;
      seen_q        <= '0;
      free_o        <= 1'b0;
      overwritten_o <= '0;
    end else begin
      // Both sums beside each other: filled_i is late.
      if (filled_i) free_o <= used < last_used && list_i.buffers != '0;
      else free_o <= used < 16'(list_i.buffers);
      if (give_up_i) back_q <= count_i - last_used;
      else if (take) back_q <= list_i.returned;
      if (!give_up_i) seen_q <= list_i.returned;
      if (give_up_i) overwritten_o <= overwritten_o + counts[index_i];
    end
  end
  // A block memory's output is late in its cycle.
  buffer_t buffers[MaxBuffers];
  always_ff @(posedge clk_i) begin
    if (table_we_i) buffers[table_index_i] <= table_i;
    buffer_o <= buffers[index_i];
    if (filled_i) counts[index_i] <= datagrams_i;
  end

  logic unused;
  assign unused = ^{list_i.datagrams, list_i.flush, list_i.echo};
endmodule
