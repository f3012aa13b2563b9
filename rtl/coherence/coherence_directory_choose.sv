// SPDX-License-Identifier: SHL-2.1
/// Stage 0 of a home with a directory: chooses what enters the pipeline.
///
///   Contract    one input a cycle: a response, else memory's answer, else a transaction that can
///               go on (run_o), else a request or the host's operation in turn. A source in busy_i
///               waits: its input is in the pipeline, and leaves the source when it is decided, not
///               when it is chosen
///   Handshake   a response is taken in its cycle. mem_rsp: valid/ready. Nothing but a response
///               enters without room_i
///   Fairness    requests and the host: round robin
///   Latency     0 cycles; the caller registers what is chosen
///   Not done    turns among inputs of one line: the caller's, when they are decided
module coherence_directory_choose
  import coherence_pkg::*;
  import coherence_directory_pkg::*;
  import blocklink_pkg::word_t;
(
  input  logic       clk_i,
  input  logic       rst_ni,
  input  logic       room_i,        // for all that an input may send
  input  logic [4:0] busy_i,        // as input_t's source
  input  logic       core_valid_i,
  input  core_e      core_op_i,
  input  index_t     core_index_i,
  input  logic [7:0] core_tag_i,
  input  message_e   core_atomic_i,
  input  logic [3:0] core_word_i,
  input  mask_t      core_mask_i,
  input  line_t      core_data_i,
  input  logic     [3:0] req_valid_i,
  input  message_e [3:0] req_message_i,
  input  header_t  [3:0] req_header_i,
  input  word_t [1:0][17:0] req_payload_i,
  output logic     [3:0] known_o,   // the message is a request
  input  logic       rsp_valid_i,
  input  message_e   rsp_message_i,
  input  index_t     rsp_index_i,
  input  line_t      rsp_data_i,
  input  logic       mem_rsp_valid_i,
  output logic       mem_rsp_ready_o,
  input  tbe_id_t    mem_rsp_id_i,
  input  line_t      mem_rsp_data_i,
  // the transaction that goes on
  input  logic       ready_some_i,
  input  tbe_id_t    ready_id_i,
  output logic       run_o,
  output tbe_id_t    resume_id_o,
  input  what_t      resume_what_i,
  input  mask_t      resume_mask_i,
  input  line_t      resume_data_i,
  // what is chosen
  output logic       valid_o,
  output input_t     chosen_o,
  output mask_t      mask_o,        // bytes to write
  output line_t      data_o
);
  logic [4:0] wants, turn;
  logic choose_memory, choose_source;
  for (genvar r = 0; r < 4; r++) begin : gen_known
    assign known_o[r] = req_message_i[r] inside {MsgRlds, MsgRldi, MsgRldx, MsgRupg, MsgRinc,
                                                 MsgRdec, MsgRstt, MsgRstp, MsgRcas};
  end
  assign wants           = {core_valid_i, req_valid_i & known_o} & ~busy_i;
  assign choose_memory   = mem_rsp_valid_i && !rsp_valid_i && room_i;
  assign run_o           = ready_some_i && !rsp_valid_i && !choose_memory && room_i;
  assign choose_source   = wants != '0 && !rsp_valid_i && !choose_memory && !run_o && room_i;
  assign mem_rsp_ready_o = !rsp_valid_i && room_i;
  assign valid_o         = rsp_valid_i || choose_memory || run_o || choose_source;
  assign resume_id_o     = choose_memory ? mem_rsp_id_i : ready_id_i;
  arb_rr #(.NumReq(5)) u_arb (
    .clk_i, .rst_ni, .req_i(choose_source ? wants : '0), .last_i(1'b1), .gnt_o(turn), .idx_o()
  );
  always_comb begin
    chosen_o = '{source: turn, resumed: 1'b0, memory: 1'b0, tbe: '0,
                 what: '{kind: KindResponse, message: rsp_message_i, op: core_op_i, id: '0,
                         tag: core_tag_i, word: '0, index: rsp_index_i}};
    mask_o = '1;
    data_o = rsp_data_i;
    if (choose_memory || run_o) begin
      chosen_o.tbe     = resume_id_o;
      chosen_o.resumed = 1'b1;
      chosen_o.what    = resume_what_i;
      chosen_o.memory  = choose_memory;
      mask_o = resume_mask_i;
      data_o = choose_memory ? mem_rsp_data_i : resume_data_i;
    end else if (turn[4]) begin
      chosen_o.what.kind    = KindCore;
      chosen_o.what.message = core_atomic_i;
      chosen_o.what.word    = core_word_i;
      chosen_o.what.index   = core_index_i;
      mask_o = core_mask_i;
      data_o = core_data_i;
    end else if (turn != '0) begin
      chosen_o.what.kind = KindRequest;
      data_o = '0;
      for (int unsigned r = 0; r < 4; r++) begin
        if (turn[r]) begin
          chosen_o.what.message = req_message_i[r];
          chosen_o.what.index   = req_header_i[r].index;
          chosen_o.what.id      = req_header_i[r].id;
          chosen_o.what.word    = req_header_i[r].offset[6:3];
        end
      end
      for (int unsigned r = 0; r < 2; r++) begin
        if (turn[r]) begin
          data_o = req_payload_i[r][15:0];
          if (req_message_i[r] == MsgRstp) {data_o, mask_o} = req_payload_i[r];
        end
      end
    end
  end
  logic unused;
  assign unused = ^req_header_i;
endmodule
