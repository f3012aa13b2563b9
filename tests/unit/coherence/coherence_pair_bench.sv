// SPDX-License-Identifier: SHL-2.1
/// A requester and a home, whose circuits are joined by buffers that let words through at random
/// times; with two links by buffers of each.
module coherence_pair_bench
  import coherence_pkg::LineUncached;
  import blocklink_pkg::*;
#(
  parameter int unsigned NumTbe   = 64,
  parameter int unsigned NumLinks = 1
) (
  input  logic          clk_i,
  input  logic          rst_ni,
  input  logic          partition_i,
  // circuits of each link that may hand over a chunk in this cycle
  input  logic [NumLinks-1:0][NumVcs-1:0] pass_i,
  input  logic          req_valid_i,
  output logic          req_ready_o,
  input  logic          req_write_i,
  input  logic [32:0]   req_index_i,
  input  logic [7:0]    req_tag_i,
  input  logic [127:0]  req_mask_i,
  input  logic [1023:0] req_data_i,
  output logic          rsp_valid_o,
  output logic [7:0]    rsp_tag_o,
  output logic [1023:0] rsp_data_o,
  output logic          mem_req_valid_o,
  input  logic          mem_req_ready_i,
  output logic          mem_req_write_o,
  output logic [32:0]   mem_req_index_o,
  output logic [7:0]    mem_req_tag_o,
  output logic [127:0]  mem_req_mask_o,
  output logic [1023:0] mem_req_data_o,
  input  logic          mem_rsp_valid_i,
  output logic          mem_rsp_ready_o,
  input  logic [7:0]    mem_rsp_tag_i,
  input  logic [1023:0] mem_rsp_data_i,
  output logic          stray_o,
  output logic [NumLinks-1:0][31:0] words_o,  // that passed, by link
  // a line on the link that the partition does not give it
  output logic          wrong_link_o
);
  logic [1:0][NumVcs-1:0] valid, ready;
  logic [1:0][NumVcs-1:0][3:0] count;
  logic [1:0][NumLinks-1:0][NumVcs-1:0][3:0] avail, pop;
  word_t [1:0][NumVcs-1:0][ChunkWords-1:0] words;
  word_t [1:0][NumLinks-1:0][NumVcs-1:0][7:0] shown;
  logic [1:0] stray;
  assign stray_o = stray != '0;

  coherence_remote #(.Sets(0), .NumLinks(NumLinks)) u_remote (
    .clk_i, .rst_ni, .req_valid_i, .req_ready_o, .req_kind_i(LineUncached), .req_write_i,
    .req_index_i, .req_tag_i, .req_mask_i, .req_data_i, .req_atomic_i('0), .rsp_valid_o, .rsp_tag_o,
    .rsp_data_o,
    .valid_o(valid[0]), .ready_i(ready[0]), .count_o(count[0]), .words_o(words[0]),
    .words_i(shown[0]), .avail_i(avail[0]), .pop_o(pop[0]), .quiet_o(), .stray_o(stray[0]),
    .look_i('0), .looked_o()
  );
  coherence_home #(.NumTbe(NumTbe), .NumLinks(NumLinks)) u_home (
    .clk_i, .rst_ni, .words_i(shown[1]), .avail_i(avail[1]), .pop_o(pop[1]),
    .valid_o(valid[1]), .ready_i(ready[1]), .count_o(count[1]), .words_o(words[1]),
    .mem_req_valid_o, .mem_req_ready_i, .mem_req_write_o, .mem_req_index_o, .mem_req_tag_o,
    .mem_req_mask_o, .mem_req_data_o, .mem_rsp_valid_i, .mem_rsp_ready_o, .mem_rsp_tag_i,
    .mem_rsp_data_i, .stray_o(stray[1])
  );

  // From end e to the other: a chunk is cut into blocks' lanes, 7 words first and then the rest.
  logic [1:0][NumVcs-1:0][NumLinks-1:0] out_valid, out_ready, gone, wrong;
  logic [1:0][NumVcs-1:0][NumLinks-1:0][3:0] out_count, gone_count;
  word_t [1:0][NumVcs-1:0][NumLinks-1:0][ChunkWords-1:0] out_words;
  for (genvar e = 0; e < 2; e++) begin : gen_way
    for (genvar v = 0; v < int'(NumVcs); v++) begin : gen_vc
      if (NumLinks == 2) begin : gen_two
        coherence_steer #(.Pair(3'(v / 2))) u_steer (
          .clk_i, .rst_ni, .partition_i, .valid_i(valid[e][v]), .ready_o(ready[e][v]),
          .count_i(count[e][v]), .words_i(words[e][v]), .valid_o(out_valid[e][v]),
          .ready_i(out_ready[e][v]), .count_o(out_count[e][v]), .words_o(out_words[e][v])
        );
      end else begin : gen_one
        assign out_valid[e][v] = valid[e][v];
        assign out_count[e][v] = count[e][v];
        assign out_words[e][v] = words[e][v];
        assign ready[e][v]     = out_ready[e][v];
      end
      for (genvar l = 0; l < int'(NumLinks); l++) begin : gen_link
        logic rest_q;
        logic [BlockWords-1:0] mask;
        word_t [BlockWords-1:0] lanes;
        logic [3:0] left;
        logic [9:0] room_q;
        logic [4:0] first_q;  // words until the next message's header
        logic go;
        coherence_pkg::header_t header;
        assign header = out_words[e][v][l][0];
        assign left = rest_q ? out_count[e][v][l] - 4'd7 : out_count[e][v][l];
        assign go   = pass_i[l][v] && out_valid[e][v][l] && room_q >= 10'd7;
        assign out_ready[e][v][l]  = go && left <= 4'd7;
        assign gone[e][v][l]       = out_valid[e][v][l] && out_ready[e][v][l];
        assign gone_count[e][v][l] = out_count[e][v][l];
        assign wrong[e][v][l] = partition_i && gone[e][v][l] && first_q == '0 &&
                                l != int'(^header.index[32:1]);
        always_comb begin
          lanes = rest_q ? {320'd0, out_words[e][v][l][8:7]} : out_words[e][v][l][6:0];
          for (int unsigned i = 0; i < BlockWords; i++) mask[i] = 4'(i) < left;
        end
        blocklink_words #(.Depth(32), .Window(8)) u_words (
          .clk_i, .rst_ni, .mask_i(mask), .words_i(lanes), .commit_i(go),
          .words_o(shown[1-e][l][v]), .avail_o(avail[1-e][l][v]), .pop_i(pop[1-e][l][v])
        );
        always_ff @(posedge clk_i or negedge rst_ni) begin
          if (!rst_ni) begin
            rest_q  <= 1'b0;
            room_q  <= 10'd32;
            first_q <= '0;
          end else begin
            if (go) rest_q <= left > 4'd7;
            room_q <= room_q - (go ? (left > 4'd7 ? 10'd7 : 10'(left)) : '0) +
                      10'(pop[1-e][l][v]);
            if (gone[e][v][l]) begin
              first_q <= ((first_q == '0) ? coherence_pkg::words_of(3'(v / 2), header.opcode) :
                          first_q) - 5'(out_count[e][v][l]);
            end
          end
        end
      end
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      words_o      <= '0;
      wrong_link_o <= 1'b0;
    end else begin
      if (NumLinks == 2 && wrong != '0) wrong_link_o <= 1'b1;
      for (int unsigned l = 0; l < NumLinks; l++) begin
        automatic logic [31:0] sum = words_o[l];
        for (int unsigned e = 0; e < 2; e++) begin
          for (int unsigned v = 0; v < NumVcs; v++) begin
            if (gone[e][v][l]) sum = sum + 32'(gone_count[e][v][l]);
          end
        end
        words_o[l] <= sum;
      end
    end
  end
endmodule
