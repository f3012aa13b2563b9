// SPDX-License-Identifier: SHL-2.1
/// rdma_flush: nothing is said to be in memory before a read behind its writes has come back; each
/// waiting flow is reported.
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
    if (mine && (ack_i | flush_i) != '0) assume ((number_i == number_q) == (watch_i && !seen_q && ask));
    if (dut.state_q != StWait) assume (!read_done_i);
    if (started_q) begin
      assert (dut.dirty_q == dirty_q);
      assert (last_q == (dut.state_q == StWait));
      // What is reported is safe.
      if (tells && seen_q && from == number_q) assert (safe_q);
      // An ACK behind a flush is one that was asked for.
      if (ack_o[flow_q]) assert (tells || (ack_i[flow_q] && !dut.far_q[flow_q]));
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
      if (dut.state_q == StTell && seen_q && dut.going_q[flow_q] && from == number_q) assert (safe_q);
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
