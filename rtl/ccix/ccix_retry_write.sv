// SPDX-License-Identifier: SHL-2.1
/// Writes of an AXI master whose page may be away: a line that is answered with SLVERR is written
/// again.
///
/// Each beat goes to the port as a burst of its own, a line here, so that an error says which line
/// was not written: no line that was written is written again. A line is kept until it is written,
/// at its place, which is its ID at the port.
///
///   Handshake   AXI4: valid/ready, held until taken
///   Ordering    one ID: answers in the order of AW. A line waits while an older one of its address
///               is open; lines are compared by a hash of 6 bits. So what is written to a line is
///               in the master's order, whatever is tried again
///   Bursts      INCR of whole beats of the bus, aligned; a burst of one beat of any kind and size
///   Retries     Tries at most for each line, behind its first access, Wait cycles or more behind
///               the last error; then the burst is answered with the error. DECERR is not tried
///               again                          (proved: formal/ccix/ccix_retry_write.sby)
///   Latency     a beat to its address at the port 2 cycles, to its data 2; the last answer to
///               bvalid_o 2
///   Throughput  a beat a cycle; Lines in a round trip
///   Parameters  DataWidth 64..512; Lines 2..64 open, a power of two; Tries 1..255; Wait 1..65535
///   Not done    several IDs; atomics; an order of reads and writes, which is the master's
module ccix_retry_write #(
  parameter  int unsigned DataWidth = 512,
  parameter  int unsigned Lines     = 32,
  parameter  int unsigned Tries     = 63,
  parameter  int unsigned Wait      = 64,
  localparam int unsigned DataBytes = DataWidth / 8,
  localparam int unsigned IdWidth   = $clog2(Lines)
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,
  // the master
  input  logic                 awvalid_i,
  output logic                 awready_o,
  input  axi_pkg::address_t    aw_i,
  input  logic                 wvalid_i,
  output logic                 wready_o,
  input  logic [DataWidth-1:0] wdata_i,
  input  logic [DataBytes-1:0] wstrb_i,
  output logic                 bvalid_o,
  input  logic                 bready_i,
  output logic [1:0]           bresp_o,
  // the port
  output logic                 awvalid_o,
  input  logic                 awready_i,
  output logic [IdWidth-1:0]   awid_o,  // of the line's place: no two open ones are equal
  output axi_pkg::address_t    aw_o,    // of one beat
  output logic                 wvalid_o,
  input  logic                 wready_i,
  output logic [DataWidth-1:0] wdata_o,
  output logic [DataBytes-1:0] wstrb_o,
  input  logic                 bvalid_i,  // in any order, always taken
  input  logic [IdWidth-1:0]   bid_i,
  input  logic [1:0]           bresp_i,
  output logic                 retry_o  // strobe: a line is to be written again
);
  if (Lines < 2 || Lines > 64 || (Lines & (Lines - 1)) != 0) begin : gen_lines_check
    $error("ccix_retry_write: Lines is %0d, legal is a power of two, 2..64", Lines);
  end
  if (Tries < 1 || Tries > 255 || Wait < 1 || Wait > 65535) begin : gen_tries_check
    $error("ccix_retry_write: Tries is %0d, legal is 1..255; Wait is %0d, legal is 1..65535",
           Tries, Wait);
  end
  localparam int unsigned BeatLog2  = $clog2(DataBytes);
  localparam int unsigned TryWidth  = $clog2(Tries + 1);
  localparam int unsigned WaitWidth = $clog2(Wait + 1);
  localparam logic [1:0] SlvErr = 2'd2;
  typedef logic [IdWidth-1:0] place_t;
  typedef logic [IdWidth:0] pointer_t;  // with a bit more than the ring has, for full and empty
  typedef logic [5:0] bucket_t;
  typedef struct packed {
    logic [63:0] addr;
    logic [2:0]  size;
    logic        last;  // of its burst
    bucket_t     bucket;
  } line_t;

  // ---------------------------------------------------------------- a beat of the master's burst
  axi_pkg::address_t head;
  logic some, take, ends, room;
  logic [7:0] beat_q;
  line_t line;
  pointer_t head_q, tail_q, next_q;  // the first open line; behind the last; the next to the port
  logic [63:0] busy_q;               // buckets of open lines
  fifo #(.Width($bits(axi_pkg::address_t)), .Depth(2)) u_heads (
    .clk_i, .rst_ni, .clear_i(1'b0), .valid_i(awvalid_i), .ready_o(awready_o), .data_i(aw_i),
    .valid_o(some), .ready_i(take && ends), .data_o(head), .usage_o()
  );
  assign room = pointer_t'(tail_q - head_q) != pointer_t'(Lines);
  assign ends = beat_q == head.len;
  assign wready_o = some && room && !busy_q[line.bucket];
  assign take = wvalid_i && wready_o;
  always_comb begin
    line.addr = head.addr;
    line.addr[11:BeatLog2] = head.addr[11:BeatLog2] + (12 - BeatLog2)'(beat_q);
    line.size = head.size;
    line.last = ends;
    line.bucket = line.addr[BeatLog2+:6] ^ line.addr[BeatLog2+6+:6];
  end

  // ---------------------------------------------------------------- open lines
  line_t line_q [Lines];
  logic [DataWidth-1:0] data_q [Lines];
  logic [DataBytes-1:0] strb_q [Lines];
  logic [TryWidth-1:0] tries_q [Lines];
  logic [1:0] resp_q [Lines];
  logic [Lines-1:0] again_q, done_q;
  logic [WaitWidth-1:0] wait_q;
  place_t first, put, got, retry, pick;
  logic some_retry, retries, offer, done, failed, pop, issue, aw_ready, w_ready;
  assign first = head_q[IdWidth-1:0];
  assign put   = tail_q[IdWidth-1:0];
  assign got   = bid_i;
  assign failed = bvalid_i && bresp_i == SlvErr && tries_q[got] != TryWidth'(Tries);
  assign done   = bvalid_i && !failed;
  always_ff @(posedge clk_i) begin
    if (take) begin
      line_q[put]  <= line;
      data_q[put]  <= wdata_i;
      strb_q[put]  <= wstrb_i;
      tries_q[put] <= '0;
    end
    if (failed) tries_q[got] <= tries_q[got] + TryWidth'(1);
    if (done) resp_q[got] <= bresp_i;
  end

  // ---------------------------------------------------------------- to the port
  always_comb begin
    retry = '0;
    for (int unsigned i = Lines; i > 0; i--) if (again_q[i-1]) retry = place_t'(i - 1);
  end
  assign some_retry = again_q != '0;
  assign retries    = some_retry && wait_q == '0;
  assign offer      = retries || next_q != tail_q;
  assign pick       = retries ? retry : next_q[IdWidth-1:0];
  assign issue      = offer && aw_ready && w_ready;
  place_t aw_place, w_place;
  fifo #(.Width(IdWidth), .Depth(2)) u_addresses (
    .clk_i, .rst_ni, .clear_i(1'b0), .valid_i(offer && w_ready), .ready_o(aw_ready), .data_i(pick),
    .valid_o(awvalid_o), .ready_i(awready_i), .data_o(aw_place), .usage_o()
  );
  fifo #(.Width(IdWidth), .Depth(4)) u_data (
    .clk_i, .rst_ni, .clear_i(1'b0), .valid_i(offer && aw_ready), .ready_o(w_ready), .data_i(pick),
    .valid_o(wvalid_o), .ready_i(wready_i), .data_o(w_place), .usage_o()
  );
  assign awid_o = aw_place;
  assign aw_o = '{addr: line_q[aw_place].addr, len: '0, size: line_q[aw_place].size,
                  burst: axi_pkg::BurstIncr};
  assign wdata_o = data_q[w_place];
  assign wstrb_o = strb_q[w_place];

  // ---------------------------------------------------------------- to the master
  logic [1:0] worst_q, worst;  // of the burst's lines so far
  assign worst    = worst_q > resp_q[first] ? worst_q : resp_q[first];
  assign bvalid_o = done_q[first] && line_q[first].last;
  assign bresp_o  = worst;
  assign pop      = done_q[first] && (!line_q[first].last || bready_i);
  assign retry_o  = failed;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {head_q, tail_q, next_q, beat_q, busy_q, again_q, done_q, wait_q, worst_q} <= '0;
    end else begin
      tail_q <= tail_q + pointer_t'(take);
      head_q <= head_q + pointer_t'(pop);
      next_q <= next_q + pointer_t'(issue && !retries);
      if (take) beat_q <= ends ? '0 : beat_q + 8'd1;
      if (done) busy_q[line_q[got].bucket] <= 1'b0;
      if (take) busy_q[line.bucket] <= 1'b1;
      if (issue && retries) again_q[pick] <= 1'b0;
      if (failed) again_q[got] <= 1'b1;
      if (pop) done_q[first] <= 1'b0;
      if (done) done_q[got] <= 1'b1;
      if (failed) wait_q <= WaitWidth'(Wait);
      else if (wait_q != '0) wait_q <= wait_q - WaitWidth'(1);
      if (pop) worst_q <= line_q[first].last ? '0 : worst;
    end
  end

  logic unused;
  assign unused = ^head;

  // An answer is of a line that is open, and neither answered nor to be written again.
  pointer_t place;
  assign place = {1'b0, got - first};
  prim_assert u_answer (
    .clk_i, .rst_ni,
    .ok_i(!bvalid_i || (place < pointer_t'(next_q - head_q) && !done_q[got] && !again_q[got]))
  );
endmodule
