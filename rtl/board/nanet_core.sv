// SPDX-License-Identifier: SHL-2.1
/// All of a UDP-to-memory interface but its ports: from datagrams to buffers in host memory. What
/// nanet_nic and nanet_nic_10g have in common; they flatten its structures.
///
/// nanet_lane, one a port, around nanet_between -> nanet_memory -> dma; bar -> nanet_bar;
/// nanet_send: dma -> port 0
///
///   Handshake   arrivals_i as nanet_port gives them; bar and dma AXI4
///   Clocks      clk_i; search_clk_i for search_i, with Search. rst_ni is synchronized into it here
///   Latency     as nanet_lane and nanet_memory
///   Throughput  a beat of DataWidth a cycle to host memory; a datagram of a port in its beats and
///               6 cycles
///   Parameters  as nanet_nic; WordWidth of a port's words, 32 or 64; SendDepth of its buffer of
///               what is sent, in beats
///   Not done    as nanet_nic
module nanet_core
  import nanet_nic_pkg::*;
  import nanet_pkg::*;
#(
  parameter int unsigned NumPorts  = 1,
  parameter int unsigned DataWidth = 128,
  parameter int unsigned WordWidth = 32,
  parameter int unsigned Depth     = 256,
  parameter int unsigned Stores    = 0,
  parameter bit          Firmware  = 1'b0,
  parameter int unsigned Regions   = 0,
  parameter bit          Search    = 1'b0,
  parameter bit          Send      = 1'b0,
  parameter int unsigned SendDepth = SendBytes / (DataWidth / 8),
  parameter bit          Merge     = 1'b0,
  parameter bit          Release   = 1'b0,
  parameter int unsigned Window    = 1024
) (
  input logic        clk_i,
  input logic        rst_ni,
  input logic [63:0] time_cycles_i,

  input  arrival_t  [NumPorts-1:0] arrivals_i,
  output logic      [NumPorts-1:0] echo_o,
  output departure_t               departure_o,      // to port 0
  output eth_pkg::udp_meta_t       departure_meta_o,
  output logic [DataWidth-1:0]     departure_data_o,
  input  departed_t                departed_i,
  output arp_pkg::ask_t            ask_o,            // with Send, as wb_nanet_send
  input  arp_pkg::answer_t         answer_i,
  input  logic                     search_clk_i,
  input  rich_pkg::memory_write_t  search_i,
  input  firmware_t                cfg_firmware_i,

  input  axi_pkg::bar_request_t  bar_i,
  output axi_pkg::bar_response_t bar_o,

  output axi_pkg::request_t      dma_o,
  output logic [DataWidth-1:0]   dma_wdata_o,
  output logic [DataWidth/8-1:0] dma_wstrb_o,
  input  axi_pkg::response_t     dma_i,
  input  logic [DataWidth-1:0]   dma_rdata_i,

  output logic [0:0] irq_o,

  output logic        result_valid_o,  // one clock: result_o is a program's answer
  output logic [31:0] result_o,
  input  nanet_ctrl_pkg::release_state_t release_i,  // what became of answers, with Release

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
  localparam int unsigned PortW    = NumPorts > 1 ? $clog2(NumPorts) : 1;

  nanet_ctrl_pkg::control_t control;
  nanet_ctrl_pkg::state_t   state;
  nanet_ctrl_pkg::send_t       send;
  nanet_ctrl_pkg::send_state_t sent;
  nanet_ctrl_pkg::merge_state_t merge_state;
  logic [31:0] merge_wait;
  logic bar_idle;
  nanet_bar #(
    .NumPorts  (NumPorts),
    .NumRegions(Regions),
    .Send      (Send),
    .Put       (1'b0),
    .Merge     (Merge),
    .Release   (Release)
  ) u_bar (
    .clk_i,
    .rst_ni,
    .bar_i,
    .bar_o,
    .state_i  (state),
    .control_o(control),
    .send_i   (sent),
    .send_o   (send),
    .ask_o,
    .answer_i,
    .put_i    ('0),
    .put_last_i('0),
    .put_o    (),
    .merge_i  (merge_state),
    .merge_wait_o(merge_wait),
    .release_i,
    .idle_o   (bar_idle)
  );

  // ---------------------------------------------------------------- lists
  list_request_t  [NumPorts-1:0] requests;
  list_response_t [NumPorts-1:0] responses;
  logic [NumPorts-1:0][DataWidth-1:0] data;
  logic [NumPorts-1:0] ask, answer, queue_idle, list_idle;
  steps_t [NumPorts-1:0] steps;
  logic queue_full;
  beat_t [NumPorts-1:0] queued, listed;
  logic [NumPorts-1:0][DataWidth-1:0] queued_data, listed_data;
  logic [NumPorts-1:0] queued_ready, listed_ready;
  // Behind a search a list is enabled where a datagram of events begins: in front of candidates it
  // would have no pairs.
  logic [NumPorts-1:0] fresh;
  list_t [NumPorts-1:0] lists;

  for (genvar i = 0; i < int'(NumPorts); i++) begin : gen_list
    assign echo_o[i] = control.lists[i].echo;
    logic open_q;
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) open_q <= 1'b0;
      else open_q <= control.lists[i].enable && (open_q || fresh[i]);
    end
    always_comb begin
      lists[i]        = control.lists[i];
      lists[i].enable = control.lists[i].enable && (!Search || open_q);
    end
    assign ask[i]    = steps[i].ask;
    nanet_lane #(
      .DataWidth(DataWidth),
      .WordWidth(WordWidth),
      .Depth    (Depth),
      .Stores   (Stores),
      .ListId   (8'(i)),
      .Ask      (Firmware)
    ) u_lane (
      .clk_i,
      .rst_ni,
      .time_cycles_i,
      .list_i        (lists[i]),
      .table_we_i    (control.table_we && control.table_list == 2'(i)),
      .table_index_i (control.table_index),
      .table_i       (control.table_buffer),
      .arrival_i     (arrivals_i[i]),
      .queued_o      (queued[i]),
      .queued_data_o (queued_data[i]),
      .queued_ready_i(queued_ready[i]),
      .listed_i      (listed[i]),
      .listed_data_i (listed_data[i]),
      .listed_ready_o(listed_ready[i]),
      .answer_i      (answer[i]),
      .request_o     (requests[i]),
      .response_i    (responses[i]),
      .data_o        (data[i]),
      .full_i        (queue_full),
      .steps_o       (steps[i]),
      .filled_o      (state.filled[i]),
      .counters_o    (state.counters[i]),
      .queue_idle_o  (queue_idle[i]),
      .idle_o        (list_idle[i])
    );
  end
  for (genvar i = int'(NumPorts); i < int'(MaxPorts); i++) begin : gen_no_list
    assign state.filled[i]   = '0;
    assign state.counters[i] = '0;
  end

  // ---------------------------------------------------------------- search, merging
  logic between_idle, quiet;
  nanet_between #(
    .NumPorts (NumPorts),
    .DataWidth(DataWidth),
    .UsageW   ($clog2(Depth) + 2),
    .Search   (Search),
    .Merge    (Merge),
    .Window   (Window)
  ) u_between (
    .clk_i,
    .rst_ni,
    .search_clk_i,
    .search_i,
    .merge_clear_i(!control.lists[0].enable),
    .merge_wait_i (merge_wait),
    .merge_o      (merge_state),
    .in_i         (queued),
    .in_data_i    (queued_data),
    .in_ready_o   (queued_ready),
    .out_o        (listed),
    .out_data_o   (listed_data),
    .out_ready_i  (listed_ready),
    .fresh_o      (fresh),
    .quiet_o      (quiet),
    .idle_o       (between_idle)
  );

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
      .cfg_i         (cfg_firmware_i),
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
    logic unused_firmware;
    assign unused_firmware = ^cfg_firmware_i;
  end

  // ---------------------------------------------------------------- sending
  logic send_event, send_event_ready, send_idle, send_read, send_read_ready, send_beat;
  event_t send_event_data;
  axi_pkg::address_t send_ar;
  if (Send) begin : gen_send
    logic unused_rready;
    nanet_send #(
      .DataWidth(DataWidth),
      .Depth    (SendDepth)
    ) u_send (
      .clk_i,
      .rst_ni,
      .time_cycles_i,
      .enable_i     (control.enable),
      .send_i       (send),
      .departure_o,
      .meta_o       (departure_meta_o),
      .data_o       (departure_data_o),
      .departed_i,
      .event_valid_o(send_event),
      .event_ready_i(send_event_ready),
      .event_o      (send_event_data),
      .full_i       (queue_full),
      .arvalid_o    (send_read),
      .arready_i    (send_read_ready),
      .ar_o         (send_ar),
      .rvalid_i     (send_beat),
      .rready_o     (unused_rready),
      .rdata_i      (dma_rdata_i),
      .rresp_i      (dma_i.rresp),
      .rlast_i      (dma_i.rlast),
      .sent_o       (sent.sent),
      .refused_o    (sent.refused),
      .lost_o       (sent.full),
      .idle_o       (send_idle)
    );
    assign sent.spoiled = departed_i.spoiled;
  end else begin : gen_no_send
    assign departure_o      = '0;
    assign departure_meta_o = '0;
    assign departure_data_o = '0;
    assign send_event       = 1'b0;
    assign send_event_data  = '0;
    assign send_read        = 1'b0;
    assign send_ar          = '0;
    assign send_idle        = 1'b1;
    assign sent             = '0;
    logic unused_send;
    assign unused_send = ^{send, departed_i, send_event_ready, send_read_ready, send_beat,
                           dma_i.rlast};
  end

  // ---------------------------------------------------------------- memory
  logic event_done, memory_idle;
  nanet_memory #(
    .NumLists (NumPorts),
    .DataWidth(DataWidth),
    .Regions  (Regions),
    .Send     (Send)
  ) u_memory (
    .clk_i,
    .rst_ni,
    .control_i     (control),
    .list_i        (requests),
    .data_i        (data),
    .list_o        (responses),
    .full_o        (queue_full),
    .event_done_o  (event_done),
    .irq_o         (irq_o[0]),
    .send_event_valid_i(send_event),
    .send_event_i      (send_event_data),
    .send_event_ready_o(send_event_ready),
    .read_valid_i      (send_read),
    .read_ready_o      (send_read_ready),
    .read_i            (send_ar),
    .read_beat_o       (send_beat),
    .dma_o,
    .dma_wdata_o,
    .dma_wstrb_o,
    .dma_i,
    .dma_rdata_i,
    .written_o     (state.written),
    .lost_o        (state.events_lost),
    .errors_o      (state.write_errors),
    .translations_o(state.translations),
    .idle_o        (memory_idle)
  );
  assign result_valid_o = control.result_we;
  assign result_o       = control.result;

  // ---------------------------------------------------------------- state and probes
  always_comb begin
    status_datagrams_o = '0;
    for (int unsigned i = 0; i < MaxPorts; i++) begin
      status_datagrams_o = status_datagrams_o + state.counters[i].delivered;
    end
  end
  assign state.ready = !control.enable && (&list_idle) && quiet && memory_idle && send_idle;
  assign status_events_o       = state.written;
  assign status_write_errors_o = state.write_errors;

  nanet_nic_probes #(
    .NumPorts(NumPorts)
  ) u_probes (
    .clk_i,
    .rst_ni,
    .steps_i    (steps),
    .accepted_i (taken || !Firmware ? asked : '0),
    .answered_i (ask & answer),
    .stored_i   (!queue_full),
    .completed_i(event_done),
    .probe_o,
    .probe_tag_o
  );

  assign idle_o = bar_idle && (&queue_idle) && (&list_idle) && between_idle && firmware_idle &&
                  memory_idle && send_idle;
endmodule
