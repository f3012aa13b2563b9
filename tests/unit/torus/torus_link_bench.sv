// SPDX-License-Identifier: SHL-2.1
/// Two torus_links face to face over lanes of any skew, whose words a test may spoil. Of each vector
/// end 0 is lowest; out_* of an end is what the other one's in_* became.
module torus_link_bench
  import link_pkg::*;
#(
  parameter  int unsigned Lanes      = 4,
  parameter  int unsigned Depth      = 32,
  parameter  int unsigned MaxWords   = Depth - 1,
  parameter  int unsigned MaxSkew    = 4,
  parameter  int unsigned AlignWords = 128,
  parameter  int unsigned InitWords  = 512,
  parameter  int unsigned Delay      = 6,
  localparam int unsigned Width      = 32 * Lanes,
  localparam int unsigned Longest    = Delay + 16
) (
  input  logic                         clk_i,
  input  logic                         rst_ni,
  input  logic [1:0][Lanes-1:0]        signal_i,
  input  logic [1:0][Lanes-1:0][3:0]   skew_i,   // words that a lane from this end is late
  input  logic [1:0][Lanes-1:0][35:0]  spoil_i,  // bits that are wrong in this cycle's word
  output logic [1:0][Lanes-1:0][35:0]  tx_o,
  output logic [1:0]                   up_o,
  input  logic [1:0]                   in_valid_i,
  input  logic [1:0]                   in_vc_i,
  input  logic [1:0]                   in_head_i,
  input  logic [1:0]                   in_tail_i,
  input  logic [1:0][Width-1:0]        in_data_i,
  output logic [1:0][1:0]              in_freed_o,
  output logic [1:0]                   out_valid_o,
  output logic [1:0]                   out_vc_o,
  output logic [1:0]                   out_head_o,
  output logic [1:0]                   out_tail_o,
  output logic [1:0][Width-1:0]        out_data_o,
  input  logic [1:0][1:0]              out_freed_i,
  output logic [1:0][5:0][31:0]        count_o  // dropped, torn, gaps, invalid, refused, downs
);
  word_t [Lanes-1:0] tx[2], rx[2];

  for (genvar e = 0; e < 2; e++) begin : gen_end
    for (genvar l = 0; l < int'(Lanes); l++) begin : gen_lane
      word_t line_q[Longest];
      always_ff @(posedge clk_i) begin
        line_q[0] <= word_t'(tx[e][l] ^ spoil_i[e][l]);
        for (int i = 1; i < int'(Longest); i++) line_q[i] <= line_q[i-1];
      end
      assign rx[1-e][l] = line_q[Delay-1+32'(skew_i[e][l])];
    end
    assign tx_o[e] = tx[e];

    logic [31:0] dropped, torn, gaps, invalid;
    logic [15:0] refused, downs;
    assign count_o[e] = {32'(downs), 32'(refused), invalid, gaps, torn, dropped};
    torus_link #(
      .Lanes     (Lanes),
      .Depth     (Depth),
      .MaxWords  (MaxWords),
      .MaxSkew   (MaxSkew),
      .AlignWords(AlignWords),
      .InitWords (InitWords)
    ) u_link (
      .clk_i,
      .rst_ni,
      .signal_i        (signal_i[e]),
      .rx_i            (rx[e]),
      .tx_o            (tx[e]),
      .up_o            (up_o[e]),
      .tx_valid_i      (in_valid_i[e]),
      .tx_vc_i         (in_vc_i[e]),
      .tx_head_i       (in_head_i[e]),
      .tx_tail_i       (in_tail_i[e]),
      .tx_data_i       (in_data_i[e]),
      .tx_freed_o      (in_freed_o[e]),
      .rx_valid_o      (out_valid_o[e]),
      .rx_vc_o         (out_vc_o[e]),
      .rx_head_o       (out_head_o[e]),
      .rx_tail_o       (out_tail_o[e]),
      .rx_data_o       (out_data_o[e]),
      .rx_freed_i      (out_freed_i[e]),
      .status_dropped_o(dropped),
      .status_torn_o   (torn),
      .status_gaps_o   (gaps),
      .status_invalid_o(invalid),
      .status_refused_o(refused),
      .status_downs_o  (downs)
    );
  end
endmodule
