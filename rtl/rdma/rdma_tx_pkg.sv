// SPDX-License-Identifier: SHL-2.1
/// What the modules of rdma_tx hand to each other.
package rdma_tx_pkg;
  import rdma_pkg::*;

  localparam int unsigned MaxPackets     = MaxSize / PacketBeats;  // of a transfer
  localparam int unsigned ControlBeats   = 2;
  localparam int unsigned ControlPackets = 2;  // of a destination in the VOQs at a time
  localparam int unsigned Window         = 64;

  // Beats that a VOQ has for one destination on one of `links` links: 8 KB a destination in all.
  // Over 3 links a whole transfer takes 3 packets on each, so each VOQ has the room that 2 links
  // need: else only one transfer would fit.
  function automatic int unsigned voq_beats(int unsigned links);
    return links == 1 ? 1024 : links <= 3 ? 512 : 256;
  endfunction

  typedef logic [10:0] room_t;    // beats in a VOQ
  typedef logic [3:0] packets_t;  // packets of a transfer
  typedef logic [6:0] beats_t;    // of a packet

  // A packet has left its VOQ.
  typedef struct packed {
    logic       control;
    logic [6:0] seq;
    beats_t     beats;
    flow_t      flow;
  } departure_t;

  // What its departure gives back to the host.
  typedef struct packed {
    logic       last;     // of its transfer
    logic       notify;
    logic       message;
    logic [7:0] count;    // slots, or beats of a message queue
  } return_t;

  // A transfer that was granted.
  typedef struct packed {
    flow_t       flow;
    tag_t        tag;
    seq_t        seq;
    session_t    session;
    logic [9:0]  beats;
    logic        final_part;
    logic        notify;
    logic        irq;
    logic        completion;
    logic        extended;
    logic [63:0] address;
    logic [63:0] extension;
  } job_t;

  // A message that was granted.
  typedef struct packed {
    flow_t      flow;
    logic [6:0] number;
    seq_t       seq;
    session_t   session;
    logic [7:0] place;   // of its header in the queue
    logic       bare;    // what follows its header goes as it is: a write, or a short message
    message_t   header;
  } post_t;

  // A beat that the VOQs are notified of, and, a cycle later, the beat itself.
  typedef struct packed {
    flow_t flow;
    logic  last;
  } announce_t;

  typedef struct packed {
    flow_t flow;
    logic  last;
    logic  bad;     // carries nothing: its packet ends here as EDB
    beat_t data;
  } voq_beat_t;

  // So many beats of this flow were announced.
  typedef struct packed {
    flow_t      flow;
    logic [3:0] beats;
  } voq_token_t;

  // Strobes of one link, in its clock.
  typedef struct packed {
    logic  valid;   // a packet's first word has gone, of this flow and number
    flow_t flow;
    seq_t  seq;
    logic  dropped; // a packet was dropped: its link is not enabled
  } sent_t;

  // What a descriptor or a message asks for.
  typedef struct packed {
    logic        legal;
    logic        plain;         // a request of one packet that is not extended
    logic        extended;
    logic        two;           // takes two slots
    logic        bare;          // a message whose header takes one beat
    logic        final_part;    // no more is left of it
    logic        local_notify;
    logic        notify;
    logic        irq;
    logic        completion;
    beats_t      head;          // beats of a packet's header
    packets_t    packets;       // of this part
    logic [9:0]  beats;
    beat_t       source;
    logic [63:0] address;       // of the whole transfer's first byte at its destination
    logic [31:0] immediate;
  } want_t;

  // What rdma_send sees of the queues: a post that may be ready in two cycles, and the heads of a
  // flow.
  typedef struct packed {
    logic  valid;    // strobe
    flow_t flow;
    logic  message;
    logic  early;    // a request whose second half is missing
  } coming_t;

  typedef struct packed {
    logic [6:0] slot;     // of the next request
    logic [7:0] slots;    // that are released
    logic [7:0] place;    // of the next message, in beats
    logic [6:0] number;
  } heads_t;

  typedef struct packed {
    logic        re;
    logic [10:0] addr;
  } queue_read_t;

  // Places for control packets in the VOQs, a bit a host that there is: of the receiving half, and
  // of the sending half's own.
  typedef struct packed {
    logic [MaxHosts-1:0] ctl;
    logic [MaxHosts-1:0] own;
  } control_room_t;

  // Strobe: room in a queue of the host is free again.
  typedef struct packed {
    logic       valid;
    logic       message;
    flow_t      flow;
    logic [8:0] count;    // slots or beats since the start, modulo 512
  } freed_t;

  // Strobe: a transfer was granted, of so many packets.
  typedef struct packed {
    logic     valid;
    packets_t count;
  } commit_t;

  // Strobes: a queue's head moves on.
  typedef struct packed {
    logic       request;
    logic       two;      // by two slots
    logic       only;     // there was none before the one that came early
    logic       message;
    logic [6:0] size;     // of the message
  } advance_t;

  // Of one flow: the next number, the session, and how many numbers are not acknowledged.
  typedef struct packed {
    seq_t       next;
    session_t   session;
    logic [6:0] lag;
  } numbers_t;

  typedef struct packed {
    logic  valid;    // strobe
    flow_t flow;
  } flow_event_t;

  // A data packet enters its VOQ.
  typedef struct packed {
    logic  valid;    // strobe
    flow_t flow;
    seq_t  seq;
  } begun_t;

  // The memories are emptied: this entry, while valid.
  typedef struct packed {
    logic       valid;
    logic [8:0] index;
  } clear_t;

  // A packet that was granted: strobe, its beats, and what its departure gives back.
  typedef struct packed {
    logic       valid;
    beats_t     beats;
    logic [5:0] seq;
    return_t    back;
  } packet_grant_t;

  // A request that was granted: strobe, the transfer, and the read of its data.
  typedef struct packed {
    logic        valid;
    job_t        job;
    logic        read;   // data is read: not in the benchmark mode
    logic [63:3] addr;
    logic [9:0]  beats;
  } request_grant_t;

  typedef struct packed {
    logic  valid;
    post_t post;
  } message_grant_t;

  // What was refused: held until its ready.
  typedef struct packed {
    logic    valid;
    return_t back;
  } give_t;

  typedef struct packed {
    logic        valid;
    flow_t       flow;
    logic [7:0]  code;
    tag_t        tag;
    logic [63:0] address;
  } send_error_t;

  // A far end has refused packets: strobe.
  typedef struct packed {
    logic        valid;
    flow_t       flow;
    logic [7:0]  code;
    tag_t        tag;
    logic [11:0] more;
  } refused_t;

  // A read that failed.
  typedef struct packed {
    logic        valid;
    flow_t       flow;
    tag_t        tag;
    logic [11:0] more;
  } read_error_t;

  // Strobes for counters and probes, host's clock.
  typedef struct packed {
    logic request_posted;   // slots were released
    logic request_bad;      // a start of too much, or a write to no flow
    logic message_posted;
    logic message_bad;      // a write out of order
  } posts_events_t;

  typedef struct packed {
    posts_events_t posts;
    logic  granted;
    logic  issued;          // a transfer's first read burst was taken
    begun_t begun;
    logic  probed;          // an ACK is late
    logic  ignored;         // a control packet was of no session or host of ours
    logic  failed;          // a session has ended
  } tx_events_t;
endpackage
