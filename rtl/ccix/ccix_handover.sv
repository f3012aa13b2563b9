// SPDX-License-Identifier: SHL-2.1
/// Grants of locks to the host, each behind the line of its record: what the host will change, the
/// FPGA's cache gives up before the host asks for it.
///
/// Without it the host, with the lock, finds the record's line in the FPGA's cache, and a snoop
/// goes there and back. It is a hint: any order of line and grant is coherent.
///
///   Handshake   grant: a strobe, never refused; msg, req, line: valid/ready, stable. Responses are
///               strobes, those of evictions are not passed on
///   Ordering    messages in that of the grants. One with grant_line_i leaves when the cache has
///               answered its eviction and had two cycles to offer the line, if it had it. An
///               eviction goes before accesses, but not before one that is offered already
///   Latency     grant to msg_valid_o 1 cycle; with a line 8, and what the cache waits for. An
///               access 0 cycles
///   Throughput  a grant, an access or an eviction a cycle
///   Safety      a message a grant, in order, none with a line before its eviction is answered
///                                                      (proved: formal/ccix/ccix_handover.sby)
///   Parameters  Depth a power of two, 2..1024: grants that wait
///   Not done    lines of locks whose number is not the record's
module ccix_handover
  import ccix_pkg::*;
#(
  parameter int unsigned Depth = 512
) (
  input  logic          clk_i,
  input  logic          rst_ni,
  input  logic          grant_valid_i,  // strobe
  input  logic          grant_line_i,   // behind its line
  input  lock_message_t grant_i,        // the message of the grant
  output logic          msg_valid_o,
  input  logic          msg_ready_i,  // takes msg_o
  output lock_message_t msg_o,        // a grant for the host, as it came
  // Accesses of the unit.
  input  logic          req_valid_i,
  output logic          req_ready_o,
  input  access_t       req_i,
  output logic          rsp_valid_o,
  // To the cache.
  output logic          line_valid_o,
  input  logic          line_ready_i,
  output logic          line_evict_o,
  output access_t       line_o,
  input  logic          line_rsp_valid_i,
  input  logic [7:0]    line_rsp_tag_i,
  output logic          fail_o  // level: a grant found no place, an answer no eviction
);
  if (Depth < 2 || Depth > 1024 || (Depth & (Depth - 1)) != 0) begin : gen_depth_check
    $error("ccix_handover: Depth is %0d, legal is a power of two, 2..1024", Depth);
  end
  localparam logic [7:0] Tag = 8'h40;  // of no slot
  typedef logic [$clog2(Depth):0] count_t;

  logic room, line_room, some, first_valid, first_line, pop;
  logic [15:0] lock;
  fifo #(.Width(1 + $bits(lock_message_t)), .Depth(Depth)) u_messages (
    .clk_i, .rst_ni, .clear_i(1'b0), .valid_i(grant_valid_i), .ready_o(room),
    .data_i({grant_line_i, grant_i}), .valid_o(first_valid), .ready_i(pop),
    .data_o({first_line, msg_o}), .usage_o()
  );
  fifo #(.Width(16), .Depth(Depth)) u_lines (
    .clk_i, .rst_ni, .clear_i(1'b0), .valid_i(grant_valid_i && grant_line_i),
    .ready_o(line_room), .data_i(grant_i.lock), .valid_o(some),
    .ready_i(line_evict_o && line_ready_i), .data_o(lock), .usage_o()
  );

  // ---------------------------------------------------------------- what the cache is offered
  logic held_q, evict_q;
  assign line_evict_o = held_q ? evict_q : some;
  assign line_valid_o = line_evict_o || req_valid_i;
  assign req_ready_o  = line_ready_i && !line_evict_o;
  always_comb begin
    line_o = req_i;
    if (line_evict_o) begin
      line_o = '{write: 1'b0, index: index_t'(lock), tag: Tag, mask: '0, data: '0};
    end
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) held_q <= 1'b0;
    else held_q <= line_valid_o && !line_ready_i;
  end
  always_ff @(posedge clk_i) evict_q <= line_evict_o;

  // ---------------------------------------------------------------- what may leave
  // left_q: lines that have left, and whose grants have not.
  logic answered, answered_q, use_;
  count_t left_q, asked_q;
  assign answered    = line_rsp_valid_i && line_rsp_tag_i == Tag;
  assign rsp_valid_o = line_rsp_valid_i && line_rsp_tag_i != Tag;
  assign msg_valid_o = first_valid && (!first_line || left_q != '0);
  assign pop         = msg_valid_o && msg_ready_i;
  assign use_        = pop && first_line;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      answered_q <= 1'b0;
      left_q     <= '0;
      asked_q    <= '0;
      fail_o     <= 1'b0;
    end else begin
      answered_q <= answered;
      left_q     <= left_q + count_t'(answered_q) - count_t'(use_);
      asked_q    <= asked_q + count_t'(line_evict_o && line_ready_i) - count_t'(answered);
      if ((grant_valid_i && !(room && line_room)) || (answered && asked_q == '0)) fail_o <= 1'b1;
    end
  end
endmodule
