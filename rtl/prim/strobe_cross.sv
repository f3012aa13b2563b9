// SPDX-License-Identifier: SHL-2.1
/// A strobe of one clock as a strobe of another: each one that is taken arrives once.
///
///   Handshake   strobe_i is taken in a cycle with ready_o; ready_o is low from then until the
///               strobe has arrived and this side knows it. A strobe while it is low is not taken:
///               count such ones outside, or use gray_counter, which loses none
///   Ordering    strobes keep their order
///   Latency     Stages edges of dst_clk_i from the edge that takes it to strobe_o, less than one
///               more for the clocks' phase
///               (proved in one clock: formal/prim/strobe_cross.sby)
///   Throughput  one in 2 Stages + 2 cycles, Stages + 1 of each clock
///   Reset       src_rst_ni and dst_rst_ni must be asserted together and may be released in any
///               order
///   Parameters  Stages 2..4
///   Board       the toggles cross: sync_bits.xdc, sync_bits.sdc
///   Not done    data beside the strobe (async_fifo)
module strobe_cross #(
  parameter int unsigned Stages = 2
) (
  input  logic src_clk_i,  // of strobe_i and ready_o, rising edge
  input  logic src_rst_ni,
  input  logic strobe_i,
  output logic ready_o,
  input  logic dst_clk_i,
  input  logic dst_rst_ni,
  output logic strobe_o
);
  logic sent_q, seen, seen_q, back;
  logic unused_to, unused_back, unused;
  assign unused = &{1'b0, unused_to, unused_back};

  sync_bits #(
    .Stages(Stages)
  ) u_to (
    .clk_i    (dst_clk_i),
    .rst_ni   (dst_rst_ni),
    .d_i      (sent_q),
    .q_o      (seen),
    .settled_o(unused_to)
  );
  sync_bits #(
    .Stages(Stages)
  ) u_back (
    .clk_i    (src_clk_i),
    .rst_ni   (src_rst_ni),
    .d_i      (seen_q),
    .q_o      (back),
    .settled_o(unused_back)
  );

  assign ready_o  = sent_q == back;
  assign strobe_o = seen != seen_q;

  always_ff @(posedge src_clk_i or negedge src_rst_ni) begin
    if (!src_rst_ni) sent_q <= 1'b0;
    else if (strobe_i && ready_o) sent_q <= !sent_q;
  end
  always_ff @(posedge dst_clk_i or negedge dst_rst_ni) begin
    if (!dst_rst_ni) seen_q <= 1'b0;
    else seen_q <= seen;
  end
endmodule
