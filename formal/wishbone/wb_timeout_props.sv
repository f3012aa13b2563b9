// SPDX-License-Identifier: SHL-2.1
/// wb_timeout in front of a bus that may do anything: stall, answer, fail, at any time, or never.
/// Up to a timeout the bus is the master's: its operations as they are while one more may be
/// outstanding, and the bus's answers.
module wb_timeout_props #(
  parameter int unsigned Timeout        = 3,
  parameter int unsigned MaxOutstanding = 3
) (
  input logic        clk_i,
  input logic        m_cyc_i,
  input logic        m_stb_i,
  input logic        m_we_i,
  input logic [31:0] m_adr_i,
  input logic [3:0]  m_sel_i,
  input logic [31:0] m_dat_i,
  input logic        s_stall_i,
  input logic        s_ack_i,
  input logic        s_err_i,
  input logic [31:0] s_dat_i
);
  logic        rst_ni;
  logic        m_stall_o, m_ack_o, m_err_o, s_cyc_o, s_stb_o, s_we_o, timeout_o;
  logic [31:0] m_dat_o, s_adr_o, s_dat_o;
  logic [3:0]  s_sel_o;

  wb_timeout #(.Timeout(Timeout), .MaxOutstanding(MaxOutstanding)) dut (.*);

  logic started_q = 1'b0;
  always_ff @(posedge clk_i) started_q <= 1'b1;
  assign rst_ni = started_q;

  // The master keeps its rules: an operation that was not taken stays as long as cyc does.
  logic       offered_q, dead_q;  // dead_q: this cycle of the master timed out
  logic       was_dead_q;
  logic [7:0] owed_q, since_q;
  logic       taken, reply, pending;

  assign taken   = m_cyc_i && m_stb_i && !m_stall_o;
  assign reply   = m_ack_o || m_err_o;
  assign pending = m_cyc_i && (m_stb_i || owed_q != '0);

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      offered_q <= 1'b0;
      dead_q    <= 1'b0;
      was_dead_q <= 1'b0;
      owed_q    <= '0;
      since_q   <= '0;
    end else begin
      offered_q <= m_cyc_i && m_stb_i && m_stall_o;
      was_dead_q <= was_dead_q || dead_q;
      dead_q    <= m_cyc_i && (dead_q || timeout_o);
      owed_q    <= m_cyc_i ? owed_q + 8'(taken) - 8'(reply) : '0;
      since_q   <= (pending && !reply) ? since_q + 8'd1 : '0;
    end
  end

  always_comb begin
    if (started_q) begin
      if (offered_q && m_cyc_i) assume (m_stb_i);

      // One reply at most in a cycle, and only for an operation that was taken before.
      assert (!(m_ack_o && m_err_o));
      if (reply) assert (m_cyc_i && owed_q != '0);
      assert (owed_q <= 8'(MaxOutstanding));
      // An offered or outstanding operation always progresses: no deadlock, and a bound.
      assert (since_q <= 8'(Timeout + 2));
      // The bus gets each operation at most once, and only operations that the master offers.
      if (s_stb_o && !s_stall_i) assert (taken);
      if (s_stb_o) assert (s_cyc_o && m_stb_i);
      // A timeout lets the bus go until the master does, and all that is left fails at once: one
      // operation taken and one answered a clock, never a second timeout.
      if (dead_q) assert (!s_cyc_o && !timeout_o && !m_ack_o);
      if (dead_q && m_cyc_i) assert (!m_stall_o && m_err_o == (owed_q != '0));
      // Until then wires, but for the count of operations;
      // and a timeout as soon as nothing came for so long.
      assert ({s_we_o, s_adr_o, s_sel_o, s_dat_o} == {m_we_i, m_adr_i, m_sel_i, m_dat_i});
      assert (s_cyc_o == (m_cyc_i && !dead_q));
      assert (s_stb_o == (s_cyc_o && m_stb_i && (owed_q != 8'(MaxOutstanding) || reply)));
      if (s_stb_o) assert (m_stall_o == s_stall_i);
      if (s_cyc_o && m_stb_i && !s_stb_o) assert (m_stall_o);
      if (s_cyc_o && owed_q != '0) assert ({m_ack_o, m_err_o} == {s_ack_i && !s_err_i, s_err_i});
      if (m_ack_o || (m_err_o && !dead_q)) assert (m_dat_o == s_dat_i);
      assert (timeout_o == (pending && !dead_q && !reply && since_q == 8'(Timeout)));
      // Success comes from the bus alone.
      if (m_ack_o) assert (s_ack_i && s_cyc_o);
      assert (!timeout_o || pending);
      // Inductive strengthening.
      assert (owed_q == 8'(dut.cnt_q));
      assert (dead_q == dut.dead_q);
      if (!dead_q) assert (since_q == 8'(dut.timer_q) && since_q <= 8'(Timeout));
      if (dead_q) assert (since_q <= 8'(Timeout + 1) + 8'(owed_q != '0));

      cover (timeout_o && owed_q == 8'(MaxOutstanding));
      cover (timeout_o && owed_q == '0);
      cover (m_ack_o && owed_q == 8'(MaxOutstanding));
      cover (dead_q && taken && m_err_o);
      cover (m_ack_o && was_dead_q);
    end
  end
endmodule
