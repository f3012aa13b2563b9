// SPDX-License-Identifier: SHL-2.1
/// axi_cut: the bursts of a command are its bytes, one behind the other and none over the end of a
/// page; the last one is known as such, and the next command is taken with it; a command that is
/// stopped ends with the burst on offer. Of a burst any part may be taken:
/// the rest is offered again.
///
/// Any commands and any bus. Bursts of 32 bytes on a bus of 64 bits, granules of 2 bytes.
module axi_cut_props (
  input logic        clk_i,
  input logic        cmd_valid_i,
  input logic [63:0] cmd_addr_i,
  input logic [6:0]  cmd_bytes_i,
  input logic        stop_i,
  input logic        burst_ready_i,
  input logic        burst_part_i,
  input logic [4:0]  burst_units_i,
  input logic        offered_i
);
  logic rst_ni, cmd_ready_o, burst_valid_o, burst_last_o;
  logic [1:0] burst_first_o, burst_final_o;
  logic [4:0] burst_units_o;
  logic [5:0] burst_left_o;
  axi_pkg::address_t burst_o;

  axi_cut #(.DataWidth(64), .Granule(2), .BurstBytes(32), .MaxBytes(64)) dut (.*);

  // The next burst's address and the end of its command, from its window on.
  logic [63:1] cut_addr;
  logic [5:0] cut_past;
  assign cut_addr = dut.gen_stored.addr_q;
  assign cut_past = dut.gen_stored.past_q;

  logic started_q = 1'b0;
  always_ff @(posedge clk_i) started_q <= 1'b1;
  assign rst_ni = started_q;

  always_comb begin
    assume (cmd_bytes_i != '0 && cmd_bytes_i <= 7'd64 && !cmd_bytes_i[0] && !cmd_addr_i[0]);
    // No command goes over the end of the address space.
    assume (cmd_addr_i[63:7] != '1);
    // What is taken was on offer.
    if (burst_ready_i) assume (offered_i);
    assume (burst_units_i != '0 && burst_units_i < burst_units_o || !burst_part_i);
  end

  logic cmd_take, burst_take;
  assign cmd_take   = started_q && cmd_valid_i && cmd_ready_o;
  assign burst_take = started_q && burst_valid_o && burst_ready_i;

  // The command's bytes that no burst has: from, up to. Of the burst on offer: first, last.
  logic [63:0] next_q, end_q, low, high;
  assign low  = burst_o.addr + {61'd0, burst_first_o, 1'b0};
  assign high = burst_o.addr + {53'd0, burst_o.len, 3'd0} + {61'd0, burst_final_o, 1'b1};
  logic [63:0] behind;  // what is taken of it
  assign behind = burst_part_i ? low + {58'd0, burst_units_i, 1'b0} : high + 64'd1;
  logic        open_q, stopped_q, held_q;
  logic        parted_q;  // what is on offer is the rest of a burst
  logic [63:0] low_q, high_q;
  always_ff @(posedge clk_i) begin
    if (!started_q) begin
      open_q    <= 1'b0;
      stopped_q <= 1'b0;
      parted_q  <= 1'b0;
      held_q    <= 1'b0;
    end else begin
      if (cmd_take) begin
        next_q <= cmd_addr_i;
        end_q  <= cmd_addr_i + 64'(cmd_bytes_i);
        open_q <= 1'b1;
      end else if (burst_take) begin
        next_q <= behind;
        open_q <= behind != end_q && !stop_i;
      end else if (stop_i && !offered_i) begin
        open_q <= 1'b0;
      end
      parted_q  <= burst_take ? burst_part_i : parted_q && !cmd_take;
      stopped_q <= stop_i && !cmd_take && (burst_take || !offered_i);
      held_q    <= burst_valid_o && !burst_ready_i && offered_i;
      low_q     <= low;
      high_q    <= high;
    end
  end

  always_comb begin
    if (started_q) begin
      assert (burst_valid_o == open_q);
      assert (cmd_ready_o == (!open_q || (burst_take && !burst_part_i && burst_last_o)));
      if (stopped_q) assert (!burst_valid_o);
      if (held_q) assert (burst_valid_o && low == low_q && high == high_q);
      if (burst_valid_o) begin
        assert (low == next_q && low <= high && high < end_q);
        assert (high[63:12] == low[63:12] && high[63:5] == low[63:5]);
        assert (burst_last_o == (high + 64'd1 == end_q));
        assert ({57'd0, burst_left_o, 1'b0} == end_q - low);
        assert ({58'd0, burst_units_o, 1'b0} == high + 64'd1 - low);
        assert (burst_o.addr[2:0] == '0 && burst_o.size == 3'd3 && burst_o.burst == 2'b01);
        // No burst is shorter than it must be.
        assert (burst_last_o || high[4:0] == '1);
        // What makes the above inductive.
        assert (end_q == {cut_addr[63:5], 5'd0} + 64'({cut_past, 1'b0}));
        assert (next_q == {cut_addr, 1'b0} && end_q > next_q && end_q - next_q <= 64'd64);
        assert (end_q <= {58'h3FF_FFFF_FFFF_FFFF, 6'd0} && !end_q[0]);
      end
      cover (burst_take && !burst_last_o && low[4:0] != '0);
      cover (burst_take && burst_last_o && low[4:0] == '0 && high[4:0] == 5'd1);
      cover (burst_take && !burst_part_i && burst_last_o && low[4:0] == 5'd6 && parted_q);
    end
  end
endmodule
