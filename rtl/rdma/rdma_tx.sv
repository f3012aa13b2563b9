// SPDX-License-Identifier: SHL-2.1
/// Sending half of the RDMA network interface: descriptors and messages to packets on 1 to 4 links.
///
/// docs/explanation/cores/rdma.md has the formats and the rules. With enable_i high all queues, flows and counts
/// are cleared, in 512 cycles; then running_o is high and writes count. With enable_i low what was granted
/// ends, then running_o falls. A link that is down must be disabled for that, if packets wait for it.
///
///   Handshake   rq_*, mq_*: writes, taken in their cycle; rq_last_i, mq_last_i end the host's burst. ar*, r*: AXI4
///               read master, one ID, aruser as rdma_read. ctl_*: valid/ready, only to hosts whose
///               ctl_room_o is set, else it waits. rxctl_*: strobe, not in two cycles in a row. local_*,
///               done_*, err_*: valid/ready. tx_*: packets for link_port
///   Ordering    the transfers of a queue leave in order; requests and messages have none between them
///   Latency     rq_we_i with rq_last_i to arvalid_o 3 cycles, mq_we_i of a message's last beat to its first at
///               the VOQ 3; 5 and 4 where that write did not follow the one before it at once. rearly_i, or
///               rvalid_i, to the first beat at the VOQ none; a cycle a beat. From the first beat 2 link
///               cycles of crossing and 1 to tx_valid_o
///   Early       rearly_i comes while a read is under way and none of its beats is at rvalid_i. If the beat is
///               later than announced, its packet pauses; without rearly_i a packet begins with rvalid_i
///   Ahead       arsoon_o: a read will probably be at the pins within a few cycles. With rq_coming_i 4 cycles
///               ahead of arvalid_o, else with the end of the descriptor's write; until the address is taken, or
///               the look ends without a grant. Low when idle
///   Throughput  a beat a cycle, less 2 header beats a packet
///   Isolation   a destination that takes nothing holds only its own queues
///   Parameters  NumHosts 2..8, NumLinks 1..4, Outstanding transfers whose reads may be under way 1..4,
///               MaxLinkWords and RoomLag as rdma_voq, EarlyPosts as rdma_segment
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

  input  logic        rq_coming_i,            // a slot's first half is written next, not its last
  input  logic        rq_we_i,
  input  logic [10:0] rq_addr_i,              // flow, slot, half
  input  logic [63:0] rq_data_i,
  input  logic [7:0]  rq_strb_i,
  input  logic        rq_last_i,
  input  logic        mq_we_i,
  input  logic [10:0] mq_addr_i,              // flow, beat
  input  logic [63:0] mq_data_i,
  input  logic [7:0]  mq_strb_i,
  input  logic        mq_last_i,

  output logic        arvalid_o,
  input  logic        arready_i,
  output logic [63:0] araddr_o,
  output logic [7:0]  arlen_o,
  output logic [12:0] aruser_o,
  output logic        arsoon_o,
  input  logic        rvalid_i,
  output logic        rready_o,
  input  logic [63:0] rdata_i,
  input  logic [1:0]  rresp_i,
  input  logic        rlast_i,
  input  logic        rearly_i,               // strobe: the next beat comes soon; 0: unknown

  output logic [MaxHosts-1:0] ctl_room_o,     // a control packet to this host can be queued now
  input  logic        ctl_valid_i,
  output logic        ctl_ready_o,
  input  header_t     ctl_header_i,
  input  control_t    ctl_i,
  input  logic        rxctl_valid_i,
  input  header_t     rxctl_header_i,
  input  control_t    rxctl_i,

  output logic        local_valid_o,
  input  logic        local_ready_i,
  output flow_t       local_flow_o,
  output logic        local_message_o,
  output logic [15:0] local_count_o,
  output logic        done_valid_o,
  input  logic        done_ready_i,
  output flow_t       done_flow_o,
  output logic [63:0] done_word_o,
  output logic        err_valid_o,
  input  logic        err_ready_i,
  output logic [63:0] err_beat0_o,
  output logic [63:0] err_beat1_o,

  // Link's clock.
  input  logic [NumLinks-1:0] up_i,
  input  count_t [NumLinks-1:0][NumHosts-1:0] room_i,
  output logic [NumLinks-1:0] tx_valid_o,
  input  logic [NumLinks-1:0] tx_ready_i,
  output flit_t [NumLinks-1:0] tx_flit_o,
  output logic [NumLinks-1:0] sent_o,         // strobes: a packet's first word goes out,
  output flow_t [NumLinks-1:0] sent_flow_o,
  output seq_t [NumLinks-1:0] sent_seq_o,
  output logic [NumLinks-1:0] dropped_o,      // a packet was dropped: its link is not enabled

  // Strobes, host's clock.
  output logic        request_posted_o,       // slots were released
  output logic        request_bad_o,          // a start of too much, or a write to no flow
  output logic        message_posted_o,
  output logic        message_bad_o,          // a write out of order
  output logic        granted_o,
  output logic        issued_o,               // a transfer's first read burst was taken
  output logic        begun_o,                // a data packet enters its VOQ
  output flow_t       begun_flow_o,
  output seq_t        begun_seq_o,
  output logic        probed_o,               // an ACK is late
  output logic        ignored_o,              // a control packet spoke of nothing of ours
  output logic        failed_o,               // a session has ended
  output logic        idle_o
);
  if (NumHosts < 2 || NumHosts > MaxHosts) begin : gen_hosts_check
    $error("rdma_tx: NumHosts is %0d, legal is 2..%0d", NumHosts, MaxHosts);
  end
  if (NumLinks < 1 || NumLinks > 4) begin : gen_links_check
    $error("rdma_tx: NumLinks is %0d, legal is 1..4", NumLinks);
  end
  if (Outstanding < 1 || Outstanding > 4) begin : gen_outstanding_check
    $error("rdma_tx: Outstanding is %0d, legal is 1..4", Outstanding);
  end

  localparam int unsigned LinkWidth = NumLinks > 1 ? $clog2(NumLinks) : 1;
  localparam int unsigned PlanDepth = MaxPackets * (Outstanding > 2 ? 4 : Outstanding);
  typedef logic [LinkWidth-1:0] link_t;

  // ---------------------------------------------------------------- start and stop
  typedef enum logic [1:0] {
    StOff,
    StClear,
    StRun,
    StStop
  } state_e;

  state_e     state_q;
  logic [8:0] clear_q;
  logic       run, clear, drained;
  assign run       = state_q == StRun;
  assign clear     = state_q == StClear;
  assign running_o = state_q == StRun || state_q == StStop;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= StOff;
      clear_q <= '0;
    end else begin
      if (clear) clear_q <= clear_q + 9'd1;
      unique case (state_q)
        StOff:   if (enable_i) state_q <= StClear;
        StClear: if (clear_q == '1) state_q <= StRun;
        StRun:   if (!enable_i) state_q <= StStop;
        default: if (drained) state_q <= StOff;
      endcase
    end
  end

  // ---------------------------------------------------------------- links that are up
  logic [NumLinks-1:0] up;
  logic up_settled;
  sync_bits #(.Width(NumLinks)) u_up (
    .clk_i,
    .rst_ni,
    .d_i      (up_i),
    .q_o      (up),
    .settled_o(up_settled)
  );
  logic [NumLinks-1:0] up_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      up_q <= '0;
    end else begin
      up_q <= up & link_enable_i;
    end
  end

  // ---------------------------------------------------------------- queues
  flow_t flow;
  logic [MaxHosts-1:0] request_ready, message_ready;
  logic request_coming, message_coming, request_early, request_only;
  flow_t request_coming_flow, message_coming_flow;
  logic [6:0] slot, number, size;
  logic [7:0] slots, place;
  logic request_re, request_advance, request_two, message_re, message_advance, send_message_re;
  logic [10:0] request_addr, message_addr, send_message_addr, segment_message_addr;
  logic message_busy, segment_message_re, message_grant, requests_idle;
  beat_t request_data, message_data;
  logic freed, freed_message;
  flow_t freed_flow, posted_flow_r, posted_flow_m;
  logic [15:0] freed_count;

  rdma_request_queues #(
    .NumHosts(NumHosts)
  ) u_requests (
    .clk_i,
    .rst_ni,
    .run_i        (run),
    .clear_i      (clear),
    .clear_flow_i (clear_q[2:0]),
    .bench_i,
    .stamp_i,
    .we_i         (rq_we_i),
    .addr_i       (rq_addr_i),
    .data_i       (rq_data_i),
    .strb_i       (rq_strb_i),
    .last_i       (rq_last_i),
    .freed_i      (freed && !freed_message),
    .freed_flow_i (freed_flow),
    .freed_count_i(freed_count[7:0]),
    .ready_o      (request_ready),
    .coming_o     (request_coming),
    .coming_flow_o(request_coming_flow),
    .early_o      (request_early),
    .flow_i       (flow),
    .slot_o       (slot),
    .slots_o      (slots),
    .re_i         (request_re),
    .raddr_i      (request_addr),
    .rdata_o      (request_data),
    .advance_i    (request_advance),
    .two_i        (request_two),
    .only_i       (request_only),
    .posted_o     (request_posted_o),
    .posted_flow_o(posted_flow_r),
    .bad_o        (request_bad_o),
    .idle_o       (requests_idle)
  );

  assign message_grant = !message_busy;
  assign message_re    = segment_message_re || (send_message_re && message_grant);
  assign message_addr  = message_busy ? segment_message_addr : send_message_addr;

  rdma_message_queues #(
    .NumHosts(NumHosts)
  ) u_messages (
    .clk_i,
    .rst_ni,
    .run_i        (run),
    .clear_i      (clear),
    .clear_flow_i (clear_q[2:0]),
    .we_i         (mq_we_i),
    .addr_i       (mq_addr_i),
    .data_i       (mq_data_i),
    .strb_i       (mq_strb_i),
    .last_i       (mq_last_i),
    .freed_i      (freed && freed_message),
    .freed_flow_i (freed_flow),
    .freed_count_i(freed_count[8:0]),
    .ready_o      (message_ready),
    .coming_o     (message_coming),
    .coming_flow_o(message_coming_flow),
    .flow_i       (flow),
    .place_o      (place),
    .number_o     (number),
    .re_i         (message_re),
    .raddr_i      (message_addr),
    .rdata_o      (message_data),
    .advance_i    (message_advance),
    .size_i       (size),
    .posted_o     (message_posted_o),
    .posted_flow_o(posted_flow_m),
    .bad_o        (message_bad_o)
  );

  // ---------------------------------------------------------------- grants
  logic [MaxHosts-1:0] open, open_next, stir;
  seq_t next;
  session_t session;
  logic [6:0] lag, left;
  logic commit, take, record, failed, job_valid, read_valid, read_ready, plan, message_free, post;
  packets_t commit_count;
  room_t [NumLinks-1:0] used;
  link_t link, plan_link, post_link;
  logic [NumLinks-1:0] mask;
  beats_t take_beats;
  logic [5:0] record_seq;
  return_t record_return, give_return;
  flow_t failed_flow;
  logic look;
  logic request_free, give_valid, give_ready, send_error_valid, send_error_ready, send_idle;
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
    .clear_flow_i     (clear_q[2:0]),
    .bench_i,
    .flow_o           (flow),
    // rdma_bar writes one at a time.
    .coming_i         (request_coming || message_coming),
    .coming_flow_i    (request_coming ? request_coming_flow : message_coming_flow),
    .coming_message_i (!request_coming),
    .coming_early_i   (request_early),
    .write_i          (rq_we_i && rq_strb_i == '1 && rq_last_i),
    .write_addr_i     (rq_addr_i),
    .write_data_i     (rq_data_i),
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
    .message_re_o     (send_message_re),
    .message_grant_i  (message_grant),
    .message_addr_o   (send_message_addr),
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
    .up_i             (up_q),
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
  assign granted_o = commit;

  // ---------------------------------------------------------------- flows
  logic moved, refused_valid, own_valid, own_ready, flow_idle;
  logic [MaxHosts-1:0] own_room;
  flow_t moved_flow, refused_flow;
  logic [7:0] refused_code;
  tag_t refused_tag;
  logic [11:0] refused_more;
  header_t own_header;
  control_t own;

  rdma_flow_tx u_flow (
    .clk_i,
    .rst_ni,
    .run_i           (run),
    .clear_i         (clear),
    .clear_flow_i    (clear_q[2:0]),
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
    .receive_valid_i (rxctl_valid_i),
    .receive_header_i(rxctl_header_i),
    .receive_i       (rxctl_i),
    .moved_o         (moved),
    .moved_flow_o    (moved_flow),
    .failed_o        (failed),
    .failed_flow_o   (failed_flow),
    .refused_valid_o (refused_valid),
    .refused_flow_o  (refused_flow),
    .refused_code_o  (refused_code),
    .refused_tag_o   (refused_tag),
    .refused_more_o  (refused_more),
    .ignored_o,
    .probe_o         (probed_o),
    .control_room_i  (own_room),
    .own_valid_o     (own_valid),
    .own_ready_i     (own_ready),
    .own_header_o    (own_header),
    .own_o           (own),
    .done_valid_o,
    .done_ready_i,
    .done_flow_o,
    .done_word_o,
    .idle_o          (flow_idle)
  );
  assign failed_o = failed;

  // ---------------------------------------------------------------- links and room
  logic gone, control_take, control_gone, left_moved;
  logic [MaxHosts-1:0] control_room, own_control_room;
  link_t gone_link, control_link;
  flow_t gone_flow, control_flow, left_flow;
  beats_t gone_beats;

  rdma_spread #(
    .NumLinks(NumLinks)
  ) u_spread (
    .clk_i,
    .rst_ni,
    .clear_i           (clear),
    .clear_flow_i      (clear_q[2:0]),
    .flow_i            (flow),
    .mask_i            (mask),
    .used_o            (used),
    .link_o            (link),
    .take_i            (take),
    .beats_i           (take_beats),
    .gone_i            (gone),
    .gone_link_i       (gone_link),
    .gone_flow_i       (gone_flow),
    .gone_beats_i      (gone_beats),
    .up_i              (up_q),
    .control_room_o    (control_room),
    .own_room_o        (own_control_room),
    .control_link_o    (control_link),
    .control_take_i    (control_take),
    .control_flow_i    (control_flow),
    .control_gone_i    (control_gone),
    .control_gone_flow_i(gone_flow)
  );

  // Nothing goes to hosts that are not there.
  localparam logic [MaxHosts-1:0] Present = MaxHosts'((1 << NumHosts) - 1);
  assign ctl_room_o = control_room & Present;
  assign own_room   = own_control_room & Present;

  always_comb begin
    stir = '0;
    if (gone) stir[gone_flow] = 1'b1;
    if (left_moved) stir[left_flow] = 1'b1;
    if (moved) stir[moved_flow] = 1'b1;
    if (failed) stir[failed_flow] = 1'b1;
  end

  // ---------------------------------------------------------------- reads
  logic data_coming, data_valid, data_ready, data_bad, read_idle;
  beat_t data;

  rdma_read #(
    .Transfers(Outstanding)
  ) u_read (
    .clk_i,
    .rst_ni,
    .read_valid_i(read_valid),
    .read_ready_o(read_ready),
    .read_addr_i (read_addr),
    .read_beats_i(read_beats),
    .arvalid_o,
    .arready_i,
    .araddr_o,
    .arlen_o,
    .aruser_o,
    .rvalid_i,
    .rready_o,
    .rdata_i,
    .rresp_i,
    .rlast_i,
    .rearly_i,
    .data_valid_o(data_valid),
    .data_ready_i(data_ready),
    .data_o      (data),
    .bad_o       (data_bad),
    .coming_o    (data_coming),
    .issued_o,
    .idle_o      (read_idle)
  );
  logic unused;
  assign unused = ^{posted_flow_r, posted_flow_m, freed_count};

  // Transfers granted whose last beat is not in a VOQ.
  logic [2:0] under_q;
  logic job_done;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) under_q <= '0;
    else under_q <= under_q + 3'(job_valid) - 3'(job_done);
  end
  assign request_free = under_q < 3'(Outstanding) && read_ready;

  // Early bus request while the descriptor is decoded.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) arsoon_o <= 1'b0;
    else arsoon_o <= (request_free && (request_coming || (run && rq_coming_i))) ||
                     (arsoon_o && (look || read_valid || (!read_ready && !issued_o)));
  end

  // ---------------------------------------------------------------- packets
  logic queued_valid, queued_ready, plan_valid, plan_ready;
  job_t queued;
  link_t queued_link;

  if (Outstanding == 1) begin : gen_one
    // The register of rdma_segment is free: no other transfer is under way.
    assign queued_valid = job_valid;
    assign queued       = job;
    logic unused_ready;
    assign unused_ready = queued_ready;
  end else begin : gen_jobs
    logic unused_ready;
    fifo #(
      .Width     ($bits(job_t)),
      .Depth     (Outstanding > 2 ? 4 : 2),
      .WriteAhead(1'b1)  // a grant is late
    ) u_jobs (
      .clk_i,
      .rst_ni,
      .clear_i(1'b0),
      .valid_i(job_valid),
      .ready_o(unused_ready),
      .data_i (job),
      .valid_o(queued_valid),
      .ready_i(queued_ready),
      .data_o (queued),
      .usage_o()
    );
  end

  logic unused_plan_ready;
  fifo #(
    .Width(LinkWidth),
    .Depth(PlanDepth)
  ) u_plan (
    .clk_i,
    .rst_ni,
    .clear_i(1'b0),
    .valid_i(plan),
    .ready_o(unused_plan_ready),
    .data_i (plan_link),
    .valid_o(plan_valid),
    .ready_i(plan_ready),
    .data_o (queued_link),
    .usage_o()
  );

  logic [NumLinks-1:0] voq_valid, voq_ready, voq_write;
  flow_t voq_flow, voq_write_flow;
  beat_t voq_data;
  logic voq_last, voq_write_last, voq_bad, read_error_valid, read_error_ready, segment_idle;
  flow_t read_error_flow;
  tag_t read_error_tag;
  logic [11:0] read_error_more;

  rdma_segment #(
    .NumLinks  (NumLinks),
    .EarlyPosts(EarlyPosts)
  ) u_segment (
    .clk_i,
    .rst_ni,
    .host_id_i,
    .bench_i,
    .control_room_i  (ctl_room_o),
    .own_room_i      (own_room),
    .control_link_i  (control_link),
    .control_take_o  (control_take),
    .control_flow_o  (control_flow),
    .control_valid_i (ctl_valid_i),
    .control_ready_o (ctl_ready_o),
    .control_header_i(ctl_header_i),
    .control_i       (ctl_i),
    .own_valid_i     (own_valid),
    .own_ready_o     (own_ready),
    .own_header_i    (own_header),
    .own_i           (own),
    .post_i          (post),
    .post_data_i     (post_data),
    .post_link_i     (post_link),
    .message_free_o  (message_free),
    .message_busy_o  (message_busy),
    .message_re_o    (segment_message_re),
    .message_addr_o  (segment_message_addr),
    .message_data_i  (message_data),
    .job_valid_i     (queued_valid),
    .job_ready_o     (queued_ready),
    .job_i           (queued),
    .plan_valid_i    (plan_valid),
    .plan_ready_o    (plan_ready),
    .plan_link_i     (queued_link),
    .data_coming_i   (data_coming),
    .data_valid_i    (data_valid),
    .data_ready_o    (data_ready),
    .data_i          (data),
    .data_bad_i      (data_bad),
    .job_done_o      (job_done),
    .voq_valid_o     (voq_valid),
    .voq_ready_i     (voq_ready),
    .voq_flow_o      (voq_flow),
    .voq_last_o      (voq_last),
    .write_o         (voq_write),
    .write_flow_o    (voq_write_flow),
    .write_last_o    (voq_write_last),
    .write_bad_o     (voq_bad),
    .write_data_o    (voq_data),
    .begun_o,
    .begun_flow_o,
    .begun_seq_o,
    .error_valid_o   (read_error_valid),
    .error_ready_i   (read_error_ready),
    .error_flow_o    (read_error_flow),
    .error_tag_o     (read_error_tag),
    .error_more_o    (read_error_more),
    .idle_o          (segment_idle)
  );

  // ---------------------------------------------------------------- VOQs
  logic [NumLinks-1:0] departure_valid, departure_ready, voq_idle;
  departure_t [NumLinks-1:0] departure;

  for (genvar l = 0; l < int'(NumLinks); l++) begin : gen_voq
    rdma_voq #(
      .NumHosts    (NumHosts),
      .Beats       (voq_beats(NumLinks)),
      .MaxLinkWords(MaxLinkWords),
      .RoomLag     (RoomLag)
    ) u_voq (
      .clk_i,
      .rst_ni,
      .link_clk_i,
      .link_rst_ni,
      .valid_i          (voq_valid[l]),
      .ready_o          (voq_ready[l]),
      .flow_i           (voq_flow),
      .last_i           (voq_last),
      .write_i          (voq_write[l]),
      .write_flow_i     (voq_write_flow),
      .write_last_i     (voq_write_last),
      .bad_i            (voq_bad),
      .data_i           (voq_data),
      .departure_valid_o(departure_valid[l]),
      .departure_ready_i(departure_ready[l]),
      .departure_o      (departure[l]),
      .bench_i,
      .stamp_i          (link_stamp_i),
      .enable_i         (link_enable_i[l]),
      .up_i             (up_i[l]),
      .room_i           (room_i[l]),
      .tx_valid_o       (tx_valid_o[l]),
      .tx_ready_i       (tx_ready_i[l]),
      .tx_flit_o        (tx_flit_o[l]),
      .sent_o           (sent_o[l]),
      .sent_flow_o      (sent_flow_o[l]),
      .sent_seq_o       (sent_seq_o[l]),
      .dropped_o        (dropped_o[l]),
      .idle_o           (voq_idle[l])
    );
  end

  logic departures_idle;
  rdma_departures #(
    .NumLinks(NumLinks)
  ) u_departures (
    .clk_i,
    .rst_ni,
    .clear_i          (clear),
    .clear_addr_i     (clear_q),
    .departure_valid_i(departure_valid),
    .departure_ready_o(departure_ready),
    .departure_i      (departure),
    .record_i         (record),
    .record_flow_i    (flow),
    .record_seq_i     (record_seq),
    .record_return_i  (record_return),
    .give_valid_i     (give_valid),
    .give_ready_o     (give_ready),
    .give_flow_i      (flow),
    .give_return_i    (give_return),
    .flow_i           (flow),
    .next_o           (left),
    .gone_o           (gone),
    .gone_link_o      (gone_link),
    .gone_flow_o      (gone_flow),
    .gone_beats_o     (gone_beats),
    .control_gone_o   (control_gone),
    .freed_o          (freed),
    .freed_message_o  (freed_message),
    .freed_flow_o     (freed_flow),
    .freed_count_o    (freed_count),
    .moved_o          (left_moved),
    .moved_flow_o     (left_flow),
    .local_valid_o,
    .local_ready_i,
    .local_flow_o,
    .local_message_o,
    .local_count_o,
    .idle_o           (departures_idle)
  );

  // Data packets that were granted and have not left.
  logic [9:0] away_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) away_q <= '0;
    else away_q <= away_q + (commit ? 10'(commit_count) : '0) - 10'(left_moved);
  end
  assign drained = away_q == '0 && send_idle && departures_idle && !commit;

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
    .read_valid_i   (read_error_valid),
    .read_ready_o   (read_error_ready),
    .read_flow_i    (read_error_flow),
    .read_tag_i     (read_error_tag),
    .read_more_i    (read_error_more),
    .error_valid_o  (err_valid_o),
    .error_ready_i  (err_ready_i),
    .error_beat0_o  (err_beat0_o),
    .error_beat1_o  (err_beat1_o),
    .idle_o         (error_idle)
  );

  // Nothing changes at the next edge of either clock unless an input does.
  assign idle_o = (state_q == StOff ? !enable_i : run && enable_i) && requests_idle && !mq_we_i &&
                  !message_posted_o && !message_bad_o && send_idle && flow_idle && read_idle &&
                  !arsoon_o && !rq_coming_i &&
                  segment_idle && departures_idle && error_idle && voq_idle == '1 && !ctl_valid_i &&
                  up_settled && up_q == (up_i & link_enable_i);
endmodule
