// SPDX-License-Identifier: SHL-2.1
/// Between an AXI master and a port whose pages the host may move: what is answered with SLVERR is
/// tried again, so that the master sees an error only of a page that stays away.
///
/// The host learns of the page by the translation's MsgFault; the FPGA learns that it is mapped by
/// a try that succeeds.
///
///   Handshake   AXI4: valid/ready, held until taken
///   Ordering    one ID: R in the order of AR, B in the order of AW; writes to a line in theirs
///   Retries     each beat read and each line written Tries times at most, Wait cycles apart or
///               more; then the error goes to the master. A beat that the master has is not read
///               again, a line that is written not written again
///   Latency     AR 1 cycle, R none; AW and W 2 cycles, B 2
///   Throughput  a beat a cycle each way; a beat written is a burst at the port
///   Parameters  DataWidth 64..512; Bursts of reads and Lines of writes open, powers of two, 2..64;
///               Tries 1..255; Wait 1..65535
///   Not done    several IDs, atomics, and what ccix_retry_read and ccix_retry_write do not
module ccix_retry #(
  parameter  int unsigned DataWidth = 512,
  parameter  int unsigned Bursts    = 64,
  parameter  int unsigned Lines     = 32,
  parameter  int unsigned Tries     = 63,
  parameter  int unsigned Wait      = 64,
  localparam int unsigned DataBytes = DataWidth / 8,
  localparam int unsigned IdWidth   = $clog2(Lines)
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,
  // the master
  input  logic                 m_awvalid_i,  // m_aw*: a burst's address, held until m_awready_o
  output logic                 m_awready_o,
  input  axi_pkg::address_t    m_aw_i,       // INCR, whole beats, or one beat
  input  logic                 m_wvalid_i,   // m_w*: a beat, held until m_wready_o
  output logic                 m_wready_o,
  input  logic [DataWidth-1:0] m_wdata_i,    // byte n in bits 8n+7:8n
  input  logic [DataBytes-1:0] m_wstrb_i,    // bit n: byte n is written
  output logic                 m_bvalid_o,   // m_b*: one answer a burst, in order
  input  logic                 m_bready_i,
  output logic [1:0]           m_bresp_o,    // the largest of the burst's lines
  input  logic                 m_arvalid_i,  // m_ar*: as m_aw*
  output logic                 m_arready_o,
  input  axi_pkg::address_t    m_ar_i,
  output logic                 m_rvalid_o,   // m_r*: beats in the order of m_ar*
  input  logic                 m_rready_i,
  output logic [DataWidth-1:0] m_rdata_o,
  output logic [1:0]           m_rresp_o,
  output logic                 m_rlast_o,
  // the port
  output logic                 awvalid_o,  // aw*: a beat's address, held until awready_i
  input  logic                 awready_i,
  output logic [IdWidth-1:0]   awid_o,     // no two open ones are equal
  output axi_pkg::address_t    aw_o,
  output logic                 wvalid_o,   // w*: its data
  input  logic                 wready_i,
  output logic [DataWidth-1:0] wdata_o,
  output logic [DataBytes-1:0] wstrb_o,
  input  logic                 bvalid_i,   // always taken, in any order
  input  logic [IdWidth-1:0]   bid_i,
  input  logic [1:0]           bresp_i,
  output logic                 arvalid_o,  // ar*: a burst, or what is left of it
  input  logic                 arready_i,
  output axi_pkg::address_t    ar_o,
  input  logic                 rvalid_i,   // r*: beats in the order of ar*
  output logic                 rready_o,
  input  logic [DataWidth-1:0] rdata_i,
  input  logic [1:0]           rresp_i,
  input  logic                 rlast_i,
  output logic [31:0]          retries_o  // errors that were tried again; wraps
);
  logic read_retry, write_retry;
  ccix_retry_read #(
    .DataWidth(DataWidth), .Bursts(Bursts), .Tries(Tries), .Wait(Wait)
  ) u_read (
    .clk_i, .rst_ni, .arvalid_i(m_arvalid_i), .arready_o(m_arready_o), .ar_i(m_ar_i),
    .rvalid_o(m_rvalid_o), .rready_i(m_rready_i), .rdata_o(m_rdata_o), .rresp_o(m_rresp_o),
    .rlast_o(m_rlast_o), .arvalid_o, .arready_i, .ar_o, .rvalid_i, .rready_o, .rdata_i, .rresp_i,
    .rlast_i, .retry_o(read_retry)
  );
  ccix_retry_write #(
    .DataWidth(DataWidth), .Lines(Lines), .Tries(Tries), .Wait(Wait)
  ) u_write (
    .clk_i, .rst_ni, .awvalid_i(m_awvalid_i), .awready_o(m_awready_o), .aw_i(m_aw_i),
    .wvalid_i(m_wvalid_i), .wready_o(m_wready_o), .wdata_i(m_wdata_i), .wstrb_i(m_wstrb_i),
    .bvalid_o(m_bvalid_o), .bready_i(m_bready_i), .bresp_o(m_bresp_o), .awvalid_o, .awready_i,
    .awid_o, .aw_o, .wvalid_o, .wready_i, .wdata_o, .wstrb_o, .bvalid_i, .bid_i, .bresp_i,
    .retry_o(write_retry)
  );
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) retries_o <= '0;
    else retries_o <= retries_o + 32'(read_retry) + 32'(write_retry);
  end
endmodule
