// SPDX-License-Identifier: SHL-2.1
/// From one XGMII to a queue of packed datagrams in the clock of the memory's bus.
///
/// xgmii_udp -> async_fifo -> nanet_queue
///
///   Clocks      xgmii_rx_clk_i 156.25 MHz for what is received, eth_clk_i for what is sent; clk_i
///               for what is behind the crossing, as fast at least; rst_ni is synchronized into the
///               first here
///   Handshake   beat_*: show-ahead; usage_o counts what is inside, ends_o the ends among them
///   Latency     word that completes a beat on xgmii_rxd_i to the beat: 3 cycles of xgmii_rx_clk_i,
///               5 of clk_i, and what the crossing waits for an edge
///   Throughput  line rate, minimum frames back to back
///   Loss        as nanet_queue
///   Parameters  DataWidth 128..512; Depth of the queue in beats; Stores 0..2
///   Answers     ARP
///   Not done    transmitting UDP, answering ping
module nanet_port_10g
  import nanet_pkg::*;
#(
  parameter  int unsigned DataWidth = 128,
  parameter  int unsigned Depth     = 256,
  parameter  int unsigned Stores    = 0,
  localparam int unsigned UsageW    = $clog2(Depth) + 2
) (
  input  logic        clk_i,
  input  logic        rst_ni,

  input  logic        xgmii_rx_clk_i,
  input  logic [63:0] xgmii_rxd_i,
  input  logic [7:0]  xgmii_rxc_i,
  input  logic        eth_clk_i,
  input  logic        eth_rst_ni,
  output logic [63:0] xgmii_txd_o,
  output logic [7:0]  xgmii_txc_o,

  input  logic [47:0] cfg_mac_i,
  input  logic [31:0] cfg_ip_i,
  input  logic [15:0] cfg_port_i,

  output logic                 beat_valid_o,
  input  logic                 beat_ready_i,
  output entry_e               beat_kind_o,
  output logic [DataWidth-1:0] beat_o,
  output logic [UsageW-1:0]    usage_o,
  output logic [UsageW-1:0]    ends_o,
  output logic                 head_lost_o,
  output logic                 first_o,     // strobe: a datagram's head goes on from the UDP stage
  output logic                 last_o,      // its end enters the queue
  output frames_t              frames_o,
  output logic                 idle_o
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

  nanet_frames #(
    .Echo(1'b0)
  ) u_frames (
    .eth_clk_i  (xgmii_rx_clk_i),
    .eth_rst_ni (rx_rst_n),
    .judged_i   (judged),
    .verdict_i  (verdict),
    .end_i      (rx_end),
    .good_i     (rx_good),
    .echo_lost_i(1'b0),
    .clk_i,
    .rst_ni,
    .frames_o
  );

  // ---------------------------------------------------------------- crossing
  // Head, words and end never come in one cycle.
  entry_t made, crossed;
  logic crossed_valid, unused_ready, settled, queue_idle;
  always_comb begin
    made.kind = EntryData;
    for (int unsigned i = 0; i < 8; i++) made.data[8*i+:8] = rx_data[56-8*i+:8];
    if (rx_start) begin
      made.kind = EntryHead;
      made.data = {rx_meta.ip, rx_meta.port, rx_meta.len};
    end else if (rx_end) begin
      made.kind = EntryEnd;
      made.data = 64'(rx_good);
    end
  end

  async_fifo #(
    .Width($bits(entry_t)),
    .Depth(16)
  ) u_cross (
    .wclk_i   (xgmii_rx_clk_i),
    .wrst_ni  (rx_rst_n),
    .wvalid_i (rx_start || rx_valid || rx_end),
    .wready_o (unused_ready),
    .wdata_i  (made),
    .rclk_i   (clk_i),
    .rrst_ni  (rst_ni),
    .rvalid_o (crossed_valid),
    .rready_i (1'b1),
    .rdata_o  (crossed),
    .settled_o(settled)
  );

  nanet_queue #(
    .DataWidth(DataWidth),
    .WordWidth(64),
    .Depth    (Depth),
    .Stores   (Stores)
  ) u_queue (
    .clk_i,
    .rst_ni,
    .in_valid_i(crossed_valid),
    .in_i      (crossed),
    .beat_valid_o,
    .beat_ready_i,
    .beat_kind_o,
    .beat_o,
    .usage_o,
    .ends_o,
    .head_lost_o,
    .first_o,
    .last_o,
    .idle_o    (queue_idle)
  );

  assign idle_o = eth_idle && settled && queue_idle;

  logic unused;
  assign unused = ^{rx_broadcast, rx_meta.mac, rx_meta.tag, unused_ready, unused_counters};
endmodule
