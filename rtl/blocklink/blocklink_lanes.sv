// SPDX-License-Identifier: SHL-2.1
/// The 12 lanes of one end of a block link: blocks on one side, words of 67 bits on the other.
///
/// blocks -> rows -> async FIFO -> lane_tx a lane;  a lane: lane_lock, lane_rx, lane_elastic ->
/// link_deskew -> rows -> blocks (docs/explanation/cores/lanes.md)
///
///   Clocks      clk_i: the link's core. lane_clk_i: that of all transceivers' transmit user side.
///               rx_clk_i: each lane's own, recovered
///   Handshake   block_ready_o takes block_i; block_valid_o is never refused, as of
///               blocklink_core. tx_ready_i: the gearboxes of all lanes take a word, in step.
///               rx_valid_i: a word of a lane came; rx_slip_o: its gearbox is to begin a bit later
///   Lossless    not by itself: blocks of lanes that have no lock vanish, and a wrong bit alters a
///               block. blocklink_replay repairs both
///   Latency     docs/explanation/cores/lanes.md has the budget
///   Throughput  blocks of 8 words at 12 x (MetaframeWords - 4) / MetaframeWords words a word time,
///               as long as clk_i has 1.5 cycles a word time
///   Reset       all together; each released synchronously to its clock, in any order
///   Parameters  MetaframeWords even, 16..8192; MaxSkew 1..15 words between the first lane and the
///               last; SlipWait as blocklink_lane_lock; Ahead 2..7 rows that may wait for the
///               lanes: they cover a row's way into their clock and the count's way back
///   Not done    other numbers of lanes; lanes in another order; fewer lanes after a fault
module blocklink_lanes
  import blocklink_lane_pkg::*;
#(
  parameter  int unsigned MetaframeWords = 2048,
  parameter  int unsigned MaxSkew        = 7,
  parameter  int unsigned SlipWait       = 32,
  parameter  int unsigned Ahead          = 5,
  localparam int unsigned Lanes          = 12,
  localparam int unsigned SkewWidth      = $clog2(MaxSkew + 1)
) (
  input  logic                            clk_i,
  input  logic                            rst_ni,
  input  blocklink_pkg::block_t           block_i,
  output logic                            block_ready_o,
  output logic                            block_valid_o,
  output blocklink_pkg::block_t           block_o,  // with block_valid_o, in clk_i

  input  logic                            lane_clk_i,
  input  logic                            lane_rst_ni,  // of lane_clk_i, active low
  input  logic                            tx_ready_i,
  output code_t [Lanes-1:0]               tx_code_o,  // a word of each lane, taken with tx_ready_i

  input  logic [Lanes-1:0]                rx_clk_i,
  input  logic [Lanes-1:0]                rx_rst_ni,  // of each rx_clk_i, active low
  input  logic [Lanes-1:0]                rx_valid_i,
  input  code_t [Lanes-1:0]               rx_code_i,  // with the lane's rx_valid_i
  output logic [Lanes-1:0]                rx_slip_o,

  // In clk_i
  output logic                            aligned_o,
  output logic [Lanes-1:0]                framed_o,   // a lane has metaframe lock
  output logic [Lanes-1:0][SkewWidth-1:0] skew_o,     // words that a lane waits for the last one
  output logic [Lanes-1:0][15:0]          crc_bad_o,  // metaframes with a wrong check
  output logic [Lanes-1:0][1:0]           far_o,      // health that the far end sends
  output logic                            late_o,     // strobe: a lane later than MaxSkew
  output logic                            realign_o,  // strobe: an alignment was given up
  // Strobes in rx_clk_i, and in lane_clk_i
  output logic [Lanes-1:0]                sync_bad_o,
  output logic [Lanes-1:0]                removed_o,  // a SKIP was dropped
  output logic [Lanes-1:0]                lost_o,     // a word found the elastic buffer full
  output logic                            added_o     // no row in time: a SKIP more
);
  if (Ahead < 2 || Ahead > 7) begin : gen_ahead_check
    $error("blocklink_lanes: Ahead is %0d, legal is 2..7", Ahead);
  end
  if (MaxSkew < 1 || MaxSkew > 15 || 2 * MaxSkew + 4 > MetaframeWords) begin : gen_skew_check
    $error("blocklink_lanes: MaxSkew is %0d, legal is 1..15, and 2 MaxSkew + 4 words a metaframe",
           MaxSkew);
  end
  localparam int unsigned RowDepth = 8;

  // ---------------------------------------------------------------- transmit
  logic [Lanes-1:0][63:0] row, tx_row;
  logic row_valid, row_stored, row_settled, tx_row_valid, row_take, frame, odd;
  logic [3:0] pushed_q, popped;
  slot_e slot;

  blocklink_lane_rows u_rows (
    .clk_i, .rst_ni, .block_i, .block_ready_o, .room_i(4'(pushed_q - popped) < 4'(Ahead)),
    .row_valid_o(row_valid), .row_o(row)
  );
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) pushed_q <= '0;
    else pushed_q <= pushed_q + 4'(row_valid);
  end
  async_fifo #(.Width(64 * Lanes), .Depth(RowDepth)) u_row_fifo (
    .wclk_i(clk_i), .wrst_ni(rst_ni), .wvalid_i(row_valid), .wready_o(row_stored), .wdata_i(row),
    .rclk_i(lane_clk_i), .rrst_ni(lane_rst_ni), .rvalid_o(tx_row_valid), .rready_i(row_take),
    .rdata_o(tx_row), .settled_o(row_settled)
  );
  gray_counter #(.Width(4)) u_popped (
    .clk_i(lane_clk_i), .rst_ni(lane_rst_ni), .event_i(row_take), .rclk_i(clk_i), .rrst_ni(rst_ni),
    .count_o(popped)
  );
  blocklink_lane_frame #(.MetaframeWords(MetaframeWords)) u_frame (
    .clk_i(lane_clk_i), .rst_ni(lane_rst_ni), .ready_i(tx_ready_i), .row_valid_i(tx_row_valid),
    .row_take_o(row_take), .frame_o(frame), .slot_o(slot), .odd_o(odd), .added_o
  );
  logic [Lanes-1:0] own_framed;
  logic own_aligned;
  sync_bits #(.Width(Lanes + 1)) u_health (
    .clk_i(lane_clk_i), .rst_ni(lane_rst_ni), .d_i({aligned_o, framed_o}),
    .q_o({own_aligned, own_framed}), .settled_o()
  );

  // ---------------------------------------------------------------- receive
  logic [Lanes-1:0] elastic_valid, elastic_mark;
  logic [Lanes-1:0][63:0] elastic_word;
  logic [Lanes-1:0][64:0] lane_word, beside;
  logic pop, step;

  for (genvar i = 0; i < int'(Lanes); i++) begin : gen_lane
    // The row's control words: word 7 of a block.
    localparam bit EndEven = i == 7;
    localparam bit EndOdd = i == 3 || i == 11;
    slot_e own;
    assign own = frame ? slot : (odd ? EndOdd : EndEven) ? SlotControl : SlotData;
    blocklink_lane_tx #(.InitState({6'(i + 1), 52'h5_A5A5_A5A5_A5A5})) u_tx (
      .clk_i(lane_clk_i), .rst_ni(lane_rst_ni), .ready_i(tx_ready_i), .slot_i(own),
      .word_i(tx_row[i]), .health_i({own_framed[i], own_aligned}), .code_o(tx_code_o[i])
    );

    logic locked, framed, rx_valid, rx_skip, rx_mark, crc_bad;
    logic [1:0] health;
    logic [63:0] rx_word;
    blocklink_lane_lock #(.SlipWait(SlipWait)) u_lock (
      .clk_i(rx_clk_i[i]), .rst_ni(rx_rst_ni[i]), .valid_i(rx_valid_i[i]),
      .header_i(rx_code_i[i].header), .slip_o(rx_slip_o[i]), .locked_o(locked)
    );
    blocklink_lane_rx #(.MetaframeWords(MetaframeWords)) u_rx (
      .clk_i(rx_clk_i[i]), .rst_ni(rx_rst_ni[i]), .locked_i(locked), .valid_i(rx_valid_i[i]),
      .code_i(rx_code_i[i]), .framed_o(framed), .valid_o(rx_valid), .skip_o(rx_skip),
      .mark_o(rx_mark), .word_o(rx_word), .health_o(health), .sync_bad_o(sync_bad_o[i]),
      .crc_bad_o(crc_bad)
    );
    blocklink_lane_elastic u_elastic (
      .wclk_i(rx_clk_i[i]), .wrst_ni(rx_rst_ni[i]), .valid_i(rx_valid || rx_skip),
      .skip_i(rx_skip), .mark_i(rx_mark), .word_i(rx_word), .lost_o(lost_o[i]), .rclk_i(clk_i),
      .rrst_ni(rst_ni), .valid_o(elastic_valid[i]), .ready_i(pop), .mark_o(elastic_mark[i]),
      .word_o(elastic_word[i])
    );
    assign removed_o[i] = rx_skip;
    assign lane_word[i] = {elastic_mark[i], elastic_word[i]};
    gray_counter #(.Width(16)) u_crc_bad (
      .clk_i(rx_clk_i[i]), .rst_ni(rx_rst_ni[i]), .event_i(crc_bad), .rclk_i(clk_i),
      .rrst_ni(rst_ni), .count_o(crc_bad_o[i])
    );
    sync_bits #(.Width(3)) u_status (
      .clk_i, .rst_ni, .d_i({framed, health}), .q_o({framed_o[i], far_o[i]}), .settled_o()
    );
  end

  // ---------------------------------------------------------------- deskew
  // The lanes move in step. Without lock, or behind an alignment that was given up, the elastic
  // buffers are emptied first: they begin with no more than the phase between the clocks.
  localparam int unsigned EmptyCycles = 15;
  logic [3:0] empty_q;
  logic run_q, busy;
  assign pop  = run_q ? step : 1'b1;
  assign step = run_q && (&elastic_valid) && !busy;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      empty_q <= 4'(EmptyCycles);
      run_q   <= 1'b0;
    end else begin
      if (!(&framed_o) || realign_o) empty_q <= 4'(EmptyCycles);
      else if (empty_q != '0) empty_q <= empty_q - 1'b1;
      run_q <= (&framed_o) && !realign_o && empty_q == '0;
    end
  end

  link_deskew #(
    .Lanes(Lanes), .MaxSkew(MaxSkew), .Width(65), .MarkMask({1'b1, 64'd0}),
    .MarkValue({1'b1, 64'd0})
  ) u_deskew (
    .clk_i, .rst_ni, .signal_i(run_q), .step_i(step), .lane_i(lane_word), .word_o(beside),
    .delay_o(skew_o), .aligned_o, .late_o, .lost_o(realign_o)
  );

  // The row at the deskew's outputs: new in the cycle behind a step. Its place in the metaframe,
  // without the SKIP: 0 SYNC, 1 SCRAMBLER, 2 the first of blocks, ...
  localparam int unsigned IndexWidth = $clog2(MetaframeWords);
  typedef logic [IndexWidth-1:0] index_t;
  localparam index_t Diag = index_t'(MetaframeWords - 2);
  logic new_q, mark, data;
  index_t index_q, index;
  logic [Lanes-1:0][63:0] rx_row;
  assign mark  = beside[0][64];
  assign index = mark ? '0 : index_q;
  assign data  = new_q && aligned_o && index > index_t'(1) && index < Diag;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      new_q   <= 1'b0;
      index_q <= Diag;
    end else begin
      new_q <= step;
      if (!aligned_o) index_q <= Diag;
      else if (new_q && index != Diag) index_q <= index + 1'b1;
      else if (new_q) index_q <= Diag;
    end
  end
  for (genvar i = 0; i < int'(Lanes); i++) begin : gen_row
    assign rx_row[i] = beside[i][63:0];
  end
  blocklink_lane_blocks u_blocks (
    .clk_i, .rst_ni, .valid_i(data), .odd_i(index[0]), .row_i(rx_row), .busy_o(busy),
    .valid_o(block_valid_o), .block_o
  );

  prim_assert u_row_stored (.clk_i, .rst_ni, .ok_i(!row_valid || row_stored));

  logic unused;
  assign unused = &{1'b0, row_settled};
endmodule
