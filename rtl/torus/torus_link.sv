// SPDX-License-Identifier: SHL-2.1
/// One end of a link between two routers of a torus: a router's port to lanes of 8b/10b words.
///
/// tx_* -> torus_link_tx -> link_bundle -> tx_o; rx_i -> link_bundle -> torus_link_rx -> rx_*. A
/// channel of the router is an id of the link. See torus.md, Over a link.
///
///   Handshake   tx_*, rx_*: the router's, never stalled, a credit for each flit. tx_freed_o counts
///               places of the buffer here, rx_freed_i those of the router, which the link's own
///               credits protect: no second buffer is behind the link
///   Framing     chunks, each of one packet: a word a flit, and two more. A packet of n flits that
///               waits for nothing takes n + 2 ceil(n / MaxWords) words of all lanes
///   Deadlock    none by the link: a channel without a flit or without room ends its chunk and
///               leaves the line to the other (proved: formal/torus/torus_link_tx.sby)
///   Losses      nothing is sent again. A wrong word costs its packet, and one that hits a Sop also
///               the next packet of the channel. What has left of a packet ends with a poisoned
///               tail: a flit of ones, so the packet's own CRC is wrong at its end. No flit of two
///               packets is in one. Counted: status_torn_o, status_gaps_o
///   Link down   packets are taken, dropped and counted (status_dropped_o), before the first up_o
///               too; those that were open behind it end with a poisoned tail. What is on the line
///               when it goes down is lost; only the open ones of it are counted
///   Latency     a flit at tx_* to its word at tx_o 2 cycles, idle link; the latest lane's rx_i to
///               rx_* 4, if a word follows it
///   Throughput  a word of all lanes a cycle each way, less framing, an ALIGN in AlignWords + 1,
///               and credits of the other way, one in CreditWords flits at most while it is full.
///               Full rate on one channel needs a Depth that covers the round trip
///   Parameters  Lanes 1..8 of 32 bits, in step; Depth of the buffers, here and at both routers, a
///               power of two, 4..512; MaxWords of a chunk, below Depth; MaxSkew, AlignWords and
///               InitWords as link_bundle; both ends the same
///   Not done    a repeat of what was lost; a way around a link that is down; idle_o
module torus_link
  import link_pkg::*;
  import torus_pkg::NumVcs;
#(
  parameter  int unsigned Lanes       = 4,
  parameter  int unsigned Depth       = 128,
  parameter  int unsigned MaxWords    = Depth > 260 ? 258 : Depth - 1,
  parameter  int unsigned MaxSkew     = 8,
  parameter  int unsigned AlignWords  = 512,
  parameter  int unsigned InitWords   = 2048,
  parameter  int unsigned CreditWords = Depth / 4,
  localparam int unsigned Width       = 32 * Lanes
) (
  input  logic               clk_i,
  input  logic               rst_ni,
  input  logic [Lanes-1:0]   signal_i,    // the lane's transceiver has lock
  input  word_t [Lanes-1:0]  rx_i,        // words from the lanes; late by MaxSkew at most
  output word_t [Lanes-1:0]  tx_o,        // words to the lanes, of one instant
  output logic               up_o,        // level: both ends are ready
  input  logic               tx_valid_i,  // tx_*: the router's output
  input  logic               tx_vc_i,     // its virtual channel
  input  logic               tx_head_i,   // first flit of a packet
  input  logic               tx_tail_i,   // last one
  input  logic [Width-1:0]   tx_data_i,
  output logic [NumVcs-1:0] tx_freed_o,  // strobe: a credit of the channel back
  output logic               rx_valid_o,  // rx_*: the router's input
  output logic               rx_vc_o,
  output logic               rx_head_o,
  output logic               rx_tail_o,
  output logic [Width-1:0]   rx_data_o,
  input  logic [NumVcs-1:0] rx_freed_i,
  // Counters, 32 bits, wrapping.
  output logic [31:0]        status_dropped_o,  // packets from the router, the link being down
  output logic [31:0]        status_torn_o,     // packets from the lanes that ended bad
  output logic [31:0]        status_gaps_o,     // chunks before which words were missing
  output logic [31:0]        status_invalid_o,  // invalid words, and words outside packets
  output logic [15:0]        status_refused_o,  // words without a place: the far end was wrong
  output logic [15:0]        status_downs_o     // the link went down
);
  if (Depth < 4 || Depth > DepthMax) begin : gen_depth_check
    $error("torus_link: Depth is %0d, legal is 4..%0d", Depth, DepthMax);
  end
  if (MaxWords < 1 || MaxWords >= Depth) begin : gen_max_words_check
    $error("torus_link: MaxWords is %0d, legal is 1..%0d", MaxWords, Depth - 1);
  end

  logic up, rx_valid, crc_bad, poisoned, invalid, cut, credit_bad, link_dropped, lost, late;
  logic aligned, valid, ready, torn, gap, refused;
  logic [NumVcs-1:0] dropped;
  // A flit of the link: its kind, and 32 bits a lane.
  logic [Width+1:0] rx_flit, tx_flit;
  id_t rx_id;
  count_t [NumVcs-1:0] stored, room;
  assign up_o = up;

  torus_link_tx #(
    .Lanes   (Lanes),
    .Depth   (Depth),
    .MaxWords(MaxWords)
  ) u_tx (
    .clk_i,
    .rst_ni,
    .up_i        (up),
    .room_i      (room),
    .flit_valid_i(tx_valid_i),
    .flit_vc_i   (tx_vc_i),
    .flit_tail_i (tx_tail_i),
    .flit_data_i (tx_data_i),
    .freed_o     (tx_freed_o),
    .dropped_o   (dropped),
    .tx_valid_o  (valid),
    .tx_ready_i  (ready),
    .tx_flit_o   (tx_flit)
  );

  link_bundle #(
    .Lanes         (Lanes),
    .MaxSkew       (MaxSkew),
    .AlignWords    (AlignWords),
    .NumRxIds      (NumVcs),
    .NumTxIds      (NumVcs),
    .TxDepth       (Depth),
    .MaxWords      (MaxWords),
    .CreditInPacket(1'b1),
    .CreditWords   (CreditWords),
    .InitWords     (InitWords)
  ) u_link (
    .clk_i,
    .rst_ni,
    .signal_i,
    .rx_i,
    .tx_o,
    .bench_i     (1'b0),
    .up_o        (up),
    .aligned_o   (aligned),
    .rx_valid_o  (rx_valid),
    .rx_flit_o   (rx_flit),
    .rx_id_o     (rx_id),
    .stored_i    (stored),
    .room_o      (room),
    .tx_valid_i  (valid),
    .tx_ready_o  (ready),
    .tx_flit_i   (tx_flit),
    .crc_bad_o   (crc_bad),
    .poisoned_o  (poisoned),
    .invalid_o   (invalid),
    .cut_o       (cut),
    .credit_bad_o(credit_bad),
    .dropped_o   (link_dropped),
    .lost_o      (lost),
    .late_o      (late)
  );

  torus_link_rx #(
    .Lanes(Lanes),
    .Depth(Depth)
  ) u_rx (
    .clk_i,
    .rst_ni,
    .up_i        (up),
    .rx_valid_i  (rx_valid),
    .rx_flit_i   (rx_flit),
    .rx_id_i     (rx_id),
    .crc_bad_i   (crc_bad),
    .poisoned_i  (poisoned),
    .flit_valid_o(rx_valid_o),
    .flit_vc_o   (rx_vc_o),
    .flit_head_o (rx_head_o),
    .flit_tail_o (rx_tail_o),
    .flit_data_o (rx_data_o),
    .freed_i     (rx_freed_i),
    .stored_o    (stored),
    .torn_o      (torn),
    .gap_o       (gap),
    .refused_o   (refused)
  );

  logic up_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      up_q             <= 1'b0;
      status_dropped_o <= '0;
      status_torn_o    <= '0;
      status_gaps_o    <= '0;
      status_invalid_o <= '0;
      status_refused_o <= '0;
      status_downs_o   <= '0;
    end else begin
      up_q <= up;
      status_dropped_o <= status_dropped_o + 32'(dropped[0]) + 32'(dropped[1]);
      if (torn) status_torn_o <= status_torn_o + 32'd1;
      if (gap) status_gaps_o <= status_gaps_o + 32'd1;
      if (invalid) status_invalid_o <= status_invalid_o + 32'd1;
      if (refused) status_refused_o <= status_refused_o + 16'd1;
      if (up_q && !up) status_downs_o <= status_downs_o + 16'd1;
    end
  end

  // The router's packets are what the far end takes them for: a head follows a tail.
  logic [NumVcs-1:0] open_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) open_q <= '0;
    else if (tx_valid_i) open_q[tx_vc_i] <= !tx_tail_i;
  end
  prim_assert u_head (
    .clk_i,
    .rst_ni,
    .ok_i(!tx_valid_i || tx_head_i == !open_q[tx_vc_i])
  );

  logic unused;
  assign unused = &{1'b0, cut, credit_bad, link_dropped, lost, late, aligned};
endmodule
