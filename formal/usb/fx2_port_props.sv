// SPDX-License-Identifier: SHL-2.1
/// fx2_port beside an FX2LP: endpoint 2 holds `some_q` bus words, endpoint 6 has space for
/// `room_q`. Packets arrive, and leave, at any time; PKTEND takes any part of the space.
module fx2_port_props #(
  parameter int unsigned QuietCycles = 4
) (
  input logic        clk_i,
  input logic [15:0] fd_i,
  input logic        live_i,
  input logic        busy_i,
  input logic        rx_ready_i,
  input logic        tx_valid_i,
  input logic [31:0] tx_data_i,
  input logic [ 3:0] arrives_i,  // words the host adds to endpoint 2
  input logic [ 3:0] frees_i,    // room the host makes in endpoint 6
  input logic [ 3:0] wasted_i    // room that PKTEND takes
);
  logic        rst_ni;
  logic [15:0] fd_o;
  logic [ 1:0] fifoadr_o;
  logic        fd_oe_o, sloe_no, slrd_no, slwr_no, pktend_no;
  logic        flag_empty_ni, flag_last_ni, flag_full_ni, flag_tight_ni;
  logic        rx_valid_o, tx_ready_o, stale_o, end_o, idle_o;
  logic [31:0] rx_data_o;

  fx2_port #(
    .Burst      (8),
    .QuietCycles(QuietCycles),
    .ZlpCycles  (6),
    .StaleCycles(8),
    .PacketBytes(8)
  ) dut (
    .*
  );

  logic started_q = 1'b0;
  always_ff @(posedge clk_i) started_q <= 1'b1;
  assign rst_ni = started_q;

  logic [3:0] some_q, room_q;
  logic [1:0] address_q;
  logic strobe, strobe_q, drives_q, listens_q, live_q, ended_q;
  // Cycles since the other side could still make a word, and the same a cycle ago.
  logic [3:0] still_q, still_before_q;
  assign strobe        = !slrd_no || !slwr_no || !pktend_no;
  assign flag_empty_ni = some_q != '0;
  assign flag_last_ni  = some_q > 4'd1;
  assign flag_full_ni  = room_q != '0;
  assign flag_tight_ni = room_q > 4'd1;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      some_q    <= '0;
      room_q    <= 4'd8;
      address_q <= fifoadr_o;
      strobe_q  <= 1'b0;
      drives_q  <= 1'b0;
      listens_q <= 1'b0;
      live_q    <= 1'b0;
      ended_q   <= 1'b0;
      still_q   <= '0;
      still_before_q <= '0;
    end else begin
      some_q    <= some_q + arrives_i - 4'(!slrd_no);
      room_q    <= room_q + frees_i - 4'(!slwr_no) - (pktend_no ? 4'd0 : wasted_i);
      address_q <= fifoadr_o;
      strobe_q  <= strobe;
      drives_q  <= fd_oe_o;
      listens_q <= !sloe_no;
      live_q    <= live_i;
      ended_q   <= !pktend_no;
      still_before_q <= still_q;
      if (busy_i || tx_valid_i || flag_empty_ni) still_q <= '0;
      else if (still_q != '1) still_q <= still_q + 4'd1;
    end
  end

  // In flight from the pins to the queue.
  logic [3:0] coming;
  assign coming = (4'(dut.rx_piece_q) + 4'(dut.cap_valid_q) + 4'(!slrd_no)) / 4'd2;

  always_comb begin
    if (started_q) begin
      assume (arrives_i < 4'd15 - some_q);
      assume (frees_i < 4'd15 - room_q);
      assume (wasted_i <= room_q);

      // FIFOs: never read empty, never written full, one strobe at a time.
      if (!slrd_no) assert (some_q != '0 && !sloe_no && fifoadr_o == 2'd0 && slwr_no && pktend_no);
      if (!slwr_no) assert (room_q != '0 && fd_oe_o && fifoadr_o == 2'd2 && pktend_no);
      if (!pktend_no) assert (room_q != '0 && fifoadr_o == 2'd2);
      // FD: one driver, and a clock between two.
      assert (!(fd_oe_o && (!sloe_no || listens_q)));
      assert (!(drives_q && !sloe_no));
      // FIFOADR is stable around strobes.
      if (strobe || strobe_q) assert (fifoadr_o == address_q);
      // Closed: no strobe from the next cycle on.
      if (!live_q) assert (!strobe);
      // A packet ends only after the quiet time, and once.
      if (!pktend_no) assert (still_before_q >= 4'(QuietCycles) && !ended_q);
      // Every word read has a slot.
      if (dut.rx_push) assert (dut.rx_fifo_ready);

      // Inductive strengthening.
      assert (sloe_no == (dut.state_q != 2'd0));
      assert (fd_oe_o == (dut.state_q == 2'd2));
      assert (fifoadr_o == ((dut.state_q == 2'd1 || dut.state_q == 2'd2) ? 2'd2 : 2'd0));
      if (dut.state_q == 2'd1 || dut.state_q == 2'd3) assert (!strobe && !strobe_q);
      if (strobe_q || listens_q) assert (!(dut.state_q == 2'd2) || address_q == 2'd2);
      if (listens_q) assert (dut.state_q inside {2'd0, 2'd1});
      if (drives_q) assert (dut.state_q inside {2'd2, 2'd3});
      if (address_q == 2'd2) assert (dut.state_q inside {2'd2, 2'd3});
      if (dut.state_q == 2'd3) assert (address_q == 2'd2 || !strobe_q);
      if (strobe_q && address_q == 2'd0) assert (dut.state_q == 2'd0);
      if (strobe_q && address_q == 2'd2) assert (dut.state_q == 2'd2);
      if (dut.state_q == 2'd2 && address_q == 2'd0) assert (!strobe);
      if (dut.state_q == 2'd0 && address_q == 2'd2) assert (!strobe && !strobe_q);
      assert (4'(dut.rx_usage) + coming <= 4'd8);
      assert (dut.quiet_q <= 24'(still_q) || still_q == '1);
      if (ended_q) assert (!dut.open_q || !slwr_no);

      cover (!slrd_no && some_q == 4'd1);
      cover (!slwr_no && room_q == 4'd1);
      cover (!pktend_no && dut.pos_q == '0 && rx_valid_o == 1'b0);
      cover (stale_o);
      cover (strobe && live_q && dut.burst_over);
      cover (dut.rx_usage == 4'd7);
    end
  end
endmodule
