// SPDX-License-Identifier: SHL-2.1
/// Registers of the interface behind a PCIe hard block's AXI4: bar -> pcie_axi_wb -> wb_nanet.
///
///   Handshake   AXI4 as pcie_axi_wb; control_o and state_i as wb_nanet
///   Map         4 KiB: registers in the first 256 bytes, an error above
///   Latency     as pcie_axi_wb; wb_nanet adds 1 cycle
///   Throughput  one operation at a time
///   Parameters  NumPorts, NumRegions: readable
///   Not done    bursts
module nanet_bar #(
  parameter int unsigned NumPorts   = 1,
  parameter int unsigned NumRegions = 0
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        awvalid_i,
  input  logic [3:0]  awid_i,
  input  logic [11:0] awaddr_i,
  input  logic [2:0]  awsize_i,
  output logic        awready_o,
  input  logic        wvalid_i,
  input  logic [63:0] wdata_i,
  input  logic [7:0]  wstrb_i,
  input  logic        wlast_i,
  output logic        wready_o,
  output logic        bvalid_o,
  output logic [3:0]  bid_o,
  output logic [1:0]  bresp_o,
  input  logic        bready_i,
  input  logic        arvalid_i,
  input  logic [3:0]  arid_i,
  input  logic [11:0] araddr_i,
  input  logic [7:0]  arlen_i,
  input  logic [2:0]  arsize_i,
  output logic        arready_o,
  output logic        rvalid_o,
  output logic [3:0]  rid_o,
  output logic [63:0] rdata_o,
  output logic [1:0]  rresp_o,
  output logic        rlast_o,
  input  logic        rready_i,

  input  nanet_ctrl_pkg::state_t   state_i,
  output nanet_ctrl_pkg::control_t control_o,
  output logic                     idle_o
);
  logic cyc, stb, we, stall, err, own, own_ack, own_err, none_q;
  logic [11:0] adr;
  logic [3:0]  sel;
  logic [31:0] dat_w, dat_r;

  pcie_axi_wb #(
    .AddrWidth(12),
    .IdWidth  (4)
  ) u_axi_wb (
    .clk_i,
    .rst_ni,
    .awvalid_i,
    .awready_o,
    .awid_i,
    .awaddr_i,
    .awsize_i,
    .wvalid_i,
    .wready_o,
    .wdata_i,
    .wstrb_i,
    .wlast_i,
    .bvalid_o,
    .bready_i,
    .bid_o,
    .bresp_o,
    .arvalid_i,
    .arready_o,
    .arid_i,
    .araddr_i,
    .arlen_i,
    .arsize_i,
    .rvalid_o,
    .rready_i,
    .rid_o,
    .rdata_o,
    .rresp_o,
    .rlast_o,
    .wb_cyc_o  (cyc),
    .wb_stb_o  (stb),
    .wb_we_o   (we),
    .wb_adr_o  (adr),
    .wb_sel_o  (sel),
    .wb_dat_o  (dat_w),
    .wb_stall_i(stall),
    .wb_ack_i  (own_ack),
    .wb_err_i  (err),
    .wb_dat_i  (dat_r),
    .idle_o
  );

  // What lies above the map is no register. A block of registers never stalls.
  assign own = adr[11:8] == '0;
  assign err = own_err || none_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) none_q <= 1'b0;
    else         none_q <= cyc && stb && !own && !stall;
  end

  wb_nanet #(
    .NumPorts  (NumPorts),
    .MaxBuffers(nanet_pkg::MaxBuffers),
    .NumRegions(NumRegions)
  ) u_regs (
    .clk_i,
    .rst_ni,
    .state_i,
    .control_o,
    .wb_cyc_i  (cyc),
    .wb_stb_i  (stb && own),
    .wb_we_i   (we),
    .wb_adr_i  (32'(adr)),
    .wb_sel_i  (sel),
    .wb_dat_i  (dat_w),
    .wb_stall_o(stall),
    .wb_ack_o  (own_ack),
    .wb_err_o  (own_err),
    .wb_dat_o  (dat_r)
  );
endmodule
