// SPDX-License-Identifier: SHL-2.1
/// Region table, and the check of a write against it.
///
/// A packet with a key is checked against the entry that the key names, one without against the entry of
/// its source (docs/explanation/cores/rdma.md).
///
///   Check       ask_valid_i/ask_ready_o; answer_valid_o strobes with code_o (0: the whole write lies in
///               the region), to_queue_o, qid_o, which stay until the next one
///   Table       we_i: a beat is written; an entry that is written while it is looked at is looked at
///               again. re_i: strobe, one at a time; rvalid_o strobes with rdata_o
///   Latency     ask to answer 6 cycles; a read 2 and what is left of a check
///   Throughput  a check in 7 cycles
///   Not done    reset of the contents: clear_i writes 0 to entry clear_index_i's flags
module rdma_regions
  import rdma_pkg::*;
  import rdma_rx_pkg::*;
(
  input logic clk_i,
  input logic rst_ni,

  input logic       clear_i,
  input logic [5:0] clear_index_i,

  input  logic        we_i,
  input  logic [7:0]  waddr_i,   // entry, beat
  input  logic [63:0] wdata_i,
  input  logic        re_i,
  input  logic [7:0]  raddr_i,
  output logic        rvalid_o,
  output logic [63:0] rdata_o,

  input  logic        ask_valid_i,
  output logic        ask_ready_o,
  input  flow_t       src_i,
  input  logic        extended_i,
  input  logic [31:0] key_i,
  input  logic [63:0] address_i,
  input  logic [6:0]  beats_i,
  output logic        answer_valid_o,
  output logic [3:0]  code_o,
  output logic        to_queue_o,
  output logic [7:0]  qid_o,
  output logic        idle_o
);
  typedef enum logic [2:0] {
    StIdle,
    StLimit,   // the base is read
    StFlags,   // the limit is read; the base stands
    StUpper,   // the flags are read; the limit stands
    StDecide,  // the flags stand
    StTable,   // a read of the table
    StTell
  } state_e;

  state_e state_q;
  logic [5:0] entry, entry_q;
  logic [63:0] word, word_q;
  logic [61:0] end_q;   // beat behind the last, and a carry
  logic base_ok_q, limit_ok_q, touched_q, read_q, start;
  logic [7:0] read_addr_q;
  region_t flags;

  assign entry       = extended_i ? key_i[5:0] : 6'(src_i);
  assign ask_ready_o = state_q == StIdle && !read_q;
  assign start       = ask_ready_o && ask_valid_i;
  assign flags       = region_t'(word_q);

  logic re;
  logic [7:0] addr;
  always_comb begin
    re   = 1'b1;
    addr = {entry_q, 2'd0};
    unique case (state_q)
      StIdle: begin
        re   = start || read_q;
        addr = read_q ? read_addr_q : {entry, 2'd0};
      end
      StLimit: addr = {entry_q, 2'd1};
      StFlags: addr = {entry_q, 2'd2};
      // Again from the begin.
      StDecide: addr = {entry_q, 2'd0};
      default: re = 1'b0;
    endcase
  end

  logic touch;
  assign touch = we_i && waddr_i[7:2] == entry_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q        <= StIdle;
      read_q         <= 1'b0;
      touched_q      <= 1'b0;
      answer_valid_o <= 1'b0;
      rvalid_o       <= 1'b0;
    end else begin
      answer_valid_o <= 1'b0;
      rvalid_o       <= 1'b0;
      if (re_i) read_q <= 1'b1;
      unique case (state_q)
        StIdle: begin
          if (read_q) state_q <= StTable;
          else if (ask_valid_i) state_q <= StLimit;
          touched_q <= we_i;
        end
        StLimit:  state_q <= StFlags;
        StFlags:  state_q <= StUpper;
        StUpper:  state_q <= StDecide;
        StDecide: begin
          // Base, limit and flags are of one entry, or it is looked at again.
          state_q        <= touched_q || touch ? StLimit : StIdle;
          answer_valid_o <= !(touched_q || touch);
        end
        StTable:  state_q <= StTell;
        default: begin
          state_q  <= StIdle;
          read_q   <= 1'b0;
          rvalid_o <= 1'b1;
        end
      endcase
      // A write in the cycle in which the base is read again counts for the next look.
      if (state_q == StDecide) touched_q <= touch;
      else if (state_q != StIdle && touch) touched_q <= 1'b1;
    end
  end

  always_ff @(posedge clk_i) begin
    if (re_i) read_addr_q <= raddr_i;
    if (start) entry_q <= entry;
    if (state_q == StLimit) end_q <= {1'b0, address_i[63:3]} + 62'(beats_i);
    // A base that is no multiple of 8 is none: nothing below it may be written.
    if (state_q == StFlags) begin
      base_ok_q <= address_i[63:3] >= word_q[63:3] && word_q[2:0] == '0 && address_i[2:0] == '0;
    end
    if (state_q == StUpper) limit_ok_q <= end_q <= {1'b0, word_q[63:3]};
    word_q <= word;
    if (state_q == StDecide) begin
      to_queue_o <= flags.to_queue;
      qid_o      <= flags.qid;
      if (!flags.valid || !flags.sources[src_i] ||
          (extended_i && (flags.nonce != key_i[31:8] || key_i[7:6] != '0))) begin
        code_o <= 4'(CodeKey);
      end else if (!base_ok_q || !limit_ok_q) begin
        code_o <= 4'(CodeBounds);
      end else begin
        code_o <= 4'(CodeNone);
      end
    end
  end

  ram_1r1w #(
    .Width(64),
    .Depth(4 * NumRegions)
  ) u_ram (
    .clk_i,
    .we_i   (we_i || clear_i),
    .waddr_i(clear_i ? {clear_index_i, 2'd2} : waddr_i),
    .wdata_i(clear_i ? '0 : wdata_i),
    .re_i   (re),
    .raddr_i(addr),
    .rdata_o(word)
  );

  assign rdata_o = word_q;
  assign idle_o  = state_q == StIdle && !read_q;
  logic unused;
  assign unused = &{1'b0, flags.zero_high, flags.zero_low};
endmodule
