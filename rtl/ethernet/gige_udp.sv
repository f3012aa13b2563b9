// SPDX-License-Identifier: SHL-2.1
/// Gigabit Ethernet MAC with ARP, ICMP echo, IPv4 and UDP, between one GMII and one UDP service.
///
///   Handshake   see docs/explanation/architecture.md, "UDP stack to a UDP service". Receive is
///               pushed and cut-through; transmit is valid/ready, tx_meta_i and tx_sum_i are used
///               in place and must hold until tx_ready_o, which pulses after the headers and before
///               the first tx_next_o. rx_refuse_i counts in the cycle before rx_start_o
///   Ordering    datagrams in, datagrams out in their order; ARP and ICMP replies fall in between
///   Latency     aligned clocks of one frequency, from the cycle with the byte on gmii_rxd_i: 4 to
///               the word it completes, 5 from the last FCS byte to rx_end_o; at any phase at most
///               that and less than one cycle less. 1 from tx_valid_i to the first preamble byte on
///               gmii_txd_o (asserted: tests/unit/ethernet)
///   Throughput  line rate both ways, minimum frames back to back
///   Broadcast   UDP to our port is delivered from broadcast addresses too, with rx_broadcast_o;
///               the service decides what of it to answer. Other IPv4 is not answered there
///   Tags        one IEEE 802.1Q tag is ignored, as eth_rx; what is sent has none
///   Robustness  each rx_start_o gets its rx_end_o whatever the wire does, also if its clock stops
///   Parameters  NumAllow 1..16 entries in the list of allowed sources; AnyLength 1: payload of any
///               length, its last word filled up with what follows; Ask 1: MAC addresses are asked
///               for, as arp_ask; cfg_* are static
///   Not done    10 and 100 Mb/s, pause frames, a list of VLANs, multicast, IPv4 options and
///               fragments, IPv6, MDIO. Replies go where requests came from
module gige_udp
  import eth_pkg::*;
#(
  parameter int unsigned NumAllow  = 4,
  parameter bit          AnyLength = 1'b0,
  parameter bit          Ask       = 1'b0
) (
  input  logic                          clk_i,  // 125 MHz, also the transmit clock
  input  logic                          rst_ni,

  input  logic                          gmii_rx_clk_i,  // from the PHY, 125 MHz, of gmii_rx*
  input  logic [7:0]                    gmii_rxd_i,
  input  logic                          gmii_rx_dv_i,  // a byte of a frame, preamble included
  input  logic                          gmii_rx_er_i,  // inside a frame: its FCS counts as wrong
  output logic [7:0]                    gmii_txd_o,
  output logic                          gmii_tx_en_o,  // in clk_i: a byte of a frame
  output logic                          gmii_tx_er_o,  // low

  input  logic [47:0]                   cfg_mac_i,
  input  logic [31:0]                   cfg_ip_i,
  input  logic [31:0]                   cfg_netmask_i,  // all ones: no subnet broadcast address
  input  logic [15:0]                   cfg_port_i,
  input  allow_t [NumAllow-1:0]         cfg_allow_i,  // no entry enabled: everybody is allowed

  output logic                          rx_start_o,
  output udp_meta_t                     rx_meta_o,
  output logic                          rx_broadcast_o,  // beside rx_meta_o
  output logic                          rx_valid_o,      // a word of payload, never stalled
  output logic [31:0]                   rx_data_o,       // the first byte is the highest
  output logic                          rx_end_o,
  output logic                          rx_good_o,  // with rx_end_o: all checks hold
  output logic                          rx_soon_o,  // a good rx_end_o is due in 2 cycles
  input  logic                          rx_refuse_i,

  input  logic                          tx_valid_i,
  output logic                          tx_ready_o,
  input  udp_meta_t                     tx_meta_i,
  input  logic [15:0]                   tx_sum_i,
  input  logic                          tx_plain_i,  // as eth_tx, and tx_spoil_i: 0 without them
  input  logic                          tx_spoil_i,
  input  logic [31:0]                   tx_data_i,  // the next word, shown ahead
  output logic                          tx_next_o,
  input  logic                          tx_soon_i,  // as eth_tx: of the frame of rx_soon_o

  input  arp_pkg::ask_t                 ask_i,        // as arp_ask; 0 without Ask
  output logic                          ask_ready_o,  // takes ask_i
  output arp_pkg::answer_t              answer_o,     // strobe: the station has answered

  output eth_counters_t                 counters_o,   // they wrap
  output eth_verdict_e                  verdict_o,    // with the probe MacRxVerdict
  output logic [NumEthProbes-1:0]       probe_o,      // indexed by eth_probe_e
  output logic [NumEthProbes-1:0][7:0]  probe_tag_o,  // running number of the frame
  output logic                          idle_o        // nothing changes until an input does
);
  // Clock crossing
  logic       in_valid, in_lost, in_dv, in_er, rx_settled;
  logic [7:0] in_data;

  gmii_rx_cdc u_rx_cdc (
    .clk_i,
    .rst_ni,
    .gmii_rx_clk_i,
    .gmii_rxd_i,
    .gmii_rx_dv_i,
    .gmii_rx_er_i,
    .rx_valid_o(in_valid),
    .rx_lost_o (in_lost),
    .rx_dv_o   (in_dv),
    .rx_er_o   (in_er),
    .rx_data_o (in_data),
    .settled_o (rx_settled)
  );

  // Receive
  logic         arp_pending, arp_done, arp_we, icmp_pending, icmp_done, icmp_we;
  logic         asking;
  logic [7:0]   arp_tag, icmp_tag;
  logic [10:0]  icmp_len;
  arp_pkg::byte_t rx_byte;
  logic [16:0]  icmp_sum;
  logic [15:0]  icmp_csum;
  logic         verdict_valid, rx_first, rx_last, rx_idle;
  eth_verdict_e verdict;
  logic [7:0]   rx_tag, verdict_tag;

  eth_rx #(
    .NumAllow (NumAllow),
    .AnyLength(AnyLength)
  ) u_rx (
    .clk_i,
    .rst_ni,
    .cfg_mac_i,
    .cfg_ip_i,
    .cfg_netmask_i,
    .cfg_port_i,
    .cfg_allow_i,
    .in_valid_i     (in_valid),
    .in_lost_i      (in_lost),
    .in_dv_i        (in_dv),
    .in_er_i        (in_er),
    .in_data_i      (in_data),
    .rx_start_o,
    .rx_meta_o,
    .rx_broadcast_o,
    .rx_valid_o,
    .rx_data_o,
    .rx_end_o,
    .rx_good_o,
    .rx_soon_o,
    .rx_refuse_i,
    .arp_pending_o  (arp_pending),
    .arp_done_i     (arp_done && !asking),
    .arp_tag_o      (arp_tag),
    .arp_we_o       (arp_we),
    .icmp_pending_o (icmp_pending),
    .icmp_done_i    (icmp_done),
    .icmp_tag_o     (icmp_tag),
    .icmp_len_o     (icmp_len),
    .icmp_sum_o     (icmp_sum),
    .icmp_csum_o    (icmp_csum),
    .icmp_we_o      (icmp_we),
    .byte_o         (rx_byte),
    .verdict_valid_o(verdict_valid),
    .verdict_o      (verdict),
    .first_o        (rx_first),
    .last_o         (rx_last),
    .tag_o          (rx_tag),
    .verdict_tag_o  (verdict_tag),
    .idle_o         (rx_idle)
  );

  // What an answer repeats from its request: bytes 16..31 of an ARP frame, all of an ICMP one.
  logic [7:0]  arp_mem_q [16];
  logic [7:0]  arp_data_q;
  logic [3:0]  arp_addr;
  logic [10:0] icmp_addr;
  logic [7:0]  icmp_data;

  // Written a cycle late, for the clock rate: answers are begun long after.
  logic        arp_we_q, icmp_we_q;
  logic [10:0] buffer_waddr_q;
  logic [7:0]  buffer_wdata_q;
  always_ff @(posedge clk_i) begin
    arp_we_q       <= arp_we;
    icmp_we_q      <= icmp_we;
    buffer_waddr_q <= rx_byte.pos;
    buffer_wdata_q <= rx_byte.data;
  end

  always_ff @(posedge clk_i) begin
    if (arp_we_q) arp_mem_q[buffer_waddr_q[3:0]] <= buffer_wdata_q;
    arp_data_q <= arp_mem_q[arp_addr];
  end

  ram_1r1w #(
    .Width(8),
    .Depth(2048)
  ) u_icmp_mem (
    .clk_i,
    .we_i   (icmp_we_q),
    .waddr_i(buffer_waddr_q),
    .wdata_i(buffer_wdata_q),
    .re_i   (1'b1),
    .raddr_i(icmp_addr),
    .rdata_o(icmp_data)
  );

  // Requests
  logic       ask_select, ask_idle;
  logic [7:0] ask_data;
  if (Ask) begin : gen_ask
    arp_ask u_ask (
      .clk_i,
      .rst_ni,
      .cfg_ip_i,
      .ask_i,
      .ask_ready_o,
      .answer_o,
      .byte_i         (rx_byte),
      .verdict_valid_i(verdict_valid),
      .verdict_i      (verdict),
      .busy_i         (arp_pending),
      .pending_o      (asking),
      .done_i         (arp_done),
      .addr_i         (arp_addr),
      .select_o       (ask_select),
      .data_o         (ask_data),
      .idle_o         (ask_idle)
    );
  end else begin : gen_no_ask
    assign asking         = 1'b0;
    assign ask_select     = 1'b0;
    assign ask_data       = '0;
    assign ask_idle       = 1'b1;
    assign ask_ready_o    = 1'b0;
    assign answer_o       = '0;
    logic unused_ask;
    assign unused_ask = ^{ask_i, rx_byte.valid};
  end

  // Transmit
  logic       tx_first, tx_last, tx_idle;
  logic [7:0] tx_tag;

  eth_tx u_tx (
    .clk_i,
    .rst_ni,
    .gmii_txd_o,
    .gmii_tx_en_o,
    .cfg_mac_i,
    .cfg_ip_i,
    .cfg_port_i,
    .tx_valid_i,
    .tx_ready_o,
    .tx_meta_i,
    .tx_sum_i,
    .tx_plain_i,
    .tx_spoil_i,
    .tx_data_i,
    .tx_next_o,
    .tx_soon_i,
    .tx_soon_tag_i(rx_tag),
    .arp_valid_i (arp_pending || asking),
    .arp_ask_i   (asking),
    .arp_done_o  (arp_done),
    .arp_tag_i   (arp_tag),
    .arp_addr_o  (arp_addr),
    .arp_data_i  (ask_select ? ask_data : arp_data_q),
    .icmp_valid_i(icmp_pending),
    .icmp_done_o (icmp_done),
    .icmp_tag_i  (icmp_tag),
    .icmp_len_i  (icmp_len),
    .icmp_sum_i  (icmp_sum),
    .icmp_csum_i (icmp_csum),
    .icmp_addr_o (icmp_addr),
    .icmp_data_i (icmp_data),
    .first_o     (tx_first),
    .last_o      (tx_last),
    .tag_o       (tx_tag),
    .idle_o      (tx_idle)
  );
  assign gmii_tx_er_o = 1'b0;

  eth_counters u_counters (
    .clk_i,
    .rst_ni,
    .verdict_valid_i(verdict_valid),
    .verdict_i      (verdict),
    .tx_arp_i       (arp_done && !asking),
    .tx_icmp_i      (icmp_done),
    .tx_frame_i     (tx_last),
    .counters_o
  );

  always_comb begin
    probe_o                   = '0;
    probe_tag_o               = '0;
    probe_o[MacRxFirst]       = rx_first;
    probe_tag_o[MacRxFirst]   = rx_tag;
    probe_o[MacRxLast]        = rx_last;
    probe_tag_o[MacRxLast]    = rx_tag;
    probe_o[MacRxVerdict]     = verdict_valid;
    probe_tag_o[MacRxVerdict] = verdict_tag;
    probe_o[MacTxFirst]       = tx_first;
    probe_tag_o[MacTxFirst]   = tx_tag;
    probe_o[MacTxLast]        = tx_last;
    probe_tag_o[MacTxLast]    = tx_tag;
  end

  assign verdict_o = verdict;

  assign idle_o = rst_ni && rx_settled && rx_idle && tx_idle && ask_idle;
endmodule
