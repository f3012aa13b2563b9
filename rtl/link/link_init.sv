// SPDX-License-Identifier: SHL-2.1
/// Start of a link: both ends send INIT, then READY, then words; either starts over with the other.
///
/// An end stays in INIT for InitWords cycles before it listens. By then the far end has seen it,
/// and nothing that was sent before comes any more: the start cannot chase itself in a circle.
///
///   States      clear_o, ready_o or up_o, one at a time; InitWords cycles of clear_o behind each
///               start
///                                                     (proved: formal/link/link_init.sby)
///   Handshake   none
///   Latency     up_o at the earliest InitWords + one round trip after reset
///   Parameters  InitWords 8..65536, a power of two, at least the round trip in words
///   Not done    rate negotiation
module link_init #(
  parameter int unsigned InitWords = 1024
) (
  input  logic clk_i,
  input  logic rst_ni,
  input  logic signal_i,   // low: the link is down
  input  logic init_i,     // the word is INIT
  input  logic ready_i,    // the word is READY
  input  logic running_i,  // the word is one of a running link
  output logic clear_o,    // counters are to be cleared: sends INIT
  output logic ready_o,    // sends READY
  output logic up_o,
  output logic idle_o
);
  localparam int unsigned CountWidth = $clog2(InitWords);

  if (InitWords < 8 || InitWords > 65536 || InitWords != 1 << CountWidth) begin : gen_check
    $error("link_init: InitWords is %0d, legal is a power of two, 8..65536", InitWords);
  end

  logic [CountWidth:0] count_q;
  logic                signal_q, init_q, seen_q;

  // One transition at a time; `seen_q` is READY sent, up_o is both ways open.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      count_q  <= '0;
      signal_q <= 1'b0;
      init_q   <= 1'b0;
      seen_q   <= 1'b0;
      up_o     <= 1'b0;
    end else begin
      signal_q <= signal_i;
      init_q   <= init_i;
      if (!signal_i || (up_o && init_q && init_i)) begin
        count_q <= '0;
        seen_q  <= 1'b0;
        up_o    <= 1'b0;
      end else if (!count_q[CountWidth]) begin
        count_q <= count_q + 1'b1;
      end else if (!seen_q) begin
        seen_q <= init_i || ready_i;
      end else if (ready_i || running_i) begin
        up_o <= 1'b1;
      end
    end
  end

  assign clear_o = !seen_q;
  assign ready_o = seen_q && !up_o;
  // Nothing changes at the next edge.                      (proved: formal/link/link_init.sby)
  assign idle_o  = !init_i && !init_q && signal_i == signal_q &&
                   (up_o || (!signal_q && clear_o && count_q == '0));
endmodule
