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
  localparam int unsigned MaxCarried = 64;                     // of a put that brings its payload
  localparam int unsigned MaxPosts   = 16;                     // that wait
  localparam int unsigned MaxHeads   = 8;                      // of packets that wait for a router
  // Places of such payload: posts that wait, one under check, headers, and the one that is stored.
  localparam int unsigned CarriedW     = $clog2(MaxPosts + MaxHeads + 2);
  localparam int unsigned CarriedSlots = 1 << CarriedW;

  localparam logic [7:0] DoneList    = 8'h81;  // the list in events: a put was read and sent
  localparam logic [7:0] ArrivedList = 8'h82;  // a put is in memory, whole

  localparam logic [7:0] AnswerList  = 8'h83;  // a get is in memory, or was refused

  localparam logic [3:0] KindPut     = 4'd1;
  localparam logic [3:0] KindGet     = 4'd2;  // header and footer: what is asked for, and where to
  localparam logic [3:0] KindAnswer  = 4'd3;  // of a get: as a put, with the get's number
  localparam logic [3:0] KindRefused = 4'd4;  // of a get: header and footer, which says why
  localparam logic [3:0] KindMessage = 4'd5;  // into a list: its key, its number as the address

  /// torus_pkg::header_t.kind.
  typedef struct packed {
    logic [7:0] put;       // low bits of the put's number, for probes
    logic [3:0] what;      // KindPut and so on
    logic [1:0] zero;
    logic       last;      // packet of its put
    logic       first;
  } kind_t;

  /// torus_pkg::footer_t.sequence_; its flags are the bytes of the whole put, or of the get.
  typedef struct packed {
    logic [31:0] put;      // number of the put at its source, of the get where it was asked for
    logic [31:0] packet;   // number of the packet in its put; of a get wanted_t; a refusal_e
  } sequence_t;

  /// What a get asks for.
  typedef struct packed {
    logic [15:0] key;      // of the far node's put memory
    logic [15:0] offset;   // in it, in units of 64 bytes
  } wanted_t;

  /// A get that came.
  typedef struct packed {
    torus_pkg::place_t           source;
    logic [31:0]                 number;   // there
    nanet_ctrl_pkg::region_key_t land_key; // of the region there into which it goes
    logic [41:0]                 land;     // bits 47:6 of where it begins in it
    wanted_t                     wanted;
    logic [PutW-1:0]             bytes;
  } get_t;

  /// A get of this node whose answer may be written.
  typedef struct packed {
    logic                        valid;    // a strobe: it leaves
    torus_pkg::place_t           node;     // that was asked
    logic [31:0]                 number;
    nanet_ctrl_pkg::region_key_t key;      // of the region into which it goes
    logic [15:0]                 land;     // where it begins in it, in units of 64 bytes
    logic [PutW-1:0]             bytes;
  } asked_t;

  /// torus_pkg::header_t.address of an answer of a get, or of its refusal: it names the get.
  typedef struct packed {
    logic [31:0] number;
    logic [15:0] at;         // where the packet begins in the get, in units of 64 bytes
  } answer_t;

  /// What memory is asked for a packet.
  typedef struct packed {
    nanet_ctrl_pkg::region_key_t key;
    logic [47:0]                 address;
    logic [LengthW-1:0]          bytes;
  } landing_t;

  /// What apenet_receive gives to a list, its beat beside it: a nanet_pkg::head_t, payload or a
  /// nanet_pkg::end_t.
  typedef struct packed {
    logic              valid;
    nanet_pkg::entry_e kind;
  } message_t;

  /// Why a post was refused, in its event.
  typedef enum logic [1:0] {
    PutTaken,    // it was not
    PutEmpty,    // no bytes, or more than 4 MiB, of a message 4 KiB
    PutOutside,  // it leaves the put memory
    PutTarget    // its target is not set, or the far node's put memory has another key
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
    logic [LengthW-1:0] bytes;   // 0: header and footer
    logic [3:0]         what;
    logic               first;
    logic               last;
    logic [PutW-1:0]    total;
    logic [31:0]        number;
    logic [31:0]        put;
    logic               carried; // its payload is in a slot of apenet_inline
    logic [CarriedW-1:0] slot;
  } packet_t;

  /// A post, or a get of another node, under way.
  typedef struct packed {
    refusal_e                  refusal;
    logic                      answer;   // of a get: without an event
    logic [31:0]               number;
    nanet_ctrl_pkg::put_post_t post;
  } sending_t;

  /// What is left to find out of a packet when its tail has come.
  typedef struct packed {
    logic                   good;      // so far
    logic                   late;      // of a get that is not open: no part of a put
    logic [3:0]             what;
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
