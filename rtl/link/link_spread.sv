// SPDX-License-Identifier: SHL-2.1
/// Picks the link of each packet of a bundle packet by packet, so that every destination's words
/// are spread evenly over its links.
///
/// For each destination and link it counts the words given so far, beyond those of the link that
/// has got least. A packet goes to that of the links which can take it now that has got least of
/// its destination; of equal ones to the next in turn. A link more than MaxAhead words ahead of
/// another that is up waits for it: so one that is stopped holds its destinations back, rather
/// than be left behind. What is down counts for nothing, and has nothing to catch up when it comes
/// back.
///
///   Handshake   a request is held, with its destination and words, until gnt_o, one-hot, names
///               its link in the same cycle; it may be taken back: req_valid_i falls for a cycle.
///               free_i may follow a grant 2 cycles late
///   Ordering    packets of one link stay in order, those of several links do not
///   Latency     2 cycles from req_valid_i to gnt_o where a link can take it; 0 from free_i; 1
///               after up_i has changed
///   Throughput  a packet in 3 cycles
///   Balance     a link's words of a destination are at most MaxAhead + MaxWords more than
///               another's, while both are up; after 2 cycles no request waits while a link may
///               have it
///                                              (proved: formal/link/link_spread.sby)
///   Parameters  NumLinks 2..8, NumDests 1..128, MaxWords 1..510 words of a packet, MaxAhead
///               0..4095
///   Not done    the packets' way (each link has a sender of its own), resequencing
module link_spread #(
  parameter int unsigned NumLinks = 4,
  parameter int unsigned NumDests = 8,
  parameter int unsigned MaxWords = 128,
  parameter int unsigned MaxAhead = 256,
  localparam int unsigned DestWidth  = NumDests > 1 ? $clog2(NumDests) : 1,
  localparam int unsigned WordsWidth = $clog2(MaxWords + 1)
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,
  input  logic [NumLinks-1:0]   up_i,
  input  logic [NumLinks-1:0]   free_i,       // could begin it: sends nothing, has room for it
  input  logic                  req_valid_i,
  input  logic [DestWidth-1:0]  req_dest_i,   // below NumDests
  input  logic [WordsWidth-1:0] req_words_i,  // 1..MaxWords
  output logic [NumLinks-1:0]   gnt_o
);
  localparam int unsigned AheadWidth = $clog2(MaxAhead + MaxWords + 1);
  typedef logic [AheadWidth-1:0] ahead_t;
  typedef ahead_t [NumLinks-1:0] ahead_all_t;
  typedef logic [NumLinks-1:0] links_t;
  typedef links_t [NumLinks-1:0] order_t;

  if (NumLinks < 2 || NumLinks > 8) begin : gen_links_check
    $error("link_spread: NumLinks is %0d, legal is 2..8", NumLinks);
  end
  if (NumDests < 1 || NumDests > 128) begin : gen_dests_check
    $error("link_spread: NumDests is %0d, legal is 1..128", NumDests);
  end
  if (MaxWords < 1 || MaxWords > 510 || MaxAhead > 4095) begin : gen_words_check
    $error("link_spread: MaxWords is %0d, legal is 1..510; MaxAhead is %0d, legal is 0..4095",
           MaxWords, MaxAhead);
  end

  // The link of a set that comes before all others of it.
  function automatic links_t foremost(links_t set, order_t order);
    links_t found;
    found = set;
    for (int unsigned i = 0; i < NumLinks; i++) begin
      for (int unsigned k = 0; k < NumLinks; k++) begin
        if (k != i && set[k] && order[k][i]) found[i] = 1'b0;
      end
    end
    return found;
  endfunction

  typedef enum logic [1:0] {StepRead, StepRank, StepChoose} step_e;
  step_e step_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) step_q <= StepRead;
    else if (!req_valid_i || gnt_o != '0) step_q <= StepRead;
    else step_q <= step_q == StepRead ? StepRank : StepChoose;
  end

  // ------------------------------------------------------------------ read: counts, and their
  // order One memory of counts; used_q: a destination's has been written.
  ahead_all_t          count_q[NumDests];
  logic [NumDests-1:0] used_q;
  ahead_all_t          count, held_q, ahead_d;
  // turn_q: links from this one on come first among equals.
  links_t              turn_q;
  // order_q[i][k]: link i has less than link k, or as much and is first.
  order_t              order_d, order_q;

  assign count = used_q[req_dest_i] ? count_q[req_dest_i] : '0;

  for (genvar i = 0; i < NumLinks; i++) begin : gen_order
    assign order_d[i][i] = 1'b0;
    for (genvar k = i + 1; k < NumLinks; k++) begin : gen_pair
      logic first;
      assign first         = turn_q[i] || !turn_q[k];
      assign order_d[i][k] = {count[i], 1'b0} < {count[k], first};
      assign order_d[k][i] = !order_d[i][k];
    end
  end

  always_ff @(posedge clk_i) begin
    if (step_q == StepRead) begin
      held_q  <= count;
      order_q <= order_d;
    end
  end

  // ------------------------------------------------------------------ rank: beyond the least
  // Again in every cycle: links may come and go while the packet waits.
  ahead_all_t ahead_q;
  links_t     up_q, within_q, lead;
  ahead_t     least;

  assign lead = foremost(up_i, order_q);
  always_comb begin
    least = '0;
    for (int unsigned i = 0; i < NumLinks; i++) begin
      if (lead[i]) least = least | held_q[i];
    end
  end

  for (genvar i = 0; i < NumLinks; i++) begin : gen_rank
    logic   behind;
    ahead_t beyond;
    assign {behind, beyond} = {1'b0, held_q[i]} - {1'b0, least};
    always_ff @(posedge clk_i) begin
      ahead_q[i]  <= behind ? '0 : beyond;
      within_q[i] <= up_i[i] && beyond <= ahead_t'(MaxAhead);
    end
  end

  always_ff @(posedge clk_i) up_q <= up_i;

  // ------------------------------------------------------------------ choose: among those that can
  logic ranked;
  assign ranked = req_valid_i && step_q == StepChoose && up_i == up_q;
  assign gnt_o  = foremost(ranked ? within_q & free_i : '0, order_q);

  for (genvar i = 0; i < NumLinks; i++) begin : gen_count
    assign ahead_d[i] = ahead_q[i] + (gnt_o[i] ? ahead_t'(req_words_i) : '0);
  end

  always_ff @(posedge clk_i) if (gnt_o != '0) count_q[req_dest_i] <= ahead_d;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      used_q <= '0;
      turn_q <= '1;
    end else if (gnt_o != '0) begin
      used_q[req_dest_i] <= 1'b1;
      // Those behind the one that was given.
      turn_q <= ~(gnt_o | (gnt_o - 1'b1));
    end
  end
endmodule
