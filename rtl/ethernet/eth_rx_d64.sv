// SPDX-License-Identifier: SHL-2.1
/// Receive side behind a 64-bit MAC: checks a frame while it passes, pushes UDP payload, judges at
/// the frame's end. What eth_rx does a byte at a time, eight bytes at a time.
///
/// `at` says which of the frame's first words is in word_i. Fields are compared as they pass: one
/// is at a fixed place in one word, but for addresses, which two words share. The sums of a
/// word's first and last two halves are registers; from them one sum of 20 bits runs over the IPv4
/// header, one of 26 bits over pseudo-header, UDP header and payload. They are folded once.
///
/// Of a frame with a tag, what follows it is half a word further on. The word with the tag counts
/// as the second one, and so does the next, which has the lower half of that and of its own; from
/// then on each word has the upper half of the last one. Behind a frame's last word at most four
/// bytes are left, which are of its FCS.
///
///   Handshake   words come from xgmii_rx, payload is pushed, never stalled. Each rx_start_o is
///               followed by exactly one rx_end_o. rx_refuse_i counts in the cycle before
///               rx_start_o. No two of rx_start_o, rx_valid_o and rx_end_o come in one cycle
///   Latency     1 cycle from word_i that completes 8 bytes of payload to rx_valid_o; rx_start_o
///               1 cycle before the first of them; 3 from end_valid_i to rx_end_o. Of a frame with
///               a tag, bytes 4 to 7 of word_i wait 1 cycle more for the rest of their word
///   Throughput  a word a cycle
///   Payload     any length; the last word is filled up with anything
///   Broadcast   as eth_rx
///   ARP         arp_valid_o: a strobe for a good request for our address, with the asker; while
///               arp_busy_i, requests are dropped and counted
///   Answers     arp_reply_o: a strobe for a good reply by ARP to us, from whomever
///   Ping        ping_start_o: a strobe, an echo request for us begins, with rx_meta_o, whose len
///               is that of its data, and its ICMP header in rx_data_o; ping_valid_o: 8 bytes of
///               its data there; then exactly one ping_end_o. While ping_busy_i, requests are
///               dropped and counted
///   Tags        as eth_rx
///   Parameters  NumAllow 1..16
///   Not done    IPv4 options and fragments, a list of VLANs, multicast, jumbo frames
module eth_rx_d64
  import eth_pkg::*;
#(
  parameter int unsigned NumAllow = 4
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,

  input  logic [47:0]           cfg_mac_i,
  input  logic [31:0]           cfg_ip_i,
  input  logic [31:0]           cfg_netmask_i,
  input  logic [15:0]           cfg_port_i,
  input  allow_t [NumAllow-1:0] cfg_allow_i,

  // From xgmii_rx
  input  logic                  word_valid_i,
  input  logic                  word_first_i,
  input  logic                  word_last_i,
  input  logic                  word_tag_i,
  input  logic [3:0]            word_bytes_i,
  input  logic [63:0]           word_i,
  input  logic                  end_valid_i,
  input  logic                  end_length_i,
  input  logic                  end_fcs_i,

  // To the UDP service
  output logic                  rx_start_o,
  output udp_meta_t             rx_meta_o,
  output logic                  rx_broadcast_o,
  output logic                  rx_valid_o,
  output logic [63:0]           rx_data_o,       // the first byte in [7:0]
  output logic                  rx_end_o,
  output logic                  rx_good_o,
  input  logic                  rx_refuse_i,

  // To the transmit side
  output logic                  arp_valid_o,
  output logic [47:0]           arp_mac_o,
  output logic [31:0]           arp_ip_o,
  input  logic                  arp_busy_i,
  output arp_pkg::answer_t      arp_reply_o,
  output logic                  ping_start_o,
  output logic                  ping_valid_o,
  output logic                  ping_end_o,
  output logic                  ping_good_o,     // with ping_end_o: all checks hold
  input  logic                  ping_busy_i,

  output logic                  verdict_valid_o,
  output eth_verdict_e          verdict_o,
  output logic                  idle_o
);
  localparam int unsigned TotalW = 11;   // of the IPv4 length
  localparam logic [TotalW-1:0] Headers = TotalW'(28);  // of IPv4 and UDP

  // ---------------------------------------------------------------- words
  logic [7:0] pos_q, pos;
  logic [5:0] at;      // word k of a frame is in word_i
  logic [5:1] next_q;  // comes next
  logic behind;        // one behind word 4 is in word_i
  logic vlan_q;        // the frame has a tag
  assign pos    = word_first_i ? 8'd0 : pos_q;
  assign at     = {next_q & {5{word_valid_i && !word_first_i}}, word_valid_i && word_first_i};
  assign behind = word_valid_i && !word_first_i && next_q[4:1] == '0;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      pos_q  <= '0;
      next_q <= '0;
      vlan_q <= 1'b0;
    end else if (word_valid_i) begin
      pos_q  <= pos + 8'd1;
      if (!word_tag_i) next_q <= at[4:0];
      vlan_q <= (vlan_q || word_tag_i) && !word_last_i;
    end
  end

  // What the frame has there without its tag.
  logic [31:0] held_q;
  logic [63:0] word;
  assign word = vlan_q ? {word_i[31:0], held_q} : word_i;
  always_ff @(posedge clk_i) held_q <= word_tag_i ? word_i[31:0] : word_i[63:32];

  // Big-endian halves of the word, and what of it is network byte order.
  logic [3:0][15:0] half;
  logic [63:0]      net;
  always_comb begin
    for (int unsigned i = 0; i < 4; i++) half[i] = {word[16*i+:8], word[16*i+8+:8]};
    net = {half[0], half[1], half[2], half[3]};
  end

  // A tag is behind word 0: its fields need no choice.
  logic [63:0] first;
  always_comb begin
    for (int unsigned i = 0; i < 8; i++) first[56-8*i+:8] = word_i[8*i+:8];
  end

  // ---------------------------------------------------------------- fields
  logic mac_ok_q, arp_q, arp_ok_q, arp_answers_q, ip_q, udp_q, icmp_q, echo_q, ip_bad_q;
  logic [4:0] arp_part_q;  // of a good request, by where its fields are
  logic arp_is_answer_q;   // a reply in place of the request
  logic dst_own, dst_bc, dst_bad, port_bad_q, short_q, len_bad_q, no_sum_q, refused_q, allowed;
  logic started_q, pinging_q, ping_busy_q, len_bad, other;
  logic [15:0] dst_hi_q;
  logic [7:0]  tag_q;
  logic [TotalW-1:0] total, total_q, l4_len_q;
  logic [11:0] pseudo_q;
  udp_meta_t   meta_q;
  logic [31:0] dst, subnet;
  logic [1:0] dst_own_q, dst_subnet_q, dst_ones_q;  // of the lower and the upper half
  logic ip_sum_ok;

  // Each comparison ends in a register of its own: the choice of the word takes what time is left.
  assign dst      = {dst_hi_q, half[0]};
  assign subnet   = cfg_ip_i | ~cfg_netmask_i;
  assign dst_own  = &dst_own_q;
  assign dst_bc = !dst_own;
  assign len_bad = short_q || (udp_q && len_bad_q);
  assign other   = !udp_q && !(icmp_q && echo_q);
  // Broadcast is for the UDP service alone.
  assign dst_bad  = !dst_own && (!(&dst_subnet_q || &dst_ones_q) || !udp_q || port_bad_q);
  assign total      = half[0][TotalW-1:0];  // in word 2

  always_ff @(posedge clk_i) begin
    if (at[0]) begin
      mac_ok_q          <= first[63:16] == cfg_mac_i || first[63:16] == '1;
      meta_q.mac[47:32] <= first[15:0];
      refused_q         <= 1'b0;
    end
    if (at[1]) begin
      meta_q.mac[31:0] <= net[63:32];
      arp_q            <= half[2] == 16'h0806;
      ip_q             <= half[2] == 16'h0800;
      arp_part_q[0]    <= half[3] == 16'h0001;
      ip_bad_q         <= half[3][15:8] != 8'h45;
    end
    if (at[2]) begin
      total_q  <= total;
      l4_len_q <= total - TotalW'(20);
      pseudo_q <= 12'(total) - 12'd3;  // protocol and length: 17, and 20 less
      udp_q    <= half[3][7:0] == 8'd17;
      icmp_q   <= half[3][7:0] == 8'd1;
      arp_part_q[2:1] <= {net[63:40] == 24'h0800_06, net[39:16] == 24'h04_0001};
      arp_is_answer_q <= net[39:16] == 24'h04_0002;
      arp_mac_o[47:32] <= half[3];
      if (half[0][15:TotalW] != '0 || half[2][13:0] != '0) ip_bad_q <= 1'b1;
    end
    if (at[3]) begin
      meta_q.ip       <= {half[1], half[2]};
      dst_hi_q        <= half[3];
      arp_mac_o[31:0] <= net[63:32];
      arp_ip_o        <= net[31:0];
    end
    if (at[4]) begin
      meta_q.port <= half[1];
      meta_q.len  <= 16'(total_q - Headers);
      port_bad_q  <= half[2] != cfg_port_i;
      short_q     <= total_q < Headers;
      len_bad_q   <= half[3] != 16'(l4_len_q);
      echo_q      <= half[1] == 16'h0800;
      for (int unsigned i = 0; i < 2; i++) begin
        dst_own_q[i]    <= dst[16*i+:16] == cfg_ip_i[16*i+:16];
        dst_subnet_q[i] <= dst[16*i+:16] == subnet[16*i+:16];
        dst_ones_q[i]   <= dst[16*i+:16] == '1;
      end
      arp_part_q[3] <= half[3] == cfg_ip_i[31:16];
    end
    if (at[5]) begin
      no_sum_q  <= half[0] == '0;
      ping_busy_q <= ping_busy_i;
      arp_part_q[4] <= half[0] == cfg_ip_i[15:0];
      refused_q <= rx_refuse_i;
      if (!ip_sum_ok) ip_bad_q <= 1'b1;
    end
    arp_ok_q      <= &arp_part_q;
    arp_answers_q <= (&{arp_part_q[4:2], arp_part_q[0]}) && arp_is_answer_q;
  end

  eth_allow #(
    .NumAllow(NumAllow)
  ) u_allow (
    .clk_i,
    .cfg_allow_i,
    .ip_i     (meta_q.ip),
    .allowed_o(allowed)
  );

  // ---------------------------------------------------------------- sums
  /// Bits 0 to 18 of the carries of three numbers: 20 halves of 16 bits have none from bit 19.
  function automatic logic [18:0] majority(logic [19:0] a, logic [19:0] b, logic [19:0] c);
    return 19'((a & b) | (a & c) | (b & c));
  endfunction

  // The IPv4 header is bytes 14 to 33: the last half of word 1, words 2 and 3, the first of word 4.
  logic [19:0] ip_sum_q;
  logic [TotalW-1:0] left_q;  // bytes of the datagram from this word on; from word 3 on
  logic [7:0]  keep_q;        // bytes of this word that are summed
  logic [3:0][15:0] part;
  logic [1:0][16:0] word_sum_q;  // of a word's halves: the first two, the last two
  logic [19:0] ip_last;          // what word 4 has of the header
  logic [19:0] ip_save, ip_carry, ip_save_more, ip_carry_more;
  logic        l4_begin_q;
  logic [19:0] l4_first_q;
  logic [25:0] l4_sum_q;
  logic        l4_sum_ok;

  always_comb begin
    for (int unsigned i = 0; i < 4; i++) begin
      // The odd last byte is alone in its half.
      part[i] = half[i] & {{8{keep_q[2*i]}}, {8{keep_q[2*i+1]}}};
    end
  end

  // Carries are saved, so that the half that comes last passes one adder.
  assign ip_last       = at[4] ? 20'(half[0]) : '0;
  assign ip_save       = ip_sum_q ^ 20'(word_sum_q[0]) ^ 20'(word_sum_q[1]);
  assign ip_carry      = {majority(ip_sum_q, 20'(word_sum_q[0]), 20'(word_sum_q[1])), 1'b0};
  assign ip_save_more  = ip_save ^ ip_carry ^ ip_last;
  assign ip_carry_more = {majority(ip_save, ip_carry, ip_last), 1'b0};

  always_ff @(posedge clk_i) begin
    if (at[1]) ip_sum_q <= 20'(half[3]);
    else if (at[3] || at[4]) ip_sum_q <= ip_save_more + ip_carry_more;
    if (at[2]) left_q <= total < TotalW'(10) ? '0 : total - TotalW'(10);
    else if (word_valid_i) left_q <= left_q < TotalW'(8) ? '0 : left_q - TotalW'(8);
    // Words 2 to 4 count whole; what is behind the datagram does not.
    for (int unsigned i = 0; i < 8; i++) begin
      keep_q[i] <= !(at[4] || behind) || left_q > TotalW'(8 + i);
    end

    for (int unsigned i = 0; i < 2; i++) begin
      word_sum_q[i] <= word_valid_i ? 17'(part[2*i]) + 17'(part[2*i+1]) : '0;
    end
    l4_begin_q <= at[3];
    // Word 3 has the IPv4 check sum, whose complement takes it out again, and both addresses but
    // for a half. Of the pseudo-header, protocol and length are added. ICMP has none: there the
    // header's words before are added, so that all of its sum is in, which is none.
    l4_first_q <= icmp_q ? ip_save + ip_carry : 20'(pseudo_q) + 20'({2'd0, ~half[0]});
    l4_sum_q   <= (l4_begin_q ? 26'(l4_first_q) : l4_sum_q) +
                  26'(word_sum_q[0]) + 26'(word_sum_q[1]);
  end
  // Folded to 0xFFFF: then no bit is carried from the one part to the other.
  assign ip_sum_ok = (&ip_sum_q[15:4]) && ip_sum_q[3:0] == ~ip_sum_q[19:16];
  assign l4_sum_ok = (&l4_sum_q[15:10]) && l4_sum_q[9:0] == ~l4_sum_q[25:16];

  // ---------------------------------------------------------------- payload
  // A word of it is bytes 2..7 of one word and 0..1 of the next. It goes on with the next, or in
  // its cycle where none follows.
  logic [47:0] rest_q;
  logic        rest_valid_q, start, send, ping_start;
  logic [TotalW-1:0] send_q;  // bytes of payload not sent

  assign start = at[5] && mac_ok_q && ip_q && udp_q && !dst_bad && !ip_bad_q && ip_sum_ok &&
                 !port_bad_q && !len_bad && allowed && !rx_refuse_i;
  assign ping_start = at[5] && ip_q && icmp_q && echo_q && !ping_busy_i;
  assign send  = rest_valid_q && send_q != '0;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      rest_valid_q <= 1'b0;
      rx_start_o   <= 1'b0;
      rx_valid_o   <= 1'b0;
      ping_start_o <= 1'b0;
      ping_valid_o <= 1'b0;
      send_q       <= '0;
    end else begin
      rest_valid_q <= behind;
      rx_start_o   <= start;
      rx_valid_o   <= send && started_q;
      ping_start_o <= ping_start;
      ping_valid_o <= send && pinging_q;
      if (start || ping_start) send_q <= meta_q.len[TotalW-1:0];
      else if (send) send_q <= send_q < TotalW'(8) ? '0 : send_q - TotalW'(8);
    end
  end
  always_ff @(posedge clk_i) begin
    rest_q    <= word[63:16];
    rx_data_o <= {word[15:0], rest_q};
  end

  // ---------------------------------------------------------------- verdict
  eth_found_t found;
  assign found = '{
      mac_ok: mac_ok_q,
      arp: arp_q,
      arp_ok: arp_ok_q,
      arp_busy: arp_busy_i,
      ip: ip_q,
      dst_bad: dst_bad,
      ip_bad: ip_bad_q,
      other: other,
      allowed: allowed,
      udp: udp_q,
      port_bad: port_bad_q,
      l4_bad: len_bad || !(l4_sum_ok || (udp_q && no_sum_q)),
      unaligned: 1'b0,
      refused: refused_q,
      icmp_busy: icmp_q && ping_busy_q
  };

  // The frame's end waits for the sum of its last word. The next frame's first word comes 2 cycles
  // behind this one's last at the earliest, so what its headers say is held until it is judged.
  // That word may be its last one too: whether this frame is cut is known before it counts.
  logic [1:0] end_q, end_length_q, end_fcs_q;
  logic       arp_end_q, cut_q;
  logic [10:0] seen_q;   // bytes of the frame
  logic [11:0] need_q;   // that its datagram and an FCS take
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      end_q           <= '0;
      started_q       <= 1'b0;
      pinging_q       <= 1'b0;
      tag_q           <= '0;
      verdict_valid_o <= 1'b0;
      rx_end_o        <= 1'b0;
      ping_end_o      <= 1'b0;
    end else begin
      end_q           <= {end_q[0], end_valid_i};
      verdict_valid_o <= end_q[1];
      rx_end_o        <= end_q[1] && started_q;
      ping_end_o      <= end_q[1] && pinging_q;
      if (end_q[1]) tag_q <= tag_q + 8'd1;
      if (start) started_q <= 1'b1;
      else if (end_q[1]) started_q <= 1'b0;
      if (ping_start) pinging_q <= 1'b1;
      else if (end_q[1]) pinging_q <= 1'b0;
    end
  end
  always_ff @(posedge clk_i) begin
    end_length_q <= {end_length_q[0], end_length_i};
    end_fcs_q    <= {end_fcs_q[0], end_fcs_i};
    arp_end_q    <= arp_q;
    cut_q        <= 12'(seen_q) < need_q;
    if (word_valid_i && word_last_i) seen_q <= {pos, 3'd0} + 11'(word_bytes_i);
    if (at[3]) need_q <= 12'(total_q) + (vlan_q ? 12'd22 : 12'd18);
  end

  eth_verdict u_verdict (
    .clk_i,
    .found_i (found),
    .lost_i  (1'b0),
    .length_i(end_length_q[1]),
    .fcs_i   (end_fcs_q[1]),
    .cut_i   (cut_q),
    .verdict_o
  );

  assign meta_q.tag     = tag_q;
  assign rx_meta_o      = meta_q;
  assign rx_broadcast_o = dst_bc;
  assign rx_good_o      = verdict_o == VerdictGood;
  assign ping_good_o    = verdict_o == VerdictGood;
  assign arp_reply_o    = '{
      valid: verdict_valid_o && verdict_o == VerdictOther && arp_end_q && arp_answers_q,
      mac: arp_mac_o, ip: arp_ip_o
  };
  assign arp_valid_o    = verdict_valid_o && verdict_o == VerdictGood && arp_end_q;
  assign idle_o         = !word_valid_i && !end_valid_i && end_q == '0 && !verdict_valid_o;

  prim_assert u_one_at_a_time (
    .clk_i,
    .rst_ni,
    .ok_i(2'(rx_start_o) + 2'(rx_valid_o) + 2'(rx_end_o) <= 2'd1)
  );
endmodule
