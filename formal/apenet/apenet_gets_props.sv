// SPDX-License-Identifier: SHL-2.1
/// apenet_gets: while no more than Depth gets are asked and not taken, none is lost; what finds no
/// room is counted; each get that found room comes out once, in its order and as it was.
///
/// Any gets at any time, taken at any time. One of them, any, is followed by a count of those
/// before it.
module apenet_gets_props
  import apenet_pkg::*;
(
  input logic                    clk_i,
  input logic                    enable_i,
  input logic                    request_valid_i,
  input logic [$bits(get_t)-1:0] asked,
  input logic                    get_ready_i,
  input logic                    follow
);
  localparam int unsigned Depth = 4;

  logic rst_ni, get_valid_o;
  get_t request_i, get_o;
  logic [15:0] lost_o;
  assign request_i = get_t'(asked);

  apenet_gets #(
    .Depth(Depth)
  ) dut (.*);

  logic started_q = 1'b0;
  always_ff @(posedge clk_i) started_q <= 1'b1;
  assign rst_ni = started_q;

  // Gets that wait, by a count of our own, and those that were asked for without room.
  logic put, got, room, followed_q;
  logic [2:0]  waiting_q, before_q;
  logic [15:0] lost_q;
  get_t        it_q;
  assign room = waiting_q != 3'(Depth);
  assign put  = enable_i && request_valid_i && room;
  assign got  = enable_i && get_ready_i && waiting_q != '0;
  always_ff @(posedge clk_i) begin
    if (!started_q) begin
      waiting_q  <= '0;
      followed_q <= 1'b0;
      lost_q     <= '0;
    end else begin
      waiting_q <= !enable_i ? '0 : waiting_q + 3'(put) - 3'(got);
      if (enable_i && request_valid_i && !room) lost_q <= lost_q + 16'd1;
      if (!enable_i || (got && followed_q && before_q == '0)) followed_q <= 1'b0;
      else if (followed_q && got) before_q <= before_q - 3'd1;
      else if (!followed_q && put && follow) begin
        followed_q <= 1'b1;
        before_q   <= waiting_q - 3'(got);
        it_q       <= request_i;
      end
    end
  end

  always_comb begin
    if (started_q) begin
      assert (lost_o == lost_q);
      assert (get_valid_o == (waiting_q != '0));
      if (followed_q && before_q == '0) assert (get_valid_o && get_o == it_q);

      // What makes the above inductive.
      assert (waiting_q <= 3'(Depth));
      assert (dut.u_waiting.usage_o == waiting_q);
      if (followed_q) begin
        assert (before_q < waiting_q);
        assert (dut.u_waiting.mem_q[2'(dut.u_waiting.rptr_q) + 2'(before_q)] == it_q);
      end
      cover (lost_q == 16'd2);
      cover (followed_q && before_q == '0 && got && waiting_q == 3'(Depth));
    end
  end
endmodule
