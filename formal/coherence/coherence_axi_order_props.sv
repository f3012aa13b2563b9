// SPDX-License-Identifier: SHL-2.1
/// coherence_axi_order: each entry comes once, when it is done, those of a stream in their order;
/// it is held until it is taken; one that can come does so in the next cycle, and with stay_i the
/// next one is of the same stream.
///
/// One entry is watched, each time that it is pushed. The caller has an entry open once at a time,
/// and done until it is taken.
module coherence_axi_order_props #(
  parameter int unsigned Entries = 4,
  parameter int unsigned Streams = 2
) (
  input logic               clk_i,
  input logic               push_i,
  input logic [1:0]         push_entry_i,
  input logic [0:0]         push_stream_i,
  input logic [Entries-1:0] done_i,
  input logic               take_i,
  input logic               stay_i
);
  logic rst_ni, valid_o;
  logic [1:0] entry_o;
  coherence_axi_order #(.Entries(Entries), .Streams(Streams)) dut (.*);

  logic started_q = 1'b0;
  always_ff @(posedge clk_i) started_q <= 1'b1;
  assign rst_ni = started_q;

  // ---------------------------------------------------------------- what the caller knows
  logic [Entries-1:0] open_q, done_q, stream_q;
  logic               take, push, stands_q, took_q, stayed_q, last_stream_q;
  logic [1:0]         entry_q;
  assign take = valid_o && take_i;
  assign push = push_i;
  always_ff @(posedge clk_i) begin
    if (!started_q) begin
      open_q <= '0;
      {stands_q, stayed_q, took_q} <= '0;
    end else begin
      if (push) begin
        open_q[push_entry_i]   <= 1'b1;
        stream_q[push_entry_i] <= push_stream_i[0];
      end
      if (take) open_q[entry_o] <= 1'b0;
      stands_q <= valid_o && !take_i;
      took_q   <= take;
      if (take) begin
        stayed_q      <= stay_i;
        last_stream_q <= stream_q[entry_o];
      end
    end
    done_q  <= done_i;
    entry_q <= entry_o;
  end

  // The watched entry: those of its stream in front of it that are not at the port yet.
  logic [1:0] mine_q;
  always_ff @(posedge clk_i) mine_q <= mine_q;
  logic       waits_q;  // it is open and not at the port
  logic [2:0] ahead_q;
  logic [1:0][2:0] used;
  assign used[0] = dut.gen_stream[0].u_entries.usage_o;
  assign used[1] = dut.gen_stream[1].u_entries.usage_o;
  always_ff @(posedge clk_i) begin
    if (!started_q) waits_q <= 1'b0;
    else if (push && push_entry_i == mine_q) begin
      waits_q <= 1'b1;
      ahead_q <= used[push_stream_i] - 3'(dut.gnt[push_stream_i]);
    end else if (waits_q && dut.gnt[stream_q[mine_q]]) begin
      if (ahead_q == '0) waits_q <= 1'b0;
      ahead_q <= ahead_q - 3'd1;
    end
  end

  // Whether one could have come in the cycle before.
  logic could_q;
  logic [1:0] able;
  always_ff @(posedge clk_i) begin
    could_q <= started_q && (!valid_o || take_i) &&
               ((valid_o ? stay_i : stayed_q) ? able[valid_o ? stream_q[entry_o] : last_stream_q] :
                able != '0);
  end
  for (genvar s = 0; s < 2; s++) begin : gen_able
    assign able[s] = used[s] != '0 && done_i[dut.head[s]];
  end

  logic [1:0] place;  // of the watched entry in its stream's queue
  logic [1:0][3:0][1:0] queue;
  logic [1:0][3:0] queued;
  assign place = (stream_q[mine_q] ? dut.gen_stream[1].u_entries.rptr_q[1:0] :
                  dut.gen_stream[0].u_entries.rptr_q[1:0]) + ahead_q[1:0];
  for (genvar s = 0; s < 2; s++) begin : gen_queue
    for (genvar i = 0; i < 4; i++) begin : gen_place
      logic [1:0] at;
      assign at = 2'(i) - dut.gen_stream[s].u_entries.rptr_q[1:0];
      assign queue[s][i]  = dut.gen_stream[s].u_entries.mem_q[i];
      assign queued[s][i] = 3'(at) < used[s];
    end
  end

  always_comb begin
    if (started_q) begin
      assume (!push_i || !open_q[push_entry_i]);
      for (int unsigned e = 0; e < Entries; e++)
        if (open_q[e] && done_q[e] && !(took_q && entry_q == 2'(e))) assume (done_i[e]);

      // What is offered is open, done and held.
      if (stands_q) assert (valid_o && entry_o == entry_q);
      if (valid_o && entry_o == mine_q) assert (open_q[mine_q] && !waits_q && done_i[mine_q]);
      // It comes when those of its stream that came before it have.
      if (waits_q && dut.gnt[stream_q[mine_q]]) assert ((dut.chosen == mine_q) == (ahead_q == '0));
      // The next one comes at once, of the same stream where that was asked for.
      if (!stands_q) assert (valid_o == could_q);
      if (valid_o && !stands_q && stayed_q) assert (stream_q[entry_o] == last_stream_q);
      // What makes the above inductive.
      if (open_q[mine_q]) assert (waits_q == !(valid_o && entry_o == mine_q));
      else assert (!waits_q && !(valid_o && entry_o == mine_q));
      if (waits_q) begin
        assert (ahead_q < used[stream_q[mine_q]]);
        assert (queue[stream_q[mine_q]][place] == mine_q);
      end
      assert (4'(used[0]) + 4'(used[1]) + 4'(valid_o) ==
              4'(open_q[0]) + 4'(open_q[1]) + 4'(open_q[2]) + 4'(open_q[3]));
      assert (dut.u_turns.owner_q == '0 && dut.stay_q == stayed_q);
      if (valid_o) assert (open_q[entry_o] && dut.stream_q == 2'd1 << stream_q[entry_o]);
      // What is queued is open, of its queue's stream, once, and not at the port.
      for (int unsigned i = 0; i < Entries; i++) begin
        for (int unsigned s = 0; s < 2; s++) begin
          if (queued[s][i]) begin
            assert (open_q[queue[s][i]] && stream_q[queue[s][i]] == 1'(s));
            assert (!(valid_o && queue[s][i] == entry_o));
            if (queue[s][i] == mine_q) assert (waits_q && place == 2'(i));
            for (int unsigned j = 0; j < i; j++)
              assert (!(queued[s][j] && queue[s][j] == queue[s][i]));
          end
        end
      end
      if (!valid_o && stayed_q) assert (dut.stream_q == 2'd1 << last_stream_q);
      cover (take && stay_i && used[0] == 3'd2 && used[1] == 3'd1);
      cover (waits_q && ahead_q == 3'd3);
    end
  end
endmodule
