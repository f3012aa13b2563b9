// SPDX-License-Identifier: SHL-2.1
/// Log of a near-data unit's updates, at the host: what survives when all of the FPGA is reset.
///
/// An update is sent to the host before it is made, with the record's old and new value; a
/// transaction that is complete is, before its first release. The link keeps messages in order and
/// loses a tail of them at most. So the host has of each update that it may find in memory the
/// value before it, and of each transaction that another one may have seen all its updates. Nothing
/// waits for an answer.
///
///   Handshake   log_i: strobes of ccix_lease, never refused; while room_o is low at most one more
///               update and one more complete transaction come, and any that are undone. msg:
///               valid/ready, stable
///   Ordering    that of the strobes; of an update and an end in one cycle the update first, of
///               two ends what is complete. The agent's messages must be behind these (side_first_i
///               of ccix_node)
///   Latency     2 cycles from a strobe to its message
///   Throughput  a message a cycle
///   Safety      a message a strobe, in their order; none is lost
///                                                      (proved: formal/ccix/ccix_log.sby)
///   Parameters  Slots 2..64; Depth a power of two, from Slots + 4 to 1024: cycles with strobes
///   Not done    the log itself, which is the host's: isthmus_host::records
module ccix_log
  import ccix_pkg::*;
#(
  parameter  int unsigned Slots     = 64,
  parameter  int unsigned Depth     = 128,
  localparam int unsigned SlotWidth = $clog2(Slots)
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,
  input  logic                 task_valid_i,  // strobe: a transaction begins in a slot
  input  logic [SlotWidth-1:0] task_slot_i,   // with task_valid_i
  input  logic [31:0]          task_id_i,     // with task_valid_i: its number in the log
  input  log_events_t          log_i,
  output logic                 room_o,       // level: the unit may go on
  output logic                 msg_valid_o,  // msg_*: held until msg_ready_i
  input  logic                 msg_ready_i,  // takes the message
  output logic [3:0]           msg_words_o,  // 1 or 3
  output word_t [2:0]          msg_o,        // log_message_t, and an update's old and new value
  output logic                 fail_o        // level: one found no place
);
  typedef logic [SlotWidth-1:0] slot_t;
  localparam int unsigned UsageWidth = $clog2(Depth) + 1;
  typedef struct packed {
    logic        update;         // it has one, and
    logic        ends;           // behind it an end
    slot_t       slot;
    logic [31:0] record;
    word_t       old_value;
    word_t       new_value;
    logic        undone;
    slot_t       end_slot;
    logic [31:0] id;
  } entry_t;

  if (Slots < 2 || Slots > 64 || Depth < Slots + 4) begin : gen_check
    $error("ccix_log: Slots is %0d, legal is 2..64; Depth %0d, legal is from Slots + 4", Slots,
           Depth);
  end

  // A transaction without an update has nothing to be undone.
  logic [31:0] id_q [Slots];
  logic [Slots-1:0] wrote_q;
  logic undone;
  slot_t update_slot, end_slot;
  assign update_slot = slot_t'(log_i.update_slot);
  assign undone      = log_i.undone && wrote_q[slot_t'(log_i.undone_slot)];
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      wrote_q <= '0;
    end else begin
      if (undone) wrote_q[slot_t'(log_i.undone_slot)] <= 1'b0;
      if (log_i.update) wrote_q[update_slot] <= 1'b1;
      if (task_valid_i) wrote_q[task_slot_i] <= 1'b0;
    end
  end
  always_ff @(posedge clk_i) if (task_valid_i) id_q[task_slot_i] <= task_id_i;

  // One that is undone lets one that is complete go first. It is in the queue when its own first
  // release is taken, and before another one is undone: the lease's order is none of the unit's.
  logic late_q, ends;
  slot_t late_slot_q;
  assign ends     = log_i.complete || undone || late_q;
  assign end_slot = log_i.complete ? slot_t'(log_i.complete_slot) :
      late_q ? late_slot_q : slot_t'(log_i.undone_slot);
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) late_q <= 1'b0;
    else late_q <= log_i.complete && (undone || late_q);
  end
  always_ff @(posedge clk_i) if (undone) late_slot_q <= slot_t'(log_i.undone_slot);

  // ---------------------------------------------------------------- the queue
  logic put, room, valid, both, second_q;
  logic [UsageWidth-1:0] usage;
  entry_t entry, first;
  assign put   = log_i.update || ends;
  assign entry = '{
    update: log_i.update, ends: ends, slot: update_slot, record: log_i.record,
    old_value: log_i.old_value, new_value: log_i.new_value, undone: !log_i.complete,
    end_slot: end_slot, id: id_q[end_slot]
  };
  fifo #(.Width($bits(entry_t)), .Depth(Depth)) u_queue (
    .clk_i, .rst_ni, .clear_i(1'b0), .valid_i(put), .ready_o(room), .data_i(entry),
    .valid_o(valid), .ready_i(msg_ready_i && !both), .data_o(first), .usage_o(usage)
  );
  assign room_o = 32'(usage) <= Depth - Slots - 4;
  assign both   = first.update && first.ends && !second_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) second_q <= 1'b0;
    else if (valid && msg_ready_i) second_q <= both;
  end

  logic is_update;
  log_message_t header;
  assign is_update = first.update && !second_q;
  assign header = '{
    kind: MsgLock, words: msg_words_o, slot: 8'(is_update ? first.slot : first.end_slot),
    mark: '1, what: is_update ? LogUpdate : first.undone ? LogUndone : LogComplete, zero: '0,
    id: is_update ? first.record : first.id
  };
  assign msg_valid_o = valid;
  assign msg_words_o = is_update ? 4'd3 : 4'd1;
  assign msg_o       = {first.new_value, first.old_value, header};

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) fail_o <= 1'b0;
    else if (put && !room) fail_o <= 1'b1;
  end
endmodule
