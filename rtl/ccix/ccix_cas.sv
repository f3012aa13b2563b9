// SPDX-License-Identifier: SHL-2.1
/// Locks that are words of their records' lines, compared and swapped while the cache owns them.
///
/// It has the order port of lock_table and is in front of ccix_cache, beside accesses to records.
/// Word 7 of a line is its lock: 0 is free, else the number of readers, or its top bit: a writer.
/// An order first stores no byte to its line, which brings the line in a state that may be
/// written. If that answers in Window cycles, the line was owned: the cache is given no snoop and
/// no other access until the lock's word is read, compared and written. Else it is tried again
/// when the line has come. If the cache takes nothing for Window cycles, snoops pass and the order
/// is tried again: what the cache waits for may be behind a snoop.
///
///   Handshake   order, req: valid/ready, what waits at req_* gives way to an order's own; ans_*
///               and rsp_* are strobes. req_ready_o does not wait for req_valid_i
///   Ordering    orders in any: an acquire may pass a release of the same slot, and waits then.
///               Locks are not fair: the order that tries at the right time gets it
///   Latency     a lock whose line is owned: order to answer 20 cycles, of them 5 to choose the
///               order, and the cache's 4 three times
///   Throughput  a lock in 16 cycles, the next one is chosen beside it; lines that the cache does
///               not have come at the same time
///   Retry       an acquire of a lock that is held, or an order whose line another asked for, is
///               tried again after Pause cycles
///   Safety      between compare and swap no one else has the line: no snoop and no miss in between
///                                                        (proved: formal/ccix/ccix_cas.sby)
///   Parameters  Entries 2..64: orders open; Window 5..15: more than the cache's hit; Pause 2..255
///   Not done    queues, fences, locks without a record
module ccix_cas
  import ccix_pkg::*;
  import svm_pkg::*;
#(
  parameter  int unsigned Entries   = 64,
  parameter  int unsigned Window    = 6,
  parameter  int unsigned Pause     = 64,
  localparam int unsigned SlotWidth = 6,
  localparam int unsigned IdWidth   = $clog2(Entries)
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,
  input  logic                 order_valid_i,  // order_*: held until order_ready_o
  output logic                 order_ready_o,
  input  lock_op_e             order_op_i,         // LockAcquire, LockTry or LockRelease
  input  logic                 order_exclusive_i,  // a writer, else a reader
  input  logic [15:0]          order_lock_i,       // the record whose line has the lock
  input  logic [SlotWidth-1:0] order_slot_i,       // comes back in ans_slot_o
  output logic                 ans_valid_o,
  output lock_status_e         ans_status_o,
  output logic [SlotWidth-1:0] ans_slot_o,
  // Accesses to records; tags have bit 6 clear.
  input  logic                 req_valid_i,
  output logic                 req_ready_o,
  input  logic                 req_write_i,
  input  index_t               req_index_i,
  input  logic [7:0]           req_tag_i,
  input  mask_t                req_mask_i,
  input  line_t                req_data_i,
  output logic                 rsp_valid_o,  // of a record
  // The cache.
  output logic                 hold_snoops_o,
  output logic                 req_valid_o,
  input  logic                 req_ready_i,
  output logic                 req_write_o,
  output index_t               req_index_o,
  output logic [7:0]           req_tag_o,
  output mask_t                req_mask_o,
  output line_t                req_data_o,
  input  logic                 rsp_valid_i,
  input  logic [7:0]           rsp_tag_i,
  input  logic [63:0]          rsp_lock_i  // word 7 of the line
);
  typedef logic [IdWidth-1:0] id_t;
  typedef struct packed {
    lock_op_e             op;
    logic                 exclusive;
    logic [15:0]          lock;
    logic [SlotWidth-1:0] slot;
  } entry_t;
  typedef enum logic [2:0] {StIdle, StProbe, StOwned, StLoad, StRead, StStore, StWritten} state_e;

  if (Entries < 2 || Entries > 64 || Window < 5 || Window > 15 || Pause < 2 || Pause > 255)
  begin : gen_check
    $error("ccix_cas: Entries %0d, legal is 2..64; Window %0d, legal is 5..15; Pause %0d", Entries,
           Window, Pause, ", legal is 2..255");
  end

  // ---------------------------------------------------------------- orders
  // An entry is free, due, tried, or waits for its line or for its time. Those whose line has come
  // go first, then releases. An entry does not ask for a line that another has asked for.
  logic [Entries-1:0] used_q, due_q, late_q, came_q, asks_q, leaves_q, free, first;
  logic [Entries-1:0] after_q;  // behind the last that had its turn
  entry_t entry_q [Entries];
  id_t id_q;
  state_e state_q;
  logic [3:0] window_q;
  logic [7:0] pause_q;
  logic take, choose, stuck;
  assign order_ready_o = used_q != '1;
  assign take          = order_valid_i && order_ready_o;
  assign free          = ~used_q & -(~used_q);
  assign first = came_q != '0 ? came_q : (due_q & leaves_q) != '0 ? due_q & leaves_q : due_q;

  // ---------------------------------------------------------------- the next one
  // In four steps, a new choice each cycle, all of them void when one is taken: those that may be
  // next; one of them; its entry; which entries are of its line. The last stays while it is used.
  logic [Entries-1:0] may_q, high_q, pick_q, match_q;
  entry_t fetched, fetch_q, next_q, now_q;
  id_t fetched_id, fetch_id_q, next_id_q;
  logic fetch_some_q, next_some_q;
  always_comb begin
    fetched    = entry_t'('0);
    fetched_id = '0;
    for (int unsigned e = 0; e < Entries; e++) begin
      if (pick_q[e]) begin
        fetched    = fetched | entry_q[e];
        fetched_id = fetched_id | id_t'(e);
      end
    end
  end
  // Not while the cache takes nothing: what it waits for may be behind a snoop.
  assign choose = state_q == StIdle && next_some_q && req_ready_i;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {may_q, high_q, pick_q} <= '0;
      {fetch_some_q, next_some_q} <= '0;
      after_q <= '0;
    end else begin
      may_q        <= choose ? '0 : first;
      high_q       <= choose ? '0 : first & after_q;
      pick_q       <= choose ? '0 : high_q != '0 ? high_q & -high_q : may_q & -may_q;
      fetch_some_q <= pick_q != '0 && !choose;
      next_some_q  <= fetch_some_q && !choose && state_q != StProbe;
      for (int unsigned e = 0; e < Entries; e++) if (choose) after_q[e] <= e > 32'(next_id_q);
    end
  end
  always_ff @(posedge clk_i) begin
    fetch_q    <= fetched;
    fetch_id_q <= fetched_id;
    if (!choose && state_q != StProbe) begin
      next_q    <= fetch_q;
      next_id_q <= fetch_id_q;
      for (int unsigned e = 0; e < Entries; e++) match_q[e] <= entry_q[e].lock == fetch_q.lock;
    end
    if (choose) begin
      id_q  <= next_id_q;
      now_q <= next_q;
    end
  end

  // ---------------------------------------------------------------- one lock at a time
  // A probe's tag has the entry's number; bit 7 is set for a store, as for records.
  logic [63:0] held_q, next;
  logic zero_q;  // held_q is
  logic mine, probed, able, same, ours, go, done;
  id_t rsp_id;
  assign rsp_id = id_t'(rsp_tag_i[5:0]);
  assign mine   = rsp_valid_i && rsp_tag_i[6];
  assign probed = mine && rsp_id == id_q;
  assign able   = now_q.op == LockRelease || (now_q.exclusive ? zero_q : !held_q[63]);
  assign same   = (match_q & asks_q) != '0;
  always_comb begin
    if (now_q.op == LockRelease) next = now_q.exclusive ? '0 : held_q - 1'b1;
    else next = now_q.exclusive ? {1'b1, 63'd0} : held_q + 1'b1;
  end
  assign ours          = (state_q == StProbe && !same) || state_q == StLoad ||
                         (state_q == StStore && able);
  assign go            = ours && req_ready_i;
  assign stuck         = ours && !req_ready_i && window_q == '0;
  assign hold_snoops_o = state_q != StIdle;
  assign req_valid_o   = ours || (req_valid_i && state_q == StIdle);
  assign req_ready_o   = req_ready_i && state_q == StIdle;
  assign req_write_o   = hold_snoops_o ? state_q != StLoad : req_write_i;
  assign req_index_o   = hold_snoops_o ? index_t'(now_q.lock) : req_index_i;
  assign req_tag_o     = hold_snoops_o ? {state_q != StLoad, 1'b1, 6'(id_q)} : req_tag_i;
  assign req_mask_o    = !hold_snoops_o ? req_mask_i : state_q == StStore ? {8'hFF, 56'd0} :
                         state_q == StLoad ? '1 : '0;
  assign req_data_o    = hold_snoops_o ? {next, 448'd0} : req_data_i;
  assign rsp_valid_o   = rsp_valid_i && !rsp_tag_i[6];

  assign done         = (state_q == StWritten && probed) || (state_q == StStore && !able);
  assign ans_valid_o  = done && (able || now_q.op == LockTry);
  assign ans_status_o = !able ? LockBusy : now_q.op == LockRelease ? LockReleased : LockGranted;
  assign ans_slot_o   = now_q.slot;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      used_q   <= '0;
      due_q    <= '0;
      late_q   <= '0;
      leaves_q <= '0;
      came_q   <= '0;
      asks_q   <= '0;
      state_q  <= StIdle;
      pause_q  <= '0;
    end else begin
      pause_q <= pause_q == 8'(Pause - 1) ? '0 : pause_q + 1'b1;
      if (pause_q == '0) begin
        due_q  <= due_q | late_q;
        late_q <= '0;
      end
      for (int unsigned e = 0; e < Entries; e++) begin
        if (take && free[e]) begin
          used_q[e]   <= 1'b1;
          due_q[e]    <= 1'b1;
          leaves_q[e] <= order_op_i == LockRelease;
        end
        // The line of one that was tried before has come.
        if (mine && rsp_id == id_t'(e) && asks_q[e]) begin
          asks_q[e] <= 1'b0;
          due_q[e]  <= 1'b1;
          came_q[e] <= 1'b1;
        end
      end
      case (state_q)
        StIdle: if (choose) begin
          state_q       <= StProbe;
          due_q[next_id_q]  <= 1'b0;
          came_q[next_id_q] <= 1'b0;
        end
        StProbe: begin
          if (same) begin
            state_q      <= StIdle;
            late_q[id_q] <= 1'b1;
          end else if (go) state_q <= StOwned;
        end
        StOwned: begin
          if (probed) state_q <= StLoad;
          else if (window_q == '0) begin
            state_q      <= StIdle;
            asks_q[id_q] <= 1'b1;
          end
        end
        StLoad:  if (go) state_q <= StRead;
        StRead:  if (probed) state_q <= StStore;
        StStore: begin
          if (!able) state_q <= StIdle;
          else if (go) state_q <= StWritten;
        end
        default: if (probed) state_q <= StIdle;
      endcase
      // Nothing is stored yet: snoops pass, and the order is tried again.
      if (stuck) begin
        state_q      <= StIdle;
        late_q[id_q] <= 1'b1;
      end
      if (done) begin
        if (ans_valid_o) used_q[id_q] <= 1'b0;
        else late_q[id_q] <= 1'b1;
      end
    end
  end
  always_ff @(posedge clk_i) begin
    for (int unsigned e = 0; e < Entries; e++) begin
      if (take && free[e])
        entry_q[e] <= '{op: order_op_i, exclusive: order_exclusive_i, lock: order_lock_i,
                        slot: order_slot_i};
    end
    window_q <= choose || go || probed ? 4'(Window) : window_q - 1'b1;
    if (state_q == StRead && probed) begin
      held_q <= rsp_lock_i;
      zero_q <= rsp_lock_i == '0;
    end
  end

  logic unused;
  assign unused = rsp_tag_i[7];
endmodule
