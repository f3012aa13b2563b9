// SPDX-License-Identifier: SHL-2.1
/// What passes between the receive and the transmit side of a 10 Gb/s stack.
package eth_d64_pkg;
  /// An ARP frame to be sent.
  typedef struct packed {
    logic        ask;  // 1: a request; 0: a reply
    logic [47:0] mac;  // of the station that it goes to, all ones of a request
    logic [31:0] ip;   // of the station that it goes to, or that is asked for
  } arp_frame_t;

  /// An ICMP echo reply to be sent, without its data.
  typedef struct packed {
    logic [47:0] mac;     // of the station that it goes to
    logic [31:0] ip;      // of the station that it goes to
    logic [10:0] len;     // of the data in bytes, 0..1472
    logic [15:0] csum;    // of the reply
    logic [31:0] id_seq;  // identifier and sequence number, as asked
  } ping_t;
endpackage
