// SPDX-License-Identifier: SHL-2.1
/// Reads a byte ring in host memory as words, several bursts in flight.
///
///   Start       start_i with base_i and size_i (words, a power of two, 16 or more): position 0
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
///   Throughput  a burst every 4 clocks; two words a clock
///   Parameters  BurstBytes power of two 64..512; MaxBursts power of two 2..16 in flight
module pcie_dma_fetch #(
  parameter  int unsigned BurstBytes = 256,
  parameter  int unsigned MaxBursts  = 8,
  parameter  int unsigned RoomW      = 9,
  localparam int unsigned BurstW     = $clog2(BurstBytes / 4) + 1
) (
  input logic clk_i,
  input logic rst_ni,

  input logic        start_i,
  input logic        run_i,
  input logic [63:6] base_i,
  input logic [22:0] size_i,
  input logic [29:0] tail_i,
  input logic [RoomW-1:0] room_i,

  output logic        write_o,
  output logic [ 1:0] lanes_o,
  output logic [63:0] data_o,
  output logic        first_o,

  output logic        arvalid_o,
  input  logic        arready_i,
  output logic [63:0] araddr_o,
  output logic [ 7:0] arlen_o,
  input  logic        rvalid_i,
  output logic        rready_o,
  input  logic [63:0] rdata_i,
  input  logic [ 1:0] rresp_i,
  input  logic        rlast_i,

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

  typedef enum logic [1:0] {
    StSettle,  // the remaining count is being registered
    StSize,    // the burst's length is
    StFit,     // until there is room for it
    StIssue
  } state_e;

  typedef logic [BurstW-1:0] words_t;  // of a burst
  localparam words_t BurstWords = words_t'(BurstBytes / 4);

  state_e state_q;
  logic [63:2] addr_q;       // of the next burst
  logic [29:0] fetch_q;      // its position
  logic [22:0] ring_left_q;  // words from there to the ring's end
  logic [29:0] head_q;
  logic [29:0] left_q;       // words to the tail
  words_t chunk_q, len_q;    // to the next boundary; of the burst
  logic [RoomW-1:0] in_flight_q;
  logic issue, last, ends_odd_in, ends_odd, ends_ready, unused_valid, arrive;
  logic failed_q, first_q;

  // ---------------------------------------------------------------- requests
  words_t to_edge, to_end;
  assign to_edge = BurstWords - {1'b0, addr_q[BurstW:2]};
  assign to_end  = ring_left_q > 23'(BurstWords) ? BurstWords : ring_left_q[BurstW-1:0];
  assign issue   = arvalid_o && arready_i;

  words_t len_d;
  logic fits;
  assign len_d = left_q > 30'(chunk_q) ? chunk_q : left_q[BurstW-1:0];
  // Words in flight keep their reserved space.
  assign fits  = (RoomW + 1)'(room_i) >= (RoomW + 1)'(in_flight_q) + (RoomW + 1)'(len_q);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= StSettle;
    end else begin
      unique case (state_q)
        StSettle: state_q <= StSize;
        StSize:   if (run_i && len_d != '0) state_q <= StFit;
        StFit: begin
          if (!run_i) state_q <= StSettle;
          else if (fits && ends_ready) state_q <= StIssue;
        end
        default:  if (issue) state_q <= StSettle;
      endcase
      if (start_i) state_q <= StSettle;
    end
  end

  always_ff @(posedge clk_i) begin
    left_q  <= tail_i - fetch_q;
    chunk_q <= to_edge < to_end ? to_edge : to_end;
    if (state_q == StSize) len_q <= len_d;
    if (start_i) begin
      addr_q      <= {base_i, 4'd0};
      fetch_q     <= '0;
      ring_left_q <= size_i;
    end else if (issue) begin
      fetch_q <= fetch_q + 30'(len_q);
      if (ring_left_q == 23'(len_q)) begin
        addr_q      <= {base_i, 4'd0};
        ring_left_q <= size_i;
      end else begin
        addr_q      <= addr_q + 62'(len_q);
        ring_left_q <= ring_left_q - 23'(len_q);
      end
    end
  end

  words_t beats;  // and one word before the first, where the burst begins in the middle of a beat
  assign beats     = words_t'(({1'b0, len_q} + (BurstW + 1)'(addr_q[2]) + (BurstW + 1)'(1)) >> 1);
  assign arvalid_o = state_q == StIssue;
  assign araddr_o  = {addr_q[63:3], 3'd0};
  assign arlen_o   = 8'(beats) - 8'd1;
  assign burst_o   = issue;

  // ---------------------------------------------------------------- answers
  // A burst that ends in the middle of a beat: its upper word is not yet written by the host.
  assign ends_odd_in = addr_q[2] ^ len_q[0];
  fifo #(
    .Width(1),
    .Depth(MaxBursts)
  ) u_ends (
    .clk_i,
    .rst_ni,
    .clear_i(1'b0),
    .valid_i(issue),
    .ready_o(ends_ready),
    .data_i (ends_odd_in),
    .valid_o(unused_valid),
    .ready_i(arrive && rlast_i),
    .data_o (ends_odd),
    .usage_o()
  );

  assign rready_o = 1'b1;
  assign arrive   = rvalid_i;
  assign last     = arrive && rlast_i;
  assign error_o  = arrive && rresp_i != 2'b00 && run_i && !failed_q;
  assign lanes_o  = {!(rlast_i && ends_odd), !(first_q && head_q[0])};
  assign data_o   = rdata_i;
  assign first_o  = first_q;
  assign write_o  = arrive && run_i && !failed_q && rresp_i == 2'b00;

  logic [RoomW-1:0] came, went;
  logic [1:0] beat_words;
  assign beat_words = 2'(lanes_o[0]) + 2'(lanes_o[1]);
  assign came = RoomW'(arrive ? beat_words : 2'd0);
  assign went = issue ? RoomW'(len_q) : '0;

  logic [$clog2(MaxBursts):0] bursts_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      bursts_q    <= '0;
      in_flight_q <= '0;
      head_q      <= '0;
      first_q     <= 1'b1;
      failed_q    <= 1'b0;
    end else begin
      bursts_q    <= bursts_q + ($bits(bursts_q))'(issue) - ($bits(bursts_q))'(last);
      in_flight_q <= in_flight_q + went - came;
      if (arrive) first_q <= rlast_i;
      if (start_i) begin
        head_q   <= '0;
        failed_q <= 1'b0;
      end else begin
        head_q   <= head_q + 30'(came);
        failed_q <= failed_q || (arrive && (rresp_i != 2'b00));
      end
    end
  end

  assign head_o    = head_q;
  assign pending_o = head_q != tail_i;
  assign quiet_o   = bursts_q == '0 && !arvalid_o;
  assign idle_o    = quiet_o && state_q == StSize && (!run_i || left_q == '0) && !start_i;
endmodule
