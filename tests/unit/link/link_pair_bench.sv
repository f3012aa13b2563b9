// SPDX-License-Identifier: SHL-2.1
/// Two link_ports with their buffers, face to face over delay lines that can spoil words.
///
/// Each end has NumIds buffers and sends to as many. `spoil_i` is XORed to the word that enters the line
/// of that end; `loss_i` / 65536 of the CREDIT and CHECK words, drawn from a register of noise, get a wrong
/// check. Everything that a bench looks at in a cycle is in one vector an end, `seen_o`.
module link_pair_bench
  import link_pkg::*;
#(
  parameter int unsigned NumIds         = 2,
  parameter int unsigned Depth          = 512,
  parameter int unsigned MaxWords       = 128,
  parameter bit          CreditInPacket = 1'b0,
  parameter int unsigned CreditWords    = 64,
  parameter int unsigned RefreshWords   = 64,
  parameter int unsigned InitWords      = 256,
  parameter int unsigned Delay          = 25,
  parameter bit          FlitRegister   = 1'b1,
  localparam int unsigned SeenWidth = 36 + 36 + 1 + 34 + 6 + 1 + 1 + 1 + 1 + 6 + NumIds * (10 + 10 + 1 + 34 + 1)
) (
  input  logic                       clk_i,
  input  logic [1:0]                 rst_ni,
  input  logic [1:0]                 signal_i,
  input  logic                       bench_i,
  input  logic [35:0]                spoil_i [2],
  input  logic [15:0]                loss_i  [2],
  input  logic                       tx_valid_i [2],
  input  logic [33:0]                tx_flit_i [2],
  input  logic [NumIds-1:0]          pop_i [2],
  output logic [SeenWidth-1:0]       seen_o [2]
);
  word_t       line_in[2], rx[2], tx[2];
  logic [15:0] noise_q[2];

  for (genvar e = 0; e < 2; e++) begin : gen_end
    word_t line_q[Delay];
    logic is_credit, spoil;

    initial noise_q[e] = 16'hACE1 + 16'(e);
    always_ff @(posedge clk_i) begin
      for (int i = 0; i < 13; i++) begin
        noise_q[e] = {noise_q[e][14:0],
                      noise_q[e][15] ^ noise_q[e][13] ^ noise_q[e][12] ^ noise_q[e][10]};
      end
    end

    assign is_credit  = tx[e].k == 4'b1000 && tx[e].data[31:24] inside {SymCredit, SymCheck};
    assign spoil      = is_credit && noise_q[e] < loss_i[e];
    assign line_in[e] = word_t'(tx[e] ^ spoil_i[e] ^ {35'h0, spoil});
    always_ff @(posedge clk_i) begin
      line_q[0] <= line_in[e];
      for (int i = 1; i < Delay; i++) line_q[i] <= line_q[i-1];
    end
    assign rx[1-e] = line_q[Delay-1];

    logic                     rx_valid, up, ready, idle;
    flit_t                    rx_flit;
    id_t                      rx_id;
    count_t      [NumIds-1:0] stored, room;
    logic        [NumIds-1:0] refused, out_valid, packet;
    logic        [NumIds-1:0][33:0] out_flit;
    logic        [5:0]        strobes;

    link_port #(
      .NumRxIds      (NumIds),
      .NumTxIds      (NumIds),
      .TxDepth       (Depth),
      .MaxWords      (MaxWords),
      .CreditInPacket(CreditInPacket),
      .CreditWords   (CreditWords),
      .RefreshWords  (RefreshWords),
      .InitWords     (InitWords),
      .FlitRegister  (FlitRegister)
    ) u_port (
      .clk_i,
      .rst_ni      (rst_ni[e]),
      .signal_i    (signal_i[e]),
      .rx_i        (rx[e]),
      .tx_o        (tx[e]),
      .bench_i,
      .up_o        (up),
      .rx_valid_o  (rx_valid),
      .rx_flit_o   (rx_flit),
      .rx_id_o     (rx_id),
      .stored_i    (stored),
      .room_o      (room),
      .tx_valid_i  (tx_valid_i[e]),
      .tx_ready_o  (ready),
      .tx_flit_i   (flit_t'(tx_flit_i[e])),
      .crc_bad_o   (strobes[0]),
      .poisoned_o  (strobes[1]),
      .invalid_o   (strobes[2]),
      .cut_o       (strobes[3]),
      .credit_bad_o(strobes[4]),
      .dropped_o   (strobes[5]),
      .idle_o      (idle)
    );

    for (genvar i = 0; i < NumIds; i++) begin : gen_buffer
      link_buffer #(
        .Depth(Depth)
      ) u_buffer (
        .clk_i,
        .rst_ni   (rst_ni[e]),
        .valid_i  (rx_valid && rx_id == id_t'(i)),
        .flit_i   (rx_flit),
        .refused_o(refused[i]),
        .stored_o (stored[i]),
        .packet_o (packet[i]),
        .valid_o  (out_valid[i]),
        .flit_o   (out_flit[i]),
        .pop_i    (pop_i[e][i])
      );
    end
    logic unused;
    assign unused = &{1'b0, packet};

    // What is taken a cycle earlier is shown when it would have come through the register.
    logic  seen_valid, late_valid_q;
    flit_t seen_flit, late_flit_q;
    id_t   seen_id, late_id_q;
    always_ff @(posedge clk_i) begin
      late_valid_q <= rx_valid && rst_ni[e];
      late_flit_q  <= rx_flit;
      late_id_q    <= rx_id;
    end
    assign seen_valid = FlitRegister ? rx_valid : late_valid_q;
    assign seen_flit  = FlitRegister ? rx_flit : late_flit_q;
    assign seen_id    = FlitRegister ? rx_id : late_id_q;

    assign seen_o[e] = {room, stored, out_valid, out_flit, refused, strobes, !u_port.u_core.clear, idle, up, ready,
                        seen_id, seen_flit, seen_valid, rx[e], tx[e]};
  end
endmodule
