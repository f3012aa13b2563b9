// SPDX-License-Identifier: SHL-2.1
/// crosspoint: words in order and unchanged, whole packets only, counts that are true, nothing
/// refused to a sender that keeps to the room that is reported to it. Where idle_o is high the next
/// edge changes nothing, and it is high from the third cycle on in which nothing comes and nothing
/// is taken.
module crosspoint_props
  import link_pkg::*;
#(
  parameter int unsigned Depth = 8
) (
  input logic   clk_i,
  input logic   valid_i,
  input flit_t  flit_i,
  input logic   take_i,
  input logic   pick_i,    // follow the word that is kept now
  input count_t length_i  // of the packet that begins
);
  logic rst_ni;
  count_t stored_o;
  logic refused_o, request_o, valid_o, idle_o;
  flit_t flit_o;

  crosspoint #(.Depth(Depth)) dut (.*);

  logic started_q = 1'b0;
  always_ff @(posedge clk_i) started_q <= 1'b1;
  assign rst_ni = started_q;

  // ---------------------------------------------------------------- what comes: Sop, data.., end
  logic inside_q, is_data, is_end;
  assign is_data = valid_i && flit_i.kind == FlitData;
  assign is_end  = valid_i && (flit_i.kind == FlitEop || flit_i.kind == FlitEdb);
  always_ff @(posedge clk_i) begin
    if (!rst_ni) inside_q <= 1'b0;
    else if (valid_i) inside_q <= !is_end;
  end
  always_comb begin
    if (!started_q) assume (!valid_i);
    if (valid_i) assume ((flit_i.kind == FlitSop) == !inside_q);
    if (take_i) assume (valid_o);
  end

  // ---------------------------------------------------------------- what should be stored
  // A packet that has words here has its end's place; a word that does not fit makes the end.
  logic open_q, skip_q, keep;
  flit_t kept;
  count_t count_q;
  logic fits;
  assign fits = dut.u_buffer.fits_q;
  always_comb begin
    keep = 1'b0;
    kept = flit_i;
    if (is_data && !skip_q && fits) keep = 1'b1;
    else if (is_data && !skip_q && open_q) begin
      keep = 1'b1;
      kept.kind = FlitEdb;
    end else if (is_end && open_q) keep = 1'b1;
  end
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      open_q  <= 1'b0;
      skip_q  <= 1'b0;
      count_q <= '0;
    end else begin
      if (is_end) begin
        open_q <= 1'b0;
        skip_q <= 1'b0;
      end else if (is_data && !skip_q) begin
        open_q <= fits;
        skip_q <= !fits;
      end
      count_q <= count_q + count_t'(keep) - count_t'(take_i);
    end
  end

  // ---------------------------------------------------------------- any one stored word
  // pick_i is free: the word that enters while it is up is followed to the way out.
  logic follows_q, done_q;
  count_t ahead_q;  // words that leave before it
  flit_t word_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      follows_q <= 1'b0;
      done_q    <= 1'b0;
    end else if (!follows_q && !done_q && keep && pick_i) begin
      follows_q <= 1'b1;
      word_q    <= kept;
      ahead_q   <= count_q - count_t'(take_i);
    end else if (follows_q && take_i) begin
      if (ahead_q == '0) begin
        follows_q <= 1'b0;
        done_q    <= 1'b1;
      end
      ahead_q <= ahead_q - 1'b1;
    end
  end

  // ---------------------------------------------------------------- what leaves: data.., end
  logic reading_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) reading_q <= 1'b0;
    else if (take_i) reading_q <= flit_o.kind == FlitData;
  end

  // --------------------------------------------------------------- a sender that keeps to the room
  // It begins a packet of length_i data words only with length + 1 words free a cycle before, which
  // is the newest that it can know, and sends no more.
  count_t before_q;  // words in it, but for one that was taken in the cycle before
  count_t owed_q;    // words of its packet still to come, the end included
  logic fair_q;
  always_ff @(posedge clk_i) begin
    before_q <= !rst_ni ? '0 : count_q + count_t'(keep);
    if (!rst_ni) begin
      owed_q <= '0;
      fair_q <= 1'b1;
    end else if (valid_i && flit_i.kind == FlitSop) begin
      owed_q <= length_i + 1'b1;
      fair_q <= fair_q && length_i < count_t'(Depth) &&
          before_q + length_i + 1'b1 <= count_t'(Depth);
    end else if (valid_i) begin
      owed_q <= is_end ? '0 : owed_q - 1'b1;
      if (is_data && owed_q <= count_t'(1)) fair_q <= 1'b0;
    end
  end

  // What was seen in the cycle before, and cycles since anything came or was taken.
  logic       idle_q, outs_valid_q;
  logic [1:0] still_q;
  flit_t      outs_flit_q;
  logic [$bits(count_t)+2:0] outs, outs_q;
  assign outs = {stored_o, refused_o, request_o, valid_o};
  always_ff @(posedge clk_i) begin
    idle_q       <= rst_ni && idle_o;
    outs_q       <= outs;
    outs_valid_q <= valid_o;
    outs_flit_q  <= flit_o;
    if (!rst_ni || valid_i || take_i) still_q <= '0;
    else if (still_q != '1) still_q <= still_q + 1'b1;
  end

  // Where the followed word is in the memory.
  logic [2:0] place;
  assign place = dut.u_buffer.rptr_q + 3'(ahead_q - count_t'(valid_o));

  always_comb begin
    if (started_q) begin
      // Bounds and counts.
      assert (stored_o == count_q && stored_o <= count_t'(Depth));
      assert (!(valid_o && stored_o == '0));
      // Order: the followed word is at the way out exactly when all before it have left.
      if (follows_q && ahead_q == '0 && valid_o) assert (flit_o == word_q);
      if (follows_q) assert (word_q.kind != FlitSop);
      // A request while a packet has begun and its end is not taken.
      assert (request_o == (stored_o != '0 || reading_q));
      // Idle: the next edge changes nothing.
      if (idle_o) assert (!valid_i && !take_i);
      if (idle_q) assert (outs == outs_q && (!outs_valid_q || flit_o == outs_flit_q));
      if (still_q >= 2'd2 && !valid_i && !take_i) assert (idle_o);
      // Room that was reported is kept.
      if (fair_q) assert (!refused_o && !skip_q);

      // Inductive strengthening.
      assert (open_q == dut.u_buffer.open_q && skip_q == dut.u_buffer.skip_q);
      assert (reading_q == dut.u_buffer.reading_q && !(open_q && skip_q));
      if (open_q || skip_q) assert (inside_q);
      if (open_q) assert (count_q < count_t'(Depth));
      assert (fits == (before_q + count_t'(2) <= count_t'(Depth)));
      assert (before_q == count_q || before_q == count_q + count_t'(1));
      if (follows_q) assert (ahead_q < count_q);
      assert (3'(dut.u_buffer.wptr_q - dut.u_buffer.rptr_q) == 3'(count_q - count_t'(valid_o)));
      if (follows_q && !(valid_o && ahead_q == '0))
        assert (dut.u_buffer.u_ram.mem_q[place][33:0] == word_q);
      if (fair_q && !inside_q) assert (owed_q == '0);
      if (fair_q && inside_q) begin
        assert (owed_q >= count_t'(1) && owed_q <= count_t'(Depth));
        assert (before_q + owed_q <= count_t'(Depth));
      end
      cover (count_q == count_t'(Depth) && refused_o);
      cover (done_q && fair_q && count_q == '0);
    end
  end
endmodule
