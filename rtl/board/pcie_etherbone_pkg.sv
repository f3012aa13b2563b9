// SPDX-License-Identifier: SHL-2.1
/// Probe points of the PCIe Etherbone device.
package pcie_etherbone_pkg;
  /// In the order of the bits of `probe_o`. The tag numbers units, that is read bursts and pushes,
  /// as they begin; a doorbell has the number of the burst that it starts.
  typedef enum logic [2:0] {
    BarWrite,         // a push's last beat, or a doorbell, is taken
    RingFetch,        // address of a read burst is taken
    StreamFirstWord,  // engine takes the unit's first word
    WbIssue,          // engine starts a bus operation (one strobe each)
    ReplyFirstWord,   // the first word of the unit's reply leaves the engine
    DmaWriteFirst,    // the beat that holds it is taken
    StatusWritten     // the status word is taken; tag: last unit whose reply has begun before it
  } probe_e;
  localparam int unsigned NumProbes = 7;
endpackage
