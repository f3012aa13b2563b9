// SPDX-License-Identifier: SHL-2.1
/// Request agent without a cache: reads and writes lines of host memory at its home.
///
///   Handshake   request: valid/ready, stable until taken. Every request gets one response with its
///               tag, in any order. Responses have no ready: the requester must have room.
///               Message: valid/ready; answers: a message a cycle, no ready
///   Ordering    a request with the key of an open one waits: its line, as the requester knows it.
///               Others are not ordered
///   Credits     a request takes a place for requests at the home, a write a place for lines too;
///               the home gives them back with its answers
///   Latency     request to msg_valid_o 1 cycle; an answer to rsp_valid_o 0 cycles
///   Throughput  a request and a response a cycle
///   Mask        a write with all bytes is MsgWrite, any other MsgWritePart; a read has all bytes
///   Errors      stray_o: an answer to nothing, or a message that no home sends
///   Parameters  NumTxns as ccix_txns, Most as ccix_credits
///   Addresses   physical, or with req_direct_i virtual: the home translates them, or says with
///               rsp_fault_o that it does not allow the access
///   Not done    a cache, atomics, reads of parts of a line
module ccix_request
  import ccix_pkg::*;
#(
  parameter int unsigned NumTxns = 128,
  parameter int unsigned Most    = 128
) (
  input  logic       clk_i,
  input  logic       rst_ni,
  input  logic       req_valid_i,
  output logic       req_ready_o,
  input  logic       req_write_i,
  input  index_t     req_index_i,
  input  logic [7:0] req_tag_i,
  input  mask_t      req_mask_i,
  input  line_t      req_data_i,
  input  logic       req_direct_i,
  input  index_t     req_key_i,
  output logic       rsp_valid_o,
  output logic [7:0] rsp_tag_o,
  output logic       rsp_fault_o,
  output line_t      rsp_data_o,
  // To the packer, from the unpacker.
  output logic                  msg_valid_o,
  input  logic                  msg_ready_i,
  output logic [3:0]            msg_words_o,
  output word_t [MostWords-1:0] msg_o,
  input  logic                  ans_valid_i,
  input  header_t               ans_header_i,
  input  line_t                 ans_data_i,
  output logic [7:0]            places_o,  // for requests, now
  output logic                  stray_o,   // strobe
  output logic                  fail_o     // more credits than a home has
);
  logic free, same, known, some_request, some_line, go, take;
  logic [1:0] fail;
  txn_t txn;
  logic [7:0] lines;

  ccix_txns #(.NumTxns(NumTxns)) u_txns (
    .clk_i, .rst_ni, .index_i(req_key_i), .tag_i(req_tag_i), .open_i(take), .free_o(free),
    .same_o(same), .txn_o(txn), .answer_i(ans_valid_i && ans_header_i.kind != MsgCredit),
    .answer_txn_i(ans_header_i.txn), .known_o(known), .tag_o(rsp_tag_o)
  );
  ccix_credits #(.Most(Most)) u_requests (
    .clk_i, .rst_ni, .give_i(ans_valid_i ? ans_header_i.requests : '0), .take_i(take),
    .some_o(some_request), .count_o(places_o), .fail_o(fail[0])
  );
  ccix_credits #(.Most(Most)) u_lines (
    .clk_i, .rst_ni, .give_i(ans_valid_i ? ans_header_i.lines : '0),
    .take_i(take && req_write_i), .some_o(some_line), .count_o(lines), .fail_o(fail[1])
  );

  assign go = free && !same && some_request && (some_line || !req_write_i)
            && (!msg_valid_o || msg_ready_i);
  assign req_ready_o = go;
  assign take        = req_valid_i && go;

  message_e kind;
  header_t header;
  logic whole;
  assign whole  = req_mask_i == '1;
  assign kind   = !req_write_i ? MsgRead : whole ? MsgWrite : MsgWritePart;
  assign header = '{
      kind: kind, words: words_of(kind), txn: txn, requests: '0, lines: '0, fault: 1'b0, zero: '0
  };

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) msg_valid_o <= 1'b0;
    else msg_valid_o <= take || (msg_valid_o && !msg_ready_i);
  end
  always_ff @(posedge clk_i) begin
    if (take) begin
      msg_words_o <= words_of(kind);
      msg_o[0]    <= header;
      msg_o[1]    <= {16'd0, req_index_i, 5'd0, req_direct_i};
      msg_o[9:2]  <= whole ? req_data_i : {req_data_i[6:0], req_mask_i};
      msg_o[10]   <= req_data_i[7];
    end
  end

  assign rsp_valid_o = known && ans_header_i.kind inside {MsgComp, MsgCompData};
  assign rsp_data_o  = ans_data_i;
  assign rsp_fault_o = ans_header_i.fault;
  assign stray_o     = ans_valid_i && !rsp_valid_o && ans_header_i.kind != MsgCredit;
  assign fail_o      = fail != '0;

  logic unused;
  assign unused = ^{ans_header_i, lines};
endmodule
