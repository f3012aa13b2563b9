// SPDX-License-Identifier: SHL-2.1
/// coherence_home: whatever requests come and whenever memory answers, a line has one transaction
/// at most, a tag is used again only when it is free, and a load is answered with a line, a store
/// without one. Of memory it is assumed that it answers what it was asked, once.
module coherence_home_props
  import coherence_pkg::*;
  import blocklink_pkg::*;
(
  input logic                    clk_i,
  input word_t [NumVcs-1:0][7:0] words_i,
  input logic [NumVcs-1:0][3:0]  avail_i,
  input logic [NumVcs-1:0]       ready_i,
  input logic                    mem_req_ready_i,
  input logic                    mem_rsp_valid_i,
  input logic [7:0]              mem_rsp_tag_i,
  input line_t                   mem_rsp_data_i
);
  localparam int unsigned NumTbe = 2;
  logic rst_ni = 1'b0;
  always_ff @(posedge clk_i) rst_ni <= 1'b1;

  logic [NumVcs-1:0][3:0] pop_o, count_o;
  logic [NumVcs-1:0] valid_o;
  word_t [NumVcs-1:0][ChunkWords-1:0] words_o;
  logic mem_req_valid_o, mem_req_write_o, mem_rsp_ready_o, stray_o;
  index_t mem_req_index_o;
  logic [7:0] mem_req_tag_o;
  mask_t mem_req_mask_o;
  line_t mem_req_data_o;
  coherence_home #(.NumTbe(NumTbe), .NumLinks(1)) dut (.*);

  // What memory was asked, by tag.
  logic [NumTbe-1:0] stores_q;
  always_ff @(posedge clk_i) begin
    if (mem_req_valid_o && mem_req_ready_i) stores_q[mem_req_tag_o[0]] <= mem_req_write_o;
  end

  // What a circuit shows stays until it is taken.
  logic [NumVcs-1:0] shown_q;
  word_t [NumVcs-1:0][7:0] words_q;
  logic [NumVcs-1:0][3:0] avail_q;
  always_ff @(posedge clk_i) begin
    words_q <= words_i;
    avail_q <= avail_i;
    for (int unsigned v = 0; v < NumVcs; v++) shown_q[v] <= rst_ni && pop_o[v] == '0;
  end
  always_comb begin
    for (int unsigned v = 0; v < NumVcs; v++) begin
      assume (avail_i[v] <= 4'd8);
      if (rst_ni && shown_q[v]) begin
        assume (avail_i[v] >= avail_q[v] && (avail_q[v] == '0 || words_i[v][0] == words_q[v][0]));
      end
    end
  end

  logic [1:0] lines, acks;
  for (genvar s = 0; s < 2; s++) begin : gen_side
    assign lines[s] = dut.gen_tx[s].u_line.valid_i;
    assign acks[s]  = dut.gen_tx[s].u_ack.valid_i;
    // For the induction: a buffer has no more words than its message.
    always_comb if (rst_ni && dut.gen_link[0].gen_rx[s].u_line.count_q != '0) begin
      buffered : assert (dut.gen_link[0].gen_rx[s].u_line.count_q <=
                         words_of(3'd1, dut.gen_link[0].gen_rx[s].u_line.kept.opcode));
    end
  end
  always_comb begin
    if (mem_rsp_valid_i) assume (mem_rsp_tag_i < 8'(NumTbe) && dut.open_q[mem_rsp_tag_i[0]]);
    if (rst_ni) begin
      // A grant that memory does not take stays, and its request too.
      held : assert ($onehot0(dut.u_arb.owner_q) && (dut.u_arb.owner_q & ~dut.req_able) == '0);
      one_a_line : assert (dut.open_q != '1 || dut.tbe_q[0].index != dut.tbe_q[1].index);
      next_free  : assert (!dut.free_q || !dut.open_q[dut.next_q]);
      if (mem_req_valid_o) begin
        fresh : assert (mem_req_tag_o < 8'(NumTbe) && !dut.open_q[mem_req_tag_o[0]]);
      end
      if (mem_rsp_valid_i) begin
        one_answer : assert ($onehot({lines, acks}));
        its_answer : assert ((lines != '0) == !stores_q[mem_rsp_tag_i[0]]);
      end
      both_open : cover (dut.open_q == '1);
      stored    : cover (acks != '0 && mem_rsp_ready_o);
    end
  end
  for (genvar i = 0; i < int'(NumTbe); i++) begin : gen_tbe
    always_comb if (rst_ni && dut.open_q[i]) begin
      kept : assert (dut.tbe_q[i].answer == (stores_q[i] ? MsgPack : MsgPdat));
    end
  end
endmodule
