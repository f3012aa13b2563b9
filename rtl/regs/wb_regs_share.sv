// SPDX-License-Identifier: SHL-2.1
/// One register block for two Wishbones: a reads and writes, b reads.
///
/// Not a crossbar: nobody owns the block, so that b, which may hold its bus cycle for long, never
/// keeps a waiting.
///
///   Handshake   a goes first; b stalls in that clock. A write of b is answered err and not made
///   Latency     0 added; the block answers each operation one clock after the last in which it
///               stalls, so after one where it does not (wb_regs_adapter in front of a block
///               without a retiming stage)
///   Throughput  one operation a cycle
module wb_regs_share (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        a_cyc_i,
  input  logic        a_stb_i,
  input  logic        a_we_i,
  input  logic [31:0] a_adr_i,
  input  logic [3:0]  a_sel_i,
  input  logic [31:0] a_dat_i,
  output logic        a_stall_o,
  output logic        a_ack_o,
  output logic        a_err_o,
  output logic [31:0] a_dat_o,
  input  logic        b_cyc_i,
  input  logic        b_stb_i,
  input  logic        b_we_i,
  input  logic [31:0] b_adr_i,
  input  logic [3:0]  b_sel_i,
  input  logic [31:0] b_dat_i,
  output logic        b_stall_o,
  output logic        b_ack_o,
  output logic        b_err_o,
  output logic [31:0] b_dat_o,
  output logic        s_cyc_o,
  output logic        s_stb_o,
  output logic        s_we_o,
  output logic [31:0] s_adr_o,
  output logic [3:0]  s_sel_o,
  output logic [31:0] s_dat_o,
  input  logic        s_stall_i,
  input  logic        s_ack_i,
  input  logic        s_err_i,
  input  logic [31:0] s_dat_i
);
  typedef enum logic [1:0] {
    ForNobody,
    ForA,
    ForB,
    ForWriter
  } answer_e;

  logic ask_a, ask_b;
  answer_e answer_q, kept;
  assign ask_a = a_cyc_i && a_stb_i;
  assign ask_b = b_cyc_i && b_stb_i && !ask_a;

  assign s_cyc_o   = a_cyc_i || b_cyc_i;
  assign s_stb_o   = ask_a || (ask_b && !b_we_i);
  assign s_we_o    = ask_a && a_we_i;
  assign s_adr_o   = ask_a ? a_adr_i : b_adr_i;
  assign s_sel_o   = ask_a ? a_sel_i : b_sel_i;
  assign s_dat_o   = a_dat_i;
  assign a_stall_o = s_stall_i;
  assign b_stall_o = ask_a || s_stall_i;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) answer_q <= ForNobody;
    else if (s_stall_i) answer_q <= kept;
    else if (ask_a) answer_q <= ForA;
    else if (ask_b) answer_q <= b_we_i ? ForWriter : ForB;
    else answer_q <= ForNobody;
  end

  // While the block stalls, the answer that it owes is still to come; to a cycle that ended, none.
  assign kept = (answer_q == ForA && a_cyc_i) || (answer_q == ForB && b_cyc_i) ? answer_q :
                ForNobody;

  assign a_ack_o = s_ack_i && answer_q == ForA;
  assign a_err_o = s_err_i && answer_q == ForA;
  assign b_ack_o = s_ack_i && answer_q == ForB;
  assign b_err_o = (s_err_i && answer_q == ForB) || answer_q == ForWriter;
  assign a_dat_o = s_dat_i;
  assign b_dat_o = s_dat_i;

  logic unused;
  assign unused = ^b_dat_i;
endmodule
