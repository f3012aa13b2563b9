// SPDX-License-Identifier: SHL-2.1
/// torus_lane: flits leave once, in order and unchanged, each with the route of its packet's head;
/// each gives one credit back; those of a packet without a route leave without being offered, and
/// each such packet is reported once. With a sender that keeps to its credits nothing overflows,
/// and every credit is somewhere.
///
/// One flit is watched (queue_watch). Assumed: the sender has a credit for what it sends; a flit is
/// taken when it is offered.
module torus_lane_props
  import torus_pkg::*;
#(
  parameter int unsigned Width = 1,
  parameter int unsigned Depth = 4
) (
  input logic             clk_i,
  input logic             valid_i,
  input logic [Width+1:0] flit_i,
  input port_e            route_i,
  input logic             route_vc_i,
  input logic             take_i
);
  localparam int unsigned CountWidth = $clog2(Depth) + 1;
  localparam int unsigned Entry      = Width + 6;

  logic rst_ni, freed_o, lost_o, valid_o, vc_o;
  port_e port_o;
  logic [Width+1:0] flit_o;
  torus_lane #(.Width(Width), .Depth(Depth)) dut (.*);

  logic started_q = 1'b0;
  always_ff @(posedge clk_i) started_q <= 1'b1;
  assign rst_ni = started_q;

  // The sender's credits.
  logic [CountWidth-1:0] credit_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) credit_q <= CountWidth'(Depth);
    else credit_q <= credit_q + CountWidth'(freed_o) - CountWidth'(valid_i);
  end

  // The route of the packet that comes in.
  port_e route_q;
  logic vc_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      route_q <= PortNone;
      vc_q    <= 1'b0;
    end else if (valid_i && flit_i[Width+1]) begin
      route_q <= route_i;
      vc_q    <= route_vc_i;
    end
  end
  logic [Entry-1:0] came;
  assign came = flit_i[Width+1] ? {route_i, route_vc_i, flit_i} : {route_q, vc_q, flit_i};

  logic [CountWidth-1:0] watch, written, taken, count, ahead;
  logic live, gone;
  logic [Entry-1:0] word;
  assign gone = (take_i && valid_o) || (dut.stored && !valid_o);
  queue_watch #(.Width(Entry), .CountWidth(CountWidth)) u_watch (
    .clk_i, .rst_ni, .clear_i(1'b0),
    .write_i(valid_i), .data_i(came), .read_i(gone),
    .written_o(written), .read_o(taken), .count_o(count),
    .watch_o(watch), .ahead_o(ahead), .live_o(live), .word_o(word)
  );

  logic gone_q, lost_q;
  always_ff @(posedge clk_i) begin
    gone_q <= rst_ni && gone;
    lost_q <= rst_ni && valid_i && flit_i[Width+1] && route_i == PortNone;
  end

  always_comb begin
    if (valid_i) assume (credit_q != '0);
    if (take_i) assume (valid_o);
    if (started_q) begin
      assert (count <= CountWidth'(Depth));
      assert (credit_q + count + CountWidth'(freed_o) == CountWidth'(Depth));
      assert (freed_o == gone_q && lost_o == lost_q);
      assert (!valid_o || port_o != PortNone);
      // The watched flit is next: offered as it came, or without a route and not offered.
      if (live && taken == watch) begin
        assert (valid_o == (word[Entry-1-:3] != 3'(PortNone)));
        if (valid_o) assert ({port_o, vc_o, flit_o} == word);
      end
      // Inductive strengthening: where flits are.
      assert (live == (ahead < count));
      assert (written == dut.u_fifo.wptr_q && taken == dut.u_fifo.rptr_q);
      if (live) assert (dut.u_fifo.mem_q[watch[CountWidth-2:0]] == word);
      assert (dut.port_q == route_q && dut.vc_q == vc_q);
      cover (count == CountWidth'(Depth));
      cover (lost_o && valid_o);
      cover (live && taken == watch && dut.stored && !valid_o && ahead == '0);
      cover (live && taken == watch && take_i && !word[Width+1]);
    end
  end
endmodule
