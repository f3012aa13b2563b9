// SPDX-License-Identifier: SHL-2.1
/// BAR 0 of the RDMA network interface: queues, tables and registers.
///
/// rdma_bar takes what goes to the queues and tables; what it does not take goes through
/// pcie_axi_wb to the registers. The map of the registers has 256 bytes; what lies above is
/// answered with an error.
///
///   AXI         slave as rdma_bar: bar_i, bar_o
///   Registers   state_i in, control_o out, as wb_rdma. irq_o: one cycle, each time that an
///               unmasked source is set anew
///   Latency     a store to the queues as rdma_bar; a register as pcie_axi_wb and one cycle
///   Throughput  a beat a cycle to queues and tables
///   Parameters  NumHosts 2..8, NumLinks 1..4
///   Not done    WRAP and FIXED bursts
module rdma_ni_host
  import rdma_pkg::*;
#(
  parameter int unsigned NumHosts = 8,
  parameter int unsigned NumLinks = 1
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        ready_i,     // the tables are cleared

  input  axi_pkg::bar_request_t  bar_i,
  output axi_pkg::bar_response_t bar_o,

  output store_t        store_o,
  output table_access_t table_o,
  input  table_data_t   table_i,
  input  rdma_ctrl_pkg::state_t   state_i,
  output rdma_ctrl_pkg::control_t control_o,
  output logic        refused_o,   // strobe: a table write that is not whole
  output logic        irq_o,
  output logic        idle_o
);
  axi_pkg::bar_request_t  registers;
  axi_pkg::bar_response_t registers_answer;
  logic r_cyc, r_stb, r_we, r_stall, r_ack, r_err;
  logic [13:0] r_adr;
  logic [3:0]  r_sel;
  logic [31:0] r_dat_w, r_dat_r;

  logic bar_idle, axi_idle, irq_pending;

  rdma_bar u_bar (
    .clk_i,
    .rst_ni,
    .ready_i,
    .bar_i,
    .bar_o,
    .bus_o         (registers),
    .bus_i         (registers_answer),
    .store_o,
    .table_we_o    (table_o.we),
    .table_addr_o  (table_o.addr),
    .table_data_o  (table_o.data),
    .table_re_o    (table_o.re),
    .table_raddr_o (table_o.raddr),
    .table_rvalid_i(table_i.valid),
    .table_rdata_i (table_i.data),
    .refused_o,
    .idle_o        (bar_idle)
  );

  pcie_axi_wb #(
    .AddrWidth(14)
  ) u_axi_wb (
    .clk_i,
    .rst_ni,
    .bar_i     (registers),
    .bar_o     (registers_answer),
    .wb_cyc_o  (r_cyc),
    .wb_stb_o  (r_stb),
    .wb_we_o   (r_we),
    .wb_adr_o  (r_adr),
    .wb_sel_o  (r_sel),
    .wb_dat_o  (r_dat_w),
    .wb_stall_i(r_stall),
    .wb_ack_i  (r_ack),
    .wb_err_i  (r_err),
    .wb_dat_i  (r_dat_r),
    .idle_o    (axi_idle)
  );

  // The map has 256 bytes; what lies above is no register. A block of registers never stalls.
  logic own, own_ack, own_err, none_q;
  assign own   = r_adr[13:8] == '0;
  assign r_ack = own_ack;
  assign r_err = own_err || none_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) none_q <= 1'b0;
    else         none_q <= r_cyc && r_stb && !own && !r_stall;
  end

  wb_rdma #(
    .NumHosts(NumHosts),
    .NumLinks(NumLinks)
  ) u_regs (
    .clk_i,
    .rst_ni,
    .state_i,
    .control_o,
    .pending_o (irq_pending),
    .irq_o,
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

  assign idle_o = bar_idle && axi_idle && !irq_pending && !irq_o;
endmodule
