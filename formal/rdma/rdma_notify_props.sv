// SPDX-License-Identifier: SHL-2.1
/// rdma_notify: every write goes where the host said, to the address at the time it was read, or
/// into the ring and over no record that the host has not read; its words, counts and phases are
/// right; what it offers is held; an event ends when all that it asks for was taken,
/// and nothing else was.
///
/// One entry of the table is watched; the choice is free.
module rdma_notify_props
  import rdma_pkg::*;
  import rdma_rx_pkg::*;
(
  input logic        clk_i,
  input logic        enable_i,
  input error_ring_t ring_i,
  input logic        we_i,
  input logic [4:0]  waddr_i,
  input logic [63:0] wdata_i,
  input logic        re_i,
  input logic [4:0]  raddr_i,
  input logic        act_valid_i,
  input act_t        act_i,
  input error_report_t err_i,
  input local_report_t local_i,
  input done_report_t  done_i,
  input logic        queue_ready_i,
  input logic        queue_answer_i,
  input enqueued_t   queue_i,
  input logic        notice_ready_i,
  input logic        notice_second_i
);
  logic rst_ni, rvalid_o, act_ready_o, act_owes_o, err_ready_o, local_ready_o, done_ready_o,
      queue_valid_o;
  logic queue_commit_o, queue_drop_o, notice_valid_o, refuse_o, record_lost_o, busy_o, idle_o;
  logic [63:0] rdata_o;
  enqueue_t queue_o;
  notice_t notice_o;
  refusal_t refuse_refusal_o;
  logic [7:0] irq_o;

  rdma_notify #(.NumHosts(8)) dut (.*);

  // States and events, by number: the proof's reader knows no names of another module.
  localparam logic [3:0] StIdle = 4'd0;
  localparam logic [3:0] StRecord = 4'd1;
  localparam logic [3:0] StRing = 4'd2;
  localparam logic [3:0] StAddress = 4'd3;
  localparam logic [3:0] StWord = 4'd4;
  localparam logic [3:0] StNotice = 4'd5;
  localparam logic [3:0] StAsk = 4'd6;
  localparam logic [3:0] StPlace = 4'd7;
  localparam logic [3:0] StFrame = 4'd8;
  localparam logic [3:0] StTable = 4'd9;
  localparam logic [3:0] StTell = 4'd10;
  localparam logic [3:0] StEnd = 4'd11;
  localparam logic [1:0] EvAct = 2'd0;
  localparam logic [1:0] EvError = 2'd1;
  localparam logic [1:0] EvLocal = 2'd2;
  localparam logic [1:0] EvDone = 2'd3;

  logic started_q = 1'b0;
  always_ff @(posedge clk_i) started_q <= 1'b1;
  assign rst_ni = started_q;

  // ---------------------------------------------------------------- what comes
  logic [3:0] valid, ready, stood_q;
  logic busy_q;  // a cycle ago
  act_t act_q;
  logic [127:0] err_q;
  logic [19:0] local_q;
  logic [66:0] done_q;
  logic reading_q;
  assign valid = {done_i.valid, local_i.valid, err_i.valid, act_valid_i};
  assign ready = {done_ready_o, local_ready_o, err_ready_o, act_ready_o};
  always_ff @(posedge clk_i) begin
    stood_q <= started_q ? valid & ~ready : '0;
    busy_q  <= started_q && busy_o;
    act_q   <= act_i;
    err_q   <= {err_i.beat1, err_i.beat0};
    local_q <= {local_i.flow, local_i.message, local_i.count};
    done_q  <= {done_i.flow, done_i.word};
    if (!rst_ni) reading_q <= 1'b0;
    else if (re_i) reading_q <= 1'b1;
    else if (rvalid_o) reading_q <= 1'b0;
  end
  always_comb begin
    if (!started_q) assume (valid == '0 && !re_i);
    assume ((stood_q & ~valid) == '0);
    if (stood_q[0]) assume (act_i == act_q);
    if (stood_q[1]) assume ({err_i.beat1, err_i.beat0} == err_q);
    if (stood_q[2]) assume ({local_i.flow, local_i.message, local_i.count} == local_q);
    if (stood_q[3]) assume ({done_i.flow, done_i.word} == done_q);
    if (reading_q) assume (!re_i);
  end

  // ---------------------------------------------------------------- the event that is served
  logic [1:0] ev;
  logic serving, notify, irq;
  logic [3:0] state;
  assign state   = dut.state_q;
  assign ev      = dut.event_q;
  assign serving = state != StIdle && state != StTable && state != StTell;
  assign notify  = ev == EvAct && act_i.info.notify && !act_i.lost && !act_i.frame;
  assign irq     = ev == EvAct && act_i.info.irq && !act_i.lost && !act_i.frame;

  // ------------------------------------------------------------- the table, as the host has set it
  logic [4:0] watch_q, index, raddr_q;
  logic [63:0] set_q, read_q, told_q;
  logic write, watched, host_write;
  logic [14:0] count_q, number_q;  // words written to the watched entry's address since it was set
  logic anew_q;
  always_comb begin
    unique case (ev)
      EvLocal: index = {1'b0, local_i.message, local_i.flow};
      EvDone:  index = {2'd3, done_i.flow};
      default: index = {2'd2, act_i.src};
    endcase
  end
  assign watched    = index == watch_q;
  assign host_write = we_i && waddr_i == watch_q;

  // ---------------------------------------------------------------- what was written
  logic note, ring, lost, first;
  logic [1:0] records, records_q;
  logic noted_q, asked_q, placed_q, failed_q, tabled_q;
  logic [3:0] place_code_q;
  enqueued_t place_q;
  assign note    = notice_valid_o && notice_ready_i && !notice_o.two;
  assign ring    = notice_valid_o && notice_ready_i && notice_o.two;
  assign lost    = record_lost_o;
  assign records = records_q + 2'(lost);
  assign write   = note && watched && !asked_q && !(ev == EvAct && act_i.frame);

  // All that the event asks for was taken, and nothing that it does not ask for.
  logic told_all;
  always_comb begin
    unique case (ev)
      EvError: told_all = !noted_q;
      EvAct:
        if (act_i.frame) told_all = noted_q;
        else if (!notify) told_all = !noted_q && !asked_q;
        else if (act_i.info.to_queue)
          told_all = asked_q && placed_q != failed_q && noted_q == placed_q;
        else told_all = tabled_q && !asked_q;
      default: told_all = tabled_q;
    endcase
    if (tabled_q && watched && noted_q != (read_q[63:3] != '0)) told_all = 1'b0;
  end

  always_ff @(posedge clk_i) begin
    watch_q <= watch_q;
    if (host_write) set_q <= wdata_i;
    if (re_i) raddr_q <= raddr_i;
    if (state == StIdle) told_q <= set_q;
    if (state == StAddress) read_q <= set_q;
    if (state == StAddress) number_q <= count_q + 15'd1;
    if (host_write) count_q <= '0;
    else if (write && !anew_q) count_q <= count_q + 15'd1;
    if (state == StAddress) anew_q <= host_write;
    else if (host_write) anew_q <= 1'b1;
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni || ready != '0) begin
      records_q <= '0;
      noted_q   <= 1'b0;
      asked_q   <= 1'b0;
      placed_q  <= 1'b0;
      failed_q  <= 1'b0;
      tabled_q  <= 1'b0;
    end else begin
      records_q <= records + 2'(ring);
      if (note) noted_q <= 1'b1;
      if (queue_valid_o && queue_ready_i) asked_q <= 1'b1;
      if (queue_commit_o) placed_q <= 1'b1;
      if (queue_drop_o) failed_q <= 1'b1;
      if (state == StAddress && !we_i) tabled_q <= 1'b1;
    end
    if (queue_commit_o || queue_drop_o) place_q <= queue_i;
  end

  // ---------------------------------------------------------------- the ring
  logic begun_q, fits, fits_q, phase_q;
  logic [15:0] head_q, slot, far, unread;
  logic [12:0] more;
  logic [11:0] more_q, brought;
  addr_t record_q;
  assign brought = ev == EvError ? err_i.beat0[35:24] : '0;
  always_comb begin
    slot = '0;
    far  = '0;
    for (int unsigned i = 0; i < 16; i++) begin
      if (ring_i.size > 4'(i)) slot[i] = head_q[i];
      if (ring_i.size > 4'(i)) far[i] = unread[i];
    end
  end
  assign fits = ring_i.base != '0 && ring_i.size >= 4'd2 &&
                {1'b0, 16'(head_q - ring_i.tail)} < (17'd1 << ring_i.size);
  assign more = {1'b0, more_q} + {1'b0, brought} + 13'(!fits);

  always_ff @(posedge clk_i) begin
    unread <= unread;  // any record
    if (!rst_ni || !enable_i) begun_q <= 1'b0;
    else if (state == StIdle) begun_q <= 1'b1;
    if (!rst_ni || (state == StIdle && enable_i && !begun_q)) begin
      head_q <= '0;
      more_q <= '0;
    end else begin
      if (ring) head_q <= head_q + 16'd1;
      if (ring) more_q <= '0;
      else if (state == StRecord) more_q <= more[12] ? '1 : more[11:0];
    end
    if (state == StRecord) begin
      fits_q   <= fits;
      record_q <= {ring_i.base, 3'd0} + {44'd0, slot, 1'b0};
      phase_q  <= !head_q[ring_i.size];
    end
  end

  // ---------------------------------------------------------------- what is held
  logic offered_q, asked_before_q;
  notice_t notice_q;
  logic second_q;
  enqueue_t queue_q;
  always_ff @(posedge clk_i) begin
    offered_q      <= rst_ni && notice_valid_o && !notice_ready_i;
    notice_q       <= notice_o;
    second_q       <= notice_second_i;
    asked_before_q <= rst_ni && queue_valid_o && !queue_ready_i;
    queue_q        <= queue_o;
  end

  // Others that one event lets pass, and the cycles of its own that one takes.
  logic [1:0] kind_q, last_winner, distance;
  logic [2:0] passed_q, own_q;
  logic waiting, halted;
  assign waiting = valid[kind_q] && !dut.gnt[kind_q];
  assign halted  = (notice_valid_o && !notice_ready_i) || (queue_valid_o && !queue_ready_i) ||
                   (state == StPlace && !queue_answer_i) || we_i;
  always_comb begin
    last_winner = 2'd3;
    for (int unsigned i = 0; i < 4; i++) begin
      if (dut.u_turns.after_q[i]) last_winner = last_winner - 1'b1;
    end
  end
  assign distance = kind_q - last_winner - 1'b1;
  always_ff @(posedge clk_i) begin
    kind_q <= kind_q;
    if (!rst_ni || !waiting) passed_q <= '0;
    else if (ready != '0) passed_q <= passed_q + 3'd1;
    if (!rst_ni || !serving) own_q <= '0;
    else if (!halted) own_q <= own_q + 3'd1;
  end

  // What is to be seen in the next cycle.
  logic irq_due_q;
  logic [7:0] irq_q;
  logic refuse_due_q;
  refusal_t refusal_q;
  always_ff @(posedge clk_i) begin
    irq_due_q    <= rst_ni && act_ready_o && irq && !noted_q;
    irq_q        <= 8'd1 << act_i.src;
    refuse_due_q <= rst_ni && queue_drop_o;
    refusal_q    <= '{src: act_i.src, session: '0, code: queue_i.code, tag: act_i.info.tag};
  end

  enqueue_t question;
  assign question = '{notification: 1'b1, qid: act_i.info.qid, src: act_i.src, beats: 7'd1};
  frame_t frame;
  beat_t record0, record1;
  logic record_wanted;
  assign record_wanted = ev == EvError || (ev == EvAct && !act_i.frame && act_i.code != '0);
  assign frame = '{
    immediate: act_i.info.immediate,
    count: act_i.frame ? act_i.info.count : place_q.count,
    notification: !act_i.frame,
    src: {4'd0, act_i.src},
    beats: !act_i.frame ? {6'd0, act_i.failed} :
           act_i.failed || act_i.spoilt ? '0 : act_i.info.beats,
    phase: act_i.frame ? act_i.info.phase : place_q.phase
  };
  always_comb begin
    record0 = {phase_q, 27'd0, more_q, 1'b1, 4'd0, act_i.src, act_i.info.tag, 4'd0,
               failed_q ? place_q.code : act_i.code};
    record1 = {act_i.info.address, 3'd0};
    if (act_i.lost) begin
      record0[15:8] = '0;
      record1       = '0;
    end
    if (ev == EvError) begin
      record0 = {phase_q, err_i.beat0[62:36], more_q, err_i.beat0[23:0]};
      record1 = err_i.beat1;
    end
  end

  always_comb begin
    assume (dut.u_addresses.watch_q == watch_q[4:2]);
    if (!started_q) assume (dut.u_addresses.words_q[watch_q[1:0]] == set_q);
    if (!started_q && watch_q[4:3] == 2'd2) assume (dut.counts_q[watch_q[2:0]] == count_q);
    if (started_q) begin
      // What is offered is held until it is taken.
      if (offered_q) begin
        assert (notice_valid_o && notice_o.two == notice_q.two &&
                notice_o.address == notice_q.address);
        if (!notice_o.two || notice_second_i == second_q) assert (notice_o.data == notice_q.data);
        assert (notice_o.answer.wrote == notice_q.answer.wrote &&
                notice_o.answer.irq == notice_q.answer.irq);
        if (notice_o.answer.wrote != WroteOther) assert (notice_o.answer == notice_q.answer);
      end
      if (asked_before_q) assert (queue_valid_o && queue_o == queue_q);
      // A word goes to the address that the host had set, never to 0, and says what it should.
      if (notice_valid_o && !notice_o.two) begin
        assert (serving && valid[ev] && ev != EvError);
        if (ev == EvAct && act_i.frame) begin
          assert (notice_o.address == act_i.info.address - addr_t'(act_i.info.beats));
          assert (notice_o.data == beat_t'(frame) && notice_o.answer.wrote == WroteFrame);
          assert (notice_o.answer.failed == act_i.failed && notice_o.answer.spoilt == act_i.spoilt);
          assert (!notice_o.answer.irq);
        end else if (placed_q) begin
          assert (ev == EvAct && notify && act_i.info.to_queue);
          assert (notice_o.address == place_q.address && notice_o.data == beat_t'(frame));
        end else begin
          assert (!(ev == EvAct && (!notify || act_i.info.to_queue)));
          if (watched) assert (notice_o.address == read_q[63:3] && notice_o.address != '0);
          if (ev == EvLocal) assert (notice_o.data == 64'(local_i.count));
          if (ev == EvDone) assert (notice_o.data == done_i.word);
          if (ev == EvAct) begin
            assert (notice_o.data[47:0] == {act_i.info.address[47:3], 3'd0});
            assert (notice_o.data[63] == act_i.failed);
            if (watched) assert (notice_o.data[62:48] == number_q);
          end
        end
        if (ev == EvAct && !act_i.frame) begin
          assert (notice_o.answer.wrote == WroteNotice && notice_o.answer.irq == irq);
          assert (!notice_o.answer.failed && !notice_o.answer.spoilt);
        end
        if (ev != EvAct) assert (notice_o.answer.wrote == WroteOther && !notice_o.answer.irq);
      end
      if (notice_valid_o && ev == EvAct) begin
        assert (notice_o.answer.src == act_i.src && notice_o.answer.place == act_i.place);
      end
      // A record lies in the ring, at its place and with its round's phase;
      // one is lost only where it must be.
      if (notice_valid_o && notice_o.two) begin
        assert (fits_q && notice_o.address == record_q);
        assert (notice_o.data == (notice_second_i ? record1 : record0));
        assert (notice_o.answer.wrote == WroteOther && !notice_o.answer.irq);
        assert (ev == EvError || (ev == EvAct && !act_i.frame && (act_i.code != '0 || failed_q)));
      end
      if (lost) assert (!fits_q);
      // What that means: in the ring, and no unread record there, whatever the tail is.
      if (state == StRecord && !dut.no_ring && !dut.ring_full) begin
        assert (ring_i.base != '0 && {1'b0, slot} < (17'd1 << ring_i.size));
        if (16'(unread - ring_i.tail) < 16'(head_q - ring_i.tail)) assert (far != slot);
      end
      // An event ends when it has all that it asks for.
      assert ((ready & (ready - 4'd1)) == '0 && (ready & ~valid) == '0);
      if (ready != '0) begin
        assert (serving && ready[ev] && !notice_valid_o && !queue_valid_o);
        assert (records == 2'(record_wanted) + 2'(failed_q));
        assert (told_all);
        if (ev == EvAct) assert (act_owes_o == (noted_q && !act_i.frame));
      end
      if (note) assert (!noted_q);
      // It lets each other kind pass once at most, and then takes few cycles of its own.
      assert (passed_q <= 3'd3);
      if (serving) assert (own_q <= 3'd6);
      if (serving && ev == EvAct) assert (dut.qid_q == act_i.info.qid);
      // A queue is asked once, and once informed of what came of its answer.
      if (queue_valid_o) begin
        assert (!asked_q && ev == EvAct && valid[0] && notify && act_i.info.to_queue);
        assert (queue_o == question);
      end
      assert (!(queue_commit_o && queue_drop_o));
      if (queue_commit_o || queue_drop_o) begin
        assert (asked_q && !placed_q && !failed_q && queue_answer_i &&
                queue_commit_o == (queue_i.code == '0));
      end
      assert (refuse_o == refuse_due_q);
      if (refuse_o) assert (refuse_refusal_o == refusal_q);
      // An interrupt without a word comes at the end.
      assert (irq_o == (irq_due_q ? irq_q : '0));
      // The table reads as it was set.
      if (rvalid_o) assert (reading_q);
      if (rvalid_o && raddr_q == watch_q) assert (rdata_o == told_q);
      // No word comes unannounced; none comes while idle is reported.
      if (notice_valid_o) assert (busy_o && busy_q);
      if (idle_o) assert (!busy_o);
      if (idle_o) assert ((!reading_q || rvalid_o) && valid == '0 && !notice_valid_o);

      // Inductive strengthening: the event under way, and what was done of it.
      assert (state <= StEnd);
      assert ((dut.u_turns.owner_q & (dut.u_turns.owner_q - 4'd1)) == '0);
      assert ((dut.u_turns.owner_q & ~valid) == '0);
      if (serving) assert (dut.u_turns.owner_q == 4'd1 << ev && valid[ev]);
      assert (((~dut.u_turns.after_q) & ((~dut.u_turns.after_q) + 4'd1)) == '0);
      if (dut.u_turns.owner_q != '0) assert (dut.u_turns.owner_q == 4'd1 << last_winner);
      if (!dut.u_turns.owner_q[kind_q]) begin
        assert (passed_q + 3'(dut.u_turns.owner_q != '0) + 3'(distance) <= 3'd3);
      end
      assert (dut.u_addresses.words_q[watch_q[1:0]] == set_q);
      assert (reading_q == (dut.read_q || rvalid_o) && !(dut.read_q && rvalid_o));
      if (dut.read_q || rvalid_o) assert (dut.read_addr_q == raddr_q);
      if (state == StTable || state == StTell) assert (dut.read_q);
      if ((state == StTable || state == StTell || rvalid_o) && raddr_q == watch_q) begin
        assert (rdata_o == told_q);
      end
      if (rvalid_o) assert (state == StIdle);
      assert (dut.enabled_q == begun_q && dut.head_q == head_q);
      assert (more_q == (!record_lost_o ? dut.more_q : dut.more_q == '1 ? '1 : dut.more_q + 12'd1));
      if (refuse_o) assert (state == StRecord);
      if (record_lost_o) assert (state == StEnd || state == StAsk || state == StAddress);
      if (!serving)
        assert (records_q == '0 && !noted_q && !asked_q && !placed_q && !failed_q && !tabled_q);
      if (serving) begin
        if (ev == EvError) assert (state == StRecord || state == StRing || state == StEnd);
        if (ev == EvLocal || ev == EvDone) begin
          assert (state == StAddress || state == StWord || state == StNotice || state == StEnd);
        end
        if (state == StFrame) assert (ev == EvAct && act_i.frame);
        if (ev == EvAct && act_i.frame)
          assert (state == StFrame || state == StNotice || state == StEnd);
        assert (records_q + 2'(lost) == (state == StRecord || state == StRing ?
                (failed_q ? 2'(record_wanted) : 2'd0) : 2'(record_wanted) + 2'(failed_q)));
        if (state == StRecord || state == StRing) assert (record_wanted || failed_q);
        if (failed_q) assert (state == StRecord || state == StRing || state == StEnd);
        unique case (state)
          StRecord: assert (own_q <= (failed_q ? 3'd4 : 3'd0));
          StRing: assert (own_q <= (failed_q ? 3'd5 : 3'd1));
          StAddress, StAsk: assert (own_q <= 3'd2);
          StWord, StPlace: assert (own_q <= 3'd3);
          StNotice: assert (own_q <= 3'd4);
          StFrame: assert (own_q == '0);
          default: assert (own_q <= 3'd6);
        endcase
        assert (dut.failed_place_q == failed_q && dut.queued_q == placed_q);
        assert (dut.told_q == noted_q);
        if (failed_q) assert (dut.queue_code_q == place_q.code && asked_q);
        if (placed_q)
          assert (asked_q && dut.queue_count_q == place_q.count &&
                  dut.queue_phase_q == place_q.phase);
        if (placed_q) assert (state == StNotice || state == StEnd);
        assert (!(placed_q && failed_q));
        if (asked_q)
          assert (notify && act_i.info.to_queue && (placed_q || failed_q || state == StPlace));
        if (state == StAsk) assert (notify && act_i.info.to_queue && !asked_q);
        if (state == StPlace) assert (asked_q && !placed_q && !failed_q);
        if (state == StAddress || state == StWord) begin
          assert (ev != EvError && (ev != EvAct || (notify && !act_i.info.to_queue)));
          assert (tabled_q == (state == StWord));
        end
        if (tabled_q) begin
          assert (state == StWord || state == StNotice || state == StEnd);
          assert (ev != EvError && (ev != EvAct || (notify && !act_i.info.to_queue)));
        end
        if (state == StNotice) begin
          assert (tabled_q || placed_q || (ev == EvAct && act_i.frame));
        end
        if (noted_q) assert (state == StEnd);
        if (state == StWord && watched) assert (dut.word == read_q);
        if (state == StNotice && tabled_q && watched) begin
          assert (dut.address_q == read_q[63:3] && dut.address_q != '0);
        end
        if (state == StNotice && placed_q) assert (dut.address_q == place_q.address);
        if (state == StFrame) begin
          assert (dut.address_q == act_i.info.address && dut.beats_q == act_i.info.beats);
        end
        if (state == StEnd) assert (told_all);
        if (state == StRing) begin
          assert (fits_q && !record_lost_o && dut.record_q == record_q && dut.phase_q == phase_q);
          assert (ev == EvError || dut.code_q == (failed_q ? place_q.code : act_i.code));
        end
        if (ev == EvAct && watched && tabled_q) begin
          assert (dut.count_q == number_q && dut.anew_q == anew_q);
        end
      end
      if (watch_q[4:3] == 2'd2) begin
        assert (dut.counts_q[watch_q[2:0]] + 15'(state == StEnd && ev == EvAct && watched &&
                                                 tabled_q &&
                                                 noted_q && !anew_q) == count_q);
        if (ev == EvAct && watched && tabled_q && serving && !anew_q) begin
          assert (number_q == count_q + 15'(!noted_q));
        end
      end

      cover (ring && ev == EvAct && failed_q && records_q == 2'd1);
      cover (lost && more_q == 12'd3);
      cover (note && placed_q);
      cover (write && ev == EvAct && anew_q);
      cover (note && ev == EvDone && stood_q[2:1] == '1);
      cover (ring && head_q == 16'd1);
      cover (rvalid_o && rdata_o != '0);
    end
  end
endmodule
