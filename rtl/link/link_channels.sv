// SPDX-License-Identifier: SHL-2.1
/// Virtual channels in front of a sender: NumIds ports of packets, one for each id, into the one
/// transmit port of link_port or link_bundle.
///
/// A packet begins only where the far end's buffer of its id has room for the longest; of the
/// channels that may begin, the next in turn does. So a channel without credit stops no other.
///
///   Handshake   valid_i[i], flit_i[i] stay until ready_o[i]: a Sop or none, data.., Eop | Edb. A
///               Sop is made where there is none; its data becomes the id, i. tx_valid_o, tx_flit_o
///               stay until tx_ready_i, and do not depend on it
///   Ordering    a packet leaves whole; packets of one id stay in order
///   Credit      a packet begins only with up_i and room for MaxWords + 1 words at the far end;
///               room_i falls a clock after a word was taken, and words under way are allowed for
///   Fairness    between a packet that may begin and its Sop leave at most NumIds - 1 others
///               (proved: formal/link/link_channels.sby)
///   Latency     valid_i to Sop 1 cycle, a data word or end to tx_flit_o 1 cycle
///   Throughput  one word a cycle: a packet's Sop follows the end before it in the next cycle
///   Parameters  NumIds 1..64, Lanes 1..8 of 32 bits, MaxWords as of link_port, CountWidth as there
///   Not done    weights, priorities; buffers: a packet that pauses keeps the link
module link_channels
  import link_pkg::*;
#(
  parameter int unsigned NumIds     = 2,
  parameter int unsigned Lanes      = 1,
  parameter int unsigned MaxWords   = 128,
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
  input  logic                up_i,
  input  count_t [NumIds-1:0] room_i,
  input  logic   [NumIds-1:0] valid_i,
  output logic   [NumIds-1:0] ready_o,
  input  flit_t  [NumIds-1:0] flit_i,
  output logic                tx_valid_o,
  input  logic                tx_ready_i,
  output flit_t               tx_flit_o,
  output logic                idle_o  // nothing changes until an input does
);
  // Words that may be under way when room_i is looked at: one in the register below, and one that
  // the link took and room_i, kept a cycle, does not show.
  localparam int unsigned RoomNeed = MaxWords + 1 + 2;

  if (NumIds < 1 || NumIds > 64) begin : gen_ids_check
    $error("link_channels: NumIds is %0d, legal is 1..64", NumIds);
  end
  if (Lanes < 1 || Lanes > 8) begin : gen_lanes_check
    $error("link_channels: Lanes is %0d, legal is 1..8", Lanes);
  end
  if (MaxWords < 1 || RoomNeed > 1 << (CountWidth - 1)) begin : gen_max_words_check
    $error("link_channels: MaxWords is %0d, legal is 1..%0d", MaxWords,
           (1 << (CountWidth - 1)) - 3);
  end

  logic [NumIds-1:0] room, room_q, may, first, pick, select_q;
  logic [NumIds-1:0] after_q;  // the channels above the one that began last: they go first
  logic              busy_q, move, start, take;
  flit_t             flit_d, sop;

  for (genvar i = 0; i < int'(NumIds); i++) begin : gen_room
    assign room[i] = up_i && room_i[i] >= count_t'(RoomNeed);
  end
  assign may   = valid_i & room_q;
  assign first = may & after_q;
  arb_fixed #(.NumReq(NumIds)) u_pick (.req_i(first != '0 ? first : may), .gnt_o(pick));

  assign move  = !tx_valid_o || tx_ready_i;
  assign start = !busy_q && move && may != '0;
  assign take  = busy_q && move && (valid_i & select_q) != '0;

  always_comb begin
    flit_d   = '0;
    sop      = '0;
    sop.kind = FlitSop;
    for (int unsigned i = 0; i < NumIds; i++) begin
      flit_d = flit_d | (flit_i[i] & {$bits(flit_t){select_q[i]}});
      if (pick[i]) sop.data[0] = sop.data[0] | 32'(i);
      // A Sop of the source's own goes with the one that is made.
      ready_o[i] = (take && select_q[i]) || (start && pick[i] && flit_i[i].kind == FlitSop);
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      room_q     <= '0;
      busy_q     <= 1'b0;
      select_q   <= '0;
      after_q    <= '0;
      tx_valid_o <= 1'b0;
    end else begin
      room_q <= room;
      if (move) tx_valid_o <= start || take;
      if (start) begin
        busy_q   <= 1'b1;
        select_q <= pick;
        after_q  <= ~(pick | (pick - 1'b1));
      end
      if (take) busy_q <= flit_d.kind == FlitData;
    end
  end
  always_ff @(posedge clk_i) if (move) tx_flit_o <= busy_q ? flit_d : sop;

  // Nothing moves at the next edge, unless an input changes.
  assign idle_o = !start && !take && !(tx_valid_o && tx_ready_i) && room_q == room;
endmodule
