// SPDX-License-Identifier: SHL-2.1
/// Buffer of one id behind a link: the data words of its packets, and an end for each.
///
/// A data word is stored only where its packet's end still fits behind it; otherwise the packet is cut
/// there and ends bad. A packet of which no data word fits leaves nothing. So what comes out is whole
/// packets, data.., Eop | Edb, whatever the far end believed.
///
///   Handshake   in: valid_i, no back-pressure (Sop may be offered: it is not stored). Out: flit_o is
///               valid with valid_o and stays until pop_i, which is ignored without valid_o
///   Ordering    first in, first out
///   Latency     2 cycles from valid_i to valid_o; stored_o and packets_o count a word after 1
///   Throughput  one word in and one out a cycle
///   Parameters  Depth 2..512; 512 x 36 bits are one block memory of Virtex-II Pro
///   Not done    a look at the words
module link_buffer
  import link_pkg::*;
#(
  parameter  int unsigned Depth        = 512,
  localparam int unsigned AddrWidth    = $clog2(Depth),
  localparam int unsigned PacketsWidth = $clog2(Depth / 2 + 1)
) (
  input  logic                    clk_i,
  input  logic                    rst_ni,
  input  logic                    valid_i,
  input  flit_t                   flit_i,
  output logic                    refused_o,  // strobe: a packet is cut, or nothing of it kept
  output count_t                  stored_o,   // words in it, ends included
  output logic [PacketsWidth-1:0] packets_o,  // packets begun and not wholly read
  output logic                    valid_o,
  output flit_t                   flit_o,
  input  logic                    pop_i
);
  if (Depth < 2 || Depth > DepthMax) begin : gen_depth_check
    $error("link_buffer: Depth is %0d, legal is 2..%0d", Depth, DepthMax);
  end

  typedef logic [AddrWidth-1:0] addr_t;

  // open_q: a packet has words here and no end yet: one word is free for it. skip_q: the rest of a
  // packet that was cut or refused.
  logic  open_q, skip_q;
  logic  is_end, is_data, fits, store, cut, refuse;
  flit_t entry;

  assign is_end  = valid_i && (flit_i.kind == FlitEop || flit_i.kind == FlitEdb);
  assign is_data = valid_i && flit_i.kind == FlitData;
  // Two words free at least.
  assign fits    = stored_o < count_t'(Depth - 1);
  assign cut     = is_data && !skip_q && open_q && !fits;
  assign refuse  = is_data && !skip_q && !open_q && !fits;
  assign store   = (is_data && !skip_q && fits) || (is_end && open_q) || cut;

  assign entry.kind = cut ? FlitEdb : flit_i.kind;
  assign entry.data = flit_i.data;

  logic  pop;
  addr_t wptr_q, rptr_q, rptr_d;

  function automatic addr_t next(addr_t ptr);
    return ptr == addr_t'(Depth - 1) ? '0 : ptr + 1'b1;
  endfunction

  assign pop    = valid_o && pop_i;
  assign rptr_d = pop ? next(rptr_q) : rptr_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      open_q    <= 1'b0;
      skip_q    <= 1'b0;
      refused_o <= 1'b0;
      wptr_q    <= '0;
      rptr_q    <= '0;
      stored_o  <= '0;
      packets_o <= '0;
      valid_o   <= 1'b0;
    end else begin
      refused_o <= cut || refuse;
      if (is_end) begin
        open_q <= 1'b0;
        skip_q <= 1'b0;
      end else if (is_data && !skip_q) begin
        open_q <= fits;
        skip_q <= !fits;
      end
      if (store) wptr_q <= next(wptr_q);
      rptr_q    <= rptr_d;
      stored_o  <= stored_o + count_t'(store) - count_t'(pop);
      packets_o <= packets_o + PacketsWidth'(store && !open_q) -
          PacketsWidth'(pop && flit_o.kind != FlitData);
      // The memory shows a word from the second cycle after it came.
      valid_o   <= stored_o > count_t'(pop);
    end
  end

  // The memory is read at each edge, at the address that is next.
  logic [35:0] rdata;

  ram_1r1w #(
    .Width(36),
    .Depth(Depth)
  ) u_ram (
    .clk_i,
    .we_i   (store),
    .waddr_i(wptr_q),
    .wdata_i({2'b00, entry}),
    .re_i   (1'b1),
    .raddr_i(rptr_d),
    .rdata_o(rdata)
  );

  assign flit_o = flit_t'(rdata[33:0]);
  logic unused;
  assign unused = &{1'b0, rdata[35:34]};
endmodule
