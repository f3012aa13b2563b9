// SPDX-License-Identifier: SHL-2.1
/// rdma_read_share: each beat of data goes to the requester of its address, an offer is held, and a
/// read of one beat never splits a transfer's bursts.
///
/// Memory answers addresses in their order, each with one to four beats here; a queue of the
/// requesters is the reference.
module rdma_read_share_props (
  input logic        clk_i,
  input logic        bursts_arvalid_i,
  input logic [63:0] bursts_araddr_i,
  input logic [7:0]  bursts_arlen_i,
  input logic [12:0] bursts_aruser_i,
  input logic        bursts_rready_i,
  input logic        beat_valid_i,
  input logic [63:3] beat_addr_i,
  input logic        arready_i,
  input logic        rvalid_i,
  input logic [1:0]  rresp_i,
  input logic        rlast_i,
  input logic        rearly_i
);
  logic rst_ni, bursts_arready_o, bursts_rvalid_o, bursts_rearly_o, beat_ready_o, beat_done_o;
  logic beat_failed_o, arvalid_o, rready_o, idle_o;
  logic [63:0] araddr_o;
  logic [7:0]  arlen_o;
  logic [12:0] aruser_o;

  rdma_read_share dut (.*);

  logic started_q = 1'b0;
  always_ff @(posedge clk_i) started_q <= 1'b1;
  assign rst_ni = started_q;

  // Reads under way, oldest at bit 0: whether each is the beat's.
  localparam int unsigned Most = 4;
  logic [Most-1:0] beat_q;
  logic [2:0] count_q;
  logic take, done, is_beat;
  assign take    = arvalid_o && arready_i;
  assign done    = rvalid_i && rready_o && rlast_i;
  assign is_beat = beat_ready_o;

  logic [Most-1:0] left;
  logic [2:0] left_count;
  assign left       = done ? beat_q >> 1 : beat_q;
  assign left_count = count_q - 3'(done);
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      beat_q  <= '0;
      count_q <= '0;
    end else begin
      beat_q  <= take ? left | (Most'(is_beat) << left_count) : left;
      count_q <= left_count + 3'(take);
    end
  end

  // A transfer's later bursts: the last address taken of the sending half said that more follow.
  logic row_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) row_q <= 1'b0;
    else if (bursts_arvalid_i && bursts_arready_o) begin
      row_q <= bursts_aruser_i[12:3] != 10'(bursts_arlen_i) + 10'd1;
    end
  end

  logic past_q = 1'b0;
  logic held_q, bursts_held_q, beat_held_q;
  logic [63:0] addr_q;
  logic [7:0]  len_q;
  logic [12:0] user_q;
  logic [63:3] beat_addr_q;
  always_ff @(posedge clk_i) begin
    past_q        <= rst_ni;
    held_q        <= arvalid_o && !arready_i;
    bursts_held_q <= bursts_arvalid_i && !bursts_arready_o;
    beat_held_q   <= beat_valid_i && !beat_ready_o;
    {addr_q, len_q, user_q} <= {araddr_o, arlen_o, aruser_o};
    beat_addr_q   <= beat_addr_i;
  end
  logic [63:0] bursts_addr_q;
  logic [7:0]  bursts_len_q;
  logic [12:0] bursts_user_q;
  always_ff @(posedge clk_i) begin
    {bursts_addr_q, bursts_len_q, bursts_user_q} <= {bursts_araddr_i, bursts_arlen_i,
                                                     bursts_aruser_i};
  end

  always_comb begin
    // Requesters hold their offers; a beat is asked for again only after its data.
    if (past_q && bursts_held_q) begin
      assume (bursts_arvalid_i);
      assume ({bursts_araddr_i, bursts_arlen_i, bursts_aruser_i} ==
              {bursts_addr_q, bursts_len_q, bursts_user_q});
    end
    if (past_q && beat_held_q) begin
      assume (beat_valid_i && beat_addr_i == beat_addr_q);
    end
    if (|(beat_q & ((Most'(1) << count_q) - Most'(1)))) assume (!beat_valid_i);
    // Memory answers what it was asked, with one beat of data for a read of one.
    if (count_q == '0) assume (!rvalid_i);
    if (rvalid_i && beat_q[0]) assume (rlast_i);
    if (count_q == 3'(Most)) assume (!arready_i);
  end

  always_comb begin
    if (rst_ni) begin
      if (past_q && held_q) begin
        assert (arvalid_o && {araddr_o, arlen_o, aruser_o} == {addr_q, len_q, user_q});
      end
      assert (beat_done_o == (rvalid_i && beat_q[0] && count_q != '0));
      assert (bursts_rvalid_o == (rvalid_i && !(beat_q[0] && count_q != '0)));
      assert (!(beat_ready_o && bursts_arvalid_i && bursts_arready_o));
      assert (!beat_ready_o || (araddr_o == {beat_addr_i, 3'd0} && arlen_o == '0));
      assert (!beat_ready_o || !row_q);
      assert (!idle_o || !(|(beat_q & ((Most'(1) << count_q) - Most'(1)))));
      // What the state means, so that induction begins with reachable states.
      assert ($countones(beat_q & ((Most'(1) << count_q) - Most'(1))) <= 1);
      assert ((beat_q >> count_q) == '0);
      assert (count_q <= 3'(Most));
      assert (dut.row_q == row_q);
      assert (dut.reading_q == (|beat_q));
      assert (dut.bursts_q == 4'(count_q) - 4'(|beat_q));
      assert (!dut.reading_q || beat_q == Most'(1) << dut.before_q[1:0] &&
                      dut.before_q < 4'(count_q));
      assert (!dut.offer_q || (beat_valid_i && !dut.reading_q && !row_q));
    end
  end

  always_comb begin
    if (rst_ni) begin
      cover (beat_done_o && count_q == 3'd3);
    end
  end
endmodule
