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
///   Throughput  a request a cycle; where both have a response, the requester's goes first
///   Parameters  Sets 0 (no cache) or as coherence_cache; Ways; NumMshr even, 2..32: with a cache
///               ids below 16 of each parity are its, those above the requester's
///               NumLinks 1..2: circuits of each are taken; what is sent has one set of circuits.
///               Atomics 1: req_atomic_i, with LineCached and a write, as coherence_cache
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
  parameter bit          Atomics = 1'b0
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
  output logic                     stray_o   // strobe: a response to no request
);
  localparam int unsigned FirstId = (Sets == 0) ? 0 : NumIds / 2;
  if (Sets != 0 && NumMshr > NumIds) begin : gen_mshr_check
    $error("coherence_remote: NumMshr is %0d, legal is 2..%0d", NumMshr, NumIds);
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
  assign cached_rsp = rsp_some && Sets != 0 && !rsp.id[4];

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
    logic unused;
    assign unused = ^{rsp, rsp_message};
  end else begin : gen_cached
    logic to_cache, core_ready, core_rsp, kept_room;
    logic [7:0] core_tag;
    line_t core_line;
    core_e core_op;
    assign to_cache    = req_kind_i inside {LineCached, LineEvict};
    assign unc_valid   = req_valid_i && !to_cache;
    assign req_ready_o = to_cache ? (core_ready && kept_room) : unc_ready;
    assign core_op     = (req_kind_i == LineEvict) ? CoreEvict : req_write_i ? CoreStore : CoreLoad;

    // The cache's responses wait while the requester has one. An operation enters the cache only
    // with places for what may be in it: 4 that wait, 3 in its pipeline, and its MSHRs.
    localparam int unsigned Kept = 64;
    logic kept_valid, kept_ready;
    logic [$clog2(Kept):0] kept_usage;
    assign kept_room = 32'(kept_usage) + NumMshr + 8 <= Kept;
    logic [7:0] kept_tag;
    line_t kept_line;
    fifo #(.Width(8 + 8 * LineBytes), .Depth(Kept)) u_kept (
      .clk_i, .rst_ni, .clear_i(1'b0), .valid_i(core_rsp && (unc_rsp || kept_valid)),
      .ready_o(kept_ready), .data_i({core_tag, core_line}), .valid_o(kept_valid),
      .ready_i(!unc_rsp), .data_o({kept_tag, kept_line}), .usage_o(kept_usage)
    );
    assign rsp_valid_o = unc_rsp || kept_valid || core_rsp;
    assign rsp_tag_o   = unc_rsp ? unc_tag : kept_valid ? kept_tag : core_tag;
    assign rsp_data_o  = unc_rsp ? unc_line : kept_valid ? kept_line : core_line;
`ifndef SYNTHESIS
    always_ff @(posedge clk_i) begin
      if (core_rsp && (unc_rsp || kept_valid) && !kept_ready) begin
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
        assign fwd_some[l][s] = avail_i[l][8+s] != '0;
        assign pop_o[l][8+s]  = {3'd0, fwd_gnt[l][s] && fwd_ready};
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

    logic req_valid, rsd_valid, rsn_valid;
    header_t req, rsd, rsn;
    line_t rsd_line;
    logic [1:0] req_take, rsd_ready, rsn_ready;
    coherence_cache #(
      .Sets(Sets), .Ways(Ways), .NumMshr(NumMshr), .Atomics(Atomics)
    ) u_cache (
      .clk_i, .rst_ni, .core_valid_i(req_valid_i && to_cache && kept_room),
      .core_ready_o(core_ready),
      .core_op_i(core_op), .core_index_i(req_index_i), .core_tag_i(req_tag_i),
      .core_mask_i(req_mask_i), .core_data_i(req_data_i), .core_atomic_i(req_atomic_i),
      .core_rsp_valid_o(core_rsp),
      .core_rsp_tag_o(core_tag), .core_rsp_data_o(core_line),
      .fwd_valid_i(fwd_gnt != '0), .fwd_ready_o(fwd_ready),
      .fwd_message_i(message_of(3'd4, fwd.opcode)), .fwd_index_i(fwd.index),
      .rsp_valid_i(cached_rsp), .rsp_message_i(rsp_message), .rsp_dirty_i(rsp.dirty != '0),
      .rsp_side_i(rsp_side), .rsp_id_i(rsp.id), .rsp_data_i(rsp_line),
      .req_valid_o(req_valid), .req_ready_i(req_take[~req.index[0]]), .req_header_o(req),
      .rsd_valid_o(rsd_valid), .rsd_ready_i(rsd_ready[~rsd.index[0]]), .rsd_header_o(rsd),
      .rsd_data_o(rsd_line), .rsn_valid_o(rsn_valid), .rsn_ready_i(rsn_ready[~rsn.index[0]]),
      .rsn_header_o(rsn)
    );
    for (genvar s = 0; s < 2; s++) begin : gen_side
      // Requests of both agents take turns.
      logic [1:0] wants, turn;
      assign wants = {req_valid && req.index[0] != 1'(s), unc_out[6+s]};
      arb_rr #(.NumReq(2)) u_req (
        .clk_i, .rst_ni, .req_i(wants), .last_i(ready_i[6+s]), .gnt_o(turn), .idx_o()
      );
      assign valid_o[6+s]  = turn != '0;
      assign count_o[6+s]  = 4'd1;
      assign words_o[6+s]  = turn[1] ? {512'd0, req} : unc_words[6+s];
      assign unc_take[6+s] = turn[0] && ready_i[6+s];
      assign req_take[s]   = turn[1] && ready_i[6+s];
      coherence_line_tx u_rsd (
        .clk_i, .rst_ni, .valid_i(rsd_valid && rsd.index[0] != 1'(s)), .ready_o(rsd_ready[s]),
        .header_i(rsd), .words_i(5'd16), .payload_i({128'd0, rsd_line}),
        .valid_o(valid_o[4+s]), .ready_i(ready_i[4+s]), .count_o(count_o[4+s]),
        .words_o(words_o[4+s])
      );
      assign valid_o[10+s]  = rsn_valid && rsn.index[0] != 1'(s);
      assign count_o[10+s]  = 4'd1;
      assign words_o[10+s]  = {512'd0, rsn};
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
    assign unused = ^{rsp, fwd, unc_out, unc_count, unc_words, words_i, ready_i};
  end
  logic unused;
  assign unused = ^{words_i, req_atomic_i};
endmodule
