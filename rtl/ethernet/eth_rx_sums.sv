// SPDX-License-Identifier: SHL-2.1
/// Checksums of a frame that eth_rx receives: one over the IPv4 header, one over pseudo-header and
/// UDP, or over ICMP. Counts the IPv4 total length down.
///
///   Handshake   accept_i: byte pos_i of the frame is accepted, win_i holds the two before it;
///               at_i[k]: it is byte k; clear_i: no frame is inside
///   Length      rest_o is 7 at the first byte after the datagram
///   Latency     the sums hold a word's carry a cycle after it; the last word of a sum is added
///               when the byte behind it is accepted
///   Throughput  one byte a cycle. A carry is added with the next word: no end-around path
///   Parameters  none
///   Not done    the verdict
module eth_rx_sums (
  input  logic        clk_i,
  input  logic        clear_i,
  input  logic        accept_i,
  input  logic [43:0] at_i,
  input  logic [10:0] pos_i,
  input  logic [31:0] win_i,
  input  logic        icmp_i,
  output logic [10:0] rest_o,
  output logic        ip_ok_o,
  output logic        l4_ok_o,
  output logic [16:0] l4_sum_o   // carry and sum so far
);
  logic [15:0] ip_acc_q, l4_acc_q;
  logic        ip_carry_q, l4_carry_q;
  logic [15:0] l4_word;
  logic [10:0] rem_q;
  logic        l4_add, datagram_tail, ip_part_q, l4_part_q;

  // rem_q is 6 one byte past the end: there the odd last byte is alone in its word.
  assign datagram_tail = rem_q[10:3] != '0 || rem_q[2:1] == 2'b11;
  assign l4_word       = {win_i[15:8], l4_part_q && rem_q == 11'd6 ? 8'h00 : win_i[7:0]};
  assign l4_add        = at_i[18] || at_i[28] || at_i[30] || at_i[32] || at_i[34] ||
                         (accept_i && l4_part_q && !pos_i[0] && datagram_tail);

  always_ff @(posedge clk_i) begin
    if (at_i[14]) begin
      ip_acc_q   <= '0;
      ip_carry_q <= 1'b0;
    end else if (accept_i && !pos_i[0] && ip_part_q) begin
      {ip_carry_q, ip_acc_q} <= {1'b0, ip_acc_q} + {1'b0, win_i[15:0]} + 17'(ip_carry_q);
    end
    if (at_i[14]) begin
      // Pseudo-header: protocol, and IPv4 length less 20. The length is added at byte 18.
      l4_acc_q   <= 16'hFFFC;
      l4_carry_q <= 1'b0;
    end else if (at_i[35] && icmp_i) begin
      l4_acc_q   <= '0;
      l4_carry_q <= 1'b0;
    end else if (l4_add) begin
      {l4_carry_q, l4_acc_q} <= {1'b0, l4_acc_q} + {1'b0, l4_word} + 17'(l4_carry_q);
    end
    // Bytes 16..34 are accepted with ip_part_q, 36 and up with l4_part_q.
    if (clear_i || at_i[35]) ip_part_q <= 1'b0;
    else if (at_i[14])       ip_part_q <= 1'b1;
    if (clear_i)             l4_part_q <= 1'b0;
    else if (at_i[35])       l4_part_q <= 1'b1;
    if (at_i[20])                       rem_q <= win_i[26:16];
    else if (accept_i && rem_q != '0)  rem_q <= rem_q - 1'b1;
  end

  assign ip_ok_o  = ip_carry_q ? ip_acc_q == 16'hFFFE : ip_acc_q == 16'hFFFF;
  assign l4_ok_o  = l4_carry_q ? l4_acc_q == 16'hFFFE : l4_acc_q == 16'hFFFF;
  assign l4_sum_o = {l4_carry_q, l4_acc_q};
  assign rest_o   = rem_q;

  logic unused;
  assign unused = &{1'b0, at_i, pos_i[10:1], win_i};
endmodule
