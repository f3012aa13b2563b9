// SPDX-License-Identifier: SHL-2.1
/// ccix_handover before any cache that answers evictions in their order: each grant is one message,
/// in the order of the grants, and one with a line leaves only when its own eviction was answered,
/// and a cycle in which the line may be offered is over. What the cache is offered stays until it
/// is taken; accesses and their answers pass as they are. One arbitrary grant is watched.
module ccix_handover_props
  import ccix_pkg::*;
(
  input logic          clk_i,
  input logic          grant_valid_i,
  input logic          grant_line_i,
  input lock_message_t grant_i,
  input logic          msg_ready_i,
  input logic          req_valid_i,
  input access_t       req_i,
  input logic          line_ready_i,
  input logic          line_rsp_valid_i,
  input logic [7:0]    line_rsp_tag_i,
  input logic          watch_i
);
  localparam int unsigned Depth = 4;
  logic rst_ni, msg_valid_o, req_ready_o, rsp_valid_o, line_valid_o, line_evict_o, fail_o;
  lock_message_t msg_o;
  access_t line_o;
  ccix_handover #(.Depth(Depth)) dut (.*);

  logic started_q = 1'b0;
  always_ff @(posedge clk_i) started_q <= 1'b1;
  assign rst_ni = started_q;

  // ------------------------------------------------------------ the cache, and the unit before it
  logic [2:0] open_q;  // evictions taken, without an answer
  logic take, answer, offered_q, evict_q;
  logic waits_q;
  access_t line_q, req_q;
  assign take   = line_valid_o && line_evict_o && line_ready_i;
  assign answer = line_rsp_valid_i && line_rsp_tag_i == 8'h40;
  always_ff @(posedge clk_i) begin
    open_q    <= started_q ? open_q + 3'(take) - 3'(answer) : '0;
    offered_q <= started_q && line_valid_o && !line_ready_i;
    waits_q   <= started_q && req_valid_i && !req_ready_o;
    evict_q   <= line_evict_o;
    line_q    <= line_o;
    req_q     <= req_i;
  end

  // ------------------------------------------------------------ the watched grant
  logic live_q, with_line_q, put, sent, late_q;
  logic [2:0] count_q, ahead_q, lines_q;  // grants that wait; before it; evictions up to its own
  lock_message_t grant_q;
  assign put  = grant_valid_i && started_q;
  assign sent = msg_valid_o && msg_ready_i;
  always_ff @(posedge clk_i) begin
    if (!started_q) begin
      {live_q, late_q} <= '0;
      count_q          <= '0;
    end else begin
      count_q <= count_q + 3'(put) - 3'(sent);
      late_q  <= answer;
      if (live_q && sent) begin
        ahead_q <= ahead_q - 3'd1;
        if (ahead_q == '0) live_q <= 1'b0;
      end
      if (live_q && answer && lines_q != '0) lines_q <= lines_q - 3'd1;
      if (put && watch_i && !live_q) begin
        live_q      <= 1'b1;
        ahead_q     <= count_q - 3'(sent);
        lines_q     <= dut.u_lines.usage_o + open_q + 3'd1 - 3'(answer);
        grant_q     <= grant_i;
        with_line_q <= grant_line_i;
      end
    end
  end

  // Of the grants that wait, those with a line: all, and up to the watched one.
  logic [2:0] all, upto;
  always_comb begin
    all  = '0;
    upto = '0;
    for (int unsigned i = 0; i < Depth; i++) begin
      logic [1:0] at;
      at = 2'(dut.u_messages.rptr_q + 3'(i));
      if (3'(i) < count_q && dut.u_messages.mem_q[at][64]) begin
        all = all + 3'd1;
        if (3'(i) <= ahead_q) upto = upto + 3'd1;
      end
    end
  end
  logic [1:0] where;
  assign where = 2'(dut.u_messages.rptr_q + ahead_q);

  always_comb begin
    if (!started_q) assume (!grant_valid_i && !req_valid_i && !line_rsp_valid_i);
    else begin
      assume (!grant_valid_i || count_q != 3'(Depth));
      assume (!answer || open_q != '0);
      assume (!waits_q || (req_valid_i && req_i == req_q));
      assume (!req_valid_i || req_i.tag[6] == 1'b0);
      assert (!fail_o);
      // The watched grant.
      if (live_q && ahead_q == '0 && msg_valid_o) begin
        assert (msg_o == grant_q);
        if (with_line_q) assert (lines_q == '0 && dut.left_q != '0);
      end
      if (live_q && ahead_q == '0 && !with_line_q) assert (msg_valid_o);
      // What the cache is offered, and what passes.
      if (offered_q) assert (line_valid_o && line_evict_o == evict_q && line_o == line_q);
      if (line_valid_o && !line_evict_o) assert (req_valid_i && line_o == req_i);
      if (line_evict_o) assert (line_o.tag == 8'h40 && !line_o.write);
      assert (req_ready_o == (line_ready_i && !line_evict_o));
      assert (rsp_valid_o == (line_rsp_valid_i && !answer));
      // Inside, for induction.
      assert (dut.u_messages.usage_o == count_q && count_q <= 3'(Depth));
      assert (dut.asked_q == open_q && dut.answered_q == late_q && dut.held_q == offered_q);
      assert (5'(dut.u_lines.usage_o) + 5'(open_q) + 5'(late_q) + 5'(dut.left_q) == 5'(all));
      if (offered_q) assert (dut.evict_q == evict_q && line_evict_o == evict_q);
      if (offered_q && !evict_q) assert (waits_q && req_q == line_q);
      if (offered_q && evict_q) begin
        assert (dut.u_lines.usage_o != '0 && line_q.tag == 8'h40 && !line_q.write);
        assert (line_q == line_o);
      end
      if (live_q) begin
        assert (ahead_q < count_q);
        assert (dut.u_messages.mem_q[where] == {with_line_q, grant_q});
        if (with_line_q) begin
          if (lines_q != '0) assert (5'(late_q) + 5'(dut.left_q) + 5'(lines_q) == 5'(upto));
          else assert (5'(late_q) + 5'(dut.left_q) >= 5'(upto));
        end
      end
      cover (live_q && with_line_q && sent && ahead_q == '0 && all == 3'd3);
      cover (offered_q && evict_q && req_valid_i);
      cover (dut.left_q == 3'd2 && msg_valid_o && !with_line_q && live_q && ahead_q == '0);
    end
  end
endmodule
