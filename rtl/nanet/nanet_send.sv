// SPDX-License-Identifier: SHL-2.1
/// Sends a program's datagrams: posts in, reads of the send memory, heads and payload to a port, an
/// event for each.
///
/// post -> fifo -> check -> axi_read_engine -> departure_o; events in the order of posts
///
///   Handshake   send_i.post_we is never stalled: a post that finds 16 waiting is dropped and
///               counted as full. departure_o as nanet_pkg says; event_* valid/ready, withdrawn
///               while full_i or with enable_i low; ar_* and r_* AXI4 reads of one ID
///   Ordering    posts, heads, payload and events in one order
///   Bounds      a datagram longer than MaxPayload, that leaves the send memory or whose peer is
///               not set is refused before anything of it is read: no read leaves the send memory
///                                                       (proved: formal/nanet/nanet_send.sby)
///   Completion  an event when the last byte has been read: the program may use the place again.
///               While full_i it waits. Refused ones have one too, with the reason
///   Latency     post_we to arvalid_o 5 cycles; rvalid_i to departure_o 0
///   Throughput  a post in 2 cycles; reads of up to 8 datagrams under way, as far as the port's
///               buffer has room
///   Restart     while enable_i is low posts are dropped; what was begun ends, without an event
///   Parameters  DataWidth 64..512; Depth of the port's buffer in beats, of SendBytes
///   Not done    payload that begins at other places than multiples of 64 bytes; translation
module nanet_send
  import nanet_pkg::*;
#(
  parameter  int unsigned DataWidth = 128,
  parameter  int unsigned Depth     = SendBytes / (DataWidth / 8)
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,
  /* verilator lint_off UNUSEDSIGNAL */  // an event has 63 bits of the time
  input  logic [63:0]          time_cycles_i,  // cycles of clk_i since time zero
  /* verilator lint_on UNUSEDSIGNAL */
  input  logic                 enable_i,
  input  send_t                send_i,

  output departure_t           departure_o,
  output eth_pkg::udp_meta_t   meta_o,  // with departure_o.head_valid
  output logic [DataWidth-1:0] data_o,  // with departure_o.beat_valid; byte 0 first
  /* verilator lint_off UNUSEDSIGNAL */  // the count of spoiled frames goes to the registers
  input  departed_t            departed_i,  // room of the port's buffer
  /* verilator lint_on UNUSEDSIGNAL */

  output logic                 event_valid_o,
  input  logic                 event_ready_i,
  output event_t               event_o,
  input  logic                 full_i,

  output logic                 arvalid_o,
  input  logic                 arready_i,  // arvalid_o and ar_o are held until then
  output axi_pkg::address_t    ar_o,
  input  logic                 rvalid_i,
  output logic                 rready_o,  // takes a beat
  input  logic [DataWidth-1:0] rdata_i,   // byte n in bits 8n+7:8n
  input  logic [1:0]           rresp_i,   // 2, 3: the datagram gets a wrong FCS
  input  logic                 rlast_i,   // the last beat of its burst

  output logic [15:0]          sent_o,     // datagrams, modulo 2^16
  output logic [15:0]          refused_o,  // posts, modulo 2^16
  output logic [15:0]          lost_o,     // posts that found no room
  output logic                 idle_o      // nothing changes until an input does
);
  localparam int unsigned Posts    = 16;
  localparam int unsigned UnderWay = 8;
  localparam int unsigned Burst    = 256;  // bytes of a read
  localparam int unsigned RoomW    = $clog2(Depth) + 1;

  if (Depth < 32 * 64 / (DataWidth / 8)) begin : gen_depth_check
    $error("nanet_send: Depth is %0d, at least %0d", Depth, 32 * 64 / (DataWidth / 8));
  end

  // ---------------------------------------------------------------- posts
  logic  post_ready, post_valid, post_take;
  post_t post;
  fifo #(
    .Width($bits(post_t)),
    .Depth(Posts)
  ) u_posts (
    .clk_i,
    .rst_ni,
    .clear_i(!enable_i),
    .valid_i(send_i.post_we && enable_i),
    .ready_o(post_ready),
    .data_i (send_i.post),
    .valid_o(post_valid),
    .ready_i(post_take),
    .data_o (post),
    .usage_o()
  );

  peer_t peers[16];
  logic [15:0] known_q;  // a peer never set is not valid, whatever its memory holds
  always_ff @(posedge clk_i) begin
    if (send_i.peer_we) peers[send_i.peer_index] <= send_i.peer;
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) known_q <= '0;
    else if (send_i.peer_we) known_q[send_i.peer_index] <= send_i.peer.valid;
  end

  // ---------------------------------------------------------------- check
  // What is under way of a datagram, from its check to its event.
  typedef struct packed {
    send_refusal_e refusal;
    post_t         post;
    logic [31:0]   ip;
    logic [15:0]   port;
  } sending_t;

  logic          check_q, fits, go, cmd_valid, cmd_ready, empty, under_ready;
  post_t         post_q;
  peer_t         peer_q;
  logic [63:0]   addr_q;
  logic [17:0]   until_q;  // behind the datagram, in units of 64 bytes
  logic [31:0]   sequence_q;
  send_refusal_e refusal;

  assign post_take = post_valid && (!check_q || go);
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) check_q <= 1'b0;
    else if (post_take) check_q <= 1'b1;
    else if (go) check_q <= 1'b0;
  end
  always_ff @(posedge clk_i) begin
    if (post_take) begin
      post_q       <= post;
      peer_q       <= peers[post.peer];
      peer_q.valid <= known_q[post.peer];
      addr_q       <= {send_i.base + 58'(post.offset), 6'd0};
      until_q      <= 18'(post.offset) + ((18'(post.bytes) + 18'd63) >> 6);
    end
  end

  assign fits = until_q <= 18'(send_i.blocks);
  always_comb begin
    refusal = SendTaken;
    if (post_q.bytes > 11'(MaxPayload)) refusal = SendLong;
    else if (!fits) refusal = SendOutside;
    else if (!peer_q.valid) refusal = SendPeer;
  end

  // A datagram's head, its read and its place among those under way are taken together.
  assign empty     = post_q.bytes == '0;
  assign cmd_valid = check_q && refusal == SendTaken && !empty && under_ready &&
                     departed_i.head_ready;
  assign go        = check_q && under_ready &&
                     (refusal != SendTaken || (departed_i.head_ready && (empty || cmd_ready)));
  assign meta_o    = '{
      mac: peer_q.mac, ip: peer_q.ip, port: peer_q.port, len: 16'(post_q.bytes),
      tag: sequence_q[7:0]
  };
  assign departure_o.head_valid = go && refusal == SendTaken;

  // ---------------------------------------------------------------- reads
  logic beat, last, bad, engine_idle;
  axi_read_engine #(
    .DataWidth (DataWidth),
    .Granule   (1),
    .BurstBytes(Burst),
    .MaxBytes  (MaxCommand),
    .MaxBursts (16),
    .TagWidth  (1),
    .Reserve   (1'b1),
    .RoomW     (RoomW)
  ) u_read (
    .clk_i,
    .rst_ni,
    .cmd_valid_i (cmd_valid),
    .cmd_ready_o (cmd_ready),
    .cmd_addr_i  (addr_q),
    .cmd_bytes_i (CommandW'(post_q.bytes)),
    .cmd_tag_i   (1'b0),
    .stop_i      (1'b0),
    .room_i      (RoomW'(Depth) - departed_i.used[RoomW-1:0]),
    .data_valid_o(beat),
    .data_ready_i(1'b1),
    .data_o,
    .data_keep_o (),
    .data_begin_o(),
    .data_last_o (last),
    .data_error_o(bad),
    .data_tag_o  (),
    .arvalid_o,
    .arready_i,
    .ar_o,
    .rvalid_i,
    .rready_o,
    .rdata_i,
    .rresp_i,
    .rlast_i,
    .idle_o      (engine_idle)
  );
  assign departure_o.beat_valid = beat;
  assign departure_o.last       = last;
  assign departure_o.bad        = bad;

  // ---------------------------------------------------------------- events
  sending_t sending;
  logic under_idle, read_bad, over, done;
  nanet_ends #(
    .Width   ($bits(sending_t)),
    .UnderWay(UnderWay)
  ) u_ends (
    .clk_i,
    .rst_ni,
    .begin_valid_i(go),
    .begin_ready_o(under_ready),
    .begin_i      ({refusal, post_q, peer_q.ip, peer_q.port}),
    .beat_i       (beat),
    .beat_bad_i   (bad),
    .beat_end_i   (last),
    .end_o        (over),
    .end_ready_i  (done),
    .head_o       (sending),
    .head_read_i  (sending.refusal == SendTaken && sending.post.bytes != '0),
    .head_bad_o   (read_bad),
    .idle_o       (under_idle)
  );
  assign event_valid_o = over && enable_i && !full_i;
  assign done = over && (!enable_i || (event_valid_o && event_ready_i));
  assign event_o = '{
      cycles: time_cycles_i[62:0],
      lost: 32'(lost_o),
      datagrams: 16'(sending.refusal == SendTaken),
      port: sending.port,
      ip: sending.ip,
      sequence_: sequence_q,
      bytes: 32'(sending.post.bytes),
      index: sending.post.offset,
      list: SendList,
      reserved: 7'(sending.refusal),
      error: read_bad
  };

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      sequence_q <= '0;
      sent_o     <= '0;
      refused_o  <= '0;
      lost_o     <= '0;
    end else begin
      // Of events; it distinguishes them, as the order does.
      if (!enable_i) sequence_q <= '0;
      else if (done) sequence_q <= sequence_q + 32'd1;
      if (done && sending.refusal == SendTaken) sent_o <= sent_o + 16'd1;
      if (done && sending.refusal != SendTaken) refused_o <= refused_o + 16'd1;
      if (send_i.post_we && enable_i && !post_ready) lost_o <= lost_o + 16'd1;
    end
  end

  assign idle_o = !send_i.post_we && !send_i.peer_we && !post_valid && !check_q && under_idle &&
                  engine_idle;
endmodule
