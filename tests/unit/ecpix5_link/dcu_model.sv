// SPDX-License-Identifier: SHL-2.1
// What the transceiver cells of an ECP5 do, bit by bit, as far as a link sees it.
//
// Left out: the reference clock's multiplication (the reference pins carry the bit clock, 25 times as
// fast), clock recovery (the receive side takes the same bits with the same clock, at a phase of its own),
// everything analogue, the FIFOs between the hard block and the FPGA, the hard block's state machine of
// alignment (each comma aligns), disparity errors, electrical idle, and all registers but one.

module EXTREFB #(
  parameter string REFCK_PWDNB     = "",
  parameter string REFCK_RTERM     = "",
  parameter string REFCK_DCBIAS_EN = ""
) (
  input  logic REFCLKP,
  input  logic REFCLKN,
  output logic REFCLKO
);
  assign REFCLKO = REFCLKP;
  logic unused;
  assign unused = REFCLKN;
endmodule

/// One channel. In loop_i it hears what itself sends.
module dcu_channel_model
  import link_pkg::*;
  import code_8b10b::*;
#(
  parameter int unsigned RxPhase = 0
) (
  input  logic        bit_clk_i,
  input  logic        tx_run_i,   // the PLL has lock
  input  logic        tx_pcs_rst_i,
  input  logic        rx_rst_i,
  input  logic        rx_pcs_rst_i,
  input  logic        loop_i,
  input  logic        pin_i,
  output logic        pin_o,
  output logic        tx_pclk_o,
  input  logic [23:0] tx_d_i,
  output logic        rx_pclk_o,
  output logic [23:0] rx_d_o,
  output logic        silent_o,
  output logic        lost_o
);
  logic [4:0]  tx_at_q = '0, rx_at_q = 5'(RxPhase);
  logic [19:0] next_q = '0, shift_q = '0, seen_q = '0, raw_q = '0;
  logic        disparity_q = 1'b0, heard, last_q = 1'b0;
  logic [6:0]  same_q = '1;
  logic [9:0]  lock_q = '0;
  encoded_t    first, second;

  assign first  = encode(disparity_q, tx_d_i[8], tx_d_i[7:0]);
  assign second = encode(first.disparity, tx_d_i[20], tx_d_i[19:12]);
  assign pin_o  = shift_q[0];
  assign heard  = loop_i ? pin_o : pin_i;

  always_ff @(posedge bit_clk_i) begin
    tx_pclk_o <= tx_run_i && tx_at_q < 5'd10;
    tx_at_q   <= tx_at_q == 5'd19 ? '0 : tx_at_q + 1'b1;
    shift_q   <= {1'b0, shift_q[19:1]};
    if (tx_at_q == 5'd15) begin
      next_q      <= tx_run_i && !tx_pcs_rst_i ? {second.code, first.code} : '0;
      disparity_q <= second.disparity;
    end
    if (tx_at_q == 5'd19) shift_q <= next_q;

    rx_pclk_o <= rx_at_q < 5'd10;
    rx_at_q   <= rx_at_q == 5'd19 ? '0 : rx_at_q + 1'b1;
    seen_q    <= {heard, seen_q[19:1]};
    if (rx_at_q == 5'd15) raw_q <= seen_q;

    last_q <= pin_i;
    if (last_q != pin_i) same_q <= '0;
    else if (same_q != '1) same_q <= same_q + 1'b1;
    lock_q <= rx_rst_i || (silent_o && !loop_i) ? '0 : lock_q == '1 ? lock_q : lock_q + 1'b1;
  end
  assign silent_o = same_q == '1;
  assign lost_o   = lock_q != '1;

  symbol_t [1:0] symbols;
  line_rx_8b10b u_rx (
    .clk_i(rx_pclk_o), .align_i(!rx_pcs_rst_i), .bits_i(raw_q), .symbol_o(symbols)
  );
  assign rx_d_o = rx_pcs_rst_i ? '0 : {3'b000, symbols[1], 3'b000, symbols[0]};
endmodule

// Parameters: the same as of the cell.
module DCUA #(
  parameter string D_MACROPDB = "",
  parameter string D_IB_PWDNB = "",
  parameter string D_TXPLL_PWDNB = "",
  parameter string D_REFCK_MODE = "",
  parameter string D_TX_MAX_RATE = "",
  parameter string D_TX_VCO_CK_DIV = "",
  parameter string D_BITCLK_LOCAL_EN = "",
  parameter string D_CMUSETBIASI = "",
  parameter string D_CMUSETI4CPP = "",
  parameter string D_CMUSETI4CPZ = "",
  parameter string D_CMUSETI4VCO = "",
  parameter string D_CMUSETICP4P = "",
  parameter string D_CMUSETICP4Z = "",
  parameter string D_CMUSETINITVCT = "",
  parameter string D_CMUSETISCL4VCO = "",
  parameter string D_CMUSETP1GM = "",
  parameter string D_CMUSETP2AGM = "",
  parameter string D_CMUSETZGM = "",
  parameter string D_SETIRPOLY_AUX = "",
  parameter string D_SETICONST_AUX = "",
  parameter string D_SETIRPOLY_CH = "",
  parameter string D_SETICONST_CH = "",
  parameter string D_SETPLLRC = "",
  parameter string D_RG_EN = "",
  parameter string D_RG_SET = "",
  parameter string D_LOW_MARK = "",
  parameter string D_HIGH_MARK = "",
  parameter string CH0_PROTOCOL = "",
  parameter string CH0_UC_MODE = "",
  parameter string CH0_ENC_BYPASS = "",
  parameter string CH0_DEC_BYPASS = "",
  parameter string CH0_RPWDNB = "",
  parameter string CH0_RTERM_RX = "",
  parameter string CH0_RXIN_CM = "",
  parameter string CH0_RXTERM_CM = "",
  parameter string CH0_REQ_EN = "",
  parameter string CH0_CDR_MAX_RATE = "",
  parameter string CH0_RX_DCO_CK_DIV = "",
  parameter string CH0_RX_GEAR_MODE = "",
  parameter string CH0_FF_RX_H_CLK_EN = "",
  parameter string CH0_FF_RX_F_CLK_DIS = "",
  parameter string CH0_SEL_SD_RX_CLK = "",
  parameter string CH0_AUTO_FACQ_EN = "",
  parameter string CH0_AUTO_CALIB_EN = "",
  parameter string CH0_PDEN_SEL = "",
  parameter string CH0_DCOATDCFG = "",
  parameter string CH0_DCOATDDLY = "",
  parameter string CH0_DCOBYPSATD = "",
  parameter string CH0_DCOCALDIV = "",
  parameter string CH0_DCOCTLGI = "",
  parameter string CH0_DCODISBDAVOID = "",
  parameter string CH0_DCOFLTDAC = "",
  parameter string CH0_DCOFTNRG = "",
  parameter string CH0_DCOIOSTUNE = "",
  parameter string CH0_DCOITUNE = "",
  parameter string CH0_DCOITUNE4LSB = "",
  parameter string CH0_DCOIUPDNX2 = "",
  parameter string CH0_DCONUOFLSB = "",
  parameter string CH0_DCOSCALEI = "",
  parameter string CH0_DCOSTARTVAL = "",
  parameter string CH0_DCOSTEP = "",
  parameter string CH0_RLOS_SEL = "",
  parameter string CH0_RX_LOS_EN = "",
  parameter string CH0_RX_LOS_LVL = "",
  parameter string CH0_RX_LOS_CEQ = "",
  parameter string CH0_ENABLE_CG_ALIGN = "",
  parameter string CH0_UDF_COMMA_MASK = "",
  parameter string CH0_UDF_COMMA_A = "",
  parameter string CH0_UDF_COMMA_B = "",
  parameter string CH0_CTC_BYPASS = "",
  parameter string CH0_MIN_IPG_CNT = "",
  parameter string CH0_MATCH_2_ENABLE = "",
  parameter string CH0_MATCH_4_ENABLE = "",
  parameter string CH0_TPWDNB = "",
  parameter string CH0_TXAMPLITUDE = "",
  parameter string CH0_RTERM_TX = "",
  parameter string CH0_TDRV_SLICE0_CUR = "",
  parameter string CH0_TDRV_SLICE0_SEL = "",
  parameter string CH0_TDRV_SLICE1_CUR = "",
  parameter string CH0_TDRV_SLICE1_SEL = "",
  parameter string CH0_TDRV_SLICE2_CUR = "",
  parameter string CH0_TDRV_SLICE2_SEL = "",
  parameter string CH0_TDRV_SLICE3_CUR = "",
  parameter string CH0_TDRV_SLICE3_SEL = "",
  parameter string CH0_TDRV_SLICE4_CUR = "",
  parameter string CH0_TDRV_SLICE4_SEL = "",
  parameter string CH0_TDRV_SLICE5_CUR = "",
  parameter string CH0_TDRV_SLICE5_SEL = "",
  parameter string CH0_TX_GEAR_MODE = "",
  parameter string CH0_FF_TX_H_CLK_EN = "",
  parameter string CH0_FF_TX_F_CLK_DIS = "",
  parameter string CH1_PROTOCOL = "",
  parameter string CH1_UC_MODE = "",
  parameter string CH1_ENC_BYPASS = "",
  parameter string CH1_DEC_BYPASS = "",
  parameter string CH1_RPWDNB = "",
  parameter string CH1_RTERM_RX = "",
  parameter string CH1_RXIN_CM = "",
  parameter string CH1_RXTERM_CM = "",
  parameter string CH1_REQ_EN = "",
  parameter string CH1_CDR_MAX_RATE = "",
  parameter string CH1_RX_DCO_CK_DIV = "",
  parameter string CH1_RX_GEAR_MODE = "",
  parameter string CH1_FF_RX_H_CLK_EN = "",
  parameter string CH1_FF_RX_F_CLK_DIS = "",
  parameter string CH1_SEL_SD_RX_CLK = "",
  parameter string CH1_AUTO_FACQ_EN = "",
  parameter string CH1_AUTO_CALIB_EN = "",
  parameter string CH1_PDEN_SEL = "",
  parameter string CH1_DCOATDCFG = "",
  parameter string CH1_DCOATDDLY = "",
  parameter string CH1_DCOBYPSATD = "",
  parameter string CH1_DCOCALDIV = "",
  parameter string CH1_DCOCTLGI = "",
  parameter string CH1_DCODISBDAVOID = "",
  parameter string CH1_DCOFLTDAC = "",
  parameter string CH1_DCOFTNRG = "",
  parameter string CH1_DCOIOSTUNE = "",
  parameter string CH1_DCOITUNE = "",
  parameter string CH1_DCOITUNE4LSB = "",
  parameter string CH1_DCOIUPDNX2 = "",
  parameter string CH1_DCONUOFLSB = "",
  parameter string CH1_DCOSCALEI = "",
  parameter string CH1_DCOSTARTVAL = "",
  parameter string CH1_DCOSTEP = "",
  parameter string CH1_RLOS_SEL = "",
  parameter string CH1_RX_LOS_EN = "",
  parameter string CH1_RX_LOS_LVL = "",
  parameter string CH1_RX_LOS_CEQ = "",
  parameter string CH1_ENABLE_CG_ALIGN = "",
  parameter string CH1_UDF_COMMA_MASK = "",
  parameter string CH1_UDF_COMMA_A = "",
  parameter string CH1_UDF_COMMA_B = "",
  parameter string CH1_CTC_BYPASS = "",
  parameter string CH1_MIN_IPG_CNT = "",
  parameter string CH1_MATCH_2_ENABLE = "",
  parameter string CH1_MATCH_4_ENABLE = "",
  parameter string CH1_TPWDNB = "",
  parameter string CH1_TXAMPLITUDE = "",
  parameter string CH1_RTERM_TX = "",
  parameter string CH1_TDRV_SLICE0_CUR = "",
  parameter string CH1_TDRV_SLICE0_SEL = "",
  parameter string CH1_TDRV_SLICE1_CUR = "",
  parameter string CH1_TDRV_SLICE1_SEL = "",
  parameter string CH1_TDRV_SLICE2_CUR = "",
  parameter string CH1_TDRV_SLICE2_SEL = "",
  parameter string CH1_TDRV_SLICE3_CUR = "",
  parameter string CH1_TDRV_SLICE3_SEL = "",
  parameter string CH1_TDRV_SLICE4_CUR = "",
  parameter string CH1_TDRV_SLICE4_SEL = "",
  parameter string CH1_TDRV_SLICE5_CUR = "",
  parameter string CH1_TDRV_SLICE5_SEL = "",
  parameter string CH1_TX_GEAR_MODE = "",
  parameter string CH1_FF_TX_H_CLK_EN = "",
  parameter string CH1_FF_TX_F_CLK_DIS = ""
) (
  input  logic D_REFCLKI,
  input  logic D_FFC_MACROPDB,
  input  logic D_FFC_MACRO_RST,
  input  logic D_FFC_DUAL_RST,
  input  logic D_FFC_TRST,
  input  logic D_SCIWDATA0,
  input  logic D_SCIWDATA1,
  input  logic D_SCIWDATA2,
  input  logic D_SCIWDATA3,
  input  logic D_SCIWDATA4,
  input  logic D_SCIWDATA5,
  input  logic D_SCIWDATA6,
  input  logic D_SCIWDATA7,
  input  logic D_SCIADDR0,
  input  logic D_SCIADDR1,
  input  logic D_SCIADDR2,
  input  logic D_SCIADDR3,
  input  logic D_SCIADDR4,
  input  logic D_SCIADDR5,
  input  logic D_SCIENAUX,
  input  logic D_SCISELAUX,
  input  logic D_SCIRD,
  input  logic D_SCIWSTN,
  output logic D_FFS_PLOL,
  output logic D_SCIRDATA0,
  output logic D_SCIRDATA1,
  output logic D_SCIRDATA2,
  output logic D_SCIRDATA3,
  output logic D_SCIRDATA4,
  output logic D_SCIRDATA5,
  output logic D_SCIRDATA6,
  output logic D_SCIRDATA7,
  input  logic CH0_HDINP,
  input  logic CH0_HDINN,
  output logic CH0_HDOUTP,
  output logic CH0_HDOUTN,
  input  logic CH0_RX_REFCLK,
  input  logic CH0_FF_RXI_CLK,
  input  logic CH0_FF_TXI_CLK,
  input  logic CH0_FF_TX_D_0,
  input  logic CH0_FF_TX_D_1,
  input  logic CH0_FF_TX_D_2,
  input  logic CH0_FF_TX_D_3,
  input  logic CH0_FF_TX_D_4,
  input  logic CH0_FF_TX_D_5,
  input  logic CH0_FF_TX_D_6,
  input  logic CH0_FF_TX_D_7,
  input  logic CH0_FF_TX_D_8,
  input  logic CH0_FF_TX_D_9,
  input  logic CH0_FF_TX_D_10,
  input  logic CH0_FF_TX_D_11,
  input  logic CH0_FF_TX_D_12,
  input  logic CH0_FF_TX_D_13,
  input  logic CH0_FF_TX_D_14,
  input  logic CH0_FF_TX_D_15,
  input  logic CH0_FF_TX_D_16,
  input  logic CH0_FF_TX_D_17,
  input  logic CH0_FF_TX_D_18,
  input  logic CH0_FF_TX_D_19,
  input  logic CH0_FF_TX_D_20,
  input  logic CH0_FF_TX_D_21,
  input  logic CH0_FF_TX_D_22,
  input  logic CH0_FF_TX_D_23,
  input  logic CH0_FFC_SIGNAL_DETECT,
  input  logic CH0_FFC_RRST,
  input  logic CH0_FFC_LANE_RX_RST,
  input  logic CH0_FFC_LANE_TX_RST,
  input  logic CH0_FFC_RXPWDNB,
  input  logic CH0_FFC_TXPWDNB,
  input  logic CH0_SCIEN,
  input  logic CH0_SCISEL,
  output logic CH0_FF_RX_PCLK,
  output logic CH0_FF_TX_PCLK,
  output logic CH0_FF_RX_D_0,
  output logic CH0_FF_RX_D_1,
  output logic CH0_FF_RX_D_2,
  output logic CH0_FF_RX_D_3,
  output logic CH0_FF_RX_D_4,
  output logic CH0_FF_RX_D_5,
  output logic CH0_FF_RX_D_6,
  output logic CH0_FF_RX_D_7,
  output logic CH0_FF_RX_D_8,
  output logic CH0_FF_RX_D_9,
  output logic CH0_FF_RX_D_10,
  output logic CH0_FF_RX_D_11,
  output logic CH0_FF_RX_D_12,
  output logic CH0_FF_RX_D_13,
  output logic CH0_FF_RX_D_14,
  output logic CH0_FF_RX_D_15,
  output logic CH0_FF_RX_D_16,
  output logic CH0_FF_RX_D_17,
  output logic CH0_FF_RX_D_18,
  output logic CH0_FF_RX_D_19,
  output logic CH0_FF_RX_D_20,
  output logic CH0_FF_RX_D_21,
  output logic CH0_FF_RX_D_22,
  output logic CH0_FF_RX_D_23,
  output logic CH0_FFS_RLOS,
  output logic CH0_FFS_RLOL,
  output logic CH0_FFS_LS_SYNC_STATUS,
  input  logic CH1_HDINP,
  input  logic CH1_HDINN,
  output logic CH1_HDOUTP,
  output logic CH1_HDOUTN,
  input  logic CH1_RX_REFCLK,
  input  logic CH1_FF_RXI_CLK,
  input  logic CH1_FF_TXI_CLK,
  input  logic CH1_FF_TX_D_0,
  input  logic CH1_FF_TX_D_1,
  input  logic CH1_FF_TX_D_2,
  input  logic CH1_FF_TX_D_3,
  input  logic CH1_FF_TX_D_4,
  input  logic CH1_FF_TX_D_5,
  input  logic CH1_FF_TX_D_6,
  input  logic CH1_FF_TX_D_7,
  input  logic CH1_FF_TX_D_8,
  input  logic CH1_FF_TX_D_9,
  input  logic CH1_FF_TX_D_10,
  input  logic CH1_FF_TX_D_11,
  input  logic CH1_FF_TX_D_12,
  input  logic CH1_FF_TX_D_13,
  input  logic CH1_FF_TX_D_14,
  input  logic CH1_FF_TX_D_15,
  input  logic CH1_FF_TX_D_16,
  input  logic CH1_FF_TX_D_17,
  input  logic CH1_FF_TX_D_18,
  input  logic CH1_FF_TX_D_19,
  input  logic CH1_FF_TX_D_20,
  input  logic CH1_FF_TX_D_21,
  input  logic CH1_FF_TX_D_22,
  input  logic CH1_FF_TX_D_23,
  input  logic CH1_FFC_SIGNAL_DETECT,
  input  logic CH1_FFC_RRST,
  input  logic CH1_FFC_LANE_RX_RST,
  input  logic CH1_FFC_LANE_TX_RST,
  input  logic CH1_FFC_RXPWDNB,
  input  logic CH1_FFC_TXPWDNB,
  input  logic CH1_SCIEN,
  input  logic CH1_SCISEL,
  output logic CH1_FF_RX_PCLK,
  output logic CH1_FF_TX_PCLK,
  output logic CH1_FF_RX_D_0,
  output logic CH1_FF_RX_D_1,
  output logic CH1_FF_RX_D_2,
  output logic CH1_FF_RX_D_3,
  output logic CH1_FF_RX_D_4,
  output logic CH1_FF_RX_D_5,
  output logic CH1_FF_RX_D_6,
  output logic CH1_FF_RX_D_7,
  output logic CH1_FF_RX_D_8,
  output logic CH1_FF_RX_D_9,
  output logic CH1_FF_RX_D_10,
  output logic CH1_FF_RX_D_11,
  output logic CH1_FF_RX_D_12,
  output logic CH1_FF_RX_D_13,
  output logic CH1_FF_RX_D_14,
  output logic CH1_FF_RX_D_15,
  output logic CH1_FF_RX_D_16,
  output logic CH1_FF_RX_D_17,
  output logic CH1_FF_RX_D_18,
  output logic CH1_FF_RX_D_19,
  output logic CH1_FF_RX_D_20,
  output logic CH1_FF_RX_D_21,
  output logic CH1_FF_RX_D_22,
  output logic CH1_FF_RX_D_23,
  output logic CH1_FFS_RLOS,
  output logic CH1_FFS_RLOL,
  output logic CH1_FFS_LS_SYNC_STATUS
);
  // What the model does is so only with these.
  initial begin
    if (D_REFCK_MODE != "0b100") $fatal(1, "DCUA: D_REFCK_MODE is %s", D_REFCK_MODE);
    if (CH0_PROTOCOL != "G8B10B") $fatal(1, "DCUA: CH0_PROTOCOL is %s", CH0_PROTOCOL);
    if (CH0_ENC_BYPASS != "0b0") $fatal(1, "DCUA: CH0_ENC_BYPASS is %s", CH0_ENC_BYPASS);
    if (CH0_DEC_BYPASS != "0b0") $fatal(1, "DCUA: CH0_DEC_BYPASS is %s", CH0_DEC_BYPASS);
    if (CH0_CTC_BYPASS != "0b1") $fatal(1, "DCUA: CH0_CTC_BYPASS is %s", CH0_CTC_BYPASS);
    if (CH0_ENABLE_CG_ALIGN != "0b1") $fatal(1, "DCUA: CH0_ENABLE_CG_ALIGN is %s", CH0_ENABLE_CG_ALIGN);
    if (CH0_UDF_COMMA_MASK != "0x07f") $fatal(1, "DCUA: CH0_UDF_COMMA_MASK is %s", CH0_UDF_COMMA_MASK);
    if (CH0_UDF_COMMA_A != "0x003") $fatal(1, "DCUA: CH0_UDF_COMMA_A is %s", CH0_UDF_COMMA_A);
    if (CH0_UDF_COMMA_B != "0x07c") $fatal(1, "DCUA: CH0_UDF_COMMA_B is %s", CH0_UDF_COMMA_B);
    if (CH0_TX_GEAR_MODE != "0b1") $fatal(1, "DCUA: CH0_TX_GEAR_MODE is %s", CH0_TX_GEAR_MODE);
    if (CH0_RX_GEAR_MODE != "0b1") $fatal(1, "DCUA: CH0_RX_GEAR_MODE is %s", CH0_RX_GEAR_MODE);
    if (CH0_FF_TX_H_CLK_EN != "0b1") $fatal(1, "DCUA: CH0_FF_TX_H_CLK_EN is %s", CH0_FF_TX_H_CLK_EN);
    if (CH0_FF_RX_H_CLK_EN != "0b1") $fatal(1, "DCUA: CH0_FF_RX_H_CLK_EN is %s", CH0_FF_RX_H_CLK_EN);
    if (CH1_PROTOCOL != "G8B10B") $fatal(1, "DCUA: CH1_PROTOCOL is %s", CH1_PROTOCOL);
    if (CH1_ENC_BYPASS != "0b0") $fatal(1, "DCUA: CH1_ENC_BYPASS is %s", CH1_ENC_BYPASS);
    if (CH1_DEC_BYPASS != "0b0") $fatal(1, "DCUA: CH1_DEC_BYPASS is %s", CH1_DEC_BYPASS);
    if (CH1_CTC_BYPASS != "0b1") $fatal(1, "DCUA: CH1_CTC_BYPASS is %s", CH1_CTC_BYPASS);
    if (CH1_ENABLE_CG_ALIGN != "0b1") $fatal(1, "DCUA: CH1_ENABLE_CG_ALIGN is %s", CH1_ENABLE_CG_ALIGN);
    if (CH1_UDF_COMMA_MASK != "0x07f") $fatal(1, "DCUA: CH1_UDF_COMMA_MASK is %s", CH1_UDF_COMMA_MASK);
    if (CH1_UDF_COMMA_A != "0x003") $fatal(1, "DCUA: CH1_UDF_COMMA_A is %s", CH1_UDF_COMMA_A);
    if (CH1_UDF_COMMA_B != "0x07c") $fatal(1, "DCUA: CH1_UDF_COMMA_B is %s", CH1_UDF_COMMA_B);
    if (CH1_TX_GEAR_MODE != "0b1") $fatal(1, "DCUA: CH1_TX_GEAR_MODE is %s", CH1_TX_GEAR_MODE);
    if (CH1_RX_GEAR_MODE != "0b1") $fatal(1, "DCUA: CH1_RX_GEAR_MODE is %s", CH1_RX_GEAR_MODE);
    if (CH1_FF_TX_H_CLK_EN != "0b1") $fatal(1, "DCUA: CH1_FF_TX_H_CLK_EN is %s", CH1_FF_TX_H_CLK_EN);
    if (CH1_FF_RX_H_CLK_EN != "0b1") $fatal(1, "DCUA: CH1_FF_RX_H_CLK_EN is %s", CH1_FF_RX_H_CLK_EN);
  end

  logic [9:0] lock_q = '0;
  logic       tx_run;
  always_ff @(posedge D_REFCLKI) begin
    if (D_FFC_TRST || D_FFC_MACRO_RST || D_FFC_DUAL_RST || !D_FFC_MACROPDB) lock_q <= '0;
    else if (lock_q != '1) lock_q <= lock_q + 1'b1;
  end
  assign tx_run     = lock_q == '1;
  assign D_FFS_PLOL = !tx_run;

  // Register 0x15 of each channel; its reset value is the model's own.
  logic [7:0] register_q [2];
  initial for (int c = 0; c < 2; c++) register_q[c] = 8'hA0;
  logic [5:0] address;
  logic [7:0] wdata, rdata;
  logic [1:0] selected;
  assign address  = {D_SCIADDR5, D_SCIADDR4, D_SCIADDR3, D_SCIADDR2, D_SCIADDR1, D_SCIADDR0};
  assign wdata    = {D_SCIWDATA7, D_SCIWDATA6, D_SCIWDATA5, D_SCIWDATA4, D_SCIWDATA3, D_SCIWDATA2, D_SCIWDATA1,
      D_SCIWDATA0};
  assign selected = {CH1_SCIEN && CH1_SCISEL, CH0_SCIEN && CH0_SCISEL};
  always_comb begin
    rdata = '0;
    for (int c = 0; c < 2; c++) begin
      if (D_SCIRD && selected[c] && address == 6'h15) rdata = register_q[c];
    end
  end
  always_ff @(negedge D_SCIWSTN) begin
    for (int c = 0; c < 2; c++) begin
      if (selected[c] && address == 6'h15) register_q[c] <= wdata;
    end
  end
  assign {D_SCIRDATA7, D_SCIRDATA6, D_SCIRDATA5, D_SCIRDATA4, D_SCIRDATA3, D_SCIRDATA2, D_SCIRDATA1,
      D_SCIRDATA0} = rdata;
  always_comb begin
    for (int c = 0; c < 2; c++) assert (register_q[c][7:4] == 4'hA) else $fatal(1, "DCUA: register 0x15");
  end

  dcu_channel_model #(.RxPhase(3)) u_channel0 (
    .bit_clk_i(D_REFCLKI), .tx_run_i(tx_run && CH0_FFC_TXPWDNB), .tx_pcs_rst_i(CH0_FFC_LANE_TX_RST),
    .rx_rst_i(CH0_FFC_RRST || !CH0_FFC_RXPWDNB), .rx_pcs_rst_i(CH0_FFC_LANE_RX_RST),
    .loop_i(register_q[0][0]), .pin_i(CH0_HDINP), .pin_o(CH0_HDOUTP), .tx_pclk_o(CH0_FF_TX_PCLK),
    .tx_d_i({CH0_FF_TX_D_23, CH0_FF_TX_D_22, CH0_FF_TX_D_21, CH0_FF_TX_D_20, CH0_FF_TX_D_19, CH0_FF_TX_D_18,
        CH0_FF_TX_D_17, CH0_FF_TX_D_16, CH0_FF_TX_D_15, CH0_FF_TX_D_14, CH0_FF_TX_D_13, CH0_FF_TX_D_12,
        CH0_FF_TX_D_11, CH0_FF_TX_D_10, CH0_FF_TX_D_9, CH0_FF_TX_D_8, CH0_FF_TX_D_7, CH0_FF_TX_D_6,
        CH0_FF_TX_D_5, CH0_FF_TX_D_4, CH0_FF_TX_D_3, CH0_FF_TX_D_2, CH0_FF_TX_D_1, CH0_FF_TX_D_0}),
    .rx_pclk_o(CH0_FF_RX_PCLK),
    .rx_d_o({CH0_FF_RX_D_23, CH0_FF_RX_D_22, CH0_FF_RX_D_21, CH0_FF_RX_D_20, CH0_FF_RX_D_19, CH0_FF_RX_D_18,
        CH0_FF_RX_D_17, CH0_FF_RX_D_16, CH0_FF_RX_D_15, CH0_FF_RX_D_14, CH0_FF_RX_D_13, CH0_FF_RX_D_12,
        CH0_FF_RX_D_11, CH0_FF_RX_D_10, CH0_FF_RX_D_9, CH0_FF_RX_D_8, CH0_FF_RX_D_7, CH0_FF_RX_D_6,
        CH0_FF_RX_D_5, CH0_FF_RX_D_4, CH0_FF_RX_D_3, CH0_FF_RX_D_2, CH0_FF_RX_D_1, CH0_FF_RX_D_0}),
    .silent_o(CH0_FFS_RLOS), .lost_o(CH0_FFS_RLOL)
  );
  assign CH0_HDOUTN            = !CH0_HDOUTP;
  assign CH0_FFS_LS_SYNC_STATUS = !CH0_FFC_LANE_RX_RST;
  dcu_channel_model #(.RxPhase(12)) u_channel1 (
    .bit_clk_i(D_REFCLKI), .tx_run_i(tx_run && CH1_FFC_TXPWDNB), .tx_pcs_rst_i(CH1_FFC_LANE_TX_RST),
    .rx_rst_i(CH1_FFC_RRST || !CH1_FFC_RXPWDNB), .rx_pcs_rst_i(CH1_FFC_LANE_RX_RST),
    .loop_i(register_q[1][0]), .pin_i(CH1_HDINP), .pin_o(CH1_HDOUTP), .tx_pclk_o(CH1_FF_TX_PCLK),
    .tx_d_i({CH1_FF_TX_D_23, CH1_FF_TX_D_22, CH1_FF_TX_D_21, CH1_FF_TX_D_20, CH1_FF_TX_D_19, CH1_FF_TX_D_18,
        CH1_FF_TX_D_17, CH1_FF_TX_D_16, CH1_FF_TX_D_15, CH1_FF_TX_D_14, CH1_FF_TX_D_13, CH1_FF_TX_D_12,
        CH1_FF_TX_D_11, CH1_FF_TX_D_10, CH1_FF_TX_D_9, CH1_FF_TX_D_8, CH1_FF_TX_D_7, CH1_FF_TX_D_6,
        CH1_FF_TX_D_5, CH1_FF_TX_D_4, CH1_FF_TX_D_3, CH1_FF_TX_D_2, CH1_FF_TX_D_1, CH1_FF_TX_D_0}),
    .rx_pclk_o(CH1_FF_RX_PCLK),
    .rx_d_o({CH1_FF_RX_D_23, CH1_FF_RX_D_22, CH1_FF_RX_D_21, CH1_FF_RX_D_20, CH1_FF_RX_D_19, CH1_FF_RX_D_18,
        CH1_FF_RX_D_17, CH1_FF_RX_D_16, CH1_FF_RX_D_15, CH1_FF_RX_D_14, CH1_FF_RX_D_13, CH1_FF_RX_D_12,
        CH1_FF_RX_D_11, CH1_FF_RX_D_10, CH1_FF_RX_D_9, CH1_FF_RX_D_8, CH1_FF_RX_D_7, CH1_FF_RX_D_6,
        CH1_FF_RX_D_5, CH1_FF_RX_D_4, CH1_FF_RX_D_3, CH1_FF_RX_D_2, CH1_FF_RX_D_1, CH1_FF_RX_D_0}),
    .silent_o(CH1_FFS_RLOS), .lost_o(CH1_FFS_RLOL)
  );
  assign CH1_HDOUTN            = !CH1_HDOUTP;
  assign CH1_FFS_LS_SYNC_STATUS = !CH1_FFC_LANE_RX_RST;
endmodule
