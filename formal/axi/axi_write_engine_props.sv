// SPDX-License-Identifier: SHL-2.1
/// axi_write_engine: the bursts of a command are its bytes, one behind the other and none over the
/// end of a page; a burst's beats carry the strobes of its bytes and no others; one answer a
/// command, with an error if one of its bursts had one. A beat is taken where it is given, idle_o
/// is high exactly while no command is open. An address is held until it is taken and is offered
/// once, and the next burst is made as soon as there is a place for it.
///
/// Any commands, data, stalls and answers. One burst, arbitrarily chosen, represents all.
/// Bursts of 32 bytes on a bus of 64 bits, two unanswered.
module axi_write_engine_props (
  input logic        clk_i,
  input logic        cmd_valid_i,
  input logic [63:0] cmd_addr_i,
  input logic [6:0]  cmd_bytes_i,
  input logic [1:0]  cmd_tag_i,
  input logic        data_valid_i,
  input logic        data_keep_i,
  input logic [63:0] data_i,
  input logic        awready_i,
  input logic        wready_i,
  input logic        bvalid_i,
  input logic [1:0]  bresp_i,
  input logic        mark_i     // this burst is the one
);
  logic rst_ni, cmd_ready_o, data_ready_o, done_valid_o, done_error_o, awvalid_o, wvalid_o, wlast_o;
  logic bready_o, idle_o;
  logic [1:0]  done_tag_o;
  logic [63:0] wdata_o;
  logic [7:0]  wstrb_o;
  axi_pkg::address_t aw_o;

  axi_write_engine #(
    .DataWidth(64), .BurstBytes(32), .MaxBytes(64), .MaxBursts(2), .TagWidth(2)
  ) dut (.*);

  // The next burst's address and the end of its command, from its window on.
  logic [63:0] cut_addr;
  logic [6:0] cut_past;
  assign cut_addr = dut.u_cut.gen_stored.addr_q;
  assign cut_past = dut.u_cut.gen_stored.past_q;

  logic started_q = 1'b0;
  always_ff @(posedge clk_i) started_q <= 1'b1;
  assign rst_ni = started_q;

  always_comb begin
    assume (cmd_bytes_i != '0 && cmd_bytes_i <= 7'd64);
    // No command goes over the end of the address space.
    assume (cmd_addr_i[63:7] != '1);
  end

  // ---------------------------------------------------------------- a command's bursts
  logic cmd_take, w_take, b_take, aw_take, step;
  assign cmd_take = started_q && cmd_valid_i && cmd_ready_o;
  assign w_take   = wvalid_o && wready_i;
  assign b_take   = bvalid_i && bready_o;
  assign aw_take  = awvalid_o && awready_i;
  assign step     = started_q && dut.step;

  logic [63:0] next_q, end_q;   // the command's bytes that no burst has: from, up to
  logic [63:0] low, high;       // first and last byte of the burst that is made
  logic [1:0]  tag_q;           // of the command
  assign low  = dut.cut.addr + 64'(dut.cut_first);
  assign high = dut.cut.addr + {53'd0, dut.cut.len, 3'd0} + 64'(dut.cut_final);
  always_ff @(posedge clk_i) begin
    if (cmd_take) begin
      next_q <= cmd_addr_i;
      end_q  <= cmd_addr_i + 64'(cmd_bytes_i);
      tag_q  <= cmd_tag_i;
    end else if (step) begin
      next_q <= high + 64'd1;
    end
  end

  // ---------------------------------------------------------------- one burst
  logic        marked_q, w_under_q, b_under_q, aw_under_q, last_q;
  logic [63:0] low_q, high_q;
  logic [1:0]  own_tag_q;
  logic [1:0]  w_ahead_q, b_ahead_q;  // bursts in front of it, for data and for answers
  logic        mark;
  assign mark = step && mark_i && !marked_q;
  always_ff @(posedge clk_i) begin
    if (!started_q) begin
      marked_q   <= 1'b0;
      w_under_q  <= 1'b0;
      b_under_q  <= 1'b0;
      aw_under_q <= 1'b0;
    end else begin
      if (mark) begin
        marked_q   <= 1'b1;
        w_under_q  <= 1'b1;
        b_under_q  <= 1'b1;
        aw_under_q <= 1'b1;
        low_q      <= low;
        high_q     <= high;
        last_q     <= dut.cut_last;
        own_tag_q  <= tag_q;
        w_ahead_q  <= dut.u_shapes.usage_o - 2'(w_take && wlast_o);
        b_ahead_q  <= dut.u_tags.usage_o - 2'(b_take);
      end else begin
        if (aw_take) aw_under_q <= 1'b0;
        if (w_take && wlast_o) begin
          if (w_ahead_q == '0) w_under_q <= 1'b0;
          else w_ahead_q <= w_ahead_q - 2'd1;
        end
        if (b_take) begin
          if (b_ahead_q == '0) b_under_q <= 1'b0;
          else b_ahead_q <= b_ahead_q - 2'd1;
        end
      end
    end
  end

  // ---------------------------------------------------------------- answers
  logic [2:0] open_q;     // commands not answered
  logic       failed_q;   // a burst of the command that is being answered had an error
  logic       expect_q, expect_error_q;
  logic [1:0] expect_tag_q;
  always_ff @(posedge clk_i) begin
    if (!started_q) begin
      open_q   <= '0;
      failed_q <= 1'b0;
      expect_q <= 1'b0;
    end else begin
      open_q <= open_q + 3'(cmd_take) - 3'(done_valid_o);
      if (b_take) failed_q <= !dut.tag_last && (failed_q || bresp_i[1]);
      expect_q       <= b_take && dut.tag_last;
      expect_error_q <= failed_q || bresp_i[1];
      expect_tag_q   <= dut.tag;
    end
  end

  logic pending_q, stands_q;  // an address is made and not taken; it was not in the cycle before
  axi_pkg::address_t aw_q;
  always_ff @(posedge clk_i) begin
    if (!started_q) {pending_q, stands_q} <= '0;
    else begin
      pending_q <= step || (pending_q && !awready_i);
      stands_q  <= awvalid_o && !awready_i;
    end
    aw_q <= aw_o;
  end

  logic [1:0] shapes_used, tags_used;
  assign shapes_used = dut.u_shapes.usage_o;
  assign tags_used   = dut.u_tags.usage_o;
  // Of the tags that wait, those of a command's last burst.
  logic [1:0] lasts;
  logic       tag_at, next_at;
  assign tag_at  = dut.u_tags.rptr_q[0];
  assign next_at = !tag_at;
  assign lasts   = 2'(tags_used >= 2'd1 && dut.u_tags.mem_q[tag_at][2]) +
                   2'(tags_used == 2'd2 && dut.u_tags.mem_q[next_at][2]);
  // Where the burst's shape is, and its tag.
  logic w_at, b_at;
  assign w_at = dut.u_shapes.rptr_q[0] ^ w_ahead_q[0];
  assign b_at = tag_at ^ b_ahead_q[0];
  logic [13:0] shape;
  assign shape = dut.u_shapes.mem_q[w_at];
  logic [63:0] beat_addr;
  assign beat_addr = {low_q[63:3], 3'd0} + {53'd0, dut.beat_q, 3'd0};

  always_comb begin
    if (started_q) begin
      // The bursts of a command are its bytes, in order, none over a page's end.
      assert (dut.shape_valid_q == (shapes_used != '0));
      if (dut.cut_valid) begin
        assert (low == next_q && low <= high && high < end_q && dut.tag_q == tag_q);
        assert (high[63:5] == low[63:5] && dut.cut_last == (high + 64'd1 == end_q));
        assert (dut.cut.addr[2:0] == '0 && dut.cut.size == 3'd3 && dut.cut.burst == 2'b01);
        assert (end_q == {cut_addr[63:5], 5'd0} + 64'(cut_past));
        assert (next_q == cut_addr && end_q > next_q && end_q - next_q <= 64'd64);
        assert (end_q <= {58'h3FF_FFFF_FFFF_FFFF, 6'd0});
      end
      assert (awvalid_o == pending_q);
      if (stands_q) assert (aw_o == aw_q);
      assert (step == (dut.cut_valid && (!pending_q || awready_i) && shapes_used != 2'd2 &&
                       tags_used != 2'd2));
      assert (bready_o == (tags_used != '0));
      if (aw_under_q) begin
        assert (awvalid_o && aw_o.addr == {low_q[63:3], 3'd0} && aw_o.size == 3'd3);
        assert (64'(aw_o.len) == high_q[63:3] - low_q[63:3] && aw_o.burst == 2'b01);
      end
      // A beat is one of the sender's, as soon as there is a burst for it.
      assert (wvalid_o == (data_valid_i && shapes_used != '0));
      assert (data_ready_o == (wready_i && shapes_used != '0));
      assert (idle_o == (open_q == '0 && tags_used == '0 && !awvalid_o));
      // Its beats.
      if (w_under_q && w_ahead_q == '0 && wvalid_o) begin
        for (int unsigned i = 0; i < 8; i++) begin
          assert (wstrb_o[i] == (data_keep_i && beat_addr + 64'(i) >= low_q &&
                                 beat_addr + 64'(i) <= high_q));
        end
        assert (wlast_o == (beat_addr[63:3] == high_q[63:3]));
        assert (wdata_o == data_i);
      end
      // Its answer.
      if (b_under_q && b_ahead_q == '0) assert (dut.tag_last == last_q && dut.tag == own_tag_q);
      assert (done_valid_o == expect_q);
      if (done_valid_o) assert (done_error_o == expect_error_q && done_tag_o == expect_tag_q);
      assert (open_q == 3'(dut.cut_valid) + 3'(lasts) + 3'(done_valid_o));
      // What makes the above inductive.
      assert (failed_q == dut.error_q);
      assert (shapes_used <= 2'd2 && tags_used <= 2'd2);
      if (w_under_q || b_under_q || aw_under_q) begin
        assert (marked_q && low_q <= high_q && high_q[63:5] == low_q[63:5]);
      end
      if (w_under_q) begin
        assert (w_ahead_q < shapes_used);
        assert (64'(shape[13:6]) == high_q[63:3] - low_q[63:3]);
        assert (shape[5:3] == low_q[2:0] && shape[2:0] == high_q[2:0]);
        if (w_ahead_q == '0) assert (64'(dut.beat_q) <= high_q[63:3] - low_q[63:3]);
      end
      if (b_under_q) begin
        assert (b_ahead_q < tags_used && dut.u_tags.mem_q[b_at] == {last_q, own_tag_q});
      end
      if (shapes_used == '0) assert (dut.beat_q == '0);
      if (shapes_used != '0) begin
        assert (dut.beat_q <= dut.u_shapes.mem_q[dut.u_shapes.rptr_q[0]][13:6]);
      end
      cover (done_valid_o && expect_error_q && open_q == 3'd2);
      cover (w_take && wlast_o && dut.beat_q == 8'd3);
    end
  end
endmodule
