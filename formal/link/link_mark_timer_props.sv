// SPDX-License-Identifier: SHL-2.1
/// link_mark_timer: an ALIGN is due after AlignWords words without one, or a word that serves as
/// well, and stays so until it is sent; never earlier; idle_o exactly while nothing is due and no
/// word is counted, so that with restart_i nothing changes.
module link_mark_timer_props #(
  parameter int unsigned AlignWords = 5
) (
  input logic clk_i,
  input logic restart_i,
  input logic take_i
);
  logic rst_ni, taken_i, due_o, idle_o;
  link_mark_timer #(.AlignWords(AlignWords)) dut (.*);

  logic started_q = 1'b0;
  always_ff @(posedge clk_i) started_q <= 1'b1;
  assign rst_ni = started_q;
  // As link_tx: taken only where one is due.
  assign taken_i = take_i && due_o;

  // Words since the last that serves.
  logic [3:0] since_q;
  logic       due_q, taken_q, quiet_q;
  always_ff @(posedge clk_i) begin
    since_q <= (!started_q || restart_i || taken_i) ? '0 : since_q == '1 ? since_q : since_q + 1'b1;
    due_q   <= started_q && due_o;
    taken_q <= taken_i;
    quiet_q <= started_q && idle_o && restart_i;
  end

  always_comb begin
    if (started_q) begin
      if (since_q >= 4'(AlignWords)) assert (due_o);
      if (due_o && !due_q) assert (since_q == 4'(AlignWords));
      if (due_q && !taken_q) assert (due_o);
      if (taken_q) assert (!due_o);
      if (quiet_q) assert (idle_o);
      // Idle: nothing is due, and a restart would change no count.
      assert (idle_o == (!due_o && since_q == '0));
      // What makes the above inductive.
      if (!due_o) assert (4'(dut.timer_q) == since_q && since_q < 4'(AlignWords));
      cover (due_o && since_q == 4'(AlignWords + 3));
      cover (taken_q && since_q == '0);
    end
  end
endmodule
