// SPDX-License-Identifier: SHL-2.1
/// crossbar_input: whole packets in, whole packets out; one that names another source than its
/// port's is its Sop, its first data word and an Edb, whatever it brings, and is reported once;
/// any other is unchanged.
module crossbar_input_props
  import link_pkg::*;
(
  input logic       clk_i,
  input logic       bind_i,
  input logic [6:0] source_i,
  input logic       rx_valid_i,
  input flit_t      rx_flit_i
);
  localparam int unsigned NumPorts = 2;
  logic                rst_ni, forged_o;
  logic [NumPorts-1:0] valid_o;
  flit_t               flit_o;
  logic [31:0]         stamp_i;
  logic                bench_i;
  id_t                 rx_id_i;
  assign bench_i = 1'b0;
  assign stamp_i = '0;
  assign rx_id_i = '0;

  crossbar_input #(.NumPorts(NumPorts)) dut (.*);

  logic started_q = 1'b0;
  logic       bind_q;
  logic [6:0] source_q;
  always_ff @(posedge clk_i) begin
    started_q <= 1'b1;
    bind_q    <= bind_i;
    source_q  <= source_i;
  end
  assign rst_ni = started_q;

  // What came of the packet: inside, data words so far (up to 2), and whether word 0 names another.
  logic       inside_q, other_q, out_inside_q, told_q;
  logic [1:0] words_q, out_words_q;
  logic       is_sop, is_data, is_end, other, sent, out_end;
  assign is_sop  = rx_flit_i.kind == FlitSop;
  assign is_data = rx_flit_i.kind == FlitData;
  assign is_end  = !is_sop && !is_data;
  assign other   = bind_i && is_data && words_q == '0 && rx_flit_i.data[30:24] != source_i;
  assign sent    = valid_o != '0;
  assign out_end = flit_o.kind == FlitEop || flit_o.kind == FlitEdb;

  always_ff @(posedge clk_i) begin
    if (!started_q) begin
      {inside_q, other_q, out_inside_q, told_q} <= '0;
      {words_q, out_words_q}                    <= '0;
    end else begin
      told_q <= rx_valid_i && other;
      if (rx_valid_i) begin
        inside_q <= !is_end;
        words_q  <= is_sop ? '0 : words_q == 2'd2 ? words_q : words_q + 2'(is_data);
        other_q  <= is_sop ? 1'b0 : other_q || other;
      end
      if (sent) begin
        out_inside_q <= !out_end;
        out_words_q  <= flit_o.kind == FlitSop ? '0 :
            out_words_q == 2'd2 ? out_words_q : out_words_q + 2'(flit_o.kind == FlitData);
      end
    end
  end

  always_comb begin
    if (started_q) begin
      // link_rx: Sop, one data word or more, an end; the binding changes between packets.
      if (rx_valid_i) begin
        assume (is_sop == !inside_q);
        assume (!(is_end && words_q == '0));
      end
      if (inside_q) assume (bind_i == bind_q && source_i == source_q);
      // One flit in, at most one out, to the crosspoint of the id.
      assert (valid_o == NumPorts'(sent));
      if (sent) assert (rx_valid_i);
      // What goes out is whole packets.
      if (sent) assert ((flit_o.kind == FlitSop) == !out_inside_q);
      if (sent && out_end) assert (out_words_q != '0);
      // A packet of its own source, and the Sop and first word of any, are unchanged.
      if (rx_valid_i && (!other_q || is_sop)) assert (sent && flit_o == rx_flit_i);
      // Of another: one data word, an Edb, nothing.
      if (sent && other_q && !is_sop) assert (flit_o.kind == FlitEdb && out_words_q == 2'd1);
      assert (forged_o == told_q);
      // It is inside until its end came, outside behind it.
      assert (!out_inside_q || inside_q);
      assert (!inside_q || out_inside_q || (other_q && words_q != '0));
      // What makes the above inductive.
      assert (dut.forged_q == (other_q && out_inside_q));
      assert (dut.dropping_q == (other_q && !out_inside_q));
      if (out_inside_q && !other_q) assert (out_words_q == words_q);
      if (out_inside_q && other_q) assert (out_words_q == 2'd1 && words_q == 2'd1);
      if (other_q) assert (words_q != '0);
      assert (words_q <= 2'd2 && out_words_q <= 2'd2);
      assert (dut.word_q <= 3'd5);
      assert ((dut.word_q == '0) == (words_q == '0) || !inside_q);
      assert (inside_q || !out_inside_q);
      cover (sent && out_end && other_q);
      cover (rx_valid_i && is_end && words_q == 2'd2 && other_q);
      cover (rx_valid_i && is_end && bind_i && !other_q);
    end
  end
endmodule
