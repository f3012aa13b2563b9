// SPDX-License-Identifier: SHL-2.1
/// Home of a memory's lines, with a directory of what the remote node has, and the host's cache.
///
/// An array of entries is both: an entry has the home's state, the directory's and a place for the
/// line. While the home's state is not I the place has the home's copy; else, if anything, what
/// memory has or will have: a victim's data stay here, and go to memory when the entry is given up.
/// A line without an entry is in no cache. One pipeline takes an input a cycle and decides it in
/// one step of the table:
///   0 choose a response, memory's answer, a transaction that can go on, a request or the host's
///     operation (coherence_directory_choose)
///   1 read entries (coherence_tags) and transactions (coherence_directory_tbes)
///   2 decide (coherence_directory_ways, coherence_directory_step)
///   3 the line that was read is on core_rsp or in a message (coherence_directory_data)
///
///   Handshake   core, req, mem_req, fwd, rsd, rsn: valid/ready; mem_rsp: valid/ready, a request's
///               tag comes back with its response, in any order. rsp has no ready: it is taken in
///               its cycle. core: every operation gets one response with its tag, without ready
///   Atomics     core_i.atomic, with a store: the word is changed instead, in the host's copy; the
///               response has its old value in the first word. As of the remote's, nothing comes
///               between
///   Ordering    per line: one transaction (TBE). Else none
///   Coherence   responses are sinks: they change entries and transactions, and send nothing
///   Fairness    requests and the host take turns; per line each is passed over once by each
///               circuit at most
///   Latency     req_valid_i to rsd_valid_o 5 cycles of a line that is here; memory adds 3 and its
///               own time
///   Throughput  an input a cycle, of one source one in 3 cycles
///   Look        where no input comes, the state of a line that is asked for: as coherence_trace
///   Parameters  Sets a power of two, 2..4096; Ways 2, 4, 8; NumTbe a power of two, 2..64; Skip
///               0..8 low bits of the index that are the same in all lines of this home; Look 1: a
///               line can be asked for
///   Not done    RLDI and stores of lines without an entry make none: they go to memory
module coherence_directory
  import coherence_pkg::*;
  import coherence_directory_pkg::*;
  import blocklink_pkg::word_t;
#(
  parameter int unsigned Sets   = 64,
  parameter int unsigned Ways   = 4,
  parameter int unsigned NumTbe = 16,
  parameter int unsigned Skip   = 0,
  parameter bit          Look   = 1'b0
) (
  input  logic       clk_i,
  input  logic       rst_ni,
  // the host's own loads, stores, atomics and evictions
  input  logic       core_valid_i,
  output logic       core_ready_o,
  input  core_t      core_i,
  input  index_t     core_index_i,
  input  logic [7:0] core_tag_i,
  input  mask_t      core_mask_i,     // of a store
  input  line_t      core_data_i,
  output logic       core_rsp_valid_o,
  output answer_t    core_rsp_o,
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
  output memory_t    mem_req_o,
  input  logic       mem_rsp_valid_i,
  output logic       mem_rsp_ready_o,
  input  answer_t    mem_rsp_i,
  output logic       stray_o,         // strobe: a request that is none; it is dropped
  input  coherence_look_pkg::look_t   look_i,
  output coherence_look_pkg::looked_t looked_o
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
  localparam int unsigned WayWidth = $clog2(Ways);
  localparam int unsigned TbeWidth = $clog2(NumTbe);

  // ---------------------------------------------------------------- 0: choose
  logic s0_valid, s1_valid_q, s2_valid_q, room, run, ready_some, free_some;
  logic [3:0] known;
  tbe_id_t ready_id, free_id, resume_id;
  what_t resume_what;
  input_t s0, s1_q, s1, s2_q;
  mask_t s0_mask, s1_mask_q, s2_mask_q, resume_mask;
  line_t s0_data, s1_data_q, s2_data_q, resume_data;
  coherence_directory_choose u_choose (
    .clk_i, .rst_ni, .room_i(room),
    .busy_i((s1_valid_q ? s1_q.source : '0) | (s2_valid_q ? s2_q.source : '0)),
    .core_valid_i, .core_op_i(core_i.op), .core_index_i, .core_tag_i, .core_atomic_i(core_i.atomic),
    .core_word_i(core_i.word), .core_mask_i, .core_data_i,
    .req_valid_i, .req_message_i, .req_header_i, .req_payload_i, .known_o(known),
    .rsp_valid_i, .rsp_message_i, .rsp_index_i, .rsp_data_i,
    .mem_rsp_valid_i, .mem_rsp_ready_o,
    .mem_rsp_id_i(tbe_id_t'(mem_rsp_i.tag[TbeWidth-1:0])), .mem_rsp_data_i(mem_rsp_i.data),
    .ready_some_i(ready_some), .ready_id_i(ready_id), .run_o(run), .resume_id_o(resume_id),
    .resume_what_i(resume_what), .resume_mask_i(resume_mask), .resume_data_i(resume_data),
    .valid_o(s0_valid), .chosen_o(s0), .mask_o(s0_mask), .data_o(s0_data)
  );
  assign stray_o = (req_valid_i & ~known) != '0;

  // ---------------------------------------------------------------- 1: read
  entry_t [Ways-1:0] s1_entry, s2_entry_q;
  logic [Ways-1:0] s1_match, s2_match_q;  // its index is the input's
  logic s1_open, s2_open_q;               // a transaction of the line is open
  tbe_id_t s1_tbe;
  decision_t decision;                    // of stage 2
  tbe_phase_e tbe_phase;
  flags_t tbe_flags;
  what_t tbe_what;
  logic [127:0] operands;
  logic [63:0] tbe_old, old;
  logic old_valid;
  tbe_id_t old_id;
  // An entry that is given up keeps its index.
  logic [Ways-1:0] written;
  assign written = Ways'(decision.write) << decision.way[WayWidth-1:0];
  coherence_tags #(
    .Sets(Sets), .Ways(Ways), .Skip(Skip), .Width($bits(entry_t)), .Clear(1)
  ) u_entries (
    .clk_i, .rst_ni, .index_i(s1_q.what.index), .entry_o(s1_entry), .match_o(s1_match),
    .ways_i(written), .fresh_i(decision.evict ? '0 : written),
    .windex_i(s2_q.what.index), .entry_i(decision.entry)
  );
  coherence_directory_tbes #(.NumTbe(NumTbe)) u_tbes (
    .clk_i, .rst_ni, .ready_some_o(ready_some), .ready_id_o(ready_id), .run_i(run),
    .free_some_o(free_some), .free_id_o(free_id), .resume_id_i(resume_id),
    .resume_what_o(resume_what), .resume_mask_o(resume_mask), .resume_data_o(resume_data),
    .index_i(s1_q.what.index), .open_o(s1_open), .open_id_o(s1_tbe),
    .at_id_i(s2_q.tbe), .at_phase_o(tbe_phase), .at_flags_o(tbe_flags), .at_what_o(tbe_what),
    .at_operands_o(operands), .at_old_o(tbe_old), .change_i(decision.tbe),
    .store_i(s2_q.source != '0), .mask_i(s2_mask_q), .data_i(s2_data_q),
    .old_valid_i(old_valid), .old_id_i(old_id), .old_i(old)
  );
  always_comb begin
    s1 = s1_q;
    if (!s1_q.resumed) s1.tbe = s1_tbe;
  end
  // A line that is looked up passes the stages where no input does: it changes nothing.
  logic [1:0] looks_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {s1_valid_q, s2_valid_q, looks_q} <= '0;
    end else begin
      looks_q    <= {looks_q[0], Look && look_i.valid && !s0_valid};
      s1_valid_q <= s0_valid;
      s2_valid_q <= s1_valid_q;
    end
  end
  always_ff @(posedge clk_i) begin
    s1_q       <= s0;
    if (Look && !s0_valid) s1_q.what.index <= look_i.index;
    s1_mask_q  <= s0_mask;
    s1_data_q  <= s0_data;
    s2_q       <= s1;
    s2_mask_q  <= s1_mask_q;
    s2_data_q  <= s1_data_q;
    s2_entry_q <= s1_entry;
    s2_match_q <= s1_match;
    s2_open_q  <= s1_open;
  end

  // ---------------------------------------------------------------- 2: whose turn it is
  // A waiting request and a waiting operation of the host on one line take turns.
  logic core_passed_q, core_waits, req_passed, req_waits;
  logic [3:0] passed_q, same;
  logic [4:0] consumed;
  always_comb begin
    for (int unsigned r = 0; r < 4; r++) begin
      same[r] = req_valid_i[r] && known[r] && req_header_i[r].index == s2_q.what.index;
    end
  end
  assign core_waits = core_valid_i && core_index_i == s2_q.what.index;
  assign req_passed = (s2_q.source[3:0] & passed_q) != '0;
  assign req_waits  = (same & passed_q) != '0;
  assign consumed     = (s2_valid_q && !decision.again) ? s2_q.source : '0;
  assign req_ready_o  = consumed[3:0] | (req_valid_i & ~known);
  assign core_ready_o = consumed[4];
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      core_passed_q <= 1'b0;
      passed_q      <= '0;
    end else begin
      if (consumed[4]) core_passed_q <= 1'b0;
      else if (consumed[3:0] != '0 && core_waits) core_passed_q <= 1'b1;
      passed_q <= (passed_q | (consumed[4] ? same : '0)) & ~consumed[3:0];
    end
  end

  // ---------------------------------------------------------------- 2: decide
  ways_t ways;
  logic swaps, never;
  coherence_directory_ways #(.Ways(Ways)) u_ways (
    .clk_i, .rst_ni, .index_i(s2_q.what.index), .entry_i(s2_entry_q), .match_i(s2_match_q),
    .took_i(decision.evict || (decision.write && decision.need_way && !ways.some_empty)),
    .ways_o(ways)
  );
  assign looked_o.valid = looks_q[1] && s2_q.what.index == look_i.index;
  always_comb begin
    looked_o.state = '0;
    if (ways.hit) begin
      looked_o.state.entry     = 1'b1;
      looked_o.state.pinned    = ways.entry.pinned;
      looked_o.state.dirty     = ways.entry.dirty;
      looked_o.state.has       = ways.entry.has;
      looked_o.state.directory = ways.entry.directory;
      looked_o.state.home      = ways.entry.home;
    end
  end
  coherence_directory_step u_step (
    .valid_i(s2_valid_q), .in_i(s2_q), .full_i(s2_mask_q == '1), .open_i(s2_open_q),
    .ways_i(ways), .tbe_phase_i(tbe_phase), .tbe_flags_i(tbe_flags), .tbe_what_i(tbe_what),
    .free_some_i(free_some), .free_id_i(free_id),
    .waits_i(s2_q.source[4] ? req_waits : (core_waits && core_passed_q && !req_passed)),
    .swaps_i(swaps), .decision_o(decision), .never_o(never)
  );
`ifndef SYNTHESIS
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (rst_ni && never) begin
      $fatal(1, "coherence_directory: kind %0d, %s cannot come with directory %s, home %s",
             s2_q.what.kind, s2_q.what.message.name(), ways.entry.directory.name(),
             ways.entry.home.name());
    end
  end
`endif

  // ---------------------------------------------------------------- 2, 3: lines and messages
  coherence_directory_data #(.Sets(Sets), .Ways(Ways), .Skip(Skip)) u_data (
    .clk_i, .rst_ni, .valid_i(s2_valid_q), .in_i(s2_q), .mask_i(s2_mask_q), .data_i(s2_data_q),
    .decision_i(decision), .old_known_i(tbe_flags.old), .old_i(tbe_old), .operands_i(operands),
    .swaps_o(swaps), .old_valid_o(old_valid), .old_id_o(old_id), .old_o(old),
    .core_rsp_valid_o, .core_rsp_tag_o(core_rsp_o.tag), .core_rsp_data_o(core_rsp_o.data),
    .fwd_valid_o, .fwd_ready_i, .fwd_header_o,
    .rsd_valid_o, .rsd_ready_i, .rsd_header_o, .rsd_words_o, .rsd_data_o,
    .rsn_valid_o, .rsn_ready_i, .rsn_header_o,
    .mem_req_valid_o, .mem_req_ready_i, .mem_req_o, .room_o(room)
  );
  logic unused;
  assign unused = ^{req_header_i, mem_rsp_i.tag, never, look_i};
endmodule
