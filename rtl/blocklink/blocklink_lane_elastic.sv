// SPDX-License-Identifier: SHL-2.1
/// Elastic buffer of a lane: its words in the core's clock, without SKIPs.
///
/// The core's clock is the faster one: it takes a word whenever every lane has one, so the buffer
/// holds the phase between the clocks and no more. What the oscillators differ by is in how often a
/// word comes; SKIPs need not be added.
///
///   Handshake   a word in each cycle of wclk_i with valid_i, never refused; read valid/ready
///   Ordering    first in, first out. SKIPs are dropped, and nothing else as long as the reader
///               leaves no more than 8 words  (proved: formal/blocklink/blocklink_lane_elastic.sby)
///   Latency     2 cycles of rclk_i behind the edge that stores a word, or up to one less
///   Throughput  a word a cycle of either clock
///   Overrun     words that find no place are lost (lost_o): a reader that waits for another lane
///   Reset       wrst_ni and rrst_ni must be asserted together and may be released in any order
///   Parameters  Depth a power of two, 16..64
///   Board       async_fifo.xdc, async_fifo.sdc
///   Not done    a reader with the slower clock
module blocklink_lane_elastic #(
  parameter int unsigned Depth = 16
) (
  input  logic        wclk_i,
  input  logic        wrst_ni,
  input  logic        valid_i,
  input  logic        skip_i,   // the word of this cycle is a SKIP
  input  logic        mark_i,
  input  logic [63:0] word_i,
  output logic        lost_o,   // strobe, wclk_i
  input  logic        rclk_i,
  input  logic        rrst_ni,
  output logic        valid_o,
  input  logic        ready_i,
  output logic        mark_o,
  output logic [63:0] word_o
);
  if (Depth < 16) begin : gen_depth_check
    $error("blocklink_lane_elastic: Depth is %0d, legal is 16..64", Depth);
  end

  logic push, ready, settled, unused;
  assign push   = valid_i && !skip_i;
  assign unused = &{1'b0, settled};

  async_fifo #(.Width(65), .Depth(Depth)) u_fifo (
    .wclk_i, .wrst_ni, .wvalid_i(push), .wready_o(ready), .wdata_i({mark_i, word_i}),
    .rclk_i, .rrst_ni, .rvalid_o(valid_o), .rready_i(ready_i), .rdata_o({mark_o, word_o}),
    .settled_o(settled)
  );

  always_ff @(posedge wclk_i or negedge wrst_ni) begin
    if (!wrst_ni) lost_o <= 1'b0;
    else lost_o <= push && !ready;
  end
endmodule
