// SPDX-License-Identifier: SHL-2.1
/// arb_fixed: the lowest request, and only that.
module arb_fixed_props #(
  parameter int unsigned NumReq = 6
) (
  input logic [NumReq-1:0] req_i
);
  logic [NumReq-1:0] gnt_o;

  arb_fixed #(.NumReq(NumReq)) dut (.*);

  always_comb begin
    assert ((gnt_o & ~req_i) == '0);
    assert ((gnt_o == '0) == (req_i == '0));
    assert ((gnt_o & (gnt_o - 1'b1)) == '0);
    // Nobody below the winner asks.
    if (gnt_o != '0) assert ((req_i & (gnt_o - 1'b1)) == '0);
    cover (gnt_o[NumReq-1]);
  end
endmodule
