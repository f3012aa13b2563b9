// SPDX-License-Identifier: SHL-2.1
/// etherbone_lite_tx: the layout of what leaves, word by word, and that nothing is lost.
module etherbone_lite_tx_props
  import etherbone_pkg::*;
(
  input logic        clk_i,
  input logic        valid_i,
  input logic [31:0] data_i,
  input logic        end_i,
  input logic        commit_i,
  input logic        ready_i
);
  logic rst_ni, lite_i, ready_o, valid_o, end_o, commit_o;
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
  // Words of this frame: taken, up to 3, and given, up to 3; whether the record has been taken.
  logic [1:0] in_q, out_q;
  logic probe_q, record_q, taken, given;
  assign taken = valid_i && ready_o;
  assign given = valid_o && ready_i;

  function automatic logic [1:0] more(logic [1:0] count);
    return count == 2'd3 ? count : count + 2'd1;
  endfunction

  // A word that counts something, behind the header.
  logic record;
  assign record = !probe_q && in_q != '0 && !record_q && data_i[15:8] != '0;

  logic held_q;  // offered and not taken: this must still be on offer
  logic [33:0] beat, beat_q, in_beat_q;
  logic in_held_q;
  assign beat = {end_o, commit_o, end_o ? 32'd0 : data_o};
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      in_q      <= '0;
      out_q     <= '0;
      probe_q   <= 1'b0;
      record_q  <= 1'b0;
      held_q    <= 1'b0;
      in_held_q <= 1'b0;
    end else begin
      held_q    <= valid_o && !ready_i;
      in_held_q <= valid_i && !ready_o;
      if (taken && end_i) begin
        in_q     <= '0;
        record_q <= 1'b0;
      end else if (taken) begin
        in_q <= more(in_q);
        if (in_q == '0) probe_q <= data_i[9];
        record_q <= record_q || record;
      end
      if (given) out_q <= end_o ? '0 : more(out_q);
    end
    beat_q    <= beat;
    in_beat_q <= {end_i, commit_i, data_i};
  end

  always_comb begin
    if (started_q) begin
      // The engine holds what it offers. A probe's reply has two words.
      if (in_held_q) assume (valid_i && {end_i, commit_i, data_i} == in_beat_q);
      if (valid_i && probe_q && in_q == 2'd2) assume (end_i);

      // What is offered stays until it is taken.
      if (held_q) assert (valid_o && beat == beat_q);

      if (!lite_q) begin
        assert (valid_o == valid_i && ready_o == ready_i && end_o == end_i);
        assert (data_o == data_i && commit_o == commit_i);
      end else begin
        if (given && !end_o) begin
          unique case (out_q)
            2'd0: assert (taken && data_o == (data_i & ~32'h0000_0400));
            2'd1: assert (probe_q ? taken && data_o == data_i : !taken && data_o == '0);
            2'd2: begin
              if (probe_q) begin
                assert (!taken && data_o == '0);
              end else begin
                assert (taken && record && data_o[23:0] == data_i[23:0]);
                for (int unsigned i = 0; i < 8; i++) assert (data_o[24+i] == data_i[31-i]);
              end
            end
            default: assert (taken && data_o == data_i && record_q);
          endcase
        end
        // Only empty words in front of a record go nowhere; nothing comes from nowhere but the 0.
        if (taken && !given) assert (!end_i && !probe_q && in_q != '0 && !record_q && !record);
        // One end for each end, and a reply only where something was read, or to a probe.
        if (given && end_o) begin
          assert (taken && end_i);
          assert (commit_o == (commit_i && out_q == 2'd3));
        end
        if (given && end_o && commit_o) assert (probe_q || record_q);
        // The engine waits for one word at most.
        if (valid_i && ready_i && !ready_o) assert (!end_o && data_o == '0);

        // Inductive strengthening.
        unique case (dut.state_q)
          3'd0:    assert (in_q == 2'd0 && out_q == 2'd0 && !record_q);
          3'd1:    assert (in_q == 2'd1 && out_q == 2'd1 && probe_q && !record_q);
          3'd2: begin
            assert (!record_q && out_q == in_q && dut.probe_q == probe_q);
            assert (in_q == (probe_q ? 2'd2 : 2'd1));
          end
          3'd3:    assert (in_q != 2'd0 && out_q == 2'd2 && !probe_q && !record_q);
          3'd4:    assert (in_q >= 2'd2 && out_q == 2'd3 && probe_q == !record_q);
          default: assert (1'b0);
        endcase
        if (dut.state_q == 3'd4 && probe_q) assert (in_q == 2'd2);
        if (dut.state_q == 3'd1) assert (dut.probe_q);
      end

      cover (lite_q && given && end_o && commit_o && probe_q);
      cover (lite_q && given && end_o && commit_o && record_q);
      cover (lite_q && given && end_o && !commit_o && commit_i);
      cover (lite_q && taken && !given && ready_i);
    end
  end
endmodule
