// SPDX-License-Identifier: SHL-2.1
/// Set-associative table of entries, each with the index of its line: read in a stage of a
/// pipeline, written by the stage behind it.
///
///   Contract    entry_o and match_o are of the set of index_i, with what is written in this cycle.
///               match_o: the entry's index is index_i. ways_i, one at most, writes entry_i to
///               that way of the set of windex_i, which is the set of the index in entry_i;
///               fresh_i: of these, that whose index was another
///   Latency     0 cycles from index_i and from a write; the caller registers what it reads
///   Throughput  a read and a write a cycle
///   Reset       the Clear upper bits of an entry are 0 until it is written; the rest is any
///   Parameters  Sets a power of two from 2 on; Ways 2..8; Skip low bits of the index that do not
///               select the set; Width of an entry, whose low bits are the index; Clear 1..Width
///   Not done    hit, replacement: they depend on what an entry means
module coherence_tags
  import coherence_pkg::*;
#(
  parameter int unsigned Sets     = 64,
  parameter int unsigned Ways     = 4,
  parameter int unsigned Skip     = 0,
  parameter int unsigned Width    = IndexWidth + 1,
  parameter int unsigned Clear    = 1
) (
  input  logic                       clk_i,
  input  logic                       rst_ni,
  input  index_t                     index_i,
  output logic [Ways-1:0][Width-1:0] entry_o,
  output logic [Ways-1:0]            match_o,
  input  logic [Ways-1:0]            fresh_i,
  input  index_t                     windex_i,
  input  logic [Ways-1:0]            ways_i,
  input  logic [Width-1:0]           entry_i
);
  if (Sets < 2 || (Sets & (Sets - 1)) != 0 || Ways < 2 || Ways > 8) begin : gen_size_check
    $error("coherence_tags: Sets is %0d, Ways %0d; legal is a power of two from 2, and 2..8", Sets,
           Ways);
  end
  if (Width <= IndexWidth || Clear < 1 || Clear > Width) begin : gen_width_check
    $error("coherence_tags: Width is %0d, Clear %0d; legal is from %0d, and 1..Width", Width, Clear,
           IndexWidth + 1);
  end
  localparam int unsigned SetWidth = $clog2(Sets);
  localparam int unsigned Rest = Width - Clear;
  // Bits of an index that its set does not say.
  localparam index_t Tag = ~(index_t'(Sets - 1) << Skip);
  // What is written is in a register first: so many write enables are late, and far.
  logic [SetWidth-1:0] at, write_at, late_at_q;
  logic [Width-1:0] late_entry_q;
  assign at       = index_i[Skip+:SetWidth];
  assign write_at = windex_i[Skip+:SetWidth];
  always_ff @(posedge clk_i) begin
    late_at_q    <= write_at;
    late_entry_q <= entry_i;
  end

  for (genvar w = 0; w < int'(Ways); w++) begin : gen_ways
    logic [Width-1:0] entry_q [Sets];
    logic [Sets-1:0] written_q;
    logic late_q;
    always_comb begin
      entry_o[w] = entry_q[at];
      if (!written_q[at]) entry_o[w][Width-1:Rest] = '0;
      match_o[w] = ((entry_q[at][IndexWidth-1:0] ^ index_i) & Tag) == '0;
      if (late_q && late_at_q == at) begin
        entry_o[w] = late_entry_q;
        match_o[w] = ((late_entry_q[IndexWidth-1:0] ^ index_i) & Tag) == '0;
      end
      if (ways_i[w] && write_at == at) begin
        entry_o[w] = entry_i;
      end
      // Not the entry's index: which one it is, is known later than where it goes.
      if (fresh_i[w] && write_at == at) match_o[w] = ((windex_i ^ index_i) & Tag) == '0;
      entry_o[w][Skip+:SetWidth] = at;
    end
    always_ff @(posedge clk_i) begin
      if (late_q) entry_q[late_at_q] <= late_entry_q;
    end
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
        late_q    <= 1'b0;
        written_q <= '0;
      end else begin
        late_q <= ways_i[w];
        if (late_q) written_q[late_at_q] <= 1'b1;
      end
    end
  end
endmodule
