// SPDX-License-Identifier: SHL-2.1
/// Transmit side of a 10 Gb/s MAC: frames into a 64-bit XGMII, with padding, FCS and gap.
///
/// A frame's words are made as if it started in lane 0; the last stage puts half a word before them
/// where it starts in lane 4. The gap has 12 bytes on average and at least 9: a start is in lane 0
/// or 4, so after a frame of 4k + r bytes r bytes of the gap are left out while at most 3 are owed,
/// or 4 - r too many are sent.
///
///   Handshake   in_*: valid/ready, a frame without preamble and FCS. From a frame's first word to
///               its last in_valid_i must be high in each cycle with in_ready_o. A word that is
///               late is sent as error characters: the receiver drops the frame. in_bad_i, with
///               in_last_i: the frame is whole and its FCS is wrong
///   Latency     in_valid_i, line idle and gap over, to the start on xgmii_txd_o 6 cycles; a word
///               to xgmii_txd_o 6, in lane 4 half of it 7
///   Throughput  line rate: a word a cycle, minimum frames with the average gap between
///   FCS         the last word is filled up with zeros; crc32_undo takes them out of the CRC again
///   Parameters  none
///   Not done    pause frames, link fault signalling
module xgmii_tx (
  input  logic        clk_i,          // 156.25 MHz
  input  logic        rst_ni,

  input  logic        in_valid_i,
  output logic        in_ready_o,
  input  logic        in_last_i,
  input  logic        in_bad_i,       // of the last word: its FCS is sent wrong
  input  logic [3:0]  in_bytes_i,     // of the last word, 1..8
  input  logic [63:0] in_i,           // the first byte in [7:0]

  output logic [63:0] xgmii_txd_o,
  output logic [7:0]  xgmii_txc_o,
  output logic        sent_o,         // strobe: a frame's last word is taken
  output logic        idle_o
);
  localparam logic [63:0] Idle     = {8{8'h07}};
  localparam logic [63:0] Error    = {8{8'hFE}};
  localparam logic [63:0] Preamble = 64'hD555_5555_5555_55FB;
  localparam logic [7:0]  Terminate = 8'hFD;

  // ---------------------------------------------------------------- words of the frame
  typedef enum logic [1:0] {
    StIdle,
    StData,
    StPad    // the frame's own words are taken, its minimum is not reached
  } state_e;
  typedef enum logic [1:0] {
    KindIdle,
    KindStart,
    KindData,
    KindError
  } kind_e;

  state_e      state_q;
  logic [2:0]  pos_q;      // words so far, 7 at the most
  logic        short_q;    // not more than 7: the minimum ends in the eighth
  logic [1:0]  wait_q;     // slots until a start may be
  logic [1:0]  owed_q;     // bytes that gaps were too short by
  logic        late_q;     // the next start is in lane 4
  logic        starts, takes, at_min, last, pads;
  logic [3:0]  bytes;
  logic [63:0] word;
  kind_e       kind;

  assign starts     = state_q == StIdle && in_valid_i && wait_q == '0;
  assign in_ready_o = state_q == StData;
  assign takes      = in_valid_i && in_ready_o;
  // 60 bytes are seven words and a half.
  assign at_min     = pos_q == 3'd7;
  assign pads       = takes && in_last_i && !at_min;
  assign last       = at_min && ((takes && in_last_i) || state_q == StPad);
  always_comb begin
    bytes = 4'd8;
    if (last) bytes = !takes || (short_q && in_bytes_i < 4'd4) ? 4'd4 : in_bytes_i;
    for (int unsigned i = 0; i < 8; i++) begin
      word[8*i+:8] = takes && !(in_last_i && 4'(i) >= in_bytes_i) ? in_i[8*i+:8] : 8'd0;
    end
    kind = KindIdle;
    if (starts) kind = KindStart;
    else if (takes || state_q == StPad) kind = KindData;
    else if (state_q == StData) kind = KindError;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= StIdle;
      pos_q   <= '0;
      short_q <= 1'b1;
    end else begin
      unique case (state_q)
        StIdle: begin
          if (starts) state_q <= StData;
          pos_q   <= '0;
          short_q <= 1'b1;
        end
        StData: begin
          if (last) state_q <= StIdle;
          else if (pads) state_q <= StPad;
        end
        default: if (last) state_q <= StIdle;
      endcase
      if (kind == KindData) begin
        if (!at_min) pos_q <= pos_q + 3'd1;
        if (at_min) short_q <= 1'b0;
      end
    end
  end

  // ---------------------------------------------------------------- the gap
  // In columns of four bytes from the last word on: what is left of the frame, and the gap.
  logic [1:0] over;     // bytes in the frame's last column, 0: it is full
  logic       shorter;
  logic [2:0] columns, ahead;
  assign over    = bytes[1:0];
  assign shorter = over != 2'd0 && 3'(owed_q) + 3'(over) <= 3'd3;
  assign columns = (bytes > 4'd4 ? 3'd3 : 3'd2) + (shorter ? 3'd2 : 3'd3);
  assign ahead   = columns + 3'(late_q);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      wait_q <= '0;
      owed_q <= '0;
      late_q <= 1'b0;
    end else if (last) begin
      wait_q <= ahead[2:1] - 2'd1;
      late_q <= ahead[0];
      if (shorter) owed_q <= owed_q + over;
      else if (over != 2'd0) owed_q <= owed_q - 2'(3'd4 - 3'(over));
    end else if (wait_q != '0) begin
      wait_q <= wait_q - 2'd1;
    end else if (state_q == StIdle && !starts) begin
      owed_q <= '0;  // a longer gap than asked for
      late_q <= 1'b0;
    end
  end

  // ---------------------------------------------------------------- FCS
  // A word enters the CRC in stage 1; in stages 2 to 4 what it filled up is taken back.
  kind_e       kind1_q, kind2_q, kind3_q, kind4_q;
  logic        last1_q, last2_q, last3_q, last4_q, late1_q, late2_q, late3_q, late4_q;
  logic [3:0]  bytes1_q, bytes2_q, bytes3_q, bytes4_q;
  logic [63:0] word1_q, word2_q, word3_q, word4_q;
  logic        crc0_q;  // the word's first bit; of a frame that is bad another one than is sent
  logic [31:0] crc_q, crc_next, undone4, undone4_q, undone2, undone2_q, undone1;
  // Zeros behind the last bytes, 8 less their number: bits 2 and 1; bit 0 is that of the number.
  logic [1:0]  zeros2_q;
  logic        zero3_q;

  crc32_d64 u_crc (
    .crc_i (crc_q),
    .data_i({word1_q[63:1], crc0_q}),
    .crc_o (crc_next)
  );
  crc32_undo #(
    .Bytes(4)
  ) u_undo4 (
    .undo_i(zeros2_q[1]),
    .crc_i (crc_q),
    .crc_o (undone4)
  );
  crc32_undo #(
    .Bytes(2)
  ) u_undo2 (
    .undo_i(zero3_q),
    .crc_i (undone4_q),
    .crc_o (undone2)
  );
  crc32_undo #(
    .Bytes(1)
  ) u_undo1 (
    .undo_i(bytes4_q[0]),
    .crc_i (undone2_q),
    .crc_o (undone1)
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      kind1_q <= KindIdle;
      kind2_q <= KindIdle;
      kind3_q <= KindIdle;
      kind4_q <= KindIdle;
      last1_q <= 1'b0;
      last2_q <= 1'b0;
      last3_q <= 1'b0;
      last4_q <= 1'b0;
      late1_q <= 1'b0;
      late2_q <= 1'b0;
      late3_q <= 1'b0;
      late4_q <= 1'b0;
    end else begin
      kind1_q <= kind;
      kind2_q <= kind1_q;
      kind3_q <= kind2_q;
      kind4_q <= kind3_q;
      last1_q <= last;
      last2_q <= last1_q;
      last3_q <= last2_q;
      last4_q <= last3_q;
      if (starts) late1_q <= late_q;
      if (kind1_q == KindStart) late2_q <= late1_q;
      if (kind2_q == KindStart) late3_q <= late2_q;
      if (kind3_q == KindStart) late4_q <= late3_q;
    end
  end
  always_ff @(posedge clk_i) begin
    bytes1_q <= bytes;
    bytes2_q <= bytes1_q;
    zeros2_q <= {bytes1_q[2] ^ (bytes1_q[1] | bytes1_q[0]), bytes1_q[1] ^ bytes1_q[0]};
    bytes3_q <= bytes2_q;
    bytes4_q <= bytes3_q;
    word1_q  <= word;
    crc0_q   <= word[0] ^ (takes && in_last_i && in_bad_i);
    word2_q  <= word1_q;
    word3_q  <= word2_q;
    word4_q  <= word3_q;
    if (kind1_q == KindStart) crc_q <= '1;
    else if (kind1_q == KindData) crc_q <= crc_next;
    zero3_q  <= zeros2_q[0];
    undone4_q <= undone4;
    undone2_q <= undone2;
  end

  // ---------------------------------------------------------------- characters
  // The FCS and the terminate behind the last bytes: they end in this word or in the next.
  logic [127:0] tail;
  logic [15:0]  tail_ctl;
  logic [63:0]  rest_q, made_q;
  logic [7:0]   rest_ctl_q, made_ctl_q;
  logic         rest_valid_q, shift_q;
  always_comb begin
    tail     = {Idle, Idle};
    tail_ctl = '1;
    for (int unsigned i = 0; i < 8; i++) begin
      if (4'(i) < bytes4_q) begin
        tail[8*i+:8] = word4_q[8*i+:8];
        tail_ctl[i]  = 1'b0;
      end
    end
    for (int unsigned n = 1; n <= 8; n++) begin
      if (bytes4_q == 4'(n)) begin
        tail[8*n+:32]       = ~undone1;
        tail_ctl[n+:4]      = '0;
        tail[8*(n+4)+:8]    = Terminate;
      end
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      made_q       <= Idle;
      made_ctl_q   <= '1;
      rest_valid_q <= 1'b0;
      shift_q      <= 1'b0;
    end else begin
      rest_valid_q <= last4_q;
      if (kind4_q == KindStart) shift_q <= late4_q;
      unique case (kind4_q)
        KindStart: begin
          made_q     <= Preamble;
          made_ctl_q <= 8'h01;
        end
        KindData: begin
          made_q     <= last4_q ? tail[63:0] : word4_q;
          made_ctl_q <= last4_q ? tail_ctl[7:0] : '0;
        end
        KindError: begin
          made_q     <= Error;
          made_ctl_q <= '1;
        end
        default: begin
          made_q     <= rest_valid_q ? rest_q : Idle;
          made_ctl_q <= rest_valid_q ? rest_ctl_q : '1;
        end
      endcase
    end
  end
  always_ff @(posedge clk_i) begin
    rest_q     <= tail[127:64];
    rest_ctl_q <= tail_ctl[15:8];
  end

  // ---------------------------------------------------------------- lane 0 or 4
  logic [31:0] half_q;
  logic [3:0]  half_ctl_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      xgmii_txd_o <= Idle;
      xgmii_txc_o <= '1;
      half_q      <= Idle[31:0];
      half_ctl_q  <= '1;
    end else begin
      half_q      <= made_q[63:32];
      half_ctl_q  <= made_ctl_q[7:4];
      xgmii_txd_o <= shift_q ? {made_q[31:0], half_q} : made_q;
      xgmii_txc_o <= shift_q ? {made_ctl_q[3:0], half_ctl_q} : made_ctl_q;
    end
  end

  assign sent_o = last;
  assign idle_o = state_q == StIdle && !in_valid_i && wait_q == '0 && owed_q == '0 && !late_q &&
                  kind1_q == KindIdle && kind2_q == KindIdle && kind3_q == KindIdle &&
                  kind4_q == KindIdle &&
                  !rest_valid_q && {made_ctl_q, half_ctl_q, xgmii_txc_o} == '1 &&
                  {made_q, half_q, xgmii_txd_o} == {Idle, Idle[31:0], Idle};
endmodule
