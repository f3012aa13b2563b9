// SPDX-License-Identifier: SHL-2.1
/// One end of a link of any number of lanes: link_port and link_bundle are its two forms.
///
///   Contract    link_port's; a flit has 32 bits a lane, and credits count words of all lanes at
///               once
///   Latency     2 cycles from rx_i to rx_*_o, 1 without FlitRegister; 1 from tx_valid_i to tx_o
///   Parameters  as of link_port; Lanes 1..8
module link_core
  import link_pkg::*;
#(
  parameter int unsigned Lanes          = 1,
  parameter int unsigned NumRxIds       = 8,
  parameter int unsigned NumTxIds       = 1,
  parameter int unsigned TxDepth        = 512,
  parameter int unsigned MaxWords       = 128,
  parameter bit          CreditInPacket = 1'b0,
  parameter int unsigned CreditWords    = 64,
  parameter int unsigned RefreshWords   = 64,
  parameter int unsigned InitWords      = 1024,
  parameter int unsigned RoundTrip      = 0,
  parameter bit          FlitRegister   = 1'b1,
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
  input  logic                   signal_i,
  input  word_t [Lanes-1:0]      rx_i,
  output word_t [Lanes-1:0]      tx_o,
  input  logic                   align_i,      // an ALIGN is due, and is sent
  output logic                   take_align_o,
  output logic                   comma_o,      // the word at tx_o has a comma
  input  logic                   bench_i,
  output logic                   up_o,
  output logic                   rx_valid_o,
  output flit_t                  rx_flit_o,
  output id_t                    rx_id_o,
  input  count_t [NumRxIds-1:0]  stored_i,
  output count_t [NumTxIds-1:0]  room_o,
  input  logic                   tx_valid_i,
  output logic                   tx_ready_o,
  input  flit_t                  tx_flit_i,
  output logic                   crc_bad_o,
  output logic                   poisoned_o,
  output logic                   invalid_o,
  output logic                   cut_o,
  output logic                   credit_bad_o,
  output logic                   dropped_o,
  output logic                   idle_o
);
  if (CountWidth < 4 || CountWidth > 13) begin : gen_count_check
    $error("link_core: CountWidth is %0d, legal is 4..13", CountWidth);
  end
  // A SOP names id and count in 16 bits.
  localparam int unsigned IdsMax = 1 << (16 - CountWidth);
  if (NumRxIds > IdsMax || NumTxIds > IdsMax) begin : gen_field_check
    $error("link_core: NumRxIds %0d, NumTxIds %0d: beside CountWidth %0d a word names %0d",
           NumRxIds, NumTxIds, CountWidth, IdsMax);
  end
  if (TxDepth < MaxWords + 1) begin : gen_depth_check
    $error("link_core: TxDepth %0d holds no packet of MaxWords %0d", TxDepth, MaxWords);
  end

  // One flow alone at full rate: while a credit is on its way round, n + 1 of n + 2 cycles take a
  // word of buffer, and behind them a packet must still fit.
  if (RoundTrip * (MaxWords + 1) > (TxDepth - MaxWords - 1) * (MaxWords + 2))
  begin : gen_round_trip_check
    $error("link_core: TxDepth %0d does not cover RoundTrip %0d with packets of %0d words", TxDepth,
           RoundTrip, MaxWords);
  end
  if (InitWords < 64) begin : gen_init_least_check
    $error("link_core: InitWords is %0d, legal is 64..65536", InitWords);
  end
  if (RoundTrip > InitWords) begin : gen_init_check
    $error("link_core: InitWords %0d is less than RoundTrip %0d", InitWords, RoundTrip);
  end

  logic   clear, send_ready, init_seen, ready_seen, running_seen;
  logic   sync, ask, credit;
  id_t    sync_id, field_id;
  count_t sync_count, field_count;

  // Nothing changes at the next edge unless an input does.
  logic [4:0] idle;
  assign idle_o = &idle;

  link_init #(
    .InitWords(InitWords)
  ) u_init (
    .clk_i,
    .rst_ni,
    .signal_i,
    .init_i   (init_seen),
    .ready_i  (ready_seen),
    .running_i(running_seen),
    .clear_o  (clear),
    .ready_o  (send_ready),
    .up_o,
    .idle_o   (idle[0])
  );

  link_rx #(
    .Lanes   (Lanes),
    .NumRxIds(NumRxIds),
    .NumTxIds(NumTxIds),
    .MaxWords(MaxWords),
    .FlitRegister(FlitRegister),
    .CountWidth(CountWidth)
  ) u_rx (
    .clk_i,
    .rst_ni,
    .signal_i,
    .rx_i,
    .en_i         (!clear),
    .bench_i,
    .valid_o      (rx_valid_o),
    .flit_o       (rx_flit_o),
    .id_o         (rx_id_o),
    .sync_o       (sync),
    .sync_id_o    (sync_id),
    .sync_count_o (sync_count),
    .check_o      (ask),
    .credit_o     (credit),
    .field_id_o   (field_id),
    .field_count_o(field_count),
    .init_o       (init_seen),
    .ready_o      (ready_seen),
    .running_o    (running_seen),
    .crc_bad_o,
    .poisoned_o,
    .invalid_o,
    .cut_o,
    .idle_o       (idle[1])
  );

  logic [NumTxIds-1:0] whole;
  id_t    sent_id, offer_id, check_id;
  count_t sent, offer_count;
  logic   sent_inc, busy, offer_valid, pressing, check, check_first, take_credit, take_check;

  link_credit_tx #(
    .NumIds(NumTxIds),
    .Depth (TxDepth),
    .CountWidth(CountWidth)
  ) u_credit_tx (
    .clk_i,
    .rst_ni,
    .clear_i       (clear),
    .id_i          (sent_id),
    .inc_i         (sent_inc),
    .sent_o        (sent),
    .credit_i      (credit),
    .credit_id_i   (field_id),
    .credit_count_i(field_count),
    .bad_o         (credit_bad_o),
    .whole_o       (whole),
    .room_o,
    .idle_o        (idle[2])
  );

  link_credit_rx #(
    .NumRxIds    (NumRxIds),
    .NumTxIds    (NumTxIds),
    .CreditWords (CreditWords),
    .RefreshWords(RefreshWords),
    .Early       (!FlitRegister),
    .CountWidth(CountWidth)
  ) u_credit_rx (
    .clk_i,
    .rst_ni,
    .clear_i      (clear),
    .sync_i       (sync),
    .sync_id_i    (sync_id),
    .sync_count_i (sync_count),
    .ask_i        (ask),
    .ask_id_i     (field_id),
    .word_i       (rx_valid_o && rx_flit_o.kind != FlitSop),
    .word_id_i    (rx_id_o),
    .stored_i,
    .busy_i       (busy),
    .whole_i      (whole),
    .offer_valid_o(offer_valid),
    .pressing_o   (pressing),
    .offer_id_o   (offer_id),
    .offer_count_o(offer_count),
    .check_o      (check),
    .check_first_o(check_first),
    .check_id_o   (check_id),
    .take_credit_i(take_credit),
    .take_check_i (take_check),
    .idle_o       (idle[3])
  );

  link_tx #(
    .Lanes         (Lanes),
    .NumTxIds      (NumTxIds),
    .CreditInPacket(CreditInPacket),
    .CountWidth(CountWidth)
  ) u_tx (
    .clk_i,
    .rst_ni,
    .ready_word_i (send_ready),
    .up_i         (up_o),
    .align_i,
    .take_align_o,
    .comma_o,
    .valid_i      (tx_valid_i),
    .ready_o      (tx_ready_o),
    .flit_i       (tx_flit_i),
    .busy_o       (busy),
    .dropped_o,
    .offer_valid_i(offer_valid),
    .pressing_i   (pressing),
    .offer_id_i   (offer_id),
    .offer_count_i(offer_count),
    .check_i      (check),
    .check_first_i(check_first),
    .check_id_i   (check_id),
    .take_credit_o(take_credit),
    .take_check_o (take_check),
    .sent_id_o    (sent_id),
    .sent_inc_o   (sent_inc),
    .sent_i       (sent),
    .tx_o,
    .idle_o       (idle[4])
  );
endmodule
