// SPDX-License-Identifier: SHL-2.1
/// coherence_trace: each message that is wanted is in its circuit's place, in the ring, or counted
/// as lost; a record is that of a place; the count of records is what the ring holds; an emptied
/// ring is empty.
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

  // Wanted, less lost and recorded, since the last clear: so many wait in their places.
  logic [5:0] waiting_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni || dut.clear) waiting_q <= '0;
    else begin
      waiting_q <= waiting_q + 6'($countones(dut.wanted)) - 6'($countones(dut.overrun)) -
                   6'(dut.push);
    end
  end

  // What waits is shown, whichever it is.
  logic [4:0] which_q, which;
  logic [31:0] then_q;
  assign which = rst_ni ? which_q : which_i;
  always_ff @(posedge clk_i) begin
    which_q <= which;
    if (dut.wanted[which] && !dut.overrun[which]) then_q <= dut.time_q;
  end

  always_comb begin
    assume (which < 5'(Places));
    if (rst_ni) begin
      accounted : assert (waiting_q == 6'($countones(dut.full_q)));
      in_turn : assert ($onehot0(dut.granted));
      granted_waits : assert ((dut.granted & ~dut.full_q) == '0);
      its_time : assert (!dut.full_q[which] || dut.shown[which].ticks == then_q);
      recorded : assert (!dut.granted[which] || dut.made == dut.shown[which]);
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
  // A clear empties the ring, and says that nothing is missing.
  always_ff @(posedge clk_i) begin
    if (rst_ni && $past(rst_ni) && $past(dut.clear)) begin
      cleared : assert (dut.full_q == '0 && {dut.overrun_q, dut.missed_q, dut.lost_q} == '0 &&
                        dut.emptying_q && !dut.gap_q);
    end
    if (rst_ni && $past(rst_ni) && $past(!dut.clear)) begin
      said : assert (dut.gap_q || $past(dut.overrun == '0));
      // Each is counted once, three clocks later.
      noted : assert (dut.overrun_q == $past(dut.overrun));
      summed : assert (dut.missed_q == 6'($countones($past(dut.overrun_q))));
      counted : assert (dut.lost_q == $past(dut.lost_q) + 32'($past(dut.missed_q)));
    end
  end
  logic unused;
  assign unused = ^{window_data_o, look_o};
endmodule
