// SPDX-License-Identifier: SHL-2.1
/// Stores a datagram whole before it goes on: the store-and-forward stages of the published
/// interface.
///
///   Handshake   valid/ready on both sides
///   Ordering    first in, first out
///   Latency     a datagram's head leaves 2 cycles after its end came in
///   Throughput  an entry a cycle: a word of 32 bits
///   Parameters  Depth in entries, as block_fifo; a datagram has at most Depth - 2
///   Not done    dropping what is bad: its end says so
module nanet_store
  import nanet_pkg::*;
#(
  parameter int unsigned Depth = 1024
) (
  input  logic   clk_i,
  input  logic   rst_ni,
  input  logic   in_valid_i,
  output logic   in_ready_o,
  input  entry_t in_i,
  output logic   out_valid_o,
  input  logic   out_ready_i,
  output entry_t out_o,
  output logic   idle_o
);
  logic fifo_valid, put_end, take_end;
  logic [$clog2(Depth):0] whole_q;  // ends inside

  block_fifo #(
    .Width($bits(entry_t)),
    .Depth(Depth)
  ) u_fifo (
    .clk_i,
    .rst_ni,
    .valid_i(in_valid_i),
    .ready_o(in_ready_o),
    .data_i (in_i),
    .valid_o(fifo_valid),
    .ready_i(out_ready_i && whole_q != '0),
    .data_o (out_o)
  );
  assign out_valid_o = fifo_valid && whole_q != '0;
  assign put_end     = in_valid_i && in_ready_o && in_i.kind == EntryEnd;
  assign take_end    = out_valid_o && out_ready_i && out_o.kind == EntryEnd;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) whole_q <= '0;
    else if (put_end != take_end) whole_q <= put_end ? whole_q + 1'b1 : whole_q - 1'b1;
  end
  assign idle_o = !fifo_valid;
endmodule
