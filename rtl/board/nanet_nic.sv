// SPDX-License-Identifier: SHL-2.1
/// Device: UDP datagrams from 1 to 4 Gigabit Ethernet ports into buffers in host memory.
///
/// gmii -> nanet_port -> nanet_stream -> nanet_mux -> axi_write_engine -> dma; events of all ports
/// -> event_queue -> nanet_mux; bar -> pcie_axi_wb -> wb_nanet. Rules and figures are in
/// docs/explanation/cores/nanet.md.
///
///   Clocks      clk_i for bar, dma, irq and probes; eth_clk_i, 125 MHz, for the MACs and
///               gmii*_tx*; rst_ni is synchronized into eth_clk_i here
///   BAR 0       4 KiB: registers in the first 256 bytes
///   Interrupt   irq_o: a strobe for new events, as event_queue
///   Throughput  a beat of DataWidth a cycle to host memory
///   Profiles    Stores 0, Firmware 0: cut-through, a buffer's address in one cycle. Stores 2,
///               Firmware 1: as published, two store-and-forward stages and a soft processor that
///               finds the address in the time that cfg_firmware_*_i say
///   Parameters  NumPorts 1..4; DataWidth 64..512 of the dma bus; Depth of a port's queue in beats;
///               Stores 0..2; Firmware 0, 1
///   Not done    sending UDP; more lists than ports; 10 Gigabit Ethernet
module nanet_nic
  import nanet_nic_pkg::*;
#(
  parameter int unsigned NumPorts  = 1,
  parameter int unsigned DataWidth = 128,
  parameter int unsigned Depth     = 256,
  parameter int unsigned Stores    = 0,
  parameter bit          Firmware  = 1'b0
) (
  input logic clk_i,
  input logic rst_ni,
  input logic eth_clk_i,

  input  logic       gmii_rx_clk_i,
  input  logic [7:0] gmii_rxd_i,
  input  logic       gmii_rx_dv_i,
  input  logic       gmii_rx_er_i,
  output logic [7:0] gmii_txd_o,
  output logic       gmii_tx_en_o,
  output logic       gmii_tx_er_o,

  input  logic       gmii1_rx_clk_i,
  input  logic [7:0] gmii1_rxd_i,
  input  logic       gmii1_rx_dv_i,
  input  logic       gmii1_rx_er_i,
  output logic [7:0] gmii1_txd_o,
  output logic       gmii1_tx_en_o,
  output logic       gmii1_tx_er_o,

  input  logic       gmii2_rx_clk_i,
  input  logic [7:0] gmii2_rxd_i,
  input  logic       gmii2_rx_dv_i,
  input  logic       gmii2_rx_er_i,
  output logic [7:0] gmii2_txd_o,
  output logic       gmii2_tx_en_o,
  output logic       gmii2_tx_er_o,

  input  logic       gmii3_rx_clk_i,
  input  logic [7:0] gmii3_rxd_i,
  input  logic       gmii3_rx_dv_i,
  input  logic       gmii3_rx_er_i,
  output logic [7:0] gmii3_txd_o,
  output logic       gmii3_tx_en_o,
  output logic       gmii3_tx_er_o,

  input logic [47:0] cfg_mac_i,                // of port 0; each further port has the next address
  input logic [31:0] cfg_ip_i,                 // of port 0; each further port has the next address
  input logic [15:0] cfg_udp_port_i,
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

  input logic [63:0] time_cycles_i,

  output logic [NumProbes-1:0]      probe_o,
  output logic [NumProbes-1:0][7:0] probe_tag_o,

  output logic [31:0] status_datagrams_o,   // delivered, of all ports
  output logic [15:0] status_events_o,
  output logic [31:0] status_write_errors_o,

  output logic idle_o
);
  if (NumPorts < 1 || NumPorts > 4) begin : gen_ports_check
    $error("nanet_nic: NumPorts is %0d, legal is 1..4", NumPorts);
  end
  localparam int unsigned MaxPorts   = 4;
  localparam int unsigned UsageW     = $clog2(Depth) + 2;
  localparam int unsigned BytesW     = $clog2(nanet_pkg::MaxCommand) + 1;
  localparam int unsigned NumSources = NumPorts + 1;  // and the event queue
  localparam int unsigned TagW       = $clog2(NumSources);
  localparam int unsigned PortW      = NumPorts > 1 ? $clog2(NumPorts) : 1;
  localparam int unsigned EventBytes = 32;

  logic eth_rst_n;
  sync_reset u_eth_reset (
    .clk_i (eth_clk_i),
    .rst_ni,
    .rst_no(eth_rst_n)
  );

  // ---------------------------------------------------------------- registers
  nanet_ctrl_pkg::control_t control;
  nanet_ctrl_pkg::state_t   state;
  logic r_cyc, r_stb, r_we, r_stall, r_err, own, own_ack, own_err, none_q, axi_idle;
  logic [11:0] r_adr;
  logic [3:0]  r_sel;
  logic [31:0] r_dat_w, r_dat_r;

  pcie_axi_wb #(
    .AddrWidth(12),
    .IdWidth  (4)
  ) u_axi_wb (
    .clk_i,
    .rst_ni,
    .awvalid_i (bar_awvalid_i),
    .awready_o (bar_awready_o),
    .awid_i    (bar_awid_i),
    .awaddr_i  (bar_awaddr_i),
    .awsize_i  (bar_awsize_i),
    .wvalid_i  (bar_wvalid_i),
    .wready_o  (bar_wready_o),
    .wdata_i   (bar_wdata_i),
    .wstrb_i   (bar_wstrb_i),
    .wlast_i   (bar_wlast_i),
    .bvalid_o  (bar_bvalid_o),
    .bready_i  (bar_bready_i),
    .bid_o     (bar_bid_o),
    .bresp_o   (bar_bresp_o),
    .arvalid_i (bar_arvalid_i),
    .arready_o (bar_arready_o),
    .arid_i    (bar_arid_i),
    .araddr_i  (bar_araddr_i),
    .arlen_i   (bar_arlen_i),
    .arsize_i  (bar_arsize_i),
    .rvalid_o  (bar_rvalid_o),
    .rready_i  (bar_rready_i),
    .rid_o     (bar_rid_o),
    .rdata_o   (bar_rdata_o),
    .rresp_o   (bar_rresp_o),
    .rlast_o   (bar_rlast_o),
    .wb_cyc_o  (r_cyc),
    .wb_stb_o  (r_stb),
    .wb_we_o   (r_we),
    .wb_adr_o  (r_adr),
    .wb_sel_o  (r_sel),
    .wb_dat_o  (r_dat_w),
    .wb_stall_i(r_stall),
    .wb_ack_i  (own_ack),
    .wb_err_i  (r_err),
    .wb_dat_i  (r_dat_r),
    .idle_o    (axi_idle)
  );

  // What lies above the map is no register. A block of registers never stalls.
  assign own   = r_adr[11:8] == '0;
  assign r_err = own_err || none_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) none_q <= 1'b0;
    else         none_q <= r_cyc && r_stb && !own && !r_stall;
  end

  wb_nanet #(
    .NumPorts  (NumPorts),
    .MaxBuffers(nanet_pkg::MaxBuffers)
  ) u_regs (
    .clk_i,
    .rst_ni,
    .state_i   (state),
    .control_o (control),
    .wb_cyc_i  (r_cyc),
    .wb_stb_i  (r_stb && own),
    .wb_we_i   (r_we),
    .wb_adr_i  (32'(r_adr)),
    .wb_sel_i  (r_sel),
    .wb_dat_i  (r_dat_w),
    .wb_stall_o(r_stall),
    .wb_ack_o  (own_ack),
    .wb_err_o  (own_err),
    .wb_dat_o  (r_dat_r)
  );

  // ---------------------------------------------------------------- ports and their lists
  logic [MaxPorts-1:0] rx_clk, rx_dv, rx_er, tx_en, tx_er;
  logic [MaxPorts-1:0][7:0] rxd, txd;
  assign rx_clk = {gmii3_rx_clk_i, gmii2_rx_clk_i, gmii1_rx_clk_i, gmii_rx_clk_i};
  assign rx_dv  = {gmii3_rx_dv_i, gmii2_rx_dv_i, gmii1_rx_dv_i, gmii_rx_dv_i};
  assign rx_er  = {gmii3_rx_er_i, gmii2_rx_er_i, gmii1_rx_er_i, gmii_rx_er_i};
  assign rxd    = {gmii3_rxd_i, gmii2_rxd_i, gmii1_rxd_i, gmii_rxd_i};
  assign {gmii3_txd_o, gmii2_txd_o, gmii1_txd_o, gmii_txd_o} = txd;
  assign {gmii3_tx_en_o, gmii2_tx_en_o, gmii1_tx_en_o, gmii_tx_en_o} = tx_en;
  assign {gmii3_tx_er_o, gmii2_tx_er_o, gmii1_tx_er_o, gmii_tx_er_o} = tx_er;

  logic [NumSources-1:0] cmd_valid, cmd_ready, data_valid, data_ready, data_keep, data_last, done;
  logic [NumSources-1:0][63:0] cmd_addr;
  logic [NumSources-1:0][BytesW-1:0] cmd_bytes;
  logic [NumSources-1:0][DataWidth-1:0] data;
  logic done_error;

  logic [NumPorts-1:0] ask, answer, event_valid, event_ready, port_idle, stream_idle;
  logic [NumPorts-1:0] first, last, begun, written;
  logic [NumPorts-1:0][5:0] number;
  nanet_pkg::event_t [NumPorts-1:0] events;
  logic queue_full, queue_ready;

  for (genvar i = 0; i < int'(NumPorts); i++) begin : gen_port
    logic beat_valid, beat_ready, head_lost;
    nanet_pkg::entry_e beat_kind;
    logic [DataWidth-1:0] beat;
    logic [UsageW-1:0] usage, ends;
    logic [15:0] frames_good, frames_bad, frames_other, no_event;
    logic [31:0] delivered;
    nanet_pkg::losses_t losses;
    logic [4:0] losses_q;
    logic [4:0][15:0] lost_q;
    logic unused_loss;
    assign unused_loss = losses.no_event;

    nanet_port #(
      .DataWidth(DataWidth),
      .Depth    (Depth),
      .Stores   (Stores)
    ) u_port (
      .clk_i,
      .rst_ni,
      .eth_clk_i,
      .eth_rst_ni    (eth_rst_n),
      .gmii_rx_clk_i (rx_clk[i]),
      .gmii_rxd_i    (rxd[i]),
      .gmii_rx_dv_i  (rx_dv[i]),
      .gmii_rx_er_i  (rx_er[i]),
      .gmii_txd_o    (txd[i]),
      .gmii_tx_en_o  (tx_en[i]),
      .gmii_tx_er_o  (tx_er[i]),
      .cfg_mac_i     (cfg_mac_i + 48'(i)),
      .cfg_ip_i      (cfg_ip_i + 32'(i)),
      .cfg_port_i    (cfg_udp_port_i),
      .beat_valid_o  (beat_valid),
      .beat_ready_i  (beat_ready),
      .beat_kind_o   (beat_kind),
      .beat_o        (beat),
      .usage_o       (usage),
      .ends_o        (ends),
      .head_lost_o   (head_lost),
      .first_o       (first[i]),
      .last_o        (last[i]),
      .frames_good_o (frames_good),
      .frames_bad_o  (frames_bad),
      .frames_other_o(frames_other),
      .idle_o        (port_idle[i])
    );

    nanet_stream #(
      .DataWidth(DataWidth),
      .UsageW   (UsageW),
      .ListId   (8'(i)),
      .Ask      (Firmware)
    ) u_stream (
      .clk_i,
      .rst_ni,
      .time_cycles_i,
      .list_i        (control.lists[i]),
      .table_we_i    (control.table_we && control.table_list == 2'(i)),
      .table_index_i (control.table_index),
      .table_i       (control.table_buffer),
      .beat_valid_i  (beat_valid),
      .beat_ready_o  (beat_ready),
      .beat_kind_i   (beat_kind),
      .beat_i        (beat),
      .usage_i       (usage),
      .ends_i        (ends),
      .head_lost_i   (head_lost),
      .ask_valid_o   (ask[i]),
      .answer_valid_i(answer[i]),
      .cmd_valid_o   (cmd_valid[i]),
      .cmd_ready_i   (cmd_ready[i]),
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
      .filled_o      (state.filled[i]),
      .losses_o      (losses),
      .delivered_o   (delivered),
      .no_event_o    (no_event),
      .number_o      (number[i]),
      .idle_o        (stream_idle[i])
    );
    assign written[i] = event_valid[i] && event_ready[i];

    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
        losses_q <= '0;
        lost_q   <= '0;
      end else begin
        losses_q <= {losses.bad, losses.too_long, losses.no_buffer, losses.closed, losses.overflow};
        for (int unsigned k = 0; k < 5; k++) lost_q[k] <= lost_q[k] + 16'(losses_q[k]);
      end
    end
    assign state.counters[i] = '{
        frames_good: frames_good,
        frames_bad: frames_bad,
        frames_other: frames_other,
        overflow: lost_q[0],
        closed: lost_q[1],
        no_buffer: lost_q[2],
        too_long: lost_q[3],
        bad: lost_q[4],
        no_event: no_event,
        delivered: delivered
    };
  end
  for (genvar i = int'(NumPorts); i < int'(MaxPorts); i++) begin : gen_no_port
    assign txd[i]            = '0;
    assign tx_en[i]          = 1'b0;
    assign tx_er[i]          = 1'b0;
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

  // ---------------------------------------------------------------- events
  logic [NumPorts-1:0] event_gnt;
  logic [PortW-1:0] event_idx;
  logic event_done, queue_idle, irq;
  logic [15:0] queue_written;
  logic [31:0] queue_lost;
  assign event_ready = event_gnt & {NumPorts{queue_ready}};

  arb_rr #(
    .NumReq(NumPorts)
  ) u_event_arb (
    .clk_i,
    .rst_ni,
    .req_i (event_valid),
    .last_i(queue_ready),
    .gnt_o (event_gnt),
    .idx_o (event_idx)
  );

  event_queue #(
    .DataWidth(DataWidth)
  ) u_queue (
    .clk_i,
    .rst_ni,
    .enable_i     (control.enable),
    .base_i       (control.queue_base),
    .size_i       (control.queue_size),
    .taken_i      (control.queue_taken),
    .irq_enable_i (control.irq_enable),
    .irq_gap_i    (control.irq_gap),
    .event_valid_i(event_valid != '0),
    .event_ready_o(queue_ready),
    .event_i      (events[event_idx]),
    .full_o       (queue_full),
    .cmd_valid_o  (cmd_valid[NumPorts]),
    .cmd_ready_i  (cmd_ready[NumPorts]),
    .cmd_addr_o   (cmd_addr[NumPorts]),
    .data_valid_o (data_valid[NumPorts]),
    .data_ready_i (data_ready[NumPorts]),
    .data_last_o  (data_last[NumPorts]),
    .data_o       (data[NumPorts]),
    .done_valid_i (event_done),
    .written_o    (queue_written),
    .lost_o       (queue_lost),
    .irq_o        (irq),
    .idle_o       (queue_idle)
  );
  assign cmd_bytes[NumPorts] = BytesW'(EventBytes);
  assign data_keep[NumPorts] = 1'b1;
  assign event_done          = done[NumPorts];
  assign irq_o[0]            = irq;

  // ---------------------------------------------------------------- memory
  logic m_valid, m_ready, m_data_valid, m_data_ready, m_keep, done_valid, engine_idle;
  logic [63:0] m_addr;
  logic [BytesW-1:0] m_bytes;
  logic [TagW-1:0] m_tag, done_tag;
  logic [DataWidth-1:0] m_data;
  axi_pkg::address_t aw;

  nanet_mux #(
    .NumSources(NumSources),
    .DataWidth (DataWidth),
    .BytesW    (BytesW)
  ) u_mux (
    .clk_i,
    .rst_ni,
    .cmd_valid_i (cmd_valid),
    .cmd_ready_o (cmd_ready),
    .cmd_addr_i  (cmd_addr),
    .cmd_bytes_i (cmd_bytes),
    .data_valid_i(data_valid),
    .data_ready_o(data_ready),
    .data_keep_i (data_keep),
    .data_last_i (data_last),
    .data_i      (data),
    .cmd_valid_o (m_valid),
    .cmd_ready_i (m_ready),
    .cmd_addr_o  (m_addr),
    .cmd_bytes_o (m_bytes),
    .cmd_tag_o   (m_tag),
    .data_valid_o(m_data_valid),
    .data_ready_i(m_data_ready),
    .data_keep_o (m_keep),
    .data_o      (m_data)
  );

  axi_write_engine #(
    .DataWidth (DataWidth),
    .BurstBytes(nanet_pkg::ChunkBytes),
    .MaxBytes  (nanet_pkg::MaxCommand),
    .MaxBursts (16),
    .TagWidth  (TagW)
  ) u_write (
    .clk_i,
    .rst_ni,
    .cmd_valid_i (m_valid),
    .cmd_ready_o (m_ready),
    .cmd_addr_i  (m_addr),
    .cmd_bytes_i (m_bytes),
    .cmd_tag_i   (m_tag),
    .data_valid_i(m_data_valid),
    .data_ready_o(m_data_ready),
    .data_keep_i (m_keep),
    .data_i      (m_data),
    .done_valid_o(done_valid),
    .done_tag_o  (done_tag),
    .done_error_o(done_error),
    .awvalid_o   (dma_awvalid_o),
    .awready_i   (dma_awready_i),
    .aw_o        (aw),
    .wvalid_o    (dma_wvalid_o),
    .wready_i    (dma_wready_i),
    .wdata_o     (dma_wdata_o),
    .wstrb_o     (dma_wstrb_o),
    .wlast_o     (dma_wlast_o),
    .bvalid_i    (dma_bvalid_i),
    .bready_o    (dma_bready_o),
    .bresp_i     (dma_bresp_i),
    .idle_o      (engine_idle)
  );
  assign dma_awid_o    = '0;
  assign dma_awaddr_o  = aw.addr;
  assign dma_awlen_o   = aw.len;
  assign dma_awsize_o  = aw.size;
  assign dma_awburst_o = aw.burst;
  for (genvar i = 0; i < int'(NumSources); i++) begin : gen_done
    assign done[i] = done_valid && done_tag == TagW'(i);
  end

  // Nothing is read.
  assign dma_arvalid_o = 1'b0;
  assign dma_arid_o    = '0;
  assign dma_araddr_o  = '0;
  assign dma_arlen_o   = '0;
  assign dma_arsize_o  = '0;
  assign dma_arburst_o = '0;
  assign dma_rready_o  = 1'b1;

  // ---------------------------------------------------------------- state and probes
  logic [31:0] write_errors_q, delivered_sum;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) write_errors_q <= '0;
    else write_errors_q <= write_errors_q + 32'(done_valid && done_error);
  end
  always_comb begin
    delivered_sum = '0;
    for (int unsigned i = 0; i < MaxPorts; i++) begin
      delivered_sum = delivered_sum + state.counters[i].delivered;
    end
  end
  assign state.ready           = !control.enable && (&stream_idle) && queue_idle && engine_idle;
  assign state.write_errors    = write_errors_q;
  assign state.written         = queue_written;
  assign state.events_lost     = queue_lost[15:0];
  assign status_datagrams_o    = delivered_sum;
  assign status_events_o       = queue_written;
  assign status_write_errors_o = write_errors_q;

  // Datagrams of events under way, the oldest first.
  logic [7:0] event_tag, done_event_tag;
  logic unused_ready, unused_valid;
  fifo #(
    .Width(8),
    .Depth(16)
  ) u_event_tags (
    .clk_i,
    .rst_ni,
    .clear_i(1'b0),
    .valid_i(written != '0 && !queue_full),
    .ready_o(unused_ready),
    .data_i (event_tag),
    .valid_o(unused_valid),
    .ready_i(event_done),
    .data_o (done_event_tag),
    .usage_o()
  );

  logic [NumPorts-1:0] ask_q;
  logic [NumPorts-1:0][5:0] first_q, last_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      ask_q   <= '0;
      first_q <= '0;
      last_q  <= '0;
    end else begin
      ask_q <= ask;
      for (int unsigned i = 0; i < NumPorts; i++) begin
        first_q[i] <= first_q[i] + 6'(first[i]);
        last_q[i]  <= last_q[i] + 6'(last[i]);
      end
    end
  end

  always_comb begin
    probe_o     = '0;
    probe_tag_o = '0;
    event_tag   = '0;
    for (int i = int'(NumPorts) - 1; i >= 0; i--) begin
      if (first[i]) begin
        probe_o[UdpFirst]     = 1'b1;
        probe_tag_o[UdpFirst] = {2'(i), first_q[i]};
      end
      if (last[i]) begin
        probe_o[CtrlLast]     = 1'b1;
        probe_tag_o[CtrlLast] = {2'(i), last_q[i]};
      end
      if (ask[i] && !ask_q[i]) begin
        probe_o[Requested]     = 1'b1;
        probe_tag_o[Requested] = {2'(i), number[i]};
      end
      if (asked[i] && (taken || !Firmware)) begin
        probe_o[Accepted]     = 1'b1;
        probe_tag_o[Accepted] = {2'(i), number[i]};
      end
      if (ask[i] && answer[i]) begin
        probe_o[Answered]     = 1'b1;
        probe_tag_o[Answered] = {2'(i), number[i]};
      end
      if (begun[i]) begin
        probe_o[WriteFirst]     = 1'b1;
        probe_tag_o[WriteFirst] = {2'(i), number[i]};
      end
      if (written[i]) begin
        event_tag            = {2'(i), number[i] - 6'd1};
        probe_o[Written]     = 1'b1;
        probe_tag_o[Written] = event_tag;
      end
    end
    probe_o[Completed]     = event_done;
    probe_tag_o[Completed] = done_event_tag;
  end

  assign idle_o = axi_idle && (&port_idle) && (&stream_idle) && firmware_idle && queue_idle &&
                  engine_idle && event_valid == '0;

  logic unused;
  assign unused = ^{bar_awlen_i, bar_awburst_i, bar_arburst_i, dma_bid_i, dma_arready_i,
                    dma_rvalid_i,
                    dma_rid_i, dma_rdata_i, dma_rresp_i, dma_rlast_i, unused_ready,
                    unused_valid,
                    queue_lost[31:16], cfg_firmware_wake_min_i, cfg_firmware_wake_span_i,
                    cfg_firmware_work_i, rx_clk, rx_dv, rx_er, rxd};
endmodule
