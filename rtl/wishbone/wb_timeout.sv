// SPDX-License-Identifier: SHL-2.1
/// Guard between a Wishbone master and the bus: every operation is answered for any bus behaviour.
///
///   Handshake   exactly one ack or err for each accepted operation, in order
///                                                      (proved: formal/wishbone/wb_timeout.sby)
///   Timeout     the timer runs while an operation is offered or outstanding and restarts with
///               every answer. When it reaches Timeout, timeout_o pulses. Until the master
///               deasserts cyc, at least one cycle, the bus sees cyc low, its answers are ignored,
///               and the master's operations are accepted one a cycle and answered err
///   Latency     0 cycles added in both directions; after a timeout, an operation is accepted at
///               once and answered one cycle after it and all earlier outstanding ones
///   Throughput  one operation a cycle
///   Bound       while an operation is offered or outstanding, a reply at least every Timeout + 3
///               cycles; at most one timeout per bus cycle, for any number of operations; an
///               operation is answered within (MaxOutstanding + 1) * (Timeout + 3) of its offer
///   Abort       a master that deasserts cyc loses its outstanding answers; the count returns to
///               zero
///   Idle        nothing changes while m_cyc_i is low
///   Parameters  Timeout 2..2**31-1 clocks, MaxOutstanding 1..256, AdrWidth and DatWidth 32 or 64
///   Not done    tagging answers: a slave that answers after it has seen cyc low breaks the rules
///               of the bus, and its answer may be assigned to a later operation
module wb_timeout #(
  parameter int unsigned Timeout        = 6_250_000,
  parameter int unsigned MaxOutstanding = 15,
  parameter int unsigned AdrWidth       = 32,
  parameter int unsigned DatWidth       = 32
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,
  // from the master
  input  logic                  m_cyc_i,
  input  logic                  m_stb_i,
  input  logic                  m_we_i,
  input  logic [AdrWidth-1:0]   m_adr_i,
  input  logic [DatWidth/8-1:0] m_sel_i,
  input  logic [DatWidth-1:0]   m_dat_i,
  output logic                  m_stall_o,
  output logic                  m_ack_o,
  output logic                  m_err_o,
  output logic [DatWidth-1:0]   m_dat_o,
  // to the bus
  output logic                  s_cyc_o,
  output logic                  s_stb_o,
  output logic                  s_we_o,
  output logic [AdrWidth-1:0]   s_adr_o,
  output logic [DatWidth/8-1:0] s_sel_o,
  output logic [DatWidth-1:0]   s_dat_o,
  input  logic                  s_stall_i,
  input  logic                  s_ack_i,
  input  logic                  s_err_i,
  input  logic [DatWidth-1:0]   s_dat_i,
  // one cycle for each timeout of the bus
  output logic                  timeout_o
);
  if (Timeout < 2 || Timeout > 32'h7FFF_FFFF) begin : gen_timeout_check
    $error("wb_timeout: Timeout is %0d, legal is 2..2147483647", Timeout);
  end
  if (MaxOutstanding < 1 || MaxOutstanding > 256) begin : gen_outstanding_check
    $error("wb_timeout: MaxOutstanding is %0d, legal is 1..256", MaxOutstanding);
  end
  if ((AdrWidth != 32 && AdrWidth != 64) || (DatWidth != 32 && DatWidth != 64)) begin : gen_widths
    $error("wb_timeout: AdrWidth is %0d, DatWidth is %0d, legal are 32 and 64", AdrWidth, DatWidth);
  end

  localparam int unsigned CntWidth   = $clog2(MaxOutstanding + 1);
  localparam int unsigned TimerWidth = $clog2(Timeout + 1);

  logic [CntWidth-1:0]   cnt_q;
  logic [TimerWidth-1:0] timer_q;
  // Timed out for the rest of the master's cycle: all of it is answered err.
  logic                  dead_q;
  logic                  owed, full, pending, answer, taken, expired;

  assign owed    = cnt_q != '0;
  assign answer  = m_cyc_i && owed && (s_ack_i || s_err_i || dead_q);
  assign full    = cnt_q == CntWidth'(MaxOutstanding) && !answer;
  assign pending = m_cyc_i && (m_stb_i || owed);
  assign expired = pending && !dead_q && timer_q == TimerWidth'(Timeout) && !answer;

  assign s_cyc_o = m_cyc_i && !dead_q;
  assign s_stb_o = m_cyc_i && m_stb_i && !dead_q && !full;
  assign s_we_o  = m_we_i;
  assign s_adr_o = m_adr_i;
  assign s_sel_o = m_sel_i;
  assign s_dat_o = m_dat_i;

  assign m_stall_o = !dead_q && (s_stall_i || full);
  assign m_ack_o   = m_cyc_i && owed && !dead_q && s_ack_i && !s_err_i;
  assign m_err_o   = m_cyc_i && owed && (dead_q || s_err_i);
  assign m_dat_o   = s_dat_i;
  assign taken     = m_cyc_i && m_stb_i && !m_stall_o;
  assign timeout_o = expired;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      cnt_q   <= '0;
      timer_q <= '0;
      dead_q  <= 1'b0;
    end else if (!m_cyc_i) begin
      cnt_q   <= '0;
      timer_q <= '0;
      dead_q  <= 1'b0;
    end else begin
      cnt_q   <= cnt_q + CntWidth'(taken) - CntWidth'(answer);
      timer_q <= (!pending || answer || dead_q || expired) ? '0 : timer_q + 1'b1;
      if (expired) dead_q <= 1'b1;
    end
  end
endmodule
