// SPDX-License-Identifier: SHL-2.1
/// Reads granted transfers from host memory: AXI bursts out, beats in order.
///
///   Handshake   read_*: valid/ready, one transfer. ar*: valid/ready, stable until taken; one ID. data_*:
///               valid/ready; bad_o with a beat that the bus answered with an error
///   Bursts      INCR of 8-byte beats, at most 256, within 4 KiB; aruser: bytes that still follow in this
///               transfer, this burst's included, so a bridge may fetch them as one transaction
///   Latency     from read_valid_i to arvalid_o 1 cycle, 2 where 4 KiB cut the first burst short; from rvalid_i
///               to coming_o none, to data_valid_o 1; from rearly_i to coming_o none, and until the beat
///   Early       rearly_i comes while a read is under way, with none of its beats at rvalid_i; it promises
///               a beat, be it one of error
///   Throughput  a beat a cycle; a burst every 2 cycles
///   Parameters  Places for beats, a power of two 2..1024: what may come while headers are made
///   Not done    a limit of transfers under way (rdma_tx)
module rdma_read #(
  parameter int unsigned Places = 16
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
  input  logic        rearly_i,       // strobe: the next beat comes within a few cycles

  output logic        data_valid_o,
  input  logic        data_ready_i,
  output logic [63:0] data_o,
  output logic        bad_o,
  output logic        coming_o,       // a beat is taken, or announced: data_valid_o follows
  output logic        issued_o,       // strobe: a transfer's first burst was taken by the bus
  output logic        idle_o
);
  typedef enum logic [1:0] {
    StIdle,
    StSize,
    StIssue
  } state_e;

  localparam logic [9:0] MaxBurst = 10'd256;

  state_e state_q;
  logic [63:12] page_q;  // of the transfer's first beat
  // Beats from that page's begin to the next burst. A transfer reaches into one more page at most.
  logic [9:0] at_q;
  logic [9:0] left_q, to_edge, chunk_d, chunk_q, begin_chunk;
  logic       first_q, begin_fits;

  assign to_edge = 10'd512 - {1'b0, at_q[8:0]};
  always_comb begin
    chunk_d = left_q < MaxBurst ? left_q : MaxBurst;
    if (to_edge < chunk_d) chunk_d = to_edge;
  end

  // A transfer's first burst, where 4 KiB do not cut it.
  assign begin_chunk = read_beats_i < MaxBurst ? read_beats_i : MaxBurst;
  assign begin_fits  = {1'b0, read_addr_i[11:3]} + begin_chunk <= 10'd512;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= StIdle;
    end else begin
      unique case (state_q)
        StIdle:  if (read_valid_i) state_q <= begin_fits ? StIssue : StSize;
        StSize:  state_q <= StIssue;
        default: if (arready_i) state_q <= left_q == chunk_q ? StIdle : StSize;
      endcase
    end
  end
  always_ff @(posedge clk_i) begin
    if (state_q == StIdle) begin
      page_q  <= read_addr_i[63:12];
      at_q    <= {1'b0, read_addr_i[11:3]};
      left_q  <= read_beats_i;
      first_q <= 1'b1;
    end else if (arvalid_o && arready_i) begin
      at_q    <= at_q + chunk_q;
      left_q  <= left_q - chunk_q;
      first_q <= 1'b0;
    end
    if (state_q == StIdle) chunk_q <= begin_chunk;
    else if (state_q == StSize) chunk_q <= chunk_d;
  end

  assign read_ready_o = state_q == StIdle;
  assign arvalid_o    = state_q == StIssue;
  assign araddr_o     = {page_q + 52'(at_q[9]), at_q[8:0], 3'd0};
  assign arlen_o      = 8'(chunk_q - 10'd1);
  assign aruser_o     = {left_q, 3'd0};
  assign issued_o     = arvalid_o && arready_i && first_q;

  fifo #(
    .Width(65),
    .Depth(Places)
  ) u_data (
    .clk_i,
    .rst_ni,
    .clear_i(1'b0),
    .valid_i(rvalid_i),
    .ready_o(rready_o),
    .data_i ({rresp_i != 2'b00, rdata_i}),
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
                    !(read_valid_i && read_ready_o);
  end
  assign coming_o = (rvalid_i && rready_o) || rearly_i || early_q;

  assign idle_o = state_q == StIdle && !read_valid_i && !rvalid_i && !rearly_i &&
                  !(data_valid_o && data_ready_i);
endmodule
