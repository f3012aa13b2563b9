// SPDX-License-Identifier: SHL-2.1
/// Open requests of a cache (MSHR), half of them for lines of each parity: line, and a store's
/// bytes.
///
///   Contract    free_*: the lowest free MSHR of the parity side_i, and its number in its half,
///               which is the message's id; allocate_i opens it. A free one takes what is offered
///               in every cycle, so that allocate_i has a bit to reach. filled_i: the answer for
///               line_i came, so that it owes a GACK; owed_*: the one that has for longest,
///               gack_i: its GACK leaves, and it is free. open_o: of two MSHRs each, one of the
///               line index_i was open before this cycle; one that opens now leaves its line in a
///               state that waits
///               (proved with the cache). merge_*: the line that an answer brings with the store's
///               bytes in it, and the bytes to write
///   Coherence   an MSHR is busy until its GACK has left, so a line has one request at a time
///   Latency     0 cycles: outputs are of this cycle's inputs and state
///   Parameters  NumMshr even, 2..64; Bytes of a line, 1..128; Atomics 0: rsp_silent_o is 0
///   Not done    a second request of an open MSHR's line: the caller waits while open_o
module coherence_cache_mshrs
  import coherence_pkg::*;
#(
  parameter  int unsigned NumMshr   = 16,
  parameter  int unsigned Bytes     = LineBytes,
  parameter  bit          Atomics   = 1'b0,
  localparam int unsigned LineWidth = 8 * Bytes,
  localparam int unsigned MshrWidth = $clog2(NumMshr)
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,
  // stage 0: of which operation an answer is
  input  logic                 rsp_side_i,  // 1: of an even line
  input  id_t                  rsp_id_i,
  output logic [MshrWidth-1:0] rsp_mshr_o,
  output index_t               rsp_index_o,
  output logic [7:0]           rsp_tag_o,
  output logic                 rsp_silent_o, // its core is not answered
  // stage 1
  input  index_t               index_i,
  output logic [NumMshr/2-1:0] open_o,
  input  logic [MshrWidth-1:0] merge_id_i,
  input  logic                 merge_all_i, // nothing but the store's bytes
  input  logic [LineWidth-1:0] merge_data_i,
  output logic [Bytes-1:0]     merge_mask_o,
  output logic [LineWidth-1:0] merge_data_o,
  // stage 2
  input  logic                 side_i,
  output logic                 free_some_o,
  output id_t                  free_low_o,
  input  logic                 allocate_i,
  input  logic                 store_i,
  input  logic                 silent_i,
  input  logic [7:0]           tag_i,
  input  index_t               line_i,
  input  logic [Bytes-1:0]     mask_i,
  input  logic [LineWidth-1:0] data_i,
  input  logic                 filled_i,
  input  logic [MshrWidth-1:0] filled_id_i,
  output logic                 owed_some_o,
  output index_t               owed_index_o,
  input  logic                 gack_i
);
  if (NumMshr < 2 || NumMshr > 2 * NumIds || NumMshr % 2 != 0) begin : gen_mshr_check
    $error("coherence_cache_mshrs: NumMshr is %0d, legal is even, 2..%0d", NumMshr, 2 * NumIds);
  end
  localparam int unsigned Half = NumMshr / 2;  // from here on of even lines
  typedef logic [MshrWidth-1:0] mshr_id_t;
  // Of an answer: a memory of one read port. The indices once more, as all are compared at once.
  typedef struct packed {
    logic [7:0] tag;
    index_t     index;
  } mshr_t;
  logic [NumMshr-1:0] open_q, open_d, gack_left;
  mshr_t mshr_q [NumMshr];
  index_t line_q [NumMshr];
  logic store_q [NumMshr];
  logic [Bytes-1:0] mask_q [NumMshr];
  logic [LineWidth-1:0] data_q [NumMshr];
  logic [Half-1:0] free;
  mshr_id_t free_id, owed_id;

  assign rsp_mshr_o = mshr_id_t'(rsp_id_i) + (rsp_side_i ? mshr_id_t'(Half) : '0);
  assign {rsp_tag_o, rsp_index_o} = mshr_q[rsp_mshr_o];

  if (Atomics) begin : gen_atomics
    logic silent_q [NumMshr];
    assign rsp_silent_o = silent_q[rsp_mshr_o];
    always_ff @(posedge clk_i) if (free_some_o) silent_q[free_id] <= silent_i;
  end else begin : gen_none
    assign rsp_silent_o = 1'b0;
    logic unused;
    assign unused = silent_i;
  end

  always_comb begin
    open_o = '0;
    for (int unsigned i = 0; i < NumMshr; i++) begin
      if (open_q[i] && line_q[i] == index_i) open_o[i/2] = 1'b1;
    end
  end
  always_comb begin
    merge_mask_o = merge_all_i ? mask_q[merge_id_i] : '1;
    merge_data_o = merge_data_i;
    if (merge_all_i) begin
      merge_data_o = data_q[merge_id_i];
    end else if (store_q[merge_id_i]) begin
      for (int unsigned i = 0; i < Bytes; i++) begin
        if (mask_q[merge_id_i][i]) merge_data_o[8*i+:8] = data_q[merge_id_i][8*i+:8];
      end
    end
  end

  assign free        = side_i ? ~open_q[NumMshr-1:Half] : ~open_q[Half-1:0];
  assign free_some_o = free != '0;
  assign free_id     = mshr_id_t'(free_low_o) + (side_i ? mshr_id_t'(Half) : '0);
  always_comb begin
    free_low_o = '0;
    for (int i = int'(Half) - 1; i >= 0; i--) if (free[i]) free_low_o = id_t'(i);
    open_d = open_q & ~gack_left;
    if (allocate_i) open_d[free_id] = 1'b1;
  end

  // GACKs in the order of the answers.
  logic owed_ready;
  fifo #(
    .Width(MshrWidth + IndexWidth), .Depth(32'd1 << MshrWidth), .WriteAhead(1'b1)
  ) u_owed (
    .clk_i, .rst_ni, .clear_i(1'b0), .valid_i(filled_i), .ready_o(owed_ready),
    .data_i({filled_id_i, line_i}), .valid_o(owed_some_o), .ready_i(gack_i),
    .data_o({owed_id, owed_index_o}), .usage_o()
  );
  always_comb begin
    gack_left = '0;
    gack_left[owed_id] = gack_i;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) open_q <= '0;
    else open_q <= open_d;
  end
  always_ff @(posedge clk_i) begin
    if (free_some_o) begin
      mshr_q[free_id]  <= '{tag: tag_i, index: line_i};
      line_q[free_id]  <= line_i;
      store_q[free_id] <= store_i;
      mask_q[free_id]  <= mask_i;
      data_q[free_id]  <= data_i;
    end
  end
  logic unused_ready;
  assign unused_ready = owed_ready;
`ifndef SYNTHESIS
  logic [NumMshr-1:0] owed_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      owed_q <= '0;
    end else begin
      owed_q <= owed_q & ~gack_left;
      if (filled_i) owed_q[filled_id_i] <= 1'b1;
      if (filled_i && (!open_q[filled_id_i] || owed_q[filled_id_i] ||
                       mshr_q[filled_id_i].index != line_i)) begin
        $fatal(1, "coherence_cache_mshrs: an answer to no request");
      end
    end
  end
`endif
endmodule
