// SPDX-License-Identifier: SHL-2.1
/// Writes the puts that come over a torus into registered memory, an event for each that is whole.
///
/// flits -> fifo -> header -> commands and beats -> memory; footer -> records -> table of puts ->
/// event
///
///   Handshake   flit_valid_i is never stalled, the sender holds a credit for it; freed_o gives one
///               back. request_o, response_i and data_o as a list of nanet_memory
///   Ordering    packets in their order; the event of a put when memory has answered all its writes
///   Bounds      nothing of a packet is written whose header is not one, has no bytes, more than
///               MaxPayload or more than a page of 4 KiB holds; key, region and page are checked by
///               nanet_translate before anything is written
///   Announced   only a put whose packets all came, in order, with the right CRC and length, and
///               whose writes all succeeded (proved: formal/apenet/apenet_receive.sby). Written
///               before the CRC is seen: what is not announced may be in memory
///   Full        an event that finds the queue full is dropped and counted there: a program that
///               does not take events must not stop the network
///   Latency     header to the first command 2 cycles; tail of a put to its event 3 and the answers
///               of memory
///   Throughput  a flit a cycle; a command, of 2 KiB at most, in its beats and 8 cycles
///   Sources     one put of each is followed, in a table by the low PlaceBits of its coordinates: a
///               source that shares its entry with another one that puts at the same time may lose
///               puts of several packets, which counts as bad_puts
///   Parameters  DataWidth 128..512; Depth of the buffer in flits, the sender's credits; PlaceBits
///               1, 2; Firmware 1: each packet waits for answer_i
///   Not done    circular lists of buffers; get
module apenet_receive
  import apenet_pkg::*;
#(
  parameter int unsigned DataWidth = 256,
  parameter int unsigned Depth     = 64,
  parameter int unsigned PlaceBits = 2,
  parameter bit          Firmware  = 1'b0
) (
  input  logic                      clk_i,
  input  logic                      rst_ni,
  /* verilator lint_off UNUSEDSIGNAL */  // an event has 63 bits of the time
  input  logic [63:0]               time_cycles_i,
  /* verilator lint_on UNUSEDSIGNAL */
  input  logic                      enable_i,

  input  logic                      flit_valid_i,
  input  logic                      flit_head_i,
  input  logic                      flit_tail_i,
  input  logic [FlitWidth-1:0]      flit_i,
  output logic                      freed_o,

  output logic                      ask_o,      // a level, with Firmware
  input  logic                      answer_i,

  output nanet_pkg::list_request_t  request_o,
  input  nanet_pkg::list_response_t response_i,
  output logic [DataWidth-1:0]      data_o,

  output arrivals_t                 arrivals_o,
  output step_t                     came_o,     // the first header of a put is taken
  output step_t                     ended_o,    // the tail of its last packet is taken
  output step_t                     announced_o,
  output logic                      idle_o
);
  localparam int unsigned Flits    = DataWidth / FlitWidth;
  localparam int unsigned LaneW    = Flits > 1 ? $clog2(Flits) : 1;
  localparam int unsigned BeatW    = $clog2(DataWidth / 8);
  localparam int unsigned LeftW    = $clog2(MaxPayload / 16) + 1;
  localparam int unsigned Command  = nanet_pkg::MaxCommand;
  localparam int unsigned CommandW = nanet_pkg::CommandW;
  localparam int unsigned EntryW   = 3 * PlaceBits;
  localparam int unsigned Pending  = 16;  // commands

  if (DataWidth != 128 && DataWidth != 256 && DataWidth != 512) begin : gen_width_check
    $error("apenet_receive: DataWidth is %0d, legal are 128, 256 and 512", DataWidth);
  end

  if (PlaceBits < 1 || PlaceBits > 2) begin : gen_places_check
    $error("apenet_receive: PlaceBits is %0d, legal are 1 and 2", PlaceBits);
  end

  // ---------------------------------------------------------------- flits
  logic valid, take, is_head, is_tail, ready;
  logic [FlitWidth-1:0] flit;
  block_fifo #(
    .Width(FlitWidth + 2),
    .Depth(Depth)
  ) u_flits (
    .clk_i,
    .rst_ni,
    .valid_i(flit_valid_i),
    .ready_o(ready),
    .data_i ({flit_head_i, flit_tail_i, flit_i}),
    .valid_o(valid),
    .ready_i(take),
    .data_o ({is_head, is_tail, flit})
  );
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) freed_o <= 1'b0;
    else         freed_o <= take && valid;
  end
  prim_assert u_room (.clk_i, .rst_ni, .ok_i(!flit_valid_i || ready));

  // ---------------------------------------------------------------- packets
  typedef enum logic [2:0] {
    StHeader,
    StAsk,
    StCommand,
    StData,
    StFooter,
    StDrain,   // what is left of a packet that is not one
    StRecord
  } state_e;
  /// What is left to find out of a packet when its tail has come.
  typedef struct packed {
    logic                   good;      // so far
    logic                   first;
    logic                   last;
    logic [1:0]             commands;
    torus_pkg::place_t      source;
    logic [31:0]            put;
    logic [NumberW-1:0]     number;
    logic [PutW-1:0]        total;
    logic [47:0]            begin_;    // of the put, in its region
    nanet_ctrl_pkg::region_key_t key;
    logic [62:0]            cycles;
  } record_t;

  state_e state_q;
  torus_pkg::header_t header, header_q;
  /* verilator lint_off UNUSEDSIGNAL */  // some of the last flit is reserved
  torus_pkg::footer_t footer;
  sequence_t sequence_, sequence_q;
  kind_t kind, kind_q;
  /* verilator lint_on UNUSEDSIGNAL */
  logic legal, good_q, keep_q, full_q, crc_take, payload_take, data_take, record_ready, room;
  logic [1:0] commands_q;
  logic [LeftW-1:0] flits_q;        // of payload that have not come
  logic [LengthW-1:0] left_q;       // bytes without a command
  logic [CommandW-1:0] beats_q, command;
  logic [47:0] address_q;
  logic [LaneW-1:0] lane_q;
  logic [DataWidth-1:0] beat_q;
  logic [31:0] crc;
  logic [4:0] pending_q;
  logic [PutW-1:0] total_q;
  logic [47:0] begin_q;
  logic [62:0] cycles_q;

  assign header    = flit;
  assign footer    = flit;
  assign sequence_ = footer.sequence_;
  assign kind      = header.kind;
  assign kind_q    = header_q.kind;
  assign legal     = is_head && !is_tail && kind.what == KindPut && header.bytes != '0 &&
                     header.address[5:0] == '0 &&
                     17'(header.address[11:0]) + 17'(header.bytes) <= 17'(MaxPayload);
  assign command   = left_q > LengthW'(Command) ? CommandW'(Command) : CommandW'(left_q);
  assign room      = pending_q < 5'(Pending);

  // A beat is complete; without flits that should have come its command ends with beats that write
  // nothing.
  assign data_take    = request_o.write.data_valid && response_i.data_ready;
  assign payload_take = state_q == StData && valid && keep_q && flits_q != '0 &&
                        (!full_q || data_take);
  always_comb begin
    unique case (state_q)
      StHeader: take = 1'b1;
      StData:   take = payload_take;
      StFooter: take = 1'b1;
      StDrain:  take = 1'b1;
      default:  take = 1'b0;
    endcase
  end
  assign crc_take = valid && take && (state_q == StHeader || state_q == StData);
  apenet_crc u_crc (
    .clk_i,
    .first_i(state_q == StHeader),
    .take_i (crc_take),
    .data_i (state_q == StFooter ? {flit[FlitWidth-1:32], 32'd0} : flit),
    .crc_o  (crc)
  );

  assign request_o.write = '{
      cmd_valid: state_q == StCommand && room,
      key: header_q.id,
      addr: 64'(address_q),
      bytes: command,
      data_valid: state_q == StData && (full_q || !keep_q),
      keep: keep_q || full_q,
      last: beats_q == CommandW'(1)
  };
  assign data_o = beat_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= StHeader;
      full_q  <= 1'b0;
    end else begin
      unique case (state_q)
        StHeader: begin
          if (valid && legal) state_q <= Firmware ? StAsk : StCommand;
          else if (valid) state_q <= is_tail ? StRecord : StDrain;
        end
        StAsk: if (answer_i) state_q <= StCommand;
        StCommand: if (room && response_i.cmd_ready) state_q <= StData;
        StData: begin
          if (data_take && request_o.write.last) begin
            if (left_q != '0 && keep_q) state_q <= StCommand;
            else state_q <= keep_q ? StFooter : StRecord;
          end
        end
        StFooter: if (valid) state_q <= is_tail ? StRecord : StDrain;
        StDrain: if (valid && is_tail) state_q <= StRecord;
        default: if (record_ready) state_q <= StHeader;  // StRecord
      endcase
      if (payload_take && (lane_q == LaneW'(Flits - 1) || flits_q == LeftW'(1) || is_tail)) begin
        full_q <= 1'b1;
      end else if (data_take) begin
        full_q <= 1'b0;
      end
    end
  end
  always_ff @(posedge clk_i) begin
    unique case (state_q)
      StHeader: begin
        header_q   <= header;
        good_q     <= legal;
        keep_q     <= 1'b1;
        commands_q <= '0;
        lane_q     <= '0;
        address_q  <= header.address;
        left_q     <= LengthW'(header.bytes);
        flits_q    <= LeftW'((header.bytes + 16'd15) >> 4);
      end
      StCommand: begin
        beats_q <= CommandW'((32'(command) + DataWidth / 8 - 1) >> BeatW);
        if (room && response_i.cmd_ready) begin
          commands_q <= commands_q + 2'd1;
          address_q  <= address_q + 48'(command);
          left_q     <= left_q - LengthW'(command);
        end
      end
      StData: begin
        if (payload_take) begin
          for (int unsigned i = 0; i < Flits; i++) begin
            if (lane_q == LaneW'(i)) beat_q[FlitWidth*i+:FlitWidth] <= flit;
          end
          lane_q  <= lane_q + LaneW'(1);
          flits_q <= flits_q - LeftW'(1);
          if (is_tail) begin
            keep_q <= 1'b0;
            good_q <= 1'b0;
          end
        end
        if (data_take) beats_q <= beats_q - CommandW'(1);
      end
      StFooter: if (valid) good_q <= good_q && is_tail && footer.crc == crc;
      default: ;
    endcase
    if (state_q == StFooter && valid) begin
      sequence_q <= sequence_;
      total_q    <= footer.flags[PutW-1:0];
      begin_q    <= header_q.address + 48'(header_q.bytes) - 48'(footer.flags[PutW-1:0]);
    end
    if (valid && is_tail && take) cycles_q <= time_cycles_i[62:0];
  end

  // ---------------------------------------------------------------- answers of memory
  logic answer_valid, answer_error, answer_take, answer_ready;
  fifo #(
    .Width(1),
    .Depth(Pending)
  ) u_answers (
    .clk_i,
    .rst_ni,
    .clear_i(1'b0),
    .valid_i(response_i.done_valid),
    .ready_o(answer_ready),
    .data_i (response_i.done_error),
    .valid_o(answer_valid),
    .ready_i(answer_take),
    .data_o (answer_error),
    .usage_o()
  );
  prim_assert u_answers_fit (.clk_i, .rst_ni, .ok_i(!response_i.done_valid || answer_ready));

  record_t record, made;
  logic record_valid, record_take;
  assign made = '{
      good: good_q, first: kind_q.first, last: kind_q.last && kind_q.what == KindPut,
      commands: commands_q, source: header_q.source, put: sequence_q.put,
      number: sequence_q.packet[NumberW-1:0], total: total_q, begin_: begin_q, key: header_q.id,
      cycles: cycles_q
  };
  fifo #(
    .Width($bits(record_t)),
    .Depth(8)
  ) u_records (
    .clk_i,
    .rst_ni,
    .clear_i(1'b0),
    .valid_i(state_q == StRecord),
    .ready_o(record_ready),
    .data_i (made),
    .valid_o(record_valid),
    .ready_i(record_take),
    .data_o (record),
    .usage_o()
  );

  // ---------------------------------------------------------------- puts
  typedef struct packed {
    torus_pkg::place_t  source;
    logic [31:0]        put;
    logic [NumberW-1:0] next;     // packet
  } entry_t;
  entry_t entries[1 << EntryW];
  entry_t entry;
  logic [(1<<EntryW)-1:0] whole_q;  // so far
  logic [EntryW-1:0] index;
  logic [1:0] answered_q;
  logic error_q, answered, follows, whole, decide, announce;
  arrivals_t arrivals_q;

  assign index       = {
      record.source[2][PlaceBits-1:0], record.source[1][PlaceBits-1:0],
      record.source[0][PlaceBits-1:0]
  };
  assign entry       = entries[index];
  assign answered    = record_valid && answered_q == record.commands;
  assign answer_take = record_valid && !answered && answer_valid;
  assign follows     = record.first ? record.number == '0 :
                       whole_q[index] && entry.source == record.source &&
                       entry.put == record.put && entry.next == record.number;
  assign whole       = record.good && !error_q && follows;
  assign announce    = answered && record.last && whole && enable_i;
  assign decide      = answered && (!announce || response_i.event_ready);
  assign record_take = decide;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      whole_q    <= '0;
      answered_q <= '0;
      error_q    <= 1'b0;
      pending_q  <= '0;
      arrivals_q <= '0;
    end else begin
      if (decide) begin
        // Behind its last packet a put has no more.
        whole_q[index] <= whole && !record.last;
        answered_q     <= '0;
        error_q        <= 1'b0;
        arrivals_q.packets <= arrivals_q.packets + 32'd1;
        if (!record.good || error_q) arrivals_q.bad_packets <= arrivals_q.bad_packets + 16'd1;
        if (record.last && !whole) arrivals_q.bad_puts <= arrivals_q.bad_puts + 16'd1;
      end else if (answer_take) begin
        answered_q <= answered_q + 2'd1;
        error_q    <= error_q || answer_error;
      end
      if ((state_q == StCommand && room && response_i.cmd_ready) != answer_take) begin
        pending_q <= answer_take ? pending_q - 5'd1 : pending_q + 5'd1;
      end
    end
  end
  always_ff @(posedge clk_i) begin
    if (decide) begin
      entries[index] <= '{source: record.source, put: record.put,
                          next: record.number + NumberW'(1)};
    end
  end

  assign request_o.event_valid = announce;
  assign request_o.event_ = '{
      cycles: record.cycles,
      lost: 32'(arrivals_q.bad_puts),
      datagrams: 16'(record.number) + 16'd1,
      port: 16'(record.source),
      ip: record.begin_[37:6],
      sequence_: record.put,
      bytes: 32'(record.total),
      index: record.key,
      list: ArrivedList,
      reserved: '0,
      error: 1'b0
  };
  assign ask_o       = state_q == StAsk;
  assign arrivals_o  = arrivals_q;
  assign came_o      = '{strobe: state_q == StHeader && valid && legal && kind.first,
                         tag: kind.put};
  assign ended_o     = '{strobe: state_q == StFooter && valid && is_tail && kind_q.last,
                         tag: sequence_.put[7:0]};
  assign announced_o = '{strobe: announce && decide, tag: record.put[7:0]};
  assign idle_o      = state_q == StHeader && !valid && !flit_valid_i && !freed_o &&
                       !record_valid && pending_q == '0;

  logic unused;
  assign unused = ^{header_q, record.begin_[47:38], record.begin_[5:0]};
endmodule
