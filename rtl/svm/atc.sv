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
///               the host, each waiting lookup that is answered, each page of an invalidation and
///               each prefetched page; and while fewer than two of the NumWait places are free or
///               MaxUses uses are open
///   Uses        an answer with StatusOk is a use in epoch rsp_epoch_o, until done_valid_i with
///               that epoch: when the access cannot reach memory any more, posted or not. A use
///               ends by itself: it waits for no invalidation
///   Ordering    answers in any order, a tag each. A hit passes misses
///   Misses      NumMiss translations in flight, of a block of 2^PagesLog2 pages each. A completion
///               is one beat a mapped page, the last with cpl_last_i: of 4 KiB at cpl_page_i of the
///               block, or larger and around the whole block. A page of the block without a beat,
///               or whose beat allows nothing, is not mapped. A write asks again where the page
///               that is stored may not be written
///   Direct      with this parameter a lookup that begins a translation does not wait for it: its
///               answer is StatusDirect in the cycle of a hit's. The requester sends the virtual
///               address, which the host translates. Lookups that find the translation in flight,
///               or no free place for one, wait as ever; so do all for a write without DirectWrites
///   Faults      the answer says so, and fault_* reports it to the host, once a translation
///   Invalidate  of 2^inv_log2_i pages from the aligned inv_vpn_i. complete_* comes when no use of
///               an older translation is open; it waits for nothing else but other invalidations
///               and the slots of its pages. What is in flight of such a page is dropped and asked
///               for again
///   Latency     hit: 1 cycle from req_* to rsp_*, combinational behind the stores' memories.
///               Miss: 2 cycles to ask_valid_o; cpl_* to rsp_* 3 cycles
///   Throughput  a lookup a cycle
///   Safety      no answer from an invalidated or another page's translation, no use of one open
///               behind complete_*; no write that its page does not allow; one answer a lookup
///               (proved: formal/svm/atc.sby, formal/svm/atc_epochs.sby)
///   Parameters  VpnWidth, PpnWidth 20..52: numbers of pages of 4 KiB; BigLog2, HugeLog2: pages of
///               4 KiB in the larger ones; sets and ways as tag_store; NumMiss 1..64; NumWait
///               2..64; PagesLog2 0..3; Ahead pages ahead of a stream, 0 (no look ahead) to 64;
///               NumInv as many invalidations as the host may have open, a power of two from 2 on
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
  parameter  bit          Direct      = 1'b0,
  parameter  bit          DirectWrites = 1'b1,
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
  // ---------------------------------------------------------------- state
  // Second cycle of an operation.
  op_e     op_q;
  lookup_t look_q;
  slot_t   slot_q;
  logic [UseWidth-1:0] open_q;  // lookups without an answer, and uses

  // ---------------------------------------------------------------- invalidations
  logic inv_valid, inv_run, inv_start, inv_end, end_ready, all_ready, cpl;
  vpn_t inv_vpn;
  logic [Log2Width-1:0] inv_log2;
  logic [InvTagWidth-1:0] inv_tag;
  logic [IndexWidth-1:0] inv_index;
  logic [NumStores-1:0] inv_hit, inv_clear, store_ready;
  assign all_ready = &store_ready;
  atc_invalidate #(
    .VpnWidth(VpnWidth), .BigLog2(BigLog2), .HugeLog2(HugeLog2), .BaseSets(BaseSets),
    .BigSets(BigSets), .HugeSets(HugeSets), .NumInv(NumInv), .InvTagWidth(InvTagWidth)
  ) u_invalidate (
    .clk_i, .rst_ni, .inv_valid_i, .inv_ready_o, .inv_vpn_i, .inv_log2_i, .inv_tag_i,
    .ready_i(all_ready), .begin_i(end_ready), .slot_i(!cpl), .pending_o(inv_valid),
    .running_o(inv_run), .vpn_o(inv_vpn), .log2_o(inv_log2), .tag_o(inv_tag),
    .start_o(inv_start), .index_o(inv_index), .hit_o(inv_hit), .clear_o(inv_clear),
    .end_o(inv_end)
  );

  // ---------------------------------------------------------------- first cycle: choose
  logic [NumMiss-1:0] miss_free, miss_done, awaited;
  logic any_miss_free, wait_slot, wait_ready, go, go_linked, any_unlinked, two_free, no_waits;
  logic probe, probe_valid, probe_ready, take;
  logic hit, miss, drain, direct, linked, alloc, attach, answer, match;
  slot_t   go_slot;
  lookup_t go_look;
  miss_t   drain_miss, match_miss, free_miss, link_miss;
  vpn_t    ahead_vpn, op_vpn, fill_vpn;
  ppn_t    fill_ppn;
  page_t   fill_page;
  logic    fill;
  op_e     op;
  assign any_miss_free = miss_free != '0;
  assign wait_slot     = all_ready && !cpl && !inv_run;
  atc_waits #(
    .VpnWidth(VpnWidth), .TagWidth(TagWidth), .NumWait(NumWait), .NumMiss(NumMiss)
  ) u_waits (
    .clk_i, .rst_ni, .turn_i(wait_slot), .miss_done_i(miss_done), .any_miss_free_i(any_miss_free),
    .ready_o(wait_ready), .go_o(go), .go_linked_o(go_linked), .go_slot_o(go_slot),
    .go_vpn_o(go_look.vpn), .go_write_o(go_look.write), .go_tag_o(go_look.tag),
    .busy_i(op_q inside {OpReplay, OpDrain}), .slot_i(slot_q), .at_miss_o(drain_miss),
    .look_vpn_i(look_q.vpn), .look_write_i(look_q.write), .look_tag_i(look_q.tag),
    .enter_i(miss && op_q == OpLookup && !direct),
    .leave_i(drain || ((hit || direct) && op_q == OpReplay)),
    .linked_i(linked), .link_miss_i(link_miss), .awaited_o(awaited),
    .any_unlinked_o(any_unlinked), .two_free_o(two_free), .empty_o(no_waits)
  );
  assign probe       = wait_slot && !wait_ready && probe_valid;
  assign probe_ready = wait_slot && !wait_ready;
  assign req_ready_o = wait_slot && !wait_ready && !probe_valid && open_q != UseWidth'(MaxUses) &&
      two_free;
  assign take        = req_valid_i && req_ready_o;

  always_comb begin
    op = OpNone;
    if (go) op = go_linked ? OpDrain : OpReplay;
    else if (probe) op = OpProbe;
    else if (take) op = OpLookup;
  end
  assign op_vpn = cpl ? fill_vpn : inv_run ? inv_vpn : go ? go_look.vpn :
      probe_valid ? ahead_vpn : req_vpn_i;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) op_q <= OpNone;
    else op_q <= op;
  end
  always_ff @(posedge clk_i) begin
    slot_q <= go_slot;
    look_q <= '{
        vpn:   op_vpn,
        write: go ? go_look.write : !probe && req_write_i,
        tag:   go ? go_look.tag : req_tag_i
    };
  end

  // ---------------------------------------------------------------- stores
  ppn_t [NumStores-1:0] store_ppn;
  logic [NumStores-1:0] store_hit, store_read, store_write;
  for (genvar s = 0; s < NumStores; s++) begin : gen_store
    logic fill_this;
    assign fill_this = fill && fill_page.size == page_size_e'(s);
    atc_store #(
      .VpnWidth(VpnWidth),
      .PpnWidth(PpnWidth),
      .Shift   (Shift[s]),
      .Sets    (Sets[s]),
      .Ways    (Ways[s])
    ) u_store (
      .clk_i,
      .rst_ni,
      .clear_i     (inv_clear[s]),
      .valid_i     (fill_this || inv_hit[s] || op inside {OpLookup, OpReplay, OpProbe}),
      .ready_o     (store_ready[s]),
      .fill_i      (fill_this),
      .invalidate_i(inv_hit[s]),
      .vpn_i       (inv_hit[s] ? op_vpn | vpn_t'(inv_index) << Shift[s] : op_vpn),
      .ppn_i       (fill_ppn),
      .read_i      (fill_page.read),
      .write_i     (fill_page.write),
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
  ppn_t    hit_ppn, drain_ppn;
  status_e drain_status;
  logic [NumStores-1:0] usable;

  for (genvar s = 0; s < NumStores; s++) begin : gen_usable
    assign usable[s] = store_hit[s] && (look_q.write ? store_write[s] : store_read[s]);
  end
  always_comb begin
    hit_ppn = '0;
    for (int unsigned s = NumStores; s > 0; s--) if (usable[s-1]) hit_ppn = store_ppn[s-1];
  end
  assign hit  = op_q inside {OpLookup, OpReplay} && usable != '0;
  assign miss = op_q inside {OpLookup, OpReplay} && usable == '0;

  assign drain = op_q == OpDrain && miss_done[drain_miss];
  assign answer       = hit || drain || direct;
  assign rsp_valid_o  = answer;
  assign rsp_tag_o    = look_q.tag;
  assign rsp_status_o = hit ? StatusOk : direct ? StatusDirect : drain_status;
  assign rsp_ppn_o    = hit ? hit_ppn : drain_ppn;

  // A miss waits for a translation of its block that is under way, or for one of its own. One that
  // has come is not waited for: what it found is stored, and that it found nothing would be said
  // for as long as lookups of its block come. A place goes to the lookups first that wait for one.
  assign attach    = miss && match;
  assign alloc     = any_miss_free && !match &&
      ((miss && (op_q == OpReplay || !any_unlinked)) ||
       (op_q == OpProbe && store_hit == '0 && !any_unlinked &&
        (miss_free & (miss_free - 1'b1)) != '0));
  assign direct    = Direct && alloc && miss && (DirectWrites || !look_q.write);
  assign linked    = attach || (alloc && miss && !direct);
  assign link_miss = attach ? match_miss : free_miss;

  // ---------------------------------------------------------------- translations in flight
  atc_misses #(
    .VpnWidth(VpnWidth), .PpnWidth(PpnWidth), .BigLog2(BigLog2), .HugeLog2(HugeLog2),
    .NumMiss(NumMiss), .PagesLog2(PagesLog2)
  ) u_misses (
    .clk_i, .rst_ni, .cpl_valid_i, .cpl_id_i, .cpl_last_i,
    .cpl_page_i('{size: cpl_size_i, read: cpl_read_i, write: cpl_write_i}),
    .cpl_number_i(cpl_page_i), .cpl_ppn_i, .cpl_o(cpl), .fill_o(fill), .fill_page_o(fill_page),
    .fill_vpn_o(fill_vpn), .fill_ppn_o(fill_ppn), .inv_start_i(inv_start), .inv_vpn_i(inv_vpn),
    .inv_log2_i(inv_log2), .look_vpn_i(look_q.vpn), .look_write_i(look_q.write),
    .match_some_o(match), .match_miss_o(match_miss), .alloc_i(alloc), .free_o(miss_free),
    .free_miss_o(free_miss), .done_o(miss_done), .awaited_i(awaited), .drain_i(drain),
    .drain_miss_i(drain_miss), .drain_status_o(drain_status), .drain_ppn_o(drain_ppn),
    .ask_valid_o, .ask_ready_i, .ask_id_o, .ask_vpn_o, .ask_write_o,
    .fault_valid_o, .fault_ready_i, .fault_vpn_o, .fault_write_o
  );

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
    .end_tag_i   (inv_tag),
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

  assign idle_o = op_q == OpNone && !cpl && no_waits && &miss_free && !inv_valid &&
      all_ready && !probe_valid && !complete_valid_o;
endmodule
