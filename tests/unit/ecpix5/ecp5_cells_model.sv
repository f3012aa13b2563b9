// SPDX-License-Identifier: SHL-2.1
// What the DDR cells of an ECP5 do, without their delays.
module ODDRX1F (
  input  logic SCLK,
  input  logic RST,
  input  logic D0,
  input  logic D1,
  output logic Q
);
  logic rise_q, fall_q;
  always_ff @(posedge SCLK or posedge RST) begin
    if (RST) {rise_q, fall_q} <= '0;
    else {rise_q, fall_q} <= {D0, D1};
  end
  assign Q = SCLK ? rise_q : fall_q;
endmodule

module IDDRX1F (
  input  logic SCLK,
  input  logic RST,
  input  logic D,
  output logic Q0,
  output logic Q1
);
  logic rise_q, fall_q;
  always_ff @(posedge SCLK) rise_q <= D;
  always_ff @(negedge SCLK) fall_q <= D;
  // Both nibbles of a byte come out at the same edge.
  always_ff @(posedge SCLK or posedge RST) begin
    if (RST) {Q0, Q1} <= '0;
    else {Q0, Q1} <= {rise_q, fall_q};
  end
endmodule

module DELAYG #(
  parameter string       DEL_MODE  = "USER_DEFINED",
  parameter int unsigned DEL_VALUE = 0
) (
  input  logic A,
  output logic Z
);
  assign Z = A;
endmodule
