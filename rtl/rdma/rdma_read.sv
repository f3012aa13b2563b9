// SPDX-License-Identifier: SHL-2.1
/// Reads granted transfers from host memory: AXI bursts out, beats in order.
///
///   Handshake   read_*: valid/ready, one transfer. ar*: valid/ready, stable until taken; one ID.
///               data_*: valid/ready; bad_o with a beat that the bus answered with an error
///   Bursts      of axi_read_engine: INCR of 8-byte beats, ending at multiples of 2 KiB; aruser:
///               bytes that still follow in this transfer, this burst's included, so a bridge may
///               fetch them as one transaction
///   Latency     from read_valid_i to arvalid_o 1 cycle; from rvalid_i to coming_o none, to
///               data_valid_o 1; from rearly_i to coming_o none, and until the beat
///   Early       rearly_i comes while a read is under way, with none of its beats at rvalid_i; it
///               promises a beat, be it one of error
///   Throughput  a beat a cycle; a burst every cycle, a transfer's first every 2
///   Parameters  Places for beats, a power of two 2..1024: what may come while headers are made.
///               Transfers 1..4 that are under way at most
///   Not done    a limit of transfers under way (rdma_tx)
module rdma_read #(
  parameter int unsigned Places    = 16,
  parameter int unsigned Transfers = 4
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        read_valid_i,
  output logic        read_ready_o,
  input  logic [63:3] read_addr_i,
  input  logic [9:0]  read_beats_i,   // 1..512

  output logic        arvalid_o,
  input  logic        arready_i,
  output logic [63:0] araddr_o,
  output logic [7:0]  arlen_o,
  output logic [12:0] aruser_o,
  input  logic        rvalid_i,
  output logic        rready_o,
  input  logic [63:0] rdata_i,
  input  logic [1:0]  rresp_i,
  input  logic        rlast_i,
  input  logic        rearly_i,       // strobe: the next beat comes within a few cycles

  output logic        data_valid_o,
  input  logic        data_ready_i,
  output logic [63:0] data_o,
  output logic        bad_o,
  output logic        coming_o,       // a beat is taken, or announced: data_valid_o follows
  output logic        issued_o,       // strobe: a transfer's first burst was taken by the bus
  output logic        idle_o
);
  if (Transfers < 1 || Transfers > 4) begin : gen_transfers_check
    $error("rdma_read: Transfers is %0d, legal is 1..4", Transfers);
  end

  // A transfer of 4 KiB has three bursts, where it begins inside a window.
  localparam int unsigned MaxBursts = 1 << $clog2(3 * Transfers);

  logic take, step, all_asked, busy_q, first_q, beat_valid, beat_ready, beat_bad;
  logic [63:0] beat;
  logic [9:0]  left_q;  // beats of the transfer that no burst had
  axi_pkg::address_t ar;

  axi_read_engine #(
    .DataWidth (64),
    .Granule   (8),
    .BurstBytes(2048),
    .MaxBytes  (4096),
    .MaxBursts (MaxBursts),
    .TagWidth  (1)
  ) u_engine (
    .clk_i,
    .rst_ni,
    .cmd_valid_i (take),
    .cmd_ready_o (all_asked),
    .cmd_addr_i  ({read_addr_i, 3'd0}),
    .cmd_bytes_i ({read_beats_i, 3'd0}),
    .cmd_tag_i   (1'b0),
    .stop_i      (1'b0),
    .room_i      ('0),
    .data_valid_o(beat_valid),
    .data_ready_i(beat_ready),
    .data_o      (beat),
    .data_keep_o (),
    .data_begin_o(),
    .data_last_o (),
    .data_error_o(beat_bad),
    .data_tag_o  (),
    .arvalid_o,
    .arready_i,
    .ar_o        (ar),
    .rvalid_i,
    .rready_o,
    .rdata_i,
    .rresp_i,
    .rlast_i,
    .idle_o      ()
  );

  assign take = read_valid_i && read_ready_o;
  assign step = arvalid_o && arready_i;

  // A cycle later than the engine would take it: so no path leads from arready_i to a grant.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) busy_q <= 1'b0;
    else if (take) busy_q <= 1'b1;
    else if (step && all_asked) busy_q <= 1'b0;
  end
  always_ff @(posedge clk_i) begin
    if (take) begin
      first_q <= 1'b1;
      left_q  <= read_beats_i;
    end else if (step) begin
      first_q <= 1'b0;
      left_q  <= left_q - 10'(ar.len) - 10'd1;
    end
  end

  assign read_ready_o = !busy_q;
  assign araddr_o     = ar.addr;
  assign arlen_o      = ar.len;
  assign aruser_o     = {left_q, 3'd0};
  assign issued_o     = step && first_q;

  fifo #(
    .Width(65),
    .Depth(Places)
  ) u_data (
    .clk_i,
    .rst_ni,
    .clear_i(1'b0),
    .valid_i(beat_valid),
    .ready_o(beat_ready),
    .data_i ({beat_bad, beat}),
    .valid_o(data_valid_o),
    .ready_i(data_ready_i),
    .data_o ({bad_o, data_o}),
    .usage_o()
  );

  // The bus's announcement ends with the beat, or with a new transfer: then it had no beat.
  logic early_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) early_q <= 1'b0;
    else early_q <= (early_q || rearly_i) && !(rvalid_i && rready_o) &&
                    !take;
  end
  assign coming_o = (rvalid_i && rready_o) || rearly_i || early_q;

  assign idle_o = !busy_q && !read_valid_i && !rvalid_i && !rearly_i &&
                  !(data_valid_o && data_ready_i);

  logic unused;
  assign unused = &{1'b0, ar.size, ar.burst};
endmodule
