// SPDX-License-Identifier: SHL-2.1
/// Numbers blocks, checks them, and sends them again after a bad one.
///
/// Blocks with words or credits are numbered and kept until the far end has acknowledged them.
/// After a bad block the receiver drops everything until a SYNC that is an answer, which it asks
/// for in every block that it sends: the answer says the number of the next block, and comes after
/// the sender has gone back to its oldest block. Idle and SYNC blocks carry neither words nor
/// credits, so nothing is lost with them; an acknowledgement that is lost with a block is in the
/// answer's `rx`.
///
///   Pins        tx_block_o is always a block; it moves on with tx_ready_i. rx_block_i counts with
///               rx_valid_i
///   Handshake   new_some_i: there is something to send; new_take_o takes it. got_o: got_* is a
///               block that came for the first time, in order (exactly once: formal/blocklink)
///   Latency     new_* to tx_block_o 1 cycle, the check included; rx_block_i to got_o 1 cycle
///   Throughput  a block a cycle while fewer than Window are not acknowledged
///   Patience    an idle block that vanishes takes its acknowledgement with it, unseen: after
///               Patience cycles without one for the blocks that are kept, an answer is asked for
///               as well
///   Start       as after a bad block: both ends ask until they are answered. up_o: got_o may come
///   Parameters  Window 2..127 blocks, fewer than half of the numbers: then a block that comes
///               behind lost ones never has the number that is due, however many were lost;
///               RoundTrip blocks from a block to its acknowledgement, which Window must cover (0:
///               not checked); Patience 4..65536, twice the round trip at least
///   Not done    reset of one end alone: fail_o, an acknowledgement of what was not sent
module blocklink_replay
  import blocklink_pkg::*;
#(
  parameter int unsigned Window    = 64,
  parameter int unsigned RoundTrip = 0,
  parameter int unsigned Patience  = 256
) (
  input  logic     clk_i,
  input  logic     rst_ni,
  output block_t   tx_block_o,
  input  logic     tx_ready_i,
  input  block_t   rx_block_i,
  input  logic     rx_valid_i,
  input  logic     new_some_i,
  output logic     new_take_o,
  input  payload_t new_i,
  output logic     got_o,
  output payload_t got_payload_o,
  output logic     up_o,
  output logic     bad_o,     // strobe: a block with a wrong check while up
  output logic     again_o,   // strobe: a block is sent again
  output logic     fail_o
);
  if (Window < 2 || 2 * Window >= 2 ** SeqWidth) begin : gen_window_check
    $error("blocklink_replay: Window is %0d, legal is 2..%0d", Window, 2 ** (SeqWidth - 1) - 1);
  end
  if (RoundTrip > Window) begin : gen_round_trip_check
    $error("blocklink_replay: Window is %0d, the round trip has %0d blocks", Window, RoundTrip);
  end

  if (Patience < 4 || Patience > 65536 || Patience < 2 * RoundTrip) begin : gen_patience_check
    $error("blocklink_replay: Patience is %0d, legal is 4..65536, from twice RoundTrip", Patience);
  end

  localparam int unsigned IdxWidth = $clog2(Window);

  // Of blocks that are sent: the oldest kept, how many, the next one to send among or behind them.
  seq_t oldest_q, oldest_d, held_q, held_d, next_q, next_d;
  logic answer_q, answer_d;  // an answer is owed
  // Of blocks that are received: the next new one, the number of the one that comes now.
  seq_t rx_q, rx_d, pos_q, pos_d, acks_q, acks_d;
  logic ok_q, ok_d;

  // ---------------------------------------------------------------- receive
  block_t in_q, in_checked;
  logic in_valid_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) in_valid_q <= 1'b0;
    else in_valid_q <= rx_valid_i;
  end
  always_ff @(posedge clk_i) in_q <= rx_block_i;

  logic in_sync, in_data, in_idle, right, sync, data, idle, fresh, bad;
  logic [23:0] in_check;
  sync_t in_fields;
  assign in_sync = in_q.control.kind == KindSync;
  assign in_data = in_q.control.kind == KindDataLow || in_q.control.kind == KindDataHigh;
  assign in_idle = in_q.control.kind == KindIdle;
  always_comb begin
    in_checked = in_q;
    in_checked.control.check = in_sync ? '0 : 24'(pos_q);
  end
  blocklink_crc24 u_in_crc (.data_i(in_checked), .crc_o(in_check));

  assign in_fields = {in_q.control.credit, in_q.control.vc};
  assign right = in_valid_q && in_check == in_q.control.check;
  assign sync  = right && in_sync;
  assign data  = right && in_data && ok_q;
  assign idle  = right && in_idle && ok_q;
  assign bad   = in_valid_q && ok_q && !sync && !data && !idle;
  assign fresh = data && pos_q == rx_q;

  assign got_o = fresh;
  assign got_payload_o = '{high: in_q.control.kind == KindDataHigh, credit: in_q.control.credit,
                           vc: in_q.control.vc, words: in_q.words};
  assign up_o  = ok_q;
  assign bad_o = bad;

  seq_t freed;
  logic unknown;
  assign freed = sync ? in_fields.rx - oldest_q :
                 ((data || idle) && in_q.control.ack) ? seq_t'(1) : '0;
  assign unknown = freed > held_q;

  // ---------------------------------------------------------------- send
  typedef enum logic [1:0] {SendSync, SendAgain, SendNew, SendIdle} send_e;
  send_e choice;
  logic load, filled_q;
  payload_t kept_q [2**IdxWidth];
  payload_t kept;
  seq_t tx_seq;
  assign tx_seq = oldest_q + next_q;
  assign load   = tx_ready_i || !filled_q;
  assign kept   = kept_q[tx_seq[IdxWidth-1:0]];
  always_comb begin
    if (answer_q || !ok_q) choice = SendSync;
    else if (next_q != held_q) choice = SendAgain;
    else if (new_some_i && held_q < seq_t'(Window)) choice = SendNew;
    else choice = SendIdle;
  end
  assign new_take_o = load && choice == SendNew;
  assign again_o    = load && choice == SendAgain;

  block_t out_q, out_d, out_numbered;
  seq_t number_q, number_d;
  sync_t out_fields;
  logic ack;
  payload_t out_payload;
  assign ack = acks_q != '0;
  assign out_payload = (choice == SendAgain) ? kept : new_i;
  assign out_fields = '{zero: '0, answer: answer_q, request: !ok_q, tx: tx_seq, rx: rx_q};
  always_comb begin
    out_d         = '0;
    out_d.control.vc = {BlockWords{NoVc}};
    number_d      = tx_seq;
    unique case (choice)
      SendSync: begin
        out_d.control.kind = KindSync;
        {out_d.control.credit, out_d.control.vc} = out_fields;
        number_d = '0;
      end
      SendAgain, SendNew: begin
        out_d.control.kind   = out_payload.high ? KindDataHigh : KindDataLow;
        out_d.control.ack    = ack;
        out_d.control.credit = out_payload.credit;
        out_d.control.vc     = out_payload.vc;
        out_d.words          = out_payload.words;
      end
      default: begin
        out_d.control.kind = KindIdle;
        out_d.control.ack  = ack;
      end
    endcase
  end

  logic [23:0] out_check;
  always_comb begin
    out_numbered = out_q;
    out_numbered.control.check = 24'(number_q);
  end
  blocklink_crc24 u_out_crc (.data_i(out_numbered), .crc_o(out_check));
  always_comb begin
    tx_block_o = out_q;
    tx_block_o.control.check = out_check;
  end

  always_ff @(posedge clk_i) begin
    if (new_take_o) kept_q[tx_seq[IdxWidth-1:0]] <= new_i;
    if (load) begin
      out_q    <= out_d;
      number_q <= number_d;
    end
  end

  // ------------------------------------------------------------ acknowledgements that never come
  logic [16:0] waited_q;
  logic overdue;
  assign overdue = waited_q == 17'(Patience);
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) waited_q <= '0;
    else if (held_q == '0 || freed != '0 || overdue || !ok_q) waited_q <= '0;
    else waited_q <= waited_q + 1'b1;
  end

  // ---------------------------------------------------------------- both
  always_comb begin
    {oldest_d, held_d, next_d, answer_d} = {oldest_q, held_q, next_q, answer_q};
    {rx_d, pos_d, acks_d, ok_d} = {rx_q, pos_q, acks_q, ok_q};
    // What is sent is sent first, ...
    if (load) begin
      unique case (choice)
        SendSync: begin
          answer_d = 1'b0;
          acks_d   = '0;
        end
        SendAgain: next_d = next_q + 1'b1;
        SendNew: begin
          next_d = next_q + 1'b1;
          held_d = held_q + 1'b1;
        end
        default: ;
      endcase
      if (choice != SendSync && ack) acks_d = acks_q - 1'b1;
    end
    // ... then what came counts.
    if (!unknown) begin
      oldest_d = oldest_q + freed;
      held_d   = held_d - freed;
      if (next_d >= freed) begin
        next_d = next_d - freed;
      end else begin
        next_d   = '0;
        answer_d = 1'b1;
      end
    end
    if (sync) begin
      if (in_fields.request) begin
        next_d   = '0;
        answer_d = 1'b1;
      end
      if (in_fields.answer) begin
        pos_d = in_fields.tx;
        ok_d  = 1'b1;
      end
    end
    if (data) begin
      pos_d = pos_q + 1'b1;
      if (fresh) begin
        rx_d   = rx_q + 1'b1;
        acks_d = acks_d + 1'b1;
      end
    end
    if (bad || overdue) ok_d = 1'b0;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {oldest_q, held_q, next_q, answer_q} <= '0;
      {rx_q, pos_q, acks_q, ok_q}          <= '0;
      filled_q <= 1'b0;
      fail_o   <= 1'b0;
    end else begin
      {oldest_q, held_q, next_q, answer_q} <= {oldest_d, held_d, next_d, answer_d};
      {rx_q, pos_q, acks_q, ok_q}          <= {rx_d, pos_d, acks_d, ok_d};
      filled_q <= 1'b1;
      fail_o   <= fail_o || unknown;
    end
  end

  logic unused_fields;
  assign unused_fields = ^in_fields.zero;
endmodule
