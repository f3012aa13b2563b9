// SPDX-License-Identifier: SHL-2.1
/// Probe points of the USB Etherbone device.
package usb_etherbone_pkg;
  /// In the order of the bits of `probe_o`; the tag counts the packets to the host that were ended
  /// before: one for each reply while the host waits for each.
  typedef enum logic [1:0] {
    UsbWordIn,   // engine takes a word of the stream
    WbIssue,     // engine starts a bus operation
    UsbWordOut,  // engine gives a word of a reply
    UsbEnd       // the FX2LP was requested to send its packet
  } probe_e;
  localparam int unsigned NumProbes = 4;
endpackage
