// SPDX-License-Identifier: SHL-2.1
/// 10 Gb/s Ethernet MAC with ARP, ICMP echo, IPv4 and UDP, between an XGMII and a UDP service.
///
/// xgmii_rx -> eth_rx_d64 -> eth_counters; arp_d64, ping_d64 and tx_* -> eth_tx_d64 -> xgmii_tx
///
///   Handshake   receive is pushed and cut-through: see eth_rx_d64; transmit is valid/ready and
///               cut-through: see eth_tx_d64. ask_i, ask_ready_o, answer_o: see arp_d64
///   Latency     from a word on xgmii_rxd_i: 2 cycles to the payload it completes on rx_data_o, and
///               for a byte that waits for the rest of its 8 bytes 1 cycle more, where the frame
///               starts in lane 4 or has a tag at most 2; 5 from the terminate to rx_end_o, 6 where
///               it is in the upper lanes of a frame that starts in lane 4. tx_valid_i to the start
///               on xgmii_txd_o 8 cycles of tx_clk_i
///   Throughput  line rate at every size, gaps of 5 bytes or more
///   Robustness  each rx_start_o gets its rx_end_o whatever comes on the wire, while clk_i runs
///   Clocks      clk_i for what is received and asked, tx_clk_i for what is sent
///   Tags        as eth_rx; what is sent has none
///   Answers     ARP; eight requests may wait, more are counted as busy. Ping, one at a time; those
///               that come meanwhile are counted as busy
///   Parameters  NumAllow 1..16; cfg_* are static
///   Not done    UDP check sums of what is sent, pause frames, link fault signalling, a list of
///               VLANs, multicast, jumbo frames
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

  input  logic                  tx_valid_i,   // tx_*: in tx_clk_i
  output logic                  tx_ready_o,
  input  udp_meta_t             tx_meta_i,
  input  logic                  tx_spoil_i,   // level: the frame gets a wrong FCS
  input  logic [63:0]           tx_data_i,    // the first byte in [7:0]
  output logic                  tx_next_o,    // takes it

  input  arp_pkg::ask_t         ask_i,
  output logic                  ask_ready_o,
  output arp_pkg::answer_t      answer_o,     // strobe: the station has answered

  output eth_counters_t         counters_o,       // of frames; they wrap
  output logic                  verdict_valid_o,  // strobe: a frame has ended
  output eth_verdict_e          verdict_o,        // with it: what became of it
  output logic                  idle_o            // nothing changes until an input does
);
  logic arp_valid, arp_busy, arp_idle, ping_idle, send_idle, tx_idle, unused_sent;
  logic [47:0] arp_mac;
  logic [31:0] arp_ip;
  arp_pkg::answer_t arp_reply;
  logic ping_start, ping_valid, ping_end, ping_good, ping_busy;
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
    .arp_reply_o (arp_reply),
    .ping_start_o (ping_start),
    .ping_valid_o (ping_valid),
    .ping_end_o   (ping_end),
    .ping_good_o  (ping_good),
    .ping_busy_i  (ping_busy),
    .verdict_valid_o,
    .verdict_o,
    .idle_o      (udp_idle)
  );

  // ---------------------------------------------------------------- transmit
  logic arp_send, arp_sent, ping_send, ping_sent, ping_next, ping_done;
  eth_d64_pkg::arp_frame_t arp_frame;
  eth_d64_pkg::ping_t ping;
  logic [63:0] ping_data;
  arp_d64 u_arp (
    .clk_i,
    .rst_ni,
    .req_valid_i(arp_valid),
    .req_mac_i  (arp_mac),
    .req_ip_i   (arp_ip),
    .busy_o     (arp_busy),
    .ask_i,
    .ask_ready_o,
    .reply_i    (arp_reply),
    .answer_o,
    .tx_clk_i,
    .tx_rst_ni,
    .arp_valid_o(arp_send),
    .arp_ready_i(arp_sent),
    .arp_o      (arp_frame),
    .idle_o     (arp_idle)
  );
  ping_d64 u_ping (
    .clk_i,
    .rst_ni,
    .start_i      (ping_start),
    .meta_i       (rx_meta_o),
    .valid_i      (ping_valid),
    .data_i       (rx_data_o),
    .end_i        (ping_end),
    .good_i       (ping_good),
    .busy_o       (ping_busy),
    .tx_clk_i,
    .tx_rst_ni,
    .reply_valid_o(ping_send),
    .reply_ready_i(ping_sent),
    .reply_o      (ping),
    .data_o       (ping_data),
    .next_i       (ping_next),
    .done_i       (ping_done),
    .idle_o       (ping_idle)
  );

  logic out_valid, out_ready, out_last, out_bad;
  logic [3:0]  out_bytes;
  logic [63:0] out;
  eth_tx_d64 u_send (
    .clk_i       (tx_clk_i),
    .rst_ni      (tx_rst_ni),
    .cfg_mac_i,
    .cfg_ip_i,
    .cfg_port_i,
    .tx_valid_i,
    .tx_ready_o,
    .tx_meta_i,
    .tx_spoil_i,
    .tx_data_i,
    .tx_next_o,
    .arp_valid_i (arp_send),
    .arp_ready_o (arp_sent),
    .arp_i       (arp_frame),
    .ping_valid_i(ping_send),
    .ping_ready_o(ping_sent),
    .ping_i      (ping),
    .ping_data_i (ping_data),
    .ping_next_o (ping_next),
    .ping_done_o (ping_done),
    .out_valid_o (out_valid),
    .out_ready_i (out_ready),
    .out_last_o  (out_last),
    .out_bad_o   (out_bad),
    .out_bytes_o (out_bytes),
    .out_o       (out),
    .idle_o      (send_idle)
  );
  xgmii_tx u_tx (
    .clk_i      (tx_clk_i),
    .rst_ni     (tx_rst_ni),
    .in_valid_i (out_valid),
    .in_ready_o (out_ready),
    .in_last_i  (out_last),
    .in_bad_i   (out_bad),
    .in_bytes_i (out_bytes),
    .in_i       (out),
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
    .tx_icmp_i      (ping_end && ping_good),
    .tx_frame_i     (1'b0),
    .counters_o
  );

  assign idle_o = mac_idle && udp_idle && arp_idle && ping_idle && send_idle && tx_idle;

  logic unused;
  assign unused = unused_sent;
endmodule
