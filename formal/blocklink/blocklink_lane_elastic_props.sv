// SPDX-License-Identifier: SHL-2.1
/// blocklink_lane_elastic with two clocks: every word but a SKIP is stored and leaves once, in
/// order and unchanged; the buffer is never full.
///
/// The clocks are inputs. Between two edges of the reader there is at most one of the writer, which
/// a reader of 300 MHz and a lane of 161 MHz keep with any oscillators. The reader leaves at most
/// Left words that it sees, as the lanes are read in step. One word is watched, by its number.
module blocklink_lane_elastic_props #(
  localparam int unsigned Depth    = 16,
  localparam int unsigned Left     = 8,
  localparam int unsigned PtrWidth = $clog2(Depth) + 1
) (
  input logic        wclk_i,
  input logic        valid_i,
  input logic        skip_i,
  input logic        mark_i,
  input logic [63:0] word_i,
  input logic        rclk_i,
  input logic        ready_i
);
  typedef logic [PtrWidth-1:0] ptr_t;

  logic wrst_nq = 1'b0;
  logic rrst_nq = 1'b0;
  always_ff @(posedge wclk_i) wrst_nq <= rrst_nq;  // words come when the reader is there
  always_ff @(posedge rclk_i) rrst_nq <= 1'b1;

  logic lost_o, valid_o, mark_o;
  logic [63:0] word_o;
  blocklink_lane_elastic #(.Depth(Depth)) dut (
    .wclk_i, .wrst_ni(wrst_nq), .valid_i, .skip_i, .mark_i, .word_i, .lost_o,
    .rclk_i, .rrst_ni(rrst_nq), .valid_o, .ready_i, .mark_o, .word_o
  );

  function automatic ptr_t binary(ptr_t gray);
    ptr_t value;
    for (int unsigned i = 0; i < PtrWidth; i++) value[i] = ^(gray >> i);
    return value;
  endfunction

  // ---------------------------------------------------------------- the clocks
  // An edge of the writer since the reader's last one; at the same time counts as since.
  logic wturn_q = 1'b0;
  logic wseen_q = 1'b0;
  logic rturn_q = 1'b0;
  logic rseen_q = 1'b0;
  logic wused_q = 1'b0;
  logic used;
  assign used = wturn_q != wseen_q;
  always_ff @(posedge wclk_i) begin
    wturn_q <= !wturn_q;
    rseen_q <= rturn_q;
    wused_q <= used;
  end
  always_ff @(posedge rclk_i) begin
    rturn_q <= !rturn_q;
    wseen_q <= wturn_q;
  end
  always_comb assume (!(wused_q && rseen_q == rturn_q));

  // ---------------------------------------------------------------- the watched word
  ptr_t watch_q;
  always_ff @(posedge wclk_i) watch_q <= watch_q;
  logic take, wanted;
  logic [64:0] stored_q, got_q;
  logic took_q;
  assign take   = valid_o && ready_i;
  assign wanted = valid_i && !skip_i;
  always_ff @(posedge wclk_i) begin
    if (wrst_nq && wanted && dut.u_fifo.wbin_q == watch_q) stored_q <= {mark_i, word_i};
  end
  always_ff @(posedge rclk_i or negedge rrst_nq) begin
    if (!rrst_nq) took_q <= 1'b0;
    else took_q <= take && dut.u_fifo.rbin_q == watch_q;
  end
  always_ff @(posedge rclk_i) got_q <= {mark_o, word_o};

  // Pointers as they are known, in words since the reader's.
  ptr_t stored, r0, r1, w0, w1, behind;
  assign stored = dut.u_fifo.wbin_q - dut.u_fifo.rbin_q;
  assign r0     = binary(dut.u_fifo.rsync_q[0]) - dut.u_fifo.rbin_q;
  assign r1     = binary(dut.u_fifo.rsync_q[1]) - dut.u_fifo.rbin_q;
  assign w0     = dut.u_fifo.wbin_q - binary(dut.u_fifo.wsync_q[0]);
  assign w1     = dut.u_fifo.wbin_q - binary(dut.u_fifo.wsync_q[1]);
  assign behind = watch_q - dut.u_fifo.rbin_q;

  always_comb begin
    if (r1 >= ptr_t'(Left)) assume (ready_i);

    // Each word but a SKIP is stored, and comes as it was.
    if (wrst_nq) assert (dut.u_fifo.push == wanted);
    assert (!lost_o);
    if (took_q) assert (got_q == stored_q);

    // Inductive strengthening.
    if (wrst_nq) assert (rrst_nq);
    assert (dut.u_fifo.wgray_q == (dut.u_fifo.wbin_q ^ (dut.u_fifo.wbin_q >> 1)));
    assert (dut.u_fifo.rgray_q == (dut.u_fifo.rbin_q ^ (dut.u_fifo.rbin_q >> 1)));
    assert (r1 <= r0 && r0 <= stored && stored <= w0 && w0 <= w1);
    assert (r1 <= ptr_t'(Left) && r0 - r1 <= ptr_t'(1) && stored - r0 <= ptr_t'(used));
    assert (w0 <= ptr_t'(Left + 3) && w1 <= ptr_t'(Left + 4));
    if (took_q) assert (dut.u_fifo.rbin_q == watch_q + 1'b1);
    if (behind < stored) assert (dut.u_fifo.mem_q[watch_q[PtrWidth-2:0]] == stored_q);

    cover (took_q && dut.u_fifo.rbin_q == ptr_t'(2) && valid_i && skip_i);
  end
endmodule
