// SPDX-License-Identifier: SHL-2.1
/// link_spread: one link or none, only one that can take the packet; the one with least of those
/// that can, of equal ones the next behind the last grant, and one whenever any may; and no link
/// gets further ahead of another than it may.
module link_spread_props #(
  parameter int unsigned MaxWords = 3,
  parameter int unsigned MaxAhead = 4
) (
  input logic       clk_i,
  input logic [2:0] up_i,
  input logic [2:0] free_i,
  input logic       req_valid_i,
  input logic [0:0] req_dest_i,
  input logic [1:0] req_words_i,
  // Any destination, and any two links; they stay.
  input logic [0:0] dest,
  input logic [1:0] one,
  input logic [1:0] other
);
  logic       rst_ni;
  logic [2:0] gnt_o;

  link_spread #(.NumLinks(3), .NumDests(2), .MaxWords(MaxWords), .MaxAhead(MaxAhead)) dut (.*);

  logic       started_q = 1'b0;
  logic [4:0] chosen_q;
  always_ff @(posedge clk_i) begin
    started_q <= 1'b1;
    chosen_q  <= {dest, one, other};
  end
  assign rst_ni = started_q;

  // The pending request, and for how many cycles it has been: counted to 2.
  logic       stands_q;
  logic [1:0] age_q;
  logic [2:0] asked_q, up_q;
  always_ff @(posedge clk_i) begin
    asked_q <= {req_dest_i, req_words_i};
    up_q    <= up_i;
    if (!rst_ni || !req_valid_i || gnt_o != '0) begin
      stands_q <= 1'b0;
      age_q    <= '0;
    end else begin
      stands_q <= 1'b1;
      if (age_q != 2'd2) age_q <= age_q + 1'b1;
    end
  end

  // What each link has got of the destination asked for, by what is stored.
  logic signed [4:0] has[3], far[3];
  logic        [2:0] may, less;
  for (genvar i = 0; i < 3; i++) begin : gen_may
    assign has[i] = dut.used_q[asked_q[2]] ? 5'(dut.count_q[asked_q[2]][i]) : '0;
    always_comb begin
      // Beyond the least of those that are up.
      far[i] = '0;
      for (int k = 0; k < 3; k++) begin
        if (up_q[k] && has[i] - has[k] > far[i]) far[i] = has[i] - has[k];
      end
    end
    assign may[i] = up_i[i] && free_i[i] && far[i] <= 5'(MaxAhead);
  end
  for (genvar i = 0; i < 3; i++) begin : gen_less
    // Some link that may have it, has less.
    assign less[i] = (may[0] && has[0] < has[i]) || (may[1] && has[1] < has[i]) ||
                     (may[2] && has[2] < has[i]);
  end

  // Links behind the one that was given last; of those that may have it and have least,
  // the next in turn.
  logic [2:0] after_q, least, front, next;
  assign least = may & ~less;
  assign front = least & after_q;
  assign next  = front != '0 ? front & -front : least & -least;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) after_q <= '1;
    else if (gnt_o != '0) after_q <= gnt_o[0] ? 3'b110 : gnt_o[1] ? 3'b100 : 3'b000;
  end

  // Words of `dest` that `one` has got more than `other` since both are up,
  // on top of what is counted then.
  logic signed [5:0] counted, more_q;
  logic              mine, both;
  assign mine    = req_valid_i && gnt_o != '0 && req_dest_i == dest;
  assign both    = up_i[one] && up_i[other];
  assign counted = dut.used_q[dest] ?
      6'(dut.count_q[dest][one]) - 6'(dut.count_q[dest][other]) : '0;

  logic known_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      more_q  <= '0;
      known_q <= 1'b0;
    end else begin
      known_q <= both;
      if (both) begin
        more_q <= (known_q ? more_q : counted) +
                  (mine && gnt_o[one] ? 6'(req_words_i) : '0) -
                  (mine && gnt_o[other] ? 6'(req_words_i) : '0);
      end
    end
  end

  always_comb begin
    assume (one < 2'd3 && other < 2'd3 && one != other);
    if (started_q) assume (chosen_q == {dest, one, other});
    if (started_q) begin
      assume (req_words_i != '0);
      if (stands_q && req_valid_i) assume ({req_dest_i, req_words_i} == asked_q);

      assert ((gnt_o & (gnt_o - 1'b1)) == '0);
      assert ((gnt_o & ~(up_i & free_i & {3{req_valid_i}})) == '0);
      // Two cycles, and one after the links that are up have changed:
      // then it waits only for those that may.
      if (req_valid_i && age_q == 2'd2 && up_i == up_q) begin
        assert ((gnt_o != '0) == (may != '0));
        assert ((gnt_o & ~may) == '0 && (gnt_o & less) == '0 && gnt_o == next);
        if (up_i != '0 && (up_i & ~free_i) == '0) assert (gnt_o != '0);
      end else begin
        assert (gnt_o == '0);
      end
      // Balance, and that the counts are those of the words.
      if (known_q) begin
        assert (more_q <= 6'sd7 && more_q >= -6'sd7);
        assert (more_q == counted);
      end

      // What induction needs: the steps, what was read, its order, and what was made of it.
      assert (age_q == dut.step_q && age_q != 2'd3 && stands_q == (age_q != '0));
      assert (dut.turn_q == after_q);
      if (stands_q) begin
        for (int i = 0; i < 3; i++) begin
          assert (dut.held_q[i] == 3'(has[i]));
          for (int k = 0; k < 3; k++) begin
            if (i != k) assert (dut.order_q[i][k] != dut.order_q[k][i]);
            if (i != k && has[i] < has[k]) assert (dut.order_q[i][k]);
            if (i < k && has[i] == has[k])
              assert (dut.order_q[i][k] == (after_q[i] || !after_q[k]));
          end
        end
        // Of equals the next in turn: an order, so that one of any set is before all others.
        assert (!(dut.order_q[0][1] && dut.order_q[1][2] && dut.order_q[2][0]));
        assert (!(dut.order_q[0][2] && dut.order_q[2][1] && dut.order_q[1][0]));
      end
      if (age_q == 2'd2) begin
        for (int i = 0; i < 3; i++) begin
          assert (dut.within_q[i] == (up_q[i] && far[i] <= 5'(MaxAhead)));
          assert (up_q == '0 || dut.ahead_q[i] == 3'(far[i]));
        end
      end
      if (stands_q) assert (dut.up_q == up_q);

      cover (known_q && more_q == 6'sd7);
      cover (age_q == 2'd2 && req_valid_i && up_i == 3'b111 && free_i == 3'b001 && gnt_o == '0);
      cover (known_q && both && !free_i[other] && mine && gnt_o[one] && counted > 0);
      cover (age_q == 2'd2 && !req_valid_i);
      cover (age_q == 2'd2 && req_valid_i && up_i != up_q && up_i == '1);
    end
  end
endmodule
