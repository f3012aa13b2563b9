// SPDX-License-Identifier: SHL-2.1
/// Brings bits of another clock, or of none, into clk_i: each by itself, through a chain of
/// flip-flops.
///
///   Handshake   none. Bits that change together may arrive in different cycles: a number of
///               several bits crosses in Gray code (gray_counter, async_fifo), never here
///   Latency     Stages edges of clk_i; one more where the first flip-flop resolves the other way
///   Throughput  a change that lasts a cycle of clk_i or more is seen
///   Parameters  Width 1.., Stages 2..4, ResetValue
///   Board       d_i must come from a flip-flop or a pin; false path to the first stage
///   Not done    filtering
module sync_bits #(
  parameter int unsigned      Width      = 1,
  parameter int unsigned      Stages     = 2,
  parameter logic [Width-1:0] ResetValue = '0
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic [Width-1:0] d_i,
  output logic [Width-1:0] q_o,
  output logic             settled_o  // nothing in flight; see async_fifo
);
  if (Stages < 2 || Stages > 4) begin : gen_stages_check
    $error("sync_bits: Stages is %0d, legal is 2..4", Stages);
  end

  (* async_reg = "true" *) logic [Stages-1:0][Width-1:0] sync_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) sync_q <= {Stages{ResetValue}};
    else         sync_q <= {sync_q[Stages-2:0], d_i};
  end
  assign q_o       = sync_q[Stages-1];
`ifdef SYNTHESIS
  assign settled_o = 1'b0;
`else
  assign settled_o = sync_q == {Stages{d_i}};
`endif
endmodule
