// SPDX-License-Identifier: SHL-2.1
/// Device: an FPGA that updates records of host memory under locks that it shares with the host.
///
/// transactions -> ccix_update -> ccix_node -> CCIX interface of a PCIe hard block; its orders, and
/// those of the host, to lock_table (docs/explanation/cores/ccix.md)
///
///   Pins        cxs: a packet's beats of 512 bits, credits both ways. update: transactions and
///               their ends; reset of the unit, and a hold: its clock is stopped, to the lease
///   Lease       ccix_lease is between the unit and what it reaches. A reset or held unit loses its
///               transactions; table, cache, agent and links stay
///   Locks       with Table: lock_table is here. The host's orders are messages; it gets an answer
///               of each acquire and try, when it is decided; with CacheLines an exclusive grant
///               that the unit's release makes is behind the record's line. A record's lock is the
///               low 10 bits of its number; records of one lock wait for each other, and a
///               transaction takes it once (ccix_locks). The line is that of the record below 1024.
///               The host must wait only for a lock larger than all it has. Without: orders are
///               messages to a table of the host, and so are answers. With Cas, which needs
///               CacheLines: ccix_cas, and no table
///   Records     with CacheLines: through ccix_cache. Without: each by a read and a write of host
///               memory
///   Ordering    an order behind a write of the same transaction is behind it on the link
///   Latency     an order of the unit to its answer 2 cycles with Table; an order of the host from
///               its beat to the answer's 7
///   Throughput  an order a cycle
///   Probes      at the cycle of what they say
///   Parameters  NumTxns, MaxWords, MaxMessages, CacheLines as ccix_node; Table; Posted as
///               ccix_update; Lease as ccix_lease. Log: ccix_log sends the host what a reset of
///               the whole FPGA would lose; without Table and Cas an order takes a cycle more
///   Not done    the hard block, virtual addresses
module ccix_locks_fpga
  import ccix_pkg::*;
  import svm_pkg::*;
  import ccix_locks_fpga_pkg::*;
#(
  parameter int unsigned NumTxns     = 128,
  parameter int unsigned MaxWords    = 32,
  parameter int unsigned MaxMessages = 31,
  parameter bit          Table       = 1'b1,
  parameter bit          Posted      = 1'b0,
  parameter int unsigned CacheLines  = 0,
  parameter int unsigned Lease       = 1024,
  parameter bit          Cas         = 1'b0,
  parameter bit          Log         = 1'b0
) (
  input logic clk_i,
  input logic rst_ni,

  output logic         cxs_tx_valid_o,  // cxs_tx_*: a beat of a packet to the block, with a credit
  output logic         cxs_tx_last_o,   // the packet's last beat
  output logic [3:0]   cxs_tx_words_o,  // words in it, 1..8, from bit 0 of data on
  output logic [511:0] cxs_tx_data_o,
  input  logic         cxs_tx_credit_i,  // strobe: the block takes one beat more
  input  logic         cxs_rx_valid_i,   // cxs_rx_*: a beat from the block, as cxs_tx_*
  input  logic [3:0]   cxs_rx_words_i,
  input  logic [511:0] cxs_rx_data_i,
  output logic         cxs_rx_credit_o,  // strobe: one beat more may come

  input  logic        update_reset_i,         // level: the unit is reset, its transactions lost
  input  logic        update_hold_i,          // level: the unit does nothing, its lease runs on
  input  logic        update_valid_i,         // a transaction, held until update_ready_o
  output logic        update_ready_o,         // the transaction is taken
  input  logic [5:0]  update_slot_i,          // not of an open transaction
  input  logic [31:0] update_id_i,            // an update of value v writes 33 v + id
  input  logic [1:0]  update_last_i,          // number of the last step, 0..3
  input  logic [71:0] update_steps_i,         // step 0 lowest, each {no_wait, write, record[15:0]}
  output logic        update_locked_o,        // strobe, with its slot: it has all its locks
  output logic [5:0]  update_locked_slot_o,   // with update_locked_o
  output logic        update_refused_o,       // strobe: its first lock was refused; over
  output logic [5:0]  update_refused_slot_o,  // with update_refused_o
  output logic        update_done_o,          // strobe: it is over
  output logic [5:0]  update_done_slot_o,     // with update_done_o
  output logic        update_done_aborted_o,  // with it: a lock was refused, no record touched
  output logic [63:0] update_done_digest_o,   // with it: of the records that it read
  output logic        update_lost_o,          // strobe: it was lost with the unit; its slot is free
  output logic [5:0]  update_lost_slot_o,     // with update_lost_o
  output logic        update_lost_whole_o,    // with it: it was complete, else it is undone

  output logic [NumProbes-1:0]      probe_o,      // strobes, by probe_e; for simulation
  output logic [NumProbes-1:0][7:0] probe_tag_o,  // the slot; where an order waits, its owner

  output logic        status_up_o,        // level: the host has given credits
  output logic        status_fail_o,      // level: a protocol error
  output logic [31:0] status_requests_o,  // accesses to records; all counters wrap
  output logic [31:0] status_packets_o,   // sent
  output logic [31:0] status_words_o,     // sent, of 64 bits
  output logic [31:0] status_wrong_o,     // 0
  output logic [31:0] status_stray_o,     // answers that match no request
  output logic [31:0] status_faults_o,    // 0: addresses are physical
  output logic [31:0] status_orders_o,    // of the unit, taken by the table or the link
  output logic [31:0] status_stale_o      // orders and accesses with an old token
);
  localparam int unsigned Orders = 512;  // of the host: 64 transactions of four releases and more
  localparam int unsigned LockWidth = 10;
  if (Cas && (Table || CacheLines == 0)) begin : gen_cas_check
    $error("ccix_locks_fpga: Cas needs CacheLines, and no Table");
  end

  // ---------------------------------------------------------------- the unit
  logic order_valid, order_ready, unit_ans_valid, req_valid, req_ready, rsp_valid;
  lock_order_t order, unit_order;
  lock_answer_t unit_ans;
  access_t req, unit_req;
  logic [7:0] rsp_tag;
  line_t rsp_data;
  logic [4:0] fail;
  logic line_valid, line_ready, line_evict, line_rsp_valid, hold_snoops;
  access_t line;
  logic unit_rst_n, unit_ready, unit_done, stop, waits, join_, joined, beat, current, stale;
  logic [7:0] token, unit_token;
  logic unit_order_valid, unit_order_ready, unit_req_valid, unit_req_ready;
  logic to_unit, unit_rsp_valid, log_room, log_fail;
  log_events_t log_events;
  // The table's lock of a record; elsewhere each record has its own.
  localparam int unsigned UnitLocks = Table && !Cas ? LockWidth : 16;
  logic [3:0] unused_own, unused_exclusive, unused_no_wait;
  logic [1:0] last_lock;
  ccix_locks #(.LockWidth(UnitLocks)) u_last_lock (
    .last_i(update_last_i), .steps_i(update_steps_i), .own_o(unused_own),
    .exclusive_o(unused_exclusive), .no_wait_o(unused_no_wait), .last_lock_o(last_lock)
  );
  ccix_update #(.Posted(Posted), .LockWidth(UnitLocks)) u_update (
    .clk_i, .rst_ni(unit_rst_n), .task_valid_i(update_valid_i && update_ready_o),
    .task_ready_o(unit_ready),
    .task_slot_i(update_slot_i), .task_id_i(update_id_i), .task_last_i(update_last_i),
    .task_steps_i(update_steps_i), .locked_o(update_locked_o),
    .locked_slot_o(update_locked_slot_o), .refused_o(update_refused_o),
    .refused_slot_o(update_refused_slot_o), .done_o(unit_done),
    .done_slot_o(update_done_slot_o), .done_aborted_o(update_done_aborted_o),
    .done_digest_o(update_done_digest_o), .order_valid_o(unit_order_valid),
    .order_ready_i(unit_order_ready), .order_op_o(unit_order.op),
    .order_exclusive_o(unit_order.exclusive), .order_lock_o(unit_order.lock),
    .order_slot_o(unit_order.owner[5:0]), .order_fence_o(unit_order.fence), .ans_valid_i(to_unit),
    .ans_status_i(unit_ans.status), .ans_slot_i(unit_ans.owner[5:0]),
    .ans_fence_i(unit_ans.fence), .req_valid_o(unit_req_valid), .req_ready_i(unit_req_ready),
    .req_write_o(unit_req.write), .req_index_o(unit_req.index), .req_tag_o(unit_req.tag),
    .req_mask_o(unit_req.mask), .req_data_o(unit_req.data), .rsp_valid_i(unit_rsp_valid),
    .rsp_tag_i(rsp_tag), .rsp_data_i(rsp_data), .fail_o(fail[2])
  );
  assign unit_order.owner[7:6] = '0;
  assign stop          = update_reset_i || update_hold_i;
  assign update_done_o = unit_done && current;
  ccix_member u_member (
    .clk_i, .rst_ni, .reset_i(update_reset_i), .hold_i(update_hold_i), .waits_i(waits),
    .unit_rst_no(unit_rst_n), .join_o(join_), .joined_i(joined), .token_i(token), .beat_o(beat),
    .token_o(unit_token)
  );
  ccix_lease #(.Lease(Lease)) u_lease (
    .clk_i, .rst_ni, .join_i(join_), .joined_o(joined), .token_o(token), .beat_i(beat),
    .token_i(unit_token), .current_o(current), .stop_i(stop || !log_room), .waits_o(waits),
    .task_valid_i(update_valid_i), .task_ready_o(update_ready_o), .task_slot_i(update_slot_i),
    .task_last_i(last_lock), .order_valid_i(unit_order_valid),
    .order_ready_o(unit_order_ready), .order_i(unit_order), .ans_valid_o(to_unit),
    .req_valid_i(unit_req_valid), .req_ready_o(unit_req_ready), .req_i(unit_req),
    .rsp_valid_o(unit_rsp_valid), .order_valid_o(order_valid), .order_ready_i(order_ready),
    .order_o(order), .ans_valid_i(unit_ans_valid), .ans_i(unit_ans), .req_valid_o(req_valid),
    .req_ready_i(req_ready), .req_o(req), .rsp_valid_i(rsp_valid), .rsp_tag_i(rsp_tag),
    .rsp_word_i(rsp_data[0]), .lost_o(update_lost_o), .lost_slot_o(update_lost_slot_o),
    .lost_whole_o(update_lost_whole_o), .log_o(log_events), .stale_o(stale), .fail_o(fail[1])
  );
  logic unused_unit;
  assign unused_unit = ^{unit_ready, unit_ans.owner};

  // ---------------------------------------------------------------- what the host keeps of it
  logic log_valid, side_ready;
  logic [3:0] log_words;
  word_t [2:0] log_message;
  if (Log) begin : gen_log
    ccix_log u_log (
      .clk_i, .rst_ni, .task_valid_i(update_valid_i && update_ready_o),
      .task_slot_i(update_slot_i), .task_id_i(update_id_i), .log_i(log_events),
      .room_o(log_room), .msg_valid_o(log_valid), .msg_ready_i(side_ready),
      .msg_words_o(log_words), .msg_o(log_message), .fail_o(log_fail)
    );
  end else begin : gen_no_log
    assign log_room    = 1'b1;
    assign log_valid   = 1'b0;
    assign log_words   = '0;
    assign log_message = '0;
    assign log_fail    = 1'b0;
    logic unused_log;
    assign unused_log = ^log_events;
  end
  assign fail[4] = log_fail;

  // ---------------------------------------------------------------- locks
  logic in_valid, in_lock, lck_valid, lck_ready;
  header_t in_header;
  line_t in_data;
  lock_message_t in_message, lck;
  logic queued;
  logic [7:0] queued_owner;
  assign in_message = in_header;
  assign in_lock    = in_valid && in_header.kind == MsgLock;
  if (!Table) begin : gen_not_queued
    assign queued       = 1'b0;
    assign queued_owner = '0;
  end
  if (Table) begin : gen_table
    // Orders of the host wait here; the unit's wait at its port.
    logic host_valid, host_ready, host_room, req_go, choose, ans_valid, ans_exclusive;
    logic handover_fail;
    logic answer, table_ready, table_idle;
    lock_order_t host, chosen;
    logic [1:0] gnt;
    lock_status_e ans_status;
    logic [LockWidth-1:0] ans_lock;
    logic [7:0] ans_owner;
    logic [15:0] ans_fence;
    fifo #(.Width($bits(lock_order_t)), .Depth(Orders)) u_orders (
      .clk_i, .rst_ni, .clear_i(1'b0), .valid_i(in_lock), .ready_o(host_room),
      .data_i({in_message.owner, lock_op_e'(in_message.code[1:0]), in_message.exclusive,
               in_message.lock, in_message.fence}),
      .valid_o(host_valid), .ready_i(host_ready), .data_o(host), .usage_o()
    );
    arb_rr #(.NumReq(2)) u_turns (
      .clk_i, .rst_ni, .req_i(table_ready ? {host_valid, order_valid} : 2'b00), .last_i(1'b1),
      .gnt_o(gnt), .idx_o(choose)
    );
    assign req_go      = gnt != '0;
    assign chosen      = choose ? host : order;
    assign host_ready  = gnt[1];
    assign order_ready = gnt[0];
    lock_table #(.Locks(1 << LockWidth), .NumWait(64)) u_table (
      .clk_i, .rst_ni, .req_valid_i(req_go), .req_ready_o(table_ready), .req_op_i(chosen.op),
      .req_exclusive_i(chosen.exclusive), .req_lock_i(chosen.lock[LockWidth-1:0]),
      .req_owner_i(chosen.owner), .req_fence_i(chosen.fence), .rsp_valid_o(ans_valid),
      .rsp_status_o(ans_status), .rsp_exclusive_o(ans_exclusive), .rsp_lock_o(ans_lock),
      .rsp_owner_o(ans_owner), .rsp_fence_o(ans_fence), .idle_o(table_idle)
    );
    // An owner of the host has bit 7.
    assign unit_ans_valid  = ans_valid && !ans_owner[7];
    assign unit_ans        = '{owner: ans_owner, status: ans_status, fence: ans_fence};
    assign queued = ans_valid && ans_status == LockQueued;
    assign queued_owner = ans_owner;
    assign answer = ans_valid && ans_owner[7] && !(ans_status inside {LockQueued, LockReleased});
    // What the unit has just released, the host gets with its record's line before the grant.
    logic handed_q, handed;
    logic [LockWidth-1:0] handed_lock_q;
    assign handed = CacheLines != 0 && handed_q && ans_lock == handed_lock_q &&
                    ans_status == LockGranted && ans_exclusive;
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) handed_q <= 1'b0;
      else handed_q <= ans_valid && ans_status == LockReleased && !ans_owner[7];
    end
    always_ff @(posedge clk_i) handed_lock_q <= ans_lock;
    // Other answers wait for no line.
    lock_message_t made, plain, late;
    logic plain_valid, late_valid, plain_room;
    assign made = '{
      kind: MsgLock, words: 4'd1, owner: ans_owner, answer: 1'b1, code: ans_status,
      exclusive: ans_exclusive, zero: '0, lock: 16'(ans_lock), fence: ans_fence
    };
    fifo #(.Width(64), .Depth(Orders)) u_answers (
      .clk_i, .rst_ni, .clear_i(1'b0), .valid_i(answer && !handed), .ready_o(plain_room),
      .data_i(made), .valid_o(plain_valid), .ready_i(lck_ready), .data_o(plain), .usage_o()
    );
    assign lck_valid = plain_valid || late_valid;
    assign lck       = plain_valid ? plain : late;
    // 64 requesters of the host have an order each.
    ccix_handover #(.Depth(64)) u_handover (
      .clk_i, .rst_ni, .grant_valid_i(answer && handed), .grant_line_i(1'b1), .grant_i(made),
      .msg_valid_o(late_valid), .msg_ready_i(lck_ready && !plain_valid), .msg_o(late),
      .req_valid_i(req_valid),
      .req_ready_o(req_ready), .req_i(req), .rsp_valid_o(rsp_valid), .line_valid_o(line_valid),
      .line_ready_i(line_ready), .line_evict_o(line_evict), .line_o(line),
      .line_rsp_valid_i(line_rsp_valid), .line_rsp_tag_i(rsp_tag), .fail_o(handover_fail)
    );
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) fail[3] <= 1'b0;
      else if ((in_lock && !host_room) || (answer && !plain_room) || handover_fail)
        fail[3] <= 1'b1;
    end
    logic unused_table;
    assign unused_table = ^{table_idle, chosen.lock, in_message.answer, in_message.code,
                            in_message.zero, in_message.kind, in_message.words};
  end else if (!Cas) begin : gen_host
    lock_order_t sent;
    if (Log) begin : gen_behind_log
      // What is complete is in the log's queue when its release is taken, and leaves before it.
      fifo #(.Width($bits(lock_order_t)), .Depth(4)) u_sent (
        .clk_i, .rst_ni, .clear_i(1'b0), .valid_i(order_valid), .ready_o(order_ready),
        .data_i(order), .valid_o(lck_valid), .ready_i(lck_ready), .data_o(sent), .usage_o()
      );
    end else begin : gen_at_once
      assign lck_valid   = order_valid;
      assign order_ready = lck_ready;
      assign sent        = order;
    end
    assign lck = '{
      kind: MsgLock, words: 4'd1, owner: sent.owner, answer: 1'b0, code: 3'(sent.op),
      exclusive: sent.exclusive, zero: '0, lock: sent.lock, fence: sent.fence
    };
    assign unit_ans_valid  = in_lock;
    assign unit_ans = '{
      owner: in_message.owner, status: lock_status_e'(in_message.code), fence: in_message.fence
    };
    assign fail[3]         = 1'b0;
    logic unused_host;
    assign unused_host = ^in_message;
  end else begin : gen_cas
    assign lck_valid      = 1'b0;
    assign lck            = '0;
    assign unit_ans.owner[7:6] = '0;
    assign unit_ans.fence      = '0;
    assign fail[3]        = in_lock;
    logic unused_cas;
    assign unused_cas = ^{in_message, lck_ready, order};
  end

  // ---------------------------------------------------------------- records
  if (Cas) begin : gen_locks
    ccix_cas u_cas (
      .clk_i, .rst_ni, .order_valid_i(order_valid), .order_ready_o(order_ready),
      .order_op_i(order.op), .order_exclusive_i(order.exclusive), .order_lock_i(order.lock),
      .order_slot_i(order.owner[5:0]), .ans_valid_o(unit_ans_valid),
      .ans_status_o(unit_ans.status), .ans_slot_o(unit_ans.owner[5:0]), .req_valid_i(req_valid),
      .req_ready_o(req_ready), .req_write_i(req.write), .req_index_i(req.index),
      .req_tag_i(req.tag), .req_mask_i(req.mask), .req_data_i(req.data), .rsp_valid_o(rsp_valid),
      .hold_snoops_o(hold_snoops), .req_valid_o(line_valid), .req_ready_i(line_ready),
      .req_write_o(line.write), .req_index_o(line.index), .req_tag_o(line.tag),
      .req_mask_o(line.mask), .req_data_o(line.data), .rsp_valid_i(line_rsp_valid),
      .rsp_tag_i(rsp_tag), .rsp_lock_i(rsp_data[7])
    );
    assign line_evict = 1'b0;
  end else begin : gen_lines
    if (!Table) begin : gen_all
      assign line_valid = req_valid;
      assign req_ready  = line_ready;
      assign line       = req;
      assign line_evict = 1'b0;
      assign rsp_valid  = line_rsp_valid;
    end
    assign hold_snoops = 1'b0;
  end

  // Lines first: an order behind a write stays behind it. A log before both: an update is behind
  // the host's message of it, and so is a grant that follows from an end.
  assign lck_ready = side_ready && !log_valid;
  ccix_node #(
    .NumTxns(NumTxns), .MaxWords(MaxWords), .MaxMessages(MaxMessages), .CacheLines(CacheLines)
  ) u_node (
    .clk_i, .rst_ni, .cxs_tx_valid_o, .cxs_tx_last_o, .cxs_tx_words_o, .cxs_tx_data_o,
    .cxs_tx_credit_i, .cxs_rx_valid_i, .cxs_rx_words_i, .cxs_rx_data_i, .cxs_rx_credit_o,
    .req_valid_i(line_valid), .req_ready_o(line_ready), .req_i(line), .req_evict_i(line_evict),
    .req_atomic_i('0), .req_direct_i(1'b0), .req_key_i(line.index),
    .rsp_valid_o(line_rsp_valid), .rsp_tag_o(rsp_tag), .rsp_fault_o(), .rsp_data_o(rsp_data),
    .hold_snoops_i(hold_snoops), .side_first_i(log_valid),
    .side_valid_i(lck_valid || log_valid), .side_ready_o(side_ready),
    .side_words_i(log_valid ? log_words : 4'd1),
    .side_i(log_valid ? (64 * MostWords)'(log_message) : (64 * MostWords)'(lck)),
    .ans_valid_o(in_valid), .ans_header_o(in_header), .ans_data_o(in_data),
    .agent_i(in_header.kind != MsgLock), .fail_o(fail[0]), .status_up_o, .status_packets_o,
    .status_words_o, .status_stray_o
  );
  logic unused_data;
  assign unused_data = ^in_data;

  // ---------------------------------------------------------------- counters
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      status_requests_o <= '0;
      status_orders_o   <= '0;
      status_stale_o    <= '0;
    end else begin
      status_requests_o <= status_requests_o + 32'(req_valid && req_ready);
      status_orders_o   <= status_orders_o + 32'(order_valid && order_ready);
      status_stale_o    <= status_stale_o + 32'(stale);
    end
  end
  assign status_fail_o   = fail != '0;
  assign status_wrong_o  = '0;
  assign status_faults_o = '0;

  assign probe_o[Begun]       = update_valid_i && update_ready_o;
  assign probe_tag_o[Begun]   = 8'(update_slot_i);
  assign probe_o[Ordered]     = order_valid && order_ready;
  assign probe_tag_o[Ordered] = order.owner;
  assign probe_o[Locked]      = update_locked_o;
  assign probe_tag_o[Locked]  = 8'(update_locked_slot_o);
  assign probe_o[Done]        = update_done_o;
  assign probe_tag_o[Done]    = 8'(update_done_slot_o);
  assign probe_o[Queued]      = queued;
  assign probe_tag_o[Queued]  = queued_owner;
endmodule
