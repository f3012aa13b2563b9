// SPDX-License-Identifier: SHL-2.1
/// ccix_cache for a bench; with Direct ccix_direct is in front of it and beside it. Each has a port
/// of its own for its messages.
module ccix_cached_bench
  import ccix_pkg::*;
#(
  parameter int unsigned Sets    = 4,
  parameter int unsigned Places  = 16,
  parameter bit          Atomics = 1'b0,
  parameter bit          Direct  = 1'b0
) (
  input  logic                          clk_i,
  input  logic                          rst_ni,
  input  logic                          req_valid_i,
  output logic                          req_ready_o,
  input  access_t                       req_i,
  input  coherence_atomic_pkg::atomic_t req_atomic_i,
  input  logic                          req_direct_i,
  input  index_t                        req_key_i,
  output logic                          rsp_valid_o,
  output logic [7:0]                    rsp_tag_o,
  output logic                          rsp_fault_o,
  output line_t                         rsp_data_o,
  output logic                          msg_valid_o,
  input  logic                          msg_ready_i,
  output logic [3:0]                    msg_words_o,
  output word_t [MostWords-1:0]         msg_o,
  output logic                          dir_valid_o,
  input  logic                          dir_ready_i,
  output word_t [1:0]                   dir_o,
  input  logic                          ans_valid_i,
  input  header_t                       ans_header_i,
  input  line_t                         ans_data_i,
  output logic                          stray_o,
  output logic [1:0]                    fail_o
);
  logic valid, ready, rsp_valid, mine, stray, direct_stray;
  logic [7:0] rsp_tag, places;
  line_t rsp_data;
  ccix_cache #(
    .Sets(Sets), .Ways(4), .NumMshr(4), .Places(Places), .Atomics(Atomics)
  ) u_cache (
    .clk_i, .rst_ni, .req_valid_i(valid), .req_ready_o(ready), .req_write_i(req_i.write),
    .req_evict_i(1'b0), .req_index_i(req_i.index), .req_tag_i(req_i.tag),
    .req_mask_i(req_i.mask), .req_data_i(req_i.data), .req_atomic_i, .rsp_valid_o(rsp_valid),
    .rsp_tag_o(rsp_tag), .rsp_data_o(rsp_data), .hold_snoops_i(1'b0), .msg_valid_o, .msg_ready_i,
    .msg_words_o, .msg_o, .ans_valid_i(ans_valid_i && !mine), .ans_header_i, .ans_data_i,
    .stray_o(stray), .fail_o(fail_o[0])
  );
  if (Direct) begin : gen_direct
    ccix_direct #(.NumDirect(4)) u_direct (
      .clk_i, .rst_ni, .req_valid_i, .req_ready_o, .req_direct_i, .req_index_i(req_i.index),
      .req_tag_i(req_i.tag), .req_key_i, .rsp_valid_o, .rsp_tag_o, .rsp_fault_o, .rsp_data_o,
      .cached_valid_o(valid), .cached_ready_i(ready), .cached_rsp_valid_i(rsp_valid),
      .cached_rsp_tag_i(rsp_tag), .cached_rsp_data_i(rsp_data), .msg_valid_o(dir_valid_o),
      .msg_ready_i(dir_ready_i), .msg_o(dir_o), .ans_valid_i, .ans_header_i, .ans_data_i,
      .mine_o(mine), .places_o(places), .stray_o(direct_stray), .fail_o(fail_o[1])
    );
  end else begin : gen_alone
    assign valid       = req_valid_i;
    assign req_ready_o = ready;
    assign {rsp_valid_o, rsp_tag_o, rsp_data_o} = {rsp_valid, rsp_tag, rsp_data};
    assign {rsp_fault_o, mine, places, direct_stray, fail_o[1], dir_valid_o, dir_o} = '0;
    logic unused;
    assign unused = ^{req_direct_i, req_key_i, dir_ready_i};
  end
  assign stray_o = stray || direct_stray;
  logic unused_places;
  assign unused_places = ^places;
endmodule
