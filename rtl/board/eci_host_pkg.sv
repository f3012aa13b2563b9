// SPDX-License-Identifier: SHL-2.1
/// Probe points of a host's end of a coherent link.
package eci_host_pkg;
  /// In the order of the bits of `probe_o`; the tag is the transaction's.
  typedef enum logic [1:0] {
    LookedUp,  // memory takes a load
    Stored,    // memory takes a store
    Answered   // memory's answer is taken
  } probe_e;
  localparam int unsigned NumProbes = 3;
endpackage
