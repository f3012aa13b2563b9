// SPDX-License-Identifier: SHL-2.1
/// Candidates for the rings of an event, from its hits: votes of all hits for all circles, then the
/// best circles through each hit that no candidate covers yet.
///
///   Handshake   hits: hit_ready_o is independent of hit_valid_i; hit_last_i ends an event, an
///               empty one is a hit with a null id. Answers: seed_valid_o and seed_o stable until
///               seed_ready_i; each event ends with seed_o.done. Configuration: cfg_we_i writes a
///               word of a memory; all of them before the first event, none while one is inside
///   Contract    what crates/isthmus-trigger/src/rings/gateware.rs says, bit by bit; hits behind
///               the 32nd are left out and seed_o.over says so
///   Ordering    events in, events out
///   Losses      none
///   Latency     count, search and walk: n + 2, n + 14 and 1 to 8 cycles for each searched hit
///   Throughput  an event of n hits in n + 2 cycles or in those of its walk, whichever are more
///   Parameters  Cells 2..3072
///   Not done    fit and choice of candidates; radii or distances of other grids than 13 and 11 mm
module rich_seeds
  import rich_pkg::*;
#(
  parameter int unsigned Cells = 3032
) (
  input  logic           clk_i,
  input  logic           rst_ni,
  input  logic           cfg_we_i,
  input  memory_e        cfg_memory_i,  // which memory, as memory_e
  input  logic    [15:0] cfg_addr_i,    // number of the word
  input  logic    [63:0] cfg_data_i,    // low bits of it as the memory is wide
  input  logic           hit_valid_i,
  output logic           hit_ready_o,
  input  id_t            hit_id_i,  // of the photomultiplier; held until hit_ready_o
  input  logic           hit_last_i,
  output logic           seed_valid_o,
  input  logic           seed_ready_i,
  output seed_t          seed_o
);
  // Banks of answers: an event has one from its search to the end of its walk. Two would be too few
  // for the clocks of count and search.
  localparam int unsigned Banks = 4;
  typedef logic [$clog2(Banks)-1:0] bank_t;
  typedef logic [5:0] count_t;

  typedef struct packed {
    bank_t bank;
    logic  last;
    slot_t slot;
  } look_t;

  bank_t bank_q, next_bank, walk_bank_q;
  logic [Banks-1:0] busy_q, filled_q, over_q;
  count_t count_q;

  // ---------------------------------------------------------------- count

  logic searching_q;
  logic hit, fits, first_q, counting_q, counting_first_q;
  logic full_q, settling_q, in_over_q;  // an event waits for its search; its last row is on its way
  logic   take;  // the counters go to the search
  count_t in_count_q;
  id_t    ids_q                                  [MaxHits];
  id_t    look_ids_q                             [MaxHits];
  id_t    look_id;
  logic [Cells-1:0] count_row, look_row;
  votes_t counts_q[Cells];
  votes_t held_q  [Cells];

  assign hit_ready_o = !full_q;
  assign hit         = hit_valid_i && hit_ready_o;
  assign fits        = in_count_q < 6'(MaxHits);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      first_q          <= 1'b1;
      counting_q       <= 1'b0;
      counting_first_q <= 1'b0;
      in_count_q       <= '0;
      in_over_q        <= 1'b0;
      full_q           <= 1'b0;
      settling_q       <= 1'b0;
    end else begin
      counting_q       <= hit && fits;
      counting_first_q <= first_q;
      settling_q       <= hit && hit_last_i;
      if (hit) begin
        first_q <= hit_last_i;
        full_q  <= hit_last_i;
        if (fits) in_count_q <= in_count_q + 6'd1;
        else in_over_q <= 1'b1;
      end
      if (take) begin
        full_q     <= 1'b0;
        in_count_q <= '0;
        in_over_q  <= 1'b0;
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (hit && fits) ids_q[in_count_q[4:0]] <= hit_id_i;
    if (take) look_ids_q <= ids_q;
  end

  always_ff @(posedge clk_i) begin
    for (int unsigned c = 0; c < Cells; c++) begin
      if (take) held_q[c] <= counts_q[c];
      if (counting_q) begin
        if (counting_first_q) counts_q[c] <= 5'(count_row[c]);
        else if (count_row[c]) begin
          counts_q[c][3:0] <= counts_q[c][3:0] + 4'd1;
          counts_q[c][4]   <= counts_q[c][4] || counts_q[c][3:0] == '1;
        end
      end
    end
  end

  rich_table #(
    .Cells(Cells)
  ) u_table (
    .clk_i,
    .we_i(cfg_we_i && cfg_memory_i == MemVotes),
    .word_i(cfg_addr_i[5:0]),
    .wdata_i(cfg_data_i),
    .a_re_i(hit),
    .a_id_i(cfg_we_i ? cfg_addr_i[15:6] : hit_id_i),
    .a_row_o(count_row),
    .b_re_i(searching_q),
    .b_id_i(look_id),
    .b_row_o(look_row)
  );

  // ---------------------------------------------------------------- search

  logic looking_q, best_valid, pair_valid;
  count_t look_q;
  look_t look, looking_tag_q, best_tag, found;
  best_t best;
  pair_t pair;

  // The last look of the event before may be at the counters in this cycle.
  assign take      = full_q && !settling_q && !searching_q && !busy_q[next_bank];
  assign next_bank = bank_q + 1'b1;
  assign look_id   = look_ids_q[look_q[4:0]];
  assign look.bank = bank_q;
  assign look.slot = look_q[4:0];
  assign look.last = look_q + 6'd1 == count_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      bank_q      <= '0;
      searching_q <= 1'b0;
      looking_q   <= 1'b0;
      look_q      <= '0;
      count_q     <= '0;
      over_q      <= '0;
    end else begin
      looking_q <= searching_q;
      if (take) begin
        bank_q           <= next_bank;
        count_q <= in_count_q;
        over_q[next_bank]  <= in_over_q;
        searching_q      <= 1'b1;
        look_q           <= '0;
      end else if (searching_q) begin
        look_q <= look_q + 6'd1;
        if (look.last) searching_q <= 1'b0;
      end
    end
  end
  always_ff @(posedge clk_i) looking_tag_q <= look;

  rich_best #(
    .Cells(Cells),
    .TagWidth($bits(look_t))
  ) u_best (
    .clk_i,
    .rst_ni,
    .valid_i(looking_q),
    .tag_i(looking_tag_q),
    .votes_i(held_q),
    .mask_i(look_row),
    .valid_o(best_valid),
    .tag_o(best_tag),
    .best_o(best)
  );

  rich_pair #(
    .TagWidth($bits(look_t))
  ) u_pair (
    .clk_i,
    .rst_ni,
    .cfg_we_i,
    .cfg_memory_i,
    .cfg_addr_i,
    .cfg_data_i,
    .valid_i(best_valid),
    .tag_i(best_tag),
    .best_i(best),
    .valid_o(pair_valid),
    .tag_o(found),
    .pair_o(pair)
  );

  (* ram_style = "distributed" *) pair_t answers_q[Banks*MaxHits];
  logic [Banks-1:0][MaxHits-1:0] worth_q;  // hits whose best cells have enough votes
  place_t places_mem_q[2**IdWidth];
  place_t place_q;
  place_t [Banks-1:0][MaxHits-1:0] places_q;
  always_ff @(posedge clk_i) begin
    if (pair_valid) begin
      answers_q[{found.bank, found.slot}] <= pair;
      worth_q[found.bank][found.slot]     <= pair.best.votes >= 5'(MinVotes);
    end
    if (take) worth_q[next_bank] <= '0;
    if (cfg_we_i && cfg_memory_i == MemPlaces) begin
      places_mem_q[cfg_addr_i[IdWidth-1:0]] <= cfg_data_i[15:0];
    end
    place_q <= places_mem_q[look_id];
    if (looking_q) places_q[looking_tag_q.bank][looking_tag_q.slot] <= place_q;
  end

  // ---------------------------------------------------------------- walk

  logic walk_idle, walk_start, walk_done;
  slot_t slot;

  assign walk_start = filled_q[walk_bank_q] && walk_idle;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      walk_bank_q <= bank_t'(1);
      busy_q      <= '0;
      filled_q    <= '0;
    end else begin
      if (take) busy_q[next_bank] <= 1'b1;
      if (pair_valid && found.last) filled_q[found.bank] <= 1'b1;
      if (walk_done) begin
        busy_q[walk_bank_q]   <= 1'b0;
        filled_q[walk_bank_q] <= 1'b0;
        walk_bank_q           <= walk_bank_q + 1'b1;
      end
    end
  end

  rich_walk u_walk (
    .clk_i,
    .rst_ni,
    .cfg_we_i,
    .cfg_memory_i,
    .cfg_addr_i,
    .cfg_data_i,
    .idle_o(walk_idle),
    .start_i(walk_start),
    .done_o(walk_done),
    .open_i(worth_q[walk_bank_q]),
    .over_i(over_q[walk_bank_q]),
    .places_i(places_q[walk_bank_q]),
    .slot_o(slot),
    .pair_i(answers_q[{walk_bank_q, slot}]),
    .seed_valid_o,
    .seed_ready_i,
    .seed_o
  );
endmodule
