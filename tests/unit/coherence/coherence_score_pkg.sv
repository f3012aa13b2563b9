// SPDX-License-Identifier: SHL-2.1
/// What the scoreboard of coherent agents (coherence_score) reads of a cache and of a home, and the
/// random numbers of its benches.
package coherence_score_pkg;
  import coherence_pkg::*;
  import coherence_directory_pkg::*;

  /// A way of a cache's set.
  typedef struct packed {
    remote_e state;
    index_t  index;
  } held_t;

  /// What a cache decides in this clock, and the answer of the one before.
  typedef struct packed {
    logic       valid;
    logic       core;
    input_e     what;
    remote_e    state;
    index_t     index;
    logic [7:0] tag;
    logic       again;
    logic       miss;
    logic       fill;
    logic       twice;      // an MSHR is opened for a line that has one
    logic       store;      // the operation that is filled is a store, with
    mask_t      fill_mask;
    line_t      fill_data;
    mask_t      mask;
    line_t      data;
    coherence_atomic_pkg::atomic_t atomic;
    logic       busy;       // an atomic's word is not written yet
    logic       rsp_valid;
    line_t      rsp_data;
  } cache_tap_t;

  /// What a home decides in this clock, and the answers of the one before.
  typedef struct packed {
    logic      valid;
    input_t    in;
    decision_t decision;
    logic      hold;
    logic      open;
    phase_e    phase;
    entry_t    entry;
    directory_e victim;
    mask_t     mask;
    line_t     data;
    mask_t     kept_mask;   // of its transaction
    line_t     kept_data;
    logic      rsp_valid;
    line_t     rsp_data;
    logic      rsd_valid;
    line_t     rsd_data;
    logic      quiet;       // no transaction is open
    logic      stray;
  } home_tap_t;

  /// A load or an atomic was decided: the line that its port must show in the end.
  typedef struct packed {
    logic       valid;
    logic [7:0] tag;   // of an operation without a cache: its parity and id
    logic       word;  // the first word only
    line_t      line;
  } want_t;

  /// Contents of memory at the start.
  function automatic line_t initial_line(logic [63:0] seed, index_t at);  // verilator no_inline_task
    logic [63:0] x;
    line_t made;
    x = (seed + 64'(at) + 64'd1) * 64'h9E37_79B9_7F4A_7C15;
    for (int i = 0; i < 16; i++) begin
      x ^= x << 13;
      x ^= x >> 7;
      x ^= x << 17;
      made[64*i+:64] = x;
    end
    return made;
  endfunction

  function automatic line_t merged(line_t first, mask_t mask, line_t data);  // verilator no_inline_task
    line_t made;
    made = first;
    for (int i = 0; i < 128; i++) if (mask[i]) made[8*i+:8] = data[8*i+:8];
    return made;
  endfunction

  /// An atomic in a cache.
  function automatic line_t changed(line_t first, coherence_atomic_pkg::atomic_t atomic, line_t data);  // verilator no_inline_task
    import coherence_atomic_pkg::*;
    logic [127:0] a, b, c, made;
    logic signed [127:0] sa, sb;
    int unsigned bits, at, other;
    bits  = 8 << atomic.size;
    at    = 8 * 32'(atomic.offset);
    other = 8 * (32'(atomic.offset) ^ (1 << atomic.size));
    a = '0;
    b = '0;
    c = '0;
    for (int i = 0; i < 128; i++) begin
      if (i < int'(bits)) begin
        a[i] = first[at+i];
        b[i] = data[at+i];
        c[i] = data[(other+i)%1024];
      end
    end
    sa = $signed(a << (128 - bits)) >>> (128 - bits);
    sb = $signed(b << (128 - bits)) >>> (128 - bits);
    case (atomic.fn)
      AtomicAdd:     made = a + b;
      AtomicClear:   made = a & ~b;
      AtomicXor:     made = a ^ b;
      AtomicSet:     made = a | b;
      AtomicSmax:    made = (sa < sb) ? b : a;
      AtomicSmin:    made = (sa < sb) ? a : b;
      AtomicUmax:    made = (a < b) ? b : a;
      AtomicUmin:    made = (a < b) ? a : b;
      AtomicCompare: made = (a == b) ? c : a;
      default:       made = b;
    endcase
    changed = first;
    for (int i = 0; i < 128; i++) if (i < int'(bits)) changed[at+i] = made[i];
  endfunction

  /// State of the random numbers of a bench (xorshift64), which it seeds with an odd number.
  logic [63:0] rng;
  function automatic logic [31:0] rnd();
    rng ^= rng << 13;
    rng ^= rng >> 7;
    rng ^= rng << 17;
    return rng[40:9];
  endfunction
  function automatic int unsigned below(int unsigned n);
    return 32'((64'(rnd()) * 64'(n)) >> 32);
  endfunction
  function automatic line_t rnd_line();
    line_t made;
    for (int i = 0; i < 32; i++) made[32*i+:32] = rnd();
    return made;
  endfunction
  function automatic mask_t rnd_mask();
    mask_t made;
    int unsigned kind;
    made = '1;
    kind = below(4);
    case (kind)
      0: made = '1;
      1: made = mask_t'(1) << below(128);
      default: for (int i = 0; i < 4; i++) made[32*i+:32] = rnd();
    endcase
    return made;
  endfunction
endpackage

// In a generate block of its own: `held`, `lines` and `tap` of the coherence_cache `cache`.
`define SCORE_CACHE(cache, NSETS, NWAYS, NMSHRS) \
  held_t held [NWAYS][NSETS]; \
  line_t lines [(NSETS)*(NWAYS)]; \
  cache_tap_t tap; \
  for (genvar w = 0; w < int'(NWAYS); w++) begin : gen_way \
    for (genvar s = 0; s < int'(NSETS); s++) begin : gen_set \
      always_comb begin \
        held[w][s] = cache.u_tags.gen_ways[w].entry_q[s]; \
        if (!cache.u_tags.gen_ways[w].written_q[s]) held[w][s].state = RemoteI; \
        if (cache.u_tags.gen_ways[w].late_q && 32'(cache.u_tags.late_at_q) == s) begin \
          held[w][s] = cache.u_tags.late_entry_q; \
        end \
        lines[s*int'(NWAYS)+w] = cache.u_lines.u_ram.mem_q[s*int'(NWAYS)+w]; \
      end \
    end \
  end \
  logic twice; \
  always_comb begin \
    twice = 1'b0; \
    for (int i = 0; i < int'(NMSHRS); i++) begin \
      if (cache.allocate && cache.u_mshrs.open_q[i] && \
          cache.u_mshrs.line_q[i] == cache.s2_q.index) twice = 1'b1; \
    end \
  end \
  assign tap = '{ \
    valid: cache.s2_valid_q, core: cache.s2_q.core, what: cache.s2_q.what, state: cache.state, \
    index: cache.s2_q.index, tag: cache.s2_q.tag, again: cache.again, miss: cache.miss, \
    fill: cache.fill, twice: twice, store: cache.u_mshrs.store_q[cache.s2_q.id], \
    fill_mask: cache.u_mshrs.mask_q[cache.s2_q.id], \
    fill_data: cache.u_mshrs.data_q[cache.s2_q.id], mask: cache.s2_q.mask, \
    data: cache.s2_q.data, atomic: cache.s2_atomic_q, busy: cache.lines_busy, \
    rsp_valid: cache.core_rsp_valid_o, rsp_data: cache.core_rsp_data_o \
  };

// The same of the coherence_directory `home`.
`define SCORE_HOME(home, NSETS, NWAYS, NTBES) \
  entry_t held [NWAYS][NSETS]; \
  line_t lines [(NSETS)*(NWAYS)]; \
  home_tap_t tap; \
  for (genvar w = 0; w < int'(NWAYS); w++) begin : gen_way \
    for (genvar s = 0; s < int'(NSETS); s++) begin : gen_set \
      always_comb begin \
        held[w][s] = home.u_entries.gen_ways[w].entry_q[s]; \
        if (!home.u_entries.gen_ways[w].written_q[s]) held[w][s].used = 1'b0; \
        if (home.u_entries.gen_ways[w].late_q && 32'(home.u_entries.late_at_q) == s) begin \
          held[w][s] = home.u_entries.late_entry_q; \
        end \
        lines[s*int'(NWAYS)+w] = home.u_data.u_lines.mem_q[s*int'(NWAYS)+w]; \
      end \
    end \
  end \
  logic quiet; \
  always_comb begin \
    quiet = 1'b1; \
    for (int i = 0; i < int'(NTBES); i++) if (home.u_tbes.phase_q[i] != TbeFree) quiet = 1'b0; \
  end \
  assign tap = '{ \
    valid: home.s2_valid_q, in: home.s2_q, decision: home.decision, hold: home.u_step.step.hold, \
    open: home.s2_open_q, phase: home.u_step.phase, entry: home.ways.entry, \
    victim: home.ways.victim.directory, mask: home.s2_mask_q, data: home.s2_data_q, \
    kept_mask: home.u_tbes.mask_q[home.u_tbes.at_id], \
    kept_data: home.u_tbes.data_q[home.u_tbes.at_id], \
    rsp_valid: home.core_rsp_valid_o, rsp_data: home.core_rsp_o.data, \
    rsd_valid: home.u_data.s3_rsd_q, rsd_data: home.u_data.rsd_line, quiet: quiet, \
    stray: home.stray_o \
  };
