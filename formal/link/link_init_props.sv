// SPDX-License-Identifier: SHL-2.1
/// link_init: whatever comes, one state at a time; INIT for InitWords words behind each start, in
/// which nothing is listened to; READY only when the far end was heard, up only when it has
/// answered; without signal, or at two INIT in a row, from the begin. idle_o: the next edge changes
/// nothing; high while nothing comes.
module link_init_props #(
  parameter int unsigned InitWords = 8
) (
  input logic clk_i,
  input logic signal_i,
  input logic init_i,
  input logic ready_i,
  input logic running_i
);
  logic rst_ni, clear_o, ready_o, up_o, idle_o;
  link_init #(.InitWords(InitWords)) dut (.*);

  logic started_q = 1'b0;
  always_ff @(posedge clk_i) started_q <= 1'b1;
  assign rst_ni = started_q;

  // Cycles since the last start, to InitWords; what came and where it was in the cycle before.
  logic [7:0] since_q;
  logic [2:0] state, state_q;
  logic       signal_q, init_q, init2_q, heard_q, answer_q, over_q, idle_q;
  logic [11:0] all, all_q;
  assign all   = {dut.count_q, dut.signal_q, dut.init_q, dut.seen_q, up_o, 1'b0};
  assign state  = {clear_o, ready_o, up_o};

  // link_rx: a word is one of the three at most, and none comes without a signal.
  logic over;
  assign over = !signal_i || (up_o && init_i && init_q);

  always_ff @(posedge clk_i) begin
    since_q  <= !started_q || over ? '0 : since_q == '1 ? since_q : since_q + 1'b1;
    state_q  <= state;
    signal_q <= started_q && signal_i;
    init_q   <= started_q && init_i;
    init2_q  <= started_q && init_q && init_i;
    heard_q  <= init_i || ready_i;
    answer_q <= ready_i || running_i;
    over_q   <= !started_q || over;
    idle_q   <= started_q && idle_o;
    all_q    <= all;
  end

  always_comb begin
    if (started_q) begin
      assume (!(init_i && ready_i) && !(init_i && running_i) && !(ready_i && running_i));
      assert ($onehot(state));
      // A start: from loss of signal, or two INIT while up.
      if (over_q) assert (clear_o);
      else begin
        // Nothing is listened to before InitWords words were sent.
        if (since_q <= 8'(InitWords)) assert (clear_o);
        if (clear_o && state_q[2] && since_q > 8'(InitWords)) assert (!heard_q);
        // READY when the far end was heard, up when it has answered: both at once, never without.
        if (state_q[2] && !clear_o) assert (ready_o && heard_q);
        if (state_q[1]) assert (up_o == answer_q);
        if (state_q[0]) assert (up_o);
      end
      // Idle: the next edge changes nothing.
      if (idle_q) assert (all == all_q);
      // And idle it is while nothing comes: up, or without a signal.
      if (up_o && signal_i && !init_i && !init_q) assert (idle_o);
      if (!signal_i && !signal_q && !init_i && !init_q) assert (idle_o);
      // What makes the above inductive.
      assert (8'(dut.count_q) == (since_q > 8'(InitWords) ? 8'(InitWords) : since_q));
      if (ready_o || up_o) assert (since_q > 8'(InitWords));
      assert (dut.init_q == init_q && (dut.signal_q == signal_q));
      cover (up_o && since_q == 8'(InitWords + 2));
      cover (state_q[0] && clear_o && signal_q && init2_q);
    end
  end
endmodule
