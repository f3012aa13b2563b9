// SPDX-License-Identifier: SHL-2.1
/// Register slice on a Wishbone: cuts every path between a master and its bus.
///
///   Handshake   operations pass a two-entry buffer, answers one register; each keeps its order and
///               its count                             (proved: formal/wishbone/wb_slice.sby)
///   Latency     1 cycle for the operation, 1 for the answer, each where it is registered
///   Throughput  one operation a cycle
///   Abort       a master that drops cyc loses what waits here: buffered operations are not made,
///               a registered answer may still show in the first cycle without cyc, where every
///               master ignores it (no path from cyc to the answer: a crossbar would close a loop)
///   Idle        nothing changes once m_cyc_i has been low for two cycles
///   Parameters  RegOperations, RegAnswers: which direction is registered; 0 is wires
///   Not done    nothing else
module wb_slice #(
  parameter bit RegOperations = 1'b1,
  parameter bit RegAnswers    = 1'b1
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  // from the master
  input  logic        m_cyc_i,
  input  logic        m_stb_i,
  input  logic        m_we_i,
  input  logic [31:0] m_adr_i,
  input  logic [3:0]  m_sel_i,
  input  logic [31:0] m_dat_i,
  output logic        m_stall_o,
  output logic        m_ack_o,
  output logic        m_err_o,
  output logic [31:0] m_dat_o,
  // to the bus
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
  assign s_cyc_o = m_cyc_i;

  if (RegOperations) begin : gen_operations
    logic ready, valid, cyc_q, current;

    // Contents in a cycle's first clock are left over from an aborted cycle: a gap of one clock
    // cannot drain two words.
    assign current = m_cyc_i && cyc_q;
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) cyc_q <= 1'b0;
      else         cyc_q <= m_cyc_i;
    end

    skid_buffer #(
      .Width(1 + 32 + 4 + 32)
    ) u_operations (
      .clk_i,
      .rst_ni,
      .valid_i(m_cyc_i && m_stb_i),
      .ready_o(ready),
      .data_i ({m_we_i, m_adr_i, m_sel_i, m_dat_i}),
      .valid_o(valid),
      .ready_i(!current || !s_stall_i),
      .data_o ({s_we_o, s_adr_o, s_sel_o, s_dat_o})
    );
    assign m_stall_o = !ready;
    assign s_stb_o   = valid && current;
  end else begin : gen_no_operations
    assign m_stall_o = s_stall_i;
    assign s_stb_o   = m_stb_i;
    assign s_we_o    = m_we_i;
    assign s_adr_o   = m_adr_i;
    assign s_sel_o   = m_sel_i;
    assign s_dat_o   = m_dat_i;
  end

  if (RegAnswers) begin : gen_answers
    logic ack_q, err_q;
    logic [31:0] dat_q;
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
        ack_q <= 1'b0;
        err_q <= 1'b0;
      end else begin
        ack_q <= s_ack_i && m_cyc_i;
        err_q <= s_err_i && m_cyc_i;
      end
    end
    always_ff @(posedge clk_i) dat_q <= s_dat_i;

    assign m_ack_o = ack_q;
    assign m_err_o = err_q;
    assign m_dat_o = dat_q;
  end else begin : gen_no_answers
    assign m_ack_o = s_ack_i;
    assign m_err_o = s_err_i;
    assign m_dat_o = s_dat_i;
  end
endmodule
