// SPDX-License-Identifier: SHL-2.1
/// nanet_stream: nothing is written outside the buffer that the table gives nor over the end of a
/// page of 4 KiB, a command has the beats that its bytes need, and an event comes when all writes
/// of its buffer are answered, one a buffer, in their order, and with at least one datagram. Every
/// datagram whose head was taken is counted once: delivered, lost with its reason, or still here.
/// The event has sender, end and time of its buffer's last good datagram, and how many were lost
/// until then. A strobe for each datagram's first command; ends are counted.
///
/// Any datagrams, also cut short; any stalls, answers, buffers and policy. The table is set before
/// the list is enabled. A host gives back what was announced; with the oldest given up, anything.
module nanet_stream_props
  import nanet_pkg::*;
(
  input logic        clk_i,
  input logic        enable_i,
  input logic        beat_valid_i,
  input logic [1:0]  beat_kind,
  input logic [63:0] beat_i,
  input logic [7:0]  usage_i,
  input logic [7:0]  ends_i,
  input logic        head_lost_i,
  input logic        answer_valid_i,
  input logic        cmd_ready_i,
  input logic        data_ready_i,
  input logic        done_valid_i,
  input logic        done_error_i,
  input logic        event_ready_i,
  input logic        full_i,
  input logic [15:0] returned_i,
  input logic [63:0] time_cycles_i
);
  localparam int unsigned Longest = 4096;  // of a torus' packet; a datagram is shorter

  // Never assigned another value and not initialised: any constants.
  logic [6:0]  buffers;
  logic [7:0]  datagrams;
  logic [31:0] flush;
  logic [1:0]  policy;
  always_ff @(posedge clk_i) begin
    policy    <= policy;
    buffers   <= buffers;
    datagrams <= datagrams;
    flush     <= flush;
  end

  logic rst_ni, beat_ready_o, ask_valid_o, cmd_valid_o, data_valid_o, data_keep_o, data_last_o;
  logic event_valid_o, begun_o, idle_o;
  logic [63:0] cmd_addr_o, data_o;
  logic [11:0] cmd_bytes_o;
  event_t  event_o;
  losses_t losses_o;
  logic [15:0] filled_o, no_event_o, overwritten_o;
  region_key_t cmd_key_o;
  logic [31:0] delivered_o;
  logic [5:0]  number_o;
  list_t  list_i;
  entry_e beat_kind_i;
  logic   table_we_i;
  logic [5:0] table_index_i;
  buffer_t table_i;
  list_request_t  request_o;
  list_response_t response_i;
  assign {cmd_valid_o, cmd_key_o, cmd_addr_o, cmd_bytes_o} = {
      request_o.write.cmd_valid, request_o.write.key, request_o.write.addr, request_o.write.bytes};
  assign {data_valid_o, data_keep_o, data_last_o} = {
      request_o.write.data_valid, request_o.write.keep, request_o.write.last};
  assign event_valid_o = request_o.event_valid;
  assign event_o       = request_o.event_;
  assign response_i    = '{
      cmd_ready: cmd_ready_i, data_ready: data_ready_i, event_ready: event_ready_i,
      done_valid: done_valid_i, done_error: done_error_i
  };
  assign table_we_i    = 1'b0;
  assign table_index_i = '0;
  assign table_i       = '0;
  assign beat_kind_i   = entry_e'(beat_kind);
  assign list_i = '{
      enable: enable_i, buffers: buffers, datagrams: datagrams, policy: policy, echo: 1'b0,
      flush: flush, returned: returned_i
  };

  nanet_stream #(.DataWidth(64), .UsageW(8), .Ask(1'b1)) dut (.*);

  logic started_q = 1'b0;
  always_ff @(posedge clk_i) started_q <= 1'b1;
  assign rst_ni = started_q;

  // Commands that memory has not answered.
  logic [7:0] open_q;
  logic cmd_take, data_take;
  assign cmd_take  = cmd_valid_o && cmd_ready_i;
  assign data_take = data_valid_o && data_ready_i;
  logic [11:0] bytes_q;    // of the command whose data goes
  logic [11:0] sent_q;     // beats of it
  logic        sending_q;
  always_ff @(posedge clk_i) begin
    if (!started_q) begin
      open_q    <= '0;
      sending_q <= 1'b0;
    end else begin
      open_q <= open_q + 8'(cmd_take) - 8'(done_valid_i);
      if (cmd_take) begin
        bytes_q   <= cmd_bytes_o;
        sent_q    <= '0;
        sending_q <= 1'b1;
      end else if (data_take) begin
        sent_q <= sent_q + 12'd1;
        if (data_last_o) sending_q <= 1'b0;
      end
    end
  end

  logic is_end;
  assign is_end = beat_valid_i && beat_kind_i == EntryEnd;
  always_comb begin
    assume (buffers >= 7'd1 && buffers <= 7'd64);
    assume (beat_kind <= 2'd2);
    // The UDP stage takes no longer frames, and the torus no longer packets.
    if (beat_kind_i == EntryHead) assume (beat_i[15:0] <= 16'(Longest));
    // What did not fit the buffers behind its port is not good.
    if (is_end) assume (!(dut.ending.good && dut.ending.overflow));
    // Memory answers what it was asked; the host gives back what was announced.
    if (done_valid_i) assume (open_q != '0);
    assume (policy <= 2'd2);
    if (started_q && policy != 2'd1) assume (16'(filled_o - returned_i) <= 16'(buffers));
    if (!enable_i) assume (returned_i == filled_o);
  end

  // States of the module, by their place in its list.
  localparam logic [3:0] StLoad = 4'd1, StPlace = 4'd2, StAsk = 4'd3, StChunk = 4'd4;
  localparam logic [3:0] StData = 4'd5, StEnd = 4'd6, StClose = 4'd7, StDrop = 4'd8;
  localparam logic [3:0] StCommand = 4'd9;
  logic [3:0] state;
  assign state = dut.state_q;

  // Buffers announced since the list was empty, and where the next one is in the circle.
  logic [31:0] announced_q;
  logic [6:0]  next_q;
  logic        announce;
  assign announce = event_valid_o && event_ready_i && !full_i;
  always_ff @(posedge clk_i) begin
    if (!started_q || (state == 4'd0 && !enable_i && !dut.flush_due_q)) begin
      announced_q <= '0;
      next_q      <= '0;
    end else if (announce) begin
      announced_q <= announced_q + 32'd1;
      next_q      <= next_q + 7'd1 >= buffers ? '0 : next_q + 7'd1;
    end
  end

  // Datagrams that came and have not ended: neither lost, nor in a buffer that was announced or is
  // not any more. And those that were in one of the two.
  logic [15:0] open_heads_q, delivered_q, unannounced_q;
  logic        here, cleared;
  assign cleared = state == 4'd0 && !enable_i && !dut.flush_due_q;
  assign here    = dut.head_valid_q || state == StAsk || state == StChunk ||
                   state == StCommand || state == StData || state == StEnd || state == StDrop;
  always_ff @(posedge clk_i) begin
    if (!started_q) begin
      open_heads_q  <= '0;
      delivered_q   <= '0;
      unannounced_q <= '0;
    end else begin
      // What head_lost_i says is counted with a datagram's overflow: it never came here.
      open_heads_q <= open_heads_q +
          16'(state == 4'd0 && beat_valid_i && beat_ready_o && beat_kind_i == EntryHead) -
          16'(losses_o.closed || losses_o.no_buffer || losses_o.too_long || losses_o.bad ||
              (state == StEnd && is_end && dut.ending.overflow && losses_o.overflow)) -
          (cleared || (event_valid_o && event_ready_i) ? dut.datagrams_q : '0);
      if (announce) delivered_q <= delivered_q + event_o.datagrams;
      if (cleared || losses_o.no_event) unannounced_q <= unannounced_q + dut.datagrams_q;
    end
  end

  logic [24:0] until_;   // behind the command, from the buffer's begin

  // What an event and the strobes have to say, from what went in.
  head_t       came_q;           // the head that was taken last
  logic [24:0] written_q;        // behind the last command of its datagram
  logic        first_q;          // its first command is to come
  logic [62:0] good_cycles_q;    // of the last good datagram of the buffer
  logic [24:0] good_bytes_q;
  head_t       good_head_q;
  logic [31:0] all_lost_q;
  logic [5:0]  ends_q;
  logic        failed_q;         // memory refused something of this buffer
  logic        end_take, lost_now;
  assign end_take = is_end && beat_ready_o && (state == StEnd || state == StDrop);
  assign lost_now = end_take && !(state == StEnd && dut.ending.good);
  always_ff @(posedge clk_i) begin
    if (state == 4'd0 && beat_valid_i && beat_ready_o && beat_kind_i == EntryHead) begin
      came_q <= head_t'(beat_i);
    end
    if (state == StPlace) written_q <= dut.fill_q;
    if (cmd_take) written_q <= until_;
    if (end_take && !lost_now) begin
      good_cycles_q <= time_cycles_i[62:0];
      good_bytes_q  <= written_q;
      good_head_q   <= came_q;
    end
    if (state == StPlace) first_q <= 1'b1;
    else if (cmd_take) first_q <= 1'b0;
    if (!started_q) begin
      all_lost_q <= '0;
      ends_q     <= '0;
      failed_q   <= 1'b0;
    end else begin
      all_lost_q <= all_lost_q + 32'(lost_now) + 32'(head_lost_i) +
                    (losses_o.no_event ? 32'(event_o.datagrams) : '0);
      ends_q     <= ends_q + 6'(end_take);
      if (cleared || (event_valid_o && event_ready_i)) failed_q <= 1'b0;
      if (done_valid_i && done_error_i) failed_q <= 1'b1;
    end
  end

  logic placed;
  logic [15:0] most;     // datagrams of a buffer
  assign most   = datagrams == '0 ? '1 : 16'(datagrams);
  assign until_ = {1'b0, dut.at_q} + 25'(cmd_bytes_o);
  assign placed = state == StAsk || state == StChunk || state == StCommand || state == StData;
  // To the end of the page, and of the chunk, of what begins here.
  function automatic logic [12:0] page_left(logic [23:0] at);
    return 13'd4096 - 13'(12'(at[11:0] + {dut.buffer_q.base[5:0], 6'd0}));
  endfunction
  function automatic logic [11:0] edge_left(logic [23:0] at);
    logic [12:0] page;
    page = page_left(at);
    return page < 13'd128 - 13'(at[6:0]) ? page[11:0] : 12'd128 - 12'(at[6:0]);
  endfunction
  always_comb begin
    if (started_q) begin
      if (cmd_valid_o) begin
        assert (dut.open_q && cmd_bytes_o != '0 && cmd_bytes_o <= 12'd2048);
        assert (cmd_addr_o == {dut.buffer_q.base, 6'd0} + 64'(dut.at_q));
        assert (until_ <= {1'b0, dut.buffer_q.bytes});
        assert (13'(cmd_addr_o[11:0]) + 13'(cmd_bytes_o) <= 13'd4096);
        assert (cmd_key_o == dut.buffer_q.key);
      end
      if (data_valid_o) begin
        assert (sending_q);
        assert (data_last_o == (sent_q == ((bytes_q + 12'd7) >> 3) - 12'd1));
      end
      if (event_valid_o) begin
        assert (open_q == '0 && !sending_q);
        assert (event_o.datagrams != '0);
        // One a buffer, in the order of the circle.
        assert (event_o.sequence_ == announced_q && event_o.index == 16'(next_q));
      end
      if (event_valid_o) begin
        assert (event_o.cycles == good_cycles_q && 25'(event_o.bytes) == good_bytes_q);
        assert (event_o.bytes[31:24] == '0);
        assert (event_o.port == good_head_q.port && event_o.ip == good_head_q.ip);
        assert (event_o.list == '0 && event_o.reserved == '0 && event_o.error == failed_q);
        // What was lost in the cycle before is in the next event.
        assert (event_o.lost + 32'(dut.lost_now_q) + 32'(dut.lost_full_q) == all_lost_q);
      end
      assert (begun_o == (cmd_take && first_q) && number_o == ends_q);
      assert (filled_o == announced_q[15:0] && (!data_valid_o || data_o == beat_i));
      assert (losses_o.overflow ==
              (head_lost_i || (state == StEnd && is_end && dut.ending.overflow)));
      assert (dut.sequence_q == announced_q && 7'(dut.index_q) == next_q && next_q < buffers);
      assert (open_q == dut.pending_q + 8'(dut.taken_q));
      assert (open_heads_q == dut.datagrams_q + 16'(here));
      assert (delivered_o[15:0] == delivered_q && no_event_o == unannounced_q);
      assert (!(losses_o.closed && (losses_o.no_buffer || losses_o.too_long || losses_o.bad)));
      assert (!(losses_o.no_buffer && (losses_o.too_long || losses_o.bad)));
      assert (!(losses_o.too_long && losses_o.bad));
      // What makes the above inductive.
      assert (dut.lost_q + 32'(dut.lost_now_q) + 32'(dut.lost_full_q) == all_lost_q);
      assert (dut.error_q == failed_q);
      if (dut.datagrams_q != '0) begin
        assert (dut.cycles_q == good_cycles_q && {1'b0, dut.bytes_q} == good_bytes_q);
        assert (dut.port_q == good_head_q.port && dut.ip_q == good_head_q.ip);
      end
      if (here) assert (dut.head_q == came_q);
      if (state == StAsk || state == StChunk || state == StCommand) begin
        assert (first_q == ({1'b0, dut.at_q} == dut.fill_q));
        assert (written_q == {1'b0, dut.at_q});
      end
      if (state == StData) assert (!first_q && written_q == {1'b0, dut.at_q} + 25'(dut.chunk_q));
      if (state == StEnd) assert (written_q == {1'b0, dut.at_q});
      if (state == StPlace) assert (dut.head_valid_q);
      if (state == StDrop) assert (dut.drop_q != 2'd3);
      if (state == 4'd0 || placed || state == StEnd || state == StDrop) begin
        assert (!dut.head_valid_q);
      end
      assert (sending_q == (state == StData));
      if (placed) begin
        assert (dut.open_q);
        assert ({2'b0, dut.at_q} + 26'(dut.left_q) <= {2'b0, dut.buffer_q.bytes});
        assert ({1'b0, dut.at_q} >= dut.fill_q && dut.left_q <= 16'(Longest));
      end
      if (state == StAsk || state == StChunk) begin
        assert (dut.to_page_q == (page_left(dut.at_q) > 13'd2048 ? 13'd2048 : page_left(dut.at_q)));
        assert (dut.to_edge_q == edge_left(dut.at_q));
      end
      if (state == StCommand) begin
        assert (dut.chunk_q != '0 && 16'(dut.chunk_q) <= dut.left_q);
        assert (dut.chunk_q <= 12'd2048 && 13'(dut.chunk_q) <= page_left(dut.at_q));
        assert (dut.addr_q == {dut.buffer_q.base, 6'd0} + 64'(dut.at_q));
      end
      if (state == StData) begin
        assert (dut.next_q == 12'(dut.at_q + {12'd0, dut.buffer_q.base[5:0], 6'd0} +
                                  24'(dut.chunk_q)));
        assert (dut.next_odd_q == 1'((dut.at_q + 24'(dut.chunk_q)) >> 6));
      end
      if (state == StEnd) assert (dut.open_q);
      if (state == StClose || dut.flush_due_q) assert (dut.datagrams_q != '0);
      assert (state == StClose ? dut.datagrams_q <= most : dut.datagrams_q < most);
      if (!dut.open_q) assert (dut.fill_q == '0);
      if (state == StLoad) assert (!dut.open_q);
      if (state == StPlace && dut.open_q) begin
        assert (dut.page_q == dut.fill_q[11:6] + dut.buffer_q.base[5:0]);
        assert (dut.room_q == 26'(dut.buffer_q.bytes) - 26'(dut.fill_q));
      end
      assert (dut.fill_q[5:0] == '0);
      if (dut.head_valid_q) assert (state == StLoad || state == StPlace || state == StClose);
      if (dut.head_valid_q || state == StPlace) assert (dut.head_q.len <= 16'(Longest));
      if (sending_q) begin
        assert (bytes_q == dut.chunk_q && 16'(dut.chunk_q) <= dut.left_q && bytes_q != '0);
        assert (sent_q < (bytes_q + 12'd7) >> 3 && bytes_q <= 12'd2048);
        assert (dut.beats_q == ((bytes_q + 12'd7) >> 3) - sent_q);
      end
      cover (event_valid_o && event_o.datagrams == 16'd2);
      cover (data_valid_o && data_last_o && bytes_q > 12'd8);
    end
  end
endmodule
