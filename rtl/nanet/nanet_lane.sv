// SPDX-License-Identifier: SHL-2.1
/// One port with its list of buffers and its counters: nanet_port -> nanet_stream.
///
///   Handshake   cmd_*, data_*, done_*, ask_* and event_* as in nanet_stream
///   Ordering    datagrams in their order
///   Latency     as the two
///   Throughput  as the two
///   Counters    a datagram or frame is counted once, at the hop where its way ended; a count
///               follows its event by 2 cycles
///   Parameters  DataWidth, Depth, Stores, Echo as nanet_port; ListId, Ask as nanet_stream
///   Not done    anything of its own
module nanet_lane
  import nanet_pkg::*;
#(
  parameter  int unsigned DataWidth = 128,
  parameter  int unsigned Depth     = 256,
  parameter  int unsigned Stores    = 0,
  parameter  bit          Echo      = 1'b0,
  parameter  logic [7:0]  ListId    = 8'd0,
  parameter  bit          Ask       = 1'b0,
  localparam int unsigned BytesW    = $clog2(MaxCommand) + 1
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        eth_clk_i,
  input  logic        eth_rst_ni,

  input  logic        gmii_rx_clk_i,
  input  logic [7:0]  gmii_rxd_i,
  input  logic        gmii_rx_dv_i,
  input  logic        gmii_rx_er_i,
  output logic [7:0]  gmii_txd_o,
  output logic        gmii_tx_en_o,
  output logic        gmii_tx_er_o,

  input  logic [47:0] cfg_mac_i,
  input  logic [31:0] cfg_ip_i,
  input  logic [15:0] cfg_port_i,
  input  logic [63:0] time_cycles_i,
  input  list_t       list_i,
  input  logic        table_we_i,
  input  logic [5:0]  table_index_i,
  input  buffer_t     table_i,

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

  output logic                      first_o,   // strobes: its head leaves the UDP stage
  output logic                      last_o,    // its end enters the queue
  output logic                      begun_o,   // its first command
  output logic [5:0]                number_o,  // of the datagram at the list, modulo 64
  output logic [15:0]               filled_o,
  output nanet_ctrl_pkg::counters_t counters_o,
  output logic                      port_idle_o,
  output logic                      list_idle_o
);
  localparam int unsigned UsageW = $clog2(Depth) + 2;

  logic beat_valid, beat_ready, head_lost;
  entry_e beat_kind;
  logic [DataWidth-1:0] beat;
  logic [UsageW-1:0] usage, ends;
  logic [15:0] frames_good, frames_bad, frames_other, echo_lost, no_event, overwritten;
  logic [31:0] delivered;
  losses_t losses;

  nanet_port #(
    .DataWidth(DataWidth),
    .Depth    (Depth),
    .Stores   (Stores),
    .Echo     (Echo)
  ) u_port (
    .clk_i,
    .rst_ni,
    .eth_clk_i,
    .eth_rst_ni,
    .gmii_rx_clk_i,
    .gmii_rxd_i,
    .gmii_rx_dv_i,
    .gmii_rx_er_i,
    .gmii_txd_o,
    .gmii_tx_en_o,
    .gmii_tx_er_o,
    .cfg_mac_i,
    .cfg_ip_i,
    .cfg_port_i,
    .echo_i        (list_i.echo),
    .beat_valid_o  (beat_valid),
    .beat_ready_i  (beat_ready),
    .beat_kind_o   (beat_kind),
    .beat_o        (beat),
    .usage_o       (usage),
    .ends_o        (ends),
    .head_lost_o   (head_lost),
    .first_o,
    .last_o,
    .frames_good_o (frames_good),
    .frames_bad_o  (frames_bad),
    .frames_other_o(frames_other),
    .echo_lost_o   (echo_lost),
    .idle_o        (port_idle_o)
  );

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
    .beat_valid_i (beat_valid),
    .beat_ready_o (beat_ready),
    .beat_kind_i  (beat_kind),
    .beat_i       (beat),
    .usage_i      (usage),
    .ends_i       (ends),
    .head_lost_i  (head_lost),
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
    .idle_o       (list_idle_o)
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
      frames_good: frames_good,
      frames_bad: frames_bad,
      frames_other: frames_other,
      echo_lost: echo_lost,
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
