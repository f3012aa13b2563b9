// SPDX-License-Identifier: SHL-2.1
/// Blocks of 8 words into rows, a word of each of 12 lanes: three blocks are two rows.
///
/// Word i of a row is that of lane i. A block's words follow each other, its control word last.
///
///   Handshake   block_i is always a block; block_ready_o takes it. room_i: a row can be taken in
///               the next two cycles
///   Latency     0 cycles from the block that completes a row
///   Throughput  three blocks and two rows in 3 cycles
///   Freshness   a row's first block is taken in the cycle before its second, never kept
///   Not done    other numbers of lanes
module blocklink_lane_rows
  import blocklink_pkg::*;
(
  input  logic               clk_i,
  input  logic               rst_ni,
  input  block_t             block_i,
  output logic               block_ready_o,
  input  logic               room_i,
  output logic               row_valid_o,
  output logic [11:0][63:0]  row_o
);
  typedef enum logic [1:0] {First, Second, Third} phase_e;
  phase_e phase_q;
  logic [7:0][63:0] words, kept_q;
  assign words = block_i;

  assign block_ready_o = room_i || phase_q == Second;
  assign row_valid_o   = block_ready_o && phase_q != First;
  assign row_o         = phase_q == Second ? {words[3:0], kept_q} : {words, kept_q[3:0]};

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) phase_q <= First;
    else if (block_ready_o) begin
      unique case (phase_q)
        First:   phase_q <= Second;
        Second:  phase_q <= Third;
        default: phase_q <= First;
      endcase
    end
  end
  always_ff @(posedge clk_i) begin
    if (block_ready_o) kept_q <= phase_q == First ? words : {kept_q[7:4], words[7:4]};
  end
endmodule
