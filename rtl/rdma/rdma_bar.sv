// SPDX-License-Identifier: SHL-2.1
/// The host's loads and stores: to the queues, to the tables, and past them to the registers.
///
/// 64 KiB: 0x0000 registers (the bus_* port), 0x4000 request queues, 0x8000 message queues, 0xC000
/// tables.
///
///   AXI         slave, 64 bits, one write and one read burst at a time, INCR, beats of 1..8 bytes.
///               Writes of a table are whole beats of 8 bytes; others are refused: SLVERR,
///               refused_o. Reads of the queues get SLVERR and all ones. Nothing is taken before
///               ready_i
///   Queues      store_o, table_*: one write a cycle, which is taken. table_re_o: strobe, answered
///               by table_rvalid_i, one at a time
///   Latency     a beat at wvalid_i, the first with its address, to store_o and table_we_o 1 cycle,
///               to store_o.coming none
///   Throughput  a beat a cycle; 1 cycle between write bursts
///   Parameters  IdWidth 1..16
///   Not done    WRAP and FIXED bursts: treated as INCR
module rdma_bar
  import rdma_pkg::*;
#(
  parameter int unsigned IdWidth = 4
) (
  input  logic               clk_i,
  input  logic               rst_ni,
  input  logic               ready_i,

  input  logic               awvalid_i,
  output logic               awready_o,
  input  logic [IdWidth-1:0] awid_i,
  input  logic [15:0]        awaddr_i,
  input  logic [2:0]         awsize_i,
  input  logic               wvalid_i,
  output logic               wready_o,
  input  logic [63:0]        wdata_i,
  input  logic [7:0]         wstrb_i,
  input  logic               wlast_i,
  output logic               bvalid_o,
  input  logic               bready_i,
  output logic [IdWidth-1:0] bid_o,
  output logic [1:0]         bresp_o,
  input  logic               arvalid_i,
  output logic               arready_o,
  input  logic [IdWidth-1:0] arid_i,
  input  logic [15:0]        araddr_i,
  input  logic [7:0]         arlen_i,
  input  logic [2:0]         arsize_i,
  output logic               rvalid_o,
  input  logic               rready_i,
  output logic [IdWidth-1:0] rid_o,
  output logic [63:0]        rdata_o,
  output logic [1:0]         rresp_o,
  output logic               rlast_o,

  // Registers: what is not here goes to both.
  output logic               bus_awvalid_o,
  input  logic               bus_awready_i,
  output logic               bus_wvalid_o,
  input  logic               bus_wready_i,
  input  logic               bus_bvalid_i,
  output logic               bus_bready_o,
  input  logic [IdWidth-1:0] bus_bid_i,
  input  logic [1:0]         bus_bresp_i,
  output logic               bus_arvalid_o,
  input  logic               bus_arready_i,
  input  logic               bus_rvalid_i,
  output logic               bus_rready_o,
  input  logic [IdWidth-1:0] bus_rid_i,
  input  logic [63:0]        bus_rdata_i,
  input  logic [1:0]         bus_rresp_i,
  input  logic               bus_rlast_i,

  output store_t             store_o,     // to the queues; only coming is combinational
  output logic               table_we_o,
  output logic [15:3]        table_addr_o,
  output beat_t              table_data_o,
  output logic               table_re_o,
  output logic [15:3]        table_raddr_o,
  input  logic               table_rvalid_i,
  input  beat_t              table_rdata_i,
  output logic               refused_o,   // strobe: a table write that is not whole
  output logic               idle_o
);
  if (IdWidth < 1 || IdWidth > 16) begin : gen_id_check
    $error("rdma_bar: IdWidth is %0d, legal is 1..16", IdWidth);
  end

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
  logic [IdWidth-1:0] wid_q;
  logic [15:0] waddr_q;
  logic [2:0]  wsize_q;
  logic        wfailed_q, first, beat, whole, to_bus;
  logic [15:0] waddr;
  logic [2:0]  wsize;
  assign to_bus = awaddr_i[15:14] == Registers;
  // A burst's first beat is taken with its address.
  assign first  = wstate_q == StIdle && awvalid_i && ready_i && !to_bus;
  assign beat   = (wstate_q == StWrite || first) && wvalid_i;
  assign whole  = wstrb_i == '1;
  assign waddr  = wstate_q == StIdle ? awaddr_i : waddr_q;
  assign wsize  = wstate_q == StIdle ? awsize_i : wsize_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      wstate_q <= StIdle;
    end else begin
      unique case (wstate_q)
        StIdle: begin
          if (awvalid_i && awready_o) begin
            wstate_q <= to_bus ? StBus : (wvalid_i && wlast_i) ? StWritten : StWrite;
          end
        end
        StWrite:   if (wvalid_i && wlast_i) wstate_q <= StWritten;
        StWritten: if (bready_i) wstate_q <= StIdle;
        default:   if (bus_bvalid_i && bready_i) wstate_q <= StIdle;
      endcase
    end
  end
  always_ff @(posedge clk_i) begin
    if (wstate_q == StIdle) begin
      wid_q     <= awid_i;
      wsize_q   <= awsize_i;
      wfailed_q <= 1'b0;
    end
    if (wstate_q == StIdle || beat) begin
      waddr_q <= (waddr | (beat ? below(wsize) : '0)) + 16'(beat);
    end
    if (beat && waddr[15:14] == Tables && !whole) wfailed_q <= 1'b1;
  end

  assign awready_o     = wstate_q == StIdle && ready_i && (!to_bus || bus_awready_i);
  assign wready_o      = wstate_q == StWrite || first || (wstate_q == StBus && bus_wready_i);
  assign bvalid_o      = wstate_q == StWritten || (wstate_q == StBus && bus_bvalid_i);
  assign bid_o         = wstate_q == StWritten ? wid_q : bus_bid_i;
  assign bresp_o       = wstate_q != StWritten ? bus_bresp_i : wfailed_q ? SlvErr : Okay;
  assign bus_awvalid_o = wstate_q == StIdle && ready_i && awvalid_i && to_bus;
  assign bus_wvalid_o  = wstate_q == StBus && wvalid_i;
  assign bus_bready_o  = wstate_q == StBus && bready_i;

  logic request_q, message_q, coming;
  assign coming = beat && waddr[15:14] == Requests && !waddr[3] && !wlast_i;

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
    data_q <= wdata_i;
    strb_q <= wstrb_i;
    last_q <= wlast_i;
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
  logic [IdWidth-1:0] rid_q;
  logic [15:0] raddr_q;
  logic [2:0]  rsize_q;
  logic [7:0]  rleft_q;
  beat_t       rdata_q;
  logic        readable, tell;
  assign readable = raddr_q[15:14] == Tables;
  assign tell     = rstate_q == StTell && rready_i;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      rstate_q <= StWait;
    end else begin
      unique case (rstate_q)
        StWait: begin
          if (arvalid_i && arready_o) begin
            rstate_q <= araddr_i[15:14] == Registers ? StBusRead : StAsk;
          end
        end
        StAsk:    rstate_q <= readable ? StAnswer : StTell;
        StAnswer: if (table_rvalid_i) rstate_q <= StTell;
        StTell:   if (rready_i) rstate_q <= rleft_q == '0 ? StWait : StAsk;
        default:  if (bus_rvalid_i && rready_i && bus_rlast_i) rstate_q <= StWait;
      endcase
    end
  end
  always_ff @(posedge clk_i) begin
    if (rstate_q == StWait) begin
      rid_q   <= arid_i;
      raddr_q <= araddr_i;
      rsize_q <= arsize_i;
      rleft_q <= arlen_i;
    end else if (tell) begin
      raddr_q <= (raddr_q | below(rsize_q)) + 16'd1;
      rleft_q <= rleft_q - 8'd1;
    end
    if (rstate_q == StAsk) rdata_q <= '1;
    if (rstate_q == StAnswer && table_rvalid_i) rdata_q <= table_rdata_i;
  end

  assign arready_o     = rstate_q == StWait && ready_i &&
                         (araddr_i[15:14] != Registers || bus_arready_i);
  assign bus_arvalid_o = rstate_q == StWait && ready_i && arvalid_i && araddr_i[15:14] == Registers;
  assign bus_rready_o  = rstate_q == StBusRead && rready_i;
  assign table_re_o    = rstate_q == StAsk && readable;
  assign table_raddr_o = raddr_q[15:3];
  assign rvalid_o      = rstate_q == StTell || (rstate_q == StBusRead && bus_rvalid_i);
  assign rid_o         = rstate_q == StTell ? rid_q : bus_rid_i;
  assign rdata_o       = rstate_q == StTell ? rdata_q : bus_rdata_i;
  assign rresp_o       = rstate_q != StTell ? bus_rresp_i : readable ? Okay : SlvErr;
  assign rlast_o       = rstate_q == StTell ? rleft_q == '0 : bus_rlast_i;

  assign idle_o = wstate_q == StIdle && rstate_q == StWait && !request_q && !message_q &&
                  !table_we_o &&
                  !refused_o && !awvalid_i && !arvalid_i;
endmodule
