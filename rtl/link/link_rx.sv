// SPDX-License-Identifier: SHL-2.1
/// Receive side of a link: words to packets, which always end, and credit words.
///
/// A packet leaves as Sop, data.., Eop | Edb, at most MaxWords data words, whatever words come: one
/// that is cut off by anything not allowed inside it ends as Edb in that word's place. A Sop
/// in the middle of a packet is seen a word ahead, so the word before it becomes the end and the
/// new packet loses nothing.
///
///   Handshake   none: a word a cycle, and at most one flit a cycle, which cannot be refused
///   Latency     2 cycles from rx_i to each output; without FlitRegister 1 to valid_o, flit_o,
///               id_o and sync_*_o, which come from the word's decoding then
///   Throughput  one word a cycle
///   Parameters  Lanes 1..8 (lanes of a bundle, in step), NumRxIds and NumTxIds 1..64, MaxWords
///               1..510, FlitRegister 0, 1; CountWidth 4..13, and 16 bits name all ids and counts
///   Not done    alignment of lanes (link_deskew), buffering
module link_rx
  import link_pkg::*;
#(
  parameter int unsigned Lanes    = 1,
  parameter int unsigned NumRxIds = 8,
  parameter int unsigned NumTxIds = 1,
  parameter int unsigned MaxWords = 128,
  parameter bit          FlitRegister = 1'b1,
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
  input  logic                   signal_i,      // the word of this cycle is the far end's
  input  word_t [Lanes-1:0]      rx_i,
  input  logic                   en_i,          // packets and credits are taken
  input  logic                   bench_i,       // data words 4 and 5 count as 0 in crc24
  // A packet's flits.
  output logic                   valid_o,
  output flit_t                  flit_o,        // Sop: id in bits 5:0 of lane 0
  output id_t                    id_o,          // of the packet
  // SOP or CHECK, in the cycle of its flit: the far end has sent count words of the id.
  output logic                   sync_o,
  output id_t                    sync_id_o,
  output count_t                 sync_count_o,
  // Fields of CHECK and CREDIT words, with strobes.
  output logic                   check_o,
  output logic                   credit_o,      // the far end has freed count words
  output id_t                    field_id_o,
  output count_t                 field_count_o,
  // The state of the far end, according to the word.
  output logic                   init_o,
  output logic                   ready_o,
  output logic                   running_o,
  // Strobes for counters.
  output logic                   crc_bad_o,
  output logic                   poisoned_o,
  output logic                   invalid_o,
  output logic                   cut_o,
  output logic                   idle_o
);
  localparam int unsigned WordsWidth = $clog2(MaxWords + 1);
  typedef logic [WordsWidth-1:0] words_t;

  if (Lanes < 1 || Lanes > 8) begin : gen_lanes_check
    $error("link_rx: Lanes is %0d, legal is 1..8", Lanes);
  end
  if (NumRxIds < 1 || NumRxIds > 64 || NumTxIds < 1 || NumTxIds > 64) begin : gen_ids_check
    $error("link_rx: NumRxIds %0d, NumTxIds %0d, legal is 1..64", NumRxIds, NumTxIds);
  end
  localparam int unsigned HalfRange = 1 << (CountWidth - 1);
  if (MaxWords < 1 || MaxWords > HalfRange - 2) begin : gen_max_words_check
    $error("link_rx: MaxWords is %0d, legal is 1..%0d", MaxWords, HalfRange - 2);
  end

  // First stage: the word. What follows it, rx_i, is looked at for one thing only: a Sop.
  word_t [Lanes-1:0] word_q;
  logic              signal_q;
  logic              sop_next;

  assign sop_next = rx_i[0].k == 4'b1000 && rx_i[0].data[31:24] == SymSop;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) signal_q <= 1'b0;
    else signal_q <= signal_i;
  end
  always_ff @(posedge clk_i) word_q <= rx_i;

  // What kind of word it is. All lanes of a bundle carry the same control word, but for crc24.
  logic [Lanes-1:0] lane_data, lane_control, lane_same;
  logic             is_data, is_control, fields_ok, none;
  logic [7:0]       symbol, crc8;
  id_t              id;
  logic [15:0]      field, named;   // id and count of a word with a check; the id

  for (genvar i = 0; i < Lanes; i++) begin : gen_kind
    assign lane_data[i]    = word_q[i].k == 4'b0000;
    assign lane_control[i] = word_q[i].k == 4'b1000 && word_q[i].data[31:24] == symbol;
    assign lane_same[i]    = word_q[i].data[23:0] == word_q[0].data[23:0];
  end

  link_crc8 u_crc8 (.data_i(word_q[0].data[31:8]), .crc_o(crc8));

  assign symbol     = word_q[0].data[31:24];
  assign field      = word_q[0].data[23:8];
  assign named      = field >> CountWidth;
  assign id         = id_t'(named);
  assign is_data    = &lane_data;
  assign is_control = &lane_control;
  assign none       = word_q[0].data[23:0] == '0 && &lane_same;
  assign fields_ok  = word_q[0].data[7:0] == crc8 && &lane_same;

  logic is_sop, is_eop, is_edb, is_credit, is_check, is_init, is_empty, is_idle, is_invalid;
  logic rx_id_ok, tx_id_ok;

  assign rx_id_ok   = named < 16'(NumRxIds);
  assign tx_id_ok   = named < 16'(NumTxIds);
  assign is_eop     = is_control && symbol == SymEop;
  assign is_edb     = is_control && symbol == SymEdb;
  assign is_empty   = is_control && (symbol == SymIdle || symbol == SymAlign) && none;
  assign is_idle    = is_empty && symbol == SymIdle;
  assign is_sop     = is_control && symbol == SymSop && fields_ok && rx_id_ok;
  assign is_check   = is_control && symbol == SymCheck && fields_ok && rx_id_ok;
  assign is_credit  = is_control && symbol == SymCredit && fields_ok && tx_id_ok;
  assign is_init    = is_control && symbol == SymInit && fields_ok &&
                      {word_q[0].data[23:19], word_q[0].data[17:8]} == '0;
  assign is_invalid = !(is_data || is_eop || is_edb || is_empty || is_sop || is_check ||
                        is_credit || is_init);

  // Packets.
  logic       inside_q, inside_d;
  words_t     words_q, words_d;
  logic       live, valid_d, crc_ok, full, end_bad;
  flit_kind_e kind_d;
  logic       crc_bad_d, poisoned_d, invalid_d, cut_d, sync_d;

  assign live   = en_i && signal_q;
  assign sync_d = live && (is_sop || is_check);
  assign full   = words_q == words_t'(MaxWords);

  always_comb begin
    inside_d   = inside_q;
    words_d    = words_q;
    valid_d    = 1'b0;
    kind_d     = FlitData;
    end_bad    = 1'b0;
    crc_bad_d  = 1'b0;
    poisoned_d = 1'b0;
    cut_d      = 1'b0;
    invalid_d  = live && is_invalid;
    if (!inside_q) begin
      words_d = '0;
      if (live && is_sop) begin
        // One that is followed by another begins nothing.
        cut_d    = sop_next;
        valid_d  = !sop_next;
        kind_d   = FlitSop;
        inside_d = !sop_next;
      end else if (live && (is_data || is_eop || is_edb)) begin
        invalid_d = 1'b1;
      end
    end else if (live && is_eop && words_q != '0) begin
      valid_d   = 1'b1;
      kind_d    = crc_ok ? FlitEop : FlitEdb;
      crc_bad_d = !crc_ok;
      inside_d  = 1'b0;
    end else if (live && is_edb) begin
      end_bad    = 1'b1;
      poisoned_d = 1'b1;
    end else if (live && is_data && !full && !sop_next) begin
      valid_d = 1'b1;
      words_d = words_q + 1'b1;
    end else if (!(live && (is_credit || is_check) && !sop_next)) begin
      end_bad = 1'b1;
      cut_d   = 1'b1;
    end
    if (end_bad) begin
      valid_d  = 1'b1;
      kind_d   = FlitEdb;
      inside_d = 1'b0;
    end
  end

  // crc24, a lane each.
  logic [Lanes-1:0] lane_crc_ok;

  for (genvar i = 0; i < Lanes; i++) begin : gen_crc
    logic [23:0] crc_q, crc_d;
    logic        stamp;
    // A lane has the data words i, i + Lanes, ..; 4 and 5 are the time stamps.
    if (4 % Lanes == i) begin : gen_stamp_4
      if (5 % Lanes == i) begin : gen_both
        assign stamp = bench_i && (words_q == words_t'(4) || words_q == words_t'(5));
      end else begin : gen_one
        assign stamp = bench_i && words_q == words_t'(4 / Lanes);
      end
    end else if (5 % Lanes == i) begin : gen_stamp_5
      assign stamp = bench_i && words_q == words_t'(5 / Lanes);
    end else begin : gen_no_stamp
      assign stamp = 1'b0;
    end

    link_crc24 u_crc24 (
      .crc_i (crc_q),
      .data_i(word_q[i].data & {32{!stamp}}),
      .crc_o (crc_d)
    );

    always_ff @(posedge clk_i) begin
      if (!inside_q) crc_q <= Crc24Init;
      else if (is_data) crc_q <= crc_d;
    end
    assign lane_crc_ok[i] = word_q[i].data[23:0] == ~crc_q;
  end
  assign crc_ok = &lane_crc_ok;

  // Second stage: the outputs.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      inside_q   <= 1'b0;
      words_q    <= '0;
      check_o    <= 1'b0;
      credit_o   <= 1'b0;
      init_o     <= 1'b0;
      ready_o    <= 1'b0;
      running_o  <= 1'b0;
      crc_bad_o  <= 1'b0;
      poisoned_o <= 1'b0;
      invalid_o  <= 1'b0;
      cut_o      <= 1'b0;
    end else begin
      inside_q   <= inside_d;
      words_q    <= words_d;
      check_o    <= live && is_check;
      credit_o   <= live && is_credit;
      init_o     <= signal_q && is_init && !word_q[0].data[18];
      ready_o    <= signal_q && is_init && word_q[0].data[18];
      // Not ALIGN: an end that starts sends it too.
      running_o  <= signal_q && (is_sop || is_eop || is_edb || is_credit || is_check || is_idle);
      crc_bad_o  <= crc_bad_d;
      poisoned_o <= poisoned_d;
      invalid_o  <= invalid_d;
      cut_o      <= cut_d;
    end
  end

  // Nothing that matters changes at the next edge unless an input does.
  assign idle_o = !inside_q && !valid_o && !sync_o && !check_o && !credit_o && !init_o &&
                  !ready_o && !crc_bad_o && !poisoned_o && !invalid_o && !cut_o &&
                  (signal_q ? is_idle && running_o : !running_o);

  always_ff @(posedge clk_i) begin
    field_id_o    <= id;
    field_count_o <= count_t'(field);
  end

  logic [Lanes-1:0][31:0] data_d;
  id_t id_q, id_d;
  // Of a packet only ids below NumRxIds come.
  assign id_d = (inside_q ? id_q : id) & id_t'((1 << $clog2(NumRxIds)) - 1);
  always_comb begin
    for (int unsigned i = 0; i < Lanes; i++) data_d[i] = word_q[i].data;
    if (!inside_q) data_d[0][IdWidth-1:0] = id;
  end
  always_ff @(posedge clk_i) id_q <= id_d;

  if (FlitRegister) begin : gen_flit_register
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
        valid_o <= 1'b0;
        sync_o  <= 1'b0;
      end else begin
        valid_o <= valid_d;
        sync_o  <= sync_d;
      end
    end
    always_ff @(posedge clk_i) flit_o <= '{kind: kind_d, data: data_d};
    assign id_o         = id_q;
    assign sync_id_o    = field_id_o;
    assign sync_count_o = field_count_o;
  end else begin : gen_flit_direct
    assign valid_o      = valid_d;
    assign flit_o       = '{kind: kind_d, data: data_d};
    assign id_o         = id_d;
    assign sync_o       = sync_d;
    assign sync_id_o    = id;
    assign sync_count_o = count_t'(field);
  end
endmodule
