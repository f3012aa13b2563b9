// SPDX-License-Identifier: SHL-2.1
/// coherence_remote: taking responses depends on nothing but responses; each goes to the one agent
/// and slice that has its id, each forward to the slice of its line; a request is answered once,
/// and its response has a place; what is sent is one agent's message, on the circuit of its line.
///
/// Any words on the circuits, and stand-ins for the caches that take and send whatever they may:
/// two slices, one link. Tags are only carried, so what holds for tag 0 holds for each.
module coherence_remote_props
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
  input coherence_atomic_pkg::atomic_t req_atomic_i,
  input logic [NumVcs-1:0]            ready_i,
  input word_t [0:0][NumVcs-1:0][7:0] words_i,
  input logic [0:0][NumVcs-1:0][3:0]  avail_i,
  input coherence_look_pkg::look_t look_i
);
  localparam int unsigned Own = 16;  // MSHRs of a slice: ids 0 to 15 of a side are the cache's
  logic rst_ni = 1'b0;
  always_ff @(posedge clk_i) rst_ni <= 1'b1;

  logic req_ready_o, rsp_valid_o, quiet_o, stray_o;
  logic [7:0] rsp_tag_o;
  line_t rsp_data_o;
  logic [NumVcs-1:0] valid_o;
  logic [NumVcs-1:0][3:0] count_o;
  word_t [NumVcs-1:0][ChunkWords-1:0] words_o;
  logic [0:0][NumVcs-1:0][3:0] pop_o;
  coherence_look_pkg::looked_t looked_o;
  coherence_remote #(.Sets(4), .Ways(2), .NumMshr(2 * Own), .NumLinks(1), .Slices(2),
                     .Look(1'b1)) dut (.*);

  // ---------------------------------------------------------------- responses are sinks
  // The same responses alone, with nothing else at hand: they are taken in the same cycles.
  logic alone_some, alone_side;
  logic [0:0][3:0][3:0] alone_pop;
  header_t alone;
  message_e alone_message;
  line_t alone_line;
  coherence_responses #(.NumLinks(1)) u_alone (
    .clk_i, .rst_ni, .words_i({words_i[0][11:10], words_i[0][5:4]}),
    .avail_i({avail_i[0][11:10], avail_i[0][5:4]}), .pop_o(alone_pop), .rsp_valid_o(alone_some),
    .rsp_side_o(alone_side), .rsp_header_o(alone), .rsp_message_o(alone_message),
    .rsp_data_o(alone_line)
  );
  logic lined;  // something is behind the header
  assign lined = alone_message inside {MsgPsha, MsgPemd, MsgPdat, MsgPatm, MsgVicd, MsgHakd,
                                       MsgHako};
  for (genvar s = 0; s < 2; s++) begin : gen_side
    always_comb if (rst_ni) begin
      sink_line : assert (pop_o[0][4+s] == alone_pop[0][s]);
      sink_word : assert (pop_o[0][10+s] == alone_pop[0][2+s]);
      // For the induction: both have collected the same.
      same_count : assert (dut.u_responses.gen_link[0].gen_rx[s].u_line.count_q ==
                           u_alone.gen_link[0].gen_rx[s].u_line.count_q);
    end
    // For the induction: a buffer has no more words than its message.
    always_comb if (rst_ni && u_alone.gen_link[0].gen_rx[s].u_line.count_q != '0) begin
      buffered : assert (u_alone.gen_link[0].gen_rx[s].u_line.count_q <=
                         words_of(3'd2, u_alone.gen_link[0].gen_rx[s].u_line.kept.opcode));
    end
    for (genvar i = 0; i < 19; i++) begin : gen_word
      always_comb if (rst_ni && 5'(i) < u_alone.gen_link[0].gen_rx[s].u_line.count_q) begin
        same_word : assert (dut.u_responses.gen_link[0].gen_rx[s].u_line.buffer_q[i] ==
                            u_alone.gen_link[0].gen_rx[s].u_line.buffer_q[i]);
      end
    end
  end
  always_comb if (rst_ni) begin
    same_turn : assert (dut.u_responses.u_arb.owner_q == u_alone.u_arb.owner_q &&
                        dut.u_responses.u_arb.after_q == u_alone.u_arb.after_q &&
                        dut.u_responses.u_arb.owner_q == '0);
  end

  // ---------------------------------------------------------------- and go where they belong
  logic [1:0] to_slice;
  logic to_requester;
  assign to_requester = dut.u_requester.rsp_some_i;
  for (genvar k = 0; k < 2; k++) begin : gen_slice
    logic some, side;
    id_t id;
    assign some = dut.gen_cached.gen_slice[k].u_cache.rsp_valid_i;
    assign side = dut.gen_cached.gen_slice[k].u_cache.rsp_side_i;
    assign id   = dut.gen_cached.gen_slice[k].u_cache.rsp_id_i;
    assign to_slice[k] = some;
    always_comb if (rst_ni && some) begin
      own_line : assert (alone_side == 1'(k));
      own_id   : assert (32'(id) < Own / 2 && alone.id == id + (side ? id_t'(Own / 2) : '0));
      own_text : assert (dut.gen_cached.gen_slice[k].u_cache.rsp_message_i == alone_message);
      // Behind a message without a line is what its buffer had before.
      own_data : assert (!lined ||
                         dut.gen_cached.gen_slice[k].u_cache.rsp_data_i == alone_line);
    end

    // A forward that is taken is the slice's, and the slice's is taken.
    logic fwd_take;
    assign fwd_take = dut.gen_cached.gen_slice[k].u_cache.fwd_valid_i &&
                      dut.gen_cached.gen_slice[k].u_cache.fwd_ready_o;
    header_t fwd;
    assign fwd = words_i[0][8+k][0];
    always_comb if (rst_ni) begin
      fwd_once : assert (pop_o[0][8+k] == 4'(fwd_take));
      fwd_some : assert (!fwd_take || avail_i[0][8+k] != '0);
      if (fwd_take) begin
        fwd_line : assert (dut.gen_cached.gen_slice[k].u_cache.fwd_index_i ==
                           {1'b0, fwd.index[IndexWidth-1:1]});
        fwd_text : assert (dut.gen_cached.gen_slice[k].u_cache.fwd_message_i ==
                           message_of(3'd4, fwd.opcode));
      end
      fwd_turn : assert ((dut.gen_cached.gen_slice[k].u_fwd.owner_q &
                          ~(2'd1 << k)) == '0);
      if (dut.gen_cached.gen_slice[k].u_fwd.owner_q != '0) begin
        fwd_shown : assert (avail_i[0][8+k] != '0);
      end
    end

    // Places: what is open may answer at once.
    logic [6:0] kept;
    logic [7:0] open;
    assign kept = dut.gen_cached.gen_slice[k].u_kept.usage_o;
    assign open = dut.gen_cached.gen_slice[k].u_cache.open_q;
    always_comb if (rst_ni) begin
      fits  : assert (32'(kept) + 32'(open) <= 64);
      most  : assert (32'(open) <= Own + 5);
      zero  : assert (open != '0 || !dut.gen_cached.gen_slice[k].u_cache.zero_q);
      place : assert (!(dut.gen_cached.gen_slice[k].u_kept.valid_i &&
                        !dut.gen_cached.gen_slice[k].u_kept.ready_o));
    end

    // Requests of both agents take turns on the circuit of their lines.
    header_t sent_req, sent_rsn;
    logic own_sent, other_sent;
    assign sent_req   = words_o[6+k][0];
    assign sent_rsn   = words_o[10+k][0];
    assign own_sent   = dut.gen_cached.gen_slice[k].u_cache.req_valid_o &&
                        dut.gen_cached.gen_slice[k].u_cache.req_ready_i;
    assign other_sent = dut.unc_out[6+k] && dut.unc_take[6+k];
    always_comb if (rst_ni) begin
      req_once : assert ((valid_o[6+k] && ready_i[6+k]) == (own_sent ^ other_sent));
      req_one  : assert (!(own_sent && other_sent));
      if (own_sent) begin
        req_line : assert (sent_req.index[0] == 1'(k == 0));
        req_id   : assert (sent_req.id == dut.gen_cached.gen_slice[k].u_cache.req_header_o.id +
                           (dut.gen_cached.gen_slice[k].u_cache.req_header_o.index[0] ? '0 :
                            id_t'(Own / 2)));
      end
      rsn_once : assert ((valid_o[10+k] && ready_i[10+k]) ==
                         (dut.gen_cached.gen_slice[k].u_cache.rsn_valid_o &&
                          dut.gen_cached.gen_slice[k].u_cache.rsn_ready_i));
      if (valid_o[10+k]) rsn_line : assert (sent_rsn.index[0] == 1'(k == 0));
      // An invariant that the induction needs: the agent whose turn it is has a message.
      if (dut.gen_cached.gen_side[k].u_req.owner_q[1]) begin
        assert (dut.gen_cached.gen_slice[k].u_cache.req_held_q);
      end
      if (dut.gen_cached.gen_side[k].u_req.owner_q[0]) assert (dut.unc_out[6+k]);
      assert (dut.gen_cached.gen_side[k].u_req.owner_q != '1);
    end
  end
  always_comb if (rst_ni) begin
    one_agent : assert ($countones({to_slice, to_requester}) == 32'(alone_some));
    if (to_requester) its_id : assert (alone.id >= id_t'(Own) &&
                                       dut.u_requester.rsp_id_i == alone.id &&
                                       dut.u_requester.rsp_side_i == alone_side);
    if (to_requester && lined) its_data : assert (dut.u_requester.rsp_line_i == alone_line);
  end

  // ---------------------------------------------------------------- a request, and its response
  logic open_q, begins, ends;  // that of tag 0
  assign begins = req_valid_i && req_ready_o && req_tag_i == '0;
  assign ends   = rsp_valid_o && rsp_tag_o == '0;
  always_ff @(posedge clk_i) open_q <= rst_ni && ((open_q && !ends) || begins);
  logic [1:0][31:0] kept_zero;
  logic [31:0] unc_zero, cached_zero, open_zero;
  always_comb begin
    kept_zero[0] = 32'($countones(dut.gen_cached.gen_slice[0].u_kept.marks_q));
    kept_zero[1] = 32'($countones(dut.gen_cached.gen_slice[1].u_kept.marks_q));
    cached_zero  = 32'(dut.gen_cached.gen_slice[0].u_cache.zero_q) +
                   32'(dut.gen_cached.gen_slice[1].u_cache.zero_q);
    unc_zero = '0;
    for (int s = 0; s < 2; s++) begin
      for (int i = 0; i < int'(NumIds); i++) begin
        if (dut.u_requester.busy_q[s][i] && dut.u_requester.tag_q[s][i] == '0) begin
          unc_zero = unc_zero + 32'd1;
        end
      end
    end
    open_zero = kept_zero[0] + kept_zero[1] + cached_zero + unc_zero;
    assume (!(req_valid_i && req_tag_i == '0 && open_q));
    if (rst_ni) begin
      once    : assert (!ends || open_q);
      nowhere : assert (open_zero == 32'(open_q));
    end
  end

  any_circuits u_circuits (.rst_ni, .clk_i, .avail_i(avail_i[0]), .pop_i(pop_o[0]));

  always_comb if (rst_ni) begin
    kept_both : cover (kept_zero[1] != 0 && dut.unc_rsp && dut.gen_cached.core_rsp == '1);
    answered  : cover (ends && to_requester);
    turned    : cover (valid_o[6] && dut.gen_cached.gen_side[0].turn[1] && dut.unc_out[6]);
  end
endmodule
