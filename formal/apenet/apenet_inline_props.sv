// SPDX-License-Identifier: SHL-2.1
/// apenet_inline: what is read of a slot are the bytes that were stored for its own post, until the
/// slot's turn comes again; a post has its own place, bytes and target, and waits for every word up
/// to its last byte; nothing is posted while a write of registers is not answered, or without a
/// store to the post; no write of the window reaches the registers; answers stay until taken.
///
/// Any writes of any strobes, any stalls, any room, any registers behind. A post that was taken is
/// read at any time, but no longer than Slots - 2 others were taken behind it: so many have room in
/// apenet_put (apenet_pkg::CarriedSlots).
module apenet_inline_props (
  input logic                      clk_i,
  input logic                      enable_i,
  input axi_pkg::bar_request_t     bar_i,
  input axi_pkg::bar_response_t    regs_i,
  input logic                      room_i,
  input logic [1:0]                slot_i,
  input logic [1:0]                at_i,
  input logic                      watch_i,  // what is posted now
  input logic                      done_i    // it is not read any more
);
  localparam int unsigned Slots = 4;

  logic rst_ni, post_valid_o, idle_o;
  axi_pkg::bar_response_t    bar_o;
  axi_pkg::bar_request_t     regs_o;
  nanet_ctrl_pkg::put_post_t post_o;
  logic [127:0]              flit_o;
  apenet_inline #(
    .Slots(Slots)
  ) dut (.*);

  logic started_q = 1'b0;
  always_ff @(posedge clk_i) started_q <= 1'b1;
  assign rst_ni = started_q;

  // Never assigned another value and not initialised: any word of a payload.
  logic [3:0] one;
  always_ff @(posedge clk_i) one <= one;

  // ---------------------------------------------------------------- what was stored, by the bus
  logic        own_q, open_q, beat, word_we, low_we, high_we;
  logic [8:0]  at_q;          // double word in the page
  logic [31:0] now, word_q;   // of word `one`
  logic        known_q, post_q, placed_q, beat_q;
  logic [15:0] remote_q;
  logic [22:0] bytes_q;
  logic [3:0]  target_q;
  assign beat    = own_q && bar_i.wvalid && bar_o.wready;
  assign low_we  = beat && enable_i && at_q == '0 && bar_i.wstrb[3:0] != '0;
  assign high_we = beat && enable_i && at_q == '0 && bar_i.wstrb[7:4] != '0;
  assign now     = one[0] ? bar_i.wdata[63:32] : bar_i.wdata[31:0];
  assign word_we = beat && enable_i && at_q == 9'(one[3:1]) + 9'd1 &&
                   (one[0] ? bar_i.wstrb[7:4] != '0 : bar_i.wstrb[3:0] != '0);

  logic whole, taken;
  assign whole = post_valid_o && dut.complete;
  assign taken = whole && room_i && enable_i;
  always_ff @(posedge clk_i) begin
    if (!started_q) begin
      own_q   <= 1'b0;
      open_q  <= 1'b0;
      known_q <= 1'b0;
      post_q  <= 1'b0;
      placed_q <= 1'b0;
      beat_q   <= 1'b0;
    end else begin
      if (bar_i.awvalid && bar_o.awready && bar_i.awaddr[12]) own_q <= 1'b1;
      else if (beat && bar_i.wlast) own_q <= 1'b0;
      if (regs_o.awvalid && regs_i.awready) open_q <= 1'b1;
      else if (open_q && bar_o.bvalid && bar_i.bready) open_q <= 1'b0;
      known_q <= enable_i && (word_we || (known_q && !whole));
      beat_q   <= beat;
      placed_q <= placed_q || low_we;
      post_q  <= enable_i && (high_we || (post_q && !whole));
    end
  end
  always_ff @(posedge clk_i) begin
    if (bar_i.awvalid && bar_o.awready) at_q <= bar_i.awaddr[11:3];
    else if (beat) at_q <= at_q + 9'd1;
    if (word_we) word_q <= now;
    if (low_we) remote_q <= bar_i.wdata[31:16];
    if (high_we) {target_q, bytes_q} <= {bar_i.wdata[59:56], bar_i.wdata[54:32]};
  end

  // ---------------------------------------------------------------- one post that was taken
  logic        watched_q, covers_q, asked_q;
  logic [1:0]  slot_q, age_q;
  logic [31:0] kept_q;
  logic        covers;        // its bytes reach into word `one`, or into its pair
  assign covers = bytes_q <= 23'd64 && bytes_q > {18'd0, one[3:1], 3'd0};
  always_ff @(posedge clk_i) begin
    if (!started_q) begin
      watched_q <= 1'b0;
      asked_q   <= 1'b0;
    end else begin
      if (taken && watch_i && !watched_q) watched_q <= 1'b1;
      else if (done_i) watched_q <= 1'b0;
      asked_q <= watched_q && !done_i && slot_i == slot_q && at_i == one[3:2];
    end
  end
  always_ff @(posedge clk_i) begin
    if (!watched_q) begin
      slot_q   <= post_o.offset[1:0];
      kept_q   <= word_q;
      covers_q <= covers;
      age_q    <= '0;
    end else if (taken) begin
      age_q <= age_q + 2'd1;
    end
  end

  logic [127:0] filled, stored;
  assign filled = dut.u_slots.mem_q[{dut.slot_q, one[3:2]}];
  assign stored = dut.u_slots.mem_q[{slot_q, one[3:2]}];

  always_comb begin
    assume (!(taken && watched_q && age_q == 2'(Slots - 2)));
    // What is behind answers a write that it took, once.
    assume (!regs_i.bvalid || open_q);
    assume (!(regs_i.awready && open_q));
  end

  logic pending_q;
  logic [5:0] answer_q;
  always_ff @(posedge clk_i) begin
    pending_q <= started_q && dut.answer_q && !bar_i.bready;
    answer_q  <= {bar_o.bid, bar_o.bresp};
  end

  always_comb begin
    if (started_q) begin
      if (asked_q && covers_q) assert (flit_o[32*one[1:0]+:32] == kept_q);
      if (whole) begin
        assert (post_q && post_o.carried && !post_o.get);
        assert (post_o.bytes == bytes_q && post_o.target == target_q);
        if (placed_q) assert (post_o.remote == remote_q);
        if (covers) assert (known_q);
      end
      // A post that another one follows: refused, since it has no bytes.
      if (post_valid_o && !whole) assert (high_we && post_q && post_o.bytes == '0);
      if (post_valid_o) assert (!open_q);
      if (regs_o.awvalid) assert (!bar_i.awaddr[12]);
      if (regs_o.arvalid) assert (!regs_o.araddr[12]);
      if (own_q) assert (!regs_o.awvalid && !regs_o.wvalid);
      if (pending_q) assert (bar_o.bvalid && {bar_o.bid, bar_o.bresp} == answer_q);

      // What makes the above inductive.
      assert (own_q == (dut.state_q == 1'b1));
      assert (open_q == dut.passed_q);
      assert (!(own_q && open_q) && !(dut.answer_q && open_q) && !(dut.answer_q && own_q));
      if (own_q) assert (at_q == dut.addr_q);
      assert (dut.posted_q == post_q && dut.arrived_q[one] == known_q);
      if (post_q) begin
        assert (dut.bytes_q == bytes_q && dut.target_q == target_q);
        assert (dut.needed_q[one[3:1]] == covers);
      end
      if (dut.complete) assert (beat_q);
      if (beat_q) assert (!open_q);
      if (placed_q) assert (dut.remote_q == remote_q);
      if (known_q) assert (filled[32*one[1:0]+:32] == word_q);
      if (watched_q) begin
        assert (age_q <= 2'(Slots - 2) && dut.slot_q == slot_q + age_q + 2'd1);
        if (covers_q) assert (stored[32*one[1:0]+:32] == kept_q);
      end
      if (asked_q) assert (watched_q || !covers_q || flit_o[32*one[1:0]+:32] == kept_q);

      cover (asked_q && covers_q && age_q == 2'(Slots - 2) && kept_q == 32'h12345678);
      cover (whole && bytes_q == 23'd9);
      cover (post_valid_o && !whole);
    end
  end
endmodule
