// SPDX-License-Identifier: SHL-2.1
/// Traffic generator: carries out tasks, each of which reads or writes a range of memory by lines.
///
/// A task's registers are its address (a line's first byte), its bytes, its direction and its seed.
/// A write stores the pattern of the seed; the last line may be a part. A read compares each byte
/// with the pattern. A response with a fault has no data; the task's end reports it.
///
///   Handshake   task: valid/ready; done_o is a strobe with the task's tag. A tag is used again
///               only after its done_o. Requests: valid/ready, stable; responses: no ready
///   Ordering    tasks begin in order; their lines go out one a cycle, in order; they end in any
///   Latency     task to its first request 1 cycle; the last response to done_o 0 cycles, to its
///               comparison in wrong_o 2 cycles
///   Throughput  a request and a response a cycle; no cycle between tasks
///   Open        NumTasks tasks, 256 requests
///   Not done    addresses inside a line
module ccix_traffic
  import ccix_pkg::*;
#(
  localparam int unsigned NumTasks = 128
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        task_valid_i,  // task_*: held until task_ready_o
  output logic        task_ready_o,
  input  logic        task_write_i,       // 0: read and compare; 1: write
  input  logic [7:0]  task_tag_i,         // not that of an open task
  input  logic [47:0] task_address_i,     // of a line's first byte, a multiple of 64
  input  logic [16:0] task_bytes_i,       // 1 at least
  input  logic [31:0] task_seed_i,        // of the pattern
  output logic        task_done_o,        // strobe: the task is over
  output logic [7:0]  task_done_tag_o,    // with task_done_o
  output logic        task_done_fault_o,  // a line of it was not accessed
  output logic        req_valid_o,        // req_*: held until req_ready_i
  input  logic        req_ready_i,
  output logic        req_write_o,
  output index_t      req_index_o,  // line: bits 47:6 of its address
  output logic [7:0]  req_tag_o,    // not that of an open request
  output mask_t       req_mask_o,   // of a write: bit n, byte n
  output line_t       req_data_o,
  input  logic        rsp_valid_i,  // rsp_*: one a request, in any order
  input  logic [7:0]  rsp_tag_i,
  input  logic        rsp_fault_i,
  input  line_t       rsp_data_i,
  output logic        wrong_o  // strobe: a line read had a wrong byte
);
  typedef logic [6:0] slot_t;
  typedef struct packed {
    logic        write;
    slot_t       slot;
    index_t      index;
    logic [31:0] seed;
    mask_t       mask;
  } open_t;

  // ---------------------------------------------------------------- the task whose lines go out
  logic busy_q, write_q, last, go, next;
  slot_t slot_q;
  index_t index_q;
  logic [31:0] seed_q;
  logic [16:0] bytes_q;
  logic [7:0] tag_q;
  logic [255:0] open_q;
  mask_t mask;

  assign last         = bytes_q <= 17'(LineBytes);
  assign req_valid_o  = busy_q && !open_q[tag_q];
  assign go           = req_valid_o && req_ready_i;
  assign next         = !busy_q || (go && last);
  assign task_ready_o = next;
  assign mask = last ? mask_t'('1) >> (7'(LineBytes) - bytes_q[6:0]) : '1;
  assign req_write_o  = write_q;
  assign req_index_o  = index_q;
  assign req_tag_o    = tag_q;
  assign req_mask_o   = mask;
  traffic_pattern u_data (.index_i(index_q), .seed_i(seed_q), .line_o(req_data_o));

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      busy_q <= 1'b0;
      tag_q  <= '0;
    end else begin
      if (next) busy_q <= task_valid_i;
      if (go) tag_q <= tag_q + 8'd1;
    end
  end
  always_ff @(posedge clk_i) begin
    if (next) begin
      write_q <= task_write_i;
      slot_q  <= task_tag_i[6:0];
      index_q <= task_address_i[47:6];
      bytes_q <= task_bytes_i;
      seed_q  <= task_seed_i;
    end else if (go) begin
      index_q <= index_q + 1'b1;
      bytes_q <= bytes_q - 17'(LineBytes);
    end
  end

  // ---------------------------------------------------------------- what is open
  open_t info_q [256];
  logic [10:0] left_q [NumTasks];  // lines of a task without a response
  logic [NumTasks-1:0] fault_q;
  logic [16:0] lines;
  open_t rsp;
  assign rsp             = info_q[rsp_tag_i];
  assign lines           = (task_bytes_i + 17'(LineBytes) - 17'd1) >> 6;
  assign task_done_o     = rsp_valid_i && left_q[rsp.slot] == 11'd1;
  assign task_done_tag_o = 8'(rsp.slot);
  assign task_done_fault_o = rsp_fault_i || fault_q[rsp.slot];

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      open_q <= '0;
    end else begin
      if (rsp_valid_i) open_q[rsp_tag_i] <= 1'b0;
      if (go) open_q[tag_q] <= 1'b1;
    end
  end
  always_ff @(posedge clk_i) begin
    if (go) begin
      info_q[tag_q] <= '{write: write_q, slot: slot_q, index: index_q, seed: seed_q, mask: mask};
    end
    if (rsp_valid_i) left_q[rsp.slot] <= left_q[rsp.slot] - 11'd1;
    if (rsp_valid_i && rsp_fault_i) fault_q[rsp.slot] <= 1'b1;
    if (task_valid_i && next) begin
      left_q[task_tag_i[6:0]]  <= lines[10:0];
      fault_q[task_tag_i[6:0]] <= 1'b0;
    end
  end
  prim_assert u_asked_for (
    .clk_i,
    .rst_ni,
    .ok_i(!rsp_valid_i || open_q[rsp_tag_i])
  );

  // ---------------------------------------------------------------- comparison
  logic check_q;
  open_t checked_q;
  line_t data_q, expected;
  logic [LineBytes-1:0] differs;
  traffic_pattern u_expected (
    .index_i(checked_q.index), .seed_i(checked_q.seed), .line_o(expected)
  );
  for (genvar b = 0; b < int'(LineBytes); b++) begin : gen_byte
    assign differs[b] = data_q[b/8][8*(b%8)+:8] != expected[b/8][8*(b%8)+:8];
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      check_q <= 1'b0;
      wrong_o <= 1'b0;
    end else begin
      check_q <= rsp_valid_i && !rsp_fault_i && !rsp.write;
      wrong_o <= check_q && (differs & checked_q.mask) != '0;
    end
  end
  always_ff @(posedge clk_i) begin
    checked_q <= rsp;
    data_q    <= rsp_data_i;
  end

  logic unused;
  assign unused = ^{task_address_i, task_tag_i, lines, checked_q};
endmodule
