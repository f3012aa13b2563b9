// SPDX-License-Identifier: SHL-2.1
/// Makes packets of what was granted, and puts them into the VOQs: one at a time, a beat a cycle.
///
/// Between two packets control packets go first, then a message, then the next packet of a transfer
/// whose data has begun to come; so neither waits for a read. A read that failed ends its packet
/// there as bad; the rest of its beats is dropped, the next packets are made as usual.
///
///   Handshake   control_*: valid/ready, taken with its second beat. own_*: valid/ready, taken with
///               its first beat; may be withdrawn while room_i.own of its host is 0. post_i: only
///               while message_free_o. job_*, plan_*, data_*: valid/ready. voq_*: valid one-hot,
///               only while all links are ready; write_* a cycle later, of a message's first two
///               beats perhaps two. A message's header is at message_data_i with post_i, and is
///               held until message_read_o.re
///   Latency     from data_coming_i, or post_i, to the first beat at voq_valid_o 0 cycles
///   Throughput  a beat a cycle; 1 to 3 header beats a packet, no dead cycle between packets of a
///               transfer
///   Bench       payload is zero but for word 2 of it: the descriptor's stamp
///   Parameters  NumLinks 1..4; EarlyPosts 1: a message's first two beats are announced two cycles
///               before they are written, which needs a clk_i that is no slower than the links'; 0:
///               one cycle, as all others, which needs half of that and a margin
///   Not done    checks: rdma_send has made them
module rdma_segment
  import rdma_pkg::*;
  import rdma_tx_pkg::*;
#(
  parameter  int unsigned NumLinks   = 1,
  parameter  bit          EarlyPosts = 1'b0,
  localparam int unsigned LinkWidth = NumLinks > 1 ? $clog2(NumLinks) : 1
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,
  input  host_t                host_id_i,
  input  logic                 bench_i,

  input  control_room_t        room_i,
  input  logic [LinkWidth-1:0] control_link_i,
  output flow_event_t          control_take_o,   // strobe, a cycle late: one went to its flow
  input  control_packet_t      control_i,
  output logic                 control_ready_o,
  input  control_packet_t      own_i,
  output logic                 own_ready_o,

  input  message_grant_t       post_i,
  input  logic [LinkWidth-1:0] post_link_i,
  output logic                 message_free_o,
  output logic                 message_busy_o,   // the queue's memory is in use
  output queue_read_t          message_read_o,
  input  beat_t                message_data_i,

  input  logic                 job_valid_i,
  output logic                 job_ready_o,
  input  job_t                 job_i,
  input  logic                 plan_valid_i,
  output logic                 plan_ready_o,
  input  logic [LinkWidth-1:0] plan_link_i,
  input  logic                 data_coming_i,    // data_valid_i follows
  input  logic                 data_valid_i,
  output logic                 data_ready_o,
  input  beat_t                data_i,
  input  logic                 data_bad_i,
  output logic                 job_done_o,       // strobe: all of a transfer is in the VOQs

  output logic [NumLinks-1:0]  voq_valid_o,      // a beat is announced
  input  logic [NumLinks-1:0]  voq_ready_i,
  output announce_t            voq_o,
  output logic [NumLinks-1:0]  write_o,          // what was taken, a cycle later
  output voq_beat_t            write_beat_o,

  output begun_t               begun_o,          // a data packet's header
  output read_error_t          error_o,
  input  logic                 error_ready_i,
  output logic                 idle_o
);
  if (NumLinks < 1 || NumLinks > 4) begin : gen_links_check
    $error("rdma_segment: NumLinks is %0d, legal is 1..4", NumLinks);
  end

  typedef enum logic [2:0] {
    StHead,     // what is next, and its first beat
    StSecond,
    StThird,
    StPayload,
    StSkip,     // the beats behind one that failed
    StControl
  } state_e;

  state_e state_q;
  logic   move;       // the VOQs take a beat
  logic   message_q;  // the packet in progress is a message
  logic   own_q;
  control_e own_control_q;
  logic [LinkWidth-1:0] link_q;
  beats_t left_q;     // payload beats that are missing

  // ---------------------------------------------------------------- what was granted
  logic  post_valid_q, job_valid_q;
  post_t post_q;
  job_t  job_q;
  logic [LinkWidth-1:0] post_link_q;
  logic [7:0] place_q;  // in the message queue
  logic  post_done, part_done, job_done;
  assign message_free_o = !post_valid_q;
  assign job_ready_o    = !job_valid_q || job_done;

  // ---------------------------------------------------------------- which is next
  logic  control_ok, own_ok, job_ok, go_control, go_own, go_message, go_job;
  logic  early, early_next;  // a message's first two beats are announced a cycle ahead,
  logic  announced_q;        // the first as it is granted: this one was
  logic  step;               // a beat may go
  flow_t control_to, own_to;
  logic  control_take_q, begun_q;
  assign control_to = control_i.header.dst[2:0];
  assign own_to     = own_i.header.dst[2:0];
  assign control_ok = control_i.valid && room_i.ctl[control_to] && !announced_q;
  assign own_ok     = own_i.valid && room_i.own[own_to] && !announced_q;
  assign job_ok     = job_valid_q && plan_valid_i && (data_valid_i || data_coming_i || bench_i);
  assign go_control = state_q == StHead && move && control_ok;
  assign go_own     = state_q == StHead && move && own_ok && !control_ok;
  assign go_message = state_q == StHead && post_valid_q &&
                      (announced_q || (move && !control_ok && !own_ok));
  assign go_job     = state_q == StHead && move && job_ok && !control_ok && !own_ok &&
                      !post_valid_q;
  assign early      = EarlyPosts && post_i.valid && state_q == StHead && move && !go_control &&
                      !go_own && !go_job;
  assign early_next = state_q == StHead && move && announced_q;
  assign step       = move || announced_q;

  // ---------------------------------------------------------------- headers
  beats_t  job_packet;  // payload of the transfer's next packet
  logic    job_last;
  header_t control_header, post_header, job_header;
  assign job_last   = job_q.beats <= 10'(PacketBeats);
  assign job_packet = job_last ? job_q.beats[6:0] : beats_t'(PacketBeats);

  // What follows a write's header in the message queue: its address, perhaps a key, then payload.
  beats_t posted_address;
  assign posted_address = beats_t'({post_q.header.extended,
                                    post_q.header.write && !post_q.header.extended});

  // Of a control packet's header nothing else is its own.
  always_comb begin
    control_header         = '0;
    control_header.kind    = KindControl;
    control_header.src     = host_id_i;
    control_header.dst     = control_ok ? control_i.header.dst : own_i.header.dst;
    control_header.session = control_ok ? control_i.header.session : own_i.header.session;
    control_header.seq     = control_ok ? control_i.header.seq : own_i.header.seq;

    post_header            = '0;
    post_header.tag        = {1'b1, post_q.number};
    post_header.completion = post_q.header.completion;
    post_header.irq        = post_q.header.irq;
    post_header.notify     = post_q.header.notify;
    post_header.last       = 1'b1;
    post_header.extended   = post_q.header.extended;
    post_header.kind       = post_q.header.write ? KindWrite :
                             post_q.bare         ? KindShort : KindMessage;
    post_header.beats      = post_q.header.beats - posted_address;
    post_header.qid        = post_header.kind == KindShort ? post_q.header.qid[3:0] : '0;
    post_header.src        = host_id_i;
    post_header.dst        = host_t'(post_q.flow);
    post_header.session    = post_q.session;
    post_header.seq        = post_q.seq;

    job_header            = '0;
    job_header.tag        = job_q.tag;
    job_header.last       = job_last && job_q.final_part;
    job_header.extended   = job_q.extended;
    job_header.completion = job_q.completion && job_header.last;
    job_header.irq        = job_q.irq && job_header.last;
    job_header.notify     = job_q.notify && job_header.last;
    job_header.kind       = KindWrite;
    job_header.beats      = job_packet;
    job_header.src        = host_id_i;
    job_header.dst        = host_t'(job_q.flow);
    job_header.session    = job_q.session;
    job_header.seq        = job_q.seq;
  end
  control_t control;
  assign control = control_i.control;
  logic unused_header;
  assign unused_header = ^{control_i.header, own_i, control.zero, post_q.place, post_q.header};

  // ---------------------------------------------------------------- a beat a cycle
  logic  emit, last, bad, payload, stamp_beat_q, first_beat_q, pop, failed;
  beat_t data;
  flow_t flow_q, flow_d;
  logic [LinkWidth-1:0] link;

  assign payload    = state_q == StPayload && step && (message_q || bench_i || data_valid_i);
  assign failed     = payload && !message_q && !bench_i && data_bad_i;
  assign pop        = (payload && !message_q) || (state_q == StSkip && data_valid_i);
  assign data_ready_o = pop && !bench_i;

  always_comb begin
    emit = 1'b0;
    last = 1'b0;
    bad  = 1'b0;
    unique case (state_q)
      StHead: emit = go_control || go_own || go_message || go_job;
      StSecond: emit = step;
      StThird: emit = move;
      StPayload: begin
        emit = payload;
        last = left_q == beats_t'(1) || failed;
        bad  = failed;
      end
      StControl: begin
        emit = move;
        last = 1'b1;
      end
      default: ;
    endcase
  end

  // One of many, each gated by itself: two share a LUT of four inputs.
  function automatic beat_t gate(logic open, beat_t value);
    return {64{open}} & value;
  endfunction
  logic second_message, body, stamp;
  beat_t message_data;
  assign second_message = state_q == StSecond && message_q;
  assign body           = state_q == StPayload && message_q;
  assign stamp          = state_q == StPayload && bench_i && stamp_beat_q && !message_q;
  // The header is still at the memory's output, then the body. The memory is far: its data are
  // late.
  assign message_data = {message_data_i[63:32] & {32{second_message || body}},
                         message_data_i[31:8] & {24{body}},
                         (message_data_i[7:0] & {8{body}}) |
                         (message_data_i[15:8] & {8{second_message}})};
  (* keep *) beat_t others;
  assign data   = others | message_data;
  assign others = gate(state_q == StHead && (control_ok || own_ok), control_header) |
                  gate(state_q == StHead && !control_ok && !own_ok && post_valid_q, post_header) |
                  gate(state_q == StHead && !control_ok && !own_ok && !post_valid_q, job_header) |
                  gate(state_q == StSecond && !message_q, job_q.address) |
                  {job_q.extension[63:32] & {32{state_q == StThird}},
                   job_q.extension[31:0] & {32{state_q == StThird || stamp}}} |
                  gate(state_q == StPayload && !message_q && !bench_i, data_i) |
                  gate(state_q == StControl && !own_q,
                       {15'd0, control.stored, control.pending, control.count, control.tag,
                        control.code, control.control}) |
                  gate(state_q == StControl && own_q, {60'd0, own_control_q});

  logic  control_take;
  flow_t control_flow;
  assign control_take = go_control || go_own;
  assign control_flow = control_ok ? control_to : own_to;
  // The next one is looked for 2 cycles later: the accounts know of this one by then.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) control_take_q <= 1'b0;
    else control_take_q <= control_take;
  end
  assign control_take_o = '{valid: control_take_q, flow: write_beat_o.flow};
  // If one of them goes: that is known late.
  assign flow_d = control_ok || own_ok ? control_flow : post_valid_q ? post_q.flow : job_q.flow;
  assign link   = state_q != StHead ? link_q : control_ok || own_ok ? control_link_i
                : post_valid_q ? post_link_q : plan_link_i;
  assign plan_ready_o    = go_job;
  assign control_ready_o = state_q == StControl && move && !own_q;
  assign own_ready_o     = go_own;

  // The body's beats: each is read as the one before it is taken. Behind a header of one beat the
  // first beat is read until the header goes: there is no other reader.
  logic message_next;
  assign message_read_o.re   = (state_q == StHead && post_valid_q && post_q.bare) ||
                          (message_q && payload) || (second_message && step);
  assign message_next   = (go_message && post_q.bare) || (message_q && payload) ||
                          (second_message && step);
  assign message_read_o.addr = {post_q.flow, place_q};
  assign message_busy_o = post_valid_q;  // rdma_send asks for no header meanwhile

  assign post_done = payload && message_q && last;
  assign part_done = (pop && !message_q && left_q == beats_t'(1));
  assign job_done  = part_done && job_last;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q      <= StHead;
      post_valid_q <= 1'b0;
      job_valid_q  <= 1'b0;
      job_done_o   <= 1'b0;
      begun_q      <= 1'b0;
      announced_q  <= 1'b0;
    end else begin
      announced_q <= early || early_next;
      job_done_o  <= job_done;
      begun_q     <= go_message || go_job;
      if (post_i.valid) post_valid_q <= 1'b1;
      else if (post_done) post_valid_q <= 1'b0;
      if (job_ready_o) job_valid_q <= job_valid_i;
      unique case (state_q)
        StHead: begin
          if (go_control || go_own) state_q <= StControl;
          else if (go_message) state_q <= post_q.bare ? StPayload : StSecond;
          else if (go_job) state_q <= StSecond;
        end
        StSecond: if (step) state_q <= (!message_q && job_q.extended) ? StThird : StPayload;
        StThird:  if (move) state_q <= StPayload;
        StPayload: begin
          if (payload && left_q == beats_t'(1)) state_q <= StHead;
          else if (failed) state_q <= StSkip;
        end
        StSkip:  if (pop && left_q == beats_t'(1)) state_q <= StHead;
        default: if (move) state_q <= StHead;
      endcase
    end
  end

  always_ff @(posedge clk_i) begin
    if (state_q == StHead) begin
      message_q <= post_valid_q;
      own_q     <= !control_ok;
      own_control_q <= own_i.control.control;
      link_q    <= link;
      flow_q    <= flow_d;
      left_q    <= post_valid_q ? post_q.header.beats : job_packet;
    end else if (payload || pop) begin
      left_q <= left_q - beats_t'(1);
    end
    // The stamps of the benchmark mode are in payload beat 1.
    first_beat_q <= state_q != StPayload || (first_beat_q && !payload);
    stamp_beat_q <= state_q == StPayload && (payload ? first_beat_q : stamp_beat_q);

    if (post_i.valid) begin
      post_q      <= post_i.post;
      post_link_q <= post_link_i;
      place_q     <= post_i.post.place + 8'd1;
    end else if (message_next) begin
      place_q <= place_q + 8'd1;
    end
    if (job_ready_o) begin
      job_q <= job_i;
    end else if (part_done) begin
      job_q.seq           <= job_q.seq + 16'd1;
      job_q.beats         <= job_q.beats - 10'(PacketBeats);
      job_q.address[63:9] <= job_q.address[63:9] + 55'd1;
    end
  end
  // Its header is what is written in this cycle.
  assign begun_o = '{valid: begun_q, flow: write_beat_o.flow, seq: write_beat_o.data[15:0]};

  // ---------------------------------------------------------------- towards the VOQs
  // A VOQ waits for its link's clock alone, and never long.
  assign move        = voq_ready_i == '1;
  logic [NumLinks-1:0] write;
  flow_t               write_flow;
  assign write       = emit ? NumLinks'(1) << link : '0;
  assign write_flow  = state_q == StHead ? flow_d : flow_q;
  assign voq_valid_o = early                      ? NumLinks'(1) << post_link_i
                     : announced_q && !early_next ? '0 : write;
  assign voq_o.flow  = early ? post_i.post.flow : write_flow;
  assign voq_o.last  = early_next ? post_q.bare && post_q.header.beats == beats_t'(1) : last;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) write_o <= '0;
    else write_o <= write;
  end
  always_ff @(posedge clk_i) begin
    write_beat_o.flow <= write_flow;
    write_beat_o.last <= last;
    write_beat_o.bad  <= bad;
    write_beat_o.data <= data;
  end

  // ---------------------------------------------------------------- reads that failed
  logic        error_valid_q;
  flow_t       error_flow_q;
  tag_t        error_tag_q;
  logic [11:0] error_more_q;
  assign error_o = '{valid: error_valid_q, flow: error_flow_q, tag: error_tag_q,
                     more: error_more_q};
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      error_valid_q <= 1'b0;
      error_more_q  <= '0;
    end else if (!error_valid_q || error_ready_i) begin
      error_valid_q <= failed;
      error_more_q  <= '0;
    end else if (failed && error_more_q != '1) begin
      error_more_q <= error_more_q + 12'd1;
    end
  end
  always_ff @(posedge clk_i) begin
    if (!error_valid_q || error_ready_i) begin
      error_flow_q <= job_q.flow;
      error_tag_q  <= job_q.tag;
    end
  end

  assign idle_o = state_q == StHead && !control_ok && !own_ok && !post_valid_q && !job_ok &&
                  write_o == '0 && !post_i.valid && !begun_q && !(job_valid_i && job_ready_o) &&
                  !job_done_o && !control_take_q && !(error_valid_q && error_ready_i);
endmodule
