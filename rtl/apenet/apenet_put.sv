// SPDX-License-Identifier: SHL-2.1
/// Puts a program's memory into that of another node: posts in, reads of the put memory, packets of
/// a torus out, an event for each. Asks other nodes for theirs, and answers them.
///
/// post, get -> fifo -> check -> cut -> axi_read_engine -> block_fifo -> apenet_frames
///
///   Handshake   put_i.post_we is never stalled: a post that finds 16 waiting is dropped and
///               counted as full. flit_* leave with a credit, of which there are Credits; freed_i
///               gives one back. event_* valid/ready; ar_* and r_* AXI4 reads of one ID
///   Ordering    posts, packets and events in one order; gets of others in turn with posts
///   Gets        a post with `get` leaves as a packet of header and footer; what comes is announced
///               by apenet_receive. A get of another node is answered as a put is sent, without an
///               event: with the key of the put memory and inside it. Else it is refused by a
///               packet that says why, before anything is read
///   Lists       a put to a target that is a list is one packet of at most 4 KiB
///   Carried     a put that brings its payload, of at most 64 bytes, is not read: its one packet
///               takes it out of its slot of apenet_inline (slot_o, at_o, a clock later payload_i)
///   Packets     end where a page of 4 KiB of the remote memory does: each is written by commands
///               inside one page. One begins when its first beat has come
///   Bounds      a put without bytes, that leaves the put memory or whose target is not set is
///               refused before anything of it is read: no read leaves the put memory
///                                                        (proved: formal/apenet/apenet_put.sby)
///   Errors      a packet with a beat that memory answered with an error has a wrong CRC
///   Completion  an event when the last byte has been read: the program may use the place again.
///               While full_i it waits. Refused ones have one too, with the reason (apenet_done)
///   Latency     post_we to arvalid_o 5 cycles; rvalid_i to the header 2
///   Throughput  a flit a cycle; 2 of each packet are header and footer
///   Restart     while enable_i is low posts are dropped; what was begun ends, without an event.
///               Puts begin at number 0 again, gets do not: a late answer fits no later one
///   Parameters  DataWidth 128..512; Depth in beats, a power of two; Credits of the router, 2..1024
///   Not done    places that are not multiples of 64 bytes; translation of what is read
module apenet_put
  import apenet_pkg::*;
#(
  parameter  int unsigned DataWidth = 256,
  parameter  int unsigned Depth     = 8192 / (DataWidth / 8),
  parameter  int unsigned Credits   = 64
) (
  input  logic                     clk_i,
  input  logic                     rst_ni,
  /* verilator lint_off UNUSEDSIGNAL */  // an event has 63 bits of the time
  input  logic [63:0]              time_cycles_i,  // cycles of clk_i since time zero
  /* verilator lint_on UNUSEDSIGNAL */
  input  logic                     enable_i,
  input  nanet_ctrl_pkg::put_t     put_i,
  output logic                     room_o,  // for a post
  input  torus_pkg::place_t        here_i,  // this node's coordinates; constant
  input  logic                     get_valid_i,  // a strobe: another node asks
  input  get_t                     get_i,        // with get_valid_i
  output asked_t                   open_o,  // a get leaves: it may be answered
  output logic [CarriedW-1:0]         slot_o,
  output logic [1:0]               at_o,
  input  logic [FlitWidth-1:0]     payload_i,
  output logic                     flit_valid_o,
  output logic                     flit_head_o,
  output logic                     flit_tail_o,
  output logic [FlitWidth-1:0]     flit_o,
  input  logic                     freed_i,
  output logic                     event_valid_o,
  input  logic                     event_ready_i,
  output nanet_pkg::event_t        event_o,
  input  logic                     full_i,
  output logic                     arvalid_o,
  input  logic                     arready_i,  // ar_* and arvalid_o are held until then
  output axi_pkg::address_t        ar_o,
  input  logic                     rvalid_i,
  input  logic [DataWidth-1:0]     rdata_i,  // byte n in bits 8n+7:8n
  input  logic [1:0]               rresp_i,  // 2, 3: the packet gets a wrong CRC
  input  logic                     rlast_i,  // the last beat of its burst
  output nanet_ctrl_pkg::put_done_t done_o,   // counters, which wrap
  output logic [31:0]              asked_o,   // number of the next get
  output step_t                    posted_o,  // the read of its first packet is asked for
  output step_t                    sent_o,    // its first header leaves
  output logic                     idle_o     // nothing changes until an input does
);
  localparam int unsigned UnderWay  = 8;
  localparam int unsigned Burst     = 512;  // bytes of a read: a bus that splits it says so
  localparam int unsigned DataBytes = DataWidth / 8;
  localparam int unsigned RoomW     = $clog2(Depth) + 1;

  if (DataWidth != 128 && DataWidth != 256 && DataWidth != 512) begin : gen_width_check
    $error("apenet_put: DataWidth is %0d, legal are 128, 256 and 512", DataWidth);
  end
  if (Depth < 4 * Burst / DataBytes || (Depth & (Depth - 1)) != 0) begin : gen_depth_check
    $error("apenet_put: Depth is %0d, legal are powers of two from %0d on", Depth,
           4 * Burst / DataBytes);
  end

  // ---------------------------------------------------------------- posts
  logic post_valid, post_take;
  nanet_ctrl_pkg::put_post_t post;
  fifo #(
    .Width($bits(nanet_ctrl_pkg::put_post_t)),
    .Depth(MaxPosts)
  ) u_posts (
    .clk_i,
    .rst_ni,
    .clear_i(!enable_i),
    .valid_i(put_i.post_we && enable_i),
    .ready_o(room_o),
    .data_i (put_i.post),
    .valid_o(post_valid),
    .ready_i(post_take),
    .data_o (post),
    .usage_o()
  );

  logic get_valid, get_take, turn_q;
  logic [15:0] lost;
  get_t get;
  apenet_gets u_gets (
    .clk_i,
    .rst_ni,
    .enable_i,
    .request_valid_i(get_valid_i),
    .request_i      (get_i),
    .get_valid_o    (get_valid),
    .get_ready_i    (get_take),
    .get_o          (get),
    .lost_o         (lost)
  );

  nanet_ctrl_pkg::target_t targets[16];
  logic [15:0] known_q;  // a target never set is not valid, whatever its memory holds
  always_ff @(posedge clk_i) if (put_i.target_we) targets[put_i.target_index] <= put_i.target;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) known_q <= '0;
    else if (put_i.target_we) known_q[put_i.target_index] <= put_i.target.valid;
  end

  // ---------------------------------------------------------------- check
  typedef enum logic [1:0] {
    StIdle,
    StCheck,
    StCut,
    StBare   // a packet of header and footer: what is asked for, or why it is refused
  } state_e;
  state_e                    state_q;
  nanet_ctrl_pkg::put_post_t post_q;
  nanet_ctrl_pkg::target_t   target_q;
  logic                      first_q;
  logic [63:0]               addr_q;
  logic [17:0]               until_q;   // behind the put, in units of 64 bytes
  logic [47:0]               remote_q;
  logic [PutW-1:0]           left_q;
  logic [NumberW-1:0]        number_q;
  logic [31:0]               put_q;     // number of the next put
  logic [31:0]               gets_q;    // and of the next get
  logic [31:0]               job_q;     // of the present one
  logic                      answer_q;
  logic [41:0]               place;     // in the target
  logic [LengthW-1:0]        to_page, bytes;
  logic [PutW-1:0]           most;      // of a put
  logic                      fits, last, refused, able, cut, bare;
  logic                      cmd_ready, head_ready, under_ready;
  refusal_e                  refusal, refusal_q;

  assign get_take  = state_q == StIdle && get_valid && (turn_q || !post_valid);
  assign post_take = state_q == StIdle && post_valid && !get_take && enable_i;
  assign place     = target_q.base + 42'(post_q.remote);
  assign fits      = until_q <= 18'(put_i.blocks);
  // A message is one packet.
  assign most      = post_q.carried ? PutW'(MaxCarried) :
                     target_q.list ? PutW'(MaxPayload) : PutW'(1 << (PutW - 1));
  always_comb begin
    refusal = PutTaken;
    if (post_q.bytes == '0 || post_q.bytes > most) refusal = PutEmpty;
    else if (post_q.get ? place[41:16] != '0 : !fits && !post_q.carried) refusal = PutOutside;
    else if (!target_q.valid || (target_q.list && post_q.get)) refusal = PutTarget;
  end
  assign refused = state_q == StCheck && refusal != PutTaken && !answer_q;
  assign bare    = state_q == StBare && head_ready;

  assign open_o = '{valid: state_q == StCheck && post_q.get && refusal == PutTaken && enable_i,
                    node: target_q.place, number: job_q, key: put_i.land_key,
                    land: post_q.offset, bytes: post_q.bytes};

  // A packet ends where a page of the remote memory does.
  assign to_page = LengthW'(MaxPayload) - LengthW'(remote_q[11:0]);
  assign last    = left_q <= PutW'(to_page);
  assign bytes   = last ? LengthW'(left_q) : to_page;
  // A packet's header, its read and, with the first one, its put's place are taken together.
  assign able    = state_q == StCut && head_ready && (!first_q || under_ready);
  assign cut     = able && (cmd_ready || post_q.carried);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= StIdle;
      turn_q  <= 1'b0;
      put_q   <= '0;
      gets_q  <= '0;
    end else begin
      unique case (state_q)
        StIdle:  if (post_take || get_take) state_q <= StCheck;
        StCheck: begin
          if (refused) begin
            if (under_ready) state_q <= StIdle;
          end else begin
            state_q <= post_q.get || refusal != PutTaken ? StBare : StCut;
          end
        end
        StCut:   if (cut && last) state_q <= StIdle;
        default: if (bare) state_q <= StIdle;  // StBare
      endcase
      if (post_take || get_take) turn_q <= post_take;
      if (!enable_i && idle_o) put_q <= '0;
      else if (cut && last && !answer_q) put_q <= put_q + 32'd1;
      if (post_take && post.get) gets_q <= gets_q + 32'd1;
    end
  end
  always_ff @(posedge clk_i) begin
    if (post_take) begin
      post_q         <= post;
      target_q       <= targets[post.target];
      target_q.valid <= known_q[post.target];
      addr_q         <= {put_i.base + 58'(post.offset), 6'd0};
      until_q        <= 18'(post.offset) + 18'((24'(post.bytes) + 24'd63) >> 6);
      left_q         <= post.bytes;
      answer_q       <= 1'b0;
      job_q          <= post.get ? gets_q : put_q;
    end
    if (get_take) begin
      post_q   <= '{carried: 1'b0, get: 1'b0, target: '0, bytes: get.bytes, remote: '0,
                    offset: get.wanted.offset};
      target_q <= '{valid: put_i.serves && get.wanted.key == put_i.serve_key, list: 1'b0,
                    place: get.source, key: get.land_key, base: get.land};
      addr_q   <= {put_i.base + 58'(get.wanted.offset), 6'd0};
      until_q  <= 18'(get.wanted.offset) + 18'((24'(get.bytes) + 24'd63) >> 6);
      left_q   <= get.bytes;
      answer_q <= 1'b1;
      job_q    <= get.number;
    end
    if (state_q == StCheck) begin
      remote_q  <= target_q.list ? '0 : {place, 6'd0};
      refusal_q <= refusal;
      number_q  <= '0;
      first_q   <= 1'b1;
    end
    if (cut) begin
      addr_q   <= addr_q + 64'(bytes);
      remote_q <= remote_q + 48'(bytes);
      left_q   <= left_q - PutW'(bytes);
      number_q <= number_q + NumberW'(1);
      first_q  <= 1'b0;
    end
  end

  // ---------------------------------------------------------------- reads
  logic beat, beat_end, bad, engine_idle, frames_idle, all_done, tag;
  logic [DataWidth-1:0] beat_data;
  logic [RoomW-1:0] used_q;
  axi_read_engine #(
    .DataWidth (DataWidth),
    .Granule   (1),
    .BurstBytes(Burst),
    .MaxBytes  (MaxPayload),
    .MaxBursts (32),
    .TagWidth  (1),
    .Reserve   (1'b1),
    .RoomW     (RoomW)
  ) u_read (
    .clk_i,
    .rst_ni,
    .cmd_valid_i (able && !post_q.carried),
    .cmd_ready_o (cmd_ready),
    .cmd_addr_i  (addr_q),
    .cmd_bytes_i (bytes),
    .cmd_tag_i   (last),
    .stop_i      (1'b0),
    .room_i      (RoomW'(Depth) - used_q),
    .data_valid_o(beat),
    .data_ready_i(1'b1),
    .data_o      (beat_data),
    .data_keep_o (),
    .data_begin_o(),
    .data_last_o (beat_end),
    .data_error_o(bad),
    .data_tag_o  (tag),
    .arvalid_o,
    .arready_i,
    .ar_o,
    .rvalid_i,
    .rready_o    (),
    .rdata_i,
    .rresp_i,
    .rlast_i,
    .idle_o      (engine_idle)
  );

  logic stored_ready, stored_valid, stored_bad, pop;
  logic [DataWidth-1:0] stored;
  block_fifo #(
    .Width(DataWidth + 1),
    .Depth(Depth)
  ) u_data (
    .clk_i,
    .rst_ni,
    .valid_i(beat),
    .ready_o(stored_ready),
    .data_i ({bad, beat_data}),
    .valid_o(stored_valid),
    .ready_i(pop),
    .data_o ({stored_bad, stored})
  );
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) used_q <= '0;
    else if (beat != pop) used_q <= beat ? used_q + 1'b1 : used_q - 1'b1;
  end

  // ---------------------------------------------------------------- packets
  // A get says what it asks for in its footer, and where it goes in its header.
  packet_t packet;
  always_comb begin
    packet = '{
        dest: target_q.place, key: target_q.key, bytes: bytes,
        address: answer_q ? {job_q, remote_q[21:6] - target_q.base[15:0]} : remote_q,
        what: answer_q ? KindAnswer : KindPut, first: first_q, last: last, total: post_q.bytes,
        number: 32'(number_q), put: job_q, carried: post_q.carried, slot: CarriedW'(post_q.offset)
    };
    if (target_q.list) begin
      packet.what    = KindMessage;
      packet.address = 48'(job_q);
    end
    if (state_q == StBare) begin
      packet.bytes = '0;
      packet.first = 1'b1;
      packet.last  = 1'b1;
      packet.what  = KindRefused;
      packet.number = 32'(refusal_q);
      if (post_q.get) begin
        packet.what    = KindGet;
        packet.key     = put_i.land_key;
        packet.address = 48'({post_q.offset, 6'd0});
        packet.number  = {target_q.key, remote_q[21:6]};
      end
    end
  end

  apenet_frames #(
    .DataWidth(DataWidth),
    .Credits  (Credits)
  ) u_frames (
    .clk_i,
    .rst_ni,
    .here_i,
    .packet_valid_i(cut || bare),
    .packet_ready_o(head_ready),
    .packet_i      (packet),
    .beat_valid_i  (stored_valid),
    .beat_ready_o  (pop),
    .beat_i        (stored),
    .beat_bad_i    (stored_bad),
    .slot_o,
    .at_o,
    .payload_i,
    .flit_valid_o,
    .flit_head_o,
    .flit_tail_o,
    .flit_o,
    .freed_i,
    .sent_o,
    .idle_o        (frames_idle)
  );

  // ---------------------------------------------------------------- events
  apenet_done #(
    .UnderWay(UnderWay)
  ) u_done (
    .clk_i,
    .rst_ni,
    .time_cycles_i,
    .enable_i,
    .sending_valid_i(refused || (cut && first_q)),
    .sending_ready_o(under_ready),
    .sending_i      ('{refusal: refusal, answer: answer_q, number: job_q, post: post_q}),
    .beat_i         (beat),
    .beat_bad_i     (bad),
    .beat_end_i     (beat_end && tag),
    .full_i,
    .event_valid_o,
    .event_ready_i,
    .event_o,
    .dropped_i      (put_i.post_we && enable_i && !room_o),
    .denied_i       (bare && answer_q),
    .lost_i         (lost),
    .done_o,
    .idle_o         (all_done)
  );
  assign asked_o  = gets_q;
  assign posted_o = '{strobe: !answer_q && (bare || (cut && first_q)), tag: job_q[7:0]};
  assign idle_o   = !put_i.post_we && !put_i.target_we && !post_valid && state_q == StIdle &&
                    !get_valid_i && !get_valid &&
                    all_done && engine_idle && frames_idle && !freed_i;

  logic unused;
  assign unused = ^{put_i.lists, put_i.list_key};

  prim_assert u_stored (.clk_i, .rst_ni, .ok_i(!beat || stored_ready));
endmodule
