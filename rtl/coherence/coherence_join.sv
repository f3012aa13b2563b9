// SPDX-License-Identifier: SHL-2.1
/// A node's agent and its home on the same 13 virtual circuits.
///
/// agent, home -> coherence_merge of circuits 4, 5, 10, 11; the others are of one of them alone
/// links -> coherence_route of 4, 5, 10, 11; requests (2, 3, 6, 7) to the home, forwards (8, 9) to
/// the agent (docs/explanation/cores/coherence.md)
///
///   Handshake   circuits: as blocklink_core. Index 0 is the agent, index 1 the home
///   Coherence   what is received waits for nothing that is sent: rx_pop_o depends on pop_i alone
///               (proved: formal/coherence/coherence_join.sby)
///   Ordering    as coherence_merge and coherence_route
///   Latency     0 cycles each way
///   Parameters  NumLinks 1..2
///   Not done    circuits 0, 1 and 12, which are not of lines: what comes there is dropped
module coherence_join
  import coherence_node_pkg::*;
  import blocklink_pkg::NumVcs;
  import blocklink_pkg::ChunkWords;
  import blocklink_pkg::word_t;
#(
  parameter int unsigned NumLinks = 1
) (
  input  logic                                       clk_i,
  input  logic                                       rst_ni,
  input  circuits_t [1:0]                            tx_i,
  output logic      [1:0][NumVcs-1:0]                tx_ready_o,
  output circuits_t                                  tx_o,
  input  logic      [NumVcs-1:0]                     tx_ready_i,
  input  word_t     [NumLinks-1:0][NumVcs-1:0][7:0]  words_i,
  input  logic      [NumLinks-1:0][NumVcs-1:0][3:0]  avail_i,
  output logic      [NumLinks-1:0][NumVcs-1:0][3:0]  pop_o,
  output logic [1:0][NumLinks-1:0][NumVcs-1:0][3:0]  avail_o,
  input  logic [1:0][NumLinks-1:0][NumVcs-1:0][3:0]  pop_i,
  output logic                                       stray_o
);
  logic [NumLinks-1:0][NumVcs-1:0] stray;
  assign stray_o = stray != '0;

  for (genvar v = 0; v < int'(NumVcs); v++) begin : gen_vc
    if (v inside {4, 5, 10, 11}) begin : gen_shared
      coherence_merge #(.Pair(3'(v / 2))) u_merge (
        .clk_i, .rst_ni, .valid_i({tx_i[1].valid[v], tx_i[0].valid[v]}),
        .ready_o({tx_ready_o[1][v], tx_ready_o[0][v]}),
        .count_i({tx_i[1].count[v], tx_i[0].count[v]}),
        .words_i({tx_i[1].words[v], tx_i[0].words[v]}),
        .valid_o(tx_o.valid[v]), .ready_i(tx_ready_i[v]), .count_o(tx_o.count[v]),
        .words_o(tx_o.words[v])
      );
    end else begin : gen_own
      // Requests are the agent's, forwards the home's.
      localparam bit Sender = v inside {8, 9};
      assign tx_o.valid[v]          = tx_i[Sender].valid[v];
      assign tx_o.count[v]          = tx_i[Sender].count[v];
      assign tx_o.words[v]          = tx_i[Sender].words[v];
      assign tx_ready_o[Sender][v]  = tx_ready_i[v];
      assign tx_ready_o[!Sender][v] = 1'b0;
    end
    for (genvar l = 0; l < int'(NumLinks); l++) begin : gen_link
      if (v inside {4, 5, 10, 11}) begin : gen_shared
        coherence_route #(.Pair(3'(v / 2))) u_route (
          .clk_i, .rst_ni, .head_i(words_i[l][v][0]), .avail_i(avail_i[l][v]), .pop_o(pop_o[l][v]),
          .avail_o({avail_o[1][l][v], avail_o[0][l][v]}),
          .pop_i({pop_i[1][l][v], pop_i[0][l][v]}), .stray_o(stray[l][v])
        );
      end else begin : gen_own
        localparam bit Lines = v inside {2, 3, 6, 7, 8, 9};
        localparam bit Taker = !(v inside {8, 9});
        assign avail_o[Taker][l][v]  = Lines ? avail_i[l][v] : '0;
        assign avail_o[!Taker][l][v] = '0;
        assign pop_o[l][v]           = Lines ? pop_i[Taker][l][v] : avail_i[l][v];
        assign stray[l][v]           = 1'b0;
      end
    end
  end
  logic unused;
  assign unused = ^{words_i, tx_i, pop_i};
endmodule
