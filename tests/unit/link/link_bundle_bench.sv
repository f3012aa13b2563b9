// SPDX-License-Identifier: SHL-2.1
/// Two link_bundles with their buffers, face to face over lanes of any skew that can spoil words, and at each
/// end a source and a sink of packets.
///
/// Word 0 of a packet, lane 0, names the packet: end, id, number, length; every other word of every lane
/// follows from that name and its place. So a sink knows what each word must be, and counts what it finds:
/// `good` packets, `bad` ones (Edb), `missing` numbers, and `wrong` ones, which may never be. Rates are in
/// 65536ths a cycle or word. With both ends in reset all starts anew.
module link_bundle_bench
  import link_pkg::*;
#(
  parameter int unsigned Lanes      = 4,
  parameter int unsigned MaxSkew    = 8,
  parameter int unsigned AlignWords = 64,
  parameter int unsigned NumIds     = 2,
  parameter int unsigned Depth      = 128,
  parameter int unsigned MaxWords   = 16,
  parameter int unsigned InitWords  = 256,
  parameter int unsigned Delay      = 12,
  localparam int unsigned Longest   = Delay + 32,
  localparam int unsigned Counts    = 15
) (
  input  logic                            clk_i,
  input  logic [1:0]                      rst_ni,
  input  logic [1:0][Lanes-1:0]           signal_i,
  input  logic [1:0][Lanes-1:0][4:0]      skew_i,    // words that a lane is late
  input  logic [1:0][Lanes-1:0][15:0]     errors_i,  // rate of words with a wrong bit
  input  logic [1:0][Lanes-1:0]           silent_i,  // only zeros come
  input  logic [1:0][16:0]                send_i,    // rate of begins where one may be
  input  logic [1:0][16:0]                gap_i,     // rate of pauses inside a packet
  input  logic [1:0][16:0]                read_i,    // rate of reads
  input  logic [1:0][NumIds-1:0]          block_i,   // nobody reads
  input  logic [1:0][NumIds-1:0]          mute_i,    // nothing is sent
  input  logic [7:0]                      least_i,   // length of packets, in words of all lanes
  input  logic [7:0]                      most_i,
  output logic [1:0]                      up_o,
  output logic [1:0]                      aligned_o,
  output logic [1:0]                      rest_o,    // nothing is sent, stored or owed
  output logic [1:0][Lanes-1:0][35:0]     tx_o,
  output logic [1:0]                      sop_o,     // a Sop stands at the transmit side's input
  output logic [1:0]                      flit_o,    // one stands at the receive side's output
  output logic [1:0][NumIds-1:0][9:0]     room_o,
  output logic [1:0][NumIds-1:0][31:0]    read_o,    // data words read, of each id
  output logic [1:0][Counts-1:0][31:0]    count_o
);
  typedef enum int unsigned {
    Good, Bad, Wrong, Missing, Begun, CrcBad, Invalid, Cut, CreditBad, Dropped, Refused, Lost, Late, Downs,
    MarkGap
  } count_e;

  word_t [Lanes-1:0] tx[2], rx[2];

  function automatic logic [31:0] content(logic [31:0] name, int unsigned index, int unsigned lane);
    logic [31:0] x;
    x = name * 32'h9E3779B1 + 32'(index) * 32'h85EBCA6B + 32'(lane) * 32'hC2B2AE35;
    return x ^ (x >> 15);
  endfunction

  for (genvar e = 0; e < 2; e++) begin : gen_end
    // Noise: a word of it for each use.
    logic [31:0] noise_q[8];
    logic [31:0] lane_noise_q[Lanes];
    function automatic logic [31:0] step(logic [31:0] x);
      logic [31:0] y;
      y = x ^ (x << 13);
      y = y ^ (y >> 17);
      return y ^ (y << 5);
    endfunction
    initial begin
      for (int i = 0; i < 8; i++) noise_q[i] = 32'h1234567 * 32'(2 * i + e + 1);
      for (int i = 0; i < Lanes; i++) lane_noise_q[i] = 32'h7654321 * 32'(2 * i + e + 1);
    end
    always_ff @(posedge clk_i) begin
      for (int i = 0; i < 8; i++) noise_q[i] <= step(noise_q[i]);
      for (int i = 0; i < Lanes; i++) lane_noise_q[i] <= step(lane_noise_q[i]);
    end

    // The lanes from this end to the other.
    for (genvar l = 0; l < Lanes; l++) begin : gen_lane
      word_t line_q[Longest];
      logic [35:0] spoil;
      assign spoil = lane_noise_q[l][15:0] < errors_i[e][l] ? 36'h1 << (lane_noise_q[l][31:16] % 36) : '0;
      always_ff @(posedge clk_i) begin
        line_q[0] <= silent_i[e][l] ? '0 : word_t'(tx[e][l] ^ spoil);
        for (int i = 1; i < Longest; i++) line_q[i] <= line_q[i-1];
      end
      assign rx[1-e][l] = line_q[Delay-1+skew_i[e][l]];
    end

    logic                     rx_valid, ready, crc_bad, poisoned, invalid, cut, credit_bad, dropped, lost, late;
    flit_kind_e               rx_kind, tx_kind;
    logic [Lanes-1:0][31:0]   rx_data, tx_data;
    id_t                      rx_id;
    count_t [NumIds-1:0]      stored, room;

    // ------------------------------------------------------------------ source
    logic        active_q, gap_q;
    logic [31:0] name_q;
    logic [7:0]  at_q;
    logic [2:0]  pick;
    logic [7:0]  length;
    logic [19:0] number_q[NumIds];
    logic [Lanes-1:0][23:0] crc_q, crc_d;

    assign pick   = 3'(noise_q[0][23:8] % NumIds);
    assign length = least_i + 8'(noise_q[1][23:8] % (16'(most_i - least_i) + 16'd1));

    logic begins, offered, last;
    assign begins  = !active_q && up_o[e] && !mute_i[e][pick] && 17'(noise_q[2][15:0]) < send_i[e] &&
                     room[pick] > count_t'(length);
    assign offered = active_q && !gap_q;
    assign last    = at_q == name_q[7:0] + 8'd1;

    always_comb begin
      tx_kind = at_q == '0 ? FlitSop : last ? FlitEop : FlitData;
      for (int i = 0; i < Lanes; i++) begin
        tx_data[i] = at_q == 8'd1 && i == 0 ? name_q : content(name_q, 32'(at_q), i);
        if (at_q == '0) tx_data[i] = 32'(name_q[30:28]);
        if (last) tx_data[i] = {8'h00, ~crc_q[i]};
      end
    end
    for (genvar l = 0; l < Lanes; l++) begin : gen_crc
      link_crc24 u_crc24 (.crc_i(crc_q[l]), .data_i(tx_data[l]), .crc_o(crc_d[l]));
    end

    always_ff @(posedge clk_i) begin
      if (rst_ni == '0) begin
        active_q <= 1'b0;
        for (int i = 0; i < NumIds; i++) number_q[i] <= '0;
      end else if (begins) begin
        active_q       <= 1'b1;
        gap_q          <= 1'b0;
        name_q         <= {1'(e), pick, number_q[pick], length};
        number_q[pick] <= number_q[pick] + 1'b1;
        at_q           <= '0;
        crc_q          <= '1;
      end else if (active_q && (gap_q || ready)) begin
        gap_q <= 17'(noise_q[3][15:0]) < gap_i[e];
        if (!gap_q) begin
          at_q <= at_q + 8'd1;
          if (tx_kind == FlitData) crc_q <= crc_d;
          if (last) active_q <= 1'b0;
        end
      end
    end

    link_bundle #(
      .Lanes       (Lanes),
      .MaxSkew     (MaxSkew),
      .AlignWords  (AlignWords),
      .NumRxIds    (NumIds),
      .NumTxIds    (NumIds),
      .TxDepth     (Depth),
      .MaxWords    (MaxWords),
      .CreditWords (MaxWords),
      .RefreshWords(64),
      .InitWords   (InitWords)
    ) u_bundle (
      .clk_i,
      .rst_ni      (rst_ni[e]),
      .signal_i    (signal_i[e]),
      .rx_i        (rx[e]),
      .tx_o        (tx[e]),
      .bench_i     (1'b0),
      .up_o        (up_o[e]),
      .aligned_o   (aligned_o[e]),
      .rx_valid_o  (rx_valid),
      .rx_flit_o   ({rx_kind, rx_data}),
      .rx_id_o     (rx_id),
      .stored_i    (stored),
      .room_o      (room),
      .tx_valid_i  (offered),
      .tx_ready_o  (ready),
      .tx_flit_i   ({tx_kind, tx_data}),
      .crc_bad_o   (crc_bad),
      .poisoned_o  (poisoned),
      .invalid_o   (invalid),
      .cut_o       (cut),
      .credit_bad_o(credit_bad),
      .dropped_o   (dropped),
      .lost_o      (lost),
      .late_o      (late)
    );
    assign tx_o[e]   = tx[e];
    assign room_o[e] = room;
    assign sop_o[e]  = offered && tx_kind == FlitSop;
    assign flit_o[e] = rx_valid;

    // ------------------------------------------------------------------ buffers and sinks
    logic [NumIds-1:0] good, bad, wrong, refused, word_read, empty, open_q;
    logic [19:0]       skipped[NumIds];
    logic [NumIds-1:0] whole;
    logic              unused;
    assign unused = &{1'b0, poisoned};

    for (genvar i = 0; i < NumIds; i++) begin : gen_id
      flit_t [Lanes-1:0]  flit;
      count_t [Lanes-1:0] held;
      logic [Lanes-1:0]   valid, packet, refuse;
      logic               pop, right_q, right;
      logic [31:0]        name_in_q;
      logic [7:0]         place_q;
      logic [19:0]        next_q;

      for (genvar l = 0; l < Lanes; l++) begin : gen_lane
        link_buffer #(.Depth(Depth)) u_buffer (
          .clk_i,
          .rst_ni   (rst_ni[e]),
          .valid_i  (rx_valid && rx_id == id_t'(i)),
          .flit_i   ('{kind: rx_kind, data: rx_data[l]}),
          .refused_o(refuse[l]),
          .stored_o (held[l]),
          .packet_o (packet[l]),
          .valid_o  (valid[l]),
          .flit_o   (flit[l]),
          .pop_i    (pop)
        );
      end
      assign stored[i]  = held[0];
      assign refused[i] = refuse[0];
      assign empty[i]   = held[0] == '0 && !packet[0];
      assign whole[i]   = room[i] == count_t'(Depth);
      assign pop        = valid[0] && !block_i[e][i] && 17'(noise_q[4+i%4][15:0]) < read_i[e];

      always_comb begin
        right = right_q;
        for (int l = 0; l < Lanes; l++) begin
          // One buffer a lane, in step.
          if (flit[l].kind != flit[0].kind || valid[l] != valid[0]) right = 1'b0;
          if (place_q == '0 && l == 0) begin
            if (flit[0].data[31:28] != {1'(1 - e), 3'(i)}) right = 1'b0;
          end else if (flit[l].data != content(place_q == '0 ? flit[0].data : name_in_q, 32'(place_q) + 1, l))
            right = 1'b0;
        end
      end
      assign word_read[i] = pop && flit[0].kind == FlitData;
      assign bad[i]       = pop && flit[0].kind == FlitEdb;
      assign good[i]      = pop && flit[0].kind == FlitEop && right_q &&
                             place_q == name_in_q[7:0] && !skipped[i][19];
      assign wrong[i]     = pop && (flit[0].kind == FlitSop || (flit[0].kind == FlitEop && !good[i]));
      assign skipped[i]   = name_in_q[27:8] - next_q;

      always_ff @(posedge clk_i) begin
        if (!rst_ni[e]) begin
          place_q <= '0;
          right_q <= 1'b1;
        end else if (pop && flit[0].kind == FlitData) begin
          if (place_q == '0) name_in_q <= flit[0].data;
          place_q <= place_q + 8'd1;
          right_q <= right;
        end else if (pop) begin
          place_q <= '0;
          right_q <= 1'b1;
          if (good[i]) next_q <= name_in_q[27:8] + 1'b1;
        end
        if (rst_ni == '0) next_q <= '0;
        if (rst_ni == '0) read_o[e][i] <= '0;
        else if (word_read[i]) read_o[e][i] <= read_o[e][i] + 1;
      end
      assign open_q[i] = place_q != '0;
    end
    assign rest_o[e] = !active_q && up_o[e] && empty == '1 && whole == '1 && open_q == '0;

    // ------------------------------------------------------------------ counts
    logic [31:0] since_q;
    logic        up_q;
    always_ff @(posedge clk_i) begin
      up_q    <= up_o[e];
      since_q <= tx[e][0].k == 4'b1000 && tx[e][0].data[31:24] == SymAlign ? 32'd1 : since_q + 1;
      if (since_q > count_o[e][MarkGap]) count_o[e][MarkGap] <= since_q;
      for (int i = 0; i < NumIds; i++) begin
        if (good[i]) count_o[e][Missing] <= count_o[e][Missing] + 32'(skipped[i]);
      end
      count_o[e][Good]      <= count_o[e][Good] + 32'($countones(good));
      count_o[e][Bad]       <= count_o[e][Bad] + 32'($countones(bad));
      count_o[e][Wrong]     <= count_o[e][Wrong] + 32'($countones(wrong));
      count_o[e][Begun]     <= count_o[e][Begun] + 32'(begins);
      count_o[e][CrcBad]    <= count_o[e][CrcBad] + 32'(crc_bad);
      count_o[e][Invalid]   <= count_o[e][Invalid] + 32'(invalid);
      count_o[e][Cut]       <= count_o[e][Cut] + 32'(cut);
      count_o[e][CreditBad] <= count_o[e][CreditBad] + 32'(credit_bad);
      count_o[e][Dropped]   <= count_o[e][Dropped] + 32'(dropped);
      count_o[e][Refused]   <= count_o[e][Refused] + 32'($countones(refused));
      count_o[e][Lost]      <= count_o[e][Lost] + 32'(lost);
      count_o[e][Late]      <= count_o[e][Late] + 32'(late);
      count_o[e][Downs]     <= count_o[e][Downs] + 32'(up_q && !up_o[e]);
      if (rst_ni == '0) begin
        since_q <= 32'd1;
        for (int i = 0; i < Counts; i++) count_o[e][i] <= '0;
      end
    end
  end
endmodule
