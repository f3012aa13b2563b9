// SPDX-License-Identifier: SHL-2.1
/// ARP of a 10 Gb/s stack: requests that are answered and requests of our own, from the receive
/// clock into the transmit clock; the answers to our own.
///
///   Handshake   req_valid_i: a strobe, with busy_o low. ask_i and ask_ready_o valid/ready: the
///               next one is taken when the request before it is on its way, and replaces it.
///               answer_o is a strobe. arp_valid_o, arp_ready_i valid/ready in tx_clk_i
///   Ordering    replies in the order of requests; a request of our own waits while one comes.
///               One answer a request at most: a second reply, or one that was not asked for,
///               is not taken
///   Latency     req_valid_i to arp_valid_o: as async_fifo; ask taken to it 1 cycle more;
///               reply_i to answer_o 1
///   Throughput  a frame a cycle; 8 may wait
///   Parameters  none
///   Not done    retries, timeouts, a cache: those are the program's
module arp_d64
  import arp_pkg::*;
(
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        req_valid_i,
  input  logic [47:0] req_mac_i,   // of the station that asks
  input  logic [31:0] req_ip_i,
  output logic        busy_o,

  input  ask_t        ask_i,
  output logic        ask_ready_o,
  input  answer_t     reply_i,     // a strobe: some station's reply to us, in a good frame
  output answer_t     answer_o,

  input  logic        tx_clk_i,
  input  logic        tx_rst_ni,
  output logic        arp_valid_o,
  input  logic        arp_ready_i,
  output eth_d64_pkg::arp_frame_t arp_o,
  output logic        idle_o
);
  logic wanted_q, asked_q, take, send, ready, answered, settled;
  logic [31:0] ip_q;
  eth_d64_pkg::arp_frame_t frame;

  assign busy_o      = !ready;
  assign ask_ready_o = !wanted_q;
  assign take        = ask_i.valid && ask_ready_o;
  assign send        = wanted_q && ready && !req_valid_i;
  assign answered    = reply_i.valid && asked_q && reply_i.ip == ip_q;
  always_comb begin
    frame = '{ask: 1'b1, mac: '1, ip: ip_q};
    if (req_valid_i) frame = '{ask: 1'b0, mac: req_mac_i, ip: req_ip_i};
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      wanted_q <= 1'b0;
      asked_q  <= 1'b0;
      answer_o <= '0;
    end else begin
      if (take) wanted_q <= 1'b1;
      else if (send) wanted_q <= 1'b0;
      // A reply that comes across a new request is compared with neither.
      if (take) asked_q <= 1'b1;
      else if (answered) asked_q <= 1'b0;
      answer_o <= '{valid: answered && !take, ip: reply_i.ip, mac: reply_i.mac};
    end
  end
  always_ff @(posedge clk_i) begin
    if (take) ip_q <= ask_i.ip;
  end

  async_fifo #(
    .Width($bits(eth_d64_pkg::arp_frame_t)),
    .Depth(8)
  ) u_cross (
    .wclk_i   (clk_i),
    .wrst_ni  (rst_ni),
    .wvalid_i (req_valid_i || wanted_q),
    .wready_o (ready),
    .wdata_i  (frame),
    .rclk_i   (tx_clk_i),
    .rrst_ni  (tx_rst_ni),
    .rvalid_o (arp_valid_o),
    .rready_i (arp_ready_i),
    .rdata_o  (arp_o),
    .settled_o(settled)
  );
  assign idle_o = settled && !arp_valid_o && !wanted_q && !ask_i.valid && !answer_o.valid;
endmodule
