// SPDX-License-Identifier: SHL-2.1
/// Locks of a transaction: which of its steps takes one, and how.
///
/// A record's lock is the low LockWidth bits of its number, so records may share a lock. The first
/// step of a lock takes it, for all steps that have it: exclusive if one of them is an update. A
/// lock behind a larger one of the transaction is tried and not waited for, whatever its step says.
/// So a transaction waits only for a lock that is larger than all it has: no circle of transactions
/// that wait is possible, and none waits for itself.
///
///   Handshake   none: combinational
///   Latency     0 cycles
///   Parameters  LockWidth 1..16; 16: a lock a record
///   Not done    another hash: records of one lock are a multiple of 2^LockWidth apart
module ccix_locks
  import ccix_pkg::*;
#(
  parameter  int unsigned LockWidth = 16,
  localparam int unsigned Steps     = 4
) (
  input  logic [1:0]               last_i,        // the number of the last step
  input  update_step_t [Steps-1:0] steps_i,
  output logic [Steps-1:0]         own_o,         // the step takes its lock
  output logic [Steps-1:0]         exclusive_o,   // how
  output logic [Steps-1:0]         no_wait_o,     // it is tried
  output logic [1:0]               last_lock_o    // the number of the last lock, from 0
);
  if (LockWidth < 1 || LockWidth > 16) begin : gen_width_check
    $error("ccix_locks: LockWidth is %0d, legal is 1..16", LockWidth);
  end

  logic [Steps-1:0][LockWidth-1:0] lock;
  always_comb begin
    for (int unsigned s = 0; s < Steps; s++) lock[s] = steps_i[s].record[LockWidth-1:0];
    last_lock_o = '1;
    for (int unsigned s = 0; s < Steps; s++) begin
      own_o[s]       = s <= 32'(last_i);
      exclusive_o[s] = 1'b0;
      no_wait_o[s]   = 1'b0;
      for (int unsigned other = 0; other < Steps; other++) begin
        if (other < s && lock[other] == lock[s]) own_o[s] = 1'b0;
        if (other < s && lock[other] > lock[s]) no_wait_o[s] = 1'b1;
        if (other <= 32'(last_i) && lock[other] == lock[s]) begin
          exclusive_o[s] = exclusive_o[s] || steps_i[other].write;
          no_wait_o[s]   = no_wait_o[s] || steps_i[other].no_wait;
        end
      end
      last_lock_o = last_lock_o + 2'(own_o[s]);
    end
  end

  logic unused;
  assign unused = ^steps_i;
endmodule
