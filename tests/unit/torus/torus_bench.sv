// SPDX-License-Identifier: SHL-2.1
/// Torus of X * Y * Z routers, the top of the bench.
///
///   Nodes       x + X * (y + Y * z); local port of node n at bit n of each vector and at [Width*n
///               +: Width] of the data
///   Handshake   the local ports of torus_router: flits with a credit each, never stalled
///   Links       LinkCycles registers each way between two routers, for flits and for credits; no
///               word is altered or lost
///   Latency     2 cycles a router, 3 with Pins, and LinkCycles a link, idle network
///   Parameters  X, Y, Z 1..32, X 2 or more; a dimension of 1 has no ports. Y is 1 only if Z is;
///               Width, Depth as torus_router; LinkCycles 0..64; Pins: the nodes are torus_node
///   Not done    transceivers, framing and checks of a link (rtl/link)
module torus_bench
  import torus_pkg::*;
#(
  parameter  int unsigned X          = 4,
  parameter  int unsigned Y          = 4,
  parameter  int unsigned Z          = 4,
  parameter  int unsigned Width      = 128,
  parameter  int unsigned Depth      = 16,
  parameter  int unsigned LinkCycles = 1,
  parameter  bit          Pins       = 1'b0,
  localparam int unsigned Nodes      = X * Y * Z
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
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
  output logic [31:0]            status_packets_o,  // with Pins: packets that came in
  output logic                   idle_o
);
  if (X < 2 || X > 32 || Y < 1 || Y > 32 || Z < 1 || Z > 32 || (Y == 1 && Z > 1)) begin : gen_check
    $error("torus_bench: %0d x %0d x %0d, legal is 2..32 x 1..32 x 1..32, Z only with Y", X, Y, Z);
  end
  localparam int unsigned Dims     = Z > 1 ? 3 : Y > 1 ? 2 : 1;
  localparam int unsigned NumPorts = 2 * Dims + 1;
  localparam place_t      Last     = {coord_t'(Z - 1), coord_t'(Y - 1), coord_t'(X - 1)};

  logic [NumPorts-1:0] tx_valid [Nodes];
  logic [NumPorts-1:0] tx_vc [Nodes];
  logic [Width+1:0] tx_flit [Nodes][NumPorts];
  logic [1:0] rx_freed [Nodes][NumPorts];
  logic [NumPorts-1:0] lost [Nodes];
  logic [NumPorts-1:0] busy [Nodes];
  logic [Nodes-1:0] idle;
  logic [31:0] node_lost [Nodes];
  logic [31:0] node_packets [Nodes];

  for (genvar n = 0; n < int'(Nodes); n++) begin : gen_node
    localparam int unsigned AtX = n % X;
    localparam int unsigned AtY = n / X % Y;
    localparam int unsigned AtZ = n / X / Y;

    logic [NumPorts-1:0] rx_valid, rx_vc;
    logic [Width+1:0] rx_flit [NumPorts];
    logic [1:0] tx_freed [NumPorts];

    assign rx_valid[0] = in_valid_i[n];
    assign rx_vc[0]    = 1'b0;
    assign rx_flit[0]  = {in_head_i[n], in_tail_i[n], in_data_i[Width*n+:Width]};
    assign tx_freed[0] = {1'b0, out_freed_i[n]};
    assign busy[n][0]  = 1'b0;

    for (genvar p = 1; p < int'(NumPorts); p++) begin : gen_link
      // The neighbour behind this port, and its port towards here.
      localparam int unsigned Far  = p % 2 == 1 ? p + 1 : p - 1;
      localparam int unsigned D    = (p - 1) / 2;
      localparam int unsigned Size = D == 0 ? X : D == 1 ? Y : Z;
      localparam int unsigned At   = D == 0 ? AtX : D == 1 ? AtY : AtZ;
      localparam int unsigned Unit = D == 0 ? 1 : D == 1 ? X : X * Y;
      localparam int unsigned To   = p % 2 == 1 ? (At + 1) % Size : (At + Size - 1) % Size;
      localparam int unsigned Peer = n - At * Unit + To * Unit;

      if (LinkCycles == 0) begin : gen_direct
        assign rx_valid[p] = tx_valid[Peer][Far];
        assign rx_vc[p]    = tx_vc[Peer][Far];
        assign rx_flit[p]  = tx_flit[Peer][Far];
        assign tx_freed[p] = rx_freed[Peer][Far];
        assign busy[n][p]  = 1'b0;
      end else begin : gen_delay
        logic [LinkCycles-1:0] valid_q, vc_q;
        logic [Width+1:0] flit_q [LinkCycles];
        logic [1:0] freed_q [LinkCycles];
        logic [LinkCycles-1:0] freed;
        always_ff @(posedge clk_i or negedge rst_ni) begin
          if (!rst_ni) begin
            valid_q <= '0;
            for (int unsigned s = 0; s < LinkCycles; s++) freed_q[s] <= '0;
          end else begin
            valid_q[0] <= tx_valid[Peer][Far];
            freed_q[0] <= rx_freed[Peer][Far];
            for (int unsigned s = 1; s < LinkCycles; s++) begin
              valid_q[s] <= valid_q[s-1];
              freed_q[s] <= freed_q[s-1];
            end
          end
        end
        always_ff @(posedge clk_i) begin
          vc_q[0]   <= tx_vc[Peer][Far];
          flit_q[0] <= tx_flit[Peer][Far];
          for (int unsigned s = 1; s < LinkCycles; s++) begin
            vc_q[s]   <= vc_q[s-1];
            flit_q[s] <= flit_q[s-1];
          end
        end
        for (genvar s = 0; s < int'(LinkCycles); s++) begin : gen_stage
          assign freed[s] = freed_q[s] != '0;
        end
        assign rx_valid[p] = valid_q[LinkCycles-1];
        assign rx_vc[p]    = vc_q[LinkCycles-1];
        assign rx_flit[p]  = flit_q[LinkCycles-1];
        assign tx_freed[p] = freed_q[LinkCycles-1];
        assign busy[n][p]  = valid_q != '0 || freed != '0;
      end
    end

    if (Pins) begin : gen_pins
      logic [NumPorts-1:0] rx_head, rx_tail, tx_head, tx_tail;
      logic [NumPorts*Width-1:0] rx_data, tx_data;
      logic [2*NumPorts-1:0] freed_in, freed_out;
      logic [31:0] packets, discarded;
      for (genvar p = 0; p < int'(NumPorts); p++) begin : gen_port
        assign {rx_head[p], rx_tail[p], rx_data[Width*p+:Width]} = rx_flit[p];
        assign tx_flit[n][p]   = {tx_head[p], tx_tail[p], tx_data[Width*p+:Width]};
        assign freed_in[2*p+:2] = tx_freed[p];
        assign rx_freed[n][p]  = freed_out[2*p+:2];
      end
      torus_node #(
        .Dims (Dims),
        .Width(Width),
        .Depth(Depth)
      ) u_node (
        .clk_i,
        .rst_ni,
        .cfg_here_i      ({coord_t'(AtZ), coord_t'(AtY), coord_t'(AtX)}),
        .cfg_last_i      (Last),
        .flits_rx_valid_i(rx_valid),
        .flits_rx_vc_i   (rx_vc),
        .flits_rx_head_i (rx_head),
        .flits_rx_tail_i (rx_tail),
        .flits_rx_data_i (rx_data),
        .flits_rx_freed_o(freed_out),
        .flits_tx_valid_o(tx_valid[n]),
        .flits_tx_vc_o   (tx_vc[n]),
        .flits_tx_head_o (tx_head),
        .flits_tx_tail_o (tx_tail),
        .flits_tx_data_o (tx_data),
        .flits_tx_freed_i(freed_in),
        .status_packets_o(packets),
        .status_lost_o   (discarded),
        .idle_o          (idle[n])
      );
      assign node_lost[n]    = discarded;
      assign node_packets[n] = packets;
      assign lost[n]         = '0;
    end else begin : gen_router
      torus_router #(
        .Dims (Dims),
        .Width(Width),
        .Depth(Depth)
      ) u_router (
        .clk_i,
        .rst_ni,
        .here_i    ({coord_t'(AtZ), coord_t'(AtY), coord_t'(AtX)}),
        .last_i    (Last),
        .rx_valid_i(rx_valid),
        .rx_vc_i   (rx_vc),
        .rx_flit_i (rx_flit),
        .rx_freed_o(rx_freed[n]),
        .lost_o    (lost[n]),
        .tx_valid_o(tx_valid[n]),
        .tx_vc_o   (tx_vc[n]),
        .tx_flit_o (tx_flit[n]),
        .tx_freed_i(tx_freed),
        .idle_o    (idle[n])
      );
      assign node_lost[n]    = '0;
      assign node_packets[n] = '0;
    end

    assign in_freed_o[n]                 = rx_freed[n][0][0];
    assign out_valid_o[n]                = tx_valid[n][0];
    assign out_head_o[n]                 = tx_flit[n][0][Width+1];
    assign out_tail_o[n]                 = tx_flit[n][0][Width];
    assign out_data_o[Width*n+:Width]    = tx_flit[n][0][Width-1:0];
  end

  logic [Nodes-1:0] any_lost, any_busy;
  for (genvar n = 0; n < int'(Nodes); n++) begin : gen_sum
    assign any_lost[n] = lost[n] != '0;
    assign any_busy[n] = busy[n] != '0;
  end
  logic [31:0] lost_q, lost_sum;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) lost_q <= '0;
    else lost_q <= lost_q + 32'($countones(any_lost));
  end
  always_comb begin
    lost_sum         = lost_q;
    status_packets_o = '0;
    for (int unsigned n = 0; n < Nodes; n++) begin
      lost_sum         = lost_sum + node_lost[n];
      status_packets_o = status_packets_o + node_packets[n];
    end
  end
  assign status_lost_o = lost_sum;
  assign idle_o = any_busy == '0 && idle == '1;

  logic unused;
  always_comb begin
    unused = 1'b0;
    for (int unsigned n = 0; n < Nodes; n++) unused &= tx_vc[n][0] & rx_freed[n][0][1];
  end
endmodule
