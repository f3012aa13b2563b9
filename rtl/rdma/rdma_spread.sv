// SPDX-License-Identifier: SHL-2.1
/// Which link a packet takes, and how full each VOQ is.
///
/// The packets of a destination go to the links that are up in turn, each destination with a turn
/// of its own. Control packets go over the lowest link that is up, so that they keep their order.
/// Each VOQ keeps ControlPackets control packets' room free of data, so those can be queued always
/// while no more of them are under way to this destination. The last place is not for the
/// interface's own: a client that has seen control_room_o keeps it.
///
///   Handshake   used_o, link_o: of flow_i, in its cycle. take_i: a packet of flow_i with beats_i
///               goes to link_o among mask_i. gone_*: one has left. control_*:
///               the same for control packets
///   Latency     0; counts follow at the next edge
///   Throughput  one packet in, one out, one control packet a cycle
///   Parameters  NumLinks 1..4
///   Not done    the check of room (rdma_send)
module rdma_spread
  import rdma_pkg::*;
  import rdma_tx_pkg::*;
#(
  parameter  int unsigned NumLinks  = 1,
  localparam int unsigned LinkWidth = NumLinks > 1 ? $clog2(NumLinks) : 1
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,
  input  logic                 clear_i,
  input  flow_t                clear_flow_i,

  input  flow_t                flow_i,
  input  logic [NumLinks-1:0]  mask_i,      // links to choose from, not zero with take_i
  output room_t [NumLinks-1:0] used_o,
  output logic [LinkWidth-1:0] link_o,
  input  logic                 take_i,
  input  beats_t               beats_i,

  input  logic                 gone_i,
  input  logic [LinkWidth-1:0] gone_link_i,
  input  flow_t                gone_flow_i,
  input  beats_t               gone_beats_i,

  input  logic [NumLinks-1:0]  up_i,
  output logic [MaxHosts-1:0]  control_room_o,
  output logic [MaxHosts-1:0]  own_room_o,      // for OPEN and PROBE
  output logic [LinkWidth-1:0] control_link_o,
  input  logic                 control_take_i,
  input  flow_t                control_flow_i,
  input  logic                 control_gone_i,
  input  flow_t                control_gone_flow_i
);
  if (NumLinks < 1 || NumLinks > 4) begin : gen_links_check
    $error("rdma_spread: NumLinks is %0d, legal is 1..4", NumLinks);
  end

  // Lowest set bit as a number.
  function automatic logic [LinkWidth-1:0] index(logic [NumLinks-1:0] one_hot);
    logic [LinkWidth-1:0] found;
    found = '0;
    for (int unsigned i = 0; i < NumLinks; i++) begin
      if (one_hot[i]) found = found | LinkWidth'(i);
    end
    return found;
  endfunction

  // ---------------------------------------------------------------- data
  // after_q[f]: the links above the last one of this destination: they go first.
  logic [NumLinks-1:0] after_q[MaxHosts];
  logic [NumLinks-1:0] first, pick;
  assign first = mask_i & after_q[flow_i];
  arb_fixed #(.NumReq(NumLinks)) u_pick (.req_i(first != '0 ? first : mask_i), .gnt_o(pick));
  assign link_o = index(pick);

  always_ff @(posedge clk_i) begin
    if (clear_i || take_i) begin
      after_q[clear_i ? clear_flow_i : flow_i] <= clear_i ? '0 : ~(pick | (pick - 1'b1));
    end
  end

  for (genvar l = 0; l < int'(NumLinks); l++) begin : gen_link
    (* ram_style = "distributed" *) room_t put_q[MaxHosts];
    (* ram_style = "distributed" *) room_t got_q[MaxHosts];
    logic  gone;
    assign gone      = gone_i && (NumLinks == 1 || gone_link_i == LinkWidth'(l));
    assign used_o[l] = put_q[flow_i] - got_q[flow_i];
    always_ff @(posedge clk_i) begin
      // Write address and data do not depend on the write enable, which is late.
      if (clear_i || (take_i && pick[l])) begin
        put_q[clear_i ? clear_flow_i : flow_i] <= clear_i ? '0 : put_q[flow_i] + room_t'(beats_i);
      end
      if (clear_i || gone) begin
        got_q[clear_i ? clear_flow_i : gone_flow_i] <=
            clear_i ? '0 : got_q[gone_flow_i] + room_t'(gone_beats_i);
      end
    end
  end

  // ---------------------------------------------------------------- control packets
  localparam int unsigned CountWidth = $clog2(ControlPackets + 1);
  logic [CountWidth-1:0] control_q[MaxHosts];
  logic [CountWidth-1:0] control_d[MaxHosts];
  logic [NumLinks-1:0] control_pick;

  arb_fixed #(.NumReq(NumLinks)) u_control (.req_i(up_i), .gnt_o(control_pick));
  assign control_link_o = index(control_pick);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      control_room_o <= '0;
      own_room_o     <= '0;
      for (int unsigned i = 0; i < MaxHosts; i++) control_q[i] <= '0;
    end else begin
      for (int unsigned i = 0; i < MaxHosts; i++) begin
        control_q[i]      <= control_d[i];
        control_room_o[i] <= up_i != '0 && control_d[i] < CountWidth'(ControlPackets);
        own_room_o[i]     <= up_i != '0 && control_d[i] < CountWidth'(ControlPackets - 1);
      end
    end
  end
  for (genvar i = 0; i < int'(MaxHosts); i++) begin : gen_control
    assign control_d[i] = control_q[i]
        + CountWidth'(control_take_i && control_flow_i == flow_t'(i))
        - CountWidth'(control_gone_i && control_gone_flow_i == flow_t'(i));
  end
endmodule
