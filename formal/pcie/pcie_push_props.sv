// SPDX-License-Identifier: SHL-2.1
/// pcie_push: a word of a window is used when its burst had leave and room for all its beats, it is
/// written whole and lies where the one before ended, and so did all words before it in its burst;
/// the end of a burst commits or refuses it. Every burst has one answer; those to other addresses
/// pass.
///
/// Any bursts that AXI allows, with any strobes; the properties have counts and addresses of their
/// own.
module pcie_push_props #(
  localparam int unsigned RoomW   = 6,
  localparam int unsigned IdWidth = 2
) (
  input logic               clk_i,
  input logic               awvalid_i,
  input logic [IdWidth-1:0] awid_i,
  input logic [12:2]        awaddr_i,
  input logic [7:0]         awlen_i,
  input logic [2:0]         awsize_i,
  input logic               wvalid_i,
  input logic [63:0]        wdata_i,
  input logic [7:0]         wstrb_i,
  input logic               wlast_i,
  input logic               bready_i,
  input logic               bus_awready_i,
  input logic               bus_wready_i,
  input logic               bus_bvalid_i,
  input logic [IdWidth-1:0] bus_bid_i,
  input logic [1:0]         bus_bresp_i,
  input logic               start_i,
  input logic               open_i,
  input logic [RoomW-1:0]   room_i
);
  logic rst_ni, awready_o, wready_o, bvalid_o, bus_awvalid_o, bus_wvalid_o, bus_bready_o, write_o;
  logic first_o, commit_o, rollback_o, refused_o, idle_o;
  logic [IdWidth-1:0] bid_o;
  logic [1:0] bresp_o, lanes_o;
  logic [63:0] data_o;
  logic [RoomW-1:0] words_o;
  logic [11:0] next_o;

  pcie_push #(
    .RoomW  (RoomW),
    .IdWidth(IdWidth)
  ) dut (.*);

  logic started_q = 1'b0;
  always_ff @(posedge clk_i) started_q <= 1'b1;
  assign rst_ni = started_q;

  // ---------------------------------------------------------------- the burst that is under way
  typedef enum logic [1:0] {
    None,
    Words,   // of a push
    Answer,  // of a push
    Passed   // everything of one to another address
  } phase_e;
  phase_e phase_q;
  logic aw, w, b, leave_q, kept_q;
  logic [IdWidth-1:0] id_q;
  logic [11:0] addr_q, at_q, home_q;    // bytes: of this beat, of the next word, of the next push
  logic [3:0] bytes_q;                  // of a beat
  logic [8:0] beat_q, beats_q;
  logic [RoomW:0] used_q;               // words of this burst
  logic [RoomW-1:0] room_q;             // what there was for them
  assign aw = awvalid_i && awready_o;
  assign w  = wvalid_i && wready_o;
  assign b  = bvalid_o && bready_i;

  // Words of four bytes that this beat has, in order; they must be whole.
  logic low, high, whole, follows, use_it;
  logic [11:0] from;
  assign low     = wstrb_i[3:0] == 4'hF;
  assign high    = wstrb_i[7:4] == 4'hF;
  assign whole   = (low || wstrb_i[3:0] == '0) && (high || wstrb_i[7:4] == '0) && (low || high);
  assign from    = {addr_q[11:3], !low, 2'b00};
  assign follows = from == at_q;
  assign use_it  = phase_q == Words && wvalid_i && leave_q && kept_q && whole && follows;
  logic [1:0] words;
  assign words   = 2'(low) + 2'(high);

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      phase_q <= None;
      home_q  <= '0;
    end else begin
      if (aw) phase_q <= awaddr_i[12] ? Words : Passed;
      if (phase_q == Words && w && wlast_i) phase_q <= Answer;
      if (b) phase_q <= None;
      if (start_i) home_q <= '0;
      else if (use_it && wlast_i) home_q <= at_q + {8'd0, words, 2'b00};
    end
    if (phase_q == None) begin
      id_q    <= awid_i;
      addr_q  <= {awaddr_i[11:2], 2'b00};
      at_q    <= home_q;
      bytes_q <= 4'd1 << awsize_i;
      beats_q <= 9'(awlen_i) + 9'd1;
      beat_q  <= 9'd1;
      used_q  <= '0;
      room_q  <= room_i;
      // All beats together, of words of four bytes; a beat of fewer bytes has no whole one.
      leave_q <= open_i && awsize_i >= 3'd2 &&
                 (32'(awlen_i) + 32'd1) * (awsize_i == 3'd3 ? 32'd2 : 32'd1) <= 32'(room_i);
      kept_q  <= 1'b1;
    end
    if (phase_q == Words && w) begin
      addr_q <= (addr_q & ~(12'(bytes_q) - 12'd1)) + 12'(bytes_q);
      beat_q <= beat_q + 9'd1;
      kept_q <= use_it;
      if (use_it) begin
        at_q   <= at_q + {8'd0, words, 2'b00};
        used_q <= used_q + (RoomW + 1)'(words);
      end
    end
  end

  always_comb begin
    // AXI: at most eight bytes a beat, the last beat is the one that the length says, no crossing
    // of 4 KiB, strobes in the lanes of the beat.
    assume (awsize_i <= 3'd3);
    assume ({1'b0, awaddr_i[11:2], 2'b00} + ((13'(awlen_i) + 13'd1) << awsize_i) <= 13'd4096);
    assume (!wvalid_i || wlast_i == (beat_q == beats_q));
    if (bytes_q < 4'd8) assume (addr_q[2] ? wstrb_i[3:0] == '0 : wstrb_i[7:4] == '0);
  end

  always_comb begin
    if (started_q) begin
      assert (write_o == use_it);
      if (write_o) begin
        assert (lanes_o == {high, low} && data_o == wdata_i);
        assert (used_q + (RoomW + 1)'(words) <= (RoomW + 1)'(room_q));
        assert (first_o == (beat_q == 9'd1));
        assert ((RoomW + 1)'(words_o) == used_q + (RoomW + 1)'(words));
      end
      assert (commit_o == (use_it && wlast_i));
      assert (refused_o == (phase_q == Words && wvalid_i && wlast_i && !use_it));
      assert (rollback_o == (refused_o && leave_q));
      assert (next_o == home_q);

      // One answer to each burst, its own; all else passes.
      assert (idle_o == (phase_q == None));
      assert (awready_o == (phase_q == None && (awaddr_i[12] || bus_awready_i)));
      assert (wready_o == (phase_q == Words || (phase_q == Passed && bus_wready_i)));
      assert (bvalid_o == (phase_q == Answer || (phase_q == Passed && bus_bvalid_i)));
      if (bvalid_o) begin
        assert (bid_o == (phase_q == Answer ? id_q : bus_bid_i));
        assert (bresp_o == (phase_q == Answer ? 2'b00 : bus_bresp_i));
      end
      assert (bus_awvalid_o == (phase_q == None && awvalid_i && !awaddr_i[12]));
      assert (bus_wvalid_o == (phase_q == Passed && wvalid_i));
      assert (bus_bready_o == (phase_q == Passed && bready_i));

      // What makes the above inductive.
      assert (2'(dut.state_q) == 2'(phase_q));
      if (phase_q != None) begin
        assert (dut.id_q == id_q);
        assert (dut.admitted_q == leave_q && dut.wide_q == (bytes_q == 4'd8));
        assert (bytes_q inside {4'd1, 4'd2, 4'd4, 4'd8});
        assert (!leave_q || bytes_q >= 4'd4);
        assert (dut.bad_q == !(leave_q && kept_q));
      end
      if (phase_q == Words) begin
        assert (beat_q >= 9'd1 && beat_q <= beats_q && beats_q <= 9'd256);
        assert (at_q[1:0] == '0);
        if (leave_q) begin
          assert (dut.beat_q == addr_q[11:2]);
          assert (32'(beats_q) * (bytes_q == 4'd8 ? 32'd2 : 32'd1) <= 32'(room_q));
        end
        if (leave_q && kept_q) begin
          assert (dut.here_q == at_q[11:2] && dut.first_q == (beat_q == 9'd1));
          assert ((RoomW + 1)'(dut.count_q) == used_q);
          assert (32'(used_q) <= (32'(beat_q) - 32'd1) * (bytes_q == 4'd8 ? 32'd2 : 32'd1));
        end
      end
      assert (home_q[1:0] == '0);
      cover (commit_o && beat_q == 9'd3 && words_o == RoomW'(5));
      cover (rollback_o && beat_q == 9'd3);
      cover (refused_o && !rollback_o);
    end
  end
endmodule
