// SPDX-License-Identifier: SHL-2.1
/// The unit's side of a lease: asks for a token, sends beats, begins anew behind a token's end.
///
///   Handshake   join_o is a level until joined_i
///   Ordering    reset_i and hold_i take effect when nothing of the unit waits (waits_i)
///   Latency     a reset to its unit_rst_no 1 cycle; a join to the token 1
///   Reset       unit_rst_no: while reset_i, and for a cycle where the token ended
///   Hold        no beat; the lease presents no order and no access; answers still reach the unit
///   Parameters  TokenWidth as ccix_lease
///   Not done    several units
module ccix_member #(
  parameter int unsigned TokenWidth = 8
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,
  input  logic                  reset_i,  // level
  input  logic                  hold_i,   // level
  input  logic                  waits_i,  // the lease's: something presented is not taken
  output logic                  unit_rst_no,
  output logic                  join_o,
  input  logic                  joined_i,
  input  logic [TokenWidth-1:0] token_i,  // in force
  output logic                  beat_o,   // level: the unit lives, with token_o
  output logic [TokenWidth-1:0] token_o   // the unit's own; not token_i when it ended
);
  logic reset_q, hold_q, have_q, ended;
  logic [TokenWidth-1:0] token_q;
  assign ended       = have_q && token_q != token_i && !hold_q;
  assign unit_rst_no = have_q && !reset_q;
  assign join_o      = !have_q && !reset_q && !hold_q;
  assign beat_o      = have_q && !hold_q && !reset_q;
  assign token_o     = token_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      reset_q <= 1'b0;
      hold_q  <= 1'b0;
      have_q  <= 1'b0;
      token_q <= '0;
    end else begin
      if (!waits_i) begin
        reset_q <= reset_i;
        hold_q  <= hold_i;
      end
      if (joined_i) have_q <= 1'b1;
      else if (reset_q || ended) have_q <= 1'b0;
      // The token in force changes with this edge.
      if (joined_i) token_q <= token_i + 1'b1;
    end
  end
endmodule
