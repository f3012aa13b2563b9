// SPDX-License-Identifier: SHL-2.1
/// The primitives without a bench of their own, side by side, so that one build serves them all.
module prim_bench (
  input  logic        clk_i,
  input  logic        rst_ni,
  // fifo, 16 and 2 deep
  input  logic        f16_clear_i, f16_valid_i, f16_ready_i,
  input  logic [31:0] f16_data_i,
  output logic        f16_ready_o, f16_valid_o,
  output logic [31:0] f16_data_o,
  output logic [4:0]  f16_usage_o,
  input  logic        f2_clear_i, f2_valid_i, f2_ready_i,
  input  logic [31:0] f2_data_i,
  output logic        f2_ready_o, f2_valid_o,
  output logic [31:0] f2_data_o,
  output logic [1:0]  f2_usage_o,
  // block_fifo, 4 deep
  input  logic        b4_valid_i, b4_ready_i,
  input  logic [31:0] b4_data_i,
  output logic        b4_ready_o, b4_valid_o,
  output logic [31:0] b4_data_o,
  // arbiters
  input  logic [4:0]  rr_req_i,
  input  logic        rr_last_i,
  output logic [4:0]  rr_gnt_o,
  output logic [2:0]  rr_idx_o,
  input  logic [6:0]  fixed_req_i,
  output logic [6:0]  fixed_gnt_o,
  // memory of 48 words
  input  logic [3:0]  ram_we_i,
  input  logic [5:0]  ram_waddr_i, ram_raddr_i,
  input  logic [31:0] ram_wdata_i,
  input  logic        ram_re_i,
  output logic [31:0] ram_rdata_o, any_rdata_o
);
  fifo #(.Width(32), .Depth(16)) u_f16 (
    .clk_i, .rst_ni,
    .clear_i(f16_clear_i), .valid_i(f16_valid_i), .ready_o(f16_ready_o), .data_i(f16_data_i),
    .valid_o(f16_valid_o), .ready_i(f16_ready_i), .data_o(f16_data_o), .usage_o(f16_usage_o)
  );
  fifo #(.Width(32), .Depth(2)) u_f2 (
    .clk_i, .rst_ni,
    .clear_i(f2_clear_i), .valid_i(f2_valid_i), .ready_o(f2_ready_o), .data_i(f2_data_i),
    .valid_o(f2_valid_o), .ready_i(f2_ready_i), .data_o(f2_data_o), .usage_o(f2_usage_o)
  );
  block_fifo #(.Width(32), .Depth(4)) u_b4 (
    .clk_i, .rst_ni,
    .valid_i(b4_valid_i), .ready_o(b4_ready_o), .data_i(b4_data_i),
    .valid_o(b4_valid_o), .ready_i(b4_ready_i), .data_o(b4_data_o)
  );
  arb_rr #(.NumReq(5)) u_rr (
    .clk_i, .rst_ni, .req_i(rr_req_i), .last_i(rr_last_i), .gnt_o(rr_gnt_o), .idx_o(rr_idx_o)
  );
  arb_fixed #(.NumReq(7)) u_fixed (.req_i(fixed_req_i), .gnt_o(fixed_gnt_o));
  ram_1r1w #(.Width(32), .Depth(48), .LaneWidth(8)) u_ram (
    .clk_i, .we_i(ram_we_i), .waddr_i(ram_waddr_i), .wdata_i(ram_wdata_i), .re_i(ram_re_i),
    .raddr_i(ram_raddr_i), .rdata_o(ram_rdata_o)
  );
  ram_1r1w #(.Width(32), .Depth(48), .LaneWidth(8), .ReadOld(1'b0)) u_any (
    .clk_i, .we_i(ram_we_i), .waddr_i(ram_waddr_i), .wdata_i(ram_wdata_i), .re_i(ram_re_i),
    .raddr_i(ram_raddr_i), .rdata_o(any_rdata_o)
  );
endmodule
