// SPDX-License-Identifier: SHL-2.1
/// Stores words of packets; those of a packet are read when it is found good, or never.
///
///   Handshake   put_valid_i is taken while put_ready_o; keep_i or drop_i, for a clock without a
///               word, ends a packet: its words may be read, or are forgotten. out_*: valid/ready
///   Ordering    first in, first out                (proved: formal/nanet/nanet_window.sby)
///   Full        full_o while it has no room. If nothing of it can be read then, the packet is
///               longer than the window, and stuck_o says so: its words are lost, drop it
///   Latency     2 cycles from keep_i to out_valid_o
///   Throughput  a word a cycle
///   Parameters  Width 1..64; Depth a power of two, 4..4096
///   Not done    a part of a packet kept
module nanet_window #(
  parameter int unsigned Width = 34,
  parameter int unsigned Depth = 1024
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic             put_valid_i,
  output logic             put_ready_o,
  input  logic [Width-1:0] put_i,
  input  logic             keep_i,
  input  logic             drop_i,
  output logic             full_o,
  output logic             stuck_o,
  output logic             out_valid_o,
  input  logic             out_ready_i,
  output logic [Width-1:0] out_o,
  output logic             empty_o      // nothing is stored
);
  if (Depth < 4 || Depth > 4096 || (Depth & (Depth - 1)) != 0) begin : gen_depth_check
    $error("nanet_window: Depth is %0d, legal is a power of two, 4..4096", Depth);
  end
  localparam int unsigned AddrW = $clog2(Depth);
  logic [AddrW:0] write_q, kept_q, read_q;
  logic valid_q, fetch, put;

  assign full_o      = write_q == {~read_q[AddrW], read_q[AddrW-1:0]};
  assign stuck_o     = full_o && read_q == kept_q && !valid_q;
  assign put_ready_o = !full_o;
  assign put         = put_valid_i && put_ready_o;
  assign fetch       = read_q != kept_q && (!valid_q || out_ready_i);
  assign out_valid_o = valid_q;
  assign empty_o     = !valid_q && write_q == read_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      write_q <= '0;
      kept_q  <= '0;
      read_q  <= '0;
      valid_q <= 1'b0;
    end else begin
      if (put) write_q <= write_q + 1'b1;
      else if (drop_i) write_q <= kept_q;
      if (keep_i) kept_q <= write_q;
      if (fetch) read_q <= read_q + 1'b1;
      if (fetch) valid_q <= 1'b1;
      else if (out_ready_i) valid_q <= 1'b0;
    end
  end
  ram_1r1w #(
    .Width  (Width),
    .Depth  (Depth),
    .ReadOld(1'b0)
  ) u_words (
    .clk_i,
    .we_i   (put),
    .waddr_i(write_q[AddrW-1:0]),
    .wdata_i(put_i),
    .re_i   (fetch),
    .raddr_i(read_q[AddrW-1:0]),
    .rdata_o(out_o)
  );
endmodule
