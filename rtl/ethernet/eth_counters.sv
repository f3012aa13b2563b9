// SPDX-License-Identifier: SHL-2.1
/// Counts what became of frames. One cycle behind its inputs; counters wrap.
module eth_counters
  import eth_pkg::*;
(
  input  logic          clk_i,
  input  logic          rst_ni,
  input  logic          verdict_valid_i,
  input  eth_verdict_e  verdict_i,
  input  logic          tx_arp_i,
  input  logic          tx_icmp_i,
  input  logic          tx_frame_i,
  output eth_counters_t counters_o
);
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      counters_o <= '0;
    end else begin
      if (verdict_valid_i) begin
        unique case (verdict_i)
          VerdictOverflow:  counters_o.rx_overflow  <= counters_o.rx_overflow + 1'b1;
          VerdictLength:    counters_o.rx_length    <= counters_o.rx_length + 1'b1;
          VerdictFcs:       counters_o.rx_fcs       <= counters_o.rx_fcs + 1'b1;
          VerdictFiltered:  counters_o.rx_filtered  <= counters_o.rx_filtered + 1'b1;
          VerdictIp:        counters_o.rx_ip        <= counters_o.rx_ip + 1'b1;
          VerdictOther:     counters_o.rx_other     <= counters_o.rx_other + 1'b1;
          VerdictDenied:    counters_o.rx_denied    <= counters_o.rx_denied + 1'b1;
          VerdictPort:      counters_o.rx_port      <= counters_o.rx_port + 1'b1;
          VerdictL4:        counters_o.rx_l4        <= counters_o.rx_l4 + 1'b1;
          VerdictUnaligned: counters_o.rx_unaligned <= counters_o.rx_unaligned + 1'b1;
          VerdictRefused:   counters_o.rx_refused   <= counters_o.rx_refused + 1'b1;
          VerdictBusy:      counters_o.rx_busy      <= counters_o.rx_busy + 1'b1;
          default:          counters_o.rx_good      <= counters_o.rx_good + 1'b1;
        endcase
      end
      if (tx_arp_i)   counters_o.tx_arp    <= counters_o.tx_arp + 1'b1;
      if (tx_icmp_i)  counters_o.tx_icmp   <= counters_o.tx_icmp + 1'b1;
      if (tx_frame_i) counters_o.tx_frames <= counters_o.tx_frames + 1'b1;
    end
  end
endmodule
