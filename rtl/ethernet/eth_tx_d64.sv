// SPDX-License-Identifier: SHL-2.1
/// Transmit side in front of a 64-bit MAC: frames of a UDP service, of ARP and of ICMP echo, eight
/// bytes a cycle. What eth_tx does a byte at a time; preamble, padding and FCS are xgmii_tx's.
///
/// All three have the same shape: 42 bytes of headers, which are five words and two bytes, and data
/// behind them. So each word of data is the upper quarter of one and three of the next. The IPv4
/// header's sum takes three registers while the three words before it go out.
///
///   Handshake   tx_valid_i must not fall before tx_ready_o, which takes tx_meta_i. Then tx_next_o
///               takes a word of payload, at most one a cycle and from 5 cycles behind tx_ready_o
///               on; the word must be there in that cycle. arp_*, ping_* the same. out_*: as
///               xgmii_tx takes a frame
///   Check sum   of UDP: 0, none (RFC 768), for a payload whose sum is not known yet
///   Spoil       tx_spoil_i, a level, in the cycle of the last tx_next_o or before and until then:
///               the frame gets a wrong FCS, for a payload that is not whole
///   Latency     tx_valid_i to out_valid_o 2 cycles
///   Throughput  a word a cycle; 2 cycles between frames, as many as the MAC's gap takes at least
///   Fairness    as eth_tx: while ARP or ICMP waits, at most one UDP frame starts before one of
///               them does; those two alternate
///   Parameters  none
///   Not done    fragments; a payload over 1472 bytes
module eth_tx_d64
  import eth_pkg::*;
  import eth_d64_pkg::*;
(
  input  logic        clk_i,
  input  logic        rst_ni,

  input  logic [47:0] cfg_mac_i,
  input  logic [31:0] cfg_ip_i,
  input  logic [15:0] cfg_port_i,

  // From the UDP service
  input  logic        tx_valid_i,
  output logic        tx_ready_o,
  input  udp_meta_t   tx_meta_i,
  input  logic        tx_spoil_i,
  input  logic [63:0] tx_data_i,    // the first byte in [7:0]
  output logic        tx_next_o,

  input  logic        arp_valid_i,
  output logic        arp_ready_o,
  input  arp_frame_t  arp_i,

  input  logic        ping_valid_i,
  output logic        ping_ready_o,
  input  ping_t       ping_i,
  input  logic [63:0] ping_data_i,  // the first byte in [7:0]
  output logic        ping_next_o,
  output logic        ping_done_o,  // strobe: the last word of data has been taken

  // To the MAC
  output logic        out_valid_o,
  input  logic        out_ready_i,
  output logic        out_last_o,
  output logic        out_bad_o,
  output logic [3:0]  out_bytes_o,
  output logic [63:0] out_o,        // the first byte in [7:0]
  output logic        idle_o
);
  typedef enum logic [1:0] {KindUdp, KindIcmp, KindArp} kind_e;
  typedef struct packed {
    logic             ask;   // of ARP
    logic [47:0]      mac;
    logic [31:0]      ip;
    logic [10:0]      len;   // of the data
    logic [3:0][15:0] l4;    // header of UDP or ICMP, the first half in [3]
  } head_t;

  // IPv4 header (version 4, 5 words, don't fragment, 64 hops) and 28 bytes: 4500, 4000, 4011, 1C.
  localparam logic [16:0] IpConstUdp  = 17'h0C52D;
  localparam logic [16:0] IpConstIcmp = 17'h0C51D;
  localparam logic [10:0] Headers     = 11'd28;  // of IPv4 and UDP, or ICMP

  // ---------------------------------------------------------------- arbitration
  logic [2:0] at_q;  // of the word that goes into the register; 5: and all behind it
  logic  run_q, start, take, next, other_waits, other_turn_q, arp_first_q;
  kind_e kind_d, kind_q;
  head_t head_d, head_q;
  assign other_waits = arp_valid_i || ping_valid_i;
  assign start       = !run_q && (tx_valid_i || other_waits);
  always_comb begin
    kind_d = KindIcmp;
    if (tx_valid_i && !(other_turn_q && other_waits))       kind_d = KindUdp;
    else if (arp_valid_i && (arp_first_q || !ping_valid_i)) kind_d = KindArp;
    unique case (kind_q)
      KindUdp: head_d = '{
          ask: 1'b0, mac: tx_meta_i.mac, ip: tx_meta_i.ip, len: tx_meta_i.len[10:0],
          l4: {cfg_port_i, tx_meta_i.port, 16'd0, 16'd0}  // its length comes later
      };
      KindIcmp: head_d = '{
          ask: 1'b0, mac: ping_i.mac, ip: ping_i.ip, len: ping_i.len,
          l4: {16'd0, ping_i.csum, ping_i.id_seq}
      };
      default: head_d = '{
          ask: arp_i.ask, mac: arp_i.mac, ip: arp_i.ip, len: '0, l4: '0
      };
    endcase
  end
  // A head is taken with its first word, so that what is chosen is known a cycle before.
  assign take         = run_q && next && at_q == '0;
  assign tx_ready_o   = take && kind_q == KindUdp;
  assign ping_ready_o = take && kind_q == KindIcmp;
  assign arp_ready_o  = take && kind_q == KindArp;

  // ---------------------------------------------------------------- words
  logic [10:0] left_q;   // bytes of the frame from word 5 on
  logic        more_q;   // more than the two before the data
  logic        last_q;   // no more than a word
  logic [15:0] rest_q;   // the bytes before this word's data, the first in [7:0]
  logic        body, last, is_arp, pull;
  logic [63:0] net, word, data;
  logic [15:0] ip_csum, total_q, l4_len_q;

  assign next   = !out_valid_o || out_ready_i;
  assign is_arp = kind_q == KindArp;
  assign body   = at_q == 3'd5;
  assign last   = body && last_q;
  assign pull   = run_q && next && body && more_q;
  assign tx_next_o   = pull && kind_q == KindUdp;
  assign ping_next_o = pull && kind_q == KindIcmp;
  assign ping_done_o = run_q && next && last && kind_q == KindIcmp;
  assign data        = kind_q == KindIcmp ? ping_data_i : tx_data_i;

  always_comb begin
    unique case (at_q)
      3'd0: net = {head_d.mac, cfg_mac_i[47:32]};
      3'd1: net = {cfg_mac_i[31:0], is_arp ? 32'h0806_0001 : 32'h0800_4500};
      3'd2: net = is_arp ? {46'(48'h0800_0604_0000 >> 2), !head_q.ask, head_q.ask,
                            cfg_mac_i[47:32]} :
                  {total_q, 32'h0000_4000, kind_q == KindUdp ? 16'h4011 : 16'h4001};
      3'd3: net = {is_arp ? cfg_mac_i[31:0] : {ip_csum, cfg_ip_i[31:16]},
                   is_arp ? cfg_ip_i : {cfg_ip_i[15:0], head_q.ip[31:16]}};
      default: net = is_arp ? {head_q.mac, head_q.ip[31:16]} :
                     {head_q.ip[15:0], head_q.l4[3:2],
                      kind_q == KindUdp ? l4_len_q : head_q.l4[1]};
    endcase
    for (int unsigned i = 0; i < 8; i++) word[8*i+:8] = net[56-8*i+:8];
    if (body) word = {data[47:0], rest_q};
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      run_q        <= 1'b0;
      at_q         <= '0;
      other_turn_q <= 1'b0;
      arp_first_q  <= 1'b0;
      out_valid_o  <= 1'b0;
      out_last_o   <= 1'b0;
    end else begin
      if (start) begin
        run_q <= 1'b1;
        at_q  <= '0;
      end else if (run_q && next) begin
        if (last) run_q <= 1'b0;
        if (!body) at_q <= at_q + 3'd1;
      end
      if (take) begin
        other_turn_q <= kind_q == KindUdp && other_waits;
        if (kind_q != KindUdp) arp_first_q <= kind_q == KindIcmp;
      end
      if (next) begin
        out_valid_o <= run_q;
        out_last_o  <= run_q && last;
      end
    end
  end
  always_ff @(posedge clk_i) begin
    if (start) kind_q <= kind_d;
    if (take) head_q <= head_d;
    if (!body) begin
      left_q <= head_q.len + 11'd2;
      more_q <= head_q.len != '0;
      last_q <= head_q.len <= 11'd6;
    end else if (run_q && next) begin
      left_q <= left_q - 11'd8;
      more_q <= left_q > 11'd10;
      last_q <= left_q <= 11'd16;
    end
    if (next) begin
      rest_q <= body ? data[63:48] :
                is_arp ? {head_q.ip[7:0], head_q.ip[15:8]} :
                {head_q.l4[0][7:0], head_q.l4[0][15:8]};
      out_o       <= word;
      out_bytes_o <= left_q[3:0];
      out_bad_o   <= kind_q == KindUdp && tx_spoil_i;
    end
  end

  // ---------------------------------------------------------------- the IPv4 header's sum
  logic [16:0] own_q, peer_q, rest_sum_q, fold_q;
  logic [15:0] fold_more_q;
  logic [18:0] sum_q;
  always_ff @(posedge clk_i) begin
    total_q    <= 16'(head_q.len + Headers);
    l4_len_q   <= 16'(head_q.len) + 16'd8;
    own_q      <= 17'(cfg_ip_i[31:16]) + 17'(cfg_ip_i[15:0]);
    if (at_q == '0) begin
      peer_q     <= 17'(head_d.ip[31:16]) + 17'(head_d.ip[15:0]);
      rest_sum_q <= (kind_q == KindUdp ? IpConstUdp : IpConstIcmp) + 17'(head_d.len);
    end
    sum_q      <= 19'(own_q) + 19'(peer_q) + 19'(rest_sum_q);
    // Once as it is and once with the carry that this sum may have.
    fold_q      <= 17'(sum_q[15:0]) + 17'(sum_q[18:16]);
    fold_more_q <= sum_q[15:0] + 16'(sum_q[18:16]) + 16'd1;
  end
  assign ip_csum = ~(fold_q[16] ? fold_more_q : fold_q[15:0]);

  assign idle_o = !run_q && !tx_valid_i && !other_waits && !out_valid_o;

  logic unused;
  assign unused = ^tx_meta_i;
endmodule
