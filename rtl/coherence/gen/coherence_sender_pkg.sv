// SPDX-License-Identifier: SHL-2.1
// Generated from rtl/coherence/protocol.toml by python/isthmus/coherence.py: change those.
/// Who takes a response where a node has a cache and a home (docs/reference/coherence.md).
package coherence_sender_pkg;
  import coherence_pkg::*;

  /// A response of circuits 4, 5, 10 or 11 that an agent sends to a home.
  function automatic logic for_home(message_e message);
    return message inside {
      MsgVicd, MsgHakd, MsgHako, MsgVicc, MsgVics, MsgHaki, MsgHaks, MsgHakv, MsgGack
    };
  endfunction
endpackage
