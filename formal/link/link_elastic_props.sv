// SPDX-License-Identifier: SHL-2.1
/// link_elastic with two clocks that have nothing to do with each other: each word of the line
/// leaves once, unchanged and in order, or was removable and removed, or the buffer was full; what
/// is added is ALIGN.
///
/// The clocks are inputs: each rises at any time. One word is watched, by its number.
module link_elastic_props
  import link_pkg::*;
#(
  localparam int unsigned Depth    = 16,
  localparam int unsigned PtrWidth = $clog2(Depth) + 1
) (
  input logic  wclk_i,
  input logic  signal_i,
  input word_t word_i,
  input logic  rclk_i
);
  typedef logic [PtrWidth-1:0] ptr_t;

  // Each reset ends with the first edge of its clock.
  logic wrst_nq = 1'b0;
  logic rrst_nq = 1'b0;
  always_ff @(posedge wclk_i) wrst_nq <= 1'b1;
  always_ff @(posedge rclk_i) rrst_nq <= 1'b1;

  logic removed_o, lost_o, signal_o, added_o, empty_o;
  word_t word_o;
  link_elastic #(.Depth(Depth)) dut (
    .wclk_i, .wrst_ni(wrst_nq), .signal_i, .word_i, .removed_o, .lost_o,
    .rclk_i, .rrst_ni(rrst_nq), .signal_o, .word_o, .added_o, .empty_o
  );

  function automatic ptr_t binary(ptr_t gray);
    ptr_t value;
    for (int unsigned i = 0; i < PtrWidth; i++) value[i] = ^(gray >> i);
    return value;
  endfunction

  // ---------------------------------------------------------------- the watched word
  // Never assigned another value and not initialised: any constant.
  ptr_t watch_q;
  always_ff @(posedge wclk_i) watch_q <= watch_q;
  word_t entry_q, left_q;
  logic  entry_signal_q, left_out_q, popped_q, any_popped_q;
  always_ff @(posedge wclk_i) begin
    if (wrst_nq && dut.push && dut.wbin_q == watch_q) begin
      entry_q        <= word_i;
      entry_signal_q <= signal_i;
    end
    left_q <= word_i;
  end
  always_ff @(posedge wclk_i or negedge wrst_nq) begin
    if (!wrst_nq) left_out_q <= 1'b0;
    else left_out_q <= signal_i && !dut.push;  // a word of the line that did not enter
  end
  always_ff @(posedge rclk_i or negedge rrst_nq) begin
    if (!rrst_nq) begin
      popped_q     <= 1'b0;
      any_popped_q <= 1'b0;
    end else begin
      popped_q     <= dut.pop && dut.rbin_q == watch_q;
      any_popped_q <= dut.pop;
    end
  end

  // Pointers as they are known, in words since the reader's.
  ptr_t stored, r0, r1, w0, w1, behind;
  assign stored = dut.wbin_q - dut.rbin_q;
  assign r0     = binary(dut.rsync_q[0]) - dut.rbin_q;
  assign r1     = binary(dut.rsync_q[1]) - dut.rbin_q;
  assign w0     = dut.wbin_q - binary(dut.wsync_q[0]);
  assign w1     = dut.wbin_q - binary(dut.wsync_q[1]);
  assign behind = watch_q - dut.rbin_q;

  // Half full less the two cycles that a pointer needs to cross; an eighth above and below it.
  localparam ptr_t Start = ptr_t'(Depth / 2 - 2);
  localparam ptr_t High  = ptr_t'(Depth / 2 + 2 + 3);
  localparam ptr_t Low   = ptr_t'(Depth / 2 - 2 - 2);

  logic removing, adding, taking;
  assign removing = w1 >= High && (!signal_i || is_removable(word_i));
  assign adding   = dut.running_q && r1 != '0 && dut.head_signal && r1 <= Low &&
      is_removable(dut.head);
  assign taking   = dut.running_q && r1 != '0 && !adding;
  logic was_running_q, started_q, was_empty_q;
  always_ff @(posedge rclk_i or negedge rrst_nq) begin
    if (!rrst_nq) begin
      was_running_q <= 1'b0;
      started_q     <= 1'b0;
      was_empty_q   <= 1'b0;
    end else begin
      was_running_q <= dut.running_q;
      started_q     <= r1 >= Start;
      was_empty_q   <= r1 == '0;
    end
  end

  always_comb begin
    // Removed and added at their marks only, and always there; taken whenever there is a word.
    assert (dut.push == (!removing && w1 < ptr_t'(Depth)));
    assert (dut.add == adding);
    assert (dut.pop == taking);
    assert (dut.running_q == (was_running_q ? !was_empty_q : started_q));
    assert (empty_o == (was_running_q && was_empty_q));

    // A word that did not enter is counted, once, and was removable or found the buffer full.
    assert (left_out_q == (removed_o || lost_o));
    assert (!(removed_o && lost_o));
    if (removed_o) assert (is_removable(left_q));
    // What was taken out leaves unchanged; nothing else leaves but an ALIGN that was added.
    if (popped_q) assert (signal_o == entry_signal_q && word_o == entry_q);
    if (signal_o) assert (any_popped_q != added_o);
    if (added_o) assert (word_o == WordAlign && signal_o);
    // Nothing is taken out that is not inside.
    if (dut.pop) assert (stored != '0);
    assert (stored <= ptr_t'(Depth));

    // Inductive strengthening.
    assert (dut.wgray_q == (dut.wbin_q ^ (dut.wbin_q >> 1)));
    assert (dut.rgray_q == (dut.rbin_q ^ (dut.rbin_q >> 1)));
    assert (r1 <= r0 && r0 <= stored);
    assert (stored <= w0 && w0 <= w1 && w1 <= ptr_t'(Depth));
    if (popped_q) assert (any_popped_q && dut.rbin_q == watch_q + 1'b1);
    if (behind < stored) begin
      assert (dut.mem_q[watch_q[PtrWidth-2:0]] == {entry_signal_q, entry_q});
    end

    cover (popped_q && signal_o && dut.rbin_q > ptr_t'(1));
  end
endmodule
