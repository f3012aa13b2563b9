// SPDX-License-Identifier: SHL-2.1
/// An FPGA that reads lines of a host's memory, both with blocklink_lanes, over 12 lanes a way.
///
/// WithLanes 0: blocks cross on a line that takes one every 1.302 cycles and holds it for a
/// constant time, as the road's model of lanes does. Memory answers after MemoryCycles; a line's
/// words follow from its index. Reads are offered one a cycle while fewer than window_i are open;
/// every answer is compared.
module eci_lanes_bench
  import coherence_pkg::LineUncached;
  import blocklink_pkg::*;
  import blocklink_lane_pkg::*;
#(
  parameter bit          WithLanes      = 1'b1,
  parameter int unsigned MetaframeWords = 2048,
  parameter int unsigned DataDepth      = 256,
  parameter int unsigned LaneDelay      = 2,  // words in lane_line, which adds 3 cycles
  parameter int unsigned LineCycles     = 10, // WithLanes 0: a block's last bit to the block
  parameter int unsigned MemoryCycles   = 6
) (
  input  logic        clk_i,
  input  logic        lane_clk_i,
  input  logic        rst_ni,
  input  logic        run_i,
  input  logic [7:0]  window_i,
  output logic [1:0]  up_o,
  output logic [31:0] sent_o,
  output logic [31:0] done_o,
  output logic [31:0] wrong_o,
  output logic [31:0] wait_sum_o,  // cycles from a request's acceptance to its answer, of all
  output logic [31:0] blocks_o,    // that reached the FPGA
  output logic [31:0] bad_o,
  output logic [31:0] lag_sum_o,   // of words: cycles of lane_clk_i on the line
  output logic [31:0] lag_words_o
);
  function automatic logic [1023:0] line_of(logic [32:0] index);
    for (int unsigned i = 0; i < 16; i++) begin
      line_of[64*i+:64] = {31'(i), index} * 64'h9E37_79B9_7F4A_7C15;
    end
  endfunction

  // ---------------------------------------------------------------- requester
  logic req_valid, req_ready, rsp_valid;
  logic [7:0] rsp_tag, tag;
  logic [1023:0] rsp_data;
  logic [63:0] open_q;
  logic [31:0] at_q [64];
  logic [32:0] index_q [64];
  logic [31:0] cycles_q;
  always_comb begin
    tag = '0;
    for (int i = 63; i >= 0; i--) if (!open_q[i]) tag = 8'(i);
  end
  assign req_valid = run_i && open_q != '1 && sent_o - done_o < 32'(window_i);
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {sent_o, done_o, wrong_o, wait_sum_o, blocks_o, cycles_q} <= '0;
      open_q <= '0;
    end else begin
      cycles_q <= cycles_q + 1;
      if (req_valid && req_ready) begin
        sent_o            <= sent_o + 1;
        open_q[tag[5:0]]  <= 1'b1;
        at_q[tag[5:0]]    <= cycles_q;
        index_q[tag[5:0]] <= 33'(sent_o);
      end
      if (rsp_valid) begin
        done_o                <= done_o + 1;
        open_q[rsp_tag[5:0]]  <= 1'b0;
        wait_sum_o            <= wait_sum_o + (cycles_q - at_q[rsp_tag[5:0]]);
        if (!open_q[rsp_tag[5:0]] || rsp_data != line_of(index_q[rsp_tag[5:0]])) begin
          wrong_o <= wrong_o + 1;
        end
      end
      blocks_o <= blocks_o + 32'(rx_valid[0]);
    end
  end

  // ---------------------------------------------------------------- memory
  logic mem_req_valid, mem_rsp_valid, mem_rsp_ready;
  logic [32:0] mem_index;
  logic [7:0] mem_tag;
  logic [7:0] mem_tag_q [64];
  logic [32:0] mem_index_q [64];
  logic [31:0] mem_at_q [64];
  logic [5:0] mem_in_q, mem_out_q;
  assign mem_rsp_valid = mem_in_q != mem_out_q && cycles_q >= mem_at_q[mem_out_q];
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {mem_in_q, mem_out_q} <= '0;
    end else begin
      if (mem_req_valid) begin
        mem_tag_q[mem_in_q]   <= mem_tag;
        mem_index_q[mem_in_q] <= mem_index;
        mem_at_q[mem_in_q]    <= cycles_q + MemoryCycles;
        mem_in_q              <= mem_in_q + 1'b1;
      end
      if (mem_rsp_valid && mem_rsp_ready) mem_out_q <= mem_out_q + 1'b1;
    end
  end

  // ---------------------------------------------------------------- both ends
  logic [1:0][511:0] tx, rx;
  logic [1:0] tx_ready, rx_valid;
  logic [1:0][31:0] bad;
  assign bad_o = bad[0] + bad[1];
  eci_fpga #(.DataDepth(DataDepth)) u_fpga (
    .clk_i, .rst_ni, .cfg_partition_i(1'b0), .blocks_tx_data_o(tx[0]),
    .blocks_tx_ready_i(tx_ready[0]), .blocks_rx_data_i(rx[0]), .blocks_rx_valid_i(rx_valid[0]),
    .lines_req_valid_i(req_valid), .lines_req_ready_o(req_ready),
    .lines_req_kind_i(LineUncached), .lines_req_write_i(1'b0), .lines_req_index_i(33'(sent_o)),
    .lines_req_tag_i(tag), .lines_req_mask_i('0), .lines_req_data_i('0), .lines_req_atomic_i('0),
    .lines_rsp_valid_o(rsp_valid), .lines_rsp_tag_o(rsp_tag), .lines_rsp_data_o(rsp_data),
    .io_req_valid_i(1'b0), .io_req_ready_o(), .io_req_kind_i('0), .io_req_address_i('0),
    .io_req_mask_i('0), .io_req_tag_i('0), .io_req_data_i('0), .io_rsp_valid_o(), .io_rsp_tag_o(),
    .io_rsp_data_o(), .io_event_valid_o(), .io_event_ipi_o(), .io_event_address_o(), .probe_o(),
    .probe_tag_o(), .status_up_o(up_o[0]), .status_fail_o(), .status_blocks_o(),
    .status_words_o(), .status_got_o(), .status_bad_o(bad[0]), .status_again_o(),
    .status_stray_o()
  );
  eci_host #(.DataDepth(DataDepth)) u_host (
    .clk_i, .rst_ni, .cfg_partition_i(1'b0), .blocks_tx_data_o(tx[1]),
    .blocks_tx_ready_i(tx_ready[1]), .blocks_rx_data_i(rx[1]), .blocks_rx_valid_i(rx_valid[1]),
    .lines_req_valid_i(1'b0), .lines_req_ready_o(), .lines_req_kind_i('0),
    .lines_req_write_i(1'b0), .lines_req_index_i('0), .lines_req_tag_i('0), .lines_req_mask_i('0),
    .lines_req_data_i('0), .lines_rsp_valid_o(), .lines_rsp_tag_o(), .lines_rsp_data_o(),
    .mem_req_valid_o(mem_req_valid), .mem_req_ready_i(1'b1), .mem_req_write_o(),
    .mem_req_index_o(mem_index), .mem_req_tag_o(mem_tag), .mem_req_mask_o(), .mem_req_data_o(),
    .mem_rsp_valid_i(mem_rsp_valid), .mem_rsp_ready_o(mem_rsp_ready),
    .mem_rsp_tag_i(mem_tag_q[mem_out_q]), .mem_rsp_data_i(line_of(mem_index_q[mem_out_q])),
    .io_req_valid_i(1'b0), .io_req_ready_o(), .io_req_kind_i('0), .io_req_address_i('0),
    .io_req_mask_i('0), .io_req_tag_i('0), .io_req_data_i('0), .io_rsp_valid_o(), .io_rsp_tag_o(),
    .io_rsp_data_o(), .io_event_valid_o(), .io_event_ipi_o(), .io_event_address_o(), .probe_o(),
    .probe_tag_o(), .status_up_o(up_o[1]), .status_fail_o(), .status_blocks_o(),
    .status_words_o(), .status_got_o(), .status_bad_o(bad[1]), .status_again_o(),
    .status_stray_o()
  );

  // ---------------------------------------------------------------- between them
  if (WithLanes) begin : gen_lanes
    code_t [1:0][11:0] code;
    logic [1:0][11:0][31:0] lag, lag_words;
    logic [6:0] gearbox_q;
    logic ready;
    assign ready = !(gearbox_q inside {7'd22, 7'd44, 7'd66});
    always_ff @(posedge lane_clk_i) begin
      gearbox_q <= (!rst_ni || gearbox_q == 7'd66) ? '0 : gearbox_q + 1'b1;
    end
    for (genvar e = 0; e < 2; e++) begin : gen_end
      logic [11:0] valid, slip;
      code_t [11:0] came;
      blocklink_lanes #(.MetaframeWords(MetaframeWords), .SlipWait(4)) u_lanes (
        .clk_i, .rst_ni, .block_i(tx[e]), .block_ready_o(tx_ready[e]),
        .block_valid_o(rx_valid[e]), .block_o(rx[e]), .lane_clk_i, .lane_rst_ni(rst_ni),
        .tx_ready_i(ready), .tx_code_o(code[e]), .rx_clk_i({12{lane_clk_i}}),
        .rx_rst_ni({12{rst_ni}}), .rx_valid_i(valid), .rx_code_i(came), .rx_slip_o(slip),
        .aligned_o(), .framed_o(), .skew_o(), .crc_bad_o(), .far_o(), .late_o(), .realign_o(),
        .sync_bad_o(), .removed_o(), .lost_o(), .added_o()
      );
      for (genvar i = 0; i < 12; i++) begin : gen_lane
        lane_line #(.Delay(LaneDelay), .Pause((i * 17 + 5 * e) % 67)) u_line (
          .tx_clk_i(lane_clk_i), .rx_clk_i(lane_clk_i), .rst_ni, .tx_ready_i(ready),
          .tx_code_i(code[1-e][i]), .error_i('0), .spoil_i(1'b0), .slide_i(1'b0),
          .slip_i(slip[i]), .rx_valid_o(valid[i]), .rx_code_o(came[i]), .lag_sum_o(lag[e][i]),
          .lag_words_o(lag_words[e][i])
        );
      end
    end
    always_comb begin
      {lag_sum_o, lag_words_o} = '0;
      for (int unsigned i = 0; i < 24; i++) begin
        lag_sum_o   = lag_sum_o + lag[i/12][i%12];
        lag_words_o = lag_words_o + lag_words[i/12][i%12];
      end
    end
  end else begin : gen_constant
    // 12 x 10.3125 Gbit/s x 64/67 x 2044/2048 at 300 MHz are 0.76808 blocks a cycle, in 2 ** -16.
    localparam logic [16:0] Rate = 17'd50337;
    logic [16:0] free_q;
    always_ff @(posedge clk_i) free_q <= rst_ni ? 17'(free_q[15:0]) + Rate : '0;
    for (genvar e = 0; e < 2; e++) begin : gen_end
      logic [511:0] line_q [LineCycles+1];
      logic [LineCycles:0] valid_q;
      assign tx_ready[e]   = free_q[16];
      assign rx[1-e]       = line_q[LineCycles];
      assign rx_valid[1-e] = valid_q[LineCycles];
      always_ff @(posedge clk_i) begin
        valid_q   <= rst_ni ? {valid_q[LineCycles-1:0], tx_ready[e]} : '0;
        line_q[0] <= tx[e];
        for (int i = 1; i <= int'(LineCycles); i++) line_q[i] <= line_q[i-1];
      end
    end
    assign lag_sum_o   = '0;
    assign lag_words_o = '0;
    logic unused;
    assign unused = &{1'b0, lane_clk_i};
  end
endmodule
