// SPDX-License-Identifier: SHL-2.1
/// Takes packets of all links in turn: parses, asks for leave, and says where their payload goes.
///
/// Payload streams into the payload FIFO while its packet is being checked; the check ends with the
/// pieces in which it is written, or with one that is dropped. So a packet is checked before its
/// first address goes out, and one that is refused costs no more than its beats.
///
///   Links       valid_i/ready_o, beats with last and bad; packets of one link whole. A beat that
///               comes to be valid was at the input a cycle before (rdma_link_rx). One that
///               addresses a table is taken when it has been stable for a cycle: the first, and the
///               one with a key
///   Payload     payload_valid_o/payload_ready_i: exactly the beats that the header names, in the
///               order of the pieces. A packet that is too short is filled up with beats without
///               keep; of one too long the rest is swallowed. bad on the last beat: what was
///               written is not the packet
///   Pieces      piece_valid_o/piece_ready_i: at most two a packet
///   Control     OPEN and PROBE to control_o; ACK and REFUSED to rxctl_*, never in two cycles in a
///               row
///   Asks        the flow and, of a short packet, the region as soon as the first beat is there. A
///               packet that ends in its header gives its place back: refused_o.spoilt
///   Latency     from the cycle in which the last header beat is taken to the first piece: 2 cycles
///               for a write without a key, 4 with one and for a short message, 5 for another; from
///               the first one 4 at least; while no other client asks
///   Throughput  a beat a cycle; a packet in 6 cycles or more, and in what its verdict takes
///   Swallowed   packets that are no packets (events_o.malformed), and those that their flow does
///               not take
///   Parameters  NumHosts 2..8, NumLinks 1..4
///   Not done    what is in the payload
module rdma_receive
  import rdma_pkg::*;
  import rdma_rx_pkg::*;
#(
  parameter int unsigned NumHosts = 8,
  parameter int unsigned NumLinks = 4
) (
  input logic  clk_i,
  input logic  rst_ni,
  input host_t host_id_i,

  input  logic [NumLinks-1:0]  valid_i,
  output logic [NumLinks-1:0]  ready_o,
  input  beat_t [NumLinks-1:0] beat_i,
  input  logic [NumLinks-1:0]  last_i,
  input  logic [NumLinks-1:0]  bad_i,

  output logic     ask_valid_o,
  input  logic     ask_ready_i,
  output ask_t     ask_o,
  input  verdict_t verdict_i,

  output region_ask_t    region_o,
  input  region_answer_t region_i,

  output logic [7:0] queue_peek_o,  // perhaps asked for in the next cycle
  output logic      queue_valid_o,
  input  logic      queue_ready_i,
  output enqueue_t  queue_o,
  input  logic      queue_answer_i,
  input  enqueued_t queue_i,
  output logic      queue_commit_o,
  output logic      queue_drop_o,

  output flow_t      src_o,         // of the packet that is checked
  output logic [6:0] beats_o,

  output info_write_t  info_o,
  output refuse_t      refused_o,
  input  logic         refused_ready_i,
  output control_ask_t control_o,
  input  logic         control_ready_i,

  output control_packet_t rxctl_o,  // strobe

  output logic     payload_valid_o,
  input  logic     payload_ready_i,
  output payload_t payload_o,

  output logic   piece_valid_o,
  input  logic   piece_ready_i,
  output piece_t piece_o,

  output logic coming_o,     // a packet of a few beats was here a cycle ago, and not refused
  output receive_events_t events_o,
  output logic idle_o
);
  if (NumHosts < 2 || NumHosts > MaxHosts) begin : gen_hosts_check
    $error("rdma_receive: NumHosts is %0d, legal is 2..%0d", NumHosts, MaxHosts);
  end
  if (NumLinks < 1 || NumLinks > 4) begin : gen_links_check
    $error("rdma_receive: NumLinks is %0d, legal is 1..4", NumLinks);
  end

  // ---------------------------------------------------------------- reader
  parsed_t parsed;
  header_t header;
  logic check_end, few_begin, complete, dropped, parse_idle;
  assign header = parsed.header;

  rdma_parse #(
    .NumHosts(NumHosts),
    .NumLinks(NumLinks)
  ) u_parse (
    .clk_i,
    .rst_ni,
    .host_id_i,
    .valid_i,
    .ready_o,
    .beat_i,
    .last_i,
    .bad_i,
    .parsed_o    (parsed),
    .check_end_i (check_end),
    .look_o      (region_o.look),
    .entry_o     (region_o.entry),
    .queue_peek_o,
    .payload_valid_o,
    .payload_ready_i,
    .payload_o,
    .few_o       (few_begin),
    .header_o    (complete),
    .dropped_o   (dropped),
    .idle_o      (parse_idle)
  );

  // ---------------------------------------------------------------- checker
  typedef enum logic [2:0] {
    CkIdle,
    CkControl,
    CkWait,     // for the verdict and the table's answer: the first piece goes with the later one
    CkRefuse,   // report to the flow
    CkFirst,    // piece
    CkSecond    // piece
  } check_e;

  check_e check_state_q;
  logic rxctl_valid_q;
  control_t control;
  logic message, lookup_sent_q, ask_sent_q, verdict_here_q, answer_here_q;
  verdict_e verdict, verdict_q;
  logic [3:0] code;
  logic [6:0] rest;      // beats of a message behind the ring's end
  logic passed, taken;
  logic known_control, unknown, ours, asking, answer, decide, refuse;
  logic waits, verdict_here, give_back, forget;
  logic message_wraps, wraps, slotted, passed_q, wraps_q, slotted_q;
  logic [6:0] first_beats, first_q, rest_q;
  addr_t first_address, address_q, base_q;
  place_t place;

  assign control = control_t'(parsed.second);
  assign message = header.kind == KindMessage || header.kind == KindShort;
  assign rest    = header.beats - queue_i.first;
  assign src_o   = header.src[2:0];
  assign beats_o = header.beats;
  assign place   = header.seq[PlaceWidth-1:0];
  assign code    = message ? queue_i.code : region_i.code;
  assign verdict = verdict_i.valid ? verdict_i.verdict : verdict_q;
  assign taken   = verdict == VerdictOk;
  assign passed  = taken && code == '0;

  assign ask_o             = '{src: src_o, session: header.session, seq: header.seq};
  assign control_o.ask     = ask_o;
  assign control_o.open    = control.control == ControlOpen;
  assign region_o.extended = header.extended;
  assign region_o.key      = parsed.third[31:0];
  assign region_o.address  = parsed.second;
  assign queue_o = '{notification: 1'b0, qid: parsed.second[7:0], src: src_o, beats: header.beats};

  assign region_o.check  = parsed.complete && parsed.data_kind && !message;
  assign asking          = (check_state_q == CkIdle && parsed.busy && parsed.wanted) || waits;
  assign ask_valid_o     = asking && !ask_sent_q;
  assign queue_valid_o   = asking && (parsed.complete || parsed.bare) && message && !lookup_sent_q;
  assign control_o.valid = check_state_q == CkControl;
  assign refused_o = '{
    valid: check_state_q == CkRefuse,
    spoilt: parsed.cut,
    src: src_o,
    place: place
  };

  assign answer         = message ? queue_answer_i : region_i.valid;
  assign waits          = check_state_q == CkWait;
  assign verdict_here   = waits && (verdict_here_q || verdict_i.valid);
  assign decide         = verdict_here && (answer_here_q || answer);
  assign refuse         = taken && !passed;
  // Of a packet that was cut nothing was asked but its flow.
  assign give_back      = verdict_here && parsed.cut && taken;
  assign forget         = (verdict_here && parsed.cut && !taken) ||
                          (check_state_q == CkRefuse && parsed.cut && refused_ready_i);
  assign queue_commit_o = decide && message && passed;
  assign queue_drop_o   = decide && message && !passed;

  // What the answers say.
  assign message_wraps = message && queue_i.first != header.beats;
  assign wraps         = passed && message_wraps;
  assign slotted       = message && queue_i.slotted;
  assign first_beats   = message ? queue_i.first : header.beats;
  assign first_address = message ? queue_i.address : parsed.second[63:3];

  always_comb begin
    piece_o = '{
      drop: waits ? !passed : !passed_q,
      last: waits ? !wraps : !wraps_q,
      body: waits ? slotted : slotted_q,
      src: src_o,
      place: place,
      packet: header.beats,
      beats: waits ? first_beats : first_q,
      address: waits ? first_address : address_q
    };
    if (check_state_q == CkSecond) begin
      piece_o.last    = 1'b1;
      piece_o.beats   = rest_q;
      piece_o.address = base_q;
    end
  end
  assign piece_valid_o = (decide && !refuse) || check_state_q == CkFirst ||
                         check_state_q == CkSecond;
  assign check_end     = (piece_valid_o && piece_ready_i && piece_o.last) || forget ||
                         (control_o.valid && control_ready_i) || rxctl_valid_q ||
                         (check_state_q == CkIdle && parsed.complete && unknown);

  assign ours          = control.control == ControlAck || control.control == ControlRefused;
  assign known_control = control.control == ControlOpen || control.control == ControlProbe;
  assign unknown       = !parsed.data_kind && !ours && !known_control;

  // Where the last beat goes. Passed on a cycle later; header and tables' answers are still held
  // then.
  addr_t last_start, last_address;
  logic [6:0] last_beats_q;
  logic over_q;  // behind the ring's end
  assign last_start    = !message ? parsed.second[63:3] : over_q ? base_q : queue_i.address;
  assign last_address  = last_start + addr_t'(last_beats_q);

  logic info_we_q;
  info_t info;
  assign info = '{
    address: last_address,
    immediate: message ? parsed.second[63:32] : parsed.third[63:32],
    tag: header.tag,
    code: code,
    notify: header.notify,
    irq: header.irq,
    completion: header.completion,
    to_queue: !message && region_i.to_queue && code == '0,
    qid: region_i.qid,
    beats: header.beats,
    phase: queue_i.phase,
    count: queue_i.count
  };
  assign info_o = '{valid: info_we_q, src: src_o, place: place, info: info};

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      check_state_q  <= CkIdle;
      rxctl_valid_q  <= 1'b0;
      ask_sent_q     <= 1'b0;
      lookup_sent_q  <= 1'b0;
      verdict_here_q <= 1'b0;
      answer_here_q  <= 1'b0;
      info_we_q      <= 1'b0;
    end else begin
      rxctl_valid_q <= 1'b0;
      info_we_q     <= decide && taken;
      unique case (check_state_q)
        CkIdle: begin
          ask_sent_q     <= 1'b0;
          lookup_sent_q  <= 1'b0;
          verdict_here_q <= 1'b0;
          answer_here_q  <= 1'b0;
          if (parsed.busy && parsed.wanted) begin
            check_state_q <= CkWait;
            ask_sent_q    <= ask_ready_i;
            lookup_sent_q <= queue_valid_o && queue_ready_i;
          end else if (parsed.complete && !parsed.data_kind && !rxctl_valid_q) begin
            if (known_control) check_state_q <= CkControl;
            else if (ours) rxctl_valid_q <= 1'b1;
          end
        end
        CkControl: if (control_ready_i) check_state_q <= CkIdle;
        CkWait: begin
          if (ask_ready_i) ask_sent_q <= 1'b1;
          if (queue_valid_o && queue_ready_i) lookup_sent_q <= 1'b1;
          if (verdict_i.valid) verdict_here_q <= 1'b1;
          if (answer) answer_here_q <= 1'b1;
          if (decide) begin
            if (refuse) check_state_q <= CkRefuse;
            else if (!piece_ready_i) check_state_q <= CkFirst;
            else check_state_q <= wraps ? CkSecond : CkIdle;
          end else if (give_back) check_state_q <= CkRefuse;
          else if (forget) check_state_q <= CkIdle;
        end
        CkRefuse: if (refused_ready_i) check_state_q <= parsed.cut ? CkIdle : CkFirst;
        CkFirst:  if (piece_ready_i) check_state_q <= piece_o.last ? CkIdle : CkSecond;
        default:  if (piece_ready_i) check_state_q <= CkIdle;
      endcase
    end
  end

  always_ff @(posedge clk_i) begin
    if (verdict_i.valid) verdict_q <= verdict_i.verdict;
    if (decide) begin
      passed_q  <= passed;
      wraps_q   <= wraps;
      slotted_q <= slotted;
      first_q   <= first_beats;
      rest_q    <= rest;
      address_q <= first_address;
      base_q    <= queue_i.base;
      over_q       <= message_wraps;
      last_beats_q <= (message_wraps ? rest : header.beats) - 7'd1;
    end
  end

  logic [1:0] coming_q;
  assign coming_o = coming_q != '0;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      coming_q <= '0;
    end else begin
      coming_q[0] <= few_begin;
      coming_q[1] <= parsed.busy && parsed.wanted && few(header.beats) &&
                     check_state_q != CkRefuse && !(check_state_q == CkFirst && !passed_q);
    end
  end

  assign rxctl_o = '{valid: rxctl_valid_q, header: header, control: control};

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      events_o.header    <= 1'b0;
      events_o.taken     <= 1'b0;
      events_o.refused   <= 1'b0;
      events_o.known     <= 1'b0;
      events_o.beyond    <= 1'b0;
      events_o.not_open  <= 1'b0;
      events_o.malformed <= 1'b0;
    end else begin
      events_o.header    <= complete;
      events_o.taken     <= decide && passed;
      events_o.refused   <= decide && taken && !passed;
      events_o.known     <= decide && verdict == VerdictKnown;
      events_o.beyond    <= decide && verdict == VerdictBeyond;
      events_o.not_open  <= decide && verdict == VerdictNotOpen;
      events_o.malformed <= dropped || (check_state_q == CkIdle && parsed.complete && unknown);
    end
  end

  assign idle_o = parse_idle && check_state_q == CkIdle && !coming_o;

  logic unused;
  assign unused = &{1'b0, header.src[6:3], header.last, header.dst};
endmodule
