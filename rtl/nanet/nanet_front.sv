// SPDX-License-Identifier: SHL-2.1
/// The oldest event of a board that was not merged yet, and what becomes of it.
///
///   Handshake   fragment_* as nanet_fragments gives them. there_o with number_o, left_o, stamp_o,
///               burst_o while its heads are read; then take_i, a level, hands out its hits, one a
///               clock, hit_end_o with the last, or drop_i, for a clock, lets them go unread
///   Late        its number is none of the next Ahead from present_i on: late_o, for a clock, or
///               repeated_o, if this board had given it, as far as its last 32 events. It is
///               dropped. Also what it has given of the present one, given_i. Without open_i, or
///               with any_i, any number may come; with ended_i any but the tail_i before present_i
///   Latency     2 cycles for the heads, which are read as soon as they come
///   Throughput  a hit a cycle
///   Parameters  Ahead: numbers that may be lost together; TailW 1..24 bits
///   Not done    a board's packets in another order than their numbers': the first is late
module nanet_front
  import nanet_pkg::*;
#(
  parameter int unsigned Ahead = 256,
  parameter int unsigned TailW = 9
) (
  input  logic          clk_i,
  input  logic          rst_ni,
  input  logic          clear_i,      // another burst
  input  logic          fragment_valid_i,
  output logic          fragment_ready_o,
  input  fragment_t     fragment_i,
  input  logic          open_i,
  input  logic          any_i,        // behind the present datagram any number may begin
  input  logic          ended_i,      // the burst has ended with the event before present_i
  input  logic [TailW-1:0] tail_i,    // of its events, so many before present_i
  input  event_number_t present_i,
  input  logic          leave_i,      // strobe: the present event leaves
  input  logic          given_i,      // this board gave its hits, or another time stamp, to it
  output logic          there_o,
  output event_number_t number_o,
  output logic [ 7:0]   left_o,
  output logic [31:0]   stamp_o,
  output logic          burst_o,
  input  logic          take_i,
  input  logic          drop_i,
  output logic          hit_valid_o,
  output fragment_hit_t hit_o,
  output logic          hit_end_o,
  output logic          late_o,
  output logic          repeated_o,
  output logic          idle_o
);
  localparam int unsigned History = 32;
  typedef enum logic [1:0] {
    Number,
    Stamp,
    There,
    Drop
  } state_e;
  state_e state_q;
  fragment_number_t front_q;
  logic [31:0] stamp_q;
  logic burst_q, gone, was_given;
  logic [History-1:0] given_q;  // the events before the present one
  event_number_t back;
  fragment_hit_t hit;

  assign hit          = fragment_hit_t'(fragment_i.data);
  assign back         = present_i - front_q.number;
  assign gone         = open_i && !any_i && (ended_i ? back - 24'd1 < 24'(tail_i)
                                                     : front_q.number - present_i >= 24'(Ahead));
  assign was_given    = gone && back <= 24'(History) && given_q[5'(back - 24'd1)];
  assign repeated_o   = state_q == There && !take_i &&
                        (was_given || (open_i && back == '0 && given_i));
  assign late_o       = state_q == There && gone && !was_given;
  assign there_o      = state_q == There && !gone && !repeated_o;
  assign number_o     = front_q.number;
  assign left_o       = front_q.left;
  assign stamp_o      = stamp_q;
  assign burst_o      = burst_q;
  assign hit_valid_o  = take_i && state_q == There && fragment_valid_i && !hit.none;
  assign hit_o        = hit;
  assign hit_end_o    = take_i && state_q == There && fragment_valid_i && fragment_i.last_;
  assign fragment_ready_o = state_q == There ? take_i : 1'b1;
  assign idle_o       = state_q == Number && !fragment_valid_i;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= Number;
      given_q <= '0;
    end else begin
      if (clear_i) given_q <= '0;
      else if (leave_i) given_q <= {given_q[History-2:0], given_i};
      unique case (state_q)
        Number: if (fragment_valid_i) state_q <= Stamp;
        Stamp:  if (fragment_valid_i) state_q <= There;
        There: begin
          if (hit_end_o) state_q <= Number;
          else if (drop_i || late_o || repeated_o) state_q <= Drop;
        end
        default: if (fragment_valid_i && fragment_i.last_) state_q <= Number;
      endcase
    end
  end
  always_ff @(posedge clk_i) begin
    if (state_q == Number) front_q <= fragment_number_t'(fragment_i.data);
    if (state_q == Stamp) begin
      stamp_q <= fragment_i.data;
      burst_q <= fragment_i.last_;
    end
  end
  prim_assert u_heads (
    .clk_i,
    .rst_ni,
    .ok_i  (!fragment_valid_i || state_q == There || state_q == Drop || fragment_i.head)
  );
endmodule
