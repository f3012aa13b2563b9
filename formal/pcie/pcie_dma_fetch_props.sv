// SPDX-License-Identifier: SHL-2.1
/// pcie_dma_fetch between a host's memory, which answers in order whenever it likes, and a receiver
/// with `room_q` places.
///
/// The memory here has only the information of an AXI slave: address and length of each burst. Each
/// delivered word must come from the address of its position, so none is lost, duplicated or out of
/// order.
module pcie_dma_fetch_props #(
  parameter int unsigned BurstBytes = 64,
  parameter int unsigned MaxBursts  = 2,
  parameter int unsigned Room       = 32,
  localparam int unsigned RoomW     = $clog2(Room) + 1
) (
  input logic clk_i,
  input logic start_i,
  input logic run_i,
  input logic [63:6] base_i,
  input logic [22:0] size_i,
  input logic [29:0] tail_i,
  input logic honest_i,             // the tail keeps its contract
  input logic [RoomW-1:0] freed_i,  // places that the receiver frees
  input logic arready_i,
  input logic rvalid_i,
  input logic [63:0] rdata_i,
  input logic [1:0] rresp_i
);
  localparam int unsigned Words = BurstBytes / 4;

  logic rst_ni, write_o, first_o, arvalid_o, rready_o, rlast_i;
  logic [1:0] lanes_o;
  logic [63:0] data_o, araddr_o;
  logic [7:0] arlen_o;
  axi_pkg::address_t ar_o;
  logic [21:0] last_i;
  assign araddr_o = ar_o.addr;
  assign arlen_o  = ar_o.len;
  assign last_i   = 22'(size_i - 23'd1);
  logic [29:0] head_o;
  logic pending_o, burst_o, error_o, quiet_o, idle_o;
  logic [RoomW-1:0] room_i, room_q;
  assign room_i = room_q;

  pcie_dma_fetch #(
    .BurstBytes(BurstBytes),
    .MaxBursts (MaxBursts),
    .RoomW     (RoomW)
  ) dut (
    .*
  );

  // The command that the engine cuts: words of its next burst, words that no burst has.
  logic       busy;
  logic [4:0] len;
  logic [6:0] rest;
  logic [5:0] under_way;  // beats
  assign busy      = dut.u_engine.cut_valid;
  assign len       = 5'(dut.u_engine.u_cut.high) - 5'(dut.u_engine.u_cut.low) + 5'd1;
  assign rest      = !busy ? '0 :
                     7'(dut.u_engine.u_cut.gen_stored.past_q) - 7'(dut.u_engine.u_cut.low);
  assign under_way = 6'(dut.u_engine.gen_reserve.under_way_q);

  logic started_q = 1'b0;
  always_ff @(posedge clk_i) started_q <= 1'b1;
  assign rst_ni = started_q;

  logic honest_q;  // any constant
  always_ff @(posedge clk_i) honest_q <= honest_q;

  // ---------------------------------------------------------------- the memory
  // Bursts in flight, the older one first: address of the next beat, beats after it.
  logic [1:0] n_q;
  logic [63:3] addr0_q, addr1_q;
  logic [7:0] left0_q, left1_q;
  logic push, pop;
  assign push    = arvalid_o && arready_i;
  assign pop     = rvalid_i && rlast_i;
  assign rlast_i = left0_q == '0;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      n_q <= '0;
    end else begin
      n_q <= n_q + 2'(push) - 2'(pop);
      if (pop) begin
        addr0_q <= addr1_q;
        left0_q <= left1_q;
      end else if (rvalid_i) begin
        addr0_q <= addr0_q + 61'd1;
        left0_q <= left0_q - 8'd1;
      end
      if (push && n_q - 2'(pop) == '0) begin
        addr0_q <= araddr_o[63:3];
        left0_q <= arlen_o;
      end else if (push) begin
        addr1_q <= araddr_o[63:3];
        left1_q <= arlen_o;
      end
    end
  end

  // ---------------------------------------------------------------- the receiver
  logic known_q;         // it was started once
  logic [29:0] count_q;  // words delivered since the start
  logic begins_q;        // the next word is a burst's first
  logic bad_q;           // a beat was answered with an error
  logic [RoomW-1:0] words;
  assign words = write_o ? RoomW'(lanes_o[0]) + RoomW'(lanes_o[1]) : '0;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      known_q  <= 1'b0;
      count_q  <= '0;
      bad_q    <= 1'b0;
      begins_q <= 1'b1;
      room_q   <= RoomW'(Room);
    end else begin
      known_q  <= known_q || start_i;
      count_q  <= start_i ? '0 : count_q + 30'(words);
      bad_q    <= !start_i && (bad_q || (rvalid_i && rresp_i[1]));
      if (rvalid_i) begins_q <= rlast_i;
      room_q   <= run_i ? room_q - words + freed_i : RoomW'(Room);
    end
  end

  // ---------------------------------------------------------------- a clock ago
  logic start_q, run_q, arvalid_q, arready_q;
  logic [63:0] araddr_q;
  logic [7:0] arlen_q;
  logic [63:6] base_q;
  logic [22:0] size_q;
  logic [29:0] tail_q;
  always_ff @(posedge clk_i) begin
    start_q   <= started_q && start_i;
    run_q     <= started_q && run_i;
    arvalid_q <= started_q && arvalid_o;
    arready_q <= arready_i;
    araddr_q  <= araddr_o;
    arlen_q   <= arlen_o;
    base_q    <= base_i;
    size_q    <= size_i;
    tail_q    <= tail_i;
  end

  // ---------------------------------------------------------------- missing words of open bursts
  logic [4:0] len0_q, len1_q;
  always_ff @(posedge clk_i) begin
    if (pop) len0_q <= len1_q;
    else if (rvalid_i) len0_q <= len0_q - 5'(lanes_o[0]) - 5'(lanes_o[1]);
    if (push && n_q - 2'(pop) == '0) len0_q <= len;
    else if (push) len1_q <= len;
  end

  // ---------------------------------------------------------------- time bounds
  // Clocks in which the engine is stopped and the memory never stalls; the remaining work then.
  logic [5:0] stopped_q, todo;
  assign todo = (arvalid_o ? 6'(arlen_o) + 6'd2 : 6'(busy)) +
                (n_q != '0 ? 6'(left0_q) + 6'd1 : '0) + (n_q == 2'd2 ? 6'(left1_q) + 6'd1 : '0);
  // Clocks in which a burst could be requested and is not.
  logic [2:0] wait_q;
  logic could;
  assign could = honest_q && run_i && (busy || tail_i != dut.asked_q) &&
                 n_q < 2'(MaxBursts) && !arvalid_o &&
                 (RoomW + 2)'(room_q) >= (RoomW + 2)'({under_way, 1'b0}) + (RoomW + 2)'(Words);
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      stopped_q <= '0;
      wait_q    <= '0;
    end else begin
      stopped_q <= (!run_i && arready_i && (n_q == '0 || rvalid_i)) ?
                   stopped_q + 6'(stopped_q != '1) : '0;
      wait_q    <= could ? wait_q + 3'(wait_q != '1) : '0;
    end
  end

  // ---------------------------------------------------------------- addresses of positions
  // A ring begins at a multiple of a burst, so the place within one is the position's.
  function automatic logic [5:0] offset(logic [22:0] size, logic [29:0] position);
    return position[5:0] & 6'(size - 23'd1);
  endfunction
  function automatic logic [63:2] place(logic [63:6] base, logic [22:0] size,
                                        logic [29:0] position);
    return {base + 58'(2'(offset(size, position) >> 4)), position[3:0]};
  endfunction
  // From a position on, `len` words lie before the next boundary, so before the ring's end, too.
  function automatic logic whole(logic [29:0] position, logic [4:0] len);
    return len != '0 && 6'(position[3:0]) + 6'(len) <= 6'(Words);
  endfunction

  logic [63:2] at_count, at_after, at_fetch;
  logic [29:0] fetch_pos;  // up to which words have a burst
  logic [29:0] next_head;  // position of the younger burst
  logic [RoomW-1:0] in_flight;
  assign in_flight = RoomW'(n_q != '0 ? len0_q : '0) + RoomW'(n_q == 2'd2 ? len1_q : '0);
  assign at_count  = place(base_i, size_i, count_q);
  assign at_after  = place(base_i, size_i, count_q + 30'(lanes_o[0]));
  assign at_fetch  = place(base_i, size_i, fetch_pos);
  assign next_head = dut.head_q + 30'(len0_q);
  assign fetch_pos = dut.head_q + 30'(in_flight);

  always_comb begin
    if (started_q) begin
      // Configuration as checked by pcie_dma; it is stable from one start to the next.
      // Small rings in a small memory: the address arithmetic is the same.
      assume (size_i inside {23'd16, 23'd32});
      assume (base_i[63:9] == '0);
      if (!start_i) assume (base_i == base_q && size_i == size_q);
      if (start_i) assume (!run_i && quiet_o);
      if (run_i && !run_q) assume (start_q);
      // The memory answers only requests.
      if (rvalid_i) assume (n_q != '0);
      // The receiver has its places and no more.
      if (run_i) assume (7'(room_q) - 7'(words) + 7'(freed_i) <= 7'(Room));
      // Contract of the tail: forward only, at most a ring ahead.
      if (honest_q) begin
        if (run_i) assume (tail_i - head_o <= 30'(size_i));
        if (run_i) assume (tail_q - head_o <= tail_i - head_o);
        if (!run_i || !run_q) assume (tail_i == head_o);
      end

      // AXI: an offer is held; bursts are within a boundary, and within the ring.
      if (arvalid_q && !arready_q) assert (arvalid_o && araddr_o == araddr_q && arlen_o == arlen_q);
      if (arvalid_o) begin
        assert (araddr_o[2:0] == '0 && 8'(araddr_o[5:3]) + arlen_o <= 8'(BurstBytes / 8 - 1));
        assert (araddr_o >= {base_i, 6'd0});
        assert ({1'b0, araddr_o} + 65'({arlen_o, 3'd0}) + 65'd8 <=
                {1'b0, base_i, 6'd0} + 65'({size_i, 2'd0}));
      end
      assert (rready_o);
      // Words come from the addresses of their positions.
      if (write_o) begin
        assert (run_i && !bad_q && rvalid_i && !rresp_i[1] && lanes_o != '0);
        assert (data_o == rdata_i && first_o == begins_q);
        if (lanes_o[0]) assert ({addr0_q, 1'b0} == at_count);
        if (lanes_o[1]) assert ({addr0_q, 1'b1} == at_after);
        // There is room for them, and the host has written them.
        assert (words <= room_q);
        if (honest_q) assert (30'(words) <= tail_i - count_q);
      end
      // Each beat is delivered unless it must be dropped.
      if (rvalid_i && run_i && !bad_q && !rresp_i[1]) assert (write_o);
      assert (error_o == (rvalid_i && run_i && !bad_q && rresp_i[1]));
      if (run_i && !bad_q) assert (head_o == count_q);
      // Nothing begins once it is stopped; bursts in flight end.
      if (!run_i && !run_q && !arvalid_q) assert (!arvalid_o);
      assert (quiet_o == (n_q == '0 && !busy));
      assert (quiet_o || 7'(stopped_q) + 7'(todo) <= 7'd18);
      // Idle: nothing is in flight, starts or is left to ask for.
      if (idle_o) assert (quiet_o && !start_i);
      if (idle_o && honest_q && run_i) assert (dut.asked_q == tail_q);
      // While it runs, a burst is requested within three clocks.
      assert (wait_q <= 3'd3);

      // Inductive strengthening.
      if (run_q) assert (stopped_q == '0);
      if (!run_q) assert (wait_q == '0);
      assert (bad_q == dut.failed_q && begins_q == dut.u_engine.begin_q);
      assert (n_q <= 2'(MaxBursts) && dut.u_engine.u_shapes.usage_o == n_q);
      assert (!arvalid_o || (busy && n_q < 2'(MaxBursts)));
      if (arvalid_o) assert (6'(dut.u_engine.gen_reserve.beats_q) == 6'(arlen_o) + 6'd1);
      if (!run_q && !arvalid_q) assert (!busy);
      if (!known_q) assert (n_q == '0 && !busy && !run_i && !run_q && under_way == '0);
      if (n_q == '0) assert (begins_q);
      assert (under_way == 6'(n_q != '0 ? left0_q + 8'd1 : '0) +
              6'(n_q == 2'd2 ? left1_q + 8'd1 : '0));
      if (n_q != '0) begin
        assert (whole(dut.head_q, len0_q));
        assert (addr0_q == place(base_i, size_i, dut.head_q)[63:3]);
        assert (begins_q || !dut.head_q[0]);
        assert (left0_q + 8'd1 == (8'(len0_q) + 8'(dut.head_q[0]) + 8'd1) >> 1);
        if (begins_q) assert (dut.u_engine.shape[3] == dut.head_q[0]);
        assert (dut.u_engine.shape[2] == !next_head[0]);
      end
      if (n_q == 2'd2) begin
        assert (whole(next_head, len1_q));
        assert (addr1_q == place(base_i, size_i, next_head)[63:3]);
        assert (left1_q + 8'd1 == (8'(len1_q) + 8'(next_head[0]) + 8'd1) >> 1);
        assert (dut.u_engine.u_shapes.mem_q[!dut.u_engine.u_shapes.rptr_q[0]][3:2] ==
                {next_head[0], !(next_head[0] ^ len1_q[0])});
      end
      // The command: what is asked for and no burst has, at its address, up to the ring's end.
      if (busy) begin
        assert (dut.u_engine.u_cut.gen_stored.addr_q == at_fetch &&
                dut.u_engine.u_cut.gen_stored.past_q <= 11'd80);
        assert (rest != '0 && 23'(offset(size_i, fetch_pos)) + 23'(rest) <= size_i);
        assert (whole(fetch_pos, len) && 7'(len) <= rest);
      end
      if (known_q && (run_i || busy)) assert (dut.asked_q == fetch_pos + 30'(rest));
      if (run_i && !dut.known_q) assert (busy || start_q);
      if (run_i && dut.known_q && !dut.behind_q) begin
        assert (23'(offset(size_i, dut.asked_q)) + 23'(dut.words_q) <= size_i);
        if (honest_q) assert (30'(dut.words_q) <= tail_i - dut.asked_q);
      end
      if (honest_q && run_i) begin
        assert (dut.asked_q - dut.head_q <= tail_i - dut.head_q);
        if (dut.known_q) assert (!dut.behind_q);
      end
      assert (room_q <= RoomW'(Room));
      assert (7'({under_way, 1'b0}) + (arvalid_o ? {arlen_o[5:0], 1'b0} + 7'd2 : '0) <=
              7'(room_q));
      if (!busy) assert (wait_q <= 3'd1 && (wait_q == '0 || (dut.known_q && dut.words_q != '0)));
      if (!arvalid_o) assert (wait_q <= 3'd2);

      cover (write_o && n_q == 2'd2 && count_q != '0);
      cover (write_o && count_q == 30'(size_i));
      cover (write_o && lanes_o == 2'b10);
      cover (error_o && n_q == 2'd2);
      cover (!run_i && arvalid_o && n_q == 2'd1);
      cover (start_q && count_q == '0 && bad_q == 1'b0 && dut.u_engine.u_shapes.rptr_q != '0);
    end
  end
endmodule
