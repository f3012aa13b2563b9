// SPDX-License-Identifier: SHL-2.1
/// rdma_receive: whatever beats come, a piece that is to be written was allowed by the flow and by
/// the table, with exactly its address, beats, source and number; a packet that its flow has taken
/// is written, dropped or given back. What is kept of it, what is counted and what is passed on
/// says what was decided; payload goes on as it came, as many beats as the header names.
module rdma_receive_props
  import rdma_pkg::*;
  import rdma_rx_pkg::*;
(
  input logic        clk_i,
  input host_t       host_id_i,
  input logic [1:0]  valid_i,
  input beat_t [1:0] beat_i,
  input logic [1:0]  last_i,
  input logic [1:0]  bad_i,
  input logic        ask_ready_i,
  input verdict_t    verdict_i,
  input region_answer_t region_i,
  input logic        queue_ready_i,
  input logic        queue_answer_i,
  input enqueued_t   queue_i,
  input logic        refused_ready_i,
  input logic        control_ready_i,
  input logic        payload_ready_i,
  input logic        piece_ready_i
);
  logic rst_ni, ask_valid_o, queue_valid_o, queue_commit_o, queue_drop_o;
  logic payload_valid_o, piece_valid_o, coming_o;
  logic idle_o;
  logic [1:0] ready_o;
  ask_t ask_o;
  control_ask_t control_o;
  refuse_t refused_o;
  region_ask_t region_o;
  logic [7:0] queue_peek_o;
  enqueue_t queue_o;
  flow_t src_o;
  logic [6:0] beats_o;
  info_write_t info_o;
  control_packet_t rxctl_o;
  payload_t payload_o;
  piece_t piece_o;
  receive_events_t events_o;

  rdma_receive #(
    .NumHosts(8),
    .NumLinks(2)
  ) dut (.*);

  logic started_q = 1'b0;
  logic short_q = 1'b0;  // a cycle ago a short packet's piece was on offer
  always_ff @(posedge clk_i) begin
    short_q <= rst_ni && piece_valid_o && !piece_o.drop && beats_o < 7'd5;
  end
  always_ff @(posedge clk_i) started_q <= 1'b1;
  assign rst_ni = started_q;

  // -------------------------------------------------------- each question is answered once, later
  logic asking_q, looked_q, message_q;   // a verdict, an answer of a table is owed
  logic fresh_q;                         // the cycle behind a look
  logic checking_q;                      // what is to be checked was stable for a cycle
  logic queue_open_q;                    // the queue's answer is held
  enqueued_t queue_before_q;
  logic [3:0] code_before_q;
  logic [1:0] stood_q, taken_q;
  beat_t [1:0] beat_before_q;
  header_t [1:0] header_before;
  assign header_before = beat_before_q;
  logic [1:0] last_before_q, bad_before_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      asking_q     <= 1'b0;
      looked_q     <= 1'b0;
      fresh_q      <= 1'b0;
      checking_q   <= 1'b0;
      queue_open_q <= 1'b0;
      message_q    <= 1'b0;
      stood_q      <= '0;
      taken_q      <= '0;
    end else begin
      if (ask_valid_o && ask_ready_i) asking_q <= 1'b1;
      else if (verdict_i.valid) asking_q <= 1'b0;
      if (region_o.look) looked_q <= 1'b1;
      else if (region_i.valid) looked_q <= 1'b0;
      fresh_q    <= region_o.look;
      checking_q <= region_o.check;
      if (queue_valid_o && queue_ready_i) message_q <= 1'b1;
      else if (queue_answer_i) message_q <= 1'b0;
      queue_open_q <= queue_answer_i && !queue_commit_o && !queue_drop_o;
      stood_q      <= valid_i & ~ready_o;
      taken_q      <= valid_i & ready_o;
    end
    queue_before_q <= queue_i;
    code_before_q  <= region_i.code;
    beat_before_q  <= beat_i;
    last_before_q  <= last_i;
    bad_before_q   <= bad_i;
  end
  always_comb begin
    if (!asking_q) assume (!verdict_i.valid);
    if (!(looked_q && checking_q)) assume (!region_i.valid);
    if (!message_q && !queue_open_q) assume (!queue_answer_i);
    if (queue_open_q) assume (queue_answer_i && queue_i == queue_before_q);
    // A table's answer is held a cycle longer, for what is kept of the packet.
    if (info_o.valid) assume (queue_i == queue_before_q);
    if (!region_i.valid) assume (region_i.code == code_before_q);
    if (queue_answer_i && queue_i.code == '0) begin
      assume (queue_i.first >= 7'd1 && queue_i.first <= queue_o.beats);
      if (queue_i.slotted) assume (queue_i.first == queue_o.beats);
    end
    for (int i = 0; i < 2; i++) begin
      if (stood_q[i]) begin
        assume (valid_i[i] && beat_i[i] == beat_before_q[i]);
        assume (last_i[i] == last_before_q[i] && bad_i[i] == bad_before_q[i]);
      end
      // A beat that becomes valid was at the input already.
      if (valid_i[i] && !taken_q[i]) assume (beat_i[i] == beat_before_q[i]);
    end
    if (!started_q) assume (valid_i == '0);
  end

  // ---------------------------------------------------------------- what was allowed
  logic flow_ok_q, table_ok_q;
  ask_t ask_q;
  logic [63:0] address_q;
  logic [6:0] beats_q;
  logic is_message_q;
  enqueued_t place_q;
  logic region_extended_q;
  flow_t region_src_q;
  logic [31:0] region_key_q;
  logic [5:0] entry_q;
  logic [6:0] look_beats, look_beats_q;
  assign look_beats = fresh_q ? beats_o : look_beats_q;
  always_ff @(posedge clk_i) begin
    look_beats_q <= look_beats;
    if (region_o.look) entry_q <= region_o.entry;
    if (region_o.check && looked_q) begin
      region_extended_q <= region_o.extended;
      region_src_q      <= src_o;
      region_key_q      <= region_o.key;
    end
    if (!rst_ni) begin
      flow_ok_q  <= 1'b0;
      table_ok_q <= 1'b0;
    end else begin
      // A new question ends what was allowed before.
      if (ask_valid_o && ask_ready_i) begin
        flow_ok_q <= 1'b0;
        ask_q     <= ask_o;
      end else if (verdict_i.valid) begin
        flow_ok_q <= verdict_i.verdict == VerdictOk;
      end
      if (region_o.check && looked_q) begin
        address_q    <= region_o.address;
        beats_q      <= beats_o;
        is_message_q <= 1'b0;
      end
      if (region_o.look) begin
        table_ok_q   <= 1'b0;
      end else if (queue_valid_o && queue_ready_i) begin
        table_ok_q   <= 1'b0;
        beats_q      <= queue_o.beats;
        is_message_q <= 1'b1;
      end else if (region_i.valid) begin
        table_ok_q <= region_i.code == '0;
      end else if (queue_answer_i) begin
        table_ok_q <= queue_i.code == '0;
        place_q    <= queue_i;
      end
    end
  end

  // With what is answered in this cycle.
  logic flow_ok, table_ok;
  enqueued_t place;
  assign flow_ok  = verdict_i.valid ? verdict_i.verdict == VerdictOk : flow_ok_q;
  assign table_ok = region_i.valid ? region_i.code == '0
                  : queue_answer_i ? queue_i.code == '0 : table_ok_q;
  assign place    = queue_answer_i ? queue_i : place_q;

  // The reader's state.
  logic [2:0] read;
  logic busy, complete, cut, data_kind, wanted, legal, extended;
  header_t header;
  assign read      = dut.u_parse.read_q;
  assign busy      = dut.u_parse.busy_q;
  assign complete  = dut.u_parse.check_q;
  assign cut       = dut.u_parse.cut_q;
  assign data_kind = dut.u_parse.data_kind;
  assign wanted    = dut.u_parse.wanted;
  assign legal     = dut.u_parse.legal;
  assign extended  = dut.u_parse.extended;
  assign header    = dut.u_parse.header_q;

  // ---------------------------------------------------------------- what is decided, and reported
  logic verdict_here_q, answer_here_q, answers, decides, is_message, known_control, ours, unknown;
  verdict_e verdict_q, verdict_now;
  receive_events_t events_q;
  logic told_q, passed_on_q, asks_control_q;
  addr_t last_beat_q;
  logic [6:0] wrapped;
  control_t control;
  assign control       = control_t'(dut.u_parse.second_q);
  assign ours          = control.control inside {ControlAck, ControlRefused};
  assign known_control = control.control inside {ControlOpen, ControlProbe};
  assign unknown       = !data_kind && !ours && !known_control;
  assign is_message    = header.kind inside {KindMessage, KindShort};
  assign answers       = is_message ? queue_answer_i : region_i.valid;
  assign verdict_now   = verdict_i.valid ? verdict_i.verdict : verdict_q;
  assign decides       = dut.check_state_q == 3'd2 && (verdict_here_q || verdict_i.valid) &&
                         (answer_here_q || answers);
  assign wrapped       = header.beats - queue_i.first;
  always_ff @(posedge clk_i) begin
    if (verdict_i.valid) verdict_q <= verdict_i.verdict;
    if (!rst_ni || dut.check_state_q == 3'd0) {verdict_here_q, answer_here_q} <= '0;
    else if (dut.check_state_q == 3'd2) begin
      if (verdict_i.valid) verdict_here_q <= 1'b1;
      if (answers) answer_here_q <= 1'b1;
    end
    events_q <= '0;
    {told_q, passed_on_q, asks_control_q} <= '0;
    if (rst_ni) begin
      events_q <= '{
        header: dut.u_parse.complete && data_kind,
        taken: decides && flow_ok && table_ok,
        refused: decides && flow_ok && !table_ok,
        known: decides && verdict_now == VerdictKnown,
        beyond: decides && verdict_now == VerdictBeyond,
        not_open: decides && verdict_now == VerdictNotOpen,
        malformed: dut.u_parse.dropped || (dut.check_state_q == 3'd0 && complete && unknown)
      };
      told_q         <= decides && flow_ok;
      passed_on_q    <= dut.check_state_q == 3'd0 && complete && ours && !data_kind &&
                        !rxctl_o.valid;
      asks_control_q <= dut.check_state_q == 3'd1 ? !control_ready_i :
                        dut.check_state_q == 3'd0 && complete && known_control && !data_kind &&
                        !rxctl_o.valid;
    end
    if (!is_message) last_beat_q <= dut.u_parse.second_q[63:3] + addr_t'(header.beats) - addr_t'(1);
    else if (wrapped == '0) last_beat_q <= queue_i.address + addr_t'(header.beats) - addr_t'(1);
    else last_beat_q <= queue_i.base + addr_t'(wrapped) - addr_t'(1);
  end

  // ---------------------------------------------------------------- payload
  logic from, beat_here;
  logic [6:0] header_beats_q;
  logic [6:0] paid_q;  // beats of the packet's payload that were taken
  header_t first_header;
  assign first_header = beat_i[from];
  assign from      = dut.u_parse.gnt[1];
  assign beat_here = (valid_i & dut.u_parse.gnt) != '0;
  always_ff @(posedge clk_i) begin
    if (read == 3'd0 && ready_o != '0) header_beats_q <= first_header.beats;
    if (read == 3'd0) paid_q <= '0;
    else paid_q <= paid_q + 7'(payload_valid_o && payload_ready_i);
  end

  logic write_piece, second;
  assign write_piece = piece_valid_o && !piece_o.drop;
  assign second      = dut.check_state_q == 3'd5;

  always_comb begin
    if (started_q) begin
      if (write_piece) begin
        assert (flow_ok && table_ok && !cut);
        assert (piece_o.src == ask_q.src && piece_o.place == ask_q.seq[5:0]);
        assert (piece_o.body == (is_message_q && place.slotted));
        if (!is_message_q) begin
          assert (!second && piece_o.last && piece_o.beats == beats_q);
          assert (piece_o.address == address_q[63:3]);
        end else if (!second) begin
          assert (piece_o.beats == place.first);
          assert (piece_o.address == place.address);
          assert (piece_o.last == (place.first == beats_q));
        end else begin
          assert (piece_o.beats == beats_q - place.first && piece_o.last);
          assert (piece_o.address == place.base);
        end
      end
      if (piece_valid_o && piece_o.drop) assert (piece_o.last && piece_o.packet == beats_o);
      assert (dut.decide == decides && events_o == events_q);
      assert (piece_valid_o == ((decides && !(flow_ok && !table_ok)) || dut.check_state_q >= 3'd4));
      assert (queue_commit_o == (decides && is_message && flow_ok && table_ok));
      assert (queue_drop_o == (decides && is_message && !(flow_ok && table_ok)));
      // What is kept of a packet that its flow has taken.
      assert (info_o.valid == told_q);
      if (info_o.valid) begin
        assert (info_o.src == header.src[2:0] && info_o.place == header.seq[5:0]);
        assert (info_o.info.tag == header.tag && info_o.info.beats == header.beats);
        assert (info_o.info.code == (is_message ? queue_i.code : region_i.code));
        if (info_o.info.code == '0) assert (info_o.info.address == last_beat_q);
        assert ({info_o.info.notify, info_o.info.irq, info_o.info.completion} ==
                {header.notify, header.irq, header.completion});
        assert (info_o.info.immediate == (is_message ? dut.u_parse.second_q[63:32] :
                                          dut.u_parse.third_q[63:32]));
        assert (info_o.info.to_queue == (!is_message && region_i.to_queue &&
                                         region_i.code == '0));
        assert (info_o.info.qid == region_i.qid);
        assert (info_o.info.phase == queue_i.phase && info_o.info.count == queue_i.count);
      end
      // Control packets: those for the send side, and those that are asked about.
      assert (rxctl_o.valid == passed_on_q && control_o.valid == asks_control_q);
      if (rxctl_o.valid) assert (rxctl_o.header == header && rxctl_o.control == control);
      if (control_o.valid) begin
        assert (control_o.open == (control.control == ControlOpen));
        assert (control_o.ask == {header.src[2:0], header.session, header.seq});
      end
      // Payload: as it came, as many beats as the header says; a packet cut short is filled up, and
      // the last beat says that it is bad.
      assert (payload_valid_o == ((read == 3'd3 && beat_here) || read == 3'd4));
      if (payload_valid_o) begin
        assert (payload_o.keep == (read == 3'd3 && !(last_i[from] && bad_i[from])));
        assert (payload_o.bad == (paid_q + 7'd1 == header_beats_q &&
                                  (read == 3'd4 || !last_i[from] || bad_i[from])));
        if (payload_o.keep) assert (payload_o.data == beat_i[from]);
      end
      // A short packet is announced to the bus before its pieces, and nothing is at rest.
      if (short_q) assert (coming_o);
      if (idle_o) assert (!coming_o);
      // A short message's queue is the one in its first beat.
      if (busy && header.kind == KindShort) begin
        assert (dut.u_parse.second_q == beat_t'(header.qid));
        if (queue_valid_o) assert (queue_o.qid == {4'd0, header.qid});
      end
      // The entry that was looked up is the one that the packet names; and what it is checked for
      // is stable.
      if (region_o.check) assert (entry_q == (region_o.extended ? region_o.key[5:0] : 6'(src_o)));
      if (looked_q) assert (beats_o == look_beats);
      if ((looked_q && checking_q) || (write_piece && !is_message_q)) begin
        assert (region_o.check);
        assert (region_o.address == address_q && beats_o == beats_q && src_o == region_src_q);
        assert (region_o.extended == region_extended_q);
        if (region_o.extended) assert (region_o.key == region_key_q);
      end
      // What its flow has taken is written or dropped to its last beat, or was none and is given
      // back.
      if (dut.check_end && dut.check_state_q != 3'd0 && data_kind && flow_ok) begin
        assert ((piece_valid_o && piece_o.last) || (refused_o.valid && refused_o.spoilt));
      end
      // A head moves only for a message that its flow takes.
      if (queue_commit_o) assert (flow_ok && is_message_q && queue_i.code == '0);
      if (refused_o.valid) assert (flow_ok_q && !table_ok_q);
      // Never two in a row.
      if (rxctl_o.valid) assert (!dut.check_state_q[0] && dut.check_state_q == '0);

      // Inductive strengthening.
      if (read != 3'd0) begin
        assert (header_beats_q == paid_q + dut.u_parse.left_q || read == 3'd5);
        if (busy) assert (header_beats_q == header.beats);
      end
      if (read inside {3'd1, 3'd2, 3'd6}) assert (paid_q == '0);
      if (dut.check_state_q == 3'd2) begin
        assert (dut.verdict_here_q == verdict_here_q && dut.answer_here_q == answer_here_q);
        if (verdict_here_q) assert (dut.verdict_q == verdict_q);
      end
      assert (dut.u_parse.u_links.owner_q != 2'd3);
      for (int i = 0; i < 2; i++) begin
        assert (!dut.u_parse.stands_q[i] || !taken_q[i]);
        assert (dut.u_parse.look_q[i].src == header_before[i].src[2:0]);
        assert (dut.u_parse.look_q[i].qid == header_before[i].qid);
        assert (dut.u_parse.look_q[i].entry == beat_before_q[i][5:0]);
      end
      assert (read <= 3'd6);
      if (busy || read != 3'd0) begin
        assert (dut.u_parse.data_q == (dut.u_parse.formed_q && data_kind));
      end
      if (read == 3'd1 || read == 3'd2 || read == 3'd6) begin
        assert (busy && !complete && !cut && !rxctl_o.valid);
      end
      if (complete || cut || dut.check_state_q != 3'd0 || rxctl_o.valid) assert (busy);
      if (cut) assert (!complete && wanted && read == 3'd0 && !rxctl_o.valid);
      if ((busy || read != 3'd0) && data_kind) assert (!dut.u_parse.extra_q);
      if (complete && data_kind) assert (legal);
      if (complete && !data_kind) assert (read == 3'd0);
      if (busy && !complete) assert (looked_q && !checking_q && !table_ok_q);
      if (rxctl_o.valid) assert (complete && !data_kind);
      if (busy && entry_q != 6'(src_o)) assert (extended || !wanted);
      if (complete && data_kind) begin
        if (!dut.message) assert (entry_q == (extended ? dut.u_parse.third_q[5:0] : 6'(src_o)));
      end
      if (read == 3'd1 || read == 3'd6) assert (!dut.u_parse.extra_q);
      if (read == 3'd1 || read == 3'd2) assert (header.kind != KindShort);
      if (read == 3'd6) assert (dut.check_state_q == 3'd0 && header.kind == KindShort);
      if (read == 3'd2) assert (extended);
      if (read == 3'd2 || read == 3'd3) assert (legal && data_kind);
      if ((read == 3'd1 && legal && data_kind) || read == 3'd2 ||
          (read == 3'd6 && legal) ||
          (complete && data_kind)) begin
        assert (header.beats >= 7'd1 && header.beats <= 7'(PacketBeats));
      end
      assert (dut.check_state_q <= 3'd5);
      if (dut.check_state_q == 3'd0) begin
        assert (!asking_q && !message_q && !queue_open_q);
        if (busy) begin
          assert (!dut.ask_sent_q && !dut.lookup_sent_q);
          assert (!dut.verdict_here_q && !dut.answer_here_q);
          if (wanted) assert (read == 3'd1 || read == 3'd6);
        end
      end else if (dut.check_state_q == 3'd2) begin
        assert (asking_q == (dut.ask_sent_q && !dut.verdict_here_q));
        assert (message_q == (dut.lookup_sent_q && !dut.answer_here_q));
        if (!dut.message) assert (looked_q == !dut.answer_here_q);
        assert (complete || cut || read == 3'd1 || read == 3'd2);
        if (!complete) assert (!dut.lookup_sent_q && !dut.answer_here_q);
        if (dut.answer_here_q && !dut.message) assert (checking_q);
        if (message_q || queue_open_q) assert (dut.message);
        if (dut.lookup_sent_q) assert (dut.message);
        if (dut.verdict_here_q) assert (dut.ask_sent_q);
        if (dut.answer_here_q && dut.message) assert (dut.lookup_sent_q);
        assert (queue_open_q == (dut.answer_here_q && dut.message));
      end else begin
        assert (!asking_q && !message_q && !queue_open_q);
        if (dut.check_state_q == 3'd1) assert (complete && !data_kind && !rxctl_o.valid);
        else if (!cut) begin
          assert (complete);
          if (!dut.message) assert (!looked_q && checking_q);
        end
        if (dut.check_state_q >= 3'd4) assert (!cut);
      end
      if (looked_q && checking_q) assert (dut.check_state_q == 3'd2 && data_kind && !dut.message);
      if (dut.check_state_q >= 3'd2) begin
        assert (data_kind && header.beats != '0);
        if (dut.ask_sent_q || dut.check_state_q != 3'd2) assert (ask_q == ask_o);
        if (!dut.message && checking_q) begin
          assert (!is_message_q && address_q == dut.u_parse.second_q);
          assert (region_extended_q == region_o.extended && region_src_q == src_o);
          assert (region_key_q == region_o.key);
        end
        if (!cut && (dut.message ? dut.lookup_sent_q || dut.check_state_q != 3'd2 :
                     checking_q)) begin
          assert (is_message_q == dut.message && beats_q == header.beats);
        end
        assert (wanted);
      end
      if (dut.check_state_q == 3'd2 && dut.verdict_here_q) begin
        assert (flow_ok_q == (dut.verdict_q == VerdictOk));
      end
      if (dut.check_state_q == 3'd2 && dut.answer_here_q) begin
        assert (table_ok_q == (dut.code == '0));
        if (dut.message) assert (place_q == queue_i);
      end
      if (dut.check_state_q == 3'd3) begin
        assert (flow_ok_q && !table_ok_q);
        if (!cut) assert (!dut.passed_q && !dut.wraps_q);
      end
      if (dut.check_state_q >= 3'd4) begin
        assert (dut.passed_q == (flow_ok_q && table_ok_q));
        if (dut.passed_q) begin
          assert (dut.slotted_q == (is_message_q && place_q.slotted));
          assert (dut.wraps_q == (is_message_q && place_q.first != beats_q));
          assert (dut.first_q == (is_message_q ? place_q.first : beats_q));
          if (is_message_q) begin
            assert (dut.rest_q == beats_q - place_q.first && dut.base_q == place_q.base);
            assert (dut.address_q == place_q.address);
          end else begin
            assert (dut.address_q == address_q[63:3]);
          end
        end else begin
          assert (!dut.wraps_q);
        end
      end
      if (dut.check_state_q == 3'd5) assert (dut.wraps_q && dut.passed_q);

      cover (write_piece && second);
      cover (write_piece && is_message_q && header.kind == KindShort);
      cover (write_piece && !is_message_q && piece_o.beats == 7'd2 && region_o.extended);
      cover (refused_o.valid && !refused_o.spoilt);
      cover (refused_o.valid && refused_o.spoilt);
      cover (piece_valid_o && piece_o.drop);
    end
  end
endmodule
