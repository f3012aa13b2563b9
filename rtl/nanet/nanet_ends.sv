// SPDX-License-Identifier: SHL-2.1
/// What was begun and is not yet announced, in order: when the oldest one's read has ended, and
/// whether a beat of it was bad.
///
///   Handshake   begin_*: valid/ready. beat_i, a strobe: of the reads, in the order of begin_*.
///               end_o with head_o holds until taken by end_ready_i
///   Ordering    in the order of begin_*
///   Latency     last beat to end_o 1 cycle; begin_valid_i to end_o of one that is not read 1 cycle
///   Throughput  one a cycle
///   Parameters  Width of an entry; UnderWay a power of two: entries
///   Not done    reads that end in another order
module nanet_ends #(
  parameter int unsigned Width    = 32,
  parameter int unsigned UnderWay = 8
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic             begin_valid_i,
  output logic             begin_ready_o,
  input  logic [Width-1:0] begin_i,
  input  logic             beat_i,
  input  logic             beat_bad_i,
  input  logic             beat_end_i,   // it is the last one of its read
  output logic             end_o,
  input  logic             end_ready_i,
  output logic [Width-1:0] head_o,       // the oldest entry
  input  logic             head_read_i,  // it has a read, as head_o says
  output logic             head_bad_o,   // with end_o: a beat of its read was bad
  output logic             idle_o
);
  logic valid, read_ready, read_valid, read_bad, bad_q, take;
  fifo #(
    .Width(Width),
    .Depth(UnderWay)
  ) u_under_way (
    .clk_i,
    .rst_ni,
    .clear_i(1'b0),
    .valid_i(begin_valid_i),
    .ready_o(begin_ready_o),
    .data_i (begin_i),
    .valid_o(valid),
    .ready_i(take),
    .data_o (head_o),
    .usage_o()
  );
  // One for each entry that was read: it never overflows.
  fifo #(
    .Width(1),
    .Depth(UnderWay)
  ) u_read_ends (
    .clk_i,
    .rst_ni,
    .clear_i(1'b0),
    .valid_i(beat_i && beat_end_i),
    .ready_o(read_ready),
    .data_i (beat_bad_i || bad_q),
    .valid_o(read_valid),
    .ready_i(take && head_read_i),
    .data_o (read_bad),
    .usage_o()
  );
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) bad_q <= 1'b0;
    else if (beat_i) bad_q <= !beat_end_i && (beat_bad_i || bad_q);
  end
  assign end_o      = valid && (!head_read_i || read_valid);
  assign take       = end_o && end_ready_i;
  assign head_bad_o = head_read_i && read_bad;
  assign idle_o     = !valid;

  prim_assert u_ends (.clk_i, .rst_ni, .ok_i(read_ready || !(beat_i && beat_end_i)));
endmodule
