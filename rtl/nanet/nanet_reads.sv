// SPDX-License-Identifier: SHL-2.1
/// Two readers share one AXI4 read port of one ID: page tables and payload.
///
///   Handshake   *_valid_i, *_i and *_ready_o as AR of AXI4, stable until taken; *_beat_o: the beat
///               that is at the port is this reader's, which takes it at once. arvalid_o, ar_o
///               stable until arready_i
///   Ordering    answers come in the order of requests, so each finds its reader by that
///   Fairness    tables go first: a command that misses waits for one read, and has at most one
///   Latency     0 cycles
///   Throughput  a request a cycle
///   Parameters  Depth of requests under way, a power of two 2..1024
///   Not done    several IDs
module nanet_reads #(
  parameter int unsigned Depth = 64
) (
  input  logic              clk_i,
  input  logic              rst_ni,
  input  logic              table_valid_i,
  output logic              table_ready_o,
  input  axi_pkg::address_t table_i,
  output logic              table_beat_o,
  input  logic              data_valid_i,
  output logic              data_ready_o,
  input  axi_pkg::address_t data_i,
  output logic              data_beat_o,
  output logic              arvalid_o,
  input  logic              arready_i,
  output axi_pkg::address_t ar_o,
  input  logic              rvalid_i,
  input  logic              rlast_i,
  output logic              idle_o
);
  logic held_q, who_q, who, order_ready, order_valid, order, take;

  // What is on offer stays.
  assign who       = held_q ? who_q : table_valid_i;
  assign arvalid_o = (who ? table_valid_i : data_valid_i) && order_ready;
  assign ar_o      = who ? table_i : data_i;
  assign take      = arvalid_o && arready_i;
  assign table_ready_o = take && who;
  assign data_ready_o  = take && !who;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      held_q <= 1'b0;
      who_q  <= 1'b0;
    end else begin
      held_q <= arvalid_o && !arready_i;
      who_q  <= who;
    end
  end

  fifo #(
    .Width(1),
    .Depth(Depth)
  ) u_order (
    .clk_i,
    .rst_ni,
    .clear_i(1'b0),
    .valid_i(take),
    .ready_o(order_ready),
    .data_i (who),
    .valid_o(order_valid),
    .ready_i(rvalid_i && rlast_i),
    .data_o (order),
    .usage_o()
  );
  assign table_beat_o = rvalid_i && order;
  assign data_beat_o  = rvalid_i && !order;
  assign idle_o       = !order_valid && !arvalid_o;
endmodule
