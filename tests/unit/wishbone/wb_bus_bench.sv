// SPDX-License-Identifier: SHL-2.1
/// Three masters, each behind a timeout guard, on a crossbar with four slaves; a guard alone; a
/// register slice alone.
/// Slave s has a window of 16 KiB at s << 16; the rest of those 64 KiB is nobody's.
module wb_bus_bench #(
  parameter int unsigned NumMasters = 3,
  parameter int unsigned NumSlaves  = 4,
  parameter int unsigned Timeout    = 200,
  parameter int unsigned AloneTimeout = 12
) (
  input  logic                        clk_i,
  input  logic                        rst_ni,
  input  logic [NumMasters-1:0]       m_cyc_i, m_stb_i, m_we_i,
  input  logic [NumMasters-1:0][31:0] m_adr_i, m_dat_i,
  input  logic [NumMasters-1:0][3:0]  m_sel_i,
  output logic [NumMasters-1:0]       m_stall_o, m_ack_o, m_err_o,
  output logic [NumMasters-1:0][31:0] m_dat_o,
  output logic [NumMasters-1:0]       timeout_o,
  output logic [NumSlaves-1:0]        s_cyc_o, s_stb_o, s_we_o,
  output logic [NumSlaves-1:0][31:0]  s_adr_o, s_dat_o,
  output logic [NumSlaves-1:0][3:0]   s_sel_o,
  input  logic [NumSlaves-1:0]        s_stall_i, s_ack_i, s_err_i,
  input  logic [NumSlaves-1:0][31:0]  s_dat_i,
  // the guard alone
  input  logic                        a_cyc_i, a_stb_i, a_we_i,
  input  logic [31:0]                 a_adr_i, a_dat_i,
  input  logic [3:0]                  a_sel_i,
  output logic                        a_stall_o, a_ack_o, a_err_o,
  output logic [31:0]                 a_dat_o,
  output logic                        alone_timeout_o,
  output logic                        b_cyc_o, b_stb_o, b_we_o,
  output logic [31:0]                 b_adr_o, b_dat_o,
  output logic [3:0]                  b_sel_o,
  input  logic                        b_stall_i, b_ack_i, b_err_i,
  input  logic [31:0]                 b_dat_i,
  // the slice alone
  input  logic                        c_cyc_i, c_stb_i, c_we_i,
  input  logic [31:0]                 c_adr_i, c_dat_i,
  input  logic [3:0]                  c_sel_i,
  output logic                        c_stall_o, c_ack_o, c_err_o,
  output logic [31:0]                 c_dat_o,
  output logic                        d_cyc_o, d_stb_o, d_we_o,
  output logic [31:0]                 d_adr_o, d_dat_o,
  output logic [3:0]                  d_sel_o,
  input  logic                        d_stall_i, d_ack_i, d_err_i,
  input  logic [31:0]                 d_dat_i
);
  logic [NumMasters-1:0]       x_cyc, x_stb, x_we, x_stall, x_ack, x_err;
  logic [NumMasters-1:0][31:0] x_adr, x_wdat, x_rdat;
  logic [NumMasters-1:0][3:0]  x_sel;

  for (genvar m = 0; m < NumMasters; m++) begin : gen_guard
    wb_timeout #(.Timeout(Timeout)) u_guard (
      .clk_i, .rst_ni,
      .m_cyc_i(m_cyc_i[m]), .m_stb_i(m_stb_i[m]), .m_we_i(m_we_i[m]), .m_adr_i(m_adr_i[m]),
      .m_sel_i(m_sel_i[m]), .m_dat_i(m_dat_i[m]), .m_stall_o(m_stall_o[m]), .m_ack_o(m_ack_o[m]),
      .m_err_o(m_err_o[m]), .m_dat_o(m_dat_o[m]),
      .s_cyc_o(x_cyc[m]), .s_stb_o(x_stb[m]), .s_we_o(x_we[m]), .s_adr_o(x_adr[m]),
      .s_sel_o(x_sel[m]), .s_dat_o(x_wdat[m]), .s_stall_i(x_stall[m]), .s_ack_i(x_ack[m]),
      .s_err_i(x_err[m]), .s_dat_i(x_rdat[m]),
      .timeout_o(timeout_o[m])
    );
  end

  function automatic logic [NumSlaves-1:0][31:0] bases();
    for (int unsigned s = 0; s < NumSlaves; s++) bases[s] = s << 16;
  endfunction

  wb_xbar #(
    .NumMasters(NumMasters),
    .NumSlaves (NumSlaves),
    .Base      (bases()),
    .Mask      ({NumSlaves{32'hFFFF_C000}})
  ) u_xbar (
    .clk_i, .rst_ni,
    .m_cyc_i(x_cyc), .m_stb_i(x_stb), .m_we_i(x_we), .m_adr_i(x_adr), .m_sel_i(x_sel),
    .m_dat_i(x_wdat), .m_stall_o(x_stall), .m_ack_o(x_ack), .m_err_o(x_err), .m_dat_o(x_rdat),
    .s_cyc_o, .s_stb_o, .s_we_o, .s_adr_o, .s_sel_o, .s_dat_o, .s_stall_i, .s_ack_i, .s_err_i,
    .s_dat_i
  );

  wb_timeout #(.Timeout(AloneTimeout), .MaxOutstanding(7)) u_alone (
    .clk_i, .rst_ni,
    .m_cyc_i(a_cyc_i), .m_stb_i(a_stb_i), .m_we_i(a_we_i), .m_adr_i(a_adr_i), .m_sel_i(a_sel_i),
    .m_dat_i(a_dat_i), .m_stall_o(a_stall_o), .m_ack_o(a_ack_o), .m_err_o(a_err_o),
    .m_dat_o(a_dat_o),
    .s_cyc_o(b_cyc_o), .s_stb_o(b_stb_o), .s_we_o(b_we_o), .s_adr_o(b_adr_o), .s_sel_o(b_sel_o),
    .s_dat_o(b_dat_o), .s_stall_i(b_stall_i), .s_ack_i(b_ack_i), .s_err_i(b_err_i),
    .s_dat_i(b_dat_i),
    .timeout_o(alone_timeout_o)
  );

  wb_slice u_slice (
    .clk_i, .rst_ni,
    .m_cyc_i(c_cyc_i), .m_stb_i(c_stb_i), .m_we_i(c_we_i), .m_adr_i(c_adr_i), .m_sel_i(c_sel_i),
    .m_dat_i(c_dat_i), .m_stall_o(c_stall_o), .m_ack_o(c_ack_o), .m_err_o(c_err_o),
    .m_dat_o(c_dat_o),
    .s_cyc_o(d_cyc_o), .s_stb_o(d_stb_o), .s_we_o(d_we_o), .s_adr_o(d_adr_o), .s_sel_o(d_sel_o),
    .s_dat_o(d_dat_o), .s_stall_i(d_stall_i), .s_ack_i(d_ack_i), .s_err_i(d_err_i),
    .s_dat_i(d_dat_i)
  );
endmodule
