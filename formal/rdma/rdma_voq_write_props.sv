// SPDX-License-Identifier: SHL-2.1
/// rdma_voq_write: every beat is announced to the link's side once, the first 8 of a packet one by
/// one and the rest 8 at once or with the packet's end; each beat of a queue goes to the place
/// behind the last one's.
///
/// The queue that is watched is free.
module rdma_voq_write_props
  import rdma_pkg::*;
  import rdma_tx_pkg::*;
#(
  parameter int unsigned NumHosts = 8,
  parameter int unsigned Beats    = 1024
) (
  input logic      clk_i,
  input logic      valid_i,
  input announce_t announce_i,
  input logic      token_ready_i,
  input logic      write_i,
  input flow_t     write_flow_i,
  input flow_t     watch_i
);
  logic rst_ni, ready_o, tell_o, idle_o;
  voq_token_t token_o;
  logic [12:0] address_o;

  rdma_voq_write #(.NumHosts(NumHosts), .Beats(Beats)) dut (.*);

  logic started_q = 1'b0;
  always_ff @(posedge clk_i) started_q <= 1'b1;
  assign rst_ni = started_q;

  // ---------------------------------------------------------------- what is to be seen
  logic [3:0] cleared_q;  // queues, since reset
  flow_t      watch_q;
  logic [9:0] place_q;    // of the watched queue's next beat
  logic [3:0] early_q;    // beats of the packet, up to 8
  logic [2:0] untold_q;   // of its beats that were announced, those that no token has
  logic open, take, tell;
  assign open = cleared_q == 4'(NumHosts);
  assign take = valid_i && ready_o;
  assign tell = take && (announce_i.last || early_q != 4'd8 || untold_q == 3'd7);
  always_ff @(posedge clk_i) begin
    if (!started_q) begin
      watch_q   <= watch_i;
      cleared_q <= '0;
      place_q   <= '0;
      early_q   <= '0;
      untold_q  <= '0;
    end else begin
      if (!open) cleared_q <= cleared_q + 4'd1;
      if (write_i && write_flow_i == watch_q) place_q <= place_q + 10'd1;
      if (take) begin
        early_q  <= announce_i.last ? '0 : early_q == 4'd8 ? 4'd8 : early_q + 4'd1;
        untold_q <= tell ? '0 : untold_q + 3'd1;
      end
    end
  end

  always_comb begin
    if (started_q) begin
      // No beat before the start is over.
      assume (!write_i || open);
      assert (ready_o == (token_ready_i && open) && idle_o == open);
      assert (tell_o == tell);
      if (tell_o) assert (token_o == {announce_i.flow, {1'b0, untold_q} + 4'd1});
      if (write_i && write_flow_i == watch_q) assert (address_o == {watch_q, place_q});

      // What makes the above inductive.
      assert (cleared_q <= 4'(NumHosts));
      assert (dut.wclear_q == !open);
      if (!open) assert (4'(dut.wclear_flow_q) == cleared_q && place_q == '0 && early_q == '0);
      if (cleared_q > 4'(watch_q)) assert (dut.wplace_q[watch_q] == place_q);
      assert (early_q <= 4'd8 && dut.early_q == (early_q != 4'd8));
      assert (early_q == 4'd8 ? dut.count_q == untold_q :
              untold_q == '0 && dut.count_q == early_q[2:0]);
      cover (tell_o && token_o.beats == 4'd8);
      cover (tell_o && token_o.beats == 4'd3);
      cover (write_i && place_q == 10'd3);
    end
  end
endmodule
