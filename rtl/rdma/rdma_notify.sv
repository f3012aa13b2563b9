// SPDX-License-Identifier: SHL-2.1
/// Words for the host: notifications, completions, frame words, error records.
///
/// Takes one event at a time, in turn, from the resequencer (act), the send side's errors, its
/// local notifications and its completions, and makes 8- or 16-byte writes of them.
///
///   Handshake   err_i, local_i, done_i, act_*: held until ready: an event's write is on the bus,
///               or it needs none. act_owes_o with act_ready_o: a WroteNotice answer follows
///                                                      (proved: formal/rdma/rdma_notify.sby)
///   Interrupt   irq_o strobes; with a notification when that has been answered (rdma_rx does it),
///               else at once
///   Records     in a ring of 2^size records at base (ring_i), from its begin when enable_i has
///               risen; a record that finds it full, or no ring, is counted in the next one, with
///               what it counts itself
///   Tables      addresses: requests, messages, sources, completions, 8 each; 0: none. we_i, re_i,
///               rvalid_o, rdata_o as in rdma_regions. Writing a source's address starts its count
///               anew
///   Latency     event to notice_valid_o 4 cycles, through a queue 10, a record 2
///   Throughput  an event in 8 cycles at most and its writes, but while the host writes addresses
///   Not done    order between different events
module rdma_notify
  import rdma_pkg::*;
  import rdma_rx_pkg::*;
#(
  parameter int unsigned NumHosts = 8
) (
  input logic clk_i,
  input logic rst_ni,
  input logic enable_i,

  input error_ring_t ring_i,

  input  logic        we_i,
  input  logic [4:0]  waddr_i,
  input  logic [63:0] wdata_i,
  input  logic        re_i,
  input  logic [4:0]  raddr_i,
  output logic        rvalid_o,
  output logic [63:0] rdata_o,

  input  logic act_valid_i,
  output logic act_ready_o,
  output logic act_owes_o,
  input  act_t act_i,

  input  error_report_t err_i,
  output logic          err_ready_o,
  input  local_report_t local_i,
  output logic          local_ready_o,
  input  done_report_t  done_i,
  output logic          done_ready_o,
  output logic      queue_valid_o,
  input  logic      queue_ready_i,
  output enqueue_t  queue_o,
  input  logic      queue_answer_i,
  input  enqueued_t queue_i,
  output logic      queue_commit_o,
  output logic      queue_drop_o,

  output logic    notice_valid_o,
  input  logic    notice_ready_i,
  input  logic    notice_second_i,  // a record's second beat is asked for
  output notice_t notice_o,

  output logic                refuse_o,   // a notification found no place in its queue
  output refusal_t            refuse_refusal_o,
  output logic [NumHosts-1:0] irq_o,
  output logic                record_lost_o,
  output logic                busy_o,     // an event is under way; from registers
  output logic                idle_o
);
  typedef enum logic [3:0] {
    StIdle,
    StRecord,    // its place in the ring
    StRing,      // its write
    StAddress,   // the table is read
    StWord,      // the address is valid
    StNotice,    // the write
    StAsk,       // a queue for a place
    StPlace,
    StFrame,
    StTable,
    StTell,
    StEnd
  } state_e;

  typedef enum logic [1:0] {
    EvAct,
    EvError,
    EvLocal,
    EvDone
  } event_e;

  state_e state_q;
  logic [3:0] req, gnt;
  logic [1:0] winner;
  event_e event_q;

  logic finish;
  assign req = {done_i.valid, local_i.valid, err_i.valid, act_valid_i};
  arb_rr #(.NumReq(4)) u_turns (
    .clk_i,
    .rst_ni,
    .req_i (req),
    .last_i(finish),
    .gnt_o (gnt),
    .idx_o (winner)
  );
  assign {done_ready_o, local_ready_o, err_ready_o, act_ready_o} = gnt & {4{finish}};

  // ---------------------------------------------------------------- addresses and counts
  logic re, read_q;
  logic [4:0] addr, read_addr_q, event_addr;
  logic [63:0] word;
  addr_t address_q;
  logic [6:0] beats_q;
  logic [7:0] qid_q;

  always_comb begin
    unique case (event_q)
      EvLocal: event_addr = {1'b0, local_i.message, local_i.flow};
      EvDone:  event_addr = {2'd3, done_i.flow};
      default: event_addr = {2'd2, act_i.src};
    endcase
  end
  // What is read while it is written is neither the old nor the new: it is read again.
  assign re   = state_q == StAddress || (state_q == StIdle && read_q);
  assign addr = state_q == StAddress ? event_addr : read_addr_q;

  ram_1r1w #(
    .Width  (64),
    .Depth  (32),
    .ReadOld(1'b0)
  ) u_addresses (
    .clk_i,
    .we_i,
    .waddr_i,
    .wdata_i,
    .re_i   (re),
    .raddr_i(addr),
    .rdata_o(word)
  );

  logic [14:0] counts_q [MaxHosts];
  logic [14:0] count_q;  // of the word: read with its address, so it is stable on the bus
  logic anew_q;          // the host has set this source's address since
  logic told_q;          // a notice was written
  logic queued_q;        // into a queue
  logic host_counts, count_up;
  flow_t host_src;
  assign host_counts = we_i && waddr_i[4:3] == 2'd2;
  assign host_src    = waddr_i[2:0];
  // The event is held one cycle longer if the host writes a count in this cycle.
  logic counts;
  assign counts   = event_q == EvAct && told_q && !queued_q && !act_i.frame;
  assign finish   = state_q == StEnd && !(counts && host_counts);
  assign count_up = finish && counts && !anew_q;

  // ---------------------------------------------------------------- what an act asks for
  logic notify, irq, record;
  assign notify = act_i.info.notify && !act_i.lost && !act_i.frame;
  assign irq    = act_i.info.irq && !act_i.lost && !act_i.frame;
  assign record = act_i.code != '0;

  // ---------------------------------------------------------------- error ring
  logic [15:0] head_q, used;
  logic [11:0] more_q;  // not itemised; of the record in progress: what it reports
  logic [12:0] more;
  record_t err_record;
  logic ring_full, no_ring;
  logic enabled_q;      // the ring was begun
  logic [15:0] mask;
  addr_t record_q;
  logic phase_q;
  logic [3:0] code_q;    // of the record
  logic [3:0] queue_code_q;
  logic queue_phase_q;
  logic [15:0] queue_count_q;
  logic failed_place_q;  // the record is of a notification that found no place
  assign used      = head_q - ring_i.tail;
  assign mask      = 16'((17'd1 << ring_i.size) - 17'd1);
  assign ring_full = (used & ~mask) != '0;
  assign no_ring   = ring_i.base == '0 || ring_i.size < 4'd2;
  assign err_record = record_t'(err_i.beat0);
  // What the record brings; a cycle later itself, if it was lost.
  assign more      = {1'b0, more_q} + (state_q != StRecord ? 13'd1 :
                                       event_q == EvError ? {1'b0, err_record.more} : '0);

  // ---------------------------------------------------------------- one event at a time
  state_e notify_next;  // behind a record
  assign notify_next = event_q != EvAct || !notify || failed_place_q ? StEnd :
                       act_i.info.to_queue ? StAsk : StAddress;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q        <= StIdle;
      read_q         <= 1'b0;
      rvalid_o       <= 1'b0;
      head_q         <= '0;
      more_q         <= '0;
      enabled_q      <= 1'b0;
      refuse_o       <= 1'b0;
      irq_o          <= '0;
      record_lost_o  <= 1'b0;
      told_q         <= 1'b0;
      queued_q       <= 1'b0;
      failed_place_q <= 1'b0;
    end else begin
      rvalid_o      <= 1'b0;
      refuse_o      <= 1'b0;
      irq_o         <= '0;
      record_lost_o <= 1'b0;
      if (re_i) read_q <= 1'b1;
      unique case (state_q)
        StIdle: begin
          told_q         <= 1'b0;
          queued_q       <= 1'b0;
          failed_place_q <= 1'b0;
          // Never while a record is pending.
          if (enable_i && !enabled_q) begin
            enabled_q <= 1'b1;
            head_q    <= '0;
            more_q    <= '0;
          end
          if (read_q) begin
            if (!we_i) state_q <= StTable;
          end else if (gnt != '0) begin
            if (gnt[EvAct] && act_i.frame) state_q <= StFrame;
            else if (gnt[EvError] || (gnt[EvAct] && record)) state_q <= StRecord;
            else if (gnt[EvAct] && !notify) state_q <= StEnd;
            else if (gnt[EvAct] && act_i.info.to_queue) state_q <= StAsk;
            else state_q <= StAddress;
          end
        end
        StRecord: begin
          if (no_ring || ring_full) begin
            record_lost_o <= 1'b1;
            state_q       <= notify_next;
          end else begin
            state_q <= StRing;
          end
        end
        StRing: begin
          if (notice_ready_i) begin
            head_q  <= head_q + 16'd1;
            more_q  <= '0;
            state_q <= notify_next;
          end
        end
        StAddress: if (!we_i) state_q <= StWord;
        StWord:    state_q <= word[63:3] == '0 ? StEnd : StNotice;
        StNotice: begin
          if (notice_ready_i) begin
            told_q  <= 1'b1;
            state_q <= StEnd;
          end
        end
        StAsk: if (queue_ready_i) state_q <= StPlace;
        StPlace: begin
          if (queue_answer_i) begin
            queued_q <= queue_i.code == '0;
            if (queue_i.code == '0) begin
              state_q <= StNotice;
            end else begin
              refuse_o       <= 1'b1;
              failed_place_q <= 1'b1;
              state_q        <= StRecord;
            end
          end
        end
        StFrame: state_q <= StNotice;
        StTable: state_q <= StTell;
        StTell: begin
          state_q  <= StIdle;
          read_q   <= 1'b0;
          rvalid_o <= 1'b1;
        end
        default: begin
          if (finish) state_q <= StIdle;
          if (event_q == EvAct && irq && !told_q) irq_o <= NumHosts'(1) << act_i.src;
        end
      endcase
      if (state_q == StRecord || record_lost_o) more_q <= more[12] ? '1 : more[11:0];
      if (!enable_i) enabled_q <= 1'b0;
    end
  end
  assign act_owes_o = told_q && !act_i.frame;

  always_ff @(posedge clk_i) begin
    if (re_i) read_addr_q <= raddr_i;
    if (state_q == StIdle) event_q <= event_e'(winner);
    if (state_q == StWord) address_q <= word[63:3];
    if (state_q == StAddress) begin
      count_q <= counts_q[act_i.src] + 15'd1;
      anew_q  <= 1'b0;
    end
    if (host_counts && host_src == act_i.src) anew_q <= 1'b1;
    if (state_q == StPlace) address_q <= queue_i.address;
    // The slot's begin: the last beat less the body.
    if (state_q == StIdle) begin
      address_q <= act_i.info.address;
      beats_q   <= act_i.info.beats;
      qid_q     <= act_i.info.qid;  // comes out of a memory, and goes into the next
    end
    if (state_q == StFrame) address_q <= address_q - addr_t'(beats_q);
    if (state_q == StRecord) begin
      record_q <= {ring_i.base, 3'b000} + addr_t'({head_q & mask, 1'b0});
      phase_q  <= !head_q[ring_i.size];
      code_q   <= failed_place_q ? queue_code_q : act_i.code;
    end
    if (state_q == StPlace) begin
      queue_code_q  <= queue_i.code;
      queue_phase_q <= queue_i.phase;
      queue_count_q <= queue_i.count;
    end
    if (host_counts || count_up) begin
      counts_q[host_counts ? host_src : act_i.src] <= host_counts ? '0 : count_q;
    end
  end

  assign queue_valid_o  = state_q == StAsk;
  assign queue_commit_o = state_q == StPlace && queue_answer_i && queue_i.code == '0;
  assign queue_drop_o   = state_q == StPlace && queue_answer_i && queue_i.code != '0;
  assign queue_o = '{notification: 1'b1, qid: qid_q, src: act_i.src, beats: 7'd1};

  // ---------------------------------------------------------------- the write
  frame_t frame;
  always_comb begin
    frame.immediate    = act_i.info.immediate;
    frame.src          = host_t'(act_i.src);
    frame.notification = !act_i.frame;
    if (act_i.frame) begin
      frame.count = act_i.info.count;
      frame.beats = act_i.failed || act_i.spoilt ? '0 : act_i.info.beats;
      frame.phase = act_i.info.phase;
    end else begin
      frame.count = queue_count_q;
      frame.beats = 7'(act_i.failed);
      frame.phase = queue_phase_q;
    end
  end

  record_t record0;
  beat_t record1;
  always_comb begin
    if (event_q == EvError) begin
      record0 = err_record;
      record1 = err_i.beat1;
    end else begin
      record0                        = '0;
      record0.code                   = 8'(code_q);
      {record0.message, record0.tag} = act_i.lost ? '0 : act_i.info.tag;
      record0.host                   = host_t'(act_i.src);
      record0.ours                   = 1'b1;
      record1                        = act_i.lost ? '0 : {act_i.info.address, 3'b000};
    end
    record0.more  = more_q;
    record0.phase = phase_q;
  end

  notification_t told;
  beat_t word_out;
  assign told = '{
      failed:  act_i.failed,
      count:   count_q,
      address: {act_i.info.address[47:3], 3'b000}
  };

  always_comb begin
    unique case (event_q)
      EvLocal: word_out = 64'(local_i.count);
      EvDone:  word_out = done_i.word;
      default: word_out = act_i.frame || queued_q ? beat_t'(frame) : beat_t'(told);
    endcase
  end

  always_comb begin
    notice_o.two          = state_q == StRing;
    notice_o.address      = state_q == StRing ? record_q : address_q;
    notice_o.data         = state_q != StRing ? word_out : notice_second_i ? record1 : record0;
    notice_o.answer       = '0;
    notice_o.answer.wrote = WroteOther;
    notice_o.answer.src   = act_i.src;
    notice_o.answer.place = act_i.place;
    if (event_q == EvAct && state_q == StNotice) begin
      notice_o.answer.wrote  = act_i.frame ? WroteFrame : WroteNotice;
      notice_o.answer.failed = act_i.frame && act_i.failed;
      notice_o.answer.spoilt = act_i.frame && act_i.spoilt;
      notice_o.answer.irq    = irq;
    end
  end
  assign notice_valid_o = state_q == StNotice || state_q == StRing;

  assign refuse_refusal_o = '{src: act_i.src, session: '0, code: queue_code_q, tag: act_i.info.tag};
  assign rdata_o          = word;
  assign busy_o           = state_q != StIdle;
  assign idle_o           = !busy_o && req == '0 && !read_q;
  logic unused_queue;
  assign unused_queue = &{1'b0, queue_i};
endmodule
