// SPDX-License-Identifier: SHL-2.1
/// Device: UDP datagrams from 1 to 4 Gigabit Ethernet ports into buffers in host memory.
///
/// gmii -> nanet_port, one a port -> nanet_core. Rules and figures are in
/// docs/explanation/cores/nanet.md.
///
///   Clocks      clk_i for bar, dma, irq and probes; eth_clk_i, 125 MHz, for the MACs and
///               gmii*_tx*; search_clk_i for search_*, with Search; ttc_clk_i, the experiment's,
///               for ttc_start_i and trigger*, with Release. rst_ni is
///               synchronized into all of them here
///   BAR 0       4 KiB: registers in the first 256 bytes
///   Interrupt   irq_o: a strobe for new events, as event_queue
///   Result      result_o: what a program stores in RESULT, 2 clocks later, for one clock
///   Throughput  a beat of DataWidth a cycle to host memory
///   Profiles    Stores 0, Firmware 0: cut-through, a buffer's address in one cycle. Stores 2,
///               Firmware 1: as published, two store-and-forward stages and a soft processor that
///               finds the address in the time that cfg_firmware_*_i say
///   Parameters  NumPorts 1..4; DataWidth 64..512 of the dma bus; Depth of a port's queue in beats;
///               Stores 0..2; Firmware 0, 1; Regions 0: buffers have addresses of the bus, 16:
///               places in registered memory, translated page by page; Echo 1: a list
///               may have its datagrams sent back; Search 1: behind each datagram of events
///               one with candidates for their rings, as nanet_search; Send 1: a program's
///               datagrams leave by port 0, as nanet_send, without Echo; the send memory is a
///               range of the bus, with Regions too; Release 1: what is stored in RESULT also
///               changes trigger lines a fixed time after its event, as nanet_release; Merge 1:
///               the events of 2 to 4 ports go to the first list, as nanet_merge with its Window
///   Not done    sending by other ports than port 0; more lists than ports; 10 Gigabit Ethernet:
///               nanet_nic_10g
module nanet_nic
  import nanet_nic_pkg::*;
#(
  parameter int unsigned NumPorts  = 1,
  parameter int unsigned DataWidth = 128,
  parameter int unsigned Depth     = 256,
  parameter int unsigned Stores    = 0,
  parameter bit          Firmware  = 1'b0,
  parameter int unsigned Regions   = 0,
  parameter bit          Echo      = 1'b0,
  parameter bit          Search    = 1'b0,
  parameter bit          Send      = 1'b0,
  parameter bit          Release   = 1'b0,
  parameter bit          Merge     = 1'b0,
  parameter int unsigned Window    = 1024
) (
  input logic clk_i,
  input logic rst_ni,
  input logic eth_clk_i,

  input  logic       gmii_rx_clk_i,  // gmii*_rx*: from a PHY in its 125 MHz, as IEEE 802.3
  input  logic [7:0] gmii_rxd_i,
  input  logic       gmii_rx_dv_i,  // a byte of a frame, preamble included
  input  logic       gmii_rx_er_i,  // inside a frame: it is dropped
  output logic [7:0] gmii_txd_o,
  output logic       gmii_tx_en_o,
  output logic       gmii_tx_er_o,

  input  logic       gmii1_rx_clk_i,
  input  logic [7:0] gmii1_rxd_i,
  input  logic       gmii1_rx_dv_i,
  input  logic       gmii1_rx_er_i,
  output logic [7:0] gmii1_txd_o,
  output logic       gmii1_tx_en_o,
  output logic       gmii1_tx_er_o,

  input  logic       gmii2_rx_clk_i,
  input  logic [7:0] gmii2_rxd_i,
  input  logic       gmii2_rx_dv_i,
  input  logic       gmii2_rx_er_i,
  output logic [7:0] gmii2_txd_o,
  output logic       gmii2_tx_en_o,
  output logic       gmii2_tx_er_o,

  input  logic       gmii3_rx_clk_i,
  input  logic [7:0] gmii3_rxd_i,
  input  logic       gmii3_rx_dv_i,
  input  logic       gmii3_rx_er_i,
  output logic [7:0] gmii3_txd_o,
  output logic       gmii3_tx_en_o,
  output logic       gmii3_tx_er_o,

  input logic [47:0] cfg_mac_i,                 // of port 0; each further port has the next address
  input logic [31:0] cfg_ip_i,                  // of port 0; each further port has the next address
  input logic [15:0] cfg_udp_port_i,            // to which datagrams come, of all ports
  input logic [15:0] cfg_firmware_wake_min_i,   // cycles, as nanet_firmware
  input logic [15:0] cfg_firmware_wake_span_i,  // as wake_min
  input logic [15:0] cfg_firmware_work_i,       // as wake_min

  // The search's clock and configuration, as rich_seeds; not used without Search.
  input logic        search_clk_i,
  input logic        search_we_i,
  input logic [ 1:0] search_memory_i,
  input logic [15:0] search_addr_i,
  input logic [63:0] search_data_i,

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
  output logic                   dma_arvalid_o,  // dma_ar*: reads of page tables, and what is sent
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

  output logic [0:0] irq_o,

  output logic        result_valid_o,  // one clock: result_o is a program's answer
  output logic [31:0] result_o,

  input  logic        ttc_clk_i,
  input  logic        ttc_start_i,            // one clock: a burst begins
  input  logic [23:0] cfg_release_latency_i,  // clocks of ttc_clk_i
  output logic        trigger_o,
  output logic [ 3:0] trigger_lines_o,
  output logic [31:0] status_released_o,  // these four as nanet_release counts; 0 without Release
  output logic [31:0] status_late_o,      // answers that came when their clock was over
  output logic [31:0] status_early_o,     // answers that came too long before it
  output logic [31:0] status_lost_o,      // answers that found no place

  input logic [63:0] time_cycles_i,  // cycles of clk_i since time zero

  output logic [NumProbes-1:0]      probe_o,      // strobes, by probe_e; for simulation
  output logic [NumProbes-1:0][7:0] probe_tag_o,  // port above the datagram's number modulo 64

  output logic [31:0] status_datagrams_o,     // delivered, of all ports
  output logic [15:0] status_events_o,        // written to host memory, modulo 2^16
  output logic [31:0] status_write_errors_o,  // commands answered with an error

  output logic idle_o  // nothing changes until an input does
);
  if (NumPorts < 1 || NumPorts > 4) begin : gen_ports_check
    $error("nanet_nic: NumPorts is %0d, legal is 1..4", NumPorts);
  end
  logic eth_rst_n;
  sync_reset u_eth_reset (
    .clk_i (eth_clk_i),
    .rst_ni,
    .rst_no(eth_rst_n)
  );

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

  localparam int unsigned MaxPorts = 4;
  logic [MaxPorts-1:0] rx_clk, rx_dv, rx_er, tx_en, tx_er;
  logic [MaxPorts-1:0][7:0] rxd, txd;
  assign rx_clk = {gmii3_rx_clk_i, gmii2_rx_clk_i, gmii1_rx_clk_i, gmii_rx_clk_i};
  assign rx_dv  = {gmii3_rx_dv_i, gmii2_rx_dv_i, gmii1_rx_dv_i, gmii_rx_dv_i};
  assign rx_er  = {gmii3_rx_er_i, gmii2_rx_er_i, gmii1_rx_er_i, gmii_rx_er_i};
  assign rxd    = {gmii3_rxd_i, gmii2_rxd_i, gmii1_rxd_i, gmii_rxd_i};
  assign {gmii3_txd_o, gmii2_txd_o, gmii1_txd_o, gmii_txd_o} = txd;
  assign {gmii3_tx_en_o, gmii2_tx_en_o, gmii1_tx_en_o, gmii_tx_en_o} = tx_en;
  assign {gmii3_tx_er_o, gmii2_tx_er_o, gmii1_tx_er_o, gmii_tx_er_o} = tx_er;

  for (genvar i = 0; i < int'(NumPorts); i++) begin : gen_port
    localparam bit Sends = Send && i == 0;
    nanet_pkg::departed_t port_departed;
    arp_pkg::answer_t     port_answer;
    nanet_port #(
      .Echo     (Echo),
      .Send     (Sends),
      .DataWidth(DataWidth)
    ) u_port (
      .clk_i,
      .rst_ni,
      .eth_clk_i,
      .eth_rst_ni    (eth_rst_n),
      .gmii_rx_clk_i (rx_clk[i]),
      .gmii_rxd_i    (rxd[i]),
      .gmii_rx_dv_i  (rx_dv[i]),
      .gmii_rx_er_i  (rx_er[i]),
      .gmii_txd_o    (txd[i]),
      .gmii_tx_en_o  (tx_en[i]),
      .gmii_tx_er_o  (tx_er[i]),
      .cfg_mac_i     (cfg_mac_i + 48'(i)),
      .cfg_ip_i      (cfg_ip_i + 32'(i)),
      .cfg_port_i    (cfg_udp_port_i),
      .echo_i        (echo[i]),
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
    assign txd[i]   = '0;
    assign tx_en[i] = 1'b0;
    assign tx_er[i] = 1'b0;
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

  nanet_ctrl_pkg::release_state_t release_state;
  nanet_core #(
    .NumPorts (NumPorts),
    .DataWidth(DataWidth),
    .WordWidth(32),
    .Depth    (Depth),
    .Stores   (Stores),
    .Firmware (Firmware),
    .Regions  (Regions),
    .Search   (Search),
    .Send     (Send),
    .Merge    (Merge),
    .Release  (Release),
    .Window   (Window)
  ) u_core (
    .clk_i,
    .rst_ni,
    .time_cycles_i,
    .search_clk_i,
    .search_i      ({search_we_i, search_memory_i, search_addr_i, search_data_i}),
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
    .release_i     (release_state),
    .probe_o,
    .probe_tag_o,
    .status_datagrams_o,
    .status_events_o,
    .status_write_errors_o,
    .idle_o        (core_idle)
  );

  // ---------------------------------------------------------------- answers out
  logic released;
  if (Release) begin : gen_release
    logic ttc_rst_n, unused_settled;
    sync_reset u_ttc_reset (
      .clk_i (ttc_clk_i),
      .rst_ni,
      .rst_no(ttc_rst_n)
    );
    nanet_release u_release (
      .clk_i,
      .rst_ni,
      .result_valid_i(result_valid_o),
      .result_i      (result_o),
      .state_o       (release_state),
      .ttc_clk_i,
      .ttc_rst_ni    (ttc_rst_n),
      .ttc_start_i,
      .latency_i     (cfg_release_latency_i),
      .trigger_o,
      .lines_o       (trigger_lines_o),
      .settled_o     (unused_settled)
    );
    // Its time counts whatever else happens.
    assign released = 1'b0;
  end else begin : gen_no_release
    assign {trigger_o, trigger_lines_o} = '0;
    assign release_state = '0;
    assign released = 1'b1;
    logic unused_ttc;
    assign unused_ttc = ^{ttc_clk_i, ttc_start_i, cfg_release_latency_i};
  end
  assign {status_released_o, status_late_o, status_early_o, status_lost_o} = release_state;
  assign idle_o = core_idle && (&port_idle) && released;

  logic unused;
  assign unused = ^{rx_clk, rx_dv, rx_er, rxd, bar_awlen_i, bar_awburst_i, bar_arburst_i,
                    dma_bid_i, dma_rid_i};
endmodule
