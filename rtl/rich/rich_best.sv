// SPDX-License-Identifier: SHL-2.1
/// The most votes of all cells of a mask, and the first and the last cell that has them: a
/// pipelined tree.
///
///   Handshake   valid_i with votes_i and mask_i, not stalled; valid_o, best_o behind it
///   Contract    a cell of the mask has votes, as the hit that made the mask voted for it; with an
///               empty mask best_o.votes is 0 and the cells are undefined
///                                                 (proved: formal/rich/rich_best.sby)
///   Latency     1 + ceil(log2(Cells) / 2) cycles
///   Throughput  one search a cycle
///   Parameters  Cells 2..3072; TagWidth 1.. of what comes out with its search
///   Not done    flow control
module rich_best
  import rich_pkg::*;
#(
  parameter  int unsigned Cells    = 3032,
  parameter  int unsigned TagWidth = 1,
  localparam int unsigned Levels   = $clog2(Cells),
  localparam int unsigned Stages   = 1 + (Levels + 1) / 2
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,
  input  logic                  valid_i,
  input  logic   [TagWidth-1:0] tag_i,
  input  votes_t                votes_i[Cells],
  input  logic   [   Cells-1:0] mask_i,
  output logic                  valid_o,
  output logic   [TagWidth-1:0] tag_o,
  output best_t                 best_o
);
  if (Cells < 2 || Cells > MaxCells) begin : gen_cells_check
    $error("rich_best: Cells is %0d, legal is 2..%0d", Cells, MaxCells);
  end

  // Level 0 has the cells, level l nodes of 2**l cells; a register behind every second level. Of a
  // node's cells the lower l bits are kept, the number of the node gives the others.
  for (genvar l = 0; l <= int'(Levels); l++) begin : gen_level
    localparam int unsigned Nodes = (Cells + 2 ** l - 1) / 2 ** l;
    votes_t votes[Nodes], votes_q[Nodes];
    cell_t first[Nodes], first_q[Nodes], last[Nodes], last_q[Nodes];

    if (l == 0) begin : gen_cells
      always_comb begin
        for (int unsigned n = 0; n < Nodes; n++) votes[n] = mask_i[n] ? votes_i[n] : '0;
        first = '{default: '0};
        last  = '{default: '0};
      end
    end else begin : gen_nodes
      localparam int unsigned Below = (Cells + 2 ** (l - 1) - 1) / 2 ** (l - 1);
      localparam cell_t Upper = CellWidth'(1 << (l - 1));
      always_comb begin
        for (int unsigned n = 0; n < Nodes; n++) begin
          votes[n] = gen_level[l-1].votes_q[2*n];
          first[n] = gen_level[l-1].first_q[2*n];
          last[n]  = gen_level[l-1].last_q[2*n];
          if (2 * n + 1 < Below) begin
            if (gen_level[l-1].votes_q[2*n+1] > gen_level[l-1].votes_q[2*n]) begin
              votes[n] = gen_level[l-1].votes_q[2*n+1];
              first[n] = gen_level[l-1].first_q[2*n+1] | Upper;
            end
            if (gen_level[l-1].votes_q[2*n+1] >= gen_level[l-1].votes_q[2*n]) begin
              last[n] = gen_level[l-1].last_q[2*n+1] | Upper;
            end
          end
        end
      end
    end

    if (l % 2 == 0 || l == int'(Levels)) begin : gen_register
      always_ff @(posedge clk_i) begin
        votes_q <= votes;
        first_q <= first;
        last_q  <= last;
      end
    end else begin : gen_wires
      assign votes_q = votes;
      assign first_q = first;
      assign last_q  = last;
    end
  end
  assign best_o.votes = gen_level[Levels].votes_q[0];
  assign best_o.first = gen_level[Levels].first_q[0];
  assign best_o.last  = gen_level[Levels].last_q[0];

  logic [Stages-1:0] valid_q;
  logic [Stages-1:0][TagWidth-1:0] tag_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      valid_q <= '0;
    end else begin
      valid_q <= Stages'({valid_q, valid_i});
    end
  end
  always_ff @(posedge clk_i) tag_q <= (Stages * TagWidth)'({tag_q, tag_i});
  assign valid_o = valid_q[Stages-1];
  assign tag_o   = tag_q[Stages-1];
endmodule
