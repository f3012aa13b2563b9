// SPDX-License-Identifier: SHL-2.1
/// Device: one node of a torus network, its router between six links and the local port.
///
///   Pins        flits_*: port p of the router (torus_pkg::port_e; 0 is the local one) at bit p of
///               valid, vc, head and tail, at [Width*p +: Width] of data and [2*p +: 2] of freed
///   Handshake   torus_router's: a flit a cycle, never stalled, with a credit for each
///   Configured  cfg_here_i: this node's coordinates z, y, x, 5 bits each; cfg_last_i: the highest
///               of each dimension. Constant before reset ends
///   Latency     3 cycles from pins to pins, idle router: a register at the pins and torus_router's
///   Counters    32 bits, wrapping: status_packets_o heads that came in by the local port,
///               status_lost_o packets without a legal route, discarded
///   Parameters  Dims, Width, Depth as torus_router
///   Not done    transceivers; framing and checks of a link, which are torus_link's
module torus_node
  import torus_pkg::*;
#(
  parameter  int unsigned Dims     = 3,
  parameter  int unsigned Width    = 128,
  parameter  int unsigned Depth    = 64,
  localparam int unsigned NumPorts = 2 * Dims + 1
) (
  input  logic                      clk_i,
  input  logic                      rst_ni,
  input  place_t                    cfg_here_i,
  input  place_t                    cfg_last_i,
  input  logic [NumPorts-1:0]       flits_rx_valid_i,
  input  logic [NumPorts-1:0]       flits_rx_vc_i,
  input  logic [NumPorts-1:0]       flits_rx_head_i,
  input  logic [NumPorts-1:0]       flits_rx_tail_i,
  input  logic [NumPorts*Width-1:0] flits_rx_data_i,
  output logic [2*NumPorts-1:0]     flits_rx_freed_o,
  output logic [NumPorts-1:0]       flits_tx_valid_o,
  output logic [NumPorts-1:0]       flits_tx_vc_o,
  output logic [NumPorts-1:0]       flits_tx_head_o,
  output logic [NumPorts-1:0]       flits_tx_tail_o,
  output logic [NumPorts*Width-1:0] flits_tx_data_o,
  input  logic [2*NumPorts-1:0]     flits_tx_freed_i,
  output logic [31:0]               status_packets_o,
  output logic [31:0]               status_lost_o,
  output logic                      idle_o  // nothing changes until an input does
);
  logic [Width+1:0] rx_flit [NumPorts]  /* verilator split_var */;
  logic [Width+1:0] tx_flit [NumPorts];
  logic [1:0] rx_freed [NumPorts];
  logic [1:0] tx_freed [NumPorts];
  logic [NumPorts-1:0] lost;

  logic [NumPorts-1:0] rx_valid_q, rx_vc_q;
  logic [2*NumPorts-1:0] tx_freed_q;
  logic router_idle;
  place_t here_q, last_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      rx_valid_q <= '0;
      tx_freed_q <= '0;
      here_q     <= '0;
      last_q     <= '0;
    end else begin
      rx_valid_q <= flits_rx_valid_i;
      tx_freed_q <= flits_tx_freed_i;
      here_q     <= cfg_here_i;
      last_q     <= cfg_last_i;
    end
  end

  for (genvar p = 0; p < int'(NumPorts); p++) begin : gen_port
    always_ff @(posedge clk_i) begin
      if (flits_rx_valid_i[p]) begin
        rx_vc_q[p] <= flits_rx_vc_i[p];
        rx_flit[p] <= {flits_rx_head_i[p], flits_rx_tail_i[p], flits_rx_data_i[Width*p+:Width]};
      end
    end
    assign tx_freed[p]                     = tx_freed_q[2*p+:2];
    assign flits_rx_freed_o[2*p+:2]        = rx_freed[p];
    assign flits_tx_head_o[p]              = tx_flit[p][Width+1];
    assign flits_tx_tail_o[p]              = tx_flit[p][Width];
    assign flits_tx_data_o[Width*p+:Width] = tx_flit[p][Width-1:0];
  end

  torus_router #(
    .Dims (Dims),
    .Width(Width),
    .Depth(Depth)
  ) u_router (
    .clk_i,
    .rst_ni,
    .here_i    (here_q),
    .last_i    (last_q),
    .rx_valid_i(rx_valid_q),
    .rx_vc_i   (rx_vc_q),
    .rx_flit_i (rx_flit),
    .rx_freed_o(rx_freed),
    .lost_o    (lost),
    .tx_valid_o(flits_tx_valid_o),
    .tx_vc_o   (flits_tx_vc_o),
    .tx_flit_o (tx_flit),
    .tx_freed_i(tx_freed),
    .idle_o    (router_idle)
  );
  assign idle_o = router_idle && flits_rx_valid_i == '0 && flits_tx_freed_i == '0;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      status_packets_o <= '0;
      status_lost_o    <= '0;
    end else begin
      if (rx_valid_q[0] && rx_flit[0][Width+1]) status_packets_o <= status_packets_o + 32'd1;
      if (lost != '0) status_lost_o <= status_lost_o + 32'($countones(lost));
    end
  end
endmodule
