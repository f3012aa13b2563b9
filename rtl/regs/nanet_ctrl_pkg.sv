// SPDX-License-Identifier: SHL-2.1
/// What a UDP-to-memory interface takes from and gives to its registers (rtl/regs/nanet.rdl).
// verilator lint_off UNUSEDPARAM
package nanet_ctrl_pkg;
  localparam int unsigned NumLists   = 4;
  localparam int unsigned MaxRegions = 16;

  /// One circular list of buffers, as its host set it.
  typedef struct packed {
    logic        enable;
    logic [6:0]  buffers;    // 1..64
    logic [7:0]  datagrams;  // that make a buffer full; 0: as many as fit
    logic [1:0]  policy;     // nanet_pkg::policy_e
    logic        echo;       // datagrams are answered
    logic [31:0] flush;      // cycles from its first datagram to its event at the latest; 0: never
    logic [15:0] returned;   // buffers that the host has given back, modulo 2^16
  } list_t;

  /// What names a region, and what the region was registered with.
  typedef struct packed {
    logic [11:0] check;
    logic [3:0]  index;
  } region_key_t;

  /// One buffer.
  typedef struct packed {
    region_key_t key;        // of its region, in a device that has regions
    logic [57:0] base;       // bits 63:6 of its address: in its region, or without one on the bus
    logic [23:0] bytes;
  } buffer_t;

  /// Memory that the host registered: pages of one size.
  typedef struct packed {
    logic        valid;
    region_key_t key;
    logic [1:0]  size;       // nanet_pkg::page_size_e
    logic [27:0] pages;
    logic [60:0] pages_at;   // bits 63:3 of its page table's address
  } region_t;

  /// What became of commands; they wrap.
  typedef struct packed {
    logic [31:0] translated;
    logic [31:0] walks;      // reads of a page table
    logic [15:0] refused;    // wrong key, outside the region, page not valid
    logic [15:0] longest;    // cycles of a read
  } translations_t;

  /// Where a program's datagrams go.
  typedef struct packed {
    logic        valid;
    logic [47:0] mac;
    logic [31:0] ip;
    logic [15:0] port;
  } peer_t;

  /// A datagram to send, as the register has it.
  typedef struct packed {
    logic [3:0]  peer;
    logic [10:0] bytes;
    logic [15:0] offset;     // in the send memory, in units of 64 bytes
  } post_t;

  /// Send queue, in a device that has one.
  typedef struct packed {
    logic [57:0] base;       // bits 63:6 of the send memory's address
    logic [16:0] blocks;     // its length in units of 64 bytes
    logic        peer_we;    // a strobe: peer `peer` is set
    logic [3:0]  peer_index;
    peer_t       peer;
    logic        post_we;    // a strobe: `post` is posted
    post_t       post;
  } send_t;

  /// They wrap.
  typedef struct packed {
    logic [15:0] sent;
    logic [15:0] spoiled;    // frames sent with a wrong FCS
    logic [15:0] refused;
    logic [15:0] full;       // posts that found no room
  } send_state_t;

  /// Another node's memory that a program may put into.
  typedef struct packed {
    logic        valid;
    logic        list;       // its key is that of a list of buffers there
    logic [14:0] place;      // the node's coordinates, as torus_pkg::place_t
    region_key_t key;        // of its region
    logic [41:0] base;       // bits 47:6 of where it begins in the region
  } target_t;

  /// A put, as the registers have it.
  typedef struct packed {
    logic        carried;    // its payload came with it: `offset` is its slot of apenet_inline
    logic        get;        // the other way: out of the target's node's put memory
    logic [3:0]  target;
    logic [22:0] bytes;
    logic [15:0] remote;     // in the target, in units of 64 bytes
    logic [15:0] offset;     // in the put memory, in units of 64 bytes; of a get, in a region
  } put_post_t;

  /// Put queue, in a device that has one.
  typedef struct packed {
    logic [57:0] base;       // bits 63:6 of the put memory's address
    logic [16:0] blocks;     // its length in units of 64 bytes
    logic        target_we;  // a strobe: target `target` is set
    logic [3:0]  target_index;
    target_t     target;
    logic        post_we;    // a strobe: `post` is posted
    put_post_t   post;
    region_key_t land_key;   // of the region into which gets go
    logic        serves;     // other nodes may get from the put memory
    logic [15:0] serve_key;  // with this key
    logic        lists;      // other nodes may put into the list of buffers
    logic [15:0] list_key;   // with this key
  } put_t;

  /// They wrap.
  typedef struct packed {
    logic [15:0] sent;
    logic [15:0] refused;
    logic [15:0] full;       // posts that found no room
    logic [15:0] served;     // gets of other nodes that were answered
    logic [15:0] denied;     // and that were refused
    logic [15:0] lost;       // and that found no room
  } put_done_t;

  /// Of a device with a put queue: what became of its posts, and of what came.
  typedef struct packed {
    put_done_t   done;
    logic [31:0] asked;        // number of the next get
    logic [31:0] packets;
    logic [15:0] bad_packets;
    logic [15:0] bad_puts;
    logic [15:0] list_refused; // messages for a list with another key
    logic [15:0] late;         // packets for gets that are not open
  } put_state_t;

  /// Of a device that releases answers: what became of them; they wrap.
  typedef struct packed {
    logic [31:0] released;   // clocks of the experiment with a trigger
    logic [31:0] late;       // answers that came when their clock was over
    logic [31:0] early;      // that came too long before it
    logic [31:0] lost;       // that found no place
  } release_state_t;

  /// Of a device that merges: fragments by port, modulo 2^16, and all events, modulo 2^32.
  typedef struct packed {
    logic [NumLists-1:0][15:0] late;       // came when their event had left
    logic [NumLists-1:0][15:0] repeated;   // came once more
    logic [NumLists-1:0][15:0] other;      // had another time stamp
    logic [NumLists-1:0][15:0] missing;    // did not come
    logic [NumLists-1:0][15:0] malformed;  // datagrams that are no packets of events
    logic [NumLists-1:0][15:0] bad;        // or whose end was not good
    logic [31:0]               merged;
    logic [31:0]               incomplete; // of them without a board's fragment
  } merge_state_t;

  typedef struct packed {
    logic        enable;
    logic        irq_enable;
    logic [31:0] irq_gap;
    logic [63:0] queue_base;
    logic [3:0]  queue_size;
    logic [15:0] queue_taken;
    list_t [NumLists-1:0] lists;
    logic        table_we;     // a strobe: buffer `buffer` of list and number is set
    logic [1:0]  table_list;
    logic [5:0]  table_index;
    buffer_t     table_buffer;
    logic        region_we;    // a strobe: region `region` is set
    logic [3:0]  region_index;
    region_t     region;
    logic        result_we;    // a strobe: `result` is for the result pins
    logic [31:0] result;
  } control_t;

  /// Of one port. The first three count frames, the others datagrams; 16 bits wrap.
  typedef struct packed {
    logic [15:0] frames_good;
    logic [15:0] frames_bad;
    logic [15:0] frames_other;
    logic [15:0] echo_lost;    // not answered for want of room
    logic [15:0] overflow;
    logic [15:0] closed;
    logic [15:0] no_buffer;
    logic [15:0] too_long;
    logic [15:0] bad;
    logic [15:0] no_event;
    logic [15:0] overwritten;
    logic [31:0] delivered;
  } counters_t;

  typedef struct packed {
    logic        ready;         // disabled, and all of it has ended
    logic [31:0] write_errors;
    logic [15:0] written;       // events
    logic [15:0] events_lost;
    translations_t translations;
    logic [NumLists-1:0][15:0] filled;
    counters_t [NumLists-1:0] counters;
  } state_t;
endpackage
// verilator lint_on UNUSEDPARAM
