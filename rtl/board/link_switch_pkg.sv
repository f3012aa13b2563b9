// SPDX-License-Identifier: SHL-2.1
/// Probe points of the switch.
package link_switch_pkg;
  localparam int unsigned MaxPorts = 16;

  /// In the order of the bits of `probe_o`. EnterI: a SOP came in at port I and is RxLatency + 1
  /// cycles behind its pins; its tag is the output port. LeaveO: a SOP is on the pins of port O;
  /// its tag is the input port. Packets between the same two ports leave in the order in which they
  /// came.
  typedef enum logic [4:0] {
    Enter0, Enter1, Enter2, Enter3, Enter4, Enter5, Enter6, Enter7,
    Enter8, Enter9, Enter10, Enter11, Enter12, Enter13, Enter14, Enter15,
    Leave0, Leave1, Leave2, Leave3, Leave4, Leave5, Leave6, Leave7,
    Leave8, Leave9, Leave10, Leave11, Leave12, Leave13, Leave14, Leave15
  } probe_e;
  localparam int unsigned NumProbes = 32;
endpackage
