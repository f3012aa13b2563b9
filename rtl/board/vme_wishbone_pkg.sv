// SPDX-License-Identifier: SHL-2.1
/// Probe points of the VME device.
package vme_wishbone_pkg;
  /// In the order of the bits of `probe_o`; the tag is the running number of the access.
  typedef enum logic [1:0] {
    VmeStrobe,  // data strobes of an access are seen
    WbIssue,    // its bus operation is taken
    WbAnswer,   // the bus has answered, or the registers have
    VmeAnswer   // DTACK or BERR is on the pins
  } probe_e;
  localparam int unsigned NumProbes = 4;
endpackage
