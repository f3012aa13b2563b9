// SPDX-License-Identifier: SHL-2.1
/// rdma_write: every burst lies in the piece or the notice it was made for and in one 4 KiB page;
/// all of a piece is written once, in order; a dropped one not at all; AXI's offers are held; the
/// bounds on what is under way. An error in answer to any of a packet's bursts, however many they
/// are, is reported with the packet. Each burst is answered as what it was: of which packet, its
/// last one or a part, spoilt where a beat was bad; a beat goes out with its data and strobes;
/// notices and payload take turns; what was posted, and the newest address, are said at once.
module rdma_write_props
  import rdma_pkg::*;
  import rdma_rx_pkg::*;
(
  input logic    clk_i,
  input logic    bodies_hold_i,
  input logic    address_hold_i,
  input logic    piece_valid_i,
  input piece_t  piece_i,
  input logic    payload_valid_i,
  input logic    payload_bad_i,
  input logic    payload_keep_i,
  input beat_t   payload_i,
  input logic    notice_valid_i,
  input notice_t notice_i,
  input logic    answer_ready_i,
  input logic    awready_i,
  input logic    wready_i,
  input logic    bvalid_i,
  input logic [1:0] bresp_i
);
  logic rst_ni, piece_ready_o, payload_ready_o, notice_ready_o, notice_second_o, answer_valid_o;
  logic awvalid_o, wvalid_o, wlast_o, bready_o, posted_o, soon_o, write_o, error_o, idle_o;
  answer_t answer_o;
  logic [63:0] awaddr_o, wdata_o;
  logic [63:3] written_addr_o;
  logic [7:0] awlen_o, wstrb_o;
  logic [12:0] awuser_o;

  rdma_write dut (.*);

  // States, by number: the proof's reader knows no names of another module.
  localparam logic [1:0] StBurst = 2'd1;
  localparam logic [1:0] StNotice = 2'd2;
  localparam logic [1:0] StDrop = 2'd3;

  logic started_q = 1'b0;
  always_ff @(posedge clk_i) started_q <= 1'b1;
  assign rst_ni = started_q;

  // ---------------------------------------------------------------- what comes
  logic piece_stood_q, payload_stood_q, notice_stood_q;
  piece_t piece_before_q;
  notice_t notice_before_q;
  logic second_before_q;
  logic [65:0] payload_before_q;
  always_ff @(posedge clk_i) begin
    piece_stood_q    <= started_q && piece_valid_i && !piece_ready_o;
    payload_stood_q  <= started_q && payload_valid_i && !payload_ready_o;
    notice_stood_q   <= started_q && notice_valid_i && !notice_ready_o;
    piece_before_q   <= piece_i;
    notice_before_q  <= notice_i;
    second_before_q  <= notice_second_o;
    payload_before_q <= {payload_bad_i, payload_keep_i, payload_i};
  end
  logic [4:0] owed_q;  // bursts whole at the bus and not answered
  always_comb begin
    if (!started_q) assume (!piece_valid_i && !notice_valid_i && !payload_valid_i && !bvalid_i);
    if (piece_stood_q) assume (piece_valid_i && piece_i == piece_before_q);
    if (payload_stood_q) begin
      assume (payload_valid_i && {payload_bad_i, payload_keep_i, payload_i} == payload_before_q);
    end
    // As rdma_notify keeps it: except for what is not reported.
    if (notice_stood_q) begin
      assume (notice_valid_i && notice_i.two == notice_before_q.two);
      assume (notice_i.address == notice_before_q.address);
      // Of two beats the other one may be asked for.
      if (!notice_i.two || notice_second_o == second_before_q) begin
        assume (notice_i.data == notice_before_q.data);
      end
      assume (notice_i.answer.wrote == notice_before_q.answer.wrote);
      if (notice_i.answer.wrote != WroteOther) assume (notice_i.answer == notice_before_q.answer);
    end
    assume (piece_i.beats >= 7'd1 && piece_i.beats <= 7'(PacketBeats));
    assume (piece_i.packet >= piece_i.beats && piece_i.packet <= 7'(PacketBeats));
    // Two beats are a record, on a multiple of 16.
    if (notice_i.two) assume (!notice_i.address[3]);
    if (owed_q == '0) assume (!bvalid_i);
  end

  // --------------------------------------------------------------- the piece that is being written
  logic have, drop;
  logic known_q;            // the piece was stable for a cycle
  addr_t next, next_q;      // where its next burst must begin
  logic [6:0] left, left_q;       // beats that no burst has
  logic [6:0] unpaid, unpaid_q;   // beats of payload that were not taken
  logic aw_new, aw_stood_q, notice_burst;
  logic [63:0] aw_addr_q;
  logic [7:0] aw_len_q;
  logic w_stood_q, soon_q, rest_q;
  logic [72:0] w_q;
  assign have         = piece_valid_i;
  assign drop         = piece_i.drop;
  assign next         = known_q ? next_q : piece_i.address;
  assign left         = known_q ? left_q : piece_i.beats;
  assign unpaid       = known_q ? unpaid_q : drop ? piece_i.packet : piece_i.beats;
  assign aw_new       = awvalid_o && !aw_stood_q;
  assign notice_burst = dut.state_q == StNotice;

  logic [6:0] burst_beats;
  assign burst_beats = awlen_o[6:0] + 7'd1;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      known_q    <= 1'b0;
      aw_stood_q <= 1'b0;
      w_stood_q  <= 1'b0;
      soon_q     <= 1'b0;
    end else begin
      aw_stood_q <= awvalid_o && !awready_i;
      w_stood_q  <= wvalid_o && !wready_i;
      soon_q     <= soon_o;
      known_q    <= have && !piece_ready_o;
    end
    next_q    <= aw_new && !notice_burst ? next + addr_t'(burst_beats) : next;
    left_q    <= aw_new && !notice_burst ? left - burst_beats : left;
    unpaid_q  <= unpaid - 7'(payload_valid_i && payload_ready_o);
    aw_addr_q <= awaddr_o;
    aw_len_q  <= awlen_o;
    w_q       <= {wlast_o, wstrb_o, wdata_o};
  end

  // ---------------------------------------------------------------- beats of a burst
  logic [7:0] beats_q;   // of the burst under way that were taken
  logic [7:0] length_q;  // its awlen
  logic w_take, burst_open, was_drop_q;
  assign w_take     = wvalid_o && wready_i;
  assign burst_open = dut.state_q == StBurst || dut.state_q == StNotice;
  always_ff @(posedge clk_i) begin
    rest_q     <= rst_ni && !burst_open;
    was_drop_q <= dut.state_q == StDrop;
    if (!rst_ni || !burst_open) beats_q <= '0;
    else if (w_take) beats_q <= beats_q + 8'd1;
    if (!rst_ni) owed_q <= '0;
    else owed_q <= owed_q + 5'(dut.burst_end) - 5'(bvalid_i && bready_o);
    if (aw_new) length_q <= awlen_o;
  end
  logic second, begun;  // a burst of the piece has ended, or is on the bus
  assign second = dut.u_cut.gen_held.second_q;
  assign begun  = second || dut.state_q == StBurst;
  logic [6:0] rest_now;  // beats that no burst has: the second has all that the first had not
  assign rest_now = dut.state_q == StBurst ? dut.rest - dut.length_q : dut.rest;
  logic [6:0] left_now;  // behind a burst that begins in this cycle
  assign left_now = aw_new && !notice_burst ? left - burst_beats : left;
  logic [7:0] len;
  assign len = aw_new ? awlen_o : length_q;

  // ---------------------------------------------------------------- answers
  // An answer to a burst of the packet that is being answered was an error;
  // so says the answer on offer.
  logic erred_q, erred, payload;
  assign payload = dut.tag.wrote == WrotePart || dut.tag.wrote == WrotePacket ||
                   dut.tag.wrote == WroteBody;
  assign erred   = erred_q || bresp_i[1];
  logic packet_erred_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      erred_q        <= 1'b0;
      packet_erred_q <= 1'b0;
    end else if (bvalid_i && bready_o && payload) begin
      erred_q        <= dut.tag.wrote == WrotePart && erred;
      packet_erred_q <= dut.tag.wrote != WrotePart && erred;
    end else if (answer_ready_i) begin
      packet_erred_q <= 1'b0;
    end
  end

  // What each burst must be remembered as, and what is answered of it.
  answer_t wanted_tag, due_q;
  logic bad_q, due_valid_q, told, erring_q, b_take, writes_q, known_addr_q, last_notice_q;
  logic [63:3] newest_q;
  logic [1:0] next_state, next_state_q;
  logic room, hold;
  assign b_take = bvalid_i && bready_o;
  assign told   = dut.tag.wrote != WrotePart && dut.tag.wrote != WroteOther;
  always_comb begin
    wanted_tag = '{
      wrote: left_now != '0 || !piece_i.last ? WrotePart : piece_i.body ? WroteBody : WrotePacket,
      failed: 1'b0,
      spoilt: bad_q || (w_take && payload_bad_i),
      irq: 1'b0,
      src: piece_i.src,
      place: piece_i.place
    };
    if (notice_burst) wanted_tag = notice_i.answer;
  end
  // After a burst of payload a notice goes first, after a notice payload does.
  assign room = owed_q < 5'(MaxWrites);
  assign hold = bodies_hold_i && piece_i.body;
  always_comb begin
    if (room && notice_valid_i && (!last_notice_q || !have || drop || hold)) next_state = StNotice;
    else if (have && drop) next_state = StDrop;
    else next_state = room && have && !hold ? StBurst : 2'd0;
  end
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      {bad_q, due_valid_q, erring_q, writes_q, known_addr_q, last_notice_q} <= '0;
    end else begin
      if (dut.piece_end && piece_i.last) bad_q <= 1'b0;
      else if (payload_valid_i && payload_ready_o && payload_bad_i) bad_q <= !drop;
      due_valid_q <= (b_take && told) || (due_valid_q && !answer_ready_i);
      erring_q    <= b_take && bresp_i[1];
      writes_q    <= write_o;
      if (aw_new) last_notice_q <= notice_burst;
      if (awvalid_o && awready_i && !notice_burst && !address_hold_i) known_addr_q <= 1'b1;
    end
    if (awvalid_o && awready_i && !notice_burst && !address_hold_i) newest_q <= awaddr_o[63:3];
    if (b_take) begin
      due_q        <= dut.tag;
      due_q.failed <= dut.tag.failed || bresp_i[1] || (payload && erred_q);
    end
    next_state_q <= next_state;
  end

  always_comb begin
    if (started_q) begin
      if (dut.burst_end) assert (dut.tag_in == wanted_tag);
      assert (answer_valid_o == due_valid_q);
      if (answer_valid_o) assert (answer_o == due_q);
      assert (bready_o == (owed_q != '0 && (!answer_valid_o || answer_ready_i)));
      assert (posted_o == (b_take && (payload || dut.tag.wrote == WroteFrame)));
      assert (error_o == erring_q);
      if (known_addr_q) assert (written_addr_o == newest_q);
      assert (writes_q == (aw_new && !notice_burst));
      assert (idle_o == (!burst_open && dut.state_q != StDrop && !have && owed_q == '0 &&
                         !answer_valid_o));
      if (wvalid_o && !notice_burst) begin
        assert (payload_valid_i && wdata_o == payload_i && payload_ready_o == wready_i);
      end
      if (wvalid_o) assert (wstrb_o == {8{notice_burst || payload_keep_i}});
      // What is at rest begins what is next; what is begun goes on until it ends.
      if (rest_q && !was_drop_q) assert (dut.state_q == next_state_q);
      if (dut.state_q == StDrop) assert (payload_ready_o);
      if (burst_open) begin
        assert (wvalid_o == (!dut.w_done_q && (notice_burst || payload_valid_i)));
        assert (notice_ready_o == (notice_burst && dut.burst_end));
        assert (dut.burst_end == ((!awvalid_o || awready_i) &&
                                  (dut.w_done_q || (w_take && wlast_o))));
      end else begin
        assert (!notice_ready_o);
      end
      assert (dut.notice_last_q == (last_notice_q && !aw_new || aw_new && notice_burst));
      assert (dut.part_bad_q == bad_q);

      // A packet of which any burst failed has failed.
      if (packet_erred_q) assert (answer_valid_o && answer_o.failed);
      assert (dut.failed_q == erred_q);
      // Offers are held.
      if (aw_stood_q) assert (awvalid_o && awaddr_o == aw_addr_q && awlen_o == aw_len_q);
      if (w_stood_q) assert (wvalid_o && {wlast_o, wstrb_o, wdata_o} == w_q);
      // A burst is of the present piece, where it continues, or of the notice.
      if (aw_new && !notice_burst) begin
        assert (have && !drop);
        assert (awaddr_o == {next, 3'd0});
        assert (burst_beats >= 7'd1 && burst_beats <= left && !awlen_o[7]);
        assert (awuser_o == 13'({left, 3'd0}));
      end
      if (awvalid_o) assert ({1'b0, awaddr_o[11:3]} + 10'(awlen_o) < 10'd512);
      if (awvalid_o && notice_burst) begin
        assert (notice_valid_i && awaddr_o == {notice_i.address, 3'd0});
        assert (awlen_o == 8'(notice_i.two) && awuser_o == (notice_i.two ? 13'd16 : 13'd8));
      end
      if (awvalid_o) assert (burst_open);
      // Data belongs to a burst that was begun, as many beats as it says, the last one marked.
      if (wvalid_o) begin
        if (notice_burst) assert (wdata_o == notice_i.data && notice_second_o == wlast_o);
        assert (burst_open);
        assert (wlast_o == (beats_q == len));
        assert (beats_q <= len);
      end
      if (dut.burst_end) assert (beats_q == len + 8'd1 || (w_take && beats_q == len));
      // A piece ends when all its beats are in bursts and all its payload is taken.
      if (dut.piece_end) begin
        assert (have && (drop || left_now == '0));
        assert (unpaid == 7'd1 ? payload_valid_i && payload_ready_o : unpaid == '0);
      end
      // Nothing of the payload goes anywhere but to its piece.
      if (payload_ready_o) assert (have && unpaid != '0);
      // Never more under way than there is room to remember.
      assert (owed_q <= 5'(MaxWrites));

      // A short piece, and a notice, is announced before; what is announced at rest comes.
      if (aw_new && awuser_o <= 13'd48) assert (soon_q);
      if (soon_q && rest_q) assert (aw_new);
      if (idle_o && !notice_valid_i) assert (!soon_o);

      // Inductive strengthening.
      if (!have) assert (!begun && dut.state_q != StBurst && dut.state_q != StDrop);
      if (have && !known_q) assert (!begun && dut.state_q != StBurst && dut.state_q != StDrop);
      assert (dut.u_tags.usage_o == owed_q);
      assert (dut.state_q == StNotice || !dut.notice);
      if (have) begin
        assert (drop == piece_i.drop && unpaid <= 7'(PacketBeats));
        if (!begun) assert (rest_now == piece_i.beats);
        else assert (rest_now < piece_i.beats);
        assert (piece_i.beats >= 7'd1 && piece_i.beats <= 7'(PacketBeats));
        assert (drop || rest_now == ((aw_new && !notice_burst) ? left - burst_beats : left));
        assert (left <= 7'(PacketBeats) && rest_now <= 7'(PacketBeats));
        if (drop) assert (!begun);
        if (!drop && !(aw_new && !notice_burst)) begin
          if (begun && rest_now != '0) begin
            assert (next == {piece_i.address[63:12] + 52'd1, 9'd0});
          end
        end
        if (!begun) begin
          assert (piece_i.address == next);
          assert (dut.length == (10'd512 - {1'b0, next[11:3]} < 10'(rest_now)
                                      ? 10'd512 - {1'b0, next[11:3]} : 10'(rest_now)));
        end else if (!drop && rest_now != '0 && !(aw_new && !notice_burst)) begin
          assert (next[11:3] == '0);
        end
        if (!drop && dut.state_q != StBurst) assert (unpaid == rest_now && unpaid != '0);
        if (drop && dut.state_q != StDrop) assert (unpaid == piece_i.packet);
        if (dut.state_q == StDrop) assert (unpaid == dut.left_q && dut.left_q != '0);
        if (dut.state_q == StBurst) begin
          assert (unpaid == rest_now + (dut.w_done_q ? 7'd0 : dut.left_q));
        end
      end
      if (dut.state_q == StBurst) begin
        assert (have && !drop);
        assert (10'(dut.length_q) == dut.length && dut.run_q == dut.rest);
        assert (dut.last_q == dut.cut_last);
        assert (8'(dut.length_q) == len + 8'd1);
        assert (dut.length_q >= 7'd1 && dut.length_q <= 7'(PacketBeats));
      end
      if (dut.state_q == StDrop) assert (have && drop);
      if (dut.state_q == StNotice) begin
        assert (notice_valid_i && len == 8'(notice_i.two));
      end
      if (burst_open) begin
        assert (owed_q < 5'(MaxWrites));
        assert (beats_q <= len + 8'd1 && dut.left_q <= 7'(PacketBeats));
        assert (dut.w_done_q ? beats_q == len + 8'd1 && dut.left_q == '0
                             : beats_q + 8'(dut.left_q) == len + 8'd1 && dut.left_q != '0);
      end else begin
        assert (!dut.aw_q);
      end
      if (aw_new) assert (beats_q == '0 && !dut.w_done_q);
      if (aw_stood_q) assert (awvalid_o);

      cover (dut.piece_end && !drop && dut.run_q != piece_i.beats);
      cover (dut.piece_end && drop);
      cover (owed_q == 5'd4);
      cover (answer_valid_o && answer_o.wrote == WrotePacket && answer_o.failed);
    end
  end
endmodule
