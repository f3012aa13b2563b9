// SPDX-License-Identifier: SHL-2.1
/// Set-associative table of entries, each with the index of its line: read in a stage of a
/// pipeline, written by the stage behind it.
///
///   Contract    entry_o and match_o are of the set of index_i, with what is written in this cycle.
///               match_o: the entry's index is index_i. we_i writes entry_i to way_i of the set of
///               windex_i; keep_i says that the index in entry_i is the one that is there
///   Latency     0 cycles from index_i and from a write; the caller registers what it reads
///   Throughput  a read and a write a cycle
///   Reset       the Clear upper bits of an entry are 0 until it is written; the rest is any
///   Parameters  Sets a power of two from 2 on; Ways 2..8; Skip low bits of the index that do not
///               select the set; Width of an entry, whose low bits are the index; Clear 1..Width
///   Not done    hit, replacement: they depend on what an entry means
module coherence_tags
  import coherence_pkg::*;
#(
  parameter  int unsigned Sets     = 64,
  parameter  int unsigned Ways     = 4,
  parameter  int unsigned Skip     = 0,
  parameter  int unsigned Width    = IndexWidth + 1,
  parameter  int unsigned Clear    = 1,
  localparam int unsigned WayWidth = $clog2(Ways)
) (
  input  logic                       clk_i,
  input  logic                       rst_ni,
  input  index_t                     index_i,
  output logic [Ways-1:0][Width-1:0] entry_o,
  output logic [Ways-1:0]            match_o,
  input  logic                       we_i,
  input  logic                       keep_i,
  input  index_t                     windex_i,
  input  logic [WayWidth-1:0]        way_i,
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
  logic [SetWidth-1:0] at, write_at;
  assign at       = index_i[Skip+:SetWidth];
  assign write_at = windex_i[Skip+:SetWidth];

  for (genvar w = 0; w < int'(Ways); w++) begin : gen_ways
    logic [Width-1:0] entry_q [Sets];
    logic [Sets-1:0] written_q;
    logic here;
    assign here = we_i && way_i == WayWidth'(w);
    always_comb begin
      entry_o[w] = entry_q[at];
      if (!written_q[at]) entry_o[w][Width-1:Rest] = '0;
      match_o[w] = entry_q[at][IndexWidth-1:0] == index_i;
      if (here && write_at == at) begin
        entry_o[w] = entry_i;
        // Not the entry's index: which one it is, is known later than where it goes.
        if (!keep_i) match_o[w] = windex_i == index_i;
      end
    end
    always_ff @(posedge clk_i) begin
      if (here) entry_q[write_at] <= entry_i;
    end
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) written_q <= '0;
      else if (here) written_q[write_at] <= 1'b1;
    end
  end
endmodule
