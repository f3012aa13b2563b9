// SPDX-License-Identifier: SHL-2.1
/// rdma_posts: each store, each room given back and each advance reaches the queues that it is of,
/// and they alone; the messages' memory is read for rdma_segment while it copies, else for
/// rdma_send, which gets a signal for it; heads, events and data are those of their queue; what is
/// announced comes from the queue that announced it; idle: nothing stored or posted, none refused.
///
/// `any_queues` represents both kinds of queues.
module rdma_posts_props
  import rdma_pkg::*;
  import rdma_tx_pkg::*;
(
  input logic        clk_i,
  input logic        rst_ni,
  input logic        run_i,
  input logic        clear_i,
  input flow_t       clear_flow_i,
  input logic        bench_i,
  input logic [31:0] stamp_i,
  input store_t      store_i,
  input freed_t      freed_i,
  input flow_t       flow_i,
  input queue_read_t request_read_i,
  input queue_read_t message_read_i,
  input queue_read_t body_read_i,
  input logic        message_busy_i,
  input advance_t    advance_i
);
  logic [MaxHosts-1:0] request_ready_o, message_ready_o;
  coming_t       coming_o;
  heads_t        heads_o;
  beat_t         request_data_o, message_data_o;
  logic          message_grant_o, idle_o;
  posts_events_t events_o;

  rdma_posts dut (.*);

  // Read for rdma_segment, for rdma_send, for nobody.
  logic body, head;
  assign body = message_busy_i && body_read_i.re;
  assign head = !message_busy_i && message_read_i.re;

  always_comb begin
    // The host's stores come one at a time; rdma_segment reads while it copies.
    assume (!(store_i.request && store_i.message));
    assume (!(dut.u_requests.coming_o && dut.u_messages.coming_o));
    assume (message_busy_i || !body_read_i.re);

    // Requests.
    assert (dut.u_requests.we_i == store_i.request);
    assert ({dut.u_requests.addr_i, dut.u_requests.data_i, dut.u_requests.strb_i,
             dut.u_requests.last_i} == {store_i.addr, store_i.data, store_i.strb, store_i.last});
    assert (dut.u_requests.freed_i == (freed_i.valid && !freed_i.message));
    assert (dut.u_requests.freed_flow_i == freed_i.flow);
    assert (dut.u_requests.freed_count_i == freed_i.count[7:0]);
    assert ({dut.u_requests.re_i, dut.u_requests.raddr_i} == request_read_i);
    assert (dut.u_requests.advance_i == advance_i.request);
    assert ({dut.u_requests.two_i, dut.u_requests.only_i} == {advance_i.two, advance_i.only});
    assert ({dut.u_requests.bench_i, dut.u_requests.stamp_i} == {bench_i, stamp_i});
    assert (request_ready_o == dut.u_requests.ready_o);
    assert (request_data_o == dut.u_requests.rdata_o);
    assert ({heads_o.slot, heads_o.slots} == {dut.u_requests.slot_o, dut.u_requests.slots_o});

    // Messages.
    assert (dut.u_messages.we_i == store_i.message);
    assert ({dut.u_messages.addr_i, dut.u_messages.data_i, dut.u_messages.strb_i,
             dut.u_messages.last_i} == {store_i.addr, store_i.data, store_i.strb, store_i.last});
    assert (dut.u_messages.freed_i == (freed_i.valid && freed_i.message));
    assert (dut.u_messages.freed_flow_i == freed_i.flow);
    assert (dut.u_messages.freed_count_i == freed_i.count);
    assert (message_grant_o == !message_busy_i);
    assert (dut.u_messages.re_i == (body || head));
    if (body) assert (dut.u_messages.raddr_i == body_read_i.addr);
    if (head) assert (dut.u_messages.raddr_i == message_read_i.addr);
    assert ({dut.u_messages.advance_i, dut.u_messages.size_i} ==
            {advance_i.message, advance_i.size});
    assert (message_ready_o == dut.u_messages.ready_o);
    assert (message_data_o == dut.u_messages.rdata_o);
    assert ({heads_o.place, heads_o.number} == {dut.u_messages.place_o, dut.u_messages.number_o});

    // Both.
    assert ({dut.u_requests.run_i, dut.u_requests.clear_i, dut.u_requests.clear_flow_i,
             dut.u_requests.flow_i} == {run_i, clear_i, clear_flow_i, flow_i});
    assert ({dut.u_messages.run_i, dut.u_messages.clear_i, dut.u_messages.clear_flow_i,
             dut.u_messages.flow_i} == {run_i, clear_i, clear_flow_i, flow_i});
    assert (coming_o.valid == (dut.u_requests.coming_o || dut.u_messages.coming_o));
    if (dut.u_requests.coming_o) begin
      assert (!coming_o.message && coming_o.flow == dut.u_requests.coming_flow_o);
      assert (coming_o.early == dut.u_requests.early_o);
    end
    if (dut.u_messages.coming_o) begin
      assert (coming_o.message && coming_o.flow == dut.u_messages.coming_flow_o);
    end
    assert (events_o.request_posted == dut.u_requests.posted_o);
    assert (events_o.request_bad == dut.u_requests.bad_o);
    assert (events_o.message_posted == dut.u_messages.posted_o);
    assert (events_o.message_bad == dut.u_messages.bad_o);
    if (idle_o) begin
      assert (dut.u_requests.idle_o && !store_i.message && !dut.u_messages.posted_o);
      assert (!dut.u_messages.bad_o);
    end else begin
      assert (!dut.u_requests.idle_o || store_i.message || dut.u_messages.posted_o ||
              dut.u_messages.bad_o);
    end
    cover (body && coming_o.message && store_i.message);
    cover (head && idle_o && freed_i.message);
  end
endmodule
