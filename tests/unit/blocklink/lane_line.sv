// SPDX-License-Identifier: SHL-2.1
/// One lane between two transceivers, by words: a delay, any place where words begin, wrong bits.
///
/// The gearbox of either side pauses 3 cycles in 67: 22 words have 66 bits more than 64 each, which
/// is a cycle. slip_i makes words begin a bit later; slide_i does the same, as a lane that slips by
/// itself.
module lane_line
  import blocklink_lane_pkg::*;
#(
  parameter int unsigned Delay  = 4,  // words, 2..40
  parameter int unsigned Offset = 0,  // bits, 0..66
  parameter int unsigned Pause  = 0   // where in its 67 cycles the receiver's gearbox begins
) (
  input  logic        tx_clk_i,
  input  logic        rx_clk_i,
  input  logic        rst_ni,
  input  logic        tx_ready_i,
  input  code_t       tx_code_i,
  input  logic [31:0] error_i,   // wrong words in 2 ** 32
  input  logic        spoil_i,   // of SYNC, each has a wrong bit
  input  logic        slide_i,
  input  logic        slip_i,
  output logic        rx_valid_o,
  output code_t       rx_code_o,
  output logic [31:0] lag_sum_o,   // cycles that words were here, of all, while Offset stays
  output logic [31:0] lag_words_o
);
  code_t ring_q [64];
  logic [31:0] stamp_q [64];
  logic [31:0] tx_cycles_q, rx_cycles_q;
  logic [5:0] write_q, read_q;
  logic [31:0] noise_q;
  function automatic logic [31:0] next(logic [31:0] x);
    logic [31:0] y;
    y = x ^ (x << 13);
    y = y ^ (y >> 17);
    return y ^ (y << 5);
  endfunction
  code_t flip;
  logic is_sync;
  assign is_sync = tx_code_i.header == HeaderControl &&
                   (tx_code_i.word ^ {64{tx_code_i.inverted}}) == SyncWord;
  assign flip = (noise_q < error_i || (spoil_i && is_sync)) ? code_t'(67'd1 << noise_q[5:0]) : '0;
  always_ff @(posedge tx_clk_i) begin
    tx_cycles_q <= rst_ni ? tx_cycles_q + 1 : '0;
    if (tx_ready_i) stamp_q[write_q] <= tx_cycles_q;
    if (!rst_ni) begin
      write_q <= '0;
      noise_q <= 32'h1234_5679 ^ 32'(Delay << 20) ^ 32'(Offset << 8) ^ 32'(Pause);
    end else if (tx_ready_i) begin
      write_q <= write_q + 1'b1;
      ring_q[write_q] <= tx_code_i ^ flip;
      noise_q <= next(noise_q);
    end
  end

  logic [6:0] phase_q, offset_q;
  logic started_q;
  logic [133:0] both;
  assign both       = {ring_q[read_q], ring_q[read_q+6'd1]};
  assign rx_code_o  = both[133-32'(offset_q)-:67];
  assign rx_valid_o = started_q && !(phase_q inside {7'd22, 7'd44, 7'd66});
  always_ff @(posedge rx_clk_i) begin
    rx_cycles_q <= rst_ni ? rx_cycles_q + 1 : '0;
    if (!rst_ni) {lag_sum_o, lag_words_o} <= '0;
    else if (rx_valid_o) begin
      lag_sum_o   <= lag_sum_o + (rx_cycles_q - stamp_q[read_q]);
      lag_words_o <= lag_words_o + 1;
    end
    if (!rst_ni) begin
      phase_q   <= 7'(Pause);
      offset_q  <= 7'(Offset);
      started_q <= 1'b0;
      read_q    <= '0;
    end else begin
      phase_q   <= phase_q == 7'd66 ? '0 : phase_q + 1'b1;
      started_q <= started_q || write_q == 6'(Delay + 2);
      read_q    <= read_q + 6'(rx_valid_o);
      if (slip_i || slide_i) begin
        offset_q <= offset_q == 7'd66 ? '0 : offset_q + 1'b1;
        if (offset_q == 7'd66) read_q <= read_q + 6'(rx_valid_o) + 1'b1;
      end
    end
  end
endmodule
