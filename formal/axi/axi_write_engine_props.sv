// SPDX-License-Identifier: SHL-2.1
/// axi_write_engine: every byte of a command is written once and no other, no burst leaves its aligned
/// block, one answer a command, AXI4's rules of stability.
///
/// Bounded: 9 cycles from reset, any commands, data, stalls and answers. One address is watched.
module axi_write_engine_props (
  input logic        clk_i,
  input logic        cmd_valid_i,
  input logic [63:0] cmd_addr_i,
  input logic [6:0]  cmd_bytes_i,
  input logic        cmd_tag_i,
  input logic        data_valid_i,
  input logic        data_keep_i,
  input logic [63:0] data_i,
  input logic        awready_i,
  input logic        wready_i,
  input logic        bvalid_i,
  input logic [1:0]  bresp_i
);
  localparam int unsigned BurstBytes = 16;
  logic rst_ni, cmd_ready_o, data_ready_o, done_valid_o, done_tag_o, done_error_o;
  logic awvalid_o, wvalid_o, wlast_o, bready_o, idle_o;
  axi_pkg::address_t aw_o;
  logic [63:0] wdata_o;
  logic [7:0]  wstrb_o;

  axi_write_engine #(
    .DataWidth (64),
    .BurstBytes(BurstBytes),
    .MaxBytes  (64),
    .MaxBursts (2),
    .TagWidth  (1)
  ) dut (.*);

  logic started_q = 1'b0;
  always_ff @(posedge clk_i) started_q <= 1'b1;
  assign rst_ni = started_q;

  // Bursts whose address and data are taken and that are not answered.
  logic [4:0] addresses_q = '0, datas_q = '0, owed_q, commands_q = '0;
  assign owed_q = addresses_q < datas_q ? addresses_q : datas_q;
  logic aw_take, w_take, b_take, cmd_take;
  assign aw_take  = started_q && awvalid_o && awready_i;
  assign w_take   = started_q && wvalid_o && wready_i;
  assign b_take   = started_q && bvalid_i && bready_o;
  assign cmd_take = started_q && cmd_valid_i && cmd_ready_o;
  always_ff @(posedge clk_i) begin
    if (started_q) begin
      addresses_q <= addresses_q + 5'(aw_take) - 5'(b_take);
      datas_q     <= datas_q + 5'(w_take && wlast_o) - 5'(b_take);
      commands_q  <= commands_q + 5'(cmd_take) - 5'(done_valid_o);
    end
  end

  // A command of at least one byte that does not wrap around; stable until it is taken.
  logic stalled_q = 1'b0;
  logic [71:0] cmd_q;
  always_ff @(posedge clk_i) begin
    stalled_q <= started_q && cmd_valid_i && !cmd_ready_o;
    cmd_q     <= {cmd_addr_i, cmd_bytes_i, cmd_tag_i};
  end
  always_comb begin
    if (cmd_valid_i) begin
      assume (cmd_bytes_i != '0 && cmd_bytes_i <= 7'd24 && cmd_addr_i[63:6] == '0);
    end
    if (stalled_q) assume (cmd_valid_i && cmd_q == {cmd_addr_i, cmd_bytes_i, cmd_tag_i});
    // Memory answers bursts that it has whole.
    if (bvalid_i) assume (owed_q != '0);
  end

  // The watched command, the first: where its bytes are, and what has been written of the watched one.
  // Never assigned another value and not initialised: any constant.
  logic [11:0] watch;
  always_ff @(posedge clk_i) watch <= watch;
  always_comb assume (watch[11:7] == '0);
  logic        seen_q = 1'b0;
  logic [11:0] from_q, until_q;
  always_ff @(posedge clk_i) begin
    if (cmd_take && !seen_q) begin
      seen_q  <= 1'b1;
      from_q  <= cmd_addr_i[11:0];
      until_q <= cmd_addr_i[11:0] + 12'(cmd_bytes_i);
    end
  end

  // Beats of the first command follow its addresses: both are counted from its begin.
  logic [11:0] at_q;       // of the next beat of data
  logic        data_q = 1'b0, over_q = 1'b0;
  logic [1:0]  times_q = '0;
  logic [11:0] beat;
  logic        mine, hit;
  assign beat = data_q ? at_q : {from_q[11:3], 3'd0};
  assign mine = w_take && seen_q && !over_q;
  assign hit  = mine && watch[11:3] == beat[11:3] && wstrb_o[watch[2:0]];
  always_ff @(posedge clk_i) begin
    if (mine) begin
      data_q <= 1'b1;
      at_q   <= beat + 12'd8;
      over_q <= beat + 12'd8 >= until_q;
    end
    if (hit) times_q <= times_q + 2'd1;
  end

  logic kept_q = 1'b1;
  always_ff @(posedge clk_i) if (mine && !data_keep_i) kept_q <= 1'b0;

  // AXI4: stable until taken.
  logic aw_held_q = 1'b0, w_held_q = 1'b0;
  axi_pkg::address_t aw_q;
  always_ff @(posedge clk_i) begin
    aw_held_q <= started_q && awvalid_o && !awready_i;
    w_held_q  <= started_q && wvalid_o && !wready_i && data_valid_i;
    aw_q      <= aw_o;
  end

  logic [12:0] last_byte;
  assign last_byte = {1'b0, aw_o.addr[11:0]} + {1'b0, 9'(aw_o.len), 3'd7};

  always_comb begin
    if (started_q) begin
      if (aw_held_q) assert (awvalid_o && aw_o == aw_q);
      if (w_held_q && data_valid_i) assert (wvalid_o);
      if (awvalid_o) begin
        assert (aw_o.addr[2:0] == '0 && aw_o.size == 3'd3 && aw_o.burst == 2'b01);
        // The whole burst is in one block of BurstBytes: then it crosses no 4 KiB.
        assert (last_byte[12:4] == {1'b0, aw_o.addr[11:4]});
      end
      // Nothing outside the command, nothing twice; all of it when its data is over.
      if (hit) assert (watch >= from_q && watch < until_q && times_q == '0);
      if (over_q && kept_q && watch >= from_q && watch < until_q) assert (times_q == 2'd1);
      if (w_take && !data_keep_i) assert (wstrb_o == '0);
      // An answer for each command, and none without.
      if (done_valid_o) assert (commands_q != '0);
      assert (addresses_q <= 5'd2);
      if (idle_o) assert (commands_q == '0);
      cover (over_q && until_q - from_q > 12'd16 && done_valid_o);
      cover (done_valid_o && done_error_o);
    end
  end

endmodule
