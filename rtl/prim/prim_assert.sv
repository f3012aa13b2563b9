// SPDX-License-Identifier: SHL-2.1
/// A fact that holds at every clock, stated where it is relied on: `prim_assert u_no_overflow
/// (..)`.
///
/// A failure in simulation names the instance. In a proof (FORMAL) it is an assertion, in synthesis
/// nothing. A module, not a macro: file lists need no folders of headers, and macros end with their
/// file.
///
///   Handshake   none
///   Latency     checked at each edge of clk_i with rst_ni high
///   Parameters  none
///   Not done    facts over several clocks: ok_i is made of registers then
module prim_assert (
  input logic clk_i,
  input logic rst_ni,
  input logic ok_i
);
`ifdef FORMAL
  always_comb if (rst_ni) assert (ok_i);
`elsif VERILATOR
  logic checks_q;  // how many are done does not matter; a reset like all others does
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      checks_q <= 1'b0;
    end else begin
      checks_q <= !checks_q;
      assert (ok_i)
      else $error("%m does not hold");
    end
  end
  logic unused;
  assign unused = checks_q;
`else
  logic unused;
  assign unused = &{1'b0, clk_i, rst_ni, ok_i};
`endif
endmodule
