// SPDX-License-Identifier: SHL-2.1
/// Device: RDMA network interface between a host bus and 1 to 4 serial links.
///
/// bar -> rdma_ni_host -> registers, and rdma_core: queues, tables, both halves -> dma; rdma_core
/// <-> rdma_ni_links <-> serdes. Formats, rules and cores: docs/explanation/cores/rdma.md.
///
///   Clocks      clk_i for bar, dma, irq and probes (100 MHz PCI-X, 125 MHz PCIe); link_clk_i,
///               78.125 MHz, for the serdes pins and link_time_ns_i. rst_ni is synchronized into
///               link_clk_i here
///   BAR 0       64 KiB
///   Interrupt   irq_o: one cycle, each time that an unmasked source is set anew
///   Throughput  a beat a cycle of clk_i from and to host memory; a word a cycle of link_clk_i on
///               each link
///   Checks      keys and bounds before anything is written   (proved: formal/rdma)
///   Parameters  NumHosts 2..8, NumLinks 1..4; Outstanding 1..4 transfers whose reads may be under
///               way; EarlyPosts 1: messages leave a cycle earlier, only where clk_i is no slower
///               than link_clk_i; StoreForward 0: payload is written before its check sum is known,
///               as published; TxDepth words of the buffers at the far ends; the others as
///               link_port
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

  input  logic        bar_awvalid_i,  // bar_aw*: AXI4 write address of the host, valid/ready
  input  logic [3:0]  bar_awid_i,
  input  logic [15:0] bar_awaddr_i,  // of a byte in the BAR
  input  logic [7:0]  bar_awlen_i,   // not looked at: bar_wlast_i ends a burst
  input  logic [2:0]  bar_awsize_i,
  input  logic [1:0]  bar_awburst_i,  // not looked at: INCR
  output logic        bar_awready_o,
  input  logic        bar_wvalid_i,  // bar_w*: data of the write, byte n in bits 8n+7:8n
  input  logic [63:0] bar_wdata_i,
  input  logic [7:0]  bar_wstrb_i,
  input  logic        bar_wlast_i,
  output logic        bar_wready_o,
  output logic        bar_bvalid_o,  // bar_b*: an answer a write burst: 0 OKAY, 2 SLVERR
  output logic [3:0]  bar_bid_o,
  output logic [1:0]  bar_bresp_o,
  input  logic        bar_bready_i,
  input  logic        bar_arvalid_i,  // bar_ar*: AXI4 read address, INCR; len: beats less one
  input  logic [3:0]  bar_arid_i,
  input  logic [15:0] bar_araddr_i,
  input  logic [7:0]  bar_arlen_i,
  input  logic [2:0]  bar_arsize_i,
  input  logic [1:0]  bar_arburst_i,
  output logic        bar_arready_o,
  output logic        bar_rvalid_o,  // bar_r*: its data, with its id; rlast: the last beat
  output logic [3:0]  bar_rid_o,
  output logic [63:0] bar_rdata_o,
  output logic [1:0]  bar_rresp_o,
  output logic        bar_rlast_o,
  input  logic        bar_rready_i,

  output logic        dma_awvalid_o,  // dma_aw*: AXI4 write address at the host, INCR
  output logic [0:0]  dma_awid_o,
  output logic [63:0] dma_awaddr_o,
  output logic [7:0]  dma_awlen_o,
  output logic [2:0]  dma_awsize_o,
  output logic [1:0]  dma_awburst_o,
  output logic [12:0] dma_awuser_o,  // bytes that still follow in this run of addresses
  output logic        dma_awsoon_o,  // a write will probably be here within a few cycles
  input  logic        dma_awready_i,
  output logic        dma_wvalid_o,  // dma_w*: its data, byte n in bits 8n+7:8n
  output logic [63:0] dma_wdata_o,
  output logic [7:0]  dma_wstrb_o,
  output logic        dma_wlast_o,
  input  logic        dma_wready_i,
  input  logic        dma_bvalid_i,  // dma_b*: an answer a burst; resp 2, 3: an error
  input  logic [0:0]  dma_bid_i,
  input  logic [1:0]  dma_bresp_i,
  output logic        dma_bready_o,
  output logic        dma_arvalid_o,  // dma_ar*: AXI4 read address at the host, INCR
  output logic [0:0]  dma_arid_o,
  output logic [63:0] dma_araddr_o,
  output logic [7:0]  dma_arlen_o,
  output logic [2:0]  dma_arsize_o,
  output logic [1:0]  dma_arburst_o,
  output logic [12:0] dma_aruser_o,
  output logic        dma_arsoon_o,  // a read
  input  logic        dma_arready_i,
  input  logic        dma_rvalid_i,  // dma_r*: data of reads, in order; resp 2, 3: an error
  input  logic [0:0]  dma_rid_i,
  input  logic [63:0] dma_rdata_i,
  input  logic [1:0]  dma_rresp_i,
  input  logic        dma_rlast_i,
  input  logic        dma_rearly_i,  // strobe: the next beat comes within a few cycles
  output logic        dma_rready_o,

  output logic [0:0] irq_o,

  input logic [63:0] time_ns_i,       // clk_i
  input logic [63:0] link_time_ns_i,  // link_clk_i

  input  logic [32*NumLinks-1:0] serdes_rx_data_i,  // link_clk_i; link l at [32*l +: 32]
  input  logic [4*NumLinks-1:0]  serdes_rx_k_i,  // link l at [4*l +: 4]; bit n: byte n is a K code
  input  logic [NumLinks-1:0]    serdes_signal_i,  // a bit a link: its receiver has lock
  output logic [32*NumLinks-1:0] serdes_tx_data_o,  // as serdes_rx_data_i
  output logic [4*NumLinks-1:0]  serdes_tx_k_o,  // as serdes_rx_k_i

  output logic [NumProbes-1:0]      probe_o,      // strobes, by probe_e; for simulation
  output logic [NumProbes-1:0][7:0] probe_tag_o,  // a tag for each, as probe_e says

  output logic [31:0] status_granted_o,          // transfers that had room, numbers and links
  output logic [31:0] status_packets_sent_o,     // data packets put into the link queues
  output logic [31:0] status_packets_taken_o,    // data packets accepted
  output logic [31:0] status_packets_refused_o,  // not written: key, bounds or queue
  output logic [31:0] status_packets_known_o,    // duplicates, or declared lost before
  output logic [31:0] status_packets_stray_o,    // no session, outside the window, malformed
  output logic [31:0] status_packets_retired_o,  // in memory with all packets before them
  output logic [31:0] status_packets_lost_o,     // data packets declared lost
  output logic [31:0] status_sessions_opened_o,  // by other hosts
  output logic [31:0] status_sessions_failed_o,  // of this host
  output logic [31:0] status_probes_o,           // sent because an ACK was late
  output logic [31:0] status_posts_bad_o,        // illegal writes to a queue or table
  output logic [31:0] status_write_errors_o,     // answers of host memory that are not OKAY
  output logic [31:0] status_records_lost_o,     // error records that found the ring full
  output logic [3:0]  status_up_o,               // level, a bit a link: both ends are ready

  output logic idle_o  // nothing changes until an input does
);
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
  table_access_t table_access;
  table_data_t table_data;
  store_t store;
  logic bar_refused, host_idle;
  core_state_t core;

  axi_pkg::bar_request_t  bar;
  axi_pkg::bar_response_t bar_answer;
  assign bar = {
      bar_awvalid_i, bar_awid_i, 32'(bar_awaddr_i), bar_awsize_i,
      bar_wvalid_i, bar_wdata_i, bar_wstrb_i, bar_wlast_i, bar_bready_i,
      bar_arvalid_i, bar_arid_i, 32'(bar_araddr_i), bar_arlen_i, bar_arsize_i, bar_rready_i
  };
  assign {bar_awready_o, bar_wready_o, bar_bvalid_o, bar_bid_o, bar_bresp_o, bar_arready_o,
          bar_rvalid_o, bar_rid_o, bar_rdata_o, bar_rresp_o, bar_rlast_o} = bar_answer;

  rdma_ni_host #(
    .NumHosts(NumHosts),
    .NumLinks(NumLinks)
  ) u_host (
    .clk_i,
    .rst_ni,
    .ready_i  (core.ready),
    .bar_i    (bar),
    .bar_o    (bar_answer),
    .store_o  (store),
    .table_o  (table_access),
    .table_i  (table_data),
    .state_i  (state),
    .control_o(control),
    .refused_o(bar_refused),
    .irq_o    (irq_o[0]),
    .idle_o   (host_idle)
  );

  // ---------------------------------------------------------------- links
  logic [NumLinks-1:0] up, rx_valid, tx_valid, tx_ready, overflow;
  flit_t [NumLinks-1:0]  rx_flit;
  flit_t [NumLinks-1:0]  tx_flit;
  count_t [NumLinks-1:0] stored;
  count_t [NumLinks-1:0][NumHosts-1:0] room;
  logic [3:0][15:0] link_bad, link_invalid;
  logic links_idle;

  rdma_ni_links #(
    .NumHosts      (NumHosts),
    .NumLinks      (NumLinks),
    .TxDepth       (TxDepth),
    .CreditInPacket(CreditInPacket),
    .CreditWords   (CreditWords),
    .RefreshWords  (RefreshWords),
    .InitWords     (InitWords),
    .AlignWords    (AlignWords)
  ) u_links (
    .clk_i,
    .rst_ni,
    .link_clk_i,
    .link_rst_ni(link_rst_n),
    .bench_i    (control.bench),
    .bad_o      (link_bad),
    .invalid_o  (link_invalid),
    .serdes_rx_data_i,
    .serdes_rx_k_i,
    .serdes_signal_i,
    .serdes_tx_data_o,
    .serdes_tx_k_o,
    .up_o       (up),
    .rx_valid_o (rx_valid),
    .rx_flit_o  (rx_flit),
    .stored_i   (stored),
    .overflow_i (overflow),
    .room_o     (room),
    .tx_valid_i (tx_valid),
    .tx_ready_o (tx_ready),
    .tx_flit_i  (tx_flit),
    .idle_o     (links_idle)
  );

  // ---------------------------------------------------------------- both halves
  rdma_tx_pkg::tx_events_t tx_events;
  rdma_rx_pkg::rx_events_t rx_events;
  config_t settings;
  burst_t aw, ar;
  assign settings = '{
      enable:       control.enable,
      bench:        control.bench,
      host:         control.host,
      session:      control.session,
      probe_cycles: control.probe_cycles,
      lost_cycles:  control.lost_cycles,
      ring: '{base: control.err_base[63:6], size: control.err_size, tail: control.err_tail}
  };

  assign dma_awid_o    = '0;
  assign dma_awsize_o  = 3'd3;
  assign dma_awburst_o = 2'b01;
  assign dma_arid_o    = '0;
  assign dma_arsize_o  = 3'd3;
  assign dma_arburst_o = 2'b01;
  assign {dma_awaddr_o, dma_awlen_o, dma_awuser_o} = aw;
  assign {dma_araddr_o, dma_arlen_o, dma_aruser_o} = ar;

  rdma_core #(
    .NumHosts    (NumHosts),
    .NumLinks    (NumLinks),
    .Outstanding (Outstanding),
    .EarlyPosts  (EarlyPosts),
    .StoreForward(StoreForward)
  ) u_core (
    .clk_i,
    .rst_ni,
    .link_clk_i,
    .link_rst_ni  (link_rst_n),
    .config_i     (settings),
    .link_enable_i(control.links[NumLinks-1:0]),
    .stamp_i      (time_ns_i[31:0]),
    .link_stamp_i (link_time_ns_i[31:0]),
    .state_o      (core),
    .store_i      (store),
    .table_i      (table_access),
    .table_o      (table_data),
    .awvalid_o    (dma_awvalid_o),
    .awready_i    (dma_awready_i),
    .aw_o         (aw),
    .awsoon_o     (dma_awsoon_o),
    .wvalid_o     (dma_wvalid_o),
    .wready_i     (dma_wready_i),
    .w_o          ({dma_wdata_o, dma_wstrb_o, dma_wlast_o}),
    .b_i          ('{valid: dma_bvalid_i, resp: dma_bresp_i}),
    .bready_o     (dma_bready_o),
    .arvalid_o    (dma_arvalid_o),
    .arready_i    (dma_arready_i),
    .ar_o         (ar),
    .arsoon_o     (dma_arsoon_o),
    .rvalid_i     (dma_rvalid_i),
    .rready_o     (dma_rready_o),
    .r_i          ('{data: dma_rdata_i, resp: dma_rresp_i, last: dma_rlast_i}),
    .rearly_i     (dma_rearly_i),
    .up_i         (up),
    .rx_valid_i   (rx_valid),
    .rx_flit_i    (rx_flit),
    .stored_o     (stored),
    .overflow_o   (overflow),
    .room_i       (room),
    .tx_valid_o   (tx_valid),
    .tx_ready_i   (tx_ready),
    .tx_flit_o    (tx_flit),
    .tx_events_o  (tx_events),
    .rx_events_o  (rx_events)
  );

  // ---------------------------------------------------------------- counters and probes
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
  assign unused_settled = host_up_settled;

  rdma_ctrl_pkg::counters_t counters;
  rdma_ni_probes u_probes (
    .clk_i,
    .rst_ni,
    .tx_i      (tx_events),
    .rx_i      (rx_events),
    .refused_i (bar_refused),
    .counters_o(counters),
    .probe_o,
    .probe_tag_o
  );

  assign state = '{
      running: core.running,
      ready: core.ready,
      up: 4'(host_up),
      irq: core.irq_flow,
      counters: counters,
      link_bad: link_bad,
      link_invalid: link_invalid
  };
  assign status_granted_o           = counters.granted;
  assign status_packets_sent_o      = counters.packets_sent;
  assign status_packets_taken_o     = counters.packets_taken;
  assign status_packets_refused_o   = counters.packets_refused;
  assign status_packets_known_o     = counters.packets_known;
  assign status_packets_stray_o     = counters.packets_stray;
  assign status_packets_retired_o   = counters.packets_retired;
  assign status_packets_lost_o      = counters.packets_lost;
  assign status_sessions_opened_o   = counters.sessions_opened;
  assign status_sessions_failed_o   = counters.sessions_failed;
  assign status_probes_o            = counters.probes;
  assign status_posts_bad_o         = counters.posts_bad;
  assign status_write_errors_o      = counters.write_errors;
  assign status_records_lost_o      = counters.records_lost;
  assign status_up_o = 4'(host_up);

  assign idle_o = host_idle && core.idle && links_idle;

  logic unused;
  assign unused = ^{bar_awlen_i, bar_awburst_i, bar_arburst_i, dma_bid_i, dma_rid_i,
                    time_ns_i[63:32], link_time_ns_i[63:32],
                    control.err_base[5:0], control.links};
endmodule
