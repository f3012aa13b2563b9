// SPDX-License-Identifier: SHL-2.1
/// wb_xbar, two masters and two slaves: one reply for each operation, to the master that asked;
/// one owner for a slave; an operation outside every window reaches no slave and gets exactly one
/// err, in the next cycle; and, given slaves that answer and masters that end their cycles, bounded
/// time.
///
/// Assumed: a slave stalls at most Slow consecutive cycles, answers the oldest operation at most
/// Slow cycles after it could first have done so, never answers without a request, and drops
/// outstanding answers when cyc falls. A master holds cyc at most Hold cycles and holds an
/// operation until it is accepted.
module wb_xbar_props #(
  parameter int unsigned Slow           = 1,
  parameter int unsigned Hold           = 12,
  parameter int unsigned MaxOutstanding = 2
) (
  input logic             clk_i,
  input logic [1:0]       m_cyc_i,
  input logic [1:0]       m_stb_i,
  input logic [1:0]       m_we_i,
  input logic [1:0][31:0] m_adr_i,
  input logic [1:0][3:0]  m_sel_i,
  input logic [1:0][31:0] m_dat_i,
  input logic [1:0]       s_stall_i,
  input logic [1:0]       s_ack_i,
  input logic [1:0]       s_err_i,
  input logic [1:0][31:0] s_dat_i
);
  logic             rst_ni;
  logic [1:0]       m_stall_o, m_ack_o, m_err_o, s_cyc_o, s_stb_o, s_we_o;
  logic [1:0][31:0] m_dat_o, s_adr_o, s_dat_o;
  logic [1:0][3:0]  s_sel_o;

  // Two windows of different length: slave 0 has the addresses that begin with the bits 00, slave 1
  // those that begin with 0100; 0101, 0110 and 0111 lie behind its end. All else is unmapped.
  wb_xbar #(
    .NumMasters(2),
    .NumSlaves(2),
    .MaxOutstanding(MaxOutstanding),
    .Base({32'h4000_0000, 32'h0000_0000}),
    .Mask({32'hF000_0000, 32'hC000_0000})
  ) dut (.*);

  // With one master the conditions are written another way; the module asserts that they agree. Its
  // slaves answer and stall as they like.
  logic             sole_stall, sole_ack, sole_err;
  logic [31:0]      sole_dat;
  logic [1:0]       sole_cyc, sole_stb, sole_we;
  logic [1:0][31:0] sole_adr, sole_wdat;
  logic [1:0][3:0]  sole_sel;
  wb_xbar #(
    .NumMasters(1),
    .NumSlaves(2),
    .MaxOutstanding(MaxOutstanding),
    .Base({32'h4000_0000, 32'h0000_0000}),
    .Mask({32'hF000_0000, 32'hC000_0000})
  ) sole (
    .clk_i,
    .rst_ni,
    .m_cyc_i(m_cyc_i[0]),
    .m_stb_i(m_stb_i[0]),
    .m_we_i(m_we_i[0]),
    .m_adr_i(m_adr_i[0]),
    .m_sel_i(m_sel_i[0]),
    .m_dat_i(m_dat_i[0]),
    .m_stall_o(sole_stall),
    .m_ack_o(sole_ack),
    .m_err_o(sole_err),
    .m_dat_o(sole_dat),
    .s_cyc_o(sole_cyc),
    .s_stb_o(sole_stb),
    .s_we_o(sole_we),
    .s_adr_o(sole_adr),
    .s_sel_o(sole_sel),
    .s_dat_o(sole_wdat),
    .s_stall_i,
    .s_ack_i,
    .s_err_i,
    .s_dat_i
  );

  logic started_q = 1'b0;
  always_ff @(posedge clk_i) started_q <= 1'b1;
  assign rst_ni = started_q;

  localparam logic [7:0] Step  = 8'(Slow + 1);
  // Longest time from offer to taken: drain the slave before, wait for the other master's cycle and
  // the gap after it, then the stall.
  localparam logic [7:0] Bound = 8'((MaxOutstanding * (Slow + 1)) + Hold + 1 + Slow + 1);

  // Masters.
  logic [1:0]       offered_q, taken, reply;
  logic [1:0][7:0]  owed_q, since_q, waited_q, high_q;
  logic [1:0][31:0] adr_q;
  // Slaves.
  logic [1:0]       accepted, answer;
  logic [1:0][7:0]  debt_q, quiet_q, stalled_q;

  for (genvar i = 0; i < 2; i++) begin : gen_model
    assign taken[i]    = m_cyc_i[i] && m_stb_i[i] && !m_stall_o[i];
    assign reply[i]    = m_ack_o[i] || m_err_o[i];
    assign accepted[i] = s_cyc_o[i] && s_stb_o[i] && !s_stall_i[i];
    assign answer[i]   = s_ack_i[i] || s_err_i[i];

    always_ff @(posedge clk_i) begin
      adr_q[i] <= m_adr_i[i];
      if (!rst_ni) begin
        offered_q[i] <= 1'b0;
        owed_q[i]    <= '0;
        since_q[i]   <= '0;
        waited_q[i]  <= '0;
        high_q[i]    <= '0;
        debt_q[i]    <= '0;
        quiet_q[i]   <= '0;
        stalled_q[i] <= '0;
      end else begin
        offered_q[i] <= m_cyc_i[i] && m_stb_i[i] && m_stall_o[i];
        owed_q[i]    <= m_cyc_i[i] ? owed_q[i] + 8'(taken[i]) - 8'(reply[i]) : '0;
        since_q[i]   <= (m_cyc_i[i] && owed_q[i] != '0 && !reply[i]) ? since_q[i] + 8'd1 : '0;
        waited_q[i]  <= (m_cyc_i[i] && m_stb_i[i] && m_stall_o[i]) ? waited_q[i] + 8'd1 : '0;
        high_q[i]    <= m_cyc_i[i] ? high_q[i] + 8'd1 : '0;
        debt_q[i]    <= s_cyc_o[i] ? debt_q[i] + 8'(accepted[i]) - 8'(answer[i]) : '0;
        quiet_q[i]   <= (s_cyc_o[i] && debt_q[i] != '0 && !answer[i]) ? quiet_q[i] + 8'd1 : '0;
        stalled_q[i] <= (s_stb_o[i] && s_stall_i[i]) ? stalled_q[i] + 8'd1 : '0;
      end
    end
  end

  always_comb begin
    for (int unsigned i = 0; i < 2; i++) begin
      if (started_q) begin
        // The environment's rules.
        if (offered_q[i] && m_cyc_i[i]) assume (m_stb_i[i] && m_adr_i[i] == adr_q[i]);
        assume (high_q[i] < 8'(Hold) || !m_cyc_i[i]);
        if (!s_cyc_o[i] || debt_q[i] == '0) assume (!answer[i]);
        if (quiet_q[i] == 8'(Slow) && s_cyc_o[i] && debt_q[i] != '0) assume (answer[i]);
        if (stalled_q[i] == 8'(Slow)) assume (!s_stall_i[i]);
      end
    end
  end

  // The master alone: the slave that it owns (2: the responder), its count, what it may do.
  logic [2:0] sole_owns_q, sole_target;
  logic [1:0] sole_owed_q;
  logic       sole_taken, sole_reply, sole_may, sole_stray_q, sole_done;
  assign sole_target[0] = m_adr_i[0][31:30] == 2'b00;
  assign sole_target[1] = m_adr_i[0][31:28] == 4'b0100;
  assign sole_target[2] = sole_target[1:0] == '0;
  assign sole_reply = sole_ack || sole_err;
  assign sole_done  = sole_owed_q == '0 || (sole_owed_q == 2'd1 && sole_reply);
  assign sole_may   = m_cyc_i[0] && m_stb_i[0] && sole_owed_q < 2'(MaxOutstanding) &&
                      (sole_owns_q == sole_target || sole_done);
  assign sole_taken = sole_may && (sole_target & {1'b0, s_stall_i}) == '0;
  always_ff @(posedge clk_i) begin
    if (!rst_ni || !m_cyc_i[0]) begin
      sole_owns_q  <= '0;
      sole_owed_q  <= '0;
    end else begin
      if (sole_may) sole_owns_q <= sole_target;
      sole_owed_q <= sole_owed_q + 2'(sole_taken) - 2'(sole_reply);
    end
    sole_stray_q <= rst_ni && sole_may && sole_target[2];
  end
  always_comb begin
    if (started_q) begin
      assert (sole.owned_q == sole_owns_q && sole.cnt_q == sole_owed_q);
      assert (sole.unmapped_err_q == sole_stray_q && sole_owed_q <= 2'(MaxOutstanding));
      assert (sole_stall == !sole_taken && sole_stb == (sole_target[1:0] & {2{sole_may}}));
      assert (sole_cyc == ((sole_owns_q[1:0] & {2{m_cyc_i[0]}}) | sole_stb));
      assert (sole_we == {2{m_we_i[0]}} && sole_adr == {2{m_adr_i[0]}});
      assert (sole_sel == {2{m_sel_i[0]}} && sole_wdat == {2{m_dat_i[0]}});
      assert (!(sole_ack && sole_err));
      assert (sole_reply == (m_cyc_i[0] && sole_owed_q != '0 &&
              (sole_stray_q || (sole_owns_q[1:0] & (s_ack_i | s_err_i)) != '0)));
      assert (!sole_reply ||
              sole_err == (sole_stray_q || (sole_owns_q[1:0] & s_err_i) != '0));
      for (int unsigned s = 0; s < 2; s++)
        if (sole_owns_q[s]) assert (sole_dat == s_dat_i[s]);
      assert ((sole_owns_q & (sole_owns_q - 1'b1)) == '0);
    end
  end

  // The last winner of a slave, as stored by its arbiter; the other goes first.
  logic [1:0] winner;
  for (genvar s = 0; s < 2; s++) begin : gen_winner
    assign winner[s] = !dut.gen_slave[s].gen_arb.u_arb.after_q[1];
    always_comb begin
      if (started_q) begin
        assert (!dut.gen_slave[s].gen_arb.u_arb.after_q[0]);
        assert (dut.gen_slave[s].gen_arb.u_arb.owner_q == '0);
      end
    end
  end

  for (genvar m = 0; m < 2; m++) begin : gen_assert
    localparam int unsigned Other = 1 - m;
    logic [1:0] window;
    logic       mapped, mine, drained, others;
    logic [7:0] left;
    assign window  = {1'b0, m_adr_i[m][30]};
    assign mapped  = m_adr_i[m][31:30] == 2'b00 || m_adr_i[m][31:28] == 4'b0100;

    // An operation outside every window was taken in the cycle before.
    logic stray_q;
    always_ff @(posedge clk_i) stray_q <= rst_ni && taken[m] && !mapped;
    assign mine    = dut.owned_q[m][window[0]] && mapped;
    assign drained = owed_q[m] == '0;
    assign others  = mapped && dut.owned_q[Other][window[0]];

    // Upper bound of the cycles until the offered operation is taken, this one included.
    always_comb begin
      left = Step;
      if (mine) begin
        left = Step - stalled_q[window[0]];
        if (owed_q[m] == 8'(MaxOutstanding)) left = (Step - since_q[m]) + Step;
      end else begin
        if (others) left = Step + 8'(Hold) + 8'd1 - high_q[Other];
        if (!drained) left = Step + 8'(Hold) + 8'd1 + owed_q[m] * Step - since_q[m];
      end
    end

    always_comb begin
      if (started_q) begin
        // Replies: at most one in a cycle, only for accepted operations, and in bounded time.
        assert (!(m_ack_o[m] && m_err_o[m]));
        if (reply[m]) assert (m_cyc_i[m] && owed_q[m] != '0);
        assert (owed_q[m] <= 8'(MaxOutstanding));
        assert (since_q[m] <= 8'(Slow));
        // Offers: bounded time to be taken.
        assert (waited_q[m] <= Bound);

        for (int unsigned s = 0; s < 2; s++) begin
          // A slave that answers answers its owner, with that slave's data.
          if (answer[s] && dut.owned_q[m][s] && m_cyc_i[m]) begin
            assert (reply[m] && m_err_o[m] == s_err_i[s] && m_dat_o[m] == s_dat_i[s]);
          end
          // A slave's outstanding answers belong to its owner; an owner has outstanding answers
          // only at its slave.
          if (dut.owned_q[m][s]) begin
            assert (debt_q[s] == owed_q[m] && quiet_q[s] == since_q[m]);
            assert (!dut.owned_q[Other][s]);
            assert (high_q[m] != '0);
          end
          if (s_stb_o[s] && dut.gnt[s][m]) begin
            assert (m_stb_i[m] && m_cyc_i[m] && s_cyc_o[s] && mapped && 32'(window) == s);
            assert (s_adr_o[s] == m_adr_i[m] && s_dat_o[s] == m_dat_i[m]);
            assert (s_we_o[s] == m_we_i[m] && s_sel_o[s] == m_sel_i[m]);
          end
        end
        // An operation is taken by exactly the slave it names, or by the responder.
        if (taken[m]) begin
          assert (mapped ? (dut.gnt[window[0]][m] && accepted[window[0]])
                         : (!dut.gnt[0][m] && !dut.gnt[1][m]));
        end
        if (!mapped) assert (!dut.gnt[0][m] && !dut.gnt[1][m]);
        // Outside every window: one err, at once, only from the responder.
        if (stray_q && m_cyc_i[m]) begin
          assert (m_err_o[m] && !m_ack_o[m] && owed_q[m] == 8'd1 && dut.owned_q[m][2]);
        end
        if (dut.owned_q[m][2]) assert (reply[m] == (stray_q && m_cyc_i[m]) && !m_ack_o[m]);
        assert (dut.unmapped_err_q[m] == stray_q);
        cover (stray_q && m_err_o[m]);

        // Inductive strengthening.
        assert (owed_q[m] == 8'(dut.cnt_q[m]));
        assert ((dut.owned_q[m] & (dut.owned_q[m] - 1'b1)) == '0);
        if (owed_q[m] != '0) assert (dut.owned_q[m] != '0);
        if (dut.owned_q[m][2] || dut.owned_q[m] == '0) begin
          assert (owed_q[m] <= 8'd1 && since_q[m] == '0);
        end
        if (dut.owned_q[m][2]) assert (dut.unmapped_err_q[m] == (owed_q[m] != '0));
        if (dut.unmapped_err_q[m]) assert (dut.owned_q[m][2]);
        assert (high_q[m] <= 8'(Hold));
        assert (high_q[m] >= waited_q[m]);
        if (owed_q[m] == '0) assert (since_q[m] == '0);
        if (offered_q[m] && m_cyc_i[m]) assert (waited_q[m] + left <= Bound + 8'd1);
        if (!offered_q[m]) assert (waited_q[m] == '0);
        // A master that has waited for a slave that is free now waited during the other's turn.
        if (offered_q[m] && m_cyc_i[m] && drained && mapped && !mine && !others) begin
          assert (winner[window[0]] == 1'(Other));
        end
        for (int unsigned s = 0; s < 2; s++) begin
          if (dut.owned_q[m][s]) assert (winner[s] == 1'(m));
          assert (!dut.gnt[s][m] || !dut.gnt[s][Other]);
        end

        cover (reply[m] && owed_q[m] == 8'(MaxOutstanding));
        cover (taken[m] && waited_q[m] > 8'd8);
        cover (taken[m] && dut.owned_q[m][0] && reply[m] && window == 2'd1);
      end
    end
  end

  for (genvar s = 0; s < 2; s++) begin : gen_slave_assert
    always_comb begin
      if (started_q) begin
        assert ((dut.gnt[s] & (dut.gnt[s] - 1'b1)) == '0);
        if (!dut.owned_q[0][s] && !dut.owned_q[1][s]) assert (debt_q[s] == '0 && quiet_q[s] == '0);
        assert (stalled_q[s] <= 8'(Slow) && quiet_q[s] <= 8'(Slow));
      end
    end
  end
endmodule
