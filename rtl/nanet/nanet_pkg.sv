// SPDX-License-Identifier: SHL-2.1
/// Types of the way from a UDP port to buffers in memory.
// verilator lint_off UNUSEDPARAM
package nanet_pkg;
  localparam int unsigned MaxBuffers = 64;   // of a list
  localparam int unsigned MaxPayload = 1472; // of a datagram on Ethernet
  localparam int unsigned PlaceBytes = 64;   // datagrams of a buffer begin at multiples of it
  localparam int unsigned ChunkBytes = 128;  // payload is written in such pieces while it arrives
  localparam int unsigned MaxCommand = 2048; // and in one piece where all of it is there
  localparam int unsigned CommandW = $clog2(MaxCommand) + 1;

  /// What becomes of datagrams while no buffer of their list is free.
  typedef enum logic [1:0] {
    PolicyNewest,  // the new one is dropped
    PolicyOldest,  // the buffer that was filled first is filled anew
    PolicyHold     // it waits; behind it the port's queue fills
  } policy_e;

  /// A datagram on its way: one head, its payload, one end.
  typedef enum logic [1:0] {
    EntryHead,
    EntryData,
    EntryEnd
  } entry_e;

  typedef struct packed {
    logic [31:0] ip;
    logic [15:0] port;
    logic [15:0] len;
  } head_t;

  /// Before packing: a head, a big-endian word of payload, of 32 bits in the low half or of 64, or
  /// an end.
  typedef struct packed {
    entry_e      kind;
    logic [63:0] data;
  } entry_t;

  /// Low bits of an end.
  typedef struct packed {
    logic overflow;  // it did not fit the buffers behind the port
    logic good;      // frame, IPv4 and UDP check sums hold
  } end_t;

  /// Frames of a port, modulo 2^16.
  typedef struct packed {
    logic [15:0] good;
    logic [15:0] bad;
    logic [15:0] other;
    logic [15:0] echo_lost;
  } frames_t;

  /// What a port hands to its list, in the clock of the memory's bus: an entry, which is never
  /// stalled, and its frames so far.
  typedef struct packed {
    logic    valid;
    entry_t  entry;
    frames_t frames;
  } arrival_t;

  /// A beat between a port's queue and its list; its data goes beside it. usage and ends as
  /// nanet_queue, from bit 0.
  typedef struct packed {
    logic        valid;
    entry_e      kind;
    logic [15:0] usage;
    logic [15:0] ends;
  } beat_t;

  /// What a program sends, towards a port: a head, its eth_pkg::udp_meta_t beside it, for each
  /// datagram, and beats of payload from its first word on, their data beside them. Never stalled
  /// but for heads.
  typedef struct packed {
    logic head_valid;
    logic beat_valid;
    logic last;         // of the datagram
    logic bad;          // memory answered with an error
  } departure_t;
  typedef struct packed {
    logic        head_ready;
    logic [15:0] used;     // beats in the port's buffer, at most
    logic [15:0] spoiled;  // frames sent with a wrong FCS, modulo 2^16
  } departed_t;

  localparam int unsigned SendBytes = 2048;   // of a port's buffer
  localparam logic [7:0]  SendList  = 8'h80;  // the list in events of datagrams sent

  /// Why a post was refused, in its event.
  typedef enum logic [1:0] {
    SendTaken,    // it was not
    SendLong,     // longer than a datagram of Ethernet
    SendOutside,  // it leaves the send memory
    SendPeer      // its peer is not set
  } send_refusal_e;

  /// Cycles of the published interface's soft processor, as nanet_firmware.
  typedef struct packed {
    logic [15:0] wake_min;
    logic [15:0] wake_span;
    logic [15:0] work;
  } firmware_t;

  typedef nanet_ctrl_pkg::list_t         list_t;
  typedef nanet_ctrl_pkg::buffer_t       buffer_t;
  typedef nanet_ctrl_pkg::region_t       region_t;
  typedef nanet_ctrl_pkg::region_key_t   region_key_t;
  typedef nanet_ctrl_pkg::translations_t translations_t;
  typedef nanet_ctrl_pkg::peer_t         peer_t;
  typedef nanet_ctrl_pkg::post_t         post_t;
  typedef nanet_ctrl_pkg::send_t         send_t;

  localparam int unsigned MaxRegions = nanet_ctrl_pkg::MaxRegions;
  localparam int unsigned RegionW    = $clog2(MaxRegions);
  localparam int unsigned PageW      = 28;  // number of a page in its region

  /// Bytes of a region's pages.
  typedef enum logic [1:0] {
    Page4K,
    Page64K,
    Page2M
  } page_size_e;

  /// An event in memory, its highest bit, the phase, left out.
  typedef struct packed {
    logic [62:0] cycles;     // of the device's clock, when the last datagram's end had come
    logic [31:0] lost;       // datagrams of the list that had no place so far, modulo 2^32
    logic [15:0] datagrams;  // in this buffer
    logic [15:0] port;       // UDP port of the last one's sender
    logic [31:0] ip;         // and its address
    logic [31:0] sequence_;  // number of the buffer's filling, from 0
    logic [31:0] bytes;      // from the buffer's begin to the last datagram's end
    logic [15:0] index;      // of the buffer
    logic [7:0]  list;
    logic [6:0]  reserved;   // of a datagram to send: its send_refusal_e
    logic        error;      // memory answered a write to it with an error
  } event_t;

  /// A command to write to memory, and whether a beat of its data is there: valid/ready each, as
  /// axi_write_engine.
  typedef struct packed {
    logic                cmd_valid;
    region_key_t         key;
    logic [63:0]         addr;
    logic [CommandW-1:0] bytes;
    logic                data_valid;
    logic                keep;        // the beat is data; without it nothing of it is written
    logic                last;        // of the command
  } write_t;

  /// What a list asks of memory.
  typedef struct packed {
    write_t write;
    logic   event_valid;
    event_t event_;
  } list_request_t;
  typedef struct packed {
    logic cmd_ready;
    logic data_ready;
    logic event_ready;
    logic done_valid;  // a strobe: one of the list's commands was answered
    logic done_error;
  } list_response_t;

  /// What a list does with datagrams, for probes: strobes but for ask and number.
  typedef struct packed {
    logic       first;    // a datagram's head leaves the UDP stage
    logic       last;     // its end enters the queue
    logic       ask;      // a level: it waits for the address of its buffer
    logic       begun;    // its first command is taken
    logic       written;  // an event is taken
    logic [5:0] number;   // of the datagram at the list, modulo 64
  } steps_t;

  /// Every datagram that the UDP stage began is counted once at its end, here or as delivered.
  typedef struct packed {
    logic overflow;   // no room behind the port
    logic closed;     // its list is not enabled
    logic no_buffer;  // no buffer was free
    logic too_long;   // longer than the buffer
    logic bad;        // its check sums did not hold; what was written is not announced
    logic no_event;   // a strobe for a whole buffer: the event queue was full
  } losses_t;

  // ---------------------------------------------------------------- merging, as nanet_merge
  localparam int unsigned MergePorts  = 4;
  localparam int unsigned MergeEvents = 18;   // of a datagram of merged events
  localparam int unsigned DiskSites   = 976;  // photomultipliers of a disk
  localparam int unsigned RecordSlots = 32;   // hits of a record
  localparam int unsigned RecordBytes = 70;
  typedef logic [23:0] event_number_t;

  /// A word of a board's events: two heads, then its hits, the last one marked. First head: number
  /// and the packet's events from this one on; second head: time stamp, last_ is that of the burst.
  typedef struct packed {
    logic        head;
    logic        last_;
    logic [31:0] data;
  } fragment_t;
  typedef struct packed {
    logic [ 7:0]   left;
    event_number_t number;
  } fragment_number_t;
  typedef struct packed {
    logic               none;   // the event has no hit of this board
    logic               spare;
    logic               disk;
    logic signed [18:0] time_;  // after the event's time stamp, 256ths of a clock
    logic        [ 9:0] site;   // photomultiplier
  } fragment_hit_t;

  /// A hit on a disk. Earlier ones come first, then those of lower photomultipliers.
  typedef struct packed {
    logic        [18:0] time_;  // as an unsigned number: its sign is inverted
    logic        [ 9:0] site;
  } disk_hit_t;

  /// A merged event but for its hits.
  typedef struct packed {
    logic [MergePorts-1:0] other;   // boards whose fragment had another time stamp
    logic [MergePorts-1:0] boards;  // boards whose hits are in it
    logic [31:0]           stamp;
  } merged_t;

  /// Of a port, for a clock each.
  typedef struct packed {
    logic late;       // a fragment came when its event had left, or was repeated
    logic repeated;
    logic other;      // it had another time stamp than the others
    logic missing;    // an event left without it
    logic malformed;  // a datagram is no packet of this format
    logic bad;        // or its check sums do not hold
  } merge_steps_t;
endpackage
// verilator lint_on UNUSEDPARAM
