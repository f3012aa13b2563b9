// SPDX-License-Identifier: SHL-2.1
/// From one XGMII to datagrams in the clock of the memory's bus.
///
/// xgmii_udp -> nanet_cross
///
///   Clocks      xgmii_rx_clk_i 156.25 MHz for what is received, eth_clk_i for what is sent; clk_i
///               for what is behind the crossing, as fast at least; rst_ni is synchronized into the
///               first here
///   Handshake   arrival_o is never stalled
///   Latency     last byte of a word on xgmii_rxd_i to the word: 3 cycles of xgmii_rx_clk_i, 2 of
///               clk_i, and what the crossing waits for an edge
///   Throughput  line rate, minimum frames back to back
///   Answers     ARP
///   Not done    transmitting UDP, answering ping
module nanet_port_10g
  import nanet_pkg::*;
(
  input  logic        clk_i,
  input  logic        rst_ni,

  input  logic        xgmii_rx_clk_i,
  input  logic [63:0] xgmii_rxd_i,
  input  logic [7:0]  xgmii_rxc_i,  // bit n: lane n has a control character
  input  logic        eth_clk_i,
  input  logic        eth_rst_ni,   // of eth_clk_i, active low
  output logic [63:0] xgmii_txd_o,  // in eth_clk_i, lane n in bits 8n+7:8n
  output logic [7:0]  xgmii_txc_o,  // bit n: lane n has a control character

  input  logic [47:0] cfg_mac_i,   // first byte in bits 47:40; cfg_* are constant
  input  logic [31:0] cfg_ip_i,    // IPv4, first byte in bits 31:24
  input  logic [15:0] cfg_port_i,  // UDP port to which datagrams come

  output arrival_t    arrival_o,
  output logic        idle_o  // nothing changes until an input does
);
  logic rx_rst_n;
  sync_reset u_reset (
    .clk_i (xgmii_rx_clk_i),
    .rst_ni,
    .rst_no(rx_rst_n)
  );

  // ---------------------------------------------------------------- Ethernet
  logic rx_start, rx_broadcast, rx_valid, rx_end, rx_good, judged, eth_idle;
  logic [63:0] rx_data;
  eth_pkg::udp_meta_t rx_meta;
  eth_pkg::eth_verdict_e verdict;
  eth_pkg::eth_counters_t unused_counters;

  xgmii_udp #(
    .NumAllow(1)
  ) u_eth (
    .clk_i          (xgmii_rx_clk_i),
    .rst_ni         (rx_rst_n),
    .xgmii_rxd_i,
    .xgmii_rxc_i,
    .tx_clk_i       (eth_clk_i),
    .tx_rst_ni      (eth_rst_ni),
    .xgmii_txd_o,
    .xgmii_txc_o,
    .cfg_mac_i,
    .cfg_ip_i,
    .cfg_netmask_i  ('1),
    .cfg_port_i,
    .cfg_allow_i    ('0),
    .rx_start_o     (rx_start),
    .rx_meta_o      (rx_meta),
    .rx_broadcast_o (rx_broadcast),
    .rx_valid_o     (rx_valid),
    .rx_data_o      (rx_data),
    .rx_end_o       (rx_end),
    .rx_good_o      (rx_good),
    .rx_refuse_i    (1'b0),
    .counters_o     (unused_counters),
    .verdict_valid_o(judged),
    .verdict_o      (verdict),
    .idle_o         (eth_idle)
  );

  logic [63:0] word;
  logic settled;
  for (genvar i = 0; i < 8; i++) begin : gen_byte
    assign word[8*i+:8] = rx_data[56-8*i+:8];
  end
  nanet_cross u_cross (
    .eth_clk_i  (xgmii_rx_clk_i),
    .eth_rst_ni (rx_rst_n),
    .start_i    (rx_start),
    .meta_i     (rx_meta),
    .valid_i    (rx_valid),
    .data_i     (word),
    .end_i      (rx_end),
    .good_i     (rx_good),
    .judged_i   (judged),
    .verdict_i  (verdict),
    .echo_lost_i(1'b0),
    .clk_i,
    .rst_ni,
    .arrival_o,
    .settled_o  (settled)
  );

  assign idle_o = eth_idle && settled;

  logic unused;
  assign unused = ^{rx_broadcast, unused_counters};
endmodule
