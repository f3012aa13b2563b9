// SPDX-License-Identifier: SHL-2.1
/// Which hits a candidate covers: hits whose distance from its circle is small.
///
///   Handshake   valid_i with the candidate and the places, not stalled;
///               valid_o with near_o behind it
///   Contract    a hit at (36 x, 36 y sqrt 3) / 4 mm is near a circle around (13 u, 13 v sqrt 3) /
///               4 mm if A^2 + 3 B^2 with A = 36 x - 13 u and B = 36 y - 13 v is within bounds_i
///   Latency     3 cycles
///   Throughput  one candidate a cycle
///   Parameters  none
///   Not done    flow control
module rich_cover
  import rich_pkg::*;
(
  input  logic                      clk_i,
  input  logic                      rst_ni,
  input  logic                      valid_i,
  input  logic signed [       12:0] u13_i,     // 13 times the centre, quarters of the grid's pitch
  input  logic signed [       12:0] v13_i,
  input  bounds_t                   bounds_i,
  input  place_t      [MaxHits-1:0] places_i,  // stable until valid_o
  output logic                      valid_o,
  output logic        [MaxHits-1:0] near_o
);
  localparam int unsigned W = 14;  // |A|, |B| <= 36 * 128 + 13 * 256 < 2**13

  logic [2:0] valid_q;
  bounds_t bounds_q, bounds_qq;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) valid_q <= '0;
    else valid_q <= {valid_q[1:0], valid_i};
  end
  always_ff @(posedge clk_i) begin
    bounds_q  <= bounds_i;
    bounds_qq <= bounds_q;
  end

  for (genvar h = 0; h < int'(MaxHits); h++) begin : gen_hit
    logic signed [W-1:0] a_q, b_q;
    logic [2*W-1:0] aa_q, bb_q, square;
    logic near_q;
    assign square = aa_q + (bb_q << 1) + bb_q;

    always_ff @(posedge clk_i) begin
      // 36 as 32 and 4: a multiplier for each hit would be slower, and as many more.
      a_q <= (W'(places_i[h].x) <<< 5) + (W'(places_i[h].x) <<< 2) - W'(u13_i);
      b_q <= (W'(places_i[h].y) <<< 5) + (W'(places_i[h].y) <<< 2) - W'(v13_i);
      aa_q <= (2 * W)'(a_q) * (2 * W)'(a_q);
      bb_q <= (2 * W)'(b_q) * (2 * W)'(b_q);
      near_q <= square >= (2 * W)'(bounds_qq.low) && square < (2 * W)'(bounds_qq.high);
    end
    assign near_o[h] = near_q;
  end
  assign valid_o = valid_q[2];
endmodule
