// SPDX-License-Identifier: SHL-2.1
/// pcie_dma_write between any service, any host and a memory that takes and answers whenever it
/// likes.
///
/// AXI bursts are numbered as they are decided on. One of them is watched, chosen freely, and one
/// of its words, so what holds for them holds for all.
///
/// Assertions are in groups by their names; pcie_dma_write.sby says which are proved from which.
///   burst    numbers of bursts and beats, AXI's rules, what a stopped engine does
///   ring     addresses
///   sum      words of begun bursts that have not arrived
///   word     beats, strobes and words of the watched burst
///   space    unconsumed words are not overwritten
///   promise  no burst is begun for words that may not arrive
///   status   status words
///   time     bounds
module pcie_dma_write_props #(
  parameter int unsigned BurstBytes = 64,
  parameter int unsigned MaxWrites  = 8,
  parameter int unsigned PromiseW   = 6
) (
  input logic clk_i,
  input logic start_i,
  input logic run_i,
  input logic [63:6] base_i,
  input logic [22:0] size_i,
  input logic [63:3] status_i,
  input logic [29:0] consumed_i,
  input logic [29:0] head_i,
  input logic [PromiseW-1:0] promise_i,
  input logic more_i,
  input logic valid_i,
  input logic [31:0] data_i,
  input logic first_i,
  input logic awready_i,
  input logic wready_i,
  input logic bvalid_i,
  input logic [1:0] bresp_i
);
  localparam int unsigned Words = BurstBytes / 4;
  localparam int unsigned Plans = MaxWrites / 2;
  localparam int unsigned NumW  = $clog2(MaxWrites) + 1;
  localparam int unsigned PlanW = $clog2(Plans) + 1;
  localparam int unsigned LenW  = $clog2(Words) + 1;
  localparam int unsigned RelW  = LenW + PlanW;  // words of all bursts that are decided on
  // Clocks in which a stopped engine is done: two a word of each burst that may be open, and few
  // more.
  localparam int unsigned DrainClocks = (2 * Words + 8) * (Plans + 1);

  typedef logic [NumW-1:0] num_t;   // of a burst
  typedef logic [LenW-1:0] len_t;   // words of a burst
  typedef logic [RelW-1:0] rel_t;   // words from here
  typedef logic [29:0] pos_t;       // of a word

  logic rst_ni, ready_o, awvalid_o, wvalid_o, wlast_o, bready_o;
  axi_pkg::address_t aw_o;
  logic [63:0] awaddr_o, wdata_o;
  logic [7:0] awlen_o, wstrb_o;
  assign awaddr_o = aw_o.addr;
  assign awlen_o  = aw_o.len;
  logic [29:0] tail_o;
  logic burst_o, told_o, told_done_o, error_o, quiet_o, idle_o;
  logic [1:0] unit_o;

  pcie_dma_write #(
    .BurstBytes(BurstBytes),
    .MaxWrites (MaxWrites),
    .PromiseW  (PromiseW)
  ) dut (
    .*
  );

  logic started_q = 1'b0;
  always_ff @(posedge clk_i) started_q <= 1'b1;
  assign rst_ni = started_q;

  // Any constants: service and host keep their contracts; the burst that is watched and its word.
  logic honest_q;
  num_t k_q;
  len_t j_q;
  always_ff @(posedge clk_i) begin
    honest_q <= honest_q;
    k_q      <= k_q;
    j_q      <= j_q;
  end

  // The watched burst, from its decision on.
  logic k_status_q;       // a status word
  pos_t k_pos_q;          // position of its first word, or reported position
  len_t k_len_q;          // words
  rel_t k_dist_q;         // words to come before it
  logic [29:0] k_head_q;  // written in a status word
  logic [31:0] v_data_q;  // its word j_q
  logic v_seen_q;

  localparam logic [1:0] StSettle = 2'd0;
  localparam logic [1:0] StLook = 2'd1;
  localparam logic [1:0] StData = 2'd2;
  localparam logic [1:0] StStatus = 2'd3;

  // ---------------------------------------------------------------- a clock ago
  logic start_q, run_q, awvalid_q, awready_q, wvalid_q, wready_q, wlast_q, take_q, fixed_q;
  logic [63:0] awaddr_q, wdata_q;
  logic [7:0] awlen_q, wstrb_q;
  logic [63:6] base_q;
  logic [22:0] size_q;
  logic [63:3] status_q;
  logic [29:0] consumed_q;
  logic [PromiseW-1:0] promise_q;
  always_ff @(posedge clk_i) begin
    start_q    <= started_q && start_i;
    run_q      <= started_q && run_i;
    fixed_q    <= started_q && (start_i || run_i || !quiet_o);
    awvalid_q  <= started_q && awvalid_o;
    awready_q  <= awready_i;
    awaddr_q   <= awaddr_o;
    awlen_q    <= awlen_o;
    wvalid_q   <= started_q && wvalid_o;
    wready_q   <= wready_i;
    wdata_q    <= wdata_o;
    wstrb_q    <= wstrb_o;
    wlast_q    <= wlast_o;
    base_q     <= base_i;
    size_q     <= size_i;
    status_q   <= status_i;
    consumed_q <= consumed_i;
    promise_q  <= promise_i;
    take_q     <= started_q && valid_i && ready_o;
  end

  // ---------------------------------------------------------------- numbers
  // Of the next burst to be decided on, whose address is taken, whose beat is put into the buffer,
  // whose beat is taken, that is answered.
  num_t dec_q, aw_q, in_q, w_q, b_q;
  len_t in_beat_q, w_beat_q;
  logic put;
  assign put = dut.emit_data || dut.emit_status;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      {dec_q, aw_q, in_q, w_q, b_q} <= '0;
      in_beat_q <= '0;
      w_beat_q  <= '0;
    end else begin
      dec_q <= dec_q + num_t'(dut.open_data) + num_t'(dut.open_status);
      aw_q  <= aw_q + num_t'(awvalid_o && awready_i);
      in_q  <= in_q + num_t'(put && dut.beat.last);
      w_q   <= w_q + num_t'(wvalid_o && wready_i && wlast_o);
      b_q   <= b_q + num_t'(bvalid_i);
      if (put) in_beat_q <= dut.beat.last ? '0 : in_beat_q + len_t'(1);
      if (wvalid_o && wready_i) w_beat_q <= wlast_o ? '0 : w_beat_q + len_t'(1);
    end
  end

  // Plans: numbers of their bursts and words before them, from the next beat on.
  logic [PlanW-1:0] plans;
  len_t plan_len[Plans];
  num_t plan_num[Plans+1];
  rel_t plan_rel[Plans+1];
  assign plans       = dut.u_plan.wptr_q - dut.u_plan.rptr_q;
  assign plan_num[0] = in_q + num_t'(dut.tell_q) + (dut.left_q != '0 ? num_t'(2) : '0);
  assign plan_rel[0] = rel_t'(dut.left_q);
  for (genvar i = 0; i < Plans; i++) begin : gen_plan
    logic [PlanW-1:0] at;
    logic there;
    assign at            = dut.u_plan.rptr_q + PlanW'(i);
    assign there         = PlanW'(i) < plans;
    assign plan_len[i]   = there ? dut.u_plan.mem_q[at[PlanW-2:0]] : '0;
    assign plan_num[i+1] = plan_num[i] + (!there ? '0 : plan_len[i] == '0 ? num_t'(1) : num_t'(2));
    assign plan_rel[i+1] = plan_rel[i] + rel_t'(plan_len[i]);
    always_comb begin
      if (started_q && there) begin
        burst_1: assert (plan_len[i] <= len_t'(Words));
        // A status word alone is decided on when nothing else is pending.
        if (plan_len[i] == '0) burst_2: assert (i == 0 && dut.left_q == '0 && !dut.tell_q);
        if (k_q == plan_num[i] && plan_len[i] != '0) begin
          word_1: assert (!k_status_q && k_len_q == plan_len[i] && k_dist_q == plan_rel[i]);
        end
        if (num_t'(k_q + num_t'(1)) == plan_num[i+1]) begin
          word_2: assert (k_status_q && k_dist_q == plan_rel[i+1]);
        end
      end
    end
  end

  // ---------------------------------------------------------------- the ring
  logic [22:0] off_q;  // words from its begin to the next burst
  logic [22:0] cut_left;  // and from there to its end
  assign cut_left = dut.u_cut.gen_stored.past_q - 23'(dut.u_cut.low);
  pos_t before_q;      // position of the burst whose address is offered
  pos_t next_pos;
  assign next_pos = dut.state_q == StData ? before_q : dut.opened_q;
  always_ff @(posedge clk_i) begin
    if (start_i) off_q <= '0;
    else if (burst_o) off_q <= off_q + 23'(dut.len_q) == size_i ? '0 : off_q + 23'(dut.len_q);
    if (dut.open_data) before_q <= dut.opened_q;
  end

  // ---------------------------------------------------------------- the watched burst
  pos_t count_q;  // words taken from the service since the start
  logic take_word;
  assign take_word = valid_i && ready_o && run_i;
  always_ff @(posedge clk_i) begin
    if (start_i || !rst_ni) count_q <= '0;
    else count_q <= count_q + pos_t'(take_word);
    if (dut.open_data && dec_q == k_q) begin
      k_status_q <= 1'b0;
      k_pos_q    <= dut.opened_q;
      k_len_q    <= dut.len_d;
      k_dist_q   <= plan_rel[Plans] - rel_t'(dut.take);
      v_seen_q   <= 1'b0;
    end else if (dut.open_status && num_t'(dec_q + num_t'(dut.open_data)) == k_q) begin
      k_status_q <= 1'b1;
      k_pos_q    <= dut.opened_q + (dut.open_data ? 30'(dut.len_d) : '0);
      k_len_q    <= '0;
      k_dist_q   <= plan_rel[Plans] + (dut.open_data ? rel_t'(dut.len_d) : '0) - rel_t'(dut.take);
      v_seen_q   <= 1'b0;
    end else begin
      if (dut.take && k_dist_q != '0) k_dist_q <= k_dist_q - rel_t'(1);
      if (take_word && !v_seen_q && j_q < k_len_q && count_q == k_pos_q + 30'(j_q)) begin
        v_seen_q <= 1'b1;
        v_data_q <= data_i;
      end
    end
    if (put && in_q == k_q) k_head_q <= head_i;
  end

  len_t k_beats;
  assign k_beats = k_status_q ? len_t'(1) :
                   len_t'(((LenW + 1)'(k_len_q) + (LenW + 1)'(k_pos_q[0]) + (LenW + 1)'(1)) >> 1);

  // Lanes that the watched burst has words for in a beat, and which of its words.
  function automatic logic [RelW-1:0] word_of(len_t beat, logic lane);
    return {beat, lane} - rel_t'(k_pos_q[0]);
  endfunction
  function automatic logic lane_used(len_t beat, logic lane);
    return k_status_q || word_of(beat, lane) < rel_t'(k_len_q);
  endfunction
  // A beat of the watched burst is what its place says.
  function automatic logic right(logic [75:0] entry, len_t beat);
    logic told, last, ok, unused_unit;
    logic [1:0] unit, use_lane;
    logic [7:0] strb;
    logic [63:0] data;
    {told, unit, last, strb, data} = entry;
    use_lane = {lane_used(beat, 1'b1), lane_used(beat, 1'b0)};
    ok = beat < k_beats && last == (beat + len_t'(1) == k_beats) && told == k_status_q;
    ok = ok && (strb == {{4{use_lane[1]}}, {4{use_lane[0]}}} || (strb == '0 && !run_i));
    if (k_status_q) begin
      ok = ok && data == {k_head_q, 2'b00, k_pos_q, 2'b00};
    end else begin
      for (int lane = 0; lane < 2; lane++) begin
        if (strb[4*lane] && word_of(beat, 1'(lane)) == rel_t'(j_q)) begin
          ok = ok && v_seen_q && data[32*lane+:32] == v_data_q;
        end
      end
    end
    return ok;
  endfunction

  num_t head_num, spare_num, cur;
  len_t spare_beat;
  logic head_last, spare_last;
  assign head_last  = dut.u_beats.head_q[72];
  assign spare_last = dut.u_beats.spare_q[72];
  assign head_num   = w_q;
  assign spare_num  = w_q + num_t'(head_last);
  assign spare_beat = head_last ? '0 : w_beat_q + len_t'(1);
  assign cur        = in_q + num_t'(dut.tell_q);  // the burst whose words come in

  // ---------------------------------------------------------------- stopped
  logic [1:0] since_q;  // beats taken since it was stopped
  always_ff @(posedge clk_i) begin
    if (!rst_ni || run_i) since_q <= '0;
    else if (wvalid_o && wready_i && since_q != 2'd2) since_q <= since_q + 2'd1;
  end

  // ---------------------------------------------------------------- status words
  pos_t last_tail_q, last_head_q;
  always_ff @(posedge clk_i) begin
    if (start_i || !rst_ni) begin
      last_tail_q <= '0;
      last_head_q <= '0;
    end else if (dut.emit_status) begin
      last_tail_q <= dut.tail_q;
      last_head_q <= head_i;
    end
  end

  // ---------------------------------------------------------------- time bounds
  // Clocks in which it is stopped and the memory never stalls; remaining steps then.
  // Clocks in which a burst could be decided on and is not.
  logic [8:0] stopped_q, todo;
  logic [1:0] wait_q;
  logic could;
  assign todo = 9'(num_t'(dec_q - aw_q)) + 9'({plan_rel[Plans], 1'b0}) + 9'(plans) +
                9'({num_t'(dec_q - in_q), 1'b0}) + 9'(dut.u_beats.head_valid_q) +
                9'(dut.u_beats.spare_valid_q) + 9'(num_t'(dec_q - b_q));
  assign could = honest_q && run_i && !awvalid_o && num_t'(dec_q - b_q) < num_t'(MaxWrites - 2) &&
                 30'(promise_i) > dut.assigned && !more_i &&
                 30'(size_i) - (dut.opened_q - consumed_i) >= 30'(Words);
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      stopped_q <= '0;
      wait_q    <= '0;
    end else begin
      stopped_q <= (!run_i && awready_i && wready_i && (bvalid_i || b_q == aw_q || b_q == w_q)) ?
                   stopped_q + 9'(stopped_q != '1) : '0;
      wait_q    <= could ? wait_q + 2'(wait_q != '1) : '0;
    end
  end

  always_comb begin
    if (started_q) begin
      // Configuration as checked by pcie_dma; it is stable from the start until all is idle.
      assume (size_i >= 23'd16 && (size_i & (size_i - 23'd1)) == '0);
      assume (!base_i[63] && !status_i[63]);
      if (fixed_q) assume (base_i == base_q && size_i == size_q && status_i == status_q);
      if (start_i) assume (!run_i && !run_q && !start_q && quiet_o);
      if (run_i && !run_q) assume (start_q);
      // The memory answers a burst whose address and last beat it has taken.
      if (bvalid_i) assume (b_q != aw_q && b_q != w_q);
      // Contracts: promised words arrive; the host consumes only delivered words.
      if (honest_q && run_i) begin
        if (run_q) begin
          assume ((PromiseW + 1)'(promise_i) + (PromiseW + 1)'(take_q) >= (PromiseW +
              1)'(promise_q));
          assume (consumed_i - consumed_q <= tail_o - consumed_q);
        end else begin
          assume (consumed_i == '0);
        end
      end

      // ---------------------------------------------------------- bursts
      // AXI: offers are held.
      if (awvalid_q && !awready_q) begin
        burst_3: assert (awvalid_o && awlen_o == awlen_q);
        burst_4: assert (awaddr_o == awaddr_q);
      end
      if (wvalid_q && !wready_q) begin
        burst_5: assert (wvalid_o && wdata_o == wdata_q && wstrb_o == wstrb_q &&
            wlast_o == wlast_q);
      end
      burst_6: assert (bready_o);
      // Stopped: no new burst is decided on; only words in the buffer are still written.
      if (!run_i) burst_7: assert (!dut.open_data && !dut.open_status && ready_o);
      if (!run_i && put) burst_8: assert (dut.beat.strb == '0);
      if (!run_i && since_q == 2'd2 && wvalid_o) burst_9: assert (wstrb_o == '0);
      burst_10: assert (quiet_o == (dec_q == b_q));
      if (quiet_o) burst_11: assert (!awvalid_o && !wvalid_o);

      if (run_q) burst_12: assert (since_q == '0);
      if (since_q != '0 && dut.u_beats.spare_valid_q) begin
        burst_13: assert (dut.u_beats.spare_q[71:64] == '0);
      end
      burst_14: assert (since_q != 2'd3);
      burst_15: assert (num_t'(aw_q - b_q) <= num_t'(dec_q - b_q) &&
          num_t'(in_q - b_q) <= num_t'(dec_q - b_q));
      burst_16: assert (num_t'(w_q - b_q) <= num_t'(in_q - b_q));
      burst_17: assert (num_t'(dec_q - b_q) < num_t'(MaxWrites));
      burst_18: assert (dut.writes_q == num_t'(dec_q - b_q));
      burst_19: assert (num_t'(dec_q - aw_q) ==
          (dut.state_q == StData ? num_t'(2) : num_t'(dut.state_q == StStatus)));
      burst_20: assert (dut.u_kinds.wptr_q == aw_q && dut.u_kinds.rptr_q == b_q);
      burst_21: assert (plan_num[Plans] == dec_q && plans <= PlanW'(Plans));
      burst_22: assert (!dut.u_beats.spare_valid_q || dut.u_beats.head_valid_q);
      burst_23: assert (in_q == w_q + num_t'(wvalid_o && head_last) +
          num_t'(dut.u_beats.spare_valid_q && spare_last));
      if (!wvalid_o) burst_24: assert (in_beat_q == w_beat_q);
      if (wvalid_o && !dut.u_beats.spare_valid_q) burst_25: assert (in_beat_q == spare_beat);
      if (dut.u_beats.spare_valid_q) begin
        burst_26: assert (in_beat_q == (spare_last ? '0 : spare_beat + len_t'(1)));
      end
      burst_27: assert (dut.left_q <= len_t'(Words));
      if (dut.left_q == '0 || dut.tell_q) burst_28: assert (!dut.low_valid_q && in_beat_q == '0);
      if (dut.low_valid_q) burst_29: assert (dut.tail_q[0]);
      burst_30: assert ({in_beat_q, dut.tail_q[0]} + (LenW + 1)'(dut.left_q) <=
          (LenW + 1)'(Words + 1));
      burst_31: assert (w_beat_q <= len_t'(Words / 2));
      if (dut.u_beats.spare_valid_q) burst_32: assert (spare_beat <= len_t'(Words / 2));
      // The ring is being cut while the engine runs, and until an offered address is taken.
      if (run_i) burst_33: assert (dut.cut_valid);
      if (!run_q && !start_q && dut.state_q != StData) burst_34: assert (!dut.cut_valid);
      if (run_i || run_q || start_q) burst_35: assert (fixed_q);
      if (!fixed_q) burst_36: assert (quiet_o);
      if (dut.cut_valid) begin
        burst_37: assert (fixed_q && cut_left != '0 && cut_left <= size_i);
        burst_38: assert (dut.chunk != '0 && dut.chunk <= len_t'(Words));
        if (dut.state_q == StLook) burst_39: assert (dut.chunk_q == dut.chunk);
      end
      if (dut.state_q == StData) begin
        burst_40: assert (dut.cut_valid && dut.len_q != '0 && dut.len_q <= dut.chunk);
        burst_41: assert (dut.part_q == (dut.len_q != dut.chunk));
      end

      // ---------------------------------------------------------- addresses
      // For any service and host, a burst is the status word or is in the ring, and within a
      // boundary.
      if (awvalid_o) begin
        ring_1: assert (awaddr_o[2:0] == '0 &&
            8'(awaddr_o[$clog2(BurstBytes)-1:3]) + awlen_o < 8'(BurstBytes / 8));
        if (awlen_o != '0 || awaddr_o != {status_i, 3'd0}) begin
          ring_2: assert (awaddr_o >= {base_i, 6'd0});
          ring_3: assert (awaddr_o + 64'({awlen_o, 3'd0}) + 64'd8 <= {base_i, 6'd0} +
              64'({size_i, 2'd0}));
        end
      end
      if (fixed_q) begin
        if (dut.cut_valid) begin
          ring_4: assert (dut.u_cut.gen_stored.addr_q == {base_i, 4'd0} + 62'(off_q));
          ring_5: assert (cut_left == size_i - off_q);
        end
        ring_6: assert (off_q < size_i && ((23'(next_pos) ^ off_q) & (size_i - 23'd1)) == '0);
        if (dut.state_q == StData) begin
          ring_7: assert (dut.opened_q == before_q + 30'(dut.len_q));
        end
      end

      if (fixed_q) sum_1: assert (dut.opened_q == dut.tail_q + 30'(plan_rel[Plans]));

      // ---------------------------------------------------------- beats
      if (awvalid_o && aw_q == k_q) begin
        word_3: assert ((dut.state_q == StStatus) == k_status_q);
        word_4: assert (awlen_o + 8'd1 == 8'(k_beats));
        if (k_status_q) word_5: assert (awaddr_o == {status_i, 3'd0});
        if (!k_status_q) begin
          word_6: assert (k_pos_q == before_q && k_len_q == dut.len_q);
          word_7: assert (awaddr_o == {base_i, 6'd0} +
              64'({22'(k_pos_q[22:1]) & 22'((size_i - 23'd1) >> 1), 3'd0}));
        end
      end
      if (dut.state_q == StData && num_t'(aw_q + num_t'(1)) == k_q) word_8: assert (k_status_q);
      if (num_t'(k_q - b_q) < num_t'(aw_q - b_q)) begin
        word_9: assert (dut.u_kinds.mem_q[k_q[NumW-2:0]] == k_status_q);
      end
      if (b_q == k_q) begin
        word_10: assert (told_done_o == (bvalid_i && bresp_i == 2'b00 && k_status_q && run_i));
      end
      word_11: assert (error_o == (bvalid_i && bresp_i != 2'b00 && run_i));
      // Beats, strobes and words at the pins.
      if (wvalid_o && head_num == k_q) begin
        word_12: assert (right(dut.u_beats.head_q, w_beat_q));
        word_13: assert (told_o == (wready_i && k_status_q && wstrb_o != '0));
      end
      if (dut.u_beats.spare_valid_q && spare_num == k_q) begin
        word_14: assert (right(dut.u_beats.spare_q, spare_beat));
      end
      if (run_i) word_15: assert (tail_o == count_q);

      // Words that are still to come for it.
      if (num_t'(k_q - in_q) < num_t'(dec_q - in_q)) begin
        if (cur == k_q && dut.left_q != '0) begin
          word_16: assert (!k_status_q && k_dist_q == '0 && dut.left_q <= k_len_q &&
              k_len_q <= len_t'(Words));
          word_17: assert (k_pos_q + 30'(k_len_q) == dut.tail_q + 30'(dut.left_q));
          word_18: assert (dut.low_valid_q == (dut.tail_q[0] && dut.left_q != k_len_q));
          word_19: assert ({in_beat_q, dut.tail_q[0]} ==
              (LenW + 1)'(k_len_q - dut.left_q) + (LenW + 1)'(k_pos_q[0]));
          if (run_i && j_q < k_len_q) word_20: assert (v_seen_q == (j_q < k_len_q - dut.left_q));
          if (run_i && dut.low_valid_q && j_q + len_t'(1) == k_len_q - dut.left_q) begin
            word_21: assert (dut.low_q == v_data_q);
          end
        end else begin
          word_22: assert (k_pos_q == dut.tail_q + 30'(k_dist_q) && !v_seen_q);
        end
      end
      if (dut.tell_q && in_q == k_q) word_23: assert (k_status_q && k_dist_q == '0);
      if (dut.left_q != '0 && num_t'(cur + num_t'(1)) == k_q) begin
        word_24: assert (k_status_q && k_dist_q == rel_t'(dut.left_q));
      end

      // ---------------------------------------------------------- contracts
      // The host's unread words stay; a burst that is begun has words to come.
      if (honest_q && run_i) begin
        space_1: assert (dut.opened_q - consumed_i <= 30'(size_i));
        promise_1: assert (dut.assigned <= 30'(promise_i));
        space_2: assert (dut.tail_q - consumed_i <= dut.opened_q - consumed_i);
        if (dut.state_q == StLook) begin
          space_3: assert (30'(dut.space_q) <= 30'(size_i) - (dut.opened_q - consumed_i));
          promise_2: assert (30'(dut.free_q) <= 30'(promise_i) - dut.assigned);
        end
      end
      // When idle, all delivered words have been reported.
      if (in_q == dec_q && run_i) told_1: assert (last_tail_q == tail_o);
      if (run_i) told_2: assert (last_head_q == dut.told_head_q);
      if (idle_o && run_i) begin
        told_3: assert (last_head_q == head_i && promise_i == '0 && !awvalid_o && !wvalid_o);
      end

      // ---------------------------------------------------------- time
      // Begun bursts end without the service.
      time_1: assert (quiet_o || 10'(stopped_q) + 10'(todo) <= 10'(DrainClocks));
      if (run_q) time_2: assert (stopped_q == '0);
      // While it runs, an address follows a promise within two clocks.
      time_3: assert (wait_q <= 2'd2);
      if (dut.state_q == StSettle) time_4: assert (wait_q == '0);
      if (dut.state_q == StLook && wait_q != '0) begin
        time_5: assert (wait_q == 2'd1 && dut.free_q != '0 && !dut.more_q &&
            dut.space_q >= 23'(Words));
      end

      cover (wvalid_o && wstrb_o == 8'h0F && wlast_o && !k_status_q && w_q == k_q);
      cover (wvalid_o && wstrb_o == 8'hF0 && honest_q);
      cover (burst_o && off_q != '0 && dut.cut_last && !dut.part_q && honest_q);
      cover (told_o && !honest_q && wdata_o[31:2] == '0);
      cover (!run_i && wvalid_o && wstrb_o == '0 && wlast_o);
      cover (wvalid_o && wlast_o && aw_q == w_q);
      cover (run_i && dut.left_q != '0 && plans != '0);
      cover (v_seen_q && wvalid_o && w_q == k_q && !k_status_q);
    end
  end
endmodule
