// SPDX-License-Identifier: SHL-2.1
/// Takes the responses to an agent off their four circuits of each link, one message a cycle.
///
///   Handshake   words: as blocklink_depack shows them. A message is in rsp_* for one cycle, with
///               rsp_valid_o; there is no ready, so no word waits for anything but its turn
///   Fairness    the circuits take turns: a word that is shown is taken within 4 cycles a link
///               (proved: formal/coherence/coherence_responses.sby)
///   Latency     0 cycles from a message's last word to rsp_valid_o, where no other message comes
///   Throughput  a message a cycle, a line of each side in 3 cycles
///   Parameters  NumLinks 1..2
///   Not done    matching with requests
module coherence_responses
  import coherence_pkg::*;
  import blocklink_pkg::word_t;
#(
  parameter int unsigned NumLinks = 1
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  // Circuits 4 and 5, with lines; 10 and 11, without.
  input  word_t [NumLinks-1:0][3:0][7:0] words_i,
  input  logic [NumLinks-1:0][3:0][3:0]  avail_i,
  output logic [NumLinks-1:0][3:0][3:0]  pop_o,
  output logic             rsp_valid_o,
  output logic             rsp_side_o,    // 1: of an even line
  output header_t          rsp_header_o,
  output message_e         rsp_message_o,
  output line_t            rsp_data_o     // of circuits 4 and 5
);
  if (NumLinks < 1 || NumLinks > 2) begin : gen_links_check
    $error("coherence_responses: NumLinks is %0d, legal is 1..2", NumLinks);
  end

  logic [NumLinks-1:0][3:0] valid, gnt;
  header_t [NumLinks-1:0][3:0] header;
  word_t [NumLinks-1:0][1:0][17:0] payload;
  for (genvar l = 0; l < int'(NumLinks); l++) begin : gen_link
    for (genvar s = 0; s < 2; s++) begin : gen_rx
      coherence_line_rx #(.Pair(3'd2)) u_line (
        .clk_i, .rst_ni, .words_i(words_i[l][s]), .avail_i(avail_i[l][s]), .pop_o(pop_o[l][s]),
        .valid_o(valid[l][s]), .ready_i(gnt[l][s]), .header_o(header[l][s]),
        .payload_o(payload[l][s])
      );
      assign valid[l][2+s]  = avail_i[l][2+s] != '0;
      assign header[l][2+s] = words_i[l][2+s][0];
      assign pop_o[l][2+s]  = {3'd0, gnt[l][2+s]};
    end
  end
  arb_rr #(.NumReq(4 * NumLinks)) u_arb (
    .clk_i, .rst_ni, .req_i(valid), .last_i(1'b1), .gnt_o(gnt), .idx_o()
  );

  logic link;
  logic [3:0] all;
  assign link = NumLinks == 2 && gnt[NumLinks-1] != '0;
  always_comb begin
    rsp_header_o = '0;
    all = '0;
    for (int unsigned l = 0; l < NumLinks; l++) begin
      all = all | gnt[l];
      for (int unsigned i = 0; i < 4; i++) begin
        if (gnt[l][i]) rsp_header_o = rsp_header_o | header[l][i];
      end
    end
  end
  assign rsp_message_o = message_of((all[1:0] != '0) ? 3'd2 : 3'd5, rsp_header_o.opcode);
  assign rsp_valid_o = all != '0;
  assign rsp_side_o  = all[1] | all[3];
  assign rsp_data_o  = payload[link][rsp_side_o][15:0];

  logic unused;
  assign unused = ^{words_i, payload};
endmodule
