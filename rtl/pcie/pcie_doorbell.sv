// SPDX-License-Identifier: SHL-2.1
/// A position in a byte ring, in words, that the driver moves forward with a doorbell.
///
///   Handshake   new_i: strobe, with the byte position in value_i; never stalled, one a clock
///   Accepted    while run_i, a multiple of 4 that moves the position by most_i words or fewer, as
///               most_i is at the doorbell; anything else is refused_o (strobe) and moves nothing
///   Start       start_i: position 0
///   Latency     new_i to position_o 2 clocks, to refused_o and pending_o 1. Step and limit are
///               registered, then compared
///   Not done    a second doorbell within 1 clock is compared with the position before the first
module pcie_doorbell (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        start_i,
  input  logic        run_i,
  input  logic        new_i,
  input  logic [31:0] value_i,
  input  logic [29:0] most_i,
  output logic [29:0] position_o,
  output logic        pending_o,
  output logic        refused_o
);
  logic        valid_q, whole_q, good;
  logic [29:0] move_q, most_q, position_q;

  assign good = whole_q && move_q <= most_q && run_i;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      valid_q    <= 1'b0;
      whole_q    <= 1'b0;
      move_q     <= '0;
      most_q     <= '0;
      position_q <= '0;
    end else begin
      valid_q <= new_i;
      whole_q <= value_i[1:0] == '0;
      move_q  <= value_i[31:2] - position_q;
      most_q  <= most_i;
      if (start_i) position_q <= '0;
      else if (valid_q && good) position_q <= position_q + move_q;
    end
  end

  assign position_o = position_q;
  assign pending_o  = valid_q;
  assign refused_o  = valid_q && !good;
endmodule
