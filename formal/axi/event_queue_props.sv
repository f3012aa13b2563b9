// SPDX-License-Identifier: SHL-2.1
/// event_queue: an event goes to the next place with the phase of its lap, never onto one that the
/// host has not taken; what finds no place is counted.
///
/// Any events, stalls and answers; a host that reports no more events than were written.
module event_queue_props (
  input logic         clk_i,
  input logic         event_valid_i,
  input logic [254:0] event_i,
  input logic         cmd_ready_i,
  input logic         data_ready_i,
  input logic         done_valid_i,
  input logic         irq_enable_i,
  input logic [15:0]  taken_i
);
  logic rst_ni, event_ready_o, full_o, cmd_valid_o, data_valid_o, data_last_o, irq_o, idle_o;
  logic [63:0] cmd_addr_o, data_o;
  logic [15:0] written_o;
  logic [31:0] lost_o;
  // Never assigned another value and not initialised: any constants.
  logic [3:0]  size_i;
  logic [63:0] base_i;
  always_ff @(posedge clk_i) begin
    size_i <= size_i;
    base_i <= base_i;
  end
  logic enable_i;
  logic [31:0] irq_gap_i;
  assign enable_i  = 1'b1;
  assign irq_gap_i = 32'd2;

  event_queue #(.DataWidth(64)) dut (.*);

  logic started_q = 1'b0;
  always_ff @(posedge clk_i) started_q <= 1'b1;
  assign rst_ni = started_q;

  logic [15:0] made_q = '0, taken_q = '0, owed_q = '0;
  logic [31:0] lost_q = '0;
  logic take, stored, data_take;
  assign take      = started_q && event_valid_i && event_ready_o;
  assign stored    = take && !full_o;
  assign data_take = started_q && data_valid_o && data_ready_i;
  always_ff @(posedge clk_i) begin
    if (started_q) begin
      made_q  <= made_q + 16'(stored);
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
  logic [15:0] places, used, step;
  assign places = 16'd1 << size_i;
  assign used   = made_q - taken_i;
  assign step   = taken_i - taken_q;

  // full_o is of the cycle before, in which no event was taken if one is taken now.
  logic full_q = 1'b0;
  logic [15:0] made_before_q = '0;
  always_ff @(posedge clk_i) begin
    full_q        <= started_q && used >= places;
    made_before_q <= started_q ? made_q : '0;
  end
  always_comb begin
    assume (base_i[4:0] == '0);
    if (!started_q) assume (taken_i == '0);
    // It takes what was written, in order.
    assume (step <= written_o - taken_q);
    if (done_valid_i) assume (owed_q != '0);
  end

  logic [15:0] number;  // of the event that is being written
  assign number = made_q - 16'd1;
  always_comb begin
    if (started_q) begin
      assert (used <= places);
      assert (made_q == dut.made_q && lost_q == lost_o);
      assert (full_o == full_q);
      if (event_ready_o) assert (made_before_q == made_q && (full_o || used < places));
      if (cmd_valid_o) begin
        assert (cmd_addr_o == base_i + {43'd0, number & (places - 16'd1), 5'd0});
      end
      // The last beat's highest bit is the phase: 1 in the first lap.
      if (data_valid_o && data_last_o) assert (data_o[63] == !number[size_i]);
      assert (written_o == made_q - owed_q - 16'(cmd_valid_o || data_valid_o));
      assert (17'(owed_q) + 17'(cmd_valid_o || data_valid_o) <= 17'(used));
      if (irq_o) assert (irq_enable_i);
      if (idle_o) assert (owed_q == '0 && !cmd_valid_o && !data_valid_o);
      // What makes the above inductive.
      assert (16'(made_q - taken_q) <= places);
      if (cmd_valid_o || data_valid_o) assert (16'(made_q - taken_q) != '0);
      assert (dut.state_q != 2'd3);
      if (!data_valid_o) assert (dut.beat_q == '0);
      if (data_valid_o) assert (dut.event_q[255 - 64*dut.beat_q] == !number[size_i]);
      if (cmd_valid_o) assert (dut.event_q[255] == !number[size_i]);
      cover (full_o && take);
      cover (irq_o && written_o == 16'd1);
    end
  end
endmodule
