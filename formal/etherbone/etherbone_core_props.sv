// SPDX-License-Identifier: SHL-2.1
/// etherbone_core between arbitrary request words and a bus that only answers requests.
///
/// An event is a word taken outside a discarded rest, or the end of a frame. One event is watched,
/// chosen by its number modulo twice the depth: from the request word to the bus operation, to the
/// bus's answer, to the reply beat. As the choice is free, what holds for it holds for all.
module etherbone_core_props
  import etherbone_pkg::*;
#(
  parameter int unsigned Depth = 8,
  parameter int unsigned Prompt = 2,  // clocks in which a prompt bus takes, and in which it answers
  localparam int unsigned Width = 32,
  localparam int unsigned NumW = $clog2(Depth) + 1
) (
  input logic             clk_i,
  input logic             rx_valid_i,
  input logic [Width-1:0] rx_data_i,
  input logic             rx_last_i,
  input logic             rx_verified_i,
  input logic             rx_open_i,
  input logic             rx_abort_i,
  input logic             tx_ready_i,
  input logic             wb_stall_i,
  input logic             wb_ack_i,
  input logic             wb_err_i,
  input logic [Width-1:0] wb_dat_i,
  input logic [31:0]      sdb_address_i,
  input logic [47:0]      own_mac_i,
  input logic [31:0]      own_ip_i,
  input logic [15:0]      own_port_i
);
  logic               rst_ni, rx_ready_o, tx_valid_o, tx_end_o, tx_commit_o;
  logic               wb_cyc_o, wb_stb_o, wb_we_o;
  logic [  Width-1:0] tx_data_o, wb_adr_o, wb_dat_o;
  logic [Width/8-1:0] wb_sel_o;
  logic               frame_done_o, malformed_o, record_o, operation_o, bus_error_o, idle_o;

  etherbone_core #(.Width(Width), .Depth(Depth), .Stream(1'b0), .Admission(ReadsEarly)) dut (.*);

  logic started_q = 1'b0;
  always_ff @(posedge clk_i) started_q <= 1'b1;
  assign rst_ni = started_q;

  // ---------------------------------------------------------------- frames, as seen from outside
  logic in_frame_q;  // a word was taken since the last end of a frame
  logic ended_q;     // its last word was, or it was aborted
  logic discard_q;   // the frame was refused before its last word: the rest has no reply
  logic bad_q;       // refused or aborted
  logic silent_q;    // the header requested no reply
  logic take, word_event, event_now;

  assign take       = rx_valid_i && rx_ready_o && !rx_abort_i;
  assign word_event = take && !discard_q;
  assign event_now  = word_event || frame_done_o;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      in_frame_q <= 1'b0;
      ended_q    <= 1'b0;
      discard_q  <= 1'b0;
      bad_q      <= 1'b0;
    end else begin
      in_frame_q <= !frame_done_o && (in_frame_q || take);
      ended_q    <= !frame_done_o && (ended_q || rx_abort_i || (take && rx_last_i));
      discard_q  <= !rx_abort_i && !(take && rx_last_i) && (discard_q || (take && malformed_o));
      bad_q      <= !frame_done_o && (bad_q || rx_abort_i || malformed_o);
      if (take && !in_frame_q) begin
        silent_q <= rx_data_i[8+HdrNoReads] &&
                    !(rx_data_i[31:12] == {Magic, Version} && rx_data_i[8+HdrProbe]);
      end
    end
  end

  // ---------------------------------------------------------------- the bus
  logic [NumW-1:0] issued_q, taken_q, answered_q;  // operations, modulo twice the depth
  logic [NumW-1:0] owed;
  logic taken, answer;

  assign owed   = taken_q - answered_q;
  assign taken  = wb_cyc_o && wb_stb_o && !wb_stall_i;
  assign answer = wb_ack_i || wb_err_i;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      issued_q   <= '0;
      taken_q    <= '0;
      answered_q <= '0;
    end else begin
      issued_q   <= issued_q + NumW'(operation_o);
      taken_q    <= taken_q + NumW'(taken);
      answered_q <= answered_q + NumW'(answer);
    end
  end

  // ---------------------------------------------------------------- the watched event
  // Never assigned another value and not initialised: any constant.
  logic [NumW-1:0] watch_q;
  always_ff @(posedge clk_i) watch_q <= watch_q;

  logic [NumW-1:0] events_q, replies_q;
  logic live_q, end_q, commit_q, op_q, verified_q, we_q, ans_q;
  logic [Width-1:0] word_q, ans_dat_q;
  logic [NumW-1:0] number_q;  // of its operation
  logic reply, on_bus;

  assign reply  = tx_valid_o && tx_ready_i;
  // The watched event's operation is the one on the bus now.
  assign on_bus = live_q && op_q && number_q == taken_q && wb_stb_o;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      events_q  <= '0;
      replies_q <= '0;
      live_q    <= 1'b0;
    end else begin
      events_q  <= events_q + NumW'(event_now);
      replies_q <= replies_q + NumW'(reply);
      if (event_now && events_q == watch_q) begin
        live_q     <= 1'b1;
        end_q      <= frame_done_o;
        commit_q   <= !bad_q && !silent_q;
        op_q       <= operation_o;
        number_q   <= issued_q;
        word_q     <= rx_data_i;
        verified_q <= rx_verified_i;
        ans_q      <= 1'b0;
      end else if (reply && replies_q == watch_q) begin
        live_q <= 1'b0;
      end
      if (on_bus) we_q <= wb_we_o;
      if (live_q && op_q && !ans_q && answer && answered_q == number_q) begin
        ans_q     <= 1'b1;
        ans_dat_q <= wb_dat_i;
      end
    end
  end

  // ---------------------------------------------------------------- time
  logic       prompt_q;  // the bus has always been prompt
  logic [3:0] stalled_q, silent_for_q;
  logic [7:0] head_wait_q, rx_wait_q;
  localparam int unsigned HeadBound = 2 * Prompt + 1;
  localparam int unsigned RxBound   = 2 * (Prompt + 1) * (Depth + 1) + 2 * Depth + 6;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      prompt_q     <= 1'b1;
      stalled_q    <= '0;
      silent_for_q <= '0;
      head_wait_q  <= '0;
      rx_wait_q    <= '0;
    end else begin
      stalled_q    <= (wb_stb_o && wb_stall_i) ? stalled_q + 4'd1 : '0;
      silent_for_q <= (owed != '0 && !answer) ? silent_for_q + 4'd1 : '0;
      if ((wb_stb_o && wb_stall_i && stalled_q == 4'(Prompt)) ||
          (owed != '0 && !answer && silent_for_q == 4'(Prompt - 1))) prompt_q <= 1'b0;
      // The oldest reply is not there yet.
      head_wait_q <= (events_q != replies_q && !tx_valid_o) ? head_wait_q + 8'd1 : '0;
      // No word is taken although replies leave and the checks have passed.
      rx_wait_q <= (!rx_ready_o && tx_ready_i && rx_verified_i && !rx_open_i && !rx_abort_i) ?
                   rx_wait_q + 8'd1 : '0;
    end
  end

  // ---------------------------------------------------------------- inside the dut
  // Its enumerations, and the operations that its reply slots wait for.
  localparam logic [3:0] DutHead = 4'd0, DutSkip = 4'd7, DutEnd = 4'd8;
  localparam logic [2:0] DutWrite = 3'd1, DutRead = 3'd2, DutSlotEnd = 3'd4;
  logic [NumW-1:0] usage, popped, results, pending, untaken, unanswered;
  logic [2:0] kind[Depth];
  logic [2:0] kind_watched;
  logic [Width:0] result_watched;
  logic [Width-1:0] slot_watched;

  assign usage      = events_q - replies_q;
  assign pending    = NumW'(dut.pending_q);
  assign results    = dut.u_reply.u_results.wptr_q - dut.u_reply.u_results.rptr_q;
  assign popped     = dut.u_reply.u_results.rptr_q;
  assign untaken    = NumW'(dut.stb_q) + NumW'(dut.spare_valid_q);
  assign unanswered = untaken + pending;
  assign result_watched = dut.u_reply.u_results.mem_q[number_q[NumW-2:0]];
  assign {kind_watched, slot_watched} = dut.u_reply.u_slots.mem_q[watch_q[NumW-2:0]];

  for (genvar i = 0; i < Depth; i++) begin : gen_kind
    assign kind[i] = dut.u_reply.u_slots.mem_q[i][Width+:3];
  end

  // Beside each slot the number of the next operation when it was filled, so that what induction
  // needs is local: neighbours differ by one exactly where the first of them waits for the bus.
  logic [NumW-1:0] number[Depth];
  logic [Depth-1:0] waits;
  always_ff @(posedge clk_i) if (event_now) number[events_q[NumW-2:0]] <= issued_q;
  for (genvar i = 0; i < Depth; i++) begin : gen_waits
    assign waits[i] = kind[i] == DutWrite || kind[i] == DutRead;
  end

  // Falls with every clock in which no word is taken although it could be.
  logic [7:0] work;
  assign work = 8'(2) * (8'(Prompt + 1) * (8'(untaken) + 8'(unanswered)) -
                         8'(stalled_q) - 8'(silent_for_q)) +
                8'(2) * 8'(usage) + 8'(!dut.slot_ready) + 8'(dut.closing_q) +
                ((dut.state_q == DutEnd) ? 8'd6 : 8'd0);

  always_comb begin
    if (started_q) begin
      // A frame can only be aborted once the core has begun with it and until its end.
      if (rx_abort_i) assume (in_frame_q);
      // The bus answers only accepted operations, from the next cycle on.
      if (answer) assume (owed != '0);

      // -------------------------------------------------------------- frames
      // Between a frame's last word, or its abort, and its end no word is taken.
      if (ended_q) assert (!rx_ready_o);
      // A frame ends once, whole or aborted, when its checks are closed.
      if (frame_done_o) assert (in_frame_q && ended_q && !rx_open_i && !rx_abort_i);

      // -------------------------------------------------------------- replies
      // Each event has exactly one beat, in order: words a word, ends an end beat.
      assert (usage < NumW'(Depth));
      if (tx_valid_o) assert (usage != '0);
      if (tx_valid_o && live_q && replies_q == watch_q) begin
        assert (tx_end_o == end_q);
        // Whether the reply is sent: never for a frame that was aborted or refused.
        if (end_q) assert (tx_commit_o == commit_q);
        // An operation's reply comes after its answer; a read's reply is the bus's answer.
        if (op_q) assert (ans_q);
        if (op_q && !we_q) assert (tx_data_o == ans_dat_q);
      end

      // -------------------------------------------------------------- bus
      if (wb_stb_o) assert (wb_cyc_o);
      // cyc is held while an operation is outstanding or waits to be offered.
      if (owed != '0 || issued_q != taken_q) assert (wb_cyc_o);
      if (operation_o) assert (take);
      // Operations reach the bus in order, each with the word that requested it.
      if (on_bus) begin
        if (wb_we_o) assert (wb_dat_o == word_q);
        else assert (wb_adr_o == word_q);
        // Nothing is written before the frame's checks have passed.
        if (wb_we_o) assert (verified_q);
      end
      if (wb_stb_o) assert (issued_q != taken_q);
      // Room for every answer.
      if (answer) assert (results != NumW'(Depth));

      // -------------------------------------------------------------- time
      if (prompt_q) begin
        assert (head_wait_q <= 8'(HeadBound));
        assert (rx_wait_q <= 8'(RxBound));
      end

      // -------------------------------------------------------------- inductive strengthening
      assert (dut.state_q <= DutEnd);
      assert (in_frame_q == (dut.state_q != DutHead));
      assert (ended_q == (dut.state_q == DutEnd));
      assert (discard_q == (dut.state_q == DutSkip));
      if (in_frame_q) assert (bad_q == dut.bad_q && silent_q == dut.silent_q);
      else assert (!bad_q);
      if (discard_q) assert (bad_q);

      assert (events_q == dut.u_reply.u_slots.wptr_q && replies_q == dut.u_reply.u_slots.rptr_q);
      if (dut.slot_ready) assert (usage <= NumW'(Depth - 2));
      assert (live_q == (NumW'(watch_q - replies_q) < usage));

      if (dut.spare_valid_q) assert (dut.stb_q);
      assert (NumW'(issued_q - taken_q) == untaken);
      assert (owed == pending && pending <= NumW'(Depth));
      assert (answered_q == dut.u_reply.u_results.wptr_q);
      assert (8'(NumW'(issued_q - popped)) == 8'(results) + 8'(unanswered));
      assert (NumW'(issued_q - popped) <= usage);
      if (usage == '0) assert (issued_q == popped);
      else assert (number[replies_q[NumW-2:0]] == popped);
      for (int unsigned i = 0; i < Depth; i++) begin
        logic [NumW-2:0] place;
        logic [NumW-1:0] rest;
        place = (NumW-1)'(i) - replies_q[NumW-2:0];
        rest  = usage - NumW'(place);
        if (NumW'(place) < usage) begin
          assert (NumW'(issued_q - number[i]) <= rest);
          if (rest == NumW'(1)) assert (issued_q == NumW'(number[i] + NumW'(waits[i])));
          else assert (number[(i+1)%Depth] == NumW'(number[i] + NumW'(waits[i])));
        end
      end

      if (live_q) begin
        assert (end_q == (kind_watched == DutSlotEnd));
        if (end_q) assert (slot_watched[0] == commit_q);
        assert (op_q == (kind_watched == DutWrite || kind_watched == DutRead));
        if (op_q) begin
          assert (number[watch_q[NumW-2:0]] == number_q);
          assert (NumW'(number_q - popped) < NumW'(issued_q - popped));
          assert (ans_q == (NumW'(number_q - popped) < results));
          if (ans_q) assert (result_watched[Width-1:0] == ans_dat_q);
          if (kind_watched == DutWrite) assert (verified_q);
          if (NumW'(number_q - popped) < NumW'(results + pending)) begin
            assert (we_q == (kind_watched == DutWrite));
          end else if (number_q == taken_q) begin
            assert (dut.bus_q.we == (kind_watched == DutWrite));
            assert ((dut.bus_q.we ? dut.bus_q.dat : dut.bus_q.adr) == word_q);
          end else begin
            assert (dut.spare_q.we == (kind_watched == DutWrite));
            assert ((dut.spare_q.we ? dut.spare_q.dat : dut.spare_q.adr) == word_q);
          end
        end
      end

      if (prompt_q) begin
        assert (stalled_q <= 4'(Prompt) && silent_for_q < 4'(Prompt));
        if (!dut.stb_q) assert (stalled_q == '0);
        if (pending == '0) assert (silent_for_q == '0);
        if (results == '0 && pending != '0)
          assert (head_wait_q <= 8'(Prompt + 1) + 8'(silent_for_q));
        if (results == '0 && pending == '0 && dut.stb_q) assert (head_wait_q <= 8'(stalled_q));
        if (results != '0) assert (head_wait_q <= 8'(HeadBound));
        if (issued_q == popped) assert (head_wait_q <= 8'(HeadBound));
        assert (rx_wait_q + work <= 8'(RxBound));
      end

      // -------------------------------------------------------------- reachable
      cover (tx_valid_o && tx_end_o && tx_commit_o && live_q && end_q && replies_q == watch_q);
      cover (rx_abort_i && owed != '0);
      cover (on_bus && wb_we_o && dut.spare_valid_q);
      cover (reply && live_q && op_q && we_q && replies_q == watch_q && bus_error_o);
      cover (discard_q && frame_done_o == 1'b0 && take && rx_last_i);
      cover (prompt_q && rx_wait_q == 8'd4);
      cover (prompt_q && head_wait_q == 8'(HeadBound));
    end
  end
endmodule
