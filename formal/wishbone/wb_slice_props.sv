// SPDX-License-Identifier: SHL-2.1
/// wb_slice: each operation taken reaches the bus once, in order; each answer returns once, with
/// its data; an operation waits only behind two others, and only for the bus; and a cycle that its
/// master aborted leaves nothing behind.
///
/// Assumed: a slave answers only requests and drops outstanding answers when cyc falls; a master
/// holds an operation until it is accepted.
module wb_slice_props (
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
  logic        m_stall_o, m_ack_o, m_err_o, s_cyc_o, s_stb_o, s_we_o;
  logic [31:0] m_dat_o, s_adr_o, s_dat_o;
  logic [3:0]  s_sel_o;

  wb_slice dut (.*);

  logic started_q = 1'b0;
  always_ff @(posedge clk_i) started_q <= 1'b1;
  assign rst_ni = started_q;

  logic       taken, accepted, answer, reply;
  logic [7:0] inside_q, debt_q, returning_q;
  // The operations inside, oldest first, as the master gave them.
  logic [1:0][68:0] ops_q;
  logic [68:0]      offered;
  logic             offered_q;
  logic [33:0]      answer_q;

  assign offered  = {m_we_i, m_adr_i, m_sel_i, m_dat_i};
  assign taken    = m_cyc_i && m_stb_i && !m_stall_o;
  assign accepted = s_cyc_o && s_stb_o && !s_stall_i;
  assign answer   = s_ack_i || s_err_i;
  assign reply    = m_ack_o || m_err_o;

  always_ff @(posedge clk_i) begin
    offered_q <= m_cyc_i && m_stb_i && m_stall_o;
    answer_q  <= {s_ack_i, s_err_i, s_dat_i};
    if (!rst_ni || !m_cyc_i) begin
      inside_q    <= '0;
      debt_q      <= '0;
      returning_q <= '0;
    end else begin
      inside_q    <= inside_q + 8'(taken) - 8'(accepted);
      debt_q      <= debt_q + 8'(accepted) - 8'(answer);
      returning_q <= returning_q + 8'(answer) - 8'(reply);
    end
    if (accepted) ops_q[0] <= inside_q == 8'd2 ? ops_q[1] : offered;
    else if (taken && inside_q == '0) ops_q[0] <= offered;
    if (taken) ops_q[1] <= offered;
  end

  always_comb begin
    if (started_q) begin
      if (offered_q && m_cyc_i) assume (m_stb_i);
      if (!s_cyc_o || debt_q == '0) assume (!answer);
      assume (!(s_ack_i && s_err_i));
      // The bus has only operations accepted in this cycle of the master, in its order.
      if (s_stb_o) assert (inside_q != '0 && {s_we_o, s_adr_o, s_sel_o, s_dat_o} == ops_q[0]);
      assert (inside_q <= 8'd2);
      assert (s_cyc_o == m_cyc_i && m_stall_o == (inside_q == 8'd2));
      if (m_cyc_i) assert (s_stb_o == (inside_q != '0));
      // One reply for each answer, one cycle later, and none without.
      assert (!(m_ack_o && m_err_o));
      if (m_cyc_i) assert (reply == (returning_q != '0));
      if (m_cyc_i && reply) assert ({m_ack_o, m_err_o, m_dat_o} == answer_q);
      assert (returning_q <= 8'd1);
      if (inside_q == '0 && debt_q == '0 && returning_q == '0) assert (!reply);
      // Inductive strengthening: the buffer's contents, except a left-over of an aborted cycle.
      if (dut.gen_operations.cyc_q) begin
        assert (dut.gen_operations.u_operations.head_valid_q == (inside_q != '0));
        assert (dut.gen_operations.u_operations.spare_valid_q == (inside_q == 8'd2));
        if (inside_q != '0) assert (dut.gen_operations.u_operations.head_q == ops_q[0]);
        if (inside_q == 8'd2) assert (dut.gen_operations.u_operations.spare_q == ops_q[1]);
      end else begin
        assert (inside_q == '0 && debt_q == '0 && returning_q == '0);
        assert (!dut.gen_operations.u_operations.spare_valid_q);
      end
      if (m_cyc_i) begin
        assert ((dut.gen_answers.ack_q || dut.gen_answers.err_q) == (returning_q != '0));
      end
      assert (!(dut.gen_answers.ack_q && dut.gen_answers.err_q));
      if (inside_q == 8'd2) cover (reply);
      cover (accepted && taken && reply);
    end
  end
endmodule
