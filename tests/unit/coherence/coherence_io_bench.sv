// SPDX-License-Identifier: SHL-2.1
/// Two ends' I/O, interrupts and barriers, whose circuits are joined by buffers that let words
/// through at random times. An agent of lines at each end sends words of circuits 6 and 10 that
/// count up, and checks those that come.
module coherence_io_bench
  import coherence_io_pkg::*;
  import coherence_node_pkg::*;
  import blocklink_pkg::*;
(
  input  logic              clk_i,
  input  logic              rst_ni,
  input  logic [NumVcs-1:0] pass_i,
  input  logic              agents_i,  // the agents send
  input  logic [1:0]        req_valid_i,
  output logic [1:0]        req_ready_o,
  input  logic [1:0][1:0]   req_kind_i,
  input  logic [1:0][39:0]  req_address_i,
  input  logic [1:0][7:0]   req_mask_i,
  input  logic [1:0][7:0]   req_tag_i,
  input  logic [1:0][63:0]  req_data_i,
  output logic [1:0]        rsp_valid_o,
  output logic [1:0][7:0]   rsp_tag_o,
  output logic [1:0][63:0]  rsp_data_o,
  output logic [1:0]        event_valid_o,
  output logic [1:0]        event_ipi_o,
  output logic [1:0][39:0]  event_address_o,
  input  logic [1:0]        quiet_i,
  output logic [1:0]        hold_o,
  output logic              early_o,  // GSYNC left while not quiet
  output logic [31:0]       agents_o, // words that the agents got
  output logic              wrong_o,
  output logic              stray_o
);
  localparam int unsigned Six = 0;
  localparam int unsigned Ten = 1;
  logic [1:0][NumVcs-1:0] valid, ready, agent_valid, agent_ready;
  logic [1:0][NumVcs-1:0][3:0] count, avail, pop, agent_count, agent_avail, agent_pop;
  word_t [1:0][NumVcs-1:0][ChunkWords-1:0] words, agent_words;
  word_t [1:0][NumVcs-1:0][7:0] shown;
  logic [1:0] stray, early;
  logic [1:0][1:0] wrong, got;
  assign stray_o = stray != '0;

  for (genvar e = 0; e < 2; e++) begin : gen_end
    io_req_t req;
    io_rsp_t rsp;
    io_event_t what;
    circuits_t circuits;
    coherence_io #(.NumWords(16)) u_io (
      .clk_i, .rst_ni, .req_i(req), .req_ready_o(req_ready_o[e]), .rsp_o(rsp), .event_o(what),
      .window_o(), .window_data_i('0),
      .quiet_i(quiet_i[e]), .hold_o(hold_o[e]),
      .agent_i({agent_valid[e], agent_count[e], agent_words[e]}), .agent_ready_o(agent_ready[e]),
      .agent_avail_o(agent_avail[e]), .agent_pop_i(agent_pop[e]), .circuits_o(circuits),
      .ready_i(ready[e]), .words_i(shown[e]), .avail_i(avail[e]), .pop_o(pop[e]),
      .stray_o(stray[e])
    );
    assign req = '{
      valid: req_valid_i[e], kind: io_kind_e'(req_kind_i[e]), address: req_address_i[e],
      mask: req_mask_i[e], tag: req_tag_i[e], data: req_data_i[e]
    };
    assign {rsp_valid_o[e], rsp_tag_o[e], rsp_data_o[e]} = rsp;
    assign {event_valid_o[e], event_ipi_o[e], event_address_o[e]} = what;
    assign {valid[e], count[e], words[e]} = circuits;
    assign early[e] = valid[e][6] && ready[e][6] && words[e][6][0][63:59] == OpGsync &&
                      !quiet_i[e];

    // The agent: one word a message, which counts up.
    logic [1:0][31:0] sent_q, seen_q;
    for (genvar c = 0; c < 2; c++) begin : gen_agent
      localparam int unsigned V = (c == Six) ? 6 : 10;
      assign agent_valid[e][V] = agents_i;
      assign agent_count[e][V] = 4'd1;
      assign agent_words[e][V] = {512'd0, 32'd0, sent_q[c]};
      assign agent_pop[e][V]   = (agent_avail[e][V] != '0) ? 4'd1 : '0;
      assign got[e][c]   = agent_avail[e][V] != '0;
      assign wrong[e][c] = got[e][c] && shown[e][V][0] != {32'd0, seen_q[c]};
      always_ff @(posedge clk_i or negedge rst_ni) begin
        if (!rst_ni) begin
          {sent_q[c], seen_q[c]} <= '0;
        end else begin
          if (agent_valid[e][V] && agent_ready[e][V]) sent_q[c] <= sent_q[c] + 32'd1;
          if (got[e][c]) seen_q[c] <= seen_q[c] + 32'd1;
        end
      end
    end
    for (genvar v = 0; v < int'(NumVcs); v++) begin : gen_vc
      if (!(v inside {6, 10})) begin : gen_none
        assign agent_valid[e][v] = 1'b0;
        assign agent_count[e][v] = '0;
        assign agent_words[e][v] = '0;
        assign agent_pop[e][v]   = agent_avail[e][v];
      end
      // Words that do not pass are shown to the buffer, too: they must not harm what is in it.
      logic [BlockWords-1:0] mask;
      logic [9:0] room_q;
      assign ready[e][v] = pass_i[v] && valid[e][v] && room_q >= 10'd2;
      always_comb begin
        for (int unsigned i = 0; i < BlockWords; i++) mask[i] = 4'(i) < count[e][v];
      end
      blocklink_words #(.Depth(16), .Window(2)) u_words (
        .clk_i, .rst_ni, .mask_i(mask), .words_i(words[e][v][6:0]), .commit_i(ready[e][v]),
        .words_o(shown[1-e][v]), .avail_o(avail[1-e][v]), .pop_i(pop[1-e][v])
      );
      always_ff @(posedge clk_i or negedge rst_ni) begin
        if (!rst_ni) room_q <= 10'd16;
        else room_q <= room_q - (ready[e][v] ? 10'(count[e][v]) : '0) + 10'(pop[1-e][v]);
      end
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {wrong_o, early_o} <= '0;
      agents_o           <= '0;
    end else begin
      if (wrong != '0) wrong_o <= 1'b1;
      if (early != '0) early_o <= 1'b1;
      agents_o <= agents_o + 32'($countones(got));
    end
  end
endmodule
