// SPDX-License-Identifier: SHL-2.1
/// Device: UDP datagrams from 1 or 2 ports of 10 Gigabit Ethernet into buffers in host memory.
///
/// xgmii -> nanet_port_10g, one a port -> nanet_core; what a program sends, the other way. Rules
/// and figures are in docs/explanation/cores/nanet.md and docs/explanation/cores/xgmii.md.
///
///   Clocks      clk_i, 156.25 MHz at least, for bar, dma, irq and probes; xgmii*_rx_clk_i,
///               156.25 MHz, for what is received on each; eth_clk_i, 156.25 MHz, for xgmii*_tx*;
///               rst_ni is synchronized into each here
///   BAR 0, Interrupt, Result, Profiles, Firmware, Regions: as nanet_nic
///   Throughput  a beat of DataWidth a cycle to host memory; line rate on both ports at every size
///               where clk_i is 200 MHz or more and DataWidth 128 or more
///   Parameters  NumPorts 1..2; DataWidth 128..512 of the dma bus; Depth of a port's queue in
///               beats; Stores 0..2; Firmware 0, 1; Regions 0, 16; Send 1: a program's datagrams
///               leave by port 0
///   Not done    sending datagrams back; ARP and ping are answered
module nanet_nic_10g
  import nanet_nic_pkg::*;
#(
  parameter int unsigned NumPorts  = 1,
  parameter int unsigned DataWidth = 128,
  parameter int unsigned Depth     = 256,
  parameter int unsigned Stores    = 0,
  parameter bit          Firmware  = 1'b0,
  parameter int unsigned Regions   = 0,
  parameter bit          Send      = 1'b0
) (
  input logic clk_i,
  input logic rst_ni,
  input logic eth_clk_i,

  input  logic        xgmii_rx_clk_i,  // xgmii*_rx*: from a PHY in its own clock
  input  logic [63:0] xgmii_rxd_i,     // XGMII, as IEEE 802.3, 8 lanes: lane n in bits 8n+7:8n
  input  logic [7:0]  xgmii_rxc_i,     // bit n: lane n has a control character
  output logic [63:0] xgmii_txd_o,
  output logic [7:0]  xgmii_txc_o,

  input  logic        xgmii1_rx_clk_i,
  input  logic [63:0] xgmii1_rxd_i,  // as xgmii_rxd_i; not used with one port
  input  logic [7:0]  xgmii1_rxc_i,  // as xgmii_rxc_i
  output logic [63:0] xgmii1_txd_o,
  output logic [7:0]  xgmii1_txc_o,

  input logic [47:0] cfg_mac_i,                 // of port 0; each further port has the next address
  input logic [31:0] cfg_ip_i,                  // of port 0; each further port has the next address
  input logic [15:0] cfg_udp_port_i,            // to which datagrams come, of all ports
  input logic [15:0] cfg_firmware_wake_min_i,   // cycles, as nanet_firmware
  input logic [15:0] cfg_firmware_wake_span_i,  // as wake_min
  input logic [15:0] cfg_firmware_work_i,       // as wake_min

  input  logic        bar_awvalid_i,  // bar_aw*: AXI4 write address of the host, valid/ready
  input  logic [3:0]  bar_awid_i,
  input  logic [11:0] bar_awaddr_i,  // of a byte in the BAR
  input  logic [7:0]  bar_awlen_i,   // not looked at: bar_wlast_i ends a burst
  input  logic [2:0]  bar_awsize_i,
  input  logic [1:0]  bar_awburst_i,  // not looked at: INCR
  output logic        bar_awready_o,
  input  logic        bar_wvalid_i,  // bar_w*: data of the write, byte n in bits 8n+7:8n
  input  logic [63:0] bar_wdata_i,
  input  logic [7:0]  bar_wstrb_i,
  input  logic        bar_wlast_i,
  output logic        bar_wready_o,
  output logic        bar_bvalid_o,  // bar_b*: an answer a write burst: 0 OKAY, 2 SLVERR
  output logic [3:0]  bar_bid_o,
  output logic [1:0]  bar_bresp_o,
  input  logic        bar_bready_i,
  input  logic        bar_arvalid_i,  // bar_ar*: AXI4 read address, INCR; len: beats less one
  input  logic [3:0]  bar_arid_i,
  input  logic [11:0] bar_araddr_i,
  input  logic [7:0]  bar_arlen_i,
  input  logic [2:0]  bar_arsize_i,
  input  logic [1:0]  bar_arburst_i,
  output logic        bar_arready_o,
  output logic        bar_rvalid_o,  // bar_r*: its data, with its id; rlast: the last beat
  output logic [3:0]  bar_rid_o,
  output logic [63:0] bar_rdata_o,
  output logic [1:0]  bar_rresp_o,
  output logic        bar_rlast_o,
  input  logic        bar_rready_i,

  output logic                   dma_awvalid_o,  // dma_aw*: AXI4 write address at the host, INCR
  output logic [0:0]             dma_awid_o,
  output logic [63:0]            dma_awaddr_o,
  output logic [7:0]             dma_awlen_o,
  output logic [2:0]             dma_awsize_o,
  output logic [1:0]             dma_awburst_o,
  input  logic                   dma_awready_i,
  output logic                   dma_wvalid_o,  // dma_w*: its data, byte n in bits 8n+7:8n
  output logic [DataWidth-1:0]   dma_wdata_o,
  output logic [DataWidth/8-1:0] dma_wstrb_o,
  output logic                   dma_wlast_o,
  input  logic                   dma_wready_i,
  input  logic                   dma_bvalid_i,  // dma_b*: an answer a burst; resp 2, 3: an error
  input  logic [0:0]             dma_bid_i,
  input  logic [1:0]             dma_bresp_i,
  output logic                   dma_bready_o,
  output logic                   dma_arvalid_o,  // dma_ar*: reads of page tables, with Regions
  output logic [0:0]             dma_arid_o,
  output logic [63:0]            dma_araddr_o,
  output logic [7:0]             dma_arlen_o,
  output logic [2:0]             dma_arsize_o,
  output logic [1:0]             dma_arburst_o,
  input  logic                   dma_arready_i,
  input  logic                   dma_rvalid_i,  // dma_r*: data of the reads, in order
  input  logic [0:0]             dma_rid_i,
  input  logic [DataWidth-1:0]   dma_rdata_i,
  input  logic [1:0]             dma_rresp_i,
  input  logic                   dma_rlast_i,
  output logic                   dma_rready_o,

  output logic [0:0] irq_o,  // strobe: new events are in memory

  output logic        result_valid_o,  // one clock: result_o is a program's answer
  output logic [31:0] result_o,

  input logic [63:0] time_cycles_i,  // cycles of clk_i since time zero

  output logic [NumProbes-1:0]      probe_o,      // strobes, by probe_e; for simulation
  output logic [NumProbes-1:0][7:0] probe_tag_o,  // port above the datagram's number modulo 64

  output logic [31:0] status_datagrams_o,     // delivered, of all ports
  output logic [15:0] status_events_o,        // written to host memory, modulo 2^16
  output logic [31:0] status_write_errors_o,  // commands answered with an error

  output logic idle_o  // nothing changes until an input does
);
  if (NumPorts < 1 || NumPorts > 2) begin : gen_ports_check
    $error("nanet_nic_10g: NumPorts is %0d, legal is 1..2", NumPorts);
  end

  // ---------------------------------------------------------------- ports
  logic [NumPorts-1:0] echo, port_idle;
  nanet_pkg::arrival_t [NumPorts-1:0] arrivals;
  logic core_idle;
  nanet_pkg::departure_t departure;
  nanet_pkg::departed_t  departed;
  eth_pkg::udp_meta_t    departure_meta;
  logic [DataWidth-1:0]  departure_data;
  arp_pkg::ask_t         ask;
  arp_pkg::answer_t      answer;
  // Twice what a Gigabit port has: memory's latency is that of some of its frames here.
  localparam int unsigned SendDepth = 2 * nanet_pkg::SendBytes / (DataWidth / 8);

  localparam int unsigned MaxPorts = 2;
  logic [MaxPorts-1:0] rx_clk;
  logic [MaxPorts-1:0][63:0] rxd, txd;
  logic [MaxPorts-1:0][7:0] rxc, txc;
  assign rx_clk = {xgmii1_rx_clk_i, xgmii_rx_clk_i};
  assign rxd    = {xgmii1_rxd_i, xgmii_rxd_i};
  assign rxc    = {xgmii1_rxc_i, xgmii_rxc_i};
  assign {xgmii1_txd_o, xgmii_txd_o} = txd;
  assign {xgmii1_txc_o, xgmii_txc_o} = txc;

  logic eth_rst_n;
  sync_reset u_eth_reset (
    .clk_i (eth_clk_i),
    .rst_ni,
    .rst_no(eth_rst_n)
  );

  for (genvar i = 0; i < int'(NumPorts); i++) begin : gen_port
    localparam bit Sends = Send && i == 0;
    nanet_pkg::departed_t port_departed;
    arp_pkg::answer_t     port_answer;
    nanet_port_10g #(
      .Send     (Sends),
      .DataWidth(DataWidth),
      .SendDepth(SendDepth)
    ) u_port (
      .clk_i,
      .rst_ni,
      .xgmii_rx_clk_i(rx_clk[i]),
      .xgmii_rxd_i   (rxd[i]),
      .xgmii_rxc_i   (rxc[i]),
      .eth_clk_i,
      .eth_rst_ni    (eth_rst_n),
      .xgmii_txd_o   (txd[i]),
      .xgmii_txc_o   (txc[i]),
      .cfg_mac_i     (cfg_mac_i + 48'(i)),
      .cfg_ip_i      (cfg_ip_i + 32'(i)),
      .cfg_port_i    (cfg_udp_port_i),
      .arrival_o     (arrivals[i]),
      .departure_i   (departure),
      .meta_i        (departure_meta),
      .data_i        (departure_data),
      .departed_o    (port_departed),
      .ask_i         (Sends ? ask : '0),
      .answer_o      (port_answer),
      .idle_o        (port_idle[i])
    );
    if (i == 0) begin : gen_departed
      assign departed = port_departed;
      assign answer   = port_answer;
    end else begin : gen_none_departed
      logic unused_departed;
      assign unused_departed = ^{port_departed, port_answer};
    end
  end
  for (genvar i = int'(NumPorts); i < int'(MaxPorts); i++) begin : gen_no_port
    assign txd[i] = {8{8'h07}};
    assign txc[i] = '1;
  end

  // ---------------------------------------------------------------- flattened
  axi_pkg::bar_request_t  bar;
  axi_pkg::bar_response_t bar_answer;
  axi_pkg::request_t      dma;
  axi_pkg::response_t     dma_answer;
  assign bar = {
      bar_awvalid_i, bar_awid_i, 32'(bar_awaddr_i), bar_awsize_i,
      bar_wvalid_i, bar_wdata_i, bar_wstrb_i, bar_wlast_i, bar_bready_i,
      bar_arvalid_i, bar_arid_i, 32'(bar_araddr_i), bar_arlen_i, bar_arsize_i, bar_rready_i
  };
  assign {bar_awready_o, bar_wready_o, bar_bvalid_o, bar_bid_o, bar_bresp_o, bar_arready_o,
          bar_rvalid_o, bar_rid_o, bar_rdata_o, bar_rresp_o, bar_rlast_o} = bar_answer;
  assign {dma_awvalid_o, dma_awaddr_o, dma_awlen_o, dma_awsize_o, dma_awburst_o,
          dma_wvalid_o, dma_wlast_o, dma_bready_o,
          dma_arvalid_o, dma_araddr_o, dma_arlen_o, dma_arsize_o, dma_arburst_o,
          dma_rready_o} = dma;
  assign {dma_awid_o, dma_arid_o} = '0;
  assign dma_answer = {
      dma_awready_i, dma_wready_i, dma_bvalid_i, dma_bresp_i,
      dma_arready_i, dma_rvalid_i, dma_rresp_i, dma_rlast_i
  };

  nanet_core #(
    .NumPorts (NumPorts),
    .DataWidth(DataWidth),
    .WordWidth(64),
    .Depth    (Depth),
    .Stores   (Stores),
    .Firmware (Firmware),
    .Regions  (Regions),
    .Send     (Send),
    .SendDepth(SendDepth)
  ) u_core (
    .clk_i,
    .rst_ni,
    .time_cycles_i,
    .search_clk_i  (clk_i),
    .search_i      ('0),
    .arrivals_i    (arrivals),
    .echo_o        (echo),
    .departure_o   (departure),
    .departure_meta_o(departure_meta),
    .departure_data_o(departure_data),
    .departed_i    (departed),
    .ask_o         (ask),
    .answer_i      (answer),
    .cfg_firmware_i({cfg_firmware_wake_min_i, cfg_firmware_wake_span_i, cfg_firmware_work_i}),
    .bar_i         (bar),
    .bar_o         (bar_answer),
    .dma_o         (dma),
    .dma_wdata_o,
    .dma_wstrb_o,
    .dma_i         (dma_answer),
    .dma_rdata_i,
    .irq_o,
    .result_valid_o,
    .result_o,
    .release_i     ('0),
    .probe_o,
    .probe_tag_o,
    .status_datagrams_o,
    .status_events_o,
    .status_write_errors_o,
    .idle_o        (core_idle)
  );
  assign idle_o = core_idle && (&port_idle);

  logic unused;
  assign unused = ^{rx_clk, rxd, rxc, echo, bar_awlen_i, bar_awburst_i, bar_arburst_i,
                    dma_bid_i, dma_rid_i};
endmodule
