// SPDX-License-Identifier: SHL-2.1
/// 10 Gb/s Ethernet MAC with ARP, IPv4 and UDP receive, between a 64-bit XGMII and a UDP service.
///
/// xgmii_rx -> eth_rx_d64 -> eth_counters; requests by ARP -> arp_reply_d64 -> xgmii_tx
///
///   Handshake   receive is pushed and cut-through: see eth_rx_d64
///   Latency     from a word on xgmii_rxd_i: 2 cycles to the payload it completes on rx_data_o, and
///               for a byte that waits for the rest of its 8 bytes 1 cycle more, where the frame
///               starts in lane 4 or has a tag at most 2; 5 from the terminate to rx_end_o, 6 where
///               it is in the upper lanes of a frame that starts in lane 4
///   Throughput  line rate at every size, gaps of 5 bytes or more
///   Robustness  each rx_start_o gets its rx_end_o whatever comes on the wire, while clk_i runs
///   Clocks      clk_i for what is received, tx_clk_i for what is sent
///   Tags        as eth_rx; what is sent has none
///   Answers     ARP; eight requests may wait, more are counted as busy
///   Parameters  NumAllow 1..16; cfg_* are static
///   Not done    sending UDP, ping, pause frames, link fault signalling, a list of VLANs,
///               multicast, jumbo frames
module xgmii_udp
  import eth_pkg::*;
#(
  parameter int unsigned NumAllow = 4
) (
  input  logic                  clk_i,  // 156.25 MHz, that of the XGMII's receive side
  input  logic                  rst_ni,

  input  logic [63:0]           xgmii_rxd_i,
  input  logic [7:0]            xgmii_rxc_i,  // bit n: lane n has a control character

  input  logic                  tx_clk_i,     // 156.25 MHz
  input  logic                  tx_rst_ni,    // of tx_clk_i, active low
  output logic [63:0]           xgmii_txd_o,  // lane n in bits 8n+7:8n, in tx_clk_i
  output logic [7:0]            xgmii_txc_o,  // bit n: lane n has a control character

  input  logic [47:0]           cfg_mac_i,
  input  logic [31:0]           cfg_ip_i,
  input  logic [31:0]           cfg_netmask_i,  // all ones: no subnet broadcast address
  input  logic [15:0]           cfg_port_i,
  input  allow_t [NumAllow-1:0] cfg_allow_i,  // no entry enabled: everybody is allowed

  output logic                  rx_start_o,
  output udp_meta_t             rx_meta_o,
  output logic                  rx_broadcast_o,  // beside rx_meta_o
  output logic                  rx_valid_o,      // 8 bytes of payload, never stalled
  output logic [63:0]           rx_data_o,
  output logic                  rx_end_o,
  output logic                  rx_good_o,    // with rx_end_o: all checks hold
  input  logic                  rx_refuse_i,  // level: a datagram that begins is dropped

  output eth_counters_t         counters_o,       // of frames; they wrap
  output logic                  verdict_valid_o,  // strobe: a frame has ended
  output eth_verdict_e          verdict_o,        // with it: what became of it
  output logic                  idle_o            // nothing changes until an input does
);
  logic arp_valid, arp_busy, arp_idle, tx_idle, unused_sent;
  logic [47:0] arp_mac;
  logic [31:0] arp_ip;
  logic word_valid, word_first, word_last, word_tag, end_valid, end_length, end_fcs;
  logic mac_idle, udp_idle;
  logic [3:0]  word_bytes;
  logic [63:0] word;

  xgmii_rx u_mac (
    .clk_i,
    .rst_ni,
    .xgmii_rxd_i,
    .xgmii_rxc_i,
    .word_valid_o(word_valid),
    .word_first_o(word_first),
    .word_last_o (word_last),
    .word_tag_o  (word_tag),
    .word_bytes_o(word_bytes),
    .word_o      (word),
    .end_valid_o (end_valid),
    .end_length_o(end_length),
    .end_fcs_o   (end_fcs),
    .idle_o      (mac_idle)
  );

  eth_rx_d64 #(
    .NumAllow(NumAllow)
  ) u_rx (
    .clk_i,
    .rst_ni,
    .cfg_mac_i,
    .cfg_ip_i,
    .cfg_netmask_i,
    .cfg_port_i,
    .cfg_allow_i,
    .word_valid_i(word_valid),
    .word_first_i(word_first),
    .word_last_i (word_last),
    .word_tag_i  (word_tag),
    .word_bytes_i(word_bytes),
    .word_i      (word),
    .end_valid_i (end_valid),
    .end_length_i(end_length),
    .end_fcs_i   (end_fcs),
    .rx_start_o,
    .rx_meta_o,
    .rx_broadcast_o,
    .rx_valid_o,
    .rx_data_o,
    .rx_end_o,
    .rx_good_o,
    .rx_refuse_i,
    .arp_valid_o (arp_valid),
    .arp_mac_o   (arp_mac),
    .arp_ip_o    (arp_ip),
    .arp_busy_i  (arp_busy),
    .verdict_valid_o,
    .verdict_o,
    .idle_o      (udp_idle)
  );

  logic tx_valid, tx_ready, tx_last;
  logic [3:0]  tx_bytes;
  logic [63:0] tx_word;
  arp_reply_d64 u_arp (
    .req_clk_i  (clk_i),
    .req_rst_ni (rst_ni),
    .req_valid_i(arp_valid),
    .req_mac_i  (arp_mac),
    .req_ip_i   (arp_ip),
    .busy_o     (arp_busy),
    .clk_i      (tx_clk_i),
    .rst_ni     (tx_rst_ni),
    .cfg_mac_i,
    .cfg_ip_i,
    .out_valid_o(tx_valid),
    .out_ready_i(tx_ready),
    .out_last_o (tx_last),
    .out_bytes_o(tx_bytes),
    .out_o      (tx_word),
    .idle_o     (arp_idle)
  );

  xgmii_tx u_tx (
    .clk_i      (tx_clk_i),
    .rst_ni     (tx_rst_ni),
    .in_valid_i (tx_valid),
    .in_ready_o (tx_ready),
    .in_last_i  (tx_last),
    .in_bytes_i (tx_bytes),
    .in_i       (tx_word),
    .xgmii_txd_o,
    .xgmii_txc_o,
    .sent_o     (unused_sent),
    .idle_o     (tx_idle)
  );

  // Frames sent are in another clock and not counted; a good request has its reply.
  eth_counters u_counters (
    .clk_i,
    .rst_ni,
    .verdict_valid_i(verdict_valid_o),
    .verdict_i      (verdict_o),
    .tx_arp_i       (arp_valid),
    .tx_icmp_i      (1'b0),
    .tx_frame_i     (1'b0),
    .counters_o
  );

  assign idle_o = mac_idle && udp_idle && arp_idle && tx_idle;

  logic unused;
  assign unused = unused_sent;
endmodule
