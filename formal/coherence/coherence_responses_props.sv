// SPDX-License-Identifier: SHL-2.1
/// coherence_responses: responses are sinks. Whatever words come, one that is shown is taken within
/// 4 cycles.
module coherence_responses_props
  import coherence_pkg::*;
  import blocklink_pkg::*;
(
  input logic             clk_i,
  input word_t [3:0][7:0] words_i,
  input logic [3:0][3:0]  avail_i
);
  localparam int unsigned Bound = 4;  // the four circuits take turns

  logic rst_ni = 1'b0;
  always_ff @(posedge clk_i) rst_ni <= 1'b1;

  logic [3:0][3:0] pop_o;
  logic rsp_valid_o, rsp_side_o;
  header_t rsp_header_o;
  message_e rsp_message_o;
  line_t rsp_data_o;
  coherence_responses dut (.*);

  // What a buffer shows stays until it is taken.
  for (genvar c = 0; c < 4; c++) begin : gen_circuit
    logic [2:0] waits_q;
    logic shown_q;
    always_ff @(posedge clk_i) begin
      if (!rst_ni || avail_i[c] == '0 || pop_o[c] != '0) waits_q <= '0;
      else waits_q <= waits_q + 3'd1;
      shown_q <= rst_ni && avail_i[c] != '0 && pop_o[c] == '0;
    end
    always_comb begin
      assume (avail_i[c] <= ((c < 2) ? 4'd8 : 4'd2));
      if (rst_ni && shown_q) assume (avail_i[c] != '0);
      if (rst_ni) begin
        taken : assert (waits_q < 3'(Bound));
        never_more : assert (pop_o[c] <= avail_i[c]);
      end
      waited : cover (rst_ni && waits_q == 3'd1);
    end
  end
  always_comb if (rst_ni) no_owner : assert (dut.u_arb.owner_q == '0);
endmodule
