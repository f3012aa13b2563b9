// SPDX-License-Identifier: SHL-2.1
/// coherence_directory_ways: what hits is the line's entry; a new line takes an empty way, else the
/// first in turn that nothing needs; the victim is the first in turn without a remote copy, else
/// the first without a transaction.
module coherence_directory_ways_props
  import coherence_pkg::*;
  import coherence_directory_pkg::*;
#(
  parameter int unsigned Ways = 4
) (
  input logic              clk_i,
  input index_t            index_i,
  input entry_t [Ways-1:0] entry_i,
  input logic   [Ways-1:0] match_i,
  input logic              took_i
);
  localparam int unsigned WayWidth = $clog2(Ways);
  typedef logic [WayWidth-1:0] own_t;
  logic  rst_ni;
  ways_t ways_o;

  coherence_directory_ways #(.Ways(Ways)) dut (.*);

  logic started_q = 1'b0;
  always_ff @(posedge clk_i) started_q <= 1'b1;
  assign rst_ni = started_q;

  own_t took_q;  // ways taken from other lines since reset
  always_ff @(posedge clk_i) begin
    if (!started_q) took_q <= '0;
    else took_q <= took_q + own_t'(took_i);
  end

  logic [Ways-1:0] hits, empties, idles, owns, cleans, leaves;
  for (genvar w = 0; w < int'(Ways); w++) begin : gen_way
    assign hits[w]    = entry_i[w].used && match_i[w];
    assign empties[w] = !entry_i[w].used;
    assign idles[w]   = entry_i[w].used && !entry_i[w].pinned;
    assign owns[w]    = idles[w] && entry_i[w].directory == DirI;
    assign cleans[w]  = owns[w] && !(entry_i[w].has && entry_i[w].dirty);
    assign leaves[w]  = entry_i[w].used && entry_i[w].leaves;
  end
  // How far a way is behind the one whose turn it is, and whether it is the first of some.
  function automatic own_t behind(own_t way);
    return way - took_q;
  endfunction
  function automatic logic is_first(way_t way, logic [Ways-1:0] some);
    is_first = 32'(way) < Ways && some[own_t'(way)];
    for (int unsigned w = 0; w < Ways; w++)
      if (some[w] && behind(own_t'(w)) < behind(own_t'(way))) is_first = 1'b0;
  endfunction

  entry_t fresh;
  always_comb begin
    fresh       = '0;
    fresh.used  = 1'b1;
    fresh.home  = HomeI;
    fresh.directory = DirI;
    fresh.index = index_i;
  end

  always_comb begin
    // A line is in one way at most.
    assume ((hits & (hits - 1'b1)) == '0);
    if (started_q) begin
      assert (ways_o.hit == (hits != '0) && ways_o.leaving == (leaves != '0));
      if (ways_o.hit) begin
        assert (32'(ways_o.hit_way) < Ways && hits[own_t'(ways_o.hit_way)]);
        assert (ways_o.entry == entry_i[own_t'(ways_o.hit_way)]);
      end else begin
        assert (ways_o.entry == fresh);
      end
      assert (ways_o.some_empty == (empties != '0));
      assert (ways_o.some_new == (empties != '0 || cleans != '0));
      if (ways_o.some_empty) begin
        // Of several empty ways the last.
        assert (32'(ways_o.new_way) < Ways && empties >> ways_o.new_way == (Ways)'(1));
      end else if (ways_o.some_new) begin
        assert (is_first(ways_o.new_way, cleans));
      end
      assert (ways_o.some_victim == (idles != '0));
      if (ways_o.some_victim) begin
        assert (is_first(ways_o.victim_way, owns != '0 ? owns : idles));
        assert (ways_o.victim == entry_i[own_t'(ways_o.victim_way)]);
      end
      // What makes the above inductive.
      assert (dut.turn_q == took_q);
      cover (took_q == own_t'(3) && !ways_o.some_empty && ways_o.new_way == way_t'(2));
      cover (ways_o.some_victim && owns == '0 && ways_o.victim_way == way_t'(1));
    end
  end
endmodule
