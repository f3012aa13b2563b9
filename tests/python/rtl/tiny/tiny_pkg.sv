// SPDX-License-Identifier: SHL-2.1
/// Probe stages of `tiny`.
package tiny_pkg;
  typedef enum logic {
    FrameStart,
    FrameEnd
  } probe_e;
endpackage
