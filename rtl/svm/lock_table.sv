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
///   Throughput  an order a cycle, of one lock or of many; a cycle more for each waiter that is
///               granted, in which an order behind it waits
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
  input  logic [OwnerWidth-1:0] req_owner_i,  // of a revoke: whose lock
  input  logic [FenceWidth-1:0] req_fence_i,  // of a release: as it was granted
  output logic                  rsp_valid_o,
  output lock_status_e          rsp_status_o,
  output logic                  rsp_exclusive_o,
  output logic [LockWidth-1:0]  rsp_lock_o,
  output logic [OwnerWidth-1:0] rsp_owner_o,
  output logic [FenceWidth-1:0] rsp_fence_o,  // of the lock, behind the order
  output logic                  idle_o        // nothing changes until an input does
);
  localparam int unsigned SlotWidth = $clog2(NumWait);
  typedef logic [SlotWidth-1:0] slot_t;
  typedef logic [HoldersWidth-1:0] holders_t;
  typedef struct packed {
    logic                  exclusive;  // how it is held
    logic [OwnerWidth-1:0] owner;      // of an exclusive lock
    holders_t              holders;
    // What the decision needs of the holders, ready when the word comes out of the memory.
    logic                  held;
    logic                  one;
    logic                  full;
    logic                  waiting;    // the queue has waiters:
    slot_t                 head;
    slot_t                 tail;
    logic [FenceWidth-1:0] fence;
  } lock_t;
  typedef struct packed {
    logic                  exclusive;
    logic [OwnerWidth-1:0] owner;
  } waiter_t;

  if (Locks < 2 || Locks > 65536 || (Locks & (Locks - 1)) != 0) begin : gen_locks_check
    $error("lock_table: Locks is %0d, legal is a power of two, 2..65536", Locks);
  end
  if (NumWait < 2 || NumWait > 64 || OwnerWidth < 1 || OwnerWidth > 16 || HoldersWidth < 1 ||
      HoldersWidth > 16 || FenceWidth < 1 || FenceWidth > 32) begin : gen_width_check
    $error("lock_table: NumWait %0d, legal is 2..64; OwnerWidth %0d and HoldersWidth %0d, legal is",
           NumWait, OwnerWidth, HoldersWidth, " 1..16; FenceWidth %0d, legal is 1..32", FenceWidth);
  end

  // An order is read in the cycle in which it is taken, decided in the next one. A hand-over holds
  // the order behind it.
  logic                  sweep_q;  // behind a reset: locks are cleared
  logic                  valid_q;  // an order is at the decision, or held there
  logic                  hand_q;   // the last written lock goes to its next waiter
  logic [LockWidth-1:0]  lock_q;   // of the order, or of the sweep
  lock_op_e              op_q;
  logic                  exclusive_q;
  logic [OwnerWidth-1:0] owner_q;
  logic [FenceWidth-1:0] fence_q;
  logic                  take, decide;
  assign req_ready_o = !sweep_q && !(hand_q && valid_q);
  assign take        = req_valid_i && req_ready_o;
  assign decide      = valid_q && !hand_q;
  assign idle_o      = !sweep_q && !valid_q && !hand_q;

  // ---------------------------------------------------------------- the lock: read, write, last_q
  // The memory does not give what is written in the same cycle: last_q is taken instead.
  lock_t read, lock, lock_d, last_q;
  logic [LockWidth-1:0] at, last_lock_q;
  logic write, same_q;
  assign at    = hand_q ? last_lock_q : lock_q;
  assign write = sweep_q || decide || hand_q;
  assign lock  = hand_q || same_q ? last_q : read;
  ram_1r1w #(
    .Width  ($bits(lock_t)),
    .Depth  (Locks),
    .ReadOld(1'b0)
  ) u_locks (
    .clk_i,
    .we_i   (write),
    .waddr_i(at),
    .wdata_i(lock_d),
    .re_i   (take),
    .raddr_i(req_lock_i),
    .rdata_o(read)
  );

  // ---------------------------------------------------------------- waiters
  logic [NumWait-1:0] used_q;
  waiter_t            waiter_q [NumWait];
  slot_t              next_q [NumWait];
  logic               next_exclusive_q [NumWait];
  waiter_t            first;
  slot_t              free_slot;
  logic               any_free, push, pop;
  assign any_free = used_q != '1;
  assign first    = waiter_q[last_q.head];
  always_comb begin
    free_slot = '0;
    for (int unsigned w = NumWait; w > 0; w--) if (!used_q[w-1]) free_slot = slot_t'(w - 1);
  end

  // ---------------------------------------------------------------- decide
  logic compatible, more, current, freed, grant, release_;
  logic [OwnerWidth-1:0] rsp_owner;
  lock_status_e status;
  assign compatible = !lock.held || (!lock.exclusive && !exclusive_q && !lock.full);
  // Each word is compared before the choice between them, which comes late.
  assign current    = same_q ? last_q.held && fence_q == last_q.fence :
                               read.held && fence_q == read.fence;
  always_comb begin
    lock_d    = lock;
    status    = LockBusy;
    push      = 1'b0;
    pop       = 1'b0;
    grant     = 1'b0;
    release_  = 1'b0;
    rsp_owner = owner_q;
    if (sweep_q) begin
      lock_d = '0;
    end else if (hand_q) begin
      // The first of the queue; a shared one beside those that were granted before it.
      pop              = 1'b1;
      grant            = 1'b1;
      status           = LockGranted;
      rsp_owner        = first.owner;
      lock_d.exclusive = first.exclusive;
      lock_d.owner     = first.owner;
      lock_d.head      = next_q[last_q.head];
      lock_d.waiting   = last_q.head != last_q.tail;
    end else if (valid_q) begin
      case (op_q)
        LockAcquire, LockTry: begin
          if (compatible && !lock.waiting) begin
            grant            = 1'b1;
            status           = LockGranted;
            lock_d.exclusive = exclusive_q;
            lock_d.owner     = owner_q;
          end else if (op_q == LockTry) begin
            status = LockBusy;
          end else if (!any_free || (!lock.exclusive && lock.full)) begin
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
          status   = current ? LockReleased : LockStale;
          release_ = current;
        end
        default: begin  // LockRevoke
          if (!lock.held) begin
            status = LockStale;
          end else if (lock.exclusive && lock.owner != owner_q) begin
            status = LockBusy;
          end else begin
            status         = LockRevoked;
            lock_d.holders = '0;
            lock_d.held    = 1'b0;
            lock_d.one     = 1'b0;
            lock_d.full    = 1'b0;
            lock_d.fence   = lock.fence + 1'b1;
          end
        end
      endcase
    end
    if (grant) begin
      lock_d.holders = lock.holders + 1'b1;
      lock_d.held    = 1'b1;
      lock_d.one     = !lock.held;
      lock_d.full    = lock.holders == holders_t'('1 - 1);
    end
    if (release_) begin
      lock_d.holders = lock.holders - 1'b1;
      lock_d.held    = !lock.one;
      lock_d.one     = 32'(lock.holders) == 2;
      lock_d.full    = 1'b0;
    end
  end
  // The queue's next is granted while the lock is free, or shared with room for one that is shared.
  // Both are said without what is written, which comes late.
  assign freed = op_q == LockRelease ? current && lock.one :
      op_q == LockRevoke && lock.held && (!lock.exclusive || lock.owner == owner_q);
  assign more  = hand_q ?
      last_q.head != last_q.tail && !first.exclusive && !next_exclusive_q[last_q.head] &&
      last_q.holders != holders_t'('1 - 1) : valid_q && lock.waiting && freed;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      sweep_q <= 1'b1;
      valid_q <= 1'b0;
      hand_q  <= 1'b0;
      lock_q  <= '0;
      used_q  <= '0;
    end else begin
      if (sweep_q) begin
        lock_q <= lock_q + 1'b1;
        if (lock_q == '1) sweep_q <= 1'b0;
      end
      if (take) lock_q <= req_lock_i;
      valid_q <= take || (valid_q && hand_q);
      hand_q  <= more;
      if (push) used_q[free_slot] <= 1'b1;
      if (pop) used_q[last_q.head] <= 1'b0;
    end
  end
  always_ff @(posedge clk_i) begin
    if (write) begin
      last_q      <= lock_d;
      last_lock_q <= at;
    end
    if (take) begin
      same_q      <= write && req_lock_i == at;
      op_q        <= req_op_i;
      exclusive_q <= req_exclusive_i;
      owner_q     <= req_owner_i;
      fence_q     <= req_fence_i;
    end
    if (push) waiter_q[free_slot] <= '{exclusive: exclusive_q, owner: owner_q};
    if (push && lock.waiting) begin
      next_q[lock.tail]           <= free_slot;
      next_exclusive_q[lock.tail] <= exclusive_q;
    end
  end

  assign rsp_valid_o     = decide || hand_q;
  assign rsp_status_o    = status;
  assign rsp_exclusive_o = hand_q ? first.exclusive : exclusive_q;
  assign rsp_lock_o      = at;
  assign rsp_owner_o     = rsp_owner;
  assign rsp_fence_o     = lock_d.fence;
endmodule
