// SPDX-License-Identifier: SHL-2.1
/// Home of a memory's lines, with a directory of what the remote node has, and the host's own cache.
///
/// An array of entries is both: an entry has the home's state, the directory's and a place for the line.
/// While the home's state is not I the place has the home's copy; else, if anything, what memory has or
/// will have: a victim's data stay here, and go to memory when the entry is given up. A line without an
/// entry is in no cache. One pipeline takes an input a cycle and decides it in one step of the table:
///   0 choose a response, memory's answer, a transaction that can go on, a request or the host's operation;
///   1 entries and transactions are read; 2 decide; 3 the line that was read is on core_rsp or in a message
///
///   Handshake   core, req, mem_req, fwd, rsd, rsn: valid/ready; mem_rsp: valid/ready, a request's tag
///               comes back with its response, in any order. rsp has no ready: it is taken in its cycle.
///               core: every operation gets one response with its tag, without ready
///   Ordering    per line: one transaction (TBE). Else none
///   Coherence   responses are sinks: they change entries and transactions, and send nothing
///   Fairness    requests and the host take turns; per line each is passed over once by each circuit at most
///   Latency     req_valid_i to rsd_valid_o 5 cycles of a line that is here; memory adds 3 and its own time
///   Throughput  an input a cycle, of one source one in 3 cycles
///   Parameters  Sets a power of two, 2..4096; Ways 2, 4, 8; NumTbe a power of two, 2..64; Skip 0..8 low
///               bits of the index that are the same in all lines of this home
///   Not done    RLDI and stores of lines without an entry make none: they go to memory
module coherence_directory
  import coherence_pkg::*;
  import blocklink_pkg::word_t;
#(
  parameter int unsigned Sets   = 64,
  parameter int unsigned Ways   = 4,
  parameter int unsigned NumTbe = 16,
  parameter int unsigned Skip   = 0
) (
  input  logic       clk_i,
  input  logic       rst_ni,
  // the host's own loads, stores and evictions
  input  logic       core_valid_i,
  output logic       core_ready_o,
  input  core_e      core_op_i,       // load, store, evict
  input  index_t     core_index_i,
  input  logic [7:0] core_tag_i,
  input  mask_t      core_mask_i,     // of a store
  input  line_t      core_data_i,
  output logic       core_rsp_valid_o,
  output logic [7:0] core_rsp_tag_o,
  output line_t      core_rsp_data_o, // of a load
  // from the remote: requests of four circuits, two of them with a payload, and responses
  input  logic     [3:0] req_valid_i,
  output logic     [3:0] req_ready_o,
  input  message_e [3:0] req_message_i,
  input  header_t  [3:0] req_header_i,
  input  word_t [1:0][17:0] req_payload_i,
  input  logic       rsp_valid_i,
  input  message_e   rsp_message_i,
  input  index_t     rsp_index_i,
  input  line_t      rsp_data_i,
  // to the remote: forwards, answers with words behind the header and without
  output logic       fwd_valid_o,
  input  logic       fwd_ready_i,
  output header_t    fwd_header_o,
  output logic       rsd_valid_o,
  input  logic       rsd_ready_i,
  output header_t    rsd_header_o,
  output logic [4:0] rsd_words_o,
  output line_t      rsd_data_o,
  output logic       rsn_valid_o,
  input  logic       rsn_ready_i,
  output header_t    rsn_header_o,
  // memory
  output logic       mem_req_valid_o,
  input  logic       mem_req_ready_i,
  output logic       mem_req_write_o,
  output index_t     mem_req_index_o,
  output logic [7:0] mem_req_tag_o,
  output mask_t      mem_req_mask_o,
  output line_t      mem_req_data_o,
  input  logic       mem_rsp_valid_i,
  output logic       mem_rsp_ready_o,
  input  logic [7:0] mem_rsp_tag_i,
  input  line_t      mem_rsp_data_i,
  output logic       stray_o          // strobe: a request that is none; it is dropped
);
  if (Sets < 2 || Sets > 4096 || (Sets & (Sets - 1)) != 0) begin : gen_sets_check
    $error("coherence_directory: Sets is %0d, legal is a power of two, 2..4096", Sets);
  end
  if (!(Ways inside {2, 4, 8})) begin : gen_ways_check
    $error("coherence_directory: Ways is %0d, legal is 2, 4, 8", Ways);
  end
  if (NumTbe < 2 || NumTbe > 64 || (NumTbe & (NumTbe - 1)) != 0) begin : gen_tbe_check
    $error("coherence_directory: NumTbe is %0d, legal is a power of two, 2..64", NumTbe);
  end
  if (Skip > 8) begin : gen_skip_check
    $error("coherence_directory: Skip is %0d, legal is 0..8", Skip);
  end
  localparam int unsigned SetWidth = $clog2(Sets);
  localparam int unsigned WayWidth = $clog2(Ways);
  localparam int unsigned TbeWidth = $clog2(NumTbe);
  localparam int unsigned Queue = 8;

  typedef logic [SetWidth-1:0] set_t;
  typedef logic [WayWidth-1:0] way_t;
  typedef logic [TbeWidth-1:0] tbe_id_t;
  typedef struct packed {
    logic       used;
    home_e      home;
    directory_e directory;
    logic       has;    // the place has a line
    logic       dirty;  // and memory has another
    logic       pinned; // a transaction of the line is open
    logic       leaves; // it is being given up
    index_t     index;
  } entry_t;
  typedef enum logic [2:0] {
    TbeFree,
    TbeMemory,   // memory's response is due
    TbeGrant,    // the remote's GACK is
    TbeForward,  // its answer to a forward, and perhaps a victim
    TbeReady,    // goes on when it is chosen
    TbeRuns      // is in the pipeline
  } tbe_phase_e;
  // What an input is, and why a transaction is open.
  typedef enum logic [1:0] {
    KindResponse,
    KindRequest,
    KindCore,
    KindRecall   // of the entry; its line is then written back
  } kind_e;
  typedef struct packed {
    kind_e      kind;
    message_e   message;   // of a request
    core_e      op;        // of the core
    id_t        id;
    logic [7:0] tag;
    logic [3:0] word;      // of an atomic
    index_t     index;
  } what_t;
  typedef struct packed {
    logic    heard;
    logic    victim;
    logic    needed;
    logic    given;   // data of HAKO are at the entry's place
    logic    old;     // an atomic's old value is known
  } flags_t;
  typedef struct packed {
    logic [4:0] source;  // one-hot: a request's circuit, the core; 0: another input
    logic       resumed; // of an open transaction
    logic       memory;  // memory's response to it
    tbe_id_t    tbe;
    what_t      what;
    mask_t      mask;    // bytes to write
    line_t      data;
  } input_t;

  // ---------------------------------------------------------------- transactions
  tbe_phase_e tbe_phase_q [NumTbe];
  what_t  tbe_what_q [NumTbe];
  flags_t tbe_flags_q [NumTbe];
  mask_t  tbe_mask_q [NumTbe];
  line_t  tbe_data_q [NumTbe];
  logic [63:0] tbe_old_q [NumTbe];
  logic ready_some, free_some;
  tbe_id_t ready_id, free_id;
  always_comb begin
    ready_some = 1'b0;
    ready_id   = '0;
    free_some  = 1'b0;
    free_id    = '0;
    for (int i = int'(NumTbe) - 1; i >= 0; i--) begin
      if (tbe_phase_q[i] == TbeReady) begin
        ready_some = 1'b1;
        ready_id   = tbe_id_t'(i);
      end
      if (tbe_phase_q[i] == TbeFree) begin
        free_some = 1'b1;
        free_id   = tbe_id_t'(i);
      end
    end
  end

  // ---------------------------------------------------------------- 0: choose
  logic [4:0] wants, turn;
  logic s0_valid, s1_valid_q, s2_valid_q, room, choose_memory, choose_ready, choose_source;
  logic [3:0] known;
  input_t s0, s1_q, s1, s2_q;
  for (genvar r = 0; r < 4; r++) begin : gen_known
    assign known[r] = req_message_i[r] inside {MsgRlds, MsgRldi, MsgRldx, MsgRupg, MsgRinc, MsgRdec,
                                               MsgRstt, MsgRstp, MsgRcas};
    assign wants[r] = req_valid_i[r] && known[r] && !(s1_valid_q && s1_q.source[r]) &&
                      !(s2_valid_q && s2_q.source[r]);
  end
  assign stray_o  = (req_valid_i & ~known) != '0;
  assign wants[4] = core_valid_i && !(s1_valid_q && s1_q.source[4]) &&
                    !(s2_valid_q && s2_q.source[4]);
  assign choose_memory = mem_rsp_valid_i && !rsp_valid_i && room;
  assign choose_ready  = ready_some && !rsp_valid_i && !choose_memory && room;
  assign choose_source = wants != '0 && !rsp_valid_i && !choose_memory && !choose_ready && room;
  assign mem_rsp_ready_o = !rsp_valid_i && room;
  assign s0_valid = rsp_valid_i || choose_memory || choose_ready || choose_source;
  arb_rr #(.NumReq(5)) u_arb (
    .clk_i, .rst_ni, .req_i(choose_source ? wants : '0), .last_i(1'b1), .gnt_o(turn), .idx_o()
  );
  always_comb begin
    s0 = '{source: turn, resumed: 1'b0, memory: 1'b0, tbe: '0,
           what: '{kind: KindResponse, message: rsp_message_i, op: core_op_i, id: '0,
                   tag: core_tag_i, word: '0, index: rsp_index_i},
           mask: '1, data: rsp_data_i};
    if (choose_memory || choose_ready) begin
      s0.tbe  = choose_memory ? mem_rsp_tag_i[TbeWidth-1:0] : ready_id;
      s0.resumed = 1'b1;
      s0.what = tbe_what_q[s0.tbe];
      s0.memory = choose_memory;
      s0.mask = tbe_mask_q[s0.tbe];
      s0.data = choose_memory ? mem_rsp_data_i : tbe_data_q[s0.tbe];
    end else if (turn[4]) begin
      s0.what.kind  = KindCore;
      s0.what.index = core_index_i;
      s0.mask = core_mask_i;
      s0.data = core_data_i;
    end else if (turn != '0) begin
      s0.what.kind = KindRequest;
      s0.mask = '1;
      s0.data = '0;
      for (int unsigned r = 0; r < 4; r++) begin
        if (turn[r]) begin
          s0.what.message = req_message_i[r];
          s0.what.index   = req_header_i[r].index;
          s0.what.id      = req_header_i[r].id;
          s0.what.word    = req_header_i[r].offset[6:3];
        end
      end
      for (int unsigned r = 0; r < 2; r++) begin
        if (turn[r]) begin
          s0.data = req_payload_i[r][15:0];
          if (req_message_i[r] == MsgRstp) {s0.data, s0.mask} = req_payload_i[r];
        end
      end
    end
  end

  // ---------------------------------------------------------------- 1: read
  entry_t [Ways-1:0] s1_entry, s2_entry_q;
  logic [Ways-1:0] s1_match, s2_match_q;  // its index is the input's
  logic s1_open, s2_open_q;       // a transaction of the line is open
  tbe_id_t s1_tbe;
  logic s2_write, evict;
  way_t s2_way;
  entry_t s2_entry;
  logic tbe_write;                // stage 2 changes a transaction
  tbe_id_t tbe_at;
  tbe_phase_e tbe_phase;
  index_t tbe_index;              // whose line it is, where stage 2 opens it
  always_comb begin
    s1_open = 1'b0;
    s1_tbe  = '0;
    for (int unsigned i = 0; i < NumTbe; i++) begin
      if (tbe_phase_q[i] != TbeFree && tbe_what_q[i].index == s1_q.what.index &&
          !(tbe_write && tbe_at == tbe_id_t'(i))) begin
        s1_open = 1'b1;
        s1_tbe  = tbe_id_t'(i);
      end
    end
    if (tbe_write && tbe_phase != TbeFree && tbe_index == s1_q.what.index) begin
      s1_open = 1'b1;
      s1_tbe  = tbe_at;
    end
    s1 = s1_q;
    if (!s1_q.resumed) s1.tbe = s1_tbe;
  end
  for (genvar w = 0; w < int'(Ways); w++) begin : gen_entries
    entry_t entry_q [Sets];
    logic [Sets-1:0] written_q;
    set_t at;
    assign at = s1_q.what.index[Skip+:SetWidth];
    always_comb begin
      s1_entry[w] = entry_q[at];
      if (!written_q[at]) s1_entry[w].used = 1'b0;
      s1_match[w] = entry_q[at].index == s1_q.what.index;
      if (s2_write && s2_way == way_t'(w) && s2_q.what.index[Skip+:SetWidth] == at) begin
        s1_entry[w] = s2_entry;
        // An entry that is given up keeps its index.
        if (!evict) s1_match[w] = s2_q.what.index == s1_q.what.index;
      end
    end
    always_ff @(posedge clk_i) begin
      if (s2_write && s2_way == way_t'(w)) entry_q[s2_q.what.index[Skip+:SetWidth]] <= s2_entry;
    end
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) written_q <= '0;
      else if (s2_write && s2_way == way_t'(w)) written_q[s2_q.what.index[Skip+:SetWidth]] <= 1'b1;
    end
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      s1_valid_q <= 1'b0;
      s2_valid_q <= 1'b0;
    end else begin
      s1_valid_q <= s0_valid;
      s2_valid_q <= s1_valid_q;
    end
  end
  always_ff @(posedge clk_i) begin
    s1_q       <= s0;
    s2_q       <= s1;
    s2_entry_q <= s1_entry;
    s2_match_q <= s1_match;
    s2_open_q  <= s1_open;
  end

  // ---------------------------------------------------------------- 2: what is here
  logic hit, some_empty, some_clean, some_new, some_own, some_victim, leaving;
  way_t hit_way, empty_way, clean_way, new_way, victim_way, turn_q;
  entry_t entry, victim;
  always_comb begin
    hit     = 1'b0;
    hit_way = '0;
    entry   = '{used: 1'b1, home: HomeI, directory: DirI, has: 1'b0, dirty: 1'b0, pinned: 1'b0,
                leaves: 1'b0, index: s2_q.what.index};
    some_empty = 1'b0;
    empty_way  = '0;
    leaving    = 1'b0;
    some_clean = 1'b0;
    clean_way  = '0;
    some_own   = 1'b0;
    some_victim = 1'b0;
    victim_way = '0;
    for (int unsigned w = 0; w < Ways; w++) begin
      if (s2_entry_q[w].used && s2_match_q[w]) begin
        hit     = 1'b1;
        hit_way = way_t'(w);
        entry   = s2_entry_q[w];
      end
      if (!s2_entry_q[w].used) begin
        some_empty = 1'b1;
        empty_way  = way_t'(w);
      end
      if (s2_entry_q[w].used && s2_entry_q[w].leaves) leaving = 1'b1;
    end
    for (int unsigned k = 0; k < Ways; k++) begin
      way_t w;
      w = way_t'(32'(turn_q) + Ways - 1 - k);
      if (s2_entry_q[w].used && !s2_entry_q[w].pinned) begin
        // One that the remote has not, if there is any: to recall a line takes a round trip.
        some_victim = 1'b1;
        if (s2_entry_q[w].directory == DirI || !some_own) victim_way = w;
        if (s2_entry_q[w].directory == DirI) begin
          some_own = 1'b1;
          if (!(s2_entry_q[w].has && s2_entry_q[w].dirty)) begin
            some_clean = 1'b1;
            clean_way  = w;
          end
        end
      end
    end
  end
  assign victim = s2_entry_q[victim_way];
  // A new line's way: an empty one, or that of a line which memory has and the remote has not.
  assign some_new = some_empty || some_clean;
  assign new_way  = some_empty ? empty_way : clean_way;

  flags_t flags;
  phase_e phase;
  home_step_t step;
  core_step_t core;
  response_step_t response;
  message_e message;
  assign flags    = tbe_flags_q[s2_q.tbe];
  assign message  = s2_q.what.message;
  assign step     = home_step(entry.directory, entry.home, message);
  assign core     = core_step(s2_q.what.op, entry.directory, entry.home);
  assign response = response_step(phase, message, entry.directory, flags.victim);
  always_comb begin
    phase = PhaseReply;
    if (!s2_open_q) phase = PhaseIdle;
    else if (tbe_phase_q[s2_q.tbe] == TbeGrant) phase = PhaseGrant;
    else if (tbe_phase_q[s2_q.tbe] == TbeForward) phase = PhaseForward;
  end

  // An atomic changes one word: the old value is known in its second pass.
  logic [63:0] old, changed;
  mask_t word_mask;
  assign old       = (s2_q.memory && !flags.old) ? s2_q.data[64*s2_q.what.word+:64] :
                                                   tbe_old_q[s2_q.tbe];
  assign word_mask = mask_t'(8'hFF) << (8 * s2_q.what.word);
  logic [127:0] operands;
  assign operands = tbe_data_q[s2_q.tbe][127:0];
  always_comb begin
    unique case (message)
      MsgRinc: changed = old + 64'd1;
      MsgRdec: changed = old - 64'd1;
      default: changed = (old == operands[63:0]) ? operands[127:64] : old;
    endcase
  end

  // A waiting request and a waiting operation of the host take turns.
  logic core_passed_q, core_waits, req_passed, req_waits;
  logic [3:0] passed_q, same;
  always_comb begin
    for (int unsigned r = 0; r < 4; r++) begin
      same[r] = req_valid_i[r] && known[r] && req_header_i[r].index == s2_q.what.index;
    end
  end
  assign core_waits = core_valid_i && core_index_i == s2_q.what.index;
  assign req_passed = (s2_q.source[3:0] & passed_q) != '0;
  assign req_waits  = (same & passed_q) != '0;

  // ---------------------------------------------------------------- 2: decide
  logic again, finish, need_way, s2_read;
  mask_t place_mask;
  line_t place_data;
  message_e fwd_message, rsd_message, rsn_message;
  index_t fwd_index;
  logic mem_push, mem_write, mem_place, rsd_place, core_rsp, old_write;
  mask_t mem_mask;
  line_t mem_data;
  flags_t tbe_flags;
  what_t tbe_what;

  // Memory is asked for the line; the transaction goes on with its answer.
  `define COHERENCE_FETCH \
    mem_push  = 1'b1; \
    tbe_write = 1'b1; \
    tbe_phase = TbeMemory;

  always_comb begin
    again       = 1'b0;
    finish      = 1'b0;  // the transaction ends, if there is one
    need_way    = 1'b0;
    evict       = 1'b0;
    s2_write    = 1'b0;
    s2_way      = hit ? hit_way : new_way;
    s2_entry    = entry;
    place_mask  = '0;
    place_data  = s2_q.data;
    fwd_message = MsgNone;
    fwd_index   = s2_q.what.index;
    rsd_message = MsgNone;
    rsn_message = MsgNone;
    rsd_place   = 1'b1;
    core_rsp    = 1'b0;
    old_write   = 1'b0;
    mem_push    = 1'b0;
    mem_write   = 1'b0;
    mem_place   = 1'b0;
    mem_mask    = '1;
    mem_data    = s2_q.data;
    tbe_write   = 1'b0;
    tbe_at      = s2_q.resumed || s2_q.what.kind == KindResponse ? s2_q.tbe : free_id;
    tbe_phase   = TbeFree;
    tbe_flags   = '0;
    tbe_what    = s2_q.what;
    if (s2_valid_q) begin
      if (s2_q.what.kind == KindResponse) begin
        // ---------------------------------------- a response: never waits, sends nothing
        s2_write = hit;
        s2_entry.directory = response.directory;
        if (response.memory) begin
          place_mask = '1;
          s2_entry.has   = 1'b1;
          s2_entry.dirty = 1'b1;
        end
        tbe_flags = flags;
        tbe_what  = tbe_what_q[s2_q.tbe];
        tbe_flags.heard  = flags.heard || response.heard;
        tbe_flags.victim = flags.victim || response.victim;
        tbe_flags.needed = flags.needed || response.needed;
        if (message == MsgHako) begin
          place_mask = '1;
          s2_entry.has   = flags.victim && entry.has;
          s2_entry.dirty = flags.victim && entry.dirty;
          if (tbe_what.kind == KindCore) begin
            s2_entry.home = HomeS;
            s2_entry.has  = 1'b1;
          end else begin
            tbe_flags.given = 1'b1;
          end
        end
        if (phase == PhaseForward) begin
          tbe_write = 1'b1;
          tbe_phase = (tbe_flags.heard && (!tbe_flags.needed || tbe_flags.victim)) ? TbeReady :
                                                                                     TbeForward;
        end
        if (response.free) begin
          tbe_write = 1'b1;
          tbe_phase = TbeFree;
          s2_entry.pinned = 1'b0;
        end
      end else if (s2_q.memory && s2_q.what.kind == KindRecall) begin
        finish = 1'b1;
      end else if (s2_q.memory && s2_q.what.kind == KindRequest &&
                   !(message inside {MsgRlds, MsgRldx, MsgRupg})) begin
        // ---------------------------------------- memory has done what the agent without a cache wants
        if (step.answer == MsgPatm && !flags.old) begin
          old_write = 1'b1;
          mem_push  = 1'b1;
          mem_write = 1'b1;
          mem_mask  = word_mask;
          mem_data  = {16{changed}};
          tbe_write = 1'b1;
          tbe_phase = TbeMemory;
          tbe_flags.old = 1'b1;
        end else begin
          finish    = 1'b1;
          rsd_place = 1'b0;
          if (step.answer == MsgPack) rsn_message = MsgPack;
          else rsd_message = step.answer;
        end
      end else if (s2_q.memory) begin
        // ---------------------------------------- memory's line is here: a request is answered with it
        s2_write   = 1'b1;
        place_mask = '1;
        s2_entry.has   = 1'b1;
        s2_entry.dirty = 1'b0;
        tbe_write = 1'b1;
        tbe_phase = TbeReady;
        if (s2_q.what.kind == KindRequest) begin
          rsd_message = step.answer;
          rsd_place   = 1'b0;
          s2_entry.home      = step.home;
          s2_entry.directory = step.directory;
          tbe_phase = TbeGrant;
        end
      end else if (s2_q.what.kind == KindRecall) begin
        // ---------------------------------------- an entry that no copy needs any more is given up
        s2_write      = 1'b1;
        s2_entry.used = 1'b0;
        if (entry.has && entry.dirty) begin
          mem_push  = 1'b1;
          mem_write = 1'b1;
          mem_place = 1'b1;
          tbe_write = 1'b1;
          tbe_phase = TbeMemory;
        end else begin
          finish = 1'b1;
        end
      end else if (!s2_q.resumed && (s2_open_q || (s2_q.source[4] ? req_waits :
               (core_waits && core_passed_q && !req_passed)))) begin
        again = 1'b1;
      end else if (s2_q.what.kind == KindRequest) begin
        // ---------------------------------------- a request
        if (step.hold || (!s2_q.resumed && !free_some)) begin
          again = 1'b1;
        end else if (s2_q.resumed && flags.given) begin
          rsd_message = MsgPdat;
          finish      = 1'b1;
        end else if (step.forward != MsgNone) begin
          fwd_message = step.forward;
          tbe_write   = 1'b1;
          tbe_phase   = TbeForward;
        end else if (step.grant) begin
          if (step.answer != MsgPack && !entry.has) begin
            need_way = !hit;
            `COHERENCE_FETCH
          end else begin
            if (step.answer == MsgPack) rsn_message = MsgPack;
            else rsd_message = step.answer;
            s2_entry.home      = step.home;
            s2_entry.directory = step.directory;
            if (step.answer == MsgPack || step.dirty) {s2_entry.has, s2_entry.dirty} = '0;
            tbe_write = 1'b1;
            tbe_phase = TbeGrant;
          end
        end else if (step.answer == MsgPdat) begin
          if (entry.has) begin
            rsd_message = MsgPdat;
            finish      = 1'b1;
          end else begin
            `COHERENCE_FETCH
          end
        end else if (step.answer == MsgPack) begin
          if (entry.has) begin
            place_mask     = s2_q.mask;
            s2_entry.home  = step.home;
            s2_entry.dirty = 1'b1;
            rsn_message    = MsgPack;
            finish         = 1'b1;
          end else begin
            `COHERENCE_FETCH
            mem_write = 1'b1;
            mem_mask  = s2_q.mask;
          end
        end else if (!entry.has) begin
          `COHERENCE_FETCH
        end else if (!flags.old || !s2_q.resumed) begin
          old_write     = 1'b1;
          tbe_write     = 1'b1;
          tbe_phase     = TbeReady;
          tbe_flags.old = 1'b1;
        end else begin
          // A compare and swap that fails leaves all as it is.
          if (changed != old || message != MsgRcas) begin
            place_mask     = word_mask;
            place_data     = {16{changed}};
            s2_entry.home  = step.home;
            s2_entry.dirty = 1'b1;
          end
          rsd_message = MsgPatm;
          finish      = 1'b1;
        end
      end else if (s2_q.what.op == CoreEvict) begin
        // ---------------------------------------- the host gives its copy up
        core_rsp      = 1'b1;
        s2_entry.home = HomeI;
        if (entry.home inside {HomeS, HomeE} && entry.directory == DirO) begin
          {s2_entry.has, s2_entry.dirty} = '0;
        end
      end else if (s2_q.what.op == CoreLoad && entry.home != HomeI) begin
        core_rsp = 1'b1;
        finish   = 1'b1;
      end else if (core.forward != MsgNone) begin
        fwd_message = core.forward;
        tbe_write   = 1'b1;
        tbe_phase   = TbeForward;
        again       = !free_some && !s2_q.resumed;
      end else begin
        need_way = !hit;
        if (!entry.has && !(s2_q.what.op == CoreStore && s2_q.mask == '1)) begin
          again = !free_some && !s2_q.resumed;
          `COHERENCE_FETCH
        end else begin
          core_rsp      = 1'b1;
          finish        = 1'b1;
          s2_entry.home = core.home;
          if (s2_q.what.op == CoreStore) begin
            place_mask = s2_q.mask;
            {s2_entry.has, s2_entry.dirty} = '1;
          end
        end
      end

      // ---------------------------------------- its entry, and its transaction
      if (need_way && !some_new) begin
        again = 1'b1;
        evict = some_victim && !leaving && free_some;
      end
      if (s2_q.what.kind != KindResponse && s2_q.what.kind != KindRecall) begin
        s2_write = hit || need_way;
      end
      if (tbe_write && s2_q.what.kind != KindResponse) s2_entry.pinned = 1'b1;
      if (finish) begin
        s2_entry.pinned = 1'b0;
        tbe_write = s2_q.resumed;
        tbe_phase = TbeFree;
      end
      if (again) begin
        s2_write   = 1'b0;
        place_mask = '0;
        tbe_write  = 1'b0;
        mem_push   = 1'b0;
        core_rsp   = 1'b0;
        old_write  = 1'b0;
        fwd_message = MsgNone;
        rsd_message = MsgNone;
        rsn_message = MsgNone;
      end
      if (evict) begin
        s2_write  = 1'b1;
        s2_way    = victim_way;
        s2_entry  = victim;
        tbe_at    = free_id;
        tbe_what  = '{kind: KindRecall, message: MsgNone, op: CoreRecall, id: '0, tag: '0, word: '0,
                      index: victim.index};
        tbe_flags = '0;
        if (victim.directory != DirI) begin
          fwd_message = MsgFinv;
          fwd_index   = victim.index;
          tbe_write   = 1'b1;
          tbe_phase   = TbeForward;
          {s2_entry.pinned, s2_entry.leaves} = '1;
        end else begin
          s2_entry.used = 1'b0;
          if (victim.has && victim.dirty) begin
            mem_push  = 1'b1;
            mem_write = 1'b1;
            mem_place = 1'b1;
            mem_mask  = '1;
            tbe_write = 1'b1;
            tbe_phase = TbeMemory;
          end
        end
      end
    end
  end
  `undef COHERENCE_FETCH
  assign tbe_index = tbe_what.index;
  assign s2_read   = s2_valid_q;

  line_t read;
  ram_1r1w #(
    .Width(8 * LineBytes), .Depth(Sets * Ways), .LaneWidth(8), .ReadOld(1'b1)
  ) u_lines (
    .clk_i, .we_i(place_mask), .waddr_i({s2_q.what.index[Skip+:SetWidth], s2_way}),
    .wdata_i(place_data), .re_i(s2_read), .raddr_i({s2_q.what.index[Skip+:SetWidth], s2_way}),
    .rdata_o(read)
  );

  logic [4:0] consumed;
  assign consumed = (s2_valid_q && !again) ? s2_q.source : '0;
  assign req_ready_o  = consumed[3:0] | (req_valid_i & ~known);
  assign core_ready_o = consumed[4];

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      for (int unsigned i = 0; i < NumTbe; i++) tbe_phase_q[i] <= TbeFree;
      turn_q        <= '0;
      core_passed_q <= 1'b0;
      passed_q      <= '0;
    end else begin
      if (choose_ready) tbe_phase_q[ready_id] <= TbeRuns;
      if (tbe_write) tbe_phase_q[tbe_at] <= tbe_phase;
      if (evict || (s2_write && need_way && !some_empty)) turn_q <= turn_q + 1'b1;
      if (consumed[4]) core_passed_q <= 1'b0;
      else if (consumed[3:0] != '0 && core_waits) core_passed_q <= 1'b1;
      passed_q <= (passed_q | (consumed[4] ? same : '0)) & ~consumed[3:0];
`ifndef SYNTHESIS
      if (s2_valid_q && s2_q.what.kind == KindResponse && (response.never || !hit)) begin
        $fatal(1, "coherence_directory: %s cannot come in %s, directory %s", message.name(),
               phase.name(), entry.directory.name());
      end
      if (s2_valid_q && s2_q.what.kind == KindRequest && !s2_q.memory && !again && step.never) begin
        $fatal(1, "coherence_directory: %s cannot come with %s, %s", message.name(),
               entry.directory.name(), entry.home.name());
      end
      if (s2_valid_q && s2_q.resumed && again) begin
        $fatal(1, "coherence_directory: a transaction that goes on waits");
      end
      if (s2_valid_q && s2_q.what.kind == KindRecall && !s2_q.memory &&
          entry.directory != DirI) begin
        $fatal(1, "coherence_directory: an entry with a remote copy is given up");
      end
`endif
    end
  end
  always_ff @(posedge clk_i) begin
    if (tbe_write) begin
      tbe_what_q[tbe_at]  <= tbe_what;
      tbe_flags_q[tbe_at] <= tbe_flags;
    end
    if (tbe_write && s2_q.source != '0) begin
      tbe_mask_q[tbe_at] <= s2_q.mask;
      tbe_data_q[tbe_at] <= s2_q.data;
    end
  end

  // ---------------------------------------------------------------- 3: what was read
  logic s3_rsp_q, s3_rsd_q, s3_place_q, s3_mem_q, s3_mem_place_q, s3_mem_write_q, s3_old_q;
  logic s3_atomic_q;
  logic [7:0] s3_tag_q;
  logic [3:0] s3_word_at_q;
  header_t s3_header_q, rsd_header;
  tbe_id_t s3_tbe_q;
  index_t s3_mem_index_q;
  mask_t s3_mem_mask_q;
  line_t s3_data_q;
  logic [63:0] s3_word_q;
  always_comb begin
    rsd_header = header_of(rsd_message, s2_q.what.id, s2_q.what.index);
    if (step.dirty && rsd_message == MsgPemd) rsd_header.dirty = '1;
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {s3_rsp_q, s3_rsd_q, s3_mem_q, s3_old_q} <= '0;
    end else begin
      s3_rsp_q <= core_rsp;
      s3_rsd_q <= rsd_message != MsgNone;
      s3_mem_q <= mem_push;
      s3_old_q <= old_write;
    end
  end
  always_ff @(posedge clk_i) begin
    s3_tag_q       <= s2_q.what.tag;
    s3_word_at_q   <= s2_q.what.word;
    s3_header_q    <= rsd_header;
    s3_place_q     <= rsd_place;
    s3_atomic_q    <= rsd_message == MsgPatm;
    s3_tbe_q       <= tbe_at;
    s3_word_q      <= old;
    s3_mem_write_q <= mem_write;
    s3_mem_place_q <= mem_place;
    s3_mem_index_q <= tbe_index;
    s3_mem_mask_q  <= mem_mask;
    s3_data_q      <= mem_push ? mem_data : s2_q.data;
  end
  // Of an atomic's first pass: from memory's line, or from the place.
  logic s3_from_memory_q;
  always_ff @(posedge clk_i) begin
    s3_from_memory_q <= s2_q.memory;
    if (s3_old_q) tbe_old_q[s3_tbe_q] <= s3_from_memory_q ? s3_word_q : read[64*s3_word_at_q+:64];
  end
  assign core_rsp_valid_o = s3_rsp_q;
  assign core_rsp_tag_o   = s3_tag_q;
  assign core_rsp_data_o  = read;

  // ---------------------------------------------------------------- messages
  // What enters stage 0, responses aside, finds a place for all that it and those before it may send.
  localparam int unsigned QueueWidth = $clog2(Queue) + 1;
  logic [QueueWidth-1:0] fwd_usage, rsd_usage, rsn_usage, mem_usage;
  logic [3:0] ready;
  line_t rsd_line;
  assign room = 32'(fwd_usage) + 4 <= Queue && 32'(rsd_usage) + 4 <= Queue &&
                32'(rsn_usage) + 4 <= Queue && 32'(mem_usage) + 4 <= Queue;
  assign rsd_line = s3_atomic_q ? line_t'(s3_word_q) : s3_place_q ? read : s3_data_q;

  header_t fwd_push, rsn_push;
  assign fwd_push = header_of(fwd_message, '0, fwd_index);
  assign rsn_push = header_of(rsn_message, s2_q.what.id, s2_q.what.index);
  fifo #(.Width(64), .Depth(Queue)) u_fwd (
    .clk_i, .rst_ni, .clear_i(1'b0), .valid_i(fwd_message != MsgNone), .ready_o(ready[0]),
    .data_i(fwd_push), .valid_o(fwd_valid_o), .ready_i(fwd_ready_i),
    .data_o(fwd_header_o), .usage_o(fwd_usage)
  );
  fifo #(.Width(64 + 5 + 8 * LineBytes), .Depth(Queue)) u_rsd (
    .clk_i, .rst_ni, .clear_i(1'b0), .valid_i(s3_rsd_q), .ready_o(ready[1]),
    .data_i({s3_header_q, s3_atomic_q ? 5'd1 : 5'd16, rsd_line}), .valid_o(rsd_valid_o),
    .ready_i(rsd_ready_i), .data_o({rsd_header_o, rsd_words_o, rsd_data_o}), .usage_o(rsd_usage)
  );
  fifo #(.Width(64), .Depth(Queue)) u_rsn (
    .clk_i, .rst_ni, .clear_i(1'b0), .valid_i(rsn_message != MsgNone), .ready_o(ready[2]),
    .data_i(rsn_push), .valid_o(rsn_valid_o), .ready_i(rsn_ready_i), .data_o(rsn_header_o),
    .usage_o(rsn_usage)
  );
  fifo #(.Width(1 + IndexWidth + 8 + LineBytes + 8 * LineBytes), .Depth(Queue)) u_mem (
    .clk_i, .rst_ni, .clear_i(1'b0), .valid_i(s3_mem_q), .ready_o(ready[3]),
    .data_i({s3_mem_write_q, s3_mem_index_q, 8'(s3_tbe_q), s3_mem_mask_q,
             s3_mem_place_q ? read : s3_data_q}),
    .valid_o(mem_req_valid_o), .ready_i(mem_req_ready_i),
    .data_o({mem_req_write_o, mem_req_index_o, mem_req_tag_o, mem_req_mask_o, mem_req_data_o}),
    .usage_o(mem_usage)
  );
`ifndef SYNTHESIS
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (rst_ni) begin
      if ((fwd_message != MsgNone && !ready[0]) || (s3_rsd_q && !ready[1]) ||
          (rsn_message != MsgNone && !ready[2]) || (s3_mem_q && !ready[3])) begin
        $fatal(1, "coherence_directory: a message without a place");
      end
    end
  end
`endif
  logic unused;
  assign unused = ^{ready, req_header_i, mem_rsp_tag_i, core.never, step, response};
endmodule
