// SPDX-License-Identifier: SHL-2.1
/// link_rx: whatever words come, packets are whole: Sop, at most MaxWords data words, an end. INIT
/// and READY are one word each: any other value of their fields is an invalid word. Data, ids and
/// counts are those of their words; idle_o is high exactly where nothing is said and the next word
/// says nothing new.
module link_rx_props
  import link_pkg::*;
#(
  parameter int unsigned MaxWords = 3
) (
  input logic        clk_i,
  input logic        signal_i,
  input word_t [0:0] rx_i,
  input logic        en_i,
  input logic        bench_i
);
  logic             rst_ni, valid_o, sync_o, check_o, credit_o, init_o, ready_o, running_o;
  logic             crc_bad_o, poisoned_o, invalid_o, cut_o, idle_o;
  flit_t            flit_o;
  flit_kind_e       kind_o;
  logic [0:0][31:0] data_o;
  assign {kind_o, data_o} = flit_o;
  id_t              id_o, sync_id_o, field_id_o;
  count_t           sync_count_o, field_count_o;

  link_rx #(.Lanes(1), .NumRxIds(2), .NumTxIds(2), .MaxWords(MaxWords)) dut (.*);

  logic started_q = 1'b0;
  always_ff @(posedge clk_i) started_q <= 1'b1;
  assign rst_ni = started_q;

  // What has come out so far.
  logic       inside_q;
  logic [2:0] words_q;
  id_t        id_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      inside_q <= 1'b0;
      words_q  <= '0;
    end else if (valid_o) begin
      inside_q <= kind_o == FlitSop || kind_o == FlitData;
      words_q  <= kind_o == FlitData ? words_q + 1'b1 : '0;
      id_q     <= id_o;
    end
  end

  // What went in: the word that these outputs are of, and the one behind it.
  word_t word_q;
  logic  live_q, signal_q, sop_next_q, sop_word;

  always_ff @(posedge clk_i) begin
    word_q     <= dut.word_q[0];
    live_q     <= started_q && dut.live;
    signal_q   <= started_q && dut.signal_q;
    sop_next_q <= rx_i[0].k == 4'b1000 && rx_i[0].data[31:24] == SymSop;
  end
  logic [7:0] crc8;
  link_crc8 u_crc8 (.data_i(word_q.data[31:8]), .crc_o(crc8));
  logic       control, named;
  logic [7:0] symbol;
  assign symbol   = word_q.data[31:24];
  assign control  = word_q.k == 4'b1000;
  assign named    = control && word_q.data[7:0] == crc8 && word_q.data[23:19] == '0;
  assign sop_word = named && symbol == SymSop;

  // Nothing was said, and nothing comes: the word that is looked at is as the last one.
  logic strobe, quiet;
  assign strobe = valid_o || sync_o || check_o || credit_o || init_o || ready_o || crc_bad_o ||
      poisoned_o ||
                  invalid_o || cut_o;
  assign quiet  = !strobe && !inside_q &&
                  (dut.signal_q ? running_o && dut.word_q[0] == WordIdle : !running_o);

  always_comb begin
    if (started_q) begin
      if (valid_o) begin
        // A start only outside, everything else only inside; an end is never the second start's.
        assert (inside_q == (kind_o != FlitSop));
        assert (id_o < 6'd2);
        if (kind_o == FlitSop) assert (data_o[0][5:0] == id_o);
        else assert (id_o == id_q);
        if (kind_o == FlitData) assert (words_q < 3'(MaxWords));
        if (kind_o == FlitEop) assert (words_q != '0);
      end
      // In step at once: a SOP that is not followed by another begins its packet,
      // whatever came before.
      if (live_q && sop_word && !sop_next_q) assert (valid_o && kind_o == FlitSop);
      // One that is followed by another is a packet that was cut, and is counted.
      if (live_q && sop_word && sop_next_q) assert (cut_o);
      // The words of a link's start have no other form.
      assert (init_o == (signal_q && word_q == WordInit) &&
              ready_o == (signal_q && word_q == WordReady));
      // Words that name an id, for the counts, with what they say.
      assert (sync_o == (live_q && named && (symbol == SymSop || symbol == SymCheck)));
      assert (check_o == (live_q && named && symbol == SymCheck));
      assert (credit_o == (live_q && named && symbol == SymCredit));
      if (sync_o) assert ({sync_id_o, sync_count_o} == word_q.data[23:8]);
      if (check_o || credit_o) assert ({field_id_o, field_count_o} == word_q.data[23:8]);
      // The words of a running link, whether its packets are taken or not.
      assert (running_o == (signal_q && ((named && symbol inside {SymSop, SymCheck, SymCredit}) ||
          (control && (symbol == SymEop || symbol == SymEdb || word_q == WordIdle)))));
      if (valid_o && kind_o == FlitData) assert (word_q.k == 4'b0000 && data_o[0] == word_q.data);
      assert (idle_o == quiet);
      // A link that is down has no packet open.
      if (!live_q) assert (!inside_q || (valid_o && kind_o == FlitEdb));
      // Each end that is not good says why.
      assert ((valid_o && kind_o == FlitEdb) == (inside_q && (crc_bad_o || poisoned_o || cut_o)));
      // What makes the above inductive.
      assert (words_q <= 3'(MaxWords));
      if (!inside_q) assert (words_q == '0);
      assert (dut.inside_q == (valid_o ? kind_o == FlitSop || kind_o == FlitData : inside_q));
      if (dut.inside_q) assert (3'(dut.words_q) == words_q + 3'(valid_o && kind_o == FlitData));
      if (inside_q && !valid_o) assert (id_o == id_q);
      if (inside_q) assert (id_q < 6'd2);
      cover (valid_o && kind_o == FlitEop && words_q == 3'd2);
      cover (valid_o && kind_o == FlitEdb && cut_o && words_q == 3'(MaxWords));
      cover (valid_o && kind_o == FlitEdb && sop_next_q && words_q == 3'd1);
    end
  end
endmodule
