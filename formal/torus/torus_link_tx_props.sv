// SPDX-License-Identifier: SHL-2.1
/// torus_link_tx: chunks are Sop, 1 to MaxWords words, an end, without a gap; an end is Eop exactly
/// behind a tail, and nothing follows a tail in its chunk. A flit leaves only with room for it and
/// for its chunk's end, so that never more words are at the far end than it has places. A channel
/// without a flit or without room ends its chunk in that cycle; one that may begin waits for one
/// chunk of the other at most. What is offered stays until it is taken. Each flit gives one credit
/// back, whatever the link does; a channel that went on when the link came up begins with a head.
///
/// Assumed: the sender has a credit for each flit; a far buffer's room grows by what it frees; the
/// link takes what is offered while it is down within a cycle (link_tx: insert_q), and is down for
/// 3 cycles or more (link_init).
module torus_link_tx_props
  import link_pkg::*;
#(
  parameter int unsigned Depth      = 2,
  parameter int unsigned MaxWords   = 2,
  parameter int unsigned CountWidth = 4,
  localparam type        count_t    = logic [CountWidth-1:0],
  // verilog_lint: waive typedef-structs-unions
  localparam type        flits_t    = struct packed {
    flit_kind_e       kind;
    logic [0:0][31:0] data;
  }
) (
  input logic         clk_i,
  input logic         up_i,
  input count_t [1:0] freed_far_i,
  input logic         flit_valid_i,
  input logic         flit_vc_i,
  input logic         flit_tail_i,
  input logic [31:0]  flit_data_i,
  input logic         tx_ready_i
);
  localparam count_t Places = count_t'(6);  // of the far buffers

  logic rst_ni, tx_valid_o;
  logic [1:0] freed_o, dropped_o;
  count_t [1:0] room_i;
  flits_t tx_flit_o;
  torus_link_tx #(
    .Lanes(1), .Depth(Depth), .MaxWords(MaxWords), .CountWidth(CountWidth)
  ) dut (.*);

  logic started_q = 1'b0;
  always_ff @(posedge clk_i) started_q <= 1'b1;
  assign rst_ni = started_q;

  logic take, is_sop, is_data, is_end;
  assign take    = tx_valid_o && tx_ready_i;
  assign is_sop  = tx_flit_o.kind == FlitSop;
  assign is_data = tx_flit_o.kind == FlitData;
  assign is_end  = tx_flit_o.kind == FlitEop || tx_flit_o.kind == FlitEdb;

  // The chunk that is open, as the link sees it.
  logic inside_q, vc_q, vc, tail_q, tail_now;
  logic [2:0] words_q;
  assign vc       = inside_q ? vc_q : tx_flit_o.data[0][0];
  assign tail_now = dut.tail[vc_q];
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      inside_q <= 1'b0;
    end else if (take) begin
      inside_q <= !is_end;
      if (is_sop) begin
        vc_q    <= tx_flit_o.data[0][0];
        words_q <= '0;
        tail_q  <= 1'b0;
      end else if (is_data) begin
        words_q <= words_q + 1'b1;
        tail_q  <= tail_now;
      end
    end
  end

  // Words at the far end, ends too: what the link counts.
  count_t [1:0] far_q;
  always_ff @(posedge clk_i) begin
    for (int unsigned v = 0; v < 2; v++) begin
      if (!rst_ni || !up_i) far_q[v] <= '0;
      else far_q[v] <= far_q[v] - freed_far_i[v] + count_t'(take && !is_sop && vc == 1'(v));
    end
  end
  for (genvar v = 0; v < 2; v++) begin : gen_room
    assign room_i[v] = up_i ? Places - far_q[v] : '0;
  end

  // Credits of the router, and whether a packet of its is open.
  logic [1:0][2:0] credit_q;
  logic [1:0] put;
  for (genvar v = 0; v < 2; v++) begin : gen_credit
    assign put[v] = flit_valid_i && flit_vc_i == 1'(v);
    always_ff @(posedge clk_i) begin
      if (!rst_ni) credit_q[v] <= 3'(Depth);
      else credit_q[v] <= credit_q[v] + 3'(freed_o[v]) - 3'(put[v]);
    end
  end

  // A packet of which a flit has left, by the link or dropped, and which lost any of them.
  logic [1:0] mid_q, lossy_q, gone, lose;
  for (genvar v = 0; v < 2; v++) begin : gen_packet
    assign gone[v] = dut.pop[v];
    assign lose[v] = gone[v] && !(take && is_data && vc_q == 1'(v) && up_i);
    always_ff @(posedge clk_i) begin
      if (!rst_ni) {mid_q[v], lossy_q[v]} <= '0;
      else begin
        if (gone[v]) mid_q[v] <= !dut.tail[v];
        // A packet that the link's fall found open, or of which a flit was dropped.
        lossy_q[v] <= (gone[v] ? !dut.tail[v] : mid_q[v]) &&
                      (!up_i || lose[v] || (mid_q[v] && lossy_q[v]));
      end
    end
  end

  logic held_q, up_q;
  logic [1:0] down_q;  // cycles that the link has been down, 3 or more
  flits_t flit_q;
  always_ff @(posedge clk_i) begin
    up_q    <= rst_ni && up_i;
    down_q  <= !rst_ni || up_i ? '0 : down_q == '1 ? down_q : down_q + 1'b1;
    held_q  <= rst_ni && tx_valid_o && !tx_ready_i;
    flit_q  <= tx_flit_o;
  end

  logic [1:0][1:0] used;
  for (genvar v = 0; v < 2; v++) begin : gen_used
    assign used[v] = dut.gen_vc[v].u_fifo.usage_o;
  end

  always_comb begin
    for (int unsigned v = 0; v < 2; v++) begin
      assume (freed_far_i[v] <= far_q[v]);
      if (put[v]) assume (credit_q[v] != '0);
    end
    // While down the link takes all but what it met in its first cycle, and it is down for long.
    if (!up_i && !up_q) assume (tx_ready_i);
    if (up_i && !up_q) assume (down_q == '1);
    if (started_q) begin
      assert (inside_q == dut.inside_q);
      if (inside_q) assert (vc_q == dut.vc_q && tail_q == dut.last_q && words_q == 3'(dut.words_q));
      // Chunks.
      if (tx_valid_o) assert (is_sop == !inside_q);
      if (inside_q) assert (tx_valid_o);
      if (tx_valid_o && is_data) assert (words_q < 3'(MaxWords) && !tail_q && dut.stored[vc_q]);
      if (tx_valid_o && is_end) assert ((tx_flit_o.kind == FlitEop) == tail_q);
      if (tx_valid_o && is_end && up_i && !held_q) assert (words_q != '0);
      if (tail_q && inside_q) assert (words_q != '0);
      // Held.
      if (held_q) assert (tx_valid_o && tx_flit_o == flit_q);
      // Room.
      for (int unsigned v = 0; v < 2; v++) begin
        assert (far_q[v] <= Places);
        if (inside_q && vc_q == 1'(v) && up_i) assert (far_q[v] < Places);
      end
      if (tx_valid_o && is_data && up_i) assert (room_i[vc_q] >= count_t'(2));
      // Nobody holds the link without a flit, a place, and a link.
      if (inside_q && !held_q && (!dut.stored[vc_q] || room_i[vc_q] < count_t'(2) || !up_i)) begin
        assert (is_end);
      end
      // No dead cycle, and turns.
      if (!inside_q && dut.want != '0) assert (tx_valid_o);
      if (tx_valid_o && is_sop && !held_q) begin
        if (dut.want[!dut.turn_q]) assert (tx_flit_o.data[0][0] == !dut.turn_q);
        assert (dut.want[tx_flit_o.data[0][0]]);
      end
      if (inside_q) assert (dut.turn_q == vc_q);
      if (down_q == '1) assert (!inside_q && !held_q);
      if (up_i && up_q && (inside_q || held_q)) assert (!dut.rest_q[vc]);
      if (held_q && !inside_q && up_i) assert (dut.stored[vc] && room_i[vc] >= count_t'(2));
      if (inside_q && words_q == '0 && up_i) begin
        assert (!tail_q && dut.stored[vc_q] && room_i[vc_q] >= count_t'(2));
        assert (!dut.held_q || !dut.ending_q);
      end
      // Credits.
      for (int unsigned v = 0; v < 2; v++) begin
        assert (credit_q[v] <= 3'(Depth) && used[v] <= 2'(Depth));
        assert (credit_q[v] + 3'(freed_o[v]) + 3'(used[v]) == 3'(Depth));
      end
      // What is sent is of a packet that lost nothing.
      for (int unsigned v = 0; v < 2; v++) begin
        assert (mid_q[v] == dut.mid_q[v]);
        if (lossy_q[v]) assert (mid_q[v]);
        if (lossy_q[v] && up_i) assert (dut.rest_q[v]);
        if (dut.rest_q[v]) assert (lossy_q[v]);
        if (take && is_data && up_i && vc_q == 1'(v)) assert (!lossy_q[v]);
      end
      cover (take && is_end && !tail_q && up_i && words_q == 3'd1);
      cover (take && tx_flit_o.kind == FlitEop && words_q == 3'(MaxWords));
      cover (lossy_q != '0 && up_i && up_q);
      cover (dropped_o == 2'b11);
    end
  end
endmodule
