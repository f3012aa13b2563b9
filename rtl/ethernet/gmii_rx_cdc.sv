// SPDX-License-Identifier: SHL-2.1
/// Captures GMII receive and takes it over into the transmit clock, one entry a byte.
///
///   Output      rx_valid_o: one entry. rx_dv_o = 1: a byte, with its rx_er. rx_dv_o = 0: the frame
///               ended before this cycle. rx_lost_o: at least one entry before this one was lost
///               (the clocks differ by more than they may). Entries are never stalled
///   Latency     aligned clocks of one frequency: 3 cycles from a byte on the pins to rx_valid_o
///               (input register, two synchronizer stages); any phase: under 4
///   Throughput  line rate while the clocks differ by up to 200 ppm and a gap parts the frames:
///               idle cycles are not written, so a gap empties it
///   Timing      EarlyPointer of async_fifo: set_max_delay of 6 ns from its memory to clk_i. The
///               pin gmii_rx_dv_i also feeds the pointer's clock enable, outside the I/O cell
///   Not done    10 and 100 Mb/s, half duplex, carrier extension
module gmii_rx_cdc (
  input  logic       clk_i,
  input  logic       rst_ni,
  input  logic       gmii_rx_clk_i,
  input  logic [7:0] gmii_rxd_i,
  input  logic       gmii_rx_dv_i,
  input  logic       gmii_rx_er_i,
  output logic       rx_valid_o,
  output logic       rx_lost_o,
  output logic       rx_dv_o,
  output logic       rx_er_o,
  output logic [7:0] rx_data_o,
  output logic       settled_o  // nothing in flight; crosses the domains, see async_fifo
);
  logic rx_rst_n;
  sync_reset u_rx_reset (.clk_i(gmii_rx_clk_i), .rst_ni, .rst_no(rx_rst_n));

  logic open_q, lost_q, push, ready, fifo_settled;

  // The cycle after the last byte is written too: it is the end of the frame. While there is no
  // room for it, it is tried again, so that no end is lost in a gap.
  assign push = gmii_rx_dv_i || open_q;

  always_ff @(posedge gmii_rx_clk_i or negedge rx_rst_n) begin
    if (!rx_rst_n) begin
      open_q <= 1'b0;
      lost_q <= 1'b0;
    end else begin
      if (gmii_rx_dv_i) open_q <= 1'b1;
      else if (ready)   open_q <= 1'b0;
      if (push && ready)     lost_q <= 1'b0;
      else if (gmii_rx_dv_i) lost_q <= 1'b1;
    end
  end

  async_fifo #(
    .Width       (11),
    .Depth       (16),
    .EarlyPointer(1'b1)
  ) u_fifo (
    .wclk_i   (gmii_rx_clk_i),
    .wrst_ni  (rx_rst_n),
    .wvalid_i (push),
    .wready_o (ready),
    .wdata_i  ({lost_q, gmii_rx_dv_i, gmii_rx_er_i, gmii_rxd_i}),
    .rclk_i   (clk_i),
    .rrst_ni  (rst_ni),
    .rvalid_o (rx_valid_o),
    .rready_i (1'b1),
    .rdata_o  ({rx_lost_o, rx_dv_o, rx_er_o, rx_data_o}),
    .settled_o(fifo_settled)
  );

  assign settled_o = fifo_settled && !open_q && !gmii_rx_dv_i && rx_rst_n;
endmodule
