// SPDX-License-Identifier: SHL-2.1
/// The bus that every device carries: one master, the published slaves, and a window for its own
/// control registers.
///
/// wb_slice -> wb_xbar -> RAM, SDB table, ECA time, TLU, silent slave, and out to the registers.
/// Windows: board_bus_pkg, generated from rtl/regs/board_bus.rdl. The crossbar's masks and the SDB
/// records both come from it, so an access past a device's last address answers err and reaches
/// none.
///
///   Handshake   Wishbone B4 pipelined on both ports, taken with cyc & stb & ~stall, answered once
///   Latency     2 cycles (slice) and the slave's: 1, RAM 3, SDB table as SdbRegistered says
///   Throughput  one operation a cycle
///   Idle        idle_o: with wb_cyc_i low, nothing here changes until an input changes
///   Parameters  NumTriggers as wb_tlu; CtrlProduct names the control registers in the SDB table;
///               CtrlSlave 0: there are none, their window answers err and is not in the table;
///               SilentSlave 1 adds a slave that never answers, to test just that;
///               SdbRegistered as Registered of wb_sdb_rom, for a large device
///   Not done    several masters, interrupts of the TLU
module board_bus
  import board_bus_pkg::*;
#(
  parameter wb_pkg::sdb_product_t CtrlProduct = wb_pkg::ProductGigeCtrl,
  parameter bit CtrlSlave = 1'b1,
  parameter bit SilentSlave = 1'b0,
  parameter bit SdbRegistered = 1'b0,
  parameter int unsigned NumTriggers = 4
) (
  input logic clk_i,
  input logic rst_ni,

  input logic [63:0] time_ns_i,             // TAI in ns, as wb_eca_time and wb_tlu
  input logic [NumTriggers-1:0] trigger_i,  // asynchronous; edges are latched, a channel a bit

  // from the master
  input  wb_pkg::request_t  wb_i,
  output wb_pkg::response_t wb_o,
  // to the control registers
  output wb_pkg::request_t  ctrl_o,
  input  wb_pkg::response_t ctrl_i,

  output logic idle_o
);
  localparam int unsigned NumSlaves = SilentSlave ? 6 : 5;
  localparam logic [5:0][31:0] Bases = {SilentBase, CtrlBase, TluBase, EcaBase, SdbBase, RamBase};
  localparam int unsigned NumSdb = CtrlSlave ? 4 : 3;
  // The table itself answers err behind its last record.
  localparam int unsigned SdbWindow = 64 << $clog2(NumSdb + 1);
  localparam logic [5:0][31:0] Masks = {
    wb_pkg::window_mask(SilentBytes), wb_pkg::window_mask(CtrlBytes), wb_pkg::window_mask(TluBytes),
    wb_pkg::window_mask(EcaBytes), wb_pkg::window_mask(SdbWindow), wb_pkg::window_mask(RamBytes)
  };

  if (SdbBytes < 64 * (NumSdb + 1)) begin : gen_sdb_check
    $error("board_bus: the SDB table has %0d bytes, its window %0d", 64 * (NumSdb + 1), SdbBytes);
  end
  if (RamBytes != 1 << $clog2(RamBytes) || EcaBytes != 1 << $clog2(EcaBytes) ||
      TluBytes != 1 << $clog2(TluBytes) ||
      CtrlBytes != 1 << $clog2(CtrlBytes)) begin : gen_size_check
    $error("board_bus: a window's bytes must be a power of two");
  end

  logic [NumSlaves-1:0] s_cyc, s_stb, s_we, s_stall, s_ack, s_err;
  logic [NumSlaves-1:0][31:0] s_adr, s_dat_w, s_dat_r;
  logic [NumSlaves-1:0][3:0] s_sel;

  logic x_cyc, x_stb, x_we, x_stall, x_ack, x_err;
  logic [31:0] x_adr, x_dat_w, x_dat_r;
  logic [3:0] x_sel;

  // The crossbar is combinational: both paths through it end in registers.
  wb_slice u_slice (
    .clk_i,
    .rst_ni,
    .m_cyc_i  (wb_i.cyc),
    .m_stb_i  (wb_i.stb),
    .m_we_i   (wb_i.we),
    .m_adr_i  (wb_i.adr),
    .m_sel_i  (wb_i.sel),
    .m_dat_i  (wb_i.dat),
    .m_stall_o(wb_o.stall),
    .m_ack_o  (wb_o.ack),
    .m_err_o  (wb_o.err),
    .m_dat_o  (wb_o.dat),
    .s_cyc_o  (x_cyc),
    .s_stb_o  (x_stb),
    .s_we_o   (x_we),
    .s_adr_o  (x_adr),
    .s_sel_o  (x_sel),
    .s_dat_o  (x_dat_w),
    .s_stall_i(x_stall),
    .s_ack_i  (x_ack),
    .s_err_i  (x_err),
    .s_dat_i  (x_dat_r)
  );

  wb_xbar #(
    .NumMasters(1),
    .NumSlaves (NumSlaves),
    .Base      (Bases[NumSlaves-1:0]),
    .Mask      (Masks[NumSlaves-1:0])
  ) u_xbar (
    .clk_i,
    .rst_ni,
    .m_cyc_i  (x_cyc),
    .m_stb_i  (x_stb),
    .m_we_i   (x_we),
    .m_adr_i  (x_adr),
    .m_sel_i  (x_sel),
    .m_dat_i  (x_dat_w),
    .m_stall_o(x_stall),
    .m_ack_o  (x_ack),
    .m_err_o  (x_err),
    .m_dat_o  (x_dat_r),
    .s_cyc_o  (s_cyc),
    .s_stb_o  (s_stb),
    .s_we_o   (s_we),
    .s_adr_o  (s_adr),
    .s_sel_o  (s_sel),
    .s_dat_o  (s_dat_w),
    .s_stall_i(s_stall),
    .s_ack_i  (s_ack),
    .s_err_i  (s_err),
    .s_dat_i  (s_dat_r)
  );

  wb_ram #(
    .Depth     (RamBytes / 4),
    .Registered(1'b1)
  ) u_ram (
    .clk_i,
    .rst_ni,
    .wb_cyc_i  (s_cyc[0]),
    .wb_stb_i  (s_stb[0]),
    .wb_we_i   (s_we[0]),
    .wb_adr_i  (s_adr[0]),
    .wb_sel_i  (s_sel[0]),
    .wb_dat_i  (s_dat_w[0]),
    .wb_stall_o(s_stall[0]),
    .wb_ack_o  (s_ack[0]),
    .wb_err_o  (s_err[0]),
    .wb_dat_o  (s_dat_r[0])
  );

  localparam logic [3:0][511:0] Devices = {
    wb_pkg::sdb_device(RamBase, RamBase + RamBytes - 1, wb_pkg::SdbWidth8To32, 8'd1, 8'd0,
                       wb_pkg::ProductRam),
    wb_pkg::sdb_device(EcaBase, EcaBase + EcaBytes - 1, wb_pkg::SdbWidth32, 8'd1, 8'd0,
                       wb_pkg::ProductEca),
    wb_pkg::sdb_device(TluBase, TluBase + TluBytes - 1, wb_pkg::SdbWidth32, 8'd1, 8'd0,
                       wb_pkg::ProductTlu),
    wb_pkg::sdb_device(CtrlBase, CtrlBase + CtrlBytes - 1, wb_pkg::SdbWidth32, 8'd1, 8'd0,
                       CtrlProduct)
  };
  wb_sdb_rom #(
    .NumDevices(NumSdb),
    .Devices(Devices[3-:NumSdb]),
    .BusLast(BusLast),
    .Registered(SdbRegistered)
  ) u_sdb (
    .clk_i,
    .rst_ni,
    .wb_cyc_i  (s_cyc[1]),
    .wb_stb_i  (s_stb[1]),
    .wb_we_i   (s_we[1]),
    .wb_adr_i  (s_adr[1]),
    .wb_sel_i  (s_sel[1]),
    .wb_dat_i  (s_dat_w[1]),
    .wb_stall_o(s_stall[1]),
    .wb_ack_o  (s_ack[1]),
    .wb_err_o  (s_err[1]),
    .wb_dat_o  (s_dat_r[1])
  );

  wb_eca_time u_eca (
    .clk_i,
    .rst_ni,
    .time_ns_i,
    .wb_cyc_i  (s_cyc[2]),
    .wb_stb_i  (s_stb[2]),
    .wb_we_i   (s_we[2]),
    .wb_adr_i  (s_adr[2]),
    .wb_sel_i  (s_sel[2]),
    .wb_dat_i  (s_dat_w[2]),
    .wb_stall_o(s_stall[2]),
    .wb_ack_o  (s_ack[2]),
    .wb_err_o  (s_err[2]),
    .wb_dat_o  (s_dat_r[2])
  );

  logic tlu_irq, tlu_idle;
  wb_tlu #(
    .NumChannels(NumTriggers)
  ) u_tlu (
    .clk_i,
    .rst_ni,
    .time_ns_i,
    .trigger_i,
    .irq_o     (tlu_irq),
    .idle_o    (tlu_idle),
    .wb_cyc_i  (s_cyc[3]),
    .wb_stb_i  (s_stb[3]),
    .wb_we_i   (s_we[3]),
    .wb_adr_i  (s_adr[3]),
    .wb_sel_i  (s_sel[3]),
    .wb_dat_i  (s_dat_w[3]),
    .wb_stall_o(s_stall[3]),
    .wb_ack_o  (s_ack[3]),
    .wb_err_o  (s_err[3]),
    .wb_dat_o  (s_dat_r[3])
  );

  logic ctrl_idle;
  assign ctrl_o = {s_cyc[4], s_stb[4], s_we[4], s_adr[4], s_sel[4], s_dat_w[4]};
  if (CtrlSlave) begin : gen_ctrl
    assign {s_stall[4], s_ack[4], s_err[4], s_dat_r[4]} = ctrl_i;
    assign ctrl_idle  = 1'b1;
  end else begin : gen_no_ctrl
    logic missing_err_q, unused_ctrl;
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) missing_err_q <= 1'b0;
      else missing_err_q <= s_cyc[4] && s_stb[4];
    end
    assign s_stall[4] = 1'b0;
    assign s_ack[4]   = 1'b0;
    assign s_err[4]   = missing_err_q;
    assign s_dat_r[4] = '0;
    assign ctrl_idle  = !missing_err_q;
    assign unused_ctrl = ^ctrl_i;
  end

  if (SilentSlave) begin : gen_silent
    // Takes every operation and never answers.
    logic unused_silent;
    assign s_stall[5]    = 1'b0;
    assign s_ack[5]      = 1'b0;
    assign s_err[5]      = 1'b0;
    assign s_dat_r[5]    = '0;
    assign unused_silent = ^{s_cyc[5], s_stb[5], s_we[5], s_adr[5], s_dat_w[5], s_sel[5]};
  end
  assign idle_o = tlu_idle && ctrl_idle;

  logic unused;
  assign unused = tlu_irq;
endmodule
