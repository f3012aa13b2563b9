// SPDX-License-Identifier: SHL-2.1
/// An atomic's change of a word: from the line that a cache has read to the bytes that it writes.
///
///   Handshake   start_i: a strobe with the line. valid_o is held until ready_i, the bytes with it;
///               busy_o from the clock behind start_i to that one. No start while busy
///   Latency     start_i to valid_o 2 cycles
///   Throughput  an atomic in 3 cycles
///   Parameters  LineBytes a power of two, 32..128; NumBits of what names the line
///   Not done    operands in big-endian order
module coherence_atomic
  import coherence_atomic_pkg::*;
#(
  parameter  int unsigned LineBytes = 128,
  parameter  int unsigned NumBits   = 8,
  localparam int unsigned Blocks    = LineBytes / 32
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  input  logic                   start_i,
  input  atomic_t                atomic_i,
  input  logic [NumBits-1:0]     where_i,
  input  logic [255:0]           operand_i,  // the block of 32 bytes that has it
  input  logic [8*LineBytes-1:0] line_i,
  output logic                   busy_o,
  output logic                   valid_o,
  input  logic                   ready_i,
  output logic [NumBits-1:0]     where_o,
  output logic [LineBytes-1:0]   mask_o,
  output logic [8*LineBytes-1:0] data_o
);
  if (LineBytes < 32 || LineBytes > 128 || (LineBytes & (LineBytes - 1)) != 0)
  begin : gen_line_check
    $error("coherence_atomic: LineBytes is %0d, legal is a power of two, 32..128", LineBytes);
  end
  typedef logic [127:0] word_t;

  // ---------------------------------------------------------------- 1: words out of the line
  logic change_q;
  atomic_t atomic_q;
  word_t old_q, operand_q, new_q;  // new: of a compare
  logic [255:0] block;
  logic [4:0] other;
  always_comb begin
    block = '0;
    for (int unsigned k = 0; k < Blocks; k++) begin
      if (32'(atomic_i.offset[6:5]) % Blocks == k) block = block | line_i[256*k+:256];
    end
  end
  assign other = atomic_i.offset[4:0] ^ 5'(32'd1 << atomic_i.size);
  always_ff @(posedge clk_i) begin
    if (start_i) begin
      atomic_q  <= atomic_i;
      where_o   <= where_i;
      old_q     <= word_t'(block >> {atomic_i.offset[4:0], 3'd0});
      operand_q <= word_t'(operand_i >> {atomic_i.offset[4:0], 3'd0});
      new_q     <= word_t'(operand_i >> {other, 3'd0});
    end
  end

  // ---------------------------------------------------------------- 2: the change
  logic [15:0] bytes;
  logic [63:0] a, b;
  logic is_signed, minus_a, minus_b, less, equal;
  word_t result;
  assign is_signed = atomic_q.fn inside {AtomicSmax, AtomicSmin};
  always_comb begin
    bytes = 16'((32'd1 << (32'd1 << atomic_q.size)) - 32'd1);
    unique case (atomic_q.size)
      3'd0:    {minus_a, minus_b} = {old_q[7], operand_q[7]};
      3'd1:    {minus_a, minus_b} = {old_q[15], operand_q[15]};
      3'd2:    {minus_a, minus_b} = {old_q[31], operand_q[31]};
      default: {minus_a, minus_b} = {old_q[63], operand_q[63]};
    endcase
    minus_a = minus_a && is_signed;
    minus_b = minus_b && is_signed;
    equal = 1'b1;
    for (int unsigned i = 0; i < 16; i++) begin
      if (bytes[i] && old_q[8*i+:8] != operand_q[8*i+:8]) equal = 1'b0;
    end
    for (int unsigned i = 0; i < 8; i++) begin
      a[8*i+:8] = bytes[i] ? old_q[8*i+:8] : {8{minus_a}};
      b[8*i+:8] = bytes[i] ? operand_q[8*i+:8] : {8{minus_b}};
    end
    less = $signed({minus_a, a}) < $signed({minus_b, b});
    unique case (atomic_q.fn)
      AtomicAdd:              result = {64'd0, a + b};
      AtomicClear:            result = old_q & ~operand_q;
      AtomicXor:              result = old_q ^ operand_q;
      AtomicSet:              result = old_q | operand_q;
      AtomicSmax, AtomicUmax: result = less ? operand_q : old_q;
      AtomicSmin, AtomicUmin: result = less ? old_q : operand_q;
      AtomicCompare:          result = equal ? new_q : old_q;
      default:                result = operand_q;
    endcase
  end

  // ---------------------------------------------------------------- 3: its bytes
  logic [31:0] mask_q;
  logic [255:0] data_q;
  logic [6:5] block_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      change_q <= 1'b0;
      valid_o  <= 1'b0;
    end else begin
      change_q <= start_i;
      if (change_q) valid_o <= 1'b1;
      else if (ready_i) valid_o <= 1'b0;
    end
  end
  always_ff @(posedge clk_i) begin
    if (change_q) begin
      mask_q  <= 32'(bytes) << atomic_q.offset[4:0];
      data_q  <= 256'(result) << {atomic_q.offset[4:0], 3'd0};
      block_q <= atomic_q.offset[6:5];
    end
  end
  assign busy_o = change_q || valid_o;
  assign data_o = {Blocks{data_q}};
  always_comb begin
    for (int unsigned k = 0; k < Blocks; k++) begin
      mask_o[32*k+:32] = 32'(block_q) % Blocks == k ? mask_q : '0;
    end
  end

  logic unused;
  assign unused = atomic_q.valid;

  prim_assert u_start (.clk_i, .rst_ni, .ok_i(!start_i || !busy_o));
endmodule
