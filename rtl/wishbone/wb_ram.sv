// SPDX-License-Identifier: SHL-2.1
/// Wishbone memory with byte enables, in block memory.
///
///   Handshake   never stalls; ack Latency cycles after the operation, never err
///   Latency     1 cycle; 3 when Registered: large memories are spread over the die
///   Throughput  one operation a cycle; a read right after a write of its word sees the new word
///   Address     byte address; bits above Depth * 4 are ignored: the bus must give it a window of
///               Depth * 4 bytes and no more (wb_xbar's Mask, wb_pkg::window_mask)
///   Idle        nothing changes without an operation
///   Parameters  Depth words of 32 bits, a power of two, 2..1048576; Registered 1: both sides of
///               the memory behind registers
///   Not done    reset of the contents
module wb_ram #(
  parameter int unsigned Depth      = 1024,
  parameter bit          Registered = 1'b0
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        wb_cyc_i,  // wb_*: Wishbone B4 pipelined, taken at cyc & stb
  input  logic        wb_stb_i,
  input  logic        wb_we_i,
  input  logic [31:0] wb_adr_i,
  input  logic [3:0]  wb_sel_i,  // bit n: byte in bits 8n+7:8n is written
  input  logic [31:0] wb_dat_i,
  output logic        wb_stall_o,
  output logic        wb_ack_o,  // one for each operation, in order
  output logic        wb_err_o,
  output logic [31:0] wb_dat_o
);
  if (Depth < 2 || Depth > 1048576 || (Depth & (Depth - 1)) != 0) begin : gen_depth_check
    $error("wb_ram: Depth is %0d, legal is a power of two, 2..1048576", Depth);
  end

  localparam int unsigned IdxWidth = $clog2(Depth);

  typedef struct packed {
    logic [3:0]          we;
    logic                re;
    logic [IdxWidth-1:0] idx;
    logic [31:0]         dat;
  } access_t;

  logic        op;
  access_t     asked, access;
  logic [31:0] rdata;
  logic        unused_adr;

  assign op         = wb_cyc_i && wb_stb_i;
  assign asked      = '{
      we: {4{op && wb_we_i}} & wb_sel_i,
      re: op && !wb_we_i,
      idx: wb_adr_i[IdxWidth+1:2],
      dat: wb_dat_i
  };
  assign wb_stall_o = 1'b0;
  assign wb_err_o   = 1'b0;
  assign unused_adr = ^{wb_adr_i[31:IdxWidth+2], wb_adr_i[1:0]};

  ram_1r1w #(
    .Width    (32),
    .Depth    (Depth),
    .LaneWidth(8)
  ) u_ram (
    .clk_i,
    .we_i   (access.we),
    .waddr_i(access.idx),
    .wdata_i(access.dat),
    .re_i   (access.re),
    .raddr_i(access.idx),
    .rdata_o(rdata)
  );

  if (Registered) begin : gen_registered
    // An operation is accepted at its edge and executed one cycle later; cyc can only stop its
    // answer.
    access_t     access_q;
    logic [2:0]  ack_q;
    logic [31:0] rdata_q;
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
        access_q <= '0;
        ack_q    <= '0;
      end else begin
        access_q <= asked;
        ack_q    <= wb_cyc_i ? {ack_q[1:0], op} : '0;
      end
    end
    always_ff @(posedge clk_i) rdata_q <= rdata;

    assign access   = access_q;
    assign wb_ack_o = ack_q[2];
    assign wb_dat_o = rdata_q;
  end else begin : gen_direct
    logic ack_q;
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) ack_q <= 1'b0;
      else         ack_q <= op;
    end

    assign access   = asked;
    assign wb_ack_o = ack_q;
    assign wb_dat_o = rdata;
  end
endmodule
