// SPDX-License-Identifier: SHL-2.1
/// What the proofs of queues watch: one word, chosen by its number,
/// from when it is written until it is read.
///
/// The number is free, so what holds for its word holds for every word. Numbers are modulo
/// 2^CountWidth, which is more than a queue holds.
module queue_watch #(
  parameter int unsigned Width      = 3,
  parameter int unsigned CountWidth = 3
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,
  input  logic                  clear_i,
  input  logic                  write_i,    // a word is taken in, or out, in this cycle
  input  logic [Width-1:0]      data_i,
  input  logic                  read_i,
  output logic [CountWidth-1:0] written_o,  // so far
  output logic [CountWidth-1:0] read_o,
  output logic [CountWidth-1:0] count_o,    // inside
  output logic [CountWidth-1:0] watch_o,    // the number,
  output logic [CountWidth-1:0] ahead_o,    // how many are read before it,
  output logic                  live_o,     // whether it is inside,
  output logic [Width-1:0]      word_o      // and what was written
);
  typedef logic [CountWidth-1:0] count_t;

  // Never assigned another value and not initialised: any constant.
  count_t watch_q;
  always_ff @(posedge clk_i) watch_q <= watch_q;
  assign watch_o = watch_q;
  assign count_o = written_o - read_o;
  assign ahead_o = watch_q - read_o;

  always_ff @(posedge clk_i) begin
    if (!rst_ni || clear_i) begin
      written_o <= '0;
      read_o    <= '0;
      live_o    <= 1'b0;
    end else begin
      written_o <= written_o + count_t'(write_i);
      read_o    <= read_o + count_t'(read_i);
      if (write_i && written_o == watch_q) begin
        live_o <= 1'b1;
        word_o <= data_i;
      end else if (read_i && read_o == watch_q) begin
        live_o <= 1'b0;
      end
    end
  end
endmodule
