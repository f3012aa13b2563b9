// SPDX-License-Identifier: SHL-2.1
/// RGMII of 1 Gbit/s on the pins of an ECP5, GMII inside.
///
///   Clocks      clk_i 125 MHz sends; rgmii_rx_clk_i receives, and is gmii_rx_clk_o
///   Skew        steps of 25 ps, as the PHY needs them: TxClockDelay of the clock that is sent,
///               RxDataDelay of the data that is received. Without, clock and data change together
///   Latency     one cycle each way in the DDR cells
///   Not done    10 and 100 Mbit/s, in-band status
module rgmii_ecp5 #(
  parameter int unsigned TxClockDelay = 0,
  parameter int unsigned RxDataDelay  = 0
) (
  input  logic       clk_i,
  input  logic       rst_ni,
  output logic       rgmii_tx_clk_o,
  output logic       rgmii_tx_ctl_o,
  output logic [3:0] rgmii_txd_o,
  input  logic       rgmii_rx_clk_i,
  input  logic       rgmii_rx_ctl_i,
  input  logic [3:0] rgmii_rxd_i,

  input  logic [7:0] gmii_txd_i,
  input  logic       gmii_tx_en_i,
  input  logic       gmii_tx_er_i,
  output logic       gmii_rx_clk_o,
  output logic [7:0] gmii_rxd_o,
  output logic       gmii_rx_dv_o,
  output logic       gmii_rx_er_o
);
  // Control is bit 4 beside the data.
  logic [4:0] tx_rise, tx_fall, tx_pins, rx_pins, rx_late, rx_rise, rx_fall;

  assign tx_rise = {gmii_tx_en_i, gmii_txd_i[3:0]};
  assign tx_fall = {gmii_tx_en_i ^ gmii_tx_er_i, gmii_txd_i[7:4]};
  assign {rgmii_tx_ctl_o, rgmii_txd_o} = tx_pins;
  assign rx_pins = {rgmii_rx_ctl_i, rgmii_rxd_i};

  logic tx_clk;
  ODDRX1F u_clock (.SCLK(clk_i), .RST(!rst_ni), .D0(1'b1), .D1(1'b0), .Q(tx_clk));
  DELAYG #(
    .DEL_MODE ("USER_DEFINED"),
    .DEL_VALUE(TxClockDelay)
  ) u_clock_delay (
    .A(tx_clk),
    .Z(rgmii_tx_clk_o)
  );

  for (genvar i = 0; i < 5; i++) begin : gen_pin
    ODDRX1F u_tx (.SCLK(clk_i), .RST(!rst_ni), .D0(tx_rise[i]), .D1(tx_fall[i]), .Q(tx_pins[i]));

    DELAYG #(
      .DEL_MODE ("USER_DEFINED"),
      .DEL_VALUE(RxDataDelay)
    ) u_delay (
      .A(rx_pins[i]),
      .Z(rx_late[i])
    );
    IDDRX1F u_rx (
      .SCLK(rgmii_rx_clk_i),
      .RST (1'b0),
      .D   (rx_late[i]),
      .Q0  (rx_rise[i]),
      .Q1  (rx_fall[i])
    );
  end

  assign gmii_rx_clk_o = rgmii_rx_clk_i;
  assign gmii_rxd_o    = {rx_fall[3:0], rx_rise[3:0]};
  assign gmii_rx_dv_o  = rx_rise[4];
  assign gmii_rx_er_o  = rx_rise[4] ^ rx_fall[4];
endmodule
