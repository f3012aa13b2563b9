// SPDX-License-Identifier: SHL-2.1
/// The crossbar with its arrays as plain vectors: port i at [i].
module crossbar_bench
  import link_pkg::*;
#(
  parameter int unsigned NumPorts = 3,
  parameter int unsigned Depth    = 40,
  parameter int unsigned MaxWords = 16
) (
  input  logic                            clk_i,
  input  logic                            rst_ni,
  input  logic                            bench_i,
  input  logic                            bind_i,
  input  logic [NumPorts-1:0][6:0]        source_i,
  input  logic [31:0]                     time_i,
  input  logic [NumPorts-1:0]             rx_valid_i,
  input  logic [NumPorts-1:0][33:0]       rx_flit_i,
  input  logic [NumPorts-1:0][5:0]        rx_id_i,
  output logic [NumPorts-1:0][NumPorts-1:0][9:0] stored_o,
  output logic [NumPorts-1:0]             forged_o,
  output logic [NumPorts-1:0]             refused_o,
  input  logic [NumPorts-1:0]             up_i,
  input  logic [NumPorts-1:0][9:0]        room_i,
  output logic [NumPorts-1:0]             tx_valid_o,
  input  logic [NumPorts-1:0]             tx_ready_i,
  output logic [NumPorts-1:0][33:0]       tx_flit_o,
  output logic [NumPorts-1:0][$clog2(NumPorts)-1:0] source_o,
  output logic                            idle_o
);
  flit_t rx_flit [NumPorts];
  logic [6:0] bound [NumPorts];
  id_t rx_id [NumPorts];
  count_t [NumPorts-1:0] stored [NumPorts];
  count_t room [NumPorts];
  flit_t tx_flit [NumPorts];
  logic [$clog2(NumPorts)-1:0] source [NumPorts];

  for (genvar i = 0; i < int'(NumPorts); i++) begin : gen_port
    assign rx_flit[i]  = rx_flit_i[i];
    assign bound[i]    = source_i[i];
    assign rx_id[i]    = rx_id_i[i];
    assign room[i]     = room_i[i];
    assign stored_o[i] = stored[i];
    assign tx_flit_o[i] = tx_flit[i];
    assign source_o[i] = source[i];
  end

  crossbar #(
    .NumPorts(NumPorts),
    .Depth   (Depth),
    .MaxWords(MaxWords)
  ) u_crossbar (
    .clk_i,
    .rst_ni,
    .bench_i,
    .bind_i,
    .source_i  (bound),
    .time_i,
    .rx_valid_i,
    .rx_flit_i (rx_flit),
    .rx_id_i   (rx_id),
    .stored_o  (stored),
    .forged_o,
    .refused_o,
    .up_i,
    .room_i    (room),
    .tx_valid_o,
    .tx_ready_i,
    .tx_flit_o (tx_flit),
    .source_o  (source),
    .idle_o
  );
endmodule
