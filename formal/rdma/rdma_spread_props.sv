// SPDX-License-Identifier: SHL-2.1
/// rdma_spread: what a VOQ holds of a destination is what was put there and has not left; a packet
/// takes the first link in turn of those to choose from, each destination with a turn of its own; a
/// control packet the lowest link that is up; one has room while a link is up and fewer than
/// ControlPackets of its destination are under way, one of the interface's own while one less is.
///
/// One destination is watched, any; before it is cleared its counts are any.
module rdma_spread_props
  import rdma_pkg::*;
  import rdma_tx_pkg::*;
#(
  parameter  int unsigned NumLinks  = 3,
  localparam int unsigned LinkWidth = $clog2(NumLinks)
) (
  input logic                 clk_i,
  input logic                 clear_i,
  input flow_t                clear_flow_i,
  input flow_t                flow_i,
  input logic [NumLinks-1:0]  mask_i,
  input logic                 take_i,
  input beats_t               beats_i,
  input logic                 gone_i,
  input logic [LinkWidth-1:0] gone_link_i,
  input flow_t                gone_flow_i,
  input beats_t               gone_beats_i,
  input logic [NumLinks-1:0]  up_i,
  input logic                 control_take_i,
  input flow_t                control_flow_i,
  input logic                 control_gone_i,
  input flow_t                control_gone_flow_i
);
  logic rst_ni;
  room_t [NumLinks-1:0] used_o;
  logic [LinkWidth-1:0] link_o, control_link_o;
  logic [MaxHosts-1:0]  control_room_o, own_room_o;

  rdma_spread #(.NumLinks(NumLinks)) dut (.*);

  logic started_q = 1'b0;
  always_ff @(posedge clk_i) started_q <= 1'b1;
  assign rst_ni = started_q;

  // Of the watched destination: beats on each link; whether it is cleared, and the link of its last
  // packet since then; control packets under way.
  flow_t watch_q;
  room_t [NumLinks-1:0] beats_q, known;
  logic cleared_q, last_valid_q, up_q;
  logic [LinkWidth-1:0] last_q;
  logic [2:0] control_q, control;
  logic mine, clears, leaves;
  assign mine   = flow_i == watch_q;
  assign clears = clear_i && clear_flow_i == watch_q;
  assign leaves = gone_i && gone_flow_i == watch_q;
  assign control = control_q + 3'(control_take_i && control_flow_i == watch_q) -
                   3'(control_gone_i && control_gone_flow_i == watch_q);
  always_ff @(posedge clk_i) begin
    watch_q <= watch_q;
    if (!started_q) begin
      {cleared_q, last_valid_q, control_q, up_q} <= '0;
    end else begin
      up_q      <= up_i != '0;
      control_q <= control;
      if (clears) begin
        {beats_q, last_valid_q} <= '0;
        cleared_q <= 1'b1;
      end else begin
        for (int unsigned l = 0; l < NumLinks; l++) begin
          beats_q[l] <= beats_q[l] +
              (take_i && mine && link_o == LinkWidth'(l) ? room_t'(beats_i) : '0) -
              (leaves && gone_link_i == LinkWidth'(l) ? room_t'(gone_beats_i) : '0);
        end
        if (take_i && mine) {last_valid_q, last_q} <= {1'b1, link_o};
      end
    end
  end

  // How far a link is behind the one of the last packet.
  function automatic logic [LinkWidth:0] behind(logic [LinkWidth-1:0] link);
    return !last_valid_q || link > last_q ? {1'b0, link} : {1'b1, link};
  endfunction

  for (genvar l = 0; l < int'(NumLinks); l++) begin : gen_link
    assign known[l] = dut.gen_link[l].put_q[watch_q] - dut.gen_link[l].got_q[watch_q];
  end
  always_comb begin
    // In the start, in which all is cleared, no packet is taken or leaves.
    if (clear_i) assume (!take_i && !gone_i);
    if (take_i) assume (mask_i != '0);
    assume (32'(gone_link_i) < NumLinks);
    // A control packet is sent only where there was room for it; what leaves was sent before.
    assume (control <= 3'(ControlPackets));
    if (started_q && control_gone_i && control_gone_flow_i == watch_q) assume (control_q != '0);
    if (started_q) begin
      if (mine && cleared_q) begin
        assert (used_o == beats_q);
        if (mask_i != '0) begin
          assert (32'(link_o) < NumLinks && mask_i[link_o]);
          for (int unsigned l = 0; l < NumLinks; l++)
            if (mask_i[l]) assert (behind(link_o) <= behind(LinkWidth'(l)));
        end
      end
      if (up_i != '0) begin
        assert (32'(control_link_o) < NumLinks && up_i[control_link_o]);
        for (int unsigned l = 0; l < NumLinks; l++)
          if (up_i[l]) assert (32'(control_link_o) <= l);
      end
      assert (control_room_o[watch_q] == (up_q && control_q < 3'(ControlPackets)));
      assert (own_room_o[watch_q] == (up_q && control_q < 3'(ControlPackets - 1)));
      // What makes the above inductive.
      assert (dut.control_q[watch_q] == control_q[1:0] && control_q <= 3'(ControlPackets));
      if (cleared_q) begin
        assert (known == beats_q && 32'(last_q) < NumLinks | !last_valid_q);
        for (int unsigned l = 0; l < NumLinks; l++)
          assert (dut.after_q[watch_q][l] == (last_valid_q && LinkWidth'(l) > last_q));
      end
      cover (cleared_q && mine && used_o[2] == room_t'(9) && used_o[0] != '0 && link_o == 2'd1);
      cover (control_q == 3'd2 && up_i == 3'd6 && watch_q == 3'd4);
    end
  end
endmodule
