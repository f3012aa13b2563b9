// SPDX-License-Identifier: SHL-2.1
/// rdma_rx with plain vectors, and with the AXI signals that a bus model wants beside its own.
module rdma_rx_bench
  import rdma_pkg::*;
  import link_pkg::*;
#(
  parameter int unsigned NumHosts     = 8,
  parameter int unsigned NumLinks     = 2,
  parameter bit          StoreForward = 1'b1
) (
  input  logic        clk_i,
  input  logic        link_clk_i,
  input  logic        rst_ni,
  input  logic        enable_i,
  input  logic [6:0]  host_id_i,
  input  logic [31:0] lost_cycles_i,
  output logic        ready_o,

  input  logic [NumLinks-1:0] rx_valid_i,
  input  logic [33:0]         rx_flit0_i,
  input  logic [33:0]         rx_flit1_i,
  output logic [9:0]          stored0_o,
  output logic [9:0]          stored1_o,

  input  logic        table_we_i,
  input  logic [15:0] table_addr_i,
  input  logic [63:0] table_data_i,
  input  logic        table_re_i,
  input  logic [15:0] table_raddr_i,
  output logic        table_rvalid_o,
  output logic [63:0] table_rdata_o,

  output logic [3:0]  axi_awid,
  output logic        axi_awvalid,
  input  logic        axi_awready,
  output logic [63:0] axi_awaddr,
  output logic [7:0]  axi_awlen,
  output logic [2:0]  axi_awsize,
  output logic [1:0]  axi_awburst,
  output logic [12:0] axi_awuser,
  output logic        awsoon_o,
  output logic        axi_wvalid,
  input  logic        axi_wready,
  output logic [63:0] axi_wdata,
  output logic [7:0]  axi_wstrb,
  output logic        axi_wlast,
  input  logic [3:0]  axi_bid,
  input  logic        axi_bvalid,
  output logic        axi_bready,
  input  logic [1:0]  axi_bresp,

  output logic [3:0]  axi_arid,
  output logic        axi_arvalid,
  input  logic        axi_arready,
  output logic [63:0] axi_araddr,
  output logic [7:0]  axi_arlen,
  output logic [2:0]  axi_arsize,
  output logic [1:0]  axi_arburst,
  input  logic [3:0]  axi_rid,
  input  logic        axi_rvalid,
  output logic        axi_rready,
  input  logic [63:0] axi_rdata,
  input  logic [1:0]  axi_rresp,
  input  logic        axi_rlast,

  output logic        ctl_valid_o,
  input  logic        ctl_ready_i,
  input  logic [7:0]  ctl_room_i,
  output logic [63:0] ctl_header_o,
  output logic [63:0] ctl_o,
  output logic [63:0] rxctl_header_o,
  output logic [63:0] rxctl_o,

  input  logic        local_valid_i,
  output logic        local_ready_o,
  input  logic [2:0]  local_flow_i,
  input  logic        local_message_i,
  input  logic [15:0] local_count_i,
  input  logic        done_valid_i,
  output logic        done_ready_o,
  input  logic [2:0]  done_flow_i,
  input  logic [63:0] done_word_i,
  input  logic        err_valid_i,
  output logic        err_ready_o,
  input  logic [63:0] err_beat0_i,
  input  logic [63:0] err_beat1_i,
  input  logic [63:0] err_base_i,
  input  logic [3:0]  err_size_i,
  input  logic [15:0] err_tail_i,

  output logic [20:0] events_o,  // ctl taken, rxctl, counters, interrupts: see the bench
  output logic [3:0]  probes_o,
  output logic        idle_o
);
  logic [NumLinks-1:0][33:0] flits;
  logic [NumLinks-1:0] overflow, overflow_q;
  count_t [NumLinks-1:0] stored;
  assign flits[0]  = rx_flit0_i;
  assign stored0_o = stored[0];
  if (NumLinks > 1) begin : gen_two
    assign flits[1]  = rx_flit1_i;
    assign stored1_o = stored[1];
  end else begin : gen_one
    assign stored1_o = '0;
  end

  assign axi_awid    = '0;
  assign axi_awsize  = 3'd3;
  assign axi_awburst = 2'd1;

  // A read of one beat, as rdma_read_share makes it.
  logic reading_q, flush_valid;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) reading_q <= 1'b0;
    else reading_q <= (axi_arvalid && axi_arready) || (reading_q && !axi_rvalid);
  end
  assign axi_arid        = '0;
  assign axi_arvalid     = flush_valid && !reading_q;
  assign axi_araddr[2:0] = '0;
  assign axi_arlen       = '0;
  assign axi_arsize      = 3'd3;
  assign axi_arburst     = 2'd1;
  assign axi_rready      = 1'b1;

  logic rxctl;
  rdma_rx_pkg::rx_events_t events;
  logic [NumHosts-1:0] irq;
  logic ctl_taken;
  assign ctl_taken = ctl_valid_o && ctl_ready_i;
  always_ff @(posedge link_clk_i) overflow_q <= rst_ni ? overflow_q | overflow : '0;
  assign events_o = {events.write_error, 8'(irq), |overflow_q, events.flows.opened, events.flows.lost,
                     events.flows.retired, events.receive.malformed, events.receive.not_open,
                     events.receive.beyond, events.receive.known, events.receive.refused,
                     events.receive.taken, rxctl, ctl_taken};
  assign probes_o = {events.notice, events.answered, events.write, events.receive.header};

  rdma_rx #(
    .NumHosts    (NumHosts),
    .NumLinks    (NumLinks),
    .StoreForward(StoreForward)
  ) u_rx (
    .clk_i,
    .rst_ni,
    .link_clk_i,
    .link_rst_ni  (rst_ni),
    .enable_i,
    .host_id_i,
    .lost_cycles_i,
    .ready_o,
    .rx_valid_i,
    .rx_flit_i    (flits),
    .stored_o     (stored),
    .overflow_o   (overflow),
    .table_i      ('{we: table_we_i, addr: table_addr_i[15:3], data: table_data_i,
                     re: table_re_i, raddr: table_raddr_i[15:3]}),
    .table_o      ({table_rvalid_o, table_rdata_o}),
    .awvalid_o    (axi_awvalid),
    .awready_i    (axi_awready),
    .aw_o         ({axi_awaddr, axi_awlen, axi_awuser}),
    .awsoon_o,
    .wvalid_o     (axi_wvalid),
    .wready_i     (axi_wready),
    .w_o          ({axi_wdata, axi_wstrb, axi_wlast}),
    .b_i          ('{valid: axi_bvalid, resp: axi_bresp}),
    .bready_o     (axi_bready),
    .flush_o      ({flush_valid, axi_araddr[63:3]}),
    .flush_ready_i(axi_arready),
    .flushed_i    ('{done: axi_rvalid, failed: axi_rresp != '0}),
    .ctl_o        ({ctl_valid_o, ctl_header_o, ctl_o}),
    .ctl_ready_i,
    .ctl_room_i,
    .rxctl_o      ({rxctl, rxctl_header_o, rxctl_o}),
    .local_i      ({local_valid_i, local_flow_i, local_message_i, local_count_i}),
    .local_ready_o,
    .done_i       ({done_valid_i, done_flow_i, done_word_i}),
    .done_ready_o,
    .err_i        ({err_valid_i, err_beat0_i, err_beat1_i}),
    .err_ready_o,
    .ring_i       ({err_base_i[63:6], err_size_i, err_tail_i}),
    .irq_flow_o   (irq),
    .events_o     (events),
    .idle_o
  );
endmodule
