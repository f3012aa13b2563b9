// SPDX-License-Identifier: SHL-2.1
/// Formats of the RDMA network interface (docs/explanation/cores/rdma.md).
package rdma_pkg;
  localparam int unsigned MaxHosts       = 8;
  localparam int unsigned SlotsPerQueue  = 128;
  localparam int unsigned MessageBeats   = 256;  // of a message queue
  localparam int unsigned MaxSize        = 512;  // beats of a transfer
  localparam int unsigned PacketBeats    = 64;   // payload of a packet
  localparam int unsigned HeaderBeats    = 2;
  localparam int unsigned MaxHeaderBeats = 3;
  localparam int unsigned MaxBeats       = PacketBeats + MaxHeaderBeats;
  localparam int unsigned MaxWords       = 2 * MaxBeats;  // link_port's
  localparam int unsigned NumRegions     = 64;
  localparam int unsigned NumQueues      = 256;
  localparam int unsigned OffsetWidth    = 17;   // beats in a queue

  typedef logic [63:0] beat_t;
  typedef logic [2:0] flow_t;      // a host as a number of a flow
  typedef logic [6:0] host_t;
  typedef logic [15:0] seq_t;
  typedef logic [7:0] session_t;
  typedef logic [7:0] tag_t;       // bit 7: message
  typedef logic [11:0] tally_t;    // of refusals, modulo 4096

  typedef enum logic [1:0] {
    KindWrite   = 2'd0,
    KindMessage = 2'd1,
    KindControl = 2'd2,
    KindShort   = 2'd3   // a message whose header is one beat
  } kind_e;

  // First beat of a packet.
  typedef struct packed {
    logic [3:0] qid;     // KindShort; else zero
    tag_t       tag;
    logic       extended;
    logic       completion;
    logic       irq;
    logic       notify;
    logic       last;
    kind_e      kind;
    logic [6:0] beats;
    host_t      dst;
    host_t      src;
    session_t   session;
    seq_t       seq;
  } header_t;

  typedef enum logic [3:0] {
    ControlOpen    = 4'd0,
    ControlProbe   = 4'd1,
    ControlAck     = 4'd2,
    ControlRefused = 4'd3
  } control_e;

  // REFUSED of code session: the OPEN is of a session that is open with other numbers.
  localparam tag_t TagOpen = 8'd1;

  // Second beat of a control packet.
  typedef struct packed {
    logic [14:0] zero;
    seq_t        stored;   // ACK, REFUSED: everything before it is in memory
    logic        pending;  // ACK, REFUSED: there are refusals that count does not have
    tally_t      count;    // ACK, REFUSED: refusals of the flow, itemised or counted
    tag_t        tag;
    logic [7:0]  code;     // ControlAck: bit 0 open
    control_e    control;
  } control_t;

  // A control packet between the halves of the interface.
  typedef struct packed {
    logic     valid;
    header_t  header;
    control_t control;
  } control_packet_t;

  // A store of the host to its queues of requests and messages.
  typedef struct packed {
    logic        coming;   // strobe: a slot's first half is written next, not its last
    logic        request;  // strobe: a write to a queue of requests; addr is flow, slot, half
    logic        message;  // strobe: to a queue of messages; addr is flow, beat
    logic [10:0] addr;
    beat_t       data;
    logic [7:0]  strb;
    logic        last;     // of the host's burst
  } store_t;

  // Reports of the sending half that become words in host memory. Each is held until its ready.
  typedef struct packed {
    logic        valid;
    flow_t       flow;
    logic        message;
    logic [15:0] count;    // slots, or beats of messages, that have left
  } local_report_t;

  typedef struct packed {
    logic  valid;
    flow_t flow;
    beat_t word;
  } done_report_t;

  typedef struct packed {
    logic  valid;
    beat_t beat0;
    beat_t beat1;
  } error_report_t;

  // AXI4 master to host memory: an address, less its handshake, and a beat of a read or a write.
  typedef struct packed {
    logic [63:0] addr;
    logic [7:0]  len;
    logic [12:0] user;     // bytes that still follow in this run of addresses
  } burst_t;

  typedef struct packed {
    logic [63:0] data;
    logic [1:0]  resp;
    logic        last;
  } read_beat_t;

  typedef struct packed {
    logic [63:0] data;
    logic [7:0]  strb;
    logic        last;
  } write_beat_t;

  typedef struct packed {
    logic       valid;
    logic [1:0] resp;
  } write_answer_t;

  // A read of one beat behind the writes before it, and its answer: strobe.
  typedef struct packed {
    logic        valid;
    logic [63:3] addr;
  } flush_t;

  typedef struct packed {
    logic done;
    logic failed;
  } flushed_t;

  // The host's access to the tables: strobes, whole beats, by BAR offset; and what was read:
  // strobe.
  typedef struct packed {
    logic        we;
    logic [15:3] addr;
    beat_t       data;
    logic        re;
    logic [15:3] raddr;
  } table_access_t;

  typedef struct packed {
    logic  valid;
    beat_t data;
  } table_data_t;

  // Where the error ring is, its size as a power of two, and what the host has read.
  typedef struct packed {
    logic [63:6] base;
    logic [3:0]  size;
    logic [15:0] tail;
  } error_ring_t;

  // Settings of the interface, stable while it is enabled.
  typedef struct packed {
    logic        enable;
    logic        bench;         // benchmark mode, as link_port's
    host_t       host;
    session_t    session;       // the first one
    logic [31:0] probe_cycles;
    logic [31:0] lost_cycles;
    error_ring_t ring;
  } config_t;

  // Of rdma_core: the sending half runs, the receiving half takes packets, nothing is under way;
  // the interrupts of the flows are strobes.
  typedef struct packed {
    logic                running;
    logic                ready;
    logic                idle;
    logic [MaxHosts-1:0] irq_flow;
  } core_state_t;

  typedef enum logic [7:0] {
    CodeNone       = rdma_words_pkg::CodeNone,
    CodeDescriptor = rdma_words_pkg::CodeDescriptor,
    CodeRead       = rdma_words_pkg::CodeRead,
    CodeKey        = rdma_words_pkg::CodeKey,
    CodeBounds     = rdma_words_pkg::CodeBounds,
    CodeQueue      = rdma_words_pkg::CodeQueue,
    CodeFull       = rdma_words_pkg::CodeFull,
    CodeWrite      = rdma_words_pkg::CodeWrite,
    CodeLost       = rdma_words_pkg::CodeLost,
    CodeSession    = rdma_words_pkg::CodeSession
  } code_e;

  // What a host writes, and what it reads in its memory.
  typedef rdma_words_pkg::descriptor_t descriptor_t;
  typedef rdma_words_pkg::message_t message_t;
  typedef rdma_words_pkg::region_t region_t;
  typedef rdma_words_pkg::queue_t queue_t;
  typedef rdma_words_pkg::frame_t frame_t;
  typedef rdma_words_pkg::notification_t notification_t;
  typedef rdma_words_pkg::completion_t completion_t;
  typedef rdma_words_pkg::record_t record_t;
endpackage
