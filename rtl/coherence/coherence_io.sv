// SPDX-License-Identifier: SHL-2.1
/// A node's words beside its lines: I/O loads and stores with byte enables, interrupts between
/// processors (IPI), and barriers. Both ends of a link have one.
///
/// requests -> circuits 0 (I/O), 12 (IPI), 6 (GSYNC); answers <- circuits 1, 10 (GSDN). From the
/// far end's requests: loads and stores of the register file here, interrupts. The agent of lines
/// has the other circuits to itself, and 6 and 10 in turn (docs/explanation/cores/coherence.md)
///
///   Handshake   req: valid/ready. A load, a store and a barrier get one response with their tag,
///               without ready, in any order; an IPI gets none. event: a strobe for each store that
///               is in the register file and each IPI that came, a store's with its address, an
///               IPI's with its number. Circuits: as blocklink_core, of I/O and IPI those of link
///               0; words pass to the agent unchanged, with agent_avail_o
///   Ordering    I/O in order, and IPIs among themselves. Barrier: taken once quiet_i says that no
///               older store of a line is open; hold_o keeps younger ones back until it is sent,
///               so quiet_i stays
///   Coherence   circuits 1 and 10 are sinks
///   Latency     request to its chunk 1 cycle; the far end's request to the answer's chunk 1 cycle;
///               an answer to rsp_o 0 cycles
///   Throughput  a load in 1 cycle, a store in 1; a barrier a round trip
///   Open        32 loads and stores, one barrier
///   Window      accesses with bit 15 of their address set are none of the register file: they are
///               on window_o, and a load gets window_data_i of the same cycle
///   Parameters  NumWords: of 64 bits in the register file, a power of two, 2..1024; NumLinks 1..2;
///               Window 1: there is one
///   Not done    posted stores (IOBST), accesses of more than a word; words beyond the register
///               file wrap
module coherence_io
  import coherence_io_pkg::*;
  import coherence_node_pkg::*;
  import blocklink_pkg::NumVcs;
  import blocklink_pkg::ChunkWords;
  import blocklink_pkg::word_t;
#(
  parameter int unsigned NumWords = 64,
  parameter int unsigned NumLinks = 1,
  parameter bit          Window   = 1'b0
) (
  input  logic                     clk_i,
  input  logic                     rst_ni,
  input  io_req_t                  req_i,
  output logic                     req_ready_o,
  output io_rsp_t                  rsp_o,
  output io_event_t                event_o,
  output window_t                  window_o,
  input  logic [63:0]              window_data_i,
  input  logic                     quiet_i,
  output logic                     hold_o,
  // the circuits of the node's agent of lines
  input  circuits_t                agent_i,
  output logic [NumVcs-1:0]        agent_ready_o,
  output logic [NumLinks-1:0][NumVcs-1:0][3:0] agent_avail_o,
  input  logic [NumLinks-1:0][NumVcs-1:0][3:0] agent_pop_i,
  // the circuits of the links
  output circuits_t                circuits_o,
  input  logic [NumVcs-1:0]        ready_i,
  input  word_t [NumLinks-1:0][NumVcs-1:0][7:0] words_i,
  input  logic [NumLinks-1:0][NumVcs-1:0][3:0]  avail_i,
  output logic [NumLinks-1:0][NumVcs-1:0][3:0]  pop_o,
  output logic                     stray_o   // strobe: an answer to nothing, or an unknown message
);
  if (NumWords < 2 || NumWords > 1024 || (NumWords & (NumWords - 1)) != 0) begin : gen_words_check
    $error("coherence_io: NumWords is %0d, legal is a power of two, 2..1024", NumWords);
  end
  localparam int unsigned AddressWidth = $clog2(NumWords);

  // What this module sends, and takes.
  logic [NumVcs-1:0] own_valid, own_ready;
  logic [NumVcs-1:0][3:0] own_count;
  word_t [NumVcs-1:0][ChunkWords-1:0] own_words;
  logic [NumLinks-1:0] gsync_here, gsdn_here;

  // ---------------------------------------------------------------- requests
  // Answers come in the order of their requests, so ids count up.
  logic [7:0] tag_q [32];
  logic [5:0] sent_q, done_q;
  logic request_long, io_ready, ipi_ready, room, io_go, barrier_q, synced_q, sync_ready;
  logic [7:0] barrier_tag_q;
  io_header_t header;
  assign room = sent_q - done_q != 6'd32;
  always_comb begin
    header         = '0;
    header.opcode  = (req_i.kind == IoStore) ? OpIobsta : OpIobld;
    header.id      = sent_q[4:0];
    header.mask    = req_i.mask;
    header.address = req_i.address;
    unique case (req_i.kind)
      IoIpi:     req_ready_o = ipi_ready;
      IoBarrier: req_ready_o = !barrier_q;
      default:   req_ready_o = io_ready && room;
    endcase
  end
  assign io_go = req_i.valid && room && req_i.kind inside {IoLoad, IoStore};
  fifo #(.Width(129), .Depth(4)) u_io (
    .clk_i, .rst_ni, .clear_i(1'b0), .valid_i(io_go), .ready_o(io_ready),
    .data_i({req_i.kind == IoStore, req_i.data, header}), .valid_o(own_valid[0]),
    .ready_i(own_ready[0]), .data_o({request_long, own_words[0][1:0]}), .usage_o()
  );
  assign own_count[0] = request_long ? 4'd2 : 4'd1;
  assign own_words[0][ChunkWords-1:2] = '0;
  fifo #(.Width(64), .Depth(4)) u_ipi (
    .clk_i, .rst_ni, .clear_i(1'b0), .valid_i(req_i.valid && req_i.kind == IoIpi),
    .ready_o(ipi_ready), .data_i({OpIpi, 19'd0, req_i.address}), .valid_o(own_valid[12]),
    .ready_i(own_ready[12]), .data_o(own_words[12][0]), .usage_o()
  );
  assign own_count[12] = 4'd1;
  assign own_words[12][ChunkWords-1:1] = '0;

  // A barrier: GSYNC leaves when all stores that are older have been answered.
  assign hold_o     = barrier_q && !synced_q;
  assign own_valid[6] = hold_o && quiet_i;
  assign own_count[6] = 4'd1;
  assign own_words[6] = {512'd0, OpGsync, 59'd0};
  assign sync_ready = own_valid[6] && own_ready[6];

  // ---------------------------------------------------------------- answers
  io_header_t answer;
  logic load, got, known, gsdn;
  assign answer = words_i[0][1][0];
  assign load   = answer.opcode == OpIobrsp;
  assign got    = avail_i[0][1] >= (load ? 4'd2 : 4'd1);
  assign known  = got && answer.opcode inside {OpIobrsp, OpIoback} &&
                  answer.id == done_q[4:0] && sent_q != done_q;
  // GSDN waits a cycle where an I/O answer comes: nothing else holds it.
  always_comb begin
    gsdn = 1'b0;
    for (int unsigned l = 0; l < NumLinks; l++) begin
      gsdn_here[l] = avail_i[l][10] != '0 && words_i[l][10][0][63:59] == OpGsdn;
      if (gsdn_here[l] && !known) gsdn = 1'b1;
    end
  end
  assign rsp_o.valid = known || (gsdn && synced_q);
  assign rsp_o.tag   = known ? tag_q[done_q[4:0]] : barrier_tag_q;
  assign rsp_o.data  = words_i[0][1][1];

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {sent_q, done_q}      <= '0;
      {barrier_q, synced_q} <= '0;
    end else begin
      if (io_go && io_ready) sent_q <= sent_q + 6'd1;
      if (known) done_q <= done_q + 6'd1;
      if (req_i.valid && req_i.kind == IoBarrier && !barrier_q) barrier_q <= 1'b1;
      if (sync_ready) synced_q <= 1'b1;
      if (gsdn && synced_q) {barrier_q, synced_q} <= '0;
    end
  end
  always_ff @(posedge clk_i) begin
    if (io_go && io_ready) tag_q[sent_q[4:0]] <= req_i.tag;
    if (req_i.valid && req_i.kind == IoBarrier && !barrier_q) barrier_tag_q <= req_i.tag;
  end

  // ---------------------------------------------------------------- what the far end asks for
  word_t words_q [NumWords];
  io_header_t ask, reply;
  logic answer_long, store, wanted, asked, ipi, back_ready, gsync, gsync_gone, sync_wait_q, other;
  logic [AddressWidth-1:0] at;
  assign ask   = words_i[0][0][0];
  assign store = ask.opcode == OpIobsta;
  assign wanted = ask.opcode inside {OpIobld, OpIobsta};
  assign asked = avail_i[0][0] >= (store ? 4'd2 : 4'd1);
  assign at    = ask.address[3+:AddressWidth];
  assign other = Window && ask.address[15];
  assign ipi   = avail_i[0][12] != '0 && !(asked && back_ready && store);
  assign reply = '{opcode: store ? OpIoback : OpIobrsp, zero_55: '0, id: ask.id, zero_48: '0,
                   mask: ask.mask, address: ask.address};
  fifo #(.Width(129), .Depth(4)) u_back (
    .clk_i, .rst_ni, .clear_i(1'b0),
    .valid_i(asked && wanted), .ready_o(back_ready),
    .data_i({!store, other ? window_data_i : words_q[at], reply}), .valid_o(own_valid[1]),
    .ready_i(own_ready[1]), .data_o({answer_long, own_words[1][1:0]}), .usage_o()
  );
  assign own_count[1] = answer_long ? 4'd2 : 4'd1;
  assign own_words[1][ChunkWords-1:2] = '0;
  for (genvar b = 0; b < 8; b++) begin : gen_byte
    always_ff @(posedge clk_i) begin
      if (asked && back_ready && store && !other && ask.mask[b]) begin
        words_q[at][8*b+:8] <= words_i[0][0][1][8*b+:8];
      end
    end
  end
  assign event_o.valid   = (asked && back_ready && store && !other) || ipi;
  assign event_o.ipi     = ipi;
  assign event_o.address = ipi ? words_i[0][12][0][39:0] : ask.address;

  assign window_o = '{valid: asked && wanted && back_ready && other, write: store,
                      at: ask.address[5:3], mask: ask.mask, data: words_i[0][0][1]};

  // GSYNC came after all that it waits for was answered: it is answered at once, from a bit.
  always_comb begin
    gsync = 1'b0;
    for (int unsigned l = 0; l < NumLinks; l++) begin
      gsync_here[l] = avail_i[l][6] != '0 && words_i[l][6][0][63:59] == OpGsync;
      if (gsync_here[l]) gsync = 1'b1;
    end
  end
  assign own_valid[10] = sync_wait_q;
  assign own_count[10] = 4'd1;
  assign own_words[10] = {512'd0, OpGsdn, 59'd0};
  assign gsync_gone  = sync_wait_q && own_ready[10];
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) sync_wait_q <= 1'b0;
    else sync_wait_q <= gsync || (sync_wait_q && !gsync_gone);
  end

  assign stray_o = (got && !known) || (gsdn && !synced_q) ||
                   (asked && !wanted) ||
                   (ipi && words_i[0][12][0][63:59] != OpIpi);

  // ---------------------------------------------------------------- circuits
  for (genvar l = 0; l < int'(NumLinks); l++) begin : gen_link
    for (genvar v = 0; v < int'(NumVcs); v++) begin : gen_rx
      logic mine;
      logic [3:0] pop;
      assign mine = v inside {0, 1, 12} || (v == 6 && gsync_here[l]) || (v == 10 && gsdn_here[l]);
      assign agent_avail_o[l][v] = mine ? '0 : avail_i[l][v];
      assign pop_o[l][v]         = mine ? pop : agent_pop_i[l][v];
      always_comb begin
        pop = '0;
        if (v == 6) pop = 4'd1;
        if (v == 10) pop = {3'd0, !known};
        if (l == 0 && v == 0 && asked) begin
          pop = !wanted ? 4'd1 : !back_ready ? '0 : store ? 4'd2 : 4'd1;
        end
        if (l == 0 && v == 1 && got) pop = load ? 4'd2 : 4'd1;
        if (l == 0 && v == 12 && ipi) pop = 4'd1;
        if (l != 0 && v inside {0, 1, 12}) pop = avail_i[l][v];
      end
    end
  end
  for (genvar v = 0; v < int'(NumVcs); v++) begin : gen_tx
    if (v inside {0, 1, 12}) begin : gen_own
      assign circuits_o.valid[v] = own_valid[v];
      assign circuits_o.count[v] = own_count[v];
      assign circuits_o.words[v] = own_words[v];
      assign own_ready[v]        = ready_i[v];
      assign agent_ready_o[v]    = 1'b1;  // an agent of lines has nothing for it
    end else if (v inside {6, 10}) begin : gen_both
      logic [1:0] turn;
      arb_rr #(.NumReq(2)) u_turn (
        .clk_i, .rst_ni, .req_i({own_valid[v], agent_i.valid[v]}), .last_i(ready_i[v]),
        .gnt_o(turn), .idx_o()
      );
      assign circuits_o.valid[v] = turn != '0;
      assign circuits_o.count[v] = turn[1] ? own_count[v] : agent_i.count[v];
      assign circuits_o.words[v] = turn[1] ? own_words[v] : agent_i.words[v];
      assign own_ready[v]        = turn[1] && ready_i[v];
      assign agent_ready_o[v]    = turn[0] && ready_i[v];
    end else begin : gen_agent
      assign circuits_o.valid[v] = agent_i.valid[v];
      assign circuits_o.count[v] = agent_i.count[v];
      assign circuits_o.words[v] = agent_i.words[v];
      assign own_ready[v]        = 1'b0;
      assign agent_ready_o[v]    = ready_i[v];
      assign own_valid[v]        = 1'b0;
      assign own_count[v]        = '0;
      assign own_words[v]        = '0;
    end
  end
  logic unused;
  assign unused = ^{words_i, avail_i, answer, ask, own_valid, own_ready, own_count, own_words,
                    agent_i, agent_pop_i};
endmodule
