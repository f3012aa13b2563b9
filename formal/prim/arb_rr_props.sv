// SPDX-License-Identifier: SHL-2.1
/// arb_rr: one grant, held to the packet's end, and at most NumReq-1 packets before one's turn.
module arb_rr_props #(
  parameter int unsigned NumReq = 4,
  localparam int unsigned IdxWidth = $clog2(NumReq)
) (
  input logic              clk_i,
  input logic [NumReq-1:0] req_i,
  input logic              last_i
);
  logic                rst_ni;
  logic [NumReq-1:0]   gnt_o;
  logic [IdxWidth-1:0] idx_o;

  arb_rr #(.NumReq(NumReq)) dut (.*);

  logic started_q = 1'b0;
  always_ff @(posedge clk_i) started_q <= 1'b1;
  assign rst_ni = started_q;

  // Any requester: uninitialised and never changed.
  logic [IdxWidth-1:0] watch_q;
  always_ff @(posedge clk_i) watch_q <= watch_q;

  // Packets of others that ended while the watched request stood up without a grant.
  logic [IdxWidth:0] passed_q;
  logic [NumReq-1:0] held_q;
  logic              waiting;

  assign waiting = req_i[watch_q] && !gnt_o[watch_q];

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      passed_q <= '0;
      held_q   <= '0;
    end else begin
      held_q   <= last_i ? '0 : gnt_o;
      passed_q <= !waiting ? '0 : passed_q + (IdxWidth+1)'(last_i && gnt_o != '0);
    end
  end

  // Index of the winner before, as the arbiter remembers it, and how far behind it the watched is.
  logic [IdxWidth-1:0] last_winner, distance;
  always_comb begin
    last_winner = IdxWidth'(NumReq - 1);
    for (int unsigned i = 0; i < NumReq; i++) begin
      if (dut.after_q[i]) last_winner = last_winner - 1'b1;
    end
  end
  assign distance = watch_q - last_winner - 1'b1;  // NumReq is a power of two here

  always_comb begin
    if (started_q) begin
      assert ((gnt_o & (gnt_o - 1'b1)) == '0);
      if (held_q != '0) assert (gnt_o == held_q);
      if (held_q == '0) assert ((gnt_o & ~req_i) == '0 && (gnt_o == '0) == (req_i == '0));
      if (gnt_o != '0) assert (gnt_o[idx_o]);
      if (req_i[watch_q]) assert (passed_q <= (IdxWidth+1)'(NumReq - 1));
      // Inductive strengthening: what has passed and what can still pass.
      assert (held_q == dut.owner_q);
      assert (((~dut.after_q) & ((~dut.after_q) + 1'b1)) == '0);
      if (dut.owner_q != '0) assert (dut.owner_q == (NumReq)'(1) << last_winner);
      if (held_q == '0 || !held_q[watch_q])
        assert (passed_q + (IdxWidth+1)'(held_q != '0) + distance <= (IdxWidth+1)'(NumReq - 1));
      cover (req_i[watch_q] && gnt_o[watch_q] && passed_q == (IdxWidth+1)'(NumReq - 1));
    end
  end
endmodule
