// SPDX-License-Identifier: SHL-2.1
/// Control of a router's output port: virtual-channel allocation, switch allocation, credits.
///
///   Handshake   valid_i[i]: lane i's oldest flit is for this port, on channel vc_i[i], the last of
///               its packet with tail_i[i]; stable until take_o[i]. load_o: lane select_o's flit is
///               taken into the output register, which holds it beside valid_o and vc_o in the next
///               cycle
///   Ordering    a channel carries packets whole: from head to tail of one lane; the channels'
///               flits alternate  (proved: formal/torus/torus_output.sby)
///   Scheduling  each channel is given to lanes in turn, packet by packet; channels that have a
///               flit and a credit take turns flit by flit, so a blocked packet stops only its own
///               channel
///   Fairness    a packet waits for at most NumIn-1 others on its channel
///   Credit      Depth flits a channel after reset; one less for each flit sent, one more for each
///               freed_i strobe. A flit leaves with a credit only  (proved)
///   Latency     1 cycle from valid_i to valid_o
///   Throughput  one flit a cycle
///   Parameters  NumIn 1..64 lanes; Depth of the far end's buffers, 2..1024; Vcs 1 or 2
///   Not done    priorities; the multiplexer and the register of the flit
module torus_output
  import torus_pkg::*;
#(
  parameter  int unsigned NumIn    = 4,
  parameter  int unsigned Depth    = 16,
  parameter  int unsigned Vcs      = NumVcs,
  localparam int unsigned IdxWidth = NumIn > 1 ? $clog2(NumIn) : 1
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  input  logic [NumIn-1:0]    valid_i,
  input  logic [NumIn-1:0]    vc_i,
  input  logic [NumIn-1:0]    tail_i,
  output logic [NumIn-1:0]    take_o,
  output logic                load_o,
  output logic [IdxWidth-1:0] select_o,
  output logic                valid_o,
  output logic                vc_o,
  input  logic [Vcs-1:0]      freed_i,
  output logic                idle_o  // nothing moves at the next edge but by an input
);
  if (NumIn < 1 || NumIn > 64) begin : gen_num_in_check
    $error("torus_output: NumIn is %0d, legal is 1..64", NumIn);
  end
  if (Depth < 2 || Depth > 1024) begin : gen_depth_check
    $error("torus_output: Depth is %0d, legal is 2..1024", Depth);
  end
  if (Vcs < 1 || Vcs > NumVcs) begin : gen_vcs_check
    $error("torus_output: Vcs is %0d, legal is 1..%0d", Vcs, NumVcs);
  end
  localparam int unsigned CountWidth = $clog2(Depth + 1);

  logic [CountWidth-1:0] credit_q [Vcs]  /* verilator split_var */;
  logic [NumIn-1:0] request [Vcs];
  logic [NumIn-1:0] grant [Vcs];
  logic [IdxWidth-1:0] idx [Vcs];
  logic [Vcs-1:0] able, send;
  logic turn_q;  // the channel that sent last
  logic pick;

  // Bit b of an index is set by the lanes that have it in their number.
  function automatic logic [NumIn-1:0] having(logic [4:0] b);
    for (int unsigned i = 0; i < NumIn; i++) having[i] = i[b];
  endfunction

  for (genvar v = 0; v < int'(Vcs); v++) begin : gen_vc
    assign request[v] = valid_i & (Vcs == 1 ? '1 : v == 1 ? vc_i : ~vc_i);
    arb_rr #(
      .NumReq(NumIn)
    ) u_lane (
      .clk_i,
      .rst_ni,
      .req_i (request[v]),
      .last_i(send[v] && (grant[v] & tail_i) != '0),
      .gnt_o (grant[v]),
      .idx_o ()
    );
    for (genvar b = 0; b < int'(IdxWidth); b++) begin : gen_idx
      assign idx[v][b] = (grant[v] & having(5'(b))) != '0;
    end
    assign able[v] = (grant[v] & request[v]) != '0 && credit_q[v] != '0;
    assign send[v] = able[v] && pick == 1'(v);

    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) credit_q[v] <= CountWidth'(Depth);
      else if (send[v] != freed_i[v]) begin
        credit_q[v] <= send[v] ? credit_q[v] - 1'b1 : credit_q[v] + 1'b1;
      end
    end
    prim_assert u_credit (
      .clk_i,
      .rst_ni,
      .ok_i(!freed_i[v] || credit_q[v] != CountWidth'(Depth))
    );
  end

  assign load_o   = able != '0;
  assign select_o = idx[pick];
  if (Vcs == 1) begin : gen_one
    assign pick   = 1'b0;
    assign take_o = send[0] ? grant[0] : '0;
    logic unused;
    assign unused = &{1'b0, vc_i, turn_q};
  end else begin : gen_two
    // The other channel goes first.
    assign pick   = able[!turn_q] ? !turn_q : turn_q;
    assign take_o = !load_o ? '0 : pick ? grant[1] : grant[0];
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      valid_o <= 1'b0;
      turn_q  <= 1'b0;
    end else begin
      valid_o <= load_o;
      if (load_o) turn_q <= pick;
    end
  end
  always_ff @(posedge clk_i) begin
    if (load_o) vc_o <= pick;
  end
  assign idle_o = !load_o && !valid_o && freed_i == '0;
endmodule
