// SPDX-License-Identifier: SHL-2.1
/// Torus of X * Y torus_link_nodes joined by lanes, the top of a bench.
///
///   Nodes       as torus_bench: local port of node n at bit n and at [Width*n +: Width]
///   Links       each with four lanes each way, LinkCycles registers long; link p of node n at bit
///               NumLinks*n + p of signal_i, spoil_i and up_o. spoil_i: the word that it sends
///               has a wrong bit
///   Parameters  X 2 or more; Y 1 is a ring; Z and Pins as in torus_bench, one value
module torus_links_bench
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
  localparam place_t      Last     = {coord_t'(0), coord_t'(Y - 1), coord_t'(X - 1)};

  // What link p of node n sends, with its flags.
  logic [32*Lanes-1:0] lanes [Nodes][NumLinks];
  logic [4*Lanes-1:0] flags [Nodes][NumLinks];
  logic [31:0] dropped [Nodes];
  logic [31:0] torn [Nodes];
  logic [31:0] gaps [Nodes];
  logic [31:0] refused [Nodes];
  logic [31:0] lost [Nodes];
  logic [31:0] packets [Nodes];
  logic [Nodes-1:0] idle;

  for (genvar n = 0; n < int'(Nodes); n++) begin : gen_node
    logic [NumLinks*Width-1:0] rx, tx;
    logic [NumLinks*Width/8-1:0] rx_k, tx_k;
    logic [NumLinks*Lanes-1:0] signal;
    logic [31:0] downs, invalid;
    logic [1:0] freed;
    logic vc, unused;
    assign in_freed_o[n] = freed[0];
    assign unused = &{1'b0, downs, invalid, freed[1], vc};

    torus_link_node #(
      .Dims      (Dims),
      .Lanes     (Lanes),
      .Depth     (Depth),
      .MaxSkew   (2),
      .AlignWords(AlignWords),
      .InitWords (InitWords)
    ) u_node (
      .clk_i,
      .rst_ni,
      .cfg_here_i      ({coord_t'(0), coord_t'(n / X), coord_t'(n % X)}),
      .cfg_last_i      (Last),
      .flits_rx_valid_i(in_valid_i[n]),
      .flits_rx_vc_i   (1'b0),
      .flits_rx_head_i (in_head_i[n]),
      .flits_rx_tail_i (in_tail_i[n]),
      .flits_rx_data_i (in_data_i[Width*n+:Width]),
      .flits_rx_freed_o(freed),
      .flits_tx_valid_o(out_valid_o[n]),
      .flits_tx_vc_o   (vc),
      .flits_tx_head_o (out_head_o[n]),
      .flits_tx_tail_o (out_tail_o[n]),
      .flits_tx_data_o (out_data_o[Width*n+:Width]),
      .flits_tx_freed_i({1'b0, out_freed_i[n]}),
      .serdes_rx_data_i(rx),
      .serdes_rx_k_i   (rx_k),
      .serdes_signal_i (signal),
      .serdes_tx_data_o(tx),
      .serdes_tx_k_o   (tx_k),
      .status_up_o     (up_o[NumLinks*n+:NumLinks]),
      .status_empty_o  (idle[n]),
      .status_packets_o(packets[n]),
      .status_lost_o   (lost[n]),
      .status_dropped_o(dropped[n]),
      .status_torn_o   (torn[n]),
      .status_gaps_o   (gaps[n]),
      .status_invalid_o(invalid),
      .status_refused_o(refused[n]),
      .status_downs_o  (downs)
    );

    for (genvar p = 0; p < int'(NumLinks); p++) begin : gen_link
      // The neighbour behind this link, and its link towards here.
      localparam int unsigned Far  = p % 2 == 0 ? p + 1 : p - 1;
      localparam int unsigned At   = p < 2 ? n % X : n / X;
      localparam int unsigned Size = p < 2 ? X : Y;
      localparam int unsigned Unit = p < 2 ? 1 : X;
      localparam int unsigned To   = p % 2 == 0 ? (At + 1) % Size : (At + Size - 1) % Size;
      localparam int unsigned Peer = n - At * Unit + To * Unit;
      localparam int unsigned Bit  = NumLinks * n + p;

      logic [32*Lanes-1:0] line_q [LinkCycles];
      logic [4*Lanes-1:0] flags_q [LinkCycles];
      always_ff @(posedge clk_i) begin
        line_q[0]  <= lanes[Peer][Far];
        flags_q[0] <= flags[Peer][Far];
        for (int unsigned s = 1; s < LinkCycles; s++) begin
          line_q[s]  <= line_q[s-1];
          flags_q[s] <= flags_q[s-1];
        end
      end

      assign lanes[n][p] = tx[Width*p+:Width] ^ Width'({spoil_i[Bit], 36'd0});
      assign flags[n][p] = tx_k[4*Lanes*p+:4*Lanes];
      assign rx[Width*p+:Width]         = line_q[LinkCycles-1];
      assign rx_k[4*Lanes*p+:4*Lanes]   = flags_q[LinkCycles-1];
      assign signal[Lanes*p+:Lanes]     = {Lanes{signal_i[Bit]}};
    end
  end

  always_comb begin
    {status_lost_o, status_packets_o, status_dropped_o, status_torn_o, status_gaps_o} = '0;
    status_refused_o = '0;
    for (int unsigned n = 0; n < Nodes; n++) begin
      status_lost_o    = status_lost_o + lost[n];
      status_packets_o = status_packets_o + packets[n];
      status_dropped_o = status_dropped_o + dropped[n];
      status_torn_o    = status_torn_o + torn[n];
      status_gaps_o    = status_gaps_o + gaps[n];
      status_refused_o = status_refused_o + refused[n];
    end
  end
  assign idle_o = idle == '1;
endmodule
