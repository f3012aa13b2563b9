// SPDX-License-Identifier: SHL-2.1
/// The search of one event behind its counts: the best cells through each hit that no candidate
/// covers yet.
///
///   Handshake   start_i while idle_o, with open_i, over_i and places_i, which is stable until
///               done_o, the walk's last cycle; best_i is the answer for slot_o in the same cycle;
///               seed_o is stable until seed_ready_i. Configuration: written while idle
///   Contract    hits in their order; only one of open_i that no candidate covers gives candidates:
///               the mean of its first and last best cell if they are near each other (below 30 mm
///               in |x| + |y| + |r|), else both. Behind MaxSeeds candidates no more hit is searched
///   Latency     6 cycles a hit with one candidate, 7 with two; the end 2
///   Throughput  one event at a time
///   Parameters  none
///   Not done    candidates' fit and choice: the software behind it does that
module rich_walk
  import rich_pkg::*;
(
  input  logic                  clk_i,
  input  logic                  rst_ni,
  input  logic                  cfg_we_i,      // centres and bounds
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
  input  best_t                 best_i,
  output logic                  seed_valid_o,
  input  logic                  seed_ready_i,
  output seed_t                 seed_o
);
  typedef enum logic [2:0] {
    Idle,
    Pick,     // the next hit that is not covered
    Combine,  // candidates of both cells
    Cover,    // the first candidate, or the only one, goes to rich_cover
    Second,   // the other one
    Wait      // for what they cover
  } state_e;
  state_e state_q;

  logic [MaxHits-1:0] open_q, near;
  logic  near_valid;
  slot_t next;
  logic over_q, two_q;
  logic [3:0] number_q;
  logic end_of_event, blocked;

  always_comb begin
    next = '0;
    for (int h = int'(MaxHits) - 1; h >= 0; h--) if (open_q[h]) next = 5'(h);
  end
  assign end_of_event = open_q == '0 || number_q >= 4'(MaxSeeds);
  assign blocked      = seed_valid_o && !seed_ready_i;

  // Centres: two registered read ports.
  place_t centres_q[2**CentreWidth];
  place_t centre_a_q, centre_b_q;
  always_ff @(posedge clk_i) begin
    if (cfg_we_i && cfg_memory_i == MemCentres) begin
      centres_q[cfg_addr_i[CentreWidth-1:0]] <= cfg_data_i[15:0];
    end
    centre_a_q <= centres_q[best_i.first[CellWidth-1:$clog2(Radii)]];
    centre_b_q <= centres_q[best_i.last[CellWidth-1:$clog2(Radii)]];
  end

  bounds_t bounds_q[2*Radii];
  always_ff @(posedge clk_i) begin
    if (cfg_we_i && cfg_memory_i == MemBounds) bounds_q[cfg_addr_i[3:0]] <= cfg_data_i[47:0];
  end

  // The mean's coordinates are sums: lengths are in halves of the cells' steps from here on.
  logic signed [8:0] ua, va, ub, vb, du, dv;
  logic [8:0] width, height;
  logic signed [4:0] dr;
  logic [3:0] depth;
  logic [2:0] ra_q, rb_q;  // radii of the cells
  logic [9:0] length;  // 13 |dx| + 22 |dr|: twice the mm of the two
  logic near_each_other;
  logic signed [8:0] u_q, v_q, second_u_q, second_v_q;
  logic [3:0] radius_q, second_radius_q;

  assign ua     = 9'(signed'(centre_a_q.x));
  assign va     = 9'(signed'(centre_a_q.y));
  assign ub     = 9'(signed'(centre_b_q.x));
  assign vb     = 9'(signed'(centre_b_q.y));
  assign du     = ua - ub;
  assign dv     = va - vb;
  assign dr     = 5'({2'b0, ra_q}) - 5'({2'b0, rb_q});
  assign width  = du < 0 ? -du : du;
  assign height = dv < 0 ? -dv : dv;
  assign depth  = 4'(dr < 0 ? -dr : dr);
  // Far cells do not matter: 6 columns or 4 rows are too many.
  assign length = 10'(width[2:0]) * 10'd13 + 10'(depth) * 10'd22;
  // A row is 11.26 mm high: what is left of 30 mm, doubled.
  always_comb begin
    unique case (height)
      9'd0: near_each_other = length < 10'd60;
      9'd1: near_each_other = length < 10'd38;
      9'd2: near_each_other = length < 10'd15;
      default: near_each_other = 1'b0;
    endcase
    if (width > 9'd6) near_each_other = 1'b0;
  end

  logic cover_valid;
  bounds_t cover_bounds;
  assign cover_valid  = state_q == Cover || state_q == Second;
  assign cover_bounds = bounds_q[radius_q];
  rich_cover u_cover (
    .clk_i,
    .rst_ni,
    .valid_i(cover_valid),
    .u_i(u_q),
    .v_i(v_q),
    .bounds_i(cover_bounds),
    .places_i,
    .valid_o(near_valid),
    .near_o(near)
  );
  logic [1:0] away_q;  // candidates whose hits are not known yet

  assign idle_o = state_q == Idle;
  assign done_o = state_q == Pick && end_of_event && !blocked;
  assign slot_o = next;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q      <= Idle;
      open_q       <= '0;
      over_q       <= 1'b0;
      two_q        <= 1'b0;
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
            seed_valid_o <= 1'b1;
            seed_o       <= '{best: best_i, hit: next, default: '0};
            state_q      <= Combine;
          end
        end
        Combine: begin
          two_q    <= !near_each_other;
          number_q <= number_q + (near_each_other ? 4'd1 : 4'd2);
          state_q  <= Cover;
        end
        Cover: state_q <= two_q ? Second : Wait;
        Second: state_q <= Wait;
        Wait: if (away_q == 2'(near_valid)) state_q <= Pick;
        default: state_q <= Idle;
      endcase
    end
  end

  always_ff @(posedge clk_i) begin
    if (state_q == Pick) begin
      ra_q <= best_i.first[2:0];
      rb_q <= best_i.last[2:0];
    end
    if (state_q == Combine) begin
      u_q             <= near_each_other ? ua + ub : ua <<< 1;
      v_q             <= near_each_other ? va + vb : va <<< 1;
      radius_q        <= near_each_other ? 4'(ra_q) + 4'(rb_q) : {ra_q, 1'b0};
      second_u_q      <= ub <<< 1;
      second_v_q      <= vb <<< 1;
      second_radius_q <= {rb_q, 1'b0};
    end else begin
      u_q      <= second_u_q;
      v_q      <= second_v_q;
      radius_q <= second_radius_q;
    end
  end

  logic unused;
  assign unused = &{1'b0, cfg_addr_i[15:CentreWidth], cfg_data_i[63:48]};
endmodule
