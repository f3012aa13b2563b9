// SPDX-License-Identifier: SHL-2.1
/// Probe points of a torus node with memory.
package apenet_node_pkg;
  /// In the order of the bits of `probe_o`. The tag is the put's number at its source, modulo 256.
  typedef enum logic [2:0] {
    Posted,     // the read of its first packet is asked for
    Sent,       // the header of its first packet leaves for the router
    Came,       // that header is taken at the far node
    Ended,      // the tail of its last packet is taken there
    Announced   // memory has answered all its writes, and its event is taken
  } probe_e;
  localparam int unsigned NumProbes = 5;
endpackage
