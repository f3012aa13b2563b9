// SPDX-License-Identifier: SHL-2.1
/// The links of the RDMA network interface, from serdes words to packets, and counters of their
/// faults.
///
///   Clocks      link_clk_i for everything but bench_i, bad_o and invalid_o, which are of clk_i
///   Handshake   rx_*, tx_*, stored_i, room_o: as link_port, one receiver, NumHosts ids to send to
///   Counters    bad_o: packets with a wrong check sum, an EDB, no end or no room (overflow_i);
///               invalid_o: invalid words. Modulo 2^16; 0 for links that do not exist
///   Latency     as link_port; a counter follows its event after the crossing of gray_counter
///   Throughput  a word a cycle of link_clk_i, each way, on each link
///   Parameters  NumHosts 2..8, NumLinks 1..4; the others as link_port
///   Not done    several links as one: link_bundle
module rdma_ni_links
  import link_pkg::*;
#(
  parameter int unsigned NumHosts       = 8,
  parameter int unsigned NumLinks       = 1,
  parameter int unsigned TxDepth        = 512,
  parameter bit          CreditInPacket = 1'b0,
  parameter int unsigned CreditWords    = 128,
  parameter int unsigned RefreshWords   = 64,
  parameter int unsigned InitWords      = 1024,
  parameter int unsigned AlignWords     = 1024
) (
  input  logic clk_i,
  input  logic rst_ni,
  input  logic link_clk_i,
  input  logic link_rst_ni,
  input  logic bench_i,
  output logic [3:0][15:0] bad_o,
  output logic [3:0][15:0] invalid_o,

  input  logic [32*NumLinks-1:0] serdes_rx_data_i,
  input  logic [4*NumLinks-1:0]  serdes_rx_k_i,
  input  logic [NumLinks-1:0]    serdes_signal_i,
  output logic [32*NumLinks-1:0] serdes_tx_data_o,
  output logic [4*NumLinks-1:0]  serdes_tx_k_o,

  output logic [NumLinks-1:0]    up_o,
  output logic [NumLinks-1:0]    rx_valid_o,
  output flit_t [NumLinks-1:0]   rx_flit_o,
  input  count_t [NumLinks-1:0]  stored_i,
  input  logic [NumLinks-1:0]    overflow_i,
  output count_t [NumLinks-1:0][NumHosts-1:0] room_o,
  input  logic [NumLinks-1:0]    tx_valid_i,
  output logic [NumLinks-1:0]    tx_ready_o,
  input  flit_t [NumLinks-1:0]   tx_flit_i,
  output logic                   idle_o
);
  // ------------------------------------------------- benchmark mode, seen by the links
  logic link_bench, link_bench_settled;
  sync_bits u_link_bench (
    .clk_i    (link_clk_i),
    .rst_ni   (link_rst_ni),
    .d_i      (bench_i),
    .q_o      (link_bench),
    .settled_o(link_bench_settled)
  );

  // ---------------------------------------------------------------- links
  logic [NumLinks-1:0] link_idle, crc_bad, poisoned, invalid, cut, credit_bad, dropped;

  for (genvar i = 0; i < int'(NumLinks); i++) begin : gen_link
    id_t rx_id;
    word_t tx_word;
    assign serdes_tx_data_o[32*i+:32] = tx_word.data;
    assign serdes_tx_k_o[4*i+:4]      = tx_word.k;

    link_port #(
      .NumRxIds      (1),
      .NumTxIds      (NumHosts),
      .TxDepth       (TxDepth),
      .MaxWords      (rdma_pkg::MaxWords),
      .CreditInPacket(CreditInPacket),
      .CreditWords   (CreditWords),
      .RefreshWords  (RefreshWords),
      .InitWords     (InitWords),
      .AlignWords    (AlignWords),
      .FlitRegister  (1'b0)
    ) u_port (
      .clk_i       (link_clk_i),
      .rst_ni      (link_rst_ni),
      .signal_i    (serdes_signal_i[i]),
      .rx_i        ('{k: serdes_rx_k_i[4*i+:4], data: serdes_rx_data_i[32*i+:32]}),
      .tx_o        (tx_word),
      .bench_i     (link_bench),
      .up_o        (up_o[i]),
      .rx_valid_o  (rx_valid_o[i]),
      .rx_flit_o   (rx_flit_o[i]),
      .rx_id_o     (rx_id),
      .stored_i    (stored_i[i]),
      .room_o      (room_o[i]),
      .tx_valid_i  (tx_valid_i[i]),
      .tx_ready_o  (tx_ready_o[i]),
      .tx_flit_i   (tx_flit_i[i]),
      .crc_bad_o   (crc_bad[i]),
      .poisoned_o  (poisoned[i]),
      .invalid_o   (invalid[i]),
      .cut_o       (cut[i]),
      .credit_bad_o(credit_bad[i]),
      .dropped_o   (dropped[i]),
      .idle_o      (link_idle[i])
    );

    gray_counter u_bad (
      .clk_i  (link_clk_i),
      .rst_ni (link_rst_ni),
      .event_i(crc_bad[i] || poisoned[i] || cut[i] || overflow_i[i]),
      .rclk_i (clk_i),
      .rrst_ni(rst_ni),
      .count_o(bad_o[i])
    );
    gray_counter u_invalid (
      .clk_i  (link_clk_i),
      .rst_ni (link_rst_ni),
      .event_i(invalid[i]),
      .rclk_i (clk_i),
      .rrst_ni(rst_ni),
      .count_o(invalid_o[i])
    );

    logic unused_port;
    assign unused_port = ^{rx_id, credit_bad[i], dropped[i]};
  end
  for (genvar i = int'(NumLinks); i < 4; i++) begin : gen_no_link
    assign bad_o[i]     = '0;
    assign invalid_o[i] = '0;
  end

  logic unused_settled;
  assign unused_settled = link_bench_settled;
  assign idle_o = &link_idle;
endmodule
