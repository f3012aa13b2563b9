// SPDX-License-Identifier: SHL-2.1
/// Writes a stream of words to a byte ring in host memory, and after each burst a status word.
///
/// A burst begins before its words are valid: the service guarantees a number of words (promise_i),
/// so the address is sent early and the words follow as they arrive.
///
///   Start       start_i, a strobe, with base_i, size_i (words, a power of two, 16 or more),
///               status_i, run_i low in this cycle and the one before: position 0
///   Promise     promise_i: words that valid_i will eventually offer, without any further input to
///               the service; decreases only by words taken. more_i: more may be promised soon, so
///               a burst that is not full waits
///   Words       valid_i/ready_o, data_i, first_i (a unit begins, for probes)
///   Bursts      cut by axi_cut: within BurstBytes of address, so within 4 KiB; within the ring.
///               Never past consumed_i + size_i: then it waits until there is space for the
///               complete burst
///   Status      one beat at status_i: position up to which words were delivered, and head_i; after
///               each burst, and when head_i changed while nothing is promised
///   Order       one AXI ID; addresses and data in the same order: data before the status that
///               reports it
///   Stop        with run_i low no burst begins; missing beats of an open one are written without
///               strobes, offered words are dropped
///   Latency     promise_i to awvalid_o 3 clocks; word to wvalid_o 1, for the first of a pair 2
///   Throughput  one word a clock, status words included
///   Parameters  BurstBytes power of two 64..512; MaxWrites 4..16 power of two, in flight
module pcie_dma_write #(
  parameter  int unsigned BurstBytes = 256,
  parameter  int unsigned MaxWrites  = 16,
  parameter  int unsigned PromiseW   = 10,
  localparam int unsigned BurstW     = $clog2(BurstBytes / 4) + 1
) (
  input logic clk_i,
  input logic rst_ni,

  input logic        start_i,
  input logic        run_i,
  input logic [63:6] base_i,
  input logic [22:0] size_i,
  input logic [63:3] status_i,
  input logic [29:0] consumed_i,
  input logic [29:0] head_i,
  input logic [PromiseW-1:0] promise_i,
  input logic        more_i,

  input  logic        valid_i,
  output logic        ready_o,
  input  logic [31:0] data_i,
  input  logic        first_i,

  output logic        awvalid_o,
  input  logic        awready_i,
  output axi_pkg::address_t aw_o,
  output logic        wvalid_o,
  input  logic        wready_i,
  output logic [63:0] wdata_o,
  output logic [ 7:0] wstrb_o,
  output logic        wlast_o,
  input  logic        bvalid_i,
  output logic        bready_o,
  input  logic [ 1:0] bresp_i,

  output logic [29:0] tail_o,       // position up to which words were delivered
  output logic        burst_o,      // a burst begins
  output logic        told_o,       // a status word was passed to the bus
  output logic        told_done_o,  // a status word was answered, without an error
  output logic [ 1:0] unit_o,       // number of unit-begin words passed to the bus
  output logic        error_o,
  output logic        quiet_o,      // nothing begun that is not answered
  output logic        idle_o        // nor anything to begin
);
  if (BurstBytes < 64 || BurstBytes > 512 || (BurstBytes & (BurstBytes - 1)) != 0) begin : gen_burst
    $error("pcie_dma_write: BurstBytes is %0d, legal are powers of two 64..512", BurstBytes);
  end
  if (MaxWrites < 4 || MaxWrites > 16 || (MaxWrites & (MaxWrites - 1)) != 0) begin : gen_writes
    $error("pcie_dma_write: MaxWrites is %0d, legal are powers of two 4..16", MaxWrites);
  end

  typedef enum logic [1:0] {
    StSettle,  // the promise is being registered
    StLook,    // is there a burst?
    StData,    // its address
    StStatus   // the status word's address
  } state_e;

  typedef logic [BurstW-1:0] words_t;  // of a burst
  localparam int unsigned CountW = $clog2(MaxWrites) + 1;

  // ---------------------------------------------------------------- addresses
  state_e state_q;
  logic [29:0] opened_q;      // position of the next burst
  logic [29:0] tail_q;        // position of the next word
  logic [PromiseW-1:0] free_q;  // words promised that no burst has
  logic [22:0] space_q;       // words that the host has room for
  words_t chunk_q, len_q;
  logic part_q;                 // the burst ends before its cut
  logic more_q, news_q;
  logic [29:0] told_head_q;
  logic [CountW-1:0] writes_q;
  logic plan_ready, plan_valid, plan_next, open_data, open_status;

  // One lap of the ring is one command. A burst that has fewer words is a part of what was cut.
  words_t chunk, len_d;
  logic cut_valid, cut_ready, cut_last, lane;
  axi_pkg::address_t cut;
  axi_cut #(
    .DataWidth (64),
    .Granule   (4),
    .BurstBytes(BurstBytes),
    .MaxBytes  (32'd1 << 24)
  ) u_cut (
    .clk_i,
    .rst_ni,
    .cmd_valid_i  (start_i || run_i),
    .cmd_ready_o  (cut_ready),
    .cmd_addr_i   ({base_i, 6'd0}),
    .cmd_bytes_i  ({size_i, 2'd0}),
    .stop_i       (!run_i),
    .burst_valid_o(cut_valid),
    .burst_ready_i(burst_o),
    .burst_part_i (part_q),
    .burst_units_i(len_q),
    .burst_units_o(chunk),
    .offered_i    (state_q == StData),
    .burst_o      (cut),
    .burst_first_o(lane),
    .burst_final_o(),
    .burst_last_o (cut_last),
    .burst_left_o ()
  );
  assign len_d = free_q > PromiseW'(chunk_q) ? chunk_q : free_q[BurstW-1:0];

  logic [29:0] assigned;  // words of begun bursts that have not come
  assign assigned = opened_q - tail_q;

  // A snapshot; later changes can only increase the limits.
  always_ff @(posedge clk_i) begin
    free_q  <= promise_i - assigned[PromiseW-1:0];
    space_q <= size_i - 23'(opened_q - consumed_i);
    chunk_q <= chunk;
    more_q  <= more_i;
    news_q  <= told_head_q != head_i && promise_i == '0 && assigned == '0 && !more_i;
  end

  // The smaller of both fits if either does: the comparisons are in parallel, not in series.
  logic few, full, fits, go_data, go_news;
  assign few     = writes_q < CountW'(MaxWrites - 2);
  assign full    = free_q >= PromiseW'(chunk_q);
  assign fits    = space_q >= 23'(chunk_q) || space_q >= 23'(free_q);
  assign go_data = run_i && few && plan_ready && free_q != '0 && (!more_q || full) && fits;
  assign go_news = run_i && writes_q == '0 && news_q && free_q == '0;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= StSettle;
    end else begin
      unique case (state_q)
        StSettle: state_q <= StLook;
        StLook: begin
          if (go_data) state_q <= StData;
          else if (go_news) state_q <= StStatus;
        end
        StData: if (awready_i) state_q <= StStatus;
        default: if (awready_i) state_q <= StSettle;
      endcase
      if (start_i) state_q <= StSettle;
    end
  end

  assign open_data   = state_q == StLook && go_data;
  assign open_status = state_q == StLook && (go_data || go_news);

  always_ff @(posedge clk_i) begin
    if (state_q == StLook) begin
      len_q  <= len_d;
      part_q <= !full;
    end
    if (start_i) opened_q <= '0;
    else if (open_data) opened_q <= opened_q + 30'(len_d);
  end

  words_t beats;  // and one word before the first, where the burst begins in the middle of a beat
  assign beats     = words_t'(({1'b0, len_q} + (BurstW + 1)'(lane) + (BurstW + 1)'(1)) >> 1);
  assign awvalid_o = state_q == StData || state_q == StStatus;
  always_comb begin
    aw_o = cut;
    if (state_q == StData) begin
      aw_o.len = 8'(beats) - 8'd1;
    end else begin
      aw_o.addr = {status_i, 3'd0};
      aw_o.len  = '0;
    end
  end
  assign burst_o   = state_q == StData && awready_i;

  // ---------------------------------------------------------------- data
  // One entry per burst and its status word; no words: only the status word.
  words_t plan_len;
  fifo #(
    .Width(BurstW),
    .Depth(MaxWrites / 2)
  ) u_plan (
    .clk_i,
    .rst_ni,
    .clear_i(1'b0),
    .valid_i(open_status),
    .ready_o(plan_ready),
    .data_i (open_data ? len_d : '0),
    .valid_o(plan_valid),
    .ready_i(plan_next),
    .data_o (plan_len),
    .usage_o()
  );

  words_t left_q;       // words of this burst that have not come
  logic tell_q;         // the status word is next on the bus
  logic low_valid_q, low_first_q;
  logic [31:0] low_q;
  logic take, ends, room, emit_data, emit_status;

  assign ends    = left_q == words_t'(1);
  // A word that completes no beat may pass while the status word is sent.
  assign ready_o = !run_i || (left_q != '0 && room && (!tell_q || (!tail_q[0] && !ends)));
  assign take    = left_q != '0 && room && (!tell_q || (!tail_q[0] && !ends)) &&
                   (valid_i || !run_i);
  assign emit_status = tell_q && room;
  assign emit_data   = take && (tail_q[0] || ends);
  assign plan_next   = plan_valid && (left_q == '0 || (take && ends)) && (!tell_q || emit_status);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      left_q      <= '0;
      tell_q      <= 1'b0;
      low_valid_q <= 1'b0;
      tail_q      <= '0;
    end else begin
      if (plan_next) left_q <= plan_len;
      else if (take) left_q <= left_q - words_t'(1);

      if (take && ends) tell_q <= 1'b1;
      else if (plan_next && plan_len == '0) tell_q <= 1'b1;
      else if (emit_status) tell_q <= 1'b0;

      if (take) low_valid_q <= !emit_data;
      if (start_i) tail_q <= '0;
      else if (take) tail_q <= tail_q + 30'd1;
    end
  end

  always_ff @(posedge clk_i) begin
    // Updated until accepted, so that the late valid_i is not in its path.
    if (!tail_q[0]) begin
      low_q       <= data_i;
      low_first_q <= first_i;
    end
    if (start_i) told_head_q <= '0;
    else if (emit_status) told_head_q <= head_i;
  end

  typedef struct packed {
    logic        told;
    logic [1:0]  unit;
    logic        last;
    logic [7:0]  strb;
    logic [63:0] data;
  } beat_t;
  beat_t beat, beat_out;
  always_comb begin
    // tell_q alone: without space nothing is stored, and with space the status word is.
    beat.told = tell_q;
    beat.last = tell_q || ends;
    beat.unit = '0;
    beat.strb = '0;
    beat.data = {head_i, 2'b00, tail_q, 2'b00};
    if (tell_q) begin
      beat.strb = {8{run_i}};
    end else begin
      beat.data = {data_i, tail_q[0] ? low_q : data_i};
      beat.unit = run_i ? 2'(first_i) + 2'(low_valid_q && low_first_q) : '0;
      beat.strb = {{4{tail_q[0] && run_i}}, {4{(!tail_q[0] || low_valid_q) && run_i}}};
    end
  end

  skid_buffer #(
    .Width($bits(beat_t))
  ) u_beats (
    .clk_i,
    .rst_ni,
    .valid_i(emit_data || emit_status),
    .ready_o(room),
    .data_i (beat),
    .valid_o(wvalid_o),
    .ready_i(wready_i),
    .data_o (beat_out)
  );
  assign wdata_o = beat_out.data;
  assign wstrb_o = beat_out.strb;
  assign wlast_o = beat_out.last;
  assign told_o  = wvalid_o && wready_i && beat_out.told && beat_out.strb != '0;
  assign unit_o  = (wvalid_o && wready_i) ? beat_out.unit : '0;
  assign tail_o  = tail_q;

  // ---------------------------------------------------------------- answers
  logic answered_status, unused_valid, unused_ready;
  fifo #(
    .Width(1),
    .Depth(MaxWrites)
  ) u_kinds (
    .clk_i,
    .rst_ni,
    .clear_i(1'b0),
    .valid_i(awvalid_o && awready_i),
    .ready_o(unused_ready),
    .data_i (state_q == StStatus),
    .valid_o(unused_valid),
    .ready_i(bvalid_i),
    .data_o (answered_status),
    .usage_o()
  );

  // Counted from the decision, so that an offered address counts. Decision and answer are
  // timing-critical: they select between precomputed sums.
  logic [CountW-1:0] writes_d;
  always_comb begin
    writes_d = bvalid_i ? writes_q - CountW'(1) : writes_q;
    if (open_data) writes_d = bvalid_i ? writes_q + CountW'(1) : writes_q + CountW'(2);
    else if (open_status) writes_d = bvalid_i ? writes_q : writes_q + CountW'(1);
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) writes_q <= '0;
    else writes_q <= writes_d;
  end

  assign bready_o    = 1'b1;
  assign error_o     = bvalid_i && bresp_i != 2'b00 && run_i;
  assign told_done_o = bvalid_i && bresp_i == 2'b00 && answered_status && run_i;
  assign quiet_o     = writes_q == '0;
  assign idle_o      = quiet_o && state_q == StLook && promise_i == '0 &&
                       (!run_i || (free_q == '0 && told_head_q == head_i));

  logic unused;
  assign unused = &{1'b0, cut_valid, cut_ready, cut_last, cut.len};
endmodule
