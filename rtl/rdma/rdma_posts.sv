// SPDX-License-Identifier: SHL-2.1
/// What the host has posted and is not granted yet: the queues of requests and of messages.
///
/// The host's stores go to rdma_request_queues and rdma_message_queues. The messages' memory has
/// one read port, which rdma_send shares with rdma_segment: while a message is copied into a packet
/// (message_busy_i) it is rdma_segment's.
///
///   Handshake   store_i: taken in its cycle. ready vectors, heads and reads as in the two modules;
///               read data stands until the next read. message_grant_o: rdma_send's read is done in
///               this cycle. coming_*: the stores come one at a time, so at most one is set
///   Latency     as the two modules
///   Throughput  a store and a read of each kind a cycle
///   Parameters  NumHosts 2..8
///   Not done    checks of what was posted: rdma_send makes them
module rdma_posts
  import rdma_pkg::*;
#(
  parameter int unsigned NumHosts = 8
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  input  logic                run_i,
  input  logic                clear_i,
  input  flow_t               clear_flow_i,
  input  logic                bench_i,
  input  logic [31:0]         stamp_i,

  input  store_t              store_i,
  input  logic                freed_i,            // strobe: room is given back
  input  logic                freed_message_i,
  input  flow_t               freed_flow_i,
  input  logic [8:0]          freed_count_i,

  output logic [MaxHosts-1:0] request_ready_o,
  output logic [MaxHosts-1:0] message_ready_o,
  output logic                coming_o,           // strobe: a post may be ready in two cycles
  output flow_t               coming_flow_o,
  output logic                coming_message_o,
  output logic                coming_early_o,

  input  flow_t               flow_i,             // whose heads are shown and read
  output logic [6:0]          slot_o,
  output logic [7:0]          slots_o,
  input  logic                request_re_i,
  input  logic [10:0]         request_addr_i,
  output beat_t               request_data_o,
  input  logic                request_advance_i,
  input  logic                request_two_i,
  input  logic                request_only_i,
  output logic [7:0]          place_o,
  output logic [6:0]          number_o,
  input  logic                message_re_i,       // of rdma_send
  output logic                message_grant_o,
  input  logic [10:0]         message_addr_i,
  input  logic                message_advance_i,
  input  logic [6:0]          message_size_i,
  input  logic                message_busy_i,     // of rdma_segment
  input  logic                body_re_i,
  input  logic [10:0]         body_addr_i,
  output beat_t               message_data_o,

  output logic                request_posted_o,   // strobes for counters
  output logic                request_bad_o,
  output logic                message_posted_o,
  output logic                message_bad_o,
  output logic                idle_o
);
  logic request_coming, message_coming, requests_idle, message_re;
  flow_t request_coming_flow, message_coming_flow, posted_flow_r, posted_flow_m;
  logic [10:0] message_addr;

  rdma_request_queues #(
    .NumHosts(NumHosts)
  ) u_requests (
    .clk_i,
    .rst_ni,
    .run_i,
    .clear_i,
    .clear_flow_i,
    .bench_i,
    .stamp_i,
    .we_i         (store_i.request),
    .addr_i       (store_i.addr),
    .data_i       (store_i.data),
    .strb_i       (store_i.strb),
    .last_i       (store_i.last),
    .freed_i      (freed_i && !freed_message_i),
    .freed_flow_i,
    .freed_count_i(freed_count_i[7:0]),
    .ready_o      (request_ready_o),
    .coming_o     (request_coming),
    .coming_flow_o(request_coming_flow),
    .early_o      (coming_early_o),
    .flow_i,
    .slot_o,
    .slots_o,
    .re_i         (request_re_i),
    .raddr_i      (request_addr_i),
    .rdata_o      (request_data_o),
    .advance_i    (request_advance_i),
    .two_i        (request_two_i),
    .only_i       (request_only_i),
    .posted_o     (request_posted_o),
    .posted_flow_o(posted_flow_r),
    .bad_o        (request_bad_o),
    .idle_o       (requests_idle)
  );

  assign message_grant_o = !message_busy_i;
  assign message_re      = body_re_i || (message_re_i && message_grant_o);
  assign message_addr    = message_busy_i ? body_addr_i : message_addr_i;

  rdma_message_queues #(
    .NumHosts(NumHosts)
  ) u_messages (
    .clk_i,
    .rst_ni,
    .run_i,
    .clear_i,
    .clear_flow_i,
    .we_i         (store_i.message),
    .addr_i       (store_i.addr),
    .data_i       (store_i.data),
    .strb_i       (store_i.strb),
    .last_i       (store_i.last),
    .freed_i      (freed_i && freed_message_i),
    .freed_flow_i,
    .freed_count_i,
    .ready_o      (message_ready_o),
    .coming_o     (message_coming),
    .coming_flow_o(message_coming_flow),
    .flow_i,
    .place_o,
    .number_o,
    .re_i         (message_re),
    .raddr_i      (message_addr),
    .rdata_o      (message_data_o),
    .advance_i    (message_advance_i),
    .size_i       (message_size_i),
    .posted_o     (message_posted_o),
    .posted_flow_o(posted_flow_m),
    .bad_o        (message_bad_o)
  );

  assign coming_o         = request_coming || message_coming;
  assign coming_flow_o    = request_coming ? request_coming_flow : message_coming_flow;
  assign coming_message_o = !request_coming;

  logic unused;
  assign unused = ^{posted_flow_r, posted_flow_m, store_i.coming};

  assign idle_o = requests_idle && !store_i.message && !message_posted_o && !message_bad_o;
endmodule
