// SPDX-License-Identifier: SHL-2.1
/// nanet_join: no hit is lost, doubled or put into another event. A fragment's hits go, all of them
/// and in one piece, to the event of its number and time stamp, once a board; or it is counted as
/// late, repeated or of another time stamp, one of them. A board without a fragment in an event is
/// counted as missing. A datagram has as many events as it says, of consecutive numbers. No event
/// waits longer than wait_i for a board of which nothing is there.
///
/// Good fragments get on: what is late has a number outside the next Ahead, or is of the last
/// events, Tail at most, of a burst that has ended, or came while the list was disabled. Then it
/// leaves nothing behind. The tail of a burst ends when nothing came for wait_i. With fragments of
/// all boards a datagram begins with the lowest number; the present event takes what is there, and
/// leaves when all boards have given theirs or have none. Behind a clear, and where nothing but
/// late ones came, any number begins.
///
/// Any fragments, stalls, waits and clears of two boards.
module nanet_join_props
  import nanet_pkg::*;
(
  input logic             clk_i,
  input logic             clear_i,
  input logic      [ 3:0] wait_i,
  input logic      [ 1:0] fragment_valid_i,
  input fragment_t [ 1:0] fragment_i,
  input logic      [ 1:0] full_i,
  input logic             begin_ready_i,
  input logic             event_ready_i
);
  localparam int unsigned NumPorts = 2;
  // States of nanet_join and of nanet_front.
  localparam logic [2:0] Idle = 3'd0, Begin = 3'd1, Collect = 3'd2, Take = 3'd3, Settle = 3'd4,
                         Leave = 3'd5;
  localparam logic [1:0] FrontNumber = 2'd0, FrontStamp = 2'd1, FrontDrop = 2'd3;
  logic rst_ni, begin_valid_o, event_valid_o, hit_valid_o, quiet_o, idle_o;
  logic [1:0] fragment_ready_o, late_o, repeated_o, other_o, missing_o;
  event_number_t begin_number_o;
  logic [4:0] begin_events_o;
  merged_t event_o;
  fragment_hit_t hit_o;
  logic [3:0] wait_q;
  nanet_join #(.NumPorts(NumPorts), .Lost(2)) dut (
    .clk_i, .rst_ni, .clear_i, .wait_i(32'(wait_q)), .fragment_valid_i, .fragment_ready_o,
    .fragment_i, .full_i, .begin_valid_o, .begin_ready_i, .begin_number_o, .begin_events_o,
    .event_valid_o, .event_ready_i, .event_o, .hit_valid_o, .hit_o, .late_o, .repeated_o, .other_o,
    .missing_o, .quiet_o, .idle_o
  );

  logic started_q = 1'b0;
  always_ff @(posedge clk_i) begin
    started_q <= 1'b1;
    if (!started_q) wait_q <= wait_i;
  end
  assign rst_ni = started_q;

  // ---------------------------------------------------------------- the boards
  logic take_event, disabled;
  assign disabled = dut.state_q == Idle && clear_i;
  // Events since any number could begin, 256 at most; clocks since the burst in which nothing came.
  logic [8:0] burst_q;
  logic [4:0] silence_q;
  always_ff @(posedge clk_i) begin
    if (!started_q || dut.forget) burst_q <= '0;
    else if (take_event && burst_q != 9'd256) burst_q <= burst_q + 9'd1;
    if (!started_q || !(dut.state_q == Idle && dut.ended_q && dut.nothing == '1)) silence_q <= '0;
    else if (silence_q != '1) silence_q <= silence_q + 5'd1;
  end
  assign take_event = event_valid_o && event_ready_i;
  logic [1:0] pop, hits_now, given_q, other_q;
  fragment_hit_t [1:0] hits;
  for (genvar i = 0; i < 2; i++) begin : gen_board
    // Two heads, then hits, the last one marked: nanet_fragments gives nothing else.
    logic [1:0] heads_q;  // of the fragment that are read
    event_number_t number_q;
    logic [31:0] stamp_q;
    logic began_q, ended;   // a hit of it was handed out
    logic taken, counted;
    fragment_number_t first;
    assign first       = fragment_number_t'(fragment_i[i].data);
    assign pop[i]      = fragment_valid_i[i] && fragment_ready_o[i];
    assign hits[i]     = fragment_hit_t'(fragment_i[i].data);
    // A hit is handed out in the clock in which its board's turn is.
    assign taken       = pop[i] && heads_q == 2'd2 && dut.state_q == Take && dut.port_q == 1'(i);
    assign hits_now[i] = taken && !hits[i].none;
    assign ended       = pop[i] && heads_q == 2'd2 && fragment_i[i].last_;
    assign counted     = late_o[i] || repeated_o[i] || other_o[i];
    always_comb begin
      assume (fragment_i[i].head == (heads_q != 2'd2));
      if (heads_q == 2'd0) assume (first.left != '0);
      if (heads_q != 2'd2 && fragment_i[i].head && heads_q == 2'd0) assume (!fragment_i[i].last_);
    end
    logic counted_q;  // the fragment at the front was counted, and its hits go unread
    always_ff @(posedge clk_i) begin
      if (!started_q) begin
        heads_q    <= '0;
        began_q    <= 1'b0;
        counted_q  <= 1'b0;
        given_q[i] <= 1'b0;
        other_q[i] <= 1'b0;
      end else begin
        if (pop[i] && heads_q != 2'd2) heads_q <= heads_q + 2'd1;
        if (pop[i] && heads_q == 2'd0) number_q <= first.number;
        if (pop[i] && heads_q == 2'd1) stamp_q <= fragment_i[i].data;
        if (ended) heads_q <= '0;
        began_q   <= (began_q || taken) && !ended;
        counted_q <= (counted_q || counted) && !ended;
        if (taken && ended) given_q[i] <= 1'b1;
        if (other_o[i]) other_q[i] <= 1'b1;
        if (take_event) begin
          given_q[i] <= 1'b0;
          other_q[i] <= 1'b0;
        end
      end
    end
    always_comb begin
      if (started_q) begin
        // Read, or counted once; never both.
        assert (2'(late_o[i]) + 2'(repeated_o[i]) + 2'(other_o[i]) <= 2'd1);
        if (counted) assert (!counted_q && !began_q && !taken && heads_q == 2'd2);
        if (pop[i] && heads_q == 2'd2) assert (taken != counted_q);
        // In the event of its number and time stamp, once.
        if (taken) begin
          assert (number_q == dut.present_q && stamp_q == dut.stamp_q && dut.stamped_q);
          assert (!given_q[i] && !other_q[i]);
        end
        // All of it in one piece.
        if (began_q) assert (dut.state_q == Take && dut.port_q == 1'(i));
        if (other_o[i]) assert (number_q == dut.present_q && stamp_q != dut.stamp_q);
        if (take_event) assert (missing_o[i] == !(given_q[i] || other_q[i]));
        else assert (!missing_o[i]);
        if (event_valid_o) begin
          assert (event_o.boards[i] == given_q[i] && event_o.other[i] == other_q[i]);
          assert (!given_q[i] || event_o.stamp == dut.stamp_q);
        end
        // Late is what is outside.
        if (late_o[i] && !disabled && !dut.ended_q) begin
          assert (24'(number_q - dut.present_q) >= 24'd256);
        end
        if (late_o[i] && !disabled && dut.ended_q) begin
          assert (24'(dut.present_q - number_q - 24'd1) < 24'(burst_q));
        end
        if (late_o[i] && !disabled) assert (dut.open_q && !dut.clear);
        // While it is disabled nothing stays at a front.
        if (disabled && heads_q == 2'd2) assert (late_o[i] || counted_q);
        // None leaves without a fragment whose heads are being read.
        if (dut.state_q == Collect && dut.here == '0 && dut.settled) begin
          assert (heads_q == 2'd2 || (heads_q == 2'd0 && !fragment_valid_i[i]) || given_q[i] ||
                  other_q[i]);
        end
        // Inside.
        assert (dut.taken_q[i] == given_q[i] && dut.other_q[i] == other_q[i]);
        assert (!(given_q[i] && other_q[i]));
        assert (heads_q != 2'd3);
        assert ((dut.gen_front[i].u_front.state_q == FrontNumber) ==
                (heads_q == 2'd0));
        assert ((dut.gen_front[i].u_front.state_q == FrontStamp) ==
                (heads_q == 2'd1));
        assert ((dut.gen_front[i].u_front.state_q == FrontDrop) == counted_q);
        if (heads_q != 2'd0) assert (dut.gen_front[i].u_front.front_q.number == number_q);
        if (heads_q == 2'd2) assert (dut.gen_front[i].u_front.stamp_q == stamp_q);
        if (heads_q != 2'd0) assert (dut.gen_front[i].u_front.front_q.left != '0);
        if (began_q || counted_q) assert (heads_q == 2'd2);
        if (dut.state_q == Take && dut.port_q == 1'(i)) begin
          assert (heads_q == 2'd2 && !counted_q && !given_q[i] && !other_q[i]);
          assert (number_q == dut.present_q && stamp_q == dut.stamp_q && dut.stamped_q);
        end
      end
    end
  end

  // ---------------------------------------------------------------- hits, datagrams, waiting
  logic hit_q;
  fragment_hit_t hit_data_q;
  logic [4:0] left_q;  // events that the datagram still has to get
  // What was there in the clock before.
  logic cleared_q, stray_q, idle_q, lower_q, ready_q, all_q;
  event_number_t first_q, second_q, apart;
  assign apart = dut.number[1] - dut.number[0];
  always_ff @(posedge clk_i) begin
    cleared_q <= started_q && dut.state_q == Idle && clear_i;
    stray_q   <= started_q && dut.state_q == Idle && dut.astray;
    idle_q    <= started_q && dut.state_q == Idle && dut.there == '1 && !dut.clear && !dut.astray;
    lower_q   <= apart[23];
    first_q   <= dut.number[0];
    second_q  <= dut.number[1];
    ready_q   <= started_q && dut.state_q == Collect && dut.here != '0;
    all_q     <= started_q && dut.state_q == Collect && dut.here == '0 &&
                 (dut.there | dut.given) == '1;
  end
  event_number_t number_q;
  always_ff @(posedge clk_i) begin
    hit_q      <= started_q && hits_now != '0;
    hit_data_q <= hits_now[1] ? hits[1] : hits[0];
    if (!started_q) begin
      left_q <= '0;
    end else if (begin_valid_o && begin_ready_i) begin
      left_q   <= begin_events_o;
      number_q <= begin_number_o;
    end else if (take_event) begin
      left_q   <= left_q - 5'd1;
      number_q <= number_q + 24'd1;
    end
  end
  always_comb begin
    if (started_q) begin
      assert (hits_now != 2'b11);
      assert (hit_valid_o == hit_q);
      if (hit_q) assert (hit_o == hit_data_q);
      // No hit between an event and the next one is lost to it.
      if (event_valid_o) assert (!hit_valid_o && hits_now == '0 && left_q != '0);
      if (begin_valid_o) assert (left_q == '0 && begin_events_o >= 5'd1 && begin_events_o <= 5'd18);
      if (left_q != '0) assert (number_q == dut.present_q && dut.open_q);
      assert ((left_q == '0) == (dut.state_q == Idle || dut.state_q == Begin));
      if (left_q != '0) assert (dut.left_q == left_q);
      if (dut.state_q != Idle) assert (dut.open_q);
      if (dut.state_q == Begin) assert (dut.left_q >= 5'd1 && dut.left_q <= 5'd18);
      assert (left_q <= 5'd18);
      assert (dut.state_q <= Leave);
      if (dut.state_q == Settle) assert (hits_now == '0);
      if (dut.state_q == Idle || dut.state_q == Begin) begin
        assert (given_q == '0 && other_q == '0 && !dut.stamped_q);
      end
      if (given_q != '0) assert (dut.stamped_q);
      assert (dut.waited_q <= 32'(wait_q));
      if (dut.waited_q == 32'(wait_q) && dut.state_q == Collect && dut.here == '0 &&
          dut.nothing == '1) begin
        assert (dut.settled);
      end
      // Getting on.
      assert (dut.lost_q <= 2'd2);
      assert (!dut.ended_q || (dut.open_q && dut.state_q == Idle));
      assert (dut.since_q == burst_q);
      // The waiting for a burst's tail is bounded.
      assert (silence_q <= 5'(wait_q) + 5'd2);
      if (silence_q != '0 && dut.ended_q) begin
        assert (dut.silent_q && dut.waited_q >= 32'(silence_q) - 32'd1);
      end
      if (cleared_q) assert (!dut.open_q || dut.state_q != Idle);
      if (stray_q) assert (!dut.open_q);
      if (idle_q) begin
        assert (begin_valid_o && begin_number_o == (lower_q ? second_q : first_q));
      end
      if (ready_q) assert (dut.state_q == Take || other_o != '0 || dut.other_q != '0);
      if (all_q) assert (dut.state_q == Settle);
      cover (take_event && event_o.boards == 2'b11);
      cover (stray_q);
      cover (dut.ended_q && late_o == 2'b01);
      cover (take_event && event_o.boards == 2'b01 && missing_o == 2'b10 && wait_q > 4'd1);
      cover (take_event && event_o.other == 2'b10);
      cover (repeated_o == 2'b10);
      cover (late_o == 2'b01);
      cover (disabled && late_o == 2'b01);
      cover (dut.tail_over && wait_q > 4'd1);
    end
  end
endmodule
