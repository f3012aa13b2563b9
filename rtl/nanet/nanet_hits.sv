// SPDX-License-Identifier: SHL-2.1
/// The hits of a port's multi-event packets, whole events, on the way from its queue to its list.
///
///   Handshake   in_* as nanet_queue gives them; out_*, usage_o and ends_o the same beats, stored
///               here. hit_valid_o only with a whole event stored; hit_last_o ends it. sum_valid_o
///               for a clock: a datagram had ended, sum_events_o events of it went out as hits,
///               sum_good_o: its check sums hold. Behind it no datagram is read until next_i
///   Ordering    events in their order; sum_valid_o behind the last event is stored
///   Format      a packet's header of 8 bytes, and for each event its bytes (2), 6 more of its
///               header, and 2 bytes a hit with the photomultiplier in bits 9:0. An event without
///               hits is one with a null id. Of one with more than MaxHits hits, MaxHits and the
///               last one go out. What is no such packet gives any hits, but whole events, and at
///               most one for 8 bytes
///   Latency     a beat 1 cycle; it is read at once, 2 bytes a cycle, whether or not it is taken; a
///               hit 1 cycle behind its event's end
///   Throughput  2 bytes a cycle: an eighth of DataWidth 128
///   Parameters  DataWidth 64..512; UsageW 10.. bits
///   Not done    packets whose length is odd: the last byte is left out
module nanet_hits
  import nanet_pkg::*;
  import rich_pkg::id_t;
  import rich_pkg::MaxHits;
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
  output logic                 out_valid_o,
  input  logic                 out_ready_i,
  output entry_e               out_kind_o,
  output logic [DataWidth-1:0] out_o,
  output logic [   UsageW-1:0] usage_o,
  output logic [   UsageW-1:0] ends_o,
  output logic                 hit_valid_o,
  input  logic                 hit_ready_i,
  output id_t                  hit_id_o,
  output logic                 hit_last_o,
  output logic                 sum_valid_o,
  output logic [         12:0] sum_events_o,
  output logic                 sum_good_o,
  input  logic                 next_i,
  output logic                 idle_o
);
  localparam int unsigned Halves = DataWidth / 16;
  localparam int unsigned HalfW = $clog2(Halves);
  localparam id_t NullId = '1;
  localparam int unsigned HeaderHalves = 4;

  // ---------------------------------------------------------------- beats
  // Two queues of the same beats: the list takes one when a piece of a datagram is whole, the
  // parser takes the other as it comes.
  logic copy_ready, pass_ready, beat_valid, beat_ready;
  entry_e kind;
  logic [DataWidth-1:0] beat;
  assign in_ready_o = copy_ready && pass_ready;
  block_fifo #(
    .Width(DataWidth + 2),
    .Depth(64)
  ) u_copy (
    .clk_i,
    .rst_ni,
    .valid_i(in_valid_i && pass_ready),
    .ready_o(copy_ready),
    .data_i ({in_kind_i, in_i}),
    .valid_o(beat_valid),
    .ready_i(beat_ready),
    .data_o ({kind, beat})
  );
  block_fifo #(
    .Width(DataWidth + 2),
    .Depth(256)
  ) u_pass (
    .clk_i,
    .rst_ni,
    .valid_i(in_valid_i && copy_ready),
    .ready_o(pass_ready),
    .data_i ({in_kind_i, in_i}),
    .valid_o(out_valid_o),
    .ready_i(out_ready_i),
    .data_o ({out_kind_o, out_o})
  );
  logic put_beat, take_beat, put_end, take_end;
  logic [UsageW-1:0] usage_q, ends_q;
  assign put_beat  = in_valid_i && in_ready_o;
  assign take_beat = out_valid_o && out_ready_i;
  assign put_end   = put_beat && in_kind_i == EntryEnd;
  assign take_end  = take_beat && out_kind_o == EntryEnd;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      usage_q <= '0;
      ends_q  <= '0;
    end else begin
      if (put_beat != take_beat) usage_q <= put_beat ? usage_q + 1'b1 : usage_q - 1'b1;
      if (put_end != take_end) ends_q <= put_end ? ends_q + 1'b1 : ends_q - 1'b1;
    end
  end
  assign usage_o = usage_q;
  assign ends_o  = ends_q;

  // ---------------------------------------------------------------- the packet, 2 bytes a cycle
  typedef enum logic [1:0] {
    Header,  // of the packet
    Length,  // of an event
    Skip,    // the rest of its header
    Hits
  } state_e;
  state_e state_q;
  logic [HalfW-1:0] at_q;
  logic [14:0] left_q;   // half words of the datagram
  logic [1:0]  skip_q;
  logic [14:0] hits_q;   // of the event that are not there yet
  logic [5:0]  number_q; // of its hits that went out
  logic [12:0] events_q;
  logic [15:0] half;
  logic open_q;  // a datagram is read, or its candidates are not out yet
  logic held;
  logic data, step, put, put_ready, put_last, ending, close, body, keep;
  id_t put_id;
  end_t verdict;
  head_t head;

  assign half    = beat[16*at_q+:16];
  assign head    = head_t'(beat[63:0]);
  assign verdict = end_t'(beat[$bits(end_t)-1:0]);
  // Beyond the datagram's length a beat is filled up.
  assign data    = beat_valid && kind == EntryData;
  assign body    = data && left_q != '0;
  assign ending  = beat_valid && kind == EntryEnd;
  // An event that ends too early is closed.
  assign close   = ending && number_q != '0;
  assign keep    = number_q < 6'(MaxHits) || hits_q == 15'd1;
  always_comb begin
    put      = 1'b0;
    put_id   = half[9:0];
    put_last = hits_q == 15'd1;
    if (close) begin
      put      = 1'b1;
      put_id   = NullId;
      put_last = 1'b1;
    end else if (body && state_q == Hits) begin
      put = keep;
    end else if (body && state_q == Skip && skip_q == 2'd2 && hits_q == '0) begin
      put      = 1'b1;
      put_id   = NullId;
      put_last = 1'b1;
    end
  end
  assign held       = open_q && kind == EntryHead;
  assign step       = beat_valid && (!put || put_ready) && !held;
  assign beat_ready = step && (kind != EntryData || left_q <= 15'd1 || at_q == '1) && !close;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q  <= Header;
      at_q     <= '0;
      left_q   <= '0;
      skip_q   <= '0;
      hits_q   <= '0;
      number_q <= '0;
      events_q <= '0;
    end else if (step) begin
      if (kind == EntryHead) begin
        state_q  <= Header;
        left_q   <= head.len[15:1];
        at_q     <= '0;
        skip_q   <= '0;
        events_q <= '0;
      end
      if (put) begin
        number_q <= put_last ? '0 : number_q + 6'd1;
        if (put_last) events_q <= events_q + 13'd1;
      end
      if (kind == EntryEnd && !close) left_q <= '0;
      if (data) at_q <= beat_ready ? '0 : at_q + 1'b1;
      if (body) begin
        left_q <= left_q - 15'd1;
        unique case (state_q)
          Header: begin
            skip_q <= skip_q + 2'd1;
            if (skip_q == 2'(HeaderHalves - 1)) state_q <= Length;
          end
          Length: begin
            // Shorter than its header: as if it had no hits.
            hits_q  <= half[15:1] < 15'(HeaderHalves) ? '0 : half[15:1] - 15'(HeaderHalves);
            skip_q  <= '0;
            state_q <= Skip;
          end
          Skip: begin
            skip_q <= skip_q + 2'd1;
            if (skip_q == 2'd2) state_q <= hits_q == '0 ? Length : Hits;
          end
          default: begin
            hits_q <= hits_q - 15'd1;
            if (hits_q == 15'd1) state_q <= Length;
          end
        endcase
      end
    end
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) open_q <= 1'b0;
    else if (step && kind == EntryHead) open_q <= 1'b1;
    else if (next_i) open_q <= 1'b0;
  end
  assign sum_valid_o  = ending && !close;
  assign sum_events_o = events_q;
  assign sum_good_o   = verdict.good;

  // ---------------------------------------------------------------- whole events
  localparam int unsigned Room = 64;  // more than an event has
  logic stored, taken, hit_valid;
  logic [$clog2(Room):0] whole_q, unused_usage;
  fifo #(
    .Width($bits(id_t) + 1),
    .Depth(Room)
  ) u_hits (
    .clk_i,
    .rst_ni,
    .clear_i(1'b0),
    .valid_i(put),
    .ready_o(put_ready),
    .data_i ({put_last, put_id}),
    .valid_o(hit_valid),
    .ready_i(hit_ready_i && hit_valid_o),
    .data_o ({hit_last_o, hit_id_o}),
    .usage_o(unused_usage)
  );
  assign hit_valid_o = hit_valid && whole_q != '0;
  assign stored      = put && put_ready && put_last;
  assign taken       = hit_valid_o && hit_ready_i && hit_last_o;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) whole_q <= '0;
    else if (stored != taken) whole_q <= stored ? whole_q + 1'b1 : whole_q - 1'b1;
  end
  assign idle_o = !beat_valid && !hit_valid && usage_q == '0 && left_q == '0 && !open_q;

  logic unused;
  assign unused = ^{unused_usage, head.ip, head.port, head.len[0], verdict.overflow};
endmodule
