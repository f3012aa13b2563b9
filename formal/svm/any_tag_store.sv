// SPDX-License-Identifier: SHL-2.1
/// Stands for tag_store in a proof: remembers what is filled for one tag of one set, and finds
/// anything for all others. It may forget the one at any time, as by a fill of its set. What holds
/// with it holds with tag_store, whose own proof says that it does no more than this.
module tag_store #(
  parameter  int unsigned Sets       = 64,
  parameter  int unsigned Ways       = 4,
  parameter  int unsigned TagWidth   = 20,
  parameter  int unsigned DataWidth  = 32,
  localparam int unsigned IndexWidth = $clog2(Sets),
  localparam int unsigned WayWidth   = Ways > 1 ? $clog2(Ways) : 1
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,
  input  logic                  clear_i,
  input  logic                  valid_i,
  output logic                  ready_o,
  input  logic                  fill_i,
  input  logic                  invalidate_i,
  input  logic [IndexWidth-1:0] index_i,
  input  logic [TagWidth-1:0]   tag_i,
  input  logic [DataWidth-1:0]  data_i,
  output logic                  done_o,
  output logic                  hit_o,
  output logic [WayWidth-1:0]   way_o,
  output logic [DataWidth-1:0]  data_o,
  output logic                  evict_o,
  output logic [TagWidth-1:0]   evict_tag_o,
  output logic [DataWidth-1:0]  evict_data_o
);
  // Ties: a proof assumes which tag is watched. Driven by nothing: the prover's choice.
  logic [TagWidth+IndexWidth-1:0] watch_q;
  logic                           forget, swept, any_hit;
  logic [DataWidth-1:0]           any_data;
  logic                           there_q, sweep_q, mine_q;
  logic [DataWidth-1:0]           held_q;
  logic                           take, mine;

  always_ff @(posedge clk_i) watch_q <= watch_q;
  assign ready_o = !sweep_q && !clear_i;
  assign take    = valid_i && ready_o;
  assign mine    = {tag_i, index_i} == watch_q;
  always_ff @(posedge clk_i) begin
    mine_q <= mine;
    if (!rst_ni) begin
      there_q <= 1'b0;
      sweep_q <= 1'b1;
      done_o  <= 1'b0;
    end else begin
      done_o <= take;
      if (clear_i) sweep_q <= 1'b1;
      else if (swept) sweep_q <= 1'b0;
      if (clear_i || (take && invalidate_i && mine)) there_q <= 1'b0;
      else if (take && fill_i && mine) {there_q, held_q} <= {1'b1, data_i};
      else if (forget) there_q <= 1'b0;
    end
  end
  // A lookup in its second cycle: fills and invalidations of later ones have not been, as each
  // takes a cycle.
  logic there_late_q;
  logic [DataWidth-1:0] held_late_q;
  always_ff @(posedge clk_i) {there_late_q, held_late_q} <= {there_q, held_q};
  assign hit_o  = mine_q ? there_late_q : any_hit;
  assign data_o = mine_q ? held_late_q : any_data;
endmodule
