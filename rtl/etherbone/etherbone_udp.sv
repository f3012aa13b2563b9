// SPDX-License-Identifier: SHL-2.1
/// Etherbone as a UDP service: frame buffer and structure check, slave engine, reply buffer.
///
///   Dialect     lite_i 0: as published (OHWR). 1: LiteEth's, translated at input and output, in
///               the same cycles; a frame that is no request of the selected dialect is malformed
///   Reply port  reply_port_i; 0: the request's source port
///   Service     the interface of gige_udp: pushed words and a verdict in, complete replies out
///   Order       frames are served and answered in the order of their arrival
///   Latency     verdict (rx_end_i) to tx_valid_o: 3 cycles when the reply's last word is not
///               later; last word pushed to the reply's last word in its buffer: 4 + slave latency
///   Throughput  one word a cycle; a frame without buffer space is dropped and counted, never
///               stalls
///   Admission   see etherbone_pkg: by default reads run while the frame arrives, writes after its
///               verdict; a malformed frame never writes
///   Broadcast   a frame to a broadcast address is answered only if it is a probe. Any other is
///               dropped and counted: its words reach the engine only if it is as short as a probe,
///               and then it is too short to hold an operation
///   Parameters  BufferWords power of two 512..8192, each for requests and replies; Frames power of
///               two 2..64 requests in flight; Timeout as in etherbone_slave
///   Not done    64-bit frames, several ports, both dialects at a time
module etherbone_udp
  import etherbone_pkg::*;
  import eth_pkg::*;
#(
  parameter int unsigned BufferWords = 1024,
  parameter int unsigned Frames = 32,
  parameter admission_e Admission = ReadsEarly,
  parameter int unsigned Timeout = 6_250_000
) (
  input logic clk_i,
  input logic rst_ni,

  input logic        lite_i,
  input logic [15:0] reply_port_i,

  input  logic        rx_start_i,      // strobe: a datagram begins, with rx_meta_i
  input  udp_meta_t   rx_meta_i,       // its sender and length
  input  logic        rx_broadcast_i,  // with rx_start_i: sent to a broadcast address
  input  logic        rx_valid_i,      // a word of payload, never stalled
  input  logic [31:0] rx_data_i,       // the first byte is the highest
  input  logic        rx_end_i,
  input  logic        rx_good_i,    // with rx_end_i: all checks hold
  output logic        rx_refuse_o,  // level: a datagram that begins now is dropped

  output logic        tx_valid_o,
  input  logic        tx_ready_i,  // tx_meta_o and tx_sum_o are held until then
  output udp_meta_t   tx_meta_o,   // where the reply goes to, and its length
  output logic [15:0] tx_sum_o,    // one's-complement sum of its payload
  output logic [31:0] tx_data_o,   // the next word of it, shown ahead
  input  logic        tx_next_i,   // strobe: tx_data_o is used, show the next one

  output logic        wb_cyc_o,  // wb_*: Wishbone B4 pipelined, taken at cyc & stb & ~stall
  output logic        wb_stb_o,
  output logic        wb_we_o,
  output logic [31:0] wb_adr_o,  // of a byte
  output logic [ 3:0] wb_sel_o,
  output logic [31:0] wb_dat_o,
  input  logic        wb_stall_i,
  input  logic        wb_ack_i,  // wb_ack_i, wb_err_i: one for each operation, in order
  input  logic        wb_err_i,
  input  logic [31:0] wb_dat_i,

  input logic [31:0] sdb_address_i,  // bus address of the SDB table; constant, as own_*
  input logic [47:0] own_mac_i,      // read in the configuration space
  input logic [31:0] own_ip_i,       // the first byte is the highest
  input logic [15:0] own_port_i,     // where requests are sent to

  output events_t    events_o,  // strobes
  // Strobes for probes, with the tag of their frame: the engine takes a frame's first word, starts
  // a bus operation; a reply (or the decision against one) is complete.
  output logic       first_word_o,
  output logic       operation_o,
  output logic [7:0] engine_tag_o,
  output logic       whole_o,
  output logic [7:0] whole_tag_o,
  output logic       idle_o
);
  localparam int unsigned IdxW = $clog2(Frames);

  if (Frames < 2 || Frames > 64 || (Frames & (Frames - 1)) != 0) begin : gen_frames_check
    $error("etherbone_udp: Frames is %0d, legal are powers of two 2..64", Frames);
  end

  // ---------------------------------------------------------------- requests
  logic request_valid, last, layout_ok, structure_ok, commit, drop;
  logic [31:0] request_data;
  logic eb_valid, eb_ready, eb_last, eb_verified, eb_open, eb_abort, buffer_empty, overflow;
  logic [31:0] eb_data;

  // Broadcast: the length is known before the first word, and a probe's length has no space for an
  // operation. So no operation starts early, for any Admission; the check of the structure does the
  // rest.
  logic broadcast_q, shut_q, request_push;
  logic [15:0] probe_bytes;
  assign probe_bytes  = lite_i ? 16'd12 : 16'd8;
  assign request_push = request_valid && !shut_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      broadcast_q <= 1'b0;
      shut_q      <= 1'b0;
    end else if (rx_start_i) begin
      broadcast_q <= rx_broadcast_i;
      shut_q      <= rx_broadcast_i && rx_meta_i.len != probe_bytes;
    end
  end

  etherbone_lite_rx u_lite_rx (
    .clk_i,
    .rst_ni,
    .lite_i,
    .start_i(rx_start_i),
    .len_i  (rx_meta_i.len),
    .valid_i(rx_valid_i),
    .data_i (rx_data_i),
    .valid_o(request_valid),
    .data_o (request_data),
    .last_o (last),
    .ok_o   (layout_ok)
  );

  logic records_ok;
  assign structure_ok = layout_ok && records_ok && !shut_q;

  etherbone_frame_check u_check (
    .clk_i,
    .rst_ni,
    .start_i(rx_start_i),
    .probe_only_i(rx_broadcast_i),
    .valid_i(request_valid),
    .data_i (request_data),
    .ok_o   (records_ok)
  );

  // Registered: the stack's verdict is the output of comparators.
  logic end_q, good_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      end_q  <= 1'b0;
      good_q <= 1'b0;
    end else begin
      end_q  <= rx_end_i;
      good_q <= rx_good_i && structure_ok;
    end
  end

  etherbone_frame_buffer #(
    .Width (32),
    .Depth (BufferWords),
    .Frames(Frames)
  ) u_requests (
    .clk_i,
    .rst_ni,
    .push_i    (request_push),
    .data_i    (request_data),
    .last_i    (last),
    .end_i     (end_q),
    .good_i    (good_q),
    .commit_o  (commit),
    .drop_o    (drop),
    .overflow_o(overflow),
    .valid_o   (eb_valid),
    .ready_i   (eb_ready),
    .data_o    (eb_data),
    .last_o    (eb_last),
    .verified_o(eb_verified),
    .open_o    (eb_open),
    .abort_o   (eb_abort),
    .empty_o   (buffer_empty)
  );

  // ---------------------------------------------------------------- requesters
  // One entry per frame, from its start to its reply: written at the start, removed if the frame is
  // dropped unread, else released when the engine's end beat has passed the reply buffer.
  udp_meta_t peers[Frames];
  logic [IdxW:0] peer_wr_q, peer_tx_q, peer_engine_q, peer_whole_q;
  logic reply_valid, reply_ready, reply_commit, frame_done, whole;

  assign rx_refuse_o = (peer_wr_q - peer_tx_q) == (IdxW + 1)'(Frames);

  // The entry to write: a frame may start in the cycle in which the previous one is removed.
  logic [IdxW:0] peer_free;
  assign peer_free = peer_wr_q - (IdxW + 1)'(drop);

  udp_meta_t peer;
  always_comb begin
    peer = rx_meta_i;
    if (reply_port_i != '0) peer.port = reply_port_i;
  end

  always_ff @(posedge clk_i) begin
    if (rx_start_i) peers[peer_free[IdxW-1:0]] <= peer;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      peer_wr_q     <= '0;
      peer_tx_q     <= '0;
      peer_engine_q <= '0;
      peer_whole_q  <= '0;
    end else begin
      peer_wr_q <= peer_free + (IdxW + 1)'(rx_start_i);
      if (reply_valid && reply_ready) peer_tx_q <= peer_tx_q + 1'b1;
      if (frame_done) peer_engine_q <= peer_engine_q + 1'b1;
      if (whole) peer_whole_q <= peer_whole_q + 1'b1;
    end
  end

  // ---------------------------------------------------------------- engine
  logic slot_valid, slot_ready, slot_end, slot_commit, engine_idle, engine_malformed;
  logic [31:0] slot_data;

  etherbone_slave #(
    .Width(32),
    .Depth(16),
    .Stream(1'b0),
    .Admission(Admission),
    .Timeout(Timeout)
  ) u_slave (
    .clk_i,
    .rst_ni,
    .rx_valid_i   (eb_valid),
    .rx_ready_o   (eb_ready),
    .rx_data_i    (eb_data),
    .rx_last_i    (eb_last),
    .rx_verified_i(eb_verified),
    .rx_open_i    (eb_open),
    .rx_abort_i   (eb_abort),
    .tx_valid_o   (slot_valid),
    .tx_ready_i   (slot_ready),
    .tx_data_o    (slot_data),
    .tx_end_o     (slot_end),
    .tx_commit_o  (slot_commit),
    .wb_cyc_o,
    .wb_stb_o,
    .wb_we_o,
    .wb_adr_o,
    .wb_sel_o,
    .wb_dat_o,
    .wb_stall_i,
    .wb_ack_i,
    .wb_err_i,
    .wb_dat_i,
    .sdb_address_i,
    .own_mac_i,
    .own_ip_i,
    .own_port_i,
    .frame_done_o (frame_done),
    .malformed_o  (engine_malformed),
    .record_o     (events_o.record),
    .operation_o,
    .bus_error_o  (events_o.bus_error),
    .timeout_o    (events_o.timeout),
    .idle_o       (engine_idle)
  );

  // ---------------------------------------------------------------- replies
  localparam int unsigned LenW = $clog2(BufferWords) + 1;

  logic replies_empty;
  logic [LenW-1:0] reply_words;

  etherbone_reply_buffer #(
    .Depth  (BufferWords),
    .Replies(Frames)
  ) u_replies (
    .clk_i,
    .rst_ni,
    .lite_i,
    .tx_valid_i (slot_valid),
    .tx_ready_o (slot_ready),
    .tx_data_i  (slot_data),
    .tx_end_i   (slot_end),
    .tx_commit_i(slot_commit),
    .valid_o    (reply_valid),
    .ready_i    (reply_ready),
    .commit_o   (reply_commit),
    .words_o    (reply_words),
    .sum_o      (tx_sum_o),
    .data_o     (tx_data_o),
    .next_i     (tx_next_i),
    .empty_o    (replies_empty)
  );

  assign tx_valid_o  = reply_valid && reply_commit;
  assign reply_ready = tx_ready_i || !reply_commit;
  always_comb begin
    tx_meta_o     = peers[peer_tx_q[IdxW-1:0]];
    tx_meta_o.len = 16'(reply_words) << 2;
  end

  // A frame with a good frame check and a bad structure; the engine only counts frames it began.
  assign events_o.malformed = rx_end_i && rx_good_i && !structure_ok && !broadcast_q;
  assign events_o.broadcast = rx_end_i && rx_good_i && !structure_ok && broadcast_q;
  assign events_o.overflow  = overflow;
  assign idle_o       = buffer_empty && engine_idle && replies_empty && peer_wr_q == peer_tx_q;

  logic begun_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begun_q <= 1'b0;
    else begun_q <= !frame_done && (begun_q || (eb_valid && eb_ready));
  end
  assign first_word_o = eb_valid && eb_ready && !begun_q;
  assign engine_tag_o = peers[peer_engine_q[IdxW-1:0]].tag;
  assign whole        = slot_valid && slot_ready && slot_end;
  assign whole_o      = whole;
  assign whole_tag_o  = peers[peer_whole_q[IdxW-1:0]].tag;

  logic unused;
  assign unused = ^{commit, engine_malformed};
endmodule
