// SPDX-License-Identifier: SHL-2.1
/// ccix_member: the unit runs and sends beats with the token that it joined with, and with no
/// other; a token that has ended resets the unit in the next cycle, and it joins again; a reset and
/// a hold begin and end when nothing of the unit waits,
/// and while one is in force there is no beat and no join.
///
/// Any lease: joins are answered at any time, only where one is asked for.
module ccix_member_props (
  input logic       clk_i,
  input logic       reset_i,
  input logic       hold_i,
  input logic       waits_i,
  input logic       joined_i,
  input logic [1:0] token_i
);
  logic rst_ni, unit_rst_no, join_o, beat_o;
  logic [1:0] token_o;
  ccix_member #(.TokenWidth(2)) dut (.*);

  logic started_q = 1'b0;
  always_ff @(posedge clk_i) started_q <= 1'b1;
  assign rst_ni = started_q;

  // What is in force, and whose token the unit has.
  logic       reset_q, hold_q, member_q, ended, first_q;
  logic [1:0] token_q;
  assign ended = member_q && token_q != token_i && !hold_q;
  always_ff @(posedge clk_i) begin
    first_q <= started_q;
    if (!started_q) begin
      reset_q  <= 1'b0;
      hold_q   <= 1'b0;
      member_q <= 1'b0;
    end else begin
      if (!waits_i) {reset_q, hold_q} <= {reset_i, hold_i};
      if (joined_i) {member_q, token_q} <= {1'b1, 2'(token_i + 2'd1)};
      else if (ended || reset_q) member_q <= 1'b0;
    end
  end

  // What was seen a cycle ago.
  logic       beat_q, ran_q, ended_q, moved_q, asked_q;
  logic [1:0] sent_q;
  always_ff @(posedge clk_i) begin
    beat_q  <= started_q && beat_o;
    ran_q   <= started_q && unit_rst_no;
    ended_q <= started_q && beat_o && token_o != token_i;
    moved_q <= started_q && joined_i;
    asked_q <= started_q && join_o;
    sent_q  <= token_o;
  end

  always_comb begin
    if (started_q) begin
      assume (!joined_i || join_o);
      assert (unit_rst_no == (member_q && !reset_q));
      assert (join_o == (!member_q && !reset_q && !hold_q));
      assert (beat_o == (member_q && !reset_q && !hold_q));
      if (beat_o) assert (token_o == token_q && unit_rst_no);
      if (beat_q && beat_o) assert (token_o == sent_q);
      // A token that has ended: the unit is in reset, and joins,
      // but where a reset or a hold has begun.
      if (ended_q) assert (!unit_rst_no && !beat_o);
      // It leaves its reset by a join, or where one ends that took no token away.
      if (first_q && unit_rst_no && !ran_q) assert (moved_q);
      if (asked_q && !moved_q) assert (join_o || reset_q || hold_q);
      // What makes the above inductive.
      assert (dut.have_q == member_q && dut.reset_q == reset_q && dut.hold_q == hold_q);
      if (member_q) assert (dut.token_q == token_q);
      cover (ended_q && join_o);
      cover (unit_rst_no && hold_q && token_q != token_i);
      cover (moved_q && beat_o && token_o == 2'd3);
    end
  end
endmodule
