// SPDX-License-Identifier: SHL-2.1
/// torus_output: a channel carries whole packets, from head to tail of one lane; a flit leaves with
/// a credit only, and credits are never more than the far end's places; no dead cycle while a flit
/// may go; a channel waits for at most one flit of the other; idle_o is high exactly where no flit
/// leaves or has left and none is freed, and the next edge changes nothing. How long a packet waits
/// for others of its channel is arb_rr's proof.
///
/// Assumed: a lane's flit stays until it is taken; the flits of a packet are for one channel; the
/// far end frees what it got.
module torus_output_props
  import torus_pkg::*;
#(
  parameter int unsigned NumIn = 3,
  parameter int unsigned Depth = 2
) (
  input logic             clk_i,
  input logic [NumIn-1:0] valid_i,
  input logic [NumIn-1:0] vc_i,
  input logic [NumIn-1:0] tail_i,
  input logic [1:0]       freed_i
);
  localparam int unsigned IdxWidth   = $clog2(NumIn);
  localparam int unsigned CountWidth = $clog2(Depth + 1);

  logic rst_ni, load_o, valid_o, vc_o, idle_o;
  logic [NumIn-1:0] take_o;
  logic [IdxWidth-1:0] select_o;
  torus_output #(.NumIn(NumIn), .Depth(Depth)) dut (.*);

  logic started_q = 1'b0;
  always_ff @(posedge clk_i) started_q <= 1'b1;
  assign rst_ni = started_q;

  // What lanes showed a cycle ago, and which are inside a packet.
  logic first_q;
  logic [NumIn-1:0] valid_q, vc_q, tail_q, take_q, open_q;
  always_ff @(posedge clk_i) begin
    first_q <= rst_ni;
    valid_q <= valid_i;
    vc_q    <= vc_i;
    tail_q  <= tail_i;
    take_q  <= take_o;
    if (!rst_ni) open_q <= '0;
    else open_q <= (open_q & ~(take_o & tail_i)) | (take_o & ~tail_i);
  end
  logic [NumIn-1:0] lane_vc_q;  // channel of the packet that a lane is inside of
  always_ff @(posedge clk_i) begin
    for (int unsigned i = 0; i < NumIn; i++) if (take_o[i]) lane_vc_q[i] <= vc_i[i];
  end

  logic idle_q, shown_q;
  always_ff @(posedge clk_i) begin
    idle_q  <= rst_ni && idle_o;
    shown_q <= vc_o;
  end

  // Flits that the far end holds or that are on their way, by channel.
  logic [CountWidth-1:0] held_q [2];
  logic [1:0] sent;
  for (genvar v = 0; v < 2; v++) begin : gen_far
    assign sent[v] = (take_o & (v == 1 ? vc_i : ~vc_i)) != '0;
    always_ff @(posedge clk_i) begin
      if (!rst_ni) held_q[v] <= '0;
      else held_q[v] <= held_q[v] + CountWidth'(sent[v]) - CountWidth'(freed_i[v]);
    end
  end

  // May go: a credit, and its channel free or its own.
  logic [NumIn-1:0] able;
  logic [1:0] owned;
  always_comb begin
    for (int unsigned v = 0; v < 2; v++) begin
      owned[v] = (open_q & (v == 1 ? lane_vc_q : ~lane_vc_q)) != '0;
    end
    for (int unsigned i = 0; i < NumIn; i++) begin
      able[i] = valid_i[i] && held_q[vc_i[i]] != CountWidth'(Depth) &&
                (open_q[i] || !owned[vc_i[i]]) &&
                (dut.grant[vc_i[i]] == '0 || dut.grant[vc_i[i]][i]);
    end
  end

  // Cycles in which a channel could send and the other one did.
  logic [1:0] passed_q;
  always_ff @(posedge clk_i) begin
    for (int unsigned v = 0; v < 2; v++) passed_q[v] <= rst_ni && dut.able[v] && !sent[v];
  end

  always_comb begin
    if (first_q) begin
      for (int unsigned i = 0; i < NumIn; i++) begin
        if (valid_q[i] && !take_q[i]) begin
          assume (valid_i[i] && vc_i[i] == vc_q[i] && tail_i[i] == tail_q[i]);
        end
      end
    end
    for (int unsigned i = 0; i < NumIn; i++) begin
      if (open_q[i] && valid_i[i]) assume (vc_i[i] == lane_vc_q[i]);
    end
    for (int unsigned v = 0; v < 2; v++) if (freed_i[v]) assume (held_q[v] != '0);
    if (started_q) begin
      // One flit a cycle, of those that are there.
      assert ((take_o & (take_o - 1'b1)) == '0);
      assert ((take_o & ~valid_i) == '0);
      assert (load_o == (take_o != '0));
      if (load_o) assert (take_o[select_o]);
      if (first_q) assert (valid_o == (take_q != '0));
      if (first_q && valid_o) assert (vc_o == ((take_q & vc_q) != '0));
      // Whole packets: while a lane is inside one, no other sends on its channel.
      for (int unsigned i = 0; i < NumIn; i++) begin
        for (int unsigned j = 0; j < NumIn; j++) begin
          if (i != j && open_q[i]) begin
            assert (!(take_o[j] && vc_i[j] == lane_vc_q[i]));
            assert (!(open_q[j] && lane_vc_q[j] == lane_vc_q[i]));
          end
        end
      end
      // Credits.
      for (int unsigned v = 0; v < 2; v++) begin
        assert (held_q[v] <= CountWidth'(Depth));
        if (sent[v]) assert (held_q[v] != CountWidth'(Depth));
        assert (dut.credit_q[v] + held_q[v] == CountWidth'(Depth));
      end
      // No dead cycle, and channels in turn.
      if (able != '0) assert (load_o);
      if (idle_q) assert (!valid_o && vc_o == shown_q);
      assert (idle_o == (take_o == '0 && freed_i == '0 && !(first_q && take_q != '0)));
      for (int unsigned v = 0; v < 2; v++) if (passed_q[v]) assert (sent[v]);

      // Inductive strengthening: the arbiters' owners are the open packets, or waiting heads.
      for (int unsigned i = 0; i < NumIn; i++) begin
        if (open_q[i]) begin
          if (lane_vc_q[i]) assert (dut.gen_vc[1].u_lane.owner_q == NumIn'(1) << i);
          else assert (dut.gen_vc[0].u_lane.owner_q == NumIn'(1) << i);
        end
        if (dut.gen_vc[0].u_lane.owner_q[i] && !open_q[i]) assert (valid_i[i] && !vc_i[i]);
        if (dut.gen_vc[1].u_lane.owner_q[i] && !open_q[i]) assert (valid_i[i] && vc_i[i]);
        if (dut.gen_vc[0].u_lane.owner_q[i] && open_q[i]) assert (!lane_vc_q[i]);
        if (dut.gen_vc[1].u_lane.owner_q[i] && open_q[i]) assert (lane_vc_q[i]);
      end
      assert ((dut.gen_vc[0].u_lane.owner_q & (dut.gen_vc[0].u_lane.owner_q - 1'b1)) == '0);
      assert ((dut.gen_vc[1].u_lane.owner_q & (dut.gen_vc[1].u_lane.owner_q - 1'b1)) == '0);
      for (int unsigned v = 0; v < 2; v++) if (passed_q[v]) assert (dut.turn_q == 1'(v == 0));

      cover (open_q == NumIn'(3) && load_o);
      cover (valid_i == '1 && held_q[0] == CountWidth'(Depth) && sent[1]);
      cover (passed_q != '0 && load_o);
    end
  end
endmodule
