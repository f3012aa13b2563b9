// SPDX-License-Identifier: SHL-2.1
/// Decides of each packet whether it and its put are whole, and announces a put that is; the answer
/// of a get, which is a put, and its refusal, in a list of their own.
///
///   Handshake   record_* and event_* valid/ready. done_valid_i: an answer of memory, in the order
///               of commands, at most Pending before they are taken; answer_take_o: one was
///   Ordering    packets in their order, each when memory has answered its commands
///   Announced   only a put whose packets all came, in order, with the right CRC and length, and
///               whose writes all succeeded (proved: formal/apenet/apenet_receive.sby)
///   Latency     last answer to event_valid_o 1 cycle
///   Throughput  a packet a cycle, less its answers
///   Sources     one put of each is followed, in a table by the low PlaceBits of its coordinates: a
///               source that shares its entry with another one that puts at the same time may lose
///               puts of several packets, which counts as bad_puts
///   Parameters  PlaceBits 1, 2; Pending answers, a power of two
///   Not done    two puts of one source at a time
module apenet_puts
  import apenet_pkg::*;
#(
  parameter int unsigned PlaceBits = 2,
  parameter int unsigned Pending   = 16
) (
  input  logic              clk_i,
  input  logic              rst_ni,
  input  logic              enable_i,
  input  logic              record_valid_i,
  output logic              record_ready_o,
  input  record_t           record_i,
  input  logic              done_valid_i,
  input  logic              done_error_i,
  output logic              answer_take_o,
  output logic              event_valid_o,
  input  logic              event_ready_i,
  output nanet_pkg::event_t event_o,
  output arrivals_t         arrivals_o,
  output step_t             announced_o,
  output logic              idle_o
);
  localparam int unsigned EntryW = 3 * PlaceBits;

  if (PlaceBits < 1 || PlaceBits > 2) begin : gen_places_check
    $error("apenet_puts: PlaceBits is %0d, legal are 1 and 2", PlaceBits);
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
    .valid_i(done_valid_i),
    .ready_o(answer_ready),
    .data_i (done_error_i),
    .valid_o(answer_valid),
    .ready_i(answer_take),
    .data_o (answer_error),
    .usage_o()
  );
  prim_assert u_answers_fit (.clk_i, .rst_ni, .ok_i(!done_valid_i || answer_ready));

  record_t record;
  logic record_valid, record_take;
  fifo #(
    .Width($bits(record_t)),
    .Depth(8)
  ) u_records (
    .clk_i,
    .rst_ni,
    .clear_i(1'b0),
    .valid_i(record_valid_i),
    .ready_o(record_ready_o),
    .data_i (record_i),
    .valid_o(record_valid),
    .ready_i(record_take),
    .data_o (record),
    .usage_o()
  );

  // ---------------------------------------------------------------- puts
  typedef struct packed {
    torus_pkg::place_t  source;
    logic               answer;   // of a get, which has its own numbers
    logic [31:0]        put;
    logic [NumberW-1:0] next;     // packet
  } entry_t;
  entry_t entries[1 << EntryW];
  entry_t entry;
  logic [(1<<EntryW)-1:0] whole_q;  // so far
  logic [EntryW-1:0] index;
  logic [1:0] answered_q;
  logic error_q, answered, follows, whole, decide, announce, bare, answer, refused;
  logic message;  // its list announces it
  arrivals_t arrivals_q;

  assign index       = {
      record.source[2][PlaceBits-1:0], record.source[1][PlaceBits-1:0],
      record.source[0][PlaceBits-1:0]
  };
  assign entry       = entries[index];
  assign answered    = record_valid && answered_q == record.commands;
  assign answer_take = record_valid && !answered && answer_valid;
  assign refused     = record.what == KindRefused;
  assign message     = record.what == KindMessage;
  assign bare        = record.what == KindGet || refused || record.late;
  assign answer      = record.what == KindAnswer;
  assign follows     = bare ? record.first :
                       record.first ? record.number == '0 :
                       whole_q[index] && entry.source == record.source &&
                       entry.answer == answer &&
                       entry.put == record.put && entry.next == record.number;
  assign whole       = record.good && !error_q && follows;
  assign announce    = answered && record.last && whole && enable_i &&
                       record.what != KindGet && !message;
  assign decide      = answered && (!announce || event_ready_i);
  assign record_take = decide;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      whole_q    <= '0;
      answered_q <= '0;
      error_q    <= 1'b0;
      arrivals_q <= '0;
    end else begin
      if (decide) begin
        // Behind its last packet a put has no more. Messages, gets, refusals and what comes late
        // are none.
        if (!message && !bare) whole_q[index] <= whole && !record.last;
        answered_q     <= '0;
        error_q        <= 1'b0;
        arrivals_q.packets <= arrivals_q.packets + 32'd1;
        if (!record.good || error_q) arrivals_q.bad_packets <= arrivals_q.bad_packets + 16'd1;
        if (record.last && !whole) arrivals_q.bad_puts <= arrivals_q.bad_puts + 16'd1;
      end else if (answer_take) begin
        answered_q <= answered_q + 2'd1;
        error_q    <= error_q || answer_error;
      end
    end
  end
  always_ff @(posedge clk_i) begin
    if (decide && !message && !bare) begin
      entries[index] <= '{source: record.source, answer: answer, put: record.put,
                          next: record.number + NumberW'(1)};
    end
  end

  assign event_valid_o = announce;
  assign event_o = '{
      cycles: record.cycles,
      lost: 32'(arrivals_q.bad_puts),
      datagrams: refused ? '0 : 16'(record.number) + 16'd1,
      port: 16'(record.source),
      ip: record.begin_[37:6],
      sequence_: record.put,
      bytes: 32'(record.total),
      index: record.key,
      list: record.what == KindPut ? ArrivedList : AnswerList,
      reserved: refused ? 7'(record.number[1:0]) : '0,
      error: refused
  };
  assign answer_take_o = answer_take;
  assign arrivals_o    = arrivals_q;
  assign announced_o   = '{strobe: announce && decide, tag: record.put[7:0]};
  assign idle_o        = !record_valid;

  logic unused;
  assign unused = ^{record.begin_[47:38], record.begin_[5:0]};
endmodule
