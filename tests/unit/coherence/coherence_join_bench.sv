// SPDX-License-Identifier: SHL-2.1
/// coherence_join with the pins of circuits 4 and 10, one at a time: circuit `high_i` is used.
module coherence_join_bench
  import coherence_node_pkg::*;
  import blocklink_pkg::*;
(
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic             high_i,
  input  logic [1:0]       tx_valid_i,
  output logic [1:0]       tx_ready_o,
  input  logic [1:0][3:0]  tx_count_i,
  input  word_t [1:0][ChunkWords-1:0] tx_words_i,
  output logic             out_valid_o,
  input  logic             out_ready_i,
  output logic [3:0]       out_count_o,
  output word_t [ChunkWords-1:0] out_words_o,
  input  word_t [7:0]      rx_words_i,
  input  logic [3:0]       rx_avail_i,
  output logic [3:0]       rx_pop_o,
  output logic [1:0][3:0]  rx_avail_o,
  input  logic [1:0][3:0]  rx_pop_i,
  output logic             stray_o
);
  logic [3:0] vc;
  circuits_t [1:0] tx;
  circuits_t tx_out;
  logic [1:0][NumVcs-1:0] tx_ready;
  word_t [0:0][NumVcs-1:0][7:0] words;
  logic [0:0][NumVcs-1:0][3:0] avail, pop;
  logic [1:0][0:0][NumVcs-1:0][3:0] avail_each, pop_each;
  assign vc = high_i ? 4'd10 : 4'd4;
  always_comb begin
    tx       = '0;
    words    = '0;
    avail    = '0;
    pop_each = '0;
    words[0][vc] = rx_words_i;
    avail[0][vc] = rx_avail_i;
    for (int a = 0; a < 2; a++) begin
      tx[a].valid[vc] = tx_valid_i[a];
      tx[a].count[vc] = tx_count_i[a];
      tx[a].words[vc] = tx_words_i[a];
      pop_each[a][0][vc] = rx_pop_i[a];
      tx_ready_o[a] = tx_ready[a][vc];
      rx_avail_o[a] = avail_each[a][0][vc];
    end
  end
  assign out_valid_o = tx_out.valid[vc];
  assign out_count_o = tx_out.count[vc];
  assign out_words_o = tx_out.words[vc];
  assign rx_pop_o    = pop[0][vc];

  coherence_join dut (
    .clk_i, .rst_ni, .tx_i(tx), .tx_ready_o(tx_ready), .tx_o(tx_out),
    .tx_ready_i({NumVcs{out_ready_i}}), .words_i(words), .avail_i(avail), .pop_o(pop),
    .avail_o(avail_each), .pop_i(pop_each), .stray_o
  );
endmodule
