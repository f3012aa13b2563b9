// SPDX-License-Identifier: SHL-2.1
/// Two channels of an ECP5's transceivers (one DCU) at 2.5 Gbit/s, 8b/10b coded in the hard block.
///
///   Clocks      refclk_p_i, refclk_n_i: 100 MHz, x 25. tx_clk_o, of both channels' transmit sides,
///               and rx_clk_o, recovered: 125 MHz, two symbols a cycle. clk_i: any, free running,
///               for the start alone
///   Handshake   none: tx_i is taken, and rx_o comes, in every cycle of their clock
///   Alignment   the hard block finds the symbols by their commas, K28.1, K28.5 and K28.7;
///               link_gear_rx finds the words. A symbol that is no code comes as K14.7
///   Lock        tx_lock_o: the transmit PLL has locked. rx_lock_o: this channel's clock recovery
///               too, and its receive side is out of reset. Both of clk_i
///   Loop        a channel with loop_i hears what itself sends, before the pins; taken at the start
///   Parameters  WaitWidth: each step of the start waits 2^WaitWidth cycles of clk_i; 4..24
///   Board       the channels' pins are those of the DCU that the tools are told: LOC DCU1, EXTREF1
///   Not done    other rates, electrical idle, equalisation, bits of the far end in the wrong order
module dcu_ecp5
  import link_pkg::*;
#(
  parameter int unsigned WaitWidth = 16
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  input  logic          [1:0] loop_i,
  output logic                tx_lock_o,
  output logic          [1:0] rx_lock_o,

  input  logic                refclk_p_i,
  input  logic                refclk_n_i,
  input  logic          [1:0] rx_pi,
  input  logic          [1:0] rx_ni,
  output logic          [1:0] tx_po,
  output logic          [1:0] tx_no,

  output logic                tx_clk_o,
  input  symbol_t [1:0] [1:0] tx_i,
  output logic          [1:0] rx_clk_o,
  output symbol_t [1:0] [1:0] rx_o
);
  logic refclk;
  (* LOC = "EXTREF1" *)
  EXTREFB #(
    .REFCK_PWDNB    ("0b1"),
    .REFCK_RTERM    ("0b0"),  // terminated on the board
    .REFCK_DCBIAS_EN("0b0")
  ) u_refclk (
    .REFCLKP(refclk_p_i),
    .REFCLKN(refclk_n_i),
    .REFCLKO(refclk)
  );

  // ---------------------------------------------------------------- start
  logic dual_rst, tx_rst, tx_pcs_rst, plol;
  logic [1:0] rx_rst, rx_pcs_rst, los, lol, sync, sci_sel, tx_clk;
  logic [7:0] sci_wdata, sci_rdata;
  logic [5:0] sci_addr;
  logic sci_read, sci_write_n;

  dcu_start #(
    .WaitWidth(WaitWidth)
  ) u_start (
    .clk_i,
    .rst_ni,
    .loop_i,
    .tx_lost_i    (plol),
    .rx_lost_i    (lol),
    .rx_silent_i  (los),
    .dual_rst_o   (dual_rst),
    .tx_rst_o     (tx_rst),
    .tx_pcs_rst_o (tx_pcs_rst),
    .rx_rst_o     (rx_rst),
    .rx_pcs_rst_o (rx_pcs_rst),
    .tx_lock_o,
    .rx_lock_o,
    .sci_sel_o    (sci_sel),
    .sci_addr_o   (sci_addr),
    .sci_read_o   (sci_read),
    .sci_rdata_i  (sci_rdata),
    .sci_write_no (sci_write_n),
    .sci_wdata_o  (sci_wdata)
  );

  // ---------------------------------------------------------------- symbols
  // Twelve bits a symbol at the hard block: the byte, its K flag, and three that stay 0 or unused.
  logic [1:0][23:0] tx_bus, rx_bus;
  for (genvar c = 0; c < 2; c++) begin : gen_channel
    for (genvar s = 0; s < 2; s++) begin : gen_symbol
      assign tx_bus[c][12*s+:12] = {3'b000, tx_i[c][s].k, tx_i[c][s].data};
      assign rx_o[c][s]          = '{rx_bus[c][12*s+8], rx_bus[c][12*s+:8]};
    end
  end
  assign tx_clk_o = tx_clk[0];

  logic unused;
  assign unused = &{1'b0, sync, tx_clk[1], rx_bus};

  // The same for both channels: 8b/10b, commas, gears of 2, and analogue settings, which are those
  // that Lattice's tools make for 2.5 Gbit/s from 100 MHz. The phase detector stays on where the
  // line is silent (PDEN_SEL 0): it is, while a channel hears itself.
`define DCU_CHANNEL_PARAMETERS(c) \
    .CH``c``_PROTOCOL       ("G8B10B"), \
    .CH``c``_UC_MODE        ("0b1"), \
    .CH``c``_ENC_BYPASS     ("0b0"), \
    .CH``c``_DEC_BYPASS     ("0b0"), \
    .CH``c``_ENABLE_CG_ALIGN("0b1"), \
    .CH``c``_UDF_COMMA_MASK ("0x07f"), \
    .CH``c``_UDF_COMMA_A    ("0x003"), \
    .CH``c``_UDF_COMMA_B    ("0x07c"), \
    .CH``c``_CTC_BYPASS     ("0b1"), \
    .CH``c``_MIN_IPG_CNT    ("0b11"), \
    .CH``c``_MATCH_2_ENABLE ("0b0"), \
    .CH``c``_MATCH_4_ENABLE ("0b0"), \
    .CH``c``_RPWDNB         ("0b1"), \
    .CH``c``_RTERM_RX       ("0d22"), \
    .CH``c``_RXIN_CM        ("0b11"), \
    .CH``c``_RXTERM_CM      ("0b11"), \
    .CH``c``_REQ_EN         ("0b0"), \
    .CH``c``_CDR_MAX_RATE   ("2.5"), \
    .CH``c``_RX_DCO_CK_DIV  ("0b000"), \
    .CH``c``_RX_GEAR_MODE   ("0b1"), \
    .CH``c``_FF_RX_H_CLK_EN ("0b1"), \
    .CH``c``_FF_RX_F_CLK_DIS("0b1"), \
    .CH``c``_SEL_SD_RX_CLK  ("0b1"), \
    .CH``c``_AUTO_FACQ_EN   ("0b1"), \
    .CH``c``_AUTO_CALIB_EN  ("0b1"), \
    .CH``c``_PDEN_SEL       ("0b0"), \
    .CH``c``_RLOS_SEL       ("0b1"), \
    .CH``c``_RX_LOS_EN      ("0b1"), \
    .CH``c``_RX_LOS_LVL     ("0b100"), \
    .CH``c``_RX_LOS_CEQ     ("0b11"), \
    .CH``c``_DCOATDCFG      ("0b00"), \
    .CH``c``_DCOATDDLY      ("0b00"), \
    .CH``c``_DCOBYPSATD     ("0b1"), \
    .CH``c``_DCOCALDIV      ("0b010"), \
    .CH``c``_DCOCTLGI       ("0b011"), \
    .CH``c``_DCODISBDAVOID  ("0b1"), \
    .CH``c``_DCOFLTDAC      ("0b00"), \
    .CH``c``_DCOFTNRG       ("0b010"), \
    .CH``c``_DCOIOSTUNE     ("0b010"), \
    .CH``c``_DCOITUNE       ("0b00"), \
    .CH``c``_DCOITUNE4LSB   ("0b010"), \
    .CH``c``_DCOIUPDNX2     ("0b1"), \
    .CH``c``_DCONUOFLSB     ("0b101"), \
    .CH``c``_DCOSCALEI      ("0b01"), \
    .CH``c``_DCOSTARTVAL    ("0b010"), \
    .CH``c``_DCOSTEP        ("0b11"), \
    .CH``c``_TPWDNB         ("0b1"), \
    .CH``c``_TXAMPLITUDE    ("0d1000"), \
    .CH``c``_RTERM_TX       ("0d19"), \
    .CH``c``_TDRV_SLICE0_CUR("0b011"), \
    .CH``c``_TDRV_SLICE0_SEL("0b01"), \
    .CH``c``_TDRV_SLICE1_CUR("0b000"), \
    .CH``c``_TDRV_SLICE1_SEL("0b00"), \
    .CH``c``_TDRV_SLICE2_CUR("0b11"), \
    .CH``c``_TDRV_SLICE2_SEL("0b01"), \
    .CH``c``_TDRV_SLICE3_CUR("0b11"), \
    .CH``c``_TDRV_SLICE3_SEL("0b01"), \
    .CH``c``_TDRV_SLICE4_CUR("0b11"), \
    .CH``c``_TDRV_SLICE4_SEL("0b01"), \
    .CH``c``_TDRV_SLICE5_CUR("0b00"), \
    .CH``c``_TDRV_SLICE5_SEL("0b00"), \
    .CH``c``_TX_GEAR_MODE   ("0b1"), \
    .CH``c``_FF_TX_H_CLK_EN ("0b1"), \
    .CH``c``_FF_TX_F_CLK_DIS("0b1")
`define DCU_CHANNEL_PORTS(c) \
    .CH``c``_HDINP             (rx_pi[c]), \
    .CH``c``_HDINN             (rx_ni[c]), \
    .CH``c``_HDOUTP            (tx_po[c]), \
    .CH``c``_HDOUTN            (tx_no[c]), \
    .CH``c``_RX_REFCLK         (refclk), \
    .CH``c``_FF_RX_PCLK        (rx_clk_o[c]), \
    .CH``c``_FF_RXI_CLK        (rx_clk_o[c]), \
    .CH``c``_FF_TX_PCLK        (tx_clk[c]), \
    .CH``c``_FF_TXI_CLK        (tx_clk_o), \
    .CH``c``_FFC_RXPWDNB       (1'b1), \
    .CH``c``_FFC_TXPWDNB       (1'b1), \
    .CH``c``_FFC_SIGNAL_DETECT (1'b1), \
    .CH``c``_FFC_RRST          (rx_rst[c]), \
    .CH``c``_FFC_LANE_RX_RST   (rx_pcs_rst[c]), \
    .CH``c``_FFC_LANE_TX_RST   (tx_pcs_rst), \
    .CH``c``_FFS_RLOS          (los[c]), \
    .CH``c``_FFS_RLOL          (lol[c]), \
    .CH``c``_FFS_LS_SYNC_STATUS(sync[c]), \
    .CH``c``_SCIEN             (sci_sel[c]), \
    .CH``c``_SCISEL            (sci_sel[c]), \
    .CH``c``_FF_TX_D_0(tx_bus[c][0]), .CH``c``_FF_TX_D_1(tx_bus[c][1]), \
    .CH``c``_FF_TX_D_2(tx_bus[c][2]), .CH``c``_FF_TX_D_3(tx_bus[c][3]), \
    .CH``c``_FF_TX_D_4(tx_bus[c][4]), .CH``c``_FF_TX_D_5(tx_bus[c][5]), \
    .CH``c``_FF_TX_D_6(tx_bus[c][6]), .CH``c``_FF_TX_D_7(tx_bus[c][7]), \
    .CH``c``_FF_TX_D_8(tx_bus[c][8]), .CH``c``_FF_TX_D_9(tx_bus[c][9]), \
    .CH``c``_FF_TX_D_10(tx_bus[c][10]), .CH``c``_FF_TX_D_11(tx_bus[c][11]), \
    .CH``c``_FF_TX_D_12(tx_bus[c][12]), .CH``c``_FF_TX_D_13(tx_bus[c][13]), \
    .CH``c``_FF_TX_D_14(tx_bus[c][14]), .CH``c``_FF_TX_D_15(tx_bus[c][15]), \
    .CH``c``_FF_TX_D_16(tx_bus[c][16]), .CH``c``_FF_TX_D_17(tx_bus[c][17]), \
    .CH``c``_FF_TX_D_18(tx_bus[c][18]), .CH``c``_FF_TX_D_19(tx_bus[c][19]), \
    .CH``c``_FF_TX_D_20(tx_bus[c][20]), .CH``c``_FF_TX_D_21(tx_bus[c][21]), \
    .CH``c``_FF_TX_D_22(tx_bus[c][22]), .CH``c``_FF_TX_D_23(tx_bus[c][23]), \
    .CH``c``_FF_RX_D_0(rx_bus[c][0]), .CH``c``_FF_RX_D_1(rx_bus[c][1]), \
    .CH``c``_FF_RX_D_2(rx_bus[c][2]), .CH``c``_FF_RX_D_3(rx_bus[c][3]), \
    .CH``c``_FF_RX_D_4(rx_bus[c][4]), .CH``c``_FF_RX_D_5(rx_bus[c][5]), \
    .CH``c``_FF_RX_D_6(rx_bus[c][6]), .CH``c``_FF_RX_D_7(rx_bus[c][7]), \
    .CH``c``_FF_RX_D_8(rx_bus[c][8]), .CH``c``_FF_RX_D_9(rx_bus[c][9]), \
    .CH``c``_FF_RX_D_10(rx_bus[c][10]), .CH``c``_FF_RX_D_11(rx_bus[c][11]), \
    .CH``c``_FF_RX_D_12(rx_bus[c][12]), .CH``c``_FF_RX_D_13(rx_bus[c][13]), \
    .CH``c``_FF_RX_D_14(rx_bus[c][14]), .CH``c``_FF_RX_D_15(rx_bus[c][15]), \
    .CH``c``_FF_RX_D_16(rx_bus[c][16]), .CH``c``_FF_RX_D_17(rx_bus[c][17]), \
    .CH``c``_FF_RX_D_18(rx_bus[c][18]), .CH``c``_FF_RX_D_19(rx_bus[c][19]), \
    .CH``c``_FF_RX_D_20(rx_bus[c][20]), .CH``c``_FF_RX_D_21(rx_bus[c][21]), \
    .CH``c``_FF_RX_D_22(rx_bus[c][22]), .CH``c``_FF_RX_D_23(rx_bus[c][23])

  (* LOC = "DCU1" *)
  DCUA #(
    .D_MACROPDB       ("0b1"),
    .D_IB_PWDNB       ("0b1"),
    .D_TXPLL_PWDNB    ("0b1"),
    .D_REFCK_MODE     ("0b100"),  // x 25
    .D_TX_MAX_RATE    ("2.5"),
    .D_TX_VCO_CK_DIV  ("0b000"),  // / 1
    .D_BITCLK_LOCAL_EN("0b1"),
    .D_CMUSETBIASI    ("0b00"),
    .D_CMUSETI4CPP    ("0d4"),
    .D_CMUSETI4CPZ    ("0d3"),
    .D_CMUSETI4VCO    ("0b00"),
    .D_CMUSETICP4P    ("0b01"),
    .D_CMUSETICP4Z    ("0b101"),
    .D_CMUSETINITVCT  ("0b00"),
    .D_CMUSETISCL4VCO ("0b000"),
    .D_CMUSETP1GM     ("0b000"),
    .D_CMUSETP2AGM    ("0b000"),
    .D_CMUSETZGM      ("0b100"),
    .D_SETIRPOLY_AUX  ("0b10"),
    .D_SETICONST_AUX  ("0b01"),
    .D_SETIRPOLY_CH   ("0b10"),
    .D_SETICONST_CH   ("0b10"),
    .D_SETPLLRC       ("0d1"),
    .D_RG_EN          ("0b1"),
    .D_RG_SET         ("0b00"),
    .D_LOW_MARK       ("0d4"),
    .D_HIGH_MARK      ("0d12"),
    `DCU_CHANNEL_PARAMETERS(0),
    `DCU_CHANNEL_PARAMETERS(1)
  ) u_dcu (
    .D_REFCLKI      (refclk),
    .D_FFS_PLOL     (plol),
    .D_FFC_MACROPDB (1'b1),
    .D_FFC_MACRO_RST(dual_rst),
    .D_FFC_DUAL_RST (dual_rst),
    .D_FFC_TRST     (tx_rst),
    .D_SCIENAUX     (1'b0),
    .D_SCISELAUX    (1'b0),
    .D_SCIRD        (sci_read),
    .D_SCIWSTN      (sci_write_n),
    .D_SCIADDR0(sci_addr[0]), .D_SCIADDR1(sci_addr[1]),
    .D_SCIADDR2(sci_addr[2]), .D_SCIADDR3(sci_addr[3]),
    .D_SCIADDR4(sci_addr[4]), .D_SCIADDR5(sci_addr[5]),
    .D_SCIWDATA0(sci_wdata[0]), .D_SCIWDATA1(sci_wdata[1]),
    .D_SCIWDATA2(sci_wdata[2]), .D_SCIWDATA3(sci_wdata[3]),
    .D_SCIWDATA4(sci_wdata[4]), .D_SCIWDATA5(sci_wdata[5]),
    .D_SCIWDATA6(sci_wdata[6]), .D_SCIWDATA7(sci_wdata[7]),
    .D_SCIRDATA0(sci_rdata[0]), .D_SCIRDATA1(sci_rdata[1]),
    .D_SCIRDATA2(sci_rdata[2]), .D_SCIRDATA3(sci_rdata[3]),
    .D_SCIRDATA4(sci_rdata[4]), .D_SCIRDATA5(sci_rdata[5]),
    .D_SCIRDATA6(sci_rdata[6]), .D_SCIRDATA7(sci_rdata[7]),
    `DCU_CHANNEL_PORTS(0),
    `DCU_CHANNEL_PORTS(1)
  );
`undef DCU_CHANNEL_PARAMETERS
`undef DCU_CHANNEL_PORTS
endmodule
