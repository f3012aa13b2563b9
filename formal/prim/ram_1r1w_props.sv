// SPDX-License-Identifier: SHL-2.1
/// ram_1r1w: a read gives each lane as it was last written, not as it is written at the same edge,
/// and the output stays until the next read. Of both forms of the write: a lane at a time, which
/// synthesis takes, and with VERILATOR a word at a time.
///
/// Place and lane are free, so what holds for them holds for each.
module ram_1r1w_props (
  input logic       clk_i,
  input logic [1:0] we_i,
  input logic [1:0] waddr_i,
  input logic [5:0] wdata_i,
  input logic       re_i,
  input logic [1:0] raddr_i
);
  logic [1:0] at_q;  // never assigned another value: any place
  logic lane_q;
  always_ff @(posedge clk_i) {at_q, lane_q} <= {at_q, lane_q};

  logic [5:0] rdata_o;
  ram_1r1w #(.Width(6), .Depth(4), .LaneWidth(3)) dut (.*);

  logic known_q = 1'b0, due_q = 1'b0;  // it was written; it is what the output shows
  logic [2:0] last_q, shown_q;
  always_ff @(posedge clk_i) begin
    if (we_i[lane_q] && waddr_i == at_q) begin
      known_q <= 1'b1;
      last_q  <= wdata_i[3*lane_q+:3];
    end
    if (re_i) begin
      due_q   <= known_q && raddr_i == at_q;
      shown_q <= last_q;
    end
  end
  always_comb begin
    if (due_q) read : assert (rdata_o[3*lane_q+:3] == shown_q);
    // For the induction.
    if (known_q) kept : assert (dut.mem_q[at_q][3*lane_q+:3] == last_q);
    both : cover (due_q && shown_q == 3'd5 && rdata_o[3*(1-lane_q)+:3] == 3'd2);
  end
endmodule
