// SPDX-License-Identifier: SHL-2.1
/// Sorts the words of received blocks into a buffer a circuit, and returns credits for what left.
///
///   Handshake   vc_i and words_i count with commit_i. A circuit shows avail_o words, oldest first,
///               and takes pop_i of them back. Credits: credit_take_i says that credit_o is sent
///   Latency     1 cycle from commit_i to avail_o; 1 from pop_i to credit_o
///   Throughput  a block a cycle
///   Credits     8 words a bit; what is freed and less than a unit waits. Low and high circuits
///               alternate while both have some
///   Parameters  DataDepth, RestDepth as blocklink_words. Circuits 2 to 5 show 8 words, others 2
module blocklink_depack
  import blocklink_pkg::*;
#(
  parameter int unsigned DataDepth = 128,
  parameter int unsigned RestDepth = 32
) (
  input  logic                       clk_i,
  input  logic                       rst_ni,
  input  logic                       commit_i,
  input  logic [BlockWords-1:0][3:0] vc_i,
  input  word_t [BlockWords-1:0]     words_i,
  output word_t [NumVcs-1:0][7:0]    words_o,
  output logic [NumVcs-1:0][3:0]     avail_o,
  input  logic [NumVcs-1:0][3:0]     pop_i,
  output logic                       credit_some_o,
  output logic                       credit_high_o,
  output logic [7:0]                 credit_o,
  input  logic                       credit_take_i
);
  logic [15:0] owed;
  logic high_last_q;

  assign owed[15:NumVcs] = '0;
  assign credit_some_o = owed != '0;
  assign credit_high_o = owed[15:8] != '0 && (owed[7:0] == '0 || !high_last_q);
  assign credit_o      = credit_high_o ? owed[15:8] : owed[7:0];

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) high_last_q <= 1'b0;
    else if (credit_take_i) high_last_q <= credit_high_o;
  end

  prim_assert u_credit (.clk_i, .rst_ni, .ok_i(!credit_some_o || credit_o != '0));
  prim_assert u_turns (
    .clk_i, .rst_ni,
    .ok_i(owed[7:0] == '0 || owed[15:8] == '0 || credit_high_o != high_last_q)
  );

  for (genvar v = 0; v < int'(NumVcs); v++) begin : gen_vc
    localparam bit Data = v >= 2 && v <= 5;
    logic [BlockWords-1:0] mask;
    logic [9:0] freed_q;
    logic taken;
    always_comb begin
      for (int unsigned lane = 0; lane < BlockWords; lane++) mask[lane] = vc_i[lane] == 4'(v);
    end
    blocklink_words #(
      .Depth (depth_of(v, DataDepth, RestDepth)),
      .Window(Data ? 8 : 2)
    ) u_words (
      .clk_i, .rst_ni, .mask_i(mask), .words_i, .commit_i,
      .words_o(words_o[v]), .avail_o(avail_o[v]), .pop_i(pop_i[v])
    );
    assign owed[v] = freed_q >= 10'(CreditUnit);
    assign taken   = credit_take_i && owed[v] && credit_high_o == (v >= 8);
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) freed_q <= '0;
      else freed_q <= freed_q + 10'(pop_i[v]) - (taken ? 10'(CreditUnit) : '0);
    end
  end
endmodule
