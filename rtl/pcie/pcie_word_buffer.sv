// SPDX-License-Identifier: SHL-2.1
/// FIFO of 32-bit words in block memory: one or two are written a clock, one is read.
///
/// Written words can be read once they are committed; until then they can be rolled back.
///
///   Write       write_i with lanes_i: which of the two words of data_i, the lower lane first; at
///               least one. Never stalled: the writer checks used_o. first_i marks the first of
///               them
///   Commit      commit_i: all words written, this clock's included, may be read. rollback_i
///               instead: all uncommitted words, this clock's included, are discarded
///   Read        valid_o/ready_i, data_o, first_o; valid_o is a register, low after a rollback
///   Clear       clear_i empties it; words written or taken in that clock are lost
///   Latency     write to valid_o 3 clocks, commit to valid_o 1 when the word was written 3 before
///   Throughput  two words a clock in, one a clock out
///   Parameters  Depth power of two 16..1024 words
module pcie_word_buffer #(
  parameter  int unsigned Depth = 256,
  localparam int unsigned PtrW  = $clog2(Depth) + 1
) (
  input  logic            clk_i,
  input  logic            rst_ni,
  input  logic            clear_i,
  input  logic            write_i,
  input  logic [1:0]      lanes_i,
  input  logic [63:0]     data_i,
  input  logic            first_i,
  input  logic            commit_i,
  input  logic            rollback_i,
  output logic            valid_o,
  input  logic            ready_i,
  output logic [31:0]     data_o,
  output logic            first_o,
  output logic [PtrW-1:0] used_o,      // words inside
  output logic [PtrW-1:0] committed_o  // of which may be read
);
  if (Depth < 16 || Depth > 1024 || (Depth & (Depth - 1)) != 0) begin : gen_depth_check
    $error("pcie_word_buffer: Depth is %0d, legal are powers of two 16..1024", Depth);
  end

  typedef struct packed {
    logic        first;
    logic [31:0] word;
  } entry_t;

  // Even words in one memory, odd ones in the other: two neighbours are written at once.
  entry_t even[Depth/2];
  entry_t odd[Depth/2];
  logic [PtrW-1:0] wr_q, wr_d, commit_q, commit_d;
  logic [PtrW-1:0] rd_q;          // next to fetch
  logic [PtrW-1:0] pop_q, pop_d;  // next to leave

  entry_t low, high;
  logic both;
  assign both = lanes_i == 2'b11;
  assign low  = '{first: first_i, word: lanes_i[0] ? data_i[31:0] : data_i[63:32]};
  assign high = '{first: 1'b0, word: data_i[63:32]};
  // Write strobes are critical: both sums are precomputed.
  always_comb begin
    wr_d = wr_q;
    if (write_i) wr_d = both ? wr_q + PtrW'(2) : wr_q + PtrW'(1);
  end

  // ---------------------------------------------------------------- memory
  logic [PtrW-3:0] even_at;  // half of the next even number
  assign even_at = wr_q[PtrW-2:1] + (PtrW - 2)'(wr_q[0]);
  always_ff @(posedge clk_i) begin
    if (write_i && (!wr_q[0] || both)) even[even_at] <= wr_q[0] ? high : low;
    if (write_i && (wr_q[0] || both)) odd[wr_q[PtrW-2:1]] <= wr_q[0] ? low : high;
  end

  // ---------------------------------------------------------------- show-ahead
  // Two registers behind the memory, which is slow from clock to output. They may hold words that
  // are not committed.
  entry_t even_q, odd_q, head_q;
  logic fetched_odd_q, fetched_valid_q, head_valid_q, valid_q;
  logic take, move, fetch, any, more;
  // A register without logic: the consumer's critical paths begin here.
  assign valid_o = valid_q;
  assign take    = valid_o && ready_i;
  assign move    = fetched_valid_q && (!head_valid_q || take);
  assign fetch   = (!fetched_valid_q || move) && rd_q != wr_q;
  assign pop_d   = pop_q + PtrW'(take);

  always_comb begin
    commit_d = commit_q;
    if (commit_i) commit_d = wr_d;
  end
  // Words that may be read: in total, and without the head. The writer's signals and ready_i are
  // critical and only select: no sum depends on them.
  always_comb begin
    any  = commit_q != pop_q;
    more = commit_q != pop_q + PtrW'(1);
    if (commit_i) begin
      any  = write_i || wr_q != pop_q;
      more = write_i ? both || wr_q != pop_q : wr_q != pop_q + PtrW'(1);
    end
  end

  always_ff @(posedge clk_i) begin
    if (!fetched_valid_q || move) begin
      even_q        <= even[rd_q[PtrW-2:1]];
      odd_q         <= odd[rd_q[PtrW-2:1]];
      fetched_odd_q <= rd_q[0];
    end
    if (move) head_q <= fetched_odd_q ? odd_q : even_q;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      wr_q            <= '0;
      commit_q        <= '0;
      rd_q            <= '0;
      pop_q           <= '0;
      fetched_valid_q <= 1'b0;
      head_valid_q    <= 1'b0;
      valid_q         <= 1'b0;
    end else if (clear_i) begin
      wr_q            <= '0;
      commit_q        <= '0;
      rd_q            <= '0;
      pop_q           <= '0;
      fetched_valid_q <= 1'b0;
      head_valid_q    <= 1'b0;
      valid_q         <= 1'b0;
    end else if (rollback_i) begin
      wr_q            <= commit_q;
      rd_q            <= pop_d;
      pop_q           <= pop_d;
      fetched_valid_q <= 1'b0;
      head_valid_q    <= 1'b0;
      valid_q         <= 1'b0;
    end else begin
      wr_q     <= wr_d;
      commit_q <= commit_d;
      pop_q    <= pop_d;
      if (fetch) rd_q <= rd_q + PtrW'(1);
      fetched_valid_q <= fetch || (fetched_valid_q && !move);
      head_valid_q    <= move || (head_valid_q && !take);
      valid_q         <= take ? fetched_valid_q && more : (head_valid_q || fetched_valid_q) && any;
    end
  end

  assign data_o      = head_q.word;
  assign first_o     = head_q.first;
  assign used_o      = wr_q - pop_q;
  assign committed_o = commit_q - pop_q;
endmodule
