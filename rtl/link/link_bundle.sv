// SPDX-License-Identifier: SHL-2.1
/// One whole end of a link of several lanes, byte by byte: every word is 32 bits of each lane.
///
/// link_core in step on all lanes; an ALIGN in all of them every AlignWords words or a packet
/// later; link_deskew in front of the receive side. It is used as a link_port of wider
/// words. What comes while the lanes are not aligned counts as invalid words: the packets that it
/// hits end bad, and their credit comes back as from any other wrong word. A lane without lock, or
/// 2 AlignWords cycles without alignment, and the link starts over; it is never up before the lanes
/// are aligned.
///
///   Handshake   link_port's
///   Ordering    packets stay in order
///   Latency     3 cycles from the latest lane's rx_i to rx_*_o, plus its lead for each other lane;
///               1 from tx_valid_i to tx_o
///   Throughput  one word of all lanes a cycle each way, less link_port's framing and credit words,
///               and one ALIGN in AlignWords + 1 words at most
///   Recovery    a lane that slips: found at the next mark but one at most, usually at the next
///               SOP; aligned again with the marks after that, AlignWords + MaxWords + 3 words
///               later at most while packets come without pauses
///   Parameters  Lanes 1..8, MaxSkew 1..15, AlignWords 32..4096, so many that marks stay apart and
///               come back in 2 AlignWords cycles; InitWords at least 4 AlignWords; the others as
///               link_port
///   Not done    packets that are no whole number of words of all lanes; order of lanes
module link_bundle
  import link_pkg::*;
#(
  parameter int unsigned Lanes          = 4,
  parameter int unsigned MaxSkew        = 8,
  parameter int unsigned AlignWords     = 256,
  parameter int unsigned NumRxIds       = 8,
  parameter int unsigned NumTxIds       = 1,
  parameter int unsigned TxDepth        = 512,
  parameter int unsigned MaxWords       = 128,
  parameter bit          CreditInPacket = 1'b0,
  parameter int unsigned CreditWords    = 64,
  parameter int unsigned RefreshWords   = 64,
  parameter int unsigned InitWords      = 1024,
  parameter int unsigned RoundTrip      = 0,
  parameter int unsigned CountWidth     = CountBits,
  localparam type        count_t        = logic [CountWidth-1:0],
  // verilog_lint: waive typedef-structs-unions
  localparam type        flit_t         = struct packed {
    flit_kind_e             kind;
    logic [Lanes-1:0][31:0] data;
  }
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  input  logic [Lanes-1:0]       signal_i,  // the lane's transceiver has lock
  input  word_t [Lanes-1:0]      rx_i,
  output word_t [Lanes-1:0]      tx_o,
  input  logic                   bench_i,    // data words 4 and 5 of 32 bits count as 0 in crc24
  output logic                   up_o,       // level: both ends are ready
  output logic                   aligned_o,  // level: words of all lanes are of one instant
  output logic                   rx_valid_o,
  output flit_t                  rx_flit_o,  // Sop: id in lane 0; end: crc24 of each lane
  output id_t                    rx_id_o,    // below NumRxIds
  input  count_t [NumRxIds-1:0]  stored_i,   // words of all lanes in each buffer
  output count_t [NumTxIds-1:0]  room_o,     // words of all lanes that each far buffer has free
  input  logic                   tx_valid_i,
  output logic                   tx_ready_o,  // tx_valid_i and tx_flit_i are held until then
  input  flit_t                  tx_flit_i,   // Sop, data.., Eop | Edb; Sop: id in lane 0
  // Strobes for counters, link_port's.
  output logic                   crc_bad_o,
  output logic                   poisoned_o,
  output logic                   invalid_o,
  output logic                   cut_o,
  output logic                   credit_bad_o,
  output logic                   dropped_o,
  // The lanes'.
  output logic                   lost_o,  // an alignment was given up, or a lane's signal was
  output logic                   late_o   // a mark did not come within MaxSkew of the first
);
  localparam int unsigned GraceWidth = $clog2(AlignWords) + 1;
  typedef logic [GraceWidth-1:0] grace_t;

  if (AlignWords < 32 || AlignWords > 4096) begin : gen_align_check
    $error("link_bundle: AlignWords is %0d, legal is 32..4096", AlignWords);
  end
  // Marks come back in time: a packet under way, its framing, a credit word, and the skew.
  if (AlignWords < MaxWords + 4 + 4 * MaxSkew) begin : gen_grace_check
    $error("link_bundle: AlignWords %0d is less than MaxWords %0d + 4 + 4 MaxSkew %0d", AlignWords,
           MaxWords, MaxSkew);
  end
  // An end that listens again has been heard: the far one is aligned, or has started over.
  if (InitWords < 4 * AlignWords) begin : gen_init_check
    $error("link_bundle: InitWords %0d is less than 4 AlignWords %0d", InitWords, AlignWords);
  end

  word_t [Lanes-1:0] beside, taken;
  logic              all_signal;

  assign all_signal = &signal_i;

  link_deskew #(
    .Lanes  (Lanes),
    .MaxSkew(MaxSkew)
  ) u_deskew (
    .clk_i,
    .rst_ni,
    .signal_i (all_signal),
    .step_i   (1'b1),
    .lane_i   (rx_i),
    .word_o   (beside),
    .delay_o  (),
    .aligned_o,
    .late_o,
    .lost_o
  );

  // No symbol at all in the place of what is not one instant.
  assign taken = aligned_o ? beside : {Lanes{word_t'({4'b1111, 32'h0})}};

  // A mark is due AlignWords cycles after the last one, and at once after a reset.
  logic align, take_align, timer_idle;

  link_mark_timer #(
    .AlignWords(AlignWords),
    .DueAtReset(1'b1)
  ) u_timer (
    .clk_i,
    .rst_ni,
    .restart_i(1'b0),
    .taken_i  (take_align),
    .due_o    (align),
    .idle_o   (timer_idle)
  );

  // How long the link may still go on without alignment.
  grace_t grace_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) grace_q <= '0;
    else if (!all_signal) grace_q <= '0;
    else if (aligned_o) grace_q <= grace_t'(2 * AlignWords - 1);
    else if (grace_q != '0) grace_q <= grace_q - 1'b1;
  end

  logic idle, comma, unused;
  assign unused = &{1'b0, idle, timer_idle, comma};

  link_core #(
    .Lanes         (Lanes),
    .NumRxIds      (NumRxIds),
    .NumTxIds      (NumTxIds),
    .TxDepth       (TxDepth),
    .MaxWords      (MaxWords),
    .CreditInPacket(CreditInPacket),
    .CreditWords   (CreditWords),
    .RefreshWords  (RefreshWords),
    .InitWords     (InitWords),
    .RoundTrip     (RoundTrip),
    .CountWidth    (CountWidth)
  ) u_core (
    .clk_i,
    .rst_ni,
    .signal_i    (all_signal && (aligned_o || grace_q != '0)),
    .rx_i        (taken),
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
    .idle_o      (idle)
  );
endmodule
