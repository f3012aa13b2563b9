// SPDX-License-Identifier: SHL-2.1
/// Device: an FPGA that reads and writes host memory by DMA over PCIe, beside ccix_fpga.
///
/// tasks -> axi_traffic -> AXI of a PCIe hard block (docs/explanation/cores/ccix.md)
///
///   Pins        dma: AXI of 512 bits. task: the traffic generator's commands and their ends
///   Latency     a task to its first address 2 cycles; the last beat to the task's end 0 cycles
///   Throughput  a beat a cycle
///   Probes      at the cycle of what they say
///   Parameters  Overlap as axi_traffic
///   Not done    the hard block; interrupts
module ccix_dma_fpga
  import ccix_pkg::*;
  import ccix_dma_fpga_pkg::*;
#(
  parameter bit Overlap = 1'b1
) (
  input logic clk_i,
  input logic rst_ni,

  output logic         dma_awvalid_o,  // dma_aw*: AXI4 write address at the host, INCR
  output logic [0:0]   dma_awid_o,
  output logic [63:0]  dma_awaddr_o,
  output logic [7:0]   dma_awlen_o,
  output logic [2:0]   dma_awsize_o,
  output logic [1:0]   dma_awburst_o,
  input  logic         dma_awready_i,
  output logic         dma_wvalid_o,  // dma_w*: its data, byte n in bits 8n+7:8n
  output logic [511:0] dma_wdata_o,
  output logic [63:0]  dma_wstrb_o,
  output logic         dma_wlast_o,
  input  logic         dma_wready_i,
  input  logic         dma_bvalid_i,  // dma_b*: an answer a burst; resp 2, 3: an error
  input  logic [0:0]   dma_bid_i,
  input  logic [1:0]   dma_bresp_i,
  output logic         dma_bready_o,
  output logic         dma_arvalid_o,  // dma_ar*: AXI4 read address at the host, INCR
  output logic [0:0]   dma_arid_o,
  output logic [63:0]  dma_araddr_o,
  output logic [7:0]   dma_arlen_o,
  output logic [2:0]   dma_arsize_o,
  output logic [1:0]   dma_arburst_o,
  input  logic         dma_arready_i,
  input  logic         dma_rvalid_i,  // dma_r*: data of reads, in order; resp 2, 3: an error
  input  logic [0:0]   dma_rid_i,
  input  logic [511:0] dma_rdata_i,
  input  logic [1:0]   dma_rresp_i,
  input  logic         dma_rlast_i,
  output logic         dma_rready_o,

  input  logic        task_valid_i,  // task_*: held until task_ready_o
  output logic        task_ready_o,
  input  logic        task_write_i,    // 0: read and compare; 1: write
  input  logic [7:0]  task_tag_i,      // comes back in task_done_tag_o
  input  logic [47:0] task_address_i,  // physical, a multiple of 64
  input  logic [16:0] task_bytes_i,    // 1..65536
  input  logic [31:0] task_seed_i,     // of the pattern that is written or expected
  output logic        task_done_o,     // strobe: the task is over
  output logic [7:0]  task_done_tag_o,
  output logic        task_done_fault_o,  // never: addresses are physical

  output logic [NumProbes-1:0]      probe_o,      // strobes, by probe_e; for simulation
  output logic [NumProbes-1:0][7:0] probe_tag_o,  // of the task at its ends, else 0

  output logic        status_fail_o,  // level: memory refused an access
  output logic [31:0] status_wrong_o  // 64 bytes read that had a wrong byte
);
  axi_pkg::address_t aw, ar;
  logic wrong;
  axi_traffic #(.Overlap(Overlap)) u_dma (
    .clk_i, .rst_ni, .task_valid_i, .task_ready_o, .task_write_i, .task_tag_i, .task_address_i,
    .task_bytes_i, .task_seed_i, .task_done_o, .task_done_tag_o, .awvalid_o(dma_awvalid_o),
    .awready_i(dma_awready_i), .aw_o(aw), .wvalid_o(dma_wvalid_o), .wready_i(dma_wready_i),
    .wdata_o(dma_wdata_o), .wstrb_o(dma_wstrb_o), .wlast_o(dma_wlast_o),
    .bvalid_i(dma_bvalid_i), .bready_o(dma_bready_o), .bresp_i(dma_bresp_i),
    .arvalid_o(dma_arvalid_o), .arready_i(dma_arready_i), .ar_o(ar), .rvalid_i(dma_rvalid_i),
    .rready_o(dma_rready_o), .rdata_i(dma_rdata_i), .rresp_i(dma_rresp_i), .rlast_i(dma_rlast_i),
    .wrong_o(wrong), .error_o(status_fail_o)
  );
  assign task_done_fault_o = 1'b0;
  assign {dma_awid_o, dma_arid_o} = '0;
  assign {dma_awaddr_o, dma_awlen_o, dma_awsize_o, dma_awburst_o} = aw;
  assign {dma_araddr_o, dma_arlen_o, dma_arsize_o, dma_arburst_o} = ar;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) status_wrong_o <= '0;
    else status_wrong_o <= status_wrong_o + 32'(wrong);
  end

  assign probe_o[Taken]      = task_valid_i && task_ready_o;
  assign probe_tag_o[Taken]  = task_tag_i;
  assign probe_o[Asked]      = dma_arvalid_o && dma_arready_i;
  assign probe_tag_o[Asked]  = '0;
  assign probe_o[Posted]     = dma_wvalid_o && dma_wready_i && dma_wlast_o;
  assign probe_tag_o[Posted] = '0;
  assign probe_o[Done]       = task_done_o;
  assign probe_tag_o[Done]   = task_done_tag_o;

  logic unused;
  assign unused = ^{dma_bid_i, dma_rid_i};
endmodule
