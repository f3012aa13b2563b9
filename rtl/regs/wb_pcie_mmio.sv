// SPDX-License-Identifier: SHL-2.1
/// Registers of the window onto the Wishbone: read and written by the host, read by the device's
/// own bus too.
///
/// Map: docs/reference/registers.md, "PCIe window onto the Wishbone". The block behind it is
/// generated from rtl/regs/pcie_mmio.rdl; this module gives it plain ports.
///
///   Handshake   the host never stalls, the other port while the host's operation passes; ack one
///               clock after the operation, err for an address or direction that the map lacks and
///               for a write from the device's own bus
///   Latency     1 cycle; open_o and window_o follow a write by one clock
///   Throughput  one operation a cycle
///   Idle        nothing changes without an operation
module wb_pcie_mmio (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic [63:0] errors_i,       // a bit an access, bit 0 the latest: answered err
  input  logic [31:0] sdb_address_i,  // readable; constant
  output logic        open_o,
  output logic [15:0] window_o,
  // from the host
  input  logic        host_wb_cyc_i,
  input  logic        host_wb_stb_i,
  input  logic        host_wb_we_i,
  input  logic [31:0] host_wb_adr_i,
  input  logic [3:0]  host_wb_sel_i,
  input  logic [31:0] host_wb_dat_i,
  output logic        host_wb_stall_o,
  output logic        host_wb_ack_o,
  output logic        host_wb_err_o,
  output logic [31:0] host_wb_dat_o,
  // from the device's own bus, read only
  input  logic        wb_cyc_i,
  input  logic        wb_stb_i,
  input  logic        wb_we_i,
  input  logic [31:0] wb_adr_i,
  input  logic [3:0]  wb_sel_i,
  input  logic [31:0] wb_dat_i,
  output logic        wb_stall_o,
  output logic        wb_ack_o,
  output logic        wb_err_o,
  output logic [31:0] wb_dat_o
);
  logic s_cyc, s_stb, s_we, s_stall, s_ack, s_err;
  logic [31:0] s_adr, s_dat_w, s_dat_r;
  logic [3:0] s_sel;

  pcie_mmio_regs_pkg::pcie_mmio__in_t  hwif_in;
  pcie_mmio_regs_pkg::pcie_mmio__out_t hwif_out;

  assign hwif_in.ERROR_HI.value.next = errors_i[63:32];
  assign hwif_in.ERROR_LO.value.next = errors_i[31:0];
  assign hwif_in.SDB.value.next      = sdb_address_i;
  assign open_o                      = hwif_out.CYCLE.open.value;
  assign window_o                    = hwif_out.WINDOW.upper.value;

  wb_regs_share u_share (
    .clk_i,
    .rst_ni,
    .a_cyc_i(host_wb_cyc_i),
    .a_stb_i(host_wb_stb_i),
    .a_we_i(host_wb_we_i),
    .a_adr_i(host_wb_adr_i),
    .a_sel_i(host_wb_sel_i),
    .a_dat_i(host_wb_dat_i),
    .a_stall_o(host_wb_stall_o),
    .a_ack_o(host_wb_ack_o),
    .a_err_o(host_wb_err_o),
    .a_dat_o(host_wb_dat_o),
    .b_cyc_i(wb_cyc_i),
    .b_stb_i(wb_stb_i),
    .b_we_i(wb_we_i),
    .b_adr_i(wb_adr_i),
    .b_sel_i(wb_sel_i),
    .b_dat_i(wb_dat_i),
    .b_stall_o(wb_stall_o),
    .b_ack_o(wb_ack_o),
    .b_err_o(wb_err_o),
    .b_dat_o(wb_dat_o),
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

  pcie_mmio_regs u_regs (
    .clk       (clk_i),
    .arst_n    (rst_ni),
    .wb_cyc_i  (s_cyc),
    .wb_stb_i  (s_stb),
    .wb_we_i   (s_we),
    .wb_adr_i  (s_adr),
    .wb_sel_i  (s_sel),
    .wb_dat_i  (s_dat_w),
    .wb_stall_o(s_stall),
    .wb_ack_o  (s_ack),
    .wb_err_o  (s_err),
    .wb_dat_o  (s_dat_r),
    .hwif_in,
    .hwif_out
  );
endmodule
