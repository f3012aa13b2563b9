// SPDX-License-Identifier: SHL-2.1
/// What a home does with one input: one step of the protocol's table (protocol.toml), for stage 2.
///
///   Contract    from the input, the ways of its set and its transaction: messages, memory's
///               request, the new entry, the transaction's new state. again: nothing of these, the
///               input is offered again. never_o: the table has no such step, the other side broke
///               the protocol
///   Coherence   a response changes entry and transaction, and sends nothing. A grant, a store and
///               an atomic need that the directory says no other copy is left (proved with the
///               directory)
///   Ordering    per line: an input of an open transaction's line is `again`, its own aside; so is
///               one whose turn it is not (waits_i)
///   Latency     0 cycles, no state
///   Not done    bytes: which ones, and from where, is all that it says of them
module coherence_directory_step
  import coherence_pkg::*;
  import coherence_directory_pkg::*;
(
  input  logic       valid_i,
  input  input_t     in_i,
  input  logic       full_i,       // the input's mask is that of a whole line
  input  logic       open_i,       // a transaction of the line is open: in_i.tbe
  input  ways_t      ways_i,
  input  tbe_phase_e tbe_phase_i,
  input  flags_t     tbe_flags_i,
  input  what_t      tbe_what_i,
  input  logic       free_some_i,  // a transaction is free
  input  tbe_id_t    free_id_i,
  input  logic       waits_i,      // it is another's turn
  input  logic       swaps_i,      // an atomic writes its word
  output decision_t  decision_o,
  output logic       never_o
);
  flags_t flags;
  phase_e phase;
  home_step_t step;
  core_step_t core;
  response_step_t response;
  message_e message;
  entry_t entry;
  decision_t d;
  logic change;  // the host's operation is an atomic, not a store
  logic finish;  // the transaction ends, if there is one
  logic fetch;   // memory is asked for the line; the transaction goes on with its answer
  assign entry    = ways_i.entry;
  assign flags    = tbe_flags_i;
  assign message  = in_i.what.message;
  assign change   = in_i.what.op == CoreStore && message != MsgNone;
  assign step     = home_step(entry.directory, entry.home, message);
  assign core     = core_step(in_i.what.op, entry.directory, entry.home);
  assign response = response_step(phase, message, entry.directory, flags.victim);
  always_comb begin
    phase = PhaseReply;
    if (!open_i) phase = PhaseIdle;
    else if (tbe_phase_i == TbeGrant) phase = PhaseGrant;
    else if (tbe_phase_i == TbeForward) phase = PhaseForward;
  end

  always_comb begin
    finish = 1'b0;
    fetch  = 1'b0;
    d = '{
      again: 1'b0, need_way: 1'b0, evict: 1'b0,
      write: 1'b0, way: ways_i.hit ? ways_i.hit_way : ways_i.new_way, entry: entry,
      place: BytesNone,
      fwd: MsgNone, fwd_index: in_i.what.index,
      rsd: MsgNone, rsd_place: 1'b1, rsd_dirty: step.dirty,
      rsn: MsgNone, core_rsp: 1'b0, old_write: 1'b0,
      mem_push: 1'b0, mem_write: 1'b0, mem_place: 1'b0, mem_bytes: BytesAll,
      tbe: '{write: 1'b0,
             at: in_i.resumed || in_i.what.kind == KindResponse ? in_i.tbe : free_id_i,
             phase: TbeFree, flags: '0, what: in_i.what}
    };
    if (valid_i) begin
      if (in_i.what.kind == KindResponse) begin
        // ---------------------------------------- a response: never waits, sends nothing
        d.write = ways_i.hit;
        d.entry.directory = response.directory;
        if (response.memory) begin
          d.place       = BytesAll;
          d.entry.has   = 1'b1;
          d.entry.dirty = 1'b1;
        end
        d.tbe.flags = flags;
        d.tbe.what  = tbe_what_i;
        d.tbe.flags.heard  = flags.heard || response.heard;
        d.tbe.flags.victim = flags.victim || response.victim;
        d.tbe.flags.needed = flags.needed || response.needed;
        if (message == MsgHako) begin
          d.place       = BytesAll;
          d.entry.has   = flags.victim && entry.has;
          d.entry.dirty = flags.victim && entry.dirty;
          if (tbe_what_i.kind == KindCore) begin
            d.entry.home = HomeS;
            d.entry.has  = 1'b1;
          end else begin
            d.tbe.flags.given = 1'b1;
          end
        end
        if (phase == PhaseForward) begin
          d.tbe.write = 1'b1;
          d.tbe.phase = TbeForward;
          if (d.tbe.flags.heard && (!d.tbe.flags.needed || d.tbe.flags.victim)) begin
            d.tbe.phase = TbeReady;
          end
        end
        if (response.free) begin
          d.tbe.write    = 1'b1;
          d.tbe.phase    = TbeFree;
          d.entry.pinned = 1'b0;
        end
      end else if (in_i.memory && in_i.what.kind == KindRecall) begin
        finish = 1'b1;
      end else if (in_i.memory && in_i.what.kind == KindRequest &&
                   !(message inside {MsgRlds, MsgRldx, MsgRupg})) begin
        // ---------------------------------------- memory has done an uncached access
        if (step.answer == MsgPatm && !flags.old) begin
          fetch       = 1'b1;
          d.old_write = 1'b1;
          d.mem_write = 1'b1;
          d.mem_bytes = BytesWord;
          d.tbe.flags.old = 1'b1;
        end else begin
          finish      = 1'b1;
          d.rsd_place = 1'b0;
          if (step.answer == MsgPack) d.rsn = MsgPack;
          else d.rsd = step.answer;
        end
      end else if (in_i.memory) begin
        // ---------------------------------------- memory's line: a request is answered with it
        d.write       = 1'b1;
        d.place       = BytesAll;
        d.entry.has   = 1'b1;
        d.entry.dirty = 1'b0;
        d.tbe.write   = 1'b1;
        d.tbe.phase   = TbeReady;
        if (in_i.what.kind == KindRequest) begin
          d.rsd       = step.answer;
          d.rsd_place = 1'b0;
          d.entry.home      = step.home;
          d.entry.directory = step.directory;
          d.tbe.phase = TbeGrant;
        end
      end else if (in_i.what.kind == KindRecall) begin
        // ---------------------------------------- an entry that no copy needs any more is given up
        d.write      = 1'b1;
        d.entry.used = 1'b0;
        if (entry.has && entry.dirty) begin
          fetch       = 1'b1;
          d.mem_write = 1'b1;
          d.mem_place = 1'b1;
        end else begin
          finish = 1'b1;
        end
      end else if (!in_i.resumed && (open_i || waits_i)) begin
        d.again = 1'b1;
      end else if (in_i.what.kind == KindRequest) begin
        // ---------------------------------------- a request
        if (step.hold || (!in_i.resumed && !free_some_i)) begin
          d.again = 1'b1;
        end else if (in_i.resumed && flags.given) begin
          d.rsd  = MsgPdat;
          finish = 1'b1;
        end else if (step.forward != MsgNone) begin
          d.fwd       = step.forward;
          d.tbe.write = 1'b1;
          d.tbe.phase = TbeForward;
        end else if (step.grant) begin
          if (step.answer != MsgPack && !entry.has) begin
            d.need_way = !ways_i.hit;
            fetch      = 1'b1;
          end else begin
            if (step.answer == MsgPack) d.rsn = MsgPack;
            else d.rsd = step.answer;
            d.entry.home      = step.home;
            d.entry.directory = step.directory;
            if (step.answer == MsgPack || step.dirty) {d.entry.has, d.entry.dirty} = '0;
            d.tbe.write = 1'b1;
            d.tbe.phase = TbeGrant;
          end
        end else if (step.answer == MsgPdat) begin
          if (entry.has) begin
            d.rsd  = MsgPdat;
            finish = 1'b1;
          end else begin
            fetch = 1'b1;
          end
        end else if (step.answer == MsgPack) begin
          if (entry.has) begin
            d.place       = BytesMask;
            d.entry.home  = step.home;
            d.entry.dirty = 1'b1;
            d.rsn         = MsgPack;
            finish        = 1'b1;
          end else begin
            fetch       = 1'b1;
            d.mem_write = 1'b1;
            d.mem_bytes = BytesMask;
          end
        end else if (!entry.has) begin
          fetch = 1'b1;
        end else if (!flags.old || !in_i.resumed) begin
          d.old_write     = 1'b1;
          d.tbe.write     = 1'b1;
          d.tbe.phase     = TbeReady;
          d.tbe.flags.old = 1'b1;
        end else begin
          if (swaps_i) begin
            d.place       = BytesWord;
            d.entry.home  = step.home;
            d.entry.dirty = 1'b1;
          end
          d.rsd  = MsgPatm;
          finish = 1'b1;
        end
      end else if (in_i.what.op == CoreEvict) begin
        // ---------------------------------------- the host gives its copy up
        d.core_rsp   = 1'b1;
        d.entry.home = HomeI;
        if (entry.home inside {HomeS, HomeE} && entry.directory == DirO) begin
          {d.entry.has, d.entry.dirty} = '0;
        end
      end else if (in_i.what.op == CoreLoad && entry.home != HomeI) begin
        d.core_rsp = 1'b1;
        finish     = 1'b1;
      end else if (core.forward != MsgNone) begin
        d.fwd       = core.forward;
        d.tbe.write = 1'b1;
        d.tbe.phase = TbeForward;
        d.again     = !free_some_i && !in_i.resumed;
      end else begin
        d.need_way = !ways_i.hit;
        if (!entry.has && !(in_i.what.op == CoreStore && full_i && !change)) begin
          d.again = !free_some_i && !in_i.resumed;
          fetch   = 1'b1;
        end else if (change && !(in_i.resumed && flags.old)) begin
          // An atomic reads its word first; its transaction keeps all others off the line.
          d.again         = !free_some_i && !in_i.resumed;
          d.old_write     = 1'b1;
          d.tbe.write     = 1'b1;
          d.tbe.phase     = TbeReady;
          d.tbe.flags.old = 1'b1;
        end else if (change) begin
          d.core_rsp = 1'b1;
          finish     = 1'b1;
          if (swaps_i) begin
            d.place       = BytesWord;
            d.entry.home  = core.home;
            d.entry.dirty = 1'b1;
          end
        end else begin
          d.core_rsp   = 1'b1;
          finish       = 1'b1;
          d.entry.home = core.home;
          if (in_i.what.op == CoreStore) begin
            d.place = BytesMask;
            {d.entry.has, d.entry.dirty} = '1;
          end
        end
      end

      // ---------------------------------------- its entry, and its transaction
      if (fetch) begin
        d.mem_push  = 1'b1;
        d.tbe.write = 1'b1;
        d.tbe.phase = TbeMemory;
      end
      if (d.need_way && !ways_i.some_new) begin
        d.again = 1'b1;
        d.evict = ways_i.some_victim && !ways_i.leaving && free_some_i;
      end
      if (in_i.what.kind != KindResponse && in_i.what.kind != KindRecall) begin
        d.write = ways_i.hit || d.need_way;
      end
      if (d.tbe.write && in_i.what.kind != KindResponse) d.entry.pinned = 1'b1;
      if (finish) begin
        d.entry.pinned = 1'b0;
        d.tbe.write    = in_i.resumed;
        d.tbe.phase    = TbeFree;
      end
      if (d.again) begin
        d.write     = 1'b0;
        d.place     = BytesNone;
        d.tbe.write = 1'b0;
        d.mem_push  = 1'b0;
        d.core_rsp  = 1'b0;
        d.old_write = 1'b0;
        d.fwd       = MsgNone;
        d.rsd       = MsgNone;
        d.rsn       = MsgNone;
      end
      if (d.evict) begin
        d.write     = 1'b1;
        d.way       = ways_i.victim_way;
        d.entry     = ways_i.victim;
        d.tbe.at    = free_id_i;
        d.tbe.what  = '{kind: KindRecall, message: MsgNone, op: CoreRecall, id: '0, tag: '0,
                        word: '0, index: ways_i.victim.index};
        d.tbe.flags = '0;
        if (ways_i.victim.directory != DirI) begin
          d.fwd       = MsgFinv;
          d.fwd_index = ways_i.victim.index;
          d.tbe.write = 1'b1;
          d.tbe.phase = TbeForward;
          {d.entry.pinned, d.entry.leaves} = '1;
        end else begin
          d.entry.used = 1'b0;
          if (ways_i.victim.has && ways_i.victim.dirty) begin
            d.mem_push  = 1'b1;
            d.mem_write = 1'b1;
            d.mem_place = 1'b1;
            d.mem_bytes = BytesAll;
            d.tbe.write = 1'b1;
            d.tbe.phase = TbeMemory;
          end
        end
      end
    end
  end
  assign decision_o = d;

  always_comb begin
    never_o = 1'b0;
    unique case (in_i.what.kind)
      KindResponse: never_o = response.never || !ways_i.hit;
      KindRequest:  never_o = !in_i.memory && !d.again && step.never;
      KindRecall:   never_o = !in_i.memory && entry.directory != DirI;
      default:      never_o = 1'b0;
    endcase
    if (in_i.resumed && d.again) never_o = 1'b1;
    if (!valid_i) never_o = 1'b0;
  end
  logic unused;
  assign unused = ^{core.never, step, ways_i, in_i};
endmodule
