// SPDX-License-Identifier: SHL-2.1
/// The Wishbone port inside each generated register block, B4 pipelined.
///
///   Handshake   an operation waits while the block stalls its direction; ack or err follows the
///               block's answer by one cycle. The block answers in order
///   Latency     1 cycle plus the block's own (0 without a retiming stage)
///   Throughput  one operation a cycle
///   Idle        nothing changes without an operation
///   Parameters  AddrWidth of the block, 3..32
module wb_regs_adapter #(
  parameter int unsigned AddrWidth = 8
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,
  input  logic                 wb_cyc_i,
  input  logic                 wb_stb_i,
  input  logic                 wb_we_i,
  input  logic [31:0]          wb_adr_i,
  input  logic [3:0]           wb_sel_i,
  input  logic [31:0]          wb_dat_i,
  output logic                 wb_stall_o,
  output logic                 wb_ack_o,
  output logic                 wb_err_o,
  output logic [31:0]          wb_dat_o,
  output logic                 reg_req_o,
  output logic                 reg_we_o,
  output logic [AddrWidth-1:0] reg_addr_o,
  output logic [31:0]          reg_wdata_o,
  output logic [31:0]          reg_biten_o,
  input  logic                 reg_stall_wr_i,
  input  logic                 reg_stall_rd_i,
  input  logic                 reg_rd_ack_i,
  input  logic                 reg_rd_err_i,
  input  logic [31:0]          reg_rd_data_i,
  input  logic                 reg_wr_ack_i,
  input  logic                 reg_wr_err_i
);
  if (AddrWidth < 3 || AddrWidth > 32) begin : gen_addr_check
    $error("wb_regs_adapter: AddrWidth is %0d, legal is 3..32", AddrWidth);
  end

  logic ack, err, ack_q, err_q;
  logic [31:0] dat_q;
  logic unused_adr;

  assign unused_adr  = ^wb_adr_i;
  assign reg_req_o   = wb_cyc_i && wb_stb_i;
  assign reg_we_o    = wb_we_i;
  assign reg_addr_o  = {wb_adr_i[AddrWidth-1:2], 2'b00};
  assign reg_wdata_o = wb_dat_i;
  assign reg_biten_o = {{8{wb_sel_i[3]}}, {8{wb_sel_i[2]}}, {8{wb_sel_i[1]}}, {8{wb_sel_i[0]}}};

  assign wb_stall_o = wb_we_i ? reg_stall_wr_i : reg_stall_rd_i;
  assign wb_ack_o   = ack_q;
  assign wb_err_o   = err_q;
  assign wb_dat_o   = dat_q;

  assign ack = reg_rd_ack_i || reg_wr_ack_i;
  assign err = (reg_rd_ack_i && reg_rd_err_i) || (reg_wr_ack_i && reg_wr_err_i);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      ack_q <= 1'b0;
      err_q <= 1'b0;
    end else begin
      ack_q <= ack && !err;
      err_q <= err;
    end
  end

  always_ff @(posedge clk_i) begin
    if (reg_rd_ack_i) dat_q <= reg_rd_data_i;
  end
endmodule
