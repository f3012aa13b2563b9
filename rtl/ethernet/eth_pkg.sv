// SPDX-License-Identifier: SHL-2.1
/// Types shared by the Ethernet stack, the services behind it and the boards around it.
package eth_pkg;
  /// One datagram: whom it came from (receive) or goes to (transmit).
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

  /// Every received frame adds one to exactly one `rx_*` counter, at its verdict. They wrap.
  typedef struct packed {
    logic [31:0] rx_good;        // UDP datagram delivered, or ARP / ICMP echo request taken
    logic [31:0] rx_other;       // whole and for us, but nothing here speaks it
    logic [31:0] rx_fcs;         // wrong FCS, or rx_er inside the frame
    logic [31:0] rx_length;      // no start delimiter, under 64 bytes, over 1518 bytes, or stalled
    logic [31:0] rx_filtered;    // neither our MAC address nor broadcast
    logic [31:0] rx_ip;          // IPv4: header, options, fragment, length, checksum, not our address
    logic [31:0] rx_l4;          // UDP or ICMP: checksum or length
    logic [31:0] rx_port;        // UDP to another port
    logic [31:0] rx_denied;      // source matches no entry of the allow-list
    logic [31:0] rx_refused;     // service said rx_refuse
    logic [31:0] rx_unaligned;   // UDP payload is not a multiple of 4 bytes
    logic [31:0] rx_busy;        // ARP or ICMP request while the reply to an earlier one waits
    logic [31:0] rx_overflow;    // clock crossing overflowed inside the frame
    logic [31:0] tx_arp;         // ARP replies sent
    logic [31:0] tx_icmp;        // ICMP echo replies sent
    logic [31:0] tx_frames;      // all frames sent
  } eth_counters_t;

  /// Probe points of the stack, in the order of the bits of `probe_o`.
  typedef enum logic [2:0] {
    MacRxFirst   = 3'd0,  // first preamble byte leaves the clock crossing
    MacRxLast    = 3'd1,  // end of frame (one cycle after the last FCS byte) leaves the clock crossing
    MacRxVerdict = 3'd2,  // verdict; same cycle as rx_end_o where a datagram was delivered
    MacTxFirst   = 3'd3,  // first preamble byte is on gmii_txd_o
    MacTxLast    = 3'd4   // last FCS byte is on gmii_txd_o
  } eth_probe_e;
  localparam int unsigned NumEthProbes = 5;
endpackage
