// SPDX-License-Identifier: SHL-2.1
/// Wishbone memory with byte enables, in block memory.
///
///   Handshake   never stalls; ack one cycle after the operation, never err
///   Latency     1 cycle
///   Throughput  one operation a cycle; a read right after a write of its word sees the new word
///   Address     byte address; bits above Depth * 4 are ignored, so the window repeats
///   Idle        nothing changes without an operation
///   Parameters  Depth words of 32 bits, a power of two, 2..1048576
///   Not done    reset of the contents
module wb_ram #(
  parameter int unsigned Depth = 1024
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        wb_cyc_i,
  input  logic        wb_stb_i,
  input  logic        wb_we_i,
  input  logic [31:0] wb_adr_i,
  input  logic [3:0]  wb_sel_i,
  input  logic [31:0] wb_dat_i,
  output logic        wb_stall_o,
  output logic        wb_ack_o,
  output logic        wb_err_o,
  output logic [31:0] wb_dat_o
);
  if (Depth < 2 || Depth > 1048576 || (Depth & (Depth - 1)) != 0) begin : gen_depth_check
    $error("wb_ram: Depth is %0d, legal is a power of two, 2..1048576", Depth);
  end

  localparam int unsigned IdxWidth = $clog2(Depth);

  logic op, ack_q;
  logic unused_adr;

  assign op         = wb_cyc_i && wb_stb_i;
  assign wb_stall_o = 1'b0;
  assign wb_ack_o   = ack_q;
  assign wb_err_o   = 1'b0;
  assign unused_adr = ^{wb_adr_i[31:IdxWidth+2], wb_adr_i[1:0]};

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) ack_q <= 1'b0;
    else         ack_q <= op;
  end

  ram_1r1w #(
    .Width    (32),
    .Depth    (Depth),
    .LaneWidth(8)
  ) u_ram (
    .clk_i,
    .we_i   ({4{op && wb_we_i}} & wb_sel_i),
    .waddr_i(wb_adr_i[IdxWidth+1:2]),
    .wdata_i(wb_dat_i),
    .re_i   (op && !wb_we_i),
    .raddr_i(wb_adr_i[IdxWidth+1:2]),
    .rdata_o(wb_dat_o)
  );
endmodule
