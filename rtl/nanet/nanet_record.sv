// SPDX-License-Identifier: SHL-2.1
/// Makes datagrams of merged events: the head, a record for each event, and behind them a word of
/// 8 bytes for each.
///
///   Handshake   begin_* for each datagram, then event_* for each of its events; out_*, usage_o and
///               ends_o as nanet_queue gives them. hits_i: by disk, as nanet_sorter, with event_i
///   Format      docs/reference/trigger-formats.md, "Datagram of merged events". The disk is that
///               of most hits, the first one if both have as many; the event's time is that of its
///               middle hit
///   Ordering    as they come
///   Latency     an event to its last slot in the queue 12 cycles
///   Throughput  an event in 11 cycles; a datagram in 4 cycles and one for each event more
///   Parameters  DataWidth 64..512; UsageW 10..
///   Not done    sender's address and port: they are 0
module nanet_record
  import nanet_pkg::*;
#(
  parameter int unsigned DataWidth = 128,
  parameter int unsigned UsageW    = 10
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,
  input  logic                 begin_valid_i,
  output logic                 begin_ready_o,
  input  event_number_t        begin_number_i,
  input  logic [4:0]           begin_events_i,  // 1..MergeEvents
  input  logic                 event_valid_i,
  output logic                 event_ready_o,
  input  merged_t              event_i,
  input  disk_hit_t [1:0][RecordSlots-1:0] hits_i,
  input  logic      [1:0][12:0] counts_i,
  output logic                 out_valid_o,
  input  logic                 out_ready_i,
  output entry_e               out_kind_o,
  output logic [DataWidth-1:0] out_o,
  output logic [   UsageW-1:0] usage_o,
  output logic [   UsageW-1:0] ends_o,
  output logic                 idle_o
);
  localparam int unsigned Halves = DataWidth / 16;
  localparam int unsigned FillW = $clog2(Halves);
  localparam int unsigned Four = RecordSlots / 4;
  localparam logic [9:0] NullSite = '1;

  typedef enum logic [2:0] {
    Idle,
    First,   // number and events of the datagram
    Event,   // waits for one
    Middle,  // its middle hit is looked for
    Header,
    Slots,
    Words,   // one for each event, behind their records
    End
  } state_e;
  state_e state_q;
  event_number_t number_q;
  logic [4:0] events_q, left_q;  // of the datagram; that are not there yet
  merged_t event_q;
  disk_hit_t [RecordSlots-1:0] hits_q;
  logic [5:0] count_q;
  logic [$clog2(Four)-1:0] four_q;
  logic disk_q, disk;
  logic [18:0] middle_q;
  logic flushed_q;

  // ---------------------------------------------------------------- the record, 8 bytes a cycle
  logic [3:0][15:0] chunk;
  logic [2:0] halves;  // of them that count
  logic chunk_valid, step, word_valid, word_ready;
  merged_t word;
  logic [39:0] start;
  assign disk  = counts_i[1] > counts_i[0];
  // Times have their sign inverted.
  assign start = {event_q.stamp, 8'd0} + {{21{!middle_q[18]}}, !middle_q[18], middle_q[17:0]};

  function automatic logic [15:0] slot(disk_hit_t hit, logic [18:0] middle);
    logic signed [19:0] since;
    logic [5:0] clamped;
    since   = $signed({1'b0, hit.time_}) - $signed({1'b0, middle});
    clamped = since > 20'sd31 ? 6'd31 : since < -20'sd31 ? -6'sd31 : since[5:0];
    return {clamped, hit.site};
  endfunction

  always_comb begin
    chunk       = '0;
    halves      = 3'd4;
    chunk_valid = 1'b0;
    unique case (state_q)
      First: begin
        chunk[1:0]  = {3'd0, events_q, number_q};
        halves      = 3'd2;
        chunk_valid = 1'b1;
      end
      Header: begin
        chunk[1:0]  = start[39:8];
        chunk[2]    = {1'b0, disk_q, count_q, start[7:0]};
        halves      = 3'd3;
        chunk_valid = 1'b1;
      end
      Slots: begin
        for (int unsigned i = 0; i < 4; i++) begin
          chunk[i] = {four_q, 2'(i)} < count_q[4:0] || count_q[5] ?
                     slot(hits_q[i], middle_q) : {6'd0, NullSite};
        end
        chunk_valid = 1'b1;
      end
      Words: begin
        chunk       = {24'd0, word.other, word.boards, word.stamp};
        chunk_valid = word_valid;
      end
      default: ;
    endcase
  end

  // ---------------------------------------------------------------- beats
  logic [Halves+2:0][15:0] gathered_q;
  logic [Halves+2:0][15:0] gathered;
  logic [FillW-1:0] fill_q;
  logic [FillW:0] fill;
  logic put, put_ready, full_beat;
  entry_e put_kind;
  logic [DataWidth-1:0] put_beat;
  head_t head;
  end_t  good;
  always_comb begin
    gathered = gathered_q;
    for (int unsigned i = 0; i < 4; i++) begin
      if (3'(i) < halves) gathered[(FillW+1)'(fill_q)+(FillW+1)'(i)] = chunk[i];
    end
  end
  assign fill      = (FillW + 1)'(fill_q) + (FillW + 1)'(halves);
  assign full_beat = fill[FillW];
  assign head      = '{
      ip: '0, port: '0, len: 16'd4 + 16'(RecordBytes + 8) * 16'(begin_events_i)
  };
  assign good      = '{good: 1'b1, overflow: 1'b0};
  always_comb begin
    put      = chunk_valid && full_beat;
    put_kind = EntryData;
    put_beat = gathered[Halves-1:0];
    if (state_q == Idle) begin
      put      = begin_valid_i;
      put_kind = EntryHead;
      put_beat = DataWidth'(head);
    end else if (state_q == End) begin
      // What does not fill a beat goes out first.
      put      = 1'b1;
      put_kind = flushed_q || fill_q == '0 ? EntryEnd : EntryData;
      put_beat = flushed_q || fill_q == '0 ? DataWidth'(good) : gathered_q[Halves-1:0];
    end
  end
  assign step          = !put || put_ready;
  assign begin_ready_o = state_q == Idle && put_ready;
  assign event_ready_o = state_q == Event;
  assign word_ready    = state_q == Words && step;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q   <= Idle;
      number_q  <= '0;
      events_q  <= '0;
      left_q    <= '0;
      four_q    <= '0;
      fill_q    <= '0;
      flushed_q <= 1'b0;
    end else if (step) begin
      if (chunk_valid) fill_q <= fill[FillW-1:0];
      unique case (state_q)
        Idle: begin
          number_q  <= begin_number_i;
          events_q  <= begin_events_i;
          left_q    <= begin_events_i;
          fill_q    <= '0;
          flushed_q <= 1'b0;
          if (begin_valid_i) state_q <= First;
        end
        First:  state_q <= Event;
        Event:  if (event_valid_i) state_q <= Middle;
        Middle: state_q <= Header;
        Header: begin
          four_q  <= '0;
          left_q  <= left_q - 5'd1;
          state_q <= Slots;
        end
        Slots: begin
          four_q <= four_q + 1'b1;
          if (four_q == '1) begin
            state_q <= left_q != '0 ? Event : Words;
            left_q  <= left_q != '0 ? left_q : events_q;
          end
        end
        Words: begin
          left_q <= left_q - 5'd1;
          if (left_q == 5'd1) state_q <= End;
        end
        default: begin
          flushed_q <= 1'b1;
          if (put_kind == EntryEnd) state_q <= Idle;
        end
      endcase
    end
  end
  always_ff @(posedge clk_i) begin
    if (state_q == Event && event_valid_i) begin
      event_q <= event_i;
      hits_q  <= hits_i[disk];
      disk_q  <= disk;
      count_q <= counts_i[disk] > 13'(RecordSlots) ? 6'(RecordSlots) : counts_i[disk][5:0];
    end
    if (state_q == Middle) middle_q <= count_q == '0 ? {1'b1, 18'd0} : hits_q[count_q[5:1]].time_;
    if (step && state_q == Slots) hits_q <= hits_q >> 4 * $bits(disk_hit_t);
    if (step && chunk_valid) begin
      gathered_q <= full_beat ? gathered >> DataWidth : gathered;
    end
  end

  logic word_room;
  logic [$clog2(32):0] unused_words;
  fifo #(
    .Width($bits(merged_t)),
    .Depth(32)
  ) u_words (
    .clk_i,
    .rst_ni,
    .clear_i(1'b0),
    .valid_i(state_q == Middle),
    .ready_o(word_room),
    .data_i (event_q),
    .valid_o(word_valid),
    .ready_i(word_ready),
    .data_o (word),
    .usage_o(unused_words)
  );
  prim_assert u_room (
    .clk_i,
    .rst_ni,
    .ok_i  (word_room)
  );

  // ---------------------------------------------------------------- queue
  logic take, put_end, take_end;
  logic [UsageW-1:0] usage_q, ends_q;
  block_fifo #(
    .Width(DataWidth + 2),
    .Depth(256)
  ) u_queue (
    .clk_i,
    .rst_ni,
    .valid_i(put),
    .ready_o(put_ready),
    .data_i ({put_kind, put_beat}),
    .valid_o(out_valid_o),
    .ready_i(out_ready_i),
    .data_o ({out_kind_o, out_o})
  );
  assign take     = out_valid_o && out_ready_i;
  assign put_end  = put && put_ready && put_kind == EntryEnd;
  assign take_end = take && out_kind_o == EntryEnd;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      usage_q <= '0;
      ends_q  <= '0;
    end else begin
      if ((put && put_ready) != take) begin
        usage_q <= put && put_ready ? usage_q + 1'b1 : usage_q - 1'b1;
      end
      if (put_end != take_end) ends_q <= put_end ? ends_q + 1'b1 : ends_q - 1'b1;
    end
  end
  assign usage_o = usage_q;
  assign ends_o  = ends_q;
  assign idle_o  = state_q == Idle && !begin_valid_i && usage_q == '0;

  logic unused;
  assign unused = ^unused_words;
endmodule
