// SPDX-License-Identifier: SHL-2.1
/// Receive side: checks a frame while it passes, pushes UDP payload, judges at the frame's end.
///
/// All state moves when a byte is accepted: while byte k is, `pos_q` is k and `win_q` holds bytes
/// k-4..k-1. Header fields are compared in that window, so nothing here is wider than 32 bits.
/// The sums run in eth_rx_sums.
/// `rem_q` counts the IPv4 total length down so that it is 7 at the first byte after the datagram:
/// then it equals the UDP length when byte 41 is accepted, and 3 or less at the frame's end means
/// that the datagram and an FCS fitted in.
/// A tag is taken out by its position (eth_rx_pos): only the least length knows of it.
///
///   Handshake   entries and payload words are pushed, never stalled. Each rx_start_o is followed
///               by exactly one rx_end_o: at the frame's end, at byte 1519 (with a tag 1523), or 64
///               cycles after the last byte of a frame that stopped without end. rx_refuse_i counts
///               in the cycle before rx_start_o
///   Latency     1 cycle from the entry that completes a word to rx_valid_o; 1 from the entry at
///               the end of a frame to rx_end_o; 1 from the entry of byte 43 to rx_start_o, 2
///               cycles before the first word at the earliest
///   Throughput  one byte a cycle
///   Broadcast   UDP to our port is also taken at 255.255.255.255 and at our address with every bit
///               outside cfg_netmask_i set, with rx_broadcast_o; it is for the service to say what
///               it answers there. Other broadcast IPv4, ping too, counts as filtered
///   Tags        one of 802.1Q is skipped, whatever its VLAN and priority; a second one, or of
///               EtherType 88A8, is another protocol
///   Soon        rx_soon_o stays low for a tagged frame under 68 bytes: it may be padded or not
///   Requests    arp_pending_o and icmp_pending_o stay high until *_done_i; meanwhile a further
///               request of that kind is dropped and counted, and its buffer is not written
///   Parameters  NumAllow 1..16; AnyLength 1: payload of any length, the last word filled up with
///               what follows
///   Not done    answers with a tag, a list of VLANs, IPv4 options and fragments, multicast, jumbo
///               frames
module eth_rx
  import eth_pkg::*;
#(
  parameter int unsigned NumAllow  = 4,
  parameter bit          AnyLength = 1'b0
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,

  input  logic [47:0]           cfg_mac_i,
  input  logic [31:0]           cfg_ip_i,
  input  logic [31:0]           cfg_netmask_i,
  input  logic [15:0]           cfg_port_i,
  input  allow_t [NumAllow-1:0] cfg_allow_i,

  // From the clock crossing
  input  logic                  in_valid_i,
  input  logic                  in_lost_i,
  input  logic                  in_dv_i,
  input  logic                  in_er_i,
  input  logic [7:0]            in_data_i,

  // To the UDP service
  output logic                  rx_start_o,
  output udp_meta_t             rx_meta_o,
  output logic                  rx_broadcast_o,
  output logic                  rx_valid_o,
  output logic [31:0]           rx_data_o,
  output logic                  rx_end_o,
  output logic                  rx_good_o,
  output logic                  rx_soon_o,      // a good rx_end_o is due in 2 cycles, but for FCS
  input  logic                  rx_refuse_i,

  // To the transmit side: requests to answer, and the bytes that the answers need
  output logic                  arp_pending_o,
  input  logic                  arp_done_i,
  output logic [7:0]            arp_tag_o,
  output logic                  arp_we_o,       // byte_o into the ARP memory
  output logic                  icmp_pending_o,
  input  logic                  icmp_done_i,
  output logic [7:0]            icmp_tag_o,
  output logic [10:0]           icmp_len_o,     // ICMP message in bytes
  output logic [16:0]           icmp_sum_o,     // carry and sum of FFFC, IPv4 length and addresses
  output logic [15:0]           icmp_csum_o,    // checksum field of the request
  output logic                  icmp_we_o,      // byte_o into the ICMP memory
  output arp_pkg::byte_t        byte_o,

  // Observation
  output logic                  verdict_valid_o,
  output eth_verdict_e          verdict_o,
  output logic                  first_o,        // first entry of a frame, tag on tag_o
  output logic                  last_o,         // end-of-frame entry, tag on tag_o
  output logic [7:0]            tag_o,
  output logic [7:0]            verdict_tag_o,
  output logic                  idle_o
);
  localparam logic [31:0] CrcResidue = 32'hDEBB20E3;
  localparam logic [10:0] MaxFrame   = 11'd1518;

  typedef enum logic [1:0] {
    StWait,      // between frames
    StPreamble,
    StFrame,
    StFlush      // already judged; ignore up to the end of frame
  } state_e;

  state_e      state_q, state_d;
  logic [10:0] pos_q, rem_q;
  logic [31:0] win_q, crc_q, crc_next;
  logic [7:0]  tag_q;
  logic [5:0]  stall_q;
  logic        vlan_q;  // a tag was seen; pos_q does not count it
  logic        accept, judge, clear;
  logic        end_entry, too_long, stalled, no_start;

  // ---------------------------------------------------------------------------------------------
  // Frame boundaries
  assign accept    = in_valid_i && in_dv_i && state_q == StFrame;
  assign end_entry = in_valid_i && !in_dv_i;
  assign too_long  = accept && pos_q == MaxFrame;
  assign stalled   = &stall_q;
  // A frame that ends, or goes wrong, before its start delimiter.
  assign no_start  = (state_q == StWait || state_q == StPreamble) && in_valid_i && in_dv_i &&
                     in_data_i != 8'h55 && in_data_i != 8'hD5;

  always_comb begin
    state_d = state_q;
    judge   = 1'b0;
    unique case (state_q)
      StWait: begin
        if (in_valid_i && in_dv_i) begin
          state_d = StPreamble;
          if (in_data_i == 8'hD5) state_d = StFrame;
        end
      end
      StPreamble: begin
        if (in_valid_i && in_dv_i && in_data_i == 8'hD5) state_d = StFrame;
      end
      default: ;
    endcase
    if (no_start || too_long || (stalled && state_q != StFlush)) begin
      state_d = StFlush;
      judge   = 1'b1;
    end
    if (end_entry) begin
      state_d = StWait;
      judge   = state_q == StPreamble || state_q == StFrame;
    end
  end

  // Flags of a frame are cleared while none is inside.
  assign clear = state_q == StWait || state_q == StPreamble;

  // `at[k]`: byte k is being accepted, win_q holds bytes k-4..k-1.
  /* verilator lint_off UNUSEDSIGNAL */  // not every byte is looked at
  logic [43:0] at;
  /* verilator lint_on UNUSEDSIGNAL */
  eth_rx_pos u_pos (
    .clk_i,
    .rst_ni,
    .clear_i (clear),
    .accept_i(accept),
    .win_i   (win_q[15:0]),
    .pos_o   (pos_q),
    .tagged_o(vlan_q),
    .at_o    (at)
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= StWait;
      tag_q   <= '0;
      stall_q <= '0;
    end else begin
      state_q <= state_d;
      if (judge) tag_q <= tag_q + 1'b1;
      if (in_valid_i || state_q == StWait || state_q == StFlush) stall_q <= '0;
      else                                                       stall_q <= stall_q + 1'b1;
    end
  end

  crc32_d8 u_crc (.crc_i(crc_q), .data_i(in_data_i), .crc_o(crc_next));

  always_ff @(posedge clk_i) begin
    if (accept) win_q <= {win_q[23:0], in_data_i};
    if (clear)       crc_q <= '1;
    else if (accept) crc_q <= crc_next;
  end

  // ---------------------------------------------------------------------------------------------
  // Header fields
  logic win_is_ip, win_is_subnet, win_is_mac_hi, win_is_ones;
  assign win_is_ip     = win_q == cfg_ip_i;
  assign win_is_subnet = win_q == (cfg_ip_i | ~cfg_netmask_i);
  assign win_is_mac_hi = win_q == cfg_mac_i[47:16];
  assign win_is_ones   = win_q[15:0] == 16'hFFFF;

  logic mac_own_q, mac_bc_q, mac_ok_q;
  logic arp_q, arp_ok_q, ip_q, udp_q, icmp_q;
  logic dst_bad_q, dst_bc_q, ip_bad_q, other_q, port_bad_q;
  logic l4_len_bad_q, unaligned_q, no_sum_q, refused_q;
  logic er_q, lost_q, started_q;

  udp_meta_t   meta_q;
  logic [10:0] l4_len_q;
  logic        ip_sum_ok, l4_sum_ok, l4_sum_ok_q, allowed_q, start, soon_q;

  always_ff @(posedge clk_i) begin
    if (at[4]) begin
      mac_own_q <= win_is_mac_hi;
      mac_bc_q  <= win_is_ones && win_q[31:16] == 16'hFFFF;
    end
    if (at[6]) begin
      mac_ok_q <= (mac_own_q && win_q[15:0] == cfg_mac_i[15:0]) || (mac_bc_q && win_is_ones);
    end
    if (at[10]) meta_q.mac[47:16] <= win_q;
    if (at[12] && !vlan_q) meta_q.mac[15:0] <= win_q[15:0];
    if (at[14]) begin
      arp_q <= win_q[15:0] == 16'h0806;
      ip_q  <= win_q[15:0] == 16'h0800;
    end
    if (at[18]) arp_ok_q <= win_q == 32'h0001_0800;
    if (at[22]) arp_ok_q <= arp_ok_q && win_q == 32'h0604_0001;
    if (at[42]) arp_ok_q <= arp_ok_q && win_is_ip;
    if (at[24]) begin
      udp_q  <= win_q[7:0] == 8'd17;
      icmp_q <= win_q[7:0] == 8'd1;
    end
    if (at[30]) meta_q.ip   <= win_q;
    if (at[34]) dst_bad_q   <= !(win_is_ip || win_is_subnet || (win_is_ones && win_q[31:16] == '1));
    if (at[34]) dst_bc_q    <= !win_is_ip;
    if (at[36]) meta_q.port <= win_q[15:0];
    if (at[36]) other_q     <= !udp_q && !(icmp_q && win_q[15:0] == 16'h0800);
    if (at[38]) port_bad_q  <= win_q[15:0] != cfg_port_i;
    // Broadcast is for the UDP service alone.
    if (at[39]) dst_bad_q   <= dst_bad_q || (dst_bc_q && (!udp_q || port_bad_q));
    if (at[41]) begin
      l4_len_q     <= rem_q;
      l4_len_bad_q <= rem_q[10:3] == '0 || (udp_q && win_q[23:8] != 16'(rem_q));
      unaligned_q  <= !AnyLength && rem_q[1:0] != '0;
    end
    if (at[42]) no_sum_q <= udp_q && win_q[15:0] == '0;
    l4_sum_ok_q <= l4_sum_ok;
  end
  assign meta_q.len = 16'(l4_len_q - 11'd8);
  assign meta_q.tag = tag_q;

  // Sticky within a frame
  always_ff @(posedge clk_i) begin
    if (state_q == StWait && !in_valid_i) begin
      er_q   <= 1'b0;
      lost_q <= 1'b0;
    end else if (in_valid_i) begin
      // The entry after a lost one carries the mark, also when that entry is the frame's end.
      er_q   <= (er_q && state_q != StWait) || (in_er_i && in_dv_i);
      lost_q <= (lost_q && state_q != StWait) || in_lost_i;
    end
    if (clear) begin
      ip_bad_q  <= 1'b0;
      refused_q <= 1'b0;
    end else begin
      if (at[16] && win_q[15:8] != 8'h45)  ip_bad_q <= 1'b1;
      if (at[20] && win_q[31:27] != '0)    ip_bad_q <= 1'b1;
      if (at[22] && win_q[13:0] != '0)     ip_bad_q <= 1'b1;
      if (at[36] && !ip_sum_ok)            ip_bad_q <= 1'b1;
      if (at[43] && rx_refuse_i)           refused_q <= 1'b1;
    end
  end

  // Allow-list: the source address is in meta_q from byte 31 on.
  eth_allow #(
    .NumAllow(NumAllow)
  ) u_allow (
    .clk_i,
    .cfg_allow_i,
    .ip_i     (meta_q.ip),
    .allowed_o(allowed_q)
  );

  // Under 64 bytes, of which a tag has four.
  logic too_short;
  assign too_short = pos_q[10:6] == '0 && !(vlan_q && pos_q[5:2] == '1);

  logic [16:0] l4_sum;
  eth_rx_sums u_sums (
    .clk_i,
    .clear_i (clear),
    .accept_i(accept),
    .at_i    (at),
    .pos_i   (pos_q),
    .win_i   (win_q),
    .icmp_i  (icmp_q),
    .rest_o  (rem_q),
    .ip_ok_o (ip_sum_ok),
    .l4_ok_o (l4_sum_ok),
    .l4_sum_o(l4_sum)
  );

  // ---------------------------------------------------------------------------------------------
  // Verdict
  logic headers_ok, arp_free_q, icmp_free_q, arp_taken, icmp_taken;

  // rem_q is 7, 6 or 5 where the last word ends 1, 2 or 3 bytes behind the datagram.
  logic word_whole;
  assign word_whole = rem_q[10:3] != '0 || (AnyLength && rem_q[2] && rem_q[1:0] != '0);

  assign headers_ok = mac_ok_q && ip_q && udp_q && !dst_bad_q && !ip_bad_q && !port_bad_q &&
                      !l4_len_bad_q && !unaligned_q && allowed_q;
  assign start      = at[43] && headers_ok && !rx_refuse_i;

  // What the headers and the datagram say is final three bytes before the frame's end. Judged
  // without an end entry means too long or stalled.
  eth_found_t found;
  assign found = '{
      mac_ok: mac_ok_q,
      arp: arp_q,
      arp_ok: arp_ok_q,
      arp_busy: !arp_free_q,
      ip: ip_q,
      dst_bad: dst_bad_q,
      ip_bad: ip_bad_q,
      other: other_q,
      allowed: allowed_q,
      udp: udp_q,
      port_bad: port_bad_q,
      l4_bad: l4_len_bad_q || !(l4_sum_ok_q || no_sum_q),
      unaligned: unaligned_q,
      refused: refused_q,
      icmp_busy: icmp_q && !icmp_free_q
  };
  eth_verdict u_verdict (
    .clk_i,
    .found_i  (found),
    .lost_i   (lost_q || (in_valid_i && in_lost_i)),
    .length_i (!end_entry || state_q != StFrame || too_short),
    .fcs_i    (er_q || crc_q != CrcResidue),
    .cut_i    (rem_q[10:2] != '0),
    .verdict_o
  );

  assign arp_taken  = verdict_valid_o && verdict_o == VerdictGood && arp_q;
  assign icmp_taken = verdict_valid_o && verdict_o == VerdictGood && ip_q && icmp_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      started_q       <= 1'b0;
      soon_q          <= 1'b0;
      rx_start_o      <= 1'b0;
      rx_valid_o      <= 1'b0;
      rx_end_o        <= 1'b0;
      verdict_valid_o <= 1'b0;
      arp_pending_o   <= 1'b0;
      icmp_pending_o  <= 1'b0;
    end else begin
      // The last byte but one, by the lengths of datagram and frame: four bytes of FCS, or of
      // padding and FCS, are behind the datagram. Positions do not count a tag.
      if (accept || clear) begin
        soon_q <= accept && started_q && ((rem_q == 11'd5 && pos_q >= 11'd62) ||
                                          (rem_q < 11'd5 && pos_q == 11'd62));
      end
      rx_start_o      <= start;
      rx_valid_o      <= accept && started_q && pos_q[1:0] == 2'd1 && word_whole;
      rx_end_o        <= judge && started_q;
      verdict_valid_o <= judge;
      if (judge)      started_q <= 1'b0;
      else if (start) started_q <= 1'b1;
      if (arp_done_i) arp_pending_o <= 1'b0;
      else if (arp_taken) arp_pending_o <= 1'b1;
      if (icmp_done_i) icmp_pending_o <= 1'b0;
      else if (icmp_taken) icmp_pending_o <= 1'b1;
    end
  end

  always_ff @(posedge clk_i) begin
    if (judge) verdict_tag_o <= tag_q;
    // A buffer that becomes free inside a frame stays unused until the next: it would be half full.
    if (clear) begin
      arp_free_q  <= !arp_pending_o && !arp_taken;
      icmp_free_q <= !icmp_pending_o && !icmp_taken;
    end
    if (arp_free_q && at[42]) arp_tag_o <= tag_q;
    if (icmp_free_q) begin
      if (at[35]) icmp_sum_o  <= l4_sum;
      if (at[38]) icmp_csum_o <= win_q[15:0];
      if (at[42]) icmp_len_o  <= l4_len_q;
      if (at[42]) icmp_tag_o  <= tag_q;
    end
  end

  assign rx_soon_o = soon_q && accept && (l4_sum_ok_q || no_sum_q);
  assign rx_meta_o = meta_q;
  assign rx_broadcast_o = dst_bc_q;
  assign rx_data_o = win_q;
  assign rx_good_o = verdict_o == VerdictGood;

  assign byte_o    = '{valid: accept, pos: pos_q, data: in_data_i};
  assign arp_we_o  = accept && arp_free_q && pos_q[10:4] == 7'd1;
  assign icmp_we_o = accept && icmp_free_q;

  assign first_o = in_valid_i && in_dv_i && state_q == StWait;
  assign last_o  = end_entry && (state_q == StPreamble || state_q == StFrame);
  assign tag_o   = tag_q;
  assign idle_o  = state_q == StWait && !in_valid_i && !verdict_valid_o;
endmodule
