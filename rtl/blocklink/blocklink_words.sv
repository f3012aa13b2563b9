// SPDX-License-Identifier: SHL-2.1
/// Receive buffer of one circuit: takes the words of a block at once, shows the oldest at once.
///
///   Handshake   mask_i selects lanes of words_i; they count only with commit_i, which may come
///               late in its cycle. words_o[0] is the oldest of avail_o words; pop_i of them are
///               taken
///   Ordering    first in, first out, lane 0 first
///   Latency     1 cycle from commit_i to avail_o
///   Throughput  7 words in and Window words out a cycle
///   Room        no ready: the sender has credits for what fits (asserted)
///   Parameters  Depth a power of two, 16..512 words; Window 1..8
module blocklink_words
  import blocklink_pkg::*;
#(
  parameter int unsigned Depth  = 32,
  parameter int unsigned Window = 8
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,
  input  logic [BlockWords-1:0] mask_i,
  input  word_t [BlockWords-1:0] words_i,
  input  logic                  commit_i,
  output word_t [7:0]           words_o,
  output logic [3:0]            avail_o,
  input  logic [3:0]            pop_i
);
  if (Depth < 16 || Depth > 512 || (Depth & (Depth - 1)) != 0) begin : gen_depth_check
    $error("blocklink_words: Depth is %0d, legal is a power of two, 16..512", Depth);
  end
  if (Window < 1 || Window > 8) begin : gen_window_check
    $error("blocklink_words: Window is %0d, legal is 1..8", Window);
  end

  localparam int unsigned PtrWidth = $clog2(Depth);
  typedef logic [PtrWidth:0] ptr_t;

  ptr_t wptr_q, rptr_q, stored;
  assign stored = wptr_q - rptr_q;

  // Eight banks; bank b has the words whose place ends in b. `lands[b]`: the lane whose word goes
  // there, none or one.
  logic [7:0][BlockWords-1:0] lands;
  logic [3:0] count;
  always_comb begin
    lands = '0;
    count = '0;
    for (int unsigned lane = 0; lane < BlockWords; lane++) begin
      if (mask_i[lane]) begin
        lands[3'(wptr_q[2:0] + count[2:0])][lane] = 1'b1;
        count = count + 4'd1;
      end
    end
  end

  function automatic word_t landing(logic [BlockWords-1:0] lanes);
    landing = '0;
    for (int unsigned lane = 0; lane < BlockWords; lane++) begin
      if (lanes[lane]) landing = landing | words_i[lane];
    end
  endfunction

  // Uncommitted words lie behind wptr_q, those for which there is no place nowhere.
  word_t window [8];
  for (genvar b = 0; b < 8; b++) begin : gen_bank
    word_t bank_q [Depth/8];
    logic [2:0] rank, place;
    ptr_t waddr, raddr;
    assign rank  = 3'(b) - wptr_q[2:0];
    assign waddr = wptr_q + ptr_t'(rank);
    assign place = 3'(b) - rptr_q[2:0];
    assign raddr = rptr_q + ptr_t'(place);
    always_ff @(posedge clk_i) begin
      if (mask_i != '0) begin
        if (lands[b] != '0 && 32'(stored) + 32'(rank) < Depth) begin
          bank_q[waddr[PtrWidth-1:3]] <= landing(lands[b]);
        end
      end
    end
    assign window[b] = bank_q[raddr[PtrWidth-1:3]];
    logic unused_addr;
    assign unused_addr = ^{waddr[PtrWidth], waddr[2:0], raddr[PtrWidth], raddr[2:0]};
  end

  always_comb begin
    words_o = 'x;
    // Where none is stored, nobody looks: an idle circuit costs the simulator nothing.
    if (stored != '0) begin
      words_o = '0;
      for (int unsigned i = 0; i < Window; i++) begin
        words_o[i] = window[rptr_q[2:0] + 3'(i)];
      end
    end
    avail_o = (stored > ptr_t'(Window)) ? 4'(Window) : 4'(stored);
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      wptr_q <= '0;
      rptr_q <= '0;
    end else begin
      if (commit_i) wptr_q <= wptr_q + ptr_t'(count);
      rptr_q <= rptr_q + ptr_t'(pop_i);
`ifndef SYNTHESIS
      if (commit_i && 32'(stored) + 32'(count) > Depth) begin
        $fatal(1, "blocklink_words: %0d words for %0d places", count, Depth - 32'(stored));
      end
      if (pop_i > avail_o) $fatal(1, "blocklink_words: more taken than shown");
`endif
    end
  end
endmodule
