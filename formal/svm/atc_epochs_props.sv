// SPDX-License-Identifier: SHL-2.1
/// atc_epochs: one use and one invalidation are watched, each any. The invalidation completes once,
/// with its tag, and not while the use is open if it began before the invalidation's epoch ended.
/// Counters never pass MaxUses or 0.
module atc_epochs_props #(
  parameter int unsigned MaxUses = 3
) (
  input logic       clk_i,
  input logic       use_i,
  input logic       done_i,
  input logic [1:0] done_epoch_i,
  input logic       end_i,
  input logic [1:0] end_tag_i,
  input logic       complete_ready_i,
  input logic       watch_use_i,   // this use, and its end
  input logic       watch_done_i,
  input logic       watch_end_i    // this invalidation
);
  logic       rst_ni, end_ready_o, complete_valid_o;
  logic [1:0] epoch_o, complete_tag_o;

  atc_epochs #(.Epochs(4), .MaxUses(MaxUses), .TagWidth(2)) dut (.*);

  logic started_q = 1'b0;
  always_ff @(posedge clk_i) started_q <= 1'b1;
  assign rst_ni = started_q;

  // What is open, counted outside.
  logic [3:0][2:0] uses_q;
  logic [4:0]      sum;
  assign sum = 5'(uses_q[0]) + 5'(uses_q[1]) + 5'(uses_q[2]) + 5'(uses_q[3]);
  always_ff @(posedge clk_i) begin
    for (int unsigned e = 0; e < 4; e++) begin
      uses_q[e] <= !started_q ? '0 : uses_q[e] + 3'(use_i && epoch_o == 2'(e)) -
          3'(done_i && done_epoch_i == 2'(e));
    end
  end

  logic       live_q, inv_q, older_q, begins, ends;
  logic [1:0] live_epoch_q, inv_epoch_q, tag_q;
  assign begins = use_i && watch_use_i && !live_q;
  assign ends   = live_q && done_i && watch_done_i && done_epoch_i == live_epoch_q;
  always_ff @(posedge clk_i) begin
    if (!started_q) begin
      live_q <= 1'b0;
      inv_q  <= 1'b0;
    end else begin
      live_q <= begins || (live_q && !ends);
      if (begins) live_epoch_q <= epoch_o;
      if (end_i && watch_end_i && !inv_q) begin
        inv_q       <= 1'b1;
        inv_epoch_q <= epoch_o;
        tag_q       <= end_tag_i;
        older_q     <= begins || (live_q && !ends);
      end else begin
        if (complete_valid_o && complete_ready_i && dut.old_q == inv_epoch_q) inv_q <= 1'b0;
        if (ends) older_q <= 1'b0;
      end
    end
  end

  always_comb begin
    if (started_q) begin
      assume (!end_i || end_ready_o);
      assume (!use_i || sum < MaxUses);
      assume (!done_i || uses_q[done_epoch_i] != '0);
      // Another use's end needs another use.
      if (done_i && live_q && done_epoch_i == live_epoch_q && !watch_done_i)
        assume (uses_q[done_epoch_i] > 3'd1);

      assert (sum <= MaxUses);
      if (inv_q && complete_valid_o && dut.old_q == inv_epoch_q) begin
        assert (!(live_q && older_q));
        assert (complete_tag_o == tag_q);
      end
      // What makes it inductive.
      for (int unsigned e = 0; e < 4; e++) begin
        assert (dut.count_q[e] == uses_q[e]);
        if (2'(2'(e) - dut.old_q) > 2'(dut.epoch_q - dut.old_q)) assert (uses_q[e] == '0);
      end
      if (live_q) begin
        assert (uses_q[live_epoch_q] != '0);
        assert (2'(live_epoch_q - dut.old_q) <= 2'(dut.epoch_q - dut.old_q));
      end
      if (inv_q) begin
        assert (2'(inv_epoch_q - dut.old_q) < 2'(dut.epoch_q - dut.old_q));
        assert (dut.tag_q[inv_epoch_q] == tag_q);
        if (live_q && older_q) assert (2'(live_epoch_q - dut.old_q) <= 2'(inv_epoch_q - dut.old_q));
      end
      if (older_q && inv_q) assert (live_q);
      cover (inv_q && complete_valid_o && dut.old_q == inv_epoch_q && live_q);
      cover (inv_q && older_q && !end_ready_o);
    end
  end
endmodule
