// SPDX-License-Identifier: SHL-2.1
/// Packs words of 13 virtual circuits into blocks, and keeps the credits of the far end's buffers.
///
/// A chunk enters the stage only with credits for all its words; from there nothing waits for a
/// circuit: a circuit without credits stops itself alone.
///
///   Handshake   valid/ready a circuit; a chunk is count_i words, words_i[0] first. A chunk of 9
///               words and one of 8 are a line's message; chunks of other circuits may come between
///               them
///   Ordering    words of one circuit leave in their order
///   Fairness    round robin over the circuits that have a chunk and the credits for it
///   Latency     0 cycles: a chunk can be in words_o in the cycle in which it is taken
///   Throughput  a chunk a cycle, and a full block a cycle while lines wait
///   Credits     Depth words of each circuit at reset; credit_i returns 8 a bit, of circuits 0 to
///               7, or with credit_high_i of 8 to 12. Never below zero nor above Depth
///               (formal/blocklink)
///   Parameters  DataDepth, RestDepth: words of the far end's buffers, 16..512; a chunk and what a
///               unit may hold back must fit: ChunkWords + CreditUnit - 1
module blocklink_pack
  import blocklink_pkg::*;
#(
  parameter int unsigned DataDepth = 128,
  parameter int unsigned RestDepth = 32
) (
  input  logic                           clk_i,
  input  logic                           rst_ni,
  input  logic [NumVcs-1:0]              valid_i,
  output logic [NumVcs-1:0]              ready_o,
  input  logic [NumVcs-1:0][3:0]         count_i,
  input  word_t [NumVcs-1:0][ChunkWords-1:0] words_i,
  input  logic                           credit_valid_i,
  input  logic                           credit_high_i,
  input  logic [7:0]                     credit_i,
  output logic                           some_o,
  input  logic                           take_i,
  output word_t [BlockWords-1:0]         words_o,
  output logic [BlockWords-1:0][3:0]     vc_o
);
  if (DataDepth < ChunkWords + CreditUnit - 1 || DataDepth > 512) begin : gen_data_check
    $error("blocklink_pack: DataDepth is %0d, legal is %0d..512", DataDepth,
           ChunkWords + CreditUnit - 1);
  end
  if (RestDepth < ChunkWords + CreditUnit - 1 || RestDepth > 512) begin : gen_rest_check
    $error("blocklink_pack: RestDepth is %0d, legal is %0d..512", RestDepth,
           ChunkWords + CreditUnit - 1);
  end

  // A chunk is taken while at most 7 words are staged: with it they are at most 16.
  localparam int unsigned Stage = BlockWords + ChunkWords;

  logic [9:0] credit_q [NumVcs];
  // Places behind the staged words are 0, and of NoVc.
  word_t [Stage-1:0] stage_q, all;
  logic [Stage-1:0][3:0] stage_vc_q, all_vc;
  logic [4:0] staged_q, total;

  // ---------------------------------------------------------------- one chunk
  logic [NumVcs-1:0] able, grant;
  logic room;
  logic [3:0] from, count;
  assign room = staged_q <= 5'(BlockWords);
  always_comb begin
    for (int unsigned v = 0; v < NumVcs; v++) begin
      able[v] = valid_i[v] && room && credit_q[v] >= 10'(count_i[v]);
    end
  end
  arb_rr #(.NumReq(NumVcs)) u_arb (
    .clk_i, .rst_ni, .req_i(able), .last_i(1'b1), .gnt_o(grant), .idx_o(from)
  );
  assign ready_o = grant;

  word_t [ChunkWords-1:0] chunk;
  logic [ChunkWords-1:0][3:0] mark;  // ones where a place's circuit differs from NoVc
  always_comb begin
    chunk = '0;
    count = '0;
    mark  = '0;
    for (int unsigned v = 0; v < NumVcs; v++) begin
      if (grant[v]) begin
        chunk = chunk | words_i[v];
        count = count | count_i[v];
      end
    end
    for (int unsigned i = 0; i < ChunkWords; i++) begin
      if (4'(i) < count) mark[i] = ~from;
      else chunk[i] = '0;
    end
  end

  // ---------------------------------------------------------------- behind what is staged
  logic [$clog2(BlockWords+1)-1:0] behind;  // as a chunk is only taken behind so few
  assign behind  = staged_q[$clog2(BlockWords+1)-1:0];
  assign all     = stage_q | ($bits(all)'(chunk) << (32'(behind) * WordWidth));
  assign all_vc  = stage_vc_q & ~($bits(all_vc)'(mark) << (32'(behind) * 4));
  assign total   = staged_q + 5'(count);
  assign some_o  = total != '0;
  assign words_o = all[BlockWords-1:0];
  assign vc_o    = all_vc[BlockWords-1:0];

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      staged_q   <= '0;
      stage_q    <= '0;
      stage_vc_q <= {Stage{NoVc}};
    end else if (take_i) begin
      staged_q   <= (total > 5'(BlockWords)) ? total - 5'(BlockWords) : '0;
      stage_q    <= $bits(all)'(all[Stage-1:BlockWords]);
      stage_vc_q <= {{BlockWords{NoVc}}, all_vc[Stage-1:BlockWords]};
    end else begin
      staged_q   <= total;
      stage_q    <= all;
      stage_vc_q <= all_vc;
    end
  end

  // ---------------------------------------------------------------- credits
  for (genvar v = 0; v < int'(NumVcs); v++) begin : gen_credit
    localparam int unsigned Depth = depth_of(v, DataDepth, RestDepth);
    logic back;
    assign back = credit_valid_i && credit_high_i == (v >= 8) && credit_i[v%8];
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
        credit_q[v] <= 10'(Depth);
      end else begin
        credit_q[v] <= credit_q[v] - (grant[v] ? 10'(count_i[v]) : '0) +
                       (back ? 10'(CreditUnit) : '0);
`ifndef SYNTHESIS
        if (32'(credit_q[v]) > Depth) begin
          $fatal(1, "blocklink_pack: circuit %0d has %0d credits of %0d", v, credit_q[v], Depth);
        end
        if (grant[v] && (count_i[v] == '0 || count_i[v] > 4'(ChunkWords))) begin
          $fatal(1, "blocklink_pack: circuit %0d hands over %0d words", v, count_i[v]);
        end
`endif
      end
    end
  end
endmodule
