// SPDX-License-Identifier: SHL-2.1
/// AXI5 master of atomics on words of 64 bits, one at a time. One that is answered with SLVERR, as
/// where its page is away, can be tried again.
///
///   Handshake   req: valid/ready. done_o is a strobe, old_o and lost_o with it. AXI: valid/ready,
///               held until taken
///   Ordering    one is open: it is done when B has come, and R where its code answers
///   Code 0      no access: the operand is what AtomicCompare swaps in from then on; done at once
///   Retries     an atomic of which all answers are SLVERR was not made; it is tried again Wait
///               cycles later, Tries times at most. So one that is done without lost_o was made
///               once                                   (proved: formal/axi/axi_atomic.sby)
///   Latency     req_valid_i to awvalid_o and wvalid_o 1 cycle; the last answer to done_o 1
///   Throughput  one in the subordinate's time and 2 cycles
///   Parameters  DataWidth 64, 128, 256, 512, for AtomicCompare 128 or more; Tries 0..255, 0: none
///               is tried again; Wait 1..65535
///   Not done    words of other sizes
module axi_atomic #(
  parameter  int unsigned DataWidth = 512,
  parameter  int unsigned Tries     = 0,
  parameter  int unsigned Wait      = 64,
  localparam int unsigned DataBytes = DataWidth / 8
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,
  input  logic                 req_valid_i,    // req_*: held until req_ready_o
  output logic                 req_ready_o,    // only while none is open
  input  logic [5:0]           req_code_i,     // AWATOP; 0
  input  logic [47:0]          req_address_i,  // a multiple of 8
  input  logic [63:0]          req_operand_i,  // of AtomicCompare what the word must be
  output logic                 done_o,     // strobe: the request is done
  output logic [63:0]          old_o,      // with it, of a code with an answer: the word as it was
  output logic                 lost_o,     // with it: it was answered with an error
  output logic                 retry_o,    // strobe: it is to be made again
  output logic                 awvalid_o,  // aw*: the address, held until awready_i
  input  logic                 awready_i,  // takes the address
  output axi_pkg::address_t    aw_o,       // of one beat: the word, of AtomicCompare two words
  output logic [5:0]           awatop_o,   // req_code_i of the request
  output logic                 wvalid_o,   // w*: the beat, held until wready_i
  input  logic                 wready_i,   // takes the beat
  output logic [DataWidth-1:0] wdata_o,    // byte n in bits 8n+7:8n
  output logic [DataBytes-1:0] wstrb_o,    // bit n: byte n is written
  input  logic                 bvalid_i,   // one answer an atomic
  output logic                 bready_o,   // high from the request until its answer has come
  input  logic [1:0]           bresp_i,    // with bvalid_i: 2 is tried again, 3 is an error
  input  logic                 rvalid_i,   // one beat, of a code with bit 5 set
  output logic                 rready_o,   // the same as bready_o, of a code with bit 5 set
  input  logic [DataWidth-1:0] rdata_i,    // with rvalid_i: the word as it was, in its lane
  input  logic [1:0]           rresp_i     // with rvalid_i: as bresp_i
);
  if (!(DataWidth inside {64, 128, 256, 512})) begin : gen_width_check
    $error("axi_atomic: DataWidth is %0d, legal are 64, 128, 256 and 512", DataWidth);
  end
  if (Tries > 255 || Wait < 1 || Wait > 65535) begin : gen_tries_check
    $error("axi_atomic: Tries is %0d, legal 0..255; Wait is %0d, legal 1..65535", Tries, Wait);
  end
  localparam int unsigned Words     = DataWidth / 64;
  localparam int unsigned TryWidth  = $clog2(Tries + 2);
  localparam int unsigned WaitWidth = $clog2(Wait + 1);
  localparam logic [5:0] Compare = 6'b110001;
  localparam logic [1:0] SlvErr = 2'd2;
  logic open_q, take, set, begins, b, r, came, wrong, other, again, pause_q, compare;
  logic error_q, other_q;  // of the answers so far: one is an error; one is not SLVERR
  logic [TryWidth-1:0] tries_q;
  logic [WaitWidth-1:0] wait_q;
  logic [47:0] address_q;
  logic [63:0] operand_q, new_q;
  logic [31:0] lane;  // of the word on the bus
  assign req_ready_o = !open_q;
  assign b       = bvalid_i && bready_o;
  assign r       = rvalid_i && rready_o;
  assign came    = open_q && !pause_q && (!bready_o || b) && (!rready_o || r);
  assign wrong   = (b && bresp_i[1]) || (r && rresp_i[1]) || error_q;
  assign other   = (b && bresp_i != SlvErr) || (r && rresp_i != SlvErr) || other_q;
  assign again   = came && !other && tries_q != TryWidth'(Tries);
  assign take    = req_valid_i && req_ready_o;
  assign set     = take && req_code_i == '0;
  assign begins  = (take && !set) || (pause_q && wait_q == '0);
  assign retry_o = again;

  assign lane    = 32'(address_q[47:3]) % Words;
  assign compare = awatop_o == Compare;
  assign aw_o = '{addr: 64'(address_q), len: '0, size: compare ? 3'd4 : 3'd3,
                  burst: axi_pkg::BurstIncr};
  always_comb begin
    for (int unsigned i = 0; i < Words; i++) begin
      wdata_o[64*i+:64] = i == lane || !compare ? operand_q : new_q;
      wstrb_o[8*i+:8]   = {8{i == lane || (compare && i == (lane ^ 1))}};
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {open_q, awvalid_o, wvalid_o, bready_o, rready_o, done_o, lost_o} <= '0;
      {pause_q, error_q, other_q, tries_q, wait_q} <= '0;
    end else begin
      done_o <= (came && !again) || set;
      lost_o <= came && !again && wrong;
      if (came) begin
        {error_q, other_q} <= '0;
        open_q  <= again;
        pause_q <= again;
        tries_q <= again ? tries_q + TryWidth'(1) : '0;
        wait_q  <= WaitWidth'(Wait - 1);
      end else begin
        {error_q, other_q} <= {wrong, other};
      end
      if (awready_i) awvalid_o <= 1'b0;
      if (wready_i) wvalid_o <= 1'b0;
      if (b) bready_o <= 1'b0;
      if (r) rready_o <= 1'b0;
      if (pause_q) wait_q <= wait_q - WaitWidth'(1);
      if (begins) begin
        {open_q, awvalid_o, wvalid_o, bready_o} <= '1;
        rready_o <= take ? req_code_i[5] : awatop_o[5];
        pause_q  <= 1'b0;
      end
    end
  end
  always_ff @(posedge clk_i) begin
    if (set) new_q <= req_operand_i;
    if (take && !set) begin
      address_q <= req_address_i;
      awatop_o  <= req_code_i;
      operand_q <= req_operand_i;
    end
    if (r) old_o <= rdata_i[64*lane+:64];
  end

  // AtomicCompare has both of its operands in a beat.
  prim_assert u_compare (.clk_i, .rst_ni, .ok_i(!open_q || !compare || Words > 1));
endmodule
