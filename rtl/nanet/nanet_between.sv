// SPDX-License-Identifier: SHL-2.1
/// What lies between the ports' queues and the lists: nanet_search, nanet_merge, or only wires.
///
///   Handshake   in_* and out_*: beats as nanet_queue gives them, valid/ready
///   Clocks      clk_i; search_clk_i for search_i, with Search. rst_ni is synchronized into it here
///   Ordering    of each port as it was; with Merge all that leaves goes to the first list
///   Latency     none, or as nanet_search or nanet_merge
///   Throughput  a beat a cycle and port, or as these
///   Enabling    fresh_o: with Search the next datagram of a port is one of events. quiet_o: with
///               Merge none is on the way to the list
///   Parameters  NumPorts, DataWidth, UsageW as nanet_search; Search, Merge 0, 1, not both; Window
///               as nanet_merge
///   Not done    candidates of merged events
module nanet_between
  import nanet_pkg::*;
#(
  parameter int unsigned NumPorts  = 4,
  parameter int unsigned DataWidth = 128,
  parameter int unsigned UsageW    = 10,
  parameter bit          Search    = 1'b0,
  parameter bit          Merge     = 1'b0,
  parameter int unsigned Window    = 1024
) (
  input  logic                                   clk_i,
  input  logic                                   rst_ni,
  input  logic                                   search_clk_i,
  input  rich_pkg::memory_write_t                search_i,
  input  logic                                   merge_clear_i,  // as clear_i of nanet_merge
  input  logic  [31:0]                           merge_wait_i,  // cycles, as nanet_merge
  output nanet_ctrl_pkg::merge_state_t           merge_o,  // counters of nanet_merge; 0 without
  input  beat_t [NumPorts-1:0]                   in_i,
  input  logic  [NumPorts-1:0][DataWidth-1:0]    in_data_i,
  output logic  [NumPorts-1:0]                   in_ready_o,
  output beat_t [NumPorts-1:0]                   out_o,
  output logic  [NumPorts-1:0][DataWidth-1:0]    out_data_o,
  input  logic  [NumPorts-1:0]                   out_ready_i,
  output logic  [NumPorts-1:0]                   fresh_o,  // a list may be enabled
  output logic                                   quiet_o,  // no merged datagram is open
  output logic                                   idle_o    // nothing changes until an input does
);
  if (Merge && Search) begin : gen_both_check
    $error("nanet_between: Merge and Search are 1, legal is one of them");
  end
  logic [NumPorts-1:0] in_valid, unused_queue;
  entry_e [NumPorts-1:0] in_kind;
  for (genvar i = 0; i < int'(NumPorts); i++) begin : gen_in
    assign in_valid[i] = in_i[i].valid;
    assign in_kind[i]  = in_i[i].kind;
    assign unused_queue[i] = ^{in_i[i].usage, in_i[i].ends};
  end
  if (Search) begin : gen_search
    logic search_rst_n;
    sync_reset u_search_reset (
      .clk_i (search_clk_i),
      .rst_ni,
      .rst_no(search_rst_n)
    );
    logic [NumPorts-1:0] out_valid;
    entry_e [NumPorts-1:0] out_kind;
    logic [NumPorts-1:0][UsageW-1:0] usage, ends;
    nanet_search #(
      .NumPorts (NumPorts),
      .DataWidth(DataWidth),
      .UsageW   (UsageW)
    ) u_search (
      .clk_i,
      .rst_ni,
      .search_clk_i,
      .search_rst_ni(search_rst_n),
      .cfg_we_i     (search_i.we),
      .cfg_memory_i (search_i.memory),
      .cfg_addr_i   (search_i.addr),
      .cfg_data_i   (search_i.data),
      .in_valid_i   (in_valid),
      .in_ready_o,
      .in_kind_i    (in_kind),
      .in_i         (in_data_i),
      .out_valid_o  (out_valid),
      .out_ready_i,
      .out_kind_o   (out_kind),
      .out_o        (out_data_o),
      .usage_o      (usage),
      .ends_o       (ends),
      .fresh_o,
      .idle_o
    );
    for (genvar i = 0; i < int'(NumPorts); i++) begin : gen_out
      assign out_o[i] = '{
          valid: out_valid[i], kind: out_kind[i], usage: 16'(usage[i]), ends: 16'(ends[i])
      };
    end
  end else if (Merge) begin : gen_merge
    logic [UsageW-1:0] usage, ends;
    beat_t merged;
    logic [DataWidth-1:0] merged_data;
    nanet_merge #(
      .NumPorts (NumPorts),
      .DataWidth(DataWidth),
      .UsageW   (UsageW),
      .Window   (Window)
    ) u_merge (
      .clk_i,
      .rst_ni,
      .clear_i    (merge_clear_i),
      .wait_i     (merge_wait_i),
      .in_valid_i (in_valid),
      .in_ready_o,
      .in_kind_i  (in_kind),
      .in_i       (in_data_i),
      .out_valid_o(merged.valid),
      .out_ready_i(out_ready_i[0]),
      .out_kind_o (merged.kind),
      .out_o      (merged_data),
      .usage_o    (usage),
      .ends_o     (ends),
      .state_o    (merge_o),
      .quiet_o,
      .idle_o
    );
    assign merged.usage = 16'(usage);
    assign merged.ends  = 16'(ends);
    assign out_o        = (NumPorts * $bits(beat_t))'(merged);
    assign out_data_o   = (NumPorts * DataWidth)'(merged_data);
    logic unused_ready;
    assign unused_ready = ^out_ready_i;
  end else begin : gen_wires
    assign out_o      = in_i;
    assign out_data_o = in_data_i;
    assign in_ready_o = out_ready_i;
    assign idle_o     = 1'b1;
    logic unused_clk;
    assign unused_clk = clk_i ^ rst_ni;
  end
  if (!Merge) begin : gen_no_merge
    assign merge_o = '0;
    assign quiet_o = 1'b1;
  end
  if (!Search) begin : gen_no_search
    assign fresh_o = '1;
  end
  logic unused;
  assign unused = ^{unused_queue, in_valid, in_kind, search_clk_i, search_i, merge_clear_i,
                    merge_wait_i};
endmodule
