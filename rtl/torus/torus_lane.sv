// SPDX-License-Identifier: SHL-2.1
/// Input buffer of one virtual channel of a router's port: queue, and route of each packet.
///
///   Handshake   valid_i, flit_i: not stalled, the sender holds a credit for each flit; with a head
///               route_i and route_vc_i, the output and channel of its packet. The oldest flit is
///               valid_o, port_o, vc_o, flit_o, stable until take_i, which comes with valid_o only
///   Packets     head, any number of flits, tail; head and tail may be one flit
///   Credit      freed_o: a place has become free, one strobe a flit, a cycle after it left
///   Losses      flits of a packet without a route (PortNone) leave by themselves, one a cycle;
///               lost_o: its head came in
///   Ordering    first in, first out, whole packets  (proved: formal/torus/torus_lane.sby)
///   Latency     1 cycle from valid_i to valid_o, 1 from take_i to freed_o
///   Throughput  one flit a cycle
///   Parameters  Width of a flit's data, 1..4090; Depth a power of two, 2..1024
///   Not done    checks of what is in a packet
module torus_lane
  import torus_pkg::*;
#(
  parameter int unsigned Width = 128,
  parameter int unsigned Depth = 16
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic             valid_i,
  input  logic [Width+1:0] flit_i,  // {head, tail, data}
  input  port_e            route_i,
  input  logic             route_vc_i,
  output logic             freed_o,
  output logic             lost_o,
  output logic             valid_o,
  output port_e            port_o,
  output logic             vc_o,
  output logic [Width+1:0] flit_o,
  input  logic             take_i
);
  localparam int unsigned Entry = Width + 6;

  logic head, ready, stored, vc, vc_q, discard;
  port_e port, port_q;
  logic [Entry-1:0] entry;

  assign head = flit_i[Width+1];
  assign port = head ? route_i : port_q;
  assign vc   = head ? route_vc_i : vc_q;

  fifo #(
    .Width(Entry),
    .Depth(Depth)
  ) u_fifo (
    .clk_i,
    .rst_ni,
    .clear_i(1'b0),
    .valid_i,
    .ready_o(ready),
    .data_i ({port, vc, flit_i}),
    .valid_o(stored),
    .ready_i(take_i || discard),
    .data_o (entry),
    .usage_o()
  );
  assign port_o  = port_e'(entry[Entry-1-:3]);
  assign vc_o    = entry[Width+2];
  assign flit_o  = entry[Width+1:0];
  assign valid_o = stored && port_o != PortNone;
  assign discard = stored && port_o == PortNone;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      port_q  <= PortNone;
      vc_q    <= 1'b0;
      freed_o <= 1'b0;
      lost_o  <= 1'b0;
    end else begin
      if (valid_i && head) begin
        port_q <= route_i;
        vc_q   <= route_vc_i;
      end
      freed_o <= take_i || discard;
      lost_o  <= valid_i && head && route_i == PortNone;
    end
  end

  prim_assert u_no_overflow (.clk_i, .rst_ni, .ok_i(!valid_i || ready));
  prim_assert u_take (.clk_i, .rst_ni, .ok_i(!take_i || valid_o));
endmodule
