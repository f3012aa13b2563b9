// SPDX-License-Identifier: SHL-2.1
/// All of a UDP-to-memory interface but its ports: from queues of datagrams to buffers in host
/// memory. What nanet_nic and nanet_nic_10g have in common.
///
/// nanet_lane, one a port -> nanet_memory -> dma; bar -> nanet_bar
///
///   Handshake   beat_*, usage_i, ends_i, head_lost_i as nanet_queue gives them; bar and dma AXI4
///   Clocks      clk_i
///   Latency     as nanet_stream and nanet_memory
///   Throughput  a beat of DataWidth a cycle to host memory; a datagram of a port in its beats and
///               6 cycles
///   Parameters  as nanet_nic
///   Not done    as nanet_nic
module nanet_core
  import nanet_nic_pkg::*;
  import nanet_pkg::entry_e;
  import nanet_pkg::frames_t;
#(
  parameter  int unsigned NumPorts  = 1,
  parameter  int unsigned DataWidth = 128,
  parameter  int unsigned Depth     = 256,
  parameter  bit          Firmware  = 1'b0,
  parameter  int unsigned Regions   = 0,
  localparam int unsigned UsageW    = $clog2(Depth) + 2
) (
  input logic clk_i,
  input logic rst_ni,

  input  logic    [NumPorts-1:0]                beat_valid_i,
  output logic    [NumPorts-1:0]                beat_ready_o,
  input  entry_e  [NumPorts-1:0]                beat_kind_i,
  input  logic    [NumPorts-1:0][DataWidth-1:0] beat_i,
  input  logic    [NumPorts-1:0][UsageW-1:0]    usage_i,
  input  logic    [NumPorts-1:0][UsageW-1:0]    ends_i,
  input  logic    [NumPorts-1:0]                head_lost_i,
  input  logic    [NumPorts-1:0]                first_i,  // probe strobes
  input  logic    [NumPorts-1:0]                last_i,
  input  frames_t [NumPorts-1:0]                frames_i,
  output logic    [NumPorts-1:0]                echo_o,

  input logic [15:0] cfg_firmware_wake_min_i,  // cycles, as nanet_firmware
  input logic [15:0] cfg_firmware_wake_span_i,
  input logic [15:0] cfg_firmware_work_i,

  input  logic        bar_awvalid_i,
  input  logic [3:0]  bar_awid_i,
  input  logic [11:0] bar_awaddr_i,
  input  logic [7:0]  bar_awlen_i,
  input  logic [2:0]  bar_awsize_i,
  input  logic [1:0]  bar_awburst_i,
  output logic        bar_awready_o,
  input  logic        bar_wvalid_i,
  input  logic [63:0] bar_wdata_i,
  input  logic [7:0]  bar_wstrb_i,
  input  logic        bar_wlast_i,
  output logic        bar_wready_o,
  output logic        bar_bvalid_o,
  output logic [3:0]  bar_bid_o,
  output logic [1:0]  bar_bresp_o,
  input  logic        bar_bready_i,
  input  logic        bar_arvalid_i,
  input  logic [3:0]  bar_arid_i,
  input  logic [11:0] bar_araddr_i,
  input  logic [7:0]  bar_arlen_i,
  input  logic [2:0]  bar_arsize_i,
  input  logic [1:0]  bar_arburst_i,
  output logic        bar_arready_o,
  output logic        bar_rvalid_o,
  output logic [3:0]  bar_rid_o,
  output logic [63:0] bar_rdata_o,
  output logic [1:0]  bar_rresp_o,
  output logic        bar_rlast_o,
  input  logic        bar_rready_i,

  output logic                   dma_awvalid_o,
  output logic [0:0]             dma_awid_o,
  output logic [63:0]            dma_awaddr_o,
  output logic [7:0]             dma_awlen_o,
  output logic [2:0]             dma_awsize_o,
  output logic [1:0]             dma_awburst_o,
  input  logic                   dma_awready_i,
  output logic                   dma_wvalid_o,
  output logic [DataWidth-1:0]   dma_wdata_o,
  output logic [DataWidth/8-1:0] dma_wstrb_o,
  output logic                   dma_wlast_o,
  input  logic                   dma_wready_i,
  input  logic                   dma_bvalid_i,
  input  logic [0:0]             dma_bid_i,
  input  logic [1:0]             dma_bresp_i,
  output logic                   dma_bready_o,
  output logic                   dma_arvalid_o,
  output logic [0:0]             dma_arid_o,
  output logic [63:0]            dma_araddr_o,
  output logic [7:0]             dma_arlen_o,
  output logic [2:0]             dma_arsize_o,
  output logic [1:0]             dma_arburst_o,
  input  logic                   dma_arready_i,
  input  logic                   dma_rvalid_i,
  input  logic [0:0]             dma_rid_i,
  input  logic [DataWidth-1:0]   dma_rdata_i,
  input  logic [1:0]             dma_rresp_i,
  input  logic                   dma_rlast_i,
  output logic                   dma_rready_o,

  output logic [0:0] irq_o,

  output logic        result_valid_o,  // one clock: result_o is a program's answer
  output logic [31:0] result_o,

  input logic [63:0] time_cycles_i,

  output logic [NumProbes-1:0]      probe_o,
  output logic [NumProbes-1:0][7:0] probe_tag_o,

  output logic [31:0] status_datagrams_o,   // delivered, of all ports
  output logic [15:0] status_events_o,
  output logic [31:0] status_write_errors_o,

  output logic idle_o
);
  if (NumPorts < 1 || NumPorts > 4) begin : gen_ports_check
    $error("nanet_core: NumPorts is %0d, legal is 1..4", NumPorts);
  end
  localparam int unsigned MaxPorts = 4;
  localparam int unsigned BytesW   = $clog2(nanet_pkg::MaxCommand) + 1;
  localparam int unsigned PortW    = NumPorts > 1 ? $clog2(NumPorts) : 1;

  nanet_ctrl_pkg::control_t control;
  nanet_ctrl_pkg::state_t   state;
  logic bar_idle;
  nanet_bar #(
    .NumPorts  (NumPorts),
    .NumRegions(Regions)
  ) u_bar (
    .clk_i,
    .rst_ni,
    .awvalid_i(bar_awvalid_i),
    .awid_i   (bar_awid_i),
    .awaddr_i (bar_awaddr_i),
    .awsize_i (bar_awsize_i),
    .awready_o(bar_awready_o),
    .wvalid_i (bar_wvalid_i),
    .wdata_i  (bar_wdata_i),
    .wstrb_i  (bar_wstrb_i),
    .wlast_i  (bar_wlast_i),
    .wready_o (bar_wready_o),
    .bvalid_o (bar_bvalid_o),
    .bid_o    (bar_bid_o),
    .bresp_o  (bar_bresp_o),
    .bready_i (bar_bready_i),
    .arvalid_i(bar_arvalid_i),
    .arid_i   (bar_arid_i),
    .araddr_i (bar_araddr_i),
    .arlen_i  (bar_arlen_i),
    .arsize_i (bar_arsize_i),
    .arready_o(bar_arready_o),
    .rvalid_o (bar_rvalid_o),
    .rid_o    (bar_rid_o),
    .rdata_o  (bar_rdata_o),
    .rresp_o  (bar_rresp_o),
    .rlast_o  (bar_rlast_o),
    .rready_i (bar_rready_i),
    .state_i  (state),
    .control_o(control),
    .idle_o   (bar_idle)
  );

  // ---------------------------------------------------------------- lists
  logic [NumPorts-1:0] cmd_valid, cmd_ready, data_valid, data_ready, data_keep, data_last, done;
  nanet_pkg::region_key_t [NumPorts-1:0] cmd_key;
  logic [NumPorts-1:0][63:0] cmd_addr;
  logic [NumPorts-1:0][BytesW-1:0] cmd_bytes;
  logic [NumPorts-1:0][DataWidth-1:0] data;
  logic done_error;

  logic [NumPorts-1:0] ask, answer, event_valid, event_ready, list_idle;
  logic [NumPorts-1:0] begun;
  logic [NumPorts-1:0][5:0] number;
  nanet_pkg::event_t [NumPorts-1:0] events;
  logic queue_full;

  for (genvar i = 0; i < int'(NumPorts); i++) begin : gen_list
    assign echo_o[i] = control.lists[i].echo;
    nanet_lane #(
      .DataWidth(DataWidth),
      .UsageW   (UsageW),
      .ListId   (8'(i)),
      .Ask      (Firmware)
    ) u_lane (
      .clk_i,
      .rst_ni,
      .time_cycles_i,
      .list_i        (control.lists[i]),
      .table_we_i    (control.table_we && control.table_list == 2'(i)),
      .table_index_i (control.table_index),
      .table_i       (control.table_buffer),
      .frames_i      (frames_i[i]),
      .beat_valid_i  (beat_valid_i[i]),
      .beat_ready_o  (beat_ready_o[i]),
      .beat_kind_i   (beat_kind_i[i]),
      .beat_i        (beat_i[i]),
      .usage_i       (usage_i[i]),
      .ends_i        (ends_i[i]),
      .head_lost_i   (head_lost_i[i]),
      .ask_valid_o   (ask[i]),
      .answer_valid_i(answer[i]),
      .cmd_valid_o   (cmd_valid[i]),
      .cmd_ready_i   (cmd_ready[i]),
      .cmd_key_o     (cmd_key[i]),
      .cmd_addr_o    (cmd_addr[i]),
      .cmd_bytes_o   (cmd_bytes[i]),
      .data_valid_o  (data_valid[i]),
      .data_ready_i  (data_ready[i]),
      .data_keep_o   (data_keep[i]),
      .data_last_o   (data_last[i]),
      .data_o        (data[i]),
      .done_valid_i  (done[i]),
      .done_error_i  (done_error),
      .event_valid_o (event_valid[i]),
      .event_ready_i (event_ready[i]),
      .full_i        (queue_full),
      .event_o       (events[i]),
      .begun_o       (begun[i]),
      .number_o      (number[i]),
      .filled_o      (state.filled[i]),
      .counters_o    (state.counters[i]),
      .idle_o        (list_idle[i])
    );
  end
  for (genvar i = int'(NumPorts); i < int'(MaxPorts); i++) begin : gen_no_list
    assign state.filled[i]   = '0;
    assign state.counters[i] = '0;
  end

  // ---------------------------------------------------------------- the address of a buffer
  logic [NumPorts-1:0] asked;
  logic taken, firmware_idle;
  if (Firmware) begin : gen_firmware
    logic [PortW-1:0] unused_idx;
    logic answered;
    arb_rr #(
      .NumReq(NumPorts)
    ) u_arb (
      .clk_i,
      .rst_ni,
      .req_i (ask),
      .last_i(answered),
      .gnt_o (asked),
      .idx_o (unused_idx)
    );
    nanet_firmware u_firmware (
      .clk_i,
      .rst_ni,
      .wake_min_i    (cfg_firmware_wake_min_i),
      .wake_span_i   (cfg_firmware_wake_span_i),
      .work_i        (cfg_firmware_work_i),
      .req_valid_i   (asked != '0),
      .taken_o       (taken),
      .answer_valid_o(answered),
      .idle_o        (firmware_idle)
    );
    assign answer = asked & {NumPorts{answered}};
  end else begin : gen_no_firmware
    assign asked         = ask;
    assign answer        = '1;
    assign taken         = 1'b0;
    assign firmware_idle = 1'b1;
  end

  // ---------------------------------------------------------------- memory
  logic event_done, irq, memory_idle;
  axi_pkg::address_t aw, ar;
  nanet_memory #(
    .NumLists (NumPorts),
    .DataWidth(DataWidth),
    .Regions  (Regions)
  ) u_memory (
    .clk_i,
    .rst_ni,
    .control_i     (control),
    .cmd_valid_i   (cmd_valid),
    .cmd_ready_o   (cmd_ready),
    .cmd_key_i     (cmd_key),
    .cmd_addr_i    (cmd_addr),
    .cmd_bytes_i   (cmd_bytes),
    .data_valid_i  (data_valid),
    .data_ready_o  (data_ready),
    .data_keep_i   (data_keep),
    .data_last_i   (data_last),
    .data_i        (data),
    .done_valid_o  (done),
    .done_error_o  (done_error),
    .event_valid_i (event_valid),
    .event_ready_o (event_ready),
    .event_i       (events),
    .full_o        (queue_full),
    .event_done_o  (event_done),
    .irq_o         (irq),
    .awvalid_o     (dma_awvalid_o),
    .awready_i     (dma_awready_i),
    .aw_o          (aw),
    .wvalid_o      (dma_wvalid_o),
    .wready_i      (dma_wready_i),
    .wdata_o       (dma_wdata_o),
    .wstrb_o       (dma_wstrb_o),
    .wlast_o       (dma_wlast_o),
    .bvalid_i      (dma_bvalid_i),
    .bready_o      (dma_bready_o),
    .bresp_i       (dma_bresp_i),
    .arvalid_o     (dma_arvalid_o),
    .arready_i     (dma_arready_i),
    .ar_o          (ar),
    .rvalid_i      (dma_rvalid_i),
    .rready_o      (dma_rready_o),
    .rdata_i       (dma_rdata_i),
    .rresp_i       (dma_rresp_i),
    .written_o     (state.written),
    .lost_o        (state.events_lost),
    .errors_o      (state.write_errors),
    .translations_o(state.translations),
    .idle_o        (memory_idle)
  );
  assign irq_o[0]       = irq;
  assign result_valid_o = control.result_we;
  assign result_o       = control.result;
  assign dma_awid_o    = '0;
  assign dma_awaddr_o  = aw.addr;
  assign dma_awlen_o   = aw.len;
  assign dma_awsize_o  = aw.size;
  assign dma_awburst_o = aw.burst;
  assign dma_arid_o    = '0;
  assign dma_araddr_o  = ar.addr;
  assign dma_arlen_o   = ar.len;
  assign dma_arsize_o  = ar.size;
  assign dma_arburst_o = ar.burst;

  // ---------------------------------------------------------------- state and probes
  logic [31:0] delivered_sum;
  always_comb begin
    delivered_sum = '0;
    for (int unsigned i = 0; i < MaxPorts; i++) begin
      delivered_sum = delivered_sum + state.counters[i].delivered;
    end
  end
  assign state.ready           = !control.enable && (&list_idle) && memory_idle;
  assign status_datagrams_o    = delivered_sum;
  assign status_events_o       = state.written;
  assign status_write_errors_o = state.write_errors;

  nanet_nic_probes #(
    .NumPorts(NumPorts)
  ) u_probes (
    .clk_i,
    .rst_ni,
    .first_i,
    .last_i,
    .ask_i      (ask),
    .accepted_i (taken || !Firmware ? asked : '0),
    .answered_i (ask & answer),
    .begun_i    (begun),
    .written_i  (event_valid & event_ready),
    .stored_i   (!queue_full),
    .completed_i(event_done),
    .number_i   (number),
    .probe_o,
    .probe_tag_o
  );

  assign idle_o = bar_idle && (&list_idle) && firmware_idle && memory_idle;

  logic unused;
  assign unused = ^{bar_awlen_i, bar_awburst_i, bar_arburst_i, dma_bid_i, dma_rid_i, dma_rlast_i,
                    cfg_firmware_wake_min_i, cfg_firmware_wake_span_i, cfg_firmware_work_i};
endmodule
