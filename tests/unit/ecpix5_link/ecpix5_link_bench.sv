// SPDX-License-Identifier: SHL-2.1
/// The board's top with a plug in its SATA connector: what channel 0 sends comes back to it.
module ecpix5_link_bench (
  input  logic       clk100_i,
  input  logic       bit_clk_i,
  input  logic       rst_ni,
  input  logic       loop_i,
  input  logic       plug_i,       // the plug is in
  input  logic       spoil_i,      // bits on it are turned over
  output logic [3:0] led_red_no,
  output logic [3:0] led_green_no,
  output logic [3:0] led_blue_no,
  output logic       serial_tx_o
);
  logic tx_p, tx_n;
  ecpix5_link #(
    .WaitWidth(5), .BaudDivider(2), .LinePause(0)
  ) u_board (
    .clk100_i, .rst_ni, .loop_i, .led_red_no, .led_green_no, .led_blue_no, .serial_tx_o,
    .sata_clk_p_i(bit_clk_i), .sata_clk_n_i(!bit_clk_i),
    .sata_rx_pi(plug_i && (tx_p ^ spoil_i)), .sata_rx_ni(plug_i && (tx_n ^ spoil_i)),
    .sata_tx_po(tx_p), .sata_tx_no(tx_n)
  );
endmodule
