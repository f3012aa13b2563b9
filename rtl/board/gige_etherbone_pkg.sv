// SPDX-License-Identifier: SHL-2.1
/// Probe points of the Gigabit Ethernet Etherbone device.
package gige_etherbone_pkg;
  /// In the order of the bits of `probe_o`; the tag is the running number of the received frame.
  typedef enum logic [2:0] {
    MacRxFirst,    // first preamble byte leaves the receive clock crossing
    MacRxLast,     // end of frame leaves the receive clock crossing
    MacRxVerdict,  // frame check and checksums done
    EbFirstWord,   // engine takes the frame's first word
    WbIssue,       // engine starts a bus operation (one strobe each)
    EbReplyWhole,  // last answer is in, the reply is whole and the frame verified
    MacTxFirst,    // first preamble byte of the reply is on the pins
    MacTxLast      // last FCS byte of the reply is on the pins
  } probe_e;
  localparam int unsigned NumProbes = 8;
endpackage
