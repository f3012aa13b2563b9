// SPDX-License-Identifier: SHL-2.1
/// Flits of a router's port to packets of a link: chunks, each of one packet and one channel.
///
/// A chunk is Sop, data.., end; its words are the flits. It ends behind the last flit of its packet
/// (Eop), and behind any other as soon as the next one is not there or has no room at the far end
/// (a pause: Edb that carries the crc24 not inverted). So a channel that waits never keeps the
/// link, and a flit leaves before its packet is complete.
///
///   Handshake   flit_*: a flit a cycle, never stalled; the sender has a credit for each, Depth a
///               channel after reset; freed_o: a credit back, one strobe a flit, a cycle after it
///               left. tx_valid_o, tx_flit_o stay until tx_ready_i and do not depend on it
///   Packets     flits of a channel are head, any number, tail; head and tail may be one flit
///   Credit      a flit leaves only with room for it and for its chunk's end: room_i of its channel
///               is 2 or more; room_i falls the cycle after a word was taken. Words between Sop and
///               end follow each other without a gap, but for those that tx_ready_i makes
///               (proved: formal/torus/torus_link_tx.sby)
///   Scheduling  channels that have a flit and room take turns chunk by chunk
///   Fairness    a channel waits for one chunk of the other at most: MaxWords + 2 words
///   Losses      while up_i is low: flits are taken and dropped, with the rest of each packet that
///               had begun; dropped_o: the tail of such a packet is taken, a strobe a channel
///   Latency     a flit at flit_* is Sop at tx_* in the same cycle, data in the next
///   Throughput  n flits take n + 2 words
///   Parameters  Lanes 1..8 of 32 bits of a flit; Depth a power of two, 2..1024; MaxWords of a
///               chunk, 1 or more; CountWidth as of link_port
///   Not done    waiting for a flit that is late by a few cycles: it begins a chunk of its own
module torus_link_tx
  import link_pkg::*;
  import torus_pkg::NumVcs;
#(
  parameter int unsigned Lanes      = 4,
  parameter int unsigned Depth      = 64,
  parameter int unsigned MaxWords   = 63,
  parameter int unsigned CountWidth = CountBits,
  localparam type        count_t    = logic [CountWidth-1:0],
  // verilog_lint: waive typedef-structs-unions
  localparam type        flit_t     = struct packed {
    flit_kind_e             kind;
    logic [Lanes-1:0][31:0] data;
  }
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  input  logic                up_i,          // the link's; low: what comes is dropped
  input  count_t [NumVcs-1:0] room_i,        // words that the far buffer of a channel has free
  input  logic                flit_valid_i,
  input  logic                flit_vc_i,     // with flit_valid_i: its channel
  input  logic                flit_tail_i,   // with flit_valid_i: the last of its packet
  input  logic [32*Lanes-1:0] flit_data_i,
  output logic [NumVcs-1:0]   freed_o,       // a place of the channel has become free
  output logic [NumVcs-1:0]   dropped_o,     // strobe: a packet of the channel was dropped
  output logic                tx_valid_o,
  input  logic                tx_ready_i,
  output flit_t               tx_flit_o      // Sop: the channel in lane 0, its id
);
  localparam int unsigned Width = 32 * Lanes;
  localparam int unsigned WordsWidth = $clog2(MaxWords + 1);
  typedef logic [WordsWidth-1:0] words_t;

  if (Lanes < 1 || Lanes > 8) begin : gen_lanes_check
    $error("torus_link_tx: Lanes is %0d, legal is 1..8", Lanes);
  end
  if (MaxWords < 1 || MaxWords > (1 << (CountWidth - 1)) - 2) begin : gen_max_words_check
    $error("torus_link_tx: MaxWords is %0d, legal is 1..%0d", MaxWords,
           (1 << (CountWidth - 1)) - 2);
  end

  // ---------------------------------------------------------------- flits
  logic [NumVcs-1:0] put, ready, stored, tail, room, pop, drain;
  logic [Width-1:0] data [NumVcs];

  for (genvar v = 0; v < int'(NumVcs); v++) begin : gen_vc
    assign put[v]  = flit_valid_i && flit_vc_i == 1'(v);
    assign room[v] = room_i[v] >= count_t'(2);
    fifo #(
      .Width(Width + 1),
      .Depth(Depth)
    ) u_fifo (
      .clk_i,
      .rst_ni,
      .clear_i(1'b0),
      .valid_i(put[v]),
      .ready_o(ready[v]),
      .data_i ({flit_tail_i, flit_data_i}),
      .valid_o(stored[v]),
      .ready_i(pop[v]),
      .data_o ({tail[v], data[v]}),
      .usage_o()
    );
    prim_assert u_no_overflow (.clk_i, .rst_ni, .ok_i(!put[v] || ready[v]));
  end

  // ---------------------------------------------------------------- chunks
  // inside_q: a Sop was taken, its end was not; last_q: the packet's tail is in this chunk.
  // held_q: what is offered was not taken, so it stays; ending_q, begin_vc_q: what it was.
  // mid_q: the last flit that left was no tail; rest_q: what follows it is dropped.
  logic inside_q, vc_q, turn_q, last_q, held_q, ending_q, begin_vc_q;
  logic [NumVcs-1:0] mid_q, mid_d, rest_q, want;
  words_t words_q;
  logic pick, begin_vc, more, ends, take, take_data;
  logic [Lanes-1:0][23:0] crc_q, crc_d;
  logic [Lanes-1:0][31:0] word;

  // What comes now can leave in the next cycle, behind its Sop.
  assign want     = (stored | put) & ~rest_q & room & {NumVcs{up_i}};
  assign pick     = want[!turn_q] ? !turn_q : turn_q;
  assign begin_vc = held_q ? begin_vc_q : pick;
  assign more     = stored[vc_q] && room[vc_q] && up_i && !last_q && words_q != words_t'(MaxWords);
  assign ends     = held_q ? ending_q : !more;

  assign tx_valid_o = inside_q || held_q || want != '0;
  assign take       = tx_valid_o && tx_ready_i;
  assign take_data  = take && inside_q && !ends;
  assign word       = data[vc_q];

  for (genvar l = 0; l < int'(Lanes); l++) begin : gen_crc
    link_crc24 u_crc24 (
      .crc_i (crc_q[l]),
      .data_i(word[l]),
      .crc_o (crc_d[l])
    );
  end

  always_comb begin
    tx_flit_o.kind = FlitSop;
    tx_flit_o.data = '0;
    if (!inside_q) begin
      tx_flit_o.data[0] = 32'(begin_vc);
    end else if (!ends) begin
      tx_flit_o.kind = FlitData;
      tx_flit_o.data = word;
    end else begin
      tx_flit_o.kind = last_q ? FlitEop : FlitEdb;
      for (int unsigned l = 0; l < Lanes; l++) begin
        tx_flit_o.data[l] = {8'h00, last_q ? ~crc_q[l] : crc_q[l]};
      end
    end
  end

  // Dropped: all while the link is down, and behind that the rest of a packet that had begun.
  always_comb begin
    for (int unsigned v = 0; v < NumVcs; v++) begin
      drain[v]     = stored[v] && (rest_q[v] || !up_i) && !(inside_q && vc_q == 1'(v));
      pop[v]       = drain[v] || (take_data && vc_q == 1'(v));
      mid_d[v]     = pop[v] ? !tail[v] : mid_q[v];
      // A tail that the link took in its last moment.
      dropped_o[v] = (drain[v] && tail[v]) ||
                     (take && inside_q && ends && last_q && !up_i && vc_q == 1'(v));
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      inside_q <= 1'b0;
      held_q   <= 1'b0;
      turn_q   <= 1'b0;
      mid_q    <= '0;
      rest_q   <= '0;
      freed_o  <= '0;
    end else begin
      held_q <= tx_valid_o && !tx_ready_i;
      if (take) inside_q <= !(inside_q && ends);
      if (take && !inside_q) turn_q <= begin_vc;
      mid_q   <= mid_d;
      rest_q  <= up_i ? rest_q & mid_d : mid_d;
      freed_o <= pop;
    end
  end
  always_ff @(posedge clk_i) begin
    begin_vc_q <= begin_vc;
    ending_q   <= ends;
    if (take && !inside_q) begin
      vc_q    <= begin_vc;
      last_q  <= 1'b0;
      words_q <= '0;
      crc_q   <= {Lanes{Crc24Init}};
    end else if (take_data) begin
      last_q  <= tail[vc_q];
      words_q <= words_q + 1'b1;
      crc_q   <= crc_d;
    end
  end

  // A chunk has a word at least, but where the link went down.
  prim_assert u_not_empty (
    .clk_i,
    .rst_ni,
    .ok_i(!(take && inside_q && ends && up_i) || words_q != '0)
  );
endmodule
