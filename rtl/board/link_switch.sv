// SPDX-License-Identifier: SHL-2.1
/// Device: a switch of NumPorts links around a buffered crossbar.
///
/// serdes -> link_port -> crossbar -> link_port -> serdes (docs/explanation/cores/crossbar.md)
///
///   Pins        port i of the transceivers at bits [32*i +: 32] and [4*i +: 4];
///               serdes_signal_i[i]: it has lock
///   Routing     the SOP's id is the output port; ids of NumPorts and more are dropped and counted
///   Latency     SOP on the pins to SOP on the pins 6 cycles, idle switch
///   Throughput  every port one word a cycle in and out
///   Lossless    credits of link.md towards both sides; packets for a port that is down wait
///   Isolation   a port that is down or blocked stops only packets for it
///   Bench       with cfg_bench_i data words 4 and 5 become the cycles in which the SOP arrived and
///               left
///   Source      with cfg_bind_i a packet must name, in bits 30:24 of data word 0, the source of
///               its port, cfg_source_i[4*i +: 4]; another packet is ended behind that word as EDB
///               and counted as forged
///   Counters    32 bits, wrapping; of all ports together, and of each port
///   Parameters  NumPorts 2..16, Depth words a crosspoint, TxDepth words of the remote buffers,
///               MaxWords data words a packet; the others as link_port
///   Not done    routing through several switches: the id at the output is 0
module link_switch
  import link_pkg::*;
  import link_switch_pkg::*;
#(
  parameter int unsigned NumPorts       = 8,
  parameter int unsigned Depth          = 512,
  parameter int unsigned TxDepth        = 512,
  parameter int unsigned MaxWords       = 128,
  parameter bit          CreditInPacket = 1'b0,
  parameter int unsigned CreditWords    = 64,
  parameter int unsigned RefreshWords   = 64,
  parameter int unsigned InitWords      = 1024,
  parameter int unsigned AlignWords     = 1024
) (
  input logic clk_i,
  input logic rst_ni,

  input  logic [63:0]            time_cycles_i,  // cycles of clk_i since time zero, for cfg_bench_i
  input  logic                   cfg_bench_i,
  input  logic                   cfg_bind_i,
  input  logic [4*NumPorts-1:0]  cfg_source_i,
  input  logic [32*NumPorts-1:0] serdes_rx_data_i,  // a word of 32 bits a port and cycle of clk_i
  input  logic [4*NumPorts-1:0]  serdes_rx_k_i,     // bit n of a port: byte n is a K code
  input  logic [NumPorts-1:0]    serdes_signal_i,
  output logic [32*NumPorts-1:0] serdes_tx_data_o,  // as serdes_rx_data_i
  output logic [4*NumPorts-1:0]  serdes_tx_k_o,     // as serdes_rx_k_i

  output logic [NumProbes-1:0]      probe_o,      // strobes, by probe_e; for simulation
  output logic [NumProbes-1:0][7:0] probe_tag_o,  // the packet's other port

  output logic [NumPorts-1:0] status_up_o,  // level, a bit a port: both ends are ready
  // Sums over all ports.
  output logic [31:0] status_packets_in_o,  // began at a receive side
  output logic [31:0] status_packets_out_o,  // began on a transmit side
  output logic [31:0] status_bad_o,  // ended bad at the input, for any of the next four reasons
  output logic [31:0] status_crc_bad_o,  // packets
  output logic [31:0] status_poisoned_o,  // packets that came with EDB
  output logic [31:0] status_invalid_o,  // words
  output logic [31:0] status_cut_o,  // packets without an end, or too long
  output logic [31:0] status_dropped_o,  // packets to send, taken while the link was down
  output logic [31:0] status_credit_bad_o,  // credit words
  output logic [31:0] status_refused_o,  // packets that did not fit
  output logic [31:0] status_forged_o,  // packets that named another source than their port's
  // The same of each port, in their order; 0 for missing ports.
  output logic [15:0][31:0] status_port_in_o,
  output logic [15:0][31:0] status_port_out_o,
  output logic [15:0][31:0] status_port_bad_o,
  output logic idle_o  // nothing changes until an input does
);
  if (NumPorts < 2 || NumPorts > MaxPorts) begin : gen_num_ports_check
    $error("link_switch: NumPorts is %0d, legal is 2..%0d", NumPorts, MaxPorts);
  end

  localparam int unsigned IdxWidth = $clog2(NumPorts);

  // ---------------------------------------------------------------- links
  logic [NumPorts-1:0] up, rx_valid, tx_valid, tx_ready, port_idle;
  logic [NumPorts-1:0] crc_bad, poisoned, invalid, cut, credit_bad, dropped;
  flit_t rx_flit [NumPorts];
  flit_t tx_flit [NumPorts];
  id_t rx_id [NumPorts];
  count_t room [NumPorts];
  count_t [NumPorts-1:0] stored [NumPorts];

  for (genvar i = 0; i < int'(NumPorts); i++) begin : gen_port
    word_t tx_word;
    link_port #(
      .NumRxIds      (NumPorts),
      .NumTxIds      (1),
      .TxDepth       (TxDepth),
      .MaxWords      (MaxWords),
      .CreditInPacket(CreditInPacket),
      .CreditWords   (CreditWords),
      .RefreshWords  (RefreshWords),
      .InitWords     (InitWords),
      .AlignWords    (AlignWords)
    ) u_port (
      .clk_i,
      .rst_ni,
      .signal_i    (serdes_signal_i[i]),
      .rx_i        ('{k: serdes_rx_k_i[4*i+:4], data: serdes_rx_data_i[32*i+:32]}),
      .tx_o        (tx_word),
      .bench_i     (cfg_bench_i),
      .up_o        (up[i]),
      .rx_valid_o  (rx_valid[i]),
      .rx_flit_o   (rx_flit[i]),
      .rx_id_o     (rx_id[i]),
      .stored_i    (stored[i]),
      .room_o      (room[i]),
      .tx_valid_i  (tx_valid[i]),
      .tx_ready_o  (tx_ready[i]),
      .tx_flit_i   (tx_flit[i]),
      .crc_bad_o   (crc_bad[i]),
      .poisoned_o  (poisoned[i]),
      .invalid_o   (invalid[i]),
      .cut_o       (cut[i]),
      .credit_bad_o(credit_bad[i]),
      .dropped_o   (dropped[i]),
      .idle_o      (port_idle[i])
    );
    assign serdes_tx_data_o[32*i+:32] = tx_word.data;
    assign serdes_tx_k_o[4*i+:4]      = tx_word.k;
  end
  assign status_up_o = up;

  // ---------------------------------------------------------------- crossbar
  logic [NumPorts-1:0] refused, forged;
  logic [6:0] bound [NumPorts];
  for (genvar i = 0; i < int'(NumPorts); i++) begin : gen_source
    assign bound[i] = {3'b000, cfg_source_i[4*i+:4]};
  end
  logic [IdxWidth-1:0] source [NumPorts];
  logic crossbar_idle;

  crossbar #(
    .NumPorts(NumPorts),
    .Depth   (Depth),
    .MaxWords(MaxWords)
  ) u_crossbar (
    .clk_i,
    .rst_ni,
    .bench_i   (cfg_bench_i),
    .bind_i    (cfg_bind_i),
    .source_i  (bound),
    .time_i    (time_cycles_i[31:0]),
    .rx_valid_i(rx_valid),
    .rx_flit_i (rx_flit),
    .rx_id_i   (rx_id),
    .stored_o  (stored),
    .forged_o  (forged),
    .refused_o (refused),
    .up_i      (up),
    .room_i    (room),
    .tx_valid_o(tx_valid),
    .tx_ready_i(tx_ready),
    .tx_flit_o (tx_flit),
    .source_o  (source),
    .idle_o    (crossbar_idle)
  );
  logic unused_time;
  assign unused_time = ^time_cycles_i[63:32];

  // ---------------------------------------------------------------- counters
  typedef enum logic [3:0] {
    In, Out, Bad, CrcBad, Poisoned, Invalid, Cut, Dropped, CreditBad, Refused,
    Forged
  } event_e;
  localparam int unsigned NumEvents = 11;

  // One bit per port, registered: some pulses are timing-critical.
  logic [NumPorts-1:0] event_q [NumEvents];
  logic [31:0] total_q [NumEvents];
  logic [31:0] in_q [NumPorts];
  logic [31:0] out_q [NumPorts];
  logic [31:0] bad_q [NumPorts];
  logic [NumPorts-1:0] sop_in, bad_in, sop_out;

  for (genvar i = 0; i < int'(NumPorts); i++) begin : gen_event
    assign sop_in[i]  = rx_valid[i] && rx_flit[i].kind == FlitSop;
    assign bad_in[i]  = rx_valid[i] && rx_flit[i].kind == FlitEdb;
    assign sop_out[i] = tx_valid[i] && tx_ready[i] && tx_flit[i].kind == FlitSop;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      for (int unsigned e = 0; e < NumEvents; e++) begin
        event_q[e] <= '0;
        total_q[e] <= '0;
      end
      for (int unsigned i = 0; i < NumPorts; i++) begin
        in_q[i]  <= '0;
        out_q[i] <= '0;
        bad_q[i] <= '0;
      end
    end else begin
      event_q[In]        <= sop_in;
      event_q[Out]       <= sop_out;
      event_q[Bad]       <= bad_in;
      event_q[CrcBad]    <= crc_bad;
      event_q[Poisoned]  <= poisoned;
      event_q[Invalid]   <= invalid;
      event_q[Cut]       <= cut;
      event_q[Dropped]   <= dropped;
      event_q[CreditBad] <= credit_bad;
      event_q[Refused]   <= refused;
      event_q[Forged]    <= forged;
      for (int unsigned e = 0; e < NumEvents; e++) begin
        if (event_q[e] != '0) total_q[e] <= total_q[e] + 32'($countones(event_q[e]));
      end
      for (int unsigned i = 0; i < NumPorts; i++) begin
        if (event_q[In][i]) in_q[i] <= in_q[i] + 32'd1;
        if (event_q[Out][i]) out_q[i] <= out_q[i] + 32'd1;
        if (event_q[Bad][i]) bad_q[i] <= bad_q[i] + 32'd1;
      end
    end
  end

  assign status_packets_in_o = total_q[In];
  assign status_packets_out_o = total_q[Out];
  assign status_bad_o = total_q[Bad];
  assign status_crc_bad_o = total_q[CrcBad];
  assign status_poisoned_o = total_q[Poisoned];
  assign status_invalid_o = total_q[Invalid];
  assign status_cut_o = total_q[Cut];
  assign status_dropped_o = total_q[Dropped];
  assign status_credit_bad_o = total_q[CreditBad];
  assign status_refused_o = total_q[Refused];
  assign status_forged_o = total_q[Forged];

  for (genvar i = 0; i < int'(MaxPorts); i++) begin : gen_status
    if (i < int'(NumPorts)) begin : gen_port
      assign status_port_in_o[i]  = in_q[i];
      assign status_port_out_o[i] = out_q[i];
      assign status_port_bad_o[i] = bad_q[i];
    end else begin : gen_none
      assign status_port_in_o[i]  = '0;
      assign status_port_out_o[i] = '0;
      assign status_port_bad_o[i] = '0;
    end
  end

  // ---------------------------------------------------------------- probes
  for (genvar i = 0; i < int'(MaxPorts); i++) begin : gen_probe
    if (i < int'(NumPorts)) begin : gen_port
      logic enter_q, leave_q;
      logic [7:0] enter_tag_q, leave_tag_q;
      always_ff @(posedge clk_i or negedge rst_ni) begin
        if (!rst_ni) begin
          enter_q     <= 1'b0;
          leave_q     <= 1'b0;
          enter_tag_q <= '0;
          leave_tag_q <= '0;
        end else begin
          enter_q <= sop_in[i];
          leave_q <= sop_out[i];
          if (sop_in[i]) enter_tag_q <= 8'(rx_id[i]);
          if (sop_out[i]) leave_tag_q <= 8'(source[i]);
        end
      end
      assign probe_o[i]              = enter_q;
      assign probe_tag_o[i]          = enter_tag_q;
      assign probe_o[MaxPorts+i]     = leave_q;
      assign probe_tag_o[MaxPorts+i] = leave_tag_q;
    end else begin : gen_none
      assign probe_o[i]              = 1'b0;
      assign probe_tag_o[i]          = '0;
      assign probe_o[MaxPorts+i]     = 1'b0;
      assign probe_tag_o[MaxPorts+i] = '0;
    end
  end

  // ---------------------------------------------------------------- at rest
  logic settled;
  always_comb begin
    settled = probe_o == '0;
    for (int unsigned e = 0; e < NumEvents; e++) settled = settled && event_q[e] == '0;
  end
  assign idle_o = port_idle == '1 && crossbar_idle && settled;
endmodule
