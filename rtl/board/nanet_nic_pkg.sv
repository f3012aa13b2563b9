// SPDX-License-Identifier: SHL-2.1
/// Probe points of the UDP-to-memory interface.
package nanet_nic_pkg;
  /// In the order of the bits of `probe_o`. The tag is the datagram's number at its port, modulo
  /// 64, and above it the port. Where two ports strobe in one cycle, the lower one is seen. Behind
  /// each the published interface's probe.
  typedef enum logic [2:0] {
    UdpFirst,     // its head leaves the UDP stage: UDP OFFLOAD, start of packet
    CtrlLast,     // its end enters the queue before the DMA: NaNet CTRL, end of packet
    Requested,    // it waits for the address of its buffer: FIFO REQ, write enable
    Accepted,     // the request is taken: FIFO REQ, read enable
    Answered,     // the address is known: FIFO RESP, write enable
    WriteFirst,   // the first piece of it is handed to the DMA
    Written,      // memory has answered all of its buffer's writes
    Completed     // memory has answered its event's write: EQ DMA CTRL, completion end
  } probe_e;
  localparam int unsigned NumProbes = 8;
endpackage
