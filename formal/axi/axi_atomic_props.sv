// SPDX-License-Identifier: SHL-2.1
/// axi_atomic before any port that answers each atomic once on B, and once on R where its code
/// answers: each request is done once; without lost_o it was made once, and if the port's answers
/// agree, with lost_o not at all; it is tried Tries times more at most, and what is tried is what
/// was requested; what is offered is held.
module axi_atomic_props
  import axi_pkg::*;
(
  input logic         clk_i,
  input logic         req_valid_i,
  input logic [5:0]   req_code_i,
  input logic [47:0]  req_address_i,
  input logic [63:0]  req_operand_i,
  input logic         awready_i,
  input logic         wready_i,
  input logic         bvalid_i,
  input logic [1:0]   bresp_i,
  input logic         rvalid_i,
  input logic [127:0] rdata_i,
  input logic [1:0]   rresp_i
);
  localparam int unsigned Tries = 2;
  logic rst_ni, req_ready_o, done_o, lost_o, retry_o, awvalid_o, wvalid_o, bready_o, rready_o;
  logic [63:0] old_o;
  logic [15:0] wstrb_o;
  logic [127:0] wdata_o;
  logic [5:0] awatop_o;
  address_t aw_o;
  axi_atomic #(.DataWidth(128), .Tries(Tries), .Wait(2)) dut (.*);

  logic started_q = 1'b0;
  always_ff @(posedge clk_i) started_q <= 1'b1;
  assign rst_ni = started_q;

  // ------------------------------------------------------------ the request
  logic mine_q, take, set, b, r;
  logic [5:0] code_q;
  logic [47:0] addr_q;
  logic [63:0] operand_q, new_q, old_q;
  logic done_q;  // of code 0: done in this cycle
  // Of its tries: those begun; made, as the port says on B, and on R.
  logic [1:0] tries_q, made_b_q, made_r_q;
  // Of the present try: what the port has, and has answered.
  logic aw_q, w_q, b_q, r_q;
  logic known_q;  // what AtomicCompare swaps in
  logic lane;
  assign lane = addr_q[3];
  assign take = req_valid_i && req_ready_o;
  assign set  = take && req_code_i == '0;
  assign b    = bvalid_i && bready_o;
  assign r    = rvalid_i && rready_o;
  always_ff @(posedge clk_i) begin
    if (!started_q) begin
      {mine_q, done_q, known_q} <= '0;
      {aw_q, w_q, b_q, r_q} <= '0;
    end else begin
      done_q <= set;
      if (set) {known_q, new_q} <= {1'b1, req_operand_i};
      if (take && !set) begin
        mine_q <= 1'b1;
        {code_q, addr_q, operand_q} <= {req_code_i, req_address_i, req_operand_i};
        {tries_q, made_b_q, made_r_q} <= '0;
        {aw_q, w_q, b_q, r_q} <= {3'd0, !req_code_i[5]};
      end else begin
        if (awvalid_o && awready_i) aw_q <= 1'b1;
        if (wvalid_o && wready_i) w_q <= 1'b1;
        if (b) b_q <= 1'b1;
        if (r) r_q <= 1'b1;
        if (r) old_q <= rdata_i[64*lane+:64];
        if (b && !bresp_i[1]) made_b_q <= made_b_q + 2'd1;
        if (r && !rresp_i[1]) made_r_q <= made_r_q + 2'd1;
        if (retry_o) begin
          {aw_q, w_q, b_q, r_q} <= {3'd0, !code_q[5]};
          tries_q <= tries_q + 2'd1;
        end
        if (done_o && !done_q) mine_q <= 1'b0;
      end
    end
  end

  logic aw_held_q, w_held_q;
  address_t aw_last_q;
  always_ff @(posedge clk_i) begin
    aw_held_q <= started_q && awvalid_o && !awready_i;
    w_held_q  <= started_q && wvalid_o && !wready_i;
    aw_last_q <= aw_o;
  end

  logic answered;  // R has come, of a code that has one
  assign answered = r_q && code_q[5];
  always_comb begin
    if (started_q) begin
      assume (!bvalid_i || (aw_q && w_q && !b_q));
      assume (!rvalid_i || (aw_q && w_q && !r_q));

      // What is proved.
      if (done_o && !done_q) begin
        done_of_one : assert (mine_q && b_q && r_q);
        made_once   : assert (lost_o || (made_b_q == 2'd1 && made_r_q == 2'(code_q[5])));
        none_lost   : assert (!lost_o || made_b_q == '0 || (code_q[5] && made_r_q == '0));
        its_old     : assert (!code_q[5] || old_o == old_q);
      end
      if (done_q) set_done : assert (done_o && !lost_o);
      bounded : assert (!mine_q || tries_q <= 2'(Tries));
      if (awvalid_o) begin
        its_address : assert (mine_q && !aw_q && aw_o.addr == 64'(addr_q) && awatop_o == code_q);
        its_size    : assert (aw_o.len == '0 && aw_o.size == (code_q == 6'b110001 ? 3'd4 : 3'd3));
      end
      if (wvalid_o) begin
        its_word : assert (mine_q && !w_q && wdata_o[64*lane+:64] == operand_q);
        its_strb : assert (wstrb_o[8*lane+:8] == '1);
        if (code_q == 6'b110001 && known_q) begin
          its_new : assert (wdata_o[64*(lane^1'b1)+:64] == new_q);
        end else if (code_q != 6'b110001) begin
          no_new : assert (wstrb_o[8*(lane^1'b1)+:8] == '0);
        end
      end
      if (aw_held_q) assert (awvalid_o && aw_o == aw_last_q);
      if (w_held_q) assert (wvalid_o);
      if (retry_o) not_made : assert (made_b_q == '0 && made_r_q == '0);

      // What makes it inductive.
      assert (dut.tries_q <= 2'(Tries) && (!dut.pause_q || dut.wait_q <= 2'd1));
      assert (mine_q == (dut.open_q || (done_o && !done_q)));
      assert (!done_q || !dut.open_q);
      assert (!mine_q || code_q[5] || r_q);
      assert (!done_o || !dut.open_q);
      assert (!dut.pause_q || dut.open_q);
      if (dut.open_q) begin
        assert (dut.tries_q == tries_q && dut.address_q == addr_q && awatop_o == code_q);
        assert (dut.operand_q == operand_q && code_q != '0);
        if (dut.pause_q) begin
          assert (!awvalid_o && !wvalid_o && !bready_o && !rready_o && !aw_q && !w_q);
          assert (!b_q && !answered && !dut.error_q && !dut.other_q);
        end else begin
          assert (awvalid_o == !aw_q && wvalid_o == !w_q && bready_o == !b_q && rready_o == !r_q);
          assert (!(b_q && r_q));
          assert (!(b_q || answered) || (aw_q && w_q));
          assert ((b_q || answered) || (!dut.error_q && !dut.other_q));
          if (made_b_q != '0 || made_r_q != '0) assert (dut.other_q && (b_q || answered));
          if (b_q && !dut.error_q) assert (made_b_q == 2'd1);
          if (answered && !dut.error_q) assert (made_r_q == 2'd1);
        end
        assert (made_b_q <= 2'(b_q) && made_r_q <= 2'(answered));
        if (dut.error_q) assert ((b_q && made_b_q == '0) || (answered && made_r_q == '0));
        if (answered) assert (old_o == old_q);
      end else begin
        assert (!awvalid_o && !wvalid_o && !bready_o && !rready_o);
        assert (!dut.error_q && !dut.other_q && dut.tries_q == '0);
      end
      if (known_q) assert (dut.new_q == new_q);
      cover (done_o && !done_q && !lost_o && tries_q == 2'd2 && code_q == 6'b110001);
      cover (done_o && lost_o && tries_q == 2'd2);
      cover (done_o && !done_q && !lost_o && tries_q == 2'd1 && !code_q[5]);
    end
  end
endmodule
