// SPDX-License-Identifier: SHL-2.1
/// ccix_txns under any requests and any answers, also wrong and repeated ones. One number is
/// watched: each request that gets it has one known answer with its tag, and the number is not
/// given away before. A line is busy exactly while a request of it is open; there is a number
/// exactly while not all are in use.
module ccix_txns_props
  import ccix_pkg::*;
(
  input logic       clk_i,
  input index_t     index_i,
  input logic [7:0] tag_i,
  input logic       want_i,
  input logic       answer_i,
  input txn_t       answer_txn_i
);
  localparam int unsigned NumTxns = 4;
  // Any constant.
  logic [1:0] watched;
  always_ff @(posedge clk_i) watched <= watched;
  logic rst_ni = 1'b0;
  always_ff @(posedge clk_i) rst_ni <= 1'b1;

  logic open_i, free_o, same_o, known_o;
  txn_t txn_o;
  logic [7:0] tag_o;
  ccix_txns #(.NumTxns(NumTxns)) dut (.*);
  assign open_i = want_i && free_o && !same_o;

  logic opens, answered, open_q;
  logic [7:0] brought_q;
  index_t line_q;
  logic [1:0] taken_q;  // how often it was opened, and how often answered
  logic [1:0] ended_q;
  assign opens    = open_i && txn_o == txn_t'(watched);
  assign answered = answer_i && answer_txn_i == txn_t'(watched);
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      open_q  <= 1'b0;
      taken_q <= '0;
      ended_q <= '0;
    end else begin
      if (known_o && answered) open_q <= 1'b0;
      if (opens) open_q <= 1'b1;
      taken_q <= taken_q + 2'(opens);
      ended_q <= ended_q + 2'(known_o && answered);
    end
    if (opens) begin
      brought_q <= tag_i;
      line_q    <= index_i;
    end
  end

  // All numbers: which are in use, and for which line.
  logic [NumTxns-1:0] used_q;
  index_t lines_q [NumTxns];
  logic busy;
  always_ff @(posedge clk_i) begin
    for (int unsigned i = 0; i < NumTxns; i++) begin
      if (!rst_ni) used_q[i] <= 1'b0;
      else if (open_i && txn_o == txn_t'(i)) used_q[i] <= 1'b1;
      else if (answer_i && answer_txn_i == txn_t'(i)) used_q[i] <= 1'b0;
      if (open_i && txn_o == txn_t'(i)) lines_q[i] <= index_i;
    end
  end
  always_comb begin
    busy = 1'b0;
    for (int unsigned i = 0; i < NumTxns; i++) busy |= used_q[i] && lines_q[i] == index_i;
  end
  logic running_q = 1'b0;
  always_ff @(posedge clk_i) running_q <= rst_ni;

  always_comb begin
    if (rst_ni) begin
      line_is_busy : assert (same_o == busy);
      number_is_there : assert (!running_q || free_o == (used_q != '1));
      number_is_one : assert (txn_o < 8'(NumTxns));
      no_answer_no_tag : assert (!known_o || answer_i);
      table_used : assert (dut.open_q == used_q);
      for (int unsigned i = 0; i < NumTxns; i++) begin
        assert (!used_q[i] || dut.index_q[i] == lines_q[i]);
      end
      not_given_twice : assert (!opens || !open_q);
      one_answer_each : assert (2'(taken_q - ended_q) == 2'(open_q));
      known_if_open : assert (!answered || known_o == open_q);
      its_own_tag : assert (!answered || !known_o || tag_o == brought_q);
      no_stranger : assert (!known_o || answer_txn_i < 8'(NumTxns));
      line_is_closed : assert (!open_q || index_i != line_q || same_o);
      // What the table holds of the watched one, for the induction.
      table_open : assert (dut.open_q[watched] == open_q);
      table_tag : assert (!open_q || dut.tag_q[watched] == brought_q);
      table_line : assert (!open_q || dut.index_q[watched] == line_q);
      next_is_free : assert (!free_o || !dut.open_q[dut.next_q]);
    end
    answered_again : cover (rst_ni && answered && !open_q && ended_q == 2'd1);
    used_twice : cover (rst_ni && ended_q == 2'd2 && open_q);
  end
endmodule
