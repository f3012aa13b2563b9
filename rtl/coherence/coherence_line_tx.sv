// SPDX-License-Identifier: SHL-2.1
/// Hands a message with a payload to its virtual circuit, 9 words at a time.
///
///   Handshake   message: valid/ready; words_i is the number of words behind the header that follow
///               in payload_i. Chunk: as blocklink_pack takes it
///   Ordering    messages in order, header first
///   Latency     1 cycle from a message to its first chunk
///   Throughput  a line (17 words) in 2 cycles
///   Parameters  Depth messages that wait, a power of two, 2..16
module coherence_line_tx
  import blocklink_pkg::word_t;
  import blocklink_pkg::ChunkWords;
#(
  parameter int unsigned Depth = 2
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  input  logic                   valid_i,
  output logic                   ready_o,
  input  word_t                  header_i,
  input  logic [4:0]             words_i,
  input  word_t [17:0]           payload_i,
  output logic                   valid_o,
  input  logic                   ready_i,
  output logic [3:0]             count_o,
  output word_t [ChunkWords-1:0] words_o
);
  localparam int unsigned Words = 19;  // the longest message: header, 2 of mask, 16 of line

  logic [4:0] left, sent;
  logic [1:0] chunk_q;
  logic last;
  word_t [Words-1:0] message;
  logic [4:0] total;

  fifo #(.Width(64 * Words + 5), .Depth(Depth)) u_messages (
    .clk_i, .rst_ni, .clear_i(1'b0),
    .valid_i, .ready_o, .data_i({words_i + 5'd1, payload_i, header_i}),
    .valid_o, .ready_i(ready_i && last), .data_o({total, message}), .usage_o()
  );

  assign sent = (chunk_q == 2'd2) ? 5'd18 : (chunk_q == 2'd1) ? 5'd9 : 5'd0;
  assign left = total - sent;
  assign last = left <= 5'(ChunkWords);
  assign count_o = last ? left[3:0] : 4'(ChunkWords);
  always_comb begin
    words_o = message[8:0];
    if (chunk_q == 2'd1) words_o = message[17:9];
    if (chunk_q == 2'd2) words_o = {512'd0, message[18]};
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) chunk_q <= '0;
    else if (valid_o && ready_i) chunk_q <= last ? '0 : chunk_q + 1'b1;
  end
endmodule
