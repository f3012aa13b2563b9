// SPDX-License-Identifier: SHL-2.1
/// Receive half of the RDMA network interface: packets of all links into host memory, and
/// notifications.
///
/// Composition of rdma_link_rx, rdma_receive, rdma_tables, rdma_flow_rx, rdma_notify and
/// rdma_store. Formats and rules: docs/explanation/cores/rdma.md.
///
///   Links       flits of link_port; stored_o is its stored_i. Never any back-pressure to the link
///               but by credits, and nothing but host memory delays those
///   AXI         write master, 64 bit, one ID, bursts within 4 KiB; aw_o.user: bytes that still
///               follow in this run of addresses
///   Ahead       awsoon_o: a write will probably be at the pins within a few cycles. From a cycle
///               behind a packet's first beat or a notice's cause until its last data is taken, or
///               it was found that nothing is to be written; of a packet of 5 beats or more for its
///               last 6. Low when idle
///   Checks      before the first address of a packet goes out
///   Tables      table_i.we: whole beats by BAR offset, there 2 cycles later; ready_o low (512
///               cycles after reset): not yet. table_i.re: strobe, one at a time; table_o.valid
///               strobes with the data, at most some tens of cycles later while the bus takes
///               writes; 0 where there is no table
///   Flush       flush_*: valid/ready, a read of one beat; flushed_i strobes when its data has
///               come
///   Control     ctl_o: packets to be sent; rxctl_o: ACK and REFUSED that came, strobes, never in
///               two cycles in a row. Nothing here waits for ctl_ready_i
///   Latency     EOP at a link to awvalid_o and wvalid_o: 1 link cycle and 5 to 6 host cycles; of 8
///               bytes without StoreForward 2 to 3
///   Throughput  a beat a host cycle; a packet in 9 cycles or more, what its flow's state takes
///   Parameters  NumHosts 2..8, NumLinks 1..4, StoreForward 0: as published, payload is written
///               before its check sum is known
///   Not done    order of messages between links
module rdma_rx
  import rdma_pkg::*;
  import rdma_rx_pkg::*;
  import link_pkg::*;
#(
  parameter int unsigned NumHosts     = 8,
  parameter int unsigned NumLinks     = 4,
  parameter bit          StoreForward = 1'b1
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        link_clk_i,
  input  logic        link_rst_ni,
  input  logic        enable_i,
  input  host_t       host_id_i,
  input  logic [31:0] lost_cycles_i,
  output logic        ready_o,

  input  logic [NumLinks-1:0]   rx_valid_i,
  input  flit_t [NumLinks-1:0]  rx_flit_i,
  output count_t [NumLinks-1:0] stored_o,
  output logic [NumLinks-1:0]   overflow_o,  // link clock: a packet found no room

  input  table_access_t table_i,
  output table_data_t   table_o,

  output logic          awvalid_o,
  input  logic          awready_i,
  output burst_t        aw_o,
  output logic          awsoon_o,
  output logic          wvalid_o,
  input  logic          wready_i,
  output write_beat_t   w_o,
  input  write_answer_t b_i,
  output logic          bready_o,
  output flush_t        flush_o,
  input  logic          flush_ready_i,
  input  flushed_t      flushed_i,

  output control_packet_t ctl_o,
  input  logic            ctl_ready_i,
  input  logic [7:0]      ctl_room_i,
  output control_packet_t rxctl_o,

  input  local_report_t local_i,
  output logic          local_ready_o,
  input  done_report_t  done_i,
  output logic          done_ready_o,
  input  error_report_t err_i,
  output logic          err_ready_o,
  input  error_ring_t   ring_i,

  output logic [NumHosts-1:0] irq_flow_o,    // strobes
  output rx_events_t          events_o,
  output logic                idle_o
);
  // ---------------------------------------------------------------- links
  logic [NumLinks-1:0] in_valid, in_ready, in_last, in_bad, link_idle;
  beat_t [NumLinks-1:0] in_beat;
  for (genvar i = 0; i < int'(NumLinks); i++) begin : gen_link
    rdma_link_rx #(.StoreForward(StoreForward)) u_link (
      .link_clk_i,
      .link_rst_ni,
      .rx_valid_i(rx_valid_i[i]),
      .rx_flit_i (rx_flit_i[i]),
      .stored_o  (stored_o[i]),
      .overflow_o(overflow_o[i]),
      .clk_i,
      .rst_ni,
      .valid_o   (in_valid[i]),
      .ready_i   (in_ready[i]),
      .beat_o    (in_beat[i]),
      .last_o    (in_last[i]),
      .bad_o     (in_bad[i]),
      .idle_o    (link_idle[i])
    );
  end

  // ---------------------------------------------------------------- between the blocks
  logic clear, ask_valid, ask_ready, refused_ready, control_ready, coming;
  logic [8:0] clear_index;
  ask_t ask;
  verdict_t verdict;
  control_ask_t control;
  refuse_t refused;
  region_ask_t region_ask;
  region_answer_t region;
  logic [7:0] queue_peek;
  logic [1:0] queue_valid, queue_ready, queue_answer, queue_commit, queue_drop;
  enqueue_t [1:0] queue_ask;
  enqueued_t queue;
  flow_t src;
  logic [6:0] beats;
  info_write_t info;
  logic payload_valid, payload_ready, piece_valid, piece_ready;
  payload_t payload;
  piece_t piece;
  logic address_we, address_re;
  logic [4:0] address_waddr;
  beat_t address_wdata;
  table_data_t address;
  logic answer_valid, answer_ready, frame, frames, act_valid, act_ready, act_owes, posted;
  answer_t answer;
  act_t act;
  refusal_event_t late;
  logic notice_valid, notice_ready, notice_second, write_error, write_soon, notify_busy;
  notice_t notice;
  logic [NumHosts-1:0] irq_notify;
  logic receive_idle, tables_idle, flows_idle, notify_idle, store_idle;

  rdma_receive #(
    .NumHosts(NumHosts),
    .NumLinks(NumLinks)
  ) u_receive (
    .clk_i,
    .rst_ni,
    .host_id_i,
    .valid_i          (in_valid),
    .ready_o          (in_ready),
    .beat_i           (in_beat),
    .last_i           (in_last),
    .bad_i            (in_bad),
    .ask_valid_o      (ask_valid),
    .ask_ready_i      (ask_ready),
    .ask_o            (ask),
    .verdict_i        (verdict),
    .region_o         (region_ask),
    .region_i         (region),
    .queue_peek_o     (queue_peek),
    .queue_valid_o    (queue_valid[0]),
    .queue_ready_i    (queue_ready[0]),
    .queue_o          (queue_ask[0]),
    .queue_answer_i   (queue_answer[0]),
    .queue_i          (queue),
    .queue_commit_o   (queue_commit[0]),
    .queue_drop_o     (queue_drop[0]),
    .src_o            (src),
    .beats_o          (beats),
    .info_o           (info),
    .refused_o        (refused),
    .refused_ready_i  (refused_ready),
    .control_ready_i  (control_ready),
    .control_o        (control),
    .rxctl_o,
    .payload_valid_o  (payload_valid),
    .payload_ready_i  (payload_ready),
    .payload_o        (payload),
    .piece_valid_o    (piece_valid),
    .piece_ready_i    (piece_ready),
    .piece_o          (piece),
    .coming_o         (coming),
    .events_o         (events_o.receive),
    .idle_o           (receive_idle)
  );

  rdma_tables u_tables (
    .clk_i,
    .rst_ni,
    .clear_i        (clear),
    .clear_index_i  (clear_index),
    .table_i,
    .table_o,
    .src_i          (src),
    .beats_i        (beats),
    .region_i       (region_ask),
    .region_o       (region),
    .queue_peek_i   (queue_peek),
    .queue_valid_i  (queue_valid),
    .queue_ready_o  (queue_ready),
    .queue_i        (queue_ask),
    .queue_answer_o (queue_answer),
    .queue_o        (queue),
    .queue_commit_i (queue_commit),
    .queue_drop_i   (queue_drop),
    .address_we_o   (address_we),
    .address_waddr_o(address_waddr),
    .address_wdata_o(address_wdata),
    .address_re_o   (address_re),
    .address_i      (address),
    .idle_o         (tables_idle)
  );

  rdma_flow_rx #(.NumHosts(NumHosts)) u_flows (
    .clk_i,
    .rst_ni,
    .enable_i,
    .host_id_i,
    .lost_cycles_i,
    .ready_o,
    .clear_o        (clear),
    .clear_index_o  (clear_index),
    .ask_valid_i    (ask_valid),
    .ask_ready_o    (ask_ready),
    .ask_i          (ask),
    .verdict_o      (verdict),
    .info_i         (info),
    .refused_i      (refused),
    .refused_ready_o(refused_ready),
    .control_ready_o(control_ready),
    .control_i      (control),
    .answer_valid_i (answer_valid),
    .answer_ready_o (answer_ready),
    .answer_i       (answer),
    .frame_o        (frame),
    .frames_o       (frames),
    .act_valid_o    (act_valid),
    .act_ready_i    (act_ready),
    .act_owes_i     (act_owes),
    .act_o          (act),
    .posted_i       (posted),
    .flush_valid_o  (flush_o.valid),
    .flush_ready_i,
    .flushed_i,
    .late_i         (late),
    .ctl_o,
    .ctl_ready_i,
    .ctl_room_i,
    .events_o       (events_o.flows),
    .idle_o         (flows_idle)
  );

  rdma_notify #(.NumHosts(NumHosts)) u_notify (
    .clk_i,
    .rst_ni,
    .enable_i,
    .ring_i,
    .we_i            (address_we),
    .waddr_i         (address_waddr),
    .wdata_i         (address_wdata),
    .re_i            (address_re),
    .raddr_i         (table_i.raddr[7:3]),
    .rvalid_o        (address.valid),
    .rdata_o         (address.data),
    .act_valid_i     (act_valid),
    .act_ready_o     (act_ready),
    .act_owes_o      (act_owes),
    .act_i           (act),
    .err_i,
    .err_ready_o,
    .local_i,
    .local_ready_o,
    .done_i,
    .done_ready_o,
    .queue_valid_o   (queue_valid[1]),
    .queue_ready_i   (queue_ready[1]),
    .queue_o         (queue_ask[1]),
    .queue_answer_i  (queue_answer[1]),
    .queue_i         (queue),
    .queue_commit_o  (queue_commit[1]),
    .queue_drop_o    (queue_drop[1]),
    .notice_valid_o  (notice_valid),
    .notice_ready_i  (notice_ready),
    .notice_second_i (notice_second),
    .notice_o        (notice),
    .refuse_o        (late.valid),
    .refuse_refusal_o(late.refusal),
    .irq_o           (irq_notify),
    .record_lost_o   (events_o.record_lost),
    .busy_o          (notify_busy),
    .idle_o          (notify_idle)
  );

  rdma_store u_store (
    .clk_i,
    .rst_ni,
    .bodies_hold_i  (frames),
    .address_hold_i (flush_o.valid),
    .payload_valid_i(payload_valid),
    .payload_ready_o(payload_ready),
    .payload_i      (payload),
    .piece_valid_i  (piece_valid),
    .piece_ready_o  (piece_ready),
    .piece_i        (piece),
    .notice_valid_i (notice_valid),
    .notice_ready_o (notice_ready),
    .notice_second_o(notice_second),
    .notice_i       (notice),
    .answer_valid_o (answer_valid),
    .answer_ready_i (answer_ready),
    .answer_o       (answer),
    .awvalid_o,
    .awready_i,
    .aw_o,
    .wvalid_o,
    .wready_i,
    .w_o,
    .b_i,
    .bready_o,
    .posted_o       (posted),
    .written_addr_o (flush_o.addr),
    .soon_o         (write_soon),
    .write_o        (events_o.write),
    .error_o        (write_error),
    .idle_o         (store_idle)
  );

  // Early bus request while a packet is checked or a word for the host is built.
  logic soon_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) soon_q <= 1'b0;
    else soon_q <= write_soon || frame || notify_busy;
  end
  // What asks for a word is known late in its cycle, that a word is made at the begin of the next.
  assign awsoon_o = coming || soon_q || notify_busy;

  // A place that was written and cannot be read is counted with what could not be written.
  assign events_o.write_error = write_error || (flushed_i.done && flushed_i.failed);

  // ---------------------------------------------------------------- interrupts and probes
  logic answered, answered_q, notice_q;
  assign answered = answer_valid && answer_ready;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      irq_flow_o <= '0;
      answered_q <= 1'b0;
      notice_q   <= 1'b0;
    end else begin
      irq_flow_o <= irq_notify |
                    (answered && answer.irq ? NumHosts'(1) << answer.src : '0);
      answered_q <= answered && (answer.wrote == WrotePacket || answer.wrote == WroteBody);
      notice_q   <= notice_valid && notice_ready;
    end
  end

  assign events_o.answered = answered_q;
  assign events_o.notice   = notice_q;

  assign idle_o = &link_idle && receive_idle && tables_idle && flows_idle && store_idle &&
                  notify_idle && !awsoon_o;
endmodule
