// SPDX-License-Identifier: SHL-2.1
/// Device: Wishbone slaves on Gigabit Ethernet through Etherbone.
///
/// gige_master (GMII -> UDP -> Etherbone) -> board_bus: RAM, SDB table, ECA time, TLU, control.
///
///   Clocks      clk_i 125 MHz for everything but the receive pins, which follow gmii_rx_clk_i
///   Latency     last FCS byte on the pins to first preamble byte on the pins: at most 12 cycles
///               for any number of reads of latency-1 slaves (docs/explanation/cores/etherbone.md)
///   Dialect     cfg_dialect_i: Etherbone as published, or LiteEth's
///   Admission   reads run while their frame arrives; writes after its frame check
///   Parameters  Timeout clocks until a bus operation is answered err; Admission as etherbone_pkg;
///               SilentSlave 1 adds a slave that never answers, to test just that
///   Broadcast   probes are answered at 255.255.255.255 and at the broadcast address of the subnet
///               that cfg_netmask_i gives; a broadcast never reads or writes
///   Not done    jumbo frames, sending with a VLAN tag, IPv6, DHCP: the address comes from cfg_*_i
module gige_etherbone
  import gige_etherbone_pkg::*;
  import board_bus_pkg::SdbBase;
#(
  parameter int unsigned Timeout = 12_500,
  parameter etherbone_pkg::admission_e Admission = etherbone_pkg::ReadsEarly,
  parameter bit SilentSlave = 1'b0,
  parameter int unsigned NumTriggers = 4
) (
  input logic clk_i,
  input logic rst_ni,

  input  logic       gmii_rx_clk_i,  // from the PHY, 125 MHz, of the gmii_rx* pins
  input  logic [7:0] gmii_rxd_i,     // GMII, as IEEE 802.3
  input  logic       gmii_rx_dv_i,   // a byte of a frame, preamble included
  input  logic       gmii_rx_er_i,   // inside a frame: it is dropped
  output logic [7:0] gmii_txd_o,     // in clk_i, as all gmii_tx*
  output logic       gmii_tx_en_o,   // a byte of a frame, preamble included
  output logic       gmii_tx_er_o,   // low

  input logic [47:0] cfg_mac_i,         // first byte in bits 47:40; all cfg_* are constant
  input logic [31:0] cfg_ip_i,          // IPv4, first byte in bits 31:24
  input logic [31:0] cfg_netmask_i,     // all ones: no broadcast address but 255.255.255.255
  input logic [15:0] cfg_udp_port_i,    // at which Etherbone is served
  input logic        cfg_dialect_i,     // 0: as published (OHWR), 1: LiteEth's
  input logic [15:0] cfg_reply_port_i,  // 0: the request's

  input logic [63:0] time_ns_i,             // TAI in ns
  input logic [NumTriggers-1:0] trigger_i,  // asynchronous; edges are latched, a channel a bit

  output logic [NumProbes-1:0]      probe_o,      // strobes, by probe_e; for simulation
  output logic [NumProbes-1:0][7:0] probe_tag_o,  // running number of the received frame

  output logic [31:0] status_rx_good_o,         // datagrams, ARP and ping; all status_* wrap
  output logic [31:0] status_rx_other_o,        // whole and for us, but nothing here speaks it
  output logic [31:0] status_rx_busy_o,         // ARP or ping while an earlier one waits
  output logic [31:0] status_drop_fcs_o,        // wrong FCS, or rx_er
  output logic [31:0] status_drop_size_o,       // under 64 or over 1518 bytes, or without end
  output logic [31:0] status_drop_mac_o,        // for another station
  output logic [31:0] status_drop_ip_o,         // IPv4 header: version, options, check sum
  output logic [31:0] status_drop_udp_o,        // UDP or ICMP: check sum or length
  output logic [31:0] status_drop_port_o,       // UDP to another port
  output logic [31:0] status_drop_denied_o,     // sender not on the allow-list
  output logic [31:0] status_drop_refused_o,    // the service had no room
  output logic [31:0] status_drop_align_o,      // payload is no multiple of 4 bytes
  output logic [31:0] status_drop_overflow_o,   // a buffer was full
  output logic [31:0] status_drop_malformed_o,  // no Etherbone of the dialect
  output logic [31:0] status_arp_replies_o,     // sent
  output logic [31:0] status_icmp_replies_o,    // sent
  output logic [31:0] status_tx_frames_o,       // all frames sent
  output logic [31:0] status_eb_records_o,      // Etherbone records executed
  output logic [31:0] status_eb_bus_errors_o,   // operations answered err
  output logic [31:0] status_eb_timeouts_o,     // bus cycles given up after Timeout
  output logic [31:0] status_drop_broadcast_o,  // broadcasts that are no probe

  output logic idle_o  // nothing changes until an input does
);
  // ---------------------------------------------------------------- Etherbone on Ethernet
  logic cyc, stb, we, stall, ack, err;
  logic [31:0] adr, dat_w, dat_r;
  logic [3:0] sel;
  eth_pkg::eth_counters_t eth_count;
  etherbone_pkg::events_t events;
  gige_ctrl_pkg::allow_t [gige_ctrl_pkg::NumAllow-1:0] allow;
  logic master_idle, bus_idle;

  gige_master #(
    .NumAllow (gige_ctrl_pkg::NumAllow),
    .Timeout  (Timeout),
    .Admission(Admission)
  ) u_master (
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
    .cfg_netmask_i,
    .cfg_udp_port_i,
    .cfg_dialect_i,
    .cfg_reply_port_i,
    .cfg_allow_i  (allow),
    .sdb_address_i(SdbBase),
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
    .counters_o   (eth_count),
    .events_o     (events),
    .probe_o,
    .probe_tag_o,
    .idle_o       (master_idle)
  );

  // ---------------------------------------------------------------- Wishbone
  logic c_cyc, c_stb, c_we, c_stall, c_ack, c_err;
  logic [31:0] c_adr, c_dat_w, c_dat_r;
  logic [3:0] c_sel;

  board_bus #(
    .CtrlProduct(wb_pkg::ProductGigeCtrl),
    .SilentSlave(SilentSlave),
    .NumTriggers(NumTriggers)
  ) u_bus (
    .clk_i,
    .rst_ni,
    .time_ns_i,
    .trigger_i,
    .wb_i  ({cyc, stb, we, adr, sel, dat_w}),
    .wb_o  ({stall, ack, err, dat_r}),
    .ctrl_o({c_cyc, c_stb, c_we, c_adr, c_sel, c_dat_w}),
    .ctrl_i({c_stall, c_ack, c_err, c_dat_r}),
    .idle_o(bus_idle)
  );

  gige_ctrl_pkg::stats_t stats;
  wb_gige_ctrl u_ctrl (
    .clk_i,
    .rst_ni,
    .mac_i     (cfg_mac_i),
    .ipv4_i    (cfg_ip_i),
    .netmask_i (cfg_netmask_i),
    .udp_port_i(cfg_udp_port_i),
    .stats_i   (stats),
    .allow_o   (allow),
    .wb_cyc_i  (c_cyc),
    .wb_stb_i  (c_stb),
    .wb_we_i   (c_we),
    .wb_adr_i  (c_adr),
    .wb_sel_i  (c_sel),
    .wb_dat_i  (c_dat_w),
    .wb_stall_o(c_stall),
    .wb_ack_o  (c_ack),
    .wb_err_o  (c_err),
    .wb_dat_o  (c_dat_r)
  );

  // ---------------------------------------------------------------- counters
  // Strobes are timing-critical: registered before the counters.
  etherbone_pkg::events_t events_q;
  logic [31:0] overflow_q, malformed_q, broadcast_q, record_q, bus_error_q, timeout_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      events_q    <= '0;
      overflow_q  <= '0;
      malformed_q <= '0;
      broadcast_q <= '0;
      record_q    <= '0;
      bus_error_q <= '0;
      timeout_q   <= '0;
    end else begin
      events_q    <= events;
      overflow_q  <= overflow_q + 32'(events_q.overflow);
      malformed_q <= malformed_q + 32'(events_q.malformed);
      broadcast_q <= broadcast_q + 32'(events_q.broadcast);
      record_q    <= record_q + 32'(events_q.record);
      bus_error_q <= bus_error_q + 32'(events_q.bus_error);
      timeout_q   <= timeout_q + 32'(events_q.timeout);
    end
  end

  // A frame that the service could not store counts as received correctly by the stack, and as an
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
      eb_timeouts: timeout_q,
      drop_broadcast: broadcast_q
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
  assign status_drop_broadcast_o = stats.drop_broadcast;

  // The bus is idle when the engine is; two more cycles settle its last counts.
  logic settled;
  assign settled = events_q == '0 && drop_overflow_q == eth_count.rx_overflow + overflow_q;
  assign idle_o  = master_idle && bus_idle && settled;
endmodule
