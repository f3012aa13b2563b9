// SPDX-License-Identifier: SHL-2.1
/// Says when an ALIGN is due: AlignWords words after the last restart.
///
///   Handshake   due_o holds until taken_i
///   Latency     due_o rises AlignWords cycles after the last restart_i or taken_i
///   Parameters  AlignWords 2..4096; DueAtReset 1: the first one is due at once
///   Not done    a bound on the wait behind a packet: link_tx has it (formal/link/link_tx)
module link_mark_timer #(
  parameter int unsigned AlignWords = 1024,
  parameter bit          DueAtReset = 1'b0
) (
  input  logic clk_i,
  input  logic rst_ni,
  input  logic restart_i,  // a word that serves as well was sent
  input  logic taken_i,    // the ALIGN was sent
  output logic due_o,
  output logic idle_o      // nothing changes at the next edge while restart_i is high
);
  localparam int unsigned TimerWidth = $clog2(AlignWords);
  typedef logic [TimerWidth-1:0] timer_t;
  timer_t timer_q;

  if (AlignWords < 2 || AlignWords > 4096) begin : gen_align_check
    $error("link_mark_timer: AlignWords is %0d, legal is 2..4096", AlignWords);
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      timer_q <= '0;
      due_o   <= DueAtReset;
    end else begin
      if (taken_i || restart_i) timer_q <= '0;
      else if (!due_o) timer_q <= timer_q + 1'b1;
      due_o <= !taken_i && (due_o || (timer_q == timer_t'(AlignWords - 1) && !restart_i));
    end
  end

  assign idle_o = !due_o && timer_q == '0;
endmodule
