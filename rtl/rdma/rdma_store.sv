// SPDX-License-Identifier: SHL-2.1
/// Payload on its way to host memory: the beats and the pieces that wait, and the writes.
///
/// A packet's beats come ahead of the pieces that say where they go; both wait here until
/// rdma_write, which writes notices too, takes them.
///
///   Handshake   payload_*: valid/ready; a piece's beats come in the order of the pieces. piece_*:
///               valid/ready; a piece is seen by rdma_write in the cycle in which it comes where no
///               other waits. notice_*, answer_*, AXI: as rdma_write
///   Latency     piece_valid_i to awvalid_o as rdma_write; none in between
///   Throughput  a beat a cycle
///   Space       256 beats, so three packets and more; 4 pieces
///   Parameters  none
///   Not done    checks: rdma_receive has made them
module rdma_store
  import rdma_pkg::*;
  import rdma_rx_pkg::*;
(
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        bodies_hold_i,    // no new message's body may be begun
  input  logic        address_hold_i,   // written_addr_o is in use

  input  logic        payload_valid_i,
  output logic        payload_ready_o,
  input  payload_t    payload_i,
  input  logic        piece_valid_i,
  output logic        piece_ready_o,
  input  piece_t      piece_i,
  input  logic        notice_valid_i,
  output logic        notice_ready_o,
  output logic        notice_second_o,
  input  notice_t     notice_i,
  output logic        answer_valid_o,
  input  logic        answer_ready_i,
  output answer_t     answer_o,

  output logic        awvalid_o,
  input  logic        awready_i,
  output burst_t      aw_o,
  output logic        wvalid_o,
  input  logic        wready_i,
  output write_beat_t w_o,
  input  write_answer_t b_i,
  output logic        bready_o,

  output logic        posted_o,         // as rdma_write
  output logic [63:3] written_addr_o,
  output logic        soon_o,
  output logic        write_o,          // strobes
  output logic        error_o,
  output logic        idle_o
);
  logic payload_valid, payload_ready, piece_queued, piece_valid, piece_ready, write_idle;
  payload_t payload;
  piece_t piece_first, piece;

  block_fifo #(
    .Width($bits(payload_t)),
    .Depth(256)
  ) u_payload (
    .clk_i,
    .rst_ni,
    .valid_i(payload_valid_i),
    .ready_o(payload_ready_o),
    .data_i (payload_i),
    .valid_o(payload_valid),
    .ready_i(payload_ready),
    .data_o (payload)
  );

  fifo #(
    .Width($bits(piece_t)),
    .Depth(4)
  ) u_pieces (
    .clk_i,
    .rst_ni,
    .clear_i(1'b0),
    .valid_i(piece_valid_i),
    .ready_o(piece_ready_o),
    .data_i (piece_i),
    .valid_o(piece_queued),
    .ready_i(piece_ready),
    .data_o (piece_first),
    .usage_o()
  );
  // A piece is seen in the cycle in which it comes where no other is; it is not taken before the
  // next.
  assign piece_valid = piece_queued || piece_valid_i;
  assign piece       = piece_queued ? piece_first : piece_i;

  rdma_write u_write (
    .clk_i,
    .rst_ni,
    .bodies_hold_i,
    .address_hold_i,
    .piece_valid_i  (piece_valid),
    .piece_ready_o  (piece_ready),
    .piece_i        (piece),
    .payload_valid_i(payload_valid),
    .payload_ready_o(payload_ready),
    .payload_bad_i  (payload.bad),
    .payload_keep_i (payload.keep),
    .payload_i      (payload.data),
    .notice_valid_i,
    .notice_ready_o,
    .notice_second_o,
    .notice_i,
    .answer_valid_o,
    .answer_ready_i,
    .answer_o,
    .awvalid_o,
    .awready_i,
    .awaddr_o       (aw_o.addr),
    .awlen_o        (aw_o.len),
    .awuser_o       (aw_o.user),
    .wvalid_o,
    .wready_i,
    .wdata_o        (w_o.data),
    .wstrb_o        (w_o.strb),
    .wlast_o        (w_o.last),
    .bvalid_i       (b_i.valid),
    .bready_o,
    .bresp_i        (b_i.resp),
    .posted_o,
    .written_addr_o,
    .soon_o,
    .write_o,
    .error_o,
    .idle_o         (write_idle)
  );

  assign idle_o = write_idle && !payload_valid && !piece_valid;
endmodule
