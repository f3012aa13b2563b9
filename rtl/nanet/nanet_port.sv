// SPDX-License-Identifier: SHL-2.1
/// From one GMII to datagrams in the clock of the memory's bus.
///
/// gige_udp -> nanet_cross, and udp_echo or nanet_transmit
///
///   Clocks      eth_clk_i 125 MHz for the MAC; clk_i for what is behind the crossing, 50 MHz at
///               least
///   Handshake   arrival_o is never stalled
///   Latency     last byte of a word on gmii_rxd_i to the word: 4 cycles of eth_clk_i, 2 of clk_i,
///               and what the crossing waits for an edge
///   Throughput  line rate, minimum frames back to back
///   Answers     ARP and ping; with Echo and echo_i datagrams too, as udp_echo: they go to memory
///               all the same. What is not answered for want of room is counted
///   Sending     with Send a program's datagrams, as nanet_transmit, and ARP requests, as arp_ask:
///               one that finds eight waiting is dropped
///   Parameters  Echo, Send 0, 1, not both; DataWidth of what is sent
///   Not done    sending what a program posted and echoes by one port
module nanet_port
  import nanet_pkg::*;
#(
  parameter bit          Echo      = 1'b0,
  parameter bit          Send      = 1'b0,
  parameter int unsigned DataWidth = 128
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        eth_clk_i,
  input  logic        eth_rst_ni,  // of eth_clk_i, active low

  input  logic        gmii_rx_clk_i,  // from the PHY, 125 MHz, of gmii_rx*
  input  logic [7:0]  gmii_rxd_i,
  input  logic        gmii_rx_dv_i,  // a byte of a frame, preamble included
  input  logic        gmii_rx_er_i,  // inside a frame: it is dropped
  output logic [7:0]  gmii_txd_o,    // gmii_tx*: in eth_clk_i
  output logic        gmii_tx_en_o,  // a byte of a frame, preamble included
  output logic        gmii_tx_er_o,  // low

  input  logic [47:0] cfg_mac_i,   // first byte in bits 47:40; cfg_* are constant
  input  logic [31:0] cfg_ip_i,    // IPv4, first byte in bits 31:24
  input  logic [15:0] cfg_port_i,  // UDP port to which datagrams come
  input  logic        echo_i,      // clk_i

  output arrival_t    arrival_o,

  input  departure_t           departure_i,  // clk_i, as nanet_transmit
  input  eth_pkg::udp_meta_t   meta_i,       // with departure_i.head_valid
  input  logic [DataWidth-1:0] data_i,       // with departure_i.beat_valid
  output departed_t            departed_o,   // room of the port's buffer, in clk_i
  input  arp_pkg::ask_t        ask_i,        // clk_i, strobes
  output arp_pkg::answer_t     answer_o,     // clk_i, a strobe: the station has answered
  output logic        idle_o                 // nothing changes until an input does
);
  if (Echo && Send) begin : gen_kind_check
    $error("nanet_port: Echo and Send are both 1");
  end

  // ---------------------------------------------------------------- Ethernet
  logic rx_start, rx_broadcast, rx_valid, rx_end, rx_good, eth_idle;
  logic tx_valid, tx_ready, tx_next, tx_spoil, echo_idle, echo_lost, rx_soon, tx_soon;
  logic ask_ready;
  arp_pkg::ask_t ask;
  arp_pkg::answer_t answer;
  logic [15:0] tx_sum;
  logic [31:0] tx_data;
  eth_pkg::udp_meta_t rx_meta, tx_meta;
  eth_pkg::eth_verdict_e verdict;
  eth_pkg::eth_counters_t unused_counters;
  logic [eth_pkg::NumEthProbes-1:0] probe;
  logic [eth_pkg::NumEthProbes-1:0][7:0] unused_tag;
  logic [31:0] rx_data;

  gige_udp #(
    .NumAllow (1),
    .AnyLength(1'b1),
    .Ask      (Send)
  ) u_eth (
    .clk_i        (eth_clk_i),
    .rst_ni       (eth_rst_ni),
    .gmii_rx_clk_i,
    .gmii_rxd_i,
    .gmii_rx_dv_i,
    .gmii_rx_er_i,
    .gmii_txd_o,
    .gmii_tx_en_o,
    .gmii_tx_er_o,
    .cfg_mac_i,
    .cfg_ip_i,
    .cfg_netmask_i('1),
    .cfg_port_i,
    .cfg_allow_i  ('0),
    .rx_start_o   (rx_start),
    .rx_meta_o    (rx_meta),
    .rx_broadcast_o(rx_broadcast),
    .rx_valid_o   (rx_valid),
    .rx_data_o    (rx_data),
    .rx_end_o     (rx_end),
    .rx_good_o    (rx_good),
    .rx_soon_o    (rx_soon),
    .rx_refuse_i  (1'b0),
    .tx_valid_i   (tx_valid),
    .tx_ready_o   (tx_ready),
    .tx_meta_i    (tx_meta),
    .tx_sum_i     (tx_sum),
    .tx_plain_i   (Send),
    .tx_spoil_i   (tx_spoil),
    .tx_data_i    (tx_data),
    .tx_next_o    (tx_next),
    .tx_soon_i    (tx_soon),
    .ask_i        (ask),
    .ask_ready_o  (ask_ready),
    .answer_o     (answer),
    .counters_o   (unused_counters),
    .verdict_o    (verdict),
    .probe_o      (probe),
    .probe_tag_o  (unused_tag),
    .idle_o       (eth_idle)
  );

  if (Echo) begin : gen_echo
    logic on, on_settled, full, service_idle;
    sync_bits #(
      .Width(1)
    ) u_on (
      .clk_i    (eth_clk_i),
      .rst_ni   (eth_rst_ni),
      .d_i      (echo_i),
      .q_o      (on),
      .settled_o(on_settled)
    );
    udp_echo u_echo (
      .clk_i         (eth_clk_i),
      .rst_ni        (eth_rst_ni),
      .rx_start_i    (rx_start && on),
      .rx_meta_i     (rx_meta),
      .rx_broadcast_i(rx_broadcast),
      .rx_valid_i    (rx_valid),
      .rx_data_i     (rx_data),
      .rx_end_i      (rx_end),
      .rx_good_i     (rx_good),
      .rx_soon_i     (rx_soon),
      .full_o        (full),
      .lost_o        (echo_lost),
      .tx_valid_o    (tx_valid),
      .tx_ready_i    (tx_ready),
      .tx_meta_o     (tx_meta),
      .tx_sum_o      (tx_sum),
      .tx_data_o     (tx_data),
      .tx_next_i     (tx_next),
      .tx_soon_o     (tx_soon),
      .idle_o        (service_idle)
    );
    assign echo_idle = service_idle && on_settled;
    logic unused_full;
    assign unused_full = full;
    assign tx_spoil = 1'b0;
  end else if (Send) begin : gen_send
    logic transmit_settled, asks_settled;
    nanet_transmit #(
      .DataWidth(DataWidth)
    ) u_transmit (
      .clk_i,
      .rst_ni,
      .departure_i,
      .meta_i,
      .data_i,
      .departed_o,
      .eth_clk_i,
      .eth_rst_ni,
      .tx_valid_o(tx_valid),
      .tx_ready_i(tx_ready),
      .tx_meta_o (tx_meta),
      .tx_data_o (tx_data),
      .tx_next_i (tx_next),
      .tx_spoil_o(tx_spoil),
      .settled_o (transmit_settled)
    );
    nanet_asks u_asks (
      .clk_i,
      .rst_ni,
      .ask_i,
      .answer_o,
      .eth_clk_i,
      .eth_rst_ni,
      .port_ask_o   (ask),
      .port_ready_i (ask_ready),
      .port_answer_i(answer),
      .settled_o    (asks_settled)
    );
    assign echo_idle = transmit_settled && asks_settled;
    assign tx_sum    = '0;
    assign tx_soon   = 1'b0;
    assign echo_lost = 1'b0;
    logic unused_echo;
    assign unused_echo = ^{echo_i, rx_soon};
  end else begin : gen_no_echo
    assign tx_valid    = 1'b0;
    assign tx_soon     = 1'b0;
    assign tx_spoil    = 1'b0;
    assign tx_meta     = '0;
    assign tx_sum      = '0;
    assign tx_data     = '0;
    assign echo_idle   = 1'b1;
    assign echo_lost   = 1'b0;
    logic unused_echo;
    assign unused_echo = ^{echo_i, rx_soon, tx_ready, tx_next};
  end

  if (!Send) begin : gen_no_send
    assign departed_o = '0;
    assign ask        = '0;
    assign answer_o   = '0;
    logic unused_send;
    assign unused_send = ^{departure_i, meta_i, data_i, ask_i, ask_ready, answer};
  end

  logic settled;
  nanet_cross #(
    .Echo(Echo)
  ) u_cross (
    .eth_clk_i,
    .eth_rst_ni,
    .start_i    (rx_start),
    .meta_i     (rx_meta),
    .valid_i    (rx_valid),
    .data_i     (64'(rx_data)),
    .end_i      (rx_end),
    .good_i     (rx_good),
    .judged_i   (probe[eth_pkg::MacRxVerdict]),
    .verdict_i  (verdict),
    .echo_lost_i(echo_lost),
    .clk_i,
    .rst_ni,
    .arrival_o,
    .settled_o  (settled)
  );

  assign idle_o = eth_idle && echo_idle && settled;

  logic unused;
  assign unused = ^{rx_broadcast, unused_tag, unused_counters, probe};
endmodule
