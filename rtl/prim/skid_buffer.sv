// SPDX-License-Identifier: SHL-2.1
/// Two-entry skid buffer: registers valid, data and ready of a stream without losing throughput.
///
///   Handshake   valid/ready on both sides; data_o is stable until taken
///   Latency     1 cycle
///   Throughput  one word a cycle
///   Parameters  Width 1..4096
///   Not done    bypass when empty
module skid_buffer #(
  parameter int unsigned Width = 32
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic             valid_i,  // a word is offered
  output logic             ready_o,  // a register
  input  logic [Width-1:0] data_i,   // taken with valid_i and ready_o
  output logic             valid_o,  // a register: data_o is valid
  input  logic             ready_i,  // takes data_o; it may wait for valid_o
  output logic [Width-1:0] data_o
);
  if (Width < 1 || Width > 4096) begin : gen_width_check
    $error("skid_buffer: Width is %0d, legal is 1..4096", Width);
  end

  logic [Width-1:0] head_q, spare_q;
  logic             head_valid_q, spare_valid_q;

  assign ready_o = ~spare_valid_q;
  assign valid_o = head_valid_q;
  assign data_o  = head_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      head_valid_q  <= 1'b0;
      spare_valid_q <= 1'b0;
    end else if (ready_i || !head_valid_q) begin
      head_valid_q  <= valid_i || spare_valid_q;
      spare_valid_q <= 1'b0;
    end else if (valid_i && ready_o) begin
      spare_valid_q <= 1'b1;
    end
  end

  always_ff @(posedge clk_i) begin
    if (ready_i || !head_valid_q) head_q <= spare_valid_q ? spare_q : data_i;
    if (ready_o) spare_q <= data_i;
  end
endmodule
