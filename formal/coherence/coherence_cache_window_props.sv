// SPDX-License-Identifier: SHL-2.1
/// coherence_cache_window: operations are shown in their order, each as it came; one that must wait
/// is shown again and those behind it after it; one leaves when it is decided, and as many may be
/// inside as there are places.
///
/// One place is watched; which one is free.
module coherence_cache_window_props
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
  input logic [1:0] watch_i
);
  logic rst_ni, core_ready_o, valid_o;
  core_e core_op, op_o;
  index_t index_o;
  logic [7:0] tag_o, data_o;
  logic [0:0] mask_o;
  coherence_atomic_pkg::atomic_t atomic_o;
  assign core_op = core_e'(op_i);
  coherence_cache_window #(.Bytes(1), .Pending(4), .Atomics(1'b1)) dut (
    .core_op_i(core_op), .*
  );

  logic started_q = 1'b0;
  always_ff @(posedge clk_i) started_q <= 1'b1;
  assign rst_ni = started_q;

  typedef struct packed {
    core_e      op;
    index_t     index;
    logic [7:0] tag;
    logic [0:0] mask;
    logic [7:0] data;
    coherence_atomic_pkg::atomic_t atomic;
  } operation_t;
  // Numbers, modulo twice the places: of the next to come, to be shown, to be decided.
  logic [2:0] comes_q, shows_q, decides_q, held, under_way;
  logic [1:0] watch_q;
  logic       known_q;  // the watched place was written
  operation_t word_q, shown;
  logic       put;
  assign put       = core_valid_i && core_ready_o;
  assign held      = comes_q - decides_q;
  assign under_way = shows_q - decides_q;
  assign shown     = '{
    op: op_o, index: index_o, tag: tag_o, mask: mask_o, data: data_o, atomic: atomic_o
  };
  always_ff @(posedge clk_i) begin
    if (!started_q) begin
      watch_q                     <= watch_i;
      known_q                     <= 1'b0;
      {comes_q, shows_q, decides_q} <= '0;
    end else begin
      if (put) comes_q <= comes_q + 3'd1;
      if (done_i) decides_q <= decides_q + 3'd1;
      if (again_i) shows_q <= decides_q;
      else if (take_i) shows_q <= shows_q + 3'd1;
      if (put && comes_q[1:0] == watch_q) begin
        known_q <= 1'b1;
        word_q  <= '{
          op: core_op, index: core_index_i, tag: core_tag_i, mask: core_mask_i, data: core_data_i,
          atomic: core_atomic_i
        };
      end
    end
  end

  always_comb begin
    if (started_q) begin
      // What is shown may be taken; what is under way is decided, or must wait.
      assume (!take_i || valid_o);
      assume (!(done_i || again_i) || under_way != '0);
      assume (!(done_i && again_i));

      assert (core_ready_o == (held != 3'd4));
      assert (valid_o == (shows_q != comes_q));
      if (valid_o && shows_q[1:0] == watch_q) assert (shown == word_q);
      // What makes the above inductive.
      assert (held <= 3'd4 && under_way <= held);
      assert (dut.wptr_q == comes_q && dut.iptr_q == shows_q && dut.cptr_q == decides_q);
      if (2'(watch_q - decides_q[1:0]) < held) assert (known_q);
      if (known_q) begin
        assert ({dut.pend_q[watch_q], dut.gen_atomics.atomic_q[watch_q]} == word_q);
      end
      cover (again_i && under_way == 3'd3);
      cover (put && held == 3'd3 && comes_q[2]);
    end
  end
endmodule
