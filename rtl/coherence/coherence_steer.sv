// SPDX-License-Identifier: SHL-2.1
/// Puts the messages of one virtual circuit on the same circuit of two links.
///
/// Balance: a message takes the link whose queue has more room, of equal ones the other than the
/// last message took. Partition: the link is the parity of the line index above its lowest bit,
/// which selects the circuit. The map is its own inverse: bit 1 of an index exchanged for the link
/// is a hash without collisions, and a power of two as a stride uses both links.
///
///   Handshake   chunks in and out: valid/ready, as blocklink_pack takes them; ready_o depends on
///               no ready of a link
///   Ordering    all chunks of a message on one link (proved:
///               formal/coherence/coherence_steer.sby); messages of one link in order, of two links
///               in any
///   Latency     0 cycles while the link's queue is empty
///   Throughput  a chunk a cycle
///   Choice      partition_i: 0 balance, 1 partition; constant after reset
///   Parameters  Pair: half the circuit's number, 0..6; Depth: chunks that wait for a link, a power
///               of two, 2..16
///   Not done    messages without a line index, of circuits 0, 1 and 12: always on link 0
module coherence_steer
  import coherence_pkg::*;
  import blocklink_pkg::word_t;
  import blocklink_pkg::ChunkWords;
#(
  parameter logic [2:0]  Pair  = 3'd2,
  parameter int unsigned Depth = 4
) (
  input  logic                        clk_i,
  input  logic                        rst_ni,
  input  logic                        partition_i,
  input  logic                        valid_i,
  output logic                        ready_o,
  input  logic [3:0]                  count_i,
  input  word_t [ChunkWords-1:0]      words_i,
  output logic [1:0]                  valid_o,
  input  logic [1:0]                  ready_i,
  output logic [1:0][3:0]             count_o,
  output word_t [1:0][ChunkWords-1:0] words_o
);
  if (Depth < 2 || Depth > 16 || (Depth & (Depth - 1)) != 0) begin : gen_depth_check
    $error("coherence_steer: Depth is %0d, legal is a power of two, 2..16", Depth);
  end

  localparam bit Lined = Pair != 3'd0 && Pair != 3'd6;
  localparam bit Long  = Pair == 3'd1 || Pair == 3'd2;  // messages with a line
  localparam int unsigned Words = Long ? ChunkWords : (Pair == 3'd0) ? 2 : 1;
  localparam int unsigned UsageWidth = $clog2(Depth) + 1;

  // ---------------------------------------------------------------- the link of a message
  logic [1:0] ready;
  logic [1:0][UsageWidth-1:0] usage;
  logic first, taken, last_q, choice, link;
  header_t header;
  assign header = words_i[0];
  assign taken  = valid_i && ready_o;
  always_comb begin
    choice = ~last_q;
    if (usage[0] != usage[1]) choice = usage[1] < usage[0];
    if (partition_i) choice = ^header.index[IndexWidth-1:1];
    if (!Lined) choice = 1'b0;
  end
  assign link    = first ? choice : last_q;
  assign ready_o = ready[link];

  if (Long) begin : gen_long
    logic [4:0] left_q, left;
    assign first = left_q == '0;
    assign left  = first ? words_of(Pair, header.opcode) : left_q;
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) left_q <= '0;
      else if (taken) left_q <= left - 5'(count_i);
    end
  end else begin : gen_short
    assign first = 1'b1;
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) last_q <= 1'b1;
    else if (taken) last_q <= link;
  end

  // ---------------------------------------------------------- a queue a link, bypassed while empty
  for (genvar l = 0; l < 2; l++) begin : gen_link
    logic mine, waits, passes;
    logic [3:0] count;
    word_t [Words-1:0] words;
    assign mine   = valid_i && link == 1'(l);
    assign passes = !waits && ready_i[l];
    fifo #(.Width(4 + $bits(words)), .Depth(Depth)) u_wait (
      .clk_i, .rst_ni, .clear_i(1'b0),
      .valid_i(mine && !passes), .ready_o(ready[l]), .data_i({count_i, words_i[Words-1:0]}),
      .valid_o(waits), .ready_i(ready_i[l]), .data_o({count, words}), .usage_o(usage[l])
    );
    assign valid_o[l] = waits || mine;
    assign count_o[l] = waits ? count : count_i;
    always_comb begin
      words_o[l] = '0;
      words_o[l][Words-1:0] = waits ? words : words_i[Words-1:0];
    end
  end

  logic unused;
  assign unused = ^{words_i, header};
endmodule
