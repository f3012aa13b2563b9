// SPDX-License-Identifier: SHL-2.1
/// Puts the messages of other nodes into a circular list of buffers, as nanet_lane does datagrams:
/// one nanet_stream, with its table of buffers, its policies and its counters.
///
/// apenet_receive -> block_fifo -> nanet_stream -> nanet_memory
///
///   Handshake   message_i: one head, its data, one end; valid/ready, heads and data while ready_o,
///               an end always: a place is kept for it (proved: formal/apenet/apenet_list.sby).
///               request_o, response_i, data_o and full_i as nanet_stream
///   Ordering    messages in their order, and their events
///   Bounds      as nanet_stream: nothing is written outside a buffer of the table
///   Full        list_i.policy counts. While hold waits for a buffer, or for the event queue, the
///               queue here fills and ready_o falls: nothing is lost, the network waits
///   Counters    each message is counted once, at the hop where its way ended
///   Latency     2 cycles more than nanet_stream
///   Throughput  a beat a cycle in; out as nanet_stream
///   Parameters  DataWidth 128..512; Depth of the queue in beats, a power of two, 8..4096
///   Not done    more than one list; messages of several packets
module apenet_list
  import apenet_pkg::*;
  import nanet_pkg::*;
#(
  parameter int unsigned DataWidth = 256,
  parameter int unsigned Depth     = 8192 / (DataWidth / 8)
) (
  input  logic                      clk_i,
  input  logic                      rst_ni,
  input  logic [63:0]               time_cycles_i,  // cycles of clk_i since time zero
  input  list_t                     list_i,
  input  logic                      table_we_i,  // strobe: buffer table_index_i is set to table_i
  input  logic [5:0]                table_index_i,  // 0..63
  input  buffer_t                   table_i,  // bits of it: buffer_t of nanet_ctrl_pkg

  input  message_t                  message_i,
  input  logic [DataWidth-1:0]      beat_i,  // of message_i, in the same cycle
  output logic                      ready_o,

  output list_request_t             request_o,
  input  list_response_t            response_i,
  output logic [DataWidth-1:0]      data_o,
  input  logic                      full_i,

  output logic [15:0]               filled_o,     // buffers announced, modulo 2^16
  output nanet_ctrl_pkg::counters_t counters_o,   // of messages; they wrap
  output step_t                     announced_o,  // with the low bits of the last message's number
  output logic                      idle_o        // nothing changes until an input does
);
  localparam int unsigned UsageW = $clog2(Depth) + 2;

  if (Depth < 8 || Depth > 4096 || (Depth & (Depth - 1)) != 0) begin : gen_depth_check
    $error("apenet_list: Depth is %0d, legal are powers of two, 8 to 4096", Depth);
  end

  // ---------------------------------------------------------------- queue
  logic room, valid, put, take, put_end, take_end;
  entry_e kind;
  logic [DataWidth-1:0] beat;
  logic [UsageW-1:0] usage_q, ends_q;
  block_fifo #(
    .Width(DataWidth + 2),
    .Depth(Depth)
  ) u_queue (
    .clk_i,
    .rst_ni,
    .valid_i(put),
    .ready_o(room),
    .data_i ({message_i.kind, beat_i}),
    .valid_o(valid),
    .ready_i(take),
    .data_o ({kind, beat})
  );
  // The place that is kept: no other message begins before this one's end is in the queue.
  assign ready_o  = usage_q < UsageW'(Depth - 1);
  assign put      = message_i.valid && (ready_o || message_i.kind == EntryEnd);
  assign put_end  = put && message_i.kind == EntryEnd;
  assign take_end = take && valid && kind == EntryEnd;
  prim_assert u_room (.clk_i, .rst_ni, .ok_i(!put || room));
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      usage_q <= '0;
      ends_q  <= '0;
    end else begin
      if (put != (take && valid)) usage_q <= put ? usage_q + 1'b1 : usage_q - 1'b1;
      if (put_end != take_end) ends_q <= put_end ? ends_q + 1'b1 : ends_q - 1'b1;
    end
  end

  // ---------------------------------------------------------------- list
  losses_t losses;
  logic [15:0] no_event, overwritten;
  logic [31:0] delivered;
  logic [5:0]  unused_number;
  logic unused_ask, unused_begun, stream_idle;
  nanet_stream #(
    .DataWidth(DataWidth),
    .UsageW   (UsageW),
    .ListId   (8'd0)
  ) u_stream (
    .clk_i,
    .rst_ni,
    .time_cycles_i,
    .list_i,
    .table_we_i,
    .table_index_i,
    .table_i,
    .beat_valid_i  (valid),
    .beat_ready_o  (take),
    .beat_kind_i   (kind),
    .beat_i        (beat),
    .usage_i       (usage_q),
    .ends_i        (ends_q),
    .head_lost_i   (1'b0),
    .ask_valid_o   (unused_ask),
    .answer_valid_i(1'b1),
    .request_o,
    .response_i,
    .data_o,
    .full_i,
    .begun_o       (unused_begun),
    .filled_o,
    .losses_o      (losses),
    .delivered_o   (delivered),
    .no_event_o    (no_event),
    .overwritten_o (overwritten),
    .number_o      (unused_number),
    .idle_o        (stream_idle)
  );

  // ---------------------------------------------------------------- counters
  // A register between the queue's output and the counters.
  logic [3:0] losses_q;
  logic [3:0][15:0] lost_q;
  logic [15:0] came_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      losses_q <= '0;
      lost_q   <= '0;
      came_q   <= '0;
    end else begin
      losses_q <= {losses.bad, losses.too_long, losses.no_buffer, losses.closed};
      for (int unsigned k = 0; k < 4; k++) lost_q[k] <= lost_q[k] + 16'(losses_q[k]);
      if (put && message_i.kind == EntryHead) came_q <= came_q + 16'd1;
    end
  end
  assign counters_o = '{
      frames_good: came_q,
      closed: lost_q[0],
      no_buffer: lost_q[1],
      too_long: lost_q[2],
      bad: lost_q[3],
      no_event: no_event,
      overwritten: overwritten,
      delivered: delivered,
      default: '0
  };
  assign announced_o = '{
      strobe: request_o.event_valid && response_i.event_ready && !full_i,
      tag: request_o.event_.ip[7:0]
  };
  assign idle_o = !message_i.valid && !valid && usage_q == '0 && losses_q == '0 && stream_idle;

  logic unused;
  assign unused = ^{losses.overflow, losses.no_event, unused_number, unused_ask, unused_begun};
endmodule
