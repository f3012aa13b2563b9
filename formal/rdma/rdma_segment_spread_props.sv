// SPDX-License-Identifier: SHL-2.1
/// rdma_segment and rdma_spread together, and what they owe the VOQs: a packet has the beats that
/// its header says, two at least, or ends earlier as bad, and its first beat is good; each
/// announced beat is written a cycle later, with EarlyPosts in one of two, to its queue, in order.
/// Control packets of a destination never take more than their part of its VOQs, and the
/// interface's own never the last place of it.
///
/// What is granted has a length, as rdma_send gives it; when it is granted, which links are up,
/// what data comes and when the VOQs take a beat is arbitrary. One destination is watched for its
/// control packets: they leave, in any way that is possible.
module rdma_segment_spread_props
  import rdma_pkg::*;
  import rdma_tx_pkg::*;
#(
  parameter  bit          EarlyPosts = 1'b0,
  localparam int unsigned NumLinks   = 2
) (
  input logic                clk_i,
  input host_t               host_id_i,
  input logic                bench_i,
  input logic [NumLinks-1:0] up_i,
  input control_packet_t     control_i,
  input control_packet_t     own_i,
  input message_grant_t      post_i,
  input logic                post_link_i,
  input beat_t               message_data_i,
  input logic                job_valid_i,
  input job_t                job_i,
  input logic                plan_valid_i,
  input logic                plan_link_i,
  input logic                data_coming_i,
  input logic                data_valid_i,
  input beat_t               data_i,
  input logic                data_bad_i,
  input logic [NumLinks-1:0] voq_ready_i,
  input logic                error_ready_i,
  input logic                leaves_i
);
  localparam flow_t Watch = 3'd5;

  logic rst_ni, control_ready_o, own_ready_o, message_free_o, message_busy_o;
  logic job_ready_o, plan_ready_o, data_ready_o, job_done_o, idle_o;
  logic control_link_i;
  flow_event_t control_take_o;
  begun_t begun_o;
  announce_t voq_o;
  voq_beat_t write_beat_o;
  read_error_t error_o;
  queue_read_t message_read_o;
  logic [NumLinks-1:0] voq_valid_o, write_o;
  control_room_t room_i;
  rdma_segment #(.NumLinks(NumLinks), .EarlyPosts(EarlyPosts)) dut (.*);

  room_t [NumLinks-1:0] used;
  logic link;
  rdma_spread #(.NumLinks(NumLinks)) u_spread (
    .clk_i,
    .rst_ni,
    .clear_i            (1'b0),
    .clear_flow_i       ('0),
    .flow_i             ('0),
    .mask_i             ('1),
    .used_o             (used),
    .link_o             (link),
    .take_i             (1'b0),
    .beats_i            ('0),
    .gone_i             (1'b0),
    .gone_link_i        ('0),
    .gone_flow_i        ('0),
    .gone_beats_i       ('0),
    .up_i,
    .control_room_o     (room_i.ctl),
    .own_room_o         (room_i.own),
    .control_link_o     (control_link_i),
    .control_take_i     (control_take_o.valid),
    .control_flow_i     (control_take_o.flow),
    .control_gone_i     (leaves_i),
    .control_gone_flow_i(Watch)
  );

  logic started_q = 1'b0;
  always_ff @(posedge clk_i) started_q <= 1'b1;
  assign rst_ni = started_q;

  // States, by number: the proof's reader knows no names of another module.
  localparam logic [2:0] StHead    = 3'd0;
  localparam logic [2:0] StSecond  = 3'd1;
  localparam logic [2:0] StThird   = 3'd2;
  localparam logic [2:0] StPayload = 3'd3;
  localparam logic [2:0] StSkip    = 3'd4;
  localparam logic [2:0] StControl = 3'd5;

  // ---------------------------------------------------------------- packets
  // Beats that rdma_voq reports as left (its `leaving`), which rdma_spread counts.
  function automatic logic [7:0] beats_of(header_t header);
    return 8'(header.beats) + (header.kind == KindShort ? 8'd1 : header.extended ? 8'd3 : 8'd2);
  endfunction

  logic        open_q;   // a packet is in progress
  logic [7:0]  sent_q;   // its beats so far
  header_t     head_q, head;
  logic        bench_q;
  assign head = open_q ? head_q : header_t'(dut.data);
  always_ff @(posedge clk_i) begin
    bench_q <= bench_i;
    if (!rst_ni) begin
      open_q <= 1'b0;
      sent_q <= '0;
    end else if (dut.emit) begin
      open_q <= !dut.last;
      sent_q <= dut.last ? '0 : sent_q + 8'd1;
      if (!open_q) head_q <= header_t'(dut.data);
    end
  end

  // ---------------------------------------------------------------- announced and not written
  typedef struct packed {
    logic                valid;
    logic [NumLinks-1:0] link;
    flow_t               flow;
    logic                last;
  } announced_t;
  announced_t now, one_q, two_q, due;  // announced a cycle ago, and two
  assign now = '{valid: voq_valid_o != '0 && voq_ready_i == '1, link: voq_valid_o, flow: voq_o.flow,
                 last: voq_o.last};
  assign due = two_q.valid ? two_q : one_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      one_q <= '0;
      two_q <= '0;
    end else begin
      one_q <= now;
      two_q <= write_o != '0 && !two_q.valid ? '0 : one_q;
    end
  end

  // ------------------------------------------------ control packets of the watched destination
  logic [2:0] inside_q;
  logic       begins, begins_own;
  assign begins     = (dut.go_control || dut.go_own) && dut.control_flow == Watch;
  assign begins_own = dut.go_own && dut.control_flow == Watch;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) inside_q <= '0;
    else inside_q <= inside_q + 3'(begins) - 3'(leaves_i);
  end

  logic message_beats_ok;  // what is granted as a message has a payload of 1 to 64 beats
  message_t posted;
  logic [6:0] posted_body;
  assign posted           = post_i.post.header;
  assign posted_body      = posted.beats - 7'({posted.extended, posted.write && !posted.extended});
  assign message_beats_ok = posted.beats <= 7'd66 && posted_body >= 7'd1 && posted_body <= 7'd64;

  logic extended;
  assign extended = !dut.message_q && dut.job_q.extended;

  always_comb begin
    if (started_q) begin
      assume (bench_i == bench_q);
      // As rdma_send grants: one at a time, with a length; a write with its data has a bare header.
      if (post_i.valid) begin
        assume (message_free_o && message_beats_ok);
        assume (!posted.extended || posted.write);
        assume (!posted.write || post_i.post.bare);
      end
      if (job_valid_i) assume (job_i.beats >= 10'd1 && job_i.beats <= 10'd512);
      // Of the watched destination leaves what is there, a cycle after it began at the earliest.
      if (leaves_i) assume (inside_q != '0);
    end
    if (started_q) begin
      // A packet has the beats that its header says, or ends earlier as bad. It has two or more,
      // the first good.
      if (dut.emit) begin
        if (dut.last && !dut.bad) assert (sent_q + 8'd1 == beats_of(head));
        if (dut.bad) assert (dut.last && sent_q + 8'd1 <= beats_of(head));
        if (!open_q) assert (!dut.last && !dut.bad);
        assert (beats_of(head) <= 8'(MaxBeats));
      end
      // Beats are announced to one link, written in order, one or (EarlyPosts) two cycles later.
      if (voq_valid_o != '0) assert ($onehot(voq_valid_o));
      if (two_q.valid) assert (write_o != '0 && EarlyPosts);
      if (write_o != '0) begin
        assert (due.valid && due.link == write_o && due.flow == write_beat_o.flow &&
                due.last == write_beat_o.last);
      end else if (!EarlyPosts) begin
        assert (!one_q.valid);
      end
      // Control packets have their part of the VOQs, and the interface's own leave the last place.
      assert (inside_q <= 3'(ControlPackets));
      if (begins) assert (inside_q < 3'(ControlPackets));
      if (begins_own) assert (inside_q < 3'(ControlPackets - 1));

      // Inductive strengthening.
      assert (dut.state_q <= StControl);
      assert (open_q == (dut.state_q != StHead && dut.state_q != StSkip));
      if (dut.post_valid_q) begin
        assert (dut.post_q.header.beats <= 7'd66);
        assert (7'(dut.post_q.header.beats - dut.posted_address) >= 7'd1 &&
                7'(dut.post_q.header.beats - dut.posted_address) <= 7'd64);
        assert (!dut.post_q.header.extended || dut.post_q.header.write);
        assert (!dut.post_q.header.write || dut.post_q.bare);
      end
      if (dut.job_valid_q) assert (dut.job_q.beats >= 10'd1 && dut.job_q.beats <= 10'd512);
      if (dut.state_q inside {StSecond, StThird, StPayload, StSkip}) begin
        assert (dut.message_q ? dut.post_valid_q : dut.job_valid_q);
        assert (dut.left_q != '0 && dut.left_q <= 7'd66);
      end
      if (open_q) begin
        assert (beats_of(head_q) <= 8'(MaxBeats) && sent_q <= 8'(MaxBeats));
      end
      if (dut.state_q == StSecond) begin
        assert (sent_q == 8'd1 && beats_of(head_q) == 8'd2 + 8'(extended) + 8'(dut.left_q));
        if (dut.message_q) assert (!dut.post_q.bare);
      end
      if (dut.state_q == StThird) begin
        assert (sent_q == 8'd2 && extended && beats_of(head_q) == 8'd3 + 8'(dut.left_q));
      end
      if (dut.state_q == StPayload) begin
        assert (sent_q != '0 && beats_of(head_q) == sent_q + 8'(dut.left_q));
      end
      if (dut.state_q == StControl) assert (sent_q == 8'd1 && beats_of(head_q) == 8'd2);
      if (dut.state_q == StHead || dut.state_q == StSkip) assert (sent_q == '0);
      // The accounts know of a control packet a cycle after it began; none begins meanwhile.
      if (control_take_o.valid) assert (dut.state_q == StControl);
      assert (inside_q == 3'(u_spread.control_q[Watch]) +
                          3'(control_take_o.valid && control_take_o.flow == Watch));
      if (room_i.ctl[Watch]) assert (u_spread.control_q[Watch] < 2'(ControlPackets));
      if (room_i.own[Watch]) assert (u_spread.control_q[Watch] < 2'(ControlPackets - 1));
      // What was announced ahead is a message's first two beats.
      if (!EarlyPosts) assert (!dut.announced_q && !two_q.valid);
      if (dut.announced_q) begin
        assert (dut.post_valid_q && one_q.valid && !one_q.last == !(dut.state_q == StPayload &&
                dut.left_q == 7'd1));
        assert (one_q.flow == (dut.state_q == StHead ? dut.post_q.flow : dut.flow_q));
        assert (one_q.link ==
                NumLinks'(1) << (dut.state_q == StHead ? dut.post_link_q : dut.link_q));
        assert (dut.state_q == StHead || (dut.message_q && sent_q == 8'd1));
      end
      assert (2'(one_q.valid) + 2'(two_q.valid) == 2'(write_o != '0) + 2'(dut.announced_q));

      cover (dut.emit && dut.last && sent_q == 8'd3 && head.kind == KindMessage);
      cover (dut.emit && dut.bad);
      cover (inside_q == 3'(ControlPackets));
      cover (begins_own && inside_q == '0);
      cover (EarlyPosts ? two_q.valid : one_q.valid);
    end
  end
endmodule
