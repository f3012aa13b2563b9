// SPDX-License-Identifier: SHL-2.1
/// Buffer of one id behind a link: the data words of its packets, and an end for each.
///
/// A data word is stored only where its packet's end still fits behind it; otherwise the packet is
/// cut there and ends bad. A packet of which no data word fits leaves nothing. So what comes out is
/// whole packets, data.., Eop | Edb, whatever the far end believed.
///
///   Handshake   in: valid_i, no back-pressure; data.., Eop | Edb, or a Sop before, which is not
///               stored. Out: flit_o is held with valid_o until pop_i, which is ignored without
///               valid_o
///   Ordering    first in, first out
///               (proved: formal/link/link_buffer.sby)
///   Latency     2 cycles from valid_i to valid_o; stored_o and packet_o show a word after 1
///   Throughput  one word in and one out a cycle
///   Parameters  Depth 2..512; Lanes 1..8, of 32 bits each, in step. 512 words of a lane are one
///               block memory of Virtex-II Pro
///   Not done    a look at the words
module link_buffer
  import link_pkg::*;
#(
  parameter int unsigned Depth          = 512,
  parameter int unsigned Lanes          = 1,
  parameter int unsigned CountWidth     = CountBits,
  localparam type        count_t        = logic [CountWidth-1:0],
  // verilog_lint: waive typedef-structs-unions
  localparam type        flit_t         = struct packed {
    flit_kind_e             kind;
    logic [Lanes-1:0][31:0] data;
  }
) (
  input  logic   clk_i,
  input  logic   rst_ni,
  input  logic   valid_i,
  input  flit_t  flit_i,     // with valid_i
  output logic   refused_o,  // strobe: a packet is cut, or nothing of it kept
  output count_t stored_o,   // words in it, ends included
  output logic   packet_o,   // a packet has begun, its end is not read yet
  output logic   valid_o,
  output flit_t  flit_o,
  input  logic   pop_i
);
  localparam int unsigned AddrWidth = $clog2(Depth);
  typedef logic [AddrWidth-1:0] addr_t;

  if (CountWidth < 4 || CountWidth > 13) begin : gen_count_check
    $error("link_buffer: CountWidth is %0d, legal is 4..13", CountWidth);
  end
  localparam int unsigned HalfRange = 1 << (CountWidth - 1);
  if (Depth < 2 || Depth > HalfRange) begin : gen_depth_check
    $error("link_buffer: Depth is %0d, legal is 2..%0d", Depth, HalfRange);
  end
  if (Lanes < 1 || Lanes > 8) begin : gen_lanes_check
    $error("link_buffer: Lanes is %0d, legal is 1..8", Lanes);
  end

  // open_q: a packet has words here and no end yet, and one word is free for that. skip_q: the rest
  // of a packet that was cut or refused.
  logic  open_q, skip_q, fits_q;
  logic  is_end, is_data, store, refuse;
  flit_t entry;

  assign is_end  = valid_i && (flit_i.kind == FlitEop || flit_i.kind == FlitEdb);
  assign is_data = valid_i && flit_i.kind == FlitData && !skip_q;
  assign refuse  = is_data && !fits_q;
  // A word that does not fit makes the end of its packet, if there is one.
  assign store   = (is_data && fits_q) || ((is_data || is_end) && open_q);

  assign entry.kind = refuse ? FlitEdb : flit_i.kind;
  assign entry.data = flit_i.data;

  // A word is fetched from the memory as soon as the one before it is gone.
  logic   pop, fetch, more, reading_q, reading_d;
  addr_t  wptr_q, rptr_q;
  count_t step;

  function automatic addr_t next(addr_t ptr);
    if (Depth == 1 << AddrWidth) return ptr + 1'b1;
    return ptr == addr_t'(Depth - 1) ? '0 : ptr + 1'b1;
  endfunction

  assign pop       = valid_o && pop_i;
  assign more      = stored_o > count_t'(valid_o);  // behind the one at flit_o
  assign fetch     = (!valid_o || pop_i) && more;
  assign reading_d = pop ? flit_o.kind == FlitData : reading_q;
  assign step      = store == pop ? '0 : pop ? '1 : count_t'(1);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      open_q    <= 1'b0;
      skip_q    <= 1'b0;
      fits_q    <= 1'b1;
      refused_o <= 1'b0;
      wptr_q    <= '0;
      rptr_q    <= '0;
      stored_o  <= '0;
      reading_q <= 1'b0;
      packet_o  <= 1'b0;
      valid_o   <= 1'b0;
    end else begin
      refused_o <= refuse;
      if (is_end) begin
        open_q <= 1'b0;
        skip_q <= 1'b0;
      end else if (is_data) begin
        open_q <= fits_q;
        skip_q <= !fits_q;
      end
      if (store) wptr_q <= next(wptr_q);
      if (fetch) rptr_q <= next(rptr_q);
      stored_o  <= stored_o + step;
      // Two words free at least: one that is read in this cycle counts from the next.
      fits_q    <= stored_o < count_t'(Depth - 2) || (stored_o == count_t'(Depth - 2) && !store);
      valid_o   <= (valid_o && !pop_i) || more;
      reading_q <= reading_d;
      packet_o  <= store || (valid_o && !pop_i) || more || reading_d;
    end
  end

  // The fetched word; a word is seen from the second cycle after it came.
  localparam int unsigned FlitWidth = $bits(flit_t);
  logic [FlitWidth+1:0] rdata;

  ram_1r1w #(
    .Width(FlitWidth + 2),
    .Depth(Depth)
  ) u_ram (
    .clk_i,
    .we_i   (store),
    .waddr_i(wptr_q),
    .wdata_i({2'b00, entry}),
    .re_i   (fetch),
    .raddr_i(rptr_q),
    .rdata_o(rdata)
  );

  assign flit_o = flit_t'(rdata[FlitWidth-1:0]);
  logic unused;
  assign unused = &{1'b0, rdata[FlitWidth+:2]};
endmodule
