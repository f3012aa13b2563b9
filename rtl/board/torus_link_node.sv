// SPDX-License-Identifier: SHL-2.1
/// Device: torus_node with the ends of its links, lanes of 8b/10b words at the pins.
///
///   Pins        flits_*: the local port, as port 0 of torus_node. serdes_*: as torus_links; link i
///               is port i + 1 of the router
///   Handshake   flits_*: torus_router's. serdes_*: a word of every lane in each cycle
///   Configured  as torus_node
///   Start       packets for a link that is not up are dropped: a source waits for status_up_o of
///               all nodes
///   Latency     idle, cycles: flits_rx_* to the lanes 5, the lanes to flits_tx_* 7, the lanes to
///               other lanes 9: torus_node 3, torus_link 2 to its lanes and 4 from them
///   Throughput  torus_link's: a word of all lanes a cycle each way, less framing and credits
///   Losses      torus_link's: nothing is sent again, what is lost is counted
///   Counters    of all links together, wrapping, but for status_up_o; meanings are torus_node's
///               and torus_link's
///   Parameters  Dims, Depth as torus_node, Depth 4..512; Lanes of 32 bits; MaxSkew, AlignWords and
///               InitWords as torus_link, the same in all nodes
///   Not done    transceivers; a way around a link that is down; idle_o, as torus_links
module torus_link_node
  import torus_pkg::NumVcs;
  import torus_pkg::place_t;
#(
  parameter  int unsigned Dims       = 3,
  parameter  int unsigned Lanes      = 4,
  parameter  int unsigned Depth      = 64,
  parameter  int unsigned MaxSkew    = 8,
  parameter  int unsigned AlignWords = 512,
  parameter  int unsigned InitWords  = 2048,
  localparam int unsigned Width      = 32 * Lanes,
  localparam int unsigned NumLinks   = 2 * Dims,
  localparam int unsigned NumPorts   = NumLinks + 1
) (
  input logic   clk_i,
  input logic   rst_ni,
  input place_t cfg_here_i,  // this node
  input place_t cfg_last_i,  // the highest coordinates

  input  logic              flits_rx_valid_i,  // a flit into the network
  input  logic              flits_rx_vc_i,     // 0: a local port has one channel
  input  logic              flits_rx_head_i,
  input  logic              flits_rx_tail_i,
  input  logic [Width-1:0]  flits_rx_data_i,
  output logic [NumVcs-1:0] flits_rx_freed_o,  // strobe: a credit back
  output logic              flits_tx_valid_o,  // a flit out of the network
  output logic              flits_tx_vc_o,
  output logic              flits_tx_head_o,
  output logic              flits_tx_tail_o,
  output logic [Width-1:0]  flits_tx_data_o,
  input  logic [NumVcs-1:0] flits_tx_freed_i,  // strobe: a place is free again

  input  logic [NumLinks*Width-1:0]   serdes_rx_data_i,  // a word of 32 bits a lane and cycle
  input  logic [NumLinks*Width/8-1:0] serdes_rx_k_i,     // bit n of a lane: byte n is a K code
  input  logic [NumLinks*Lanes-1:0]   serdes_signal_i,
  output logic [NumLinks*Width-1:0]   serdes_tx_data_o,  // as serdes_rx_data_i
  output logic [NumLinks*Width/8-1:0] serdes_tx_k_o,     // as serdes_rx_k_i

  output logic [NumLinks-1:0] status_up_o,       // level, a bit a link: both ends are ready
  output logic                status_empty_o,    // level: no flit is in the router
  output logic [31:0]         status_packets_o,  // came in by the local port
  output logic [31:0]         status_lost_o,     // without a legal route, discarded
  output logic [31:0]         status_dropped_o,  // packets to a link that was down
  output logic [31:0]         status_torn_o,     // packets from the lanes that ended bad
  output logic [31:0]         status_gaps_o,     // chunks before which words were missing
  output logic [31:0]         status_invalid_o,  // invalid words, and words outside packets
  output logic [31:0]         status_refused_o,  // words without a place
  output logic [31:0]         status_downs_o     // a link went down
);
  logic [NumPorts-1:0] rx_valid, rx_vc, rx_head, rx_tail, tx_valid, tx_vc, tx_head, tx_tail;
  logic [NumPorts*Width-1:0] rx_data, tx_data;
  logic [NumVcs*NumPorts-1:0] rx_freed, tx_freed;

  assign {rx_valid[0], rx_vc[0], rx_head[0], rx_tail[0]} =
      {flits_rx_valid_i, flits_rx_vc_i, flits_rx_head_i, flits_rx_tail_i};
  assign rx_data[Width-1:0]   = flits_rx_data_i;
  assign tx_freed[NumVcs-1:0] = flits_tx_freed_i;
  assign flits_rx_freed_o     = rx_freed[NumVcs-1:0];
  assign {flits_tx_valid_o, flits_tx_vc_o, flits_tx_head_o, flits_tx_tail_o} =
      {tx_valid[0], tx_vc[0], tx_head[0], tx_tail[0]};
  assign flits_tx_data_o      = tx_data[Width-1:0];

  torus_node #(
    .Dims (Dims),
    .Width(Width),
    .Depth(Depth)
  ) u_node (
    .clk_i,
    .rst_ni,
    .cfg_here_i,
    .cfg_last_i,
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
    .status_packets_o,
    .status_lost_o,
    .idle_o          (status_empty_o)
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
    .tx_valid_i(tx_valid[NumPorts-1:1]),
    .tx_vc_i   (tx_vc[NumPorts-1:1]),
    .tx_head_i (tx_head[NumPorts-1:1]),
    .tx_tail_i (tx_tail[NumPorts-1:1]),
    .tx_data_i (tx_data[NumPorts*Width-1:Width]),
    .tx_freed_o(tx_freed[NumVcs*NumPorts-1:NumVcs]),
    .rx_valid_o(rx_valid[NumPorts-1:1]),
    .rx_vc_o   (rx_vc[NumPorts-1:1]),
    .rx_head_o (rx_head[NumPorts-1:1]),
    .rx_tail_o (rx_tail[NumPorts-1:1]),
    .rx_data_o (rx_data[NumPorts*Width-1:Width]),
    .rx_freed_i(rx_freed[NumVcs*NumPorts-1:NumVcs]),
    .status_up_o,
    .status_dropped_o,
    .status_torn_o,
    .status_gaps_o,
    .status_invalid_o,
    .status_refused_o,
    .status_downs_o
  );
endmodule
