// SPDX-License-Identifier: SHL-2.1
/// rdma_send and rdma_spread: the window and the VOQs' room, whatever the host writes and the
/// network does.
///
/// One destination is watched; all are alike. What is read from the queues is arbitrary and may
/// change between two looks; so may links come and go. Its numbers are acknowledged, and its
/// packets leave, in any way that is possible: never more than there are. What a session's end has
/// torn does not go on in the next one.
module rdma_send_props
  import rdma_pkg::*;
  import rdma_tx_pkg::*;
#(
  parameter  int unsigned NumLinks  = 2,
  localparam int unsigned LinkWidth = $clog2(NumLinks),
  localparam int unsigned DataBeats = voq_beats(NumLinks) - ControlPackets * ControlBeats
) (
  input logic                 clk_i,
  input logic                 run_i,
  input logic                 bench_i,
  input coming_t              coming_i,
  input store_t               store_i,
  input logic [MaxHosts-1:0]  request_ready_i,
  input logic [MaxHosts-1:0]  message_ready_i,
  input heads_t               heads_i,
  input beat_t                request_data_i,
  input logic                 message_grant_i,
  input beat_t                message_data_i,
  input logic [MaxHosts-1:0]  open_next_i,
  input session_t             session_i,
  input logic [NumLinks-1:0]  up_i,
  input logic [MaxHosts-1:0]  stir_i,
  input flow_event_t          failed_i,
  input logic                 request_free_i,
  input logic                 message_free_i,
  input logic                 give_ready_i,
  input logic                 error_ready_i,
  // The network.
  input logic                 gone_i,
  input logic [LinkWidth-1:0] gone_link_i,
  input flow_t                gone_flow_i,
  input beats_t               gone_beats_i,
  input logic [6:0]           acked_i,       // so many numbers are acknowledged in this cycle
  input logic                 leaves_i,
  input seq_t                 other_next_i,  // of other destinations
  input logic [6:0]           other_lag_i,
  input logic [6:0]           other_left_i
);
  logic rst_ni;
  flow_event_t clear_i;
  flow_t flow_o;
  logic look_o, plan_o, idle_o;
  queue_read_t request_read_o, message_read_o;
  advance_t advance_o;
  commit_t commit_o;
  room_t [NumLinks-1:0] used_i;
  logic [LinkWidth-1:0] link_i;
  logic [NumLinks-1:0] mask_o;
  packet_grant_t packet_o;
  request_grant_t request_o;
  message_grant_t message_o;
  give_t give_o;
  send_error_t error_o;
  numbers_t numbers_i;
  seq_t next_i;
  logic [6:0] lag_i, left_i;
  assign numbers_i = '{next: next_i, session: session_i, lag: lag_i};
  logic [MaxHosts-1:0] open_i;
  always_ff @(posedge clk_i) open_i <= open_next_i;

  rdma_send #(
    .NumHosts(8),
    .NumLinks(NumLinks)
  ) dut (
    .*
  );

  rdma_spread #(
    .NumLinks(NumLinks)
  ) u_spread (
    .clk_i,
    .rst_ni,
    .clear_i            (clear_i.valid),
    .clear_flow_i       (clear_i.flow),
    .flow_i             (flow_o),
    .mask_i             (mask_o),
    .used_o             (used_i),
    .link_o             (link_i),
    .take_i             (packet_o.valid),
    .beats_i            (packet_o.beats),
    .gone_i,
    .gone_link_i,
    .gone_flow_i,
    .gone_beats_i,
    .up_i,
    .control_room_o     (),
    .own_room_o         (),
    .control_link_o     (),
    .control_take_i     (1'b0),
    .control_flow_i     ('0),
    .control_gone_i     (1'b0),
    .control_gone_flow_i('0)
  );

  // Reset, then the watched destination's counts are cleared, then all begins.
  logic started_q = 1'b0;
  logic live_q = 1'b0;
  localparam flow_t Watch = 3'd5;
  logic bench_q, looked_q;
  always_ff @(posedge clk_i) begin
    started_q <= 1'b1;
    live_q    <= started_q;
    looked_q  <= started_q && look_o;
    bench_q   <= bench_i;
  end
  assign rst_ni       = started_q;
  assign clear_i = '{valid: started_q && !live_q, flow: Watch};

  // ---------------------------------------------------------------- the watched flow
  seq_t next_q, acked_q;
  logic [6:0] left_q, lag, away;
  logic here;
  assign here   = flow_o == Watch;
  assign lag    = 7'(next_q - acked_q);
  assign away   = next_q[6:0] - left_q;
  assign next_i = here ? next_q : other_next_i;
  assign lag_i  = here ? lag : other_lag_i;
  assign left_i = here ? left_q : other_left_i;

  always_ff @(posedge clk_i) begin
    if (!live_q) begin
      next_q  <= '0;
      acked_q <= '0;
      left_q  <= '0;
    end else begin
      if (commit_o.valid && here) next_q <= next_q + 16'(commit_o.count);
      acked_q <= acked_q + 16'(acked_i);
      left_q  <= left_q + 7'(leaves_i);
    end
  end

  room_t [NumLinks-1:0] used;
  for (genvar l = 0; l < int'(NumLinks); l++) begin : gen_used
    assign used[l] = u_spread.gen_link[l].put_q[Watch] - u_spread.gen_link[l].got_q[Watch];
  end

  // ---------------------------------------------------------------- what a grant still takes
  // Packets that are left go to the links in turn, beginning at link_i.
  logic planning, judging;
  logic [4:0] packets;
  logic [4:0] onto [NumLinks];
  assign planning = dut.state_q == 4'd7 && here;
  assign judging  = (dut.state_q >= 4'd2 && dut.state_q <= 4'd6) || dut.state_q == 4'd10;
  assign packets  = 5'(dut.left_q) + 5'd1;
  logic [2:0] links;
  logic [2:0] ahead [NumLinks];  // links that take their turn before this one
  always_comb begin
    links = '0;
    for (int l = 0; l < int'(NumLinks); l++) links = links + 3'(mask_o[l]);
    for (int l = 0; l < int'(NumLinks); l++) begin
      ahead[l] = '0;
      for (int k = 0; k < int'(NumLinks); k++) begin
        if (mask_o[k] && k != l &&
            (k < l) == ((LinkWidth'(k) >= link_i) == (LinkWidth'(l) >= link_i))) begin
          ahead[l] = ahead[l] + 3'd1;
        end
      end
      onto[l] = mask_o[l] ? share(packets + 5'(links) - 5'(ahead[l]) - 5'd1, links) : '0;
    end
  end
  // Rounded down, of 10 at most.
  function automatic logic [4:0] share(logic [4:0] count, logic [2:0] over);
    unique case (over)
      3'd1:    return count;
      3'd2:    return count >> 1;
      default: return count < 5'd3 ? 5'd0 : count < 5'd6 ? 5'd1 : count < 5'd9 ? 5'd2 : 5'd3;
    endcase
  endfunction
  function automatic logic [11:0] longest(logic [4:0] count);  // beats of so many longest packets
    unique case (count)
      5'd0:    return 12'd0;
      5'd1:    return 12'd67;
      5'd2:    return 12'd134;
      5'd3:    return 12'd201;
      5'd4:    return 12'd268;
      5'd5:    return 12'd335;
      5'd6:    return 12'd402;
      5'd7:    return 12'd469;
      default: return 12'd536;
    endcase
  endfunction
  // The look in progress went past the reckoning.
  logic quick_q;
  always_ff @(posedge clk_i) begin
    if (dut.state_q == 4'd2) quick_q <= dut.message_q && dut.u_room.roomy_o;
    if (dut.state_q == 4'd3) quick_q <= dut.want.plain && dut.u_room.roomy_q;
    if (dut.state_q == 4'd10) quick_q <= dut.want.plain && dut.u_room.roomy_o;
  end

  // A part of the next request was granted, the last one not; and its session has ended since.
  logic part_q, torn_q, granted;
  assign granted = request_o.valid && here;
  always_ff @(posedge clk_i) begin
    if (!live_q) begin
      part_q <= 1'b0;
      torn_q <= 1'b0;
    end else begin
      if (granted) part_q <= !request_o.job.final_part;
      if (failed_i.valid && failed_i.flow == Watch) begin
        torn_q <= part_q || (granted && !request_o.job.final_part);
      end
      if (give_o.valid && here && !give_o.back.message) begin
        part_q <= 1'b0;
        torn_q <= 1'b0;
      end
    end
  end

  logic sized;  // what is looked at has a length that there is
  assign sized = dut.u_decode.legal_q && !(dut.message_q && dut.u_decode.source_bad_q);
  logic single;  // one packet alone: its own beats
  assign single = dut.u_decode.packets_q == 4'd1;

  // ---------------------------------------------------------------- turns, links and errors
  logic [NumLinks-1:0] up_q, up_begin_q;   // a cycle ago; when the look began
  logic [MaxHosts-1:0] after_q;            // above the flow that was looked at last
  logic changed_q, turn_q, aside_due_q, caught_q, refused_ok_q;
  logic [7:0] tag_q;                       // of what is looked at
  flow_t aside_flow_q;
  logic there, found, no_room;
  assign there   = !dut.early_q || request_ready_i[flow_o];
  assign found   = dut.state_q == 4'd2 ? (dut.message_q ? message_ready_i[flow_o]
                                                        : request_ready_i[flow_o])
                                       : dut.state_q == 4'd6 && there;
  assign no_room = dut.state_q == 4'd6 && there && !commit_o.valid && !dut.refuse;
  always_ff @(posedge clk_i) begin
    up_q     <= started_q ? up_i : '0;
    caught_q <= store_i.request && store_i.strb == '1 && store_i.last &&
                store_i.addr == {flow_o, heads_i.slot, 1'b1};
    if (dut.state_q == 4'd0) up_begin_q <= up_i;
    if (dut.state_q == 4'd1) tag_q <= dut.message_q ? {1'b1, heads_i.number} : {1'b0, heads_i.slot};
    if (dut.refuse) refused_ok_q <= dut.want.legal;
    if (!started_q) begin
      changed_q   <= 1'b0;
      turn_q      <= 1'b0;
      aside_due_q <= 1'b0;
      after_q     <= '0;
    end else begin
      changed_q <= dut.state_q != 4'd0 && (changed_q || stir_i[flow_o] || up_i != up_q);
      if (found) after_q <= ~((MaxHosts'(2) << flow_o) - 1'b1);
      if (here && (commit_o.valid || dut.refuse)) turn_q <= !dut.message_q;
      else if (here && no_room) turn_q <= dut.message_q;
      if (clear_i.valid) turn_q <= 1'b0;
      aside_due_q  <= no_room && dut.open_q && !changed_q && !stir_i[flow_o] && up_i == up_q &&
                      !(clear_i.valid && here);
      aside_flow_q <= flow_o;
    end
  end

  always_comb begin
    if (started_q) begin
      if (!live_q) assume (!run_i);
      // The network gives back what it has.
      assume (32'(gone_link_i) < NumLinks);
      if (gone_i && gone_flow_i == Watch) assume (11'(gone_beats_i) <= used[gone_link_i]);
      assume (acked_i <= lag);
      assume (bench_i == bench_q);
      if (coming_i.early) assume (coming_i.valid && !coming_i.message);
      if (leaves_i) assume (away != '0);
    end
    if (started_q && !live_q) assert (dut.state_q == 4'd0 && !aside_due_q);
    if (started_q) begin
      // The flow that was looked at last comes last.
      assert (dut.u_pick.after_q == after_q);
      assert (dut.u_pick.stirred_q == changed_q && dut.u_pick.up_q == up_q);
    end
    if (live_q) begin
      // The window: numbers that were given and not acknowledged, or have not left.
      assert (lag <= 7'd64 && away <= 7'd64);
      assert (16'(next_q - acked_q) <= 16'd64);
      // Room: what data takes of a VOQ leaves the control packets theirs.
      for (int l = 0; l < int'(NumLinks); l++) assert (used[l] <= 11'(DataBeats));
      // A packet is one, and goes to a link that was up.
      if (packet_o.valid) begin
        assert (mask_o[link_i] && packet_o.beats > 7'd1 && packet_o.beats <= 7'(MaxBeats));
      end
      if (commit_o.valid) assert (commit_o.count >= 4'd1 && commit_o.count <= 4'd8);
      // The rest of what a session's end has torn is not granted: it is refused, as a whole.
      if (granted) assert (!torn_q);
      // Nothing is read but what was looked at, to the cycle before.
      if (request_o.read) assert (looked_q);
      if (idle_o) assert (!look_o);
      if (request_o.read) begin
        assert (request_o.beats >= 10'd1 && request_o.beats <= 10'd512);
        assert (request_o.beats <= 10'(7'(commit_o.count) << 6) &&
                request_o.beats > 10'(7'(commit_o.count - 4'd1) << 6));
      end
      assert (!(request_o.valid && message_o.valid));
      if (commit_o.valid) assert (open_i[flow_o]);
      // A destination's other queue comes first if this one was decided. What has no room is put
      // aside, unless something has changed since its look began.
      assert (dut.u_pick.turn_q[Watch] == turn_q);
      if (aside_due_q) assert (dut.u_pick.aside_q[aside_flow_q]);
      // The links are those that were up when the look began.
      if (dut.state_q != 4'd0) assert (mask_o == up_begin_q);
      // A message's header is read once; an error says what was wrong with which.
      if (message_read_o.re) assert (dut.state_q == 4'd1 && dut.message_q);
      if (error_o.valid) begin
        assert (error_o.flow == flow_o && error_o.tag == tag_t'(tag_q));
        assert (error_o.code == (refused_ok_q ? CodeSession : CodeDescriptor));
        assert (error_o.address == dut.u_decode.source_q);
      end
      // What came early is a slot of its own, and waits for its release.
      if ((commit_o.valid || dut.refuse) && dut.early_q) begin
        assert (request_ready_i[flow_o] && !dut.message_q && !advance_o.two);
        if (commit_o.valid) assert (commit_o.count == 4'd1 && advance_o.only);
      end

      // Inductive strengthening.
      if (dut.state_q == 4'd10) assert (caught_q);
      if (dut.state_q == 4'd8 || dut.state_q == 4'd9) begin
        assert (dut.torn_error_q == refused_ok_q);
      end
      if (dut.state_q >= 4'd2) begin
        assert ((dut.message_q ? {1'b1, dut.number_q} : {1'b0, dut.slot_q}) == tag_q);
      end
      assert (dut.u_parts.part_q[Watch] == part_q && dut.u_parts.torn_q[Watch] == torn_q);
      assert (dut.state_q <= 4'd10);
      if (dut.state_q != 4'd0) assert (mask_o != '0);
      if (judging) begin
        assert (dut.u_room.link_q == link_i);
        if (here) begin
          assert (lag <= dut.u_room.lag_q && dut.u_room.lag_q <= 7'd64);
          assert (away <= dut.u_room.away_q && dut.u_room.away_q <= 7'd64);
          for (int l = 0; l < int'(NumLinks); l++) begin
            assert (used[l] <= dut.u_room.used_q[l] && dut.u_room.used_q[l] <= 11'(DataBeats));
          end
        end
      end
      if (dut.state_q != 4'd0 && dut.state_q != 4'd1) assert (dut.open_q == open_i[flow_o]);
      if (dut.state_q >= 4'd4 && dut.state_q <= 4'd7 &&
          (sized || dut.state_q == 4'd7)) begin
        assert (dut.u_decode.packets_q >= 4'd1 && dut.u_decode.packets_q <= 4'd8);
        assert (dut.u_decode.beats_q <= 10'(7'(dut.u_decode.packets_q) << 6) &&
                dut.u_decode.beats_q > 10'(7'(dut.u_decode.packets_q - 4'd1) << 6));
      end
      if (judging) assert (dut.u_room.links_q == links);
      if (dut.early_q && dut.state_q != 4'd0) begin
        assert (dut.state_q <= 4'd2 || dut.state_q >= 4'd6);
        assert (!dut.message_q);
        if (dut.state_q == 4'd6) assert (quick_q);
      end
      if (dut.state_q >= 4'd3 && dut.state_q <= 4'd6) begin
        for (int l = 0; l < int'(NumLinks); l++) begin
          assert (dut.u_room.free_q[l] == 11'(DataBeats) - dut.u_room.used_q[l]);
        end
      end
      if (dut.state_q >= 4'd3 && dut.state_q <= 4'd6 && dut.u_room.roomy_q) begin
        assert (dut.u_room.lag_q < 7'd64 && dut.u_room.away_q < 7'd64);
        assert (dut.u_room.used_q[dut.u_room.link_q] <= 11'(DataBeats - MaxBeats));
      end
      if (dut.state_q == 4'd3) assert (dut.u_room.room_ok_q && dut.u_room.window_ok_q);
      if (dut.state_q == 4'd4 || dut.state_q == 4'd5) assert (!quick_q);
      if (dut.state_q == 4'd6 && quick_q) begin
        assert (dut.u_room.roomy_q && dut.u_room.room_ok_q && dut.u_room.window_ok_q &&
                !dut.u_decode.extended);
        if (sized) assert (dut.u_decode.packets_q == 4'd1);
      end
      if (dut.state_q == 4'd5 || (dut.state_q == 4'd6 && !quick_q)) begin
        if (sized) begin
          assert (dut.u_room.need_all_q ==
                  longest(share(5'(dut.u_decode.packets_q) + 5'(links) - 5'd1, links)));
          assert (dut.u_room.need_one_q == 11'(dut.want.head) + 11'(dut.u_decode.beats_q));
        end
        assert (dut.u_room.window_ok_q ==
                (8'(dut.u_room.lag_q) + 8'(dut.u_decode.packets_q) <= 8'd64 &&
                 8'(dut.u_room.away_q) + 8'(dut.u_decode.packets_q) <= 8'd64));
      end
      if (dut.state_q == 4'd6 && !quick_q) assert (dut.u_room.room_ok_q == dut.u_room.room_ok);
      if (dut.state_q == 4'd7) begin
        assert (dut.left_q < dut.u_decode.packets_q);
        assert (dut.rest_q <= 10'(7'(packets) << 6) && dut.rest_q > 10'(7'(packets - 5'd1) << 6));
      end
      if (planning) begin
        for (int l = 0; l < int'(NumLinks); l++) begin
          if (single) begin
            if (link_i == LinkWidth'(l)) assert (used[l] + 11'(packet_o.beats) <= 11'(DataBeats));
          end else begin
            assert (12'(used[l]) + longest(onto[l]) <= 12'(DataBeats));
          end
        end
      end

      cover (commit_o.valid && here && commit_o.count == 4'd8 && mask_o == '1);
      cover (commit_o.valid && here && !dut.u_decode.final_q);
      cover (commit_o.valid && here && quick_q);
      cover (commit_o.valid && here && dut.early_q);
      cover (commit_o.valid && here && !quick_q && single);
      cover (give_o.valid && error_ready_i);
      cover (packet_o.valid && here && lag == 7'd8);
    end
  end
endmodule
