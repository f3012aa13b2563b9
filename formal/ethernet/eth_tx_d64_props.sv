// SPDX-License-Identifier: SHL-2.1
/// eth_tx_d64: a frame is handed over without a gap and has as many words and bytes as its headers
/// and data take; each word of a service's payload is taken once, and any one of them is in the
/// frame where it belongs. One datagram at most begins while ARP or ping waits. A wrong FCS is
/// asked for only where the service said so, and always where it did.
///
/// Any service, requests and MAC that keep to the handshakes.
module eth_tx_d64_props
  import eth_pkg::*;
  import eth_d64_pkg::*;
(
  input logic        clk_i,
  input logic [47:0] cfg_mac_i,
  input logic [31:0] cfg_ip_i,
  input logic [15:0] cfg_port_i,
  input logic        tx_valid_i,
  input udp_meta_t   tx_meta_i,
  input logic        tx_spoil_i,
  input logic [63:0] tx_data_i,
  input logic        arp_valid_i,
  input arp_frame_t  arp_i,
  input logic        ping_valid_i,
  input ping_t       ping_i,
  input logic [63:0] ping_data_i,
  input logic        out_ready_i,
  input logic [7:0]  any_word_i
);
  logic rst_ni, tx_ready_o, tx_next_o, arp_ready_o, ping_ready_o, ping_next_o, ping_done_o;
  logic out_valid_o, out_last_o, out_bad_o, idle_o;
  logic [3:0]  out_bytes_o;
  logic [63:0] out_o;
  eth_tx_d64 dut (.*);

  logic started_q = 1'b0;
  logic [7:0] word_q;  // the number of the watched word of data
  always_ff @(posedge clk_i) begin
    started_q <= 1'b1;
    if (!started_q) word_q <= any_word_i;
  end
  assign rst_ni = started_q;

  // ------------------------------------------------------------ what the ports say
  logic begins, ends, takes, udp;
  logic [10:0] len_d;
  assign begins = tx_ready_o || arp_ready_o || ping_ready_o;
  assign ends   = out_valid_o && out_ready_i && out_last_o;
  assign takes  = tx_next_o || ping_next_o;
  assign udp    = tx_ready_o;
  assign len_d  = tx_ready_o ? tx_meta_i.len[10:0] : ping_ready_o ? ping_i.len : '0;

  // The frame that was begun last, and that whose words leave: its last word may still wait.
  logic        made_q, left_q;          // words are made of a frame; one leaves
  logic        is_udp_q, was_udp_q;
  logic [10:0] len_q, len_out_q;        // bytes of data of each
  logic [7:0]  taken_q;                 // words of data taken
  logic [7:0]  sent_q;                  // words of the frame that left
  logic [63:0] value_q;                 // of the watched word
  logic [10:0] bytes;                   // of the frame that leaves
  logic [7:0]  words, data_words;
  logic        spoilt_q;                // at the last word's making
  assign bytes      = 11'd42 + len_out_q;
  assign words      = 8'((bytes + 11'd7) >> 3);
  assign data_words = 8'((len_q + 11'd7) >> 3);
  logic moves, makes_last;
  assign moves      = !out_valid_o || out_ready_i;
  assign makes_last = dut.run_q && moves && dut.last;
  always_ff @(posedge clk_i) begin
    if (!started_q) begin
      made_q  <= 1'b0;
      left_q  <= 1'b0;
      sent_q  <= '0;
      taken_q <= '0;
    end else begin
      if (begins) begin
        made_q   <= 1'b1;
        is_udp_q <= udp;
        len_q    <= len_d;
        taken_q  <= '0;
      end else if (makes_last) begin
        made_q <= 1'b0;
      end
      if (takes) taken_q <= taken_q + 8'd1;
      if (takes && taken_q == word_q) value_q <= tx_next_o ? tx_data_i : ping_data_i;
      // The first word goes into the register: from here on it is the frame that leaves.
      if (begins) begin
        len_out_q <= len_d;
        was_udp_q <= udp;
        left_q    <= 1'b1;
        sent_q    <= '0;
      end else if (out_valid_o && out_ready_i) begin
        sent_q <= sent_q + 8'd1;
        if (out_last_o) left_q <= 1'b0;
      end
      if (moves) spoilt_q <= tx_spoil_i;
    end
  end

  // ------------------------------------------------------------ fairness
  logic waited_q;  // a datagram began while another waited, and none of them since
  always_ff @(posedge clk_i) begin
    if (!started_q) waited_q <= 1'b0;
    else if (begins) waited_q <= tx_ready_o && (arp_valid_i || ping_valid_i);
  end

  // ------------------------------------------------------------ what the surroundings do
  // What is offered stays until it is taken.
  logic tx_waits_q, arp_waits_q, ping_waits_q;
  always_ff @(posedge clk_i) begin
    tx_waits_q   <= started_q && tx_valid_i && !tx_ready_o;
    arp_waits_q  <= started_q && arp_valid_i && !arp_ready_o;
    ping_waits_q <= started_q && ping_valid_i && !ping_ready_o;
  end
  always_comb begin
    assume (tx_meta_i.len <= 16'd1472);
    assume (ping_i.len <= 11'd1472);
    assume (!tx_waits_q || tx_valid_i);
    assume (!arp_waits_q || arp_valid_i);
    assume (!ping_waits_q || ping_valid_i);
  end
  // The MAC takes a frame's words without a pause from its first one on (xgmii_tx). That is not
  // needed here: any out_ready_i.

  // ------------------------------------------------------------ what must hold
  logic valid_q, ended_q;
  always_ff @(posedge clk_i) begin
    valid_q <= started_q && out_valid_o && !ends;
    ended_q <= started_q && ends;
  end
  // Where the watched word of data is: its first 6 bytes end word 5 + k, its last 2 begin the next.
  always_comb begin
    if (started_q) begin
      // One at a time, and only one that is there.
      assert (2'(tx_ready_o) + 2'(arp_ready_o) + 2'(ping_ready_o) <= 2'd1);
      assert (!tx_ready_o || tx_valid_i);
      assert (!arp_ready_o || arp_valid_i);
      assert (!ping_ready_o || ping_valid_i);
      assert (!(tx_next_o && ping_next_o));
      assert (!(tx_ready_o && waited_q && (arp_valid_i || ping_valid_i)));
      // No gap inside a frame.
      if (valid_q) assert (out_valid_o);
      // Length.
      if (out_valid_o) begin
        assert (left_q);
        assert (out_last_o == (sent_q == words - 8'd1));
        if (out_last_o) assert (out_bytes_o == 4'(bytes - 11'({sent_q, 3'd0})));
        if (out_last_o) assert (out_bad_o == (was_udp_q && spoilt_q));
      end
      // Each word of data once.
      if (takes) assert (made_q && taken_q < data_words);
      if (tx_next_o) assert (is_udp_q);
      if (makes_last) assert (taken_q + 8'(takes) == data_words);
      if (ping_done_o) assert (makes_last && !is_udp_q);
      // Any one is where it belongs.
      if (out_valid_o && sent_q == word_q + 8'd5 && word_q < 8'd184 && !ended_q &&
          11'({word_q, 3'd0}) < len_out_q) begin
        assert (out_o[63:16] == value_q[47:0]);
      end
      if (out_valid_o && sent_q == word_q + 8'd6 && word_q < 8'd184 &&
          11'({word_q, 3'd0}) + 11'd6 < len_out_q) begin
        assert (out_o[15:0] == value_q[63:48]);
      end
      cover (ends && was_udp_q && len_out_q == 11'd15 && !out_bad_o);
      cover (ends && !was_udp_q && len_out_q == 11'd9);
      cover (ends && was_udp_q && out_bad_o && len_out_q == 11'd1);
      cover (waited_q && arp_ready_o);
    end
  end

  // ------------------------------------------------------------ inside, for induction
  always_comb begin
    if (started_q) begin
      assert (made_q == (dut.run_q && dut.at_q != '0));
      if (dut.run_q && !made_q) begin
        assert (dut.kind_q != 2'd3);
        assert (dut.kind_q != 2'd0 || tx_waits_q);
        assert (dut.kind_q != 2'd1 || ping_waits_q);
        assert (dut.kind_q != 2'd2 || arp_waits_q);
        if (waited_q) assert (dut.kind_q != 2'd0);
      end
      assert (dut.at_q <= 3'd5);
      if (waited_q) assert (dut.other_turn_q && (arp_waits_q || ping_waits_q));
      if (made_q) begin
        assert (dut.head_q.len == len_q && len_q <= 11'd1472);
        assert ((dut.kind_q == 2'd0) == is_udp_q);
        assert (dut.kind_q != 2'd3);
        if (dut.kind_q == 2'd2) assert (len_q == '0);
        if (dut.at_q < 3'd5) assert (taken_q == '0);
        if (dut.at_q > 3'd1) begin
          assert (dut.more_q == (dut.left_q > 11'd2) && dut.last_q == (dut.left_q <= 11'd8));
        end
        if (dut.at_q > 3'd1 && dut.at_q < 3'd5) assert (dut.left_q == len_q + 11'd2);
        // What was taken and what is left of the frame.
        assert (11'(taken_q) <= 11'd184);
        if (dut.at_q == 3'd5) begin
          assert (dut.left_q != '0 && dut.left_q <= len_q + 11'd2);
          assert (dut.left_q + 11'({taken_q, 3'd0}) == len_q + 11'd2 ||
                  (dut.left_q <= 11'd2 && taken_q == data_words));
          assert (left_q && len_out_q == len_q && was_udp_q == is_udp_q);
          assert (out_valid_o && !out_last_o);
          assert (sent_q == 8'd4 + 8'((len_q + 11'd2 - dut.left_q) >> 3));
          assert (3'((len_q + 11'd2) - dut.left_q) == '0);
          if (word_q + 8'd1 == taken_q && word_q < 8'd184) assert (dut.rest_q == value_q[63:48]);
        end else if (dut.at_q != '0) begin
          assert (left_q && len_out_q == len_q && was_udp_q == is_udp_q);
          assert (out_valid_o && !out_last_o && sent_q == 8'(dut.at_q) - 8'd1);
        end
      end
      if (out_valid_o) begin
        assert (len_out_q <= 11'd1472);
        assert (sent_q < words);
        if (!out_last_o) assert (made_q && dut.at_q != '0);
      end else begin
        assert (!left_q || sent_q == words);
      end
      if (left_q) assert (out_valid_o);
    end
  end
endmodule
