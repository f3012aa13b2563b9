// SPDX-License-Identifier: SHL-2.1
/// Bench top: gige_udp with udp_echo, which sends every good datagram back, broadcast ones too.
///
///   Service     what it has no room for is refused
///   Checks      the rules of the service interface, as assertions
///   Clocks      aligned_i puts gige_udp's receive clock on clk_i, edge for edge
module gige_udp_echo
  import eth_pkg::*;
(
  input  logic                         clk_i,
  input  logic                         rst_ni,
  input  logic                         aligned_i,
  input  logic                         phy_clk_i,
  output logic                         gmii_rx_clk_o,
  input  logic [7:0]                   gmii_rxd_i,
  input  logic                         gmii_rx_dv_i,
  input  logic                         gmii_rx_er_i,
  output logic [7:0]                   gmii_txd_o,
  output logic                         gmii_tx_en_o,
  output logic                         gmii_tx_er_o,
  input  logic [47:0]                  cfg_mac_i,
  input  logic [31:0]                  cfg_ip_i,
  input  logic [31:0]                  cfg_netmask_i,
  input  logic [15:0]                  cfg_port_i,
  input  logic [3:0]                   cfg_allow_enable_i,
  input  logic [3:0][31:0]             cfg_allow_ip_i,
  input  logic [3:0][31:0]             cfg_allow_mask_i,
  input  logic                         refuse_i,
  input  logic                         hold_i,  // service answers nothing while high
  output logic                         rx_start_o,
  output logic                         rx_valid_o,
  output logic [31:0]                  rx_data_o,
  output logic                         rx_end_o,
  output logic                         rx_good_o,
  output udp_meta_t                    rx_meta_o,
  output logic                         rx_broadcast_o,
  output logic                         tx_valid_o,
  output eth_counters_t                counters_o,
  output logic [NumEthProbes-1:0]      probe_o,
  output logic [NumEthProbes-1:0][7:0] probe_tag_o,
  output logic                         idle_o
);
  assign gmii_rx_clk_o = aligned_i ? clk_i : phy_clk_i;

  allow_t [3:0] allow;
  always_comb begin
    for (int i = 0; i < 4; i++) begin
      allow[i] = '{enable: cfg_allow_enable_i[i], ip: cfg_allow_ip_i[i], mask: cfg_allow_mask_i[i]};
    end
  end

  logic        rx_soon, tx_soon;
  logic        full, echo_valid, tx_valid, tx_ready, tx_next, echo_lost, echo_idle;
  udp_meta_t   tx_meta;
  logic [15:0] tx_sum;
  logic [31:0] tx_data;

  gige_udp u_dut (
    .clk_i, .rst_ni,
    .gmii_rx_clk_i(gmii_rx_clk_o),
    .gmii_rxd_i, .gmii_rx_dv_i, .gmii_rx_er_i, .gmii_txd_o, .gmii_tx_en_o, .gmii_tx_er_o,
    .cfg_mac_i, .cfg_ip_i, .cfg_netmask_i, .cfg_port_i,
    .cfg_allow_i(allow),
    .rx_start_o, .rx_meta_o, .rx_broadcast_o, .rx_valid_o, .rx_data_o, .rx_end_o, .rx_good_o,
    .rx_soon_o(rx_soon),
    .rx_refuse_i(refuse_i || full),
    .tx_valid_i(tx_valid),
    .tx_ready_o(tx_ready),
    .tx_meta_i(tx_meta),
    .tx_sum_i(tx_sum),
    .tx_plain_i(1'b0),
    .tx_spoil_i(1'b0),
    .tx_data_i(tx_data),
    .tx_next_o(tx_next),
    .tx_soon_i(tx_soon && !hold_i),
    .ask_i('0),
    .ask_ready_o(), .answer_o(),
    .counters_o, .probe_o, .probe_tag_o, .idle_o
  );
  assign tx_valid_o = tx_valid;

  udp_echo #(
    .Pending(32)
  ) u_echo (
    .clk_i, .rst_ni,
    .rx_start_i(rx_start_o), .rx_meta_i(rx_meta_o), .rx_broadcast_i(1'b0),
    .rx_valid_i(rx_valid_o), .rx_data_i(rx_data_o), .rx_end_i(rx_end_o), .rx_good_i(rx_good_o),
    .rx_soon_i(rx_soon), .tx_soon_o(tx_soon),
    .full_o(full), .lost_o(echo_lost),
    .tx_valid_o(echo_valid), .tx_ready_i(tx_ready), .tx_meta_o(tx_meta), .tx_sum_o(tx_sum),
    .tx_data_o(tx_data), .tx_next_i(tx_next), .idle_o(echo_idle)
  );
  assign tx_valid = echo_valid && !hold_i;

  // What the rules are about
  udp_meta_t   open_meta_q;
  logic        open_q;
  int unsigned open_words_q, send_words_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      open_q       <= 1'b0;
      open_words_q <= 0;
      send_words_q <= 0;
    end else begin
      if (rx_start_o) begin
        open_q       <= 1'b1;
        open_meta_q  <= rx_meta_o;
        open_words_q <= 0;
      end
      if (rx_valid_o) open_words_q <= open_words_q + 1;
      if (rx_end_o) open_q <= 1'b0;
      if (tx_valid && tx_ready) send_words_q <= 32'(tx_meta.len) / 4;
      if (tx_next) send_words_q <= send_words_q - 1;
    end
  end

  // The rules of the interface
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      assert (!echo_lost) else $fatal(1, "a start though the service is full");
      assert (!(echo_idle && tx_valid)) else $fatal(1, "the service is idle with a reply");
      assert (!(rx_start_o && open_q)) else $fatal(1, "rx_start inside a datagram");
      assert (!(rx_end_o && !open_q)) else $fatal(1, "rx_end without rx_start");
      assert (!(rx_valid_o && !open_q)) else $fatal(1, "word outside a datagram");
      assert (!(rx_valid_o && open_words_q >= 32'(open_meta_q.len) / 4))
        else $fatal(1, "more words than rx_meta.len says");
      assert (!(rx_end_o && rx_good_o && open_words_q != 32'(open_meta_q.len) / 4))
        else $fatal(1, "good datagram with missing words");
      assert (!(tx_ready && !tx_valid)) else $fatal(1, "tx_ready without tx_valid");
      assert (!(tx_next && send_words_q == 0)) else $fatal(1, "tx_next beyond the payload");
      assert (!(tx_valid && tx_ready && send_words_q != 0))
        else $fatal(1, "payload not all popped");
      assert (!(idle_o && (open_q || gmii_tx_en_o || tx_valid))) else $fatal(1, "idle while busy");
    end
  end
endmodule
