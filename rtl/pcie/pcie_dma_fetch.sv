// SPDX-License-Identifier: SHL-2.1
/// Reads a byte ring in host memory as words, several bursts in flight.
///
/// Asks an axi_read_engine for the words up to the tail, or to the ring's end.
///
///   Start       start_i with base_i and last_i (words less one; words are a power of two, 16 or
///               more): position 0
///   Work        up to tail_i (position in words), while run_i; room_i: words that the receiver can
///               accept in addition to those in flight
///   Words       write_o with lanes_o and data_o as in pcie_word_buffer, in order, first_o on the
///               first of a burst; never stalled. Dropped while run_i is low
///   Order       one AXI ID; bursts are issued and answered in order
///   Bursts      within BurstBytes of address, so within 4 KiB, within the ring, 8 bytes a beat;
///               the beat that holds the ring's tail is read completely, and again for the words
///               that follow in it
///   Errors      error_o: a beat was answered with an error; it and all later beats are dropped
///               until start_i
///   Latency     tail_i to arvalid_o 3 clocks; rvalid_i to write_o 0
///   Throughput  a burst every 2 clocks; two words a clock
///   Parameters  BurstBytes power of two 64..512; MaxBursts power of two 2..16 in flight
module pcie_dma_fetch #(
  parameter int unsigned BurstBytes = 256,
  parameter int unsigned MaxBursts  = 8,
  parameter int unsigned RoomW      = 9
) (
  input logic clk_i,
  input logic rst_ni,

  input logic        start_i,
  input logic        run_i,
  input logic [63:6] base_i,
  input logic [21:0] last_i,
  input logic [29:0] tail_i,
  input logic [RoomW-1:0] room_i,

  output logic        write_o,
  output logic [ 1:0] lanes_o,
  output logic [63:0] data_o,
  output logic        first_o,

  output logic              arvalid_o,
  input  logic              arready_i,
  output axi_pkg::address_t ar_o,
  input  logic              rvalid_i,
  output logic              rready_o,
  input  logic [63:0]       rdata_i,
  input  logic [ 1:0]       rresp_i,
  input  logic              rlast_i,

  output logic [29:0] head_o,      // position up to which words have arrived
  output logic        pending_o,   // the tail is not reached
  output logic        burst_o,     // a burst begins
  output logic        error_o,
  output logic        quiet_o,     // nothing in flight
  output logic        idle_o       // nor anything to begin
);
  if (BurstBytes < 64 || BurstBytes > 512 || (BurstBytes & (BurstBytes - 1)) != 0) begin : gen_burst
    $error("pcie_dma_fetch: BurstBytes is %0d, legal are powers of two 64..512", BurstBytes);
  end
  if (MaxBursts < 2 || MaxBursts > 16 || (MaxBursts & (MaxBursts - 1)) != 0) begin : gen_bursts
    $error("pcie_dma_fetch: MaxBursts is %0d, legal are powers of two 2..16", MaxBursts);
  end

  // ---------------------------------------------------------------- commands
  // A command is up to the tail, and ends where the ring's position is a multiple of 1024 words or
  // of the ring: so its length is a short sum. The engine cuts it at addresses.
  localparam int unsigned MostWords = 1024;
  localparam int unsigned WordsW    = $clog2(MostWords) + 1;
  typedef logic [WordsW-1:0] words_t;

  logic [29:0] asked_q;  // position up to which words were asked for
  words_t      words_q;  // from there on; tail_i is before it if behind_q
  logic        behind_q;
  logic        known_q;  // words_q belongs to asked_q
  logic        cmd_valid, cmd_ready, ask, beyond;
  words_t      span;     // of a command at most, less one: ones

  assign span      = words_t'(last_i[WordsW-2:0]);
  assign beyond    = ((tail_i ^ asked_q) & ~30'(span)) != '0;
  assign cmd_valid = run_i && known_q && !behind_q && words_q != '0;
  assign ask       = cmd_valid && cmd_ready;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) known_q <= 1'b0;
    else known_q <= !start_i && !ask;
  end
  always_ff @(posedge clk_i) begin
    // Beyond the span: one more than its ones, which are span's ones and the bit above.
    {behind_q, words_q} <=
        {1'b0, beyond ? {span[WordsW-2:0], 1'b1} & ~span : words_t'(tail_i) & span} -
        {1'b0, words_t'(asked_q) & span};
    if (start_i) asked_q <= '0;
    else if (ask) asked_q <= asked_q + 30'(words_q);
  end

  logic [21:0] at;  // place in the ring
  assign at = asked_q[21:0] & last_i;

  // ---------------------------------------------------------------- bursts
  logic arrive, bad, engine_idle, unused_last, unused_tag;

  axi_read_engine #(
    .DataWidth (64),
    .Granule   (4),
    .BurstBytes(BurstBytes),
    .MaxBytes  (4 * MostWords),
    .MaxBursts (MaxBursts),
    .TagWidth  (1),
    .Reserve   (1'b1),
    .RoomW     (RoomW - 1)
  ) u_engine (
    .clk_i,
    .rst_ni,
    .cmd_valid_i (cmd_valid),
    .cmd_ready_o (cmd_ready),
    .cmd_addr_i  ({base_i + 58'(at[21:4]), at[3:0], 2'b00}),
    .cmd_bytes_i ({words_q, 2'b00}),
    .cmd_tag_i   (1'b0),
    .stop_i      (!run_i),
    .room_i      (room_i[RoomW-1:1]),
    .data_valid_o(arrive),
    .data_ready_i(1'b1),
    .data_o,
    .data_keep_o (lanes_o),
    .data_begin_o(first_o),
    .data_last_o (unused_last),
    .data_error_o(bad),
    .data_tag_o  (unused_tag),
    .arvalid_o,
    .arready_i,
    .ar_o,
    .rvalid_i,
    .rready_o,
    .rdata_i,
    .rresp_i,
    .rlast_i,
    .idle_o      (engine_idle)
  );

  // ---------------------------------------------------------------- words
  logic [29:0] head_q;
  logic        failed_q;
  assign error_o = arrive && bad && run_i && !failed_q;
  assign write_o = arrive && !bad && run_i && !failed_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      head_q   <= '0;
      failed_q <= 1'b0;
    end else if (start_i) begin
      head_q   <= '0;
      failed_q <= 1'b0;
    end else if (arrive) begin
      head_q   <= head_q + 30'(lanes_o[0]) + 30'(lanes_o[1]);
      failed_q <= failed_q || bad;
    end
  end

  assign head_o    = head_q;
  assign pending_o = head_q != tail_i;
  assign burst_o   = arvalid_o && arready_i;
  assign quiet_o   = engine_idle;
  assign idle_o    = engine_idle && known_q && !cmd_valid && !start_i;

  logic unused;
  assign unused = &{1'b0, unused_last, unused_tag, room_i[0]};
endmodule
