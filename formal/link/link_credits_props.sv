// SPDX-License-Identifier: SHL-2.1
/// Credits of one id between a sender and a receiver over a channel that loses what it wants.
///
/// The channel: of the words sent each arrives, in order, or is lost; SOP and CHECK have the number
/// of words that went before them; CREDITs come late, never, or again, but not reordered: any count
/// between what the sender knows and what the receiver offered last,
/// which is more than one delay line could do.
///
/// While something sent is not known to be freed, packets wait for a CHECK, or for the answer to
/// one, at the latest 16 RefreshWords cycles after the last.
module link_credits_props
  import link_pkg::*;
#(
  parameter int unsigned Depth = 6,
  parameter bit          Early = 1'b0,
  localparam int unsigned CountWidth = 4,
  localparam type count_t = logic [CountWidth-1:0]
) (
  input logic   clk_i,
  input logic   send_i,     // a word is sent, if there is room
  input logic   arrive_i,   // the oldest word on the line arrives
  input logic   keep_i,     // it is stored
  input logic   lose_i,     // the oldest word on the line is lost
  input logic   sync_i,     // a SOP or CHECK arrives
  input logic   ask_i,      // it is a CHECK
  input logic   read_i,     // a word is read
  input logic   busy_i,
  input logic   take_i,     // the offered CREDIT is sent
  input logic   check_i,    // the CHECK that is due is sent
  input logic   credit_i,   // a CREDIT arrives
  input count_t count_i
);
  logic started_q = 1'b0, clear_q = 1'b1;
  always_ff @(posedge clk_i) begin
    started_q <= 1'b1;
    clear_q   <= !started_q;
  end

  // The sender, the line and the buffer.
  logic   send, arrive, lose, sync, read, take, credit, bad, whole, offer_valid;
  count_t sent, passed_q, lost_q, stored_q, offer_count, line, freed, known;
  count_t [0:0] room;
  logic         idle_tx, idle_rx, check_due;

  assign send   = send_i && room[0] != '0 && !clear_q;
  assign line   = sent - passed_q;
  assign arrive = arrive_i && !lose_i && !sync_i && line != '0 && !clear_q;
  assign lose   = lose_i && line != '0 && !clear_q;
  assign sync   = sync_i && !lose_i && !clear_q;
  assign read   = read_i && stored_q != '0;
  assign take   = take_i && offer_valid;

  id_t none;
  assign none = '0;

  link_credit_tx #(.NumIds(1), .Depth(Depth), .CountWidth(CountWidth)) u_tx (
    .clk_i,
    .rst_ni(started_q),
    .clear_i(clear_q),
    .id_i(none),
    .inc_i(send),
    .sent_o(sent),
    .credit_i(credit),
    .credit_id_i(none),
    .credit_count_i(count_i),
    .bad_o(bad),
    .whole_o(whole),
    .room_o(room),
    .idle_o(idle_tx)
  );

  logic pressing, check_first, check;
  id_t  offer_id, check_id;
  assign check = check_i && check_due && !take;

  link_credit_rx #(.NumRxIds(1), .NumTxIds(1), .CreditWords(4), .RefreshWords(16),
                   .CountWidth(CountWidth), .Early(Early)) u_rx (
    .clk_i,
    .rst_ni(started_q),
    .clear_i(clear_q),
    .sync_i(sync),
    .sync_id_i(none),
    .sync_count_i(passed_q),
    .ask_i(sync && ask_i),
    .ask_id_i(none),
    .word_i(arrive),
    .word_id_i(none),
    .stored_i(stored_q),
    .busy_i,
    .whole_i(whole),
    .offer_valid_o(offer_valid),
    .pressing_o(pressing),
    .offer_id_o(offer_id),
    .offer_count_o(offer_count),
    .check_o(check_due),
    .check_first_o(check_first),
    .check_id_o(check_id),
    .take_credit_i(take),
    .take_check_i(check),
    .idle_o(idle_rx)
  );

  // Words lost since the last SOP or CHECK.
  always_ff @(posedge clk_i) begin
    if (!started_q || clear_q) begin
      passed_q <= '0;
      lost_q   <= '0;
      stored_q <= '0;
    end else begin
      passed_q <= passed_q + count_t'(arrive || lose);
      lost_q   <= sync ? '0 : lost_q + count_t'(lose);
      stored_q <= stored_q + count_t'(arrive && keep_i) - count_t'(read);
    end
  end

  // Cycles in which packets waited neither for a CHECK nor for the answer to one,
  // though something was missing.
  logic [8:0] unasked_q;
  always_ff @(posedge clk_i) begin
    if (!started_q || clear_q || whole || check || (take && u_rx.ask_offer_q)) unasked_q <= '0;
    else if (!unasked_q[8]) unasked_q <= unasked_q + 9'd1;
  end

  // What the receiver has freed; its scan sees it in stages, each a cycle older.
  localparam int unsigned First = Early ? 1 : 0;
  count_t counted;
  assign known   = u_tx.freed_q[0];
  assign counted = u_rx.received_q[0];
  assign freed   = counted - stored_q;

  // A CREDIT carries what was offered at some time since the last that was taken into account.
  logic offered_q;
  always_ff @(posedge clk_i) begin
    if (!started_q || clear_q) offered_q <= 1'b0;
    else if (take) offered_q <= 1'b1;
  end
  assign credit = credit_i && offered_q && !clear_q && !u_tx.step_valid_q;

  // A CREDIT is taken into account in its second cycle, with its very count.
  logic   credit_q, told_q;
  count_t count_q, told_count_q;
  always_ff @(posedge clk_i) begin
    credit_q     <= started_q && credit;
    count_q      <= count_i;
    told_q       <= started_q && !clear_q && credit_q;
    told_count_q <= count_q;
  end

  // What an idle sender of credits shows stays.
  logic   still_q, bad_q;
  count_t room_q;
  always_ff @(posedge clk_i) begin
    still_q <= started_q && !clear_q && idle_tx && !send && !credit;
    bad_q   <= bad;
    room_q  <= room[0];
  end

  logic running_q = 1'b0;
  always_ff @(posedge clk_i) running_q <= started_q && !clear_q;

  // Cycles since anything happened to the words.
  logic [2:0] quiet_q = '0;
  always_ff @(posedge clk_i) begin
    if (!running_q || send || arrive || lose || sync || read) quiet_q <= '0;
    else if (quiet_q != '1) quiet_q <= quiet_q + 3'd1;
  end

  // Everything is looked at as its distance from what the sender knows to be freed.
  count_t d_sent, d_freed, d_freed0, d_freed1, d_freed2, d_freed3, d_offer;
  assign d_sent   = sent - known;
  assign d_freed  = freed - known;
  assign d_freed0 = u_rx.freed_q[0] - known;
  assign d_freed1 = u_rx.freed_q[First] - known;
  assign d_freed2 = u_rx.freed_q[First+1] - known;
  assign d_freed3 = u_rx.freed_q[First+2] - known;
  assign d_offer  = offer_count - known;

  always_comb begin
    if (started_q) assert (u_tx.clear_addr_q == '0 && u_rx.clear_addr_q == '0 && u_rx.scan_q == '0);
    if (!started_q || clear_q) assert (!running_q && quiet_q == '0);
    if (started_q && !clear_q) begin
      if (credit) assume (count_t'(count_i - known) <= d_offer);
      // Never negative, never above the buffer: at the sender, and in truth.
      assert (d_sent <= count_t'(Depth));
      assert (room[0] == count_t'(Depth) - d_sent);
      assert (stored_q <= count_t'(Depth) && line <= count_t'(Depth) && lost_q <= count_t'(Depth));
      assert (d_freed <= count_t'(Depth));
      assert (12'(line) + 12'(stored_q) + 12'(lost_q) + 12'(d_freed) == 12'(d_sent));
      if (u_tx.step_valid_q) assert (count_t'(known + u_tx.step_q) == count_q);
      if (told_q) assert (known == told_count_q);
      if (still_q) assert (room[0] == room_q && bad == bad_q);
      assert (idle_tx == !credit_q);
      // No true CREDIT is ever refused.
      assert (!bad);
      // What the receiver counts is less than the truth by losses alone,
      // and a SOP or CHECK ends them.
      assert (counted == passed_q - lost_q);
      // At rest behind a SOP or CHECK, with all read, the next CREDIT says that everything is free.
      if (quiet_q >= 3'd1) assert (running_q);
      if (line == '0 && stored_q == '0 && lost_q == '0) begin
        assert (freed == sent);
        if (quiet_q >= 3'd1) assert (d_freed0 == d_freed);
        if (quiet_q >= 3'd1 + 3'(First) && u_rx.valid1_q) assert (d_freed1 == d_freed);
        if (quiet_q >= 3'd2 + 3'(First) && u_rx.valid2_q) assert (d_freed2 == d_freed);
        if (quiet_q >= 3'd3 + 3'(First) && u_rx.valid3_q) assert (d_freed3 == d_freed);
        if (known == sent) assert (whole);
      end
      if (unasked_q == 9'd256 && !whole) assert (pressing && check_due && check_first);
      assert (u_rx.due_id_q == '0);
      if (!u_rx.late_q) assert (unasked_q <= 9'(u_rx.timer_q));
      else if (!u_rx.due_q) assert (unasked_q <= 9'(u_rx.timer_q[3:0]));
      // What makes the above inductive: older views are smaller.
      if (running_q) begin
        assert (u_rx.scan1_q == '0);
        assert (d_freed0 <= d_freed);
      end else begin
        assert (!offered_q && !offer_valid && !u_tx.step_valid_q);
        assert (!u_rx.valid1_q && !u_rx.valid2_q && !u_rx.valid3_q && u_rx.received_q[0] == '0);
        assert (passed_q == '0 && stored_q == '0 && lost_q == '0);
      end
      if (u_rx.valid1_q) assert (running_q && d_freed1 <= d_freed0);
      if (u_rx.valid2_q) assert (running_q && u_rx.scan2_q == '0);
      if (u_rx.valid3_q) assert (running_q && u_rx.scan3_q == '0);
      if (u_tx.step_valid_q) assert (u_tx.step_id_q == '0);
      if (u_rx.valid2_q) assert (u_rx.valid1_q ? d_freed2 <= d_freed1 : d_freed2 <= d_freed0);
      if (u_rx.valid3_q) assert (d_freed3 <= (u_rx.valid1_q ? d_freed1 : d_freed0));
      if (u_rx.valid2_q && u_rx.valid3_q) assert (d_freed3 <= d_freed2);
      if (offer_valid || offered_q) begin
        assert (d_offer <= d_freed0);
        if (u_rx.valid1_q) assert (d_offer <= d_freed1);
        if (u_rx.valid2_q) assert (d_offer <= d_freed2);
        if (u_rx.valid3_q) assert (d_offer <= d_freed3);
      end
      if (u_tx.step_valid_q) begin
        assert (offered_q);
        assert (u_tx.step_q <= d_offer);
      end
      cover (whole && lost_q == '0 && sent == count_t'(2) && stored_q == '0);
      cover (lost_q == count_t'(2) && line == count_t'(1));
    end
  end
endmodule
