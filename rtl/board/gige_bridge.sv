// SPDX-License-Identifier: SHL-2.1
/// Etherbone on Gigabit Ethernet as the master of a Wishbone of yours.
///
/// gige_master (GMII -> UDP -> Etherbone) -> Wishbone, classic cycles: what a LiteX SoC has.
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

  input  logic       gmii_rx_clk_i,  // from the PHY, 125 MHz, of the gmii_rx* pins
  input  logic [7:0] gmii_rxd_i,     // GMII, as IEEE 802.3
  input  logic       gmii_rx_dv_i,   // a byte of a frame, preamble included
  input  logic       gmii_rx_er_i,   // inside a frame: it is dropped
  output logic [7:0] gmii_txd_o,     // in clk_i, as all gmii_tx*
  output logic       gmii_tx_en_o,   // a byte of a frame, preamble included
  output logic       gmii_tx_er_o,   // low

  input  logic [47:0] cfg_mac_i,         // first byte in bits 47:40; all cfg_* are constant
  input  logic [31:0] cfg_ip_i,          // IPv4, first byte in bits 31:24
  input  logic [31:0] cfg_netmask_i,     // all ones: no broadcast address but 255.255.255.255
  input  logic [15:0] cfg_udp_port_i,    // at which Etherbone is served
  input  logic        cfg_dialect_i,     // 0: as published (OHWR), 1: LiteEth's
  input  logic [15:0] cfg_reply_port_i,  // 0: the request's

  output logic        wb_cyc_o,  // high with wb_stb_o, and between operations of a bus cycle
  output logic        wb_stb_o,
  output logic        wb_we_o,   // a write of the bytes of wb_sel_o
  output logic [31:0] wb_adr_o,  // of a byte
  output logic [3:0]  wb_sel_o,  // bit n: byte in bits 8n+7:8n
  output logic [31:0] wb_dat_o,  // of a write
  input  logic        wb_ack_i,
  input  logic        wb_err_i,
  input  logic [31:0] wb_dat_i  // of a read, with wb_ack_i
);
  logic stall, ack_q, err_q;
  logic [31:0] dat_q;

  gige_master #(
    .NumAllow (1),
    .Timeout  (Timeout),
    .Admission(Admission)
  ) u_master (
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
    .cfg_udp_port_i,
    .cfg_dialect_i,
    .cfg_reply_port_i,
    .cfg_allow_i  ('0),
    .sdb_address_i('0),
    .wb_cyc_o,
    .wb_stb_o,
    .wb_we_o,
    .wb_adr_o,
    .wb_sel_o,
    .wb_dat_o,
    .wb_stall_i   (stall),
    .wb_ack_i     (ack_q),
    .wb_err_i     (err_q),
    .wb_dat_i     (dat_q),
    .counters_o   (),
    .events_o     (),
    .probe_o      (),
    .probe_tag_o  (),
    .idle_o       ()
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
