// SPDX-License-Identifier: SHL-2.1
/// rdma_departures: what is given back is what has left, in order, each number once.
///
/// One flow is watched; all are alike. It has at most Window numbers under way, which leave in any
/// order over two links; other flows, and control packets, do what they like. Whether a number has
/// left is a bit a place of the window. Of one word for the host, any: its count is the sum of what
/// was given back, and what is offered is the sum at that time, until it is taken.
module rdma_departures_props
  import rdma_pkg::*;
  import rdma_tx_pkg::*;
#(
  localparam int unsigned NumLinks  = 2,
  localparam int unsigned LinkWidth = 1
) (
  input logic                clk_i,
  input logic [NumLinks-1:0] departure_valid_i,
  input departure_t [NumLinks-1:0] departure_i,
  input logic                other_record_i,
  input flow_t               other_flow_i,
  input logic [5:0]          other_seq_i,
  input logic                given_i,          // a number of the watched flow is given
  input return_t             return_i,
  input logic                give_valid_i,
  input flow_t               give_flow_i,
  input return_t             give_return_i,
  input flow_t               flow_i,
  input logic                local_ready_i
);
  localparam flow_t Watch = 3'd5;

  logic rst_ni, clear_i, give_ready_o, record_i;
  logic [8:0] clear_addr_i;
  logic [NumLinks-1:0] departure_ready_o;
  flow_t record_flow_i;
  logic [5:0] record_seq_i;
  return_t record_return_i;
  logic [6:0] next_o;
  logic gone_o, control_gone_o, freed_o, freed_message_o, moved_o, local_valid_o;
  logic local_message_o, idle_o;
  logic [LinkWidth-1:0] gone_link_o;
  flow_t gone_flow_o, freed_flow_o, moved_flow_o, local_flow_o;
  beats_t gone_beats_o;
  logic [15:0] freed_count_o, local_count_o;

  rdma_departures #(.NumLinks(NumLinks)) dut (.*);

  logic started_q = 1'b0;
  always_ff @(posedge clk_i) started_q <= 1'b1;
  assign rst_ni = started_q;
  // Cleared is what 512 cycles leave: the base case begins there.
  assign clear_i      = 1'b0;
  assign clear_addr_i = '0;

  // ---------------------------------------------------------------- the watched flow
  logic [6:0]  given_q, back_q;   // numbers given; numbers given back
  logic [63:0] left_q;            // those of the window that have left
  logic [6:0]  under;
  logic [NumLinks-1:0] take, watched;
  logic        leaves;
  logic [6:0]  number;
  assign under = given_q - back_q;
  assign take  = departure_valid_i & departure_ready_o;
  always_comb begin
    leaves = 1'b0;
    number = '0;
    for (int l = 0; l < int'(NumLinks); l++) begin
      watched[l] = !departure_i[l].control && departure_i[l].flow == Watch;
      if (take[l] && watched[l]) begin
        leaves = 1'b1;
        number = departure_i[l].seq;
      end
    end
  end

  assign record_i        = given_i || other_record_i;
  assign record_flow_i   = given_i ? Watch : other_flow_i;
  assign record_seq_i    = given_i ? given_q[5:0] : other_seq_i;
  assign record_return_i = return_i;

  logic retire;
  assign retire = dut.retire && dut.flow_q == Watch;

  // A transfer's return, by number, for one place of the window.
  logic [5:0]  place_q;
  return_t     kept_q;
  always_ff @(posedge clk_i) begin
    place_q <= place_q;
    if (given_i && given_q[5:0] == place_q) kept_q <= return_i;
  end

  logic        retired_q;
  return_t     retired_return_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      given_q   <= '0;
      back_q    <= '0;
      left_q    <= '0;
      retired_q <= 1'b0;
    end else begin
      if (given_i) given_q <= given_q + 7'd1;
      if (leaves) left_q[number[5:0]] <= 1'b1;
      if (retire) begin
        left_q[back_q[5:0]] <= 1'b0;
        back_q              <= back_q + 7'd1;
      end
      retired_q <= retire;
    end
    retired_return_q <= dut.record;
  end
  // One of the host's words: a count that is to be reported is held until the word is made, and a
  // count that comes in that cycle is held for the next one.
  logic [3:0] word_q;
  logic due_q;
  always_ff @(posedge clk_i) begin
    word_q <= word_q;
    if (!rst_ni) due_q <= 1'b0;
    else due_q <= (due_q && !dut.tell[word_q]) ||
                  (dut.count_q && dut.back_q.notify && dut.which == word_q);
  end
  // Number of a place of the window that begins at back_q.
  function automatic logic [6:0] number_of(logic [5:0] place, logic [6:0] from);
    return from + {1'b0, place - from[5:0]};
  endfunction

  // What each departure frees, and what was given back, of one word in sum.
  logic gone_q, control_gone_q, moved_q, freed_q, tell_q, was_local_q, was_ready_q;
  logic [LinkWidth-1:0] link_q;
  flow_t flow_q, moved_flow_q, freed_flow_q;
  beats_t beats_q;
  return_t return_q;
  logic [15:0] sum_q, sum_was_q, local_count_q;
  logic [3:0] local_word_q, local_word, freed_word;
  logic given;
  assign given      = give_valid_i && give_ready_o;
  assign local_word = {local_message_o, local_flow_o};
  assign freed_word = {return_q.message, freed_flow_q};
  always_ff @(posedge clk_i) begin
    gone_q         <= 1'b0;
    control_gone_q <= 1'b0;
    for (int l = 0; l < int'(NumLinks); l++) begin
      if (take[l]) begin
        gone_q         <= started_q && !departure_i[l].control;
        control_gone_q <= started_q && departure_i[l].control;
        link_q         <= LinkWidth'(l);
        flow_q         <= departure_i[l].flow;
        beats_q        <= departure_i[l].beats;
      end
    end
    moved_q       <= started_q && dut.retire;
    moved_flow_q  <= dut.flow_q;
    freed_q       <= started_q && (given || (dut.retire && dut.record.last));
    freed_flow_q  <= given ? give_flow_i : dut.flow_q;
    return_q      <= given ? give_return_i : dut.record;
    tell_q        <= started_q && dut.tell[word_q];
    was_local_q   <= started_q && local_valid_o;
    was_ready_q   <= local_ready_i;
    local_word_q  <= local_word;
    local_count_q <= local_count_o;
    sum_was_q     <= sum_q;
    if (!started_q) sum_q <= '0;
    else if (freed_q && freed_word == word_q) sum_q <= sum_q + 16'(return_q.count);
  end

  always_comb begin
    if (!started_q) begin
      // What a clear leaves.
      assume (dut.given_q[word_q] == '0);
      for (int i = 0; i < 64; i++) assume (dut.u_marks.mem_q[{Watch, 6'(i)}] == 1'b1);
      assume (dut.next_q[Watch] == '0);
      assume (departure_valid_i == '0 && !give_valid_i);
    end else begin
      // Numbers are given while there is room in the window, and leave once.
      if (given_i) assume (under < 7'd64 && !other_record_i);
      if (other_record_i) assume (other_flow_i != Watch);
      for (int l = 0; l < int'(NumLinks); l++) begin
        if (departure_valid_i[l] && watched[l]) begin
          assume (7'(departure_i[l].seq - back_q) < under);
          assume (!left_q[departure_i[l].seq[5:0]]);
        end
      end
      // What made no packet comes while none of its flow is under way.
      if (give_valid_i && give_flow_i == Watch) assume (under == '0);

      // Only what has left is given back, in order; what is reported is the next number.
      if (retire) assert (under != '0 && left_q[back_q[5:0]]);
      if (flow_i == Watch) assert (next_o == back_q);
      // A place's record is the one that came with its number.
      if (retire && back_q[5:0] == place_q) assert (dut.record == kept_q);
      // A count follows each transfer's last number, and nothing else but what made no packet.
      if (retired_q) assert (dut.count_q == retired_return_q.last || dut.back_flow_q != Watch);
      if (retired_q && retired_return_q.last) begin
        assert (freed_o && freed_flow_o == Watch && freed_message_o == retired_return_q.message);
        assert (freed_count_o == dut.given_q[{retired_return_q.message, Watch}] +
                                 16'(retired_return_q.count));
      end
      assert (freed_o == dut.count_q);
      assert (dut.news_q[word_q] == due_q);

      // One departure a time, whose room is free a cycle later.
      assert ((take & (take - 1'b1)) == '0 && (departure_ready_o & ~departure_valid_i) == '0);
      assert (gone_o == gone_q && control_gone_o == control_gone_q);
      if (gone_q || control_gone_q) begin
        assert (gone_link_o == link_q && gone_flow_o == flow_q && gone_beats_o == beats_q);
      end
      assert (moved_o == moved_q && (!moved_q || moved_flow_o == moved_flow_q));
      assert (freed_o == freed_q);
      if (freed_q) begin
        assert (freed_flow_o == freed_flow_q && freed_message_o == return_q.message);
        if (freed_word == word_q) assert (freed_count_o == sum_q + 16'(return_q.count));
      end
      // A word for the host: offered when it is due, with the sum, and held until it is taken.
      if (tell_q) assert (local_valid_o && local_word == word_q);
      if (local_valid_o && local_word == word_q && !(was_local_q && !was_ready_q)) begin
        assert (tell_q && local_count_o == sum_was_q);
      end
      if (was_local_q) assert (local_valid_o == !was_ready_q);
      if (was_local_q && local_valid_o) begin
        assert (local_word == local_word_q && local_count_o == local_count_q);
      end

      // Inductive strengthening.
      assert (dut.given_q[word_q] == sum_q);
      if (freed_q) assert (dut.back_q == return_q && dut.back_flow_q == freed_flow_q);
      assert (dut.u_links.owner_q == '0 && dut.u_tell.owner_q == '0);
      assert (under <= 7'd64 && dut.next_q[Watch] == back_q && dut.state_q != 2'd3);
      for (int i = 0; i < 64; i++) begin
        assert ((dut.u_marks.mem_q[{Watch, 6'(i)}] == number_of(6'(i), back_q)[6]) == left_q[i]);
        if (left_q[i]) assert (7'(number_of(6'(i), back_q) - back_q) < under);
      end
      if (7'(number_of(place_q, back_q) - back_q) < under) begin
        assert (dut.u_records.mem_q[{Watch, place_q}] == kept_q);
      end
      if (dut.state_q == 2'd2 && dut.flow_q == Watch) begin
        // Read a cycle ago; a mark may have come into the memory only before that.
        assert (dut.left == dut.u_marks.mem_q[{Watch, back_q[5:0]}]);
        if (left_q[back_q[5:0]] && back_q[5:0] == place_q) assert (dut.record == kept_q);
      end

      cover (retire && under == 7'd3 && dut.record.last && back_q != '0);
      cover (retired_q && local_valid_o);
    end
  end
endmodule
