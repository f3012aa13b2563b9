// SPDX-License-Identifier: SHL-2.1
/// All Wishbone slaves side by side, each on its own port, so that one build serves them all.
module wb_slaves_bench (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        ram_cyc_i, ram_stb_i, ram_we_i,
  input  logic [31:0] ram_adr_i, ram_dat_i,
  input  logic [3:0]  ram_sel_i,
  output logic        ram_stall_o, ram_ack_o, ram_err_o,
  output logic [31:0] ram_dat_o,
  input  logic        sdb_cyc_i, sdb_stb_i, sdb_we_i,
  input  logic [31:0] sdb_adr_i, sdb_dat_i,
  input  logic [3:0]  sdb_sel_i,
  output logic        sdb_stall_o, sdb_ack_o, sdb_err_o,
  output logic [31:0] sdb_dat_o,
  input  logic        late_cyc_i, late_stb_i, late_we_i,
  input  logic [31:0] late_adr_i, late_dat_i,
  input  logic [3:0]  late_sel_i,
  output logic        late_stall_o, late_ack_o, late_err_o,
  output logic [31:0] late_dat_o,
  input  logic        eca_cyc_i, eca_stb_i, eca_we_i,
  input  logic [31:0] eca_adr_i, eca_dat_i,
  input  logic [3:0]  eca_sel_i,
  output logic        eca_stall_o, eca_ack_o, eca_err_o,
  output logic [31:0] eca_dat_o,
  input  logic        tlu_cyc_i, tlu_stb_i, tlu_we_i,
  input  logic [31:0] tlu_adr_i, tlu_dat_i,
  input  logic [3:0]  tlu_sel_i,
  output logic        tlu_stall_o, tlu_ack_o, tlu_err_o,
  output logic [31:0] tlu_dat_o,
  input  logic        ctl_cyc_i, ctl_stb_i, ctl_we_i,
  input  logic [31:0] ctl_adr_i, ctl_dat_i,
  input  logic [3:0]  ctl_sel_i,
  output logic        ctl_stall_o, ctl_ack_o, ctl_err_o,
  output logic [31:0] ctl_dat_o,
  input  logic [63:0] time_ns_i,
  input  logic [2:0]  trigger_i,
  output logic        irq_o,
  output logic        idle_o,
  input  logic [47:0] mac_i,
  input  logic [31:0] ipv4_i, netmask_i,
  input  logic [15:0] udp_port_i,
  input  gige_ctrl_pkg::stats_t       stats_i,
  output gige_ctrl_pkg::allow_t [3:0] allow_o
);
  wb_ram #(.Depth(64)) u_ram (
    .clk_i, .rst_ni,
    .wb_cyc_i(ram_cyc_i), .wb_stb_i(ram_stb_i), .wb_we_i(ram_we_i), .wb_adr_i(ram_adr_i),
    .wb_sel_i(ram_sel_i), .wb_dat_i(ram_dat_i), .wb_stall_o(ram_stall_o), .wb_ack_o(ram_ack_o),
    .wb_err_o(ram_err_o), .wb_dat_o(ram_dat_o)
  );
  localparam wb_pkg::sdb_record_t [3:0] Devices = {
    wb_pkg::sdb_device(32'h0001_0000, 32'h0001_00FF, wb_pkg::SdbWidth32, 8'd1, 8'd2,
                       wb_pkg::ProductEca),
    wb_pkg::sdb_device(32'h0002_0000, 32'h0002_00FF, wb_pkg::SdbWidth8To32, 8'd1, 8'd1,
                       wb_pkg::ProductTlu),
    wb_pkg::sdb_bridge(32'h0004_0000, 32'h0007_FFFF, 32'h0000_1000, wb_pkg::ProductCrossbar),
    wb_pkg::sdb_device(32'h0003_0000, 32'h0003_0FFF, wb_pkg::SdbWidth8To32, 8'd1, 8'd0,
                       wb_pkg::ProductRam)
  };
  wb_sdb_rom #(
    .NumDevices(4),
    .BusLast(32'h000F_FFFF),
    .Devices(Devices)
  ) u_sdb (
    .clk_i, .rst_ni,
    .wb_cyc_i(sdb_cyc_i), .wb_stb_i(sdb_stb_i), .wb_we_i(sdb_we_i), .wb_adr_i(sdb_adr_i),
    .wb_sel_i(sdb_sel_i), .wb_dat_i(sdb_dat_i), .wb_stall_o(sdb_stall_o), .wb_ack_o(sdb_ack_o),
    .wb_err_o(sdb_err_o), .wb_dat_o(sdb_dat_o)
  );
  wb_sdb_rom #(
    .NumDevices(4),
    .BusLast(32'h000F_FFFF),
    .Devices(Devices),
    .Registered(1'b1)
  ) u_late (
    .clk_i, .rst_ni,
    .wb_cyc_i(late_cyc_i), .wb_stb_i(late_stb_i), .wb_we_i(late_we_i), .wb_adr_i(late_adr_i),
    .wb_sel_i(late_sel_i), .wb_dat_i(late_dat_i), .wb_stall_o(late_stall_o), .wb_ack_o(late_ack_o),
    .wb_err_o(late_err_o), .wb_dat_o(late_dat_o)
  );
  wb_eca_time #(.NumChannels(4), .LatencyNs(1234)) u_eca (
    .clk_i, .rst_ni, .time_ns_i,
    .wb_cyc_i(eca_cyc_i), .wb_stb_i(eca_stb_i), .wb_we_i(eca_we_i), .wb_adr_i(eca_adr_i),
    .wb_sel_i(eca_sel_i), .wb_dat_i(eca_dat_i), .wb_stall_o(eca_stall_o), .wb_ack_o(eca_ack_o),
    .wb_err_o(eca_err_o), .wb_dat_o(eca_dat_o)
  );
  wb_tlu #(.NumChannels(3), .FifoDepth(4)) u_tlu (
    .clk_i, .rst_ni, .time_ns_i, .trigger_i, .irq_o, .idle_o,
    .wb_cyc_i(tlu_cyc_i), .wb_stb_i(tlu_stb_i), .wb_we_i(tlu_we_i), .wb_adr_i(tlu_adr_i),
    .wb_sel_i(tlu_sel_i), .wb_dat_i(tlu_dat_i), .wb_stall_o(tlu_stall_o), .wb_ack_o(tlu_ack_o),
    .wb_err_o(tlu_err_o), .wb_dat_o(tlu_dat_o)
  );
  wb_gige_ctrl u_ctl (
    .clk_i, .rst_ni, .mac_i, .ipv4_i, .netmask_i, .udp_port_i, .stats_i, .allow_o,
    .wb_cyc_i(ctl_cyc_i), .wb_stb_i(ctl_stb_i), .wb_we_i(ctl_we_i), .wb_adr_i(ctl_adr_i),
    .wb_sel_i(ctl_sel_i), .wb_dat_i(ctl_dat_i), .wb_stall_o(ctl_stall_o), .wb_ack_o(ctl_ack_o),
    .wb_err_o(ctl_err_o), .wb_dat_o(ctl_dat_o)
  );
endmodule
