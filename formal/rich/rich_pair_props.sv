// SPDX-License-Identifier: SHL-2.1
/// The candidates of a hit are the mean of its two cells where they are nearer than 30 mm, and else
/// both, in the units of rich_cover, six cycles later; tag and cells come with them.
///
/// Any centres, which stay. The distance is the sum of the differences in x, y and radius: 6.5 mm a
/// column, 11.26 mm a row, 11 mm a radius.
module rich_pair_props
  import rich_pkg::*;
(
  input logic       clk_i,
  input logic       valid_i,
  input logic [1:0] tag_i,
  input best_t      best_i
);
  localparam int unsigned Stages = 6;

  logic started_q = 1'b0;
  logic rst_ni;
  always_ff @(posedge clk_i) started_q <= 1'b1;
  assign rst_ni = started_q;

  logic valid_o;
  logic [1:0] tag_o;
  pair_t pair_o;
  rich_pair #(
    .TagWidth(2)
  ) dut (
    .clk_i,
    .rst_ni,
    .cfg_we_i(1'b0),
    .cfg_memory_i(MemCentres),
    .cfg_addr_i('0),
    .cfg_data_i('0),
    .valid_i,
    .tag_i,
    .best_i,
    .valid_o,
    .tag_o,
    .pair_o
  );

  place_t a, b;
  assign a = dut.centres_q[best_i.first[CellWidth-1:3]];
  assign b = dut.centres_q[best_i.last[CellWidth-1:3]];

  function automatic int distance(int one, int other);
    return one < other ? other - one : one - other;
  endfunction

  int ax, ay, ar, bx, by, br, micrometres;
  assign ax = int'(signed'(a.x));
  assign ay = int'(signed'(a.y));
  assign ar = int'({29'd0, best_i.first[2:0]});
  assign bx = int'(signed'(b.x));
  assign by = int'(signed'(b.y));
  assign br = int'({29'd0, best_i.last[2:0]});
  assign micrometres = 6500 * distance(ax, bx) + 11258 * distance(ay, by) +
      11000 * distance(ar, br);

  // Twice the centre in columns and rows, times 13, as rich_cover takes it.
  typedef struct packed {
    logic       valid;
    logic [1:0] tag;
    best_t      best;
    logic       two;
    int         u;
    int         v;
    int         radius;
    int         second_u;
    int         second_v;
    int         second_radius;
  } expected_t;
  expected_t expected, due;
  logic near;
  assign near = micrometres < 30000;
  assign expected = '{
      valid: rst_ni && valid_i, tag: tag_i, best: best_i, two: !near,
      u: 13 * (near ? ax + bx : 2 * ax), v: 13 * (near ? ay + by : 2 * ay),
      radius: near ? ar + br : 2 * ar,
      second_u: 26 * bx, second_v: 26 * by, second_radius: 2 * br
  };
  expected_t [Stages-1:0] expected_q;
  logic [2:0] since_q;
  always_ff @(posedge clk_i) begin
    expected_q <= (Stages * $bits(expected_t))'({expected_q, expected});
    if (!rst_ni) since_q <= '0;
    else if (since_q != 3'(Stages)) since_q <= since_q + 3'd1;
  end
  assign due = expected_q[Stages-1];

  always_comb begin
    if (rst_ni && since_q == 3'(Stages)) begin
      assert (valid_o == due.valid);
      if (due.valid) begin
        assert (tag_o == due.tag && pair_o.best == due.best && pair_o.two == due.two);
        assert (int'(signed'(pair_o.first.u13)) == due.u);
        assert (int'(signed'(pair_o.first.v13)) == due.v);
        assert (int'({28'd0, pair_o.first.radius}) == due.radius);
        if (due.two) begin
          assert (int'(signed'(pair_o.second.u13)) == due.second_u);
          assert (int'(signed'(pair_o.second.v13)) == due.second_v);
          assert (int'({28'd0, pair_o.second.radius}) == due.second_radius);
        end
      end
      cover (valid_o && !pair_o.two && pair_o.best.first != pair_o.best.last);
      cover (valid_o && pair_o.two);
    end
  end
endmodule
