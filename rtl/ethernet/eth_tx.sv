// SPDX-License-Identifier: SHL-2.1
/// Transmit side: picks a reply, builds preamble, headers, checksums, padding, FCS and gap.
///
/// The preamble needs no data, so it starts in the cycle after a reply is seen; while it is sent,
/// the three stages behind it fill: header or buffer byte, byte, output register. The checksums are
/// summed one 16-bit operand a cycle while the Ethernet header passes.
///
///   Handshake   tx_valid_i must not fall before tx_ready_o. tx_meta_i and tx_sum_i are used in
///               place and hold until tx_ready_o, at header byte 40. Then tx_next_o pops payload
///               words, show-ahead, 4 cycles apart: the first one must be there when tx_valid_i
///               rises, and each next one in the cycle after the pop before it
///   Cut-through tx_plain_i, beside tx_meta_i: the UDP check sum is sent as 0, none (RFC 768), for
///               a payload whose sum is not known yet. tx_spoil_i, a level from the last tx_next_o
///               on until the frame's end: its FCS is sent wrong, for a payload that is not whole
///   Latency     1 cycle from tx_valid_i (idle, gap over) to the first preamble byte on gmii_txd_o
///   Early       tx_soon_i, a strobe beside tx_soon_tag_i: tx_valid_i may follow within 4 cycles.
///               The preamble begins at once if nothing else is to be sent. If tx_valid_i does not
///               follow, it ends after 4 bytes, before a start delimiter, and a gap follows: for
///               the receiver that is no frame
///   Throughput  line rate: preamble 8, frame, gap exactly 12 cycles
///   Fairness    UDP first, but while ARP or ICMP waits, at most one UDP frame starts before one of
///               them does; those two alternate. So each waits for at most two UDP frames
///   Done        arp_done_o and icmp_done_o pulse when the last byte of the request has been read
///   Parameters  none
///   Not done    tx_er, pause frames, fragments; a UDP payload over 1472 bytes
module eth_tx
  import eth_pkg::*;
(
  input  logic        clk_i,
  input  logic        rst_ni,

  output logic [7:0]  gmii_txd_o,
  output logic        gmii_tx_en_o,

  input  logic [47:0] cfg_mac_i,
  input  logic [31:0] cfg_ip_i,
  input  logic [15:0] cfg_port_i,

  // From the UDP service
  input  logic        tx_valid_i,
  output logic        tx_ready_o,
  input  udp_meta_t   tx_meta_i,
  input  logic [15:0] tx_sum_i,
  input  logic        tx_plain_i,
  input  logic        tx_spoil_i,
  input  logic [31:0] tx_data_i,
  input  logic        tx_soon_i,
  input  logic [7:0]  tx_soon_tag_i,
  output logic        tx_next_o,

  // ARP reply, or request; arp_data_i answers arp_addr_o in the next cycle
  input  logic        arp_valid_i,
  input  logic        arp_ask_i,
  output logic        arp_done_o,
  input  logic [7:0]  arp_tag_i,
  output logic [3:0]  arp_addr_o,
  input  logic [7:0]  arp_data_i,

  // ICMP echo reply; icmp_data_i answers icmp_addr_o in the next cycle
  input  logic        icmp_valid_i,
  output logic        icmp_done_o,
  input  logic [7:0]  icmp_tag_i,
  input  logic [10:0] icmp_len_i,
  input  logic [16:0] icmp_sum_i,
  input  logic [15:0] icmp_csum_i,
  output logic [10:0] icmp_addr_o,
  input  logic [7:0]  icmp_data_i,

  // Observation
  output logic        first_o,  // first preamble byte is on the pins
  output logic        last_o,   // last FCS byte is on the pins
  output logic [7:0]  tag_o,
  output logic        idle_o
);
  typedef enum logic [1:0] {KindUdp, KindIcmp, KindArp} kind_e;
  typedef enum logic [1:0] {SelHeader, SelArp, SelIcmp, SelPayload} sel_e;

  // One's-complement constants of the IPv4 header (version 4, 5 words, don't fragment, 64 hops).
  localparam logic [15:0] IpConstUdp  = 16'hC525;  // 4500 + 4000 + 4011 + 20 for the header
  localparam logic [15:0] IpConstIcmp = 16'hC504;  // 4500 + 4000 + 4001 - FFFC of icmp_sum
  localparam logic [15:0] UdpConst    = 16'h3AEB;  // protocol 17 - IpConstUdp: from IPv4 to UDP sum

  // ---------------------------------------------------------------------------------------------
  // Arbitration
  logic  last2_q;
  logic  run_q, tail_q, idle, start, other_waits, other_turn_q, arp_first_q;
  kind_e kind_q, kind_d;
  logic  is_udp, is_arp;

  assign is_udp      = kind_q == KindUdp;
  assign is_arp      = kind_q == KindArp;
  assign idle        = !run_q && !tail_q;
  assign other_waits = arp_valid_i || icmp_valid_i;
  assign start       = idle && (tx_valid_i || other_waits);

  // A preamble without its datagram.
  logic early, early_q, drop;
  logic [1:0] early_count_q;
  assign early = idle && !start && tx_soon_i;
  assign drop  = early_q && !tx_valid_i && early_count_q == 2'd3;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) early_q <= 1'b0;
    else if (early) early_q <= 1'b1;
    else if (tx_valid_i || drop) early_q <= 1'b0;
  end
  always_ff @(posedge clk_i) early_count_q <= early ? '0 : early_count_q + 1'b1;

  always_comb begin
    kind_d = KindIcmp;
    if (tx_valid_i && !(other_turn_q && other_waits))       kind_d = KindUdp;
    else if (arp_valid_i && (arp_first_q || !icmp_valid_i)) kind_d = KindArp;
  end

  // ---------------------------------------------------------------------------------------------
  // Stage 0: idx_q counts -5..-1 while the stages wait for the preamble, then the frame's bytes.
  logic [10:0] idx_q, len_q, count_q, len_d;
  logic        body_q, l4_q, ended_q, min_q, last0, data_last;

  assign len_d = is_udp ? tx_meta_i.len[10:0] + 11'd8 :
                 is_arp ? 11'd8 : icmp_len_i;

  assign data_last = l4_q && count_q == 11'd1;
  assign last0     = body_q && min_q && (ended_q || data_last);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      run_q        <= 1'b0;
      body_q       <= 1'b0;
      other_turn_q <= 1'b0;
      arp_first_q  <= 1'b0;
      kind_q       <= KindUdp;
    end else if (early) begin
      run_q        <= 1'b1;
      kind_q       <= KindUdp;
      other_turn_q <= 1'b0;
    end else if (start) begin
      run_q        <= 1'b1;
      kind_q       <= kind_d;
      other_turn_q <= kind_d == KindUdp && other_waits;
      if (kind_d != KindUdp) arp_first_q <= kind_d == KindIcmp;
    end else begin
      if (last0)                      body_q <= 1'b0;
      else if (run_q && idx_q == '1)  body_q <= 1'b1;
      if (last2_q || drop) run_q <= 1'b0;
    end
  end

  always_ff @(posedge clk_i) begin
    if (start || early) idx_q <= 11'h7FB;
    else if (run_q) idx_q <= idx_q + 1'b1;
    if (run_q && !body_q && idx_q[10]) begin
      len_q   <= len_d;
      count_q <= len_d;
      l4_q    <= 1'b0;
      ended_q <= 1'b0;
      min_q   <= 1'b0;
    end else if (body_q) begin
      if (idx_q == 11'd33) l4_q    <= 1'b1;
      if (idx_q == 11'd58) min_q   <= 1'b1;
      if (data_last)       ended_q <= 1'b1;
      if (l4_q)            count_q <= count_q - 1'b1;
    end
    if (early) begin
      tag_o <= tx_soon_tag_i;
    end else if (start) begin
      unique case (kind_d)
        KindUdp: tag_o <= tx_meta_i.tag;
        KindArp: tag_o <= arp_tag_i;
        default: tag_o <= icmp_tag_i;
      endcase
    end
  end

  assign tx_ready_o  = body_q && kind_q == KindUdp && idx_q == 11'd40;
  assign arp_done_o  = body_q && kind_q == KindArp && data_last && !ended_q;
  assign icmp_done_o = body_q && kind_q == KindIcmp && data_last && !ended_q;

  // ---------------------------------------------------------------------------------------------
  // Checksums: first the IPv4 header's, kept in ip_sum_q; then on from there to UDP's, or anew for
  // ICMP's, which is the request's plus 0800 (the type goes from 8 to 0).
  logic [15:0] op_d, op_q, acc_q, ip_sum_q, l4_csum_q;
  logic        carry_q;

  always_comb begin
    op_d = '0;
    if (body_q && idx_q[10:4] == '0) begin
      unique case (idx_q[3:0])
        4'd0:  op_d = is_udp ? cfg_ip_i[31:16] : icmp_sum_i[15:0];
        4'd1:  op_d = is_udp ? cfg_ip_i[15:0] : 16'(icmp_sum_i[16]);
        4'd2:  op_d = is_udp ? IpConstUdp : IpConstIcmp;
        4'd3:  op_d = is_udp ? tx_meta_i.ip[31:16] : '0;
        4'd4:  op_d = is_udp ? tx_meta_i.ip[15:0] : '0;
        4'd5:  op_d = is_udp ? 16'(len_q) : '0;
        4'd9:  op_d = is_udp ? 16'(len_q) : 16'h0800;
        4'd10: op_d = is_udp ? cfg_port_i : icmp_csum_i;
        4'd11: op_d = is_udp ? tx_meta_i.port : '0;
        4'd12: op_d = is_udp ? tx_sum_i : '0;
        4'd13: op_d = is_udp ? UdpConst : '0;
        default: ;  // carries settle: two cycles always suffice
      endcase
    end
  end

  always_ff @(posedge clk_i) begin
    op_q <= op_d;
    if (!body_q || (idx_q == 11'd9 && kind_q == KindIcmp)) begin
      {carry_q, acc_q} <= '0;
    end else begin
      {carry_q, acc_q} <= {1'b0, acc_q} + {1'b0, op_q} + 17'(carry_q);
    end
    if (body_q && idx_q == 11'd9) ip_sum_q <= acc_q;
    // A UDP checksum of 0 would mean "none".
    if (kind_q == KindIcmp)        l4_csum_q <= acc_q;
    else if (is_udp && tx_plain_i) l4_csum_q <= '0;
    else                           l4_csum_q <= acc_q == '1 ? '1 : ~acc_q;
  end

  // ---------------------------------------------------------------------------------------------
  // Header bytes, and where each byte comes from
  /* verilator lint_off ASCRANGE */  // in the order of the wire
  // verilog_lint: waive packed-dimensions-range-ordering
  logic [0:47][7:0] header;
  /* verilator lint_on ASCRANGE */
  logic [5:0][7:0] header_lane_q;  // its bytes 0, 8, .. 40, each plus the next index modulo 8
  logic [7:0]  header_q;
  logic [2:0]  next_lane;
  logic [15:0] total_len_q;
  sel_e        sel_d, sel_q;
  logic        valid1_q, last1_q;
  logic [1:0]  lane1_q;
  logic        payload_last1_q;

  always_comb begin
    header        = '0;
    header[0:5]   = tx_meta_i.mac;
    header[6:11]  = cfg_mac_i;
    header[12:13] = is_arp ? 16'h0806 : 16'h0800;
    if (is_arp) begin
      header[14:21] = {48'h0001_0800_0604, 14'd0, !arp_ask_i, arp_ask_i};
      header[22:27] = cfg_mac_i;
      header[28:31] = cfg_ip_i;
    end else begin
      header[14:15] = 16'h4500;
      header[16:17] = total_len_q;
      header[20:21] = 16'h4000;
      header[22:23] = is_udp ? 16'h4011 : 16'h4001;
      header[24:25] = ~ip_sum_q;
      header[26:29] = cfg_ip_i;
      header[30:33] = tx_meta_i.ip;
      header[34:35] = is_udp ? cfg_port_i : 16'h0000;
      header[36:37] = is_udp ? tx_meta_i.port : l4_csum_q;
      header[38:39] = 16'(len_q);
      header[40:41] = l4_csum_q;
    end
  end

  assign next_lane = idx_q[2:0] + 3'd1;
  always_ff @(posedge clk_i) begin
    for (int unsigned g = 0; g < 6; g++) header_lane_q[g] <= header[8*g+32'(next_lane)];
    // Zero from byte 42 on: the padding of a short frame.
    header_q <= idx_q[5:3] > 3'd5 ? 8'h00 : header_lane_q[idx_q[5:3]];
  end

  assign arp_addr_o  = idx_q[3:0] + 4'd6;

  // One index ahead, for a register behind the block memory: its byte for index i is its frame byte
  // i + 6 for the destination MAC, i - 4 for the destination IP, i for the message.
  assign icmp_addr_o = l4_q ? idx_q + 11'd1 :
                       body_q && idx_q[5:4] != '0 ? idx_q - 11'd3 : idx_q + 11'd7;

  always_comb begin
    sel_d = SelHeader;
    unique case (kind_q)
      KindArp: if (idx_q < 11'd6 || idx_q >= 11'd32) sel_d = SelArp;
      KindUdp: if (idx_q >= 11'd42) sel_d = SelPayload;
      default: begin
        if (idx_q < 11'd6 || (idx_q >= 11'd30 && idx_q < 11'd34) || idx_q >= 11'd38) begin
          sel_d = SelIcmp;
        end
      end
    endcase
    if (ended_q) sel_d = SelHeader;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      valid1_q <= 1'b0;
      last1_q  <= 1'b0;
    end else begin
      valid1_q <= body_q;
      last1_q  <= last0;
    end
  end
  always_ff @(posedge clk_i) begin
    total_len_q     <= 16'(len_q) + 16'd20;
    sel_q           <= sel_d;
    lane1_q         <= idx_q[1:0];
    payload_last1_q <= data_last;
  end

  // ---------------------------------------------------------------------------------------------
  // Stage 1 to 2: payload bytes start at index 42, so lane 2 is a word's first byte.
  logic [7:0] byte_q, icmp_data_q;
  logic       valid2_q;

  assign tx_next_o = valid1_q && sel_q == SelPayload && (lane1_q == 2'd1 || payload_last1_q);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      valid2_q <= 1'b0;
      last2_q  <= 1'b0;
    end else begin
      valid2_q <= valid1_q;
      last2_q  <= last1_q;
    end
  end
  always_ff @(posedge clk_i) begin
    icmp_data_q <= icmp_data_i;
    unique case (sel_q)
      SelHeader: byte_q <= header_q;
      SelArp:    byte_q <= arp_data_i;
      SelIcmp:   byte_q <= icmp_data_q;
      SelPayload: begin
        unique case (lane1_q)
          2'd2: byte_q <= tx_data_i[31:24];
          2'd3: byte_q <= tx_data_i[23:16];
          2'd0: byte_q <= tx_data_i[15:8];
          2'd1: byte_q <= tx_data_i[7:0];
        endcase
      end
    endcase
  end

  // ---------------------------------------------------------------------------------------------
  // Output register, FCS and gap. tail_q: 4 cycles of FCS, 12 of gap.
  logic [31:0] crc_q, crc_next;
  logic [3:0]  tail_count_q;
  logic        fcs;

  crc32_d8 u_crc (.crc_i(crc_q), .data_i(byte_q), .crc_o(crc_next));

  assign fcs = tail_q && tail_count_q[3:2] == '0;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      tail_q       <= 1'b0;
      tail_count_q <= '0;
      gmii_tx_en_o <= 1'b0;
      first_o      <= 1'b0;
      last_o       <= 1'b0;
    end else begin
      if (last2_q || drop) tail_q <= 1'b1;
      else if (&tail_count_q) tail_q <= 1'b0;
      // Behind a preamble alone there is a gap, and no FCS.
      tail_count_q <= drop ? 4'd4 : tail_q ? tail_count_q + 1'b1 : '0;
      gmii_tx_en_o <= start || early || (run_q && !drop) || fcs;
      first_o      <= start || early;
      last_o       <= tail_q && tail_count_q == 4'd3;
    end
  end

  always_ff @(posedge clk_i) begin
    if (valid2_q) crc_q <= crc_next;
    else if (fcs) crc_q <= crc_q >> 8;
    else          crc_q <= '1;
    if (valid2_q)               gmii_txd_o <= byte_q;
    else if (fcs)               gmii_txd_o <= is_udp && tx_spoil_i ? crc_q[7:0] : ~crc_q[7:0];
    else if (valid1_q)          gmii_txd_o <= 8'hD5;
    else if (start || early || (run_q && !drop)) gmii_txd_o <= 8'h55;
    else                        gmii_txd_o <= 8'h00;
  end

  assign idle_o = idle && !start && !early;
endmodule
