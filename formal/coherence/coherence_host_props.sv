// SPDX-License-Identifier: SHL-2.1
/// coherence_host: taking responses depends on nothing but responses; each response, request and
/// answer of memory goes to the one home of its line, which is asked for no line of the other
/// parity; an operation of the host is answered once, and its response has a place; what is sent
/// is one home's message.
///
/// Any words on the circuits, any memory, and stand-ins for the homes that take and send whatever
/// they may: two homes of each parity, one link. Tags are only carried, so what holds for tag 0
/// holds for each.
module coherence_host_props
  import coherence_pkg::*;
  import blocklink_pkg::*;
(
  input logic       clk_i,
  input logic       req_valid_i,
  input line_kind_e req_kind_i,
  input logic       req_write_i,
  input index_t     req_index_i,
  input logic [7:0] req_tag_i,
  input mask_t      req_mask_i,
  input line_t      req_data_i,
  input word_t [0:0][NumVcs-1:0][7:0] words_i,
  input logic [0:0][NumVcs-1:0][3:0]  avail_i,
  input logic [NumVcs-1:0] ready_i,
  input logic       mem_req_ready_i,
  input logic       mem_rsp_valid_i,
  input logic [7:0] mem_rsp_tag_i,
  input line_t      mem_rsp_data_i,
  input coherence_look_pkg::look_t look_i
);
  localparam int unsigned Tbes = 4;  // of a home
  logic rst_ni = 1'b0;
  always_ff @(posedge clk_i) rst_ni <= 1'b1;

  logic req_ready_o, rsp_valid_o, stray_o, mem_req_valid_o, mem_req_write_o, mem_rsp_ready_o;
  logic [7:0] rsp_tag_o, mem_req_tag_o;
  line_t rsp_data_o, mem_req_data_o;
  mask_t mem_req_mask_o;
  index_t mem_req_index_o;
  logic [0:0][NumVcs-1:0][3:0] pop_o;
  logic [NumVcs-1:0] valid_o;
  logic [NumVcs-1:0][3:0] count_o;
  word_t [NumVcs-1:0][ChunkWords-1:0] words_o;
  coherence_look_pkg::looked_t looked_o;
  coherence_host #(.Sets(8), .Ways(2), .NumTbe(4 * Tbes), .NumLinks(1), .Homes(2),
                   .Look(1'b1)) dut (.*);

  // By home h: parity h % 2, and bit 1 of the index h / 2.
  logic [3:0] to_home, mem_asked, mem_answered, open_zero;
  logic [3:0][7:0] open;
  for (genvar s = 0; s < 2; s++) begin : gen_side
    // ------------------------------------------------------------ responses are sinks
    // The same responses alone, with nothing else at hand: they are taken in the same cycles.
    logic some, side;
    logic [0:0][3:0][3:0] alone_avail, alone_pop;
    header_t alone;
    message_e alone_message;
    line_t alone_line;
    for (genvar o = 0; o < 2; o++) begin : gen_mine
      assign alone_avail[0][o]   = o == s ? avail_i[0][4+o] : '0;
      assign alone_avail[0][2+o] = o == s ? avail_i[0][10+o] : '0;
    end
    coherence_responses #(.NumLinks(1)) u_alone (
      .clk_i, .rst_ni, .words_i({words_i[0][11:10], words_i[0][5:4]}), .avail_i(alone_avail),
      .pop_o(alone_pop), .rsp_valid_o(some), .rsp_side_o(side), .rsp_header_o(alone),
      .rsp_message_o(alone_message), .rsp_data_o(alone_line)
    );
    logic lined;  // something is behind the header
    assign lined = alone_message inside {MsgPsha, MsgPemd, MsgPdat, MsgPatm, MsgVicd, MsgHakd,
                                         MsgHako};
    always_comb if (rst_ni) begin
      sink_line : assert (pop_o[0][4+s] == alone_pop[0][s]);
      sink_word : assert (pop_o[0][10+s] == alone_pop[0][2+s]);
      // For the induction: both have collected the same.
      same_turn : assert (dut.gen_responses[s].u_responses.u_arb.owner_q == '0 &&
                          u_alone.u_arb.owner_q == '0 &&
                          dut.gen_responses[s].u_responses.u_arb.after_q == u_alone.u_arb.after_q);
    end
    for (genvar o = 0; o < 2; o++) begin : gen_rx
      always_comb if (rst_ni) begin
        same_count : assert (
            dut.gen_responses[s].u_responses.gen_link[0].gen_rx[o].u_line.count_q ==
            u_alone.gen_link[0].gen_rx[o].u_line.count_q);
        if (o != s) none : assert (u_alone.gen_link[0].gen_rx[o].u_line.count_q == '0);
      end
      always_comb if (rst_ni && u_alone.gen_link[0].gen_rx[o].u_line.count_q != '0) begin
        buffered : assert (u_alone.gen_link[0].gen_rx[o].u_line.count_q <=
                           words_of(3'd2, u_alone.gen_link[0].gen_rx[o].u_line.kept.opcode));
      end
      for (genvar i = 0; i < 19; i++) begin : gen_word
        always_comb if (rst_ni && 5'(i) < u_alone.gen_link[0].gen_rx[o].u_line.count_q) begin
          same_word : assert (
            dut.gen_responses[s].u_responses.gen_link[0].gen_rx[o].u_line.buffer_q[i] ==
            u_alone.gen_link[0].gen_rx[o].u_line.buffer_q[i]);
        end
      end
    end

    // ------------------------------------------------------------ requests: loads, stores
    logic [1:0] loads, stores, fwd_sent, rsd_sent, rsn_sent;  // by home of this parity
    header_t shown, sent_fwd, sent_rsn;
    assign shown    = words_i[0][6+s][0];
    assign sent_fwd = words_o[8+s][0];
    assign sent_rsn = words_o[10+s][0];
    for (genvar b = 0; b < 2; b++) begin : gen_home
      localparam int unsigned H = 2 * b + s;
      logic [3:0] taken;
      assign taken = dut.gen_side[s].gen_home[b].u_directory.req_valid_i &
                     dut.gen_side[s].gen_home[b].u_directory.req_ready_o;
      assign stores[b] = taken[0];
      assign loads[b]  = taken[2];
      always_comb if (rst_ni) begin
        one_link : assert (!taken[1] && !taken[3]);
        for (int r = 0; r < 4; r++) begin
          if (taken[r]) begin
            assert (
              dut.gen_side[s].gen_home[b].u_directory.req_header_i[r].index[1] == 1'(b));
            assert (
              dut.gen_side[s].gen_home[b].u_directory.req_header_i[r].index[0] != 1'(s) ||
              dut.gen_side[s].gen_home[b].u_directory.req_message_i[r] == MsgNone);
          end
        end
        if (taken[2]) its_words : assert (
          dut.gen_side[s].gen_home[b].u_directory.req_header_i[2] == shown);
      end

      logic answer;
      assign answer     = dut.gen_side[s].gen_home[b].u_directory.rsp_valid_i;
      assign to_home[H] = answer;
      always_comb if (rst_ni && answer) begin
        own_response : assert (some && alone.index[1] == 1'(b) &&
                               dut.gen_side[s].gen_home[b].u_directory.rsp_index_i == alone.index);
        own_text     : assert (
          dut.gen_side[s].gen_home[b].u_directory.rsp_message_i == alone_message);
        // Behind a message without a line is what its buffer had before.
        own_data     : assert (!lined ||
          dut.gen_side[s].gen_home[b].u_directory.rsp_data_i == alone_line);
      end

      // Messages of a home leave once, as they are.
      assign fwd_sent[b] = dut.gen_side[s].gen_home[b].u_directory.fwd_valid_o &&
                           dut.gen_side[s].gen_home[b].u_directory.fwd_ready_i;
      assign rsd_sent[b] = dut.gen_side[s].gen_home[b].u_directory.rsd_valid_o &&
                           dut.gen_side[s].gen_home[b].u_directory.rsd_ready_i;
      assign rsn_sent[b] = dut.gen_side[s].gen_home[b].u_directory.rsn_valid_o &&
                           dut.gen_side[s].gen_home[b].u_directory.rsn_ready_i;
      always_comb if (rst_ni) begin
        if (fwd_sent[b]) fwd_text : assert (
          sent_fwd == dut.gen_side[s].gen_home[b].u_directory.fwd_header_o);
        if (rsn_sent[b]) rsn_text : assert (
          sent_rsn == dut.gen_side[s].gen_home[b].u_directory.rsn_header_o);
        if (rsd_sent[b]) rsd_text : assert (
          dut.gen_side[s].u_line.header_i ==
          dut.gen_side[s].gen_home[b].u_directory.rsd_header_o);
        // An invariant that the induction needs: the agent whose turn it is has a message.
        if (dut.gen_side[s].u_fwd.owner_q[b]) begin
          assert (dut.gen_side[s].gen_home[b].u_directory.fwd_held_q);
        end
        if (dut.gen_side[s].u_rsd.owner_q[b]) begin
          assert (dut.gen_side[s].gen_home[b].u_directory.rsd_held_q);
        end
        if (dut.gen_side[s].u_rsn.owner_q[b]) begin
          assert (dut.gen_side[s].gen_home[b].u_directory.rsn_held_q);
        end
        if (dut.u_mem.owner_q[H]) begin
          assert (dut.gen_side[s].gen_home[b].u_directory.mem_held_q);
        end
      end

      // -------------------------------------------------------- memory, and the host's operations
      logic own_mem;
      assign own_mem         = dut.gen_side[s].gen_home[b].u_directory.mem_req_ready_i;
      assign mem_asked[H]    = dut.gen_side[s].gen_home[b].u_directory.mem_req_valid_o && own_mem;
      assign mem_answered[H] = dut.gen_side[s].gen_home[b].u_directory.mem_rsp_valid_i;
      assign open_zero[H]    = dut.gen_side[s].gen_home[b].u_directory.zero_q;
      assign open[H]         = dut.gen_side[s].gen_home[b].u_directory.open_q;
      always_comb if (rst_ni) begin
        if (mem_asked[H]) home_tag : assert (
          mem_req_tag_o == {2'(H), dut.gen_side[s].gen_home[b].u_directory.mem_req_o.tag[5:0]} &&
          mem_req_index_o == dut.gen_side[s].gen_home[b].u_directory.mem_req_o.index &&
          mem_req_write_o == dut.gen_side[s].gen_home[b].u_directory.mem_req_o.write);
        if (mem_answered[H]) its_answer : assert (
          mem_rsp_valid_i && mem_rsp_tag_i[7:6] == 2'(H) &&
          mem_rsp_ready_o == dut.gen_side[s].gen_home[b].u_directory.mem_rsp_ready_o);
        if (dut.core_valid[H]) own_line : assert (req_index_i[1:0] == {1'(b), 1'(s == 0)});
        most : assert (32'(open[H]) <= Tbes + 3 && (open[H] != '0 || !open_zero[H]));
      end
    end
    always_comb if (rst_ni) begin
      load_once  : assert (pop_o[0][6+s] == 4'($countones(loads)) && loads != '1);
      store_once : assert (($countones(stores) == 1) ==
                           (dut.gen_side[s].gen_rx[0].gen_some.u_stores.ready_i &&
                            dut.gen_side[s].gen_rx[0].gen_some.u_stores.valid_o) && stores != '1);
      fwd_once   : assert ($countones(fwd_sent) == 32'(valid_o[8+s] && ready_i[8+s]));
      rsn_once   : assert ($countones(rsn_sent) == 32'(valid_o[10+s] && ready_i[10+s]));
      rsd_once   : assert ($countones(rsd_sent) ==
                           32'(dut.gen_side[s].u_line.valid_i && dut.gen_side[s].u_line.ready_o));
      rsp_once   : assert ($countones({to_home[2+s], to_home[s]}) == 32'(some));
      assert (dut.gen_side[s].u_fwd.owner_q != '1 && dut.gen_side[s].u_rsd.owner_q != '1 &&
              dut.gen_side[s].u_rsn.owner_q != '1);
    end
  end
  always_comb if (rst_ni) begin
    asked_once    : assert ($countones(mem_asked) == 32'(mem_req_valid_o && mem_req_ready_i));
    answered_once : assert ($countones(mem_answered) == 32'(mem_rsp_valid_i));
    mem_turn      : assert ($onehot0(dut.u_mem.owner_q));
  end

  // ---------------------------------------------------------------- an operation, its response
  logic open_q, begins, ends, held_q;  // that of tag 0
  logic [1:0] index_q;
  logic [7:0] tag_q;
  logic [2:0][4:0] kept;
  logic [2:0][15:0] marks;
  logic [2:0] entered;
  for (genvar h = 0; h < 3; h++) begin : gen_kept
    assign kept[h]    = dut.gen_core[h].gen_kept.u_kept.usage_o;
    assign marks[h]   = dut.gen_core[h].gen_kept.u_kept.marks_q;
    assign entered[h] = dut.gen_core[h].gen_kept.entered_q;
    always_comb if (rst_ni) begin
      fits  : assert (32'(kept[h]) + 32'(open[h]) + 32'(entered[h]) <= 16);
      place : assert (!(dut.gen_core[h].gen_kept.u_kept.valid_i &&
                        !dut.gen_core[h].gen_kept.u_kept.ready_o));
      // An operation that is offered to a home stays so: it is offered here.
      offered : assert (!entered[h] || held_q);
    end
  end
  assign begins = req_valid_i && req_ready_o && req_tag_i == '0;
  assign ends   = rsp_valid_o && rsp_tag_o == '0;
  always_ff @(posedge clk_i) begin
    open_q  <= rst_ni && ((open_q && !ends) || begins);
    held_q  <= rst_ni && req_valid_i && !req_ready_o;
    index_q <= req_index_i[1:0];
    tag_q   <= req_tag_i;
  end
  always_comb begin
    assume (!(req_valid_i && req_tag_i == '0 && open_q));
    if (held_q) assume (req_valid_i && req_index_i[1:0] == index_q && req_tag_i == tag_q);
    if (rst_ni) begin
      once    : assert (!ends || open_q);
      nowhere : assert ($countones({marks[2], marks[1], marks[0], open_zero}) == 32'(open_q));
      if (entered[0]) assert (index_q == 2'b01);
      if (entered[1]) assert (index_q == 2'b00);
      if (entered[2]) assert (index_q == 2'b11);
    end
  end

  any_circuits u_circuits (.rst_ni, .clk_i, .avail_i(avail_i[0]), .pop_i(pop_o[0]));

  always_comb if (rst_ni) begin
    waits   : cover (marks[0] != '0 && dut.core_rsp[3]);
    both    : cover (to_home == 4'b0011);
    asked   : cover (mem_asked[2] && mem_answered[1]);
  end
endmodule
