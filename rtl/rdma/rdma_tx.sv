// SPDX-License-Identifier: SHL-2.1
/// Sending half of the RDMA network interface: descriptors and messages to packets on 1 to 4 links.
///
/// docs/explanation/cores/rdma.md has the formats and the rules. With enable_i high all queues,
/// flows and counts are cleared, in 512 cycles; then running_o is high and stores count. With
/// enable_i low what was granted is still sent, then running_o falls. A link that is down must be
/// disabled for that, if packets wait for it. Composition of rdma_tx_run, rdma_posts, rdma_send,
/// rdma_flow_tx, rdma_packets, rdma_voqs and rdma_error_tx.
///
///   Handshake   store_i: strobes, taken in their cycle. ar*, r*: AXI4 read master, one ID, as
///               rdma_read. ctl_i: held until ctl_ready_o, only to hosts whose ctl_room_o is set,
///               else it waits. rxctl_i: strobe, not in two cycles in a row. local_o, done_o,
///               err_o: held until ready. tx_*: packets for link_port
///   Ordering    the transfers of a queue leave in order; requests and messages have none between
///               them
///   Latency     a request's last store to arvalid_o 3 cycles, a message's to its first beat at the
///               VOQ 3; 5 and 4 where that store did not follow the one before it at once.
///               rearly_i, or rvalid_i, to the first beat at the VOQ none; a cycle a beat. From the
///               first beat 2 link cycles of crossing and 1 to tx_valid_o
///   Early       rearly_i comes while a read is under way and none of its beats is at rvalid_i. If
///               the beat is later than announced, its packet pauses; without rearly_i a packet
///               begins with rvalid_i
///   Ahead       arsoon_o: a read will probably be at the pins within a few cycles. With
///               store_i.coming 4 cycles ahead of arvalid_o, else with the end of the descriptor's
///               store; until the address is taken, or the look ends without a grant. Low when idle
///   Throughput  a beat a cycle, less 2 header beats a packet
///   Isolation   a destination that takes nothing holds only its own queues
///   Parameters  NumHosts 2..8, NumLinks 1..4, Outstanding transfers whose reads may be under way
///               1..4, MaxLinkWords and RoomLag as rdma_voq, EarlyPosts as rdma_segment
///   Not done    sending again what was lost
module rdma_tx
  import rdma_pkg::*;
  import rdma_tx_pkg::*;
  import link_pkg::*;
#(
  parameter int unsigned NumHosts     = 8,
  parameter int unsigned NumLinks     = 1,
  parameter int unsigned Outstanding  = 1,
  parameter bit          EarlyPosts   = 1'b0,
  parameter int unsigned MaxLinkWords = rdma_pkg::MaxWords,
  parameter int unsigned RoomLag      = 1
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        link_clk_i,
  input  logic        link_rst_ni,

  input  logic        enable_i,
  output logic        running_o,
  input  host_t       host_id_i,
  input  session_t    first_session_i,
  input  logic [31:0] probe_cycles_i,
  input  logic [NumLinks-1:0] link_enable_i,  // low: its packets are dropped, and it gets no more
  input  logic        bench_i,                // as link_port's; stable while packets are in flight
  input  logic [31:0] stamp_i,
  input  logic [31:0] link_stamp_i,

  input  store_t      store_i,

  output logic        arvalid_o,
  input  logic        arready_i,
  output burst_t      ar_o,
  output logic        arsoon_o,
  input  logic        rvalid_i,
  output logic        rready_o,
  input  read_beat_t  r_i,
  input  logic        rearly_i,               // strobe: the next beat comes soon; 0: unknown

  output logic [MaxHosts-1:0] ctl_room_o,     // a control packet to this host can be queued now
  input  control_packet_t ctl_i,
  output logic        ctl_ready_o,
  input  control_packet_t rxctl_i,

  output local_report_t local_o,
  input  logic        local_ready_i,
  output done_report_t done_o,
  input  logic        done_ready_i,
  output error_report_t err_o,
  input  logic        err_ready_i,

  // Link's clock.
  input  logic [NumLinks-1:0] up_i,
  input  count_t [NumLinks-1:0][NumHosts-1:0] room_i,
  output logic [NumLinks-1:0] tx_valid_o,
  input  logic [NumLinks-1:0] tx_ready_i,
  output flit_t [NumLinks-1:0] tx_flit_o,
  output sent_t [NumLinks-1:0] sent_o,

  output tx_events_t  events_o,               // host's clock
  output logic        idle_o
);
  // Ranges of the parameters are checked in the blocks.
  localparam int unsigned LinkWidth = NumLinks > 1 ? $clog2(NumLinks) : 1;

  // ---------------------------------------------------------------- start and stop
  logic run, clear, moved, send_idle, settled, run_idle;
  logic [8:0] clear_index;
  logic [NumLinks-1:0] up;
  commit_t commit;

  rdma_tx_run #(
    .NumLinks(NumLinks)
  ) u_run (
    .clk_i,
    .rst_ni,
    .enable_i,
    .running_o,
    .run_o        (run),
    .clear_o      (clear),
    .clear_index_o(clear_index),
    .commit_i     (commit),
    .left_i       (moved),
    .idle_i       (send_idle && settled),
    .up_i,
    .link_enable_i,
    .up_o         (up),
    .idle_o       (run_idle)
  );

  // ---------------------------------------------------------------- what was posted
  flow_t flow;
  logic [MaxHosts-1:0] request_ready, message_ready;
  logic message_grant, message_busy, posts_idle;
  freed_t freed;
  coming_t coming;
  heads_t heads;
  queue_read_t request_read, message_read, body_read;
  advance_t advance;
  beat_t request_data, message_data;

  rdma_posts #(
    .NumHosts(NumHosts)
  ) u_posts (
    .clk_i,
    .rst_ni,
    .run_i           (run),
    .clear_i         (clear),
    .clear_flow_i    (clear_index[2:0]),
    .bench_i,
    .stamp_i,
    .store_i,
    .freed_i         (freed),
    .request_ready_o (request_ready),
    .message_ready_o (message_ready),
    .coming_o        (coming),
    .flow_i          (flow),
    .heads_o         (heads),
    .request_read_i  (request_read),
    .request_data_o  (request_data),
    .message_read_i  (message_read),
    .message_grant_o (message_grant),
    .body_read_i     (body_read),
    .message_busy_i  (message_busy),
    .message_data_o  (message_data),
    .advance_i       (advance),
    .events_o        (events_o.posts),
    .idle_o          (posts_idle)
  );

  // ---------------------------------------------------------------- grants
  logic [MaxHosts-1:0] open, open_next, stir;
  numbers_t numbers;
  logic [6:0] left;
  logic look, plan, message_free, request_free, give_ready, send_error_ready;
  room_t [NumLinks-1:0] used;
  logic [LinkWidth-1:0] link, control_link;
  logic [NumLinks-1:0] mask;
  packet_grant_t packet;
  flow_event_t acked, failed;
  request_grant_t request;
  message_grant_t message;
  give_t give;
  send_error_t send_error;

  rdma_send #(
    .NumHosts(NumHosts),
    .NumLinks(NumLinks)
  ) u_send (
    .clk_i,
    .rst_ni,
    .run_i          (run),
    .clear_i        ('{valid: clear, flow: clear_index[2:0]}),
    .bench_i,
    .flow_o         (flow),
    .coming_i       (coming),
    .store_i,
    .request_ready_i(request_ready),
    .message_ready_i(message_ready),
    .heads_i        (heads),
    .look_o         (look),
    .request_read_o (request_read),
    .request_data_i (request_data),
    .message_read_o (message_read),
    .message_grant_i(message_grant),
    .message_data_i (message_data),
    .advance_o      (advance),
    .open_i         (open),
    .open_next_i    (open_next),
    .numbers_i      (numbers),
    .left_i         (left),
    .commit_o       (commit),
    .up_i           (up),
    .used_i         (used),
    .link_i         (link),
    .mask_o         (mask),
    .packet_o       (packet),
    .stir_i         (stir),
    .failed_i       (failed),
    .request_free_i (request_free),
    .request_o      (request),
    .plan_o         (plan),
    .message_free_i (message_free),
    .message_o      (message),
    .give_o         (give),
    .give_ready_i   (give_ready),
    .error_o        (send_error),
    .error_ready_i  (send_error_ready),
    .idle_o         (send_idle)
  );
  assign events_o.granted = commit.valid;

  // ---------------------------------------------------------------- flows
  logic own_ready, flow_idle;
  control_room_t control_room;
  refused_t refused;
  control_packet_t own;

  rdma_flow_tx u_flow (
    .clk_i,
    .rst_ni,
    .run_i           (run),
    .clear_i         (clear),
    .clear_flow_i    (clear_index[2:0]),
    .host_id_i,
    .first_session_i,
    .probe_cycles_i,
    .want_i          (request_ready | message_ready),
    .open_o          (open),
    .open_next_o     (open_next),
    .flow_i          (flow),
    .next_o          (numbers.next),
    .session_o       (numbers.session),
    .lag_o           (numbers.lag),
    .commit_i        (commit),
    .receive_valid_i (rxctl_i.valid),
    .receive_header_i(rxctl_i.header),
    .receive_i       (rxctl_i.control),
    .moved_o         (acked.valid),
    .moved_flow_o    (acked.flow),
    .failed_o        (failed.valid),
    .failed_flow_o   (failed.flow),
    .refused_valid_o (refused.valid),
    .refused_flow_o  (refused.flow),
    .refused_code_o  (refused.code),
    .refused_tag_o   (refused.tag),
    .refused_more_o  (refused.more),
    .ignored_o       (events_o.ignored),
    .probe_o         (events_o.probed),
    .control_room_i  (control_room.own),
    .own_valid_o     (own.valid),
    .own_ready_i     (own_ready),
    .own_header_o    (own.header),
    .own_o           (own.control),
    .done_valid_o    (done_o.valid),
    .done_ready_i,
    .done_flow_o     (done_o.flow),
    .done_word_o     (done_o.word),
    .idle_o          (flow_idle)
  );
  assign events_o.failed = failed.valid;

  // ---------------------------------------------------------------- packets
  logic read_error_ready, packets_idle, voqs_idle, error_idle;
  flow_event_t control;
  logic [NumLinks-1:0] voq_valid, voq_ready, write;
  announce_t voq;
  voq_beat_t write_beat;
  read_error_t read_error;

  rdma_packets #(
    .NumLinks   (NumLinks),
    .Outstanding(Outstanding),
    .EarlyPosts (EarlyPosts)
  ) u_packets (
    .clk_i,
    .rst_ni,
    .host_id_i,
    .bench_i,
    .coming_i        ((coming.valid && !coming.message) || (run && store_i.coming)),
    .look_i          (look),
    .request_free_o  (request_free),
    .request_i       (request),
    .plan_i          (plan),
    .message_i       (message),
    .link_i          (link),
    .message_free_o  (message_free),
    .message_busy_o  (message_busy),
    .message_read_o  (body_read),
    .message_data_i  (message_data),
    .room_i          (control_room),
    .control_link_i  (control_link),
    .control_o       (control),
    .ctl_i,
    .ctl_ready_o,
    .own_i           (own),
    .own_ready_o     (own_ready),
    .arvalid_o,
    .arready_i,
    .ar_o,
    .arsoon_o,
    .rvalid_i,
    .rready_o,
    .r_i,
    .rearly_i,
    .voq_valid_o     (voq_valid),
    .voq_ready_i     (voq_ready),
    .voq_o           (voq),
    .write_o         (write),
    .write_beat_o    (write_beat),
    .issued_o        (events_o.issued),
    .begun_o         (events_o.begun),
    .error_o         (read_error),
    .error_ready_i   (read_error_ready),
    .idle_o          (packets_idle)
  );

  // ---------------------------------------------------------------- VOQs
  rdma_voqs #(
    .NumHosts    (NumHosts),
    .NumLinks    (NumLinks),
    .MaxLinkWords(MaxLinkWords),
    .RoomLag     (RoomLag)
  ) u_voqs (
    .clk_i,
    .rst_ni,
    .link_clk_i,
    .link_rst_ni,
    .clear_i        ('{valid: clear, index: clear_index}),
    .enabled_up_i   (up),
    .link_enable_i,
    .flow_i         (flow),
    .mask_i         (mask),
    .used_o         (used),
    .link_o         (link),
    .left_o         (left),
    .packet_i       (packet),
    .give_i         (give),
    .give_ready_o   (give_ready),
    .control_room_o (control_room),
    .control_link_o (control_link),
    .control_i      (control),
    .voq_valid_i    (voq_valid),
    .voq_ready_o    (voq_ready),
    .voq_i          (voq),
    .write_i        (write),
    .write_beat_i   (write_beat),
    .freed_o        (freed),
    .moved_o        (moved),
    .acked_i        (acked),
    .failed_i       (failed),
    .stir_o         (stir),
    .local_o,
    .local_ready_i,
    .bench_i,
    .link_stamp_i,
    .up_i,
    .room_i,
    .tx_valid_o,
    .tx_ready_i,
    .tx_flit_o,
    .sent_o,
    .settled_o      (settled),
    .idle_o         (voqs_idle)
  );

  // ---------------------------------------------------------------- errors
  rdma_error_tx u_errors (
    .clk_i,
    .rst_ni,
    .refused_i    (refused),
    .send_i       (send_error),
    .send_ready_o (send_error_ready),
    .read_i       (read_error),
    .read_ready_o (read_error_ready),
    .error_o      (err_o),
    .error_ready_i(err_ready_i),
    .idle_o       (error_idle)
  );

  assign ctl_room_o = control_room.ctl;

  // Nothing changes at the next edge of either clock unless an input does.
  assign idle_o = run_idle && posts_idle && send_idle && flow_idle && packets_idle && voqs_idle &&
                  error_idle && !store_i.coming && !ctl_i.valid;
endmodule
