// SPDX-License-Identifier: SHL-2.1
/// coherence_steer: each chunk leaves once, on one link; those of one message on the same; messages
/// of a link in order; a partition by the index alone.
module coherence_steer_props
  import coherence_pkg::*;
  import blocklink_pkg::*;
(
  input logic                   clk_i,
  input logic                   partition_i,
  input logic                   valid_i,
  input logic [3:0]             count_i,
  input word_t [ChunkWords-1:0] words_i,
  input logic [1:0]             ready_i
);
  logic rst_ni = 1'b0;
  always_ff @(posedge clk_i) rst_ni <= 1'b1;

  logic ready_o;
  logic [1:0] valid_o;
  logic [1:0][3:0] count_o;
  word_t [1:0][ChunkWords-1:0] words_o;
  coherence_steer #(.Pair(3'd2), .Depth(2)) dut (.*);

  // ---------------------------------------------------------------- what comes
  // Messages of circuits 4 and 5: of 17 words in chunks of 9 and 8, of 2 and of 1 in one.
  header_t header;
  logic [4:0] left_q, left;
  logic taken, first;
  logic partition_q;
  assign header = words_i[0];
  assign taken  = valid_i && ready_o;
  assign first  = left_q == '0;
  assign left   = first ? words_of(3'd2, header.opcode) : left_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) left_q <= '0;
    else if (taken) left_q <= left - 5'(count_i);
    partition_q <= partition_i;
  end
  always_comb begin
    assume (count_i == ((left > 5'd9) ? 4'd9 : left[3:0]));
    if (rst_ni) assume (partition_i == partition_q);
    if (rst_ni) same_message : assert (dut.gen_long.left_q == left_q);
  end

  // ---------------------------------------------------------------- what leaves
  logic link_q;  // of the message in progress
  logic [1:0] waits_q [2];
  logic [1:0] mine;
  assign mine = {valid_i && dut.link, valid_i && !dut.link};
  for (genvar l = 0; l < 2; l++) begin : gen_link
    // What waits is a queue: one more with each chunk of this link, one less with each that leaves.
    logic in, out;
    assign in  = mine[l] && ready_o;
    assign out = valid_o[l] && ready_i[l];
    always_ff @(posedge clk_i) begin
      if (!rst_ni) waits_q[l] <= '0;
      else waits_q[l] <= waits_q[l] + 2'(in) - 2'(out);
    end
    always_comb begin
      if (rst_ni) begin
        usage : assert (dut.usage[l] == waits_q[l]);
        none_lost : assert (waits_q[l] <= 2'd2);
        none_made : assert (!valid_o[l] || waits_q[l] != '0 || mine[l]);
        at_once : assert (!(mine[l] && waits_q[l] == '0) ||
                          (valid_o[l] && count_o[l] == count_i && words_o[l] == words_i));
      end
    end
    always_comb full : cover (rst_ni && waits_q[l] == 2'd2);
  end

  // ---------------------------------------------------------------- the choice
  always_ff @(posedge clk_i) if (taken) link_q <= dut.link;
  always_comb begin
    if (rst_ni && valid_i) begin
      whole : assert (first || dut.link == link_q);
      by_address : assert (!partition_i || !first || dut.link == ^header.index[IndexWidth-1:1]);
      by_room : assert (partition_i || !first ||
                        dut.usage[dut.link] <= dut.usage[~dut.link]);
      goes_on : assert (partition_i || !first || ready_o ||
                        (waits_q[0] == 2'd2 && waits_q[1] == 2'd2));
    end
    if (rst_ni && !first) message : assert (dut.last_q == link_q);
  end
endmodule
