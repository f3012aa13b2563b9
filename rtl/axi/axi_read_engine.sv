// SPDX-License-Identifier: SHL-2.1
/// AXI4 read master: commands of any length in, bursts out, their bytes back in order.
///
///   Handshake   cmd_* and data_* are valid/ready; cmd_bytes_i may grow until it is taken,
///               cmd_valid_i may fall
///   Data        in bus lanes: the byte of address a is in lane a modulo the bus width, so a
///               command has ceil((address modulo width + bytes) / width) beats. data_keep_o: the
///               granules that are the command's. data_begin_o, data_last_o: the first beat of a
///               burst, the last of the command, whose tag is data_tag_o
///   Ordering    one AXI ID: addresses and data are in the order of commands
///               (proved: formal/axi/axi_read_engine.sby)
///   Bursts      end at multiples of BurstBytes, which divides 4 KiB: no burst crosses a page.
///               MaxBursts of them may be unanswered
///   Room        with Reserve 1 a burst is offered when room_i, the beats that the receiver can
///               take, has a place for BurstBytes and for each beat under way; room_i falls by no
///               more than the beats delivered                       (proved). With 0: no limit
///   Stop        stop_i: no further burst is offered and the rest of the command is dropped; what
///               was offered is answered. idle_o: nothing is under way
///   Errors      data_error_o: this beat was answered with an error; the command goes on
///   Latency     command to arvalid_o 1 cycle, with Reserve 2; rvalid_i to data_valid_o 0
///   Throughput  a beat a cycle over bursts and commands; an address a cycle, with Reserve every 2
///   Parameters  as axi_cut; MaxBursts a power of two 2..64; RoomW, TagWidth
///   Not done    moving data to other lanes; commands of no bytes; repeating what failed
module axi_read_engine #(
  parameter  int unsigned DataWidth  = 64,
  parameter  int unsigned Granule    = 1,
  parameter  int unsigned BurstBytes = 256,
  parameter  int unsigned MaxBytes   = 4096,
  parameter  int unsigned MaxBursts  = 8,
  parameter  int unsigned TagWidth   = 4,
  parameter  bit          Reserve    = 1'b0,
  parameter  int unsigned RoomW      = 9,
  localparam int unsigned DataBytes  = DataWidth / 8,
  localparam int unsigned BytesW     = $clog2(MaxBytes) + 1,
  localparam int unsigned Parts      = DataBytes / Granule
) (
  input  logic clk_i,
  input  logic rst_ni,

  input  logic                 cmd_valid_i,
  output logic                 cmd_ready_o,
  input  logic [63:0]          cmd_addr_i,
  input  logic [BytesW-1:0]    cmd_bytes_i,
  input  logic [TagWidth-1:0]  cmd_tag_i,
  input  logic                 stop_i,
  input  logic [RoomW-1:0]     room_i,

  output logic                 data_valid_o,
  input  logic                 data_ready_i,
  output logic [DataWidth-1:0] data_o,
  output logic [Parts-1:0]     data_keep_o,
  output logic                 data_begin_o,
  output logic                 data_last_o,
  output logic                 data_error_o,
  output logic [TagWidth-1:0]  data_tag_o,

  output logic                 arvalid_o,
  input  logic                 arready_i,
  output axi_pkg::address_t    ar_o,
  input  logic                 rvalid_i,
  output logic                 rready_o,
  input  logic [DataWidth-1:0] rdata_i,
  input  logic [1:0]           rresp_i,
  input  logic                 rlast_i,

  output logic                 idle_o
);
  localparam int unsigned PartW = Parts == 1 ? 1 : $clog2(Parts);

  // ---------------------------------------------------------------- addresses
  logic cut_valid, cut_last, step, shapes_ready, offered, beat, burst_end;
  logic [PartW-1:0] cut_first, cut_final;
  logic [TagWidth-1:0] tag_q;

  axi_cut #(
    .DataWidth (DataWidth),
    .Granule   (Granule),
    .BurstBytes(BurstBytes),
    .MaxBytes  (MaxBytes)
  ) u_cut (
    .clk_i,
    .rst_ni,
    .cmd_valid_i,
    .cmd_ready_o,
    .cmd_addr_i,
    .cmd_bytes_i,
    .stop_i,
    .burst_valid_o(cut_valid),
    .burst_ready_i(step),
    .burst_part_i (1'b0),
    .burst_units_i('0),
    .burst_units_o(),
    .offered_i    (offered),
    .burst_o      (ar_o),
    .burst_first_o(cut_first),
    .burst_final_o(cut_final),
    .burst_last_o (cut_last),
    .burst_left_o ()
  );

  always_ff @(posedge clk_i) begin
    if (cmd_valid_i && cmd_ready_o) tag_q <= cmd_tag_i;
  end

  if (Reserve) begin : gen_reserve
    logic             offered_q, fits;
    logic [RoomW-1:0] under_way_q;  // beats asked for that have not come
    logic [RoomW-1:0] beats_q;      // of the burst on offer, which is known a cycle before
    always_ff @(posedge clk_i) beats_q <= RoomW'(ar_o.len) + RoomW'(1);
    // For a whole burst, however short it is: its length is known too late.
    assign fits = {1'b0, room_i} >= {1'b0, under_way_q} + (RoomW + 1)'(BurstBytes / DataBytes);
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
        offered_q   <= 1'b0;
        under_way_q <= '0;
      end else begin
        if (!offered_q) offered_q <= cut_valid && fits && shapes_ready && !stop_i;
        else if (arready_i) offered_q <= 1'b0;
        under_way_q <= under_way_q + (step ? beats_q : '0) - RoomW'(beat);
      end
    end
    assign offered = offered_q;
  end else begin : gen_free
    assign offered = cut_valid && shapes_ready;
    logic unused_room;
    assign unused_room = ^room_i;
  end
  assign arvalid_o = offered;
  assign step      = offered && arready_i;

  // ---------------------------------------------------------------- data
  typedef struct packed {
    logic [PartW-1:0]    first;   // granule of the first byte, in the first beat
    logic [PartW-1:0]    final_;  // and of the last, in the last beat
    logic                last;    // of its command
    logic [TagWidth-1:0] tag;
  } shape_t;
  shape_t shape;
  logic shape_valid, begin_q;

  fifo #(
    .Width($bits(shape_t)),
    .Depth(MaxBursts)
  ) u_shapes (
    .clk_i,
    .rst_ni,
    .clear_i(1'b0),
    .valid_i(step),
    .ready_o(shapes_ready),
    .data_i ({cut_first, cut_final, cut_last, tag_q}),
    .valid_o(shape_valid),
    .ready_i(burst_end),
    .data_o (shape),
    .usage_o()
  );

  assign rready_o  = data_ready_i;
  assign beat      = rvalid_i && data_ready_i;
  assign burst_end = beat && rlast_i;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin_q <= 1'b1;
    else if (beat) begin_q <= rlast_i;
  end

  assign data_valid_o = rvalid_i;
  assign data_o       = rdata_i;
  assign data_begin_o = begin_q;
  assign data_last_o  = rlast_i && shape.last;
  assign data_error_o = rresp_i[1];
  assign data_tag_o   = shape.tag;
  always_comb begin
    for (int unsigned i = 0; i < Parts; i++) begin
      data_keep_o[i] = (!begin_q || PartW'(i) >= shape.first) &&
                       (!rlast_i || PartW'(i) <= shape.final_);
    end
  end

  logic unused;
  assign unused = rresp_i[0];
  assign idle_o = !cut_valid && !shape_valid;
endmodule
