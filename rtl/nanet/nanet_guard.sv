// SPDX-License-Identifier: SHL-2.1
/// Takes datagrams that cannot wait and hands them to a stage that can: what does not fit is
/// dropped whole.
///
///   Handshake   in_valid_i is never stalled; out_* is valid/ready, and only an end waits
///   Drops       a datagram whose head finds no room is dropped without a trace; one that loses a
///               word later ends early, with an end that says overflow. lost_o: a strobe for each
///               head dropped
///   Latency     0 cycles
///   Throughput  an entry a cycle
///   Parameters  none
///   Not done    storing: the stages behind it do
module nanet_guard
  import nanet_pkg::*;
(
  input  logic   clk_i,
  input  logic   rst_ni,
  input  logic   in_valid_i,
  input  entry_t in_i,
  output logic   out_valid_o,
  input  logic   out_ready_i,
  output entry_t out_o,
  output logic   lost_o,
  output logic   idle_o
);
  logic skip_q;      // no head of this datagram went on
  logic cut_q;       // its head did, but not all of its words
  logic end_q;       // an end that still waits
  end_t end_kind_q;
  end_t in_end;
  logic passes, refused, is_head, is_end;

  assign is_head = in_valid_i && in_i.kind == EntryHead;
  assign is_end  = in_valid_i && in_i.kind == EntryEnd;
  assign in_end  = end_t'(in_i.data[$bits(end_t)-1:0]);
  assign passes  = in_valid_i && !end_q && !skip_q && !cut_q;
  assign refused = passes && !out_ready_i;
  assign lost_o  = is_head && (end_q || !out_ready_i);

  assign out_valid_o = end_q || passes;
  assign out_o       = end_q ? '{kind: EntryEnd, data: 64'(end_kind_q)} : in_i;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      skip_q     <= 1'b0;
      cut_q      <= 1'b0;
      end_q      <= 1'b0;
      end_kind_q <= '0;
    end else begin
      if (lost_o) skip_q <= 1'b1;
      else if (is_end) skip_q <= 1'b0;
      if (is_end) cut_q <= 1'b0;
      else if (refused && !is_head) cut_q <= 1'b1;
      if (is_end && !skip_q && (cut_q || refused)) begin
        end_q      <= 1'b1;
        end_kind_q <= cut_q ? '{overflow: 1'b1, good: 1'b0} : in_end;
      end else if (out_ready_i) begin
        end_q <= 1'b0;
      end
    end
  end

  assign idle_o = !skip_q && !cut_q && !end_q && !in_valid_i;
endmodule
