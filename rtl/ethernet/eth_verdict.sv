// SPDX-License-Identifier: SHL-2.1
/// What became of a frame: the first verdict of eth_pkg's list that applies.
///
/// Two steps. What headers and sums say is final some cycles before the frame's end and takes a
/// register; what only the end says comes on top.
///
///   Handshake   none: both steps run in each cycle
///   Latency     2 cycles from found_i to verdict_o, 1 from the other inputs
///   Parameters  none
///   Not done    counting: eth_counters
module eth_verdict
  import eth_pkg::*;
(
  input  logic         clk_i,
  input  eth_found_t   found_i,
  input  logic         lost_i,    // the clock crossing overflowed inside the frame
  input  logic         length_i,  // no start delimiter, too short, too long, or without end
  input  logic         fcs_i,     // wrong FCS, or an error of the line
  input  logic         cut_i,     // the frame is shorter than its IPv4 datagram
  output eth_verdict_e verdict_o
);
  eth_verdict_e verdict, early, early_q;
  logic to_our_ip_q;

  always_comb begin
    early = VerdictGood;
    if (!found_i.mac_ok || (found_i.ip && found_i.dst_bad))        early = VerdictFiltered;
    else if (found_i.arp && found_i.arp_ok && found_i.arp_busy)    early = VerdictBusy;
    else if (found_i.arp && found_i.arp_ok)                        early = VerdictGood;
    else if (!found_i.ip)                                          early = VerdictOther;
    else if (found_i.ip_bad)                                       early = VerdictIp;
    else if (found_i.other)                                        early = VerdictOther;
    else if (!found_i.allowed)                                     early = VerdictDenied;
    else if (found_i.udp && found_i.port_bad)                      early = VerdictPort;
    else if (found_i.l4_bad)                                       early = VerdictL4;
    else if (found_i.udp && found_i.unaligned)                     early = VerdictUnaligned;
    else if (found_i.udp && found_i.refused)                       early = VerdictRefused;
    else if (found_i.icmp_busy)                                    early = VerdictBusy;
  end

  always_comb begin
    verdict = early_q;
    if (lost_i)                    verdict = VerdictOverflow;
    else if (length_i)             verdict = VerdictLength;
    else if (fcs_i)                verdict = VerdictFcs;
    else if (to_our_ip_q && cut_i) verdict = VerdictIp;
  end

  always_ff @(posedge clk_i) begin
    early_q     <= early;
    to_our_ip_q <= found_i.mac_ok && found_i.ip && !found_i.dst_bad;
    verdict_o   <= verdict;
  end
endmodule
