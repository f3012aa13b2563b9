// SPDX-License-Identifier: SHL-2.1
/// Probe points of the PCIe window device.
package pcie_mmio_pkg;
  /// In the order of the bits of `probe_o`; the tag is the running number of the access to the
  /// window.
  typedef enum logic [1:0] {
    BarAccess,  // address of a load or store is taken
    WbIssue,    // its operation is taken by the bus
    WbAnswer,   // and answered
    BarAnswer   // the host's answer is taken
  } probe_e;
  localparam int unsigned NumProbes = 4;
endpackage
