// SPDX-License-Identifier: SHL-2.1
/// Request agent, packer and unpacker; the bench is the user at one side and the home at the other.
module ccix_agent_bench
  import ccix_pkg::*;
#(
  parameter int unsigned NumTxns     = 16,
  parameter int unsigned MaxWords    = 32,
  parameter int unsigned MaxMessages = 31
) (
  input  logic         clk_i,
  input  logic         rst_ni,
  input  logic         req_valid_i,
  output logic         req_ready_o,
  input  logic         req_write_i,
  input  logic [41:0]  req_index_i,
  input  logic [7:0]   req_tag_i,
  input  logic [63:0]  req_mask_i,
  input  logic [511:0] req_data_i,
  input  logic         req_direct_i,
  input  logic [41:0]  req_key_i,
  output logic         rsp_valid_o,
  output logic [7:0]   rsp_tag_o,
  output logic         rsp_fault_o,
  output logic [511:0] rsp_data_o,
  output logic         tx_valid_o,
  output logic         tx_last_o,
  output logic [3:0]   tx_words_o,
  output logic [511:0] tx_data_o,
  input  logic         tx_credit_i,
  input  logic         rx_valid_i,
  input  logic [3:0]   rx_words_i,
  input  logic [511:0] rx_data_i,
  output logic         rx_credit_o,
  output logic [7:0]   places_o,
  output logic         stray_o,
  output logic [1:0]   fail_o
);
  logic msg_valid, msg_ready, ans_valid;
  logic [3:0] msg_words;
  word_t [MostWords-1:0] msg;
  header_t ans_header;
  line_t ans_data;
  ccix_request #(.NumTxns(NumTxns)) u_request (
    .clk_i, .rst_ni, .req_valid_i, .req_ready_o, .req_write_i, .req_index_i, .req_tag_i,
    .req_mask_i, .req_data_i, .req_direct_i, .req_key_i, .rsp_valid_o, .rsp_tag_o, .rsp_fault_o,
    .rsp_data_o, .msg_valid_o(msg_valid),
    .msg_ready_i(msg_ready), .msg_words_o(msg_words), .msg_o(msg), .ans_valid_i(ans_valid),
    .ans_header_i(ans_header), .ans_data_i(ans_data), .places_o, .stray_o, .fail_o(fail_o[0])
  );
  ccix_pack #(.MaxWords(MaxWords), .MaxMessages(MaxMessages)) u_pack (
    .clk_i, .rst_ni, .valid_i(msg_valid), .ready_o(msg_ready), .words_i(msg_words),
    .message_i(msg), .tx_valid_o, .tx_last_o, .tx_words_o, .tx_data_o, .tx_credit_i
  );
  ccix_unpack u_unpack (
    .clk_i, .rst_ni, .rx_valid_i, .rx_words_i, .rx_data_i, .rx_credit_o, .valid_o(ans_valid),
    .header_o(ans_header), .data_o(ans_data), .fail_o(fail_o[1])
  );
endmodule
