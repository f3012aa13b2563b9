// SPDX-License-Identifier: SHL-2.1
/// coherence_trace: each message that is wanted is in its circuit's place, in its group's register,
/// in the ring, or counted as lost; a record is that of a place, with its time; the count of
/// records is what the ring holds; an emptied ring is empty.
module coherence_trace_props
  import coherence_node_pkg::*;
  import coherence_look_pkg::*;
  import blocklink_pkg::*;
(
  input logic                                clk_i,
  input circuits_t                           tx_i,
  input logic [NumVcs-1:0]                   tx_ready_i,
  input word_t [0:0][NumVcs-1:0][7:0]        rx_words_i,
  input logic  [0:0][NumVcs-1:0][3:0]        rx_pop_i,
  input window_t                             window_i,
  input looked_t                             looked_i,
  input logic [4:0]                          which_i   // in the first cycle: the place watched
);
  localparam int unsigned Places = 2 * NumVcs;
  logic rst_ni = 1'b0;
  always_ff @(posedge clk_i) rst_ni <= 1'b1;

  logic [63:0] window_data_o;
  look_t look_o;
  coherence_trace #(.NumLinks(1), .Depth(16)) dut (.*);

  // Of any one place: what was wanted and not lost waits there until it is taken, as it was.
  logic [4:0] which_q, which;
  logic [31:0] then_q;
  coherence_pkg::header_t header_q;
  logic waits_q;
  assign which = rst_ni ? which_q : which_i;
  always_ff @(posedge clk_i) begin
    which_q <= which;
    if (!rst_ni || dut.clear) waits_q <= 1'b0;
    else waits_q <= (dut.wanted[which] && !dut.overrun[which]) || (waits_q && !dut.taken[which]);
    if (dut.wanted[which] && !dut.overrun[which]) begin
      then_q   <= dut.time_q;
      header_q <= dut.header[which];
    end
  end

  // What its group's register takes goes into the ring as it is, or a clear removes it.
  localparam int unsigned Groups = 5;
  logic [2:0] group;
  logic held_q;
  logic [101:0] taken_q;  // a record
  logic [Places-1:0] mine;  // places of its group
  assign group = 3'(which % 5'(Groups));
  always_comb begin
    for (int unsigned s = 0; s < Places; s++) mine[s] = s % Groups == 32'(group);
  end
  always_ff @(posedge clk_i) begin
    if (!rst_ni || dut.clear) held_q <= 1'b0;
    else if (dut.taken[which] && dut.full_q[which]) held_q <= 1'b1;
    else if (dut.turn[group] && dut.push) held_q <= 1'b0;
    if (dut.taken[which] && dut.full_q[which]) taken_q <= dut.shown[which];
  end
  always_comb begin
    assume (which < 5'(Places));
    if (rst_ni) begin
      waits : assert (waits_q == dut.full_q[which]);
      not_taken : assert (!dut.overrun[which] || (waits_q && !dut.taken[which]));
      its_own : assert (!waits_q || (dut.shown[which].ticks == then_q &&
                                     dut.shown[which].header == header_q));
      held : assert (!held_q || (dut.held_q[group] && dut.held[group] == taken_q));
      in_turn : assert ($onehot0(dut.turn) && (dut.emptying_q || (dut.turn & ~dut.held_q) == '0));
      one_of_group : assert ($onehot0(dut.taken & mine));
      taken_waits : assert (!dut.taken[which] || waits_q || (dut.full_q & mine) == '0);
      recorded : assert (!(held_q && dut.push && dut.turn[group]) ||
                         dut.made == {dut.gap_q, taken_q});
      pushed : assert (!dut.push || dut.turn != '0);
      // What makes it inductive: a place that keeps the turn waits, but behind a clear.
      group_turn : assert ((dut.u_turn.owner_q & ~dut.held_q) == '0 || dut.emptying_q);
      group_one : assert ($onehot0(dut.u_turn.owner_q));
      no_more : assert (!dut.wanted[which] || dut.on_q);
      newest : assert (!(dut.offered && !dut.ready) || dut.oldest_q || dut.drop);
      oldest_stay : assert (!dut.oldest_q || dut.emptying_q || !dut.drop);
      taken_once : assert (!dut.pop || dut.valid);
      ring_count : assert (dut.count_q == 16'(dut.u_ring.inside_q) && 32'(dut.count_q) <= 17);
      asked : assert (!(dut.asked_q && dut.known_q));
    end
    was_lost : cover (rst_ni && dut.lost_q != '0);
    is_known : cover (rst_ni && dut.known_q && window_i.valid && window_i.at == 3'd7);
  end
  for (genvar g = 0; g < int'(Groups); g++) begin : gen_group
    always_comb begin
      if (rst_ni) begin
        place_turn : assert ((dut.gen_group[g].u_turn.owner_q & ~dut.gen_group[g].waits) == '0 ||
                             (dut.full_q == '0 && dut.emptying_q && dut.held_q == '0));
        place_one : assert ($onehot0(dut.gen_group[g].u_turn.owner_q));
      end
    end
  end
  // A clear empties the ring, and says that nothing is missing.
  always_ff @(posedge clk_i) begin
    if (rst_ni && $past(rst_ni) && $past(dut.clear)) begin
      cleared : assert (dut.full_q == '0 && dut.held_q == '0 && dut.emptying_q && !dut.gap_q &&
                        {dut.overrun_q, dut.missed_q, dut.lost_q} == '0);
    end
    if (rst_ni && $past(rst_ni) && $past(!dut.clear)) begin
      said : assert (dut.gap_q || $past(dut.overrun_q == '0));
      // Each is counted once, three clocks later.
      noted : assert (dut.overrun_q == $past(dut.overrun));
      summed : assert (dut.missed_q == 6'($countones($past(dut.overrun_q))));
      counted : assert (dut.lost_q == $past(dut.lost_q) + 32'($past(dut.missed_q)));
    end
  end
  logic unused;
  assign unused = ^{window_data_o, look_o};
endmodule
