// SPDX-License-Identifier: SHL-2.1
/// udp_echo: a word is never stored on one of a reply that waits; any word of a good datagram that
/// was taken comes out at its turn as it came in, and no word of another one does. A reply is
/// offered for each datagram that was taken and good, and for no other.
///
/// Any datagrams of up to 369 words, good or bad; a sender that takes no more words than there are.
module udp_echo_props
  import eth_pkg::*;
(
  input logic        clk_i,
  input logic        rx_start_i,
  input logic [15:0] rx_len_i,
  input logic        rx_broadcast_i,
  input logic        rx_valid_i,
  input logic [31:0] rx_data_i,
  input logic        rx_end_i,
  input logic        rx_good_i,
  input logic        rx_soon_i,
  input logic        tx_ready_i,
  input logic        tx_next_i,
  input logic [15:0] any_word_i
);
  localparam int unsigned Depth   = 512;
  localparam int unsigned Pending = 2;
  localparam int unsigned Words   = 369;  // that a stack pushes of one datagram at most

  logic rst_ni, full_o, lost_o, tx_valid_o, tx_soon_o, idle_o;
  udp_meta_t rx_meta_i, tx_meta_o;
  logic [15:0] tx_sum_o;
  logic [31:0] tx_data_o;
  always_comb begin
    rx_meta_i     = '0;
    rx_meta_i.len = rx_len_i;
  end
  udp_echo #(.Depth(Depth), .Pending(Pending)) dut (.*);

  logic started_q = 1'b0;
  logic [15:0] word_q;  // the number of the watched one, modulo 2^16
  always_ff @(posedge clk_i) begin
    started_q <= 1'b1;
    if (!started_q) word_q <= any_word_i;
  end
  assign rst_ni = started_q;

  // ------------------------------------------------------------ what the ports say
  // Words are numbered as they are stored: those of a bad datagram give their numbers back.
  logic        inside_q, taken_q;       // a datagram is pushed; it is to be answered
  logic [8:0]  pushed_q;                // words of it
  logic [15:0] kept_q, sent_q;          // words of good ones; that were taken
  logic [1:0]  replies_q;               // that were not taken
  logic [31:0] value_q;                 // of the watched word
  logic        stored_q, good_q;        // it was pushed, and is one of a good datagram
  logic        takes, store, ends, makes;
  assign takes = rx_start_i && !full_o && !rx_broadcast_i;
  assign store = taken_q && rx_valid_i;
  assign ends  = taken_q && rx_end_i;
  assign makes = ends && rx_good_i;
  always_ff @(posedge clk_i) begin
    if (!started_q) begin
      inside_q  <= 1'b0;
      taken_q   <= 1'b0;
      pushed_q  <= '0;
      kept_q    <= '0;
      sent_q    <= '0;
      replies_q <= '0;
      stored_q  <= 1'b0;
      good_q    <= 1'b0;
    end else begin
      if (rx_start_i) begin
        inside_q <= 1'b1;
        taken_q  <= takes;
        pushed_q <= '0;
      end
      if (rx_valid_i) pushed_q <= pushed_q + 9'd1;
      if (rx_end_i) begin
        inside_q <= 1'b0;
        taken_q  <= 1'b0;
        pushed_q <= '0;
      end
      if (makes) kept_q <= kept_q + 16'(pushed_q);
      sent_q    <= sent_q + 16'(tx_next_i);
      replies_q <= replies_q + 2'(makes) - 2'(tx_valid_o && tx_ready_i);
      if (store && kept_q + 16'(pushed_q) == word_q && !good_q) begin
        stored_q <= 1'b1;
        value_q  <= rx_data_i;
      end
      if (ends && !good_q) begin
        stored_q <= stored_q && rx_good_i;
        good_q   <= stored_q && rx_good_i;
      end
      if (tx_next_i && sent_q == word_q) begin
        stored_q <= 1'b0;
        good_q   <= 1'b0;
      end
    end
  end

  // ------------------------------------------------------------ what the surroundings do
  always_comb begin
    if (started_q) begin
      assume (2'(rx_start_i) + 2'(rx_valid_i) + 2'(rx_end_i) <= 2'd1);
      assume (!rx_start_i || !inside_q);
      assume (!(rx_valid_i || rx_end_i) || inside_q);
      assume (!rx_valid_i || 32'(pushed_q) < Words);
      assume (!tx_next_i || sent_q != kept_q);
    end else begin
      assume (!rx_start_i && !rx_valid_i && !rx_end_i && !tx_next_i);
    end
  end

  // ------------------------------------------------------------ what must hold
  logic [15:0] waiting, held, ahead;
  logic sent_before_q;  // of the watched word: it is the next one, and was in the cycle before
  assign waiting = kept_q - sent_q;
  assign held    = waiting + (taken_q ? 16'(pushed_q) : 16'd0);
  assign ahead   = word_q - sent_q;
  // The memory is read in the cycle before: the sender takes a word no earlier than 2 cycles
  // behind its datagram's end.
  logic next_q;
  always_ff @(posedge clk_i) begin
    next_q <= started_q && good_q && sent_q + 16'(tx_next_i) == word_q;
  end
  assign sent_before_q = next_q && good_q;
  always_comb begin
    if (started_q) begin
      // Room: a word that is stored is on none that waits.
      if (store) assert (32'(held) < Depth);
      assert (32'(held) <= Depth);
      if (sent_before_q && sent_q == word_q) assert (tx_data_o == value_q);
      assert (tx_valid_o == (replies_q != '0));
      assert (32'(replies_q) <= Pending);
      assert (lost_o == (rx_start_i && full_o));
      assert (idle_o == (!taken_q && replies_q == '0 && waiting == '0));
      cover (sent_before_q && sent_q == word_q && word_q == 16'd3 && replies_q == 2'd0);
      cover (ends && !rx_good_i && replies_q != '0 && pushed_q == 9'd3);
    end
  end

  // ------------------------------------------------------------ inside, for induction
  always_comb begin
    if (started_q) begin
      assert (dut.open_q == taken_q);
      assert (!taken_q || inside_q);
      assert (32'(pushed_q) <= Words);
      assert (dut.keep_q == 10'(kept_q) && dut.read_q == 10'(sent_q));
      assert (10'(dut.write_q - dut.read_q) == 10'(held));
      assert (32'(waiting) <= Depth);
      if (taken_q) assert (32'(waiting) + Words <= Depth);
      assert (2'(dut.u_metas.wptr_q - dut.u_metas.rptr_q) == replies_q);
      if (taken_q) assert (32'(replies_q) < Pending);
      if (stored_q) begin
        assert (32'(ahead) < 32'(held));
        assert (good_q ? ahead < waiting : taken_q && ahead >= waiting);
        assert (dut.u_words.mem_q[9'(word_q)] == value_q);
      end
      if (good_q) assert (stored_q);
    end
  end
endmodule
