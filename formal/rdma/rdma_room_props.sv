// SPDX-License-Identifier: SHL-2.1
/// rdma_room: whatever is used, of the flow's window and of the links: a longest packet is said to
/// have room exactly where it has; and a transfer exactly where on each link that is up there is
/// room for its share of longest packets, for one packet where its link has room for its beats, and
/// in the window for all of them.
///
/// Assumed: strobes in their order; at most 8 packets, and a packet's beats as they may be; no more
/// used than a VOQ has for data; links, packets and beats are held as they are to be.
module rdma_room_props
  import rdma_pkg::*;
  import rdma_tx_pkg::*;
#(
  parameter int unsigned NumLinks = 4,
  localparam int unsigned LinkWidth = $clog2(NumLinks)
) (
  input logic                 clk_i,
  input logic                 look_i,
  input logic                 free_i,
  input logic                 reckon_i,
  input logic                 compare_i,
  input room_t [NumLinks-1:0] used_i,
  input logic [LinkWidth-1:0] link_i,
  input logic [NumLinks-1:0]  mask_i,
  input logic [6:0]           lag_i,
  input logic [6:0]           away_i,
  input packets_t             packets_i,
  input logic [9:0]           beats_i,
  input beats_t               head_beats_i
);
  localparam int unsigned DataBeats = voq_beats(NumLinks) - ControlPackets * ControlBeats;
  logic [2:0] links_o;
  logic none_away_o, roomy_o, roomy_q_o, ok_o;
  rdma_room #(.NumLinks(NumLinks)) dut (.*);

  // What was taken at the look, and how far it is.
  typedef enum logic [2:0] {None, Looked, Freed, Reckoned, Compared} step_e;
  step_e step_q = None;
  room_t [NumLinks-1:0] used_q;
  logic [LinkWidth-1:0] link_q;
  logic [NumLinks-1:0]  mask_q;
  logic [6:0]           lag_q, away_q;
  packets_t             packets_q;
  logic [9:0]           beats_q;
  beats_t               head_q;
  always_ff @(posedge clk_i) begin
    if (look_i) begin
      step_q <= Looked;
      {used_q, link_q, mask_q, lag_q, away_q} <= {used_i, link_i, mask_i, lag_i, away_i};
    end
    if (free_i) step_q <= Freed;
    if (reckon_i) begin
      step_q <= Reckoned;
      {packets_q, beats_q, head_q} <= {packets_i, beats_i, head_beats_i};
    end
    if (compare_i) step_q <= Compared;
  end

  // The links that are up, and the least number of packets on each that makes up the transfer.
  logic [2:0]  ups;
  logic [3:0]  each;
  logic        roomy, window, room;
  logic [15:0] one;
  assign one = 16'(head_q) + 16'(beats_q);
  always_comb begin
    ups = '0;
    for (int unsigned l = 0; l < NumLinks; l++) ups = ups + 3'(mask_q[l]);
    each = '0;
    for (int unsigned n = 0; n < 8; n++) if (8'(packets_q) > 8'(n) * 8'(ups)) each = 4'(n + 1);
    roomy  = 16'(used_q[link_q]) + 16'(MaxBeats) <= 16'(DataBeats) && lag_q < 7'(Window) &&
        away_q < 7'(Window);
    window = 16'(lag_q) + 16'(packets_q) <= 16'(Window) &&
        16'(away_q) + 16'(packets_q) <= 16'(Window);
    room   = 1'b1;
    for (int unsigned l = 0; l < NumLinks; l++) begin
      if (packets_q == 4'd1)
        room &= link_q != LinkWidth'(l) || 16'(used_q[l]) + one <= 16'(DataBeats);
      else room &= !mask_q[l] || 16'(used_q[l]) + 16'(each) * 16'(MaxBeats) <= 16'(DataBeats);
    end
  end

  always_comb begin
    assume (3'(look_i) + 3'(free_i) + 3'(reckon_i) + 3'(compare_i) <= 3'd1);
    assume (!free_i || step_q == Looked);
    assume (!reckon_i || step_q == Freed);
    assume (!compare_i || step_q == Reckoned);
    if (look_i) begin
      assume (mask_i != '0);
      for (int unsigned l = 0; l < NumLinks; l++) assume (used_i[l] <= room_t'(DataBeats));
    end
    if (step_q != None && !look_i) assume (mask_i == mask_q);
    if (reckon_i)
      assume (packets_i != '0 && packets_i <= 4'd8 && head_beats_i <= beats_t'(MaxHeaderBeats));
    if (step_q == Reckoned)
      assume ({packets_i, beats_i, head_beats_i} == {packets_q, beats_q, head_q});

    if (step_q != None) begin
      assert (links_o == ups && none_away_o == (away_q == '0) && roomy_o == roomy);
      if (step_q inside {Freed, Reckoned, Compared}) assert (roomy_q_o == roomy);
      if (step_q == Freed) assert (ok_o);
      if (step_q == Compared) assert (ok_o == (room && window));
      // What makes the above inductive.
      assert (step_q <= Compared && mask_q != '0);
      for (int unsigned l = 0; l < NumLinks; l++) begin
        assert (used_q[l] <= room_t'(DataBeats) && dut.used_q[l] == used_q[l]);
        if (step_q inside {Freed, Reckoned, Compared})
          assert (dut.free_q[l] == room_t'(DataBeats) - used_q[l]);
      end
      assert (dut.link_q == link_q && dut.lag_q == lag_q && dut.away_q == away_q);
      if (step_q inside {Reckoned, Compared}) begin
        assert (packets_q != '0 && packets_q <= 4'd8);
        assert (dut.window_ok_q == window && 16'(dut.need_all_q) == 16'(each) * 16'(MaxBeats));
        assert (dut.need_one_q == room_t'(one));
        assert (head_q <= beats_t'(MaxHeaderBeats));
      end
    end
    cover (step_q == Compared && ok_o && ups == 3'd3 && packets_q == 4'd7);
    cover (step_q == Compared && !ok_o && window && packets_q == 4'd1);
    cover (step_q == Compared && !window && room && packets_q == 4'd8 && ups == 3'd4);
  end
endmodule
