// SPDX-License-Identifier: SHL-2.1
/// Takes the responses to an agent off their four circuits, one message a cycle.
///
///   Handshake   words: as blocklink_depack shows them. A message is in rsp_* for one cycle, with
///               rsp_valid_o; there is no ready, so no word waits for anything but its turn
///   Fairness    the circuits take turns: a word that is shown is taken within 4 cycles
///               (proved: formal/coherence/coherence_responses.sby)
///   Latency     0 cycles from a message's last word to rsp_valid_o, where no other message comes
///   Throughput  a message a cycle, a line of each side in 3 cycles
///   Not done    matching with requests
module coherence_responses
  import coherence_pkg::*;
  import blocklink_pkg::word_t;
(
  input  logic             clk_i,
  input  logic             rst_ni,
  // Circuits 4 and 5, with lines; 10 and 11, without.
  input  word_t [3:0][7:0] words_i,
  input  logic [3:0][3:0]  avail_i,
  output logic [3:0][3:0]  pop_o,
  output logic             rsp_valid_o,
  output logic             rsp_side_o,    // 1: of an even line
  output header_t          rsp_header_o,
  output message_e         rsp_message_o,
  output line_t            rsp_data_o     // of circuits 4 and 5
);
  logic [3:0] valid, gnt;
  header_t [3:0] header;
  word_t [1:0][17:0] payload;
  for (genvar s = 0; s < 2; s++) begin : gen_rx
    coherence_line_rx #(.Pair(3'd2)) u_line (
      .clk_i, .rst_ni, .words_i(words_i[s]), .avail_i(avail_i[s]), .pop_o(pop_o[s]),
      .valid_o(valid[s]), .ready_i(gnt[s]), .header_o(header[s]), .payload_o(payload[s])
    );
    assign valid[2+s]  = avail_i[2+s] != '0;
    assign header[2+s] = words_i[2+s][0];
    assign pop_o[2+s]  = {3'd0, gnt[2+s]};
  end
  arb_rr #(.NumReq(4)) u_arb (
    .clk_i, .rst_ni, .req_i(valid), .last_i(1'b1), .gnt_o(gnt), .idx_o()
  );

  always_comb begin
    rsp_header_o = '0;
    for (int unsigned i = 0; i < 4; i++) begin
      if (gnt[i]) rsp_header_o = rsp_header_o | header[i];
    end
  end
  assign rsp_message_o = message_of((gnt[1:0] != '0) ? 3'd2 : 3'd5, rsp_header_o.opcode);
  assign rsp_valid_o = gnt != '0;
  assign rsp_side_o  = gnt[1] | gnt[3];
  assign rsp_data_o  = payload[rsp_side_o][15:0];

  logic unused;
  assign unused = ^{words_i, payload};
endmodule
