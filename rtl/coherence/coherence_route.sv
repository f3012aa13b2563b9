// SPDX-License-Identifier: SHL-2.1
/// Received responses of one virtual circuit, each to a node's agent or to its home.
///
/// What a home sends is for the agent, what an agent sends for the home: a message's code says
/// which (`for_home`). An index is of the memory that this home has, so it need not be compared.
///
///   Handshake   words: as blocklink_depack shows them. Each of the two sees the words of its own
///               message at the head of the circuit, and no other's
///   Ordering    messages in order, each to exactly one of the two (proved:
///               formal/coherence/coherence_join.sby)
///   Latency     0 cycles
///   Throughput  8 words a cycle; behind a message's last word the next message is shown in the
///               next cycle
///   Parameters  Pair: half the circuit's number, 2 or 5
///   Not done    a word that begins no message is dropped, with stray_o
module coherence_route
  import coherence_pkg::*;
  import coherence_sender_pkg::for_home;
  import blocklink_pkg::word_t;
#(
  parameter logic [2:0] Pair = 3'd2
) (
  input  logic            clk_i,
  input  logic            rst_ni,
  input  word_t           head_i,       // the first word that is shown
  input  logic [3:0]      avail_i,
  output logic [3:0]      pop_o,
  output logic [1:0][3:0] avail_o,      // of the agent, of the home
  input  logic [1:0][3:0] pop_i,
  output logic            stray_o
);
  if (Pair != 3'd2 && Pair != 3'd5) begin : gen_pair_check
    $error("coherence_route: Pair is %0d, legal is 2, 5", Pair);
  end

  header_t header;
  message_e message;
  logic known, to_home;
  logic [4:0] left;
  logic [3:0] shown;
  assign header  = head_i;
  assign message = message_of(Pair, header.opcode);
  assign shown   = (5'(avail_i) < left) ? avail_i : left[3:0];
  always_comb begin
    avail_o = '0;
    if (known) avail_o[to_home] = shown;
    pop_o = !known ? 4'(avail_i != '0) : to_home ? pop_i[1] : pop_i[0];
  end
  assign stray_o = avail_i != '0 && !known;

  if (Pair == 3'd2) begin : gen_long
    // Of the message in progress: words that have not been taken, and whose it is.
    logic [4:0] left_q;
    logic first, home_q;
    assign first   = left_q == '0;
    assign left    = first ? words_of(Pair, header.opcode) : left_q;
    assign known   = !first || message != MsgNone;
    assign to_home = first ? for_home(message) : home_q;
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) left_q <= '0;
      else left_q <= (pop_o == '0 && first) ? '0 : left - 5'(pop_o);
    end
    always_ff @(posedge clk_i) if (first) home_q <= to_home;
  end else begin : gen_short
    assign left    = 5'd1;
    assign known   = message != MsgNone;
    assign to_home = for_home(message);
    logic unused_clocks;
    assign unused_clocks = ^{clk_i, rst_ni};
  end
  logic unused;
  assign unused = ^header;
endmodule
