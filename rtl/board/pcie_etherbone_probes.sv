// SPDX-License-Identifier: SHL-2.1
/// Probes of pcie_etherbone: numbers units (read bursts and pushes) as they begin, and follows them
/// through its stages.
///
///   Handshake   strobes in; probe_o: strobes in the same clock, with the unit's number
///   Latency     0 clocks
///   Parameters  none
///   Not done    counters
module pcie_etherbone_probes
  import pcie_etherbone_pkg::*;
(
  input logic       clk_i,
  input logic       rst_ni,
  input logic       start_i,
  input logic       fetch_i,
  input logic       push_commit_i,
  input logic       tail_new_i,
  input logic       in_first_i,
  input logic       operation_i,
  input logic       out_first_i,
  input logic [1:0] unit_i,
  input logic       told_i,

  output logic [NumProbes-1:0]      probe_o,
  output logic [NumProbes-1:0][7:0] probe_tag_o
);
  // Units are numbered as they begin; each stage counts passing units.
  logic [7:0] begun_q, in_q, out_q, sent_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      begun_q <= '0;
      in_q    <= '0;
      out_q   <= '0;
      sent_q  <= '0;
    end else if (start_i) begin
      in_q   <= begun_q;
      out_q  <= begun_q;
      sent_q <= begun_q;
    end else begin
      // The strobes are timing-critical: as enables they pass no adder.
      if (fetch_i || push_commit_i) begun_q <= begun_q + 8'd1;
      if (in_first_i) in_q <= in_q + 8'd1;
      if (out_first_i) out_q <= out_q + 8'd1;
      sent_q <= sent_q + 8'(unit_i);
    end
  end

  assign probe_o[BarWrite]            = push_commit_i || tail_new_i;
  assign probe_o[RingFetch]           = fetch_i;
  assign probe_o[StreamFirstWord]     = in_first_i;
  assign probe_o[WbIssue]             = operation_i;
  assign probe_o[ReplyFirstWord]      = out_first_i;
  assign probe_o[DmaWriteFirst]       = unit_i != '0;
  assign probe_o[StatusWritten]       = told_i;
  assign probe_tag_o[BarWrite]        = begun_q;
  assign probe_tag_o[RingFetch]       = begun_q;
  assign probe_tag_o[StreamFirstWord] = in_q;
  assign probe_tag_o[WbIssue]         = in_q - 8'd1;
  assign probe_tag_o[ReplyFirstWord]  = out_q;
  assign probe_tag_o[DmaWriteFirst]   = sent_q;
  assign probe_tag_o[StatusWritten]   = sent_q - 8'd1;
endmodule
