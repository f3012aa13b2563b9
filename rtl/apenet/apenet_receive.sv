// SPDX-License-Identifier: SHL-2.1
/// Writes the puts that come over a torus into registered memory, an event for each that is whole;
/// hands on the gets that ask for this node's.
///
/// flits -> block_fifo -> header -> places -> commands; payload -> beats -> memory; footer ->
/// records -> apenet_puts -> event; messages -> a list, which announces them
///
///   Handshake   flit_valid_i is never stalled, the sender holds a credit for it; freed_o gives one
///               back. get_* is never stalled: nothing here waits for what leaves. request_o,
///               response_i and data_o as a list of nanet_memory
///   Ordering    packets in their order; the event of a put when memory has answered all its writes
///   Bounds      nothing of a packet is written whose header is not one, has no bytes, more than
///               MaxPayload or more than a page of 4 KiB holds; key, region and page are checked by
///               nanet_translate before anything is written
///   Gets        an answer is written, a refusal announced, only while its get is open, inside it
///               (apenet_asked); others are dropped and counted: late_o
///   Announced   only a put whose packets all came, in order, with the right CRC and length, and
///               whose writes all succeeded (proved: formal/apenet/apenet_receive.sby). Written
///               before the CRC is seen: what is not announced may be in memory
///   Full        an event that finds the queue full is dropped and counted there: a program that
///               does not take events must not stop the network, but in a list whose policy is hold
///   Latency     header to the first command 2 cycles; tail of a put to its event 3 and the answers
///               of memory
///   Throughput  a flit a cycle, over packets too; a command, of 2 KiB at most, in its beats and 8
///               cycles: with DataWidth 256 or more the flits are the limit
///   Sources     as apenet_puts
///   Lists       a message with the list's key goes to message_o: head, beats, one end, good only
///               with the right CRC (proved there). One with another key is dropped and counted.
///               While message_ready_i is low all behind it waits
///   Parameters  DataWidth 128..512; Depth of the buffer in flits, the sender's credits; PlaceBits
///               1, 2; Gets of this node that may be open, a power of two; Firmware 1: each packet
///               waits for answer_i, but for messages
///   Not done    several lists
module apenet_receive
  import apenet_pkg::*;
#(
  parameter int unsigned DataWidth = 256,
  parameter int unsigned Depth     = 64,
  parameter int unsigned PlaceBits = 2,
  parameter int unsigned Gets      = 16,
  parameter bit          Firmware  = 1'b0
) (
  input  logic                      clk_i,
  input  logic                      rst_ni,
  /* verilator lint_off UNUSEDSIGNAL */  // an event has 63 bits of the time
  input  logic [63:0]               time_cycles_i,  // cycles of clk_i since time zero
  /* verilator lint_on UNUSEDSIGNAL */
  input  logic                      enable_i,  // low: no put is announced, and the open gets end

  input  logic                      flit_valid_i,
  input  logic                      flit_head_i,  // with flit_valid_i: it is a header
  input  logic                      flit_tail_i,  // with flit_valid_i: it is a footer
  input  logic [FlitWidth-1:0]      flit_i,       // header_t, payload or footer_t of torus_pkg
  output logic                      freed_o,

  output logic                      ask_o,  // a level, with Firmware
  input  logic                      answer_i,

  output nanet_pkg::list_request_t  request_o,
  input  nanet_pkg::list_response_t response_i,
  output logic [DataWidth-1:0]      data_o,

  output logic                      get_valid_o,  // a strobe: it came whole
  output get_t                      get_o,

  input  asked_t                    open_i,  // a get leaves: its answer may be written
  output logic [15:0]               late_o,  // packets of gets that are not open

  input  logic                      lists_i,     // messages with this key are taken
  input  logic [15:0]               list_key_i,  // constant while lists_i is high
  output message_t                  message_o,
  output logic [DataWidth-1:0]      message_beat_o,  // of message_o, in the same cycle
  input  logic                      message_ready_i,
  output logic [15:0]               refused_o,  // messages with another one

  output arrivals_t                 arrivals_o,   // counters, which wrap
  output step_t                     came_o,       // the first header of a put is taken
  output step_t                     ended_o,      // the tail of its last packet is taken
  output step_t                     announced_o,  // its writes are answered, its event is taken
  output logic                      idle_o        // nothing changes until an input does
);
  localparam int unsigned Flits    = DataWidth / FlitWidth;
  localparam int unsigned LaneW    = Flits > 1 ? $clog2(Flits) : 1;
  localparam int unsigned BeatW    = $clog2(DataWidth / 8);
  localparam int unsigned LeftW    = $clog2(MaxPayload / 16) + 1;
  localparam int unsigned Command  = nanet_pkg::MaxCommand;
  localparam int unsigned Pending  = 16;  // commands

  if (DataWidth != 128 && DataWidth != 256 && DataWidth != 512) begin : gen_width_check
    $error("apenet_receive: DataWidth is %0d, legal are 128, 256 and 512", DataWidth);
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
    StData,
    StFill,    // beats for flits that should have come
    StFooter,
    StDrain    // what is left of a packet that is not one
  } state_e;

  state_e state_q;
  torus_pkg::header_t header, header_q;
  /* verilator lint_off UNUSEDSIGNAL */  // some of the last flit is reserved
  torus_pkg::footer_t footer;
  sequence_t sequence_;
  kind_t kind, kind_q;
  /* verilator lint_on UNUSEDSIGNAL */
  logic legal, legal_q, late_q, bare, payload, ending_q, beat_put, beat_keep, beat_ready;
  logic place_put, place_ready, ended;
  logic returns, looked, known, late;   // of a get of this node
  logic [47:0] asked_at, address;
  logic message, allowed, message_q, head_take;
  logic [LeftW-1:0] flits_q;        // of payload that have not come
  logic [LeftW-1:0] beats_q;        // that are not stored
  logic [LaneW-1:0] lane_q;
  logic [DataWidth-1:0] beat_q, beat;
  logic [31:0] crc;

  assign header    = flit;
  assign footer    = flit;
  assign sequence_ = footer.sequence_;
  assign kind      = header.kind;
  assign kind_q    = header_q.kind;
  assign payload   = kind.what == KindPut || kind.what == KindAnswer;
  assign returns   = is_head && (kind.what == KindAnswer || kind.what == KindRefused);
  assign late      = returns && !known;
  assign address   = returns ? asked_at : header.address;
  assign bare      = is_head && !is_tail && header.bytes == '0 &&
                     (kind.what == KindGet || (kind.what == KindRefused && known));
  assign message   = is_head && !is_tail && kind.what == KindMessage && header.bytes != '0 &&
                     header.bytes <= 16'(MaxPayload);
  assign allowed   = message && lists_i && header.id == list_key_i;
  assign legal     = is_head && !is_tail && payload && header.bytes != '0 &&
                     (returns ? known :
                      header.address[5:0] == '0 &&
                      17'(header.address[11:0]) + 17'(header.bytes) <= 17'(MaxPayload));

  apenet_asked #(
    .Slots(Gets)
  ) u_asked (
    .clk_i,
    .rst_ni,
    .enable_i,
    .open_i,
    .look_i   (state_q == StHeader && valid && returns),
    .take_i   (head_take && returns),
    .header_i (header),
    .looked_o (looked),
    .known_o  (known),
    .address_o(asked_at),
    .late_o
  );

  logic record_put_q, record_ready;
  record_t made_q;
  always_comb begin
    unique case (state_q)
      StHeader: take = place_ready && record_ready && !record_put_q &&
                       (!allowed || message_ready_i) && (!returns || looked);
      StData:   take = message_q ? message_ready_i : beat_ready;
      StFooter: take = record_ready && !record_put_q;
      StDrain:  take = record_ready && !record_put_q;
      default:  take = 1'b0;
    endcase
  end
  assign head_take = state_q == StHeader && valid && take;
  assign place_put = head_take && legal;
  // A beat is complete with its last flit. One with flits that never came is not written.
  assign beat_put  = state_q == StFill ||
                     (state_q == StData && valid &&
                      (lane_q == LaneW'(Flits - 1) || flits_q == LeftW'(1) || is_tail));
  assign beat_keep = state_q == StData && !is_tail;
  always_comb begin
    beat = beat_q;
    for (int unsigned i = 0; i < Flits; i++) begin
      if (lane_q == LaneW'(i)) beat[FlitWidth*i+:FlitWidth] = flit;
    end
  end
  assign ended = (valid && take && is_tail && state_q != StData) ||
                 (state_q == StFill && (message_q || beats_q == '0) && record_ready &&
                  !record_put_q);

  apenet_crc u_crc (
    .clk_i,
    .first_i(state_q == StHeader),
    .take_i (valid && take),
    .data_i (state_q == StFooter ? {flit[FlitWidth-1:32], 32'd0} : flit),
    .crc_o  (crc)
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q      <= StHeader;
      record_put_q <= 1'b0;
    end else begin
      record_put_q <= ended;
      unique case (state_q)
        StHeader: begin
          if (place_put || (head_take && allowed)) state_q <= StData;
          else if (valid && take && bare) state_q <= StFooter;
          else if (valid && take && !is_tail) state_q <= StDrain;
        end
        StData: begin
          if (valid && take && is_tail) state_q <= StFill;
          else if (valid && take && flits_q == LeftW'(1)) state_q <= StFooter;
        end
        StFill: if (ended) state_q <= StHeader;
        StFooter: if (valid && take) state_q <= is_tail ? StHeader : StDrain;
        default: if (valid && take && is_tail) state_q <= StHeader;  // StDrain
      endcase
    end
  end
  always_ff @(posedge clk_i) begin
    if (state_q == StHeader) begin
      header_q <= header;
      header_q.address <= address;
      late_q   <= late;
      legal_q  <= legal;
      message_q <= allowed;
      ending_q <= (payload || kind.what == KindRefused) && !late;
      lane_q   <= '0;
      flits_q  <= LeftW'((header.bytes + 16'd15) >> 4);
      beats_q  <= LeftW'((32'(header.bytes) + DataWidth / 8 - 1) >> BeatW);
    end
    if (state_q == StData && valid && take) begin
      beat_q  <= beat;
      lane_q  <= beat_put ? '0 : lane_q + LaneW'(1);
      flits_q <= flits_q - LeftW'(1);
    end
    if (beat_put && beat_ready && beats_q != '0) beats_q <= beats_q - LeftW'(1);
    made_q <= '{
        good: state_q == StFooter && is_tail && footer.crc == crc,
        late: state_q == StHeader ? late : late_q,
        what: state_q == StHeader ? kind.what : kind_q.what,
        first: state_q == StHeader ? kind.first : kind_q.first,
        last: state_q == StHeader ? kind.last && !late && (payload || kind.what == KindRefused) :
                                    kind_q.last && ending_q,
        commands: state_q == StHeader || !legal_q ? 2'd0 :
                  header_q.bytes > 16'(Command) ? 2'd2 : 2'd1,
        source: state_q == StHeader ? header.source : header_q.source,
        put: sequence_.put, number: sequence_.packet[NumberW-1:0],
        total: footer.flags[PutW-1:0],
        begin_: header_q.address +
                (legal_q ? 48'(header_q.bytes) - 48'(footer.flags[PutW-1:0]) : 48'd0),
        key: header_q.id, cycles: time_cycles_i[62:0]
    };
  end

  // ---------------------------------------------------------------- gets
  wanted_t wanted_q;
  always_ff @(posedge clk_i) wanted_q <= sequence_.packet;
  // The header stays for that clock in which it is known whether the packet is whole.
  assign get_valid_o = record_put_q && made_q.good && made_q.what == KindGet;
  assign get_o = '{
      source: header_q.source, number: made_q.put, land_key: header_q.id,
      land: header_q.address[47:6], wanted: wanted_q, bytes: made_q.total
  };

  // ---------------------------------------------------------------- messages
  always_comb begin
    message_o.valid = state_q == StData && message_q && beat_put && beat_keep;
    message_o.kind  = nanet_pkg::EntryData;
    message_beat_o  = beat;
    if (record_put_q && message_q) begin
      message_o      = '{valid: 1'b1, kind: nanet_pkg::EntryEnd};
      message_beat_o = DataWidth'(made_q.good);  // as nanet_pkg::end_t
    end else if (state_q == StHeader) begin
      message_o      = '{valid: head_take && allowed, kind: nanet_pkg::EntryHead};
      message_beat_o = DataWidth'({header.address[31:0], 16'(header.source), header.bytes});
    end
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) refused_o <= '0;
    else if (head_take && message && !allowed) refused_o <= refused_o + 16'd1;
  end

  // ---------------------------------------------------------------- commands
  logic answer_take, write_idle;
  apenet_write #(
    .DataWidth(DataWidth),
    .Pending  (Pending),
    .Firmware (Firmware)
  ) u_write (
    .clk_i,
    .rst_ni,
    .place_valid_i(place_put),
    .place_ready_o(place_ready),
    .place_i      ('{key: header.id, address: address, bytes: LengthW'(header.bytes)}),
    .beat_valid_i (beat_put && !message_q && (state_q != StFill || beats_q != '0)),
    .beat_ready_o (beat_ready),
    .beat_i       (beat),
    .beat_keep_i  (beat_keep),
    .ask_o,
    .answer_i,
    .write_o      (request_o.write),
    .data_o,
    .cmd_ready_i  (response_i.cmd_ready),
    .data_ready_i (response_i.data_ready),
    .answered_i   (answer_take),
    .idle_o       (write_idle)
  );

  // ---------------------------------------------------------------- puts
  logic records_idle;
  apenet_puts #(
    .PlaceBits(PlaceBits),
    .Pending  (Pending)
  ) u_puts (
    .clk_i,
    .rst_ni,
    .enable_i,
    .record_valid_i(record_put_q),
    .record_ready_o(record_ready),
    .record_i      (made_q),
    .done_valid_i  (response_i.done_valid),
    .done_error_i  (response_i.done_error),
    .answer_take_o (answer_take),
    .event_valid_o (request_o.event_valid),
    .event_ready_i (response_i.event_ready),
    .event_o       (request_o.event_),
    .arrivals_o,
    .announced_o,
    .idle_o        (records_idle)
  );
  assign came_o      = '{strobe: (place_put || (head_take && (bare || allowed))) && kind.first,
                         tag: kind.put};
  assign ended_o     = '{strobe: state_q == StFooter && valid && take && is_tail && kind_q.last,
                         tag: sequence_.put[7:0]};
  assign idle_o      = state_q == StHeader && !valid && !flit_valid_i && !freed_o &&
                       records_idle && !record_put_q && write_idle;

  logic unused;
  assign unused = ^header_q;
endmodule
