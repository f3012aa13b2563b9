// SPDX-License-Identifier: SHL-2.1
/// apenet_receive: no command leaves the page that its packet's header names, none is longer than a
/// packet, and of one source only puts are announced whose packets all came, in order and good.
/// Answers of gets are puts with numbers of their own. A get is handed on only when it came good.
/// Of a get's answer nothing is written, and no refusal is handed on, that is not of a get of this
/// node that is open, from the node that was asked, with its key, and inside its bytes.
/// What goes to the list is messages with its key, a head, data and one end each, which is good
/// only where the packet came whole with its CRC; nothing of them goes to a place.
///
/// Any flits, whole packets or not, any CRC, a memory that answers whatever and whenever it
/// likes. For one source, any, the properties have a count of their own.
module apenet_receive_props
  import apenet_pkg::*;
(
  input logic                 clk_i,
  input logic [63:0]          time_cycles_i,
  input logic                 enable_i,
  input logic                 flit_valid_i,
  input logic                 flit_head_i,
  input logic                 flit_tail_i,
  input logic [FlitWidth-1:0] flit_i,
  input logic                 cmd_ready,
  input logic                 data_ready,
  input logic                 event_ready,
  input logic                 done_valid,
  input logic                 done_error,
  input logic                 lists_i,
  input logic [15:0]          list_key_i,
  input logic                 message_ready_i,
  input logic [$bits(asked_t)-1:0] opened
);
  // Never assigned another value and not initialised: any constant.
  logic [14:0] one;
  logic [31:0] get;   // any number of a get
  always_ff @(posedge clk_i) begin
    one <= one;
    get <= get;
  end

  logic rst_ni, freed_o, ask_o, answer_i, idle_o;
  nanet_pkg::list_request_t  request_o;
  nanet_pkg::list_response_t response_i;
  logic [127:0]              data_o;
  logic                      get_valid_o;
  get_t                      get_o;
  message_t                  message_o;
  logic [127:0]              message_beat_o;
  logic [15:0]               refused_o, late_o;
  asked_t                    open_i;
  arrivals_t                 arrivals_o;
  step_t                     came_o, ended_o, announced_o;
  assign answer_i   = 1'b1;
  assign response_i = '{
      cmd_ready: cmd_ready, data_ready: data_ready, event_ready: event_ready,
      done_valid: done_valid, done_error: done_error
  };

  assign open_i = asked_t'(opened);

  apenet_receive #(
    .DataWidth(128),
    .Depth    (4),
    .PlaceBits(1),
    .Gets     (2)
  ) dut (.*);

  // As its states.
  localparam logic [1:0] StIdle = 2'd0, StCommand = 2'd2;
  logic [1:0] state;
  assign state = dut.u_write.write_q;

  logic started_q = 1'b0;
  always_ff @(posedge clk_i) started_q <= 1'b1;
  assign rst_ni = started_q;

  // The sender has credits; memory answers commands that there were.
  always_comb begin
    assume (!flit_valid_i || dut.ready);
    assume (!done_valid || dut.u_puts.answer_ready);
    // What comes out of the queue of places went in: a proof of fifo's.
    if (dut.u_write.place_valid) begin
      assume (dut.u_write.place.bytes != '0 && dut.u_write.place.address[5:0] == '0);
      assume (14'(dut.u_write.place.address[11:0]) + 14'(dut.u_write.place.bytes) <= 14'd4096);
    end
  end

  // Of the one source: good packets of its last put, in order from the first one.
  logic        mine, good_q, answer_q, bare, answer;
  logic [31:0] put_q;
  logic [10:0] next_q;
  logic [2:0]  place;
  logic        flit_head;
  assign flit_head = dut.is_head;
  assign mine  = dut.u_puts.decide && dut.u_puts.record.source == one &&
                 dut.u_puts.record.what != KindMessage;
  assign place = {one[10], one[5], one[0]};
  logic follows;
  assign bare    = dut.u_puts.record.what == KindGet || dut.u_puts.record.what == KindRefused ||
                   dut.u_puts.record.late;
  assign answer  = dut.u_puts.record.what == KindAnswer;
  assign follows = bare                    ? dut.u_puts.record.first :
                   dut.u_puts.record.first ? dut.u_puts.record.number == '0 :
                   good_q && answer == answer_q && dut.u_puts.record.put == put_q &&
                   dut.u_puts.record.number == next_q;
  always_ff @(posedge clk_i) begin
    if (!started_q) begin
      good_q <= 1'b0;
    end else if (mine && !bare) begin  // a get or a refusal is no part of a put, and ends none
      good_q <= follows && dut.u_puts.record.good && !dut.u_puts.error_q && !dut.u_puts.record.last;
      answer_q <= answer;
      put_q  <= dut.u_puts.record.put;
      next_q <= dut.u_puts.record.number + 11'd1;
    end
  end

  // The last flit taken ended a packet, and had its CRC.
  logic ended_good_q;
  always_ff @(posedge clk_i) begin
    ended_good_q <= started_q && dut.valid && dut.take && dut.is_tail &&
                    dut.footer.crc == dut.crc;
  end

  // The one get, while it may be answered: until its last packet or its refusal is taken, or a get
  // in the same place leaves, or the program ends.
  logic    may_q, returns, its;
  asked_t  asked_q;
  answer_t said;
  assign returns = dut.state_q == 3'd0 && dut.valid && flit_head &&
                   (dut.kind.what == KindAnswer || dut.kind.what == KindRefused);
  assign said    = answer_t'(dut.header.address);
  assign its     = may_q && dut.header.source == asked_q.node && dut.header.id == asked_q.key &&
                   {2'd0, said.at, 6'd0} + 24'(dut.header.bytes) <= 24'(asked_q.bytes);
  always_ff @(posedge clk_i) begin
    if (!started_q || !enable_i) begin
      may_q <= 1'b0;
    end else if (open_i.valid && open_i.number[0] == get[0]) begin
      may_q <= open_i.number == get;
    end else if (returns && dut.take && dut.known && said.number == get && dut.kind.last) begin
      may_q <= 1'b0;
    end
    if (open_i.valid && open_i.number == get) asked_q <= open_i;
  end
  logic [15:0] late_q;
  always_ff @(posedge clk_i) begin
    if (!started_q) late_q <= '0;
    else late_q <= late_q + 16'(returns && dut.take && !dut.known);
  end
  always_comb begin
    if (started_q) begin
      if (dut.place_put && dut.kind.what == KindAnswer && said.number == get) begin
        assert (its && dut.u_write.place_i.key == asked_q.key);
        assert (dut.u_write.place_i.address == {25'd0, 17'(asked_q.land) + 17'(said.at), 6'd0});
      end
      if (dut.head_take && dut.bare && dut.kind.what == KindRefused && said.number == get) begin
        assert (its);
      end
      assert (late_q == late_o);
      if (dut.place_put && returns) cover (said.number == get && said.at == 16'd2);
      cover (late_q == 16'd1);
      // What makes it inductive.
      if (may_q) assert (dut.u_asked.open_q[get[0]] && asked_q.number == get);
      if (dut.u_asked.open_q[get[0]] && dut.u_asked.asked[get[0]].number == get) begin
        assert (may_q && dut.u_asked.asked[get[0]] == asked_q);
      end
      if (may_q) assert (dut.u_asked.asked[get[0]] == asked_q);
      if (dut.known) begin
        assert (returns && dut.looked);
        assert (dut.u_asked.open_q[said.number[0]]);
        assert (dut.u_asked.asked[said.number[0]].number == said.number);
        if (said.number == get) begin
          assert (its);
          assert (dut.asked_at == {25'd0, 17'(asked_q.land) + 17'(said.at), 6'd0});
        end
        assert (17'(dut.asked_at[11:0]) + 17'(dut.header.bytes) <= 17'd4096);
        assert (dut.header.bytes <= 16'd4096 && dut.asked_at[5:0] == '0);
      end
    end
  end

  // A message under way at the list, and those that it refused.
  logic open_q, head, ends;
  logic [15:0] refused_q;
  assign head = message_o.valid && message_o.kind == nanet_pkg::EntryHead;
  assign ends = message_o.valid && message_o.kind == nanet_pkg::EntryEnd;
  always_ff @(posedge clk_i) begin
    if (!started_q) begin
      open_q    <= 1'b0;
      refused_q <= '0;
    end else begin
      if (head || ends) open_q <= head;
      refused_q <= refused_q + 16'(dut.state_q == 3'd0 && dut.valid && dut.take && flit_head &&
                                   !dut.is_tail && dut.kind.what == KindMessage &&
                                   dut.header.bytes != '0 && dut.header.bytes <= 16'd4096 && !head);
    end
  end
  always_comb begin
    if (started_q) begin
      if (head) begin
        assert (!open_q && message_ready_i && lists_i && dut.header.id == list_key_i && flit_head);
        assert (message_beat_o[15:0] == dut.header.bytes && message_beat_o[15:0] != '0);
        assert (message_beat_o[15:0] <= 16'd4096 && dut.kind.what == KindMessage);
        assert (message_beat_o[30:16] == dut.header.source);
        assert (!dut.place_put);
      end else if (message_o.valid) begin
        assert (open_q);
      end
      if (ends && message_beat_o[0]) assert (ended_good_q);
      if (dut.record_put_q) assert (dut.state_q == 3'd0);
      assert (open_q == (dut.message_q && (dut.state_q != 3'd0 || dut.record_put_q)));
      if (open_q && !ends && dut.u_write.beat_valid_i) assert (0);
      if (dut.state_q == 3'd1 && dut.message_q) assert (!dut.legal_q);
      assert (refused_q == refused_o);
      cover (ends && message_beat_o[0]);
      cover (refused_q == 16'd1);
    end
  end

  always_comb begin
    if (started_q) begin
      if (request_o.write.cmd_valid) begin
        assert (request_o.write.bytes != '0 && request_o.write.bytes <= 12'd2048);
        assert (13'(request_o.write.addr[11:0]) + 13'(request_o.write.bytes) <= 13'd4096);
        assert (request_o.write.addr[5:0] == '0);
      end
      if (dut.place_put) begin
        assert (dut.header.bytes != '0 && dut.address[5:0] == '0);
        assert (17'(dut.address[11:0]) + 17'(dut.header.bytes) <= 17'd4096);
        assert (dut.header.bytes <= 16'd4096 && flit_head);
      end
      if (request_o.event_valid) begin
        assert (enable_i && dut.u_puts.record.good && !dut.u_puts.error_q &&
                dut.u_puts.record.last);
        assert (dut.u_puts.answered_q == dut.u_puts.record.commands);
        if (dut.u_puts.record.source == one) assert (follows);
        assert (dut.u_puts.record.what != KindGet && dut.u_puts.record.what != KindMessage);
        assert (request_o.event_.error == (dut.u_puts.record.what == KindRefused));
      end

      if (get_valid_o) assert (ended_good_q && dut.made_q.what == KindGet);
      if (get_valid_o) cover (get_o.bytes == 23'd64);

      // What makes the above inductive.
      if (dut.u_puts.whole_q[place] && dut.u_puts.entries[place].source == one) begin
        assert (dut.u_puts.entries[place].answer == answer_q);
        assert (good_q && dut.u_puts.entries[place].put == put_q &&
                dut.u_puts.entries[place].next == next_q);
      end
      if (state != StIdle && dut.u_write.place_q.bytes != '0) begin
        assert (dut.u_write.place_q.address[5:0] == '0);
        assert (14'(dut.u_write.place_q.address[11:0]) + 14'(dut.u_write.place_q.bytes) <=
                14'd4096);
      end
      if (state == StCommand || state == 2'd1) assert (dut.u_write.place_q.bytes != '0);
      cover (request_o.event_valid && dut.u_puts.record.number == 11'd0);
    end
  end
endmodule
