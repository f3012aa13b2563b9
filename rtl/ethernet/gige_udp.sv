// SPDX-License-Identifier: SHL-2.1
/// Gigabit Ethernet MAC with ARP, ICMP echo, IPv4 and UDP, between one GMII and one UDP service.
///
///   Handshake   see docs/explanation/architecture.md, "UDP stack to a UDP service". Receive is
///               pushed and cut-through; transmit is valid/ready, tx_meta_i and tx_sum_i are used
///               in place and must hold until tx_ready_o, which pulses after the headers and before
///               the first tx_next_o
///   Parameters  NumAllow 1..16 entries in the list of allowed sources
module gige_udp
  import eth_pkg::*;
#(
  parameter int unsigned NumAllow = 4
) (
  input  logic                          clk_i,          // 125 MHz, also the transmit clock
  input  logic                          rst_ni,

  input  logic                          gmii_rx_clk_i,
  input  logic [7:0]                    gmii_rxd_i,
  input  logic                          gmii_rx_dv_i,
  input  logic                          gmii_rx_er_i,
  output logic [7:0]                    gmii_txd_o,
  output logic                          gmii_tx_en_o,
  output logic                          gmii_tx_er_o,

  input  logic [47:0]                   cfg_mac_i,
  input  logic [31:0]                   cfg_ip_i,
  input  logic [15:0]                   cfg_port_i,
  input  allow_t [NumAllow-1:0]         cfg_allow_i,    // no entry enabled: everybody is allowed

  output logic                          rx_start_o,
  output udp_meta_t                     rx_meta_o,
  output logic                          rx_valid_o,
  output logic [31:0]                   rx_data_o,
  output logic                          rx_end_o,
  output logic                          rx_good_o,
  input  logic                          rx_refuse_i,

  input  logic                          tx_valid_i,
  output logic                          tx_ready_o,
  input  udp_meta_t                     tx_meta_i,
  input  logic [15:0]                   tx_sum_i,
  input  logic [31:0]                   tx_data_i,
  output logic                          tx_next_o,

  output eth_counters_t                 counters_o,
  output logic [NumEthProbes-1:0]       probe_o,        // indexed by eth_probe_e
  output logic [NumEthProbes-1:0][7:0]  probe_tag_o,
  output logic                          idle_o          // nothing changes until an input does
);
endmodule
