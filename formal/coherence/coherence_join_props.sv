// SPDX-License-Identifier: SHL-2.1
/// coherence_join: what is sent of circuits 4, 5, 10 and 11 is whole messages of the agent and of
/// the home, no chunk lost or made; each received message goes to exactly one of the two, whole,
/// and what is received depends on nothing that is sent.
module coherence_join_props
  import coherence_pkg::*;
  import coherence_node_pkg::*;
  import blocklink_pkg::*;
(
  input logic                               clk_i,
  input circuits_t [1:0]                    tx_i,
  input logic [NumVcs-1:0]                  tx_ready_i,
  input circuits_t [1:0]                    other_tx_i,
  input logic [NumVcs-1:0]                  other_ready_i,
  input word_t [0:0][NumVcs-1:0][7:0]       words_i,
  input logic [0:0][NumVcs-1:0][3:0]        avail_i,
  input logic [1:0][0:0][NumVcs-1:0][3:0]   pop_i
);
  logic rst_ni = 1'b0;
  always_ff @(posedge clk_i) rst_ni <= 1'b1;

  logic [1:0][NumVcs-1:0] tx_ready_o, other_tx_ready;
  circuits_t tx_o, other_tx;
  logic [0:0][NumVcs-1:0][3:0] pop_o, other_pop;
  logic [1:0][0:0][NumVcs-1:0][3:0] avail_o, other_avail;
  logic stray_o, other_stray;
  coherence_join dut (.*);
  // The same with anything else that is sent, and taken by the links.
  coherence_join other (
    .clk_i, .rst_ni, .tx_i(other_tx_i), .tx_ready_o(other_tx_ready), .tx_o(other_tx),
    .tx_ready_i(other_ready_i), .words_i, .avail_i, .pop_o(other_pop), .avail_o(other_avail),
    .pop_i, .stray_o(other_stray)
  );
  always_comb begin
    if (rst_ni) begin
      sink : assert (pop_o == other_pop && avail_o == other_avail && stray_o == other_stray);
    end
  end

  for (genvar c = 0; c < 4; c++) begin : gen_circuit
    localparam int unsigned V = (c < 2) ? 4 + c : 8 + c;
    localparam logic [2:0] Pair = 3'(V / 2);

    // ------------------------------------------------------------ what is sent
    // Of each of the two: words of its message in progress that have not left.
    logic [4:0] left_q [2];
    logic [1:0] out, goes_on;
    for (genvar a = 0; a < 2; a++) begin : gen_sender
      header_t header;
      logic [4:0] left;
      assign header = tx_i[a].words[V][0];
      assign left   = (left_q[a] == '0) ? words_of(Pair, header.opcode) : left_q[a];
      assign out[a] = tx_i[a].valid[V] && tx_ready_o[a][V];
      assign goes_on[a] = left_q[a] != '0;
      always_ff @(posedge clk_i) begin
        if (!rst_ni) left_q[a] <= '0;
        else if (out[a]) left_q[a] <= left - 5'(tx_i[a].count[V]);
      end
      always_comb begin
        assume (tx_i[a].count[V] == ((left > 5'd9) ? 4'd9 : left[3:0]));
        if (rst_ni && out[a]) begin
          as_given : assert (tx_o.valid[V] && tx_ready_i[V] &&
                             tx_o.count[V] == tx_i[a].count[V] &&
                             tx_o.words[V] == tx_i[a].words[V]);
          whole : assert (!goes_on[1-a]);
        end
      end
    end
    logic [1:0] offered_q;
    always_ff @(posedge clk_i) begin
      for (int a = 0; a < 2; a++) offered_q[a] <= rst_ni && tx_i[a].valid[V] && !out[a];
    end
    always_comb begin
      // A chunk stays offered; between chunks of a message none need be.
      for (int a = 0; a < 2; a++) if (offered_q[a]) assume (tx_i[a].valid[V]);
      if (rst_ni) begin
        one_leaves : assert ((tx_o.valid[V] && tx_ready_i[V]) == (out != '0));
        not_both : assert (out != 2'b11);
        one_in_progress : assert (goes_on != 2'b11);
        goes : assert (!(tx_ready_i[V] && goes_on == '0 && (tx_i[0].valid[V] || tx_i[1].valid[V]))
                       || out != '0);
      end
    end

    // ------------------------------------------------------------ what is received
    // The first word shown is of the message in progress, or begins one.
    header_t head;
    message_e message;
    logic [4:0] more_q, more;
    logic home_q, first, home, known;
    logic [3:0] pop;
    assign head    = words_i[0][V][0];
    assign message = message_of(Pair, head.opcode);
    assign first   = more_q == '0;
    assign more    = first ? words_of(Pair, head.opcode) : more_q;
    // Answers of a home are for the agent, all others for the home.
    assign home    = first ? !(message inside {MsgPsha, MsgPemd, MsgPdat, MsgPatm, MsgPack})
                           : home_q;
    assign known   = !first || message != MsgNone;
    assign pop     = pop_o[0][V];
    always_ff @(posedge clk_i) begin
      if (!rst_ni) more_q <= '0;
      else if (pop != '0 && known) more_q <= more - 5'(pop);
      if (first) home_q <= home;
    end
    always_comb begin
      for (int a = 0; a < 2; a++) assume (pop_i[a][0][V] <= avail_o[a][0][V]);
      assume (avail_i[0][V] <= 4'd8);
      if (rst_ni && avail_i[0][V] != '0) begin
        one_sees : assert ((avail_o[0][0][V] != '0) == (known && !home));
        other_sees : assert ((avail_o[1][0][V] != '0) == (known && home));
        own_words : assert (5'(avail_o[home][0][V]) ==
                            (known ? ((5'(avail_i[0][V]) < more) ? 5'(avail_i[0][V]) : more) : '0));
        taken_as_seen : assert (pop == (known ? pop_i[home][0][V] : 4'd1));
        unknown : assert (known || stray_o);
      end
      if (rst_ni && avail_i[0][V] == '0) begin
        none : assert (pop == '0 && avail_o[0][0][V] == '0 && avail_o[1][0][V] == '0);
      end
      if (rst_ni) bound : assert (more_q <= 5'd17);
      to_each : cover (rst_ni && first && home && pop != '0 && home_q == 1'b0);
    end

    // ------------------------------------------------------------ what the modules know of it
    if (Pair == 3'd2) begin : gen_long
      always_comb begin
        if (rst_ni) begin
          same_route : assert (
              dut.gen_vc[V].gen_link[0].gen_shared.u_route.gen_long.left_q == more_q &&
              other.gen_vc[V].gen_link[0].gen_shared.u_route.gen_long.left_q == more_q);
          same_owner : assert (first ||
              (dut.gen_vc[V].gen_link[0].gen_shared.u_route.gen_long.home_q == home_q &&
               other.gen_vc[V].gen_link[0].gen_shared.u_route.gen_long.home_q == home_q));
          same_merge : assert (dut.gen_vc[V].gen_shared.u_merge.gen_long.left_q ==
                               (left_q[0] | left_q[1]));
          held : assert (goes_on == '0 ||
                         dut.gen_vc[V].gen_shared.u_merge.u_turn.owner_q == goes_on);
        end
        second : cover (rst_ni && out[1] && !goes_on[1] && offered_q[0]);
      end
    end
    always_comb begin
      if (rst_ni) begin
        short : assert (Pair == 3'd2 || (goes_on == '0 && more_q == '0));
        turn : assert (dut.gen_vc[V].gen_shared.u_merge.u_turn.owner_q != 2'b11);
        waits : assert (goes_on != '0 || (dut.gen_vc[V].gen_shared.u_merge.u_turn.owner_q &
                                          ~offered_q) == '0);
      end
    end
  end

  // The circuits of one alone.
  always_comb begin
    if (rst_ni) begin
      requests : assert (tx_o.valid[6] == tx_i[0].valid[6] && tx_o.words[6] == tx_i[0].words[6] &&
                         avail_o[1][0][6] == avail_i[0][6] && avail_o[0][0][6] == '0 &&
                         pop_o[0][6] == pop_i[1][0][6]);
      forwards : assert (tx_o.valid[8] == tx_i[1].valid[8] && tx_o.words[8] == tx_i[1].words[8] &&
                         avail_o[0][0][8] == avail_i[0][8] && avail_o[1][0][8] == '0 &&
                         pop_o[0][8] == pop_i[0][0][8]);
    end
  end
endmodule
