// SPDX-License-Identifier: SHL-2.1
/// Translation in front of the agent with a cache, as in rtl/board/ccix_fpga.sv, without packets.
/// With Direct reads of pages that are not known go around the cache: the messages of both agents
/// have ports of their own.
module ccix_virtual_bench
  import ccix_pkg::*;
#(
  parameter int unsigned PagesLog2 = 0,
  parameter int unsigned Ahead     = 0,
  parameter int unsigned Sets      = 4,
  parameter int unsigned BaseSets  = 4,
  parameter bit          Direct    = 1'b0
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        req_valid_i,
  output logic        req_ready_o,
  input  logic        req_write_i,
  input  index_t      req_index_i,
  input  logic [7:0]  req_tag_i,
  input  mask_t       req_mask_i,
  input  line_t       req_data_i,
  output logic        rsp_valid_o,
  output logic [7:0]  rsp_tag_o,
  output logic        rsp_fault_o,
  output line_t       rsp_data_o,
  // what the cache is asked
  output logic        phys_valid_o,
  output logic        phys_ready_o,
  output logic        phys_direct_o,
  output index_t      phys_index_o,
  output logic [7:0]  phys_tag_o,
  // messages of the translation
  output logic        trn_valid_o,
  input  logic        trn_ready_i,
  output logic [3:0]  trn_words_o,
  output word_t [1:0] trn_o,
  input  logic        in_valid_i,
  input  word_t       in_word_i,
  // messages of the cache
  output logic                  msg_valid_o,
  input  logic                  msg_ready_i,
  output logic [3:0]            msg_words_o,
  output word_t [MostWords-1:0] msg_o,
  output logic                  dir_valid_o,  // and of the direct reads
  input  logic                  dir_ready_i,
  output word_t [1:0]           dir_o,
  input  logic                  ans_valid_i,
  input  header_t               ans_header_i,
  input  line_t                 ans_data_i,
  output logic                  stray_o,
  output logic                  fail_o
);
  logic phys_write, phys_rsp_valid, phys_rsp_fault;
  logic [2:0] fail;
  logic [7:0] phys_rsp_tag;
  access_t phys;
  index_t phys_key;
  mask_t phys_mask;
  line_t phys_data, phys_rsp_data;
  coherence_atomic_pkg::atomic_t phys_atomic;
  ccix_translate #(
    .NumMiss(4), .PagesLog2(PagesLog2), .Ahead(Ahead), .Direct(Direct), .DirectWrites(1'b0),
    .Early(1'b1), .BaseSets(BaseSets)
  ) u_translate (
    .clk_i, .rst_ni, .req_valid_i, .req_ready_o, .req_write_i, .req_index_i, .req_tag_i,
    .req_mask_i, .req_data_i, .req_atomic_i('0), .rsp_valid_o, .rsp_tag_o, .rsp_fault_o,
    .rsp_data_o,
    .phys_valid_o, .phys_ready_i(phys_ready_o), .phys_write_o(phys_write), .phys_index_o,
    .phys_tag_o, .phys_mask_o(phys_mask), .phys_data_o(phys_data), .phys_atomic_o(phys_atomic),
    .phys_direct_o,
    .phys_key_o(phys_key), .phys_rsp_valid_i(phys_rsp_valid), .phys_rsp_tag_i(phys_rsp_tag),
    .phys_rsp_fault_i(phys_rsp_fault), .phys_rsp_data_i(phys_rsp_data),
    .msg_valid_o(trn_valid_o), .msg_ready_i(trn_ready_i), .msg_words_o(trn_words_o),
    .msg_o(trn_o), .in_valid_i, .in_word_i, .fail_o(fail[0])
  );
  assign phys = '{
    write: phys_write, index: phys_index_o, tag: phys_tag_o, mask: phys_mask, data: phys_data
  };
  ccix_cached_bench #(
    .Sets(Sets), .Direct(Direct)
  ) u_cached (
    .clk_i, .rst_ni, .req_valid_i(phys_valid_o), .req_ready_o(phys_ready_o), .req_i(phys),
    .req_atomic_i(phys_atomic), .req_direct_i(phys_direct_o), .req_key_i(phys_key),
    .rsp_valid_o(phys_rsp_valid), .rsp_tag_o(phys_rsp_tag), .rsp_fault_o(phys_rsp_fault),
    .rsp_data_o(phys_rsp_data), .msg_valid_o, .msg_ready_i, .msg_words_o, .msg_o, .dir_valid_o,
    .dir_ready_i, .dir_o, .ans_valid_i, .ans_header_i, .ans_data_i, .stray_o, .fail_o(fail[2:1])
  );
  assign fail_o = fail != '0;
endmodule
