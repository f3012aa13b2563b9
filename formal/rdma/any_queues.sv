// SPDX-License-Identifier: SHL-2.1
/// In the place of rdma_request_queues and rdma_message_queues: what they say is free.
module rdma_request_queues
  import rdma_pkg::*;
#(
  parameter int unsigned NumHosts = 8
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        run_i,
  input  logic        clear_i,
  input  flow_t       clear_flow_i,
  input  logic        bench_i,
  input  logic [31:0] stamp_i,
  input  logic        we_i,
  input  logic [10:0] addr_i,
  input  beat_t       data_i,
  input  logic [7:0]  strb_i,
  input  logic        last_i,
  input  logic        freed_i,
  input  flow_t       freed_flow_i,
  input  logic [7:0]  freed_count_i,
  output logic [7:0]  ready_o,
  output logic        coming_o,
  output flow_t       coming_flow_o,
  output logic        early_o,
  input  flow_t       flow_i,
  output logic [6:0]  slot_o,
  output logic [7:0]  slots_o,
  input  logic        re_i,
  input  logic [10:0] raddr_i,
  output beat_t       rdata_o,
  input  logic        advance_i,
  input  logic        two_i,
  input  logic        only_i,
  output logic        posted_o,
  output flow_t       posted_flow_o,
  output logic        bad_o,
  output logic        idle_o
);
  logic [99:0] any, any_q;  // driven by nothing: the prover's choice
  always_ff @(posedge clk_i) any_q <= any_q;
  assign {ready_o, coming_o, coming_flow_o, early_o, slot_o, slots_o, rdata_o, posted_o,
          posted_flow_o, bad_o, idle_o} = any_q;
endmodule
module rdma_message_queues
  import rdma_pkg::*;
#(
  parameter int unsigned NumHosts = 8
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        run_i,
  input  logic        clear_i,
  input  flow_t       clear_flow_i,
  input  logic        we_i,
  input  logic [10:0] addr_i,
  input  beat_t       data_i,
  input  logic [7:0]  strb_i,
  input  logic        last_i,
  input  logic        freed_i,
  input  flow_t       freed_flow_i,
  input  logic [8:0]  freed_count_i,
  output logic [7:0]  ready_o,
  output logic        coming_o,
  output flow_t       coming_flow_o,
  input  flow_t       flow_i,
  output logic [7:0]  place_o,
  output logic [6:0]  number_o,
  input  logic        re_i,
  input  logic [10:0] raddr_i,
  output beat_t       rdata_o,
  input  logic        advance_i,
  input  logic [6:0]  size_i,
  output logic        posted_o,
  output flow_t       posted_flow_o,
  output logic        bad_o
);
  logic [95:0] any, any_q;  // driven by nothing: the prover's choice
  always_ff @(posedge clk_i) any_q <= any_q;
  assign {ready_o, coming_o, coming_flow_o, place_o, number_o, rdata_o, posted_o, posted_flow_o,
          bad_o} = any_q;
endmodule
