// SPDX-License-Identifier: SHL-2.1
/// axi_cut with Held: the bursts of a command are its bytes, one behind the other and none over the
/// end of a page, each as long as may be; the command is taken with the last one.
///
/// Any commands, held until taken, and any bus. Windows of 128 bytes, commands of at most 64, on a
/// bus of 64 bits, granules of 2 bytes.
module axi_cut_held_props (
  input logic        clk_i,
  input logic        cmd_valid_i,
  input logic [63:0] cmd_addr_i,
  input logic [6:0]  cmd_bytes_i,
  input logic        burst_ready_i,
  input logic        stop_i,
  input logic        burst_part_i,
  input logic [6:0]  burst_units_i,
  input logic        offered_i
);
  logic rst_ni, cmd_ready_o, burst_valid_o, burst_last_o;
  logic [1:0] burst_first_o, burst_final_o;
  logic [6:0] burst_units_o;
  logic [5:0] burst_left_o;
  axi_pkg::address_t burst_o;

  axi_cut #(.DataWidth(64), .Granule(2), .BurstBytes(128), .MaxBytes(64), .Held(1'b1)) dut (.*);

  logic started_q = 1'b0;
  always_ff @(posedge clk_i) started_q <= 1'b1;
  assign rst_ni = started_q;

  logic        held_q, part_q;  // the command was not taken; one of its bursts was
  logic [63:0] addr_q, next_q;
  logic [6:0]  bytes_q;
  logic [63:0] start, behind, low, high;
  assign start  = part_q ? next_q : cmd_addr_i;
  assign behind = cmd_addr_i + 64'(cmd_bytes_i);
  assign low    = burst_o.addr + {61'd0, burst_first_o, 1'b0};
  assign high   = burst_o.addr + {53'd0, burst_o.len, 3'd0} + {61'd0, burst_final_o, 1'b1};
  always_ff @(posedge clk_i) begin
    held_q  <= started_q && cmd_valid_i && !cmd_ready_o;
    addr_q  <= cmd_addr_i;
    bytes_q <= cmd_bytes_i;
    if (!started_q) part_q <= 1'b0;
    else if (burst_valid_o && burst_ready_i) part_q <= !cmd_ready_o;
    if (burst_valid_o && burst_ready_i) next_q <= high + 64'd1;
  end

  always_comb begin
    assume (cmd_bytes_i != '0 && cmd_bytes_i <= 7'd64 && !cmd_bytes_i[0] && !cmd_addr_i[0]);
    // No command goes over the end of the address space.
    assume (cmd_addr_i[63:7] != '1);
    if (held_q) assume (cmd_valid_i && cmd_addr_i == addr_q && cmd_bytes_i == bytes_q);
    if (burst_ready_i) assume (cmd_valid_i);
    if (started_q) begin
      assert (burst_valid_o == cmd_valid_i);
      if (burst_valid_o) begin
        assert (low == start && low <= high && high < behind && high[63:7] == low[63:7]);
        assert (burst_last_o == (high + 64'd1 == behind) && (burst_last_o || high[6:0] == '1));
        assert ({57'd0, burst_left_o, 1'b0} == behind - low);
        assert ({56'd0, burst_units_o, 1'b0} == high + 64'd1 - low);
        assert (burst_o.addr[2:0] == '0 && burst_o.size == 3'd3 && burst_o.burst == 2'b01);
        assert (cmd_ready_o == (burst_ready_i && burst_last_o));
      end
      // What makes the above inductive.
      assert (part_q == dut.gen_held.second_q);
      if (part_q) begin
        assert (held_q && next_q == {addr_q[63:7] + 57'd1, 7'd0});
        assert (next_q < addr_q + 64'(bytes_q));
      end
      cover (part_q && burst_ready_i && low == high - 64'd1);
      cover (burst_valid_o && cmd_ready_o && burst_o.len == 8'd7 && !part_q);
    end
  end
endmodule
