// SPDX-License-Identifier: SHL-2.1
/// From one GMII to a queue of packed datagrams in the clock of the memory's bus.
///
/// gige_udp -> async_fifo -> nanet_guard -> nanet_store, 0 to 2 of them -> nanet_pack -> block_fifo
///
///   Clocks      eth_clk_i 125 MHz for the MAC; clk_i for what is behind the crossing, 50 MHz at
///               least
///   Handshake   beat_*: show-ahead; usage_o counts what is inside, ends_o the ends among them
///   Latency     last byte of a beat on gmii_rxd_i to the beat: 4 cycles of eth_clk_i, 5 of clk_i,
///               and what the crossing waits for an edge; with stores see nanet_store
///   Throughput  line rate, minimum frames back to back
///   Loss        what finds no room in the queue is dropped whole: head_lost_o, or an end that says
///               overflow
///   Answers     ARP and ping; with Echo and echo_i datagrams too, as udp_echo: they go to memory all
///               the same. What is not answered for want of room is counted
///   Parameters  DataWidth 64..512; Depth of the queue in beats; Stores 0..2 store-and-forward
///               stages; Echo 0, 1
///   Not done    transmitting UDP of a program
module nanet_port
  import nanet_pkg::*;
#(
  parameter  int unsigned DataWidth = 128,
  parameter  int unsigned Depth     = 256,
  parameter  int unsigned Stores    = 0,
  parameter  bit          Echo      = 1'b0,
  localparam int unsigned UsageW    = $clog2(Depth) + 2
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        eth_clk_i,
  input  logic        eth_rst_ni,

  input  logic        gmii_rx_clk_i,
  input  logic [7:0]  gmii_rxd_i,
  input  logic        gmii_rx_dv_i,
  input  logic        gmii_rx_er_i,
  output logic [7:0]  gmii_txd_o,
  output logic        gmii_tx_en_o,
  output logic        gmii_tx_er_o,

  input  logic [47:0] cfg_mac_i,
  input  logic [31:0] cfg_ip_i,
  input  logic [15:0] cfg_port_i,
  input  logic        echo_i,               // clk_i

  output logic                 beat_valid_o,
  input  logic                 beat_ready_i,
  output entry_e               beat_kind_o,
  output logic [DataWidth-1:0] beat_o,
  output logic [UsageW-1:0]    usage_o,
  output logic [UsageW-1:0]    ends_o,
  output logic                 head_lost_o,
  output logic                 first_o,     // strobe: a datagram's head goes on from the UDP stage
  output logic                 last_o,      // its end enters the queue
  output logic [15:0]          frames_good_o,
  output logic [15:0]          frames_bad_o,
  output logic [15:0]          frames_other_o,
  output logic [15:0]          echo_lost_o,
  output logic                 idle_o
);
  if (Stores > 2) begin : gen_stores_check
    $error("nanet_port: Stores is %0d, legal is 0..2", Stores);
  end

  // ---------------------------------------------------------------- Ethernet
  logic rx_start, rx_broadcast, rx_valid, rx_end, rx_good, eth_idle;
  logic tx_valid, tx_ready, tx_next, echo_idle;
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
    .AnyLength(1'b1)
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
    .rx_refuse_i  (1'b0),
    .tx_valid_i   (tx_valid),
    .tx_ready_o   (tx_ready),
    .tx_meta_i    (tx_meta),
    .tx_sum_i     (tx_sum),
    .tx_data_i    (tx_data),
    .tx_next_o    (tx_next),
    .counters_o   (unused_counters),
    .verdict_o    (verdict),
    .probe_o      (probe),
    .probe_tag_o  (unused_tag),
    .idle_o       (eth_idle)
  );

  if (Echo) begin : gen_echo
    logic on, on_settled, full, lost, service_idle;
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
      .full_o        (full),
      .lost_o        (lost),
      .tx_valid_o    (tx_valid),
      .tx_ready_i    (tx_ready),
      .tx_meta_o     (tx_meta),
      .tx_sum_o      (tx_sum),
      .tx_data_o     (tx_data),
      .tx_next_i     (tx_next),
      .idle_o        (service_idle)
    );
    assign echo_idle = service_idle && on_settled;
    gray_counter u_lost (
      .clk_i  (eth_clk_i),
      .rst_ni (eth_rst_ni),
      .event_i(lost),
      .rclk_i (clk_i),
      .rrst_ni(rst_ni),
      .count_o(echo_lost_o)
    );
    logic unused_full;
    assign unused_full = full;
  end else begin : gen_no_echo
    assign tx_valid    = 1'b0;
    assign tx_meta     = '0;
    assign tx_sum      = '0;
    assign tx_data     = '0;
    assign echo_idle   = 1'b1;
    assign echo_lost_o = '0;
    logic unused_echo;
    assign unused_echo = ^{echo_i, tx_ready, tx_next};
  end

  logic judged, good, bad;
  assign judged = probe[eth_pkg::MacRxVerdict];
  assign good   = rx_end && rx_good;
  assign bad    = judged && verdict inside {eth_pkg::VerdictOverflow, eth_pkg::VerdictLength,
                                            eth_pkg::VerdictFcs, eth_pkg::VerdictIp,
                                            eth_pkg::VerdictL4};

  for (genvar i = 0; i < 3; i++) begin : gen_count
    logic [15:0] count;
    logic        strobe;
    assign strobe = i == 0 ? good : i == 1 ? bad : judged && !bad && !good;
    gray_counter u_count (
      .clk_i  (eth_clk_i),
      .rst_ni (eth_rst_ni),
      .event_i(strobe),
      .rclk_i (clk_i),
      .rrst_ni(rst_ni),
      .count_o(count)
    );
  end
  assign frames_good_o  = gen_count[0].count;
  assign frames_bad_o   = gen_count[1].count;
  assign frames_other_o = gen_count[2].count;

  // ---------------------------------------------------------------- crossing
  // Head, words and end never come in one cycle.
  entry_t made, crossed;
  logic crossed_valid, unused_ready, settled;
  always_comb begin
    made.kind = EntryData;
    made.data = {32'd0, rx_data};
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
    .wclk_i   (eth_clk_i),
    .wrst_ni  (eth_rst_ni),
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

  // ---------------------------------------------------------------- stages
  logic [Stores:0] valid, ready, stage_idle;
  entry_t [Stores:0] entry;

  nanet_guard u_guard (
    .clk_i,
    .rst_ni,
    .in_valid_i (crossed_valid),
    .in_i       (crossed),
    .out_valid_o(valid[0]),
    .out_ready_i(ready[0]),
    .out_o      (entry[0]),
    .lost_o     (head_lost_o),
    .idle_o     (stage_idle[0])
  );
  for (genvar i = 0; i < int'(Stores); i++) begin : gen_store
    nanet_store u_store (
      .clk_i,
      .rst_ni,
      .in_valid_i (valid[i]),
      .in_ready_o (ready[i]),
      .in_i       (entry[i]),
      .out_valid_o(valid[i+1]),
      .out_ready_i(ready[i+1]),
      .out_o      (entry[i+1]),
      .idle_o     (stage_idle[i+1])
    );
  end

  // The UDP stage ends behind the first store, where there is one.
  localparam int unsigned Udp = Stores == 0 ? 0 : 1;
  assign first_o = valid[Udp] && ready[Udp] && entry[Udp].kind == EntryHead;

  logic packed_valid, packed_ready, pack_idle;
  entry_e packed_kind;
  logic [DataWidth-1:0] packed_beat;
  nanet_pack #(
    .DataWidth(DataWidth)
  ) u_pack (
    .clk_i,
    .rst_ni,
    .in_valid_i (valid[Stores]),
    .in_ready_o (ready[Stores]),
    .in_i       (entry[Stores]),
    .out_valid_o(packed_valid),
    .out_ready_i(packed_ready),
    .out_kind_o (packed_kind),
    .out_o      (packed_beat),
    .idle_o     (pack_idle)
  );

  block_fifo #(
    .Width(DataWidth + 2),
    .Depth(Depth)
  ) u_queue (
    .clk_i,
    .rst_ni,
    .valid_i(packed_valid),
    .ready_o(packed_ready),
    .data_i ({packed_kind, packed_beat}),
    .valid_o(beat_valid_o),
    .ready_i(beat_ready_i),
    .data_o ({beat_kind_o, beat_o})
  );

  logic put, take, put_end, take_end;
  logic [UsageW-1:0] usage_q, ends_q;
  assign put      = packed_valid && packed_ready;
  assign take     = beat_valid_o && beat_ready_i;
  assign put_end  = put && packed_kind == EntryEnd;
  assign take_end = take && beat_kind_o == EntryEnd;
  assign last_o   = put_end;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      usage_q <= '0;
      ends_q  <= '0;
    end else begin
      if (put != take) usage_q <= put ? usage_q + 1'b1 : usage_q - 1'b1;
      if (put_end != take_end) ends_q <= put_end ? ends_q + 1'b1 : ends_q - 1'b1;
    end
  end
  assign usage_o = usage_q;
  assign ends_o  = ends_q;

  assign idle_o = eth_idle && echo_idle && settled && (&stage_idle) && pack_idle && !beat_valid_o &&
                  usage_q == '0;

  logic unused;
  assign unused = ^{rx_broadcast, rx_meta.mac, rx_meta.tag, unused_ready,
                    unused_tag, unused_counters, probe};
endmodule
