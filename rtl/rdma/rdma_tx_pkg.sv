// SPDX-License-Identifier: SHL-2.1
/// What the modules of rdma_tx hand to each other.
package rdma_tx_pkg;
  import rdma_pkg::*;

  localparam int unsigned MaxPackets     = MaxSize / PacketBeats;  // of a transfer
  localparam int unsigned ControlBeats   = 2;
  localparam int unsigned ControlPackets = 2;  // of a destination in the VOQs at a time
  localparam int unsigned Window         = 64;

  // Beats that a VOQ has for one destination on one of `links` links: 8 KB a destination in all. Over 3 a
  // whole transfer takes 3 packets on each, so they have the room of 2: else only one transfer would fit.
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
endpackage
