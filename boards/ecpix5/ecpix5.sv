// SPDX-License-Identifier: SHL-2.1
/// Board: gige_etherbone on an ECPIX-5 with the larger FPGA (LFE5UM5G-85F).
///
/// 100 MHz oscillator -> PLL -> 125 MHz -> gige_etherbone <-> RGMII <-> PHY (Microchip KSZ9031RNX).
///
///   Network     Mac, Ip and Netmask are parameters; Etherbone at UDP port 0xEBD0
///   Time        nanoseconds since reset: this board has no source of the time of day
///   LED         changes with each frame that is received
///   Not done    the board's RAM, its serial port and its connectors
module ecpix5 #(
  parameter bit [47:0] Mac     = 48'h02_00_00_00_00_01,
  parameter bit [31:0] Ip      = {8'd192, 8'd168, 8'd10, 8'd2},
  parameter bit [31:0] Netmask = {8'd255, 8'd255, 8'd255, 8'd0}
) (
  input  logic       clk100_i,
  input  logic       rst_ni,
  output logic       led_o,
  output logic       phy_rst_no,
  output logic       rgmii_tx_clk_o,
  output logic       rgmii_tx_ctl_o,
  output logic [3:0] rgmii_txd_o,
  input  logic       rgmii_rx_clk_i,
  input  logic       rgmii_rx_ctl_i,
  input  logic [3:0] rgmii_rxd_i
);
  logic clk, locked, rst_n;

  // 100 MHz / 4 x 25 in the oscillator of the PLL, / 5.
  (* FREQUENCY_PIN_CLKI = "100", FREQUENCY_PIN_CLKOP = "125" *)
  (* ICP_CURRENT = "12", LPF_RESISTOR = "8", MFG_ENABLE_FILTEROPAMP = "1", MFG_GMCREF_SEL = "2" *)
  EHXPLLL #(
    .CLKI_DIV     (4),
    .CLKFB_DIV    (5),
    .CLKOP_DIV    (5),
    .CLKOP_ENABLE ("ENABLED"),
    .CLKOP_CPHASE (2),
    .CLKOP_FPHASE (0),
    .FEEDBK_PATH  ("CLKOP"),
    .STDBY_ENABLE ("DISABLED"),
    .PLLRST_ENA   ("DISABLED"),
    .INTFB_WAKE   ("DISABLED"),
    .DPHASE_SOURCE("DISABLED"),
    .OUTDIVIDER_MUXA("DIVA")
  ) u_pll (
    .CLKI        (clk100_i),
    .CLKFB       (clk),
    .CLKOP       (clk),
    .LOCK        (locked),
    .RST         (1'b0),
    .STDBY       (1'b0),
    .PHASESEL0   (1'b0),
    .PHASESEL1   (1'b0),
    .PHASEDIR    (1'b1),
    .PHASESTEP   (1'b1),
    .PHASELOADREG(1'b1),
    .PLLWAKESYNC (1'b0),
    .ENCLKOP     (1'b0)
  );

  sync_reset u_reset (.clk_i(clk), .rst_ni(locked && rst_ni), .rst_no(rst_n));

  // The PHY needs 10 ms of reset: 2^21 cycles are 16.8 ms.
  logic [21:0] wait_q;
  logic [63:0] time_q;
  // The LED shows its lowest bit.
  // verilator lint_off UNUSEDSIGNAL
  logic [31:0] received;
  // verilator lint_on UNUSEDSIGNAL
  always_ff @(posedge clk or negedge rst_n) begin
    if (!rst_n) begin
      wait_q <= '0;
      time_q <= '0;
    end else begin
      if (!wait_q[21]) wait_q <= wait_q + 1'b1;
      time_q <= time_q + 64'd8;
    end
  end
  assign phy_rst_no = wait_q[21];
  assign led_o     = received[0];

  logic       gmii_rx_clk, gmii_rx_dv, gmii_rx_er, gmii_tx_en, gmii_tx_er;
  logic [7:0] gmii_rxd, gmii_txd;

  // The PHY delays the clock that it sends, and takes that of the FPGA as it comes: 80 x 25 ps.
  rgmii_ecp5 #(
    .TxClockDelay(80)
  ) u_rgmii (
    .clk_i        (clk),
    .rst_ni       (rst_n),
    .rgmii_tx_clk_o,
    .rgmii_tx_ctl_o,
    .rgmii_txd_o,
    .rgmii_rx_clk_i,
    .rgmii_rx_ctl_i,
    .rgmii_rxd_i,
    .gmii_txd_i   (gmii_txd),
    .gmii_tx_en_i (gmii_tx_en),
    .gmii_tx_er_i (gmii_tx_er),
    .gmii_rx_clk_o(gmii_rx_clk),
    .gmii_rxd_o   (gmii_rxd),
    .gmii_rx_dv_o (gmii_rx_dv),
    .gmii_rx_er_o (gmii_rx_er)
  );

  gige_etherbone u_device (
    .clk_i           (clk),
    .rst_ni          (rst_n),
    .gmii_rx_clk_i   (gmii_rx_clk),
    .gmii_rxd_i      (gmii_rxd),
    .gmii_rx_dv_i    (gmii_rx_dv),
    .gmii_rx_er_i    (gmii_rx_er),
    .gmii_txd_o      (gmii_txd),
    .gmii_tx_en_o    (gmii_tx_en),
    .gmii_tx_er_o    (gmii_tx_er),
    .cfg_mac_i       (Mac),
    .cfg_ip_i        (Ip),
    .cfg_netmask_i   (Netmask),
    .cfg_udp_port_i  (16'hEBD0),
    .cfg_dialect_i   (1'b0),
    .cfg_reply_port_i(16'd0),
    .time_ns_i       (time_q),
    .trigger_i       ('0),
    .status_rx_good_o(received),
    // For the simulator; a design that shows its counters connects them.
    .probe_o(),
    .probe_tag_o(),
    .status_rx_other_o(),
    .status_rx_busy_o(),
    .status_drop_fcs_o(),
    .status_drop_size_o(),
    .status_drop_mac_o(),
    .status_drop_ip_o(),
    .status_drop_udp_o(),
    .status_drop_port_o(),
    .status_drop_denied_o(),
    .status_drop_refused_o(),
    .status_drop_align_o(),
    .status_drop_overflow_o(),
    .status_drop_malformed_o(),
    .status_arp_replies_o(),
    .status_icmp_replies_o(),
    .status_tx_frames_o(),
    .status_eb_records_o(),
    .status_eb_bus_errors_o(),
    .status_eb_timeouts_o(),
    .status_drop_broadcast_o(),
    .idle_o()
  );
endmodule
