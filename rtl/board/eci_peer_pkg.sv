// SPDX-License-Identifier: SHL-2.1
/// Probe points of an end of a coherent link that has memory and caches the other's.
package eci_peer_pkg;
  /// In the order of the bits of `probe_o`; the tag is the request's, of Requested 0, or the
  /// transaction's of the end's own memory.
  typedef enum logic [2:0] {
    Accepted,   // a request is taken
    Requested,  // a message of circuits 6 or 7 is handed to the link
    Completed,  // its response
    LookedUp,   // memory takes a load
    Stored,     // memory takes a store
    Answered    // memory's answer is taken
  } probe_e;
  localparam int unsigned NumProbes = 6;
endpackage
