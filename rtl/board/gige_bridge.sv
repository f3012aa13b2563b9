// SPDX-License-Identifier: SHL-2.1
/// Etherbone on Gigabit Ethernet as the master of a Wishbone of yours.
///
/// GMII -> gige_udp -> etherbone_udp -> Wishbone, classic cycles: what a LiteX SoC has.
///
///   Clocks      clk_i 125 MHz for everything but the receive pins, which follow gmii_rx_clk_i
///   Handshake   wb_stb_o and all beside it hold until wb_ack_i or wb_err_i, high for one clock
///   Latency     as gige_etherbone, and a clock more an operation: the answer is registered
///   Throughput  one operation in 2 clocks at the most, in 2 + n where the slave takes n
///   Dialect     cfg_dialect_i: Etherbone as published, or LiteEth's
///   Parameters  Timeout clocks until a bus operation is answered err; Admission as etherbone_pkg
///   Not done    an allow-list and counters (gige_etherbone has them), a self-describing bus
module gige_bridge #(
  parameter int unsigned Timeout = 12_500,
  parameter etherbone_pkg::admission_e Admission = etherbone_pkg::ReadsEarly
) (
  input  logic       clk_i,
  input  logic       rst_ni,

  input  logic       gmii_rx_clk_i,
  input  logic [7:0] gmii_rxd_i,
  input  logic       gmii_rx_dv_i,
  input  logic       gmii_rx_er_i,
  output logic [7:0] gmii_txd_o,
  output logic       gmii_tx_en_o,
  output logic       gmii_tx_er_o,

  input  logic [47:0] cfg_mac_i,
  input  logic [31:0] cfg_ip_i,
  input  logic [31:0] cfg_netmask_i,     // all ones: no broadcast address but 255.255.255.255
  input  logic [15:0] cfg_udp_port_i,
  input  logic        cfg_dialect_i,     // 0: as published (OHWR), 1: LiteEth's
  input  logic [15:0] cfg_reply_port_i,  // 0: the request's

  output logic        wb_cyc_o,
  output logic        wb_stb_o,
  output logic        wb_we_o,
  output logic [31:0] wb_adr_o,  // of a byte
  output logic [3:0]  wb_sel_o,
  output logic [31:0] wb_dat_o,
  input  logic        wb_ack_i,
  input  logic        wb_err_i,
  input  logic [31:0] wb_dat_i
);
  logic rx_start, rx_broadcast, rx_valid, rx_end, rx_good, rx_refuse, tx_valid, tx_ready, tx_next;
  eth_pkg::udp_meta_t rx_meta, tx_meta;
  logic [31:0] rx_data, tx_data;
  logic [15:0] tx_sum;

  gige_udp #(
    .NumAllow(1)
  ) u_eth (
    .clk_i,
    .rst_ni,
    .gmii_rx_clk_i,
    .gmii_rxd_i,
    .gmii_rx_dv_i,
    .gmii_rx_er_i,
    .gmii_txd_o,
    .gmii_tx_en_o,
    .gmii_tx_er_o,
    .cfg_mac_i,
    .cfg_ip_i,
    .cfg_netmask_i,
    .cfg_port_i    (cfg_udp_port_i),
    .cfg_allow_i   ('0),
    .rx_start_o    (rx_start),
    .rx_meta_o     (rx_meta),
    .rx_broadcast_o(rx_broadcast),
    .rx_valid_o    (rx_valid),
    .rx_data_o     (rx_data),
    .rx_end_o      (rx_end),
    .rx_good_o     (rx_good),
    .rx_refuse_i   (rx_refuse),
    .tx_valid_i    (tx_valid),
    .tx_ready_o    (tx_ready),
    .tx_meta_i     (tx_meta),
    .tx_sum_i      (tx_sum),
    .tx_data_i     (tx_data),
    .tx_next_o     (tx_next),
    .counters_o    (),
    .verdict_o     (),
    .probe_o       (),
    .probe_tag_o   (),
    .idle_o        ()
  );

  logic stall, ack_q, err_q;
  logic [31:0] dat_q;

  etherbone_udp #(
    .Admission(Admission),
    .Timeout  (Timeout)
  ) u_etherbone (
    .clk_i,
    .rst_ni,
    .lite_i        (cfg_dialect_i),
    .reply_port_i  (cfg_reply_port_i),
    .rx_start_i    (rx_start),
    .rx_meta_i     (rx_meta),
    .rx_broadcast_i(rx_broadcast),
    .rx_valid_i    (rx_valid),
    .rx_data_i     (rx_data),
    .rx_end_i      (rx_end),
    .rx_good_i     (rx_good),
    .rx_refuse_o   (rx_refuse),
    .tx_valid_o    (tx_valid),
    .tx_ready_i    (tx_ready),
    .tx_meta_o     (tx_meta),
    .tx_sum_o      (tx_sum),
    .tx_data_o     (tx_data),
    .tx_next_i     (tx_next),
    .wb_cyc_o,
    .wb_stb_o,
    .wb_we_o,
    .wb_adr_o,
    .wb_sel_o,
    .wb_dat_o,
    .wb_stall_i    (stall),
    .wb_ack_i      (ack_q),
    .wb_err_i      (err_q),
    .wb_dat_i      (dat_q),
    .sdb_address_i ('0),
    .own_mac_i     (cfg_mac_i),
    .own_ip_i      (cfg_ip_i),
    .own_port_i    (cfg_udp_port_i),
    .malformed_o   (),
    .broadcast_o   (),
    .overflow_o    (),
    .record_o      (),
    .bus_error_o   (),
    .timeout_o     (),
    .first_word_o  (),
    .operation_o   (),
    .engine_tag_o  (),
    .whole_o       (),
    .whole_tag_o   (),
    .idle_o        ()
  );

  // Pipelined to classic: an operation is taken in the clock of its end, and answered in the next.
  assign stall = !(wb_ack_i || wb_err_i);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      ack_q <= 1'b0;
      err_q <= 1'b0;
      dat_q <= '0;
    end else begin
      ack_q <= wb_cyc_o && wb_stb_o && wb_ack_i && !wb_err_i;
      err_q <= wb_cyc_o && wb_stb_o && wb_err_i;
      dat_q <= wb_dat_i;
    end
  end
endmodule
