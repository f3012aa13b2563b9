// SPDX-License-Identifier: SHL-2.1
/// pcie_doorbell: a doorbell moves the position by as much as it is ahead of it, if it is whole
/// words, not too far and comes while running; any other is refused, once, and moves nothing.
/// Nothing else moves it but a start.
///
/// Any doorbells at any time, limits and starts.
module pcie_doorbell_props (
  input logic        clk_i,
  input logic        start_i,
  input logic        run_i,
  input logic        new_i,
  input logic [31:0] value_i,
  input logic [29:0] most_i
);
  logic rst_ni, pending_o, refused_o;
  logic [29:0] position_o;
  pcie_doorbell dut (.*);

  logic started_q = 1'b0;
  always_ff @(posedge clk_i) started_q <= 1'b1;
  assign rst_ni = started_q;

  // The doorbell of the cycle before, and the position that it was given beside.
  logic        bell_q, fits;
  logic [31:0] value_q;
  logic [29:0] most_q, beside_q;
  // And what should have come of one.
  logic        begun_q, moved_q, plain_q, still_q;
  logic [29:0] target_q, position_q, step_q;
  assign fits = value_q[1:0] == '0 && 30'(value_q[31:2] - beside_q) <= most_q && run_i;
  always_ff @(posedge clk_i) begin
    bell_q     <= started_q && new_i;
    value_q    <= value_i;
    most_q     <= most_i;
    beside_q   <= position_o;
    begun_q    <= !started_q || start_i;
    moved_q    <= started_q && bell_q && fits && !start_i;
    plain_q    <= position_o == beside_q;
    still_q    <= started_q && !start_i && !(bell_q && fits);
    target_q   <= value_q[31:2];
    step_q     <= value_q[31:2] - beside_q;
    position_q <= position_o;
  end

  always_comb begin
    if (started_q) begin
      assert (pending_o == bell_q);
      assert (refused_o == (bell_q && !fits));
      if (begun_q) assert (position_o == '0);
      if (still_q) assert (position_o == position_q);
      // It goes where the doorbell says, unless another one moved it meanwhile.
      if (moved_q && plain_q) assert (position_o == target_q);
      if (moved_q) assert (30'(position_o - position_q) == step_q);
      cover (moved_q && plain_q && position_q == 30'd7 && position_o == 30'd5);
      cover (moved_q && !plain_q);
      cover (refused_o && run_i && value_q[1:0] == '0);
    end
  end
endmodule
