// SPDX-License-Identifier: SHL-2.1
/// Device: an FPGA at a coherent link or two, whose logic is an AXI master behind a coherent port.
///
/// tasks -> axi_traffic, atomics -> axi_atomic -> AXI -> coherence_axi -> eci_fpga -> blocks, and
/// back
/// (docs/explanation/cores/coherence.md)
///
///   Pins        task: the traffic generator's commands and their ends. atomic: a word's change,
///               and what it was. blocks: as eci_fpga
///   Port        512 bits, one ID, so answers come in the order of addresses; all is cached
///   Latency     a read that hits: its address on AR to its beat on R 5 cycles
///   Throughput  a read of a beat a cycle, each a lookup of the cache; a beat a cycle. An atomic
///               waits until no task is under way, and no task begins while it waits or is open
///   Probes      at the cycle of what they say
///   Parameters  as eci_fpga; CacheSets 1 or more; NumReads, NumStores, NumBursts as coherence_axi
///   Not done    words of I/O; lanes
module eci_axi_fpga
  import eci_axi_fpga_pkg::*;
#(
  parameter int unsigned DataDepth = 128,
  parameter int unsigned RestDepth = 32,
  parameter int unsigned Window    = 64,
  parameter int unsigned RoundTrip = 0,
  parameter int unsigned NumLinks  = 1,
  parameter int unsigned CacheSets = 64,
  parameter int unsigned CacheWays = 4,
  parameter int unsigned NumMshr   = 32,
  parameter int unsigned NumReads  = 32,
  parameter int unsigned NumStores = 32,
  parameter int unsigned NumBursts = 16,
  parameter int unsigned CacheSlices = 1
) (
  input logic clk_i,
  input logic rst_ni,

  input logic cfg_partition_i,  // how messages take two links, as coherence_steer; constant

  output logic [NumLinks-1:0][511:0] blocks_tx_data_o,   // a block a link; always one to send
  input  logic [NumLinks-1:0]        blocks_tx_ready_i,  // a bit a link: sent, the next follows
  input  logic [NumLinks-1:0][511:0] blocks_rx_data_i,   // with its bit of blocks_rx_valid_i
  input  logic [NumLinks-1:0]        blocks_rx_valid_i,  // a block came; it is never stalled

  input  logic        task_valid_i,  // task_*: held until task_ready_o
  output logic        task_ready_o,
  input  logic        task_write_i,    // 0: read and compare; 1: write
  input  logic [7:0]  task_tag_i,      // comes back in task_done_tag_o
  input  logic [47:0] task_address_i,  // of a byte, a multiple of 64
  input  logic [16:0] task_bytes_i,    // 1..65536
  input  logic [31:0] task_seed_i,     // of the pattern that is written or expected
  output logic        task_done_o,     // strobe: the task is over
  output logic [7:0]  task_done_tag_o,
  output logic        task_done_fault_o,  // never: addresses are physical

  input  logic        atomic_valid_i,  // atomic_*: held until atomic_ready_o
  output logic        atomic_ready_o,
  input  logic [5:0]  atomic_code_i,     // AWATOP
  input  logic [47:0] atomic_address_i,  // of a byte, a multiple of 8
  input  logic [63:0] atomic_operand_i,  // little-endian, as atomic_old_o
  output logic        atomic_done_o,     // strobe: it is done
  output logic [63:0] atomic_old_o,      // with it: the word as it was

  output logic [NumProbes-1:0]      probe_o,      // strobes, by probe_e; for simulation
  output logic [NumProbes-1:0][7:0] probe_tag_o,  // a tag for each, as probe_e says

  output logic [NumLinks-1:0]       status_up_o,  // level, a bit a link: both ends have answered
  output logic [NumLinks-1:0]       status_fail_o,  // level: an ack of what was not sent
  output logic [NumLinks-1:0][31:0] status_blocks_o,  // numbered blocks made; all counters wrap
  output logic [NumLinks-1:0][31:0] status_words_o,  // words in them
  output logic [NumLinks-1:0][31:0] status_got_o,  // numbered blocks taken
  output logic [NumLinks-1:0][31:0] status_bad_o,  // blocks with a wrong check
  output logic [NumLinks-1:0][31:0] status_again_o,  // blocks sent again
  output logic [31:0]               status_stray_o,  // unexpected messages
  output logic [31:0]               status_wrong_o,  // lines read with a wrong byte
  output logic                      status_refused_o  // the port answered with an error
);
  if (CacheSets == 0) begin : gen_sets_check
    $error("eci_axi_fpga: CacheSets is 0, legal is 1 or more");
  end

  // ---------------------------------------------------------------- AXI masters
  axi_pkg::address_t aw, ar, task_aw, atomic_aw;
  logic awvalid, awready, wvalid, wready, wlast, bvalid, bready, arvalid, arready, rvalid, rready;
  logic rlast, wrong;
  logic [1:0] bresp, rresp;
  logic [511:0] wdata, rdata, task_wdata, atomic_wdata;
  logic [63:0] wstrb, task_wstrb, atomic_wstrb;
  logic [5:0] atop;
  logic task_awvalid, task_wvalid, task_bready, task_rready, task_ready, task_hold, task_refused;
  logic atomic_awvalid, atomic_wvalid, atomic_bready, atomic_rready, atomic_ready, atomic_lost;
  logic change;  // the atomic's turn: it is open
  logic lost_q;  // an atomic was answered with an error
  logic [4:0] under_way_q;
  assign task_hold    = atomic_valid_i || change;
  assign task_ready_o = task_ready && !task_hold;
  axi_traffic u_traffic (
    .clk_i, .rst_ni, .task_valid_i(task_valid_i && !task_hold), .task_ready_o(task_ready),
    .task_write_i, .task_tag_i, .task_address_i,
    .task_bytes_i, .task_seed_i, .task_done_o, .task_done_tag_o, .awvalid_o(task_awvalid),
    .awready_i(awready && !change), .aw_o(task_aw), .wvalid_o(task_wvalid),
    .wready_i(wready && !change), .wdata_o(task_wdata), .wstrb_o(task_wstrb), .wlast_o(wlast),
    .bvalid_i(bvalid && !change), .bready_o(task_bready), .bresp_i(bresp),
    .arvalid_o(arvalid), .arready_i(arready), .ar_o(ar), .rvalid_i(rvalid && !change),
    .rready_o(task_rready), .rdata_i(rdata), .rresp_i(rresp), .rlast_i(rlast), .wrong_o(wrong),
    .error_o(task_refused)
  );
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) lost_q <= 1'b0;
    else lost_q <= lost_q || atomic_lost;
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) under_way_q <= '0;
    else under_way_q <= under_way_q + 5'(task_valid_i && task_ready_o) - 5'(task_done_o);
  end
  assign atomic_ready_o = atomic_ready && under_way_q == '0;
  assign change         = !atomic_ready;
  axi_atomic #(.DataWidth(512)) u_atomic (
    .clk_i, .rst_ni, .req_valid_i(atomic_valid_i && under_way_q == '0),
    .req_ready_o(atomic_ready), .req_code_i(atomic_code_i), .req_address_i(atomic_address_i),
    .req_operand_i(atomic_operand_i), .done_o(atomic_done_o), .old_o(atomic_old_o),
    .lost_o(atomic_lost), .retry_o(), .awvalid_o(atomic_awvalid), .awready_i(awready && change),
    .aw_o(atomic_aw), .awatop_o(atop), .wvalid_o(atomic_wvalid), .wready_i(wready && change),
    .wdata_o(atomic_wdata), .wstrb_o(atomic_wstrb), .bvalid_i(bvalid && change),
    .bready_o(atomic_bready), .bresp_i(bresp), .rvalid_i(rvalid && change),
    .rready_o(atomic_rready), .rdata_i(rdata), .rresp_i(rresp)
  );
  assign awvalid = change ? atomic_awvalid : task_awvalid;
  assign aw      = change ? atomic_aw : task_aw;
  assign wvalid  = change ? atomic_wvalid : task_wvalid;
  assign wdata   = change ? atomic_wdata : task_wdata;
  assign wstrb   = change ? atomic_wstrb : task_wstrb;
  assign bready  = change ? atomic_bready : task_bready;
  assign rready  = change ? atomic_rready : task_rready;
  assign status_refused_o = task_refused || lost_q;
  assign task_done_fault_o = 1'b0;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) status_wrong_o <= '0;
    else status_wrong_o <= status_wrong_o + 32'(wrong);
  end

  // ---------------------------------------------------------------- its port
  logic line_valid, line_ready, line_write, rsp_valid;
  logic [32:0] line_index;
  logic [7:0] line_tag, rsp_tag;
  logic [127:0] line_mask;
  logic [1023:0] line_data, rsp_data;
  coherence_atomic_pkg::atomic_t atomic;
  logic [1:0] ids;
  coherence_axi #(
    .DataWidth(512), .LineBytes(128), .IdWidth(1), .AddrWidth(40), .NumReads(NumReads),
    .NumStores(NumStores), .NumBursts(NumBursts), .Streams(1)
  ) u_port (
    .clk_i, .rst_ni, .awvalid_i(awvalid), .awready_o(awready), .awid_i(1'b0), .aw_i(aw),
    .awatop_i(change ? atop : '0), .wvalid_i(wvalid), .wready_o(wready), .wdata_i(wdata),
    .wstrb_i(wstrb),
    .bvalid_o(bvalid), .bready_i(bready), .bid_o(ids[0]), .bresp_o(bresp), .arvalid_i(arvalid),
    .arready_o(arready), .arid_i(1'b0), .ar_i(ar), .rvalid_o(rvalid), .rready_i(rready),
    .rid_o(ids[1]), .rdata_o(rdata), .rresp_o(rresp), .rlast_o(rlast),
    .core_valid_o(line_valid), .core_ready_i(line_ready), .core_write_o(line_write),
    .core_index_o(line_index), .core_tag_o(line_tag), .core_mask_o(line_mask),
    .core_data_o(line_data), .core_atomic_o(atomic), .core_rsp_valid_i(rsp_valid),
    .core_rsp_tag_i(rsp_tag), .core_rsp_error_i(1'b0), .core_rsp_data_i(rsp_data)
  );

  // ---------------------------------------------------------------- the agent and its link
  logic [eci_fpga_pkg::NumProbes-1:0] agent;
  logic [eci_fpga_pkg::NumProbes-1:0][7:0] agent_tags;
  logic io_ready, io_rsp_valid, io_event_valid, io_event_ipi;
  logic [7:0] io_rsp_tag;
  logic [63:0] io_rsp_data;
  logic [39:0] io_event_address;
  eci_fpga #(
    .DataDepth(DataDepth), .RestDepth(RestDepth), .Window(Window), .RoundTrip(RoundTrip),
    .NumLinks(NumLinks), .CacheSets(CacheSets), .CacheWays(CacheWays), .NumMshr(NumMshr),
    .CacheSlices(CacheSlices), .Atomics(1'b1)
  ) u_agent (
    .clk_i, .rst_ni, .cfg_partition_i, .blocks_tx_data_o, .blocks_tx_ready_i, .blocks_rx_data_i,
    .blocks_rx_valid_i, .lines_req_valid_i(line_valid), .lines_req_ready_o(line_ready),
    .lines_req_kind_i(coherence_pkg::LineCached), .lines_req_write_i(line_write),
    .lines_req_index_i(line_index), .lines_req_tag_i(line_tag), .lines_req_mask_i(line_mask),
    .lines_req_data_i(line_data), .lines_req_atomic_i(atomic), .lines_rsp_valid_o(rsp_valid),
    .lines_rsp_tag_o(rsp_tag),
    .lines_rsp_data_o(rsp_data), .io_req_valid_i(1'b0), .io_req_ready_o(io_ready),
    .io_req_kind_i('0), .io_req_address_i('0), .io_req_mask_i('0), .io_req_tag_i('0),
    .io_req_data_i('0), .io_rsp_valid_o(io_rsp_valid), .io_rsp_tag_o(io_rsp_tag),
    .io_rsp_data_o(io_rsp_data), .io_event_valid_o(io_event_valid),
    .io_event_ipi_o(io_event_ipi), .io_event_address_o(io_event_address), .probe_o(agent),
    .probe_tag_o(agent_tags), .status_up_o, .status_fail_o, .status_blocks_o, .status_words_o,
    .status_got_o, .status_bad_o, .status_again_o, .status_stray_o
  );

  prim_assert u_one_id (.clk_i, .rst_ni, .ok_i(!(rvalid && ids[1]) && !(bvalid && ids[0])));

  assign probe_o[Accepted]      = agent[eci_fpga_pkg::Accepted];
  assign probe_tag_o[Accepted]  = agent_tags[eci_fpga_pkg::Accepted];
  assign probe_o[Requested]     = agent[eci_fpga_pkg::Requested];
  assign probe_tag_o[Requested] = agent_tags[eci_fpga_pkg::Requested];
  assign probe_o[Completed]     = agent[eci_fpga_pkg::Completed];
  assign probe_tag_o[Completed] = agent_tags[eci_fpga_pkg::Completed];
  assign probe_o[Taken]         = (task_valid_i && task_ready_o) ||
                                  (atomic_valid_i && atomic_ready_o);
  assign probe_tag_o[Taken]     = task_valid_i ? task_tag_i : '0;
  assign probe_o[Asked]         = arvalid && arready;
  assign probe_tag_o[Asked]     = '0;
  assign probe_o[Read]          = rvalid && rready;
  assign probe_tag_o[Read]      = '0;
  assign probe_o[Wrote]         = wvalid && wready;
  assign probe_tag_o[Wrote]     = '0;
  assign probe_o[Stored]        = bvalid && bready;
  assign probe_tag_o[Stored]    = '0;
  assign probe_o[Done]          = task_done_o || atomic_done_o;
  assign probe_tag_o[Done]      = task_done_o ? task_done_tag_o : '0;

  logic unused;
  assign unused = ^{wlast, io_ready, io_rsp_valid, io_rsp_tag, io_rsp_data, io_event_valid,
                    io_event_ipi, io_event_address};
endmodule
