// SPDX-License-Identifier: SHL-2.1
/// Bursts of writes and atomics of an AXI port in, stores of parts of lines out.
///
/// Beats of a line are collected, so that each line of a burst is stored once.
///
///   Handshake   aw, w: valid/ready. store: valid/ready, stable until taken. There is no wlast: a
///               burst has as many beats as its address says
///   Ordering    bursts in theirs, lines of a burst in that of its beats. store_first_o and
///               store_last_o: the first and the last store of a burst
///   Refused     a burst with a response other than OKAY has one store, behind its last beat
///   Latency     awvalid_i to wready_o 1 cycle; a line's last beat to store_valid_o 1 cycle
///   Throughput  a beat a cycle, over lines and bursts
///   Parameters  as coherence_axi
///   Not done    beats before their address
module coherence_axi_write
  import coherence_axi_pkg::*;
  import coherence_atomic_pkg::*;
#(
  parameter  int unsigned DataWidth = 64,
  parameter  int unsigned LineBytes = 128,
  parameter  int unsigned IdWidth   = 4,
  parameter  int unsigned AddrWidth = 40,
  parameter  bit          Atomics   = 1'b1,
  localparam int unsigned DataBytes = DataWidth / 8
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  input  logic                   awvalid_i,
  output logic                   awready_o,
  input  logic [IdWidth-1:0]     awid_i,
  input  axi_pkg::address_t      aw_i,
  input  logic [5:0]             awatop_i,
  input  logic                   wvalid_i,
  output logic                   wready_o,
  input  logic [DataWidth-1:0]   wdata_i,
  input  logic [DataBytes-1:0]   wstrb_i,
  output logic                   store_valid_o,
  input  logic                   store_ready_i,
  output logic                   store_first_o,
  output logic                   store_last_o,
  output logic [1:0]             store_resp_o,
  output logic [IdWidth-1:0]     store_id_o,
  output logic [63:0]            store_addr_o,    // of a byte of the line
  output logic [LineBytes-1:0]   store_mask_o,
  output logic [8*LineBytes-1:0] store_data_o,
  output atomic_t                store_atomic_o,  // instead of a store
  output logic                   store_reads_o,   // an atomic that is answered on R, too
  output walk_t                  store_walk_o     // its beats there
);
  localparam int unsigned BusLog2  = $clog2(DataBytes);
  localparam int unsigned LineLog2 = $clog2(LineBytes);
  localparam int unsigned Lanes    = LineBytes / DataBytes;

  typedef struct packed {
    logic [IdWidth-1:0] id;
    axi_pkg::address_t  address;
    logic [5:0]         atop;
  } head_t;
  head_t head;
  logic  some, beat, line_ends, burst_ends, more_q, open_q;
  fifo #(.Width($bits(head_t)), .Depth(2)) u_heads (
    .clk_i, .rst_ni, .clear_i(1'b0), .valid_i(awvalid_i), .ready_o(awready_o),
    .data_i({awid_i, aw_i, awatop_i}), .valid_o(some), .ready_i(beat && burst_ends), .data_o(head),
    .usage_o()
  );

  // ---------------------------------------------------------------- the beat
  logic [1:0] resp;
  atomic_t atomic;
  logic change, reads;
  walk_t first, now, walk_q;
  assign atomic = atomic_of(head.address, head.atop);
  assign change = head.atop != '0;
  assign reads  = head.atop[5];
  always_comb begin
    resp = RespOkay;
    if ((head.address.addr >> AddrWidth) != '0) resp = RespDecode;
    if (illegal(head.address, BusLog2) || (change && !(Atomics && atomic.valid))) resp = RespSlave;
    first = walk_of(head.address);
    if (resp != RespOkay) first.span = '0;  // one store
  end
  assign now        = more_q ? walk_q : first;
  assign line_ends  = ends_line(now, LineLog2);
  assign burst_ends = now.left == '0;
  assign wready_o   = some && (!store_valid_o || store_ready_i);
  assign beat       = wvalid_i && wready_o;

  // ---------------------------------------------------------------- the line
  logic [Lanes-1:0][DataBytes-1:0] strobes;
  logic [LineLog2-1:0] lane;
  assign lane = LineLog2'(now.at) >> BusLog2;
  always_comb begin
    for (int unsigned k = 0; k < Lanes; k++) strobes[k] = 32'(lane) == k ? wstrb_i : '0;
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      more_q        <= 1'b0;
      open_q        <= 1'b0;
      store_valid_o <= 1'b0;
    end else if (beat) begin
      more_q        <= !burst_ends;
      open_q        <= !line_ends;
      store_valid_o <= line_ends;
    end else if (store_ready_i) begin
      store_valid_o <= 1'b0;
    end
  end
  always_ff @(posedge clk_i) begin
    if (beat) begin
      walk_q       <= next_of(now);
      store_mask_o <= (open_q ? store_mask_o : '0) | strobes;
      for (int unsigned i = 0; i < LineBytes; i++) begin
        if (32'(lane) == i / DataBytes && wstrb_i[i%DataBytes]) begin
          store_data_o[8*i+:8] <= wdata_i[8*(i%DataBytes)+:8];
        end
      end
      if (!open_q) begin
        store_first_o  <= !more_q;
        store_resp_o   <= resp;
        store_id_o     <= head.id;
        store_addr_o   <= {head.address.addr[63:12], now.at};
        store_atomic_o <= change ? atomic : '0;
        store_reads_o  <= reads;
        store_walk_o   <= '{at: first.at, span: first.span, size: first.size,
                            left: head.atop[0] ? first.left >> 1 : first.left};
      end
      store_last_o <= burst_ends;
    end
  end
endmodule
