// SPDX-License-Identifier: SHL-2.1
/// Operations of a cache's core between acceptance and decision, which they reach in their order.
///
///   Contract    take_i sends the operation shown into the pipeline; done_i says that the oldest of
///               those is decided, again_i that it must wait: it is shown again, and then those
///               behind it. The caller drops what it has taken behind the one that waits, and what
///               it takes in the cycle of again_i
///   Handshake   core: valid/ready; core_ready_o and valid_o depend on no input
///   Latency     core_valid_i to valid_o 1 cycle
///   Throughput  an operation a cycle
///   Parameters  Bytes of a line, 1..128; Pending a power of two: places, for the stages of the
///               pipeline and one more; Atomics 0: atomic_o is never valid
///   Not done    reordering: an operation that waits holds all behind it
module coherence_cache_window
  import coherence_pkg::*;
#(
  parameter int unsigned Bytes   = LineBytes,
  parameter int unsigned Pending = 4,
  parameter bit          Atomics = 1'b0
) (
  input  logic               clk_i,
  input  logic               rst_ni,
  input  logic               core_valid_i,
  output logic               core_ready_o,
  input  core_e              core_op_i,
  input  index_t             core_index_i,
  input  logic [7:0]         core_tag_i,
  input  logic [Bytes-1:0]   core_mask_i,
  input  logic [8*Bytes-1:0] core_data_i,
  input  coherence_atomic_pkg::atomic_t core_atomic_i,
  output logic               valid_o,
  output core_e              op_o,
  output index_t             index_o,
  output logic [7:0]         tag_o,
  output logic [Bytes-1:0]   mask_o,
  output logic [8*Bytes-1:0] data_o,
  output coherence_atomic_pkg::atomic_t atomic_o,
  input  logic               take_i,
  input  logic               done_i,
  input  logic               again_i
);
  if (Pending < 2 || (Pending & (Pending - 1)) != 0) begin : gen_pending_check
    $error("coherence_cache_window: Pending is %0d, legal is a power of two from 2 on", Pending);
  end
  localparam int unsigned PendWidth = $clog2(Pending);
  typedef logic [PendWidth:0] pend_t;
  typedef struct packed {
    core_e              op;
    index_t             index;
    logic [7:0]         tag;
    logic [Bytes-1:0]   mask;
    logic [8*Bytes-1:0] data;
  } operation_t;
  operation_t pend_q [Pending];
  pend_t wptr_q, iptr_q, cptr_q;  // written, next into the pipeline, oldest that is not decided
  assign core_ready_o = wptr_q - cptr_q != pend_t'(Pending);
  assign valid_o      = iptr_q != wptr_q;
  assign {op_o, index_o, tag_o, mask_o, data_o} = pend_q[iptr_q[PendWidth-1:0]];
  always_ff @(posedge clk_i) begin
    if (core_valid_i && core_ready_o) begin
      pend_q[wptr_q[PendWidth-1:0]] <= '{op: core_op_i, index: core_index_i, tag: core_tag_i,
                                         mask: core_mask_i, data: core_data_i};
    end
  end
  if (Atomics) begin : gen_atomics
    coherence_atomic_pkg::atomic_t atomic_q [Pending];
    assign atomic_o = atomic_q[iptr_q[PendWidth-1:0]];
    always_ff @(posedge clk_i) begin
      if (core_valid_i && core_ready_o) atomic_q[wptr_q[PendWidth-1:0]] <= core_atomic_i;
    end
  end else begin : gen_none
    assign atomic_o = '0;
    logic unused;
    assign unused = ^core_atomic_i;
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      wptr_q <= '0;
      iptr_q <= '0;
      cptr_q <= '0;
    end else begin
      if (core_valid_i && core_ready_o) wptr_q <= wptr_q + 1'b1;
      if (done_i) cptr_q <= cptr_q + 1'b1;
      if (again_i) iptr_q <= cptr_q;
      else if (take_i) iptr_q <= iptr_q + 1'b1;
    end
  end
endmodule
