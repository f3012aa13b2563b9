// SPDX-License-Identifier: SHL-2.1
/// Looks at what the host wants sent, checks it, and grants it room, numbers and links.
///
/// Destinations go in turn, by transfer; requests and messages of one destination take turns. A transfer is
/// granted when its flow's window and the VOQs have room for all its packets: n packets over L links count as
/// ceil(n/L) longest packets on each, one packet as its own beats on its link. One that has no room is put
/// aside until something has left or was acknowledged: others go on. So what is granted never waits
/// for room. Where fewer links are up than a whole transfer needs, it is granted in parts.
///
///   Handshake   ready_i vectors: something to look at; coming_i: there may be, and its ready_i says so 2
///               cycles later. With coming_early_i a slot's first half was written, and write_i announces the
///               second if it follows at once. job_*, read_*: together, with request_free_i, which is held
///               until then. post_*: valid, with message_free_i. plan_*: strobe, a packet's link. error_*, give_*: valid/ready
///               What was read is held at request_data_i, or message_data_i, until more is asked for
///   Ordering    the transfers of a queue are granted in order
///   Latency     from ready_i, or coming_i, to job_valid_o 4 cycles, of what came early 3; to post_valid_o 3. With
///               more than one packet, an extended descriptor, or less than room for a longest packet 6, a
///               message 5
///   Throughput  a descriptor of one packet every 6 cycles, a message 5; else 8, one more for each packet more
///   Fairness    between two looks at a waiting destination each other is granted at most one transfer
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
  input  logic                 clear_i,
  input  flow_t                clear_flow_i,
  input  logic                 bench_i,

  output flow_t                flow_o,            // looked at: all of the following is of this flow
  // Queues.
  input  logic                 coming_i,          // strobe: this one may be looked at
  input  flow_t                coming_flow_i,
  input  logic                 coming_message_i,
  input  logic                 coming_early_i,    // a request whose second half is missing
  input  logic                 write_i,           // a whole beat, the host's burst's last
  input  logic [10:0]          write_addr_i,
  input  beat_t                write_data_i,
  input  logic [MaxHosts-1:0]  request_ready_i,
  input  logic [6:0]           slot_i,
  input  logic [7:0]           slots_i,
  output logic                 look_o,            // at a request, whose read may come of it
  output logic                 request_re_o,
  output logic [10:0]          request_addr_o,
  input  beat_t                request_data_i,
  output logic                 request_advance_o,
  output logic                 request_two_o,
  output logic                 request_only_o,    // there was none before the one that came early
  input  logic [MaxHosts-1:0]  message_ready_i,
  input  logic [7:0]           place_i,
  input  logic [6:0]           number_i,
  output logic                 message_re_o,
  input  logic                 message_grant_i,   // the memory is ours in this cycle
  output logic [10:0]          message_addr_o,
  input  beat_t                message_data_i,
  output logic                 message_advance_o,
  output logic [6:0]           message_size_o,
  // Flow, room and links.
  input  logic [MaxHosts-1:0]  open_i,
  input  logic [MaxHosts-1:0]  open_next_i,       // open_i of the next cycle
  input  seq_t                 next_i,
  input  session_t             session_i,
  input  logic [6:0]           lag_i,
  input  logic [6:0]           left_i,            // the first number that has not left, modulo 128
  output logic                 commit_o,
  output packets_t             commit_count_o,
  input  logic [NumLinks-1:0]  up_i,
  input  room_t [NumLinks-1:0] used_i,
  input  logic [LinkWidth-1:0] link_i,
  output logic [NumLinks-1:0]  mask_o,
  output logic                 take_o,
  output beats_t               take_beats_o,
  output logic                 record_o,
  output logic [5:0]           record_seq_o,
  output return_t              record_return_o,
  input  logic [MaxHosts-1:0]  stir_i,            // room or window of these flows has changed
  input  logic                 failed_i,          // the session of this flow has ended
  input  flow_t                failed_flow_i,
  // What was granted.
  input  logic                 request_free_i,
  output logic                 job_valid_o,
  output job_t                 job_o,
  output logic                 read_valid_o,
  output logic [63:3]          read_addr_o,
  output logic [9:0]           read_beats_o,
  output logic                 plan_o,            // a request's next packet goes to plan_link_o
  output logic [LinkWidth-1:0] plan_link_o,
  input  logic                 message_free_i,
  output logic                 post_valid_o,      // strobe
  output post_t                post_o,
  output logic [LinkWidth-1:0] post_link_o,
  // What was refused.
  output logic                 give_valid_o,
  input  logic                 give_ready_i,
  output return_t              give_return_o,
  output logic                 error_valid_o,
  input  logic                 error_ready_i,
  output logic [7:0]           error_code_o,
  output tag_t                 error_tag_o,
  output logic [63:0]          error_address_o,
  output logic                 idle_o
);
  if (NumHosts < 2 || NumHosts > MaxHosts) begin : gen_hosts_check
    $error("rdma_send: NumHosts is %0d, legal is 2..%0d", NumHosts, MaxHosts);
  end
  if (NumLinks < 1 || NumLinks > 4) begin : gen_links_check
    $error("rdma_send: NumLinks is %0d, legal is 1..4", NumLinks);
  end

  localparam int unsigned VoqBeats  = voq_beats(NumLinks);
  localparam int unsigned DataBeats = VoqBeats - ControlPackets * ControlBeats;
  // Longest packets that a VOQ can hold for one destination.
  localparam int unsigned VoqPackets = DataBeats / MaxBeats;

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
  flow_t  flow_q;
  assign flow_o = flow_q;

  // ---------------------------------------------------------------- arbitration
  // aside_q: no room at the last look. turn_q: messages go first. part_q: a part of the next descriptor was
  // granted; torn_q: and its session has ended since.
  logic [MaxHosts-1:0] aside_q, turn_q, part_q, torn_q, ask_request, ask_message, ask, pick;
  logic [MaxHosts-1:0] after_q, first_ask, first_pick, any_pick, prefer;
  logic [NumLinks-1:0] up_q;
  logic looks, able, ready, caught, there;
  descriptor_t written;
  assign written = descriptor_t'(write_data_i);
  flow_t pick_flow;

  assign ask_request = request_ready_i & {MaxHosts{request_free_i}};
  assign ask_message = message_ready_i & {MaxHosts{message_free_i}};
  assign ask   = (ask_request | ask_message) & open_i & ~aside_q;
  assign looks = state_q == StPick && run_i && up_i != '0;
  // What is written now is read a cycle later. Whether it may go, and is there at all, is seen meanwhile:
  // so the way from the bus's registers to the next state is short.
  assign able  = open_i[flow_q] && !aside_q[flow_q] &&
                 (message_q ? message_free_i : request_free_i);
  assign ready = message_q ? message_ready_i[flow_q] : request_ready_i[flow_q];
  // Its second beat, with the start flag, comes as its first one is read. Whether it was released is known a
  // cycle later than the decision is made ready: it is stable there.
  assign caught = write_i && write_addr_i == {flow_q, slot_i, 1'b1} && written.start;
  assign there  = !early_q || request_ready_i[flow_q];

  // after_q: the destinations above the last one that was looked at; they go first.
  assign first_ask = ask & after_q;
  arb_fixed #(.NumReq(MaxHosts)) u_first (.req_i(first_ask), .gnt_o(first_pick));
  arb_fixed #(.NumReq(MaxHosts)) u_any (.req_i(ask), .gnt_o(any_pick));
  assign pick = first_ask != '0 ? first_pick : any_pick;
  always_comb begin
    pick_flow = '0;
    for (int unsigned i = 0; i < MaxHosts; i++) begin
      if (pick[i]) pick_flow = pick_flow | flow_t'(i);
    end
  end
  assign prefer = ask_message & (~ask_request | turn_q);

  // ---------------------------------------------------------------- what was read
  descriptor_t first_q;      // a descriptor's second beat; of a message local_notify
  beat_t       source_q;     // a message has none: zero
  logic [31:0] high_q;       // of an extended destination address; else zero
  logic [31:0] immediate_q;
  logic [6:0]  slot_q, number_q;
  logic        single_q;     // no second slot was released
  logic [3:0]  extra_q;
  logic        extra_bad_q, source_bad_q;
  logic [2:0]  bare_q;       // all set: a message's header takes one beat
  logic        bare;
  logic        open_q;       // the flow that is looked at is open: from the cycle after StFirst on
  logic [NumLinks-1:0] mask_q;
  room_t [NumLinks-1:0] used_q, free_q;
  logic [6:0]  lag_q, away_q;
  logic [LinkWidth-1:0] link_q;
  assign mask_o = mask_q;
  logic unused_start;
  assign unused_start = first_q.start;

  logic extended;
  assign extended = !message_q && first_q.extended && !bench_i;

  always_comb begin
    request_addr_o = {flow_q, slot_i, !early_q};
    unique case (state_q)
      StEarly:  request_addr_o = {flow_q, slot_q, 1'b1};
      StSecond: request_addr_o = {flow_q, slot_q, 1'b0};
      StSize:   request_addr_o = {flow_q, slot_q + 7'd1, 1'b1};
      StThird:  request_addr_o = {flow_q, slot_q + 7'd1, 1'b0};
      default: ;
    endcase
  end
  // What was read last is held until the decision: an extended descriptor's key, or the benchmark's stamp.
  assign request_re_o   = !message_q && (state_q == StFirst || state_q == StSecond ||
                                         state_q == StEarly ||
                                         (extended && (state_q == StSize || state_q == StThird)));
  assign look_o         = !message_q && (state_q == StFirst || state_q == StSecond ||
                                         state_q == StEarly || state_q == StSize ||
                                         state_q == StThird || state_q == StFourth);
  assign message_re_o   = message_q && state_q == StFirst;
  assign message_addr_o = {flow_q, place_i};

  // ---------------------------------------------------------------- how much it is
  logic [2:0] part_count_q[MaxHosts];  // packets of the next descriptor that were granted
  logic [2:0] parts, parts_q;
  logic [9:0] rest, beats_d, beats_q;
  logic       legal_d, legal_q, final_d, final_q;
  packets_t   packets_all, packets_most, packets_d, packets_q;
  logic [2:0] links, links_q;  // that may be used
  assign parts = part_q[flow_q] ? part_count_q[flow_q] : '0;
  assign rest  = first_q.size - {1'b0, parts_q, 6'd0};
  assign packets_all = 4'((11'(rest) + 11'd63) >> 6);

  always_comb begin
    links = '0;
    for (int unsigned i = 0; i < NumLinks; i++) links = links + 3'(mask_q[i]);
    packets_most = packets_t'(MaxPackets);
    for (int unsigned i = 1; i <= NumLinks; i++) begin
      if (links_q == 3'(i) && i * VoqPackets < MaxPackets) begin
        packets_most = packets_t'(i * VoqPackets);
      end
    end
  end
  assign final_d   = packets_all <= packets_most;
  assign packets_d = final_d ? packets_all : packets_most;
  assign beats_d   = final_d ? rest : {packets_most, 6'd0};

  assign legal_d = first_q.size > {1'b0, parts_q, 6'd0} && first_q.size <= 10'(MaxSize) &&
                   first_q.zero_55 == '0 && first_q.address[2:0] == '0 &&
                   first_q.dst == host_t'(flow_q) &&
                   !(first_q.extended && (single_q || bench_i));
  // A message's header says all at once, to registers that are close behind the memory.
  message_t came;
  logic     came_small, came_legal, came_bad, unused_came;
  logic [2:0] came_bare;
  assign unused_came = ^came;
  assign came        = message_t'(message_data_i);
  // Gates, no sums: more beats than an address or a key takes, and no more than a packet has.
  assign came_small  = came.beats[6:2] == '0 && (came.extended ? came.beats[1:0] != 2'd3 :
                                                 came.write ? !came.beats[1] : came.beats == '0);
  assign came_legal  = !came.beats[6] || came.beats[5:0] == '0;
  assign came_bad    = came.zero_7 || came.zero_22 != '0 || (came.extended && !came.write);
  // In parts: the whole is a long way behind the memory.
  assign came_bare   = {came.immediate[31:16] == '0, came.immediate[15:0] == '0,
                        came.qid[7:4] == '0} | {3{came.write}};
  assign bare        = bare_q == '1;

  // ---------------------------------------------------------------- the decision
  // Packets on one link where they are spread over those that are up.
  function automatic packets_t share(packets_t packets, logic [2:0] over);
    unique case (over)
      3'd2:    return packets_t'((5'(packets) + 5'd1) >> 1);
      3'd3:    return packets > 4'd6 ? 4'd3 : packets > 4'd3 ? 4'd2 : 4'd1;
      3'd4:    return packets > 4'd4 ? 4'd2 : 4'd1;
      default: return packets;
    endcase
  endfunction

  // Beats of so many longest packets. MaxBeats has three ones: two sums, no multiplier.
  function automatic room_t longest(packets_t packets);
    longest = '0;
    for (int unsigned i = 0; i < $bits(room_t); i++) begin
      if (MaxBeats[i]) longest = longest + (room_t'(packets) << i);
    end
  endfunction

  beats_t   head_beats;
  logic [1:0] head_q;      // a cycle ago
  logic [NumLinks-1:0] fits;
  room_t    need_all_q, need_one_q;
  logic     window_ok_q, room_ok, room_ok_q;
  logic     roomy_d, roomy_q, plain;
  logic     legal, refuse, grant, stirred_q, put_aside, last_packet;
  assign head_beats = extended             ? beats_t'(MaxHeaderBeats)
                    : message_q && bare   ? beats_t'(1) : beats_t'(HeaderBeats);
  for (genvar l = 0; l < int'(NumLinks); l++) begin : gen_fits
    assign fits[l] = packets_q != 4'd1 ? !mask_q[l] || need_all_q <= free_q[l]
                   : (NumLinks > 1 && link_q != LinkWidth'(l)) || need_one_q <= free_q[l];
  end
  assign room_ok   = fits == '1;
  // One packet where a longest one has room: there is nothing to reckon.
  assign roomy_d   = used_q[link_q] <= room_t'(DataBeats - MaxBeats) && lag_q < 7'(Window) &&
                     away_q < 7'(Window);
  assign plain     = !first_q.extended && parts_q == '0 && first_q.size <= 10'(PacketBeats);
  assign legal     = legal_q && !extra_bad_q && !source_bad_q;
  assign refuse    = state_q == StJudge && open_q && there && away_q == '0 &&
                     (!legal || (torn_q[flow_q] && !message_q));
  assign grant     = state_q == StJudge && open_q && there && legal && room_ok_q &&
                     window_ok_q && (message_q || !torn_q[flow_q]);
  assign put_aside = state_q == StJudge && !grant && !refuse && there;

  // ---------------------------------------------------------------- granted
  packets_t    left_q;     // packets after this one
  logic [9:0]  rest_q;     // beats from this one on
  logic [5:0]  seq_q;
  beats_t      packet;
  assign last_packet = left_q == '0;
  assign packet      = last_packet ? rest_q[6:0] : beats_t'(PacketBeats);

  assign commit_o          = grant;
  assign commit_count_o    = packets_q;
  assign take_o            = state_q == StPlan;
  assign take_beats_o      = beats_t'(head_q) + packet;
  assign record_o          = state_q == StPlan;
  assign record_seq_o      = seq_q;
  assign record_return_o   = '{
      last:    last_packet && final_q,
      notify:  first_q.local_notify,
      message: message_q,
      count:   message_q ? {1'b0, beats_q[6:0]} + 8'd1 : extended ? 8'd2 : 8'd1
  };
  assign plan_o      = state_q == StPlan && !message_q;
  assign plan_link_o = link_i;

  assign job_valid_o  = grant && !message_q;
  assign read_valid_o = grant && !message_q && !bench_i;
  assign read_addr_o  = source_q[63:3] + 61'({parts_q, 6'd0});
  assign read_beats_o = beats_q;
  assign job_o = '{
      flow:       flow_q,
      tag:        {1'b0, slot_q},
      seq:        next_i,
      session:    session_i,
      beats:      beats_q,
      final_part: final_q,
      notify:     first_q.notify,
      irq:        first_q.irq,
      completion: first_q.completion,
      extended:   extended,
      address:    {high_q, first_q.address} + 64'({parts_q, 9'd0}),
      extension:  {immediate_q, request_data_i[63:32]}
  };

  assign post_valid_o = grant && message_q;
  assign post_o       = '{flow: flow_q, number: number_q, seq: next_i, session: session_i,
                          place: place_i, bare: bare, header: message_data_i};
  assign post_link_o  = link_i;

  // A request's place moves on with its last part, a message's with its grant.
  logic done;
  assign done              = (grant && final_q) || (state_q == StGive && give_ready_i);
  assign request_advance_o = done && !message_q;
  assign request_two_o     = first_q.extended && !single_q && !bench_i;
  assign request_only_o    = early_q && state_q == StJudge;
  assign message_advance_o = done && message_q;
  assign message_size_o    = beats_q[6:0];

  // ---------------------------------------------------------------- refused
  assign give_valid_o  = state_q == StGive;
  assign give_return_o = '{
      last:    1'b1,
      notify:  first_q.local_notify,
      message: message_q,
      count:   message_q ? {1'b0, beats_q[6:0]} + 8'd1 : request_two_o ? 8'd2 : 8'd1
  };
  logic torn_error_q;
  assign error_valid_o   = state_q == StError;
  assign error_code_o    = torn_error_q ? CodeSession : CodeDescriptor;
  assign error_tag_o     = message_q ? {1'b1, number_q} : {1'b0, slot_q};
  assign error_address_o = source_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q   <= StPick;
      aside_q   <= '0;
      turn_q    <= '0;
      part_q    <= '0;
      torn_q    <= '0;
      after_q   <= '0;
      stirred_q <= 1'b0;
    end else begin
      unique case (state_q)
        StPick:   if (looks && (ask != '0 || coming_i)) state_q <= StFirst;
        StFirst: begin
          if (!able || (early_q && !caught)) state_q <= StPick;
          else if (early_q) state_q <= StEarly;
          else if (!message_q || message_grant_i) state_q <= StSecond;
        end
        StEarly:  state_q <= plain && roomy_d ? StJudge : StSecond;
        StSecond: begin
          if (!ready) state_q <= StPick;
          else if (!message_q) state_q <= StSize;
          else state_q <= roomy_d ? StJudge : StThird;
        end
        StSize:   state_q <= plain && roomy_q ? StJudge : StThird;
        StThird:  state_q <= StFourth;
        StFourth: state_q <= StJudge;
        StJudge:  state_q <= grant ? StPlan : refuse ? StGive : StPick;
        StPlan:   if (last_packet) state_q <= StPick;
        StGive:   if (give_ready_i) state_q <= StError;
        default:  if (error_ready_i) state_q <= StPick;
      endcase

      if (state_q == StSecond ? ready : state_q == StJudge && there) begin
        after_q <= ~((MaxHosts'(1) << flow_q) | ((MaxHosts'(1) << flow_q) - 1'b1));
      end

      // What changes after the look began may be what it lacked.
      stirred_q <= state_q != StPick && (stirred_q || stir_i[flow_q] || up_q != up_i);
      aside_q   <= (up_q != up_i) ? '0 : aside_q & ~stir_i;
      if (put_aside && open_q && !stirred_q && !stir_i[flow_q] && up_q == up_i) begin
        aside_q[flow_q] <= 1'b1;
      end
      // What was put aside is looked at again before the other queue of its destination.
      if (grant || refuse) turn_q[flow_q] <= !message_q;
      else if (put_aside) turn_q[flow_q] <= message_q;

      if (grant && !message_q) part_q[flow_q] <= !final_q;
      if (failed_i) begin
        torn_q[failed_flow_i] <= part_q[failed_flow_i] ||
                                 (grant && !message_q && !final_q && flow_q == failed_flow_i);
      end
      if (state_q == StGive && !message_q) begin
        part_q[flow_q] <= 1'b0;
        torn_q[flow_q] <= 1'b0;
      end
      if (clear_i) begin
        aside_q[clear_flow_i] <= 1'b0;
        turn_q[clear_flow_i]  <= 1'b0;
        part_q[clear_flow_i]  <= 1'b0;
        torn_q[clear_flow_i]  <= 1'b0;
      end
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) up_q <= '0;
    else up_q <= up_i;
  end
  always_ff @(posedge clk_i) open_q <= open_next_i[flow_q];
  always_ff @(posedge clk_i) head_q <= head_beats[1:0];

  always_ff @(posedge clk_i) begin
    if (state_q == StSecond || state_q == StEarly) begin
      roomy_q <= roomy_d;
      // Never more than DataBeats are used.
      for (int unsigned l = 0; l < NumLinks; l++) free_q[l] <= room_t'(DataBeats) - used_q[l];
    end
    unique case (state_q)
      StPick: begin
        flow_q    <= ask != '0 ? pick_flow : coming_flow_i;
        message_q <= ask != '0 ? (prefer & pick) != '0 : coming_message_i;
        early_q   <= ask == '0 && coming_early_i;
        mask_q    <= up_i;
      end
      StFirst: begin
        slot_q   <= slot_i;
        used_q   <= used_i;
        link_q   <= link_i;
        lag_q    <= lag_i;
        away_q   <= next_i[6:0] - left_i;
        number_q <= number_i;
        links_q  <= links;
        parts_q  <= parts;
        if (early_q) first_q <= written;
      end
      StSecond: begin
        first_q  <= request_data_i;
        high_q   <= '0;
        early_q  <= 1'b0;
        single_q <= slots_i == 8'd1;
        if (message_q) begin
          first_q.local_notify <= came.local_notify;
          source_q     <= '0;
          packets_q    <= 4'd1;
          beats_q      <= {3'd0, came.beats};
          final_q      <= 1'b1;
          legal_q      <= came_legal;
          extra_bad_q  <= came_bad;
          bare_q       <= came_bare;
          source_bad_q <= came_small;
          room_ok_q    <= 1'b1;  // if there is room
          window_ok_q  <= 1'b1;
        end
      end
      StSize, StEarly: begin
        source_q     <= request_data_i;
        high_q       <= '0;
        source_bad_q <= request_data_i[2:0] != '0 && !bench_i;
        packets_q    <= packets_d;
        beats_q      <= beats_d;
        final_q      <= final_d;
        legal_q      <= legal_d;
        extra_bad_q  <= 1'b0;
        room_ok_q    <= 1'b1;  // if it is plain and there is room
        window_ok_q  <= 1'b1;
      end
      StThird: begin
        immediate_q <= request_data_i[31:0];
        // In two steps: the whole is a long way behind the memory.
        for (int unsigned i = 0; i < 4; i++) begin
          extra_q[i] <= extended && request_data_i[32+8*i+:8] != '0;
        end
        need_all_q  <= longest(share(packets_q, links_q));
        need_one_q  <= room_t'(head_beats) + room_t'(beats_q);
        window_ok_q <= {1'b0, lag_q} + 8'(packets_q) <= 8'(Window) &&
                       {1'b0, away_q} + 8'(packets_q) <= 8'(Window);
      end
      StFourth: begin
        room_ok_q <= room_ok;
        if (!message_q) extra_bad_q <= extra_q != '0;
        if (extended) high_q <= request_data_i[31:0];
      end
      StJudge: begin
        left_q       <= packets_q - 4'd1;
        rest_q       <= beats_q;
        seq_q        <= next_i[5:0];
        torn_error_q <= legal;
        if (grant && !message_q) part_count_q[flow_q] <= parts_q + 3'(packets_q);
      end
      StPlan: begin
        left_q <= left_q - 4'd1;
        rest_q <= rest_q - 10'(PacketBeats);
        seq_q  <= seq_q + 6'd1;
      end
      default: ;
    endcase
  end

  // A hint comes with a write, which rdma_tx sees.
  assign idle_o = state_q == StPick && !(looks && ask != '0) && up_q == up_i &&
                  (aside_q & stir_i) == '0;
endmodule
