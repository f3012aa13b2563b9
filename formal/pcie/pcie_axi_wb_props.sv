// SPDX-License-Identifier: SHL-2.1
/// pcie_axi_wb between an AXI master that may do all that AXI allows and a bus that takes and
/// answers within two clocks.
module pcie_axi_wb_props #(
  parameter int unsigned AddrWidth = 6,
  parameter int unsigned IdWidth   = 1
) (
  input logic                 clk_i,
  input logic                 awvalid_i,
  input logic [IdWidth-1:0]   awid_i,
  input logic [AddrWidth-1:0] awaddr_i,
  input logic [2:0]           awsize_i,
  input logic                 wvalid_i,
  input logic [63:0]          wdata_i,
  input logic [7:0]           wstrb_i,
  input logic                 wlast_i,
  input logic                 bready_i,
  input logic                 arvalid_i,
  input logic [IdWidth-1:0]   arid_i,
  input logic [AddrWidth-1:0] araddr_i,
  input logic [7:0]           arlen_i,
  input logic [2:0]           arsize_i,
  input logic                 rready_i,
  input logic                 wb_stall_i,
  input logic                 wb_ack_i,
  input logic                 wb_err_i,
  input logic [31:0]          wb_dat_i
);
  logic rst_ni;
  logic awready_o, wready_o, bvalid_o, arready_o, rvalid_o, rlast_o;
  logic [IdWidth-1:0] bid_o, rid_o;
  logic [1:0] bresp_o, rresp_o;
  logic [63:0] rdata_o;
  logic wb_cyc_o, wb_stb_o, wb_we_o, idle_o;
  logic [AddrWidth-1:0] wb_adr_o;
  logic [3:0] wb_sel_o;
  logic [31:0] wb_dat_o;

  axi_pkg::bar_request_t  bar_i;
  axi_pkg::bar_response_t bar_o;
  assign bar_i = {
      awvalid_i, 4'(awid_i), 32'(awaddr_i), awsize_i, wvalid_i, wdata_i, wstrb_i, wlast_i, bready_i,
      arvalid_i, 4'(arid_i), 32'(araddr_i), arlen_i, arsize_i, rready_i
  };
  assign awready_o = bar_o.awready;
  assign wready_o  = bar_o.wready;
  assign {bvalid_o, bresp_o, bid_o} = {bar_o.bvalid, bar_o.bresp, bar_o.bid[IdWidth-1:0]};
  assign arready_o = bar_o.arready;
  assign {rvalid_o, rresp_o, rlast_o, rdata_o, rid_o} = {
      bar_o.rvalid, bar_o.rresp, bar_o.rlast, bar_o.rdata, bar_o.rid[IdWidth-1:0]};

  pcie_axi_wb #(.AddrWidth(AddrWidth)) dut (.*);

  logic started_q = 1'b0;
  always_ff @(posedge clk_i) started_q <= 1'b1;
  assign rst_ni = started_q;

  // ---------------------------------------------------------------- requests that are not answered
  logic write_q, read_q;          // one is
  logic written_q;                // and its last beat was taken
  logic failed_q;                 // an operation of it was answered err
  logic [IdWidth-1:0] id_q;
  logic [8:0] beats_q;            // of the read, to come
  logic [AddrWidth-1:0] at_q;     // address of this beat
  logic [2:0] size_q;
  logic beat_q;                   // a beat of the write was taken and is being written, or
  logic [63:0] data_q;            // one of the read is being read: what came, lanes above and below
  logic [7:0] strb_q;
  logic [1:0] lanes_q;            // that have had no operation
  logic [1:0] lanes;
  logic asked_q, last_lane_q;     // an operation was taken; for the upper lane
  logic answered;
  logic [AddrWidth-1:0] next;
  logic [AddrWidth-1:0] bytes;
  assign bytes    = AddrWidth'(1) << size_q;
  assign next     = (at_q & ~(bytes - AddrWidth'(1))) + bytes;
  assign answered = asked_q && (wb_ack_i || wb_err_i);

  function automatic logic [1:0] lanes_of(logic [2:0] size, logic upper);
    return upper ? 2'b10 : size == 3'd3 ? 2'b11 : 2'b01;
  endfunction

  always_comb begin
    lanes = lanes_q;
    if (wb_stb_o) lanes[wb_adr_o[2]] = 1'b0;
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      write_q   <= 1'b0;
      read_q    <= 1'b0;
      written_q <= 1'b0;
      beat_q    <= 1'b0;
      asked_q   <= 1'b0;
      failed_q  <= 1'b0;
      lanes_q   <= '0;
    end else begin
      if (awvalid_i && awready_o) begin
        write_q   <= 1'b1;
        written_q <= 1'b0;
        failed_q  <= 1'b0;
        id_q      <= awid_i;
        at_q      <= awaddr_i;
        size_q    <= awsize_i;
        lanes_q   <= '0;
      end
      if (wvalid_i && wready_o) begin
        written_q <= wlast_i;
        beat_q    <= 1'b1;
        data_q    <= wdata_i;
        strb_q    <= wstrb_i;
        lanes_q   <= {|wstrb_i[7:4], |wstrb_i[3:0]};
        if (wstrb_i == '0) begin
          beat_q <= 1'b0;
          at_q   <= next;
        end
      end
      if (arvalid_i && arready_o) begin
        read_q   <= 1'b1;
        beat_q   <= 1'b1;
        failed_q <= 1'b0;
        id_q     <= arid_i;
        beats_q  <= 9'(arlen_i) + 9'd1;
        at_q     <= araddr_i;
        size_q   <= arsize_i;
        lanes_q  <= lanes_of(arsize_i, araddr_i[2]);
      end
      if (wb_stb_o && !wb_stall_i) begin
        asked_q     <= 1'b1;
        last_lane_q <= wb_adr_o[2];
        lanes_q     <= lanes;
      end
      if (answered) begin
        asked_q  <= 1'b0;
        failed_q <= failed_q || wb_err_i;
        if (read_q && last_lane_q) data_q[63:32] <= wb_err_i ? '1 : wb_dat_i;
        else if (read_q) data_q[31:0] <= wb_err_i ? '1 : wb_dat_i;
        if (lanes_q == '0) begin
          beat_q <= 1'b0;
          if (write_q) at_q <= next;
        end
      end
      if (bvalid_o && bready_i) write_q <= 1'b0;
      if (rvalid_o && rready_i) begin
        read_q   <= !rlast_o;
        beat_q   <= !rlast_o;
        beats_q  <= beats_q - 9'd1;
        at_q     <= next;
        failed_q <= 1'b0;
        lanes_q  <= rlast_o ? 2'b00 : lanes_of(size_q, next[2]);
      end
    end
  end

  // ---------------------------------------------------------------- a clock ago
  logic bvalid_q, bready_q, rvalid_q, rready_q, rlast_before_q, stb_q, stall_q, we_q;
  logic [1:0] bresp_q, rresp_q;
  logic [63:0] rdata_q;
  logic [AddrWidth-1:0] adr_q;
  logic [3:0] sel_q;
  logic [31:0] dat_q;
  // Clocks for which it has been up to the bus, and up to this block.
  logic [1:0] bus_q;
  logic [3:0] busy_q;
  logic bus;
  assign bus = (wb_stb_o && wb_stall_i) || (asked_q && !answered);
  always_ff @(posedge clk_i) begin
    bvalid_q  <= started_q && bvalid_o;
    bready_q  <= bready_i;
    bresp_q   <= bresp_o;
    rvalid_q  <= started_q && rvalid_o;
    rready_q  <= rready_i;
    rresp_q   <= rresp_o;
    rdata_q   <= rdata_o;
    rlast_before_q <= rlast_o;
    stb_q     <= started_q && wb_stb_o;
    stall_q   <= wb_stall_i;
    adr_q     <= wb_adr_o;
    sel_q     <= wb_sel_o;
    dat_q     <= wb_dat_o;
    we_q      <= wb_we_o;
    if (!rst_ni) begin
      bus_q  <= '0;
      busy_q <= '0;
    end else begin
      bus_q  <= bus ? bus_q + 2'd1 : '0;
      // Counted between offers to the master and words awaited from it.
      busy_q <= (idle_o || bvalid_o || rvalid_o || wready_o) ? '0 : busy_q + 4'd1;
    end
  end

  always_comb begin
    if (started_q) begin
      // AXI: sizes of a bus of 8 bytes. The bus accepts and answers requests within 2 clocks.
      assume (awsize_i <= 3'd3 && arsize_i <= 3'd3);
      if (wb_ack_i || wb_err_i) assume (asked_q);
      if (bus) assume (bus_q < 2'd2);

      // One response per request, when all of it is done; it is held until it is accepted.
      if (bvalid_o) assert (write_q && written_q && bid_o == id_q);
      if (bvalid_o) assert (bresp_o == (failed_q ? 2'b10 : 2'b00));
      if (rvalid_o) assert (read_q && lanes_q == '0 && !asked_q && rid_o == id_q);
      if (rvalid_o) assert (rresp_o == (failed_q ? 2'b10 : 2'b00));
      if (rvalid_o) assert (beats_q != '0 && rlast_o == (beats_q == 9'd1));
      if (rvalid_o && (size_q == 3'd3 || at_q[2])) assert (rdata_o[63:32] == data_q[63:32]);
      if (rvalid_o && !at_q[2]) assert (rdata_o[31:0] == data_q[31:0]);
      if (bvalid_q && !bready_q) assert (bvalid_o && bresp_o == bresp_q);
      if (rvalid_q && !rready_q) begin
        assert (rvalid_o && rdata_o == rdata_q && rresp_o == rresp_q && rlast_o == rlast_before_q);
      end
      // A request is taken when there is no other, a beat when the one before it is written.
      if (awready_o || arready_o) assert (!write_q && !read_q);
      assert (!(awvalid_i && awready_o && arvalid_i && arready_o));
      if (wready_o) assert (write_q && !written_q && !beat_q);
      // Operations: one at a time, one for each lane that needs it, and none else.
      assert (wb_stb_o == (wb_cyc_o && !asked_q));
      if (asked_q) assert (wb_cyc_o);
      if (stb_q && stall_q) begin
        assert (wb_stb_o && wb_adr_o == adr_q && wb_sel_o == sel_q && wb_we_o == we_q);
        assert (wb_dat_o == dat_q);
      end
      if (wb_stb_o) begin
        assert (beat_q && lanes_q[wb_adr_o[2]] && wb_we_o == write_q);
        assert (wb_adr_o[AddrWidth-1:3] == at_q[AddrWidth-1:3] && wb_adr_o[1:0] == '0);
        if (wb_adr_o[2]) assert (!lanes_q[0]);
        assert (wb_sel_o == (read_q ? 4'hF : wb_adr_o[2] ? strb_q[7:4] : strb_q[3:0]));
        if (write_q) assert (wb_dat_o == (wb_adr_o[2] ? data_q[63:32] : data_q[31:0]));
      end
      // Completed requests are offered.
      assert (rvalid_o == (read_q && !beat_q));
      assert (bvalid_o == (write_q && written_q && !beat_q));
      // No deadlock: it proceeds to the next handshake while the bus does.
      assert (busy_q <= 4'd12);

      // Inductive strengthening.
      assert (!(write_q && read_q) && idle_o == (!write_q && !read_q));
      if (!idle_o) begin
        assert (dut.write_q == write_q && dut.size_q == size_q && dut.id_q == 4'(id_q));
        assert ({dut.addr_q, dut.addr2_q, dut.low_q} == at_q && dut.failed_q == failed_q);
        assert (size_q <= 3'd3);
      end
      if (read_q) assert (9'(dut.beats_q) + 9'd1 == beats_q);
      if (dut.state_q inside {3'd2, 3'd3}) begin
        assert (beat_q && (read_q || write_q));
        assert (dut.lanes_q == (asked_q ? lanes_q | (last_lane_q ? 2'b10 : 2'b01) : lanes_q));
        assert (dut.lanes_q != '0);
        if (asked_q) assert (!lanes_q[last_lane_q] && (!last_lane_q || lanes_q == '0));
        if (write_q) assert (dut.data_q == data_q && dut.strb_q == strb_q);
        if (write_q) assert (dut.last_q == written_q);
        if (read_q && asked_q && last_lane_q && !at_q[2]) begin
          assert (size_q == 3'd3 && dut.data_q[31:0] == data_q[31:0]);
        end
        if (read_q && !asked_q && lanes_q == 2'b10 && !at_q[2]) begin
          assert (size_q == 3'd3 && dut.data_q[31:0] == data_q[31:0]);
        end
        if (read_q && (asked_q ? dut.lanes_q : lanes_q) == 2'b01) begin
          assert (!at_q[2] && size_q != 3'd3);
        end
        if (read_q && dut.lanes_q == 2'b11) assert (!at_q[2] && size_q == 3'd3);
        if (read_q && at_q[2]) assert (dut.lanes_q == 2'b10);
      end
      if (asked_q) assert (dut.state_q == 3'd3);
      if (dut.state_q == 3'd3) assert (asked_q);
      if (dut.state_q == 3'd1) assert (write_q && !written_q && !beat_q);
      if (dut.state_q == 3'd4) assert (read_q);
      if (dut.state_q == 3'd5) assert (write_q);
      if (dut.state_q == 3'd0) assert (!asked_q && !beat_q);
      assert (dut.state_q <= 3'd5 && bus_q <= 2'd2);
      // At most 2 clocks waiting and 1 working for each of an operation's two steps.
      if (dut.state_q == 3'd2) begin
        assert (busy_q <= (dut.lanes_q == 2'b10 ? 4'd6 : 4'd0) + 4'(bus_q));
      end
      if (dut.state_q == 3'd3) begin
        assert (busy_q <= (last_lane_q ? 4'd9 : 4'd3) + 4'(bus_q));
      end

      cover (rvalid_o && rlast_o && rready_i && at_q[3] && size_q == 3'd3 && rresp_o == 2'b00);
      cover (rvalid_o && rresp_o == 2'b10 && !rlast_o);
      cover (bvalid_o && bresp_o == 2'b10);
      cover (wb_stb_o && wb_we_o && wb_adr_o[2] && at_q[3] && bus_q == 2'd2);
      cover (rvalid_o && size_q == 3'd0 && at_q[2:0] == 3'd5);
    end
  end
endmodule
