// SPDX-License-Identifier: SHL-2.1
/// coherence_responses: responses are sinks. Whatever words come, one that is shown is taken within
/// 4 cycles. A message is given once, whole, with its own words, as what its circuit and code say,
/// and one is given in each cycle in which any is there.
///
/// One word of each message with a line is watched; which one is free.
module coherence_responses_props
  import coherence_pkg::*;
  import blocklink_pkg::*;
(
  input logic             clk_i,
  input word_t [3:0][7:0] words_i,
  input logic [3:0][3:0]  avail_i,
  input logic [4:0]       place_i  // of the watched word
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

  // ---------------------------------------------------------------- messages
  logic [4:0] place_q;
  always_ff @(posedge clk_i) place_q <= rst_ni ? place_q : place_i;
  always_comb assume (place_q >= 5'd1 && place_q <= 5'd16);

  word_t [15:0] data;
  assign data = rsp_data_o;
  logic [3:0] given, ready;  // of each circuit: its message is in rsp_*, or it has one
  assign given = dut.gnt[0];
  for (genvar c = 0; c < 2; c++) begin : gen_line
    // Words of the message that is not given yet which were taken: how many, the first, the watched
    // one.
    logic [4:0] taken_q, total, base;
    word_t first_q, word_q, first, word;
    header_t head;
    logic whole;
    assign head  = taken_q != '0 ? first_q : words_i[c][0];
    assign total = words_of(3'd2, head.opcode);
    assign whole = taken_q != '0 && taken_q == total;
    assign base  = whole ? '0 : taken_q;
    assign first = taken_q != '0 ? first_q : words_i[c][0];
    assign word  = place_q < taken_q ? word_q : words_i[c][3'(place_q - taken_q)];
    assign ready[c] = whole || (avail_i[c] != '0 && taken_q + 5'(avail_i[c]) >= total);
    always_ff @(posedge clk_i) begin
      if (!rst_ni) taken_q <= '0;
      else if (given[c] && !whole) taken_q <= '0;
      else if (given[c]) taken_q <= 5'(pop_o[c]);
      else taken_q <= taken_q + 5'(pop_o[c]);
      if (base == '0 && pop_o[c] != '0) first_q <= words_i[c][0];
      if (place_q >= base && place_q < base + 5'(pop_o[c])) begin
        word_q <= words_i[c][3'(place_q - base)];
      end
    end
    always_comb begin
      if (rst_ni) begin
        if (given[c]) begin
          complete : assert (whole || taken_q + 5'(pop_o[c]) == total);
          said : assert (rsp_side_o == 1'(c) && rsp_header_o == header_t'(first) &&
                         rsp_message_o == message_of(3'd2, head.opcode));
          if (place_q < total) its_word : assert (data[4'(place_q - 5'd1)] == word);
        end
        // What can be taken is.
        if (!whole && !ready[c]) all : assert (pop_o[c] == avail_i[c]);
        waits : assert (!whole || given[c] || pop_o[c] == '0);
        // For induction.
        counted : assert (dut.gen_link[0].gen_rx[c].u_line.count_q == taken_q);
        few : assert (taken_q == '0 || taken_q <= total);
        if (taken_q != '0) begin
          head_kept : assert (dut.gen_link[0].gen_rx[c].u_line.buffer_q[0] == first_q);
        end
        if (place_q < taken_q) begin
          kept : assert (dut.gen_link[0].gen_rx[c].u_line.buffer_q[place_q] == word_q);
        end
      end
    end
  end
  for (genvar c = 2; c < 4; c++) begin : gen_word
    header_t head;
    assign head     = words_i[c][0];
    assign ready[c] = avail_i[c] != '0;
    always_comb begin
      if (rst_ni) begin
        one : assert (pop_o[c] == 4'(given[c]));
        if (given[c]) begin
          said : assert (rsp_side_o == 1'(c) && rsp_header_o == head &&
                         rsp_message_o == message_of(3'd5, head.opcode));
        end
      end
    end
  end
  always_comb begin
    if (rst_ni) begin
      some : assert (rsp_valid_o == (ready != '0) && rsp_valid_o == (given != '0));
      one_only : assert ((given & (given - 4'd1)) == '0 && (given & ~ready) == '0);
    end
  end
  always_comb if (rst_ni) no_owner : assert (dut.u_arb.owner_q == '0);
endmodule
