// SPDX-License-Identifier: SHL-2.1
/// Lookups of an ATC that wait: each for a translation in flight (linked), or for a free place of
/// one.
///
///   Contract    go_*: one that can go on, with turn_i: its translation has come, or it is not
///               linked and a place is free. enter_i stores the lookup look_*, with linked_i and
///               its translation link_miss_i; linked_i without it links the one in slot_i. leave_i:
///               that one is answered. awaited_o: translations that a lookup waits for, with what
///               is linked in this cycle. at_miss_o: the translation of the one in slot_i
///   Handshake   the caller lets a lookup in only with two_free_o: one may be on its way to enter_i
///   Fairness    round robin of those that can go on
///   Latency     0 cycles; enter_i, leave_i and linked_i count from the next
///   Parameters  NumWait 2..64, NumMiss 1..64
///   Not done    the lookups' order: the first that can, goes on
module atc_waits #(
  parameter  int unsigned VpnWidth  = 36,
  parameter  int unsigned TagWidth  = 6,
  parameter  int unsigned NumWait   = 16,
  parameter  int unsigned NumMiss   = 8,
  localparam int unsigned WaitWidth = $clog2(NumWait),
  localparam int unsigned MissWidth = NumMiss > 1 ? $clog2(NumMiss) : 1
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,
  // first cycle
  input  logic                 turn_i,
  input  logic [NumMiss-1:0]   miss_done_i,
  input  logic                 any_miss_free_i,
  output logic                 ready_o,        // some can go on
  output logic                 go_o,           // one does
  output logic                 go_linked_o,
  output logic [WaitWidth-1:0] go_slot_o,
  output logic [VpnWidth-1:0]  go_vpn_o,
  output logic                 go_write_o,
  output logic [TagWidth-1:0]  go_tag_o,
  // second cycle
  input  logic                 busy_i,         // the one in slot_i is there
  input  logic [WaitWidth-1:0] slot_i,
  output logic [MissWidth-1:0] at_miss_o,
  input  logic [VpnWidth-1:0]  look_vpn_i,
  input  logic                 look_write_i,
  input  logic [TagWidth-1:0]  look_tag_i,
  input  logic                 enter_i,
  input  logic                 leave_i,
  input  logic                 linked_i,
  input  logic [MissWidth-1:0] link_miss_i,
  output logic [NumMiss-1:0]   awaited_o,
  output logic                 any_unlinked_o,
  output logic                 two_free_o,
  output logic                 empty_o
);
  if (NumWait < 2 || NumWait > 64) begin : gen_wait_check
    $error("atc_waits: NumWait is %0d, legal is 2..64", NumWait);
  end
  typedef logic [MissWidth-1:0] miss_t;
  typedef logic [WaitWidth-1:0] slot_t;
  typedef struct packed {
    logic [VpnWidth-1:0] vpn;
    logic                write;
    logic [TagWidth-1:0] tag;
  } lookup_t;
  lookup_t wait_q [NumWait];
  logic [NumWait-1:0] wait_valid_q, wait_linked_q, wait_go, wait_gnt, wait_free;
  miss_t [NumWait-1:0] wait_miss_q;
  slot_t free_slot;

  for (genvar w = 0; w < NumWait; w++) begin : gen_go
    assign wait_go[w] = wait_valid_q[w] && !(busy_i && slot_i == slot_t'(w)) &&
        (wait_linked_q[w] ? miss_done_i[wait_miss_q[w]] : any_miss_free_i);
  end
  arb_rr #(.NumReq(NumWait)) u_go (
    .clk_i, .rst_ni, .req_i(turn_i ? wait_go : '0), .last_i(1'b1), .gnt_o(wait_gnt),
    .idx_o(go_slot_o)
  );
  assign ready_o     = wait_go != '0;
  assign go_o        = wait_gnt != '0;
  assign go_linked_o = wait_linked_q[go_slot_o];
  assign {go_vpn_o, go_write_o, go_tag_o} = wait_q[go_slot_o];

  assign at_miss_o      = wait_miss_q[slot_i];
  assign any_unlinked_o = (wait_valid_q & ~wait_linked_q) != '0;
  assign wait_free      = ~wait_valid_q;
  assign two_free_o     = (wait_free & (wait_free - 1'b1)) != '0;
  assign empty_o        = wait_valid_q == '0;
  always_comb begin
    free_slot = '0;
    for (int unsigned w = NumWait; w > 0; w--) if (wait_free[w-1]) free_slot = slot_t'(w - 1);
  end
  for (genvar m = 0; m < NumMiss; m++) begin : gen_awaited
    logic [NumWait-1:0] mine;
    for (genvar w = 0; w < NumWait; w++) begin : gen_mine
      assign mine[w] = wait_valid_q[w] && wait_linked_q[w] && wait_miss_q[w] == miss_t'(m);
    end
    assign awaited_o[m] = mine != '0 || (linked_i && link_miss_i == miss_t'(m));
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      wait_valid_q <= '0;
    end else begin
      if (enter_i) wait_valid_q[free_slot] <= 1'b1;
      if (leave_i) wait_valid_q[slot_i] <= 1'b0;
    end
  end
  always_ff @(posedge clk_i) begin
    if (enter_i) begin
      wait_q[free_slot]        <= '{vpn: look_vpn_i, write: look_write_i, tag: look_tag_i};
      wait_linked_q[free_slot] <= linked_i;
      wait_miss_q[free_slot]   <= link_miss_i;
    end else if (linked_i) begin
      wait_linked_q[slot_i] <= 1'b1;
      wait_miss_q[slot_i]   <= link_miss_i;
    end
  end
endmodule
