// SPDX-License-Identifier: SHL-2.1
/// Flows at the receiving half: which packets are taken, what follows from them, and what is
/// acknowledged.
///
/// rdma_resequencer decides about packets and retires them in order; rdma_flush reads a place back
/// before what was written is acknowledged; rdma_ack sends the control packets that are owed.
///
///   Handshake   ask_*, info_*, refused_*, answer_*, control_*, act_*: as rdma_resequencer.
///               flush_*: as rdma_flush, flushed_i: strobe. late_i: a refusal after the packet
///               was retired. ctl_o: held until ctl_ready_i, to a host whose ctl_room_i is
///               set
///   Ordering    a number is acknowledged as stored after the flush behind its write
///   Latency     ask to verdict 3 cycles when nothing else is to be done; else as the three modules
///   Throughput  a packet in 9 cycles
///   Start       clear_o with clear_index_o for 512 cycles after reset, then ready_o
///   Parameters  NumHosts 2..8
///   Not done    writes and notifications: act_o asks for them
module rdma_flow_rx
  import rdma_pkg::*;
  import rdma_rx_pkg::*;
#(
  parameter int unsigned NumHosts = 8
) (
  input  logic            clk_i,
  input  logic            rst_ni,
  input  logic            enable_i,
  input  host_t           host_id_i,
  input  logic [31:0]     lost_cycles_i,
  output logic            ready_o,
  output logic            clear_o,
  output logic [8:0]      clear_index_o,

  input  logic            ask_valid_i,
  output logic            ask_ready_o,
  input  ask_t            ask_i,
  output verdict_t        verdict_o,
  input  info_write_t     info_i,
  input  refuse_t         refused_i,
  output logic            refused_ready_o,
  input  control_ask_t    control_i,
  output logic            control_ready_o,

  input  logic            answer_valid_i,
  output logic            answer_ready_o,
  input  answer_t         answer_i,
  output logic            frame_o,
  output logic            frames_o,
  output logic            act_valid_o,
  input  logic            act_ready_i,
  input  logic            act_owes_i,
  output act_t            act_o,

  input  logic            posted_i,        // every write that was made is answered
  output logic            flush_valid_o,
  input  logic            flush_ready_i,
  input  flushed_t        flushed_i,
  input  refusal_event_t  late_i,
  output control_packet_t ctl_o,
  input  logic            ctl_ready_i,
  input  logic [7:0]      ctl_room_i,

  output flow_events_t    events_o,        // strobes for counters
  output logic            idle_o
);
  logic [NumHosts-1:0] ack_due, flush_due, begin_session, ack;
  flow_t view_src;
  flow_number_t number;
  flow_view_t view;
  seq_t view_stored;
  deny_t deny;
  refusal_event_t refuse;
  logic flows_idle, flush_idle, ack_idle;

  rdma_resequencer #(.NumHosts(NumHosts)) u_flows (
    .clk_i,
    .rst_ni,
    .enable_i,
    .lost_cycles_i,
    .ready_o,
    .clear_o,
    .clear_index_o,
    .ask_valid_i,
    .ask_ready_o,
    .ask_i,
    .verdict_o,
    .info_i,
    .refused_i,
    .refused_ready_o,
    .answer_valid_i,
    .answer_ready_o,
    .answer_i,
    .control_i,
    .control_ready_o,
    .frame_o,
    .frames_o,
    .act_valid_o,
    .act_ready_i,
    .act_owes_i,
    .act_o,
    .ack_o     (ack_due),
    .flush_o   (flush_due),
    .begin_o   (begin_session),
    .number_o  (number),
    .deny_o    (deny),
    .refuse_o  (refuse),
    .view_src_i(view_src),
    .view_o    (view),
    .events_o,
    .idle_o    (flows_idle)
  );

  rdma_flush #(.NumHosts(NumHosts)) u_flush (
    .clk_i,
    .rst_ni,
    .enable_i,
    .ack_i        (ack_due),
    .flush_i      (flush_due),
    .begin_i      (begin_session),
    .src_i        (number.src),
    .number_i     (number.number),
    .answered_i   (posted_i),
    .read_valid_o (flush_valid_o),
    .read_ready_i (flush_ready_i),
    .read_done_i  (flushed_i.done),
    .read_failed_i(flushed_i.failed),
    .ack_o        (ack),
    .view_src_i   (view_src),
    .view_stored_o(view_stored),
    .idle_o       (flush_idle)
  );

  rdma_ack #(.NumHosts(NumHosts)) u_ack (
    .clk_i,
    .rst_ni,
    .host_id_i,
    .ack_i         (ack),
    .deny_i        (deny.valid),
    .deny_src_i    (deny.src),
    .deny_session_i(deny.session),
    .deny_open_i   (deny.open),
    .refuse_i      (refuse.valid),
    .refusal_i     (refuse.refusal),
    .late_i        (late_i.valid),
    .late_refusal_i(late_i.refusal),
    .view_src_o    (view_src),
    .view_number_i (view.number),
    .view_stored_i (view_stored),
    .view_session_i(view.session),
    .view_open_i   (view.open),
    .ctl_valid_o   (ctl_o.valid),
    .ctl_ready_i,
    .ctl_room_i,
    .ctl_header_o  (ctl_o.header),
    .ctl_o         (ctl_o.control),
    .idle_o        (ack_idle)
  );

  assign idle_o = flows_idle && flush_idle && ack_idle;
endmodule
