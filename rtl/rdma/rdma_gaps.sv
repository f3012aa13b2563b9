// SPDX-License-Identifier: SHL-2.1
/// Search for packets that were lost: flows whose lowest place stays empty while a higher number
/// is known.
///
/// Each lost_cycles_i, the flows that may have a gap are scanned, one operation each. The first
/// scan that sees a gap keeps the highest number known as the limit; if the next one sees it still,
/// the empty places below the limit are given up.
///
///   Handshake   step_i: strobes, of flow src_i
///   Latency     give_up_o and at_limit_o: combinational from src_i and base_i; scan_o a cycle
///               behind tick_o
///   Timing      an empty place is given up 1 to 2 lost_cycles_i after its number is known;
///               0: never
///   Parameters  NumHosts 2..8
///   Not done    retiring what was given up
module rdma_gaps
  import rdma_pkg::*;
  import rdma_rx_pkg::*;
#(
  parameter int unsigned NumHosts = 8
) (
  input logic        clk_i,
  input logic        rst_ni,
  input logic        enable_i,
  input logic [31:0] lost_cycles_i,

  input logic [NumHosts-1:0] opened_i,
  input flow_t               src_i,
  input near_t               base_i,
  input gap_step_t           step_i,

  output logic                give_up_o,   // empty places of src_i below its limit are lost
  output logic                at_limit_o,
  output logic                wake_o,      // with step_i: from now on
  output logic                tick_o,
  output logic [NumHosts-1:0] scan_o,      // flows to be scanned
  output logic                rest_o
);
  typedef logic [NumHosts-1:0] hosts_t;

  (* ram_style = "distributed" *) near_t limit_q[MaxHosts];  // top at a gap's first sight
  hosts_t gap_q;       // the lowest place was empty at the last tick, and something is behind it
  hosts_t give_up_q;   // empty places below the limit are lost
  hosts_t scan_q;      // to be scanned since the last tick
  hosts_t watch_q;     // top and base may differ
  logic [31:0] ticks_q;  // down

  hosts_t one;
  assign one        = hosts_t'(1) << src_i;
  assign tick_o     = ticks_q == 32'd1;
  assign give_up_o  = give_up_q[src_i];
  assign at_limit_o = limit_q[src_i] == base_i;
  assign wake_o     = step_i.scanned && !give_up_o && step_i.gap && gap_q[src_i];
  assign scan_o     = scan_q;
  assign rest_o     = scan_q == '0 && (watch_q == '0 || lost_cycles_i == '0);

  always_ff @(posedge clk_i) begin
    if (step_i.scanned && !give_up_o && !gap_q[src_i]) limit_q[src_i] <= step_i.top;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      gap_q     <= '0;
      give_up_q <= '0;
      scan_q    <= '0;
      watch_q   <= '0;
      ticks_q   <= '0;
    end else begin
      if (step_i.watch) watch_q <= watch_q | one;
      if (step_i.walked) begin
        if (step_i.at_limit) give_up_q <= give_up_q & ~one;
        if (step_i.retired) gap_q <= gap_q & ~one;
        if (step_i.retired && step_i.known == near_t'(1)) watch_q <= watch_q & ~one;
      end
      if (step_i.scanned) begin
        scan_q <= scan_q & ~one;
        if (!give_up_o) begin
          gap_q <= step_i.gap ? gap_q | one : gap_q & ~one;
          if (wake_o) give_up_q <= give_up_q | one;
        end
        if (step_i.known == '0) watch_q <= watch_q & ~one;
      end
      if (step_i.begins) begin
        gap_q     <= gap_q & ~one;
        give_up_q <= give_up_q & ~one;
        watch_q   <= watch_q & ~one;
      end

      if (watch_q == '0 || ticks_q[31:1] == '0) ticks_q <= lost_cycles_i;
      else ticks_q <= ticks_q - 32'd1;
      if (tick_o) scan_q <= opened_i & watch_q;

      if (!enable_i) begin
        gap_q     <= '0;
        give_up_q <= '0;
        scan_q    <= '0;
        watch_q   <= '0;
      end
    end
  end
endmodule
