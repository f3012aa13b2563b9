// SPDX-License-Identifier: SHL-2.1
/// strobe_cross, both clocks the same: a strobe that is taken arrives once, Stages cycles later;
/// none else does; ready again in Stages + 2 cycles more.
module strobe_cross_props (
  input logic clk_i,
  input logic strobe_i
);
  localparam int unsigned Stages = 2;
  logic rst_ni, ready_o, strobe_o;
  strobe_cross #(.Stages(Stages)) dut (
    .src_clk_i(clk_i), .src_rst_ni(rst_ni), .strobe_i, .ready_o,
    .dst_clk_i(clk_i), .dst_rst_ni(rst_ni), .strobe_o
  );

  logic started_q = 1'b0;
  always_ff @(posedge clk_i) started_q <= 1'b1;
  assign rst_ni = started_q;

  // Taken strobes of the last 6 cycles, and cycles that this side is not ready.
  logic [5:0] taken_q;
  logic       take;
  assign take = strobe_i && ready_o;
  always_ff @(posedge clk_i) taken_q <= started_q ? {taken_q[4:0], take} : '0;

  always_comb begin
    if (started_q) begin
      assert (strobe_o == taken_q[Stages]);
      assert (ready_o == (taken_q[2*Stages:0] == '0));
      // What makes the above inductive: where the toggles are.
      assert ($onehot0(taken_q));
      assert (dut.u_to.sync_q[0] == (dut.sent_q ^ taken_q[0]));
      assert (dut.u_to.sync_q[1] == (dut.u_to.sync_q[0] ^ taken_q[1]));
      assert (dut.seen_q == (dut.u_to.sync_q[1] ^ taken_q[2]));
      assert (dut.u_back.sync_q[0] == (dut.seen_q ^ taken_q[3]));
      assert (dut.u_back.sync_q[1] == (dut.u_back.sync_q[0] ^ taken_q[4]));
      cover (strobe_o);
      cover (taken_q[5] && take);
    end
  end
endmodule
