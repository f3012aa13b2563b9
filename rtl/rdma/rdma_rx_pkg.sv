// SPDX-License-Identifier: SHL-2.1
/// Types of the signals between the blocks of rdma_rx.
package rdma_rx_pkg;
  import rdma_pkg::*;

  localparam int unsigned Window     = 64;
  localparam int unsigned PlaceWidth = 6;
  localparam int unsigned MaxWrites  = 16;  // bursts that are not answered

  typedef logic [63:3] addr_t;  // of a beat
  typedef logic [PlaceWidth-1:0] place_t;

  // What is kept of a packet until it is retired.
  typedef struct packed {
    addr_t       address;    // of its last beat
    logic [31:0] immediate;
    tag_t        tag;
    logic [3:0]  code;       // why it was refused
    logic        notify;
    logic        irq;
    logic        completion;
    logic        to_queue;   // its notification goes to queue qid
    logic [7:0]  qid;
    logic [6:0]  beats;      // a slotted message: for its frame word
    logic        phase;
    logic [15:0] count;
  } info_t;

  // A packet as its flow sees it.
  typedef struct packed {
    flow_t    src;
    session_t session;
    seq_t     seq;
  } ask_t;

  typedef enum logic [1:0] {
    VerdictOk,
    VerdictKnown,    // came before, or its place was given up
    VerdictBeyond,   // outside the window
    VerdictNotOpen
  } verdict_e;

  // The answer to an ask: strobe.
  typedef struct packed {
    logic     valid;
    verdict_e verdict;
  } verdict_t;

  // What is to be kept of a packet, before it is done: strobe.
  typedef struct packed {
    logic   valid;
    flow_t  src;
    place_t place;
    info_t  info;
  } info_write_t;

  // A taken packet was refused, its code is in its info. Held until its ready.
  typedef struct packed {
    logic   valid;
    logic   spoilt;  // it was none: its place waits again
    flow_t  src;
    place_t place;
  } refuse_t;

  // OPEN or PROBE, held until its ready.
  typedef struct packed {
    logic valid;
    logic open;      // else a probe
    ask_t ask;
  } control_ask_t;

  // A piece of a packet's payload: one run of addresses.
  typedef struct packed {
    logic   drop;   // payload to be dropped
    logic   last;   // of its packet
    logic   body;   // a frame word follows
    flow_t  src;
    place_t place;
    logic [6:0] packet;  // beats of the whole packet: what is dropped
    logic [6:0] beats;
    addr_t  address;
  } piece_t;

  // What a write to memory was: returned with its answer.
  typedef enum logic [2:0] {
    WrotePart,   // more of the packet follows
    WrotePacket,
    WroteBody,
    WroteFrame,
    WroteNotice,  // what a retired packet asked for
    WroteOther
  } wrote_e;

  typedef struct packed {
    wrote_e wrote;
    logic   failed;
    logic   spoilt;  // what was written was not the packet
    logic   irq;
    flow_t  src;
    place_t place;
  } answer_t;

  // What the resequencer wants to be written.
  typedef struct packed {
    logic   frame;     // a message's frame word; else what a retired place asks for
    logic   lost;      // of info nothing is true
    logic   failed;    // frame: the body was not written; else: a transfer of this flow has failed
    logic   spoilt;    // frame: the body was not the packet's
    logic [3:0] code;  // to be recorded
    flow_t  src;
    place_t place;
    info_t  info;
  } act_t;

  typedef struct packed {
    flow_t      src;
    session_t   session;
    logic [3:0] code;
    tag_t       tag;
  } refusal_t;

  typedef struct packed {
    logic     valid;  // strobe
    refusal_t refusal;
  } refusal_event_t;

  // REFUSED of code session is owed: strobe.
  typedef struct packed {
    logic     valid;
    flow_t    src;
    session_t session;
    logic     open;    // the packet was an OPEN
  } deny_t;

  // A flow as rdma_ack sees it.
  typedef struct packed {
    seq_t     number;
    session_t session;
    logic     open;
  } flow_view_t;

  // The next number of a flow.
  typedef struct packed {
    flow_t src;
    seq_t  number;
  } flow_number_t;

  // ---------------------------------------------------------------- inside rdma_resequencer
  typedef logic [6:0] near_t;  // a number modulo twice the window

  typedef enum logic [2:0] {
    PlaceEmpty,
    PlaceTaken,
    PlaceDone,
    PlaceRefused,
    PlaceBroken   // the write failed
  } place_state_e;

  typedef enum logic [2:0] {
    OpAnswer,
    OpRefused,
    OpTake,
    OpControl,
    OpFrame,
    OpRetire,
    OpScan,
    OpOpen
  } flow_op_e;

  // One operation.
  typedef struct packed {
    flow_op_e op;
    flow_t    src;
    place_t   place;
    logic     open;         // OpControl: an OPEN
    seq_t     seq;          // OpTake, OpControl
    session_t session;
    wrote_e   wrote;        // OpAnswer
    logic     failed;
    logic     spoilt;       // and OpRefused
    logic     body_failed;  // OpAnswer of a body, OpFrame
    logic     body_spoilt;
  } flow_step_t;

  // A body that waits for its frame word.
  typedef struct packed {
    logic   failed;
    logic   spoilt;
    flow_t  src;
    place_t place;
  } body_t;

  // The state of one flow.
  typedef struct packed {
    seq_t     base;     // the number to be retired next
    session_t session;
    near_t    top;      // behind the highest number known
    near_t    pending;  // packets, acts not done
    logic     opened;   // data is taken
    logic     opening;  // a session waits to be opened
    logic     failed;   // a transfer failed since the last notification
    logic     denied;   // its source was notified that it is not open
  } flow_state_t;

  // What an operation changes in it: strobes, and what is written.
  typedef struct packed {
    logic     base_we;
    seq_t     base;
    logic     top_we;
    near_t    top;
    logic     pending_we;
    near_t    pending;
    logic     begins;     // OPEN: the session is written too
    session_t session;
    logic     opens;      // OpOpen
    logic     emptied;    // with opens: one place
    logic     ends;       // with emptied: it was the last
    logic     denies;
    logic     fails;
    logic     notifies;
  } flow_change_t;

  // What an operation means for the search for gaps: strobes.
  typedef struct packed {
    logic  watch;     // a number may be known that is not received
    logic  begins;    // a session
    logic  walked;    // OpRetire
    logic  retired;   // with walked
    logic  scanned;   // OpScan
    logic  gap;       // with scanned: the lowest place is empty, and something is behind it
    logic  at_limit;
    near_t known;     // numbers from base to top
    near_t top;
  } gap_step_t;

  // One write of 8 or 16 bytes.
  typedef struct packed {
    answer_t     answer;
    logic        two;
    addr_t       address;
    logic [63:0] data;     // the beat that is asked for
  } notice_t;

  typedef struct packed {
    logic       notification;
    logic [7:0] qid;
    flow_t      src;
    logic [6:0] beats;
  } enqueue_t;

  typedef struct packed {
    logic [3:0]  code;
    logic        slotted;
    logic        phase;
    logic [15:0] count;
    logic [6:0]  first;    // beats before the ring's end
    addr_t       address;  // of the first beat
    addr_t       base;     // where the rest goes
  } enqueued_t;

  // A question to the regions, of the packet that is checked: look is a strobe with the beat that
  // names the entry; check: the header is complete.
  typedef struct packed {
    logic        look;
    logic [5:0]  entry;
    logic        check;
    logic        extended;
    logic [31:0] key;
    logic [63:0] address;
  } region_ask_t;

  typedef struct packed {
    logic       valid;
    logic [3:0] code;
    logic       to_queue;
    logic [7:0] qid;
  } region_answer_t;

  // The header of the packet that is checked.
  typedef struct packed {
    logic    busy;       // its first beat is held
    logic    complete;   // all of it is
    logic    cut;        // it will never be whole: the packet has ended
    logic    wanted;     // a legal data packet for this host
    logic    data_kind;
    logic    bare;       // its header is one beat, and is complete in the next cycle if it is legal
    header_t header;
    beat_t   second;
    beat_t   third;
  } parsed_t;

  // A beat of a packet's payload.
  typedef struct packed {
    logic  bad;
    logic  keep;
    beat_t data;
  } payload_t;

  // Strobes for counters and probes.
  typedef struct packed {
    logic header;      // a data packet's header is here
    logic taken;
    logic refused;
    logic known;       // came before, or too late
    logic beyond;
    logic not_open;
    logic malformed;
  } receive_events_t;

  typedef struct packed {
    logic retired;
    logic lost;
    logic opened;
  } flow_events_t;

  typedef struct packed {
    receive_events_t receive;
    flow_events_t    flows;
    logic write_error;
    logic record_lost;
    logic write;       // a packet's burst begins
    logic answered;    // host memory has answered it
    logic notice;      // a notice is on the bus
  } rx_events_t;

  // Beats that come soon, at their link's rate too: of a packet with its header at most 4, of a
  // burst at most 6. An arbiter of a PCI bus may drop a master that requests it and begins nothing
  // within 16 clocks. In gates: a compare is a carry chain, and these bits come late in their
  // cycle.
  function automatic logic few(logic [6:0] beats);
    return beats[6:3] == '0 && !(beats[2] && beats[1:0] != '0);
  endfunction
  function automatic logic near(logic [6:0] beats);
    return beats[6:3] == '0 && beats[2:0] != '1;
  endfunction
endpackage
