// SPDX-License-Identifier: SHL-2.1
/// The tree answers what a search cell by cell would, the tag comes with it, and nothing else is
/// valid. Seven cells: no power of two.
module rich_best_props
  import rich_pkg::*;
#(
  localparam int unsigned Cells = 7
) (
  input logic                  clk_i,
  input logic                  valid,
  input logic [1:0]            tag,
  input logic [Cells-1:0]      mask,
  input logic [Cells-1:0][4:0] votes
);
  localparam int unsigned Stages = 3;  // 1 + ceil(3 / 2)

  logic started_q = 1'b0;
  logic rst_ni;
  always_ff @(posedge clk_i) started_q <= 1'b1;
  assign rst_ni = started_q;

  votes_t votes_in [Cells];
  logic valid_out;
  logic [1:0] tag_out;
  best_t best;

  always_comb for (int c = 0; c < int'(Cells); c++) votes_in[c] = votes[c];

  rich_best #(
    .Cells(Cells),
    .TagWidth(2)
  ) u_dut (
    .clk_i,
    .rst_ni,
    .valid_i(valid),
    .tag_i(tag),
    .votes_i(votes_in),
    .mask_i(mask),
    .valid_o(valid_out),
    .tag_o(tag_out),
    .best_o(best)
  );

  // The contract: a cell of the mask has at least one vote.
  always_comb begin
    for (int c = 0; c < int'(Cells); c++) assume (!mask[c] || votes[c] != '0);
  end

  votes_t most;
  cell_t first, last;
  always_comb begin
    most  = '0;
    first = '0;
    last  = '0;
    for (int c = 0; c < int'(Cells); c++) begin
      if (mask[c] && votes[c] > most) begin
        most  = votes[c];
        first = cell_t'(c);
      end
      if (mask[c] && votes[c] == most) last = cell_t'(c);
    end
  end

  typedef struct packed {
    logic       valid;
    logic       empty;
    logic [1:0] tag;
    votes_t     most;
    cell_t      first;
    cell_t      last;
  } expected_t;
  expected_t [Stages-1:0] expected_q;
  logic [1:0] since_q;  // cycles since reset, up to Stages

  always_ff @(posedge clk_i) begin
    expected_q <= (Stages * $bits(expected_t))'({
      expected_q, rst_ni && valid, mask == '0, tag, most, first, last
    });
    if (!rst_ni) begin
      since_q <= '0;
    end else if (since_q != 2'(Stages)) begin
      since_q <= since_q + 2'd1;
    end
  end

  expected_t due;
  assign due = expected_q[Stages-1];
  always_comb begin
    if (rst_ni && since_q == 2'(Stages)) begin
      assert (valid_out == due.valid);
      if (due.valid) begin
        assert (tag_out == due.tag);
        assert (best.votes == due.most);
        if (!due.empty) begin
          assert (best.first == due.first);
          assert (best.last == due.last);
        end
      end
    end
  end

  always_comb begin
    cover (rst_ni && valid_out && best.first == 2 && best.last == 6 && best.votes == 3);
    cover (rst_ni && valid_out && due.empty);
  end
endmodule
