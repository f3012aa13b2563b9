// SPDX-License-Identifier: SHL-2.1
/// Two link_ports, each in a clock of its own, with transceivers that align on commas and elastic buffers.
///
/// Each end sends packets back to back while run_i is high: word 0 is the packet's number, the others
/// follow from it. Each end counts what comes: good packets, wrong words in good packets, missing numbers.
module link_line_bench
  import link_pkg::*;
#(
  parameter int unsigned AlignWords = 1024,
  parameter int unsigned MaxWords   = 128,
  parameter int unsigned Depth      = 512,
  parameter int unsigned CountWidth = 10
) (
  input  logic [1:0]       clk_i,
  input  logic [1:0]       rst_ni,
  input  logic [1:0]       run_i,
  input  logic [1:0]       slip_i,      // of what this end sends
  output logic [1:0]       signal_o,
  output logic [1:0]       up_o,
  output logic [1:0][31:0] good_o,
  output logic [1:0][31:0] wrong_o,
  output logic [1:0][31:0] missing_o,
  output logic [1:0][31:0] bad_o,
  output logic [1:0][31:0] words_o,     // sent, of any kind
  output logic [1:0][31:0] data_o,      // data words sent
  output logic [1:0][31:0] align_o,     // ALIGN sent
  output logic [1:0][31:0] removed_o,
  output logic [1:0][31:0] added_o,
  output logic [1:0][31:0] lost_o,      // words, or times that the buffer was empty
  output logic [1:0][31:0] starts_o,    // times that the link came up
  output logic [1:0][31:0] gap_o        // most words without a comma, since the link was up first
);
  word_t tx[2];
  function automatic logic [31:0] word_of(logic [31:0] number, logic [9:0] index);
    return index == '0 ? number : (number + 32'(index)) * 32'h9E37_79B1;
  endfunction

  for (genvar e = 0; e < 2; e++) begin : gen_end
    logic  clk, line_signal, line_clk, buffer_signal, removed, lost, added, empty;
    word_t line_word, rx;
    assign clk      = clk_i[e];
    assign line_clk = clk_i[1-e];

    serdes_model #(.Offset(e + 1)) u_serdes (
      .clk_i(line_clk), .rst_ni(rst_ni[1-e]), .slip_i(slip_i[1-e]), .tx_i(tx[1-e]),
      .signal_o(line_signal), .rx_o(line_word)
    );
    link_elastic u_elastic (
      .wclk_i(line_clk), .wrst_ni(rst_ni[1-e]), .signal_i(line_signal), .word_i(line_word),
      .removed_o(removed), .lost_o(lost),
      .rclk_i(clk), .rrst_ni(rst_ni[e]), .signal_o(buffer_signal), .word_o(rx),
      .added_o(added), .empty_o(empty)
    );

    logic         up, rx_valid, tx_valid, tx_ready;
    flit_t        rx_flit, tx_flit, out_flit;
    id_t          rx_id;
    logic [0:0][CountWidth-1:0] stored, room;
    logic   [5:0] strobes;
    logic         idle, refused, packet, out_valid;

    link_port #(
      .NumRxIds(1), .NumTxIds(1), .TxDepth(Depth), .MaxWords(MaxWords), .AlignWords(AlignWords),
      .CountWidth(CountWidth)
    ) u_port (
      .clk_i(clk), .rst_ni(rst_ni[e]), .signal_i(buffer_signal), .rx_i(rx), .tx_o(tx[e]),
      .bench_i(1'b0), .up_o(up), .rx_valid_o(rx_valid), .rx_flit_o(rx_flit), .rx_id_o(rx_id),
      .stored_i(stored), .room_o(room), .tx_valid_i(tx_valid), .tx_ready_o(tx_ready),
      .tx_flit_i(tx_flit), .crc_bad_o(strobes[0]), .poisoned_o(strobes[1]), .invalid_o(strobes[2]),
      .cut_o(strobes[3]), .credit_bad_o(strobes[4]), .dropped_o(strobes[5]), .idle_o(idle)
    );
    link_buffer #(.Depth(Depth), .CountWidth(CountWidth)) u_buffer (
      .clk_i(clk), .rst_ni(rst_ni[e]), .valid_i(rx_valid), .flit_i(rx_flit), .refused_o(refused),
      .stored_o(stored[0]), .packet_o(packet), .valid_o(out_valid), .flit_o(out_flit), .pop_i(1'b1)
    );
    logic unused;
    assign unused = &{1'b0, rx_id, idle, refused, packet, strobes};

    // ------------------------------------------------------------ sender
    logic [31:0] number_q, word;
    logic [9:0]  index_q, length;
    logic [23:0] crc_q, crc_d;
    logic        open_q, ended;
    assign length   = 10'(1 + (number_q * 32'h85EB_CA6B >> 16) % 32'(MaxWords));
    assign word     = word_of(number_q, index_q);
    assign ended    = open_q && index_q == length;
    assign tx_valid = open_q || (run_i[e] && up && room[0] > CountWidth'(length));
    assign tx_flit  = !open_q ? '{kind: FlitSop, data: '0} : ended ?
        '{kind: FlitEop, data: 32'(~crc_q & 24'hFFFFFF)} : '{kind: FlitData, data: word};
    link_crc24 u_crc (.crc_i(crc_q), .data_i(word), .crc_o(crc_d));

    always_ff @(posedge clk) begin
      if (!rst_ni[e]) begin
        open_q   <= 1'b0;
        number_q <= '0;
      end else if (tx_valid && tx_ready) begin
        open_q  <= !ended;
        index_q <= open_q ? index_q + 1'b1 : '0;
        crc_q   <= open_q ? crc_d : Crc24Init;
        if (ended) number_q <= number_q + 1'b1;
      end
    end

    // ------------------------------------------------------------ what comes
    logic [31:0] expected_q, got_q;
    logic [9:0]  place_q;
    logic        spoilt_q;
    always_ff @(posedge clk) begin
      if (!rst_ni[e]) begin
        {expected_q, place_q, spoilt_q}                              <= '0;
        {good_o[e], wrong_o[e], missing_o[e], bad_o[e]}              <= '0;
      end else if (out_valid) begin
        if (out_flit.kind == FlitData) begin
          if (place_q == '0) got_q <= out_flit.data;
          else spoilt_q <= spoilt_q || out_flit.data != word_of(got_q, place_q);
          place_q <= place_q + 1'b1;
        end else begin
          place_q  <= '0;
          spoilt_q <= 1'b0;
          if (out_flit.kind == FlitEop) begin
            good_o[e]    <= good_o[e] + 1;
            wrong_o[e]   <= wrong_o[e] + 32'(spoilt_q);
            missing_o[e] <= missing_o[e] + (got_q - expected_q);
            expected_q   <= got_q + 1;
          end else begin
            bad_o[e] <= bad_o[e] + 1;
          end
        end
      end
    end

    // ------------------------------------------------------------ counters
    logic        up_q, ever_q, comma;
    logic [31:0] since_q;
    // K28.1, K28.5 and K28.7, whatever the package calls them.
    assign comma = tx[e].k == 4'b1000 && tx[e].data[31:24] inside {8'h3C, 8'hBC, 8'hFC};
    always_ff @(posedge clk) begin
      up_q <= up;
      if (!rst_ni[e]) begin
        {words_o[e], data_o[e], align_o[e], starts_o[e], gap_o[e], since_q} <= '0;
        {added_o[e], ever_q} <= '0;
      end else begin
        ever_q      <= ever_q || up;
        words_o[e]  <= words_o[e] + 1;
        data_o[e]   <= data_o[e] + 32'(!tx[e].k[3]);
        align_o[e]  <= align_o[e] + 32'(tx[e] == WordAlign);
        starts_o[e] <= starts_o[e] + 32'(up && !up_q);
        added_o[e]  <= added_o[e] + 32'(added);
        since_q     <= comma ? '0 : since_q + 1;
        if (ever_q && since_q > gap_o[e]) gap_o[e] <= since_q;
      end
    end
    logic [31:0] empty_q, lost_q;
    always_ff @(posedge clk) empty_q <= rst_ni[e] ? empty_q + 32'(empty) : '0;
    always_ff @(posedge line_clk) begin
      lost_q       <= rst_ni[1-e] ? lost_q + 32'(lost) : '0;
      removed_o[e] <= rst_ni[1-e] ? removed_o[e] + 32'(removed) : '0;
    end
    assign lost_o[e]   = lost_q + empty_q;
    assign signal_o[e] = line_signal;
    assign up_o[e]     = up;
  end
endmodule
