// SPDX-License-Identifier: SHL-2.1
/// Two ends of a block link over delay lines that alter and lose blocks, with a source and a sink a circuit.
///
/// Each circuit's source sends words that count up, in chunks of a random length; its sink takes random
/// numbers of them and checks that they count up. Sources and sinks of the circuits in `stop_*_i` stand
/// still. `alter_i` and `lose_i` / 65536 of the blocks are altered in one bit, or lost.
module blocklink_pair_bench
  import blocklink_pkg::*;
#(
  parameter int unsigned DataDepth = 32,
  parameter int unsigned RestDepth = 16,
  parameter int unsigned Window    = 32,
  parameter int unsigned Delay     = 8
) (
  input  logic                          clk_i,
  input  logic                          rst_ni,
  input  logic [31:0]                   seed_i,
  input  logic [15:0]                   alter_i,
  input  logic [15:0]                   lose_i,
  input  logic [15:0]                   ready_i,
  input  logic [15:0]                   offer_i,
  input  logic                          lose_acks_i,  // every idle block with an acknowledgement
  input  logic [1:0][NumVcs-1:0]        stop_source_i,
  input  logic [NumVcs-1:0]             stop_sink_i,
  output logic [1:0][NumVcs-1:0][31:0]  sent_o,
  output logic [1:0][NumVcs-1:0][31:0]  taken_o,
  output logic [1:0][31:0]              blocks_o,
  output logic [1:0][31:0]              words_o,
  output logic [1:0][31:0]              bad_o,
  output logic [1:0][31:0]              again_o,
  output logic [1:0]                    up_o,
  output logic                          wrong_o,
  output logic                          fail_o
);
  function automatic logic [31:0] next(logic [31:0] x);
    logic [31:0] y;
    y = x ^ (x << 13);
    y = y ^ (y >> 17);
    return y ^ (y << 5);
  endfunction

  block_t [1:0] tx, rx;
  logic [1:0] tx_ready, rx_valid, fail;
  logic [1:0][NumVcs-1:0] wrong;
  assign wrong_o = wrong != '0;
  assign fail_o  = fail != '0;

  for (genvar e = 0; e < 2; e++) begin : gen_end
    logic [31:0] line_noise_q;
    block_t line_q [Delay];
    logic [Delay-1:0] valid_q;
    logic taken, lost;
    assign taken = tx_ready[e];
    assign lost  = line_noise_q[15:0] < lose_i ||
                   (lose_acks_i && tx[e].control.kind == KindIdle && tx[e].control.ack);
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
        line_noise_q <= next(seed_i ^ 32'(32'h9E37_79B9 * (e + 1)));
        valid_q      <= '0;
        tx_ready[e]  <= 1'b0;
      end else begin
        line_noise_q <= next(line_noise_q);
        valid_q      <= {valid_q[Delay-2:0], taken && !lost};
        tx_ready[e]  <= line_noise_q[30:15] < ready_i;
      end
    end
    always_ff @(posedge clk_i) begin
      line_q[0] <= tx[e];
      if (line_noise_q[31:16] < alter_i) begin
        line_q[0][line_noise_q[8:0]] <= ~tx[e][line_noise_q[8:0]];
      end
      for (int i = 1; i < int'(Delay); i++) line_q[i] <= line_q[i-1];
    end
    assign rx[1-e]       = line_q[Delay-1];
    assign rx_valid[1-e] = valid_q[Delay-1];

    logic [NumVcs-1:0] valid, ready;
    logic [NumVcs-1:0][3:0] count, avail, pop;
    word_t [NumVcs-1:0][ChunkWords-1:0] words;
    word_t [NumVcs-1:0][7:0] shown;
    logic sent, bad, again, got;
    logic [2:0] sent_words;
    blocklink_core #(
      .DataDepth(DataDepth), .RestDepth(RestDepth), .Window(Window)
    ) u_link (
      .clk_i, .rst_ni, .tx_block_o(tx[e]), .tx_ready_i(tx_ready[e]), .rx_block_i(rx[e]),
      .rx_valid_i(rx_valid[e]), .valid_i(valid), .ready_o(ready), .count_i(count),
      .words_i(words), .words_o(shown), .avail_o(avail), .pop_i(pop), .up_o(up_o[e]),
      .bad_o(bad), .again_o(again), .sent_o(sent), .sent_words_o(sent_words), .got_o(got),
      .fail_o(fail[e])
    );
    blocklink_counters u_counters (
      .clk_i, .rst_ni, .sent_i(sent), .sent_words_i(sent_words), .got_i(got), .bad_i(bad),
      .again_i(again), .stray_i(1'b0), .blocks_o(blocks_o[e]), .words_o(words_o[e]), .got_o(),
      .bad_o(bad_o[e]), .again_o(again_o[e]), .stray_o()
    );

    for (genvar v = 0; v < int'(NumVcs); v++) begin : gen_vc
      localparam int unsigned Longest = (v >= 2 && v <= 5) ? 9 : 2;
      logic [31:0] noise_q;
      logic [3:0] length_q, wanted;
      logic offer_q;
      assign valid[v] = offer_q;
      assign count[v] = length_q;
      assign wanted   = noise_q[12:9] % 4'd9;
      assign pop[v]   = stop_sink_i[v] ? '0 : (wanted < avail[v]) ? wanted : avail[v];
      always_comb begin
        words[v] = '0;
        for (int unsigned i = 0; i < ChunkWords; i++) begin
          if (4'(i) < length_q) words[v][i] = {4'(v), 28'(e), sent_o[e][v] + 32'(i)};
        end
      end
      always_ff @(posedge clk_i or negedge rst_ni) begin
        if (!rst_ni) begin
          noise_q       <= next(seed_i ^ 32'(32'h85EB_CA6B * (16 * e + v + 3)));
          offer_q       <= 1'b0;
          length_q      <= 4'd1;
          sent_o[e][v]  <= '0;
          taken_o[e][v] <= '0;
          wrong[e][v]   <= 1'b0;
        end else begin
          noise_q <= next(noise_q);
          if (!offer_q || ready[v]) begin
            offer_q  <= !stop_source_i[e][v] && noise_q[31:16] < offer_i;
            length_q <= 4'd1 + 4'(noise_q[7:0] % 8'(Longest));
          end
          if (valid[v] && ready[v]) sent_o[e][v] <= sent_o[e][v] + 32'(length_q);
          taken_o[e][v] <= taken_o[e][v] + 32'(pop[v]);
          for (int unsigned i = 0; i < 8; i++) begin
            if (4'(i) < pop[v] && shown[v][i] != {4'(v), 28'(1 - e), taken_o[e][v] + 32'(i)}) begin
              wrong[e][v] <= 1'b1;
            end
          end
        end
      end
    end
  end
endmodule
