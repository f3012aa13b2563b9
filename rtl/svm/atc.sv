// SPDX-License-Identifier: SHL-2.1
/// Address translation cache of a device that shares virtual memory with its host.
///
/// Looks up pages in stores for 4 KiB, 2 MiB and 1 GiB, requests missing translations from the host
/// and reports accesses that the host does not allow. Page offsets (12 bits) do not pass through
/// it: the requester can index a cache by them at the same time.
///
///   Handshake   req_*, ask_*, fault_*, inv_*, complete_* are valid/ready. rsp_*, cpl_* and done_*
///               are sinks: valid for one cycle, without ready; the requester must have room
///               for the response. req_ready_o is low for one cycle for each page that arrives from
///               the host, each waiting lookup that is answered, each page of an invalidation and each
///               prefetched page; and while fewer than two of the NumWait places are free or MaxUses
///               uses are open
///   Uses        an answer with StatusOk is a use in epoch rsp_epoch_o, until done_valid_i with
///               that epoch: when the access cannot reach memory any more, posted or not. A use
///               ends by itself: it waits for no invalidation
///   Ordering    answers in any order, a tag each. A hit passes misses
///   Misses      NumMiss translations in flight, of a block of 2^PagesLog2 pages each. A completion
///               is one beat a mapped page, the last with cpl_last_i: of 4 KiB at cpl_page_i of the
///               block, or larger and around the whole block. A page of the block without a beat,
///               or whose beat allows nothing, is not mapped. A write asks again where the page
///               that is stored may not be written
///   Faults      the answer says so, and fault_* tells the host, once a translation
///   Invalidate  of 2^inv_log2_i pages from the aligned inv_vpn_i. complete_* comes when no use of
///               an older translation is open; it waits for nothing else but other invalidations
///               and the slots of its pages. What is in flight of such a page is dropped and asked for
///               again
///   Latency     hit: 1 cycle from req_* to rsp_*, combinational behind the stores' memories.
///               Miss: 2 cycles to ask_valid_o; cpl_* to rsp_* 3 cycles
///   Throughput  a lookup a cycle
///   Safety      no answer from an invalidated or another page's translation, no use of one open
///               behind complete_*; no write that its page does not allow; one answer a lookup
///               (proved: formal/svm/atc.sby, formal/svm/atc_epochs.sby)
///   Parameters  VpnWidth, PpnWidth 20..52: numbers of pages of 4 KiB; BigLog2, HugeLog2: pages of
///               4 KiB in the larger ones; sets and ways as tag_store; NumMiss 1..64; NumWait 2..64;
///               PagesLog2 0..3; Ahead pages ahead of a stream, 0 (no look ahead) to 64; NumInv as
///               many invalidations as the host may have open, a power of two from 2 on
///   Not done    address spaces (PASID), global pages, access and dirty bits, several ports
module atc
  import svm_pkg::*;
#(
  parameter  int unsigned VpnWidth    = 36,
  parameter  int unsigned PpnWidth    = 36,
  parameter  int unsigned TagWidth    = 6,
  parameter  int unsigned BigLog2     = 9,
  parameter  int unsigned HugeLog2    = 18,
  parameter  int unsigned BaseSets    = 32,
  parameter  int unsigned BaseWays    = 4,
  parameter  int unsigned BigSets     = 8,
  parameter  int unsigned BigWays     = 4,
  parameter  int unsigned HugeSets    = 2,
  parameter  int unsigned HugeWays    = 2,
  parameter  int unsigned NumMiss     = 8,
  parameter  int unsigned NumWait     = 16,
  parameter  int unsigned PagesLog2   = 0,
  parameter  int unsigned Ahead       = 4,
  parameter  int unsigned MaxUses     = 64,
  parameter  int unsigned Epochs      = 4,
  parameter  int unsigned NumInv      = 8,
  parameter  int unsigned InvTagWidth = 5,
  localparam int unsigned MissWidth   = NumMiss > 1 ? $clog2(NumMiss) : 1,
  localparam int unsigned PageWidth   = PagesLog2 > 0 ? PagesLog2 : 1,
  localparam int unsigned EpochWidth  = $clog2(Epochs),
  localparam int unsigned Log2Width   = $clog2(VpnWidth + 1)
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  input  logic                   req_valid_i,
  output logic                   req_ready_o,
  input  logic [VpnWidth-1:0]    req_vpn_i,
  input  logic                   req_write_i,
  input  logic [TagWidth-1:0]    req_tag_i,
  output logic                   rsp_valid_o,
  output logic [TagWidth-1:0]    rsp_tag_o,
  output status_e                rsp_status_o,
  output logic [PpnWidth-1:0]    rsp_ppn_o,
  output logic [EpochWidth-1:0]  rsp_epoch_o,
  input  logic                   done_valid_i,
  input  logic [EpochWidth-1:0]  done_epoch_i,
  // To and from the host's translation agent.
  output logic                   ask_valid_o,
  input  logic                   ask_ready_i,
  output logic [MissWidth-1:0]   ask_id_o,
  output logic [VpnWidth-1:0]    ask_vpn_o,      // first page of the block
  output logic                   ask_write_o,    // it is going to be written
  input  logic                   cpl_valid_i,
  input  logic [MissWidth-1:0]   cpl_id_i,
  input  logic                   cpl_last_i,
  input  page_size_e             cpl_size_i,
  input  logic [PageWidth-1:0]   cpl_page_i,
  input  logic [PpnWidth-1:0]    cpl_ppn_i,
  input  logic                   cpl_read_i,
  input  logic                   cpl_write_i,
  output logic                   fault_valid_o,
  input  logic                   fault_ready_i,
  output logic [VpnWidth-1:0]    fault_vpn_o,
  output logic                   fault_write_o,
  input  logic                   inv_valid_i,
  output logic                   inv_ready_o,
  input  logic [VpnWidth-1:0]    inv_vpn_i,
  input  logic [Log2Width-1:0]   inv_log2_i,
  input  logic [InvTagWidth-1:0] inv_tag_i,
  output logic                   complete_valid_o,
  input  logic                   complete_ready_i,
  output logic [InvTagWidth-1:0] complete_tag_o,
  output logic                   idle_o
);
  localparam int unsigned NumStores = 3;
  localparam int unsigned Shift [NumStores] = '{0, BigLog2, HugeLog2};
  localparam int unsigned Sets [NumStores] = '{BaseSets, BigSets, HugeSets};
  localparam int unsigned Ways [NumStores] = '{BaseWays, BigWays, HugeWays};
  localparam int unsigned WaitWidth = $clog2(NumWait);
  localparam int unsigned UseWidth = $clog2(MaxUses + 1);
  localparam int unsigned IndexWidth = 13;  // of a page of an invalidation: tag_store's most sets
  typedef logic [VpnWidth-1:0] vpn_t;
  typedef logic [PpnWidth-1:0] ppn_t;
  typedef logic [MissWidth-1:0] miss_t;
  typedef logic [WaitWidth-1:0] slot_t;
  typedef logic [PageWidth-1:0] page_t;
  typedef logic [MissWidth+PagesLog2-1:0] place_t;

  if (PagesLog2 > 3 || PagesLog2 > BigLog2) begin : gen_pages_check
    $error("atc: PagesLog2 is %0d, legal is 0..3, and no more than a larger page has", PagesLog2);
  end
  if (NumMiss < 1 || NumMiss > 64 || NumWait < 2 || NumWait > 64) begin : gen_pools_check
    $error("atc: NumMiss %0d, legal is 1..64; NumWait %0d, legal is 2..64", NumMiss, NumWait);
  end
  if (BigLog2 < 1 || BigLog2 >= HugeLog2 || HugeLog2 + $clog2(HugeSets) >= VpnWidth ||
      HugeLog2 >= PpnWidth || BigLog2 + $clog2(BigSets) >= VpnWidth ||
      $clog2(BaseSets) >= VpnWidth) begin : gen_sizes_check
    $error("atc: pages of 2^%0d and 2^%0d do not fit numbers of %0d and %0d bits", BigLog2,
           HugeLog2, VpnWidth, PpnWidth);
  end

  // What a page of the pipe does. Fills and invalidations end in the stores.
  typedef enum logic [2:0] {OpNone, OpLookup, OpReplay, OpDrain, OpProbe} op_e;
  typedef struct packed {
    vpn_t                vpn;
    logic                write;
    logic [TagWidth-1:0] tag;
  } lookup_t;
  typedef struct packed {
    page_size_e size;
    ppn_t       ppn;
    logic       read;
    logic       write;
  } result_t;
  typedef enum logic [1:0] {MissFree, MissAsk, MissWait, MissDone} miss_e;
  typedef enum logic [1:0] {InvIdle, InvRun, InvEnd} inv_e;

  function automatic place_t place_of(miss_t id, page_t page);
    return PagesLog2 > 0 ? place_t'({id, page}) : place_t'(id);
  endfunction
  function automatic vpn_t block_of(vpn_t vpn);
    return vpn >> PagesLog2 << PagesLog2;
  endfunction
  function automatic ppn_t frame_of(page_size_e size, ppn_t ppn, logic [HugeLog2-1:0] low);
    case (size)
      SizeBig:  return {ppn[PpnWidth-1:BigLog2], low[BigLog2-1:0]};
      SizeHuge: return {ppn[PpnWidth-1:HugeLog2], low};
      default:  return ppn;
    endcase
  endfunction

  // ---------------------------------------------------------------- state
  // A translation that is not stored yet.
  miss_e   [NumMiss-1:0] miss_state_q;
  vpn_t    [NumMiss-1:0] miss_block_q;
  logic    [NumMiss-1:0] miss_write_q, miss_large_q, miss_fault_q;
  logic    [NumMiss-1:0][(1<<PagesLog2)-1:0] miss_got_q;
  // The page of each size around the block was invalidated since it was asked for. Bit 3: unused.
  logic    [NumMiss-1:0][NumStores:0] miss_stale_q;
  vpn_t    [NumMiss-1:0] fault_vpn_q;
  logic    [NumMiss-1:0] fault_write_q;
  result_t result_q [NumMiss << PagesLog2];
  // Lookups that wait for one; not linked: for a free place above.
  lookup_t wait_q [NumWait];
  logic    [NumWait-1:0] wait_valid_q, wait_linked_q;
  miss_t   [NumWait-1:0] wait_miss_q;
  // Second cycle of an operation.
  op_e     op_q;
  lookup_t look_q;
  slot_t   slot_q;
  logic [UseWidth-1:0] open_q;  // lookups without an answer, and uses

  // ---------------------------------------------------------------- completions: registered
  logic    cpl_q, cpl_last_q, cpl_stale, cpl_keep;
  miss_t   cpl_id_q;
  page_t   cpl_page_q;
  result_t cpl_result_q;
  vpn_t    cpl_vpn;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) cpl_q <= 1'b0;
    else cpl_q <= cpl_valid_i;
  end
  always_ff @(posedge clk_i) begin
    cpl_id_q     <= cpl_id_i;
    cpl_last_q   <= cpl_last_i;
    cpl_page_q   <= PagesLog2 > 0 && cpl_size_i == SizeBase ? cpl_page_i : '0;
    cpl_result_q <= '{size: cpl_size_i, ppn: cpl_ppn_i, read: cpl_read_i, write: cpl_write_i};
  end
  // What it says may be older than an invalidation of that page.
  assign cpl_stale = miss_stale_q[cpl_id_q][cpl_result_q.size];
  assign cpl_keep  = cpl_q && !cpl_stale && (cpl_result_q.read || cpl_result_q.write);
  assign cpl_vpn = miss_block_q[cpl_id_q] | vpn_t'(cpl_page_q);

  // ---------------------------------------------------------------- invalidations
  typedef struct packed {
    vpn_t                   vpn;
    logic [Log2Width-1:0]   log2;
    logic [InvTagWidth-1:0] tag;
  } inv_t;
  inv_t inv;
  inv_e inv_q;
  logic inv_valid, inv_start, inv_op, inv_end, inv_last, end_ready, all_ready;
  logic [IndexWidth-1:0] inv_index_q;
  logic [NumStores-1:0] inv_clear, inv_more, inv_hit, store_ready;
  fifo #(.Width($bits(inv_t)), .Depth(NumInv)) u_inv (
    .clk_i, .rst_ni, .clear_i(1'b0), .valid_i(inv_valid_i), .ready_o(inv_ready_o),
    .data_i({inv_vpn_i, inv_log2_i, inv_tag_i}), .valid_o(inv_valid), .ready_i(inv_end),
    .data_o(inv), .usage_o()
  );
  assign all_ready = &store_ready;
  // What was asked for before may come from the old page table, what is asked for later does not.
  assign inv_start = inv_q == InvIdle && inv_valid && end_ready && all_ready;
  assign inv_op    = inv_q == InvRun && !cpl_q;
  assign inv_last  = inv_more == '0;
  // Behind the last page no lookup finds the old translation, and none that did is in the pipe.
  assign inv_end   = inv_q == InvEnd && all_ready;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      inv_q       <= InvIdle;
      inv_index_q <= '0;
    end else begin
      case (inv_q)
        InvIdle: begin
          inv_index_q <= '0;
          if (inv_start) inv_q <= InvRun;
        end
        InvRun: begin
          if (inv_op) begin
            inv_index_q <= inv_index_q + 1'b1;
            if (inv_last) inv_q <= InvEnd;
          end
        end
        default: if (inv_end) inv_q <= InvIdle;
      endcase
    end
  end

  // ---------------------------------------------------------------- first cycle: choose
  logic [NumWait-1:0] wait_go, wait_gnt, wait_free;
  logic [NumMiss-1:0] miss_free, miss_done;
  logic any_miss_free, wait_slot, probe, probe_valid, probe_ready, take;
  slot_t   go_slot;
  lookup_t go_look;
  vpn_t    ahead_vpn, op_vpn;
  op_e     op;
  for (genvar m = 0; m < NumMiss; m++) begin : gen_miss_state
    assign miss_free[m] = miss_state_q[m] == MissFree;
    assign miss_done[m] = miss_state_q[m] == MissDone;
  end
  assign any_miss_free = miss_free != '0;
  for (genvar w = 0; w < NumWait; w++) begin : gen_go
    assign wait_go[w] = wait_valid_q[w] &&
        !(op_q inside {OpReplay, OpDrain} && slot_q == slot_t'(w)) &&
        (wait_linked_q[w] ? miss_done[wait_miss_q[w]] : any_miss_free);
  end
  assign wait_slot = all_ready && !cpl_q && inv_q != InvRun;
  arb_rr #(.NumReq(NumWait)) u_go (
    .clk_i, .rst_ni, .req_i(wait_slot ? wait_go : '0), .last_i(1'b1), .gnt_o(wait_gnt),
    .idx_o(go_slot)
  );
  assign go_look     = wait_q[go_slot];
  assign probe       = wait_slot && wait_go == '0 && probe_valid;
  assign probe_ready = wait_slot && wait_go == '0;
  assign wait_free   = ~wait_valid_q;
  assign req_ready_o = wait_slot && wait_go == '0 && !probe_valid && open_q != UseWidth'(MaxUses) &&
      (wait_free & (wait_free - 1'b1)) != '0;
  assign take        = req_valid_i && req_ready_o;

  always_comb begin
    op = OpNone;
    if (wait_gnt != '0) op = wait_linked_q[go_slot] ? OpDrain : OpReplay;
    else if (probe) op = OpProbe;
    else if (take) op = OpLookup;
  end
  assign op_vpn = cpl_q ? cpl_vpn : inv_q == InvRun ? inv.vpn :
      wait_gnt != '0 ? go_look.vpn : probe_valid ? ahead_vpn : req_vpn_i;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) op_q <= OpNone;
    else op_q <= op;
  end
  always_ff @(posedge clk_i) begin
    slot_q <= go_slot;
    look_q <= '{
        vpn:   op_vpn,
        write: wait_gnt != '0 ? go_look.write : !probe && req_write_i,
        tag:   wait_gnt != '0 ? go_look.tag : req_tag_i
    };
  end

  // ---------------------------------------------------------------- stores
  ppn_t [NumStores-1:0] store_ppn;
  logic [NumStores-1:0] store_hit, store_read, store_write;
  for (genvar s = 0; s < NumStores; s++) begin : gen_store
    localparam int unsigned SetLog2 = $clog2(Sets[s]);
    logic [IndexWidth-1:0] count;  // pages of this size in the invalidation
    logic fill;
    assign inv_clear[s] = inv.log2 > Log2Width'(Shift[s] + SetLog2);
    assign count        = inv.log2 <= Log2Width'(Shift[s]) ? 1 :
        IndexWidth'(1) << (inv.log2 - Log2Width'(Shift[s]));
    assign inv_hit[s]   = inv_op && !inv_clear[s] && inv_index_q < count;
    assign inv_more[s]  = !inv_clear[s] && inv_index_q + 1'b1 < count;
    assign fill         = cpl_keep && cpl_result_q.size == page_size_e'(s);
    atc_store #(
      .VpnWidth(VpnWidth),
      .PpnWidth(PpnWidth),
      .Shift   (Shift[s]),
      .Sets    (Sets[s]),
      .Ways    (Ways[s])
    ) u_store (
      .clk_i,
      .rst_ni,
      .clear_i     (inv_op && inv_clear[s] && inv_index_q == '0),
      .valid_i     (fill || inv_hit[s] || op inside {OpLookup, OpReplay, OpProbe}),
      .ready_o     (store_ready[s]),
      .fill_i      (fill),
      .invalidate_i(inv_hit[s]),
      .vpn_i       (inv_hit[s] ? op_vpn | vpn_t'(inv_index_q) << Shift[s] : op_vpn),
      .ppn_i       (cpl_result_q.ppn),
      .read_i      (cpl_result_q.read),
      .write_i     (cpl_result_q.write),
      .hit_o       (store_hit[s]),
      .ppn_o       (store_ppn[s]),
      .read_o      (store_read[s]),
      .write_o     (store_write[s])
    );
    // An invalidation is not lost.
    prim_assert u_ready (
      .clk_i,
      .rst_ni,
      .ok_i(!inv_hit[s] || store_ready[s])
    );
  end

  // ---------------------------------------------------------------- second cycle: answer
  logic    hit, miss, drain, linked, alloc, attach, any_unlinked, answer;
  logic    result_got;
  page_t   look_page;
  miss_t   drain_miss, match_miss, free_miss, link_miss;
  slot_t   free_slot;
  ppn_t    hit_ppn;
  result_t result;
  status_e drain_status;
  logic [NumStores-1:0] usable;
  logic [NumMiss-1:0] match;

  for (genvar s = 0; s < NumStores; s++) begin : gen_usable
    assign usable[s] = store_hit[s] && (look_q.write ? store_write[s] : store_read[s]);
  end
  always_comb begin
    hit_ppn = '0;
    for (int unsigned s = NumStores; s > 0; s--) if (usable[s-1]) hit_ppn = store_ppn[s-1];
  end
  assign hit  = op_q inside {OpLookup, OpReplay} && usable != '0;
  assign miss = op_q inside {OpLookup, OpReplay} && usable == '0;

  // The translation that a lookup waits for.
  assign drain_miss = wait_miss_q[slot_q];
  assign look_page  = PagesLog2 > 0 ? look_q.vpn[PageWidth-1:0] : '0;
  assign drain      = op_q == OpDrain && miss_done[drain_miss];
  assign result     = result_q[place_of(drain_miss,
      miss_large_q[drain_miss] ? '0 : look_page)];
  assign result_got = miss_large_q[drain_miss] || miss_got_q[drain_miss][look_page];
  assign drain_status = !result_got ? StatusUnmapped :
      (look_q.write ? result.write : result.read) ? StatusOk : StatusDenied;

  assign answer       = hit || drain;
  assign rsp_valid_o  = answer;
  assign rsp_tag_o    = look_q.tag;
  assign rsp_status_o = hit ? StatusOk : drain_status;
  assign rsp_ppn_o    = hit ? hit_ppn : frame_of(result.size, result.ppn, look_q.vpn[HugeLog2-1:0]);

  // A miss waits for a translation of its block that is under way, or for one of its own. One that
  // has come is not waited for: what it found is stored, and that it found nothing would be said
  // for as long as lookups of its block come. A place goes to the lookups first that wait for one.
  assign any_unlinked = (wait_valid_q & ~wait_linked_q) != '0;
  for (genvar m = 0; m < NumMiss; m++) begin : gen_match
    assign match[m] = miss_state_q[m] inside {MissAsk, MissWait} &&
        miss_block_q[m] == block_of(look_q.vpn) && (miss_write_q[m] || !look_q.write);
  end
  always_comb begin
    match_miss = '0;
    free_miss  = '0;
    free_slot  = '0;
    for (int unsigned m = NumMiss; m > 0; m--) begin
      if (match[m-1]) match_miss = miss_t'(m - 1);
      if (miss_free[m-1]) free_miss = miss_t'(m - 1);
    end
    for (int unsigned w = NumWait; w > 0; w--) if (wait_free[w-1]) free_slot = slot_t'(w - 1);
  end
  assign attach    = miss && match != '0;
  assign alloc     = any_miss_free && match == '0 &&
      ((miss && (op_q == OpReplay || !any_unlinked)) ||
       (op_q == OpProbe && store_hit == '0 && !any_unlinked &&
        (miss_free & (miss_free - 1'b1)) != '0));
  assign linked    = attach || (alloc && miss);
  assign link_miss = attach ? match_miss : free_miss;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      wait_valid_q <= '0;
    end else begin
      if (miss && op_q == OpLookup) wait_valid_q[free_slot] <= 1'b1;
      if (drain || (hit && op_q == OpReplay)) wait_valid_q[slot_q] <= 1'b0;
    end
  end
  always_ff @(posedge clk_i) begin
    if (miss && op_q == OpLookup) begin
      wait_q[free_slot]        <= look_q;
      wait_linked_q[free_slot] <= linked;
      wait_miss_q[free_slot]   <= link_miss;
    end else if (miss && linked) begin
      wait_linked_q[slot_q] <= 1'b1;
      wait_miss_q[slot_q]   <= link_miss;
    end
  end

  // ---------------------------------------------------------------- translations in flight
  logic [NumMiss-1:0] asking, ask_gnt, awaited, fault_gnt;
  miss_t fault_miss;
  for (genvar m = 0; m < NumMiss; m++) begin : gen_asking
    logic [NumWait-1:0] mine;
    for (genvar w = 0; w < NumWait; w++) begin : gen_mine
      assign mine[w] = wait_valid_q[w] && wait_linked_q[w] && wait_miss_q[w] == miss_t'(m);
    end
    assign asking[m]  = miss_state_q[m] == MissAsk;
    assign awaited[m] = mine != '0 || (linked && link_miss == miss_t'(m));
  end
  arb_rr #(.NumReq(NumMiss)) u_ask (
    .clk_i, .rst_ni, .req_i(asking), .last_i(ask_ready_i), .gnt_o(ask_gnt), .idx_o(ask_id_o)
  );
  assign ask_valid_o = ask_gnt != '0;
  assign ask_vpn_o   = miss_block_q[ask_id_o];
  assign ask_write_o = miss_write_q[ask_id_o];

  for (genvar m = 0; m < NumMiss; m++) begin : gen_miss
    logic last, again, hit_result;
    logic [NumStores:0] hit_inv;  // the invalidation that starts has a page of this size in common
    vpn_t differ;
    assign last       = cpl_q && cpl_last_q && cpl_id_q == miss_t'(m);
    assign again      = awaited[m] || miss_fault_q[m];
    assign differ     = (inv.vpn ^ miss_block_q[m]) >> inv.log2 << inv.log2;
    assign hit_inv    = {1'b0, differ >> HugeLog2 == '0, differ >> BigLog2 == '0,
                         differ >> PagesLog2 == '0};
    assign hit_result = inv_start && (miss_large_q[m] ? hit_inv[SizeHuge] : hit_inv[SizeBase]);
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
        miss_state_q[m] <= MissFree;
      end else begin
        case (miss_state_q[m])
          MissFree: if (alloc && free_miss == miss_t'(m)) miss_state_q[m] <= MissAsk;
          MissAsk:  if (ask_gnt[m] && ask_ready_i) miss_state_q[m] <= MissWait;
          MissWait: begin
            if (last && (cpl_stale || (inv_start && hit_inv[cpl_result_q.size])))
              miss_state_q[m] <= again ? MissAsk : MissFree;
            else if (last) miss_state_q[m] <= MissDone;
          end
          default: begin  // MissDone
            if (!again) miss_state_q[m] <= MissFree;
            else if (hit_result) miss_state_q[m] <= MissAsk;
          end
        endcase
      end
    end
    always_ff @(posedge clk_i) begin
      if (miss_state_q[m] == MissFree) begin
        miss_block_q[m] <= block_of(look_q.vpn);
        miss_write_q[m] <= look_q.write;
      end
      if (miss_state_q[m] == MissAsk) miss_stale_q[m] <= '0;
      else if (inv_start) miss_stale_q[m] <= miss_stale_q[m] | hit_inv;
      if (miss_state_q[m] == MissAsk) begin
        miss_got_q[m]   <= '0;
        miss_large_q[m] <= 1'b0;
      end else if (cpl_keep && cpl_id_q == miss_t'(m)) begin
        if (cpl_result_q.size == SizeBase) miss_got_q[m][cpl_page_q] <= 1'b1;
        else miss_large_q[m] <= 1'b1;
      end
    end
    // The first fault of a translation is the one that is reported to the host.
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) miss_fault_q[m] <= 1'b0;
      else if (drain && drain_status != StatusOk && drain_miss == miss_t'(m))
        miss_fault_q[m] <= 1'b1;
      else if (fault_gnt[m] && fault_ready_i) miss_fault_q[m] <= 1'b0;
    end
    always_ff @(posedge clk_i) begin
      if (!miss_fault_q[m]) begin
        fault_vpn_q[m]   <= look_q.vpn;
        fault_write_q[m] <= look_q.write;
      end
    end
    // A completion is of a translation that was asked for, a larger page its only beat.
    prim_assert u_asked (
      .clk_i,
      .rst_ni,
      .ok_i(!cpl_q || cpl_id_q != miss_t'(m) || (miss_state_q[m] == MissWait && !miss_large_q[m] &&
            (cpl_result_q.size == SizeBase || (cpl_last_q && miss_got_q[m] == '0))))
    );
  end
  always_ff @(posedge clk_i) begin
    if (cpl_keep) result_q[place_of(cpl_id_q, cpl_page_q)] <= cpl_result_q;
  end

  arb_rr #(.NumReq(NumMiss)) u_fault (
    .clk_i, .rst_ni, .req_i(miss_fault_q), .last_i(fault_ready_i), .gnt_o(fault_gnt),
    .idx_o(fault_miss)
  );
  assign fault_valid_o = fault_gnt != '0;
  assign fault_vpn_o   = fault_vpn_q[fault_miss];
  assign fault_write_o = fault_write_q[fault_miss];

  // ---------------------------------------------------------------- uses
  atc_epochs #(
    .Epochs  (Epochs),
    .MaxUses (MaxUses),
    .TagWidth(InvTagWidth)
  ) u_epochs (
    .clk_i,
    .rst_ni,
    .epoch_o     (rsp_epoch_o),
    .use_i       (answer && rsp_status_o == StatusOk),
    .done_i      (done_valid_i),
    .done_epoch_i,
    .end_ready_o (end_ready),
    .end_i       (inv_end),
    .end_tag_i   (inv.tag),
    .complete_valid_o,
    .complete_ready_i,
    .complete_tag_o
  );
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) open_q <= '0;
    else open_q <= open_q + UseWidth'(take) - UseWidth'(done_valid_i) -
        UseWidth'(answer && rsp_status_o != StatusOk);
  end

  // ---------------------------------------------------------------- pages ahead
  if (Ahead > 0) begin : gen_ahead
    atc_streams #(
      .VpnWidth(VpnWidth),
      .Streams (4),
      .Distance(Ahead)
    ) u_streams (
      .clk_i,
      .rst_ni,
      .valid_i      (op_q == OpLookup),
      .vpn_i        (look_q.vpn),
      .ahead_valid_o(probe_valid),
      .ahead_ready_i(probe_ready),
      .ahead_vpn_o  (ahead_vpn)
    );
  end else begin : gen_no_ahead
    assign probe_valid = 1'b0;
    assign ahead_vpn   = '0;
    logic unused;
    assign unused = probe_ready;
  end

  assign idle_o = op_q == OpNone && !cpl_q && wait_valid_q == '0 && &miss_free && !inv_valid &&
      all_ready && !probe_valid && !complete_valid_o;
endmodule
