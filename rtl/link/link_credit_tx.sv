// SPDX-License-Identifier: SHL-2.1
/// A sender's credits: words sent to each buffer of the far end, words it has freed, and the room
/// left.
///
/// `room = Depth - (sent - freed)`. A CREDIT moves `freed` on to its count, but never past `sent`;
/// one that would is ignored. After clear_i there is no room until the first CREDIT of an id.
///
///   Handshake   none
///   Latency     3 cycles from credit_i to room_o; 1 from inc_i
///   Throughput  one word counted and one CREDIT taken a cycle; of two CREDITs of one id in a row
///               the second is skipped
///   Parameters  NumIds 1..64, Depth 2..512
///   Not done    a check that there is room: the sender of packets does it
module link_credit_tx
  import link_pkg::*;
#(
  parameter int unsigned NumIds = 1,
  parameter int unsigned Depth  = 512,
  parameter int unsigned CountWidth     = CountBits,
  localparam type        count_t        = logic [CountWidth-1:0]
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  input  logic                clear_i,         // for NumIds cycles at least
  // Words that are sent: the count before this cycle's.
  input  id_t                 id_i,
  input  logic                inc_i,
  output count_t              sent_o,
  // CREDIT words that have come.
  input  logic                credit_i,
  input  id_t                 credit_id_i,
  input  count_t              credit_count_i,
  output logic                bad_o,           // one was ignored
  output logic [NumIds-1:0]   whole_o,         // everything sent has been freed
  output count_t [NumIds-1:0] room_o,
  output logic                idle_o
);
  localparam int unsigned AddrWidth = NumIds > 1 ? $clog2(NumIds) : 1;
  typedef logic [AddrWidth-1:0] addr_t;

  logic unused;
  assign unused = &{1'b0, id_i, credit_id_i};

  if (NumIds < 1 || NumIds > 64) begin : gen_ids_check
    $error("link_credit_tx: NumIds is %0d, legal is 1..64", NumIds);
  end
  if (CountWidth < 4 || CountWidth > 13) begin : gen_count_check
    $error("link_credit_tx: CountWidth is %0d, legal is 4..13", CountWidth);
  end
  localparam int unsigned HalfRange = 1 << (CountWidth - 1);
  if (Depth < 2 || Depth > HalfRange) begin : gen_depth_check
    $error("link_credit_tx: Depth is %0d, legal is 2..%0d", Depth, HalfRange);
  end

  // Both memories are cleared an address a cycle, at least once.
  addr_t  clear_addr_q, sent_addr, freed_addr;
  count_t sent_q [NumIds];
  count_t freed_q[NumIds];

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) clear_addr_q <= '0;
    else if (!clear_i) clear_addr_q <= '0;
    else if (clear_addr_q != addr_t'(NumIds - 1)) clear_addr_q <= clear_addr_q + 1'b1;
  end

  assign sent_addr = clear_i ? clear_addr_q : addr_t'(id_i);
  assign sent_o    = sent_q[sent_addr];

  always_ff @(posedge clk_i) begin
    if (clear_i || inc_i) sent_q[sent_addr] <= clear_i ? '0 : sent_o + 1'b1;
  end

  // First cycle of a CREDIT: how far it moves `freed`. Second: whether it may. One that directly
  // follows another of its id would see the older `freed`: it is skipped like a lost one.
  logic   step_valid_q, accept;
  addr_t  step_id_q;
  count_t step_q, used;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) step_valid_q <= 1'b0;
    else if (step_valid_q && step_id_q == addr_t'(credit_id_i)) step_valid_q <= 1'b0;
    else step_valid_q <= credit_i && !clear_i;
  end
  always_ff @(posedge clk_i) begin
    step_id_q <= addr_t'(credit_id_i);
    step_q    <= credit_count_i - freed_q[addr_t'(credit_id_i)];
  end

  // The words in use may grow in this very cycle; they only grow, so the older number is safe.
  assign used       = count_t'(Depth) - room_o[step_id_q];
  assign accept     = step_valid_q && step_q <= used;
  assign freed_addr = clear_i ? clear_addr_q : step_id_q;

  always_ff @(posedge clk_i) begin
    if (clear_i || accept) begin
      freed_q[freed_addr] <= clear_i ? -count_t'(Depth) : freed_q[freed_addr] + step_q;
    end
  end

  count_t step_and_word;
  assign step_and_word = step_q - count_t'(inc_i && addr_t'(id_i) == step_id_q);

  for (genvar i = 0; i < NumIds; i++) begin : gen_whole
    assign whole_o[i] = room_o[i] == count_t'(Depth);
  end

  // Nothing changes at the next edge unless an input does.
  assign idle_o = !step_valid_q && !bad_o;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      room_o <= '0;
      bad_o  <= 1'b0;
    end else begin
      bad_o <= step_valid_q && !accept && !clear_i;
      for (int unsigned i = 0; i < NumIds; i++) begin
        if (clear_i) room_o[i] <= '0;
        else if (accept && step_id_q == addr_t'(i)) room_o[i] <= room_o[i] + step_and_word;
        else if (inc_i && addr_t'(id_i) == addr_t'(i)) room_o[i] <= room_o[i] - 1'b1;
      end
    end
  end
endmodule
