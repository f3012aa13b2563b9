// SPDX-License-Identifier: SHL-2.1
/// Types of shared virtual memory: sizes of pages, outcome of a translation, orders for locks.
package svm_pkg;
  /// The size of a page: 4 KiB, 2 MiB, 1 GiB.
  typedef enum logic [1:0] {
    SizeBase = 2'd0,
    SizeBig  = 2'd1,
    SizeHuge = 2'd2
  } page_size_e;

  /// A page that the host maps, its number aside.
  typedef struct packed {
    page_size_e size;
    logic       read;
    logic       write;
  } page_t;

  /// What became of a lookup. Only with Ok is there an address, and a use.
  typedef enum logic [1:0] {
    StatusOk       = 2'd0,
    StatusUnmapped = 2'd1,  // no page
    StatusDenied   = 2'd2,  // a page that does not allow this
    StatusDirect   = 2'd3   // not known yet: the host may translate the access itself
  } status_e;

  /// An order to a lock table.
  typedef enum logic [1:0] {
    LockAcquire = 2'd0,  // waits for its turn
    LockTry     = 2'd1,  // does not wait
    LockRelease = 2'd2,
    LockRevoke  = 2'd3   // takes a lock from an owner that is gone
  } lock_op_e;

  /// Its outcome.
  typedef enum logic [2:0] {
    LockGranted  = 3'd0,
    LockQueued   = 3'd1,  // LockGranted follows
    LockBusy     = 3'd2,  // a try, or a revoke of another's lock: nothing happened
    LockFull     = 3'd3,  // no place to wait: nothing happened
    LockReleased = 3'd4,
    LockStale    = 3'd5,  // of a lock that was revoked, or is not held: nothing happened
    LockRevoked  = 3'd6
  } lock_status_e;

  /// An order to a lock table with what belongs to it.
  typedef struct packed {
    logic [7:0]  owner;
    lock_op_e    op;
    logic        exclusive;
    logic [15:0] lock;
    logic [15:0] fence;
  } lock_order_t;

  /// Its answer.
  typedef struct packed {
    logic [7:0]   owner;
    lock_status_e status;
    logic [15:0]  fence;
  } lock_answer_t;
endpackage
