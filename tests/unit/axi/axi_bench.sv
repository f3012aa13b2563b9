// SPDX-License-Identifier: SHL-2.1
/// axi_write_engine and an event_queue that writes through it, with flat AXI ports for a bus model.
///
/// use_queue_i: commands come from the queue, else from the ports.
module axi_bench #(
  parameter int unsigned DataWidth = 64,
  localparam int unsigned DataBytes = DataWidth / 8
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,
  input  logic                 use_queue_i,
  input  logic                 cmd_valid_i,
  output logic                 cmd_ready_o,
  input  logic [63:0]          cmd_addr_i,
  input  logic [12:0]          cmd_bytes_i,
  input  logic [3:0]           cmd_tag_i,
  input  logic                 data_valid_i,
  output logic                 data_ready_o,
  input  logic                 data_keep_i,
  input  logic [DataWidth-1:0] data_i,
  output logic                 done_valid_o,
  output logic [3:0]           done_tag_o,
  output logic                 done_error_o,
  output logic                 idle_o,

  input  logic                 enable_i,
  input  logic [63:0]          base_i,
  input  logic [3:0]           size_i,
  input  logic [15:0]          taken_i,
  input  logic                 irq_enable_i,
  input  logic [31:0]          irq_gap_i,
  input  logic                 event_valid_i,
  output logic                 event_ready_o,
  input  logic [254:0]         event_i,
  output logic                 full_o,
  output logic [15:0]          written_o,
  output logic [31:0]          lost_o,
  output logic                 irq_o,
  output logic                 queue_idle_o,

  output logic [0:0]           m_axi_awid,
  output logic [63:0]          m_axi_awaddr,
  output logic [7:0]           m_axi_awlen,
  output logic [2:0]           m_axi_awsize,
  output logic [1:0]           m_axi_awburst,
  output logic                 m_axi_awvalid,
  input  logic                 m_axi_awready,
  output logic [DataWidth-1:0] m_axi_wdata,
  output logic [DataBytes-1:0] m_axi_wstrb,
  output logic                 m_axi_wlast,
  output logic                 m_axi_wvalid,
  input  logic                 m_axi_wready,
  input  logic [0:0]           m_axi_bid,
  input  logic [1:0]           m_axi_bresp,
  input  logic                 m_axi_bvalid,
  output logic                 m_axi_bready
);
  logic q_cmd_valid, q_data_valid, q_last, cmd_ready, data_ready, done;
  logic [63:0] q_addr;
  logic [DataWidth-1:0] q_data;
  axi_pkg::address_t aw;

  event_queue #(.DataWidth(DataWidth)) u_queue (
    .clk_i, .rst_ni, .enable_i, .base_i, .size_i, .taken_i, .irq_enable_i, .irq_gap_i,
    .event_valid_i, .event_ready_o, .event_i, .full_o,
    .cmd_valid_o(q_cmd_valid), .cmd_ready_i(cmd_ready && use_queue_i), .cmd_addr_o(q_addr),
    .data_valid_o(q_data_valid), .data_ready_i(data_ready && use_queue_i), .data_last_o(q_last),
    .data_o(q_data), .done_valid_i(done && use_queue_i),
    .written_o, .lost_o, .irq_o, .idle_o(queue_idle_o)
  );

  axi_write_engine #(.DataWidth(DataWidth)) u_engine (
    .clk_i, .rst_ni,
    .cmd_valid_i(use_queue_i ? q_cmd_valid : cmd_valid_i), .cmd_ready_o(cmd_ready),
    .cmd_addr_i(use_queue_i ? q_addr : cmd_addr_i),
    .cmd_bytes_i(use_queue_i ? 13'd32 : cmd_bytes_i), .cmd_tag_i(cmd_tag_i),
    .data_valid_i(use_queue_i ? q_data_valid : data_valid_i), .data_ready_o(data_ready),
    .data_keep_i(use_queue_i || data_keep_i), .data_i(use_queue_i ? q_data : data_i),
    .done_valid_o(done), .done_tag_o, .done_error_o,
    .awvalid_o(m_axi_awvalid), .awready_i(m_axi_awready), .aw_o(aw),
    .wvalid_o(m_axi_wvalid), .wready_i(m_axi_wready), .wdata_o(m_axi_wdata),
    .wstrb_o(m_axi_wstrb), .wlast_o(m_axi_wlast),
    .bvalid_i(m_axi_bvalid), .bready_o(m_axi_bready), .bresp_i(m_axi_bresp), .idle_o
  );
  assign cmd_ready_o   = cmd_ready && !use_queue_i;
  assign data_ready_o  = data_ready && !use_queue_i;
  assign done_valid_o  = done;
  assign m_axi_awid    = '0;
  assign m_axi_awaddr  = aw.addr;
  assign m_axi_awlen   = aw.len;
  assign m_axi_awsize  = aw.size;
  assign m_axi_awburst = aw.burst;

  logic unused;
  assign unused = ^{m_axi_bid, q_last};
endmodule
