// SPDX-License-Identifier: SHL-2.1
/// One virtual circuit toward the links, shared by a node's agent and its home.
///
///   Handshake   chunks in and out: valid/ready, as blocklink_pack takes them. Bit 0 is the agent,
///               bit 1 the home
///   Ordering    all chunks of a message together; messages of each of the two in order (proved:
///               formal/coherence/coherence_join.sby)
///   Latency     0 cycles
///   Throughput  a chunk a cycle, none lost between messages
///   Fairness    where both have a message they take turns (proved: formal/prim/arb_rr.sby)
///   Parameters  Pair: half the circuit's number, 1..5
module coherence_merge
  import coherence_pkg::*;
  import blocklink_pkg::word_t;
  import blocklink_pkg::ChunkWords;
#(
  parameter logic [2:0] Pair = 3'd2
) (
  input  logic                        clk_i,
  input  logic                        rst_ni,
  input  logic [1:0]                  valid_i,
  output logic [1:0]                  ready_o,
  input  logic [1:0][3:0]             count_i,
  input  word_t [1:0][ChunkWords-1:0] words_i,
  output logic                        valid_o,
  input  logic                        ready_i,
  output logic [3:0]                  count_o,
  output word_t [ChunkWords-1:0]      words_o
);
  localparam bit Long = Pair == 3'd1 || Pair == 3'd2;  // messages of more than a chunk

  logic last, taken;
  logic [1:0] turn;
  arb_rr #(.NumReq(2)) u_turn (
    .clk_i, .rst_ni, .req_i(valid_i), .last_i(taken && last), .gnt_o(turn), .idx_o()
  );
  assign valid_o = (turn & valid_i) != '0;
  assign taken   = valid_o && ready_i;
  assign ready_o = turn & {2{ready_i}};
  assign count_o = turn[1] ? count_i[1] : count_i[0];
  assign words_o = turn[1] ? words_i[1] : words_i[0];

  if (Long) begin : gen_long
    logic [4:0] left_q, left;  // words of the message in progress
    header_t header;
    assign header = words_o[0];
    assign left   = (left_q == '0) ? words_of(Pair, header.opcode) : left_q;
    assign last   = left == 5'(count_o);
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) left_q <= '0;
      else if (taken) left_q <= left - 5'(count_o);
    end
    logic unused;
    assign unused = ^header;
  end else begin : gen_short
    assign last = 1'b1;
  end
endmodule
