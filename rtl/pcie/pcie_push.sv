// SPDX-License-Identifier: SHL-2.1
/// Takes the host's stores to a window as one stream of words; passes every other access on.
///
/// Stores of 4 KiB windows arrive as AXI write bursts. A burst continues the stream when its first
/// word lies where the last one ended, and every word is written whole; else none of its words is
/// used.
///
///   AXI         slave; bursts with address bit 12 set are pushes, others go to the bus_* port, one
///               write at a time. A push is answered OKAY, refused or not: a posted write has no
///               answer
///   Push        while open_i at its address, with room_i for it: write_o, lanes_o, data_o, first_o
///               and at the end commit_o with words_o, or rollback_o. refused_o: strobe. next_o:
///               offset at which the next push must begin; 0 after start_i
///   Latency     wvalid_i to write_o and commit_o 0
///   Throughput  a beat a clock; 2 clocks between bursts
///   Parameters  RoomW, IdWidth 1..16
///   Not done    reads of the window: passed on like any other address
module pcie_push #(
  parameter int unsigned RoomW   = 9,
  parameter int unsigned IdWidth = 4
) (
  input logic clk_i,
  input logic rst_ni,

  input  logic               awvalid_i,  // aw*: AXI4 write address, held until awready_o
  output logic               awready_o,  // of other bursts with bus_awready_i
  input  logic [IdWidth-1:0] awid_i,     // comes back in bid_o
  input  logic [12:2]        awaddr_i,   // bit 12: a push; 11:2: word in its window
  input  logic [7:0]         awlen_i,    // beats less one
  input  logic [2:0]         awsize_i,   // logarithm of a beat's bytes; of pushes 2 or 3
  input  logic               wvalid_i,
  output logic               wready_o,  // w*: valid/ready; wvalid_i may come with the address
  input  logic [63:0]        wdata_i,   // byte n in bits 8n+7:8n
  input  logic [7:0]         wstrb_i,   // of a push: words are written whole
  input  logic               wlast_i,   // ends the burst
  output logic               bvalid_o,  // b*: one answer a burst, held until bready_i
  input  logic               bready_i,  // takes the answer
  output logic [IdWidth-1:0] bid_o,     // awid_i of a push, else bus_bid_i
  output logic [1:0]         bresp_o,   // of a push 0, else as bus_bresp_i

  output logic               bus_awvalid_o,
  input  logic               bus_awready_i,
  output logic               bus_wvalid_o,
  input  logic               bus_wready_i,
  input  logic               bus_bvalid_i,
  output logic               bus_bready_o,
  input  logic [IdWidth-1:0] bus_bid_i,
  input  logic [1:0]         bus_bresp_i,

  input  logic               start_i,
  input  logic               open_i,
  input  logic [RoomW-1:0]   room_i,
  output logic               write_o,
  output logic [1:0]         lanes_o,
  output logic [63:0]        data_o,
  output logic               first_o,
  output logic               commit_o,
  output logic               rollback_o,
  output logic [RoomW-1:0]   words_o,
  output logic               refused_o,
  output logic [11:0]        next_o,
  output logic               idle_o  // nothing changes until an input does
);
  typedef enum logic [1:0] {
    StIdle,
    StPush,
    StWritten,
    StBus
  } state_e;

  state_e state_q;
  logic [IdWidth-1:0] id_q;
  logic [11:2] beat_q;  // address of the beat, to its own size
  logic wide_q;         // 8 bytes a beat
  logic admitted_q;     // there was leave and room for all of it
  logic [11:2] next_q;  // where the next push must begin
  logic [11:2] here_q;  // where the next word of this one must lie
  logic [RoomW-1:0] count_q;
  logic bad_q, first_q;
  logic whole, fits, good, beat;

  // Lanes are written completely or not at all, and continue the previous ones.
  logic [1:0] lanes;
  assign lanes = {wstrb_i[4], wstrb_i[0]};
  assign whole = wstrb_i == {{4{lanes[1]}}, {4{lanes[0]}}};
  assign fits  = beat_q[11:3] == here_q[11:3] && (here_q[2] ? lanes == 2'b10 : lanes[0]);
  assign good  = whole && fits && !bad_q;
  assign beat  = state_q == StPush && wvalid_i;

  assign write_o    = beat && good;
  assign lanes_o    = lanes;
  assign data_o     = wdata_i;
  assign first_o    = first_q;
  assign commit_o   = write_o && wlast_i;
  assign refused_o  = beat && wlast_i && !good;
  assign rollback_o = refused_o && admitted_q;
  assign words_o    = count_q + (lanes == 2'b11 ? RoomW'(2) : RoomW'(1));

  // Words that the burst may hold; less than 4 bytes a beat are never a complete word.
  logic [9:0] most;
  logic admit;
  assign most  = awsize_i == 3'd3 ? {1'b0, awlen_i, 1'b0} + 10'd2 : 10'(awlen_i) + 10'd1;
  assign admit = open_i && awsize_i[1] && 32'(room_i) >= 32'(most);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= StIdle;
      next_q  <= '0;
    end else begin
      unique case (state_q)
        StIdle:    if (awvalid_i) state_q <= awaddr_i[12] ? StPush : bus_awready_i ? StBus : StIdle;
        StPush:    if (wvalid_i && wlast_i) state_q <= StWritten;
        StWritten: if (bready_i) state_q <= StIdle;
        default:   if (bus_bvalid_i && bready_i) state_q <= StIdle;
      endcase
      if (start_i) next_q <= '0;
      else if (commit_o) next_q <= here_q + 10'(lanes == 2'b11 ? 2'd2 : 2'd1);
    end
  end

  always_ff @(posedge clk_i) begin
    if (state_q == StIdle) begin
      id_q       <= awid_i;
      beat_q     <= awaddr_i[11:2];
      wide_q     <= awsize_i == 3'd3;
      here_q     <= next_q;
      count_q    <= '0;
      admitted_q <= admit;
      bad_q      <= !admit;
      first_q    <= 1'b1;
    end
    if (beat) begin
      beat_q  <= wide_q ? {beat_q[11:3] + 9'd1, 1'b0} : beat_q + 10'd1;
      here_q  <= here_q + 10'(lanes == 2'b11 ? 2'd2 : 2'd1);
      count_q <= words_o;
      bad_q   <= !good;
      first_q <= 1'b0;
    end
  end

  assign awready_o = state_q == StIdle && (awaddr_i[12] || bus_awready_i);
  assign wready_o  = state_q == StPush || (state_q == StBus && bus_wready_i);
  assign bvalid_o  = state_q == StWritten || (state_q == StBus && bus_bvalid_i);
  assign bid_o     = state_q == StWritten ? id_q : bus_bid_i;
  assign bresp_o   = state_q == StWritten ? 2'b00 : bus_bresp_i;

  assign bus_awvalid_o = state_q == StIdle && awvalid_i && !awaddr_i[12];
  assign bus_wvalid_o  = state_q == StBus && wvalid_i;
  assign bus_bready_o  = state_q == StBus && bready_i;

  assign next_o = {next_q, 2'b00};
  assign idle_o = state_q == StIdle;
endmodule
