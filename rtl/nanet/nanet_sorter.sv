// SPDX-License-Identifier: SHL-2.1
/// Keeps the first hits of an event on a disk in the order of their times, and counts all.
///
///   Handshake   none: hit_valid_i takes a hit, clear_i empties it; not both in one clock
///   Ordering    by time, then by photomultiplier; of more than RecordSlots hits the first stay
///   Latency     a hit is in its place after 1 cycle, whatever came before
///   Throughput  a hit a cycle
///   Parameters  none
///   Not done    equal hits recognised: both stay
module nanet_sorter
  import nanet_pkg::*;
(
  input  logic                        clk_i,
  input  logic                        rst_ni,
  input  logic                        clear_i,
  input  logic                        hit_valid_i,
  input  disk_hit_t                   hit_i,
  output disk_hit_t [RecordSlots-1:0] hits_o,
  output logic      [12:0]            count_o      // all hits; at the most 8191 count
);
  disk_hit_t [RecordSlots-1:0] hits_q;
  logic [RecordSlots-1:0] there_q, stays;
  logic [12:0] count_q;
  // A place whose hit comes before the new one stays; behind the last such place is the new one's.
  always_comb begin
    for (int unsigned i = 0; i < RecordSlots; i++) stays[i] = there_q[i] && hits_q[i] <= hit_i;
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      there_q <= '0;
      count_q <= '0;
    end else if (clear_i) begin
      there_q <= '0;
      count_q <= '0;
    end else if (hit_valid_i) begin
      there_q <= {there_q[RecordSlots-2:0], 1'b1};
      if (count_q != '1) count_q <= count_q + 13'd1;
    end
  end
  always_ff @(posedge clk_i) begin
    if (hit_valid_i) begin
      if (!stays[0]) hits_q[0] <= hit_i;
      for (int unsigned i = 1; i < RecordSlots; i++) begin
        if (!stays[i]) hits_q[i] <= stays[i-1] ? hit_i : hits_q[i-1];
      end
    end
  end
  assign hits_o  = hits_q;
  assign count_o = count_q;
endmodule
