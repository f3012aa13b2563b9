// SPDX-License-Identifier: SHL-2.1
/// Packets and ports of a torus network (docs/explanation/cores/torus.md).
// verilator lint_off UNUSEDPARAM
package torus_pkg;
  localparam int unsigned CoordWidth = 5;  // 32 nodes a dimension, 32768 in all
  localparam int unsigned MaxDims = 3;
  localparam int unsigned NumVcs = 2;  // virtual channels of a link
  localparam int unsigned MaxPorts = 2 * MaxDims + 1;
  localparam int unsigned MaxPayload = 4096;  // bytes of a packet

  typedef logic [CoordWidth-1:0] coord_t;
  typedef coord_t [MaxDims-1:0] place_t;  // [0]: x, [1]: y, [2]: z

  /// Ports of a router. PortXPlus: the link to the neighbour with the next higher x.
  typedef enum logic [2:0] {
    PortLocal,
    PortXPlus,
    PortXMinus,
    PortYPlus,
    PortYMinus,
    PortZPlus,
    PortZMinus,
    PortNone  // the packet is discarded
  } port_e;

  /// First word of a packet. Routers read `dest` only; the other fields are for the ends.
  typedef struct packed {
    logic [47:0] address;   // of the payload's first byte in the remote memory
    logic [15:0] id;        // buffer or process at the remote end
    logic [15:0] bytes;     // of payload, 1 to MaxPayload
    logic [15:0] kind;      // defined by the ends
    logic [1:0]  reserved;
    place_t      source;
    place_t      dest;
  } header_t;

  /// Last word of a packet, opaque to routers.
  typedef struct packed {
    logic [63:0] sequence_;  // of packets from this source to this destination
    logic [31:0] flags;
    logic [31:0] crc;        // of the ends, from the header's first bit to here
  } footer_t;
endpackage
// verilator lint_on UNUSEDPARAM
