// SPDX-License-Identifier: SHL-2.1
/// One way between two ends of blocklink_replay, for proofs: lanes that alter blocks into anything
/// that is not right, lose them, and hold them for any time; and what holds of this way.
///
/// Every block in flight (in the sender's register, on the lanes, in the receiver's register) has
/// a tag that no end sees: where the sender was when it made the block. Numbers there count modulo
/// four times as many as the link has, so that one number of the link is several of them.
///
/// What is proved of the way, for runs of any length:
///   unchanged     any block that the sender takes, chosen freely: as many blocks after the first
///                 come out before it as were taken before it, and it comes out as it was taken
///   exact         a block that comes out is the one whose turn it is, not one with the same number
///                 modulo 2^SeqWidth: numbers do not alias
///   sent_before   nothing comes out that was not taken
///   kept          at most Window blocks are kept
///   not_before    no block leaves the window before it came out at the far end
///   noticed       while up, a data or idle block is taken only in its own place: whatever blocks
///                 vanished, however many, the next of these that comes ends up_o
module blocklink_replay_way
  import blocklink_pkg::*;
#(
  parameter int unsigned Window = 3,
  localparam int unsigned Lanes = 2,
  localparam int unsigned Places = Lanes + 2,
  localparam int unsigned LabelWidth = SeqWidth + 2,
  localparam type label_t = logic [LabelWidth-1:0]
) (
  input  logic     clk_i,
  input  logic     started_i,
  // The lanes' choice.
  input  logic     ready_i,    // they take a block
  input  logic     alter_i,    // which becomes `altered_i`
  input  block_t   altered_i,
  input  logic     lose_i,     // or is never handed on
  input  logic     arrive_i,   // they hand on the oldest
  input  logic     pick_i,     // the block that is taken now is the chosen one
  // The sending end.
  input  block_t   tx_block_i,
  input  logic     load_i,
  input  logic     sync_i,     // what it makes now is a SYNC
  input  logic     take_i,
  input  payload_t made_i,
  input  seq_t     oldest_i,
  input  seq_t     held_i,
  input  seq_t     next_i,
  input  logic     answer_i,
  input  seq_t     acks_i,     // of the other way, not sent yet
  input  label_t   back_came_i,  // blocks that came out of the other way
  output seq_t     pick_slot_o,
  input  payload_t kept_i,     // what the sender keeps there
  // The receiving end.
  output block_t   rx_block_o,
  output logic     rx_valid_o,
  input  block_t   in_i,
  input  logic     in_valid_i,
  input  logic     got_sync_i,
  input  logic     got_data_i,
  input  logic     got_idle_i,
  input  logic     got_i,
  input  payload_t got_payload_i,
  input  seq_t     rx_i,
  input  seq_t     pos_i,
  input  label_t   back_oldest_i,  // of the other way
  // The way.
  output label_t   made_o,     // blocks taken
  output label_t   oldest_o,   // the oldest that is kept
  output label_t   came_o,     // blocks that came out
  output logic     [Places-1:0] flying_o,  // by place, the receiver's register first
  output block_t   [Places-1:0] block_o,
  output label_t   [Places-1:0] number_o
);
  typedef struct packed {
    label_t number;  // of the block, or of the next one
    label_t taken;   // blocks that the sender had taken, with it
    label_t acked;   // blocks of the other way that are acknowledged, with it
    logic   sync;
    logic   data;
    logic   ack;
  } tag_t;

  // ---------------------------------------------------------------- the sender's side
  label_t made_q = '0, came_q = '0;
  label_t oldest;
  tag_t out_tag_q, out_tag;
  logic ack;
  assign oldest = made_q - label_t'(held_i);
  assign ack    = acks_i != '0 && !sync_i;
  assign out_tag = '{
    number: oldest + label_t'(next_i), taken: made_q + label_t'(take_i),
    acked: sync_i ? back_came_i : back_came_i - label_t'(acks_i) + label_t'(ack),
    sync: sync_i, data: !sync_i && (take_i || next_i != held_i), ack: ack
  };
  always_ff @(posedge clk_i) begin
    if (load_i) out_tag_q <= out_tag;
    if (started_i) begin
      made_q <= made_q + label_t'(take_i);
      came_q <= came_q + label_t'(got_i);
    end
  end
  assign made_o   = made_q;
  assign oldest_o = oldest;
  assign came_o   = came_q;

  // ---------------------------------------------------------------- lanes: the oldest block first
  block_t line_q [Lanes];
  tag_t line_tag_q [Lanes];
  tag_t in_tag_q;
  logic [1:0] count_q = '0;
  logic put, pass;
  block_t sent;
  assign pass = arrive_i && count_q != '0;
  assign put  = ready_i && !lose_i;
  assign sent = alter_i ? altered_i : tx_block_i;
  assign rx_block_o = line_q[0];
  assign rx_valid_o = pass;
  always_ff @(posedge clk_i) begin
    count_q  <= count_q + 2'(put) - 2'(pass);
    in_tag_q <= line_tag_q[0];
    if (pass) begin
      line_q[0]     <= line_q[1];
      line_tag_q[0] <= line_tag_q[1];
    end
    if (put) begin
      line_q[count_q-2'(pass)]     <= sent;
      line_tag_q[count_q-2'(pass)] <= out_tag_q;
    end
  end
  always_comb begin
    assume (!(put && count_q == 2'(Lanes) && !pass));
    if (!started_i) assume (!ready_i);
    // The check's highest bit, which no number reaches, says that a block was altered.
    assume (altered_i.control.check[23]);
  end

  // ---------------------------------------------------------------- the chosen block
  logic picked_q = 1'b0;
  label_t pick_q;
  payload_t pick_payload_q;
  always_ff @(posedge clk_i) begin
    if (picked_q) begin
      if (got_i && came_q == pick_q) picked_q <= 1'b0;
    end else if (started_i && take_i && pick_i) begin
      picked_q       <= 1'b1;
      pick_q         <= made_q;
      pick_payload_q <= made_i;
    end
  end
  assign pick_slot_o = seq_t'(pick_q);

  // Where the receiver is, by its answers and the blocks that it took.
  label_t place_q = '0;
  sync_t in_fields;
  assign in_fields = {in_i.control.credit, in_i.control.vc};
  always_ff @(posedge clk_i) begin
    if (got_sync_i && in_fields.answer) place_q <= in_tag_q.number;
    else if (got_data_i) place_q <= place_q + label_t'(1);
  end

  // ---------------------------------------------------------------- what must hold
  localparam label_t Most = label_t'(Window);
  always_comb begin
    if (started_i) begin
      if (got_i) begin
        sent_before : assert (came_q != made_q);
        exact : assert (in_tag_q.number == came_q && in_tag_q.data);
        if (picked_q && came_q == pick_q) unchanged : assert (got_payload_i == pick_payload_q);
      end
      kept : assert (label_t'(held_i) <= Most);
      not_before : assert (label_t'(came_q - oldest) <= label_t'(held_i));
      if (got_data_i || got_idle_i) begin
        noticed : assert (in_tag_q.number == place_q && in_tag_q.data == got_data_i);
      end
    end
  end

  // ---------------------------------------------------------------- what induction needs
  tag_t [Places-1:0] tags;
  logic [Places-1:0] right;
  assign block_o[0] = in_i;
  assign tags[0]    = in_tag_q;
  assign flying_o[0] = in_valid_i;
  for (genvar i = 0; i < int'(Lanes); i++) begin : gen_line
    assign block_o[i+1]  = line_q[i];
    assign tags[i+1]     = line_tag_q[i];
    assign flying_o[i+1] = count_q > 2'(i);
  end
  assign block_o[Places-1]  = tx_block_i;
  assign tags[Places-1]     = out_tag_q;
  assign flying_o[Places-1] = 1'b1;
  for (genvar i = 0; i < int'(Places); i++) begin : gen_number
    assign number_o[i] = tags[i].number;
    assign right[i]    = flying_o[i] && !block_o[i].control.check[23];
  end

  // The other way, whose acknowledgements this one carries: behind its oldest.
  function automatic label_t acked(label_t place);
    return place - back_oldest_i;
  endfunction
  always_comb begin
    if (!started_i) begin
      fresh : assert ({made_q, came_q, place_q, count_q, picked_q} == '0);
    end else begin
      full : assert (count_q <= 2'(Lanes));
      order : assert (next_i <= held_i);
      from_oldest : assert (!answer_i || next_i == '0);
      same_oldest : assert (seq_t'(oldest) == oldest_i);
      same_came : assert (seq_t'(came_q) == rx_i);
      same_place : assert (seq_t'(place_q) == pos_i);
      behind : assert (label_t'(came_q - place_q) <= Most);
      acks : assert (acked(back_came_i - label_t'(acks_i)) <= acked(back_came_i));
      if (picked_q) begin
        not_out : assert (label_t'(pick_q - came_q) < label_t'(made_q - came_q));
        stays : assert (kept_i == pick_payload_q);
      end
    end
  end
  for (genvar i = 0; i < int'(Places); i++) begin : gen_place
    sync_t fields;
    logic in_sync, in_data;
    assign in_sync = block_o[i].control.kind == KindSync;
    assign in_data = block_o[i].control.kind inside {KindDataLow, KindDataHigh};
    assign fields = {block_o[i].control.credit, block_o[i].control.vc};
    always_comb begin
      if (started_i && flying_o[i]) begin
        since : assert (label_t'(tags[i].taken - tags[i].number) <= Most);
        if (tags[i].data) older : assert (tags[i].taken != tags[i].number);
        one_kind : assert (!(tags[i].data && tags[i].sync) && !(tags[i].ack && tags[i].sync));
        came_by_then : assert (label_t'(tags[i].taken - came_q) <= label_t'(made_q - came_q));
        acked_by_then : assert (
          acked(tags[i].acked - label_t'(tags[i].ack)) <= acked(tags[i].acked) &&
          acked(tags[i].acked) <= acked(back_came_i - label_t'(acks_i)));
      end
      if (started_i && right[i]) begin
        same_kind : assert (in_sync == tags[i].sync && in_data == tags[i].data &&
                            (in_sync || in_data || block_o[i].control.kind == KindIdle));
        if (in_sync) begin
          says : assert (fields.rx == seq_t'(tags[i].acked) && fields.tx == seq_t'(tags[i].number));
          if (fields.answer) answers : assert (label_t'(came_q - tags[i].number) <= Most);
        end else begin
          numbered : assert (block_o[i].control.check == 24'(seq_t'(tags[i].number)));
          one_ack : assert (block_o[i].control.ack == tags[i].ack);
        end
        if (in_data && picked_q && tags[i].number == pick_q) begin
          carries : assert (block_o[i].control.kind ==
                            (pick_payload_q.high ? KindDataHigh : KindDataLow) &&
                            block_o[i].control.credit == pick_payload_q.credit &&
                            block_o[i].control.vc == pick_payload_q.vc &&
                            block_o[i].words == pick_payload_q.words);
        end
      end
    end
    for (genvar j = 0; j < i; j++) begin : gen_ahead
      always_comb begin
        if (started_i && flying_o[i] && flying_o[j]) begin
          taken_before : assert (label_t'(tags[j].taken - came_q) <=
                                 label_t'(tags[i].taken - came_q));
          acked_before : assert (acked(tags[j].acked) <=
                                 acked(tags[i].acked - label_t'(tags[i].ack)));
        end
      end
    end
  end
endmodule
