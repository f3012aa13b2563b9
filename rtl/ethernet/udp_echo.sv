// SPDX-License-Identifier: SHL-2.1
/// UDP service that sends every good datagram back to its sender.
///
/// Payload is stored while it comes and its sum formed, so a reply is ready with the verdict:
/// nothing goes over it a second time.
///
///   Handshake   that of a UDP service (docs/explanation/architecture.md). full_o is a level: a
///               datagram that starts then is not answered, lost_o strobes; rx_refuse_i of the
///               stack may be driven by it instead. A datagram has up to 369 words, good or bad
///   Ordering    replies in the order of requests; bad and broadcast datagrams get none
///   Latency     rx_end_i to tx_valid_o 1 cycle; the preamble begins before, at tx_soon_o. With
///               gige_udp 4 cycles from the last byte of a frame to the first one of the preamble,
///               12 to the first one of the reply's header (asserted: tests/unit/ethernet)
///   Throughput  line rate, minimum frames back to back
///   Safety      no word is stored on one of a reply that waits; a reply has all words of its
///               datagram, or there is none           (proved: formal/ethernet/udp_echo.sby)
///   Parameters  Depth of the payload memory in words, a power of two 512..4096; Pending replies, a
///               power of two 2..64
///   Not done    changing payload
module udp_echo
  import eth_pkg::*;
#(
  parameter int unsigned Depth   = 1024,
  parameter int unsigned Pending = 16
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        rx_start_i,      // strobe: a datagram begins
  input  udp_meta_t   rx_meta_i,       // with it: its sender and length
  input  logic        rx_broadcast_i,  // with it: no reply
  input  logic        rx_valid_i,      // a word of payload, never stalled
  input  logic [31:0] rx_data_i,       // the first byte is the highest
  input  logic        rx_end_i,
  input  logic        rx_good_i,  // with rx_end_i: all checks hold
  input  logic        rx_soon_i,  // strobe: a good rx_end_i is due in 2 cycles
  output logic        full_o,
  output logic        lost_o,
  output logic        tx_valid_o,
  input  logic        tx_ready_i,  // tx_meta_o and tx_sum_o are held until then
  output udp_meta_t   tx_meta_o,   // the sender that gets its datagram back
  output logic [15:0] tx_sum_o,    // one's-complement sum of the payload
  output logic [31:0] tx_data_o,   // the next word of it, shown ahead
  input  logic        tx_next_i,   // strobe: show the next one
  output logic        tx_soon_o,
  output logic        idle_o  // nothing changes until an input does
);
  localparam int unsigned AddrW    = $clog2(Depth);
  // Of a frame of 1518 bytes behind its headers. A good datagram has 368; of one whose length says
  // more the FCS is pushed too, before the verdict.
  localparam int unsigned MaxWords = 369;
  localparam int unsigned SumW     = 16 + $clog2(2 * MaxWords) + 1;

  if (Depth < 512 || Depth > 4096 || (Depth & (Depth - 1)) != 0) begin : gen_depth_check
    $error("udp_echo: Depth is %0d, legal is a power of two 512..4096", Depth);
  end

  logic open_q, whole, push, metas_ready;
  logic [AddrW:0] write_q, keep_q, read_q;  // one bit more than an address
  udp_meta_t meta_q;
  logic [15:0] left_q;                      // bytes that no word has brought
  logic [31:0] kept;
  logic [SumW-1:0] sum_q;
  logic [16:0] fold_q;
  logic [15:0] sum;

  assign full_o = 32'(Depth) - 32'((AddrW + 1)'(write_q - read_q)) < 32'(MaxWords) || !metas_ready;
  assign lost_o = rx_start_i && full_o;
  assign whole  = rx_start_i && !full_o && !rx_broadcast_i;
  assign push   = open_q && rx_end_i && rx_good_i;
  assign tx_soon_o = open_q && rx_soon_i;

  // A last word is filled up with what follows the payload.
  always_comb begin
    unique case (left_q)
      16'd1:   kept = {rx_data_i[31:24], 24'd0};
      16'd2:   kept = {rx_data_i[31:16], 16'd0};
      16'd3:   kept = {rx_data_i[31:8], 8'd0};
      default: kept = rx_data_i;
    endcase
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      open_q  <= 1'b0;
      write_q <= '0;
      keep_q  <= '0;
      read_q  <= '0;
    end else begin
      if (rx_start_i) open_q <= whole;
      else if (rx_end_i) open_q <= 1'b0;
      if (open_q && rx_end_i) begin
        if (rx_good_i) keep_q <= write_q;
        else write_q <= keep_q;
      end else if (open_q && rx_valid_i) begin
        write_q <= write_q + 1'b1;
      end
      if (tx_next_i) read_q <= read_q + 1'b1;
    end
  end

  // The sum of at most 738 halves, folded twice: rx_end_i comes two cycles behind the last word at
  // the earliest, for the FCS is between them.
  assign sum = fold_q[15:0] + 16'(fold_q[16]);
  always_ff @(posedge clk_i) begin
    if (rx_start_i) begin
      meta_q <= rx_meta_i;
      left_q <= rx_meta_i.len;
      sum_q  <= '0;
    end else if (rx_valid_i) begin
      left_q <= left_q - 16'd4;
      sum_q  <= sum_q + SumW'(kept[31:16]) + SumW'(kept[15:0]);
    end
    fold_q <= 17'(sum_q[15:0]) + 17'(sum_q[SumW-1:16]);
  end

  ram_1r1w #(
    .Width  (32),
    .Depth  (Depth),
    .ReadOld(1'b0)
  ) u_words (
    .clk_i,
    .we_i   (open_q && rx_valid_i),
    .waddr_i(write_q[AddrW-1:0]),
    .wdata_i(rx_data_i),
    .re_i   (1'b1),
    .raddr_i(read_q[AddrW-1:0] + AddrW'(tx_next_i)),
    .rdata_o(tx_data_o)
  );

  fifo #(
    .Width($bits(udp_meta_t) + 16),
    .Depth(Pending)
  ) u_metas (
    .clk_i,
    .rst_ni,
    .clear_i(1'b0),
    .valid_i(push),
    .ready_o(metas_ready),
    .data_i ({meta_q, sum}),
    .valid_o(tx_valid_o),
    .ready_i(tx_ready_i),
    .data_o ({tx_meta_o, tx_sum_o}),
    .usage_o()
  );

  assign idle_o = !open_q && !tx_valid_o && read_q == keep_q;
endmodule
