// SPDX-License-Identifier: SHL-2.1
/// Counts the bytes of a frame as if it had no tag (IEEE 802.1Q, EtherType 8100).
///
/// Whether a frame has a tag is seen with the first byte behind 8100. It and the next one still get
/// 14 and 15; the EtherType behind the tag then gets 12 and 13 again, and all that follows has the
/// place that it has without a tag.
///
///   Handshake   accept_i: the byte at pos_o is accepted, win_i holds the two before it; clear_i:
///               no frame is inside; not both
///   Order       0, 1, .. without a tag; with one 0 to 15, then from 12 on. A second tag is no tag:
///               it is counted               (proved: formal/ethernet/eth_rx_pos.sby)
///   Latency     pos_o is that of the byte to be accepted next; tagged_o is high from the byte
///               behind the tag's first one on
///   Throughput  a byte a cycle
///   Parameters  none
///   Not done    the tag's VLAN and priority are not looked at; EtherType 88A8 is no tag
module eth_rx_pos (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        clear_i,
  input  logic        accept_i,
  input  logic [15:0] win_i,
  output logic [10:0] pos_o,
  output logic        tagged_o,
  output logic [43:0] at_o       // at_o[k]: byte k is being accepted, for k from 4 on
);
  localparam logic [15:0] TypeVlan = 16'h8100;
  localparam logic [10:0] PosType  = 11'd12;

  logic tag, skip_q;  // the tag's first byte is at pos_o; its second one
  assign tag = pos_o == PosType + 11'd2 && win_i == TypeVlan && !tagged_o;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      pos_o    <= '0;
      tagged_o <= 1'b0;
      skip_q   <= 1'b0;
    end else if (clear_i) begin
      pos_o    <= '0;
      tagged_o <= 1'b0;
      skip_q   <= 1'b0;
    end else if (accept_i) begin
      pos_o    <= skip_q ? PosType : pos_o + 1'b1;
      tagged_o <= tagged_o || tag;
      skip_q   <= tag;
    end
  end

  always_comb begin
    at_o = '0;
    for (int unsigned k = 4; k < 44; k++) begin
      at_o[k] = accept_i && pos_o[10:6] == '0 && pos_o[5:0] == 6'(k);
    end
  end
endmodule
