// SPDX-License-Identifier: SHL-2.1
/// Two ends of 12 lanes, each in clocks of its own, over lanes of different delays.
///
/// Each end sends blocks that count up: word 0 has the number, the others follow from it, the
/// check is that of blocks. Each end counts what comes: blocks with a right check, of these wrong
/// ones and missing numbers, and blocks with a wrong check. The lanes' receive clocks are the far
/// end's, of odd lanes half a period later.
module blocklink_lanes_bench
  import blocklink_pkg::*;
  import blocklink_lane_pkg::*;
#(
  parameter int unsigned MetaframeWords = 64,
  parameter int unsigned MaxSkew        = 7,
  parameter int unsigned SlipWait       = 4,
  parameter int unsigned Ahead          = 5,
  parameter int unsigned Skew           = 3   // words of delay between the first lane and the last
) (
  input  logic [1:0]             clk_i,
  input  logic [1:0]             lane_clk_i,
  input  logic                   rst_ni,
  input  logic [11:0][31:0]      error_i,
  input  logic [11:0]            spoil_i,
  input  logic [11:0]            slide_i,    // of lanes to end 1, a cycle of lane_clk_i[0]
  output logic [1:0]             aligned_o,
  output logic [1:0][11:0]       framed_o,
  output logic [1:0][11:0][$clog2(MaxSkew+1)-1:0] skew_o,
  output logic [1:0][11:0][1:0]  far_o,
  output logic [1:0][31:0]       made_o,      // blocks taken
  output logic [1:0][31:0]       good_o,
  output logic [1:0][31:0]       wrong_o,
  output logic [1:0][31:0]       missing_o,
  output logic [1:0][31:0]       bad_o,
  output logic [1:0][31:0]       words_o,     // of each lane, sent
  output logic [1:0][31:0]       added_o,     // SKIPs in the place of rows
  output logic [1:0][31:0]       lost_o,      // words that found an elastic buffer full
  output logic [1:0][31:0]       realign_o,
  output logic [1:0][11:0][15:0] crc_bad_o,
  output logic [1:0][31:0]       age_sum_o,   // cycles since they were taken, of good ones
  output logic [1:0][31:0]       lag_sum_o,   // of words: cycles of lane_clk_i on the line
  output logic [1:0][31:0]       lag_words_o,
  output code_t [11:0]           code_o,      // of end 0
  output logic                   code_clk_o,
  output logic                   ready_o,
  output logic                   skip_o
);
  function automatic logic [63:0] word_of(logic [31:0] number, logic [2:0] index);
    return index == '0 ? {32'd0, number} :
        {number * 32'h9E37_79B1, (number ^ 32'(index)) * 32'h85EB_CA6B};
  endfunction
  function automatic block_t block_of(logic [31:0] number);
    block_t block;
    for (int unsigned i = 0; i < 7; i++) block.words[i] = word_of(number, 3'(i));
    block.control = '{kind: KindDataLow, ack: number[0], credit: number[8:1],
                      vc: {7{number[7:4]}}, check: '0};
    return block;
  endfunction

  code_t [1:0][11:0] tx_code;
  logic  [1:0] tx_ready, added;
  assign code_clk_o = lane_clk_i[0];
  assign code_o  = tx_code[0];
  assign ready_o = tx_ready[0];
  assign skip_o  = added[0];

  for (genvar e = 0; e < 2; e++) begin : gen_end
    block_t made, made_bare, got, got_bare;
    logic made_ready, got_valid, late, realign;
    logic [23:0] made_check, got_check;
    logic [11:0][31:0] lag, lag_words;
    logic [11:0] rx_clk, rx_valid, rx_slip, sync_bad, removed, lost;
    code_t [11:0] rx_code;

    blocklink_lanes #(
      .MetaframeWords(MetaframeWords), .MaxSkew(MaxSkew), .SlipWait(SlipWait), .Ahead(Ahead)
    ) u_lanes (
      .clk_i(clk_i[e]), .rst_ni, .block_i(made), .block_ready_o(made_ready),
      .block_valid_o(got_valid), .block_o(got), .lane_clk_i(lane_clk_i[e]), .lane_rst_ni(rst_ni),
      .tx_ready_i(tx_ready[e]), .tx_code_o(tx_code[e]), .rx_clk_i(rx_clk),
      .rx_rst_ni({12{rst_ni}}), .rx_valid_i(rx_valid), .rx_code_i(rx_code), .rx_slip_o(rx_slip),
      .aligned_o(aligned_o[e]), .framed_o(framed_o[e]), .skew_o(skew_o[e]),
      .crc_bad_o(crc_bad_o[e]), .far_o(far_o[e]), .late_o(late), .realign_o(realign),
      .sync_bad_o(sync_bad), .removed_o(removed), .lost_o(lost), .added_o(added[e])
    );

    logic [6:0] gearbox_q;
    assign tx_ready[e] = !(gearbox_q inside {7'd22, 7'd44, 7'd66});
    always_ff @(posedge lane_clk_i[e]) begin
      gearbox_q <= (!rst_ni || gearbox_q == 7'd66) ? '0 : gearbox_q + 1'b1;
    end

    for (genvar i = 0; i < 12; i++) begin : gen_lane
      assign rx_clk[i] = (i % 2 == 1) ? ~lane_clk_i[1-e] : lane_clk_i[1-e];
      lane_line #(
        .Delay(4 + (i * 5 + 3 * e) % (Skew + 1)), .Offset(i == 2 || i == 9 ? 3 + e : 0),
        .Pause((i * 17) % 67)
      ) u_line (
        .tx_clk_i(lane_clk_i[1-e]), .rx_clk_i(rx_clk[i]), .rst_ni, .tx_ready_i(tx_ready[1-e]),
        .tx_code_i(tx_code[1-e][i]), .error_i(e == 1 ? error_i[i] : '0),
        .spoil_i(e == 1 && spoil_i[i]), .slide_i(e == 1 && slide_i[i]), .slip_i(rx_slip[i]),
        .rx_valid_o(rx_valid[i]), .rx_code_o(rx_code[i]), .lag_sum_o(lag[i]),
        .lag_words_o(lag_words[i])
      );
    end

    // ------------------------------------------------------------ blocks
    blocklink_crc24 u_made (.data_i(made_bare), .crc_o(made_check));
    blocklink_crc24 u_got (.data_i(got_bare), .crc_o(got_check));
    always_comb begin
      made_bare          = block_of(made_o[e]);
      made               = made_bare;
      made.control.check = made_check;
      got_bare               = got;
      got_bare.control.check = '0;
    end
    logic right;
    logic [31:0] number, expected_q, cycles_q;
    logic [31:0] taken_q [256];
    assign right  = got_valid && got_check == got.control.check;
    assign number = got.words[0][31:0];
    always_ff @(posedge clk_i[e]) begin
      if (!rst_ni) begin
        {made_o[e], good_o[e], wrong_o[e], missing_o[e], bad_o[e], expected_q} <= '0;
        {realign_o[e], cycles_q} <= '0;
      end else begin
        cycles_q     <= cycles_q + 1;
        made_o[e]    <= made_o[e] + 32'(made_ready);
        realign_o[e] <= realign_o[e] + 32'(realign);
        bad_o[e]     <= bad_o[e] + 32'(got_valid && !right);
        if (right) begin
          good_o[e]    <= good_o[e] + 1;
          expected_q   <= number + 1;
          missing_o[e] <= missing_o[e] + (number - expected_q);
          wrong_o[e]   <= wrong_o[e] + 32'(got_bare != block_of(number) || number < expected_q);
        end
      end
      if (made_ready) taken_q[made_o[e][7:0]] <= cycles_q;
      if (!rst_ni) age_sum_o[e] <= '0;
      else if (right) age_sum_o[e] <= age_sum_o[e] + (cycles_q - gen_end[1-e].taken_q[number[7:0]]);
    end

    // ------------------------------------------------------------ lanes
    logic [11:0][31:0] lost_q;
    for (genvar i = 0; i < 12; i++) begin : gen_count
      always_ff @(posedge rx_clk[i]) lost_q[i] <= rst_ni ? lost_q[i] + 32'(lost[i]) : '0;
    end
    always_comb begin
      {lost_o[e], lag_sum_o[e], lag_words_o[e]} = '0;
      for (int unsigned i = 0; i < 12; i++) begin
        lost_o[e]      = lost_o[e] + lost_q[i];
        lag_sum_o[e]   = lag_sum_o[e] + lag[i];
        lag_words_o[e] = lag_words_o[e] + lag_words[i];
      end
    end
    always_ff @(posedge lane_clk_i[e]) begin
      words_o[e] <= rst_ni ? words_o[e] + 32'(tx_ready[e]) : '0;
      added_o[e] <= rst_ni ? added_o[e] + 32'(added[e]) : '0;
    end
    logic unused;
    assign unused = &{1'b0, late, sync_bad, removed};
  end
endmodule
