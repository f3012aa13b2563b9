// SPDX-License-Identifier: SHL-2.1
/// Master of a Cypress FX2LP's synchronous slave FIFOs: endpoint 2 to words, words to endpoint 6.
/// Everything here is in the clock of the pins, IFCLK.
///
///   Pins        all outputs are registers. Flags are fixed to endpoints, low when active:
///               flag_empty_ni endpoint 2 is empty, flag_last_ni it has at most one bus word;
///               flag_full_ni endpoint 6 is full, flag_tight_ni it has space for at most one bus
///               word. If a strobe of the same cycle makes a flag stale, the next strobe uses the
///               stricter flag: no word is read from an empty FIFO, none written into a full one.
///               FIFOADR is stable a clock before and after each strobe; an idle clock between two
///               drivers of FD (proved: formal/usb/fx2_port.sby)
///   Words       first byte in bits 31:24. rx and tx: valid/ready
///   Turns       a direction keeps the bus while it can transfer; after Burst bytes it yields to
///               the other if that can transfer
///   End         when no source of another word is active (tx_valid_i, busy_i, endpoint 2) for
///               QuietCycles, a begun packet is ended with PKTEND; full packets are followed by an
///               empty one after ZlpCycles, for a host that waits for more
///   Part words  bytes short of a word wait; after StaleCycles they are dropped: stale_o
///   Closed      live_i low: no strobe, words dropped both ways, packets discarded
///   Latency     word's last bytes on FD to rx_valid_o: 3 cycles
///   Throughput  one bus word a cycle within a burst; 3 cycles to turn around
///   Parameters  FdWidth 8 or 16; QuietCycles 4..255; ZlpCycles, StaleCycles QuietCycles..2^24-1
///   Not done    packets of an odd number of bytes at FdWidth 16 (the FX2LP leaves half undefined)
module fx2_port #(
  parameter int unsigned FdWidth     = 16,
  parameter int unsigned Burst       = 512,
  parameter int unsigned QuietCycles = 8,
  parameter int unsigned ZlpCycles   = 6_000,
  parameter int unsigned StaleCycles = 4_800_000,
  parameter int unsigned PacketBytes = 512
) (
  input logic clk_i,
  input logic rst_ni,

  input  logic [FdWidth-1:0] fd_i,
  output logic [FdWidth-1:0] fd_o,
  output logic               fd_oe_o,
  output logic [        1:0] fifoadr_o,
  output logic               sloe_no,
  output logic               slrd_no,
  output logic               slwr_no,
  output logic               pktend_no,
  input  logic               flag_empty_ni,
  input  logic               flag_last_ni,
  input  logic               flag_full_ni,
  input  logic               flag_tight_ni,

  input logic live_i,
  input logic busy_i,

  output logic        rx_valid_o,
  input  logic        rx_ready_i,
  output logic [31:0] rx_data_o,

  input  logic        tx_valid_i,
  output logic        tx_ready_o,
  input  logic [31:0] tx_data_i,

  output logic stale_o,  // pulse: part of a word was dropped
  output logic end_o,    // pulse: a packet was ended
  output logic idle_o    // nothing changes until an input does
);
  if (FdWidth != 8 && FdWidth != 16) begin : gen_width_check
    $error("fx2_port: FdWidth is %0d, legal are 8 and 16", FdWidth);
  end
  if (QuietCycles < 4 || QuietCycles > 255) begin : gen_quiet_check
    $error("fx2_port: QuietCycles is %0d, legal is 4..255", QuietCycles);
  end
  if (ZlpCycles < QuietCycles || ZlpCycles >= 1 << 24) begin : gen_zlp_check
    $error("fx2_port: ZlpCycles is %0d, legal is QuietCycles..2^24-1", ZlpCycles);
  end
  if (StaleCycles < QuietCycles || StaleCycles >= 1 << 24) begin : gen_stale_check
    $error("fx2_port: StaleCycles is %0d, legal is QuietCycles..2^24-1", StaleCycles);
  end

  localparam int unsigned Pieces = 32 / FdWidth;  // bus words of a word
  localparam int unsigned PieceW = $clog2(Pieces);
  localparam int unsigned PacketPieces = PacketBytes * 8 / FdWidth;
  localparam int unsigned PosW = $clog2(PacketPieces);
  localparam int unsigned BurstPieces = Burst * 8 / FdWidth;
  localparam int unsigned BurstW = $clog2(BurstPieces + 1);
  localparam int unsigned RxDepth = 8;

  localparam logic [1:0] AddressOut = 2'd0;
  localparam logic [1:0] AddressIn = 2'd2;

  typedef enum logic [1:0] {
    StRead,
    StToWrite,
    StWrite,
    StToRead
  } state_e;

  state_e state_q, state_d;
  logic slrd_q, slrd_d, slwr_q, slwr_d, pktend_q, pktend_d;
  logic [BurstW-1:0] burst_q;
  logic burst_over, want_write, want_read, can_read, can_write, rx_space, end_due;

  // ---------------------------------------------------------------- bytes to words
  // The pins have their own input register; a word is complete one cycle later.
  logic cap_valid_q, rx_push, rx_fifo_ready;
  logic [FdWidth-1:0] cap_q;
  logic [PieceW-1:0] rx_piece_q;
  logic [31-FdWidth:0] part_q;
  logic [31:0] rx_word;
  logic [$clog2(RxDepth):0] rx_usage;
  logic [FdWidth-1:0] cap_big;  // the first byte first

  if (FdWidth == 16) begin : gen_cap_16
    assign cap_big = {cap_q[7:0], cap_q[15:8]};
  end else begin : gen_cap_8
    assign cap_big = cap_q;
  end
  assign rx_word = {part_q, cap_big};
  assign rx_push = cap_valid_q && live_i && rx_piece_q == PieceW'(Pieces - 1);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      cap_valid_q <= 1'b0;
      rx_piece_q  <= '0;
    end else begin
      cap_valid_q <= slrd_q;
      if (!live_i || stale_o) rx_piece_q <= '0;
      else if (cap_valid_q) rx_piece_q <= rx_piece_q + 1'b1;
    end
  end
  always_ff @(posedge clk_i) begin
    cap_q <= fd_i;
    if (cap_valid_q) part_q <= rx_word[31-FdWidth:0];
  end

  fifo #(
    .Width(32),
    .Depth(RxDepth)
  ) u_rx (
    .clk_i,
    .rst_ni,
    .clear_i(!live_i),
    .valid_i(rx_push),
    .ready_o(rx_fifo_ready),
    .data_i (rx_word),
    .valid_o(rx_valid_o),
    .ready_i(rx_ready_i),
    .data_o (rx_data_o),
    .usage_o(rx_usage)
  );
  // Up to two words are in flight, in addition to the one being decided: never more than fit.
  assign rx_space = rx_usage <= ($clog2(RxDepth) + 1)'(RxDepth - 3);

  // ---------------------------------------------------------------- words to bytes
  logic [PieceW-1:0] tx_piece_q;
  logic [Pieces-1:0][FdWidth-1:0] tx_pieces;  // the first one highest
  logic [FdWidth-1:0] tx_big, tx_piece, fd_q;
  assign tx_pieces = tx_data_i;
  assign tx_big    = tx_pieces[~tx_piece_q];
  if (FdWidth == 16) begin : gen_swap_16
    assign tx_piece = {tx_big[7:0], tx_big[15:8]};
  end else begin : gen_swap_8
    assign tx_piece = tx_big;
  end

  // Closed: received words are dropped.
  assign tx_ready_o = !live_i || (slwr_d && tx_piece_q == PieceW'(Pieces - 1));

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) tx_piece_q <= '0;
    else if (!live_i) tx_piece_q <= '0;
    else if (slwr_d) tx_piece_q <= tx_piece_q + 1'b1;
  end
  always_ff @(posedge clk_i) begin
    if (slwr_d) fd_q <= tx_piece;
  end

  // ---------------------------------------------------------------- turns
  assign can_read   = live_i && rx_space && (slrd_q ? flag_last_ni : flag_empty_ni);
  assign can_write  = live_i && tx_valid_i && !pktend_q &&
                      (slwr_q ? flag_tight_ni : flag_full_ni);
  assign want_read  = live_i && rx_space && flag_empty_ni;
  assign want_write = flag_full_ni && ((live_i && tx_valid_i) || end_due);
  assign burst_over = burst_q == BurstW'(BurstPieces);

  always_comb begin
    state_d  = state_q;
    slrd_d   = 1'b0;
    slwr_d   = 1'b0;
    pktend_d = 1'b0;
    unique case (state_q)
      StRead: begin
        slrd_d = can_read && !(burst_over && want_write);
        if (!slrd_d && !slrd_q && want_write) state_d = StToWrite;
      end
      StToWrite: state_d = StWrite;
      StWrite: begin
        slwr_d   = can_write && !(burst_over && want_read);
        pktend_d = !can_write && end_due && flag_full_ni && !slwr_q && !pktend_q;
        if (!slwr_d && !pktend_d && !slwr_q && !pktend_q) state_d = StToRead;
      end
      default: state_d = StRead;
    endcase
  end

  logic drives_q, sloe_q;
  logic [1:0] address_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q   <= StToRead;
      slrd_q    <= 1'b0;
      slwr_q    <= 1'b0;
      pktend_q  <= 1'b0;
      drives_q  <= 1'b0;
      sloe_q    <= 1'b0;
      address_q <= AddressOut;
      burst_q   <= '0;
    end else begin
      state_q  <= state_d;
      slrd_q   <= slrd_d;
      slwr_q   <= slwr_d;
      pktend_q <= pktend_d;
      drives_q <= state_d == StWrite;
      sloe_q   <= state_d == StRead;
      if (state_d == StToWrite) address_q <= AddressIn;
      else if (state_d == StToRead) address_q <= AddressOut;
      if (state_d != state_q) burst_q <= '0;
      else if ((slrd_d || slwr_d) && !burst_over) burst_q <= burst_q + 1'b1;
    end
  end

  assign fd_o      = fd_q;
  assign fd_oe_o   = drives_q;
  assign fifoadr_o = address_q;
  assign sloe_no   = !sloe_q;
  assign slrd_no   = !slrd_q;
  assign slwr_no   = !slwr_q;
  assign pktend_no = !pktend_q;

  // ---------------------------------------------------------------- ends of packets, stale parts
  // One timer: time since the last transfer, or possible transfer.
  logic [23:0] quiet_q;
  logic open_q, moving, counts;  // open_q: written since a packet was ended
  logic [PosW-1:0] pos_q;
  logic stale, partial;

  assign partial = rx_piece_q != '0;
  assign moving  = !live_i || flag_empty_ni || slrd_q || cap_valid_q || rx_valid_o || busy_i ||
                   tx_valid_i || slwr_q || slwr_d;
  assign counts  = !moving && (open_q || partial);
  assign end_due = live_i && open_q &&
                   quiet_q >= ((pos_q != '0) ? 24'(QuietCycles) : 24'(ZlpCycles));
  assign stale   = partial && quiet_q == 24'(StaleCycles);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      quiet_q <= '0;
      open_q  <= 1'b0;
      pos_q   <= '0;
    end else begin
      if (!counts || stale) quiet_q <= '0;
      else if (quiet_q != '1) quiet_q <= quiet_q + 1'b1;
      if (!live_i || pktend_d) open_q <= 1'b0;
      else if (slwr_d) open_q <= 1'b1;
      if (!live_i || pktend_d) pos_q <= '0;
      else if (slwr_d) pos_q <= pos_q + 1'b1;
    end
  end

  assign stale_o = stale;
  assign end_o   = pktend_q;
  assign idle_o  = !counts && (!moving || !live_i) && quiet_q == '0 && state_q == StRead &&
                   !slrd_q && !cap_valid_q && !pktend_q;

  // Never full by the rule for rx_space.
  logic unused;
  assign unused = rx_fifo_ready;
endmodule
