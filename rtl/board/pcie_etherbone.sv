// SPDX-License-Identifier: SHL-2.1
/// Device: Wishbone slaves behind PCIe, Etherbone streamed by DMA.
///
/// bar -> pcie_push -> registers; pushes, and request ring -> pcie_dma -> etherbone_slave ->
/// board_bus: RAM, SDB table, ECA time, TLU, registers (read only). Replies -> pcie_dma -> reply
/// ring, status word. BAR 0: registers at 0, push window at 0x1000. How a driver uses it:
/// docs/explanation/cores/pcie.md.
///
///   Clocks      clk_i 125 MHz for everything, the user clock of the hard block
///   Latency     last beat of a push to the last beat of its replies: 14 clocks for one checked
///               cycle of two time reads (docs/explanation/cores/pcie.md has each clock)
///   Throughput  one bus operation a clock, from host memory to host memory
///   Parameters  Timeout clocks until a bus operation is answered err; SilentSlave 1 adds a slave
///               that never answers, to test just that; the others as in pcie_dma
///   Not done    several streams, MSI-X tables, the TLU's interrupt
module pcie_etherbone
  import pcie_etherbone_pkg::*;
#(
  parameter int unsigned Timeout = 12_500,
  parameter int unsigned BufferWords = 256,
  parameter int unsigned ReadBytes = 256,
  parameter int unsigned WriteBytes = 256,
  parameter bit SilentSlave = 1'b0,
  parameter int unsigned NumTriggers = 4
) (
  input logic clk_i,
  input logic rst_ni,

  input  logic        bar_awvalid_i,  // bar_aw*: AXI4 write address of the host, valid/ready
  input  logic [3:0]  bar_awid_i,
  input  logic [12:0] bar_awaddr_i,  // of a byte in the BAR
  input  logic [7:0]  bar_awlen_i,   // beats less one; of registers not looked at
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

  output logic        dma_awvalid_o,  // dma_aw*: AXI4 write address at the host, INCR
  output logic [0:0]  dma_awid_o,
  output logic [63:0] dma_awaddr_o,
  output logic [7:0]  dma_awlen_o,
  output logic [2:0]  dma_awsize_o,
  output logic [1:0]  dma_awburst_o,
  input  logic        dma_awready_i,
  output logic        dma_wvalid_o,  // dma_w*: its data, byte n in bits 8n+7:8n
  output logic [63:0] dma_wdata_o,
  output logic [7:0]  dma_wstrb_o,
  output logic        dma_wlast_o,
  input  logic        dma_wready_i,
  input  logic        dma_bvalid_i,  // dma_b*: an answer a burst; resp 2, 3: an error
  input  logic [0:0]  dma_bid_i,
  input  logic [1:0]  dma_bresp_i,
  output logic        dma_bready_o,
  output logic        dma_arvalid_o,  // dma_ar*: AXI4 read address at the host, INCR
  output logic [0:0]  dma_arid_o,
  output logic [63:0] dma_araddr_o,
  output logic [7:0]  dma_arlen_o,
  output logic [2:0]  dma_arsize_o,
  output logic [1:0]  dma_arburst_o,
  input  logic        dma_arready_i,
  input  logic        dma_rvalid_i,  // dma_r*: data of reads, in order; resp 2, 3: an error
  input  logic [0:0]  dma_rid_i,
  input  logic [63:0] dma_rdata_i,
  input  logic [1:0]  dma_rresp_i,
  input  logic        dma_rlast_i,
  output logic        dma_rready_o,

  output logic [0:0] irq_o,  // strobe: a status word was written, if the driver asks for it

  input logic [63:0] time_ns_i,             // TAI in ns
  input logic [NumTriggers-1:0] trigger_i,  // asynchronous; edges are latched, a channel a bit

  output logic [NumProbes-1:0]      probe_o,      // strobes, by probe_e; for simulation
  output logic [NumProbes-1:0][7:0] probe_tag_o,  // number of the unit, as probe_e says

  output logic [31:0] status_ring_words_o,  // words read from the request ring; all status_* wrap
  output logic [31:0] status_push_words_o,  // words accepted from the push window
  output logic [31:0] status_reply_words_o,  // words written to the reply ring
  output logic [31:0] status_read_bursts_o,  // bursts read from the request ring
  output logic [31:0] status_write_bursts_o,  // bursts written to the reply ring
  output logic [31:0] status_status_writes_o,  // status words written
  output logic [31:0] status_push_refused_o,  // pushes of which no word was used
  output logic [31:0] status_axi_errors_o,  // answers of host memory that are not OKAY
  output logic [31:0] status_eb_records_o,  // Etherbone records executed
  output logic [31:0] status_eb_bus_errors_o,  // operations answered err
  output logic [31:0] status_eb_timeouts_o,  // bus cycles given up after Timeout
  output logic [31:0] status_eb_malformed_o,  // words at the stream's start that are no header

  output logic idle_o  // nothing changes until an input does
);
  localparam int unsigned IdWidth = 4;
  localparam int unsigned CoreDepth = 64;  // a burst of replies and operations in flight to slaves
  localparam int unsigned RoomW = $clog2(BufferWords) + 1;
  localparam int unsigned PromiseW = $clog2(BufferWords + CoreDepth) + 1;

  // ---------------------------------------------------------------- the host's loads and stores
  logic bus_awvalid, bus_wvalid, bus_bready, axi_idle, push_idle;
  axi_pkg::bar_request_t  bus;
  axi_pkg::bar_response_t bus_answer;
  logic h_cyc, h_stb, h_we, h_stall, h_ack, h_err, h_own, r_stall, r_err;
  logic [12:0] h_adr;
  logic [3:0] h_sel;
  logic [31:0] h_dat_w, h_dat_r;

  logic push_open, push_write, push_first, push_commit, push_rollback, push_refused, start;
  logic [RoomW-1:0] push_room, push_words;
  logic [1:0] push_lanes;
  logic [63:0] push_data;
  logic [11:0] push_next;

  pcie_push #(
    .RoomW  (RoomW),
    .IdWidth(IdWidth)
  ) u_push (
    .clk_i,
    .rst_ni,
    .awvalid_i    (bar_awvalid_i),
    .awready_o    (bar_awready_o),
    .awid_i       (bar_awid_i),
    .awaddr_i     (bar_awaddr_i[12:2]),
    .awlen_i      (bar_awlen_i),
    .awsize_i     (bar_awsize_i),
    .wvalid_i     (bar_wvalid_i),
    .wready_o     (bar_wready_o),
    .wdata_i      (bar_wdata_i),
    .wstrb_i      (bar_wstrb_i),
    .wlast_i      (bar_wlast_i),
    .bvalid_o     (bar_bvalid_o),
    .bready_i     (bar_bready_i),
    .bid_o        (bar_bid_o),
    .bresp_o      (bar_bresp_o),
    .bus_awvalid_o(bus_awvalid),
    .bus_awready_i(bus_answer.awready),
    .bus_wvalid_o (bus_wvalid),
    .bus_wready_i (bus_answer.wready),
    .bus_bvalid_i (bus_answer.bvalid),
    .bus_bready_o (bus_bready),
    .bus_bid_i    (bus_answer.bid),
    .bus_bresp_i  (bus_answer.bresp),
    .start_i      (start),
    .open_i       (push_open),
    .room_i       (push_room),
    .write_o      (push_write),
    .lanes_o      (push_lanes),
    .data_o       (push_data),
    .first_o      (push_first),
    .commit_o     (push_commit),
    .rollback_o   (push_rollback),
    .words_o      (push_words),
    .refused_o    (push_refused),
    .next_o       (push_next),
    .idle_o       (push_idle)
  );

  // Writes to the push window end in pcie_push; the others, and all reads, go on.
  assign bus = {
      bus_awvalid, bar_awid_i, 32'(bar_awaddr_i), bar_awsize_i,
      bus_wvalid, bar_wdata_i, bar_wstrb_i, bar_wlast_i, bus_bready,
      bar_arvalid_i, bar_arid_i, 32'(bar_araddr_i), bar_arlen_i, bar_arsize_i, bar_rready_i
  };
  assign {bar_arready_o, bar_rvalid_o, bar_rid_o, bar_rdata_o, bar_rresp_o, bar_rlast_o} = {
      bus_answer.arready, bus_answer.rvalid, bus_answer.rid, bus_answer.rdata,
      bus_answer.rresp, bus_answer.rlast};
  pcie_axi_wb #(
    .AddrWidth(13)
  ) u_axi_wb (
    .clk_i,
    .rst_ni,
    .bar_i     (bus),
    .bar_o     (bus_answer),
    .wb_cyc_o  (h_cyc),
    .wb_stb_o  (h_stb),
    .wb_we_o   (h_we),
    .wb_adr_o  (h_adr),
    .wb_sel_o  (h_sel),
    .wb_dat_o  (h_dat_w),
    .wb_stall_i(h_stall),
    .wb_ack_i  (h_ack),
    .wb_err_i  (h_err),
    .wb_dat_i  (h_dat_r),
    .idle_o    (axi_idle)
  );

  // All addresses outside the registers answer err, including loads from the push window.
  logic stray_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) stray_q <= 1'b0;
    else stray_q <= h_cyc && h_stb && !h_own;
  end
  assign h_own   = h_adr[12:8] == '0;
  assign h_stall = h_own && r_stall;
  assign h_err   = r_err || stray_q;

  // ---------------------------------------------------------------- streams
  pcie_dma_pkg::control_t control;
  pcie_dma_pkg::state_t state;
  pcie_dma_pkg::service_t service;
  axi_pkg::request_t dma;
  axi_pkg::response_t dma_answer;
  logic rx_valid, rx_ready, rx_first, tx_valid, tx_ready, tx_first, abort, service_idle;
  logic [31:0] rx_data, tx_data;
  logic [RoomW-1:0] waiting;
  logic [PromiseW-1:0] promise;
  logic fetch, told, dma_idle;
  logic [1:0] unit;

  pcie_dma #(
    .BufferWords(BufferWords),
    .ReadBytes  (ReadBytes),
    .WriteBytes (WriteBytes),
    .PromiseW   (PromiseW)
  ) u_dma (
    .clk_i,
    .rst_ni,
    .control_i      (control),
    .state_o        (state),
    .irq_o          (irq_o[0]),
    .push_open_o    (push_open),
    .push_room_o    (push_room),
    .push_write_i   (push_write),
    .push_lanes_i   (push_lanes),
    .push_data_i    (push_data),
    .push_first_i   (push_first),
    .push_commit_i  (push_commit),
    .push_rollback_i(push_rollback),
    .push_words_i   (push_words),
    .push_refused_i (push_refused),
    .rx_valid_o     (rx_valid),
    .rx_ready_i     (rx_ready),
    .rx_data_o      (rx_data),
    .rx_first_o     (rx_first),
    .abort_o        (abort),
    .waiting_o      (waiting),
    .idle_i         (service_idle),
    .tx_valid_i     (tx_valid),
    .tx_ready_o     (tx_ready),
    .tx_data_i      (tx_data),
    .tx_first_i     (tx_first),
    .promise_i      (promise),
    .dma_o          (dma),
    .dma_wdata_o,
    .dma_wstrb_o,
    .dma_i          (dma_answer),
    .dma_rdata_i,
    .fetch_o        (fetch),
    .unit_o         (unit),
    .told_o         (told),
    .start_o        (start),
    .idle_o         (dma_idle)
  );
  assign {dma_awvalid_o, dma_awaddr_o, dma_awlen_o, dma_awsize_o, dma_awburst_o,
          dma_wvalid_o, dma_wlast_o, dma_bready_o,
          dma_arvalid_o, dma_araddr_o, dma_arlen_o, dma_arsize_o, dma_arburst_o,
          dma_rready_o} = dma;
  assign {dma_awid_o, dma_arid_o} = '0;
  assign dma_answer = {dma_awready_i, dma_wready_i, dma_bvalid_i, dma_bresp_i,
                       dma_arready_i, dma_rvalid_i, dma_rresp_i, dma_rlast_i};

  // ---------------------------------------------------------------- Etherbone
  wb_pkg::request_t wb;
  wb_pkg::response_t wb_answer;
  logic operation, in_first, out_first, stream_rest, bus_idle;

  pcie_etherbone_stream #(
    .Timeout (Timeout),
    .Depth   (CoreDepth),
    .RoomW   (RoomW),
    .PromiseW(PromiseW)
  ) u_stream (
    .clk_i,
    .rst_ni,
    .rx_valid_i (rx_valid),
    .rx_ready_o (rx_ready),
    .rx_data_i  (rx_data),
    .rx_first_i (rx_first),
    .abort_i    (abort),
    .waiting_i  (waiting),
    .tx_valid_o (tx_valid),
    .tx_ready_i (tx_ready),
    .tx_data_o  (tx_data),
    .tx_first_o (tx_first),
    .promise_o  (promise),
    .wb_o       (wb),
    .wb_i       (wb_answer),
    .service_o  (service),
    .operation_o(operation),
    .in_first_o (in_first),
    .out_first_o(out_first),
    .idle_o     (service_idle),
    .rest_o     (stream_rest)
  );

  // ---------------------------------------------------------------- Wishbone
  wb_pkg::request_t ctrl;
  wb_pkg::response_t ctrl_answer;

  board_bus #(
    .CtrlProduct  (wb_pkg::ProductPcieDma),
    .SilentSlave  (SilentSlave),
    .SdbRegistered(1'b1),
    .NumTriggers  (NumTriggers)
  ) u_bus (
    .clk_i,
    .rst_ni,
    .time_ns_i,
    .trigger_i,
    .wb_i  (wb),
    .wb_o  (wb_answer),
    .ctrl_o(ctrl),
    .ctrl_i(ctrl_answer),
    .idle_o(bus_idle)
  );

  wb_pcie_dma u_regs (
    .clk_i,
    .rst_ni,
    .state_i        (state),
    .service_i      (service),
    .max_payload_i  (16'(WriteBytes)),
    .push_limit_i   (16'(4 * BufferWords - 64)),
    .push_next_i    (push_next),
    .control_o      (control),
    .host_wb_cyc_i  (h_cyc),
    .host_wb_stb_i  (h_stb && h_own),
    .host_wb_we_i   (h_we),
    .host_wb_adr_i  (32'(h_adr)),
    .host_wb_sel_i  (h_sel),
    .host_wb_dat_i  (h_dat_w),
    .host_wb_stall_o(r_stall),
    .host_wb_ack_o  (h_ack),
    .host_wb_err_o  (r_err),
    .host_wb_dat_o  (h_dat_r),
    .wb_cyc_i       (ctrl.cyc),
    .wb_stb_i       (ctrl.stb),
    .wb_we_i        (ctrl.we),
    .wb_adr_i       (ctrl.adr),
    .wb_sel_i       (ctrl.sel),
    .wb_dat_i       (ctrl.dat),
    .wb_stall_o     (ctrl_answer.stall),
    .wb_ack_o       (ctrl_answer.ack),
    .wb_err_o       (ctrl_answer.err),
    .wb_dat_o       (ctrl_answer.dat)
  );

  // ---------------------------------------------------------------- counters and probes
  assign status_ring_words_o     = state.counters.ring_words;
  assign status_push_words_o     = state.counters.push_words;
  assign status_reply_words_o    = state.counters.reply_words;
  assign status_read_bursts_o    = state.counters.read_bursts;
  assign status_write_bursts_o   = state.counters.write_bursts;
  assign status_status_writes_o  = state.counters.status_writes;
  assign status_push_refused_o   = state.counters.push_refused;
  assign status_axi_errors_o     = state.counters.axi_errors;
  assign status_eb_records_o     = service.records;
  assign status_eb_bus_errors_o  = service.bus_errors;
  assign status_eb_timeouts_o    = service.timeouts;
  assign status_eb_malformed_o   = service.malformed;

  pcie_etherbone_probes u_probes (
    .clk_i,
    .rst_ni,
    .start_i      (start),
    .fetch_i      (fetch),
    .push_commit_i(push_commit),
    .tail_new_i   (control.tail_new),
    .in_first_i   (in_first),
    .operation_i  (operation),
    .out_first_i  (out_first),
    .unit_i       (unit),
    .told_i       (told),
    .probe_o,
    .probe_tag_o
  );

  assign idle_o = dma_idle && push_idle && axi_idle && stream_rest && bus_idle;

  logic unused;
  assign unused = ^{bar_awburst_i, bar_arburst_i, dma_bid_i, dma_rid_i};
endmodule
