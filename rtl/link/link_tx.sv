// SPDX-License-Identifier: SHL-2.1
/// Transmit side of a link: packets and credit words to words.
///
/// A credit word stands where no packet wants the link; where packets follow each other, one stands
/// between two of them when it is pressing; with CreditInPacket also inside. A gap in a packet is filled
/// with CREDITs. An ALIGN that is due goes first behind the packet under way, and at once where there is
/// none; it never stands inside one.       (proved: formal/link/link_tx.sby)
/// While the link is down the rest of a packet, and whole ones, are taken and dropped.
///
///   Handshake   valid_i, flit_i stay until ready_o; ready_o is a register and depends on neither
///   Latency     2 cycles from valid_i to tx_o
///   Throughput  one word a cycle, but for credit words and ALIGN
///   Parameters  Lanes 1..8 (lanes of a bundle), CreditInPacket
///   Not done    a check of room or length: the sender of packets does it
module link_tx
  import link_pkg::*;
#(
  parameter int unsigned Lanes          = 1,
  parameter bit          CreditInPacket = 1'b0
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  input  logic                   ready_word_i,  // down: sends READY, else INIT
  input  logic                   up_i,
  input  logic                   align_i,       // an ALIGN is due
  output logic                   take_align_o,  // it is sent
  // Packets.
  input  logic                   valid_i,
  output logic                   ready_o,
  input  flit_kind_e             kind_i,
  input  logic [Lanes-1:0][31:0] data_i,
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

  // inside_q: a packet is being sent; dropping_q: the rest of one is taken and dropped; open_q: a first
  // CREDIT has been offered since the start, so that there is one to fill gaps with.
  logic inside_q, dropping_q, open_q, insert_q;
  logic take, is_sop, is_end, send;
  id_t  id_q, sop_id;

  assign ready_o = !insert_q;
  assign sop_id  = data_i[0][IdWidth-1:0];
  assign take    = valid_i && ready_o;
  assign is_sop  = kind_i == FlitSop;
  assign is_end  = kind_i == FlitEop || kind_i == FlitEdb;
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
      // A slot for a credit word: behind a packet's end, or anywhere inside one. One for an ALIGN: behind
      // an end, and a credit word may follow it.
      insert_q <= starting && (!(open_q || offer_valid_i) ||
          (insert_q && pressing_i && slot == SlotAlign) || (!insert_q && (
          (send && is_end && (pressing_i || align_i)) ||
          (CreditInPacket && pressing_i && offer_valid_i && inside_q && send && !is_end))));
    end
  end
  always_ff @(posedge clk_i) if (take && is_sop) id_q <= sop_id;

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
  assign sent_inc_o    = slot == SlotData || slot == SlotEnd;
  assign sent_id_o     = slot == SlotSop ? sop_id : slot == SlotCheck ? check_id_i : id_q;

  // First stage: the word but for its check.
  logic                   control_q, field_q;
  logic [7:0]             symbol_q;
  logic [Lanes-1:0][31:0] data_q;
  logic [7:0]             crc8;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      control_q <= 1'b1;
      field_q   <= 1'b1;
      symbol_q  <= SymInit;
    end else begin
      control_q <= slot != SlotData;
      field_q   <= slot != SlotData && slot != SlotEnd && slot != SlotIdle &&
                   slot != SlotAlign;
      unique case (slot)
        SlotStart:  symbol_q <= SymInit;
        SlotSop:    symbol_q <= SymSop;
        SlotEnd:    symbol_q <= kind_i == FlitEop ? SymEop : SymEdb;
        SlotCredit: symbol_q <= SymCredit;
        SlotCheck:  symbol_q <= SymCheck;
        SlotAlign:  symbol_q <= SymAlign;
        default:    symbol_q <= SymIdle;
      endcase
    end
  end

  always_ff @(posedge clk_i) begin
    for (int unsigned i = 0; i < Lanes; i++) begin
      unique case (slot)
        SlotData, SlotEnd: data_q[i] <= data_i[i];
        SlotSop:           data_q[i] <= {8'h00, sop_id, sent_i, 8'h00};
        SlotCredit:        data_q[i] <= {8'h00, offer_id_i, offer_count_i, 8'h00};
        SlotCheck:         data_q[i] <= {8'h00, check_id_i, sent_i, 8'h00};
        SlotStart:         data_q[i] <= {8'h00, 5'h00, ready_word_i, 18'h00000};
        default:           data_q[i] <= '0;
      endcase
    end
  end

  // Nothing changes at the next edge unless an input does: the same empty word in all stages.
  assign idle_o = !inside_q && !insert_q && !valid_i && !dropped_o &&
      symbol_q == tx_o[0].data[31:24] &&
      (slot == SlotIdle ? symbol_q == SymIdle : slot == SlotStart && symbol_q == SymInit &&
       {data_q[0][18], tx_o[0].data[18]} == {2{ready_word_i}});

  // Second stage: the word; in reset INIT, with its crc8.
  localparam logic [31:0] InitWord = {SymInit, 24'h000073};

  link_crc8 u_crc8 (.data_i({symbol_q, data_q[0][23:8]}), .crc_o(crc8));

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      for (int unsigned i = 0; i < Lanes; i++) tx_o[i] <= '{k: 4'b1000, data: InitWord};
    end else begin
      for (int unsigned i = 0; i < Lanes; i++) begin
        tx_o[i].k           <= {control_q, 3'b000};
        tx_o[i].data[31:24] <= control_q ? symbol_q : data_q[i][31:24];
        tx_o[i].data[23:8]  <= data_q[i][23:8];
        tx_o[i].data[7:0]   <= field_q ? crc8 : data_q[i][7:0];
      end
    end
  end
endmodule
