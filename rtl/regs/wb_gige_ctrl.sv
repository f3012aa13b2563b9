// SPDX-License-Identifier: SHL-2.1
/// Control and status registers of a Gigabit Ethernet device, as a Wishbone slave.
///
/// Map: docs/reference/registers.md, "Gigabit Ethernet control". The block behind it is generated
/// from rtl/regs/gige_ctrl.rdl; this module gives it plain ports.
///
///   Handshake   never stalls; ack one cycle after the operation, err for an address or direction
///               that the map lacks
///   Latency     1 cycle; a read returns its input as it was at the edge that took the operation
///   Throughput  one operation a cycle
///   Idle        nothing changes without an operation
///   Reset       the allow-list is empty: every sender passes
module wb_gige_ctrl (
  input  logic                                             clk_i,
  input  logic                                             rst_ni,
  input  logic [47:0]                                      mac_i,  // readable, first byte highest
  input  logic [31:0]                                      ipv4_i,  // readable, first byte highest
  input  logic [31:0]                                      netmask_i,  // readable
  input  logic [15:0]                                      udp_port_i,  // readable
  input  gige_ctrl_pkg::stats_t                            stats_i,  // counters, readable
  output gige_ctrl_pkg::allow_t [gige_ctrl_pkg::NumAllow-1:0] allow_o,  // allowed senders
  input  logic                                             wb_cyc_i,  // wb_*: Wishbone B4 pipelined
  input  logic                                             wb_stb_i,
  input  logic                                             wb_we_i,
  input  logic [31:0]                                      wb_adr_i,  // of a byte
  input  logic [3:0]                                       wb_sel_i,
  input  logic [31:0]                                      wb_dat_i,
  output logic                                             wb_stall_o,
  output logic                                             wb_ack_o,  // one ack or err an operation
  output logic                                             wb_err_o,
  output logic [31:0]                                      wb_dat_o
);
  gige_ctrl_regs_pkg::gige_ctrl__in_t  hwif_in;
  gige_ctrl_regs_pkg::gige_ctrl__out_t hwif_out;

  assign hwif_in.MAC_HI.value.next         = mac_i[47:32];
  assign hwif_in.MAC_LO.value.next         = mac_i[31:0];
  assign hwif_in.IPV4.value.next           = ipv4_i;
  assign hwif_in.UDP_PORT.value.next       = udp_port_i;
  assign hwif_in.NETMASK.value.next        = netmask_i;
  assign hwif_in.RX_GOOD.value.next        = stats_i.rx_good;
  assign hwif_in.DROP_FCS.value.next       = stats_i.drop_fcs;
  assign hwif_in.DROP_SIZE.value.next      = stats_i.drop_size;
  assign hwif_in.DROP_MAC.value.next       = stats_i.drop_mac;
  assign hwif_in.DROP_IP.value.next        = stats_i.drop_ip;
  assign hwif_in.DROP_UDP.value.next       = stats_i.drop_udp;
  assign hwif_in.DROP_PORT.value.next      = stats_i.drop_port;
  assign hwif_in.DROP_DENIED.value.next    = stats_i.drop_denied;
  assign hwif_in.DROP_REFUSED.value.next   = stats_i.drop_refused;
  assign hwif_in.DROP_ALIGN.value.next     = stats_i.drop_align;
  assign hwif_in.DROP_OVERFLOW.value.next  = stats_i.drop_overflow;
  assign hwif_in.DROP_MALFORMED.value.next = stats_i.drop_malformed;
  assign hwif_in.ARP_REPLIES.value.next    = stats_i.arp_replies;
  assign hwif_in.ICMP_REPLIES.value.next   = stats_i.icmp_replies;
  assign hwif_in.TX_FRAMES.value.next      = stats_i.tx_frames;
  assign hwif_in.EB_RECORDS.value.next     = stats_i.eb_records;
  assign hwif_in.EB_BUS_ERRORS.value.next  = stats_i.eb_bus_errors;
  assign hwif_in.EB_TIMEOUTS.value.next    = stats_i.eb_timeouts;
  assign hwif_in.DROP_BROADCAST.value.next = stats_i.drop_broadcast;

  for (genvar i = 0; i < gige_ctrl_pkg::NumAllow; i++) begin : gen_allow
    assign allow_o[i].enable = hwif_out.ALLOW[i].CTRL.enable.value;
    assign allow_o[i].ip     = hwif_out.ALLOW[i].IP.value.value;
    assign allow_o[i].mask   = hwif_out.ALLOW[i].MASK.value.value;
  end

  gige_ctrl_regs u_regs (
    .clk   (clk_i),
    .arst_n(rst_ni),
    .wb_cyc_i,
    .wb_stb_i,
    .wb_we_i,
    .wb_adr_i,
    .wb_sel_i,
    .wb_dat_i,
    .wb_stall_o,
    .wb_ack_o,
    .wb_err_o,
    .wb_dat_o,
    .hwif_in,
    .hwif_out
  );
endmodule
