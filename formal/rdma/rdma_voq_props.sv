// SPDX-License-Identifier: SHL-2.1
/// rdma_voq, the side of the link: packets are whole and begin only with room, and no beat is read
/// that has not been announced, whatever is in the memory.
///
/// Both clocks are one here; the crossing is async_fifo's. One destination is watched for its
/// beats.
module rdma_voq_props
  import rdma_pkg::*;
  import rdma_tx_pkg::*;
  import link_pkg::*;
#(
  localparam int unsigned NumHosts = 2,
  localparam int unsigned Beats    = 128,
  localparam int unsigned MaxLinkWords = 20,
  localparam int unsigned RoomNeed = MaxLinkWords + 3
) (
  input logic        clk_i,
  input logic        valid_i,
  input announce_t   announce_i,
  input logic        write_i,
  input voq_beat_t   beat_i,
  input logic        departure_ready_i,
  input logic        bench_i,
  input logic [31:0] stamp_i,
  input logic        enable_i,
  input logic        up_i,
  input count_t [NumHosts-1:0] room_i,
  input logic        tx_ready_i
);
  localparam logic Watch = 1'b1;

  logic rst_ni, link_clk_i, link_rst_ni, ready_o, departure_valid_o, tx_valid_o, idle_o;
  sent_t sent_o;
  departure_t departure_o;
  flit_t tx_flit_o;
  assign link_clk_i  = clk_i;
  assign link_rst_ni = rst_ni;

  rdma_voq #(
    .NumHosts    (NumHosts),
    .Beats       (Beats),
    .MaxLinkWords(MaxLinkWords)
  ) dut (
    .*
  );

  logic started_q = 1'b0;
  always_ff @(posedge clk_i) started_q <= 1'b1;
  assign rst_ni = started_q;

  // ---------------------------------------------------------------- the line
  logic  inside_q, valid_q, ready_q;
  flit_t flit_q;
  count_t [NumHosts-1:0] room_q;
  logic  up_q, room_known_q;
  logic  take;
  assign take = tx_valid_o && tx_ready_i;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      inside_q <= 1'b0;
    end else if (take) begin
      inside_q <= tx_flit_o.kind == FlitSop || tx_flit_o.kind == FlitData;
    end
    valid_q <= started_q && tx_valid_o;
    ready_q <= tx_ready_i;
    flit_q  <= tx_flit_o;
    // Two cycles before the Sop shows.
    room_q       <= room_i;
    up_q         <= up_i;
    room_known_q <= started_q;
  end
  logic [NumHosts-1:0] could_q;
  logic enabled_q, departure_room_q, ended_q;
  always_ff @(posedge clk_i) begin
    departure_room_q <= started_q && dut.departure_room;
    ended_q          <= dut.ended;
    for (int i = 0; i < int'(NumHosts); i++) begin
      could_q[i] <= up_q && room_known_q && room_q[i] >= count_t'(RoomNeed);
    end
    enabled_q <= dut.enable_q;
  end

  // ------------------------------------------------------------ beats of the watched destination
  logic [7:0] ahead_q;   // announced and not read
  logic [7:0] packet_q;  // read of the packet in progress
  logic told, read, here;
  assign told = dut.token_take && dut.token_flow == Watch;
  assign read = dut.fetch && dut.fetch_flow == Watch;
  assign here = dut.busy_q && dut.flow_q == Watch;
  always_ff @(posedge clk_i) begin
    if (!rst_ni || dut.rclear_q) begin
      ahead_q  <= '0;
      packet_q <= '0;
    end else begin
      ahead_q <= ahead_q + (told ? 8'(dut.token.beats) : '0) - 8'(read);
      if (dut.ended && here) packet_q <= '0;
      else if (read) packet_q <= packet_q + 8'd1;
    end
  end

  always_comb begin
    if (started_q) begin
      // A destination that there is; and there is room: what is read is freed when its packet has
      // left.
      assume (announce_i.flow < flow_t'(NumHosts));
      if (told) begin
        assume (dut.token.beats >= 4'd1 && dut.token.beats <= 4'd8);
        assume (9'(ahead_q) + 9'(packet_q) + 9'(dut.token.beats) <= 9'(Beats));
      end

      // A packet has more than one beat, and its first carries something.
      if (dut.load && (dut.start || dut.fresh)) assume (!dut.rdata.last && !dut.rdata.bad);

      // A place in async_fifo does not go but by a word that is put there.
      if (departure_room_q && !ended_q) assume (dut.departure_room);

      // An offer is held.
      if (valid_q && !ready_q) assert (tx_valid_o && tx_flit_o == flit_q);
      // Sop outside a packet, words and ends inside.
      if (tx_valid_o) assert ((tx_flit_o.kind == FlitSop) == !inside_q);
      // A Sop names a destination that there is, and that had room while the link was up.
      if (tx_valid_o && !(valid_q && !ready_q) && tx_flit_o.kind == FlitSop) begin
        assert (tx_flit_o.data < 32'(NumHosts));
        assert (could_q[tx_flit_o.data[0]] && enabled_q);
      end
      // No beat is read that was not announced.
      if (read) assert (ahead_q != '0 || told);
      // What has been announced is requested.
      if (!dut.rclear_q && ahead_q != '0 && !here) assert (dut.waiting_q[Watch]);
      // Each packet that ends leaves one word for the host, and there is a place for it.
      if (dut.ended) assert (dut.departure_room);

      // Inductive strengthening.
      if (!dut.rclear_q) begin
        assert (9'(ahead_q) + 9'(packet_q) <= 9'(Beats));
        assert (7'(dut.there_q[Watch] - dut.rplace_q[Watch]) == ahead_q[6:0]);
        assert (!dut.waiting_q[Watch] || ahead_q != '0 || here);
        assert (here ? packet_q != '0 : packet_q == '0);
      end else begin
        assert (!dut.busy_q && dut.waiting_q == '0 && !tx_valid_o);
      end
      assert (!dut.last_q || (dut.busy_q && !dut.have_q));
      assert (!dut.have_q || dut.busy_q);
      assert (!dut.read_q || (dut.busy_q && !dut.last_q &&
                              !(dut.have_q && (dut.beat_q.last || dut.beat_q.bad))));
      assert (!dut.high_q || (dut.have_q && !dut.beat_q.bad && dut.word_q != '0));
      if (dut.busy_q) assert (dut.word_q <= 4'd8);
      // The first beat is there, or comes out of the memory; it is the only one that can be put
      // from there.
      if (dut.busy_q && dut.word_q == '0) begin
        assert ((dut.have_q || dut.read_q) && !dut.last_q);
        if (dut.have_q) assert (!dut.beat_q.last && !dut.beat_q.bad);
      end
      if (dut.busy_q) begin
        assert (dut.departure_room);
        if (dut.drop_q) assert (!tx_valid_o && !inside_q);
        else if (tx_valid_o) assert (tx_flit_o.kind == FlitSop || tx_flit_o.kind == FlitData);
        else assert (inside_q);
      end else if (tx_valid_o) begin
        assert (tx_flit_o.kind == FlitEop || tx_flit_o.kind == FlitEdb);
      end else begin
        assert (!inside_q);
      end
      cover (take && tx_flit_o.kind == FlitEop);
      cover (take && tx_flit_o.kind == FlitEdb);
      cover (sent_o.dropped);
    end
  end
endmodule
