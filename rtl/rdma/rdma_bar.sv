// SPDX-License-Identifier: SHL-2.1
/// The host's loads and stores: to the queues, to the tables, and past them to the registers.
///
/// 64 KiB: 0x0000 registers (by bus), 0x4000 request queues, 0x8000 message queues, 0xC000 tables.
///
///   AXI         slave, 64 bits, one write and one read burst at a time, INCR, beats of 1..8 bytes.
///               Writes of a table are whole beats of 8 bytes; others are refused: SLVERR,
///               refused_o. Reads of the queues get SLVERR and all ones. Nothing is taken before
///               ready_i
///   Queues      store_o, table_*: one write a cycle, which is taken. table_re_o: strobe, answered
///               by table_rvalid_i, one at a time
///   Latency     a beat at bar_i.wvalid, the first with its address, to store_o and table_we_o
///               1 cycle, to store_o.coming none
///   Throughput  a beat a cycle; 1 cycle between write bursts
///   Order       of each direction as it comes                 (proved: formal/rdma/rdma_bar.sby)
///   Not done    WRAP and FIXED bursts: treated as INCR
module rdma_bar
  import rdma_pkg::*;
(
  input  logic               clk_i,
  input  logic               rst_ni,
  input  logic               ready_i,

  input  axi_pkg::bar_request_t  bar_i,
  output axi_pkg::bar_response_t bar_o,  // answers, each with its id: 0 OKAY, 2 SLVERR

  // Registers: what is not here goes to both.
  output axi_pkg::bar_request_t  bus_o,
  input  axi_pkg::bar_response_t bus_i,

  output store_t             store_o,  // to the queues; only coming is combinational
  output logic               table_we_o,
  output logic [15:3]        table_addr_o,
  output beat_t              table_data_o,
  output logic               table_re_o,
  output logic [15:3]        table_raddr_o,
  input  logic               table_rvalid_i,
  input  beat_t              table_rdata_i,
  output logic               refused_o,  // strobe: a table write that is not whole
  output logic               idle_o      // nothing changes until an input does
);
  localparam logic [1:0] Okay = 2'b00;
  localparam logic [1:0] SlvErr = 2'b10;
  localparam logic [1:0] Registers = 2'd0;
  localparam logic [1:0] Requests = 2'd1;
  localparam logic [1:0] Messages = 2'd2;
  localparam logic [1:0] Tables = 2'd3;

  // What is below the bytes of a beat: with it set, one more is the next beat's address.
  function automatic logic [15:0] below(logic [2:0] size);
    return {13'd0, size > 3'd2, size > 3'd1, size > 3'd0};
  endfunction

  // ---------------------------------------------------------------- writes
  typedef enum logic [1:0] {
    StIdle,
    StWrite,
    StWritten,
    StBus
  } write_e;

  write_e wstate_q;
  logic [3:0] wid_q;
  logic [15:0] waddr_q;
  logic [2:0]  wsize_q;
  logic        wfailed_q, first, beat, whole, to_bus;
  logic [15:0] waddr;
  logic [2:0]  wsize;
  assign to_bus = bar_i.awaddr[15:14] == Registers;
  // A burst's first beat is taken with its address.
  assign first  = wstate_q == StIdle && bar_i.awvalid && ready_i && !to_bus;
  assign beat   = (wstate_q == StWrite || first) && bar_i.wvalid;
  assign whole  = bar_i.wstrb == '1;
  assign waddr  = wstate_q == StIdle ? bar_i.awaddr[15:0] : waddr_q;
  assign wsize  = wstate_q == StIdle ? bar_i.awsize : wsize_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      wstate_q <= StIdle;
    end else begin
      unique case (wstate_q)
        StIdle: begin
          if (bar_i.awvalid && bar_o.awready) begin
            wstate_q <= to_bus ? StBus : (bar_i.wvalid && bar_i.wlast) ? StWritten : StWrite;
          end
        end
        StWrite:   if (bar_i.wvalid && bar_i.wlast) wstate_q <= StWritten;
        StWritten: if (bar_i.bready) wstate_q <= StIdle;
        default:   if (bus_i.bvalid && bar_i.bready) wstate_q <= StIdle;
      endcase
    end
  end
  always_ff @(posedge clk_i) begin
    if (wstate_q == StIdle) begin
      wid_q     <= bar_i.awid;
      wsize_q   <= bar_i.awsize;
      wfailed_q <= 1'b0;
    end
    if (wstate_q == StIdle || beat) begin
      waddr_q <= (waddr | (beat ? below(wsize) : '0)) + 16'(beat);
    end
    if (beat && waddr[15:14] == Tables && !whole) wfailed_q <= 1'b1;
  end

  assign bar_o.awready = wstate_q == StIdle && ready_i && (!to_bus || bus_i.awready);
  assign bar_o.wready  = wstate_q == StWrite || first || (wstate_q == StBus && bus_i.wready);
  assign bar_o.bvalid  = wstate_q == StWritten || (wstate_q == StBus && bus_i.bvalid);
  assign bar_o.bid     = wstate_q == StWritten ? wid_q : bus_i.bid;
  assign bar_o.bresp   = wstate_q != StWritten ? bus_i.bresp : wfailed_q ? SlvErr : Okay;

  logic request_q, message_q, coming;
  assign coming = beat && waddr[15:14] == Requests && !waddr[3] && !bar_i.wlast;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      request_q  <= 1'b0;
      message_q  <= 1'b0;
      table_we_o <= 1'b0;
      refused_o  <= 1'b0;
    end else begin
      request_q  <= beat && waddr[15:14] == Requests;
      message_q  <= beat && waddr[15:14] == Messages;
      table_we_o <= beat && waddr[15:14] == Tables && whole;
      refused_o  <= beat && waddr[15:14] == Tables && !whole;
    end
  end

  // One set of registers: a beat goes to one of the three.
  logic [15:3] addr_q;
  beat_t       data_q;
  logic [7:0]  strb_q;
  logic        last_q;
  always_ff @(posedge clk_i) begin
    addr_q <= waddr[15:3];
    data_q <= bar_i.wdata;
    strb_q <= bar_i.wstrb;
    last_q <= bar_i.wlast;
  end
  assign store_o = '{
      coming:  coming,
      request: request_q,
      message: message_q,
      addr:    addr_q[13:3],
      data:    data_q,
      strb:    strb_q,
      last:    last_q
  };
  assign table_addr_o = addr_q;
  assign table_data_o = data_q;

  // ---------------------------------------------------------------- reads
  typedef enum logic [2:0] {
    StWait,
    StAsk,
    StAnswer,
    StTell,
    StBusRead
  } read_e;

  read_e rstate_q;
  logic [3:0] rid_q;
  logic [15:0] raddr_q;
  logic [2:0]  rsize_q;
  logic [7:0]  rleft_q;
  beat_t       rdata_q;
  logic        readable, tell;
  assign readable = raddr_q[15:14] == Tables;
  assign tell     = rstate_q == StTell && bar_i.rready;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      rstate_q <= StWait;
    end else begin
      unique case (rstate_q)
        StWait: begin
          if (bar_i.arvalid && bar_o.arready) begin
            rstate_q <= bar_i.araddr[15:14] == Registers ? StBusRead : StAsk;
          end
        end
        StAsk:    rstate_q <= readable ? StAnswer : StTell;
        StAnswer: if (table_rvalid_i) rstate_q <= StTell;
        StTell:   if (bar_i.rready) rstate_q <= rleft_q == '0 ? StWait : StAsk;
        default:  if (bus_i.rvalid && bar_i.rready && bus_i.rlast) rstate_q <= StWait;
      endcase
    end
  end
  always_ff @(posedge clk_i) begin
    if (rstate_q == StWait) begin
      rid_q   <= bar_i.arid;
      raddr_q <= bar_i.araddr[15:0];
      rsize_q <= bar_i.arsize;
      rleft_q <= bar_i.arlen;
    end else if (tell) begin
      raddr_q <= (raddr_q | below(rsize_q)) + 16'd1;
      rleft_q <= rleft_q - 8'd1;
    end
    if (rstate_q == StAsk) rdata_q <= '1;
    if (rstate_q == StAnswer && table_rvalid_i) rdata_q <= table_rdata_i;
  end

  assign bar_o.arready = rstate_q == StWait && ready_i &&
                         (bar_i.araddr[15:14] != Registers || bus_i.arready);
  assign table_re_o    = rstate_q == StAsk && readable;
  assign table_raddr_o = raddr_q[15:3];
  assign bar_o.rvalid  = rstate_q == StTell || (rstate_q == StBusRead && bus_i.rvalid);
  assign bar_o.rid     = rstate_q == StTell ? rid_q : bus_i.rid;
  assign bar_o.rdata   = rstate_q == StTell ? rdata_q : bus_i.rdata;
  assign bar_o.rresp   = rstate_q != StTell ? bus_i.rresp : readable ? Okay : SlvErr;
  assign bar_o.rlast   = rstate_q == StTell ? rleft_q == '0 : bus_i.rlast;

  always_comb begin
    bus_o         = bar_i;
    bus_o.awvalid = wstate_q == StIdle && ready_i && bar_i.awvalid && to_bus;
    bus_o.wvalid  = wstate_q == StBus && bar_i.wvalid;
    bus_o.bready  = wstate_q == StBus && bar_i.bready;
    bus_o.arvalid = rstate_q == StWait && ready_i && bar_i.arvalid &&
                    bar_i.araddr[15:14] == Registers;
    bus_o.rready  = rstate_q == StBusRead && bar_i.rready;
  end

  assign idle_o = wstate_q == StIdle && rstate_q == StWait && !request_q && !message_q &&
                  !table_we_o && !refused_o && !bar_i.awvalid && !bar_i.arvalid;
endmodule
