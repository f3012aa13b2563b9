// SPDX-License-Identifier: SHL-2.1
/// Looks at what the host wants sent, checks it, and grants it room, numbers and links.
///
/// Destinations go in turn, by transfer; requests and messages of one destination take turns. A
/// transfer is granted when its flow's window and the VOQs have room for all its packets: n packets
/// over L links count as ceil(n/L) longest packets on each, one packet as its own beats on its
/// link. One that has no room is put aside until something has left or was acknowledged: others go
/// on. So what is granted never waits for room. Where fewer links are up than a whole transfer
/// needs, it is granted in parts.
///
///   Handshake   ready_i vectors: something to look at; coming_i: there may be, and its ready_i
///               says so 2 cycles later. With coming_i.early a slot's first half was written, and
///               store_i announces the second if it follows at once. request_o: strobe, with
///               request_free_i, which is held until then; message_o: strobe, with message_free_i.
///               plan_o: strobe, a packet's link. error_o, give_o: held until ready. What was read
///               is held at request_data_i, or message_data_i, until more is read
///   Ordering    the transfers of a queue are granted in order
///   Latency     from ready_i, or coming_i, to request_o 4 cycles, of what came early 3; to
///               message_o 3. With more than one packet, an extended descriptor, or less than room
///               for a longest packet 6, a message 5
///   Throughput  a descriptor of one packet every 6 cycles, a message 5; else 8, one more for each
///               packet more
///   Fairness    between two looks at a waiting destination each other is granted at most one
///               transfer
///   Parameters  NumHosts 2..8, NumLinks 1..4
///   Not done    weights and priorities
module rdma_send
  import rdma_pkg::*;
  import rdma_tx_pkg::*;
#(
  parameter  int unsigned NumHosts  = 8,
  parameter  int unsigned NumLinks  = 1,
  localparam int unsigned LinkWidth = NumLinks > 1 ? $clog2(NumLinks) : 1
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,
  input  logic                 run_i,
  input  flow_event_t          clear_i,
  input  logic                 bench_i,
  output flow_t                flow_o,            // looked at: all of the following is of this flow

  // Queues.
  input  coming_t              coming_i,
  input  store_t               store_i,
  input  logic [MaxHosts-1:0]  request_ready_i,
  input  logic [MaxHosts-1:0]  message_ready_i,
  input  heads_t               heads_i,
  output logic                 look_o,            // at a request, whose read may come of it
  output queue_read_t          request_read_o,
  input  beat_t                request_data_i,
  output queue_read_t          message_read_o,
  input  logic                 message_grant_i,   // message_read_o is done in this cycle
  input  beat_t                message_data_i,
  output advance_t             advance_o,

  // Flow, room and links.
  input  logic [MaxHosts-1:0]  open_i,
  input  logic [MaxHosts-1:0]  open_next_i,       // open_i of the next cycle
  input  numbers_t             numbers_i,
  input  logic [6:0]           left_i,            // the first number that has not left, modulo 128
  output commit_t              commit_o,
  input  logic [NumLinks-1:0]  up_i,
  input  room_t [NumLinks-1:0] used_i,
  input  logic [LinkWidth-1:0] link_i,            // of the next packet
  output logic [NumLinks-1:0]  mask_o,
  output packet_grant_t        packet_o,
  input  logic [MaxHosts-1:0]  stir_i,            // room or window of these flows has changed
  input  flow_event_t          failed_i,          // a session has ended

  // What was granted.
  input  logic                 request_free_i,
  output request_grant_t       request_o,
  output logic                 plan_o,            // a request's next packet goes to link_i
  input  logic                 message_free_i,
  output message_grant_t       message_o,

  // What was refused.
  output give_t                give_o,
  input  logic                 give_ready_i,
  output send_error_t          error_o,
  input  logic                 error_ready_i,
  output logic                 idle_o
);
  if (NumHosts < 2 || NumHosts > MaxHosts) begin : gen_hosts_check
    $error("rdma_send: NumHosts is %0d, legal is 2..%0d", NumHosts, MaxHosts);
  end

  typedef enum logic [3:0] {
    StPick,
    StFirst,   // read what says how much: a descriptor's second beat, a message's header
    StSecond,  // a descriptor's first beat
    StSize,
    StThird,   // what it needs; an extended one's other slot
    StFourth,  // is there room for it?
    StJudge,
    StPlan,    // a packet a cycle
    StGive,    // refused: its slots go back
    StError,   // and it is reported to the host
    StEarly    // a descriptor's second beat was caught as it was written
  } state_e;

  state_e state_q;
  logic   message_q;
  logic   early_q;    // not released when the look began
  logic   open_q;     // the flow that is looked at is open: from the cycle after StFirst on
  flow_t  flow_q;
  assign flow_o = flow_q;

  // ---------------------------------------------------------------- whose turn it is
  logic looks, able, ready, caught, there, any, pick_message, aside, torn;
  logic refuse, grant, no_room, changes_seen;
  descriptor_t written;
  flow_t pick_flow;
  assign written = descriptor_t'(store_i.data);
  logic unused_store;
  assign unused_store = ^{store_i, written};

  assign looks = state_q == StPick && run_i && up_i != '0;
  // What is written now is read a cycle later. Whether it may go, and is there at all, is seen
  // meanwhile: so the path from the bus's registers to the next state is short.
  assign able  = open_i[flow_q] && !aside && (message_q ? message_free_i : request_free_i);
  assign ready = message_q ? message_ready_i[flow_q] : request_ready_i[flow_q];
  // Its second beat, with the start flag, comes as its first one is read. Whether it was released
  // is known a cycle later than the decision is made ready: it is stable there.
  assign caught = store_i.request && store_i.strb == '1 && store_i.last &&
                  store_i.addr == {flow_q, heads_i.slot, 1'b1} && written.start;
  assign there  = !early_q || request_ready_i[flow_q];

  rdma_pick #(
    .NumLinks(NumLinks)
  ) u_pick (
    .clk_i,
    .rst_ni,
    .clear_i       (clear_i.valid),
    .clear_flow_i  (clear_i.flow),
    .request_i       (request_ready_i & {MaxHosts{request_free_i}}),
    .message_i       (message_ready_i & {MaxHosts{message_free_i}}),
    .open_i,
    .any_o           (any),
    .flow_o          (pick_flow),
    .message_o       (pick_message),
    .busy_i          (state_q != StPick),
    .looked_flow_i   (flow_q),
    .looked_message_i(message_q),
    .looked_open_i   (open_q),
    .aside_o         (aside),
    .looked_i        (state_q == StSecond ? ready : state_q == StJudge && there),
    .decided_i       (grant || refuse),
    .no_room_i       (no_room),
    .stir_i,
    .up_i,
    .idle_o          (changes_seen)
  );

  // ---------------------------------------------------------------- what was read
  want_t       want;
  logic [6:0]  slot_q, number_q;
  logic [2:0]  parts, parts_q;  // packets of it that were granted before
  logic [2:0]  links;           // how many are up
  logic [NumLinks-1:0] mask_q;
  assign mask_o = mask_q;

  rdma_decode #(
    .NumLinks(NumLinks)
  ) u_decode (
    .clk_i,
    .bench_i,
    .flow_i   (flow_q),
    .message_i(message_q),
    .single_i (heads_i.slots == 8'd1),
    .parts_i  (parts_q),
    .links_i  (links),
    .caught_i (state_q == StFirst && early_q),
    .second_i (state_q == StSecond),
    .size_i   (state_q == StSize || state_q == StEarly),
    .third_i  (state_q == StThird),
    .fourth_i (state_q == StFourth),
    .written_i(store_i.data),
    .request_data_i,
    .message_data_i,
    .want_o   (want)
  );

  always_comb begin
    request_read_o.addr = {flow_q, heads_i.slot, !early_q};
    unique case (state_q)
      StEarly:  request_read_o.addr = {flow_q, slot_q, 1'b1};
      StSecond: request_read_o.addr = {flow_q, slot_q, 1'b0};
      StSize:   request_read_o.addr = {flow_q, slot_q + 7'd1, 1'b1};
      StThird:  request_read_o.addr = {flow_q, slot_q + 7'd1, 1'b0};
      default: ;
    endcase
  end
  // What was read last is held until the decision: an extended descriptor's key, or the benchmark's
  // stamp.
  assign request_read_o.re = !message_q && (state_q == StFirst || state_q == StSecond ||
                                            state_q == StEarly ||
                                            (want.extended && (state_q == StSize ||
                                                               state_q == StThird)));
  assign look_o         = !message_q && (state_q == StFirst || state_q == StSecond ||
                                         state_q == StEarly || state_q == StSize ||
                                         state_q == StThird || state_q == StFourth);
  assign message_read_o = '{re: message_q && state_q == StFirst, addr: {flow_q, heads_i.place}};

  // ---------------------------------------------------------------- the decision
  logic [1:0] head_q;      // a cycle ago
  logic       ok, roomy, roomy_q, none_away, last_packet;

  rdma_room #(
    .NumLinks(NumLinks)
  ) u_room (
    .clk_i,
    .look_i      (state_q == StFirst),
    .free_i      (state_q == StSecond || state_q == StEarly),
    .reckon_i    (state_q == StThird),
    .compare_i   (state_q == StFourth),
    .used_i,
    .link_i,
    .mask_i      (mask_q),
    .lag_i       (numbers_i.lag),
    .away_i      (numbers_i.next[6:0] - left_i),
    .packets_i   (want.packets),
    .beats_i     (want.beats),
    .head_beats_i(want.head),
    .links_o     (links),
    .none_away_o (none_away),
    .roomy_o     (roomy),
    .roomy_q_o   (roomy_q),
    .ok_o        (ok)
  );

  rdma_parts u_parts (
    .clk_i,
    .rst_ni,
    .clear_i       (clear_i.valid),
    .clear_flow_i  (clear_i.flow),
    .flow_i   (flow_q),
    .parts_o  (parts),
    .torn_o   (torn),
    .grant_i  (grant && !message_q),
    .final_i  (want.final_part),
    .packets_i(parts_q + 3'(want.packets)),
    .refused_i(state_q == StGive && !message_q),
    .failed_i
  );

  assign refuse  = state_q == StJudge && open_q && there && none_away &&
                   (!want.legal || (torn && !message_q));
  assign grant   = state_q == StJudge && open_q && there && want.legal && ok &&
                   (message_q || !torn);
  assign no_room = state_q == StJudge && !grant && !refuse && there;

  // ---------------------------------------------------------------- granted
  packets_t    left_q;     // packets after this one
  logic [9:0]  rest_q;     // beats from this one on
  logic [5:0]  seq_q;
  beats_t      packet;
  assign last_packet = left_q == '0;
  assign packet      = last_packet ? rest_q[6:0] : beats_t'(PacketBeats);

  logic [7:0] count;       // what a message, or a request of one slot or two, gives back
  assign count = message_q ? {1'b0, want.beats[6:0]} + 8'd1 : want.two ? 8'd2 : 8'd1;

  assign commit_o = '{valid: grant, count: want.packets};
  assign packet_o = '{
      valid: state_q == StPlan,
      beats: beats_t'(head_q) + packet,
      seq:   seq_q,
      back:  '{
          last:    last_packet && want.final_part,
          notify:  want.local_notify,
          message: message_q,
          count:   count
      }
  };
  assign plan_o = state_q == StPlan && !message_q;

  assign request_o = '{
      valid: grant && !message_q,
      read:  grant && !message_q && !bench_i,
      addr:  want.source[63:3] + 61'({parts_q, 6'd0}),
      beats: want.beats,
      job: '{
          flow:       flow_q,
          tag:        {1'b0, slot_q},
          seq:        numbers_i.next,
          session:    numbers_i.session,
          beats:      want.beats,
          final_part: want.final_part,
          notify:     want.notify,
          irq:        want.irq,
          completion: want.completion,
          extended:   want.extended,
          address:    want.address + 64'({parts_q, 9'd0}),
          extension:  {want.immediate, request_data_i[63:32]}
      }
  };

  assign message_o = '{
      valid: grant && message_q,
      post: '{
          flow:    flow_q,
          number:  number_q,
          seq:     numbers_i.next,
          session: numbers_i.session,
          place:   heads_i.place,
          bare:    want.bare,
          header:  message_data_i
      }
  };

  // A request's place moves on with its last part, a message's with its grant.
  logic done;
  assign done      = (grant && want.final_part) || (state_q == StGive && give_ready_i);
  assign advance_o = '{
      request: done && !message_q,
      two:     want.two,
      only:    early_q && state_q == StJudge,
      message: done && message_q,
      size:    want.beats[6:0]
  };

  // ---------------------------------------------------------------- refused
  logic torn_error_q;
  assign give_o = '{
      valid: state_q == StGive,
      back:  '{last: 1'b1, notify: want.local_notify, message: message_q, count: count}
  };
  assign error_o = '{
      valid:   state_q == StError,
      flow:    flow_q,
      code:    torn_error_q ? CodeSession : CodeDescriptor,
      tag:     message_q ? {1'b1, number_q} : {1'b0, slot_q},
      address: want.source
  };

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= StPick;
    end else begin
      unique case (state_q)
        StPick:   if (looks && (any || coming_i.valid)) state_q <= StFirst;
        StFirst: begin
          if (!able || (early_q && !caught)) state_q <= StPick;
          else if (early_q) state_q <= StEarly;
          else if (!message_q || message_grant_i) state_q <= StSecond;
        end
        StEarly:  state_q <= want.plain && roomy ? StJudge : StSecond;
        StSecond: begin
          if (!ready) state_q <= StPick;
          else if (!message_q) state_q <= StSize;
          else state_q <= roomy ? StJudge : StThird;
        end
        StSize:   state_q <= want.plain && roomy_q ? StJudge : StThird;
        StThird:  state_q <= StFourth;
        StFourth: state_q <= StJudge;
        StJudge:  state_q <= grant ? StPlan : refuse ? StGive : StPick;
        StPlan:   if (last_packet) state_q <= StPick;
        StGive:   if (give_ready_i) state_q <= StError;
        default:  if (error_ready_i) state_q <= StPick;
      endcase
    end
  end
  always_ff @(posedge clk_i) open_q <= open_next_i[flow_q];
  always_ff @(posedge clk_i) head_q <= want.head[1:0];

  always_ff @(posedge clk_i) begin
    unique case (state_q)
      StPick: begin
        flow_q    <= any ? pick_flow : coming_i.flow;
        message_q <= any ? pick_message : coming_i.message;
        early_q   <= !any && coming_i.early;
        mask_q    <= up_i;
      end
      StFirst: begin
        slot_q   <= heads_i.slot;
        number_q <= heads_i.number;
        parts_q  <= parts;
      end
      StSecond: early_q <= 1'b0;
      StJudge: begin
        left_q       <= want.packets - 4'd1;
        rest_q       <= want.beats;
        seq_q        <= numbers_i.next[5:0];
        torn_error_q <= want.legal;
      end
      StPlan: begin
        left_q <= left_q - 4'd1;
        rest_q <= rest_q - 10'(PacketBeats);
        seq_q  <= seq_q + 6'd1;
      end
      default: ;
    endcase
  end

  // A hint comes with a store, which rdma_tx sees.
  assign idle_o = state_q == StPick && !(looks && any) && changes_seen;
endmodule
