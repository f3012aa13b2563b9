// SPDX-License-Identifier: SHL-2.1
/// Counts what happens at one end of a block link.
///
///   Latency     1 cycle from a strobe to its counter
///   Parameters  none; counters of 32 bits wrap
module blocklink_counters (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        sent_i,        // strobe: a numbered block is made
  input  logic [2:0]  sent_words_i,  // with sent_i: words in it, 0..7
  input  logic        got_i,         // strobe: a numbered block is taken
  input  logic        bad_i,         // strobe: a block with a wrong check came
  input  logic        again_i,       // strobe: a block is sent again
  input  logic        stray_i,       // strobe: an unexpected message
  output logic [31:0] blocks_o,      // numbered, made
  output logic [31:0] words_o,       // in them
  output logic [31:0] got_o,         // numbered, taken
  output logic [31:0] bad_o,         // with a wrong check
  output logic [31:0] again_o,       // sent again
  output logic [31:0] stray_o        // messages that were not expected
);
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {blocks_o, words_o, got_o, bad_o, again_o, stray_o} <= '0;
    end else begin
      if (sent_i) blocks_o <= blocks_o + 32'd1;
      if (sent_i) words_o <= words_o + 32'(sent_words_i);
      if (got_i) got_o <= got_o + 32'd1;
      if (bad_i) bad_o <= bad_o + 32'd1;
      if (again_i) again_o <= again_o + 32'd1;
      if (stray_i) stray_o <= stray_o + 32'd1;
    end
  end
endmodule
