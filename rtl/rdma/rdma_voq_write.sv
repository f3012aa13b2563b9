// SPDX-License-Identifier: SHL-2.1
/// The host's side of rdma_voq: announces beats to the link's side, and says where each is written.
///
/// The first 8 beats of a packet are announced singly, so that it begins to leave; then 8 at once,
/// which the host's side writes before the link has sent those. Each queue is a ring of its own.
///
///   Handshake   valid_i/ready_o: a beat is announced. tell_o: strobe, token_o goes to the link's
///               side; only with token_ready_i. write_i: a beat is written, to address_o
///   Latency     0 cycles
///   Throughput  a beat a cycle                          (proved: formal/rdma/rdma_voq_write.sby)
///   Start       NumHosts cycles after reset, in which ready_o is low
///   Parameters  NumHosts 2..8, Beats of a queue, a power of two
///   Not done    the count of room: rdma_spread
module rdma_voq_write
  import rdma_pkg::*;
  import rdma_tx_pkg::*;
#(
  parameter  int unsigned NumHosts = 8,
  parameter  int unsigned Beats    = 1024,
  localparam int unsigned PlaceWidth = $clog2(Beats),
  localparam int unsigned FlowWidth  = $clog2(NumHosts)
) (
  input  logic       clk_i,
  input  logic       rst_ni,
  input  logic       valid_i,
  output logic       ready_o,
  input  announce_t  announce_i,
  output logic       tell_o,
  input  logic       token_ready_i,
  output voq_token_t token_o,
  input  logic       write_i,
  input  flow_t      write_flow_i,
  output logic [FlowWidth+PlaceWidth-1:0] address_o,
  output logic       idle_o          // after the start
);
  if (NumHosts < 2 || NumHosts > MaxHosts) begin : gen_hosts_check
    $error("rdma_voq_write: NumHosts is %0d, legal is 2..%0d", NumHosts, MaxHosts);
  end

  localparam int unsigned TokenBeats = 8;
  typedef logic [PlaceWidth-1:0] place_t;

  place_t     wplace_q[NumHosts];
  // Beats of this packet modulo 8; whether it is among the first 8.
  logic [2:0] count_q;
  logic       early_q;
  logic       wclear_q;
  logic [FlowWidth-1:0] wclear_flow_q, wflow;
  logic       unused_flow;
  logic       take;

  assign wflow = write_flow_i[FlowWidth-1:0];
  assign take  = valid_i && ready_o;
  assign tell_o = take && (announce_i.last || early_q || count_q == 3'(TokenBeats - 1));

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      count_q       <= '0;
      early_q       <= 1'b1;
      wclear_q      <= 1'b1;
      wclear_flow_q <= '0;
    end else begin
      if (take) begin
        count_q <= announce_i.last ? '0 : count_q + 3'd1;
        early_q <= announce_i.last || (early_q && count_q != 3'(TokenBeats - 1));
      end
      wclear_flow_q <= wclear_flow_q + FlowWidth'(wclear_q);
      if (32'(wclear_flow_q) == NumHosts - 1) wclear_q <= 1'b0;
    end
  end
  always_ff @(posedge clk_i) begin
    if (wclear_q || write_i) begin
      wplace_q[wclear_q ? wclear_flow_q : wflow] <= wclear_q ? '0 : wplace_q[wflow] + 1'b1;
    end
  end
  // The far half of a flow's number is not needed where there are fewer hosts.
  assign unused_flow = ^{announce_i.flow, write_flow_i};

  assign token_o   = '{flow: announce_i.flow, beats: early_q ? 4'd1 : {1'b0, count_q} + 4'd1};
  assign ready_o   = token_ready_i && !wclear_q;
  assign address_o = {wflow, wplace_q[wflow]};
  assign idle_o    = !wclear_q;
endmodule
