// SPDX-License-Identifier: SHL-2.1
/// Router of a 1-D, 2-D or 3-D torus: wormhole switching, two virtual channels a link.
///
///   Ports       0 local, 2*d+1 and 2*d+2 the links in the plus and minus direction of dimension d
///               (torus_pkg::port_e). Local: channel 0 only, rx_vc_i[0] is ignored
///   Packets     flits {head, tail, data}, each packet from head to tail without others of its
///               channel between; bits 4:0, 9:5, 14:10 of the head's data are the destination's x,
///               y, z
///   Handshake   rx_*: one flit a cycle and port, never stalled; the sender has a credit for it.
///               rx_freed_o: credits back, a strobe a channel. tx_*, tx_freed_i: the same at the
///               far end
///   Credit      each end begins with Depth flits a channel; tx_freed_i[0][1] and rx_freed_o[0][1]
///               are unused
///   Route       torus_route; it needs no table. Packets between two nodes keep their order
///   Deadlock    none, if local packets are taken (proved: formal/torus; ranks of torus_route)
///   Losses      none; packets without a legal route are discarded whole and counted by lost_o
///   Latency     2 cycles from rx_* to tx_*, idle router
///   Throughput  one flit a cycle at each output; full rate on one channel needs a Depth of at
///               least 4 cycles and the time to the far end and back
///   Fairness    at each output and channel round robin by packet
///   Parameters  Dims 1..3; Width of a flit's data, at least 5 * Dims; Depth of the buffers behind
///               each channel, here and at the far ends, a power of two, 2..1024
///   Configured  here_i, last_i: this node's coordinates and the highest of each dimension;
///               constant
///   Not done    routes around a failed link, multicast, checks of the payload
module torus_router
  import torus_pkg::*;
#(
  parameter  int unsigned Dims     = 3,
  parameter  int unsigned Width    = 128,
  parameter  int unsigned Depth    = 16,
  localparam int unsigned NumPorts = 2 * Dims + 1
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  input  place_t              here_i,
  input  place_t              last_i,
  input  logic [NumPorts-1:0] rx_valid_i,
  input  logic [NumPorts-1:0] rx_vc_i,
  input  logic [Width+1:0]    rx_flit_i  [NumPorts],
  output logic [1:0]          rx_freed_o [NumPorts],
  output logic [NumPorts-1:0] lost_o,  // a packet without a legal route came in
  output logic [NumPorts-1:0] tx_valid_o,
  output logic [NumPorts-1:0] tx_vc_o,
  output logic [Width+1:0]    tx_flit_o  [NumPorts],
  input  logic [1:0]          tx_freed_i [NumPorts],
  output logic                idle_o  // nothing changes until an input does
);
  if (Dims < 1 || Dims > MaxDims) begin : gen_dims_check
    $error("torus_router: Dims is %0d, legal is 1..%0d", Dims, MaxDims);
  end

  if (Width < CoordWidth * Dims) begin : gen_width_check
    $error("torus_router: Width is %0d, legal is %0d or more", Width, CoordWidth * Dims);
  end

  // Lane 0 is the local one; those of link p are 2*p-1 and 2*p.
  localparam int unsigned NumLanes = 4 * Dims + 1;

  logic [NumLanes-1:0] valid, vc, take, freed, lost;
  port_e port [NumLanes];
  logic [Width+1:0] flit [NumLanes];
  logic [NumLanes-1:0] take_at [NumPorts];
  logic [NumPorts-1:0] output_idle;

  // A packet's route is found when its head comes in.
  port_e route [NumPorts];
  logic [NumPorts-1:0] route_vc;
  for (genvar p = 0; p < int'(NumPorts); p++) begin : gen_route
    place_t dest;
    always_comb begin
      dest = '0;
      for (int unsigned d = 0; d < Dims; d++) dest[d] = rx_flit_i[p][CoordWidth*d+:CoordWidth];
    end
    torus_route #(
      .Dims(Dims),
      .Port(port_e'(p))
    ) u_route (
      .here_i,
      .last_i,
      .head_i(rx_valid_i[p] && rx_flit_i[p][Width+1]),
      .dest_i(dest),
      .vc_i  (rx_vc_i[p]),
      .port_o(route[p]),
      .vc_o  (route_vc[p])
    );
  end

  for (genvar n = 0; n < int'(NumLanes); n++) begin : gen_lane
    localparam int unsigned From = (n + 1) / 2;
    localparam bit          Own  = n != 0 && n % 2 == 0;
    logic [Width+1:0] oldest;
    torus_lane #(
      .Width(Width),
      .Depth(Depth)
    ) u_lane (
      .clk_i,
      .rst_ni,
      .valid_i   (rx_valid_i[From] && (n == 0 || rx_vc_i[From] == Own)),
      .flit_i    (rx_flit_i[From]),
      .route_i   (route[From]),
      .route_vc_i(route_vc[From]),
      .freed_o   (freed[n]),
      .lost_o    (lost[n]),
      .valid_o   (valid[n]),
      .port_o    (port[n]),
      .vc_o      (vc[n]),
      .flit_o    (oldest),
      .take_i    (take[n])
    );
    // Nothing reads the flit of an empty lane: simulators leave its memory alone.
    always_comb begin
      flit[n] = 'x;
      if (valid[n]) flit[n] = oldest;
    end
  end

  assign rx_freed_o[0] = {1'b0, freed[0]};
  assign lost_o[0]     = lost[0];
  for (genvar p = 1; p < int'(NumPorts); p++) begin : gen_link
    assign rx_freed_o[p] = freed[2*p-1+:2];
    assign lost_o[p]     = lost[2*p-1+:2] != '0;
  end

  for (genvar p = 0; p < int'(NumPorts); p++) begin : gen_output
    // Lanes that may turn to this output: to a link the local one, those of lower dimensions and
    // those of the opposite port; to the local port all.
    localparam int unsigned Lower = p == 0 ? NumLanes - 1 : 4 * ((p - 1) / 2);
    localparam int unsigned Straight = p % 2 == 1 ? p + 1 : p - 1;
    localparam int unsigned NumIn = 1 + Lower + (p == 0 ? 0 : 2);
    localparam int unsigned Vcs = p == 0 ? 1 : NumVcs;

    localparam int unsigned IdxWidth = $clog2(NumIn);
    localparam int unsigned LaneWidth = $clog2(NumLanes);

    logic [NumIn-1:0] in_valid, in_vc, in_tail, in_take;
    logic [IdxWidth-1:0] select;
    logic [LaneWidth-1:0] lane;
    logic load;
    for (genvar k = 0; k < int'(NumIn); k++) begin : gen_in
      localparam int unsigned Lane = k <= int'(Lower) ? k : 2 * Straight - 1 + k - Lower - 1;
      assign in_valid[k] = valid[Lane] && port[Lane] == port_e'(p);
      assign in_vc[k]    = vc[Lane];
      assign in_tail[k]  = flit[Lane][Width];
    end
    assign take_at[p] = NumLanes'(in_take[Lower:0]) |
        (p == 0 ? '0 : NumLanes'(in_take[NumIn-1-:2]) << (2 * Straight - 1));

    torus_output #(
      .NumIn(NumIn),
      .Depth(Depth),
      .Vcs  (Vcs)
    ) u_output (
      .clk_i,
      .rst_ni,
      .valid_i (in_valid),
      .vc_i    (in_vc),
      .tail_i  (in_tail),
      .take_o  (in_take),
      .load_o  (load),
      .select_o(select),
      .valid_o (tx_valid_o[p]),
      .vc_o    (tx_vc_o[p]),
      .freed_i (tx_freed_i[p][Vcs-1:0]),
      .idle_o  (output_idle[p])
    );
    assign lane = LaneWidth'(select) +
        (32'(select) <= Lower ? '0 : LaneWidth'(2 * Straight - 2 - Lower));
    logic [Width+1:0] flit_q;
    always_ff @(posedge clk_i) begin
      if (load) flit_q <= flit[lane];
    end
    assign tx_flit_o[p] = flit_q;
  end

  always_comb begin
    take = '0;
    for (int unsigned p = 0; p < NumPorts; p++) take |= take_at[p];
  end

  logic unused;
  assign unused = &{1'b0, tx_freed_i[0][1]};
  assign idle_o = rx_valid_i == '0 && freed == '0 && lost == '0 && output_idle == '1;
endmodule
