// SPDX-License-Identifier: SHL-2.1
/// From a port to memory: nanet_queue -> queued_*, listed_* -> nanet_stream, with the counters of
/// both. What lies between, a search or only wires, is outside.
///
///   Handshake   arrival_i is never stalled; queued_*, listed_* valid/ready; answer_i, request_o,
///               response_i, data_o and full_i as in nanet_stream
///   Ordering    datagrams in their order
///   Latency     as nanet_queue and nanet_stream
///   Throughput  as nanet_stream
///   Counters    a datagram or frame is counted once, at the hop where its way ended; a count
///               follows its event by 2 cycles
///   Parameters  as nanet_queue and nanet_stream
///   Not done    the port
module nanet_lane
  import nanet_pkg::*;
#(
  parameter int unsigned DataWidth = 128,
  parameter int unsigned WordWidth = 32,
  parameter int unsigned Depth     = 256,
  parameter int unsigned Stores    = 0,
  parameter logic [7:0]  ListId    = 8'd0,
  parameter bit          Ask       = 1'b0
) (
  input logic        clk_i,
  input logic        rst_ni,
  input logic [63:0] time_cycles_i,  // cycles of clk_i since time zero
  input list_t       list_i,         // from the registers, as nanet_stream
  input logic        table_we_i,     // strobe: buffer table_index_i becomes table_i
  input logic [5:0]  table_index_i,  // 0..63
  input buffer_t     table_i,        // its place and its bytes

  input  arrival_t             arrival_i,
  output beat_t                queued_o,
  output logic [DataWidth-1:0] queued_data_o,
  input  logic                 queued_ready_i,
  input  beat_t                listed_i,
  input  logic [DataWidth-1:0] listed_data_i,
  output logic                 listed_ready_o,
  input  logic                 answer_i,  // the address of its buffer is known
  output list_request_t        request_o,
  input  list_response_t       response_i,
  output logic [DataWidth-1:0] data_o,
  input  logic                 full_i,

  output steps_t                    steps_o,       // for probes
  output logic [15:0]               filled_o,      // buffers announced, modulo 2^16
  output nanet_ctrl_pkg::counters_t counters_o,    // they wrap
  output logic                      queue_idle_o,  // the queue and the way into it are empty
  output logic                      idle_o         // of the list
);
  localparam int unsigned UsageW = $clog2(Depth) + 2;
  logic queued_valid, head_lost;
  entry_e queued_kind;
  logic [UsageW-1:0] usage, ends;

  nanet_queue #(
    .DataWidth(DataWidth),
    .WordWidth(WordWidth),
    .Depth    (Depth),
    .Stores   (Stores)
  ) u_queue (
    .clk_i,
    .rst_ni,
    .in_valid_i  (arrival_i.valid),
    .in_i        (arrival_i.entry),
    .beat_valid_o(queued_valid),
    .beat_ready_i(queued_ready_i),
    .beat_kind_o (queued_kind),
    .beat_o      (queued_data_o),
    .usage_o     (usage),
    .ends_o      (ends),
    .head_lost_o (head_lost),
    .first_o     (steps_o.first),
    .last_o      (steps_o.last),
    .idle_o      (queue_idle_o)
  );
  assign queued_o = '{
      valid: queued_valid, kind: queued_kind, usage: 16'(usage), ends: 16'(ends)
  };

  logic [15:0] no_event, overwritten;
  logic [31:0] delivered;
  losses_t losses;

  nanet_stream #(
    .DataWidth(DataWidth),
    .UsageW   (UsageW),
    .ListId   (ListId),
    .Ask      (Ask)
  ) u_stream (
    .clk_i,
    .rst_ni,
    .time_cycles_i,
    .list_i,
    .table_we_i,
    .table_index_i,
    .table_i,
    .beat_valid_i  (listed_i.valid),
    .beat_ready_o  (listed_ready_o),
    .beat_kind_i   (listed_i.kind),
    .beat_i        (listed_data_i),
    .usage_i       (listed_i.usage[UsageW-1:0]),
    .ends_i        (listed_i.ends[UsageW-1:0]),
    .head_lost_i   (head_lost),
    .ask_valid_o   (steps_o.ask),
    .answer_valid_i(answer_i),
    .request_o,
    .response_i,
    .data_o,
    .full_i,
    .begun_o       (steps_o.begun),
    .filled_o,
    .losses_o      (losses),
    .delivered_o   (delivered),
    .no_event_o    (no_event),
    .overwritten_o (overwritten),
    .number_o      (steps_o.number),
    .idle_o
  );
  assign steps_o.written = request_o.event_valid && response_i.event_ready;

  logic [4:0] losses_q;
  logic [4:0][15:0] lost_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      losses_q <= '0;
      lost_q   <= '0;
    end else begin
      losses_q <= {losses.bad, losses.too_long, losses.no_buffer, losses.closed, losses.overflow};
      for (int unsigned k = 0; k < 5; k++) lost_q[k] <= lost_q[k] + 16'(losses_q[k]);
    end
  end
  assign counters_o = '{
      frames_good: arrival_i.frames.good,
      frames_bad: arrival_i.frames.bad,
      frames_other: arrival_i.frames.other,
      echo_lost: arrival_i.frames.echo_lost,
      overflow: lost_q[0],
      closed: lost_q[1],
      no_buffer: lost_q[2],
      too_long: lost_q[3],
      bad: lost_q[4],
      no_event: no_event,
      overwritten: overwritten,
      delivered: delivered
  };

  logic unused;
  assign unused = ^{losses.no_event, listed_i.usage >> UsageW, listed_i.ends >> UsageW};
endmodule
