// SPDX-License-Identifier: SHL-2.1
/// Positions of eth_rx_pos: those that a frame's bytes have without a tag.
///
///   Assumed   win_i has the two bytes that were accepted last, of a frame's third byte on
///   Proved    a byte's position is its number in the frame, or 4 less from 16 on where 12 and 13
///             are 81 00; a second tag changes nothing; tagged_o says which; at_o marks each
///             position from 4 to 43 that is accepted, one at most, and no other
module eth_rx_pos_props (
  input logic       clk_i,
  input logic       clear_i,
  input logic       accept_i,
  input logic [7:0] data_i
);
  logic rst_ni;
  logic started_q = 1'b0;
  always_ff @(posedge clk_i) started_q <= 1'b1;
  assign rst_ni = started_q;

  logic [15:0] win_q;
  logic [10:0] pos;
  logic        vlan;
  logic [43:0] at;
  eth_rx_pos dut (
    .clk_i,
    .rst_ni,
    .clear_i,
    .accept_i,
    .win_i   (win_q),
    .pos_o   (pos),
    .tagged_o(vlan),
    .at_o    (at)
  );

  // The frame as it is on the wire.
  logic [10:0] number_q;  // of the byte that comes
  logic        type_hi_q, type_q, tag_at_16_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      number_q    <= '0;
      type_hi_q   <= 1'b0;
      type_q      <= 1'b0;
      tag_at_16_q <= 1'b0;
    end else if (clear_i) begin
      number_q <= '0;
      type_q   <= 1'b0;
    end else if (accept_i) begin
      number_q <= number_q + 11'd1;
      if (number_q == 11'd12) type_hi_q <= data_i == 8'h81;
      if (number_q == 11'd13) type_q <= type_hi_q && data_i == 8'h00;
      if (number_q == 11'd16) tag_at_16_q <= data_i == 8'h81;
      if (number_q == 11'd17) tag_at_16_q <= tag_at_16_q && data_i == 8'h00;
    end
  end
  always_ff @(posedge clk_i) if (accept_i) win_q <= {win_q[7:0], data_i};

  always_comb begin
    if (rst_ni) begin
      assume (!(clear_i && accept_i));
      // Frames end before their numbers come again.
      assume (number_q < 11'd2040);

      assert (pos == number_q - (type_q && number_q >= 11'd16 ? 11'd4 : 11'd0));
      if (number_q >= 11'd15) assert (vlan == type_q);
      else assert (!vlan);
      for (int unsigned k = 0; k < 44; k++) begin
        assert (at[k] == (k >= 4 && accept_i && pos == 11'(k)));
      end
      // What makes the above inductive.
      if (number_q <= 11'd13) assert (!type_q);
      assert (dut.skip_q == (number_q == 11'd15 && type_q));
      if (number_q == 11'd13) assert (type_hi_q == (win_q[7:0] == 8'h81));
      if (number_q == 11'd14) assert (type_q == (win_q == 16'h8100));
    end
  end

  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      cover (accept_i && vlan && pos == 11'd16);
      cover (accept_i && vlan && pos == 11'd16 && tag_at_16_q);
      cover (accept_i && !vlan && pos == 11'd16);
    end
  end
endmodule
