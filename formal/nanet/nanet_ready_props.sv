// SPDX-License-Identifier: SHL-2.1
/// nanet_stream, nanet_mux, event_queue: a list and its queue that are disabled get idle, so that
/// READY comes, after at most 800 steps, their own or the bus's, each of at most Stall + 1 clocks.
///
/// The steps that are left are an expression of the state, `left`. In each clock it is smaller, or
/// the bus is asked for something and gives nothing; it never gets larger; at 0 all are idle. The
/// bus gives nothing for Stall clocks at the most. The input pauses: behind the datagram that is
/// under way, or waits, none comes; it is whole, of any length, also one that it does not say. At
/// most 16 events are unanswered, what axi_write_engine takes; the gap of interrupts is at most 7.
/// Before that anything happens.
module nanet_ready_props
  import nanet_pkg::*;
(
  input logic         clk_i,
  input logic         enable_i,
  input logic         pause_i,       // from here on the input pauses, while disabled
  input logic [7:0]   rest_i,        // beats of the datagram that is there then, its end among them
  input logic         beat_valid,
  input logic [511:0] beat_i,
  input logic [7:0]   usage,
  input logic [7:0]   ends,
  input logic         answer_valid_i,
  input logic         cmd_ready_i,
  input logic         data_ready_i,
  input logic         done_list_i,
  input logic         done_event_i,
  input logic         done_error_i,
  input logic         irq_enable_i,
  input logic [15:0]  taken_i,
  input logic [15:0]  returned_i,
  input logic [63:0]  time_cycles_i
);
  localparam int unsigned Stall = 3;
  localparam int unsigned Most  = 800;

  // Never assigned another value and not initialised: any constants.
  logic [6:0]  buffers;
  logic [7:0]  datagrams;
  logic [31:0] flush;
  logic [1:0]  policy;
  logic [2:0]  gap;
  logic [3:0]  size;
  always_ff @(posedge clk_i) begin
    policy    <= policy;
    buffers   <= buffers;
    datagrams <= datagrams;
    flush     <= flush;
    gap       <= gap;
    size      <= size;
  end

  logic started_q = 1'b0, rst_ni;
  always_ff @(posedge clk_i) started_q <= 1'b1;
  assign rst_ni = started_q;

  // ---------------------------------------------------------------- the three
  logic beat_valid_i, beat_ready_o, ask_valid_o, begun_o, list_idle, queue_idle, queue_ready, full;
  logic event_cmd, event_cmd_ready, event_data, event_data_ready, event_last, irq_o;
  logic [63:0] event_addr;
  logic [511:0] data_o, event_beat, m_data;
  logic [7:0] usage_i, ends_i;
  entry_e beat_kind_i;
  losses_t losses_o;
  logic [15:0] filled_o, no_event_o, overwritten_o, written_o;
  logic [31:0] delivered_o, lost_o;
  logic [5:0]  number_o;
  list_t list_i;
  list_request_t  request_o;
  list_response_t response_i;
  write_t m, event_write;
  logic m_tag;
  logic [1:0] cmd_ready, data_ready;
  assign list_i = '{
      enable: enable_i, buffers: buffers, datagrams: datagrams, policy: policy, echo: 1'b0,
      flush: flush, returned: returned_i
  };
  assign response_i = '{
      cmd_ready: cmd_ready[0], data_ready: data_ready[0], event_ready: queue_ready,
      done_valid: done_list_i, done_error: done_error_i
  };
  nanet_stream #(.DataWidth(512), .UsageW(8), .Ask(1'b1)) u_stream (
    .clk_i, .rst_ni, .time_cycles_i, .list_i, .table_we_i(1'b0), .table_index_i('0), .table_i('0),
    .beat_valid_i, .beat_ready_o, .beat_kind_i, .beat_i, .usage_i, .ends_i, .head_lost_i(1'b0),
    .ask_valid_o, .answer_valid_i, .request_o, .response_i, .data_o, .full_i(full), .begun_o,
    .filled_o, .losses_o, .delivered_o, .no_event_o, .overwritten_o, .number_o, .idle_o(list_idle)
  );
  assign {event_cmd_ready, event_data_ready} = {cmd_ready[1], data_ready[1]};
  event_queue #(.DataWidth(512)) u_queue (
    .clk_i, .rst_ni, .enable_i, .base_i('0), .size_i(size), .taken_i, .irq_enable_i,
    .irq_gap_i(32'(gap)), .event_valid_i(request_o.event_valid), .event_ready_o(queue_ready),
    .event_i(request_o.event_), .full_o(full), .cmd_valid_o(event_cmd),
    .cmd_ready_i(event_cmd_ready), .cmd_addr_o(event_addr), .data_valid_o(event_data),
    .data_ready_i(event_data_ready), .data_last_o(event_last), .data_o(event_beat),
    .done_valid_i(done_event_i), .written_o, .lost_o, .irq_o, .idle_o(queue_idle)
  );
  assign event_write = '{
      cmd_valid: event_cmd, key: '0, addr: event_addr, bytes: CommandW'(32),
      data_valid: event_data, keep: 1'b1, last: event_last
  };
  nanet_mux #(.NumSources(2), .DataWidth(512)) u_mux (
    .clk_i, .rst_ni, .write_i({event_write, request_o.write}), .data_i({event_beat, data_o}),
    .cmd_ready_o(cmd_ready), .data_ready_o(data_ready), .write_o(m), .data_o(m_data),
    .cmd_tag_o(m_tag), .cmd_ready_i, .data_ready_i
  );

  // ---------------------------------------------------------------- the input
  localparam logic [3:0] StIdle = 4'd0, StLoad = 4'd1, StPlace = 4'd2, StAsk = 4'd3;
  localparam logic [3:0] StChunk = 4'd4, StData = 4'd5, StEnd = 4'd6, StClose = 4'd7;
  localparam logic [3:0] StDrop = 4'd8, StCommand = 4'd9;
  logic [3:0] state;
  logic [1:0] queue;   // its states: 0 idle, 1 command, 2 data
  assign state = u_stream.state_q;
  assign queue = u_queue.state_q;

  // Paused, and a datagram is under way.
  logic paused_q, paused, in_q, first_q;
  logic [7:0] rest_q;
  assign paused = paused_q && !enable_i;
  assign beat_valid_i = paused ? rest_q != '0 : beat_valid;
  assign usage_i      = paused ? rest_q : usage;
  assign ends_i       = paused ? 8'(rest_q != '0) : ends;
  logic is_end;        // the beat at the front, before the pause any
  assign is_end      = paused ? rest_q == 8'd1 : ends[0];
  assign beat_kind_i = !in_q ? EntryHead : is_end ? EntryEnd : EntryData;
  always_ff @(posedge clk_i) begin
    if (!started_q) {paused_q, in_q, first_q} <= '0;
    else begin
      paused_q <= !enable_i && (paused_q || pause_i);
      first_q  <= !enable_i && pause_i && !paused_q;
      if (beat_valid_i && beat_ready_o) in_q <= !in_q || !is_end;
    end
    if (!paused) rest_q <= rest_i;
    else if (beat_ready_o && rest_q != '0) rest_q <= rest_q - 8'd1;
  end

  // ---------------------------------------------------------------- the bus
  // Commands that memory has not answered, and those whose data is not sent.
  logic [8:0] out_q, whole;
  logic [15:0] events, events_whole;
  logic cmd_take, data_take, asked, given;
  assign cmd_take     = m.cmd_valid && cmd_ready_i;
  assign data_take    = m.data_valid && data_ready_i;
  assign whole        = out_q - 9'(state == StData);
  assign events       = u_queue.made_q - u_queue.written_q;
  assign events_whole = events - 16'(queue != 2'd0);
  assign asked = m.cmd_valid || m.data_valid || whole != '0 || events_whole != '0 || state == StAsk;
  assign given = cmd_take || data_take || done_list_i || done_event_i ||
                 (state == StAsk && answer_valid_i);
  logic [1:0] stall_q;   // clocks in which it was asked and gave nothing
  always_ff @(posedge clk_i) begin
    if (!started_q) begin
      out_q   <= '0;
      stall_q <= '0;
    end else begin
      out_q   <= out_q + 9'(cmd_take && !m_tag) - 9'(done_list_i);
      stall_q <= asked && !given && paused ? stall_q + 2'd1 : '0;
    end
  end
  always_comb begin
    assume (policy <= 2'd2);
    assume (!done_list_i || whole != '0);
    assume (!done_event_i || events_whole != '0);
    assume (events <= 16'd16);
    if (!in_q && beat_valid_i) assume (beat_i[15:0] <= 16'd4096);
    if (paused) assume (!(asked && !given) || stall_q != 2'(Stall));
    // A datagram is whole: what waits at the pause ends.
    if (first_q) begin
      assume (rest_q <= 8'd70 && (in_q ? rest_q != '0 : rest_q != 8'd1));
    end
  end

  // ---------------------------------------------------------------- the steps that are left
  function automatic logic [15:0] beats(logic [15:0] bytes);
    return (bytes + 16'd63) >> 6;
  endfunction
  logic [15:0] left, stream_left, queue_left, waited_q;
  logic dirty;
  assign dirty = u_stream.open_q || u_stream.filled_q != '0 || u_stream.datagrams_q != '0;
  always_comb begin
    unique case (state)
      StIdle:    stream_left = u_stream.flush_due_q ? 16'd3 : 16'(dirty);
      StLoad:    stream_left = 16'd4;
      StPlace:   stream_left = 16'd3;
      StAsk:     stream_left = 16'd5 + 16'd4 * beats(u_stream.left_q);
      StChunk:   stream_left = 16'd4 + 16'd4 * beats(u_stream.left_q);
      StCommand: stream_left = 16'd3 + 16'd4 * beats(u_stream.left_q);
      StData:    stream_left = 16'd4 + 16'(u_stream.beats_q) +
                               16'd4 * beats(u_stream.left_q - 16'(u_stream.chunk_q));
      StEnd:     stream_left = 16'd3;
      StDrop:    stream_left = 16'd2;
      default:   stream_left = u_stream.head_valid_q ? 16'd4 : 16'd2;
    endcase
    // An answer of an event may be followed by an interrupt and its gap.
    queue_left = (queue == 2'd1 ? 16'd2 : 16'(queue == 2'd2)) + 16'(u_queue.made_q != '0) +
                 16'd10 * events + (u_queue.news_q ? 16'd9 : 16'd0) + 16'(u_queue.gap_q);
    left = stream_left + queue_left + 16'(out_q) + 16'(rest_q) +
           (!in_q && rest_q != '0 ? 16'd4 : 16'd0);
  end
  logic ready, stays_q;
  always_ff @(posedge clk_i) begin
    waited_q <= paused ? waited_q + 16'(!ready) : '0;
    stays_q  <= started_q && paused && ready;
  end

  logic [15:0] left_q;
  logic was_q, slow_q;   // paused and not ready in the clock before; the bus gave nothing in it
  assign ready = list_idle && queue_idle;
  always_ff @(posedge clk_i) begin
    left_q <= left;
    was_q  <= started_q && paused && !ready;
    slow_q <= asked && !given;
  end

  logic is_pause_ok;
  assign is_pause_ok = in_q ? rest_q != '0 : rest_q != 8'd1;
  always_comb begin
    if (started_q) begin
      if (paused) begin
        less : assert (!was_q || left < left_q || (slow_q && left == left_q));
        all_idle : assert (left != '0 || ready);
        few : assert (left <= 16'(Most));
        // Each step costs Stall clocks and one.
        soon : assert (32'(waited_q) <= (Stall + 1) * (Most - 32'(left)) + 32'(stall_q));
        stays : assert (!stays_q || ready);
        comes : assert (ready || waited_q < 16'((Stall + 1) * Most));
        still : assert (is_pause_ok && rest_q <= 8'd70);
        slow_comes : cover (ready && waited_q > 16'd6);
      end
      // What makes it inductive.
      assert (state <= StCommand);
      assert (in_q == (u_stream.head_valid_q || state == StAsk || state == StChunk ||
                       state == StCommand || state == StData || state == StEnd || state == StDrop));
      if (u_stream.head_valid_q) begin
        assert (state == StLoad || state == StPlace || state == StClose);
      end
      if (state == StPlace) assert (u_stream.head_valid_q);
      if (u_stream.head_valid_q) assert (u_stream.head_q.len <= 16'd4096);
      assert (out_q == 9'(u_stream.pending_q) + 9'(u_stream.taken_q));
      if (u_stream.taken_q) assert (state == StData);
      if (state == StData) assert (out_q != '0);
      if (u_stream.taken_q || state == StCommand) assert (u_stream.pending_q != '1);
      if (paused) assert (!u_stream.flush_due_q);
      assert (u_stream.fill_q[5:0] == '0);
      if (state == StAsk || state == StChunk || state == StCommand || state == StData) begin
        assert (u_stream.left_q <= 16'd4096);
      end
      if (state == StAsk || (state == StChunk && u_stream.left_q != '0)) begin
        assert (u_stream.at_q[5:0] == '0);
        assert (u_stream.to_page_q[5:0] == '0 && u_stream.to_page_q != '0);
        assert (u_stream.to_page_q <= 13'd2048);
        assert (u_stream.to_edge_q[5:0] == '0 && u_stream.to_edge_q != '0);
        assert (u_stream.to_edge_q <= 12'd128);
      end
      if (state == StCommand || state == StData) begin
        assert (u_stream.chunk_q != '0 && 16'(u_stream.chunk_q) <= u_stream.left_q);
        assert (u_stream.chunk_q[5:0] == '0 || 16'(u_stream.chunk_q) == u_stream.left_q);
        assert (u_stream.chunk_q <= 12'd2048 && u_stream.at_q[5:0] == '0);
      end
      if (state == StCommand) assert (u_stream.addr_q[5:0] == '0);
      if (state == StData) begin
        assert (u_stream.beats_q != '0);
        assert (16'(u_stream.beats_q) <= beats(16'(u_stream.chunk_q)));
        assert (16'(u_stream.chunk_q) == u_stream.left_q || u_stream.next_q[5:0] == '0);
      end
      assert ($onehot0(u_mux.u_arb.owner_q) && $onehot0(u_mux.data_gnt_q));
      assert (u_mux.data_gnt_q == {queue == 2'd2, state == StData});
      if (u_mux.data_gnt_q != '0) begin
        assert (u_mux.u_arb.owner_q == u_mux.data_gnt_q);
        assert (u_mux.data_idx_q == u_mux.data_gnt_q[1]);
      end else begin
        assert ((u_mux.u_arb.owner_q & ~{queue == 2'd1, state == StCommand}) == '0);
      end
      assert (queue != 2'd3 && u_queue.beat_q == '0);
      if (queue != 2'd0) assert (events != '0);
      assert (u_queue.gap_q <= 32'(gap));
    end
  end
  logic unused;
  assign unused = ^{ask_valid_o, begun_o, losses_o, delivered_o, no_event_o, overwritten_o,
                    number_o, filled_o, written_o, lost_o, irq_o, m, m_data, beat_i};
endmodule
