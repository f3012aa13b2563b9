// SPDX-License-Identifier: SHL-2.1
/// Requests for MAC addresses, and what they are answered from.
package arp_pkg;
  /// A request for the address of this station.
  typedef struct packed {
    logic        valid;
    logic [31:0] ip;
  } ask_t;

  /// A strobe: this station has answered.
  typedef struct packed {
    logic        valid;
    logic [31:0] ip;
    logic [47:0] mac;
  } answer_t;

  /// A byte of a received frame.
  typedef struct packed {
    logic        valid;
    logic [10:0] pos;   // in the frame
    logic [7:0]  data;
  } byte_t;
endpackage
