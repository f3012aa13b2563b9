// SPDX-License-Identifier: SHL-2.1
/// Set-associative store of tags with a payload each: translations, cache lines' states.
///
/// Lookup: is the tag in its set, and with what? Fill: put it there, over itself where it is, else
/// over an empty way, else over one that was not used lately (a tree of bits a set). Invalidate:
/// take it out.
///
///   Handshake   an operation is taken in a cycle with valid_i and ready_o; ready_o falls only for
///               the sweep behind a reset or clear_i, which empties a set a cycle
///   Ordering    each operation sees all before it, of the cycle before too
///   Latency     1 cycle from valid_i to done_o with hit_o, way_o, data_o and the evicted entry,
///               which are combinational behind the memories: to be registered directly
///   Throughput  one operation of any kind a cycle
///   Contents    a tag is in its set once at most; a hit returns what was filled last; nothing
///               leaves but by a fill of its set, an invalidate or a sweep; the entry that was
///               filled or hit last is not the next one evicted
///               (proved: formal/prim/tag_store.sby)
///   Memory      Ways block memories of Sets x (TagWidth + DataWidth + 1), and one of Sets x (Ways
///               - 1)
///   Parameters  Sets a power of two, 2..4096; Ways 1, 2, 4, 8; TagWidth 1..128; DataWidth 1..512
///   Not done    misses under way, dirty bits of its own (part of the payload), locked ways
module tag_store #(
  parameter  int unsigned Sets       = 64,
  parameter  int unsigned Ways       = 4,
  parameter  int unsigned TagWidth   = 20,
  parameter  int unsigned DataWidth  = 32,
  localparam int unsigned IndexWidth = $clog2(Sets),
  localparam int unsigned WayWidth   = Ways > 1 ? $clog2(Ways) : 1
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,
  input  logic                  clear_i,  // strobe: empty all sets; takes no operation
  input  logic                  valid_i,
  output logic                  ready_o,
  input  logic                  fill_i,        // else, without invalidate_i, a lookup
  input  logic                  invalidate_i,  // not with fill_i
  input  logic [IndexWidth-1:0] index_i,       // the set
  input  logic [TagWidth-1:0]   tag_i,         // with valid_i, as index_i
  input  logic [DataWidth-1:0]  data_i,        // of a fill
  // A cycle later.
  output logic                  done_o,
  output logic                  hit_o,    // the tag was there before the operation
  output logic [WayWidth-1:0]   way_o,    // where it is; of a fill, where it goes
  output logic [DataWidth-1:0]  data_o,   // of a hit
  output logic                  evict_o,  // a fill takes the place of another tag:
  output logic [TagWidth-1:0]   evict_tag_o,
  output logic [DataWidth-1:0]  evict_data_o
);
  localparam int unsigned TreeWidth = Ways > 1 ? Ways - 1 : 1;
  typedef logic [IndexWidth-1:0] index_t;
  typedef logic [WayWidth-1:0] way_t;
  typedef logic [TreeWidth-1:0] tree_t;
  typedef struct packed {
    logic                 valid;
    logic [TagWidth-1:0]  tag;
    logic [DataWidth-1:0] data;
  } entry_t;

  if (Sets < 2 || Sets > 4096 || (Sets & (Sets - 1)) != 0) begin : gen_sets_check
    $error("tag_store: Sets is %0d, legal is a power of two, 2..4096", Sets);
  end
  if (!(Ways inside {1, 2, 4, 8})) begin : gen_ways_check
    $error("tag_store: Ways is %0d, legal is 1, 2, 4, 8", Ways);
  end
  if (TagWidth < 1 || TagWidth > 128 || DataWidth < 1 || DataWidth > 512) begin : gen_width_check
    $error("tag_store: TagWidth %0d, legal is 1..128; DataWidth %0d, legal is 1..512", TagWidth,
           DataWidth);
  end

  // Node n of the tree has the nodes 2n + 1 and 2n + 2 below it; its bit says which half is older.
  function automatic way_t oldest(tree_t tree);
    int unsigned node;
    way_t way;
    node = 0;
    way  = '0;
    for (int unsigned level = 0; level < $clog2(Ways); level++) begin
      way  = way_t'({way, tree[node]});
      node = 2 * node + 1 + 32'(tree[node]);
    end
    return way;
  endfunction
  function automatic tree_t used(tree_t tree, way_t way);
    int unsigned node;
    used = tree;
    node = 0;
    for (int unsigned level = 0; level < $clog2(Ways); level++) begin
      logic right;
      right      = way[$clog2(Ways)-1-level];
      used[node] = !right;
      node       = 2 * node + 1 + 32'(right);
    end
  endfunction

  // ---------------------------------------------------------------- first cycle: read the set
  logic   sweep_q, take;
  index_t sweep_index_q;
  assign ready_o = !sweep_q && !clear_i;
  assign take    = valid_i && ready_o;

  logic                 done_q, fill_q, invalidate_q;
  index_t               index_q;
  logic [TagWidth-1:0]  tag_q;
  logic [DataWidth-1:0] data_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      sweep_q       <= 1'b1;
      sweep_index_q <= '0;
      done_q        <= 1'b0;
    end else begin
      done_q <= take;
      if (clear_i) begin
        sweep_q       <= 1'b1;
        sweep_index_q <= '0;
      end else if (sweep_q) begin
        sweep_q       <= sweep_index_q != '1;
        sweep_index_q <= sweep_index_q + 1'b1;
      end
    end
  end
  always_ff @(posedge clk_i) begin
    fill_q       <= fill_i;
    invalidate_q <= invalidate_i;
    index_q      <= index_i;
    tag_q        <= tag_i;
    data_q       <= data_i;
  end

  // ---------------------------------------------------------------- second cycle: decide, write
  entry_t [Ways-1:0] read, set, bypass_q;
  logic   [Ways-1:0] match, empty, write_way, bypass_way_q;
  entry_t            entry;
  tree_t             tree_read, tree, tree_d, tree_bypass_q;
  logic              touch, bypass_touch_q, write, any_empty;
  way_t              hit_way, empty_way;
  index_t            write_index;

  // What the operation before has just written was read too early.
  for (genvar w = 0; w < Ways; w++) begin : gen_way
    assign set[w]   = bypass_way_q[w] ? bypass_q[w] : read[w];
    assign match[w] = set[w].valid && set[w].tag == tag_q;
    assign empty[w] = !set[w].valid;
  end
  assign tree = bypass_touch_q ? tree_bypass_q : tree_read;

  always_comb begin
    hit_way   = '0;
    empty_way = '0;
    for (int unsigned w = 0; w < Ways; w++) if (match[w]) hit_way |= way_t'(w);
    for (int unsigned w = Ways; w > 0; w--) if (empty[w-1]) empty_way = way_t'(w - 1);
  end
  assign any_empty = empty != '0;

  assign done_o       = done_q;
  assign hit_o        = match != '0;
  assign way_o        = hit_o ? hit_way : any_empty ? empty_way : oldest(tree);
  assign data_o       = set[way_o].data;
  assign evict_o      = done_q && fill_q && !hit_o && !any_empty;
  assign evict_tag_o  = set[way_o].tag;
  assign evict_data_o = set[way_o].data;

  // During a sweep all ways of a set are emptied; an operation that was taken before it has ended
  // by then.
  assign write       = sweep_q || (done_q && (fill_q || (invalidate_q && hit_o)));
  assign write_way   = !write ? '0 : sweep_q ? '1 : Ways'(1) << way_o;
  assign write_index = sweep_q ? sweep_index_q : index_q;
  assign entry       = sweep_q ? '0 : '{valid: fill_q, tag: tag_q, data: data_q};
  assign touch       = sweep_q || (done_q && !invalidate_q && (hit_o || fill_q));
  assign tree_d      = sweep_q ? '0 : used(tree, way_o);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      bypass_way_q   <= '0;
      bypass_touch_q <= 1'b0;
    end else begin
      bypass_way_q   <= write_index == index_i ? write_way : '0;
      bypass_touch_q <= touch && write_index == index_i;
    end
  end
  always_ff @(posedge clk_i) begin
    for (int unsigned w = 0; w < Ways; w++) bypass_q[w] <= entry;
    tree_bypass_q <= tree_d;
  end

  for (genvar w = 0; w < Ways; w++) begin : gen_memory
    ram_1r1w #(
      .Width  ($bits(entry_t)),
      .Depth  (Sets),
      .ReadOld(1'b0)
    ) u_ram (
      .clk_i,
      .we_i   (write_way[w]),
      .waddr_i(write_index),
      .wdata_i(entry),
      .re_i   (1'b1),
      .raddr_i(index_i),
      .rdata_o(read[w])
    );
  end
  ram_1r1w #(
    .Width  (TreeWidth),
    .Depth  (Sets),
    .ReadOld(1'b0)
  ) u_tree (
    .clk_i,
    .we_i   (touch),
    .waddr_i(write_index),
    .wdata_i(tree_d),
    .re_i   (1'b1),
    .raddr_i(index_i),
    .rdata_o(tree_read)
  );
  prim_assert u_one_way (
    .clk_i,
    .rst_ni,
    .ok_i(!done_q || (match & (match - 1'b1)) == '0)
  );
  prim_assert u_one_operation (
    .clk_i,
    .rst_ni,
    .ok_i(!(valid_i && fill_i && invalidate_i))
  );
endmodule
