// SPDX-License-Identifier: SHL-2.1
/// Lease and fence of a near-data unit: what it did and holds is undone when it is reset or stops.
///
/// It is in the shell, between ccix_update and the lock table and the agent, and stays while the
/// unit is reset. The unit has a token, which its beats, orders and accesses carry. A unit that
/// begins anew (join_i), or has sent no beat for Lease cycles, loses its token: from then on its
/// orders and accesses are refused. Each of its transactions that is open is lost: its updates are
/// undone, then its locks are released. One that had begun to release its locks was complete: it
/// stays, only its locks are released. So a lost transaction is made whole or not at all, before
/// another one sees its records.
///
///   Handshake   task, order, req: valid/ready. What is presented downstream is stable: a token
///               ends in a cycle in which nothing waits. Answers are strobes; those of lost
///               transactions are not passed on. lost_o is a strobe: its slot is free again
///   Ordering    the unit's as they come; of a lost transaction: accesses in flight, undone updates
///               from the last, then locks from the last
///   Latency     0 cycles, combinational, both ways; a lost transaction that waits for nothing: a
///               cycle an update and a lock, and 1 + up to Slots
///   Throughput  an order and an access a cycle
///   Log         log_o: an update when it is taken, with the value before it; a transaction at its
///               first release, when it is complete; one that is undone, before its first release
///   Safety      of a lost transaction nothing but the undoing reaches memory; each lock granted is
///               released once                          (proved: formal/ccix/ccix_lease.sby)
///   Parameters  Slots 2..64 as the unit. Lease 4..65536: longer than the unit may stop.
///               TokenWidth 2..16
///   Memory      old values and held locks of four steps a slot
///   Not done    a lease a slot: all of a unit's transactions are lost together; a reset of the
///               table or of this module
module ccix_lease
  import ccix_pkg::*;
  import svm_pkg::*;
#(
  parameter  int unsigned Slots      = 64,
  parameter  int unsigned Lease      = 1024,
  parameter  int unsigned TokenWidth = 8,
  localparam int unsigned SlotWidth  = $clog2(Slots)
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,
  // The unit's life.
  input  logic                  join_i,             // level, until joined_o
  output logic                  joined_o,           // strobe: it has token_o from the next cycle on
  output logic [TokenWidth-1:0] token_o,            // the one in force
  input  logic                  beat_i,
  input  logic [TokenWidth-1:0] token_i,            // of its beats, orders, accesses
  output logic                  current_o,          // token_i is in force
  input  logic                  stop_i,             // level: present nothing new of the unit
  output logic                  waits_o,            // something of the unit is presented, not taken
  // From the unit.
  input  logic                  task_valid_i,
  output logic                  task_ready_o,
  input  logic [SlotWidth-1:0]  task_slot_i,
  input  logic [1:0]            task_last_i,        // the number of its last lock (ccix_locks)
  input  logic                  order_valid_i,
  output logic                  order_ready_o,
  input  lock_order_t           order_i,            // its owner is the slot
  output logic                  ans_valid_o,
  input  logic                  req_valid_i,
  output logic                  req_ready_o,
  input  access_t               req_i,              // bits 6 to 0 of its tag are the slot
  output logic                  rsp_valid_o,
  // To the lock table and the agent, and their answers.
  output logic                  order_valid_o,
  input  logic                  order_ready_i,
  output lock_order_t           order_o,
  input  logic                  ans_valid_i,
  input  lock_answer_t          ans_i,
  output logic                  req_valid_o,
  input  logic                  req_ready_i,
  output access_t               req_o,
  input  logic                  rsp_valid_i,
  input  logic [7:0]            rsp_tag_i,
  input  logic [63:0]           rsp_word_i,         // the record's first word
  // What became of lost transactions.
  output logic                  lost_o,
  output logic [SlotWidth-1:0]  lost_slot_o,
  output logic                  lost_whole_o,       // it was complete
  output log_events_t           log_o,              // for a log at the host: see ccix_log
  output logic                  stale_o,            // strobe: an old token is refused
  output logic                  fail_o              // level: an answer that no order or access has
);
  typedef logic [SlotWidth-1:0] slot_t;
  typedef logic [2:0] count_t;
  slot_t order_slot, req_slot, ans_slot;
  assign order_slot = slot_t'(order_i.owner);
  assign req_slot   = slot_t'(req_i.tag[6:0]);
  assign ans_slot   = slot_t'(ans_i.owner);
  localparam int unsigned LeaseWidth = $clog2(Lease + 1);

  if (Slots < 2 || Slots > 64 || Lease < 4 || Lease > 65536 || TokenWidth < 2 || TokenWidth > 16)
  begin : gen_check
    $error(
        "ccix_lease: Slots %0d, legal is 2..64; Lease %0d, legal is 4..65536",
        Slots,
        Lease,
        "; TokenWidth %0d, legal is 2..16",
        TokenWidth
    );
  end

  // ---------------------------------------------------------------- the token
  logic [TokenWidth-1:0] token_q;
  logic [LeaseWidth-1:0] timer_q;
  logic owned_q, expired, ends, waits, change;
  assign token_o   = token_q;
  assign current_o = owned_q && token_i == token_q;
  assign expired   = owned_q && timer_q == '0;
  assign ends      = join_i || expired;
  assign change    = ends && !waits;
  assign joined_o  = join_i && change;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      token_q <= '0;
      owned_q <= 1'b0;
      timer_q <= '0;
    end else begin
      if (change) begin
        token_q <= token_q + 1'b1;
        owned_q <= join_i;
      end
      if (joined_o || (beat_i && current_o && !expired)) timer_q <= LeaseWidth'(Lease);
      else if (timer_q != '0) timer_q <= timer_q - 1'b1;
    end
  end

  // ---------------------------------------------------------------- transactions
  logic [Slots-1:0] used_q, dead_q, asks_q, whole_q;
  logic [1:0]  last_q [Slots];
  count_t      held_q [Slots];       // locks
  count_t      logged_q [Slots];     // updates
  logic [4:0]  flight_q [Slots];     // accesses without an answer
  logic [63:0] value_q [Slots];      // of the last record that it read
  logic [15:0] lock_q [Slots][4];
  logic        exclusive_q [Slots][4];
  logic [15:0] fence_q [Slots][4];
  index_t      index_q [Slots][4];
  logic [63:0] old_q [Slots][4];

  // ---------------------------------------------------------------- a lost one
  typedef enum logic [1:0] {
    StScan,
    StUndo,
    StDrain,
    StRelease
  } state_e;
  state_e state_q;
  slot_t  slot_q;
  logic undo, release_lock, undo_go, release_go, found, logs;
  count_t undo_at;
  logic [1:0] release_at;
  assign found        = dead_q[slot_q] && !asks_q[slot_q] && flight_q[slot_q] == '0;
  assign logs         = logged_q[slot_q] != '0;
  assign undo         = state_q == StUndo;
  assign release_lock = state_q == StRelease && held_q[slot_q] != '0;
  assign undo_at      = logged_q[slot_q] - 1'b1;
  assign release_at   = 2'(held_q[slot_q] - 1'b1);
  assign lost_o       = state_q == StRelease && held_q[slot_q] == '0;
  assign lost_slot_o  = slot_q;
  assign lost_whole_o = whole_q[slot_q];

  // ---------------------------------------------------------------- which transaction is presented
  // The unit's keeps its place while it waits.
  logic order_waits_q, req_waits_q, order_pass, req_pass, order_ours, req_ours, order_go, req_go;
  assign order_ours = release_lock && !order_waits_q;
  assign req_ours = undo && !req_waits_q;
  assign order_pass = current_o && (order_waits_q || !(ends || stop_i || order_ours));
  assign req_pass = current_o && (req_waits_q || !(ends || stop_i || req_ours));
  assign order_valid_o = order_ours || (order_valid_i && order_pass);
  assign req_valid_o = req_ours || (req_valid_i && req_pass);
  assign order_ready_o = current_o ? order_ready_i && order_pass : !stop_i;
  assign req_ready_o = current_o ? req_ready_i && req_pass : !stop_i;
  assign order_go = order_valid_i && order_pass && order_ready_i;
  assign req_go = req_valid_i && req_pass && req_ready_i;
  assign release_go = order_ours && order_ready_i;
  assign undo_go = req_ours && req_ready_i;
  assign waits         = (order_valid_i && order_pass && !order_ready_i) ||
                         (req_valid_i && req_pass && !req_ready_i);
  assign waits_o = waits;
  assign stale_o = !current_o && !stop_i && (order_valid_i || req_valid_i);
  assign task_ready_o = current_o && !ends;
  always_comb begin
    order_o       = order_i;
    order_o.owner = 8'(order_slot);
    req_o         = req_i;
    req_o.tag     = {req_i.write, 7'(req_slot)};
    req_o.mask    = req_i.write ? mask_t'(8'hFF) : '1;
    if (order_ours) begin
      order_o = '{
        owner: 8'(slot_q), op: LockRelease, exclusive: exclusive_q[slot_q][release_at],
        lock: lock_q[slot_q][release_at], fence: fence_q[slot_q][release_at]
      };
    end
    if (req_ours) begin
      req_o = '{
        write: 1'b1, index: index_q[slot_q][undo_at[1:0]], tag: {1'b1, 7'(slot_q)},
        mask: mask_t'(8'hFF), data: line_t'(old_q[slot_q][undo_at[1:0]])
      };
    end
  end

  // ---------------------------------------------------------------- answers
  slot_t rsp_slot;
  logic granted, refused, releases, ask, task_go;
  logic [Slots-1:0] used_d;
  assign rsp_slot    = slot_t'(rsp_tag_i[6:0]);
  assign granted     = ans_valid_i && ans_i.status == LockGranted;
  assign refused     = ans_valid_i && ans_i.status inside {LockBusy, LockFull};
  assign ans_valid_o = ans_valid_i && !dead_q[ans_slot];
  assign rsp_valid_o = rsp_valid_i && !dead_q[rsp_slot];
  assign ask         = order_go && order_i.op != LockRelease;
  assign releases    = order_go && order_i.op == LockRelease;
  assign task_go     = task_valid_i && task_ready_o;
  always_comb begin
    used_d = used_q;
    if (refused && !dead_q[ans_slot] && held_q[ans_slot] == '0) used_d[ans_slot] = 1'b0;
    if (releases && held_q[order_slot] == 3'd1) used_d[order_slot] = 1'b0;
    if (lost_o) used_d[slot_q] = 1'b0;
    if (task_go) used_d[task_slot_i] = 1'b1;
  end

  // ---------------------------------------------------------------- what is logged
  logic complete, to_release;
  // Behind the first release others see its records: it is complete, with all its locks.
  assign complete   = releases && held_q[order_slot] == 3'(last_q[order_slot]) + 3'd1;
  assign to_release = (state_q == StScan && found && !(logs && !whole_q[slot_q])) ||
                      (state_q == StDrain && flight_q[slot_q] == '0);
  assign log_o = '{
    update: req_go && req_i.write, update_slot: 6'(req_slot), record: 32'(req_i.index),
    old_value: value_q[req_slot], new_value: req_i.data[0], complete: complete,
    complete_slot: 6'(order_slot), undone: to_release && !whole_q[slot_q], undone_slot: 6'(slot_q)
  };

  logic stray;
  assign stray = ((granted || refused) && !asks_q[ans_slot]) ||
                 (rsp_valid_i && flight_q[rsp_slot] == '0) ||
                 (req_go && flight_q[req_slot] == '1);
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      used_q        <= '0;
      dead_q        <= '0;
      asks_q        <= '0;
      whole_q       <= '0;
      state_q       <= StScan;
      slot_q        <= '0;
      order_waits_q <= 1'b0;
      req_waits_q   <= 1'b0;
      fail_o        <= 1'b0;
      for (int unsigned s = 0; s < Slots; s++) begin
        held_q[s]   <= '0;
        logged_q[s] <= '0;
        flight_q[s] <= '0;
      end
    end else begin
      order_waits_q <= order_valid_i && order_pass && !order_ready_i;
      req_waits_q   <= req_valid_i && req_pass && !req_ready_i;
      fail_o        <= fail_o || stray;
      used_q        <= used_d;
      if (lost_o) dead_q[slot_q] <= 1'b0;
      if (change) dead_q <= used_d;
      if (granted || refused) asks_q[ans_slot] <= 1'b0;
      if (ask) asks_q[order_slot] <= 1'b1;
      if (complete) whole_q[order_slot] <= 1'b1;
      for (int unsigned s = 0; s < Slots; s++) begin
        held_q[s] <= held_q[s] + count_t'(granted && 32'(ans_slot) == s)
            - count_t'((releases && 32'(order_slot) == s) || (release_go && 32'(slot_q) == s));
        flight_q[s] <= flight_q[s]
            + 5'((req_go && 32'(req_slot) == s) || (undo_go && 32'(slot_q) == s))
            - 5'(rsp_valid_i && 32'(rsp_slot) == s);
      end
      if (req_go && req_i.write) logged_q[req_slot] <= logged_q[req_slot] + 1'b1;
      if (undo_go) logged_q[slot_q] <= undo_at;
      if (task_go) begin
        logged_q[task_slot_i] <= '0;
        whole_q[task_slot_i]  <= 1'b0;
      end
      case (state_q)
        StScan: begin
          if (found) state_q <= to_release ? StRelease : StUndo;
          else slot_q <= 32'(slot_q) == Slots - 1 ? '0 : slot_q + 1'b1;
        end
        StUndo:  if (undo_go && undo_at == '0) state_q <= StDrain;
        StDrain: if (to_release) state_q <= StRelease;
        default: if (lost_o) state_q <= StScan;
      endcase
    end
  end
  always_ff @(posedge clk_i) begin
    if (task_go) last_q[task_slot_i] <= task_last_i;
    if (ask) begin
      lock_q[order_slot][held_q[order_slot][1:0]]      <= order_i.lock;
      exclusive_q[order_slot][held_q[order_slot][1:0]] <= order_i.exclusive;
    end
    if (granted) fence_q[ans_slot][held_q[ans_slot][1:0]] <= ans_i.fence;
    if (rsp_valid_i && !rsp_tag_i[7]) value_q[rsp_slot] <= rsp_word_i;
    if (req_go && req_i.write) begin
      index_q[req_slot][logged_q[req_slot][1:0]] <= req_i.index;
      old_q[req_slot][logged_q[req_slot][1:0]]   <= value_q[req_slot];
    end
  end
  logic unused;
  assign unused = ^{order_i, req_i, ans_i};
  prim_assert u_answers (
      .clk_i,
      .rst_ni,
      .ok_i(!stray)
  );
endmodule
