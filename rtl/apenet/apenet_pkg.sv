// SPDX-License-Identifier: SHL-2.1
/// Puts over APElink: what the two ends of a torus write into its packets (torus_pkg).
// verilator lint_off UNUSEDPARAM
package apenet_pkg;
  localparam int unsigned FlitWidth  = 128;
  localparam int unsigned MaxPayload = torus_pkg::MaxPayload;  // of a packet
  localparam int unsigned LengthW    = $clog2(MaxPayload) + 1;
  localparam int unsigned PutW       = 23;                     // of a put's bytes, at most 4 MiB
  localparam int unsigned PlaceW     = 3 * torus_pkg::CoordWidth;
  localparam int unsigned NumberW    = 11;                     // of a packet in its put

  localparam logic [7:0] DoneList    = 8'h81;  // the list in events: a put was read and sent
  localparam logic [7:0] ArrivedList = 8'h82;  // a put is in memory, whole

  localparam logic [3:0] KindPut = 4'd1;

  /// torus_pkg::header_t.kind.
  typedef struct packed {
    logic [7:0] put;       // low bits of the put's number, for probes
    logic [3:0] what;      // KindPut
    logic [1:0] zero;
    logic       last;      // packet of its put
    logic       first;
  } kind_t;

  /// torus_pkg::footer_t.sequence_; its flags are the bytes of the whole put.
  typedef struct packed {
    logic [31:0] put;      // number of the put at its source
    logic [31:0] packet;   // number of the packet in its put
  } sequence_t;

  /// Why a post was refused, in its event.
  typedef enum logic [1:0] {
    PutTaken,    // it was not
    PutEmpty,    // no bytes, or more than 4 MiB
    PutOutside,  // it leaves the put memory
    PutTarget    // its target is not set
  } refusal_e;

  /// A put's way, for probes: strobes, and the number of the put at its source, modulo 256.
  typedef struct packed {
    logic       strobe;
    logic [7:0] tag;
  } step_t;

  /// Packets and puts that came; they wrap.
  typedef struct packed {
    logic [31:0] packets;
    logic [15:0] bad_packets;  // check sum, length or format
    logic [15:0] bad_puts;     // whose last packet came, but not all of them, or not all right
  } arrivals_t;

  /// What a packet's header and footer say.
  typedef struct packed {
    torus_pkg::place_t  dest;
    logic [15:0]        key;
    logic [47:0]        address;
    logic [LengthW-1:0] bytes;
    logic               first;
    logic               last;
    logic [PutW-1:0]    total;
    logic [NumberW-1:0] number;
    logic [31:0]        put;
  } packet_t;

  /// What is left to find out of a packet when its tail has come.
  typedef struct packed {
    logic                   good;      // so far
    logic                   first;
    logic                   last;
    logic [1:0]             commands;
    torus_pkg::place_t      source;
    logic [31:0]            put;
    logic [NumberW-1:0]     number;
    logic [PutW-1:0]        total;
    logic [47:0]            begin_;    // of the put, in its region
    nanet_ctrl_pkg::region_key_t key;
    logic [62:0]            cycles;
  } record_t;
endpackage
// verilator lint_on UNUSEDPARAM
