// SPDX-License-Identifier: SHL-2.1
/// Sends a port's datagrams on, and behind each good one another with the candidates of its events.
///
///   Handshake   in_*, usage_i, ends_i as nanet_hits gives them, out_*, usage_o, ends_o the same.
///               seed_valid_i is never stalled. sum_valid_i for a clock, as nanet_hits: so many
///               events of the datagram are searched; next_o for a clock: all of it is out
///   Ordering    behind the end of a datagram nothing goes on until all its events are searched
///   Format      a little-endian word of 32 bits an answer: bits 11:0 first cell, 23:12 last cell,
///               28:24 hit, 30 over, 31 done, as rich_pkg::seed_t without its votes; the last word
///               of an event is done. Sender and UDP port are those of the datagram before
///   Latency     2 cycles behind the last answer
///   Throughput  an answer a cycle
///   Loss        none. A datagram that is not good has no candidates
///   Pairs       fresh_o: what is offered next, or in this clock, is the head of a datagram of
///               events. A list that is enabled then has pairs
///   Parameters  DataWidth 64..512; UsageW as nanet_queue
///   Not done    more than 1023 words for a datagram: one of Ethernet has at most 613, 15 for
///               14 hits
module nanet_candidates
  import nanet_pkg::*;
  import rich_pkg::seed_t;
#(
  parameter int unsigned DataWidth = 128,
  parameter int unsigned UsageW    = 10
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,
  input  logic                 in_valid_i,
  output logic                 in_ready_o,
  input  entry_e               in_kind_i,
  input  logic [DataWidth-1:0] in_i,
  input  logic [   UsageW-1:0] usage_i,
  input  logic [   UsageW-1:0] ends_i,
  output logic                 out_valid_o,
  input  logic                 out_ready_i,
  output entry_e               out_kind_o,
  output logic [DataWidth-1:0] out_o,
  output logic [   UsageW-1:0] usage_o,
  output logic [   UsageW-1:0] ends_o,
  input  logic                 sum_valid_i,
  input  logic [         12:0] sum_events_i,
  input  logic                 sum_good_i,
  input  logic                 seed_valid_i,
  input  seed_t                seed_i,
  output logic                 next_o,       // strobe: the candidates are out
  output logic                 fresh_o,
  output logic                 idle_o
);
  localparam int unsigned MaxWords = 1024;
  localparam int unsigned Words = DataWidth / 32;
  localparam int unsigned WordW = $clog2(Words);

  typedef enum logic [2:0] {
    Pass,
    Search,  // the datagram is through, its events are not
    Flush,   // the last beat is filled up
    Head,
    Data,
    End
  } state_e;
  state_e state_q;
  head_t head_q;
  logic [12:0] events_q, done_q;  // of the datagram: that are searched; that were
  logic summed_q, good_q;
  logic inside_q;        // a head went on, and its end did not
  logic [10:0] words_q;  // of candidates
  logic [10:0] beats_q;  // of them that did not leave
  logic [DataWidth-1:0] gather_q;
  logic [WordW-1:0] at;
  logic in_take, out_take, all_done, push, push_ready, beat_valid;
  logic [DataWidth-1:0] gathered, beat;
  logic [31:0] word;

  assign word = {seed_i.done, seed_i.over, 1'b0, seed_i.hit, seed_i.best.last, seed_i.best.first};
  assign at   = words_q[WordW-1:0];
  always_comb begin
    gathered = gather_q;
    if (seed_valid_i) gathered[32*at+:32] = word;
  end
  assign push     = seed_valid_i ? at == '1 : state_q == Flush && at != '0;
  assign all_done = summed_q && done_q == events_q;

  block_fifo #(
    .Width(DataWidth),
    .Depth(MaxWords / Words)
  ) u_words (
    .clk_i,
    .rst_ni,
    .valid_i(push),
    .ready_o(push_ready),
    .data_i (gathered),
    .valid_o(beat_valid),
    .ready_i(state_q == Data && (out_ready_i || !good_q)),
    .data_o (beat)
  );
  prim_assert u_room (
    .clk_i,
    .rst_ni,
    .ok_i(push_ready)
  );

  // ---------------------------------------------------------------- what goes on
  head_t own;
  end_t good;
  assign own  = '{ip: head_q.ip, port: head_q.port, len: {3'd0, words_q, 2'd0}};
  assign good = '{good: 1'b1, overflow: 1'b0};
  always_comb begin
    out_kind_o  = in_kind_i;
    out_o       = in_i;
    out_valid_o = 1'b0;
    unique case (state_q)
      Pass: out_valid_o = in_valid_i;
      Head: begin
        out_kind_o  = EntryHead;
        out_o       = DataWidth'(own);
        out_valid_o = good_q;
      end
      Data: begin
        out_kind_o  = EntryData;
        out_o       = beat;
        out_valid_o = good_q && beat_valid;
      end
      End: begin
        out_kind_o  = EntryEnd;
        out_o       = DataWidth'(good);
        out_valid_o = good_q;
      end
      default: ;
    endcase
  end
  assign in_ready_o = state_q == Pass && out_ready_i;
  assign in_take    = in_valid_i && in_ready_o;
  assign out_take   = !good_q || (out_valid_o && out_ready_i);
  assign next_o     = state_q == End && out_take;
  assign usage_o    = state_q == Pass ? usage_i : '1;
  assign ends_o     = state_q == Pass ? ends_i : UsageW'(1);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q  <= Pass;
      events_q <= '0;
      done_q   <= '0;
      summed_q <= 1'b0;
      good_q   <= 1'b0;
      words_q  <= '0;
      beats_q  <= '0;
    end else begin
      if (sum_valid_i) begin
        summed_q <= 1'b1;
        events_q <= sum_events_i;
        good_q   <= sum_good_i;
      end
      if (seed_valid_i) begin
        words_q <= words_q + 11'd1;
        if (seed_i.done) done_q <= done_q + 13'd1;
      end
      unique case (state_q)
        Pass: if (in_take && in_kind_i == EntryEnd) state_q <= Search;
        Search: begin
          if (all_done) state_q <= Flush;
        end
        Flush: begin
          beats_q <= 11'((12'(words_q) + 12'(Words - 1)) >> WordW);
          state_q <= Head;
        end
        Head: if (out_take) state_q <= words_q == '0 ? End : Data;
        Data: begin
          if (beat_valid && out_take) begin
            beats_q <= beats_q - 11'd1;
            if (beats_q == 11'd1) state_q <= End;
          end
        end
        default: begin
          if (out_take) begin
            state_q  <= Pass;
            summed_q <= 1'b0;
            done_q   <= '0;
            words_q  <= '0;
          end
        end
      endcase
    end
  end
  always_ff @(posedge clk_i) begin
    gather_q <= gathered;
    if (in_take && in_kind_i == EntryHead) head_q <= head_t'(in_i[63:0]);
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) inside_q <= 1'b0;
    else if (in_take) inside_q <= in_kind_i != EntryEnd;
  end
  assign fresh_o = state_q == Pass && !inside_q;
  assign idle_o = state_q == Pass && !in_valid_i && words_q == '0 && !summed_q;

  logic unused;
  assign unused = ^{seed_i.best.votes, head_q.len};
endmodule
