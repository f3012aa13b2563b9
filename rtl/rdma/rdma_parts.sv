// SPDX-License-Identifier: SHL-2.1
/// How much of each flow's next request was granted, and whether its session has ended since.
///
/// Where fewer links are up than a whole transfer needs, rdma_send grants it in parts. If the
/// session ends between two parts, the rest belongs to no session: it is torn, and must be refused.
///
///   Handshake   grant_i: strobe, a part of flow_i's request was granted, to packets_i in all;
///               final_i: it was the last. refused_i: the rest was given back. failed_i: strobe of
///               a flow
///   Latency     0 cycles from flow_i to parts_o and torn_o; changes follow at the next edge
///   Throughput  a grant and a failure a cycle
///   Parameters  none
///   Not done    messages: they are one packet
module rdma_parts
  import rdma_pkg::*;
  import rdma_tx_pkg::*;
(
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        clear_i,
  input  flow_t       clear_flow_i,
  input  flow_t       flow_i,
  output logic [2:0]  parts_o,     // packets of its next request that were granted
  output logic        torn_o,
  input  logic        grant_i,
  input  logic        final_i,
  input  logic [2:0]  packets_i,
  input  logic        refused_i,
  input  flow_event_t failed_i
);
  logic [MaxHosts-1:0] part_q, torn_q;
  logic [2:0] count_q[MaxHosts];
  assign parts_o = part_q[flow_i] ? count_q[flow_i] : '0;
  assign torn_o  = torn_q[flow_i];

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      part_q <= '0;
      torn_q <= '0;
    end else begin
      if (grant_i) part_q[flow_i] <= !final_i;
      if (failed_i.valid) begin
        torn_q[failed_i.flow] <= part_q[failed_i.flow] ||
                                 (grant_i && !final_i && flow_i == failed_i.flow);
      end
      if (refused_i) begin
        part_q[flow_i] <= 1'b0;
        torn_q[flow_i] <= 1'b0;
      end
      if (clear_i) begin
        part_q[clear_flow_i] <= 1'b0;
        torn_q[clear_flow_i] <= 1'b0;
      end
    end
  end
  always_ff @(posedge clk_i) begin
    if (grant_i) count_q[flow_i] <= packets_i;
  end
endmodule
