// SPDX-License-Identifier: SHL-2.1
/// Transmit side of a link: packets and credit words to words.
///
/// A credit word is sent when no packet wants the link; where packets follow each other, one is
/// sent between two of them when it is pressing; with CreditInPacket also inside. A gap in a packet
/// is filled with CREDITs. An ALIGN that is due goes first behind the packet under way, and at once
/// where there is none; it is never sent inside one.       (proved: formal/link/link_tx.sby)
/// While the link is down the rest of a packet, and whole ones, are taken and dropped.
///
///   Handshake   valid_i, flit_i stay until ready_o; ready_o is a register and depends on neither
///   Latency     1 cycle from valid_i to tx_o
///   Throughput  one word a cycle, but for credit words and ALIGN
///   Parameters  Lanes 1..8 (lanes of a bundle), NumTxIds 1..64, CreditInPacket
///   Not done    a check of room or length: the sender of packets does it
module link_tx
  import link_pkg::*;
#(
  parameter int unsigned Lanes          = 1,
  parameter int unsigned NumTxIds       = 64,
  parameter bit          CreditInPacket = 1'b0,
  parameter int unsigned CountWidth     = CountBits,
  localparam type        count_t        = logic [CountWidth-1:0],
  // verilog_lint: waive typedef-structs-unions
  localparam type        flit_t         = struct packed {
    flit_kind_e             kind;
    logic [Lanes-1:0][31:0] data;
  }
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  input  logic                   ready_word_i,  // down: sends READY, else INIT
  input  logic                   up_i,
  input  logic                   align_i,       // an ALIGN is due
  output logic                   take_align_o,  // it is sent
  output logic                   comma_o,       // the word at the pins has a comma
  // Packets.
  input  logic                   valid_i,
  output logic                   ready_o,
  input  flit_t                  flit_i,
  output logic                   busy_o,        // packets want the link
  output logic                   dropped_o,     // strobe: a packet was dropped
  // Credit words.
  input  logic                   offer_valid_i,
  input  logic                   pressing_i,
  input  id_t                    offer_id_i,
  input  count_t                 offer_count_i,
  input  logic                   check_i,
  input  logic                   check_first_i,
  input  id_t                    check_id_i,
  output logic                   take_credit_o,
  output logic                   take_check_o,
  // Words sent, of each id.
  output id_t                    sent_id_o,
  output logic                   sent_inc_o,
  input  count_t                 sent_i,
  output word_t [Lanes-1:0]      tx_o,
  output logic                   idle_o
);
  if (Lanes < 1 || Lanes > 8) begin : gen_lanes_check
    $error("link_tx: Lanes is %0d, legal is 1..8", Lanes);
  end
  if (NumTxIds < 1 || NumTxIds > 64) begin : gen_ids_check
    $error("link_tx: NumTxIds is %0d, legal is 1..64", NumTxIds);
  end

  // What the slot of this cycle carries.
  typedef enum logic [2:0] {
    SlotIdle,
    SlotStart,
    SlotSop,
    SlotData,
    SlotEnd,
    SlotCredit,
    SlotCheck,
    SlotAlign
  } slot_e;
  slot_e slot;

  // inside_q: a packet is being sent; dropping_q: the rest of one is taken and dropped; open_q: a
  // first CREDIT has been offered since the start, so that there is one to fill gaps with.
  logic inside_q, dropping_q, open_q, insert_q;
  logic take, is_sop, is_end, send;
  id_t  id_q, sop_id;

  assign ready_o = !insert_q;
  assign sop_id  = flit_i.data[0][IdWidth-1:0];
  assign take    = valid_i && ready_o;
  assign is_sop  = flit_i.kind == FlitSop;
  assign is_end  = flit_i.kind == FlitEop || flit_i.kind == FlitEdb;
  // What is neither begun nor begins is not sent.
  assign send    = take && up_i && !dropping_q && (is_sop || inside_q);
  assign busy_o  = inside_q || valid_i;

  // From READY on; a packet begins only when a first CREDIT is there to fill its gaps with.
  logic starting;
  assign starting = up_i || ready_word_i;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      inside_q   <= 1'b0;
      dropping_q <= 1'b0;
      open_q     <= 1'b0;
      insert_q   <= 1'b0;
      dropped_o  <= 1'b0;
    end else begin
      open_q    <= starting && (open_q || offer_valid_i);
      dropped_o <= 1'b0;
      if (send) inside_q <= !is_end;
      if (take && dropping_q && is_end) dropping_q <= 1'b0;
      if (!up_i && (inside_q || (take && is_sop && !dropping_q))) begin
        inside_q   <= 1'b0;
        dropping_q <= !(take && is_end);
        dropped_o  <= 1'b1;
      end
      // A slot for a credit word: behind a packet's end, or anywhere inside one. One for an ALIGN:
      // behind an end, and a credit word may follow it.
      insert_q <= starting && (!(open_q || offer_valid_i) ||
          (insert_q && pressing_i && slot == SlotAlign) || (!insert_q && (
          (send && is_end && (pressing_i || align_i)) ||
          (CreditInPacket && pressing_i && offer_valid_i && inside_q && send && !is_end))));
    end
  end
  // SOP carries what is given; inside, the id only names a count.
  localparam id_t IdMask = id_t'((1 << $clog2(NumTxIds)) - 1);
  always_ff @(posedge clk_i) if (take && is_sop) id_q <= sop_id & IdMask;

  always_comb begin
    slot = SlotIdle;
    if (!up_i) slot = align_i && !inside_q ? SlotAlign : SlotStart;
    else if (send) begin
      if (is_sop) slot = SlotSop;
      else if (is_end) slot = SlotEnd;
      else slot = SlotData;
    end else if (inside_q) slot = SlotCredit;
    else if (align_i) slot = SlotAlign;
    else if (check_i && (check_first_i || !offer_valid_i)) slot = SlotCheck;
    else if (offer_valid_i) slot = SlotCredit;
  end

  assign take_credit_o = slot == SlotCredit && offer_valid_i;
  assign take_check_o  = slot == SlotCheck;
  assign take_align_o  = slot == SlotAlign;
  // Slots that are known before the others, which wait for check_i: so what is sent is counted in
  // time.
  logic is_start, is_body;
  assign is_start   = send && is_sop;
  assign is_body    = send && !is_sop;
  assign sent_inc_o = is_body;
  // Outside a packet only a CHECK asks for its id's count.
  assign sent_id_o  = is_start ? sop_id : inside_q ? id_q : check_id_i;

  // Fields of a control word, each kind's with its crc8: only the choice waits for the slot.
  logic [15:0]           sent_field, offer_field, phase_field;
  logic [7:0]            sop_crc8, check_crc8, credit_crc8, init_crc8, symbol;
  logic [23:0]           argument;

  assign sent_field  = (16'(sent_id_o) << CountWidth) | 16'(sent_i);
  assign offer_field = (16'(offer_id_i) << CountWidth) | 16'(offer_count_i);
  assign phase_field = {5'd0, ready_word_i, 10'd0};

  link_crc8 u_sop (.data_i({SymSop, sent_field}), .crc_o(sop_crc8));
  link_crc8 u_check (.data_i({SymCheck, sent_field}), .crc_o(check_crc8));
  link_crc8 u_credit (.data_i({SymCredit, offer_field}), .crc_o(credit_crc8));
  link_crc8 u_init (.data_i({SymInit, phase_field}), .crc_o(init_crc8));

  assign argument = ({24{slot == SlotStart}} & {phase_field, init_crc8}) |
      ({24{is_start}} & {sent_field, sop_crc8}) |
      ({24{slot == SlotCheck}} & {sent_field, check_crc8}) |
      ({24{slot == SlotCredit}} & {offer_field, credit_crc8});

  always_comb begin
    unique case (slot)
      SlotStart:  symbol = SymInit;
      SlotSop:    symbol = SymSop;
      SlotEnd:    symbol = flit_i.kind == FlitEop ? SymEop : SymEdb;
      SlotCredit: symbol = SymCredit;
      SlotCheck:  symbol = SymCheck;
      SlotAlign:  symbol = SymAlign;
      default:    symbol = SymIdle;
    endcase
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      for (int unsigned i = 0; i < Lanes; i++) tx_o[i] <= WordInit;
    end else begin
      for (int unsigned i = 0; i < Lanes; i++) begin
        tx_o[i].k           <= {slot != SlotData, 3'b000};
        tx_o[i].data[31:24] <= slot == SlotData ? flit_i.data[i][31:24] : symbol;
        tx_o[i].data[23:0]  <= argument | (flit_i.data[i][23:0] & {24{is_body}});
      end
    end
  end

  assign comma_o = tx_o[0].k[3] && tx_o[0].data[31:24] inside {SymIdle, SymAlign};

  // Nothing changes at the next edge unless an input does: the pins have the word of this slot, an
  // empty one. INIT and READY differ from IDLE in bit 0.       (proved: formal/link/link_tx.sby)
  assign idle_o = !inside_q && !insert_q && !valid_i && !dropped_o && tx_o[0].k[3] &&
      tx_o[0].data[31:24] == SymIdle && (slot == SlotIdle ? !tx_o[0].data[0] :
      slot == SlotStart && tx_o[0].data[0] && tx_o[0].data[18] == ready_word_i);
endmodule
