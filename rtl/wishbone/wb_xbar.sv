// SPDX-License-Identifier: SHL-2.1
/// Wishbone B4 pipelined crossbar: any number of masters talk to different slaves at once.
///
///   Handshake   an operation is accepted with cyc & stb & ~stall and gets exactly one ack or err
///                                                         (proved: formal/wishbone/wb_xbar.sby)
///   Ordering    answers return in the order of a master's operations: a master that addresses
///               another slave waits until the previous one has no outstanding answer
///   Ownership   a slave belongs to one master from its first operation there until that master
///               deasserts cyc or addresses another slave; then the others follow in round robin. A
///               slave sees cyc low for a cycle after its owner deasserted cyc, so it can discard
///               an aborted cycle's late answers
///   Windows     an operation reaches the one slave whose window holds its address, or none: an
///               address in no window is answered err, one cycle after it was accepted. A slave
///               decodes the bits below its size, so Mask must have all bits above it
///   Latency     0 cycles added in both directions, combinational
///   Throughput  one operation a cycle for each master, also when it alternates between slaves
///               that answer in one cycle; one dead cycle when a slave changes its master
///   Parameters  NumMasters 1..16, NumSlaves 1..32, MaxOutstanding 1..255 for each master (more
///               than the slowest slave's latency for full throughput), windows that do not
///               overlap, each Base within its Mask
///   Not done    a slave that never answers (wb_timeout in front of each master), a limit on how
///               long a master holds cyc, answers in the cycle of the operation itself
module wb_xbar #(
  parameter int unsigned                NumMasters     = 1,
  parameter int unsigned                NumSlaves      = 1,
  parameter int unsigned                MaxOutstanding = 15,
  parameter logic [NumSlaves-1:0][31:0] Base           = '0,
  parameter logic [NumSlaves-1:0][31:0] Mask           = '0
) (
  input  logic                         clk_i,
  input  logic                         rst_ni,
  // from the masters
  input  logic [NumMasters-1:0]        m_cyc_i,
  input  logic [NumMasters-1:0]        m_stb_i,
  input  logic [NumMasters-1:0]        m_we_i,
  input  logic [NumMasters-1:0][31:0]  m_adr_i,
  input  logic [NumMasters-1:0][3:0]   m_sel_i,
  input  logic [NumMasters-1:0][31:0]  m_dat_i,
  output logic [NumMasters-1:0]        m_stall_o,
  output logic [NumMasters-1:0]        m_ack_o,
  output logic [NumMasters-1:0]        m_err_o,
  output logic [NumMasters-1:0][31:0]  m_dat_o,
  // to the slaves
  output logic [NumSlaves-1:0]         s_cyc_o,
  output logic [NumSlaves-1:0]         s_stb_o,
  output logic [NumSlaves-1:0]         s_we_o,
  output logic [NumSlaves-1:0][31:0]   s_adr_o,
  output logic [NumSlaves-1:0][3:0]    s_sel_o,
  output logic [NumSlaves-1:0][31:0]   s_dat_o,
  input  logic [NumSlaves-1:0]         s_stall_i,
  input  logic [NumSlaves-1:0]         s_ack_i,
  input  logic [NumSlaves-1:0]         s_err_i,
  input  logic [NumSlaves-1:0][31:0]   s_dat_i
);
  if (NumMasters < 1 || NumMasters > 16) begin : gen_masters_check
    $error("wb_xbar: NumMasters is %0d, legal is 1..16", NumMasters);
  end
  if (NumSlaves < 1 || NumSlaves > 32) begin : gen_slaves_check
    $error("wb_xbar: NumSlaves is %0d, legal is 1..32", NumSlaves);
  end
  if (MaxOutstanding < 1 || MaxOutstanding > 255) begin : gen_outstanding_check
    $error("wb_xbar: MaxOutstanding is %0d, legal is 1..255", MaxOutstanding);
  end
  for (genvar a = 0; a < NumSlaves; a++) begin : gen_window_check
    if ((Base[a] & ~Mask[a]) != '0) begin : gen_base_check
      $error("wb_xbar: Base[%0d] %h has bits outside Mask %h", a, Base[a], Mask[a]);
    end
    for (genvar b = 0; b < a; b++) begin : gen_overlap_check
      if (((Base[a] ^ Base[b]) & Mask[a] & Mask[b]) == '0) begin : gen_overlap
        $error("wb_xbar: windows %0d and %0d overlap", a, b);
      end
    end
  end

  localparam int unsigned CntWidth = $clog2(MaxOutstanding + 1);

  // Indexed [master][slave]; bit NumSlaves of a target is the responder for unmapped addresses.
  logic [NumMasters-1:0][NumSlaves:0]   target, owned_q, wish;
  logic [NumMasters-1:0]                granted, taken, reply;
  logic [NumMasters-1:0][CntWidth-1:0]  cnt_q;
  logic [NumMasters-1:0]                unmapped_err_q;
  // Indexed [slave][master].
  logic [NumSlaves-1:0][NumMasters-1:0] req, gnt;

  for (genvar m = 0; m < NumMasters; m++) begin : gen_master
    always_comb begin
      for (int unsigned s = 0; s < NumSlaves; s++) begin
        target[m][s] = (m_adr_i[m] & Mask[s]) == Base[s];
      end
      target[m][NumSlaves] = target[m][NumSlaves-1:0] == '0;
    end

    logic ack, err, full, drained;
    logic [31:0] dat;
    logic [CntWidth-1:0] more, less;

    always_comb begin
      ack = 1'b0;
      err = unmapped_err_q[m];
      dat = '0;
      for (int unsigned s = 0; s < NumSlaves; s++) begin
        ack |= owned_q[m][s] & s_ack_i[s];
        err |= owned_q[m][s] & s_err_i[s];
        dat |= {32{owned_q[m][s]}} & s_dat_i[s];
      end
    end

    // An answer without a waiting master, or after an abort, stops here.
    assign reply[m]   = m_cyc_i[m] && cnt_q[m] != '0 && (ack || err);
    assign m_ack_o[m] = m_cyc_i[m] && cnt_q[m] != '0 && ack && !err;
    assign m_err_o[m] = m_cyc_i[m] && cnt_q[m] != '0 && err;
    assign m_dat_o[m] = dat;

    // Not waiting for an answer of this cycle keeps answers off the path of operations.
    assign full    = cnt_q[m] == CntWidth'(MaxOutstanding);
    assign drained = cnt_q[m] == '0 || (cnt_q[m] == CntWidth'(1) && reply[m]);
    // A request may be issued: to the owned slave, or to any if no answer is outstanding.
    assign wish[m] = target[m] & (owned_q[m] | {NumSlaves+1{drained}}) &
        {NumSlaves+1{m_cyc_i[m] && m_stb_i[m] && !full}};

    // Accepted at once when granted and the slave does not stall; the responder never stalls.
    if (NumMasters == 1) begin : gen_sole
      // The same as below for a master that is always granted, written so that drained, which waits
      // for an answer, comes last.
      logic [NumSlaves:0] ready;
      assign ready      = target[m] & ~{1'b0, s_stall_i};
      assign granted[m] = m_cyc_i[m] && m_stb_i[m] && !full &&
          ((target[m] & owned_q[m]) != '0 || drained);
      assign taken[m]   = m_cyc_i[m] && m_stb_i[m] && !full &&
          ((ready & owned_q[m]) != '0 || (ready != '0 && drained));
`ifdef FORMAL
      always_comb begin
        assert (granted[m] == (wish[m] != '0));
        assert (taken[m] == ((wish[m] & ready) != '0));
      end
`endif
    end else begin : gen_shared
      always_comb begin
        granted[m] = wish[m][NumSlaves];
        taken[m]   = wish[m][NumSlaves];
        for (int unsigned s = 0; s < NumSlaves; s++) begin
          granted[m] |= gnt[s][m];
          taken[m]   |= gnt[s][m] & ~s_stall_i[s];
        end
      end
    end
    assign m_stall_o[m] = ~taken[m];

    // Both results are computed before the critical signal taken.
    assign more = reply[m] ? cnt_q[m] : cnt_q[m] + 1'b1;
    assign less = reply[m] ? cnt_q[m] - 1'b1 : cnt_q[m];

    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
        owned_q[m]        <= '0;
        cnt_q[m]          <= '0;
        unmapped_err_q[m] <= 1'b0;
      end else begin
        unmapped_err_q[m] <= wish[m][NumSlaves];
        if (!m_cyc_i[m]) begin
          owned_q[m] <= '0;
          cnt_q[m]   <= '0;
        end else begin
          cnt_q[m] <= taken[m] ? more : less;
          // Releasing before the next grant prevents a deadlock of two masters.
          if (wish[m] != '0) owned_q[m] <= granted[m] ? target[m] : '0;
        end
      end
    end
  end

  for (genvar s = 0; s < NumSlaves; s++) begin : gen_slave
    logic [NumMasters-1:0] owner, hold, ask;

    always_comb begin
      for (int unsigned m = 0; m < NumMasters; m++) begin
        owner[m] = owned_q[m][s];
        hold[m]  = owned_q[m][s] && m_cyc_i[m];
        ask[m]   = wish[m][s];
      end
    end
    // While the slave has an owner only the owner's operations reach it.
    assign req[s] = (owner == '0) ? ask : (ask & owner);

    if (NumMasters == 1) begin : gen_single
      assign gnt[s] = req[s];
    end else begin : gen_arb
      logic [$clog2(NumMasters)-1:0] unused_idx;
      arb_rr #(
        .NumReq(NumMasters)
      ) u_arb (
        .clk_i,
        .rst_ni,
        .req_i (req[s]),
        .last_i(1'b1),
        .gnt_o (gnt[s]),
        .idx_o (unused_idx)
      );
    end

    always_comb begin
      s_we_o[s]  = 1'b0;
      s_adr_o[s] = '0;
      s_sel_o[s] = '0;
      s_dat_o[s] = '0;
      for (int unsigned m = 0; m < NumMasters; m++) begin
        // With one master nothing is gated: its operation fans out and only stb selects.
        if (NumMasters == 1 || gnt[s][m]) begin
          s_we_o[s]  |= m_we_i[m];
          s_adr_o[s] |= m_adr_i[m];
          s_sel_o[s] |= m_sel_i[m];
          s_dat_o[s] |= m_dat_i[m];
        end
      end
    end
    assign s_stb_o[s] = gnt[s] != '0;
    assign s_cyc_o[s] = (hold | gnt[s]) != '0;
  end
endmodule
