// SPDX-License-Identifier: SHL-2.1
/// Open transactions: gives each request a number, and finds the request of an answer.
///
/// A store with eviction (tag_store) would not do: an open transaction must never leave.
///
///   Handshake   open_i only with free_o and not same_o; txn_o is the number that it gets. An
///               answer has no ready; known_o says in its cycle whether its transaction is open,
///               tag_o is what its request brought along
///   Contents    an answer is known once for each request, and to that request alone; a number is
///               not given again before its answer     (proved: formal/ccix/ccix_txns.sby)
///   Ordering    same_o: a transaction of this line is open
///   Latency     0 cycles; an ended transaction's number is free 2 cycles later
///   Parameters  NumTxns a power of two, 2..256
///   Not done    timeouts: the layer below delivers every message
module ccix_txns
  import ccix_pkg::*;
#(
  parameter int unsigned NumTxns = 128
) (
  input  logic       clk_i,
  input  logic       rst_ni,
  input  index_t     index_i,
  input  logic [7:0] tag_i,
  input  logic       open_i,
  output logic       free_o,
  output logic       same_o,
  output txn_t       txn_o,
  input  logic       answer_i,
  input  txn_t       answer_txn_i,
  output logic       known_o,
  output logic [7:0] tag_o
);
  if (NumTxns < 2 || NumTxns > 256 || (NumTxns & (NumTxns - 1)) != 0) begin : gen_txns_check
    $error("ccix_txns: NumTxns is %0d, legal is a power of two, 2..256", NumTxns);
  end
  localparam int unsigned Width = $clog2(NumTxns);

  logic [NumTxns-1:0] open_q, open_d;
  index_t index_q [NumTxns];
  logic [7:0] tag_q [NumTxns];
  logic [Width-1:0] next_q, next_d, answer;
  logic free_q;

  assign answer  = answer_txn_i[Width-1:0];
  assign known_o = answer_i && 32'(answer_txn_i) < NumTxns && open_q[answer];
  assign tag_o   = tag_q[answer];
  assign free_o  = free_q;
  assign txn_o   = txn_t'(next_q);

  always_comb begin
    same_o = 1'b0;
    for (int unsigned i = 0; i < NumTxns; i++) begin
      if (open_q[i] && index_q[i] == index_i) same_o = 1'b1;
    end
  end

  // The next number is chosen a cycle ahead, from what is then open.
  always_comb begin
    open_d = open_q;
    if (known_o) open_d[answer] = 1'b0;
    if (open_i) open_d[next_q] = 1'b1;
    next_d = '0;
    for (int i = int'(NumTxns) - 1; i >= 0; i--) if (!open_d[i]) next_d = Width'(i);
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      open_q <= '0;
      free_q <= 1'b0;
      next_q <= '0;
    end else begin
      open_q <= open_d;
      free_q <= open_d != '1;
      next_q <= next_d;
    end
  end
  always_ff @(posedge clk_i) begin
    if (open_i) begin
      index_q[next_q] <= index_i;
      tag_q[next_q]   <= tag_i;
    end
  end
  prim_assert u_opens_a_free_one (
    .clk_i,
    .rst_ni,
    .ok_i(!open_i || free_q && !open_q[next_q])
  );
endmodule
