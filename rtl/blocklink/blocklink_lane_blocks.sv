// SPDX-License-Identifier: SHL-2.1
/// Rows, a word of each of 12 lanes, into blocks of 8 words: two rows are three blocks.
///
///   Handshake   valid_i: row_i is a row, odd_i the second of a pair; after an odd one none may
///               come for a cycle, which busy_o says. valid_o: a block, never refused
///   Latency     0 cycles from the row that completes a block; the last one of a pair 1 cycle
///   Throughput  two rows and three blocks in 3 cycles
///   Not done    other numbers of lanes
module blocklink_lane_blocks
  import blocklink_pkg::*;
(
  input  logic              clk_i,
  input  logic              rst_ni,
  input  logic              valid_i,
  input  logic              odd_i,
  input  logic [11:0][63:0] row_i,
  output logic              busy_o,  // no row in the next cycle
  output logic              valid_o,
  output block_t            block_o
);
  logic [7:0][63:0] kept_q;
  logic last_q;
  assign busy_o  = valid_i && odd_i;
  assign valid_o = valid_i || last_q;
  always_comb begin
    if (last_q) block_o = kept_q;
    else if (odd_i) block_o = {row_i[3:0], kept_q[3:0]};
    else block_o = row_i[7:0];
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) last_q <= 1'b0;
    else last_q <= busy_o;
  end
  always_ff @(posedge clk_i) begin
    if (valid_i) kept_q <= odd_i ? row_i[11:4] : {kept_q[7:4], row_i[11:8]};
  end
endmodule
