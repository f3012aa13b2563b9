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
  if (NumHosts < 2 || NumHosts > MaxHosts) begin : gen_hosts_check
    $error("rdma_tx: NumHosts is %0d, legal is 2..%0d", NumHosts, MaxHosts);
  end
  if (NumLinks < 1 || NumLinks > 4) begin : gen_links_check
    $error("rdma_tx: NumLinks is %0d, legal is 1..4", NumLinks);
  end

  localparam int unsigned LinkWidth = NumLinks > 1 ? $clog2(NumLinks) : 1;
  typedef logic [LinkWidth-1:0] link_t;

  // ---------------------------------------------------------------- start and stop
  logic run, clear, commit, moved, send_idle, settled, run_idle;
  logic [8:0] clear_index;
  logic [NumLinks-1:0] up;
  packets_t commit_count;

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
    .count_i      (commit_count),
    .left_i       (moved),
    .idle_i       (send_idle && settled),
    .up_i,
    .link_enable_i,
    .up_o         (up),
    .idle_o       (run_idle)
  );

  // ---------------------------------------------------------------- what was posted
  flow_t flow, coming_flow, freed_flow;
  logic [MaxHosts-1:0] request_ready, message_ready;
  logic coming, coming_message, coming_early;
  logic request_re, request_advance, request_two, request_only;
  logic message_re, message_grant, message_advance, message_busy, body_re, freed, freed_message;
  logic [6:0] slot, number, size;
  logic [7:0] slots, place;
  logic [8:0] freed_count;
  logic [10:0] request_addr, message_addr, body_addr;
  logic posts_idle;
  beat_t request_data, message_data;

  rdma_posts #(
    .NumHosts(NumHosts)
  ) u_posts (
    .clk_i,
    .rst_ni,
    .run_i            (run),
    .clear_i          (clear),
    .clear_flow_i     (clear_index[2:0]),
    .bench_i,
    .stamp_i,
    .store_i,
    .freed_i          (freed),
    .freed_message_i  (freed_message),
    .freed_flow_i     (freed_flow),
    .freed_count_i    (freed_count),
    .request_ready_o  (request_ready),
    .message_ready_o  (message_ready),
    .coming_o         (coming),
    .coming_flow_o    (coming_flow),
    .coming_message_o (coming_message),
    .coming_early_o   (coming_early),
    .flow_i           (flow),
    .slot_o           (slot),
    .slots_o          (slots),
    .request_re_i     (request_re),
    .request_addr_i   (request_addr),
    .request_data_o   (request_data),
    .request_advance_i(request_advance),
    .request_two_i    (request_two),
    .request_only_i   (request_only),
    .place_o          (place),
    .number_o         (number),
    .message_re_i     (message_re),
    .message_grant_o  (message_grant),
    .message_addr_i   (message_addr),
    .message_advance_i(message_advance),
    .message_size_i   (size),
    .message_busy_i   (message_busy),
    .body_re_i        (body_re),
    .body_addr_i      (body_addr),
    .message_data_o   (message_data),
    .request_posted_o (events_o.request_posted),
    .request_bad_o    (events_o.request_bad),
    .message_posted_o (events_o.message_posted),
    .message_bad_o    (events_o.message_bad),
    .idle_o           (posts_idle)
  );

  // ---------------------------------------------------------------- grants
  logic [MaxHosts-1:0] open, open_next, stir, room_stir;
  seq_t next;
  session_t session;
  logic [6:0] lag, left;
  logic take, record, failed, look, job_valid, read_valid, plan, message_free, post, request_free;
  logic give_valid, give_ready, send_error_valid, send_error_ready;
  room_t [NumLinks-1:0] used;
  link_t link, plan_link, post_link;
  logic [NumLinks-1:0] mask;
  beats_t take_beats;
  logic [5:0] record_seq;
  return_t record_return, give_return;
  flow_t failed_flow;
  job_t job;
  post_t post_data;
  logic [63:3] read_addr;
  logic [9:0] read_beats;
  logic [7:0] send_error_code;
  tag_t send_error_tag;
  logic [63:0] send_error_address;

  rdma_send #(
    .NumHosts(NumHosts),
    .NumLinks(NumLinks)
  ) u_send (
    .clk_i,
    .rst_ni,
    .run_i            (run),
    .clear_i          (clear),
    .clear_flow_i     (clear_index[2:0]),
    .bench_i,
    .flow_o           (flow),
    .coming_i         (coming),
    .coming_flow_i    (coming_flow),
    .coming_message_i (coming_message),
    .coming_early_i   (coming_early),
    .write_i          (store_i.request && store_i.strb == '1 && store_i.last),
    .write_addr_i     (store_i.addr),
    .write_data_i     (store_i.data),
    .request_ready_i  (request_ready),
    .slot_i           (slot),
    .slots_i          (slots),
    .look_o           (look),
    .request_re_o     (request_re),
    .request_addr_o   (request_addr),
    .request_data_i   (request_data),
    .request_advance_o(request_advance),
    .request_two_o    (request_two),
    .request_only_o   (request_only),
    .message_ready_i  (message_ready),
    .place_i          (place),
    .number_i         (number),
    .message_re_o     (message_re),
    .message_grant_i  (message_grant),
    .message_addr_o   (message_addr),
    .message_data_i   (message_data),
    .message_advance_o(message_advance),
    .message_size_o   (size),
    .open_i           (open),
    .open_next_i      (open_next),
    .next_i           (next),
    .session_i        (session),
    .lag_i            (lag),
    .left_i           (left),
    .commit_o         (commit),
    .commit_count_o   (commit_count),
    .up_i             (up),
    .used_i           (used),
    .link_i           (link),
    .mask_o           (mask),
    .take_o           (take),
    .take_beats_o     (take_beats),
    .record_o         (record),
    .record_seq_o     (record_seq),
    .record_return_o  (record_return),
    .stir_i           (stir),
    .failed_i         (failed),
    .failed_flow_i    (failed_flow),
    .request_free_i   (request_free),
    .job_valid_o      (job_valid),
    .job_o            (job),
    .read_valid_o     (read_valid),
    .read_addr_o      (read_addr),
    .read_beats_o     (read_beats),
    .plan_o           (plan),
    .plan_link_o      (plan_link),
    .message_free_i   (message_free),
    .post_valid_o     (post),
    .post_o           (post_data),
    .post_link_o      (post_link),
    .give_valid_o     (give_valid),
    .give_ready_i     (give_ready),
    .give_return_o    (give_return),
    .error_valid_o    (send_error_valid),
    .error_ready_i    (send_error_ready),
    .error_code_o     (send_error_code),
    .error_tag_o      (send_error_tag),
    .error_address_o  (send_error_address),
    .idle_o           (send_idle)
  );
  assign events_o.granted = commit;

  // ---------------------------------------------------------------- flows
  logic acked, refused_valid, own_ready, flow_idle;
  logic [MaxHosts-1:0] own_room;
  flow_t acked_flow, refused_flow;
  logic [7:0] refused_code;
  tag_t refused_tag;
  logic [11:0] refused_more;
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
    .next_o          (next),
    .session_o       (session),
    .lag_o           (lag),
    .commit_i        (commit),
    .count_i         (commit_count),
    .receive_valid_i (rxctl_i.valid),
    .receive_header_i(rxctl_i.header),
    .receive_i       (rxctl_i.control),
    .moved_o         (acked),
    .moved_flow_o    (acked_flow),
    .failed_o        (failed),
    .failed_flow_o   (failed_flow),
    .refused_valid_o (refused_valid),
    .refused_flow_o  (refused_flow),
    .refused_code_o  (refused_code),
    .refused_tag_o   (refused_tag),
    .refused_more_o  (refused_more),
    .ignored_o       (events_o.ignored),
    .probe_o         (events_o.probed),
    .control_room_i  (own_room),
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
  assign events_o.failed = failed;

  always_comb begin
    stir = room_stir;
    if (acked) stir[acked_flow] = 1'b1;
    if (failed) stir[failed_flow] = 1'b1;
  end

  // ---------------------------------------------------------------- packets
  logic control_take, read_error_ready, packets_idle;
  link_t control_link;
  flow_t control_flow;
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
    .coming_i        ((coming && !coming_message) || (run && store_i.coming)),
    .look_i          (look),
    .request_free_o  (request_free),
    .job_valid_i     (job_valid),
    .job_i           (job),
    .read_valid_i    (read_valid),
    .read_addr_i     (read_addr),
    .read_beats_i    (read_beats),
    .plan_i          (plan),
    .plan_link_i     (plan_link),
    .post_i          (post),
    .post_data_i     (post_data),
    .post_link_i     (post_link),
    .message_free_o  (message_free),
    .message_busy_o  (message_busy),
    .message_re_o    (body_re),
    .message_addr_o  (body_addr),
    .message_data_i  (message_data),
    .control_room_i  (ctl_room_o),
    .own_room_i      (own_room),
    .control_link_i  (control_link),
    .control_take_o  (control_take),
    .control_flow_o  (control_flow),
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
    .begun_flow_o    (events_o.begun_flow),
    .begun_seq_o     (events_o.begun_seq),
    .error_o         (read_error),
    .error_ready_i   (read_error_ready),
    .idle_o          (packets_idle)
  );

  // ---------------------------------------------------------------- VOQs
  logic voqs_idle;
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
    .clear_i        (clear),
    .clear_index_i  (clear_index),
    .enabled_up_i   (up),
    .link_enable_i,
    .flow_i         (flow),
    .mask_i         (mask),
    .used_o         (used),
    .link_o         (link),
    .left_o         (left),
    .take_i         (take),
    .take_beats_i   (take_beats),
    .record_i       (record),
    .record_seq_i   (record_seq),
    .record_return_i(record_return),
    .give_valid_i   (give_valid),
    .give_ready_o   (give_ready),
    .give_return_i  (give_return),
    .control_room_o (ctl_room_o),
    .own_room_o     (own_room),
    .control_link_o (control_link),
    .control_take_i (control_take),
    .control_flow_i (control_flow),
    .voq_valid_i    (voq_valid),
    .voq_ready_o    (voq_ready),
    .voq_i          (voq),
    .write_i        (write),
    .write_beat_i   (write_beat),
    .freed_o        (freed),
    .freed_message_o(freed_message),
    .freed_flow_o   (freed_flow),
    .freed_count_o  (freed_count),
    .moved_o        (moved),
    .stir_o         (room_stir),
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
  logic error_idle;
  rdma_error_tx u_errors (
    .clk_i,
    .rst_ni,
    .refused_valid_i(refused_valid),
    .refused_flow_i (refused_flow),
    .refused_code_i (refused_code),
    .refused_tag_i  (refused_tag),
    .refused_more_i (refused_more),
    .send_valid_i   (send_error_valid),
    .send_ready_o   (send_error_ready),
    .send_flow_i    (flow),
    .send_code_i    (send_error_code),
    .send_tag_i     (send_error_tag),
    .send_address_i (send_error_address),
    .read_valid_i   (read_error.valid),
    .read_ready_o   (read_error_ready),
    .read_flow_i    (read_error.flow),
    .read_tag_i     (read_error.tag),
    .read_more_i    (read_error.more),
    .error_valid_o  (err_o.valid),
    .error_ready_i  (err_ready_i),
    .error_beat0_o  (err_o.beat0),
    .error_beat1_o  (err_o.beat1),
    .idle_o         (error_idle)
  );

  // Nothing changes at the next edge of either clock unless an input does.
  assign idle_o = run_idle && posts_idle && send_idle && flow_idle && packets_idle && voqs_idle &&
                  error_idle && !store_i.coming && !ctl_i.valid;
endmodule
