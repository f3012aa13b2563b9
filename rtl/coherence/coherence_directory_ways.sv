// SPDX-License-Identifier: SHL-2.1
/// The ways of one set of a directory: which has the line, which a new line takes, which would be
/// given up.
///
///   Contract    ways_o.hit: an entry is used and match_i; else ways_o.entry is a new one without
///               any copy. A new line takes an empty way, else one in turn that no transaction, no
///               remote copy and no line that memory lacks needs. The victim has no transaction,
///               and no remote copy if there is such a one: to recall a line takes a round trip
///   Ordering    in turn: took_i says that a way was taken from another line; the turn goes on by
///               one way
///   Latency     0 cycles
///   Parameters  Ways 2, 4, 8
///   Not done    least recently used: the choice knows the turn only
module coherence_directory_ways
  import coherence_pkg::*;
  import coherence_directory_pkg::*;
#(
  parameter int unsigned Ways = 4
) (
  input  logic              clk_i,
  input  logic              rst_ni,
  input  index_t            index_i,
  input  entry_t [Ways-1:0] entry_i,
  input  logic   [Ways-1:0] match_i,
  input  logic              took_i,
  output ways_t             ways_o
);
  localparam int unsigned WayWidth = $clog2(Ways);
  typedef logic [WayWidth-1:0] own_t;
  own_t turn_q, hit_way, empty_way, clean_way, victim_way;
  logic hit, some_empty, some_clean, some_own, some_victim, leaving;
  entry_t entry;
  always_comb begin
    hit     = 1'b0;
    hit_way = '0;
    entry   = '{used: 1'b1, home: HomeI, directory: DirI, has: 1'b0, dirty: 1'b0, pinned: 1'b0,
                leaves: 1'b0, index: index_i};
    some_empty  = 1'b0;
    empty_way   = '0;
    leaving     = 1'b0;
    some_clean  = 1'b0;
    clean_way   = '0;
    some_own    = 1'b0;
    some_victim = 1'b0;
    victim_way  = '0;
    for (int unsigned w = 0; w < Ways; w++) begin
      if (entry_i[w].used && match_i[w]) begin
        hit     = 1'b1;
        hit_way = own_t'(w);
        entry   = entry_i[w];
      end
      if (!entry_i[w].used) begin
        some_empty = 1'b1;
        empty_way  = own_t'(w);
      end
      if (entry_i[w].used && entry_i[w].leaves) leaving = 1'b1;
    end
    for (int unsigned k = 0; k < Ways; k++) begin
      own_t w;
      w = own_t'(32'(turn_q) + Ways - 1 - k);
      if (entry_i[w].used && !entry_i[w].pinned) begin
        some_victim = 1'b1;
        if (entry_i[w].directory == DirI || !some_own) victim_way = w;
        if (entry_i[w].directory == DirI) begin
          some_own = 1'b1;
          if (!(entry_i[w].has && entry_i[w].dirty)) begin
            some_clean = 1'b1;
            clean_way  = w;
          end
        end
      end
    end
  end
  assign ways_o = '{
    hit: hit, hit_way: way_t'(hit_way), entry: entry, some_empty: some_empty,
    some_new: some_empty || some_clean, new_way: some_empty ? way_t'(empty_way) : way_t'(clean_way),
    some_victim: some_victim, victim_way: way_t'(victim_way), victim: entry_i[victim_way],
    leaving: leaving
  };
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) turn_q <= '0;
    else if (took_i) turn_q <= turn_q + 1'b1;
  end
endmodule
