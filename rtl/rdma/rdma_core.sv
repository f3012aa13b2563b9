// SPDX-License-Identifier: SHL-2.1
/// The RDMA network interface without its bus, registers and links: both halves and the shared read
/// port.
///
/// rdma_tx sends, rdma_rx receives; control packets and reports pass between them. rdma_read_share
/// gives the bus's read port to the reads of payload and to the flush behind the writes.
///
///   Handshake   store_i, table_*, AXI, links: as rdma_tx, rdma_rx and rdma_read_share. config_i is
///               stable while config_i.enable is high
///   Ordering    as the two halves; none between them
///   Latency     as the two halves; a read as rdma_read_share
///   Throughput  a beat a cycle from and to host memory; a word a cycle of link_clk_i on each link
///   Parameters  NumHosts 2..8, NumLinks 1..4, Outstanding 1..4, EarlyPosts, StoreForward as the
///               two halves
///   Not done    links: link_port or link_bundle; registers: rdma_ni
module rdma_core
  import rdma_pkg::*;
  import link_pkg::*;
#(
  parameter int unsigned NumHosts     = 8,
  parameter int unsigned NumLinks     = 1,
  parameter int unsigned Outstanding  = 2,
  parameter bit          EarlyPosts   = 1'b0,
  parameter bit          StoreForward = 1'b1
) (
  input  logic clk_i,
  input  logic rst_ni,
  input  logic link_clk_i,
  input  logic link_rst_ni,  // of link_clk_i, active low
  input  config_t config_i,
  input  logic [NumLinks-1:0] link_enable_i,  // low: what waits for the link is dropped
  input  logic [31:0] stamp_i,                // time of clk_i for benchmark mode
  input  logic [31:0] link_stamp_i,           // link_clk_i
  output core_state_t state_o,                // levels, and strobes of interrupts

  input  store_t        store_i,
  input  table_access_t table_i,
  output table_data_t   table_o,

  output logic          awvalid_o,  // write address, held until awready_i with aw_o
  input  logic          awready_i,  // takes aw_o
  output burst_t        aw_o,       // AXI4: INCR, 8 bytes a beat, one ID
  output logic          awsoon_o,   // level: a write will probably follow soon
  output logic          wvalid_o,   // write data, held until wready_i with w_o
  input  logic          wready_i,   // takes w_o
  output write_beat_t   w_o,        // of the addresses, in their order
  input  write_answer_t b_i,        // an answer a burst, in order
  output logic          bready_o,   // takes b_i
  output logic          arvalid_o,  // read address, held until arready_i with ar_o
  input  logic          arready_i,  // takes ar_o
  output burst_t        ar_o,       // AXI4: INCR, 8 bytes a beat, one ID
  output logic          arsoon_o,   // level: a read will probably follow soon
  input  logic          rvalid_i,   // a beat, r_i, held until rready_o
  output logic          rready_o,   // takes r_i
  input  read_beat_t    r_i,        // in the order of addresses
  input  logic          rearly_i,   // strobe: the next beat comes soon; 0: unknown

  // Link's clock.
  input  logic [NumLinks-1:0]   up_i,
  input  logic [NumLinks-1:0]   rx_valid_i,
  input  flit_t [NumLinks-1:0]  rx_flit_i,
  output count_t [NumLinks-1:0] stored_o,
  output logic [NumLinks-1:0]   overflow_o,
  input  count_t [NumLinks-1:0][NumHosts-1:0] room_i,
  output logic [NumLinks-1:0]   tx_valid_o,
  input  logic [NumLinks-1:0]   tx_ready_i,
  output flit_t [NumLinks-1:0]  tx_flit_o,

  output rdma_tx_pkg::tx_events_t tx_events_o,  // clk_i: strobes for counters and probes
  output rdma_rx_pkg::rx_events_t rx_events_o   // clk_i: strobes for counters and probes
);
  logic [MaxHosts-1:0] ctl_room;
  control_packet_t ctl, rxctl;
  logic ctl_ready, left_ready, done_ready, err_ready, tx_idle, rx_idle;
  logic [NumHosts-1:0] irq_flow;
  local_report_t left;
  done_report_t done;
  error_report_t err;
  rdma_tx_pkg::sent_t [NumLinks-1:0] sent;

  logic tx_arvalid, tx_arready, tx_rvalid, tx_rready, tx_rearly, share_idle;
  burst_t tx_ar;
  logic flush_ready;
  flush_t flush;
  flushed_t flushed;
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
    .beat_valid_i    (flush.valid),
    .beat_ready_o    (flush_ready),
    .beat_addr_i     (flush.addr),
    .beat_done_o     (flushed.done),
    .beat_failed_o   (flushed.failed),
    .arvalid_o,
    .arready_i,
    .araddr_o        (ar_o.addr),
    .arlen_o         (ar_o.len),
    .aruser_o        (ar_o.user),
    .rvalid_i,
    .rready_o,
    .rresp_i         (r_i.resp),
    .rlast_i         (r_i.last),
    .rearly_i,
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
    .link_rst_ni     (link_rst_ni),
    .enable_i        (config_i.enable),
    .running_o       (state_o.running),
    .host_id_i       (config_i.host),
    .first_session_i (config_i.session),
    .probe_cycles_i  (config_i.probe_cycles),
    .link_enable_i,
    .bench_i         (config_i.bench),
    .stamp_i,
    .link_stamp_i,
    .store_i,
    .arvalid_o       (tx_arvalid),
    .arready_i       (tx_arready),
    .ar_o            (tx_ar),
    .arsoon_o,
    .rvalid_i        (tx_rvalid),
    .rready_o        (tx_rready),
    .r_i,
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
    .up_i,
    .room_i,
    .tx_valid_o,
    .tx_ready_i,
    .tx_flit_o,
    .sent_o          (sent),
    .events_o        (tx_events_o),
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
    .link_rst_ni    (link_rst_ni),
    .enable_i       (config_i.enable),
    .host_id_i      (config_i.host),
    .lost_cycles_i  (config_i.lost_cycles),
    .ready_o        (state_o.ready),
    .rx_valid_i,
    .rx_flit_i,
    .stored_o,
    .overflow_o,
    .table_i,
    .table_o,
    .awvalid_o,
    .awready_i,
    .aw_o,
    .awsoon_o,
    .wvalid_o,
    .wready_i,
    .w_o,
    .b_i,
    .bready_o,
    .flush_o        (flush),
    .flush_ready_i  (flush_ready),
    .flushed_i      (flushed),
    .ctl_o          (ctl),
    .ctl_ready_i    (ctl_ready),
    .ctl_room_i     (ctl_room),
    .rxctl_o        (rxctl),
    .local_i        (left),
    .local_ready_o  (left_ready),
    .done_i         (done),
    .done_ready_o   (done_ready),
    .err_i          (err),
    .err_ready_o    (err_ready),
    .ring_i         (config_i.ring),
    .irq_flow_o     (irq_flow),
    .events_o       (rx_events_o),
    .idle_o         (rx_idle)
  );

  assign state_o.idle     = tx_idle && rx_idle && share_idle;
  assign state_o.irq_flow = MaxHosts'(irq_flow);
  logic unused;
  assign unused = ^sent;
endmodule
