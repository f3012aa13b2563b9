// SPDX-License-Identifier: SHL-2.1
/// The search of one event behind its counts: the best cells through each hit that no candidate
/// covers yet.
///
///   Handshake   start_i while idle_o, with open_i, over_i and places_i, which is stable until
///               done_o, the walk's last cycle; pair_i is the answer for slot_o in the same cycle;
///               seed_o is stable until seed_ready_i. Configuration: written while idle
///   Contract    hits in their order; only one of open_i that no candidate covers gives its
///               candidates. Behind MaxSeeds candidates no more hit is searched
///   Latency     6 cycles a hit with one candidate, 7 with two; the end 2
///   Throughput  one event at a time
///   Parameters  none
///   Not done    candidates' fit and choice: the software behind it does that
module rich_walk
  import rich_pkg::*;
(
  input  logic                  clk_i,
  input  logic                  rst_ni,
  input  logic                  cfg_we_i,      // bounds
  input  memory_e               cfg_memory_i,
  input  logic    [       15:0] cfg_addr_i,
  input  logic    [       63:0] cfg_data_i,
  output logic                  idle_o,
  output logic                  done_o,
  input  logic                  start_i,
  input  logic    [MaxHits-1:0] open_i,        // hits whose best cells have MinVotes
  input  logic                  over_i,        // the event had more
  input  place_t  [MaxHits-1:0] places_i,
  output slot_t                 slot_o,
  input  pair_t                 pair_i,
  output logic                  seed_valid_o,
  input  logic                  seed_ready_i,
  output seed_t                 seed_o
);
  typedef enum logic [2:0] {
    Idle,
    Pick,     // the next hit that is not covered
    Read,     // its candidates
    Cover,    // the first candidate, or the only one, goes to rich_cover
    Second,   // the other one
    Wait      // for what they cover
  } state_e;
  state_e state_q;

  logic [MaxHits-1:0] open_q, near;
  logic  near_valid;
  slot_t next;
  logic over_q;
  logic [3:0] number_q;
  logic end_of_event, blocked;

  always_comb begin
    next = '0;
    for (int h = int'(MaxHits) - 1; h >= 0; h--) if (open_q[h]) next = 5'(h);
  end
  assign end_of_event = open_q == '0 || number_q >= 4'(MaxSeeds);
  assign blocked      = seed_valid_o && !seed_ready_i;

  bounds_t bounds_q[2*Radii];
  always_ff @(posedge clk_i) begin
    if (cfg_we_i && cfg_memory_i == MemBounds) bounds_q[cfg_addr_i[3:0]] <= cfg_data_i[47:0];
  end

  slot_t slot_q;
  pair_t pair_q;
  scaled_t circle;
  assign circle = state_q == Second ? pair_q.second : pair_q.first;

  logic cover_valid;
  bounds_t cover_bounds;
  assign cover_valid  = state_q == Cover || state_q == Second;
  assign cover_bounds = bounds_q[circle.radius];
  rich_cover u_cover (
    .clk_i,
    .rst_ni,
    .valid_i(cover_valid),
    .u13_i(circle.u13),
    .v13_i(circle.v13),
    .bounds_i(cover_bounds),
    .places_i,
    .valid_o(near_valid),
    .near_o(near)
  );
  logic [1:0] away_q;  // candidates whose hits are not known yet

  assign idle_o = state_q == Idle;
  assign done_o = state_q == Pick && end_of_event && !blocked;
  assign slot_o = slot_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q      <= Idle;
      open_q       <= '0;
      over_q       <= 1'b0;
      number_q     <= '0;
      away_q       <= '0;
      seed_valid_o <= 1'b0;
      seed_o       <= '0;
    end else begin
      if (seed_ready_i) seed_valid_o <= 1'b0;
      if (near_valid) open_q <= open_q & ~near;
      away_q <= away_q + 2'(cover_valid) - 2'(near_valid);
      unique case (state_q)
        Idle: begin
          if (start_i) begin
            open_q   <= open_i;
            over_q   <= over_i;
            number_q <= '0;
            state_q  <= Pick;
          end
        end
        Pick: begin
          if (end_of_event) begin
            if (!blocked) begin
              seed_valid_o <= 1'b1;
              seed_o       <= '{over: over_q, done: 1'b1, default: '0};
              state_q      <= Idle;
            end
          end else if (!blocked) begin
            open_q[next] <= 1'b0;
            state_q      <= Read;
          end
        end
        Read: state_q <= Cover;
        Cover: begin
          // Free since Pick: nothing else is stored in between.
          seed_valid_o <= 1'b1;
          seed_o       <= '{best: pair_q.best, hit: slot_q, default: '0};
          number_q     <= number_q + (pair_q.two ? 4'd2 : 4'd1);
          state_q      <= pair_q.two ? Second : Wait;
        end
        Second: state_q <= Wait;
        Wait: if (away_q == 2'(near_valid)) state_q <= Pick;
        default: state_q <= Idle;
      endcase
    end
  end

  always_ff @(posedge clk_i) begin
    if (state_q == Pick) slot_q <= next;
    if (state_q == Read) pair_q <= pair_i;
  end

  logic unused;
  assign unused = &{1'b0, cfg_addr_i[15:4], cfg_data_i[63:48]};
endmodule
