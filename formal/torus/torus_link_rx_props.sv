// SPDX-License-Identifier: SHL-2.1
/// torus_link_rx: whatever chunks come, right, wrong, cut, with words missing, or none because the
/// link is down: of each channel whole packets leave, head to tail, one at a time. A tail that is
/// not poisoned ends a packet of which every chunk was right, and all words between its first and
/// its last came, as the far end counted them. Never more than Depth flits of a channel are at the
/// router, and stored_o is these and the word that waits; a word is refused only where it must be.
/// Every packet that ends bad, or of which nothing left, is reported. A link that is down leaves
/// nothing open.
///
/// Assumed: chunks as link_rx gives them (proved: formal/link/link_rx.sby), in one channel each;
/// the router frees what it has. The crc24 of a chunk may be anything.
module torus_link_rx_props
  import link_pkg::*;
#(
  parameter int unsigned Depth      = 3,
  parameter int unsigned CountWidth = 4,
  localparam type        count_t    = logic [CountWidth-1:0],
  // verilog_lint: waive typedef-structs-unions
  localparam type        flits_t    = struct packed {
    flit_kind_e       kind;
    logic [0:0][31:0] data;
  }
) (
  input logic       clk_i,
  input logic       up_i,
  input logic       rx_valid_i,
  input flits_t     rx_flit_i,
  input id_t        rx_id_i,
  input logic       crc_bad_i,
  input logic       poisoned_i,
  input logic [1:0] freed_i
);
  logic rst_ni, flit_valid_o, flit_vc_o, flit_head_o, flit_tail_o, torn_o, gap_o, refused_o;
  logic [31:0] flit_data_o;
  count_t [1:0] stored_o;
  torus_link_rx #(.Lanes(1), .Depth(Depth), .CountWidth(CountWidth)) dut (.*);

  logic started_q = 1'b0;
  always_ff @(posedge clk_i) started_q <= 1'b1;
  assign rst_ni = started_q;

  logic is_sop, is_data, is_end, is_eop, inside_q, vc_q, vc;
  assign is_sop  = rx_valid_i && rx_flit_i.kind == FlitSop;
  assign is_data = rx_valid_i && rx_flit_i.kind == FlitData;
  assign is_eop  = rx_valid_i && rx_flit_i.kind == FlitEop;
  assign is_end  = is_eop || (rx_valid_i && rx_flit_i.kind == FlitEdb);
  assign vc      = is_sop ? rx_id_i[0] : vc_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) inside_q <= 1'b0;
    else if (rx_valid_i) inside_q <= !is_end;
    if (is_sop) vc_q <= rx_id_i[0];
  end

  // Flits at the router, of each channel; packets that are open there.
  count_t [1:0] there_q;
  logic [1:0] open_q, out;
  for (genvar v = 0; v < 2; v++) begin : gen_router
    assign out[v] = flit_valid_o && flit_vc_o == 1'(v);
    always_ff @(posedge clk_i) begin
      if (!rst_ni) {there_q[v], open_q[v]} <= '0;
      else begin
        there_q[v] <= there_q[v] + count_t'(out[v]) - count_t'(freed_i[v]);
        if (out[v]) open_q[v] <= !flit_tail_o;
      end
    end
  end

  // What the far end sent of a packet that is open or begins: from its first word on, right chunks
  // with nothing missing between. next_q: its count behind the last chunk.
  logic [1:0] sound_q;
  count_t [1:0] next_q;
  logic right;
  assign right = is_eop || (poisoned_i && rx_flit_i.data[0][23:0] == dut.crc_q[0]);
  always_ff @(posedge clk_i) begin
    for (int unsigned v = 0; v < 2; v++) begin
      if (!rst_ni) begin
        sound_q[v] <= 1'b1;
        next_q[v]  <= '0;
      end else if (!up_i && !inside_q && !rx_valid_i) begin
        sound_q[v] <= 1'b1;
        next_q[v]  <= '0;
      end else if (rx_valid_i && vc == 1'(v)) begin
        next_q[v] <= is_sop ? rx_flit_i.data[0][8+:CountWidth] : next_q[v] + 1'b1;
        if (is_sop && rx_flit_i.data[0][8+:CountWidth] != next_q[v]) sound_q[v] <= 1'b0;
        if (refused_o) sound_q[v] <= 1'b0;
        // The next packet begins behind an Eop, its crc right or wrong.
        if (is_end) sound_q[v] <= is_eop || crc_bad_i || (sound_q[v] && right);
      end
    end
  end

  logic down_q;
  always_ff @(posedge clk_i) down_q <= rst_ni && !up_i && !inside_q && !rx_valid_i;

  always_comb begin
    if (rx_valid_i) assume (is_sop == !inside_q);
    if (is_sop) assume (rx_id_i < id_t'(2));
    if (is_eop) assume (!crc_bad_i && !poisoned_i);
    assume (!(crc_bad_i && poisoned_i));
    for (int unsigned v = 0; v < 2; v++) if (freed_i[v]) assume (there_q[v] != '0);
    if (started_q) begin
      assert (inside_q == dut.inside_q);
      if (inside_q) assert (vc_q == dut.vc_q);
      if (!inside_q) assert (!dut.hold_q);
      for (int unsigned v = 0; v < 2; v++) begin
        assert (open_q[v] == dut.open_q[v]);
        assert (next_q[v] == dut.next_q[v]);
        if (open_q[v]) assert (!dut.skip_q[v]);
        if (!dut.skip_q[v]) assert (sound_q[v]);
        // Whole packets.
        if (out[v]) assert (flit_head_o == (!open_q[v]));
        if (out[v] && flit_tail_o && !dut.tear) begin
          assert (is_eop && vc == 1'(v) && sound_q[v]);
        end
        if (out[v] && dut.tear) assert (flit_tail_o && flit_data_o == '1 && torn_o);
        // Places.
        assert (there_q[v] <= count_t'(Depth));
        assert (stored_o[v] == there_q[v] + count_t'(dut.hold_q && vc_q == 1'(v)));
        assert (stored_o[v] <= count_t'(Depth));
        if (open_q[v] || (dut.hold_q && vc_q == 1'(v))) assert (stored_o[v] < count_t'(Depth));
      end
      if (refused_o) assert (stored_o[vc] >= count_t'(Depth - 1));
      if (dut.hold_q) assert (!dut.skip_q[vc_q]);
      // Nothing is lost in silence: what a wrong end finds is reported.
      if (is_end && !right && dut.hold_q) assert (torn_o);
      if (is_sop && rx_flit_i.data[0][8+:CountWidth] != next_q[vc]) assert (gap_o);
      // Down: one channel a cycle.
      if (down_q && !up_i && !rx_valid_i) assert (!open_q[0]);
      cover (torn_o && !flit_valid_o);
      cover (torn_o && is_sop);
      cover (refused_o && flit_valid_o);
      cover (down_q && torn_o && flit_vc_o);
      cover (flit_valid_o && flit_tail_o && !flit_head_o && is_eop);
    end
  end
endmodule
