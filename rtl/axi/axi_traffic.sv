// SPDX-License-Identifier: SHL-2.1
/// A traffic generator: tasks of physical addresses in, an AXI master's bursts out. What is read is
/// compared with the pattern of the task's seed, which is what is written.
///
///   Handshake   task: valid/ready; done_o is a strobe with the task's tag. A read is done when its
///               last beat is here, a write when all its bursts are answered
///   Ordering    tasks in order; reads end in order, writes end in order
///   Bursts      of 512 bits, up to a page
///   Latency     task to arvalid_o 1 cycle, to awvalid_o 2
///   Throughput  a beat a cycle
///   Parameters  Overlap 1: up to 16 tasks under way, 0: one
///   Errors      error_o: memory refused an access; wrong_o: 64 bytes read had a wrong byte
///   Not done    addresses inside 64 bytes
module axi_traffic #(
  parameter bit Overlap = 1'b1
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        task_valid_i,  // task_*: held until task_ready_o
  output logic        task_ready_o,
  input  logic        task_write_i,    // 0: read and compare; 1: write
  input  logic [7:0]  task_tag_i,      // comes back in task_done_tag_o
  input  logic [47:0] task_address_i,  // of a byte, a multiple of 64
  input  logic [16:0] task_bytes_i,    // 1..65536
  input  logic [31:0] task_seed_i,     // of the pattern
  output logic        task_done_o,     // strobe: the task is over
  output logic [7:0]  task_done_tag_o,
  output logic              awvalid_o,
  input  logic              awready_i,  // awvalid_o and aw_o are held until then
  output axi_pkg::address_t aw_o,       // INCR, 64 bytes a beat, inside 4 KiB
  output logic              wvalid_o,   // data, held until wready_i
  input  logic              wready_i,   // takes the beat
  output logic [511:0]      wdata_o,    // byte n in bits 8n+7:8n
  output logic [63:0]       wstrb_o,    // bit n: byte n is written
  output logic              wlast_o,    // the last beat of its burst
  input  logic              bvalid_i,   // one answer a burst, in order
  output logic              bready_o,   // takes the answer
  input  logic [1:0]        bresp_i,    // 2, 3 set error_o
  output logic              arvalid_o,
  input  logic              arready_i,  // arvalid_o and ar_o are held until then
  output axi_pkg::address_t ar_o,       // INCR, 64 bytes a beat, inside 4 KiB
  input  logic              rvalid_i,   // a beat, held until rready_o
  output logic              rready_o,   // takes the beat
  input  logic [511:0]      rdata_i,    // byte n in bits 8n+7:8n
  input  logic [1:0]        rresp_i,    // 2, 3 set error_o
  input  logic              rlast_i,    // the last beat of its burst
  output logic              wrong_o,
  output logic              error_o
);
  localparam int unsigned LineBytes = 64;
  typedef logic [41:0] index_t;  // of 64 bytes
  typedef logic [7:0][63:0] line_t;
  typedef logic [LineBytes-1:0] mask_t;
  typedef struct packed {
    logic [7:0]  tag;
    index_t      index;
    logic [16:0] bytes;
    logic [31:0] seed;
  } descriptor_t;

  // ---------------------------------------------------------------- descriptors
  descriptor_t given;
  logic [4:0] under_way_q;
  logic take, room, ask_ready, check_ready, fill_ready, command_ready;
  assign given = '{tag: task_tag_i, index: task_address_i[47:6], bytes: task_bytes_i,
                   seed: task_seed_i};
  assign room  = Overlap ? under_way_q < 5'd16 : under_way_q == '0;
  assign task_ready_o = room && (task_write_i ? fill_ready && command_ready
                                              : ask_ready && check_ready);
  assign take = task_valid_i && task_ready_o;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) under_way_q <= '0;
    else under_way_q <= under_way_q + 5'(take) - 5'(task_done_o);
  end

  // ---------------------------------------------------------------- reads
  typedef struct packed {
    index_t      index;
    logic [31:0] seed;
  } pattern_t;
  pattern_t read;
  logic reads, came, beat, last, bad, read_done, write_done, done_error, read_idle, begins;
  logic [9:0] at_q;  // line of the read
  logic [7:0] read_tag;
  mask_t keep;
  line_t came_line;
  fifo #(.Width($bits(pattern_t)), .Depth(16)) u_read (
    .clk_i, .rst_ni, .clear_i(1'b0), .valid_i(take && !task_write_i), .ready_o(check_ready),
    .data_i({given.index, given.seed}), .valid_o(reads), .ready_i(read_done), .data_o(read),
    .usage_o()
  );
  axi_read_engine #(
    .DataWidth(512), .BurstBytes(4096), .MaxBytes(65536), .MaxBursts(64), .TagWidth(8)
  ) u_engine (
    .clk_i, .rst_ni,
    .cmd_valid_i(task_valid_i && !task_write_i && room && check_ready),
    .cmd_ready_o(ask_ready), .cmd_addr_i(64'(given.index) << 6), .cmd_bytes_i(task_bytes_i),
    .cmd_tag_i(task_tag_i), .stop_i(1'b0), .room_i('0), .data_valid_o(came),
    .data_ready_i(!write_done),  // one end a cycle
    .data_o(came_line), .data_keep_o(keep), .data_begin_o(begins), .data_last_o(last),
    .data_error_o(bad), .data_tag_o(read_tag), .arvalid_o, .arready_i, .ar_o, .rvalid_i, .rready_o,
    .rdata_i, .rresp_i, .rlast_i, .idle_o(read_idle)
  );
  assign beat      = came && !write_done;
  assign read_done = beat && last;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) at_q <= '0;
    else if (beat) at_q <= last ? '0 : at_q + 10'd1;
  end

  logic check_q;
  index_t checked_q;
  logic [31:0] seed_q;
  mask_t mask_q, differs;
  line_t data_q, expected;
  traffic_pattern u_expected (.index_i(checked_q), .seed_i(seed_q), .line_o(expected));
  for (genvar b = 0; b < int'(LineBytes); b++) begin : gen_byte
    assign differs[b] = data_q[b/8][8*(b%8)+:8] != expected[b/8][8*(b%8)+:8];
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      check_q <= 1'b0;
      wrong_o <= 1'b0;
      error_o <= 1'b0;
    end else begin
      check_q <= beat;
      wrong_o <= check_q && (differs & mask_q) != '0;
      error_o <= error_o || (beat && bad) || (write_done && done_error);
    end
  end
  always_ff @(posedge clk_i) begin
    checked_q <= read.index + index_t'(at_q);
    seed_q    <= read.seed;
    data_q    <= came_line;
    mask_q    <= keep;
  end

  // ---------------------------------------------------------------- writes
  descriptor_t fill;
  logic fills, fill_done, data_ready, idle;
  logic [9:0] filled_q;
  logic [16:0] fill_left;
  line_t data;
  logic [7:0] write_tag;
  fifo #(.Width($bits(descriptor_t)), .Depth(16)) u_fill (
    .clk_i, .rst_ni, .clear_i(1'b0), .valid_i(take && task_write_i), .ready_o(fill_ready),
    .data_i(given), .valid_o(fills), .ready_i(fill_done), .data_o(fill), .usage_o()
  );
  assign fill_left = fill.bytes - (17'(filled_q) << 6);
  assign fill_done = fills && data_ready && fill_left <= 17'(LineBytes);
  traffic_pattern u_data (
    .index_i(fill.index + index_t'(filled_q)), .seed_i(fill.seed), .line_o(data)
  );
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) filled_q <= '0;
    else if (fills && data_ready) filled_q <= fill_done ? '0 : filled_q + 10'd1;
  end
  axi_write_engine #(
    .DataWidth(512), .BurstBytes(4096), .MaxBytes(65536), .MaxBursts(8), .TagWidth(8)
  ) u_write (
    .clk_i, .rst_ni,
    .cmd_valid_i(task_valid_i && task_write_i && room && fill_ready),
    .cmd_ready_o(command_ready), .cmd_addr_i(64'(given.index) << 6), .cmd_bytes_i(task_bytes_i),
    .cmd_tag_i(task_tag_i), .data_valid_i(fills), .data_ready_o(data_ready), .data_keep_i(1'b1),
    .data_i(data), .done_valid_o(write_done), .done_tag_o(write_tag), .done_error_o(done_error),
    .awvalid_o, .awready_i, .aw_o, .wvalid_o, .wready_i, .wdata_o, .wstrb_o, .wlast_o, .bvalid_i,
    .bready_o, .bresp_i, .idle_o(idle)
  );

  assign task_done_o     = read_done || write_done;
  assign task_done_tag_o = write_done ? write_tag : read_tag;

  logic unused;
  assign unused = ^{task_address_i, idle, read_idle, reads, begins, fill};
endmodule
