// SPDX-License-Identifier: SHL-2.1
// Generated from rtl/regs/*.rdl by python/isthmus/regs.py: change those, not this.
/// Register offsets in bytes from the start of each map.
// verilator lint_off UNUSEDPARAM
package isthmus_regs_pkg;
  // ECA control (time)
  localparam logic [7:0] EcaChannels = 8'h00;
  localparam logic [7:0] EcaLatency = 8'h0C;
  localparam logic [7:0] EcaTimeHiGet = 8'h18;
  localparam logic [7:0] EcaTimeLoGet = 8'h1C;
  // Timestamp latch unit (TLU)
  localparam logic [7:0] TluFifoReady = 8'h00;
  localparam logic [7:0] TluFifoClear = 8'h04;
  localparam logic [7:0] TluTest = 8'h08;
  localparam logic [7:0] TluArmstat = 8'h0C;
  localparam logic [7:0] TluArmset = 8'h10;
  localparam logic [7:0] TluArmclr = 8'h14;
  localparam logic [7:0] TluEdgestat = 8'h18;
  localparam logic [7:0] TluEdgepos = 8'h1C;
  localparam logic [7:0] TluEdgeneg = 8'h20;
  localparam logic [7:0] TluIrqEnable = 8'h24;
  localparam logic [7:0] TluIrqMaskstat = 8'h28;
  localparam logic [7:0] TluIrqMaskset = 8'h2C;
  localparam logic [7:0] TluIrqMaskclr = 8'h30;
  localparam logic [7:0] TluChnsTotal = 8'h34;
  localparam logic [7:0] TluFifosize = 8'h38;
  localparam logic [7:0] TluAtshi = 8'h50;
  localparam logic [7:0] TluAtslo = 8'h54;
  localparam logic [7:0] TluChSelect = 8'h58;
  localparam logic [7:0] TluFifoPop = 8'h5C;
  localparam logic [7:0] TluChTest = 8'h60;
  localparam logic [7:0] TluFifoCnt = 8'h64;
  localparam logic [7:0] TluFtshi = 8'h68;
  localparam logic [7:0] TluFtslo = 8'h6C;
  localparam logic [7:0] TluFtssub = 8'h70;
  // Gigabit Ethernet control (gige_ctrl)
  localparam logic [7:0] GigeCtrlProtocol = 8'h00;
  localparam logic [7:0] GigeCtrlMacHi = 8'h04;
  localparam logic [7:0] GigeCtrlMacLo = 8'h08;
  localparam logic [7:0] GigeCtrlIpv4 = 8'h0C;
  localparam logic [7:0] GigeCtrlUdpPort = 8'h10;
  localparam logic [7:0] GigeCtrlAllow0Ctrl = 8'h40;
  localparam logic [7:0] GigeCtrlAllow0Ip = 8'h44;
  localparam logic [7:0] GigeCtrlAllow0Mask = 8'h48;
  localparam logic [7:0] GigeCtrlAllow1Ctrl = 8'h50;
  localparam logic [7:0] GigeCtrlAllow1Ip = 8'h54;
  localparam logic [7:0] GigeCtrlAllow1Mask = 8'h58;
  localparam logic [7:0] GigeCtrlAllow2Ctrl = 8'h60;
  localparam logic [7:0] GigeCtrlAllow2Ip = 8'h64;
  localparam logic [7:0] GigeCtrlAllow2Mask = 8'h68;
  localparam logic [7:0] GigeCtrlAllow3Ctrl = 8'h70;
  localparam logic [7:0] GigeCtrlAllow3Ip = 8'h74;
  localparam logic [7:0] GigeCtrlAllow3Mask = 8'h78;
  localparam logic [7:0] GigeCtrlRxGood = 8'h80;
  localparam logic [7:0] GigeCtrlDropFcs = 8'h84;
  localparam logic [7:0] GigeCtrlDropSize = 8'h88;
  localparam logic [7:0] GigeCtrlDropMac = 8'h8C;
  localparam logic [7:0] GigeCtrlDropIp = 8'h90;
  localparam logic [7:0] GigeCtrlDropUdp = 8'h94;
  localparam logic [7:0] GigeCtrlDropPort = 8'h98;
  localparam logic [7:0] GigeCtrlDropDenied = 8'h9C;
  localparam logic [7:0] GigeCtrlDropRefused = 8'hA0;
  localparam logic [7:0] GigeCtrlDropAlign = 8'hA4;
  localparam logic [7:0] GigeCtrlDropOverflow = 8'hA8;
  localparam logic [7:0] GigeCtrlDropMalformed = 8'hAC;
  localparam logic [7:0] GigeCtrlArpReplies = 8'hB0;
  localparam logic [7:0] GigeCtrlIcmpReplies = 8'hB4;
  localparam logic [7:0] GigeCtrlTxFrames = 8'hB8;
  localparam logic [7:0] GigeCtrlEbRecords = 8'hBC;
  localparam logic [7:0] GigeCtrlEbBusErrors = 8'hC0;
  localparam logic [7:0] GigeCtrlEbTimeouts = 8'hC4;
  // PCIe stream DMA (pcie_dma)
  localparam logic [7:0] PcieDmaId = 8'h00;
  localparam logic [7:0] PcieDmaVersion = 8'h04;
  localparam logic [7:0] PcieDmaLimits = 8'h08;
  localparam logic [7:0] PcieDmaControl = 8'h0C;
  localparam logic [7:0] PcieDmaState = 8'h10;
  localparam logic [7:0] PcieDmaErrors = 8'h14;
  localparam logic [7:0] PcieDmaPushNext = 8'h18;
  localparam logic [7:0] PcieDmaReqBaseLo = 8'h20;
  localparam logic [7:0] PcieDmaReqBaseHi = 8'h24;
  localparam logic [7:0] PcieDmaReqSize = 8'h28;
  localparam logic [7:0] PcieDmaReqTail = 8'h2C;
  localparam logic [7:0] PcieDmaReqHead = 8'h30;
  localparam logic [7:0] PcieDmaRepBaseLo = 8'h40;
  localparam logic [7:0] PcieDmaRepBaseHi = 8'h44;
  localparam logic [7:0] PcieDmaRepSize = 8'h48;
  localparam logic [7:0] PcieDmaRepConsumed = 8'h4C;
  localparam logic [7:0] PcieDmaRepTail = 8'h50;
  localparam logic [7:0] PcieDmaStatusLo = 8'h60;
  localparam logic [7:0] PcieDmaStatusHi = 8'h64;
  localparam logic [7:0] PcieDmaRingWords = 8'h80;
  localparam logic [7:0] PcieDmaPushWords = 8'h84;
  localparam logic [7:0] PcieDmaReplyWords = 8'h88;
  localparam logic [7:0] PcieDmaReadBursts = 8'h8C;
  localparam logic [7:0] PcieDmaWriteBursts = 8'h90;
  localparam logic [7:0] PcieDmaStatusWrites = 8'h94;
  localparam logic [7:0] PcieDmaPushRefused = 8'h98;
  localparam logic [7:0] PcieDmaAxiErrors = 8'h9C;
  localparam logic [7:0] PcieDmaEbRecords = 8'hA0;
  localparam logic [7:0] PcieDmaEbBusErrors = 8'hA4;
  localparam logic [7:0] PcieDmaEbTimeouts = 8'hA8;
  localparam logic [7:0] PcieDmaEbMalformed = 8'hAC;
  // PCIe window onto the Wishbone (pcie_mmio)
  localparam logic [7:0] PcieMmioCycle = 8'h00;
  localparam logic [7:0] PcieMmioErrorHi = 8'h08;
  localparam logic [7:0] PcieMmioErrorLo = 8'h0C;
  localparam logic [7:0] PcieMmioWindow = 8'h14;
  localparam logic [7:0] PcieMmioSdb = 8'h1C;
endpackage
// verilator lint_on UNUSEDPARAM
