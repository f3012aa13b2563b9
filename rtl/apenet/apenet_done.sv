// SPDX-License-Identifier: SHL-2.1
/// Announces what became of posts: an event for each that was read, or refused.
///
///   Handshake   sending_* and event_* valid/ready; beat_* strobes of what is read, in the order of
///               what is under way. While full_i an event waits
///   Carried     what brought its payload has its event without beats
///   Ordering    in their order. An answer to a get of another node is under way without an event
///   Latency     last beat to event_valid_o 1 cycle
///   Throughput  an event in 2 cycles
///   Restart     while enable_i is low what was begun ends without an event
///   Parameters  UnderWay, a power of two: what is read, and refusals that wait
///   Not done    events of what comes
module apenet_done
  import apenet_pkg::*;
#(
  parameter int unsigned UnderWay = 8
) (
  input  logic              clk_i,
  input  logic              rst_ni,
  /* verilator lint_off UNUSEDSIGNAL */  // an event has 63 bits of the time
  input  logic [63:0]       time_cycles_i,
  /* verilator lint_on UNUSEDSIGNAL */
  input  logic              enable_i,
  input  logic              sending_valid_i,
  output logic              sending_ready_o,
  input  sending_t          sending_i,
  input  logic              beat_i,
  input  logic              beat_bad_i,
  input  logic              beat_end_i,     // it is the last one of what is under way
  input  logic              full_i,
  output logic              event_valid_o,
  input  logic              event_ready_i,
  output nanet_pkg::event_t event_o,
  input  logic              dropped_i,      // strobes, to be counted: a post without room
  input  logic              denied_i,       // a get of another node that was refused
  input  logic [15:0]       lost_i,
  output nanet_ctrl_pkg::put_done_t done_o,
  output logic              idle_o
);
  sending_t sending;
  logic over, done, bad;
  logic [31:0] sequence_q;
  logic [15:0] sent_q, refused_q, full_q, served_q, denied_q;
  nanet_ends #(
    .Width   ($bits(sending_t)),
    .UnderWay(UnderWay)
  ) u_ends (
    .clk_i,
    .rst_ni,
    .begin_valid_i(sending_valid_i),
    .begin_ready_o(sending_ready_o),
    .begin_i      (sending_i),
    .beat_i,
    .beat_bad_i,
    .beat_end_i,
    .end_o        (over),
    .end_ready_i  (done),
    .head_o       (sending),
    .head_read_i  (sending.refusal == PutTaken && !sending.post.carried),
    .head_bad_o   (bad),
    .idle_o
  );
  assign event_valid_o = over && !sending.answer && enable_i && !full_i;
  assign done = over && (sending.answer || !enable_i || (event_valid_o && event_ready_i));
  assign event_o = '{
      cycles: time_cycles_i[62:0],
      lost: 32'(full_q),
      datagrams: 16'(sending.refusal == PutTaken),
      port: 16'(sending.post.target),
      ip: 32'(sending.post.remote),
      sequence_: sending.post.get ? sending.number : sequence_q,
      bytes: 32'(sending.post.bytes),
      index: sending.post.carried ? '0 : sending.post.offset,
      list: sending.post.get ? AnswerList : DoneList,
      reserved: 7'(sending.refusal),
      error: sending.post.get || bad
  };
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      sequence_q <= '0;
      sent_q     <= '0;
      refused_q  <= '0;
      full_q     <= '0;
      served_q   <= '0;
      denied_q   <= '0;
    end else begin
      if (!enable_i) sequence_q <= '0;
      else if (done && !sending.answer && !sending.post.get) sequence_q <= sequence_q + 32'd1;
      if (done) begin
        if (sending.answer) served_q <= served_q + 16'd1;
        else if (sending.refusal == PutTaken) sent_q <= sent_q + 16'd1;
        else refused_q <= refused_q + 16'd1;
      end
      if (dropped_i) full_q <= full_q + 16'd1;
      if (denied_i) denied_q <= denied_q + 16'd1;
    end
  end
  assign done_o = '{
      sent: sent_q, refused: refused_q, full: full_q, served: served_q, denied: denied_q,
      lost: lost_i
  };
endmodule
