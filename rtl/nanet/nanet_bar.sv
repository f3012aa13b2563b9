// SPDX-License-Identifier: SHL-2.1
/// Registers of the interface behind a PCIe hard block's AXI4: bar -> pcie_axi_wb -> wb_nanet,
/// wb_nanet_send, wb_nanet_put, wb_nanet_merge and wb_nanet_release.
///
///   Handshake   AXI4 as pcie_axi_wb; control_o and state_i as wb_nanet, send_* as wb_nanet_send,
///               put_* as wb_nanet_put, merge_* as wb_nanet_merge, release_i as
///               wb_nanet_release
///   Map         4 KiB: registers in the first 256 bytes; with Send its queue's in the next 256;
///               with Put the put queue's from 512 on; with Merge that of merging from 768 on;
///               with Release that of release from 1024 on; an error elsewhere
///   Latency     as pcie_axi_wb; wb_nanet adds 1 cycle
///   Throughput  one operation at a time
///   Parameters  NumPorts, NumRegions, Send, Put, Merge, Release: readable
///   Not done    bursts
module nanet_bar #(
  parameter int unsigned NumPorts   = 1,
  parameter int unsigned NumRegions = 0,
  parameter bit          Send       = 1'b0,
  parameter bit          Put        = 1'b0,
  parameter bit          Merge      = 1'b0,
  parameter bit          Release    = 1'b0
) (
  input  logic                     clk_i,
  input  logic                     rst_ni,
  input  axi_pkg::bar_request_t    bar_i,  // the host's AXI4 requests, INCR, of a byte in the BAR
  output axi_pkg::bar_response_t   bar_o,  // answers, each with its id; 2, SLVERR: no register
  input  nanet_ctrl_pkg::state_t   state_i,
  output nanet_ctrl_pkg::control_t control_o,
  input  nanet_ctrl_pkg::send_state_t send_i,
  output nanet_ctrl_pkg::send_t    send_o,
  output arp_pkg::ask_t            ask_o,     // with Send, as wb_nanet_send
  input  arp_pkg::answer_t         answer_i,  // strobe: the station of ask_o has answered
  input  nanet_ctrl_pkg::put_state_t put_i,
  input  logic [14:0]              put_last_i,  // with Put, as wb_nanet_put
  output nanet_ctrl_pkg::put_t     put_o,
  input  nanet_ctrl_pkg::merge_state_t merge_i,
  output logic [31:0]              merge_wait_o,  // with Merge, as wb_nanet_merge
  input  nanet_ctrl_pkg::release_state_t release_i,
  output logic                     idle_o  // nothing changes until an input does
);
  logic cyc, stb, we, stall, err, own, own_ack, own_err, none_q;
  logic send_own, send_ack, send_err, put_own, put_ack, put_err;
  logic merge_own, merge_ack, merge_err, release_own, release_ack, release_err;
  logic [31:0] send_dat, put_dat, merge_dat, release_dat;
  logic [11:0] adr;
  logic [3:0]  sel;
  logic [31:0] dat_w, dat_r;

  pcie_axi_wb #(
    .AddrWidth(12)
  ) u_axi_wb (
    .clk_i,
    .rst_ni,
    .bar_i,
    .bar_o,
    .wb_cyc_o  (cyc),
    .wb_stb_o  (stb),
    .wb_we_o   (we),
    .wb_adr_o  (adr),
    .wb_sel_o  (sel),
    .wb_dat_o  (dat_w),
    .wb_stall_i(stall),
    .wb_ack_i  (own_ack || send_ack || put_ack || merge_ack || release_ack),
    .wb_err_i  (err),
    .wb_dat_i  (release_ack ? release_dat : merge_ack ? merge_dat : put_ack ? put_dat :
                 send_ack ? send_dat : dat_r),
    .idle_o
  );

  // What lies above the map is no register. A block of registers never stalls.
  assign own = adr[11:8] == '0;
  assign err = own_err || send_err || put_err || merge_err || release_err || none_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) none_q <= 1'b0;
    else         none_q <= cyc && stb && !own && !send_own && !put_own && !merge_own &&
                        !release_own && !stall;
  end

  wb_nanet #(
    .NumPorts  (NumPorts),
    .MaxBuffers(nanet_pkg::MaxBuffers),
    .NumRegions(NumRegions),
    .Send      (Send),
    .Put       (Put),
    .Merge     (Merge),
    .Release   (Release)
  ) u_regs (
    .clk_i,
    .rst_ni,
    .state_i,
    .control_o,
    .wb_cyc_i  (cyc),
    .wb_stb_i  (stb && own),
    .wb_we_i   (we),
    .wb_adr_i  (32'(adr)),
    .wb_sel_i  (sel),
    .wb_dat_i  (dat_w),
    .wb_stall_o(stall),
    .wb_ack_o  (own_ack),
    .wb_err_o  (own_err),
    .wb_dat_o  (dat_r)
  );

  if (Send) begin : gen_send
    logic unused_stall;
    assign send_own = adr[11:8] == 4'd1;
    wb_nanet_send u_send (
      .clk_i,
      .rst_ni,
      .state_i   (send_i),
      .send_o,
      .ask_valid_o   (ask_o.valid),
      .ask_ip_o      (ask_o.ip),
      .answer_valid_i(answer_i.valid),
      .answer_ip_i   (answer_i.ip),
      .answer_mac_i  (answer_i.mac),
      .wb_cyc_i  (cyc),
      .wb_stb_i  (stb && send_own),
      .wb_we_i   (we),
      .wb_adr_i  (32'(adr)),
      .wb_sel_i  (sel),
      .wb_dat_i  (dat_w),
      .wb_stall_o(unused_stall),
      .wb_ack_o  (send_ack),
      .wb_err_o  (send_err),
      .wb_dat_o  (send_dat)
    );
  end else begin : gen_no_send
    assign send_own = 1'b0;
    assign {send_ack, send_err} = '0;
    assign send_dat = '0;
    assign send_o   = '0;
    assign ask_o    = '0;
    logic unused_send;
    assign unused_send = ^{send_i, answer_i};
  end

  if (Put) begin : gen_put
    logic unused_stall;
    assign put_own = adr[11:8] == 4'd2;
    wb_nanet_put u_put (
      .clk_i,
      .rst_ni,
      .state_i   (put_i),
      .last_i    (put_last_i),
      .put_o,
      .wb_cyc_i  (cyc),
      .wb_stb_i  (stb && put_own),
      .wb_we_i   (we),
      .wb_adr_i  (32'(adr)),
      .wb_sel_i  (sel),
      .wb_dat_i  (dat_w),
      .wb_stall_o(unused_stall),
      .wb_ack_o  (put_ack),
      .wb_err_o  (put_err),
      .wb_dat_o  (put_dat)
    );
  end else begin : gen_no_put
    assign put_own = 1'b0;
    assign {put_ack, put_err} = '0;
    assign put_dat = '0;
    assign put_o   = '0;
    logic unused_put;
    assign unused_put = ^{put_i, put_last_i};
  end

  if (Merge) begin : gen_merge
    logic unused_stall;
    assign merge_own = adr[11:8] == 4'd3;
    wb_nanet_merge u_merge (
      .clk_i,
      .rst_ni,
      .state_i   (merge_i),
      .wait_o    (merge_wait_o),
      .wb_cyc_i  (cyc),
      .wb_stb_i  (stb && merge_own),
      .wb_we_i   (we),
      .wb_adr_i  (32'(adr)),
      .wb_sel_i  (sel),
      .wb_dat_i  (dat_w),
      .wb_stall_o(unused_stall),
      .wb_ack_o  (merge_ack),
      .wb_err_o  (merge_err),
      .wb_dat_o  (merge_dat)
    );
  end else begin : gen_no_merge
    assign merge_own    = 1'b0;
    assign {merge_ack, merge_err} = '0;
    assign merge_dat    = '0;
    assign merge_wait_o = '0;
    logic unused_merge;
    assign unused_merge = ^merge_i;
  end

  if (Release) begin : gen_release
    logic unused_stall;
    assign release_own = adr[11:8] == 4'd4;
    wb_nanet_release u_release (
      .clk_i,
      .rst_ni,
      .state_i   (release_i),
      .wb_cyc_i  (cyc),
      .wb_stb_i  (stb && release_own),
      .wb_we_i   (we),
      .wb_adr_i  (32'(adr)),
      .wb_sel_i  (sel),
      .wb_dat_i  (dat_w),
      .wb_stall_o(unused_stall),
      .wb_ack_o  (release_ack),
      .wb_err_o  (release_err),
      .wb_dat_o  (release_dat)
    );
  end else begin : gen_no_release
    assign release_own = 1'b0;
    assign {release_ack, release_err} = '0;
    assign release_dat = '0;
    logic unused_release;
    assign unused_release = ^release_i;
  end
endmodule
