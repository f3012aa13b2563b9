// SPDX-License-Identifier: SHL-2.1
/// wb_rdma with its interrupt sources as plain ports; all other state is zero.
module wb_rdma_bench (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic [7:0]  sources_i,
  output logic        pending_o,
  output logic        irq_o,
  input  logic        reg_cyc_i, reg_stb_i, reg_we_i,
  input  logic [31:0] reg_adr_i, reg_dat_i,
  input  logic [3:0]  reg_sel_i,
  output logic        reg_stall_o, reg_ack_o, reg_err_o,
  output logic [31:0] reg_dat_o
);
  rdma_ctrl_pkg::state_t state;
  rdma_ctrl_pkg::control_t control;
  always_comb begin
    state     = '0;
    state.irq = sources_i;
  end
  logic unused;
  assign unused = ^control;

  wb_rdma u_dut (
    .clk_i, .rst_ni,
    .state_i   (state),
    .control_o (control),
    .pending_o,
    .irq_o,
    .wb_cyc_i(reg_cyc_i), .wb_stb_i(reg_stb_i), .wb_we_i(reg_we_i), .wb_adr_i(reg_adr_i),
    .wb_sel_i(reg_sel_i), .wb_dat_i(reg_dat_i), .wb_stall_o(reg_stall_o), .wb_ack_o(reg_ack_o),
    .wb_err_o(reg_err_o), .wb_dat_o(reg_dat_o)
  );
endmodule
