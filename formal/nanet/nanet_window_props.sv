// SPDX-License-Identifier: SHL-2.1
/// nanet_window: any word that is put and whose packet is kept comes out in its place, once; one
/// whose packet is dropped never does. It never holds more than its depth.
///
/// Any stream, stalls, packets kept or dropped; 8 words of 3 bits.
module nanet_window_props #(
  parameter int unsigned Width = 3,
  parameter int unsigned Depth = 8
) (
  input logic             clk_i,
  input logic             put_valid_i,
  input logic [Width-1:0] put_i,
  input logic             keep_i,
  input logic             drop_i,
  input logic             out_ready_i,
  input logic             mark_i
);
  localparam int unsigned PtrW = $clog2(Depth) + 1;
  typedef logic [PtrW-1:0] ptr_t;
  logic rst_ni, put_ready_o, full_o, stuck_o, out_valid_o, empty_o;
  logic [Width-1:0] out_o;
  nanet_window #(.Width(Width), .Depth(Depth)) dut (
    .clk_i, .rst_ni, .put_valid_i, .put_ready_o, .put_i, .keep_i, .drop_i, .full_o, .stuck_o,
    .out_valid_o, .out_ready_i, .out_o, .empty_o
  );

  logic started_q = 1'b0;
  always_ff @(posedge clk_i) started_q <= 1'b1;
  assign rst_ni = started_q;
  always_comb begin
    assume (!(put_valid_i && (keep_i || drop_i)));
    assume (!(keep_i && drop_i));
  end

  // One word, any: stored, and perhaps kept; its place; how many words go out before it. Then it
  // is at the output.
  logic stored_q, kept_q, out_q, put, take, fetch;
  ptr_t place_q, read, write, kept, ahead_q, in_front;
  logic [Width-1:0] data_q;
  assign put   = put_valid_i && put_ready_o;
  assign take  = out_valid_o && out_ready_i;
  assign read  = dut.read_q;
  assign write = dut.write_q;
  assign kept  = dut.kept_q;
  assign fetch = dut.fetch;
  // Words stored, and the one at the output.
  assign in_front = ptr_t'(write - read) + ptr_t'(out_valid_o);
  always_ff @(posedge clk_i) begin
    if (!started_q) begin
      stored_q <= 1'b0;
      kept_q   <= 1'b0;
      out_q    <= 1'b0;
    end else begin
      if (put && mark_i && !stored_q && !out_q) begin
        stored_q <= 1'b1;
        kept_q   <= 1'b0;
        place_q  <= write;
        data_q   <= put_i;
        ahead_q  <= in_front - ptr_t'(take);
      end else begin
        if (take) ahead_q <= ahead_q - 1'b1;
        if (stored_q && keep_i) kept_q <= 1'b1;
        if (stored_q && !kept_q && drop_i) stored_q <= 1'b0;
        if (stored_q && fetch && read == place_q) begin
          stored_q <= 1'b0;
          out_q    <= 1'b1;
        end
      end
      if (out_q && take) out_q <= 1'b0;
    end
  end

  logic dropped_q;
  always_ff @(posedge clk_i) dropped_q <= started_q && drop_i;
  always_comb begin
    if (started_q) begin
      if (dropped_q) assert (write == kept);
      assert (ptr_t'(write - read) <= ptr_t'(Depth));
      assert (ptr_t'(kept - read) <= ptr_t'(write - read));
      assert (full_o == (ptr_t'(write - read) == ptr_t'(Depth)));
      if (stuck_o) assert (kept == read && !out_valid_o);
      if (fetch) assert (kept != read);
      if (stored_q) begin
        assert (!out_q);
        assert (dut.u_words.mem_q[place_q[PtrW-2:0]] == data_q);
        assert (ahead_q == ptr_t'(place_q - read) + ptr_t'(out_valid_o));
        if (kept_q) begin
          assert (ptr_t'(place_q - read) < ptr_t'(kept - read));
        end else begin
          assert (ptr_t'(place_q - kept) < ptr_t'(write - kept));
          assert (!(fetch && read == place_q));
        end
      end
      if (out_q) assert (out_valid_o && out_o == data_q && ahead_q == '0);
      if (empty_o) assert (!stored_q && !out_q);
      cover (out_q && data_q == '1 && full_o);
      cover (stuck_o);
      cover (stored_q && !kept_q && drop_i && out_valid_o);
    end
  end
endmodule
