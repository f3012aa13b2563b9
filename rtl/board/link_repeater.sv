// SPDX-License-Identifier: SHL-2.1
/// Device: two bundles of lanes back to back. Packets received at one port are sent at the other.
///
/// serdes -> link_bundle -> link_buffer -> link_channels -> link_bundle -> serdes, both ways
/// (docs/explanation/cores/link.md)
///
///   Pins        lane l of port p of the transceivers at bits [32*(Lanes*p+l) +: 32] and
///               [4*(Lanes*p+l) +: 4]; serdes_signal_i[Lanes*p+l]: it has lock
///   Routing     a SOP's id is the output port; packets that name their input port are dropped
///   Latency     SOP on the latest lane's pins to SOP on the pins 8 cycles, idle
///   Throughput  one word of all lanes a cycle each way
///   Lossless    credits of link.md towards both sides; packets for a port that is down wait
///   Counters    32 bits, wrapping, both ports together; as link_switch, and lost: abandoned
///               alignments; late: marks that arrived too late for one
///   Parameters  Lanes 1..8, Depth words of its buffers, TxDepth words of the remote buffers, at
///               least MaxWords + 3; the others as link_bundle
///   Not done    time stamps
module link_repeater
  import link_pkg::*;
#(
  parameter int unsigned Lanes          = 4,
  parameter int unsigned MaxSkew        = 8,
  parameter int unsigned AlignWords     = 256,
  parameter int unsigned Depth          = 512,
  parameter int unsigned TxDepth        = 512,
  parameter int unsigned MaxWords       = 128,
  parameter bit          CreditInPacket = 1'b0,
  parameter int unsigned CreditWords    = 64,
  parameter int unsigned RefreshWords   = 64,
  parameter int unsigned InitWords      = 1024
) (
  input logic clk_i,
  input logic rst_ni,

  input  logic [64*Lanes-1:0] serdes_rx_data_i,  // a word of 32 bits a lane and cycle of clk_i
  input  logic [8*Lanes-1:0]  serdes_rx_k_i,     // bit n of a lane: byte n is a K code
  input  logic [2*Lanes-1:0]  serdes_signal_i,
  output logic [64*Lanes-1:0] serdes_tx_data_o,  // as serdes_rx_data_i
  output logic [8*Lanes-1:0]  serdes_tx_k_o,     // as serdes_rx_k_i

  output logic [1:0]  status_up_o,           // level, a bit a port: both ends are ready
  output logic [1:0]  status_aligned_o,      // level, a bit a port
  output logic [31:0] status_packets_in_o,   // began at a receive side
  output logic [31:0] status_packets_out_o,  // began on a transmit side
  output logic [31:0] status_bad_o,          // packets that ended bad at the input
  output logic [31:0] status_crc_bad_o,      // packets with a wrong check
  output logic [31:0] status_poisoned_o,     // packets that came with EDB
  output logic [31:0] status_invalid_o,      // words that are none of the link's
  output logic [31:0] status_cut_o,          // packets without an end, or too long
  output logic [31:0] status_dropped_o,      // packets to send, taken while the link was down
  output logic [31:0] status_credit_bad_o,   // credit words with a wrong check
  output logic [31:0] status_refused_o,      // packets that did not fit
  output logic [31:0] status_lost_o,         // alignments given up
  output logic [31:0] status_late_o          // marks later than MaxSkew
);
  if (TxDepth < MaxWords + 3) begin : gen_depth_check
    $error("link_repeater: TxDepth %0d is less than MaxWords %0d + 3", TxDepth, MaxWords);
  end

  typedef enum logic [3:0] {
    In, Out, Bad, CrcBad, Poisoned, Invalid, Cut, Dropped, CreditBad, Refused, Lost, Late
  } event_e;
  localparam int unsigned NumEvents = 12;

  typedef struct packed {
    flit_kind_e             kind;
    logic [Lanes-1:0][31:0] data;
  } wide_t;

  logic [1:0]   strobe [NumEvents];
  logic [1:0]   up, rx_valid, tx_valid, tx_ready, buffer_valid, take;
  wide_t        tx_wide [2];
  wide_t        buffered [2];
  count_t [0:0] room [2];

  for (genvar p = 0; p < 2; p++) begin : gen_port
    word_t [Lanes-1:0] rx, tx;
    wide_t             rx_wide;
    id_t               rx_id;
    count_t [1:0]      stored;

    for (genvar l = 0; l < int'(Lanes); l++) begin : gen_pins
      assign rx[l] = '{k: serdes_rx_k_i[4*(Lanes*p+l)+:4],
                       data: serdes_rx_data_i[32*(Lanes*p+l)+:32]};
      assign serdes_tx_data_o[32*(Lanes*p+l)+:32] = tx[l].data;
      assign serdes_tx_k_o[4*(Lanes*p+l)+:4]      = tx[l].k;
    end

    link_bundle #(
      .Lanes         (Lanes),
      .MaxSkew       (MaxSkew),
      .AlignWords    (AlignWords),
      .NumRxIds      (2),
      .NumTxIds      (1),
      .TxDepth       (TxDepth),
      .MaxWords      (MaxWords),
      .CreditInPacket(CreditInPacket),
      .CreditWords   (CreditWords),
      .RefreshWords  (RefreshWords),
      .InitWords     (InitWords)
    ) u_bundle (
      .clk_i,
      .rst_ni,
      .signal_i    (serdes_signal_i[Lanes*p+:Lanes]),
      .rx_i        (rx),
      .tx_o        (tx),
      .bench_i     (1'b0),
      .up_o        (up[p]),
      .aligned_o   (status_aligned_o[p]),
      .rx_valid_o  (rx_valid[p]),
      .rx_flit_o   (rx_wide),
      .rx_id_o     (rx_id),
      .stored_i    (stored),
      .room_o      (room[p]),
      .tx_valid_i  (tx_valid[p]),
      .tx_ready_o  (tx_ready[p]),
      .tx_flit_i   (tx_wide[p]),
      .crc_bad_o   (strobe[CrcBad][p]),
      .poisoned_o  (strobe[Poisoned][p]),
      .invalid_o   (strobe[Invalid][p]),
      .cut_o       (strobe[Cut][p]),
      .credit_bad_o(strobe[CreditBad][p]),
      .dropped_o   (strobe[Dropped][p]),
      .lost_o      (strobe[Lost][p]),
      .late_o      (strobe[Late][p])
    );
    assign strobe[In][p]  = rx_valid[p] && rx_wide.kind == FlitSop;
    assign strobe[Bad][p] = rx_valid[p] && rx_wide.kind == FlitEdb;
    assign strobe[Out][p] = tx_valid[p] && tx_ready[p] && tx_wide[p].kind == FlitSop;

    // The buffer of packets that leave by the other port. No packets are stored for this port.
    logic packet, idle, unused;
    assign stored[p] = '0;
    assign unused    = &{1'b0, packet, idle};

    link_buffer #(
      .Depth(Depth),
      .Lanes(Lanes)
    ) u_buffer (
      .clk_i,
      .rst_ni,
      .valid_i  (rx_valid[p] && rx_id == id_t'(1 - p)),
      .flit_i   (rx_wide),
      .refused_o(strobe[Refused][p]),
      .stored_o (stored[1-p]),
      .packet_o (packet),
      .valid_o  (buffer_valid[1-p]),
      .flit_o   (buffered[1-p]),
      .pop_i    (take[1-p])
    );

    link_channels #(
      .NumIds  (1),
      .Lanes   (Lanes),
      .MaxWords(MaxWords)
    ) u_channels (
      .clk_i,
      .rst_ni,
      .up_i      (up[p]),
      .room_i    (room[p]),
      .valid_i   (buffer_valid[p]),
      .ready_o   (take[p]),
      .flit_i    (buffered[p]),
      .tx_valid_o(tx_valid[p]),
      .tx_ready_i(tx_ready[p]),
      .tx_flit_o (tx_wide[p]),
      .idle_o    (idle)
    );
  end
  assign status_up_o = up;

  // ---------------------------------------------------------------- counters
  logic [31:0] total_q [NumEvents];
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      for (int unsigned e = 0; e < NumEvents; e++) total_q[e] <= '0;
    end else begin
      for (int unsigned e = 0; e < NumEvents; e++) begin
        if (strobe[e] != '0) total_q[e] <= total_q[e] + 32'($countones(strobe[e]));
      end
    end
  end
  assign status_packets_in_o  = total_q[In];
  assign status_packets_out_o = total_q[Out];
  assign status_bad_o         = total_q[Bad];
  assign status_crc_bad_o     = total_q[CrcBad];
  assign status_poisoned_o    = total_q[Poisoned];
  assign status_invalid_o     = total_q[Invalid];
  assign status_cut_o         = total_q[Cut];
  assign status_dropped_o     = total_q[Dropped];
  assign status_credit_bad_o  = total_q[CreditBad];
  assign status_refused_o     = total_q[Refused];
  assign status_lost_o        = total_q[Lost];
  assign status_late_o        = total_q[Late];
endmodule
