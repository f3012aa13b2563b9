// SPDX-License-Identifier: SHL-2.1
/// coherence_cache_pending with places: of the operations of one line the oldest is decided, each
/// as it came and once; one that waits is shown again behind the next thing that may help it, and
/// no later one of its line is decided before; what may be shown is taken within as many turns as
/// there are places; only what has not waited is held from asking, and only while another waits.
///
/// Which operation is older is kept here without looking at lines.
module coherence_cache_pending_props
  import coherence_pkg::*;
(
  input logic       clk_i,
  input logic       core_valid_i,
  input logic [1:0] op_i,
  input index_t     core_index_i,
  input logic [7:0] core_tag_i,
  input logic [0:0] core_mask_i,
  input logic [7:0] core_data_i,
  input coherence_atomic_pkg::atomic_t core_atomic_i,
  input logic       take_i,
  input logic       done_i,
  input logic       again_i,
  input logic       wake_i,
  input logic [1:0] watch_i
);
  localparam int unsigned Places = 4;
  typedef logic [Places-1:0] places_t;
  logic rst_ni, core_ready_o, valid_o, drop_o, late_drop_o, hold_o;
  core_e core_op, op_o;
  index_t index_o;
  logic [7:0] tag_o, data_o;
  logic [0:0] mask_o;
  coherence_atomic_pkg::atomic_t atomic_o;
  assign core_op = core_e'(op_i);
  coherence_cache_pending #(.Bytes(1), .Places(Places), .Atomics(1'b1)) dut (
    .core_op_i(core_op), .*
  );

  logic started_q = 1'b0;
  always_ff @(posedge clk_i) started_q <= 1'b1;
  assign rst_ni = started_q;

  typedef struct packed {
    core_e      op;
    logic [7:0] tag;
    logic [0:0] mask;
    logic [7:0] data;
    coherence_atomic_pkg::atomic_t atomic;
  } operation_t;
  // What is in each place: put and not decided. Of which places it came behind.
  places_t in_q, behind_q [Places];
  index_t line_q [Places];
  // The stages as the caller has them: an operation, or none.
  places_t s1_q, s2_q, last_q, ending;  // last_q: waits since the last cycle
  logic [1:0] watch_q;
  operation_t word_q;
  logic put;
  assign put    = core_valid_i && core_ready_o;
  assign ending = done_i ? s2_q : '0;
  always_ff @(posedge clk_i) begin
    if (!started_q) begin
      {in_q, s1_q, s2_q, last_q} <= '0;
      watch_q <= watch_i;
    end else begin
      in_q <= (in_q | (put ? dut.gen_places.free : '0)) & ~ending;
      s1_q <= take_i ? dut.gen_places.shown : '0;
      last_q <= again_i ? s2_q : '0;
      s2_q <= drop_o || late_drop_o ? '0 : s1_q;
      for (int unsigned p = 0; p < Places; p++) begin
        behind_q[p] <= (put && dut.gen_places.free[p] ? in_q : behind_q[p]) & ~ending;
        if (put && dut.gen_places.free[p]) line_q[p] <= core_index_i;
      end
      if (put && dut.gen_places.free[watch_q]) begin
        word_q <= '{op: core_op, tag: core_tag_i, mask: core_mask_i, data: core_data_i,
                    atomic: core_atomic_i};
      end
    end
  end

  // Turns that others have had since the watched place could be shown.
  logic [2:0] turns_q;
  logic could_q, wake_q, had_q;  // had_q: it has waited, and was woken
  logic [1:0] between;  // places whose turn is before the watched one's
  assign between = watch_q + 2'($countones(dut.gen_places.after_q));
  always_ff @(posedge clk_i) begin
    if (!started_q || !dut.gen_places.may[watch_q] || dut.gen_places.shown[watch_q] && take_i) begin
      turns_q <= '0;
    end else if (take_i) turns_q <= turns_q + 3'd1;
    if (!started_q || ending[watch_q]) had_q <= 1'b0;
    else if (dut.gen_places.waits_q[watch_q] && wake_i) had_q <= 1'b1;
    // What it waits for may be there: it is shown again.
    wake_q  <= started_q && wake_i;
    could_q <= started_q && (dut.gen_places.waits_q[watch_q] && wake_i ||
                             s2_q[watch_q] && again_i && (wake_i || wake_q));
  end

  places_t peers [Places];  // older, of the same line
  always_comb begin
    for (int unsigned p = 0; p < Places; p++) begin
      for (int unsigned q = 0; q < Places; q++) begin
        peers[p][q] = behind_q[p][q] && line_q[p] == line_q[q];
      end
    end
  end
  always_comb begin
    if (started_q) begin
      assume (!take_i || valid_o);
      // An operation in stage 2 is decided or must wait.
      assume ((done_i ^ again_i) == (s2_q != '0) && !(done_i && again_i));

      assert (core_ready_o == (in_q != '1));
      for (int unsigned p = 0; p < Places; p++) begin
        // The oldest of its line.
        if (s2_q[p]) assert (peers[p] == '0);
        if (s2_q[p]) assert (in_q[p]);
        // Awake, and first of its line: shown, or in the pipeline, or one of others is.
        if (in_q[p] && peers[p] == '0 && !dut.gen_places.waits_q[p] && !s1_q[p] && !s2_q[p]) begin
          assert (valid_o);
        end
      end
      if (valid_o && dut.gen_places.shown[watch_q]) begin
        assert ({op_o, tag_o, mask_o, data_o, atomic_o} == word_q && index_o == line_q[watch_q]);
        assert (in_q[watch_q] && !s1_q[watch_q] && !s2_q[watch_q]);
      end
      if (could_q) assert (!dut.gen_places.waits_q[watch_q]);
      assert (turns_q < 3'(Places));
      // None is held from asking twice, nor while none waits.
      if (s2_q[watch_q]) begin
        assert (hold_o == (dut.gen_places.waits_q != '0 && !had_q));
      end
      // What makes the above inductive.
      assert ((~dut.gen_places.after_q & (~dut.gen_places.after_q + 1'b1)) == '0);
      assert (turns_q + 3'(between) < 3'(Places));
      assert (dut.gen_places.used_q == in_q && dut.gen_places.s1_q == s1_q &&
              dut.gen_places.s2_q == s2_q);
      assert ((s1_q & s2_q) == '0 && ((s1_q | s2_q | dut.gen_places.waits_q) & ~in_q) == '0);
      assert ((dut.gen_places.waits_q & (s1_q | s2_q)) == '0 && dut.again_q == (last_q != '0));
      assert (dut.gen_places.wake_q == wake_q && (dut.gen_places.woken_q & ~in_q) == '0);
      assert (dut.gen_places.woken_q[watch_q] == had_q);
      assert ((s1_q & (s1_q - 1'b1)) == '0 && (s2_q & (s2_q - 1'b1)) == '0);
      for (int unsigned p = 0; p < Places; p++) begin
        if (in_q[p]) begin
          assert (dut.gen_places.index_q[p] == line_q[p] && !behind_q[p][p]);
          assert ((behind_q[p] & ~in_q) == '0 && dut.gen_places.older_q[p] == peers[p]);
          for (int unsigned q = 0; q < Places; q++) begin
            // One is before the other, and that is an order.
            if (in_q[q] && q != p) assert (behind_q[p][q] != behind_q[q][p]);
            if (behind_q[p][q]) assert ((behind_q[q] & ~behind_q[p]) == '0);
          end
        end
        if (s1_q[p]) assert (dut.gen_places.s1_index_q == line_q[p]);
        if (s2_q[p]) assert (dut.gen_places.s2_index_q == line_q[p]);
        if (last_q[p]) begin
          assert (dut.again_q && dut.gen_places.s3_index_q == line_q[p]);
          assert (in_q[p] && !s1_q[p] && !s2_q[p]);
          for (int unsigned q = 0; q < Places; q++) begin
            if (s1_q[q] && line_q[q] == line_q[p]) assert (behind_q[q][p]);
          end
        end
        if (s1_q[p] && !late_drop_o) assert ((peers[p] & ~s2_q) == '0);
      end
      if (in_q[watch_q]) begin
        assert ({dut.gen_places.pend_q[watch_q],
                 dut.gen_places.gen_atomics.atomic_q[watch_q]} == word_q);
      end
      cover (again_i && drop_o && s1_q != '0);
      cover (late_drop_o && s1_q != '0);
      cover (done_i && dut.gen_places.waits_q != '0);
      cover (hold_o && s2_q != '0);
      cover (in_q == '1 && dut.gen_places.waits_q == 4'd7);
    end
  end
endmodule
