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

  // Strobes of one link, in its clock.
  typedef struct packed {
    logic  valid;   // a packet's first word has gone, of this flow and number
    flow_t flow;
    seq_t  seq;
    logic  dropped; // a packet was dropped: its link is not enabled
  } sent_t;

  // A read that failed.
  typedef struct packed {
    logic        valid;
    flow_t       flow;
    tag_t        tag;
    logic [11:0] more;
  } read_error_t;

  // Strobes for counters and probes, host's clock.
  typedef struct packed {
    logic  request_posted;  // slots were released
    logic  request_bad;     // a start of too much, or a write to no flow
    logic  message_posted;
    logic  message_bad;     // a write out of order
    logic  granted;
    logic  issued;          // a transfer's first read burst was taken
    logic  begun;           // a data packet enters its VOQ, of this flow and number
    flow_t begun_flow;
    seq_t  begun_seq;
    logic  probed;          // an ACK is late
    logic  ignored;         // a control packet was of no session or host of ours
    logic  failed;          // a session has ended
  } tx_events_t;
endpackage
