// SPDX-License-Identifier: SHL-2.1
/// axi_read_engine with flat AXI ports for a bus model.
module axi_read_bench #(
  parameter int unsigned DataWidth = 64,
  parameter int unsigned Granule = 1,
  parameter bit Reserve = 1'b0,
  parameter int unsigned MaxBursts = 8,
  localparam int unsigned DataBytes = DataWidth / 8,
  localparam int unsigned Parts = DataBytes / Granule
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,
  input  logic                 cmd_valid_i,
  output logic                 cmd_ready_o,
  input  logic [63:0]          cmd_addr_i,
  input  logic [12:0]          cmd_bytes_i,
  input  logic [3:0]           cmd_tag_i,
  input  logic                 stop_i,
  input  logic [8:0]           room_i,
  output logic                 data_valid_o,
  input  logic                 data_ready_i,
  output logic [DataWidth-1:0] data_o,
  output logic [Parts-1:0]     data_keep_o,
  output logic                 data_begin_o,
  output logic                 data_last_o,
  output logic                 data_error_o,
  output logic [3:0]           data_tag_o,
  output logic                 idle_o,

  output logic [0:0]           m_axi_arid,
  output logic [63:0]          m_axi_araddr,
  output logic [7:0]           m_axi_arlen,
  output logic [2:0]           m_axi_arsize,
  output logic [1:0]           m_axi_arburst,
  output logic                 m_axi_arvalid,
  input  logic                 m_axi_arready,
  input  logic [0:0]           m_axi_rid,
  input  logic [DataWidth-1:0] m_axi_rdata,
  input  logic [1:0]           m_axi_rresp,
  input  logic                 m_axi_rlast,
  input  logic                 m_axi_rvalid,
  output logic                 m_axi_rready
);
  axi_pkg::address_t ar;

  axi_read_engine #(
    .DataWidth(DataWidth), .Granule(Granule), .Reserve(Reserve), .MaxBursts(MaxBursts)
  ) u_engine (
    .clk_i, .rst_ni, .cmd_valid_i, .cmd_ready_o, .cmd_addr_i, .cmd_bytes_i, .cmd_tag_i, .stop_i,
    .room_i, .data_valid_o, .data_ready_i, .data_o, .data_keep_o, .data_begin_o, .data_last_o,
    .data_error_o, .data_tag_o,
    .arvalid_o(m_axi_arvalid), .arready_i(m_axi_arready), .ar_o(ar),
    .rvalid_i(m_axi_rvalid), .rready_o(m_axi_rready), .rdata_i(m_axi_rdata),
    .rresp_i(m_axi_rresp), .rlast_i(m_axi_rlast), .idle_o
  );
  assign m_axi_arid    = '0;
  assign m_axi_araddr  = ar.addr;
  assign m_axi_arlen   = ar.len;
  assign m_axi_arsize  = ar.size;
  assign m_axi_arburst = ar.burst;

  logic unused;
  assign unused = ^m_axi_rid;
endmodule
