// SPDX-License-Identifier: SHL-2.1
/// From the clock of the memory's bus to a port's transmit: a program's datagrams, cut-through.
///
/// async_fifo of heads, async_block_fifo of beats -> words
///
///   Clocks      clk_i of the bus; eth_clk_i, 125 MHz, or 156.25 MHz with words of 64 bits
///   Handshake   departure_i, departed_o as nanet_pkg says: a beat comes only where used leaves
///               room. tx_* as gige_udp, with words of 64 bits as eth_tx_d64
///   Begin       a frame begins when the first beat of its payload is there: preamble and headers,
///               400 ns, or 46 ns, are sent while the rest comes
///   Late        if a word is not there when the wire needs it, the frame keeps its length and gets
///               a wrong FCS; so does a frame whose read was answered with an error. Words of it
///               that come later are dropped, and the next frame is not touched. Counted once a
///               frame
///   Latency     beat to tx_valid_o: as async_block_fifo, 3 cycles of eth_clk_i
///   Throughput  line rate
///   Parameters  DataWidth 64..512; Depth in beats as async_block_fifo; WordWidth 32 or 64
///   Not done    a UDP check sum: it is in front of data that has not come
module nanet_transmit
  import nanet_pkg::*;
#(
  parameter int unsigned DataWidth = 128,
  parameter int unsigned WordWidth = 32,
  parameter int unsigned Depth     = SendBytes / (DataWidth / 8)
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,
  input  departure_t           departure_i,
  input  eth_pkg::udp_meta_t   meta_i,
  input  logic [DataWidth-1:0] data_i,
  output departed_t            departed_o,

  input  logic                 eth_clk_i,
  input  logic                 eth_rst_ni,
  output logic                 tx_valid_o,
  input  logic                 tx_ready_i,
  output eth_pkg::udp_meta_t   tx_meta_o,
  output logic [WordWidth-1:0] tx_data_o,
  input  logic                 tx_next_i,
  output logic                 tx_spoil_o,

  output logic                 settled_o
);
  localparam int unsigned Words  = DataWidth / WordWidth;
  localparam int unsigned WordW  = Words > 1 ? $clog2(Words) : 1;
  localparam int unsigned CountW = $clog2(Depth) + 1;
  if (!(WordWidth inside {32, 64}) || DataWidth < WordWidth) begin : gen_word_check
    $error("nanet_transmit: WordWidth is %0d, legal is 32, or 64 up to DataWidth", WordWidth);
  end

  typedef struct packed {
    logic                 last;
    logic                 bad;
    logic [DataWidth-1:0] data;
  } beat_t;

  // ---------------------------------------------------------------- crossing
  logic head_valid, heads_settled, unused_ready;
  async_fifo #(
    .Width($bits(eth_pkg::udp_meta_t)),
    .Depth(8)
  ) u_heads (
    .wclk_i   (clk_i),
    .wrst_ni  (rst_ni),
    .wvalid_i (departure_i.head_valid),
    .wready_o (departed_o.head_ready),
    .wdata_i  (meta_i),
    .rclk_i   (eth_clk_i),
    .rrst_ni  (eth_rst_ni),
    .rvalid_o (head_valid),
    .rready_i (tx_ready_i),
    .rdata_o  (tx_meta_o),
    .settled_o(heads_settled)
  );

  beat_t beat;
  logic beat_valid, pop;
  logic [CountW-1:0] used, count;
  async_block_fifo #(
    .Width($bits(beat_t)),
    .Depth(Depth)
  ) u_beats (
    .wclk_i  (clk_i),
    .wrst_ni (rst_ni),
    .wvalid_i(departure_i.beat_valid),
    .wready_o(unused_ready),
    .wdata_i ({departure_i.last, departure_i.bad, data_i}),
    .wused_o (used),
    .rclk_i  (eth_clk_i),
    .rrst_ni (eth_rst_ni),
    .rvalid_o(beat_valid),
    .rready_i(pop),
    .rdata_o (beat),
    .rcount_o(count)
  );
  assign departed_o.used = 16'(used);

  // ---------------------------------------------------------------- words
  logic [8:0] words_q;      // of the frame that the port has not taken
  logic [WordW-1:0] word_q; // of the beat
  logic need_q;             // the port takes a word's first byte in this cycle
  logic broken_q;           // a word was late
  logic drained_q;          // and the last one has come since
  logic spoil_q, late, take, spoiled, need, last_word;
  logic [WordWidth-1:0] word;

  if (WordWidth == 32) begin : gen_words_32
    // A word is popped ahead of the cycle that needs it.
    assign need       = need_q;
    assign tx_data_o  = {word[7:0], word[15:8], word[23:16], word[31:24]};
    assign tx_spoil_o = spoil_q;
  end else begin : gen_words_64
    assign need       = tx_next_i;
    assign tx_data_o  = word;
    assign tx_spoil_o = spoil_q || spoiled;
    logic unused_need;
    assign unused_need = need_q;
  end
  if (Words == 1) begin : gen_one_word
    assign word      = beat.data;
    assign last_word = 1'b1;
  end else begin : gen_word
    assign word      = beat.data[WordWidth*word_q+:WordWidth];
    assign last_word = &word_q;
  end
  assign late      = need && !broken_q && !beat_valid;
  assign take      = tx_next_i && !broken_q && !late;
  assign pop       = broken_q ? !drained_q : take && (last_word || words_q == 9'd1);
  assign spoiled   = late || (pop && beat_valid && beat.bad && !broken_q);
  assign tx_valid_o = head_valid && words_q == '0 && !broken_q &&
                      (tx_meta_o.len == '0 || beat_valid);

  always_ff @(posedge eth_clk_i or negedge eth_rst_ni) begin
    if (!eth_rst_ni) begin
      words_q   <= '0;
      word_q    <= '0;
      need_q    <= 1'b0;
      broken_q  <= 1'b0;
      drained_q <= 1'b0;
      spoil_q   <= 1'b0;
    end else begin
      need_q <= tx_next_i && words_q != 9'd1;
      if (tx_ready_i) begin
        words_q <= 9'((tx_meta_o.len + 16'(WordWidth / 8 - 1)) >> $clog2(WordWidth / 8));
        word_q  <= '0;
        spoil_q <= 1'b0;
      end else begin
        if (tx_next_i) words_q <= words_q - 9'd1;
        if (take) word_q <= word_q + WordW'(1);
        if (spoiled) spoil_q <= 1'b1;
      end
      if (late) begin
        broken_q  <= 1'b1;
        drained_q <= 1'b0;
      end else if (broken_q) begin
        if (beat_valid && !drained_q) drained_q <= beat.last;
        if (drained_q && words_q == '0) broken_q <= 1'b0;
      end
    end
  end

  gray_counter u_spoiled (
    .clk_i  (eth_clk_i),
    .rst_ni (eth_rst_ni),
    .event_i(spoiled && !spoil_q),
    .rclk_i (clk_i),
    .rrst_ni(rst_ni),
    .count_o(departed_o.spoiled)
  );

  assign settled_o = heads_settled && !head_valid && words_q == '0 && !broken_q && !beat_valid &&
                     used == '0;

  logic unused;
  assign unused = ^{unused_ready, count};
endmodule
