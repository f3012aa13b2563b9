// SPDX-License-Identifier: SHL-2.1
/// rdma_bar: each beat that the host writes reaches the one block of its address a cycle later,
/// with its own address, data and strobes; a burst has one answer, an error if a beat of it was no
/// whole beat of a table; each beat of a read is the table's, or an error; all of the registers
/// passes unchanged and to nothing else, in either direction.
///
/// Assumed: a beat comes with its burst's address or behind it; the registers and the tables answer
/// what they were asked, and nothing else.
module rdma_bar_props
  import rdma_pkg::*;
(
  input logic                   clk_i,
  input logic                   ready_i,
  input axi_pkg::bar_request_t  bar_i,
  input axi_pkg::bar_response_t bus_i,
  input logic                   table_rvalid_i,
  input beat_t                  table_rdata_i
);
  logic rst_ni, table_we_o, table_re_o, refused_o, idle_o;
  axi_pkg::bar_response_t bar_o;
  axi_pkg::bar_request_t bus_o;
  store_t store_o;
  logic [15:3] table_addr_o, table_raddr_o;
  beat_t table_data_o;

  rdma_bar dut (.*);

  logic started_q = 1'b0;
  always_ff @(posedge clk_i) started_q <= 1'b1;
  assign rst_ni = started_q;

  // The address of the beat behind one: INCR, aligned to its size.
  function automatic logic [15:0] behind(logic [15:0] addr, logic [2:0] size);
    logic [15:0] bytes;
    bytes = 16'd1 << (size > 3'd3 ? 2'd3 : size[1:0]);
    return (addr & ~(bytes - 16'd1)) + bytes;
  endfunction

  // ---------------------------------------------------------------- writes
  typedef enum logic [1:0] {None, Own, Done, Bus} write_e;
  write_e write_q;
  logic [15:0] next_q, at;  // address of the next beat, and of this cycle's
  logic [3:0] wid_q;
  logic [2:0] wsize_q, wsize;
  logic failed_q, aw_take, own_aw, w_take, own_beat, in_table, whole;
  assign aw_take  = bar_i.awvalid && bar_o.awready;
  assign own_aw   = aw_take && bar_i.awaddr[15:14] != 2'd0;
  assign w_take   = bar_i.wvalid && bar_o.wready;
  assign own_beat = w_take && (write_q == Own || own_aw);
  assign at       = write_q == Own ? next_q : bar_i.awaddr[15:0];
  assign wsize    = write_q == Own ? wsize_q : bar_i.awsize;
  assign in_table = at[15:14] == 2'd3;
  assign whole    = bar_i.wstrb == '1;
  always_ff @(posedge clk_i) begin
    if (!started_q) write_q <= None;
    else begin
      if (aw_take) begin
        write_q  <= own_aw ? Own : Bus;
        wid_q    <= bar_i.awid;
        wsize_q  <= bar_i.awsize;
        next_q   <= bar_i.awaddr[15:0];
        failed_q <= 1'b0;
      end
      if (own_beat) begin
        next_q <= behind(at, wsize);
        if (in_table && !whole) failed_q <= 1'b1;
        if (bar_i.wlast) write_q <= Done;
      end
      if (bar_o.bvalid && bar_i.bready) write_q <= None;
    end
  end
  // A cycle later.
  logic beat_q, whole_q, last_q;
  logic [15:0] at_q;
  beat_t data_q;
  logic [7:0] strb_q;
  always_ff @(posedge clk_i) begin
    beat_q  <= started_q && own_beat;
    whole_q <= whole;
    last_q  <= bar_i.wlast;
    at_q    <= at;
    data_q  <= bar_i.wdata;
    strb_q  <= bar_i.wstrb;
  end

  // ---------------------------------------------------------------- reads
  typedef enum logic [1:0] {Nothing, Mine, Theirs} read_e;
  read_e read_q;
  logic [3:0] rid_q;
  logic [15:0] raddr_q;
  logic [2:0] rsize_q;
  logic [7:0] left_q;
  logic asked_q, got_q, ar_take, r_take, readable;
  beat_t word_q;
  assign ar_take  = bar_i.arvalid && bar_o.arready;
  assign r_take   = bar_o.rvalid && bar_i.rready;
  assign readable = raddr_q[15:14] == 2'd3;
  always_ff @(posedge clk_i) begin
    if (!started_q) begin
      read_q            <= Nothing;
      {asked_q, got_q} <= '0;
    end else begin
      if (ar_take) begin
        read_q  <= bar_i.araddr[15:14] == 2'd0 ? Theirs : Mine;
        rid_q   <= bar_i.arid;
        raddr_q <= bar_i.araddr[15:0];
        rsize_q <= bar_i.arsize;
        left_q  <= bar_i.arlen;
      end
      if (table_re_o) asked_q <= 1'b1;
      if (asked_q && table_rvalid_i) begin
        asked_q <= 1'b0;
        got_q   <= 1'b1;
        word_q  <= table_rdata_i;
      end
      if (r_take) begin
        got_q <= 1'b0;
        if (bar_o.rlast) read_q <= Nothing;
        if (read_q == Mine) begin
          raddr_q <= behind(raddr_q, rsize_q);
          left_q  <= left_q - 8'd1;
        end
      end
    end
  end

  // ---------------------------------------------------------------- what the surroundings do
  always_comb begin
    if (!started_q) assume (!bar_i.awvalid && !bar_i.wvalid && !bar_i.arvalid);
    assume (bar_i.awsize <= 3'd3 && bar_i.arsize <= 3'd3);
    if (write_q inside {None, Done}) assume (!bar_i.wvalid || bar_i.awvalid);
    if (write_q != Bus) assume (!bus_i.bvalid);
    if (read_q != Theirs) assume (!bus_i.rvalid);
    if (!asked_q) assume (!table_rvalid_i);
  end

  always_comb begin
    if (started_q) begin
      // A beat of the host's to the block of its address.
      assert (store_o.request == (beat_q && at_q[15:14] == 2'd1));
      assert (store_o.message == (beat_q && at_q[15:14] == 2'd2));
      assert (table_we_o == (beat_q && at_q[15:14] == 2'd3 && whole_q));
      assert (refused_o == (beat_q && at_q[15:14] == 2'd3 && !whole_q));
      if (beat_q) begin
        assert (store_o.addr == at_q[13:3] && store_o.data == data_q);
        assert (store_o.strb == strb_q && store_o.last == last_q);
        assert (table_addr_o == at_q[15:3] && table_data_o == data_q);
      end
      assert (store_o.coming == (own_beat && at[15:14] == 2'd1 && !at[3] && !bar_i.wlast));
      // Addresses, beats and answers of writes.
      assert (bar_o.awready == (write_q == None && ready_i &&
                                (bar_i.awaddr[15:14] != 2'd0 || bus_i.awready)));
      assert (bar_o.wready == (write_q == Own || own_aw || (write_q == Bus && bus_i.wready)));
      assert (bar_o.bvalid == (write_q == Done || (write_q == Bus && bus_i.bvalid)));
      if (bar_o.bvalid && write_q == Done) begin
        assert (bar_o.bid == wid_q && bar_o.bresp == (failed_q ? 2'b10 : 2'b00));
      end
      if (bar_o.bvalid && write_q == Bus) begin
        assert (bar_o.bid == bus_i.bid && bar_o.bresp == bus_i.bresp);
      end
      // Reads.
      assert (bar_o.arready == (read_q == Nothing && ready_i &&
                                (bar_i.araddr[15:14] != 2'd0 || bus_i.arready)));
      if (table_re_o) begin
        assert (read_q == Mine && readable && !asked_q && !got_q);
        assert (table_raddr_o == raddr_q[15:3]);
      end
      if (bar_o.rvalid && read_q == Mine) begin
        assert (bar_o.rid == rid_q && bar_o.rlast == (left_q == '0));
        assert (got_q == readable && bar_o.rdata == (readable ? word_q : '1));
        assert (bar_o.rresp == (readable ? 2'b00 : 2'b10));
      end
      if (read_q == Mine && got_q) assert (bar_o.rvalid);
      if (read_q == Theirs) begin
        assert (bar_o.rvalid == bus_i.rvalid);
        if (bar_o.rvalid) begin
          assert ({bar_o.rid, bar_o.rdata, bar_o.rresp, bar_o.rlast} ==
                  {bus_i.rid, bus_i.rdata, bus_i.rresp, bus_i.rlast});
        end
      end
      assert (bar_o.rvalid == (dut.rstate_q == 3'd3 || (read_q == Theirs && bus_i.rvalid)));
      // The registers see their own accesses, and no others.
      assert (bus_o.awvalid == (write_q == None && ready_i && bar_i.awvalid &&
                                bar_i.awaddr[15:14] == 2'd0));
      assert (bus_o.wvalid == (write_q == Bus && bar_i.wvalid));
      assert (bus_o.bready == (write_q == Bus && bar_i.bready));
      assert (bus_o.arvalid == (read_q == Nothing && ready_i && bar_i.arvalid &&
                                bar_i.araddr[15:14] == 2'd0));
      assert (bus_o.rready == (read_q == Theirs && bar_i.rready));
      assert ({bus_o.awid, bus_o.awaddr, bus_o.awsize, bus_o.wdata, bus_o.wstrb, bus_o.wlast} ==
              {bar_i.awid, bar_i.awaddr, bar_i.awsize, bar_i.wdata, bar_i.wstrb, bar_i.wlast});
      assert ({bus_o.arid, bus_o.araddr, bus_o.arlen, bus_o.arsize} ==
              {bar_i.arid, bar_i.araddr, bar_i.arlen, bar_i.arsize});
      assert (idle_o == (write_q == None && read_q == Nothing && !bar_i.awvalid &&
                         !bar_i.arvalid && !beat_q));
      // What makes the above inductive.
      assert (2'(dut.wstate_q) == (write_q == None ? 2'd0 : write_q == Own ? 2'd1 :
                                   write_q == Done ? 2'd2 : 2'd3));
      if (write_q == Own) assert (dut.waddr_q == next_q && dut.wsize_q == wsize_q);
      if (write_q inside {Own, Done}) begin
        assert (dut.wid_q == wid_q && dut.wfailed_q == failed_q);
      end
      if (write_q == Own) assert (wsize_q <= 3'd3);
      unique case (read_q)
        Nothing: assert (dut.rstate_q == 3'd0 && !asked_q && !got_q);
        Theirs:  assert (dut.rstate_q == 3'd4 && !asked_q && !got_q);
        Mine: begin
          assert (dut.rstate_q inside {[3'd1:3'd3]} && rsize_q <= 3'd3);
          assert (dut.rid_q == rid_q && dut.raddr_q == raddr_q && dut.rsize_q == rsize_q);
          assert (dut.rleft_q == left_q && asked_q == (dut.rstate_q == 3'd2));
          assert (got_q == (dut.rstate_q == 3'd3 && readable));
          if (dut.rstate_q == 3'd2) assert (readable);
          if (dut.rstate_q == 3'd1) assert (table_re_o == readable);
          if (got_q) assert (dut.rdata_q == word_q);
          if (dut.rstate_q == 3'd3 && !readable) assert (dut.rdata_q == '1);
        end
        default: assert (1'b0);
      endcase
      cover (bar_o.bvalid && write_q == Done && failed_q);
      cover (r_take && read_q == Mine && left_q == 8'd0 && readable && rsize_q == 3'd2);
      cover (store_o.message && store_o.last && at_q[3]);
      cover (write_q == Bus && bar_o.bvalid && bar_i.bready);
    end
  end
endmodule
