// SPDX-License-Identifier: SHL-2.1
/// Start and stop of the sending half of the RDMA network interface, and the links that it may use.
///
/// After enable_i has risen, clear_o is high for 512 cycles, in which clear_index_o names every
/// entry of the memories once; then run_o is high. After enable_i has fallen, run_o falls, and what
/// was granted is still sent: running_o falls when every packet has left and idle_i is high.
///
///   Handshake   commit_i: packets were granted. left_i: one of them has left
///   Latency     enable_i to clear_o 1 cycle, to run_o 513. up_i to up_o 3 cycles of clk_i
///   Throughput  a grant and a departure a cycle
///   Parameters  NumLinks 1..4
///   Not done    a time limit: a packet that never leaves keeps running_o high
module rdma_tx_run
  import rdma_tx_pkg::*;
#(
  parameter int unsigned NumLinks = 1
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  input  logic                enable_i,
  output logic                running_o,
  output logic                run_o,
  output logic                clear_o,
  output logic [8:0]          clear_index_o,

  input  commit_t             commit_i,
  input  logic                left_i,
  input  logic                idle_i,         // nothing is granted, recorded or given back

  input  logic [NumLinks-1:0] up_i,           // link's clock
  input  logic [NumLinks-1:0] link_enable_i,
  output logic [NumLinks-1:0] up_o,           // links that are up and enabled
  output logic                idle_o          // nothing changes until an input does
);
  if (NumLinks < 1 || NumLinks > 4) begin : gen_links_check
    $error("rdma_tx_run: NumLinks is %0d, legal is 1..4", NumLinks);
  end

  typedef enum logic [1:0] {
    StOff,
    StClear,
    StRun,
    StStop
  } state_e;

  state_e     state_q;
  logic [8:0] clear_q;
  logic       drained;
  assign run_o         = state_q == StRun;
  assign clear_o       = state_q == StClear;
  assign clear_index_o = clear_q;
  assign running_o     = state_q == StRun || state_q == StStop;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= StOff;
      clear_q <= '0;
    end else begin
      if (clear_o) clear_q <= clear_q + 9'd1;
      unique case (state_q)
        StOff:   if (enable_i) state_q <= StClear;
        StClear: if (clear_q == '1) state_q <= StRun;
        StRun:   if (!enable_i) state_q <= StStop;
        default: if (drained) state_q <= StOff;
      endcase
    end
  end

  // Data packets that were granted and have not left.
  logic [9:0] away_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) away_q <= '0;
    else away_q <= away_q + (commit_i.valid ? 10'(commit_i.count) : '0) - 10'(left_i);
  end
  assign drained = away_q == '0 && idle_i && !commit_i.valid;

  // ---------------------------------------------------------------- links that are up
  logic [NumLinks-1:0] up, up_q;
  logic up_settled;
  sync_bits #(.Width(NumLinks)) u_up (
    .clk_i,
    .rst_ni,
    .d_i      (up_i),
    .q_o      (up),
    .settled_o(up_settled)
  );
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) up_q <= '0;
    else up_q <= up & link_enable_i;
  end
  assign up_o = up_q;

  assign idle_o = (state_q == StOff ? !enable_i : run_o && enable_i) && up_settled &&
                  up_q == (up_i & link_enable_i);
endmodule
