// SPDX-License-Identifier: SHL-2.1
/// The queues of one link, one for each destination: written in the host's clock, sent in the
/// link's.
///
/// A packet is two beats or more, up to one with last; it may begin to leave when its first beat is
/// announced. A beat with bad, never the first, carries nothing: the packet ends there as EDB.
/// Destinations go in turn, by packet.
///
///   Handshake   a beat is announced: announce_i is taken with valid_i and ready_o; beat_i is
///               written in one of the two cycles behind. The link reads a beat more than two of
///               its cycles after it was announced, and its clock is slower than the host's: so the
///               beat is in the memory by then. The packets of all queues come one after the other.
///               There must be room: rdma_spread counts it. departure_*: each packet that has left,
///               host's clock. tx_*: Sop, data, end of link_port
///   Ordering    the packets of a queue leave in order; nothing comes between a Sop and its end
///   Latency     from a packet's first valid_i to its Sop 2 link cycles of crossing and 1, 3 where
///               others wait
///   Throughput  one beat a host cycle in, one word a link cycle out, no dead cycle between packets
///   Credit      a packet begins only with up_i and room for MaxWords + 1 words at the far end,
///               words on their way to room_i allowed for (RoomLag as in crossbar_output)
///   Fairness    between a packet that can go and its Sop at most NumHosts - 1 others begin
///   Drop        with enable_i low packets are taken out and dropped
///   Bench       word 7 of a write becomes stamp_i of its Sop; crc24 takes words 4 and 5 as 0
///   Parameters  NumHosts 2..8, Beats of a queue, a power of two 128..1024, MaxWords, RoomLag
///   Not done    any look at what is in a packet but for its length and number
module rdma_voq
  import rdma_pkg::*;
  import rdma_tx_pkg::*;
  import link_pkg::*;
#(
  parameter int unsigned NumHosts = 8,
  parameter int unsigned Beats    = 1024,
  parameter int unsigned MaxLinkWords = rdma_pkg::MaxWords,
  parameter int unsigned RoomLag  = 1
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        link_clk_i,
  input  logic        link_rst_ni,

  // Host's clock.
  input  logic        valid_i,
  output logic        ready_o,
  input  announce_t   announce_i,
  input  logic        write_i,       // a cycle later: what was announced
  input  voq_beat_t   beat_i,
  output logic        departure_valid_o,
  input  logic        departure_ready_i,
  output departure_t  departure_o,

  // Link's clock.
  input  logic        bench_i,
  input  logic [31:0] stamp_i,
  input  logic        enable_i,
  input  logic        up_i,
  input  count_t [NumHosts-1:0] room_i,
  output logic        tx_valid_o,
  input  logic        tx_ready_i,
  output flit_t       tx_flit_o,
  output sent_t       sent_o,

  output logic        idle_o         // both clocks: nothing changes until an input does
);
  localparam int unsigned PlaceWidth = $clog2(Beats);
  localparam int unsigned FlowWidth  = $clog2(NumHosts);
  localparam int unsigned RoomNeed   = MaxLinkWords + 1 + RoomLag + 1;
  typedef logic [PlaceWidth-1:0] place_t;

  if (NumHosts < 2 || NumHosts > MaxHosts) begin : gen_hosts_check
    $error("rdma_voq: NumHosts is %0d, legal is 2..%0d", NumHosts, MaxHosts);
  end
  if (Beats < 128 || Beats > 1024 || (Beats & (Beats - 1)) != 0) begin : gen_beats_check
    $error("rdma_voq: Beats is %0d, legal is a power of two, 128..1024", Beats);
  end
  if (RoomNeed > DepthMax) begin : gen_words_check
    $error("rdma_voq: MaxWords is %0d, legal is 1..%0d", MaxLinkWords, DepthMax - RoomLag - 2);
  end

  typedef struct packed {
    logic  bad;
    logic  last;
    beat_t data;
  } entry_t;

  // ---------------------------------------------------------------- host's clock
  voq_token_t token, token_in;
  logic tell, token_valid, token_ready, token_settled, write_idle;
  logic [FlowWidth+PlaceWidth-1:0] waddr;

  rdma_voq_write #(
    .NumHosts(NumHosts),
    .Beats   (Beats)
  ) u_write (
    .clk_i,
    .rst_ni,
    .valid_i,
    .ready_o,
    .announce_i,
    .tell_o       (tell),
    .token_ready_i(token_ready),
    .token_o      (token_in),
    .write_i,
    .write_flow_i (beat_i.flow),
    .address_o    (waddr),
    .idle_o       (write_idle)
  );

  async_fifo #(
    .Width($bits(voq_token_t)),
    .Depth(16)
  ) u_tokens (
    .wclk_i   (clk_i),
    .wrst_ni  (rst_ni),
    .wvalid_i (tell),
    .wready_o (token_ready),
    .wdata_i  (token_in),
    .rclk_i   (link_clk_i),
    .rrst_ni  (link_rst_ni),
    .rvalid_o (token_valid),
    .rready_i (1'b1),
    .rdata_o  (token),
    .settled_o(token_settled)
  );

  // ---------------------------------------------------------------- link's clock: what is there
  typedef logic [FlowWidth-1:0] local_flow_t;
  place_t there_q [NumHosts];  // behind the last beat that was announced
  place_t rplace_q[NumHosts];  // next beat to fetch
  logic   rclear_q;
  local_flow_t rclear_flow_q, token_flow, pick_flow, choice_flow, flow_q, fetch_flow;
  logic [FlowWidth+PlaceWidth-1:0] raddr;
  logic [NumHosts-1:0] waiting_q, room, room_q, request, after_q, first;
  logic [NumHosts-1:0] first_pick, any_pick, pick, choice, chosen_q, began;
  local_flow_t chosen_flow_q;
  logic   token_take, direct, choose, start, start_chosen, start_now, fetch, read, fetched_all;
  logic   ended, fresh, told;

  // The far half of a flow's number is not needed where there are fewer hosts.
  logic unused_flow;
  assign unused_flow = ^token.flow;
  assign token_flow  = token.flow[FlowWidth-1:0];
  assign token_take  = token_valid && !rclear_q;

  always_ff @(posedge link_clk_i or negedge link_rst_ni) begin
    if (!link_rst_ni) begin
      rclear_q      <= 1'b1;
      rclear_flow_q <= '0;
    end else begin
      rclear_flow_q <= rclear_flow_q + local_flow_t'(rclear_q);
      if (32'(rclear_flow_q) == NumHosts - 1) rclear_q <= 1'b0;
    end
  end
  always_ff @(posedge link_clk_i) begin
    // Write address and data do not depend on the write enable, which is late.
    if (rclear_q || token_take) begin
      there_q[rclear_q ? rclear_flow_q : token_flow] <=
          rclear_q ? '0 : there_q[token_flow] + place_t'(token.beats);
    end
    if (rclear_q || fetch) begin
      rplace_q[rclear_q ? rclear_flow_q : fetch_flow] <=
          rclear_q ? '0 : rplace_q[fetch_flow] + 1'b1;
    end
  end

  // ---------------------------------------------------------------- arbitration
  logic enable_q, enable_sync, departure_room, busy_q, move;
  logic enable_settled;
  sync_bits u_enable (
    .clk_i    (link_clk_i),
    .rst_ni   (link_rst_ni),
    .d_i      (enable_i),
    .q_o      (enable_sync),
    .settled_o(enable_settled)
  );

  for (genvar i = 0; i < int'(NumHosts); i++) begin : gen_room
    assign room[i] = up_i && room_i[i] >= count_t'(RoomNeed);
  end

  assign request = waiting_q & (room_q | {NumHosts{!enable_q}});
  assign first   = request & after_q;
  arb_fixed #(.NumReq(NumHosts)) u_first (.req_i(first), .gnt_o(first_pick));
  arb_fixed #(.NumReq(NumHosts)) u_any (.req_i(request), .gnt_o(any_pick));
  assign pick = first != '0 ? first_pick : any_pick;
  // If nothing waits, a token's flow is chosen at once, and begins at once if no packet is in
  // progress.
  assign direct      = waiting_q == '0 && token_take;
  assign choice      = direct ? NumHosts'(1) << token_flow : pick;
  assign choice_flow = direct ? token_flow : pick_flow;
  assign began       = direct ? choice : chosen_q;
  // Chosen a cycle ahead, while nothing is under way or a packet ends; its first beat is read with
  // it. What has changed since is seen at the start.
  always_ff @(posedge link_clk_i or negedge link_rst_ni) begin
    if (!link_rst_ni) chosen_q <= '0;
    else if (choose) chosen_q <= choice;
  end
  always_ff @(posedge link_clk_i) begin
    if (choose) chosen_flow_q <= choice_flow;
  end
  always_comb begin
    pick_flow = '0;
    for (int unsigned i = 0; i < NumHosts; i++) begin
      if (pick[i]) pick_flow = pick_flow | local_flow_t'(i);
    end
  end

  // ---------------------------------------------------------------- one packet
  entry_t rdata, beat_q;
  logic   read_q, have_q;  // the memory's word is the next beat; beat_q is the present one
  logic   load, high_q, last_q, drop_q, put_first, put_low, put_high, put_end, put_bad, valid_q;
  flit_t  flit_q, flit_d;
  logic [3:0]  word_q;     // data words so far, up to 8
  logic [31:0] stamp_q, word;
  logic [23:0] crc_q, crc, crc_d;
  logic   word_put_q;      // flit_q has a word that crc_q lacks
  logic   blank_q;         // which counts as 0
  logic   write_q;         // this packet is a write

  assign move     = !valid_q || tx_ready_i;
  assign start_chosen = !busy_q && move && (chosen_q & request) != '0 && departure_room &&
                        !rclear_q;
  assign start_now    = !busy_q && move && direct && (room_q[token_flow] || !enable_q) &&
                        departure_room;
  assign start    = start_chosen || start_now;
  // Its first beat comes out of the memory behind the Sop: neither the last nor bad, so it goes at
  // once.
  assign fresh     = busy_q && read_q && !have_q && word_q == '0;
  assign put_first = fresh && move;
  assign put_bad  = busy_q && have_q && !high_q && beat_q.bad && move;
  assign put_low  = put_first || (busy_q && have_q && !high_q && !beat_q.bad && move);
  assign put_high = busy_q && have_q && high_q && move;
  assign put_end  = busy_q && last_q && move;
  assign ended    = put_end || put_bad;

  assign fetched_all = rplace_q[flow_q] == there_q[flow_q];
  assign told        = token_take && token_flow == flow_q;
  assign choose      = !busy_q || last_q || (have_q && beat_q.bad);
  assign fetch_flow  = busy_q ? flow_q : direct ? token_flow : chosen_flow_q;
  assign read        = !choose && (!read_q || fresh) &&
                       (!fetched_all || told) && !(have_q && beat_q.last);
  assign fetch       = start || read;
  // Each flow's place is looked up before the flow is chosen: the memory is far from all of them.
  always_comb begin
    if (!choose) raddr = {flow_q, rplace_q[flow_q]};
    else if (direct) raddr = {token_flow, rplace_q[token_flow]};
    else raddr = {pick_flow, rplace_q[pick_flow]};
  end
  assign load        = start_chosen || (read_q && (!have_q || put_high));

  ram_2clk #(
    .Width($bits(entry_t)),
    .Depth(NumHosts * Beats)
  ) u_ram (
    .wclk_i (clk_i),
    .we_i   (write_i),
    .waddr_i(waddr),
    .wdata_i({beat_i.bad, beat_i.last, beat_i.data}),
    .rclk_i (link_clk_i),
    .re_i   (choose || read),
    .raddr_i(raddr),
    .rdata_o(rdata)
  );

  assign word = (write_q && word_q == 4'd7) ? stamp_q
              : !have_q ? rdata.data[31:0] : high_q ? beat_q.data[63:32] : beat_q.data[31:0];
  // The check sum is one word behind, from the register that leaves.
  link_crc24 u_crc (.crc_i(crc_q), .data_i(blank_q ? '0 : flit_q.data), .crc_o(crc));
  assign crc_d = word_put_q ? crc : crc_q;

  always_comb begin
    flit_d = '{kind: FlitData, data: word};
    if (!busy_q) flit_d = '{kind: FlitSop, data: 32'(direct ? token_flow : chosen_flow_q)};
    else if (last_q) flit_d = '{kind: FlitEop, data: {8'd0, ~crc_d}};
    else if (have_q && beat_q.bad) flit_d = '{kind: FlitEdb, data: {8'd0, ~crc_d}};
  end

  // The first beat has number, length and kind.
  header_t header;
  logic    first_word;
  assign header     = beat_q.data;
  assign first_word = put_high && word_q == 4'd1;
  departure_t leaving_q, leaving;
  logic  sent_q, dropped_q;
  flow_t sent_flow_q;
  seq_t  sent_seq_q;
  assign leaving.control = header.kind == KindControl;
  assign leaving.seq     = header.seq[6:0];
  assign leaving.beats   = header.beats + (header.kind == KindShort ? beats_t'(1)
                                         : header.extended ? beats_t'(MaxHeaderBeats)
                                                           : beats_t'(HeaderBeats));
  assign leaving.flow    = flow_t'(flow_q);
  logic unused_header;
  assign unused_header = ^header;

  always_ff @(posedge link_clk_i or negedge link_rst_ni) begin
    if (!link_rst_ni) begin
      waiting_q <= '0;
      after_q   <= '0;
      busy_q    <= 1'b0;
      valid_q   <= 1'b0;
      read_q    <= 1'b0;
      have_q    <= 1'b0;
      high_q    <= 1'b0;
      last_q    <= 1'b0;
      drop_q    <= 1'b0;
      enable_q  <= 1'b0;
      room_q    <= '0;
      dropped_q <= 1'b0;
      sent_q    <= 1'b0;
    end else begin
      enable_q  <= enable_sync;
      room_q    <= room;
      dropped_q <= ended && drop_q;
      sent_q    <= first_word && !drop_q;
      if (ended) waiting_q[flow_q] <= !fetched_all;
      if (token_take) waiting_q[token_flow] <= 1'b1;
      if (move) begin
        valid_q <= start ? enable_q : !drop_q && (put_low || put_high || ended);
      end
      if (start) begin
        busy_q  <= 1'b1;
        drop_q  <= !enable_q;
        after_q <= ~(began | (began - 1'b1));
      end else if (ended) begin
        busy_q <= 1'b0;
      end
      read_q <= start_now || read || (read_q && !load);
      if (load) have_q <= 1'b1;
      else if (put_high || put_bad) have_q <= 1'b0;
      if (put_low) high_q <= 1'b1;
      else if (put_high) high_q <= 1'b0;
      if (put_high && beat_q.last) last_q <= 1'b1;
      else if (put_end) last_q <= 1'b0;
    end
  end

  always_ff @(posedge link_clk_i) begin
    if (load) beat_q <= rdata;
    if (move) begin
      flit_q     <= flit_d;
      crc_q      <= busy_q ? crc_d : Crc24Init;
      word_put_q <= put_low || put_high;
      blank_q    <= bench_i && (word_q == 4'd4 || word_q == 4'd5);
    end
    if (start) begin
      flow_q  <= fetch_flow;
      word_q  <= '0;
      write_q <= 1'b0;
      stamp_q <= stamp_i;
    end else if (put_low || put_high) begin
      if (word_q != 4'd8) word_q <= word_q + 4'd1;
    end
    if (valid_q && tx_ready_i && flit_q.kind == FlitSop) stamp_q <= stamp_i;
    if (first_word) begin
      leaving_q   <= leaving;
      sent_seq_q  <= header.seq;
      sent_flow_q <= flow_t'(flow_q);
      // A write with its data inline is tagged as a message, and has no stamps.
      write_q     <= bench_i && header.kind == KindWrite && !header.tag[7];
    end
  end

  assign tx_valid_o = valid_q;
  assign tx_flit_o  = flit_q;
  assign sent_o     = '{valid: sent_q, flow: sent_flow_q, seq: sent_seq_q, dropped: dropped_q};

  // ---------------------------------------------------------------- departures
  logic departure_settled;
  async_fifo #(
    .Width($bits(departure_t)),
    .Depth(8)
  ) u_departures (
    .wclk_i   (link_clk_i),
    .wrst_ni  (link_rst_ni),
    .wvalid_i (ended),
    .wready_o (departure_room),
    .wdata_i  (leaving_q),
    .rclk_i   (clk_i),
    .rrst_ni  (rst_ni),
    .rvalid_o (departure_valid_o),
    .rready_i (departure_ready_i),
    .rdata_o  (departure_o),
    .settled_o(departure_settled)
  );

  assign idle_o = token_settled && departure_settled && write_idle && !rclear_q &&
                  !(choose && chosen_q != choice) && !start &&
                  !(busy_q && (read || (read_q && !have_q) || ((have_q || last_q) && move))) &&
                  !(valid_q && tx_ready_i) && !dropped_q && !sent_q &&
                  enable_settled && enable_q == enable_i && room_q == room;
endmodule
