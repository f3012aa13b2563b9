// SPDX-License-Identifier: SHL-2.1
/// Collects reply words in one block RAM until the reply is whole, then offers it with its checksum
/// summed.
///
/// A reply leaves only when it is complete, so a slow bus slave never makes the transmitter run
/// dry, and the UDP checksum in the header is right.
///
///   In          tx_valid_i/tx_ready_o words, then one beat with tx_end_i (see etherbone_core);
///               lite_i: stored in LiteEth's dialect (etherbone_lite_tx)
///   Out         valid_o/ready_i per reply: commit_o low means "no reply, forget the request";
///               words_o: its length; sum_o: one's complement sum of its 16-bit words. Then data_o
///               shows the next word, next_i takes it: exactly once a word of the reply. The first
///               shows 3 cycles after valid_o
///   Latency     end beat to valid_o: 1 cycle, 2 when a word came in the cycle before
///   Throughput  one word a cycle in and out
///   Parameters  Depth power of two 512..8192 words, Replies power of two 2..64 waiting replies
module etherbone_reply_buffer #(
  parameter int unsigned Depth   = 1024,
  parameter int unsigned Replies = 32,
  localparam int unsigned LenW   = $clog2(Depth) + 1
) (
  input  logic            clk_i,
  input  logic            rst_ni,
  input  logic            lite_i,
  input  logic            tx_valid_i,
  output logic            tx_ready_o,
  input  logic [31:0]     tx_data_i,
  input  logic            tx_end_i,
  input  logic            tx_commit_i,
  output logic            valid_o,
  input  logic            ready_i,
  output logic            commit_o,
  output logic [LenW-1:0] words_o,
  output logic [15:0]     sum_o,
  output logic [31:0]     data_o,
  input  logic            next_i,
  output logic            empty_o
);
  if (Depth < 512 || Depth > 8192 || (Depth & (Depth - 1)) != 0) begin : gen_depth_check
    $error("etherbone_reply_buffer: Depth is %0d, legal are powers of two 512..8192", Depth);
  end
  if (Replies < 2 || Replies > 64 || (Replies & (Replies - 1)) != 0) begin : gen_replies_check
    $error("etherbone_reply_buffer: Replies is %0d, legal are powers of two 2..64", Replies);
  end

  logic [31:0] mem[Depth];
  logic [31:0] word_q, word;
  logic word_valid_q, store, hold, busy, answer, commit;
  logic [LenW-1:0] wr_q, start_q, rd_q;  // start_q: first word of the reply being collected
  logic [32:0] sum_q;  // 32-bit one's complement sum with its carry still to add
  logic full_q, take_word, take_end, end_ready;

  assign tx_ready_o = tx_end_i ? (end_ready && !word_valid_q && !busy) : (!full_q && !hold);
  assign take_word  = tx_valid_i && tx_ready_o && !tx_end_i;
  assign take_end   = tx_valid_i && tx_ready_o && tx_end_i;
  assign commit     = tx_commit_i && answer;

  etherbone_lite_tx u_lite_tx (
    .clk_i,
    .rst_ni,
    .lite_i,
    .valid_i (word_valid_q),
    .data_i  (word_q),
    .end_i   (take_end),
    .hold_o  (hold),
    .busy_o  (busy),
    .store_o (store),
    .data_o  (word),
    .answer_o(answer)
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      word_valid_q <= 1'b0;
      wr_q         <= '0;
      start_q      <= '0;
      sum_q        <= '0;
      full_q       <= 1'b0;
    end else begin
      // One cycle late, one word in word_q and one put in, hence the margin.
      full_q       <= (wr_q - rd_q) >= LenW'(Depth - 4);
      word_valid_q <= take_word;
      if (store) wr_q <= wr_q + LenW'(1);
      else if (take_end && !commit) wr_q <= start_q;
      if (take_end && commit) start_q <= wr_q;
      if (take_end) sum_q <= '0;
      else if (store) sum_q <= 33'(sum_q[31:0]) + 33'(word) + 33'(sum_q[32]);
    end
  end

  always_ff @(posedge clk_i) begin
    word_q <= tx_data_i;
    if (store) mem[wr_q[LenW-2:0]] <= word;
  end

  // Show-ahead through two registers, since block RAM is slow from clock to output; only words of
  // complete replies, so that a dropped reply leaves no word here.
  logic [31:0] fetched_q, data_q;
  logic fetched_valid_q, data_valid_q, fetch, move;
  assign move  = fetched_valid_q && (!data_valid_q || next_i);
  assign fetch = (!fetched_valid_q || move) && rd_q != start_q;

  always_ff @(posedge clk_i) begin
    if (!fetched_valid_q || move) fetched_q <= mem[rd_q[LenW-2:0]];
    if (move) data_q <= fetched_q;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      rd_q            <= '0;
      fetched_valid_q <= 1'b0;
      data_valid_q    <= 1'b0;
    end else begin
      if (fetch) rd_q <= rd_q + LenW'(1);
      fetched_valid_q <= fetch || (fetched_valid_q && !move);
      data_valid_q    <= move || (data_valid_q && !next_i);
    end
  end
  assign data_o = data_q;

  logic [16:0] fold;
  logic [15:0] sum;
  assign fold = 17'(sum_q[31:16]) + 17'(sum_q[15:0]) + 17'(sum_q[32]);
  assign sum  = fold[15:0] + 16'(fold[16]);

  fifo #(
    .Width(17 + LenW),
    .Depth(Replies)
  ) u_ends (
    .clk_i,
    .rst_ni,
    .clear_i(1'b0),
    .valid_i(take_end),
    .ready_o(end_ready),
    .data_i ({commit, wr_q - start_q, sum}),
    .valid_o,
    .ready_i,
    .data_o ({commit_o, words_o, sum_o}),
    .usage_o()
  );

  assign empty_o = !valid_o && wr_q == rd_q && !word_valid_q && !fetched_valid_q && !data_valid_q;
endmodule
