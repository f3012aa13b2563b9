// SPDX-License-Identifier: SHL-2.1
/// Word streams to and from a host through a Cypress FX2LP: fx2_port and the way into clk_i.
///
///   Streams     rx and tx in clk_i: valid/ready, 32-bit words, first byte in bits 31:24
///   Sessions    fx2_open_i (asynchronous level, from the FX2LP's firmware) shows that a program
///               has the device open. When it falls, and when part of a word is dropped as stale,
///               abort_o pulses (rx_valid_o is low then): the stream's service restarts. After a
///               close, words in flight are dropped both ways until rx, tx and the service are
///               empty (in_flight_i, service_idle_i); only then the next open takes effect
///   End         in_flight_i: the service has outstanding words. While it has, or has words to
///               process, no packet to the host is ended (see fx2_port)
///   Latency     bytes of a word on FD to rx_valid_o: 3 cycles of fx2_clk_i and 2..3 of clk_i;
///               tx_valid_i to the first bytes on FD: 2..3 of fx2_clk_i and 2, and 3 to turn around
///   Throughput  that of fx2_port
///   Parameters  those of fx2_port
///   Timing      clocks are unrelated; from fx2_clk_i to clk_i and back: the two async_fifos, and
///               single bits through two registers. fx2_clk_i at most 156 MHz with clk_i of 125 MHz
///               (EarlyPointer of async_fifo): set_max_delay of 0.75 of its period from u_tx's
///               memory
module fx2_stream #(
  parameter int unsigned FdWidth     = 16,
  parameter int unsigned QuietCycles = 8,
  parameter int unsigned ZlpCycles   = 6_000,
  parameter int unsigned StaleCycles = 4_800_000
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

  output logic        rx_valid_o,
  input  logic        rx_ready_i,  // takes rx_data_o, which is held until then
  output logic [31:0] rx_data_o,   // from the host
  input  logic        tx_valid_i,
  output logic        tx_ready_o,  // tx_valid_i and tx_data_i are held until then
  input  logic [31:0] tx_data_i,   // to the host
  output logic        abort_o,
  input  logic        in_flight_i,
  input  logic        service_idle_i,

  output logic stale_o,  // pulses, for counters and probes
  output logic end_o,    // pulses when a packet was ended
  output logic idle_o    // crosses the domains, see async_fifo
);
  logic fx2_rst_n;
  sync_reset u_fx2_reset (.clk_i(fx2_clk_i), .rst_ni, .rst_no(fx2_rst_n));

  // ---------------------------------------------------------------- FX2LP's domain
  (* async_reg = "true" *) logic [1:0] live_sync_q, busy_sync_q;
  logic live_q, busy_q, stale, packet_end, stale_toggle_q, end_toggle_q;
  logic port_rx_valid, port_rx_ready, port_tx_valid, port_tx_ready, port_idle;
  logic [31:0] port_rx_data, port_tx_data;

  always_ff @(posedge fx2_clk_i or negedge fx2_rst_n) begin
    if (!fx2_rst_n) begin
      live_sync_q    <= '0;
      busy_sync_q    <= '0;
      stale_toggle_q <= 1'b0;
      end_toggle_q   <= 1'b0;
    end else begin
      live_sync_q    <= {live_sync_q[0], live_q};
      busy_sync_q    <= {busy_sync_q[0], busy_q};
      stale_toggle_q <= stale_toggle_q ^ stale;
      end_toggle_q   <= end_toggle_q ^ packet_end;
    end
  end

  fx2_port #(
    .FdWidth    (FdWidth),
    .QuietCycles(QuietCycles),
    .ZlpCycles  (ZlpCycles),
    .StaleCycles(StaleCycles)
  ) u_port (
    .clk_i        (fx2_clk_i),
    .rst_ni       (fx2_rst_n),
    .fd_i         (fx2_fd_i),
    .fd_o         (fx2_fd_o),
    .fd_oe_o      (fx2_fd_oe_o),
    .fifoadr_o    (fx2_fifoadr_o),
    .sloe_no      (fx2_sloe_no),
    .slrd_no      (fx2_slrd_no),
    .slwr_no      (fx2_slwr_no),
    .pktend_no    (fx2_pktend_no),
    .flag_empty_ni(fx2_flag_empty_ni),
    .flag_last_ni (fx2_flag_last_ni),
    .flag_full_ni (fx2_flag_full_ni),
    .flag_tight_ni(fx2_flag_tight_ni),
    .live_i       (live_sync_q[1]),
    .busy_i       (busy_sync_q[1]),
    .rx_valid_o   (port_rx_valid),
    .rx_ready_i   (port_rx_ready),
    .rx_data_o    (port_rx_data),
    .tx_valid_i   (port_tx_valid),
    .tx_ready_o   (port_tx_ready),
    .tx_data_i    (port_tx_data),
    .stale_o      (stale),
    .end_o        (packet_end),
    .idle_o       (port_idle)
  );

  // ---------------------------------------------------------------- crossings
  logic rx_valid, rx_ready, tx_valid, tx_ready, rx_settled, tx_settled;

  async_fifo #(
    .Width(32),
    .Depth(16)
  ) u_rx (
    .wclk_i   (fx2_clk_i),
    .wrst_ni  (fx2_rst_n),
    .wvalid_i (port_rx_valid),
    .wready_o (port_rx_ready),
    .wdata_i  (port_rx_data),
    .rclk_i   (clk_i),
    .rrst_ni  (rst_ni),
    .rvalid_o (rx_valid),
    .rready_i (rx_ready),
    .rdata_o  (rx_data_o),
    .settled_o(rx_settled)
  );

  // The service's word is registered before the memory, for the clock rate.
  async_fifo #(
    .Width       (32),
    .Depth       (32),
    .EarlyPointer(1'b1)
  ) u_tx (
    .wclk_i   (clk_i),
    .wrst_ni  (rst_ni),
    .wvalid_i (tx_valid),
    .wready_o (tx_ready),
    .wdata_i  (tx_data_i),
    .rclk_i   (fx2_clk_i),
    .rrst_ni  (fx2_rst_n),
    .rvalid_o (port_tx_valid),
    .rready_i (port_tx_ready),
    .rdata_o  (port_tx_data),
    .settled_o(tx_settled)
  );

  // ---------------------------------------------------------------- clk_i
  (* async_reg = "true" *) logic [1:0] open_q;
  (* async_reg = "true" *) logic [2:0] stale_sync_q, end_sync_q;
  logic open, closing, restart;

  assign open    = open_q[1];
  assign closing = live_q && !open;
  assign stale_o = stale_sync_q[2] ^ stale_sync_q[1];
  assign end_o   = end_sync_q[2] ^ end_sync_q[1];
  assign restart = closing || (stale_o && live_q);

  assign abort_o    = restart;
  assign rx_valid_o = rx_valid && live_q && !restart;
  assign rx_ready   = live_q ? rx_ready_i && !restart : 1'b1;
  assign tx_valid   = tx_valid_i && live_q;
  assign tx_ready_o = live_q ? tx_ready : 1'b1;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      open_q       <= '0;
      stale_sync_q <= '0;
      end_sync_q   <= '0;
      live_q       <= 1'b0;
      busy_q       <= 1'b0;
    end else begin
      open_q       <= {open_q[0], fx2_open_i};
      stale_sync_q <= {stale_sync_q[1:0], stale_toggle_q};
      end_sync_q   <= {end_sync_q[1:0], end_toggle_q};
      if (!open) live_q <= 1'b0;
      else if (!rx_valid && !in_flight_i && service_idle_i) live_q <= 1'b1;
      busy_q <= rx_valid || in_flight_i || tx_valid_i;
    end
  end

  logic synced;
  assign synced = open_q == {2{fx2_open_i}} && live_sync_q == {2{live_q}} &&
                  busy_sync_q == {2{busy_q}} && stale_sync_q == {3{stale_toggle_q}} &&
                  end_sync_q == {3{end_toggle_q}} && live_q == open;
  assign idle_o = synced && !busy_q && !rx_valid && !in_flight_i && !tx_valid_i && rx_settled &&
                  tx_settled && port_idle && fx2_rst_n && !stale && !packet_end;
endmodule
