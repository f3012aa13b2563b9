// SPDX-License-Identifier: SHL-2.1
/// AXI5 master of atomics on words of 64 bits, one at a time.
///
///   Handshake   req: valid/ready. done_o is a strobe, old_o with it. AXI: valid/ready, held until
///               taken
///   Ordering    one is open: it is done when B has come, and R where its code answers
///   Latency     req_valid_i to awvalid_o and wvalid_o 1 cycle; the last answer to done_o 1
///   Throughput  one in the subordinate's time and 2 cycles
///   Errors      error_o: from an answer that is not OKAY on
///   Parameters  DataWidth 64, 128, 256, 512
///   Not done    AtomicCompare, which has two operands; other sizes
module axi_atomic #(
  parameter  int unsigned DataWidth = 512,
  localparam int unsigned DataBytes = DataWidth / 8
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,
  input  logic                 req_valid_i,
  output logic                 req_ready_o,    // only while none is open
  input  logic [5:0]           req_code_i,     // AWATOP
  input  logic [47:0]          req_address_i,  // a multiple of 8
  input  logic [63:0]          req_operand_i,  // of the word; little-endian, as old_o
  output logic                 done_o,
  output logic [63:0]          old_o,  // of a code with an answer
  output logic                 error_o,
  output logic                 awvalid_o,
  input  logic                 awready_i,  // awvalid_o, aw_o and awatop_o are held until then
  output axi_pkg::address_t    aw_o,       // of one beat: the word's bytes, size 3
  output logic [5:0]           awatop_o,   // req_code_i of the request
  output logic                 wvalid_o,   // one beat
  input  logic                 wready_i,   // w* are held until then
  output logic [DataWidth-1:0] wdata_o,    // the operand, in every lane of 8 bytes
  output logic [DataBytes-1:0] wstrb_o,    // the 8 bytes of the word
  input  logic                 bvalid_i,   // one answer an atomic
  output logic                 bready_o,   // high from the request until its answer has come
  input  logic [1:0]           bresp_i,    // with bvalid_i; all but 0 sets error_o
  input  logic                 rvalid_i,   // one beat, of a code with bit 5 set
  output logic                 rready_o,   // the same, of a code with bit 5 set
  input  logic [DataWidth-1:0] rdata_i,    // the word as it was, in its lane
  input  logic [1:0]           rresp_i     // with rvalid_i; all but 0 sets error_o
);
  if (!(DataWidth inside {64, 128, 256, 512})) begin : gen_width_check
    $error("axi_atomic: DataWidth is %0d, legal are 64, 128, 256 and 512", DataWidth);
  end
  localparam int unsigned Words = DataWidth / 64;

  logic open_q, b, r, take;
  logic [47:0] address_q;
  logic [63:0] operand_q;
  logic [31:0] lane;  // of the word on the bus
  assign req_ready_o = !open_q;
  assign take        = req_valid_i && req_ready_o;
  assign b           = bvalid_i && bready_o;
  assign r           = rvalid_i && rready_o;
  assign lane        = 32'(address_q[47:3]) % Words;

  assign aw_o = '{addr: 64'(address_q), len: '0, size: 3'd3, burst: axi_pkg::BurstIncr};
  assign wdata_o = {Words{operand_q}};
  always_comb begin
    for (int unsigned i = 0; i < DataBytes; i++) wstrb_o[i] = i / 8 == lane;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {open_q, awvalid_o, wvalid_o, bready_o, rready_o, done_o, error_o} <= '0;
    end else begin
      done_o <= open_q && (!bready_o || b) && (!rready_o || r);
      if (take) begin
        {open_q, awvalid_o, wvalid_o, bready_o} <= '1;
        rready_o <= req_code_i[5];
      end else begin
        if ((!bready_o || b) && (!rready_o || r)) open_q <= 1'b0;
        if (awready_i) awvalid_o <= 1'b0;
        if (wready_i) wvalid_o <= 1'b0;
        if (b) bready_o <= 1'b0;
        if (r) rready_o <= 1'b0;
      end
      error_o <= error_o || (b && bresp_i != '0) || (r && rresp_i != '0);
    end
  end
  always_ff @(posedge clk_i) begin
    if (take) begin
      address_q <= req_address_i;
      awatop_o  <= req_code_i;
      operand_q <= req_operand_i;
    end
    if (r) old_o <= rdata_i[64*lane+:64];
  end
endmodule
