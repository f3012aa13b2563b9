// SPDX-License-Identifier: SHL-2.1
/// Two ends of a link with an oscillator each, over transceivers of two symbols a clock.
///
/// link_traffic, link_port, link_gear_tx, an 8b/10b line of any number of bits, link_gear_rx, link_elastic.
/// The clocks are those of symbol pairs: words have half of them.
module link_gear_bench
  import link_pkg::*;
#(
  parameter int unsigned OffsetA    = 0,
  parameter int unsigned OffsetB    = 7,
  parameter int unsigned MaxWords   = 128,
  parameter int unsigned AlignWords = 1024,
  parameter int unsigned InitWords  = 256
) (
  input  logic [1:0]       clk_i,
  input  logic [1:0]       rst_ni,
  input  logic [1:0]       lock_i,
  input  logic [1:0]       slip_i,    // of what this end sends: a bit
  input  logic [1:0][19:0] spoil_i,   // of what this end sends
  output logic [1:0]       word_clk_o,
  output logic [1:0]       signal_o,
  output logic [1:0]       up_o,
  output logic [1:0][31:0] good_o,
  output logic [1:0][31:0] errors_o,
  output logic [1:0][31:0] removed_o,
  output logic [1:0][31:0] added_o,
  output logic [1:0][31:0] lost_o
);
  word_t tx_word[2];
  for (genvar e = 0; e < 2; e++) begin : gen_end
    logic    clk, far_clk, word_clk, rst_n, rx_word_clk, rx_word_rst_n, line_signal, rx_signal;
    logic    removed, lost, added, empty;
    word_t   line_word, rx_word;
    symbol_t [0:0][1:0] tx_symbol;
    symbol_t [1:0]      rx_symbol;
    assign clk     = clk_i[e];
    assign far_clk = clk_i[1-e];
    assign word_clk_o[e] = word_clk;

    link_gear_tx u_gear_tx (
      .clk_i(clk), .rst_ni(rst_ni[e]), .word_clk_o(word_clk), .word_i(tx_word[e]), .symbol_o(tx_symbol)
    );
    sync_reset u_reset (.clk_i(word_clk), .rst_ni(rst_ni[e]), .rst_no(rst_n));

    // ------------------------------------------------------------ what this end hears
    line_8b10b #(.Offset(e == 0 ? OffsetA : OffsetB)) u_line (
      .clk_i(far_clk), .rst_ni(rst_ni[1-e]), .slip_i(slip_i[1-e]), .spoil_i(spoil_i[1-e]),
      .symbol_i(gen_end[1-e].tx_symbol[0]), .symbol_o(rx_symbol)
    );
    link_gear_rx u_gear_rx (
      .clk_i(far_clk), .rst_ni(rst_ni[e]), .lock_i(lock_i[e]), .symbol_i(rx_symbol),
      .word_clk_o(rx_word_clk), .word_o(line_word), .signal_o(line_signal)
    );
    sync_reset u_rx_reset (.clk_i(rx_word_clk), .rst_ni(rst_ni[e]), .rst_no(rx_word_rst_n));
    link_elastic u_elastic (
      .wclk_i(rx_word_clk), .wrst_ni(rx_word_rst_n), .signal_i(line_signal), .word_i(line_word),
      .removed_o(removed), .lost_o(lost),
      .rclk_i(word_clk), .rrst_ni(rst_n), .signal_o(rx_signal), .word_o(rx_word),
      .added_o(added), .empty_o(empty)
    );

    logic         flit_valid, tx_valid, tx_ready, refused, packet, out_valid, idle;
    flit_t        flit, tx_flit, out_flit;
    id_t          id;
    count_t [0:0] stored, room;
    logic   [5:0] strobes;
    link_port #(
      .NumRxIds(1), .NumTxIds(1), .MaxWords(MaxWords), .AlignWords(AlignWords), .InitWords(InitWords)
    ) u_port (
      .clk_i(word_clk), .rst_ni(rst_n), .signal_i(rx_signal), .rx_i(rx_word), .tx_o(tx_word[e]),
      .bench_i(1'b0), .up_o(up_o[e]), .rx_valid_o(flit_valid), .rx_flit_o(flit), .rx_id_o(id),
      .stored_i(stored), .room_o(room), .tx_valid_i(tx_valid), .tx_ready_o(tx_ready),
      .tx_flit_i(tx_flit), .crc_bad_o(strobes[0]), .poisoned_o(strobes[1]), .invalid_o(strobes[2]),
      .cut_o(strobes[3]), .credit_bad_o(strobes[4]), .dropped_o(strobes[5]), .idle_o(idle)
    );
    link_buffer u_buffer (
      .clk_i(word_clk), .rst_ni(rst_n), .valid_i(flit_valid), .flit_i(flit), .refused_o(refused),
      .stored_o(stored[0]), .packet_o(packet), .valid_o(out_valid), .flit_o(out_flit), .pop_i(1'b1)
    );
    link_traffic #(.MaxWords(MaxWords)) u_traffic (
      .clk_i(word_clk), .rst_ni(rst_n), .up_i(up_o[e]), .room_i(room[0]), .tx_valid_o(tx_valid),
      .tx_ready_i(tx_ready), .tx_flit_o(tx_flit), .rx_valid_i(out_valid), .rx_flit_i(out_flit),
      .good_o(good_o[e]), .errors_o(errors_o[e])
    );
    assign signal_o[e] = rx_signal;

    logic [31:0] empty_q, full_q, removed_q, added_q;
    always_ff @(posedge word_clk or negedge rst_n) begin
      if (!rst_n) {empty_q, added_q} <= '0;
      else {empty_q, added_q} <= {empty_q + 32'(empty), added_q + 32'(added)};
    end
    always_ff @(posedge rx_word_clk or negedge rx_word_rst_n) begin
      if (!rx_word_rst_n) {full_q, removed_q} <= '0;
      else {full_q, removed_q} <= {full_q + 32'(lost), removed_q + 32'(removed)};
    end
    assign lost_o[e]    = empty_q + full_q;
    assign removed_o[e] = removed_q;
    assign added_o[e]   = added_q;
    logic unused;
    assign unused = &{1'b0, id, strobes, idle, refused, packet};
  end
endmodule
