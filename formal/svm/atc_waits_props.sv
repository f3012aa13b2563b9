// SPDX-License-Identifier: SHL-2.1
/// atc_waits: a lookup that waits goes on as it came in, when it can and at its turn, and is there
/// until it is answered; what is said of all places is true of them.
///
/// One place is watched, and one translation; both are any.
module atc_waits_props #(
  parameter int unsigned NumWait = 16,
  parameter int unsigned NumMiss = 8,
  parameter int unsigned VpnWidth = 4,
  parameter int unsigned TagWidth = 3
) (
  input logic                clk_i,
  input logic                turn_i,
  input logic [NumMiss-1:0]  miss_done_i,
  input logic                any_miss_free_i,
  input logic [VpnWidth-1:0] look_vpn_i,
  input logic                look_write_i,
  input logic [TagWidth-1:0] look_tag_i,
  input logic                enter_i,
  input logic                leave_i,
  input logic                linked_i,
  input logic [2:0]          link_miss_i
);
  logic rst_ni, ready_o, go_o, go_linked_o, go_write_o, busy_i, any_unlinked_o, two_free_o, empty_o;
  logic [3:0] go_slot_o, slot_i;
  logic [VpnWidth-1:0] go_vpn_o;
  logic [TagWidth-1:0] go_tag_o;
  logic [2:0] at_miss_o;
  logic [NumMiss-1:0] awaited_o;

  atc_waits #(
    .VpnWidth(VpnWidth), .TagWidth(TagWidth), .NumWait(NumWait), .NumMiss(NumMiss)
  ) dut (.*);

  logic started_q = 1'b0;
  always_ff @(posedge clk_i) started_q <= 1'b1;
  assign rst_ni = started_q;

  // ---------------------------------------------------------------- the caller
  // What goes on is looked up in the next cycle, in which it is busy; a lookup comes in a cycle
  // after two places were free.
  logic two_free_q, linked_q;
  logic [3:0] slot_q;
  assign slot_i = slot_q;
  always_ff @(posedge clk_i) begin
    busy_i     <= started_q && go_o;
    slot_q     <= go_slot_o;
    linked_q   <= go_linked_o;
    two_free_q <= started_q && two_free_o;
  end
  always_comb begin
    if (enter_i) assume (two_free_q && !busy_i);
    if (leave_i) assume (busy_i);
    if (linked_i) assume (enter_i || (busy_i && !linked_q && !leave_i));
    if (!started_q) assume (!enter_i && !linked_i);
  end

  // ---------------------------------------------------------------- the watched place
  logic [3:0] watch_q;
  logic       valid_q, link_q, mine, enters, can;
  logic [2:0] miss_q;
  logic [VpnWidth+TagWidth:0] look_q;
  assign mine   = slot_i == watch_q;
  assign enters = enter_i && dut.free_slot == watch_q;
  assign can    = valid_q && !(busy_i && mine) && (link_q ? miss_done_i[miss_q] : any_miss_free_i);
  always_ff @(posedge clk_i) begin
    watch_q <= watch_q;
    if (!started_q) valid_q <= 1'b0;
    else if (enters) valid_q <= 1'b1;
    else if (leave_i && mine) valid_q <= 1'b0;
    if (enters) look_q <= {look_vpn_i, look_write_i, look_tag_i};
    if (enters) link_q <= linked_i;
    else if (linked_i && !enter_i && mine) link_q <= 1'b1;
    if (enters || (linked_i && !enter_i && mine)) miss_q <= link_miss_i;
  end

  // ---------------------------------------------------------------- all places
  logic [4:0] count_q, unlinked_q, count, unlinked;
  logic [4:0] await_q, await;  // lookups that wait for the watched translation
  logic [2:0] watch_miss_q;
  logic leaves_await;
  assign leaves_await = leave_i && linked_q && at_miss_o == watch_miss_q;
  always_ff @(posedge clk_i) begin
    watch_miss_q <= watch_miss_q;
    if (!started_q) begin
      count_q    <= '0;
      unlinked_q <= '0;
      await_q    <= '0;
    end else begin
      count_q    <= count_q + 5'(enter_i) - 5'(leave_i);
      unlinked_q <= unlinked_q + 5'(enter_i && !linked_i) -
                    5'(!enter_i && (linked_i || (leave_i && !linked_q)));
      await_q    <= await_q + 5'(linked_i && link_miss_i == watch_miss_q) - 5'(leaves_await);
    end
  end
  always_comb begin
    count    = '0;
    unlinked = '0;
    await    = '0;
    for (int unsigned w = 0; w < NumWait; w++) begin
      count    = count + 5'(dut.wait_valid_q[w]);
      unlinked = unlinked + 5'(dut.wait_valid_q[w] && !dut.wait_linked_q[w]);
      await    = await + 5'(dut.wait_valid_q[w] && dut.wait_linked_q[w] &&
                            dut.wait_miss_q[w] == watch_miss_q);
    end
  end

  // ---------------------------------------------------------------- turns
  // Those that went on while the watched one could; the place behind the last one's is first.
  logic [4:0] passed_q;
  logic [3:0] last, distance;
  always_comb begin
    last = 4'(NumWait - 1);
    for (int unsigned w = 0; w < NumWait; w++) if (dut.u_go.after_q[w]) last = last - 4'd1;
  end
  assign distance = watch_q - last - 4'd1;
  always_ff @(posedge clk_i) begin
    if (!started_q || !can || (go_o && go_slot_o == watch_q)) passed_q <= '0;
    else passed_q <= passed_q + 5'(go_o);
  end

  always_comb begin
    if (started_q) begin
      // One goes on at its turn if it can, and as it is.
      assert (go_o == (turn_i && ready_o));
      if (can) assert (ready_o);
      if (go_o && go_slot_o == watch_q) begin
        assert (can && go_linked_o == link_q);
        assert ({go_vpn_o, go_write_o, go_tag_o} == look_q);
      end
      assert (passed_q <= 5'(NumWait - 1));
      // The first free place is the next one's.
      if (enters) assert (!valid_q);
      if (enter_i && !valid_q) assert (dut.free_slot <= watch_q);
      if (busy_i && mine && link_q) assert (at_miss_o == miss_q);
      // All of them.
      assert (two_free_o == (count_q <= 5'(NumWait - 2)) && empty_o == (count_q == '0));
      assert (any_unlinked_o == (unlinked_q != '0));
      assert (awaited_o[watch_miss_q] ==
              (await_q != '0 || (linked_i && link_miss_i == watch_miss_q)));
      if (ready_o) assert (!empty_o);

      // What makes the above inductive.
      assert (count_q == count && unlinked_q == unlinked && await_q == await);
      if (two_free_q && !busy_i) assert (count_q < 5'(NumWait));
      assert (dut.wait_valid_q[watch_q] == valid_q);
      if (valid_q) begin
        assert (dut.wait_q[watch_q] == look_q && dut.wait_linked_q[watch_q] == link_q);
        if (link_q) assert (dut.wait_miss_q[watch_q] == miss_q);
      end
      if (busy_i) assert (dut.wait_valid_q[slot_q] && dut.wait_linked_q[slot_q] == linked_q);
      assert (dut.u_go.owner_q == '0);
      assert (((~dut.u_go.after_q) & ((~dut.u_go.after_q) + 16'd1)) == '0);
      assert (passed_q + 5'(distance) <= 5'(NumWait - 1));
      cover (go_o && go_slot_o == watch_q && link_q && passed_q == 5'd2);
      cover (await_q == 5'd2 && any_unlinked_o && busy_i && !linked_q && leave_i);
      cover (watch_q == 4'd1 && valid_q && await_q == '0 && linked_i && !enter_i);
    end
  end
endmodule
