// SPDX-License-Identifier: SHL-2.1
/// From one XGMII to datagrams in the clock of the memory's bus.
///
/// xgmii_udp -> nanet_cross; nanet_transmit -> xgmii_udp
///
///   Clocks      xgmii_rx_clk_i 156.25 MHz for what is received, eth_clk_i for what is sent; clk_i
///               for what is behind the crossing, as fast at least; rst_ni is synchronized into the
///               first here
///   Handshake   arrival_o is never stalled
///   Latency     last byte of a word on xgmii_rxd_i to the word: 3 cycles of xgmii_rx_clk_i, 2 of
///               clk_i, and what the crossing waits for an edge
///   Throughput  line rate, minimum frames back to back
///   Answers     ARP and ping
///   Sending     as nanet_port, with eth_clk_i 156.25 MHz
///   Parameters  Send 0, 1; DataWidth of what is sent, 64..512; SendDepth of its buffer in beats
///   Not done    sending datagrams back
module nanet_port_10g
  import nanet_pkg::*;
#(
  parameter bit          Send      = 1'b0,
  parameter int unsigned DataWidth = 128,
  parameter int unsigned SendDepth = 2 * SendBytes / (DataWidth / 8)
) (
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

  input  departure_t           departure_i,  // clk_i, as nanet_transmit
  input  eth_pkg::udp_meta_t   meta_i,       // with departure_i.head_valid
  input  logic [DataWidth-1:0] data_i,       // with departure_i.beat_valid
  output departed_t            departed_o,   // room of the port's buffer, in clk_i
  input  arp_pkg::ask_t        ask_i,        // clk_i, strobes
  output arp_pkg::answer_t     answer_o,     // clk_i, a strobe: the station has answered
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
  logic [63:0] rx_data, tx_data;
  logic tx_valid, tx_ready, tx_spoil, tx_next, ask_ready, send_idle;
  eth_pkg::udp_meta_t tx_meta;
  arp_pkg::ask_t ask;
  arp_pkg::answer_t answer;
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
    .tx_valid_i     (tx_valid),
    .tx_ready_o     (tx_ready),
    .tx_meta_i      (tx_meta),
    .tx_spoil_i     (tx_spoil),
    .tx_data_i      (tx_data),
    .tx_next_o      (tx_next),
    .ask_i          (ask),
    .ask_ready_o    (ask_ready),
    .answer_o       (answer),
    .counters_o     (unused_counters),
    .verdict_valid_o(judged),
    .verdict_o      (verdict),
    .idle_o         (eth_idle)
  );

  if (Send) begin : gen_send
    logic transmit_settled, asks_settled;
    nanet_transmit #(
      .DataWidth(DataWidth),
      .WordWidth(64),
      .Depth    (SendDepth)
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
      .eth_clk_i    (xgmii_rx_clk_i),
      .eth_rst_ni   (rx_rst_n),
      .port_ask_o   (ask),
      .port_ready_i (ask_ready),
      .port_answer_i(answer),
      .settled_o    (asks_settled)
    );
    assign send_idle = transmit_settled && asks_settled;
  end else begin : gen_no_send
    assign tx_valid   = 1'b0;
    assign tx_spoil   = 1'b0;
    assign tx_meta    = '0;
    assign tx_data    = '0;
    assign departed_o = '0;
    assign ask        = '0;
    assign answer_o   = '0;
    assign send_idle  = 1'b1;
    logic unused_send;
    assign unused_send = ^{departure_i, meta_i, data_i, ask_i, tx_ready, tx_next, ask_ready,
                           answer};
  end

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

  assign idle_o = eth_idle && settled && send_idle;

  logic unused;
  assign unused = ^{rx_broadcast, unused_counters};
endmodule
