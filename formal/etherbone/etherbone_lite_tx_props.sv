// SPDX-License-Identifier: SHL-2.1
/// etherbone_lite_tx: the layout of the stored words, word by word, and that nothing is lost.
module etherbone_lite_tx_props
  import etherbone_pkg::*;
(
  input logic        clk_i,
  input logic        valid_i,
  input logic [31:0] data_i,
  input logic        end_i
);
  logic rst_ni, lite_i, hold_o, busy_o, store_o, answer_o;
  logic [31:0] data_o;
  etherbone_lite_tx dut (.*);

  logic started_q = 1'b0;
  always_ff @(posedge clk_i) started_q <= 1'b1;
  assign rst_ni = started_q;

  // Never assigned another value and not initialised: any constant.
  logic lite_q;
  always_ff @(posedge clk_i) lite_q <= lite_q;
  assign lite_i = lite_q;

  // ---------------------------------------------------------------- model
  // Words of this frame: arrived, up to 3, and stored, up to 3; whether the record has arrived.
  logic [1:0] in_q, out_q;
  logic probe_q, record_q, hold_q;

  function automatic logic [1:0] more(logic [1:0] count);
    return count == 2'd3 ? count : count + 2'd1;
  endfunction

  // A word that counts something, behind the header.
  logic record;
  assign record = !probe_q && in_q != '0 && !record_q && data_i[15:8] != '0;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      in_q     <= '0;
      out_q    <= '0;
      probe_q  <= 1'b0;
      record_q <= 1'b0;
      hold_q   <= 1'b0;
    end else begin
      hold_q <= hold_o;
      if (end_i) begin
        in_q     <= '0;
        out_q    <= '0;
        record_q <= 1'b0;
      end else begin
        if (valid_i) begin
          in_q <= more(in_q);
          if (in_q == '0) probe_q <= data_i[9];
          record_q <= record_q || record;
        end
        if (store_o) out_q <= more(out_q);
      end
    end
  end

  always_comb begin
    if (started_q) begin
      // An end alone, and neither it nor a word where this says so. A probe's reply has two words.
      if (valid_i) assume (!end_i && !hold_q);
      if (busy_o) assume (!end_i);
      if (probe_q && in_q >= 2'd2) assume (!valid_i);

      if (!lite_q) begin
        assert (store_o == valid_i && data_o == data_i && answer_o && !hold_o && !busy_o);
      end else begin
        if (store_o) begin
          unique case (out_q)
            2'd0: assert (valid_i && data_o == (data_i & ~32'h0000_0400));
            2'd1: assert (probe_q ? valid_i && data_o == data_i : !valid_i && data_o == '0);
            2'd2: begin
              if (probe_q) begin
                assert (!valid_i && data_o == '0);
              end else begin
                assert (valid_i && record && data_o[23:0] == data_i[23:0]);
                for (int unsigned i = 0; i < 8; i++) assert (data_o[24+i] == data_i[31-i]);
              end
            end
            default: assert (valid_i && data_o == data_i && record_q);
          endcase
        end
        // Only empty words in front of a record go nowhere.
        if (valid_i && !store_o) assert (!probe_q && in_q != '0 && !record_q && !record);
        // A reply only where something was read, or to a probe.
        if (end_i) assert (answer_o == (out_q == 2'd3) && answer_o == (record_q || in_q == 2'd2 &&
                                                                      probe_q));
        // The engine waits for one cycle at most.
        assert (!(hold_o && hold_q));

        // Inductive strengthening.
        unique case (dut.state_q)
          3'd0:    assert (in_q == 2'd0 && out_q == 2'd0 && !record_q);
          3'd1:    assert (in_q == 2'd1 && out_q == 2'd1 && probe_q && !record_q);
          3'd2: begin
            assert (!record_q && out_q == in_q && dut.probe_q == probe_q && hold_q);
            assert (in_q == (probe_q ? 2'd2 : 2'd1));
          end
          3'd3:    assert (in_q != 2'd0 && out_q == 2'd2 && !probe_q && !record_q);
          3'd4:    assert (in_q >= 2'd2 && out_q == 2'd3 && probe_q == !record_q);
          default: assert (1'b0);
        endcase
        if (dut.state_q == 3'd4 && probe_q) assert (in_q == 2'd2);
        if (dut.state_q == 3'd1) assert (dut.probe_q);
      end

      cover (lite_q && end_i && answer_o && probe_q);
      cover (lite_q && end_i && answer_o && record_q && out_q == 2'd3);
      cover (lite_q && end_i && !answer_o && in_q == 2'd3);
      cover (lite_q && valid_i && !store_o);
    end
  end
endmodule
