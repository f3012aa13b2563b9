// SPDX-License-Identifier: SHL-2.1
/// coherence_cache_mshrs: an MSHR is open from its request until its GACK has left, and has what it
/// was offered last while it was the lowest free one of its parity; GACKs leave in the order of the
/// answers; an open one is seen at its line; a line is merged with just the bytes of its store.
///
/// One MSHR is watched, any.
module coherence_cache_mshrs_props
  import coherence_pkg::*;
#(
  parameter  int unsigned NumMshr   = 4,
  parameter  int unsigned Bytes     = 4,
  localparam int unsigned LineWidth = 8 * Bytes,
  localparam int unsigned MshrWidth = $clog2(NumMshr)
) (
  input logic                 clk_i,
  input logic                 rsp_side_i,
  input id_t                  rsp_id_i,
  input index_t               index_i,
  input logic [MshrWidth-1:0] merge_id_i,
  input logic                 merge_all_i,
  input logic [LineWidth-1:0] merge_data_i,
  input logic                 side_i,
  input logic                 allocate_i,
  input logic                 store_i,
  input logic                 silent_i,
  input logic [7:0]           tag_i,
  input index_t               line_i,
  input logic [Bytes-1:0]     mask_i,
  input logic [LineWidth-1:0] data_i,
  input logic                 filled_i,
  input logic [MshrWidth-1:0] filled_id_i,
  input logic                 gack_i
);
  localparam int unsigned Half = NumMshr / 2;
  typedef logic [MshrWidth-1:0] mshr_id_t;
  logic rst_ni, rsp_silent_o, free_some_o, owed_some_o;
  mshr_id_t rsp_mshr_o;
  index_t   rsp_index_o, owed_index_o;
  id_t      free_low_o;
  logic [7:0]           rsp_tag_o;
  logic [NumMshr/2-1:0] open_o;
  logic [Bytes-1:0]     merge_mask_o;
  logic [LineWidth-1:0] merge_data_o;

  coherence_cache_mshrs #(.NumMshr(NumMshr), .Bytes(Bytes), .Atomics(1'b1)) dut (.*);

  logic started_q = 1'b0;
  always_ff @(posedge clk_i) started_q <= 1'b1;
  assign rst_ni = started_q;

  // ---------------------------------------------------------------- the watched one
  typedef struct packed {
    logic                 store;
    logic                 silent;
    logic [7:0]           tag;
    index_t               line;
    logic [Bytes-1:0]     mask;
    logic [LineWidth-1:0] data;
  } request_t;
  mshr_id_t watch_q, twin;
  request_t has_q;    // what it was offered last
  logic     made_q;   // it was offered something
  logic     open_q, owed_q;
  logic [MshrWidth:0] ahead_q, count_q;  // GACKs before its own, and all that are owed
  logic     offered, opens, answered, leaves, upper, lower_free;
  assign upper    = 32'(watch_q) >= Half;  // of the parity of even lines
  assign twin     = watch_q ^ mshr_id_t'(1);
  assign offered  = free_some_o && side_i == upper &&
                    32'(free_low_o) + (side_i ? Half : 0) == 32'(watch_q);
  assign opens    = offered && allocate_i;
  assign answered = filled_i && filled_id_i == watch_q;
  assign leaves   = gack_i && owed_q && ahead_q == '0;
  always_ff @(posedge clk_i) begin
    watch_q <= watch_q;
    if (!started_q) begin
      {made_q, open_q, owed_q, count_q} <= '0;
    end else begin
      if (offered) begin
        has_q  <= '{store_i, silent_i, tag_i, line_i, mask_i, data_i};
        made_q <= 1'b1;
      end
      open_q  <= opens || (open_q && !leaves);
      owed_q  <= answered || (owed_q && !leaves);
      if (answered) ahead_q <= count_q - (MshrWidth + 1)'(gack_i);
      else if (gack_i) ahead_q <= ahead_q - 1'b1;
      count_q <= count_q + (MshrWidth + 1)'(filled_i) - (MshrWidth + 1)'(gack_i);
    end
  end

  // A free one of its parity that is lower.
  always_comb begin
    lower_free = 1'b0;
    for (int unsigned i = 0; i < NumMshr; i++)
      if (i < 32'(watch_q) && (i >= Half) == upper && !dut.open_q[i]) lower_free = 1'b1;
  end

  always_comb begin
    assume (32'(rsp_id_i) < Half);
    if (started_q) begin
      // The cache asks where one is free, is answered once what it asked for, and owes a GACK then.
      if (allocate_i) assume (free_some_o);
      if (answered) assume (open_q && !owed_q && line_i == has_q.line);
      if (filled_i) assume (count_q < (MshrWidth + 1)'(NumMshr));
      if (gack_i) assume (owed_some_o);

      assert (rsp_mshr_o == mshr_id_t'(rsp_id_i) + (rsp_side_i ? mshr_id_t'(Half) : '0));
      if (rsp_mshr_o == watch_q && made_q) begin
        assert (rsp_index_o == has_q.line && rsp_tag_o == has_q.tag);
        assert (rsp_silent_o == has_q.silent);
      end
      // The lowest free one of the parity.
      if (side_i == upper) begin
        assert (!(open_q && offered));
        if (!open_q) assert (free_some_o && (lower_free || offered));
        if (offered) assert (!lower_free);
      end
      assert (32'(free_low_o) < Half && (free_some_o || free_low_o == '0));
      // Open at its line.
      assert (open_o[watch_q / 2] == ((open_q && has_q.line == index_i) ||
                                      (dut.open_q[twin] && dut.line_q[twin] == index_i)));
      // GACKs in order.
      assert (owed_some_o == (count_q != '0));
      if (owed_q && ahead_q == '0) assert (owed_some_o && owed_index_o == has_q.line);
      // The line of an answer.
      if (merge_id_i == watch_q && made_q) begin
        assert (merge_mask_o == (merge_all_i ? has_q.mask : '1));
        for (int unsigned i = 0; i < Bytes; i++) begin
          if (merge_all_i || (has_q.store && has_q.mask[i]))
            assert (merge_data_o[8*i+:8] == has_q.data[8*i+:8]);
          else assert (merge_data_o[8*i+:8] == merge_data_i[8*i+:8]);
        end
      end
      // What makes the above inductive.
      assert (dut.open_q[watch_q] == open_q && (made_q || !open_q) && (open_q || !owed_q));
      assert (dut.u_owed.usage_o == count_q && count_q <= (MshrWidth + 1)'(NumMshr));
      for (int unsigned k = 0; k < NumMshr; k++) begin
        if (k < 32'(count_q)) begin
          assert ((dut.u_owed.mem_q[mshr_id_t'(dut.u_owed.rptr_q + k)][IndexWidth+:MshrWidth] ==
                   watch_q) == (owed_q && 32'(ahead_q) == k));
        end
      end
      if (owed_q) begin
        assert (ahead_q < count_q);
        assert (dut.u_owed.mem_q[mshr_id_t'(dut.u_owed.rptr_q + ahead_q)] ==
                {watch_q, has_q.line});
      end
      if (made_q) begin
        assert (dut.mshr_q[watch_q] == {has_q.tag, has_q.line});
        assert (dut.line_q[watch_q] == has_q.line && dut.store_q[watch_q] == has_q.store);
        assert (dut.mask_q[watch_q] == has_q.mask && dut.data_q[watch_q] == has_q.data);
        assert (dut.gen_atomics.silent_q[watch_q] == has_q.silent);
      end
      cover (owed_q && ahead_q == 3'd1 && watch_q == 2'd3 && has_q.store);
      cover (!open_q && made_q && owed_some_o && open_o[watch_q / 2]);
    end
  end
endmodule
