// SPDX-License-Identifier: SHL-2.1
/// Next hop of a packet in a torus: dimension order, the shorter way, virtual channel by dateline.
///
///   Route       x first, then y, then z, in each dimension the shorter way round; halfway round,
///               plus at nodes whose coordinates have an even sum, minus at the others
///   Channel     a hop over the ring's wrap link (from the last coordinate to 0, or back) and all
///               hops behind it in this dimension use channel 1; hops towards the wrap link channel
///               0; a packet that never wraps in a dimension keeps the channel of its destination's
///               lowest bit there
///   Deadlock    every hop leads to a channel of a higher rank, whatever the packet, the size and
///               the configuration; a packet for which there is none is not legal (proved:
///               formal/torus/torus_route.sby)
///   Ordering    port and channel depend on source and destination alone: one path for each pair
///   Handshake   none
///   Latency     0 cycles, combinational
///   Parameters  Dims 1..3; Port, a port_e: where the packet comes from
///   Not done    adaptive routes, routes around a failed link
module torus_route
  import torus_pkg::*;
#(
  parameter int unsigned Dims = 3,
  parameter port_e       Port = PortLocal
) (
  input  place_t here_i,  // coordinates of this node
  input  place_t last_i,  // highest coordinate of each dimension
  input  logic   head_i,  // without: PortNone
  input  place_t dest_i,
  input  logic   vc_i,  // channel on which the packet came
  output port_e  port_o,  // PortNone: not legal
  output logic   vc_o
);
  if (Dims < 1 || Dims > MaxDims) begin : gen_dims_check
    $error("torus_route: Dims is %0d, legal is 1..%0d", Dims, MaxDims);
  end

  // Port 2*d+1 is plus and 2*d+2 minus of dimension d.
  localparam int unsigned PortIndex = 32'(Port);
  localparam bit FromLocal = Port == PortLocal;
  localparam int unsigned FromDim = FromLocal ? 0 : (PortIndex - 1) / 2;
  // A packet from the minus neighbour travels in the plus direction.
  localparam bit GoesPlus = !FromLocal && PortIndex % 2 == 0;

  localparam int unsigned W = CoordWidth + 2;

  logic odd;
  always_comb begin
    odd = 1'b0;
    for (int unsigned d = 0; d < Dims; d++) odd ^= here_i[d][0];
  end

  // One block behind head_i: simulators leave it out in the cycles without a head, which are most.
  logic [Dims-1:0] away, plus, wraps, crosses, outside, below;
  logic [W-1:0] nodes [Dims];
  logic [W-1:0] steps [Dims];  // of the ring; from here to the destination in the plus direction
  always_comb begin
    port_o = PortNone;
    vc_o   = 1'b0;
    {away, plus, wraps, crosses, outside, below} = '0;
    for (int unsigned d = 0; d < Dims; d++) begin
      nodes[d] = '0;
      steps[d] = '0;
    end
    if (head_i) begin
      port_o = PortLocal;
      for (int d = int'(Dims) - 1; d >= 0; d--) begin
        below[d]   = dest_i[d] < here_i[d];
        nodes[d]   = W'(last_i[d]) + 1'b1;
        steps[d]   = W'(dest_i[d]) - W'(here_i[d]) + (below[d] ? nodes[d] : '0);
        away[d]    = dest_i[d] != here_i[d];
        plus[d]    = (steps[d] << 1) == nodes[d] ? !odd : (steps[d] << 1) < nodes[d];
        wraps[d]   = plus[d] ? below[d] : away[d] && !below[d];
        crosses[d] = plus[d] ? here_i[d] == last_i[d] : here_i[d] == '0;
        outside[d] = dest_i[d] > last_i[d];
        if (away[d]) begin
          port_o = port_e'(2 * d + (plus[d] ? 1 : 2));
          if (crosses[d]) vc_o = 1'b1;
          else if (wraps[d]) vc_o = 1'b0;
          else if (!FromLocal && int'(FromDim) == d) vc_o = vc_i;
          else vc_o = dest_i[d][0];
        end
      end
      if (outside != '0) port_o = PortNone;
      if (!FromLocal) begin
        for (int d = 0; d < int'(Dims); d++) begin
          // A turn against dimension order, back to where it came from, or a second wrap.
          if (away[d] && d < int'(FromDim)) port_o = PortNone;
          if (away[d] && d == int'(FromDim) && (plus[d] != GoesPlus || (vc_i && wraps[d]))) begin
            port_o = PortNone;
          end
        end
      end
    end
  end
endmodule
