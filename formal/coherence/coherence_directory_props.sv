// SPDX-License-Identifier: SHL-2.1
/// coherence_directory: whatever the remote, the host and memory ask and answer, a line has one
/// transaction at most; a grant, a store and an atomic are done only where the directory says that
/// no other copy is left, a transaction that has sent a forward goes on only when its answer, and
/// where one is needed the victim, has come; a response is decided two cycles after it came and
/// sends nothing; no message is without a place. Of the inputs only what the protocol's model shows
/// is assumed: a response fits the table, FINV is not answered as FSHR is, and the remote asks for
/// no upgrade of a line that it may write. No other pair of state and message without a row occurs.
module coherence_directory_props
  import coherence_pkg::*;
  import coherence_directory_pkg::*;
  import blocklink_pkg::word_t;
(
  input logic       clk_i,
  input logic       core_valid_i,
  input core_t      core_i,
  input index_t     core_index_i,
  input logic [7:0] core_tag_i,
  input mask_t      core_mask_i,
  input line_t      core_data_i,
  input logic     [3:0] req_valid_i,
  input message_e [3:0] req_message_i,
  input header_t  [3:0] req_header_i,
  input word_t [1:0][17:0] req_payload_i,
  input logic       rsp_valid_i,
  input message_e   rsp_message_i,
  input index_t     rsp_index_i,
  input line_t      rsp_data_i,
  input logic       fwd_ready_i,
  input logic       rsd_ready_i,
  input logic       rsn_ready_i,
  input logic       mem_req_ready_i,
  input logic       mem_rsp_valid_i,
  input answer_t    mem_rsp_i,
  input coherence_look_pkg::look_t look_i
);
  localparam int unsigned Sets = 2, Ways = 2, NumTbe = 2, TbeWidth = $clog2(NumTbe);
  typedef logic [TbeWidth-1:0] own_id_t;
  typedef logic [TbeWidth:0] open_t;  // above the transaction's number: there is one

  logic rst_ni = 1'b0;
  always_ff @(posedge clk_i) rst_ni <= 1'b1;

  logic core_ready_o, core_rsp_valid_o, fwd_valid_o, rsd_valid_o, rsn_valid_o, mem_req_valid_o;
  logic mem_rsp_ready_o, stray_o;
  answer_t core_rsp_o;
  logic [3:0] req_ready_o;
  logic [4:0] rsd_words_o;
  line_t rsd_data_o;
  memory_t mem_req_o;
  header_t fwd_header_o, rsd_header_o, rsn_header_o;
  coherence_look_pkg::looked_t looked_o;
  coherence_directory #(.Sets(Sets), .Ways(Ways), .NumTbe(NumTbe), .Look(1'b1)) dut (.*);

  // ---------------------------------------------------------------- what is in it
  entry_t [Sets-1:0][Ways-1:0] entry;
  for (genvar s = 0; s < int'(Sets); s++) begin : gen_set
    for (genvar w = 0; w < int'(Ways); w++) begin : gen_way
      always_comb begin
        entry[s][w] = dut.u_entries.gen_ways[w].entry_q[s];
        if (!dut.u_entries.gen_ways[w].written_q[s]) entry[s][w].used = 1'b0;
        if (dut.u_entries.gen_ways[w].late_q && dut.u_entries.late_at_q == 1'(s)) begin
          entry[s][w] = dut.u_entries.late_entry_q;
        end
      end
    end
  end
  tbe_phase_e [NumTbe-1:0] tbe;
  kind_e [NumTbe-1:0] kind;
  message_e [NumTbe-1:0] message;
  core_e [NumTbe-1:0] op;
  index_t [NumTbe-1:0] line;
  logic [NumTbe-1:0] heard, victim, needed, shared, loads, stores, here;
  entry_t [NumTbe-1:0] mine;
  for (genvar i = 0; i < int'(NumTbe); i++) begin : gen_tbe
    assign tbe[i]     = dut.u_tbes.phase_q[i];
    assign kind[i]    = dut.u_tbes.what_q[i].kind;
    assign message[i] = dut.u_tbes.what_q[i].message;
    assign op[i]      = dut.u_tbes.what_q[i].op;
    assign line[i]    = dut.u_tbes.what_q[i].index;
    assign heard[i]   = dut.u_tbes.flags_q[i].heard;
    assign victim[i]  = dut.u_tbes.flags_q[i].victim;
    assign needed[i]  = dut.u_tbes.flags_q[i].needed;
    // Its forward is FSHR, not FINV.
    assign shared[i]  = (kind[i] == KindCore && op[i] == CoreLoad) ||
                        (kind[i] == KindRequest && message[i] == MsgRldi);
    assign loads[i]   = kind[i] == KindRequest && message[i] inside {MsgRlds, MsgRldx, MsgRupg};
    assign stores[i]  = kind[i] == KindRequest &&
                        message[i] inside {MsgRstt, MsgRstp, MsgRinc, MsgRdec, MsgRcas};
    always_comb begin
      here[i] = 1'b0;
      mine[i] = '0;
      for (int unsigned w = 0; w < Ways; w++) begin
        if (entry[line[i][0]][w].used && entry[line[i][0]][w].index == line[i]) begin
          here[i] = 1'b1;
          mine[i] = entry[line[i][0]][w];
        end
      end
    end
  end

  // An index has an open transaction, and which.
  function automatic open_t open_of(index_t index);
    for (int unsigned i = 0; i < NumTbe; i++) begin
      if (tbe[i] != TbeFree && line[i] == index) return {1'b1, own_id_t'(i)};
    end
    return '0;
  endfunction

  // ---------------------------------------------------------------- the pipeline
  logic s1, s2, s1_sends, s2_sends;
  kind_e s1_kind, s2_kind;
  own_id_t s1_tbe, s2_tbe;
  decision_t d;
  message_e s2_message;
  assign d          = dut.decision;
  assign s2_message = dut.s2_q.what.message;
  assign {s1, s2} = {dut.s1_valid_q, dut.s2_valid_q};
  assign s1_kind  = dut.s1_q.what.kind;
  assign s2_kind  = dut.s2_q.what.kind;
  assign s1_tbe   = dut.s1_q.tbe[TbeWidth-1:0];
  assign s2_tbe   = dut.s2_q.tbe[TbeWidth-1:0];
  assign s1_sends = s1 && s1_kind != KindResponse;
  assign s2_sends = s2 && s2_kind != KindResponse;

  // ---------------------------------------------------------------- assumptions
  logic fits, memory_flies;
  assign memory_flies =
      (s1 && dut.s1_q.memory && s1_tbe == mem_rsp_i.tag[TbeWidth-1:0]) ||
      (s2 && dut.s2_q.memory && s2_tbe == mem_rsp_i.tag[TbeWidth-1:0]);
  always_comb begin
    assume (rsp_message_i inside {MsgVicd, MsgHakd, MsgHako, MsgVicc, MsgVics, MsgHaki, MsgHaks,
                                  MsgHakv, MsgGack});
    assume (core_i.op inside {CoreLoad, CoreStore, CoreEvict});
    assume (core_i.atomic inside {MsgNone, MsgRinc, MsgRdec, MsgRcas});
    assume (core_i.atomic == MsgNone || core_i.op == CoreStore);
    // Memory answers what it was asked for, once.
    if (mem_rsp_valid_i) begin
      assume (mem_rsp_i.tag < 8'(NumTbe) && tbe[mem_rsp_i.tag[TbeWidth-1:0]] == TbeMemory &&
              !memory_flies);
    end
    fits = 1'b1;
    if (s2 && s2_kind == KindResponse) begin
      fits = !dut.u_step.response.never && dut.ways.hit;
      if (s2_message inside {MsgHakd, MsgHako, MsgHaki, MsgHaks, MsgHakv}) begin
        fits = fits && !heard[s2_tbe];
      end
      if (s2_message inside {MsgHako, MsgHaks}) fits = fits && shared[s2_tbe];
    end
    if (s2 && s2_kind == KindRequest && !dut.s2_q.memory && !d.again) begin
      // The one request that the table forbids, where it has the states.
      fits = !(s2_message == MsgRupg && dut.ways.entry.directory == DirE);
    end
    if (rst_ni) assume (fits);
  end

  // ---------------------------------------------------------------- assertions
  for (genvar i = 0; i < int'(NumTbe); i++) begin : gen_one
    for (genvar j = 0; j < i; j++) begin : gen_other
      always_comb if (rst_ni) begin
        one_a_line : assert (tbe[i] == TbeFree || tbe[j] == TbeFree || line[i] != line[j]);
      end
    end
    always_comb if (rst_ni) begin
      phases : assert (tbe[i] <= TbeRuns);
      // For the induction: what a transaction that is open has.
      if (tbe[i] != TbeFree) begin
        a_kind : assert (kind[i] != KindResponse);
        known  : assert (kind[i] != KindRequest || loads[i] || stores[i] || message[i] == MsgRldi);
        ops    : assert (kind[i] != KindCore || op[i] inside {CoreLoad, CoreStore});
      end
      if (tbe[i] inside {TbeGrant, TbeForward, TbeReady, TbeRuns}) has_entry : assert (here[i]);
      if (tbe[i] == TbeMemory && (loads[i] || kind[i] == KindCore)) fetches : assert (here[i]);
      if (tbe[i] == TbeMemory && loads[i]) begin
        nobody : assert (mine[i].directory == DirI && mine[i].home == HomeI);
      end
      if (tbe[i] == TbeMemory && kind[i] == KindRecall) gone : assert (!here[i]);
      if (tbe[i] == TbeMemory && stores[i] && here[i]) left : assert (mine[i].directory == DirI);
      if (tbe[i] == TbeMemory && kind[i] == KindCore) begin
        left_core : assert (mine[i].directory == DirI ||
                            (op[i] == CoreLoad && mine[i].directory == DirS));
      end
      if (tbe[i] == TbeGrant) granted : assert (loads[i]);
      if (tbe[i] inside {TbeForward, TbeReady, TbeRuns}) not_granted : assert (!loads[i]);
      if (tbe[i] == TbeForward) begin
        waits : assert (!(heard[i] && (!needed[i] || victim[i])));
        answered : assert (!needed[i] || heard[i]);
        if (shared[i]) owned : assert (mine[i].home == HomeI);
        if (!shared[i]) begin
          given_up : assert (!(victim[i] || (heard[i] && !needed[i])) || mine[i].directory == DirI);
        end
      end
      if (tbe[i] inside {TbeForward, TbeReady, TbeRuns} && kind[i] == KindRecall) begin
        recalled : assert (mine[i].leaves && (tbe[i] == TbeForward || mine[i].directory == DirI));
      end
      // What runs is in the pipeline.
      if (tbe[i] == TbeRuns) begin
        runs : assert ((s1 && dut.s1_q.resumed && !dut.s1_q.memory && s1_tbe == own_id_t'(i)) ^
                       (s2 && dut.s2_q.resumed && !dut.s2_q.memory && s2_tbe == own_id_t'(i)));
      end
    end
    // A transaction that has sent a forward goes on only when it may.
    tbe_phase_e was_q;
    always_ff @(posedge clk_i) begin
      was_q <= rst_ni ? tbe[i] : TbeFree;
      if (rst_ni && was_q == TbeForward && tbe[i] != TbeForward) begin
        heard_of : assert (tbe[i] == TbeReady && heard[i] && (!needed[i] || victim[i]));
      end
    end
  end

  for (genvar s = 0; s < int'(Sets); s++) begin : gen_entry
    for (genvar w = 0; w < int'(Ways); w++) begin : gen_way
      open_t open;
      assign open = open_of(entry[s][w].index);
      always_comb if (rst_ni && entry[s][w].used) begin
        its_set : assert (entry[s][w].index[0] == 1'(s));
        once    : assert (w == 0 || !entry[s][0].used || entry[s][0].index != entry[s][w].index);
        pinned  : assert (entry[s][w].pinned == open[TbeWidth]);
        copy    : assert (entry[s][w].home == HomeI || entry[s][w].has);
        // The table has no row with any other pair of states.
        states  : assert (!home_step(entry[s][w].directory, entry[s][w].home, MsgRldi).never);
        if (entry[s][w].leaves) begin
          leaves : assert (open[TbeWidth] && kind[open[TbeWidth-1:0]] == KindRecall);
        end
      end
    end
  end

  for (genvar w = 0; w < int'(Ways); w++) begin : gen_read
    entry_t now, read;
    assign now  = entry[dut.s2_q.what.index[0]][w];
    assign read = entry_t'(dut.s2_entry_q[w]);
    always_comb if (rst_ni && s2) begin
      s2_entry : assert (now == read || (!now.used && !read.used));
      s2_match : assert (!read.used || dut.s2_match_q[w] == (read.index == dut.s2_q.what.index));
    end
  end

  open_t s1_open, s2_open;
  assign s1_open = open_of(dut.s1_q.what.index);
  assign s2_open = open_of(dut.s2_q.what.index);
  always_comb if (rst_ni) begin
    // For the induction: what the pipeline has read is still so.
    if (s2) begin
      s2_knows : assert (dut.s2_open_q == s2_open[TbeWidth]);
      if (s2_open[TbeWidth] || dut.s2_q.resumed) s2_which : assert (s2_open == {1'b1, s2_tbe});
    end
    if (s1 && dut.s1_q.resumed) s1_which : assert (s1_open == {1'b1, s1_tbe});
    if (s1) begin
      s1_resumed : assert (!dut.s1_q.memory || dut.s1_q.resumed);
      s1_source  : assert (dut.s1_q.resumed == (dut.s1_q.source == '0 && s1_kind != KindResponse));
      if (dut.s1_q.resumed) begin
        s1_phase : assert (tbe[s1_tbe] == (dut.s1_q.memory ? TbeMemory : TbeRuns));
        s1_what  : assert (dut.s1_q.what == dut.u_tbes.what_q[s1_tbe]);
      end else begin
        s1_new : assert (s1_kind != KindRecall);
        s1_op : assert (s1_kind != KindCore ||
                        dut.s1_q.what.op inside {CoreLoad, CoreStore, CoreEvict});
        s1_known : assert (s1_kind != KindRequest ||
                           dut.s1_q.what.message inside {MsgRlds, MsgRldi, MsgRldx, MsgRupg,
                                                         MsgRinc, MsgRdec, MsgRstt, MsgRstp,
                                                         MsgRcas});
        s1_rsp : assert (s1_kind != KindResponse ||
                         dut.s1_q.what.message inside {MsgVicd, MsgHakd, MsgHako, MsgVicc, MsgVics,
                                                       MsgHaki, MsgHaks, MsgHakv, MsgGack});
      end
    end
    if (s2) begin
      s2_resumed : assert (!dut.s2_q.memory || dut.s2_q.resumed);
      s2_source  : assert (dut.s2_q.resumed == (dut.s2_q.source == '0 && s2_kind != KindResponse));
      if (dut.s2_q.resumed) begin
        s2_phase : assert (tbe[s2_tbe] == (dut.s2_q.memory ? TbeMemory : TbeRuns));
        s2_what  : assert (dut.s2_q.what == dut.u_tbes.what_q[s2_tbe]);
      end else begin
        s2_new : assert (s2_kind != KindRecall);
        s2_op : assert (s2_kind != KindCore ||
                        dut.s2_q.what.op inside {CoreLoad, CoreStore, CoreEvict});
        s2_known : assert (s2_kind != KindRequest ||
                           s2_message inside {MsgRlds, MsgRldi, MsgRldx, MsgRupg,
                                                         MsgRinc, MsgRdec, MsgRstt, MsgRstp,
                                                         MsgRcas});
        s2_rsp : assert (s2_kind != KindResponse ||
                         s2_message inside {MsgVicd, MsgHakd, MsgHako, MsgVicc, MsgVics,
                                                       MsgHaki, MsgHaks, MsgHakv, MsgGack});
      end
    end
    no_owner : assert (dut.u_choose.u_arb.owner_q == '0);
    if (s1 && s2) apart : assert (!dut.s1_q.resumed || !dut.s2_q.resumed || s1_tbe != s2_tbe);

    // A transaction is opened only where one is free and the line has none, and what goes on never
    // waits.
    if (d.tbe.write && !dut.s2_q.resumed && s2_kind != KindResponse) begin
      free_one : assert (tbe[d.tbe.at[TbeWidth-1:0]] == TbeFree &&
                         !open_of(d.tbe.what.index) [TbeWidth]);
    end
    goes_on : assert (!(s2 && dut.s2_q.resumed && d.again));
    // What the remote or the host asks, and what goes on, has a row.
    rows : assert (!(s2_sends && dut.never));

    // A grant finds no other copy; a store and an atomic neither.
    if (d.tbe.write && d.tbe.phase == TbeGrant && s2_sends) begin
      grant_alone : assert (dut.ways.entry.directory == DirI || (s2_message == MsgRupg &&
                            dut.ways.entry.directory inside {DirS, DirO}));
      grant_known : assert (d.rsn == MsgPack ||
                            d.rsd inside {MsgPsha, MsgPemd});
      grant_dirty : assert (d.rsd != MsgPsha || dut.ways.entry.home != HomeI);
    end
    if (s2_sends && (d.rsd == MsgPatm ||
                     (d.rsn == MsgPack && s2_message inside {MsgRstt, MsgRstp}))) begin
      store_alone : assert (dut.ways.entry.directory == DirI);
    end
    if (d.core_rsp && dut.s2_q.what.op == CoreStore) begin
      core_alone : assert (dut.ways.entry.directory == DirI);
    end
    // An atomic of the host has read its word in its own transaction, which is open until now.
    if (d.core_rsp && dut.s2_q.what.op == CoreStore && s2_message != MsgNone) begin
      change_open : assert (dut.s2_q.resumed && dut.tbe_flags.old &&
                            tbe[s2_tbe] == TbeRuns && dut.ways.entry.has);
    end
    if (d.core_rsp && dut.s2_q.what.op == CoreLoad && dut.ways.entry.home == HomeI) begin
      core_shares : assert (dut.ways.entry.directory inside {DirI, DirS});
    end
    // An entry is given up only where the remote has nothing of it.
    if (d.write && !d.entry.used) begin
      no_copy : assert (dut.s2_entry_q[d.way[0]].directory == DirI);
    end

    // A response sends nothing.
    if (s2 && s2_kind == KindResponse) begin
      silent : assert (d.fwd == MsgNone && d.rsd == MsgNone &&
                       d.rsn == MsgNone && !d.mem_push && !d.core_rsp && !d.again);
    end

    // Places: with those that may still come, no queue is beyond its depth.
    fwd_place : assert (32'(dut.u_data.fwd_usage) + 32'(s1_sends) + 32'(s2_sends) <= 8);
    rsn_place : assert (32'(dut.u_data.rsn_usage) + 32'(s1_sends) + 32'(s2_sends) <= 8);
    rsd_place : assert (32'(dut.u_data.rsd_usage) + 32'(s1_sends) + 32'(s2_sends) +
                        32'(dut.u_data.s3_rsd_q) <= 8);
    mem_place : assert (32'(dut.u_data.mem_usage) + 32'(s1_sends) + 32'(s2_sends) +
                        32'(dut.u_data.s3_mem_q) <= 8);
    all_open : cover (tbe[0] == TbeForward && tbe[1] == TbeGrant);
    queued : cover (32'(dut.u_data.rsd_usage) == 2);
    replaced : cover (d.write && d.need_way && !dut.ways.some_empty);
    changed : cover (d.core_rsp && dut.s2_q.what.op == CoreStore && s2_message == MsgRinc);
    recall : cover (d.evict && dut.ways.victim.directory != DirI);
  end

  // A response is in stage 2 two cycles after it came: no output has a say in that.
  logic [1:0] came_q;
  index_t [1:0] came_index_q;
  message_e [1:0] came_message_q;
  always_ff @(posedge clk_i) begin
    came_q         <= rst_ni ? {came_q[0], rsp_valid_i} : '0;
    came_index_q   <= {came_index_q[0], rsp_index_i};
    came_message_q <= {came_message_q[0], rsp_message_i};
  end
  always_comb if (rst_ni) begin
    if (came_q[0]) begin
      sink_begins : assert (s1 && s1_kind == KindResponse &&
                            dut.s1_q.what.message == came_message_q[0] &&
                            dut.s1_q.what.index == came_index_q[0]);
    end
    if (came_q[1]) begin
      sink : assert (s2 && s2_kind == KindResponse && s2_message == came_message_q[1] &&
                     dut.s2_q.what.index == came_index_q[1]);
    end
  end
endmodule
