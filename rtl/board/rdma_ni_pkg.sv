// SPDX-License-Identifier: SHL-2.1
/// Probe points of the RDMA network interface.
package rdma_ni_pkg;
  /// In the order of the bits of `probe_o`, all in the host's clock. Tags: packets have the lowest
  /// 5 bits of their number above 3 of the other host; the others count.
  typedef enum logic [3:0] {
    RequestPosted,  // a descriptor with the start flag is taken
    MessagePosted,  // a message's last beat is taken
    Granted,        // a transfer has room, numbers and links
    ReadIssued,     // the first read burst of a transfer is taken
    PacketBegun,    // a data packet's header enters its queue
    HeaderCame,     // a packet's header is out of its link's buffer
    WriteIssued,    // the first burst of a packet's payload is on the bus
    Answered,       // host memory has answered it
    NoticeWritten   // a notification is on the bus
  } probe_e;
  localparam int unsigned NumProbes = 9;
endpackage
