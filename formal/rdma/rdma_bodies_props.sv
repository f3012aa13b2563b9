// SPDX-License-Identifier: SHL-2.1
/// rdma_bodies: every body comes out once, in order and unchanged, from the cycle behind its push;
/// the count of those that are there says whether a new one may be begun.
///
/// One body is followed, any.
module rdma_bodies_props
  import rdma_rx_pkg::*;
(
  input logic  clk_i,
  input logic  push_i,
  input body_t body_i,
  input logic  pop_i,
  input logic  track_i   // the body that is pushed is followed
);
  localparam int unsigned Depth = 2 * MaxWrites;
  localparam int unsigned Width = $clog2(Depth);
  typedef logic [Width:0] count_t;
  logic rst_ni, valid_o, many_o;
  body_t body_o;

  rdma_bodies dut (.*);

  logic started_q = 1'b0;
  always_ff @(posedge clk_i) started_q <= 1'b1;
  assign rst_ni = started_q;

  count_t count_q;    // bodies that are there
  count_t before_q;   // of those, in front of the followed one
  logic   there_q, gone_q;
  body_t  mine_q;
  logic   pop, mine;
  assign pop  = pop_i && valid_o;
  assign mine = there_q && before_q == '0;
  always_ff @(posedge clk_i) begin
    if (!started_q) begin
      count_q <= '0;
      there_q <= 1'b0;
      gone_q  <= 1'b0;
    end else begin
      count_q <= count_q + count_t'(push_i) - count_t'(pop);
      if (push_i && track_i && !there_q && !gone_q) begin
        there_q  <= 1'b1;
        mine_q   <= body_i;
        before_q <= count_q - count_t'(pop);
      end else if (there_q && pop) begin
        before_q <= before_q - count_t'(1);
        if (mine) {there_q, gone_q} <= 2'b01;
      end
    end
  end

  count_t rptr;
  assign rptr = dut.u_fifo.rptr_q;
  always_comb begin
    if (started_q) begin
      // No more bodies than have their place.
      if (push_i) assume (count_q != count_t'(Depth));
      assert (valid_o == (count_q != '0));
      if (mine) assert (valid_o && body_o == mine_q);
      // Two whose frame words are on their way have a place still.
      assert (many_o == (count_q >= count_t'(MaxWrites - 2)));

      // What makes the above inductive.
      assert (count_q <= count_t'(Depth) && count_t'(dut.u_fifo.wptr_q - rptr) == count_q);
      assert (!(there_q && gone_q));
      if (there_q) begin
        assert (before_q < count_q && dut.u_fifo.mem_q[Width'(rptr + before_q)] == mine_q);
      end
      cover (gone_q && count_q == count_t'(2));
      cover (many_o && pop_i && !push_i);
    end
  end
endmodule
