// SPDX-License-Identifier: SHL-2.1
/// link_spread: one link or none, only one that can take the packet; one whenever all that are up can; and no
/// link gets further ahead of another than it may.
module link_spread_props #(
  parameter int unsigned MaxWords = 3,
  parameter int unsigned MaxAhead = 4
) (
  input logic       clk_i,
  input logic [2:0] up_i,
  input logic [2:0] free_i,
  input logic       req_valid_i,
  input logic [0:0] req_dest_i,
  input logic [1:0] req_words_i,
  // Any destination, and any two links; they stay.
  input logic [0:0] dest,
  input logic [1:0] one,
  input logic [1:0] other
);
  logic       rst_ni;
  logic [2:0] gnt_o;

  link_spread #(.NumLinks(3), .NumDests(2), .MaxWords(MaxWords), .MaxAhead(MaxAhead)) dut (.*);

  logic started_q = 1'b0;
  logic [4:0] chosen_q;
  always_ff @(posedge clk_i) begin
    started_q <= 1'b1;
    chosen_q  <= {dest, one, other};
  end
  assign rst_ni = started_q;

  // Words of `dest` that `one` has got more than `other` since both are up, on top of what is counted then.
  logic signed [5:0] counted, more_q;
  logic              mine, both;
  assign mine    = req_valid_i && gnt_o != '0 && req_dest_i == dest;
  assign both    = up_i[one] && up_i[other];
  assign counted = dut.used_q[dest] ?
      6'(dut.ahead_q[dest][one]) - 6'(dut.ahead_q[dest][other]) : '0;

  logic known_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      more_q  <= '0;
      known_q <= 1'b0;
    end else begin
      known_q <= both;
      if (both) begin
        more_q <= (known_q ? more_q : counted) +
                  (mine && gnt_o[one] ? 6'(req_words_i) : '0) -
                  (mine && gnt_o[other] ? 6'(req_words_i) : '0);
      end
    end
  end

  always_comb begin
    assume (one < 2'd3 && other < 2'd3 && one != other);
    if (started_q) assume (chosen_q == {dest, one, other});
    if (started_q) begin
      assume (req_words_i != '0);
      assert ((gnt_o & (gnt_o - 1'b1)) == '0);
      assert ((gnt_o & ~(up_i & free_i & {3{req_valid_i}})) == '0);
      if (req_valid_i && up_i != '0 && (up_i & ~free_i) == '0) assert (gnt_o != '0);
      // Balance, and that the counts are those of the words.
      if (known_q) begin
        assert (more_q <= 6'sd7 && more_q >= -6'sd7);
        assert (more_q == counted);
      end
      // Of links that could both take it the one with less gets it.
      if (mine && both && free_i[other] && counted > 0) assert (!gnt_o[one]);
      cover (known_q && more_q == 6'sd7);
      cover (req_valid_i && up_i == 3'b111 && free_i == 3'b001 && gnt_o == '0);
      cover (known_q && both && !free_i[other] && mine && gnt_o[one] && counted > 0);
    end
  end
endmodule
