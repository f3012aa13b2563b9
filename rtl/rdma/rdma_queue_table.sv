// SPDX-License-Identifier: SHL-2.1
/// Queue table: where the next message goes, and whether there is room for it.
///
/// Two clients: 0 messages, 1 notifications. An answer holds the table until its client commits it
/// (the head moves) or drops it. A head that the host has written since is left as the host wrote
/// it.
///
///   Enqueue     ask_valid_i/ask_ready_o of a client with its ask_i; answer_valid_o of that client
///               is held with answer_o until commit_i or drop_i. code 0: answer_o is legal: address
///               to address + first beats, the rest at base,
///               all inside the ring and not past the tail
///   Slots       in a slotted queue a message's address is one beat behind the slot's, where its
///               frame word goes; a notification's is the slot's
///   Table       we_i: a beat (beat 1: phase and count start anew); tail_we_i: a tail; or both.
///               re_i: strobe, one at a time: an entry's beat, or a tail;
///               rvalid_o strobes with rdata_o
///   Peek        peek_i: the queue that client 0 will perhaps ask for in the next cycle;
///               a guess costs nothing
///   Latency     ask to answer 4 cycles, 3 if client 0 said so in the cycle before; nothing is read
///               in a cycle in which the table is written
///   Throughput  a message in 6 cycles
///   Not done    reset of the contents
module rdma_queue_table
  import rdma_pkg::*;
  import rdma_rx_pkg::*;
(
  input logic clk_i,
  input logic rst_ni,

  input  logic        we_i,
  input  logic        tail_we_i,
  input  logic [8:0]  waddr_i,      // entry, beat; of a tail the upper 8 bits
  input  logic [63:0] wdata_i,
  input  logic        re_i,
  input  logic        tail_re_i,
  input  logic [8:0]  raddr_i,
  output logic        rvalid_o,
  output logic [63:0] rdata_o,

  input  logic [7:0]     peek_i,
  input  logic [1:0]     ask_valid_i,
  output logic [1:0]     ask_ready_o,
  input  enqueue_t [1:0] ask_i,
  output logic [1:0]     answer_valid_o,
  output enqueued_t      answer_o,
  input  logic [1:0]     commit_i,
  input  logic [1:0]     drop_i,
  output logic           idle_o
);
  typedef logic [OffsetWidth-1:0] offset_t;
  typedef logic [OffsetWidth:0] sum_t;

  // Beside an entry, moved by messages.
  typedef struct packed {
    logic [15:0] count;
    logic        round;  // of the ring, modulo 2
    offset_t     head;
  } position_t;

  typedef enum logic [2:0] {
    StIdle,    // beat 1, place and tail of the request are read, or of one that may come next
    StBase,    // they are valid; the base is read
    StUsed,    // beats used, next head
    StFit,
    StAnswer,
    StTable,   // a read of the table
    StTell
  } state_e;

  state_e state_q;
  logic client_q, client, start, fast, read_q, read_tail_q, touched_q, commit;
  logic peeked_q;      // the memories' outputs are of queue peek_q, up to date
  logic [7:0] peek_q;
  logic [8:0] read_addr_q;
  enqueue_t ask_q;
  logic [7:0] entry_q;

  // ---------------------------------------------------------------- memories
  logic re, writes;
  logic [8:0] addr;
  logic [63:0] word;
  position_t place, place_d;
  offset_t tail;
  logic place_we;
  logic [7:0] place_waddr;
  position_t place_wdata;

  ram_1r1w #(
    .Width  (64),
    .Depth  (2 * NumQueues),
    .ReadOld(1'b0)
  ) u_entries (
    .clk_i,
    .we_i,
    .waddr_i,
    .wdata_i,
    .re_i   (re),
    .raddr_i(addr),
    .rdata_o(word)
  );

  ram_1r1w #(
    .Width  ($bits(position_t)),
    .Depth  (NumQueues),
    .ReadOld(1'b0)
  ) u_places (
    .clk_i,
    .we_i   (place_we),
    .waddr_i(place_waddr),
    .wdata_i(place_wdata),
    .re_i   (re),
    .raddr_i(addr[8:1]),
    .rdata_o(place)
  );

  ram_1r1w #(
    .Width  (OffsetWidth),
    .Depth  (NumQueues),
    .ReadOld(1'b0)
  ) u_tails (
    .clk_i,
    .we_i   (tail_we_i),
    .waddr_i(waddr_i[8:1]),
    .wdata_i(wdata_i[OffsetWidth-1:0]),
    .re_i   (re),
    .raddr_i(addr[8:1]),
    .rdata_o(tail)
  );

  // What is read while it is written is neither the old nor the new: a read waits.
  assign writes = we_i || tail_we_i;

  logic host_moves;
  assign host_moves = we_i && waddr_i[0];
  always_comb begin
    // A commit is known late: write address and data are valid before.
    place_we    = host_moves || commit;
    place_waddr = entry_q;
    place_wdata = place_d;
    if (host_moves) begin
      place_waddr = waddr_i[8:1];
      place_wdata = '{head: wdata_i[OffsetWidth-1:0], default: '0};
    end
  end

  // ---------------------------------------------------------------- requests
  // Clients take turns; a read of the table goes first, and there is one at a time.
  assign client      = ask_valid_i[!client_q] ? !client_q : client_q;
  assign start       = state_q == StIdle && !read_q && !writes && ask_valid_i != '0;
  assign fast        = start && !client && peeked_q && peek_q == ask_i[0].qid;
  assign ask_ready_o = start ? 2'b01 << client : '0;

  // The peek and the first client's request are late: each passes few gates, whatever synthesis
  // makes of the others.
  logic open;
  (* keep *) logic peeks;
  (* keep *) logic [8:0] asked, known, other;
  assign open  = state_q == StIdle && !read_q;
  assign known = state_q != StIdle ? {entry_q, 1'b0} : read_q ? read_addr_q : {ask_i[1].qid, 1'b1};
  assign asked = open && !(ask_valid_i[1] && !client_q) ?
                 {ask_i[0].qid, !(peeked_q && peek_q == ask_i[0].qid)} : known;
  assign peeks = open && ask_valid_i == '0;
  assign other = ask_valid_i[0] ? asked : open && !ask_valid_i[1] ? 9'd1 : known;
  assign addr  = other | {peek_i & {8{peeks}}, 1'b0};
  assign re    = state_q == StIdle || (state_q == StBase && !writes);

  // The commit waits while the host writes another entry's head.
  logic want_commit, clash;
  assign want_commit = state_q == StAnswer && commit_i[client_q];
  assign clash       = host_moves && waddr_i[8:1] != entry_q && !touched_q;
  logic late_q;  // a commit that had to wait
  assign commit = (want_commit || late_q) && !touched_q && !(host_moves && waddr_i[8:1] == entry_q);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q     <= StIdle;
      client_q    <= 1'b0;
      read_q      <= 1'b0;
      read_tail_q <= 1'b0;
      touched_q   <= 1'b0;
      peeked_q    <= 1'b0;
      late_q      <= 1'b0;
      rvalid_o    <= 1'b0;
    end else begin
      rvalid_o <= 1'b0;
      if (re_i || tail_re_i) begin
        read_q      <= 1'b1;
        read_tail_q <= tail_re_i;
      end
      if (start) client_q <= client;
      peeked_q <= state_q == StIdle && !read_q && !start && !writes;
      unique case (state_q)
        StIdle: begin
          if (read_q && !writes) state_q <= StTable;
          else if (start) state_q <= fast ? StUsed : StBase;
        end
        StBase:   if (!writes) state_q <= StUsed;
        StUsed:   state_q <= StFit;
        StFit:    state_q <= StAnswer;
        StAnswer: begin
          if (drop_i[client_q] || ((want_commit || late_q) && !clash)) state_q <= StIdle;
          late_q <= (want_commit || late_q) && clash;
        end
        StTable:  state_q <= StTell;
        default: begin
          state_q  <= StIdle;
          read_q   <= 1'b0;
          rvalid_o <= 1'b1;
        end
      endcase
      // Head and ring as the host wrote them are kept.
      if (state_q == StIdle) touched_q <= host_moves && waddr_i[8:1] == ask_i[client].qid;
      else if (host_moves && waddr_i[8:1] == entry_q) touched_q <= 1'b1;
    end
  end

  // ---------------------------------------------------------------- room
  queue_t entry_word, cfg_q;
  offset_t beats;                      // of the request
  position_t place_q;
  offset_t tail_q, need_q;
  logic [63:0] word_q;                 // an answer's base, or what was read
  sum_t used_q, lack_q, after_q;       // the first two with a sign
  sum_t short, over;                   // with a sign
  logic [6:0] to_end_q;                // beats before the ring's end: of a packet that reaches it
  logic fits_q, ring_ok_q, no_wrap, full;
  // Of the answer.
  logic [3:0] code_q;
  logic [6:0] first_q;
  addr_t address_q;

  assign entry_word = queue_t'(word);
  assign beats      = state_q == StIdle ? offset_t'(ask_i[0].beats) :
                      ask_q.notification ? offset_t'(1) : offset_t'(ask_q.beats);

  // Full: what is used and what is needed reach wrap. head - tail is what is used,
  // or wrap too little.
  assign short   = used_q + (used_q[OffsetWidth] ? {1'b0, need_q} : lack_q);
  assign full    = !short[OffsetWidth];
  assign over    = after_q - {1'b0, cfg_q.wrap};
  assign no_wrap = over[OffsetWidth] || after_q == {1'b0, cfg_q.wrap};

  function automatic offset_t slot_beats(logic [2:0] slot);
    unique case (slot)
      3'd1:    return offset_t'(8);
      3'd2:    return offset_t'(16);
      3'd3:    return offset_t'(32);
      default: return offset_t'(64);
    endcase
  endfunction

  always_ff @(posedge clk_i) begin
    if (re_i || tail_re_i) read_addr_q <= raddr_i;
    if (state_q == StIdle) peek_q <= peek_i;
    if (start) begin
      ask_q   <= ask_i[client];
      entry_q <= ask_i[client].qid;
    end
    if (state_q == StBase || state_q == StIdle) begin  // valid already, if it was peeked at
      cfg_q   <= entry_word;
      place_q <= place;
      tail_q  <= tail;
      if (entry_word.slot != '0) need_q <= slot_beats(entry_word.slot);
      else need_q <= beats;
    end
    if (state_q == StUsed) begin
      used_q    <= {1'b0, place_q.head} - {1'b0, tail_q};
      lack_q    <= {1'b0, need_q} - {1'b0, cfg_q.wrap};
      after_q   <= {1'b0, place_q.head} + {1'b0, need_q};
      to_end_q  <= cfg_q.wrap[6:0] - place_q.head[6:0];
      ring_ok_q <= place_q.head < cfg_q.wrap && tail_q < cfg_q.wrap;
      fits_q    <= ask_q.notification || ask_q.beats < need_q[6:0] || cfg_q.slot == '0;
    end
    if (state_q == StFit) begin
      address_q     <= word_q[63:3] + addr_t'(place_q.head) +
                       addr_t'(cfg_q.slot != '0 && !ask_q.notification);
      first_q       <= no_wrap ? ask_q.beats : to_end_q;
      place_d.count <= place_q.count + 16'd1;
      place_d.round <= place_q.round ^ !over[OffsetWidth];
      place_d.head  <= over[OffsetWidth] ? after_q[OffsetWidth-1:0] : over[OffsetWidth-1:0];
      if (!cfg_q.valid || !cfg_q.sources[ask_q.src] || cfg_q.slot > 3'd4 || word_q[2:0] != '0 ||
          !ring_ok_q || (cfg_q.slot != '0 && !no_wrap)) begin
        code_q <= 4'(CodeQueue);
      end else if (!fits_q) begin
        code_q <= 4'(CodeBounds);
      end else if (full) begin
        code_q <= 4'(CodeFull);
      end else begin
        code_q <= 4'(CodeNone);
      end
    end
    if (state_q == StTable && read_tail_q) begin
      word_q <= '0;
    end else if (state_q == StUsed || state_q == StTable) begin
      word_q <= word;
    end
    if (state_q == StTable) begin
      if (read_tail_q) word_q[OffsetWidth-1:0] <= tail;
      else if (read_addr_q[0]) word_q[OffsetWidth-1:0] <= place.head;
    end
  end

  assign answer_valid_o = state_q == StAnswer && !late_q ? 2'b01 << client_q : '0;
  assign rdata_o        = word_q;
  assign answer_o       = '{
      code:    code_q,
      slotted: cfg_q.slot != '0,
      phase:   !place_q.round,
      count:   place_d.count,
      first:   first_q,
      address: address_q,
      base:    word_q[63:3]
  };
  assign idle_o         = state_q == StIdle && !read_q;

  logic unused;
  assign unused = &{1'b0, entry_word.zero_46, entry_word.head, cfg_q.zero_46, cfg_q.head,
                    ask_q.qid};
endmodule
