// SPDX-License-Identifier: SHL-2.1
/// async_block_fifo, both clocks the same: nothing lost, nothing invented, order kept; the counts
/// are on the safe side, each by what the other side did in the last two cycles.
/// One word is watched (queue_watch).
module async_block_fifo_props #(
  parameter int unsigned Width = 2,
  parameter int unsigned Depth = 16,
  localparam int unsigned PtrWidth = $clog2(Depth) + 1,
  localparam int unsigned CountWidth = PtrWidth + 1
) (
  input logic             clk_i,
  input logic             wvalid_i,
  input logic [Width-1:0] wdata_i,
  input logic             rready_i
);
  typedef logic [PtrWidth-1:0] ptr_t;
  typedef logic [CountWidth-1:0] count_t;
  logic             rst_ni, wready_o, rvalid_o;
  logic [Width-1:0] rdata_o;
  ptr_t             wused_o, rcount_o;

  async_block_fifo #(.Width(Width), .Depth(Depth)) dut (
    .wclk_i(clk_i), .wrst_ni(rst_ni), .wvalid_i, .wready_o, .wdata_i, .wused_o,
    .rclk_i(clk_i), .rrst_ni(rst_ni), .rvalid_o, .rready_i, .rdata_o, .rcount_o
  );

  logic started_q = 1'b0;
  always_ff @(posedge clk_i) started_q <= 1'b1;
  assign rst_ni = started_q;

  count_t watch, written, taken, count, ahead;
  logic   live, write, read;
  logic [Width-1:0] word;
  assign write = wvalid_i && wready_o;
  assign read  = rvalid_o && rready_i;

  queue_watch #(.Width(Width), .CountWidth(CountWidth)) u_watch (
    .clk_i, .rst_ni, .clear_i(1'b0),
    .write_i(write), .data_i(wdata_i), .read_i(read),
    .written_o(written), .read_o(taken), .count_o(count),
    .watch_o(watch), .ahead_o(ahead), .live_o(live), .word_o(word)
  );

  function automatic ptr_t binary(ptr_t gray);
    ptr_t value;
    for (int unsigned i = 0; i < PtrWidth; i++) value[i] = ^(gray >> i);
    return value;
  endfunction

  // The pointers as they were, one cycle and two ago, in words since the newest.
  ptr_t stored, w1, w0, r1, r0, place;
  assign stored = dut.wbin_q - dut.rbin_q;
  assign w0     = dut.wbin_q - binary(dut.rsync_q[0]);
  assign w1     = binary(dut.rsync_q[0]) - binary(dut.rsync_q[1]);
  assign r0     = dut.rbin_q - binary(dut.wsync_q[0]);
  assign r1     = binary(dut.wsync_q[0]) - binary(dut.wsync_q[1]);
  assign place  = dut.rbin_q + ptr_t'(ahead - count_t'(rvalid_o));

  // What each side has done up to a cycle ago, and two.
  count_t fetched, written1_q, written2_q, fetched1_q, fetched2_q;
  assign fetched = taken + count_t'(rvalid_o);
  always_ff @(posedge clk_i) begin
    if (!rst_ni) {written1_q, written2_q, fetched1_q, fetched2_q} <= '0;
    else {written1_q, written2_q, fetched1_q, fetched2_q} <= {written, written1_q, fetched,
        fetched1_q};
  end

  logic stood_q;
  logic [Width-1:0] stood_data_q;
  always_ff @(posedge clk_i) begin
    stood_q      <= rst_ni && rvalid_o && !rready_i;
    stood_data_q <= rdata_o;
  end

  always_comb begin
    if (started_q) begin
      assert (stored <= ptr_t'(Depth) && count == count_t'(stored) + count_t'(rvalid_o));
      assert (live == (ahead < count));
      if (live && ahead == '0 && rvalid_o) assert (rdata_o == word);
      if (stood_q) assert (rvalid_o && rdata_o == stood_data_q);
      assert (count_t'(rcount_o) <= count && wused_o >= stored && wused_o <= ptr_t'(Depth));
      assert (rcount_o == ptr_t'(written2_q - taken) && wused_o == ptr_t'(written - fetched2_q));
      assert (wready_o == (wused_o != ptr_t'(Depth)));
      // What makes the above inductive.
      assert (dut.wgray_q == (dut.wbin_q ^ (dut.wbin_q >> 1)));
      assert (dut.rgray_q == (dut.rbin_q ^ (dut.rbin_q >> 1)));
      assert (w0 <= ptr_t'(1) && w1 <= ptr_t'(1) && r0 <= ptr_t'(1) && r1 <= ptr_t'(1));
      assert (dut.wbin_q == ptr_t'(written) && dut.rbin_q == ptr_t'(fetched));
      assert (binary(dut.rsync_q[0]) == ptr_t'(written1_q) &&
              binary(dut.rsync_q[1]) == ptr_t'(written2_q));
      assert (binary(dut.wsync_q[0]) == ptr_t'(fetched1_q) &&
              binary(dut.wsync_q[1]) == ptr_t'(fetched2_q));
      assert (w0 + w1 <= stored);
      assert (stored + r0 + r1 <= ptr_t'(Depth));
      if (live && ahead >= count_t'(rvalid_o))
        assert (dut.u_ram.mem_q[place[PtrWidth-2:0]] == word);
      cover (stored == ptr_t'(Depth) && rvalid_o);
      cover (read && write && live && taken == watch && stored > 3);
    end
  end
endmodule
