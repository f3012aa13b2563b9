// SPDX-License-Identifier: SHL-2.1
/// Messages as the host writes them: a ring of 256 beats for each destination, in one memory.
///
/// Beats come in ascending order, in one store or in two of 4 bytes, the upper one last. A write
/// that lies elsewhere, or where nothing was given back, is refused.
/// A message is there with its last beat.
///
///   Handshake   none: a write is taken or refused in its cycle. ready_o[f]: whole messages that
///               were not taken. place_o, number_o: the next one of flow_i; advance_i takes it,
///               when flow_i was held for a cycle; size_i is its header's count of beats
///   Latency     1 cycle from the last write to ready_o, none to coming_o, which comes with the
///               write before in the same burst; 1 from re_i to rdata_o
///   Throughput  a write and a read a cycle
///   Parameters  NumHosts 2..8
///   Not done    a check of headers (rdma_send): whatever a header says,
///               its message ends where it says
module rdma_message_queues
  import rdma_pkg::*;
#(
  parameter int unsigned NumHosts = 8
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        run_i,
  input  logic        clear_i,
  input  flow_t       clear_flow_i,

  input  logic        we_i,
  input  logic [10:0] addr_i,        // flow, beat
  input  beat_t       data_i,
  input  logic [7:0]  strb_i,
  input  logic        last_i,        // the burst ends with this write

  input  logic        freed_i,       // beats were given back:
  input  flow_t       freed_flow_i,
  input  logic [8:0]  freed_count_i, // so many since the start, modulo 512

  output logic [7:0]  ready_o,
  output logic        coming_o,      // strobe: this flow's ready_o is set a cycle later, if this
  output flow_t       coming_flow_o, // write is taken; or 2, if the burst goes on and the next is
  input  flow_t       flow_i,
  output logic [7:0]  place_o,
  output logic [6:0]  number_o,
  input  logic        re_i,
  input  logic [10:0] raddr_i,
  output beat_t       rdata_o,
  input  logic        advance_i,
  input  logic [6:0]  size_i,

  output logic        posted_o,      // strobes: a message is there;
  output flow_t       posted_flow_o,
  output logic        bad_o          // a write was refused
);
  if (NumHosts < 2 || NumHosts > MaxHosts) begin : gen_hosts_check
    $error("rdma_message_queues: NumHosts is %0d, legal is 2..%0d", NumHosts, MaxHosts);
  end

  typedef logic [8:0] position_t;  // in beats, modulo twice the ring

  // Where the next write must lie; beats that the message lacks, in its header those it will have.
  typedef struct packed {
    logic       body;
    logic [6:0] left;
    position_t  place;
  } write_t;

  write_t    write_q[MaxHosts];
  position_t freed_q[MaxHosts];
  position_t there_q[MaxHosts];  // up to here messages are whole

  flow_t      wflow;
  write_t     now, then;
  position_t  freed, behind;
  logic       full, take, whole, commit;
  logic [6:0] left, head;  // beats that follow; as the header says, or has said so far

  assign wflow = addr_i[10:8];
  assign now   = write_q[wflow];
  assign freed = freed_q[wflow];
  // A ring ahead, never more: no sum is needed.
  assign full  = freed == {!now.place[8], addr_i[7:0]};
  assign take  = we_i && run_i && 32'(wflow) < NumHosts && addr_i[7:0] == now.place[7:0] && !full;
  // A beat is there with its last byte.
  assign whole = take && strb_i[7];
  assign head  = strb_i[0] ? data_i[6:0] : now.left;
  assign left  = now.body ? now.left - 7'd1 : head;

  assign commit = whole && (now.body ? now.left == 7'd1 : head == '0);
  // Whether the write is taken is not asked: ready_o says that.
  assign coming_o      = we_i && strb_i[7] &&
                         ((now.body && now.left == 7'd1) ||
                          (!last_i && (now.body ? now.left == 7'd2 : head == 7'd1)));
  assign coming_flow_o = wflow;
  // Of a write that is accepted: whether it is, is known late.
  assign behind = now.place + position_t'(1);
  always_comb begin
    then = now;
    if (strb_i[7]) then.place = behind;
    if (strb_i[7]) then.body = now.body ? now.left != 7'd1 : head != '0;
    if (strb_i[7] || !now.body) then.left = left;
  end

  ram_1r1w #(
    .Width    (64),
    .Depth    (MaxHosts * MessageBeats),
    .LaneWidth(8),
    .ReadOld  (1'b0)
  ) u_ram (
    .clk_i,
    .we_i   (strb_i & {8{take}}),
    .waddr_i(addr_i),
    .wdata_i(data_i),
    .re_i,
    .raddr_i,
    .rdata_o
  );

  typedef struct packed {
    logic [6:0] number;
    position_t  place;
  } read_t;
  read_t read_q[MaxHosts];
  read_t here, next;
  position_t left_q;  // beats behind the next header, if the message is the last one
  logic  fresh, empties;

  assign here        = read_q[flow_i];
  assign next.number = here.number + 7'd1;
  assign next.place  = here.place + position_t'(size_i) + position_t'(1);
  // Reckoned a cycle ahead; what came in that cycle is still there.
  always_ff @(posedge clk_i) left_q <= there_q[flow_i] - here.place - position_t'(1);
  assign fresh   = posted_o && posted_flow_o == flow_i;
  assign empties = advance_i && left_q == position_t'(size_i) && !fresh;
  assign place_o     = here.place[7:0];
  assign number_o    = here.number;

  always_ff @(posedge clk_i) begin
    // Write address and data do not depend on the write enable, which is late.
    if (clear_i || take) write_q[clear_i ? clear_flow_i : wflow] <= clear_i ? '0 : then;
    if (clear_i || commit) there_q[clear_i ? clear_flow_i : wflow] <= clear_i ? '0 : behind;
    if (clear_i || freed_i) begin
      freed_q[clear_i ? clear_flow_i : freed_flow_i] <= clear_i ? '0 : freed_count_i;
    end
    if (clear_i || advance_i) read_q[clear_i ? clear_flow_i : flow_i] <= clear_i ? '0 : next;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      ready_o  <= '0;
      posted_o <= 1'b0;
      bad_o    <= 1'b0;
    end else begin
      if (empties) ready_o[flow_i] <= 1'b0;
      if (commit) ready_o[wflow] <= 1'b1;
      if (clear_i) ready_o[clear_flow_i] <= 1'b0;
      posted_o <= commit;
      bad_o    <= we_i && run_i && !take && strb_i != '0;
    end
  end
  always_ff @(posedge clk_i) posted_flow_o <= wflow;
endmodule
