// SPDX-License-Identifier: SHL-2.1
/// ccix_retry_write before any port that answers each line once, in any order: of any line that it
/// takes the port has its own address and data, again only behind SLVERR and Tries times at most,
/// never while it is open there, and never behind another answer. So it is written once, or, where
/// the last try was refused, not at all; then its burst is answered with an error. No two lines of
/// one address are open.
///
/// Places are all alike to the module: 4 stand for all, of which the queue of addresses has 2.
module ccix_retry_write_props
  import axi_pkg::*;
(
  input logic        clk_i,
  input logic        awvalid_i,
  input address_t    aw_i,
  input logic        wvalid_i,
  input logic [63:0] wdata_i,
  input logic [7:0]  wstrb_i,
  input logic        bready_i,
  input logic        awready_i,
  input logic        wready_i,
  input logic        bvalid_i,
  input logic [1:0]  bid_i,
  input logic [1:0]  bresp_i,
  input logic        watch_i  // the line that is taken now is followed
);
  localparam int unsigned Lines = 4;
  localparam int unsigned Tries = 2;
  logic rst_ni, awready_o, wready_o, bvalid_o, awvalid_o, wvalid_o, retry_o;
  logic [1:0] bresp_o, awid_o;
  address_t aw_o;
  logic [63:0] wdata_o;
  logic [7:0] wstrb_o;
  ccix_retry_write #(.DataWidth(64), .Lines(Lines), .Tries(Tries), .Wait(2)) dut (.*);

  logic started_q = 1'b0;
  always_ff @(posedge clk_i) started_q <= 1'b1;
  assign rst_ni = started_q;

  // ------------------------------------------------------------ the port
  // Lines whose address, and whose data, it has, without its answer.
  logic [3:0] address_q, data_q;
  always_ff @(posedge clk_i) begin
    if (!started_q) begin
      {address_q, data_q} <= '0;
    end else begin
      if (bvalid_i) {address_q[bid_i], data_q[bid_i]} <= '0;
      if (awvalid_o && awready_i) address_q[awid_o] <= 1'b1;
      if (wvalid_o && wready_i) data_q[dut.w_place] <= 1'b1;
    end
  end

  // ------------------------------------------------------------ the line that is followed
  logic mine_q, last_q, answered_q;
  logic [1:0] place_q;
  logic [63:0] addr_q, wdata_q;
  logic [7:0] wstrb_q;
  logic [2:0] size_q;
  logic [1:0] tries_q, resp_q;  // refused so far; its last answer
  logic start, mine;
  assign start = dut.take && watch_i && !mine_q;
  assign mine  = bvalid_i && mine_q && bid_i == place_q;
  always_ff @(posedge clk_i) begin
    if (!started_q) begin
      mine_q <= 1'b0;
    end else begin
      if (start) begin
        {mine_q, place_q, last_q} <= {1'b1, dut.put, dut.line.last};
        {addr_q, size_q, wdata_q, wstrb_q} <= {dut.line.addr, dut.head.size, wdata_i, wstrb_i};
        {tries_q, answered_q} <= '0;
      end else begin
        if (mine) begin
          resp_q     <= bresp_i;
          answered_q <= bresp_i != 2'd2 || tries_q == 2'(Tries);
          if (bresp_i == 2'd2 && tries_q != 2'(Tries)) tries_q <= tries_q + 2'd1;
        end
        if (dut.pop && mine_q && dut.first == place_q) mine_q <= 1'b0;
      end
    end
  end
  // Its burst, from a line that was not written to the answer.
  logic bad_q, bad;
  assign bad = bad_q || (mine_q && dut.first == place_q && dut.done_q[place_q] && resp_q[1]);
  always_ff @(posedge clk_i) begin
    if (!started_q) bad_q <= 1'b0;
    else if (dut.pop) bad_q <= bad && !bvalid_o;
  end

  // ------------------------------------------------------------ inside
  // Offers of a place to the port's channels that it has not taken.
  logic [2:0] in_address [4];
  logic [2:0] in_data [4];
  logic [1:0] room_address;
  logic [2:0] room_data;
  assign room_address = dut.u_addresses.usage_o;
  assign room_data    = dut.u_data.usage_o;
  always_comb begin
    for (int unsigned p = 0; p < 4; p++) begin
      in_address[p] = '0;
      in_data[p]    = '0;
      for (int unsigned k = 0; k < 2; k++) begin
        if (2'(k) < room_address &&
            dut.u_addresses.mem_q[1'(dut.u_addresses.rptr_q + 2'(k))] == 2'(p)) begin
          in_address[p] = in_address[p] + 3'd1;
        end
      end
      for (int unsigned k = 0; k < 4; k++) begin
        if (3'(k) < room_data &&
            dut.u_data.mem_q[2'(dut.u_data.rptr_q + 3'(k))] == 2'(p)) begin
          in_data[p] = in_data[p] + 3'd1;
        end
      end
    end
  end
  // How many places a line is behind the first open one.
  function automatic logic [2:0] behind(logic [1:0] p);
    logic [1:0] far;
    far = p - dut.first;
    return {1'b0, far};
  endfunction
  logic [2:0] open, sends;
  assign open  = 3'(dut.tail_q - dut.head_q);
  assign sends = 3'(dut.next_q - dut.head_q);

  logic offered_q;
  logic [1:0] awid_q;
  address_t awo_q;
  always_ff @(posedge clk_i) begin
    offered_q <= started_q && awvalid_o && !awready_i;
    awid_q    <= awid_o;
    awo_q     <= aw_o;
  end

  always_comb begin
    if (started_q) begin
      // An answer is of a line that the port has.
      assume (!bvalid_i || (address_q[bid_i] && data_q[bid_i]));
      assume (10'(aw_i.addr[11:3]) + 10'(aw_i.len) <= 10'd511);

      // What is proved.
      if (mine_q && awvalid_o && awid_o == place_q) begin
        its_address : assert (aw_o.addr == addr_q && aw_o.len == '0 && aw_o.size == size_q);
        not_open    : assert (!address_q[place_q] && !answered_q);
      end
      if (mine_q && wvalid_o && dut.w_place == place_q) begin
        its_data : assert (wdata_o == wdata_q && wstrb_o == wstrb_q);
        not_sent : assert (!data_q[place_q] && !answered_q);
      end
      if (mine) once : assert (!answered_q);
      bounded  : assert (!mine_q || tries_q <= 2'(Tries));
      if (mine_q && dut.pop && dut.first == place_q) kept : assert (answered_q);
      if (bvalid_o && bad) error : assert (bresp_o[1]);
      for (int unsigned p = 0; p < 4; p++) begin
        for (int unsigned q = 0; q < p; q++) begin
          if (behind(2'(p)) < open && behind(2'(q)) < open && !dut.done_q[p] && !dut.done_q[q])
          begin
            assert (dut.line_q[p].addr[63:3] != dut.line_q[q].addr[63:3]);
            assert (dut.line_q[p].bucket != dut.line_q[q].bucket);
          end
        end
      end
      stable : assert (!offered_q || (awvalid_o && awid_o == awid_q && aw_o == awo_q));

      // What makes it inductive.
      assert (open <= 3'(Lines) && sends <= open);
      assert (room_address <= 2'd2 && room_data <= 3'd4 && dut.wait_q <= 2'd2);
      for (int unsigned p = 0; p < 4; p++) begin
        // Its distance from the first open line.
        if (behind(2'(p)) >= open) begin
          assert (in_address[p] == '0 && in_data[p] == '0 && !address_q[p] && !data_q[p]);
          assert (!dut.again_q[p] && !dut.done_q[p]);
        end else if (behind(2'(p)) >= sends || dut.again_q[p] || dut.done_q[p]) begin
          assert (in_address[p] == '0 && in_data[p] == '0 && !address_q[p] && !data_q[p]);
          if (behind(2'(p)) >= sends) assert (!dut.again_q[p] && !dut.done_q[p]);
          assert (!(dut.again_q[p] && dut.done_q[p]));
        end else begin
          assert (in_address[p] + 3'(address_q[p]) == 3'd1);
          assert (in_data[p] + 3'(data_q[p]) == 3'd1);
        end
        if (behind(2'(p)) < open) begin
          assert (dut.tries_q[p] <= 2'(Tries));
          assert (dut.line_q[p].bucket == (dut.line_q[p].addr[8:3] ^ dut.line_q[p].addr[14:9]));
          if (!dut.done_q[p]) assert (dut.busy_q[dut.line_q[p].bucket]);
        end
      end
      if (mine_q) begin
        assert (behind(place_q) < open);
        assert (dut.line_q[place_q].addr == addr_q && dut.line_q[place_q].size == size_q);
        assert (dut.line_q[place_q].last == last_q && dut.tries_q[place_q] == tries_q);
        assert (dut.data_q[place_q] == wdata_q && dut.strb_q[place_q] == wstrb_q);
        assert (answered_q == dut.done_q[place_q]);
        if (answered_q) assert (dut.resp_q[place_q] == resp_q);
      end
      if (bad_q) assert (dut.worst_q[1]);
      cover (mine_q && answered_q && resp_q == '0 && tries_q == 2'd2);
      cover (bvalid_o && bready_i && bad_q);
    end
  end
endmodule
