// SPDX-License-Identifier: SHL-2.1
/// Order of the requests of one line through an address translation cache.
///
/// atc answers a request that misses later, and others pass it. hold_o stops a request while an
/// older one of its line waits for its page, or may do so. Lines are compared by a hash of 6
/// bits, so one in 64 other lines is stopped too.
///
///   Handshake   req_*: the next request. take_i: atc takes it in this cycle; never with hold_o.
///               atc_ready_i: a level, atc takes lookups in this cycle, and changes none of what
///               they find. answer_*: a strobe a request, from the cycle behind take_i on
///   Ordering    answers to requests of one line in the order of take_i, hit or miss
///               (proved: formal/ccix/ccix_line_order.sby)
///   Latency     hold_o 0 cycles from req_index_i
///   Throughput  a request a cycle while pages hit. Right behind one of its line that is not known
///               to hit a request waits for a cycle: known is what hits in the page of the last
///               hit, of the same kind, with no cycle without atc_ready_i since
///   Parameters  none
///   Not done    an order of two virtual lines of one frame
module ccix_line_order
  import ccix_pkg::*;
(
  input  logic       clk_i,
  input  logic       rst_ni,
  input  logic       atc_ready_i,
  input  logic       take_i,
  input  logic       req_write_i,
  input  index_t     req_index_i,  // a virtual line
  input  logic [7:0] req_tag_i,    // not that of a request without an answer
  output logic       hold_o,
  input  logic       answer_i,
  input  logic       answer_ok_i,  // with a frame
  input  logic [7:0] answer_tag_i
);
  localparam int unsigned PageLines = 6;   // logarithm
  typedef logic [5:0] bucket_t;
  typedef logic [IndexWidth-PageLines-1:0] page_t;
  function automatic bucket_t bucket_of(index_t index);
    return index[5:0] ^ index[11:6];
  endfunction

  // ---------------------------------------------------------------- the request before
  logic taken_q, write_q, sure_q, hits;
  page_t page, page_q;
  bucket_t bucket, last_q;
  assign page   = req_index_i[IndexWidth-1:PageLines];
  assign bucket = bucket_of(req_index_i);
  assign hits   = taken_q && answer_i && answer_ok_i;
  always_ff @(posedge clk_i) begin
    if (take_i) begin
      last_q  <= bucket;
      page_q  <= page;
      write_q <= req_write_i;
    end
  end

  // ---------------------------------------------------------------- the page of the last hit
  logic known_q, known_write_q;
  page_t known_page_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      taken_q <= 1'b0;
      sure_q  <= 1'b0;
      known_q <= 1'b0;
    end else begin
      taken_q <= take_i;
      sure_q  <= take_i && known_q && known_page_q == page && known_write_q == req_write_i;
      known_q <= atc_ready_i && (hits || known_q);
    end
  end
  always_ff @(posedge clk_i) begin
    if (hits) begin
      known_page_q  <= page_q;
      known_write_q <= write_q;
    end
  end

  // ---------------------------------------------------------------- requests that wait
  // One a bucket at most.
  logic [63:0] waits_q;
  bucket_t bucket_q [256];
  bucket_t answered;
  assign answered = bucket_q[answer_tag_i];
  always_ff @(posedge clk_i) if (take_i) bucket_q[req_tag_i] <= bucket;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      waits_q <= '0;
    end else if (taken_q) begin
      if (!answer_i) waits_q[last_q] <= 1'b1;
    end else if (answer_i) begin
      waits_q[answered] <= 1'b0;
    end
  end

  assign hold_o = waits_q[bucket] || (taken_q && !sure_q && last_q == bucket);

  prim_assert u_sure (.clk_i, .rst_ni, .ok_i(!sure_q || (answer_i && answer_ok_i)));
  prim_assert u_held (.clk_i, .rst_ni, .ok_i(!take_i || !hold_o));
  // What waits is answered once.
  prim_assert u_waited (
    .clk_i, .rst_ni, .ok_i(!answer_i || taken_q || waits_q[answered])
  );

  logic unused;
  assign unused = ^req_index_i;
endmodule
