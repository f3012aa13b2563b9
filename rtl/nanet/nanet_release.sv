// SPDX-License-Identifier: SHL-2.1
/// The way out of a trigger's answers: from a program's stores to lines that change a fixed time
/// after the event, in the experiment's clock.
///
/// RESULT (clk_i) -> async_fifo -> nanet_calendar (ttc_clk_i) -> trigger
///
///   Answer      bits 23:0 of result_i are the low part of the event's time stamp, clocks of
///               ttc_clk_i since the burst began; bits 27:24 the rings found
///   Release     in the clock of time stamp + latency_i: trigger_o, and of lines_o bit r for an
///               event of r rings, bit 3 for three and more; events of one clock are released
///               together, as they are read out together
///   Handshake   result_valid_i is a strobe; an answer that finds 32 waiting is lost: lost_o
///   Counters    of clk_i, wrapping: clocks with a trigger; answers not released, late and early,
///               as nanet_calendar; answers without a place. The first three cross as
///               gray_counter
///   Latency     8 clocks of ttc_clk_i from the store to the release at least; 2 of them the
///               crossing
///   Throughput  a store in two clocks of ttc_clk_i, 32 at any rate
///   Reset       ttc_rst_ni is asserted with rst_ni; each is released in its own clock
///   Parameters  Slots as nanet_calendar
///   Not done    the experiment's encoding of clock and burst (TTC): ttc_start_i is decoded
module nanet_release #(
  parameter int unsigned Slots = 4096
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        result_valid_i,
  input  logic [31:0] result_i,
  output nanet_ctrl_pkg::release_state_t state_o,  // the counters, in clk_i
  input  logic        ttc_clk_i,
  input  logic        ttc_rst_ni,
  input  logic        ttc_start_i,  // one clock: a burst begins, clocks count from 0
  input  logic [23:0] latency_i,
  output logic        trigger_o,
  output logic [3:0]  lines_o,
  output logic        settled_o  // no answer crosses; for simulation kernels
);
  logic room, valid, ready, late, early;
  logic [27:0] answer;
  logic [3:0] lines;
  logic [23:0] unused_now;
  logic [31:0] lost_q;
  async_fifo #(
    .Width(28),
    .Depth(32)
  ) u_cross (
    .wclk_i   (clk_i),
    .wrst_ni  (rst_ni),
    .wvalid_i (result_valid_i),
    .wready_o (room),
    .wdata_i  (result_i[27:0]),
    .rclk_i   (ttc_clk_i),
    .rrst_ni  (ttc_rst_ni),
    .rvalid_o (valid),
    .rready_i (ready),
    .rdata_o  (answer),
    .settled_o
  );
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) lost_q <= '0;
    else if (result_valid_i && !room) lost_q <= lost_q + 32'd1;
  end

  assign lines = answer[27:24] >= 4'd3 ? 4'b1000 : 4'b0001 << answer[25:24];
  nanet_calendar #(
    .TimeWidth(24),
    .Slots    (Slots),
    .Lines    (4)
  ) u_calendar (
    .clk_i    (ttc_clk_i),
    .rst_ni   (ttc_rst_ni),
    .start_i  (ttc_start_i),
    .latency_i,
    .now_o    (unused_now),
    .valid_i  (valid),
    .ready_o  (ready),
    .time_i   (answer[23:0]),
    .lines_i  (lines),
    .trigger_o,
    .lines_o,
    .late_o   (late),
    .early_o  (early)
  );
  logic [2:0] happened;
  logic [2:0][31:0] counts;
  assign happened = {trigger_o, late, early};
  for (genvar i = 0; i < 3; i++) begin : gen_count
    gray_counter #(
      .Width(32)
    ) u_count (
      .clk_i  (ttc_clk_i),
      .rst_ni (ttc_rst_ni),
      .event_i(happened[i]),
      .rclk_i (clk_i),
      .rrst_ni(rst_ni),
      .count_o(counts[i])
    );
  end
  assign state_o = '{released: counts[2], late: counts[1], early: counts[0], lost: lost_q};
  logic unused;
  assign unused = ^{unused_now, result_i[31:28]};
endmodule
