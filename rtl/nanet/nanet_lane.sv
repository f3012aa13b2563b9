// SPDX-License-Identifier: SHL-2.1
/// The list of buffers of a port, with the counters of both: nanet_stream.
///
///   Handshake   beat_*, cmd_*, data_*, done_*, ask_* and event_* as in nanet_stream
///   Ordering    datagrams in their order
///   Latency     as nanet_stream
///   Throughput  as nanet_stream
///   Counters    a datagram or frame is counted once, at the hop where its way ended; a count
///               follows its event by 2 cycles
///   Parameters  as nanet_stream
///   Not done    the port
module nanet_lane
  import nanet_pkg::*;
#(
  parameter  int unsigned DataWidth = 128,
  parameter  int unsigned UsageW    = 10,
  parameter  logic [7:0]  ListId    = 8'd0,
  parameter  bit          Ask       = 1'b0,
  localparam int unsigned BytesW    = $clog2(MaxCommand) + 1
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic [63:0] time_cycles_i,
  input  list_t       list_i,
  input  logic        table_we_i,
  input  logic [5:0]  table_index_i,
  input  buffer_t     table_i,
  input  frames_t     frames_i,              // of its port

  input  logic                 beat_valid_i,
  output logic                 beat_ready_o,
  input  entry_e               beat_kind_i,
  input  logic [DataWidth-1:0] beat_i,
  input  logic [UsageW-1:0]    usage_i,
  input  logic [UsageW-1:0]    ends_i,
  input  logic                 head_lost_i,

  output logic                 ask_valid_o,
  input  logic                 answer_valid_i,
  output logic                 cmd_valid_o,
  input  logic                 cmd_ready_i,
  output region_key_t          cmd_key_o,
  output logic [63:0]          cmd_addr_o,
  output logic [BytesW-1:0]    cmd_bytes_o,
  output logic                 data_valid_o,
  input  logic                 data_ready_i,
  output logic                 data_keep_o,
  output logic                 data_last_o,
  output logic [DataWidth-1:0] data_o,
  input  logic                 done_valid_i,
  input  logic                 done_error_i,
  output logic                 event_valid_o,
  input  logic                 event_ready_i,
  input  logic                 full_i,
  output event_t               event_o,

  output logic                      begun_o,   // strobe: a datagram's first command
  output logic [5:0]                number_o,  // of the datagram at the list, modulo 64
  output logic [15:0]               filled_o,
  output nanet_ctrl_pkg::counters_t counters_o,
  output logic                      idle_o
);
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
    .beat_valid_i,
    .beat_ready_o,
    .beat_kind_i,
    .beat_i,
    .usage_i,
    .ends_i,
    .head_lost_i,
    .ask_valid_o,
    .answer_valid_i,
    .cmd_valid_o,
    .cmd_ready_i,
    .cmd_key_o,
    .cmd_addr_o,
    .cmd_bytes_o,
    .data_valid_o,
    .data_ready_i,
    .data_keep_o,
    .data_last_o,
    .data_o,
    .done_valid_i,
    .done_error_i,
    .event_valid_o,
    .event_ready_i,
    .full_i,
    .event_o,
    .begun_o,
    .filled_o,
    .losses_o     (losses),
    .delivered_o  (delivered),
    .no_event_o   (no_event),
    .overwritten_o(overwritten),
    .number_o,
    .idle_o
  );

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
      frames_good: frames_i.good,
      frames_bad: frames_i.bad,
      frames_other: frames_i.other,
      echo_lost: frames_i.echo_lost,
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
  assign unused = losses.no_event;
endmodule
