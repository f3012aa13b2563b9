// SPDX-License-Identifier: SHL-2.1
/// Device: either end of one coherent link or two, each with memory of its own and a cache of the
/// other's lines.
///
/// lines -> coherence_peer -> coherence_node -> blocks, and back; coherence_peer -> mem
/// (docs/explanation/cores/coherence.md)
///
///   Pins        blocks, lines and mem: as of eci_fpga and eci_host. lines has both memories
///   Memories    cfg_fpga_i: which end this is, 0 the host, 1 the FPGA. Lines whose index has the
///               same first bit are its own; mem has an index without it
///   Latency     as eci_fpga and eci_host: nothing is added
///   Throughput  a request and a response a cycle; 7 words a block
///   Probes      at the cycle of what they say
///   Choice      cfg_partition_i: how messages take two links, as coherence_steer
///   Atomics     lines_req_atomic_i, as eci_fpga: of the other end's lines
///   Parameters  as coherence_node; CacheSets (0: no cache), CacheWays, NumMshr, CacheSlices,
///               Atomics, DirectorySets, DirectoryWays, NumTbe, DirectoryHomes as coherence_peer
///   Not done    lanes (blocklink_lanes)
module eci_peer
  import blocklink_pkg::*;
  import coherence_node_pkg::*;
  import eci_peer_pkg::*;
#(
  parameter int unsigned DataDepth = 128,
  parameter int unsigned RestDepth = 32,
  parameter int unsigned Window    = 64,
  parameter int unsigned RoundTrip = 0,
  parameter int unsigned NumLinks  = 1,
  parameter int unsigned CacheSets = 64,
  parameter int unsigned CacheWays = 4,
  parameter int unsigned NumMshr   = 32,
  parameter int unsigned CacheSlices = 1,
  parameter bit          Atomics   = 1'b0,
  parameter int unsigned NumTbe    = 64,
  parameter int unsigned DirectorySets = 64,
  parameter int unsigned DirectoryWays = 4,
  parameter int unsigned DirectoryHomes = 1,
  parameter int unsigned Trace     = 0
) (
  input logic clk_i,
  input logic rst_ni,

  input logic cfg_partition_i,
  input logic cfg_fpga_i,

  output logic [NumLinks-1:0][511:0] blocks_tx_data_o,   // a block a link; always one to send
  input  logic [NumLinks-1:0]        blocks_tx_ready_i,  // a bit a link: sent, the next follows
  input  logic [NumLinks-1:0][511:0] blocks_rx_data_i,   // with its bit of blocks_rx_valid_i
  input  logic [NumLinks-1:0]        blocks_rx_valid_i,  // a block came; it is never stalled

  input  logic          lines_req_valid_i,  // lines_req_*: held until lines_req_ready_o
  output logic          lines_req_ready_o,
  input  logic [2:0]    lines_req_kind_i,   // 0 uncached, 1 cached, 2 evict, 3 +1, 4 -1, 5 swap
  input  logic          lines_req_write_i,  // 0: load of a line; 1: store of the mask's bytes
  input  logic [32:0]   lines_req_index_i,  // line of 128 bytes; its first bit says whose
  input  logic [7:0]    lines_req_tag_i,    // not that of an open request
  input  logic [127:0]  lines_req_mask_i,   // of a store: bit n, byte n
  input  logic [1023:0] lines_req_data_i,   // of a store: byte n in bits 8n+7:8n
  input  logic [14:0]   lines_req_atomic_i,
  output logic          lines_rsp_valid_o,  // lines_rsp_*: a strobe a request, always taken
  output logic [7:0]    lines_rsp_tag_o,
  output logic [1023:0] lines_rsp_data_o,  // of a load; of an atomic the line as it was

  output logic          mem_req_valid_o,  // mem_req_*: held until mem_req_ready_i
  input  logic          mem_req_ready_i,
  output logic          mem_req_write_o,  // 1: the mask's bytes are written
  output logic [32:0]   mem_req_index_o,  // line of this end's memory
  output logic [7:0]    mem_req_tag_o,  // not that of an open request; comes back in mem_rsp_tag_i
  output logic [127:0]  mem_req_mask_o,  // of a write: bit n, byte n
  output logic [1023:0] mem_req_data_o,
  input  logic          mem_rsp_valid_i,  // mem_rsp_*: held until mem_rsp_ready_o
  output logic          mem_rsp_ready_o,
  input  logic [7:0]    mem_rsp_tag_i,
  input  logic [1023:0] mem_rsp_data_i,

  input  logic        io_req_valid_i,  // io_req_*: held until io_req_ready_o
  output logic        io_req_ready_o,
  input  logic [1:0]  io_req_kind_i,     // 0 load, 1 store, 2 interrupt, 3 barrier
  input  logic [39:0] io_req_address_i,  // of a byte; of an interrupt its number
  input  logic [7:0]  io_req_mask_i,     // of a store: bytes of the word
  input  logic [7:0]  io_req_tag_i,
  input  logic [63:0] io_req_data_i,
  output logic        io_rsp_valid_o,  // io_rsp_*: a strobe, of all but interrupts
  output logic [7:0]  io_rsp_tag_o,
  output logic [63:0] io_rsp_data_o,
  output logic        io_event_valid_o,    // io_event_*: a strobe, what the far end did here
  output logic        io_event_ipi_o,      // an interrupt, else a store
  output logic [39:0] io_event_address_o,  // of the store, or the interrupt's number

  output logic [NumProbes-1:0]      probe_o,      // strobes, by probe_e; for simulation
  output logic [NumProbes-1:0][7:0] probe_tag_o,  // a tag for each, as probe_e says

  output logic [NumLinks-1:0]       status_up_o,  // level, a bit a link: both ends have answered
  output logic [NumLinks-1:0]       status_fail_o,  // level: an ack of what was not sent
  output logic [NumLinks-1:0][31:0] status_blocks_o,  // numbered blocks made; all counters wrap
  output logic [NumLinks-1:0][31:0] status_words_o,  // words in them
  output logic [NumLinks-1:0][31:0] status_got_o,  // numbered blocks taken
  output logic [NumLinks-1:0][31:0] status_bad_o,  // blocks with a wrong check
  output logic [NumLinks-1:0][31:0] status_again_o,  // blocks sent again
  output logic [31:0]               status_stray_o  // unexpected messages
);
  logic [NumVcs-1:0] tx_ready;
  circuits_t tx;
  logic [NumLinks-1:0][NumVcs-1:0][3:0] rx_avail, rx_pop;
  word_t [NumLinks-1:0][NumVcs-1:0][7:0] rx_words;
  io_req_t io_req;
  io_rsp_t io_rsp;
  io_event_t io_event;
  link_status_t [NumLinks-1:0] status;
  coherence_look_pkg::look_t look;
  coherence_look_pkg::looked_t looked;
  logic stray, requested, quiet, hold, held, lines_ready;
  // What a barrier waits for is open at the other end. A request for an own line stays offered:
  // its home takes it some clocks after it has begun with it.
  assign held = hold && lines_req_index_i[32] != cfg_fpga_i;
  assign lines_req_ready_o = lines_ready && !held;

  coherence_peer #(
    .Sets(CacheSets), .Ways(CacheWays), .NumMshr(NumMshr), .Slices(CacheSlices), .Atomics(Atomics),
    .DirectorySets(DirectorySets), .DirectoryWays(DirectoryWays), .NumTbe(NumTbe),
    .Homes(DirectoryHomes), .NumLinks(NumLinks), .Look(Trace != 0)
  ) u_peer (
    .clk_i, .rst_ni, .own_i(cfg_fpga_i),
    .req_valid_i(lines_req_valid_i && !held), .req_ready_o(lines_ready),
    .req_kind_i(coherence_pkg::line_kind_e'(lines_req_kind_i)),
    .req_write_i(lines_req_write_i), .req_index_i(lines_req_index_i),
    .req_tag_i(lines_req_tag_i), .req_mask_i(lines_req_mask_i), .req_data_i(lines_req_data_i),
    .req_atomic_i(lines_req_atomic_i),
    .rsp_valid_o(lines_rsp_valid_o), .rsp_tag_o(lines_rsp_tag_o), .rsp_data_o(lines_rsp_data_o),
    .circuits_o(tx), .ready_i(tx_ready), .words_i(rx_words), .avail_i(rx_avail), .pop_o(rx_pop),
    .mem_req_valid_o, .mem_req_ready_i, .mem_req_write_o, .mem_req_index_o, .mem_req_tag_o,
    .mem_req_mask_o, .mem_req_data_o, .mem_rsp_valid_i, .mem_rsp_ready_o, .mem_rsp_tag_i,
    .mem_rsp_data_i, .quiet_o(quiet), .stray_o(stray), .look_i(look), .looked_o(looked)
  );
  coherence_node #(
    .NumLinks(NumLinks), .DataDepth(DataDepth), .RestDepth(RestDepth), .Window(Window),
    .RoundTrip(RoundTrip), .Trace(Trace)
  ) u_node (
    .clk_i, .rst_ni, .partition_i(cfg_partition_i), .blocks_tx_data_o, .blocks_tx_ready_i,
    .blocks_rx_data_i, .blocks_rx_valid_i, .io_req_i(io_req), .io_req_ready_o,
    .io_rsp_o(io_rsp), .io_event_o(io_event), .quiet_i(quiet), .hold_o(hold), .agent_i(tx),
    .agent_ready_o(tx_ready), .agent_words_o(rx_words), .agent_avail_o(rx_avail),
    .agent_pop_i(rx_pop), .agent_stray_i(stray), .requested_o(requested), .status_o(status),
    .stray_o(status_stray_o), .look_o(look), .looked_i(looked)
  );

  // The pins of words and of the state.
  assign io_req = '{
    valid: io_req_valid_i, kind: coherence_io_pkg::io_kind_e'(io_req_kind_i),
    address: io_req_address_i, mask: io_req_mask_i, tag: io_req_tag_i, data: io_req_data_i
  };
  assign {io_rsp_valid_o, io_rsp_tag_o, io_rsp_data_o} = io_rsp;
  assign {io_event_valid_o, io_event_ipi_o, io_event_address_o} = io_event;
  for (genvar l = 0; l < int'(NumLinks); l++) begin : gen_status
    assign {status_up_o[l], status_fail_o[l], status_blocks_o[l], status_words_o[l],
            status_got_o[l], status_bad_o[l], status_again_o[l]} = status[l];
  end

  assign probe_o[Accepted]      = lines_req_valid_i && lines_req_ready_o;
  assign probe_tag_o[Accepted]  = lines_req_tag_i;
  assign probe_o[Requested]     = requested;
  assign probe_tag_o[Requested] = '0;
  assign probe_o[Completed]     = lines_rsp_valid_o;
  assign probe_tag_o[Completed] = lines_rsp_tag_o;
  assign probe_o[LookedUp]      = mem_req_valid_o && mem_req_ready_i && !mem_req_write_o;
  assign probe_tag_o[LookedUp]  = mem_req_tag_o;
  assign probe_o[Stored]        = mem_req_valid_o && mem_req_ready_i && mem_req_write_o;
  assign probe_tag_o[Stored]    = mem_req_tag_o;
  assign probe_o[Answered]      = mem_rsp_valid_i && mem_rsp_ready_o;
  assign probe_tag_o[Answered]  = mem_rsp_tag_i;
endmodule
