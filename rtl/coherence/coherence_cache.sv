// SPDX-License-Identifier: SHL-2.1
/// Remote agent with a cache: keeps lines of the far node's memory in the states of the table.
///
/// One pipeline takes an input a cycle, and decides it in one step of the table (protocol.toml):
///   0 choose a response, a forward or the core's oldest operation; 1 tags and MSHRs are read;
///   2 decide: state, line, messages; 3 the line that was read is on core_rsp or in a message
///
///   Handshake   core: valid/ready; every operation gets one response with its tag, without ready.
///               fwd, req, rsd, rsn: valid/ready. rsp has no ready: it is taken in its cycle
///   Ordering    the core's are decided in their order, with Places a line's; misses answer later
///   Coherence   responses are sinks. A fill owns its way before it is asked for. GACK is a bit of
///               the MSHR, which is busy until it has left
///   Latency     a hit 4 cycles from core_valid_i to core_rsp_valid_o; a miss to req_valid_o 4;
///               rsp_valid_i to core_rsp_valid_o 3, to its GACK 3; fwd_valid_i to rsn_valid_o and
///               to rsd_valid_o 5
///   Throughput  an input a cycle; hits one a cycle
///   Miss        hits of other lines go on behind it; an operation on a line with an open MSHR that
///               is no hit waits, and all behind it, or with Places those of its line
///   Atomics     core_atomic_i, with a store: the word is changed, the line answered as it was. It
///               waits, as behind a miss, until the line is writable, then all but responses wait
///               until the word is written, 6 cycles. With Atomics 0: none
///   Look        where no input comes, the state of a line that is asked for: as coherence_trace
///   Parameters  Sets a power of two, 2..4096; Ways 2, 4, 8; NumMshr even, 2..64: half for lines of
///               each parity; an id is a number in its half. Bytes of a line 1..128, with Atomics
///               32, 64 or 128. Look 1: a line can be asked for. Places: coherence_cache_pending
///   Not done    parts of lines in messages, prefetch
module coherence_cache
  import coherence_pkg::*;
#(
  parameter  int unsigned Sets      = 64,
  parameter  int unsigned Ways      = 4,
  parameter  int unsigned NumMshr   = 16,
  parameter  int unsigned Bytes     = LineBytes,
  parameter  bit          Atomics   = 1'b0,
  parameter  bit          Look      = 1'b0,
  parameter  int unsigned Places    = 0,
  localparam int unsigned LineWidth = 8 * Bytes
) (
  input  logic       clk_i,
  input  logic       rst_ni,
  input  logic       core_valid_i,
  output logic       core_ready_o,
  input  core_e      core_op_i,       // load, store, evict
  input  index_t     core_index_i,
  input  logic [7:0] core_tag_i,
  input  logic [Bytes-1:0]     core_mask_i,     // of a store
  input  logic [LineWidth-1:0] core_data_i,
  input  coherence_atomic_pkg::atomic_t core_atomic_i,
  output logic       core_rsp_valid_o,
  output logic [7:0] core_rsp_tag_o,
  output logic [LineWidth-1:0] core_rsp_data_o, // of a load
  // from the home
  input  logic       fwd_valid_i,
  output logic       fwd_ready_o,
  input  message_e   fwd_message_i,
  input  index_t     fwd_index_i,
  input  logic       rsp_valid_i,
  input  message_e   rsp_message_i,
  input  logic       rsp_dirty_i,
  input  logic       rsp_side_i,      // 1: of an even line
  input  id_t        rsp_id_i,
  input  logic [LineWidth-1:0] rsp_data_i,
  // to the home: requests, responses with a line and without
  output logic       req_valid_o,
  input  logic       req_ready_i,
  output header_t    req_header_o,
  output logic       rsd_valid_o,
  input  logic       rsd_ready_i,
  output header_t    rsd_header_o,
  output logic [LineWidth-1:0] rsd_data_o,
  output logic       rsn_valid_o,
  input  logic       rsn_ready_i,
  output header_t    rsn_header_o,
  input  coherence_look_pkg::look_t   look_i,
  output coherence_look_pkg::looked_t looked_o
);
  if (Sets < 2 || Sets > 4096 || (Sets & (Sets - 1)) != 0) begin : gen_sets_check
    $error("coherence_cache: Sets is %0d, legal is a power of two, 2..4096", Sets);
  end
  if (!(Ways inside {2, 4, 8})) begin : gen_ways_check
    $error("coherence_cache: Ways is %0d, legal is 2, 4, 8", Ways);
  end
  if (NumMshr < 2 || NumMshr > 2 * NumIds || NumMshr % 2 != 0) begin : gen_mshr_check
    $error("coherence_cache: NumMshr is %0d, legal is even, 2..%0d", NumMshr, 2 * NumIds);
  end
  if (Bytes < 1 || Bytes > 128) begin : gen_line_check
    $error("coherence_cache: Bytes is %0d, legal is 1..128", Bytes);
  end
  localparam int unsigned SetWidth = $clog2(Sets);
  localparam int unsigned WayWidth = $clog2(Ways);
  localparam int unsigned MshrWidth = $clog2(NumMshr);
  localparam int unsigned Queue = 16;    // messages of one word; of a line half of them

  typedef logic [LineWidth-1:0] line_t;
  typedef logic [Bytes-1:0] mask_t;
  typedef logic [WayWidth-1:0] way_t;
  typedef logic [MshrWidth-1:0] mshr_id_t;
  typedef struct packed {
    remote_e state;
    index_t  index;
  } entry_t;
  typedef struct packed {
    logic       core;
    input_e     what;
    index_t     index;
    logic [7:0] tag;
    mshr_id_t   id;     // of a response
    mask_t      mask;   // bytes to write
    line_t      data;
    line_t      load;   // what a response answers the core
  } input_t;

  // ---------------------------------------------------------------- 0: choose
  logic again, done, wake, drop, late_drop, hold, core_room, fwd_room, choose_core, head_valid;
  core_e head_op;
  index_t head_index;
  logic [7:0] head_tag;
  mask_t head_mask;
  line_t head_data;
  coherence_atomic_pkg::atomic_t head_atomic, s0_atomic, s1_atomic_q, s2_atomic_q;
  coherence_cache_pending #(.Bytes(Bytes), .Places(Places), .Atomics(Atomics)) u_pending (
    .clk_i, .rst_ni, .core_valid_i, .core_ready_o, .core_op_i, .core_index_i, .core_tag_i,
    .core_mask_i, .core_data_i, .core_atomic_i, .valid_o(head_valid), .op_o(head_op),
    .index_o(head_index), .tag_o(head_tag), .mask_o(head_mask), .data_o(head_data),
    .atomic_o(head_atomic), .take_i(choose_core), .done_i(done), .again_i(again),
    .wake_i(wake), .drop_o(drop), .late_drop_o(late_drop), .hold_o(hold)
  );

  logic s0_valid, s1_taken_q, s1_valid, s2_valid_q, rsp_silent, change_busy, take_fwd;
  input_t s0, s1_q, s1, s2_q;
  mshr_id_t rsp_mshr;
  index_t rsp_index;
  logic [7:0] rsp_tag;
  assign take_fwd    = fwd_valid_i && fwd_room;
  assign fwd_ready_o = !rsp_valid_i && fwd_room;
  assign choose_core = !rsp_valid_i && !take_fwd && head_valid && core_room;
  assign s0_valid    = rsp_valid_i || take_fwd || choose_core;
  always_comb begin
    s0 = '{core: 1'b0, what: InLoad, index: fwd_index_i, tag: head_tag, id: rsp_mshr,
           mask: head_mask, data: head_data, load: '0};
    s0_atomic = '0;
    if (rsp_valid_i) begin
      unique case (rsp_message_i)
        MsgPsha: s0.what = InPsha;
        MsgPack: s0.what = InPack;
        default: s0.what = rsp_dirty_i ? InPemdDirty : InPemdClean;
      endcase
      s0.index = rsp_index;
      s0.tag   = rsp_tag;
      s0.data  = rsp_data_i;
      s0_atomic.valid = rsp_silent;
    end else if (take_fwd) begin
      s0.what = (fwd_message_i == MsgFshr) ? InFshr : InFinv;
    end else begin
      s0.core  = 1'b1;
      s0.index = head_index;
      unique case (head_op)
        CoreLoad:  s0.what = InLoad;
        CoreStore: s0.what = InStore;
        default:   s0.what = InEvict;
      endcase
      // An atomic is a store of no byte; its own are written behind it.
      s0_atomic = head_atomic;
      if (head_atomic.valid) s0.mask = '0;
    end
    if (Look && !s0_valid) s0.index = look_i.index;
  end

  // ---------------------------------------------------------------- 1: read tags and MSHRs
  entry_t [Ways-1:0] s1_entry, s2_entry_q;
  logic [Ways-1:0] s1_match, s2_match_q;  // its index is the input's
  logic [NumMshr/2-1:0] s1_open, s2_open_q;  // an MSHR of this line is open
  logic [Ways-1:0] hit_writes, fresh;  // stage 2 writes an entry: of its line, of a new one
  way_t s2_way;
  logic hit;
  entry_t s2_entry;
  logic s1_response;
  logic allocate, free_some, s2_side, owed_some, gack_pop;
  id_t free_low;
  index_t owed_index;
  mask_t merged_mask;
  line_t merged_data;

  assign s1_response = s1_q.what inside {InPsha, InPemdClean, InPemdDirty, InPack};
  always_comb begin
    s1 = s1_q;
    if (s1_response) begin
      s1.load = s1_q.data;
      s1.mask = merged_mask;
      s1.data = merged_data;
    end
  end

  coherence_tags #(
    .Sets(Sets), .Ways(Ways), .Width($bits(entry_t)), .Clear($bits(remote_e))
  ) u_tags (
    .clk_i, .rst_ni, .index_i(s1_q.index), .entry_o(s1_entry), .match_o(s1_match),
    .ways_i(hit_writes | fresh), .fresh_i(fresh), .windex_i(s2_q.index), .entry_i(s2_entry)
  );
  // Behind an operation that waits: what was taken in that cycle is dropped here.
  assign s1_valid = s1_taken_q && !(s1_q.core && late_drop);
  // A line that is looked up passes the stages where no input does: it changes nothing.
  logic [1:0] looks_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) {s1_taken_q, s2_valid_q, looks_q} <= '0;
    else begin
      looks_q    <= {looks_q[0], Look && look_i.valid && !s0_valid};
      s1_taken_q <= s0_valid;
      s2_valid_q <= s1_valid && !(s1_q.core && drop);
    end
  end
  always_ff @(posedge clk_i) begin
    s1_q       <= s0;
    s2_q       <= s1;
    s1_atomic_q <= s0_atomic;
    s2_atomic_q <= s1_atomic_q;
    s2_entry_q <= s1_entry;
    s2_match_q <= s1_match;
    s2_open_q  <= s1_open;
  end

  // ---------------------------------------------------------------- 2: decide
  logic miss, fill, leave, waits, gone, full, upgrade;
  logic [Ways-1:0] hit_ways, new_ways, empty, stable, turned, turn_q;  // ones from its turn on
  logic [$bits(remote_e)-1:0] found;
  remote_e state;
  remote_step_t step, victim;
  message_e rsd_message, rsn_message;
  entry_t given;  // the entry that a new line takes the place of
  index_t send_index;

  if (RemoteI != remote_e'(0)) begin : gen_state_check
    $error("coherence_cache: RemoteI is not 0, which is no way's state here");
  end
  always_comb begin
    // One way at most has the line, and one is chosen, so that no way waits for another's turn.
    found  = '0;
    given  = '0;
    s2_way = '0;
    for (int unsigned w = 0; w < Ways; w++) begin
      hit_ways[w] = s2_match_q[w] && s2_entry_q[w].state != RemoteI;
      empty[w]    = s2_entry_q[w].state == RemoteI;
      stable[w]   = s2_entry_q[w].state inside {RemoteS, RemoteE, RemoteM, RemoteO};
      found       = found | (s2_match_q[w] ? s2_entry_q[w].state : '0);
    end
    // The way of a new line: an empty one, else in turn one whose line is in a stable state.
    turned   = stable & turn_q;
    new_ways = turned != '0 ? turned & -turned : stable & -stable;
    if (empty != '0) new_ways = empty & -empty;
    for (int unsigned w = 0; w < Ways; w++) begin
      given = given | (new_ways[w] ? s2_entry_q[w] : '0);
      if (hit ? hit_ways[w] : new_ways[w]) s2_way = s2_way | way_t'(w);
    end
  end
  assign hit   = hit_ways != '0;
  assign state = remote_e'(found);
  assign looked_o = '{valid: looks_q[1] && s2_q.index == look_i.index,
                      state: coherence_look_pkg::of_cache(state)};

  assign step    = remote_step(state, s2_q.what);
  assign victim  = remote_step(given.state, InEvict);
  assign leave   = given.state != RemoteI;
  assign fill    = step.gack;
  // A miss: the line is not here, or not writable.
  assign gone    = !hit && s2_q.what inside {InLoad, InStore};
  assign upgrade = hit && s2_q.core && step.emits == MsgRupg;
  assign miss    = gone || upgrade;
  // It waits for a place; what is blocked, for its line; an eviction of no line, for nothing.
  assign full     = s2_open_q != '0 || !free_some || hold;
  assign waits    = (miss && full) || (gone && new_ways == '0);
  assign allocate = s2_valid_q && miss && !waits;
  // An atomic that misses comes again until its line is here.
  assign again    = s2_valid_q && ((s2_q.core && step.blocked && (hit || s2_q.what != InEvict)) ||
                                   waits || (miss && s2_atomic_q.valid));
  assign done     = s2_valid_q && s2_q.core && !again;
  assign wake     = (s2_valid_q && fill) || gack_pop;  // for what an operation waits
  // An operation that is blocked leaves the state as it is.
  assign hit_writes = s2_valid_q && !(upgrade && full) ? hit_ways : '0;
  assign fresh      = s2_valid_q && gone && !full ? new_ways : '0;
  assign s2_entry = '{state: step.state, index: s2_q.index};
  // A message of the line, or of the one that gives its way up.
  assign send_index = gone ? given.index : s2_q.index;
  always_comb begin
    message_e sent;
    sent = MsgNone;
    if (gone && allocate && leave) sent = victim.emits;
    if (!gone && s2_valid_q && !miss) sent = step.emits;
    rsd_message = sent inside {MsgVicd, MsgHakd, MsgHako} ? sent : MsgNone;
    rsn_message = sent inside {MsgVicd, MsgHakd, MsgHako} ? MsgNone : sent;
  end

  // What stage 2 decides is written and read at its end.
  logic writes, lines_busy;
  line_t read;
  assign writes = s2_valid_q && ((s2_q.what == InStore && step.hit) || fill);
  coherence_cache_lines #(.Depth(Sets * Ways), .Bytes(Bytes), .Atomics(Atomics)) u_lines (
    .clk_i, .rst_ni, .write_i(writes), .re_i(s2_valid_q), .change_i(done && s2_atomic_q.valid),
    .atomic_i(s2_atomic_q), .where_i({s2_q.index[SetWidth-1:0], s2_way}), .mask_i(s2_q.mask),
    .data_i(s2_q.data), .busy_o(lines_busy), .read_o(read)
  );
  assign change_busy = (s1_valid && s1_q.core && s1_atomic_q.valid) ||
                       (s2_valid_q && s2_q.core && s2_atomic_q.valid) || lines_busy;

  // ---------------------------------------------------------------- MSHRs
  assign s2_side   = !s2_q.index[0];
  coherence_cache_mshrs #(.NumMshr(NumMshr), .Bytes(Bytes), .Atomics(Atomics)) u_mshrs (
    .clk_i, .rst_ni, .rsp_side_i, .rsp_id_i, .rsp_mshr_o(rsp_mshr), .rsp_index_o(rsp_index),
    .rsp_tag_o(rsp_tag), .rsp_silent_o(rsp_silent), .silent_i(s2_atomic_q.valid),
    .index_i(s1_q.index), .open_o(s1_open), .merge_id_i(s1_q.id),
    .merge_all_i(s1_q.what == InPack), .merge_data_i(s1_q.data), .merge_mask_o(merged_mask),
    .merge_data_o(merged_data), .side_i(s2_side), .free_some_o(free_some), .free_low_o(free_low),
    .allocate_i(allocate), .store_i(s2_q.what == InStore), .tag_i(s2_q.tag), .line_i(s2_q.index),
    .mask_i(s2_q.mask), .data_i(s2_q.data), .filled_i(s2_valid_q && fill), .filled_id_i(s2_q.id),
    .owed_some_o(owed_some), .owed_index_o(owed_index), .gack_i(gack_pop)
  );
  logic [2:0] ready;  // of the queues of messages
  logic s3_rsp_q, s3_fill_q, s3_rsd_q, s3_rsn_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) turn_q <= '1;
    else if (allocate && leave && !hit) turn_q <= turn_q[Ways-2] ? turn_q << 1 : '1;
  end
`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (s2_valid_q && step.never) begin
      $fatal(1, "coherence_cache: %s cannot occur in state %s", s2_q.what.name(), state.name());
    end
    if ((allocate && !ready[0]) || (s3_rsd_q && !ready[1]) || (s3_rsn_q && !ready[2])) begin
      $fatal(1, "coherence_cache: a message without a place");
    end
  end
`endif

  // ---------------------------------------------------------------- 3: what was read
  logic [7:0] s3_tag_q;
  line_t s3_load_q;
  header_t s3_rsd_header_q, s3_rsn_header_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {s3_rsp_q, s3_rsd_q, s3_rsn_q} <= '0;
    end else begin
      s3_rsp_q <= (done && !miss) || (s2_valid_q && fill && !s2_atomic_q.valid);
      s3_rsd_q <= rsd_message != MsgNone;
      s3_rsn_q <= rsn_message != MsgNone;
    end
  end
  always_ff @(posedge clk_i) begin
    s3_fill_q   <= fill;
    s3_tag_q    <= s2_q.tag;
    s3_load_q   <= s2_q.load;
    s3_rsd_header_q <= header_of(rsd_message, '0, send_index);
    s3_rsn_header_q <= header_of(rsn_message, '0, send_index);
  end
  assign core_rsp_valid_o = s3_rsp_q;
  assign core_rsp_tag_o   = s3_tag_q;
  assign core_rsp_data_o  = s3_fill_q ? s3_load_q : read;

  // ---------------------------------------------------------------- messages
  // An operation enters stage 0 only if there is room for all messages that it and the operations
  // in stages 1 to 3 may send, a clock ago and so for one more.
  localparam int unsigned Lines = Queue / 2;
  logic [$clog2(Queue):0] req_usage, rsn_usage;
  logic [$clog2(Lines):0] rsd_usage;
  logic fwd_room_q, core_room_q, rsn_some, offered_q, gack_q, gack;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {fwd_room_q, core_room_q, offered_q, gack_q} <= '0;
    end else begin
      fwd_room_q  <= 32'(rsd_usage) + 5 <= Lines && 32'(rsn_usage) + 5 <= Queue;
      core_room_q <= 32'(req_usage) + 4 <= Queue;
      offered_q   <= rsn_valid_o && !rsn_ready_i;
      gack_q      <= gack;
    end
  end
  assign fwd_room  = fwd_room_q && !change_busy;
  assign core_room = fwd_room && core_room_q;

  fifo #(.Width(64), .Depth(Queue), .WriteAhead(1'b1)) u_req (
    .clk_i, .rst_ni, .clear_i(1'b0), .valid_i(allocate), .ready_o(ready[0]),
    .data_i(header_of(step.emits, free_low, s2_q.index)), .valid_o(req_valid_o),
    .ready_i(req_ready_i), .data_o(req_header_o), .usage_o(req_usage)
  );
  fifo #(.Width(64 + LineWidth), .Depth(Lines)) u_rsd (
    .clk_i, .rst_ni, .clear_i(1'b0), .valid_i(s3_rsd_q), .ready_o(ready[1]),
    .data_i({s3_rsd_header_q, read}), .valid_o(rsd_valid_o), .ready_i(rsd_ready_i),
    .data_o({rsd_header_o, rsd_data_o}), .usage_o(rsd_usage)
  );
  // A GACK goes before what waits here; what is offered stays.
  header_t rsn_head;
  assign gack        = offered_q ? gack_q : owed_some;
  assign gack_pop    = gack && rsn_ready_i;
  assign rsn_valid_o = owed_some || rsn_some;
  assign rsn_header_o = gack ? header_of(MsgGack, '0, owed_index) : rsn_head;
  fifo #(.Width(64), .Depth(Queue)) u_rsn (
    .clk_i, .rst_ni, .clear_i(1'b0), .valid_i(s3_rsn_q), .ready_o(ready[2]),
    .data_i(s3_rsn_header_q), .valid_o(rsn_some), .ready_i(rsn_ready_i && !gack),
    .data_o(rsn_head), .usage_o(rsn_usage)
  );
  logic unused;
  assign unused = ^{ready, step, victim, s2_atomic_q, look_i};
endmodule
