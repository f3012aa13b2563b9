// SPDX-License-Identifier: SHL-2.1
/// AXI subordinate in front of a coherent cache: an accelerator's reads, writes and atomics become
/// loads and stores of lines.
///
/// coherence_axi -> coherence_remote, coherence_cache or ccix_cache, and back
/// (docs/explanation/cores/coherence.md)
///
///   Handshake   AXI4 with AWATOP of AXI5: valid/ready, held until taken. core: the same, but for
///               the tag and a load's mask and data. core_rsp has no ready: all have a place
///   Ordering    R and B of ids that are equal modulo Streams in the order of AR and AW; others
///               pass each other. Beats of two bursts do not alternate. Reads and writes are
///               ordered by the response of the first, as AXI has it
///   Bursts      INCR, WRAP and FIXED; all sizes up to the bus; unaligned first beats; strobes.
///               Each line of a burst is loaded or stored once
///   Atomics     AtomicStore, AtomicLoad, AtomicSwap of 1 to 8 bytes, AtomicCompare of 2 to 32,
///               little-endian; with Atomics 0 none: SLVERR
///   Errors      SLVERR: what AXI4 does not have, a beat wider than the bus, an atomic that is not
///               legal, the agent's error. DECERR: an address of 2^AddrWidth or more. A burst that
///               is refused has all its beats, and no effect
///   Latency     arvalid_i to rvalid_o 5 cycles of a line that is in a cache of 4 cycles, of which
///               one is here; the last beat of a write to bvalid_o 7. AWVALID to WREADY 1 cycle
///   Throughput  a beat a cycle each way, one load or store of a line a cycle for both together
///   Coherence   what the cache has; a response depends on no ready of AXI
///                                                    (proved: formal/coherence/coherence_axi.sby)
///   Parameters  DataWidth 64, 128, 256, 512; LineBytes 64 or 128; IdWidth 1..16; AddrWidth of the
///               agent, 12..64; NumReads and NumStores: lines open, powers of two, 2..64; NumBursts
///               of writes open, a power of two, 2..64; Streams a power of two, 1..16, at most
///               2^IdWidth
///   Not done    exclusive accesses (a lock is not looked at, the response is OKAY), big-endian
///               atomics, PROT, CACHE, QOS: all is cached
module coherence_axi
  import coherence_axi_pkg::*;
  import coherence_atomic_pkg::*;
#(
  parameter  int unsigned DataWidth  = 64,
  parameter  int unsigned LineBytes  = 128,
  parameter  int unsigned IdWidth    = 4,
  parameter  int unsigned AddrWidth  = 40,
  parameter  int unsigned NumReads   = 16,
  parameter  int unsigned NumStores  = 16,
  parameter  int unsigned NumBursts  = 8,
  parameter  int unsigned Streams    = 4,
  parameter  bit          Atomics    = 1'b1,
  localparam int unsigned DataBytes  = DataWidth / 8,
  localparam int unsigned LineLog2   = $clog2(LineBytes),
  localparam int unsigned IndexWidth = AddrWidth - LineLog2
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  input  logic                   awvalid_i,  // aw*: write address, held until awready_o
  output logic                   awready_o,  // takes the address
  input  logic [IdWidth-1:0]     awid_i,     // comes back in bid_o, of an atomic's load in rid_o
  input  axi_pkg::address_t      aw_i,       // len 0..255, size up to the bus, any burst kind
  input  logic [5:0]             awatop_i,   // AWATOP of AXI5; 0: no atomic
  input  logic                   wvalid_i,   // w*: data; as many beats as aw_i.len says
  output logic                   wready_o,   // takes the beat
  input  logic [DataWidth-1:0]   wdata_i,    // byte n in bits 8n+7:8n
  input  logic [DataBytes-1:0]   wstrb_i,    // bit n: byte n of the bus is written
  output logic                   bvalid_o,
  input  logic                   bready_i,  // takes the answer, one a burst
  output logic [IdWidth-1:0]     bid_o,     // awid_i of the burst
  output logic [1:0]             bresp_o,   // 0 OKAY, 2 SLVERR, 3 DECERR
  input  logic                   arvalid_i,
  output logic                   arready_o,  // ar*: read address, as aw*
  input  logic [IdWidth-1:0]     arid_i,     // comes back in rid_o
  input  axi_pkg::address_t      ar_i,       // as aw_i
  output logic                   rvalid_o,
  input  logic                   rready_i,  // takes the beat
  output logic [IdWidth-1:0]     rid_o,     // arid_i; of an atomic awid_i
  output logic [DataWidth-1:0]   rdata_o,   // byte n in bits 8n+7:8n
  output logic [1:0]             rresp_o,   // as bresp_o, for each beat
  output logic                   rlast_o,   // the last beat of a burst
  // the cache
  output logic                   core_valid_o,  // core_*: held, but for the tag, until core_ready_i
  input  logic                   core_ready_i,
  output logic                   core_write_o,
  output logic [IndexWidth-1:0]  core_index_o,
  output logic [7:0]             core_tag_o,   // an open one is not used again
  output logic [LineBytes-1:0]   core_mask_o,  // of a store
  output logic [8*LineBytes-1:0] core_data_o,
  output atomic_t                core_atomic_o,  // instead of the store; answered as a load
  input  logic                   core_rsp_valid_i,
  input  logic [7:0]             core_rsp_tag_i,
  input  logic                   core_rsp_error_i,
  input  logic [8*LineBytes-1:0] core_rsp_data_i
);
  if (!(DataWidth inside {64, 128, 256, 512})) begin : gen_width_check
    $error("coherence_axi: DataWidth is %0d, legal are 64, 128, 256 and 512", DataWidth);
  end
  if (LineBytes < DataBytes || LineBytes > 128 || (LineBytes & (LineBytes - 1)) != 0)
  begin : gen_line_check
    $error("coherence_axi: LineBytes is %0d, legal is a power of two, %0d..128", LineBytes,
           DataBytes);
  end
  if (AddrWidth < 12 || AddrWidth > 64) begin : gen_addr_check
    $error("coherence_axi: AddrWidth is %0d, legal is 12..64", AddrWidth);
  end
  if (NumReads > 64 || NumStores > 64 || NumBursts > 64) begin : gen_open_check
    $error("coherence_axi: NumReads %0d, NumStores %0d, NumBursts %0d; legal is 2..64", NumReads,
           NumStores, NumBursts);
  end
  if (NumStores < 2 || (NumStores & (NumStores - 1)) != 0 || Streams > 2 ** IdWidth)
  begin : gen_stores_check
    $error("coherence_axi: NumStores is %0d, Streams is %0d; legal is a power of two, 2..64, and ",
           NumStores, Streams, "at most as many streams as ids");
  end
  localparam int unsigned BusLog2     = $clog2(DataBytes);
  localparam int unsigned ReadWidth   = $clog2(NumReads);
  localparam int unsigned StoreWidth  = $clog2(NumStores);
  localparam int unsigned BurstWidth  = $clog2(NumBursts);
  localparam int unsigned StreamWidth = Streams > 1 ? $clog2(Streams) : 1;
  localparam int unsigned CountWidth  = StoreWidth + 2;
  typedef logic [ReadWidth-1:0]  read_t;
  typedef logic [StoreWidth-1:0] store_t;
  typedef logic [BurstWidth-1:0] burst_t;
  typedef logic [CountWidth-1:0] count_t;

  // ---------------------------------------------------------------- AR: a burst's loads
  logic load_valid, load_ready, load_step, load_more_q, load_mid_q;
  walk_t load_first, load_walk, load_walk_q;
  logic [1:0] load_resp, load_resp_q, ar_resp;
  logic [IdWidth-1:0] load_id, load_id_q;
  logic [63:12] load_page, load_page_q;
  always_comb begin
    ar_resp = RespOkay;
    if ((ar_i.addr >> AddrWidth) != '0) ar_resp = RespDecode;
    if (illegal(ar_i, BusLog2)) ar_resp = RespSlave;
    load_first = walk_of(ar_i);
    if (ar_resp != RespOkay) load_first.span = '0;  // one place
  end
  assign load_walk  = load_more_q ? load_walk_q : load_first;
  assign load_resp  = load_more_q ? load_resp_q : ar_resp;
  assign load_id    = load_more_q ? load_id_q : arid_i;
  assign load_page  = load_more_q ? load_page_q : ar_i.addr[63:12];
  assign load_valid = (load_more_q || arvalid_i) && !load_mid_q;
  assign load_step  = load_mid_q || (load_valid && load_ready);
  assign arready_o  = !load_more_q && load_ready;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      load_more_q <= 1'b0;
      load_mid_q  <= 1'b0;
    end else if (load_step) begin
      load_more_q <= load_walk.left != '0;
      load_mid_q  <= !ends_line(load_walk, LineLog2);
    end
  end
  always_ff @(posedge clk_i) begin
    if (load_step) begin
      load_walk_q <= next_of(load_walk);
      load_resp_q <= load_resp;
      load_id_q   <= load_id;
      load_page_q <= load_page;
    end
  end

  // ---------------------------------------------------------------- AW, W: a burst's stores
  logic store_valid, store_ready, store_first, store_last, store_reads;
  logic [1:0] store_resp;
  logic [IdWidth-1:0] store_id;
  logic [63:0] store_addr;
  atomic_t store_atomic;
  walk_t store_walk;
  coherence_axi_write #(
    .DataWidth(DataWidth), .LineBytes(LineBytes), .IdWidth(IdWidth), .AddrWidth(AddrWidth),
    .Atomics(Atomics)
  ) u_write (
    .clk_i, .rst_ni, .awvalid_i, .awready_o, .awid_i, .aw_i, .awatop_i, .wvalid_i, .wready_o,
    .wdata_i, .wstrb_i, .store_valid_o(store_valid), .store_ready_i(store_ready),
    .store_first_o(store_first), .store_last_o(store_last), .store_resp_o(store_resp),
    .store_id_o(store_id), .store_addr_o(store_addr), .store_mask_o(core_mask_o),
    .store_data_o(core_data_o), .store_atomic_o(store_atomic), .store_reads_o(store_reads),
    .store_walk_o(store_walk)
  );

  // ---------------------------------------------------------------- one of them to the cache
  // A load, and an atomic with an answer on R, has a place for its line; another store a number.
  logic [NumReads-1:0] read_busy_q, read_done_q, read_change_q, read_fault_q, read_rsp;
  logic [NumStores-1:0] store_busy_q;
  logic [NumBursts-1:0] burst_busy_q, burst_closed_q, burst_done;
  read_t free_read;
  store_t free_store;
  burst_t free_burst, burst_q, burst;
  logic some_read, some_store, some_burst, can_load, can_store, go, legal;
  logic open_read, open_store, open_burst;
  logic [1:0] gnt;
  always_comb begin
    free_read  = '0;
    free_store = '0;
    free_burst = '0;
    for (int unsigned i = NumReads; i > 0; i--) if (!read_busy_q[i-1]) free_read = read_t'(i - 1);
    for (int unsigned i = NumStores; i > 0; i--) begin
      if (!store_busy_q[i-1]) free_store = store_t'(i - 1);
    end
    for (int unsigned i = NumBursts; i > 0; i--) begin
      if (!burst_busy_q[i-1]) free_burst = burst_t'(i - 1);
    end
  end
  assign some_read  = read_busy_q != '1;
  assign some_store = store_busy_q != '1;
  assign some_burst = burst_busy_q != '1;
  assign can_load   = load_valid && some_read;
  // No atomic's place is between those of a burst of reads.
  assign can_store  = store_valid && (store_reads ? some_read && !load_more_q : some_store) &&
                      (!store_first || some_burst);
  arb_rr #(.NumReq(2)) u_turns (
    .clk_i, .rst_ni, .req_i({can_store, can_load}), .last_i(go), .gnt_o(gnt), .idx_o()
  );
  assign legal        = (gnt[0] ? load_resp : store_resp) == RespOkay;
  assign core_valid_o = gnt != '0 && legal;
  assign go           = gnt != '0 && (core_ready_i || !legal);
  assign load_ready   = gnt[0] && go;
  assign store_ready  = gnt[1] && go;
  assign open_read    = go && (gnt[0] || store_reads);
  assign open_store   = go && gnt[1] && !store_reads && legal;
  assign open_burst   = go && gnt[1] && store_first;
  assign burst        = store_first ? free_burst : burst_q;

  logic [63:0] addr;
  assign addr          = gnt[0] ? {load_page, load_walk.at} : store_addr;
  assign core_write_o  = gnt[1];
  assign core_index_o  = addr[AddrWidth-1:LineLog2];
  assign core_tag_o    = gnt[0] || store_reads ? 8'(free_read) : {1'b1, 7'(free_store)};
  assign core_atomic_o = gnt[1] ? store_atomic : '0;

  // ---------------------------------------------------------------- their answers
  typedef struct packed {
    logic [IdWidth-1:0] id;
    walk_t              walk;
    logic [1:0]         resp;
  } place_t;
  place_t place_q [NumReads];
  logic [8*LineBytes-1:0] line_q [NumReads];
  burst_t read_burst_q [NumReads];
  burst_t store_burst_q [NumStores];
  logic rsp_load, rsp_store;  // of a place; of a burst of writes
  read_t rsp_read;
  store_t rsp_number;
  burst_t rsp_burst;
  assign rsp_read   = core_rsp_tag_i[ReadWidth-1:0];
  assign rsp_number = core_rsp_tag_i[StoreWidth-1:0];
  assign rsp_load   = core_rsp_valid_i && !core_rsp_tag_i[7];
  assign rsp_store  = core_rsp_valid_i && (core_rsp_tag_i[7] || read_change_q[rsp_read]);
  assign rsp_burst  = core_rsp_tag_i[7] ? store_burst_q[rsp_number] : read_burst_q[rsp_read];
  always_comb begin
    read_rsp = '0;
    read_rsp[rsp_read] = rsp_load;
  end

  // ---------------------------------------------------------------- R
  read_t read;
  logic read_taken, mid_q, beat, beat_ends;
  walk_t walk, walk_q;
  place_t place;
  logic [8*LineBytes-1:0] line;
  logic [LineLog2-1:0] lane;
  coherence_axi_order #(.Entries(NumReads), .Streams(Streams)) u_reads (
    .clk_i, .rst_ni, .push_i(open_read), .push_entry_i(free_read),
    .push_stream_i(gnt[0] ? load_id[StreamWidth-1:0] : store_id[StreamWidth-1:0]),
    .done_i(read_done_q | read_rsp), .valid_o(rvalid_o), .entry_o(read), .take_i(read_taken),
    .stay_i(!rlast_o)
  );
  assign place      = place_q[read];
  assign line       = line_q[read];
  assign walk       = mid_q ? walk_q : place.walk;
  assign lane       = LineLog2'(walk.at) >> BusLog2;
  assign rid_o      = place.id;
  assign rlast_o    = walk.left == '0;
  assign rresp_o    = read_fault_q[read] ? RespSlave : place.resp;
  assign rdata_o    = rresp_o == RespOkay ? line[DataWidth*lane+:DataWidth] : '0;
  assign beat       = rvalid_o && rready_i;
  assign beat_ends  = ends_line(walk, LineLog2);
  assign read_taken = beat && beat_ends;

  // ---------------------------------------------------------------- B
  burst_t bursts;
  logic burst_taken;
  logic [NumBursts-1:0] mine, stored;  // the burst of this cycle's store; of its answer
  logic [IdWidth-1:0] burst_id_q [NumBursts];
  logic [NumBursts-1:0][1:0] burst_resp_q;
  logic [NumBursts-1:0][CountWidth-1:0] burst_count_q;
  coherence_axi_order #(.Entries(NumBursts), .Streams(Streams)) u_bursts (
    .clk_i, .rst_ni, .push_i(open_burst), .push_entry_i(free_burst),
    .push_stream_i(store_id[StreamWidth-1:0]), .done_i(burst_done), .valid_o(bvalid_o),
    .entry_o(bursts), .take_i(burst_taken), .stay_i(1'b0)
  );
  assign burst_taken = bvalid_o && bready_i;
  assign bid_o       = burst_id_q[bursts];
  assign bresp_o     = burst_resp_q[bursts];
  always_comb begin
    for (int unsigned i = 0; i < NumBursts; i++) begin
      burst_done[i] = burst_closed_q[i] && burst_count_q[i] == '0;
      mine[i]       = burst == burst_t'(i);
      stored[i]     = rsp_store && rsp_burst == burst_t'(i);
    end
  end

  // ---------------------------------------------------------------- state
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      read_busy_q    <= '0;
      read_done_q    <= '0;
      store_busy_q   <= '0;
      burst_busy_q   <= '0;
      burst_closed_q <= '0;
      mid_q          <= 1'b0;
    end else begin
      if (beat) mid_q <= !beat_ends;
      read_done_q <= read_done_q | read_rsp;
      if (read_taken) read_busy_q[read] <= 1'b0;
      if (open_read) begin
        read_busy_q[free_read] <= 1'b1;
        read_done_q[free_read] <= !legal;
      end
      if (core_rsp_valid_i && core_rsp_tag_i[7]) store_busy_q[rsp_number] <= 1'b0;
      if (open_store) store_busy_q[free_store] <= 1'b1;
      if (burst_taken) begin
        burst_busy_q[bursts]   <= 1'b0;
        burst_closed_q[bursts] <= 1'b0;
      end
      if (open_burst) burst_busy_q[free_burst] <= 1'b1;
      if (store_ready && store_last) burst_closed_q[burst] <= 1'b1;
    end
  end
  always_ff @(posedge clk_i) begin
    if (beat) walk_q <= next_of(walk);
    if (rsp_load) begin
      line_q[rsp_read] <= core_rsp_data_i;
      if (core_rsp_error_i) read_fault_q[rsp_read] <= 1'b1;
    end
    if (open_read) begin
      place_q[free_read]       <= gnt[0] ? {load_id, load_walk, load_resp}
                                         : {store_id, store_walk, store_resp};
      read_fault_q[free_read]  <= 1'b0;
      read_change_q[free_read] <= gnt[1];
      read_burst_q[free_read]  <= burst;
    end
    if (open_store) store_burst_q[free_store] <= burst;
    if (open_burst) begin
      burst_q                <= free_burst;
      burst_id_q[free_burst] <= store_id;
    end
    for (int unsigned i = 0; i < NumBursts; i++) begin
      burst_count_q[i] <= (open_burst && mine[i] ? '0 : burst_count_q[i]) +
                          count_t'(store_ready && legal && mine[i]) - count_t'(stored[i]);
      if (open_burst && mine[i]) burst_resp_q[i] <= store_resp;
      else if (stored[i] && core_rsp_error_i) burst_resp_q[i] <= RespSlave;
    end
  end

  logic unused;
  assign unused = ^{addr, core_rsp_tag_i};

  // An answer is of an open operation.
  prim_assert u_rsp (
    .clk_i, .rst_ni,
    .ok_i(!core_rsp_valid_i ||
          (core_rsp_tag_i[7] ? store_busy_q[rsp_number]
                             : read_busy_q[rsp_read] && !read_done_q[rsp_read]))
  );
endmodule
