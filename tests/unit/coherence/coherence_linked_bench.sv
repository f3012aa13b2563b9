// SPDX-License-Identifier: SHL-2.1
/// Both ends of a coherent link or two as they are on boards (eci_peer), each with memory, homes and
/// a cache of the other's lines, over wires that alter and lose blocks and stop. All random choices
/// come from seed_i.
///
///   Lines       coherence_score of each cache with each home of the other end: at every clock
///   Messages    blocklink_score of each link and direction: every word at the agents' pins
///   Ports       every operation is answered once, a load and an atomic with what was decided;
///               those without a cache on one line of the other end in their order
///   Credits     where all has ended, none is missing and none too many
///   Progress    an operation that takes longer than Patience clocks fails
///   Faults      of blocks at rate_i of 2^32, and by plans (PlanSyncAnswer and so on) that wait for
///               one kind of block; fault_e counts what came of it
module coherence_linked_bench
  import coherence_pkg::*;
  import coherence_directory_pkg::*;
  import coherence_score_pkg::*;
  import blocklink_pkg::*;
#(
  parameter int unsigned NumLinks = 2,
  parameter int unsigned Slices   = 1,
  parameter int unsigned Homes    = 1,  // of a parity
  parameter int unsigned Sets     = 4,
  parameter int unsigned Ways     = 2,
  parameter int unsigned NumMshr  = 4,
  parameter int unsigned HomeSets = 8,
  parameter int unsigned HomeWays = 2,
  parameter int unsigned NumTbe   = 16,
  parameter int unsigned DataDepth = 32,
  parameter int unsigned RestDepth = 16,
  parameter int unsigned Window   = 64
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic [63:0] seed_i,
  input  logic [6:0]  lines_i,      // of each memory, 1 to 64
  input  logic        partition_i,
  input  logic [31:0] rate_i,       // bad blocks of 2^32; 0: no fault of any kind
  input  logic [15:0] plans_i,      // a wire without a plan makes one in so many clocks
  input  logic [5:0]  delay_i,      // clocks on a wire, 1 to 60
  input  logic [15:0] words_i,      // an end begins with a word's operation in so many clocks
  input  logic [15:0] barriers_i,   // a word's operation of so many is a barrier
  input  logic        stop_i,       // no operation begins any more
  input  logic [11:0] sel_i,        // as coherence_score
  input  logic [5:0]  fault_i,
  output logic [31:0] count_o,
  output logic [31:0] fault_o,      // how often fault_i was seen
  output logic [31:0] kind_o,       // messages of the message_e that fault_i is
  output logic [31:0] messages_o,   // that came to an agent
  output logic [31:0] operations_o,
  output logic [31:0] clocks_o,
  output logic [31:0] longest_o,    // clocks of an operation
  output logic        quiet_o       // nothing is open, and the credits were compared
);
  localparam int unsigned Lines = 64;
  localparam int unsigned All   = 2 * Homes;
  localparam int unsigned Which = $clog2(All);
  localparam int unsigned Patience = 60_000;
  localparam int unsigned MostOpen = 40;

  // The order is that of FAULTS in coherence_linked_tb.py.
  typedef enum int unsigned {
    BadWords,        // an altered block with words
    BadCredits,      // with credits alone
    BadAck,          // an idle one with an acknowledgement
    BadIdle,
    BadAnswer,       // a SYNC that answers
    BadRequest,      // a SYNC that asks
    LostBlock,       // a block with words or credits that vanished
    LostSync,
    LostAck,
    LostCredits,     // a bad block of any kind with credits
    BadAgain,        // a bad block among those sent again
    BadWhileAsking,  // of the direction that a SYNC is wanted of
    BadBoth,         // both directions of a link ask at once
    Burst,           // 8 bad blocks and more in a row
    LongBurst,       // more than the window has
    Stall,           // of a wire
    LongStall,       // longer than an acknowledgement may take
    Overdue,         // an acknowledgement did not come
    Repeat,          // a block that had come before
    Again,           // blocks sent again
    Starved,         // clocks in which a circuit has no credits for its chunk
    FullMshrs,       // clocks in which all MSHRs of a parity of a cache are open
    FullTbes,        // clocks in which all transactions of a home are open
    SameId,          // an MSHR's id that was free for 4 clocks at most
    SameRequest,     // the same of an operation without a cache
    Link0,           // messages by link
    Link1,
    Settled          // times that all had ended and the credits were compared
  } fault_e;
  localparam int unsigned NumFaults = 28;
  int unsigned faults [NumFaults];

  typedef enum logic [3:0] {
    PlanNone,
    PlanAnswer,   // the next SYNC that answers is bad
    PlanRequest,  // that asks
    PlanCredits,  // the next block of credits alone
    PlanAck,      // the next idle block with an acknowledgement
    PlanAgain,    // a block is bad, and one of those that are sent again
    PlanBurst,    // so many blocks
    PlanLoss,     // so many vanish
    PlanBoth,     // a block here, and some of the other direction
    PlanStall     // the wire takes no block for so many clocks
  } plan_e;

  logic partition_q;  // so that no input is combinational in the ends

  // ---------------------------------------------------------------- both ends
  typedef struct packed {
    line_kind_e kind;
    logic       write;
    index_t     index;
    mask_t      mask;
    line_t      data;
    coherence_atomic_pkg::atomic_t atomic;
  } operation_t;
  logic [1:0] req_valid, req_ready, rsp_valid, unc_rsp, unc_side;
  operation_t [1:0] req;
  logic [1:0][7:0] req_tag, rsp_tag;
  line_t [1:0] rsp_data;
  id_t [1:0] unc_id;
  logic [1:0] mem_valid, mem_ready, mem_write, mem_rsp_valid, mem_rsp_ready;
  index_t [1:0] mem_index;
  logic [1:0][7:0] mem_tag, mem_rsp_tag;
  mask_t [1:0] mem_mask;
  line_t [1:0] mem_data, mem_rsp_data;
  logic [1:0] io_valid, io_ready, io_rsp_valid, event_valid, event_ipi;
  logic [1:0][1:0] io_kind;
  logic [1:0][39:0] io_address, event_address;
  logic [1:0][7:0] io_mask, io_tag, io_rsp_tag;
  logic [1:0][63:0] io_data, io_rsp_data;
  logic [1:0][31:0] stray;

  block_t [1:0][NumLinks-1:0] tx_block, rx_block;
  logic [1:0][NumLinks-1:0] tx_ready, rx_valid, up, broken;
  logic [1:0][NumLinks-1:0] load, repeating, repeated, starved, overdue, settled, empty, unfair;
  logic [1:0][NumLinks-1:0][31:0] got_messages;
  logic [1:0][NumLinks-1:0][25:0][31:0] got_kinds;

  logic [1:0] cache_quiet, home_quiet, id_same, unc_same;
  logic [1:0] full_mshrs, full_tbes;
  logic [1:0][Slices-1:0][NumMshr/Slices-1:0] ids;
  logic [1:0][63:0] unc_ids;

  // What was written to memory at the edge before.
  logic [1:0] wrote;
  index_t [1:0] wrote_index;
  mask_t [1:0] wrote_mask;
  line_t [1:0] wrote_data;

  for (genvar e = 0; e < 2; e++) begin : gen_end
    eci_peer #(
      .DataDepth(DataDepth), .RestDepth(RestDepth), .Window(Window), .NumLinks(NumLinks),
      .CacheSets(Sets), .CacheWays(Ways), .NumMshr(NumMshr), .CacheSlices(Slices), .Atomics(1'b1),
      .NumTbe(NumTbe), .DirectorySets(HomeSets), .DirectoryWays(HomeWays), .DirectoryHomes(Homes)
    ) u_end (
      .clk_i, .rst_ni, .cfg_partition_i(partition_q), .cfg_fpga_i(1'(e)),
      .blocks_tx_data_o(tx_block[e]), .blocks_tx_ready_i(tx_ready[e]),
      .blocks_rx_data_i(rx_block[1-e]), .blocks_rx_valid_i(rx_valid[1-e]),
      .lines_req_valid_i(req_valid[e]), .lines_req_ready_o(req_ready[e]),
      .lines_req_kind_i(req[e].kind), .lines_req_write_i(req[e].write),
      .lines_req_index_i(req[e].index), .lines_req_tag_i(req_tag[e]),
      .lines_req_mask_i(req[e].mask), .lines_req_data_i(req[e].data),
      .lines_req_atomic_i(req[e].atomic), .lines_rsp_valid_o(rsp_valid[e]),
      .lines_rsp_tag_o(rsp_tag[e]), .lines_rsp_data_o(rsp_data[e]),
      .mem_req_valid_o(mem_valid[e]), .mem_req_ready_i(mem_ready[e]),
      .mem_req_write_o(mem_write[e]), .mem_req_index_o(mem_index[e]), .mem_req_tag_o(mem_tag[e]),
      .mem_req_mask_o(mem_mask[e]), .mem_req_data_o(mem_data[e]),
      .mem_rsp_valid_i(mem_rsp_valid[e]), .mem_rsp_ready_o(mem_rsp_ready[e]),
      .mem_rsp_tag_i(mem_rsp_tag[e]), .mem_rsp_data_i(mem_rsp_data[e]),
      .io_req_valid_i(io_valid[e]), .io_req_ready_o(io_ready[e]), .io_req_kind_i(io_kind[e]),
      .io_req_address_i(io_address[e]), .io_req_mask_i(io_mask[e]), .io_req_tag_i(io_tag[e]),
      .io_req_data_i(io_data[e]), .io_rsp_valid_o(io_rsp_valid[e]), .io_rsp_tag_o(io_rsp_tag[e]),
      .io_rsp_data_o(io_rsp_data[e]), .io_event_valid_o(event_valid[e]),
      .io_event_ipi_o(event_ipi[e]), .io_event_address_o(event_address[e]),
      .probe_o(), .probe_tag_o(), .status_up_o(up[e]), .status_fail_o(broken[e]),
      .status_blocks_o(), .status_words_o(), .status_got_o(), .status_bad_o(), .status_again_o(),
      .status_stray_o(stray[e])
    );

    // ---------------------------------------------------------------- its links
    for (genvar l = 0; l < int'(NumLinks); l++) begin : gen_link
      // From this end to the other.
      assign load[e][l]      = u_end.u_node.u_links.gen_link[l].u_link.u_replay.load;
      assign repeating[e][l] = u_end.u_node.u_links.gen_link[l].u_link.u_replay.again_o;
      assign repeated[e][l]  = u_end.u_node.u_links.gen_link[l].u_link.u_replay.data &&
                               !u_end.u_node.u_links.gen_link[l].u_link.u_replay.fresh;
      assign overdue[e][l]   = u_end.u_node.u_links.gen_link[l].u_link.u_replay.overdue;
      assign starved[e][l]   = u_end.u_node.u_links.gen_link[l].u_link.u_pack.room &&
                               (u_end.u_node.u_links.gen_link[l].u_link.u_pack.valid_i &
                                ~u_end.u_node.u_links.gen_link[l].u_link.u_pack.able) != '0;
      // All blocks are acknowledged, all credits are back; then they must be as many as at first.
      logic [NumVcs-1:0] credits;
      for (genvar v = 0; v < int'(NumVcs); v++) begin : gen_vc
        localparam int unsigned Depth = depth_of(v, DataDepth, RestDepth);
        if (e == 0) begin : gen_to_1
          assign credits[v] =
            32'(u_end.u_node.u_links.gen_link[l].u_link.u_pack.credit_q[v]) +
            32'(gen_end[1].u_end.u_node.u_links.gen_link[l].u_link.u_depack.gen_vc[v].freed_q) ==
            Depth;
        end else begin : gen_to_0
          assign credits[v] =
            32'(u_end.u_node.u_links.gen_link[l].u_link.u_pack.credit_q[v]) +
            32'(gen_end[0].u_end.u_node.u_links.gen_link[l].u_link.u_depack.gen_vc[v].freed_q) ==
            Depth;
        end
      end
      assign settled[e][l] = up[e][l] &&
                             u_end.u_node.u_links.gen_link[l].u_link.u_replay.held_q == '0 &&
                             u_end.u_node.u_links.gen_link[l].u_link.u_pack.staged_q == '0 &&
                             !u_end.u_node.u_links.gen_link[l].u_link.credit_some;
      assign unfair[e][l] = credits != '1;
      logic [NumVcs-1:0][3:0] pop;
      word_t [NumVcs-1:0][7:0] shown;
      if (e == 0) begin : gen_at_1
        assign pop   = gen_end[1].u_end.u_node.u_links.gen_link[l].u_link.pop_i;
        assign shown = gen_end[1].u_end.u_node.u_links.gen_link[l].u_link.words_o;
      end else begin : gen_at_0
        assign pop   = gen_end[0].u_end.u_node.u_links.gen_link[l].u_link.pop_i;
        assign shown = gen_end[0].u_end.u_node.u_links.gen_link[l].u_link.words_o;
      end
      blocklink_score u_words (
        .clk_i, .rst_ni,
        .put_i(u_end.u_node.u_links.gen_link[l].u_link.valid_i &
               u_end.u_node.u_links.gen_link[l].u_link.ready_o),
        .count_i(u_end.u_node.u_links.gen_link[l].u_link.count_i),
        .words_i(u_end.u_node.u_links.gen_link[l].u_link.words_i),
        .pop_i(pop), .shown_i(shown), .messages_o(got_messages[e][l]), .kinds_o(got_kinds[e][l]),
        .empty_o(empty[e][l])
      );
    end

    // ---------------------------------------------------------------- its caches and homes
    assign unc_rsp[e]  = u_end.u_peer.u_agent.u_requester.rsp_valid_o;
    assign unc_side[e] = u_end.u_peer.u_agent.u_requester.rsp_side_i;
    assign unc_id[e]   = u_end.u_peer.u_agent.u_requester.rsp_id_i;
    assign unc_ids[e]  = u_end.u_peer.u_agent.u_requester.busy_q;
    logic [Slices-1:0] full;
    for (genvar k = 0; k < int'(Slices); k++) begin : gen_cache
      `SCORE_CACHE(u_end.u_peer.u_agent.gen_cached.gen_slice[k].u_cache, Sets / Slices, Ways,
                   NumMshr / Slices)
      assign ids[e][k] = u_end.u_peer.u_agent.gen_cached.gen_slice[k].u_cache.u_mshrs.open_q;
      assign full[k] = ids[e][k][NumMshr/Slices/2-1:0] == '1 ||
                       ids[e][k][NumMshr/Slices-1:NumMshr/Slices/2] == '1;
    end
    assign full_mshrs[e]  = full != '0;
    assign cache_quiet[e] = ids[e] == '0;
    logic [All-1:0] ends, crowded;
    for (genvar h = 0; h < int'(All); h++) begin : gen_home
      `SCORE_HOME(u_end.u_peer.u_home.gen_side[h%2].gen_home[h/2].u_directory, HomeSets / All,
                  HomeWays, NumTbe / All)
      assign ends[h] = quiet;
      assign crowded[h] =
        !u_end.u_peer.u_home.gen_side[h%2].gen_home[h/2].u_directory.free_some;
    end
    assign home_quiet[e] = ends == '1;
    assign full_tbes[e]  = crowded != '0;
  end

  // A home of end e with the cache of the other end that has its lines.
  want_t [1:0][All-1:0][2:0] want;
  logic [1:0][All-1:0][31:0] counts;
  for (genvar e = 0; e < 2; e++) begin : gen_memory
    for (genvar h = 0; h < int'(All); h++) begin : gen_score
      localparam int unsigned K = (Slices == 2) ? h % 2 : 0;
      coherence_score #(
        .Sets(Sets / Slices), .Ways(Ways), .HomeSets(HomeSets / All), .HomeWays(HomeWays),
        .CacheSkip(Slices - 1), .HomeSkip(Which), .Lines(Lines)
      ) u_score (
        .clk_i, .rst_ni, .seed_i(seed_i ^ 64'(e)), .match_i(2'(All - 1)),
        .match_at_i({1'(h / 2), 1'(h % 2 == 0)}), .cache_low_i(1'(K == 0)),
        .c_held_i(gen_end[1-e].gen_cache[K].held), .c_lines_i(gen_end[1-e].gen_cache[K].lines),
        .c_i(gen_end[1-e].gen_cache[K].tap), .h_held_i(gen_end[e].gen_home[h].held),
        .h_lines_i(gen_end[e].gen_home[h].lines), .h_i(gen_end[e].gen_home[h].tap),
        .mem_write_i(wrote[e]), .mem_index_i(wrote_index[e]), .mem_mask_i(wrote_mask[e]),
        .mem_data_i(wrote_data[e]), .sel_i, .count_o(counts[e][h]), .want_o(want[e][h])
      );
    end
  end
  always_comb begin
    count_o = '0;
    for (int e = 0; e < 2; e++) for (int h = 0; h < int'(All); h++) count_o += counts[e][h];
    messages_o = '0;
    kind_o     = '0;
    for (int e = 0; e < 2; e++) begin
      for (int l = 0; l < int'(NumLinks); l++) begin
        messages_o += got_messages[e][l];
        kind_o     += got_kinds[e][l][fault_i[4:0]];
      end
    end
    fault_o = 32'(faults[fault_i]);
  end

  // ---------------------------------------------------------------- wires
  typedef struct packed {
    logic   valid;
    logic   bad;
    block_t data;
  } flying_t;
  flying_t wire_q [2][NumLinks][64];
  logic [5:0] now;
  plan_e plan [2][NumLinks];
  int unsigned plan_left [2][NumLinks], plan_age [2][NumLinks], stall [2][NumLinks];
  int unsigned in_row [2][NumLinks], pace [2][NumLinks];
  logic again_q [2][NumLinks];

  // ---------------------------------------------------------------- ports
  logic [255:0] open [2];
  logic [255:0] want_known [2], want_word [2], wants [2];
  line_t want_line [2][256];
  want_t unc_want [2][64];
  // Operations without a cache, of each line in their order.
  logic [7:0] unc_begun [2][Lines], unc_done [2][Lines], unc_number [2][256];
  logic [5:0] unc_line [2][256];
  int unsigned opened [2], opened_at [2][256];
  int unsigned mix [2];
  logic [7:0] oldest;
  int unsigned clocks, longest;

  // Words: what the other end's register file has, and what must come of an operation.
  logic [63:0] file [2][64];
  logic [63:0] file_known [2];
  logic [255:0] io_open [2], io_load [2];
  logic [63:0] io_want [2][256];
  int unsigned io_opened [2];
  logic [39:0] told [2][256], rung [2][256];  // stores and interrupts that must come to an end
  logic [7:0] told_put [2], told_got [2], rung_put [2], rung_got [2];

  typedef struct packed {
    logic full;
    logic write;
    index_t index;
    logic [7:0] tag;
    mask_t mask;
    line_t data;
    logic [7:0] due;
  } access_t;
  access_t memory [2][NumTbe];
  line_t dram [2][Lines];

  logic [1:0][Slices-1:0][NumMshr/Slices-1:0] ids_q, freed_q [4];
  logic [1:0][63:0] unc_ids_q, unc_freed_q [4];

  task automatic fail(string what, int e, index_t index);
    $fatal(1, "end %0d, %0h: %s, clock %0d", e, index, what, clocks);
  endtask

  function automatic operation_t rnd_operation(int e);
    operation_t made;
    int unsigned kind, word;
    logic own;
    made = '0;
    own  = below(3) == 0;
    made.index = index_t'(below(32'(lines_i)));
    // Hammer: all of one line of the other end's memory, or of this one's.
    if (mix[e] == 1) made.index = '0;
    if (mix[e] == 2) made.index = index_t'(below(32'(lines_i) < 4 ? 32'(lines_i) : 4));
    made.index[IndexWidth-1] = own ? 1'(e) : 1'(1 - e);
    made.mask = rnd_mask();
    made.data = rnd_line();
    made.kind = LineCached;
    kind = below(16);
    if (mix[e] == 3 && below(2) == 0) kind = 11 + below(5);  // evictions, atomics, partial stores
    if (own) begin
      made.write = kind < 7;
      if (kind inside {11, 12}) made.kind = LineEvict;
      if (kind == 10) made.kind = LineUncached;
      if (kind inside {13, 14}) made.kind = line_kind_e'(3 + below(3));
    end else begin
      case (kind)
        0, 1, 2, 3: made.write = 1'b1;
        4, 5, 6, 7: ;
        8:  made.kind = LineUncached;
        9:  {made.kind, made.write, made.mask} = {LineUncached, 1'b1, {128{1'b1}}};
        10, 14: {made.kind, made.write} = {LineUncached, 1'b1};
        11: made.kind = LineEvict;
        12: made.kind = line_kind_e'(3 + below(3));
        default: begin
          made.write = 1'b1;
          made.atomic.valid = 1'b1;
          made.atomic.fn = coherence_atomic_pkg::atomic_fn_e'(below(10));
          made.atomic.size = 3'(below(4));
          made.atomic.offset = 7'(below(128)) & ~7'((1 << made.atomic.size) - 1);
        end
      endcase
      if (made.kind inside {LineIncrement, LineDecrement, LineSwap}) begin
        word = below(2);
        made.write = 1'b1;
        made.mask  = mask_t'(8'hFF) << (8 * word);
        // What is compared with is right now and then: words 0 and 1 are often small numbers.
        if (below(2) == 0) made.data[63:0] = 64'(below(4));
      end
      if (made.write && !made.atomic.valid && below(4) == 0) made.data[127:0] = 128'(below(4));
    end
    return made;
  endfunction

  // A block leaves end e on link l.
  task automatic leave(int e, int l);
    block_t data;
    flying_t flying;
    logic numbered, words, hit, vanish;
    sync_t sync;
    data     = tx_block[e][l];
    numbered = data.control.kind inside {KindDataLow, KindDataHigh};
    sync     = {data.control.credit, data.control.vc};
    words    = numbered && data.control.vc != {7{NoVc}};
    hit      = rate_i != '0 && rnd() < rate_i;
    vanish   = below(4) == 0;
    unique case (plan[e][l])
      PlanAnswer:  hit |= data.control.kind == KindSync && sync.answer;
      PlanRequest: hit |= data.control.kind == KindSync && sync.request && !sync.answer;
      PlanCredits: hit |= numbered && !words;
      PlanAck:     hit |= data.control.kind == KindIdle && data.control.ack;
      PlanAgain: begin
        if (plan_left[e][l] == 0) begin
          hit |= again_q[e][l];
        end else if (plan_left[e][l] == 32) begin
          if (words) {hit, plan_left[e][l]} = {1'b1, 32'(1 + below(12))};
        end else if (again_q[e][l]) begin
          plan_left[e][l]--;
        end
      end
      PlanBurst, PlanLoss: begin
        hit    = 1'b1;
        vanish = plan[e][l] == PlanLoss;
        plan_left[e][l]--;
      end
      PlanBoth: begin
        if (words) begin
          hit = 1'b1;
          plan[1-e][l] = PlanBurst;
          plan_left[1-e][l] = 1 + below(20);
          plan_age[1-e][l] = 0;
        end
      end
      default: ;
    endcase
    if (hit && !(plan[e][l] inside {PlanNone, PlanStall}) &&
        !(plan[e][l] inside {PlanBurst, PlanLoss} && plan_left[e][l] != 0) &&
        !(plan[e][l] == PlanAgain && plan_left[e][l] != 0)) plan[e][l] = PlanNone;

    if (hit) begin
      in_row[e][l]++;
      if (in_row[e][l] == 8) faults[Burst]++;
      if (in_row[e][l] == Window + 1) faults[LongBurst]++;
      if (numbered && data.control.credit != '0) faults[LostCredits]++;
      if (again_q[e][l]) faults[BadAgain]++;
      if (vanish) begin
        if (numbered) faults[LostBlock]++;
        else if (data.control.kind == KindSync) faults[LostSync]++;
        else if (data.control.ack) faults[LostAck]++;
      end else begin
        if (words) faults[BadWords]++;
        else if (numbered) faults[BadCredits]++;
        else if (data.control.kind == KindSync) begin
          if (sync.answer) faults[BadAnswer]++;
          else faults[BadRequest]++;
        end else if (data.control.ack) faults[BadAck]++;
        else faults[BadIdle]++;
        // A few bits, or some beside each other.
        if (below(2) == 0) begin
          int unsigned at;
          at = below(489);
          data[at] = !data[at];
          for (int i = 1; i < 24; i++) if (below(2) == 0) data[at+i] = !data[at+i];
        end else begin
          int unsigned at, step;
          at = below(512);
          step = 1 + below(170);
          data[at] = !data[at];
          if (below(2) == 0) data[(at+step)%512] = !data[(at+step)%512];
          if (below(4) == 0) data[(at+2*step)%512] = !data[(at+2*step)%512];
        end
      end
    end else begin
      in_row[e][l] = 0;
    end
    flying = '{valid: !(hit && vanish), bad: hit, data: data};
    wire_q[e][l][6'(now + delay_i)] = flying;
  endtask

  task automatic wires();
    now++;
    /* verilator unroll_disable */
    for (int e = 0; e < 2; e++) begin
      /* verilator unroll_disable */
      for (int l = 0; l < int'(NumLinks); l++) begin
        // What is sent, and what comes.
        if (tx_ready[e][l]) leave(e, l);
        rx_valid[e][l] <= wire_q[e][l][now].valid;
        rx_block[e][l] <= wire_q[e][l][now].data;
        if (wire_q[e][l][now].valid && wire_q[e][l][now].bad && !up[1-e][l]) begin
          faults[BadWhileAsking]++;
        end
        wire_q[e][l][now] = '0;
        if (load[e][l]) again_q[e][l] = repeating[e][l];
        if (load[e][l] && repeating[e][l]) faults[Again]++;
        if (repeated[e][l]) faults[Repeat]++;
        if (overdue[e][l] && up[e][l]) faults[Overdue]++;
        if (starved[e][l]) faults[Starved]++;
        if (e == 0 && !up[0][l] && !up[1][l] && clocks > 1000) faults[BadBoth]++;
        if (broken[e][l]) fail("an acknowledgement of what was not sent", e, '0);
        // Plans.
        if (plan[e][l] == PlanNone) begin
          if (rate_i != '0 && below(32'(plans_i)) == 0) begin
            plan[e][l] = plan_e'(1 + below(9));
            plan_age[e][l] = 0;
            plan_left[e][l] = 1 + below(below(8) == 0 ? 3 * Window : 12);
            if (plan[e][l] == PlanAgain) plan_left[e][l] = 32;
            if (plan[e][l] == PlanStall) begin
              stall[e][l] = 1 + below(below(4) == 0 ? 800 : 100);
              faults[Stall]++;
              if (stall[e][l] > 300) faults[LongStall]++;
            end
          end
        end else begin
          plan_age[e][l]++;
          if (plan_age[e][l] > 3000) plan[e][l] = PlanNone;
        end
        if (stall[e][l] != 0) stall[e][l]--;
        else if (plan[e][l] == PlanStall) plan[e][l] = PlanNone;
        // Lanes carry 0.768 blocks a clock; now and then they are slow.
        if (below(4096) == 0) pace[e][l] = (below(4) == 0) ? 20 + below(200) : 197;
        tx_ready[e][l] <= stall[e][l] == 0 && below(256) < pace[e][l];
      end
    end
  endtask

  task automatic memories(int e);
    int start;
    if (mem_valid[e] && mem_ready[e]) begin
      int free;
      free = -1;
      /* verilator unroll_disable */
      for (int i = 0; i < int'(NumTbe); i++) begin
        if (!memory[e][i].full) free = i;
        else if (memory[e][i].index == mem_index[e]) begin
          fail("memory has two accesses to a line", e, mem_index[e]);
        end else if (memory[e][i].tag == mem_tag[e]) begin
          fail("memory has two accesses with a tag", e, mem_index[e]);
        end
      end
      if (free < 0) fail("more accesses than transactions", e, mem_index[e]);
      memory[e][free] = '{full: 1'b1, write: mem_write[e], index: mem_index[e], tag: mem_tag[e],
                          mask: mem_mask[e], data: mem_data[e], due: 8'(below(20))};
    end
    mem_ready[e] <= below(4) != 0;
    wrote[e] <= 1'b0;
    if (!mem_rsp_valid[e] || mem_rsp_ready[e]) begin
      start = int'(below(NumTbe));
      mem_rsp_valid[e] <= 1'b0;
      /* verilator unroll_disable */
      for (int i = 0; i < int'(NumTbe); i++) begin
        int at;
        at = (start + i) % int'(NumTbe);
        if (memory[e][at].full && memory[e][at].due == 0) begin
          logic [5:0] l;
          l = memory[e][at].index[5:0];
          if (memory[e][at].write) begin
            dram[e][l] = merged(dram[e][l], memory[e][at].mask, memory[e][at].data);
          end
          wrote[e]         <= memory[e][at].write;
          wrote_index[e]   <= memory[e][at].index;
          wrote_mask[e]    <= memory[e][at].mask;
          wrote_data[e]    <= memory[e][at].data;
          mem_rsp_valid[e] <= 1'b1;
          mem_rsp_tag[e]   <= memory[e][at].tag;
          mem_rsp_data[e]  <= dram[e][l];
          memory[e][at].full = 1'b0;
          break;
        end
      end
    end
    /* verilator unroll_disable */
    for (int i = 0; i < int'(NumTbe); i++) if (memory[e][i].due != 0) memory[e][i].due--;
  endtask

  task automatic lines(int e);
    // What was decided at the edge before: of the other end's homes, of this end's homes.
    /* verilator unroll_disable */
    for (int h = 0; h < int'(All); h++) begin
      if (want[1-e][h][0].valid) begin
        want_known[e][want[1-e][h][0].tag] = 1'b1;
        want_line[e][want[1-e][h][0].tag]  = want[1-e][h][0].line;
      end
      if (want[1-e][h][2].valid) unc_want[e][want[1-e][h][2].tag[5:0]] = want[1-e][h][2];
      if (want[e][h][1].valid) begin
        want_known[e][want[e][h][1].tag] = 1'b1;
        want_line[e][want[e][h][1].tag]  = want[e][h][1].line;
      end
    end
    if (unc_rsp[e]) begin
      logic [5:0] at;
      at = {unc_side[e], unc_id[e]};
      if (!rsp_valid[e]) fail("an answer that the port does not show", e, '0);
      want_known[e][rsp_tag[e]] = unc_want[e][at].valid;
      want_word[e][rsp_tag[e]]  = unc_want[e][at].word;
      want_line[e][rsp_tag[e]]  = unc_want[e][at].line;
      unc_want[e][at].valid = 1'b0;
      if (unc_number[e][rsp_tag[e]] != unc_done[e][unc_line[e][rsp_tag[e]]]) begin
        fail("two operations without a cache on one line are answered out of order", e,
             index_t'(unc_line[e][rsp_tag[e]]));
      end
      unc_done[e][unc_line[e][rsp_tag[e]]]++;
    end
    if (rsp_valid[e]) begin
      logic [7:0] tag;
      tag = rsp_tag[e];
      if (!open[e][tag]) fail("a response to a tag that is not open", e, index_t'(tag));
      if (wants[e][tag]) begin
        if (!want_known[e][tag]) fail("a load is answered before it was decided", e, index_t'(tag));
        if (want_word[e][tag] ? rsp_data[e][63:0] != want_line[e][tag][63:0] :
                                rsp_data[e] != want_line[e][tag]) begin
          fail("a load is answered with another line than was decided", e, index_t'(tag));
        end
      end
      if (clocks - opened_at[e][tag] > longest) longest = clocks - opened_at[e][tag];
      open[e][tag] = 1'b0;
      opened[e]--;
      operations_o <= operations_o + 32'd1 + ((e == 1) ? 32'(rsp_valid[0]) : '0);
    end
    if (!req_valid[e] || req_ready[e]) begin
      logic [7:0] tag;
      tag = req_tag[e] + 8'd1;
      req_valid[e] <= 1'b0;
      if (!stop_i && opened[e] < MostOpen && !open[e][tag] && below(4) != 0) begin
        operation_t made;
        made = rnd_operation(e);
        req_valid[e] <= 1'b1;
        req_tag[e]   <= tag;
        req[e]       <= made;
        open[e][tag] = 1'b1;
        opened_at[e][tag] = clocks;
        {want_known[e][tag], want_word[e][tag]} = '0;
        wants[e][tag] = (!made.write && made.kind != LineEvict) || made.atomic.valid ||
                        made.kind inside {LineIncrement, LineDecrement, LineSwap};
        opened[e]++;
        if (made.index[IndexWidth-1] != 1'(e) && made.kind inside {
              LineUncached, LineIncrement, LineDecrement, LineSwap}) begin
          unc_line[e][tag]   = made.index[5:0];
          unc_number[e][tag] = unc_begun[e][made.index[5:0]]++;
        end
      end
    end
    if (below(2048) == 0) mix[e] = below(4);
  endtask

  task automatic words(int e);
    if (event_valid[e] && event_ipi[e]) begin
      if (rung_got[e] == rung_put[e] || rung[e][rung_got[e]] != event_address[e]) begin
        fail("an interrupt that was not sent, or not in order", e, '0);
      end
      rung_got[e]++;
    end
    if (event_valid[e] && !event_ipi[e]) begin
      if (told_got[e] == told_put[e] || told[e][told_got[e]] != event_address[e]) begin
        fail("a store of a word that was not sent, or not in order", e, '0);
      end
      told_got[e]++;
    end
    if (io_rsp_valid[e]) begin
      if (!io_open[e][io_rsp_tag[e]]) fail("a word's response to no request", e, '0);
      if (io_load[e][io_rsp_tag[e]] && io_rsp_data[e] != io_want[e][io_rsp_tag[e]]) begin
        fail("a word that is not the last store", e, '0);
      end
      io_open[e][io_rsp_tag[e]] = 1'b0;
      io_opened[e]--;
    end
    if (!io_valid[e] || io_ready[e]) begin
      logic [7:0] tag;
      tag = io_tag[e] + 8'd1;
      io_valid[e] <= 1'b0;
      if (!stop_i && io_opened[e] < 12 && !io_open[e][tag] && below(32'(words_i)) == 0) begin
        logic [5:0] at;
        logic [1:0] kind;
        logic [63:0] data;
        logic [7:0] mask;
        at   = 6'(below(64));
        kind = (below(32'(barriers_i)) == 0) ? 2'd3 : 2'(below(3));
        mask = (below(2) == 0) ? 8'hFF : 8'(rnd());
        data = {rnd(), rnd()};
        if (kind == 2'd0 && !file_known[1-e][at]) kind = 2'd1;
        if (kind == 2'd1 && !file_known[1-e][at]) mask = 8'hFF;
        io_valid[e]   <= 1'b1;
        io_kind[e]    <= kind;
        io_tag[e]     <= tag;
        io_mask[e]    <= mask;
        io_data[e]    <= data;
        io_address[e] <= {31'd0, at, 3'd0};
        io_load[e][tag] = kind == 2'd0;
        io_want[e][tag] = file[1-e][at];
        if (kind == 2'd1) begin
          /* verilator unroll_disable */
          for (int b = 0; b < 8; b++) if (mask[b]) file[1-e][at][8*b+:8] = data[8*b+:8];
          file_known[1-e][at] = 1'b1;
          told[1-e][told_put[1-e]] = {31'd0, at, 3'd0};
          told_put[1-e]++;
        end
        if (kind == 2'd2) begin
          io_address[e] <= {8'd0, data[31:0]};
          rung[1-e][rung_put[1-e]] = {8'd0, data[31:0]};
          rung_put[1-e]++;
        end else begin
          io_open[e][tag] = 1'b1;
          io_opened[e]++;
        end
      end
    end
  endtask

  always @(posedge clk_i) begin
    if (!rst_ni) begin
      rng = seed_i | 64'd1;
      /* verilator unroll_disable */
      for (int i = 0; i < 20; i++) void'(rnd());
      faults = '{default: 0};
      /* verilator unroll_disable */
      for (int e = 0; e < 2; e++) begin
        /* verilator unroll_disable */
        for (int l = 0; l < int'(NumLinks); l++) begin
          /* verilator unroll_disable */
          for (int i = 0; i < 64; i++) wire_q[e][l][i] = '0;
          plan[e][l] = PlanNone;
          {plan_left[e][l], plan_age[e][l], stall[e][l], in_row[e][l]} = '0;
          pace[e][l] = 197;
          again_q[e][l] = 1'b0;
        end
        /* verilator unroll_disable */
        for (int i = 0; i < int'(Lines); i++) begin
          dram[e][i] = initial_line(seed_i ^ 64'(e), index_t'(i));
        end
        /* verilator unroll_disable */
        for (int i = 0; i < int'(NumTbe); i++) memory[e][i] = '0;
        /* verilator unroll_disable */
        for (int i = 0; i < 64; i++) {unc_want[e][i], unc_begun[e][i], unc_done[e][i]} = '0;
        {open[e], wants[e], want_known[e], want_word[e], io_open[e], io_load[e]} = '0;
        {told_put[e], told_got[e], rung_put[e], rung_got[e], file_known[e]} = '0;
        {opened[e], io_opened[e], mix[e]} = '0;
      end
      {ids_q, unc_ids_q, oldest, now} = '0;
      /* verilator unroll_disable */
      for (int i = 0; i < 4; i++) begin
        freed_q[i] = '0;
        unc_freed_q[i] = '0;
      end
      {clocks, longest} = '0;
      {req_valid, req, req_tag, io_valid, io_kind, io_tag, io_mask, io_data, io_address} <= '0;
      {mem_ready, mem_rsp_valid, mem_rsp_tag, mem_rsp_data, wrote} <= '0;
      {tx_ready, rx_valid, rx_block} <= '0;
      {operations_o, quiet_o} <= '0;
    end else begin
      logic idle;
      clocks++;
      wires();
      /* verilator unroll_disable */
      for (int e = 0; e < 2; e++) begin
        memories(e);
        lines(e);
        words(e);
        if (full_mshrs[e]) faults[FullMshrs]++;
        if (full_tbes[e]) faults[FullTbes]++;
        if (stray[e] != '0) fail("an unexpected message", e, '0);
      end
      oldest++;
      /* verilator unroll_disable */
      for (int e = 0; e < 2; e++) begin
        if (open[e][oldest] && clocks - opened_at[e][oldest] > Patience) begin
          fail("an operation does not end", e, index_t'(oldest));
        end
      end

      // ------------------------------------------------ ids that come again at once
      begin
        logic [1:0][Slices-1:0][NumMshr/Slices-1:0] risen;
        logic [1:0][63:0] unc_risen;
        risen     = ids & ~ids_q & (freed_q[0] | freed_q[1] | freed_q[2] | freed_q[3]);
        unc_risen = unc_ids & ~unc_ids_q &
                    (unc_freed_q[0] | unc_freed_q[1] | unc_freed_q[2] | unc_freed_q[3]);
        faults[SameId]      += $countones(risen);
        faults[SameRequest] += $countones(unc_risen);
        /* verilator unroll_disable */
        for (int i = 3; i > 0; i--) begin
          freed_q[i] = freed_q[i-1];
          unc_freed_q[i] = unc_freed_q[i-1];
        end
        freed_q[0]     = ids_q & ~ids;
        unc_freed_q[0] = unc_ids_q & ~unc_ids;
        ids_q     = ids;
        unc_ids_q = unc_ids;
      end

      // ------------------------------------------------ all has ended
      faults[Link0] = got_messages[0][0] + got_messages[1][0];
      faults[Link1] = got_messages[0][NumLinks-1] + got_messages[1][NumLinks-1];
      idle = cache_quiet == '1 && home_quiet == '1 && empty == '1;
      /* verilator unroll_disable */
      for (int e = 0; e < 2; e++) begin
        if (opened[e] != 0 || io_opened[e] != 0 || told_put[e] != told_got[e] ||
            rung_put[e] != rung_got[e]) idle = 1'b0;
      end
      if (settled != '1) idle = 1'b0;
      if (idle && !quiet_o) begin
        faults[Settled]++;
        if (unfair != '0) fail("credits are missing, or too many", 0, index_t'(unfair));
      end
      quiet_o   <= idle;
      clocks_o  <= clocks;
      longest_o <= longest;
    end
  end
endmodule
