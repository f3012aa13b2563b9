// SPDX-License-Identifier: SHL-2.1
/// A node's links: an agent's 13 virtual circuits on one link, or on two.
///
/// circuits -> coherence_steer each -> blocklink_core of each link -> blocks; received words are
/// shown by link (docs/explanation/cores/coherence.md)
///
///   Handshake   circuits and blocks: as blocklink_core
///   Ordering    of one link that of blocklink_core; between the links none, but of the circuits
///               without line indices: 0, 1 and 12, which take link 0
///   Latency     that of blocklink_core: coherence_steer adds no cycle
///   Throughput  7 words a block a link; a chunk a cycle a circuit
///   Choice      partition_i: as coherence_steer
///   Parameters  NumLinks 1..2; the others as blocklink_core
module coherence_links
  import blocklink_pkg::*;
  import coherence_node_pkg::*;
#(
  parameter int unsigned NumLinks  = 1,
  parameter int unsigned DataDepth = 128,
  parameter int unsigned RestDepth = 32,
  parameter int unsigned Window    = 64,
  parameter int unsigned RoundTrip = 0
) (
  input  logic                       clk_i,
  input  logic                       rst_ni,
  input  logic                       partition_i,
  output logic [NumLinks-1:0][511:0] tx_blocks_o,
  input  logic [NumLinks-1:0]        tx_ready_i,
  input  logic [NumLinks-1:0][511:0] rx_blocks_i,
  input  logic [NumLinks-1:0]        rx_valid_i,
  input  circuits_t                  circuits_i,
  output logic [NumVcs-1:0]          ready_o,
  output word_t [NumLinks-1:0][NumVcs-1:0][7:0] words_o,
  output logic [NumLinks-1:0][NumVcs-1:0][3:0]  avail_o,
  input  logic [NumLinks-1:0][NumVcs-1:0][3:0]  pop_i,
  input  logic                       stray_i,
  output link_status_t [NumLinks-1:0] status_o,
  output logic [31:0]                stray_o
);
  if (NumLinks < 1 || NumLinks > 2) begin : gen_links_check
    $error("coherence_links: NumLinks is %0d, legal is 1..2", NumLinks);
  end

  logic [NumLinks-1:0][NumVcs-1:0] valid, ready;
  logic [NumLinks-1:0][NumVcs-1:0][3:0] count;
  word_t [NumLinks-1:0][NumVcs-1:0][ChunkWords-1:0] words;
  if (NumLinks == 1) begin : gen_one
    assign valid[0] = circuits_i.valid;
    assign count[0] = circuits_i.count;
    assign words[0] = circuits_i.words;
    assign ready_o  = ready[0];
    logic unused;
    assign unused = partition_i;
  end else begin : gen_two
    for (genvar v = 0; v < int'(NumVcs); v++) begin : gen_vc
      logic [1:0] out, take;
      logic [1:0][3:0] out_count;
      word_t [1:0][ChunkWords-1:0] out_words;
      coherence_steer #(.Pair(3'(v / 2))) u_steer (
        .clk_i, .rst_ni, .partition_i, .valid_i(circuits_i.valid[v]), .ready_o(ready_o[v]),
        .count_i(circuits_i.count[v]), .words_i(circuits_i.words[v]), .valid_o(out),
        .ready_i(take), .count_o(out_count), .words_o(out_words)
      );
      for (genvar l = 0; l < 2; l++) begin : gen_link
        assign valid[l][v] = out[l];
        assign count[l][v] = out_count[l];
        assign words[l][v] = out_words[l];
        assign take[l]     = ready[l][v];
      end
    end
  end

  logic [NumLinks-1:0][31:0] stray;
  assign stray_o = stray[0];
  for (genvar l = 0; l < int'(NumLinks); l++) begin : gen_link
    logic sent, got, bad, again;
    logic [2:0] sent_words;
    blocklink_core #(
      .DataDepth(DataDepth), .RestDepth(RestDepth), .Window(Window), .RoundTrip(RoundTrip)
    ) u_link (
      .clk_i, .rst_ni,
      .tx_block_o(tx_blocks_o[l]), .tx_ready_i(tx_ready_i[l]),
      .rx_block_i(rx_blocks_i[l]), .rx_valid_i(rx_valid_i[l]),
      .valid_i(valid[l]), .ready_o(ready[l]), .count_i(count[l]), .words_i(words[l]),
      .words_o(words_o[l]), .avail_o(avail_o[l]), .pop_i(pop_i[l]),
      .up_o(status_o[l].up), .bad_o(bad), .again_o(again), .sent_o(sent),
      .sent_words_o(sent_words), .got_o(got), .fail_o(status_o[l].fail)
    );
    blocklink_counters u_counters (
      .clk_i, .rst_ni, .sent_i(sent), .sent_words_i(sent_words), .got_i(got), .bad_i(bad),
      .again_i(again), .stray_i(stray_i && l == 0),
      .blocks_o(status_o[l].blocks), .words_o(status_o[l].words), .got_o(status_o[l].got),
      .bad_o(status_o[l].bad), .again_o(status_o[l].again), .stray_o(stray[l])
    );
  end
  logic unused_stray;
  assign unused_stray = ^stray;
endmodule
