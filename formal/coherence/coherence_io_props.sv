// SPDX-License-Identifier: SHL-2.1
/// coherence_io: whatever comes, an answer waits for nothing but another answer; a barrier's GSYNC
/// leaves while the node is quiet and held back; at most 32 accesses and one barrier are open, and
/// nothing else is answered.
module coherence_io_props
  import coherence_io_pkg::*;
  import coherence_node_pkg::*;
  import blocklink_pkg::*;
(
  input logic                     clk_i,
  input io_req_t                  req_i,
  input logic                     quiet_i,
  input logic [NumVcs-1:0]        agent_valid_i,
  input logic [NumVcs-1:0]        ready_i,
  input word_t [0:0][NumVcs-1:0][7:0] words_i,
  input logic [0:0][NumVcs-1:0][3:0]  avail_i,
  input logic [63:0]                  window_data_i
);
  logic rst_ni = 1'b0;
  always_ff @(posedge clk_i) rst_ni <= 1'b1;

  logic req_ready_o, hold_o, stray_o;
  io_rsp_t rsp_o;
  io_event_t event_o;
  logic [NumVcs-1:0] agent_ready_o;
  circuits_t agent, circuits_o;
  logic [0:0][NumVcs-1:0][3:0] agent_avail_o, pop_o;
  window_t window_o;
  coherence_io #(.NumWords(2), .Window(1'b1)) dut (
    .agent_i(agent), .agent_pop_i('0), .*
  );
  assign agent = '{valid: agent_valid_i, count: {NumVcs{4'd1}}, words: '0};

  // A circuit without a line shows two words at most.
  for (genvar c = 0; c < 2; c++) begin : gen_answer
    localparam int unsigned V = (c == 0) ? 1 : 10;
    logic complete;
    assign complete = (c == 0) ? dut.got : dut.gsdn_here[0];
    always_comb begin
      assume (avail_i[0][V] <= 4'd2);
      if (rst_ni) never_more : assert (V == 10 && !complete || pop_o[0][V] <= avail_i[0][V]);
      // An I/O answer at once; GSDN where no I/O answer comes.
      if (rst_ni && complete) taken : assert (pop_o[0][V] != '0 || (c == 1 && dut.known));
    end
  end

  always_comb begin
    assume (avail_i[0][0] <= 4'd2 && avail_i[0][12] <= 4'd2 && avail_i[0][6] <= 4'd2);
    if (rst_ni) begin
      // GSYNC is the only word that this module sends on circuit 6.
      barrier_waits : assert (!dut.own_valid[6] || (quiet_i && hold_o));
      open_bound : assert (6'(dut.sent_q - dut.done_q) <= 6'd32);
      one_barrier : assert (!dut.synced_q || dut.barrier_q);
      held : assert (!hold_o || !(req_i.valid && req_i.kind == IoBarrier && req_ready_o));
      no_answer_to_nothing : assert (!rsp_o.valid || dut.sent_q != dut.done_q || dut.synced_q);
    end
    // An access is of the register file or of the window.
    if (rst_ni) begin
      store_in_file : assert (!event_o.valid || event_o.ipi || !event_o.address[15]);
      in_window : assert (!window_o.valid || dut.ask.address[15]);
      once : assert (!window_o.valid || pop_o[0][0] != '0);
    end
    load_in_window : cover (rst_ni && window_o.valid && !window_o.write);
    barrier_done : cover (rst_ni && rsp_o.valid && dut.synced_q && dut.sent_q == dut.done_q);
  end
endmodule
