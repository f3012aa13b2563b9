// SPDX-License-Identifier: SHL-2.1
/// An atomic change of a word in a line, as a cache with Atomics takes it: AXI5's functions.
// verilator lint_off UNUSEDPARAM
package coherence_atomic_pkg;
  /// The first eight are AXI5's codes for AtomicLoad and AtomicStore.
  typedef enum logic [3:0] {
    AtomicAdd     = 4'd0,
    AtomicClear   = 4'd1,  // the bits that are set in the operand
    AtomicXor     = 4'd2,
    AtomicSet     = 4'd3,
    AtomicSmax    = 4'd4,
    AtomicSmin    = 4'd5,
    AtomicUmax    = 4'd6,
    AtomicUmin    = 4'd7,
    AtomicSwap    = 4'd8,
    AtomicCompare = 4'd9   // the word is swapped if it is the operand
  } atomic_fn_e;

  /// The operand is where the word is, at `offset` of the line that comes with it. Of AtomicCompare
  /// the new value is in the other half of the aligned block of twice the size.
  typedef struct packed {
    logic       valid;
    atomic_fn_e fn;
    logic [2:0] size;    // logarithm of the word's bytes: 0..3, of AtomicCompare 0..4
    logic [6:0] offset;  // a multiple of the word's bytes
  } atomic_t;
endpackage
// verilator lint_on UNUSEDPARAM
