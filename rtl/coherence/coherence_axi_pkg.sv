// SPDX-License-Identifier: SHL-2.1
/// A burst of AXI4, beat by beat, and what of AXI5's atomics is legal.
// verilator lint_off UNUSEDPARAM
package coherence_axi_pkg;
  import coherence_atomic_pkg::*;

  localparam logic [1:0] RespOkay   = 2'b00;
  localparam logic [1:0] RespSlave  = 2'b10;
  localparam logic [1:0] RespDecode = 2'b11;
  localparam logic [1:0] BurstIncr  = 2'b01;
  localparam logic [1:0] BurstWrap  = 2'b10;
  localparam logic [1:0] BurstNone  = 2'b11;  // reserved

  typedef logic [11:0] offset_t;  // of a byte in its 4 KiB, which no burst leaves

  /// A burst from one of its beats on.
  typedef struct packed {
    offset_t    at;    // the beat's first byte
    offset_t    span;  // the bits of `at` in which the next beat may differ
    logic [2:0] size;  // logarithm of a beat's bytes
    logic [7:0] left;  // beats behind this one
  } walk_t;

  function automatic walk_t walk_of(axi_pkg::address_t address);
    offset_t span;
    unique case (address.burst)
      BurstIncr: span = '1;
      BurstWrap: span = offset_t'(((32'(address.len) + 32'd1) << address.size) - 32'd1);
      default:   span = '0;
    endcase
    return '{at: address.addr[11:0], span: span, size: address.size, left: address.len};
  endfunction

  /// The first byte of the next beat.
  function automatic offset_t after(offset_t at, offset_t span, logic [2:0] size);
    offset_t low, sum;
    low = offset_t'((32'd1 << size) - 32'd1);
    sum = (at | low) + offset_t'(1);
    return (at & ~span) | (sum & span);
  endfunction

  function automatic walk_t next_of(walk_t now);
    return '{at: after(now.at, now.span, now.size), span: now.span, size: now.size,
             left: now.left - 8'd1};
  endfunction

  /// The beat is the last of its burst in its line of 2^line_log2 bytes.
  function automatic logic ends_line(walk_t now, int unsigned line_log2);
    offset_t then;
    then = after(now.at, now.span, now.size);
    return now.left == '0 || (then >> line_log2) != (now.at >> line_log2);
  endfunction

  /// AXI4 has no such burst, or it is wider than the bus of 2^bus_log2 bytes.
  function automatic logic illegal(axi_pkg::address_t address, int unsigned bus_log2);
    logic aligned;
    aligned = (address.addr[6:0] & 7'((32'd1 << address.size) - 32'd1)) == '0;
    return 32'(address.size) > bus_log2 || address.burst == BurstNone ||
           (address.burst == BurstWrap &&
            !(aligned && address.len inside {8'd1, 8'd3, 8'd7, 8'd15}));
  endfunction

  /// AWATOP as AXI5 has it: the change, `valid` where it is legal; its word and its order of bytes
  /// little-endian.
  function automatic atomic_t atomic_of(axi_pkg::address_t address, logic [5:0] atop);
    atomic_t    made;
    logic [3:0] log2;  // of the bytes of its data
    logic       aligned, whole, held;
    unique case (address.len)
      8'd0:    {whole, log2} = {1'b1, 4'(address.size)};
      8'd1:    {whole, log2} = {1'b1, 4'(address.size) + 4'd1};
      8'd3:    {whole, log2} = {1'b1, 4'(address.size) + 4'd2};
      default: {whole, log2} = {1'b0, 4'd0};
    endcase
    made = '{valid: 1'b0, fn: atomic_fn_e'({1'b0, atop[2:0]}), size: log2[2:0],
             offset: address.addr[6:0]};
    if (atop[5:4] inside {2'b01, 2'b10}) begin
      made.valid = whole && address.len == '0 && log2 <= 4'd3 && !atop[3];
    end else if (atop == 6'b110000) begin
      made.fn    = AtomicSwap;
      made.valid = whole && address.len == '0 && log2 <= 4'd3;
    end else if (atop == 6'b110001) begin
      made.fn    = AtomicCompare;
      made.size  = log2[2:0] - 3'd1;
      made.valid = whole && log2 inside {4'd1, 4'd2, 4'd3, 4'd4, 4'd5};
    end
    // Several beats stay in the aligned block of the data.
    held    = address.len == '0 || address.burst == BurstWrap ||
              (address.burst == BurstIncr &&
               (made.offset & 7'((32'd2 << made.size) - 32'd1)) == '0);
    aligned = (made.offset & 7'((32'd1 << made.size) - 32'd1)) == '0;
    made.valid = made.valid && aligned && held;
    return made;
  endfunction
endpackage
// verilator lint_on UNUSEDPARAM
