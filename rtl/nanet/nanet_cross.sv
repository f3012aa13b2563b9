// SPDX-License-Identifier: SHL-2.1
/// What a port's UDP stage gives, in the clock of the memory's bus: datagrams as entries, and the
/// port's frames counted.
///
/// async_fifo, nanet_frames
///
///   Clocks      eth_clk_i of the UDP stage; clk_i, which takes an entry a cycle of eth_clk_i
///   Handshake   start_i with meta_i, valid_i with data_i, end_i with good_i, as gige_udp: never
///               two in one cycle, never stalled; judged_i, verdict_i and echo_lost_i as
///               nanet_frames
///   Latency     as async_fifo
///   Throughput  an entry a cycle
///   Parameters  Echo as nanet_frames
///   Not done    packing: nanet_queue
module nanet_cross
  import nanet_pkg::*;
#(
  parameter bit Echo = 1'b0
) (
  input  logic                  eth_clk_i,
  input  logic                  eth_rst_ni,
  input  logic                  start_i,
  input  eth_pkg::udp_meta_t    meta_i,
  input  logic                  valid_i,
  input  logic [63:0]           data_i,      // big-endian; a word of 32 bits in the low half
  input  logic                  end_i,
  input  logic                  good_i,
  input  logic                  judged_i,
  input  eth_pkg::eth_verdict_e verdict_i,
  input  logic                  echo_lost_i,

  input  logic                  clk_i,
  input  logic                  rst_ni,
  output arrival_t              arrival_o,
  output logic                  settled_o    // nothing of the UDP stage is on its way
);
  nanet_frames #(
    .Echo(Echo)
  ) u_frames (
    .eth_clk_i,
    .eth_rst_ni,
    .judged_i,
    .verdict_i,
    .end_i,
    .good_i,
    .echo_lost_i,
    .clk_i,
    .rst_ni,
    .frames_o   (arrival_o.frames)
  );

  entry_t made;
  logic unused_ready;
  always_comb begin
    made = '{kind: EntryData, data: data_i};
    if (start_i) made = '{kind: EntryHead, data: {meta_i.ip, meta_i.port, meta_i.len}};
    else if (end_i) made = '{kind: EntryEnd, data: 64'(good_i)};
  end

  async_fifo #(
    .Width($bits(entry_t)),
    .Depth(16)
  ) u_cross (
    .wclk_i   (eth_clk_i),
    .wrst_ni  (eth_rst_ni),
    .wvalid_i (start_i || valid_i || end_i),
    .wready_o (unused_ready),
    .wdata_i  (made),
    .rclk_i   (clk_i),
    .rrst_ni  (rst_ni),
    .rvalid_o (arrival_o.valid),
    .rready_i (1'b1),
    .rdata_o  (arrival_o.entry),
    .settled_o
  );

  logic unused;
  assign unused = ^{unused_ready, meta_i.mac, meta_i.tag};
endmodule
