// SPDX-License-Identifier: SHL-2.1
/// Round-robin arbiter that holds its grant until the winner's last word.
///
///   Handshake   gnt_o is one-hot or zero. It holds from a packet's first cycle to the one with
///               last_i, also while the winner's request is low between words. last_i says that
///               the winner's last word is taken in this cycle; it is ignored while gnt_o is zero
///   Latency     0 cycles, combinational from req_i
///   Throughput  one packet a cycle at most, no dead cycle between packets
///   Fairness    a request that stays up wins after at most NumReq-1 packets of others, the one in
///               progress included                            (proved: formal/prim/arb_rr.sby)
///   Parameters  NumReq 1..64
///   Not done    weights, priorities, a time limit on a packet
module arb_rr #(
  parameter  int unsigned NumReq   = 4,
  localparam int unsigned IdxWidth = NumReq > 1 ? $clog2(NumReq) : 1
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  input  logic [NumReq-1:0]   req_i,
  input  logic                last_i,
  output logic [NumReq-1:0]   gnt_o,
  output logic [IdxWidth-1:0] idx_o  // number of the bit of gnt_o; only with one
);
  if (NumReq < 1 || NumReq > 64) begin : gen_num_req_check
    $error("arb_rr: NumReq is %0d, legal is 1..64", NumReq);
  end

  // owner_q is the winner of a packet in progress, or zero; after_q marks the indices above the
  // winner before: they go first.
  logic [NumReq-1:0] owner_q, after_q;
  logic [NumReq-1:0] first, first_gnt, any_gnt, winner;

  assign first = req_i & after_q;

  arb_fixed #(.NumReq(NumReq)) u_first (.req_i(first), .gnt_o(first_gnt));
  arb_fixed #(.NumReq(NumReq)) u_any (.req_i(req_i), .gnt_o(any_gnt));

  assign winner = (first != '0) ? first_gnt : any_gnt;
  assign gnt_o  = (owner_q != '0) ? owner_q : winner;

  always_comb begin
    idx_o = '0;
    for (int unsigned i = 0; i < NumReq; i++) begin
      if (gnt_o[i]) idx_o = idx_o | IdxWidth'(i);
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      owner_q <= '0;
      after_q <= '0;
    end else if (gnt_o != '0) begin
      owner_q <= last_i ? '0 : gnt_o;
      after_q <= ~(gnt_o | (gnt_o - 1'b1));
    end
  end
endmodule
