// SPDX-License-Identifier: SHL-2.1
/// rdma_queue_table: for any contents of the table an answer without a code names a place inside
/// the ring that does not reach the tail, and no other answer does; only such a place moves the
/// head. A read of the table gives what is stored there.
module rdma_queue_table_props
  import rdma_pkg::*;
  import rdma_rx_pkg::*;
(
  input logic        clk_i,
  input logic        we_i,
  input logic        tail_we_i,
  input logic [8:0]  waddr_i,
  input logic [63:0] wdata_i,
  input logic        re_i,
  input logic        tail_re_i,
  input logic [8:0]  raddr_i,
  input logic [7:0]  peek_i,
  input logic [1:0]  ask_valid_i,
  input enqueue_t [1:0] ask_i,
  input logic [1:0]  commit_i,
  input logic [1:0]  drop_i
);
  logic rst_ni, rvalid_o, idle_o;
  logic [63:0] rdata_o;
  logic [1:0] ask_ready_o, answer_valid_o;
  enqueued_t answer_o;

  rdma_queue_table dut (.*);

  // States, by number: the proof's reader knows no names of another module.
  localparam logic [2:0] StIdle = 3'd0;
  localparam logic [2:0] StBase = 3'd1;
  localparam logic [2:0] StUsed = 3'd2;
  localparam logic [2:0] StFit = 3'd3;
  localparam logic [2:0] StAnswer = 3'd4;
  localparam logic [2:0] StTable = 3'd5;
  localparam logic [2:0] StTell = 3'd6;

  logic started_q = 1'b0;
  always_ff @(posedge clk_i) started_q <= 1'b1;
  assign rst_ni = started_q;

  logic reading_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) reading_q <= 1'b0;
    else if (re_i || tail_re_i) reading_q <= 1'b1;
    else if (rvalid_o) reading_q <= 1'b0;
  end

  always_comb begin
    if (!started_q) assume (ask_valid_i == '0 && !re_i && !tail_re_i);
    if (reading_q) assume (!re_i && !tail_re_i);
    assume (!(re_i && tail_re_i));
    // Only a client with an answer ends it, in one way, and takes only a place that there is.
    assume ((commit_i & ~answer_valid_o) == '0 && (drop_i & ~answer_valid_o) == '0);
    assume ((commit_i & drop_i) == '0);
    if (answer_o.code != '0) assume (commit_i == '0);
    for (int i = 0; i < 2; i++)
      assume (ask_i[i].beats >= 7'd1 && ask_i[i].beats <= 7'(PacketBeats));
    assume (ask_i[1].notification && !ask_i[0].notification);
  end

  // ---------------------------------------------------------------- what is stored in the table
  // The entry that is asked for, when the look at it begins; its base a cycle later.
  logic [7:0] qid;
  queue_t cfg_q;
  logic [OffsetWidth+16:0] place_q;  // count, round, head
  logic [OffsetWidth-1:0] tail_q;
  logic [63:0] base_q;
  assign qid = ask_i[dut.client].qid;
  always_comb begin
    if (dut.start) begin
      assume (qid[7:1] == dut.u_entries.watch_q);
      assume (qid[7:2] == dut.u_places.watch_q && qid[7:2] == dut.u_tails.watch_q);
    end
  end
  always_ff @(posedge clk_i) begin
    if (dut.start) begin
      cfg_q   <= queue_t'(dut.u_entries.words_q[{qid[0], 1'b1}]);
      place_q <= dut.u_places.words_q[qid[1:0]];
      tail_q  <= dut.u_tails.words_q[qid[1:0]];
    end
    if (dut.fast) base_q <= dut.u_entries.words_q[{qid[0], 1'b0}];
    if (dut.state_q == StBase) base_q <= dut.u_entries.words_q[{dut.entry_q[0], 1'b0}];
  end

  // What a read of the table gives: of a tail or an entry;
  // the entry's second beat has the head that moves.
  logic read_known_q;
  logic [63:0] read_q, entry;
  logic [8:0] raddr;
  assign raddr = dut.read_addr_q;
  assign entry = dut.u_entries.words_q[raddr[1:0]];
  always_ff @(posedge clk_i) begin
    if (dut.state_q == StIdle) begin
      read_known_q <= raddr[8:2] == dut.u_entries.watch_q && raddr[8:3] == dut.u_places.watch_q &&
                      raddr[8:3] == dut.u_tails.watch_q;
      if (dut.read_tail_q) read_q <= 64'(dut.u_tails.words_q[raddr[2:1]]);
      else if (!raddr[0]) read_q <= entry;
      else read_q <= {entry[63:OffsetWidth], dut.u_places.words_q[raddr[2:1]][OffsetWidth-1:0]};
    end
  end

  // ---------------------------------------------------------------- what is right
  // From the entry as it was read; wide, so that nothing wraps.
  typedef logic [19:0] wide_t;
  localparam wide_t Mask = (wide_t'(2) << OffsetWidth) - wide_t'(1);
  wide_t head, tail, wrap, need, used, size, after;
  logic legal, slotted, fits, room;
  queue_t cfg;
  assign cfg     = dut.cfg_q;
  assign head    = wide_t'(dut.place_q.head);
  assign tail    = wide_t'(dut.tail_q);
  assign wrap    = wide_t'(cfg.wrap);
  assign slotted = cfg.slot != '0;
  assign size    = wide_t'(4) << cfg.slot;
  assign need    = slotted ? size : dut.ask_q.notification ? wide_t'(1) : wide_t'(dut.ask_q.beats);
  assign used    = head >= tail ? head - tail : head + wrap - tail;
  assign after   = head + need >= wrap ? head + need - wrap : head + need;
  assign legal   = cfg.valid && cfg.sources[dut.ask_q.src] && cfg.slot <= 3'd4 && head < wrap &&
                   tail < wrap && dut.word_q[2:0] == '0 && (!slotted || head + need <= wrap);
  assign fits    = !slotted || dut.ask_q.notification || wide_t'(dut.ask_q.beats) < need;
  assign room    = used + need < wrap;

  // As the answer was decided: the solver then never carries a sum from one cycle to the next.
  logic legal_q, fits_q, room_q, slotted_q, around_q;
  wide_t after_q, first;
  logic [6:0] first_q;
  addr_t address_q;
  assign first = head + need > wrap ? wrap - head : wide_t'(dut.ask_q.beats);
  always_ff @(posedge clk_i) begin
    if (dut.state_q == StFit) begin
      legal_q   <= legal;
      fits_q    <= fits;
      room_q    <= room;
      slotted_q <= slotted;
      after_q   <= after;
      around_q  <= head + need >= wrap;
      first_q   <= first[6:0];
      address_q <= dut.word_q[63:3] + addr_t'(head) + addr_t'(slotted && !dut.ask_q.notification);
    end
  end

  always_comb begin
    if (started_q) begin
      if (dut.state_q == StAnswer) begin
        assert ((answer_o.code == '0) == (legal_q && fits_q && room_q));
        if (!legal_q) assert (answer_o.code == 4'(CodeQueue));
        else if (!fits_q) assert (answer_o.code == 4'(CodeBounds));
        else if (!room_q) assert (answer_o.code == 4'(CodeFull));
        if (answer_o.code == '0) begin
          assert (answer_o.base == base_q[63:3] && answer_o.address == address_q);
          assert (answer_o.slotted == slotted_q);
          if (slotted_q) assert (answer_o.first == dut.ask_q.beats);
          else if (!dut.ask_q.notification) assert (answer_o.first == first_q);
          assert (wide_t'(dut.place_d.head) == after_q);
          assert (dut.place_d.round == (dut.place_q.round ^ around_q));
          assert (dut.place_d.count == dut.place_q.count + 16'd1);
          assert (answer_o.phase == !dut.place_q.round && answer_o.count == dut.place_d.count);
        end
      end
      // What that means: the head stays in the ring and never comes to the tail,
      // round the end or not.
      if (dut.state_q == StFit && legal && fits && room) begin
        assert (after < wrap && after != tail);
        if (head + need > wrap) assert (after < tail);
      end
      // The head moves only for a place that was taken, and not over what the host wrote since.
      if (dut.place_we && !(we_i && waddr_i[0])) begin
        assert (dut.state_q == StAnswer && answer_o.code == '0 && !dut.touched_q);
        assert (commit_i != '0 || dut.late_q);
        assert (dut.place_waddr == dut.entry_q && dut.place_wdata == dut.place_d);
      end
      assert (!(commit_i != '0 && dut.late_q));
      // The decision is made on what was stored there.
      if (dut.state_q == StBase) begin
        assert (dut.entry_word == cfg_q && dut.place == place_q && dut.tail == tail_q);
        assert (dut.entry_q[7:1] == dut.u_entries.watch_q);
      end
      if (dut.state_q == StUsed || dut.state_q == StFit) begin
        assert (dut.cfg_q == cfg_q && dut.place_q == place_q && dut.tail_q == tail_q);
      end
      if (dut.state_q == StUsed) assert (dut.word == base_q);
      if (dut.state_q == StFit || dut.state_q == StAnswer) assert (dut.word_q == base_q);
      // Inductive strengthening: each stage against what it should hold.
      if (dut.state_q == StUsed) assert (wide_t'(dut.need_q) == need || cfg.slot > 3'd4);
      if (dut.state_q == StFit) begin
        assert (wide_t'(dut.need_q) == need || cfg.slot > 3'd4);
        assert (dut.ring_ok_q == (head < wrap && tail < wrap));
        assert (dut.fits_q == fits || cfg.slot > 3'd4);
        assert (wide_t'(dut.after_q) == head + wide_t'(dut.need_q));
      end
      if (dut.state_q == StFit) begin
        assert (wide_t'(dut.used_q) == ((head - tail) & Mask));
      end
      if (dut.state_q == StFit) begin
        assert (wide_t'(dut.lack_q) == ((wide_t'(dut.need_q) - wrap) & Mask));
        assert (dut.to_end_q == 7'(wrap - head));
        if (dut.ring_ok_q && cfg.slot <= 3'd4) begin
          assert (dut.over[OffsetWidth] == (head + need < wrap));
          assert (dut.no_wrap == (head + need <= wrap));
          assert (dut.full == !room);
        end
      end
      // What was read ahead is what is stored there.
      if (dut.peeked_q)
        assert (dut.state_q == StIdle || dut.state_q == StBase || dut.state_q == StUsed ||
                                dut.state_q == StTable);
      if (dut.peeked_q && dut.peek_q[7:1] == dut.u_entries.watch_q && dut.state_q == StIdle) begin
        assert (dut.word == dut.u_entries.words_q[{dut.peek_q[0], 1'b1}]);
      end
      if (dut.peeked_q && dut.peek_q[7:2] == dut.u_places.watch_q && dut.state_q == StIdle) begin
        assert (dut.place == dut.u_places.words_q[dut.peek_q[1:0]]);
      end
      if (dut.peeked_q && dut.peek_q[7:2] == dut.u_tails.watch_q && dut.state_q == StIdle) begin
        assert (dut.tail == dut.u_tails.words_q[dut.peek_q[1:0]]);
      end
      if (rvalid_o && read_known_q) assert (rdata_o == read_q);
      if (rvalid_o) assert (dut.state_q == StIdle && reading_q);
      if (dut.state_q == StTell && read_known_q) assert (rdata_o == read_q);
      if (dut.state_q == StTable && read_known_q) begin
        if (dut.read_tail_q) assert (64'(dut.tail) == read_q);
        else if (!raddr[0]) assert (dut.word == read_q);
        else assert ({dut.word[63:OffsetWidth], dut.place.head} == read_q);
      end
      if (dut.state_q == StTable || dut.state_q == StTell) assert (dut.read_q);
      assert (reading_q == (dut.read_q || rvalid_o) && !(dut.read_q && rvalid_o));
      if (dut.late_q) assert (dut.state_q == StAnswer && answer_o.code == '0);
      assert (dut.state_q <= StTell);
      if (dut.state_q != StIdle && dut.state_q <= StAnswer) begin
        assert (dut.ask_q.beats >= 7'd1 && dut.ask_q.beats <= 7'(PacketBeats));
      end
      cover (commit_i[0] && answer_o.first != dut.ask_q.beats);
      cover (commit_i[1] && slotted);
      cover (dut.fast && dut.client == 1'b0);
      cover (dut.late_q);
      cover (dut.state_q == StAnswer && answer_o.code == 4'(CodeFull));
    end
  end
endmodule
