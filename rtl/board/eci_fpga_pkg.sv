// SPDX-License-Identifier: SHL-2.1
/// Probe points of an FPGA at a coherent link.
package eci_fpga_pkg;
  /// In the order of the bits of `probe_o`; the tag is the request's.
  typedef enum logic {
    Accepted,  // a request is taken
    Completed  // its response
  } probe_e;
  localparam int unsigned NumProbes = 2;
endpackage
