// SPDX-License-Identifier: SHL-2.1
/// Whether a flow's window and the VOQs have room for a transfer.
///
/// n packets over L links count as ceil(n/L) longest packets on each, one packet as its own beats
/// on its link. One packet needs no sums where a longest one has room: roomy_o.
///
///   Handshake   strobes, in this order and not at once: look_i takes the numbers of the flow,
///               free_i what is free. Behind it ok_o is set, for one packet with roomy_q_o. Else
///               reckon_i with the transfer's packets and beats, then compare_i: behind it ok_o
///               says whether there is room. packets_i and beats_i stay from reckon_i on, mask_i
///               from look_i
///   Latency     roomy_o from the cycle after look_i, roomy_q_o and ok_o as above 1 cycle
///   Throughput  a transfer in 4 cycles
///   Parameters  NumLinks 1..4
///   Not done    the count of what is used: rdma_spread. Room and window only grow until ok_o is
///               used
module rdma_room
  import rdma_pkg::*;
  import rdma_tx_pkg::*;
#(
  parameter  int unsigned NumLinks  = 1,
  localparam int unsigned LinkWidth = NumLinks > 1 ? $clog2(NumLinks) : 1
) (
  input  logic                 clk_i,
  input  logic                 look_i,
  input  logic                 free_i,
  input  logic                 reckon_i,
  input  logic                 compare_i,

  input  room_t [NumLinks-1:0] used_i,
  input  logic [LinkWidth-1:0] link_i,       // of the next packet
  input  logic [NumLinks-1:0]  mask_i,       // links that are up
  input  logic [6:0]           lag_i,        // numbers that are not acknowledged
  input  logic [6:0]           away_i,       // and that have not left

  input  packets_t             packets_i,
  input  logic [9:0]           beats_i,
  input  beats_t               head_beats_i,

  output logic [2:0]           links_o,      // how many are up
  output logic                 none_away_o,
  output logic                 roomy_o,      // for a longest packet
  output logic                 roomy_q_o,    // the same, kept with free_i
  output logic                 ok_o
);
  if (NumLinks < 1 || NumLinks > 4) begin : gen_links_check
    $error("rdma_room: NumLinks is %0d, legal is 1..4", NumLinks);
  end

  localparam int unsigned DataBeats = voq_beats(NumLinks) - ControlPackets * ControlBeats;

  // Packets on one link where they are spread over those that are up.
  function automatic packets_t share(packets_t packets, logic [2:0] over);
    unique case (over)
      3'd2:    return packets_t'((5'(packets) + 5'd1) >> 1);
      3'd3:    return packets > 4'd6 ? 4'd3 : packets > 4'd3 ? 4'd2 : 4'd1;
      3'd4:    return packets > 4'd4 ? 4'd2 : 4'd1;
      default: return packets;
    endcase
  endfunction

  // Beats of so many longest packets. MaxBeats has three ones: two sums, no multiplier.
  function automatic room_t longest(packets_t packets);
    longest = '0;
    for (int unsigned i = 0; i < $bits(room_t); i++) begin
      if (MaxBeats[i]) longest = longest + (room_t'(packets) << i);
    end
  endfunction

  room_t [NumLinks-1:0] used_q, free_q;
  logic [LinkWidth-1:0] link_q;
  logic [6:0] lag_q, away_q;
  logic [2:0] links, links_q;
  room_t need_all_q, need_one_q;
  logic [NumLinks-1:0] fits;
  logic window_ok_q, room_ok, room_ok_q, roomy_q;

  always_comb begin
    links = '0;
    for (int unsigned i = 0; i < NumLinks; i++) links = links + 3'(mask_i[i]);
  end
  for (genvar l = 0; l < int'(NumLinks); l++) begin : gen_fits
    assign fits[l] = packets_i != 4'd1 ? !mask_i[l] || need_all_q <= free_q[l]
                   : (NumLinks > 1 && link_q != LinkWidth'(l)) || need_one_q <= free_q[l];
  end
  assign room_ok     = fits == '1;
  assign roomy_o     = used_q[link_q] <= room_t'(DataBeats - MaxBeats) && lag_q < 7'(Window) &&
                       away_q < 7'(Window);
  assign roomy_q_o   = roomy_q;
  assign links_o     = links_q;
  assign none_away_o = away_q == '0;
  assign ok_o        = room_ok_q && window_ok_q;

  always_ff @(posedge clk_i) begin
    if (look_i) begin
      used_q  <= used_i;
      link_q  <= link_i;
      lag_q   <= lag_i;
      away_q  <= away_i;
      links_q <= links;
    end
    if (free_i) begin
      roomy_q     <= roomy_o;
      room_ok_q   <= 1'b1;  // as far as there is room for a longest packet
      window_ok_q <= 1'b1;
      // Never more than DataBeats are used.
      for (int unsigned l = 0; l < NumLinks; l++) free_q[l] <= room_t'(DataBeats) - used_q[l];
    end
    if (reckon_i) begin
      need_all_q  <= longest(share(packets_i, links_q));
      need_one_q  <= room_t'(head_beats_i) + room_t'(beats_i);
      window_ok_q <= {1'b0, lag_q} + 8'(packets_i) <= 8'(Window) &&
                     {1'b0, away_q} + 8'(packets_i) <= 8'(Window);
    end
    if (compare_i) room_ok_q <= room_ok;
  end
endmodule
