// SPDX-License-Identifier: SHL-2.1
/// BAR 0 of the RDMA network interface: queues, tables and registers.
///
/// rdma_bar takes what goes to the queues and tables; what it does not take goes through
/// pcie_axi_wb to the registers. The map of the registers has 256 bytes; what lies above is
/// answered with an error.
///
///   AXI         slave as rdma_bar, 64 bit, 4 bit of ID
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

  input  logic        bar_awvalid_i,
  input  logic [3:0]  bar_awid_i,
  input  logic [15:0] bar_awaddr_i,
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
  input  logic [15:0] bar_araddr_i,
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

  output store_t        store_o,
  output table_access_t table_o,
  input  table_data_t   table_i,
  input  rdma_ctrl_pkg::state_t   state_i,
  output rdma_ctrl_pkg::control_t control_o,
  output logic        refused_o,   // strobe: a table write that is not whole
  output logic        irq_o,
  output logic        idle_o
);
  localparam int unsigned AxiIdWidth = 4;

  logic h_awvalid, h_awready, h_wvalid, h_wready, h_bvalid, h_bready;
  logic h_arvalid, h_arready, h_rvalid, h_rready, h_rlast;
  logic [AxiIdWidth-1:0] h_bid, h_rid;
  logic [1:0]  h_bresp, h_rresp;
  logic [63:0] h_rdata;
  logic r_cyc, r_stb, r_we, r_stall, r_ack, r_err;
  logic [13:0] r_adr;
  logic [3:0]  r_sel;
  logic [31:0] r_dat_w, r_dat_r;

  logic bar_idle, axi_idle, irq_pending;

  rdma_bar #(
    .IdWidth(AxiIdWidth)
  ) u_bar (
    .clk_i,
    .rst_ni,
    .ready_i,
    .awvalid_i     (bar_awvalid_i),
    .awready_o     (bar_awready_o),
    .awid_i        (bar_awid_i),
    .awaddr_i      (bar_awaddr_i),
    .awsize_i      (bar_awsize_i),
    .wvalid_i      (bar_wvalid_i),
    .wready_o      (bar_wready_o),
    .wdata_i       (bar_wdata_i),
    .wstrb_i       (bar_wstrb_i),
    .wlast_i       (bar_wlast_i),
    .bvalid_o      (bar_bvalid_o),
    .bready_i      (bar_bready_i),
    .bid_o         (bar_bid_o),
    .bresp_o       (bar_bresp_o),
    .arvalid_i     (bar_arvalid_i),
    .arready_o     (bar_arready_o),
    .arid_i        (bar_arid_i),
    .araddr_i      (bar_araddr_i),
    .arlen_i       (bar_arlen_i),
    .arsize_i      (bar_arsize_i),
    .rvalid_o      (bar_rvalid_o),
    .rready_i      (bar_rready_i),
    .rid_o         (bar_rid_o),
    .rdata_o       (bar_rdata_o),
    .rresp_o       (bar_rresp_o),
    .rlast_o       (bar_rlast_o),
    .bus_awvalid_o (h_awvalid),
    .bus_awready_i (h_awready),
    .bus_wvalid_o  (h_wvalid),
    .bus_wready_i  (h_wready),
    .bus_bvalid_i  (h_bvalid),
    .bus_bready_o  (h_bready),
    .bus_bid_i     (h_bid),
    .bus_bresp_i   (h_bresp),
    .bus_arvalid_o (h_arvalid),
    .bus_arready_i (h_arready),
    .bus_rvalid_i  (h_rvalid),
    .bus_rready_o  (h_rready),
    .bus_rid_i     (h_rid),
    .bus_rdata_i   (h_rdata),
    .bus_rresp_i   (h_rresp),
    .bus_rlast_i   (h_rlast),
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
    .AddrWidth(14),
    .IdWidth  (AxiIdWidth)
  ) u_axi_wb (
    .clk_i,
    .rst_ni,
    .awvalid_i (h_awvalid),
    .awready_o (h_awready),
    .awid_i    (bar_awid_i),
    .awaddr_i  (bar_awaddr_i[13:0]),
    .awsize_i  (bar_awsize_i),
    .wvalid_i  (h_wvalid),
    .wready_o  (h_wready),
    .wdata_i   (bar_wdata_i),
    .wstrb_i   (bar_wstrb_i),
    .wlast_i   (bar_wlast_i),
    .bvalid_o  (h_bvalid),
    .bready_i  (h_bready),
    .bid_o     (h_bid),
    .bresp_o   (h_bresp),
    .arvalid_i (h_arvalid),
    .arready_o (h_arready),
    .arid_i    (bar_arid_i),
    .araddr_i  (bar_araddr_i[13:0]),
    .arlen_i   (bar_arlen_i),
    .arsize_i  (bar_arsize_i),
    .rvalid_o  (h_rvalid),
    .rready_i  (h_rready),
    .rid_o     (h_rid),
    .rdata_o   (h_rdata),
    .rresp_o   (h_rresp),
    .rlast_o   (h_rlast),
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
  logic unused;
  assign unused = ^{bar_awlen_i, bar_awburst_i, bar_arburst_i};
endmodule
