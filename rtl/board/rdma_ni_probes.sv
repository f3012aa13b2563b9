// SPDX-License-Identifier: SHL-2.1
/// Counters and probes of the RDMA network interface.
///
///   Latency     a counter shows an event in the next cycle; a probe in its own
///   Tags        as rdma_ni_pkg: packets have their number and host, the others count
///   Throughput  every event in every cycle
///   Parameters  none
///   Not done    a halt at the end: the counters wrap at 2^32
module rdma_ni_probes
  import rdma_ni_pkg::*;
(
  input  logic clk_i,
  input  logic rst_ni,
  input  rdma_tx_pkg::tx_events_t  tx_i,
  input  rdma_rx_pkg::rx_events_t  rx_i,
  input  logic                     refused_i,  // a store that rdma_bar has refused
  output rdma_ctrl_pkg::counters_t counters_o,
  output logic [NumProbes-1:0]      probe_o,
  output logic [NumProbes-1:0][7:0] probe_tag_o
);
  // ---------------------------------------------------------------- counters
  rdma_ctrl_pkg::counters_t counters_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      counters_q <= '0;
    end else begin
      if (tx_i.granted) counters_q.granted <= counters_q.granted + 32'd1;
      if (tx_i.begun.valid) counters_q.packets_sent <= counters_q.packets_sent + 32'd1;
      if (rx_i.receive.taken) counters_q.packets_taken <= counters_q.packets_taken + 32'd1;
      if (rx_i.receive.refused) counters_q.packets_refused <= counters_q.packets_refused + 32'd1;
      if (rx_i.receive.known) counters_q.packets_known <= counters_q.packets_known + 32'd1;
      if (rx_i.receive.beyond || rx_i.receive.not_open ||
          rx_i.receive.malformed) begin
        counters_q.packets_stray <= counters_q.packets_stray + 32'd1;
      end
      if (rx_i.flows.retired) counters_q.packets_retired <= counters_q.packets_retired + 32'd1;
      if (rx_i.flows.lost) counters_q.packets_lost <= counters_q.packets_lost + 32'd1;
      if (rx_i.flows.opened) counters_q.sessions_opened <= counters_q.sessions_opened + 32'd1;
      if (tx_i.failed) counters_q.sessions_failed <= counters_q.sessions_failed + 32'd1;
      if (tx_i.probed) counters_q.probes <= counters_q.probes + 32'd1;
      if (tx_i.posts.request_bad || tx_i.posts.message_bad || refused_i) begin
        counters_q.posts_bad <= counters_q.posts_bad + 32'd1;
      end
      if (rx_i.write_error) counters_q.write_errors <= counters_q.write_errors + 32'd1;
      if (rx_i.record_lost) counters_q.records_lost <= counters_q.records_lost + 32'd1;
    end
  end
  assign counters_o = counters_q;

  // ---------------------------------------------------------------- probes
  logic [NumProbes-1:0] strobe, strobe_q;
  logic [NumProbes-1:0][7:0] count, count_q;
  always_comb begin
    strobe = '0;
    strobe[RequestPosted] = tx_i.posts.request_posted;
    strobe[MessagePosted] = tx_i.posts.message_posted;
    strobe[Granted]       = tx_i.granted;
    strobe[ReadIssued]    = tx_i.issued;
    strobe[PacketBegun]   = tx_i.begun.valid;
    strobe[HeaderCame]    = rx_i.receive.header;
    strobe[WriteIssued]   = rx_i.write;
    strobe[Answered]      = rx_i.answered;
    strobe[NoticeWritten] = rx_i.notice;
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      strobe_q <= '0;
      count_q  <= '0;
    end else begin
      strobe_q <= strobe;
      count_q  <= count;
    end
  end
  // A strobe is late in its cycle: it is counted in the next.
  always_comb begin
    for (int unsigned i = 0; i < NumProbes; i++) count[i] = count_q[i] + 8'(strobe_q[i]);
    probe_o     = strobe;
    probe_tag_o = count;
    probe_tag_o[PacketBegun] = {tx_i.begun.flow, tx_i.begun.seq[4:0]};
  end

  logic unused;
  assign unused = ^{tx_i, rx_i};
endmodule
