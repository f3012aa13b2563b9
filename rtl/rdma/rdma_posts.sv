// SPDX-License-Identifier: SHL-2.1
/// What the host has posted and is not granted yet: the queues of requests and of messages.
///
/// The host's stores go to rdma_request_queues and rdma_message_queues. The messages' memory has
/// one read port, which rdma_send shares with rdma_segment: while a message is copied into a packet
/// (message_busy_i) it is rdma_segment's.
///
///   Handshake   store_i: taken in its cycle. ready vectors, heads and reads as in the two modules;
///               read data is valid until the next read. message_grant_o: rdma_send's read is
///               done in this cycle. coming_o: the stores come one at a time, so at most one is set
///   Latency     as the two modules
///   Throughput  a store and a read of each kind a cycle
///   Parameters  NumHosts 2..8
///   Not done    checks of what was posted: rdma_send makes them
module rdma_posts
  import rdma_pkg::*;
  import rdma_tx_pkg::*;
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
  input  freed_t              freed_i,

  output logic [MaxHosts-1:0] request_ready_o,
  output logic [MaxHosts-1:0] message_ready_o,
  output coming_t             coming_o,

  input  flow_t               flow_i,             // whose heads are shown and read
  output heads_t              heads_o,
  input  queue_read_t         request_read_i,
  output beat_t               request_data_o,
  input  queue_read_t         message_read_i,     // of rdma_send
  output logic                message_grant_o,
  input  queue_read_t         body_read_i,        // of rdma_segment
  input  logic                message_busy_i,
  output beat_t               message_data_o,
  input  advance_t            advance_i,

  output posts_events_t       events_o,
  output logic                idle_o
);
  logic request_coming, request_early, message_coming, requests_idle, message_re;
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
    .freed_i      (freed_i.valid && !freed_i.message),
    .freed_flow_i (freed_i.flow),
    .freed_count_i(freed_i.count[7:0]),
    .ready_o      (request_ready_o),
    .coming_o     (request_coming),
    .coming_flow_o(request_coming_flow),
    .early_o      (request_early),
    .flow_i,
    .slot_o       (heads_o.slot),
    .slots_o      (heads_o.slots),
    .re_i         (request_read_i.re),
    .raddr_i      (request_read_i.addr),
    .rdata_o      (request_data_o),
    .advance_i    (advance_i.request),
    .two_i        (advance_i.two),
    .only_i       (advance_i.only),
    .posted_o     (events_o.request_posted),
    .posted_flow_o(posted_flow_r),
    .bad_o        (events_o.request_bad),
    .idle_o       (requests_idle)
  );

  assign message_grant_o = !message_busy_i;
  assign message_re      = body_read_i.re || (message_read_i.re && message_grant_o);
  assign message_addr    = message_busy_i ? body_read_i.addr : message_read_i.addr;

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
    .freed_i      (freed_i.valid && freed_i.message),
    .freed_flow_i (freed_i.flow),
    .freed_count_i(freed_i.count),
    .ready_o      (message_ready_o),
    .coming_o     (message_coming),
    .coming_flow_o(message_coming_flow),
    .flow_i,
    .place_o      (heads_o.place),
    .number_o     (heads_o.number),
    .re_i         (message_re),
    .raddr_i      (message_addr),
    .rdata_o      (message_data_o),
    .advance_i    (advance_i.message),
    .size_i       (advance_i.size),
    .posted_o     (events_o.message_posted),
    .posted_flow_o(posted_flow_m),
    .bad_o        (events_o.message_bad)
  );

  assign coming_o = '{
      valid:   request_coming || message_coming,
      flow:    request_coming ? request_coming_flow : message_coming_flow,
      message: !request_coming,
      early:   request_early
  };
  logic unused;
  assign unused = ^{posted_flow_r, posted_flow_m, store_i.coming};

  assign idle_o = requests_idle && !store_i.message && !events_o.message_posted &&
                  !events_o.message_bad;
endmodule
