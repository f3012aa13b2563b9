// SPDX-License-Identifier: SHL-2.1
/// Probe points of an FPGA at a coherent link.
package eci_fpga_pkg;
  /// In the order of the bits of `probe_o`; the tag is the request's, of Requested 0.
  typedef enum logic [1:0] {
    Accepted,   // a request is taken
    Requested,  // a message of circuits 6 or 7 is handed to the link
    Completed   // its response
  } probe_e;
  localparam int unsigned NumProbes = 3;
endpackage
