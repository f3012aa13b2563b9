// SPDX-License-Identifier: SHL-2.1
/// Fixed-priority arbiter: the lowest requesting index wins.
///
///   Handshake   gnt_o is one-hot, or zero when nobody asks   (proved: formal/prim/arb_fixed.sby)
///   Latency     0 cycles, combinational, no state
///   Throughput  one grant a cycle
///   Fairness    none: a permanent request starves every higher index
///   Parameters  NumReq 1..64
///   Not done    holding a grant over several words (use arb_rr)
module arb_fixed #(
  parameter int unsigned NumReq = 4
) (
  input  logic [NumReq-1:0] req_i,
  output logic [NumReq-1:0] gnt_o
);
  if (NumReq < 1 || NumReq > 64) begin : gen_num_req_check
    $error("arb_fixed: NumReq is %0d, legal is 1..64", NumReq);
  end

  // Two's complement isolates the lowest set bit; it maps to the carry chain.
  assign gnt_o = req_i & (~req_i + 1'b1);
endmodule
