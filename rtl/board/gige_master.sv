// SPDX-License-Identifier: SHL-2.1
/// Etherbone on Gigabit Ethernet as the master of a pipelined Wishbone.
///
/// GMII -> gige_udp -> etherbone_udp -> Wishbone B4, pipelined. gige_etherbone and gige_bridge are
/// built on it.
///
///   Clocks      clk_i 125 MHz for everything but the receive pins, which follow gmii_rx_clk_i
///   Handshake   Wishbone B4 pipelined: wb_stb_o and its operation hold while wb_stall_i is high
///   Latency     last FCS byte on the pins to first preamble byte on the pins: at most 12 cycles
///               for any number of reads of latency-1 slaves (docs/explanation/cores/etherbone.md)
///   Dialect     cfg_dialect_i: Etherbone as published, or LiteEth's
///   Broadcast   probes are answered at 255.255.255.255 and at the broadcast address of the subnet
///               that cfg_netmask_i gives; a broadcast never reads or writes
///   Probes      of gige_etherbone_pkg, with the running number of the received frame
///   Parameters  NumAllow 1..16 entries in the list of allowed sources; Timeout clocks until a bus
///               operation is answered err; Admission as etherbone_pkg
///   Not done    jumbo frames, sending with a VLAN tag, IPv6, DHCP: the address comes from cfg_*_i
module gige_master
  import gige_etherbone_pkg::*;
#(
  parameter int unsigned NumAllow = 1,
  parameter int unsigned Timeout = 12_500,
  parameter etherbone_pkg::admission_e Admission = etherbone_pkg::ReadsEarly
) (
  input logic clk_i,
  input logic rst_ni,

  input  logic       gmii_rx_clk_i,  // from the PHY, 125 MHz, of the gmii_rx* pins
  input  logic [7:0] gmii_rxd_i,     // GMII, as IEEE 802.3
  input  logic       gmii_rx_dv_i,   // a byte of a frame, preamble included
  input  logic       gmii_rx_er_i,   // inside a frame: it is dropped
  output logic [7:0] gmii_txd_o,     // in clk_i, as all gmii_tx*
  output logic       gmii_tx_en_o,   // a byte of a frame, preamble included
  output logic       gmii_tx_er_o,   // low

  input logic [47:0] cfg_mac_i,  // first byte in bits 47:40; all cfg_* are constant
  input logic [31:0] cfg_ip_i,  // IPv4, first byte in bits 31:24
  input logic [31:0] cfg_netmask_i,  // all ones: no broadcast address but 255.255.255.255
  input logic [15:0] cfg_udp_port_i,  // at which Etherbone is served
  input logic        cfg_dialect_i,  // 0: as published (OHWR), 1: LiteEth's
  input logic [15:0] cfg_reply_port_i,  // 0: the request's
  input eth_pkg::allow_t [NumAllow-1:0] cfg_allow_i,  // no entry enabled: everybody is allowed
  input logic [31:0] sdb_address_i,  // of the bus's self-description

  output logic        wb_cyc_o,  // high until the last answer of a bus cycle
  output logic        wb_stb_o,
  output logic        wb_we_o,   // a write of the bytes of wb_sel_o
  output logic [31:0] wb_adr_o,  // of a byte
  output logic [3:0]  wb_sel_o,  // bit n: byte in bits 8n+7:8n
  output logic [31:0] wb_dat_o,  // of a write
  input  logic        wb_stall_i,
  input  logic        wb_ack_i,  // one ack or err for each operation, in order
  input  logic        wb_err_i,  // instead of wb_ack_i: the operation failed
  input  logic [31:0] wb_dat_i,  // of a read, with wb_ack_i

  output eth_pkg::eth_counters_t    counters_o,   // of frames, by what became of them; they wrap
  output etherbone_pkg::events_t    events_o,     // strobes
  output logic [NumProbes-1:0]      probe_o,      // strobes, by probe_e; for simulation
  output logic [NumProbes-1:0][7:0] probe_tag_o,  // running number of the received frame

  output logic idle_o  // nothing changes until an input does
);
  // ---------------------------------------------------------------- Ethernet
  logic rx_start, rx_broadcast, rx_valid, rx_end, rx_good, rx_refuse, tx_valid, tx_ready, tx_next;
  eth_pkg::udp_meta_t rx_meta, tx_meta;
  logic [31:0] rx_data, tx_data;
  logic [15:0] tx_sum;
  logic [eth_pkg::NumEthProbes-1:0] eth_probe;
  logic [eth_pkg::NumEthProbes-1:0][7:0] eth_probe_tag;
  logic eth_idle, eb_idle;

  gige_udp #(
    .NumAllow(NumAllow)
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
    .cfg_port_i (cfg_udp_port_i),
    .cfg_allow_i,
    .rx_start_o (rx_start),
    .rx_meta_o  (rx_meta),
    .rx_broadcast_o(rx_broadcast),
    .rx_valid_o (rx_valid),
    .rx_data_o  (rx_data),
    .rx_end_o   (rx_end),
    .rx_good_o  (rx_good),
    .rx_soon_o  (),
    .rx_refuse_i(rx_refuse),
    .tx_valid_i (tx_valid),
    .tx_ready_o (tx_ready),
    .tx_meta_i  (tx_meta),
    .tx_sum_i   (tx_sum),
    .tx_plain_i (1'b0),
    .tx_spoil_i (1'b0),
    .tx_data_i  (tx_data),
    .tx_next_o  (tx_next),
    .tx_soon_i  (1'b0),
    .ask_i      ('0),
    .ask_ready_o(),
    .answer_o   (),
    .counters_o,
    .verdict_o  (),
    .probe_o    (eth_probe),
    .probe_tag_o(eth_probe_tag),
    .idle_o     (eth_idle)
  );

  // ---------------------------------------------------------------- Etherbone
  logic first_word, operation, whole;
  logic [7:0] engine_tag, whole_tag;

  etherbone_udp #(
    .Admission(Admission),
    .Timeout  (Timeout)
  ) u_etherbone (
    .clk_i,
    .rst_ni,
    .lite_i       (cfg_dialect_i),
    .reply_port_i (cfg_reply_port_i),
    .rx_start_i   (rx_start),
    .rx_meta_i    (rx_meta),
    .rx_broadcast_i(rx_broadcast),
    .rx_valid_i   (rx_valid),
    .rx_data_i    (rx_data),
    .rx_end_i     (rx_end),
    .rx_good_i    (rx_good),
    .rx_refuse_o  (rx_refuse),
    .tx_valid_o   (tx_valid),
    .tx_ready_i   (tx_ready),
    .tx_meta_o    (tx_meta),
    .tx_sum_o     (tx_sum),
    .tx_data_o    (tx_data),
    .tx_next_i    (tx_next),
    .wb_cyc_o,
    .wb_stb_o,
    .wb_we_o,
    .wb_adr_o,
    .wb_sel_o,
    .wb_dat_o,
    .wb_stall_i,
    .wb_ack_i,
    .wb_err_i,
    .wb_dat_i,
    .sdb_address_i,
    .own_mac_i    (cfg_mac_i),
    .own_ip_i     (cfg_ip_i),
    .own_port_i   (cfg_udp_port_i),
    .events_o,
    .first_word_o (first_word),
    .operation_o  (operation),
    .engine_tag_o (engine_tag),
    .whole_o      (whole),
    .whole_tag_o  (whole_tag),
    .idle_o       (eb_idle)
  );

  assign probe_o[MacRxFirst]       = eth_probe[eth_pkg::MacRxFirst];
  assign probe_o[MacRxLast]        = eth_probe[eth_pkg::MacRxLast];
  assign probe_o[MacRxVerdict]     = eth_probe[eth_pkg::MacRxVerdict];
  assign probe_o[EbFirstWord]      = first_word;
  assign probe_o[WbIssue]          = operation;
  assign probe_o[EbReplyWhole]     = whole;
  assign probe_o[MacTxFirst]       = eth_probe[eth_pkg::MacTxFirst];
  assign probe_o[MacTxLast]        = eth_probe[eth_pkg::MacTxLast];
  assign probe_tag_o[MacRxFirst]   = eth_probe_tag[eth_pkg::MacRxFirst];
  assign probe_tag_o[MacRxLast]    = eth_probe_tag[eth_pkg::MacRxLast];
  assign probe_tag_o[MacRxVerdict] = eth_probe_tag[eth_pkg::MacRxVerdict];
  assign probe_tag_o[EbFirstWord]  = engine_tag;
  assign probe_tag_o[WbIssue]      = engine_tag;
  assign probe_tag_o[EbReplyWhole] = whole_tag;
  assign probe_tag_o[MacTxFirst]   = eth_probe_tag[eth_pkg::MacTxFirst];
  assign probe_tag_o[MacTxLast]    = eth_probe_tag[eth_pkg::MacTxLast];

  assign idle_o = eth_idle && eb_idle;
endmodule
