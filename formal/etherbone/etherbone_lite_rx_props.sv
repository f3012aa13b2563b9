// SPDX-License-Identifier: SHL-2.1
/// etherbone_lite_rx: which frames are requests, and which of their words pass.
module etherbone_lite_rx_props
  import etherbone_pkg::*;
(
  input logic        clk_i,
  input logic        start_i,
  input logic [15:0] len_i,
  input logic        valid_i,
  input logic [31:0] data_i
);
  logic rst_ni, lite_i, valid_o, last_o, ok_o;
  logic [31:0] data_o;
  etherbone_lite_rx dut (.*);

  logic started_q = 1'b0;
  always_ff @(posedge clk_i) started_q <= 1'b1;
  assign rst_ni = started_q;

  // Never assigned another value and not initialised: any constant.
  logic lite_q;
  always_ff @(posedge clk_i) lite_q <= lite_q;
  assign lite_i = lite_q;

  // ---------------------------------------------------------------- model
  typedef logic [14:0] num_t;
  logic begun_q, probe_q, pad_q, passed_last_q;
  logic [7:0] writes_q, reads_q;
  num_t words_q, seen_q, passed_q;  // of the frame: announced, arrived, passed

  function automatic num_t section(logic [7:0] count);
    return count == '0 ? num_t'(0) : num_t'(count) + num_t'(1);
  endfunction
  num_t layout;  // words of the frame that its record announces
  assign layout = num_t'(3) + section(writes_q) + section(reads_q);

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      begun_q       <= 1'b0;
      words_q       <= '0;
      seen_q        <= '0;
      passed_q      <= '0;
      probe_q       <= 1'b0;
      pad_q         <= 1'b0;
      writes_q      <= '0;
      reads_q       <= '0;
      passed_last_q <= 1'b0;
    end else if (start_i) begin
      begun_q       <= 1'b1;
      words_q       <= num_t'(len_i[15:2]);
      seen_q        <= '0;
      passed_q      <= '0;
      probe_q       <= 1'b0;
      pad_q         <= 1'b0;
      passed_last_q <= 1'b0;
    end else if (valid_i) begin
      seen_q        <= seen_q + num_t'(1);
      passed_q      <= passed_q + num_t'(valid_o);
      passed_last_q <= passed_last_q || (valid_o && last_o);
      if (seen_q == '0) probe_q <= data_i[8];
      if (seen_q == num_t'(1)) pad_q <= data_i == '0;
      if (seen_q == num_t'(2)) begin
        writes_q <= data_i[15:8];
        reads_q  <= data_i[7:0];
      end
    end
  end

  logic whole, request;
  assign whole   = begun_q && seen_q == words_q;
  assign request = words_q >= num_t'(3) &&
                   (probe_q ? words_q == num_t'(3) : pad_q && words_q == layout);

  always_comb begin
    if (started_q) begin
      // As many words as announced, and none with the start.
      if (start_i) assume (!valid_i);
      if (valid_i) assume (begun_q && seen_q < words_q);

      if (!lite_q) begin
        assert (valid_o == valid_i && data_o == data_i && ok_o);
        if (valid_i) assert (last_o == (seen_q + num_t'(1) == words_q));
      end else begin
        // The verdict on a whole frame is right.
        if (whole && words_q != '0) assert (ok_o == request);
        // A request passes without the one word that the engine does not expect, and ends once.
        if (whole && request) begin
          assert (passed_q == words_q - num_t'(1));
          assert (passed_last_q);
        end
        if (passed_last_q && ok_o) assert (!valid_o);
        // Of any other frame only headers pass: no word that makes a bus operation.
        if (valid_o && !probe_q && seen_q > num_t'(2)) begin
          assert (pad_q && words_q == layout);
        end
        if (valid_o && seen_q == num_t'(2)) assert (pad_q);
        assert (passed_q <= seen_q);
        // Only the flags change.
        if (valid_o) assert (data_o[23:0] == data_i[23:0]);
        if (valid_o && seen_q != num_t'(2)) assert (data_o == data_i);
        for (int unsigned i = 0; i < 8; i++) begin
          if (valid_o && seen_q == num_t'(2)) assert (data_o[24+i] == data_i[31-i]);
        end
      end

      // Inductive strengthening.
      if (begun_q) begin
        assert (seen_q <= words_q);
        assert (14'(words_q - seen_q) == dut.left_q);
        assert (words_q < num_t'(16384));
      end else begin
        assert (seen_q == '0 && dut.left_q == '0 && !passed_last_q);
      end
      assert (dut.probe_q == probe_q);
      assert (2'(dut.state_q) == (seen_q > num_t'(3) ? 2'd3 : 2'(seen_q)));
      if (seen_q == '0) assert (!dut.bad_q);
      if (lite_q) begin
        if (seen_q == num_t'(1)) begin
          assert (dut.bad_q == (probe_q ? words_q != num_t'(3) : words_q < num_t'(3)));
        end
        if (seen_q == num_t'(2)) begin
          assert (dut.bad_q == (probe_q ? words_q != num_t'(3) : !pad_q || words_q < num_t'(3)));
        end
        if (seen_q >= num_t'(3)) assert (dut.bad_q == !request);
        if (!dut.bad_q) begin
          assert (passed_q == (seen_q < num_t'(2) ? seen_q :
                               probe_q ? num_t'(2) : seen_q - num_t'(1)));
          assert (passed_last_q == (probe_q ? seen_q >= num_t'(2) :
                                    seen_q == words_q && seen_q >= num_t'(3)));
        end
      end

      cover (lite_q && whole && ok_o && probe_q);
      cover (lite_q && whole && ok_o && writes_q == 8'd1 && reads_q == 8'd2);
      cover (lite_q && whole && !ok_o && pad_q && words_q > num_t'(4));
    end
  end
endmodule
