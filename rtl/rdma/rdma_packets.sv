// SPDX-License-Identifier: SHL-2.1
/// Makes packets of what was granted: reads of host memory, and the beats for the VOQs.
///
/// A granted request is queued here while its data is read (rdma_read) and until its packets are
/// made (rdma_segment); the links of its packets are queued beside it. A granted message is copied
/// from its queue. Control packets go between.
///
///   Handshake   request_i: strobe, while request_free_o. plan_i: strobe, link_i is the link of the
///               granted requests' next packet. message_i: strobe, while message_free_o, to link_i.
///               control, message and VOQ ports as rdma_segment; AXI and rearly_i as rdma_read
///   Ahead       arsoon_o: a read will probably be at the pins within a few cycles. From coming_i
///               on, until the address is taken, or look_i has ended without a grant. Low when idle
///   Latency     as rdma_read and rdma_segment; none in between
///   Throughput  a beat a cycle; Outstanding transfers whose last beat is not in a VOQ
///   Parameters  NumLinks 1..4, Outstanding 1..4, EarlyPosts as rdma_segment
///   Not done    checks: rdma_send has made them
module rdma_packets
  import rdma_pkg::*;
  import rdma_tx_pkg::*;
#(
  parameter  int unsigned NumLinks    = 1,
  parameter  int unsigned Outstanding = 1,
  parameter  bit          EarlyPosts  = 1'b0,
  localparam int unsigned LinkWidth = NumLinks > 1 ? $clog2(NumLinks) : 1
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,
  input  host_t                host_id_i,
  input  logic                 bench_i,

  input  logic                 coming_i,         // a descriptor is being written
  input  logic                 look_i,           // rdma_send reads one
  output logic                 request_free_o,
  input  request_grant_t       request_i,
  input  logic                 plan_i,
  input  message_grant_t       message_i,
  input  logic [LinkWidth-1:0] link_i,           // of the packet that is planned, or the message's
  output logic                 message_free_o,
  output logic                 message_busy_o,   // the message queues' memory is in use
  output queue_read_t          message_read_o,
  input  beat_t                message_data_i,

  input  control_room_t        room_i,
  input  logic [LinkWidth-1:0] control_link_i,
  output flow_event_t          control_o,        // strobe: a control packet was written
  input  control_packet_t      ctl_i,
  output logic                 ctl_ready_o,
  input  control_packet_t      own_i,
  output logic                 own_ready_o,

  output logic                 arvalid_o,
  input  logic                 arready_i,
  output burst_t               ar_o,
  output logic                 arsoon_o,
  input  logic                 rvalid_i,
  output logic                 rready_o,
  input  read_beat_t           r_i,
  input  logic                 rearly_i,

  output logic [NumLinks-1:0]  voq_valid_o,
  input  logic [NumLinks-1:0]  voq_ready_i,
  output announce_t            voq_o,
  output logic [NumLinks-1:0]  write_o,
  output voq_beat_t            write_beat_o,

  output logic                 issued_o,         // strobe
  output begun_t               begun_o,
  output read_error_t          error_o,
  input  logic                 error_ready_i,
  output logic                 idle_o
);
  if (Outstanding < 1 || Outstanding > 4) begin : gen_outstanding_check
    $error("rdma_packets: Outstanding is %0d, legal is 1..4", Outstanding);
  end

  localparam int unsigned PlanDepth = MaxPackets * (Outstanding > 2 ? 4 : Outstanding);
  typedef logic [LinkWidth-1:0] link_t;

  // ---------------------------------------------------------------- reads
  logic read_ready, data_coming, data_valid, data_ready, data_bad, read_idle, segment_idle;
  beat_t data;

  rdma_read #(
    .Transfers(Outstanding)
  ) u_read (
    .clk_i,
    .rst_ni,
    .read_valid_i(request_i.read),
    .read_ready_o(read_ready),
    .read_addr_i (request_i.addr),
    .read_beats_i(request_i.beats),
    .arvalid_o,
    .arready_i,
    .araddr_o    (ar_o.addr),
    .arlen_o     (ar_o.len),
    .aruser_o    (ar_o.user),
    .rvalid_i,
    .rready_o,
    .rdata_i     (r_i.data),
    .rresp_i     (r_i.resp),
    .rlast_i     (r_i.last),
    .rearly_i,
    .data_valid_o(data_valid),
    .data_ready_i(data_ready),
    .data_o      (data),
    .bad_o       (data_bad),
    .coming_o    (data_coming),
    .issued_o,
    .idle_o      (read_idle)
  );

  // Transfers granted whose last beat is not in a VOQ.
  logic [2:0] under_q;
  logic job_done;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) under_q <= '0;
    else under_q <= under_q + 3'(request_i.valid) - 3'(job_done);
  end
  assign request_free_o = under_q < 3'(Outstanding) && read_ready;

  // Early bus request while the descriptor is decoded.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) arsoon_o <= 1'b0;
    else arsoon_o <= (request_free_o && coming_i) ||
                     (arsoon_o && (look_i || request_i.read || (!read_ready && !issued_o)));
  end

  // ---------------------------------------------------------------- what was granted
  logic queued_valid, queued_ready, plan_valid, plan_ready;
  job_t queued;
  link_t queued_link;

  if (Outstanding == 1) begin : gen_one
    // The register of rdma_segment is free: no other transfer is under way.
    assign queued_valid = request_i.valid;
    assign queued       = request_i.job;
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
      .valid_i(request_i.valid),
      .ready_o(unused_ready),
      .data_i (request_i.job),
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
    .valid_i(plan_i),
    .ready_o(unused_plan_ready),
    .data_i (link_i),
    .valid_o(plan_valid),
    .ready_i(plan_ready),
    .data_o (queued_link),
    .usage_o()
  );

  // ---------------------------------------------------------------- packets
  rdma_segment #(
    .NumLinks  (NumLinks),
    .EarlyPosts(EarlyPosts)
  ) u_segment (
    .clk_i,
    .rst_ni,
    .host_id_i,
    .bench_i,
    .room_i,
    .control_link_i,
    .control_take_o (control_o),
    .control_i      (ctl_i),
    .control_ready_o(ctl_ready_o),
    .own_i,
    .own_ready_o,
    .post_i         (message_i),
    .post_link_i    (link_i),
    .message_free_o,
    .message_busy_o,
    .message_read_o,
    .message_data_i,
    .job_valid_i    (queued_valid),
    .job_ready_o    (queued_ready),
    .job_i          (queued),
    .plan_valid_i   (plan_valid),
    .plan_ready_o   (plan_ready),
    .plan_link_i    (queued_link),
    .data_coming_i  (data_coming),
    .data_valid_i   (data_valid),
    .data_ready_o   (data_ready),
    .data_i         (data),
    .data_bad_i     (data_bad),
    .job_done_o     (job_done),
    .voq_valid_o,
    .voq_ready_i,
    .voq_o,
    .write_o,
    .write_beat_o,
    .begun_o,
    .error_o,
    .error_ready_i,
    .idle_o         (segment_idle)
  );

  assign idle_o = read_idle && segment_idle && !arsoon_o;
endmodule
