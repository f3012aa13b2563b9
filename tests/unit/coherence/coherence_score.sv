// SPDX-License-Identifier: SHL-2.1
/// Scoreboard of the lines that one cache and one home share, whatever joins the two.
///
/// At every clock: one writer, one owner, the directory covers every copy. Where a line's copies may
/// have changed, and of one more line in turn: every copy is the last store. Of every decision: a
/// load, cached, of the host or uncached, is answered with the last store; want_o says with what,
/// for a check at the port. The rows of the protocol's table that were used are counted.
///
/// A line is that of the home's index. Of them those are checked whose bits match_i selects are
/// match_at_i; the cache's index lacks the lowest CacheSkip bits, which are cache_low_i. What is
/// written to memory comes a clock later (mem_*).
module coherence_score
  import coherence_pkg::*;
  import coherence_directory_pkg::*;
  import coherence_score_pkg::*;
#(
  parameter int unsigned Sets      = 2,
  parameter int unsigned Ways      = 2,
  parameter int unsigned HomeSets  = 2,
  parameter int unsigned HomeWays  = 2,
  parameter int unsigned CacheSkip = 0,
  parameter int unsigned HomeSkip  = 0,
  parameter int unsigned Lines     = 16  // a power of two, to 64
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic [63:0] seed_i,     // of initial_line
  input  logic [1:0]  match_i,
  input  logic [1:0]  match_at_i,
  input  logic        cache_low_i,
  input  held_t       c_held_i [Ways][Sets],
  input  line_t       c_lines_i [Sets*Ways],
  input  cache_tap_t  c_i,
  input  entry_t      h_held_i [HomeWays][HomeSets],
  input  line_t       h_lines_i [HomeSets*HomeWays],
  input  home_tap_t   h_i,
  input  logic        mem_write_i,
  input  index_t      mem_index_i,
  input  mask_t       mem_mask_i,
  input  line_t       mem_data_i,
  input  logic [11:0] sel_i,       // table (0 remote, 1 request, 2 response, 3 core), row
  output logic [31:0] count_o,
  output want_t [2:0] want_o       // of the cache, of the host, without a cache
);
  localparam int unsigned Bits = $clog2(Lines);
  typedef logic [Bits-1:0] at_t;

  line_t truth [Lines];
  line_t dram [Lines];
  logic [2:0] want_q;          // compared at the next clock
  line_t want_line [3];
  logic [Lines-1:0] touched, held;
  at_t turn, changing;
  logic changes;               // a cache's atomic is being written to the line `changing`
  logic [31:0] remote_c [9][16];
  logic [31:0] request_c [4][5][32];
  logic [31:0] response_c [4][32];
  logic [31:0] core_c [4][4];

  always_comb begin
    unique case (sel_i[11:10])
      2'd0: count_o = remote_c[sel_i[7:4]][sel_i[3:0]];
      2'd1: count_o = request_c[sel_i[9:8]][sel_i[7:5]][sel_i[4:0]];
      2'd2: count_o = response_c[sel_i[6:5]][sel_i[4:0]];
      default: count_o = core_c[sel_i[3:2]][sel_i[1:0]];
    endcase
  end

  task automatic fail(string what, index_t index);
    $fatal(1, "%m: line %0d: %s", index, what);
  endtask
  function automatic logic mine(index_t index);
    return (index[1:0] & match_i) == match_at_i;
  endfunction
  function automatic index_t of_cache(index_t index);
    return (CacheSkip == 0) ? index : {index[IndexWidth-2:0], cache_low_i};
  endfunction

  task automatic check(int l, logic lines);
    int s, found;
    remote_e r;
    home_e h;
    directory_e d;
    logic has, valid;
    line_t rline, hline;
    r = RemoteI;
    h = HomeI;
    d = DirI;
    has = 1'b0;
    found = 0;
    s = (l >> CacheSkip) % int'(Sets);
    for (int w = 0; w < int'(Ways); w++) begin
      if (c_held_i[w][s].state != RemoteI && of_cache(c_held_i[w][s].index) == index_t'(l)) begin
        r = c_held_i[w][s].state;
        rline = c_lines_i[s * int'(Ways) + w];
        found++;
      end
    end
    if (found > 1) fail("two ways of the cache have it", index_t'(l));
    found = 0;
    s = (l >> HomeSkip) % int'(HomeSets);
    for (int w = 0; w < int'(HomeWays); w++) begin
      if (h_held_i[w][s].used && h_held_i[w][s].index == index_t'(l)) begin
        h = h_held_i[w][s].home;
        d = h_held_i[w][s].directory;
        has = h_held_i[w][s].has;
        hline = h_lines_i[s * int'(HomeWays) + w];
        found++;
      end
    end
    if (found > 1) fail("two ways of the home have it", index_t'(l));
    valid = r inside {RemoteS, RemoteE, RemoteM, RemoteO, RemoteSm, RemoteOm};
    if (r inside {RemoteE, RemoteM} && h != HomeI) begin
      fail("two writers: the remote's is one", index_t'(l));
    end
    if (h inside {HomeE, HomeM} && valid) fail("two writers: the home's is one", index_t'(l));
    if (h inside {HomeM, HomeO} && r inside {RemoteM, RemoteO, RemoteOm}) begin
      fail("two owners", index_t'(l));
    end
    if (valid && d == DirI) fail("the directory misses a copy", index_t'(l));
    if (d == DirS && r inside {RemoteE, RemoteM, RemoteO, RemoteOm}) begin
      fail("the directory misses an owner", index_t'(l));
    end
    if (lines) begin
      if (valid && rline != truth[l]) begin
        fail("the remote's copy is not the last store", index_t'(l));
      end
      if (h != HomeI && (!has || hline != truth[l])) begin
        fail("the home's copy is not the last store", index_t'(l));
      end
      if (r == RemoteE && (has ? hline : dram[l]) != truth[l]) begin
        fail("exclusive and clean, and memory has another line", index_t'(l));
      end
    end
  endtask

  task automatic invariants();
    touched[turn] = 1'b1;
    turn++;
    if (changes && !c_i.busy) touched[changing] = 1'b1;
    changes = changes && c_i.busy;
    held = touched;
    for (int w = 0; w < int'(Ways); w++) begin
      for (int s = 0; s < int'(Sets); s++) begin
        if (c_held_i[w][s].state != RemoteI) begin
          held[at_t'(of_cache(c_held_i[w][s].index))] = 1'b1;
        end
      end
    end
    /* verilator unroll_disable */
    for (int l = 0; l < int'(Lines); l++) begin
      if (held[l] && mine(index_t'(l))) begin
        check(l, touched[l] && !(changes && changing == at_t'(l)));
      end
    end
    touched = '0;
    touched[at_t'(of_cache(c_i.index))] = 1'b1;
    touched[at_t'(h_i.in.what.index)] = 1'b1;
  endtask

  // A word behind an atomic of a home.
  function automatic logic [63:0] updated(message_e how, logic [63:0] now, line_t operands);
    unique case (how)
      MsgRinc: return now + 64'd1;
      MsgRdec: return now - 64'd1;
      default: return (now == operands[63:0]) ? operands[127:64] : now;
    endcase
  endfunction

  task automatic want(int who, logic [7:0] tag, logic word, line_t line);
    want_q[who] = 1'b1;
    want_line[who] = line;
    want_o[who] <= '{valid: 1'b1, tag: tag, word: word, line: line};
  endtask

  always @(posedge clk_i) begin
    if (!rst_ni) begin
      for (int l = 0; l < int'(Lines); l++) begin
        truth[l] = initial_line(seed_i, index_t'(l));
        dram[l] = truth[l];
      end
      remote_c = '{default: '0};
      request_c = '{default: '0};
      response_c = '{default: '0};
      core_c = '{default: '0};
      {want_q, turn, changes, changing} = '0;
      touched = '1;
      want_o <= '0;
    end else begin
      if (mem_write_i && mine(mem_index_i)) begin
        dram[at_t'(mem_index_i)] = merged(dram[at_t'(mem_index_i)], mem_mask_i, mem_data_i);
      end
      invariants();
      if (h_i.stray) fail("a request that is none", '0);

      // ------------------------------------------------ loads that were decided a clock ago
      if (want_q[0] && (!c_i.rsp_valid || c_i.rsp_data != want_line[0])) begin
        fail("the remote loads what is not the last store", '0);
      end
      if (want_q[1] && (!h_i.rsp_valid || h_i.rsp_data != want_line[1])) begin
        fail("the host loads what is not the last store", '0);
      end
      if (want_q[2] && (!h_i.rsd_valid || h_i.rsd_data != want_line[2])) begin
        fail("an uncached load is answered with what is not the last store", '0);
      end
      want_q = '0;
      want_o <= '0;

      // ------------------------------------------------ what is decided at this edge
      if (c_i.twice) fail("the remote has two requests of it open", c_i.index);
      if (c_i.valid && mine(of_cache(c_i.index))) begin
        at_t l;
        l = at_t'(of_cache(c_i.index));
        remote_c[c_i.state][c_i.what]++;
        if (c_i.core && !c_i.again && !c_i.miss) begin
          if (c_i.what == InLoad || (c_i.what == InStore && c_i.atomic.valid)) begin
            want(0, c_i.tag, 1'b0, truth[l]);
          end
          if (c_i.what == InStore) begin
            truth[l] = merged(truth[l], c_i.mask, c_i.data);
            if (c_i.atomic.valid) begin
              truth[l] = changed(truth[l], c_i.atomic, c_i.data);
              changes = 1'b1;
              changing = l;
            end
          end
        end else if (c_i.fill) begin
          if (c_i.store) truth[l] = merged(truth[l], c_i.fill_mask, c_i.fill_data);
          else want(0, c_i.tag, 1'b0, truth[l]);
        end
      end
      if (h_i.valid) begin
        at_t l;
        what_t what;
        what = h_i.in.what;
        l    = at_t'(what.index);
        unique case (what.kind)
          KindResponse: response_c[h_i.phase][what.message]++;
          KindRequest: begin
            if (!h_i.in.resumed && !(h_i.decision.again && !h_i.hold) &&
                !(h_i.hold && h_i.open)) begin
              request_c[h_i.entry.directory][h_i.entry.home][what.message]++;
            end
          end
          KindCore: begin
            if (!h_i.in.resumed && !h_i.decision.again && what.op != CoreEvict &&
                !(what.op == CoreLoad && h_i.entry.home != HomeI)) begin
              core_c[what.op][h_i.entry.directory]++;
            end
          end
          default: ;
        endcase
        if (h_i.decision.evict && h_i.victim != DirI) core_c[CoreRecall][h_i.victim]++;
        if (h_i.decision.core_rsp) begin
          if (what.op == CoreStore && what.message != MsgNone) begin
            logic [63:0] now;
            now = truth[l][64*what.word+:64];
            want(1, what.tag, 1'b1, {truth[l][1023:64], now});
            truth[l][64*what.word+:64] = updated(what.message, now, h_i.kept_data);
          end else if (what.op == CoreStore) begin
            truth[l] = merged(truth[l], h_i.mask, h_i.data);
          end else if (what.op == CoreLoad) want(1, what.tag, 1'b0, truth[l]);
        end
        if (h_i.decision.rsd == MsgPdat) begin
          want(2, {2'd0, ~what.index[0], what.id}, 1'b0, truth[l]);
        end
        if (h_i.decision.rsn == MsgPack && what.message inside {MsgRstt, MsgRstp}) begin
          truth[l] = merged(truth[l], h_i.in.resumed ? h_i.kept_mask : h_i.mask,
                            h_i.in.resumed ? h_i.kept_data : h_i.data);
        end
        if (h_i.decision.rsd == MsgPatm) begin
          logic [63:0] now;
          now = truth[l][64*what.word+:64];
          want(2, {2'd0, ~what.index[0], what.id}, 1'b1, line_t'(now));
          truth[l][64*what.word+:64] = updated(what.message, now, h_i.kept_data);
        end
      end
    end
  end
endmodule
