// SPDX-License-Identifier: SHL-2.1
/// torus_route: every hop is towards the destination and to a channel of higher rank, so no set of
/// packets can wait for each other in a circle; a packet that was legal where it began stays legal.
///
/// A channel is a virtual channel of one link. Its rank: the dimension, then the place along the
/// ring in the direction of travel, where the wrap link is behind all hops of channel 0 and before
/// those of channel 1. Size, coordinates and destination are free: two dimensions of up to 32 nodes
/// (prove), three of up to 8 (small).
///
/// Assumed: the node exists; a packet has not come over a wrap link on channel 0 (asserted of each
/// hop that a router makes).
module torus_route_props
  import torus_pkg::*;
#(
  parameter int unsigned Dims = `DIMS,
  parameter int unsigned Last = `LAST  // coordinates up to here
) (
  input place_t     here_i,
  input place_t     last_i,
  input place_t     dest_i,
  input logic       vc_i,
  input logic [2:0] from_i   // port by which the packet came
);
  localparam int unsigned NumPorts = 2 * Dims + 1;

  // The packet's route here, for each port that it may have come by.
  port_e port [NumPorts];
  logic [NumPorts-1:0] vc;
  for (genvar p = 0; p < int'(NumPorts); p++) begin : gen_here
    torus_route #(.Dims(Dims), .Port(port_e'(p))) dut (
      .here_i, .last_i, .head_i(1'b1), .dest_i, .vc_i, .port_o(port[p]), .vc_o(vc[p])
    );
  end
  // Without a head there is no route, whatever else is at the inputs.
  port_e none;
  logic none_vc;
  torus_route #(.Dims(Dims), .Port(PortLocal)) u_none (
    .here_i, .last_i, .head_i(1'b0), .dest_i, .vc_i, .port_o(none), .vc_o(none_vc)
  );
  always_comb assert (none == PortNone && !none_vc);

  port_e out;
  logic out_vc;
  always_comb begin
    out = PortNone;
    out_vc = 1'b0;
    for (int unsigned p = 0; p < NumPorts; p++) begin
      if (from_i == 3'(p)) begin
        out = port[p];
        out_vc = vc[p];
      end
    end
  end

  // The next node, and the route there.
  port_e next_port [NumPorts];
  logic [NumPorts-1:0] next_vc;
  place_t there [NumPorts];
  for (genvar p = 1; p < int'(NumPorts); p++) begin : gen_next
    localparam int unsigned D = (p - 1) / 2;
    always_comb begin
      there[p] = here_i;
      if (p % 2 == 1) there[p][D] = here_i[D] == last_i[D] ? '0 : here_i[D] + 1'b1;
      else there[p][D] = here_i[D] == '0 ? last_i[D] : here_i[D] - 1'b1;
    end
    torus_route #(.Dims(Dims), .Port(port_e'(p % 2 == 1 ? p + 1 : p - 1))) u_next (
      .here_i(there[p]), .last_i, .head_i(1'b1), .dest_i, .vc_i(out_vc), .port_o(next_port[p]),
      .vc_o(next_vc[p])
    );
  end

  // Place of a hop along its ring, 0 to the last; the last is the wrap link.
  function automatic logic [7:0] rank(logic [2:0] p, coord_t at, coord_t last, logic channel);
    logic [7:0] d, place;
    d     = 8'((p - 3'd1) >> 1);
    place = p[0] ? 8'(at) : 8'(last) - 8'(at);
    if (channel && place != 8'(last)) place = place + 8'(last) + 8'd1;
    return d * 8'd64 + place;
  endfunction

  function automatic logic [6:0] steps(coord_t at, coord_t to, coord_t last);
    logic [6:0] up, nodes;
    nodes = 7'(last) + 7'd1;
    up    = 7'(to) - 7'(at) + (to < at ? nodes : 7'd0);
    return up <= nodes - up ? up : nodes - up;
  endfunction

  logic exists, known, arrives, wraps_in, wraps_out;
  coord_t in_at, in_last, out_at, out_last;
  logic [2:0] in_port;  // of the neighbour that sent it
  logic [8:0] left, left_next;
  always_comb begin
    exists = 1'b1;
    known  = 1'b1;
    arrives = 1'b1;
    left = '0;
    left_next = '0;
    for (int unsigned d = 0; d < Dims; d++) begin
      exists  = exists && here_i[d] <= last_i[d] && 32'(last_i[d]) <= Last;
      known   = known && dest_i[d] <= last_i[d];
      arrives = arrives && dest_i[d] == here_i[d];
      left    = left + 9'(steps(here_i[d], dest_i[d], last_i[d]));
    end
    in_port = from_i[0] ? from_i + 3'd1 : from_i - 3'd1;
    in_at = '0;
    in_last = '0;
    out_at = '0;
    out_last = '0;
    for (int unsigned d = 0; d < Dims; d++) begin
      if (from_i != '0 && 32'((from_i - 3'd1) >> 1) == d) begin
        in_last = last_i[d];
        // The plus neighbour has sent it in the minus direction.
        if (from_i[0]) in_at = here_i[d] == last_i[d] ? '0 : here_i[d] + 1'b1;
        else in_at = here_i[d] == '0 ? last_i[d] : here_i[d] - 1'b1;
      end
      if (out != PortLocal && out != PortNone && 32'((3'(out) - 3'd1) >> 1) == d) begin
        out_at   = here_i[d];
        out_last = last_i[d];
      end
    end
    for (int unsigned p = 1; p < NumPorts; p++) begin
      if (out == port_e'(p)) begin
        for (int unsigned d = 0; d < Dims; d++) begin
          left_next = left_next + 9'(steps(there[p][d], dest_i[d], last_i[d]));
        end
      end
    end
    wraps_in  = in_port[0] ? in_at == in_last : in_at == '0;
    wraps_out = out[0] ? out_at == out_last : out_at == '0;
  end

  always_comb begin
    assume (exists && from_i < 3'(NumPorts));
    if (from_i != '0) assume (vc_i || !wraps_in);
    assert (32'(out) < NumPorts || out == PortNone);
    // What is known where it began has a route, and keeps it until it arrives.
    if (from_i == '0) assert ((out != PortNone) == known);
    if (out != PortNone) assert (known);
    assert ((out == PortLocal) == (arrives && out != PortNone));
    if (out != PortNone && out != PortLocal) begin
      assert (!wraps_out || out_vc);
      assert (left_next + 9'd1 == left);
      if (from_i != '0) begin
        assert (rank(3'(out), out_at, out_last, out_vc) > rank(in_port, in_at, in_last, vc_i));
        // Never against dimension order, nor back.
        assert ((3'(out) - 3'd1) >> 1 >= (from_i - 3'd1) >> 1);
        assert (3'(out) != from_i);
      end
      for (int unsigned p = 1; p < NumPorts; p++) begin
        if (out == port_e'(p)) assert (next_port[p] != PortNone);
      end
    end
    cover (from_i == 3'd2 && out == PortXPlus && wraps_out);
    cover (from_i == 3'd2 && out == PortYMinus && out_vc && !wraps_out);
    cover (from_i == 3'd0 && out == PortNone);
    cover (from_i != 3'd0 && known && out == PortNone);
  end
endmodule
