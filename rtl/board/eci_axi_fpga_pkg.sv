// SPDX-License-Identifier: SHL-2.1
/// Probe points of an FPGA at a coherent link, whose logic is an AXI master.
package eci_axi_fpga_pkg;
  /// In the order of the bits of `probe_o`. The tag is the task's at the ends, the request's at the
  /// agent, else 0. An atomic is a task of tag 0.
  typedef enum logic [3:0] {
    Accepted,   // the port's load or store of a line is taken by the agent
    Requested,  // a message of circuits 6 or 7 is handed to the link
    Completed,  // the line's response
    Taken,      // a task is taken
    Asked,      // a read burst's address is taken by the port
    Read,       // a beat on R is taken
    Wrote,      // a beat on W is taken
    Stored,     // a response on B is taken
    Done        // the task's end
  } probe_e;
  localparam int unsigned NumProbes = 9;
endpackage
