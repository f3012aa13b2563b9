// SPDX-License-Identifier: SHL-2.1
/// Torus of X * Y torus_nodes joined by torus_links over lanes, the top of a bench.
///
///   Nodes       as torus_bench: local port of node n at bit n and at [Width*n +: Width]
///   Links       each with four lanes each way, LinkCycles registers long; link p of node n at bit
///               NumLinks*n + p - 1 of signal_i, spoil_i and up_o. spoil_i: the word that it sends
///               has a wrong bit
///   Parameters  X 2 or more; Y 1 is a ring; Z and Pins as in torus_bench, one value
module torus_links_bench
  import link_pkg::*;
  import torus_pkg::*;
#(
  parameter  int unsigned X          = 4,
  parameter  int unsigned Y          = 1,
  parameter  int unsigned Z          = 1,
  parameter  int unsigned Width      = 128,
  parameter  int unsigned Depth      = 64,
  parameter  int unsigned LinkCycles = 6,
  parameter  int unsigned AlignWords = 128,
  parameter  int unsigned InitWords  = 512,
  parameter  bit          Pins       = 1'b1,
  localparam int unsigned Nodes      = X * Y * Z,
  localparam int unsigned Dims       = Y > 1 ? 2 : 1,
  localparam int unsigned NumLinks   = 2 * Dims,
  localparam int unsigned AllLinks   = Nodes * NumLinks
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  input  logic [AllLinks-1:0]    signal_i,
  input  logic [AllLinks-1:0]    spoil_i,
  output logic [AllLinks-1:0]    up_o,
  input  logic [Nodes-1:0]       in_valid_i,
  input  logic [Nodes-1:0]       in_head_i,
  input  logic [Nodes-1:0]       in_tail_i,
  input  logic [Nodes*Width-1:0] in_data_i,
  output logic [Nodes-1:0]       in_freed_o,
  output logic [Nodes-1:0]       out_valid_o,
  output logic [Nodes-1:0]       out_head_o,
  output logic [Nodes-1:0]       out_tail_o,
  output logic [Nodes*Width-1:0] out_data_o,
  input  logic [Nodes-1:0]       out_freed_i,
  output logic [31:0]            status_lost_o,     // packets without a legal route
  output logic [31:0]            status_packets_o,  // packets that came in
  output logic [31:0]            status_dropped_o,  // sums of the links'
  output logic [31:0]            status_torn_o,
  output logic [31:0]            status_gaps_o,
  output logic [31:0]            status_refused_o,
  output logic                   idle_o             // the routers'
);
  localparam int unsigned Lanes    = Width / 32;
  localparam int unsigned NumPorts = NumLinks + 1;
  localparam place_t      Last     = {coord_t'(0), coord_t'(Y - 1), coord_t'(X - 1)};

  word_t [Lanes-1:0] lanes [Nodes][NumPorts];
  logic [31:0] dropped [Nodes][NumPorts];
  logic [31:0] torn [Nodes][NumPorts];
  logic [31:0] gaps [Nodes][NumPorts];
  logic [15:0] refused [Nodes][NumPorts];
  logic [31:0] lost [Nodes];
  logic [31:0] packets [Nodes];
  logic [Nodes-1:0] idle;

  for (genvar n = 0; n < int'(Nodes); n++) begin : gen_node
    logic [NumPorts-1:0] rx_valid, rx_vc, rx_head, rx_tail, tx_valid, tx_vc, tx_head, tx_tail;
    logic [NumPorts*Width-1:0] rx_data, tx_data;
    logic [2*NumPorts-1:0] rx_freed, tx_freed;
    assign {rx_valid[0], rx_vc[0], rx_head[0], rx_tail[0]} =
        {in_valid_i[n], 1'b0, in_head_i[n], in_tail_i[n]};
    assign rx_data[Width-1:0] = in_data_i[Width*n+:Width];
    assign tx_freed[1:0]      = {1'b0, out_freed_i[n]};
    assign in_freed_o[n]      = rx_freed[0];
    assign {out_valid_o[n], out_head_o[n], out_tail_o[n]} = {tx_valid[0], tx_head[0], tx_tail[0]};
    assign out_data_o[Width*n+:Width] = tx_data[Width-1:0];
    assign {dropped[n][0], torn[n][0], gaps[n][0], refused[n][0]} = '0;
    assign lanes[n][0] = '0;

    torus_node #(
      .Dims (Dims),
      .Width(Width),
      .Depth(Depth)
    ) u_node (
      .clk_i,
      .rst_ni,
      .cfg_here_i      ({coord_t'(0), coord_t'(n / X), coord_t'(n % X)}),
      .cfg_last_i      (Last),
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
      .status_packets_o(packets[n]),
      .status_lost_o   (lost[n]),
      .idle_o          (idle[n])
    );

    for (genvar p = 1; p < int'(NumPorts); p++) begin : gen_link
      // The neighbour behind this port, and its port towards here.
      localparam int unsigned Far  = p % 2 == 1 ? p + 1 : p - 1;
      localparam int unsigned At   = p < 3 ? n % X : n / X;
      localparam int unsigned Size = p < 3 ? X : Y;
      localparam int unsigned Unit = p < 3 ? 1 : X;
      localparam int unsigned To   = p % 2 == 1 ? (At + 1) % Size : (At + Size - 1) % Size;
      localparam int unsigned Peer = n - At * Unit + To * Unit;
      localparam int unsigned Bit  = NumLinks * n + p - 1;

      word_t [Lanes-1:0] line_q [LinkCycles];
      logic [15:0] downs;
      logic [31:0] invalid;
      logic unused;
      assign unused = &{1'b0, downs, invalid};
      always_ff @(posedge clk_i) begin
        line_q[0] <= lanes[Peer][Far];
        for (int unsigned s = 1; s < LinkCycles; s++) line_q[s] <= line_q[s-1];
      end

      word_t [Lanes-1:0] tx;
      assign lanes[n][p] = tx ^ (36 * Lanes)'({spoil_i[Bit], 40'd0});
      torus_link #(
        .Lanes     (Lanes),
        .Depth     (Depth),
        .MaxSkew   (2),
        .AlignWords(AlignWords),
        .InitWords (InitWords)
      ) u_link (
        .clk_i,
        .rst_ni,
        .signal_i        ({Lanes{signal_i[Bit]}}),
        .rx_i            (line_q[LinkCycles-1]),
        .tx_o            (tx),
        .up_o            (up_o[Bit]),
        .tx_valid_i      (tx_valid[p]),
        .tx_vc_i         (tx_vc[p]),
        .tx_head_i       (tx_head[p]),
        .tx_tail_i       (tx_tail[p]),
        .tx_data_i       (tx_data[Width*p+:Width]),
        .tx_freed_o      (tx_freed[2*p+:2]),
        .rx_valid_o      (rx_valid[p]),
        .rx_vc_o         (rx_vc[p]),
        .rx_head_o       (rx_head[p]),
        .rx_tail_o       (rx_tail[p]),
        .rx_data_o       (rx_data[Width*p+:Width]),
        .rx_freed_i      (rx_freed[2*p+:2]),
        .status_dropped_o(dropped[n][p]),
        .status_torn_o   (torn[n][p]),
        .status_gaps_o   (gaps[n][p]),
        .status_invalid_o(invalid),
        .status_refused_o(refused[n][p]),
        .status_downs_o  (downs)
      );
    end
  end

  always_comb begin
    {status_lost_o, status_packets_o, status_dropped_o, status_torn_o, status_gaps_o} = '0;
    status_refused_o = '0;
    for (int unsigned n = 0; n < Nodes; n++) begin
      status_lost_o    = status_lost_o + lost[n];
      status_packets_o = status_packets_o + packets[n];
      for (int unsigned p = 0; p < NumPorts; p++) begin
        status_dropped_o = status_dropped_o + dropped[n][p];
        status_torn_o    = status_torn_o + torn[n][p];
        status_gaps_o    = status_gaps_o + gaps[n][p];
        status_refused_o = status_refused_o + 32'(refused[n][p]);
      end
    end
  end
  assign idle_o = idle == '1;
endmodule
