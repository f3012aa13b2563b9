// SPDX-License-Identifier: SHL-2.1
/// Probe points of an FPGA with a CCIX request agent.
package ccix_fpga_pkg;
  /// In the order of the bits of `probe_o`. The tag is the task's at the ends, else the request's.
  typedef enum logic [2:0] {
    Taken,      // a task is taken
    Requested,  // a line is requested, at the translation stage: its page is looked up
    Translated, // its request, with a physical address, is taken by the agent
    Sent,       // the last beat of a packet goes to the hard block
    Received,   // an answer is taken out of its packet
    Responded,  // it is a line's response
    Done        // the task's last response
  } probe_e;
  localparam int unsigned NumProbes = 7;
endpackage
