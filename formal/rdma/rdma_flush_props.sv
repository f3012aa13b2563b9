// SPDX-License-Identifier: SHL-2.1
/// rdma_flush: nothing is said to be in memory before a read behind its writes has come back; each
/// waiting flow is reported, with the number that it waited with. An ACK waits exactly where one is
/// asked for that speaks of memory, or where too much is retired and not known to be there; a read
/// is made only where something was answered since the last one.
///
/// One strobe of one flow is watched, with its number, which no other strobe has. It is safe when
/// every write that was answered before it was answered before the address of a read that has come
/// back good.
module rdma_flush_props
  import rdma_pkg::*;
(
  input logic       clk_i,
  input logic       enable_i,
  input logic [7:0] ack_i,
  input logic [7:0] flush_i,
  input logic [7:0] begin_i,
  input flow_t      src_i,
  input seq_t       number_i,
  input logic       answered_i,
  input logic       read_ready_i,
  input logic       read_done_i,
  input logic       read_failed_i,
  input flow_t      view_src_i,
  input logic       watch_i          // this strobe is watched
);
  logic rst_ni, read_valid_o, idle_o;
  logic [7:0] ack_o;
  seq_t view_stored_o;

  rdma_flush #(.NumHosts(8)) dut (.*);

  // States, by number: the proof's reader knows no names of another module.
  localparam logic [1:0] StRead = 2'd1;
  localparam logic [1:0] StWait = 2'd2;
  localparam logic [1:0] StTell = 2'd3;

  logic started_q = 1'b0;
  always_ff @(posedge clk_i) started_q <= 1'b1;
  assign rst_ni = started_q;

  flow_t flow_q;     // watched
  seq_t number_q;
  always_ff @(posedge clk_i) begin
    flow_q   <= flow_q;
    number_q <= number_q;
  end

  logic [7:0] one, wants;
  logic mine, begins, ask, reads, comes;
  assign one    = 8'd1 << src_i;
  assign wants  = flush_i | (ack_i & dut.far_q);
  assign mine   = src_i == flow_q;
  assign begins = begin_i[flow_q];
  assign ask    = wants[flow_q];
  assign reads  = read_valid_o && read_ready_i;
  assign comes  = read_done_i && dut.state_q == StWait;

  logic seen_q;      // the watched strobe was
  logic waiting_q;   // and its flow has not begun anew since, nor was it reported
  logic open_q;      // writes answered before it, and behind no address of a read
  logic under_q;     // an address of a read behind all of them is out, and its data is not here
  logic safe_q;      // such a read has come back
  logic dirty_q;     // the same of all writes so far: answered behind the last address
  logic last_q;      // a read is under way

  // The watched flow's number in memory is written from what it waited with.
  logic tells, fails;
  assign fails = comes && read_failed_i && dut.going_q[flow_q];
  seq_t from;
  assign tells = dut.told[flow_q];
  assign from  = dut.numbers_q[{!dut.phase_q, flow_q}];

  // ------------------------------------------------------------ what the flow's number is
  // The flow waits for the next read, or for the one under way; what it waited with, and what is
  // in memory.
  logic wait_q, going_q, far_q, go, strobes;
  seq_t wait_number_q, going_number_q, stored_q;
  logic [1:0] state_q;  // in the cycle before, and what it depends on
  logic dirty_at_q, ready_at_q, comes_at_q, failed_at_q, waits_at_q, none_at_q;
  assign go      = dut.state_q == 2'd0 && dut.wait_q != '0;
  assign strobes = ack_i[flow_q] || flush_i[flow_q];
  always_ff @(posedge clk_i) begin
    if (!started_q) begin
      {wait_q, going_q, far_q} <= '0;
      stored_q <= dut.stored_q[flow_q];
    end else begin
      wait_q  <= enable_i && ((wait_q && !go && !begins) || ask);
      going_q <= enable_i && !begins && (go ? wait_q : going_q && !tells);
      if (begins) far_q <= 1'b0;
      else if (strobes) far_q <= number_i - stored_q >= 16'd4096;
      if (begins) stored_q <= number_i;
      else if (tells) stored_q <= going_number_q;
    end
    if (go) going_number_q <= wait_number_q;
    if (ask) wait_number_q <= number_i;
    state_q     <= started_q ? dut.state_q : 2'd0;
    dirty_at_q  <= dut.dirty_q;
    ready_at_q  <= read_ready_i;
    comes_at_q  <= read_done_i;
    failed_at_q <= read_failed_i;
    waits_at_q  <= started_q && dut.wait_q != '0;
    none_at_q   <= dut.going_q == '0;
  end

  logic watched;
  assign watched = watch_i && ask && !seen_q;
  always_ff @(posedge clk_i) begin
    if (!started_q) begin
      {seen_q, waiting_q, open_q, under_q, safe_q, dirty_q, last_q} <= '0;
    end else begin
      seen_q    <= seen_q || watched;
      waiting_q <= enable_i && !begins && (watched || (waiting_q && !fails && !tells));
      dirty_q   <= answered_i || (dirty_q && !reads) || (comes && read_failed_i);
      last_q    <= reads || (last_q && !comes);
      if (watched) begin
        open_q  <= (dirty_q && !reads) || (!dirty_q && comes && read_failed_i);
        under_q <= reads || (!dirty_q && last_q && !comes);
        safe_q  <= !dirty_q && (!last_q || (comes && !read_failed_i));
      end else begin
        if (reads) {open_q, under_q} <= {1'b0, open_q || under_q};
        else if (comes) begin
          under_q <= 1'b0;
          if (under_q && !read_failed_i) safe_q <= 1'b1;
          if (under_q && read_failed_i) open_q <= 1'b1;
        end
      end
    end
  end

  always_comb begin
    if (!started_q) assume (ack_i == '0 && flush_i == '0 && begin_i == '0 && !answered_i);
    assume ((ack_i & ~one) == '0 && (flush_i & ~one) == '0 && (begin_i & ~one) == '0);
    assume (begin_i == '0 || (ack_i | flush_i) == '0);
    // Its number is its own.
    if (mine && (ack_i | flush_i) != '0)
      assume ((number_i == number_q) == (watch_i && !seen_q && ask));
    if (dut.state_q != StWait) assume (!read_done_i);
    if (started_q) begin
      assert (dut.dirty_q == dirty_q);
      assert (last_q == (dut.state_q == StWait));
      // What is reported is safe.
      if (tells && seen_q && from == number_q) assert (safe_q);
      // An ACK behind a flush is one that was asked for.
      assert (ack_o[flow_q] == (tells || (ack_i[flow_q] && !far_q)));
      if (tells) assert (going_q && dut.state_q == StTell && begin_i == '0);
      // One flow a cycle, until all that waited are answered.
      if (dut.state_q == StTell && begin_i == '0 && dut.going_q != '0) begin
        assert ($onehot(dut.told) && (dut.told & ~dut.going_q) == '0);
      end else begin
        assert (dut.told == '0);
      end
      // What is in memory: where the session began, or what the last flow answered waited with.
      if (view_src_i == flow_q) assert (view_stored_o == stored_q);
      assert (dut.far_q[flow_q] == far_q && dut.stored_q[flow_q] == stored_q);
      assert (dut.wait_q[flow_q] == wait_q && dut.going_q[flow_q] == going_q);
      if (wait_q) assert (dut.numbers_q[{dut.phase_q, flow_q}] == wait_number_q);
      if (going_q && dut.state_q != 2'd0) assert (from == going_number_q);
      // A read where something was answered since the last; behind it, or at once, all are done
      assert (read_valid_o == (dut.state_q == StRead));
      assert (idle_o == (dut.state_q == 2'd0 && dut.wait_q == '0));
      unique case (state_q)
        2'd0:    assert (dut.state_q == (!waits_at_q ? 2'd0 : dirty_at_q ? StRead : StTell));
        StRead:  assert (dut.state_q == (ready_at_q ? StWait : StRead));
        StWait:  assert (dut.state_q == (!comes_at_q ? StWait : failed_at_q ? 2'd0 : StTell));
        default: assert (dut.state_q == (none_at_q ? 2'd0 : StTell));
      endcase
      // A waiting flow is in one of the two lists, until it was reported or the read failed.
      if (waiting_q) begin
        assert (dut.wait_q[flow_q] || (dut.going_q[flow_q] && dut.state_q != 2'd0));
      end
      // A read is held until it is taken.
      if (dut.state_q == StRead) assert (read_valid_o && dirty_q);
    end

    // Inductive strengthening.
    if (started_q) begin
      if (seen_q) assert ($onehot({open_q, under_q, safe_q}));
      if (seen_q && under_q) assert (last_q);
      if (seen_q && open_q) assert (dirty_q);
      if (dut.state_q == StTell && seen_q && dut.going_q[flow_q] && from == number_q)
        assert (safe_q);
      if (dut.state_q == StWait && seen_q && dut.going_q[flow_q] && from == number_q) begin
        assert (safe_q || under_q);
      end
      if (!seen_q) begin
        assert (!dut.wait_q[flow_q] || dut.numbers_q[{dut.phase_q, flow_q}] != number_q);
        assert (!dut.going_q[flow_q] || from != number_q);
        assert (!waiting_q);
      end
      cover (tells && seen_q && from == number_q && safe_q && dut.state_q == StTell && !dirty_q);
      cover (comes && read_failed_i && dut.going_q[flow_q]);
    end
  end
endmodule
