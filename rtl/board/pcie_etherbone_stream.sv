// SPDX-License-Identifier: SHL-2.1
/// The Etherbone engine on the streams of pcie_dma: words in the byte order of host memory, each
/// answered by a word.
///
///   Handshake   rx_*, tx_*: valid/ready; rx_first_i, tx_first_o: the word begins a unit (a
///               read burst or a push). abort_i: strobe, the units in progress end. wb_*: as the
///               engine
///   Promise     promise_o: words that wait (waiting_i) or are in the engine, a clock late: what
///               the reply will have
///   Latency     a clock more than the engine
///   Throughput  a word a clock
///   Parameters  Depth power of two: words between request and reply; RoomW and PromiseW as
///               pcie_dma
///   Not done    messages of frames: one endless stream
module pcie_etherbone_stream #(
  parameter int unsigned Timeout  = 12_500,
  parameter int unsigned Depth    = 64,
  parameter int unsigned RoomW    = 9,
  parameter int unsigned PromiseW = 10
) (
  input logic clk_i,
  input logic rst_ni,

  input  logic                rx_valid_i,
  output logic                rx_ready_o,
  input  logic [31:0]         rx_data_i,
  input  logic                rx_first_i,
  input  logic                abort_i,
  input  logic [RoomW-1:0]    waiting_i,
  output logic                tx_valid_o,
  input  logic                tx_ready_i,
  output logic [31:0]         tx_data_o,
  output logic                tx_first_o,
  output logic [PromiseW-1:0] promise_o,

  output wb_pkg::request_t  wb_o,
  input  wb_pkg::response_t wb_i,

  output pcie_dma_pkg::service_t service_o,  // counters
  output logic operation_o,  // strobe: an operation goes to the bus
  output logic in_first_o,   // strobes: the first word of a unit is taken, of its reply is given
  output logic out_first_o,
  output logic idle_o,
  output logic rest_o           // idle, and everything is counted
);
  localparam int unsigned OwedW = $clog2(Depth) + 1;

  logic eb_ready, eb_valid, eb_idle, owed_room_q, unused_ready, unused_valid;
  logic malformed, record, bus_error, timeout, unused_done, unused_end, unused_commit;
  logic [31:0] eb_data, reply;
  logic rx_take, tx_take, word_ready;
  logic [OwedW-1:0] owed_q, zeros_q;

  // The first byte in memory is a word's most significant one.
  function automatic logic [31:0] swapped(logic [31:0] word);
    return {word[7:0], word[15:8], word[23:16], word[31:24]};
  endfunction

  etherbone_slave #(
    .Width  (32),
    .Depth  (Depth),
    .Stream (1'b1),
    .Timeout(Timeout)
  ) u_slave (
    .clk_i,
    .rst_ni,
    .rx_valid_i   (rx_valid_i && owed_room_q),
    .rx_ready_o   (eb_ready),
    .rx_data_i    (swapped(rx_data_i)),
    .rx_last_i    (1'b0),
    .rx_verified_i(1'b1),
    .rx_open_i    (1'b1),
    .rx_abort_i   (abort_i),
    .tx_valid_o   (eb_valid),
    .tx_ready_i   (word_ready && zeros_q == '0),
    .tx_data_o    (eb_data),
    .tx_end_o     (unused_end),
    .tx_commit_o  (unused_commit),
    .wb_cyc_o     (wb_o.cyc),
    .wb_stb_o     (wb_o.stb),
    .wb_we_o      (wb_o.we),
    .wb_adr_o     (wb_o.adr),
    .wb_sel_o     (wb_o.sel),
    .wb_dat_o     (wb_o.dat),
    .wb_stall_i   (wb_i.stall),
    .wb_ack_i     (wb_i.ack),
    .wb_err_i     (wb_i.err),
    .wb_dat_i     (wb_i.dat),
    .sdb_address_i(board_bus_pkg::SdbBase),
    .own_mac_i    ('0),
    .own_ip_i     ('0),
    .own_port_i   ('0),
    .frame_done_o (unused_done),
    .malformed_o  (malformed),
    .record_o     (record),
    .operation_o  (operation_o),
    .bus_error_o  (bus_error),
    .timeout_o    (timeout),
    .idle_o       (eb_idle)
  );
  assign rx_ready_o = eb_ready && owed_room_q;
  assign rx_take    = rx_valid_i && rx_ready_o && !abort_i;
  assign tx_take    = tx_valid_o && tx_ready_i;

  // Each word is answered by a word, so the reply's length is known with the request. Words that
  // the engine refuses are answered here with 0: they come before all words that it accepts.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) zeros_q <= '0;
    else zeros_q <= zeros_q + OwedW'(malformed) - OwedW'(zeros_q != '0 && word_ready);
  end
  assign reply = zeros_q != '0 ? '0 : swapped(eb_data);

  // The engine's word is timing-critical, and the writer combines words into beats.
  skid_buffer #(
    .Width(32)
  ) u_word (
    .clk_i,
    .rst_ni,
    .valid_i(eb_valid || zeros_q != '0),
    .ready_o(word_ready),
    .data_i (reply),
    .valid_o(tx_valid_o),
    .ready_i(tx_ready_i),
    .data_o (tx_data_o)
  );

  // One entry per word between request and reply: set if it begins a unit (a read burst or a push).
  fifo #(
    .Width(1),
    .Depth(Depth)
  ) u_owed (
    .clk_i,
    .rst_ni,
    .clear_i(1'b0),
    .valid_i(rx_take),
    .ready_o(unused_ready),
    .data_i (rx_first_i),
    .valid_o(unused_valid),
    .ready_i(tx_take),
    .data_o (tx_first_o),
    .usage_o()
  );
  // Number of outstanding words, and, with those waiting_i for the engine, of promised words. Both
  // are sums of registers: this clock's handshake is critical and only selects.
  logic [OwedW-1:0] owed_left;
  assign owed_left = tx_take ? owed_q - OwedW'(1) : owed_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      owed_q    <= '0;
      promise_o <= '0;
    end else begin
      if (rx_take && !tx_take) owed_q <= owed_q + OwedW'(1);
      if (!rx_take && tx_take) owed_q <= owed_q - OwedW'(1);
      promise_o <= PromiseW'(waiting_i) + PromiseW'(owed_left);
    end
  end
  // One clock late, hence one slot stays free: the engine's complete parser depends on it.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) owed_room_q <= 1'b0;
    else owed_room_q <= owed_q < OwedW'(Depth - 1);
  end
  assign idle_o = eb_idle && owed_q == '0;

  assign in_first_o  = rx_take && rx_first_i;
  assign out_first_o = tx_take && tx_first_o;

  // ---------------------------------------------------------------- counters
  typedef struct packed {
    logic malformed;
    logic record;
    logic bus_error;
    logic timeout;
  } events_t;
  events_t events_q;
  pcie_dma_pkg::service_t service_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      events_q  <= '0;
      service_q <= '0;
    end else begin
      events_q             <= '{malformed, record, bus_error, timeout};
      service_q.malformed  <= service_q.malformed + 32'(events_q.malformed);
      service_q.records    <= service_q.records + 32'(events_q.record);
      service_q.bus_errors <= service_q.bus_errors + 32'(events_q.bus_error);
      service_q.timeouts   <= service_q.timeouts + 32'(events_q.timeout);
    end
  end
  assign service_o = service_q;
  assign rest_o    = idle_o && events_q == '0;

  logic unused;
  assign unused = ^{unused_valid, unused_ready, unused_done, unused_end, unused_commit};
endmodule
