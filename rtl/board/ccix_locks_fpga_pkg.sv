// SPDX-License-Identifier: SHL-2.1
/// Probe points of an FPGA with a near-data unit and locks.
package ccix_locks_fpga_pkg;
  /// In the order of the bits of `probe_o`. The tag is the transaction's slot.
  typedef enum logic [2:0] {
    Begun,   // a transaction is taken
    Ordered, // an order of it is taken by the lock table, or by the packer
    Locked,  // it has all its locks
    Done,    // its last lock is released, or it is aborted
    Queued   // an order of a lock that is held waits at the table; the tag is its owner
  } probe_e;
  localparam int unsigned NumProbes = 5;
endpackage
