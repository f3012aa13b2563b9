// SPDX-License-Identifier: SHL-2.1
/// Probe points of the interface from what its parts do, with the datagram's number.
///
/// A datagram's number at its port counts from 0 at each stage that it passes alone; where two
/// ports strobe in one cycle, the lower one is seen. The bits are nanet_nic_pkg's.
///
///   Handshake   strobes in, strobes out
///   Latency     0 cycles
///   Parameters  NumPorts 1..4
///   Not done    datagrams of one buffer behind its event: the last one's number is taken
module nanet_nic_probes
  import nanet_nic_pkg::*;
  import nanet_pkg::steps_t;
#(
  parameter int unsigned NumPorts = 1
) (
  input  logic                      clk_i,
  input  logic                      rst_ni,
  input  steps_t [NumPorts-1:0]     steps_i,
  input  logic   [NumPorts-1:0]     accepted_i,
  input  logic   [NumPorts-1:0]     answered_i,
  input  logic                      stored_i,     // the event queue has a place for an event
  input  logic                      completed_i,
  output logic [NumProbes-1:0]      probe_o,
  output logic [NumProbes-1:0][7:0] probe_tag_o
);
  logic [NumPorts-1:0] ask, written;
  for (genvar i = 0; i < int'(NumPorts); i++) begin : gen_port
    assign ask[i]     = steps_i[i].ask;
    assign written[i] = steps_i[i].written;
  end

  // Datagrams of events under way, the oldest first.
  logic [7:0] event_tag, done_event_tag;
  logic unused_ready, unused_valid;
  fifo #(
    .Width(8),
    .Depth(16)
  ) u_event_tags (
    .clk_i,
    .rst_ni,
    .clear_i(1'b0),
    .valid_i(written != '0 && stored_i),
    .ready_o(unused_ready),
    .data_i (event_tag),
    .valid_o(unused_valid),
    .ready_i(completed_i),
    .data_o (done_event_tag),
    .usage_o()
  );

  logic [NumPorts-1:0] ask_q;
  logic [NumPorts-1:0][5:0] first_q, last_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      ask_q   <= '0;
      first_q <= '0;
      last_q  <= '0;
    end else begin
      ask_q <= ask;
      for (int unsigned i = 0; i < NumPorts; i++) begin
        first_q[i] <= first_q[i] + 6'(steps_i[i].first);
        last_q[i]  <= last_q[i] + 6'(steps_i[i].last);
      end
    end
  end

  always_comb begin
    probe_o     = '0;
    probe_tag_o = '0;
    event_tag   = '0;
    for (int i = int'(NumPorts) - 1; i >= 0; i--) begin
      if (steps_i[i].first) begin
        probe_o[UdpFirst]     = 1'b1;
        probe_tag_o[UdpFirst] = {2'(i), first_q[i]};
      end
      if (steps_i[i].last) begin
        probe_o[CtrlLast]     = 1'b1;
        probe_tag_o[CtrlLast] = {2'(i), last_q[i]};
      end
      if (ask[i] && !ask_q[i]) begin
        probe_o[Requested]     = 1'b1;
        probe_tag_o[Requested] = {2'(i), steps_i[i].number};
      end
      if (accepted_i[i]) begin
        probe_o[Accepted]     = 1'b1;
        probe_tag_o[Accepted] = {2'(i), steps_i[i].number};
      end
      if (answered_i[i]) begin
        probe_o[Answered]     = 1'b1;
        probe_tag_o[Answered] = {2'(i), steps_i[i].number};
      end
      if (steps_i[i].begun) begin
        probe_o[WriteFirst]     = 1'b1;
        probe_tag_o[WriteFirst] = {2'(i), steps_i[i].number};
      end
      if (written[i]) begin
        event_tag            = {2'(i), steps_i[i].number - 6'd1};
        probe_o[Written]     = 1'b1;
        probe_tag_o[Written] = event_tag;
      end
    end
    probe_o[Completed]     = completed_i;
    probe_tag_o[Completed] = done_event_tag;
  end

  logic unused;
  assign unused = ^{unused_ready, unused_valid};
endmodule
