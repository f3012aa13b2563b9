// SPDX-License-Identifier: SHL-2.1
/// Types shared by the Ethernet stack, the services behind it and the boards around it.
package eth_pkg;
  /// One datagram: the station that it came from (receive) or goes to (transmit).
  typedef struct packed {
    logic [47:0] mac;   // peer's MAC address
    logic [31:0] ip;    // peer's IPv4 address
    logic [15:0] port;  // peer's UDP port
    logic [15:0] len;   // UDP payload in bytes, 0..1472
    logic [7:0]  tag;   // running number of received frames, modulo 256; the first has 0
  } udp_meta_t;

  /// One entry of the list of sources that may talk UDP and ICMP to us:
  /// an address `a` matches when `enable` and `(a ^ ip) & mask == 0`.
  typedef struct packed {
    logic        enable;
    logic [31:0] ip;
    logic [31:0] mask;
  } allow_t;

  /// What the headers and sums of a received frame say.
  typedef struct packed {
    logic mac_ok;     // to our MAC address, or broadcast
    logic arp;        // ARP
    logic arp_ok;     // and a request for our address
    logic arp_busy;   // and an earlier one waits for its reply
    logic ip;         // IPv4
    logic dst_bad;    // to another address; broadcast counts as ours for our UDP port alone
    logic ip_bad;     // version, options, fragment, checksum
    logic other;      // neither UDP nor an ICMP echo request
    logic allowed;    // its source matches the allow-list
    logic udp;        // UDP
    logic port_bad;   // another port
    logic l4_bad;     // UDP or ICMP: checksum or length
    logic unaligned;  // payload is not a multiple of 4 bytes, where that counts
    logic refused;    // the service said rx_refuse
    logic icmp_busy;  // an ICMP echo request, and an earlier one waits for its reply
  } eth_found_t;

  /// What became of a received frame. The first that applies, in this order.
  typedef enum logic [3:0] {
    VerdictOverflow,   // clock crossing overflowed inside the frame
    VerdictLength,     // no start delimiter, under 64 or over 1518 bytes, or it stopped without end
    VerdictFcs,        // wrong FCS, or rx_er inside the frame
    VerdictFiltered,   // for somebody else: neither our MAC address nor broadcast; not our IP, nor
                       // broadcast to our UDP port
    VerdictIp,         // IPv4: version, options, fragment, checksum, longer than its frame
    VerdictOther,      // whole and for us, but nothing here speaks it
    VerdictDenied,     // source matches no entry of the allow-list
    VerdictPort,       // UDP to another port
    VerdictL4,         // UDP or ICMP: checksum or length
    VerdictUnaligned,  // UDP payload is not a multiple of 4 bytes
    VerdictRefused,    // the service said rx_refuse
    VerdictBusy,       // ARP or ICMP request while the reply to an earlier one waits
    VerdictGood        // datagram delivered, or ARP or ICMP request taken
  } eth_verdict_e;

  /// Every received frame adds one to exactly one `rx_*` counter, at its verdict. They wrap.
  typedef struct packed {
    logic [31:0] rx_overflow;
    logic [31:0] rx_length;
    logic [31:0] rx_fcs;
    logic [31:0] rx_filtered;
    logic [31:0] rx_ip;
    logic [31:0] rx_other;
    logic [31:0] rx_denied;
    logic [31:0] rx_port;
    logic [31:0] rx_l4;
    logic [31:0] rx_unaligned;
    logic [31:0] rx_refused;
    logic [31:0] rx_busy;
    logic [31:0] rx_good;
    logic [31:0] tx_arp;     // ARP replies sent
    logic [31:0] tx_icmp;    // ICMP echo replies sent
    logic [31:0] tx_frames;  // all frames sent
  } eth_counters_t;

  /// Probe points of the stack, in the order of the bits of `probe_o`.
  typedef enum logic [2:0] {
    MacRxFirst   = 3'd0,  // first preamble byte leaves the clock crossing
    MacRxLast    = 3'd1,  // end of frame, one cycle behind the last FCS byte, leaves the crossing
    MacRxVerdict = 3'd2,  // the cycle of rx_end_o, where there is one
    MacTxFirst   = 3'd3,  // first preamble byte is on gmii_txd_o
    MacTxLast    = 3'd4   // last FCS byte is on gmii_txd_o
  } eth_probe_e;
  localparam int unsigned NumEthProbes = 5;
endpackage
