// SPDX-License-Identifier: SHL-2.1
/// Device: a node of a torus whose host puts into the memory of other nodes, and they into its own.
///
/// bar -> apenet_bar -> apenet_put <- dma; apenet_put -> torus_node -> apenet_receive ->
/// nanet_memory -> dma; messages -> apenet_list -> nanet_memory. See apenet.md.
///
///   Pins        flits_*: torus_node's without the local port: link p of the router at bit p - 1
///   Handshake   flits_*: a flit a cycle, never stalled, with a credit for each; bar and dma AXI4
///   Configured  cfg_here_i, cfg_last_i as torus_node; cfg_firmware_*_i as nanet_firmware
///   BAR 0       8 KiB: nanet.rdl, and nanet_put.rdl for puts; page 1: nanet_inline.rdl
///   Interrupt   irq_o: a strobe for new events, as event_queue
///   Latency     as apenet_put, torus_node and apenet_receive
///   Throughput  a flit a cycle each way
///   Profiles    Firmware 1: each packet also waits for a soft processor, as in the published node
///   Parameters  Dims 1..3; DataWidth 128..512 of the dma bus; Depth of a link's buffer in flits
///   Not done    transceivers; framing and checks of a link (torus_link's); more lists than one
module apenet_node
  import apenet_node_pkg::*;
  import nanet_pkg::*;
#(
  parameter  int unsigned Dims      = 3,
  parameter  int unsigned DataWidth = 256,
  parameter  int unsigned Depth     = 64,
  parameter  bit          Firmware  = 1'b0,
  localparam int unsigned Width     = apenet_pkg::FlitWidth,
  localparam int unsigned NumLinks  = 2 * Dims
) (
  input logic clk_i,
  input logic rst_ni,

  input  torus_pkg::place_t         cfg_here_i,
  input  torus_pkg::place_t         cfg_last_i,
  input  logic [15:0]               cfg_firmware_wake_min_i,  // cycles, as nanet_firmware
  input  logic [15:0]               cfg_firmware_wake_span_i,
  input  logic [15:0]               cfg_firmware_work_i,
  input  logic [NumLinks-1:0]       flits_rx_valid_i,  // clk_i; never stalled
  input  logic [NumLinks-1:0]       flits_rx_vc_i,
  input  logic [NumLinks-1:0]       flits_rx_head_i,
  input  logic [NumLinks-1:0]       flits_rx_tail_i,
  input  logic [NumLinks*Width-1:0] flits_rx_data_i,
  output logic [2*NumLinks-1:0]     flits_rx_freed_o,
  output logic [NumLinks-1:0]       flits_tx_valid_o,
  output logic [NumLinks-1:0]       flits_tx_vc_o,
  output logic [NumLinks-1:0]       flits_tx_head_o,
  output logic [NumLinks-1:0]       flits_tx_tail_o,
  output logic [NumLinks*Width-1:0] flits_tx_data_o,
  input  logic [2*NumLinks-1:0]     flits_tx_freed_i,

  input  logic        bar_awvalid_i,  // bar_aw*: AXI4 write address of the host, valid/ready
  input  logic [3:0]  bar_awid_i,
  input  logic [12:0] bar_awaddr_i,  // of a byte in the BAR
  input  logic [7:0]  bar_awlen_i,   // not looked at: bar_wlast_i ends a burst
  input  logic [2:0]  bar_awsize_i,
  input  logic [1:0]  bar_awburst_i,  // not looked at: INCR
  output logic        bar_awready_o,
  input  logic        bar_wvalid_i,  // bar_w*: data of the write, byte n in bits 8n+7:8n
  input  logic [63:0] bar_wdata_i,
  input  logic [7:0]  bar_wstrb_i,
  input  logic        bar_wlast_i,
  output logic        bar_wready_o,
  output logic        bar_bvalid_o,  // bar_b*: an answer a write burst: 0 OKAY, 2 SLVERR
  output logic [3:0]  bar_bid_o,
  output logic [1:0]  bar_bresp_o,
  input  logic        bar_bready_i,
  input  logic        bar_arvalid_i,  // bar_ar*: AXI4 read address, INCR; len: beats less one
  input  logic [3:0]  bar_arid_i,
  input  logic [12:0] bar_araddr_i,
  input  logic [7:0]  bar_arlen_i,
  input  logic [2:0]  bar_arsize_i,
  input  logic [1:0]  bar_arburst_i,
  output logic        bar_arready_o,
  output logic        bar_rvalid_o,  // bar_r*: its data, with its id; rlast: the last beat
  output logic [3:0]  bar_rid_o,
  output logic [63:0] bar_rdata_o,
  output logic [1:0]  bar_rresp_o,
  output logic        bar_rlast_o,
  input  logic        bar_rready_i,

  output logic                   dma_awvalid_o,  // dma_aw*: AXI4 write address at the host, INCR
  output logic [0:0]             dma_awid_o,
  output logic [63:0]            dma_awaddr_o,
  output logic [7:0]             dma_awlen_o,
  output logic [2:0]             dma_awsize_o,
  output logic [1:0]             dma_awburst_o,
  input  logic                   dma_awready_i,
  output logic                   dma_wvalid_o,  // dma_w*: its data, byte n in bits 8n+7:8n
  output logic [DataWidth-1:0]   dma_wdata_o,
  output logic [DataWidth/8-1:0] dma_wstrb_o,
  output logic                   dma_wlast_o,
  input  logic                   dma_wready_i,
  input  logic                   dma_bvalid_i,  // dma_b*: an answer a burst; resp 2, 3: an error
  input  logic [0:0]             dma_bid_i,
  input  logic [1:0]             dma_bresp_i,
  output logic                   dma_bready_o,
  output logic                   dma_arvalid_o,  // dma_ar*: AXI4 read address at the host, INCR
  output logic [0:0]             dma_arid_o,
  output logic [63:0]            dma_araddr_o,
  output logic [7:0]             dma_arlen_o,
  output logic [2:0]             dma_arsize_o,
  output logic [1:0]             dma_arburst_o,
  input  logic                   dma_arready_i,
  input  logic                   dma_rvalid_i,  // dma_r*: data of the reads, in order
  input  logic [0:0]             dma_rid_i,
  input  logic [DataWidth-1:0]   dma_rdata_i,
  input  logic [1:0]             dma_rresp_i,
  input  logic                   dma_rlast_i,
  output logic                   dma_rready_o,

  output logic [0:0] irq_o,

  input logic [63:0] time_cycles_i,  // cycles of clk_i since time zero

  output logic [NumProbes-1:0]      probe_o,      // strobes, by probe_e; for simulation
  output logic [NumProbes-1:0][7:0] probe_tag_o,  // number of the put at its source, modulo 256

  output logic [31:0] status_packets_o,  // that came
  output logic [15:0] status_bad_o,      // of them not good
  output logic [31:0] status_lost_o,     // without a legal route
  output logic [15:0] status_events_o,   // written to host memory, modulo 2^16

  output logic idle_o  // nothing changes until an input does
);
  axi_pkg::bar_request_t  bar;
  axi_pkg::bar_response_t bar_answer;
  axi_pkg::request_t      dma;
  axi_pkg::response_t     dma_answer;
  assign bar = {
      bar_awvalid_i, bar_awid_i, 32'(bar_awaddr_i), bar_awsize_i,
      bar_wvalid_i, bar_wdata_i, bar_wstrb_i, bar_wlast_i, bar_bready_i,
      bar_arvalid_i, bar_arid_i, 32'(bar_araddr_i), bar_arlen_i, bar_arsize_i, bar_rready_i
  };
  assign {bar_awready_o, bar_wready_o, bar_bvalid_o, bar_bid_o, bar_bresp_o, bar_arready_o,
          bar_rvalid_o, bar_rid_o, bar_rdata_o, bar_rresp_o, bar_rlast_o} = bar_answer;
  assign {dma_awvalid_o, dma_awaddr_o, dma_awlen_o, dma_awsize_o, dma_awburst_o,
          dma_wvalid_o, dma_wlast_o, dma_bready_o,
          dma_arvalid_o, dma_araddr_o, dma_arlen_o, dma_arsize_o, dma_arburst_o,
          dma_rready_o} = dma;
  assign {dma_awid_o, dma_arid_o} = '0;
  assign dma_answer = {dma_awready_i, dma_wready_i, dma_bvalid_i, dma_bresp_i,
                       dma_arready_i, dma_rvalid_i, dma_rresp_i, dma_rlast_i};

  // ---------------------------------------------------------------- registers
  nanet_ctrl_pkg::control_t    control;
  nanet_ctrl_pkg::state_t      state;
  nanet_ctrl_pkg::put_t        put;
  nanet_ctrl_pkg::put_state_t  put_state;
  logic bar_idle, room;
  logic [apenet_pkg::CarriedW-1:0] slot;
  logic [1:0] slot_at;
  logic [Width-1:0] slot_flit;
  apenet_bar u_bar (
    .clk_i,
    .rst_ni,
    .bar_i    (bar),
    .bar_o    (bar_answer),
    .state_i  (state),
    .control_o(control),
    .put_i    (put_state),
    .last_i   (cfg_last_i & 15'((1 << 5 * Dims) - 1)),
    .put_o    (put),
    .room_i   (room),
    .slot_i   (slot),
    .at_i     (slot_at),
    .payload_o(slot_flit),
    .idle_o   (bar_idle)
  );

  // ---------------------------------------------------------------- puts, and gets of others
  logic get_valid;
  apenet_pkg::get_t get;
  apenet_pkg::asked_t open_get;
  logic tx_valid, tx_head, tx_tail, tx_freed, put_event, put_event_ready, put_idle, full;
  logic read_valid, read_ready, read_beat;
  logic [Width-1:0] tx_flit;
  event_t put_event_data;
  axi_pkg::address_t read;
  apenet_pkg::step_t posted, sent, came, ended, announced;
  apenet_put #(
    .DataWidth(DataWidth),
    .Credits  (Depth)
  ) u_put (
    .clk_i,
    .rst_ni,
    .time_cycles_i,
    .enable_i     (control.enable),
    .put_i        (put),
    .room_o       (room),
    .here_i       (cfg_here_i),
    .get_valid_i  (get_valid),
    .get_i        (get),
    .open_o       (open_get),
    .slot_o       (slot),
    .at_o         (slot_at),
    .payload_i    (slot_flit),
    .flit_valid_o (tx_valid),
    .flit_head_o  (tx_head),
    .flit_tail_o  (tx_tail),
    .flit_o       (tx_flit),
    .freed_i      (tx_freed),
    .event_valid_o(put_event),
    .event_ready_i(put_event_ready),
    .event_o      (put_event_data),
    .full_i       (full),
    .arvalid_o    (read_valid),
    .arready_i    (read_ready),
    .ar_o         (read),
    .rvalid_i     (read_beat),
    .rdata_i      (dma_rdata_i),
    .rresp_i      (dma_answer.rresp),
    .rlast_i      (dma_answer.rlast),
    .done_o       (put_state.done),
    .asked_o      (put_state.asked),
    .posted_o     (posted),
    .sent_o       (sent),
    .idle_o       (put_idle)
  );

  // ---------------------------------------------------------------- router
  logic rx_valid, rx_head, rx_tail, rx_freed, unused_vc, unused_freed, node_idle;
  logic [Width-1:0] rx_flit;
  logic [31:0] entered;
  torus_node #(
    .Dims (Dims),
    .Width(Width),
    .Depth(Depth)
  ) u_node (
    .clk_i,
    .rst_ni,
    .cfg_here_i,
    .cfg_last_i,
    .flits_rx_valid_i({flits_rx_valid_i, tx_valid}),
    .flits_rx_vc_i   ({flits_rx_vc_i, 1'b0}),
    .flits_rx_head_i ({flits_rx_head_i, tx_head}),
    .flits_rx_tail_i ({flits_rx_tail_i, tx_tail}),
    .flits_rx_data_i ({flits_rx_data_i, tx_flit}),
    .flits_rx_freed_o({flits_rx_freed_o, unused_freed, tx_freed}),
    .flits_tx_valid_o({flits_tx_valid_o, rx_valid}),
    .flits_tx_vc_o   ({flits_tx_vc_o, unused_vc}),
    .flits_tx_head_o ({flits_tx_head_o, rx_head}),
    .flits_tx_tail_o ({flits_tx_tail_o, rx_tail}),
    .flits_tx_data_o ({flits_tx_data_o, rx_flit}),
    .flits_tx_freed_i({flits_tx_freed_i, 1'b0, rx_freed}),
    .status_packets_o(entered),
    .status_lost_o,
    .idle_o          (node_idle)
  );

  // ---------------------------------------------------------------- what comes
  // [0]: of puts; [1]: of messages, into the list
  list_request_t  [1:0] requests;
  list_response_t [1:0] responses;
  logic [1:0][DataWidth-1:0] request_data;
  logic ask, answer, receive_idle, firmware_idle, message_ready, list_idle;
  logic [DataWidth-1:0] message_beat;
  logic [15:0] list_filled;
  apenet_pkg::message_t message;
  apenet_pkg::step_t filled;
  nanet_ctrl_pkg::counters_t list_counters;
  apenet_pkg::arrivals_t arrivals;
  apenet_receive #(
    .DataWidth(DataWidth),
    .Depth    (Depth),
    .Firmware (Firmware)
  ) u_receive (
    .clk_i,
    .rst_ni,
    .time_cycles_i,
    .enable_i    (control.enable),
    .flit_valid_i(rx_valid),
    .flit_head_i (rx_head),
    .flit_tail_i (rx_tail),
    .flit_i      (rx_flit),
    .freed_o     (rx_freed),
    .ask_o       (ask),
    .answer_i    (answer),
    .request_o   (requests[0]),
    .response_i  (responses[0]),
    .data_o      (request_data[0]),
    .get_valid_o (get_valid),
    .get_o       (get),
    .open_i      (open_get),
    .late_o      (put_state.late),
    .lists_i     (put.lists),
    .list_key_i  (put.list_key),
    .message_o   (message),
    .message_beat_o (message_beat),
    .message_ready_i(message_ready),
    .refused_o   (put_state.list_refused),
    .arrivals_o  (arrivals),
    .came_o      (came),
    .ended_o     (ended),
    .announced_o (announced),
    .idle_o      (receive_idle)
  );
  if (Firmware) begin : gen_firmware
    logic unused_taken;
    nanet_firmware u_firmware (
      .clk_i,
      .rst_ni,
      .cfg_i         ({cfg_firmware_wake_min_i, cfg_firmware_wake_span_i, cfg_firmware_work_i}),
      .req_valid_i   (ask),
      .taken_o       (unused_taken),
      .answer_valid_o(answer),
      .idle_o        (firmware_idle)
    );
  end else begin : gen_no_firmware
    assign answer        = 1'b1;
    assign firmware_idle = 1'b1;
    logic unused_firmware;
    assign unused_firmware = ^{ask, cfg_firmware_wake_min_i, cfg_firmware_wake_span_i,
                               cfg_firmware_work_i};
  end

  apenet_list #(
    .DataWidth(DataWidth)
  ) u_list (
    .clk_i,
    .rst_ni,
    .time_cycles_i,
    .list_i       (control.lists[0]),
    .table_we_i   (control.table_we && control.table_list == '0),
    .table_index_i(control.table_index),
    .table_i      (control.table_buffer),
    .message_i    (message),
    .beat_i       (message_beat),
    .ready_o      (message_ready),
    .request_o    (requests[1]),
    .response_i   (responses[1]),
    .data_o       (request_data[1]),
    .full_i       (full),
    .filled_o     (list_filled),
    .counters_o   (list_counters),
    .announced_o  (filled),
    .idle_o       (list_idle)
  );

  // ---------------------------------------------------------------- memory
  logic event_done, memory_idle;
  nanet_memory #(
    .NumLists  (2),
    .DataWidth (DataWidth),
    .Regions   (MaxRegions),
    .Send      (1'b1),
    .BurstBytes(256)
  ) u_memory (
    .clk_i,
    .rst_ni,
    .control_i         (control),
    .list_i            (requests),
    .data_i            (request_data),
    .list_o            (responses),
    .full_o            (full),
    .event_done_o      (event_done),
    .irq_o             (irq_o[0]),
    .send_event_valid_i(put_event),
    .send_event_i      (put_event_data),
    .send_event_ready_o(put_event_ready),
    .read_valid_i      (read_valid),
    .read_ready_o      (read_ready),
    .read_i            (read),
    .read_beat_o       (read_beat),
    .dma_o             (dma),
    .dma_wdata_o,
    .dma_wstrb_o,
    .dma_i             (dma_answer),
    .dma_rdata_i,
    .written_o         (state.written),
    .lost_o            (state.events_lost),
    .errors_o          (state.write_errors),
    .translations_o    (state.translations),
    .idle_o            (memory_idle)
  );

  assign state.ready = !control.enable && put_idle && receive_idle && list_idle && memory_idle;
  assign state.filled          = {48'd0, list_filled};
  assign state.counters        = {{3 * $bits(list_counters){1'b0}}, list_counters};
  assign {put_state.packets, put_state.bad_packets, put_state.bad_puts} = arrivals;
  assign {status_packets_o, status_bad_o} = {arrivals.packets, arrivals.bad_packets};
  assign status_events_o       = state.written;

  // ---------------------------------------------------------------- probes; one event a clock
  always_comb begin
    probe_o     = '0;
    probe_tag_o = '0;
    {probe_o[Posted], probe_tag_o[Posted]}       = posted;
    {probe_o[Sent], probe_tag_o[Sent]}           = sent;
    {probe_o[Came], probe_tag_o[Came]}           = came;
    {probe_o[Ended], probe_tag_o[Ended]}         = ended;
    {probe_o[Announced], probe_tag_o[Announced]} = filled.strobe ? filled : announced;
  end

  assign idle_o = bar_idle && put_idle && node_idle && receive_idle && firmware_idle &&
                  list_idle && memory_idle;

  logic unused;
  assign unused = ^{entered, event_done, unused_vc, unused_freed, bar_awlen_i,
                    bar_awburst_i, bar_arburst_i, dma_bid_i, dma_rid_i};
endmodule
