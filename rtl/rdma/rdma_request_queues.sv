// SPDX-License-Identifier: SHL-2.1
/// Descriptors as the host writes them: 128 slots for each destination, in one memory.
///
/// Slots are written in any order. A descriptor with the start flag releases all up to itself, in
/// the order of the ring, at the end of the host's burst. A start that would release more than what
/// was given back to the host is ignored.
///
///   Handshake   none: a write is taken in its cycle; none in the cycle behind one with last_i.
///               ready_o[f]: released descriptors that were not read.
///               slot_o, slots_o: the next one of flow_i and how many are released; advance_i takes
///               1 or 2 of them, never more, when flow_i was held for a cycle
///   Latency     2 cycles from a write with last_i to ready_o, none to coming_o, which comes with
///               the write before where a slot is written whole in one burst;
///               1 from re_i to rdata_o
///   Throughput  a write and a read a cycle
///   Bench       beat 0 of a slot is not the host's: its upper half becomes the time at which beat
///               1 was written. An extended descriptor's key is in that half,
///               so the time goes the same way
///   Parameters  NumHosts 2..8
///   Not done    a check of descriptors (rdma_send)
module rdma_request_queues
  import rdma_pkg::*;
#(
  parameter int unsigned NumHosts = 8
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        run_i,         // low: writes are ignored
  input  logic        clear_i,       // once for each flow, while nothing is under way
  input  flow_t       clear_flow_i,
  input  logic        bench_i,
  input  logic [31:0] stamp_i,

  input  logic        we_i,
  input  logic [10:0] addr_i,        // flow, slot, half
  input  beat_t       data_i,
  input  logic [7:0]  strb_i,
  input  logic        last_i,        // the burst ends with this write

  input  logic        freed_i,       // slots were given back:
  input  flow_t       freed_flow_i,
  input  logic [7:0]  freed_count_i, // so many since the start, modulo 256

  output logic [7:0]  ready_o,
  output logic        coming_o,      // strobe: this flow's ready_o is set 2 cycles later,
  output flow_t       coming_flow_o, // if what was written can be released;
  output logic        early_o,       // with coming_o: 3, if the slot's start is written next
  input  flow_t       flow_i,
  output logic [6:0]  slot_o,
  output logic [7:0]  slots_o,
  input  logic        re_i,
  input  logic [10:0] raddr_i,
  output beat_t       rdata_o,
  input  logic        advance_i,
  input  logic        two_i,
  input  logic        only_i,        // what it takes came after early_o, so no other was released

  output logic        posted_o,      // strobes: slots were released;
  output flow_t       posted_flow_o,
  output logic        bad_o,         // a start was ignored, or a write to a flow that is not there
  output logic        idle_o
);
  if (NumHosts < 2 || NumHosts > MaxHosts) begin : gen_hosts_check
    $error("rdma_request_queues: NumHosts is %0d, legal is 2..%0d", NumHosts, MaxHosts);
  end

  // Place of the start and the extended flag in a descriptor's second beat.
  localparam int unsigned StartBit    = 49;
  localparam int unsigned ExtendedBit = 54;
  localparam int unsigned FlagByte    = 6;

  logic  present, write;
  flow_t wflow;
  assign wflow   = addr_i[10:8];
  assign present = 32'(wflow) < NumHosts;
  assign write   = we_i && run_i && present;

  // ---------------------------------------------------------------- memory
  logic        stamp_valid_q, host_write;
  logic [9:0]  stamp_addr_q;
  logic [31:0] stamp_q;
  assign host_write = write && !(bench_i && !addr_i[0]);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) stamp_valid_q <= 1'b0;
    else if (host_write && bench_i && strb_i[7]) stamp_valid_q <= 1'b1;
    else if (!host_write) stamp_valid_q <= 1'b0;
  end
  always_ff @(posedge clk_i) begin
    if (host_write && strb_i[7]) begin
      stamp_addr_q <= addr_i[10:1];
      stamp_q      <= stamp_i;
    end
  end

  ram_1r1w #(
    .Width    (64),
    .Depth    (MaxHosts * SlotsPerQueue * 2),
    .LaneWidth(8),
    .ReadOld  (1'b0)
  ) u_ram (
    .clk_i,
    .we_i   (host_write ? strb_i : {{4{stamp_valid_q}}, 4'd0}),
    .waddr_i(host_write ? addr_i : {stamp_addr_q, 1'b0}),
    .wdata_i({host_write ? data_i[63:32] : stamp_q, data_i[31:0]}),
    .re_i,
    .raddr_i,
    .rdata_o
  );

  // ---------------------------------------------------------------- starts
  // The last start of the burst in progress; it takes effect at the burst's end, or when one for
  // another flow comes.
  logic       start, held_q, go_q, apply, accept;
  flow_t      held_flow_q;
  logic [7:0] held_base_q, held_free_q, held_step_q;  // as they were when the start came
  // Positions, modulo 256. A flow's released slots change only when its start is applied, and no
  // other of the same flow comes then.
  (* ram_style = "distributed" *) logic [7:0] released_q[MaxHosts];
  logic [7:0] freed_q   [MaxHosts];
  logic [7:0] base;
  assign base = released_q[wflow];

  assign start  = write && addr_i[0] && strb_i[FlagByte] && data_i[StartBit];
  assign apply  = held_q && (go_q || (start && held_flow_q != wflow));
  assign accept = apply && held_step_q <= held_free_q;
  // The first half of the next slot of an empty queue, and the burst goes on.
  assign early_o       = write && !last_i && strb_i == '1 && !held_q && !bench_i &&
                         !ready_o[wflow] && addr_i[7:0] == {base[6:0], 1'b0};
  assign coming_o      = early_o || (we_i && last_i && (start || held_q));
  assign coming_flow_o = start || early_o ? wflow : held_flow_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      held_q <= 1'b0;
      go_q   <= 1'b0;
    end else begin
      held_q <= start || (held_q && !apply);
      go_q   <= we_i && last_i && (start || (held_q && !apply));
    end
  end
  always_ff @(posedge clk_i) begin
    if (start) begin
      held_flow_q <= wflow;
      held_base_q <= base;
      held_free_q <= 8'd128 - (base - freed_q[wflow]);
      held_step_q <= {1'b0, addr_i[7:1] - base[6:0]} + (data_i[ExtendedBit] ? 8'd2 : 8'd1);
    end
  end

  // ---------------------------------------------------------------- positions, modulo 256
  logic [7:0] read_q[MaxHosts];
  logic [7:0] next_read, left_q;
  logic       fresh, empties;

  always_ff @(posedge clk_i) begin
    // Write address and data do not depend on the write enable, which is late.
    if (clear_i || accept) begin
      released_q[clear_i ? clear_flow_i : held_flow_q] <= clear_i ? '0 : held_base_q + held_step_q;
    end
    if (clear_i || freed_i) begin
      freed_q[clear_i ? clear_flow_i : freed_flow_i] <= clear_i ? '0 : freed_count_i;
    end
    if (clear_i || advance_i) begin
      read_q[clear_i ? clear_flow_i : flow_i] <= clear_i ? '0 : next_read;
    end
  end

  assign slot_o    = read_q[flow_i][6:0];
  assign slots_o   = released_q[flow_i] - read_q[flow_i];
  assign next_read = read_q[flow_i] + (two_i ? 8'd2 : 8'd1);
  // Reckoned a cycle ahead; what was released in that cycle is still there.
  always_ff @(posedge clk_i) left_q <= slots_o;
  assign fresh   = posted_o && posted_flow_o == flow_i;
  assign empties = advance_i && (only_i || (left_q == (two_i ? 8'd2 : 8'd1) && !fresh));

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      ready_o  <= '0;
      posted_o <= 1'b0;
      bad_o    <= 1'b0;
    end else begin
      if (empties) ready_o[flow_i] <= 1'b0;
      if (accept) ready_o[held_flow_q] <= 1'b1;
      if (clear_i) ready_o[clear_flow_i] <= 1'b0;
      posted_o <= accept;
      bad_o    <= (apply && !accept) || (we_i && run_i && !present && strb_i != '0);
    end
  end
  always_ff @(posedge clk_i) posted_flow_o <= held_flow_q;
  assign idle_o = !we_i && !(held_q && go_q) && !stamp_valid_q && !posted_o && !bad_o;
endmodule
