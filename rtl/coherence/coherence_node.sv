// SPDX-License-Identifier: SHL-2.1
/// A node of a coherent link, less its agent of lines: what a processor and an FPGA have in common.
///
/// agent -> coherence_io -> coherence_links -> blocks, and back; coherence_trace looks on
/// (docs/explanation/cores/coherence.md)
///
///   Handshake   io, quiet_i, hold_o: as coherence_io. blocks: as coherence_links. agent: circuits
///               as coherence_io, with the words of all links. requested_o: a strobe, a request
///               of a line leaves
///   Latency     as coherence_io and coherence_links
///   Throughput  7 words a block a link
///   Tracer      look: as coherence_trace; without one nothing is asked
///   Parameters  as coherence_links; Trace: records of the tracer's ring, 0: no tracer
///   Not done    lines
module coherence_node
  import blocklink_pkg::*;
  import coherence_node_pkg::*;
  import coherence_look_pkg::*;
#(
  parameter int unsigned NumLinks  = 1,
  parameter int unsigned DataDepth = 128,
  parameter int unsigned RestDepth = 32,
  parameter int unsigned Window    = 64,
  parameter int unsigned RoundTrip = 0,
  parameter int unsigned Trace     = 0
) (
  input logic clk_i,
  input logic rst_ni,
  input logic partition_i,  // how messages take two links; constant after reset

  output logic [NumLinks-1:0][511:0] blocks_tx_data_o,   // a block a link; always one to send
  input  logic [NumLinks-1:0]        blocks_tx_ready_i,  // a bit a link: sent, the next follows
  input  logic [NumLinks-1:0][511:0] blocks_rx_data_i,   // with its bit of blocks_rx_valid_i
  input  logic [NumLinks-1:0]        blocks_rx_valid_i,  // a block came; it is never stalled

  input  io_req_t   io_req_i,        // a word's load or store, IPI or barrier; held until ready
  output logic      io_req_ready_o,  // takes io_req_i
  output io_rsp_t   io_rsp_o,        // strobe: its response, always taken
  output io_event_t io_event_o,      // strobe: what the far end did here
  input  logic      quiet_i,
  output logic      hold_o,

  input  circuits_t                               agent_i,  // chunks to send, held until ready
  output logic  [NumVcs-1:0]                      agent_ready_o,  // the circuit's chunk is taken
  output word_t [NumLinks-1:0][NumVcs-1:0][7:0]   agent_words_o,  // a circuit's oldest word is [0]
  output logic  [NumLinks-1:0][NumVcs-1:0][3:0]   agent_avail_o,  // words that are there, 0..8
  input  logic  [NumLinks-1:0][NumVcs-1:0][3:0]   agent_pop_i,  // words taken of them
  input  logic                                    agent_stray_i,  // strobe: for stray_o
  output logic                                    requested_o,
  output look_t                                   look_o,    // the tracer asks for a line, held
  input  looked_t                                 looked_i,  // strobe: the answer

  output link_status_t [NumLinks-1:0] status_o,  // of each link: up, fail, and counters that wrap
  output logic [31:0]                 stray_o    // unexpected messages; it wraps
);
  logic [NumVcs-1:0] tx_ready;
  circuits_t tx;
  logic [NumLinks-1:0][NumVcs-1:0][3:0] rx_avail, rx_pop;
  logic io_stray;
  window_t window;
  logic [63:0] window_data;

  coherence_io #(.NumLinks(NumLinks), .Window(Trace != 0)) u_io (
    .clk_i, .rst_ni, .req_i(io_req_i), .req_ready_o(io_req_ready_o), .rsp_o(io_rsp_o),
    .event_o(io_event_o), .window_o(window), .window_data_i(window_data), .quiet_i, .hold_o,
    .agent_i, .agent_ready_o, .agent_avail_o, .agent_pop_i, .circuits_o(tx), .ready_i(tx_ready),
    .words_i(agent_words_o), .avail_i(rx_avail), .pop_o(rx_pop), .stray_o(io_stray)
  );
  coherence_links #(
    .NumLinks(NumLinks), .DataDepth(DataDepth), .RestDepth(RestDepth), .Window(Window),
    .RoundTrip(RoundTrip)
  ) u_links (
    .clk_i, .rst_ni, .partition_i,
    .tx_blocks_o(blocks_tx_data_o), .tx_ready_i(blocks_tx_ready_i),
    .rx_blocks_i(blocks_rx_data_i), .rx_valid_i(blocks_rx_valid_i),
    .circuits_i(tx), .ready_o(tx_ready), .words_o(agent_words_o), .avail_o(rx_avail),
    .pop_i(rx_pop), .stray_i(agent_stray_i || io_stray), .status_o, .stray_o
  );
  if (Trace != 0) begin : gen_trace
    coherence_trace #(.NumLinks(NumLinks), .Depth(Trace)) u_trace (
      .clk_i, .rst_ni, .tx_i(tx), .tx_ready_i(tx_ready), .rx_words_i(agent_words_o),
      .rx_pop_i(rx_pop), .window_i(window), .window_data_o(window_data), .look_o, .looked_i
    );
  end else begin : gen_no_trace
    assign window_data = '0;
    assign look_o      = '0;
    logic unused;
    assign unused = ^{window, looked_i};
  end
  assign requested_o = (tx.valid[7:6] & tx_ready[7:6]) != '0;
endmodule
