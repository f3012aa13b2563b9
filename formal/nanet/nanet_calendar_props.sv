// SPDX-License-Identifier: SHL-2.1
/// nanet_calendar: of any slot, what is released in its clock is what was taken for it since its
/// last one, or-ed, or nothing. What is taken is for the next clock of its slot, or is said to be
/// late or early. No answer waits for more than a clock.
///
/// Any answers, latency and bursts; times of 6 bits, 8 slots.
module nanet_calendar_props #(
  parameter int unsigned TimeWidth = 6,
  parameter int unsigned Slots     = 8,
  parameter int unsigned Lines     = 2
) (
  input logic                 clk_i,
  input logic                 start_i,
  input logic [TimeWidth-1:0] latency_i,
  input logic                 valid_i,
  input logic [TimeWidth-1:0] time_i,
  input logic [Lines-1:0]     lines_i,
  input logic [2:0]           slot_i
);
  logic rst_ni, ready_o, trigger_o, late_o, early_o;
  logic [TimeWidth-1:0] now_o;
  logic [Lines-1:0] lines_o;
  nanet_calendar #(.TimeWidth(TimeWidth), .Slots(Slots), .Lines(Lines)) dut (
    .clk_i, .rst_ni, .start_i, .latency_i, .now_o, .valid_i, .ready_o, .time_i, .lines_i,
    .trigger_o,
    .lines_o, .late_o, .early_o
  );

  logic started_q = 1'b0;
  always_ff @(posedge clk_i) started_q <= 1'b1;
  assign rst_ni = started_q;

  // Any slot, the same all the time.
  logic [2:0] slot, slot_q;
  assign slot = started_q ? slot_q : slot_i;
  always_ff @(posedge clk_i) slot_q <= slot;

  // The clock of time 0, the release of what comes, and how many clocks it is away: signed.
  logic [TimeWidth-1:0] zero_q, due, ahead;
  logic signed [TimeWidth-1:0] away;
  logic taken, waited_q;
  assign due   = zero_q + time_i + latency_i;
  assign ahead = due - now_o;
  assign away  = ahead;
  assign taken = valid_i && ready_o && !late_o && !early_o;
  always_ff @(posedge clk_i) begin
    if (!started_q) zero_q <= '0;
    else if (start_i) zero_q <= now_o + 1'b1;
  end

  // What the slot is to release, and clocks until then.
  logic there_q;
  logic [Lines-1:0] lines_q;
  logic [2:0] left;
  assign left = slot - now_o[2:0];
  always_ff @(posedge clk_i) begin
    if (!started_q || left == '0) begin
      there_q <= 1'b0;
      lines_q <= '0;
    end else if (taken && due[2:0] == slot) begin
      there_q <= 1'b1;
      lines_q <= lines_q | lines_i;
    end
    // A burst that begins moves what waits.
    waited_q <= started_q && valid_i && !ready_o && dut.swept_q && !start_i;
  end
  logic [TimeWidth-1:0] time_q, latency_q;
  always_ff @(posedge clk_i) begin
    time_q    <= time_i;
    latency_q <= latency_i;
  end

  // Its place in the memories, and what is under way to it.
  logic [Lines:0] stored, held, empty;
  logic [Lines-1:0] coming;
  logic put;
  assign stored = slot[0] ? dut.gen_bank[1].u_slots.mem_q[slot[2:1]]
                          : dut.gen_bank[0].u_slots.mem_q[slot[2:1]];
  assign held   = dut.rdata[slot[0]];
  assign put    = dut.put_q && dut.bank_q == slot[0] && dut.row_q == slot[2:1];
  assign coming = put ? dut.put_lines_q : '0;
  assign empty  = '0;

  always_comb begin
    if (started_q) begin
      if (left == '0 && dut.swept_q) begin
        assert (trigger_o == there_q);
        assert (lines_o == lines_q);
      end
      if (!dut.swept_q) assert (!trigger_o && !ready_o);
      if (valid_i && ready_o) begin
        assert (late_o == (away < 4));
        assert (early_o == (away >= 8));
      end else begin
        assert (!late_o && !early_o);
      end
      if (waited_q && time_i == time_q && latency_i == latency_q) assert (ready_o || !valid_i);
      // What makes the above inductive.
      assert (zero_q == dut.zero_q);
      if (!there_q) assert (lines_q == '0);
      if (!dut.swept_q) begin
        assert (!there_q && !dut.put_q);
        if (slot[2:1] < dut.sweep_q) assert (stored == empty);
      end else begin
        assert (dut.sweep_q == '0);
        if (dut.put_q) assert (dut.bank_q == now_o[0]);
        if (put) assert (left >= 3'd3 && held == stored);
        if (left >= 3'd2) begin
          assert (there_q == (stored[Lines] || put));
          assert (lines_q == ((stored[Lines] ? stored[Lines-1:0] : '0) | coming));
        end
        if (left == 3'd1) begin
          assert (there_q == held[Lines] && stored == held);
          assert (lines_q == (held[Lines] ? held[Lines-1:0] : '0));
        end
        if (left == '0) assert (!stored[Lines]);
      end
      cover (trigger_o && lines_o == 2'b11 && now_o > 6'd12);
      cover (late_o && dut.swept_q);
      cover (early_o);
      cover (start_i && there_q);
      cover (taken && there_q && due[2:0] == slot && lines_q != lines_i);
    end
  end
endmodule
