// SPDX-License-Identifier: SHL-2.1
/// Merges the events of several boards between ports and lists: one record an event.
///
/// nanet_fragments, one a port -> nanet_join -> nanet_sorter, one a disk -> nanet_record
///
///   Handshake   in_* and out_* as nanet_queue's beats; all that leaves goes to the first port's
///               list
///   Ordering    events in the order of their numbers
///   Latency     last datagram of a group to its first record's end: the hits of that event and 25
///               cycles
///   Throughput  4 bytes a cycle of each port; a hit a cycle, and 4 cycles an event and 1 a board
///   Loss        none of good packets whose fragments come in time; what does not is counted by
///               port, state_o
///   Clear       clear_i high, the list is disabled: the datagram that is open ends, then fragments
///               are dropped as they come, counted as late, until it is low
///   Window      Window words a port: as long as these have room an event is waited for
///   Parameters  NumPorts 2..4; DataWidth 64..512; UsageW as nanet_queue; Window as nanet_fragments
///   Not done    events that are whole on one link: they need no merging
module nanet_merge
  import nanet_pkg::*;
#(
  parameter int unsigned NumPorts  = 4,
  parameter int unsigned DataWidth = 128,
  parameter int unsigned UsageW    = 10,
  parameter int unsigned Window    = 1024
) (
  input  logic                                   clk_i,
  input  logic                                   rst_ni,
  input  logic                                   clear_i,
  input  logic   [         31:0]                 wait_i,
  input  logic   [ NumPorts-1:0]                 in_valid_i,
  output logic   [ NumPorts-1:0]                 in_ready_o,
  input  entry_e [ NumPorts-1:0]                 in_kind_i,
  input  logic   [ NumPorts-1:0][DataWidth-1:0]  in_i,
  output logic                                   out_valid_o,
  input  logic                                   out_ready_i,
  output entry_e                                 out_kind_o,
  output logic   [DataWidth-1:0]                 out_o,
  output logic   [   UsageW-1:0]                 usage_o,
  output logic   [   UsageW-1:0]                 ends_o,
  output nanet_ctrl_pkg::merge_state_t           state_o,
  output logic                                   quiet_o,  // no datagram is open
  output logic                                   idle_o
);
  if (NumPorts < 2 || NumPorts > MergePorts) begin : gen_ports_check
    $error("nanet_merge: NumPorts is %0d, legal is 2..%0d", NumPorts, MergePorts);
  end
  typedef logic [NumPorts-1:0] ports_t;
  ports_t valid, ready, full, malformed, bad, own_idle, late, repeated, other, missing;
  fragment_t [NumPorts-1:0] fragment;
  for (genvar i = 0; i < int'(NumPorts); i++) begin : gen_port
    nanet_fragments #(
      .DataWidth(DataWidth),
      .Window   (Window)
    ) u_fragments (
      .clk_i,
      .rst_ni,
      .in_valid_i      (in_valid_i[i]),
      .in_ready_o      (in_ready_o[i]),
      .in_kind_i       (in_kind_i[i]),
      .in_i            (in_i[i]),
      .fragment_valid_o(valid[i]),
      .fragment_ready_i(ready[i]),
      .fragment_o      (fragment[i]),
      .full_o          (full[i]),
      .malformed_o     (malformed[i]),
      .bad_o           (bad[i]),
      .idle_o          (own_idle[i])
    );
  end

  logic begin_valid, begin_ready, event_valid, event_ready, hit_valid, join_idle, record_idle;
  logic join_quiet;
  event_number_t begin_number;
  logic [4:0] begin_events;
  merged_t merged;
  fragment_hit_t hit;
  nanet_join #(
    .NumPorts(NumPorts)
  ) u_join (
    .clk_i,
    .rst_ni,
    .clear_i,
    .wait_i,
    .fragment_valid_i(valid),
    .fragment_ready_o(ready),
    .fragment_i      (fragment),
    .full_i          (full),
    .begin_valid_o   (begin_valid),
    .begin_ready_i   (begin_ready),
    .begin_number_o  (begin_number),
    .begin_events_o  (begin_events),
    .event_valid_o   (event_valid),
    .event_ready_i   (event_ready),
    .event_o         (merged),
    .hit_valid_o     (hit_valid),
    .hit_o           (hit),
    .late_o          (late),
    .repeated_o      (repeated),
    .other_o         (other),
    .missing_o       (missing),
    .quiet_o         (join_quiet),
    .idle_o          (join_idle)
  );

  disk_hit_t [1:0][RecordSlots-1:0] hits;
  logic [1:0][12:0] counts;
  for (genvar i = 0; i < 2; i++) begin : gen_disk
    nanet_sorter u_sorter (
      .clk_i,
      .rst_ni,
      .clear_i    (event_valid && event_ready),
      .hit_valid_i(hit_valid && hit.disk == 1'(i)),
      .hit_i      ('{time_: {!hit.time_[18], hit.time_[17:0]}, site: hit.site}),
      .hits_o     (hits[i]),
      .count_o    (counts[i])
    );
  end
  nanet_record #(
    .DataWidth(DataWidth),
    .UsageW   (UsageW)
  ) u_record (
    .clk_i,
    .rst_ni,
    .begin_valid_i (begin_valid),
    .begin_ready_o (begin_ready),
    .begin_number_i(begin_number),
    .begin_events_i(begin_events),
    .event_valid_i (event_valid),
    .event_ready_o (event_ready),
    .event_i       (merged),
    .hits_i        (hits),
    .counts_i      (counts),
    .out_valid_o,
    .out_ready_i,
    .out_kind_o,
    .out_o,
    .usage_o,
    .ends_o,
    .idle_o        (record_idle)
  );

  // ---------------------------------------------------------------- counters
  nanet_ctrl_pkg::merge_state_t state_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= '0;
    end else begin
      if (event_valid && event_ready) begin
        state_q.merged <= state_q.merged + 32'd1;
        if (missing != '0) state_q.incomplete <= state_q.incomplete + 32'd1;
      end
      for (int unsigned i = 0; i < NumPorts; i++) begin
        state_q.late[i]      <= state_q.late[i] + 16'(late[i]);
        state_q.repeated[i]  <= state_q.repeated[i] + 16'(repeated[i]);
        state_q.other[i]     <= state_q.other[i] + 16'(other[i]);
        state_q.missing[i]   <= state_q.missing[i] + 16'(missing[i]);
        state_q.malformed[i] <= state_q.malformed[i] + 16'(malformed[i]);
        state_q.bad[i]       <= state_q.bad[i] + 16'(bad[i]);
      end
    end
  end
  assign state_o = state_q;
  assign quiet_o = join_quiet && record_idle;
  assign idle_o  = (&own_idle) && join_idle && record_idle;

  logic unused;
  assign unused = hit.none ^ hit.spare;
endmodule
