// SPDX-License-Identifier: SHL-2.1
/// Votes of each photomultiplier: a row of one bit a cell. Block memory with two ports.
///
///   Handshake   none: port a writes 64 cells with we_i, else reads the row of a_id_i with a_re_i;
///               port b reads the row of b_id_i with b_re_i. Rows hold while not read
///   Ordering    a row that is written while b reads it is undefined
///   Latency     1 cycle
///   Throughput  two rows a cycle
///   Parameters  Cells 1..3072
///   Not done    reset of the contents: rows are written before the first event
module rich_table
  import rich_pkg::*;
#(
  parameter  int unsigned Cells = 3032,
  localparam int unsigned Words = (Cells + 63) / 64
) (
  input  logic             clk_i,
  input  logic             we_i,
  input  logic [      5:0] word_i,   // of the row of a_id_i
  input  logic [     63:0] wdata_i,
  input  logic             a_re_i,
  input  id_t              a_id_i,
  output logic [Cells-1:0] a_row_o,
  input  logic             b_re_i,
  input  id_t              b_id_i,
  output logic [Cells-1:0] b_row_o
);
  if (Cells < 1 || Cells > MaxCells) begin : gen_cells_check
    $error("rich_table: Cells is %0d, legal is 1..%0d", Cells, MaxCells);
  end

  for (genvar w = 0; w < int'(Words); w++) begin : gen_word
    localparam int unsigned Width = Cells - 64 * w < 64 ? Cells - 64 * w : 64;
    logic [Width-1:0] mem_q[2**IdWidth];
    logic [Width-1:0] a_q, b_q;

    always_ff @(posedge clk_i) begin
      if (we_i) begin
        if (word_i == 6'(w)) mem_q[a_id_i] <= wdata_i[Width-1:0];
      end else if (a_re_i) begin
        a_q <= mem_q[a_id_i];
      end
    end
    always_ff @(posedge clk_i) begin
      if (b_re_i) b_q <= mem_q[b_id_i];
    end
    assign a_row_o[64*w+:Width] = a_q;
    assign b_row_o[64*w+:Width] = b_q;
  end
endmodule
