// SPDX-License-Identifier: SHL-2.1
/// rdma_bar and rdma_tx with the AXI names that cocotbext-axi looks for, and what a bench looks at in one
/// vector a clock domain.
///
/// The registers are a memory behind pcie_axi_wb, the tables another. Each room is the one of its link and
/// destination.
module rdma_tx_bench
  import rdma_pkg::*;
  import rdma_tx_pkg::*;
  import link_pkg::*;
#(
  parameter int unsigned NumHosts    = 8,
  parameter int unsigned NumLinks    = 1,
  parameter int unsigned Outstanding = 1,
  localparam int unsigned HostSeen = 1 + 3 + 1 + 16 + 1 + 3 + 64 + 1 + 64 + 64 + 1 + 8 + 1 + 16,
  localparam int unsigned LinkSeen = NumLinks * 35
) (
  input  logic clk_i,
  input  logic rst_ni,
  input  logic link_clk_i,
  input  logic link_rst_ni,
  input  logic enable_i,
  input  logic [6:0] host_id_i,
  input  logic [7:0] first_session_i,
  input  logic [31:0] probe_cycles_i,
  input  logic [NumLinks-1:0] link_enable_i,
  input  logic bench_i,

  input  logic bar_awvalid,
  input  logic [3:0] bar_awid,
  input  logic [15:0] bar_awaddr,
  input  logic [7:0] bar_awlen,
  input  logic [2:0] bar_awsize,
  input  logic [1:0] bar_awburst,
  output logic bar_awready,
  input  logic bar_wvalid,
  input  logic [63:0] bar_wdata,
  input  logic [7:0] bar_wstrb,
  input  logic bar_wlast,
  output logic bar_wready,
  output logic bar_bvalid,
  output logic [3:0] bar_bid,
  output logic [1:0] bar_bresp,
  input  logic bar_bready,
  input  logic bar_arvalid,
  input  logic [3:0] bar_arid,
  input  logic [15:0] bar_araddr,
  input  logic [7:0] bar_arlen,
  input  logic [2:0] bar_arsize,
  input  logic [1:0] bar_arburst,
  output logic bar_arready,
  output logic bar_rvalid,
  output logic [3:0] bar_rid,
  output logic [63:0] bar_rdata,
  output logic [1:0] bar_rresp,
  output logic bar_rlast,
  input  logic bar_rready,

  output logic dma_arvalid,
  output logic dma_arid,
  output logic [63:0] dma_araddr,
  output logic [7:0] dma_arlen,
  output logic [2:0] dma_arsize,
  output logic [1:0] dma_arburst,
  output logic [12:0] dma_aruser,
  input  logic dma_arready,
  input  logic dma_rvalid,
  input  logic dma_rid,
  input  logic [63:0] dma_rdata,
  input  logic [1:0] dma_rresp,
  input  logic dma_rlast,
  output logic dma_rready,

  input  logic rearly_i,
  output logic arsoon_o,

  input  logic ctl_valid_i,
  input  logic [63:0] ctl_header_i,
  input  logic [63:0] ctl_i,
  input  logic rxctl_valid_i,
  input  logic [63:0] rxctl_header_i,
  input  logic [63:0] rxctl_i,
  input  logic [2:0] told_ready_i,   // local, done, error
  output logic [HostSeen-1:0] host_o,
  output logic [9:0] news_o,         // of host_o: something was told or done; room, running

  input  logic [NumLinks-1:0] up_i,
  input  logic [NumLinks*NumHosts*10-1:0] room_i,
  input  logic [NumLinks-1:0] tx_ready_i,
  output logic [LinkSeen-1:0] link_o,
  output logic [NumLinks-1:0] taken_o,
  output logic [31:0] stamp_o,
  output logic [31:0] link_stamp_o,
  output logic idle_o
);
  logic [31:0] stamp_q, link_stamp_q;
  always_ff @(posedge clk_i) stamp_q <= rst_ni ? stamp_q + 32'd1 : '0;
  always_ff @(posedge link_clk_i) link_stamp_q <= link_rst_ni ? link_stamp_q + 32'd1 : '0;
  assign stamp_o      = stamp_q;
  assign link_stamp_o = link_stamp_q;

  // ---------------------------------------------------------------- the BAR
  axi_pkg::bar_request_t  bar, bus;
  axi_pkg::bar_response_t bar_answer, bus_answer;
  assign bar = {
      bar_awvalid, bar_awid, 32'(bar_awaddr), bar_awsize,
      bar_wvalid, bar_wdata, bar_wstrb, bar_wlast, bar_bready,
      bar_arvalid, bar_arid, 32'(bar_araddr), bar_arlen, bar_arsize, bar_rready
  };
  assign {bar_awready, bar_wready, bar_bvalid, bar_bid, bar_bresp, bar_arready,
          bar_rvalid, bar_rid, bar_rdata, bar_rresp, bar_rlast} = bar_answer;
  logic [63:0] table_data, table_rdata_q;
  logic table_we, table_re, table_refused, bar_idle;
  store_t store;
  logic [15:3] table_addr, table_raddr;
  logic [2:0] table_wait_q;

  rdma_bar u_bar (
    .clk_i,
    .rst_ni,
    .ready_i       (1'b1),
    .bar_i         (bar),
    .bar_o         (bar_answer),
    .bus_o         (bus),
    .bus_i         (bus_answer),
    .store_o       (store),
    .table_we_o    (table_we),
    .table_addr_o  (table_addr),
    .table_data_o  (table_data),
    .table_re_o    (table_re),
    .table_raddr_o (table_raddr),
    .table_rvalid_i(table_wait_q[2]),
    .table_rdata_i (table_rdata_q),
    .refused_o     (table_refused),
    .idle_o        (bar_idle)
  );

  logic [63:0] table_q [8192];
  always_ff @(posedge clk_i) begin
    if (table_we) table_q[table_addr] <= table_data;
    if (table_re) table_rdata_q <= table_q[table_raddr];
    table_wait_q <= rst_ni ? {table_wait_q[1:0], table_re} : '0;
  end

  logic cyc, stb, we, ack;
  logic [13:0] adr;
  logic [3:0] sel;
  logic [31:0] wdat, rdat_q;
  logic [31:0] register_q [4096];
  pcie_axi_wb #(
    .AddrWidth(14)
  ) u_wb (
    .clk_i,
    .rst_ni,
    .bar_i     (bus),
    .bar_o     (bus_answer),
    .wb_cyc_o  (cyc),
    .wb_stb_o  (stb),
    .wb_we_o   (we),
    .wb_adr_o  (adr),
    .wb_sel_o  (sel),
    .wb_dat_o  (wdat),
    .wb_stall_i(1'b0),
    .wb_ack_i  (ack),
    .wb_err_i  (1'b0),
    .wb_dat_i  (rdat_q),
    .idle_o    ()
  );
  always_ff @(posedge clk_i) begin
    ack    <= rst_ni && cyc && stb;
    rdat_q <= register_q[adr[13:2]];
    for (int i = 0; i < 4; i++) begin
      if (cyc && stb && we && sel[i]) register_q[adr[13:2]][8*i+:8] <= wdat[8*i+:8];
    end
  end

  // ---------------------------------------------------------------- the sending half
  count_t [NumLinks-1:0][NumHosts-1:0] room;
  flit_t [NumLinks-1:0] flit;
  sent_t [NumLinks-1:0] sent;
  logic [NumLinks-1:0] tx_valid;
  for (genvar l = 0; l < int'(NumLinks); l++) begin : gen_link
    assign room[l] = room_i[l*NumHosts*10+:NumHosts*10];
    assign taken_o[l] = link_o[l*35+34];
    always_ff @(posedge link_clk_i) begin
      link_o[l*35+:35] <= {link_rst_ni && tx_valid[l] && tx_ready_i[l], flit[l]};
    end
  end

  logic tx_idle, running, ctl_ready;
  burst_t ar;
  local_report_t left;
  done_report_t done;
  error_report_t err;
  tx_events_t events;
  logic [7:0] ctl_room;
  logic [15:0] strobes;

  rdma_tx #(
    .NumHosts   (NumHosts),
    .NumLinks   (NumLinks),
    .Outstanding(Outstanding),
    .EarlyPosts (1'b1)
  ) u_tx (
    .clk_i,
    .rst_ni,
    .link_clk_i,
    .link_rst_ni,
    .enable_i,
    .running_o       (running),
    .host_id_i,
    .first_session_i,
    .probe_cycles_i,
    .link_enable_i,
    .bench_i,
    .stamp_i         (stamp_q),
    .link_stamp_i    (link_stamp_q),
    .store_i         (store),
    .arvalid_o       (dma_arvalid),
    .arready_i       (dma_arready),
    .ar_o            (ar),
    .arsoon_o,
    .rvalid_i        (dma_rvalid),
    .rready_o        (dma_rready),
    .r_i             ('{data: dma_rdata, resp: dma_rresp, last: dma_rlast}),
    .rearly_i,
    .ctl_room_o      (ctl_room),
    .ctl_i           ('{valid: ctl_valid_i, header: ctl_header_i, control: ctl_i}),
    .ctl_ready_o     (ctl_ready),
    .rxctl_i         ('{valid: rxctl_valid_i, header: rxctl_header_i, control: rxctl_i}),
    .local_o         (left),
    .local_ready_i   (told_ready_i[0]),
    .done_o          (done),
    .done_ready_i    (told_ready_i[1]),
    .err_o           (err),
    .err_ready_i     (told_ready_i[2]),
    .up_i,
    .room_i          (room),
    .tx_valid_o      (tx_valid),
    .tx_ready_i,
    .tx_flit_o       (flit),
    .sent_o          (sent),
    .events_o        (events),
    .idle_o          (tx_idle)
  );
  assign {dma_araddr, dma_arlen, dma_aruser} = ar;

  // Where the stages of a transfer begin and end.
  logic [NumLinks-1:0] voq_valid;
  assign voq_valid = u_tx.voq_valid;
  assign idle_o      = tx_idle && bar_idle;
  assign strobes[9:0] = {events.failed, events.ignored, events.probed, events.begun.valid, events.issued,
                         events.granted, events.posts.message_bad, events.posts.message_posted,
                         events.posts.request_bad, events.posts.request_posted};
  assign strobes[10] = table_refused;
  assign strobes[11] = bar_idle;
  assign strobes[15:12] = '0;

  assign dma_arid    = 1'b0;
  assign dma_arsize  = 3'd3;
  assign dma_arburst = 2'b01;

  // What was done at an edge shows behind it.
  always_ff @(posedge clk_i) begin
    host_o <= {strobes, ctl_ready && ctl_valid_i, ctl_room, running,
               err.beat1, err.beat0, err.valid && told_ready_i[2],
               done.word, done.flow, done.valid && told_ready_i[1],
               left.count, left.message, left.flow, left.valid && told_ready_i[0]};
    news_o <= {ctl_room, running, (strobes[10:0] != '0) || (ctl_ready && ctl_valid_i) ||
               ({err.valid, done.valid, left.valid} & told_ready_i) != '0};
    if (!rst_ni) begin
      host_o <= '0;
      news_o <= '0;
    end
  end
  logic unused;
  assign unused = &{1'b0, bar_awburst, bar_arburst, dma_rid, bar_awlen, sent, events};

  // ---------------------------------------------------------------- held at every clock
  logic rxctl_valid_q;
  always_ff @(posedge clk_i) begin
    rxctl_valid_q <= rxctl_valid_i;
    assert (!(rxctl_valid_q && rxctl_valid_i)) else $error("control packets in a row");
  end
  // The accounts of the VOQs: never more than their room, data never in the control packets' part.
  localparam int unsigned Beats = NumLinks == 1 ? 1024 : NumLinks == 2 ? 512 : 256;
  for (genvar l = 0; l < int'(NumLinks); l++) begin : gen_account
    for (genvar f = 0; f < int'(NumHosts); f++) begin : gen_flow
      always_ff @(posedge clk_i) begin
        if (running) begin
          assert (11'(u_tx.u_voqs.u_spread.gen_link[l].put_q[f] - u_tx.u_voqs.u_spread.gen_link[l].got_q[f]) <=
                  11'(Beats - 4))
          else $error("VOQ %0d.%0d", l, f);
        end
      end
    end
  end
  for (genvar f = 0; f < int'(NumHosts); f++) begin : gen_window
    always_ff @(posedge clk_i) begin
      if (running) begin
        assert (u_tx.u_voqs.u_spread.control_q[f] <= 2) else $error("control packets %0d", f);
        assert (u_tx.u_flow.lag_o <= 7'd64)
        else $error("window %0d", u_tx.u_flow.flow_i);
      end
    end
  end
endmodule
