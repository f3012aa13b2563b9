// SPDX-License-Identifier: SHL-2.1
/// Board: two ends of a link on the transceivers of an ECPIX-5 with the larger FPGA (LFE5UM5G-85F).
///
/// End A sends over channel 0 and end B hears it; end B sends over channel 1 and end A hears it.
/// Each end sends packets of all lengths back to back, and checks every word of what it hears.
///
///     A: link_traffic -> link_port -> gear -> channel 0 -> gear -> link_elastic -> B: link_port ..
///     A: .. link_port <- link_elastic <- gear <- channel 1 <- gear <- B: link_port <- link_traffic
///
///   Line        2.5 Gbit/s, 8b/10b: 62.5 M words of 32 bits a second each way
///   Loops       Channel 1 hears itself inside the FPGA. Channel 0, the SATA connector, does where
///               loop_i is high (no jumper); with a jumper it needs a plug that joins the
///               connector's two pairs
///   Clocks      100 MHz on the board for the start; 100 MHz at the transceivers, from which 125
///               MHz and, for the links, 62.5 MHz come; a recovered one for each channel
///   LEDs        see boards/README.md; each low when it is lit
///   Serial port 115200 baud, a line a second: see boards/README.md
///   Parameters  WaitWidth as of dcu_ecp5; BaudDivider cycles of 62.5 MHz; LinePause characters
///   Not done    packets of other sources
module ecpix5_link
  import link_pkg::*;
#(
  parameter int unsigned WaitWidth   = 20,
  parameter int unsigned BaudDivider = 543,
  parameter int unsigned LinePause   = 11400
) (
  input  logic       clk100_i,
  input  logic       rst_ni,
  input  logic       loop_i,
  output logic [3:0] led_red_no,
  output logic [3:0] led_green_no,
  output logic [3:0] led_blue_no,
  output logic       serial_tx_o,
  input  logic       sata_clk_p_i,
  input  logic       sata_clk_n_i,
  input  logic       sata_rx_pi,
  input  logic       sata_rx_ni,
  output logic       sata_tx_po,
  output logic       sata_tx_no
);
  localparam int unsigned Depth    = 512;
  localparam int unsigned MaxWords = 128;

  // ---------------------------------------------------------------- transceivers
  // Clocks keep their names: the constraints are theirs.
  (* keep *) logic       tx_clk;
  (* keep *) logic [1:0] rx_clk;
  logic                start_rst_n, tx_lock;
  logic [1:0]          rx_lock;
  logic [1:0]          tx_p, tx_n;
  symbol_t [1:0] [1:0] tx_symbol, rx_symbol;

  sync_reset u_start_reset (.clk_i(clk100_i), .rst_ni, .rst_no(start_rst_n));

  dcu_ecp5 #(
    .WaitWidth(WaitWidth)
  ) u_dcu (
    .clk_i     (clk100_i),
    .rst_ni    (start_rst_n),
    .loop_i    ({1'b1, loop_i}),
    .tx_lock_o (tx_lock),
    .rx_lock_o (rx_lock),
    .refclk_p_i(sata_clk_p_i),
    .refclk_n_i(sata_clk_n_i),
    // Channel 1 has no pins on this board.
    .rx_pi     ({1'b0, sata_rx_pi}),
    .rx_ni     ({1'b0, sata_rx_ni}),
    .tx_po     (tx_p),
    .tx_no     (tx_n),
    .tx_clk_o  (tx_clk),
    .tx_i      (tx_symbol),
    .rx_clk_o  (rx_clk),
    .rx_o      (rx_symbol)
  );
  assign sata_tx_po = tx_p[0];
  assign sata_tx_no = tx_n[0];
  logic unused_pins;
  assign unused_pins = &{1'b0, tx_p[1], tx_n[1]};

  // ---------------------------------------------------------------- clocks of words
  (* keep *) logic clk;
  logic        tx_rst_n, rst_n;
  word_t [1:0] tx_word;
  sync_reset u_tx_reset (.clk_i(tx_clk), .rst_ni(tx_lock), .rst_no(tx_rst_n));
  sync_reset u_reset (.clk_i(clk), .rst_ni(tx_rst_n), .rst_no(rst_n));

  link_gear_tx #(
    .Lanes(2)
  ) u_tx (
    .clk_i     (tx_clk),
    .rst_ni    (tx_rst_n),
    .word_clk_o(clk),
    .word_i    (tx_word),
    .symbol_o  (tx_symbol)
  );

  // ---------------------------------------------------------------- the two ends
  logic [1:0]       up, line, heard, fault;
  logic [1:0][31:0] good, errors;
  (* keep *) logic [1:0] rx_word_clk;

  for (genvar e = 0; e < 2; e++) begin : gen_end
    // What this end hears: channel 1 for end 0, channel 0 for end 1.
    localparam int unsigned C = 1 - e;
    logic  rx_rst_n, rx_word_rst_n, line_signal, rx_signal, removed, lost, added, empty;
    word_t line_word, rx_word;

    sync_reset u_rx_reset (.clk_i(rx_clk[C]), .rst_ni(tx_lock), .rst_no(rx_rst_n));
    logic  lock;
    sync_bits u_lock (
      .clk_i(rx_clk[C]), .rst_ni(rx_rst_n), .d_i(rx_lock[C]), .q_o(lock), .settled_o()
    );
    link_gear_rx u_gear (
      .clk_i     (rx_clk[C]),
      .rst_ni    (rx_rst_n),
      .lock_i    (lock),
      .symbol_i  (rx_symbol[C]),
      .word_clk_o(rx_word_clk[e]),
      .word_o    (line_word),
      .signal_o  (line_signal)
    );
    sync_reset u_rx_word_reset (
      .clk_i(rx_word_clk[e]), .rst_ni(rx_rst_n), .rst_no(rx_word_rst_n)
    );
    link_elastic u_elastic (
      .wclk_i   (rx_word_clk[e]),
      .wrst_ni  (rx_word_rst_n),
      .signal_i (line_signal),
      .word_i   (line_word),
      .removed_o(removed),
      .lost_o   (lost),
      .rclk_i   (clk),
      .rrst_ni  (rst_n),
      .signal_o (rx_signal),
      .word_o   (rx_word),
      .added_o  (added),
      .empty_o  (empty)
    );

    logic         flit_valid, tx_valid, tx_ready, refused, packet, out_valid, idle;
    flit_t        flit, tx_flit, out_flit;
    id_t          id;
    count_t [0:0] stored, room;
    logic   [5:0] strobes;
    link_port #(
      .NumRxIds(1),
      .NumTxIds(1),
      .TxDepth (Depth),
      .MaxWords(MaxWords)
    ) u_port (
      .clk_i       (clk),
      .rst_ni      (rst_n),
      .signal_i    (rx_signal),
      .rx_i        (rx_word),
      .tx_o        (tx_word[e]),
      .bench_i     (1'b0),
      .up_o        (up[e]),
      .rx_valid_o  (flit_valid),
      .rx_flit_o   (flit),
      .rx_id_o     (id),
      .stored_i    (stored),
      .room_o      (room),
      .tx_valid_i  (tx_valid),
      .tx_ready_o  (tx_ready),
      .tx_flit_i   (tx_flit),
      .crc_bad_o   (strobes[0]),
      .poisoned_o  (strobes[1]),
      .invalid_o   (strobes[2]),
      .cut_o       (strobes[3]),
      .credit_bad_o(strobes[4]),
      .dropped_o   (strobes[5]),
      .idle_o      (idle)
    );
    link_buffer #(
      .Depth(Depth)
    ) u_buffer (
      .clk_i    (clk),
      .rst_ni   (rst_n),
      .valid_i  (flit_valid),
      .flit_i   (flit),
      .refused_o(refused),
      .stored_o (stored[0]),
      .packet_o (packet),
      .valid_o  (out_valid),
      .flit_o   (out_flit),
      .pop_i    (1'b1)
    );
    link_traffic #(
      .MaxWords(MaxWords)
    ) u_traffic (
      .clk_i     (clk),
      .rst_ni    (rst_n),
      .up_i      (up[e]),
      .room_i    (room[0]),
      .tx_valid_o(tx_valid),
      .tx_ready_i(tx_ready),
      .tx_flit_o (tx_flit),
      .rx_valid_i(out_valid),
      .rx_flit_i (out_flit),
      .good_o    (good[e]),
      .errors_o  (errors[e])
    );
    assign line[e]  = rx_signal;
    assign heard[e] = good[e] != '0;
    assign fault[e] = errors[e] != '0;
    logic unused;
    assign unused = &{1'b0, id, strobes, idle, refused, packet, removed, lost, added, empty};
  end

  // ---------------------------------------------------------------- what a user sees
  // Counters of the link's clock: they do not count where the transceivers have none.
  logic [24:0] beat_q;
  always_ff @(posedge clk or negedge rst_n) begin
    if (!rst_n) beat_q <= '0;
    else beat_q <= beat_q + 1'b1;
  end
  assign led_red_no   = ~{fault != '0, ~line & {2{tx_lock}}, !tx_lock};
  assign led_green_no = ~{good[0][19] && heard == '1, up, tx_lock && beat_q[24]};
  assign led_blue_no  = ~{1'b0, line & ~up, 1'b0};

  localparam int unsigned TextLength = 65;
  uart_line #(
    .Divider(BaudDivider),
    .Length (TextLength),
    .Digits (34),
    .Pause  (LinePause),
    .Text   ({"A # good ######## bad ########   B # good ######## bad ########", 8'h0D, 8'h0A})
  ) u_serial (
    .clk_i  (clk),
    .rst_ni (rst_n),
    .value_i({2'b00, line[0], up[0], good[0], errors[0], 2'b00, line[1], up[1], good[1],
              errors[1]}),
    .tx_o   (serial_tx_o)
  );
endmodule
