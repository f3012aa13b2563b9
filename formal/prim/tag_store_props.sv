// SPDX-License-Identifier: SHL-2.1
/// tag_store: one tag of one set is watched, which are free. A hit on it returns what was filled
/// last; it is there from its fill until another fill evicts it, which is reported, an
/// invalidate, or a sweep; no tag is twice in a set; the entry that was filled or hit last is not
/// the next one evicted. Another tag leaves only a full set; a fill goes where way_o says;
/// a sweep takes a cycle a set.
module tag_store_props #(
  parameter int unsigned Ways = 4
) (
  input logic       clk_i,
  input logic       clear_i,
  input logic       valid_i,
  input logic       fill_i,
  input logic       invalidate_i,
  input logic [0:0] index_i,
  input logic [2:0] tag_i,
  input logic [1:0] data_i
);
  logic       rst_ni, ready_o, done_o, hit_o, evict_o;
  logic [1:0] way_o, data_o, evict_data_o;
  logic [2:0] evict_tag_o;

  tag_store #(.Sets(2), .Ways(Ways), .TagWidth(3), .DataWidth(2)) dut (.*);

  logic started_q = 1'b0;
  always_ff @(posedge clk_i) started_q <= 1'b1;
  assign rst_ni = started_q;

  // Any constants.
  logic       set_q;
  logic [2:0] mine_q;
  always_ff @(posedge clk_i) begin
    set_q  <= set_q;
    mine_q <= mine_q;
  end

  // The operation of the cycle before, and what is known of the watched tag before it.
  logic       fill_q, invalidate_q, index_q, there_q, there, recent_q, recent, of_set, of_mine;
  logic [2:0] tag_q;
  logic [1:0] data_q, held_q, held;
  assign of_set  = done_o && index_q == set_q;
  assign of_mine = of_set && tag_q == mine_q;

  always_comb begin
    {there, held, recent} = {there_q, held_q, recent_q};
    if (of_mine && fill_q) {there, held} = {1'b1, data_q};
    if (of_mine && invalidate_q) there = 1'b0;
    if (of_set && evict_o && evict_tag_o == mine_q) there = 1'b0;
    // Used last: another tag's fill or hit ends it.
    if (of_set && (fill_q || (hit_o && !invalidate_q))) recent = tag_q == mine_q;
    if (clear_i) there = 1'b0;
  end

  always_ff @(posedge clk_i) begin
    fill_q       <= fill_i;
    invalidate_q <= invalidate_i;
    index_q      <= index_i;
    tag_q        <= tag_i;
    data_q       <= data_i;
    there_q      <= started_q && there;
    held_q       <= held;
    recent_q     <= started_q && recent;
  end

  // For induction: the set's entries as the memories have them, with what is not written yet.
  logic [Ways-1:0][5:0] entries;
  logic [Ways-1:0]      mine, valid;
  logic [1:0][Ways-1:0][Ways-1:0] twice, old;  // in either set
  logic [2:0]           tree;
  for (genvar w = 0; w < Ways; w++) begin : gen_way
    assign entries[w] = dut.gen_memory[w].u_ram.mem_q[set_q];
    assign valid[w]   = entries[w][5];
    assign mine[w]    = entries[w] == {1'b1, mine_q, held_q};
    for (genvar s = 0; s < 2; s++) begin : gen_set
      logic [5:0] entry;
      assign entry = dut.gen_memory[w].u_ram.mem_q[s];
      for (genvar v = 0; v < Ways; v++) begin : gen_other
        logic [5:0] other;
        assign other = dut.gen_memory[v].u_ram.mem_q[s];
        assign twice[s][w][v] = v < w && entry[5] && other[5] && entry[4:2] == other[4:2];
        assign old[s][w][v]   = dut.set[w] != entry;
      end
    end
  end
  assign tree = dut.u_tree.mem_q[set_q];

  // Where the watched tag was filled in the cycle before; cycles that a sweep still needs.
  logic       filled_q, taken_q;
  logic [1:0] filled_way_q, sweeps_q;
  always_ff @(posedge clk_i) begin
    taken_q      <= started_q && valid_i && ready_o;
    filled_q     <= started_q && of_mine && fill_q && !clear_i;
    filled_way_q <= way_o;
    if (!started_q || clear_i) sweeps_q <= 2'd2;
    else if (sweeps_q != '0) sweeps_q <= sweeps_q - 2'd1;
  end

  // The set's words as the operation in its second cycle sees them.
  logic [Ways-1:0][5:0] seen;
  for (genvar w = 0; w < Ways; w++) begin : gen_seen
    assign seen[w] = dut.set[w];
  end

  always_comb begin
    if (started_q) begin
      if (valid_i) assume (!(fill_i && invalidate_i));
      // What is seen is what is there.
      if (of_mine) begin
        assert (hit_o == there_q);
        if (hit_o) assert (data_o == held_q);
      end
      if (of_set && evict_o && recent_q && there_q && !of_mine) assert (evict_tag_o != mine_q);
      if (of_set && evict_o && evict_tag_o == mine_q) assert (there_q && evict_data_o == held_q);
      if (done_o && evict_o) assert (fill_q && !hit_o);
      if (of_set) assert (evict_o == (fill_q && !hit_o && valid == '1));
      if (of_set && hit_o) assert (entries[way_o] == {1'b1, tag_q, data_o});
      if (of_set && evict_o) assert (entries[way_o] == {1'b1, evict_tag_o, evict_data_o});
      if (filled_q) assert (mine[filled_way_q]);
      assert (done_o == taken_q && ready_o == (sweeps_q == '0 && !clear_i));
      // What makes the above inductive.
      if (!dut.sweep_q || dut.sweep_index_q > set_q) begin
        assert (there_q == (mine != '0));
        for (int unsigned w = 0; w < Ways; w++) begin
          if (valid[w] && entries[w][4:2] == mine_q) assert (mine[w]);
        end
        if (recent_q && there_q) begin
          if (mine[0] || mine[1]) assert (tree[0]);
          if (mine[2] || mine[3]) assert (!tree[0]);
          if (mine[0]) assert (tree[1]);
          if (mine[1]) assert (!tree[1]);
          if (mine[2]) assert (tree[2]);
          if (mine[3]) assert (!tree[2]);
        end
      end
      assert (dut.sweep_q == (sweeps_q != '0) &&
              (!dut.sweep_q || 2'(dut.sweep_index_q) == 2'd2 - sweeps_q));
      if (dut.sweep_q) assert (!done_o && (dut.sweep_index_q == 1'b0 || twice[0] == '0));
      else assert (twice == '0);
      if (done_o) assert (old[index_q] == '0);
      if (of_set) assert (seen == entries && dut.tree == tree);
      if (done_o) assert ((dut.index_q == index_q) && dut.tag_q == tag_q && dut.data_q == data_q);
      if (done_o) begin
        assert (dut.fill_q == fill_q && dut.invalidate_q == invalidate_q &&
                !(fill_q && invalidate_q));
      end
      cover (of_set && evict_o && evict_tag_o == mine_q);
      cover (of_mine && hit_o && !fill_q && !invalidate_q && recent_q);
    end
  end
endmodule
