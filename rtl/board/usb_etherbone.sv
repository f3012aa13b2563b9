// SPDX-License-Identifier: SHL-2.1
/// Device: Wishbone slaves on USB 2.0, through an FX2LP's slave FIFOs and Etherbone as a stream.
///
/// FX2LP pins -> fx2_stream -> etherbone_slave -> board_bus: RAM, SDB table, ECA time, TLU.
///
///   Clocks      fx2_clk_i (IFCLK, 48 MHz) for the pins, clk_i (125 MHz) for all else
///   Stream      one Etherbone header or probe after fx2_open_i rises, then records without end
///   Latency     docs/explanation/cores/usb.md
///   Parameters  Timeout clocks until a bus operation is answered err; those of fx2_stream;
///               SilentSlave 1 adds a slave that never answers, to test just that
///   Not done    control registers: counters are on status_*_o only; message interrupts
module usb_etherbone
  import usb_etherbone_pkg::*;
#(
  parameter int unsigned Timeout = 12_500,
  parameter int unsigned FdWidth = 16,
  parameter int unsigned ZlpCycles = 6_000,
  parameter int unsigned StaleCycles = 4_800_000,
  parameter bit SilentSlave = 1'b0,
  parameter int unsigned NumTriggers = 4
) (
  input logic clk_i,
  input logic rst_ni,

  input  logic               fx2_clk_i,
  input  logic [FdWidth-1:0] fx2_fd_i,           // all fx2_* but fx2_open_i are in fx2_clk_i
  output logic [FdWidth-1:0] fx2_fd_o,           // the first byte of a bus word in bits 7:0
  output logic               fx2_fd_oe_o,        // drives fx2_fd_o onto FD
  output logic [        1:0] fx2_fifoadr_o,      // 0: endpoint 2, from the host; 2: endpoint 6
  output logic               fx2_sloe_no,        // low: the FX2LP drives FD
  output logic               fx2_slrd_no,        // low: the word on FD is taken
  output logic               fx2_slwr_no,        // low: the word on FD is written
  output logic               fx2_pktend_no,      // low: the begun packet to the host is ended
  input  logic               fx2_flag_empty_ni,  // low: endpoint 2 is empty
  input  logic               fx2_flag_last_ni,   // low: endpoint 2 has one bus word or none
  input  logic               fx2_flag_full_ni,   // low: endpoint 6 is full
  input  logic               fx2_flag_tight_ni,  // low: endpoint 6 has room for one or none
  input  logic               fx2_open_i,

  input logic [63:0] time_ns_i,             // TAI in ns
  input logic [NumTriggers-1:0] trigger_i,  // asynchronous; edges are latched, a channel a bit

  output logic [NumProbes-1:0]      probe_o,      // strobes, by probe_e; for simulation
  output logic [NumProbes-1:0][7:0] probe_tag_o,  // packets to the host that were ended before

  output logic [31:0] status_words_in_o,       // words of the stream taken; all status_* wrap
  output logic [31:0] status_words_out_o,      // words of replies given
  output logic [31:0] status_ends_o,           // packets to the host ended
  output logic [31:0] status_restarts_o,       // times that the stream began anew
  output logic [31:0] status_eb_malformed_o,   // words at the stream's start that are no header
  output logic [31:0] status_eb_records_o,     // Etherbone records executed
  output logic [31:0] status_eb_bus_errors_o,  // operations answered err
  output logic [31:0] status_eb_timeouts_o,    // bus cycles given up after Timeout

  output logic idle_o  // nothing changes until an input does
);
  // ---------------------------------------------------------------- USB
  logic rx_valid, rx_ready, tx_valid, tx_ready, restart, in_flight, stale, packet_end;
  logic usb_idle, eb_idle, bus_idle;
  logic [31:0] rx_data, tx_data;

  fx2_stream #(
    .FdWidth    (FdWidth),
    .ZlpCycles  (ZlpCycles),
    .StaleCycles(StaleCycles)
  ) u_usb (
    .clk_i,
    .rst_ni,
    .fx2_clk_i,
    .fx2_fd_i,
    .fx2_fd_o,
    .fx2_fd_oe_o,
    .fx2_fifoadr_o,
    .fx2_sloe_no,
    .fx2_slrd_no,
    .fx2_slwr_no,
    .fx2_pktend_no,
    .fx2_flag_empty_ni,
    .fx2_flag_last_ni,
    .fx2_flag_full_ni,
    .fx2_flag_tight_ni,
    .fx2_open_i,
    .rx_valid_o    (rx_valid),
    .rx_ready_i    (rx_ready),
    .rx_data_o     (rx_data),
    .tx_valid_i    (tx_valid),
    .tx_ready_o    (tx_ready),
    .tx_data_i     (tx_data),
    .abort_o       (restart),
    .in_flight_i   (in_flight),
    .service_idle_i(eb_idle),
    .stale_o       (stale),
    .end_o         (packet_end),
    .idle_o        (usb_idle)
  );

  // ---------------------------------------------------------------- Etherbone
  logic cyc, stb, we, stall, ack, err;
  logic [31:0] adr, dat_w, dat_r;
  logic [3:0] sel;
  logic malformed, record, operation, bus_error, timeout, frame_done, tx_end, tx_commit;

  etherbone_slave #(
    .Stream (1'b1),
    .Timeout(Timeout)
  ) u_etherbone (
    .clk_i,
    .rst_ni,
    .rx_valid_i   (rx_valid),
    .rx_ready_o   (rx_ready),
    .rx_data_i    (rx_data),
    .rx_last_i    (1'b0),
    .rx_verified_i(1'b1),
    .rx_open_i    (1'b0),
    .rx_abort_i   (restart),
    .tx_valid_o   (tx_valid),
    .tx_ready_i   (tx_ready),
    .tx_data_o    (tx_data),
    .tx_end_o     (tx_end),
    .tx_commit_o  (tx_commit),
    .wb_cyc_o     (cyc),
    .wb_stb_o     (stb),
    .wb_we_o      (we),
    .wb_adr_o     (adr),
    .wb_sel_o     (sel),
    .wb_dat_o     (dat_w),
    .wb_stall_i   (stall),
    .wb_ack_i     (ack),
    .wb_err_i     (err),
    .wb_dat_i     (dat_r),
    .sdb_address_i(board_bus_pkg::SdbBase),
    .own_mac_i    ('0),
    .own_ip_i     ('0),
    .own_port_i   ('0),
    .frame_done_o (frame_done),
    .malformed_o  (malformed),
    .record_o     (record),
    .operation_o  (operation),
    .bus_error_o  (bus_error),
    .timeout_o    (timeout),
    .idle_o       (eb_idle)
  );

  // Each word in makes one word out; only a refused header makes none.
  logic word_in, word_out;
  logic [5:0] owed_q;
  assign word_in   = rx_valid && rx_ready;
  assign word_out  = tx_valid && tx_ready;
  assign in_flight = owed_q != '0;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) owed_q <= '0;
    else owed_q <= owed_q + 6'(word_in && !malformed) - 6'(word_out);
  end

  // ---------------------------------------------------------------- Wishbone
  board_bus #(
    .CtrlSlave  (1'b0),
    .SilentSlave(SilentSlave),
    .NumTriggers(NumTriggers)
  ) u_bus (
    .clk_i,
    .rst_ni,
    .time_ns_i,
    .trigger_i,
    .wb_i  ({cyc, stb, we, adr, sel, dat_w}),
    .wb_o  ({stall, ack, err, dat_r}),
    .ctrl_o(),
    .ctrl_i('0),
    .idle_o(bus_idle)
  );

  // ---------------------------------------------------------------- counters and probes
  typedef struct packed {
    logic word_in;
    logic word_out;
    logic packet_end;
    logic restart;
    logic malformed;
    logic record;
    logic bus_error;
    logic timeout;
  } events_t;
  events_t events_q;
  logic [7:0][31:0] count_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      events_q <= '0;
      count_q  <= '0;
    end else begin
      events_q <= '{word_in, word_out, packet_end, restart, malformed, record, bus_error, timeout};
      for (int unsigned i = 0; i < 8; i++) count_q[i] <= count_q[i] + 32'(events_q[i]);
    end
  end
  assign {status_words_in_o, status_words_out_o, status_ends_o, status_restarts_o,
          status_eb_malformed_o, status_eb_records_o, status_eb_bus_errors_o,
          status_eb_timeouts_o} = count_q;

  logic [7:0] tag_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) tag_q <= '0;
    else tag_q <= tag_q + 8'(packet_end);
  end
  always_comb begin
    probe_o             = '0;
    probe_o[UsbWordIn]  = word_in;
    probe_o[WbIssue]    = operation;
    probe_o[UsbWordOut] = word_out;
    probe_o[UsbEnd]     = packet_end;
  end
  assign probe_tag_o = {NumProbes{tag_q}};

  assign idle_o = usb_idle && eb_idle && bus_idle && events_q == '0 && !in_flight;

  logic unused;
  assign unused = ^{frame_done, tx_end, tx_commit, stale};
endmodule
