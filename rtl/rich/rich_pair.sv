// SPDX-License-Identifier: SHL-2.1
/// The candidates of a hit: of its first and last best cell the mean, if they are near each other,
/// else both.
///
///   Handshake   valid_i with best_i and tag_i, not stalled; valid_o, tag_o, pair_o behind it.
///               Configuration: centres, written while nothing is inside
///   Contract    near is below 30 mm in |x| + |y| + |r|;
///               pair_o's circles are as rich_cover takes them
///   Latency     6 cycles
///   Throughput  one a cycle
///   Parameters  TagWidth 1.. of what comes out with its cells
///   Not done    flow control
module rich_pair
  import rich_pkg::*;
#(
  parameter int unsigned TagWidth = 1
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  input  logic                   cfg_we_i,
  input  memory_e                cfg_memory_i,
  input  logic    [        15:0] cfg_addr_i,
  input  logic    [        63:0] cfg_data_i,
  input  logic                   valid_i,
  input  logic    [TagWidth-1:0] tag_i,
  input  best_t                  best_i,
  output logic                   valid_o,
  output logic    [TagWidth-1:0] tag_o,
  output pair_t                  pair_o
);
  localparam int unsigned Stages = 6;

  // Two read ports, and a register behind each: block memories are slow to their outputs.
  place_t centres_q[2**CentreWidth];
  place_t read_a_q, read_b_q, a_q, b_q;
  always_ff @(posedge clk_i) begin
    if (cfg_we_i && cfg_memory_i == MemCentres) begin
      centres_q[cfg_addr_i[CentreWidth-1:0]] <= cfg_data_i[15:0];
    end
    read_a_q <= centres_q[best_i.first[CellWidth-1:$clog2(Radii)]];
    read_b_q <= centres_q[best_i.last[CellWidth-1:$clog2(Radii)]];
    a_q      <= read_a_q;
    b_q      <= read_b_q;
  end

  best_t [Stages-2:0] best_q;
  logic [Stages-1:0] valid_q;
  logic [Stages-1:0][TagWidth-1:0] tag_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) valid_q <= '0;
    else valid_q <= {valid_q[Stages-2:0], valid_i};
  end
  always_ff @(posedge clk_i) begin
    best_q <= {best_q[Stages-3:0], best_i};
    tag_q  <= (Stages * TagWidth)'({tag_q, tag_i});
  end

  // The mean's coordinates are sums: lengths are in halves of the cells' steps from here on.
  logic [2:0] ra, rb;
  logic signed [8:0] ua, va, ub, vb, du, dv;
  logic signed [3:0] dr;
  assign ra = best_q[1].first[2:0];
  assign rb = best_q[1].last[2:0];
  assign ua = 9'(signed'(a_q.x));
  assign va = 9'(signed'(a_q.y));
  assign ub = 9'(signed'(b_q.x));
  assign vb = 9'(signed'(b_q.y));
  assign du = ua - ub;
  assign dv = va - vb;
  assign dr = signed'({1'b0, ra}) - signed'({1'b0, rb});

  logic [8:0] width_q, height_q;
  logic [3:0] depth_q;
  circle_t mean_q, first_q, second_q;
  always_ff @(posedge clk_i) begin
    width_q  <= du < 0 ? -du : du;
    height_q <= dv < 0 ? -dv : dv;
    depth_q  <= dr < 0 ? -dr : dr;
    mean_q   <= '{u: ua + ub, v: va + vb, radius: 4'(ra) + 4'(rb)};
    first_q  <= '{u: ua <<< 1, v: va <<< 1, radius: {ra, 1'b0}};
    second_q <= '{u: ub <<< 1, v: vb <<< 1, radius: {rb, 1'b0}};
  end

  // 13 |dx| + 22 |dr|: twice the mm of the two. Far cells do not matter: 6 columns or 4 rows are
  // too many. A row is 11.26 mm high: what is left of 30 mm, doubled.
  logic [9:0] length_q, left_q;
  circle_t mean_qq, first_qq, second_qq, second_qqq, chosen_q;
  logic near, two_q;
  assign near = length_q < left_q;
  always_ff @(posedge clk_i) begin
    length_q <= 10'(width_q[2:0]) * 10'd13 + 10'(depth_q) * 10'd22;
    unique case (height_q)
      9'd0: left_q <= 10'd60;
      9'd1: left_q <= 10'd38;
      9'd2: left_q <= 10'd15;
      default: left_q <= '0;
    endcase
    if (width_q > 9'd6) left_q <= '0;
    mean_qq    <= mean_q;
    first_qq   <= first_q;
    second_qq  <= second_q;
    two_q      <= !near;
    chosen_q   <= near ? mean_qq : first_qq;
    second_qqq <= second_qq;
  end

  pair_t pair_q;
  always_ff @(posedge clk_i) begin
    pair_q.best   <= best_q[Stages-2];
    pair_q.two    <= two_q;
    pair_q.first  <= scaled(chosen_q);
    pair_q.second <= scaled(second_qqq);
  end
  assign pair_o  = pair_q;
  assign valid_o = valid_q[Stages-1];
  assign tag_o   = tag_q[Stages-1];

  logic unused;
  assign unused = &{1'b0, cfg_addr_i[15:CentreWidth], cfg_data_i[63:16]};
endmodule
