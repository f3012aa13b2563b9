// SPDX-License-Identifier: SHL-2.1
/// coherence_axi: every AR has its len + 1 beats, the last one marked, every AW one B, not before
/// its lines are stored; an operation's tag is not open; an answer is taken in its cycle, whatever
/// AXI's readys do. Any master that holds what it offers, and a cache that answers what is open, in
/// any order. Lines of 16 bytes, two places of each kind, one stream.
module coherence_axi_props
  import coherence_axi_pkg::*;
  import coherence_atomic_pkg::*;
(
  input logic              clk_i,
  input logic              awvalid_i,
  input logic              awid_i,
  input axi_pkg::address_t aw_i,
  input logic [5:0]        awatop_i,
  input logic              wvalid_i,
  input logic [63:0]       wdata_i,
  input logic [7:0]        wstrb_i,
  input logic              bready_i,
  input logic              arvalid_i,
  input logic              arid_i,
  input axi_pkg::address_t ar_i,
  input logic              rready_i,
  input logic              core_ready_i,
  input logic              core_rsp_valid_i,
  input logic [7:0]        core_rsp_tag_i,
  input logic              core_rsp_error_i,
  input logic [127:0]      core_rsp_data_i
);
  logic rst_ni = 1'b0;
  always_ff @(posedge clk_i) rst_ni <= 1'b1;

  logic awready_o, wready_o, bvalid_o, bid_o, arready_o, rvalid_o, rid_o, rlast_o, core_valid_o;
  logic core_write_o;
  logic [1:0] bresp_o, rresp_o;
  logic [63:0] rdata_o;
  logic [8:0] core_index_o;
  logic [7:0] core_tag_o;
  logic [15:0] core_mask_o;
  logic [127:0] core_data_o;
  atomic_t core_atomic_o;
  coherence_axi #(
    .DataWidth(64), .LineBytes(16), .IdWidth(1), .AddrWidth(13), .NumReads(2), .NumStores(2),
    .NumBursts(2), .Streams(1)
  ) dut (.*);

  // ---------------------------------------------------------------- a burst in its line
  // Beats of 8 bytes, or one place for all of them: refused, FIXED.
  function automatic logic sound(walk_t w);
    logic power;
    power = 1'b0;
    for (int k = 4; k <= 7; k++) if (w.span == offset_t'((1 << k) - 1)) power = 1'b1;
    return w.span == '0 || w.left == '0 ||
           (w.size == 3'd3 && (w.span == '1 || (power && w.at[2:0] == '0)));
  endfunction
  /// Its beats from this one on that are in the line of this one.
  function automatic logic [8:0] beats(walk_t w);
    logic [8:0] rest, here;
    rest = 9'(w.left) + 9'd1;
    here = w.at[3] ? 9'd1 : 9'd2;
    return w.span >= 12'd16 && here < rest ? here : rest;
  endfunction
  function automatic logic final_line(walk_t w);
    return beats(w) == 9'(w.left) + 9'd1;
  endfunction

  // ---------------------------------------------------------------- what is owed
  logic ar, aw, r, b, change;
  assign ar     = arvalid_i && arready_o;
  assign aw     = awvalid_i && awready_o;
  assign r      = rvalid_o && rready_i;
  assign b      = bvalid_o && bready_i;
  assign change = dut.open_read && dut.gnt[1];
  logic [3:0] reads_q, writes_q;
  logic more_q;
  logic [7:0] next_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      reads_q  <= '0;
      writes_q <= '0;
      more_q   <= 1'b0;
    end else begin
      reads_q  <= reads_q + 4'(ar) + 4'(change) - 4'(r && rlast_o);
      writes_q <= writes_q + 4'(aw) - 4'(b);
      if (r) begin
        more_q <= !rlast_o;
        next_q <= dut.walk.left - 8'd1;
      end
    end
  end

  // ---------------------------------------------------------------- the cache
  logic [1:0] open_load, open_store;  // operations without their answer
  logic [1:0] load_q, store_q;
  logic taken;
  assign taken = core_valid_o && core_ready_i;
  always_comb begin
    open_load  = load_q;
    open_store = store_q;
    if (core_rsp_valid_i && !core_rsp_tag_i[7]) open_load[core_rsp_tag_i[0]] = 1'b0;
    if (core_rsp_valid_i && core_rsp_tag_i[7]) open_store[core_rsp_tag_i[0]] = 1'b0;
    if (taken && !core_tag_o[7]) open_load[core_tag_o[0]] = 1'b1;
    if (taken && core_tag_o[7]) open_store[core_tag_o[0]] = 1'b1;
  end
  always_ff @(posedge clk_i) begin
    load_q  <= rst_ni ? open_load : '0;
    store_q <= rst_ni ? open_store : '0;
  end

  // ---------------------------------------------------------------- a clock ago
  logic r_held_q, b_held_q, core_held_q, ar_held_q, aw_held_q, w_held_q;
  logic [68:0] r_q;
  logic [2:0] b_q;
  logic [9:0] core_q;
  logic [82:0] ar_q;
  logic [88:0] aw_q;
  always_ff @(posedge clk_i) begin
    r_held_q    <= rst_ni && rvalid_o && !rready_i;
    b_held_q    <= rst_ni && bvalid_o && !bready_i;
    core_held_q <= rst_ni && core_valid_o && !core_ready_i;
    ar_held_q   <= rst_ni && arvalid_i && !arready_o;
    aw_held_q   <= rst_ni && awvalid_i && !awready_o;
    w_held_q    <= rst_ni && wvalid_i && !wready_o;
    r_q         <= {rid_o, rdata_o, rresp_o, rlast_o};
    b_q         <= {bid_o, bresp_o};
    core_q      <= {core_write_o, core_index_o};
    ar_q        <= {arid_i, ar_i};
    aw_q        <= {awid_i, aw_i, awatop_i};
  end
  always_comb begin
    if (ar_held_q) assume (arvalid_i && {arid_i, ar_i} == ar_q);
    if (aw_held_q) assume (awvalid_i && {awid_i, aw_i, awatop_i} == aw_q);
    if (w_held_q) assume (wvalid_i);
    // An atomic's data is in one line.
    assume (!(awatop_i[0] && aw_i.len == 8'd3));
    assume (ar_i.size >= 3'd3 && (aw_i.size >= 3'd3 || (awatop_i != '0 && aw_i.len == '0)));
    if (core_rsp_valid_i) begin
      assume (core_rsp_tag_i[7] ? store_q[core_rsp_tag_i[0]] : load_q[core_rsp_tag_i[0]]);
      assume (core_rsp_tag_i[6:1] == '0);
    end
    if (rst_ni) begin
      if (r_held_q) r_held : assert (rvalid_o && {rid_o, rdata_o, rresp_o, rlast_o} == r_q);
      if (b_held_q) b_held : assert (bvalid_o && {bid_o, bresp_o} == b_q);
      if (core_held_q) core_held : assert (core_valid_o && {core_write_o, core_index_o} == core_q);
      if (taken) own_tag : assert (core_tag_o[7] ? !store_q[core_tag_o[0]]
                                                 : !load_q[core_tag_o[0]]);
    end
  end

  // ---------------------------------------------------------------- the places of reads, in order
  logic [1:0] busy;
  logic [1:0] usage;
  logic at0, at1, current;  // of the queue: its first place, its second; the one on R
  walk_t rem [2];
  assign busy    = dut.read_busy_q;
  assign usage   = dut.u_reads.gen_stream[0].u_entries.usage_o;
  assign at0     = dut.u_reads.gen_stream[0].u_entries.mem_q[
                       dut.u_reads.gen_stream[0].u_entries.rptr_q[0]];
  assign at1     = dut.u_reads.gen_stream[0].u_entries.mem_q[
                       ~dut.u_reads.gen_stream[0].u_entries.rptr_q[0]];
  assign current = dut.read;
  always_comb begin
    for (int i = 0; i < 2; i++) begin
      rem[i] = rvalid_o && current == 1'(i) ? dut.walk : dut.place_q[i].walk;
    end
  end

  logic [3:0] inside_reads;
  logic pending;
  always_comb begin
    inside_reads = '0;
    for (int i = 0; i < 2; i++) begin
      if (busy[i]) inside_reads = inside_reads + 4'(final_line(rem[i]));
    end
    pending = dut.load_more_q && !(dut.load_mid_q && final_line(dut.load_walk_q));
    if (pending) inside_reads = inside_reads + 4'd1;
  end
  // Where the burst goes on behind each place.
  logic more [4];
  logic [7:0] next [4];
  logic there [3];
  walk_t order [3];
  always_comb begin
    there = '{rvalid_o, usage != '0, usage == 2'd2};
    order = '{rem[current], rem[at0], rem[at1]};
    more[0] = more_q;
    next[0] = next_q;
    for (int k = 0; k < 3; k++) begin
      more[k+1] = there[k] ? !final_line(order[k]) : more[k];
      next[k+1] = there[k] ? order[k].left - 8'(beats(order[k])) : next[k];
    end
  end
  always_comb if (rst_ni) begin
    if (ar) all_beats : assert (dut.load_walk.left == ar_i.len);
    all_lasts : assert (reads_q == inside_reads);
    for (int k = 0; k < 3; k++) begin
      if (there[k] && more[k]) assert (order[k].left == next[k]);
    end
    if (!dut.load_more_q) whole : assert (!more[3]);
    else if (dut.load_mid_q) begin
      mid : assert (more[3] == !final_line(dut.load_walk_q) &&
                    (!more[3] || next[3] == dut.load_walk_q.left - 8'(beats(dut.load_walk_q))));
    end else rest : assert (more[3] && next[3] == dut.load_walk_q.left);

    for (int i = 0; i < 2; i++) begin
      if (busy[i]) assert (sound(rem[i]));
      assert (load_q[i] == (busy[i] && !dut.read_done_q[i]));
      assert (store_q[i] == dut.store_busy_q[i]);
    end
    if (dut.load_more_q) walk_sound : assert (sound(dut.load_walk_q));
    if (dut.load_mid_q) mid_more : assert (dut.load_more_q);
    if (dut.mid_q) mid_valid : assert (rvalid_o && more_q);
    if (rvalid_o) current_done : assert (busy[current] && dut.read_done_q[current]);
    if (!rvalid_o) stays : assert (dut.u_reads.stay_q == more_q);
    if (rvalid_o && !dut.mid_q && more_q) assert (dut.u_reads.stay_q);
    if (usage != '0) first_busy : assert (busy[at0] && !(rvalid_o && current == at0));
    if (usage == 2'd2) second_busy : assert (busy[at1] && at0 != at1 &&
                                             !(rvalid_o && current == at1));
    counted : assert (2'(busy[0]) + 2'(busy[1]) == usage + 2'(rvalid_o) && usage <= 2'd2);
    if (dut.u_reads.stream_q == '0) assert (!rvalid_o && !more_q);
  end

  // ---------------------------------------------------------------- bursts of writes
  logic [1:0] under, closed, b_usage;
  logic b_at0, b_at1, b_current;
  logic under_way;
  assign under     = dut.burst_busy_q;
  assign closed    = dut.burst_closed_q;
  assign under_way = (under & ~closed) != '0;
  assign b_usage   = dut.u_bursts.gen_stream[0].u_entries.usage_o;
  assign b_at0     = dut.u_bursts.gen_stream[0].u_entries.mem_q[
                         dut.u_bursts.gen_stream[0].u_entries.rptr_q[0]];
  assign b_at1     = dut.u_bursts.gen_stream[0].u_entries.mem_q[
                         ~dut.u_bursts.gen_stream[0].u_entries.rptr_q[0]];
  assign b_current = dut.bursts;
  logic [2:0] lines [2];  // that are not stored
  always_comb begin
    for (int i = 0; i < 2; i++) begin
      lines[i] = '0;
      for (int k = 0; k < 2; k++) begin
        if (store_q[k] && dut.store_burst_q[k] == 1'(i)) lines[i] = lines[i] + 3'd1;
        if (load_q[k] && dut.read_change_q[k] && dut.read_burst_q[k] == 1'(i)) begin
          lines[i] = lines[i] + 3'd1;
        end
      end
    end
  end
  // What waits in the queue of addresses: as it came.
  logic [1:0][83:0] heads;
  logic [1:0] waits;
  always_comb begin
    for (int i = 0; i < 2; i++) begin
      heads[i] = dut.u_write.u_heads.mem_q[i];
      waits[i] = dut.u_write.u_heads.usage_o == 2'd2 ||
                 (dut.u_write.u_heads.usage_o == 2'd1 && dut.u_write.u_heads.rptr_q[0] == 1'(i));
      if (rst_ni && waits[i]) begin
        assert (heads[i][10:8] >= 3'd3 || (heads[i][5:0] != '0 && heads[i][18:11] == '0));
        assert (!(heads[i][0] && heads[i][18:11] == 8'd3));
      end
    end
  end
  always_comb if (rst_ni) begin
    all_bs : assert (writes_q == 4'(dut.u_write.u_heads.usage_o) +
                     4'(dut.store_valid && dut.store_last) + 4'(under[0] && closed[0]) +
                     4'(under[1] && closed[1]));
    if (b) stored : assert (lines[b_current] == '0);
    for (int i = 0; i < 2; i++) begin
      if (closed[i]) assert (under[i]);
      if (under[i]) assert (lines[i] == dut.burst_count_q[i]);
      else assert (lines[i] == '0);
    end
    one_open : assert ((under & ~closed) != '1);
    if (under_way) its_burst : assert (under[dut.burst_q] && !closed[dut.burst_q]);
    first_known : assert (under_way == (dut.store_valid || dut.u_write.open_q ? !dut.store_first
                                                                             : dut.u_write.more_q));
    if (dut.u_write.open_q) open_more : assert (dut.u_write.more_q && !dut.store_valid);
    if (dut.store_valid) last_known : assert (dut.store_last == !dut.u_write.more_q);
    if (dut.u_write.more_q) head_known : assert (dut.u_write.u_heads.usage_o != '0);
    heads_fit : assert (dut.u_write.u_heads.usage_o <= 2'd2);
    if (bvalid_o) b_known : assert (closed[b_current] && dut.burst_count_q[b_current] == '0);
    if (b_usage != '0) assert (under[b_at0] && !(bvalid_o && b_current == b_at0));
    if (b_usage == 2'd2) assert (under[b_at1] && b_at0 != b_at1 &&
                                 !(bvalid_o && b_current == b_at1));
    assert (2'(under[0]) + 2'(under[1]) == b_usage + 2'(bvalid_o) && b_usage <= 2'd2);
    assert (!dut.u_bursts.stay_q);
    if (dut.store_valid || dut.u_write.open_q) begin
      if (dut.store_reads) begin
        one_line : assert (sound(dut.store_walk) && final_line(dut.store_walk));
      end
    end
    // The arbiter holds only what is offered.
    if (dut.u_turns.owner_q[0]) assert (dut.can_load && !dut.u_turns.owner_q[1]);
    if (dut.u_turns.owner_q[1]) assert (dut.can_store);
    assert (dut.u_reads.u_turns.owner_q == '0 && dut.u_bursts.u_turns.owner_q == '0);

    two_lines : cover (r && rlast_o && dut.walk.span == '1 && more_q);
    reordered : cover (rvalid_o && load_q != '0);
    changed   : cover (b && bresp_o == RespOkay && rvalid_o);
  end
endmodule
