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
///   Parameters  DataWidth, BurstBytes, MaxBytes as axi_cut; MaxBursts a power of two 2..64;
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

  // ---------------------------------------------------------------- addresses
  logic                cut_valid, cut_last, awvalid_q, step, shapes_ready, tags_ready;
  logic [LaneW-1:0]    cut_first, cut_final;
  logic [TagWidth-1:0] tag_q;
  axi_pkg::address_t   cut;

  axi_cut #(
    .DataWidth (DataWidth),
    .BurstBytes(BurstBytes),
    .MaxBytes  (MaxBytes)
  ) u_cut (
    .clk_i,
    .rst_ni,
    .cmd_valid_i,
    .cmd_ready_o,
    .cmd_addr_i,
    .cmd_bytes_i,
    .stop_i       (1'b0),
    .burst_valid_o(cut_valid),
    .burst_ready_i(step),
    .burst_part_i (1'b0),
    .burst_units_i('0),
    .burst_units_o(),
    .offered_i    (1'b1),
    .burst_o      (cut),
    .burst_first_o(cut_first),
    .burst_final_o(cut_final),
    .burst_last_o (cut_last),
    .burst_left_o ()
  );
  assign step = cut_valid && (!awvalid_q || awready_i) && shapes_ready && tags_ready;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) awvalid_q <= 1'b0;
    else if (step) awvalid_q <= 1'b1;
    else if (awready_i) awvalid_q <= 1'b0;
  end
  always_ff @(posedge clk_i) begin
    if (cmd_valid_i && cmd_ready_o) tag_q <= cmd_tag_i;
    if (step) aw_o <= cut;
  end
  assign awvalid_o = awvalid_q;

  // ---------------------------------------------------------------- data
  typedef struct packed {
    logic [7:0]       len;
    logic [LaneW-1:0] first;  // lane of the first byte
    logic [LaneW-1:0] final_; // and of the last, in the last beat
  } shape_t;
  shape_t made, shape;
  logic shape_valid, shape_valid_q, w_take;
  logic [$clog2(MaxBursts):0] shapes;
  logic [7:0] beat_q;

  assign made = '{len: cut.len, first: cut_first, final_: cut_final};

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
    .usage_o(shapes)
  );

  // Whether there is one, from a register: senders wait for data_ready_o over long paths.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) shape_valid_q <= 1'b0;
    else shape_valid_q <= step || (shape_valid && (shapes != 1 || !(w_take && wlast_o)));
  end

  assign wvalid_o     = shape_valid_q && data_valid_i;
  assign data_ready_o = shape_valid_q && wready_i;
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
    .data_i ({cut_last, tag_q}),
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
  assign idle_o = !cut_valid && !awvalid_q && !tag_valid && !done_valid_o;
endmodule
