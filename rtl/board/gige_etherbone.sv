// SPDX-License-Identifier: SHL-2.1
/// Device: Wishbone slaves on Gigabit Ethernet through Etherbone.
///
/// GMII -> gige_udp -> etherbone_udp -> wb_xbar -> RAM, SDB table, ECA time, TLU, control registers.
///
///   Clocks      clk_i 125 MHz for everything but the receive pins, which follow gmii_rx_clk_i
///   Latency     last FCS byte on the pins to first preamble byte on the pins: at most 12 cycles for
///               any number of reads of latency-1 slaves (docs/explanation/cores/etherbone.md)
///   Admission   reads run while their frame arrives; writes after its frame check
///   Parameters  Timeout clocks until a bus operation is answered err; Admission as etherbone_pkg;
///               SilentSlave 1 adds a slave that never answers, to test just that
///   Not done    jumbo frames, VLAN, IPv6, DHCP: the address comes from cfg_*_i
module gige_etherbone
  import gige_etherbone_pkg::*;
#(
  parameter int unsigned Timeout = 12_500,
  parameter etherbone_pkg::admission_e Admission = etherbone_pkg::ReadsEarly,
  parameter bit SilentSlave = 1'b0,
  parameter int unsigned NumTriggers = 4
) (
  input logic clk_i,
  input logic rst_ni,

  input  logic       gmii_rx_clk_i,
  input  logic [7:0] gmii_rxd_i,
  input  logic       gmii_rx_dv_i,
  input  logic       gmii_rx_er_i,
  output logic [7:0] gmii_txd_o,
  output logic       gmii_tx_en_o,
  output logic       gmii_tx_er_o,

  input logic [47:0] cfg_mac_i,
  input logic [31:0] cfg_ip_i,
  input logic [15:0] cfg_udp_port_i,

  input logic [63:0] time_ns_i,
  input logic [NumTriggers-1:0] trigger_i,

  output logic [NumProbes-1:0]      probe_o,
  output logic [NumProbes-1:0][7:0] probe_tag_o,

  output logic [31:0] status_rx_good_o,
  output logic [31:0] status_rx_other_o,
  output logic [31:0] status_rx_busy_o,
  output logic [31:0] status_drop_fcs_o,
  output logic [31:0] status_drop_size_o,
  output logic [31:0] status_drop_mac_o,
  output logic [31:0] status_drop_ip_o,
  output logic [31:0] status_drop_udp_o,
  output logic [31:0] status_drop_port_o,
  output logic [31:0] status_drop_denied_o,
  output logic [31:0] status_drop_refused_o,
  output logic [31:0] status_drop_align_o,
  output logic [31:0] status_drop_overflow_o,
  output logic [31:0] status_drop_malformed_o,
  output logic [31:0] status_arp_replies_o,
  output logic [31:0] status_icmp_replies_o,
  output logic [31:0] status_tx_frames_o,
  output logic [31:0] status_eb_records_o,
  output logic [31:0] status_eb_bus_errors_o,
  output logic [31:0] status_eb_timeouts_o,

  output logic idle_o
);
  localparam int unsigned NumSlaves = 6;
  localparam int unsigned NumSdb = 4;

  // ---------------------------------------------------------------- Ethernet
  logic rx_start, rx_valid, rx_end, rx_good, rx_refuse, tx_valid, tx_ready, tx_next;
  eth_pkg::udp_meta_t rx_meta, tx_meta;
  logic [31:0] rx_data, tx_data;
  logic [15:0] tx_sum;
  eth_pkg::eth_counters_t eth_count;
  logic [eth_pkg::NumEthProbes-1:0] eth_probe;
  logic [eth_pkg::NumEthProbes-1:0][7:0] eth_probe_tag;
  gige_ctrl_pkg::allow_t [gige_ctrl_pkg::NumAllow-1:0] allow;
  logic eth_idle, eb_idle, tlu_idle;

  gige_udp #(
    .NumAllow(gige_ctrl_pkg::NumAllow)
  ) u_eth (
    .clk_i,
    .rst_ni,
    .gmii_rx_clk_i,
    .gmii_rxd_i,
    .gmii_rx_dv_i,
    .gmii_rx_er_i,
    .gmii_txd_o,
    .gmii_tx_en_o,
    .gmii_tx_er_o,
    .cfg_mac_i,
    .cfg_ip_i,
    .cfg_port_i (cfg_udp_port_i),
    .cfg_allow_i(allow),
    .rx_start_o (rx_start),
    .rx_meta_o  (rx_meta),
    .rx_valid_o (rx_valid),
    .rx_data_o  (rx_data),
    .rx_end_o   (rx_end),
    .rx_good_o  (rx_good),
    .rx_refuse_i(rx_refuse),
    .tx_valid_i (tx_valid),
    .tx_ready_o (tx_ready),
    .tx_meta_i  (tx_meta),
    .tx_sum_i   (tx_sum),
    .tx_data_i  (tx_data),
    .tx_next_o  (tx_next),
    .counters_o (eth_count),
    .probe_o    (eth_probe),
    .probe_tag_o(eth_probe_tag),
    .idle_o     (eth_idle)
  );

  // ---------------------------------------------------------------- Etherbone
  logic cyc, stb, we, stall, ack, err;
  logic [31:0] adr, dat_w, dat_r;
  logic [3:0] sel;
  logic malformed, overflow, record, bus_error, timeout, first_word, operation, whole;
  logic [7:0] engine_tag, whole_tag;

  etherbone_udp #(
    .Admission(Admission),
    .Timeout  (Timeout)
  ) u_etherbone (
    .clk_i,
    .rst_ni,
    .rx_start_i   (rx_start),
    .rx_meta_i    (rx_meta),
    .rx_valid_i   (rx_valid),
    .rx_data_i    (rx_data),
    .rx_end_i     (rx_end),
    .rx_good_i    (rx_good),
    .rx_refuse_o  (rx_refuse),
    .tx_valid_o   (tx_valid),
    .tx_ready_i   (tx_ready),
    .tx_meta_o    (tx_meta),
    .tx_sum_o     (tx_sum),
    .tx_data_o    (tx_data),
    .tx_next_i    (tx_next),
    .wb_cyc_o     (cyc),
    .wb_stb_o     (stb),
    .wb_we_o      (we),
    .wb_adr_o     (adr),
    .wb_sel_o     (sel),
    .wb_dat_o     (dat_w),
    .wb_stall_i   (stall),
    .wb_ack_i     (ack),
    .wb_err_i     (err),
    .wb_dat_i     (dat_r),
    .sdb_address_i(SdbBase),
    .own_mac_i    (cfg_mac_i),
    .own_ip_i     (cfg_ip_i),
    .own_port_i   (cfg_udp_port_i),
    .malformed_o  (malformed),
    .overflow_o   (overflow),
    .record_o     (record),
    .bus_error_o  (bus_error),
    .timeout_o    (timeout),
    .first_word_o (first_word),
    .operation_o  (operation),
    .engine_tag_o (engine_tag),
    .whole_o      (whole),
    .whole_tag_o  (whole_tag),
    .idle_o       (eb_idle)
  );

  // ---------------------------------------------------------------- Wishbone
  logic [NumSlaves-1:0] s_cyc, s_stb, s_we, s_stall, s_ack, s_err;
  logic [NumSlaves-1:0][31:0] s_adr, s_dat_w, s_dat_r;
  logic [NumSlaves-1:0][3:0] s_sel;

  logic x_cyc, x_stb, x_we, x_stall, x_ack, x_err;
  logic [31:0] x_adr, x_dat_w, x_dat_r;
  logic [3:0] x_sel;

  // The crossbar is combinational: both ways through it end in registers.
  wb_slice u_slice (
    .clk_i,
    .rst_ni,
    .m_cyc_i  (cyc),
    .m_stb_i  (stb),
    .m_we_i   (we),
    .m_adr_i  (adr),
    .m_sel_i  (sel),
    .m_dat_i  (dat_w),
    .m_stall_o(stall),
    .m_ack_o  (ack),
    .m_err_o  (err),
    .m_dat_o  (dat_r),
    .s_cyc_o  (x_cyc),
    .s_stb_o  (x_stb),
    .s_we_o   (x_we),
    .s_adr_o  (x_adr),
    .s_sel_o  (x_sel),
    .s_dat_o  (x_dat_w),
    .s_stall_i(x_stall),
    .s_ack_i  (x_ack),
    .s_err_i  (x_err),
    .s_dat_i  (x_dat_r)
  );

  wb_xbar #(
    .NumMasters(1),
    .NumSlaves (NumSlaves),
    .Base      ({SilentBase, CtrlBase, TluBase, EcaBase, SdbBase, RamBase}),
    .Mask      ({NumSlaves{WindowMask}})
  ) u_xbar (
    .clk_i,
    .rst_ni,
    .m_cyc_i  (x_cyc),
    .m_stb_i  (x_stb),
    .m_we_i   (x_we),
    .m_adr_i  (x_adr),
    .m_sel_i  (x_sel),
    .m_dat_i  (x_dat_w),
    .m_stall_o(x_stall),
    .m_ack_o  (x_ack),
    .m_err_o  (x_err),
    .m_dat_o  (x_dat_r),
    .s_cyc_o  (s_cyc),
    .s_stb_o  (s_stb),
    .s_we_o   (s_we),
    .s_adr_o  (s_adr),
    .s_sel_o  (s_sel),
    .s_dat_o  (s_dat_w),
    .s_stall_i(s_stall),
    .s_ack_i  (s_ack),
    .s_err_i  (s_err),
    .s_dat_i  (s_dat_r)
  );

  wb_ram #(
    .Depth     (RamBytes / 4),
    .Registered(1'b1)
  ) u_ram (
    .clk_i,
    .rst_ni,
    .wb_cyc_i  (s_cyc[0]),
    .wb_stb_i  (s_stb[0]),
    .wb_we_i   (s_we[0]),
    .wb_adr_i  (s_adr[0]),
    .wb_sel_i  (s_sel[0]),
    .wb_dat_i  (s_dat_w[0]),
    .wb_stall_o(s_stall[0]),
    .wb_ack_o  (s_ack[0]),
    .wb_err_o  (s_err[0]),
    .wb_dat_o  (s_dat_r[0])
  );

  wb_sdb_rom #(
    .NumDevices(NumSdb),
    .Devices({
      wb_pkg::sdb_device(RamBase, RamBase + RamBytes - 1, wb_pkg::SdbWidth8To32, 8'd1, 8'd0,
                         wb_pkg::ProductRam),
      wb_pkg::sdb_device(EcaBase, EcaBase + 32'hFF, wb_pkg::SdbWidth32, 8'd1, 8'd0,
                         wb_pkg::ProductEca),
      wb_pkg::sdb_device(TluBase, TluBase + 32'hFF, wb_pkg::SdbWidth32, 8'd1, 8'd0,
                         wb_pkg::ProductTlu),
      wb_pkg::sdb_device(CtrlBase, CtrlBase + 32'hFFF, wb_pkg::SdbWidth32, 8'd1, 8'd0,
                         wb_pkg::ProductGigeCtrl)
    }),
    .BusLast(BusLast)
  ) u_sdb (
    .clk_i,
    .rst_ni,
    .wb_cyc_i  (s_cyc[1]),
    .wb_stb_i  (s_stb[1]),
    .wb_we_i   (s_we[1]),
    .wb_adr_i  (s_adr[1]),
    .wb_sel_i  (s_sel[1]),
    .wb_dat_i  (s_dat_w[1]),
    .wb_stall_o(s_stall[1]),
    .wb_ack_o  (s_ack[1]),
    .wb_err_o  (s_err[1]),
    .wb_dat_o  (s_dat_r[1])
  );

  wb_eca_time u_eca (
    .clk_i,
    .rst_ni,
    .time_ns_i,
    .wb_cyc_i  (s_cyc[2]),
    .wb_stb_i  (s_stb[2]),
    .wb_we_i   (s_we[2]),
    .wb_adr_i  (s_adr[2]),
    .wb_sel_i  (s_sel[2]),
    .wb_dat_i  (s_dat_w[2]),
    .wb_stall_o(s_stall[2]),
    .wb_ack_o  (s_ack[2]),
    .wb_err_o  (s_err[2]),
    .wb_dat_o  (s_dat_r[2])
  );

  logic tlu_irq;
  wb_tlu #(
    .NumChannels(NumTriggers)
  ) u_tlu (
    .clk_i,
    .rst_ni,
    .time_ns_i,
    .trigger_i,
    .irq_o     (tlu_irq),
    .idle_o    (tlu_idle),
    .wb_cyc_i  (s_cyc[3]),
    .wb_stb_i  (s_stb[3]),
    .wb_we_i   (s_we[3]),
    .wb_adr_i  (s_adr[3]),
    .wb_sel_i  (s_sel[3]),
    .wb_dat_i  (s_dat_w[3]),
    .wb_stall_o(s_stall[3]),
    .wb_ack_o  (s_ack[3]),
    .wb_err_o  (s_err[3]),
    .wb_dat_o  (s_dat_r[3])
  );

  gige_ctrl_pkg::stats_t stats;
  wb_gige_ctrl u_ctrl (
    .clk_i,
    .rst_ni,
    .mac_i     (cfg_mac_i),
    .ipv4_i    (cfg_ip_i),
    .udp_port_i(cfg_udp_port_i),
    .stats_i   (stats),
    .allow_o   (allow),
    .wb_cyc_i  (s_cyc[4]),
    .wb_stb_i  (s_stb[4]),
    .wb_we_i   (s_we[4]),
    .wb_adr_i  (s_adr[4]),
    .wb_sel_i  (s_sel[4]),
    .wb_dat_i  (s_dat_w[4]),
    .wb_stall_o(s_stall[4]),
    .wb_ack_o  (s_ack[4]),
    .wb_err_o  (s_err[4]),
    .wb_dat_o  (s_dat_r[4])
  );

  // Takes every operation and never answers; without it, answers err like an unmapped address.
  logic silent_err_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) silent_err_q <= 1'b0;
    else silent_err_q <= !SilentSlave && s_cyc[5] && s_stb[5];
  end
  assign s_stall[5] = 1'b0;
  assign s_ack[5] = 1'b0;
  assign s_err[5] = silent_err_q;
  assign s_dat_r[5] = '0;

  // ---------------------------------------------------------------- counters and probes
  // Strobes are registered on their way to the counters: they come late in their cycle.
  typedef struct packed {
    logic overflow;
    logic malformed;
    logic record;
    logic bus_error;
    logic timeout;
  } events_t;
  events_t events_q;
  logic [31:0] overflow_q, malformed_q, record_q, bus_error_q, timeout_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      events_q    <= '0;
      overflow_q  <= '0;
      malformed_q <= '0;
      record_q    <= '0;
      bus_error_q <= '0;
      timeout_q   <= '0;
    end else begin
      events_q    <= '{overflow, malformed, record, bus_error, timeout};
      overflow_q  <= overflow_q + 32'(events_q.overflow);
      malformed_q <= malformed_q + 32'(events_q.malformed);
      record_q    <= record_q + 32'(events_q.record);
      bus_error_q <= bus_error_q + 32'(events_q.bus_error);
      timeout_q   <= timeout_q + 32'(events_q.timeout);
    end
  end

  // A frame that the service could not store counts as received well by the stack, and as an
  // overflow here.
  logic [31:0] drop_overflow_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) drop_overflow_q <= '0;
    else drop_overflow_q <= eth_count.rx_overflow + overflow_q;
  end

  assign stats = '{
      rx_good: eth_count.rx_good,
      drop_fcs: eth_count.rx_fcs,
      drop_size: eth_count.rx_length,
      drop_mac: eth_count.rx_filtered,
      drop_ip: eth_count.rx_ip,
      drop_udp: eth_count.rx_l4,
      drop_port: eth_count.rx_port,
      drop_denied: eth_count.rx_denied,
      drop_refused: eth_count.rx_refused,
      drop_align: eth_count.rx_unaligned,
      drop_overflow: drop_overflow_q,
      drop_malformed: malformed_q,
      arp_replies: eth_count.tx_arp,
      icmp_replies: eth_count.tx_icmp,
      tx_frames: eth_count.tx_frames,
      eb_records: record_q,
      eb_bus_errors: bus_error_q,
      eb_timeouts: timeout_q
  };
  assign status_rx_good_o        = stats.rx_good;
  assign status_rx_other_o       = eth_count.rx_other;
  assign status_rx_busy_o        = eth_count.rx_busy;
  assign status_drop_fcs_o       = stats.drop_fcs;
  assign status_drop_size_o      = stats.drop_size;
  assign status_drop_mac_o       = stats.drop_mac;
  assign status_drop_ip_o        = stats.drop_ip;
  assign status_drop_udp_o       = stats.drop_udp;
  assign status_drop_port_o      = stats.drop_port;
  assign status_drop_denied_o    = stats.drop_denied;
  assign status_drop_refused_o   = stats.drop_refused;
  assign status_drop_align_o     = stats.drop_align;
  assign status_drop_overflow_o  = stats.drop_overflow;
  assign status_drop_malformed_o = stats.drop_malformed;
  assign status_arp_replies_o    = stats.arp_replies;
  assign status_icmp_replies_o   = stats.icmp_replies;
  assign status_tx_frames_o      = stats.tx_frames;
  assign status_eb_records_o     = stats.eb_records;
  assign status_eb_bus_errors_o  = stats.eb_bus_errors;
  assign status_eb_timeouts_o    = stats.eb_timeouts;

  assign probe_o[MacRxFirst]       = eth_probe[eth_pkg::MacRxFirst];
  assign probe_o[MacRxLast]        = eth_probe[eth_pkg::MacRxLast];
  assign probe_o[MacRxVerdict]     = eth_probe[eth_pkg::MacRxVerdict];
  assign probe_o[EbFirstWord]      = first_word;
  assign probe_o[WbIssue]          = operation;
  assign probe_o[EbReplyWhole]     = whole;
  assign probe_o[MacTxFirst]       = eth_probe[eth_pkg::MacTxFirst];
  assign probe_o[MacTxLast]        = eth_probe[eth_pkg::MacTxLast];
  assign probe_tag_o[MacRxFirst]   = eth_probe_tag[eth_pkg::MacRxFirst];
  assign probe_tag_o[MacRxLast]    = eth_probe_tag[eth_pkg::MacRxLast];
  assign probe_tag_o[MacRxVerdict] = eth_probe_tag[eth_pkg::MacRxVerdict];
  assign probe_tag_o[EbFirstWord]  = engine_tag;
  assign probe_tag_o[WbIssue]      = engine_tag;
  assign probe_tag_o[EbReplyWhole] = whole_tag;
  assign probe_tag_o[MacTxFirst]   = eth_probe_tag[eth_pkg::MacTxFirst];
  assign probe_tag_o[MacTxLast]    = eth_probe_tag[eth_pkg::MacTxLast];

  // The bus is idle when the engine is; two more cycles settle what it counted last.
  logic settled;
  assign settled = events_q == '0 && drop_overflow_q == eth_count.rx_overflow + overflow_q;
  assign idle_o  = eth_idle && eb_idle && tlu_idle && settled && !silent_err_q;

  logic unused;
  assign unused = ^{tlu_irq, s_we[5], s_adr[5], s_dat_w[5], s_sel[5]};
endmodule
