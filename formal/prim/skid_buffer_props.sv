// SPDX-License-Identifier: SHL-2.1
/// skid_buffer: equal to a queue of two words at every clock.
module skid_buffer_props #(
  parameter int unsigned Width = 3
) (
  input logic             clk_i,
  input logic             valid_i,
  input logic [Width-1:0] data_i,
  input logic             ready_i
);
  logic             rst_ni, ready_o, valid_o;
  logic [Width-1:0] data_o;

  skid_buffer #(.Width(Width)) dut (.*);

  logic started_q = 1'b0;
  always_ff @(posedge clk_i) started_q <= 1'b1;
  assign rst_ni = started_q;

  logic [1:0]       count_q;
  logic [Width-1:0] first_q, second_q;
  logic             write, read;

  assign write = valid_i && ready_o;
  assign read  = valid_o && ready_i;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      count_q <= '0;
    end else begin
      count_q <= count_q + 2'(write) - 2'(read);
      if (read) first_q <= count_q == 2'd2 ? second_q : data_i;
      else if (write && count_q == '0) first_q <= data_i;
      if (write) second_q <= data_i;
    end
  end

  always_comb begin
    if (started_q) begin
      assert (count_q <= 2'd2);
      assert (valid_o == (count_q != '0));
      assert (ready_o == (count_q != 2'd2));
      if (count_q != '0) assert (data_o == first_q);
      if (count_q == 2'd2) assert (dut.spare_q == second_q);
      cover (count_q == 2'd2 && read);
    end
  end
endmodule
