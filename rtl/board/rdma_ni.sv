// SPDX-License-Identifier: SHL-2.1
/// Device: RDMA network interface between a host bus and 1 to 4 serial links.
///
/// bar -> rdma_bar -> queues, tables, registers; rdma_tx -> link_port -> serdes; serdes -> link_port ->
/// rdma_rx -> dma. Formats, rules and cores: docs/explanation/cores/rdma.md.
///
///   Clocks      clk_i for bar, dma, irq and probes (100 MHz PCI-X, 125 MHz PCIe); link_clk_i, 78.125 MHz, for
///               the serdes pins and link_time_ns_i. rst_ni is synchronized into link_clk_i here
///   BAR 0       64 KiB
///   Interrupt   irq_o: one cycle, each time that an unmasked source is set anew
///   Throughput  a beat a cycle of clk_i from and to host memory; a word a cycle of link_clk_i on each link
///   Checks      keys and bounds before anything is written   (proved: formal/rdma)
///   Parameters  NumHosts 2..8, NumLinks 1..4; Outstanding 1..4 transfers whose reads may be under way;
///               EarlyPosts 1: messages leave a cycle earlier, only where clk_i is no slower than link_clk_i;
///               StoreForward 0: payload is written before its check sum is known, as published; TxDepth
///               words of the buffers at the far ends; the others as link_port
///   Not done    other word widths; a second host bus
module rdma_ni
  import rdma_pkg::*;
  import link_pkg::*;
  import rdma_ni_pkg::*;
#(
  parameter int unsigned NumHosts       = 8,
  parameter int unsigned NumLinks       = 1,
  parameter int unsigned Outstanding    = 2,
  parameter bit          EarlyPosts     = 1'b0,
  parameter bit          StoreForward   = 1'b1,
  parameter int unsigned TxDepth        = 512,
  parameter bit          CreditInPacket = 1'b0,
  parameter int unsigned CreditWords    = 128,
  parameter int unsigned RefreshWords   = 64,
  parameter int unsigned InitWords      = 1024,
  parameter int unsigned AlignWords     = 1024
) (
  input logic clk_i,
  input logic rst_ni,
  input logic link_clk_i,

  input  logic        bar_awvalid_i,
  input  logic [3:0]  bar_awid_i,
  input  logic [15:0] bar_awaddr_i,
  input  logic [7:0]  bar_awlen_i,
  input  logic [2:0]  bar_awsize_i,
  input  logic [1:0]  bar_awburst_i,
  output logic        bar_awready_o,
  input  logic        bar_wvalid_i,
  input  logic [63:0] bar_wdata_i,
  input  logic [7:0]  bar_wstrb_i,
  input  logic        bar_wlast_i,
  output logic        bar_wready_o,
  output logic        bar_bvalid_o,
  output logic [3:0]  bar_bid_o,
  output logic [1:0]  bar_bresp_o,
  input  logic        bar_bready_i,
  input  logic        bar_arvalid_i,
  input  logic [3:0]  bar_arid_i,
  input  logic [15:0] bar_araddr_i,
  input  logic [7:0]  bar_arlen_i,
  input  logic [2:0]  bar_arsize_i,
  input  logic [1:0]  bar_arburst_i,
  output logic        bar_arready_o,
  output logic        bar_rvalid_o,
  output logic [3:0]  bar_rid_o,
  output logic [63:0] bar_rdata_o,
  output logic [1:0]  bar_rresp_o,
  output logic        bar_rlast_o,
  input  logic        bar_rready_i,

  output logic        dma_awvalid_o,
  output logic [0:0]  dma_awid_o,
  output logic [63:0] dma_awaddr_o,
  output logic [7:0]  dma_awlen_o,
  output logic [2:0]  dma_awsize_o,
  output logic [1:0]  dma_awburst_o,
  output logic [12:0] dma_awuser_o,   // bytes that still follow in this run of addresses
  output logic        dma_awsoon_o,   // a write will probably be here within a few cycles
  input  logic        dma_awready_i,
  output logic        dma_wvalid_o,
  output logic [63:0] dma_wdata_o,
  output logic [7:0]  dma_wstrb_o,
  output logic        dma_wlast_o,
  input  logic        dma_wready_i,
  input  logic        dma_bvalid_i,
  input  logic [0:0]  dma_bid_i,
  input  logic [1:0]  dma_bresp_i,
  output logic        dma_bready_o,
  output logic        dma_arvalid_o,
  output logic [0:0]  dma_arid_o,
  output logic [63:0] dma_araddr_o,
  output logic [7:0]  dma_arlen_o,
  output logic [2:0]  dma_arsize_o,
  output logic [1:0]  dma_arburst_o,
  output logic [12:0] dma_aruser_o,
  output logic        dma_arsoon_o,   // a read
  input  logic        dma_arready_i,
  input  logic        dma_rvalid_i,
  input  logic [0:0]  dma_rid_i,
  input  logic [63:0] dma_rdata_i,
  input  logic [1:0]  dma_rresp_i,
  input  logic        dma_rlast_i,
  input  logic        dma_rearly_i,   // strobe: the next beat comes within a few cycles
  output logic        dma_rready_o,

  output logic [0:0] irq_o,

  input logic [63:0] time_ns_i,       // clk_i
  input logic [63:0] link_time_ns_i,  // link_clk_i

  input  logic [32*NumLinks-1:0] serdes_rx_data_i,
  input  logic [4*NumLinks-1:0]  serdes_rx_k_i,
  input  logic [NumLinks-1:0]    serdes_signal_i,
  output logic [32*NumLinks-1:0] serdes_tx_data_o,
  output logic [4*NumLinks-1:0]  serdes_tx_k_o,

  output logic [NumProbes-1:0]      probe_o,
  output logic [NumProbes-1:0][7:0] probe_tag_o,

  output logic [31:0] status_granted_o,
  output logic [31:0] status_packets_sent_o,
  output logic [31:0] status_packets_taken_o,
  output logic [31:0] status_packets_refused_o,
  output logic [31:0] status_packets_known_o,
  output logic [31:0] status_packets_stray_o,
  output logic [31:0] status_packets_retired_o,
  output logic [31:0] status_packets_lost_o,
  output logic [31:0] status_sessions_opened_o,
  output logic [31:0] status_sessions_failed_o,
  output logic [31:0] status_probes_o,
  output logic [31:0] status_posts_bad_o,
  output logic [31:0] status_write_errors_o,
  output logic [31:0] status_records_lost_o,
  output logic [3:0]  status_up_o,

  output logic idle_o
);
  localparam int unsigned AxiIdWidth = 4;
  localparam int unsigned ResetStages = 3;

  // ---------------------------------------------------------------- link's reset
  logic link_rst_n;
  sync_reset #(.Stages(ResetStages)) u_link_reset (
    .clk_i (link_clk_i),
    .rst_ni,
    .rst_no(link_rst_n)
  );

  // ---------------------------------------------------------------- the host's loads and stores
  rdma_ctrl_pkg::control_t control;
  rdma_ctrl_pkg::state_t   state;

  logic h_awvalid, h_awready, h_wvalid, h_wready, h_bvalid, h_bready;
  logic h_arvalid, h_arready, h_rvalid, h_rready, h_rlast;
  logic [AxiIdWidth-1:0] h_bid, h_rid;
  logic [1:0]  h_bresp, h_rresp;
  logic [63:0] h_rdata;
  logic r_cyc, r_stb, r_we, r_stall, r_ack, r_err;
  logic [13:0] r_adr;
  logic [3:0]  r_sel;
  logic [31:0] r_dat_w, r_dat_r;

  logic table_we, table_re, table_rvalid;
  store_t store;
  beat_t table_wdata, table_rdata;
  logic [15:3] table_addr, table_raddr;
  logic bar_refused, bar_idle, axi_idle, ready;

  rdma_bar #(
    .IdWidth(AxiIdWidth)
  ) u_bar (
    .clk_i,
    .rst_ni,
    .ready_i       (ready),
    .awvalid_i     (bar_awvalid_i),
    .awready_o     (bar_awready_o),
    .awid_i        (bar_awid_i),
    .awaddr_i      (bar_awaddr_i),
    .awsize_i      (bar_awsize_i),
    .wvalid_i      (bar_wvalid_i),
    .wready_o      (bar_wready_o),
    .wdata_i       (bar_wdata_i),
    .wstrb_i       (bar_wstrb_i),
    .wlast_i       (bar_wlast_i),
    .bvalid_o      (bar_bvalid_o),
    .bready_i      (bar_bready_i),
    .bid_o         (bar_bid_o),
    .bresp_o       (bar_bresp_o),
    .arvalid_i     (bar_arvalid_i),
    .arready_o     (bar_arready_o),
    .arid_i        (bar_arid_i),
    .araddr_i      (bar_araddr_i),
    .arlen_i       (bar_arlen_i),
    .arsize_i      (bar_arsize_i),
    .rvalid_o      (bar_rvalid_o),
    .rready_i      (bar_rready_i),
    .rid_o         (bar_rid_o),
    .rdata_o       (bar_rdata_o),
    .rresp_o       (bar_rresp_o),
    .rlast_o       (bar_rlast_o),
    .bus_awvalid_o (h_awvalid),
    .bus_awready_i (h_awready),
    .bus_wvalid_o  (h_wvalid),
    .bus_wready_i  (h_wready),
    .bus_bvalid_i  (h_bvalid),
    .bus_bready_o  (h_bready),
    .bus_bid_i     (h_bid),
    .bus_bresp_i   (h_bresp),
    .bus_arvalid_o (h_arvalid),
    .bus_arready_i (h_arready),
    .bus_rvalid_i  (h_rvalid),
    .bus_rready_o  (h_rready),
    .bus_rid_i     (h_rid),
    .bus_rdata_i   (h_rdata),
    .bus_rresp_i   (h_rresp),
    .bus_rlast_i   (h_rlast),
    .store_o       (store),
    .table_we_o    (table_we),
    .table_addr_o  (table_addr),
    .table_data_o  (table_wdata),
    .table_re_o    (table_re),
    .table_raddr_o (table_raddr),
    .table_rvalid_i(table_rvalid),
    .table_rdata_i (table_rdata),
    .refused_o     (bar_refused),
    .idle_o        (bar_idle)
  );

  pcie_axi_wb #(
    .AddrWidth(14),
    .IdWidth  (AxiIdWidth)
  ) u_axi_wb (
    .clk_i,
    .rst_ni,
    .awvalid_i (h_awvalid),
    .awready_o (h_awready),
    .awid_i    (bar_awid_i),
    .awaddr_i  (bar_awaddr_i[13:0]),
    .awsize_i  (bar_awsize_i),
    .wvalid_i  (h_wvalid),
    .wready_o  (h_wready),
    .wdata_i   (bar_wdata_i),
    .wstrb_i   (bar_wstrb_i),
    .wlast_i   (bar_wlast_i),
    .bvalid_o  (h_bvalid),
    .bready_i  (h_bready),
    .bid_o     (h_bid),
    .bresp_o   (h_bresp),
    .arvalid_i (h_arvalid),
    .arready_o (h_arready),
    .arid_i    (bar_arid_i),
    .araddr_i  (bar_araddr_i[13:0]),
    .arlen_i   (bar_arlen_i),
    .arsize_i  (bar_arsize_i),
    .rvalid_o  (h_rvalid),
    .rready_i  (h_rready),
    .rid_o     (h_rid),
    .rdata_o   (h_rdata),
    .rresp_o   (h_rresp),
    .rlast_o   (h_rlast),
    .wb_cyc_o  (r_cyc),
    .wb_stb_o  (r_stb),
    .wb_we_o   (r_we),
    .wb_adr_o  (r_adr),
    .wb_sel_o  (r_sel),
    .wb_dat_o  (r_dat_w),
    .wb_stall_i(r_stall),
    .wb_ack_i  (r_ack),
    .wb_err_i  (r_err),
    .wb_dat_i  (r_dat_r),
    .idle_o    (axi_idle)
  );

  // The map has 256 bytes; what lies above is no register. A block of registers never stalls.
  logic own, own_ack, own_err, none_q;
  assign own   = r_adr[13:8] == '0;
  assign r_ack = own_ack;
  assign r_err = own_err || none_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) none_q <= 1'b0;
    else         none_q <= r_cyc && r_stb && !own && !r_stall;
  end

  logic irq_pending, irq;
  wb_rdma #(
    .NumHosts(NumHosts),
    .NumLinks(NumLinks)
  ) u_regs (
    .clk_i,
    .rst_ni,
    .state_i   (state),
    .control_o (control),
    .pending_o (irq_pending),
    .irq_o     (irq),
    .wb_cyc_i  (r_cyc),
    .wb_stb_i  (r_stb && own),
    .wb_we_i   (r_we),
    .wb_adr_i  (32'(r_adr)),
    .wb_sel_i  (r_sel),
    .wb_dat_i  (r_dat_w),
    .wb_stall_o(r_stall),
    .wb_ack_o  (own_ack),
    .wb_err_o  (own_err),
    .wb_dat_o  (r_dat_r)
  );
  assign irq_o[0] = irq;

  // ---------------------------------------------------------------- benchmark mode, seen by the links
  logic link_bench, link_bench_settled;
  sync_bits u_link_bench (
    .clk_i    (link_clk_i),
    .rst_ni   (link_rst_n),
    .d_i      (control.bench),
    .q_o      (link_bench),
    .settled_o(link_bench_settled)
  );

  // ---------------------------------------------------------------- links
  logic [NumLinks-1:0] up, rx_valid, tx_valid, tx_ready, link_idle;
  logic [NumLinks-1:0] crc_bad, poisoned, invalid, cut, credit_bad, dropped, overflow;
  flit_t [NumLinks-1:0]  rx_flit;
  flit_t [NumLinks-1:0]  tx_flit;
  count_t [NumLinks-1:0] stored;
  count_t [NumLinks-1:0][NumHosts-1:0] room;
  logic [3:0][15:0] link_bad, link_invalid;

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
      .rst_ni      (link_rst_n),
      .signal_i    (serdes_signal_i[i]),
      .rx_i        ('{k: serdes_rx_k_i[4*i+:4], data: serdes_rx_data_i[32*i+:32]}),
      .tx_o        (tx_word),
      .bench_i     (link_bench),
      .up_o        (up[i]),
      .rx_valid_o  (rx_valid[i]),
      .rx_flit_o   (rx_flit[i]),
      .rx_id_o     (rx_id),
      .stored_i    (stored[i]),
      .room_o      (room[i]),
      .tx_valid_i  (tx_valid[i]),
      .tx_ready_o  (tx_ready[i]),
      .tx_flit_i   (tx_flit[i]),
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
      .rst_ni (link_rst_n),
      .event_i(crc_bad[i] || poisoned[i] || cut[i] || overflow[i]),
      .rclk_i (clk_i),
      .rrst_ni(rst_ni),
      .count_o(link_bad[i])
    );
    gray_counter u_invalid (
      .clk_i  (link_clk_i),
      .rst_ni (link_rst_n),
      .event_i(invalid[i]),
      .rclk_i (clk_i),
      .rrst_ni(rst_ni),
      .count_o(link_invalid[i])
    );

    logic unused_port;
    assign unused_port = ^{rx_id, credit_bad[i], dropped[i]};
  end
  for (genvar i = int'(NumLinks); i < 4; i++) begin : gen_no_link
    assign link_bad[i]     = '0;
    assign link_invalid[i] = '0;
  end

  // ---------------------------------------------------------------- the two halves
  logic [MaxHosts-1:0] ctl_room;
  control_packet_t ctl, rxctl;
  logic ctl_ready, left_ready, done_ready, err_ready;
  local_report_t left;
  done_report_t done;
  error_report_t err;
  logic [NumHosts-1:0] irq_flow;

  logic tx_idle, running;
  rdma_tx_pkg::tx_events_t tx_events;
  rdma_tx_pkg::sent_t [NumLinks-1:0] sent;
  logic taken, refused, known, beyond, not_open, malformed, retired, lost, opened, write_error;
  logic record_lost, header_came, write_issued, answered, notice, rx_idle;

  assign dma_awid_o    = '0;
  assign dma_awsize_o  = 3'd3;
  assign dma_awburst_o = 2'b01;
  assign dma_arid_o    = '0;
  assign dma_arsize_o  = 3'd3;
  assign dma_arburst_o = 2'b01;

  logic tx_arvalid, tx_arready, tx_rvalid, tx_rready, tx_rearly, share_idle;
  burst_t tx_ar;
  logic flush_valid, flush_ready, flush_done, flush_failed;
  logic [63:3] flush_addr;
  rdma_read_share u_share (
    .clk_i,
    .rst_ni,
    .bursts_arvalid_i(tx_arvalid),
    .bursts_arready_o(tx_arready),
    .bursts_araddr_i (tx_ar.addr),
    .bursts_arlen_i  (tx_ar.len),
    .bursts_aruser_i (tx_ar.user),
    .bursts_rvalid_o (tx_rvalid),
    .bursts_rready_i (tx_rready),
    .bursts_rearly_o (tx_rearly),
    .beat_valid_i    (flush_valid),
    .beat_ready_o    (flush_ready),
    .beat_addr_i     (flush_addr),
    .beat_done_o     (flush_done),
    .beat_failed_o   (flush_failed),
    .arvalid_o       (dma_arvalid_o),
    .arready_i       (dma_arready_i),
    .araddr_o        (dma_araddr_o),
    .arlen_o         (dma_arlen_o),
    .aruser_o        (dma_aruser_o),
    .rvalid_i        (dma_rvalid_i),
    .rready_o        (dma_rready_o),
    .rresp_i         (dma_rresp_i),
    .rlast_i         (dma_rlast_i),
    .rearly_i        (dma_rearly_i),
    .idle_o          (share_idle)
  );

  rdma_tx #(
    .NumHosts   (NumHosts),
    .NumLinks   (NumLinks),
    .Outstanding(Outstanding),
    .EarlyPosts (EarlyPosts)
  ) u_tx (
    .clk_i,
    .rst_ni,
    .link_clk_i,
    .link_rst_ni     (link_rst_n),
    .enable_i        (control.enable),
    .running_o       (running),
    .host_id_i       (control.host),
    .first_session_i (control.session),
    .probe_cycles_i  (control.probe_cycles),
    .link_enable_i   (control.links[NumLinks-1:0]),
    .bench_i         (control.bench),
    .stamp_i         (time_ns_i[31:0]),
    .link_stamp_i    (link_time_ns_i[31:0]),
    .store_i         (store),
    .arvalid_o       (tx_arvalid),
    .arready_i       (tx_arready),
    .ar_o            (tx_ar),
    .arsoon_o        (dma_arsoon_o),
    .rvalid_i        (tx_rvalid),
    .rready_o        (tx_rready),
    .r_i             ('{data: dma_rdata_i, resp: dma_rresp_i, last: dma_rlast_i}),
    .rearly_i        (tx_rearly),
    .ctl_room_o      (ctl_room),
    .ctl_i           (ctl),
    .ctl_ready_o     (ctl_ready),
    .rxctl_i         (rxctl),
    .local_o         (left),
    .local_ready_i   (left_ready),
    .done_o          (done),
    .done_ready_i    (done_ready),
    .err_o           (err),
    .err_ready_i     (err_ready),
    .up_i            (up),
    .room_i          (room),
    .tx_valid_o      (tx_valid),
    .tx_ready_i      (tx_ready),
    .tx_flit_o       (tx_flit),
    .sent_o          (sent),
    .events_o        (tx_events),
    .idle_o          (tx_idle)
  );

  rdma_rx #(
    .NumHosts    (NumHosts),
    .NumLinks    (NumLinks),
    .StoreForward(StoreForward)
  ) u_rx (
    .clk_i,
    .rst_ni,
    .link_clk_i,
    .link_rst_ni    (link_rst_n),
    .enable_i       (control.enable),
    .host_id_i      (control.host),
    .lost_cycles_i  (control.lost_cycles),
    .ready_o        (ready),
    .rx_valid_i     (rx_valid),
    .rx_flit_i      (rx_flit),
    .stored_o       (stored),
    .table_we_i     (table_we),
    .table_addr_i   (table_addr),
    .table_data_i   (table_wdata),
    .table_re_i     (table_re),
    .table_raddr_i  (table_raddr),
    .table_rvalid_o (table_rvalid),
    .table_rdata_o  (table_rdata),
    .awvalid_o      (dma_awvalid_o),
    .awready_i      (dma_awready_i),
    .awaddr_o       (dma_awaddr_o),
    .awlen_o        (dma_awlen_o),
    .awuser_o       (dma_awuser_o),
    .awsoon_o       (dma_awsoon_o),
    .wvalid_o       (dma_wvalid_o),
    .wready_i       (dma_wready_i),
    .wdata_o        (dma_wdata_o),
    .wstrb_o        (dma_wstrb_o),
    .wlast_o        (dma_wlast_o),
    .bvalid_i       (dma_bvalid_i),
    .bready_o       (dma_bready_o),
    .bresp_i        (dma_bresp_i),
    .flush_valid_o  (flush_valid),
    .flush_ready_i  (flush_ready),
    .flush_addr_o   (flush_addr),
    .flush_done_i   (flush_done),
    .flush_failed_i (flush_failed),
    .ctl_valid_o    (ctl.valid),
    .ctl_ready_i    (ctl_ready),
    .ctl_room_i     (ctl_room),
    .ctl_header_o   (ctl.header),
    .ctl_o          (ctl.control),
    .rxctl_valid_o  (rxctl.valid),
    .rxctl_header_o (rxctl.header),
    .rxctl_o        (rxctl.control),
    .local_valid_i  (left.valid),
    .local_ready_o  (left_ready),
    .local_flow_i   (left.flow),
    .local_message_i(left.message),
    .local_count_i  (left.count),
    .done_valid_i   (done.valid),
    .done_ready_o   (done_ready),
    .done_flow_i    (done.flow),
    .done_word_i    (done.word),
    .err_valid_i    (err.valid),
    .err_ready_o    (err_ready),
    .err_beat0_i    (err.beat0),
    .err_beat1_i    (err.beat1),
    .err_base_i     (control.err_base[63:6]),
    .err_size_i     (control.err_size),
    .err_tail_i     (control.err_tail),
    .irq_flow_o     (irq_flow),
    .overflow_o     (overflow),
    .taken_o        (taken),
    .refused_o      (refused),
    .known_o        (known),
    .beyond_o       (beyond),
    .not_open_o     (not_open),
    .malformed_o    (malformed),
    .retired_o      (retired),
    .lost_o         (lost),
    .opened_o       (opened),
    .write_error_o  (write_error),
    .record_lost_o  (record_lost),
    .header_o       (header_came),
    .write_o        (write_issued),
    .answered_o     (answered),
    .notice_o       (notice),
    .idle_o         (rx_idle)
  );

  // ---------------------------------------------------------------- counters
  logic [NumLinks-1:0] host_up;
  logic host_up_settled;
  sync_bits #(.Width(NumLinks)) u_host_up (
    .clk_i,
    .rst_ni,
    .d_i      (up),
    .q_o      (host_up),
    .settled_o(host_up_settled)
  );

  logic unused_settled;
  assign unused_settled = link_bench_settled ^ host_up_settled;

  rdma_ctrl_pkg::counters_t counters_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      counters_q <= '0;
    end else begin
      if (tx_events.granted) counters_q.granted <= counters_q.granted + 32'd1;
      if (tx_events.begun) counters_q.packets_sent <= counters_q.packets_sent + 32'd1;
      if (taken) counters_q.packets_taken <= counters_q.packets_taken + 32'd1;
      if (refused) counters_q.packets_refused <= counters_q.packets_refused + 32'd1;
      if (known) counters_q.packets_known <= counters_q.packets_known + 32'd1;
      if (beyond || not_open || malformed) begin
        counters_q.packets_stray <= counters_q.packets_stray + 32'd1;
      end
      if (retired) counters_q.packets_retired <= counters_q.packets_retired + 32'd1;
      if (lost) counters_q.packets_lost <= counters_q.packets_lost + 32'd1;
      if (opened) counters_q.sessions_opened <= counters_q.sessions_opened + 32'd1;
      if (tx_events.failed) counters_q.sessions_failed <= counters_q.sessions_failed + 32'd1;
      if (tx_events.probed) counters_q.probes <= counters_q.probes + 32'd1;
      if (tx_events.request_bad || tx_events.message_bad || bar_refused) begin
        counters_q.posts_bad <= counters_q.posts_bad + 32'd1;
      end
      if (write_error) counters_q.write_errors <= counters_q.write_errors + 32'd1;
      if (record_lost) counters_q.records_lost <= counters_q.records_lost + 32'd1;
    end
  end
  assign state = '{
      running: running,
      ready: ready,
      up: 4'(host_up),
      irq: 8'(irq_flow),
      counters: counters_q,
      link_bad: link_bad,
      link_invalid: link_invalid
  };
  assign status_granted_o           = counters_q.granted;
  assign status_packets_sent_o      = counters_q.packets_sent;
  assign status_packets_taken_o     = counters_q.packets_taken;
  assign status_packets_refused_o   = counters_q.packets_refused;
  assign status_packets_known_o     = counters_q.packets_known;
  assign status_packets_stray_o     = counters_q.packets_stray;
  assign status_packets_retired_o   = counters_q.packets_retired;
  assign status_packets_lost_o      = counters_q.packets_lost;
  assign status_sessions_opened_o   = counters_q.sessions_opened;
  assign status_sessions_failed_o   = counters_q.sessions_failed;
  assign status_probes_o            = counters_q.probes;
  assign status_posts_bad_o         = counters_q.posts_bad;
  assign status_write_errors_o      = counters_q.write_errors;
  assign status_records_lost_o      = counters_q.records_lost;
  assign status_up_o = 4'(host_up);

  // ---------------------------------------------------------------- probes
  logic [NumProbes-1:0] strobe, strobe_q;
  logic [NumProbes-1:0][7:0] count, count_q;
  always_comb begin
    strobe = '0;
    strobe[RequestPosted] = tx_events.request_posted;
    strobe[MessagePosted] = tx_events.message_posted;
    strobe[Granted]       = tx_events.granted;
    strobe[ReadIssued]    = tx_events.issued;
    strobe[PacketBegun]   = tx_events.begun;
    strobe[HeaderCame]    = header_came;
    strobe[WriteIssued]   = write_issued;
    strobe[Answered]      = answered;
    strobe[NoticeWritten] = notice;
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      strobe_q <= '0;
      count_q  <= '0;
    end else begin
      strobe_q <= strobe;
      count_q  <= count;
    end
  end
  // A strobe is late in its cycle: it is counted in the next.
  always_comb begin
    for (int unsigned i = 0; i < NumProbes; i++) count[i] = count_q[i] + 8'(strobe_q[i]);
    probe_o     = strobe;
    probe_tag_o = count;
    probe_tag_o[PacketBegun] = {tx_events.begun_flow, tx_events.begun_seq[4:0]};
  end

  assign idle_o = bar_idle && axi_idle && tx_idle && rx_idle && share_idle && (&link_idle) &&
                  !irq_pending && !irq;

  logic unused;
  assign unused = ^{bar_awlen_i, bar_awburst_i, bar_arburst_i, dma_bid_i, dma_rid_i,
                    time_ns_i[63:32], link_time_ns_i[63:32],
                    sent, control.err_base[5:0], tx_events, control.links};
endmodule
