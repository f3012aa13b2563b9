// SPDX-License-Identifier: SHL-2.1
/// link_buffer: no overflow, an end for each packet, order kept, whatever flits come. A data word
/// is stored as it came where there is room for it and its packet's end; if not,
/// refused_o says so once a packet.
///
/// One stored word is watched, chosen by its number modulo twice the depth; the choice is free.
module link_buffer_props
  import link_pkg::*;
#(
  parameter int unsigned Depth = 4
) (
  input logic  clk_i,
  input logic  valid_i,
  input flit_t flit_i,
  input logic  pop_i
);
  localparam int unsigned NumberWidth = $clog2(Depth) + 1;
  typedef logic [NumberWidth-1:0] number_t;

  logic   rst_ni, refused_o, packet_o, valid_o;
  count_t stored_o;
  flit_t  flit_o;

  link_buffer #(.Depth(Depth)) dut (.*);

  logic started_q = 1'b0;
  always_ff @(posedge clk_i) started_q <= 1'b1;
  assign rst_ni = started_q;

  number_t watch_q;
  always_ff @(posedge clk_i) watch_q <= watch_q;

  number_t written_q, read_q, ahead;
  logic    live_q, open_q, reading_q, fresh_q, popped_q;
  flit_t   word_q;
  logic    store, pop;

  assign store = dut.store;
  assign pop   = valid_o && pop_i;
  assign ahead = watch_q - read_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      written_q <= '0;
      read_q    <= '0;
      live_q    <= 1'b0;
      open_q    <= 1'b0;
      reading_q <= 1'b0;
      fresh_q   <= 1'b0;
      popped_q  <= 1'b0;
    end else begin
      written_q <= written_q + number_t'(store);
      read_q    <= read_q + number_t'(pop);
      fresh_q   <= store;
      popped_q  <= pop;
      if (store) open_q <= dut.entry.kind == FlitData;
      if (pop) reading_q <= flit_o.kind == FlitData;
      if (store && written_q == watch_q) begin
        live_q <= 1'b1;
        word_q <= dut.entry;
      end else if (pop && read_q == watch_q) begin
        live_q <= 1'b0;
      end
    end
  end

  logic is_end;
  assign is_end = valid_i && (flit_i.kind == FlitEop || flit_i.kind == FlitEdb);

  // The rest of a packet of which a word was refused; and whether one was, a cycle ago.
  logic is_data, refused, skip_q, refused_q;
  assign is_data = valid_i && flit_i.kind == FlitData && !skip_q;
  assign refused = is_data && !(store && dut.entry == flit_i);
  always_ff @(posedge clk_i) begin
    if (!rst_ni || is_end) skip_q <= 1'b0;
    else if (refused) skip_q <= 1'b1;
    refused_q <= rst_ni && refused;
  end

  always_comb begin
    if (started_q) begin
      // The count is true, and nothing is written into a full buffer.
      assert (stored_o == count_t'(number_t'(written_q - read_q)));
      assert (stored_o <= count_t'(Depth));
      if (store) assert (stored_o < count_t'(Depth));
      // A word is refused only without room, and then its packet ends there, if it has begun.
      if (is_data) assert (refused == (stored_o + count_t'(popped_q) >= count_t'(Depth - 1)));
      if (refused) assert (open_q ? store && dut.entry.kind == FlitEdb : !store);
      if (skip_q && !is_end) assert (!store);
      assert (refused_o == refused_q);
      if (store) assert (dut.entry.data == flit_i.data && (is_data || is_end));
      // What is stored is packets: data.., end. While one is open there is room for its end.
      if (store) assert (dut.entry.kind != FlitSop);
      if (store && !open_q) assert (dut.entry.kind == FlitData);
      assert (open_q == dut.open_q);
      if (open_q) assert (stored_o < count_t'(Depth));
      if (open_q && is_end) assert (store && dut.entry.kind == flit_i.kind);
      // A good end only behind data words none of which was refused.
      if (dut.skip_q) assert (!open_q);
      // Words are refused only by a buffer that has less than two words free,
      // or had in the cycle before.
      if (dut.refuse) assert (stored_o + count_t'(popped_q) >= count_t'(Depth - 1));
      // What comes out is what was stored, in order.
      assert (live_q == (ahead < stored_o[NumberWidth-1:0] || (ahead == '0 && stored_o != '0)));
      if (live_q && read_q == watch_q && valid_o) assert (flit_o == word_q);
      if (valid_o) assert (stored_o != '0);
      if (stored_o > count_t'(fresh_q)) assert (valid_o);
      assert (packet_o == (stored_o != '0 || reading_q));
      // What makes the above inductive.
      assert (dut.reading_q == reading_q && dut.skip_q == skip_q);
      assert (dut.fits_q == (stored_o + count_t'(popped_q) < count_t'(Depth - 1)));
      assert (written_q[NumberWidth-2:0] == dut.wptr_q);
      assert (dut.rptr_q == (NumberWidth - 1)'(read_q + number_t'(valid_o)));
      if (live_q && !(valid_o && read_q == watch_q)) begin
        assert (flit_t'(dut.u_ram.mem_q[watch_q[NumberWidth-2:0]][33:0]) == word_q);
      end
      cover (stored_o == count_t'(Depth));
      cover (dut.refuse && open_q);
      cover (pop && flit_o.kind == FlitEop && live_q);
    end
  end
endmodule
