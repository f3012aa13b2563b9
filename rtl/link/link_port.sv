// SPDX-License-Identifier: SHL-2.1
/// One whole end of a lossless serial link: packets, credits, start-up
/// (docs/explanation/cores/link.md).
///
/// Received packets cannot be refused: the buffer of each id has room for what the far end may
/// send, and link_buffer keeps a packet whole or cuts it where the far end was wrong. A packet is
/// Sop, 1 to MaxWords data words, Eop or Edb; Eop carries the packet's crc24, made once by its
/// source.
///
///   Handshake   receive: rx_valid_o, no back-pressure; Sop, data.., Eop | Edb, ends always come.
///               transmit: tx_flit_i stays until tx_ready_o, which is a register; a packet of n
///               words of id may begin while room_o[id] > n (n is MaxWords where it is not known)
///               and up_o; gaps inside a packet are filled. While the link is down packets are
///               taken and dropped.
///   Ordering    packets of one link stay in order
///   Latency     2 cycles from rx_i to rx_flit_o, 1 without FlitRegister; 1 from tx_valid_i to tx_o
///   Throughput  one word a cycle each way, less 2 words of framing a packet and credit words: at
///               most one between two packets, and only for CreditWords words or more while packets
///               wait; less one ALIGN in AlignWords + 1 words
///   Commas      in every word of the start and of a line at rest; while packets follow each other
///               one in AlignWords + MaxWords + 3 words at least, if the source pauses in none
///   Parameters  NumRxIds 1..64 buffers behind this end, NumTxIds 1..64 at the far one, each of
///               TxDepth words, MaxWords+1..512; MaxWords 1..510; CreditWords 1..512; RefreshWords
///               16..4096 and InitWords 64..65536, powers of two; InitWords is at least the round
///               trip. RoundTrip: cycles from a SOP to its words' credit; where it is stated (not
///               0), TxDepth must cover it. AlignWords 2..4096, or 0: no ALIGN, for a far end with
///               the same oscillator. FlitRegister 0: flits are combinational outputs, to be
///               registered directly
///   Not done    retransmission; the buffers themselves
module link_port
  import link_pkg::*;
#(
  parameter int unsigned NumRxIds       = 8,
  parameter int unsigned NumTxIds       = 1,
  parameter int unsigned TxDepth        = 512,
  parameter int unsigned MaxWords       = 128,
  parameter bit          CreditInPacket = 1'b0,
  parameter int unsigned CreditWords    = 64,
  parameter int unsigned RefreshWords   = 64,
  parameter int unsigned InitWords      = 1024,
  parameter int unsigned RoundTrip      = 0,
  parameter int unsigned AlignWords     = 1024,
  parameter bit          FlitRegister   = 1'b1,
  parameter int unsigned CountWidth     = CountBits,
  localparam type        count_t        = logic [CountWidth-1:0]
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,
  input  logic                  signal_i,      // the transceiver has lock; low: the link is down
  input  word_t                 rx_i,
  output word_t                 tx_o,
  input  logic                  bench_i,       // data words 4 and 5 count as 0 in crc24
  output logic                  up_o,
  output logic                  rx_valid_o,
  output flit_t                 rx_flit_o,
  output id_t                   rx_id_o,       // below NumRxIds
  input  count_t [NumRxIds-1:0] stored_i,      // words in each buffer, link_buffer's stored_o
  output count_t [NumTxIds-1:0] room_o,        // words that each far buffer has free
  input  logic                  tx_valid_i,
  output logic                  tx_ready_o,
  input  flit_t                 tx_flit_i,
  // Strobes for counters.
  output logic                  crc_bad_o,     // a received packet's crc24 was wrong
  output logic                  poisoned_o,    // a received packet ended as EDB
  output logic                  invalid_o,     // an invalid word, or a data word outside a packet
  output logic                  cut_o,         // a packet ended without its end
  output logic                  credit_bad_o,  // a CREDIT that cannot be true was ignored
  output logic                  dropped_o,     // a packet to send was dropped: the link is down
  output logic                  idle_o         // nothing changes until an input does
);
  // Words without a comma are followed by an ALIGN, for the transceiver and its elastic buffer.
  logic align, take_align, comma, core_idle, timer_idle;
  assign idle_o = core_idle && timer_idle;

  if (AlignWords != 0) begin : gen_align
    link_mark_timer #(
      .AlignWords(AlignWords)
    ) u_timer (
      .clk_i,
      .rst_ni,
      .restart_i(comma),
      .taken_i  (take_align),
      .due_o    (align),
      .idle_o   (timer_idle)
    );
  end else begin : gen_no_align
    logic unused;
    assign unused     = &{1'b0, take_align, comma};
    assign align      = 1'b0;
    assign timer_idle = 1'b1;
  end

  link_core #(
    .Lanes         (1),
    .NumRxIds      (NumRxIds),
    .NumTxIds      (NumTxIds),
    .TxDepth       (TxDepth),
    .MaxWords      (MaxWords),
    .CreditInPacket(CreditInPacket),
    .CreditWords   (CreditWords),
    .RefreshWords  (RefreshWords),
    .InitWords     (InitWords),
    .RoundTrip     (RoundTrip),
    .FlitRegister  (FlitRegister),
    .CountWidth    (CountWidth)
  ) u_core (
    .clk_i,
    .rst_ni,
    .signal_i,
    .rx_i,
    .tx_o,
    .align_i     (align),
    .take_align_o(take_align),
    .comma_o     (comma),
    .bench_i,
    .up_o,
    .rx_valid_o,
    .rx_flit_o,
    .rx_id_o,
    .stored_i,
    .room_o,
    .tx_valid_i,
    .tx_ready_o,
    .tx_flit_i,
    .crc_bad_o,
    .poisoned_o,
    .invalid_o,
    .cut_o,
    .credit_bad_o,
    .dropped_o,
    .idle_o      (core_idle)
  );
endmodule
