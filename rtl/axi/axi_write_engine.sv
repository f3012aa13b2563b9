// SPDX-License-Identifier: SHL-2.1
/// AXI4 write master: commands of any length in, bursts out, one answer a command.
///
///   Handshake   cmd_* and data_* are valid/ready; a command's data may come any time later.
///               done_valid_o is a strobe. wvalid_o may come before the address is taken
///   Data        in bus lanes: the byte of address a is in lane a modulo the bus width, so a
///               command has ceil((address modulo width + bytes) / width) beats. Beats without
///               data_keep_i have no strobes: a sender that cannot go on ends its command with them
///   Ordering    one AXI ID: addresses, data and answers are in the order of commands
///               (proved: formal/axi/axi_write_engine.sby)
///   Bursts      end at multiples of BurstBytes, which divides 4 KiB: no burst crosses a page.
///               MaxBursts of them may be unanswered
///   Answers     done_error_o: any burst of the command was answered with an error
///   Latency     command to awvalid_o 2 cycles; data to wvalid_o 0 once its burst's address is
///               made; last answer to done_valid_o 1
///   Throughput  a beat a cycle over bursts and commands; an address a cycle
///   Parameters  DataWidth 64, 128, 256, 512; BurstBytes a power of two, DataWidth/8..4096, at most
///               256 beats; MaxBytes of a command, a power of two; MaxBursts a power of two 2..64;
///               TagWidth
///   Not done    moving data to other lanes; commands of no bytes
module axi_write_engine #(
  parameter  int unsigned DataWidth  = 64,
  parameter  int unsigned BurstBytes = 256,
  parameter  int unsigned MaxBytes   = 4096,
  parameter  int unsigned MaxBursts  = 8,
  parameter  int unsigned TagWidth   = 4,
  localparam int unsigned DataBytes  = DataWidth / 8,
  localparam int unsigned BytesW     = $clog2(MaxBytes) + 1
) (
  input  logic clk_i,
  input  logic rst_ni,

  input  logic                 cmd_valid_i,
  output logic                 cmd_ready_o,
  input  logic [63:0]          cmd_addr_i,
  input  logic [BytesW-1:0]    cmd_bytes_i,
  input  logic [TagWidth-1:0]  cmd_tag_i,

  input  logic                 data_valid_i,
  output logic                 data_ready_o,
  input  logic                 data_keep_i,
  input  logic [DataWidth-1:0] data_i,

  output logic                 done_valid_o,
  output logic [TagWidth-1:0]  done_tag_o,
  output logic                 done_error_o,

  output logic                 awvalid_o,
  input  logic                 awready_i,
  output axi_pkg::address_t    aw_o,
  output logic                 wvalid_o,
  input  logic                 wready_i,
  output logic [DataWidth-1:0] wdata_o,
  output logic [DataBytes-1:0] wstrb_o,
  output logic                 wlast_o,
  input  logic                 bvalid_i,
  output logic                 bready_o,
  input  logic [1:0]           bresp_i,

  output logic                 idle_o
);
  localparam int unsigned LaneW  = $clog2(DataBytes);
  localparam int unsigned BurstW = $clog2(BurstBytes);

  if (DataWidth != 64 && DataWidth != 128 && DataWidth != 256 && DataWidth != 512)
  begin : gen_width_check
    $error("axi_write_engine: DataWidth is %0d, legal are 64, 128, 256 and 512", DataWidth);
  end
  if (BurstBytes < DataBytes || BurstBytes > 4096 || BurstBytes > 256 * DataBytes ||
      (BurstBytes & (BurstBytes - 1)) != 0) begin : gen_burst_check
    $error("axi_write_engine: BurstBytes is %0d, legal are powers of two %0d..4096, of 256 beats",
           BurstBytes, DataBytes);
  end
  if (MaxBytes < 64 || (MaxBytes & (MaxBytes - 1)) != 0) begin : gen_bytes_check
    $error("axi_write_engine: MaxBytes is %0d, legal are powers of two from 64 on", MaxBytes);
  end

  // ---------------------------------------------------------------- addresses
  logic                busy_q, awvalid_q, last, step, shapes_ready, tags_ready;
  logic [63:0]         addr_q;
  logic [BytesW-1:0]   left_q;
  logic [TagWidth-1:0] tag_q;
  logic [BurstW:0]     to_edge, part;
  logic [BurstW:0]     past;  // place of the burst's last byte from its first beat on

  assign to_edge = (BurstW + 1)'(BurstBytes) - {1'b0, addr_q[BurstW-1:0]};
  assign last    = 32'(left_q) <= 32'(to_edge);
  assign part    = last ? (BurstW + 1)'(left_q) : to_edge;
  assign past    = part + (BurstW + 1)'(addr_q[LaneW-1:0]) - (BurstW + 1)'(1);
  assign step    = busy_q && (!awvalid_q || awready_i) && shapes_ready && tags_ready;

  assign cmd_ready_o = !busy_q || (step && last);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      busy_q    <= 1'b0;
      awvalid_q <= 1'b0;
    end else begin
      if (cmd_valid_i && cmd_ready_o) busy_q <= 1'b1;
      else if (step && last) busy_q <= 1'b0;
      if (step) awvalid_q <= 1'b1;
      else if (awready_i) awvalid_q <= 1'b0;
    end
  end

  always_ff @(posedge clk_i) begin
    if (cmd_valid_i && cmd_ready_o) begin
      addr_q <= cmd_addr_i;
      left_q <= cmd_bytes_i;
      tag_q  <= cmd_tag_i;
    end else if (step) begin
      addr_q <= {addr_q[63:BurstW] + (64 - BurstW)'(1), BurstW'(0)};
      left_q <= left_q - BytesW'(part);
    end
    if (step) begin
      aw_o.addr  <= {addr_q[63:LaneW], LaneW'(0)};
      aw_o.len   <= 8'(past >> LaneW);
      aw_o.size  <= 3'(LaneW);
      aw_o.burst <= axi_pkg::BurstIncr;
    end
  end
  assign awvalid_o = awvalid_q;

  // ---------------------------------------------------------------- data
  typedef struct packed {
    logic [7:0]       len;
    logic [LaneW-1:0] first;  // lane of the first byte
    logic [LaneW-1:0] final_; // and of the last, in the last beat
  } shape_t;
  shape_t made, shape;
  logic shape_valid, w_take;
  logic [7:0] beat_q;

  assign made = '{
      len: 8'(past >> LaneW),
      first: addr_q[LaneW-1:0],
      final_: past[LaneW-1:0]
  };

  fifo #(
    .Width($bits(shape_t)),
    .Depth(MaxBursts)
  ) u_shapes (
    .clk_i,
    .rst_ni,
    .clear_i(1'b0),
    .valid_i(step),
    .ready_o(shapes_ready),
    .data_i (made),
    .valid_o(shape_valid),
    .ready_i(w_take && wlast_o),
    .data_o (shape),
    .usage_o()
  );

  assign wvalid_o     = shape_valid && data_valid_i;
  assign data_ready_o = shape_valid && wready_i;
  assign w_take       = wvalid_o && wready_i;
  assign wlast_o      = beat_q == shape.len;
  assign wdata_o      = data_i;
  always_comb begin
    for (int unsigned i = 0; i < DataBytes; i++) begin
      wstrb_o[i] = data_keep_i && (beat_q != '0 || LaneW'(i) >= shape.first) &&
                   (!wlast_o || LaneW'(i) <= shape.final_);
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) beat_q <= '0;
    else if (w_take) beat_q <= wlast_o ? '0 : beat_q + 8'd1;
  end

  // ---------------------------------------------------------------- answers
  logic tag_valid, tag_last, error_q, b_take;
  logic [TagWidth-1:0] tag;

  fifo #(
    .Width(TagWidth + 1),
    .Depth(MaxBursts)
  ) u_tags (
    .clk_i,
    .rst_ni,
    .clear_i(1'b0),
    .valid_i(step),
    .ready_o(tags_ready),
    .data_i ({last, tag_q}),
    .valid_o(tag_valid),
    .ready_i(b_take),
    .data_o ({tag_last, tag}),
    .usage_o()
  );
  assign bready_o = tag_valid;
  assign b_take   = bvalid_i && bready_o;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      done_valid_o <= 1'b0;
      error_q      <= 1'b0;
    end else begin
      done_valid_o <= b_take && tag_last;
      if (b_take) error_q <= !tag_last && (error_q || bresp_i[1]);
    end
  end
  always_ff @(posedge clk_i) begin
    done_tag_o   <= tag;
    done_error_o <= error_q || bresp_i[1];
  end

  logic unused;
  assign unused = bresp_i[0];
  assign idle_o = !busy_q && !awvalid_q && !tag_valid && !done_valid_o;
endmodule
