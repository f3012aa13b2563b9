// SPDX-License-Identifier: SHL-2.1
/// A program's ARP requests into a port's clock, and their answers back.
///
/// async_fifo each way
///
///   Clocks      clk_i of the bus; eth_clk_i of the port
///   Handshake   ask_i, answer_o: strobes in clk_i; a request that finds eight waiting is dropped.
///               port_ask_o, port_ready_i valid/ready, port_answer_i a strobe, in eth_clk_i
///   Latency     as async_fifo
///   Throughput  one a cycle
///   Parameters  none
///   Not done    counting what is dropped: a program asks again
module nanet_asks
  import arp_pkg::*;
(
  input  logic    clk_i,
  input  logic    rst_ni,
  input  ask_t    ask_i,
  output answer_t answer_o,

  input  logic    eth_clk_i,
  input  logic    eth_rst_ni,
  output ask_t    port_ask_o,
  input  logic    port_ready_i,
  input  answer_t port_answer_i,
  output logic    settled_o
);
  logic asks_settled, answers_settled, unused_ask_ready, unused_answer_ready;
  async_fifo #(
    .Width(32),
    .Depth(8)
  ) u_asks (
    .wclk_i   (clk_i),
    .wrst_ni  (rst_ni),
    .wvalid_i (ask_i.valid),
    .wready_o (unused_ask_ready),
    .wdata_i  (ask_i.ip),
    .rclk_i   (eth_clk_i),
    .rrst_ni  (eth_rst_ni),
    .rvalid_o (port_ask_o.valid),
    .rready_i (port_ready_i),
    .rdata_o  (port_ask_o.ip),
    .settled_o(asks_settled)
  );
  // Taken in each cycle: it never fills.
  async_fifo #(
    .Width(80),
    .Depth(8)
  ) u_answers (
    .wclk_i   (eth_clk_i),
    .wrst_ni  (eth_rst_ni),
    .wvalid_i (port_answer_i.valid),
    .wready_o (unused_answer_ready),
    .wdata_i  ({port_answer_i.ip, port_answer_i.mac}),
    .rclk_i   (clk_i),
    .rrst_ni  (rst_ni),
    .rvalid_o (answer_o.valid),
    .rready_i (1'b1),
    .rdata_o  ({answer_o.ip, answer_o.mac}),
    .settled_o(answers_settled)
  );
  assign settled_o = asks_settled && answers_settled;

  logic unused;
  assign unused = ^{unused_ask_ready, unused_answer_ready};
endmodule
