// SPDX-License-Identifier: SHL-2.1
/// event_queue: an event goes to the next place with the phase of its lap, never onto one that the
/// host has not taken; what finds no place is counted. Its beats are the event, in order, the last
/// one marked. An interrupt comes exactly when an event was answered since the last one and the gap
/// is over. Disabled, it takes nothing, and what was made begins anew when all is answered.
///
/// Any events, stalls and answers; a host that reports no more events than were written, disables
/// until it is idle, and begins anew as it enables.
module event_queue_props (
  input logic         clk_i,
  input logic         event_valid_i,
  input logic [254:0] event_i,
  input logic         cmd_ready_i,
  input logic         data_ready_i,
  input logic         done_valid_i,
  input logic         irq_enable_i,
  input logic         enable_i,
  input logic [15:0]  taken_i
);
  logic rst_ni, event_ready_o, full_o, cmd_valid_o, data_valid_o, data_last_o, irq_o, idle_o;
  logic [63:0] cmd_addr_o, data_o;
  logic [15:0] written_o;
  logic [31:0] lost_o;
  // Never assigned another value and not initialised: any constants.
  logic [3:0]  size_i;
  logic [63:0] base_i;
  logic [31:0] irq_gap_i;
  always_ff @(posedge clk_i) begin
    size_i    <= size_i;
    base_i    <= base_i;
    irq_gap_i <= irq_gap_i;
  end
  event_queue #(.DataWidth(64)) dut (.*);

  logic started_q = 1'b0;
  always_ff @(posedge clk_i) started_q <= 1'b1;
  assign rst_ni = started_q;

  logic [15:0] made_q = '0, taken_q = '0, owed_q = '0;
  logic [31:0] lost_q = '0;
  logic take, stored, data_take, anew;
  assign anew      = !enable_i && !cmd_valid_o && !data_valid_o && owed_q == '0;
  assign take      = started_q && event_valid_i && event_ready_o;
  assign stored    = take && !full_o;
  assign data_take = started_q && data_valid_o && data_ready_i;
  always_ff @(posedge clk_i) begin
    if (started_q) begin
      made_q  <= anew ? '0 : made_q + 16'(stored);
      lost_q  <= lost_q + 32'(take && full_o);
      taken_q <= taken_i;
      owed_q  <= owed_q + 16'(data_take && data_last_o) - 16'(done_valid_i);
    end else begin
      made_q  <= '0;
      lost_q  <= '0;
      taken_q <= '0;
      owed_q  <= '0;
    end
  end
  // The event under way, and its beats so far.
  logic         stored_q = 1'b0, asked_q = 1'b0, given_q = 1'b0;
  logic [255:0] given_event_q;
  logic [1:0]   beats_q = '0;
  always_ff @(posedge clk_i) begin
    stored_q <= stored;
    asked_q  <= started_q && cmd_valid_o && !cmd_ready_i;
    given_q  <= started_q && ((cmd_valid_o && cmd_ready_i) || (data_take && !data_last_o) ||
        (data_valid_o && !data_ready_i));
    if (stored) given_event_q <= {!made_q[size_i], event_i};
    if (!started_q || !data_valid_o) beats_q <= '0;
    else if (data_take) beats_q <= beats_q + 2'd1;
  end

  // Answers since the last interrupt, and how long ago that was.
  logic        news_q = 1'b0, quiet_q = 1'b1;
  logic [31:0] since_q;
  always_ff @(posedge clk_i) begin
    if (!started_q) begin
      news_q  <= 1'b0;
      quiet_q <= 1'b1;
    end else begin
      news_q <= done_valid_i || (news_q && irq_enable_i && !irq_o);
      if (irq_o) quiet_q <= 1'b0;
      else if (since_q == irq_gap_i) quiet_q <= 1'b1;
      if (irq_o) since_q <= '0;
      else since_q <= since_q + 32'd1;
    end
  end
  logic over;  // no interrupt in the last irq_gap_i cycles
  assign over = quiet_q || since_q == irq_gap_i;

  logic [15:0] places, used, step;
  assign places = 16'd1 << size_i;
  assign used   = made_q - taken_i;
  assign step   = taken_i - taken_q;

  logic fresh_q = 1'b1;  // nothing was made since all began
  always_ff @(posedge clk_i) fresh_q <= !started_q || anew || (fresh_q && !stored);
  logic began_q = 1'b0;  // anew, after events
  always_ff @(posedge clk_i) if (started_q && anew && made_q != '0) began_q <= 1'b1;

  // full_o is of the cycle before, in which no event was taken if one is taken now.
  logic full_q = 1'b0;
  logic [15:0] made_before_q = '0;
  logic enable_q = 1'b0;
  logic idle_q = 1'b1;
  always_ff @(posedge clk_i) begin
    full_q        <= started_q && !anew && used >= places;
    made_before_q <= started_q && !anew ? made_q : '0;
    enable_q      <= started_q && enable_i;
    idle_q        <= !started_q || idle_o;
  end
  always_comb begin
    assume (base_i[4:0] == '0);
    if (!started_q) assume (taken_i == '0);
    // It takes what was written, in order; it enables when all is at rest, and has taken nothing.
    if (started_q && enable_i && !enable_q) assume (idle_q && taken_i == '0);
    else if (fresh_q) assume (taken_i == '0 || (!enable_i && taken_i == taken_q));
    else assume (step <= written_o - taken_q);
    if (done_valid_i) assume (owed_q != '0);
  end

  logic [15:0] number;  // of the event that is being written
  assign number = made_q - 16'd1;
  always_comb begin
    if (started_q) begin
      if (enable_i || !fresh_q) assert (used <= places);
      assert (made_q == dut.made_q && lost_q == lost_o);
      assert (full_o == (full_q || !enable_i));
      if (event_ready_o) assert (made_before_q == made_q && (full_o || used < places));
      if (cmd_valid_o) begin
        assert (cmd_addr_o == base_i + {43'd0, number & (places - 16'd1), 5'd0});
      end
      // The last beat's highest bit is the phase: 1 in the first lap.
      if (data_valid_o && data_last_o) assert (data_o[63] == !number[size_i]);
      assert (written_o == made_q - owed_q - 16'(cmd_valid_o || data_valid_o));
      assert ((!enable_i && fresh_q) ||
              17'(owed_q) + 17'(cmd_valid_o || data_valid_o) <= 17'(used));
      assert (irq_o == (irq_enable_i && news_q && over));
      assert (idle_o == (owed_q == '0 && !cmd_valid_o && !data_valid_o && over &&
                         !(news_q && irq_enable_i) && (enable_i || made_q == '0)));
      // Command, then beats, held until they are taken; ready again behind them.
      assert (cmd_valid_o == (stored_q || asked_q));
      assert (data_valid_o == given_q);
      assert (event_ready_o == (!cmd_valid_o && !data_valid_o));
      if (data_valid_o) begin
        assert (data_o == given_event_q[64*beats_q +: 64]);
        assert (data_last_o == (beats_q == 2'd3));
      end
      // What makes the above inductive.
      if (!fresh_q) assert (16'(made_q - taken_q) <= places);
      if (fresh_q) assert (made_q == '0 && owed_q == '0 && !cmd_valid_o && !data_valid_o);
      if (fresh_q && enable_q) assert (taken_q == '0);
      if (!enable_q && idle_q) assert (fresh_q);
      if (cmd_valid_o || data_valid_o) assert (16'(made_q - taken_q) != '0);
      assert (dut.state_q != 2'd3);
      if (!data_valid_o) assert (dut.beat_q == '0);
      if (data_valid_o) assert (dut.event_q[255 - 64*dut.beat_q] == !number[size_i]);
      if (cmd_valid_o) assert (dut.event_q[255] == !number[size_i]);
      assert (beats_q == dut.beat_q);
      if (cmd_valid_o) assert (dut.event_q == given_event_q);
      if (data_valid_o) assert (dut.event_q == given_event_q >> (64 * beats_q));
      assert (news_q == dut.news_q);
      if (over) assert (dut.gap_q == '0);
      else assert (since_q < irq_gap_i && dut.gap_q == irq_gap_i - since_q);
      cover (full_o && take);
      cover (irq_o && written_o == 16'd1);
      cover (cmd_valid_o && !enable_i && lost_q != '0);
      cover (stored_q && made_q == 16'd1 && began_q);
    end
  end
endmodule
