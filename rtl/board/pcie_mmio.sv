// SPDX-License-Identifier: SHL-2.1
/// Device: Wishbone slaves behind PCIe, word by word: each load or store is one bus operation.
///
/// The published way, to compare with. bar -> pcie_axi_wb -> registers, or window -> wb_timeout ->
/// board_bus: RAM, SDB table, ECA time, TLU, registers (read only).
/// BAR 0: registers at 0, window of 64 KiB at 0x10000 (docs/explanation/cores/pcie.md).
///
///   Clocks      clk_i 125 MHz for everything, the user clock of the hard block
///   Latency     arvalid to rvalid of a word: 6 clocks, of the RAM 8
///   Throughput  one operation at a time
///   Parameters  Timeout clocks until a bus operation is answered err; SilentSlave 1 adds a slave
///               that never answers, to test just that
///   Not done    interrupts
module pcie_mmio
  import pcie_mmio_pkg::*;
#(
  parameter int unsigned Timeout = 12_500,
  parameter bit SilentSlave = 1'b0,
  parameter int unsigned NumTriggers = 4
) (
  input logic clk_i,
  input logic rst_ni,

  input  logic        bar_awvalid_i,  // bar_aw*: AXI4 write address of the host, valid/ready
  input  logic [3:0]  bar_awid_i,
  input  logic [16:0] bar_awaddr_i,  // of a byte in the BAR
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
  input  logic [16:0] bar_araddr_i,
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

  input logic [63:0] time_ns_i,             // TAI in ns
  input logic [NumTriggers-1:0] trigger_i,  // asynchronous; edges are latched, a channel a bit

  output logic [NumProbes-1:0]      probe_o,      // strobes, by probe_e; for simulation
  output logic [NumProbes-1:0][7:0] probe_tag_o,  // running number of the access to the window

  output logic [31:0] status_operations_o,  // of the window, answered; all status_* wrap
  output logic [31:0] status_bus_errors_o,  // operations answered err
  output logic [31:0] status_timeouts_o,    // operations not answered for Timeout clocks

  output logic idle_o  // nothing changes until an input does
);
  axi_pkg::bar_request_t  bar;
  axi_pkg::bar_response_t bar_answer;
  assign bar = {
      bar_awvalid_i, bar_awid_i, 32'(bar_awaddr_i), bar_awsize_i,
      bar_wvalid_i, bar_wdata_i, bar_wstrb_i, bar_wlast_i, bar_bready_i,
      bar_arvalid_i, bar_arid_i, 32'(bar_araddr_i), bar_arlen_i, bar_arsize_i, bar_rready_i
  };
  assign {bar_awready_o, bar_wready_o, bar_bvalid_o, bar_bid_o, bar_bresp_o, bar_arready_o,
          bar_rvalid_o, bar_rid_o, bar_rdata_o, bar_rresp_o, bar_rlast_o} = bar_answer;

  logic h_cyc, h_stb, h_we, h_stall, h_ack, h_err, h_own, h_window;
  logic [16:0] h_adr;
  logic [3:0] h_sel;
  logic [31:0] h_dat_w, h_dat_r, r_dat;
  logic r_stall, r_ack, r_err, axi_idle;

  pcie_axi_wb #(
    .AddrWidth(17)
  ) u_axi_wb (
    .clk_i,
    .rst_ni,
    .bar_i     (bar),
    .bar_o     (bar_answer),
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

  // ---------------------------------------------------------------- window or registers
  logic w_cyc, w_stall, w_ack, w_err, held_q, open, stray_q, answered_q;
  logic [31:0] w_dat;
  logic [15:0] window;
  logic [63:0] errors_q;

  assign h_window = h_adr[16];
  assign h_own    = h_adr[16:8] == '0;
  // The bus cycle stays open between operations while the host requests it.
  assign w_cyc    = (h_cyc && h_window) || (held_q && open);
  assign h_stall  = h_window ? w_stall : (h_own && r_stall);
  assign h_ack    = h_window ? w_ack : r_ack;
  assign h_err    = h_window ? w_err : (r_err || stray_q);
  assign h_dat_r  = h_window ? w_dat : r_dat;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      held_q     <= 1'b0;
      stray_q    <= 1'b0;
      answered_q <= 1'b0;
      errors_q   <= '0;
    end else begin
      held_q     <= w_cyc;
      stray_q    <= h_cyc && h_stb && !h_own && !h_window;
      answered_q <= w_ack || w_err;
      if (w_ack || w_err) errors_q <= {errors_q[62:0], w_err};
    end
  end

  // ---------------------------------------------------------------- Wishbone
  logic cyc, stb, we, stall, ack, err, timeout, bus_idle;
  logic [31:0] adr, dat_w, dat_r;
  logic [3:0] sel;
  logic c_cyc, c_stb, c_we, c_stall, c_ack, c_err;
  logic [31:0] c_adr, c_dat_w, c_dat_r;
  logic [3:0] c_sel;

  wb_timeout #(
    .MaxOutstanding(1),
    .Timeout       (Timeout)
  ) u_timeout (
    .clk_i,
    .rst_ni,
    .m_cyc_i  (w_cyc),
    .m_stb_i  (h_stb && h_window),
    .m_we_i   (h_we),
    .m_adr_i  ({window, h_adr[15:0]}),
    .m_sel_i  (h_sel),
    .m_dat_i  (h_dat_w),
    .m_stall_o(w_stall),
    .m_ack_o  (w_ack),
    .m_err_o  (w_err),
    .m_dat_o  (w_dat),
    .s_cyc_o  (cyc),
    .s_stb_o  (stb),
    .s_we_o   (we),
    .s_adr_o  (adr),
    .s_sel_o  (sel),
    .s_dat_o  (dat_w),
    .s_stall_i(stall),
    .s_ack_i  (ack),
    .s_err_i  (err),
    .s_dat_i  (dat_r),
    .timeout_o(timeout)
  );

  board_bus #(
    .CtrlProduct(wb_pkg::ProductPcieMmio),
    .SilentSlave(SilentSlave),
    .NumTriggers(NumTriggers)
  ) u_bus (
    .clk_i,
    .rst_ni,
    .time_ns_i,
    .trigger_i,
    .wb_i  ({cyc, stb, we, adr, sel, dat_w}),
    .wb_o  ({stall, ack, err, dat_r}),
    .ctrl_o({c_cyc, c_stb, c_we, c_adr, c_sel, c_dat_w}),
    .ctrl_i({c_stall, c_ack, c_err, c_dat_r}),
    .idle_o(bus_idle)
  );

  wb_pcie_mmio u_regs (
    .clk_i,
    .rst_ni,
    .errors_i       (errors_q),
    .sdb_address_i  (board_bus_pkg::SdbBase),
    .open_o         (open),
    .window_o       (window),
    .host_wb_cyc_i  (h_cyc),
    .host_wb_stb_i  (h_stb && h_own),
    .host_wb_we_i   (h_we),
    .host_wb_adr_i  (32'(h_adr)),
    .host_wb_sel_i  (h_sel),
    .host_wb_dat_i  (h_dat_w),
    .host_wb_stall_o(r_stall),
    .host_wb_ack_o  (r_ack),
    .host_wb_err_o  (r_err),
    .host_wb_dat_o  (r_dat),
    .wb_cyc_i       (c_cyc),
    .wb_stb_i       (c_stb),
    .wb_we_i        (c_we),
    .wb_adr_i       (c_adr),
    .wb_sel_i       (c_sel),
    .wb_dat_i       (c_dat_w),
    .wb_stall_o     (c_stall),
    .wb_ack_o       (c_ack),
    .wb_err_o       (c_err),
    .wb_dat_o       (c_dat_r)
  );

  // ---------------------------------------------------------------- counters and probes
  logic [31:0] operations_q, bus_errors_q, timeouts_q;
  logic timeout_q;  // a register before its count: the bridge is not idle until it is counted
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      operations_q <= '0;
      bus_errors_q <= '0;
      timeouts_q   <= '0;
      timeout_q    <= 1'b0;
    end else begin
      operations_q <= operations_q + 32'(answered_q);
      bus_errors_q <= bus_errors_q + 32'(answered_q && errors_q[0]);
      timeouts_q   <= timeouts_q + 32'(timeout_q);
      timeout_q    <= timeout;
    end
  end
  assign status_operations_o = operations_q;
  assign status_bus_errors_o = bus_errors_q;
  assign status_timeouts_o   = timeouts_q;

  logic [7:0] number_q;  // of the access to the window
  logic bar_taken;
  logic answer_due_q;  // the access being answered is one to the window
  assign bar_taken = (bar_awvalid_i && bar_awready_o && bar_awaddr_i[16]) ||
                     (bar_arvalid_i && bar_arready_o && bar_araddr_i[16]);
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) number_q <= '0;
    else number_q <= number_q + 8'(bar_taken);
  end

  assign probe_o[BarAccess]      = bar_taken;
  assign probe_o[WbIssue]        = h_stb && h_window && !w_stall;
  assign probe_o[WbAnswer]       = w_ack || w_err;
  assign probe_o[BarAnswer]      = answer_due_q && ((bar_rvalid_o && bar_rready_i && bar_rlast_o) ||
                                                    (bar_bvalid_o && bar_bready_i));
  assign probe_tag_o[BarAccess]  = number_q;
  assign probe_tag_o[WbIssue]    = number_q - 8'd1;
  assign probe_tag_o[WbAnswer]   = number_q - 8'd1;
  assign probe_tag_o[BarAnswer]  = number_q - 8'd1;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) answer_due_q <= 1'b0;
    else answer_due_q <= bar_taken || (answer_due_q && !probe_o[BarAnswer]);
  end

  assign idle_o = axi_idle && bus_idle && held_q == w_cyc && !answered_q;

  logic unused;
  assign unused = ^{bar_awburst_i, bar_arburst_i, bar_awlen_i};
endmodule
