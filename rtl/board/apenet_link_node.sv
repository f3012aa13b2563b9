// SPDX-License-Identifier: SHL-2.1
/// Device: apenet_node with the ends of its links, lanes of 8b/10b words at the pins.
///
///   Pins        serdes_*: as torus_links; all others as apenet_node
///   Handshake   serdes_*: a word of every lane in each cycle; bar and dma AXI4
///   Configured  cfg_here_i, cfg_last_i and cfg_firmware_*_i as apenet_node
///   Interrupt   irq_o: as apenet_node
///   Start       packets for a link that is not up are dropped: a program waits for status_up_o of
///               all nodes before it puts
///   Latency     apenet_node's, and of torus_link 2 cycles to the lanes and 4 from them
///   Throughput  torus_link's: a word of all lanes a cycle each way, less framing and credits
///   Losses      torus_link's: nothing is sent again, what is lost is counted
///   Counters    apenet_node's and torus_links'
///   Parameters  as apenet_node; Depth 4..512; MaxSkew, AlignWords and InitWords as torus_links,
///               the same in all nodes
///   Not done    transceivers; idle_o, as torus_links
module apenet_link_node
  import apenet_node_pkg::*;
  import torus_pkg::NumVcs;
#(
  parameter  int unsigned Dims       = 3,
  parameter  int unsigned DataWidth  = 256,
  parameter  int unsigned Depth      = 64,
  parameter  bit          Firmware   = 1'b0,
  parameter  int unsigned MaxSkew    = 8,
  parameter  int unsigned AlignWords = 512,
  parameter  int unsigned InitWords  = 2048,
  localparam int unsigned Width      = apenet_pkg::FlitWidth,
  localparam int unsigned Lanes      = Width / 32,
  localparam int unsigned NumLinks   = 2 * Dims
) (
  input logic clk_i,
  input logic rst_ni,

  input  torus_pkg::place_t         cfg_here_i,
  input  torus_pkg::place_t         cfg_last_i,
  input  logic [15:0]               cfg_firmware_wake_min_i,  // cycles, as nanet_firmware
  input  logic [15:0]               cfg_firmware_wake_span_i,
  input  logic [15:0]               cfg_firmware_work_i,

  input  logic [NumLinks*Width-1:0]   serdes_rx_data_i,  // a word of 32 bits a lane and cycle
  input  logic [NumLinks*Width/8-1:0] serdes_rx_k_i,     // bit n of a lane: byte n is a K code
  input  logic [NumLinks*Lanes-1:0]   serdes_signal_i,
  output logic [NumLinks*Width-1:0]   serdes_tx_data_o,  // as serdes_rx_data_i
  output logic [NumLinks*Width/8-1:0] serdes_tx_k_o,     // as serdes_rx_k_i

  input  logic        bar_awvalid_i,  // bar_aw*: AXI4 write address of the host, valid/ready
  input  logic [3:0]  bar_awid_i,
  input  logic [12:0] bar_awaddr_i,  // of a byte in the BAR
  input  logic [7:0]  bar_awlen_i,   // not looked at: bar_wlast_i ends a burst
  input  logic [2:0]  bar_awsize_i,
  input  logic [1:0]  bar_awburst_i,  // not looked at: INCR
  output logic        bar_awready_o,
  input  logic        bar_wvalid_i,  // bar_w*: data of the write, byte n in bits 8n+7:8n
  input  logic [63:0] bar_wdata_i,
  input  logic [7:0]  bar_wstrb_i,
  input  logic        bar_wlast_i,
  output logic        bar_wready_o,
  output logic        bar_bvalid_o,  // bar_b*: an answer a write burst: 0 OKAY, 2 SLVERR
  output logic [3:0]  bar_bid_o,
  output logic [1:0]  bar_bresp_o,
  input  logic        bar_bready_i,
  input  logic        bar_arvalid_i,  // bar_ar*: AXI4 read address, INCR; len: beats less one
  input  logic [3:0]  bar_arid_i,
  input  logic [12:0] bar_araddr_i,
  input  logic [7:0]  bar_arlen_i,
  input  logic [2:0]  bar_arsize_i,
  input  logic [1:0]  bar_arburst_i,
  output logic        bar_arready_o,
  output logic        bar_rvalid_o,  // bar_r*: its data, with its id; rlast: the last beat
  output logic [3:0]  bar_rid_o,
  output logic [63:0] bar_rdata_o,
  output logic [1:0]  bar_rresp_o,
  output logic        bar_rlast_o,
  input  logic        bar_rready_i,

  output logic                   dma_awvalid_o,  // dma_aw*: AXI4 write address at the host, INCR
  output logic [0:0]             dma_awid_o,
  output logic [63:0]            dma_awaddr_o,
  output logic [7:0]             dma_awlen_o,
  output logic [2:0]             dma_awsize_o,
  output logic [1:0]             dma_awburst_o,
  input  logic                   dma_awready_i,
  output logic                   dma_wvalid_o,  // dma_w*: its data, byte n in bits 8n+7:8n
  output logic [DataWidth-1:0]   dma_wdata_o,
  output logic [DataWidth/8-1:0] dma_wstrb_o,
  output logic                   dma_wlast_o,
  input  logic                   dma_wready_i,
  input  logic                   dma_bvalid_i,  // dma_b*: an answer a burst; resp 2, 3: an error
  input  logic [0:0]             dma_bid_i,
  input  logic [1:0]             dma_bresp_i,
  output logic                   dma_bready_o,
  output logic                   dma_arvalid_o,  // dma_ar*: AXI4 read address at the host, INCR
  output logic [0:0]             dma_arid_o,
  output logic [63:0]            dma_araddr_o,
  output logic [7:0]             dma_arlen_o,
  output logic [2:0]             dma_arsize_o,
  output logic [1:0]             dma_arburst_o,
  input  logic                   dma_arready_i,
  input  logic                   dma_rvalid_i,  // dma_r*: data of the reads, in order
  input  logic [0:0]             dma_rid_i,
  input  logic [DataWidth-1:0]   dma_rdata_i,
  input  logic [1:0]             dma_rresp_i,
  input  logic                   dma_rlast_i,
  output logic                   dma_rready_o,

  output logic [0:0] irq_o,

  input logic [63:0] time_cycles_i,  // cycles of clk_i since time zero

  output logic [NumProbes-1:0]      probe_o,      // strobes, by probe_e; for simulation
  output logic [NumProbes-1:0][7:0] probe_tag_o,  // number of the put at its source, modulo 256

  output logic [31:0] status_packets_o,  // that came
  output logic [15:0] status_bad_o,      // of them not good
  output logic [31:0] status_lost_o,     // without a legal route
  output logic [15:0] status_events_o,   // written to host memory, modulo 2^16

  output logic [NumLinks-1:0] status_up_o,       // level, a bit a link: both ends are ready
  output logic [31:0]         status_dropped_o,  // packets to a link that was down
  output logic [31:0]         status_torn_o,     // packets from the lanes that ended bad
  output logic [31:0]         status_gaps_o,     // chunks before which words were missing
  output logic [31:0]         status_invalid_o,  // invalid words, and words outside packets
  output logic [31:0]         status_refused_o,  // words without a place
  output logic [31:0]         status_downs_o     // a link went down
);
  logic [NumLinks-1:0] rx_valid, rx_vc, rx_head, rx_tail, tx_valid, tx_vc, tx_head, tx_tail;
  logic [NumLinks*Width-1:0] rx_data, tx_data;
  logic [NumVcs*NumLinks-1:0] rx_freed, tx_freed;

  logic unused_idle;  // of the node: its links are never idle
  apenet_node #(
    .Dims     (Dims),
    .DataWidth(DataWidth),
    .Depth    (Depth),
    .Firmware (Firmware)
  ) u_node (
    .flits_rx_valid_i(rx_valid),
    .flits_rx_vc_i   (rx_vc),
    .flits_rx_head_i (rx_head),
    .flits_rx_tail_i (rx_tail),
    .flits_rx_data_i (rx_data),
    .flits_rx_freed_o(rx_freed),
    .flits_tx_valid_o(tx_valid),
    .flits_tx_vc_o   (tx_vc),
    .flits_tx_head_o (tx_head),
    .flits_tx_tail_o (tx_tail),
    .flits_tx_data_o (tx_data),
    .flits_tx_freed_i(tx_freed),
    .clk_i,
    .rst_ni,
    .cfg_here_i,
    .cfg_last_i,
    .cfg_firmware_wake_min_i,
    .cfg_firmware_wake_span_i,
    .cfg_firmware_work_i,
    .bar_awvalid_i,
    .bar_awid_i,
    .bar_awaddr_i,
    .bar_awlen_i,
    .bar_awsize_i,
    .bar_awburst_i,
    .bar_awready_o,
    .bar_wvalid_i,
    .bar_wdata_i,
    .bar_wstrb_i,
    .bar_wlast_i,
    .bar_wready_o,
    .bar_bvalid_o,
    .bar_bid_o,
    .bar_bresp_o,
    .bar_bready_i,
    .bar_arvalid_i,
    .bar_arid_i,
    .bar_araddr_i,
    .bar_arlen_i,
    .bar_arsize_i,
    .bar_arburst_i,
    .bar_arready_o,
    .bar_rvalid_o,
    .bar_rid_o,
    .bar_rdata_o,
    .bar_rresp_o,
    .bar_rlast_o,
    .bar_rready_i,
    .dma_awvalid_o,
    .dma_awid_o,
    .dma_awaddr_o,
    .dma_awlen_o,
    .dma_awsize_o,
    .dma_awburst_o,
    .dma_awready_i,
    .dma_wvalid_o,
    .dma_wdata_o,
    .dma_wstrb_o,
    .dma_wlast_o,
    .dma_wready_i,
    .dma_bvalid_i,
    .dma_bid_i,
    .dma_bresp_i,
    .dma_bready_o,
    .dma_arvalid_o,
    .dma_arid_o,
    .dma_araddr_o,
    .dma_arlen_o,
    .dma_arsize_o,
    .dma_arburst_o,
    .dma_arready_i,
    .dma_rvalid_i,
    .dma_rid_i,
    .dma_rdata_i,
    .dma_rresp_i,
    .dma_rlast_i,
    .dma_rready_o,
    .irq_o,
    .time_cycles_i,
    .probe_o,
    .probe_tag_o,
    .status_packets_o,
    .status_bad_o,
    .status_lost_o,
    .status_events_o,
    .idle_o          (unused_idle)
  );

  torus_links #(
    .NumLinks  (NumLinks),
    .Lanes     (Lanes),
    .Depth     (Depth),
    .MaxSkew   (MaxSkew),
    .AlignWords(AlignWords),
    .InitWords (InitWords)
  ) u_links (
    .clk_i,
    .rst_ni,
    .serdes_rx_data_i,
    .serdes_rx_k_i,
    .serdes_signal_i,
    .serdes_tx_data_o,
    .serdes_tx_k_o,
    .tx_valid_i(tx_valid),
    .tx_vc_i   (tx_vc),
    .tx_head_i (tx_head),
    .tx_tail_i (tx_tail),
    .tx_data_i (tx_data),
    .tx_freed_o(tx_freed),
    .rx_valid_o(rx_valid),
    .rx_vc_o   (rx_vc),
    .rx_head_o (rx_head),
    .rx_tail_o (rx_tail),
    .rx_data_o (rx_data),
    .rx_freed_i(rx_freed),
    .status_up_o,
    .status_dropped_o,
    .status_torn_o,
    .status_gaps_o,
    .status_invalid_o,
    .status_refused_o,
    .status_downs_o
  );
endmodule
