// SPDX-License-Identifier: SHL-2.1
/// rdma_message_queues: a queue is ready exactly while it has a whole message that was not taken,
/// whatever comes in the cycles around the last one's end; a write is taken only in its place, and
/// never over what was not given back; every other one is reported. What is read is what was
/// written, byte by byte.
///
/// One destination is watched, any. The host writes anything, in any parts of a beat. The
/// reader takes what was whole a cycle before, and not twice in a row: rdma_send reads it first.
module rdma_message_queues_props
  import rdma_pkg::*;
(
  input logic        clk_i,
  input logic        run_i,
  input logic        we_i,
  input logic [10:0] addr_i,
  input beat_t       data_i,
  input logic [7:0]  strb_i,
  input logic        last_i,
  input logic        freed_i,
  input flow_t       freed_flow_i,
  input logic [8:0]  freed_count_i,
  input flow_t       flow_i,
  input logic        re_i,
  input logic [10:0] raddr_i,
  input logic        advance_i,
  input logic [6:0]  size_i
);
  typedef logic [8:0] position_t;
  localparam position_t Ring = 9'(MessageBeats);

  // Never assigned another value: any destination; a byte of its ring, any.
  flow_t watch_q;
  logic [2:0] lane_q;
  logic [7:0] place_q;
  always_ff @(posedge clk_i) begin
    watch_q   <= watch_q;
    lane_q  <= lane_q;
    place_q <= place_q;
  end

  logic rst_ni, clear_i, coming_o, posted_o, bad_o;
  flow_t clear_flow_i, coming_flow_o, posted_flow_o;
  logic [7:0] ready_o, place_o;
  logic [6:0] number_o;
  beat_t rdata_o;
  rdma_message_queues dut (.*);

  // Reset, then the watched destination is cleared, then all begins.
  logic started_q = 1'b0;
  logic live_q = 1'b0;
  always_ff @(posedge clk_i) begin
    started_q <= 1'b1;
    live_q    <= started_q;
  end
  assign rst_ni       = started_q;
  assign clear_i      = started_q && !live_q;
  assign clear_flow_i = watch_q;

  // ---------------------------------------------------------------- what the host has written
  // Positions: of the next beat, behind the last whole message, of the next one to take,
  // of what was given back.
  position_t  at_q, whole_q, read_q, freed_q;
  // beats that the message begun still needs; of a header in parts, what it has said
  logic [6:0] rest_q;
  logic       body_q;   // its header is whole
  logic       here, taken, ends, commit;
  logic [6:0] said, number_q;
  assign here   = we_i && addr_i[10:8] == watch_q;
  assign taken  = here && run_i && addr_i[7:0] == at_q[7:0] && position_t'(at_q - freed_q) != Ring;
  assign ends   = taken && strb_i[7];  // a beat
  assign said   = body_q ? rest_q : strb_i[0] ? data_i[6:0] : rest_q;
  assign commit = ends && (body_q ? rest_q == 7'd1 : said == '0);

  // ---------------------------------------------------------------- and what was taken
  logic advance, give;
  assign advance = advance_i && flow_i == watch_q;
  assign give    = freed_i && freed_flow_i == watch_q;

  always_ff @(posedge clk_i) begin
    if (!live_q) begin
      {at_q, whole_q, read_q, freed_q, rest_q, body_q, number_q} <= '0;
    end else begin
      if (taken && !body_q) rest_q <= said;
      if (ends) begin
        at_q   <= at_q + 9'd1;
        rest_q <= body_q ? rest_q - 7'd1 : said;
        body_q <= !commit;
      end
      if (commit) whole_q <= at_q + 9'd1;
      if (advance) begin
        read_q   <= read_q + position_t'(size_i) + 9'd1;
        number_q <= number_q + 7'd1;
      end
      if (give) freed_q <= freed_count_i;
    end
  end

  position_t ready;  // beats of whole messages
  assign ready = whole_q - read_q;

  // ---------------------------------------------------------------- a byte of the memory
  logic       written_q, read_it_q;
  logic [7:0] byte_q, seen_q;
  logic       writes;
  assign writes = taken && addr_i[7:0] == place_q && strb_i[lane_q];
  always_ff @(posedge clk_i) begin
    if (!live_q) written_q <= 1'b0;
    else if (writes) {written_q, byte_q} <= {1'b1, data_i[8*lane_q+:8]};
    // Read in the cycle of its write it may be anything.
    if (!live_q) begin
      read_it_q <= 1'b0;
    end else if (re_i) begin
      read_it_q <= written_q && !writes && raddr_i == {watch_q, place_q};
      seen_q    <= byte_q;
    end
  end

  // ---------------------------------------------------------------- a clock ago
  logic      was_live_q, here_q, wrote_q, commit_q, refused_q, advance_q, ready_q;
  flow_t     flow_q;
  position_t before_q;  // whole_q - read_q
  always_ff @(posedge clk_i) begin
    was_live_q <= live_q;
    here_q     <= live_q && here;
    wrote_q    <= live_q && we_i;
    commit_q   <= live_q && commit;
    refused_q  <= live_q && here && run_i && strb_i != '0 && !taken;
    advance_q  <= live_q && advance;
    ready_q    <= ready_o[watch_q];
    flow_q     <= flow_i;
    before_q   <= ready;
  end

  always_comb begin
    // The group of beats that the memory watches has the byte.
    assume (dut.u_ram.watch_q == {watch_q, place_q[7:2]});
    if (started_q && !live_q) assume (!run_i && !advance_i && !freed_i);
    if (live_q) begin
      if (advance) begin
        assume (was_live_q && !advance_q && flow_q == watch_q && ready_q);
        assume (position_t'(size_i) < before_q);
      end
      if (give) assume (position_t'(freed_count_i - freed_q) <= position_t'(read_q - freed_q));

      // Ready is what has a whole message that was not taken: no wake-up is lost,
      // and none comes for nothing.
      assert (ready_o[watch_q] == (whole_q != read_q));
      if (flow_i == watch_q) assert (place_o == read_q[7:0] && number_o == number_q);
      // Of a ring no more is written than was given back.
      assert (position_t'(at_q - freed_q) <= Ring);
      if (here) assert (dut.take == taken);
      if (was_live_q) begin
        assert ((posted_o && posted_flow_o == watch_q) == commit_q);
        if (here_q || !wrote_q) assert (bad_o == refused_q && posted_o == commit_q);
      end
      // The end of a message is announced in its cycle, for the lookup that begins then.
      // So is its last beat but one, if the burst goes on.
      if (commit && body_q) assert (coming_o && coming_flow_o == watch_q);
      if (here) begin
        assert (coming_flow_o == watch_q);
        assert (coming_o == (strb_i[7] && ((body_q && rest_q == 7'd1) || (!last_i &&
                             (body_q ? rest_q == 7'd2 : said == 7'd1)))));
      end
      if (!we_i) assert (!coming_o);
      if (read_it_q) assert (rdata_o[8*lane_q+:8] == seen_q);

      // Inductive strengthening.
      if (written_q && dut.u_ram.watch_q == {watch_q, place_q[7:2]})
        assert (dut.u_ram.words_q[place_q[1:0]][8*lane_q+:8] == byte_q);
      assert (position_t'(read_q - freed_q) <= position_t'(whole_q - freed_q));
      assert (position_t'(whole_q - freed_q) <= position_t'(at_q - freed_q));
      assert (body_q ? rest_q != '0 : whole_q == at_q);
      assert (dut.write_q[watch_q] == {body_q, rest_q, at_q} && dut.there_q[watch_q] == whole_q);
      assert (dut.read_q[watch_q] == {number_q, read_q} && dut.freed_q[watch_q] == freed_q);
      if (was_live_q && flow_q == watch_q && !advance_q)
        assert (dut.left_q == position_t'(before_q - 9'd1));
      if (was_live_q && !advance_q) assert (commit_q ? before_q < ready : before_q == ready);
      if (was_live_q) assert (ready_q == (before_q != '0));

      // The last one is taken in the cycle in which the next one ends; a cycle later;
      // and when none follows.
      cover (advance && commit && position_t'(size_i) + 9'd1 == before_q);
      cover (advance && commit_q && position_t'(size_i) + 9'd1 == before_q);
      cover (advance_q && !ready_o[watch_q] && body_q && number_q == 7'd2);
    end
  end
endmodule
