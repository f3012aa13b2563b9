// SPDX-License-Identifier: SHL-2.1
/// Start of the two channels of a DCU: resets in their order, and loops inside the hard block.
///
/// Everything is in reset for a step. Then the transmit PLL locks, and for each channel the
/// loopback bit is written over the hard block's register interface (register 0x15 of the channel,
/// bit 0; its high bits are kept). A channel's receive side leaves reset once the transmit side has
/// locked, its coding logic once its clock recovery has locked for a step. Where the PLL loses lock
/// all starts over; where a channel's clock recovery does, or its line falls silent, that channel,
/// and where clock recovery finds no lock in eight steps.
///
///   Clock       clk_i, free running; status bits are asynchronous; loop_i is taken at the start
///   Latency     tx_lock_o 3 steps and the writes after rst_ni, rx_lock_o at least 2 steps more
///   Parameters  WaitWidth 4..24: a step is 2^WaitWidth cycles
///   Not done    a line that is silent where loop_i is high: it is not looked at there
module dcu_start #(
  parameter int unsigned WaitWidth = 16
) (
  input  logic       clk_i,
  input  logic       rst_ni,
  input  logic [1:0] loop_i,
  input  logic       tx_lost_i,     // the transmit PLL has no lock
  input  logic [1:0] rx_lost_i,     // the channel's clock recovery has no lock
  input  logic [1:0] rx_silent_i,   // nothing on the channel's line
  output logic       dual_rst_o,
  output logic       tx_rst_o,
  output logic       tx_pcs_rst_o,
  output logic [1:0] rx_rst_o,
  output logic [1:0] rx_pcs_rst_o,
  output logic       tx_lock_o,
  output logic [1:0] rx_lock_o,
  // The hard block's registers.
  output logic [1:0] sci_sel_o,
  output logic [5:0] sci_addr_o,
  output logic       sci_read_o,
  // The low half is replaced whole.
  // verilator lint_off UNUSEDSIGNAL
  input  logic [7:0] sci_rdata_i,
  // verilator lint_on UNUSEDSIGNAL
  output logic       sci_write_no,
  output logic [7:0] sci_wdata_o
);
  if (WaitWidth < 4 || WaitWidth > 24) begin : gen_wait_check
    $error("dcu_start: WaitWidth is %0d, legal is 4..24", WaitWidth);
  end
  localparam logic [5:0] LoopRegister = 6'h15;
  typedef logic [WaitWidth-1:0] wait_t;

  logic tx_lost;
  logic [1:0] rx_lost, rx_silent;
  sync_bits #(
    .Width     (5),
    .ResetValue('1)
  ) u_status (
    .clk_i,
    .rst_ni,
    .d_i      ({tx_lost_i, rx_lost_i, rx_silent_i}),
    .q_o      ({tx_lost, rx_lost, rx_silent}),
    .settled_o()
  );

  // ---------------------------------------------------------------- transmit side
  typedef enum logic [2:0] {
    TxReset, TxPll, TxRead, TxWrite, TxHold, TxRun
  } tx_state_e;
  tx_state_e tx_q;
  wait_t     tx_wait_q;
  logic      channel_q, tx_step;
  logic [7:0] value_q;
  logic [1:0] loop_q;
  assign tx_step = tx_wait_q == '1;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      tx_q      <= TxReset;
      tx_wait_q <= '0;
      channel_q <= 1'b0;
    end else begin
      tx_wait_q <= tx_wait_q + 1'b1;
      unique case (tx_q)
        TxReset: if (tx_step) tx_q <= TxPll;
        TxPll: begin
          // Locked for a whole step.
          if (tx_lost) tx_wait_q <= '0;
          else if (tx_step) tx_q <= TxRead;
        end
        // Sixteen cycles each: longer than the register interface needs.
        TxRead:  if (tx_wait_q[3:0] == '1) tx_q <= TxWrite;
        TxWrite: if (tx_wait_q[3:0] == '1) tx_q <= TxHold;
        TxHold: begin
          if (tx_wait_q[3:0] == '1) begin
            tx_q      <= channel_q ? TxRun : TxRead;
            channel_q <= !channel_q;
          end
        end
        default: begin
          if (tx_lost) begin
            tx_q      <= TxReset;
            tx_wait_q <= '0;
          end
        end
      endcase
    end
  end
  always_ff @(posedge clk_i) begin
    if (tx_q == TxRead) begin
      value_q           <= {sci_rdata_i[7:4], 3'b000, loop_i[channel_q]};
      loop_q[channel_q] <= loop_i[channel_q];
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      dual_rst_o   <= 1'b1;
      tx_rst_o     <= 1'b1;
      tx_pcs_rst_o <= 1'b1;
      tx_lock_o    <= 1'b0;
      sci_sel_o    <= '0;
      sci_read_o   <= 1'b0;
      sci_write_no <= 1'b1;
    end else begin
      // The hard block as a whole leaves reset first, in the second half of the step.
      dual_rst_o   <= tx_q == TxReset && !tx_wait_q[WaitWidth-1];
      tx_rst_o     <= tx_q == TxReset;
      tx_pcs_rst_o <= tx_q == TxReset || tx_q == TxPll;
      tx_lock_o    <= tx_q == TxRun;
      sci_read_o   <= tx_q == TxRead;
      // A low pulse in the middle of its step.
      sci_write_no <= !(tx_q == TxWrite && tx_wait_q[3:2] == 2'b01);
      for (int unsigned c = 0; c < 2; c++) begin
        sci_sel_o[c] <= channel_q == 1'(c) && tx_q inside {TxRead, TxWrite, TxHold};
      end
    end
  end
  assign sci_addr_o  = LoopRegister;
  assign sci_wdata_o = value_q;

  // ---------------------------------------------------------------- receive sides
  for (genvar c = 0; c < 2; c++) begin : gen_rx
    typedef enum logic [1:0] {RxReset, RxClock, RxRun} rx_state_e;
    rx_state_e rx_q;
    wait_t     rx_wait_q;
    logic      step, lost, silent;
    logic [WaitWidth+2:0] age_q;  // of the state RxClock
    assign step   = rx_wait_q == '1;
    assign lost   = rx_lost[c];
    assign silent = rx_silent[c] && !loop_q[c];

    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
        rx_q      <= RxReset;
        rx_wait_q <= '0;
      end else if (tx_q != TxRun) begin
        rx_q      <= RxReset;
        rx_wait_q <= '0;
      end else begin
        rx_wait_q <= rx_wait_q + 1'b1;
        unique case (rx_q)
          RxReset: begin
            if (silent) rx_wait_q <= '0;
            else if (step) rx_q <= RxClock;
          end
          RxClock: begin
            if (silent || age_q == '1) begin
              rx_q      <= RxReset;
              rx_wait_q <= '0;
            end else if (lost) rx_wait_q <= '0;
            else if (step) rx_q <= RxRun;
          end
          default: begin
            if (lost || silent) begin
              rx_q      <= RxReset;
              rx_wait_q <= '0;
            end
          end
        endcase
      end
    end
    always_ff @(posedge clk_i) age_q <= rx_q == RxClock ? age_q + 1'b1 : '0;
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
        rx_rst_o[c]     <= 1'b1;
        rx_pcs_rst_o[c] <= 1'b1;
        rx_lock_o[c]    <= 1'b0;
      end else begin
        rx_rst_o[c]     <= rx_q == RxReset;
        rx_pcs_rst_o[c] <= rx_q != RxRun;
        rx_lock_o[c]    <= rx_q == RxRun;
      end
    end
  end
endmodule
