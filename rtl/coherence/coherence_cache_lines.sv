// SPDX-License-Identifier: SHL-2.1
/// Lines of a cache: what its pipeline decides is written and read, and atomics change their words.
///
///   Handshake   write_i, re_i, change_i: strobes of one place. change_i, with re_i: data_i has the
///               operand of atomic_i. busy_o: the word is not written yet; no change_i and no re_i
///               of its line then
///   Ordering    a read of the place that is written at the same edge is of the old line; a write
///               goes before the word of an atomic, which waits
///   Latency     re_i to read_o 1 cycle; change_i to the written word 4, with no write meanwhile
///   Throughput  a write and a read a cycle
///   Parameters  Depth as ram_1r1w; Bytes of a line, 1..128; with Atomics 32, 64 or 128
///   Not done    forwarding of what is written
module coherence_cache_lines
  import coherence_atomic_pkg::*;
#(
  parameter  int unsigned Depth     = 256,
  parameter  int unsigned Bytes     = 128,
  parameter  bit          Atomics   = 1'b0,
  localparam int unsigned LineWidth = 8 * Bytes,
  localparam int unsigned AddrWidth = $clog2(Depth)
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,
  input  logic                 write_i,
  input  logic                 re_i,
  input  logic                 change_i,
  input  atomic_t              atomic_i,
  input  logic [AddrWidth-1:0] where_i,
  input  logic [Bytes-1:0]     mask_i,
  input  logic [LineWidth-1:0] data_i,
  output logic                 busy_o,
  output logic [LineWidth-1:0] read_o
);
  logic change_valid, change;
  logic [AddrWidth-1:0] change_where;
  logic [Bytes-1:0] change_mask;
  logic [LineWidth-1:0] change_data;
  assign change = change_valid && !write_i;
  ram_1r1w #(.Width(LineWidth), .Depth(Depth), .LaneWidth(8), .ReadOld(1'b1)) u_ram (
    .clk_i, .we_i(change ? change_mask : write_i ? mask_i : '0),
    .waddr_i(change ? change_where : where_i), .wdata_i(change ? change_data : data_i), .re_i,
    .raddr_i(where_i), .rdata_o(read_o)
  );

  if (Atomics) begin : gen_atomics
    localparam int unsigned Blocks = Bytes / 32;
    logic start_q, busy;
    atomic_t atomic_q;
    logic [AddrWidth-1:0] where_q;
    logic [255:0] operand, operand_q;
    always_comb begin
      operand = '0;
      for (int unsigned k = 0; k < Blocks; k++) begin
        if (32'(atomic_i.offset[6:5]) % Blocks == k) operand = operand | data_i[256*k+:256];
      end
    end
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) start_q <= 1'b0;
      else start_q <= change_i;
    end
    always_ff @(posedge clk_i) begin
      atomic_q  <= atomic_i;
      where_q   <= where_i;
      operand_q <= operand;
    end
    coherence_atomic #(.LineBytes(Bytes), .NumBits(AddrWidth)) u_atomic (
      .clk_i, .rst_ni, .start_i(start_q), .atomic_i(atomic_q), .where_i(where_q),
      .operand_i(operand_q), .line_i(read_o), .busy_o(busy), .valid_o(change_valid),
      .ready_i(change), .where_o(change_where), .mask_o(change_mask), .data_o(change_data)
    );
    assign busy_o = start_q || busy;
  end else begin : gen_none
    assign {busy_o, change_valid} = '0;
    assign {change_where, change_mask, change_data} = '0;
    logic unused;
    assign unused = ^{rst_ni, change_i, atomic_i};
  end
endmodule
