// SPDX-License-Identifier: SHL-2.1
/// coherence_directory_choose: a response enters in its cycle; else, with room, memory's answer,
/// else a transaction that can go on, else the first source in turn that wants and is not in the
/// pipeline, else nothing; what enters is what its source has. A message is a request exactly if
/// the protocol sends it on a circuit of requests.
module coherence_directory_choose_props
  import coherence_pkg::*;
  import coherence_directory_pkg::*;
  import blocklink_pkg::word_t;
(
  input logic       clk_i,
  input logic       room_i,
  input logic [4:0] busy_i,
  input logic       core_valid_i,
  input core_e      core_op_i,
  input index_t     core_index_i,
  input logic [7:0] core_tag_i,
  input message_e   core_atomic_i,
  input logic [3:0] core_word_i,
  input mask_t      core_mask_i,
  input line_t      core_data_i,
  input logic     [3:0] req_valid_i,
  input message_e [3:0] req_message_i,
  input header_t  [3:0] req_header_i,
  input word_t [1:0][17:0] req_payload_i,
  input logic       rsp_valid_i,
  input message_e   rsp_message_i,
  input index_t     rsp_index_i,
  input line_t      rsp_data_i,
  input logic       mem_rsp_valid_i,
  input tbe_id_t    mem_rsp_id_i,
  input line_t      mem_rsp_data_i,
  input logic       ready_some_i,
  input tbe_id_t    ready_id_i,
  input what_t      resume_what_i,
  input mask_t      resume_mask_i,
  input line_t      resume_data_i
);
  logic rst_ni, mem_rsp_ready_o, run_o, valid_o;
  logic [3:0] known_o;
  tbe_id_t resume_id_o;
  input_t  chosen_o;
  mask_t   mask_o;
  line_t   data_o;

  coherence_directory_choose dut (.*);

  logic started_q = 1'b0;
  always_ff @(posedge clk_i) started_q <= 1'b1;
  assign rst_ni = started_q;

  // Circuits 2 and 3, 6 and 7 carry requests.
  function automatic logic is_request(message_e message);
    return circuit_of(message, 1'b0) inside {4'd3, 4'd7};
  endfunction

  logic [4:0] wants;
  assign wants[4] = core_valid_i && !busy_i[4];
  for (genvar r = 0; r < 4; r++) begin : gen_wants
    assign wants[r] = req_valid_i[r] && is_request(req_message_i[r]) && !busy_i[r];
  end

  // The source that was chosen last, 0..4; how far one is behind it.
  logic [2:0] last_q, now;
  function automatic logic [2:0] behind(logic [2:0] source);
    return source > last_q ? source - last_q - 3'd1 : source + 3'd4 - last_q;
  endfunction
  always_comb begin
    now = '0;
    for (int unsigned s = 0; s < 5; s++) if (chosen_o.source[s]) now = 3'(s);
  end
  always_ff @(posedge clk_i) begin
    if (!started_q) last_q <= 3'd4;
    else if (chosen_o.source != '0) last_q <= now;
  end

  logic memory, resumes;
  assign memory  = !rsp_valid_i && room_i && mem_rsp_valid_i;
  assign resumes = !rsp_valid_i && room_i && !mem_rsp_valid_i && ready_some_i;

  always_comb begin
    if (started_q) begin
      for (int unsigned r = 0; r < 4; r++) assert (known_o[r] == is_request(req_message_i[r]));
      assert (valid_o == (rsp_valid_i || (room_i && (mem_rsp_valid_i || ready_some_i ||
                                                     wants != '0))));
      assert (mem_rsp_ready_o == (room_i && !rsp_valid_i) && run_o == resumes);
      // A source enters only where nothing before it does, and in its turn.
      assert ((chosen_o.source != '0) ==
              (valid_o && !rsp_valid_i && !memory && !resumes));
      assert ((chosen_o.source & (chosen_o.source - 5'd1)) == '0);
      if (chosen_o.source != '0) begin
        assert (wants[now]);
        for (int unsigned s = 0; s < 5; s++) if (wants[s]) assert (behind(now) <= behind(3'(s)));
      end
      // What enters.
      assert (resume_id_o == (memory ? mem_rsp_id_i : ready_id_i));
      assert (chosen_o.resumed == (memory || resumes) && chosen_o.memory == memory);
      if (chosen_o.resumed) begin
        assert (chosen_o.tbe == resume_id_o && chosen_o.what == resume_what_i);
        assert (mask_o == resume_mask_i);
        assert (data_o == (memory ? mem_rsp_data_i : resume_data_i));
      end else begin
        assert (chosen_o.tbe == '0);
        assert (chosen_o.what.op == core_op_i && chosen_o.what.tag == core_tag_i);
        if (chosen_o.source == '0) begin
          assert (chosen_o.what.kind == KindResponse && chosen_o.what.index == rsp_index_i);
          assert (mask_o == '1 && data_o == rsp_data_i);
        end
        if (now == 3'd4) begin
          assert (chosen_o.what.kind == KindCore && chosen_o.what.index == core_index_i);
          assert (mask_o == core_mask_i && data_o == core_data_i);
        end else if (chosen_o.source != '0) begin
          assert (chosen_o.what.kind == KindRequest);
          assert (chosen_o.what.message == req_message_i[now[1:0]]);
          assert (chosen_o.what.index == req_header_i[now[1:0]].index);
          assert (chosen_o.what.id == req_header_i[now[1:0]].id);
          assert (chosen_o.what.word == req_header_i[now[1:0]].offset[6:3]);
          // Stores of a mask's bytes have it before the line.
          if (now > 3'd1) begin
            assert (data_o == '0 && mask_o == '1);
          end else if (req_message_i[now[1:0]] == MsgRstp) begin
            assert (mask_o == mask_t'(req_payload_i[now[0]]));
            assert (data_o == req_payload_i[now[0]][17:2]);
          end else begin
            assert (data_o == req_payload_i[now[0]][15:0] && mask_o == '1);
          end
        end
        if (chosen_o.source == '0 || now == 3'd4) assert (chosen_o.what.id == '0);
        if (chosen_o.source == '0) begin
          assert (chosen_o.what.message == rsp_message_i && chosen_o.what.word == '0);
        end
        if (now == 3'd4) begin
          assert (chosen_o.what.message == core_atomic_i && chosen_o.what.word == core_word_i);
        end
      end
      // What makes the above inductive.
      assert (last_q <= 3'd4 && dut.u_arb.owner_q == '0);
      for (int unsigned s = 0; s < 5; s++)
        assert (dut.u_arb.after_q[s] == (3'(s) > last_q));
      cover (chosen_o.source[2] && last_q == 3'd4 && !wants[0] && wants[3]);
      cover (resumes && wants != '0 && last_q == 3'd1);
    end
  end
endmodule
