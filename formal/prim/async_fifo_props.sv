// SPDX-License-Identifier: SHL-2.1
/// async_fifo with two clocks that have nothing to do with each other: nothing lost, nothing
/// invented, order kept. One word is watched, by its number.
///
/// The clocks are inputs: each rises at any time. MaxEdges 1 or 2: the reader's clock rises at most
/// that often between two edges of the writer; 0: as often as it likes. With 1 the writer's clock
/// is not the slower one: then the reader knows of a word only if the writer's clock has risen once
/// more behind the edge that took it. rdma_voq relies on this: a beat is in its memory an edge of
/// the writer after it was announced, and is read an edge of the reader after the announcement is
/// known, so a whole cycle of the reader is between the two (the contract of ram_2clk).
module async_fifo_props #(
  parameter  bit          EarlyPointer = 1'b0,
  parameter  int unsigned MaxEdges     = 0,
  localparam int unsigned Width        = 2,
  localparam int unsigned Depth        = 8,
  localparam int unsigned PtrWidth     = $clog2(Depth) + 1
) (
  input logic             wclk_i,
  input logic             wvalid_i,
  input logic [Width-1:0] wdata_i,
  input logic             rclk_i,
  input logic             rready_i
);
  typedef logic [PtrWidth-1:0] ptr_t;

  // Each reset ends with the first edge of its clock.
  logic wrst_nq = 1'b0;
  logic rrst_nq = 1'b0;
  always_ff @(posedge wclk_i) wrst_nq <= 1'b1;
  always_ff @(posedge rclk_i) rrst_nq <= 1'b1;

  logic wready_o, rvalid_o, settled_o;
  logic [Width-1:0] rdata_o;
  async_fifo #(.Width(Width), .Depth(Depth), .EarlyPointer(EarlyPointer)) dut (
    .wclk_i, .wrst_ni(wrst_nq), .wvalid_i, .wready_o, .wdata_i,
    .rclk_i, .rrst_ni(rrst_nq), .rvalid_o, .rready_i, .rdata_o, .settled_o
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
  logic push, take;
  assign push = wvalid_i && wready_o;
  assign take = rvalid_o && rready_i;

  logic [Width-1:0] word_q, got_q;
  logic             took_q, fresh_q;
  always_ff @(posedge wclk_i or negedge wrst_nq) begin
    if (!wrst_nq) fresh_q <= 1'b0;
    else fresh_q <= push;  // the last edge of the writer took a word
  end
  always_ff @(posedge wclk_i) begin
    if (wrst_nq && push && dut.wbin_q == watch_q) word_q <= wdata_i;
  end
  always_ff @(posedge rclk_i or negedge rrst_nq) begin
    if (!rrst_nq) took_q <= 1'b0;
    else took_q <= take && dut.rbin_q == watch_q;
  end
  always_ff @(posedge rclk_i) got_q <= rdata_o;

  // ---------------------------------------------------------------- the clocks
  // Edges of the reader since the writer's last one, to the reader's last one.
  logic turn_q = 1'b0;
  logic seen_q = 1'b0;
  logic [1:0] edges_q = '0;
  always_ff @(posedge wclk_i) turn_q <= !turn_q;
  always_ff @(posedge rclk_i) begin
    seen_q  <= turn_q;
    edges_q <= seen_q != turn_q ? 2'd1 : edges_q == 2'd3 ? 2'd3 : edges_q + 2'd1;
  end

  // Pointers as they are known, in words since the reader's.
  ptr_t stored, r0, r1, w0, w1, behind, written;
  assign stored = dut.wbin_q - dut.rbin_q;
  assign r0     = binary(dut.rsync_q[0]) - dut.rbin_q;
  assign r1     = binary(dut.rsync_q[1]) - dut.rbin_q;
  assign w0     = dut.wbin_q - binary(dut.wsync_q[0]);
  assign w1     = dut.wbin_q - binary(dut.wsync_q[1]);
  assign behind = watch_q - dut.rbin_q;
  logic pending;  // the last word is not in the memory yet
  logic [Width-1:0] pending_word;
  logic [PtrWidth-2:0] pending_place;
  if (EarlyPointer) begin : gen_early
    assign pending       = dut.gen_early.wen_q;
    assign pending_word  = dut.gen_early.wdata_q;
    assign pending_place = dut.gen_early.waddr_q;
  end else begin : gen_direct
    assign pending       = 1'b0;
    assign pending_word  = '0;
    assign pending_place = '0;
  end
  assign written = stored - ptr_t'(pending);

  always_comb begin
    if (MaxEdges != 0) assume (32'(edges_q) <= MaxEdges);

    // Never more than there is space for; nothing is shown that was not written.
    assert (stored <= ptr_t'(Depth));
    if (rvalid_o) assert (stored != '0);
    // What is taken is what was written.
    if (took_q) assert (got_q == word_q);
    // What the reader knows of is older than the writer's last edge.
    if (MaxEdges == 1 && fresh_q) assert (r1 < stored);

    // Inductive strengthening.
    assert (dut.wgray_q == (dut.wbin_q ^ (dut.wbin_q >> 1)));
    assert (dut.rgray_q == (dut.rbin_q ^ (dut.rbin_q >> 1)));
    assert (r1 <= r0 && r0 <= stored);
    assert (stored <= w0 && w0 <= w1 && w1 <= ptr_t'(Depth));
    if (took_q) assert (dut.rbin_q == watch_q + 1'b1);
    if (behind < written) assert (dut.mem_q[watch_q[PtrWidth-2:0]] == word_q);
    if (pending) begin
      assert (fresh_q && stored != '0);
      assert (pending_place == dut.wbin_q[PtrWidth-2:0] - 1'b1);
      if (behind == written) assert (pending_word == word_q);
    end
    if (MaxEdges != 0 && fresh_q) begin
      // How far the last word's number has come through the synchronizer: an edge a stage.
      if (r0 == stored) assert (seen_q == turn_q && edges_q >= 2'd1);
      if (r1 == stored) assert (seen_q == turn_q && edges_q >= 2'd2);
    end

    cover (stored == ptr_t'(Depth) && !wready_o && took_q);
    cover (took_q && dut.rbin_q > ptr_t'(Depth));
  end
endmodule
