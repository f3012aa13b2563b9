// SPDX-License-Identifier: SHL-2.1
/// axi_read_engine: each beat is delivered with the granules of its burst and no others, under its
/// command's tag; the receiver has a place for every beat; stopped, nothing is offered, and a burst
/// is in the next cycle where nothing is in its way.
///
/// Any commands, any receiver, and a memory that answers in order whenever it likes. One burst,
/// arbitrarily chosen, represents all; which bursts a command has is proved of axi_cut.
/// Bursts of 32 bytes on a bus of 64 bits, two unanswered, granules of 4 bytes, 16 places.
module axi_read_engine_props (
  input logic        clk_i,
  input logic        cmd_valid_i,
  input logic [63:0] cmd_addr_i,
  input logic [6:0]  cmd_bytes_i,
  input logic [1:0]  cmd_tag_i,
  input logic        stop_i,
  input logic [4:0]  freed_i,     // places that the receiver frees
  input logic        data_ready_i,
  input logic        arready_i,
  input logic        rvalid_i,
  input logic [63:0] rdata_i,
  input logic [1:0]  rresp_i,
  input logic        mark_i       // this burst is the one
);
  logic rst_ni, cmd_ready_o, data_valid_o, data_begin_o, data_last_o, data_error_o, arvalid_o;
  logic rready_o, rlast_i, idle_o;
  logic [1:0]  data_keep_o, data_tag_o;
  logic [63:0] data_o;
  logic [4:0]  room_i, room_q;
  axi_pkg::address_t ar_o;
  assign room_i = room_q;

  axi_read_engine #(
    .DataWidth(64), .Granule(4), .BurstBytes(32), .MaxBytes(64), .MaxBursts(2), .TagWidth(2),
    .Reserve(1'b1), .RoomW(5)
  ) dut (.*);

  // The end of the command that is being cut, from its next burst's window on.
  logic [4:0] cut_past;
  assign cut_past = dut.u_cut.gen_stored.past_q;

  logic started_q = 1'b0;
  always_ff @(posedge clk_i) started_q <= 1'b1;
  assign rst_ni = started_q;

  always_comb begin
    assume (cmd_bytes_i != '0 && cmd_bytes_i <= 7'd64 && cmd_bytes_i[1:0] == '0);
    assume (cmd_addr_i[1:0] == '0 && cmd_addr_i[63:7] != '1);
  end

  logic ask, beat, ends;
  assign ask  = started_q && arvalid_o && arready_i;
  assign beat = started_q && rvalid_i && rready_o;
  assign ends = beat && rlast_i;

  // ---------------------------------------------------------------- the memory
  // Bursts in flight, the older one first: beats of it that follow the next.
  logic [1:0] n_q;
  logic [7:0] left0_q, left1_q;
  assign rlast_i = left0_q == '0;
  always_ff @(posedge clk_i) begin
    if (!started_q) begin
      n_q <= '0;
    end else begin
      n_q <= n_q + 2'(ask) - 2'(ends);
      if (ends) left0_q <= left1_q;
      else if (beat) left0_q <= left0_q - 8'd1;
      if (ask && n_q - 2'(ends) == '0) left0_q <= ar_o.len;
      else if (ask) left1_q <= ar_o.len;
    end
  end

  // ---------------------------------------------------------------- the receiver
  always_ff @(posedge clk_i) begin
    if (!started_q) room_q <= 5'd16;
    else room_q <= room_q - 5'(beat) + freed_i;
  end
  logic [5:0] under_way;
  assign under_way = (n_q != '0 ? 6'(left0_q) + 6'd1 : '0) +
                     (n_q == 2'd2 ? 6'(left1_q) + 6'd1 : '0);

  // ---------------------------------------------------------------- one burst
  logic        under_q, ahead_q;  // it is not answered; a burst in front of it is not
  logic        marked_q, last_q;
  logic [63:0] low_q, high_q, at_q;  // its first and last byte, its next beat
  logic [1:0]  tag_q, own_tag_q;
  logic [63:0] low, high;
  assign low  = ar_o.addr + {61'd0, dut.cut_first, 2'd0};
  assign high = ar_o.addr + {53'd0, ar_o.len, 3'd0} + {61'd0, dut.cut_final, 2'd3};
  always_ff @(posedge clk_i) begin
    if (!started_q) begin
      under_q  <= 1'b0;
      marked_q <= 1'b0;
    end else begin
      if (cmd_valid_i && cmd_ready_o) tag_q <= cmd_tag_i;
      if (ask && mark_i && !marked_q) begin
        marked_q  <= 1'b1;
        under_q   <= 1'b1;
        ahead_q   <= n_q - 2'(ends) != '0;
        low_q     <= low;
        high_q    <= high;
        at_q      <= ar_o.addr;
        last_q    <= dut.cut_last;
        own_tag_q <= tag_q;
      end else if (under_q) begin
        if (ends && !ahead_q) under_q <= 1'b0;
        if (ends) ahead_q <= 1'b0;
        if (beat && !ahead_q) at_q <= at_q + 64'd8;
      end
    end
  end

  // ---------------------------------------------------------------- a clock ago
  logic held_q, stop_q, offer_q, fits_q;
  axi_pkg::address_t ar_q;
  always_ff @(posedge clk_i) begin
    held_q  <= started_q && arvalid_o && !arready_i;
    ar_q    <= ar_o;
    stop_q  <= started_q && stop_i;
    offer_q <= started_q && arvalid_o;
    fits_q  <= started_q && dut.cut_valid && !arvalid_o && !stop_i && n_q != 2'd2 &&
        6'(room_q) >= under_way + 6'd4;
  end

  logic [4:0] shape, own;
  logic       own_at;
  assign own_at = dut.u_shapes.rptr_q[0] ^ ahead_q;
  assign own    = {dut.u_shapes.mem_q[own_at][4:2], dut.u_shapes.mem_q[own_at][1:0]};
  assign shape  = {low_q[2], high_q[2], last_q, own_tag_q};

  always_comb begin
    if (started_q) begin
      // The memory answers what it was asked for; the receiver frees what it holds.
      if (rvalid_i) assume (n_q != '0);
      assume (6'(room_q) + 6'(freed_i) <= 6'd16);

      // The bus: offers are held, none begins while stopped.
      if (held_q) assert (arvalid_o && ar_o == ar_q);
      if (stop_q && !offer_q) assert (!arvalid_o);
      if (fits_q) assert (arvalid_o);
      assert (idle_o == (n_q == '0 && !dut.cut_valid));

      // A place for every beat.
      assert (6'(room_q) >= under_way + (arvalid_o ? 6'(ar_o.len) + 6'd1 : '0));
      if (beat) assert (room_q != '0);

      // The burst's beats.
      if (beat && under_q && !ahead_q) begin
        for (int unsigned i = 0; i < 2; i++) begin
          assert (data_keep_o[i] == (at_q + 64'(4 * i) >= low_q && at_q + 64'(4 * i) <= high_q));
        end
        assert (data_begin_o == (at_q == {low_q[63:3], 3'd0}));
        assert (rlast_i == (at_q[63:3] == high_q[63:3]));
        assert (data_last_o == (rlast_i && last_q));
        assert (data_tag_o == own_tag_q && data_o == rdata_i && data_error_o == rresp_i[1]);
      end
      assert (data_valid_o == rvalid_i && rready_o == data_ready_i);

      // What makes the above inductive.
      assert (6'(dut.gen_reserve.under_way_q) == under_way && room_q <= 5'd16);
      assert (n_q == dut.u_shapes.usage_o && n_q <= 2'd2);
      if (n_q != '0) assert (left0_q < 8'd4);
      if (n_q == 2'd2) assert (left1_q < 8'd4);
      if (arvalid_o) begin
        assert (dut.cut_valid && n_q != 2'd2);
        assert (6'(dut.gen_reserve.beats_q) == 6'(ar_o.len) + 6'd1);
      end
      if (n_q == '0) assert (dut.begin_q);
      if (dut.cut_valid) begin
        assert (dut.tag_q == tag_q && low <= high && low[63:5] == high[63:5]);
        assert (cut_past > 5'(dut.u_cut.low) && cut_past < 5'd24);
      end
      if (under_q) begin
        assert (marked_q && low_q <= high_q && low_q[63:5] == high_q[63:5]);
        assert (low_q[1:0] == '0 && high_q[1:0] == '1 && own == shape);
        assert (n_q > 2'(ahead_q));
        if (ahead_q) begin
          assert (at_q == {low_q[63:3], 3'd0} && 64'(left1_q) == 64'(high_q[63:3] - low_q[63:3]));
        end else begin
          assert (at_q[2:0] == '0 && at_q[63:3] >= low_q[63:3] && at_q[63:3] <= high_q[63:3]);
          assert (64'(left0_q) == 64'(high_q[63:3] - at_q[63:3]));
          assert (dut.begin_q == (at_q == {low_q[63:3], 3'd0}));
        end
      end
      cover (beat && under_q && !ahead_q && data_last_o && data_keep_o == 2'b01 && !data_begin_o);
      cover (arvalid_o && room_q != 5'd16 && n_q == 2'd1);
    end
  end
endmodule
