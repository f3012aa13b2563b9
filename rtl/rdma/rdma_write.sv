// SPDX-License-Identifier: SHL-2.1
/// AXI4 write master of the receive side: packets' payload in bursts, notices of one or two beats
/// between.
///
/// One AXI ID; the next burst begins when the last one's address and data are taken, so addresses,
/// data and answers are in one order.
///
///   Pieces      piece_valid_i/piece_ready_o, taken with the last beat: cut by axi_cut into bursts
///               that cross no 4 KiB, payload_* in step; a dropped one takes its packet's payload
///               and writes nothing. Beats without keep have no strobes
///   Notices     notice_valid_i/notice_ready_o: held until it is written, its data as
///               notice_second_o says; after a burst of payload a notice goes first, after a notice
///               payload does
///   Answers     answer_valid_o/answer_ready_i: what was answered, in order; failed: an answer to
///               any burst of the packet was an error, spoilt: its payload was bad
///   AXI         awuser_o: bytes that still follow in this run of addresses, this burst's included.
///               wvalid_o may come before the address is taken. bready_o falls only while an answer
///               is not taken, which is for a few cycles: nothing waits here for memory
///   Flush       posted_o: strobe, payload or a frame word was answered; written_addr_o: where the
///               newest payload that went out begins, so a place that a read may push writes ahead
///               to
///   Limits      MaxWrites bursts are not answered; no body while bodies_hold_i
///   Latency     piece to awvalid_o 1 cycle, payload then in the cycle in which it comes
///   Throughput  a burst of n beats takes n + 1 cycles, with awready_i and wready_i up
///   Not done    bursts longer than a piece; other sizes than 8 bytes a beat
module rdma_write
  import rdma_pkg::*;
  import rdma_rx_pkg::*;
(
  input logic clk_i,
  input logic rst_ni,
  input logic bodies_hold_i,
  input logic address_hold_i,           // written_addr_o stays as it is

  input  logic   piece_valid_i,
  output logic   piece_ready_o,
  input  piece_t piece_i,
  input  logic   payload_valid_i,
  output logic   payload_ready_o,
  input  logic   payload_bad_i,
  input  logic   payload_keep_i,
  input  beat_t  payload_i,

  input  logic    notice_valid_i,
  output logic    notice_ready_o,
  output logic    notice_second_o,  // of two beats the second is asked for
  input  notice_t notice_i,

  output logic    answer_valid_o,
  input  logic    answer_ready_i,
  output answer_t answer_o,

  output logic        awvalid_o,
  input  logic        awready_i,
  output logic [63:0] awaddr_o,
  output logic [7:0]  awlen_o,
  output logic [12:0] awuser_o,
  output logic        wvalid_o,
  input  logic        wready_i,
  output logic [63:0] wdata_o,
  output logic [7:0]  wstrb_o,
  output logic        wlast_o,
  input  logic        bvalid_i,
  output logic        bready_o,
  input  logic [1:0]  bresp_i,

  output logic        posted_o,
  output logic [63:3] written_addr_o,

  output logic soon_o,   // a few beats are on their way, or can begin; not of a register
  // Strobes for counters and probes.
  output logic write_o,   // a packet's burst is begun
  output logic error_o,   // memory answered with an error
  output logic idle_o
);
  typedef enum logic [1:0] {
    StIdle,
    StBurst,
    StNotice,
    StDrop
  } state_e;

  state_e state_q;
  logic notice_last_q;         // the last burst was a notice
  logic last_q;                // the burst is its piece's last
  logic [6:0] left_q;          // beats of the burst that are not sent
  logic [6:0] length_q;
  logic [6:0] run_q;           // of the piece from this burst on
  logic aw_q, w_done_q;        // the address is on offer; all data is taken
  logic part_bad_q;            // a payload beat of this packet was bad

  logic room, go_notice, go_burst, go_drop, w_take, burst_end;
  logic tags_ready;

  // A piece is held until its last beat is taken.
  logic piece_end, drop_end, hold;
  assign piece_ready_o = piece_end;

  // The next burst of the piece.
  axi_pkg::address_t cut;
  logic [9:0] length;
  logic [6:0] rest;       // beats of the piece from there on
  logic cut_last;
  axi_cut #(
    .DataWidth (64),
    .Granule   (8),
    .BurstBytes(4096),
    .MaxBytes  (8 * PacketBeats),
    .Held      (1'b1)
  ) u_cut (
    .clk_i,
    .rst_ni,
    .cmd_valid_i  (piece_valid_i),
    .cmd_ready_o  (),
    .cmd_addr_i   ({piece_i.address, 3'd0}),
    .cmd_bytes_i  ({piece_i.beats, 3'd0}),
    .stop_i       (1'b0),
    .burst_valid_o(),
    .burst_ready_i(burst_end && state_q == StBurst),
    .burst_part_i (1'b0),
    .burst_units_i('0),
    .burst_units_o(length),
    .offered_i    (1'b0),
    .burst_o      (cut),
    .burst_first_o(),
    .burst_final_o(),
    .burst_last_o (cut_last),
    .burst_left_o (rest)
  );

  assign room      = tags_ready;
  assign hold      = bodies_hold_i && piece_i.body;
  assign go_notice = state_q == StIdle && room && notice_valid_i &&
                     (!notice_last_q || !piece_valid_i || piece_i.drop || hold);
  assign go_drop   = state_q == StIdle && !go_notice && piece_valid_i && piece_i.drop;
  assign go_burst  = state_q == StIdle && room && !go_notice && piece_valid_i && !piece_i.drop &&
                     !hold;

  assign w_take    = wvalid_o && wready_i;
  assign burst_end = (state_q == StBurst || state_q == StNotice) && (!aw_q || awready_i) &&
                     (w_done_q || (w_take && wlast_o));

  logic payload_take;
  assign payload_take = payload_valid_i && payload_ready_o;
  assign drop_end     = state_q == StDrop && payload_valid_i && left_q == 7'd1;
  assign piece_end    = drop_end || (burst_end && state_q == StBurst && last_q);

  assign payload_ready_o = (state_q == StBurst && !w_done_q && wready_i) || state_q == StDrop;
  assign notice_ready_o  = state_q == StNotice && burst_end;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q       <= StIdle;
      notice_last_q <= 1'b0;
      aw_q          <= 1'b0;
      w_done_q      <= 1'b0;
      part_bad_q    <= 1'b0;
    end else begin
      if (awready_i) aw_q <= 1'b0;
      if (w_take && wlast_o) w_done_q <= 1'b1;
      unique case (state_q)
        StIdle: begin
          w_done_q <= 1'b0;
          if (go_notice) begin
            state_q       <= StNotice;
            notice_last_q <= 1'b1;
            aw_q          <= 1'b1;
          end else if (go_burst) begin
            state_q       <= StBurst;
            notice_last_q <= 1'b0;
            aw_q          <= 1'b1;
          end else if (go_drop) begin
            state_q <= StDrop;
          end
        end
        StDrop: begin
          if (drop_end) state_q <= StIdle;
        end
        default: begin
          if (burst_end) state_q <= StIdle;
        end
      endcase
      if (piece_end && piece_i.last) part_bad_q <= 1'b0;
      else if (payload_take && payload_bad_i) part_bad_q <= state_q == StBurst;
    end
  end

  always_ff @(posedge clk_i) begin
    // Whether a piece begins is known late: what it would begin with is loaded meanwhile.
    if (state_q == StIdle) begin
      last_q   <= cut_last;
      length_q <= length[6:0];
      run_q    <= rest;
      left_q   <= go_notice ? (notice_i.two ? 7'd2 : 7'd1) :
                  piece_i.drop ? piece_i.packet : length[6:0];
    end
    if (w_take || (state_q == StDrop && payload_valid_i)) left_q <= left_q - 7'd1;
  end

  // ---------------------------------------------------------------- AXI
  logic notice;
  assign notice    = state_q == StNotice;
  assign awvalid_o = aw_q;
  // Notice and piece are held until their end, so neither is stored.
  assign awaddr_o  = notice ? {notice_i.address, 3'b000} : cut.addr;
  assign awlen_o   = notice ? 8'(notice_i.two) : 8'(length_q) - 8'd1;
  assign awuser_o  = notice ? (notice_i.two ? 13'd16 : 13'd8) : 13'({run_q, 3'b000});
  assign wvalid_o  = !w_done_q && ((state_q == StBurst && payload_valid_i) || notice);
  assign wlast_o   = left_q == 7'd1;
  assign wdata_o   = notice ? notice_i.data : payload_i;
  assign notice_second_o = wlast_o;
  assign wstrb_o   = {8{notice || payload_keep_i}};

  // ---------------------------------------------------------------- answers
  answer_t tag, tag_in;
  logic tag_valid, failed_q, b_take;
  always_comb begin
    tag_in.wrote  = WrotePart;
    tag_in.failed = 1'b0;
    tag_in.spoilt = part_bad_q || (w_take && payload_bad_i);
    tag_in.irq    = 1'b0;
    tag_in.src    = piece_i.src;
    tag_in.place  = piece_i.place;
    if (notice) tag_in = notice_i.answer;
    else if (last_q && piece_i.last) tag_in.wrote = piece_i.body ? WroteBody : WrotePacket;
  end

  fifo #(
    .Width($bits(answer_t)),
    .Depth(MaxWrites)
  ) u_tags (
    .clk_i,
    .rst_ni,
    .clear_i(1'b0),
    .valid_i(burst_end),
    .ready_o(tags_ready),
    .data_i (tag_in),
    .valid_o(tag_valid),
    .ready_i(b_take),
    .data_o (tag),
    .usage_o()
  );

  assign bready_o = tag_valid && (!answer_valid_o || answer_ready_i);
  assign b_take   = bvalid_i && bready_o;

  logic payload_answer, told;
  assign payload_answer = tag.wrote == WrotePart || tag.wrote == WrotePacket ||
                          tag.wrote == WroteBody;
  assign told           = tag.wrote != WrotePart && tag.wrote != WroteOther;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      answer_valid_o <= 1'b0;
      failed_q       <= 1'b0;
      error_o        <= 1'b0;
    end else begin
      if (answer_ready_i) answer_valid_o <= 1'b0;
      if (b_take && told) answer_valid_o <= 1'b1;
      // Any burst of a packet.
      if (b_take && payload_answer) failed_q <= tag.wrote == WrotePart && (failed_q || bresp_i[1]);
      error_o <= b_take && bresp_i[1];
    end
  end

  always_ff @(posedge clk_i) begin
    if (b_take) begin
      answer_o        <= tag;
      answer_o.failed <= tag.failed || bresp_i[1] || (payload_answer && failed_q);
    end
  end

  assign posted_o = b_take && (payload_answer || tag.wrote == WroteFrame);
  always_ff @(posedge clk_i) begin
    if (awvalid_o && awready_i && !notice && !address_hold_i) written_addr_o <= awaddr_o[63:3];
  end

  // A longer burst's address is long there when its end comes.
  assign soon_o = state_q == StIdle ? room && (notice_valid_i || (piece_valid_i && !piece_i.drop &&
                                                                  !hold && near(rest)))
                                    : state_q != StDrop && !burst_end && near(left_q);

  assign write_o = go_burst;
  logic unused;
  assign unused = &{1'b0, bresp_i[0], length[9:7], cut.len, cut.size, cut.burst};
  assign idle_o  = state_q == StIdle && !piece_valid_i && !tag_valid && !answer_valid_o;
endmodule
