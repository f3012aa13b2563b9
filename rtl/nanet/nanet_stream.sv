// SPDX-License-Identifier: SHL-2.1
/// Puts the datagrams of one port into a circular list of buffers in memory, an event for each full
/// buffer.
///
/// A buffer's address comes from its table in one cycle. Before a datagram's first byte is written
/// its whole length is inside the buffer. Payload is written while it arrives, in chunks that end
/// at multiples of ChunkBytes of the buffer; the rest, once it is there, in chunks of MaxCommand.
/// Both also end where a page of 4 KiB does. A bad datagram is overwritten by the next one.
///
///   Handshake   beat_*: show-ahead, usage_i counts what is inside, ends_i the ends among them.
///               Writes and data_o as in axi_write_engine; done_valid is its strobe for this
///               stream's commands. Events: valid/ready, full_i says that the queue would drop it.
///               ask_valid_o is held until answer_valid_i, a strobe; without Ask it is one itself
///   Ordering    datagrams in their order; an event is offered when memory has answered all its
///               buffer's writes
///   Bounds      no write outside a buffer of the table (proved: formal/nanet/nanet_stream.sby)
///   Buffers     used in the order of their numbers. One is free while fewer than list_i.buffers
///               are filled and not given back. Without a free one list_i.policy counts: newest
///               drops and counts the datagram; oldest takes the buffer that was filled first and
///               counts its datagrams as overwritten; hold waits, for a buffer and for the event
///               queue, so that what comes is lost where it finds no room, and counted there
///   Loss        every datagram whose head came is counted once, in delivered or in one of the
///               others; those of a buffer that is not announced when the list closes as no_event
///   Latency     head to the first command 3 cycles once its first chunk is there; last beat of a
///               chunk to the next chunk's command 2
///   Throughput  a chunk in its beats and 3 cycles
///   Parameters  DataWidth 64..512; ListId; Ask 1: a buffer's address waits for answer_valid_i
///   Not done    several lists by UDP port
module nanet_stream
  import nanet_pkg::*;
#(
  parameter int unsigned DataWidth = 128,
  parameter int unsigned UsageW    = 8,
  parameter logic [7:0]  ListId    = 8'd0,
  parameter bit          Ask       = 1'b0
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,
  input  logic [63:0]          time_cycles_i,

  input  list_t                list_i,
  input  logic                 table_we_i,
  input  logic [5:0]           table_index_i,
  input  buffer_t              table_i,

  input  logic                 beat_valid_i,
  output logic                 beat_ready_o,
  input  entry_e               beat_kind_i,
  input  logic [DataWidth-1:0] beat_i,
  input  logic [UsageW-1:0]    usage_i,
  input  logic [UsageW-1:0]    ends_i,
  input  logic                 head_lost_i,

  output logic                 ask_valid_o,
  input  logic                 answer_valid_i,

  output list_request_t        request_o,
  input  list_response_t       response_i,
  output logic [DataWidth-1:0] data_o,
  input  logic                 full_i,

  output logic                 begun_o,      // strobe: a datagram's first command
  output logic [15:0]          filled_o,     // buffers announced, modulo 2^16
  output losses_t              losses_o,     // strobes
  output logic [31:0]          delivered_o,
  output logic [15:0]          no_event_o,
  output logic [15:0]          overwritten_o, // datagrams in buffers that were not given back
  output logic [5:0]           number_o,     // of the datagram, modulo 64
  output logic                 idle_o
);
  localparam int unsigned DataBytes = DataWidth / 8;
  localparam int unsigned LaneW     = $clog2(DataBytes);
  localparam int unsigned PlaceW    = $clog2(PlaceBytes);
  localparam int unsigned ChunkW    = CommandW;

  typedef enum logic [3:0] {
    StIdle, StLoad, StPlace, StAsk, StChunk, StData, StEnd, StClose, StDrop, StCommand
  } state_e;
  typedef enum logic [1:0] {DropClosed, DropNoBuffer, DropTooLong} drop_e;

  state_e state_q, back;
  drop_e  drop_q;
  logic   head_valid_q;                // a head waits for a place
  head_t  head_q;
  end_t   ending;
  logic   open_q, error_q, flush_due_q;
  buffer_t buffer_q;
  logic [5:0]  index_q, number_q;
  logic [15:0] filled_q, datagrams_q, left_q, no_event_q;
  logic [24:0] fill_q;                 // where the next datagram goes
  logic [25:0] room_q;                 // behind that, a cycle late; negative: none
  logic [23:0] at_q;                   // where the next chunk goes
  logic [23:0] bytes_q;                // end of the last good datagram
  logic [31:0] sequence_q, delivered_q, lost_q, flush_q;
  logic [1:0]  lost_now_q;             // datagrams lost in the cycle before
  logic [15:0] lost_full_q;            // and those of an event without a place
  logic [7:0]  pending_q;
  logic        taken_q;                // a command was taken in the cycle before
  logic [15:0] port_q;
  logic [31:0] ip_q;
  logic [62:0] cycles_q;
  logic [ChunkW-1:0] chunk, chunk_q, to_edge, to_edge_q;
  logic [ChunkW-1:0] beats_q;          // of the chunk that are not sent
  logic cmd_take, data_take, is_end, fits, free, full_now, event_offer, event_take, give_up;
  logic announced, dropped, ended_badly;

  // The next buffer is read ahead: index_q is older than a cycle where a buffer is opened.
  buffer_t next_buffer;
  nanet_buffers u_buffers (
    .clk_i,
    .rst_ni,
    .list_i,
    .table_we_i,
    .table_index_i,
    .table_i,
    .count_i    (filled_q),
    .index_i    (index_q),
    .filled_i   (announced),
    .datagrams_i(datagrams_q),
    .give_up_i  (give_up),
    .buffer_o   (next_buffer),
    .free_o     (free),
    .overwritten_o
  );

  policy_e policy;
  assign policy    = policy_e'(list_i.policy);
  assign ending    = end_t'(beat_i[$bits(end_t)-1:0]);
  assign is_end    = beat_valid_i && beat_kind_i == EntryEnd;
  assign fits      = !room_q[25] && (room_q[24:16] != '0 || head_q.len <= room_q[15:0]);
  assign give_up   = state_q == StPlace && list_i.enable && !open_q && !free &&
                     policy == PolicyOldest;
  assign full_now  = datagrams_q + 16'd1 == (list_i.datagrams == '0 ? '1 : 16'(list_i.datagrams));
  assign back      = head_valid_q ? StPlace : StIdle;

  // ---------------------------------------------------------------- chunks
  if (ChunkBytes != 2 * PlaceBytes) begin : gen_chunk_check
    $error("nanet_stream: a chunk of %0d bytes is not two places", ChunkBytes);
  end
  // Where a chunk ends at the most is known before it is looked for: of the first one while the
  // datagram's place is checked, of the next one while the one before it is sent. Buffers begin at
  // multiples of PlaceBytes, so a place in its page and one in its buffer have the same low bits.
  localparam int unsigned InPageW = 12;
  logic rest_there, chunk_there, choose, place_ok, page_first;
  logic [24:0] start;                  // where the next datagram goes, after an event too
  logic [InPageW-1:PlaceW] page_q;     // and in its page
  logic [InPageW-1:0] from, next_q;    // where a chunk begins in its page; the one behind it
  logic from_odd, next_odd_q;          // and the bit of its place in the buffer above those
  logic [InPageW:0] to_page, to_page_q;
  logic [63:0] addr_q;
  assign start      = state_q == StClose ? '0 : fill_q;
  assign from       = state_q == StPlace ? {page_q, PlaceW'(0)} : next_q;
  assign from_odd   = state_q == StPlace ? fill_q[PlaceW] : next_odd_q;
  assign to_page    = (InPageW + 1)'(1 << InPageW) - (InPageW + 1)'(from);
  assign page_first = (&from[InPageW-1:PlaceW]) && !from_odd;
  assign to_edge    = ChunkW'(ChunkBytes) - ChunkW'({from_odd || page_first, from[PlaceW-1:0]});
  always_ff @(posedge clk_i) begin
    page_q <= start[InPageW-1:PlaceW] + buffer_q.base[0+:InPageW-PlaceW];
    room_q <= 26'(buffer_q.bytes) - 26'(start);
    if (state_q == StLoad) begin
      page_q <= next_buffer.base[0+:InPageW-PlaceW];
      room_q <= 26'(next_buffer.bytes);
    end
    if (state_q == StPlace || state_q == StData) begin
      to_page_q <= 32'(to_page) > MaxCommand ? (InPageW + 1)'(MaxCommand) : to_page;
      to_edge_q <= to_edge;
    end
    if (state_q == StCommand) begin
      next_q     <= addr_q[InPageW-1:0] + InPageW'(chunk_q);
      next_odd_q <= 1'((at_q[PlaceW:0] + (PlaceW + 1)'(chunk_q)) >> PlaceW);
    end
  end

  assign rest_there  = 32'(usage_i) * 32'(DataBytes) >= 32'(left_q) || ends_i != '0;
  assign chunk_there = rest_there || 32'(usage_i) * 32'(DataBytes) >= 32'(to_edge_q);
  always_comb begin
    if (!rest_there) chunk = to_edge_q;
    else if (16'(to_page_q) < left_q) chunk = ChunkW'(to_page_q);
    else chunk = ChunkW'(left_q);
  end
  assign choose      = state_q == StChunk && left_q != '0 && chunk_there && !is_end &&
                       pending_q != '1;
  assign request_o.write = '{
      cmd_valid: state_q == StCommand,
      key: buffer_q.key,
      addr: addr_q,
      bytes: chunk_q,
      data_valid: state_q == StData && beat_valid_i,
      keep: beat_kind_i == EntryData,
      last: beats_q == ChunkW'(1)
  };
  assign data_o    = beat_i;
  assign cmd_take  = request_o.write.cmd_valid && response_i.cmd_ready;
  assign data_take = request_o.write.data_valid && response_i.data_ready;

  assign place_ok      = state_q == StPlace && list_i.enable && open_q && fits;
  assign ask_valid_o   = Ask ? state_q == StAsk : place_ok;
  assign begun_o       = cmd_take && at_q == fill_q[23:0];
  assign event_offer   = state_q == StClose && pending_q == '0 &&
                         !(policy == PolicyHold && full_i && list_i.enable);
  assign event_take    = event_offer && response_i.event_ready;
  assign announced     = event_take && !full_i;
  assign request_o.event_valid = event_offer;

  always_comb begin
    unique case (state_q)
      // A buffer is opened ahead of its datagram.
      StIdle:         beat_ready_o = !flush_due_q && (open_q || !free || !list_i.enable);
      StData:         beat_ready_o = response_i.data_ready && request_o.write.keep;
      StEnd, StDrop:  beat_ready_o = 1'b1;
      default:        beat_ready_o = 1'b0;
    endcase
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q      <= StIdle;
      head_valid_q <= 1'b0;
      open_q       <= 1'b0;
      error_q      <= 1'b0;
      index_q      <= '0;
      number_q     <= '0;
      filled_q     <= '0;
      datagrams_q  <= '0;
      no_event_q   <= '0;
      fill_q       <= '0;
      sequence_q   <= '0;
      delivered_q  <= '0;
      lost_q       <= '0;
      flush_q      <= '0;
      pending_q    <= '0;
      taken_q      <= 1'b0;
      lost_now_q   <= '0;
      lost_full_q  <= '0;
      flush_due_q  <= 1'b0;
    end else begin
      flush_due_q <= list_i.enable && datagrams_q != '0 && state_q != StClose &&
                     list_i.flush != '0 && flush_q >= list_i.flush;
      // What is lost is known late in its cycle. No event is offered in the next one.
      lost_now_q  <= 2'(ended_badly) + 2'(head_lost_i);
      lost_full_q <= losses_o.no_event ? datagrams_q : '0;
      unique case (state_q)
        StIdle: begin
          if (!list_i.enable && !flush_due_q) begin
            open_q      <= 1'b0;
            no_event_q  <= no_event_q + datagrams_q;
            datagrams_q <= '0;
            fill_q      <= '0;
            filled_q    <= '0;
            index_q     <= '0;
            sequence_q  <= '0;
            error_q     <= 1'b0;
          end
          if (flush_due_q) begin
            state_q <= StClose;
          end else if (!open_q && free && list_i.enable) begin
            state_q <= StLoad;
          end else if (beat_valid_i && beat_kind_i == EntryHead) begin
            state_q      <= StPlace;
            head_valid_q <= 1'b1;
          end
        end
        StLoad: begin
          open_q  <= 1'b1;
          state_q <= back;
        end
        StPlace: begin
          head_valid_q <= 1'b0;
          if (!list_i.enable) begin
            state_q <= StDrop;
          end else if (open_q && fits) begin
            state_q <= Ask ? StAsk : StChunk;
          end else if (open_q && datagrams_q != '0) begin
            state_q      <= StClose;
            head_valid_q <= 1'b1;
          end else if (open_q) begin
            state_q <= StDrop;
          end else if (free || give_up) begin
            state_q      <= StLoad;
            head_valid_q <= 1'b1;
          end else if (policy == PolicyHold) begin
            head_valid_q <= 1'b1;
          end else begin
            state_q <= StDrop;
          end
        end
        StAsk: if (answer_valid_i) state_q <= StChunk;
        StChunk: begin
          if (left_q == '0 || is_end) state_q <= StEnd;
          else if (choose) state_q <= StCommand;
        end
        StCommand: if (response_i.cmd_ready) state_q <= StData;
        StData: if (data_take && request_o.write.last) state_q <= StChunk;
        StEnd, StDrop: begin
          if (is_end) begin
            number_q <= number_q + 6'd1;
            state_q  <= StIdle;
            if (state_q == StEnd && ending.good) begin
              datagrams_q <= datagrams_q + 16'd1;
              fill_q      <= {19'((25'(at_q) + 25'(PlaceBytes - 1)) >> PlaceW), PlaceW'(0)};
              if (full_now) state_q <= StClose;
            end
          end
        end
        default: begin  // StClose
          if (event_take) begin
            state_q     <= back;
            datagrams_q <= '0;
            fill_q      <= '0;
            error_q     <= 1'b0;
            if (full_i) begin
              no_event_q <= no_event_q + datagrams_q;
            end else begin
              open_q      <= 1'b0;
              delivered_q <= delivered_q + 32'(datagrams_q);
              filled_q    <= filled_q + 16'd1;
              sequence_q  <= sequence_q + 32'd1;
              index_q     <= 7'(index_q) + 7'd1 >= list_i.buffers ? '0 : index_q + 6'd1;
            end
          end
        end
      endcase

      // A command counts a cycle late: its datagram's end and its answer are further away.
      taken_q <= cmd_take;
      if (taken_q != response_i.done_valid) begin
        pending_q <= taken_q ? pending_q + 8'd1 : pending_q - 8'd1;
      end
      if (response_i.done_valid && response_i.done_error) error_q <= 1'b1;
      lost_q <= lost_q + 32'(lost_now_q) + 32'(lost_full_q);
      if (datagrams_q == '0) flush_q <= '0;
      else if (list_i.flush != '0 && flush_q < list_i.flush) flush_q <= flush_q + 32'd1;
    end
  end

  always_ff @(posedge clk_i) begin
    if (state_q == StIdle) head_q <= head_t'(beat_i[63:0]);
    if (state_q == StLoad) buffer_q <= next_buffer;
    if (state_q == StPlace) begin
      left_q <= head_q.len;
      at_q   <= fill_q[23:0];
      drop_q <= !list_i.enable ? DropClosed : open_q ? DropTooLong : DropNoBuffer;
    end
    if (state_q == StChunk) begin
      chunk_q <= chunk;
      addr_q  <= {buffer_q.base, 6'd0} + 64'(at_q);
    end
    if (state_q == StCommand) beats_q <= ChunkW'((32'(chunk_q) + DataBytes - 1) >> LaneW);
    if (data_take) begin
      beats_q <= beats_q - ChunkW'(1);
      if (request_o.write.last) begin
        left_q <= left_q - 16'(chunk_q);
        at_q   <= at_q + 24'(chunk_q);
      end
    end
    if (state_q == StEnd && is_end && ending.good) begin
      bytes_q  <= at_q;
      port_q   <= head_q.port;
      ip_q     <= head_q.ip;
      cycles_q <= time_cycles_i[62:0];
    end
  end

  assign request_o.event_ = '{
      cycles: cycles_q,
      lost: lost_q,
      datagrams: datagrams_q,
      port: port_q,
      ip: ip_q,
      sequence_: sequence_q,
      bytes: 32'(bytes_q),
      index: 16'(index_q),
      list: ListId,
      reserved: '0,
      error: error_q
  };

  logic unused;
  assign unused = ^{time_cycles_i[63], list_i.echo, list_i.returned};

  assign dropped     = state_q == StDrop && is_end;
  assign ended_badly = dropped || (state_q == StEnd && is_end && !ending.good);
  assign losses_o = '{
      overflow: head_lost_i || (state_q == StEnd && is_end && ending.overflow),
      bad: state_q == StEnd && is_end && !ending.good && !ending.overflow,
      closed: dropped && drop_q == DropClosed,
      no_buffer: dropped && drop_q == DropNoBuffer,
      too_long: dropped && drop_q == DropTooLong,
      no_event: event_take && full_i
  };

  assign filled_o    = filled_q;
  assign delivered_o = delivered_q;
  assign no_event_o  = no_event_q;
  assign number_o    = number_q;
  assign idle_o      = state_q == StIdle && !beat_valid_i && pending_q == '0 &&
                       (open_q || !free || !list_i.enable) &&
                       (list_i.enable || (filled_q == '0 && !open_q)) &&
                       (datagrams_q == '0 || list_i.flush == '0);
endmodule
