// SPDX-License-Identifier: SHL-2.1
/// Which control packets are owed to which host: bounded state,
/// so the receive side never waits to send.
///
/// ACKs are a bit a source, filled in when they go. Refusals are itemised while the list has room,
/// others are counted alone. ACK and REFUSED carry the count of all, so one that is lost on its way
/// is made good by the next one, and say whether more are to come, so their source knows to ask.
///
///   In          ack_i, deny_i, refuse_i, late_i: strobes, the last two every third cycle at most;
///               a late_i is counted, not itemised
///   Out         ctl_valid_o/ctl_ready_i; only to hosts with their bit of ctl_room_i, as it was
///               when the packet was chosen, and no other was pending for this host: a bit that
///               falls with the taking of a packet is enough. view_*: the flow of view_src_o,
///               in the same cycle
///   Latency     strobe to ctl_valid_o 4 cycles; of what is counted alone 5
///   Throughput  a packet in 3 cycles, to the same host in 4
///   Fairness    kinds take turns, and hosts within each:
///               a host with room is passed by at most 3 NumHosts - 1 packets
///                                                          (proved: formal/rdma/rdma_ack.sby)
///               A refusal whose host has no room goes to the end of the list, or to the counts
///               where the list is full
///   Parameters  NumHosts 2..8, Items 4..64 itemised refusals, a power of two
///   Not done    ACK of a flow that is not open: it is owed no more. The session of what is counted
///               alone: it counts in the one that is open when it does
module rdma_ack
  import rdma_pkg::*;
  import rdma_rx_pkg::*;
#(
  parameter int unsigned NumHosts = 8,
  parameter int unsigned Items    = 16
) (
  input logic  clk_i,
  input logic  rst_ni,
  input host_t host_id_i,

  input logic [NumHosts-1:0] ack_i,
  input logic                deny_i,
  input flow_t               deny_src_i,
  input session_t            deny_session_i,
  input logic                deny_open_i,    // it answers an OPEN
  input logic                refuse_i,
  input refusal_t            refusal_i,
  input logic                late_i,         // of a notification; its session is the flow's own
  input refusal_t            late_refusal_i,

  output flow_t    view_src_o,
  input  seq_t     view_number_i,
  input  seq_t     view_stored_i,
  input  session_t view_session_i,
  input  logic     view_open_i,

  output logic     ctl_valid_o,
  input  logic     ctl_ready_i,
  input  logic [7:0] ctl_room_i,
  output header_t  ctl_header_o,
  output control_t ctl_o,
  output logic     idle_o
);
  if (Items < 4 || Items > 64) begin : gen_items_check
    $error("rdma_ack: Items is %0d, legal is 4..64", Items);
  end

  typedef logic [NumHosts-1:0] hosts_t;
  hosts_t ack_q, deny_q, room, standing, free;
  assign room     = ctl_room_i[NumHosts-1:0];
  assign standing = ctl_valid_o ? hosts_t'(1) << ctl_header_o.dst[2:0] : '0;
  assign free     = room & ~standing;

  session_t denied_q [MaxHosts];
  hosts_t   denied_open_q;
  // Never cleared: the source takes the ACK's count as initial value when it opens a flow.
  (* ram_style = "distributed" *) tally_t counts_q [MaxHosts];

  // ---------------------------------------------------------------- refusals
  refusal_t item;
  logic item_valid, item_ready, item_pop, push;
  fifo #(
    .Width($bits(refusal_t)),
    .Depth(Items)
  ) u_items (
    .clk_i,
    .rst_ni,
    .clear_i(1'b0),
    .valid_i(push),
    .ready_o(item_ready),
    .data_i (refuse_i ? refusal_i : item),
    .valid_o(item_valid),
    .ready_i(item_pop),
    .data_o (item),
    .usage_o()
  );
  logic turn_over;  // the first one's host has no room: it goes to the end of the list
  assign push = item_ready && (refuse_i || turn_over);

  // Whom a refusal is counted for that is not itemised: one a cycle, others wait a cycle here.
  logic count_new, late_q, count_item, listed_q;
  flow_t count_src, late_src_q;
  hosts_t item_one;

  // ---------------------------------------------------------------- arbitration
  typedef enum logic [1:0] {
    TurnAck,
    TurnDeny,
    TurnItem
  } turn_e;
  logic [2:0] req, gnt;
  logic [1:0] turn;
  hosts_t ack_req, deny_req, req_hosts, host_gnt;
  flow_t host;

  assign ack_req  = ack_q & free;
  assign deny_req = deny_q & free;
  assign item_one = hosts_t'(1) << item.src;
  assign req      = {item_valid && (item_one & free) != '0, deny_req != '0, ack_req != '0};

  // One packet in three cycles. First: which kind. Second: which host. Third: what it says.
  logic chosen_q, picked_q, send;
  turn_e kind_q;
  hosts_t hosts_q;
  flow_t src_q;
  refusal_t item_q;
  arb_rr #(.NumReq(3)) u_turns (
    .clk_i,
    .rst_ni,
    .req_i (chosen_q || picked_q ? '0 : req),
    .last_i(1'b1),
    .gnt_o (gnt),
    .idx_o (turn)
  );

  always_comb begin
    unique case (turn_e'(turn))
      TurnAck:  req_hosts = ack_req;
      TurnDeny: req_hosts = deny_req;
      default:  req_hosts = item_one;
    endcase
  end
  // Each kind stores the host it served last: the hosts above it go first,
  // whatever other kinds did.
  hosts_t after_q [3];
  hosts_t after, any_gnt;
  assign after = hosts_q & after_q[kind_q];
  arb_fixed #(.NumReq(NumHosts)) u_hosts (
    .req_i(after != '0 ? after : hosts_q),
    .gnt_o(any_gnt)
  );
  assign host_gnt = chosen_q ? any_gnt : '0;
  always_comb begin
    host = '0;
    for (int unsigned i = 0; i < NumHosts; i++) begin
      if (host_gnt[i]) host = host | flow_t'(i);
    end
  end
  assign view_src_o = src_q;

  // In a full list there is no end to go to: then it is counted.
  logic blocked;
  assign blocked    = item_valid && (item_one & room) == '0;
  assign turn_over  = blocked && item_ready && !refuse_i;
  assign count_item = blocked && !item_ready && !count_new;
  assign item_pop   = gnt[TurnItem] || turn_over || count_item;

  // ---------------------------------------------------------------- counts
  always_comb begin
    count_new = 1'b0;
    count_src = late_src_q;
    if (refuse_i && !item_ready) begin
      count_new = 1'b1;
      count_src = refusal_i.src;
    end else if (late_q) begin
      count_new = 1'b1;
    end
  end

  // Counted a cycle later, and nothing is sent then: the counts have one address.
  logic count_q, told, ends, stale;
  flow_t count_src_q, counted;
  tally_t count, count_next;
  assign counted    = count_q ? count_src_q : src_q;
  assign count      = counts_q[counted];
  assign count_next = count + 12'd1;

  // What is owed is of a session that is gone.
  // Behind a pending one: its ready is late in the cycle.
  assign send  = picked_q && !count_q && !ctl_valid_o;
  assign stale = kind_q == TurnItem ? item_q.session != view_session_i || !view_open_i :
                                      kind_q != TurnDeny && !view_open_i;
  assign ends  = send && kind_q == TurnItem;
  assign told  = ends && !stale;

  // Items of each source, in the list or on their way out of it: what its count does not have yet.
  localparam int unsigned WaitWidth = $clog2(Items + 2);
  logic [WaitWidth-1:0] waiting_q [NumHosts];
  logic pending;
  assign pending = (ends ? waiting_q[src_q] != WaitWidth'(1) : waiting_q[src_q] != '0) ||
                   (refuse_i && refusal_i.src == src_q) ||
                   (late_i && late_refusal_i.src == src_q) || (late_q && late_src_q == src_q);
  for (genvar i = 0; i < int'(NumHosts); i++) begin : gen_waiting
    logic enters, leaves;
    assign enters = refuse_i && item_ready && refusal_i.src == flow_t'(i);
    assign leaves = counted == flow_t'(i) && (ends || (count_q && listed_q));
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) waiting_q[i] <= '0;
      else waiting_q[i] <= waiting_q[i] + WaitWidth'(enters) - WaitWidth'(leaves);
    end
  end

  always_ff @(posedge clk_i) begin
    if (count_q || told) counts_q[counted] <= count_next;
    if (deny_i) denied_q[deny_src_i] <= deny_session_i;
    if (deny_i) denied_open_q[deny_src_i] <= deny_open_i;
  end

  // A refusal that was only counted is reported by an ACK.
  hosts_t count_one;
  assign count_one = count_q ? hosts_t'(1) << count_src_q : '0;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      ack_q       <= '0;
      deny_q      <= '0;
      late_q      <= 1'b0;
      count_q     <= 1'b0;
      chosen_q    <= 1'b0;
      picked_q    <= 1'b0;
      ctl_valid_o <= 1'b0;
      for (int i = 0; i < 3; i++) after_q[i] <= '0;
    end else begin
      if (chosen_q) after_q[kind_q] <= ~(host_gnt | (host_gnt - 1'b1));
      ack_q  <= (ack_q & ~(kind_q == TurnAck ? host_gnt : '0)) | ack_i | count_one;
      deny_q <= (deny_q & ~(kind_q == TurnDeny ? host_gnt : '0)) |
                (deny_i ? hosts_t'(1) << deny_src_i : '0);
      if (late_i) late_q <= 1'b1;
      else if (!(refuse_i && !item_ready)) late_q <= 1'b0;
      count_q  <= count_new || count_item;
      chosen_q <= gnt != '0;
      picked_q <= chosen_q || (picked_q && !send);
      if (send) ctl_valid_o <= !stale;
      else if (ctl_ready_i) ctl_valid_o <= 1'b0;
    end
  end

  always_ff @(posedge clk_i) begin
    if (late_i) late_src_q <= late_refusal_i.src;
    count_src_q <= count_new ? count_src : item.src;
    listed_q    <= !count_new;
    if (!chosen_q && !picked_q) begin
      kind_q  <= turn_e'(turn);
      hosts_q <= req_hosts;
      item_q  <= item;
    end
    if (chosen_q) src_q <= host;
    if (send) begin
      ctl_header_o         <= '0;
      ctl_header_o.kind    <= KindControl;
      ctl_header_o.src     <= host_id_i;
      ctl_header_o.dst     <= host_t'(src_q);
      ctl_header_o.seq     <= kind_q == TurnDeny ? '0 : view_number_i;
      ctl_header_o.session <= kind_q == TurnDeny ? denied_q[src_q] : view_session_i;
      ctl_o                <= '0;
      ctl_o.control        <= kind_q == TurnAck ? ControlAck : ControlRefused;
      unique case (kind_q)
        TurnAck:  ctl_o.code <= 8'd1;
        TurnDeny: ctl_o.code <= 8'(CodeSession);
        default:  ctl_o.code <= 8'(item_q.code);
      endcase
      if (kind_q != TurnDeny) begin
        ctl_o.count   <= kind_q == TurnItem ? count_next : count;
        ctl_o.pending <= pending;
        ctl_o.stored  <= view_stored_i;
      end
      if (kind_q == TurnItem) ctl_o.tag <= item_q.tag;
      if (kind_q == TurnDeny && denied_open_q[src_q]) ctl_o.tag <= TagOpen;
    end
  end

  assign idle_o = !ctl_valid_o && !chosen_q && !picked_q && req == '0 && !item_valid && !late_q &&
                  !count_q;
  logic unused;
  assign unused = &{1'b0, late_refusal_i, item_q.src};
endmodule
