// SPDX-License-Identifier: SHL-2.1
/// Shares one AXI read port between the sending half's bursts and occasional reads of one beat.
///
///   Handshake   bursts_*: as at the pins, which see them in the same cycle. beat_valid_i/
///               beat_ready_o: a read of the 8 bytes at beat_addr_i; beat_done_o strobes with its
///               data, beat_failed_o: an error
///   Ordering    one ID: data comes in the order of addresses. A beat is read between two
///               transfers, never between the bursts of one (aruser says what follows); it waits no
///               longer than for the transfer that is on offer
///   Early       rearly_i speaks of the oldest read: it goes on where that is a burst's
///   Latency     bursts none; beat_valid_i to arvalid_o 1 cycle
///   Throughput  bursts as at the pins, but for a cycle a beat
///   Parameters  none; at most 15 bursts under way
///   Not done    the data of the beat
///                                                     (proved: formal/rdma/rdma_read_share.sby)
module rdma_read_share (
  input logic clk_i,
  input logic rst_ni,

  input  logic        bursts_arvalid_i,
  output logic        bursts_arready_o,
  input  logic [63:0] bursts_araddr_i,
  input  logic [7:0]  bursts_arlen_i,
  input  logic [12:0] bursts_aruser_i,
  output logic        bursts_rvalid_o,
  input  logic        bursts_rready_i,
  output logic        bursts_rearly_o,

  input  logic        beat_valid_i,
  output logic        beat_ready_o,
  input  logic [63:3] beat_addr_i,
  output logic        beat_done_o,
  output logic        beat_failed_o,

  output logic        arvalid_o,
  input  logic        arready_i,
  output logic [63:0] araddr_o,
  output logic [7:0]  arlen_o,
  output logic [12:0] aruser_o,
  input  logic        rvalid_i,
  output logic        rready_o,
  input  logic [1:0]  rresp_i,
  input  logic        rlast_i,
  input  logic        rearly_i,

  output logic idle_o
);
  logic offer_q;        // the beat's address is at the pins
  logic reading_q;      // its data is due
  logic row_q;          // bursts of the transfer at hand are to come
  logic [3:0] bursts_q; // under way
  logic [3:0] before_q; // of those, that come before the beat

  logic burst_take, burst_end, beat_take, mine;
  assign burst_take = bursts_arvalid_i && bursts_arready_o;
  assign burst_end  = rvalid_i && rready_o && rlast_i && !mine;
  assign beat_take  = offer_q && arready_i;
  assign mine       = reading_q && before_q == '0;

  logic row, free;
  assign row  = burst_take ? bursts_aruser_i[12:3] != 10'(bursts_arlen_i) + 10'd1 : row_q;
  assign free = !bursts_arvalid_i || arready_i;

  logic [3:0] bursts_d;
  assign bursts_d = bursts_q + 4'(burst_take) - 4'(burst_end);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      offer_q   <= 1'b0;
      reading_q <= 1'b0;
      row_q     <= 1'b0;
      bursts_q  <= '0;
      before_q  <= '0;
    end else begin
      row_q    <= row;
      bursts_q <= bursts_d;
      if (offer_q) offer_q <= !arready_i;
      else offer_q <= beat_valid_i && !reading_q && !row && free;
      if (beat_take) reading_q <= 1'b1;
      else if (beat_done_o) reading_q <= 1'b0;
      before_q <= beat_take ? bursts_d : before_q - 4'(burst_end && reading_q);
    end
  end

  assign arvalid_o        = offer_q || bursts_arvalid_i;
  assign araddr_o         = offer_q ? {beat_addr_i, 3'd0} : bursts_araddr_i;
  assign arlen_o          = offer_q ? 8'd0 : bursts_arlen_i;
  assign aruser_o         = offer_q ? 13'd8 : bursts_aruser_i;
  assign bursts_arready_o = arready_i && !offer_q;
  assign beat_ready_o     = beat_take;

  assign bursts_rvalid_o = rvalid_i && !mine;
  assign bursts_rearly_o = rearly_i && !mine;
  assign rready_o        = mine || bursts_rready_i;
  assign beat_done_o     = rvalid_i && mine;
  assign beat_failed_o   = rresp_i != 2'b00;
  assign idle_o          = !offer_q && !reading_q && !beat_valid_i;
endmodule
