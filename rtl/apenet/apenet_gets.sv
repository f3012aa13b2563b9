// SPDX-License-Identifier: SHL-2.1
/// Requests of other nodes for bytes of this one's put memory, from the receiver to the sender.
///
///   Handshake   request_valid_i is never stalled: what finds Depth waiting is dropped and counted.
///               So nothing that comes ever waits for what leaves, and answers may share the
///               network's channels with requests. get_* valid/ready
///   Ordering    in their order
///   Room        while a node has no more than Depth requests of all others that are not answered,
///               none is dropped                          (proved: formal/apenet/apenet_gets.sby)
///   Latency     1 cycle
///   Throughput  a request a cycle
///   Restart     while enable_i is low what waits is dropped, not counted
///   Parameters  Depth, a power of two
///   Not done    fairness between nodes
module apenet_gets
  import apenet_pkg::*;
#(
  parameter int unsigned Depth = 16
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        enable_i,
  input  logic        request_valid_i,
  input  get_t        request_i,
  output logic        get_valid_o,
  input  logic        get_ready_i,
  output get_t        get_o,
  output logic [15:0] lost_o     // wraps
);
  logic ready;
  fifo #(
    .Width($bits(get_t)),
    .Depth(Depth)
  ) u_waiting (
    .clk_i,
    .rst_ni,
    .clear_i(!enable_i),
    .valid_i(request_valid_i && enable_i),
    .ready_o(ready),
    .data_i (request_i),
    .valid_o(get_valid_o),
    .ready_i(get_ready_i),
    .data_o (get_o),
    .usage_o()
  );
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) lost_o <= '0;
    else if (request_valid_i && enable_i && !ready) lost_o <= lost_o + 16'd1;
  end
endmodule
