// SPDX-License-Identifier: SHL-2.1
/// The virtual output queues of all links, with their accounts.
///
/// rdma_spread counts what each queue holds and names the link of a packet; rdma_voq, one for each
/// link, holds the packets and sends them; rdma_departures puts what has left in order and gives it
/// back.
///
///   Handshake   packet_i: strobe, a packet of flow_i goes to link_o, which is among mask_i.
///               give_i: held until ready, of flow_i, as rdma_departures. voq_*, write_*: as
///               rdma_voq, valid one-hot. control_i: strobe, a control packet was written. freed_o,
///               moved_o: strobes. local_o: held until local_ready_i
///   Ordering    as rdma_voq on each link; between links none
///   Latency     from a packet's first valid_i to tx_valid_o as rdma_voq; from its end to moved_o,
///               by rdma_departures, 4 cycles and the crossing into clk_i
///   Throughput  a beat a cycle of clk_i in, a word a cycle of link_clk_i out on each link
///   Parameters  NumHosts 2..8, NumLinks 1..4, MaxLinkWords and RoomLag as rdma_voq
///   Not done    the check of room: rdma_send makes it
module rdma_voqs
  import rdma_pkg::*;
  import rdma_tx_pkg::*;
  import link_pkg::*;
#(
  parameter  int unsigned NumHosts     = 8,
  parameter  int unsigned NumLinks     = 1,
  parameter  int unsigned MaxLinkWords = rdma_pkg::MaxWords,
  parameter  int unsigned RoomLag      = 1,
  localparam int unsigned LinkWidth = NumLinks > 1 ? $clog2(NumLinks) : 1
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,
  input  logic                  link_clk_i,
  input  logic                  link_rst_ni,
  input  clear_t                clear_i,
  input  logic [NumLinks-1:0]   enabled_up_i,     // links for new packets
  input  logic [NumLinks-1:0]   link_enable_i,    // low: a link's packets are dropped

  input  flow_t                 flow_i,           // whose room and packets are shown and recorded
  input  logic [NumLinks-1:0]   mask_i,
  output room_t [NumLinks-1:0]  used_o,
  output logic [LinkWidth-1:0]  link_o,
  output logic [6:0]            left_o,           // first number that has not left, modulo 128
  input  packet_grant_t         packet_i,
  input  give_t                 give_i,
  output logic                  give_ready_o,

  output control_room_t         control_room_o,
  output logic [LinkWidth-1:0]  control_link_o,
  input  flow_event_t           control_i,

  input  logic [NumLinks-1:0]   voq_valid_i,
  output logic [NumLinks-1:0]   voq_ready_o,
  input  announce_t             voq_i,
  input  logic [NumLinks-1:0]   write_i,
  input  voq_beat_t             write_beat_i,

  output freed_t                freed_o,
  output logic                  moved_o,          // strobe: a granted packet is accounted as left
  input  flow_event_t           acked_i,          // numbers of a flow were acknowledged
  input  flow_event_t           failed_i,         // or its session has ended
  output logic [MaxHosts-1:0]   stir_o,           // strobes: so, or room or left_o has changed
  output local_report_t         local_o,
  input  logic                  local_ready_i,

  // Link's clock.
  input  logic                  bench_i,
  input  logic [31:0]           link_stamp_i,
  input  logic [NumLinks-1:0]   up_i,
  input  count_t [NumLinks-1:0][NumHosts-1:0] room_i,
  output logic [NumLinks-1:0]   tx_valid_o,
  input  logic [NumLinks-1:0]   tx_ready_i,
  output flit_t [NumLinks-1:0]  tx_flit_o,
  output sent_t [NumLinks-1:0]  sent_o,
  output logic                  settled_o,        // everything that has left is accounted
  output logic                  idle_o            // and nothing changes until an input does
);
  // ---------------------------------------------------------------- accounts
  logic gone, control_gone;
  logic [LinkWidth-1:0] gone_link;
  flow_t gone_flow, moved_flow;
  beats_t gone_beats;
  logic [MaxHosts-1:0] control_room, own_room;

  rdma_spread #(
    .NumLinks(NumLinks)
  ) u_spread (
    .clk_i,
    .rst_ni,
    .clear_i            (clear_i.valid),
    .clear_flow_i       (clear_i.index[2:0]),
    .flow_i,
    .mask_i,
    .used_o,
    .link_o,
    .take_i             (packet_i.valid),
    .beats_i            (packet_i.beats),
    .gone_i             (gone),
    .gone_link_i        (gone_link),
    .gone_flow_i        (gone_flow),
    .gone_beats_i       (gone_beats),
    .up_i               (enabled_up_i),
    .control_room_o     (control_room),
    .own_room_o         (own_room),
    .control_link_o,
    .control_take_i     (control_i.valid),
    .control_flow_i     (control_i.flow),
    .control_gone_i     (control_gone),
    .control_gone_flow_i(gone_flow)
  );

  // Nothing goes to hosts that do not exist.
  localparam logic [MaxHosts-1:0] Present = MaxHosts'((1 << NumHosts) - 1);
  assign control_room_o.ctl = control_room & Present;
  assign control_room_o.own = own_room & Present;

  // ---------------------------------------------------------------- queues
  logic [NumLinks-1:0] departure_valid, departure_ready, voq_idle;
  departure_t [NumLinks-1:0] departure;

  for (genvar l = 0; l < int'(NumLinks); l++) begin : gen_voq
    rdma_voq #(
      .NumHosts    (NumHosts),
      .Beats       (voq_beats(NumLinks)),
      .MaxLinkWords(MaxLinkWords),
      .RoomLag     (RoomLag)
    ) u_voq (
      .clk_i,
      .rst_ni,
      .link_clk_i,
      .link_rst_ni,
      .valid_i          (voq_valid_i[l]),
      .ready_o          (voq_ready_o[l]),
      .announce_i       (voq_i),
      .write_i          (write_i[l]),
      .beat_i           (write_beat_i),
      .departure_valid_o(departure_valid[l]),
      .departure_ready_i(departure_ready[l]),
      .departure_o      (departure[l]),
      .bench_i,
      .stamp_i          (link_stamp_i),
      .enable_i         (link_enable_i[l]),
      .up_i             (up_i[l]),
      .room_i           (room_i[l]),
      .tx_valid_o       (tx_valid_o[l]),
      .tx_ready_i       (tx_ready_i[l]),
      .tx_flit_o        (tx_flit_o[l]),
      .sent_o           (sent_o[l]),
      .idle_o           (voq_idle[l])
    );
  end

  // ---------------------------------------------------------------- what has left
  logic [15:0] freed_count;
  rdma_departures #(
    .NumLinks(NumLinks)
  ) u_departures (
    .clk_i,
    .rst_ni,
    .clear_i          (clear_i.valid),
    .clear_addr_i     (clear_i.index),
    .departure_valid_i(departure_valid),
    .departure_ready_o(departure_ready),
    .departure_i      (departure),
    .record_i         (packet_i.valid),
    .record_flow_i    (flow_i),
    .record_seq_i     (packet_i.seq),
    .record_return_i  (packet_i.back),
    .give_valid_i     (give_i.valid),
    .give_ready_o,
    .give_flow_i      (flow_i),
    .give_return_i    (give_i.back),
    .flow_i,
    .next_o           (left_o),
    .gone_o           (gone),
    .gone_link_o      (gone_link),
    .gone_flow_o      (gone_flow),
    .gone_beats_o     (gone_beats),
    .control_gone_o   (control_gone),
    .freed_o          (freed_o.valid),
    .freed_message_o  (freed_o.message),
    .freed_flow_o     (freed_o.flow),
    .freed_count_o    (freed_count),
    .moved_o,
    .moved_flow_o     (moved_flow),
    .local_valid_o    (local_o.valid),
    .local_ready_i,
    .local_flow_o     (local_o.flow),
    .local_message_o  (local_o.message),
    .local_count_o    (local_o.count),
    .idle_o           (settled_o)
  );
  assign freed_o.count = freed_count[8:0];
  logic unused;
  assign unused = ^freed_count[15:9];

  always_comb begin
    stir_o = '0;
    if (gone) stir_o[gone_flow] = 1'b1;
    if (moved_o) stir_o[moved_flow] = 1'b1;
    if (acked_i.valid) stir_o[acked_i.flow] = 1'b1;
    if (failed_i.valid) stir_o[failed_i.flow] = 1'b1;
  end

  assign idle_o = settled_o && voq_idle == '1;
endmodule
