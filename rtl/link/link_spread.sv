// SPDX-License-Identifier: SHL-2.1
/// Picks the link of each packet of a bundle packet by packet, so that every destination's words are spread
/// evenly over its links.
///
/// For each destination and link it counts the words given so far, beyond those of the link that has got
/// least. A packet goes to that of the links which can take it now that has got least of its
/// destination; of equal ones to the next in turn. A link more than MaxAhead words ahead of another that is
/// up waits for it: so one that stands still holds its destinations back, rather than be left behind. What
/// is down counts for nothing, and has nothing to catch up when it comes back.
///
///   Handshake   gnt_o is one-hot or zero; where it is not zero with req_valid_i, the packet is that link's
///   Ordering    packets of one link stay in order, across links there is none
///   Latency     0 cycles, combinational
///   Throughput  a packet a cycle
///   Balance     a link's words of a destination are at most MaxAhead + MaxWords more than another's, while
///               both are up; where all links that are up are free, one is given
///                                              (proved: formal/link/link_spread.sby)
///   Parameters  NumLinks 2..8, NumDests 1..128, MaxWords 1..510 words of a packet, MaxAhead 0..4095
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

  // One memory of counts; used_q: a destination's has been written.
  ahead_all_t          ahead_q[NumDests];
  logic [NumDests-1:0] used_q;
  ahead_all_t          read, ahead, ahead_d;
  ahead_t              least;

  assign read = used_q[req_dest_i] ? ahead_q[req_dest_i] : '0;

  always_comb begin
    least = '1;
    for (int unsigned i = 0; i < NumLinks; i++) begin
      if (up_i[i] && read[i] < least) least = read[i];
    end
    for (int unsigned i = 0; i < NumLinks; i++) begin
      ahead[i] = read[i] > least ? read[i] - least : '0;
    end
  end

  // turn_q: links from this one on come first among equals.
  logic [NumLinks-1:0] able, turn_q;

  for (genvar i = 0; i < NumLinks; i++) begin : gen_link
    logic [NumLinks-1:0] beaten;
    assign able[i] = req_valid_i && up_i[i] && free_i[i] && ahead[i] <= ahead_t'(MaxAhead);
    for (genvar k = 0; k < NumLinks; k++) begin : gen_other
      if (k == i) begin : gen_self
        assign beaten[k] = 1'b0;
      end else begin : gen_pair
        logic first;
        assign first     = turn_q[k] == turn_q[i] ? k < i : turn_q[k];
        assign beaten[k] = able[k] && (ahead[k] < ahead[i] || (ahead[k] == ahead[i] && first));
      end
    end
    assign gnt_o[i]   = able[i] && beaten == '0;
    assign ahead_d[i] = gnt_o[i] ? ahead[i] + ahead_t'(req_words_i) : ahead[i];
  end

  always_ff @(posedge clk_i) if (gnt_o != '0) ahead_q[req_dest_i] <= ahead_d;

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
