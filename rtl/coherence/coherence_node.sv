// SPDX-License-Identifier: SHL-2.1
/// A node of a coherent link, less its agent of lines: what a processor and an FPGA have in common.
///
/// agent -> coherence_io -> coherence_links -> blocks, and back
/// (docs/explanation/cores/coherence.md)
///
///   Handshake   io, quiet_i, hold_o: as coherence_io. blocks: as coherence_links. agent: circuits
///               as coherence_io, with the words of all links. requested_o: a strobe, a request
///               of a line leaves
///   Latency     as coherence_io and coherence_links
///   Throughput  7 words a block a link
///   Parameters  as coherence_links
///   Not done    lines
module coherence_node
  import blocklink_pkg::*;
#(
  parameter int unsigned NumLinks  = 1,
  parameter int unsigned DataDepth = 128,
  parameter int unsigned RestDepth = 32,
  parameter int unsigned Window    = 64,
  parameter int unsigned RoundTrip = 0
) (
  input logic clk_i,
  input logic rst_ni,
  input logic partition_i,

  output logic [NumLinks-1:0][511:0] blocks_tx_data_o,
  input  logic [NumLinks-1:0]        blocks_tx_ready_i,
  input  logic [NumLinks-1:0][511:0] blocks_rx_data_i,
  input  logic [NumLinks-1:0]        blocks_rx_valid_i,

  input  logic        io_req_valid_i,
  output logic        io_req_ready_o,
  input  logic [1:0]  io_req_kind_i,
  input  logic [39:0] io_req_address_i,
  input  logic [7:0]  io_req_mask_i,
  input  logic [7:0]  io_req_tag_i,
  input  logic [63:0] io_req_data_i,
  output logic        io_rsp_valid_o,
  output logic [7:0]  io_rsp_tag_o,
  output logic [63:0] io_rsp_data_o,
  output logic        io_event_valid_o,
  output logic        io_event_ipi_o,
  output logic [39:0] io_event_address_o,
  input  logic        quiet_i,
  output logic        hold_o,

  input  logic  [NumVcs-1:0]                      agent_valid_i,
  output logic  [NumVcs-1:0]                      agent_ready_o,
  input  logic  [NumVcs-1:0][3:0]                 agent_count_i,
  input  word_t [NumVcs-1:0][ChunkWords-1:0]      agent_words_i,
  output word_t [NumLinks-1:0][NumVcs-1:0][7:0]   agent_words_o,
  output logic  [NumLinks-1:0][NumVcs-1:0][3:0]   agent_avail_o,
  input  logic  [NumLinks-1:0][NumVcs-1:0][3:0]   agent_pop_i,
  input  logic                                    agent_stray_i,
  output logic                                    requested_o,

  output logic [NumLinks-1:0]       status_up_o,
  output logic [NumLinks-1:0]       status_fail_o,
  output logic [NumLinks-1:0][31:0] status_blocks_o,
  output logic [NumLinks-1:0][31:0] status_words_o,
  output logic [NumLinks-1:0][31:0] status_got_o,
  output logic [NumLinks-1:0][31:0] status_bad_o,
  output logic [NumLinks-1:0][31:0] status_again_o,
  output logic [31:0]               status_stray_o
);
  logic [NumVcs-1:0] tx_valid, tx_ready;
  logic [NumVcs-1:0][3:0] tx_count;
  logic [NumLinks-1:0][NumVcs-1:0][3:0] rx_avail, rx_pop;
  word_t [NumVcs-1:0][ChunkWords-1:0] tx_words;
  logic io_stray;

  coherence_io #(.NumLinks(NumLinks)) u_io (
    .clk_i, .rst_ni,
    .req_valid_i(io_req_valid_i), .req_ready_o(io_req_ready_o),
    .req_kind_i(coherence_io_pkg::io_kind_e'(io_req_kind_i)), .req_address_i(io_req_address_i),
    .req_mask_i(io_req_mask_i), .req_tag_i(io_req_tag_i), .req_data_i(io_req_data_i),
    .rsp_valid_o(io_rsp_valid_o), .rsp_tag_o(io_rsp_tag_o), .rsp_data_o(io_rsp_data_o),
    .event_valid_o(io_event_valid_o), .event_ipi_o(io_event_ipi_o),
    .event_address_o(io_event_address_o), .quiet_i, .hold_o, .agent_valid_i, .agent_ready_o,
    .agent_count_i, .agent_words_i, .agent_avail_o, .agent_pop_i,
    .valid_o(tx_valid), .ready_i(tx_ready), .count_o(tx_count), .words_o(tx_words),
    .words_i(agent_words_o), .avail_i(rx_avail), .pop_o(rx_pop), .stray_o(io_stray)
  );
  coherence_links #(
    .NumLinks(NumLinks), .DataDepth(DataDepth), .RestDepth(RestDepth), .Window(Window),
    .RoundTrip(RoundTrip)
  ) u_links (
    .clk_i, .rst_ni, .partition_i,
    .tx_blocks_o(blocks_tx_data_o), .tx_ready_i(blocks_tx_ready_i),
    .rx_blocks_i(blocks_rx_data_i), .rx_valid_i(blocks_rx_valid_i),
    .valid_i(tx_valid), .ready_o(tx_ready), .count_i(tx_count), .words_i(tx_words),
    .words_o(agent_words_o), .avail_o(rx_avail), .pop_i(rx_pop),
    .stray_i(agent_stray_i || io_stray),
    .up_o(status_up_o), .fail_o(status_fail_o), .blocks_o(status_blocks_o),
    .sent_o(status_words_o), .got_o(status_got_o), .bad_o(status_bad_o),
    .again_o(status_again_o), .stray_o(status_stray_o)
  );
  assign requested_o = (tx_valid[7:6] & tx_ready[7:6]) != '0;
endmodule
