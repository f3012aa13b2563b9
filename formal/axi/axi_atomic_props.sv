// SPDX-License-Identifier: SHL-2.1
/// axi_atomic: a request is one address and one beat, of its word alone; it is done once, when its
/// answers have come; what is offered is held; of what it waits for, something is asked.
///
/// Any requests, and any subordinate that answers what it has taken, once.
module axi_atomic_props (
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
  logic rst_ni = 1'b0;
  always_ff @(posedge clk_i) rst_ni <= 1'b1;

  logic req_ready_o, done_o, error_o, awvalid_o, wvalid_o, bready_o, rready_o;
  logic [63:0] old_o;
  axi_pkg::address_t aw_o;
  logic [5:0] awatop_o;
  logic [127:0] wdata_o;
  logic [15:0] wstrb_o;
  axi_atomic #(.DataWidth(128)) dut (.*);

  // The request that is open, and what of it is over.
  logic open_q, aw_q, w_q, b_q, r_q, take, aw, w, b, r, word;
  logic [5:0] code_q;
  logic [47:0] address_q;
  logic [63:0] operand_q, old_q;
  assign take = req_valid_i && req_ready_o;
  assign aw   = awvalid_o && awready_i;
  assign w    = wvalid_o && wready_i;
  assign b    = bvalid_i && bready_o;
  assign r    = rvalid_i && rready_o;
  assign word = address_q[3];
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      {open_q, aw_q, w_q, b_q, r_q} <= '0;
    end else if (take) begin
      open_q    <= 1'b1;
      {aw_q, w_q, b_q} <= '0;
      r_q       <= !req_code_i[5];
      code_q    <= req_code_i;
      address_q <= req_address_i;
      operand_q <= req_operand_i;
    end else begin
      if (done_o) open_q <= 1'b0;
      aw_q <= aw_q || aw;
      w_q  <= w_q || w;
      b_q  <= b_q || b;
      r_q  <= r_q || r;
    end
    if (r) old_q <= word ? rdata_i[127:64] : rdata_i[63:0];
  end

  logic aw_held_q, w_held_q, done_q;
  always_ff @(posedge clk_i) begin
    aw_held_q <= rst_ni && awvalid_o && !awready_i;
    w_held_q  <= rst_ni && wvalid_o && !wready_i;
    done_q    <= rst_ni && done_o;
  end
  always_comb begin
    assume (req_address_i[2:0] == '0);
    // The subordinate answers what it has.
    if (bvalid_i) assume (open_q && aw_q && w_q && !b_q);
    if (rvalid_i) assume (open_q && aw_q && w_q && !r_q);
    if (rst_ni) begin
      if (take) free : assert (!open_q || done_o);
      if (aw_held_q) aw_held : assert (awvalid_o);
      if (w_held_q) w_held : assert (wvalid_o);
      if (awvalid_o) begin
        one_address : assert (open_q && !aw_q);
        its_address : assert (aw_o.addr == 64'(address_q) && aw_o.size == 3'd3 &&
                              aw_o.len == '0 && awatop_o == code_q);
      end
      if (wvalid_o) begin
        one_beat : assert (open_q && !w_q);
        its_word : assert (wstrb_o == (word ? 16'hFF00 : 16'h00FF) &&
                           (word ? wdata_o[127:64] : wdata_o[63:0]) == operand_q);
      end
      if (done_o) begin
        all_over : assert (open_q && aw_q && w_q && b_q && r_q);
        old_word : assert (!code_q[5] || old_o == old_q);
      end
      // For the induction: what is not over is offered, or waited for.
      if (open_q) begin
        pending : assert (awvalid_o == !aw_q && wvalid_o == !w_q && bready_o == !b_q &&
                          rready_o == !r_q);
        ends    : assert (done_o == (b_q && r_q && !dut.open_q));
        kept    : assert (dut.address_q == address_q && dut.operand_q == operand_q);
        goes_on : assert (dut.open_q || done_o);
      end else begin
        idle : assert (!dut.open_q && !awvalid_o && !wvalid_o && !bready_o && !rready_o && !done_o);
      end
      once : assert (!(done_q && done_o));
      if (code_q[5] && r_q && open_q) assert (old_o == old_q);
      last_beat : cover (done_o && code_q[5] && word);
      stored    : cover (done_o && !code_q[5]);
    end
  end
endmodule
