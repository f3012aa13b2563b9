// SPDX-License-Identifier: SHL-2.1
/// coherence_axi_write: each burst's beats go to the places that AXI gives them, and each line that
/// they are in is stored once, behind its last beat, with the bytes and strobes of just its beats;
/// a store says what its burst is; a refused burst has one store. A beat waits for nothing but its
/// address and a store that is not taken.
///
/// One byte of the line is watched, any.
module coherence_axi_write_props
  import coherence_axi_pkg::*;
  import coherence_atomic_pkg::*;
#(
  parameter int unsigned LineBytes = 32
) (
  input logic              clk_i,
  input logic              awvalid_i,
  input logic              awid_i,
  input axi_pkg::address_t aw_i,
  input logic [5:0]        awatop_i,
  input logic              wvalid_i,
  input logic [63:0]       wdata_i,
  input logic [7:0]        wstrb_i,
  input logic              store_ready_i,
  input logic [4:0]        watch  // stays
);
  localparam int unsigned LineLog2 = $clog2(LineBytes);
  logic rst_ni, awready_o, wready_o, store_valid_o, store_first_o, store_last_o, store_id_o;
  logic [1:0]             store_resp_o;
  logic [63:0]            store_addr_o;
  logic [LineBytes-1:0]   store_mask_o;
  logic [8*LineBytes-1:0] store_data_o;
  atomic_t                store_atomic_o;
  logic                   store_reads_o;
  walk_t                  store_walk_o;

  coherence_axi_write #(
    .DataWidth(64), .LineBytes(LineBytes), .IdWidth(1), .AddrWidth(13)
  ) dut (.*);

  logic started_q = 1'b0;
  always_ff @(posedge clk_i) started_q <= 1'b1;
  assign rst_ni = started_q;

  // ---------------------------------------------------------------- bursts that came
  typedef struct packed {
    logic              id;
    axi_pkg::address_t address;
    logic [5:0]        atop;
  } burst_t;
  burst_t     now_q, next_q;
  logic [1:0] bursts_q;  // that their last beat is missing of
  logic [7:0] beat_q;    // number of the next beat in its burst
  logic       aw, w, last;
  assign aw   = awvalid_i && awready_o;
  assign w    = wvalid_i && wready_o;
  assign last = beat_q == now_q.address.len;

  // ---------------------------------------------------------------- what a beat is
  logic [1:0] resp;
  atomic_t    atomic;
  offset_t    start, span, size;
  assign atomic = atomic_of(now_q.address, now_q.atop);
  assign start  = now_q.address.addr[11:0];
  assign size   = offset_t'(1) << now_q.address.size;
  always_comb begin
    if (illegal(now_q.address, 3) || (now_q.atop != '0 && !atomic.valid)) resp = RespSlave;
    else if (now_q.address.addr[63:13] != '0) resp = RespDecode;
    else resp = RespOkay;
    span = '0;
    if (resp == RespOkay && now_q.address.burst == BurstIncr) span = '1;
    if (resp == RespOkay && now_q.address.burst == BurstWrap)
      span = size * (offset_t'(now_q.address.len) + 12'd1) - 12'd1;
  end
  // Beats behind the first are aligned; they stay in the burst's part of its page.
  function automatic offset_t place(logic [8:0] beat);
    offset_t at;
    at = (start & -size) + (offset_t'(beat) << now_q.address.size);
    return beat == '0 ? start : (start & ~span) | (at & span);
  endfunction
  offset_t at;
  logic    ends;  // the line, with this beat
  assign at   = place(9'(beat_q));
  assign ends = last || place(9'(beat_q) + 9'd1) >> LineLog2 != at >> LineLog2;

  // ---------------------------------------------------------------- the store
  logic  open_q, valid_q, first_q, last_q, id_q, reads_q;
  logic  strobe, touched_q;  // the watched byte
  logic [7:0]  byte_q;
  logic [1:0]  resp_q;
  logic [63:0] addr_q;
  atomic_t     atomic_q;
  walk_t       walk_q;
  assign strobe = wstrb_i[watch[2:0]] && watch[4:3] == at[4:3];
  always_ff @(posedge clk_i) begin
    if (!started_q) begin
      {bursts_q, beat_q, open_q, valid_q} <= '0;
    end else begin
      bursts_q <= bursts_q + 2'(aw) - 2'(w && last);
      if (w && last) now_q <= next_q;
      if (aw && bursts_q == 2'(w && last)) now_q <= {awid_i, aw_i, awatop_i};
      else if (aw) next_q <= {awid_i, aw_i, awatop_i};
      if (w) beat_q <= last ? '0 : beat_q + 8'd1;
      if (w) {valid_q, open_q} <= {ends, !ends};
      else if (store_ready_i) valid_q <= 1'b0;
      if (w) begin
        touched_q <= strobe || (open_q && touched_q);
        if (strobe) byte_q <= wdata_i[8*watch[2:0]+:8];
        last_q <= last;
      end
      if (w && !open_q) begin
        first_q  <= beat_q == '0;
        id_q     <= now_q.id;
        resp_q   <= resp;
        addr_q   <= {now_q.address.addr[63:12], at};
        atomic_q <= now_q.atop != '0 ? atomic : '0;
        reads_q  <= now_q.atop[5];
        walk_q   <= '{at: start, span: span, size: now_q.address.size,
                      left: now_q.atop[0] ? now_q.address.len / 8'd2 : now_q.address.len};
      end
    end
  end

  logic [4:0] watch_q;
  always_ff @(posedge clk_i) watch_q <= watch;
  always_comb begin
    if (started_q) begin
      assume (watch == watch_q);
      assert (awready_o == (bursts_q != 2'd2));
      assert (wready_o == (bursts_q != '0 && (!valid_q || store_ready_i)));
      assert (store_valid_o == valid_q);
      if (valid_q || open_q) begin
        assert ({store_first_o, store_last_o} == {first_q, last_q});
        assert (store_resp_o == resp_q && store_id_o == id_q && store_addr_o == addr_q);
        assert (store_atomic_o == atomic_q && store_reads_o == reads_q);
        assert (store_walk_o == walk_q && store_mask_o[watch] == touched_q);
        if (touched_q) assert (store_data_o[8*watch+:8] == byte_q);
      end
      // What makes the above inductive.
      assert (!(valid_q && open_q) && dut.open_q == open_q && dut.more_q == (beat_q != '0));
      assert (!open_q || beat_q != '0);
      assert (bursts_q <= 2'd2 && dut.u_heads.usage_o == bursts_q);
      if (bursts_q != '0) begin
        assert (beat_q <= now_q.address.len && dut.head == now_q);
        if (beat_q != '0)
          assert (dut.walk_q == {at, span, now_q.address.size, now_q.address.len - beat_q});
      end else begin
        assert (beat_q == '0);
      end
      if (bursts_q == 2'd2) assert (dut.u_heads.mem_q[~dut.u_heads.rptr_q[0]] == next_q);
      cover (valid_q && !first_q && resp_q == RespOkay && touched_q && walk_q.span == 12'h3F);
      cover (valid_q && reads_q && bursts_q == 2'd2);
    end
  end
endmodule
