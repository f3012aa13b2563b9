// SPDX-License-Identifier: SHL-2.1
/// A node that has memory of its own and caches the other node's: an agent and a home behind one
/// port of lines, on the same circuits. Both ends of a link may be one.
///
/// lines -> whose memory? -> coherence_remote or coherence_host -> coherence_join -> circuits
/// (docs/explanation/cores/coherence.md)
///
///   Handshake   request: valid/ready. Every request gets one response with its tag, without
///               ready, in any order. mem: as coherence_host. Circuits: as blocklink_core
///   Memories    the first bit of the index says whose: where it is own_i (constant after reset) of
///               this node, else of the other one. Messages and mem have an index without it
///   Ordering    as coherence_remote for the other node's lines, as coherence_host for its own;
///               between the two none
///   Coherence   the responses' circuits are sinks: coherence_join
///   Latency     those of coherence_remote and coherence_host; a response of the home waits while
///               the agent has one
///   Throughput  a request and a response a cycle
///   Open        64 requests for its own lines
///   Parameters  as coherence_remote, and of the home as coherence_host with Sets and Ways as
///               DirectorySets and DirectoryWays; Look as both
///   Not done    as both
module coherence_peer
  import coherence_pkg::*;
  import coherence_node_pkg::circuits_t;
  import blocklink_pkg::NumVcs;
  import blocklink_pkg::word_t;
#(
  parameter int unsigned Sets     = 64,
  parameter int unsigned Ways     = 4,
  parameter int unsigned NumMshr  = 32,
  parameter int unsigned Slices   = 1,
  parameter bit          Atomics  = 1'b0,
  parameter int unsigned DirectorySets = 64,
  parameter int unsigned DirectoryWays = 4,
  parameter int unsigned NumTbe   = 64,
  parameter int unsigned Homes    = 1,
  parameter int unsigned NumLinks = 1,
  parameter bit          Look     = 1'b0
) (
  input  logic                     clk_i,
  input  logic                     rst_ni,
  input  logic                     own_i,
  input  logic                     req_valid_i,  // req_*: held until req_ready_o
  output logic                     req_ready_o,
  input  line_kind_e               req_kind_i,  // as coherence_remote and coherence_host
  input  logic                     req_write_i,  // 0: load of a line; 1: store of the mask's bytes
  input  index_t                   req_index_i,  // line of 128 bytes; its first bit says whose
  input  logic [7:0]               req_tag_i,  // of no other open request; its response has it too
  input  mask_t                    req_mask_i,  // of a store: bit n, byte n
  input  line_t                    req_data_i,  // of a store: byte n in bits 8n+7:8n
  input  coherence_atomic_pkg::atomic_t req_atomic_i,  // with a cached write: instead of it
  output logic                     rsp_valid_o,  // rsp_*: a strobe a request, always taken
  output logic [7:0]               rsp_tag_o,
  output line_t                    rsp_data_o,  // of a load; of an atomic the line as it was
  output circuits_t                circuits_o,  // chunks to send, each held until its ready_i
  input  logic [NumVcs-1:0]        ready_i,  // the circuit's chunk is taken
  input  word_t [NumLinks-1:0][NumVcs-1:0][7:0] words_i,  // received; [0]: a circuit's oldest
  input  logic [NumLinks-1:0][NumVcs-1:0][3:0]  avail_i,  // words that are at words_i, 0..8
  output logic [NumLinks-1:0][NumVcs-1:0][3:0]  pop_o,  // words that are taken of them
  output logic                     mem_req_valid_o,  // mem_req_*: held until mem_req_ready_i
  input  logic                     mem_req_ready_i,
  output logic                     mem_req_write_o,  // 1: the mask's bytes are written
  output index_t                   mem_req_index_o,  // without the first bit
  output logic [7:0]               mem_req_tag_o,    // not that of an open request
  output mask_t                    mem_req_mask_o,
  output line_t                    mem_req_data_o,
  input  logic                     mem_rsp_valid_i,  // mem_rsp_*: held until mem_rsp_ready_o
  output logic                     mem_rsp_ready_o,
  input  logic [7:0]               mem_rsp_tag_i,
  input  line_t                    mem_rsp_data_i,
  output logic                     quiet_o,     // level: no request without a cache is open
  output logic                     stray_o,     // strobe: an unexpected message
  input  coherence_look_pkg::look_t   look_i,   // a tracer asks for a line's state, held
  output coherence_look_pkg::looked_t looked_o  // strobe: the answer
);
  localparam int unsigned Open = 64;  // requests for its own lines

  // ---------------------------------------------------------------- whose memory
  logic own, entered, agent_ready, home_ready, agent_rsp, home_rsp, kept_valid, kept_ready, show;
  logic [6:0] open_q;
  logic [7:0] agent_tag, home_tag, kept_tag;
  line_t agent_line, home_line, kept_line;
  index_t index;
  assign own   = req_index_i[IndexWidth-1] == own_i;
  assign index = {1'b0, req_index_i[IndexWidth-2:0]};

  // A request for an own line enters only with a place for its response.
  logic home_valid;
  assign home_valid  = req_valid_i && own && open_q != 7'(Open);
  assign entered     = home_valid && home_ready;
  assign req_ready_o = own ? (home_ready && open_q != 7'(Open)) : agent_ready;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) open_q <= '0;
    else open_q <= open_q + 7'(entered) - 7'(show);
  end

  // A response of the home waits while the agent has one.
  assign show        = !agent_rsp && (home_rsp || kept_valid);
  assign rsp_valid_o = agent_rsp || show;
  assign rsp_tag_o   = agent_rsp ? agent_tag : kept_valid ? kept_tag : home_tag;
  assign rsp_data_o  = agent_rsp ? agent_line : kept_valid ? kept_line : home_line;
  fifo #(.Width(8 + 8 * LineBytes), .Depth(Open)) u_kept (
    .clk_i, .rst_ni, .clear_i(1'b0), .valid_i(home_rsp && (agent_rsp || kept_valid)),
    .ready_o(kept_ready), .data_i({home_tag, home_line}), .valid_o(kept_valid), .ready_i(show),
    .data_o({kept_tag, kept_line}), .usage_o()
  );
`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (home_rsp && (agent_rsp || kept_valid) && !kept_ready) begin
      $fatal(1, "coherence_peer: no place for a response");
    end
  end
`endif

  // ---------------------------------------------------------------- agent, home, circuits
  circuits_t [1:0] tx;
  logic [1:0][NumVcs-1:0] tx_ready;
  logic [1:0][NumLinks-1:0][NumVcs-1:0][3:0] avail, pop;
  logic agent_stray, home_stray, join_stray, look_own;
  coherence_look_pkg::look_t agent_look, home_look;
  coherence_look_pkg::looked_t agent_looked, home_looked;
  assign look_own   = look_i.index[IndexWidth-1] == own_i;
  assign agent_look = '{valid: look_i.valid && !look_own,
                        index: {1'b0, look_i.index[IndexWidth-2:0]}};
  assign home_look  = '{valid: look_i.valid && look_own,
                        index: {1'b0, look_i.index[IndexWidth-2:0]}};
  assign looked_o   = look_own ? home_looked : agent_looked;
  coherence_remote #(
    .Sets(Sets), .Ways(Ways), .NumMshr(NumMshr), .NumLinks(NumLinks), .Slices(Slices),
    .Atomics(Atomics), .Look(Look)
  ) u_agent (
    .clk_i, .rst_ni, .req_valid_i(req_valid_i && !own), .req_ready_o(agent_ready), .req_kind_i,
    .req_write_i, .req_index_i(index), .req_tag_i, .req_mask_i, .req_data_i, .req_atomic_i,
    .rsp_valid_o(agent_rsp), .rsp_tag_o(agent_tag), .rsp_data_o(agent_line),
    .valid_o(tx[0].valid), .ready_i(tx_ready[0]), .count_o(tx[0].count), .words_o(tx[0].words),
    .words_i, .avail_i(avail[0]), .pop_o(pop[0]), .quiet_o, .stray_o(agent_stray),
    .look_i(agent_look), .looked_o(agent_looked)
  );
  coherence_host #(
    .Sets(DirectorySets), .Ways(DirectoryWays), .NumTbe(NumTbe), .NumLinks(NumLinks), .Homes(Homes),
    .Look(Look)
  ) u_home (
    .clk_i, .rst_ni, .req_valid_i(home_valid), .req_ready_o(home_ready), .req_kind_i, .req_write_i,
    .req_index_i(index), .req_tag_i, .req_mask_i, .req_data_i,
    .rsp_valid_o(home_rsp), .rsp_tag_o(home_tag), .rsp_data_o(home_line),
    .words_i, .avail_i(avail[1]), .pop_o(pop[1]),
    .valid_o(tx[1].valid), .ready_i(tx_ready[1]), .count_o(tx[1].count), .words_o(tx[1].words),
    .mem_req_valid_o, .mem_req_ready_i, .mem_req_write_o, .mem_req_index_o, .mem_req_tag_o,
    .mem_req_mask_o, .mem_req_data_o, .mem_rsp_valid_i, .mem_rsp_ready_o, .mem_rsp_tag_i,
    .mem_rsp_data_i, .stray_o(home_stray), .look_i(home_look), .looked_o(home_looked)
  );
  coherence_join #(.NumLinks(NumLinks)) u_join (
    .clk_i, .rst_ni, .tx_i(tx), .tx_ready_o(tx_ready), .tx_o(circuits_o), .tx_ready_i(ready_i),
    .words_i, .avail_i, .pop_o, .avail_o(avail), .pop_i(pop), .stray_o(join_stray)
  );
  assign stray_o = agent_stray || home_stray || join_stray;
endmodule
