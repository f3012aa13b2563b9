// SPDX-License-Identifier: SHL-2.1
/// A remote node's agents behind one port of lines: one without a cache, and with Sets > 0 a cache.
///
/// lines -> coherence_requester, coherence_cache -> circuits, and back
/// (docs/explanation/cores/coherence.md)
///
///   Handshake   request: valid/ready. Every request gets one response with its tag; responses have
///               no ready, in any order: the requester must have room. Circuits: as blocklink_core
///   Ordering    requests for one line with a cache: in order. Without, and between the two: one
///               waits for the response of the other
///   Coherence   the responses' circuits are sinks: coherence_responses
///   Latency     a cached hit 4 cycles; else those of the two agents
///   Throughput  a request a cycle; where both have a response, the requester's goes first. A cache
///               takes an operation, an answer or a forward a cycle: a line that misses is two
///   Parameters  Sets 0 (no cache) or as coherence_cache; Ways; NumMshr even, 2..60, of both
///               parities: with a cache ids below NumMshr / 2 of each parity, at least 16, are
///               its, those above the requester's.
///               Slices 1, or 2: a cache for the lines of each parity, of half of the sets and
///               MSHRs; then NumMshr is a multiple of 4 and Sets at least 4
///               NumLinks 1..2: circuits of each are taken; what is sent has one set of circuits.
///               Atomics 1: req_atomic_i, with LineCached and a write, as coherence_cache. Look 1:
///               the caches can be asked for a line, as they say; without any it is in state I
///   Not done    LineCached and LineEvict without a cache: uncached, and a load
module coherence_remote
  import coherence_pkg::*;
  import blocklink_pkg::NumVcs;
  import blocklink_pkg::ChunkWords;
  import blocklink_pkg::word_t;
#(
  parameter int unsigned Sets    = 64,
  parameter int unsigned Ways    = 4,
  parameter int unsigned NumMshr = 32,
  parameter int unsigned NumLinks = 1,
  parameter int unsigned Slices  = 1,
  parameter bit          Atomics = 1'b0,
  parameter bit          Look    = 1'b0
) (
  input  logic                     clk_i,
  input  logic                     rst_ni,
  input  logic                     req_valid_i,
  output logic                     req_ready_o,
  input  line_kind_e               req_kind_i,
  input  logic                     req_write_i,
  input  index_t                   req_index_i,
  input  logic [7:0]               req_tag_i,
  input  mask_t                    req_mask_i,
  input  line_t                    req_data_i,
  input  coherence_atomic_pkg::atomic_t req_atomic_i,
  output logic                     rsp_valid_o,
  output logic [7:0]               rsp_tag_o,
  output line_t                    rsp_data_o,
  output logic [NumVcs-1:0]        valid_o,
  input  logic [NumVcs-1:0]        ready_i,
  output logic [NumVcs-1:0][3:0]   count_o,
  output word_t [NumVcs-1:0][ChunkWords-1:0] words_o,
  input  word_t [NumLinks-1:0][NumVcs-1:0][7:0] words_i,
  input  logic [NumLinks-1:0][NumVcs-1:0][3:0]  avail_i,
  output logic [NumLinks-1:0][NumVcs-1:0][3:0]  pop_o,
  output logic                     quiet_o,  // no request without a cache is open
  output logic                     stray_o,  // strobe: a response to no request
  input  coherence_look_pkg::look_t   look_i,
  output coherence_look_pkg::looked_t looked_o
);
  localparam int unsigned FirstId = (Sets == 0) ? 0 :
                                    (NumMshr > NumIds) ? NumMshr / 2 : NumIds / 2;
  if (Sets != 0 && (NumMshr > 2 * NumIds - 4 || NumMshr % (2 * Slices) != 0)) begin : gen_mshr_check
    $error("coherence_remote: NumMshr is %0d, legal is 2..%0d, a multiple of %0d", NumMshr,
           2 * NumIds - 4, 2 * Slices);
  end
  if (Slices < 1 || Slices > 2 || (Slices == 2 && Sets == 2)) begin : gen_slices_check
    $error("coherence_remote: Slices is %0d with %0d sets, legal is 1, 2 from 4 sets on", Slices,
           Sets);
  end

  logic rsp_some, rsp_side, cached_rsp;
  header_t rsp;
  message_e rsp_message;
  line_t rsp_line;
  word_t [NumLinks-1:0][3:0][7:0] rsp_words;
  logic [NumLinks-1:0][3:0][3:0] rsp_avail, rsp_pop;
  coherence_responses #(.NumLinks(NumLinks)) u_responses (
    .clk_i, .rst_ni, .words_i(rsp_words), .avail_i(rsp_avail), .pop_o(rsp_pop),
    .rsp_valid_o(rsp_some), .rsp_side_o(rsp_side), .rsp_header_o(rsp), .rsp_message_o(rsp_message),
    .rsp_data_o(rsp_line)
  );
  for (genvar l = 0; l < int'(NumLinks); l++) begin : gen_link
    assign rsp_words[l] = {words_i[l][11:10], words_i[l][5:4]};
    assign rsp_avail[l] = {avail_i[l][11:10], avail_i[l][5:4]};
    assign {pop_o[l][11:10], pop_o[l][5:4]} = rsp_pop[l];
    for (genvar v = 0; v < int'(NumVcs); v++) begin : gen_unused
      if (!(v inside {4, 5, 10, 11}) && (Sets == 0 || !(v inside {8, 9}))) begin : gen_rx
        assign pop_o[l][v] = avail_i[l][v];
      end
    end
  end
  assign cached_rsp = rsp_some && Sets != 0 && rsp.id <= id_t'(FirstId - 1);

  logic unc_valid, unc_ready, unc_rsp;
  logic [7:0] unc_tag;
  line_t unc_line;
  logic [NumVcs-1:0] unc_out, unc_take;
  logic [NumVcs-1:0][3:0] unc_count;
  word_t [NumVcs-1:0][ChunkWords-1:0] unc_words;
  coherence_requester #(.FirstId(FirstId)) u_requester (
    .clk_i, .rst_ni, .req_valid_i(unc_valid), .req_ready_o(unc_ready), .req_kind_i, .req_write_i,
    .req_index_i, .req_tag_i, .req_mask_i, .req_data_i,
    .rsp_valid_o(unc_rsp), .rsp_tag_o(unc_tag), .rsp_data_o(unc_line),
    .valid_o(unc_out), .ready_i(unc_take), .count_o(unc_count), .words_o(unc_words),
    .rsp_some_i(rsp_some && !cached_rsp), .rsp_side_i(rsp_side), .rsp_id_i(rsp.id),
    .rsp_line_i(rsp_line), .quiet_o, .stray_o
  );

  if (Sets == 0) begin : gen_uncached
    assign unc_valid   = req_valid_i;
    assign req_ready_o = unc_ready;
    assign rsp_valid_o = unc_rsp;
    assign rsp_tag_o   = unc_tag;
    assign rsp_data_o  = unc_line;
    assign valid_o     = unc_out;
    assign unc_take    = ready_i;
    assign count_o     = unc_count;
    assign words_o     = unc_words;
    assign looked_o    = '{valid: Look && look_i.valid, state: '0};
    logic unused;
    assign unused = ^{rsp, rsp_message, look_i};
  end else begin : gen_cached
    // Slice k of two has the lines whose circuits are the (k + 1)th of each pair. Its indices lack
    // the parity, so that its MSHRs are in halves by the next bit; on the link the second half has
    // the ids above the first.
    localparam bit Split = Slices == 2;
    localparam int unsigned Own  = NumMshr / Slices;  // MSHRs of a slice
    localparam int unsigned Kept = (NumMshr > 48) ? 128 : 64;
    logic to_cache, at_slice;
    logic [Slices-1:0] core_ready, core_rsp, kept_room, kept_valid, show, rsp_mine, fwd_mine;
    logic [Slices-1:0][7:0] core_tag, kept_tag;
    line_t [Slices-1:0] core_line, kept_line;
    coherence_look_pkg::looked_t [Slices-1:0] looked;
    core_e core_op;
    assign to_cache    = req_kind_i inside {LineCached, LineEvict};
    assign at_slice    = Split && !req_index_i[0];
    assign unc_valid   = req_valid_i && !to_cache;
    assign req_ready_o = to_cache ? (core_ready[at_slice] && kept_room[at_slice]) : unc_ready;
    assign core_op     = (req_kind_i == LineEvict) ? CoreEvict : req_write_i ? CoreStore : CoreLoad;

    // Responses of a slice wait while the requester or a slice before it has one.
    assign rsp_valid_o = unc_rsp || (core_rsp | kept_valid) != '0;
    always_comb begin
      show       = '0;
      rsp_tag_o  = unc_tag;
      rsp_data_o = unc_line;
      for (int unsigned k = 0; k < Slices; k++) begin
        if (!unc_rsp && show == '0 && (core_rsp[k] || kept_valid[k])) begin
          show[k]    = 1'b1;
          rsp_tag_o  = kept_valid[k] ? kept_tag[k] : core_tag[k];
          rsp_data_o = kept_valid[k] ? kept_line[k] : core_line[k];
        end
      end
    end

    logic [Slices-1:0] req_valid, rsd_valid, rsn_valid, req_sent, rsd_sent, rsn_sent;
    header_t [Slices-1:0] req, rsd, rsn;
    line_t [Slices-1:0] rsd_line;
    logic [1:0] req_take, rsd_ready, rsn_ready;
    for (genvar k = 0; k < int'(Slices); k++) begin : gen_slice
      // An operation enters the cache only with places for what may be in it: 4 that wait, 3 in
      // its pipeline, and its MSHRs.
      logic kept_ready;
      logic [$clog2(Kept):0] kept_usage;
      assign kept_room[k] = 32'(kept_usage) + Own + 8 <= Kept;
      fifo #(.Width(8 + 8 * LineBytes), .Depth(Kept)) u_kept (
        .clk_i, .rst_ni, .clear_i(1'b0), .valid_i(core_rsp[k] && (!show[k] || kept_valid[k])),
        .ready_o(kept_ready), .data_i({core_tag[k], core_line[k]}), .valid_o(kept_valid[k]),
        .ready_i(show[k]), .data_o({kept_tag[k], kept_line[k]}), .usage_o(kept_usage)
      );
`ifndef SYNTHESIS
      always_ff @(posedge clk_i) begin
        if (core_rsp[k] && (!show[k] || kept_valid[k]) && !kept_ready) begin
          $fatal(1, "coherence_remote: no place for a response");
        end
      end
`endif

      // Forwards of odd and even lines take turns.
      logic [NumLinks-1:0][1:0] fwd_some, fwd_gnt;
      logic fwd_ready;
      header_t fwd;
      arb_rr #(.NumReq(2 * NumLinks)) u_fwd (
        .clk_i, .rst_ni, .req_i(fwd_some), .last_i(fwd_ready), .gnt_o(fwd_gnt), .idx_o()
      );
      for (genvar l = 0; l < int'(NumLinks); l++) begin : gen_fwd
        for (genvar s = 0; s < 2; s++) begin : gen_side
          if (Split && s != k) begin : gen_other
            assign fwd_some[l][s] = 1'b0;
          end else begin : gen_own
            assign fwd_some[l][s] = avail_i[l][8+s] != '0;
            assign pop_o[l][8+s]  = {3'd0, fwd_gnt[l][s] && fwd_ready};
          end
        end
      end
      always_comb begin
        fwd = '0;
        for (int unsigned l = 0; l < NumLinks; l++) begin
          for (int unsigned s = 0; s < 2; s++) begin
            if (fwd_gnt[l][s]) fwd = fwd | words_i[l][8+s][0];
          end
        end
      end
      assign fwd_mine[k] = fwd_gnt != '0;

      // Between the link's index and id and those of the slice.
      index_t core_index, fwd_index;
      header_t own_req, own_rsd, own_rsn;
      logic own_side;
      id_t own_id;
      if (Split) begin : gen_split
        localparam id_t Second = id_t'(Own / 2);
        assign core_index  = {1'b0, req_index_i[IndexWidth-1:1]};
        assign fwd_index   = {1'b0, fwd.index[IndexWidth-1:1]};
        assign rsp_mine[k] = cached_rsp && rsp_side == 1'(k);
        assign own_side    = rsp.id >= Second;
        assign own_id      = own_side ? rsp.id - Second : rsp.id;
        always_comb begin
          req[k] = own_req;
          rsd[k] = own_rsd;
          rsn[k] = own_rsn;
          req[k].index = {own_req.index[IndexWidth-2:0], 1'(k == 0)};
          rsd[k].index = {own_rsd.index[IndexWidth-2:0], 1'(k == 0)};
          rsn[k].index = {own_rsn.index[IndexWidth-2:0], 1'(k == 0)};
          if (!own_req.index[0]) req[k].id = own_req.id + Second;
        end
        assign req_sent[k] = req_take[k];
        assign rsd_sent[k] = rsd_ready[k];
        assign rsn_sent[k] = rsn_ready[k];
        logic unused;
        assign unused = ^{own_req, own_rsd, own_rsn};
      end else begin : gen_whole
        assign core_index  = req_index_i;
        assign fwd_index   = fwd.index;
        assign rsp_mine[k] = cached_rsp;
        assign own_side    = rsp_side;
        assign own_id      = rsp.id;
        assign {req[k], rsd[k], rsn[k]} = {own_req, own_rsd, own_rsn};
        assign req_sent[k] = req_take[~own_req.index[0]];
        assign rsd_sent[k] = rsd_ready[~own_rsd.index[0]];
        assign rsn_sent[k] = rsn_ready[~own_rsn.index[0]];
      end

      coherence_look_pkg::look_t look;
      assign look = '{valid: look_i.valid && (!Split || look_i.index[0] != 1'(k)),
                      index: Split ? {1'b0, look_i.index[IndexWidth-1:1]} : look_i.index};
      coherence_cache #(
        .Sets(Sets / Slices), .Ways(Ways), .NumMshr(Own), .Atomics(Atomics), .Look(Look)
      ) u_cache (
        .clk_i, .rst_ni,
        .core_valid_i(req_valid_i && to_cache && kept_room[k] && (!Split || at_slice == 1'(k))),
        .core_ready_o(core_ready[k]), .core_op_i(core_op), .core_index_i(core_index),
        .core_tag_i(req_tag_i), .core_mask_i(req_mask_i), .core_data_i(req_data_i),
        .core_atomic_i(req_atomic_i), .core_rsp_valid_o(core_rsp[k]),
        .core_rsp_tag_o(core_tag[k]), .core_rsp_data_o(core_line[k]),
        .fwd_valid_i(fwd_mine[k]), .fwd_ready_o(fwd_ready),
        .fwd_message_i(message_of(3'd4, fwd.opcode)), .fwd_index_i(fwd_index),
        .rsp_valid_i(rsp_mine[k]), .rsp_message_i(rsp_message),
        .rsp_dirty_i(rsp.dirty != '0), .rsp_side_i(own_side), .rsp_id_i(own_id),
        .rsp_data_i(rsp_line),
        .req_valid_o(req_valid[k]), .req_ready_i(req_sent[k]), .req_header_o(own_req),
        .rsd_valid_o(rsd_valid[k]), .rsd_ready_i(rsd_sent[k]), .rsd_header_o(own_rsd),
        .rsd_data_o(rsd_line[k]), .rsn_valid_o(rsn_valid[k]), .rsn_ready_i(rsn_sent[k]),
        .rsn_header_o(own_rsn), .look_i(look), .looked_o(looked[k])
      );
      logic unused_fwd;
      assign unused_fwd = ^fwd;
    end
    assign looked_o = looked[Slices == 2 && looked[Slices-1].valid];
    for (genvar s = 0; s < 2; s++) begin : gen_side
      localparam int unsigned K = Split ? s : 0;
      // Requests of both agents take turns.
      logic [1:0] wants, turn;
      assign wants = {req_valid[K] && req[K].index[0] != 1'(s), unc_out[6+s]};
      arb_rr #(.NumReq(2)) u_req (
        .clk_i, .rst_ni, .req_i(wants), .last_i(ready_i[6+s]), .gnt_o(turn), .idx_o()
      );
      assign valid_o[6+s]  = turn != '0;
      assign count_o[6+s]  = 4'd1;
      assign words_o[6+s]  = turn[1] ? {512'd0, req[K]} : unc_words[6+s];
      assign unc_take[6+s] = turn[0] && ready_i[6+s];
      assign req_take[s]   = turn[1] && ready_i[6+s];
      coherence_line_tx u_rsd (
        .clk_i, .rst_ni, .valid_i(rsd_valid[K] && rsd[K].index[0] != 1'(s)), .ready_o(rsd_ready[s]),
        .header_i(rsd[K]), .words_i(5'd16), .payload_i({128'd0, rsd_line[K]}),
        .valid_o(valid_o[4+s]), .ready_i(ready_i[4+s]), .count_o(count_o[4+s]),
        .words_o(words_o[4+s])
      );
      assign valid_o[10+s]  = rsn_valid[K] && rsn[K].index[0] != 1'(s);
      assign count_o[10+s]  = 4'd1;
      assign words_o[10+s]  = {512'd0, rsn[K]};
      assign rsn_ready[s]   = ready_i[10+s];
      assign valid_o[2+s]   = unc_out[2+s];
      assign count_o[2+s]   = unc_count[2+s];
      assign words_o[2+s]   = unc_words[2+s];
      assign unc_take[2+s]  = ready_i[2+s];
    end
    for (genvar v = 0; v < int'(NumVcs); v++) begin : gen_unused
      if (v inside {0, 1, 8, 9, 12}) begin : gen_tx
        assign valid_o[v] = 1'b0;
        assign count_o[v] = '0;
        assign words_o[v] = '0;
      end
      if (!(v inside {2, 3, 6, 7})) begin : gen_take
        assign unc_take[v] = 1'b0;
      end
    end
    logic unused;
    assign unused = ^{rsp, unc_out, unc_count, unc_words, words_i, ready_i};
  end
  logic unused;
  assign unused = ^{words_i, req_atomic_i};
endmodule
