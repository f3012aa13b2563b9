// SPDX-License-Identifier: SHL-2.1
/// Receive half of the RDMA network interface: packets of all links into host memory, and notifications.
///
/// Composition of rdma_link_rx, rdma_receive, rdma_regions, rdma_queue_table, rdma_resequencer, rdma_write,
/// rdma_notify, rdma_flush and rdma_ack. Formats and rules: docs/explanation/cores/rdma.md.
///
///   Links       flits of link_port; stored_o is its stored_i. Never any back-pressure to the link but by
///               credits, and nothing but host memory delays those
///   AXI         write master, 64 bit, one ID, bursts within 4 KiB; awuser_o: bytes that still follow in
///               this run of addresses
///   Ahead       awsoon_o: a write will probably be at the pins within a few cycles. From a cycle behind a packet's
///               first beat or a notice's cause until its last data is taken, or it was found that
///               nothing is to be written; of a packet of 5 beats or more for its last 6. Low when idle
///   Checks      before the first address of a packet goes out
///   Tables      table_we_i: whole beats by BAR offset, there 2 cycles later; ready_o low (512 cycles after
///               reset): not yet.
///               table_re_i: strobe, one at a time; table_rvalid_o strobes with table_rdata_o, at most some
///               tens of cycles later while the bus takes writes; 0 where there is no table
///   Flush       flush_*: valid/ready, a read of one beat; flush_done_i strobes when its data has
///               come
///   Control     ctl_*: packets to be sent; rxctl_*: ACK and REFUSED that came, strobes, never in two
///               cycles in a row. Nothing here waits for ctl_ready_i
///   Latency     EOP at a link to awvalid_o and wvalid_o: 1 link cycle and 5 to 6 host cycles; of 8 bytes without
///               StoreForward 2 to 3
///   Throughput  a beat a host cycle; a packet in 9 cycles or more, what its flow's state takes
///   Parameters  NumHosts 2..8, NumLinks 1..4, StoreForward 0: as published, payload is written before its
///               check sum is known
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

  input  logic         table_we_i,
  input  logic [15:3]  table_addr_i,
  input  logic [63:0]  table_data_i,
  input  logic         table_re_i,
  input  logic [15:3]  table_raddr_i,
  output logic         table_rvalid_o,
  output logic [63:0]  table_rdata_o,

  output logic        awvalid_o,
  input  logic        awready_i,
  output logic [63:0] awaddr_o,
  output logic [7:0]  awlen_o,
  output logic [12:0] awuser_o,
  output logic        awsoon_o,
  output logic        wvalid_o,
  input  logic        wready_i,
  output logic [63:0] wdata_o,
  output logic [7:0]  wstrb_o,
  output logic        wlast_o,
  input  logic        bvalid_i,
  output logic        bready_o,
  input  logic [1:0]  bresp_i,

  output logic        flush_valid_o,
  input  logic        flush_ready_i,
  output logic [63:3] flush_addr_o,
  input  logic        flush_done_i,
  input  logic        flush_failed_i,

  output logic       ctl_valid_o,
  input  logic       ctl_ready_i,
  input  logic [7:0] ctl_room_i,
  output header_t    ctl_header_o,
  output control_t   ctl_o,
  output logic       rxctl_valid_o,
  output header_t    rxctl_header_o,
  output control_t   rxctl_o,

  input  logic        local_valid_i,
  output logic        local_ready_o,
  input  flow_t       local_flow_i,
  input  logic        local_message_i,
  input  logic [15:0] local_count_i,
  input  logic        done_valid_i,
  output logic        done_ready_o,
  input  flow_t       done_flow_i,
  input  beat_t       done_word_i,
  input  logic        err_valid_i,
  output logic        err_ready_o,
  input  beat_t       err_beat0_i,
  input  beat_t       err_beat1_i,

  input  logic [63:6] err_base_i,
  input  logic [3:0]  err_size_i,
  input  logic [15:0] err_tail_i,
  output logic [NumHosts-1:0] irq_flow_o,  // strobes

  // Strobes for counters.
  output logic [NumLinks-1:0] overflow_o,  // link clock: a packet found no room
  output logic taken_o,
  output logic refused_o,
  output logic known_o,
  output logic beyond_o,
  output logic not_open_o,
  output logic malformed_o,
  output logic retired_o,
  output logic lost_o,
  output logic opened_o,
  output logic write_error_o,
  output logic record_lost_o,
  // Strobes for probes: a header is here, a packet's burst begins, a packet's answer is here, a notice is
  // on the bus.
  output logic header_o,
  output logic write_o,
  output logic answered_o,
  output logic notice_o,
  output logic idle_o
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

  // ---------------------------------------------------------------- BAR offsets
  logic re_queue, re_tail, re_region, re_address, re_none_q;
  assign re_queue   = table_re_i && table_raddr_i[15:12] == 4'hC;
  assign re_tail    = table_re_i && table_raddr_i[15:11] == 5'b1101_0;
  assign re_region  = table_re_i && table_raddr_i[15:11] == 5'b1110_0;
  assign re_address = table_re_i && table_raddr_i[15:8] == 8'hF0;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) re_none_q <= 1'b0;
    else re_none_q <= table_re_i && !(re_queue || re_tail || re_region || re_address);
  end

  // Written a cycle later: what the bus writes goes to the send side's queues too, which lie elsewhere. After
  // reset all tables are emptied at once, a beat a cycle.
  logic clear, we_queue_q, we_tail_q, we_region_q, we_address_q;
  logic [8:0] clear_index, waddr_q;
  beat_t wdata_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      we_queue_q   <= 1'b0;
      we_tail_q    <= 1'b0;
      we_region_q  <= 1'b0;
      we_address_q <= 1'b0;
    end else begin
      we_queue_q   <= clear || (table_we_i && table_addr_i[15:12] == 4'hC);
      we_tail_q    <= clear || (table_we_i && table_addr_i[15:11] == 5'b1101_0);
      we_region_q  <= clear || (table_we_i && table_addr_i[15:11] == 5'b1110_0);
      we_address_q <= clear || (table_we_i && table_addr_i[15:8] == 8'hF0);
    end
  end
  always_ff @(posedge clk_i) begin
    wdata_q <= table_data_i;
    waddr_q <= table_addr_i[11:3];
    // A tail's index has the same bits as an entry's.
    if (table_addr_i[13:12] == 2'b01) waddr_q <= {table_addr_i[10:3], 1'b0};
    if (clear) begin
      wdata_q <= '0;
      waddr_q <= clear_index;
    end
  end

  logic queue_rvalid, region_rvalid, address_rvalid;
  logic [63:0] queue_rdata, region_rdata, address_rdata;
  assign table_rvalid_o = queue_rvalid || region_rvalid || address_rvalid || re_none_q;
  assign table_rdata_o  = ({64{queue_rvalid}} & queue_rdata) |
                          ({64{region_rvalid}} & region_rdata) |
                          ({64{address_rvalid}} & address_rdata);

  // ---------------------------------------------------------------- between the blocks
  logic ask_valid, ask_ready, verdict_valid;
  ask_t ask, control;
  verdict_e verdict;
  logic region_look, region_check, region_extended, region_answer, region_to_queue;
  logic [5:0] region_entry;
  logic [31:0] region_key;
  logic [63:0] region_address;
  logic [3:0] region_code;
  logic [7:0] region_qid, queue_peek;
  logic [1:0] queue_valid, queue_ready, queue_answer, queue_commit, queue_drop;
  enqueue_t [1:0] queue_ask;
  enqueued_t queue;
  flow_t src;
  logic [6:0] beats;
  logic info_we, refused_valid, refused_void, refused_ready;
  place_t place;
  info_t info;
  logic control_valid, control_ready, control_open, coming, write_soon;
  logic receive_idle, region_idle, queue_idle, flows_idle, write_idle, notify_idle, ack_idle;
  logic notify_busy;

  localparam int unsigned PayloadWidth = 66;
  logic payload_in_valid, payload_in_ready, payload_in_bad, payload_in_keep;
  logic payload_valid, payload_ready, payload_bad, payload_keep;
  beat_t payload_in, payload;
  logic piece_in_valid, piece_in_ready, piece_queued, piece_valid, piece_ready;
  piece_t piece_in, piece_first, piece;

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
    .verdict_valid_i  (verdict_valid),
    .verdict_i        (verdict),
    .region_look_o    (region_look),
    .region_entry_o   (region_entry),
    .region_check_o   (region_check),
    .region_extended_o(region_extended),
    .region_key_o     (region_key),
    .region_address_o (region_address),
    .region_answer_i  (region_answer),
    .region_code_i    (region_code),
    .region_to_queue_i(region_to_queue),
    .region_qid_i     (region_qid),
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
    .info_we_o        (info_we),
    .place_o          (place),
    .info_o           (info),
    .refused_valid_o  (refused_valid),
    .refused_void_o   (refused_void),
    .refused_ready_i  (refused_ready),
    .control_valid_o  (control_valid),
    .control_ready_i  (control_ready),
    .control_open_o   (control_open),
    .control_o        (control),
    .rxctl_valid_o,
    .rxctl_header_o,
    .rxctl_o,
    .payload_valid_o  (payload_in_valid),
    .payload_ready_i  (payload_in_ready),
    .payload_bad_o    (payload_in_bad),
    .payload_keep_o   (payload_in_keep),
    .payload_o        (payload_in),
    .piece_valid_o    (piece_in_valid),
    .piece_ready_i    (piece_in_ready),
    .piece_o          (piece_in),
    .coming_o         (coming),
    .header_o,
    .taken_o,
    .refused_o,
    .known_o,
    .beyond_o,
    .not_open_o,
    .malformed_o,
    .idle_o           (receive_idle)
  );

  rdma_regions u_regions (
    .clk_i,
    .rst_ni,
    .we_i          (we_region_q),
    .waddr_i       (waddr_q[7:0]),
    .wdata_i       (wdata_q),
    .re_i          (re_region),
    .raddr_i       (table_raddr_i[10:3]),
    .rvalid_o      (region_rvalid),
    .rdata_o       (region_rdata),
    .look_i        (region_look),
    .look_entry_i  (region_entry),
    .check_i       (region_check),
    .src_i         (src),
    .extended_i    (region_extended),
    .key_i         (region_key),
    .address_i     (region_address),
    .beats_i       (beats),
    .answer_valid_o(region_answer),
    .code_o        (region_code),
    .to_queue_o    (region_to_queue),
    .qid_o         (region_qid),
    .idle_o        (region_idle)
  );

  rdma_queue_table u_queues (
    .clk_i,
    .rst_ni,
    .we_i          (we_queue_q),
    .tail_we_i     (we_tail_q),
    .waddr_i       (waddr_q),
    .wdata_i       (wdata_q),
    .re_i          (re_queue),
    .tail_re_i     (re_tail),
    .raddr_i       (re_tail ? {table_raddr_i[10:3], 1'b0} : table_raddr_i[11:3]),
    .rvalid_o      (queue_rvalid),
    .rdata_o       (queue_rdata),
    .peek_i        (queue_peek),
    .ask_valid_i   (queue_valid),
    .ask_ready_o   (queue_ready),
    .ask_i         (queue_ask),
    .answer_valid_o(queue_answer),
    .answer_o      (queue),
    .commit_i      (queue_commit),
    .drop_i        (queue_drop),
    .idle_o        (queue_idle)
  );

  // ---------------------------------------------------------------- flows
  logic answer_valid, answer_ready, frame, frames, act_valid, act_ready, act_owes;
  answer_t answer;
  act_t act;
  logic [NumHosts-1:0] ack_due, flush_due, begin_session, ack, irq_notify;
  flow_t number_src;
  seq_t number, view_stored;
  logic posted, flush_idle;
  logic deny, deny_open, refuse, late;
  flow_t deny_src, view_src;
  session_t deny_session, view_session;
  refusal_t refusal, late_refusal;
  seq_t view_number;
  logic view_open;

  rdma_resequencer #(.NumHosts(NumHosts)) u_flows (
    .clk_i,
    .rst_ni,
    .enable_i,
    .lost_cycles_i,
    .ready_o,
    .clear_o         (clear),
    .clear_index_o   (clear_index),
    .ask_valid_i     (ask_valid),
    .ask_ready_o     (ask_ready),
    .ask_i           (ask),
    .verdict_valid_o (verdict_valid),
    .verdict_o       (verdict),
    .info_we_i       (info_we),
    .info_src_i      (src),
    .info_place_i    (place),
    .info_i          (info),
    .refused_valid_i (refused_valid),
    .refused_ready_o (refused_ready),
    .refused_src_i   (src),
    .refused_place_i (place),
    .refused_void_i  (refused_void),
    .answer_valid_i  (answer_valid),
    .answer_ready_o  (answer_ready),
    .answer_i        (answer),
    .control_valid_i (control_valid),
    .control_ready_o (control_ready),
    .control_open_i  (control_open),
    .control_i       (control),
    .frame_o         (frame),
    .frames_o        (frames),
    .act_valid_o     (act_valid),
    .act_ready_i     (act_ready),
    .act_owes_i      (act_owes),
    .act_o           (act),
    .ack_o           (ack_due),
    .flush_o         (flush_due),
    .begin_o         (begin_session),
    .number_src_o    (number_src),
    .number_o        (number),
    .deny_o          (deny),
    .deny_src_o      (deny_src),
    .deny_session_o  (deny_session),
    .deny_open_o     (deny_open),
    .refuse_o        (refuse),
    .refuse_refusal_o(refusal),
    .view_src_i      (view_src),
    .view_number_o   (view_number),
    .view_session_o  (view_session),
    .view_open_o     (view_open),
    .retired_o,
    .lost_o,
    .opened_o,
    .idle_o          (flows_idle)
  );

  rdma_flush #(.NumHosts(NumHosts)) u_flush (
    .clk_i,
    .rst_ni,
    .enable_i,
    .ack_i        (ack_due),
    .flush_i      (flush_due),
    .begin_i      (begin_session),
    .src_i        (number_src),
    .number_i     (number),
    .answered_i   (posted),
    .read_valid_o (flush_valid_o),
    .read_ready_i (flush_ready_i),
    .read_done_i  (flush_done_i),
    .read_failed_i(flush_failed_i),
    .ack_o        (ack),
    .view_src_i   (view_src),
    .view_stored_o(view_stored),
    .idle_o       (flush_idle)
  );

  rdma_ack #(.NumHosts(NumHosts)) u_ack (
    .clk_i,
    .rst_ni,
    .host_id_i,
    .ack_i         (ack),
    .deny_i        (deny),
    .deny_src_i    (deny_src),
    .deny_session_i(deny_session),
    .deny_open_i   (deny_open),
    .refuse_i      (refuse),
    .refusal_i     (refusal),
    .late_i        (late),
    .late_refusal_i(late_refusal),
    .view_src_o    (view_src),
    .view_number_i (view_number),
    .view_stored_i (view_stored),
    .view_session_i(view_session),
    .view_open_i   (view_open),
    .ctl_valid_o,
    .ctl_ready_i,
    .ctl_room_i,
    .ctl_header_o,
    .ctl_o,
    .idle_o        (ack_idle)
  );

  // ---------------------------------------------------------------- to memory
  logic notice_valid, notice_ready, notice_second, write_error;
  notice_t notice;

  rdma_notify #(.NumHosts(NumHosts)) u_notify (
    .clk_i,
    .rst_ni,
    .enable_i,
    .err_base_i,
    .err_size_i,
    .err_tail_i,
    .we_i            (we_address_q),
    .waddr_i         (waddr_q[4:0]),
    .wdata_i         (wdata_q),
    .re_i            (re_address),
    .raddr_i         (table_raddr_i[7:3]),
    .rvalid_o        (address_rvalid),
    .rdata_o         (address_rdata),
    .act_valid_i     (act_valid),
    .act_ready_o     (act_ready),
    .act_owes_o      (act_owes),
    .act_i           (act),
    .err_valid_i,
    .err_ready_o,
    .err_beat0_i,
    .err_beat1_i,
    .local_valid_i,
    .local_ready_o,
    .local_flow_i,
    .local_message_i,
    .local_count_i,
    .done_valid_i,
    .done_ready_o,
    .done_flow_i,
    .done_word_i,
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
    .refuse_o        (late),
    .refuse_refusal_o(late_refusal),
    .irq_o           (irq_notify),
    .record_lost_o,
    .busy_o          (notify_busy),
    .idle_o          (notify_idle)
  );

  block_fifo #(
    .Width(PayloadWidth),
    .Depth(256)
  ) u_payload (
    .clk_i,
    .rst_ni,
    .valid_i(payload_in_valid),
    .ready_o(payload_in_ready),
    .data_i ({payload_in_bad, payload_in_keep, payload_in}),
    .valid_o(payload_valid),
    .ready_i(payload_ready),
    .data_o ({payload_bad, payload_keep, payload})
  );

  fifo #(
    .Width($bits(piece_t)),
    .Depth(4)
  ) u_pieces (
    .clk_i,
    .rst_ni,
    .clear_i(1'b0),
    .valid_i(piece_in_valid),
    .ready_o(piece_in_ready),
    .data_i (piece_in),
    .valid_o(piece_queued),
    .ready_i(piece_ready),
    .data_o (piece_first),
    .usage_o()
  );
  // A piece is seen in the cycle in which it comes where no other is; it is not taken before the next.
  assign piece_valid = piece_queued || piece_in_valid;
  assign piece       = piece_queued ? piece_first : piece_in;

  rdma_write u_write (
    .clk_i,
    .rst_ni,
    .bodies_hold_i  (frames),
    .address_hold_i (flush_valid_o),
    .piece_valid_i  (piece_valid),
    .piece_ready_o  (piece_ready),
    .piece_i        (piece),
    .payload_valid_i(payload_valid),
    .payload_ready_o(payload_ready),
    .payload_bad_i  (payload_bad),
    .payload_keep_i (payload_keep),
    .payload_i      (payload),
    .notice_valid_i (notice_valid),
    .notice_ready_o (notice_ready),
    .notice_second_o(notice_second),
    .notice_i       (notice),
    .answer_valid_o (answer_valid),
    .answer_ready_i (answer_ready),
    .answer_o       (answer),
    .awvalid_o,
    .awready_i,
    .awaddr_o,
    .awlen_o,
    .awuser_o,
    .wvalid_o,
    .wready_i,
    .wdata_o,
    .wstrb_o,
    .wlast_o,
    .bvalid_i,
    .bready_o,
    .bresp_i,
    .posted_o       (posted),
    .written_addr_o (flush_addr_o),
    .soon_o         (write_soon),
    .write_o,
    .error_o        (write_error),
    .idle_o         (write_idle)
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
  assign write_error_o = write_error || (flush_done_i && flush_failed_i);

  // ---------------------------------------------------------------- interrupts and probes
  logic answered;
  assign answered = answer_valid && answer_ready;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      irq_flow_o <= '0;
      answered_o <= 1'b0;
      notice_o   <= 1'b0;
    end else begin
      irq_flow_o <= irq_notify |
                    (answered && answer.irq ? NumHosts'(1) << answer.src : '0);
      answered_o <= answered && (answer.wrote == WrotePacket || answer.wrote == WroteBody);
      notice_o   <= notice_valid && notice_ready;
    end
  end

  assign idle_o = &link_idle && receive_idle && region_idle && queue_idle && flows_idle &&
                  write_idle && notify_idle && ack_idle && flush_idle && !payload_valid &&
                  !piece_valid && !re_none_q && !we_queue_q && !we_tail_q && !we_region_q &&
                  !we_address_q && !awsoon_o;
endmodule
