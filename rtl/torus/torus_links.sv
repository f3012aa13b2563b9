// SPDX-License-Identifier: SHL-2.1
/// The ends of all links of a node: ports of its router to the lanes of a device's pins.
///
///   Pins        lane l of link i at bits [32*(Lanes*i+l) +: 32] of serdes_*_data and
///               [4*(Lanes*i+l) +: 4] of serdes_*_k; serdes_signal_i[Lanes*i+l]: it has lock
///   Handshake   tx_*, rx_*: torus_link's, link i at bit i and at [Width*i +: Width]. serdes_*: a
///               word of every lane in each cycle
///   Latency, Throughput, Losses: torus_link's
///   Counters    torus_link's, those of all links together
///   Parameters  NumLinks 1..6; the others as torus_link
///   Not done    idle_o: the lanes carry an ALIGN every AlignWords words, so they are never idle
module torus_links
  import link_pkg::word_t;
  import torus_pkg::NumVcs;
#(
  parameter  int unsigned NumLinks   = 6,
  parameter  int unsigned Lanes      = 4,
  parameter  int unsigned Depth      = 64,
  parameter  int unsigned MaxSkew    = 8,
  parameter  int unsigned AlignWords = 512,
  parameter  int unsigned InitWords  = 2048,
  localparam int unsigned Width      = 32 * Lanes
) (
  input  logic                        clk_i,
  input  logic                        rst_ni,
  input  logic [NumLinks*Width-1:0]   serdes_rx_data_i,  // a word of 32 bits a lane and cycle
  input  logic [NumLinks*Width/8-1:0] serdes_rx_k_i,     // bit n of a lane: byte n is a K code
  input  logic [NumLinks*Lanes-1:0]   serdes_signal_i,
  output logic [NumLinks*Width-1:0]   serdes_tx_data_o,  // as serdes_rx_data_i
  output logic [NumLinks*Width/8-1:0] serdes_tx_k_o,     // as serdes_rx_k_i
  input  logic [NumLinks-1:0]         tx_valid_i,        // tx_*: the router's outputs
  input  logic [NumLinks-1:0]         tx_vc_i,           // their virtual channels
  input  logic [NumLinks-1:0]         tx_head_i,         // first flit of a packet
  input  logic [NumLinks-1:0]         tx_tail_i,         // last one
  input  logic [NumLinks*Width-1:0]   tx_data_i,
  output logic [NumLinks*NumVcs-1:0]  tx_freed_o,        // strobe: a credit of the channel back
  output logic [NumLinks-1:0]         rx_valid_o,        // rx_*: the router's inputs
  output logic [NumLinks-1:0]         rx_vc_o,
  output logic [NumLinks-1:0]         rx_head_o,
  output logic [NumLinks-1:0]         rx_tail_o,
  output logic [NumLinks*Width-1:0]   rx_data_o,
  input  logic [NumLinks*NumVcs-1:0]  rx_freed_i,
  output logic [NumLinks-1:0]         status_up_o,       // level, a bit a link: both ends are ready
  output logic [31:0]                 status_dropped_o,  // packets to a link that was down
  output logic [31:0]                 status_torn_o,     // packets from the lanes that ended bad
  output logic [31:0]                 status_gaps_o,     // chunks before which words were missing
  output logic [31:0]                 status_invalid_o,  // invalid words, words outside packets
  output logic [31:0]                 status_refused_o,  // words without a place
  output logic [31:0]                 status_downs_o     // a link went down
);
  logic [31:0] dropped [NumLinks];
  logic [31:0] torn [NumLinks];
  logic [31:0] gaps [NumLinks];
  logic [31:0] invalid [NumLinks];
  logic [15:0] refused [NumLinks];
  logic [15:0] downs [NumLinks];

  for (genvar i = 0; i < int'(NumLinks); i++) begin : gen_link
    word_t [Lanes-1:0] rx, tx;
    for (genvar l = 0; l < int'(Lanes); l++) begin : gen_pins
      assign rx[l] = '{k: serdes_rx_k_i[4*(Lanes*i+l)+:4],
                       data: serdes_rx_data_i[32*(Lanes*i+l)+:32]};
      assign serdes_tx_data_o[32*(Lanes*i+l)+:32] = tx[l].data;
      assign serdes_tx_k_o[4*(Lanes*i+l)+:4]      = tx[l].k;
    end

    torus_link #(
      .Lanes     (Lanes),
      .Depth     (Depth),
      .MaxSkew   (MaxSkew),
      .AlignWords(AlignWords),
      .InitWords (InitWords)
    ) u_link (
      .clk_i,
      .rst_ni,
      .signal_i        (serdes_signal_i[Lanes*i+:Lanes]),
      .rx_i            (rx),
      .tx_o            (tx),
      .up_o            (status_up_o[i]),
      .tx_valid_i      (tx_valid_i[i]),
      .tx_vc_i         (tx_vc_i[i]),
      .tx_head_i       (tx_head_i[i]),
      .tx_tail_i       (tx_tail_i[i]),
      .tx_data_i       (tx_data_i[Width*i+:Width]),
      .tx_freed_o      (tx_freed_o[NumVcs*i+:NumVcs]),
      .rx_valid_o      (rx_valid_o[i]),
      .rx_vc_o         (rx_vc_o[i]),
      .rx_head_o       (rx_head_o[i]),
      .rx_tail_o       (rx_tail_o[i]),
      .rx_data_o       (rx_data_o[Width*i+:Width]),
      .rx_freed_i      (rx_freed_i[NumVcs*i+:NumVcs]),
      .status_dropped_o(dropped[i]),
      .status_torn_o   (torn[i]),
      .status_gaps_o   (gaps[i]),
      .status_invalid_o(invalid[i]),
      .status_refused_o(refused[i]),
      .status_downs_o  (downs[i])
    );
  end

  always_comb begin
    {status_dropped_o, status_torn_o, status_gaps_o, status_invalid_o} = '0;
    {status_refused_o, status_downs_o} = '0;
    for (int unsigned i = 0; i < NumLinks; i++) begin
      status_dropped_o = status_dropped_o + dropped[i];
      status_torn_o    = status_torn_o + torn[i];
      status_gaps_o    = status_gaps_o + gaps[i];
      status_invalid_o = status_invalid_o + invalid[i];
      status_refused_o = status_refused_o + 32'(refused[i]);
      status_downs_o   = status_downs_o + 32'(downs[i]);
    end
  end
endmodule
