// SPDX-License-Identifier: SHL-2.1
// Ports and parameters of the ECP5 cells that the board uses; place and route knows what they do.
// verilator lint_off DECLFILENAME
// verilator lint_off UNUSEDSIGNAL
// verilator lint_off UNDRIVEN
// verilator lint_off UNUSEDPARAM
// verilog_lint: waive-start explicit-parameter-storage-type
// verilog_lint: waive-start port-name-suffix
// verilog_lint: waive-start one-module-per-file
// verilog_lint: waive-start module-filename

(* blackbox *)
module EHXPLLL #(
  parameter CLKI_DIV        = 1,
  parameter CLKFB_DIV       = 1,
  parameter CLKOP_DIV       = 8,
  parameter CLKOP_ENABLE    = "ENABLED",
  parameter CLKOP_CPHASE    = 0,
  parameter CLKOP_FPHASE    = 0,
  parameter FEEDBK_PATH     = "CLKOP",
  parameter STDBY_ENABLE    = "DISABLED",
  parameter PLLRST_ENA      = "DISABLED",
  parameter INTFB_WAKE      = "DISABLED",
  parameter DPHASE_SOURCE   = "DISABLED",
  parameter OUTDIVIDER_MUXA = "DIVA"
) (
  input  logic CLKI,
  input  logic CLKFB,
  output logic CLKOP,
  output logic LOCK,
  input  logic RST,
  input  logic STDBY,
  input  logic PHASESEL0,
  input  logic PHASESEL1,
  input  logic PHASEDIR,
  input  logic PHASESTEP,
  input  logic PHASELOADREG,
  input  logic PLLWAKESYNC,
  input  logic ENCLKOP
);
endmodule

(* blackbox *)
module ODDRX1F (
  input  logic SCLK,
  input  logic RST,
  input  logic D0,
  input  logic D1,
  output logic Q
);
endmodule

(* blackbox *)
module IDDRX1F (
  input  logic SCLK,
  input  logic RST,
  input  logic D,
  output logic Q0,
  output logic Q1
);
endmodule

(* blackbox *)
module DELAYG #(
  parameter DEL_MODE  = "USER_DEFINED",
  parameter DEL_VALUE = 0
) (
  input  logic A,
  output logic Z
);
endmodule
