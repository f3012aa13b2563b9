// SPDX-License-Identifier: SHL-2.1
/// link_channels: whole packets of one channel at a time, each word of them once and in order,
/// under its channel's id; never a packet without room for a whole one; no slot empty while one may
/// begin; at most NumIds - 1 packets of others before one's turn.
module link_channels_props
  import link_pkg::*;
#(
  parameter int unsigned NumIds   = 4,
  parameter int unsigned MaxWords = 3,
  localparam int unsigned IdxWidth = $clog2(NumIds)
) (
  input logic                clk_i,
  input logic                up_i,
  input logic [NumIds-1:0]   valid_i,
  input flit_t [NumIds-1:0]  flit_i,
  input logic                tx_ready_i,
  input count_t [NumIds-1:0] refund_i
);
  typedef logic [IdxWidth-1:0] idx_t;
  logic                rst_ni, tx_valid_o, idle_o;
  logic [NumIds-1:0]   ready_o;
  flit_t               tx_flit_o;
  count_t [NumIds-1:0] room_i;

  link_channels #(
    .NumIds  (NumIds),
    .MaxWords(MaxWords)
  ) dut (.*);

  logic started_q = 1'b0;
  always_ff @(posedge clk_i) started_q <= 1'b1;
  assign rst_ni = started_q;

  // ---------------------------------------------------------------- sources
  // A Sop or none, 1 to MaxWords data words, an end; held until taken.
  logic [NumIds-1:0] valid_q, take, take_q, opened_q;
  flit_t [NumIds-1:0] flit_q;
  count_t [NumIds-1:0] words_q;   // data words of the packet that were taken
  assign take = valid_i & ready_o;
  always_ff @(posedge clk_i) begin
    valid_q <= rst_ni ? valid_i : '0;
    flit_q  <= flit_i;
    take_q  <= rst_ni ? take : '0;
  end
  for (genvar i = 0; i < int'(NumIds); i++) begin : gen_source
    always_ff @(posedge clk_i) begin
      if (!rst_ni) begin
        words_q[i]  <= '0;
        opened_q[i] <= 1'b0;
      end else if (take[i]) begin
        words_q[i]  <= flit_i[i].kind == FlitData ? words_q[i] + 1'b1 : '0;
        opened_q[i] <= flit_i[i].kind == FlitSop || flit_i[i].kind == FlitData;
      end
    end
    always_comb begin
      if (!started_q) assume (!valid_i[i]);
      if (valid_q[i] && !take_q[i]) assume (valid_i[i] && flit_i[i] == flit_q[i]);
      if (flit_i[i].kind == FlitSop) assume (!opened_q[i]);
      if (flit_i[i].kind == FlitData) assume (words_q[i] < count_t'(MaxWords));
      if (flit_i[i].kind == FlitEop || flit_i[i].kind == FlitEdb) assume (words_q[i] != '0);
    end
  end

  // ---------------------------------------------------------------- far end
  // It takes when it likes, and frees of each buffer what it likes.
  logic   accepted, inside_q;
  idx_t   line_id_q;
  assign accepted = tx_valid_o && tx_ready_i;
  always_comb begin
    for (int unsigned i = 0; i < NumIds; i++) begin
      assume (count_t'(room_i[i] + refund_i[i]) <= count_t'(DepthMax) &&
              count_t'(room_i[i] + refund_i[i]) >= room_i[i] && refund_i[i] <= count_t'(DepthMax));
    end
  end
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      room_i   <= '0;
      inside_q <= 1'b0;
    end else begin
      for (int unsigned i = 0; i < NumIds; i++) begin
        room_i[i] <= room_i[i] + refund_i[i] -
            count_t'(accepted && tx_flit_o.kind != FlitSop && line_id_q == idx_t'(i));
      end
      if (accepted) begin
        inside_q <= tx_flit_o.kind == FlitSop || tx_flit_o.kind == FlitData;
        if (tx_flit_o.kind == FlitSop) line_id_q <= idx_t'(tx_flit_o.data);
      end
    end
  end

  // ---------------------------------------------------------------- what was before
  logic  first_q, tx_valid_q, tx_ready_q, nothing_q;
  flit_t tx_flit_q;
  logic [NumIds-1:0] room_ok_q, taken_body_q;
  idx_t  owner;
  always_comb begin
    owner = '0;
    for (int unsigned i = 0; i < NumIds; i++) if (dut.select_q[i]) owner = owner | idx_t'(i);
  end
  always_ff @(posedge clk_i) begin
    first_q    <= rst_ni;
    tx_valid_q <= tx_valid_o;
    tx_ready_q <= tx_ready_i;
    tx_flit_q  <= tx_flit_o;
    for (int unsigned i = 0; i < NumIds; i++) begin
      room_ok_q[i]    <= rst_ni && up_i && room_i[i] >= count_t'(MaxWords + 3);
      taken_body_q[i] <= rst_ni && take[i] && flit_i[i].kind != FlitSop;
    end
    nothing_q <= dut.busy_q ? !valid_i[owner] : (valid_i & room_ok_q) == '0;
  end

  // Any channel: uninitialised and never changed.
  idx_t watch_q;
  always_ff @(posedge clk_i) watch_q <= watch_q;

  // Packets of others that began while the watched channel could have and had not.
  logic [IdxWidth:0] passed_q;
  logic              waits, starts;
  assign starts = dut.start;
  assign waits  = valid_i[watch_q] && room_ok_q[watch_q] && !(dut.busy_q && owner == watch_q);
  always_ff @(posedge clk_i) begin
    if (!rst_ni || !waits || (starts && dut.pick[watch_q])) passed_q <= '0;
    else passed_q <= passed_q + (IdxWidth + 1)'(starts);
  end
  idx_t last_winner, distance;
  always_comb begin
    last_winner = idx_t'(NumIds - 1);
    for (int unsigned i = 0; i < NumIds; i++) begin
      if (dut.after_q[i]) last_winner = last_winner - 1'b1;
    end
  end
  assign distance = watch_q - last_winner - 1'b1;  // NumIds is a power of two here

  always_comb begin
    if (started_q) begin
      // One channel at a time; inside a packet only its own.
      assert ((take & (take - 1'b1)) == '0);
      assert ((ready_o & ~valid_i) == '0);
      if (dut.busy_q && take != '0) assert (take == dut.select_q);
      // Whole packets: Sop with the channel's id, data, end; held until taken.
      if (tx_valid_o) assert ((tx_flit_o.kind == FlitSop) == !inside_q);
      if (tx_valid_o && tx_flit_o.kind == FlitSop) assert (tx_flit_o.data == 32'(owner));
      if (inside_q && dut.busy_q) assert (line_id_q == owner);
      if (first_q && tx_valid_q && !tx_ready_q) assert (tx_valid_o && tx_flit_o == tx_flit_q);
      // What is taken, a Sop apart, is offered next, unchanged.
      for (int unsigned i = 0; i < NumIds; i++) begin
        if (first_q && taken_body_q[i])
          assert (tx_valid_o && tx_flit_o == flit_q[i] && owner == idx_t'(i));
      end
      // And only that: a word that was not taken is not offered.
      if (first_q && tx_valid_o && tx_flit_o.kind != FlitSop && (!tx_valid_q || tx_ready_q)) begin
        assert (taken_body_q != '0);
      end
      // No dead cycle.
      if (first_q && (!tx_valid_q || tx_ready_q) && !tx_valid_o) assert (nothing_q);
      // Room for a whole packet, whatever the far end's count lags.
      if (tx_valid_o && tx_flit_o.kind == FlitSop) assert (room_i[owner] >= count_t'(MaxWords + 1));
      assert (passed_q <= (IdxWidth + 1)'(NumIds - 1));

      // Inductive strengthening.
      assert (inside_q == (tx_valid_o ? tx_flit_o.kind != FlitSop : dut.busy_q));
      if (tx_valid_o)
        assert (dut.busy_q == (tx_flit_o.kind == FlitSop || tx_flit_o.kind == FlitData));
      if (dut.busy_q || tx_valid_o) assert (dut.select_q == NumIds'(1) << owner);
      if (inside_q) assert (line_id_q == owner);
      for (int unsigned i = 0; i < NumIds; i++) begin
        assert (words_q[i] <= count_t'(MaxWords) && room_i[i] <= count_t'(DepthMax));
        if (words_q[i] != '0) assert (opened_q[i]);
        if (opened_q[i]) assert (dut.busy_q && owner == idx_t'(i));
        // Begun for a source that has no Sop.
        if (dut.busy_q && owner == idx_t'(i) && !opened_q[i]) begin
          assert (valid_i[i] && flit_i[i].kind == FlitData);
        end
        if (dut.room_q[i]) assert (room_i[i] >= count_t'(MaxWords + 2));
      end
      assert (dut.room_q == room_ok_q);
      assert (((~dut.after_q) & ((~dut.after_q) + 1'b1)) == '0);
      if (dut.busy_q || tx_valid_o) assert (owner == last_winner);
      if (waits) assert (passed_q + (IdxWidth + 1)'(distance) <= (IdxWidth + 1)'(NumIds - 1));
      else assert (passed_q <= (IdxWidth + 1)'(NumIds - 1));

      cover (starts && dut.pick[watch_q] && passed_q == (IdxWidth + 1)'(NumIds - 1));
      cover (accepted && tx_flit_o.kind == FlitEdb && words_q[0] == '0 &&
             room_i[owner] < count_t'(MaxWords + 1));
      cover (starts && take == '0 && accepted && tx_flit_o.kind == FlitEop);
    end
  end
endmodule
