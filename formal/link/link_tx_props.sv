// SPDX-License-Identifier: SHL-2.1
/// link_tx: what goes out is whole packets, with credit words, IDLE and ALIGN where they are
/// allowed; an ALIGN that is due is sent within a packet's words and framing; SOP and CHECK have
/// the count of their id, and each word of a packet is counted for its id; no packet begins before
/// a first CREDIT is there; a word with an argument has its crc8; what is taken is the word that
/// was given, at once; idle_o is high only where nothing changes, and where nothing is asked for.
/// Inside a packet a CREDIT fills gaps alone; with InPacket one that is pressing is sent as well,
/// behind the next word of the packet.
module link_tx_props
  import link_pkg::*;
#(
  parameter int unsigned MaxWords = 3,
  parameter bit          InPacket = 1'b0
) (
  input logic             clk_i,
  input logic             ready_word_i,
  input logic             up_i,
  input logic             due_i,         // a mark becomes due
  input logic             valid_i,
  input flit_kind_e       kind_i,
  input logic [0:0][31:0] data_i,
  input logic             offer_valid_i,
  input logic             pressing_i,
  input id_t              offer_id_i,
  input count_t           offer_count_i,
  input logic             check_i,
  input logic             check_first_i,
  input id_t              check_id_i,
  input count_t           sent_i,
  input logic             pauses         // the sender pauses inside packets; it stays so or not
);
  localparam logic [3:0] MostWait = 4'((InPacket ? 2 * MaxWords : MaxWords) + 2);

  logic        rst_ni, align_i, take_align_o, ready_o, busy_o, dropped_o, take_credit_o,
      take_check_o;
  logic        sent_inc_o, idle_o, comma_o;
  id_t         sent_id_o;
  word_t [0:0] tx_o;
  flit_t       flit_i;
  assign flit_i = {kind_i, data_i};

  link_tx #(.Lanes(1), .CreditInPacket(InPacket)) dut (.*);

  logic started_q = 1'b0;
  logic pauses_q;
  always_ff @(posedge clk_i) begin
    started_q <= 1'b1;
    pauses_q  <= pauses;
  end
  assign rst_ni = started_q;

  // The mark: due until it is sent.
  logic due_q;
  assign align_i = due_q;

  // The sender: Sop, 1 to MaxWords data words, an end.
  logic       packet_q, starting_q;
  logic [2:0] words_q;
  logic [3:0] wait_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      due_q      <= 1'b0;
      packet_q   <= 1'b0;
      words_q    <= '0;
      wait_q     <= '0;
      starting_q <= 1'b0;
    end else begin
      due_q <= !take_align_o && (due_q || due_i);
      if (valid_i && ready_o) begin
        packet_q <= kind_i == FlitSop || kind_i == FlitData;
        words_q  <= kind_i == FlitData ? words_q + 1'b1 : '0;
      end
      starting_q <= up_i || ready_word_i;
      wait_q     <= (due_q && up_i && !take_align_o) ? wait_q + 1'b1 : '0;
    end
  end

  // What the line has said: inside a packet or not, before the word at the pins, and after it.
  function automatic logic after(logic open, logic control, logic [7:0] sym);
    if (!control || sym == SymCredit || sym == SymCheck) return open;
    return sym == SymSop;
  endfunction

  logic line_q, line;
  assign line = after(line_q, tx_o[0].k[3], tx_o[0].data[31:24]);
  always_ff @(posedge clk_i) line_q <= rst_ni && line;

  logic [7:0] symbol, symbol_q;
  logic       control_q;
  assign symbol = tx_o[0].data[31:24];
  always_ff @(posedge clk_i) begin
    control_q <= tx_o[0].k[3];
    symbol_q  <= symbol;
  end

  logic is_start;
  assign is_start = tx_o[0] == WordInit || tx_o[0] == WordReady;

  // What was asked for in the cycle before: the word at the pins is of it.
  logic   inc_q;
  id_t    told_id_q, check_id_q, packet_id_q;
  count_t sent_q;
  always_ff @(posedge clk_i) begin
    inc_q      <= rst_ni && sent_inc_o;
    told_id_q  <= sent_id_o;
    sent_q     <= sent_i;
    check_id_q <= check_id_i;
    if (valid_i && ready_o && kind_i == FlitSop) packet_id_q <= data_i[0][IdWidth-1:0];
  end

  // A CREDIT has been offered since the start, so that there is one to fill a packet's gaps with.
  logic offered_q;
  always_ff @(posedge clk_i) offered_q <= rst_ni && (up_i || ready_word_i) &&
      (offered_q || offer_valid_i);

  // What was taken, and given, in the cycle before: the word at the pins is it.
  logic        took_align_q, took_check_q, took_credit_q, valid_q, pressed_q, pressed2_q, credit;
  logic [15:0] offer_q;
  flit_t       flit_q;
  assign credit = tx_o[0].k[3] && symbol == SymCredit;
  always_ff @(posedge clk_i) begin
    took_align_q  <= rst_ni && take_align_o;
    took_check_q  <= rst_ni && take_check_o;
    took_credit_q <= rst_ni && take_credit_o;
    offer_q       <= {offer_id_i, offer_count_i};
    flit_q        <= flit_i;
    valid_q       <= rst_ni && valid_i;
    pressed_q     <= rst_ni && pressing_i && offer_valid_i;
    pressed2_q    <= pressed_q;
  end

  // Words of the packet under way that a pressing CREDIT waits for.
  logic [1:0] passed_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni || !line || !up_i || !pressing_i || !offer_valid_i || take_credit_o) passed_q <= '0;
    else if (passed_q != '1) passed_q <= passed_q + 2'(sent_inc_o);
  end

  logic [7:0] crc8;
  link_crc8 u_crc8 (.data_i(tx_o[0].data[31:8]), .crc_o(crc8));

  // Nothing is asked for, and the line says so.
  logic quiet;
  assign quiet = !valid_i && !dropped_o && !dut.insert_q && line == 1'b0 &&
      (up_i ? !align_i && !check_i && !offer_valid_i && tx_o[0].k[3] && symbol == SymIdle &&
       !is_start :
       !align_i && tx_o[0] == (ready_word_i ? WordReady : WordInit));

  // All of the state: of link_tx, but for the id of the last packet,
  // which only a packet's words use.
  logic [40:0] state, state_q;
  logic        idle_q;
  assign state = {tx_o, dut.inside_q, dut.dropping_q, dut.open_q, dut.insert_q, dropped_o};
  always_ff @(posedge clk_i) begin
    state_q <= state;
    idle_q  <= rst_ni && idle_o;
  end

  always_comb begin
    if (started_q) begin
      assume (pauses == pauses_q);
      if (valid_i) begin
        if (packet_q) begin
          assume (kind_i == FlitData ? words_q < 3'(MaxWords) : kind_i != FlitSop && words_q != '0);
        end else begin
          assume (kind_i == FlitSop);
        end
      end else begin
        assume (!(packet_q && !pauses));
      end
      // link_init: READY before anything else.
      assume (!up_i || starting_q);
      assert (tx_o[0].k == 4'b0000 || tx_o[0].k == 4'b1000);
      // Data, and the end, of a packet that has begun; SOP, IDLE, CHECK and ALIGN outside one.
      if (!tx_o[0].k[3] || symbol == SymEop || symbol == SymEdb) assert (line_q);
      else if (symbol != SymCredit && !is_start) assert (!line_q);
      assert (!take_align_o || due_q);
      // Counts: of which id, and which words.
      assert (inc_q == (!tx_o[0].k[3] || symbol == SymEop || symbol == SymEdb));
      if (sent_inc_o) assert (sent_id_o == packet_id_q);
      if (dut.inside_q) assert (dut.id_q == packet_id_q);
      if (tx_o[0].k[3] && (symbol == SymSop || symbol == SymCheck)) begin
        assert (tx_o[0].data[23:8] == {told_id_q, sent_q});
        assert (told_id_q == (symbol == SymSop ? packet_id_q : check_id_q));
      end
      // A word with an argument is protected.
      if (tx_o[0].k[3] && (symbol == SymSop || symbol == SymCheck || symbol == SymCredit)) begin
        assert (tx_o[0].data[7:0] == crc8);
      end
      // No packet before a first CREDIT; a CHECK and a CREDIT in their order.
      if (valid_i && ready_o && up_i && (kind_i == FlitSop)) assert (offered_q);
      if (take_check_o) assert (check_i && (check_first_i || !offer_valid_i));
      if (take_credit_o && check_i && check_first_i) assert (line);
      // Every word outside packets that is not counted has a comma,
      // and is one an elastic buffer knows.
      assert (comma_o == is_removable(tx_o[0]));
      if (tx_o[0].k[3] && (symbol == SymIdle || symbol == SymAlign)) assert (comma_o);
      // Idle: the next edge changes nothing.
      if (idle_q) assert (state == state_q);
      if (quiet) assert (idle_o);
      // What is taken goes out, and nothing else.
      assert (took_align_q == (tx_o[0].k[3] && symbol == SymAlign));
      assert (took_check_q == (tx_o[0].k[3] && symbol == SymCheck));
      if (took_credit_q) assert (credit);
      assert (busy_o == (valid_i || line));
      if (credit) assert (tx_o[0].data[23:8] == offer_q);
      if (!tx_o[0].k[3]) assert (flit_q == {FlitData, tx_o[0].data});
      if (tx_o[0].k[3] && symbol == SymEop) assert (flit_q.kind == FlitEop);
      if (tx_o[0].k[3] && symbol == SymEdb) assert (flit_q.kind == FlitEdb);
      // A CREDIT inside a packet that was there: only one that was pressing, and then soon.
      if (credit && line_q && valid_q) assert (InPacket && pressed2_q);
      if (InPacket) assert (passed_q <= 2'd1);
      // A mark waits for one packet at most, and for the CREDITs in it.
      if (!pauses) assert (wait_q <= MostWait);
      // What makes the above inductive.
      assert (line == dut.inside_q && dut.open_q == offered_q);
      assert (words_q <= 3'(MaxWords) && (packet_q || words_q == '0));
      assert (!due_q || up_i || wait_q <= MostWait || pauses);
      if (dut.inside_q) assert (packet_q && dut.open_q && !dut.dropping_q);
      if (dut.inside_q && dut.insert_q) assert (InPacket && pressed_q);
      if (dut.dropping_q) assert (packet_q);
      if (packet_q) assert (dut.inside_q || dut.dropping_q);
      if (starting_q && !dut.insert_q) assert (dut.open_q);
      if (!pauses) begin
        if (dut.inside_q) begin
          assert (wait_q <= (InPacket ? 4'(words_q) << 1 : 4'(words_q)) + 4'(!dut.insert_q));
        end
        else if (!dut.insert_q) assert (wait_q == '0 || dut.dropping_q);
      end
      if (!due_q) assert (wait_q == '0);
      assert (!(dut.dropping_q && wait_q != '0));
      cover (control_q && symbol_q == SymAlign && tx_o[0].k[3] && symbol == SymCredit);
      cover (control_q && symbol_q == SymAlign && tx_o[0].k[3] && symbol == SymSop);
      if (InPacket) cover (credit && line_q && valid_q && up_i);
      cover (wait_q == MostWait && up_i && !pauses);
    end
  end
endmodule
