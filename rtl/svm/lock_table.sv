// SPDX-License-Identifier: SHL-2.1
/// Locks of records, shared and exclusive, with a queue of waiters each.
///
/// A lock is the hash of a record's key: two records of one hash share it. A request for a lock
/// that is not free waits in the lock's queue, in the order of arrival; adjacent shared requests
/// are granted together. A lock whose owner was reset is revoked: its fence counts up, so that an
/// order with the old fence is refused as stale, by the table and by any logic that compares
/// fences.
///
///   Handshake   req_* is valid/ready; rsp_* is a sink: valid for a cycle, without ready. An order
///               has one answer, 1 cycle later; an acquire answered LockQueued gets LockGranted
///               later as well. The table never waits for other modules
///   Ordering    orders take effect in their order. A lock's waiters are granted in the order of
///               their acquires: no later acquire or try passes them
///   Latency     1 cycle from an order to its answer; a release to the grant of the first waiter 2
///               cycles, 1 more for each further shared one
///   Throughput  an order in 2 cycles, on any locks; a cycle more for each waiter that is granted
///   Safety      an exclusive holder is alone; waiters in order; a lock with waiters is held
///               (proved: formal/svm/lock_table.sby)
///   Memory      one block memory of Locks words; NumWait places for waiters of all locks
///   Parameters  Locks a power of two, 2..65536; NumWait 2..64; OwnerWidth 1..16, HoldersWidth
///               1..16: 2^HoldersWidth - 1 shared holders; FenceWidth 1..32
///   Not done    the owners of a shared lock are not stored, so they can only be revoked together;
///               timed leases (the host revokes); queued requests of a reset owner are not removed,
///               they are granted and then revoked
module lock_table
  import svm_pkg::*;
#(
  parameter  int unsigned Locks        = 1024,
  parameter  int unsigned NumWait      = 64,
  parameter  int unsigned OwnerWidth   = 8,
  parameter  int unsigned HoldersWidth = 8,
  parameter  int unsigned FenceWidth   = 16,
  localparam int unsigned LockWidth    = $clog2(Locks)
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,
  input  logic                  req_valid_i,
  output logic                  req_ready_o,
  input  lock_op_e              req_op_i,
  input  logic                  req_exclusive_i,  // of acquire and try
  input  logic [LockWidth-1:0]  req_lock_i,
  input  logic [OwnerWidth-1:0] req_owner_i,      // of a revoke: whose lock
  input  logic [FenceWidth-1:0] req_fence_i,      // of a release: as it was granted
  output logic                  rsp_valid_o,
  output lock_status_e          rsp_status_o,
  output logic                  rsp_exclusive_o,
  output logic [LockWidth-1:0]  rsp_lock_o,
  output logic [OwnerWidth-1:0] rsp_owner_o,
  output logic [FenceWidth-1:0] rsp_fence_o,      // of the lock, behind the order
  output logic                  idle_o
);
  localparam int unsigned SlotWidth = $clog2(NumWait);
  typedef logic [SlotWidth-1:0] slot_t;
  typedef logic [HoldersWidth-1:0] holders_t;
  typedef struct packed {
    logic                  exclusive;  // how it is held
    logic [OwnerWidth-1:0] owner;      // of an exclusive lock
    holders_t              holders;
    logic                  waiting;    // the queue has waiters:
    slot_t                 head;
    slot_t                 tail;
    logic [FenceWidth-1:0] fence;
  } lock_t;
  typedef struct packed {
    logic                  exclusive;
    logic [OwnerWidth-1:0] owner;
  } waiter_t;
  typedef enum logic [1:0] {StSweep, StAccept, StDecide, StHand} state_e;

  if (Locks < 2 || Locks > 65536 || (Locks & (Locks - 1)) != 0) begin : gen_locks_check
    $error("lock_table: Locks is %0d, legal is a power of two, 2..65536", Locks);
  end
  if (NumWait < 2 || NumWait > 64 || OwnerWidth < 1 || OwnerWidth > 16 || HoldersWidth < 1 ||
      HoldersWidth > 16 || FenceWidth < 1 || FenceWidth > 32) begin : gen_width_check
    $error("lock_table: NumWait %0d, legal is 2..64; OwnerWidth %0d and HoldersWidth %0d, legal is",
           NumWait, OwnerWidth, HoldersWidth, " 1..16; FenceWidth %0d, legal is 1..32", FenceWidth);
  end

  state_e                state_q;
  logic [LockWidth-1:0]  lock_q;  // of the order, or of the sweep behind a reset
  lock_op_e              op_q;
  logic                  exclusive_q;
  logic [OwnerWidth-1:0] owner_q;
  logic [FenceWidth-1:0] fence_q;
  logic                  take;
  assign req_ready_o = state_q == StAccept;
  assign take        = req_valid_i && req_ready_o;
  assign idle_o      = state_q == StAccept;

  // ---------------------------------------------------------------- the lock: read, hand_q, write
  lock_t read, lock, lock_d, hand_q;
  logic  write;
  assign lock = state_q == StHand ? hand_q : read;
  ram_1r1w #(
    .Width  ($bits(lock_t)),
    .Depth  (Locks),
    .ReadOld(1'b0)
  ) u_locks (
    .clk_i,
    .we_i   (write),
    .waddr_i(lock_q),
    .wdata_i(lock_d),
    .re_i   (take),
    .raddr_i(req_lock_i),
    .rdata_o(read)
  );

  // ---------------------------------------------------------------- waiters
  logic [NumWait-1:0] used_q;
  waiter_t            waiter_q [NumWait];
  slot_t              next_q [NumWait];
  waiter_t            first;
  slot_t              free_slot;
  logic               any_free, push, pop;
  assign any_free = used_q != '1;
  assign first    = waiter_q[hand_q.head];
  always_comb begin
    free_slot = '0;
    for (int unsigned w = NumWait; w > 0; w--) if (!used_q[w-1]) free_slot = slot_t'(w - 1);
  end

  // ---------------------------------------------------------------- decide
  logic compatible, held, more, current, freed;
  slot_t hand_next;
  logic [OwnerWidth-1:0] rsp_owner;
  lock_status_e status;
  assign held       = lock.holders != '0;
  assign compatible = !held || (!lock.exclusive && !exclusive_q && lock.holders != '1);
  assign current    = held && fence_q == lock.fence;
  always_comb begin
    lock_d    = lock;
    status    = LockBusy;
    push      = 1'b0;
    pop       = 1'b0;
    rsp_owner = owner_q;
    if (state_q == StSweep) begin
      lock_d = '0;
    end else if (state_q == StHand) begin
      // The first of the queue; a shared one beside those that were granted before it.
      pop              = 1'b1;
      status           = LockGranted;
      rsp_owner        = first.owner;
      lock_d.exclusive = first.exclusive;
      lock_d.owner     = first.owner;
      lock_d.holders   = lock.holders + 1'b1;
      lock_d.head      = hand_next;
      lock_d.waiting   = hand_q.head != hand_q.tail;
    end else if (state_q == StDecide) begin
      case (op_q)
        LockAcquire, LockTry: begin
          if (compatible && !lock.waiting) begin
            status           = LockGranted;
            lock_d.exclusive = exclusive_q;
            lock_d.owner     = owner_q;
            lock_d.holders   = lock.holders + 1'b1;
          end else if (op_q == LockTry) begin
            status = LockBusy;
          end else if (!any_free || (held && !lock.exclusive && lock.holders == '1)) begin
            status = LockFull;
          end else begin
            status         = LockQueued;
            push           = 1'b1;
            lock_d.waiting = 1'b1;
            lock_d.tail    = free_slot;
            if (!lock.waiting) lock_d.head = free_slot;
          end
        end
        LockRelease: begin
          status = current ? LockReleased : LockStale;
          if (current) lock_d.holders = lock.holders - 1'b1;
        end
        default: begin  // LockRevoke
          if (!held) begin
            status = LockStale;
          end else if (lock.exclusive && lock.owner != owner_q) begin
            status = LockBusy;
          end else begin
            status         = LockRevoked;
            lock_d.holders = '0;
            lock_d.fence   = lock.fence + 1'b1;
          end
        end
      endcase
    end
  end
  // The queue's next is granted while the lock is free, or shared with room for one that is shared.
  // Both are said without what is written, which comes late.
  assign freed     = op_q == LockRelease ? current && read.holders == holders_t'(1) :
      op_q == LockRevoke && held && (!read.exclusive || read.owner == owner_q);
  assign hand_next = next_q[hand_q.head];
  assign more      = state_q == StHand ?
      hand_q.head != hand_q.tail && !first.exclusive && !waiter_q[hand_next].exclusive &&
      holders_t'(hand_q.holders + 1'b1) != '1 : read.waiting && freed;
  assign write     = state_q != StAccept;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= StSweep;
      lock_q  <= '0;
      used_q  <= '0;
    end else begin
      case (state_q)
        StSweep: begin
          lock_q <= lock_q + 1'b1;
          if (lock_q == '1) state_q <= StAccept;
        end
        StAccept: begin
          lock_q <= req_lock_i;
          if (take) state_q <= StDecide;
        end
        default: state_q <= more ? StHand : StAccept;
      endcase
      if (push) used_q[free_slot] <= 1'b1;
      if (pop) used_q[hand_q.head] <= 1'b0;
    end
  end
  always_ff @(posedge clk_i) begin
    hand_q <= lock_d;
    if (take) begin
      op_q        <= req_op_i;
      exclusive_q <= req_exclusive_i;
      owner_q     <= req_owner_i;
      fence_q     <= req_fence_i;
    end
    if (push) waiter_q[free_slot] <= '{exclusive: exclusive_q, owner: owner_q};
    if (push && lock.waiting) next_q[lock.tail] <= free_slot;
  end

  assign rsp_valid_o     = state_q == StDecide || state_q == StHand;
  assign rsp_status_o    = status;
  assign rsp_exclusive_o = state_q == StHand ? first.exclusive : exclusive_q;
  assign rsp_lock_o      = lock_q;
  assign rsp_owner_o     = rsp_owner;
  assign rsp_fence_o     = lock_d.fence;
endmodule
