// SPDX-License-Identifier: SHL-2.1
/// atc: one page and one frame are watched, any. The host maps the page to the frame, unmaps it,
/// invalidates it, and maps it again, as it likes; it translates a request by the page table of any
/// time since the request was sent. No answer gives the frame for the page unless it was mapped,
/// nor from the end of its invalidation's epoch on; no write is answered with it where the host
/// allows none. A lookup has one answer. With Direct: a direct one begins a translation, for which
/// it does not wait; without DirectWrites it is no write.
module atc_props
  import svm_pkg::*;
#(
  parameter int unsigned W = 5,   // bits of a page's number
  parameter int unsigned NumMiss = 2,
  parameter int unsigned NumWait = 3,
  parameter bit Direct = 1'b0,
  parameter bit DirectWrites = 1'b1
) (
  input logic         clk_i,
  input logic         req_valid_i,
  input logic [W-1:0] req_vpn_i,
  input logic         req_write_i,
  input logic [1:0]   req_tag_i,
  input logic         done_valid_i,
  input logic [1:0]   done_epoch_i,
  input logic         ask_ready_i,
  input logic         cpl_valid_i,
  input logic [0:0]   cpl_id_i,
  input logic         cpl_last_i,
  input logic [1:0]   cpl_size_i,
  input logic [0:0]   cpl_page_i,
  input logic [W-1:0] cpl_ppn_i,
  input logic         cpl_read_i,
  input logic         cpl_write_i,
  input logic         fault_ready_i,
  input logic         inv_valid_i,
  input logic [W-1:0] inv_vpn_i,
  input logic [2:0]   inv_log2_i,
  input logic [0:0]   inv_tag_i,
  input logic         complete_ready_i,
  input logic         map_i,    // the host maps the page to the frame,
  input logic         unmap_i,  // takes it away,
  input logic         tell_i    // and this invalidation is its
);
  localparam int unsigned Big = 2;
  localparam int unsigned Huge = 3;
  logic         rst_ni, req_ready_o, rsp_valid_o, ask_valid_o, ask_write_o, fault_valid_o;
  logic         fault_write_o;
  logic         inv_ready_o, complete_valid_o, idle_o;
  logic [1:0]   rsp_tag_o, rsp_epoch_o;
  logic [W-1:0] rsp_ppn_o, ask_vpn_o, fault_vpn_o;
  logic [0:0]   ask_id_o, complete_tag_o;
  status_e      rsp_status_o;
  page_size_e   cpl_size;
  assign cpl_size = page_size_e'(cpl_size_i);

  atc #(
    .VpnWidth(W), .PpnWidth(W), .TagWidth(2), .BigLog2(Big), .HugeLog2(Huge), .BaseSets(2),
    .BaseWays(1),
    .BigSets(2), .BigWays(1), .HugeSets(2), .HugeWays(1), .NumMiss(NumMiss), .NumWait(NumWait),
    .PagesLog2(1),
    .Ahead(1), .Direct(Direct), .DirectWrites(DirectWrites), .MaxUses(7), .NumInv(2),
    .InvTagWidth(1)
  ) dut (.cpl_size_i(cpl_size), .*);

  logic started_q = 1'b0;
  always_ff @(posedge clk_i) started_q <= 1'b1;
  assign rst_ni = started_q;

  // Any constants.
  logic [W-1:0] page_q, frame_q;
  logic         read_only_q;
  logic [1:0]   tag_q;
  always_ff @(posedge clk_i) begin
    page_q      <= page_q;
    frame_q     <= frame_q;
    read_only_q <= read_only_q;
    tag_q       <= tag_q;
  end

  // ------------------------------------------------------------ the host
  typedef enum logic [1:0] {Mapped, Gone, Sent, Dead} phase_e;
  phase_e     phase_q;
  logic [1:0] place_q;  // of the invalidation in the queue, by the writes before it
  logic       covers, tells, head, over;
  assign covers = (inv_vpn_i ^ page_q) >> inv_log2_i == '0;
  assign tells  = phase_q == Gone && inv_valid_i && inv_ready_o && tell_i && covers;
  assign head   = phase_q == Sent && dut.u_invalidate.u_inv.rptr_q == place_q;
  assign over   = head && dut.inv_end;
  always_ff @(posedge clk_i) begin
    if (!started_q) begin
      phase_q <= map_i ? Mapped : Dead;
    end else begin
      case (phase_q)
        Mapped:  if (unmap_i) phase_q <= Gone;
        Gone:    if (tells) {phase_q, place_q} <= {Sent, dut.u_invalidate.u_inv.wptr_q};
        Sent:    if (over) phase_q <= Dead;
        default: if (map_i) phase_q <= Mapped;
      endcase
    end
  end

  // Whether a page of some size has the watched page, and where the watched page is in its frame.
  function automatic logic same(logic [W-1:0] a, logic [1:0] size);
    case (size)
      2'd1:    return a >> Big == page_q >> Big;
      2'd2:    return a >> Huge == page_q >> Huge;
      default: return a == page_q;
    endcase
  endfunction
  function automatic logic same_block(logic [W-1:0] a, logic [1:0] size);
    return size == 2'd0 ? a >> 1 == page_q >> 1 : same(a, size);
  endfunction
  function automatic logic gives(logic [W-1:0] ppn, logic [1:0] size);
    case (size)
      2'd1:    return {ppn[W-1:Big], page_q[Big-1:0]} == frame_q;
      2'd2:    return {ppn[W-1:Huge], page_q[Huge-1:0]} == frame_q;
      default: return ppn == frame_q;
    endcase
  endfunction

  // What each translation may bring: asked for, or outstanding, while the page was mapped.
  logic [NumMiss-1:0] may_q, open_q, some_q, cpl_pending, state_wait, last;
  logic beat_gives, cpl_gives;
  logic [W-1:0] beat_vpn;
  assign beat_vpn   = dut.u_misses.miss_block_q[cpl_id_i] | W'(cpl_size_i == 2'd0 && cpl_page_i);
  assign beat_gives = cpl_valid_i && (cpl_read_i || cpl_write_i) && same(beat_vpn, cpl_size_i) &&
      gives(cpl_ppn_i, cpl_size_i);
  assign cpl_gives  = dut.u_misses.cpl_q && (dut.u_misses.cpl_result_q.read ||
                                             dut.u_misses.cpl_result_q.write) &&
      same(dut.u_misses.cpl_vpn, dut.u_misses.cpl_result_q.size) &&
          gives(dut.u_misses.cpl_result_q.ppn, dut.u_misses.cpl_result_q.size);
  for (genvar m = 0; m < NumMiss; m++) begin : gen_may
    assign state_wait[m]  = 2'(dut.u_misses.miss_state_q[m]) == 2'd2;
    assign cpl_pending[m] = dut.u_misses.cpl_q && dut.u_misses.cpl_id_q == 1'(m);
    assign last[m]        = cpl_pending[m] && dut.u_misses.cpl_last_q;
    always_ff @(posedge clk_i) begin
      if (ask_valid_o && ask_ready_i && ask_id_o == 1'(m)) begin
        may_q[m]  <= phase_q == Mapped;
        open_q[m] <= 1'b1;
        some_q[m] <= 1'b0;
      end else begin
        if (phase_q == Mapped) may_q[m] <= 1'b1;
        if (cpl_valid_i && cpl_id_i == 1'(m)) begin
          some_q[m] <= 1'b1;
          if (cpl_last_i) open_q[m] <= 1'b0;
        end
      end
      if (!started_q) open_q[m] <= 1'b0;
    end
  end

  // A lookup with the watched tag.
  logic asked_q;
  always_ff @(posedge clk_i) begin
    if (!started_q) asked_q <= 1'b0;
    else if (req_valid_i && req_ready_o && req_tag_i == tag_q) asked_q <= 1'b1;
    else if (rsp_valid_o && rsp_tag_o == tag_q) asked_q <= 1'b0;
  end

  // ------------------------------------------------------------ inside, for induction
  logic running, passed_end;
  assign running    = head && dut.u_invalidate.inv_q != 2'd0;
  assign passed_end = phase_q == Dead || (running && dut.u_invalidate.inv_q == 2'd2);
  logic [2:0] there, watched_passed, in_step;
  logic [2:0][W-1:0] there_ppn;
  logic [2:0] there_write;
  for (genvar s = 0; s < 3; s++) begin : gen_there
    localparam int unsigned Shift = s == 0 ? 0 : s == 1 ? Big : Huge;
    assign there[s]       = dut.gen_store[s].u_store.u_store.there_q;
    assign there_ppn[s]   = W'(dut.gen_store[s].u_store.u_store.held_q >> 2) << Shift;
    assign there_write[s] = dut.gen_store[s].u_store.u_store.held_q[0];
    // The running invalidation has been to the watched page of this size.
    assign watched_passed[s] = running && (dut.u_invalidate.inv_q == 2'd2 ||
                                           (dut.u_invalidate.inv_clear[s] ?
                                            dut.u_invalidate.inv_index_q != '0 :
        dut.u_invalidate.inv_index_q > 13'((page_q >> Shift) - (dut.inv_vpn >> Shift))));
    // And is not further than it can be.
    assign in_step[s] = dut.u_invalidate.inv_q != 2'd1 || dut.u_invalidate.inv_clear[s] ||
        !dut.gen_store[s].u_store.u_store.sweep_q;
    always_comb begin
      if (started_q) begin
        assume (dut.gen_store[s].u_store.u_store.watch_q == (page_q >> Shift));
        assert (in_step[s]);
        if (there[s] && gives(there_ppn[s], 2'(s))) begin
          assert (phase_q != Dead && !watched_passed[s]);
          if (read_only_q) assert (!there_write[s]);
        end
        // The second cycle of a lookup of the watched page sees what was there in its first.
        if (dut.op_q != 3'd0 && dut.look_q.vpn == page_q &&
            3'(dut.op_q) inside {3'd1, 3'd2, 3'd4}) begin
          assert (dut.gen_store[s].u_store.u_store.mine_q);
          if (s > 0) assert (dut.gen_store[s].u_store.ppn_o[(Shift > 0 ? Shift : 1)-1:0] ==
              page_q[(Shift > 0 ? Shift : 1)-1:0]);
          if (dut.gen_store[s].u_store.u_store.there_late_q &&
              gives(dut.gen_store[s].u_store.ppn_o, 2'(s))) begin
            assert (!passed_end);
            if (read_only_q) assert (!dut.gen_store[s].u_store.u_store.held_late_q[0]);
          end
        end
      end
    end
  end

  // What the places for translations hold of the watched page.
  logic [NumMiss-1:0] keeps;
  logic [NumMiss-1:0][1:0] size;
  for (genvar m = 0; m < NumMiss; m++) begin : gen_keeps
    logic [W-1:0] ppn;
    logic write;
    assign size[m] = dut.u_misses.miss_large_q[m] ? 2'(dut.u_misses.result_q[2*m].size) : 2'd0;
    assign ppn     = dut.u_misses.miss_large_q[m] || !page_q[0] ?
                     dut.u_misses.result_q[2*m].ppn : dut.u_misses.result_q[2*m+1].ppn;
    assign write   = dut.u_misses.miss_large_q[m] || !page_q[0] ?
                     dut.u_misses.result_q[2*m].write : dut.u_misses.result_q[2*m+1].write;
    assign keeps[m] = same_block(dut.u_misses.miss_block_q[m], size[m]) && gives(ppn, size[m]) &&
        (dut.u_misses.miss_large_q[m] || dut.u_misses.miss_got_q[m][page_q[0]]) &&
            2'(dut.u_misses.miss_state_q[m]) >= 2'd2;
    always_comb begin
      if (started_q) begin
        assert (open_q[m] == (state_wait[m] && !last[m]));
        if (cpl_pending[m]) assert (state_wait[m] && some_q[m]);
        if (state_wait[m] && !some_q[m]) assert (dut.u_misses.miss_got_q[m] == '0);
        if (state_wait[m]) assert (!dut.u_misses.miss_large_q[m]);
        if (cpl_pending[m] && dut.u_misses.cpl_result_q.size != SizeBase)
          assert (dut.u_misses.miss_got_q[m] == '0 && last[m]);
        if (dut.u_misses.miss_large_q[m] && 2'(dut.u_misses.miss_state_q[m]) == 2'd3)
          assert (size[m] inside {2'd1, 2'd2});
        if (2'(dut.u_misses.miss_state_q[m]) != 2'd0) assert (!dut.u_misses.miss_block_q[m][0]);
        for (int unsigned i = 0; i < 2; i++) begin
          if (2'(dut.u_misses.miss_state_q[m]) >= 2'd2 && !dut.u_misses.miss_large_q[m] &&
              dut.u_misses.miss_got_q[m][i])
            assert (dut.u_misses.result_q[2*m+i].size == SizeBase);
        end
        // A translation that may be old is known to be, for each size of page that it may have.
        if (state_wait[m] && may_q[m] && (running || phase_q == Dead)) begin
          for (int unsigned s = 0; s < 3; s++) begin
            if (same_block(dut.u_misses.miss_block_q[m], 2'(s)))
              assert (dut.u_misses.miss_stale_q[m][s]);
          end
        end
        if (keeps[m] && (running || phase_q == Dead)) begin
          assert (state_wait[m] && dut.u_misses.miss_stale_q[m][0]);
        end
        if (keeps[m] && state_wait[m]) assert (may_q[m]);
        if (keeps[m] && read_only_q) assert (!write);
        if (dut.u_misses.miss_stale_q[m][0])
          assert (dut.u_misses.miss_stale_q[m][1] || 2'(dut.u_misses.miss_state_q[m]) < 2'd2);
      end
    end
  end

  // Lookups that wait.
  logic [NumWait-1:0] mine;
  logic look_mine;
  for (genvar w = 0; w < NumWait; w++) begin : gen_wait
    assign mine[w] = dut.u_waits.wait_valid_q[w] && dut.u_waits.wait_q[w].tag == tag_q;
    always_comb begin
      if (started_q && dut.u_waits.wait_valid_q[w] && dut.u_waits.wait_linked_q[w]) begin
        assert (2'(dut.u_misses.miss_state_q[dut.u_waits.wait_miss_q[w]]) != 2'd0);
        assert (dut.u_misses.miss_block_q[dut.u_waits.wait_miss_q[w]] >> 1 ==
                dut.u_waits.wait_q[w].vpn >> 1);
      end
    end
  end
  assign look_mine = 3'(dut.op_q) == 3'd1 && dut.look_q.tag == tag_q;

  always_comb begin
    if (started_q) begin
      // The host.
      assume (cpl_size_i != 2'd3);
      if (cpl_valid_i)
        assume (open_q[cpl_id_i] && (cpl_size_i == 2'd0 || (cpl_last_i && !some_q[cpl_id_i])));
      if (beat_gives) assume (may_q[cpl_id_i] || phase_q == Mapped);
      if (beat_gives && read_only_q) assume (!cpl_write_i);
      if (inv_valid_i)
        assume (inv_log2_i <= 3'(W) && (inv_vpn_i >> inv_log2_i << inv_log2_i) == inv_vpn_i);
      // The user.
      if (req_valid_i && req_tag_i == tag_q) assume (!asked_q);

      // What is proved.
      if (rsp_valid_o && rsp_status_o == StatusOk && dut.look_q.vpn == page_q &&
          rsp_ppn_o == frame_q) begin
        assert (!passed_end);
        if (read_only_q) assert (!dut.look_q.write);
      end
      if (rsp_valid_o && rsp_tag_o == tag_q) assert (asked_q);
      // A direct answer is of a page that no store has, and begins its translation.
      if (rsp_valid_o && rsp_status_o == StatusDirect)
        assert (Direct && dut.alloc && !dut.linked && dut.usable == '0 &&
                (DirectWrites || !dut.look_q.write));

      // What makes it inductive.
      assert ((dut.u_misses.u_ask.owner_q & ~dut.u_misses.asking) == '0 &&
              dut.u_misses.u_ask.owner_q != '1);
      assert (asked_q == (look_mine || mine != '0));
      assert ((mine & (mine - 1'b1)) == '0 && !(look_mine && mine != '0));
      assert (2'(dut.u_invalidate.inv_q) != 2'd3 && 3'(dut.op_q) <= 3'd4);
      if (3'(dut.op_q) == 3'd1) assert (dut.u_waits.wait_free != '0);
      if (3'(dut.op_q) inside {3'd2, 3'd3}) begin
        assert (32'(dut.slot_q) < NumWait);
        assert (dut.u_waits.wait_valid_q[dut.slot_q] &&
                dut.u_waits.wait_q[dut.slot_q] == dut.look_q);
        if (3'(dut.op_q) == 3'd3) assert (dut.u_waits.wait_linked_q[dut.slot_q]);
        else assert (!dut.u_waits.wait_linked_q[dut.slot_q]);
      end
      if (dut.u_invalidate.inv_q != 2'd0) assert (dut.inv_valid);
      if (2'(dut.u_invalidate.inv_q) == 2'd2) assert (3'(dut.op_q) inside {3'd0});
      if (phase_q == Sent) begin
        assert (2'(place_q - dut.u_invalidate.u_inv.rptr_q) <
                2'(dut.u_invalidate.u_inv.wptr_q - dut.u_invalidate.u_inv.rptr_q));
        assert (((W'(dut.u_invalidate.u_inv.mem_q[place_q[0]] >> 4) ^ page_q) >>
                 3'(dut.u_invalidate.u_inv.mem_q[place_q[0]] >> 1)) == '0);
      end
      assert (2'(dut.u_invalidate.u_inv.wptr_q - dut.u_invalidate.u_inv.rptr_q) <= 2'd2);
      for (int unsigned i = 0; i < 2; i++) begin
        if (2'(dut.u_invalidate.u_inv.wptr_q - dut.u_invalidate.u_inv.rptr_q) > 2'(i)) begin
          automatic logic [8:0] word =
              dut.u_invalidate.u_inv.mem_q[1'(dut.u_invalidate.u_inv.rptr_q + 2'(i))];
          assert (word[3:1] <= 3'(W) && (word[8:4] >> word[3:1] << word[3:1]) == word[8:4]);
        end
      end
      if (cpl_gives) begin
        assert (may_q[dut.u_misses.cpl_id_q]);
        if (read_only_q) assert (!dut.u_misses.cpl_result_q.write);
      end
      cover (rsp_valid_o && rsp_status_o == StatusOk && dut.look_q.vpn == page_q &&
             rsp_ppn_o == frame_q &&
             phase_q == Sent && dut.op_q == 3'd3);
      cover (over && may_q[0] && state_wait[0] && dut.u_waits.wait_valid_q[0]);
      cover (rsp_valid_o && rsp_status_o == StatusDenied);
    end
  end
endmodule
