// SPDX-License-Identifier: SHL-2.1
/// Virtual channels do not touch each other's credit: with three ids on one link, whatever happens
/// to two of them, the counts of any one are those of a core that has this id alone.
module link_ids_props
  import link_pkg::*;
#(
  parameter int unsigned NumIds = 3,
  parameter int unsigned Depth  = 6,
  localparam int unsigned CountWidth = 4,
  localparam type count_t = logic [CountWidth-1:0]
) (
  input logic                clk_i,
  input logic                clear_i,
  // The sender's side.
  input id_t                 id_i,
  input logic                inc_i,
  input logic                credit_i,
  input id_t                 credit_id_i,
  input count_t              credit_count_i,
  // The receiver's side.
  input logic                sync_i,
  input logic                ask_i,
  input id_t                 sync_id_i,
  input count_t              sync_count_i,
  input logic                word_i,
  input id_t                 word_id_i,
  input count_t [NumIds-1:0] stored_i,
  input logic                busy_i,
  input logic                take_credit_i,
  input id_t                 mine           // any id; it stays
);
  typedef logic [$clog2(NumIds)-1:0] addr_t;
  id_t zero;
  assign zero = '0;

  logic started_q = 1'b0, rst_ni;
  id_t mine_q;
  always_ff @(posedge clk_i) begin
    started_q <= 1'b1;
    mine_q    <= mine;
  end
  assign rst_ni = started_q;

  // ------------------------------------------------------------------ sent, freed, room
  count_t              sent, sent_alone;
  count_t [NumIds-1:0] room;
  count_t [0:0]        room_alone;
  logic [NumIds-1:0]   whole;
  logic [0:0]          whole_alone;
  logic                bad, bad_alone, idle_tx, idle_tx_alone;

  link_credit_tx #(.NumIds(NumIds), .Depth(Depth), .CountWidth(CountWidth)) all (
    .clk_i, .rst_ni, .clear_i, .id_i, .inc_i, .sent_o(sent), .credit_i, .credit_id_i,
    .credit_count_i,
    .bad_o(bad), .whole_o(whole), .room_o(room), .idle_o(idle_tx)
  );
  link_credit_tx #(.NumIds(1), .Depth(Depth), .CountWidth(CountWidth)) alone (
    .clk_i, .rst_ni, .clear_i, .id_i(zero), .inc_i(inc_i && id_i == mine), .sent_o(sent_alone),
    .credit_i(credit_i && credit_id_i == mine), .credit_id_i(zero), .credit_count_i,
    .bad_o(bad_alone), .whole_o(whole_alone), .room_o(room_alone), .idle_o(idle_tx_alone)
  );

  // ------------------------------------------------------------------ received
  logic   offer_valid, pressing, check, check_first, idle_rx;
  logic   offer_valid_alone, pressing_alone, check_alone, check_first_alone, idle_rx_alone;
  id_t    offer_id, check_id, offer_id_alone, check_id_alone;
  count_t offer_count, offer_count_alone;

  link_credit_rx #(.NumRxIds(NumIds), .NumTxIds(1), .CreditWords(4), .RefreshWords(16),
                   .CountWidth(CountWidth)) all_rx (
    .clk_i, .rst_ni, .clear_i, .sync_i, .sync_id_i, .sync_count_i, .ask_i(ask_i && sync_i),
    .ask_id_i(sync_id_i), .word_i, .word_id_i,
    .stored_i, .busy_i, .whole_i(1'b1), .offer_valid_o(offer_valid), .pressing_o(pressing),
    .offer_id_o(offer_id), .offer_count_o(offer_count), .check_o(check),
    .check_first_o(check_first),
    .check_id_o(check_id), .take_credit_i(take_credit_i && offer_valid), .take_check_i(1'b0),
    .idle_o(idle_rx)
  );
  link_credit_rx #(.NumRxIds(1), .NumTxIds(1), .CreditWords(4), .RefreshWords(16),
                   .CountWidth(CountWidth)) alone_rx (
    .clk_i, .rst_ni, .clear_i, .sync_i(sync_i && sync_id_i == mine), .sync_id_i(zero),
    .sync_count_i, .ask_i(1'b0), .ask_id_i(zero), .word_i(word_i && word_id_i == mine),
    .word_id_i(zero),
    .stored_i(stored_i[mine]), .busy_i, .whole_i(1'b1), .offer_valid_o(offer_valid_alone),
    .pressing_o(pressing_alone), .offer_id_o(offer_id_alone), .offer_count_o(offer_count_alone),
    .check_o(check_alone), .check_first_o(check_first_alone), .check_id_o(check_id_alone),
    .take_credit_i(1'b0), .take_check_i(1'b0), .idle_o(idle_rx_alone)
  );

  // A clear lasts for all ids. After one the counts are known; before the first they are anything.
  logic [2:0] clear_q = '0;
  logic       known_q = 1'b0;
  always_ff @(posedge clk_i) begin
    clear_q <= !rst_ni || !clear_i ? '0 : clear_q == '1 ? clear_q : clear_q + 1'b1;
    if (clear_q >= 3'(NumIds)) known_q <= 1'b1;
  end

  always_comb begin
    if (started_q) assume (mine == mine_q);
    assume (mine < 6'(NumIds) && id_i < 6'(NumIds) && credit_id_i < 6'(NumIds));
    assume (sync_id_i < 6'(NumIds) && word_id_i < 6'(NumIds));
    if (clear_q == '0 && !known_q) assume (clear_i);
    if (clear_q != '0 && clear_q < 3'(NumIds + 1)) assume (clear_i);
    // link_rx: a word is one thing.
    assume (!(sync_i && word_i));
    if (clear_i) assume (!inc_i && !credit_i && !sync_i && !word_i);
    if (started_q && known_q && clear_q == '0) begin
      assert (room[mine] == room_alone[0]);
      assert (whole[mine] == whole_alone[0]);
      assert (all.sent_q[mine] == alone.sent_q[0]);
      assert (all.freed_q[mine] == alone.freed_q[0]);
      assert (all_rx.received_q[mine] == alone_rx.received_q[0]);
    end
    // What makes the above inductive: what is under way, and how far a clear has come.
    if (started_q) begin
      assert (alone.step_valid_q == (all.step_valid_q && all.step_id_q == addr_t'(mine)));
      if (alone.step_valid_q && known_q) assert (alone.step_q == all.step_q);
      assert (alone.step_id_q == '0 || !alone.step_valid_q);
      assert (alone.clear_addr_q == '0 && alone_rx.clear_addr_q == '0);
      assert (3'(all.clear_addr_q) == (clear_q < 3'(NumIds) ? clear_q : 3'(NumIds - 1)));
      assert (all_rx.clear_addr_q == all.clear_addr_q);
      assert (all.step_id_q < addr_t'(NumIds) || !all.step_valid_q);
      if (clear_q != '0) begin
        assert (!all.step_valid_q);
        assert (room[mine] == '0 && room_alone[0] == '0);
        assert (alone.sent_q[0] == '0 && alone.freed_q[0] == -count_t'(Depth));
        assert (alone_rx.received_q[0] == '0);
        if (clear_q > 3'(mine)) begin
          assert (all.sent_q[mine] == '0 && all.freed_q[mine] == -count_t'(Depth));
          assert (all_rx.received_q[mine] == '0);
        end
      end
      if (clear_q == '0 && !known_q) assert (!all.step_valid_q);
    end
    cover (started_q && known_q && room[0] == count_t'(2) && room[1] == count_t'(Depth));
  end
endmodule
